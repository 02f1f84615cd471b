//! Another user who has a resource of a shared block, and the states that the resource is in then.

use ash::vk;
use rgraph_plan::access::{Accesses, Layout, Stages};

use crate::device::queue::{DeviceQueueId, Point};
use crate::device::semaphore::Semaphore;
use crate::memory::state::ResourceState;

/// Another user of a shared resource.
#[derive(Clone, Debug)]
pub struct Holder {
    pub name: String,
    /// It is done when the semaphore has the value. `None`: it tells by other means.
    pub until: Option<(Semaphore, u64)>,
}

/// A resource that another user has, or had until it was acquired.
#[derive(Clone, Debug)]
pub(crate) struct Lent {
    pub holder: Holder,
    /// Whether the caller knows that the holder is done.
    pub acquired: bool,
}

impl Lent {
    /// Held by another until it is acquired.
    pub(crate) fn to(name: &str) -> Self {
        Self { holder: Holder { name: name.to_owned(), until: None }, acquired: false }
    }
}

/// The state of what another user has.
pub(crate) fn elsewhere(layout: Layout) -> ResourceState {
    ResourceState { family: Some(vk::QUEUE_FAMILY_EXTERNAL), layout, ..ResourceState::default() }
}

/// How a resource is left to a user outside of the device.
pub(crate) fn released(queue: DeviceQueueId, point: Point) -> ResourceState {
    ResourceState {
        queue: Some(queue),
        stages: Stages::COPY,
        access: Accesses::empty(),
        points: vec![point],
        ..elsewhere(Layout::General)
    }
}
