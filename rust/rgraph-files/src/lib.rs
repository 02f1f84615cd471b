//! Graph, profile and plan files: JSON in, values out, and back. Their norm is `docs/reference/formats.md`.
//!
//! Readers say everything that is wrong with a well-formed file at once, each mistake with the file's line and the
//! path of the key, and with the nearest known word where one is misspelt. Writers give the same bytes everywhere.

#![cfg_attr(not(test), warn(unreachable_pub))]
pub mod devices;
pub mod disk;
pub mod graph;
pub mod json;
pub mod plan;
pub mod profile;
pub mod schema;
pub(crate) mod word;
pub mod write;

pub use devices::{read_devices_plan, write_devices_plan};
pub use graph::{read_graph, write_graph};
pub use plan::{plan_hash, read_plan, write_plan};
pub use profile::{read_profile, write_profile};
pub use schema::schema;
