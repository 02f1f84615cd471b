"""`rgraph run`: run a graph file, pictures in and pictures out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rgraph._core import _write_file
from rgraph.cli import UsageError
from rgraph.cli._outputs import Outputs, written
from rgraph.cli._parser import count, named_file, names, option, planning
from rgraph.cli._running import (
    argument_of_times,
    arguments_of_runs,
    bound,
    compiled,
    described,
    loaded,
    opened,
    result_names,
    settings,
    shown,
    warned,
)
from rgraph.cli._terminal import as_json, paint, say, table, tell

if TYPE_CHECKING:
    import argparse

    from rgraph import ChaosReport, Compiled, CompiledDevices, Device, Frame, Graph, Plan, Report, Series
    from rgraph.cli._running import Settings

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
Results are the graph's roots. Without -o they are listed. -o writes each of them into a folder (as PNG if PNG has the
format, else as NPY), or a single one into a file. Arrays are .png, .npy or .exr; {frame} in a name writes every frame.

A graph may also be a variable in a Python file: film.py:graph.

  rgraph run blur.rgraph.json --input photo=in.png -o out.png
  rgraph run frame.rgraph.json --show ao -o ao.png
  rgraph run fluid.rgraph.json --frames 600 --output dye='out/{frame:04}.png'
  rgraph run frame.rgraph.json --frames 300 --report --view frames.html
  rgraph run frame.rgraph.json --set compose.strength=0.5 --flag overlay=off
  rgraph run frame.rgraph.json --gpus 0,1 --report
  rgraph run crt.slangp --input photo.png --output out.png
  rgraph run frame.rgraph.json --chaos 20"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, a preset (.slangp), or FILE.py:NAME")
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--out", metavar="FOLDER|FILE", help="write the results")
    option(
        output,
        "--output",
        kind=named_file,
        metavar="[NAME=]FILE",
        help="write one result; NAME may be left out if there is only one; may be repeated",
    )
    output.add_argument("--show", metavar="NAME", help="make any image or buffer the result; as RGRAPH_SHOW does")
    output.add_argument(
        "--window", action="store_true", help="show the first image in a window until the window is closed"
    )
    output.add_argument(
        "--report", action="store_true", help="print times of the passes (of all frames), memory, barriers"
    )
    output.add_argument("--trace", metavar="FILE", help="write a trace of the last frame, for Perfetto and speedscope")
    output.add_argument(
        "--view", metavar="FILE.html", help="write the viewer with the times of all frames and pictures"
    )
    output.add_argument("--json", action="store_true", help="print JSON")
    argument_of_times(output, "--report, --trace, --view and --json")
    parser.add_argument(
        "--chaos",
        type=count,
        metavar="N",
        help="run the graph in other valid orders and timings, with N seeds, and compare the results",
    )
    parser.add_argument(
        "--gpus",
        type=names,
        metavar="DEVICE,DEVICE",
        help="run on several devices, each as in --device; the planner places passes that name no device",
    )
    parser.add_argument("--frames", type=count, metavar="N", help="number of frames (default: 1)")
    arguments_of_runs(parser)
    planning(parser, profile=False)
    planned = parser.add_argument_group("plan")
    planned.add_argument(
        "--plan", metavar="FILE", help="run this plan of the graph (with --gpus, a .rdevices.json), after checking it"
    )
    planned.add_argument("--weights", metavar="FILE", help="durations of passes: a report, or what rgraph tune wrote")


def _previews(device: Device, graph: Graph, given: Settings) -> dict[str, Any]:
    """Every image of a frame that can be a picture, out of a run in which all of them are kept."""
    from rgraph import Image, RgError
    from rgraph.cli._images import seen

    # Another image takes the memory of one that it modifies, so that is no root.
    modified = {one.get("modifies") for one in graph.to_dict()["images"].values()}
    images = [one for one in graph.resources if isinstance(one, Image) and one.samples == 1]
    names = [one.name for one in images if one.name not in modified]
    kept = graph.clone()
    try:
        kept.root(*names)
        frame = device.run(kept, inputs=given.inputs, flags=given.flags or None, params=given.params(0) or None)
        return {name: frame[name] for name in sorted(set(names) & set(frame)) if seen(frame[name])}
    except RgError as error:
        tell(f"the viewer lacks pictures: {str(error).splitlines()[0]}")
    return {}


def _report(
    plan: Plan, report: Report, series: Series | None, arguments: argparse.Namespace, previews: dict[str, Any]
) -> None:
    pages: dict[str, str] = {}
    if arguments.trace:
        pages[arguments.trace] = plan.to_trace(report)
    if arguments.view:
        pages[arguments.view] = plan.to_html(report=series or report, images=previews, findings=plan.check())
    for path, text in pages.items():
        _write_file(path, text.encode())
        tell(path)


def _trials(report: ChaosReport) -> list[str]:
    """One line for each kind of change: how often results were equal, and what differed."""
    rows = []
    for change in dict.fromkeys(trial.change for trial in report.trials):
        of = [trial for trial in report.trials if trial.change == change]
        differs = [trial for trial in of if trial.differs is not None]
        skipped = [trial for trial in of if trial.skipped is not None]
        equal = len(of) - len(differs) - len(skipped)
        notes = [f'"{trial.differs}" differs (seed {trial.seed})' for trial in differs[:1]]
        notes += [f"not tried: {trial.skipped}" for trial in skipped[:1]]
        rows.append([change, f"{equal} of {len(of)} equal", "; ".join(notes)])
    return table(rows)


def _chaos(device: Device, done: Compiled, given: Settings, arguments: argparse.Namespace) -> int:
    with bound():
        report = device.chaos(
            done,
            seeds=arguments.chaos,
            frames=arguments.frames if arguments.frames > 1 else None,
            inputs=given.inputs,
            flags=given.flags or None,
            params=given.params(0) or None,
        )
    if arguments.json:
        findings = [one._asdict() for one in report.findings]
        trials = [one._asdict() for one in report.trials]
        values = {"graph": done.plan.graph_name, "device": device.info.name, "frames": report.frames}
        say(as_json({**values, "findings": findings, "trials": trials, "notes": report.notes}))
    else:
        tell(f"{paint(done.plan.graph_name, 'bold', error=True)} on {device.info.name}: {report.frames} frames")
        say("\n".join([*_trials(report), *(f"note: {note}" for note in report.notes)]))
        say("\n".join(str(one) for one in report.findings) or "no finding: all results are equal")
    warnings = warned(device) and arguments.validate
    return 1 if report.findings or warnings else 0


def _windowed(
    device: Device,
    done: Compiled,
    graph: Graph,
    given: Settings,
    names: list[str],
    frames: int | None,
    arguments: argparse.Namespace,
) -> int:
    """Shows it in a window."""
    from rgraph.cli import _window

    if arguments.out or arguments.output or arguments.json or arguments.trace or arguments.view:
        raise UsageError("--window writes nothing", "leave it out, or -o, --output, --json, --trace and --view")
    try:
        count = _window.run(device, done, graph, given, names, frames)
    except ImportError as error:
        raise UsageError(str(error)) from None
    tell(f"{paint(done.plan.graph_name, 'bold', error=True)} on {device.info.name}: {count} frames")
    return 1 if warned(device) and arguments.validate else 0


class _Ran(NamedTuple):
    """What frames of one run left."""

    frame: Frame
    files: dict[str, str]
    series: Series | None
    seconds: float

    def values(self, names: list[str]) -> dict[str, Any]:
        """Its part of the JSON."""
        results = [
            {
                "name": name,
                "format": self.frame[name].format,
                "shape": self.frame[name].shape,
                "file": self.files.get(name),
            }
            for name in names
        ]
        report = self.frame.report.to_dict()
        if self.series is not None:
            report["series"] = self.series.to_dict()
        return {"seconds": self.seconds, "results": results, "report": report}

    def listing(self, names: list[str]) -> str:
        """A line for each result."""
        rows = [[name, *described(self.frame[name]), self.files.get(name, "")] for name in names]
        return "\n".join(table(rows) if rows else ["  no results: the graph names no root; --show NAME shows an image"])

    def reports(self) -> str:
        """The report of the last frame, and what all frames have in common."""
        return "\n".join(map(str, (self.frame.report, self.series) if self.series else (self.frame.report,)))


def _ran(
    done: Compiled | CompiledDevices,
    given: Settings,
    names: list[str],
    arguments: argparse.Namespace,
    *,
    timed: bool,
) -> _Ran:
    """Runs the frames that were asked for; measures them if `timed`."""
    from rgraph import Series

    outputs = Outputs(arguments, names)
    measure: Literal["off", "frame", "batches", "passes"] = arguments.measure if timed else "off"
    reports: list[Report] | None = [] if measure != "off" and arguments.frames > 1 else None
    begin = time.perf_counter()
    frame, files = written(done, given, outputs, names, arguments.frames, measure, reports)
    return _Ran(frame, files, Series(reports) if reports else None, time.perf_counter() - begin)


def _frames(count: int, seconds: float) -> str:
    return f"{count} frames, {count / seconds:.1f}/s" if count > 1 else "1 frame"


def _unwritten(arguments: argparse.Namespace) -> str:
    """What to do for files, if nothing else was asked for."""
    asked = ("out", "output", "report", "trace", "view")
    return "" if any(getattr(arguments, one) for one in asked) else "; -o FILE writes the results"


def _several(graph: Graph, given: Settings, only: str | None, arguments: argparse.Namespace) -> int:
    """Runs it on several devices."""
    from rgraph import Devices, DevicesPlan

    one = ("device", "costs", "window", "chaos", "trace", "view")
    refused = [f"--{name}" for name in one if getattr(arguments, name)]
    if refused:
        raise UsageError(f"{refused[0]} is for one device", f"leave out --gpus or {refused[0]}")
    with Devices(arguments.gpus, validate=True if arguments.validate else None) as devices:
        of = DevicesPlan.load(arguments.plan, graph) if arguments.plan else graph
        done = devices.compile(
            of,
            policy=arguments.policy,
            split_barriers=arguments.split,
            effort=arguments.effort,
            memory=arguments.memory,
            max_batches=arguments.max_batches,
            weights=None if arguments.plan else arguments.weights,
        )
        names = [only] if only else result_names(graph)
        ran = _ran(done, given, names, arguments, timed=arguments.report or arguments.json)
        known = [device.info.name for device in devices.devices]
        if arguments.json:
            parts = [{"device": part.device, "passes": part.passes} for part in done.plan.parts]
            values = {"graph": done.plan.graph_name, "devices": known, "frames": arguments.frames, "parts": parts}
            say(as_json({**values, **ran.values(names)}))
        else:
            frames = _frames(arguments.frames, ran.seconds)
            title = paint(done.plan.graph_name, "bold", error=True)
            tell(f"{title} on {' and '.join(known)}: {frames}{_unwritten(arguments)}")
            say(ran.listing(names))
            if arguments.report:
                say(str(done.plan).rstrip())
                say(ran.reports())
        return 1 if warned(devices) and arguments.validate else 0


def main(arguments: argparse.Namespace) -> int:
    """Run it.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    if arguments.view is not None and not arguments.view.endswith((".html", ".htm")):
        raise UsageError(f"{arguments.view}: the viewer is written to .html", "name a file that ends in .html")
    endless = arguments.window and arguments.frames is None
    arguments.frames = arguments.frames or 1
    graph, foreign = loaded(arguments)
    graph, only = shown(graph, arguments.show)
    given = settings(graph, arguments, foreign)
    if arguments.gpus:
        return _several(graph, given, only, arguments)
    from rgraph import Plan

    with opened(arguments, graph) as device:
        if arguments.plan:
            done = device.compile(Plan.load(arguments.plan), of=graph, weights=arguments.weights)
        else:
            done = compiled(device, graph, arguments, weights=arguments.weights)
        if arguments.chaos:
            return _chaos(device, done, given, arguments)
        names = [only] if only else result_names(graph)
        if arguments.window:
            return _windowed(device, done, graph, given, names, None if endless else arguments.frames, arguments)
        timed = arguments.report or arguments.json or arguments.trace or arguments.view
        ran = _ran(done, given, names, arguments, timed=bool(timed))
        if arguments.json:
            values = {"graph": done.plan.graph_name, "device": device.info.name, "frames": arguments.frames}
            say(as_json({**values, **ran.values(names)}))
        else:
            frames = _frames(arguments.frames, ran.seconds)
            title = paint(done.plan.graph_name, "bold", error=True)
            tell(f"{title} on {device.info.name}: {frames}{_unwritten(arguments)}")
            say(ran.listing(names))
            if arguments.report:
                say(ran.reports())
        previews = _previews(device, graph, given) if arguments.view else {}
        _report(done.plan, ran.frame.report, ran.series, arguments, previews)
        return 1 if warned(device) and arguments.validate else 0
