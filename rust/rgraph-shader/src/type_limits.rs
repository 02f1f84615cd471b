//! Limits of the types of bindings, for both readers of shaders.

/// Most parts of all layouts of a stage: a struct that contains two of the one before it, thirty times over, has more
/// parts than memory has bytes.
pub(crate) const MOST_PARTS: u32 = 1 << 16;

/// Deepest nesting of types.
pub(crate) const DEEPEST: u32 = 64;

/// Why a type has no layout that is [`DEEPEST`] or has [`MOST_PARTS`].
pub(crate) fn too_large() -> String {
    format!(
        "its type is nested more than {DEEPEST} deep, or the bindings of its stage have more than {MOST_PARTS} parts"
    )
}
