//! Texel formats as arrays see them: kind of number, bytes of one, numbers a texel.

use rgraph_ir::format::{Format, Numbers};

/// Kinds of number of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// Unsigned, so many bytes.
    Uint(u8),
    /// Signed, so many bytes.
    Int(u8),
    /// Floating point, so many bytes.
    Float(u8),
}

/// Every kind: its name, numpy's, and its character in the buffer protocol.
const ELEMENTS: [(&str, &std::ffi::CStr, Element); 11] = [
    ("uint8", c"B", Element::Uint(1)),
    ("int8", c"b", Element::Int(1)),
    ("uint16", c"H", Element::Uint(2)),
    ("int16", c"h", Element::Int(2)),
    ("float16", c"e", Element::Float(2)),
    ("uint32", c"I", Element::Uint(4)),
    ("int32", c"i", Element::Int(4)),
    ("float32", c"f", Element::Float(4)),
    ("uint64", c"Q", Element::Uint(8)),
    ("int64", c"q", Element::Int(8)),
    ("float64", c"d", Element::Float(8)),
];

impl Element {
    /// Bytes of one.
    pub fn size(self) -> usize {
        let (Self::Uint(size) | Self::Int(size) | Self::Float(size)) = self;
        size.into()
    }

    fn row(self) -> (&'static str, &'static std::ffi::CStr) {
        ELEMENTS.iter().find(|(.., element)| *element == self).map_or(("", c"B"), |(name, letter, _)| (name, letter))
    }

    /// Numpy's name.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The character of the buffer protocol.
    pub fn letter(self) -> &'static std::ffi::CStr {
        self.row().1
    }

    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ELEMENTS.iter().map(|(name, ..)| *name)
    }

    /// The kind of that name or character.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = ELEMENTS.iter().find(|(known, letter, _)| *known == name || letter.to_str() == Ok(name));
        found.map(|(.., element)| *element)
    }

    /// The kind of a format of the buffer protocol with items of so many bytes, in this machine's byte order.
    pub fn from_buffer(format: &str, size: usize) -> Option<Self> {
        let foreign = if cfg!(target_endian = "little") { ['>', '!'] } else { ['<', '<'] };
        let letter = match format.as_bytes() {
            [letter] => *letter,
            [order, letter] if !foreign.contains(&char::from(*order)) && b"@=<>|".contains(order) => *letter,
            _ => return None,
        };
        let size = u8::try_from(size).ok()?;
        let element = match letter {
            b'B' | b'H' | b'I' | b'L' | b'Q' | b'N' | b'?' => Self::Uint(size),
            b'b' | b'h' | b'i' | b'l' | b'q' | b'n' => Self::Int(size),
            b'e' | b'f' | b'd' => Self::Float(size),
            _ => return None,
        };
        ELEMENTS.iter().any(|(.., known)| *known == element).then_some(element)
    }
}

/// A texel, or a block of a compressed format, as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Texel {
    /// Kind of number.
    pub element: Element,
    /// Numbers a texel.
    pub channels: usize,
}

impl Texel {
    /// How a format is read back and uploaded. Packed formats are one `uint32`; of depth and stencil together it is the
    /// depth; a block of a compressed format is so many bytes.
    pub fn of(format: Format) -> Self {
        let one = |element| Self { element, channels: 1 };
        match format {
            Format::Rgb9e5ufloat | Format::Rgb10a2uint | Format::Rgb10a2unorm | Format::Rg11b10ufloat => {
                return one(Element::Uint(4));
            }
            Format::Stencil8 => return one(Element::Uint(1)),
            Format::Depth16unorm => return one(Element::Uint(2)),
            Format::Depth24plus | Format::Depth24plusStencil8 => return one(Element::Uint(4)),
            Format::Depth32float | Format::Depth32floatStencil8 => return one(Element::Float(4)),
            _ => {}
        }
        let bytes = format.block_bytes();
        if format.numbers() == Numbers::Block {
            return Self { element: Element::Uint(1), channels: bytes as usize };
        }
        let channels = u64::from(format.components());
        let size = (bytes / channels) as u8;
        let element = match format.numbers() {
            Numbers::Float => Element::Float(size),
            Numbers::Sint | Numbers::Snorm => Element::Int(size),
            _ => Element::Uint(size),
        };
        Self { element, channels: channels as usize }
    }

    /// The format that an array of such texels is taken for. Eight bits are normalised, wider integers are integers.
    pub fn format(self, srgb: bool) -> Option<Format> {
        let channels = match self.channels {
            1 => "r",
            2 => "rg",
            4 => "rgba",
            _ => return None,
        };
        let kind = match self.element {
            Element::Uint(1) => "8unorm",
            Element::Int(1) => "8snorm",
            Element::Uint(2) => "16uint",
            Element::Int(2) => "16sint",
            Element::Uint(4) => "32uint",
            Element::Int(4) => "32sint",
            Element::Float(2) => "16float",
            Element::Float(4) => "32float",
            _ => return None,
        };
        Format::from_name(&format!("{channels}{kind}{}", if srgb { "-srgb" } else { "" }))
    }
}
