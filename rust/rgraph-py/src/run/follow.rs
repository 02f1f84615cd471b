//! Runs that a `View` follows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use rgraph_vk::Measure;

/// The view that follows the runs of a device, if there is one.
#[derive(Default)]
pub struct Follow {
    on: AtomicBool,
    view: Mutex<Option<(Py<PyAny>, Measure)>>,
}

impl Follow {
    /// Another view follows, or none; runs that do not say what they measure measure that much for it.
    pub fn set(&self, view: Option<(Py<PyAny>, Measure)>) {
        self.on.store(view.is_some(), Ordering::Release);
        let before = std::mem::replace(&mut *self.view.lock().unwrap_or_else(PoisonError::into_inner), view);
        drop(before);
    }

    /// What is measured for the view, where a run would measure nothing.
    pub fn measure(&self, asked: Measure) -> Measure {
        if asked != Measure::Off || !self.on.load(Ordering::Acquire) {
            return asked;
        }
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.as_ref().map_or(asked, |(_, measure)| *measure)
    }

    /// Gives the view a frame. An error of it is reported and harms no run.
    pub fn ran(&self, compiled: &Bound<'_, PyAny>, frame: &Bound<'_, PyAny>) {
        if !self.on.load(Ordering::Acquire) {
            return;
        }
        let py = frame.py();
        let view = {
            let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
            view.as_ref().map(|(view, _)| view.clone_ref(py))
        };
        let Some(view) = view else { return };
        if let Err(error) = view.call_method1(py, "_ran", (compiled, frame)) {
            error.write_unraisable(py, Some(view.bind(py)));
        }
    }

    /// For the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(view) = self.view.try_lock() else { return Ok(()) };
        view.as_ref().map_or(Ok(()), |(view, _)| visit.call(view))
    }
}
