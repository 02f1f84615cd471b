"""`rgraph tune`: run a graph, look for faster plans of it, and write what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rgraph._core import _write_file
from rgraph.cli import UsageError
from rgraph.cli._files import load_profile
from rgraph.cli._parser import add_workers, count, planning
from rgraph.cli._running import arguments_of_runs, bound, compiled, loaded, opened, settings, warned
from rgraph.cli._terminal import Progress, as_json, paint, say, tell
from rgraph.cli._workers import spread

if TYPE_CHECKING:
    import argparse

    from rgraph import Graph, Trials
    from rgraph.batch._calls import Workers
    from rgraph.cli._running import Settings

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
Some frames are measured pass by pass. With these times, the search looks for other orders and queues. Frames of each
plan found alternate with frames of the best plan so far; it replaces the best plan only if its frames are shorter by
more than the noise. The table lists all plans that were measured. All plans compute the same results.

With workers, each worker searches a share of the plans, and workers that have the device compare the best of them with
the first plan. With --profile no device is opened, and the modelled frame time decides.

  rgraph tune frame.rgraph.json --plan tuned.plan.json --weights times.json
  rgraph run frame.rgraph.json --plan tuned.plan.json --weights times.json
  rgraph tune frame.rgraph.json --workers 4 --plans 256
  rgraph tune frame.rgraph.json --scheduler tcp://10.0.0.1:8786"""

_PLANS = 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, or FILE.py:NAME")
    parser.add_argument(
        "--frames",
        type=count,
        default=1000,
        metavar="N",
        help="maximum number of frames, without workers (default: 1000)",
    )
    parser.add_argument(
        "--trials", type=count, default=12, metavar="N", help="maximum number of plans to measure (default: 12)"
    )
    parser.add_argument("--queues", action="store_true", help="also move passes away from the queues that they name")
    add_workers(parser, "search and measure plans")
    more = parser.add_argument_group("search by workers")
    more.add_argument("--plans", type=count, metavar="N", help=f"number of plans to search (default: {_PLANS})")
    more.add_argument("--profile", metavar="NAME|FILE", help="search for this device with modelled times only")
    output = parser.add_argument_group("output")
    output.add_argument("--plan", metavar="FILE", help="write the best plan, for rgraph run --plan")
    output.add_argument("--weights", metavar="FILE", help="write times of the passes, for rgraph run --weights")
    output.add_argument("--json", action="store_true", help="print JSON")
    arguments_of_runs(parser)
    planning(parser, profile=False)


def main(arguments: argparse.Namespace) -> int:
    """Tune.

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
    with spread(arguments) as workers:
        if workers is not None:
            return _spread(graph, given, arguments, workers)
    for name, value in (("--plans", arguments.plans), ("--profile", arguments.profile)):
        if value is not None:
            raise UsageError(f"{name} is for a search by workers", "add --workers N or --scheduler ADDRESS")
    return _alone(graph, given, arguments)


def _alone(graph: Graph, given: Settings, arguments: argparse.Namespace) -> int:
    """Tune while frames run on a device of this process."""
    from rgraph import Adapt

    adapt = Adapt(queues=arguments.queues, sample=1, trials=arguments.trials, background=False)
    with opened(arguments, graph) as device:
        done = compiled(device, graph, arguments)
        with bound(), Progress(arguments.frames, "frames") as progress:
            for number in range(arguments.frames):
                params, flags = given.params(number) or None, given.flags or None
                done.run(inputs=given.inputs, flags=flags, params=params, read=[], adapt=adapt).wait()
                progress.step()
                if number % 16 == 15 and device.trials(done).phase in ("settled", "blind"):
                    break
        found = device.trials(done)
        about = {"graph": done.plan.graph_name, "device": device.info.name, "frames": number + 1}
        _written(found, about, arguments)
        if not arguments.json:
            tell(f"{paint(done.plan.graph_name, 'bold', error=True)} on {device.info.name}: {number + 1} frames")
            say(str(found))
            if found.phase not in ("settled", "blind"):
                tell("the frames did not suffice to try everything: --frames runs more")
        return 1 if warned(device) and arguments.validate else 0


def _spread(graph: Graph, given: Settings, arguments: argparse.Namespace, workers: Workers) -> int:
    """Tune by workers."""
    from rgraph.batch._tune import tuned

    if arguments.costs is not None:
        raise UsageError("--costs is for a device of this process", "use --profile FILE to search with its costs")
    planning = {
        "policy": arguments.policy,
        "split_barriers": arguments.split,
        "effort": arguments.effort,
        "memory": arguments.memory,
        "max_batches": arguments.max_batches,
    }
    plans = arguments.plans or _PLANS
    with bound(), Progress(plans, "plans") as progress:
        found, device = tuned(
            graph,
            workers,
            plans=plans,
            trials=arguments.trials,
            queues=arguments.queues,
            profile=None if arguments.profile is None else load_profile(arguments.profile),
            planning=planning,
            inputs=given.inputs,
            flags=given.flags,
            params=given.params(0),
            device=arguments.device,
            validate=arguments.validate or None,
            step=progress.step,
        )
    where = device or found.plan.to_dict()["device_profile"]["name"]
    _written(found, {"graph": graph.name, "device": where, "plans": plans}, arguments)
    if not arguments.json:
        tell(f"{paint(graph.name, 'bold', error=True)} on {where}: {plans} plans searched")
        say(str(found))
    return 0


def _written(found: Trials, about: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Write the files that were asked for, and JSON."""
    if arguments.weights:
        values = {"graph": about["graph"], "device": about["device"], **found.to_dict()}
        _write_file(arguments.weights, as_json(values).encode())
    if arguments.plan:
        _write_file(arguments.plan, found.plan.to_json().encode())
    if arguments.json:
        say(as_json({**about, **found.to_dict()}))
