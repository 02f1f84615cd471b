//! The first use of a read group: what it follows, and the barrier that begins its layout.

use super::{ENTRY, Entry, FRAMEBUFFER_SPACE, First, Hazards, Here, Left, Need, Scene, State};
use crate::access::{Accesses, Layout, Sharing, Stages};
use crate::resource::ResourceId;
use crate::stages::resolve::ResolvedAccess;
use crate::stages::resolve::meaning::Effect;
use crate::stages::synchronize::call::{About, Barrier, CallSite};
use crate::stages::synchronize::read_group::NONE;

impl Hazards {
    /// The first use of a read group.
    pub(super) fn begin(&mut self, scene: Scene<'_>, here: Here<'_>, waits: &mut [Stages]) {
        let frame = scene.frame;
        let state = self.states[here.subresource];
        let read_group = &scene.read_groups.read_groups[here.read_group as usize];
        let image = frame.is_image(here.memory);
        let target = if image { read_group.layout_of(here.access.layout) } else { Layout::Undefined };
        let on_gpu = here.queue != frame.schedule.host();
        let mut next = State {
            read_group: here.read_group,
            layout: target,
            family: if on_gpu { frame.families[usize::from(here.queue)] } else { state.family },
            before: state.uses,
            producer_barrier: NONE,
            initializer: here.queue,
            ..state
        };
        let barrier = if state.read_group == NONE {
            self.first(scene, here, target, &mut next, waits)
        } else {
            let mut need = Need::default();
            self.need(scene, here, state.uses, waits, &mut need);
            let discard = here.access.effect == Effect::Replace;
            let exclusive = scene.read_groups.sharing[here.memory] == Sharing::Exclusive;
            let moves = exclusive && !discard && on_gpu && state.family != NONE && state.family != next.family;
            let changes = image && state.layout != target;
            if moves {
                self.take_over(scene, here, need, target, next.family)
            } else if let Some(producer) = read_group.producer.filter(|&producer| {
                changes
                    && (!on_gpu || !read_group.queues.is_power_of_two())
                    && self.at_producer(scene, here, read_group, producer)
            }) {
                next.producer_barrier = self.change_at_producer(scene, here, read_group, producer, target);
                if producer == here.queue { next.producer_barrier } else { NONE }
            } else if !on_gpu {
                self.show_all_to_host(scene, here, state);
                NONE
            } else if changes {
                let old = if discard { Layout::Undefined } else { state.layout };
                self.change_layout(scene, here, need, old, target)
            } else {
                self.order_memory(scene, here, need)
            }
        };
        next.uses = self.push_use(here, barrier, NONE);
        self.keep_attached(scene, here, state.uses, next.uses);
        next.owner = if on_gpu { next.uses } else { state.owner };
        self.states[here.subresource] = next;
    }

    /// An attachment is stored (or thrown away) at the end of its render pass, whatever uses it last in there. Storing
    /// and throwing away are writes (Vulkan 1.3, "Render Pass Store Operations"), which see a change of layout on the
    /// way.
    fn keep_attached(&mut self, scene: Scene<'_>, here: Here<'_>, before: u32, now: u32) {
        let mut at = before;
        while let Some(&used) = self.uses.get(at as usize) {
            if used.queue == here.queue && scene.frame.schedule.passes[used.last as usize].physical == here.physical {
                let writes = used.access & Accesses::WRITES;
                // Uses of earlier physical passes are in this list too.
                let stages = used.stages & FRAMEBUFFER_SPACE;
                self.uses[now as usize].stages |= stages;
                self.uses[now as usize].access |= writes;
                let barrier = self.uses[now as usize].barrier;
                let changes = |barrier: &Barrier| matches!(barrier.about, About::Image(_, _, old, new) if old != new);
                if !writes.is_empty() && self.calls.barriers.get(barrier as usize).is_some_and(changes) {
                    self.calls.add_target(barrier, stages, writes);
                }
            }
            at = used.next;
        }
    }

    /// The first use in the frame.
    fn first(
        &mut self,
        scene: Scene<'_>,
        here: Here<'_>,
        target: Layout,
        next: &mut State,
        waits: &mut [Stages],
    ) -> u32 {
        let frame = scene.frame;
        let ResolvedAccess { stages, kinds: access, .. } = *here.access;
        let first = First {
            at: here.at,
            stages,
            access,
            placement: NONE,
            memory: here.memory,
            subresource: here.subresource as u32,
            barrier: NONE,
            physical: here.physical,
        };
        if frame.has_edges(here.memory) {
            next.entry = Some(Entry { queue: here.queue, stages, access, layout: target });
            self.firsts.push(first);
            return ENTRY;
        }
        let placement = scene.transients.index[here.memory];
        let mut need = Need::default();
        let handed = self.follow_handed(scene, here, waits, &mut need);
        if here.queue == frame.schedule.host() {
            for at in handed.range() {
                self.show_left_to_host(scene, here, self.left[at]);
            }
            self.show_bytes_to_host(scene, here);
            if placement != NONE {
                self.firsts.push(First { placement, ..first });
            }
            return NONE;
        }
        let barrier = if frame.is_image(here.memory) {
            self.change_layout(scene, here, need, Layout::Undefined, target)
        } else if placement == NONE {
            // Fresh bytes: no frame under way and no other resource has them.
            return NONE;
        } else {
            self.order_first(scene, here, need)
        };
        if placement == NONE {
            return barrier;
        }
        let call = self.calls.barriers[barrier as usize].call;
        let physical = match self.calls.calls[call as usize].site {
            CallSite::Before(physical) => physical,
            _ => here.physical,
        };
        self.firsts.push(First { placement, barrier, physical, ..first });
        barrier
    }

    /// Makes `here` follow what its read group follows: the read group before or, where the frame has none, what had
    /// its bytes.
    pub(super) fn follow_before(
        &mut self,
        scene: Scene<'_>,
        here: Here<'_>,
        state: State,
        waits: &mut [Stages],
        need: &mut Need,
    ) {
        if state.before != NONE {
            self.need(scene, here, state.before, waits, need);
        } else if state.entry.is_none() {
            self.follow_handed(scene, here, waits, need);
        }
    }

    /// Makes `here` follow what had its bytes before in this frame; returns it, positions in `left`.
    fn follow_handed(
        &mut self,
        scene: Scene<'_>,
        here: Here<'_>,
        waits: &mut [Stages],
        need: &mut Need,
    ) -> crate::id::Span {
        let placement = scene.transients.index[here.memory];
        if placement == NONE {
            return crate::id::Span::default();
        }
        let followed = scene.transients.followed(placement);
        let last = followed.iter().rev().find(|(_, from_previous_frame)| !from_previous_frame);
        let memory_of = |before: u32| scene.transients.placements[before as usize].memory;
        need.from_resource = last.map(|(before, _)| memory_of(*before));
        let handed = match self.handed[placement as usize] {
            Some(handed) => handed,
            None => {
                let start = self.left.len();
                for &(before, _) in followed.iter().filter(|(_, from_previous_frame)| !from_previous_frame) {
                    self.gather_left(scene, memory_of(before), start);
                }
                let span = crate::id::Span::new(start, self.left.len());
                self.handed[placement as usize] = Some(span);
                span
            }
        };
        for at in handed.range() {
            let left = self.left[at];
            self.follow(scene, here, left, waits, need);
        }
        handed
    }

    /// Adds how the uses of a memory end to those listed from `start` on, one entry a queue.
    pub fn gather_left(&mut self, scene: Scene<'_>, memory: ResourceId, start: usize) {
        let mut left = std::mem::take(&mut self.left);
        self.gather_into(scene, memory, start, &mut left);
        self.left = left;
    }

    /// The same into a list of the caller's.
    pub fn gather_into(&self, scene: Scene<'_>, memory: ResourceId, start: usize, left: &mut Vec<Left>) {
        for subresource in scene.frame.facts.subresources.of(memory).range() {
            self.gather_subresource(subresource, start, left);
        }
    }

    /// The same of what is in the texels of one subresource of an image: all aspects of its mips and layers, since render
    /// passes load and store them together.
    pub fn gather_texels(&self, scene: Scene<'_>, memory: ResourceId, subresource: u32, left: &mut Vec<Left>) {
        let subresources = &scene.frame.facts.subresources;
        let own = *subresources.get(subresource);
        let meet = |[a, b]: [u32; 2], [c, d]: [u32; 2]| a < d && c < b;
        for other in subresources.of(memory).range() {
            let part = subresources.get(other as u32);
            if meet(part.mips, own.mips) && meet(part.layers, own.layers) {
                self.gather_subresource(other, 0, left);
            }
        }
    }

    fn gather_subresource(&self, subresource: usize, start: usize, left: &mut Vec<Left>) {
        for used in self.uses_of(subresource) {
            let writes = used.access & Accesses::WRITES;
            match left[start..].iter_mut().find(|l| l.queue == used.queue) {
                Some(known) => {
                    known.last = known.last.max(used.last);
                    known.stages |= used.stages;
                    known.writes |= writes;
                }
                None => left.push(Left { queue: used.queue, last: used.last, stages: used.stages, writes }),
            }
        }
    }
}
