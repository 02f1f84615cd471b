//! `rgraph._core`: the planner for Python. Values cross this border, logic does not.
//!
//! One file per class; `convert.rs`, `declare.rs`, `link.rs` and `details.rs` read arguments, `error.rs` makes
//! exceptions, `files.rs` reads and writes.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![deny(clippy::undocumented_unsafe_blocks)]

use pyo3::prelude::*;

mod arguments;
mod classes;
mod run;
#[pymodule(name = "_core")]
mod core {
    #[pymodule_export]
    use crate::arguments::host_arrays::_numpy;
    #[pymodule_export]
    use crate::arguments::picture::{_npy_header, _png_samples};
    #[pymodule_export]
    use crate::classes::array::PyArray;
    #[pymodule_export]
    use crate::classes::binary::{PyBinarySemaphore, PyFence};
    #[pymodule_export]
    use crate::classes::box_tree::PyBoxTree;
    #[pymodule_export]
    use crate::classes::capture::{_capture_graphs, _capture_results, _replay_images, PyCapture};
    #[pymodule_export]
    use crate::classes::commands::PyCommands;
    #[pymodule_export]
    use crate::classes::compiled::PyCompiled;
    #[pymodule_export]
    use crate::classes::device::{PyDevice, devices};
    #[pymodule_export]
    use crate::classes::device_resource::PyDeviceResource;
    #[pymodule_export]
    use crate::classes::devices::PyDevices;
    #[pymodule_export]
    use crate::classes::devices_compiled::PyCompiledDevices;
    #[pymodule_export]
    use crate::classes::devices_plan::PyDevicesPlan;
    #[pymodule_export]
    use crate::classes::diagnose::diagnose;
    #[pymodule_export]
    use crate::classes::dlpack::_dlpack_capsule;
    #[pymodule_export]
    use crate::classes::format::{PyFormat, formats};
    #[pymodule_export]
    use crate::classes::frame::PyFrame;
    #[pymodule_export]
    use crate::classes::fuzz::{_drawn, fuzz, generate, shrink};
    #[pymodule_export]
    use crate::classes::graph::PyGraph;
    #[pymodule_export]
    use crate::classes::history::history;
    #[pymodule_export]
    use crate::classes::module::PyGraphModule;
    #[pymodule_export]
    use crate::classes::pass::PyPass;
    #[pymodule_export]
    use crate::classes::plan::PyPlan;
    #[pymodule_export]
    use crate::classes::preparation::PyPreparation;
    #[pymodule_export]
    use crate::classes::preview::preview;
    #[pymodule_export]
    use crate::classes::profile::PyProfile;
    #[pymodule_export]
    use crate::classes::reflect::reflect;
    #[pymodule_export]
    use crate::classes::report::PyReport;
    #[pymodule_export]
    use crate::classes::resource::{PyBuffer, PyImage, PyResource};
    #[pymodule_export]
    use crate::classes::sampler::PySampler;
    #[pymodule_export]
    use crate::classes::semaphore::PySemaphore;
    #[pymodule_export]
    use crate::classes::series::PySeries;
    #[pymodule_export]
    use crate::classes::share::PySharedMemory;
    #[pymodule_export]
    use crate::classes::texels::_texels;
    #[pymodule_export]
    use crate::classes::view::PyView;
    #[pymodule_export]
    use crate::classes::what_if::PyWhatIf;
    #[pymodule_export]
    use crate::classes::window::PyWindow;
    #[pymodule_export]
    use crate::run::arena::{_arena_close, _arena_open};
    #[pymodule_export]
    use crate::run::lease::_lend;
    use std::collections::BTreeMap;

    use pyo3::prelude::*;
    use pyo3::types::PyBytes;

    use crate::arguments::file_path::FilePath;

    /// Record file and line of every declaration from now on, or stop doing so; for the whole process.
    ///
    /// Parameters
    /// ----------
    /// on
    ///     True to record them; at the start true, unless the environment has `RGRAPH_SOURCE=0`.
    #[pyfunction]
    fn set_source_tracking(on: bool) {
        crate::arguments::source::set_tracking(on);
    }

    /// The JSON Schema of a file format.
    ///
    /// Parameters
    /// ----------
    /// kind
    ///     `"graph"`, `"profile"`, `"plan"` or `"devices"`.
    #[pyfunction]
    fn schema(py: Python<'_>, kind: crate::arguments::convert::Text<'_>) -> PyResult<String> {
        let kinds = rgraph_files::schema::KINDS.into_iter();
        crate::arguments::convert::word(py, "file format", kind.0, rgraph_files::schema, kinds)
    }

    /// All error codes: (code, exception class, title).
    #[pyfunction]
    fn codes() -> Vec<(&'static str, &'static str, &'static str)> {
        let codes = rgraph_plan::error::Code::ALL.iter();
        codes.map(|code| (code.text(), code.class().name(), code.means())).collect()
    }

    /// The exception of one mistake that Python code finds. A ready-made pass is a side, with the line that calls it.
    #[pyfunction]
    #[pyo3(signature = (code, message, help, resource = None, called = None, sides = Vec::new()))]
    fn _mistake(
        py: Python<'_>,
        code: &str,
        message: &str,
        help: &str,
        resource: Option<&str>,
        called: Option<&str>,
        sides: Vec<crate::run::error::SideOf>,
    ) -> PyResult<Py<PyAny>> {
        crate::run::error::mistake_of(py, [code, message, help], resource, called, sides)
    }

    /// Panic where all work is guarded: what a fault of rgraph's own looks like, for tests of those who handle it.
    #[pyfunction]
    fn _panic(py: Python<'_>, message: String) -> PyResult<()> {
        crate::run::error::guarded(py, move || panic!("{message}"))
    }

    /// How much was done so far in this process, by what: for tests.
    #[pyfunction]
    fn _counts() -> BTreeMap<&'static str, u64> {
        crate::run::counts::all().into()
    }

    /// Ends the use of devices by all other threads, for `atexit`.
    #[pyfunction]
    fn _end(py: Python<'_>) {
        crate::run::ending::end(py);
    }

    /// The bytes of a file or pipe, up to the limit of files.
    #[pyfunction]
    fn _read_file(py: Python<'_>, path: FilePath) -> PyResult<Bound<'_, PyBytes>> {
        Ok(PyBytes::new(py, &crate::arguments::files::read(py, &path)?))
    }

    /// Writes a temporary file, then renames it.
    #[pyfunction]
    fn _write_file(py: Python<'_>, path: FilePath, data: Vec<u8>) -> PyResult<()> {
        crate::arguments::files::write(py, &path, data)
    }

    /// Most bytes of one file.
    #[pyfunction]
    fn _max_file_bytes(py: Python<'_>) -> PyResult<u64> {
        rgraph_files::disk::max_file_bytes().map_err(|fault| {
            crate::run::error::bad(py, rgraph_plan::error::Code::BadFile, fault.to_string(), fault.help())
        })
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // CPython 3.12 refuses interpreters with a lock of their own itself. The others share this library's statics:
        // cached classes would be those of one interpreter, and functions of passes would wait for another's lock.
        // SAFETY: the thread is attached to an interpreter.
        if unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) } != 0 {
            return Err(pyo3::exceptions::PyImportError::new_err(
                "rgraph runs in the main interpreter only, not in sub-interpreters; use threads, or processes: \
                 rgraph.batch",
            ));
        }
        crate::arguments::source::read_environment();
        crate::run::logging::install();
        module.py().import("atexit")?.call_method1("register", (module.getattr("_end")?,))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
