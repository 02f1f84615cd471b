"""`rgraph bench`: measure each pass of a graph, and the gain of a plan with these times."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

from rgraph.cli._parser import count, natural, planning
from rgraph.cli._running import argument_of_times, arguments_of_runs, bound, compiled, loaded, opened, settings, warned
from rgraph.cli._terminal import Progress, as_json, paint, say, table, tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rgraph import Compiled, Plan, Report
    from rgraph.cli._running import Settings

__all__ = ["MORE", "add_arguments", "main", "quantile"]

MORE = """\
Times are GPU timestamps at barrier calls. Passes between two timestamps overlap as in an unmeasured run and share the
time. Nothing is read back. Warm-up frames measure each pass isolated. A second plan is baked with these times as
weights; frames of both plans alternate, and the difference of their times is the gain.

  rgraph bench frame.rgraph.json --frames 500
  rgraph bench film.py:graph --json > times.json"""

_CPU = {"record_us": "record", "submit_us": "submit", "upload_us": "upload"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, or FILE.py:NAME")
    parser.add_argument("--frames", type=count, default=100, metavar="N", help="measured frames (default: 100)")
    parser.add_argument("--warmup", type=natural, default=10, metavar="N", help="frames before them (default: 10)")
    parser.add_argument("--no-feedback", action="store_true", help="measure one plan, without its times as weights")
    parser.add_argument("--json", action="store_true", help="print JSON")
    argument_of_times(parser.add_argument_group("measuring"), "the passes")
    arguments_of_runs(parser)
    planning(parser, profile=False)


def quantile(values: Sequence[float], share: float) -> float:
    """The value that a share of all values does not exceed; 0 of none.

    Parameters
    ----------
    values
        The values, in any order.
    share
        0 to 1.
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class _Measured:
    """Frames of one plan.

    Parameters
    ----------
    done
        The compiled graph.
    measure
        Which GPU times of its frames are measured.
    """

    def __init__(self, done: Compiled, measure: Literal["batches", "passes"]) -> None:
        self.done, self.measure = done, measure
        self.reports: list[Report] = []
        self.seconds: list[float] = []

    def begin(self, given: Settings, frames: int, progress: Progress) -> None:
        """Run frames that do not count, each pass isolated: the report of the one in the middle has the weights."""
        wanted, self.measure = self.measure, "passes"
        self.run(given, frames, progress)
        self.measure, self.weights = wanted, self.typical()
        self.reports.clear()
        self.seconds.clear()

    def run(self, given: Settings, frames: int, progress: Progress) -> None:
        """Run frames one behind the other; the whole of them is timed."""
        begin, under_way = time.perf_counter(), []
        for number in range(frames):
            params = given.params(number) or None
            flags = given.flags or None
            frame = self.done.run(inputs=given.inputs, flags=flags, params=params, read=[], measure=self.measure)
            under_way.append(frame)
            progress.step()
        self.reports += [frame.report for frame in under_way]
        self.seconds.append((time.perf_counter() - begin) / frames)

    @property
    def gpu_us(self) -> float:
        """Median time of a frame on the GPU."""
        return quantile(self.frames_us, 0.5)

    @property
    def frames_us(self) -> list[float]:
        """Times of the frames on the GPU, of a driver that measures nothing 0."""
        return [report.gpu_us or 0.0 for report in self.reports]

    def typical(self) -> Report:
        """The report of the frame in the middle."""
        return sorted(self.reports, key=lambda report: report.gpu_us or 0.0)[len(self.reports) // 2]

    def values(self) -> dict[str, Any]:
        """Everything measured, as plain data; times in microseconds."""
        times: dict[str, list[float]] = {}
        queues: dict[str, str] = {}
        cpu: dict[str, list[float]] = {name: [] for name in _CPU}
        for report in self.reports:
            plain = report.to_dict()
            for one in plain["passes"]:
                if one["us"] is not None:
                    times.setdefault(one["pass"], []).append(one["us"])
                queues[one["pass"]] = one["queue"]
            for name, all_times in cpu.items():
                all_times.append(plain[name])
        return {
            "plan": self.done.plan.hash,
            "frames": len(self.reports),
            "frames_per_second": 1 / quantile(self.seconds, 0.5),
            "gpu_us": {"median": self.gpu_us, "p95": quantile(self.frames_us, 0.95)},
            "cpu_us": {
                _CPU[name]: {"median": quantile(some, 0.5), "p95": quantile(some, 0.95)} for name, some in cpu.items()
            },
            "passes": [
                {"name": name, "queue": queues[name], "median": quantile(some, 0.5), "p95": quantile(some, 0.95)}
                for name, some in times.items()
            ],
        }


def _same(one: Plan, other: Plan) -> bool:
    """Whether two plans do the same: modelled times apart."""
    return one.batches == other.batches and one.barriers == other.barriers and one.memory == other.memory


def _time(us: float) -> str:
    return f"{us / 1000:.2f} ms" if us >= 1000 else f"{us:.1f} µs"


def _listed(values: dict[str, Any]) -> list[str]:
    """Times of the passes, with bars relative to the longest."""
    passes = values["passes"]
    whole = sum(one["median"] for one in passes) or 1.0
    unit, scale = ("ms", 1000) if whole >= 10_000 else ("µs", 1)
    digits = 3 if scale > 1 else 1
    rows = [["pass", "queue", f"median {unit}", f"p95 {unit}", "share"]]
    for one in passes:
        share = one["median"] / whole
        bar = "█" * round(share * 12) or "▏"
        times = [f"{one[which] / scale:.{digits}f}" for which in ("median", "p95")]
        rows.append([one["name"], one["queue"], *times, f"{share:4.0%} {bar}"])
    lines = table(rows, right=(2, 3))
    lines[0] = paint(lines[0], "dim")
    cpu = ", ".join(f"{name} {_time(some['median'])}" for name, some in values["cpu_us"].items())
    gpu = values["gpu_us"]
    lines += [
        "",
        f"  frame     {_time(gpu['median'])} on the GPU, p95 {_time(gpu['p95'])}",
        f"  CPU       {cpu}",
        f"  through   {values['frames_per_second']:.1f} frames/s of {values['frames']}, one behind the other",
    ]
    return lines


def _gain(before: _Measured, after: _Measured) -> tuple[str, dict[str, Any]]:
    """What the weights gained: a sentence, and plain data."""
    old, new = before.gpu_us, after.gpu_us
    # Half of the frames lie between these: a difference within is none.
    spread = quantile(before.frames_us, 0.75) - quantile(before.frames_us, 0.25)
    data = {"same_plan": False, "gpu_us": new, "gain": 1 - new / old if old else 0.0, "spread_us": spread}
    if abs(old - new) <= spread:
        return f"another plan, as fast: {_time(new)}, where frames differ by {_time(spread)}", data
    word = "faster" if new < old else "slower"
    return f"another plan: {_time(old)} → {_time(new)}, {abs(1 - new / old):.1%} {word}", data


def main(arguments: argparse.Namespace) -> int:
    """Measure.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    graph, foreign = loaded(arguments)
    given = settings(graph, arguments, foreign)
    with opened(arguments, graph) as device:
        before = _Measured(compiled(device, graph, arguments), arguments.measure)
        warmup, frames = max(1, arguments.warmup), arguments.frames
        with bound(), Progress(warmup + frames, "frames") as progress:
            before.begin(given, warmup, progress)
            before.run(given, frames, progress)
        after = None
        if not arguments.no_feedback and before.weights.measure != "off":
            done = compiled(device, graph, arguments, weights=before.weights)
            after = _Measured(done, arguments.measure)
        if after and not _same(before.done.plan, after.done.plan):
            half = -(-frames // 2)
            with Progress(warmup + 4 * half, "frames with weights") as progress:
                after.begin(given, warmup, progress)
                for _ in range(2):
                    after.run(given, half, progress)
                    before.run(given, half, progress)
        values = before.values()
        gain, gained = "", {"same_plan": True}
        if after and after.reports:
            gain, gained = _gain(before, after)
        elif after:
            gain = "the same plan"
        if arguments.json:
            values |= {"graph": graph.name, "device": device.info.name}
            say(as_json(values | ({"feedback": gained} if after else {})))
        else:
            tell(f"{paint(graph.name, 'bold', error=True)} on {device.info.name}")
            say("\n".join(_listed(values) + ([f"  weights   {gain}"] if gain else [])))
        return 1 if warned(device) and arguments.validate else 0
