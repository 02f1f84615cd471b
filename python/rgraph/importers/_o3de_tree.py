"""The tree of passes that O3DE's pass templates describe, and what their slots are connected to.

Source: the structures `PassTemplate`, `PassRequest`, `PassSlot` and `PassConnection` of Atom's RPI, and the passes of
its feature gem.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph.importers._mistake import Place, refuse
from rgraph.importers._o3de_shape import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rgraph.importers._read import Reader

__all__ = ["Attachment", "Node", "Tree", "items", "named", "read_templates"]

_MOST_PASSES = 4096
_MOST_DEPTH = 32
_COMMENTS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[\]}])')


def items(values: Any, key: str) -> list[dict[str, Any]]:
    """The objects of a list; empty if there is none."""
    found = values.get(key) if isinstance(values, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def named(values: Any, key: str) -> str:
    """A text; empty if there is none."""
    found = values.get(key) if isinstance(values, dict) else None
    return found if isinstance(found, str) else ""


@dataclass(frozen=True)
class Template:
    """A pass template of a file."""

    values: dict[str, Any]
    file: str
    text: str

    def place(self, name: str) -> Place:
        """The line that has a name."""
        at = self.text.find(json.dumps(name))
        return Place(self.file, self.text.count("\n", 0, at) + 1 if at >= 0 else 0)


def _json(text: str, file: str) -> Any:
    """JSON with comments and commas behind the last item; lines keep their numbers."""
    text = _COMMENTS.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), text)
    text = _COMMAS.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        refuse(f"invalid JSON: {error.msg}", "write JSON; comments are allowed", Place(file, error.lineno))
    except RecursionError:
        refuse("the file nests too deep", "nest less", file)
    except ValueError:
        refuse("a number has too many digits", "write a shorter number", file)


def _template(path: Path, reader: Reader) -> Template | None:
    text = reader.text(path, None)
    values = _json(text, str(path))
    data = values.get("ClassData") if isinstance(values, dict) else None
    template = data.get("PassTemplate") if isinstance(data, dict) else None
    return Template(template, str(path), text) if isinstance(template, dict) and named(template, "Name") else None


def read_templates(path: Path, reader: Reader, notes: list[str]) -> tuple[Template, dict[str, Template]]:
    """The template of a file, and those of all files below its folder by name.

    Parameters
    ----------
    path
        The file.
    reader
        Opens files.
    notes
        Gets files that are no templates.

    Raises
    ------
    GraphError
        RG-E222 if the file has no template.
    """
    first = _template(path, reader)
    if first is None:
        refuse("the file has no PassTemplate with a Name", "give a .pass file of O3DE", str(path))
    known = {named(first.values, "Name"): first}
    for other in sorted(path.parent.glob("**/*.pass")):
        if other == path or not reader.exists(other):
            continue
        found = _template(other, reader)
        if found is None:
            notes.append(f"{other}: has no PassTemplate")
        else:
            known.setdefault(named(found.values, "Name"), found)
    return first, known


@dataclass(eq=False)
class Node:
    """A pass of the tree."""

    name: str
    path: str
    template: Template
    request: dict[str, Any]
    parent: Node | None
    children: list[Node] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Its name among passes: the template at the top has no path."""
        return self.path or self.name

    @property
    def enabled(self) -> bool:
        """Whether the request does not switch it off."""
        return self.request.get("Enabled", True) is not False

    @property
    def data(self) -> dict[str, Any]:
        """`PassData` of the request, else of the template."""
        found = self.request.get("PassData") or self.template.values.get("PassData")
        return found if isinstance(found, dict) else {}

    @property
    def place(self) -> Place:
        """The line that names it."""
        where = self.template if self.parent is None else self.parent.template
        return where.place(self.name)

    def slots(self) -> list[dict[str, Any]]:
        """The slots of the template."""
        return items(self.template.values, "Slots")

    def connection(self, slot: str) -> dict[str, Any] | None:
        """What a slot is connected to: by the request, else by the template."""
        for values in (self.request, self.template.values):
            for one in items(values, "Connections"):
                if named(one, "LocalSlot") == slot and isinstance(one.get("AttachmentRef"), dict):
                    reference: dict[str, Any] = one["AttachmentRef"]
                    return reference
        return None

    def attachment(self, name: str) -> tuple[dict[str, Any], bool] | None:
        """An attachment of its own, and whether it is an image; overrides of the request count."""
        for kind in ("ImageAttachment", "BufferAttachment"):
            for values, key in (
                (self.request, f"{kind}Overrides"),
                (self.request, f"{kind}s"),
                (self.template.values, f"{kind}s"),
            ):
                for one in items(values, key):
                    if named(one, "Name") == name:
                        return one, kind == "ImageAttachment"
        return None

    def leaves(self) -> Iterator[Node]:
        """The passes that do work, in order."""
        if not self.enabled:
            return
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def all(self) -> Iterator[Node]:
        """It and all below it."""
        yield self
        for child in self.children:
            yield from child.all()


@dataclass(frozen=True)
class Attachment:
    """An image or a buffer."""

    node: Node
    name: str
    values: dict[str, Any]
    image: bool
    stand_in: bool = False
    """Whether no template describes it."""

    @property
    def path(self) -> str:
        """Its name in the graph."""
        return f"{self.node.path}.{self.name}" if self.node.path else self.name


class Tree:
    """All passes of a template, and what their slots mean.

    Parameters
    ----------
    first
        The template at the top.
    known
        All templates by name.
    notes
        Gets what was not understood.
    """

    def __init__(self, first: Template, known: dict[str, Template], notes: list[str]) -> None:
        self.notes, self._known, self._count = notes, known, 0
        self._attachments: dict[str, Attachment] = {}
        self._open: set[tuple[int, str]] = set()
        self._checked: set[str] = set()
        self.top = self._node(named(first.values, "Name"), "", first, {}, None, 0)
        self._globals = {
            named(one, "GlobalName"): (node, named(one, "Slot"))
            for node in self.top.all()
            for one in items(node.data, "PipelineGlobalConnections")
        }

    def _node(
        self, name: str, path: str, template: Template, request: dict[str, Any], parent: Node | None, depth: int
    ) -> Node:
        node = Node(name, path, template, request, parent)
        self._count += 1
        if depth > _MOST_DEPTH or self._count > _MOST_PASSES:
            refuse("the templates request each other without end, or too often", "remove a request", node.place)
        if template.text and template.file not in self._checked:
            self._checked.add(template.file)
            self.notes.extend(faults(template.values, named(template.values, "Name"), template.place))
        for one in items(template.values, "PassRequests") + items(request, "PassRequests"):
            child, wanted = named(one, "Name"), named(one, "TemplateName")
            found = self._known.get(wanted)
            if found is None:
                missing = f'the template "{wanted}" of pass "{child}" was not found'
                self.notes.append(f"{template.place(child)}: {missing}: it reads what it is connected to")
                found = _unknown(wanted, one)
            taken = {one.name for one in node.children}
            if not child or child in taken:
                free = next(name for at in count(2) if (name := f"{child or 'unnamed'}.{at}") not in taken)
                what = f'a second request is called "{child}"' if child else "a request has no name"
                self.notes.append(f"{template.place(child)}: {what}: taken as {free}")
                child = free
            inner = f"{path}.{child}" if path else child
            node.children.append(self._node(child, inner, found, one, node, depth + 1))
        return node

    def slot(self, node: Node, name: str) -> Attachment | None:
        """What a slot of a pass is bound to; None: nothing."""
        key = (id(node), name)
        if key in self._open:
            self.notes.append(f'{node.place}: slot "{name}" of "{node.name}" is connected to itself')
            return None
        self._open.add(key)
        try:
            if not node.enabled:
                for one in items(node.template.values, "FallbackConnections"):
                    if named(one, "Output") == name:
                        return self.slot(node, named(one, "Input"))
            reference = node.connection(name)
            if reference is not None:
                return self.reference(node, reference)
            known = next((one for one in node.slots() if named(one, "Name") == name), None)
            if known is None and name and node.template.text:
                self.notes.append(f'{node.place}: "{node.name}" has no slot "{name}": it is an image of its own')
            if node.parent is None or known is None:
                return self._stand_in(node, name) if node.parent is None or name else None
            return None
        finally:
            self._open.remove(key)

    def reference(self, node: Node, reference: Any) -> Attachment | None:
        """What a reference to an attachment of a pass means, as seen from a pass."""
        of, name = named(reference, "Pass"), named(reference, "Attachment")
        if of == "PipelineGlobal":
            found = self._globals.get(name)
            if found is None:
                self.notes.append(f'{node.place}: no pass declares the global "{name}": it stands for itself')
                return self._stand_in(self.top, name)
            return self.slot(*found)
        if of == "This":
            own = node.attachment(name)
            return self._own(node, name, *own) if own is not None else self.slot(node, name)
        target = self._pass(node, of)
        if target is None:
            self.notes.append(f'{node.place}: "{node.name}" refers to the unknown pass "{of}"')
            return None
        own = target.attachment(name)
        if own is not None and not any(named(one, "Name") == name for one in target.slots()):
            return self._own(target, name, *own)
        return self.slot(target, name)

    def _pass(self, node: Node, name: str) -> Node | None:
        if name in ("Pipeline", "Root"):
            return self.top
        if name == "Parent":
            return node.parent or node
        around = node.parent.children if node.parent else []
        return next((one for one in (*node.children, *around) if one.name == name), None)

    def _own(self, node: Node, name: str, values: dict[str, Any], image: bool) -> Attachment:
        made = Attachment(node, name, values, image)
        return self._attachments.setdefault(made.path, made)

    def _stand_in(self, node: Node, name: str) -> Attachment:
        made = Attachment(node, name, {}, True, stand_in=True)
        return self._attachments.setdefault(made.path, made)


def _unknown(name: str, request: dict[str, Any]) -> Template:
    """A template with an input per connection of a request."""
    slots = [
        {"Name": named(one, "LocalSlot"), "SlotType": "Input", "ScopeAttachmentUsage": "Shader"}
        for one in items(request, "Connections")
    ]
    return Template({"Name": name, "PassClass": "unknown", "Slots": slots}, name, "")
