"""Bloom: the glow of bright things."""

from __future__ import annotations

from typing import Literal, overload

from rgraph._core import Format, Image, Module, Pass
from rgraph.passes._mistake import known, number, ready_made, refuse, whole
from rgraph.passes._picture import ImageLike, Picture, made, picture, same_size
from rgraph.passes._shader import Queue, draws, per_texel, text

__all__ = ["bloom"]

_COMPOSE = {"mix": "mix(colour.rgb, light, glow.intensity)", "add": "colour.rgb + glow.intensity * light"}


@overload
def bloom(
    g: Module,
    name: str,
    source: ImageLike,
    target: None = None,
    *,
    levels: int | None = None,
    intensity: float = 0.05,
    mode: Literal["mix", "add"] = "mix",
    scatter: float = 0.7,
    threshold: float = 0.0,
    knee: float = 0.5,
    karis: bool = True,
    format: Format | str | None = None,
    queue: Queue = None,
) -> Image: ...
@overload
def bloom(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike,
    *,
    levels: int | None = None,
    intensity: float = 0.05,
    mode: Literal["mix", "add"] = "mix",
    scatter: float = 0.7,
    threshold: float = 0.0,
    knee: float = 0.5,
    karis: bool = True,
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def bloom(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike | None = None,
    *,
    levels: int | None = None,
    intensity: float = 0.05,
    mode: Literal["mix", "add"] = "mix",
    scatter: float = 0.7,
    threshold: float = 0.0,
    knee: float = 0.5,
    karis: bool = True,
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass | Image:
    """Add a glow to bright parts of a picture, by a chain of halved images down and up again.

    Passes `name/down1` … `name/downN`, `name/upN-1` … `name/up1`, `name/compose`, with images of the same names
    between.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new image.
    source
        Colours, scene-linear; a format with real numbers. Negative values do not glow.
    target
        Image to write, of the same size as the source and not the source; default: a new image `name`.
    levels
        Number of halvings, 1 to 12; default: as many as keep both axes above 7 texels, at most 6.
    intensity
        Strength: a share of the picture (`mode="mix"`), or a factor (`"add"`). A run changes it by
        `params={("name/compose", "glow"): 0.1}`.
    mode
        `"mix"` keeps the picture's brightness as a whole; `"add"` is the usual one with a threshold.
    scatter
        Share of the coarser level in each level, 0 … 1; a larger share makes a wider glow.
    threshold
        Brightness (largest channel) from which texels glow; 0: all.
    knee
        Width of the transition around the threshold, in brightness.
    karis
        If true, the first halving weights samples by 1 / (1 + luminance), against flicker of single bright texels.
    format
        Format of a new image; default: the source's. The chain is of `rgba16float`.
    queue
        See `Module.add_pass`; default: graphics if the target's format requires it, else compute.

    Returns
    -------
    Pass or Image
        The last pass, or the new image if `target` is left out.

    Raises
    ------
    GraphError
        If an image is unsuitable, or a number is out of range. The graph is left unchanged.

    References
    ----------
    Jimenez, "Next Generation Post Processing in Call of Duty: Advanced Warfare", SIGGRAPH 2014, Advances in Real-Time
    Rendering: thirteen samples down, a tent up, Karis average. Levels are mixed (`scatter`) instead of added, so that
    an even picture stays as it is.
    """
    src = picture(g, name, "source", source)
    dst = src if target is None else picture(g, name, "target", target)
    same_size(name, src, "target", dst)
    if target is not None and dst.image == src.image:
        refuse("RG-E217", name, f"source and target are both {src}", "write another image", (src.image, "here"))
    most = max(min(src.size).bit_length() - 1, 1)
    levels = max(min(most - 2, 6), 1) if levels is None else whole(name, "levels", levels, 1, min(most, 12))
    known(name, "mode", mode, tuple(_COMPOSE))
    number(name, "intensity", intensity, 0.0)
    number(name, "scatter", scatter, 0.0, 1.0)
    number(name, "threshold", threshold, 0.0, 65504.0)
    number(name, "knee", knee, 0.0, 65504.0)
    to = dst.format if target is not None or format is None else Format(format)
    draws(name, to, queue, None if target is None else dst.image)
    if target is None:
        dst = made(g, name, src, format=format)

    chain: list[Picture] = [src]
    for level in range(1, levels + 1):
        half = made(g, f"{name}/down{level}", chain[-1], format="rgba16float", scale=0.5)
        shader = text("bloom_down", karis="true" if karis and level == 1 else "false")
        push = {"size": half.size, "threshold": threshold if level == 1 else 0.0, "knee": knee}
        per_texel(g, name, f"down{level}", shader, half, queue, push, source=chain[-1].part)
        chain.append(half)
    coarse = chain[levels]
    for level in range(levels - 1, 0, -1):
        up = made(g, f"{name}/up{level}", chain[level])
        push = {"size": up.size, "scatter": float(scatter)}
        shader = text("bloom_up")
        per_texel(g, name, f"up{level}", shader, up, queue, push, coarse=coarse.part, fine=chain[level].part)
        coarse = up
    shader = text("bloom_compose", compose=_COMPOSE[mode])
    glow = {"intensity": float(intensity)}
    done = per_texel(g, name, "compose", shader, dst, queue, source=src.part, coarse=coarse.part, glow=glow)
    return dst.image if target is None else done
