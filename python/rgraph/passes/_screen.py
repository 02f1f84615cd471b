"""Fragment shaders over a whole target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rgraph._core import Buffer, Image, Module, Pass, Sampler, View
from rgraph.passes._mistake import refuse
from rgraph.passes._picture import ImageLike, picture, read_kind, scalar_of

__all__ = ["full_screen"]

_HEAD = """
@fragment
fn main(@location(0) uv: vec2<f32>, @builtin(position) position: vec4<f32>) -> @location(0) vec4<$scalar> {
"""


def full_screen(
    g: Module,
    name: str,
    shader: str,
    target: ImageLike | Sequence[ImageLike],
    *,
    push: Mapping[str, float | Sequence[float]] | None = None,
    load: str | None = None,
    clear: tuple[float, float, float, float] | None = None,
    blend: str | Mapping[str, Sequence[str]] | None = None,
    viewport: Sequence[float] | None = None,
    **variables: Any,
) -> Pass:
    """Run a fragment shader for every texel of a target, as a pass `name/draw`.

    The shader is WGSL: a complete one with `@fragment`, or only the body of a function. The body may use `uv` (0 … 1
    from the upper left corner), `position` (in texels), every variable bound here, the samplers `linear` and
    `nearest`, and `params` with the members of `push`; it returns the colour.

    Parameters
    ----------
    g
        Graph or module that the pass is declared in.
    name
        Prefix of the pass's name.
    shader
        See above.
    target
        Image to write; for a complete shader a list of images by location.
    push
        Numbers, or lists of two to four of them, by name; a run changes them by `params={"name/draw": {...}}`.
        For a complete shader as in `Module.raster`.
    load
        Load operation of the target; default: `"load"` with `blend` or `viewport`, else `"discard"`.
    clear
        Colour to clear the target with first.
    blend
        As in `Module.raster`: `"alpha"`, `"premultiplied"`, `"add"`, `"multiply"` or a dict.
    viewport
        (x, y, width, height) in texels; default: all.
    **variables
        Inputs of the shader by name: images, buffers (arrays of 32-bit floats for a body),
        samplers.

    Returns
    -------
    Pass
        The pass.

    Raises
    ------
    GraphError
        If an image is unsuitable. The graph is left unchanged.
    ShaderError
        If the shader is wrong, with the line.

    Examples
    --------
    >>> import rgraph
    >>> from rgraph import passes
    >>> g = rgraph.Graph("frame", size=(64, 64))
    >>> photo, out = g.import_image("photo", format="rgba8unorm"), g.image("out", format="rgba8unorm")
    >>> body = "return textureSample(photo, linear, uv) * params.gain;"
    >>> passes.full_screen(g, "brighter", body, out, photo=photo, push={"gain": 2.0}).name
    'brighter/draw'
    """
    if load is None and clear is None:
        load = "load" if blend is not None or viewport is not None else "discard"
    options: dict[str, Any] = {"load": load, "clear": clear, "blend": blend, "viewport": viewport, "push": push}
    if "@fragment" in shader:
        targets = [target] if isinstance(target, str | Image | View) else list(target)
        return g.raster(f"{name}/draw", shader, color=targets, bindings=variables, **options)
    if not isinstance(target, str | Image | View):
        help = "write a whole shader with @fragment for several targets"
        refuse("RG-E315", name, "several targets for a shader that returns one value", help)
    dst = picture(g, name, "target", target, only="any")
    lines = []
    bound: dict[str, Any] = {}
    for at, (word, value) in enumerate(variables.items()):
        kind, bound[word] = _variable(g, name, word, value)
        lines.append(f"@group(0) @binding({at}) var{kind};")
    used = {word: Sampler(word) for word in ("linear", "nearest") if word in shader}
    for at, (word, sampler) in enumerate(used.items(), len(lines)):
        if word not in variables:
            lines.append(f"@group(0) @binding({at}) var {word}: sampler;")
            bound[word] = sampler
    if push:
        members = ", ".join(f"{member}: {_type(name, member, value)}" for member, value in push.items())
        lines += [f"struct Params {{ {members} }}", "var<immediate> params: Params;"]
    source = "\n".join(lines) + _HEAD.replace("$scalar", scalar_of(dst.format)) + shader + "\n}\n"
    return g.raster(f"{name}/draw", source, color=dst.part, bindings=bound, **options)


def _variable(g: Module, name: str, word: str, value: Any) -> tuple[str, Any]:
    """What stands behind `var` for something that is bound, and what is bound."""
    if isinstance(value, Sampler):
        return f" {word}: sampler", value
    given: Any = g.find(value) if isinstance(value, str) else value
    resource = given.resource if isinstance(given, View) else given
    if isinstance(resource, Buffer):
        return f"<storage, read> {word}: array<f32>", given
    src = picture(g, name, word, given, only="any", samples=None)
    if src.samples > 1:
        depth = src.format.numbers == "depth"
        kind = "texture_depth_multisampled_2d" if depth else f"texture_multisampled_2d<{scalar_of(src.format)}>"
        return f" {word}: {kind}", src.part
    # All mips of an image, unless one of them is meant.
    return f" {word}: {read_kind(src.format)}", src.part if isinstance(given, View) and given.mip_range else given


def _type(name: str, member: str, value: Any) -> str:
    """The WGSL type of push data."""
    if isinstance(value, int | float):
        return "f32"
    if isinstance(value, Sequence) and not isinstance(value, str) and 2 <= len(value) <= 4:
        return f"vec{len(value)}<f32>"
    refuse("RG-E313", name, f'push "{member}" is {value!r}', "give a number, or a list of two to four")
