//! `rgraph._core`: the planner for Python. Values cross this border, logic does not.
//!
//! One file per class; `convert.rs`, `declare.rs`, `link.rs` and `details.rs` read arguments, `error.rs` makes exceptions,
//! `files.rs` reads and writes.

mod access;
mod bind;
mod check;
mod commands;
mod compute;
mod convert;
mod declare;
mod details;
mod draft;
mod draw;
mod error;
mod files;
mod graph;
mod host;
mod hosted;
mod imports;
mod judge;
mod link;
mod made;
mod module;
mod options;
mod parts;
mod pass;
mod passes;
mod plan;
mod profile;
mod raster;
mod raster_state;
mod record;
mod resource;
mod sampler;
mod shader;
mod source;
mod state;
mod texel;
mod transfer;
mod value;
mod view;
mod words;
mod workload;

use pyo3::prelude::*;

#[pymodule(name = "_core")]
mod core {
    #[pymodule_export]
    use crate::commands::PyCommands;
    #[pymodule_export]
    use crate::graph::PyGraph;
    #[pymodule_export]
    use crate::judge::{fuzz, generate};
    #[pymodule_export]
    use crate::module::PyGraphModule;
    #[pymodule_export]
    use crate::pass::PyPass;
    #[pymodule_export]
    use crate::plan::PyPlan;
    #[pymodule_export]
    use crate::profile::PyProfile;
    #[pymodule_export]
    use crate::resource::{PyBuffer, PyImage, PyResource};
    #[pymodule_export]
    use crate::sampler::PySampler;
    #[pymodule_export]
    use crate::view::PyView;
    use pyo3::prelude::*;

    /// Record file and line of every declaration from now on, or stop doing so; for the whole process.
    ///
    /// Parameters
    /// ----------
    /// on
    ///     Whether to. At the start: yes, unless the environment says `RGRAPH_SOURCE=0`.
    #[pyfunction]
    fn set_source_tracking(on: bool) {
        crate::source::set_tracking(on);
    }

    /// The JSON Schema of a file format.
    ///
    /// Parameters
    /// ----------
    /// kind
    ///     `"graph"`, `"profile"` or `"plan"`.
    #[pyfunction]
    fn schema(py: Python<'_>, kind: crate::convert::Text<'_>) -> PyResult<String> {
        let kinds = rgraph_plan::file::schema::KINDS.into_iter();
        crate::convert::word(py, "file format", kind.0, rgraph_plan::file::schema, kinds)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::source::read_environment();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
