"""Keys of O3DE's pass templates with values of a wrong kind: the importer reads them as missing, and notes each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rgraph.importers._mistake import Place

__all__ = ["faults"]

_Kind = Callable[[Any], str]
"""What a value has to be, in words; empty: it is."""


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "a text"


def _flag(value: Any) -> str:
    return "" if isinstance(value, bool) else "true or false"


def _number(value: Any) -> str:
    try:
        finite = not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        finite = False
    return "" if finite else "a finite number"


def _positive(value: Any) -> str:
    return "" if not _number(value) and float(value) > 0 else "a number above 0"


def _word(*words: str) -> _Kind:
    return lambda value: "" if value in words else f"one of {', '.join(words[:-1])} and {words[-1]}"


@dataclass(frozen=True)
class _Object:
    """An object: kinds of its keys, and those that it must have."""

    keys: dict[str, Any]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _List:
    """A list of values of one kind."""

    of: Any


_REFERENCE = _Object({"Pass": _text, "Attachment": _text}, ("Pass", "Attachment"))
_CONNECTIONS = _List(_Object({"LocalSlot": _text, "AttachmentRef": _REFERENCE}, ("LocalSlot", "AttachmentRef")))
_SLICES = {f"{word}Slice{end}": _number for word in ("Mip", "Array") for end in ("Min", "Max")}
_ACTIONS = _word("Clear", "Load", "DontCare", "None")
_USAGES = (
    *("RenderTarget", "DepthStencil", "SubpassInput", "Shader", "Copy", "Resolve"),
    *("Predication", "Indirect", "InputAssembly", "ShadingRate", "Uninitialized"),
)
_SLOT = _Object(
    {
        "SlotType": _word("Input", "Output", "InputOutput"),
        "ScopeAttachmentUsage": _word("", *_USAGES),
        "LoadStoreAction": _Object({"LoadAction": _ACTIONS, "ClearValue": _Object({"Value": _List(_number)})}),
        "ImageViewDesc": _Object(_SLICES),
    },
    ("SlotType",),
)
_IMAGE = _Object(
    {
        "Name": _text,
        "Lifetime": _word("Transient", "Imported"),
        "GenerateFullMipChain": _flag,
        "SizeSource": _Object(
            {
                "Source": _REFERENCE,
                "Multipliers": _Object({f"{axis}Multiplier": _positive for axis in ("Width", "Height", "Depth")}),
            }
        ),
        "FormatSource": _REFERENCE,
        "MultisampleSource": _REFERENCE,
        "ImageDescriptor": _Object(
            {
                "Format": _text,
                "Size": _Object(dict.fromkeys(("Width", "Height", "Depth"), _positive)),
                "MipLevels": _positive,
                "ArraySize": _positive,
                "MultisampleState": _Object({"samples": _positive}),
            }
        ),
    },
    ("Name",),
)
_COUNTS = dict.fromkeys(("m_byteCount", "ByteCount"), _number)
_BUFFER = _Object(
    {"Name": _text, "Lifetime": _word("Transient", "Imported"), "BufferDescriptor": _Object(_COUNTS)}, ("Name",)
)
_ATTACHMENTS = {
    "ImageAttachments": _List(_IMAGE),
    "BufferAttachments": _List(_BUFFER),
}
_DATA = _Object(
    {
        "$type": _text,
        "PipelineGlobalConnections": _List(
            _Object({"GlobalName": _text, "Slot": _text}, ("GlobalName", "Slot")),
        ),
    }
)
_REQUEST = _Object(
    {
        **_ATTACHMENTS,
        "ImageAttachmentOverrides": _List(_IMAGE),
        "BufferAttachmentOverrides": _List(_BUFFER),
        "TemplateName": _text,
        "Enabled": _flag,
        "Connections": _CONNECTIONS,
        "PassData": _DATA,
    }
)
_TEMPLATE = _Object(
    {
        **_ATTACHMENTS,
        "PassClass": _text,
        "Slots": _List(_SLOT),
        "Connections": _CONNECTIONS,
        "FallbackConnections": _List(_Object({"Input": _text, "Output": _text}, ("Input", "Output"))),
        "PassRequests": _List(_REQUEST),
        "PassData": _DATA,
    }
)
# Requests may have requests of their own.
_REQUEST.keys["PassRequests"] = _List(_REQUEST)
_LONGEST = 40


@dataclass
class _Walk:
    """Where a walk through a template is."""

    find: Callable[[str], Place]
    name: str
    path: list[str] = field(default_factory=list)

    def fault(self, what: str) -> str:
        return f"{self.find(self.name)}: {'.'.join(self.path)} {what}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _walk(kind: Any, value: Any, at: _Walk) -> Iterator[str]:
    if isinstance(kind, _List):
        if not isinstance(value, list):
            yield at.fault(f"is {_shown(value)}, not a list: left out")
            return
        for number, one in enumerate(value):
            path = [*at.path[:-1], f"{at.path[-1]}[{number}]"]
            yield from _walk(kind.of, one, _Walk(at.find, at.name, path))
    elif isinstance(kind, _Object):
        if not isinstance(value, dict):
            yield at.fault(f"is {_shown(value)}, not an object: left out")
            return
        names = [value[key] for key in ("Name", "LocalSlot") if isinstance(value.get(key), str) and value[key]]
        name = names[0] if names else at.name
        for key in kind.needs:
            if key not in value:
                yield _Walk(at.find, name, at.path).fault(f"has no {key}")
        for key, inner in kind.keys.items():
            if key in value:
                yield from _walk(inner, value[key], _Walk(at.find, name, [*at.path, key]))
    elif wanted := kind(value):
        yield at.fault(f"is {_shown(value)}, not {wanted}: not imported")


def faults(values: dict[str, Any], name: str, find: Callable[[str], Place]) -> Iterator[str]:
    """What a template has of a wrong kind, or lacks, line by line.

    Parameters
    ----------
    values
        The template.
    name
        Its name.
    find
        The line of a name.
    """
    requests = values.get("PassRequests")
    if requests == []:
        yield f"{find(name)}: PassRequests is empty: the template is taken as one pass"
    yield from _walk(_TEMPLATE, values, _Walk(find, name))
