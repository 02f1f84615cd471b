//! Waits for semaphores of others that may be open: what a device remembers of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ash::vk;
use rgraph_plan::graph::Place;

use crate::device::queue::Point;
use crate::frame::outcome::Outcome;

/// How long [`Device::close`](crate::Device::close) waits while nothing but semaphores of others keeps the device from
/// ending.
pub const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

/// A wait of a run, a read or a write for a value of a timeline that rgraph does not signal itself.
#[derive(Clone, Debug)]
pub(crate) struct ForeignWait {
    pub(crate) semaphore: vk::Semaphore,
    pub(crate) value: u64,
    /// Who waits, for messages.
    pub(crate) of: Arc<str>,
    pub(crate) place: Option<Place>,
    pub(crate) end: End,
}

/// What is over only once the wait is.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Queue(Point),
    Host(Arc<Outcome>),
}

/// Those that may be open.
#[derive(Debug, Default)]
pub(crate) struct ForeignWaits(pub(super) Mutex<Vec<ForeignWait>>);
