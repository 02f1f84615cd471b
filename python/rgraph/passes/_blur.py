"""Gaussian blur of any radius."""

from __future__ import annotations

import math
from array import array
from typing import Any, Literal, TypeAlias, overload

from rgraph._core import Format, Image, Module, Pass, Sampler
from rgraph.passes._mistake import known, number, ready_made, refuse, whole
from rgraph.passes._picture import ImageLike, Picture, made, picture, same_size, working
from rgraph.passes._shader import Queue, draws, per_texel, text

__all__ = ["blur", "gaussian"]

_EDGES = {
    "clamp": "at = clamp(at, 0, length - 1);",
    "repeat": "at = ((at % length) + length) % length;",
    "mirror": "at = ((at % (2 * length)) + 2 * length) % (2 * length); at = min(at, 2 * length - 1 - at);",
    "zero": "if (at < 0 || at >= length) { return vec4<f32>(0.0); }",
}
_ADDRESS: dict[str, Literal["clamp", "repeat", "mirror", "border"]] = {
    "clamp": "clamp",
    "repeat": "repeat",
    "mirror": "mirror",
    "zero": "border",
}
# What every device has: bytes of memory of a workgroup, bytes of a uniform block.
_WORKGROUP, _UNIFORM = 16384, 16384
_MOST_RADIUS = 65535
# Axis, and the step of that name.
_Way: TypeAlias = tuple[int, str]


@ready_made
def gaussian(radius: int, sigma: float) -> list[float]:
    """Weights of a Gaussian, from the middle outwards.

    Parameters
    ----------
    radius
        Half-width in texels, at least 0.
    sigma
        Standard deviation in texels, above 0.

    Returns
    -------
    list of float
        `radius + 1` weights; the first plus twice the others are 1.
    """
    weights = [math.exp(-0.5 * (at / sigma) ** 2) for at in range(radius + 1)]
    total = weights[0] + 2 * sum(weights[1:])
    return [weight / total for weight in weights]


@overload
def blur(
    g: Module,
    name: str,
    source: ImageLike,
    target: None = None,
    *,
    radius: int = 8,
    sigma: float | None = None,
    edge: Literal["clamp", "repeat", "mirror", "zero"] = "clamp",
    method: Literal["auto", "tiled", "linear", "taps"] = "auto",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Image: ...
@overload
def blur(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike,
    *,
    radius: int = 8,
    sigma: float | None = None,
    edge: Literal["clamp", "repeat", "mirror", "zero"] = "clamp",
    method: Literal["auto", "tiled", "linear", "taps"] = "auto",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def blur(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike | None = None,
    *,
    radius: int = 8,
    sigma: float | None = None,
    edge: Literal["clamp", "repeat", "mirror", "zero"] = "clamp",
    method: Literal["auto", "tiled", "linear", "taps"] = "auto",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass | Image:
    """Blur an image with a Gaussian, as two passes `name/rows` and `name/columns`.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new image.
    source
        2-D image of shape (height, width), one layer, a format with real numbers; read, not changed unless it is also
        the target.
    target
        Image to write, of the same size; default: a new image `name`.
    radius
        Half-width of the kernel in texels, 0 to 65535.
    sigma
        Standard deviation in texels; default: `radius / 3`. Weights are normalised to a sum of 1.
    edge
        Texels outside the image: its outermost texels, the image repeated, the image mirrored, or zeros.
    method
        `"tiled"`: a workgroup reads its texels into its own memory, for radii that fit there (280 at most), by
        compute; `"linear"`: a sample between two texels weights both, so radius + 1 samples suffice; they are placed as
        exactly as the device filters, to 1/256 texel at least; `"taps"`: reads every texel. `"auto"`: linear, which
        was the fastest on a GPU, or tiled for 32-bit floats, which is exact; on a driver that runs on the CPU tiled
        is the fastest.
    format
        Format of a new image; default: the source's.
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

    Notes
    -----
    2 · width · height · (2 · radius + 1) multiplications. The intermediate image `name/rows` has 16-bit
    floats, of 32-bit ones if the source has those.

    References
    ----------
    Sigg, Hadwiger, "Fast Third-Order Texture Filtering", GPU Gems 2, 2005, chapter 20: samples that weigh two texels.
    """
    src = picture(g, name, "source", source)
    whole(name, "radius", radius, 0, _MOST_RADIUS)
    sigma = max(radius, 1) / 3 if sigma is None else number(name, "sigma", sigma, 0.0, open=True)
    known(name, "edge", edge, tuple(_EDGES))
    known(name, "method", method, ("auto", "tiled", "linear", "taps"))
    dst = src if target is None else picture(g, name, "target", target)
    same_size(name, src, "target", dst)
    to = dst.format if target is not None or format is None else Format(format)
    drawn = draws(name, to, queue, None if target is None else dst.image)
    tiles = not drawn and all(_lines(axis, radius) for axis in (0, 1))
    if method == "tiled" and not tiles:
        why = (
            f"target {dst} is not written by compute" if drawn else f"radius {radius} does not fit a workgroup's memory"
        )
        refuse("RG-E212", name, why, 'set method="linear", or leave it out')
    if method == "auto":
        # Not every device filters 32-bit floats.
        method = "tiled" if tiles and src.format.bits == 32 else "linear"
    if target is None:
        dst = made(g, name, src, format=format)
    between = made(g, f"{name}/rows", src, format=working(src.format))
    weights = gaussian(radius, sigma)
    make = {"tiled": _tiled, "linear": _linear, "taps": _taps}[method]
    make(g, name, src, between, (0, "rows"), weights, edge, queue)
    done = make(g, name, between, dst, (1, "columns"), weights, edge, queue)
    return dst.image if target is None else done


def _room(lines: int, radius: int) -> int:
    """Texels that a workgroup keeps, all lines together."""
    span = 256 // lines + 4 * math.ceil((2 * radius + 1) / 4)
    return lines * (span + span // 4 + 1)


def _lines(axis: int, radius: int) -> int:
    """Lines of a workgroup: several where columns are blurred, as many as fit; 0: none does."""
    tries = (1,) if axis == 0 else (4, 2, 1)
    return next((lines for lines in tries if _room(lines, radius) * 16 <= _WORKGROUP), 0)


def _tiled(
    g: Module, name: str, src: Picture, dst: Picture, way: _Way, weights: list[float], edge: str, queue: Queue
) -> Pass:
    axis, step = way
    radius = len(weights) - 1
    lines = _lines(axis, radius)
    taps = weights[:0:-1] + weights
    taps += [0.0] * (-len(taps) % 4)
    shader = text(
        "blur_tiled",
        radius=radius,
        axis=axis,
        lines=f"{lines}u",
        quads=f"{len(taps) // 4}u",
        room=f"{_room(lines, radius)}u",
        edge=_EDGES[edge],
        format=dst.format.name,
    )
    groups = (math.ceil(dst.size[axis] / (256 // lines)), math.ceil(dst.size[1 - axis] / lines))
    kernel = [taps[at : at + 4] for at in range(0, len(taps), 4)]
    bindings = {"source": src.part, "target_": dst.part, "kernel": {"weights": kernel}}
    return g.compute(f"{name}/{step}", shader, groups=groups, queue=queue or "compute", bindings=bindings)


def _kernel(g: Module, name: str, step: str, values: list[float], member: str) -> tuple[str, Any]:
    """Values as a uniform block, or as a buffer where they are too many."""
    if len(values) * 4 <= _UNIFORM:
        return "uniform", {member: [values[at : at + 4] for at in range(0, len(values), 4)]}
    return "storage, read", g.import_array(f"{name}/{step} kernel", array("f", values), as_buffer=True)


def _linear(
    g: Module, name: str, src: Picture, dst: Picture, way: _Way, weights: list[float], edge: str, queue: Queue
) -> Pass:
    axis, step = way
    # The middle is counted from both sides.
    pairs = [0.0, weights[0] / 2]
    for at in range(1, len(weights), 2):
        near, far = weights[at], weights[at + 1] if at + 1 < len(weights) else 0.0
        both = near + far
        pairs += [at + (far / both if both else 0.0), both]
    pairs += [0.0] * (-len(pairs) % 4)
    space, kernel = _kernel(g, name, step, pairs, "pairs")
    shader = text("blur_linear", quads=len(pairs) // 4, space=space, step="1.0, 0.0" if axis == 0 else "0.0, 1.0")
    sampler = Sampler("linear", address=_ADDRESS[edge])
    return per_texel(g, name, step, shader, dst, queue, source=src.part, smooth_=sampler, kernel=kernel)


def _taps(
    g: Module, name: str, src: Picture, dst: Picture, way: _Way, weights: list[float], edge: str, queue: Queue
) -> Pass:
    axis, step = way
    values = weights + [0.0] * (-len(weights) % 4)
    space, kernel = _kernel(g, name, step, values, "weights")
    shader = text(
        "blur_taps", quads=len(values) // 4, space=space, axis=axis, radius=len(weights) - 1, edge=_EDGES[edge]
    )
    return per_texel(g, name, step, shader, dst, queue, source=src.part, kernel=kernel)
