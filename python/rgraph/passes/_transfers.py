"""Clears, copies, blits, uploads and downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

from rgraph._core import Buffer, Format, Image, Module, Pass, View
from rgraph.passes._mistake import known, ready_made, refuse
from rgraph.passes._picture import BufferLike, ImageLike, Picture, made, picture, read_kind, real, scalar_of
from rgraph.passes._shader import Queue, draws, per_texel, text

__all__ = ["blit", "clear", "copy", "download", "upload"]

# What every device blits from and to, and between texels of which it can filter.
# Source: Vulkan 1.3 specification, "Required Format Support".
_SMOOTH = frozenset(
    """
    r8unorm rg8unorm rgba8unorm rgba8unorm-srgb bgra8unorm bgra8unorm-srgb rgb10a2unorm r16float rg16float rgba16float
    """.split()  # noqa: SIM905
)
_BLITTED = _SMOOTH | frozenset(
    """
    r8uint r8sint rg8uint rg8sint rgba8uint rgba8sint rgb10a2uint r16uint r16sint rg16uint rg16sint rgba16uint
    rgba16sint r32uint r32sint r32float rg32uint rg32sint rg32float rgba32uint rgba32sint rgba32float
    """.split()  # noqa: SIM905
)
_LINEAR = """
fn linear(place: vec2<f32>) -> vec4<f32> {
    let first = floor(place - 0.5);
    let share = place - 0.5 - first;
    let at = vec2<i32>(first);
    let upper = mix(fetch(at), fetch(at + vec2<i32>(1, 0)), share.x);
    let lower = mix(fetch(at + vec2<i32>(0, 1)), fetch(at + vec2<i32>(1, 1)), share.x);
    return mix(upper, lower, share.y);
}
"""


def _resource(g: Module, name: str, what: str, value: ImageLike | BufferLike) -> tuple[Image | Buffer, Any]:
    """A resource, and what was given of it."""
    given = g.find(value) if isinstance(value, str) else value
    resource = given.resource if isinstance(given, View) else given
    if not isinstance(resource, Image | Buffer):
        refuse("RG-E218", name, f"{what} is of type {type(given).__name__}", "give an image or a buffer, or its name")
    return resource, given


@ready_made
def clear(
    g: Module,
    name: str,
    target: ImageLike | BufferLike,
    value: tuple[float, float, float, float] | tuple[float, int] | float | None = None,
    *,
    queue: Queue = None,
) -> Pass:
    """Fill an image or a buffer with one value, as a pass `name/clear`.

    Parameters
    ----------
    g
        Graph or module that the pass is declared in.
    name
        Prefix of the pass's name.
    target
        An image with all its mips and layers, or a part of one; or a buffer, or a part in multiples of four bytes.
    value
        Red, green, blue and alpha; depth, or (depth, stencil); of a buffer a 32-bit word. Default: zeros.
    queue
        See `Module.add_pass`; default: graphics.

    Returns
    -------
    Pass
        The pass.

    Raises
    ------
    GraphError
        If the value does not fit the target. The graph is left unchanged.
    """
    resource, given = _resource(g, name, "target", target)
    step = f"{name}/clear"
    on = "graphics" if queue is None else queue
    if isinstance(resource, Buffer):
        if value is not None and not isinstance(value, int):
            refuse("RG-E317", name, f"value of a buffer is {value!r}", "give a 32-bit whole number", (resource, "here"))
        return g.fill(step, given, value or 0, queue=on)
    if value is None:
        value = 0.0 if resource.format is not None and Format(resource.format).numbers == "depth" else (0, 0, 0, 0)
    if isinstance(given, Image) or given.mip_range is None:
        given = given.mips(0, resource.mip_count)
    return g.clear(step, given, value, queue=on)


@overload
def copy(
    g: Module,
    name: str,
    source: ImageLike | BufferLike,
    target: None = None,
    *,
    queue: Queue | Literal["transfer"] = None,
) -> Image | Buffer: ...
@overload
def copy(
    g: Module,
    name: str,
    source: ImageLike | BufferLike,
    target: ImageLike | BufferLike,
    *,
    queue: Queue | Literal["transfer"] = None,
) -> Pass: ...
@ready_made
def copy(
    g: Module,
    name: str,
    source: ImageLike | BufferLike,
    target: ImageLike | BufferLike | None = None,
    *,
    queue: Queue | Literal["transfer"] = None,
) -> Pass | Image | Buffer:
    """Copy bits between images and buffers, as a pass `name/copy`, or `name/mip0` … for images with several mips.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new image or buffer.
    source, target
        Images and buffers, or parts of them. Two images are of the same size with texels of as many bytes; a whole
        image is copied with all its mips and layers. An image in a buffer is tightly packed, row by row. Default
        target: a new one like the source.
    queue
        See `Module.add_pass`; default: graphics.

    Returns
    -------
    Pass or Image or Buffer
        The last pass, or the new image or buffer if `target` is left out.

    Raises
    ------
    GraphError
        If the two do not fit. The graph is left unchanged.
    """
    from_, given = _resource(g, name, "source", source)
    on = "graphics" if queue is None else queue
    new: Image | Buffer | None = None
    if target is not None:
        to, goal = _resource(g, name, "target", target)
        if isinstance(from_, Image) and isinstance(to, Image):
            _fit(name, (from_, given), (to, goal))
    else:
        to = goal = new = _like(g, name, from_, given)
    levels = 1
    if isinstance(from_, Image) and isinstance(to, Image):
        whole = not (isinstance(given, View) and given.mip_range) and not (isinstance(goal, View) and goal.mip_range)
        levels = min(from_.mip_count, to.mip_count) if whole else 1
    if levels == 1:
        done = g.copy(f"{name}/copy", given, goal, queue=on)
    for level in range(levels if levels > 1 else 0):
        done = g.copy(f"{name}/mip{level}", given.mip(level), goal.mip(level), queue=on)
    return done if new is None else new


def _like(g: Module, name: str, source: Image | Buffer, given: Any) -> Image | Buffer:
    """A new resource that a copy fits into."""
    if isinstance(source, Buffer):
        first, end = (isinstance(given, View) and given.byte_range) or (0, source.size)
        return g.buffer(name, end - first)
    if isinstance(given, View):
        return made(g, name, picture(g, name, "source", given, only="any", samples=None)).image
    layers, mips, samples = source.layer_count, source.mip_count, source.samples
    return g.image(name, source.size, source.format, layers=layers, mips=mips, samples=samples)


def _fit(name: str, source: tuple[Image, Image | View], target: tuple[Image, Image | View]) -> None:
    """Refuse a copy between images that differ in size or in bytes per texel."""
    sizes, bytes_ = [], []
    for image, given in (source, target):
        mip = ((isinstance(given, View) and given.mip_range) or (0, 1))[0]
        sizes.append([max(axis >> mip, 1) for axis in image.size])
        format = Format(image.format) if image.format is not None else None
        bytes_.append(0 if format is None or format.compressed else format.bytes)
    says = [(image, f"{' × '.join(map(str, image.size))} of {image.format}") for image, _ in (source, target)]
    if sizes[0] != sizes[1]:
        refuse("RG-E206", name, "source and target have different sizes", "blit() scales", *says)
    if all(bytes_) and bytes_[0] != bytes_[1]:
        refuse("RG-E207", name, "source and target have texels of different sizes", "blit() converts", *says)


@overload
def blit(
    g: Module,
    name: str,
    source: ImageLike,
    target: None = None,
    *,
    scale: float = 1.0,
    filter: Literal["linear", "nearest"] = "linear",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Image: ...
@overload
def blit(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike,
    *,
    scale: float = 1.0,
    filter: Literal["linear", "nearest"] = "linear",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def blit(
    g: Module,
    name: str,
    source: ImageLike,
    target: ImageLike | None = None,
    *,
    scale: float = 1.0,
    filter: Literal["linear", "nearest"] = "linear",
    format: Format | str | None = None,
    queue: Queue = None,
) -> Pass | Image:
    """Scale and convert an image, as a pass `name/blit`.

    A transfer if every device can do it, else a shader, which also converts between real numbers, integers
    (rounded to the nearest) and depth.

    Parameters
    ----------
    g
        Graph or module that the pass is declared in.
    name
        Prefix of the pass's name, and name of a new image.
    source
        An image of one sample, or one mip and layer of it.
    target
        Image to write; default: a new image `name` of the source's size times `scale`.
    scale
        See `target`.
    filter
        `"linear"`: between the four nearest texels, whatever the scale; integers and depth are never mixed.
        `"nearest"`.
    format
        Format of a new image; default: the source's.
    queue
        See `Module.add_pass`; default: graphics. A compute queue always takes the shader.

    Returns
    -------
    Pass or Image
        The pass, or the new image if `target` is left out.

    Raises
    ------
    GraphError
        If an image is unsuitable, or the queue cannot write the format. The graph is left unchanged.
    """
    src = picture(g, name, "source", source, only="any")
    known(name, "filter", filter, ("linear", "nearest"))
    dst = src if target is None else picture(g, name, "target", target, only="any")
    to = dst.format if target is not None or format is None else Format(format)
    draws(name, to, queue, None if target is None else dst.image)
    for one in (src.format, to):
        if one.numbers == "stencil":
            refuse("RG-E207", name, "stencil cannot be scaled", "copy() copies it")
    if target is None:
        dst = made(g, name, src, format=format, scale=None if scale == 1.0 else scale)
    smooth = filter == "linear" and real(src.format)
    names = (src.format.name, to.name)
    plain = (
        scalar_of(src.format) == scalar_of(to) and _BLITTED.issuperset(names) and (not smooth or names[0] in _SMOOTH)
    )
    if plain and queue in (None, "graphics"):
        done = g.blit(f"{name}/blit", src.part, dst.part, filter="linear" if smooth else "nearest")
    else:
        done = _by_shader(g, name, src, dst, smooth, queue)
    return dst.image if target is None else done


def _by_shader(g: Module, name: str, src: Picture, dst: Picture, smooth: bool, queue: Queue) -> Pass:
    depth = src.format.numbers == "depth"
    shader = text(
        "blit",
        kind=read_kind(src.format),
        load="textureLoad",
        to=scalar_of(dst.format),
        fill=", 0.0, 0.0, 1.0" if depth else "",
        linear=_LINEAR if smooth else "",
        filter="linear" if smooth else "nearest",
        round="round" if scalar_of(src.format) == "f32" and scalar_of(dst.format) != "f32" else "",
        **{"from": scalar_of(src.format)},
    )
    return per_texel(g, name, "blit", shader, dst, queue, {"size": dst.size}, source=src.part)


# Channels of three: letter of the buffer protocol, format, and how a number is read.
_WIDE = {
    "B": ("rgba8unorm", "return f32((words[at >> 2u] >> (8u * (at & 3u))) & 255u) / 255.0;"),
    "e": ("rgba16float", "return unpack2x16float(words[at >> 1u])[at & 1u];"),
    "f": ("rgba32float", "return bitcast<f32>(words[at]);"),
}


@overload
def upload(
    g: Module, name: str, array: Any, target: None = None, *, format: Format | str | None = None, srgb: bool = False
) -> Image: ...
@overload
def upload(
    g: Module, name: str, array: Any, target: ImageLike, *, format: Format | str | None = None, srgb: bool = False
) -> Pass: ...
@ready_made
def upload(
    g: Module,
    name: str,
    array: Any,
    target: ImageLike | None = None,
    *,
    format: Format | str | None = None,
    srgb: bool = False,
) -> Pass | Image:
    """Copy an array into an image that passes can also write, as a pass `name/copy`.

    Each run reads the array; `inputs={"name/array": other}` replaces it by another one of the same shape. For an image
    that passes only read, use `Module.import_array`.

    Parameters
    ----------
    g
        Graph or module that the pass is declared in.
    name
        Prefix of the pass's name, and name of a new image.
    array
        Anything with a buffer, contiguous: (height, width) or (height, width, channels). Three channels of `uint8`,
        `float16` or `float32` become four by a shader (`name/widen`), the fourth being 1.
    target
        Image to write, of that size and with as many bytes per texel; default: a new image `name`.
    format
        See `Module.import_array`; not for three channels.
    srgb
        If true, `uint8` colours are sRGB encoded.

    Returns
    -------
    Pass or Image
        The last pass, or the new image if `target` is left out.

    Raises
    ------
    GraphError
        If no image, or not the target, can hold the array. The graph is left unchanged.
    """
    try:
        view = memoryview(array)
    except TypeError:
        help = "give a numpy array, or anything else with a buffer"
        refuse("RG-E320", name, f"array is of type {type(array).__name__}", help)
    shape, letter = view.shape or (), view.format.lstrip("@=<")
    if len(shape) != 3 or shape[2] != 3:
        if len(shape) not in (2, 3):
            help = "give (height, width) or (height, width, channels)"
            refuse("RG-E320", name, f"an array of shape {tuple(shape)} is no picture", help)
        if target is not None:
            dst = picture(g, name, "target", target, only="any")
            _same_shape(name, dst, (shape[1], shape[0]))
        source = g.import_array(f"{name}/array", array, format=format, srgb=srgb)
        goal = g.image(name, source.size, source.format) if target is None else dst.part
        done = g.copy(f"{name}/copy", source, goal)
        return goal if target is None else done  # type: ignore[return-value]
    if letter not in _WIDE or not view.c_contiguous or format is not None or (srgb and letter != "B"):
        help = (
            "three channels are of uint8, float16 or float32, contiguous, without format=; add a fourth one otherwise"
        )
        refuse("RG-E320", name, f"an array of shape {tuple(shape)} of {view.format!r} cannot be widened", help)
    wide, number = _WIDE[letter]
    size = (shape[1], shape[0])
    if target is not None:
        dst = picture(g, name, "target", target)
        _same_shape(name, dst, size)
        if dst.format.bytes != Format(wide).bytes:
            says = (dst.image, f"of {dst.format.name}")
            refuse("RG-E207", name, f"target {dst} does not hold {wide}", f"declare it as {wide}", says)
    flat = g.import_array(f"{name}/array", array, as_buffer=True)
    words: Buffer | View = flat
    if view.nbytes % 4:
        words = g.buffer(f"{name}/words", (view.nbytes + 3) // 4 * 4)
        g.copy(f"{name}/pad", flat, words[0 : view.nbytes])
    shader = text("widen", number=number)
    between = picture(g, name, "target", g.image(f"{name}/wide", size, wide))
    per_texel(g, name, "widen", shader, between, None, {"width": size[0]}, words=words)
    goal = g.image(name, size, f"{wide}-srgb" if srgb else wide) if target is None else dst.part
    done = g.copy(f"{name}/copy", between.part, goal)
    return goal if target is None else done  # type: ignore[return-value]


def _same_shape(name: str, dst: Picture, size: tuple[int, int]) -> None:
    if dst.size != size:
        message = f"the array is {size[0]} × {size[1]} texels, and target {dst} {dst.size[0]} × {dst.size[1]}"
        refuse("RG-E206", name, message, "give an array of the target's size", (dst.image, "declared here"))


_LETTERS = {
    "uint8": "B",
    "int8": "b",
    "uint16": "H",
    "int16": "h",
    "float16": "H",
    "uint32": "I",
    "int32": "i",
    "float32": "f",
}


@ready_made
def download(
    g: Module,
    name: str,
    source: ImageLike | BufferLike,
    function: Callable[[memoryview], object] | None = None,
) -> Buffer:
    """Copy an image or a buffer to the host in every frame: a pass `name/copy`, and `name/call` with a function.

    Without a function the new buffer is a root: `frame["name"]` has its bytes. With one, the frame continues while
    the function runs.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new buffer.
    source
        An image of one sample (one mip and layer), tightly packed into the buffer row by row; or a buffer.
    function
        Called in every frame, on another thread, with a read-only view: of an image (height, width, channels) of its
        numbers (16-bit floats as unsigned integers, packed formats as 32-bit words); of a buffer
        bytes. Its exceptions are raised by the wait for the frame.

    Returns
    -------
    Buffer
        The copy.

    Raises
    ------
    GraphError
        If the image is unsuitable. The graph is left unchanged.
    """
    resource, given = _resource(g, name, "source", source)
    shape, letter = None, "B"
    if isinstance(resource, Image):
        src = picture(g, name, "source", given, only="any")
        size = src.format.bytes * src.size[0] * src.size[1]
        letter = _LETTERS[src.format.dtype]
        shape = (src.size[1], src.size[0], src.format.channels)
        given = src.part
    else:
        first, end = (isinstance(given, View) and given.byte_range) or (0, resource.size)
        size = end - first
    buffer = g.buffer(name, size)
    g.copy(f"{name}/copy", given, buffer)
    if function is None:
        g.root(buffer)
        return buffer

    def call(views: dict[str, memoryview]) -> None:
        (view,) = views.values()
        function(view if shape is None else view.cast("B").cast(letter, shape))  # type: ignore[call-overload]

    g.cpu(f"{name}/call", call, reads=buffer, side_effects=True)
    return buffer
