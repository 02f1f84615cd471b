"""Pipelines of O3DE (`.pass`) as graphs to plan with: the work of their passes is the engine's."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from rgraph._core import Graph
from rgraph._errors import GraphError, RgError
from rgraph.importers._imported import Imported
from rgraph.importers._mistake import refuse
from rgraph.importers._o3de_tree import Attachment, Node, Tree, named, read_templates
from rgraph.importers._read import Reader

__all__ = ["o3de"]

_FORMATS = {
    "D16_UNORM": "depth16unorm",
    "D24_UNORM_S8_UINT": "depth24plus-stencil8",
    "D32_FLOAT": "depth32float",
    "D32_FLOAT_S8X24_UINT": "depth32float-stencil8",
    "R10G10B10A2_UNORM": "rgb10a2unorm",
    "R10G10B10A2_UINT": "rgb10a2uint",
    "R11G11B10_FLOAT": "rg11b10ufloat",
    "R9G9B9E5_SHAREDEXP": "rgb9e5ufloat",
    "R8G8B8A8_UNORM_SRGB": "rgba8unorm-srgb",
    "B8G8R8A8_UNORM": "bgra8unorm",
    "B8G8R8A8_UNORM_SRGB": "bgra8unorm-srgb",
}
_REGULAR = re.compile(r"R(8|16|32)(G\1)?(B\1A\1)?_(UNORM|SNORM|UINT|SINT|FLOAT)")
_LOADS = {"Clear": "clear", "Load": "load", "DontCare": "discard", "None": "discard"}
# Bytes of buffers whose size the engine computes.
_BUFFER = 1 << 20
# No image of a device is longer, or has more layers.
_LONGEST, _MOST_LAYERS = 65536, 2048


@dataclass
class _Access:
    """A slot of a pass that is bound."""

    attachment: Attachment
    usage: str
    writes: bool
    reads: bool
    details: dict[str, Any] = field(default_factory=dict)


def _number(value: Any, default: float) -> float:
    """A number, which the files also write as text."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return default
    return found if math.isfinite(found) else default


def _object(values: dict[str, Any], key: str) -> dict[str, Any]:
    """An object; an empty one in the place of anything else."""
    found = values.get(key)
    return found if isinstance(found, dict) else {}


class _Images:
    """Sizes and formats of attachments, which may come from other attachments.

    Parameters
    ----------
    tree
        The passes.
    size
        Of the output in texels.
    """

    def __init__(self, tree: Tree, size: tuple[int, int]) -> None:
        self.tree, self.size = tree, size
        self._sizes: dict[str, tuple[int, int, int]] = {}
        self._open: set[tuple[str, str]] = set()

    def _source(self, of: Attachment, key: str, reference: Any) -> Attachment | None:
        """Another attachment that one takes something from; None: none, or itself."""
        if not isinstance(reference, dict) or (of.path, key) in self._open:
            return None
        self._open.add((of.path, key))
        try:
            found = self.tree.reference(of.node, reference)
        finally:
            self._open.remove((of.path, key))
        return None if found is None or found.path == of.path or not found.image else found

    def extent(self, of: Attachment) -> tuple[int, int, int]:
        """Width, height and depth in texels; scaled sizes are rounded up, as the engine does."""
        if of.path in self._sizes:
            return self._sizes[of.path]
        # A size that depends on itself is that of the output.
        self._sizes[of.path] = (*self.size, 1)
        values = of.values.get("SizeSource")
        given = _object(of.values, "ImageDescriptor").get("Size")
        size = (*self.size, 1)
        if isinstance(values, dict):
            source = self._source(of, "size", values.get("Source"))
            base = self.extent(source) if source else (*self.size, 1)
            by = values.get("Multipliers")
            by = by if isinstance(by, dict) else {}
            factors = [_number(by.get(f"{axis}Multiplier"), 1.0) for axis in ("Width", "Height", "Depth")]
            scaled = [
                max(1, math.ceil(min(length * factor, 1e9))) for length, factor in zip(base, factors, strict=True)
            ]
            size = (scaled[0], scaled[1], scaled[2])
        elif isinstance(given, dict):
            width, height, depth = (int(min(_number(given.get(axis), 1), 1e9)) for axis in ("Width", "Height", "Depth"))
            size = (max(width, 1), max(height, 1), max(depth, 1))
        within = (min(size[0], _LONGEST), min(size[1], _LONGEST), min(size[2], _LONGEST))
        if within != size:
            where = of.node.template.place(of.name)
            self.tree.notes.append(f'{where}: "{of.path}" is longer than {_LONGEST} texels: taken as {_LONGEST}')
        self._sizes[of.path] = within
        return within

    def format(self, of: Attachment, depth: int = 0) -> str:
        """The format; unknown ones are noted."""
        source = self._source(of, "format", of.values.get("FormatSource"))
        if source is not None and depth < 64:
            return self.format(source, depth + 1)
        word = named(of.values.get("ImageDescriptor"), "Format")
        if word in _FORMATS:
            return _FORMATS[word]
        if found := _REGULAR.fullmatch(word):
            channels = "rgba" if found[3] else "rg" if found[2] else "r"
            return f"{channels}{found[1]}{found[4].lower()}"
        if not of.stand_in:
            fault = f'has the unknown format "{word}"' if word else "has no format"
            self.tree.notes.append(f'{of.node.template.place(of.name)}: "{of.path}" {fault}: taken as rgba8unorm')
        return "rgba8unorm"

    def samples(self, of: Attachment, depth: int = 0) -> int:
        """Samples per texel."""
        source = self._source(of, "samples", of.values.get("MultisampleSource"))
        if source is not None and depth < 64:
            return self.samples(source, depth + 1)
        state = _object(of.values, "ImageDescriptor").get("MultisampleState")
        count = int(_number(state.get("samples"), 1)) if isinstance(state, dict) else 1
        return count if count in (2, 4, 8, 16) else 1

    def parts(self, of: Attachment) -> dict[str, int]:
        """How many mips and layers an image has."""
        options = self.options(of)
        mips, longest = options.get("mips", 1), max(options["size"])
        return {"mips": longest.bit_length() if mips == "full" else mips, "layers": options.get("layers", 1)}

    def options(self, of: Attachment) -> dict[str, Any]:
        """Arguments of `Graph.image`."""
        described = _object(of.values, "ImageDescriptor")
        width, height, depth = self.extent(of)
        samples = self.samples(of)
        full = of.values.get("GenerateFullMipChain") is True
        mips: Any = "full" if full else max(1, int(_number(described.get("MipLevels"), 1)))
        out: dict[str, Any] = {
            "size": (width, height) if depth == 1 else (width, height, depth),
            "format": self.format(of),
            "layers": min(max(1, int(_number(described.get("ArraySize"), 1))), _MOST_LAYERS) if depth == 1 else None,
        }
        if samples > 1:
            out["samples"] = samples
        elif mips == "full" or mips > 1:
            out["mips"] = mips if mips == "full" else min(mips, max(width, height, depth).bit_length())
        return {key: value for key, value in out.items() if value is not None}


def _clear(action: dict[str, Any], depth: bool) -> Any:
    values = _object(action, "ClearValue").get("Value")
    numbers = [_number(one, 0.0) for one in values] if isinstance(values, list) else []
    numbers = (numbers + [0.0] * 4)[:4]
    return (numbers[0], 0) if depth else tuple(numbers)


def _part(slot: dict[str, Any], most: dict[str, int]) -> dict[str, Any]:
    """Mips and layers that a slot names, of as many as the image has: views may name more than there are."""
    view = slot.get("ImageViewDesc")
    out: dict[str, Any] = {}
    for key, word in (("mips", "MipSlice"), ("layers", "ArraySlice")):
        if isinstance(view, dict) and (f"{word}Min" in view or f"{word}Max" in view):
            first = int(_number(view.get(f"{word}Min"), 0))
            last = int(_number(view.get(f"{word}Max"), first))
            if 0 <= first <= last and first < most[key]:
                out[key] = (first, min(last + 1, most[key]))
    return out


def _access(slot: dict[str, Any], attachment: Attachment) -> _Access | None:
    """How a slot uses what it is bound to; None: not at all."""
    kind, usage = named(slot, "SlotType") or "Input", named(slot, "ScopeAttachmentUsage")
    action = slot.get("LoadStoreAction")
    action = action if isinstance(action, dict) else {}
    load = _LOADS.get(named(action, "LoadAction"))
    reads, writes = kind != "Output", kind != "Input"
    if usage == "RenderTarget" and attachment.image:
        details: dict[str, Any] = {"load": load} if load else {"load": "load"} if kind == "InputOutput" else {}
        if load == "clear":
            details["clear"] = _clear(action, False)
        return _Access(attachment, "color_attachment", True, details.get("load") == "load", details)
    if usage == "DepthStencil" and attachment.image:
        if kind == "Input":
            return _Access(attachment, "depth_stencil_read", False, True)
        details = {"load": load} if load else {"load": "load"} if kind == "InputOutput" else {}
        if load == "clear":
            details["clear"] = _clear(action, True)
        return _Access(attachment, "depth_stencil_attachment", True, details.get("load") == "load", details)
    if usage == "Resolve" and attachment.image:
        return _Access(attachment, "resolve_attachment", True, False)
    if usage == "SubpassInput" and attachment.image:
        return _Access(attachment, "input_attachment", False, True)
    if usage == "Copy":
        return _Access(attachment, "transfer_dst" if writes else "transfer_src", writes, not writes)
    if usage in ("Indirect", "InputAssembly") and not attachment.image:
        return _Access(attachment, "indirect" if usage == "Indirect" else "vertex", False, True)
    if not writes:
        return _Access(attachment, "sampled" if attachment.image else "storage_read", False, True)
    word = "storage_read_write" if reads else "storage_write"
    return _Access(
        attachment, word, True, reads, {"load": "discard"} if load in ("clear", "discard") and not reads else {}
    )


class _Importer:
    """Declares the passes of a tree.

    Parameters
    ----------
    graph
        Where.
    tree
        The passes.
    size
        Of the output in texels.
    """

    def __init__(self, graph: Graph, tree: Tree, size: tuple[int, int]) -> None:
        self.graph, self.tree, self.images = graph, tree, _Images(tree, size)
        self.notes = tree.notes
        self.passes: list[tuple[Node, list[_Access]]] = []

    def _single(self, node: Node, accesses: list[_Access]) -> list[_Access]:
        """One access per attachment: a pass must not read what it writes elsewhere."""
        out: dict[str, _Access] = {}
        for one in accesses:
            path = one.attachment.path
            known = out.get(path)
            if known is None or (known.usage == "sampled" and one.usage == "depth_stencil_read"):
                out[path] = one
            elif not known.writes and one.writes:
                self._dropped(node, known, one)
                out[path] = one
            elif known.usage != one.usage and known.usage != "depth_stencil_read":
                self._dropped(node, one, known)
        return list(out.values())

    def _dropped(self, node: Node, dropped: _Access, kept: _Access) -> None:
        both = f"as {kept.usage} and as {dropped.usage}: only the first is imported"
        self.notes.append(f'{node.place}: "{node.title}" uses "{kept.attachment.path}" {both}')

    def _resolved(self, node: Node, accesses: list[_Access]) -> list[_Access]:
        """Resolves name the target that they resolve; those of images with one sample are left out."""
        targets = [one.attachment for one in accesses if one.usage == "color_attachment"]
        out = []
        for one in accesses:
            if one.usage == "resolve_attachment":
                source = targets.pop(0) if targets else None
                if source is None or self.images.samples(source) == 1:
                    self.notes.append(
                        f'{node.place}: "{node.title}" resolves an image with one sample: taken as a copy'
                    )
                    one = _Access(one.attachment, "color_attachment", True, False)
                else:
                    one.details["resolves"] = source.path
            out.append(one)
        return out

    def gather(self) -> None:
        """The accesses of all passes."""
        for node in self.tree.top.leaves():
            accesses = []
            for slot in node.slots():
                name = named(slot, "Name")
                if not name:
                    self.notes.append(f'{node.place}: a slot of "{node.title}" has no name: left out')
                    continue
                attachment = self.tree.slot(node, name)
                if attachment is None:
                    self.notes.append(f'{node.place}: slot "{name}" of "{node.title}" is not connected: left out')
                    continue
                access = _access(slot, attachment)
                if access is not None:
                    access.details |= _part(slot, self.images.parts(attachment)) if attachment.image else {}
                    accesses.append(access)
            self.passes.append((node, self._resolved(node, self._single(node, accesses))))
        for node in self.tree.top.all():
            if not node.enabled:
                self.notes.append(
                    f'{node.place}: "{node.title}" is disabled: left out, with its fallbacks in its place'
                )

    def _lifetime(self, attachment: Attachment) -> dict[str, Any]:
        """Whether an attachment comes from outside: declared so, or read before any pass writes it."""
        uses = [one for _, accesses in self.passes for one in accesses if one.attachment.path == attachment.path]
        written = any(one.writes for one in uses)
        if attachment.stand_in or named(attachment.values, "Lifetime") == "Imported":
            return {"imported": {"contents": "defined" if uses and uses[0].reads else "undefined"}}
        if uses and uses[0].reads:
            how = "keeps it from frame to frame" if written else "imports it"
            where = attachment.node.template.place(attachment.name)
            self.notes.append(f'{where}: "{attachment.path}" is read before any pass writes it: the graph {how}')
            return {"persistent": True} if written else {"imported": True}
        return {}

    def declare(self) -> None:
        """Declare attachments and passes."""
        made: dict[str, Any] = {}
        for _, accesses in self.passes:
            for one in accesses:
                of = one.attachment
                if of.path in made:
                    continue
                lifetime = self._lifetime(of)
                if of.image:
                    made[of.path] = self.graph.image(of.path, **self.images.options(of), **lifetime)
                else:
                    described = of.values.get("BufferDescriptor")
                    described = described if isinstance(described, dict) else {}
                    bytes_ = int(_number(described.get("m_byteCount", described.get("ByteCount")), 0))
                    if bytes_ < 1:
                        where = of.node.template.place(of.name)
                        self.notes.append(f'{where}: the engine sizes "{of.path}": taken as {_BUFFER} bytes')
                    made[of.path] = self.graph.buffer(of.path, min(max(bytes_, 0), 1 << 40) or _BUFFER, **lifetime)
        for node, accesses in self.passes:
            raster = any(one.usage.endswith("attachment") or one.usage == "depth_stencil_read" for one in accesses)
            queue: Any = "graphics" if raster or named(node.data, "$type") != "ComputePassData" else "compute"
            declared = self.graph.add_pass(node.title, queue=queue, side_effects=not accesses)
            if not accesses:
                self.notes.append(f'{node.place}: "{node.title}" has no attachments: it runs for its effects outside')
            for one in accesses:
                declared.uses(made[one.attachment.path], one.usage, **one.details)
        written = {one.attachment.path for _, accesses in self.passes for one in accesses if one.writes}
        shown = [self.tree.slot(self.tree.top, named(slot, "Name")) for slot in self.tree.top.slots()]
        own = [one for one in shown if one is not None and "imported" not in self._lifetime(one)]
        for path in dict.fromkeys(one.path for one in own if one.path in written):
            self.graph.root(made[path])

    def check(self) -> None:
        """Bake it, and list the passes that contribute to no output."""
        try:
            plan = self.graph.bake()
        except GraphError as error:
            self.notes.append(f"the graph does not bake as it is: {str(error).splitlines()[0]}")
            return
        culled = [node.title for node, _ in self.passes if node.title not in set(plan.pass_names)]
        if culled:
            self.notes.append(f"passes that contribute to no output are culled: {', '.join(culled)}")


def o3de(
    path: str | PathLike[str], *, size: Sequence[int] = (1920, 1080), root: str | PathLike[str] | None = None
) -> Imported:
    """Import a pass of O3DE (`.pass`): a pipeline, or a part of one.

    The graph has the passes, attachments and connections of the template and of those that it requests, which are
    looked for by name in all `.pass` files below the folder of the file. It can be baked and looked at; what the passes
    do is the engine's, so it cannot run. Slots of the template itself are imported images.

    Parameters
    ----------
    path
        The file.
    size
        (width, height) of the output in texels; other sizes are relative to it.
    root
        See `slangp`.

    Returns
    -------
    Imported
        The graph, and what was guessed or left out: templates that were not found, attachments that the engine fills
        in C++, disabled passes, passes that contribute to nothing.

    Raises
    ------
    GraphError
        RG-E222 with file and line if a file is malformed.
    """
    values = tuple(size) if isinstance(size, Sequence) else ()
    if len(values) != 2 or not all(isinstance(one, int) and 1 <= one <= 65536 for one in values):
        refuse(f"size is {size!r}", "give (width, height), 1 to 65536 texels each", None, "RG-E205")
    reader = Reader(Path(path), None if root is None else Path(root))
    notes: list[str] = []
    try:
        first, known = read_templates(Path(path), reader, notes)
        tree = Tree(first, known, notes)
        graph = Graph(tree.top.name, size=values)
        importer = _Importer(graph, tree, (values[0], values[1]))
        importer.gather()
        importer.declare()
    except RgError as error:
        error.files = list(reader.files)
        raise
    importer.check()
    return Imported(graph, tuple(dict.fromkeys(notes)), tuple(reader.files))
