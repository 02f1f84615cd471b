//! Barrier calls: their places, and the barriers in each. A barrier goes into an earlier call if that call comes after
//! the barrier's source; a new call is made only if the source comes after the last call. So a queue has as few calls
//! as its order allows (greedy stabbing of intervals, optimal for a given order).
use crate::access::{Accesses, Layout, Stages};
use crate::id::IdVec;
use crate::plan::{BatchId, PlanPassId, Scope, Why};
use crate::resource::ResourceId;
use crate::stages::barriers::narrow::{chain, narrowed};
use crate::stages::ids::{BarrierId, CallId, PhysicalId};
use crate::stages::resolve::subresource::Subresource;

/// Where a call stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallSite {
    /// Before a physical pass.
    Before(PhysicalId),
    /// At the end of the batch that a physical pass is in.
    BatchEnd(BatchId),
    /// Within a render pass, before a scheduled pass.
    Within(PlanPassId),
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Where it stands.
    pub site: CallSite,
    memory: Option<BarrierId>,
}

/// Where a barrier's dependency begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Source {
    /// The physical pass of its queue after which it begins, if it is known.
    pub physical: Option<PhysicalId>,
    /// Whether the barrier may become an event that is set there. Not if it follows a semaphore wait or the run before,
    /// or is at the end of a batch or in a render pass.
    pub splits: bool,
    /// Whether it needs its first stages as they are, since it follows a semaphore wait by one of them.
    pub fixed: bool,
}

impl Source {
    /// The source of a barrier that is never split.
    pub(crate) const WHOLE: Self = Self { physical: None, splits: false, fixed: true };
}

/// Earlier work on the queue of a barrier that it comes after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Required {
    pub barrier: BarrierId,
    /// The physical pass that makes it, or the last one.
    pub last: PhysicalId,
    /// Whether that is in the run before.
    pub previous_run: bool,
    pub stages: Stages,
    /// The stages that write.
    pub writing: Stages,
    pub writes: Accesses,
}

/// Memory that a barrier names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum About {
    /// Memory in general.
    Memory,
    /// Part of a buffer, in an ownership transfer.
    Buffer(ResourceId, Subresource),
    /// Part of an image, from one layout to another.
    Image(ResourceId, Subresource, Layout, Layout),
}

/// One barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub call: CallId,
    /// Memory that it names.
    pub about: About,
    pub scope: Scope,
    /// Queue families of an ownership transfer, from and to.
    pub families: Option<[u32; 2]>,
    /// Why it is there.
    pub why: Why,
    /// Where its dependency begins.
    pub source: Source,
    /// Whether later uses rely on it too, besides the one that it was made for.
    joined: bool,
    /// Another barrier of its call about memory.
    next: Option<BarrierId>,
    /// Whether it may become part of another barrier of its call once the first scopes of both are complete.
    pub merges: bool,
}

impl Barrier {
    /// A barrier that no other one is joined with, without a transfer of ownership.
    fn new(call: CallId, source: Source, about: About, scope: Scope, why: Why) -> Self {
        Self { call, about, scope, families: None, why, source, joined: false, next: None, merges: false }
    }
}

/// Calls and barriers of a plan.
#[derive(Default, Debug)]
pub(crate) struct Calls {
    /// Calls in the order they were made.
    pub calls: IdVec<CallId, Call>,
    /// Barriers in the order they were made.
    pub barriers: IdVec<BarrierId, Barrier>,
    /// Whether barriers whose dependencies begin in different places stay apart, so that each can be an event.
    pub apart: bool,
    /// What barriers come after, as far as they may leave it to others.
    pub required: Vec<Required>,
    /// The release and the acquire of the last transfer of ownership.
    transfer: Option<[BarrierId; 2]>,
}

impl Calls {
    /// Forgets everything, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.barriers.clear();
        self.required.clear();
        self.transfer = None;
    }

    /// A new call.
    pub(crate) fn open(&mut self, site: CallSite) -> CallId {
        self.calls.push(Call { site, memory: None })
    }

    /// Adds a barrier about memory in general, or widens one of the same call with the same source, or the same
    /// destination. Returns it.
    pub(crate) fn memory(&mut self, call: CallId, source: Source, scope: Scope, why: Why) -> BarrierId {
        let apart = self.apart;
        let mut at = self.calls[call].memory;
        while let Some(id) = at {
            let known = &mut self.barriers[id];
            // With one side equal, the union of the others orders what the two ordered, and no pair besides. An event
            // is set in one place, so barriers that are to be events share that, too.
            let alike = same_source(known.scope, scope) || same_target(known.scope, scope);
            if alike && (!apart || known.source == source) {
                widen(&mut known.scope, scope);
                known.source.fixed |= source.fixed;
                return id;
            }
            at = known.next;
        }
        let next = self.calls[call].memory;
        let barrier = self.barriers.push(Barrier { next, ..Barrier::new(call, source, About::Memory, scope, why) });
        self.calls[call].memory = Some(barrier);
        barrier
    }

    /// The same for a barrier whose first scope is not complete yet: it is merged with another one later.
    pub(crate) fn memory_apart(&mut self, call: CallId, source: Source, scope: Scope, why: Why) -> BarrierId {
        if self.apart {
            return self.memory(call, source, scope, why);
        }
        self.barriers.push(Barrier { merges: true, ..Barrier::new(call, source, About::Memory, scope, why) })
    }

    /// Makes a barrier part of another one of its call, if they have the same first or the same second scope, or the
    /// same stages in both.
    pub(crate) fn merge(&mut self, barrier: BarrierId, into: BarrierId) -> bool {
        let [scope, known] = [barrier, into].map(|id| self.barriers[id].scope);
        let stages = |scope: Scope| (scope.src_stages, scope.dst_stages);
        let alike = same_source(known, scope) || same_target(known, scope) || stages(known) == stages(scope);
        if alike {
            widen(&mut self.barriers[into].scope, scope);
            self.barriers[barrier].scope = Scope::default();
        }
        alike
    }

    /// Notes what a barrier comes after.
    pub(crate) fn require(&mut self, required: Required) {
        if self.required.last() != Some(&required) {
            self.required.push(required);
        }
    }

    /// Adds a barrier about an image or a buffer, or lets the last one of the same call reach over the next
    /// subresource.
    pub(crate) fn about(
        &mut self,
        call: CallId,
        source: Source,
        about: About,
        scope: Scope,
        families: Option<[u32; 2]>,
        why: Why,
    ) -> BarrierId {
        let apart = self.apart;
        // The last one only: the subresources of a use come in order, so the neighbour of this one came just before.
        if let Some(id) = self.barriers.ids().next_back()
            && let last = &mut self.barriers[id]
            && last.call == call
            && last.scope == scope
            && last.families == families
            && (!apart || last.source == source)
            && let Some(joined) = joined(&last.about, &about)
        {
            last.about = joined;
            last.source.fixed |= source.fixed;
            id
        } else {
            self.barriers.push(Barrier { families, ..Barrier::new(call, source, about, scope, why) })
        }
    }

    /// Adds both halves of a transfer of ownership, each a call, its scope and its reason, or lets the last transfer
    /// reach over the next subresource. Both halves or neither: a release and its acquire name the same range (Vulkan
    /// 1.3, "Queue Family Ownership Transfer"). Returns the acquire.
    pub(crate) fn transfer(
        &mut self,
        about: About,
        families: [u32; 2],
        halves: [(CallId, Scope, Why); 2],
    ) -> BarrierId {
        let families = Some(families);
        if let Some(last) = self.transfer {
            let alike = last.iter().zip(&halves).all(|(id, (call, scope, _))| {
                let barrier = &self.barriers[*id];
                (barrier.call, barrier.scope, barrier.families) == (*call, *scope, families)
            });
            let both = last.map(|id| joined(&self.barriers[id].about, &about));
            if let ([Some(release), Some(acquire)], true) = (both, alike) {
                self.barriers[last[0]].about = release;
                self.barriers[last[1]].about = acquire;
                return last[1];
            }
        }
        let made = halves.map(|(call, scope, why)| {
            self.barriers.push(Barrier { families, ..Barrier::new(call, Source::WHOLE, about, scope, why) })
        });
        self.transfer = Some(made);
        made[1]
    }

    /// Leaves out stages that others of the same scope imply. Barriers between subpasses and ownership transfers keep
    /// all stages.
    pub(crate) fn narrow(&mut self) {
        for barrier in self.barriers.iter_mut().filter(|barrier| barrier.families.is_none()) {
            if !matches!(self.calls[barrier.call].site, CallSite::Within(_)) {
                barrier.scope = narrowed(barrier.scope);
            }
        }
    }

    /// Widens the first scopes of a barrier.
    pub(crate) fn add_source(&mut self, barrier: BarrierId, stages: Stages, access: Accesses) {
        let scope = &mut self.barriers[barrier].scope;
        scope.src_stages |= stages;
        scope.src_access |= access;
    }

    /// Widens the second scopes of a barrier, for a use that it was not made for.
    pub(crate) fn add_target(&mut self, barrier: BarrierId, stages: Stages, access: Accesses) {
        let barrier = &mut self.barriers[barrier];
        barrier.joined = true;
        barrier.scope.dst_stages |= stages;
        barrier.scope.dst_access |= access;
    }

    /// Whether a barrier, or the use that it was made for, whose stages are `own`, follows a wait that holds up `held`.
    /// If so, it is not split.
    pub(crate) fn follows_wait(&mut self, barrier: BarrierId, held: Stages, own: Stages) -> bool {
        let mut more = held;
        let before = self.barriers[barrier];
        self.follow_wait(barrier, &mut more, own);
        let follows = more == held;
        if !follows {
            self.barriers[barrier] = before;
        }
        follows
    }

    /// Makes a barrier follow a wait that holds up the stages `held`; `own` are those of the use that it was made for.
    /// One about memory need not, unless others rely on it: all that a signal follows is visible behind a wait for it
    /// (Vulkan 1.3, "Semaphore Waiting"), which holds up all stages of that use then. An event would be set before the
    /// wait, so the barrier is not split.
    pub(crate) fn follow_wait(&mut self, barrier: BarrierId, held: &mut Stages, own: Stages) {
        let barrier = &mut self.barriers[barrier];
        if barrier.about != About::Memory || barrier.joined {
            chain(held, &mut barrier.scope.src_stages, own);
            barrier.source.splits = false;
            barrier.source.fixed = true;
        } else {
            *held |= own;
        }
    }
}

fn same_source(a: Scope, b: Scope) -> bool {
    (a.src_stages, a.src_access) == (b.src_stages, b.src_access)
}

fn same_target(a: Scope, b: Scope) -> bool {
    (a.dst_stages, a.dst_access) == (b.dst_stages, b.dst_access)
}

fn widen(known: &mut Scope, scope: Scope) {
    known.src_stages |= scope.src_stages;
    known.src_access |= scope.src_access;
    known.dst_stages |= scope.dst_stages;
    known.dst_access |= scope.dst_access;
}

/// Two neighbouring parts as one, where they make a rectangle of mips and layers.
fn joined(a: &About, b: &About) -> Option<About> {
    let parts = |p: &Subresource, q: &Subresource| {
        if p.aspects != q.aspects {
            (p.mips == q.mips && p.layers == q.layers).then_some(Subresource { aspects: p.aspects | q.aspects, ..*p })
        } else if p.mips == q.mips && p.layers[1] == q.layers[0] {
            Some(Subresource { layers: [p.layers[0], q.layers[1]], ..*p })
        } else if p.layers == q.layers && p.mips[1] == q.mips[0] {
            Some(Subresource { mips: [p.mips[0], q.mips[1]], ..*p })
        } else {
            None
        }
    };
    match (a, b) {
        (About::Image(r, p, old, new), About::Image(s, q, old2, new2)) if r == s && old == old2 && new == new2 => {
            Some(About::Image(*r, parts(p, q)?, *old, *new))
        }
        (About::Buffer(r, p), About::Buffer(s, q)) if r == s && p.bytes[1] == q.bytes[0] => {
            Some(About::Buffer(*r, Subresource { bytes: [p.bytes[0], q.bytes[1]], ..*p }))
        }
        _ => None,
    }
}
