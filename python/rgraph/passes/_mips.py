"""Mip chains."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from rgraph._core import Image, Module, Pass, View
from rgraph.passes._mistake import known, ready_made, refuse
from rgraph.passes._picture import ImageLike, picture
from rgraph.passes._shader import Queue, draws, per_texel, text

__all__ = ["generate_mips"]

_FIRST = "textureLoad(source, 2 * at, 0)"
#: The first value, and how a finer texel changes it. WGSL has no literal of an infinity: extremes begin with a texel.
_COMBINE = {
    "mean": ("vec4<f32>(0.0)", "result + weight * finer"),
    "min": (_FIRST, "min(result, finer)"),
    "max": (_FIRST, "max(result, finer)"),
}


@ready_made
def generate_mips(
    g: Module, name: str, image: ImageLike, *, reduce: Literal["mean", "min", "max"] = "mean", queue: Queue = None
) -> Pass:
    """Fill the mips of an image from the finest one down.

    Passes `name/mip1` …, or `name/layer0/mip1` … of an image with layers.

    Texels are weighted by the area that they cover, so sizes that are no powers of two neither shift nor lose a
    row. sRGB formats are averaged in linear light.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names.
    image
        An image with several mips and real numbers; or some of its layers, such as `image.layer(0)`.
    reduce
        How finer texels become a coarser one: their mean, minimum or maximum (for depth pyramids).
    queue
        See `Module.add_pass`; default: graphics if the format requires it, else compute.

    Returns
    -------
    Pass
        The pass that writes the coarsest mip of the last layer.

    Raises
    ------
    GraphError
        If the image has one mip only, or is unsuitable. The graph is left unchanged.

    References
    ----------
    Guthe, Heckbert, "Non-Power-of-Two Mipmap Creation", NVIDIA, 2005: three texels along axes of odd length.
    """
    known(name, "reduce", reduce, tuple(_COMBINE))
    given = g.find(image) if isinstance(image, str) else image
    whole = given.resource if isinstance(given, View) else given
    if not isinstance(whole, Image):
        refuse("RG-E218", name, "image is no image", "give an image with mips")
    first, end = (isinstance(given, View) and given.layer_range) or (0, whole.layer_count)
    levels = whole.mip_count
    if levels == 1:
        refuse("RG-E209", name, f'image "{whole.name}" has one mip', 'declare it with mips="full"', (whole, "one mip"))
    layers = [given] if end - first == 1 and isinstance(given, View) else [whole.layer(at) for at in range(first, end)]
    pictures = [[picture(g, name, "image", layer.mip(level)) for level in range(levels)] for layer in layers]
    draws(name, pictures[0][0].format, queue, whole)
    start, combine = _COMBINE[reduce]
    shader = text("mip", first=start, combine=combine)
    for layer, chain in enumerate(pictures, first):
        step = f"layer{layer}/mip" if whole.layer_count > 1 else "mip"
        for level, (finer, coarser) in enumerate(pairwise(chain), 1):
            done = per_texel(g, name, f"{step}{level}", shader, coarser, queue, source=finer.part)
    return done
