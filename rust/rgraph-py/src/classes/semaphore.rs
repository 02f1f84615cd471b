//! `Semaphore`: timelines that runs wait for and signal.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_vk::Semaphore;

use crate::arguments::convert::{Bytes, Number, seconds};
use crate::arguments::keywords;
use crate::classes::device::PyDevice;
use crate::run::detached::{Detached, call, wait};

/// A timeline semaphore of a device: a number that only grows, and that runs wait for and signal.
///
/// Made by `Device.semaphore`. Foreign code waits for it and signals it by its `handle`.
#[pyclass(name = "Semaphore", module = "rgraph", frozen)]
pub(crate) struct PySemaphore {
    pub semaphore: Detached<Semaphore>,
    pub device: Py<PyDevice>,
}

#[pymethods]
impl PyDevice {
    /// Make a timeline semaphore, which runs wait for and signal: `device.run(graph, wait=[(semaphore, 1)])`.
    ///
    /// Parameters
    /// ----------
    /// value
    ///     Its initial value.
    /// shared
    ///     If true, it can be exported to other devices, processes and APIs, which then wait for it.
    ///
    /// Returns
    /// -------
    /// Semaphore
    ///     It is destroyed when nothing that was submitted uses it.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E102 if it is `shared`, and the driver exports no timeline semaphores.
    #[pyo3(signature = (value = Bytes(0), *, shared = false, **unknown), text_signature = "($self, value=0, *, shared=False)")]
    fn semaphore(
        slf: &Bound<'_, Self>,
        value: Bytes,
        shared: bool,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PySemaphore> {
        keywords::refuse_of::<Self>("semaphore", unknown)?;
        let semaphore = slf.get().device.make(slf.py(), move |device, _| match shared {
            true => device.shared_semaphore(value.0),
            false => device.semaphore(value.0),
        })?;
        Ok(PySemaphore::of(slf, semaphore))
    }
}

impl PySemaphore {
    /// The Python object of a semaphore.
    pub(crate) fn of(device: &Bound<'_, PyDevice>, semaphore: Detached<Semaphore>) -> Self {
        Self { semaphore, device: device.clone().unbind() }
    }
}

#[pymethods]
impl PySemaphore {
    /// The `VkSemaphore`.
    #[getter]
    fn handle(&self) -> u64 {
        self.semaphore.raw_handle()
    }

    /// Its current value.
    #[getter]
    fn value(&self, py: Python<'_>) -> PyResult<u64> {
        call(py, |free| self.semaphore.get(free)?.value())
    }

    /// Set the value from the host.
    ///
    /// Parameters
    /// ----------
    /// value
    ///     Above the value that it has, and below those that runs under way will signal.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E225 if the value is not in that range.
    fn signal(&self, py: Python<'_>, value: Bytes) -> PyResult<()> {
        call(py, |free| self.semaphore.get(free)?.signal(value.0))
    }

    /// Wait until it has a value.
    ///
    /// Parameters
    /// ----------
    /// value
    ///     The value.
    /// timeout
    ///     Seconds; `None`: for ever.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True once it has the value; False after the timeout.
    #[pyo3(signature = (value, timeout = None, **unknown), text_signature = "($self, value, timeout=None)")]
    fn wait(
        &self,
        py: Python<'_>,
        value: Bytes,
        timeout: Option<Number>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        keywords::refuse_of::<Self>("wait", unknown)?;
        let timeout = seconds(py, timeout)?;
        wait(py, timeout, |free, slice| self.semaphore.get(free)?.wait(value.0, Some(slice)))
    }

    /// The device.
    #[getter]
    fn device(&self, py: Python<'_>) -> Py<PyDevice> {
        self.device.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!("Semaphore(handle={:#x})", self.semaphore.shown_handle())
    }
}
