"""`rgraph replay`: run a capture again and compare its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rgraph.cli._files import plain
from rgraph.cli._running import opened
from rgraph.cli._terminal import as_json, say

if TYPE_CHECKING:
    import argparse

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
Exit status 1 if any byte differs. Equal drivers leave equal bytes; other drivers may round differently.

  rgraph replay frames.rcapture
  rgraph replay frames.rcapture --anew --validate"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("capture", metavar="FILE", help="a capture file")
    parser.add_argument("--anew", action="store_true", help="bake each graph anew instead of taking the captured plan")
    parser.add_argument("--device", metavar="DEVICE", help="uuid:…, pci:…, name:… or an index")
    parser.add_argument("--validate", action="store_true", help="run under the Khronos validation layer")
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
    with opened(arguments) as device:
        report = device.replay(arguments.capture, anew=arguments.anew)
    if arguments.json:
        differences = [difference._asdict() for difference in report.differences]
        say(as_json({**report._asdict(), "differences": differences}))
    else:
        say(report.text)
    return 0 if report.equal else 1
