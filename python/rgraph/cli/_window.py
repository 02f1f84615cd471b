"""What `rgraph run --window` and `rgraph watch --window` show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rgraph._core import Image
from rgraph.cli import UsageError
from rgraph.cli._running import bound
from rgraph.window import Viewer

if TYPE_CHECKING:
    from rgraph import Compiled, Device, Frame, Graph
    from rgraph.cli._running import Settings
    from rgraph.cli.watch import _Watch

__all__ = ["picture", "run", "watch"]


def picture(graph: Graph, names: list[str]) -> str:
    """The first result that a window can show.

    Raises
    ------
    UsageError
        If none is an image.
    """
    known = {one.name: one for one in graph.resources}
    images = [name for name in names if isinstance(known[name], Image)]
    if not images:
        raise UsageError("--window: no result is an image", "--show NAME makes one a result")
    return images[0]


def _size(graph: Graph, name: str) -> tuple[int, int]:
    found: Any = next(one for one in graph.resources if one.name == name)
    width, height = found.size[:2]
    shrunk = max(1.0, max(width, height) / 1600)
    return max(1, round(width / shrunk)), max(1, round(height / shrunk))


def run(device: Device, done: Compiled, graph: Graph, given: Settings, names: list[str], frames: int | None) -> int:
    """Run a graph in a window until it is closed; the number of frames.

    Parameters
    ----------
    device, done, graph
        What runs, and on what.
    given
        What a run gets.
    names
        The results, whose first image is shown.
    frames
        Close after so many.
    """
    name, number = picture(graph, names), 0

    def draw() -> tuple[Frame, str]:
        nonlocal number
        with bound():
            frame = done.run(
                inputs=given.inputs,
                flags=given.flags or None,
                params=given.params(number) or None,
                read=[name] if viewer.window is None else [],
            )
        number += 1
        return frame, name

    viewer = Viewer(device, draw, title=f"{done.plan.graph_name} · {name}", size=_size(graph, name), frames=frames)
    viewer.run()
    return viewer.frames


def watch(device: Device, watched: _Watch) -> None:
    """Show every edit in a window, and frames between, until it is closed or enough was done.

    Parameters
    ----------
    device
        What runs.
    watched
        The watch, whose first frame was run.
    """
    edits = 0

    def draw() -> tuple[Frame, str] | None:
        nonlocal edits
        if watched.ended(edits):
            viewer.close()
            return None
        if watched.files.changed():
            edits += 1
            watched.edit()
        else:
            watched.another()
        shown = watched.shown
        if shown is None or shown.last is None:
            return None
        return shown.last, picture(shown.graph, shown.names)

    shown = watched.shown
    size = (1280, 720) if shown is None else _size(shown.graph, picture(shown.graph, shown.names))
    viewer = Viewer(device, draw, title=watched.arguments.graph, size=size, fps=watched.arguments.fps or 60.0)
    viewer.run()
