//! What each stage of the last bake made, as text: for reading, for tests of one stage alone, for finding the stage
//! that changed a plan.

use crate::stages::ids::{PhysicalId, ResolvedPassId};
use std::borrow::Cow;
use std::fmt::{Display, Write};

use super::Scratch;
use crate::graph::Graph;
use crate::id::Id;
use crate::plan::PlanPassId;
use crate::stages::barriers::call::{About, Barrier, CallSite};
use crate::stages::describe::name_of;
use crate::stages::order::schedule::LaneId;
use crate::stages::resolve::subresource::Subresource;
use crate::stages::resolve::{Origin, ResolvedAccess};
use crate::words::{access_phrase, stages_phrase};

/// A stage whose result can be printed, in the order of the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DumpStage {
    /// Passes, with inserted ones, and their accesses of subresources.
    Resolve,
    /// Passes that run, and those that contribute to no root.
    Cull,
    /// What each live pass must follow.
    Depend,
    /// The linear order, the queue of each pass, and why it is there.
    Order,
    /// Physical passes: passes that share a render pass, and the barrier-free interval of each.
    Merge,
    /// Layout and sharing of each access, waits between queues, batches.
    Queues,
    /// Offsets of memories, and whose bytes they reuse.
    Alias,
    /// Barrier calls and what each holds.
    Barriers,
}

impl DumpStage {
    /// All stages, in the order of the pipeline.
    pub const ALL: [Self; 8] =
        [Self::Resolve, Self::Cull, Self::Depend, Self::Order, Self::Merge, Self::Queues, Self::Alias, Self::Barriers];

    /// Its word in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Cull => "cull",
            Self::Depend => "depend",
            Self::Order => "order",
            Self::Merge => "merge",
            Self::Queues => "queues",
            Self::Alias => "alias",
            Self::Barriers => "barriers",
        }
    }

    /// The stage of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

impl Scratch {
    /// What a stage of the last bake made of `graph`, one line per item. O(what the stage made).
    ///
    /// `graph` must be the one of that bake, and the bake must have returned a plan.
    pub fn dump(&self, graph: &Graph, stage: DumpStage) -> String {
        let graph = graph.flattened().map_or(Cow::Borrowed(graph), Cow::Owned);
        let mut dump = Dump { scratch: self, graph: &graph, out: String::new() };
        match stage {
            DumpStage::Resolve => dump.resolve(),
            DumpStage::Cull => dump.cull(),
            DumpStage::Depend => dump.depend(),
            DumpStage::Order => dump.order(),
            DumpStage::Merge => dump.merge(),
            DumpStage::Queues => dump.queues(),
            DumpStage::Alias => dump.alias(),
            DumpStage::Barriers => dump.barriers(),
        }
        dump.out
    }
}

struct Dump<'a> {
    scratch: &'a Scratch,
    graph: &'a Graph,
    out: String,
}

impl Dump<'_> {
    fn line(&mut self, text: impl Display) {
        writeln!(self.out, "{text}").expect("writing into memory does not fail");
    }

    fn name(&self, pass: ResolvedPassId) -> Cow<'_, str> {
        match self.scratch.facts.passes[pass].origin {
            Origin::Declared(id) => Cow::Borrowed(self.graph.pass_name(id)),
            inserted => Cow::Owned(name_of(self.graph, inserted)),
        }
    }

    /// The pass at a position of the schedule.
    fn scheduled(&self, at: PlanPassId) -> Cow<'_, str> {
        self.name(self.scratch.schedule.passes[at].pass)
    }

    /// A physical pass, named by its first pass.
    fn physical(&self, at: PhysicalId) -> Cow<'_, str> {
        self.scheduled(self.scratch.schedule.physical_passes[at].passes.first())
    }

    fn queue(&self, queue: LaneId) -> String {
        let host = queue.index() == self.scratch.schedule.queues;
        if host { "host".to_owned() } else { format!("queue {}", queue.index()) }
    }

    fn access(&self, access: &ResolvedAccess) -> String {
        let ResolvedAccess { resource, stages, kinds, layout, effect, group, .. } = *access;
        let parts: Vec<String> = access
            .subresources
            .ids()
            .map(|at| subresource(self.scratch.facts.subresources.get(at)))
            .filter(|part| !part.is_empty())
            .collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" [{}]", parts.join("; ")) };
        let grouped = group.map_or(String::new(), |group| format!(", unordered group {}", group.index()));
        let name = self.graph.resource_name(resource);
        let (stages, kinds) = (stages_phrase(stages), access_phrase(kinds));
        format!("{name}{parts}: {effect:?} at {stages} as {kinds}, {layout}{grouped}")
    }

    fn resolve(&mut self) {
        let facts = &self.scratch.facts;
        for (id, pass) in facts.passes.iter_ids() {
            let switched = pass.conditional.map_or(String::new(), |flag| format!(" if {}", self.graph.flags()[flag]));
            let kept = if pass.keep { ", kept" } else { "" };
            self.line(format!("{} on {}{switched}{kept}", self.name(id), pass.queue));
            for access in facts.accesses.slice(pass.accesses) {
                self.line(format!("  {}", self.access(access)));
            }
            let sources: Vec<_> = facts.sources[pass.sources.range()].iter().map(|id| self.name(*id)).collect();
            if !sources.is_empty() {
                let sources = sources.join(", ");
                self.line(format!("  needs {sources}"));
            }
        }
    }

    fn cull(&mut self) {
        let live = &self.scratch.live;
        for &pass in &live.passes {
            self.line(format!("runs {} in part {}", self.name(pass), live.part[pass].index()));
        }
        for (pass, needed) in live.needed.iter_ids() {
            if !needed {
                self.line(format!("culled {}", self.name(pass)));
            }
        }
    }

    fn depend(&mut self) {
        let (live, deps) = (&self.scratch.live, &self.scratch.deps);
        for (at, &pass) in live.passes.iter_ids() {
            let before: Vec<_> = deps.before(at).map(|from| self.name(live.passes[from])).collect();
            let before = if before.is_empty() { "nothing".to_owned() } else { before.join(", ") };
            self.line(format!("{} follows {before}", self.name(pass)));
        }
    }

    fn order(&mut self) {
        let (live, order) = (&self.scratch.live, &self.scratch.order);
        self.line(format!("policy {}, {:.3} us modelled", order.policy.name(), order.frame_us));
        for &at in &order.passes {
            let (start, end) = (order.start_us[at], order.finish_us[at]);
            let queue = self.queue(self.scratch.lanes[at]);
            let name = self.name(live.passes[at]);
            self.line(format!("{name} on {queue} ({:?}), {start:.3} to {end:.3} us", order.why_queue[at]));
        }
    }

    fn merge(&mut self) {
        let schedule = &self.scratch.schedule;
        for physical in &schedule.physical_passes {
            let passes: Vec<_> = physical.passes.ids().map(|at| self.scheduled(at)).collect();
            let kind = match (physical.raster, physical.subpasses) {
                (false, _) => "pass",
                (true, false) => "render pass",
                (true, true) => "render pass with subpasses",
            };
            let (passes, queue) = (passes.join(", "), self.queue(physical.queue));
            self.line(format!("{kind} on {queue}, interval {}: {passes}", physical.interval.index()));
        }
    }

    fn queues(&mut self) {
        let Scratch { schedule, clocks, wait_stages, batches, read_groups, facts, .. } = self.scratch;
        for (at, cut) in batches.cuts.iter().enumerate() {
            let signals = if cut.signals { ", signals" } else { "" };
            self.line(format!("batch {at} on {}{signals}", self.queue(cut.queue)));
            for &physical in &batches.physical_passes[cut.physical_passes.range()] {
                for at in schedule.physical_passes[physical].passes.ids() {
                    self.line(format!("  {}", self.scheduled(at)));
                    for which in clocks.of_scheduled[at].ids() {
                        let wait = clocks.waits[which];
                        let (queue, stages) = (self.queue(wait.queue), stages_phrase(wait_stages[which]));
                        self.line(format!("    waits for position {} of {queue} at {stages}", wait.position.passes()));
                    }
                }
            }
        }
        for (later, earlier) in &read_groups.extra {
            self.line(format!("{} must follow {}", self.scheduled(*later), self.scheduled(*earlier)));
        }
        for (id, sharing) in read_groups.sharing.iter_ids() {
            if facts.memory[id] == id {
                self.line(format!("{}: {sharing:?}", self.graph.resource_name(id)));
            }
        }
    }

    fn alias(&mut self) {
        let transients = &self.scratch.transients;
        for (at, placement) in transients.placements.iter_ids() {
            let [first, last] = placement.physical_passes;
            let end = if last < self.scratch.schedule.physical_passes.next_id() {
                self.physical(last)
            } else {
                Cow::Borrowed("the end")
            };
            let (name, first) = (self.graph.resource_name(placement.memory), self.physical(first));
            let (from, to) = (placement.offset, placement.offset + placement.size);
            self.line(format!(
                "{name} in class {}, bytes {from}..{to}, from {first} to {end}",
                placement.class.index()
            ));
            for &(before, frame_before) in transients.followed(at) {
                let before = self.graph.resource_name(transients.placements[before].memory);
                let when = if frame_before { " of the frame before" } else { "" };
                self.line(format!("  reuses bytes of {before}{when}"));
            }
        }
        for (class, peak) in transients.peaks.iter().enumerate() {
            self.line(format!("class {class}: {} bytes, lower bound {}", peak.total, peak.lower_bound));
        }
    }

    fn barriers(&mut self) {
        let calls = &self.scratch.hazards.calls;
        for (at, call) in calls.calls.iter_ids() {
            let site = match call.site {
                CallSite::Before(physical) => format!("before {}", self.physical(physical)),
                CallSite::BatchEnd(batch) => format!("at the end of batch {}", batch.index()),
                CallSite::Within(scheduled) => format!("within the render pass, before {}", self.scheduled(scheduled)),
            };
            self.line(format!("call {} {site}", at.index()));
            for barrier in calls.barriers.iter().filter(|barrier| barrier.call == at) {
                self.line(format!("  {}", self.barrier(barrier)));
            }
        }
    }

    fn barrier(&self, barrier: &Barrier) -> String {
        let what = match barrier.about {
            About::Memory => "memory".to_owned(),
            About::Buffer(id, part) => format!("{}{}", self.graph.resource_name(id), bracketed(&part)),
            About::Image(id, part, old, new) => {
                format!("{}{} {old} -> {new}", self.graph.resource_name(id), bracketed(&part))
            }
        };
        let families = barrier.families.map_or(String::new(), |[from, to]| format!(", family {from} -> {to}"));
        let scope = barrier.scope;
        let half = |stages, access| format!("{} ({})", stages_phrase(stages), access_phrase(access));
        let (from, to) = (half(scope.src_stages, scope.src_access), half(scope.dst_stages, scope.dst_access));
        format!("{what}: {from} -> {to}{families}, {:?}", barrier.why.hazard)
    }
}

fn bracketed(part: &Subresource) -> String {
    format!(" [{}]", subresource(part))
}

/// Mips and layers of a part of an image, bytes of a part of a buffer.
fn subresource(part: &Subresource) -> String {
    let Subresource { mips, layers, aspects, bytes, .. } = *part;
    if aspects.is_empty() {
        return format!("bytes {}..{}", bytes[0], bytes[1]);
    }
    let aspects: Vec<_> = aspects.names().collect();
    format!("mips {}..{}, layers {}..{}, {}", mips[0], mips[1], layers[0], layers[1], aspects.join(" + "))
}
