//! How foreign code left resources: said for many at once, or together with the run that takes them.

use std::sync::Arc;

use rgraph_plan::resource::ResourceId;

use crate::compile::prepared::{Imports, Prepared};
use crate::device::queue::{Point, Submit};
use crate::device::{Device, Shared};
use crate::error::Error;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::resource::Resource;
use crate::memory::state::ResourceState;

/// How foreign code left a resource that is given to a run: see [`Inputs::left`](crate::Inputs::left).
#[derive(Clone, PartialEq, Debug)]
pub struct ResourceLeft(ResourceState);

impl ResourceLeft {
    /// The state of a resource whose foreign work was submitted to `state.queue` before the run, or is awaited by one of
    /// the run's semaphores.
    ///
    /// # Safety
    /// As of [`Resource::set_state`].
    ///
    /// ```compile_fail,E0133
    /// let left = rgraph_vk::ResourceLeft::new(rgraph_vk::ResourceState::default());
    /// ```
    pub unsafe fn new(state: ResourceState) -> Self {
        Self(state)
    }
}

impl Device {
    /// [`Resource::set_state`] for many resources, with one submit for each queue that they were left on.
    ///
    /// # Safety
    /// As of [`Resource::set_state`], for each of them.
    ///
    /// # Errors
    /// As [`Resource::set_state`]; then none is changed.
    pub unsafe fn set_states(&self, states: &[(&Resource, ResourceState)]) -> Result<(), Error> {
        let shared = &self.0;
        shared.check()?;
        shared.outside()?;
        let of = |(resource, state): &(&Resource, ResourceState)| {
            resource.refuse(state)?;
            Ok((resource.checked(shared)?.clone(), state.clone()))
        };
        let all = states.iter().map(of).collect::<Result<Vec<_>, Error>>()?;
        let physicals: Vec<_> = all.iter().map(|(physical, _)| physical.clone()).collect();
        let _turn = shared.turn_with(&physicals, None)?;
        take(shared, all, |_, _| true)
    }
}

/// Puts resources into the states that foreign code left them in, in the caller's turn. `apart` says of which another
/// queue than the one that they were left on comes next: an empty submit then signals a value behind the foreign work.
pub(crate) fn take(
    shared: &Shared,
    all: Vec<(Arc<PhysicalResource>, ResourceState)>,
    apart: impl Fn(&PhysicalResource, usize) -> bool,
) -> Result<(), Error> {
    let mut signalled: Vec<Option<Point>> = vec![None; shared.queues.len()];
    for (physical, state) in &all {
        if let Some(queue) = state.queue.filter(|queue| signalled[*queue].is_none() && apart(physical, *queue)) {
            let value = shared.noted(shared.queues[queue].submit(&shared.raw, &[Submit::default()]))?;
            signalled[queue] = Some(Point { queue, value });
        }
    }
    for (physical, mut state) in all {
        // What comes next on the same queue is behind the foreign work by the order of submits.
        let here = |queue: usize| Point { queue, value: shared.queues[queue].submitted() };
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

/// What a run is told of its imports, checked.
pub(crate) fn of_run(
    prepared: &Prepared,
    imports: &Imports,
    left: &[(ResourceId, ResourceLeft)],
) -> Result<Vec<(Arc<PhysicalResource>, ResourceState)>, Error> {
    let one = |(declared, left): &(ResourceId, ResourceLeft)| {
        let Some(resource) = prepared.scene.resource_of.get(*declared) else {
            return Err(Error::input("?", "a state is of a resource of another graph", "use this graph's handles"));
        };
        let (home, _) = prepared.home(*resource);
        let Some(physical) = &imports[home] else {
            let name = prepared.plan.resource_name(*resource);
            let message = format!("\"{name}\" has nothing bound to it whose state could be said");
            return Err(Error::input(name, message, "give the resource with the run, as Upload::Resource"));
        };
        Resource::of_physical(physical.clone()).refuse(&left.0)?;
        Ok((physical.clone(), left.0.clone()))
    };
    left.iter().map(one).collect()
}

/// Whether a run uses a resource on another queue than that one, as far as its entries tell.
pub(crate) fn is_apart(prepared: &Prepared, imports: &Imports, physical: &PhysicalResource, queue: usize) -> bool {
    prepared.plan.edges.iter().any(|edge| {
        let bound = imports[prepared.home(edge.resource).0].as_ref();
        let here = bound.is_some_and(|bound| std::ptr::eq(&raw const **bound, physical));
        here && edge.entry.queue.map(|at| prepared.queues[rgraph_plan::id::Id::index(at)]) != Some(queue)
    })
}
