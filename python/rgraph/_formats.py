"""The table of texel formats; tests compare it with the code and with a device."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FormatInfo", "formats"]


class FormatInfo(NamedTuple):
    """A texel format."""

    name: str
    """WebGPU's name."""
    vulkan: str
    """Vulkan's name, without `VK_FORMAT_`."""
    dtype: str
    """Kind of the numbers of its arrays."""
    channels: int
    """Length of the last axis of its arrays; of a compressed format, the bytes of a block."""
    shader: tuple[str, ...]
    """What a shader reads: `f32`, `i32`, `u32`, `depth`."""
    storage: bool
    """Whether WGSL has it as a storage texture."""
    attachment: str | None
    """`"color"` or `"depth"`, if passes can draw into it."""
    mips: bool
    """Whether the graph can generate its mips."""
    block: tuple[int, int]
    """(width, height) of a compressed block in texels, else (1, 1)."""


# Name, Vulkan's name, dtype, channels, what shaders read, storage, attachment, mips.
_PLAIN = (
    ("r8unorm", "R8_UNORM", "uint8", 1, "f32", True, "color", True),
    ("r8snorm", "R8_SNORM", "int8", 1, "f32", True, "color", True),
    ("r8uint", "R8_UINT", "uint8", 1, "u32", True, "color", False),
    ("r8sint", "R8_SINT", "int8", 1, "i32", True, "color", False),
    ("r16unorm", "R16_UNORM", "uint16", 1, "f32", True, "color", True),
    ("r16snorm", "R16_SNORM", "int16", 1, "f32", True, "color", True),
    ("r16uint", "R16_UINT", "uint16", 1, "u32", True, "color", False),
    ("r16sint", "R16_SINT", "int16", 1, "i32", True, "color", False),
    ("r16float", "R16_SFLOAT", "float16", 1, "f32", True, "color", True),
    ("rg8unorm", "R8G8_UNORM", "uint8", 2, "f32", True, "color", True),
    ("rg8snorm", "R8G8_SNORM", "int8", 2, "f32", True, "color", True),
    ("rg8uint", "R8G8_UINT", "uint8", 2, "u32", True, "color", False),
    ("rg8sint", "R8G8_SINT", "int8", 2, "i32", True, "color", False),
    ("r32uint", "R32_UINT", "uint32", 1, "u32", True, "color", False),
    ("r32sint", "R32_SINT", "int32", 1, "i32", True, "color", False),
    ("r32float", "R32_SFLOAT", "float32", 1, "f32", True, "color", True),
    ("rg16unorm", "R16G16_UNORM", "uint16", 2, "f32", True, "color", True),
    ("rg16snorm", "R16G16_SNORM", "int16", 2, "f32", True, "color", True),
    ("rg16uint", "R16G16_UINT", "uint16", 2, "u32", True, "color", False),
    ("rg16sint", "R16G16_SINT", "int16", 2, "i32", True, "color", False),
    ("rg16float", "R16G16_SFLOAT", "float16", 2, "f32", True, "color", True),
    ("rgba8unorm", "R8G8B8A8_UNORM", "uint8", 4, "f32", True, "color", True),
    ("rgba8unorm-srgb", "R8G8B8A8_SRGB", "uint8", 4, "f32", False, "color", True),
    ("rgba8snorm", "R8G8B8A8_SNORM", "int8", 4, "f32", True, "color", True),
    ("rgba8uint", "R8G8B8A8_UINT", "uint8", 4, "u32", True, "color", False),
    ("rgba8sint", "R8G8B8A8_SINT", "int8", 4, "i32", True, "color", False),
    ("bgra8unorm", "B8G8R8A8_UNORM", "uint8", 4, "f32", True, "color", True),
    ("bgra8unorm-srgb", "B8G8R8A8_SRGB", "uint8", 4, "f32", False, "color", True),
    ("rgb9e5ufloat", "E5B9G9R9_UFLOAT_PACK32", "uint32", 1, "f32", False, "color", True),
    ("rgb10a2uint", "A2B10G10R10_UINT_PACK32", "uint32", 1, "u32", True, "color", False),
    ("rgb10a2unorm", "A2B10G10R10_UNORM_PACK32", "uint32", 1, "f32", True, "color", True),
    ("rg11b10ufloat", "B10G11R11_UFLOAT_PACK32", "uint32", 1, "f32", True, "color", True),
    ("rg32uint", "R32G32_UINT", "uint32", 2, "u32", True, "color", False),
    ("rg32sint", "R32G32_SINT", "int32", 2, "i32", True, "color", False),
    ("rg32float", "R32G32_SFLOAT", "float32", 2, "f32", True, "color", True),
    ("rgba16unorm", "R16G16B16A16_UNORM", "uint16", 4, "f32", True, "color", True),
    ("rgba16snorm", "R16G16B16A16_SNORM", "int16", 4, "f32", True, "color", True),
    ("rgba16uint", "R16G16B16A16_UINT", "uint16", 4, "u32", True, "color", False),
    ("rgba16sint", "R16G16B16A16_SINT", "int16", 4, "i32", True, "color", False),
    ("rgba16float", "R16G16B16A16_SFLOAT", "float16", 4, "f32", True, "color", True),
    ("rgba32uint", "R32G32B32A32_UINT", "uint32", 4, "u32", True, "color", False),
    ("rgba32sint", "R32G32B32A32_SINT", "int32", 4, "i32", True, "color", False),
    ("rgba32float", "R32G32B32A32_SFLOAT", "float32", 4, "f32", True, "color", True),
    ("stencil8", "S8_UINT", "uint8", 1, "u32", False, "depth", False),
    ("depth16unorm", "D16_UNORM", "uint16", 1, "f32, depth", False, "depth", False),
    ("depth24plus", "X8_D24_UNORM_PACK32", "uint32", 1, "f32, depth", False, "depth", False),
    ("depth24plus-stencil8", "D24_UNORM_S8_UINT", "uint32", 1, "f32, depth", False, "depth", False),
    ("depth32float", "D32_SFLOAT", "float32", 1, "f32, depth", False, "depth", False),
    ("depth32float-stencil8", "D32_SFLOAT_S8_UINT", "float32", 1, "f32, depth", False, "depth", False),
)

# Name, Vulkan's name, block, bytes of a block.
_BLOCKS = (
    ("bc1-rgba-unorm", "BC1_RGBA_UNORM_BLOCK", 4, 4, 8),
    ("bc1-rgba-unorm-srgb", "BC1_RGBA_SRGB_BLOCK", 4, 4, 8),
    ("bc2-rgba-unorm", "BC2_UNORM_BLOCK", 4, 4, 16),
    ("bc2-rgba-unorm-srgb", "BC2_SRGB_BLOCK", 4, 4, 16),
    ("bc3-rgba-unorm", "BC3_UNORM_BLOCK", 4, 4, 16),
    ("bc3-rgba-unorm-srgb", "BC3_SRGB_BLOCK", 4, 4, 16),
    ("bc4-r-unorm", "BC4_UNORM_BLOCK", 4, 4, 8),
    ("bc4-r-snorm", "BC4_SNORM_BLOCK", 4, 4, 8),
    ("bc5-rg-unorm", "BC5_UNORM_BLOCK", 4, 4, 16),
    ("bc5-rg-snorm", "BC5_SNORM_BLOCK", 4, 4, 16),
    ("bc6h-rgb-ufloat", "BC6H_UFLOAT_BLOCK", 4, 4, 16),
    ("bc6h-rgb-float", "BC6H_SFLOAT_BLOCK", 4, 4, 16),
    ("bc7-rgba-unorm", "BC7_UNORM_BLOCK", 4, 4, 16),
    ("bc7-rgba-unorm-srgb", "BC7_SRGB_BLOCK", 4, 4, 16),
    ("etc2-rgb8unorm", "ETC2_R8G8B8_UNORM_BLOCK", 4, 4, 8),
    ("etc2-rgb8unorm-srgb", "ETC2_R8G8B8_SRGB_BLOCK", 4, 4, 8),
    ("etc2-rgb8a1unorm", "ETC2_R8G8B8A1_UNORM_BLOCK", 4, 4, 8),
    ("etc2-rgb8a1unorm-srgb", "ETC2_R8G8B8A1_SRGB_BLOCK", 4, 4, 8),
    ("etc2-rgba8unorm", "ETC2_R8G8B8A8_UNORM_BLOCK", 4, 4, 16),
    ("etc2-rgba8unorm-srgb", "ETC2_R8G8B8A8_SRGB_BLOCK", 4, 4, 16),
    ("eac-r11unorm", "EAC_R11_UNORM_BLOCK", 4, 4, 8),
    ("eac-r11snorm", "EAC_R11_SNORM_BLOCK", 4, 4, 8),
    ("eac-rg11unorm", "EAC_R11G11_UNORM_BLOCK", 4, 4, 16),
    ("eac-rg11snorm", "EAC_R11G11_SNORM_BLOCK", 4, 4, 16),
    ("astc-4x4-unorm", "ASTC_4x4_UNORM_BLOCK", 4, 4, 16),
    ("astc-4x4-unorm-srgb", "ASTC_4x4_SRGB_BLOCK", 4, 4, 16),
    ("astc-5x4-unorm", "ASTC_5x4_UNORM_BLOCK", 5, 4, 16),
    ("astc-5x4-unorm-srgb", "ASTC_5x4_SRGB_BLOCK", 5, 4, 16),
    ("astc-5x5-unorm", "ASTC_5x5_UNORM_BLOCK", 5, 5, 16),
    ("astc-5x5-unorm-srgb", "ASTC_5x5_SRGB_BLOCK", 5, 5, 16),
    ("astc-6x5-unorm", "ASTC_6x5_UNORM_BLOCK", 6, 5, 16),
    ("astc-6x5-unorm-srgb", "ASTC_6x5_SRGB_BLOCK", 6, 5, 16),
    ("astc-6x6-unorm", "ASTC_6x6_UNORM_BLOCK", 6, 6, 16),
    ("astc-6x6-unorm-srgb", "ASTC_6x6_SRGB_BLOCK", 6, 6, 16),
    ("astc-8x5-unorm", "ASTC_8x5_UNORM_BLOCK", 8, 5, 16),
    ("astc-8x5-unorm-srgb", "ASTC_8x5_SRGB_BLOCK", 8, 5, 16),
    ("astc-8x6-unorm", "ASTC_8x6_UNORM_BLOCK", 8, 6, 16),
    ("astc-8x6-unorm-srgb", "ASTC_8x6_SRGB_BLOCK", 8, 6, 16),
    ("astc-8x8-unorm", "ASTC_8x8_UNORM_BLOCK", 8, 8, 16),
    ("astc-8x8-unorm-srgb", "ASTC_8x8_SRGB_BLOCK", 8, 8, 16),
    ("astc-10x5-unorm", "ASTC_10x5_UNORM_BLOCK", 10, 5, 16),
    ("astc-10x5-unorm-srgb", "ASTC_10x5_SRGB_BLOCK", 10, 5, 16),
    ("astc-10x6-unorm", "ASTC_10x6_UNORM_BLOCK", 10, 6, 16),
    ("astc-10x6-unorm-srgb", "ASTC_10x6_SRGB_BLOCK", 10, 6, 16),
    ("astc-10x8-unorm", "ASTC_10x8_UNORM_BLOCK", 10, 8, 16),
    ("astc-10x8-unorm-srgb", "ASTC_10x8_SRGB_BLOCK", 10, 8, 16),
    ("astc-10x10-unorm", "ASTC_10x10_UNORM_BLOCK", 10, 10, 16),
    ("astc-10x10-unorm-srgb", "ASTC_10x10_SRGB_BLOCK", 10, 10, 16),
    ("astc-12x10-unorm", "ASTC_12x10_UNORM_BLOCK", 12, 10, 16),
    ("astc-12x10-unorm-srgb", "ASTC_12x10_SRGB_BLOCK", 12, 10, 16),
    ("astc-12x12-unorm", "ASTC_12x12_UNORM_BLOCK", 12, 12, 16),
    ("astc-12x12-unorm-srgb", "ASTC_12x12_SRGB_BLOCK", 12, 12, 16),
)


def formats() -> list[FormatInfo]:
    """All texel formats with their arrays, shader types and abilities; a device may lack compressed ones.

    Returns
    -------
    list of FormatInfo
        Compressed ones last.

    Examples
    --------
    >>> import rgraph
    >>> [one.name for one in rgraph.formats() if one.dtype == "float16" and one.storage]
    ['r16float', 'rg16float', 'rgba16float']
    """
    plain = [
        FormatInfo(
            name,
            vulkan,
            dtype,
            channels,
            tuple(shader.split(", ")) if shader else (),
            storage,
            use or None,
            mips,
            (1, 1),
        )
        for name, vulkan, dtype, channels, shader, storage, use, mips in _PLAIN
    ]
    # Bytes of blocks are what arrays hold; shaders read what was compressed.
    return plain + [
        FormatInfo(name, vulkan, "uint8", size, ("f32",), False, None, False, (width, height))
        for name, vulkan, width, height, size in _BLOCKS
    ]
