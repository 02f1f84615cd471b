"""`rgraph what-if`: compare a graph's plan with alternatives, without a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rgraph.cli._files import exists, load_graph, load_profile, one_standard
from rgraph.cli._parser import budget, choose_policy, natural, option, pair, profile_options
from rgraph.cli._terminal import as_json, say

if TYPE_CHECKING:
    import argparse

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
Prints the modelled timeline, bytes and bounds of the graph with and without the changes, and the most that other queues
could gain. Weights are a report, as `rgraph run --json` prints it, or {"pass": µs}.

  rgraph what-if frame.rgraph.json --queue ssao=async_compute
  rgraph what-if frame.rgraph.json --drop ssao --heap-limit 67108864 --json
  rgraph what-if frame.rgraph.json --weights times.json --policy exact"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, or FILE.py:NAME")
    parser.add_argument("--json", action="store_true", help="print JSON")
    changes = parser.add_argument_group("changes")
    option(changes, "--queue", kind=pair, metavar="PASS=QUEUE", help="the queue of a pass; may be repeated")
    option(changes, "--drop", kind=str, metavar="PASS", help="leave out a pass; may be repeated")
    changes.add_argument("--weights", metavar="FILE.json", help="durations of passes: a saved report, or {pass: µs}")
    changes.add_argument("--heap-limit", type=natural, metavar="BYTES", help="size limit of the transients' heap")
    choose_policy(changes)
    changes.add_argument(
        "--memory", type=budget, metavar="WORD|BYTES", help="memory of transients against barrier calls"
    )
    profile_options(parser)


def main(arguments: argparse.Namespace) -> int:
    """Plan both, and compare.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    one_standard(arguments.graph, arguments.profile)
    if arguments.weights is not None:
        exists(arguments.weights)
    graph = load_graph(arguments.graph, arguments.option)
    before = graph.bake(load_profile(arguments.profile), effort=arguments.effort)
    changes: dict[str, Any] = {
        "queue": dict(arguments.queue) or None,
        "drop": arguments.drop or None,
        "weights": arguments.weights,
        "heap_limit": arguments.heap_limit,
        "policy": arguments.policy,
        "memory": arguments.memory,
    }
    answer = before.what_if(**changes)
    say(as_json(answer.to_dict()) if arguments.json else str(answer).rstrip())
    return 0
