"""Images as arguments of ready-made passes: what they are, held against what a pass needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rgraph._core import Buffer, Format, Image, Module, View
from rgraph.passes._mistake import refuse

__all__ = [
    "BufferLike",
    "ImageLike",
    "Picture",
    "data",
    "made",
    "picture",
    "read_kind",
    "real",
    "same_size",
    "scalar_of",
    "storable",
    "working",
]

ImageLike: TypeAlias = Image | View | str
"""An image, a part of one (`image.mip(1)`, `image.layer(2)`), or its name."""
BufferLike: TypeAlias = Buffer | View | str
"""A buffer, a part of one (`buffer[0:256]`), or its name."""


def real(format: Format) -> bool:
    """Whether texels are real numbers."""
    return format.numbers in ("unorm", "snorm", "float")


def scalar_of(format: Format) -> str:
    """The type of the format's numbers in WGSL."""
    return format.shader[0]


def storable(format: Format) -> bool:
    """Whether compute shaders write the format on every device that has it as a storage texture.

    WebGPU has `bgra8unorm` and normalised numbers of 16 bits behind features of their own.
    """
    wide = format.bits == 16 and format.numbers in ("unorm", "snorm")
    return format.storage and not wide and format.name != "bgra8unorm"


def working(format: Format) -> str:
    """A storage format of as many channels that holds what is between two passes without rounding to 8 bits."""
    letters = {1: "r", 2: "rg"}.get(format.components, "rgba")
    return f"{letters}32float" if format.bits == 32 else f"{letters}16float"


@dataclass(frozen=True, slots=True)
class Picture:
    """One mip of an image.

    Attributes
    ----------
    part
        What is bound.
    image
        The image.
    format
        Its format.
    size
        (width, height) of the mip in texels.
    mip
        Which mip.
    samples
        Samples per texel.
    """

    part: Image | View
    image: Image
    format: Format
    size: tuple[int, int]
    mip: int
    samples: int

    def __str__(self) -> str:
        return f'"{self.image.name}" of {self.format.name}'


def picture(
    g: Module, name: str, what: str, value: ImageLike, *, only: str = "real", samples: bool | None = False
) -> Picture:
    """The image that an argument means: two-dimensional, one layer, one mip.

    Parameters
    ----------
    g
        Where names are looked for.
    name
        Name of the ready-made pass.
    what
        Name of the argument.
    value
        The argument.
    only
        `"real"`: numbers must be real; `"any"`: colours, integers or depth.
    samples
        Whether it has several samples; None: either.

    Raises
    ------
    GraphError
        If it is something else.
    """
    given = g.find(value) if isinstance(value, str) else value
    image = given.resource if isinstance(given, View) else given
    if not isinstance(image, Image):
        kind = "a buffer" if isinstance(image, Buffer) else f"of type {type(given).__name__}"
        refuse("RG-E218", name, f"{what} is {kind}", "give an image, part of one as image.mip(1), or its name")
    if image.format is None:
        refuse("RG-E207", name, f'{what} "{image.name}" has no format', "declare it with format=", (image, "here"))
    format = Format(image.format)
    says = f"of {format.name}"
    if len(image.size) == 3:
        refuse("RG-E205", name, f'{what} "{image.name}" is a volume', "give a two-dimensional image", (image, says))
    view = given if isinstance(given, View) else None
    layers = (view and view.layer_range) or (0, image.layer_count)
    if layers[1] - layers[0] != 1:
        message = f'{what} "{image.name}" has {layers[1] - layers[0]} layers'
        refuse("RG-E209", name, message, "give one of them, as image.layer(0)", (image, f"{image.layer_count} layers"))
    mip = ((view and view.mip_range) or (0, 1))[0]
    if mip >= image.mip_count or layers[1] > image.layer_count:
        message = f'{what} is part of "{image.name}" that there is not'
        refuse("RG-E209", name, message, "stay within its mips and layers", (image, f"{image.mip_count} mips"))
    if samples is not None and (image.samples > 1) != samples:
        message = f'{what} "{image.name}" has {image.samples} samples'
        help = "resolve it first, as passes.resolve()" if image.samples > 1 else "declare it with samples=4"
        refuse("RG-E208", name, message, help, (image, f"{image.samples} samples"))
    if format.numbers == "block" or (only == "real" and not real(format)):
        wants = "real numbers" if only == "real" else "texels, not blocks"
        help = "give an image with real numbers, as rgba16float" if only == "real" else "give an uncompressed image"
        refuse("RG-E207", name, f'{what} "{image.name}" is of {format.name}, and wants {wants}', help, (image, says))
    part: Image | View = given if isinstance(given, Image | View) else image
    if image.mip_count > 1:
        part = part.mip(mip)
    size = (max(image.size[0] >> mip, 1), max(image.size[1] >> mip, 1))
    return Picture(part, image, format, size, mip, image.samples)


def made(
    g: Module, name: str, like: Picture, *, format: Format | str | None = None, scale: float | None = None
) -> Picture:
    """A new image of a picture's size, times `scale`."""
    if like.mip == 0:
        image = g.image(name, like=like.image, format=format or like.format.name, scale=scale)
    else:
        size = [max(int(axis * (scale or 1)), 1) for axis in like.size]
        image = g.image(name, size, format or like.format.name)
    return picture(g, name, "target", image, only="any")


def read_kind(format: Format) -> str:
    """The WGSL type that a format of one sample is sampled as."""
    return "texture_depth_2d" if format.numbers == "depth" else f"texture_2d<{scalar_of(format)}>"


def data(g: Module, name: str, what: str, value: BufferLike) -> tuple[Buffer, int, int]:
    """The buffer that an argument means, its first byte and the number of them.

    Raises
    ------
    GraphError
        If it is none.
    """
    given = g.find(value) if isinstance(value, str) else value
    buffer = given.resource if isinstance(given, View) else given
    if not isinstance(buffer, Buffer):
        kind = "an image" if isinstance(buffer, Image) else f"of type {type(given).__name__}"
        refuse("RG-E218", name, f"{what} is {kind}", "give a buffer, part of one as buffer[0:256], or its name")
    first, end = (isinstance(given, View) and given.byte_range) or (0, buffer.size)
    return buffer, first, end - first


def same_size(name: str, source: Picture, what: str, other: Picture) -> None:
    """Refuse two images of different sizes.

    Raises
    ------
    GraphError
        If they are.
    """
    if source.size != other.size:
        says = ((one.image, "{} × {} texels".format(*one.size)) for one in (other, source))
        message = f"source {source} and {what} {other} have different sizes"
        refuse("RG-E206", name, message, "scale one of them first, as passes.blit() does", *says)
