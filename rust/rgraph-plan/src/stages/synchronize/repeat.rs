//! A plan may be submitted again while its last run is in flight, on the same memory: the first use of any bytes
//! follows their last use in the run before. On one queue the first barrier takes care of it; across queues a wait
//! for the run before does, unless the batch waits already for something later on that queue.

use super::clock::{Knowledge, WaitId};
use super::hazard::{First, Hazards, Left, Scene};
use super::read_group::Frame;
use crate::access::Stages;
use crate::id::{Id, IdVec};
use crate::plan::{BatchId, PlanPassId};

/// A batch's wait for a position that a queue reached in the run before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepeatWait {
    /// The batch that waits.
    pub batch: BatchId,
    /// The queue waited for.
    pub queue: u8,
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
    left: Vec<Left>,
    entered: Vec<Option<PlanPassId>>,
}

impl Repeats {
    /// Completes the first uses of a walk. O(first uses · subresources of what they follow).
    pub(crate) fn complete(&mut self, scene: Scene<'_>, hazards: &mut Hazards, waits: &mut IdVec<WaitId, Stages>) {
        self.waits.clear();
        self.knowledge.start(scene.clocks);
        let mut firsts = std::mem::take(&mut hazards.firsts);
        self.enter_whole(scene, &mut firsts);
        let mut next = firsts.iter().peekable();
        for (at, scheduled) in scene.frame.schedule.passes.iter_ids() {
            crate::cancel::poll();
            self.knowledge.reach(scene.clocks, at, scheduled.queue);
            while let Some(first) = next.next_if(|first| first.at == at) {
                if scheduled.queue == scene.frame.schedule.host() {
                    hazards.show_bytes_to_next_run(scene, first);
                }
                self.left_before(scene, hazards, first);
                for at in 0..self.left.len() {
                    self.follow(scene, hazards, first, self.left[at], scheduled.queue, waits);
                }
            }
        }
        hazards.firsts = firsts;
        self.waits.sort_unstable_by_key(|wait| (wait.batch, wait.queue));
        self.leave_out_implied(scene);
    }

    /// Leaves out waits of a batch for what another of its waits for the run before follows: what the queue that it waits
    /// for had waited for by then. The other one holds up their stages. O(waits · queues).
    fn leave_out_implied(&mut self, scene: Scene<'_>) {
        let position = |last: PlanPassId| scene.frame.schedule.passes[last].position;
        let mut kept = 0;
        for at in 0..self.waits.len() {
            let wait = self.waits[at];
            let follows = |other: &RepeatWait| {
                let clock = scene.clocks.clock(other.last);
                other.queue != wait.queue && clock[usize::from(wait.queue)] >= position(wait.last)
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

    /// The wait of this run through which a queue knows, before a first use, how the run before left something: one for
    /// that queue, or for one that had waited for it in the run before.
    fn known_through(&self, scene: Scene<'_>, first: &First, left: Left, queue: u8) -> Option<WaitId> {
        let passes = &scene.frame.schedule.passes;
        let position = passes[left.last].position;
        let clock = scene.clocks.clock(first.at);
        let knows = |of: u8| {
            of == left.queue
                || scene
                    .clocks
                    .last_of(of)
                    .is_some_and(|last| scene.clocks.clock(last)[usize::from(left.queue)] >= position)
        };
        let others = (0..clock.len() as u8).filter(|of| ![queue, left.queue].contains(of));
        let mut known = std::iter::once(left.queue).chain(others).filter(|&of| clock[usize::from(of)] > 0 && knows(of));
        known.find_map(|of| {
            let (wait, scheduled) = self.knowledge.through(scene.clocks, queue, of);
            (passes[scheduled].physical <= first.physical).then_some(wait)
        })
    }

    /// The runtime's barrier stands before the first batch of a queue that uses any part of a resource, under any of
    /// its names, and is about all parts that the queue is the first to use: so early they are used.
    fn enter_whole(&mut self, scene: Scene<'_>, firsts: &mut [First]) {
        let lanes = scene.clocks.lanes();
        self.entered.clear();
        if firsts.iter().all(|first| first.placement.is_some()) {
            return;
        }
        let Frame { schedule, facts, shapes, .. } = scene.frame;
        self.entered.resize(shapes.len() * lanes, None);
        for (at, scheduled) in schedule.passes.iter_ids() {
            for access in scene.frame.accesses(at) {
                let entered =
                    &mut self.entered[facts.memory[access.resource].index() * lanes + usize::from(scheduled.queue)];
                entered.get_or_insert(at);
            }
        }
        for first in firsts.iter_mut().filter(|first| first.placement.is_none()) {
            let queue = usize::from(schedule.passes[first.at].queue);
            let entered = self.entered[first.memory.index() * lanes + queue];
            first.at = entered.expect("the queue of a first use uses the memory");
            first.physical = schedule.passes[first.at].physical;
        }
        firsts.sort_by_key(|first| first.at);
    }

    /// How the run before left the bytes of a first use.
    fn left_before(&mut self, scene: Scene<'_>, hazards: &Hazards, first: &First) {
        self.left.clear();
        if let Some(placement) = first.placement {
            for &(before, from_previous_frame) in scene.transients.followed(placement) {
                let memory = scene.transients.placements[before].memory;
                if from_previous_frame && before == placement && scene.frame.is_image(memory) {
                    // No two subresources of an image have bytes in common.
                    hazards.gather_texels(scene, memory, first.subresource, &mut self.left);
                } else if from_previous_frame {
                    hazards.gather_into(scene, memory, 0, &mut self.left);
                }
            }
            return;
        }
        // The images of a ring change places from run to run: any of them may have been used by any of its names.
        let facts = scene.frame.facts;
        let family = facts.family[first.memory];
        for (member, &of) in facts.family.iter_ids() {
            if of == family && facts.memory[member] == member {
                hazards.gather_into(scene, member, 0, &mut self.left);
            }
        }
    }

    fn follow(
        &mut self,
        scene: Scene<'_>,
        hazards: &mut Hazards,
        first: &First,
        left: Left,
        queue: u8,
        waits: &mut IdVec<WaitId, Stages>,
    ) {
        if left.queue == queue {
            // Its own queue: the barrier of the first use, or the runtime's before the frame.
            if let Some(barrier) = first.barrier {
                hazards.calls.add_source(barrier, left.stages, left.writes);
            }
            return;
        }
        if let Some(barrier) = first.barrier {
            hazards.calls.follow_wait(barrier, first.stages);
        }
        if queue == scene.frame.schedule.host() && first.placement.is_some() {
            hazards.show_to_next_run(scene, first, left);
        }
        if let Some(wait) = self.known_through(scene, first, left, queue) {
            waits[wait] |= first.stages;
            return;
        }
        let batch = scene.batches.batch_of(first.physical);
        let known = self
            .waits
            .iter_mut()
            .rev()
            .find(|w| w.queue == left.queue && scene.batches.cuts[w.batch].queue == queue && w.batch <= batch);
        match known {
            Some(wait) if wait.last >= left.last || wait.batch == batch => {
                wait.last = wait.last.max(left.last);
                wait.stages |= first.stages;
            }
            _ => self.waits.push(RepeatWait { batch, queue: left.queue, last: left.last, stages: first.stages }),
        }
    }
}
