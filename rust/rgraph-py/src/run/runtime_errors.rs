//! Errors of the runtime as exceptions.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rgraph_plan::error::Code;
use rgraph_vk::{BusyError, DeviceError, Error, PlanError};

use crate::run::error::{class, graph_error, shader_error};

/// The Python exception of an error of the runtime.
pub(crate) fn raised(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Graph(error) => graph_error(py, &error),
        Error::Shader(error) => shader_error(py, &error, None),
        Error::Device(error) => device_error(py, &error),
        Error::Busy(error) => busy_error(py, &error),
        Error::Plan(error) => plan_error(py, &error),
        // What a function of the user's raised arrives as it was raised.
        Error::Callback(error) => match error.downcast::<PyErr>() {
            Ok(error) => *error,
            Err(error) => pyo3::exceptions::PyRuntimeError::new_err(error.to_string()),
        },
        other => pyo3::exceptions::PyRuntimeError::new_err(other.to_string()),
    }
}

fn device_error(py: Python<'_>, error: &DeviceError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let result = error.result_name();
    let (pass, resource) = (error.pass.as_deref(), error.resource.as_deref());
    let code = error.code.text();
    let fields = (error.to_string(), code, pass, resource, &error.help, &error.notes, error.call, result);
    let exception = class(py, &CLASS, "DeviceError").and_then(|class| class.call1(fields));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}

fn busy_error(py: Python<'_>, error: &BusyError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let fields = (error.to_string(), error.code.text(), None::<&str>, None::<&str>, &error.help);
    let exception = class(py, &CLASS, "BusyError").and_then(|class| class.call1(fields));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}

/// A graph that a frame may not wait for.
pub(crate) fn not_ready(py: Python<'_>, graph: &str, (made, pipelines): (usize, usize)) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let code = Code::NotReady;
    let help = "run it again later, or wait for it: device.prepare(graph).wait()";
    let far = match pipelines {
        0 => "it is being planned".to_owned(),
        _ => format!("{made} of {pipelines} pipelines are made"),
    };
    let message = format!("{code} \"{graph}\" is not ready: {far}\n  help: {help}");
    let fields = (message, code.text(), None::<&str>, None::<&str>, help);
    let exception = class(py, &CLASS, "NotReadyError").and_then(|class| class.call1(fields));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}

fn plan_error(py: Python<'_>, error: &PlanError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (pass, resource) = (error.pass.as_deref(), error.resource.as_deref());
    let fields = (error.to_string(), error.code.text(), pass, resource, &error.help, &error.notes);
    let exception = class(py, &CLASS, "PlanError").and_then(|class| class.call1(fields));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}
