"""Windows in which graphs run: `rgraph.show(graph)` opens one, `Viewer` is what is behind it.

Windows are those of rendercanvas (`pip install "rgraph-vulkan[window]"`): a native window where it gives a handle
(glfw), else a picture in a notebook, a widget of Qt or wx, a terminal or a browser. Events of keys, pointer, wheel and
size are those of rendercanvas: `viewer.canvas.add_event_handler(handler, "pointer_move", "key_down")`.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Mapping
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args
from weakref import WeakSet

from rgraph._core import Compiled, Device, Frame, Graph, Image, Window, _mistake, _numpy
from rgraph._errors import BusyError, DeviceError, RgError
from rgraph._keywords import suggests_keywords
from rgraph._numbers import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Draw = Callable[[], tuple[Frame, str] | None]
    """Runs a frame; returns it and its root that is shown, or nothing."""

__all__ = ["Viewer", "run", "show"]

Mode = Literal["fifo", "fifo_relaxed", "mailbox", "immediate"]
"""When images are shown, as in `Device.window`."""

INSTALL = 'pip install "rgraph-vulkan[window]"'
MOST_SIDE = 1600
"""Longest side of a window that is as large as its image."""
_OPEN: WeakSet[Viewer] = WeakSet()
_RUNNING: list[Any] = []
"""Event loops that `run` runs."""
POLL = 0.25
"""Seconds between two looks at the files of a graph."""
SETTLED = 0.02
"""Seconds without a change after which an edit is whole."""


def _rendercanvas() -> Any:
    """The backend of rendercanvas that fits here.

    Raises
    ------
    ImportError
        If it is not installed, or finds no window; with the line that installs it.
    DeviceError
        RG-E107 if glfw finds no display: it would end the process.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="glfw")
            backend = import_module("rendercanvas.auto")
    except ImportError as error:
        raise ImportError(f"windows need rendercanvas and a backend such as glfw: {INSTALL} ({error})") from error
    if backend.RenderCanvas.__module__ == "rendercanvas.glfw":
        _check_display()
    return backend


def _check_display() -> None:
    """Refuses to open a window of glfw where there is no display."""
    glfw = import_module("glfw")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="glfw")
        if glfw.init():
            return
    named = [f"{name}={os.environ[name]}" for name in ("DISPLAY", "WAYLAND_DISPLAY") if os.environ.get(name)]
    where = " and ".join(named) or "neither DISPLAY nor WAYLAND_DISPLAY is set"
    hint = 'run it on a desktop, or under xvfb-run; frame["out"].save("out.png") needs no window'
    raise DeviceError(f"RG-E107 no display for windows: {where}\n  help: {hint}", "RG-E107", hint=hint)


class Viewer:
    """A window that shows a frame per draw.

    Parameters
    ----------
    device
        What runs the frames: `Device(windows=True)` for native windows; another one hands pictures over as bytes.
    draw
        Runs a frame; returns it and the name of the root that is shown, or None to show nothing new.
    canvas
        A canvas of rendercanvas, such as a widget; default: a new window.
    title
        Of a new window.
    size
        Width and height of a new window in logical pixels.
    continuous
        Whether it draws again and again; else when `canvas.request_draw()` asks.
    fps
        Most frames per second.
    mode
        When images of a native window are shown, as in `Device.window`.
    frames
        Close after so many.
    """

    def __init__(
        self,
        device: Device,
        draw: Draw,
        *,
        canvas: Any = None,
        title: str = "rgraph",
        size: tuple[int, int] = (1280, 720),
        continuous: bool = True,
        fps: float = 60.0,
        mode: Mode = "fifo",
        frames: int | None = None,
    ) -> None:
        self.device = device
        self.frames = 0
        """Frames that were shown."""
        self.error: BaseException | None = None
        """What ended it, if not the user."""
        self._draw, self._mode, self._limit = draw, mode, frames
        self._root = ""
        self.frame: Frame | None = None
        """The latest frame."""
        if canvas is None:
            backend = _rendercanvas()
            canvas = backend.RenderCanvas(
                title=title,
                size=size,
                update_mode="continuous" if continuous else "ondemand",
                max_fps=fps,
                vsync=mode == "fifo",
            )
        self.canvas = canvas
        """The canvas of rendercanvas: its size, its events, its cursor."""
        self.window: Window | None = None
        """The native window; None where pictures arrive as bytes."""
        try:
            self._context = canvas.get_context(_context(self, ("screen", "bitmap")))
        except (DeviceError, TypeError) as error:
            if isinstance(error, DeviceError) and error.code != "RG-E107":
                canvas.close()
                raise
            self._context = self._bitmaps(error)
        _OPEN.add(self)
        canvas.request_draw(self._next)

    def _bitmaps(self, error: Exception) -> Any:
        """A context that takes pictures, where no native window can be had."""
        try:
            return self.canvas.get_context(_context(self, ("bitmap",)))
        except TypeError:
            try:
                # It shows them by wgpu-py.
                return self.canvas.get_context("bitmap")
            except (ImportError, TypeError):
                self.canvas.close()
                raise error from None

    def _next(self) -> None:
        if self._limit is not None and self.frames >= self._limit:
            self.canvas.close()
            return
        try:
            drawn = self._draw()
            if drawn is not None:
                self.frame, self._root = drawn
                if hasattr(self._context, "set_bitmap"):
                    self._context.set_bitmap(bitmap(self.frame[self._root]))
                    self.frames += 1
        except BaseException as error:
            self._end(error)

    def _end(self, error: BaseException) -> None:
        """Ends it for a fault: rendercanvas would log it and go on."""
        self.error = self.error or error
        self.canvas.close()

    def _present(self) -> dict[str, Any]:
        frame = self.frame
        if frame is None or self.closed:
            return {"method": "skip"}
        try:
            if self.window is None:
                data = bitmap(frame[self._root])
                self.frames += 1
                return {"method": "bitmap", "data": data, "format": "rgba-u8"}
            if self.window.show(frame, self._root) == "shown":
                self.frames += 1
        except RgError as error:
            self._end(error)
            return {"method": "skip"}
        return {"method": "screen"}

    @property
    def loop(self) -> Any:
        """The event loop of its canvas."""
        return import_module(type(self.canvas).__module__).loop

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return bool(self.canvas.get_closed())

    def close(self) -> None:
        """Close it."""
        self.canvas.close()

    def run(self) -> None:
        """Run until every window is closed; an error of a frame closes its window and is raised here."""
        run([self])


def _context(viewer: Viewer, methods: tuple[str, ...]) -> type:
    """The class of a context of rendercanvas that shows a viewer's frames."""
    base: Any = import_module("rendercanvas.contexts").BaseContext

    class RgraphContext(base):  # type: ignore[misc, unused-ignore]
        """Frames of rgraph in a canvas of rendercanvas."""

        present_methods: ClassVar = list(methods)

        def __init__(self, info: dict[str, Any]) -> None:
            super().__init__(info)
            self._told: tuple[int, int] | None = None
            if info["method"] == "screen":
                viewer.window = viewer.device.window(
                    info["window"], display=info.get("display") or 0, platform=info["platform"], mode=viewer._mode
                )

        def _rc_present(self, *, force_sync: bool = False) -> dict[str, Any]:
            del force_sync
            size = self.physical_size
            if viewer.window is not None and size != self._told:
                self._told = size
                viewer.window.resize(*size)
            return viewer._present()

        def _rc_close(self) -> None:
            # Before the native window goes.
            if viewer.window is not None:
                viewer.window.close()

    return RgraphContext


def bitmap(array: Any) -> Any:
    """Make the bytes of a picture: red, green, blue and alpha, as `Array.save` writes them.

    Parameters
    ----------
    array
        What a frame left in an image.

    Returns
    -------
    numpy.ndarray
        Of shape (height, width, 4) and dtype uint8.
    """
    _numpy("a picture of a canvas", "array.save(path) does not need it")
    import numpy as np

    values: Any = np.asarray(array)
    name = array.format or ""
    if values.ndim == 4:
        values = values[0]
    if values.ndim == 2:
        values = values[:, :, None]
    if values.shape[2] == 1:
        values = np.repeat(values, 3, axis=2)
    if name.startswith("bgra"):
        values = values[:, :, [2, 1, 0, 3]]
    if values.dtype.kind == "f":
        light = np.clip(np.nan_to_num(values.astype(np.float32)), 0.0, 1.0)
        # IEC 61966-2-1; alpha is no light.
        encoded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1.0 / 2.4) - 0.055)
        encoded[:, :, 3:] = light[:, :, 3:]
        values = np.rint(encoded * 255.0)
    elif values.dtype == np.uint16:
        values = values >> 8
    out = np.zeros((*values.shape[:2], 4), np.uint8)
    out[:, :, 3] = 255
    out[:, :, : values.shape[2]] = values
    return out


class _Watched:
    """Files, and whether one changed.

    Files that an earlier one knows keep their stamps, so an edit is seen also if it came while others were compiled.
    """

    def __init__(self, files: Iterable[str], earlier: _Watched | None = None) -> None:
        known: dict[str, tuple[int, int]] = {} if earlier is None else earlier._stamps
        self._stamps: dict[str, tuple[int, int]] = {file: known.get(file) or self._stamp(file) for file in files}
        self._due = time.monotonic() + POLL

    @staticmethod
    def _stamp(file: str) -> tuple[int, int]:
        try:
            status = Path(file).stat()
        except OSError:
            return 0, 0
        return status.st_mtime_ns, status.st_size

    def changed(self) -> bool:
        """Whether one did since the last time that this was so."""
        if time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + POLL
        now = {file: self._stamp(file) for file in self._stamps}
        if now == self._stamps:
            return False
        # Editors write in pieces: wait until nothing moves any more.
        while True:
            time.sleep(SETTLED)
            later = {file: self._stamp(file) for file in now}
            if later == now:
                break
            now = later
        self._stamps = now
        return True


def _size(graph: Graph | Compiled, root: str) -> tuple[int, int]:
    """The size of a window for an image: its own, but no side longer than fits a screen."""
    found = [] if isinstance(graph, Compiled) else [one for one in graph.resources if one.name == root]
    if not found or not isinstance(found[0], Image):
        return 1280, 720
    width, height = found[0].size[:2]
    shrunk = max(1.0, max(width, height) / MOST_SIDE)
    return max(1, round(width / shrunk)), max(1, round(height / shrunk))


class _Graphs:
    """The graph that is shown, made again when its files change."""

    def __init__(
        self, device: Device, graph: Graph | Compiled | str | Path | Callable[[], Graph], root: str | None, reload: bool
    ) -> None:
        self.device, self.wanted, self.number = device, root, 0
        self.make: Callable[[], Graph] | None = None
        if isinstance(graph, str | Path):
            path = graph
            self.make = lambda: Graph.load(path)
        elif not isinstance(graph, Graph | Compiled):
            self.make = graph
        if reload and self.make is None:
            raise TypeError("reload=True needs the path of a graph file, or a function that declares the graph")
        if self.make is not None and not callable(self.make):
            kind = type(graph).__name__
            raise TypeError(f"show() takes a graph, its path, a function or a compiled graph, not {kind}")
        first = self.make() if self.make is not None else graph
        self.watched: _Watched | None = None
        self.reported = ""
        self.before: tuple[Compiled, str] | None = None
        """The last good graph, while the one after it did not run yet."""
        self.compiled: Compiled
        self._take(first, reload)

    def _take(self, graph: Any, reload: bool, previous: Compiled | None = None) -> None:
        if not isinstance(graph, Graph | Compiled):
            raise TypeError(f"the function that declares the graph returned {type(graph).__name__}, not a graph")
        watched = _Watched(graph.files, self.watched) if reload and isinstance(graph, Graph) else None
        root = _root(graph, self.wanted)
        self.compiled = graph if isinstance(graph, Compiled) else self.device.compile(graph, previous=previous)
        self.root, self.watched, self.size = root, watched, _size(graph, root)

    def renewed(self) -> None:
        """Declares the graph again if its files changed. Reports a wrong edit once and keeps the last good graph.

        Persistent resources and histories keep their contents.
        """
        if self.watched is None or self.make is None or not self.watched.changed():
            return
        good = self.before or (self.compiled, self.root)
        try:
            self._take(self.make(), True, good[0])
        except Exception as error:
            self._wrong(error)
            return
        self.before = good

    def _wrong(self, error: Exception) -> None:
        if str(error) != self.reported:
            self.reported = str(error)
            print(f"{error}\n  the last good graph stays", file=sys.stderr)

    def run(self, read: bool, arguments: dict[str, Any]) -> Frame:
        """Runs it; if an edit made a graph that does not run, the last good one."""
        try:
            frame = self.compiled.run(**arguments, read=[self.root] if read else [])
        except Exception as error:
            if self.before is None:
                raise
            (self.compiled, self.root), self.before = self.before, None
            self._wrong(error)
            return self.run(read, arguments)
        if self.before is not None:
            self.before, self.reported = None, ""
        return frame


def _root(graph: Graph | Compiled, wanted: str | None) -> str:
    """The root that is shown: the wanted one, else the first that is an image."""
    if isinstance(graph, Compiled):
        if wanted is None:
            raise TypeError("name the root: show(compiled, root)")
        return wanted
    kinds = {one.name: one for one in graph.resources}
    roots: list[str] = graph.to_dict()["roots"]
    if wanted is not None:
        if wanted not in roots:
            known = f"there is {', '.join(roots)}" if roots else "name one with graph.root(image)"
            raise _mistake("RG-E202", f'graph "{graph.name}" has no root called "{wanted}"', known)
        return wanted
    images = [name for name in roots if isinstance(kinds.get(name), Image)]
    if not images:
        message = f'graph "{graph.name}" has no image among its roots'
        raise _mistake("RG-E202", message, "name one with graph.root(image)")
    return images[0]


@suggests_keywords
def show(
    graph: Graph | Compiled | str | Path | Callable[[], Graph],
    root: str | None = None,
    *,
    device: Device | None = None,
    inputs: Mapping[str, Any] | None = None,
    update: Callable[[int], Mapping[str, Any] | None] | None = None,
    reload: bool = False,
    size: tuple[int, int] | None = None,
    title: str | None = None,
    fps: float = 60.0,
    canvas: Any = None,
    mode: Mode = "fifo",
    frames: int | None = None,
    wait: bool = True,
) -> Viewer:
    """Open a window and run a graph in it until it is closed.

    Parameters
    ----------
    graph
        A graph, the path of a graph file, a function that declares one, or a compiled graph.
    root
        The image that is shown; default: the first root that is one.
    device
        What runs it; default: a new `Device(windows=True)`.
    inputs
        Imported resources, as in `Device.run`.
    update
        Called before each frame with its number; returns further arguments of `Compiled.run`: `inputs`, `params`,
        `flags`.
    reload
        Whether a change of the graph's files (shaders, includes, pictures, the graph file) is shown at once. For a
        path or a function.
    size
        Width and height of the window; default: the image's.
    title
        Of the window; default: the graph's name.
    fps
        Most frames per second.
    canvas
        A canvas of rendercanvas, such as a Qt widget; default: a new window.
    mode
        When images are shown: `"fifo"` waits for the screen.
    frames
        Close after so many.
    wait
        Whether to run until every window is closed; else call `rgraph.window.run()` after more of them were opened.

    Returns
    -------
    Viewer
        The window: its canvas, its last frame.

    Raises
    ------
    ImportError
        If rendercanvas is not installed.
    DeviceError
        RG-E107 if there is no display.
    BusyError
        RG-E402 in a function that another window calls, unless `wait` is false.
    RgError
        An error of a frame, which closes the window.
    """
    if update is not None and not callable(update):
        raise TypeError(f"update= is a function of the frame's number, not {type(update).__name__}")
    if frames is not None:
        frames = count("frames", frames, 1)
    if size is not None:
        size = (count("width of size", size[0], 1), count("height of size", size[1], 1))
    if not isinstance(title, str | None):
        raise TypeError(f"title= is text, not {type(title).__name__}")
    if not isinstance(fps, Real) or not fps > 0:
        raise _mistake("RG-E213", f"fps is {fps!r}", "give a number above 0")
    if mode not in get_args(Mode):
        raise _mistake("RG-E202", f"there is no mode called {mode!r}", "there are " + ", ".join(get_args(Mode)))
    if wait:
        _refuse_nested()
    if canvas is None:
        _rendercanvas()
    graphs = _Graphs(_opened() if device is None else device, graph, root, reload)
    given: dict[str, Any] = {} if inputs is None else {"inputs": dict(inputs)}

    def draw() -> tuple[Frame, str] | None:
        graphs.renewed()
        changed = update(graphs.number) if update is not None else None
        if not isinstance(changed, Mapping | None):
            kind = type(changed).__name__
            raise TypeError(f"update= returns arguments of Compiled.run as a dict, or None, and returned a {kind}")
        more = dict(changed or {})
        if "inputs" in more:
            more["inputs"] = {**given.get("inputs", {}), **more["inputs"]}
        frame = graphs.run(viewer.window is None, {**given, **more})
        graphs.number += 1
        return frame, graphs.root

    viewer = Viewer(
        graphs.device,
        draw,
        canvas=canvas,
        title=title or graphs.compiled.plan.graph_name,
        size=size or graphs.size,
        fps=fps,
        mode=mode,
        frames=frames,
    )
    if wait:
        viewer.run()
    return viewer


def _opened() -> Device:
    """A device for windows; one without where the driver has none."""
    try:
        return Device(windows=True)
    except DeviceError as error:
        if error.code != "RG-E107":
            raise
        return Device()


def _refuse_nested() -> None:
    """Refuses to wait for windows in a function that their event loop calls."""
    if _RUNNING:
        hint = "pass wait=False: the loop that runs shows the new window too"
        message = "a function of a window waits for the event loop that waits for it"
        raise BusyError(f"RG-E402 {message}\n  help: {hint}", "RG-E402", hint=hint)


def run(viewers: Iterable[Viewer] | None = None) -> None:
    """Run until every window is closed.

    Parameters
    ----------
    viewers
        Windows whose errors are raised here; default: all.

    Raises
    ------
    BusyError
        RG-E402 in a function that such a run calls.
    BaseException
        The first error that closed a window.
    """
    _refuse_nested()
    known = list(_OPEN) if viewers is None else list(viewers)
    for loop in {id(one.loop): one.loop for one in known}.values():
        _RUNNING.append(loop)
        try:
            loop.run()
        finally:
            _RUNNING.pop()
    for one in known:
        if one.error is not None:
            raise one.error
