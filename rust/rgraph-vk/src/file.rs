//! Graph files ([`rgraph_work::file`](mod@rgraph_work::file)) as workloads that a device compiles.

use std::path::Path;

pub use rgraph_work::file::{Arrays, Callbacks, Dtype, Failed, Picture, Setting, Settings, Typed, write};

use crate::frame::raw::RawWork;

/// A graph that was read from a file.
pub type Loaded = rgraph_work::file::Loaded<dyn RawWork>;

/// Reads a graph file with its work; `settings` are values of its options.
///
/// # Errors
/// As [`rgraph_work::file::load`].
pub fn load(path: &Path, settings: &Settings) -> Result<Loaded, Failed> {
    rgraph_work::file::load(path, settings)
}

/// Reads the bytes of a graph file with its work.
///
/// # Errors
/// As [`rgraph_work::file::read`].
pub fn read(bytes: &[u8], path: Option<&Path>, settings: &Settings) -> Result<Loaded, Failed> {
    rgraph_work::file::read(bytes, path, settings)
}
