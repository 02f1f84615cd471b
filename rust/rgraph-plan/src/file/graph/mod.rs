//! Graph files (`*.rgraph.json`): what the user declares.

mod read;
mod resource;
mod write;

pub use read::read_graph;
pub use write::write_graph;

pub(super) use read::clear as read_clear;
pub(super) use write::clear;

#[cfg(test)]
pub(super) use read::{ACCESS_KEYS, GRAPH_KEYS, PASS_KEYS};
#[cfg(test)]
pub(super) use resource::{BUFFER_KEYS, IMAGE_KEYS, IMPORTED_KEYS};
