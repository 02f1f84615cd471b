"""`rgraph bake`: plan a graph file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rgraph.cli import UsageError
from rgraph.cli._drawing import drawing, picture, refuse, save
from rgraph.cli._files import (
    STANDARD,
    baked,
    dumped,
    exists,
    load_graph,
    load_profile,
    one_standard,
    plan_suffix,
)
from rgraph.cli._parser import names, planning
from rgraph.cli._prose import listing
from rgraph.cli._summary import summary
from rgraph.cli._terminal import say

if TYPE_CHECKING:
    import argparse

    from rgraph._core import Plan

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
Without an option it prints a summary: figures, a timeline, memory, the longest passes. The suffix of -o chooses the
form: .json (a plan file), .html (the viewer), .svg, .dot, .trace.json (for Perfetto), .txt; -o may be repeated.

A graph file is what graph.save("frame.rgraph.json") writes in Python; a graph may also be an object of a Python file:
film.py:graph.

  rgraph bake frame.rgraph.json
  rgraph bake frame.rgraph.json -o frame.rplan.json -o frame.html
  rgraph bake frame.rgraph.json -o memory.svg --view memory --width 1400
  rgraph bake frame.rgraph.json --keep --weights times.json
  rgraph bake frame.rgraph.json --profile h200.rprofile.json --json
  rgraph bake frame.rgraph.json --dump barriers
  rgraph bake frame.rgraph.json --gpus discrete,discrete -o frame.rdevices.json"""

_FORMS = {
    "text": "the listing: every pass, barrier and wait",
    "json": "the plan file",
    "dot": "the graph as DOT, for Graphviz",
    "svg": "a picture (SVG)",
    "html": "the viewer (HTML)",
    "trace": "a trace, for Perfetto and speedscope",
}


_STAGES = ("resolve", "cull", "depend", "order", "merge", "queues", "alias", "barriers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, a preset (.slangp), or FILE.py:NAME")
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o", "--output", action="append", default=[], metavar="FILE", help="write the plan; - is --json"
    )
    forms = output.add_mutually_exclusive_group()
    for form, words in _FORMS.items():
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=f"print {words}")
    forms.add_argument(
        "--dump", choices=_STAGES, metavar="STAGE", help=f"print the output of a stage: {', '.join(_STAGES)}"
    )
    parser.add_argument(
        "--gpus",
        type=names,
        metavar="PROFILE,PROFILE",
        help="plan for several devices, each as in --profile; -o then writes .rdevices.json or .txt",
    )
    output.add_argument("--keep", action="store_true", help="keep the plan for rgraph diff HEAD~1, in .rgraph/plans")
    output.add_argument("--weights", metavar="FILE.json", help="durations of passes: a saved report, or {pass: µs}")
    output.add_argument("--timings", action="store_true", help="print the time of each stage")
    drawing(parser)
    planning(parser)


def _text(plan: Plan, form: str, arguments: argparse.Namespace) -> str:
    if form == "json":
        return plan.to_json()
    if form == "dot":
        return plan.to_dot()
    if form == "svg":
        return picture(plan, arguments)
    if form == "html":
        return plan.to_html()
    return plan.to_trace() if form == "trace" else listing(str(plan))


def _several(arguments: argparse.Namespace) -> int:
    """Plans it for several devices."""
    outputs: list[str] = arguments.output
    one = {"--dump": arguments.dump, "--keep": arguments.keep, "--timings": arguments.timings}
    one[f"--{arguments.form}"] = arguments.form not in (None, "text", "json")
    for name, given in one.items():
        if given:
            raise UsageError(f"{name} is for one device", f"leave out --gpus or {name}")
    for output in outputs:
        if output != STANDARD and not output.endswith((".rdevices.json", ".txt")):
            raise UsageError(f"{output}: plans for several devices are written to .rdevices.json and .txt")
    one_standard(arguments.graph, *arguments.gpus)
    plan = load_graph(arguments.graph, arguments.option).bake_devices(
        [load_profile(name) for name in arguments.gpus],
        policy=arguments.policy,
        split_barriers=arguments.split,
        effort=arguments.effort,
        memory=arguments.memory,
        max_batches=arguments.max_batches,
        weights=arguments.weights,
    )
    for output in outputs:
        if output != STANDARD:
            plan.save(output)
    if STANDARD in outputs or arguments.form == "json":
        say(plan.to_json())
    elif arguments.form or not outputs:
        say(str(plan).rstrip())
    return 0


def main(arguments: argparse.Namespace) -> int:
    """Bake.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    if arguments.gpus:
        return _several(arguments)
    outputs: list[str] = arguments.output
    for output in outputs:
        if output != STANDARD:
            plan_suffix(output)
    refuse(arguments, arguments.form == "svg" or any(output.endswith(".svg") for output in outputs))
    if STANDARD in outputs and arguments.form not in (None, "json"):
        raise UsageError("-o - prints the plan file: leave it out to print another form")
    if arguments.dump:
        if outputs:
            raise UsageError("--dump prints a stage: leave out -o, or bake twice")
        say(dumped(arguments))
        return 0
    if arguments.weights is not None:
        exists(arguments.weights)
    plan = baked(arguments, timings=arguments.timings, weights=arguments.weights)
    if arguments.keep:
        from rgraph.cli._kept import keep

        keep(plan)
    for output in outputs:
        if output != STANDARD:
            save(plan, output, arguments)
    if STANDARD in outputs:
        say(plan.to_json())
    elif arguments.form:
        say(_text(plan, arguments.form, arguments))
    elif not outputs:
        say("\n".join(summary(plan)))
    return 0
