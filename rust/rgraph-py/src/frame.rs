//! `rgraph.Frame`: a frame that was submitted.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyIterator, PyList};
use rgraph_plan::resource::ResourceId;
use rgraph_vk::Frame;

use crate::array::PyArray;
use crate::compiled::PyCompiled;
use crate::convert::Number;
use crate::detached::{Detached, call, wait};
use crate::error::guarded;
use crate::hosted::outside;
use crate::report::PyReport;

/// A frame that was submitted: its results by name, and how long it took.
///
/// `frame["out"]` waits for the frame; `frame.done` and `frame.wait` do not have to. A frame stays readable after later
/// frames, and after its device was closed.
#[pyclass(name = "Frame", module = "rgraph", frozen, weakref)]
pub struct PyFrame {
    compiled: Py<PyCompiled>,
    frame: Detached<Frame>,
    /// Results that were asked for, so that asking again gives the same.
    arrays: Mutex<HashMap<ResourceId, Py<PyArray>>>,
}

impl PyFrame {
    /// The Python object of a frame.
    pub fn object<'py>(compiled: &Bound<'py, PyCompiled>, frame: Detached<Frame>) -> PyResult<Bound<'py, Self>> {
        let this = Self { compiled: compiled.clone().unbind(), frame, arrays: Mutex::default() };
        Bound::new(compiled.py(), this)
    }

    fn until_done(&self, py: Python<'_>, timeout: Option<Duration>) -> PyResult<bool> {
        outside(py, self.compiled.get().device.get().number)?;
        wait(py, timeout, |free, slice| self.frame.get(free)?.wait(Some(slice)))
    }

    /// What a root holds; waits for it.
    pub fn array<'py>(&self, py: Python<'py>, id: ResourceId) -> PyResult<Bound<'py, PyArray>> {
        let known =
            self.arrays.lock().unwrap_or_else(PoisonError::into_inner).get(&id).map(|known| known.clone_ref(py));
        if let Some(known) = known {
            return Ok(known.into_bound(py));
        }
        self.until_done(py, None)?;
        let bytes = self.frame.make(py, |frame, _| frame.read(id))?;
        let array = Bound::new(py, guarded(py, || PyArray::new(bytes, self.compiled.get().layout(id)))?)?;
        let replaced = self.arrays.lock().unwrap_or_else(PoisonError::into_inner).insert(id, array.clone().unbind());
        drop(replaced);
        Ok(array)
    }

    fn names(&self) -> Vec<&str> {
        let graph = &self.compiled.get().load.graph;
        self.frame.readable().map(|id| graph.resource_name(id)).collect()
    }
}

#[pymethods]
impl PyFrame {
    /// Whether it is done.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     If the device is lost. Exceptions of a CPU pass's function are raised here too.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        call(py, |free| self.frame.get(free)?.is_done())
    }

    /// Wait until it is done. Ctrl-C ends the wait, not the frame.
    ///
    /// Parameters
    /// ----------
    /// timeout
    ///     Seconds; default: as long as it takes.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True when it is done; False after the timeout.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<Number>) -> PyResult<bool> {
        let timeout = timeout.map(|Number(seconds)| Duration::try_from_secs_f64(seconds));
        let refuse = |_| PyValueError::new_err("a timeout is a number of seconds, not negative");
        self.until_done(py, timeout.transpose().map_err(refuse)?)
    }

    /// GPU time by pass, CPU time, memory, barriers and submits; waits for the frame.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyReport>> {
        self.until_done(py, None)?;
        let report = call(py, |free| self.frame.get(free)?.report())?;
        Bound::new(py, PyReport(report))
    }

    /// Names of what was read back.
    fn keys(&self) -> Vec<&str> {
        self.names()
    }

    /// What a root held at the end of the frame; waits for the frame.
    ///
    /// The same object each time.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        let id = self.compiled.get().find(name)?;
        self.array(py, id)
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        let found = self.compiled.get().find(name);
        found.is_ok_and(|id| self.frame.readable().any(|readable| readable == id))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.names())?.try_iter()
    }

    fn __len__(&self) -> usize {
        self.frame.readable().count()
    }

    fn __repr__(&self) -> String {
        format!("<Frame of \"{}\": {}>", self.compiled.get().load.graph.name(), self.names().join(", "))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.compiled)
    }
}
