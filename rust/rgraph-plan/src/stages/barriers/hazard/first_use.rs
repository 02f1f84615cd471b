//! The first use of a read group: the uses that it follows, and the barrier that changes the layout for the group.

use super::{
    Behind, Entry, FRAMEBUFFER_SPACE, First, HazardInputs, Hazards, Here, Left, Need, STORES, SubresourceState,
    ask::seen_as,
};
use crate::access::{Accesses, Layout, Sharing, Stages};
use crate::id::{IdSpan, IdVec};
use crate::resource::ResourceId;
use crate::stages::barriers::call::{About, CallSite};
use crate::stages::ids::{LeftId, PlacementId, SubresourceId, UseId, WaitId};
use crate::stages::order::read_group::takes_anew;
use crate::stages::resolve::ResolvedAccess;
use crate::stages::resolve::meaning::Effect;
use crate::stages::resolve::subresource::SubresourceRange;

impl Hazards {
    /// The first use of a read group.
    pub(super) fn begin(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, waits: &mut IdVec<WaitId, Stages>) {
        let context = inputs.context;
        let state = self.states[here.subresource];
        let read_group = &inputs.read_groups.read_groups[here.read_group];
        let image = context.is_image(here.memory);
        let target = if image { read_group.layout_of(here.access.layout) } else { Layout::Undefined };
        let on_gpu = here.queue != context.schedule.host();
        let mut next = SubresourceState {
            read_group: Some(here.read_group),
            layout: target,
            family: if on_gpu { Some(context.families[here.queue]) } else { state.family },
            before: state.uses,
            producer_barrier: None,
            initializer: here.queue,
            ..state
        };
        let behind = if state.read_group.is_none() {
            self.first(inputs, here, target, &mut next, waits)
        } else {
            let mut need = Need::default();
            self.need(inputs, here, state.uses, &mut need);
            let discard = here.access.effect == Effect::Replace;
            let exclusive = inputs.read_groups.sharing[here.memory] == Sharing::Exclusive;
            let anew = discard && takes_anew(image, here.conditional);
            let moved = state.family.zip(next.family).filter(|(from, to)| exclusive && on_gpu && from != to);
            let families = moved.filter(|_| !anew);
            // A family that takes an image without a transfer finds it as if it were new: without a layout.
            let changes = image && (state.layout != target || moved.is_some());
            if let Some((from, to)) = families {
                Behind::Barrier(self.transfer(inputs, here, need, (target, [from, to]), waits))
            } else if let Some(producer) = read_group.producer.filter(|&producer| {
                changes
                    && (!on_gpu || !read_group.is_on_one_queue())
                    && self.at_producer(inputs, here, read_group, producer)
            }) {
                self.rely_on_need(inputs, here, &need, waits);
                let barrier = self.change_at_producer(inputs, here, read_group, producer, target);
                next.producer_barrier = Some(barrier);
                if producer == here.queue { Behind::Barrier(barrier) } else { Behind::Nothing }
            } else if !on_gpu {
                self.rely_on_need(inputs, here, &need, waits);
                self.show_all_to_host(inputs, here, state);
                Behind::Nothing
            } else if changes {
                let old = if discard { Layout::Undefined } else { state.layout };
                Behind::Barrier(self.change_layout(inputs, here, need, [old, target], waits))
            } else {
                self.rely_on_need(inputs, here, &need, waits);
                self.order_memory(inputs, here, need).into()
            }
        };
        let own = self.push_use(here, behind, None);
        next.uses = Some(own);
        self.keep_attached(inputs, here, state.uses, own);
        next.owner = if on_gpu { Some(own) } else { state.owner };
        self.states[here.subresource] = next;
    }

    /// Store operations run at the end of the render pass, after every use in it, and they are writes, also `DONT_CARE`
    /// (Vulkan 1.3, "Render Pass Store Operations"). So the last use keeps the stages and writes of earlier attachment
    /// uses, and a layout transition within the render pass must be visible to them.
    fn keep_attached(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, before: Option<UseId>, now: UseId) {
        let mut at = before;
        while let Some(id) = at {
            let used = self.uses[id];
            if used.queue == here.queue && inputs.context.schedule.passes[used.last].physical == here.physical {
                let writes = used.access & Accesses::WRITES;
                let change = self.uses[now].behind.barrier().filter(
                    |&barrier| matches!(self.calls.barriers[barrier].about, About::Image(_, _, old, new) if old != new),
                );
                // Uses of earlier physical passes are in this list too. What comes before a change of layout is behind
                // its barrier: the store operation alone is left.
                let stages = used.stages & if change.is_some() { STORES } else { FRAMEBUFFER_SPACE };
                self.uses[now].stages |= stages;
                self.uses[now].inner_stages |= stages;
                self.uses[now].writing |= used.writing & stages;
                self.uses[now].access |= writes;
                if let Some(barrier) = change.filter(|_| !writes.is_empty()) {
                    self.calls.add_target(barrier, stages, writes);
                }
            }
            at = used.next;
        }
    }

    /// The first use in the frame.
    fn first(
        &mut self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        target: Layout,
        next: &mut SubresourceState,
        waits: &mut IdVec<WaitId, Stages>,
    ) -> Behind {
        let context = inputs.context;
        let ResolvedAccess { stages, kinds, .. } = *here.access;
        let access = if here.queue == context.schedule.host() { seen_as(here) } else { kinds };
        let mut need = Need::default();
        let first = First {
            at: here.at,
            stages,
            access,
            placement: None,
            memory: here.memory,
            subresource: here.subresource,
            barrier: None,
            physical: here.physical,
        };
        if context.has_edges(here.memory) {
            next.entry = Some(Entry { queue: here.queue, stages, access, layout: target });
            self.firsts.push(first);
            return Behind::Entry;
        }
        let placement = inputs.transients.index[here.memory];
        let handed = self.follow_handed(inputs, here, &mut need);
        if here.queue == context.schedule.host() {
            self.rely_on_need(inputs, here, &need, waits);
            for at in handed.ids() {
                self.show_left_to_host(inputs, here, self.left[at]);
            }
            self.show_bytes_to_host(inputs, here);
            if placement.is_some() {
                self.firsts.push(First { placement, ..first });
            }
            return Behind::Nothing;
        }
        let barrier = if context.is_image(here.memory) {
            self.change_layout(inputs, here, need, [Layout::Undefined, target], waits)
        } else if placement.is_none() {
            // A fresh resource: no frame in flight and no other resource uses its bytes.
            return Behind::Nothing;
        } else {
            self.rely_on_need(inputs, here, &need, waits);
            self.order_first(inputs, here, need)
        };
        if placement.is_none() {
            return Behind::Barrier(barrier);
        }
        let physical = match self.calls.calls[self.calls.barriers[barrier].call].site {
            CallSite::Before(physical) => physical,
            _ => here.physical,
        };
        self.firsts.push(First { placement, barrier: Some(barrier), physical, ..first });
        Behind::Barrier(barrier)
    }

    /// Makes `here` follow the read group before its own or, if the frame has none, the previous owners of its bytes.
    pub(super) fn follow_before(
        &mut self,
        inputs: HazardInputs<'_>,
        here: Here<'_>,
        state: SubresourceState,
        need: &mut Need,
    ) {
        if state.before.is_some() {
            self.need(inputs, here, state.before, need);
        } else if state.entry.is_none() {
            self.follow_handed(inputs, here, need);
        }
    }

    /// Makes `here` follow the previous owners of its bytes in this frame; returns their last uses, positions in
    /// `left`.
    fn follow_handed(&mut self, inputs: HazardInputs<'_>, here: Here<'_>, need: &mut Need) -> IdSpan<LeftId> {
        let Some(placement) = inputs.transients.index[here.memory] else { return IdSpan::default() };
        let followed = inputs.transients.followed(placement);
        let last = followed.iter().rev().find(|(_, from_previous_frame)| !from_previous_frame);
        let memory_of = |before: PlacementId| inputs.transients.placements[before].memory;
        need.from_resource = last.map(|(before, _)| memory_of(*before));
        let handed = match self.handed[placement] {
            Some(handed) => handed,
            None => {
                let start = self.left.len();
                for &(before, _) in followed.iter().filter(|(_, from_previous_frame)| !from_previous_frame) {
                    self.gather_left(inputs, memory_of(before), start);
                }
                let span = IdSpan::new(start, self.left.len());
                self.handed[placement] = Some(span);
                span
            }
        };
        for at in handed.ids() {
            let left = self.left[at];
            self.follow(inputs, here, left, need);
        }
        handed
    }

    /// Adds the last uses of a memory to those listed from `start` on, one entry per queue and stages.
    pub(crate) fn gather_left(&mut self, inputs: HazardInputs<'_>, memory: ResourceId, start: usize) {
        let mut left = std::mem::take(&mut self.left);
        self.gather_into(inputs, memory, start, left.as_vec_mut());
        self.left = left;
    }

    /// The same into a list of the caller's.
    pub(crate) fn gather_into(&self, inputs: HazardInputs<'_>, memory: ResourceId, start: usize, left: &mut Vec<Left>) {
        for subresource in inputs.context.facts.subresources.of(memory).ids() {
            self.gather_subresource(subresource, start, left);
        }
    }

    /// The same for one subresource of an image with all aspects of its mips and layers, since render passes load and
    /// store them together; returns how many subresources these are. O(their last uses).
    pub(crate) fn gather_texels(
        &self,
        inputs: HazardInputs<'_>,
        memory: ResourceId,
        subresource: SubresourceId,
        left: &mut Vec<Left>,
    ) -> usize {
        let subresources = &inputs.context.facts.subresources;
        let aspects = inputs.context.shapes[memory].aspects;
        let texels = SubresourceRange { aspects, ..subresources.get(subresource).part() };
        let mut count = 0;
        subresources.runs(memory, &texels, |run| {
            count += run.ids().len();
            run.ids().for_each(|one| self.gather_subresource(one, 0, left));
        });
        count
    }

    fn gather_subresource(&self, subresource: SubresourceId, start: usize, left: &mut Vec<Left>) {
        for used in self.uses_of(subresource) {
            used.left().for_each(|one| one.add_to(left, start));
        }
    }
}

impl Left {
    /// Adds last uses to those listed from `start` on, one entry per queue and stages.
    pub(crate) fn add_to(self, list: &mut Vec<Self>, start: usize) {
        let same = |known: &&mut Self| (known.queue, known.stages) == (self.queue, self.stages);
        match list[start..].iter_mut().find(same) {
            Some(known) => {
                known.last = known.last.max(self.last);
                known.writing |= self.writing;
                known.writes |= self.writes;
            }
            None => list.push(self),
        }
    }
}
