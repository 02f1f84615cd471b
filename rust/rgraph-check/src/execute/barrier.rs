//! What barriers, transitions, transfers of ownership and entries do to subresources.

use rgraph_ir::access::{Layout, Stages};
use rgraph_ir::id::Id;
use rgraph_ir::plan::{QueueId, Scope};

use super::Machine;
use super::memory::{Content, NEVER, POISON, UNDEFINED, Writer};
use super::order::{Half, Kind, Node};
use super::scene::NONE;
use crate::ids::MemoryId;

/// A buffer's or image's barrier in common words.
struct Named {
    list: u8,
    at: u32,
    memory: MemoryId,
    scope: Scope,
    layouts: Option<[Layout; 2]>,
    families: Option<[u32; 2]>,
}

impl Machine<'_, '_> {
    pub(super) fn barrier(&mut self, node: &Node) {
        if node.rendering != NONE && !self.is_rendered(node.rendering, node.run) {
            return;
        }
        let scene = self.scene;
        let plan = scene.plan;
        let rendering = self.rendering(node.rendering, node.run);
        let (Kind::Memory(half) | Kind::Buffer(half) | Kind::Image(half)) = node.kind else { return };
        let until = self.times.get(node.other as usize).copied().filter(|_| half == Half::Wait).unwrap_or(self.time);
        let at = node.a as usize;
        let facts = scene.facts;
        let (named, subresources, resource) = match node.kind {
            Kind::Buffer(_) => {
                let b = &plan.buffer_barriers[at];
                let memory = facts.memory[b.resource];
                let named = Named { list: 1, at: node.a, memory, scope: b.scope, layouts: None, families: b.families };
                (named, &scene.buffer_subresources[at], b.resource)
            }
            Kind::Image(_) => {
                let b = &plan.image_barriers[at];
                let memory = facts.memory[b.resource];
                let layouts = Some([b.old_layout, b.new_layout]);
                let named = Named { list: 0, at: node.a, memory, scope: b.scope, layouts, families: b.families };
                (named, &scene.image_subresources[at], b.resource)
            }
            _ => {
                let scope = plan.memory_barriers[at].scope;
                if half != Half::Wait {
                    self.events.make_available(node.queue, node.position, self.time, &scope, rendering);
                }
                if half != Half::Set {
                    self.events.make_visible(node.queue, node.position, until, &scope, rendering);
                }
                return;
            }
        };
        let start = scene.start(resource, node.run);
        for &fine in subresources {
            let subresource = start + fine;
            if half != Half::Wait {
                self.take(node, subresource, &named.scope, rendering);
            }
            if half != Half::Set {
                self.release_subresource(node, subresource, &named, until, rendering);
            }
        }
    }

    /// First half: writes of the subresource, and of what has the same bytes, become available.
    fn take(&mut self, node: &Node, subresource: u32, scope: &Scope, rendering: u32) {
        let (time, events, subresources) = (self.time, &self.events, &mut self.subresources);
        let take = |content: &mut Content, alias: Option<u32>| {
            events.take(content, (node.queue, node.position), time, scope, rendering, alias);
        };
        take(&mut subresources[subresource as usize].now, None);
        take(&mut subresources[subresource as usize].before, None);
        for &other in &self.scene.aliases[subresource as usize] {
            take(&mut subresources[other as usize].now, Some(subresource));
        }
    }

    /// Second half: what is available becomes visible; transitions and transfers happen.
    fn release_subresource(&mut self, node: &Node, at: u32, named: &Named, until: u32, rendering: u32) {
        let families = named.families.filter(|[from, to]| from != to);
        let moves = named.layouts.is_some_and(|[old, new]| old != new || old == Layout::Undefined);
        if !moves && families.is_none() {
            let subresource = &mut self.subresources[at as usize];
            for content in [&mut subresource.now, &mut subresource.before] {
                self.events.show(content, node.queue, node.position, until, &named.scope, rendering);
            }
            return;
        }
        let destroys = named.layouts.is_some_and(|[old, _]| old == Layout::Undefined);
        let family = self.scene.plan.queues.get(QueueId::new(node.queue as usize)).map(|queue| queue.family);
        let releases = families.is_some_and(|[from, _]| Some(from) == family);
        let lost = if destroys { self.discard(node, at, until) } else { self.is_lost(at, named, family, until) };
        if lost {
            self.blame(node, at, "loses what is not available, or in another layout or owner's hands");
        }
        let writer = self.transition(node, rendering);
        let concurrent = self.scene.concurrent[named.memory];
        let subresource = &mut self.subresources[at as usize];
        if destroys {
            subresource.now.value = UNDEFINED;
            subresource.torn = if lost { node.run + 1 } else { 0 };
        } else if lost {
            subresource.now.value = POISON;
            if named.layouts.is_some_and(|[old, _]| old as u8 != subresource.layout) {
                subresource.torn = NEVER;
            }
        }
        // A release in one layout writes nothing, and shows nothing: who uses the memory beside it, as the host may,
        // must see those who wrote (Vulkan 1.3, "Queue Family Ownership Transfer").
        if moves || !releases {
            subresource.now.replace(writer);
        }
        (subresource.instance, subresource.group) = (NONE, 0);
        subresource.release = releases.then_some((named.list, named.at));
        if !concurrent {
            subresource.owner = if releases { None } else { family };
        }
        if !releases {
            if let Some([_, new]) = named.layouts {
                subresource.layout = new as u8;
            }
            self.events.show(&mut subresource.now, node.queue, node.position, self.time, &named.scope, rendering);
        }
    }

    fn transition(&self, node: &Node, rendering: u32) -> Writer {
        Writer {
            queue: node.queue,
            position: node.position,
            stage: 0,
            access: 0,
            rendering,
            subpass: NONE,
            attachment: false,
            instance: NONE,
            available: self.time,
            looked: 0,
            transition: true,
        }
    }

    /// A transition that discards: whether older writes may still land on what is written next.
    fn discard(&mut self, node: &Node, at: u32, until: u32) -> bool {
        let scene = self.scene;
        let mut torn = !self.events.all_available_by(&mut self.subresources[at as usize].now, until, |_| true);
        // A barrier on another part of the image took in nothing for this one.
        let counts = |to: u32| to == at || scene.memory_at(to) != scene.memory_at(at);
        for &other in &scene.aliases[at as usize] {
            torn |= !self.events.all_available_by(&mut self.subresources[other as usize].now, until, counts);
            self.lose(other, node.run);
        }
        torn
    }

    /// Whether a transition or transfer loses the contents.
    fn is_lost(&mut self, at: u32, named: &Named, family: Option<u32>, until: u32) -> bool {
        let available = self.events.all_available(&mut self.subresources[at as usize].now, until);
        let subresource = &self.subresources[at as usize];
        let concurrent = self.scene.concurrent[named.memory];
        let other = !concurrent && subresource.owner.is_some_and(|owner| Some(owner) != family);
        let owned = match named.families.filter(|[from, to]| from != to) {
            Some([from, to]) if Some(to) == family && Some(from) != family => {
                subresource.release.is_some_and(|release| self.is_pair(release, named))
            }
            Some([from, _]) => Some(from) == family && subresource.release.is_none() && !other,
            None => subresource.release.is_none() && !other,
        };
        let layout = named.layouts.is_none_or(|[old, _]| old as u8 == subresource.layout);
        !available || !owned || !layout
    }

    /// Whether an acquire is the other half of a release.
    fn is_pair(&self, (list, at): (u8, u32), acquire: &Named) -> bool {
        let plan = self.scene.plan;
        let (at, own) = (at as usize, acquire.at as usize);
        match (list, acquire.list) {
            (0, 0) => {
                let (a, b) = (&plan.image_barriers[at], &plan.image_barriers[own]);
                a.families == b.families
                    && (a.old_layout, a.new_layout) == (b.old_layout, b.new_layout)
                    && (a.mips, a.layers, a.aspects) == (b.mips, b.layers, b.aspects)
            }
            (1, 1) => {
                let (a, b) = (&plan.buffer_barriers[at], &plan.buffer_barriers[own]);
                a.families == b.families && a.range == b.range
            }
            _ => false,
        }
    }

    /// The runtime's entry barrier.
    pub(super) fn enter(&mut self, node: &Node) {
        let scene = self.scene;
        let enter = &self.order.enters[node.a as usize];
        let edge = &scene.plan.edges[enter.edge];
        let resource = edge.resource;
        let memory = scene.facts.memory[resource];
        let image = scene.facts.shapes[resource].is_image();
        let defined = scene.facts.frames_ago[resource] > 0 || scene.facts.filled[memory];
        let family = scene.plan.queues.get(QueueId::new(node.queue as usize)).map(|queue| queue.family);
        let host = node.queue as usize == scene.host.index();
        let stages = if host { Stages::all() } else { edge.entry.stages };
        let access = if host { rgraph_ir::access::Accesses::all() } else { edge.entry.access };
        let scope = Scope { dst_stages: stages, dst_access: access, ..Scope::default() };
        let writer = self.transition(node, NONE);
        for &(at, first) in &enter.subresources {
            if let Some(source) = &enter.source {
                let content = &mut self.subresources[at as usize].now;
                self.events.take(content, (node.queue, node.position), self.time, source, NONE, None);
            }
            let subresource = &mut self.subresources[at as usize];
            if first {
                // The host sees its own writes.
                let own = host && subresource.now.writers.iter().all(|writer| writer.queue == node.queue);
                let available = own || self.events.all_available(&mut subresource.now, NEVER - 1);
                if !available {
                    self.blame.get_or_insert((*node, at, "loses what is not available"));
                }
                if !(defined && !(image && edge.entry.layout == Layout::Undefined)) {
                    subresource.now.value = UNDEFINED;
                    subresource.torn = if available { 0 } else { node.run + 1 };
                } else if !available {
                    subresource.now.value = POISON;
                }
                subresource.now.replace(writer);
                (subresource.instance, subresource.group, subresource.release) = (NONE, 0, None);
                (subresource.owner, subresource.layout) = (family, edge.entry.layout as u8);
            }
            self.events.show(&mut subresource.now, node.queue, node.position, self.time, &scope, NONE);
        }
    }
}
