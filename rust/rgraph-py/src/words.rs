//! The words that Python has for what the runtime's values are called.

use pyo3::prelude::*;
use rgraph_vk::work::{Address, Blend, BlendFactor, BlendOp, Border, Compare, Cull, StencilOp, Topology};

use crate::convert::word;

/// Words and what they stand for.
pub type Words<T> = &'static [(&'static str, T)];

/// What a word stands for; another word is a `GraphError` that offers the nearest.
pub fn named<T: Copy>(py: Python<'_>, what: &str, name: &str, words: Words<T>) -> PyResult<T> {
    let find = |name: &str| words.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    word(py, what, name, find, words.iter().map(|(name, _)| *name))
}

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
