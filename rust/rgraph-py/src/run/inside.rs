//! Functions of the user's that devices wait for: inside of one, nothing waits for these devices.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;
use rgraph_vk::{BusyError, Code, Error};

use crate::run::runtime_errors::raised;

thread_local! {
    static INSIDE: RefCell<Option<Arc<[u64]>>> = const { RefCell::new(None) };
}

/// While a function of the user's runs: its devices wait for it, so that it cannot wait for them.
pub(crate) struct Inside(Option<Arc<[u64]>>);

impl Inside {
    /// A function of these devices' begins on this thread.
    pub(crate) fn enter(devices: &Arc<[u64]>) -> Self {
        Self(INSIDE.replace(Some(Arc::clone(devices))))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(self.0.take());
    }
}

/// Refuses to wait for devices, named by their numbers, inside of a function that one of them waits for.
///
/// # Errors
/// `BusyError`.
pub(crate) fn outside(py: Python<'_>, devices: &[u64]) -> PyResult<()> {
    let waits = |inside: &[u64]| inside.iter().any(|number| devices.contains(number));
    if !INSIDE.with_borrow(|inside| inside.as_deref().is_some_and(waits)) {
        return Ok(());
    }
    Err(raised(
        py,
        Error::Busy(BusyError {
            code: Code::WaitsForItself,
            message: "a function of a pass waits for the device that waits for it".to_owned(),
            help: "run other graphs before or after, or on another device".to_owned(),
        }),
    ))
}
