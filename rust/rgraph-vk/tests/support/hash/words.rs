//! The numbers that frames are made of: one 32-bit word per texel, mixed the same way here and in shaders.

use rgraph_plan::access::Aspects;
use rgraph_plan::format::{Format, Numbers};

/// [`mix`] in WGSL.
pub const MIX: &str = "
fn mixed(h: u32, v: u32) -> u32 {
    var x = (((h << 5u) | (h >> 27u)) ^ v) * 0x85ebca6bu;
    x = (x ^ (x >> 15u)) * 0xc2b2ae35u;
    return (x ^ (x >> 13u)) + 0x9e3779b9u;
}
";

/// A hash and one word more: the finalizer of MurmurHash3 behind a rotation, so that order counts.
pub fn mix(h: u32, v: u32) -> u32 {
    let x = (h.rotate_left(5) ^ v).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ (x >> 15)).wrapping_mul(0xc2b2_ae35);
    (x ^ (x >> 13)).wrapping_add(0x9e37_79b9)
}

/// The hash of a name and some numbers.
pub fn named(name: &str, numbers: &[u32]) -> u32 {
    let text = name.bytes().fold(0x1234_5678, |h, byte| mix(h, u32::from(byte)));
    numbers.iter().fold(text, |h, number| mix(h, *number))
}

/// What a texel of an aspect can hold, so that every driver gives back exactly what was put in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// 32 bits.
    Uint,
    /// A float that is an integer of 16 bits: weighted sums of equal ones are exact, whatever the weights in 1/256.
    Float,
    /// 16 bits as a fraction of 65,535: exact in every depth format.
    Depth,
    /// 8 bits that a draw sets as its reference.
    Stencil,
}

impl Class {
    /// The class of an aspect of a format.
    pub fn of(format: Format, aspect: Aspects) -> Self {
        match (aspect, format.numbers()) {
            (Aspects::STENCIL, _) => Self::Stencil,
            (Aspects::DEPTH, _) => Self::Depth,
            (_, Numbers::Float) => Self::Float,
            _ => Self::Uint,
        }
    }

    /// As much of a hash as fits.
    pub fn word(self, hash: u32) -> u32 {
        match self {
            Self::Uint => hash,
            Self::Float => hash >> 16,
            Self::Depth => hash >> 16,
            Self::Stencil => hash >> 24,
        }
    }

    /// A word as it is stored in 32 bits; depth and stencil are not.
    pub fn stored(self, word: u32) -> u32 {
        if self == Self::Float { (word as f32).to_bits() } else { word }
    }

    /// The word that tightly packed bytes of a texel hold, as they are read back.
    pub fn loaded(self, format: Format, bytes: &[u8]) -> u32 {
        let whole = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        let float = |bytes: &[u8]| f32::from_bits(whole(bytes));
        match (self, format) {
            (Self::Float, _) => float(bytes) as u32,
            (Self::Depth, Format::Depth16unorm) => whole(bytes),
            (Self::Depth, Format::Depth24plus | Format::Depth24plusStencil8) => {
                (f64::from(whole(bytes) & 0xff_ffff) / f64::from(0xff_ffff) * 65535.0).round() as u32
            }
            (Self::Depth, _) => (float(bytes) * 65535.0).round() as u32,
            _ => whole(bytes),
        }
    }
}
