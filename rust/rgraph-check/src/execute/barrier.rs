//! What barriers, transitions, transfers of ownership and entries do to subresources.

use rgraph_ir::access::{Accesses, Layout, Stages};
use rgraph_ir::id::Id;
use rgraph_ir::plan::Scope;

use super::Machine;
use super::ids::{AvailabilityId, EnterId, POISON, PlaceId, RenderingInstance, Time, UNDEFINED};
use super::memory::{Content, Release, Torn, Writer};
use super::order::{Half, OrderNode};
use crate::ids::{BufferBarrierId, ImageBarrierId, MemoryBarrierId, MemoryId, Subpass};

/// A buffer's or image's barrier in common words.
struct Named {
    release: Release,
    memory: MemoryId,
    scope: Scope,
    layouts: Option<[Layout; 2]>,
    families: Option<[u32; 2]>,
}

impl Machine<'_, '_> {
    /// The render pass that limits a barrier, in its run; `None` if no pass of that one runs.
    fn limit(&self, node: &OrderNode) -> Option<Option<RenderingInstance>> {
        match node.rendering {
            Some(rendering) if !self.is_rendered(rendering, node.run) => None,
            rendering => Some(self.rendering(rendering, node.run)),
        }
    }

    /// The time up to which a barrier's second half shows what became available.
    fn until(&self, node: &OrderNode, half: Half) -> Time {
        node.other.filter(|_| half == Half::Wait).map_or(self.time, |set| self.times[set])
    }

    pub(super) fn memory_barrier(&mut self, node: &OrderNode, half: Half, id: MemoryBarrierId) {
        let Some(rendering) = self.limit(node) else { return };
        let scope = self.mapping.plan.memory_barriers[id.index()].scope;
        if half != Half::Wait {
            self.events.make_available(node.point(), self.time, &scope, rendering);
        }
        if half != Half::Set {
            self.events.make_visible(node.point(), self.until(node, half), &scope, rendering);
        }
    }

    pub(super) fn buffer_barrier(&mut self, node: &OrderNode, half: Half, id: BufferBarrierId) {
        let mapping = self.mapping;
        let b = &mapping.plan.buffer_barriers[id.index()];
        let release = Release::Buffer(id);
        let memory = mapping.facts.memory[b.resource];
        let named = Named { release, memory, scope: b.scope, layouts: None, families: b.families };
        let start = mapping.start(b.resource, node.run);
        self.barrier(node, half, &named, mapping.buffer_subresources[id].iter().map(|fine| start.plus(*fine)));
    }

    pub(super) fn image_barrier(&mut self, node: &OrderNode, half: Half, id: ImageBarrierId) {
        let mapping = self.mapping;
        let b = &mapping.plan.image_barriers[id.index()];
        let (release, layouts) = (Release::Image(id), Some([b.old_layout, b.new_layout]));
        let memory = mapping.facts.memory[b.resource];
        let named = Named { release, memory, scope: b.scope, layouts, families: b.families };
        let start = mapping.start(b.resource, node.run);
        self.barrier(node, half, &named, mapping.image_subresources[id].iter().map(|fine| start.plus(*fine)));
    }

    fn barrier(&mut self, node: &OrderNode, half: Half, named: &Named, places: impl Iterator<Item = PlaceId>) {
        let Some(rendering) = self.limit(node) else { return };
        let until = self.until(node, half);
        for place in places {
            if half != Half::Wait {
                self.take(node, place, &named.scope, rendering);
            }
            if half != Half::Set {
                self.release_subresource(node, place, named, until, rendering);
            }
        }
    }

    /// First half: writes of the subresource, and of what has the same bytes, become available.
    fn take(&mut self, node: &OrderNode, place: PlaceId, scope: &Scope, rendering: Option<RenderingInstance>) {
        let (time, events, subresources) = (self.time, &self.events, &mut self.subresources);
        let take = |content: &mut Content, alias: Option<PlaceId>| {
            events.take(content, node.point(), time, scope, rendering, alias);
        };
        take(&mut subresources[place].now, None);
        take(&mut subresources[place].before, None);
        for &other in &self.mapping.aliases[place] {
            take(&mut subresources[other].now, Some(place));
        }
    }

    /// Second half: what is available becomes visible; transitions and transfers happen.
    fn release_subresource(
        &mut self,
        node: &OrderNode,
        place: PlaceId,
        named: &Named,
        until: Time,
        rendering: Option<RenderingInstance>,
    ) {
        let families = named.families.filter(|[from, to]| from != to);
        let moves = named.layouts.is_some_and(|[old, new]| old != new || old == Layout::Undefined);
        if !moves && families.is_none() {
            let subresource = &mut self.subresources[place];
            for content in [&mut subresource.now, &mut subresource.before] {
                self.events.show(content, node.point(), until, &named.scope, rendering);
            }
            return;
        }
        let destroys = named.layouts.is_some_and(|[old, _]| old == Layout::Undefined);
        let family = self.mapping.plan.queues.get(node.queue).map(|queue| queue.family);
        let releases = families.is_some_and(|[from, _]| Some(from) == family);
        let lost = if destroys { self.discard(node, place, until) } else { self.is_lost(place, named, family, until) };
        if lost {
            self.blame(node, place, "loses what is not available, or in another layout or owner's hands");
        }
        let writer = self.transition(node, rendering);
        let concurrent = self.mapping.concurrent[named.memory];
        let subresource = &mut self.subresources[place];
        if destroys {
            subresource.now.value = UNDEFINED;
            subresource.torn = if lost { Torn::In(node.run) } else { Torn::No };
        } else if lost {
            subresource.now.value = POISON;
            if named.layouts.is_some_and(|[old, _]| old != subresource.layout) {
                subresource.torn = Torn::Always;
            }
        }
        // A release in one layout writes nothing and makes nothing visible: another user of the memory, such as the
        // host, must see the writes by itself (Vulkan 1.3, "Queue Family Ownership Transfer").
        if moves || !releases {
            subresource.now.replace(writer);
        }
        (subresource.actor, subresource.group) = (None, None);
        subresource.release = releases.then_some(named.release);
        if !concurrent {
            subresource.owner = if releases { None } else { family };
        }
        if !releases {
            if let Some([_, new]) = named.layouts {
                subresource.layout = new;
            }
            self.events.show(&mut subresource.now, node.point(), self.time, &named.scope, rendering);
        }
    }

    fn transition(&self, node: &OrderNode, rendering: Option<RenderingInstance>) -> Writer {
        Writer {
            queue: node.queue,
            position: node.position,
            stage: 0,
            access: Accesses::empty(),
            rendering,
            subpass: Subpass::FIRST,
            attachment: false,
            actor: None,
            available: self.time,
            looked: AvailabilityId::new(0),
            transition: true,
        }
    }

    /// A transition that discards: whether older writes may still land on what is written next.
    fn discard(&mut self, node: &OrderNode, place: PlaceId, until: Time) -> bool {
        let mapping = self.mapping;
        let mut torn = !self.events.all_available_by(&mut self.subresources[place].now, until, |_| true);
        // A barrier on another part of the image took in nothing for this one.
        let counts = |to: PlaceId| to == place || mapping.memory_at(to) != mapping.memory_at(place);
        for &other in &mapping.aliases[place] {
            torn |= !self.events.all_available_by(&mut self.subresources[other].now, until, counts);
            self.lose(other, node.run);
        }
        torn
    }

    /// Whether a transition or transfer loses the contents.
    fn is_lost(&mut self, place: PlaceId, named: &Named, family: Option<u32>, until: Time) -> bool {
        let available = self.events.all_available(&mut self.subresources[place].now, until);
        let subresource = &self.subresources[place];
        let concurrent = self.mapping.concurrent[named.memory];
        let other = !concurrent && subresource.owner.is_some_and(|owner| Some(owner) != family);
        let owned = match named.families.filter(|[from, to]| from != to) {
            Some([from, to]) if Some(to) == family && Some(from) != family => {
                subresource.release.is_some_and(|release| self.is_pair(release, named))
            }
            Some([from, _]) => Some(from) == family && subresource.release.is_none() && !other,
            None => subresource.release.is_none() && !other,
        };
        let layout = named.layouts.is_none_or(|[old, _]| old == subresource.layout);
        !available || !owned || !layout
    }

    /// Whether an acquire is the other half of a release.
    fn is_pair(&self, release: Release, acquire: &Named) -> bool {
        let plan = self.mapping.plan;
        match (release, acquire.release) {
            (Release::Image(a), Release::Image(b)) => {
                let (a, b) = (&plan.image_barriers[a.index()], &plan.image_barriers[b.index()]);
                a.families == b.families
                    && (a.old_layout, a.new_layout) == (b.old_layout, b.new_layout)
                    && (a.mips, a.layers, a.aspects) == (b.mips, b.layers, b.aspects)
            }
            (Release::Buffer(a), Release::Buffer(b)) => {
                let (a, b) = (&plan.buffer_barriers[a.index()], &plan.buffer_barriers[b.index()]);
                a.families == b.families && a.range == b.range
            }
            _ => false,
        }
    }

    /// The runtime's entry barrier.
    pub(super) fn enter(&mut self, node: &OrderNode, id: EnterId) {
        let mapping = self.mapping;
        let enter = &self.order.enters[id];
        let edge = &mapping.plan.edges[enter.edge.index()];
        let resource = edge.resource;
        let memory = mapping.facts.memory[resource];
        let image = mapping.facts.shapes[resource].is_image();
        let defined = mapping.facts.frames_ago[resource] > 0 || mapping.facts.filled[memory];
        let family = mapping.plan.queues.get(node.queue).map(|queue| queue.family);
        let host = node.queue == mapping.host;
        let stages = if host { Stages::all() } else { edge.entry.stages };
        let access = if host { Accesses::all() } else { edge.entry.access };
        let scope = Scope { dst_stages: stages, dst_access: access, ..Scope::default() };
        let writer = self.transition(node, None);
        for &(place, first) in &enter.places {
            if let Some(source) = &enter.source {
                let content = &mut self.subresources[place].now;
                self.events.take(content, node.point(), self.time, source, None, None);
            }
            let subresource = &mut self.subresources[place];
            if first {
                // The host sees its own writes.
                let own = host && subresource.now.writers.iter().all(|writer| writer.queue == node.queue);
                let available = own || self.events.all_available(&mut subresource.now, Time::END);
                if !available {
                    self.blame.get_or_insert((*node, place, "loses what is not available"));
                }
                if !(defined && !(image && edge.entry.layout == Layout::Undefined)) {
                    subresource.now.value = UNDEFINED;
                    subresource.torn = if available { Torn::No } else { Torn::In(node.run) };
                } else if !available {
                    subresource.now.value = POISON;
                }
                subresource.now.replace(writer);
                (subresource.actor, subresource.group, subresource.release) = (None, None, None);
                (subresource.owner, subresource.layout) = (family, edge.entry.layout);
            }
            self.events.show(&mut subresource.now, node.point(), self.time, &scope, None);
        }
    }
}
