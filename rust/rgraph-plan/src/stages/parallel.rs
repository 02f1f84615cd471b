//! What may run at once: sets of CPU passes by their dependencies, sets of GPU passes by the plan's barriers and waits;
//! and the passes that only move bytes.
//!
//! The set of a pass is the length of the longest chain of passes of its side that come before it, so a set is as early
//! as it can be. CPU passes have no barriers between them: dependencies order them, through passes of the GPU too, and
//! so do bytes that they share. Source of the sets: The Machinery, "Render Graphs" (`validate_and_build`).

use super::describe::Input;
use crate::access::{Accesses, Usage};
use crate::graph::PassId;
use crate::id::{Id, IdVec, Span};
use crate::plan::{Command, EventId, PassSet, Plan, PlanCopy, PlanPassId};
use crate::resource::ResourceId;
use crate::stages::ids::{PlacementId, SubresourceId};
use crate::stages::resolve::meaning::Effect;
use crate::stages::resolve::{Origin, ResolvedAccess};

/// Memory that finding sets reuses.
#[derive(Default, Debug)]
pub(crate) struct Scratch {
    /// By live pass: CPU passes in the longest chain before it; of GPU passes then the like among these.
    level: IdVec<PlanPassId, u32>,
    /// By placement: the least level of what comes after all its uses so far, and the one that its bytes begin with.
    placed: IdVec<PlacementId, (u32, Option<u32>)>,
    /// Uses of the CPU that are not ordered: subresource, whether it writes, what comes after it.
    unordered: Vec<(SubresourceId, bool, u32)>,
    queues: Vec<Queue>,
    /// By event: the level of what waits for it.
    events: IdVec<EventId, u32>,
    counts: Vec<u32>,
    /// Passes and what they copy from.
    /// Of each declared pass: itself in the plan, if all that it does is to copy.
    copying: IdVec<PassId, Option<PlanPassId>>,
    sources: Vec<(PassId, ResourceId)>,
    pairs: Vec<PlanCopy>,
}

/// How far a queue has come; the last one is the host.
#[derive(Default, Debug)]
struct Queue {
    /// Level of a pass that comes next.
    next: u32,
    /// Level of a pass behind all so far.
    behind: u32,
    /// Values signalled, ascending, with the level of what waits for them.
    signals: Vec<(u32, u32)>,
}

/// Finds sets and copies of a plan whose commands are there. O(plan + dependencies + accesses).
pub(crate) fn parallel(input: Input<'_>, scratch: &mut Scratch, plan: &mut Plan) {
    plan.sets.clear();
    plan.set_passes.clear();
    let passes = input.context.schedule.passes.len();
    scratch.level.refill(0, passes);
    let host = input.context.schedule.host();
    if input.context.schedule.passes.iter().any(|scheduled| scheduled.queue == host) {
        scratch.find_on_cpu(input);
        scratch.put(plan, true);
        scratch.level.refill(0, passes);
    }
    scratch.find_on_gpu(plan);
    scratch.put(plan, false);
    copies(input, scratch, plan);
}

impl Scratch {
    fn find_on_cpu(&mut self, input: Input<'_>) {
        let (schedule, transients) = (input.context.schedule, input.transients);
        self.placed.refill((0, None), transients.placements.len());
        self.unordered.clear();
        for at in schedule.passes.ids() {
            crate::cancel::poll();
            let cpu = schedule.passes[at].queue == schedule.host();
            let behind = |level: u32, of: PlanPassId| level + u32::from(schedule.passes[of].queue == schedule.host());
            let before = input.deps.before(input.deps.live(schedule.passes[at].pass));
            let before = before.map(|live| input.merged.final_position(live));
            let mut level = before.map(|of| behind(self.level[of], of)).max().unwrap_or(0);
            for access in input.context.accesses(at) {
                level = level.max(self.begins(input, access));
                if cpu && access.group.is_some() {
                    level = level.max(self.commutes_behind(access));
                }
            }
            self.level[at] = level;
            for access in input.context.accesses(at) {
                if let Some(placement) = placement(input, access) {
                    let after = &mut self.placed[placement].0;
                    *after = (*after).max(behind(level, at));
                }
                if cpu && access.group.is_some() {
                    let writes = access.effect != Effect::Read;
                    self.unordered
                        .extend(access.subresources.ids().map(|subresource| (subresource, writes, level + 1)));
                }
            }
        }
    }

    /// The first level at which a memory may be used: after the last uses of the memories whose bytes it reuses.
    fn begins(&mut self, input: Input<'_>, access: &ResolvedAccess) -> u32 {
        let Some(placement) = placement(input, access) else { return 0 };
        if let Some(begins) = self.placed[placement].1 {
            return begins;
        }
        let followed = input.transients.followed(placement).iter().filter(|(_, earlier_frame)| !earlier_frame);
        let begins = followed.map(|(of, _)| self.placed[*of].0).max().unwrap_or(0);
        self.placed[placement].1 = Some(begins);
        begins
    }

    /// Unordered uses commute, but two functions cannot write the same bytes at once.
    fn commutes_behind(&self, access: &ResolvedAccess) -> u32 {
        let writes = access.effect != Effect::Read;
        let meets = |(subresource, wrote, _): &&(SubresourceId, bool, u32)| {
            (writes || *wrote) && access.subresources.contains(*subresource)
        };
        self.unordered.iter().filter(meets).map(|(.., after)| *after).max().unwrap_or(0)
    }

    fn find_on_gpu(&mut self, plan: &Plan) {
        let host = plan.queues.len();
        self.queues.resize_with(self.queues.len().max(host + 1), Queue::default);
        for queue in &mut self.queues {
            (queue.next, queue.behind) = (0, 0);
            queue.signals.clear();
        }
        self.events.clear();
        for batch in &plan.batches {
            crate::cancel::poll();
            let at = batch.queue.map_or(host, Id::index);
            for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
                let signals = &self.queues[wait.queue.map_or(host, Id::index)].signals;
                let signal = signals.binary_search_by_key(&wait.value, |(value, _)| *value);
                let after = signal.map_or(0, |signal| signals[signal].1);
                self.queues[at].next = self.queues[at].next.max(after);
            }
            let queue = &mut self.queues[at];
            for command in &plan.commands[batch.commands.range()] {
                match command {
                    Command::Barriers(barriers) if !barriers.by_region => queue.next = queue.next.max(queue.behind),
                    Command::SetEvent(event, _) => {
                        let events = self.events.as_vec_mut();
                        events.resize(events.len().max(event.index() + 1), 0);
                        self.events[*event] = queue.behind.max(queue.next);
                    }
                    Command::WaitEvents(event, _) => {
                        let after = self.events.get(*event).copied().unwrap_or(0);
                        queue.next = queue.next.max(after);
                    }
                    Command::Pass { pass, .. } => {
                        self.level[*pass] = queue.next;
                        let own = u32::from(batch.queue.is_some());
                        queue.behind = queue.behind.max(queue.next + own);
                    }
                    Command::Barriers(_) | Command::BeginRendering { .. } | Command::EndRendering => {}
                }
            }
            if let Some(value) = batch.signal {
                queue.signals.push((value, queue.behind.max(queue.next)));
            }
        }
    }

    /// Live passes of one side by level, each set in plan order; levels of no pass are left out.
    fn put(&mut self, plan: &mut Plan, cpu: bool) {
        let counts = &mut self.counts;
        let ours = |plan: &Plan, at: PlanPassId| plan.passes[at].queue.is_none() == cpu;
        counts.clear();
        for (at, &level) in self.level.iter_ids().filter(|(at, _)| ours(plan, *at)) {
            debug_assert!(plan.passes[at].culled.is_none(), "live passes come first");
            counts.resize(counts.len().max(level as usize + 1), 0);
            counts[level as usize] += 1;
        }
        let mut start = plan.set_passes.len();
        for count in counts.iter_mut() {
            let passes = Span::new(start, start + *count as usize);
            if *count > 0 {
                plan.sets.push(PassSet { cpu, passes });
            }
            *count = passes.start;
            start = passes.end as usize;
        }
        plan.set_passes.resize(start, PlanPassId::new(0));
        for (at, &level) in self.level.iter_ids() {
            if ours(plan, at) {
                plan.set_passes[counts[level as usize] as usize] = at;
                counts[level as usize] += 1;
            }
        }
    }
}

fn placement(input: Input<'_>, access: &ResolvedAccess) -> Option<PlacementId> {
    let memory = input.context.facts.memory[access.resource];
    input.transients.index.get(memory).copied().flatten()
}

/// Passes that do nothing but read and write by transfers. Fallbacks are not named.
fn copies(input: Input<'_>, scratch: &mut Scratch, plan: &mut Plan) {
    let Scratch { copying, sources, pairs, .. } = scratch;
    let (accesses, facts) = (input.context.graph.accesses(), input.context.facts);
    plan.copies.clear();
    pairs.clear();
    copying.refill(None, input.context.graph.passes().len());
    for (at, scheduled) in input.context.schedule.passes.iter_ids() {
        match facts.passes[scheduled.pass].origin {
            Origin::Declared(pass) => copying[pass] = Some(at),
            Origin::Mip { .. } | Origin::Blit { .. } => {
                let side = |side| input.context.accesses(at).iter().filter(move |access| access.kinds.contains(side));
                for to in side(Accesses::TRANSFER_WRITE) {
                    let from = side(Accesses::TRANSFER_READ).map(|from| from.resource);
                    pairs.extend(from.map(|from| PlanCopy { pass: at, from, to: to.resource }));
                }
            }
        }
    }
    sources.clear();
    for access in accesses {
        match access.usage {
            Usage::TransferSrc => sources.push((access.pass, access.resource)),
            Usage::TransferDst => {}
            _ => copying[access.pass] = None,
        }
    }
    sources.sort_unstable();
    for to in accesses.iter().filter(|access| access.usage == Usage::TransferDst) {
        if let Some(pass) = copying[to.pass] {
            let first = sources.partition_point(|(of, _)| *of < to.pass);
            let from = sources[first..].iter().take_while(|(of, _)| *of == to.pass);
            pairs.extend(from.map(|&(_, from)| PlanCopy { pass, from, to: to.resource }));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    plan.copies.extend_from_slice(pairs);
}
