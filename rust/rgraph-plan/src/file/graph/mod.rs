//! Graph files (`*.rgraph.json`): what the user declares.

mod read;
mod resource;
mod write;

pub use read::read_graph;
pub use write::write_graph;
