//! Texel formats: WebGPU's names, Vulkan's names, and what a planner needs to know of each.
//!
//! Source: WebGPU specification, "Texture formats"; Vulkan specification, "Formats" (block sizes, aspects).

use crate::access::Aspects;

/// What the numbers of a format are, as far as usages care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// Floating point.
    Float,
    /// Unsigned normalized.
    Unorm,
    /// Signed normalized.
    Snorm,
    /// Unsigned integers: no filtering, so no linear blit.
    Uint,
    /// Signed integers: no filtering, so no linear blit.
    Sint,
    /// Depth, stencil or both.
    Depth,
    /// Block compressed: sampled and copied only.
    Block,
}

macro_rules! formats {
    ($($variant:ident = $name:literal, $vulkan:literal, $bytes:literal, $bw:literal, $bh:literal, $aspects:ident, $numbers:ident, $components:literal;)+) => {
        /// A texel format; its WebGPU name is [`Format::name`].
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Format { $($variant,)+ }

        const TABLE: &[Row] = &[$(Row {
            format: Format::$variant, name: $name, vulkan: $vulkan, bytes: $bytes, block: [$bw, $bh],
            aspects: aspects(stringify!($aspects)), numbers: Numbers::$numbers, components: $components,
        },)+];
    };
}

struct Row {
    format: Format,
    name: &'static str,
    vulkan: &'static str,
    bytes: u8,
    block: [u8; 2],
    aspects: Aspects,
    numbers: Numbers,
    components: u8,
}

const fn aspects(letters: &str) -> Aspects {
    match letters.as_bytes() {
        b"D" => Aspects::DEPTH,
        b"S" => Aspects::STENCIL,
        b"DS" => Aspects::DEPTH.union(Aspects::STENCIL),
        _ => Aspects::COLOR,
    }
}

formats! {
    R8unorm = "r8unorm", "R8_UNORM", 1, 1, 1, C, Unorm, 1;
    R8snorm = "r8snorm", "R8_SNORM", 1, 1, 1, C, Snorm, 1;
    R8uint = "r8uint", "R8_UINT", 1, 1, 1, C, Uint, 1;
    R8sint = "r8sint", "R8_SINT", 1, 1, 1, C, Sint, 1;
    R16unorm = "r16unorm", "R16_UNORM", 2, 1, 1, C, Unorm, 1;
    R16snorm = "r16snorm", "R16_SNORM", 2, 1, 1, C, Snorm, 1;
    R16uint = "r16uint", "R16_UINT", 2, 1, 1, C, Uint, 1;
    R16sint = "r16sint", "R16_SINT", 2, 1, 1, C, Sint, 1;
    R16float = "r16float", "R16_SFLOAT", 2, 1, 1, C, Float, 1;
    Rg8unorm = "rg8unorm", "R8G8_UNORM", 2, 1, 1, C, Unorm, 2;
    Rg8snorm = "rg8snorm", "R8G8_SNORM", 2, 1, 1, C, Snorm, 2;
    Rg8uint = "rg8uint", "R8G8_UINT", 2, 1, 1, C, Uint, 2;
    Rg8sint = "rg8sint", "R8G8_SINT", 2, 1, 1, C, Sint, 2;
    R32uint = "r32uint", "R32_UINT", 4, 1, 1, C, Uint, 1;
    R32sint = "r32sint", "R32_SINT", 4, 1, 1, C, Sint, 1;
    R32float = "r32float", "R32_SFLOAT", 4, 1, 1, C, Float, 1;
    Rg16unorm = "rg16unorm", "R16G16_UNORM", 4, 1, 1, C, Unorm, 2;
    Rg16snorm = "rg16snorm", "R16G16_SNORM", 4, 1, 1, C, Snorm, 2;
    Rg16uint = "rg16uint", "R16G16_UINT", 4, 1, 1, C, Uint, 2;
    Rg16sint = "rg16sint", "R16G16_SINT", 4, 1, 1, C, Sint, 2;
    Rg16float = "rg16float", "R16G16_SFLOAT", 4, 1, 1, C, Float, 2;
    Rgba8unorm = "rgba8unorm", "R8G8B8A8_UNORM", 4, 1, 1, C, Unorm, 4;
    Rgba8unormSrgb = "rgba8unorm-srgb", "R8G8B8A8_SRGB", 4, 1, 1, C, Unorm, 4;
    Rgba8snorm = "rgba8snorm", "R8G8B8A8_SNORM", 4, 1, 1, C, Snorm, 4;
    Rgba8uint = "rgba8uint", "R8G8B8A8_UINT", 4, 1, 1, C, Uint, 4;
    Rgba8sint = "rgba8sint", "R8G8B8A8_SINT", 4, 1, 1, C, Sint, 4;
    Bgra8unorm = "bgra8unorm", "B8G8R8A8_UNORM", 4, 1, 1, C, Unorm, 4;
    Bgra8unormSrgb = "bgra8unorm-srgb", "B8G8R8A8_SRGB", 4, 1, 1, C, Unorm, 4;
    Rgb9e5ufloat = "rgb9e5ufloat", "E5B9G9R9_UFLOAT_PACK32", 4, 1, 1, C, Float, 3;
    Rgb10a2uint = "rgb10a2uint", "A2B10G10R10_UINT_PACK32", 4, 1, 1, C, Uint, 4;
    Rgb10a2unorm = "rgb10a2unorm", "A2B10G10R10_UNORM_PACK32", 4, 1, 1, C, Unorm, 4;
    Rg11b10ufloat = "rg11b10ufloat", "B10G11R11_UFLOAT_PACK32", 4, 1, 1, C, Float, 3;
    Rg32uint = "rg32uint", "R32G32_UINT", 8, 1, 1, C, Uint, 2;
    Rg32sint = "rg32sint", "R32G32_SINT", 8, 1, 1, C, Sint, 2;
    Rg32float = "rg32float", "R32G32_SFLOAT", 8, 1, 1, C, Float, 2;
    Rgba16unorm = "rgba16unorm", "R16G16B16A16_UNORM", 8, 1, 1, C, Unorm, 4;
    Rgba16snorm = "rgba16snorm", "R16G16B16A16_SNORM", 8, 1, 1, C, Snorm, 4;
    Rgba16uint = "rgba16uint", "R16G16B16A16_UINT", 8, 1, 1, C, Uint, 4;
    Rgba16sint = "rgba16sint", "R16G16B16A16_SINT", 8, 1, 1, C, Sint, 4;
    Rgba16float = "rgba16float", "R16G16B16A16_SFLOAT", 8, 1, 1, C, Float, 4;
    Rgba32uint = "rgba32uint", "R32G32B32A32_UINT", 16, 1, 1, C, Uint, 4;
    Rgba32sint = "rgba32sint", "R32G32B32A32_SINT", 16, 1, 1, C, Sint, 4;
    Rgba32float = "rgba32float", "R32G32B32A32_SFLOAT", 16, 1, 1, C, Float, 4;
    Stencil8 = "stencil8", "S8_UINT", 1, 1, 1, S, Depth, 1;
    Depth16unorm = "depth16unorm", "D16_UNORM", 2, 1, 1, D, Depth, 1;
    Depth24plus = "depth24plus", "X8_D24_UNORM_PACK32", 4, 1, 1, D, Depth, 1;
    Depth24plusStencil8 = "depth24plus-stencil8", "D24_UNORM_S8_UINT", 4, 1, 1, DS, Depth, 1;
    Depth32float = "depth32float", "D32_SFLOAT", 4, 1, 1, D, Depth, 1;
    Depth32floatStencil8 = "depth32float-stencil8", "D32_SFLOAT_S8_UINT", 8, 1, 1, DS, Depth, 1;
    Bc1RgbaUnorm = "bc1-rgba-unorm", "BC1_RGBA_UNORM_BLOCK", 8, 4, 4, C, Block, 4;
    Bc1RgbaUnormSrgb = "bc1-rgba-unorm-srgb", "BC1_RGBA_SRGB_BLOCK", 8, 4, 4, C, Block, 4;
    Bc2RgbaUnorm = "bc2-rgba-unorm", "BC2_UNORM_BLOCK", 16, 4, 4, C, Block, 4;
    Bc2RgbaUnormSrgb = "bc2-rgba-unorm-srgb", "BC2_SRGB_BLOCK", 16, 4, 4, C, Block, 4;
    Bc3RgbaUnorm = "bc3-rgba-unorm", "BC3_UNORM_BLOCK", 16, 4, 4, C, Block, 4;
    Bc3RgbaUnormSrgb = "bc3-rgba-unorm-srgb", "BC3_SRGB_BLOCK", 16, 4, 4, C, Block, 4;
    Bc4RUnorm = "bc4-r-unorm", "BC4_UNORM_BLOCK", 8, 4, 4, C, Block, 1;
    Bc4RSnorm = "bc4-r-snorm", "BC4_SNORM_BLOCK", 8, 4, 4, C, Block, 1;
    Bc5RgUnorm = "bc5-rg-unorm", "BC5_UNORM_BLOCK", 16, 4, 4, C, Block, 2;
    Bc5RgSnorm = "bc5-rg-snorm", "BC5_SNORM_BLOCK", 16, 4, 4, C, Block, 2;
    Bc6hRgbUfloat = "bc6h-rgb-ufloat", "BC6H_UFLOAT_BLOCK", 16, 4, 4, C, Block, 3;
    Bc6hRgbFloat = "bc6h-rgb-float", "BC6H_SFLOAT_BLOCK", 16, 4, 4, C, Block, 3;
    Bc7RgbaUnorm = "bc7-rgba-unorm", "BC7_UNORM_BLOCK", 16, 4, 4, C, Block, 4;
    Bc7RgbaUnormSrgb = "bc7-rgba-unorm-srgb", "BC7_SRGB_BLOCK", 16, 4, 4, C, Block, 4;
    Etc2Rgb8Unorm = "etc2-rgb8unorm", "ETC2_R8G8B8_UNORM_BLOCK", 8, 4, 4, C, Block, 3;
    Etc2Rgb8UnormSrgb = "etc2-rgb8unorm-srgb", "ETC2_R8G8B8_SRGB_BLOCK", 8, 4, 4, C, Block, 3;
    Etc2Rgb8a1Unorm = "etc2-rgb8a1unorm", "ETC2_R8G8B8A1_UNORM_BLOCK", 8, 4, 4, C, Block, 4;
    Etc2Rgb8a1UnormSrgb = "etc2-rgb8a1unorm-srgb", "ETC2_R8G8B8A1_SRGB_BLOCK", 8, 4, 4, C, Block, 4;
    Etc2Rgba8Unorm = "etc2-rgba8unorm", "ETC2_R8G8B8A8_UNORM_BLOCK", 16, 4, 4, C, Block, 4;
    Etc2Rgba8UnormSrgb = "etc2-rgba8unorm-srgb", "ETC2_R8G8B8A8_SRGB_BLOCK", 16, 4, 4, C, Block, 4;
    EacR11unorm = "eac-r11unorm", "EAC_R11_UNORM_BLOCK", 8, 4, 4, C, Block, 1;
    EacR11snorm = "eac-r11snorm", "EAC_R11_SNORM_BLOCK", 8, 4, 4, C, Block, 1;
    EacRg11unorm = "eac-rg11unorm", "EAC_R11G11_UNORM_BLOCK", 16, 4, 4, C, Block, 2;
    EacRg11snorm = "eac-rg11snorm", "EAC_R11G11_SNORM_BLOCK", 16, 4, 4, C, Block, 2;
    Astc4x4Unorm = "astc-4x4-unorm", "ASTC_4x4_UNORM_BLOCK", 16, 4, 4, C, Block, 4;
    Astc4x4UnormSrgb = "astc-4x4-unorm-srgb", "ASTC_4x4_SRGB_BLOCK", 16, 4, 4, C, Block, 4;
    Astc5x4Unorm = "astc-5x4-unorm", "ASTC_5x4_UNORM_BLOCK", 16, 5, 4, C, Block, 4;
    Astc5x4UnormSrgb = "astc-5x4-unorm-srgb", "ASTC_5x4_SRGB_BLOCK", 16, 5, 4, C, Block, 4;
    Astc5x5Unorm = "astc-5x5-unorm", "ASTC_5x5_UNORM_BLOCK", 16, 5, 5, C, Block, 4;
    Astc5x5UnormSrgb = "astc-5x5-unorm-srgb", "ASTC_5x5_SRGB_BLOCK", 16, 5, 5, C, Block, 4;
    Astc6x5Unorm = "astc-6x5-unorm", "ASTC_6x5_UNORM_BLOCK", 16, 6, 5, C, Block, 4;
    Astc6x5UnormSrgb = "astc-6x5-unorm-srgb", "ASTC_6x5_SRGB_BLOCK", 16, 6, 5, C, Block, 4;
    Astc6x6Unorm = "astc-6x6-unorm", "ASTC_6x6_UNORM_BLOCK", 16, 6, 6, C, Block, 4;
    Astc6x6UnormSrgb = "astc-6x6-unorm-srgb", "ASTC_6x6_SRGB_BLOCK", 16, 6, 6, C, Block, 4;
    Astc8x5Unorm = "astc-8x5-unorm", "ASTC_8x5_UNORM_BLOCK", 16, 8, 5, C, Block, 4;
    Astc8x5UnormSrgb = "astc-8x5-unorm-srgb", "ASTC_8x5_SRGB_BLOCK", 16, 8, 5, C, Block, 4;
    Astc8x6Unorm = "astc-8x6-unorm", "ASTC_8x6_UNORM_BLOCK", 16, 8, 6, C, Block, 4;
    Astc8x6UnormSrgb = "astc-8x6-unorm-srgb", "ASTC_8x6_SRGB_BLOCK", 16, 8, 6, C, Block, 4;
    Astc8x8Unorm = "astc-8x8-unorm", "ASTC_8x8_UNORM_BLOCK", 16, 8, 8, C, Block, 4;
    Astc8x8UnormSrgb = "astc-8x8-unorm-srgb", "ASTC_8x8_SRGB_BLOCK", 16, 8, 8, C, Block, 4;
    Astc10x5Unorm = "astc-10x5-unorm", "ASTC_10x5_UNORM_BLOCK", 16, 10, 5, C, Block, 4;
    Astc10x5UnormSrgb = "astc-10x5-unorm-srgb", "ASTC_10x5_SRGB_BLOCK", 16, 10, 5, C, Block, 4;
    Astc10x6Unorm = "astc-10x6-unorm", "ASTC_10x6_UNORM_BLOCK", 16, 10, 6, C, Block, 4;
    Astc10x6UnormSrgb = "astc-10x6-unorm-srgb", "ASTC_10x6_SRGB_BLOCK", 16, 10, 6, C, Block, 4;
    Astc10x8Unorm = "astc-10x8-unorm", "ASTC_10x8_UNORM_BLOCK", 16, 10, 8, C, Block, 4;
    Astc10x8UnormSrgb = "astc-10x8-unorm-srgb", "ASTC_10x8_SRGB_BLOCK", 16, 10, 8, C, Block, 4;
    Astc10x10Unorm = "astc-10x10-unorm", "ASTC_10x10_UNORM_BLOCK", 16, 10, 10, C, Block, 4;
    Astc10x10UnormSrgb = "astc-10x10-unorm-srgb", "ASTC_10x10_SRGB_BLOCK", 16, 10, 10, C, Block, 4;
    Astc12x10Unorm = "astc-12x10-unorm", "ASTC_12x10_UNORM_BLOCK", 16, 12, 10, C, Block, 4;
    Astc12x10UnormSrgb = "astc-12x10-unorm-srgb", "ASTC_12x10_SRGB_BLOCK", 16, 12, 10, C, Block, 4;
    Astc12x12Unorm = "astc-12x12-unorm", "ASTC_12x12_UNORM_BLOCK", 16, 12, 12, C, Block, 4;
    Astc12x12UnormSrgb = "astc-12x12-unorm-srgb", "ASTC_12x12_SRGB_BLOCK", 16, 12, 12, C, Block, 4;
}

impl Format {
    /// Every format.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        TABLE.iter().map(|row| row.format)
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// WebGPU's name (`rgba8unorm-srgb`), or one formed alike.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Vulkan's name without `VK_FORMAT_` (`R8G8B8A8_SRGB`).
    pub fn vulkan_name(self) -> &'static str {
        self.row().vulkan
    }

    /// The format of a WebGPU or Vulkan name, the latter with or without `VK_FORMAT_`.
    pub fn from_name(name: &str) -> Option<Self> {
        let bare = name.strip_prefix("VK_FORMAT_").unwrap_or(name);
        TABLE.iter().find(|row| row.name == name || row.vulkan == bare).map(|row| row.format)
    }

    /// Bytes of one block: a texel, or the texels of a compressed block.
    pub fn block_bytes(self) -> u64 {
        u64::from(self.row().bytes)
    }

    /// Width and height of one block in texels: `[1, 1]` unless compressed.
    pub fn block(self) -> [u32; 2] {
        self.row().block.map(u32::from)
    }

    /// The aspects that an image of this format has.
    pub fn aspects(self) -> Aspects {
        self.row().aspects
    }

    pub fn numbers(self) -> Numbers {
        self.row().numbers
    }

    /// Components of a texel as shaders read them: 3 of `rg11b10ufloat`, 1 of depth or stencil.
    pub fn components(self) -> u32 {
        self.row().components.into()
    }

    /// Bits of each component; 0 where components differ in size, share an exponent or are compressed. Of depth formats
    /// those of the depth.
    pub fn component_bits(self) -> u32 {
        match self {
            Self::Rgb9e5ufloat | Self::Rgb10a2uint | Self::Rgb10a2unorm | Self::Rg11b10ufloat => 0,
            Self::Depth24plus | Self::Depth24plusStencil8 => 24,
            Self::Depth32floatStencil8 => 32,
            _ if self.numbers() == Numbers::Block => 0,
            _ => 8 * u32::from(self.row().bytes) / self.components(),
        }
    }

    /// Whether stored colours are sRGB encoded.
    pub fn is_srgb(self) -> bool {
        self.name().ends_with("-srgb")
    }

    /// Whether it holds depth or stencil.
    pub fn is_depth_stencil(self) -> bool {
        self.numbers() == Numbers::Depth
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_both_its_names() {
        for (row, format) in TABLE.iter().zip(Format::all()) {
            assert_eq!(format as usize, TABLE.iter().position(|r| r.format == row.format).unwrap());
            assert_eq!(Format::from_name(format.name()), Some(format));
            assert_eq!(Format::from_name(format.vulkan_name()), Some(format));
            assert_eq!(Format::from_name(&format!("VK_FORMAT_{}", format.vulkan_name())), Some(format));
        }
    }

    #[test]
    fn components_of_plain_formats_fill_their_texels() {
        for format in Format::all().filter(|format| format.component_bits() > 0 && !format.is_depth_stencil()) {
            assert_eq!(u64::from(format.components() * format.component_bits()), 8 * format.block_bytes(), "{format}");
            assert!(format.name().contains(&format.component_bits().to_string()), "{format}");
        }
        let packed = Format::all().filter(|format| format.block() == [1, 1] && format.component_bits() == 0);
        assert_eq!(packed.map(Format::components).collect::<Vec<_>>(), [3, 4, 4, 3]);
    }

    #[test]
    fn texel_sizes_are_those_of_the_formats_page() {
        assert_eq!(Format::Depth32floatStencil8.block_bytes(), 8);
        assert_eq!(Format::Depth24plusStencil8.block_bytes(), 4);
        assert_eq!(Format::Rgba16float.block_bytes(), 8);
        assert_eq!((Format::Bc1RgbaUnorm.block_bytes(), Format::Bc1RgbaUnorm.block()), (8, [4, 4]));
    }
}
