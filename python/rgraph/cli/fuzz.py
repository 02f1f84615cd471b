"""`rgraph fuzz`: bake and judge random graphs; save those that break a law."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph._core import fuzz
from rgraph.cli import UsageError
from rgraph.cli._parser import natural, positive
from rgraph.cli._terminal import Progress, as_json, paint, say, warn

if TYPE_CHECKING:
    import argparse

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
It saves a graph that breaks a law, with the command that reproduces it. Exit status 1 if there is one.

  rgraph fuzz --seconds 600 --seed 1 -o findings"""

_BATCH = 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("--seconds", type=positive, default=60.0, metavar="N", help="duration (default: 60)")
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="the first seed (default: 1)")
    parser.add_argument(
        "-o", "--output", default=".", metavar="FOLDER", help="folder for findings (default: the current one)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _kept(stem: Path, found: int, law: str, graph: Any, profile: Any, plan: Any) -> dict[str, Any]:
    """Write a finding; what there is to say of it."""
    graph.save(f"{stem}.rgraph.json")
    profile.save(f"{stem}.rprofile.json")
    again = f"rgraph bake {stem}.rgraph.json --profile {stem}.rprofile.json"
    if plan is not None:
        plan.save(f"{stem}.rplan.json")
        again = f"rgraph check {stem}.rplan.json --graph {stem}.rgraph.json"
    warn(f"{paint(f'seed {found}', 'red', error=True)}: {law}\n  {again}")
    return {"seed": found, "law": law, "again": again}


def main(arguments: argparse.Namespace) -> int:
    """Try.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    folder = Path(arguments.output)
    if not folder.is_dir():
        raise UsageError(f"{folder}: not a folder")
    start, seed, findings = time.monotonic(), arguments.seed, []
    with Progress(None, "graphs") as progress:
        while True:
            for one in fuzz(seed, _BATCH):
                findings.append(_kept(folder / f"finding-{one[0]}", *one))
            seed += _BATCH
            progress.step(_BATCH)
            if time.monotonic() - start >= arguments.seconds:
                break
    graphs = seed - arguments.seed
    if arguments.json:
        say(as_json({"graphs": graphs, "seed": arguments.seed, "findings": findings}))
    else:
        say(f"{graphs} graphs from seed {arguments.seed}, {len(findings) or 'none'} of them broke a law")
    return 1 if findings else 0
