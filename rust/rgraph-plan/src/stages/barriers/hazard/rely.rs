//! Stages of waits: each wait holds up the stages that rely on it, directly or through a barrier that follows it.

use super::ask::meets;
use super::{HazardInputs, Hazards, Here, Need, SubresourceState};
use crate::access::Stages;
use crate::id::IdVec;
use crate::plan::PlanPassId;
use crate::stages::barriers::narrow::chain;
use crate::stages::ids::WaitId;
use crate::stages::order::schedule::LaneId;

impl Hazards {
    /// A last use that leaves a subresource for others relies on the waits for theirs: what follows begins at its
    /// stages.
    pub(super) fn rely_on_gathered(
        &mut self,
        inputs: HazardInputs<'_>,
        at: PlanPassId,
        waits: &mut IdVec<WaitId, Stages>,
    ) {
        let gathered = &inputs.read_groups.gathered;
        while let Some(&(later, earlier, subresource)) = gathered.get(self.gathered).filter(|(later, ..)| *later <= at)
        {
            self.gathered += 1;
            let [queue, of] = [later, earlier].map(|at| inputs.context.schedule.passes[at].queue);
            if queue != of {
                let using =
                    inputs.context.accesses(later).iter().filter(|access| access.subresources.contains(subresource));
                let own = using.fold(Stages::empty(), |all, access| all | access.stages);
                let (wait, _) = self.knowledge.through(inputs.clocks, queue, of);
                waits[wait] |= own;
            }
        }
    }

    /// `stages` of `queue` rely on what it knows of `of`.
    pub(super) fn rely(
        &self,
        inputs: HazardInputs<'_>,
        queue: LaneId,
        of: LaneId,
        stages: Stages,
        waits: &mut IdVec<WaitId, Stages>,
    ) {
        let (wait, _) = self.knowledge.through(inputs.clocks, queue, of);
        waits[wait] |= stages;
    }

    /// A use relies on the waits for what it must follow on other queues, with the stages that meet what is there.
    pub(super) fn rely_on_need(
        &self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        need: &Need,
        waits: &mut IdVec<WaitId, Stages>,
    ) {
        let (stages, _) = meets(inputs.context, here.at, here.access);
        for of in need.foreign_queues() {
            self.rely(inputs, here.queue, of, stages, waits);
        }
    }

    /// The same for a use behind a barrier of its own, which begins at the stages `source`: the barrier follows the
    /// waits.
    pub(super) fn chain_to_need(
        &self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        need: &Need,
        source: &mut Stages,
        waits: &mut IdVec<WaitId, Stages>,
    ) {
        for of in need.foreign_queues() {
            let (wait, _) = self.knowledge.through(inputs.clocks, here.queue, of);
            chain(&mut waits[wait], source, here.access.stages);
        }
    }

    /// Where the first use of a read group prepares the subresource, the others rely on it.
    pub(super) fn rely_on_initializer(
        &mut self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        state: SubresourceState,
        waits: &mut IdVec<WaitId, Stages>,
    ) {
        let read_group = &inputs.read_groups.read_groups[here.read_group];
        let context = inputs.context;
        let prepared = here.access.group.is_some() || context.is_image(here.memory) || context.has_edges(here.memory);
        if read_group.first_prepares(prepared) && state.initializer != here.queue {
            let (stages, _) = meets(context, here.at, here.access);
            self.rely(inputs, here.queue, state.initializer, stages, waits);
        }
    }
}
