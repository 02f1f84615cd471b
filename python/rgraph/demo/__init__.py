"""Demos: a deferred frame, a photo laboratory, a fluid; each one graph, and each a module to look into.

`rgraph demo` in a shell runs them; `rgraph.demo.deferred.build`, `rgraph.demo.photo.develop` and
`rgraph.demo.fluid.build` are their front doors in Python.
"""

from __future__ import annotations

import argparse

__all__ = ["add_arguments", "main"]

DEMOS = {
    "deferred": "a frame of a deferred renderer: shadows, ambient occlusion, clustered lights, bloom, exposure",
    "photo": "a photo of yours: noise, local contrast, bloom, film, vignette",
    "fluid": "ink in a fluid: two hundred small dispatches per frame",
}
FILMS = ("neutral", "warm", "cool", "vivid", "faded", "silver")


def _size(text: str) -> tuple[int, int]:
    """Width and height, as `1280x720`."""
    width, separator, height = text.lower().replace("×", "x").partition("x")
    if not (separator and width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"a size is WIDTHxHEIGHT in texels, as 1280x720, not {text!r}")
    size = int(width), int(height)
    if not all(64 <= axis <= 16384 for axis in size):
        raise argparse.ArgumentTypeError(f"each side is 64 to 16384 texels, not {text}")
    return size


def _count(text: str) -> int:
    """A number of frames."""
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"a number of frames is a whole number of at least 1, not {text!r}")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `rgraph demo` understands."""
    parser.add_argument("demo", nargs="?", choices=sorted(DEMOS), default="deferred", help="which demo (deferred)")
    parser.add_argument("input", nargs="?", metavar="PICTURE", help="photo: the picture")
    parser.add_argument("-o", "--output", metavar="FILE", help="picture (.png, .jpg) or video (.mp4)")
    parser.add_argument("--window", action="store_true", help="show it in a window until that is closed")
    parser.add_argument("--list", action="store_true", help="list the demos and the images that --show knows")
    parser.add_argument("--frames", type=_count, metavar="N", help="frames of a video, or before a still picture")
    parser.add_argument("--size", type=_size, metavar="WxH", help="size of the picture in texels")
    parser.add_argument("--device", metavar="DEVICE", help="device: index, name:…, uuid:… (or RGRAPH_DEVICE)")
    parser.add_argument(
        "--show", metavar="NAME", help="an image of the graph instead: NAME, NAME.mip2, NAME.layer1 (or RGRAPH_SHOW)"
    )
    parser.add_argument(
        "--validate", action="store_true", help="enable the validation layer; its messages are findings"
    )
    parser.add_argument(
        "--report", action="store_true", help="also write plan, viewer and timeline, and print the plan"
    )
    photo = parser.add_argument_group("photo")
    photo.add_argument("--film", choices=FILMS, help="look of the film (neutral)")
    for name, what in (
        ("denoise", "width of the filter against noise (0.5)"),
        ("clarity", "local contrast (0.35)"),
        ("bloom", "light that is spread about (0.06)"),
        ("vignette", "darker rim (0.2)"),
        ("grain", "grain of the film (0.1)"),
    ):
        photo.add_argument(f"--{name}", type=float, metavar="0…1", help=what)


def main(arguments: argparse.Namespace) -> int:
    """Run `rgraph demo`.

    Returns
    -------
    int
        Exit status: 0 good, 1 the validation layer found something, 2 usage, 3 no device.
    """
    from rgraph.demo import _run

    return _run.run(arguments)
