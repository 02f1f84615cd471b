"""What notebooks show: small tables of graphs, compiled graphs, frames, reports and devices, pictures of results."""

from __future__ import annotations

import base64
import gzip
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph._core import Compiled, preview

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rgraph import Array, Buffer, CompiledDevices, Device, Frame, Graph, Image, Report, Series, View

__all__ = ["compiled", "declared_pass", "device", "frame", "graph", "plan", "report", "resource", "series", "view"]

#: Rows of a table; the rest is counted.
_MOST = 40


class _Bar(NamedTuple):
    """A cell that shows a share of the largest as a bar."""

    share: float

    def html(self) -> str:
        width = max(1, round(self.share * 120))
        return f'<div style="width:{width}px;height:0.8em;background:#2c68c4;border-radius:2px"></div>'


def _cell(value: object) -> str:
    return value.html() if isinstance(value, _Bar) else escape("" if value is None else str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value.replace(".", "", 1).isdecimal())


def _table(title: str, names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    listed = list(rows)
    # Notebooks align all cells to the right, which is for numbers.
    sides = [
        "" if all(_is_number(row[at]) for row in listed) else ' style="text-align:left"' for at in range(len(names))
    ]
    head = "".join(f"<th{side}>{escape(name)}</th>" for name, side in zip(names, sides, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{_cell(cell)}</td>' for cell, side in zip(row, sides, strict=True))}</tr>"
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
        (one.name, repr(one).rpartition('"')[2].strip(" >"), "root" if one.name in roots else "")
        for one in value.resources
    ]
    width, height = value.size
    return _table(f"{value.name}, {width} × {height}", ("pass", "queue", "uses"), passes) + _table(
        "resources", ("name", "what", ""), resources
    )


#: A frame's document: unpacks the page and becomes it. Without `DecompressionStream` it says so.
_LOADER = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title></head><body><script>
(async () => {{
  try {{
    const packed = Uint8Array.from(atob("{packed}"), (c) => c.charCodeAt(0));
    const page = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    document.open();
    document.write(page);
    document.close();
  }} catch (error) {{
    document.body.textContent = "This browser cannot show the plan: " + error;
  }}
}})();
</script></body></html>"""


def plan(page: str, name: str, queues: int, resources: int) -> str:
    """A page in a frame of its own, which runs its scripts and nothing else; packed, alive without a kernel.

    The frame is as high as what it shows, up to most of the window, and can be made higher at its corner.
    """
    packed = base64.b64encode(gzip.compress(page.encode(), 9, mtime=0)).decode()
    loader = escape(_LOADER.format(name=escape(name), packed=packed))
    height = min(max(380 + 76 * queues + 24 * min(resources, 12), 460), 820)
    return (
        f'<iframe title="Plan of {escape(name)}" sandbox="allow-scripts" width="100%" height="{height}" '
        f'style="display:block;box-sizing:border-box;height:min({height}px,88vh);resize:vertical;overflow:hidden;'
        f'border:1px solid #8884;border-radius:6px" srcdoc="{loader}"></iframe>'
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


#: Keys of an access that say which part of a resource it uses.
_PARTS = ("mips", "layers", "aspects", "range")


def _part(access: dict[str, Any]) -> str:
    return ", ".join(f"{key} {access[key]}" for key in _PARTS if access.get(key) is not None)


def _uses(of: Image | Buffer) -> list[tuple[str, dict[str, Any]]]:
    """Names of passes, and their accesses of a resource."""
    return [
        (one["name"], access)
        for one in of.graph.to_dict().get("passes", ())
        for access in one.get("accesses", ())
        if access["resource"] == of.name
    ]


def resource(value: Image | Buffer) -> str:
    """What an image or a buffer is, and the passes that use it."""
    rows = [(name, access["usage"], _part(access)) for name, access in _uses(value)]
    return _table(repr(value).strip("<>"), ("pass", "uses it as", "part"), rows)


def view(value: View, aspects: list[str]) -> str:
    """What a part of a resource is, and the passes that use some of it. Accesses without a range count as whole."""
    ranges = (("mips", value.mip_range), ("layers", value.layer_range), ("range", value.byte_range))

    def meets(access: dict[str, Any]) -> bool:
        pairs = [(access[key], part) for key, part in ranges if part and access.get(key)]
        shared = not aspects or set(access.get("aspects") or aspects) & set(aspects)
        return bool(shared) and all(used[0] < part[1] and part[0] < used[1] for used, part in pairs)

    rows = [(name, access["usage"], _part(access)) for name, access in _uses(value.resource) if meets(access)]
    return _table(repr(value).strip("<>"), ("pass", "uses it as", "part"), rows)


def declared_pass(graph: Graph, name: str) -> str:
    """The queue of a pass and its accesses."""
    declared: dict[str, Any] = next((one for one in graph.to_dict()["passes"] if one["name"] == name), {})
    uses = declared.get("accesses", ())
    rows = [(access["resource"], access["usage"], _part(access), access.get("load", "")) for access in uses]
    title = f"pass {name} on {declared.get('queue', 'graphics')}"
    return _table(title, ("resource", "use", "part", "load"), rows)


def compiled(
    value: Compiled | CompiledDevices, resources: list[tuple[str, str, str, str]], flags: list[str], notes: list[str]
) -> str:
    """Passes in the order in which they run, and what runs are given and leave.

    Parameters
    ----------
    value
        The compiled graph.
    resources
        Name, role, what it is and its array, of those that runs see.
    flags
        Names of the flags of its conditional passes.
    notes
        Of its plan and its passes.
    """
    if isinstance(value, Compiled):
        plan = value.plan
        batch = {name: at for at, one in enumerate(plan.batches) for name in one.passes}
        most = max((one.duration_us for one in plan.passes), default=0.0) or 1.0
        runs = _table(
            f"{repr(value).strip('<>')}, modelled frame {plan.frame_us:.1f} µs",
            ("pass", "queue", "batch", "modelled µs", ""),
            [
                (
                    one.name,
                    one.queue or "cpu",
                    batch.get(one.name),
                    f"{one.duration_us:.1f}",
                    _Bar(one.duration_us / most),
                )
                for one in plan.passes
            ],
        )
    else:
        rows = [(name, part.device) for part in value.plan.parts for name in part.passes]
        runs = _table(repr(value).strip("<>"), ("pass", "device"), rows)
    parts = [runs, _table("inputs, states and results", ("name", "", "what", "array"), resources)]
    if flags:
        parts.append(f"<p>flags: {escape(', '.join(flags))}</p>")
    return "".join([*parts, *(f"<p>{escape(note)}</p>" for note in notes)])


def report(value: Report) -> str:
    """GPU times by pass."""
    times = value.pass_us
    title = f"GPU {value.gpu_us:.1f} µs" if value.gpu_us is not None else 'no GPU times: run(measure="batches")'
    most = max(times.values(), default=0.0) or 1.0
    rows = [(name, f"{us:.1f}", _Bar(us / most)) for name, us in sorted(times.items(), key=lambda pair: -pair[1])]
    notes = "".join(f"<p>{escape(note)}</p>" for note in value.notes)
    return _table(title, ("pass", "µs", ""), rows) + notes


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
