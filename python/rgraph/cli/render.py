"""`rgraph render`: run a graph for many frames, parameters, seeds or tiles, on many workers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph import batch
from rgraph.batch._work import file_of
from rgraph.cli._film import load_film
from rgraph.cli._parser import add_patience, count, option
from rgraph.cli._terminal import Progress, as_json, complain, say, tell

if TYPE_CHECKING:
    import argparse

    from rgraph.batch import Task
    from rgraph.cli._film import Film

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
The file is TOML. Workers write the results; with --scheduler they must see the same folders.

  graph = "fluid.rgraph.json"         # or film.py:graph
  frames = 240                        # or seeds, [sweep], tiles
  set = { "swirl.time" = "@time" }    # @frame, @seed, or a value
  output = { dye = "out/{key:04}.png" }

  rgraph render frames.toml
  rgraph render frames.toml --workers 2 --device 0 --device 1
  rgraph render frames.toml --scheduler tcp://10.0.0.1:8786
  rgraph render frames.toml --missing"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("film", metavar="FILE.toml", help="a render file; see below")
    group = parser.add_argument_group("workers")
    group.add_argument("--scheduler", metavar="ADDRESS", help="a scheduler of Dask; default: processes of this machine")
    group.add_argument("--workers", type=count, metavar="N", help="number of processes (default: one per CPU, up to 4)")
    option(group, "--device", kind=str, metavar="DEVICE", help="device of each process in turn; may be repeated")
    group.add_argument("--validate", action="store_true", help="enable the Khronos validation layer")
    add_patience(group)
    output = parser.add_argument_group("output")
    output.add_argument("--missing", action="store_true", help="run only tasks whose files are not there yet")
    output.add_argument("--json", action="store_true", help="print JSON")


def _missing(film: Film) -> list[Task]:
    return [
        task
        for task in film.tasks
        if not all(Path(file_of(template, task.key)).exists() for template in film.output.values())
    ]


def _pool(arguments: argparse.Namespace) -> str | batch.Processes:
    if arguments.scheduler is not None:
        return str(arguments.scheduler)
    return batch.Processes(arguments.workers, devices=arguments.device)


def main(arguments: argparse.Namespace) -> int:
    """Render.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    film = load_film(arguments.film)
    tasks = _missing(film) if arguments.missing else film.tasks
    begin = time.perf_counter()
    done: list[batch.Result] = []
    pool = _pool(arguments)
    try:
        with (
            batch.run(
                film.graph,
                tasks,
                on=pool,
                write=film.output,
                inputs=film.inputs,
                validate=arguments.validate or None,
                ordered=False,
                errors="return",
                patience=arguments.patience,
            ) as results,
            Progress(len(tasks), "tasks") as progress,
        ):
            for result in results:
                done.append(result)
                progress.step()
    finally:
        if isinstance(pool, batch.Processes):
            pool.shutdown(cancel_futures=True)
    seconds = time.perf_counter() - begin
    failed = [one for one in done if one.error is not None]
    for one in failed[:10]:
        complain(f"task {one.key!r}: {one.error}")
    if len(failed) > 10:
        complain(f"{len(failed) - 10} tasks more failed")
    _report(film, tasks, done, seconds, arguments.json)
    return 1 if failed else 0


def _report(film: Film, tasks: list[Task], done: list[batch.Result], seconds: float, json: bool) -> None:
    good = [one for one in done if one.error is None]
    workers = {one.worker for one in good}
    if json:
        order = {task.key: at for at, task in enumerate(tasks)}
        rows: list[dict[str, Any]] = [
            {"key": one.key, "files": one.files, "worker": one.worker, "error": str(one.error) if one.error else None}
            for one in sorted(done, key=lambda one: order[one.key])
        ]
        say(as_json({"graph": film.graph.name, "seconds": seconds, "tasks": rows}))
        return
    skipped = len(film.tasks) - len(tasks)
    words = f"{len(good)} of {len(tasks)} tasks on {len(workers)} workers, {len(done) / max(seconds, 1e-9):.1f}/s"
    tell(f"{words}; {skipped} were there" if skipped else words)
    for template in film.output.values():
        say(template)
