//! Captures that are under way, and what they have so far.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rgraph_plan::graph::PassId;

use super::model::Model;
use crate::device::poll::{Poll, wait_polling};
use crate::error::Error;

/// A capture under way, or done. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Capture(pub(super) Arc<CaptureShared>);

/// See [`Capture`].
#[derive(Debug)]
pub(super) struct CaptureShared {
    pub(super) path: PathBuf,
    pub(super) frames: usize,
    /// The one compiled graph whose runs are captured; `None`: those of every graph of the device.
    pub(super) only: Option<u64>,
    pub(super) state: Mutex<CaptureState>,
    /// Notified when a run puts the tape back.
    pub(super) back: Condvar,
}

/// How far a capture is.
#[derive(Debug, Default)]
pub(super) struct CaptureState {
    /// `None` while a run is being captured, and once the file is written.
    pub(super) tape: Option<Tape>,
    /// Whether a run has the tape.
    pub(super) busy: bool,
    pub(super) captured: usize,
    /// Whether the file ends with the run that is being captured.
    pub(super) ending: bool,
    pub(super) written: bool,
}

/// The captures of a device that are under way.
#[derive(Debug, Default)]
pub(crate) struct Captures(Mutex<Vec<Capture>>);

impl Captures {
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Capture>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that want the runs of a compiled graph, oldest first.
    pub(crate) fn of(&self, graph: u64) -> Vec<Capture> {
        self.lock().iter().filter(|capture| capture.0.only.is_none_or(|only| only == graph)).cloned().collect()
    }

    /// A capture is over.
    pub(super) fn remove(&self, capture: &Capture) {
        self.lock().retain(|known| !Arc::ptr_eq(&known.0, &capture.0));
    }
}

/// The runs captured so far.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) model: Model,
    /// The compiled graph of each of the model's graphs.
    pub(super) ids: Vec<u64>,
    /// Parameters that any captured run of a graph changed: each later one names them too.
    pub(super) changed: Vec<BTreeSet<(PassId, Option<u32>)>>,
}

impl Tape {
    pub(super) fn len(&self) -> usize {
        self.model.frames.len()
    }

    pub(super) fn into_model(self) -> Model {
        self.model
    }
}

/// The tape of a capture while a run has it; the drop puts it back.
pub(super) struct Taken {
    capture: Capture,
    pub(super) tape: Tape,
}

impl Taken {
    /// Takes the tape, as soon as no other run has it; `None`: the capture is over. Runs take the tapes of several
    /// captures oldest first, so no two wait for each other.
    pub(super) fn of(capture: &Capture, poll: Option<Poll<'_>>) -> Result<Option<Self>, Error> {
        let taken = std::cell::Cell::new(None);
        wait_polling(poll, |slice| {
            let (waited, state) = (slice.unwrap_or(Duration::MAX), capture.lock());
            let state = capture.0.back.wait_timeout_while(state, waited, |state| state.busy);
            let (mut state, _) = state.unwrap_or_else(PoisonError::into_inner);
            if state.busy {
                return Ok(false);
            }
            if !state.ending && state.captured < capture.0.frames {
                let tape = state.tape.take();
                state.busy = tape.is_some();
                taken.set(tape.map(|tape| Self { capture: capture.clone(), tape }));
            }
            Ok(true)
        })?;
        Ok(taken.into_inner())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.capture.lock();
        state.captured = self.tape.len();
        state.tape = Some(std::mem::take(&mut self.tape));
        state.busy = false;
        self.capture.0.back.notify_all();
    }
}
