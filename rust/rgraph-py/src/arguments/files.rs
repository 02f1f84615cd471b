//! Files: reading them whole, and writing a temporary file that is then renamed.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use rgraph_plan::error::{Code, GraphError};

use rgraph_plan::plan::Plan;
use rgraph_plan::profile::Profile;

use rgraph_files::disk::{self, Allowed, Fault};
use rgraph_vk::file::{Arrays, Callbacks, Loaded, Setting, Settings};
use rgraph_vk::work::{WorkError, Workload};

use crate::arguments::convert::Text;
use crate::run::error::{bad, graph_error, guarded, shader_error};
use crate::run::patient::patiently;

/// What messages call text that came from no file.
const TEXT: &str = "text";

fn read_with<T: Send>(
    py: Python<'_>,
    bytes: &[u8],
    name: &str,
    read: fn(&[u8], &str) -> Result<T, GraphError>,
) -> PyResult<T> {
    guarded(py, || read(bytes, name))?.map_err(|error| graph_error(py, &error))
}

fn load<T: Send>(py: Python<'_>, path: &Path, read: fn(&[u8], &str) -> Result<T, GraphError>) -> PyResult<T> {
    let bytes = self::read(py, path)?;
    read_with(py, &bytes, &path.to_string_lossy(), read)
}

/// The bytes of a file or pipe, up to the limit of files.
pub(crate) fn read(py: Python<'_>, path: &Path) -> PyResult<Vec<u8>> {
    let given = path.to_owned();
    let read = move || disk::read(&given, Allowed::FilesAndPipes);
    unhurried(py, path, read)?.map_err(|fault| refused(py, fault, path))
}

/// Does what may wait for ever at a pipe so that signals are seen; at a file, at once.
fn unhurried<T: Send + 'static>(py: Python<'_>, path: &Path, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
    if special { patiently(py, work) } else { guarded(py, work) }
}

/// The exception of a file that is not read or written: `OSError` where the system refuses.
fn refused(py: Python<'_>, fault: Fault, path: &Path) -> PyErr {
    match fault {
        Fault::Io(error) => os_error(py, error, path),
        other => bad(py, Code::BadFile, format!("{}: {other}", path.display()), other.help()),
    }
}

/// An `OSError` that names the file.
fn os_error(py: Python<'_>, error: io::Error, path: &Path) -> PyErr {
    let Some(code) = error.raw_os_error() else { return error.into() };
    let filled = || {
        let os = py.import("os")?;
        let text = os.call_method1("strerror", (code,))?;
        py.import("builtins")?.getattr("OSError")?.call1((code, text, path.as_os_str()))
    };
    filled().map_or_else(|failure: PyErr| failure, PyErr::from_value)
}

/// Reads a graph file with the work of its passes; the exception says which files were looked at.
pub(crate) fn load_graph(py: Python<'_>, path: &Path, settings: &Settings) -> PyResult<Loaded> {
    let bytes = read(py, path)?;
    graph(py, &bytes, Some(path), settings)
}

/// Reads the text of a graph file; `path` is where it would stand.
pub(crate) fn graph(py: Python<'_>, text: &[u8], path: Option<&Path>, settings: &Settings) -> PyResult<Loaded> {
    let (text, at, settings) = (text.to_vec(), path.map(Path::to_owned), settings.clone());
    patiently(py, move || rgraph_vk::file::read(&text, at.as_deref(), &settings))?.map_err(|failed| {
        let error = match failed.error {
            WorkError::Graph(error) => graph_error(py, &error),
            WorkError::Shader(error) => shader_error(py, &error, None),
        };
        // An exception without the list is still the exception.
        let files: Vec<_> = failed.files.iter().map(|path| path.to_string_lossy()).collect();
        let _ = error.value(py).setattr("files", files);
        error
    })
}

/// The text of a graph file.
pub(crate) fn graph_text(
    py: Python<'_>,
    load: &Workload,
    arrays: Arrays<'_>,
    folder: Option<&Path>,
    callbacks: Callbacks,
) -> PyResult<String> {
    GraphError::check(load.graph.mistakes().to_vec()).map_err(|error| graph_error(py, &error))?;
    guarded(py, || rgraph_vk::file::write(load, arrays, folder, callbacks))?.map_err(|error| graph_error(py, &error))
}

/// The folder that a path stands in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The suffix of a file to be written, without its dot.
///
/// # Errors
/// RG-E202 if the name has none.
pub(crate) fn suffix<'a>(py: Python<'_>, path: &'a Path, known: &[&str]) -> PyResult<&'a str> {
    path.extension().and_then(OsStr::to_str).ok_or_else(|| {
        let help = format!("end it in one of .{}", known.join(", ."));
        bad(py, Code::UnknownName, format!("{}: a name without a suffix", path.display()), &help)
    })
}

/// Reads `options=`.
pub(crate) fn settings(options: Option<&Bound<'_, PyDict>>) -> PyResult<Settings> {
    let one = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = name.extract::<Text>()?.0.to_owned();
        let setting = if let Ok(flag) = value.cast::<PyBool>() {
            Setting::Flag(flag.is_true())
        } else if value.is_instance_of::<PyInt>() {
            Setting::Int(value.extract()?)
        } else if let Ok(number) = value.cast::<PyFloat>() {
            Setting::Float(number.extract()?)
        } else if value.is_instance_of::<PyString>() {
            Setting::Text(value.extract::<Text>()?.0.to_owned())
        } else {
            return Err(PyTypeError::new_err(format!("option \"{name}\" must be a bool, a number or text")));
        };
        Ok((name, setting))
    };
    options.iter().flat_map(|options| options.iter()).map(one).collect()
}

/// Reads a profile file.
pub(crate) fn load_profile(py: Python<'_>, path: &Path) -> PyResult<Profile> {
    load(py, path, rgraph_files::read_profile)
}

/// Reads the text of a profile file.
pub(crate) fn profile(py: Python<'_>, text: &[u8]) -> PyResult<Profile> {
    read_with(py, text, TEXT, rgraph_files::read_profile)
}

/// The text of a profile file.
pub(crate) fn profile_text(py: Python<'_>, profile: &Profile) -> PyResult<String> {
    guarded(py, || rgraph_files::write_profile(profile))
}

/// Reads a plan file.
pub(crate) fn load_plan(py: Python<'_>, path: &Path) -> PyResult<Plan> {
    load(py, path, rgraph_files::read_plan)
}

/// Reads the text of a plan file.
pub(crate) fn plan(py: Python<'_>, text: &[u8]) -> PyResult<Plan> {
    read_with(py, text, TEXT, rgraph_files::read_plan)
}

/// Plain values of a JSON text.
pub(crate) fn loads<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

/// The JSON text of plain values.
pub(crate) fn dumps(values: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = values.py().import("json")?.call_method1("dumps", (values,))?;
    text.extract().map_err(|_: PyErr| PyValueError::new_err("these values cannot be written as JSON"))
}

/// Writes a file whole: to a temporary file that is then renamed, so that readers never see a part of it. Pipes and
/// devices of characters take the bytes as they are.
///
/// # Errors
/// `OSError` that names the file; nothing is left behind.
pub(crate) fn write(py: Python<'_>, path: &Path, bytes: Vec<u8>) -> PyResult<()> {
    let given = path.to_owned();
    let write = move || disk::write(&given, &bytes);
    unhurried(py, path, write)?.map_err(|fault| refused(py, fault, path))
}
