"""The photo demo: a laboratory as one graph, from an array to an array.

Noise is measured and taken away (wavelets à trous), local contrast is raised (local Laplacian filter over pyramids of
mips and layers), bright parts glow, and a film curve, tints, grain and a darker rim finish it. Images that are no
longer needed hand their memory on to later ones: `build(...).bake().memory` says how much that saves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import rgraph
from rgraph import passes
from rgraph.demo._shaders import shader

if TYPE_CHECKING:
    import numpy as np

LAYERS = 10
LEVELS = 7
DENOISING = 4
GREY = 0.18
"""Linear light that every film keeps as it is."""


class Film(NamedTuple):
    """How light becomes a picture."""

    contrast: float
    """Steepness at middle grey; 1 is a straight line there."""
    saturation: float = 1.0
    """1 keeps colours as they are."""
    shadows: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Factors of the dark parts."""
    lights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Factors of the bright parts."""
    silver: tuple[float, float, float] | None = None
    """Weights of red, green and blue in a picture without colours."""


FILMS = {
    "neutral": Film(1.12),
    "warm": Film(1.2, 1.06, (0.96, 0.99, 1.05), (1.05, 1.0, 0.92)),
    "cool": Film(1.16, 0.95, (0.94, 1.0, 1.08), (0.98, 1.0, 1.02)),
    "vivid": Film(1.34, 1.28),
    "faded": Film(0.98, 0.78, (1.03, 1.0, 0.98), (1.0, 0.99, 0.95)),
    "silver": Film(1.3, silver=(0.36, 0.5, 0.14)),
}
_BYTES = {"B": 1, "H": 2, "f": 4}


def build(
    picture: Any,
    *,
    denoise: float = 0.5,
    clarity: float = 0.35,
    bloom: float = 0.06,
    film: str = "neutral",
    vignette: float = 0.2,
    grain: float = 0.1,
    seed: int = 0,
) -> rgraph.Graph:
    """Declare the laboratory for a picture.

    Parameters
    ----------
    picture
        Anything with a buffer of shape (height, width), or (height, width, channels) with 1 to 4 channels (grey, grey
        and alpha, colour, colour and alpha): `uint8` or `uint16`, sRGB encoded, or `float32`, linear light.
    denoise
        0 (none) to 1: width of the filter in units of the noise that was measured, times two.
    clarity
        0 (none) to 1: how much small differences in brightness are raised.
    bloom
        0 (none) to 1: share of light that is spread about.
    film
        One of `FILMS`.
    vignette, grain
        0 (none) to 1.
    seed
        Another number, other grain.

    Returns
    -------
    Graph
        Its root is `"developed"`: `rgba8unorm` for pictures of `uint8`, else `rgba32float`; sRGB encoded.

    Raises
    ------
    ValueError
        If the array is no such picture, or a number is out of range; the message says which.
    """
    view = memoryview(picture)
    shape = view.shape or ()
    if len(shape) not in (2, 3) or view.format not in _BYTES or 0 in shape or not view.c_contiguous:
        raise ValueError(
            f"a picture is contiguous, of shape (height, width[, channels]) and of uint8, uint16 or float32; this one "
            f"is {shape} of {view.format!r}"
        )
    height, width = shape[:2]
    channels = shape[2] if len(shape) == 3 else 1
    if channels > 4 or min(width, height) < 16:
        raise ValueError(f"a picture has 1 to 4 channels and sides of at least 16 texels; this one is {shape}")
    for name, value in {
        "denoise": denoise,
        "clarity": clarity,
        "bloom": bloom,
        "vignette": vignette,
        "grain": grain,
    }.items():
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} is {value}: 0 to 1")
    if film not in FILMS:
        raise ValueError(f"there is no film {film!r}; there are {', '.join(FILMS)}")

    g = rgraph.Graph("photo", size=(width, height))
    wide = _BYTES[view.format]
    data = view.tobytes()
    samples = g.import_array("photo", data + bytes(-len(data) % 4), as_buffer=True)
    signal = g.image("signal", format="rgba16float")
    push = {"channels": channels, "bytes": wide}
    g.compute("decode", shader("photo", "photo_decode"), samples=samples, signal=signal, push=push)
    if denoise > 0.0:
        signal = _denoised(g, signal, denoise)
    light = _contrasted(g, signal, clarity)
    if bloom > 0.0 and min(width, height) >= 32:
        light = passes.bloom(g, "bloom", light, intensity=bloom, scatter=0.6)

    chosen = FILMS[film]
    scale, half = _curve(chosen.contrast)
    out = g.image("developed", format="rgba8unorm" if wide == 1 else "rgba32float")
    values = {
        "shadows": (*chosen.shadows, chosen.contrast),
        "lights": (*chosen.lights, chosen.saturation),
        "curve": (scale, half, grain, vignette),
        "mixing": (*(chosen.silver or (0.0, 0.0, 0.0)), float(chosen.silver is not None)),
        "seed": float(seed % 1024),
        "steps": 1.0 / 255.0 if wide == 1 else 0.0,
    }
    finish = shader("photo_finish").replace("$format", "rgba8unorm" if wide == 1 else "rgba32float")
    g.compute("finish", finish, film=values, light=light, developed=out)
    g.root(out)
    return g


def _curve(power: float) -> tuple[float, float]:
    """Scale and half-way point of the film's curve: middle grey stays, and white becomes 0.98."""
    # scale · g^p / (g^p + half) = g and scale / (1 + half) = 0.98.
    white, grey = 0.98, GREY**power
    half = grey * (white - GREY) / (GREY - white * grey)
    return white * (1.0 + half), half


def _denoised(g: rgraph.Graph, signal: rgraph.Image, strength: float) -> rgraph.Image:
    """Measures the noise, then filters at four widths."""
    noise = g.buffer("noise", 16)
    width, height = signal.size[:2]
    g.fill("noise/clear", noise)
    groups = ((width + 31) // 32, (height + 31) // 32)
    g.compute("noise/measure", shader("photo", "photo_noise"), signal=signal, noise=noise, groups=groups)
    for level in range(DENOISING):
        smooth = g.image(f"denoised{level}", like=signal)
        push = {"step": 1 << level, "strength": 2.0 * strength * 0.55**level}
        g.compute(
            f"denoise/level{level}",
            shader("photo", "photo_denoise"),
            signal=signal,
            noise=noise,
            result=smooth,
            push=push,
        )
        signal = smooth
    return signal


def _contrasted(g: rgraph.Graph, signal: rgraph.Image, clarity: float) -> rgraph.Image:
    """Linear light, with local contrast raised."""
    width, height = signal.size[:2]
    levels = max(2, min(LEVELS, min(width, height).bit_length() - 2))
    stops = g.image("stops", format="r16float", mips=levels)
    remapped = g.image("remapped", format="r16float", layers=LAYERS, mips=levels)
    result = g.image("contrasted", format="r16float", mips=levels - 1)
    text = ("photo", "photo_layers")
    g.compute(
        "contrast/remap",
        shader(*text, "photo_remap"),
        signal=signal,
        stops=stops.mip(0),
        remapped=remapped.mip(0),
        push={"detail": 1.5 * clarity},
        groups=((width + 7) // 8, (height + 7) // 8),
    )
    down = shader("photo_down")
    for level in range(1, levels):
        x, y = (max(axis >> level, 1) for axis in (width, height))
        for name, image, layers in (("stops", stops, 1), ("layers", remapped, LAYERS)):
            groups = ((x + 7) // 8, (y + 7) // 8, layers)
            source, target = image.mip(level - 1), image.mip(level)
            g.compute(f"contrast/{name}{level}", down, source=source, result=target, groups=groups)
    below: Any = stops.mip(levels - 1)
    for level in range(levels - 2, -1, -1):
        g.compute(
            f"contrast/collapse{level}",
            shader(*text, "photo_collapse"),
            stops=stops.mip(level),
            fine=remapped.mip(level),
            coarse=remapped.mip(level + 1),
            below=below,
            result=result.mip(level),
        )
        below = result.mip(level)
    relit = g.image("relit", format="rgba16float")
    g.compute("contrast/relight", shader("photo", "photo_relight"), signal=signal, stops=result.mip(0), relit=relit)
    return relit


def develop(picture: np.ndarray, *, device: rgraph.Device | None = None, **options: Any) -> np.ndarray:
    """Develop a picture.

    Parameters
    ----------
    picture
        Array of shape (height, width[, channels]); see `build`.
    device
        What runs it; default: a device that is opened for it.
    **options
        Those of `build`.

    Returns
    -------
    numpy.ndarray
        Of the same shape and type; sRGB encoded, floats from 0 to 1. Without colours in, without colours out, unless
        the film brings them: then grey becomes (height, width, 3).

    Raises
    ------
    ValueError
        See `build`.
    """
    import numpy as np

    array = np.ascontiguousarray(picture)
    graph = build(array, **options)
    if device is None:
        with rgraph.Device(rays=False) as own:
            out = own.run(graph)["developed"].numpy(copy=True)
    else:
        out = device.run(graph)["developed"].numpy(copy=True)
    channels = 1 if array.ndim == 2 else array.shape[2]
    if channels <= 2 and (film := FILMS[options.get("film", "neutral")]).shadows == film.lights:
        out = out[..., [0, 3][:channels]]
    elif channels != 4:
        out = out[..., :3]
    if array.dtype == np.uint16:
        out = np.rint(out * 65535.0).astype(np.uint16)
    return np.ascontiguousarray(out.reshape(array.shape) if out.size == array.size else out)
