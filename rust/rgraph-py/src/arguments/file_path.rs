//! Paths in arguments.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rgraph_plan::error::Code;

use crate::run::error::bad;

/// The path of a file: text, or an object of `os.PathLike` that is text.
pub(crate) struct FilePath(pub PathBuf);

impl Deref for FilePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for FilePath {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        match value.extract::<PathBuf>() {
            Ok(path) if path.as_os_str().is_empty() => {
                Err(bad(py, Code::BadFile, "the path of a file is empty", "give the file a name"))
            }
            Ok(path) => Ok(Self(path)),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                let kind = value.get_type().name()?;
                let help = "give text or a pathlib.Path; os.fsdecode(…) makes text of bytes";
                Err(PyTypeError::new_err(format!("expected the path of a file, not {kind}\n  help: {help}")))
            }
            Err(error) => Err(error),
        }
    }
}
