//! What lives in a compiled graph from run to run: `Compiled.set`, `Compiled.reset`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::error::Code;
use rgraph_plan::resource::{Life, Resource, ResourceId};

use crate::arguments::host_arrays::Host;
use crate::arguments::keywords;
use crate::classes::array_layout::ArrayLayout;
use crate::classes::compiled::PyCompiled;
use crate::run::error::bad;
use crate::run::runnable::Runnable;
use crate::run::runtime_errors::raised;
use crate::run::states::{Packed, Pending};

impl Runnable {
    /// Whether something lives from run to run under that name.
    pub fn lasts(&self, id: ResourceId) -> bool {
        let graph = &self.load.graph;
        let remembered = |resource: &Resource| matches!(resource.life, Life::History(history) if history.of == id);
        matches!(graph.resources()[id].life, Life::Persistent | Life::History(_))
            || graph.resources().iter().any(remembered)
    }

    /// Whether it is the caller's, so that an array for it is an input.
    pub fn imports(&self, id: ResourceId) -> bool {
        matches!(self.load.graph.resources()[id].life, Life::Imported(_))
    }

    /// A run has changed what was pending when it began.
    pub fn done(&self, reset: bool, states: &[Packed]) {
        let mut pending = self.pending();
        pending.reset &= !reset;
        pending.states.retain(|(_, bytes)| !states.iter().any(|(_, done)| Arc::ptr_eq(bytes, done)));
    }

    /// An array as the contents of what lives from run to run.
    pub fn state(&self, id: ResourceId, array: &Bound<'_, PyAny>) -> PyResult<Packed> {
        let py = array.py();
        let name = self.load.graph.resource_name(id);
        if !self.lasts(id) {
            let message = format!("\"{name}\" does not live from frame to frame, so it has no state");
            let help = "declare it persistent, or remember it with previous(); imported arrays are inputs= of a run";
            return Err(bad(py, Code::BadHistory, message, help));
        }
        let what = format!("the state of \"{name}\"");
        let host = Host::new(array, &what)?;
        let layout = self.layout_for(py, id, &host, &what)?;
        Ok((id, layout.pack(&host.form, host.bytes()).into()))
    }

    /// Sets the contents that the next run finds.
    ///
    /// # Errors
    /// If it does not live from run to run, or the array does not fit.
    pub fn set(&self, state: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let (id, bytes) = self.state(self.find(state)?, array)?;
        let mut pending = self.pending();
        pending.states.retain(|(known, _)| *known != id);
        pending.states.push((id, bytes));
        Ok(())
    }

    /// Resets to the contents before the first run, for the next run.
    ///
    /// # Errors
    /// If one of them does not live from run to run.
    pub fn reset(&self, states: &Bound<'_, PyTuple>) -> PyResult<()> {
        if states.is_empty() {
            *self.pending() = Pending { reset: true, states: Vec::new() };
            return Ok(());
        }
        for state in states {
            let id = self.find(&state)?;
            if !self.lasts(id) {
                let message = format!("\"{}\" does not live from frame to frame", self.load.graph.resource_name(id));
                return Err(bad(
                    state.py(),
                    Code::BadHistory,
                    message,
                    "declare it persistent, or remember it with previous()",
                ));
            }
            let memory = |id: ResourceId| match self.load.graph.resources()[id].life {
                Life::History(history) => history.of,
                _ => id,
            };
            let first = self.first.iter().find(|(of, _)| memory(*of) == memory(id));
            let zeros = || vec![0; ArrayLayout::natural(self.kinds.of(id)).bytes()].into();
            let bytes = first.map_or_else(zeros, |(_, bytes)| Arc::clone(bytes));
            let mut pending = self.pending();
            pending.states.retain(|(known, _)| *known != id);
            pending.states.push((id, bytes));
        }
        Ok(())
    }
}

impl PyCompiled {
    /// Refuses to set contents for the next run of a closed or lost device.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.device.get().device.known().check().map_err(|error| raised(py, error))
    }
}

#[pymethods]
impl PyCompiled {
    /// Set the contents of a persistent resource or a history before the next frame.
    ///
    /// The array is copied. For an image with a history (`previous()`), all remembered frames get these contents.
    ///
    /// Parameters
    /// ----------
    /// state
    ///     An image or a buffer that lives from frame to frame, or its name.
    /// array
    ///     An array of its shape and dtype; for a buffer, any of as many bytes.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If it does not live from frame to frame, or the array does not fit.
    fn set(&self, state: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check(state.py())?;
        (**self).set(state, array)
    }

    /// Reset states to their initial contents, for the next frame.
    ///
    /// Parameters
    /// ----------
    /// *states
    ///     Images and buffers that live from frame to frame, or their names; default: all of them. Those that were
    ///     declared without an array become zeros.
    #[pyo3(signature = (*states, **unknown), text_signature = "($self, *states)")]
    fn reset(&self, states: &Bound<'_, PyTuple>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        keywords::refuse_of::<Self>("reset", unknown)?;
        self.check(states.py())?;
        (**self).reset(states)
    }
}
