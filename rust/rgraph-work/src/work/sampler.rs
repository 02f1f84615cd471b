//! How shaders sample images.

/// How an image is sampled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampler {
    /// Linear (else nearest) between texels when magnified.
    pub mag_linear: bool,
    /// Linear (else nearest) between texels when minified.
    pub min_linear: bool,
    /// Linear (else nearest) between mips.
    pub mip_linear: bool,
    /// What lies outside of the image in u, v, w.
    pub address: [Address; 3],
    /// Most anisotropy; 1: none.
    pub anisotropy: f32,
    /// Comparison, for shadow samplers.
    pub compare: Option<Compare>,
    /// Least and most level of detail.
    pub lod: [f32; 2],
    /// Colour outside, for [`Address::Border`].
    pub border: Border,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            mag_linear: true,
            min_linear: true,
            mip_linear: true,
            address: [Address::Clamp; 3],
            anisotropy: 1.0,
            compare: None,
            lod: [0.0, 1000.0],
            border: Border::Transparent,
        }
    }
}

/// What lies outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Address {
    /// Its edge.
    Clamp,
    /// The image again.
    Repeat,
    /// The image again, mirrored.
    Mirror,
    /// One colour.
    Border,
}

/// The colour outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Border {
    /// 0, 0, 0, 0.
    Transparent,
    /// 0, 0, 0, 1.
    Black,
    /// 1, 1, 1, 1.
    White,
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Compare {
    Never,
    Less,
    Equal,
    /// Less or equal.
    LessEqual,
    Greater,
    NotEqual,
    /// Greater or equal.
    GreaterEqual,
    Always,
}
