"""`rgraph diff`: list the differences between two plans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph._core import _write_file
from rgraph.cli import UsageError
from rgraph.cli._files import is_capture, load_plan, one_standard
from rgraph.cli._images import captured, compared, of_folder
from rgraph.cli._images import lines as image_lines
from rgraph.cli._kept import find, is_kept
from rgraph.cli._parser import natural
from rgraph.cli._summary import differences, every
from rgraph.cli._terminal import as_json, figures, say

if TYPE_CHECKING:
    import argparse

    from rgraph import Plan

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
The exit status is 0 even if the plans differ; with --exit-code it is then 1.

For two folders, plans with equal file names are compared, and -o writes one page without scripts, as a build artefact.

HEAD is the last plan that rgraph bake --keep kept, HEAD~3 the one of the same graph three plans earlier.

For two captures the page also shows the images of their last runs: before, after and the difference. For plan files,
--images takes them from two folders that rgraph run -o FOLDER wrote.

  rgraph diff HEAD~3
  rgraph diff before.rcapture after.rcapture -o changes.html
  rgraph diff before.rplan.json after.rplan.json -o changes.html
  rgraph diff main/plans branch/plans -o changes.html --exit-code"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument(
        "before",
        metavar="A",
        help="a plan file, a capture, a folder of plans, or HEAD~N: N kept plans ago",
    )
    parser.add_argument("after", metavar="B", nargs="?", default="HEAD", help="the other plan (default: HEAD)")
    parser.add_argument("-o", "--output", metavar="FILE.html", help="write both as one page of the viewer")
    parser.add_argument(
        "--images",
        nargs=2,
        metavar=("FOLDER", "FOLDER"),
        help="images of A and of B, written by rgraph run -o FOLDER",
    )
    parser.add_argument(
        "--nth", type=natural, default=0, metavar="N", help="index of the graph in a capture (default: 0)"
    )
    parser.add_argument("--exit-code", action="store_true", help="exit status 1 if they differ")
    parser.add_argument("--all", action="store_true", help="print every change, in the order of the plan")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _grouped(before: Plan, after: Plan) -> str:
    """The figures that changed, then the changes by pass, the largest first."""
    head = before.diff(after).partition("\n")[0]
    # The figures are in the first line, if any changed.
    first = [] if head.startswith(("+ ", "- ", "~ ", "> ")) else [figures(head, 0)]
    return "\n".join([*first, *differences(before.diff_dict(after))])


def _read(name: str, nth: int) -> tuple[Plan, dict[str, Any]]:
    """The plan that an argument names, and the images that it has with it."""
    if is_capture(name):
        plan, _, images = captured(name, nth)
        return plan, images
    return (find(name) if is_kept(name) else load_plan(name)), {}


def _folders(arguments: argparse.Namespace) -> int:
    """Compare the plans of two folders."""
    from rgraph.cli._folder import against, lines, plain_values, plans
    from rgraph.cli._folder_page import page

    for path in (arguments.before, arguments.after):
        if not Path(path).is_dir():
            raise UsageError(f"{path}: no folder, while the other one is", "compare two folders, or two plan files")
    entries = against(plans(arguments.before), plans(arguments.after))
    if arguments.output is not None:
        title = f"{arguments.before} → {arguments.after}"
        _write_file(arguments.output, page(title, entries, compared=True).encode())
    if arguments.json:
        say(as_json(plain_values(entries)))
    elif arguments.output is None:
        say("\n".join(lines(entries)))
    return 1 if arguments.exit_code and any(one.status != "equal" for one in entries) else 0


def main(arguments: argparse.Namespace) -> int:
    """Compare.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    one_standard(arguments.before, arguments.after)
    if arguments.after == "HEAD" and not is_kept(arguments.before):
        raise UsageError("the second plan is missing", "rgraph diff A B, or rgraph diff HEAD~3")
    output: str | None = arguments.output
    if output is not None and not output.endswith(".html"):
        raise UsageError(f"{output}: differences are written to .html, or printed")
    if Path(arguments.before).is_dir() or Path(arguments.after).is_dir():
        if arguments.images:
            raise UsageError("--images is for two plans, not for folders of plans")
        return _folders(arguments)
    (before, first), (after, second) = (_read(name, arguments.nth) for name in (arguments.before, arguments.after))
    if arguments.images:
        first, second = (of_folder(*of) for of in zip(arguments.images, (before, after), strict=True))
    images = compared(first, second)
    if output is not None:
        _write_file(output, before.to_html(against=after, images=first, against_images=second).encode())
    changes = before.diff_dict(after)
    if arguments.json:
        found = {"images": [one._asdict() for one in images]} if first or second else {}
        say(as_json({**changes, **found}))
    elif output is None:
        text = "\n".join(every(before.diff(after))) if arguments.all else _grouped(before, after)
        say("\n".join([text, *image_lines(images)]))
    return 1 if arguments.exit_code and not (changes["equal"] and not any(one.differs for one in images)) else 0
