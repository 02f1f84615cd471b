//! A plan may be submitted again while its last run is in flight, on the same memory: the first use of any bytes comes
//! after their last use in the run before. On one queue the barrier of the first use orders the two; across queues a
//! wait for the run before does, unless the batch already waits for a later position of that queue.

use super::call::Required;
use super::hazard::{First, HazardInputs, Hazards, Left};
use super::narrow::chain;
use super::sources::stands_within;
use crate::access::Stages;
use crate::id::{Id, IdSpan, IdVec};
use crate::plan::{BatchId, PlanPassId};
use crate::resource::ResourceId;
use crate::stages::context::Context;
use crate::stages::ids::{LeftId, WaitId};
use crate::stages::order::clock::Knowledge;
use crate::stages::order::schedule::{LaneId, QueuePosition};

/// A batch's wait for a position that a queue reached in the run before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepeatWait {
    /// The batch that waits.
    pub batch: BatchId,
    /// The queue waited for.
    pub queue: LaneId,
    /// The last use there that must be done, by position in the linear order.
    pub last: PlanPassId,
    /// The stages that wait.
    pub stages: Stages,
}

/// Waits for the run before.
#[derive(Default, Debug)]
pub(crate) struct Repeats {
    /// By batch and queue.
    pub waits: Vec<RepeatWait>,
    knowledge: Knowledge,
    /// What queues know at the end of a run.
    at_end: Knowledge,
    left: Vec<Left>,
    /// First uses that no wait of this run orders, and what they follow.
    unmet: Vec<(First, Left)>,
    entered: Vec<Option<PlanPassId>>,
    /// By memory: its last uses, in `gathered`, once they were asked for.
    whole: IdVec<ResourceId, Option<IdSpan<LeftId>>>,
    gathered: IdVec<LeftId, Left>,
    /// Subresources whose last uses were gathered for first uses.
    pub subresources_gathered: u64,
    /// Memories by ring base, for those that outlive a run.
    members: Vec<(ResourceId, ResourceId)>,
}

impl Repeats {
    /// Adds sources and waits to the first uses of a walk. O(first uses · queues + subresources).
    pub(crate) fn complete(
        &mut self,
        inputs: HazardInputs<'_>,
        hazards: &mut Hazards,
        waits: &mut IdVec<WaitId, Stages>,
    ) {
        self.waits.clear();
        self.unmet.clear();
        self.knowledge.start(inputs.clocks);
        self.at_end.start(inputs.clocks);
        for (at, scheduled) in inputs.context.schedule.passes.iter_ids() {
            self.at_end.reach(inputs.clocks, at, scheduled.queue);
        }
        let mut firsts = std::mem::take(&mut hazards.firsts);
        self.whole.refill(None, inputs.context.facts.memory.len());
        self.gathered.clear();
        self.subresources_gathered = 0;
        self.enter_whole(inputs, &mut firsts);
        let mut next = firsts.iter().peekable();
        for (at, scheduled) in inputs.context.schedule.passes.iter_ids() {
            crate::cancel::poll();
            self.knowledge.reach(inputs.clocks, at, scheduled.queue);
            while let Some(first) = next.next_if(|first| first.at == at) {
                // A wait of the host makes no write visible to it: the run before needs a barrier to the host at its
                // end (Vulkan 1.3, "Fences").
                if scheduled.queue == inputs.context.schedule.host() {
                    hazards.show_bytes_to_next_run(inputs, first);
                }
                self.left_before(inputs, hazards, first);
                for at in 0..self.left.len() {
                    self.follow(inputs, hazards, first, self.left[at], scheduled.queue, waits);
                }
            }
        }
        // Last, when the waits of this run have all their stages.
        for at in 0..self.unmet.len() {
            let (first, left) = self.unmet[at];
            self.wait_for(inputs, hazards, &first, left, waits);
        }
        hazards.firsts = firsts;
        self.waits.sort_unstable_by_key(|wait| (wait.batch, wait.queue));
        self.leave_out_implied(inputs);
    }

    /// Of the waits of a batch for the run before, leaves out each that another one implies, because the queue of the
    /// other one had itself waited for that position. The other wait gets its stages. O(waits · queues).
    fn leave_out_implied(&mut self, inputs: HazardInputs<'_>) {
        let position = |last: PlanPassId| inputs.context.schedule.passes[last].position;
        let mut kept = 0;
        for at in 0..self.waits.len() {
            let wait = self.waits[at];
            let follows = |other: &RepeatWait| {
                other.queue != wait.queue && inputs.clocks.known(other.last, wait.queue) >= position(wait.last)
            };
            let of_batch = |other: &RepeatWait| other.batch == wait.batch;
            let before = self.waits[..kept].iter().rposition(|one| !of_batch(one)).map_or(0, |one| one + 1);
            let behind = self.waits[at + 1..].iter().take_while(|one| of_batch(one)).count();
            let mut others = (before..kept).chain(at + 1..at + 1 + behind);
            match others.find(|&other| follows(&self.waits[other])) {
                Some(other) => self.waits[other].stages |= wait.stages,
                None => {
                    self.waits[kept] = wait;
                    kept += 1;
                }
            }
        }
        self.waits.truncate(kept);
    }

    /// The wait of this run that already orders a first use after the last use `left` in the run before: a wait for the
    /// queue of that use, or for a queue that had waited for it in the run before.
    fn known_through(&self, inputs: HazardInputs<'_>, first: &First, left: Left, queue: LaneId) -> Option<WaitId> {
        let passes = &inputs.context.schedule.passes;
        let position = passes[left.last].position;
        let knows = |of: LaneId| {
            of == left.queue
                || inputs.clocks.last_of(of).is_some_and(|last| inputs.clocks.known(last, left.queue) >= position)
        };
        let knows_of = |of: LaneId| inputs.clocks.known(first.at, of) > QueuePosition::BEFORE;
        let others = (0..inputs.clocks.lanes()).map(LaneId::new).filter(|of| ![queue, left.queue].contains(of));
        let mut known = std::iter::once(left.queue).chain(others).filter(|&of| knows_of(of) && knows(of));
        known.find_map(|of| {
            let (wait, scheduled) = self.knowledge.through(inputs.clocks, queue, of);
            (passes[scheduled].physical <= first.physical).then_some(wait)
        })
    }

    /// Whether the run before had this queue wait for what another left, at a stage that leads to the first use: a wait
    /// holds up all that comes later on its queue (Vulkan 1.3, "Semaphore Waiting"), in later runs, too.
    fn waited_before(
        &self,
        inputs: HazardInputs<'_>,
        hazards: &mut Hazards,
        first: &First,
        left: Left,
        waits: &IdVec<WaitId, Stages>,
    ) -> bool {
        let queue = inputs.context.schedule.passes[first.at].queue;
        let knows = |last: PlanPassId| {
            inputs.clocks.known(last, left.queue) >= inputs.context.schedule.passes[left.last].position
        };
        inputs.clocks.last_of(queue).is_some_and(knows) && {
            let (wait, _) = self.at_end.through(inputs.clocks, queue, left.queue);
            let mut held = waits[wait];
            match first.barrier {
                Some(barrier) => hazards.calls.follows_wait(barrier, held, first.stages),
                None => {
                    hold(hazards, first, left.queue == inputs.context.schedule.host(), &mut held);
                    held == waits[wait]
                }
            }
        }
    }

    /// Moves the first uses of resources that outlive a run to the first pass of their queue that uses any part of the
    /// memory, under any name: the runtime's initial barriers come before that pass's batch and cover all parts of
    /// which the queue has the first use.
    fn enter_whole(&mut self, inputs: HazardInputs<'_>, firsts: &mut [First]) {
        let lanes = inputs.clocks.lanes();
        self.entered.clear();
        self.members.clear();
        if firsts.iter().all(|first| first.placement.is_some()) {
            return;
        }
        let Context { schedule, facts, shapes, .. } = inputs.context;
        self.entered.resize(shapes.len() * lanes, None);
        let memories = facts.ring_base.iter_ids().filter(|(member, _)| facts.memory[*member] == *member);
        self.members.extend(memories.map(|(member, &ring_base)| (ring_base, member)));
        self.members.sort_unstable();
        for (at, scheduled) in schedule.passes.iter_ids() {
            for access in inputs.context.accesses(at) {
                let entered =
                    &mut self.entered[facts.memory[access.resource].index() * lanes + scheduled.queue.index()];
                entered.get_or_insert(at);
            }
        }
        for first in firsts.iter_mut().filter(|first| first.placement.is_none()) {
            let queue = schedule.passes[first.at].queue;
            let entered = self.entered[first.memory.index() * lanes + queue.index()];
            first.at = entered.expect("the queue of a first use uses the memory");
            first.physical = schedule.passes[first.at].physical;
        }
        firsts.sort_by_key(|first| first.at);
    }

    /// Collects the last uses, in the run before, of the bytes of a first use.
    fn left_before(&mut self, inputs: HazardInputs<'_>, hazards: &Hazards, first: &First) {
        self.left.clear();
        if let Some(placement) = first.placement {
            for &(before, from_previous_frame) in inputs.transients.followed(placement) {
                let memory = inputs.transients.placements[before].memory;
                if from_previous_frame && before == placement && inputs.context.is_image(memory) {
                    // Its own last uses in the run before: subresources of an image have no bytes in common, so only
                    // those of the same texels count.
                    let count = hazards.gather_texels(inputs, memory, first.subresource, &mut self.left);
                    self.subresources_gathered += count as u64;
                } else if from_previous_frame {
                    self.add_whole(inputs, hazards, memory);
                }
            }
            return;
        }
        // The images of a ring rotate from run to run: each of them may have been used under any of the ring's names.
        let ring_base = inputs.context.facts.ring_base[first.memory];
        let start = self.members.partition_point(|(of, _)| *of < ring_base);
        for at in start..self.members.len() {
            let (of, member) = self.members[at];
            if of != ring_base {
                break;
            }
            self.add_whole(inputs, hazards, member);
        }
    }

    /// Adds the last uses of a memory. Each of its subresources may have a first use that asks for them, so they are
    /// gathered once.
    fn add_whole(&mut self, inputs: HazardInputs<'_>, hazards: &Hazards, memory: ResourceId) {
        let span = *self.whole[memory].get_or_insert_with(|| {
            let start = self.gathered.len();
            hazards.gather_into(inputs, memory, start, self.gathered.as_vec_mut());
            self.subresources_gathered += inputs.context.facts.subresources.of(memory).ids().len() as u64;
            IdSpan::new(start, self.gathered.len())
        });
        for at in span.ids() {
            self.gathered[at].add_to(&mut self.left, 0);
        }
    }

    fn follow(
        &mut self,
        inputs: HazardInputs<'_>,
        hazards: &mut Hazards,
        first: &First,
        left: Left,
        queue: LaneId,
        waits: &mut IdVec<WaitId, Stages>,
    ) {
        if left.queue == queue {
            // Same queue: submission order and the barrier of the first use suffice; without one, the runtime's initial
            // barrier.
            match first.barrier {
                Some(barrier) if stands_within(&hazards.calls, barrier) => {
                    hazards.calls.add_source(barrier, left.stages, left.writes);
                }
                Some(barrier) => hazards.calls.require(Required {
                    barrier,
                    last: inputs.context.schedule.passes[left.last].physical,
                    previous_run: true,
                    stages: left.stages,
                    writing: left.writing,
                    writes: left.writes,
                }),
                None => {}
            }
            return;
        }
        if queue == inputs.context.schedule.host() && first.placement.is_some() {
            hazards.show_to_next_run(inputs, first, left);
        }
        if self.waited_before(inputs, hazards, first, left, waits) {
            return;
        }
        let by_host = left.queue == inputs.context.schedule.host();
        match self.known_through(inputs, first, left, queue) {
            Some(wait) => hold(hazards, first, by_host, &mut waits[wait]),
            None => self.unmet.push((*first, left)),
        }
    }

    /// Makes the batch of a first use wait for the run before, unless that one waited.
    fn wait_for(
        &mut self,
        inputs: HazardInputs<'_>,
        hazards: &mut Hazards,
        first: &First,
        left: Left,
        waits: &IdVec<WaitId, Stages>,
    ) {
        if self.waited_before(inputs, hazards, first, left, waits) {
            return;
        }
        let queue = inputs.context.schedule.passes[first.at].queue;
        let by_host = left.queue == inputs.context.schedule.host();
        let batch = inputs.batches.batch_of(first.physical);
        let known = self
            .waits
            .iter_mut()
            .rev()
            .find(|w| w.queue == left.queue && inputs.batches.cuts[w.batch].queue == queue && w.batch <= batch);
        match known {
            Some(wait) if wait.last >= left.last || wait.batch == batch => {
                wait.last = wait.last.max(left.last);
                hold(hazards, first, by_host, &mut wait.stages);
            }
            _ => {
                let mut stages = Stages::empty();
                hold(hazards, first, by_host, &mut stages);
                self.waits.push(RepeatWait { batch, queue: left.queue, last: left.last, stages });
            }
        }
    }
}

/// Lets a wait hold up a first use: its stages, or one at which a barrier before it follows the wait. The runtime's
/// barrier before the frame begins at the stages of the entry; behind the host there may be none.
fn hold(hazards: &mut Hazards, first: &First, by_host: bool, held: &mut Stages) {
    match first.barrier {
        Some(barrier) => hazards.calls.follow_wait(barrier, held, first.stages),
        None if by_host => *held |= first.stages,
        None => chain(held, &mut first.stages.clone(), first.stages),
    }
}
