"""What all demos do at the command line: open a device, run frames, write pictures, videos and reports."""

from __future__ import annotations

import argparse
import os
import struct
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Literal, NamedTuple

import rgraph
from rgraph._save import make_folder
from rgraph.cli import UsageError
from rgraph.cli._terminal import Progress, say, tell
from rgraph.demo import DEMOS, _report, _show, deferred, fluid

VIDEOS = (".mp4", ".mkv", ".webm", ".mov")
PICTURES = (".png", ".jpg", ".jpeg")
PHOTO = ("film", "denoise", "clarity", "bloom", "vignette", "grain")
"""Options of the photo demo only."""
RATE = 30.0
"""Pictures of a video a second."""

Render = Callable[[float], rgraph.Frame]
"""Runs a frame, so many seconds after the one before."""


class Demo(NamedTuple):
    """What a demo brings to `run`."""

    size: tuple[int, int]
    """Default size."""
    still: int
    """Frames before a still picture."""
    step: float
    """Seconds between them."""
    root: str
    """The image that is its picture."""
    build: Callable[[tuple[int, int]], rgraph.Graph]
    """Declares its graph."""
    start: Callable[[rgraph.Device, rgraph.Graph], tuple[rgraph.Compiled, Render]]
    """Compiles it, and makes what runs its frames."""


def _deferred(device: rgraph.Device, graph: rgraph.Graph) -> tuple[rgraph.Compiled, Render]:
    renderer = deferred.Renderer(device, graph.size, graph=graph)
    return renderer.compiled, renderer.render


def _fluid(device: rgraph.Device, graph: rgraph.Graph) -> tuple[rgraph.Compiled, Render]:
    simulation = fluid.Simulation(device, graph)
    return simulation.compiled, simulation.render


KNOWN = {
    "deferred": Demo((1280, 720), deferred.STILL_FRAMES, 0.0, "frame", deferred.build, _deferred),
    "fluid": Demo((960, 540), 100, fluid.STEP, "picture", fluid.build, _fluid),
}


def _listing() -> None:
    from rgraph.demo import photo

    graphs = {name: demo.build(demo.size) for name, demo in KNOWN.items()}
    graphs["photo"] = photo.build(memoryview(bytes(64 * 64 * 3)).cast("B", (64, 64, 3)))
    for name, about in DEMOS.items():
        say(f"{name:9} {about}")
        say(f"{'':9} {len(graphs[name].passes)} passes · --show {', '.join(_show.names(graphs[name]))}")


@contextmanager
def video(path: Path, size: tuple[int, int], rate: float) -> Iterator[Callable[[bytes], None]]:
    """Take pictures of RGBA bytes and write them as a video.

    Raises
    ------
    UsageError
        If a side is odd.
    """
    imageio_ffmpeg = import_module("imageio_ffmpeg")
    if size[0] % 2 or size[1] % 2:
        raise UsageError(f"a video has even sides, not {size[0]}x{size[1]}", "give others by --size")
    writer = imageio_ffmpeg.write_frames(
        str(path), size, pix_fmt_in="rgba", fps=rate, quality=8, macro_block_size=2, ffmpeg_log_level="error"
    )
    writer.send(None)
    try:
        yield lambda frame: writer.send(frame)
    finally:
        writer.close()


def save(path: Path, picture: rgraph.Array) -> None:
    """Write a picture of RGBA bytes as PNG, or as JPEG with pillow."""
    if path.suffix.lower() == ".png":
        picture.save(path)
        return
    size = (picture.shape[1], picture.shape[0])
    import_module("PIL.Image").frombytes("RGBA", size, picture.tobytes()).convert("RGB").save(
        path, quality=95, subsampling=0
    )


def run(arguments: argparse.Namespace) -> int:
    """Run a demo as the arguments say; returns the exit status."""
    if arguments.list:
        _listing()
        return 0
    output = Path(arguments.output or f"{arguments.demo}.png")
    kinds = PICTURES if arguments.demo == "photo" else PICTURES + VIDEOS
    if output.suffix.lower() not in kinds:
        raise UsageError(f"{output}: nothing is written to such a file", f"there are {', '.join(kinds)}")
    _needed(output)
    _fitting(arguments)
    if arguments.demo == "photo":
        return _photo(arguments, output)
    demo = KNOWN[arguments.demo]
    graph = demo.build(arguments.size or demo.size)
    return _frames(arguments, demo, graph, output)


def _needed(output: Path) -> None:
    """See that the packages which write a file are there, before anything is done.

    Raises
    ------
    UsageError
        If one is not; with the line that installs it.
    """
    kind = output.suffix.lower()
    if kind == ".png":
        return
    package, extra = ("imageio_ffmpeg", "video") if kind in VIDEOS else ("PIL", "io")
    try:
        import_module(package)
    except ImportError:
        message = f"{output}: {package} is not installed, which writes {kind}; .png needs nothing"
        raise UsageError(message, f'pip install "rgraph-vulkan[{extra}]"') from None


def _fitting(arguments: argparse.Namespace) -> None:
    """Check that the arguments belong to the demo.

    Raises
    ------
    UsageError
        If photo has no picture, another demo has one, or an option is of another demo.
    """
    is_photo = arguments.demo == "photo"
    if arguments.window and (is_photo or arguments.output or arguments.report):
        raise UsageError(
            "--window shows deferred or fluid, and writes nothing", "leave --window or -o and --report out"
        )
    if is_photo and arguments.input is None:
        raise UsageError("photo needs a picture", "rgraph demo photo IN.jpg -o OUT.png")
    if not is_photo and arguments.input is not None:
        hint = f"leave {arguments.input} out, or run rgraph demo photo"
        raise UsageError(f"{arguments.demo} takes no picture", hint)
    for option in ("frames", "size") if is_photo else PHOTO:
        if getattr(arguments, option) is not None:
            raise UsageError(f"{arguments.demo} has no --{option}", f"leave --{option} out")


def _open(arguments: argparse.Namespace) -> rgraph.Device:
    measure: Literal["off", "batches"] = "batches" if arguments.report else "off"
    validate = True if arguments.validate else None
    return rgraph.Device(arguments.device, validate=validate, measure=measure, windows=arguments.window, rays=False)


def _shown(arguments: argparse.Namespace, graph: rgraph.Graph, root: str) -> str:
    """The image that becomes the picture, made if it must be."""
    what = arguments.show or os.environ.get("RGRAPH_SHOW")
    return _show.add(graph, what).name if what else root


def _found(arguments: argparse.Namespace, device: rgraph.Device) -> int:
    """Exit status by the messages of the driver and the validation layer."""
    for message in device.messages:
        tell(message)
    return 1 if arguments.validate and device.messages else 0


def _frames(arguments: argparse.Namespace, demo: Demo, graph: rgraph.Graph, output: Path) -> int:
    declared = graph.clone()
    root = _shown(arguments, graph, demo.root)
    if arguments.window:
        return _windowed(arguments, demo, graph, root)
    make_folder(output.parent)
    try:
        device = _open(arguments)
    except rgraph.DeviceError:
        if arguments.report:
            _planned(graph, output)
        raise
    is_video = output.suffix.lower() in VIDEOS
    frames = arguments.frames or (120 if is_video else demo.still)
    with device:
        compiled, render = demo.start(device, graph)
        size = "x".join(map(str, graph.size))
        passes = len(compiled.plan.pass_names)
        tell(f"{arguments.demo} · {size} · {passes} passes · {device.info.name}")
        begun = time.monotonic()
        with Progress(frames, "frames") as progress:
            if is_video:
                report = _film(render, root, output, frames, progress, passes)
            else:
                report = _still(render, demo.step, root, output, frames, progress, passes)
        took = time.monotonic() - begun
        tell(f"{frames} frames in {took:.1f} s · {frames * passes / took:.0f} passes/s")
        files = [output]
        if arguments.report:
            images = _report.previews(device, declared, lambda *what: demo.start(*what)[1], min(frames, 6))
            files += _report.write(output, graph, compiled.plan, report, images)
            del images
            _report.summary(compiled.plan, report)
        say("\n".join(map(str, files)))
        return _found(arguments, device)


def _windowed(arguments: argparse.Namespace, demo: Demo, graph: rgraph.Graph, root: str) -> int:
    """A demo in a window."""
    try:
        from rgraph.demo._window import view

        with _open(arguments) as device:
            view(arguments, demo, graph, root, device)
            return _found(arguments, device)
    except ImportError as error:
        raise UsageError(str(error)) from None


def _planned(graph: rgraph.Graph, output: Path) -> None:
    """The half that needs no device."""
    plan = graph.bake("discrete")
    files = _report.write(output, graph, plan)
    _report.summary(plan)
    say("\n".join(map(str, files)))


def _still(
    render: Render, step: float, root: str, output: Path, frames: int, progress: Progress, passes: int
) -> rgraph.Report:
    """Write the last of some frames."""
    begun = time.monotonic()
    for at in range(frames):
        frame = render(step)
        frame.wait()
        progress.step(note=f"· {(at + 1) * passes / (time.monotonic() - begun):.0f} passes/s")
    save(output, frame[root])
    return frame.report


def _film(render: Render, root: str, output: Path, frames: int, progress: Progress, passes: int) -> rgraph.Report:
    """Write a video."""
    begun = time.monotonic()
    frame = render(0.0)
    picture = frame[root]
    with video(output, (picture.shape[1], picture.shape[0]), RATE) as take:
        for at in range(frames):
            take(picture.tobytes())
            progress.step(note=f"· {(at + 1) * passes / (time.monotonic() - begun):.0f} passes/s")
            if at < frames - 1:
                frame = render(1.0 / RATE)
                picture = frame[root]
    return frame.report


def _photo(arguments: argparse.Namespace, output: Path) -> int:
    from rgraph.cli._pictures import read
    from rgraph.demo import photo

    numbers = read(arguments.input)
    if numbers.letter == "e":
        # Half floats, as EXR has them: buffers of Python have no letter for them.
        values = struct.unpack(f"={len(numbers.data) // 2}e", numbers.data)
        numbers = numbers._replace(letter="f", data=array("f", values).tobytes())
    picture = memoryview(numbers.data).cast(numbers.letter, numbers.shape)  # type: ignore[call-overload]
    options = {name: getattr(arguments, name) for name in PHOTO}
    given = {name: value for name, value in options.items() if value is not None}
    try:
        graph = photo.build(picture, **given)
    except ValueError as error:
        raise UsageError(f"{arguments.input}: {error}") from None
    root = _shown(arguments, graph, "developed")
    make_folder(output.parent)
    with _open(arguments) as device:
        tell(f"photo · {'x'.join(map(str, graph.size))} · {len(graph.passes)} passes · {device.info.name}")
        compiled = device.compile(graph)
        frame = compiled.run()
        save(output, frame[root])
        files = [output]
        if arguments.report:
            files += _report.write(output, graph, compiled.plan, frame.report)
            _report.summary(compiled.plan, frame.report)
        del frame
        say("\n".join(map(str, files)))
        return _found(arguments, device)
