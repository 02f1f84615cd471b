//! `rgraph._core`: the planner for Python. Values cross this border, logic does not.
//!
//! One file per class; `convert.rs`, `declare.rs`, `link.rs` and `details.rs` read arguments, `error.rs` makes exceptions,
//! `files.rs` reads and writes.
#![deny(clippy::undocumented_unsafe_blocks)]

mod access;
mod anew;
mod arena;
mod array;
mod array_layout;
mod beside;
mod bind;
mod borrowed;
mod box_tree;
mod capture;
mod commands;
mod compiled;
mod compute;
mod convert;
mod counts;
mod declare;
mod detached;
mod details;
mod device;
mod diagnose;
mod dlpack;
mod draft;
mod draw;
mod dtype;
mod dump;
mod ending;
mod error;
mod files;
mod frame;
mod graph;
mod history;
mod host;
mod hosted;
mod imports;
mod inputs;
mod judge;
mod keywords;
mod layers;
mod lease;
mod link;
mod locked;
mod logging;
mod made;
mod module;
mod more;
mod options;
mod owned;
mod parts;
mod pass;
mod passes;
mod patient;
mod pickled;
mod picture;
mod places;
mod plan;
mod preview;
mod profile;
mod propose;
mod raster;
mod raster_state;
mod reads;
mod record;
mod reflect;
mod remembered;
mod report;
mod resource;
mod running;
mod sampler;
mod semaphore;
mod setup;
mod shader;
mod shape;
mod share;
mod show;
mod source;
mod state;
mod states;
mod transfer;
mod typed;
mod value;
mod view;
mod weights;
mod what_if;
mod window;
mod words;
mod workload;

use pyo3::prelude::*;

#[pymodule(name = "_core")]
mod core {
    #[pymodule_export]
    use crate::arena::{_arena_close, _arena_open};
    #[pymodule_export]
    use crate::array::PyArray;
    #[pymodule_export]
    use crate::box_tree::PyBoxTree;
    #[pymodule_export]
    use crate::capture::{_capture_graphs, PyCapture};
    #[pymodule_export]
    use crate::commands::PyCommands;
    #[pymodule_export]
    use crate::compiled::PyCompiled;
    #[pymodule_export]
    use crate::device::{PyDevice, devices};
    #[pymodule_export]
    use crate::diagnose::diagnose;
    #[pymodule_export]
    use crate::dlpack::_dlpack_capsule;
    #[pymodule_export]
    use crate::frame::PyFrame;
    #[pymodule_export]
    use crate::graph::PyGraph;
    #[pymodule_export]
    use crate::history::history;
    #[pymodule_export]
    use crate::judge::{fuzz, generate, shrink};
    #[pymodule_export]
    use crate::lease::_lend;
    #[pymodule_export]
    use crate::module::PyGraphModule;
    #[pymodule_export]
    use crate::owned::PyDeviceResource;
    #[pymodule_export]
    use crate::pass::PyPass;
    #[pymodule_export]
    use crate::plan::PyPlan;
    #[pymodule_export]
    use crate::preview::preview;
    #[pymodule_export]
    use crate::profile::PyProfile;
    #[pymodule_export]
    use crate::reflect::reflect;
    #[pymodule_export]
    use crate::report::PyReport;
    #[pymodule_export]
    use crate::resource::{PyBuffer, PyImage, PyResource};
    #[pymodule_export]
    use crate::sampler::PySampler;
    #[pymodule_export]
    use crate::semaphore::PySemaphore;
    #[pymodule_export]
    use crate::share::PySharedMemory;
    #[pymodule_export]
    use crate::view::PyView;
    #[pymodule_export]
    use crate::what_if::PyWhatIf;
    #[pymodule_export]
    use crate::window::PyWindow;
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use pyo3::prelude::*;
    use pyo3::types::PyBytes;

    /// Record file and line of every declaration from now on, or stop doing so; for the whole process.
    ///
    /// Parameters
    /// ----------
    /// on
    ///     True to record them; at the start true, unless the environment has `RGRAPH_SOURCE=0`.
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

    /// Every code of an error: the code, the exception that carries it, and what it means in one sentence.
    #[pyfunction]
    fn codes() -> Vec<(&'static str, &'static str, &'static str)> {
        let codes = rgraph_plan::error::Code::ALL.iter();
        codes.map(|code| (code.text(), code.class().name(), code.means())).collect()
    }

    /// Panic where all work is guarded: what a fault of rgraph's own looks like, for tests of those who handle it.
    #[pyfunction]
    fn _panic(py: Python<'_>, message: String) -> PyResult<()> {
        crate::error::guarded(py, move || panic!("{message}"))
    }

    /// How much was done so far in this process, by what: for tests.
    #[pyfunction]
    fn _counts() -> BTreeMap<&'static str, u64> {
        crate::counts::all().into()
    }

    /// Ends the use of devices by all other threads, for `atexit`.
    #[pyfunction]
    fn _end(py: Python<'_>) {
        crate::ending::end(py);
    }

    /// The bytes of a file or pipe, up to the limit of files.
    #[pyfunction]
    fn _read_file(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyBytes>> {
        Ok(PyBytes::new(py, &crate::files::read(py, &path)?))
    }

    /// Writes a file beside its place, then renames it.
    #[pyfunction]
    fn _write_file(py: Python<'_>, path: PathBuf, data: Vec<u8>) -> PyResult<()> {
        crate::files::write(py, &path, data)
    }

    /// Most bytes of one file.
    #[pyfunction]
    fn _max_file_bytes() -> u64 {
        rgraph_vk::disk::max_file_bytes()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::source::read_environment();
        crate::logging::install();
        module.py().import("atexit")?.call_method1("register", (module.getattr("_end")?,))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
