//! Barriers, split barriers, transitions and transfers of ownership.

use rgraph_ir::access::{Accesses, Aspects, Layout, Stages};
use rgraph_ir::plan::{Barriers, PlanPassId, QueueId, Scope, Why};
use rgraph_ir::resource::ResourceId;

use crate::clock::{Clock, Lanes, SyncNode};
use crate::finding::Rule;
use crate::ids::{AllocationId, NodeId, SubresourceId};
use crate::machine::Machine;
use crate::region::{FRAMEBUFFER_SPACE, Region};
use crate::shape::SubresourceRange;
use crate::subresource::{AllocationPlace, Gone, Later, Lent, Release, Write, meant};
use crate::tables::{leaf, leaves};

/// A barrier of a buffer or image, in common words.
struct Named {
    resource: ResourceId,
    part: SubresourceRange,
    layouts: Option<[Layout; 2]>,
    families: Option<[u32; 2]>,
    why: Why,
}

impl Machine<'_> {
    /// One pipeline-barrier call.
    pub(crate) fn barriers(&mut self, queue: QueueId, barriers: &Barriers) {
        if queue == self.host {
            return;
        }
        if barriers.by_region {
            self.regions(queue, barriers);
            return;
        }
        if self.rendering.as_ref().is_some_and(|rendering| rendering.runs) {
            let message = "a barrier within a render pass does not hold by region".to_owned();
            self.findings.add(Rule::Malformed, None, None, message);
        }
        let nodes = self.set(queue, barriers);
        self.leave(queue, barriers, &nodes);
        self.publish(queue, barriers, &nodes);
    }

    /// The subresources of a part of a resource.
    fn subresources_of(&self, resource: ResourceId, part: &SubresourceRange) -> Vec<SubresourceId> {
        self.facts.grids[self.facts.memory[resource]].subresources(part)
    }

    fn named(&self, barriers: &Barriers) -> Vec<(Named, Scope)> {
        let plan = self.plan;
        let buffers = plan.buffer_barriers[barriers.buffers.range()].iter().map(|b| {
            let part = SubresourceRange::buffer(b.range);
            (Named { resource: b.resource, part, layouts: None, families: b.families, why: b.why }, b.scope)
        });
        let images = plan.image_barriers[barriers.images.range()].iter().map(|b| {
            let aspects = if b.aspects.is_empty() { Aspects::all() } else { b.aspects };
            let part = SubresourceRange::image(b.mips, b.layers, aspects);
            let layouts = Some([b.old_layout, b.new_layout]);
            (Named { resource: b.resource, part, layouts, families: b.families, why: b.why }, b.scope)
        });
        buffers.chain(images).collect()
    }

    /// First half: the nodes with what has entered them.
    ///
    /// Into a node within a render pass enter operations of that render pass alone, and what was before these by other
    /// means (Vulkan 1.3, `vkCmdPipelineBarrier2`, "within a render pass instance"; subpass dependencies).
    pub(crate) fn set(&mut self, queue: QueueId, barriers: &Barriers) -> Vec<Option<NodeId>> {
        let position = self.now[queue];
        let rendering = self.rendering.as_ref().map(|rendering| rendering.id).filter(|_| barriers.by_region);
        let mut known: Vec<(Stages, Clock)> = Vec::new();
        let mut made = Vec::new();
        let mut clock_of = |lanes: &Lanes, stages: Stages| match known.iter().find(|(s, _)| *s == stages) {
            Some((_, clock)) => clock.clone(),
            None => {
                let clock = match rendering {
                    Some(_) => lanes.chain(queue, stages),
                    None => lanes.enter(queue, position, stages),
                };
                known.push((stages, clock.clone()));
                clock
            }
        };
        for barrier in &self.plan.memory_barriers[barriers.memory.range()] {
            let mut clock = clock_of(&self.lanes, barrier.scope.src_stages);
            if rendering.is_none() {
                Lanes::make_available(&mut clock, queue, position, &barrier.scope);
            }
            let node = SyncNode::new(queue, position, barrier.scope, clock);
            let node = self.nodes.push(SyncNode { rendering, ..node });
            #[cfg(test)]
            self.log.covers.push((node, None));
            made.push(Some(node));
        }
        for (named, scope) in self.named(barriers) {
            if self.facts.memory.get(named.resource).is_none() {
                made.push(None);
                continue;
            }
            let clock = clock_of(&self.lanes, scope.src_stages);
            let node = self.nodes.push(SyncNode { rendering, ..SyncNode::new(queue, position, scope, clock) });
            made.push(Some(node));
            let allocation = self.allocation(named.resource);
            #[cfg(test)]
            self.log.covers.push((node, Some((allocation, self.subresources_of(named.resource, &named.part)))));
            self.take(allocation, &named.part, node);
        }
        made
    }

    /// Makes writes available that a named barrier takes in by itself.
    fn take(&mut self, allocation: AllocationId, part: &SubresourceRange, node: NodeId) {
        let facts = self.facts;
        let n = &self.nodes[node];
        let others = self.residents.around(allocation);
        for subresource in facts.grids[self.allocations[allocation].memory].subresources(part) {
            let since = self.allocations[allocation].subresources[subresource].alias_seen;
            let aliased =
                others.iter().copied().filter(|&other| self.allocations[other].last > since).collect::<Vec<_>>();
            let takes = |write: &Write| {
                let x = &self.done[write.done];
                let meets = n.rendering.is_none() || n.rendering == x.rendering;
                x.node.is_none() && meets && n.takes(x.queue, x.position, usize::from(x.op.stage), x.op.access)
            };
            for write in
                self.allocations[allocation].subresources[subresource].writes.iter_mut().filter(|write| takes(write))
            {
                if write.at.last() != Some(&node) {
                    write.at.push(node);
                }
            }
            for other in aliased {
                let there = self.allocations[other].subresources.iter_mut().flat_map(|there| &mut there.writes);
                for write in there.filter(|write| takes(write)) {
                    write.lent.push(Lent { node, to: AllocationPlace { allocation, subresource }, host: Vec::new() });
                }
            }
        }
    }

    /// Second half: transitions happen.
    pub(crate) fn leave(&mut self, queue: QueueId, barriers: &Barriers, made: &[Option<NodeId>]) {
        let position = self.now[queue];
        for node in made.iter().flatten() {
            self.nodes[*node].leave = position;
        }
        for ((named, _), node) in self.named(barriers).into_iter().zip(&made[barriers.memory.len()..]) {
            if let Some(node) = node {
                self.named_barrier(queue, &named, *node);
            }
        }
    }

    /// What follows on the queue is ordered after a barrier.
    pub(crate) fn publish(&mut self, queue: QueueId, barriers: &Barriers, made: &[Option<NodeId>]) {
        let memory = barriers.memory.len();
        let mut known: Vec<(Stages, Stages)> = Vec::new();
        for (at, node) in made.iter().enumerate() {
            let Some(node) = *node else { continue };
            let scope = self.nodes[node].scope;
            self.show_to_host(at < memory, node);
            if at < memory {
                self.lanes.publish_visible(queue, &scope, &self.nodes[node].clock);
                self.lanes.publish(queue, self.nodes[node].later, &self.nodes[node].clock);
            } else if !known.contains(&(scope.src_stages, scope.dst_stages)) {
                known.push((scope.src_stages, scope.dst_stages));
                self.lanes.publish(queue, self.nodes[node].later, &self.nodes[node].clock);
            }
        }
    }

    /// A global barrier to the host makes every available write visible to it.
    fn show_to_host(&mut self, global: bool, node: NodeId) {
        if !global || !to_host(&self.nodes[node].scope) {
            return;
        }
        for allocation in self.allocations.ids() {
            for subresource in self.allocations[allocation].subresources.ids() {
                self.show_subresource_to_host(AllocationPlace { allocation, subresource }, node);
            }
        }
    }

    fn show_subresource_to_host(&mut self, AllocationPlace { allocation, subresource }: AllocationPlace, node: NodeId) {
        for at in 0..self.allocations[allocation].subresources[subresource].writes.len() {
            let write = &self.allocations[allocation].subresources[subresource].writes[at];
            let (clocks, x) = (self.clocks(), &self.done[write.done]);
            let shown = clocks.is_available(x, &write.at, node);
            let lent: Vec<_> = write.lent.iter().map(|lent| clocks.is_available(x, &[lent.node], node)).collect();
            let write = &mut self.allocations[allocation].subresources[subresource].writes[at];
            write.host.extend(shown.then_some(node));
            for (lent, _) in write.lent.iter_mut().zip(lent).filter(|(_, shown)| *shown) {
                lent.host.push(node);
            }
        }
    }

    fn named_barrier(&mut self, queue: QueueId, named: &Named, node: NodeId) {
        let allocation = self.allocation(named.resource);
        let pass = meant(&named.why).filter(|pass| self.plan.passes.get(*pass).is_some());
        self.nodes[node].pass = pass;
        let scope = self.nodes[node].scope;
        let families = named.families.filter(|[from, to]| from != to);
        let moves = named.layouts.is_some_and(|[old, new]| old != new || old == Layout::Undefined);
        let destroys = named.layouts.is_some_and(|[old, _]| old == Layout::Undefined);
        let subresources = self.subresources_of(named.resource, &named.part);
        if destroys && moves {
            self.destroy_aliases(allocation);
        }
        for subresource in subresources {
            let place = AllocationPlace { allocation, subresource };
            if !moves && families.is_none() {
                self.allocations[allocation].subresources[subresource].nodes.push(node);
                if to_host(&scope) {
                    self.show_subresource_to_host(place, node);
                }
                continue;
            }
            self.check_pairs(place, &Later::Node(node), named.resource);
            self.check_transition(queue, named, families, place, pass);
            let own = self.family(queue);
            let releases = families.is_some_and(|[from, _]| Some(from) == own);
            if releases && !moves {
                // It writes nothing and makes nothing visible: another user of the memory, such as the host, must see
                // the writes by itself (Vulkan 1.3, "Queue Family Ownership Transfer").
                #[cfg(test)]
                {
                    self.begin_instance();
                    self.log.releases.push(self.transition(place, node, pass));
                }
                continue;
            }
            self.record_node(place, node, pass);
            self.supersede(place);
            if to_host(&scope) && !releases {
                self.show_subresource_to_host(place, node);
            }
            let state = &mut self.allocations[allocation].subresources[subresource];
            if destroys && state.gone.is_none() {
                state.gone = Some(Gone::Transition);
            }
            if let (Some([_, new]), false) = (named.layouts, releases) {
                state.layout = new;
            }
        }
    }

    /// Layouts and owners around a transition or half a transfer.
    fn check_transition(
        &mut self,
        queue: QueueId,
        named: &Named,
        families: Option<[u32; 2]>,
        AllocationPlace { allocation, subresource }: AllocationPlace,
        pass: Option<PlanPassId>,
    ) {
        let facts = self.facts;
        let memory = facts.memory[named.resource];
        let what = facts.name(named.resource);
        let part = self.part(memory, subresource);
        let who = self.pass_name(pass);
        let before = who.map_or(String::new(), |pass| format!(" for pass \"{pass}\""));
        let own = self.family(queue);
        let concurrent = self.concurrent[memory];
        let state = &self.allocations[allocation].subresources[subresource];
        let (layout, owner, release) = (state.layout, state.owner, state.release.clone());
        let layouts = named.layouts.unwrap_or([crate::contents::NO_LAYOUT; 2]);
        let discards = named.layouts.is_some() && layouts[0] == Layout::Undefined;
        let mut new_owner = if concurrent { owner } else { own };
        let mut new_release = None;
        match families {
            Some([from, to]) if Some(to) == own && Some(from) != own => match release {
                Some(release) if release.families == [from, to] => {
                    if release.layouts != layouts {
                        let message = format!(
                            "\"{what}\"{part} is released with layouts {} to {} and acquired with {} to {}",
                            release.layouts[0], release.layouts[1], layouts[0], layouts[1]
                        );
                        self.findings.add(Rule::Ownership, who, Some(what), message);
                    }
                    if release.part != named.part {
                        let message = format!("release and acquire of \"{what}\"{part} differ in their range");
                        self.findings.add(Rule::Ownership, who, Some(what), message);
                    }
                }
                _ => {
                    let message = format!(
                        "\"{what}\"{part} is acquired by family {to} from family {from}{before} without a release"
                    );
                    self.findings.add(Rule::Ownership, who, Some(what), message);
                }
            },
            Some([from, to]) if Some(from) == own => {
                new_owner = None;
                let pass = named.why.from;
                new_release = Some(Release { families: [from, to], layouts, part: named.part, pass });
                if release.is_some() || owner.is_some_and(|owner| owner != from) && !concurrent {
                    let message = format!("family {from} releases \"{what}\"{part}, which it does not own");
                    self.findings.add(Rule::Ownership, who, Some(what), message);
                }
            }
            Some([from, to]) => {
                let message =
                    format!("\"{what}\"{part} passes from family {from} to {to} on a queue of neither{before}");
                self.findings.add(Rule::Ownership, who, Some(what), message);
            }
            None if release.is_some() && !discards => {
                let message = format!("\"{what}\"{part} changes layout{before} between its release and its acquire");
                self.findings.add(Rule::Ownership, who, Some(what), message);
            }
            None if !discards && !concurrent && owner.is_some() && owner != own => {
                let message = format!(
                    "\"{what}\"{part} changes layout{before} on family {}, but family {} owns it: no release and acquire",
                    own.unwrap_or(0),
                    owner.unwrap_or(0)
                );
                self.findings.add(Rule::Ownership, who, Some(what), message);
            }
            None => {}
        }
        if !discards && layouts[0] != layout && named.layouts.is_some() {
            let message = format!(
                "the barrier on \"{what}\"{part}{before} names old layout {}, but the image is in {layout}",
                layouts[0]
            );
            self.findings.add(Rule::Layout, who, Some(what), message);
        }
        let state = &mut self.allocations[allocation].subresources[subresource];
        (state.owner, state.release) = (new_owner, new_release);
    }

    /// A dependency between the passes of one render pass.
    fn regions(&mut self, queue: QueueId, barriers: &Barriers) {
        let position = self.now[queue];
        let runs = match &self.rendering {
            Some(rendering) => rendering.runs,
            None => {
                let message = "a by-region barrier stands outside a render pass".to_owned();
                self.findings.add(Rule::Malformed, None, None, message);
                return;
            }
        };
        if !runs {
            return;
        }
        let nodes = self.set(queue, barriers);
        self.check_region(barriers);
        let global = barriers.memory.range().len();
        for (at, node) in nodes.iter().enumerate() {
            let Some(node) = *node else { continue };
            let of = at.checked_sub(global).map(|at| self.region_of(barriers, at));
            if let Some(rendering) = &mut self.rendering {
                rendering.regions.push(Region { position, scope: self.nodes[node].scope, of });
            }
        }
        self.leave(queue, barriers, &nodes);
    }

    /// The allocation and subresources that a named entry of a barrier call is about.
    fn region_of(&self, barriers: &Barriers, at: usize) -> (AllocationId, Vec<SubresourceId>) {
        let (named, _) = &self.named(barriers)[at];
        (self.allocation(named.resource), self.subresources_of(named.resource, &named.part))
    }

    /// A by-region dependency stands between two subpasses and names stages that work texel by texel.
    fn check_region(&mut self, barriers: &Barriers) {
        let memory = self.plan.memory_barriers[barriers.memory.range()].iter().map(|b| b.scope);
        let scopes: Vec<Scope> = memory.chain(self.named(barriers).into_iter().map(|(_, scope)| scope)).collect();
        let strange = scopes.iter().fold(Stages::empty(), |all, scope| all | scope.src_stages | scope.dst_stages)
            - FRAMEBUFFER_SPACE;
        if !strange.is_empty() {
            let names: Vec<_> = strange.names().collect();
            let message = format!("a by-region barrier names {}, which works on no texel of its own", names.join("|"));
            self.findings.add(Rule::UnsupportedStage, None, None, message);
        }
        if self.named(barriers).iter().any(|(named, _)| named.families.is_some()) {
            let message = "a by-region barrier transfers ownership".to_owned();
            self.findings.add(Rule::Malformed, None, None, message);
        }
    }
}

impl Machine<'_> {
    /// Stages and accesses in words.
    pub(crate) fn words(stages: Stages, access: Accesses) -> String {
        let stages: Vec<_> = stages.names().collect();
        let access: Vec<_> = access.names().collect();
        format!("{} / {}", stages.join("|"), access.join("|"))
    }
}

fn to_host(scope: &Scope) -> bool {
    leaves(scope.dst_stages).any(|stage| leaf(stage) == Stages::HOST)
        && scope.dst_access.intersects(Accesses::HOST_READ | Accesses::HOST_WRITE)
}
