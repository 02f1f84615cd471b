"""What notebooks show of graphs, frames, reports and devices: small tables, and pictures of results."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

from rgraph._core import preview

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rgraph import Array, Device, Frame, Graph, Report, Series

__all__ = ["device", "frame", "graph", "report", "series"]

#: Rows of a table; the rest is counted.
_MOST = 40


def _table(title: str, names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    listed = list(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape('' if cell is None else str(cell))}</td>" for cell in row) + "</tr>"
        for row in listed[:_MOST]
    )
    more = f"<p>and {len(listed) - _MOST} more</p>" if len(listed) > _MOST else ""
    return f"<p><b>{escape(title)}</b></p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def graph(value: Graph) -> str:
    """Passes with their queues, resources with their sizes and formats."""
    declared = value.to_dict()
    passes = [
        (
            one["name"],
            one.get("queue", "graphics"),
            ", ".join(f"{access['usage']} {access['resource']}" for access in one.get("accesses", ())),
        )
        for one in declared.get("passes", ())
    ]
    roots = set(declared.get("roots", ()))
    resources = [
        (one.name, repr(one).split('"', 2)[2].strip(" >"), "root" if one.name in roots else "")
        for one in value.resources
    ]
    width, height = value.size
    return _table(f"{value.name}, {width} × {height}", ("pass", "queue", "uses"), passes) + _table(
        "resources", ("name", "what", ""), resources
    )


def _picture(array: Array) -> str:
    png = array._repr_png_()
    if png is None and array.format is not None:
        memory: Any = array
        png = preview(memory, array.format)
    shown = f"<code>{escape(array.name)}</code> {array.shape} of {escape(str(array.dtype))}"
    if png is None:
        return f"<figure><figcaption>{shown}</figcaption></figure>"
    source = base64.b64encode(png).decode()
    return (
        f'<figure style="display:inline-block;margin:0 1em 1em 0"><img src="data:image/png;base64,{source}" '
        f'alt="{escape(array.name)}" style="max-width:20em"><figcaption>{shown}</figcaption></figure>'
    )


def frame(value: Frame) -> str:
    """Pictures of what was read back."""
    return "".join(_picture(array) for array in value.values()) or "<p>nothing was read back</p>"


def report(value: Report) -> str:
    """GPU times by pass."""
    times = value.pass_us
    title = f"GPU {value.gpu_us:.1f} µs" if value.gpu_us is not None else 'no GPU times: run(measure="batches")'
    rows = [(name, f"{us:.1f}") for name, us in sorted(times.items(), key=lambda pair: -pair[1])]
    notes = "".join(f"<p>{escape(note)}</p>" for note in value.notes)
    return _table(title, ("pass", "µs"), rows) + notes


def device(value: Device) -> str:
    """What the device is."""
    info = value.info
    heaps = ", ".join(f"{size >> 20} MiB{' on the device' if local else ''}" for size, local in info.heaps)
    rows = [
        ("kind", info.kind),
        ("driver", info.driver),
        ("Vulkan", ".".join(map(str, info.api))),
        ("UUID", info.uuid),
        ("memory", heaps),
        ("queues", ", ".join(value.profile.queues)),
    ]
    return _table(info.name, ("", ""), rows)


def series(value: Series) -> str:
    """Times of passes in all frames."""
    title = f"{len(value)} frames, {len(value.spikes)} spikes"
    order = sorted(value.passes, key=lambda one: -one.median_us)
    rows = [(one.name, *(f"{us:.1f}" for us in one[2:6])) for one in order]
    return _table(title, ("pass", "min µs", "median", "p99", "max"), rows)
