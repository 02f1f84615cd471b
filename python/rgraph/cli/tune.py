"""`rgraph tune`: run a graph, look for faster plans of it, and write what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rgraph._core import _write_file
from rgraph.cli._parser import count, planning
from rgraph.cli._running import arguments_of_runs, bound, compiled, loaded, opened, settings, warned
from rgraph.cli._terminal import Progress, as_json, paint, say, tell

if TYPE_CHECKING:
    import argparse

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
Some frames are measured pass by pass. With these times other orders and queues are searched; each plan found is tried,
its frames between frames of the plan that is kept, and stays only if they are shorter beyond the noise. The table says
what was tried. All plans compute the same.

  rgraph tune frame.rgraph.json --plan tuned.plan.json --weights times.json
  rgraph run frame.rgraph.json --plan tuned.plan.json --weights times.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, or FILE.py:NAME")
    parser.add_argument("--frames", type=count, default=1000, metavar="N", help="most frames (default: 1000)")
    parser.add_argument("--trials", type=count, default=12, metavar="N", help="most plans that are tried (default: 12)")
    parser.add_argument("--queues", action="store_true", help="passes may leave queues that they name, too")
    output = parser.add_argument_group("output")
    output.add_argument("--plan", metavar="FILE", help="write the plan that is kept, for rgraph run --plan")
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
    from rgraph import Adapt

    graph, foreign = loaded(arguments)
    given = settings(graph, arguments, foreign)
    adapt = Adapt(queues=arguments.queues, sample=1, trials=arguments.trials, background=False)
    with opened(arguments) as device:
        done = compiled(device, graph, arguments)
        with bound(), Progress(arguments.frames, "frames") as progress:
            for number in range(arguments.frames):
                params, flags = given.params(number) or None, given.flags or None
                done.run(inputs=given.inputs, flags=flags, params=params, read=[], adapt=adapt).wait()
                progress.step()
                if number % 16 == 15 and device.trials(done).phase in ("settled", "blind"):
                    break
        found = device.trials(done)
        if arguments.weights:
            values = {"graph": done.plan.graph_name, "device": device.info.name, **found.to_dict()}
            _write_file(arguments.weights, as_json(values).encode())
        if arguments.plan:
            _write_file(arguments.plan, found.plan.to_json().encode())
        if arguments.json:
            values = {"graph": done.plan.graph_name, "device": device.info.name, "frames": number + 1}
            say(as_json({**values, **found.to_dict()}))
        else:
            tell(f"{paint(done.plan.graph_name, 'bold', error=True)} on {device.info.name}: {number + 1} frames")
            say(str(found))
            if found.phase not in ("settled", "blind"):
                tell("the frames did not suffice to try everything: --frames runs more")
        return 1 if warned(device) and arguments.validate else 0
