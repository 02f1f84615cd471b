//! Graph files (`*.rgraph.json`): what the user declares.

mod include;
mod inline;
mod layer;
mod options;
mod part;
mod read;
mod resource;
mod scope;
mod typed;
mod write;

pub use options::{Setting, Settings};
pub use read::{
    Extras, GRAPH_KEYS, GraphFields, Included, PASS_KEYS, PassFields, WORK_KEYS, read_graph, read_graph_with,
};
pub use scope::{Here, Scope};
pub use typed::{Dtype, Typed};
pub use write::{Tails, write_graph, write_graph_with};

pub use read::clear as read_clear;
pub use write::clear as write_clear;

#[cfg(test)]
pub(super) use read::ACCESS_KEYS;
#[cfg(test)]
pub(super) use resource::{BUFFER_KEYS, IMAGE_KEYS, IMPORTED_KEYS};
