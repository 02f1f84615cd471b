"""Resolves of multisampled images."""

from __future__ import annotations

from typing import Literal, overload

from rgraph._core import Format, Image, Module, Pass
from rgraph.passes._mistake import known, ready_made, refuse
from rgraph.passes._picture import ImageLike, picture, same_size, scalar_of
from rgraph.passes._shader import Queue, draws, per_texel, text

__all__ = ["resolve"]

_COMBINE = {
    "average": "result + other",
    "min": "min(result, other)",
    "max": "max(result, other)",
    "sample_zero": "result",
}


@overload
def resolve(
    g: Module,
    name: str,
    source: ImageLike,
    target: None = None,
    *,
    mode: Literal["average", "min", "max", "sample_zero"] = "average",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Image: ...
@overload
def resolve(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike,
    *,
    mode: Literal["average", "min", "max", "sample_zero"] = "average",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def resolve(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike | None = None,
    *,
    mode: Literal["average", "min", "max", "sample_zero"] = "average",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass | Image:
    """Resolve the samples of each texel to one value, as a pass `name/resolve`.

    A pass that draws resolves for free at its end, with `resolve=` of `Module.raster`. Use this function for images
    drawn by several passes, for depth, and for sample counts that the device cannot resolve.

    Parameters
    ----------
    g
        Graph or module that the pass is declared in.
    name
        Prefix of the pass's name, and name of a new image.
    source
        An image with several samples.
    target
        Image to write, of the same size, one sample, and the same kind of numbers (a depth may become real numbers
        and the other way round); default: a new image `name`.
    mode
        `"average"` (not of integers), `"min"`, `"max"` or `"sample_zero"`.
    format
        Format of a new image; default: the source's.
    queue
        See `Module.add_pass`; default: graphics if the target's format requires it, else compute.

    Returns
    -------
    Pass or Image
        The pass, or the new image if `target` is left out.

    Raises
    ------
    GraphError
        If an image is unsuitable. The graph is left unchanged.
    """
    src = picture(g, name, "source", source, only="any", samples=True)
    known(name, "mode", mode, ("average", "min", "max", "sample_zero"))
    dst = src if target is None else picture(g, name, "target", target, only="any")
    same_size(name, src, "target", dst)
    to = dst.format if target is not None or format is None else Format(format)
    if scalar_of(src.format) != scalar_of(to) or "stencil" in (src.format.numbers, to.numbers):
        says = (src.image, f"of {src.format.name}")
        refuse("RG-E207", name, f"{src.format.name} cannot become {to.name}", "take the same kind of numbers", says)
    if mode == "average" and scalar_of(src.format) != "f32":
        says = (src.image, f"of {src.format.name}")
        refuse("RG-E207", name, f"integers of {src} have no average", 'set mode="min", "max" or "sample_zero"', says)
    draws(name, to, queue, None if target is None else dst.image)
    if target is None:
        new = g.image(name, like=src.image, format=to.name)
        dst = picture(g, name, "target", new, only="any")
    depth = src.format.numbers == "depth"
    shader = text(
        "resolve",
        kind="texture_depth_multisampled_2d" if depth else f"texture_multisampled_2d<{scalar_of(src.format)}>",
        fill=", 0.0, 0.0, 1.0" if depth else "",
        scalar=scalar_of(src.format),
        samples=src.samples,
        combine=_COMBINE[mode],
        scale=f" / {src.samples}.0" if mode == "average" else "",
    )
    done = per_texel(g, name, "resolve", shader, dst, queue, source=src.part)
    return dst.image if target is None else done
