//! Arithmetic of results: numpy's, of the array that `numpy.asarray` makes of one.

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use rgraph_plan::words::plain;

use crate::classes::array::PyArray;

type Any<'py> = Bound<'py, PyAny>;

/// What numpy makes of a result and another value.
fn with<'py>(array: &Bound<'py, PyArray>, method: &str, other: &Any<'py>) -> PyResult<Any<'py>> {
    PyArray::asarray(array)?.call_method1(method, (other,))
}

/// The only element; `None` if there are several.
fn only<'py>(array: &Bound<'py, PyArray>) -> PyResult<Option<Any<'py>>> {
    let mut found = PyArray::tolist(array)?;
    while let Ok(list) = found.cast::<PyList>() {
        if list.len() != 1 {
            return Ok(None);
        }
        found = list.get_item(0)?;
    }
    Ok(Some(found))
}

/// The only element as a number.
fn number<'py>(array: &Bound<'py, PyArray>) -> PyResult<Any<'py>> {
    only(array)?.ok_or_else(|| {
        let name = plain(array.get().name());
        PyTypeError::new_err(format!("\"{name}\" has several elements and is not one number; take one by its index"))
    })
}

#[pymethods]
impl PyArray {
    /// As numpy's: without it the length would count, and one 0 would be true.
    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let several = || {
            let name = plain(slf.get().name());
            PyValueError::new_err(format!("\"{name}\" has several elements; use numpy.any(…) or numpy.all(…) of it"))
        };
        only(slf)?.ok_or_else(several)?.is_truthy()
    }

    /// Without it `int` would read the bytes as digits, since an array is a buffer.
    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        slf.py().get_type::<pyo3::types::PyInt>().call1((number(slf)?,))
    }

    fn __float__(slf: &Bound<'_, Self>) -> PyResult<f64> {
        slf.py().get_type::<pyo3::types::PyFloat>().call1((number(slf)?,))?.extract()
    }

    /// Names the call for what only numpy's arrays have.
    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
        let numpys = || {
            let modules = slf.py().import("sys")?.getattr("modules")?;
            modules.get_item("numpy")?.getattr("ndarray")?.hasattr(name)
        };
        let hint = match name.starts_with("__") {
            false if numpys().unwrap_or(false) => format!("; numpy.asarray(…) of it has {name}"),
            _ => String::new(),
        };
        Err(PyAttributeError::new_err(format!("'rgraph.Array' object has no attribute '{name}'{hint}")))
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__add__", other)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__radd__", other)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__sub__", other)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rsub__", other)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__mul__", other)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rmul__", other)
    }

    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__matmul__", other)
    }

    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rmatmul__", other)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__truediv__", other)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rtruediv__", other)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__floordiv__", other)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rfloordiv__", other)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__mod__", other)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rmod__", other)
    }

    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__lshift__", other)
    }

    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rlshift__", other)
    }

    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rshift__", other)
    }

    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rrshift__", other)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__and__", other)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rand__", other)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__or__", other)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__ror__", other)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__xor__", other)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        with(slf, "__rxor__", other)
    }

    fn __pow__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, modulo: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        match modulo {
            None => with(slf, "__pow__", other),
            Some(_) => Ok(slf.py().NotImplemented().into_bound(slf.py())),
        }
    }

    fn __rpow__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, modulo: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        match modulo {
            None => with(slf, "__rpow__", other),
            Some(_) => Ok(slf.py().NotImplemented().into_bound(slf.py())),
        }
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        Self::asarray(slf)?.call_method0("__neg__")
    }

    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        Self::asarray(slf)?.call_method0("__abs__")
    }

    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        Self::asarray(slf)?.call_method0("__invert__")
    }

    /// Compares element by element, as numpy does.
    fn __richcmp__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>, op: CompareOp) -> PyResult<Any<'py>> {
        Self::asarray(slf)?.rich_compare(other, op)
    }

    /// Pickled and copied it is numpy's array.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        Self::asarray(slf)?.call_method0("copy")?.call_method0("__reduce__")
    }
}
