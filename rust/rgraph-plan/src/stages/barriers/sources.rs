//! First scopes of barriers: the walks leave out what barriers about all memory order already. Orderings of `after`
//! count on all barriers and on waits.
//!
//! Two walks over the barrier calls and waits of each queue, in the order of time, with a clock of its stages. The
//! first completes what a barrier needs of its own run. The second continues with the next run and completes what a
//! barrier needs of the run before: between a last use in one run and a first use in the next stand all calls behind
//! the one and before the other. Scopes only grow while they are completed, so what was left to another barrier stays
//! true.

use super::call::{About, CallSite, Calls, Required};
use super::hazard::{HazardInputs, Hazards};
use super::narrow::{bits, with_earlier, writes_of};
use super::repeat::RepeatWait;
use super::stage_clock::{Moment, Ordered, StageClock};
use crate::access::{Accesses, Stages};
use crate::id::{Id, IdVec, Span};
use crate::plan::{Hazard, PlanPassId, Scope};
use crate::stages::ids::{BarrierId, CallId, PhysicalId, WaitId};
use crate::stages::order::schedule::{LaneId, QueuePosition};
use crate::stages::sort::sort_by_id;

/// What a queue does at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Timed {
    queue: LaneId,
    at: Moment,
    what: What,
}

/// Waits come before the call at the begin of their batch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    /// Some stages wait for another queue, which knows that the work of this one before a time is done, in this run or
    /// in the run before.
    Wait { until: Moment, previous_run: bool, stages: Stages },
    /// A barrier call.
    Call(CallId),
}

/// Which part of the first scopes a walk completes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Walk {
    OwnRun,
    PreviousRun,
}

/// Memory that finding first scopes reuses.
#[derive(Default, Debug)]
pub(crate) struct Sources {
    timeline: Vec<Timed>,
    /// Barriers by call.
    of_call: IdVec<CallId, Span>,
    sorted: Vec<BarrierId>,
    /// By queue and queue: the first wait of the one for what the other did in the run before.
    first_repeat: Vec<Option<RepeatWait>>,
    /// Barriers of a call that are not merged.
    different: Vec<BarrierId>,
    /// Needs by barrier.
    needs_of: IdVec<BarrierId, Span>,
    needs: Vec<Required>,
    /// Barriers of a call for the order alone, with the scopes that they have if no other orders the same.
    open: Vec<(BarrierId, Scope, [Ordered; 2])>,
    /// What barriers about all memory order.
    clock: StageClock,
    /// The same with barriers about images and buffers and waits for other queues, for orderings of `after`; walked
    /// where there are any.
    every: StageClock,
    orderings: bool,
    /// Steps from the run before, which begins at moment 0, to this run.
    offset: u32,
}

/// Times per physical pass: the call before it, itself, and two calls at the end of its batch.
const STEP: u32 = 4;

fn before(physical: PhysicalId) -> Moment {
    Moment::new(physical.index() as u32 * STEP)
}

fn during(physical: PhysicalId) -> Moment {
    before(physical).later_by(1)
}

fn after(physical: PhysicalId) -> Moment {
    before(physical).later_by(2)
}

impl Sources {
    /// Completes the first scopes of all barriers outside of render passes; if `all`, with everything that they need,
    /// whatever others order. O(barriers · stages² + needs + waits · log waits), O(needs) for all.
    pub(crate) fn complete(
        &mut self,
        inputs: HazardInputs<'_>,
        hazards: &mut Hazards,
        repeats: &[RepeatWait],
        wait_stages: &IdVec<WaitId, Stages>,
        all: bool,
    ) {
        self.sort_barriers(&hazards.calls);
        // An event is set elsewhere than a barrier stands, so others cannot count on it.
        if all || hazards.calls.apart {
            for at in 0..hazards.calls.required.len() {
                let Required { barrier, stages, writes, .. } = hazards.calls.required[at];
                hazards.calls.add_source(barrier, stages, writes);
            }
            return self.merge(&mut hazards.calls);
        }
        self.orderings = !inputs.after.is_empty();
        self.sort_needs(&hazards.calls);
        self.find_timeline(inputs, hazards, repeats, wait_stages);
        let timeline = std::mem::take(&mut self.timeline);
        let end = inputs.context.schedule.physical_passes.len() as u32 * STEP;
        for events in timeline.chunk_by(|a, b| a.queue == b.queue) {
            crate::cancel::poll();
            let (stages, repeats) = self.needed_stages(events);
            if stages.is_empty() {
                continue;
            }
            self.clock.start(stages);
            self.every.start(stages);
            let walks = [(Walk::OwnRun, 0), (Walk::PreviousRun, end)];
            for (walk, offset) in walks.into_iter().take(1 + usize::from(repeats)) {
                self.offset = offset;
                for timed in events {
                    match timed.what {
                        What::Wait { until, previous_run, stages } => self.wait(walk, until, previous_run, stages),
                        What::Call(call) => self.call(walk, &mut hazards.calls, call, timed.at.later_by(offset)),
                    }
                }
            }
        }
        self.timeline = timeline;
        self.merge(&mut hazards.calls);
    }

    /// Merges barriers whose first scopes were open with others of their calls. O(barriers · different scopes of a
    /// call).
    fn merge(&mut self, calls: &mut Calls) {
        for barriers in &self.of_call {
            let barriers = &self.sorted[barriers.range()];
            if !barriers.iter().any(|id| calls.barriers[*id].merges) {
                continue;
            }
            self.different.clear();
            for merges in [false, true] {
                for &id in barriers {
                    let barrier = &calls.barriers[id];
                    let orders = barrier.about == About::Memory && !barrier.scope.src_stages.is_empty();
                    if barrier.merges == merges && orders {
                        let merged = merges && self.different.iter().any(|&into| calls.merge(id, into));
                        self.different.extend((!merged).then_some(id));
                    }
                }
            }
        }
    }

    /// The stages that some barrier of a queue needs, and whether one needs something of the run before.
    fn needed_stages(&self, events: &[Timed]) -> (Stages, bool) {
        let (mut stages, mut repeats) = (Stages::empty(), false);
        for timed in events {
            let What::Call(call) = timed.what else { continue };
            for &barrier in &self.sorted[self.of_call[call].range()] {
                for one in self.needs(barrier) {
                    stages |= one.stages;
                    repeats |= one.previous_run;
                }
            }
        }
        (stages, repeats)
    }

    /// What a barrier needs.
    fn needs(&self, barrier: BarrierId) -> impl Iterator<Item = &Required> + Clone {
        self.needs[self.needs_of[barrier].range()].iter()
    }

    /// Sorts needs by barrier.
    fn sort_needs(&mut self, calls: &Calls) {
        let outside = |one: &&Required| !stands_within(calls, one.barrier);
        let needs = calls.required.iter().filter(outside).map(|one| (one.barrier, *one));
        sort_by_id(calls.barriers.len(), needs, &mut self.needs_of, &mut self.needs);
    }

    fn wait(&mut self, walk: Walk, until: Moment, previous_run: bool, stages: Stages) {
        let until = match (walk, previous_run) {
            (Walk::OwnRun, true) => return,
            (_, false) => until.later_by(self.offset),
            (Walk::PreviousRun, true) => until,
        };
        self.every.wait(until, stages);
    }

    /// Completes the barriers of a call. Those for the order alone come last: others may order the same.
    fn call(&mut self, walk: Walk, calls: &mut Calls, call: CallId, at: Moment) {
        let barriers = self.of_call[call].range();
        for index in barriers.clone() {
            let id = self.sorted[index];
            let barrier = &mut calls.barriers[id];
            // What an acquire or a barrier behind a wait has to begin at stays.
            let free = !barrier.source.fixed && barrier.families.is_none();
            if walk == Walk::OwnRun && free && self.needs(id).any(|one| !one.previous_run) {
                (barrier.scope.src_stages, barrier.scope.src_access) = (Stages::empty(), Accesses::empty());
            }
            let alone = barrier.about == About::Memory && barrier.scope.dst_access.is_empty();
            let scope = self.completed(walk, id, barrier.scope);
            if alone {
                let prepared = [&self.clock, &self.every].map(|clock| clock.ordered(at, scope));
                self.open.push((id, scope, prepared));
                continue;
            }
            barrier.scope = scope;
            // A barrier about an image orders all work at its stages, too, but validation layers follow its order for
            // that image alone (Vulkan-ValidationLayers 1.3.239, synchronization validation), and not that of waits for
            // other queues through these (1.4.364). So hazards do not count on them. A release has no second scope, and
            // an acquire no first one that others could follow.
            if barrier.about == About::Memory {
                self.clock.add(at, scope);
            }
            if self.orderings && barrier.families.is_none() {
                self.every.add(at, scope);
            }
        }
        self.clock.end_call();
        self.every.end_call();
        let mut open = std::mem::take(&mut self.open);
        for (id, scope, prepared) in open.drain(..) {
            let barrier = &mut calls.barriers[id];
            let clock = if barrier.why.hazard == Hazard::Ordered { &self.every } else { &self.clock };
            if !self.is_ordered(clock, walk, id, barrier.scope) {
                barrier.scope = scope;
                self.clock.take(&prepared[0]);
                self.every.take(&prepared[1]);
            }
        }
        self.open = open;
    }

    /// Whether the calls up to the present one order all that a barrier is there to order.
    fn is_ordered(&self, clock: &StageClock, walk: Walk, barrier: BarrierId, scope: Scope) -> bool {
        let own = with_earlier(scope.src_stages);
        self.needs(barrier).filter(|one| one.previous_run == (walk == Walk::PreviousRun)).all(|one| {
            let ordered = |stage| clock.orders_before_all(stage, during(one.last), scope.dst_stages);
            one.writes.is_empty() && bits(one.stages).all(|stage| own.contains(stage) || ordered(stage))
        })
    }

    /// The scope of a barrier with what it must follow, in as few stages and writes as the clock allows.
    fn completed(&self, walk: Walk, barrier: BarrierId, mut scope: Scope) -> Scope {
        let Self { clock, .. } = self;
        let previous_run = walk == Walk::PreviousRun;
        let needs = || self.needs(barrier).filter(|one| one.previous_run == previous_run);
        let all = needs().fold(Stages::empty(), |all, one| all | one.stages);
        if all.is_empty() {
            return scope;
        }
        let until = |one: &Required| during(one.last);
        let writes = |one: &Required, stage| one.writes & writes_of(one.writing & stage);
        let follows = |one: &Required, first: Stages| {
            bits(one.stages).all(|stage| match writes(one, stage).is_empty() {
                true => with_earlier(first).contains(stage) || clock.orders(stage, until(one), first),
                false => first.contains(stage),
            })
        };
        let own = scope.src_stages;
        let mut added = all - own;
        // One stage alone has no other that could take its place.
        let some = if own.is_empty() && added.bits().is_power_of_two() { Stages::empty() } else { added };
        for stage in bits(some) {
            let fewer = added - stage;
            if needs().all(|one| follows(one, own | fewer)) {
                added = fewer;
            }
        }
        scope.src_stages |= added;
        scope.src_access |= needs().fold(Accesses::empty(), |all, one| all | one.writes);
        scope
    }

    /// Calls and waits by queue and time, without calls within render passes, which order the work of these alone.
    fn find_timeline(
        &mut self,
        inputs: HazardInputs<'_>,
        hazards: &Hazards,
        repeats: &[RepeatWait],
        wait_stages: &IdVec<WaitId, Stages>,
    ) {
        self.timeline.clear();
        let HazardInputs { context, clocks, batches, .. } = inputs;
        let passes = &context.schedule.physical_passes;
        let mut push = |queue, at, what| self.timeline.push(Timed { queue, at, what });
        for (physical, &call) in hazards.before_physical.iter_ids() {
            if let Some(call) = call {
                push(passes[physical].queue, before(physical), What::Call(call));
            }
        }
        // What another queue knows of this one when a pass there is done.
        let known = |queue: LaneId, of: PlanPassId| {
            let position = clocks.known(of, queue);
            (position > QueuePosition::BEFORE)
                .then(|| after(context.schedule.passes[clocks.scheduled_at(queue, position)].physical))
        };
        let lanes = clocks.lanes();
        self.first_repeat.clear();
        self.first_repeat.resize(lanes * lanes, None);
        // Orderings alone count on waits.
        for wait in repeats.iter().filter(|_| self.orderings) {
            let queue = batches.cuts[wait.batch].queue;
            self.first_repeat[queue.index() * lanes + wait.queue.index()].get_or_insert(*wait);
            if let Some(until) = known(queue, wait.last) {
                let what = What::Wait { until, previous_run: true, stages: wait.stages };
                push(queue, before(batches.first_physical(wait.batch)), what);
            }
        }
        for (at, scheduled) in context.schedule.passes.iter_ids().filter(|_| self.orderings) {
            for wait in clocks.of_scheduled[at].ids() {
                let source = clocks.scheduled_at(clocks.waits[wait].queue, clocks.waits[wait].position);
                let (queue, other) = (scheduled.queue, context.schedule.passes[source]);
                // Or what the other queue knows of the run before, by a wait of its own.
                let repeat = self.first_repeat[other.queue.index() * lanes + queue.index()];
                let repeat = repeat.filter(|one| batches.first_physical(one.batch) <= other.physical);
                let (until, previous_run) = match (known(queue, source), repeat) {
                    (Some(until), _) => (until, false),
                    (None, Some(repeat)) => (after(context.schedule.passes[repeat.last].physical), true),
                    (None, None) => continue,
                };
                let what = What::Wait { until, previous_run, stages: wait_stages[wait] };
                push(queue, before(scheduled.physical), what);
            }
        }
        for (batch, cut) in batches.cuts.iter_ids() {
            let last = batches.physical_passes[cut.physical_passes.range()].last();
            let end = last.map_or(Moment::new(0), |last| after(*last));
            for (call, more) in [(hazards.at_end[batch], 0), (hazards.behind_end[batch], 1)] {
                if let Some(call) = call {
                    push(cut.queue, end.later_by(more), What::Call(call));
                }
            }
        }
        self.timeline.sort_unstable();
    }

    /// Sorts barriers by call.
    fn sort_barriers(&mut self, calls: &Calls) {
        let barriers = calls.barriers.iter_ids().map(|(id, barrier)| (barrier.call, id));
        sort_by_id(calls.calls.len(), barriers, &mut self.of_call, &mut self.sorted);
    }
}

/// Whether a barrier is one that stands within a render pass.
pub(crate) fn stands_within(calls: &Calls, barrier: BarrierId) -> bool {
    matches!(calls.calls[calls.barriers[barrier].call].site, CallSite::Within(_))
}
