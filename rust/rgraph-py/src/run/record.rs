//! Parts of a plan as named tuples of `rgraph/_records.py`.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Makes a record of a class that is looked up once.
pub(crate) fn make<'py>(
    py: Python<'py>,
    class: &'static PyOnceLock<Py<PyType>>,
    name: &str,
    fields: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    class.import(py, "rgraph._records", name)?.call1(fields)
}

/// Makes a record: `record!(py, "Queue", (name, family))`.
macro_rules! record {
    ($py:expr, $name:literal, $fields:expr) => {{
        static CLASS: pyo3::sync::PyOnceLock<pyo3::Py<pyo3::types::PyType>> = pyo3::sync::PyOnceLock::new();
        $crate::run::record::make($py, &CLASS, $name, $fields)
    }};
}
pub(crate) use record;
