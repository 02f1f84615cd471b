//! The tuner of a compiled graph, with the functions that it calls.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use rgraph_vk::Tuner;

use crate::run::detached::Detached;
use crate::run::functions::Function;

/// The tuner of a compiled graph.
pub struct Tuned {
    /// See [`Tuner`].
    pub tuner: Detached<Tuner>,
    /// The value of `adapt=`.
    pub asked: Py<PyAny>,
    /// The functions that it calls.
    pub functions: Vec<Arc<Function>>,
    /// What a function in the background raised, for the next run.
    pub raised: Arc<Mutex<Option<PyErr>>>,
}

impl Tuned {
    /// The tuner, where the interpreter's lock is not held.
    pub fn tuner(&self) -> &Detached<Tuner> {
        &self.tuner
    }

    /// Raises what a function in the background raised, once.
    pub fn check(&self) -> PyResult<()> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), Err)
    }

    /// Shows what it holds to the garbage collector.
    pub fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.asked)?;
        self.functions.iter().try_for_each(|held| held.visit(visit))
    }

    /// Lets go of functions.
    pub fn clear(&self) {
        self.functions.iter().for_each(|held| held.clear());
    }
}
