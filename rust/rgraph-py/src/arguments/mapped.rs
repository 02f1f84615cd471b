//! Dicts among arguments, and other mappings as dicts.

use std::ops::Deref;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

/// A dict, or the contents of another mapping.
pub(crate) struct Mapped<'py>(Bound<'py, PyDict>);

impl<'py> Mapped<'py> {
    /// The contents of a mapping; `None` if it is none.
    ///
    /// # Errors
    /// Errors that the mapping raises.
    pub(crate) fn of(value: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(dict) = value.cast::<PyDict>() {
            return Ok(Some(Self(dict.clone())));
        }
        let Ok(mapping) = value.cast::<PyMapping>() else { return Ok(None) };
        let dict = PyDict::new(value.py());
        dict.update(mapping)?;
        Ok(Some(Self(dict)))
    }
}

impl<'py> Deref for Mapped<'py> {
    type Target = Bound<'py, PyDict>;

    fn deref(&self) -> &Bound<'py, PyDict> {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Mapped<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match Self::of(&value)? {
            Some(mapped) => Ok(mapped),
            None => Err(PyTypeError::new_err(format!("expected a dict, not {}", value.get_type().name()?))),
        }
    }
}
