"""Shaders of ready-made passes: WGSL files of this package, and passes that compute one texel each."""

from __future__ import annotations

from importlib import resources
from string import Template
from typing import Any, Literal, TypeAlias

from rgraph._core import Format, Image, Module, Pass
from rgraph.passes._mistake import known, refuse
from rgraph.passes._picture import Picture, scalar_of, storable

__all__ = ["QUEUES", "Queue", "computes", "draws", "per_texel", "text"]

Queue: TypeAlias = Literal["graphics", "compute", "async_compute", "any"] | None
"""Where a ready-made pass runs; None: wherever its target's format allows, else as `Module.add_pass` has it."""
QUEUES = ("graphics", "compute", "async_compute", "any")

_COMPUTE = """
@group(0) @binding(15) var target_: texture_storage_2d<$format, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(target_))) { return; }
    textureStore(target_, id.xy, texel(vec2<i32>(id.xy)));
}
"""
_DRAW = """
@fragment
fn main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<$scalar> {
    return texel(vec2<i32>(position.xy));
}
"""
_DEPTH = """
@fragment
fn main(@builtin(position) position: vec4<f32>) -> @builtin(frag_depth) f32 {
    return texel(vec2<i32>(position.xy)).x;
}
"""


_files: dict[str, Template] = {}


def text(name: str, **values: object) -> str:
    """A shader of this package, with `$words` replaced."""
    if name not in _files:
        file = resources.files("rgraph.passes").joinpath("shaders", f"{name}.wgsl")
        _files[name] = Template(file.read_text("utf-8"))
    return _files[name].substitute(values)


def draws(name: str, format: Format, queue: Queue, image: Image | None = None) -> bool:
    """Whether a pass draws its target: because of its queue, or since no compute shader can write the format.

    Parameters
    ----------
    name
        Name of the ready-made pass.
    format
        The target's.
    queue
        What was asked for.
    image
        The target, if there is one already.

    Raises
    ------
    GraphError
        If the queue cannot do it.
    """
    if queue is not None:
        known(name, "queue", queue, QUEUES)
    if queue in ("compute", "async_compute") and not storable(format):
        which = "a new target" if image is None else f'target "{image.name}"'
        message = f"{which} of {format.name} cannot be written on queue {queue!r}: no storage image is of that format"
        help = 'leave queue= out, or say "graphics"; or take a linear format as rgba8unorm or rgba16float'
        refuse("RG-E211", name, message, help, *([] if image is None else [(image, f"of {format.name}")]))
    return queue == "graphics" or not storable(format)


def computes(name: str, queue: Queue) -> Literal["compute", "async_compute", "any"]:
    """The queue of a pass that can only be a compute shader.

    Raises
    ------
    GraphError
        If there is no such queue.
    """
    if queue is not None:
        known(name, "queue", queue, QUEUES)
    return "compute" if queue is None or queue == "graphics" else queue


def per_texel(
    g: Module, name: str, step: str, body: str, target: Picture, queue: Queue, push: Any = None, **variables: Any
) -> Pass:
    """Declare a pass that writes every texel of a target.

    Parameters
    ----------
    g
        Where it is declared.
    name, step
        Its name is `name/step`.
    body
        WGSL with `fn texel(at: vec2<i32>) -> vec4<T>`, where `T` is what the target's format stores. Bindings 0 to 14
        of group 0 are its own.
    target
        What is written, all of one mip.
    queue
        See `draws`.
    push, **variables
        As in `Module.compute`.
    """
    if draws(name, target.format, queue, target.image):
        if target.format.numbers == "depth":
            options = {"depth": target.part, "depth_test": "always", "push": push, "bindings": variables}
            return g.raster(f"{name}/{step}", body + _DEPTH, **options)
        source = body + _DRAW.replace("$scalar", scalar_of(target.format))
        return g.raster(f"{name}/{step}", source, color=target.part, load="discard", push=push, bindings=variables)
    source = body + _COMPUTE.replace("$format", target.format.name)
    bindings = variables | {"target_": target.part}
    return g.compute(f"{name}/{step}", source, queue=queue or "compute", push=push, bindings=bindings)
