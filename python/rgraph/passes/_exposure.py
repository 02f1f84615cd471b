"""Histograms of luminance, and automatic exposure."""

from __future__ import annotations

import math
from typing import overload

from rgraph._core import Buffer, Module, Pass, View
from rgraph.passes._mistake import number, ready_made, refuse
from rgraph.passes._picture import BufferLike, ImageLike, data, picture
from rgraph.passes._shader import Queue, computes, text

__all__ = ["exposure", "histogram"]

_RANGE = (-12.0, 8.0)


def _range(name: str, range: tuple[float, float]) -> tuple[float, float]:
    good = isinstance(range, tuple | list) and len(range) == 2
    least, most = (number(name, "range", end, -100.0, 100.0) for end in (range if good else (0.0, 0.0)))
    if not good or least >= most:
        refuse("RG-E213", name, f"range is {range!r}", "give (least, most) luminance in stops, as (-12, 8)")
    return least, most


@overload
def histogram(
    g: Module,
    name: str,
    source: ImageLike,
    target: None = None,
    *,
    range: tuple[float, float] = _RANGE,
    queue: Queue = None,
) -> Buffer: ...
@overload
def histogram(
    g: Module,
    name: str,
    source: ImageLike,
    target: BufferLike,
    *,
    range: tuple[float, float] = _RANGE,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def histogram(
    g: Module,
    name: str,
    source: ImageLike,
    target: BufferLike | None = None,
    *,
    range: tuple[float, float] = _RANGE,
    queue: Queue = None,
) -> Pass | Buffer:
    """Count the texels of each luminance, as passes `name/zero` and `name/count`.

    Bin 0 counts luminances below 2^least and NaN; bins 1 to 255 divide `range` evenly, the last with
    all above. Luminance is 0.2126 r + 0.7152 g + 0.0722 b (Rec. 709).

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new buffer.
    source
        Colours, scene-linear; a format with real numbers.
    target
        Buffer to write: 1024 bytes, 256 unsigned 32-bit counts; default: a new buffer `name`.
    range
        (least, most) base-2 logarithm of luminance, in stops.
    queue
        See `Module.add_pass`; default: `"compute"`.

    Returns
    -------
    Pass or Buffer
        The last pass, or the new buffer if `target` is left out.

    Raises
    ------
    GraphError
        If an image or buffer is unsuitable, or a number is out of range. The graph is left unchanged.
    """
    src = picture(g, name, "source", source)
    least, most = _range(name, range)
    on = computes(name, queue)
    if target is not None:
        buffer, first, size = data(g, name, "target", target)
        if size != 1024 or first % 256:
            message = f'target "{buffer.name}" has {size} bytes from {first} on'
            help = "give 1024 bytes from a multiple of 256 on"
            refuse("RG-E205", name, message, help, (buffer, f"{buffer.size} bytes"))
    bins = g.buffer(name, 1024) if target is None else target
    g.fill(f"{name}/zero", bins, queue=on)
    groups = (math.ceil(src.size[0] / 64), math.ceil(src.size[1] / 64))
    push = {"least": least, "most": most}
    done = g.compute(f"{name}/count", text("histogram"), groups=groups, queue=on, push=push, source=src.part, bins=bins)
    return bins if target is None and isinstance(bins, Buffer) else done


@overload
def exposure(
    g: Module,
    name: str,
    source: ImageLike | BufferLike,
    target: None = None,
    *,
    low: float = 0.1,
    high: float = 0.9,
    key: float = 0.18,
    limits: tuple[float, float] = (-10.0, 10.0),
    speed: tuple[float, float] = (3.0, 1.0),
    seconds: float = 1 / 60,
    range: tuple[float, float] = _RANGE,
    queue: Queue = None,
) -> Buffer: ...
@overload
def exposure(
    g: Module,
    name: str,
    source: ImageLike | BufferLike,
    target: BufferLike,
    *,
    low: float = 0.1,
    high: float = 0.9,
    key: float = 0.18,
    limits: tuple[float, float] = (-10.0, 10.0),
    speed: tuple[float, float] = (3.0, 1.0),
    seconds: float = 1 / 60,
    range: tuple[float, float] = _RANGE,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def exposure(
    g: Module,
    name: str,
    source: ImageLike | BufferLike,
    target: BufferLike | None = None,
    *,
    low: float = 0.1,
    high: float = 0.9,
    key: float = 0.18,
    limits: tuple[float, float] = (-10.0, 10.0),
    speed: tuple[float, float] = (3.0, 1.0),
    seconds: float = 1 / 60,
    range: tuple[float, float] = _RANGE,
    queue: Queue = None,
) -> Pass | Buffer:
    """Find the exposure of a picture and follow it from frame to frame, as an eye does.

    The mean of the logarithms of luminance between two percentiles becomes `key`. Passes `name/histogram/zero`,
    `name/histogram/count` (if the source is an image) and `name/adapt`.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new buffer.
    source
        Colours, scene-linear; or a buffer that `histogram` made, with the same `range`.
    target
        A persistent buffer of 16 bytes, zeros before the first frame; default: a new one called `name`.
    low, high
        Shares of the texels, 0 … 1: the darkest `low` and those above `high` do not count.
    key
        Luminance of the mean after exposure; 0.18 is a grey card.
    limits
        (darkest, brightest) mean to follow, base-2 logarithm of luminance.
    speed
        (towards bright, towards dark) speed of adaptation, in 1 / seconds; the first frame adapts at once.
    seconds
        Seconds per frame. A run changes it by `params={("name/adapt", "time"): 0.008}`.
    range
        See `histogram`.
    queue
        See `Module.add_pass`; default: `"compute"`.

    Returns
    -------
    Pass or Buffer
        The last pass, or the new buffer if `target` is left out: four 32-bit floats, which are the exposure (a
        factor, as `tone_map` takes it), the mean of this frame, the mean that is followed (both base-2 logarithms),
        and the number of frames so far.

    Raises
    ------
    GraphError
        If an image or buffer is unsuitable, or a number is out of range. The graph is left unchanged.

    References
    ----------
    Lagarde, de Rousiers, "Moving Frostbite to Physically Based Rendering 3.0", SIGGRAPH 2014 course, section 5.1.2.
    """
    least, most = _range(name, range)
    number(name, "low", low, 0.0, 1.0)
    if number(name, "high", high, 0.0, 1.0) <= low:
        refuse("RG-E213", name, f"low is {low} and high is {high}", "low is less than high")
    number(name, "key", key, 0.0, open=True)
    darkest, brightest = _range(name, limits)
    up, down = (number(name, "speed", one, 0.0) for one in speed)
    number(name, "seconds", seconds, 0.0)
    on = computes(name, queue)
    if target is not None:
        buffer, _, size = data(g, name, "target", target)
        if size != 16:
            message = f'target "{buffer.name}" has {size} bytes'
            refuse("RG-E205", name, message, "give 16 bytes of a persistent buffer", (buffer, f"{buffer.size} bytes"))
    given = g.find(source) if isinstance(source, str) else source
    counted = isinstance(given.resource if isinstance(given, View) else given, Buffer)
    if counted:
        buffer, _, size = data(g, name, "source", given)  # type: ignore[arg-type]
        if size != 1024:
            message = f'source "{buffer.name}" has {size} bytes'
            refuse("RG-E205", name, message, "give what histogram() made: 1024 bytes", (buffer, f"{buffer.size} bytes"))
        bins: object = given
    else:
        picture(g, name, "source", given)  # type: ignore[arg-type]
        bins = histogram(g, f"{name}/histogram", given, range=range, queue=queue)  # type: ignore[arg-type]
    state = g.buffer(name, 16, persistent=True) if target is None else target
    push = {
        "least": least,
        "most": most,
        "low": float(low),
        "high": float(high),
        "key": float(key),
        "darkest": darkest,
        "brightest": brightest,
        "up": up,
        "down": down,
    }
    time = {"seconds": float(seconds)}
    done = g.compute(f"{name}/adapt", text("adapt"), groups=1, queue=on, push=push, bins=bins, state=state, time=time)
    return state if target is None and isinstance(state, Buffer) else done
