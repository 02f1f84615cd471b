"""Accumulation over frames."""

from __future__ import annotations

from typing import Any, Literal, overload

from rgraph._core import Format, Image, Module, Pass
from rgraph.passes._mistake import known, number, ready_made, refuse
from rgraph.passes._picture import ImageLike, made, picture, same_size, working
from rgraph.passes._shader import Queue, computes, draws, per_texel, text

__all__ = ["temporal"]

_CLAMPS = {"box": "false", "variance": "true", "none": "false"}
_MOTION = "@group(0) @binding(5) var motion: texture_2d<f32>;"


@overload
def temporal(
    g: Module,
    name: str,
    source: ImageLike,
    target: None = None,
    *,
    motion: ImageLike | None = None,
    blend: float = 0.1,
    clamp: Literal["box", "variance", "none"] = "box",
    gamma: float = 1.25,
    filter: Literal["linear", "catmull_rom"] = "linear",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Image: ...
@overload
def temporal(
    g: Module,
    name: str,
    source: ImageLike,
    target: Image,
    *,
    motion: ImageLike | None = None,
    blend: float = 0.1,
    clamp: Literal["box", "variance", "none"] = "box",
    gamma: float = 1.25,
    filter: Literal["linear", "catmull_rom"] = "linear",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def temporal(
    g: Module,
    name: str,
    source: ImageLike,
    target: Image | None = None,
    *,
    motion: ImageLike | None = None,
    blend: float = 0.1,
    clamp: Literal["box", "variance", "none"] = "box",
    gamma: float = 1.25,
    filter: Literal["linear", "catmull_rom"] = "linear",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass | Image:
    """Blend each frame with its predecessors, against noise and aliasing: passes `name/mix` and `name/count`.

    The past is read from the target's history. Motion vectors follow moving parts; colours of parts that are gone are
    clamped to those around the texel.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new image.
    source
        This frame's colours; a format with real numbers.
    target
        Image to write and to remember, with one mip and the same size; default: a new image `name`.
    motion
        Motion of each texel since the last frame, as shares of the image's (width, height) in the first two
        channels: the point at `uv` was at `uv - motion`. Default: nothing moves.
    blend
        Share of this frame, above 0 and at most 1. Until there are `1 / blend` frames, it is their mean. The mean
        restarts in a run with `params={("name/mix", "control"): 1, ("name/count", "control"): 1}`.
    clamp
        Clamp of the past: `"box"` to minimum and maximum of the 3 × 3 texels around; `"variance"` to `gamma`
        standard deviations around their mean; `"none"`.
    gamma
        See `clamp`.
    filter
        Filter of the past: `"linear"`, or `"catmull_rom"`, which stays sharp.
    format
        Format of a new image; default: floats of the source's size, 16 bits at least.
    queue
        See `Module.add_pass`; default: graphics if the target's format requires it, else compute.

    Returns
    -------
    Pass or Image
        The pass `name/mix`, or the new image if `target` is left out.

    Raises
    ------
    GraphError
        If an image is unsuitable, or a number is out of range. The graph is left unchanged.

    References
    ----------
    Karis, "High Quality Temporal Supersampling", SIGGRAPH 2014: neighbourhoods in YCoCg. Salvi, "An Excursion in
    Temporal Supersampling", GDC 2016: variance. Jimenez, "Filmic SMAA: Sharp Morphological and Temporal
    Antialiasing", SIGGRAPH 2016: Catmull-Rom by five samples.
    """
    src = picture(g, name, "source", source)
    number(name, "blend", blend, 0.0, 1.0, open=True)
    number(name, "gamma", gamma, 0.0, open=True)
    known(name, "clamp", clamp, tuple(_CLAMPS))
    known(name, "filter", filter, ("linear", "catmull_rom"))
    moved = None if motion is None else picture(g, name, "motion", motion)
    dst = src if target is None else picture(g, name, "target", target)
    same_size(name, src, "target", dst)
    if moved is not None:
        same_size(name, src, "motion", moved)
    if moved is not None and moved.format.components < 2:
        help = "give (x, y) in two channels, as rg16float"
        refuse("RG-E207", name, f"motion {moved} has one channel", help, (moved.image, f"of {moved.format.name}"))
    if target is not None and (not isinstance(target, Image) or target.mip_count != 1):
        help = "give a whole image of one mip"
        refuse("RG-E209", name, f"target {dst} is part of an image", help, (dst.image, "here"))
    if target is not None and dst.image == src.image:
        refuse("RG-E217", name, f"source and target are both {src}", "write another image", (src.image, "here"))
    format = format or working(src.format)
    draws(name, Format(format) if target is None else dst.format, queue, None if target is None else dst.image)
    if target is None:
        dst = made(g, name, src, format=format)
    state = g.buffer(f"{name}/frames", 4, persistent=True)
    control = {"reset": 0}
    shader = text(
        "temporal",
        motion="" if moved is None else _MOTION,
        moved="vec2<f32>(0.0)" if moved is None else "textureLoad(motion, at, 0).xy",
        history="bilinear(uv)" if filter == "linear" else "catmull_rom(uv)",
        clamp="" if clamp == "none" else "past = vec4<f32>(bounded(past.rgb, at, size), past.a);",
        variance=_CLAMPS[clamp],
    )
    more: dict[str, Any] = {} if moved is None else {"motion": moved.part}
    push = {"blend": float(blend), "gamma": float(gamma)}
    past = dst.image.previous()
    more |= {"current": src.part, "history": past, "state": state, "control": control}
    done = per_texel(g, name, "mix", shader, dst, queue, push, **more)
    on = computes(name, queue)
    g.compute(f"{name}/count", text("count"), groups=1, queue=on, state=state, control=control)
    return dst.image if target is None else done
