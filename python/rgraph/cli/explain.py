"""`rgraph explain`: print the reasons for queue, time and barriers of a pass; or explain the code of an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rgraph
from rgraph.cli import UsageError
from rgraph.cli._files import baked
from rgraph.cli._parser import planning
from rgraph.cli._prose import reasons, rendered
from rgraph.cli._terminal import as_json, nearest, say

if TYPE_CHECKING:
    import argparse

    from rgraph._core import Plan

__all__ = ["MORE", "add_arguments", "main"]

_CODE = re.compile(r"(?:RG-)?E?(\d{3,})", re.IGNORECASE)

MORE = """\
  rgraph explain frame.rgraph.json lighting
  rgraph explain RG-E203"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("graph", metavar="GRAPH|CODE", help="a graph file, or the code of an error")
    parser.add_argument("name", metavar="PASS", nargs="?", help="the name of a pass")
    parser.add_argument("--json", action="store_true", help="print JSON")
    planning(parser)


def _values(plan: Plan, name: str, text: str) -> dict[str, Any]:
    """The explanation as plain data: what the plan says of the pass, and each reason under its heading."""
    reasons: list[dict[str, str]] = []
    for line in text.splitlines()[1:]:
        about, words = line[:14].strip(), line[14:].strip()
        if about:
            reasons.append({"about": about, "text": words})
        elif reasons:
            reasons[-1]["text"] += f"\n{words}"
    planned = next((one._asdict() for one in plan.passes if one.name == name), None)
    return {"pass": name, "culled": plan.culled.get(name), "planned": planned, "reasons": reasons}


def _code(code: str, json: bool) -> int:
    """Print the meaning of a code and how to fix it."""
    try:
        text = rgraph.explain(code)
    except ValueError as error:
        raise UsageError(str(error)) from None
    say(as_json({"code": code, "text": text}) if json else rendered(text))
    return 0


def main(arguments: argparse.Namespace) -> int:
    """Explain.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    name: str | None = arguments.name
    code = _CODE.fullmatch(arguments.graph)
    if code and name is None and not Path(arguments.graph).is_file():
        return _code(f"RG-E{code[1]}", arguments.json)
    if name is None:
        raise UsageError("the name of the pass is missing", "use rgraph explain GRAPH PASS, or rgraph explain CODE")
    plan = baked(arguments)
    known = [*plan.pass_names, *plan.culled]
    if name not in known:
        raise UsageError(f'"{plan.graph_name}" has no pass "{name}"', nearest(name, known))
    text = plan.explain(name)
    say(as_json(_values(plan, name, text)) if arguments.json else reasons(text))
    return 0
