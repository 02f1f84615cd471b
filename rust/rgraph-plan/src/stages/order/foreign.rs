//! Points at which a frame waits for the other users of its imports, and lets them go on: a wait before the first use
//! on each queue, a signal behind the last one. Batches are cut there, so that earlier passes wait for nobody, and
//! nobody waits for later ones.
//!
//! Each point may cost the device a change of side ([`Profile::foreign_us`]). Two waits of a queue become one, before
//! the first one's passes, if the passes between them take less than that; two signals become one, behind the last.
//!
//! Source of the cost: an H200 that changes between a Vulkan and a CUDA context, 160 µs on graphics and compute queues,
//! 21 µs on the transfer queue.

use crate::stages::context::Context;
use crate::stages::ids::{ForeignUseId, PhysicalId};
use std::fmt::Write;

use super::batch::Batches;
use super::schedule::LaneId;
use crate::access::Stages;
use crate::id::{Id, IdVec};
use crate::plan::{ForeignPoint, PlanPassId, PlanQueue};
use crate::profile::{Capabilities, Profile};
use crate::resource::{Life, ResourceId};

/// The uses of an import on one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignUse {
    memory: ResourceId,
    queue: LaneId,
    /// The physical pass before which it is waited for.
    wait: Option<PhysicalId>,
    /// The physical pass behind which it is signalled.
    signal: Option<PhysicalId>,
    /// Stages of all uses.
    stages: Stages,
}

/// What a schedule makes of imports with other users.
#[derive(Default, Debug)]
pub(crate) struct ForeignUses {
    /// Them, by memory and queue.
    pub uses: IdVec<ForeignUseId, ForeignUse>,
    slots: Vec<Option<ForeignUseId>>,
    order: Vec<ForeignUseId>,
    notes: Vec<String>,
}

impl ForeignUses {
    /// Finds the first and last uses, and joins points. `us` is the time of a scheduled pass. O(resources) without
    /// such imports, else O(accesses + points · log points + passes).
    pub(crate) fn find(
        &mut self,
        context: Context<'_>,
        queues: &[PlanQueue],
        profile: &Profile,
        us: impl Fn(PlanPassId) -> f64,
    ) {
        self.uses.clear();
        self.notes.clear();
        let resources = context.graph.resources();
        let points = |life: Life| match life {
            Life::Imported(imported) => [imported.wait, imported.signal],
            Life::Transient | Life::Fresh | Life::Persistent | Life::History(_) => [false; 2],
        };
        if resources.iter().all(|resource| points(resource.life) == [false; 2]) {
            return;
        }
        let lanes = context.schedule.queues + 1;
        self.slots.clear();
        self.slots.resize(resources.len() * lanes, None);
        for (at, scheduled) in context.schedule.passes.iter_ids() {
            for access in context.accesses(at) {
                let memory = context.facts.memory[access.resource];
                let Some([wait, signal]) = resources.get(memory).map(|resource| points(resource.life)) else {
                    continue;
                };
                if !wait && !signal {
                    continue;
                }
                let slot = &mut self.slots[memory.index() * lanes + scheduled.queue.index()];
                let physical = scheduled.physical;
                let uses = &mut self.uses;
                let known = slot.get_or_insert_with(|| {
                    let wait = wait.then_some(physical);
                    uses.push(ForeignUse {
                        memory,
                        queue: scheduled.queue,
                        wait,
                        signal: None,
                        stages: Stages::empty(),
                    })
                });
                let known = &mut self.uses[*known];
                known.stages |= access.stages;
                known.signal = signal.then(|| known.signal.map_or(physical, |last| last.max(physical)));
            }
        }
        self.uses.as_vec_mut().sort_unstable_by_key(|one| (one.memory, one.queue));
        for queue in (0..context.schedule.queues).map(LaneId::new) {
            let capabilities = queues[queue.index()].capabilities;
            let price = match capabilities.intersects(Capabilities::GRAPHICS | Capabilities::COMPUTE) {
                true => profile.foreign_us,
                false => profile.foreign_transfer_us,
            };
            let between = |from: PhysicalId, to: PhysicalId| {
                let physical = &context.schedule.physical_passes.as_slice()[from.index()..to.index()];
                let own = physical.iter().filter(|physical| physical.queue == queue);
                own.flat_map(|physical| physical.passes.ids()).map(&us).sum::<f64>()
            };
            self.join(context, queue, price, between);
        }
    }

    /// Joins waits, then signals of a queue.
    fn join(
        &mut self,
        context: Context<'_>,
        queue: LaneId,
        price: f64,
        between: impl Fn(PhysicalId, PhysicalId) -> f64,
    ) {
        for waits in [true, false] {
            let Self { uses, order, notes, .. } = self;
            let point = |one: &ForeignUse| if waits { one.wait } else { one.signal };
            order.clear();
            order.extend(uses.ids().filter(|&at| {
                let one = &uses[at];
                one.queue == queue && point(one).is_some()
            }));
            order.sort_by_key(|&at| point(&uses[at]));
            if !waits {
                order.reverse();
            }
            let Some(mut kept) = order.first().copied() else { continue };
            for &at in &order[1..] {
                let (Some(own), Some(to)) = (point(&uses[at]), point(&uses[kept])) else { continue };
                let behind = |physical: PhysicalId| PhysicalId::new(physical.index() + 1);
                let us = if waits { between(to, own) } else { between(behind(own), behind(to)) };
                if us >= price {
                    kept = at;
                    continue;
                }
                let one = &mut uses[at];
                *(if waits { &mut one.wait } else { &mut one.signal }) = Some(to);
                if own != to {
                    let mut note = String::new();
                    let name = |at: ForeignUseId| context.graph.resource_name(uses[at].memory);
                    let how = if waits { "is waited for with" } else { "is signalled with" };
                    // A string takes whatever is written.
                    let _ = write!(
                        note,
                        "\"{}\" {how} \"{}\": a change of side costs {price} µs, the passes between take {us:.1}",
                        name(at),
                        name(kept)
                    );
                    notes.push(note);
                }
            }
        }
    }

    /// The physical pass before which a queue waits for the other user of a memory.
    pub(crate) fn waited(&self, memory: ResourceId, queue: LaneId) -> Option<PhysicalId> {
        let uses = self.uses.as_slice();
        let at = uses.binary_search_by_key(&(memory, queue), |one| (one.memory, one.queue)).ok()?;
        uses[at].wait
    }

    /// Physical passes before which a batch begins.
    pub(crate) fn waits(&self) -> impl Iterator<Item = PhysicalId> + '_ {
        self.uses.iter().filter_map(|one| one.wait)
    }

    /// Physical passes behind which a batch ends.
    pub(crate) fn signals(&self) -> impl Iterator<Item = PhysicalId> + '_ {
        self.uses.iter().filter_map(|one| one.signal)
    }

    /// Writes the points into a plan, by batch, and what was joined.
    pub(crate) fn write(&self, batches: &Batches, out: &mut Vec<ForeignPoint>, notes: &mut Vec<String>) {
        out.clear();
        for one in &self.uses {
            let wait = one.wait.map(|at| (batches.batch_of(at), Some(one.stages)));
            let signal = one.signal.map(|at| (batches.batch_of(at), None));
            out.extend(wait.into_iter().chain(signal).map(|(batch, wait)| ForeignPoint {
                resource: one.memory,
                batch,
                wait,
            }));
        }
        out.sort_by_key(|point| (point.batch, point.wait.is_none(), point.resource));
        notes.extend(self.notes.iter().cloned());
    }
}
