//! Calls of the runtime: without the interpreter lock, interruptible, their errors as exceptions.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rgraph_vk::{BusyError, DeviceError, Error};

use crate::error::{class, graph_error, guarded, shader_error};
use crate::logging;

/// How long a wait goes on before signals are looked at.
const SLICE: Duration = Duration::from_millis(50);

/// The Python exception of an error of the runtime.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Graph(error) => graph_error(py, &error),
        Error::Shader(error) => shader_error(py, &error, None),
        Error::Device(error) => device_error(py, &error),
        Error::Busy(error) => busy_error(py, &error),
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

/// Runs `work` without the interpreter lock, and hands over what was logged meanwhile.
pub fn call<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    let done = guarded(py, work);
    let said = logging::deliver(py);
    let value = done?.map_err(|error| raised(py, error))?;
    said.map(|()| value)
}

/// Waits in slices, so that signals (Ctrl-C) are seen; `false`: the time was over before.
pub fn wait(
    py: Python<'_>,
    timeout: Option<Duration>,
    wait: impl Fn(Duration) -> Result<bool, Error> + Sync,
) -> PyResult<bool> {
    let start = Instant::now();
    loop {
        let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        let slice = left.map_or(SLICE, |left| left.min(SLICE));
        if call(py, || wait(slice))? {
            return Ok(true);
        }
        py.check_signals()?;
        if timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
            return Ok(false);
        }
    }
}
