"""What all demos do at the command line: open a device, run frames, write pictures, videos and reports."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import rgraph
from rgraph.cli import UsageError
from rgraph.cli._terminal import Progress, say, tell
from rgraph.demo import DEMOS, _show, deferred

VIDEO = (".mp4", ".mkv", ".webm", ".mov")


class Demo(NamedTuple):
    """What a demo brings to `run`."""

    size: tuple[int, int]
    """Default size."""
    still: int
    """Frames before a still picture."""
    root: str
    """The image that is its picture."""
    build: Callable[[tuple[int, int]], rgraph.Graph]
    """Declares its graph."""
    start: Callable[[rgraph.Device, rgraph.Graph, tuple[int, int]], Callable[[float], rgraph.Frame]]
    """Makes the function that runs a frame, so many seconds after the one before."""


def _deferred(device: rgraph.Device, graph: rgraph.Graph, size: tuple[int, int]) -> Callable[[float], rgraph.Frame]:
    return deferred.Renderer(device, size, graph=graph).render


KNOWN = {"deferred": Demo((1280, 720), deferred.STILL_FRAMES, "frame", deferred.build, _deferred)}


def _listing() -> None:
    for name, about in DEMOS.items():
        say(f"{name:10} {about}")
        if name in KNOWN:
            images = _show.names(KNOWN[name].build(KNOWN[name].size))
            say(f"{'':10} --show {', '.join(images)}")


@contextmanager
def video(path: Path, size: tuple[int, int], rate: float) -> Iterator[Callable[[bytes], None]]:
    """Take frames of RGBA bytes and write them as a video.

    Raises
    ------
    UsageError
        Without imageio-ffmpeg, which brings the encoder; or if a side is odd.
    """
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError:
        raise UsageError("videos need imageio-ffmpeg", "pip install 'rgraph-vulkan[video]'") from None
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


def run(arguments: argparse.Namespace) -> int:
    """Run a demo as the arguments say; returns the exit status."""
    if arguments.list:
        _listing()
        return 0
    demo = KNOWN[arguments.demo]
    size = arguments.size or demo.size
    output = Path(arguments.output or f"{arguments.demo}.png")
    is_video = output.suffix.lower() in VIDEO
    if not is_video and output.suffix.lower() != ".png":
        raise UsageError(f"{output}: not a kind of file known here", f"a picture is .png, a video {', '.join(VIDEO)}")
    graph = demo.build(size)
    root = demo.root
    if show := arguments.show or os.environ.get("RGRAPH_SHOW"):
        root = _show.add(graph, show).name
    frames = arguments.frames or (120 if is_video else demo.still)
    output.parent.mkdir(parents=True, exist_ok=True)
    with rgraph.Device(arguments.device, validate=True if arguments.validate else None) as device:
        tell(f"{arguments.demo} {size[0]}x{size[1]} on {device.info.name}")
        render = demo.start(device, graph, size)
        with Progress(frames, "frames") as progress:
            if is_video:
                _film(render, root, output, frames, progress)
            else:
                _still(render, root, output, frames, progress)
        say(str(output))
        tell("\n".join(device.messages))
        return 1 if arguments.validate and device.messages else 0


def _still(render: Callable[[float], rgraph.Frame], root: str, output: Path, frames: int, progress: Progress) -> None:
    """Write the last of some frames in which time stands still."""
    for at in range(frames):
        frame = render(0.0)
        frame.wait()
        progress.step()
        if at == frames - 1:
            frame[root].save(output)


def _film(render: Callable[[float], rgraph.Frame], root: str, output: Path, frames: int, progress: Progress) -> None:
    """Write a video of 30 pictures a second."""
    first = render(0.0)[root]
    size = (first.shape[1], first.shape[0])
    with video(output, size, 30.0) as take:
        take(first.tobytes())
        progress.step()
        for _ in range(frames - 1):
            take(render(1.0 / 30.0)[root].tobytes())
            progress.step()
