//! `BinarySemaphore` and `Fence`.

use std::os::fd::BorrowedFd;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::error::Code;
use rgraph_vk::{BinarySemaphore, Fence, SemaphoreFd};

use crate::arguments::convert::{Number, Text, seconds};
use crate::arguments::keywords;
use crate::classes::device::PyDevice;
use crate::classes::share::{Import, exported_binary};
use crate::run::detached::{Detached, call, wait};
use crate::run::error::bad;

/// A binary semaphore of a device: one signal, then one wait.
///
/// Made by `Device.binary_semaphore` or `Device.import_binary_semaphore`. Runs take it as `wait=[(semaphore, None)]`
/// and `signal=[(semaphore, None)]`; foreign code uses its `handle`.
#[pyclass(name = "BinarySemaphore", module = "rgraph", frozen)]
pub(crate) struct PyBinarySemaphore {
    pub semaphore: Detached<BinarySemaphore>,
    pub device: Py<PyDevice>,
}

/// A fence of a device: a run signals it when all of it is done, read-backs included.
///
/// Made by `Device.fence`, and given to a run as `fence=`. Foreign code waits for it by its `handle`.
#[pyclass(name = "Fence", module = "rgraph", frozen)]
pub(crate) struct PyFence {
    pub fence: Detached<Fence>,
    pub device: Py<PyDevice>,
}

fn kind(py: Python<'_>, name: &str) -> PyResult<SemaphoreFd> {
    SemaphoreFd::from_name(name).ok_or_else(|| {
        let shown: String = name.chars().take(60).collect();
        let message = format!("there is no kind of descriptor called \"{shown}\"");
        bad(py, Code::UnknownName, message, "there are opaque_fd, sync_fd")
    })
}

#[pymethods]
impl PyDevice {
    /// Make a binary semaphore, which one run signals and another one waits for.
    ///
    /// Parameters
    /// ----------
    /// shared
    ///     `"opaque_fd"`: it can be exported to the same device and driver, in other processes and APIs too.
    ///     `"sync_fd"`: each signal can be exported once it was submitted. Default: only this device can use it.
    ///
    /// Returns
    /// -------
    /// BinarySemaphore
    ///     It is destroyed when nothing that was submitted uses it.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E102 if the driver exports no such descriptors.
    #[pyo3(signature = (*, shared = None, **unknown), text_signature = "($self, *, shared=None)")]
    fn binary_semaphore(
        slf: &Bound<'_, Self>,
        shared: Option<Text<'_>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyBinarySemaphore> {
        keywords::refuse_of::<Self>("binary_semaphore", unknown)?;
        let shared = shared.map(|Text(name)| kind(slf.py(), name)).transpose()?;
        let semaphore = slf.get().device.make(slf.py(), move |device, _| device.binary_semaphore(shared))?;
        Ok(PyBinarySemaphore { semaphore, device: slf.clone().unbind() })
    }

    /// Import a binary semaphore, or one signal of one, that another device, process or API exported.
    ///
    /// Parameters
    /// ----------
    /// exported
    ///     What `BinarySemaphore.export` returned. The caller still has to close the descriptor. For a `sync_fd`, -1
    ///     means a signal that has already happened.
    ///
    /// Returns
    /// -------
    /// BinarySemaphore
    ///     Runs wait for it: `wait=[(semaphore, None)]`.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E131 if another device or driver exported an `opaque_fd`, RG-E102 if the driver takes no such
    ///     descriptors.
    /// GraphError
    ///     RG-E225 if the descriptor is closed or is no semaphore.
    fn import_binary_semaphore(slf: &Bound<'_, Self>, exported: &Bound<'_, PyAny>) -> PyResult<PyBinarySemaphore> {
        let (Import { fd, origin, .. }, kind) = Import::of_binary(exported)?;
        let semaphore = slf.get().device.make(slf.py(), move |device, _| {
            // SAFETY: the number is not negative; whether it is open is looked at first of all.
            let fd = (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) });
            // SAFETY: the record is the caller's word; the documentation says that drivers check little.
            unsafe { device.import_binary(fd, kind, origin) }
        })?;
        Ok(PyBinarySemaphore { semaphore, device: slf.clone().unbind() })
    }

    /// Make a fence that runs signal: `device.run(graph, fence=fence)`.
    ///
    /// Returns
    /// -------
    /// Fence
    ///     It is destroyed when nothing that was submitted uses it.
    fn fence(slf: &Bound<'_, Self>) -> PyResult<PyFence> {
        let fence = slf.get().device.make(slf.py(), |device, _| device.fence())?;
        Ok(PyFence { fence, device: slf.clone().unbind() })
    }
}

#[pymethods]
impl PyBinarySemaphore {
    /// The `VkSemaphore`.
    #[getter]
    fn handle(&self) -> u64 {
        self.semaphore.raw_handle()
    }

    /// The device.
    #[getter]
    fn device(&self, py: Python<'_>) -> Py<PyDevice> {
        self.device.clone_ref(py)
    }

    /// Export it: a new file descriptor, which is yours to close, and all that an importer must know.
    ///
    /// A `sync_fd` holds the signal submitted last and removes it from this semaphore, as a wait does.
    ///
    /// Returns
    /// -------
    /// Exported
    ///     For `Device.import_binary_semaphore`. A `fd` of -1 is a signal that has already happened.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E225 if it was not made with `shared=`, or a `sync_fd` has no signal.
    fn export<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fd = call(py, |free| self.semaphore.get(free)?.export())?;
        let known = self.semaphore.known();
        exported_binary(py, known.kind().unwrap_or(SemaphoreFd::Opaque), fd, known.origin())
    }

    fn __repr__(&self) -> String {
        format!("BinarySemaphore(handle={:#x})", self.semaphore.raw_handle())
    }
}

#[pymethods]
impl PyFence {
    /// The `VkFence`.
    #[getter]
    fn handle(&self) -> u64 {
        self.fence.raw_handle()
    }

    /// The device.
    #[getter]
    fn device(&self, py: Python<'_>) -> Py<PyDevice> {
        self.device.clone_ref(py)
    }

    /// Whether the run that signals it is done.
    #[getter]
    fn signalled(&self, py: Python<'_>) -> PyResult<bool> {
        call(py, |free| self.fence.get(free)?.is_signalled())
    }

    /// Wait until the run that signals it is done.
    ///
    /// Parameters
    /// ----------
    /// timeout
    ///     Seconds; `None`: for ever.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True once the run is done; False after the timeout, or if no run signals the fence.
    #[pyo3(signature = (timeout = None, **unknown), text_signature = "($self, timeout=None)")]
    fn wait(&self, py: Python<'_>, timeout: Option<Number>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
        keywords::refuse_of::<Self>("wait", unknown)?;
        let timeout = seconds(py, timeout)?;
        let given = self.fence.known().is_given();
        if !given {
            return Ok(false);
        }
        wait(py, timeout, |free, slice| self.fence.get(free)?.wait(Some(slice)))
    }

    fn __repr__(&self) -> String {
        format!("Fence(handle={:#x})", self.fence.raw_handle())
    }
}
