//! Fixed-function state of a draw: topology, culling, depth, stencil and blending.

use super::Compare;

/// Fixed-function state of a draw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RasterState {
    /// How vertices become primitives; tessellation stages take patches, and a mesh stage says it itself.
    pub topology: Topology,
    /// Vertices of a patch, 1 to 32, where there are tessellation stages.
    pub patch_vertices: u32,
    /// Whether primitives are filled (else their edges are drawn).
    pub filled: bool,
    /// Which faces are dropped.
    pub cull: Cull,
    /// Whether front faces are clockwise in framebuffer coordinates.
    pub clockwise: bool,
    /// Depth test; `None`: the pass's default (less or equal if it has depth).
    pub depth_compare: Option<Compare>,
    /// Whether depth is written, where the pass writes it.
    pub depth_write: bool,
    /// Constant depth bias and slope bias, as bits of f32.
    pub depth_bias: Option<[u32; 2]>,
    /// Stencil tests of front and back faces.
    pub stencil: Option<[StencilFace; 2]>,
    /// Blending of each colour target in order; missing ones are replaced.
    pub blend: Vec<Option<Blend>>,
    /// Which channels of each colour target are written, bits 0 to 3 for red, green, blue, alpha; missing ones: all.
    pub write_mask: Vec<u8>,
    /// Whether alpha becomes coverage.
    pub alpha_to_coverage: bool,
}

impl Default for RasterState {
    fn default() -> Self {
        Self {
            topology: Topology::Triangles,
            patch_vertices: 3,
            filled: true,
            cull: Cull::None,
            clockwise: false,
            depth_compare: None,
            depth_write: true,
            depth_bias: None,
            stencil: None,
            blend: Vec::new(),
            write_mask: Vec::new(),
            alpha_to_coverage: false,
        }
    }
}

/// How vertices become primitives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Topology {
    Points,
    /// Pairs of vertices.
    Lines,
    /// Lines that share vertices.
    LineStrip,
    /// Three vertices each.
    Triangles,
    /// Triangles that share vertices.
    TriangleStrip,
}

/// Which faces are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cull {
    None,
    /// Front faces.
    Front,
    /// Back faces.
    Back,
}

/// Stencil test of one face.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StencilFace {
    /// The test.
    pub compare: Compare,
    /// What happens if the stencil test fails.
    pub fail: StencilOp,
    /// What happens if the depth test fails.
    pub depth_fail: StencilOp,
    /// What happens if both pass.
    pub pass: StencilOp,
    /// Reference value.
    pub reference: u32,
    /// Bits compared.
    pub read_mask: u32,
    /// Bits written.
    pub write_mask: u32,
}

/// What happens to a stencil value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StencilOp {
    /// Kept.
    Keep,
    Zero,
    /// The reference value.
    Replace,
    /// One more, up to the most.
    Increment,
    /// One less, down to zero.
    Decrement,
    /// All bits flipped.
    Invert,
}

/// Blending of one colour target: `source · source_factor op destination · destination_factor`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Blend {
    /// Of colour: factor of the source, factor of the destination, operation.
    pub color: (BlendFactor, BlendFactor, BlendOp),
    /// The same of alpha.
    pub alpha: (BlendFactor, BlendFactor, BlendOp),
}

impl Blend {
    /// Over: `source + destination · (1 − source alpha)` of premultiplied colours.
    pub const PREMULTIPLIED: Self = Self {
        color: (BlendFactor::One, BlendFactor::OneMinusSourceAlpha, BlendOp::Add),
        alpha: (BlendFactor::One, BlendFactor::OneMinusSourceAlpha, BlendOp::Add),
    };
    /// Over, of colours that alpha was not multiplied into.
    pub const ALPHA: Self = Self {
        color: (BlendFactor::SourceAlpha, BlendFactor::OneMinusSourceAlpha, BlendOp::Add),
        alpha: (BlendFactor::One, BlendFactor::OneMinusSourceAlpha, BlendOp::Add),
    };
    /// Sum.
    pub const ADD: Self = Self {
        color: (BlendFactor::One, BlendFactor::One, BlendOp::Add),
        alpha: (BlendFactor::One, BlendFactor::One, BlendOp::Add),
    };
    /// Product.
    pub const MULTIPLY: Self = Self {
        color: (BlendFactor::DestinationColor, BlendFactor::Zero, BlendOp::Add),
        alpha: (BlendFactor::DestinationAlpha, BlendFactor::Zero, BlendOp::Add),
    };
}

/// Factors of blending.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlendFactor {
    /// 0.
    Zero,
    /// 1.
    One,
    /// Source colour.
    SourceColor,
    /// 1 − source colour.
    OneMinusSourceColor,
    /// Destination colour.
    DestinationColor,
    /// 1 − destination colour.
    OneMinusDestinationColor,
    SourceAlpha,
    /// 1 − source alpha.
    OneMinusSourceAlpha,
    DestinationAlpha,
    /// 1 − destination alpha.
    OneMinusDestinationAlpha,
}

/// Operations of blending.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlendOp {
    /// Source + destination.
    Add,
    /// Source − destination.
    Subtract,
    /// Destination − source.
    ReverseSubtract,
    /// Least.
    Min,
    /// Largest.
    Max,
}
