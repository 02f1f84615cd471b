"""One value of many: reductions of buffers and images, and statistics of images."""

from __future__ import annotations

import math
from typing import Literal, overload

from rgraph._core import Buffer, Module, Pass, View
from rgraph.passes._mistake import known, ready_made, refuse
from rgraph.passes._picture import BufferLike, ImageLike, Picture, data, picture, read_kind, scalar_of
from rgraph.passes._scan import TYPES, numbers, spread
from rgraph.passes._shader import Queue, computes, text

__all__ = ["reduce", "statistics"]

_BLOCK = 4096
_COMBINE = {
    "sum": "a + b",
    "mean": "a + b",
    "product": "a * b",
    "min": "min(a, b)",
    "max": "max(a, b)",
    "and": "a & b",
    "or": "a | b",
    "xor": "a ^ b",
}
#: Values that change nothing. `min` and `max` begin with a number of the source: WGSL cannot write an infinity.
_IDENTITY = {"sum": "0", "mean": "0", "product": "1", "or": "0", "xor": "0"}
_ALL_BITS = {"i32": "-1", "u32": "4294967295u"}
_BITS = ("and", "or", "xor")

_FROM_BUFFER = """for (var at = 0u; at < 16u; at++) {
        let place = block * 4096u + at * 256u + index;
        if (place < ${count}u) { value = combine(value, source[place]); }
    }"""
_FROM_PARTS = """for (var at = index; at < ${count}u; at += 256u) { value = combine(value, source[at]); }"""
_FROM_IMAGE = """let size = textureDimensions(source);
    for (var at = 0u; at < 16u; at++) {
        let texel = group.xy * 64u + vec2<u32>(index & 15u, index >> 4u) + 16u * vec2<u32>(at & 3u, at >> 2u);
        if (all(texel < size)) { value = combine(value, $texel); }
    }"""


def _start(operation: str, scalar: str, first: str) -> str:
    """The value that an operation begins with, where `first` is a number of the source."""
    if operation in ("min", "max"):
        return first
    return _ALL_BITS[scalar] if operation == "and" else _IDENTITY[operation]


#: What arrays of a shader's numbers hold.
_DTYPES = {"f32": "float32", "i32": "int32", "u32": "uint32"}


def _texel(src: Picture, place: str = "texel") -> str:
    """A texel as four numbers."""
    rest = ", 0.0, 0.0, 1.0" if src.format.numbers == "depth" else ""
    return f"vec4<{scalar_of(src.format)}>(textureLoad(source, {place}, 0){rest})"


def _result(
    g: Module, name: str, target: BufferLike | None, shape: tuple[int, ...], scalar: str
) -> tuple[Buffer | None, BufferLike]:
    """A new buffer if there is no target, and what is written."""
    if target is None:
        new = g.buffer(name, shape=shape, dtype=_DTYPES[scalar])
        return new, new
    return None, target


def _room(g: Module, name: str, target: BufferLike | None, size: int) -> None:
    """Refuse a target of another length."""
    if target is not None:
        to, _, room = data(g, name, "target", target)
        if room != size:
            refuse("RG-E205", name, f'target "{to.name}" has {room} bytes', f"give {size} bytes", (to, f"{room} bytes"))


@overload
def reduce(
    g: Module,
    name: str,
    source: BufferLike | ImageLike,
    target: None = None,
    *,
    operation: Literal["sum", "mean", "product", "min", "max", "and", "or", "xor"] = "sum",
    dtype: Literal["uint32", "int32", "float32"] | None = None,
    queue: Queue = None,
) -> Buffer: ...
@overload
def reduce(
    g: Module,
    name: str,
    source: BufferLike | ImageLike,
    target: BufferLike,
    *,
    operation: Literal["sum", "mean", "product", "min", "max", "and", "or", "xor"] = "sum",
    dtype: Literal["uint32", "int32", "float32"] | None = None,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def reduce(
    g: Module,
    name: str,
    source: BufferLike | ImageLike,
    target: BufferLike | None = None,
    *,
    operation: Literal["sum", "mean", "product", "min", "max", "and", "or", "xor"] = "sum",
    dtype: Literal["uint32", "int32", "float32"] | None = None,
    queue: Queue = None,
) -> Pass | Buffer:
    """Reduce a buffer to one number, or an image to one per channel: passes `name/parts` and `name/reduce`.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new buffer.
    source
        A buffer of 32-bit numbers; or an image of one sample, sRGB colours count as linear light.
    target
        Buffer to write: 4 bytes for a buffer, 16 for an image; default: a new buffer `name`.
    operation
        `"sum"`, `"product"`, `"min"`, `"max"`; `"mean"` of real numbers; `"and"`, `"or"`, `"xor"` of integers. The
        minimum and maximum of NaN are unspecified.
    dtype
        Type of the numbers of a buffer; default: the buffer's dtype, or `"float32"` where it declares none. Those of an
        image follow from its format: floats, or integers of 32 bits. Integers wrap around.
    queue
        See `Module.add_pass`; default: `"compute"`.

    Returns
    -------
    Pass or Buffer
        The last pass, or the new buffer if `target` is left out.

    Raises
    ------
    GraphError
        If source or target is unsuitable. The graph is left unchanged.

    Notes
    -----
    Numbers are combined pair by pair in a tree whose order is the same on every device; sums of n floats lose about
    log2(n) + n / 2^20 roundings, not n.
    """
    given = g.find(source) if isinstance(source, str) else source
    known(name, "operation", operation, tuple(_COMBINE))
    if dtype is not None:
        known(name, "dtype", dtype, tuple(TYPES))
    src: Picture | None = None
    if isinstance(given.resource if isinstance(given, View) else given, Buffer):
        buffer, _, size = data(g, name, "source", given)  # type: ignore[arg-type]
        if size % 4 or size == 0:
            message = f'source "{buffer.name}" has {size} bytes'
            refuse("RG-E205", name, message, "give whole numbers of 32 bits", (buffer, f"{size} bytes"))
        scalar = ty = numbers(name, buffer, dtype, "float32")
        count, groups = size // 4, math.ceil(size / 4 / _BLOCK)
        many = spread(groups)
        bindings = f"@group(0) @binding(0) var<storage, read> source: array<{ty}>;"
        gather, first = _FROM_BUFFER.replace("${count}", str(count)), "source[0]"
    else:
        src = picture(g, name, "source", given, only="any")  # type: ignore[arg-type]
        scalar = scalar_of(src.format)
        ty = f"vec4<{scalar}>"
        count = src.size[0] * src.size[1]
        many = (math.ceil(src.size[0] / 64), math.ceil(src.size[1] / 64))
        groups = many[0] * many[1]
        bindings = f"@group(0) @binding(0) var source: {read_kind(src.format)};"
        gather, first = _FROM_IMAGE.replace("$texel", _texel(src)), _texel(src, "vec2<u32>()")
    if operation in _BITS and scalar == "f32":
        refuse("RG-E207", name, f"{operation} of real numbers", 'set dtype="uint32", or give an image of integers')
    if operation == "mean" and scalar != "f32":
        refuse("RG-E207", name, f"mean of {scalar} numbers", 'take their "sum" and divide')
    on = computes(name, queue)
    _room(g, name, target, 4 if src is None else 16)
    new, goal = _result(g, name, target, (1,) if src is None else (4,), scalar)
    words = {"type": ty, "combine": _COMBINE[operation]}
    start = _start(operation, scalar, first)
    scale = f" / {count}.0" if operation == "mean" else ""
    bound = given if src is None else src.part
    if groups == 1:
        last = text("reduce", bindings=bindings, gather=gather, start=start, scale=scale, **words)
        done = g.compute(f"{name}/reduce", last, groups=1, queue=on, source=bound, result=goal)
        return new or done
    parts = g.buffer(f"{name}/parts", groups * (4 if src is None else 16))
    block = text("reduce", bindings=bindings, gather=gather, start=start, scale="", **words)
    g.compute(f"{name}/parts", block, groups=many, queue=on, source=bound, result=parts)
    bindings = f"@group(0) @binding(0) var<storage, read> source: array<{ty}>;"
    gather, start = _FROM_PARTS.replace("${count}", str(groups)), _start(operation, scalar, "source[0]")
    last = text("reduce", bindings=bindings, gather=gather, start=start, scale=scale, **words)
    done = g.compute(f"{name}/reduce", last, groups=1, queue=on, source=parts, result=goal)
    return new or done


_OF_TEXELS = """let size = textureDimensions(source);
    for (var at = 0u; at < 32u; at++) {
        let texel = group.xy * 64u + vec2<u32>(index & 15u, index >> 4u) + vec2<u32>(16u * (at & 3u), 8u * (at >>
        2u)); if (all(texel < size)) {
            let value = vec4<f32>($texel);
            part = merged(part, Part(value, value, value, vec4<f32>(0.0), 1.0));
        }
    }"""
_OF_PARTS = """for (var at = index; at < ${count}u; at += 128u) {
        let other = source[at];
        part = merged(part, Part(other.least, other.most, other.mean, other.squares, other.count));
    }"""
_STORE_PART = "result[group.y * ${across}u + group.x] = Stored(all.least, all.most, all.mean, all.squares, all.count);"
_STORE = "result[0] = array<vec4<f32>, 4>(all.least, all.most, all.mean, all.squares / all.count);"


@overload
def statistics(g: Module, name: str, source: ImageLike, target: None = None, *, queue: Queue = None) -> Buffer: ...
@overload
def statistics(g: Module, name: str, source: ImageLike, target: BufferLike, *, queue: Queue = None) -> Pass: ...
@ready_made
def statistics(
    g: Module, name: str, source: ImageLike, target: BufferLike | None = None, *, queue: Queue = None
) -> Pass | Buffer:
    """Compute minimum, maximum, mean and variance per channel of an image: passes `name/parts` and `name/statistics`.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new buffer.
    source
        An image of one sample; sRGB colours count as linear light, integers become floats.
    target
        Buffer to write: 64 bytes; default: a new buffer `name`.
    queue
        See `Module.add_pass`; default: `"compute"`.

    Returns
    -------
    Pass or Buffer
        The last pass, or the new buffer if `target` is left out: 32-bit floats of shape (4, 4), which are least,
        most, mean and variance (of the whole, not of a sample) of (red, green, blue, alpha). Channels that the format
        lacks are 0, and 1 in alpha.

    Raises
    ------
    GraphError
        If source or target is unsuitable. The graph is left unchanged.

    References
    ----------
    Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979: parts are
    merged by their counts, means and squared deviations, so that large and bright images lose nothing.
    """
    src = picture(g, name, "source", source, only="any")
    on = computes(name, queue)
    _room(g, name, target, 64)
    new, goal = _result(g, name, target, (4, 4), "f32")
    across, down = math.ceil(src.size[0] / 64), math.ceil(src.size[1] / 64)
    bindings = f"@group(0) @binding(0) var source: {read_kind(src.format)};"
    gather = _OF_TEXELS.replace("$texel", _texel(src))
    corner = f"vec4<f32>({_texel(src, 'vec2<u32>()')})"
    start = {"least": corner, "most": corner}
    last = "array<vec4<f32>, 4>"
    if across * down == 1:
        shader = text("statistics", bindings=bindings, gather=gather, result=last, store=_STORE, **start)
        done = g.compute(f"{name}/statistics", shader, groups=1, queue=on, source=src.part, result=goal)
        return new or done
    parts = g.buffer(f"{name}/parts", 80 * across * down)
    store = _STORE_PART.replace("${across}", str(across))
    shader = text("statistics", bindings=bindings, gather=gather, result="Stored", store=store, **start)
    g.compute(f"{name}/parts", shader, groups=(across, down), queue=on, source=src.part, result=parts)
    bindings = "@group(0) @binding(0) var<storage, read> source: array<Stored>;"
    gather = _OF_PARTS.replace("${count}", str(across * down))
    start = {"least": "source[0].least", "most": "source[0].most"}
    shader = text("statistics", bindings=bindings, gather=gather, result=last, store=_STORE, **start)
    done = g.compute(f"{name}/statistics", shader, groups=1, queue=on, source=parts, result=goal)
    return new or done
