//! Assignment to elements, and their deletion, where nothing is written that way: refused with the call that writes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::classes::array::PyArray;
use crate::classes::device_resource::PyDeviceResource;
use crate::classes::frame::PyFrame;
use crate::classes::resource::PyResource;
use crate::classes::view::PyView;

/// Nothing of rgraph has elements that can be deleted.
fn undeletable(name: &str, help: &str) -> PyResult<()> {
    refuse(&format!("elements of {name} cannot be deleted"), help)
}

fn refuse(message: &str, help: &str) -> PyResult<()> {
    Err(PyTypeError::new_err(format!("{message}\n  help: {help}")))
}

/// A declared resource, or part of one.
fn declared() -> PyResult<()> {
    let help = "give contents with import_array(name, array), persistent=array or run(inputs={name: array}); write in a \
                frame with fill(), clear(), copy() or a shader";
    refuse("resources of a graph have no elements before a frame runs", help)
}

#[pymethods]
impl PyArray {
    fn __setitem__(slf: &Bound<'_, Self>, _key: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        let name = slf.getattr("name")?.extract::<String>()?;
        let help = format!("write to a copy: copy = frame[\"{name}\"].numpy(copy=True); copy[…] = value");
        refuse("results of a frame cannot be written", &help)
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        undeletable("an array of results", "take a part of it, array[…], or of a copy: frame[NAME].numpy(copy=True)")
    }
}

#[pymethods]
impl PyFrame {
    fn __setitem__(&self, _key: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        let help = "collect results in a dict: results = dict(frame.items()); arrays for the next frame are \
                    run(inputs={name: array})";
        refuse("results of a frame cannot be replaced", help)
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        undeletable("a frame", "collect results in a dict: results = dict(frame.items()); del results[name]")
    }
}

#[pymethods]
impl PyDeviceResource {
    fn __setitem__(slf: &Bound<'_, Self>, _key: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        let name = slf.getattr("name")?.extract::<String>()?;
        let help = "read, change and write it: array = resource.read().numpy(copy=True); array[…] = value; \
                    resource.write(array)";
        refuse(&format!("\"{name}\" is written as a whole"), help)
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        undeletable("a device resource", "write contents with resource.write(array)")
    }
}

#[pymethods]
impl PyResource {
    fn __setitem__(&self, _key: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        declared()
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        undeletable("a declared resource", "graph.remove(resource) takes a declaration back")
    }
}

#[pymethods]
impl PyView {
    fn __setitem__(&self, _key: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        declared()
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        undeletable("a part of a declared resource", "graph.remove(resource) takes a declaration back")
    }
}
