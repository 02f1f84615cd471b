"""`rgraph view`: write the viewer, one page with the whole plan for any browser, or a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph._core import _write_file
from rgraph.cli import UsageError
from rgraph.cli._drawing import drawing, picture, refuse
from rgraph.cli._files import STANDARD, baked, is_capture, is_plan, is_python, load_graph, load_plan, python_file
from rgraph.cli._images import captured
from rgraph.cli._parser import natural, planning
from rgraph.cli._terminal import say, size, tell
from rgraph.cli._times import saved_times

if TYPE_CHECKING:
    import argparse

    from rgraph import Finding, Graph

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
A graph file is baked first. For a capture, the page shows its plan and the images of its last run; --nth chooses one of
several graphs. The page needs no network.

For a folder, one page without scripts, as a build artefact, shows its plans and its graphs (baked first), the longest
frame first.

  rgraph view frame.rgraph.json --open
  rgraph run frame.rgraph.json --frames 300 --json > times.json
  rgraph view frame.rgraph.json --report times.json
  rgraph view frame.rgraph.json -o frame.svg --view timeline --width 1400"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument(
        "graph",
        metavar="GRAPH|PLAN|CAPTURE|FOLDER",
        help="a graph file, a plan file (.rplan.json), a capture, a folder",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the page (.html) or a picture (.svg); default: a page next to the file; - prints it",
    )
    parser.add_argument("--graph", dest="of", metavar="GRAPH", help="the graph file of a plan file")
    parser.add_argument(
        "--report", metavar="FILE", help="measured times as JSON: of a report, of a series, or of rgraph run --json"
    )
    parser.add_argument(
        "--nth", type=natural, default=0, metavar="N", help="index of the graph in a capture (default: 0)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    drawing(parser)
    planning(parser)


def _beside(path: str) -> str:
    """The default name of the page."""
    if path == STANDARD:
        return STANDARD
    if Path(path).is_dir():
        return f"{Path(path).resolve().name or 'plans'}.html"
    path = python_file(path) if is_python(path) else path
    for suffix in (".rgraph.json", ".rplan.json", ".json", ".py", ".rcapture"):
        if path.endswith(suffix):
            return f"{path.removesuffix(suffix)}.html"
    return f"{path}.html"


def _folder(arguments: argparse.Namespace) -> str:
    """The page of a folder."""
    from rgraph.cli._folder import Entry, plans
    from rgraph.cli._folder_page import page

    if arguments.of:
        raise UsageError("--graph is for plan files, not for folders")
    found = plans(arguments.graph, arguments)
    entries = [Entry(name, plan, plan, plan.diff_dict(plan)) for name, plan in found.items()]
    entries.sort(key=lambda one: -next(of["after"] for of in one.values["figures"] if of["what"] == "frame"))
    return page(Path(arguments.graph).resolve().name or "plans", entries, compared=False)


def _page(arguments: argparse.Namespace, drawn: bool) -> str:
    """The page or the picture of what the arguments name."""
    graph: Graph | None
    findings: list[Finding] | None
    if arguments.graph != STANDARD and Path(arguments.graph).is_dir():
        if arguments.report:
            raise UsageError("--report is for one graph or plan, not for folders")
        if drawn:
            raise UsageError(f"{arguments.graph}: a folder is written to .html")
        return _folder(arguments)
    images: dict[str, Any] = {}
    if is_capture(arguments.graph):
        plan, graph, images = captured(arguments.graph, arguments.nth)
        findings = plan.check(graph)
    elif is_plan(arguments.graph):
        plan = load_plan(arguments.graph)
        graph = load_graph(arguments.of, arguments.option) if arguments.of else None
        findings = plan.check(graph) if graph else None
    else:
        if arguments.of:
            raise UsageError("--graph is for plan files; plans are called .rplan.json")
        plan, graph = baked(arguments), None
        findings = plan.check()
    if drawn:
        return picture(plan, arguments, graph)
    times = saved_times(arguments.report) if arguments.report else None
    return plan.to_html(graph, report=times, findings=findings, images=images or None)


def main(arguments: argparse.Namespace) -> int:
    """Write it.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    output: str = arguments.output or _beside(arguments.graph)
    drawn = output.endswith(".svg")
    if output != STANDARD and not drawn and not output.endswith((".html", ".htm")):
        raise UsageError(f"{output}: the viewer is written to .html, a picture to .svg")
    refuse(arguments, drawn)
    if drawn and arguments.report:
        raise UsageError("--report is for the page, not for pictures", "write it to FILE.html")
    if arguments.open and output == STANDARD:
        raise UsageError("--open needs a file", "add -o FILE.html")
    page = _page(arguments, drawn)
    if output == STANDARD:
        say(page)
        return 0
    _write_file(output, page.encode())
    tell(f"{output}  {size(len(page.encode()))}")
    if arguments.open:
        import webbrowser

        webbrowser.open(Path(output).resolve().as_uri())
    return 0
