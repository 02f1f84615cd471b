//! The words that graph files and Python have for what work is made of, in the order in which they are offered.

use crate::work::{Address, Blend, BlendFactor, BlendOp, Border, Compare, Cull, StencilOp, Topology};

/// Words and what they stand for.
pub type Words<T> = &'static [(&'static str, T)];

/// The word of a value; empty for one that has none.
pub fn name_of<T: Copy + PartialEq>(value: T, words: Words<T>) -> &'static str {
    words.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// What lies outside of an image.
pub const ADDRESSES: Words<Address> =
    &[("clamp", Address::Clamp), ("repeat", Address::Repeat), ("mirror", Address::Mirror), ("border", Address::Border)];

/// Colours outside of an image.
pub const BORDERS: Words<Border> =
    &[("transparent", Border::Transparent), ("black", Border::Black), ("white", Border::White)];

/// Comparisons.
pub const COMPARES: Words<Compare> = &[
    ("never", Compare::Never),
    ("less", Compare::Less),
    ("equal", Compare::Equal),
    ("less_equal", Compare::LessEqual),
    ("greater", Compare::Greater),
    ("not_equal", Compare::NotEqual),
    ("greater_equal", Compare::GreaterEqual),
    ("always", Compare::Always),
];

/// How vertices become primitives.
pub const TOPOLOGIES: Words<Topology> = &[
    ("points", Topology::Points),
    ("lines", Topology::Lines),
    ("line_strip", Topology::LineStrip),
    ("triangles", Topology::Triangles),
    ("triangle_strip", Topology::TriangleStrip),
];

/// Which faces are dropped.
pub const CULLS: Words<Cull> = &[("none", Cull::None), ("front", Cull::Front), ("back", Cull::Back)];

/// Ready-made blending.
pub const BLENDS: Words<Blend> = &[
    ("premultiplied", Blend::PREMULTIPLIED),
    ("alpha", Blend::ALPHA),
    ("add", Blend::ADD),
    ("multiply", Blend::MULTIPLY),
];

/// Factors of blending.
pub const FACTORS: Words<BlendFactor> = &[
    ("zero", BlendFactor::Zero),
    ("one", BlendFactor::One),
    ("source_color", BlendFactor::SourceColor),
    ("one_minus_source_color", BlendFactor::OneMinusSourceColor),
    ("destination_color", BlendFactor::DestinationColor),
    ("one_minus_destination_color", BlendFactor::OneMinusDestinationColor),
    ("source_alpha", BlendFactor::SourceAlpha),
    ("one_minus_source_alpha", BlendFactor::OneMinusSourceAlpha),
    ("destination_alpha", BlendFactor::DestinationAlpha),
    ("one_minus_destination_alpha", BlendFactor::OneMinusDestinationAlpha),
];

/// Operations of blending.
pub const BLEND_OPS: Words<BlendOp> = &[
    ("add", BlendOp::Add),
    ("subtract", BlendOp::Subtract),
    ("reverse_subtract", BlendOp::ReverseSubtract),
    ("min", BlendOp::Min),
    ("max", BlendOp::Max),
];

/// What happens to a stencil value.
pub const STENCIL_OPS: Words<StencilOp> = &[
    ("keep", StencilOp::Keep),
    ("zero", StencilOp::Zero),
    ("replace", StencilOp::Replace),
    ("increment", StencilOp::Increment),
    ("decrement", StencilOp::Decrement),
    ("invert", StencilOp::Invert),
];

/// Filters between texels; whether it is linear.
pub const FILTERS: Words<bool> = &[("linear", true), ("nearest", false)];

/// Which faces are front faces in the picture; whether it is clockwise ones.
pub const WINDINGS: Words<bool> = &[("ccw", false), ("cw", true)];

/// Formats of indices; whether they are wide.
pub const INDICES: Words<bool> = &[("uint32", true), ("uint16", false)];
