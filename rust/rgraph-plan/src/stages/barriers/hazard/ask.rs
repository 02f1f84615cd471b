//! Barriers that the walk needs, each put into a call: memory barriers, layout transitions on the producer's queue or
//! here, ownership transfers, and visibility to the host.

use super::{Earlier, Hazards, Here, Left, Need, SubresourceState, Used};
use crate::access::{Accesses, Aspects, Layout, Load, Stages};
use crate::id::{Id, IdVec};
use crate::plan::{BatchId, Hazard, PlanPassId, Scope, Why};
use crate::resource::ResourceId;
use crate::stages::barriers::call::{About, CallSite, Required, Source};
use crate::stages::barriers::hazard::{First, HazardInputs};
use crate::stages::context::Context;
use crate::stages::ids::{BarrierId, CallId, PhysicalId, PlacementId, SubresourceId, UseId, WaitId};
use crate::stages::order::read_group::ReadGroup;
use crate::stages::order::schedule::LaneId;
use crate::stages::resolve::meaning::Effect;
use crate::stages::resolve::{ResolvedAccess, ResolvedAttachment};

impl Hazards {
    /// Whether the layout change before a read group must happen where the write before it was: others wait for that
    /// write and may begin before the read group's first use there.
    pub(super) fn at_producer(
        &self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        read_group: &ReadGroup,
        producer: LaneId,
    ) -> bool {
        // With the first use on the producer's queue, in the same batch as the write, an ordinary barrier before it
        // will do.
        let Some(write) = self.list(self.states[here.subresource].uses).find(|used| used.queue == producer) else {
            return false;
        };
        let passes = &inputs.context.schedule.passes;
        let batch = |at: PlanPassId| inputs.batches.batch_of(passes[at].physical);
        !read_group.first_producer.is_some_and(|first| first == here.at && batch(first) == batch(write.last))
    }

    /// Changes the layout on the queue of the write before: before the first use there if that is in the same
    /// batch, else at the batch's end.
    pub(super) fn change_at_producer(
        &mut self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        read_group: &ReadGroup,
        producer: LaneId,
        target: Layout,
    ) -> BarrierId {
        let state = self.states[here.subresource];
        let write =
            self.list(state.uses).find(|used| used.queue == producer).expect("the producer is the queue of the write");
        let passes = &inputs.context.schedule.passes;
        let physical = passes[write.last].physical;
        let batch = inputs.batches.batch_of(physical);
        let first = read_group.first_producer.map(|first| passes[first].physical);
        let call = match first.filter(|&first| first != physical && inputs.batches.batch_of(first) == batch) {
            Some(first) => self.call_before(first),
            None => self.call_at_end(batch),
        };
        // Other queues follow it through the batch's signal, whose first scope holds all commands before it (Vulkan
        // 1.3, "Semaphore Signaling").
        let mut scope = Scope {
            src_stages: write.stages,
            src_access: write.access & Accesses::WRITES,
            dst_stages: Stages::empty(),
            dst_access: Accesses::empty(),
        };
        if here.queue == producer || here.queue == inputs.context.schedule.host() {
            scope.dst_stages |= here.access.stages;
            scope.dst_access |= here.access.kinds;
        }
        let part = *inputs.context.facts.subresources.get(here.subresource);
        let about = About::Image(here.access.resource, part, state.layout, target);
        let why = self.why(here, Hazard::ReadAfterWrite, Some(write.last), None);
        self.calls.about(call, Source::WHOLE, about, scope, None, why)
    }

    /// Transfers a subresource from another queue family: a release at the end of the batch that used it last, an
    /// acquire here.
    pub(super) fn transfer(
        &mut self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        need: Need,
        (target, families): (Layout, [u32; 2]),
        waits: &mut IdVec<WaitId, Stages>,
    ) -> BarrierId {
        let context = inputs.context;
        let state = self.states[here.subresource];
        // The host owns nothing (Vulkan 1.3, "Queue Family Ownership Transfer"), so the last GPU queue before it
        // releases.
        let host = context.schedule.host();
        let last = self.list(state.uses).filter(|used| used.queue != host).max_by_key(|used| used.last);
        let last = last.unwrap_or_else(|| self.uses[state.owner.expect("what has a family was used by one")]);
        let part = *context.facts.subresources.get(here.subresource);
        let about = if context.is_image(here.memory) {
            About::Image(here.access.resource, part, state.layout, target)
        } else {
            About::Buffer(here.access.resource, part)
        };
        let mut release = Scope::default();
        for used in self.list(state.uses).filter(|used| used.queue == last.queue) {
            release.src_stages |= used.stages;
            release.src_access |= used.access & Accesses::WRITES;
        }
        release.src_stages |= last.stages;
        release.src_access |= last.access & Accesses::WRITES;
        // A release needs no second scope: the acquiring queue waits for the batch's signal (Vulkan 1.3, "Queue Family
        // Ownership Transfer"). Only uses by the host between release and acquire need one.
        for used in self.list(state.uses).filter(|used| used.queue == host) {
            release.dst_stages |= used.stages;
            release.dst_access |= used.access;
        }
        let batch = inputs.batches.batch_of(context.schedule.passes[last.last].physical);
        let release = (self.call_at_end(batch), release, self.why(here, Hazard::Release, Some(last.last), None));
        let (dst_stages, dst_access) = meets(inputs.context, here.at, here.access);
        let mut acquire = Scope { src_stages: need.stages, src_access: need.writes, dst_stages, dst_access };
        self.chain_to_need(inputs, here, &need, &mut acquire.src_stages, waits);
        let acquire =
            (self.place(inputs, here, &need), acquire, self.why(here, Hazard::Acquire, Some(last.last), None));
        self.calls.transfer(about, families, [release, acquire])
    }

    /// Stages and accesses of a use, for a barrier within its own render pass. An attachment that is only read as input
    /// attachment was loaded when the render pass began, so only the fragment shader's read is left; one that is tested
    /// too (it has late tests, which a load has not) is also read by the tests.
    pub(super) fn inner_target(inputs: HazardInputs<'_>, here: Here<'_>) -> (Stages, Accesses) {
        let ResolvedAccess { stages, kinds, effect, .. } = *here.access;
        let tested = stages.contains(Stages::LATE_FRAGMENT_TESTS);
        if effect == Effect::Read && kinds.contains(Accesses::INPUT_ATTACHMENT_READ) && !tested {
            (stages & Stages::FRAGMENT_SHADER, Accesses::INPUT_ATTACHMENT_READ)
        } else {
            meets(inputs.context, here.at, here.access)
        }
    }

    /// A barrier that changes the layout of the subresource before this use.
    pub(super) fn change_layout(
        &mut self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        need: Need,
        [old, new]: [Layout; 2],
        waits: &mut IdVec<WaitId, Stages>,
    ) -> BarrierId {
        let part = *inputs.context.facts.subresources.get(here.subresource);
        let about = About::Image(here.access.resource, part, old, new);
        let (dst_stages, dst_access) = meets(inputs.context, here.at, here.access);
        let mut scope = Scope { src_stages: need.stages, src_access: need.writes, dst_stages, dst_access };
        let hazard = match (old, need.from_resource) {
            (_, Some(_)) => Hazard::Alias,
            (Layout::Undefined, None) if need.from.is_none() => Hazard::FirstUse,
            _ => hazard(here, &need),
        };
        let why = self.why(here, hazard, need.from, need.from_resource);
        if !need.near_stages.is_empty() {
            if !need.stages.is_empty() {
                self.order_memory(inputs, here, Need { near_stages: Stages::empty(), ..need });
            }
            scope.src_stages = need.near_stages;
            scope.src_access = need.near_writes;
            (scope.dst_stages, scope.dst_access) = Self::inner_target(inputs, here);
            // Nothing is loaded within a render pass: a use that keeps contents may write right after the transition.
            scope.dst_access |= here.access.kinds & Accesses::WRITES;
            self.rely_on_need(inputs, here, &need, waits);
            let call = self.call_within(here.at);
            return self.calls.about(call, Source::WHOLE, about, scope, None, why);
        }
        self.chain_to_need(inputs, here, &need, &mut scope.src_stages, waits);
        let call = self.place(inputs, here, &need);
        let barrier = self.calls.about(call, need.source(), about, scope, None, why);
        self.require(barrier, &need);
        barrier
    }

    /// A barrier that orders this use after earlier ones of its queue, if there are any: memory where something was
    /// written, execution alone where it was only read.
    pub(super) fn order_memory(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, need: Need) -> Option<BarrierId> {
        let target = meets(inputs.context, here.at, here.access);
        let why = self.why(here, hazard(here, &need), need.from, need.from_resource);
        // A write after reads needs no visibility, an execution dependency is enough. A use that keeps old contents
        // must see them, and so must a use after a pass that may be switched off.
        let looks = match here.access.effect {
            _ if need.conditional => target.1,
            Effect::Replace => Accesses::empty(),
            _ => target.1 - Accesses::WRITES,
        };
        let scope = |stages, writes: Accesses| Scope {
            src_stages: stages,
            src_access: writes,
            dst_stages: target.0,
            dst_access: if writes.is_empty() { looks } else { target.1 },
        };
        let mut barrier = None;
        if !need.stages.is_empty() {
            let call = self.place(inputs, here, &need);
            // Work of other queues is behind semaphore waits, which have scopes of their own (Vulkan 1.3, "Semaphore
            // Waiting").
            let made = self.calls.memory(call, need.source(), scope(need.stages, need.writes), why);
            self.require(made, &need);
            barrier = Some(made);
        }
        // Rasterisation order holds within a subpass only: between subpasses every hazard of an attachment needs a
        // dependency (Vulkan 1.3, "Render Pass", subpass dependencies).
        if !need.near_stages.is_empty() && inputs.context.schedule.physical_passes[here.physical].subpasses {
            let call = self.call_within(here.at);
            let (dst_stages, dst_access) = Self::inner_target(inputs, here);
            let inner = Scope { dst_stages, dst_access, ..scope(need.near_stages, need.near_writes) };
            barrier = Some(self.calls.memory(call, Source::WHOLE, inner, why));
        }
        barrier
    }

    /// The barrier of the first use of a buffer's bytes; what the frame before left there is added later.
    pub(super) fn order_first(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, need: Need) -> BarrierId {
        let kind = if need.from_resource.is_some() { Hazard::Alias } else { Hazard::FirstUse };
        let why = self.why(here, kind, need.from, need.from_resource);
        let scope = Scope {
            src_stages: need.stages,
            src_access: need.writes,
            dst_stages: here.access.stages,
            dst_access: here.access.kinds,
        };
        let call = self.place(inputs, here, &need);
        let barrier = self.calls.memory_apart(call, need.source(), scope, why);
        self.require(barrier, &need);
        barrier
    }

    /// Notes what a barrier comes after on its queue.
    fn require(&mut self, barrier: BarrierId, need: &Need) {
        for one in need.earlier.iter().flatten() {
            let Earlier { last, stages, writing, writes } = *one;
            self.calls.require(Required { barrier, last, previous_run: false, stages, writing, writes });
        }
    }

    /// Device writes reach the host by a barrier at the end of the batch that made them.
    pub(super) fn show_to_host(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, list: Option<UseId>) {
        let mut at = list;
        while let Some(id) = at {
            let used = self.uses[id];
            let writes = used.access & Accesses::WRITES;
            if !writes.is_empty() {
                let left = used.whole();
                self.show_left_to_host(inputs, here, left);
            }
            at = used.next;
        }
    }

    /// Shows the host what the read group before `here` left: its own writes or the writes before it, where it only
    /// read on the device, whose reads make writes visible to nobody else (Vulkan 1.3, "Availability, Visibility, and
    /// Domain Operations"), or where the host was shown them for another access, by a pass that may be switched off.
    pub(super) fn show_all_to_host(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, state: SubresourceState) {
        self.show_to_host(inputs, here, state.uses);
        let host = inputs.context.schedule.host();
        let read_only = |used: Used| used.queue != host && !used.access.intersects(Accesses::WRITES);
        let wanted = seen_as(here);
        let unseen = |used: Used| used.queue == host && used.conditional && !used.access.contains(wanted);
        if self.list(state.uses).all(read_only) || self.list(state.uses).any(unseen) {
            if state.before.is_none() {
                self.show_initializer_to_host(inputs, here, state);
            } else {
                self.show_to_host(inputs, here, state.before);
            }
        }
    }

    /// Bytes that the host saw under another name, for another access or by the transition of an image alone: whatever
    /// it finds there it sees by a barrier about all memory that names its access.
    pub(super) fn show_bytes_to_host(&mut self, inputs: HazardInputs<'_>, here: Here<'_>) {
        let placement = inputs.transients.index[here.memory];
        self.each_seen_by_host(inputs, placement, false, seen_as(here), |hazards, left| {
            hazards.show_left_to_host(inputs, here, left);
        });
    }

    /// The same of bytes that the run before had under such a name last.
    pub(crate) fn show_bytes_to_next_run(&mut self, inputs: HazardInputs<'_>, first: &First) {
        self.each_seen_by_host(inputs, first.placement, true, first.access, |hazards, left| {
            hazards.show_to_next_run(inputs, first, left);
        });
    }

    /// Calls `show` with the writes of each memory that had the bytes of a placement before, in this frame or in the
    /// one before, and that the host saw last, unless it saw all memory for what it wants. O(subresources of these
    /// memories).
    fn each_seen_by_host(
        &mut self,
        inputs: HazardInputs<'_>,
        placement: Option<PlacementId>,
        previous_frame: bool,
        wanted: Accesses,
        show: impl Fn(&mut Self, Left),
    ) {
        let host = inputs.context.schedule.host();
        let followed = placement.map_or(&[][..], |placement| inputs.transients.followed(placement));
        for &(before, _) in followed.iter().filter(|(_, from_previous_frame)| *from_previous_frame == previous_frame) {
            let memory = inputs.transients.placements[before].memory;
            for subresource in inputs.context.facts.subresources.of(memory).ids() {
                let state = self.states[subresource];
                let Some(seen) = self.list(state.uses).find(|used| used.queue == host) else { continue };
                // A read of the host under the same name stands between these writes and one of the host.
                let other = Some(before) != placement;
                let transition = state.producer_barrier.filter(|_| other);
                let unseen = !seen.access.contains(wanted) && (other || seen.conditional);
                if transition.is_none() && !unseen {
                    continue;
                }
                if let Some(transition) = transition.filter(|_| seen.conditional) {
                    // What the host does not read while a flag is off, it has not seen: the change of layout, too.
                    self.calls.add_target(transition, Stages::HOST, wanted);
                }
                let mut at = state.before;
                while let Some(id) = at {
                    let used = self.uses[id];
                    let writes = used.access & Accesses::WRITES;
                    if !writes.is_empty() {
                        show(self, used.whole());
                    }
                    at = used.next;
                }
            }
        }
    }

    /// Whether the first use of a read group changed the layout: then the host sees what that change wrote.
    pub(super) fn changes_layout(&self, state: SubresourceState) -> bool {
        let initializer = self.list(state.uses).find(|used| used.queue == state.initializer);
        let barrier = initializer.and_then(|used| used.behind.barrier());
        barrier.is_some_and(
            |barrier| matches!(self.calls.barriers[barrier].about, About::Image(_, _, old, new) if old != new),
        )
    }

    /// The initialising queue is the first to see contents from before the frame or from another family; the host sees
    /// them from there.
    pub(super) fn show_initializer_to_host(
        &mut self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        state: SubresourceState,
    ) {
        let on_device = |used: &Used| used.queue == state.initializer && used.queue != inputs.context.schedule.host();
        let Some(initializer) = self.list(state.uses).find(on_device) else { return };
        // The host waits for the first use.
        let batch = inputs.batches.batch_of(inputs.context.schedule.passes[initializer.first].physical);
        let call = self.call_at_end(batch);
        let scope = Scope {
            src_stages: initializer.stages,
            src_access: Accesses::empty(),
            dst_stages: Stages::HOST,
            dst_access: seen_as(here),
        };
        let why = self.why(here, Hazard::Host, Some(initializer.first), None);
        self.calls.memory(call, Source::WHOLE, scope, why);
    }

    /// What changes its layout within a render pass is stored at its end, behind that change.
    pub(super) fn show_stored_to_host(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, state: SubresourceState) {
        let initializer = self.list(state.uses).find(|used| used.queue == state.initializer);
        if initializer.is_some_and(|used| self.is_within_another_physical(inputs, used.behind.barrier(), here.physical))
        {
            self.show_to_host(inputs, here, state.before);
        }
    }

    pub(super) fn show_left_to_host(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, left: Left) {
        let why = self.why(here, Hazard::Host, Some(left.last), None);
        self.show(inputs, left, seen_as(here), why);
    }

    /// The host is the first to use bytes that the run before left on a queue of the device.
    pub(crate) fn show_to_next_run(&mut self, inputs: HazardInputs<'_>, first: &First, left: Left) {
        let why = Why { hazard: Hazard::Host, from: Some(left.last), to: None, resource: first.memory };
        self.show(inputs, left, first.access, why);
    }

    /// Makes the writes of all members of an unordered group visible to the host: after the frame, a read there has no
    /// barrier of its own.
    pub(crate) fn show_group_to_host(&mut self, inputs: HazardInputs<'_>, subresource: SubresourceId, last: Used) {
        let memory = inputs.context.facts.subresources.get(subresource).memory;
        let mut at = self.states[subresource].uses;
        while let Some(id) = at {
            let used = self.uses[id];
            let writes = used.access & Accesses::WRITES;
            if !writes.is_empty() {
                let [from, to] = [used.last, last.last].map(Some);
                let left = used.whole();
                self.show(inputs, left, last.access, Why { hazard: Hazard::Host, from, to, resource: memory });
            }
            at = used.next;
        }
    }

    pub(super) fn show(&mut self, inputs: HazardInputs<'_>, left: Left, dst_access: Accesses, why: Why) {
        if left.queue == inputs.context.schedule.host() {
            return;
        }
        let batch = inputs.batches.batch_of(inputs.context.schedule.passes[left.last].physical);
        let call = self.call_at_end(batch);
        let scope = Scope { src_stages: left.stages, src_access: left.writes, dst_stages: Stages::HOST, dst_access };
        self.calls.memory(call, Source::WHOLE, scope, why);
    }

    /// The call for a need: the last one on its queue if that is late enough, else a new one before its physical pass.
    pub(super) fn place(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, need: &Need) -> CallId {
        let open = self.open[here.queue.index()];
        // A barrier before the wait for the other user of an import would access it at the same time as that user.
        let earliest = need.earliest.max(inputs.foreign.waited(here.memory, here.queue));
        let physical = open.filter(|&open| Some(open) >= earliest).unwrap_or(here.physical);
        self.open[here.queue.index()] = Some(physical);
        self.call_before(physical)
    }

    pub(super) fn call_before(&mut self, physical: PhysicalId) -> CallId {
        *self.before_physical[physical].get_or_insert_with(|| self.calls.open(CallSite::Before(physical)))
    }

    /// The call at the end of a batch.
    pub(crate) fn call_at_end(&mut self, batch: BatchId) -> CallId {
        *self.at_end[batch].get_or_insert_with(|| self.calls.open(CallSite::BatchEnd(batch)))
    }

    /// The call at the end of a batch that comes behind [`call_at_end`](Self::call_at_end).
    pub(crate) fn call_behind_end(&mut self, batch: BatchId) -> CallId {
        *self.behind_end[batch].get_or_insert_with(|| self.calls.open(CallSite::BatchEnd(batch)))
    }

    /// The call between the subpass at a position and those before it.
    pub(super) fn call_within(&mut self, at: PlanPassId) -> CallId {
        *self.within[at].get_or_insert_with(|| self.calls.open(CallSite::Within(at)))
    }

    pub(super) fn why(
        &self,
        here: Here<'_>,
        hazard: Hazard,
        from: Option<PlanPassId>,
        resource: Option<ResourceId>,
    ) -> Why {
        Why { hazard, from, to: Some(here.at), resource: resource.unwrap_or(here.access.resource) }
    }
}

/// Access kinds to which contents are made visible for the host. If the pass may be switched off, later reads by the
/// host have no other barrier, so they are included.
pub(super) fn seen_as(here: Here<'_>) -> Accesses {
    let keeps = here.conditional && here.access.effect != Effect::Replace;
    here.access.kinds | if keeps { Accesses::HOST_READ } else { Accesses::empty() }
}

/// First stages and accesses of a use. An attachment begins with its load operation; the rest of its render pass comes
/// after the load by rasterization order.
///
/// Source: Vulkan 1.3, "Render Pass Load Operations" (clearing and discarding write at the early tests or at colour
/// output, loading reads) and "Rasterization Order".
pub(super) fn meets(context: Context<'_>, at: PlanPassId, access: &ResolvedAccess) -> (Stages, Accesses) {
    let color = Accesses::COLOR_ATTACHMENT_READ | Accesses::COLOR_ATTACHMENT_WRITE;
    let depth = Accesses::DEPTH_STENCIL_ATTACHMENT_READ | Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let ResolvedAccess { stages, kinds, effect, .. } = *access;
    if !(color | depth).contains(kinds) || !effect.writes() {
        return (stages, kinds);
    }
    // The declared effect does not decide here: a pass that may be switched off has effect `Keep` even if it clears,
    // and of two aspects one may be kept. The load operations decide, also those that the planner chose.
    let pass = context.schedule.passes[at].pass;
    let attachments = &context.facts.attachments[context.facts.passes[pass].attachments.range()];
    let attached = attachments.iter().find(|one| Some(one.declared) == access.declared);
    let stencil = context.shapes[access.resource].aspects.contains(Aspects::STENCIL);
    let replaces = |one: &ResolvedAttachment| one.load != Load::Load || stencil && one.stencil_load != Load::Load;
    match effect {
        // A depth attachment with colour kinds too is resolved at the end of the subpass; it begins at the early tests.
        Effect::Replace if kinds.intersects(depth) => {
            (Stages::EARLY_FRAGMENT_TESTS, Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE)
        }
        Effect::Replace => (stages, Accesses::COLOR_ATTACHMENT_WRITE),
        _ if attached.is_none_or(replaces) => (stages, kinds),
        _ if kinds.contains(Accesses::DEPTH_STENCIL_ATTACHMENT_READ) => {
            (stages - Stages::COLOR_ATTACHMENT_OUTPUT, Accesses::DEPTH_STENCIL_ATTACHMENT_READ)
        }
        _ if kinds.contains(Accesses::COLOR_ATTACHMENT_READ) => (stages, Accesses::COLOR_ATTACHMENT_READ),
        // A resolve loads nothing.
        _ => (stages, kinds),
    }
}

fn hazard(here: Here<'_>, need: &Need) -> Hazard {
    match (here.access.effect.writes(), (need.writes | need.near_writes).is_empty()) {
        (false, true) => Hazard::Layout,
        (false, false) => Hazard::ReadAfterWrite,
        (true, true) => Hazard::WriteAfterRead,
        (true, false) => Hazard::WriteAfterWrite,
    }
}
