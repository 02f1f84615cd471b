"""The command `rgraph`: bake, check, compare and explain files from a shell.

Exit status: 0 good, 1 the graph or plan is wrong (the message is on standard error), 2 the call is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rgraph import _core
from rgraph._core import Graph, Plan, Profile
from rgraph._errors import GraphError, RgError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

_STANDARD = "-"
_PROFILES = ("minimal", "single_queue", "discrete")
_SUFFIXES = (".json", ".dot", ".txt")
_BATCH = 64


class _CallError(Exception):
    """The call is wrong."""


def _read(path: str) -> bytes | None:
    """Standard input's bytes, or None for a file that is to be read by its path."""
    return sys.stdin.buffer.read() if path == _STANDARD else None


def _graph(path: str) -> Graph:
    text = _read(path)
    return Graph.load(path) if text is None else Graph.from_json(text)


def _plan(path: str) -> Plan:
    text = _read(path)
    return Plan.load(path) if text is None else Plan.from_json(text)


def _profile(name: str) -> Profile | str:
    if name in _PROFILES:
        return name
    text = _read(name)
    if text is None and not Path(name).exists():
        raise _CallError(f"{name}: neither a file nor one of the profiles {', '.join(_PROFILES)}")
    return Profile.load(name) if text is None else Profile.from_json(text)


def _print(text: str) -> None:
    """Print UTF-8, whatever the locale says."""
    sys.stdout.buffer.write(text.encode() if text.endswith("\n") else f"{text}\n".encode())


def _bake(arguments: argparse.Namespace) -> int:
    output: str | None = arguments.output
    if output not in (None, _STANDARD) and Path(output).suffix not in _SUFFIXES:
        raise _CallError(f"{output}: plans are written to {', '.join(_SUFFIXES)}")
    if arguments.file == arguments.profile == _STANDARD:
        raise _CallError("only one file can be standard input")
    plan = _graph(arguments.file).bake(
        _profile(arguments.profile),
        policy=arguments.policy,
        split_barriers=arguments.split,
        timings=arguments.timings,
        effort=arguments.effort,
    )
    if output is None:
        _print(str(plan))
    elif output == _STANDARD:
        _print(plan.to_json())
    else:
        plan.save(output)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    if arguments.plan == arguments.graph == _STANDARD:
        raise _CallError("only one file can be standard input")
    plan = _plan(arguments.plan)
    findings = plan.check(_graph(arguments.graph))
    for finding in findings:
        print(finding, file=sys.stderr)
    if findings:
        print(f"{len(findings)} findings", file=sys.stderr)
        return 1
    passes, batches = len(plan.pass_names), len(plan.batches)
    _print(f"clean: {passes} passes in {batches} batches of plan {plan.hash[:16]}")
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    if arguments.before == arguments.after == _STANDARD:
        raise _CallError("only one file can be standard input")
    before, after = _plan(arguments.before), _plan(arguments.after)
    _print(json.dumps(before.diff_dict(after), indent=2) if arguments.json else before.diff(after))
    return 0


def _schema(arguments: argparse.Namespace) -> int:
    _print(_core.schema(arguments.kind))
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    if arguments.graph == arguments.profile == _STANDARD:
        raise _CallError("only one file can be standard input")
    profile = _profile(arguments.profile)
    plan = _graph(arguments.graph).bake(profile, policy=arguments.policy, split_barriers=arguments.split)
    try:
        _print(plan.explain(arguments.name))
    except GraphError as error:
        raise _CallError(str(error)) from None
    return 0


def _fuzz(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.output)
    if not folder.is_dir():
        raise _CallError(f"{folder}: not a folder")
    start, seed, broken = time.monotonic(), arguments.seed, 0
    while True:
        for found, law, graph, profile, plan in _core.fuzz(seed, _BATCH):
            broken += 1
            stem = folder / f"finding-{found}"
            graph.save(f"{stem}.rgraph.json")
            profile.save(f"{stem}.rprofile.json")
            print(f"seed {found}: {law}", file=sys.stderr)
            if plan is None:
                print(f"  rgraph bake {stem}.rgraph.json --profile {stem}.rprofile.json", file=sys.stderr)
            else:
                plan.save(f"{stem}.rplan.json")
                print(f"  rgraph check {stem}.rplan.json --graph {stem}.rgraph.json", file=sys.stderr)
        seed += _BATCH
        if time.monotonic() - start >= arguments.seconds:
            break
    _print(f"{seed - arguments.seed} graphs from seed {arguments.seed}, {broken} of them broke a law")
    return 1 if broken else 0


def _natural(text: str) -> int:
    """A whole number that is not negative and fits."""
    number = int(text)
    if not 0 <= number < 2**32 - 1:
        raise ValueError(text)
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rgraph",
        description="Plan render graphs. FILE may be - for standard input or output.",
        epilog="Exit status: 0 good, 1 the graph or plan is wrong, 2 the call is wrong.",
    )
    parser.add_argument("--version", action="version", version=f"rgraph {_core.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int], words: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=words, description=words.capitalize() + ".")
        made.set_defaults(run=run)
        return made

    def how(made: argparse.ArgumentParser) -> None:
        made.add_argument(
            "--profile",
            default="discrete",
            metavar="NAME|FILE",
            help="the device: minimal, single_queue, discrete (default) or a profile file",
        )
        made.add_argument(
            "--policy",
            default="auto",
            choices=("auto", "declared", "overlap", "weighted", "exact"),
            help="how the order of passes is chosen (default: auto)",
        )
        made.add_argument(
            "--split",
            default="never",
            choices=("never", "distance", "always"),
            help="where barriers are split into events (default: never)",
        )

    bake = command("bake", _bake, "bake a graph file into a plan")
    bake.add_argument("file", metavar="FILE", help="a graph file")
    bake.add_argument("-o", "--output", metavar="OUT", help=".json, .dot, .txt or -; without: print the listing")
    how(bake)
    bake.add_argument(
        "--effort", type=_natural, help="how hard to search: 0 one look, 1 a handful (default), more: longer"
    )
    bake.add_argument("--timings", action="store_true", help="write how long each stage took")

    check = command("check", _check, "judge a plan, sharing no code with the planner")
    check.add_argument("plan", metavar="PLAN", help="a plan file")
    check.add_argument("--graph", required=True, metavar="GRAPH", help="the graph file that it is a plan of")

    diff = command("diff", _diff, "say what differs between two plans")
    diff.add_argument("before", metavar="A", help="a plan file")
    diff.add_argument("after", metavar="B", help="a plan file")
    diff.add_argument("--json", action="store_true", help="for programs")

    schema = command("schema", _schema, "print the JSON Schema of a file format")
    schema.add_argument("kind", choices=("graph", "profile", "plan"))

    explain = command("explain", _explain, "say why a pass runs where and when it does, and why each barrier before it")
    explain.add_argument("graph", metavar="GRAPH", help="a graph file")
    explain.add_argument("name", metavar="PASS", help="a pass's name")
    how(explain)

    fuzz = command("fuzz", _fuzz, "bake and judge random graphs; keep those that break a law")
    fuzz.add_argument("--seconds", type=float, default=60.0, help="how long (default: 60)")
    fuzz.add_argument("--seed", type=_natural, default=1, help="the first seed (default: 1)")
    fuzz.add_argument("-o", "--output", default=".", metavar="FOLDER", help="where findings are kept (default: here)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments
        What follows the command's name; default: those of this process.

    Returns
    -------
    int
        The exit status.
    """
    parsed = _parser().parse_args(arguments)
    try:
        status: int = parsed.run(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough. Python would complain once more when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RgError as error:
        print(f"rgraph: {error}", file=sys.stderr)
        return 1
    except (OSError, _CallError) as error:
        print(f"rgraph: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return status
