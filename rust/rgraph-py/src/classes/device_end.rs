//! The end of a `Device`: it waits, is closed, is left by a `with` block.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::types::PyTuple;
use rgraph_vk::{CLOSE_PATIENCE, Error, Patience};

use crate::arguments::convert::{Number, seconds};
use crate::arguments::keywords;
use crate::classes::device::PyDevice;
use crate::run::detached::{call, wait};
use crate::run::inside::outside;

impl PyDevice {
    /// See `close`.
    pub fn close_within(&self, py: Python<'_>, limit: Option<Duration>) -> PyResult<()> {
        if self.device.is_closed() {
            return Ok(());
        }
        outside(py, &self.numbers)?;
        let patience = Mutex::new(Patience::new(limit));
        wait(py, None, |free, slice| {
            let mut patience = patience.lock().unwrap_or_else(PoisonError::into_inner);
            match self.device.get(free).and_then(|device| device.is_idle_with(slice, &mut patience)) {
                Err(error @ Error::Busy(_)) => Err(error),
                // What keeps it from being waited for (it is lost, or another process's) is nothing to wait for.
                idle => Ok(idle.unwrap_or(true)),
            }
        })?;
        wait(py, None, |free, slice| {
            Ok(self.device.get(free).map_or(true, |device| device.give_up_preparations(Some(slice))))
        })?;
        self.forget();
        self.follow.set(None);
        call(py, |free| self.device.get(free).map_or(Ok(()), |device| device.close_within(limit)))?;
        self.device.abandon();
        Ok(())
    }
}

#[pymethods]
impl PyDevice {
    /// Wait until the device is idle, then destroy what was waiting for that. Ctrl-C ends the wait.
    fn wait_idle(&self, py: Python<'_>) -> PyResult<()> {
        outside(py, &self.numbers)?;
        wait(py, None, |free, slice| self.device.get(free)?.is_idle_within(slice))?;
        call(py, |free| self.device.get(free)?.wait_idle())
    }

    /// Close the device: wait for the GPU, and refuse everything from now on. A second call does
    /// nothing. Ctrl-C ends the wait; the device is then still open.
    ///
    /// Memory is freed with the last object that needs it: arrays and views of them stay readable. If a function of a
    /// pass is running, it continues, and its frame fails.
    ///
    /// Parameters
    /// ----------
    /// timeout
    ///     Longest wait in seconds while only semaphores that nobody signals keep the device busy; None: no limit. The
    ///     wait for GPU work has no limit.
    ///
    /// Raises
    /// ------
    /// BusyError
    ///     RG-E404 after the timeout; the device is then still open. At the end of a `with` block it refuses all
    ///     further calls.
    #[pyo3(signature = (*, timeout = Some(Number(10.0)), **unknown), text_signature = "($self, *, timeout=10.0)")]
    fn close(&self, py: Python<'_>, timeout: Option<Number>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        keywords::refuse_of::<Self>("close", unknown)?;
        self.close_within(py, seconds(py, timeout)?)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let device = &slf.get().device;
        call(slf.py(), |free| device.get(free)?.check())?;
        Ok(slf)
    }

    #[pyo3(signature = (*error), text_signature = "($self, *error)")]
    fn __exit__(&self, py: Python<'_>, error: &Bound<'_, PyTuple>) -> PyResult<()> {
        if !error.get_item(0).is_ok_and(|kind| !kind.is_none()) {
            // Nobody has it behind the block, whatever it waits for.
            return self.close_within(py, Some(CLOSE_PATIENCE)).inspect_err(|_| {
                self.device.abandon();
                self.forget();
            });
        }
        // What went wrong in the block does not wait for the GPU: an interrupt of a long frame is one. But the caller
        // may destroy a device of its own next.
        let ready = call(py, |free| {
            let device = self.device.get(free)?;
            Ok(device.is_borrowed() || device.is_idle_within(Duration::ZERO)?)
        });
        if !ready.is_ok_and(|ready| ready && self.close_within(py, Some(CLOSE_PATIENCE)).is_ok()) {
            self.device.abandon();
            self.forget();
        }
        Ok(())
    }
}
