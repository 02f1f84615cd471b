//! The walk over all uses in linear order that asks for barriers: what each use must follow, on its own queue by a
//! barrier, on others by the waits that are there already, in which layout it finds its subresource, and whose it is.

mod after;
mod ask;
mod behind;
mod first_use;
mod need;
mod rely;

use super::call::{About, CallSite, Calls};
use super::narrow::{writes_of, writing};
use crate::access::{Accesses, Layout, Stages};
use crate::id::{Id, IdSpan, IdVec};
use crate::plan::{BatchId, PlanPassId};
use crate::resource::ResourceId;
use crate::stages::context::Context;
use crate::stages::ids::{
    BarrierId, CallId, LeftId, PhysicalId, PlacementId, ReadGroupId, SubresourceId, UseId, VisitId, WaitId,
};
use crate::stages::order::batch::Batches;
use crate::stages::order::clock::{Clocks, Knowledge};
use crate::stages::order::foreign::ForeignUses;
use crate::stages::order::read_group::ReadGroups;
use crate::stages::order::schedule::LaneId;
use crate::stages::resolve::ResolvedAccess;
use crate::stages::resolve::meaning::Effect;
use crate::stages::transient::Transients;
use behind::Behind;
use need::{Earlier, Need};

/// The stages that work on one texel of the framebuffer at a time.
const FRAMEBUFFER_SPACE: Stages = Stages::FRAGMENT_SHADER
    .union(Stages::EARLY_FRAGMENT_TESTS)
    .union(Stages::LATE_FRAGMENT_TESTS)
    .union(Stages::COLOR_ATTACHMENT_OUTPUT);

/// The stages of store operations (Vulkan 1.3, "Render Pass Store Operations").
const STORES: Stages = Stages::LATE_FRAGMENT_TESTS.union(Stages::COLOR_ATTACHMENT_OUTPUT);

/// One queue's uses of a subresource within a read group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub queue: LaneId,
    /// Whether one of them may be switched off.
    pub conditional: bool,
    /// The first one, by position in the linear order.
    first: PlanPassId,
    /// The last one.
    pub last: PlanPassId,
    /// Their stages.
    pub stages: Stages,
    /// Their access kinds.
    pub access: Accesses,
    /// The stages that write.
    writing: Stages,
    /// Stages of the uses in the last physical pass.
    inner_stages: Stages,
    /// Stages of the uses in earlier physical passes, and the last of these uses, if there are any.
    outer_stages: Stages,
    outer_last: Option<PlanPassId>,
    /// The barrier or wait that makes the subresource's contents visible to them.
    behind: Behind,
    next: Option<UseId>,
}

impl Used {
    /// All of them.
    fn whole(self) -> Left {
        let Self { queue, last, stages, writing, .. } = self;
        Left { queue, last, stages, writing, writes: self.access & Accesses::WRITES }
    }

    /// What they leave: those of the last physical pass, and those before, which other work may follow already.
    fn left(self) -> impl Iterator<Item = Left> {
        let Self { queue, outer_last, .. } = self;
        let left = |last, stages: Stages| {
            let writing = stages & self.writing;
            Left { queue, last, stages, writing, writes: self.access & writes_of(writing) }
        };
        let outer = outer_last.map(|last| left(last, self.outer_stages));
        std::iter::once(left(self.last, self.inner_stages)).chain(outer)
    }
}

/// State of a subresource during the walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubresourceState {
    read_group: Option<ReadGroupId>,
    pub layout: Layout,
    /// The queue family that owns it; `None` before the first use on a GPU queue.
    pub family: Option<u32>,
    /// Uses of this read group.
    uses: Option<UseId>,
    /// Uses of the one before.
    before: Option<UseId>,
    /// The barrier on the producer's queue of the write before, if the layout was changed there.
    pub producer_barrier: Option<BarrierId>,
    initializer: LaneId,
    /// The last use on a GPU queue, in the list of uses.
    owner: Option<UseId>,
    /// The use that was last in the order of the schedule.
    last_visit: Option<VisitId>,
    last_physical: Option<PhysicalId>,
    /// Its first use in the frame, if its state outlives frames.
    pub entry: Option<Entry>,
}

/// First use in a frame of a subresource whose state outlives frames; the runtime's initial barrier covers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub queue: LaneId,
    /// Stages up to the first write or change of layout.
    pub stages: Stages,
    /// Access kinds.
    pub access: Accesses,
    pub layout: Layout,
}

/// First use of a placed subresource. It must follow the last uses of the same bytes in the frame before, which are
/// known only when the walk is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    /// The use, by position in the linear order.
    pub at: PlanPassId,
    pub stages: Stages,
    /// Its access kinds.
    pub access: Accesses,
    /// The placement; `None` for a memory with edges.
    pub placement: Option<PlacementId>,
    pub memory: ResourceId,
    pub subresource: SubresourceId,
    /// The barrier to widen, if there is one.
    pub barrier: Option<BarrierId>,
    /// Physical pass before which the barrier's call is recorded.
    pub physical: PhysicalId,
}

/// Last uses of some bytes on one queue, for the uses that must follow them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub queue: LaneId,
    /// The last use there, by position in the linear order.
    pub last: PlanPassId,
    pub stages: Stages,
    /// The stages that write.
    pub writing: Stages,
    /// Writes among the accesses.
    pub writes: Accesses,
}

/// Results of the walk.
#[derive(Default, Debug)]
pub(crate) struct Hazards {
    /// Barriers and their calls.
    pub calls: Calls,
    /// By subresource.
    pub states: IdVec<SubresourceId, SubresourceState>,
    /// By use, in the order of the schedule: true if a later use needs its contents.
    pub kept: IdVec<VisitId, bool>,
    /// First uses, to be completed with the last uses in the frame before.
    pub firsts: Vec<First>,
    /// The call before each physical pass.
    pub before_physical: IdVec<PhysicalId, Option<CallId>>,
    /// The call at the end of each batch.
    pub at_end: IdVec<BatchId, Option<CallId>>,
    /// The call behind that one.
    pub behind_end: IdVec<BatchId, Option<CallId>>,
    /// The call within a render pass before each scheduled pass.
    pub within: IdVec<PlanPassId, Option<CallId>>,
    /// Knowledge of queues, as far as the walk has come.
    pub knowledge: Knowledge,
    uses: IdVec<UseId, Used>,
    open: Vec<Option<PhysicalId>>,
    left: IdVec<LeftId, Left>,
    /// By placement: last uses of its previous owners in this frame, in `left`; gathered at its first use.
    handed: IdVec<PlacementId, Option<IdSpan<LeftId>>>,
    gathered: usize,
    after: usize,
    /// By pass without accesses: the stages of its queue that `after` puts before it.
    awaited: IdVec<PlanPassId, Stages>,
}

/// Inputs of the walk.
#[derive(Clone, Copy)]
pub(crate) struct HazardInputs<'a> {
    /// Declaration, facts, schedule.
    pub context: Context<'a>,
    pub read_groups: &'a ReadGroups,
    pub clocks: &'a Clocks,
    pub batches: &'a Batches,
    /// Waits for the other users of imports.
    pub foreign: &'a ForeignUses,
    /// Placements.
    pub transients: &'a Transients,
    /// Orderings declared by `after`: positions in the linear order, `(later, earlier)`, sorted.
    pub after: &'a [(PlanPassId, PlanPassId)],
}

/// One use of one subresource.
#[derive(Clone, Copy)]
struct Here<'a> {
    at: PlanPassId,
    queue: LaneId,
    physical: PhysicalId,
    access: &'a ResolvedAccess,
    subresource: SubresourceId,
    memory: ResourceId,
    read_group: ReadGroupId,
    conditional: bool,
}

impl Hazards {
    /// Walks a schedule; waits get the stages that rely on them.
    pub(crate) fn walk(&mut self, inputs: HazardInputs<'_>, waits: &mut IdVec<WaitId, Stages>) {
        self.start(inputs);
        let mut visits = inputs.read_groups.of.iter_ids();
        for (at, scheduled) in inputs.context.schedule.passes.iter_ids() {
            crate::cancel::poll();
            self.knowledge.reach(inputs.clocks, at, scheduled.queue);
            // A pass of another queue may have opened this call before (`change_at_producer`). From here on it is the
            // last call of this queue, so `place` may add barriers to it.
            if self.before_physical[scheduled.physical].is_some() {
                self.open[scheduled.queue.index()] = Some(scheduled.physical);
            }
            self.rely_on_gathered(inputs, at, waits);
            let pass = &inputs.context.facts.passes[scheduled.pass];
            for access in inputs.context.accesses(at) {
                let memory = inputs.context.facts.memory[access.resource];
                let either = inputs.context.facts.reads_either(inputs.context.graph, access);
                let conditional = pass.conditional.is_some() || either;
                for (subresource, (visit, &read_group)) in access.subresources.ids().zip(&mut visits) {
                    let here = Here {
                        at,
                        queue: scheduled.queue,
                        physical: scheduled.physical,
                        access,
                        subresource,
                        memory,
                        read_group,
                        conditional,
                    };
                    self.keep(here, visit);
                    if self.states[subresource].read_group == Some(read_group) {
                        self.join(inputs, here, waits);
                    } else {
                        self.begin(inputs, here, waits);
                    }
                }
            }
            self.order_after(inputs, at, waits);
        }
        self.keep_what_outlives(inputs.context);
    }

    /// Keeps the final contents of roots and edges: the caller or the next frame reads them.
    fn keep_what_outlives(&mut self, context: Context<'_>) {
        for (id, &memory) in context.facts.memory.iter_ids() {
            if context.graph.is_root(id) || id == memory && context.has_edges(memory) {
                for subresource in context.facts.subresources.of(memory).ids() {
                    if let Some(visit) = self.states[subresource].last_visit {
                        self.kept[visit] = true;
                    }
                }
            }
        }
    }

    fn start(&mut self, inputs: HazardInputs<'_>) {
        let context = inputs.context;
        self.calls.clear();
        self.uses.clear();
        self.firsts.clear();
        self.left.clear();
        self.gathered = 0;
        self.after = 0;
        let blank = SubresourceState {
            read_group: None,
            layout: Layout::Undefined,
            family: None,
            uses: None,
            before: None,
            producer_barrier: None,
            initializer: LaneId::FIRST,
            owner: None,
            last_visit: None,
            last_physical: None,
            entry: None,
        };
        self.states.refill(blank, context.facts.subresources.count());
        self.kept.refill(false, inputs.read_groups.of.len());
        self.before_physical.refill(None, context.schedule.physical_passes.len());
        self.at_end.refill(None, inputs.batches.cuts.len());
        self.behind_end.refill(None, inputs.batches.cuts.len());
        self.within.refill(None, context.schedule.passes.len());
        self.awaited.refill(Stages::empty(), context.schedule.passes.len());
        self.open.clear();
        self.open.resize(context.schedule.queues + 1, None);
        self.handed.refill(None, inputs.transients.placements.len());
        self.knowledge.start(inputs.clocks);
    }

    /// Marks the previous use as kept if this one needs its contents.
    fn keep(&mut self, here: Here<'_>, visit: VisitId) {
        let state = &mut self.states[here.subresource];
        // What replaces contents needs none, and within a physical pass an attachment hands them on without a store.
        if let Some(last) = state.last_visit
            && here.access.effect != Effect::Replace
            && state.last_physical != Some(here.physical)
        {
            self.kept[last] = true;
        }
        state.last_visit = Some(visit);
        state.last_physical = Some(here.physical);
    }

    /// Uses in a list.
    pub(crate) fn uses_of(&self, subresource: SubresourceId) -> impl Iterator<Item = Used> + '_ {
        self.list(self.states[subresource].uses)
    }

    /// The use of a subresource after which it may be left to another family: the last one or, where the host alone is
    /// last, the one before it, if that is on one queue.
    pub(crate) fn left_by(&self, subresource: SubresourceId, host: LaneId) -> Option<Used> {
        let last = self.uses_of(subresource).max_by_key(|used| used.last)?;
        if last.queue != host {
            return Some(last);
        }
        let mut before = self.list(self.states[subresource].before);
        let alone = self.uses_of(subresource).all(|used| used.queue == host);
        before.next().filter(|used| alone && used.queue != host && before.next().is_none())
    }

    fn list(&self, mut at: Option<UseId>) -> impl Iterator<Item = Used> + '_ {
        std::iter::from_fn(move || {
            let used = self.uses[at?];
            at = used.next;
            Some(used)
        })
    }

    /// Adds the uses of a list to those that `here` must follow.
    fn need(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, list: Option<UseId>, need: &mut Need) {
        let mut at = list;
        while let Some(id) = at {
            let used = self.uses[id];
            used.left().for_each(|left| self.follow(inputs, here, left, need));
            need.conditional |= used.conditional;
            at = used.next;
        }
    }

    fn follow(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, left: Left, need: &mut Need) {
        // A call before the pass that waits would be in an earlier batch: nothing would order its barrier after the
        // wait (Vulkan 1.3, "Semaphore Waiting").
        if left.queue != here.queue {
            let (_, waiting) = self.knowledge.through(inputs.clocks, here.queue, left.queue);
            need.foreign |= left.queue.bit();
            need.earliest = need.earliest.max(Some(inputs.context.schedule.passes[waiting].physical));
        } else {
            let physical = inputs.context.schedule.passes[left.last].physical;
            if physical == here.physical {
                // Uses of earlier physical passes are in this list too; within the render pass only these stages can
                // follow each other (Vulkan 1.3, "Framebuffer Region Dependencies").
                need.near_stages |= left.stages & FRAMEBUFFER_SPACE;
                need.near_writes |= left.writes;
            } else {
                // The first scope of a barrier has only commands recorded before it (Vulkan 1.3, "Pipeline Barriers"),
                // so its call comes after that physical pass.
                need.add(Earlier { last: physical, stages: left.stages, writing: left.writing, writes: left.writes });
                need.earliest = need.earliest.max(Some(PhysicalId::new(physical.index() + 1)));
                need.latest_source = need.latest_source.max(Some(physical));
            }
        }
        need.from = need.from.max(Some(left.last));
    }

    fn push_use(&mut self, here: Here<'_>, behind: Behind, next: Option<UseId>) -> UseId {
        let Here { queue, at, conditional, access, .. } = here;
        let (stages, kinds) = (access.stages, access.kinds);
        let (outer_stages, outer_last) = (Stages::empty(), None);
        self.uses.push(Used {
            queue,
            conditional,
            first: at,
            last: at,
            stages,
            access: kinds,
            writing: writing(access.stages, access.kinds),
            inner_stages: stages,
            outer_stages,
            outer_last,
            behind,
            next,
        })
    }

    /// A further use of a read group.
    fn join(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, waits: &mut IdVec<WaitId, Stages>) {
        let state = self.states[here.subresource];
        let read_group = &inputs.read_groups.read_groups[here.read_group];
        let image = inputs.context.is_image(here.memory);
        let on_gpu = here.queue != inputs.context.schedule.host();
        let mut own = state.uses;
        while let Some(used) = own.map(|own| self.uses[own]).filter(|used| used.queue != here.queue) {
            own = used.next;
        }
        let target = if image { read_group.layout_of(here.access.layout) } else { Layout::Undefined };
        if let Some(own) = own {
            // Uses of one queue in different layouts (`serial_layouts`): the transition is a write, which all uses so
            // far must precede (Vulkan 1.3, "Image Layout Transitions"), although all of them read.
            if state.layout != target {
                let mut need = Need::default();
                self.need(inputs, here, state.uses, &mut need);
                let barrier = self.change_layout(inputs, here, need, [state.layout, target], waits);
                self.states[here.subresource].layout = target;
                self.uses[own].behind = Behind::Barrier(barrier);
            } else {
                self.uses[own].behind = self.let_see(inputs, here, state, self.uses[own].behind, waits);
            }
            let used = &mut self.uses[own];
            if inputs.context.schedule.passes[used.last].physical != here.physical {
                (used.outer_stages, used.outer_last) = (used.stages, Some(used.last));
                used.inner_stages = Stages::empty();
            }
            used.last = here.at;
            used.stages |= here.access.stages;
            used.inner_stages |= here.access.stages;
            used.writing |= writing(here.access.stages, here.access.kinds);
            used.access |= here.access.kinds;
            used.conditional |= here.conditional;
            return;
        }
        let at_producer = state.producer_barrier.filter(|_| read_group.producer == Some(here.queue));
        // On the queue of the write the transition is already recorded, before this pass or at the end of an earlier
        // batch: this use only joins its second scope. On other queues a wait is between.
        let behind = if let Some(barrier) = at_producer {
            self.calls.add_target(barrier, here.access.stages, here.access.kinds);
            Behind::Barrier(barrier)
        } else {
            let mut need = Need::default();
            self.follow_before(inputs, here, state, &mut need);
            self.rely_on_need(inputs, here, &need, waits);
            self.rely_on_initializer(inputs, here, state, waits);
            if !on_gpu {
                // Waiting for a signal makes no write visible to the host (Vulkan 1.3, "Fences"): a barrier on the
                // queue of the write must name it. Which one depends on the last write: an acquire or the transition of
                // the first use, a transition at the producer, else the writes before.
                let written = self.list(state.before).any(|used| used.access.intersects(Accesses::WRITES));
                if read_group.moved || state.producer_barrier.is_none() && (!written || self.changes_layout(state)) {
                    self.show_initializer_to_host(inputs, here, state);
                    self.show_stored_to_host(inputs, here, state);
                } else if let Some(barrier) = state.producer_barrier {
                    self.calls.add_target(barrier, here.access.stages, here.access.kinds);
                } else {
                    self.show_to_host(inputs, here, state.before);
                }
                Behind::Nothing
            } else if state.entry.is_some() && state.before.is_none() {
                // The queue of the first use has the runtime's initial barrier, and this one waits for that use.
                Behind::Nothing
            } else {
                self.order_memory(inputs, here, need).into()
            }
        };
        let uses = Some(self.push_use(here, behind, state.uses));
        let next = &mut self.states[here.subresource];
        next.uses = uses;
        if on_gpu && next.family.is_none() {
            next.family = Some(inputs.context.families[here.queue]);
            next.owner = uses;
        }
    }

    /// Lets one more use see what others of its queue and read group see already; returns the barrier through which.
    fn let_see(
        &mut self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        state: SubresourceState,
        behind: Behind,
        waits: &mut IdVec<WaitId, Stages>,
    ) -> Behind {
        match behind {
            // The runtime records this barrier before the frame, with the stages that the edge names: one more stage
            // costs no call.
            Behind::Entry => {
                let entry = self.states[here.subresource]
                    .entry
                    .as_mut()
                    .expect("only pieces with an entry are seen through it");
                entry.stages |= here.access.stages;
                entry.access |= here.access.kinds;
            }
            Behind::Nothing => {
                let mut need = Need::default();
                self.follow_before(inputs, here, state, &mut need);
                self.rely_on_need(inputs, here, &need, waits);
                self.rely_on_initializer(inputs, here, state, waits);
                // The first use was in the render pass of the write, where rasterization order is enough. This one is
                // behind that render pass and needs a barrier.
                if here.queue != inputs.context.schedule.host() && !need.stages.is_empty() {
                    return self.order_memory(inputs, here, need).into();
                }
            }
            // What is seen within a render pass is stored at its end: others see it behind a barrier of their own.
            Behind::Barrier(inner) if self.is_within_another_physical(inputs, Some(inner), here.physical) => {
                let own =
                    self.list(state.uses).find(|used| used.queue == here.queue).expect("it is seen on this queue");
                let mut need = Need::default();
                self.follow(inputs, here, own.whole(), &mut need);
                return self.order_memory(inputs, here, need).into();
            }
            Behind::Barrier(barrier) => {
                self.calls.add_target(barrier, here.access.stages, here.access.kinds);
                // A barrier about memory says nothing of what came from other queues: the waits do.
                if self.calls.barriers[barrier].about == About::Memory {
                    let mut need = Need::default();
                    self.follow_before(inputs, here, state, &mut need);
                    self.rely_on_need(inputs, here, &need, waits);
                    self.rely_on_initializer(inputs, here, state, waits);
                }
            }
        }
        behind
    }

    pub(super) fn is_within_another_physical(
        &self,
        inputs: HazardInputs<'_>,
        barrier: Option<BarrierId>,
        physical: PhysicalId,
    ) -> bool {
        let Some(barrier) = barrier else { return false };
        match self.calls.calls[self.calls.barriers[barrier].call].site {
            CallSite::Within(at) => inputs.context.schedule.passes[at].physical != physical,
            _ => false,
        }
    }
}
