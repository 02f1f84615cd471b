"""Plans as files: the viewer, still pictures by view and width, and the other forms that a suffix names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rgraph._core import _write_file
from rgraph.cli import UsageError
from rgraph.cli._parser import natural

if TYPE_CHECKING:
    import argparse

    from rgraph._core import Graph, Plan

__all__ = ["drawing", "picture", "refuse", "save"]

_VIEWS = ("plan", "timeline", "resources", "memory", "matrix")
_WIDTH = 1000


def drawing(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a picture (SVG) is drawn.

    Parameters
    ----------
    parser
        Where.
    """
    group = parser.add_argument_group("pictures (.svg)")
    group.add_argument("--view", choices=_VIEWS, metavar="VIEW", help=f"the view to draw: {', '.join(_VIEWS)}")
    group.add_argument("--width", type=natural, metavar="PIXELS", help="width of the picture (default: 1000)")


def refuse(arguments: argparse.Namespace, drawn: bool) -> None:
    """See that nobody asks for the view or width of a picture that is not drawn.

    Parameters
    ----------
    arguments
        With what `drawing` adds.
    drawn
        Whether there is a picture among the outputs.

    Raises
    ------
    UsageError
        If the options have nothing to act on.
    """
    if not drawn and (arguments.view is not None or arguments.width is not None):
        raise UsageError("--view and --width are for pictures", "add -o FILE.svg")


def picture(plan: Plan, arguments: argparse.Namespace, graph: Graph | None = None) -> str:
    """The picture of a plan.

    Parameters
    ----------
    plan
        The plan.
    arguments
        With what `drawing` adds.
    graph
        Its graph, if the plan was not baked here.
    """
    width = _WIDTH if arguments.width is None else arguments.width
    return plan.to_svg(graph, view=arguments.view or "plan", width=width)


def save(plan: Plan, output: str, arguments: argparse.Namespace) -> None:
    """Write a plan to a file by its suffix.

    Parameters
    ----------
    plan
        The plan.
    output
        The file.
    arguments
        With what `drawing` adds.
    """
    if output.endswith(".svg"):
        _write_file(output, picture(plan, arguments).encode())
    else:
        plan.save(output)
