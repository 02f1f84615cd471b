//! Words in arguments.

use pyo3::prelude::*;

use crate::arguments::convert::word;

pub(crate) use rgraph_work::words::{
    ADDRESSES, BLEND_OPS, BLENDS, BORDERS, COMPARES, CULLS, FACTORS, FILTERS, STENCIL_OPS, TOPOLOGIES, Words, name_of,
};

/// What a word stands for; another word is a `GraphError` that offers the nearest.
pub(crate) fn named<T: Copy>(py: Python<'_>, what: &str, name: &str, words: Words<T>) -> PyResult<T> {
    let find = |name: &str| words.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    word(py, what, name, find, words.iter().map(|(name, _)| *name))
}
