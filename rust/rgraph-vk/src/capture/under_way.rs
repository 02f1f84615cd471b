//! Captures that are under way, and what they have so far.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rgraph_plan::graph::PassId;

use super::model::Model;

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
}

/// How far a capture is.
#[derive(Debug, Default)]
pub(super) struct CaptureState {
    /// `None` while a run is being captured, and once the file is written.
    pub(super) tape: Option<Tape>,
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

    /// The first that wants the runs of a compiled graph.
    pub(crate) fn of(&self, graph: u64) -> Option<Capture> {
        self.lock().iter().find(|capture| capture.0.only.is_none_or(|only| only == graph)).cloned()
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
