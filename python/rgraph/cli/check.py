"""`rgraph check`: check a plan with a checker that shares no code with the planner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rgraph._core import _write_file
from rgraph._errors import PlanError
from rgraph.cli import UsageError
from rgraph.cli._files import load_graph, load_plan, load_values, one_standard
from rgraph.cli._parser import option, pair
from rgraph.cli._terminal import as_json, paint, say, warn

if TYPE_CHECKING:
    import argparse

    from rgraph._core import Graph, Plan

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
Each finding names the broken rule, the pass and the resource. The exit status is 1 if there is a finding.

  rgraph check frame.rplan.json --graph frame.rgraph.json
  rgraph check frame.rplan.json --minimal
  rgraph check frame.rplan.json --certificate frame.proof.json
  rgraph check frame.rplan.json --verify frame.proof.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("plan", metavar="PLAN", help="a plan file")
    parser.add_argument(
        "--graph",
        metavar="GRAPH",
        help="the graph file of the plan; default: NAME.rgraph.json next to NAME.rplan.json",
    )
    option(parser, "--option", kind=pair, metavar="NAME=VALUE", help="an option of the graph file; may be repeated")
    parser.add_argument(
        "--minimal", action="store_true", help="list barriers, waits, stages and accesses that are redundant"
    )
    parser.add_argument("--certificate", metavar="FILE", help="write the chain of synchronization behind each hazard")
    parser.add_argument("--verify", metavar="FILE", help="verify a certificate instead of checking the plan")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _graph_of(plan: str) -> str:
    """The graph file in the folder of a plan file."""
    if plan.endswith(".rgraph.json"):
        raise UsageError(
            f"{plan}: a graph file, not a plan",
            f"rgraph bake {plan} -o x.rplan.json; rgraph check x.rplan.json --graph {plan}",
        )
    beside = plan.removesuffix(".rplan.json") + ".rgraph.json"
    if beside == f"{plan}.rgraph.json" or not Path(beside).is_file():
        raise UsageError("the graph of the plan is missing", "add --graph GRAPH")
    return beside


def _verify(plan: Plan, graph: Graph, path: str) -> int:
    """Verify a certificate file."""
    proof = load_values(path)
    try:
        plan.verify(proof, graph)
    except PlanError as error:
        warn(str(error))
        return 1
    say(f"{paint('proved', 'green')}: {len(proof['pairs'])} hazard pairs by {len(proof['chains'])} chains")
    return 0


def main(arguments: argparse.Namespace) -> int:
    """Check a plan.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    one_standard(arguments.plan, arguments.graph)
    of = arguments.graph or _graph_of(arguments.plan)
    plan = load_plan(arguments.plan)
    graph = load_graph(of, arguments.option)
    if arguments.verify:
        return _verify(plan, graph, arguments.verify)
    findings = plan.check(graph)
    if arguments.certificate and not findings:
        _write_file(arguments.certificate, (as_json(plan.certificate(graph)) + "\n").encode())
    redundant = plan.minimal(graph) if arguments.minimal else []
    passes, batches = len(plan.pass_names), len(plan.batches)
    if arguments.json:
        records = [
            {"rule": one.rule, "pass": one.pass_name, "resource": one.resource, "message": one.message}
            for one in findings
        ]
        values = {"plan": plan.hash, "passes": passes, "batches": batches, "findings": records}
        if arguments.minimal:
            values["redundant"] = [part._asdict() for part in redundant]
        say(as_json(values))
    elif not findings:
        counts = f"{passes} pass{'es' * (passes != 1)} in {batches} batch{'es' * (batches != 1)}"
        say(f"{paint('clean', 'green')}: {counts} of plan {plan.hash[:16]}")
        for part in redundant:
            say(f"{paint('redundant', 'yellow')}: {part.message.removesuffix(' is redundant')}")
        if arguments.minimal and not redundant:
            say("no part of its synchronization is redundant")
    else:
        for one in findings:
            warn(f"{paint(one.rule, 'red', error=True)}: {one.message}")
        warn(f"{len(findings)} finding{'s' if len(findings) > 1 else ''} in plan {plan.hash[:16]}")
    return 1 if findings else 0
