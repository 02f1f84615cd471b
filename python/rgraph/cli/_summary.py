"""Plans and their differences on one screen: what takes time, what takes memory, what changed most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rgraph.cli._terminal import columns, figures, paint, size, wrapped

if TYPE_CHECKING:
    from rgraph import Plan

__all__ = ["differences", "every", "headed", "ranked", "summary"]

_BARS = " ▁▂▃▄▅▆▇█"
_LINES = 8
_LEAST = 16
_MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "moved": (">", "blue"), "changed": ("~", "yellow")}


def _microseconds(value: float) -> str:
    return f"{value / 1000:.2f} ms" if value >= 1000 else f"{value:.1f} µs"


def _short(name: str, most: int) -> str:
    """A name that keeps its end, which tells names of one prefix apart."""
    return name if len(name) <= most else f"{name[: most // 3]}…{name[len(name) - (most - most // 3 - 1) :]}"


def _listed(items: list[tuple[str, str]]) -> str:
    """The first one to three names with their figures, as many as a line takes."""
    room = columns() - 13
    shown = items[: min(max(room // 32, 1), 3)]
    most = max(room // max(len(shown), 1) - 14, _LEAST)
    return " · ".join(f"{_short(name, most)} {figure}" for name, figure in shown)


def _bar(fraction: float) -> str:
    return _BARS[min(max(round(fraction * (len(_BARS) - 1)), 1 if fraction > 0 else 0), len(_BARS) - 1)]


def _timeline(plan: Plan, width: int) -> list[str]:
    """A line per queue: how busy it is in each part of the modelled frame."""
    frame = max((one.start_us + one.duration_us for one in plan.passes), default=0.0)
    if frame <= 0:
        return []
    lines = []
    for queue in dict.fromkeys(one.queue for one in plan.passes):
        busy = [0.0] * width
        for one in plan.passes:
            if one.queue != queue:
                continue
            begin, end = one.start_us / frame * width, (one.start_us + one.duration_us) / frame * width
            for at in range(int(begin), min(int(end) + 1, width)):
                busy[at] += max(0.0, min(end, at + 1) - max(begin, at))
        bars = "".join(_bar(min(one, 1.0)) for one in busy)
        lines.append(f"  {queue or 'host':9.9} {paint(bars, 'cyan')}")
    return [*lines, f"  {'':9} 0{_microseconds(frame):>{width - 1}}"]


def _memory(plan: Plan, values: dict[str, Any], width: int) -> list[str]:
    """The bytes alive over the frame, on the axis of the timeline, and the resources alive at the peak."""
    placed = {one["resource"]: one["size"] for one in values["memory"]["placements"]}
    lives = [
        (one["lifetime"]["first"], one["lifetime"]["last"], placed[one["id"]], one["name"])
        for one in values["resources"]
        if one["id"] in placed and one.get("lifetime")
    ]
    count = max((last for _, last, _, _ in lives), default=-1) + 1
    alive = [sum(bytes_ for first, last, bytes_, _ in lives if first <= at <= last) for at in range(count)]
    peak = max(alive, default=0)
    if not peak:
        return []
    frame = max((one.start_us + one.duration_us for one in plan.passes), default=0.0)
    # Without times the passes follow each other in steps of equal length.
    spans = [(one.start_us / frame, (one.start_us + one.duration_us) / frame) for one in plan.passes] if frame else []
    if len(spans) < count:
        spans = [(at / count, (at + 1) / count) for at in range(count)]
    most = [0] * width
    for held, (begin, end) in zip(alive, spans, strict=False):
        for at in range(int(begin * width), min(math.ceil(end * width), width)):
            most[at] = max(most[at], held)
    # Between passes nothing is given up.
    for at in range(1, width):
        most[at] = most[at] or most[at - 1]
    bars = "".join(_bar(one / peak) for one in most)
    where = alive.index(peak)
    there = sorted((one for one in lives if one[0] <= where <= one[1]), key=lambda one: -one[2])
    held_by = _listed([(name, size(bytes_)) for _, _, bytes_, name in there])
    return [f"  {'memory':9} {paint(bars, 'yellow')} {size(peak)}", f"  {'at peak':9} {held_by}"]


def headed(plan: Plan) -> list[str]:
    """What a plan is of, and its figures: the first lines of every summary.

    Parameters
    ----------
    plan
        The plan.
    """
    head, *rest = str(plan).splitlines()
    return [paint(wrapped(head, 0), "bold"), *(f"  {figures(line.strip(), 2)}" for line in rest[:3] if line.strip())]


def summary(plan: Plan) -> list[str]:
    """A plan on less than a screen: figures, a timeline, memory, the longest passes, culled ones.

    Parameters
    ----------
    plan
        The plan.
    """
    lines = headed(plan)
    width = max(columns() - 24, _LEAST)
    lines += _timeline(plan, width) + _memory(plan, plan.to_dict(), width)
    slow = sorted(plan.passes, key=lambda one: -one.duration_us)
    if slow and slow[0].duration_us > 0:
        lines.append(f"  {'longest':9} {_listed([(one.name, _microseconds(one.duration_us)) for one in slow])}")
    culled = list(plan.culled.items())
    lines += [f"  {'culled':9} {wrapped(f'{name}: {reason}', 12)}" for name, reason in culled[:3]]
    if len(culled) > 3:
        lines.append(f"  {'':9} and {len(culled) - 3} more")
    return [*lines, f"  {wrapped('--text prints the listing, -o FILE.html writes the viewer', 2)}"]


def _said(change: dict[str, Any]) -> str:
    mark, color = _MARKS.get(change["kind"], ("~", "yellow"))
    before, after = change["before"], change["after"]
    value = f"{before} → {after}" if before is not None and after is not None else after or before or ""
    text = ": ".join(word for word in (change["aspect"], value) if word)
    return f"    {paint(mark, color)} {wrapped(text or change['kind'], 6)}"


def ranked(values: dict[str, Any]) -> list[tuple[tuple[str, str], list[dict[str, Any]]]]:
    """The changes of two plans by what they are of, the largest first; those of the plan as a whole lead.

    Parameters
    ----------
    values
        What `Plan.diff_dict` returns.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for change in values["changes"]:
        groups.setdefault((change["what"], change["name"]), []).append(change)
    for changes in groups.values():
        changes.sort(key=lambda one: -float(one["weight"]))
    return sorted(groups.items(), key=lambda item: (item[0][0] != "plan", -sum(one["weight"] for one in item[1])))


def differences(values: dict[str, Any]) -> list[str]:
    """The differences of two plans by pass and resource, the largest first; those of the plan as a whole before them.

    Parameters
    ----------
    values
        What `Plan.diff_dict` returns.
    """
    lines = []
    for (what, name), changes in ranked(values):
        lines.append(f"  {what} {paint(wrapped(name, len(what) + 3), 'bold')}" if name else f"  {what}")
        lines += [_said(one) for one in changes[:_LINES]]
        if len(changes) > _LINES:
            lines.append(f"    … and {len(changes) - _LINES} more: --all prints them")
    return lines


def every(changes: str) -> list[str]:
    """Every difference of two plans in the order of the plan, as lines of the terminal's width.

    Parameters
    ----------
    changes
        What `Plan.diff` returns.
    """
    colors = dict(_MARKS.values())
    lines = []
    for line in changes.splitlines():
        mark, space, text = line.partition(" ")
        if mark in colors and space:
            lines.append(f"{paint(mark, colors[mark])} {wrapped(text, 2)}")
        else:
            lines.append(figures(line, 0) if " · " in line else wrapped(line, 0))
    return lines
