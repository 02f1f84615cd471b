//! A run that was submitted.

use std::sync::{Arc, Mutex};

use rgraph_plan::graph::Ranges;
use rgraph_plan::resource::ResourceId;

use crate::device::queue::Point;
use crate::frame::figures::Figures;
use crate::frame::outcome::Outcome;
use crate::frame::timing::Timed;
use crate::memory::readback::Readback;

/// A run that was submitted.
pub(crate) struct Submitted {
    /// When it is done.
    pub points: Vec<Point>,
    /// What is read back, by the graph's resources.
    pub reads: Reads,
    pub host: Option<Arc<Outcome>>,
    pub figures: Figures,
    /// GPU times, once they were read.
    pub times: Arc<Mutex<Option<Timed>>>,
}

/// What was read back: of the graph's resources, and which part.
pub(crate) type Reads = Vec<(ResourceId, Ranges, Readback)>;
