//! Transients and roots as things to be placed: one item a memory, alive from the first physical pass that uses it to
//! the last (a root to the end of the frame), one arena a class of memory; and who hands bytes to whom.

use crate::access::Usage;
use crate::id::{Id, IdSpan, IdVec, Span};
use crate::plan::{PlanKind, PlanPassId};
use crate::profile::{LAZY_MEMORY, Profile};
use crate::resource::ResourceId;
use crate::stages::alias::item::ItemId;
use crate::stages::alias::item::{Item, Overflow, Peak};
use crate::stages::alias::place::{PlaceScratch, place_below};
use crate::stages::alias::remembered::{Question, Remembered};
use crate::stages::alias::walk::{Placed, PreviousOwner, PreviousOwners, WalkScratch, previous_owners};
use crate::stages::context::Context;
use crate::stages::ids::{IntervalId, MemoryClassId, PhysicalId, PlacementId, SubresourceId};
use crate::stages::order::clock::Clocks;
use crate::stages::order::schedule::{LaneId, QueuePosition};
use crate::stages::resolve::meaning::Effect;
use crate::stages::resolve::{ResolvedAccess, declared_of};

/// A placed memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub memory: ResourceId,
    pub class: MemoryClassId,
    /// First byte.
    pub offset: u64,
    /// Bytes that it needs.
    pub size: u64,
    /// Bytes that it holds: whole pages, where an image lies beside buffers.
    pub held: u64,
    /// First and last physical pass; the one behind all is the end of the frame.
    pub physical_passes: [PhysicalId; 2],
    /// Whether it is an attachment of one render pass, neither loaded nor stored.
    pub transient_attachment: bool,
}

impl Placement {
    /// Whether it holds bytes of another one of its class.
    fn overlaps(&self, other: &Self) -> bool {
        self.offset < other.offset + other.held && other.offset < self.offset + self.held
    }
}

/// Where everything is, and who follows whom there.
#[derive(Default, Debug)]
pub(crate) struct Transients {
    /// Placed memories, by class and then by id.
    pub placements: IdVec<PlacementId, Placement>,
    /// Position of each memory in `placements`.
    pub index: IdVec<ResourceId, Option<PlacementId>>,
    /// Need of each class.
    pub peaks: IdVec<MemoryClassId, Peak>,
    /// Items put somewhere since it was last set to 0, over all placements and attempts.
    pub nodes: u64,
    /// Previous owners of the bytes: `(predecessor, from the frame before)` by position in `placements`.
    followed: Vec<(PlacementId, bool)>,
    /// Where each placement's predecessors begin in `followed`; one more at the end.
    followed_of: IdVec<PlacementId, Span>,
    /// Whether memories may reuse each other's bytes.
    pub aliases: bool,
    /// On several queues, by first use: first and last scheduled pass of each memory on each queue (the host too), or
    /// none.
    uses: Vec<Option<[PlanPassId; 2]>>,
    /// The position of each placement in `uses`.
    row: Vec<PlacementId>,
    happens: Happens,
    used_by_host: IdVec<PlacementId, bool>,
    /// By subresource: whether an access was seen.
    seen: IdVec<SubresourceId, bool>,
    items: Vec<Item>,
    change: Vec<(u32, i64)>,
    offsets: Vec<u64>,
    placed: Vec<Placed>,
    previous_owners: PreviousOwners,
    place: Scratches,
    /// Placements and peaks put aside.
    aside: (IdVec<PlacementId, Placement>, IdVec<MemoryClassId, Peak>),
}

#[derive(Default)]
struct Scratches {
    place: PlaceScratch,
    remembered: Remembered,
    walk: WalkScratch,
}

impl std::fmt::Debug for Scratches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratches")
    }
}

/// Who is done before whom on several queues, as positions to compare.
#[derive(Default, Debug)]
struct Happens {
    /// Blocks of four queues of each placement.
    blocks: usize,
    /// Position of the last use on each queue; 0: none there.
    ended: Vec<[u32; 4]>,
    /// Up to which position of each queue every use is known to come before the first ones.
    known: Vec<[u32; 4]>,
    /// By scheduled pass: the last position of its queue in the interval before.
    interval_before: IdVec<PlanPassId, QueuePosition>,
    /// By queue: its interval, and the last position of the interval before.
    current: IdVec<LaneId, (IntervalId, QueuePosition)>,
}

impl Happens {
    /// Compares every placement's uses, in `row` of `uses`, with what the queues know of each other.
    ///
    /// Every queue that used the earlier one must be known to be done with it wherever the later one begins; on one
    /// queue in different intervals, so that no barrier is needed that the dependencies do not need too.
    fn find(&mut self, context: Context<'_>, clocks: &Clocks, uses: &[Option<[PlanPassId; 2]>], row: &[PlacementId]) {
        let lanes = context.schedule.queues + 1;
        self.current.refill((IntervalId::new(0), QueuePosition::BEFORE), lanes);
        self.interval_before.clear();
        self.interval_before.as_vec_mut().extend(context.schedule.passes.iter().map(|scheduled| {
            let interval = context.schedule.physical_passes[scheduled.physical].interval;
            let current = &mut self.current[scheduled.queue];
            if current.0 != interval {
                *current = (interval, scheduled.position.previous());
            }
            current.1
        }));
        self.blocks = lanes.div_ceil(4);
        self.ended.clear();
        self.ended.resize(row.len() * self.blocks, [0; 4]);
        self.known.clear();
        self.known.resize(row.len() * self.blocks, [u32::MAX; 4]);
        for (at, &row) in row.iter().enumerate() {
            let uses = &uses[row.index() * lanes..][..lanes];
            let ended = self.ended[at * self.blocks..][..self.blocks].as_flattened_mut();
            let known = self.known[at * self.blocks..][..self.blocks].as_flattened_mut();
            for (to, [first, last]) in uses.iter().enumerate().filter_map(|(to, used)| Some((to, (*used)?))) {
                ended[to] = context.schedule.passes[last].position.passes();
                for (from, &clock) in clocks.clock(first).iter().enumerate() {
                    let done = if from == to { self.interval_before[first] } else { clock };
                    known[from] = known[from].min(done.passes());
                }
            }
        }
    }

    /// What decides about some placements.
    fn of(&self, placements: std::ops::Range<usize>) -> [&[[u32; 4]]; 2] {
        let blocks = placements.start * self.blocks..placements.end * self.blocks;
        [&self.ended[blocks.clone()], &self.known[blocks]]
    }

    /// Whether the placement `earlier` is done with everywhere before `later` begins.
    #[inline]
    fn before(&self, earlier: usize, later: usize) -> bool {
        let ended = &self.ended[earlier * self.blocks..][..self.blocks];
        let known = &self.known[later * self.blocks..][..self.blocks];
        ended.iter().zip(known).all(|(ended, known)| {
            ended.iter().zip(known).fold(true, |before, (ended, known)| before & (ended <= known))
        })
    }
}

impl Transients {
    /// Places all transients and roots.
    ///
    /// # Errors
    /// [`Overflow`] if the offsets do not fit in 64 bits.
    pub(crate) fn place(
        &mut self,
        context: Context<'_>,
        clocks: &Clocks,
        profile: &Profile,
        effort: u32,
    ) -> Result<(), Overflow> {
        let one_queue = context.schedule.passes.iter().all(|scheduled| scheduled.queue == LaneId::FIRST);
        self.find_uses(context, profile, one_queue);
        if !one_queue {
            self.happens.find(context, clocks, &self.uses, &self.row);
        }
        self.peaks.clear();
        let mut start = 0;
        for (class, memory) in profile.memory.iter().enumerate() {
            let class = MemoryClassId::new(class);
            let rest = IdSpan::new(start, self.placements.len());
            let end = start + self.placements.slice(rest).iter().take_while(|p| p.class == class).count();
            let of_class = self.placements.slice_mut(IdSpan::new(start, end));
            self.items.clear();
            for placement in of_class.iter() {
                let shape = &context.shapes[placement.memory];
                let [first, last] = placement.physical_passes.map(|at| at.index() as u32);
                self.items.push(Item { size: placement.size, align: shape.align, first, last });
            }
            let padded = separate_kinds(&mut self.items, of_class, context, profile.buffer_image_granularity);
            let happens = &self.happens;
            let before = |a: ItemId, b: ItemId| happens.before(start + a.index(), start + b.index());
            if one_queue {
                for item in &mut self.items {
                    let physical_passes = &context.schedule.physical_passes;
                    let interval = |at: u32| Some(physical_passes.as_slice().get(at as usize)?.interval.index() as u32);
                    item.first = interval(item.first).expect("a physical pass uses it");
                    item.last = interval(item.last).unwrap_or(u32::MAX / 2);
                }
            }
            if !self.aliases {
                self.items.iter_mut().for_each(|item| (item.first, item.last) = (0, u32::MAX / 2));
            }
            let effort = (effort, memory.heap_size);
            let several = !one_queue && self.aliases;
            let question = Question { items: &self.items, effort, happens: several.then(|| happens.of(start..end)) };
            let Scratches { place: scratch, remembered, .. } = &mut self.place;
            // What a look for offsets costs is less than to keep them.
            let worth_keeping = effort.0 > 0 && !self.items.is_empty();
            let kept = if worth_keeping { remembered.find(question) } else { None };
            let found = kept.is_some();
            let mut peak = if let Some((offsets, peak)) = kept {
                self.offsets.clear();
                self.offsets.extend_from_slice(offsets);
                peak
            } else if several {
                place_below(&self.items, Some(before), effort, scratch, &mut self.offsets)?
            } else {
                place_below(&self.items, None::<fn(ItemId, ItemId) -> bool>, effort, scratch, &mut self.offsets)?
            };
            if worth_keeping && !found {
                remembered.keep(question, &self.offsets, peak);
            }
            if padded {
                peak.lower_bound = most_live(&self.items, of_class, &mut self.change);
            }
            self.nodes += peak.nodes;
            self.peaks.push(peak);
            for ((placement, &offset), item) in of_class.iter_mut().zip(&self.offsets).zip(&self.items) {
                (placement.offset, placement.held) = (offset, item.size);
            }
            start = end;
        }
        Ok(())
    }

    /// Puts the placements aside, before others are tried.
    pub(crate) fn put_aside(&mut self) {
        self.aside.0.clone_from(&self.placements);
        self.aside.1.clone_from(&self.peaks);
    }

    /// Takes the placements back that were put aside.
    pub(crate) fn take_back(&mut self) {
        std::mem::swap(&mut self.aside.0, &mut self.placements);
        std::mem::swap(&mut self.aside.1, &mut self.peaks);
    }

    /// Finds who hands bytes to whom, once everything is placed.
    pub(crate) fn hand_over(&mut self, context: Context<'_>) {
        self.followed.clear();
        self.followed_of.clear();
        let one_queue = context.schedule.passes.iter().all(|scheduled| scheduled.queue == LaneId::FIRST);
        let physical_passes = &context.schedule.physical_passes;
        let mut start = 0;
        for of_class in self.placements.as_slice().chunk_by(|a, b| a.class == b.class) {
            self.placed.clear();
            self.placed.extend(of_class.iter().map(|placement| {
                let Placement { offset, held: size, physical_passes: [first, _], .. } = *placement;
                let order = if !self.aliases {
                    0
                } else if one_queue {
                    physical_passes[first].interval.index() as u32
                } else {
                    first.index() as u32
                };
                Placed { offset, size, order }
            }));
            previous_owners(&self.placed, &mut self.place.walk, &mut self.previous_owners);
            for (item, placement) in of_class.iter().enumerate() {
                let own = self.followed.len();
                let followed = self.previous_owners.of(ItemId::new(item)).iter();
                let placement_of = |h: &PreviousOwner| PlacementId::new(h.item.index() + start);
                self.followed.extend(followed.map(|h| (placement_of(h), h.from_previous_frame)));
                // Barriers of an image take in what was written in the bytes of the subresources that they name. Behind
                // those that nobody uses is what had the bytes before (Vulkan 1.3, "Memory Aliasing").
                let mut at = own;
                while let Some(&(owner, before)) = self.followed.get(at) {
                    at += 1;
                    if !is_used_in_part(context, &self.seen, self.placements[owner].memory) {
                        continue;
                    }
                    for behind in self.previous_owners.of(ItemId::new(owner.index() - start)) {
                        let found = (placement_of(behind), before || behind.from_previous_frame);
                        if self.placements[found.0].overlaps(placement) && !self.followed[own..].contains(&found) {
                            self.followed.push(found);
                        }
                    }
                }
                self.followed[own..].sort_unstable();
                self.followed_of.push(Span::new(own, self.followed.len()));
            }
            start += of_class.len();
        }
    }

    fn find_uses(&mut self, context: Context<'_>, profile: &Profile, one_queue: bool) {
        let host = context.schedule.host();
        let default_class = MemoryClassId::new(0);
        let host_class = profile.memory.iter().position(|m| m.name.contains("host"));
        let lazy_class = profile.memory.iter().position(|m| m.name == LAZY_MEMORY);
        let [host_class, lazy_class] = [host_class, lazy_class].map(|at| at.map_or(default_class, MemoryClassId::new));
        let lanes = context.schedule.queues + 1;
        self.index.refill(None, context.shapes.len());
        self.placements.clear();
        self.used_by_host.clear();
        self.seen.refill(false, context.facts.subresources.count());
        self.uses.clear();
        for (at, scheduled) in context.schedule.passes.iter_ids() {
            crate::cancel::poll();
            for access in context.accesses(at) {
                let memory = context.facts.memory[access.resource];
                let physical = scheduled.physical;
                let index = match self.index[memory] {
                    Some(index) => index,
                    None if context.has_edges(memory) || context.is_fresh(memory) => continue,
                    None => {
                        let index = self.placements.push(Placement {
                            memory,
                            class: default_class,
                            offset: 0,
                            size: context.shapes[memory].bytes,
                            held: 0,
                            physical_passes: [physical; 2],
                            transient_attachment: context.is_image(memory),
                        });
                        self.index[memory] = Some(index);
                        self.used_by_host.push(false);
                        if !one_queue {
                            self.uses.resize(self.placements.len() * lanes, None);
                        }
                        index
                    }
                };
                let placement = &mut self.placements[index];
                placement.physical_passes[1] = physical;
                placement.transient_attachment &= placement.physical_passes[0] == physical
                    && is_drawn(context, access)
                    && (access.effect == Effect::Replace
                        || self.seen.slice(access.subresources).iter().all(|seen| *seen));
                self.seen.slice_mut(access.subresources).fill(true);
                if !one_queue {
                    self.used_by_host[index] |= scheduled.queue == host;
                    let used = &mut self.uses[index.index() * lanes + scheduled.queue.index()];
                    *used = Some([used.map_or(at, |[first, _]| first), at]);
                }
            }
        }
        let end = context.schedule.physical_passes.next_id();
        for &root in context.graph.roots() {
            if let Some(index) = self.index[context.facts.memory[root]] {
                let placement = &mut self.placements[index];
                placement.physical_passes[1] = end;
                placement.transient_attachment = false;
            }
        }
        for (placement, &by_host) in self.placements.iter_mut().zip(&self.used_by_host) {
            placement.class = match by_host {
                true => host_class,
                false if placement.transient_attachment => lazy_class,
                false => default_class,
            };
        }
        self.placements.as_vec_mut().sort_unstable_by_key(|p| (p.class, p.memory));
        self.row.clear();
        for (at, placement) in self.placements.iter_ids() {
            let before = self.index[placement.memory].replace(at);
            self.row.push(before.expect("what is placed has an index"));
        }
    }

    /// Whether a memory is an attachment of one render pass, neither loaded nor stored.
    pub(crate) fn is_transient_attachment(&self, memory: ResourceId) -> bool {
        self.index[memory].is_some_and(|index| self.placements[index].transient_attachment)
    }

    /// Memories whose bytes a placement reuses, and whether it does so from the frame before.
    pub(crate) fn followed(&self, placement: PlacementId) -> &[(PlacementId, bool)] {
        &self.followed[self.followed_of[placement].range()]
    }
}

/// Whether a memory is an image of which nobody uses some mip, layer or aspect.
fn is_used_in_part(context: Context<'_>, used: &IdVec<SubresourceId, bool>, memory: ResourceId) -> bool {
    context.is_image(memory) && !used.slice(context.facts.subresources.of(memory)).iter().all(|used| *used)
}

/// Whether an access is one of tiles: an attachment, drawn to, tested or read in place. What samples are resolved to is
/// written to memory.
fn is_drawn(context: Context<'_>, access: &ResolvedAccess) -> bool {
    declared_of(context.graph, access)
        .is_some_and(|declared| declared.usage.is_attachment() && declared.usage != Usage::ResolveAttachment)
}

/// Where buffers and images share an arena, images hold whole pages of the granularity (Vulkan 1.3, "Buffer-Image
/// Granularity": a buffer and an image in one page alias each other, although they share no byte); whether that made
/// any larger.
fn separate_kinds(items: &mut [Item], placements: &[Placement], context: Context<'_>, granularity: u64) -> bool {
    let image = |p: &Placement| matches!(context.shapes[p.memory].kind, PlanKind::Image { .. });
    let images = placements.iter().filter(|p| image(p)).count();
    if images == 0 || images == placements.len() {
        return false;
    }
    let mut padded = false;
    for (item, placement) in items.iter_mut().zip(placements) {
        if image(placement) {
            item.align = item.align.max(granularity);
            item.size = item.size.next_multiple_of(granularity);
            padded |= item.size > placement.size;
        }
    }
    padded
}

/// Most bytes alive at once, padding aside.
fn most_live(items: &[Item], placements: &[Placement], change: &mut Vec<(u32, i64)>) -> u64 {
    change.clear();
    for (item, placement) in items.iter().zip(placements) {
        change.push((item.first, placement.size as i64));
        change.push((item.last + 1, -(placement.size as i64)));
    }
    change.sort_unstable();
    let (mut live, mut most) = (0i64, 0);
    for &(_, bytes) in change.iter() {
        live += bytes;
        most = live.max(most);
    }
    most as u64
}
