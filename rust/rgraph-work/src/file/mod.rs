//! Graph files with the work of their passes: shaders, bindings, data, samplers, draws, transfers, and the files around
//! the graph that they name.
//!
//! `rgraph_files` reads the declaration; what is here reads the rest into a [`Workload`], and writes both. Files
//! name only files below their own folder: never absolute, never upwards, not through links that lead out of it.

mod access;
mod ahead;
mod compute;
mod data;
mod load;
pub mod npy;
mod picture;
#[cfg_attr(not(feature = "png"), path = "png_absent.rs")]
mod png_file;
mod range;
mod raster;
mod rays;
mod sampler;
mod shader;
mod sidecar;
mod state;
mod transfer;
mod write;
mod write_rays;

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use load::read;
pub use picture::Picture;
#[cfg(feature = "png")]
pub use png_file::{Samples, samples as png_samples};
pub use rgraph_files::graph::{Dtype, Setting, Settings, Typed};
pub use sampler::word;
pub use shader::included;
pub use sidecar::name_below;
pub use write::{Arrays, Callbacks, write};

use rgraph_files::disk::{self, Allowed};
use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::resource::ResourceId;

use crate::error::WorkError;
use crate::work::Workload;

/// A graph that was read from a file. `R` is that of [`Work`](crate::Work), which no file has.
pub struct Loaded<R: ?Sized = Infallible> {
    /// The declaration, and what its passes do.
    pub load: Workload<R>,
    /// What images and buffers are filled with, unless a run gives them something else; what is persistent or a history
    /// is filled before the first run only.
    pub pictures: Vec<(ResourceId, Arc<Picture>)>,
    /// Shapes and kinds of numbers of buffers that are seen as arrays.
    pub typed: Vec<(ResourceId, Typed)>,
    /// The files that it was read from: itself first, then those that it names, each once, by absolute paths.
    pub files: Vec<PathBuf>,
}

// By hand, as for `Workload`: derived ones would ask for `R: Clone` and `R: Debug`.
impl<R: ?Sized> Clone for Loaded<R> {
    fn clone(&self) -> Self {
        let Self { load, pictures, typed, files } = self;
        Self { load: load.clone(), pictures: pictures.clone(), typed: typed.clone(), files: files.clone() }
    }
}

impl<R: ?Sized> fmt::Debug for Loaded<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { load, pictures, typed, files } = self;
        let mut shown = f.debug_struct("Loaded");
        shown.field("load", load).field("pictures", pictures).field("typed", typed).field("files", files).finish()
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Failed {
    /// What is wrong.
    #[source]
    pub error: WorkError,
    /// The files that were looked at: once one of them changes, it may be worth another try.
    pub files: Vec<PathBuf>,
}

/// Reads a graph file with its work; `settings` are values of its options.
///
/// # Errors
/// `GraphError` with all that is wrong with it, `ShaderError` if a shader does not compile.
pub fn load<R: ?Sized>(path: &Path, settings: &Settings) -> Result<Loaded<R>, Failed> {
    match disk::read(path, Allowed::FilesAndPipes) {
        Ok(bytes) => read(&bytes, Some(path), settings),
        Err(fault) => {
            let message = format!("{}: {fault}", path.display());
            let mistake = Mistake::new(Code::BadFile, message, fault.help());
            let files = vec![sidecar::absolute(path)];
            Err(Failed { error: GraphError::one(mistake).into(), files })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::vertex::VertexFormat;
    use crate::words;

    #[test]
    fn the_schema_has_every_word_that_readers_know() {
        fn names<T>(words: words::Words<T>) -> impl Iterator<Item = &'static str> {
            words.iter().map(|(name, _)| *name)
        }
        let schema = rgraph_files::schema("graph").expect("graphs have a schema");
        let words = names(words::ADDRESSES)
            .chain(names(words::BLEND_OPS))
            .chain(names(words::BLENDS))
            .chain(names(words::BORDERS))
            .chain(names(words::COMPARES))
            .chain(names(words::CULLS))
            .chain(names(words::FACTORS))
            .chain(names(words::FILTERS))
            .chain(names(words::INDICES))
            .chain(names(words::STENCIL_OPS))
            .chain(names(words::TOPOLOGIES))
            .chain(names(words::WINDINGS))
            .chain(VertexFormat::all().map(VertexFormat::name));
        for name in words {
            assert!(schema.contains(&format!("\"{name}\"")), "{name}");
        }
    }
}
