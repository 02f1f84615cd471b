//! Graph files (`*.rgraph.json`): what the user declares.

mod access;
mod extras;
mod include;
mod inline;
mod keys;
mod layer;
mod options;
mod read;
mod resource;
mod scope;
mod section;
mod typed;
pub mod work;
mod write;

pub use extras::{Extras, Included};
pub(super) use keys::CLEAR;
pub use keys::{GRAPH, GraphFields, PassFields, WORK_KEYS};
pub use options::{Setting, Settings};
pub use read::{read_graph, read_graph_with};
pub use scope::{Here, Scope};
pub use typed::{Dtype, Typed};
pub use write::{Tails, write_graph, write_graph_with};

pub use access::clear as read_clear;
pub use write::clear as write_clear;
