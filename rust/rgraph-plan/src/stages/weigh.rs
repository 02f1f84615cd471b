//! The scheduler's input for each live pass: durations, queues that may run it, the bytes that it keeps
//! alive, and which of them could become one render pass. O(accesses + dependencies).

use crate::access::PassQueue;
use crate::budget::MemoryBudget;
use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::plan::{PlanKind, PlanQueue, QueueWhy};
use crate::profile::Profile;
use crate::resource::{Life, ResourceId};
use crate::stages::cull::Live;
use crate::stages::depend::Dependencies;
use crate::stages::ids::{CountedId, LiveId, ResolvedPassId};
use crate::stages::resolve::{Facts, Origin, ResolvedPass, declared_of};
use crate::stages::schedule::deps::Csr;
use crate::stages::schedule::{Bytes, Costs, HOST, Instance};
use crate::stages::size::{Shape, mip_size};
use crate::stages::validate::queues::{Needs, access_needs, resolve_queue, stage_needs};

/// Bytes that a pass is guessed to move in a microsecond, where nobody says how long it takes: 500 GB/s, what a
/// middling discrete GPU streams.
const BYTES_PER_US: f32 = 500_000.0;
/// Microseconds that a pass is guessed to take at least.
const LEAST_US: f32 = 3.0;

/// Memory that an [`Instance`] borrows.
#[derive(Default, Debug)]
pub(crate) struct Weights {
    /// Microseconds of each live pass.
    pub weight_us: IdVec<LiveId, f32>,
    /// The part of the device that each live pass fills, above 0 and up to 1.
    pub size: IdVec<LiveId, f32>,
    draws: IdVec<LiveId, bool>,
    measured: bool,
    certain: bool,
    queues: IdVec<LiveId, u32>,
    class: IdVec<LiveId, u16>,
    merges: Vec<(LiveId, LiveId)>,
    bytes: IdVec<CountedId, u64>,
    kept: IdVec<CountedId, bool>,
    users: Csr<CountedId, LiveId>,
    uses: Csr<LiveId, CountedId>,
    /// The memories that each live pass uses as attachments, ascending.
    pub attached: Csr<LiveId, ResourceId>,
    index: IdVec<ResourceId, Option<CountedId>>,
    drawn: IdVec<ResourceId, Option<LiveId>>,
    by_kind: Vec<Option<usize>>,
}

/// What [`Weights::instance`] reads.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    /// The declaration.
    pub graph: &'a Graph,
    /// The device.
    pub profile: &'a Profile,
    pub plan_queues: &'a [PlanQueue],
    /// The declaration's shapes.
    pub shapes: &'a IdVec<ResourceId, Shape>,
    pub facts: &'a Facts,
    /// What runs.
    pub live: &'a Live,
    /// In which order it must.
    pub deps: &'a Dependencies,
    /// What bytes are worth.
    pub memory: MemoryBudget,
}

impl Weights {
    /// Describes the live passes to the scheduler.
    pub(crate) fn instance<'a>(&'a mut self, input: Input<'a>) -> Instance<'a> {
        self.weigh(input);
        self.find_bytes(input);
        self.find_merges(input);
        self.view(input)
    }

    /// The live passes as they were described last.
    pub(crate) fn view<'a>(&'a self, input: Input<'a>) -> Instance<'a> {
        Instance {
            deps: &input.deps.deps,
            weight_us: &self.weight_us,
            measured: self.measured,
            certain: self.certain,
            size: &self.size,
            draws: &self.draws,
            graphics: resolve_queue(input.profile, PassQueue::Graphics).unwrap_or(0) as u8,
            queues: &self.queues,
            queue_count: input.plan_queues.len() as u32,
            class: &self.class,
            merges: &self.merges,
            bytes: Bytes { bytes: &self.bytes, kept: &self.kept, users: &self.users, uses: &self.uses },
            memory: input.memory,
            heap: input.profile.memory.first().and_then(|memory| memory.heap_size),
            costs: Costs {
                cross_queue_us: input.profile.cross_queue_us as f32,
                barrier_us: input.profile.barrier_us as f32,
                submit_us: input.profile.submit_us as f32,
                pass_us: input.profile.pass_us as f32,
            },
        }
    }

    /// The memories that the scheduler counts, in its order.
    pub(crate) fn memories(&self) -> IdVec<CountedId, ResourceId> {
        let mut all: Vec<_> = self.index.iter_ids().filter(|(_, index)| index.is_some()).collect();
        all.sort_unstable_by_key(|(_, index)| **index);
        all.into_iter().map(|(memory, _)| memory).collect()
    }

    fn weigh(&mut self, input: Input<'_>) {
        self.weight_us.clear();
        self.size.clear();
        self.draws.clear();
        self.measured = false;
        self.certain = true;
        self.queues.clear();
        self.class.clear();
        self.by_kind.clear();
        self.by_kind.extend(PassQueue::ALL.iter().map(|&kind| resolve_queue(input.profile, kind)));
        for &id in &input.live.passes {
            crate::cancel::poll();
            let pass = &input.facts.passes[id];
            let declared = match pass.origin {
                Origin::Declared(declared_pass) => Some(&input.graph.passes()[declared_pass]),
                _ => None,
            };
            let declared_us = declared.and_then(|declared_pass| declared_pass.weight_us);
            self.measured |= declared_us.is_some();
            self.certain &= declared_us.is_some() || declared.is_none() || pass.queue == PassQueue::Cpu;
            let Load { bytes, invocations } = load(input, pass);
            let weight = declared_us.map_or(LEAST_US + bytes / BYTES_PER_US, |us| us as f32);
            self.size.push((invocations.max(1.0) / input.profile.width as f32).min(1.0));
            self.weight_us.push(weight);
            if !input.profile.draws_overlap_dispatches {
                let accesses = input.facts.accesses.slice(pass.accesses);
                self.draws.push(accesses.iter().any(|access| {
                    declared_of(input.graph, access)
                        .is_some_and(|declared_access| declared_access.usage.is_attachment())
                }));
            }
            self.class.push(
                declared
                    .and_then(|declared_pass| declared_pass.unit)
                    .map_or(0, |unit| (unit.index() as u16).saturating_add(1)),
            );
            self.queues.push(self.queues_of(input, pass));
        }
    }

    /// A bit for each queue that may run a pass.
    fn queues_of(&self, input: Input<'_>, pass: &ResolvedPass) -> u32 {
        match pass.queue {
            PassQueue::Cpu => 1 << HOST,
            PassQueue::Any => self.able(input, pass),
            kind => 1 << self.by_kind[kind as usize].expect("validation refuses queues that the profile lacks"),
        }
    }

    /// A bit for each queue that can do the work of a pass, whatever queue it names.
    pub(crate) fn able(&self, input: Input<'_>, pass: &ResolvedPass) -> u32 {
        let mut needs = Needs::empty();
        for access in input.facts.accesses.slice(pass.accesses) {
            // Inserted passes are blits.
            let Some(declared_access) = declared_of(input.graph, access) else { return 0 };
            needs |= access_needs(declared_access, &input.shapes[access.resource]) | stage_needs(access.stages);
        }
        let able = |queue: &PlanQueue| needs.met_by(queue.capabilities);
        let queues = input.plan_queues.iter().enumerate();
        queues.filter(|(_, queue)| able(queue)).map(|(at, _)| 1 << at).sum()
    }

    fn find_bytes(&mut self, input: Input<'_>) {
        self.index.refill(None, input.shapes.len());
        self.bytes.clear();
        self.kept.clear();
        self.uses.clear();
        for &id in &input.live.passes {
            for access in input.facts.accesses.slice(input.facts.passes[id].accesses) {
                let memory = input.facts.memory[access.resource];
                let placed = input.graph.resources()[memory].life == Life::Transient && !input.facts.remembered[memory];
                if !placed {
                    continue;
                }
                let counted = *self.index[memory].get_or_insert_with(|| {
                    self.kept.push(false);
                    self.bytes.push(input.shapes[memory].bytes)
                });
                self.uses.push(counted);
            }
            self.uses.end_row_sorted();
        }
        for &root in input.graph.roots() {
            if let Some(counted) = self.index[input.facts.memory[root]] {
                self.kept[counted] = true;
            }
        }
        self.users.refill_transposed(self.bytes.len(), &self.uses);
    }

    /// Raster passes that draw to what another raster pass drew to just before.
    fn find_merges(&mut self, input: Input<'_>) {
        self.merges.clear();
        self.attached.clear();
        self.drawn.refill(None, input.shapes.len());
        for (at, &id) in input.live.passes.iter_ids() {
            crate::cancel::poll();
            let pass = &input.facts.passes[id];
            for access in input.facts.accesses.slice(pass.accesses) {
                let memory = input.facts.memory[access.resource];
                let drawn = &mut self.drawn[memory];
                let usage = declared_of(input.graph, access).map(|declared_access| declared_access.usage);
                if usage.is_some_and(|usage| usage.is_attachment()) && pass.conditional.is_none() {
                    self.attached.push(memory);
                    if let Some(earlier) = drawn.replace(at)
                        && earlier != at
                        && self.queues[earlier] == self.queues[at]
                    {
                        self.merges.push((earlier, at));
                    }
                } else {
                    *drawn = None;
                }
            }
            self.attached.end_row_sorted();
        }
        self.merges.sort_unstable();
        self.merges.dedup();
    }
}

/// What a pass moves, and how wide it is.
struct Load {
    /// Bytes that it accesses.
    bytes: f32,
    /// Texels, or words of four bytes, of the largest range that it writes; that it reads if it writes none.
    invocations: f32,
}

/// The load of a pass, from which its duration is guessed where nobody says it.
fn load(input: Input<'_>, pass: &ResolvedPass) -> Load {
    let mut bytes = 0.0f32;
    let (mut written, mut read) = (0.0f32, 0.0f32);
    for access in input.facts.accesses.slice(pass.accesses) {
        let part = input.facts.subresources.get(access.subresources.first());
        let (range, items) = match input.shapes[access.resource].kind {
            PlanKind::Image { format, size, samples, .. } => {
                let [width, height, depth] = mip_size(size, part.mips[0]).map(|texels| texels as f32);
                let layers = (part.layers[1] - part.layers[0]) as f32;
                let [block_width, block_height] = format.block();
                let texel = format.block_bytes() as f32 / (block_width * block_height) as f32;
                let texels = width * height * depth * layers * samples as f32;
                (texels * texel, texels)
            }
            PlanKind::Buffer { .. } => {
                let bytes = (part.bytes[1] - part.bytes[0]) as f32;
                (bytes, bytes / 4.0)
            }
        };
        bytes += range;
        let widest = if access.effect.writes() { &mut written } else { &mut read };
        *widest = widest.max(items);
    }
    Load { bytes, invocations: if written > 0.0 { written } else { read } }
}

/// Why a pass runs on its queue, as far as the declaration decides it.
pub(crate) fn queue_why(profile: &Profile, facts: &Facts, pass: ResolvedPassId, chosen: QueueWhy) -> QueueWhy {
    let graphics = resolve_queue(profile, PassQueue::Graphics);
    match facts.passes[pass].queue {
        PassQueue::Any => chosen,
        kind @ (PassQueue::AsyncCompute | PassQueue::Transfer) if resolve_queue(profile, kind) == graphics => {
            QueueWhy::NoOther
        }
        _ => QueueWhy::Named,
    }
}
