//! Formats of vertex attributes: WebGPU's names, Vulkan's formats, bytes, kind of numbers.
//!
//! They are a table of their own, because three components of 32 bits exist here and not among texel formats.
//!
//! Source: WebGPU specification, "GPUVertexFormat"; Vulkan specification, "Required Format Support" (each format here
//! must support vertex buffers).

use rgraph_files::json::Word;
use rgraph_ir::format::{Format, Numbers};
use rgraph_shader::{Scalar, VertexInput};

use crate::texel::Element;

macro_rules! vertex_formats {
    ($($variant:ident = $name:literal, $vulkan:ident, $bytes:literal, $numbers:ident;)+) => {
        /// The format of a vertex attribute; its WebGPU name is [`VertexFormat::name`].
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum VertexFormat { $($variant,)+ }

        const TABLE: &[Row] = &[$(Row {
            format: VertexFormat::$variant, name: $name, vulkan: stringify!($vulkan),
            bytes: $bytes, numbers: Numbers::$numbers,
        },)+];
    };
}

struct Row {
    format: VertexFormat,
    name: &'static str,
    vulkan: &'static str,
    bytes: u32,
    numbers: Numbers,
}

vertex_formats! {
    Uint8 = "uint8", R8_UINT, 1, Uint;
    Uint8x2 = "uint8x2", R8G8_UINT, 2, Uint;
    Uint8x4 = "uint8x4", R8G8B8A8_UINT, 4, Uint;
    Sint8 = "sint8", R8_SINT, 1, Sint;
    Sint8x2 = "sint8x2", R8G8_SINT, 2, Sint;
    Sint8x4 = "sint8x4", R8G8B8A8_SINT, 4, Sint;
    Unorm8 = "unorm8", R8_UNORM, 1, Unorm;
    Unorm8x2 = "unorm8x2", R8G8_UNORM, 2, Unorm;
    Unorm8x4 = "unorm8x4", R8G8B8A8_UNORM, 4, Unorm;
    Snorm8 = "snorm8", R8_SNORM, 1, Snorm;
    Snorm8x2 = "snorm8x2", R8G8_SNORM, 2, Snorm;
    Snorm8x4 = "snorm8x4", R8G8B8A8_SNORM, 4, Snorm;
    Uint16 = "uint16", R16_UINT, 2, Uint;
    Uint16x2 = "uint16x2", R16G16_UINT, 4, Uint;
    Uint16x4 = "uint16x4", R16G16B16A16_UINT, 8, Uint;
    Sint16 = "sint16", R16_SINT, 2, Sint;
    Sint16x2 = "sint16x2", R16G16_SINT, 4, Sint;
    Sint16x4 = "sint16x4", R16G16B16A16_SINT, 8, Sint;
    Unorm16 = "unorm16", R16_UNORM, 2, Unorm;
    Unorm16x2 = "unorm16x2", R16G16_UNORM, 4, Unorm;
    Unorm16x4 = "unorm16x4", R16G16B16A16_UNORM, 8, Unorm;
    Snorm16 = "snorm16", R16_SNORM, 2, Snorm;
    Snorm16x2 = "snorm16x2", R16G16_SNORM, 4, Snorm;
    Snorm16x4 = "snorm16x4", R16G16B16A16_SNORM, 8, Snorm;
    Float16 = "float16", R16_SFLOAT, 2, Float;
    Float16x2 = "float16x2", R16G16_SFLOAT, 4, Float;
    Float16x4 = "float16x4", R16G16B16A16_SFLOAT, 8, Float;
    Float32 = "float32", R32_SFLOAT, 4, Float;
    Float32x2 = "float32x2", R32G32_SFLOAT, 8, Float;
    Float32x3 = "float32x3", R32G32B32_SFLOAT, 12, Float;
    Float32x4 = "float32x4", R32G32B32A32_SFLOAT, 16, Float;
    Uint32 = "uint32", R32_UINT, 4, Uint;
    Uint32x2 = "uint32x2", R32G32_UINT, 8, Uint;
    Uint32x3 = "uint32x3", R32G32B32_UINT, 12, Uint;
    Uint32x4 = "uint32x4", R32G32B32A32_UINT, 16, Uint;
    Sint32 = "sint32", R32_SINT, 4, Sint;
    Sint32x2 = "sint32x2", R32G32_SINT, 8, Sint;
    Sint32x3 = "sint32x3", R32G32B32_SINT, 12, Sint;
    Sint32x4 = "sint32x4", R32G32B32A32_SINT, 16, Sint;
    Unorm10x3Unorm2 = "unorm10-10-10-2", A2B10G10R10_UNORM_PACK32, 4, Unorm;
    Unorm8x4Bgra = "unorm8x4-bgra", B8G8R8A8_UNORM, 4, Unorm;
}

impl VertexFormat {
    /// Every format.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        TABLE.iter().map(|row| row.format)
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// WebGPU's name: `float32x3`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The format of a name: WebGPU's, Vulkan's with or without `VK_FORMAT_`, or that of the texel format with the same
    /// memory layout (`rg32float`).
    pub fn from_name(name: &str) -> Option<Self> {
        let bare = name.strip_prefix("VK_FORMAT_").unwrap_or(name);
        let vulkan = Format::from_name(name).map_or(bare, |texel| texel.vulkan_name());
        TABLE.iter().find(|row| row.name == name || row.vulkan == vulkan).map(|row| row.format)
    }

    /// The format of an input that is stored as the shader reads it; `None` for three components of 16 bits and for
    /// kinds of 64 bits, which no device must have.
    pub fn of(input: &VertexInput) -> Option<Self> {
        let kind = match input.scalar {
            Scalar::F32 => "float32",
            Scalar::I32 => "sint32",
            Scalar::U32 => "uint32",
            Scalar::F16 => "float16",
            _ => return None,
        };
        match input.components {
            1 => Self::from_name(kind),
            count => Self::from_name(&format!("{kind}x{count}")),
        }
    }

    /// Bytes of one attribute.
    pub fn bytes(self) -> u32 {
        self.row().bytes
    }

    /// The numbers of an array of such attributes, where a shader reads them as they are stored.
    pub fn element(self) -> Option<Element> {
        let size = self.alignment() as u8;
        match self.row().numbers {
            Numbers::Float => Some(Element::Float(size)),
            Numbers::Sint => Some(Element::Int(size)),
            Numbers::Uint => Some(Element::Uint(size)),
            _ => None,
        }
    }

    /// Bytes that the offset of an attribute is a multiple of: those of one component, or of a packed one (Vulkan,
    /// VUID-VkGraphicsPipelineCreateInfo-Input-07904 and its like).
    pub fn alignment(self) -> u32 {
        match self {
            Self::Unorm10x3Unorm2 => 4,
            Self::Unorm8x4Bgra => 1,
            _ => match self.name().split_once('x') {
                Some((_, count)) => self.bytes() / count.parse::<u32>().unwrap_or(1),
                None => self.bytes(),
            },
        }
    }

    /// Whether a shader's input of this kind reads it.
    pub fn fits(self, scalar: Scalar) -> bool {
        match self.row().numbers {
            Numbers::Uint => scalar.is_unsigned(),
            Numbers::Sint => scalar.is_signed(),
            _ => matches!(scalar, Scalar::F32 | Scalar::F16),
        }
    }
}

impl std::fmt::Display for VertexFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl Word for VertexFormat {
    const WHAT: &'static str = "a vertex format";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_name(text)
    }
    fn words() -> Vec<&'static str> {
        TABLE.iter().map(|row| row.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_format_is_found_by_its_names() {
        for (at, row) in TABLE.iter().enumerate() {
            assert_eq!(row.format as usize, at);
            assert_eq!(VertexFormat::from_name(row.name), Some(row.format));
            assert_eq!(VertexFormat::from_name(row.vulkan), Some(row.format));
            assert_eq!(VertexFormat::from_name(&format!("VK_FORMAT_{}", row.vulkan)), Some(row.format));
        }
        assert_eq!(VertexFormat::from_name("rg32float"), Some(VertexFormat::Float32x2));
        assert_eq!(VertexFormat::from_name("depth32float"), None);
    }

    #[test]
    fn texel_formats_of_the_same_memory_have_as_many_bytes() {
        for row in TABLE {
            let Some(texel) = Format::from_name(row.vulkan) else { continue };
            assert_eq!(texel.block_bytes(), u64::from(row.bytes), "{}", row.name);
            assert_eq!(texel.numbers(), row.numbers, "{}", row.name);
        }
    }

    #[test]
    fn inputs_are_stored_as_they_are_read() {
        let input = |scalar, components| VertexInput { name: String::new(), location: 0, scalar, components };
        let of = |scalar, components| VertexFormat::of(&input(scalar, components)).map(|format| format.name());
        assert_eq!(of(Scalar::F32, 3), Some("float32x3"));
        assert_eq!(of(Scalar::I32, 1), Some("sint32"));
        assert_eq!(of(Scalar::U32, 4), Some("uint32x4"));
        assert_eq!(of(Scalar::F16, 2), Some("float16x2"));
        assert_eq!(of(Scalar::F16, 3), None);
        assert_eq!(VertexFormat::Float32x3.alignment(), 4);
        assert_eq!(VertexFormat::Uint8x4.alignment(), 1);
    }
}
