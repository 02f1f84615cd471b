"""`rgraph replay`: run a capture again and compare its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rgraph._core import _write_file
from rgraph.cli import UsageError
from rgraph.cli._files import plain
from rgraph.cli._images import replayed
from rgraph.cli._parser import natural
from rgraph.cli._running import opened
from rgraph.cli._terminal import as_json, say, tell

if TYPE_CHECKING:
    import argparse

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
Exit status 1 if any byte differs. Equal drivers compute equal bytes; other drivers may round differently.
--view writes the viewer with every image of the last run, transients too: the graph is baked again with
all images kept.

  rgraph replay frames.rcapture
  rgraph replay frames.rcapture --view frame.html
  rgraph replay frames.rcapture --anew --validate"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("capture", metavar="FILE", help="a capture file")
    parser.add_argument("--anew", action="store_true", help="bake each graph again instead of using the captured plan")
    parser.add_argument("--device", metavar="DEVICE", help="uuid:…, pci:…, name:… or an index")
    parser.add_argument("--validate", action="store_true", help="run under the Khronos validation layer")
    parser.add_argument("--view", metavar="FILE.html", help="write the viewer with every image of the last run")
    parser.add_argument("--nth", type=natural, metavar="N", help="index of the graph that --view shows")
    parser.add_argument("--json", action="store_true", help="print JSON")


def main(arguments: argparse.Namespace) -> int:
    """Run it again.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    plain(arguments.capture)
    if arguments.view is None and arguments.nth is not None:
        raise UsageError("--nth chooses the graph that --view shows", "add --view FILE.html")
    if arguments.view is not None and not arguments.view.endswith((".html", ".htm")):
        raise UsageError(f"{arguments.view}: the viewer is written to .html")
    with opened(arguments) as device:
        if arguments.view is None:
            report = device.replay(arguments.capture, anew=arguments.anew)
        else:
            nth = arguments.nth or 0
            report, plan, graph, images = replayed(device, arguments.capture, nth, anew=arguments.anew)
            page = plan.to_html(graph, findings=plan.check(graph), images=images or None)
            _write_file(arguments.view, page.encode())
            tell(arguments.view)
    if arguments.json:
        differences = [difference._asdict() for difference in report.differences]
        say(as_json({**report._asdict(), "differences": differences}))
    else:
        say(report.text)
    return 0 if report.equal else 1
