"""Files that a demo writes with its picture: the plan, its listing, the viewer, the timeline."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import rgraph
from rgraph._core import _write_file
from rgraph.cli._summary import headed
from rgraph.cli._terminal import columns, figures, say, wrapped

_PART = re.compile(r"^(?P<stem>.*?)(?P<number>\d+)$")


def previews(
    device: rgraph.Device, graph: rgraph.Graph, start: Callable[..., Callable[[float], rgraph.Frame]], frames: int
) -> dict[str, Any]:
    """Run a clone of a graph in which every image is a root; returns what they hold after so many frames."""
    clone = graph.clone()
    images = [one.name for one in clone.resources if isinstance(one, rgraph.Image) and "." not in one.name]
    clone.root(*images)
    render = start(device, clone)
    for _ in range(frames - 1):
        render(0.0).wait()
    frame = render(0.0)
    return {name: frame[name] for name in images if name in frame}


def write(
    output: Path,
    graph: rgraph.Graph,
    plan: rgraph.Plan,
    report: rgraph.Report | None = None,
    images: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write the plan to the folder of a picture; returns the files.

    Parameters
    ----------
    output
        The picture: what is written is called like it, with other suffixes.
    graph, plan
        What was declared, and what was made of it.
    report
        Measured times, if it ran.
    images
        What its images hold, by name, if it ran.
    """
    files = [output.with_suffix(suffix) for suffix in (".rplan.json", ".txt", ".html", ".trace.json")]
    plan.save(files[0])
    _write_file(files[1], f"{plan}\n".encode())
    page = plan.to_html(graph, report=report, images=images, findings=plan.check(graph))
    _write_file(files[2], page.encode())
    _write_file(files[3], plan.to_trace(report).encode())
    return files


def _shortened(names: list[str]) -> list[str]:
    """Names that differ in a number only, as one: `bloom/down1 … 6`."""
    out = []
    for stem, group in groupby(names, key=lambda name: found["stem"] if (found := _PART.match(name)) else name):
        members = list(group)
        if len(members) < 3:
            out += members
        else:
            out.append(f"{members[0]} … {members[-1].removeprefix(stem)}")
    return out


def _wrapped(head: str, names: list[str], width: int) -> list[str]:
    """Names as lines behind a head, as wide as the terminal."""
    lines, line = [], head
    for at, name in enumerate(names):
        word = name + ("," if at < len(names) - 1 else "")
        if len(line) + len(word) + 1 > width and line.strip():
            lines.append(line)
            line = " " * len(head)
        line += f" {word}"
    return [*lines, line]


def summary(plan: rgraph.Plan, report: rgraph.Report | None = None) -> None:
    """Say what a plan is, on less than a screen: its size, its batches, what was left out, what takes long."""
    for line in headed(plan):
        say(line)
    width = columns()
    for at, batch in enumerate(plan.batches):
        lines = _wrapped(f"  {at} {batch.queue or 'host':9}", _shortened(list(batch.passes)), width)
        for line in lines if len(plan.batches) <= 8 else lines[:1]:
            say(line)
    for name, reason in plan.culled.items():
        say(f"  left out  {wrapped(f'{name}: {reason}', 12)}")
    if report is not None and report.measure != "off":
        slow = sorted(report.pass_us.items(), key=lambda item: -item[1])[:5]
        listed = " · ".join(f"{name} {us / 1000:.1f} ms" for name, us in slow)
        say(f"  slowest   {figures(listed, 12)}")
