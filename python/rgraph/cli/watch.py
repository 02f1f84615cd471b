"""`rgraph watch`: run a graph again whenever a file of it changes."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rgraph._errors import DeviceError, RgError
from rgraph.cli import NO_DEVICE, UsageError
from rgraph.cli._files import STANDARD, exists, is_python, python_file
from rgraph.cli._outputs import Outputs
from rgraph.cli._parser import count, natural, option, pair, planning, positive
from rgraph.cli._running import arguments_of_runs, bound, compiled, loaded, opened, result_names, settings, shown
from rgraph.cli._terminal import complain, paint, tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from rgraph import Compiled, Device, Frame, Graph
    from rgraph.cli._running import Settings

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
The command watches the graph's file, its includes, shaders and pictures, and the files of --input. The next frame shows
a change. A wrong edit is reported once, and the last valid graph keeps running until the edit is fixed. Ctrl-C ends it.

  rgraph watch frame.rgraph.json -o out.png
  rgraph watch frame.rgraph.json --serve
  rgraph watch fluid.rgraph.json -o out.png --fps 30 --set splat.time=@time"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, or FILE.py:NAME")
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--out", metavar="FOLDER|FILE", help="write the results of every frame")
    option(output, "--output", kind=pair, metavar="NAME=FILE", help="write one result; may be repeated")
    output.add_argument("--show", metavar="NAME", help="make any image or buffer the result; as RGRAPH_SHOW does")
    output.add_argument(
        "--window", action="store_true", help="show the first image in a window until the window is closed"
    )
    output.add_argument(
        "--serve",
        nargs="?",
        type=natural,
        const=0,
        metavar="PORT",
        help="serve the viewer on this machine (default: a free port); the page updates after each edit",
    )
    pace = parser.add_argument_group("pace")
    pace.add_argument(
        "--fps", type=positive, default=0.0, metavar="N", help="frames per second between changes (default: 0)"
    )
    pace.add_argument(
        "--poll",
        type=positive,
        default=0.2,
        metavar="SECONDS",
        help="interval between checks of the files (default: 0.2)",
    )
    pace.add_argument("--frames", type=count, metavar="N", help="end after that many frames")
    pace.add_argument("--edits", type=count, metavar="N", help="end after that many edits, valid or not")
    arguments_of_runs(parser)
    planning(parser, profile=False)


def _stamp(path: str) -> tuple[int, int]:
    """What changes when a file does."""
    try:
        status = Path(path).stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


class _Files:
    """The files that a graph is made of, and how they were when it was."""

    def __init__(self, first: Iterable[str]) -> None:
        self._always = set(first)
        self._stamps = {path: _stamp(path) for path in self._always}

    def take(self, more: Iterable[str]) -> None:
        """Watch these too, as they are now or were before."""
        for path in {*self._always, *more} - self._stamps.keys():
            self._stamps[path] = _stamp(path)

    def changed(self) -> bool:
        """Whether one changed since the last time that this was so."""
        now = {path: _stamp(path) for path in self._stamps}
        if now == self._stamps:
            return False
        # Editors write in pieces: wait until nothing moves any more.
        while True:
            time.sleep(0.02)
            later = {path: _stamp(path) for path in now}
            if later == now:
                break
            now = later
        self._stamps = now
        return True


def _modules(path: str) -> dict[str, str]:
    """Python modules out of the folder of a graph's Python file: names and files."""
    folder = Path(python_file(path)).resolve().parent
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    return {name: file for name, file in files.items() if file and folder in Path(file).parents}


class _Shown:
    """The graph that is shown: what runs, with what, and where its results go."""

    def __init__(self, graph: Graph, given: Settings, done: Compiled, outputs: Outputs, names: list[str]) -> None:
        self.graph, self.given, self.done, self.outputs, self.names = graph, given, done, outputs, names
        self.last: Frame | None = None

    def frame(self, number: int, measure: Literal["batches"] | None = None) -> tuple[float | None, list[str]]:
        """Run a frame and write its results; its milliseconds on the GPU if they are measured, and the files."""
        with bound():
            frame = self.done.run(
                inputs=self.given.inputs,
                flags=self.given.flags or None,
                params=self.given.params(number) or None,
                read=self.names,
                measure=measure,
            )
        files = self.outputs.write(frame, number, self.names)
        self.last = frame
        took = frame.report.gpu_us if measure else None
        return None if took is None else took / 1000, list(files.values())


class _Watch:
    """Everything between one change and the next."""

    def __init__(self, arguments: argparse.Namespace, device: Device) -> None:
        self.arguments, self.device = arguments, device
        path: str = arguments.graph
        self.python = is_python(path)
        first = python_file(path) if self.python else path
        exists(first)
        self.files = _Files([first, *(file for _, file in arguments.input)])
        self.shown: _Shown | None = None
        self.number = 0
        self.reported = ""

    def _load(self) -> _Shown:
        arguments = self.arguments
        if self.python:
            for name in _modules(arguments.graph):
                del sys.modules[name]
        try:
            graph, foreign = loaded(arguments)
        finally:
            if self.python:
                self.files.take(_modules(arguments.graph).values())
        self.files.take(foreign.files if foreign else graph.files)
        graph, only = shown(graph, arguments.show)
        names = [only] if only else result_names(graph)
        given = settings(graph, arguments, foreign)
        return _Shown(graph, given, compiled(self.device, graph, arguments), Outputs(arguments, names), names)

    def edit(self) -> None:
        """Take what the files say now, and show it; if that is wrong, stay with what there is."""
        begin = time.perf_counter()
        try:
            new = self._load()
            gpu, files = new.frame(self.number, "batches")
        except (RgError, UsageError, OSError) as error:
            self.files.take(getattr(error, "files", ()))
            # At first the call is to blame, later the edit.
            if self.shown is None and isinstance(error, UsageError):
                raise
            if isinstance(error, DeviceError) and error.code in NO_DEVICE:
                raise
            self._wrong(error)
            return
        anew = self.shown is not None and _remembers(new.graph)
        self.shown, self.number = new, self.number + 1
        fixed, self.reported = bool(self.reported), ""
        milliseconds = (time.perf_counter() - begin) * 1e3
        words = paint("fixed" if fixed else "shown", "green", error=True)
        where = f" · {', '.join(files)}" if files else ""
        histories = " · histories restart" if anew else ""
        took = "" if gpu is None else f" · {gpu:.2f} ms on the GPU"
        tell(f"{_clock()}  {words} after {milliseconds:.0f} ms{took}{where}{histories}")

    def _wrong(self, error: Exception) -> None:
        """Report an error, unless it was the last one reported."""
        text = str(error)
        if text == self.reported:
            return
        self.reported = text
        stays = "the last good graph keeps running" if self.shown else "waiting for a fix"
        complain(f"{text}\n  {_clock()}  {stays}", getattr(error, "hint", "") if isinstance(error, UsageError) else "")

    def another(self) -> None:
        """The next frame of what is shown."""
        if self.shown is not None:
            self.shown.frame(self.number)
            self.number += 1

    def ended(self, edits: int) -> bool:
        """Whether enough was done."""
        wanted = self.arguments
        return (wanted.frames is not None and self.number >= wanted.frames) or (
            wanted.edits is not None and edits >= wanted.edits
        )


def _clock() -> str:
    return paint(time.strftime("%H:%M:%S"), "dim", error=True)


def _remembers(graph: Graph) -> bool:
    """Whether anything lasts from frame to frame."""
    values = graph.to_dict()
    resources = [*values["images"].values(), *values["buffers"].values()]
    return any(one.get("persistent") or "history_of" in one for one in resources)


def _served(device: Device, port: int) -> str:
    """Serves the viewer; its address."""
    if port > 0xFFFF:
        raise UsageError(f"--serve {port}: ports go from 0 to 65535", "leave the port out: a free one is taken")
    try:
        return device.view(port).url
    except OSError as error:
        raise UsageError(f"--serve {port}: {error}", "leave the port out: a free one is taken") from None


def _windowed(device: Device, watch: _Watch) -> None:
    """Shows it in a window."""
    try:
        from rgraph.cli._window import watch as show

        show(device, watch)
    except ImportError as error:
        raise UsageError(str(error)) from None


def main(arguments: argparse.Namespace) -> int:
    """Watch.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status: 1 if the last edit is wrong.
    """
    if arguments.graph == STANDARD:
        raise UsageError("standard input cannot be watched", "give a file")
    with opened(arguments) as device:
        watch = _Watch(arguments, device)
        if arguments.serve is not None:
            tell(f"the viewer is at {_served(device, arguments.serve)}")
        tell(f"{paint(arguments.graph, 'bold', error=True)} on {device.info.name}; Ctrl-C ends it")
        watch.edit()
        if arguments.window:
            _windowed(device, watch)
            return 1 if watch.reported else 0
        edits, due = 0, time.monotonic()
        while not watch.ended(edits):
            if watch.files.changed():
                edits += 1
                watch.edit()
                continue
            if not arguments.fps:
                time.sleep(arguments.poll)
                continue
            due = max(due + 1 / arguments.fps, time.monotonic())
            watch.another()
            time.sleep(max(0.0, due - time.monotonic()))
        return 1 if watch.reported else 0
