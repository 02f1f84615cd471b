"""`rgraph fuzz`: bake and check random graphs; save those that break a law."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph._core import Graph, Plan, Profile, fuzz
from rgraph.batch._calls import Call, answers
from rgraph.cli import UsageError
from rgraph.cli._parser import add_workers, natural, positive
from rgraph.cli._terminal import Progress, as_json, paint, say, warn
from rgraph.cli._workers import spread

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from rgraph.batch._calls import Workers

    _Finding = tuple[int, str, Any, Any, Any]

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
A graph that breaks a law is saved, with the command that reproduces it; the exit status is then 1.

  rgraph fuzz --seconds 600 --seed 1 -o findings
  rgraph fuzz --seconds 600 --workers 8
  rgraph fuzz --seconds 600 --scheduler tcp://10.0.0.1:8786"""

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
    add_workers(parser, "try the graphs")
    parser.add_argument("--json", action="store_true", help="print JSON")


def tried(seed: int, many: int) -> list[tuple[int, str, str, str, str | None]]:
    """Findings as text, which travels between processes.

    Parameters
    ----------
    seed, many
        As of `rgraph._core.fuzz`.

    Returns
    -------
    list of tuple
        Seed, law, and the files of graph, profile and plan; None: there is no plan.
    """
    return [
        (found, law, graph.to_json(), profile.to_json(), None if plan is None else plan.to_json())
        for found, law, graph, profile, plan in fuzz(seed, many)
    ]


def _alone(seed: int, more: Callable[[], bool]) -> Iterator[list[_Finding]]:
    """Findings of one batch of seeds after the other, in this process."""
    while True:
        yield fuzz(seed, _BATCH)
        seed += _BATCH
        if not more():
            return


def _read(found: int, law: str, graph: str, profile: str, plan: str | None) -> _Finding:
    return found, law, Graph.from_json(graph), Profile.from_json(profile), plan and Plan.from_json(plan)


def _spread(seed: int, more: Callable[[], bool], on: Workers) -> Iterator[list[_Finding]]:
    """The same by workers, each with a batch in reserve; in the order of the seeds."""

    def calls(seed: int) -> Iterator[Call]:
        while True:
            hint = f"rgraph fuzz --seed {seed} --seconds 0 tries them in its own process"
            yield Call(tried, (seed, _BATCH), f"tried seeds {seed} to {seed + _BATCH - 1}", hint)
            seed += _BATCH
            if not more():
                return

    for found in answers(on, calls(seed)):
        yield [_read(*one) for one in found]


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
    end, graphs, findings = time.monotonic() + arguments.seconds, 0, []

    def more() -> bool:
        return bool(time.monotonic() < end)

    with Progress(None, "graphs") as progress, spread(arguments) as workers:
        batches = _alone(arguments.seed, more) if workers is None else _spread(arguments.seed, more, workers)
        for batch in batches:
            findings += [_kept(folder / f"finding-{one[0]}", *one) for one in batch]
            graphs += _BATCH
            progress.step(_BATCH)
    if arguments.json:
        say(as_json({"graphs": graphs, "seed": arguments.seed, "findings": findings}))
    else:
        say(f"{graphs} graphs from seed {arguments.seed}, {len(findings) or 'none'} of them broke a law")
    return 1 if findings else 0
