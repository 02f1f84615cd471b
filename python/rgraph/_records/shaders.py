"""What `rgraph.reflect` says of a shader, as named tuples."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ShaderBinding",
    "ShaderConstant",
    "ShaderMember",
    "ShaderPush",
    "ShaderReflection",
    "ShaderRefusal",
    "ShaderStage",
    "ShaderVarying",
]


class ShaderMember(NamedTuple):
    """A member of a block of a shader."""

    name: str
    """Its name."""
    type: str
    """Its type as WGSL spells it: `f32`, `vec3<f32>`, `mat4x4<f32>`, `array<Light, 4>`, the name of a struct."""
    offset: int
    """First byte within the block."""
    size: int | None
    """Bytes; None: an array of open length, which takes the rest of the buffer."""
    stride: int | None
    """Of arrays: bytes from element to element; of matrices: from column to column, or from row to row."""
    members: tuple[ShaderMember, ...]
    """Members of a struct, or of the elements of an array; offsets count from its own first byte."""


class ShaderBinding(NamedTuple):
    """A resource or sampler that a shader uses."""

    name: str
    """The variable's name; of a block without instance name, the block's: the keyword that binds it."""
    place: tuple[int, int]
    """Group (descriptor set) and binding."""
    kind: str
    """`uniform`, `storage`, `sampled`, `combined` (an image with its sampler), `image` (storage), `texels` (a buffer of
    texels), `sampler` or `input_attachment`."""
    type: str
    """Of buffers, the type of their data; of others, what may be bound."""
    length: int | None
    """Number of resources: 1, or the length of an array; None: an array of open length."""
    reads: bool
    """Whether any stage reads it."""
    writes: bool
    """Whether any stage writes it. Atomic operations read and write."""
    stages: tuple[str, ...]
    """The stages that use it."""
    size: int | None
    """Bytes of a buffer's data, without a last array of open length."""
    members: tuple[ShaderMember, ...]
    """Members of a buffer's block."""
    sample: str | None
    """Of images, what a texel reads as: `float`, `int`, `uint` or `depth`."""
    format: str | None
    """Of storage images and storage texel buffers, the format that the shader names."""


class ShaderVarying(NamedTuple):
    """A value that enters or leaves a stage."""

    name: str
    """Its name."""
    location: int
    """Its location: of outputs of a fragment stage, the position of the colour target."""
    type: str
    """Its type as WGSL spells it."""


class ShaderStage(NamedTuple):
    """A stage of a shader."""

    stage: str
    """`compute`, `vertex` or `fragment`."""
    entry: str
    """Name of its entry point."""
    inputs: tuple[ShaderVarying, ...]
    """Values that it reads of vertices or of the stage before, by location."""
    outputs: tuple[ShaderVarying, ...]
    """Values that it writes, by location."""


class ShaderPush(NamedTuple):
    """Push data of a shader, over all stages."""

    name: str
    """The variable's name."""
    type: str
    """Its type as WGSL spells it."""
    size: int
    """Bytes, a multiple of 4."""
    members: tuple[ShaderMember, ...]
    """Members of the block."""


class ShaderConstant(NamedTuple):
    """A constant of a shader that takes its value when the pipeline is made."""

    name: str
    """Its name, or its number as text where it has none."""
    id: int | None
    """Its number: `constant_id` of GLSL, `SpecId` of SPIR-V, `@id` of WGSL."""
    type: str
    """Its type, as `u32` or `bool`."""
    default: bool | int | float | None
    """Its value where none is given; None: it has none, or it is computed from other constants."""
    required: bool
    """Whether it has no value unless one is given."""


class ShaderRefusal(NamedTuple):
    """A variable of a shader that no pass can bind."""

    name: str
    """Its name; of a block without instance name, the block's."""
    place: tuple[int, int] | None
    """Group (descriptor set) and binding; None: it has none."""
    why: str
    """What a pass with the shader is refused with."""


class ShaderReflection(NamedTuple):
    """What a shader asks for: see `reflect`."""

    stages: tuple[ShaderStage, ...]
    """Its stages, in the order of a pipeline."""
    bindings: tuple[ShaderBinding, ...]
    """What it binds, by group and binding."""
    push: ShaderPush | None
    """Its push data."""
    vertex_inputs: tuple[ShaderVarying, ...]
    """Attributes of vertices, by location."""
    outputs: tuple[ShaderVarying, ...]
    """Colour outputs, by location."""
    workgroup: tuple[int, int, int] | None
    """Invocations of a workgroup in x, y, z, of compute shaders."""
    writes_depth: bool
    """Whether its fragment stage writes the depth itself."""
    unused: tuple[str, ...]
    """Variables that it declares and does not use: they take anything."""
    constants: tuple[ShaderConstant, ...]
    """Constants that `constants=` of a pass gives values: WGSL's `override`, specialization constants."""
    refused: tuple[ShaderRefusal, ...]
    """Variables that no pass can bind: types of extensions, and one binding that is several things at once."""
