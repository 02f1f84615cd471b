//! States in which foreign code left resources: given for many at once, or with the run that acquires them.

use std::sync::Arc;

use rgraph_plan::id::IdVec;

use crate::device::Shared;
use crate::device::queue::{DeviceQueueId, Point, Submit};
use crate::error::Error;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::state::ResourceState;

/// How foreign code left a resource that is given to a run: see [`Inputs::left`](crate::Inputs::left).
#[derive(Clone, PartialEq, Debug)]
pub struct ResourceLeft(pub(crate) ResourceState);

impl ResourceLeft {
    /// The state of a resource whose foreign work was submitted to `state.queue` before the run, or is awaited by one
    /// of the run's semaphores.
    ///
    /// # Safety
    /// As of [`DeviceResource::set_state`](crate::DeviceResource::set_state).
    ///
    /// ```compile_fail,E0133
    /// let left = rgraph_vk::ResourceLeft::new(rgraph_vk::ResourceState::default());
    /// ```
    pub unsafe fn new(state: ResourceState) -> Self {
        Self(state)
    }
}

/// Puts resources into the states that foreign code left them in, in the caller's turn. `apart` says of which another
/// queue than the one that they were left on comes next: an empty submit then signals a value behind the foreign work.
pub(crate) fn take(
    shared: &Shared,
    all: Vec<(Arc<PhysicalResource>, ResourceState)>,
    apart: impl Fn(&PhysicalResource, DeviceQueueId) -> bool,
) -> Result<(), Error> {
    let mut signalled: IdVec<DeviceQueueId, Option<Point>> = IdVec::filled(None, shared.queues.len());
    for (physical, state) in &all {
        if let Some(queue) = state.queue.filter(|queue| signalled[*queue].is_none() && apart(physical, *queue)) {
            let value = shared.noted(shared.queues[queue].submit(&shared.raw, &[Submit::default()]))?;
            signalled[queue] = Some(Point { queue, value });
        }
    }
    for (physical, mut state) in all {
        // What comes next on the same queue is behind the foreign work by the order of submits.
        let here = |queue: DeviceQueueId| Point { queue, value: shared.queues[queue].submitted() };
        state.points.extend(state.queue.map(|queue| signalled[queue].unwrap_or_else(|| here(queue))));
        let mut tracked = physical.tracked();
        let whole = tracked.whole();
        tracked.visit(whole, |_, known| state.points.extend(&known.points));
        state.points.sort_unstable();
        // Of each queue the last value implies all before it.
        state.points.reverse();
        state.points.dedup_by_key(|point| point.queue);
        tracked.set(whole, &state);
    }
    Ok(())
}
