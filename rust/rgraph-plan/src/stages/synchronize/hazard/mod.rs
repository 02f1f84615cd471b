//! The walk over all uses in linear order that asks for barriers: what each use must follow, on its own queue by a
//! barrier, on others by the waits that are there already, in which layout it finds its subresource, and whose it is.

mod after;
mod ask;
mod first_use;

use super::batch::Batches;
use super::call::{About, CallSite, Calls, Source};
use super::clock::{Clocks, Knowledge};
use super::foreign::ForeignUses;
use super::read_group::{Frame, NONE, ReadGroups};
use crate::access::{Accesses, Layout, Stages};
use crate::resource::ResourceId;
use crate::stages::resolve::ResolvedAccess;
use crate::stages::resolve::meaning::Effect;
use crate::stages::transient::Transients;

/// The stages that work on one texel of the framebuffer at a time.
const FRAMEBUFFER_SPACE: Stages = Stages::FRAGMENT_SHADER
    .union(Stages::EARLY_FRAGMENT_TESTS)
    .union(Stages::LATE_FRAGMENT_TESTS)
    .union(Stages::COLOR_ATTACHMENT_OUTPUT);

/// A use whose barrier is the runtime's, before the frame.
const ENTRY: u32 = NONE - 1;

/// One queue's uses of a subresource within a read group.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// The queue.
    pub queue: u8,
    /// Whether one of them may be switched off.
    pub conditional: bool,
    /// The first one, by position in the linear order.
    first: u32,
    /// The last one.
    pub last: u32,
    /// Their stages.
    pub stages: Stages,
    /// Their access kinds.
    pub access: Accesses,
    /// Of those before the physical pass of the last one: stages, and the last of them, if there are any.
    outer_stages: Stages,
    outer_last: u32,
    /// The barrier that lets them see the subresource, [`NONE`] or [`ENTRY`].
    barrier: u32,
    next: u32,
}

/// What the walk knows of a subresource.
#[derive(Clone, Copy, Debug)]
pub struct State {
    read_group: u32,
    /// Its layout.
    pub layout: Layout,
    /// The family that owns it, where one does.
    pub family: u32,
    /// Uses of this read group.
    uses: u32,
    /// Uses of the one before.
    before: u32,
    /// The barrier on the producer's queue of the write before, if the layout was changed there.
    pub producer_barrier: u32,
    initializer: u8,
    /// The last use on a GPU queue, in the list of uses.
    owner: u32,
    /// The use that was last in the order of the schedule.
    last_visit: u32,
    last_physical: u32,
    /// How the frame first uses it, if it is there before.
    pub entry: Option<Entry>,
}

/// How a frame first uses a subresource that is there before it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The queue.
    pub queue: u8,
    /// Stages up to the first write or change of layout.
    pub stages: Stages,
    /// Access kinds.
    pub access: Accesses,
    /// Layout.
    pub layout: Layout,
}

/// The first use of a placed subresource: what the frame before left there is known only when the walk is done.
#[derive(Clone, Copy, Debug)]
pub struct First {
    /// The use, by position in the linear order.
    pub at: u32,
    /// Its stages.
    pub stages: Stages,
    /// Its access kinds.
    pub access: Accesses,
    /// The placement, or [`NONE`] for what has edges.
    pub placement: u32,
    /// The memory.
    pub memory: ResourceId,
    /// The subresource.
    pub subresource: u32,
    /// The barrier to widen, or [`NONE`].
    pub barrier: u32,
    /// Physical pass before which the barrier's call is recorded.
    pub physical: u32,
}

/// How some uses end: per queue, for those who follow.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// The queue.
    pub queue: u8,
    /// The last use there, by position in the linear order.
    pub last: u32,
    /// Stages.
    pub stages: Stages,
    /// Writes among the accesses.
    pub writes: Accesses,
}

/// Everything that the walk makes.
#[derive(Default, Debug)]
pub struct Hazards {
    /// Barriers and their calls.
    pub calls: Calls,
    /// By subresource.
    pub states: Vec<State>,
    /// By use, in the order of the schedule: whether what it leaves is needed later.
    pub kept: Vec<bool>,
    /// First uses, to be completed by what the frame before left.
    pub firsts: Vec<First>,
    /// The call before each physical pass, or [`NONE`].
    pub before_physical: Vec<u32>,
    /// The call at the end of each batch, or [`NONE`].
    pub at_end: Vec<u32>,
    /// The call behind that one, or [`NONE`].
    pub behind_end: Vec<u32>,
    /// The call within a render pass before each scheduled pass, or [`NONE`].
    pub within: Vec<u32>,
    /// Knowledge of queues, as far as the walk has come.
    pub knowledge: Knowledge,
    uses: Vec<Used>,
    open: Vec<u32>,
    left: Vec<Left>,
    /// By placement: what its predecessors of this frame left, in `left`; gathered at its first use.
    handed: Vec<Option<crate::id::Span>>,
    extra: usize,
    after: usize,
}

/// What the walk reads.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Declaration, facts, schedule.
    pub frame: Frame<'a>,
    /// Read groups.
    pub read_groups: &'a ReadGroups,
    /// Clocks.
    pub clocks: &'a Clocks,
    /// Batches.
    pub batches: &'a Batches,
    /// Waits for the other users of imports.
    pub foreign: &'a ForeignUses,
    /// Placements.
    pub transients: &'a Transients,
    /// What `after` says: positions in the linear order, `(later, earlier)`, sorted.
    pub after: &'a [(u32, u32)],
}

/// What a use must follow.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    /// On its own queue, in earlier physical passes.
    stages: Stages,
    writes: Accesses,
    /// On its own queue, in its own render pass.
    near_stages: Stages,
    near_writes: Accesses,
    /// Whether something on another queue is waited for.
    foreign: bool,
    conditional: bool,
    /// First physical pass before which a barrier may stand.
    earliest: u32,
    latest_source: Option<u32>,
    from: Option<u32>,
    from_resource: Option<ResourceId>,
}

impl Need {
    /// Where it begins on its own queue.
    fn source(&self) -> Source {
        self.latest_source.map_or(Source::WHOLE, |physical| Source { physical, splits: true })
    }
}

/// One use of one subresource.
#[derive(Clone, Copy)]
struct Here<'a> {
    at: u32,
    queue: u8,
    physical: u32,
    access: &'a ResolvedAccess,
    subresource: usize,
    memory: ResourceId,
    read_group: u32,
    conditional: bool,
}

impl Hazards {
    /// Walks a schedule; waits get the stages that rely on them.
    pub fn walk(&mut self, scene: Scene<'_>, waits: &mut [Stages]) {
        self.start(scene);
        let mut visit = 0;
        for (at, scheduled) in scene.frame.schedule.passes.iter().enumerate() {
            crate::cancel::poll();
            let at = at as u32;
            self.knowledge.reach(scene.clocks, at, scheduled.queue);
            if self.before_physical[scheduled.physical as usize] != NONE {
                self.open[usize::from(scheduled.queue)] = scheduled.physical;
            }
            self.rely_on_extra(scene, at, waits);
            let pass = &scene.frame.facts.passes[scheduled.pass];
            for access in scene.frame.accesses(at as usize) {
                let memory = scene.frame.facts.memory[access.resource];
                let either = scene.frame.facts.reads_either(scene.frame.graph, access);
                let conditional = pass.conditional.is_some() || either;
                for subresource in access.subresources() {
                    let read_group = scene.read_groups.of[visit];
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
                    self.keep(here, visit as u32);
                    if self.states[subresource].read_group == read_group {
                        self.join(scene, here, waits);
                    } else {
                        self.begin(scene, here, waits);
                    }
                    visit += 1;
                }
            }
            self.order_after(scene, at, waits);
        }
        self.keep_what_outlives(scene.frame);
    }

    /// What roots and edges hold at the end is looked at by the caller or the next frame.
    fn keep_what_outlives(&mut self, frame: Frame<'_>) {
        for (id, &memory) in frame.facts.memory.iter_ids() {
            if frame.graph.is_root(id) || id == memory && frame.has_edges(memory) {
                for subresource in frame.facts.subresources.of(memory).range() {
                    if let Some(kept) = self.kept.get_mut(self.states[subresource].last_visit as usize) {
                        *kept = true;
                    }
                }
            }
        }
    }

    fn start(&mut self, scene: Scene<'_>) {
        let frame = scene.frame;
        self.calls.clear();
        self.uses.clear();
        self.firsts.clear();
        self.left.clear();
        self.extra = 0;
        self.after = 0;
        self.states.clear();
        let blank = State {
            read_group: NONE,
            layout: Layout::Undefined,
            family: NONE,
            uses: NONE,
            before: NONE,
            producer_barrier: NONE,
            initializer: 0,
            owner: NONE,
            last_visit: NONE,
            last_physical: NONE,
            entry: None,
        };
        self.states.resize(frame.facts.subresources.count(), blank);
        self.kept.clear();
        self.kept.resize(scene.read_groups.of.len(), false);
        let refill = |calls: &mut Vec<u32>, count: usize| {
            calls.clear();
            calls.resize(count, NONE);
        };
        refill(&mut self.before_physical, frame.schedule.physical_passes.len());
        refill(&mut self.at_end, scene.batches.cuts.len());
        refill(&mut self.behind_end, scene.batches.cuts.len());
        refill(&mut self.within, frame.schedule.passes.len());
        refill(&mut self.open, frame.schedule.queues + 1);
        self.handed.clear();
        self.handed.resize(scene.transients.placements.len(), None);
        self.knowledge.start(scene.clocks);
    }

    /// A scheduled pass that was made to follow another one lets its stages rely on the wait.
    fn rely_on_extra(&mut self, scene: Scene<'_>, at: u32, waits: &mut [Stages]) {
        while let Some(&(later, earlier)) = scene.read_groups.extra.get(self.extra).filter(|(later, _)| *later <= at) {
            self.extra += 1;
            let (scheduled, source) =
                (scene.frame.schedule.passes[later as usize], scene.frame.schedule.passes[earlier as usize]);
            if scheduled.queue != source.queue {
                let stages = scene.frame.accesses(later as usize).iter().fold(Stages::empty(), |all, t| all | t.stages);
                self.rely(scene, scheduled.queue, source.queue, stages, waits);
            }
        }
    }

    /// `stages` of `queue` rely on what it knows of `of`; returns the physical pass that waits.
    fn rely(&self, scene: Scene<'_>, queue: u8, of: u8, stages: Stages, waits: &mut [Stages]) -> u32 {
        let (wait, scheduled) = self.knowledge.through(scene.clocks, queue, of);
        waits[wait as usize] |= stages;
        scene.frame.schedule.passes[scheduled as usize].physical
    }

    /// Notes whether the contents that the last use left are needed by this one.
    fn keep(&mut self, here: Here<'_>, visit: u32) {
        let state = &mut self.states[here.subresource];
        if state.last_visit != NONE && here.access.effect != Effect::Replace && state.last_physical != here.physical {
            self.kept[state.last_visit as usize] = true;
        }
        state.last_visit = visit;
        state.last_physical = here.physical;
    }

    /// Uses in a list.
    pub fn uses_of(&self, subresource: usize) -> impl Iterator<Item = Used> + '_ {
        self.list(self.states[subresource].uses)
    }

    /// The use of a subresource after which it may be left to another family: the last one or, where the host alone is
    /// last, the one before it, if that is on one queue.
    pub fn left_by(&self, subresource: usize, host: u8) -> Option<Used> {
        let last = self.uses_of(subresource).max_by_key(|used| used.last)?;
        if last.queue != host {
            return Some(last);
        }
        let mut before = self.list(self.states[subresource].before);
        let alone = self.uses_of(subresource).all(|used| used.queue == host);
        before.next().filter(|used| alone && used.queue != host && before.next().is_none())
    }

    fn list(&self, mut at: u32) -> impl Iterator<Item = Used> + '_ {
        std::iter::from_fn(move || {
            let used = *self.uses.get(at as usize)?;
            at = used.next;
            Some(used)
        })
    }

    /// What `here` must follow, from a list of uses.
    fn need(&mut self, scene: Scene<'_>, here: Here<'_>, list: u32, waits: &mut [Stages], need: &mut Need) {
        let mut at = list;
        while let Some(&used) = self.uses.get(at as usize) {
            let left = Left {
                queue: used.queue,
                last: used.last,
                stages: used.stages,
                writes: used.access & Accesses::WRITES,
            };
            self.follow(scene, here, left, waits, need);
            if used.queue == here.queue && used.outer_last != NONE {
                let outer = Left { last: used.outer_last, stages: used.outer_stages, ..left };
                self.follow(scene, here, outer, waits, need);
            }
            need.conditional |= used.conditional;
            at = used.next;
        }
    }

    fn follow(&mut self, scene: Scene<'_>, here: Here<'_>, left: Left, waits: &mut [Stages], need: &mut Need) {
        if left.queue != here.queue {
            let physical = self.rely(scene, here.queue, left.queue, here.access.stages, waits);
            need.foreign = true;
            need.earliest = need.earliest.max(physical);
        } else {
            let physical = scene.frame.schedule.passes[left.last as usize].physical;
            if physical == here.physical {
                // Uses of earlier physical passes are in this list too; within the render pass only these stages can
                // follow each other (Vulkan 1.3, "Framebuffer Region Dependencies").
                need.near_stages |= left.stages & FRAMEBUFFER_SPACE;
                need.near_writes |= left.writes;
            } else {
                need.stages |= left.stages;
                need.writes |= left.writes;
                need.earliest = need.earliest.max(physical + 1);
                need.latest_source = need.latest_source.max(Some(physical));
            }
        }
        need.from = need.from.max(Some(left.last));
    }

    fn push_use(&mut self, here: Here<'_>, barrier: u32, next: u32) -> u32 {
        let Here { queue, at, conditional, access, .. } = here;
        let (stages, kinds) = (access.stages, access.kinds);
        let (outer_stages, outer_last) = (Stages::empty(), NONE);
        self.uses.push(Used {
            queue,
            conditional,
            first: at,
            last: at,
            stages,
            access: kinds,
            outer_stages,
            outer_last,
            barrier,
            next,
        });
        self.uses.len() as u32 - 1
    }

    /// A further use of a read group.
    fn join(&mut self, scene: Scene<'_>, here: Here<'_>, waits: &mut [Stages]) {
        let state = self.states[here.subresource];
        let read_group = &scene.read_groups.read_groups[here.read_group as usize];
        let image = scene.frame.is_image(here.memory);
        let on_gpu = here.queue != scene.frame.schedule.host();
        let mut own = state.uses;
        while let Some(used) = self.uses.get(own as usize).filter(|used| used.queue != here.queue) {
            own = used.next;
        }
        let target = if image { read_group.layout_of(here.access.layout) } else { Layout::Undefined };
        if own != NONE {
            if state.layout != target {
                let mut need = Need::default();
                self.need(scene, here, state.uses, waits, &mut need);
                let barrier = self.change_layout(scene, here, need, state.layout, target);
                self.states[here.subresource].layout = target;
                self.uses[own as usize].barrier = barrier;
            } else {
                let barrier = self.let_see(scene, here, state, self.uses[own as usize].barrier, waits);
                self.uses[own as usize].barrier = barrier;
            }
            let used = &mut self.uses[own as usize];
            if scene.frame.schedule.passes[used.last as usize].physical != here.physical {
                (used.outer_stages, used.outer_last) = (used.stages, used.last);
            }
            used.last = here.at;
            used.stages |= here.access.stages;
            used.access |= here.access.kinds;
            used.conditional |= here.conditional;
            return;
        }
        let at_producer = read_group.producer == Some(here.queue) && state.producer_barrier != NONE;
        let barrier = if at_producer {
            self.calls.add_target(state.producer_barrier, here.access.stages, here.access.kinds);
            state.producer_barrier
        } else {
            let mut need = Need::default();
            self.follow_before(scene, here, state, waits, &mut need);
            self.rely_on_initializer(scene, here, state, waits);
            if !on_gpu {
                let written = self.list(state.before).any(|used| used.access.intersects(Accesses::WRITES));
                if read_group.moved || state.producer_barrier == NONE && (!written || self.changes_layout(state)) {
                    self.show_initializer_to_host(scene, here, state);
                    self.show_stored_to_host(scene, here, state);
                } else if state.producer_barrier == NONE {
                    self.show_to_host(scene, here, state.before);
                } else {
                    self.calls.add_target(state.producer_barrier, here.access.stages, here.access.kinds);
                }
                NONE
            } else if state.entry.is_some() && state.before == NONE {
                NONE
            } else {
                self.order_memory(scene, here, need)
            }
        };
        let uses = self.push_use(here, barrier, state.uses);
        let next = &mut self.states[here.subresource];
        next.uses = uses;
        if on_gpu && next.family == NONE {
            next.family = scene.frame.families[usize::from(here.queue)];
            next.owner = uses;
        }
    }

    /// Where the first use of a read group prepares the subresource, the others rely on it.
    fn rely_on_initializer(&mut self, scene: Scene<'_>, here: Here<'_>, state: State, waits: &mut [Stages]) {
        let read_group = &scene.read_groups.read_groups[here.read_group as usize];
        let frame = scene.frame;
        let prepared = here.access.group != 0 || frame.is_image(here.memory) || frame.has_edges(here.memory);
        if read_group.is_led(prepared) && state.initializer != here.queue {
            self.rely(scene, here.queue, state.initializer, here.access.stages, waits);
        }
    }

    /// Lets one more use see what others of its queue and read group see already; returns the barrier through which.
    fn let_see(&mut self, scene: Scene<'_>, here: Here<'_>, state: State, barrier: u32, waits: &mut [Stages]) -> u32 {
        match barrier {
            ENTRY => {
                let entry = self.states[here.subresource]
                    .entry
                    .as_mut()
                    .expect("only pieces with an entry are seen through it");
                entry.stages |= here.access.stages;
                entry.access |= here.access.kinds;
            }
            NONE => {
                let mut need = Need::default();
                self.follow_before(scene, here, state, waits, &mut need);
                self.rely_on_initializer(scene, here, state, waits);
                if here.queue != scene.frame.schedule.host() && !need.stages.is_empty() {
                    return self.order_memory(scene, here, need);
                }
            }
            // What is seen within a render pass is stored at its end: others see it behind a barrier of their own.
            inner if self.is_within_another_physical(scene, inner, here.physical) => {
                let own =
                    self.list(state.uses).find(|used| used.queue == here.queue).expect("it is seen on this queue");
                let mut need = Need::default();
                let writes = own.access & Accesses::WRITES;
                let left = Left { queue: own.queue, last: own.last, stages: own.stages, writes };
                self.follow(scene, here, left, waits, &mut need);
                return self.order_memory(scene, here, need);
            }
            barrier => {
                self.calls.add_target(barrier, here.access.stages, here.access.kinds);
                // A barrier about memory says nothing of what came from other queues: the waits do.
                if self.calls.barriers[barrier as usize].about == About::Memory {
                    self.follow_before(scene, here, state, waits, &mut Need::default());
                    self.rely_on_initializer(scene, here, state, waits);
                }
            }
        }
        barrier
    }

    pub(super) fn is_within_another_physical(&self, scene: Scene<'_>, barrier: u32, physical: u32) -> bool {
        let Some(call) = self.calls.barriers.get(barrier as usize).map(|barrier| barrier.call) else { return false };
        match self.calls.calls[call as usize].site {
            CallSite::Within(at) => scene.frame.schedule.passes[at as usize].physical != physical,
            _ => false,
        }
    }
}
