"""Tone mapping."""

from __future__ import annotations

from typing import Literal, overload

from rgraph._core import Buffer, Format, Image, Module, Pass, View
from rgraph.passes._mistake import known, number, ready_made, refuse
from rgraph.passes._picture import BufferLike, ImageLike, data, made, picture, same_size
from rgraph.passes._shader import Queue, draws, per_texel, text

__all__ = ["tone_map"]

_OPERATORS = ("linear", "reinhard", "reinhard_extended", "reinhard_luminance", "aces", "aces_hill", "agx")
# Slope, power and saturation of the looks of AgX.
_LOOKS = {
    "none": ((1.0, 1.0, 1.0), 1.0, 1.0),
    "golden": ((1.0, 0.9, 0.5), 0.8, 0.8),
    "punchy": ((1.0, 1.0, 1.0), 1.35, 1.4),
}


@overload
def tone_map(
    g: Module,
    name: str,
    source: ImageLike,
    target: None = None,
    *,
    operator: Literal[
        "linear", "reinhard", "reinhard_extended", "reinhard_luminance", "aces", "aces_hill", "agx"
    ] = "aces",
    exposure: float | BufferLike = 1.0,
    white: float = 4.0,
    look: str = "none",
    encode: bool | None = None,
    format: Format | str | None = None,
    queue: Queue = None,
) -> Image: ...
@overload
def tone_map(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike,
    *,
    operator: Literal[
        "linear", "reinhard", "reinhard_extended", "reinhard_luminance", "aces", "aces_hill", "agx"
    ] = "aces",
    exposure: float | BufferLike = 1.0,
    white: float = 4.0,
    look: str = "none",
    encode: bool | None = None,
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def tone_map(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike | None = None,
    *,
    operator: Literal[
        "linear", "reinhard", "reinhard_extended", "reinhard_luminance", "aces", "aces_hill", "agx"
    ] = "aces",
    exposure: float | BufferLike = 1.0,
    white: float = 4.0,
    look: str = "none",
    encode: bool | None = None,
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass | Image:
    """Map scene-linear colours to those of a display, as one pass `name/map`.

    Negative colours count as black, results are clamped to 0 … 1, alpha is kept.

    Parameters
    ----------
    g
        Graph or module that the pass is declared in.
    name
        Prefix of the pass's name, and name of a new image.
    source
        Colours, scene-linear Rec. 709; a format with real numbers.
    target
        Image to write, of the same size; default: a new image `name` of `format`.
    operator
        `"linear"` only clamps; `"reinhard"` is x / (1 + x) per channel; `"reinhard_extended"` maps `white` to 1,
        `"reinhard_luminance"` the same by luminance, which keeps hues; `"aces"` is Narkowicz's curve; `"aces_hill"`
        is Hill's fit of the reference and output transforms of ACES; `"agx"` is Wrensch's fit of Sobotka's AgX.
    exposure
        Factor applied to colours first: a number, or a buffer that begins with it as a 32-bit float, such as that of
        `passes.exposure`. A run changes a number by `params={("name/map", "exposure"): 2.0}`.
    white
        Smallest value that becomes 1; of the two extended operators only.
    look
        Look of AgX: `"none"`, `"golden"` or `"punchy"`.
    encode
        If true, results are sRGB encoded; default: true for `unorm` formats without `-srgb`.
    format
        Format of a new image; default: `"rgba8unorm-srgb"`, or `"rgba8unorm"` on a compute queue.
    queue
        See `Module.add_pass`; default: graphics if the target's format requires it, else compute.

    Returns
    -------
    Pass or Image
        The pass, or the new image if `target` is left out.

    Raises
    ------
    GraphError
        If an image is unsuitable, a word unknown or a number out of range. The graph is left unchanged.

    References
    ----------
    Reinhard, Stark, Shirley, Ferwerda, "Photographic Tone Reproduction for Digital Images", SIGGRAPH 2002, (3), (4).
    Narkowicz, "ACES Filmic Tone Mapping Curve", 2016; its colours are meant to be exposed by 0.6 beforehand.
    Hill's fit: MJP and Neubelt, BakingLab, ACES.hlsl, 2016.
    Wrensch, "Minimal AgX Implementation", 2023, after Sobotka's AgX: exponent 2.2 makes its values linear again.
    """
    src = picture(g, name, "source", source)
    known(name, "operator", operator, _OPERATORS)
    known(name, "look", look, tuple(_LOOKS))
    number(name, "white", white, 0.0, open=True)
    if isinstance(exposure, Buffer | View | str):
        _, first, size = data(g, name, "exposure", exposure)
        if size < 4 or first % 4:
            help = "give a buffer that begins with a 32-bit float"
            refuse("RG-E205", name, f"exposure has {size} bytes from {first} on", help)
        scale: object = exposure
    else:
        scale = number(name, "exposure", exposure, 0.0)
    format = format or ("rgba8unorm-srgb" if queue in (None, "graphics") else "rgba8unorm")
    if target is None:
        draws(name, Format(format), queue)
        dst = made(g, name, src, format=format)
    else:
        dst = picture(g, name, "target", target)
        same_size(name, src, "target", dst)
        draws(name, dst.format, queue, dst.image)
    if encode is None:
        encode = dst.format.numbers == "unorm" and not dst.format.srgb
    slope, power, saturation = _LOOKS[look]
    shader = text(
        "tone",
        operator=operator,
        encode="encode" if encode else "linear",
        white=float(white),
        slope=", ".join(map(str, slope)),
        power=power,
        saturation=saturation,
    )
    done = per_texel(g, name, "map", shader, dst, queue, source=src.part, exposure=scale)
    return dst.image if target is None else done
