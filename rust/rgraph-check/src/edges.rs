//! What crosses the border of a run: entry and exit states, roots, and the states in which things must be left.

use rgraph_ir::access::{Aspects, Layout};
use rgraph_ir::plan::{BatchId, Command, Edge, QueueId, Scope};
use rgraph_ir::resource::ResourceId;

use crate::clock::SyncNode;
use crate::facts::DeclaredUse;
use crate::finding::Rule;
use crate::ids::{AllocationId, DeclaredPassId, MemoryId, Place, SubresourceId};
use crate::machine::{Exit, Kept, Machine};
use crate::shape::SubresourceRange;
use crate::subresource::{AllocationPlace, Gone, Later};

fn part_of(edge: &Edge) -> SubresourceRange {
    let aspects = if edge.aspects.is_empty() { Aspects::all() } else { edge.aspects };
    SubresourceRange { mips: edge.mips, layers: edge.layers, aspects, bytes: edge.range }
}

impl Machine<'_> {
    /// Makes the runtime's entry barriers of all that a batch is the first of its queue to name in this run, whether
    /// its passes are switched on or not: behind its waits, before its first command.
    pub(crate) fn enter_batch(&mut self, queue: QueueId, batch: BatchId) {
        let (facts, plan) = (self.facts, self.plan);
        for command in &plan.commands[plan.batches[batch].commands.range()] {
            match *command {
                Command::Pass { pass, .. } => {
                    let Some(declared) = self.declared_of[pass] else { continue };
                    for at in &facts.declared_passes[declared].uses {
                        self.enter(queue, at.resource);
                        at.fallbacks.iter().for_each(|input| self.enter(queue, *input));
                    }
                }
                Command::BeginRendering { attachments, .. } => {
                    plan.attachments[attachments.range()].iter().for_each(|one| self.enter(queue, one.resource));
                }
                Command::Barriers(barriers) | Command::SetEvent(_, barriers) => {
                    let buffers = plan.buffer_barriers[barriers.buffers.range()].iter().map(|one| one.resource);
                    let images = plan.image_barriers[barriers.images.range()].iter().map(|one| one.resource);
                    buffers.chain(images).for_each(|resource| self.enter(queue, resource));
                }
                Command::WaitEvents(..) | Command::EndRendering => {}
            }
        }
    }

    fn enter(&mut self, queue: QueueId, resource: ResourceId) {
        if self.facts.memory.get(resource).is_some() {
            self.enter_allocation(queue, self.allocation(resource), resource);
        }
    }

    fn enter_allocation(&mut self, queue: QueueId, allocation: AllocationId, resource: ResourceId) {
        let facts = self.facts;
        let memory = self.allocations[allocation].memory;
        let run = Some(self.run);
        if !facts.edged[memory] || self.allocations[allocation].entered[queue] == run {
            return;
        }
        self.allocations[allocation].entered[queue] = run;
        let first = self.allocations[allocation].entered_run != run;
        self.allocations[allocation].entered_run = run;
        let what = facts.name(resource);
        let plan = self.plan;
        let of_this = |edge: &&Edge| {
            let other = edge.resource;
            facts.memory.get(other) == Some(&memory) && self.same_copy(other, resource)
        };
        let edges: Vec<&Edge> = plan.edges.iter().filter(of_this).collect();
        for edge in &edges {
            let entry = edge.entry.queue.unwrap_or(self.host);
            for subresource in facts.grids[memory].subresources(&part_of(edge)) {
                if entry == queue {
                    self.enter_subresource(edge, queue, AllocationPlace { allocation, subresource });
                }
            }
        }
        if first && edges.is_empty() {
            let message = format!("\"{what}\" outlives the frame but has no edge");
            self.findings.add(Rule::Edge, None, Some(what), message);
        }
        self.allocations[allocation].filled = true;
    }

    fn enter_subresource(&mut self, edge: &Edge, queue: QueueId, place: AllocationPlace) {
        let AllocationPlace { allocation, subresource } = place;
        let facts = self.facts;
        let resource = edge.resource;
        let memory = self.allocations[allocation].memory;
        let what = facts.name(resource);
        let entry = edge.entry;
        let scope = Scope { dst_stages: entry.stages, dst_access: entry.access, ..Default::default() };
        let position = self.now[queue].later_by(1);
        let clock = self.lanes.enter(queue, position, entry.stages);
        let run = self.run;
        let entered = self.allocations[allocation].subresources[subresource].writes.iter().any(|write| {
            let x = &self.done[write.done];
            x.run == run && x.node.is_some() && x.pass.is_none()
        });
        let node = self.nodes.push(SyncNode::new(queue, position, scope, clock));
        let state = &self.allocations[allocation].subresources[subresource];
        if entered || state.written == Some(run) || state.reads.iter().any(|read| self.done[read.done].run == run) {
            // A second queue that reads after the first queue's entry: it has an entry of its own.
            let state = &mut self.allocations[allocation].subresources[subresource];
            state.nodes.push(node);
            for write in &mut state.writes {
                write.at.push(node);
            }
            return;
        }
        let mut late = Vec::new();
        {
            let clocks = self.clocks();
            let y = Later::Node(node);
            let state = &self.allocations[allocation].subresources[subresource];
            for done in state.writes.iter().map(|write| write.done).chain(state.reads.iter().map(|read| read.done)) {
                let x = &self.done[done];
                let handed = x.queue == queue || self.exits.get(&place).is_some_and(|exit| exit.queue == queue);
                if !handed && x.node.is_none_or(|_| x.pass.is_some()) && !clocks.is_ordered(x, &[], &y) {
                    late.push(done);
                }
            }
        }
        let part = self.part(memory, subresource);
        for done in late {
            let x = self.done[done];
            let message = format!(
                "\"{what}\"{part} is first used on {} after {} in the run before on {}: no wait with frame -1 orders them",
                self.queue_name(queue),
                self.pass_name(x.pass).map_or("a transition".to_owned(), |pass| format!("pass \"{pass}\"")),
                self.queue_name(x.queue)
            );
            self.findings.add(Rule::Race, self.pass_name(x.pass), Some(what), message);
        }
        self.record_node(place, node, None);
        let defined = facts.frames_ago[resource] > 0 || facts.filled[memory];
        let family = self.family(queue);
        let image = facts.shapes[resource].is_image();
        let state = &mut self.allocations[allocation].subresources[subresource];
        state.layout = entry.layout;
        state.owner = family;
        state.release = None;
        let keeps = defined && !(image && entry.layout == Layout::Undefined);
        state.gone = if keeps { None } else { Some(if defined { Gone::Transition } else { Gone::Unwritten }) };
    }

    /// Checks the exit states of a run.
    pub(crate) fn end_run(&mut self) {
        if self.rendering.take().is_some() {
            self.findings.add(Rule::Malformed, None, None, "a render pass does not end".to_owned());
        }
        for at in 0..self.plan.edges.len() {
            let edge = self.plan.edges[at];
            if self.facts.memory.get(edge.resource).is_some() {
                self.exit(&edge);
            }
        }
        self.check_covered();
        self.check_roots();
        self.check_left();
    }

    fn exit(&mut self, edge: &Edge) {
        let facts = self.facts;
        let resource = edge.resource;
        let memory = facts.memory[resource];
        let allocation = self.allocation(resource);
        if self.allocations[allocation].entered_run != Some(self.run) {
            return;
        }
        let queue = edge.exit.queue.unwrap_or(self.host);
        let what = facts.name(resource);
        let exit = edge.exit;
        let scope = Scope { src_stages: exit.stages, src_access: exit.access, ..Default::default() };
        let position = self.now[queue].later_by(1);
        let clock = self.lanes.enter(queue, position, exit.stages);
        let node = self.nodes.push(SyncNode::new(queue, position, scope, clock));
        for subresource in facts.grids[memory].subresources(&part_of(edge)) {
            let mut late = Vec::new();
            let state = &self.allocations[allocation].subresources[subresource];
            let clocks = self.clocks();
            for (done, write) in state
                .writes
                .iter()
                .map(|write| (write.done, Some(write)))
                .chain(state.reads.iter().map(|read| (read.done, None)))
            {
                let x = &self.done[done];
                if x.run != self.run || x.node.is_some() && x.pass.is_none() {
                    continue;
                }
                let host = queue == self.host && x.queue == self.host;
                let stage = usize::from(x.op.stage);
                let leaves_so = match x.node {
                    // A transition is covered by its destination stages, a release by the semaphore for which the
                    // acquiring submit waits.
                    Some(n) => {
                        self.nodes[n].queue == queue
                            && (state.release.is_some()
                                || self.nodes[n].later.intersects(crate::tables::with_earlier(exit.stages)))
                            || clocks.is_ordered(x, &[], &Later::Node(node))
                    }
                    None => {
                        clocks.is_ordered(x, write.map_or(&[], |write| &write.at), &Later::Node(node))
                            && write.is_none_or(|write| {
                                self.nodes[node].takes(x.queue, x.position, stage, x.op.access)
                                    || clocks.is_available(x, &write.at, node)
                            })
                    }
                };
                if !leaves_so && !host {
                    late.push(done);
                }
            }
            let layout = state.layout;
            let part = self.part(memory, subresource);
            for done in late {
                let x = self.done[done];
                let name = self.pass_name(x.pass);
                let message = format!(
                    "the exit state of \"{what}\"{part} on {} ({}) does not cover its last use by {} ({}) on {}",
                    self.queue_name(queue),
                    Self::words(exit.stages, exit.access),
                    name.map_or("a transition".to_owned(), |pass| {
                        format!("{}pass \"{pass}\"", if x.node.is_some() { "a transition after " } else { "" })
                    }),
                    match x.node {
                        Some(n) => Self::words(self.nodes[n].scope.dst_stages, self.nodes[n].scope.dst_access),
                        None => Self::words(crate::tables::leaf(usize::from(x.op.stage)), x.op.access),
                    },
                    self.queue_name(x.queue)
                );
                self.findings.add(Rule::Edge, name, Some(what), message);
            }
            if facts.shapes[resource].is_image() && exit.layout != layout {
                let message = format!(
                    "the exit state of \"{what}\"{part} names layout {}, but the plan leaves it in {layout}",
                    exit.layout
                );
                self.findings.add(Rule::Edge, None, Some(what), message);
            }
            self.exits.insert(AllocationPlace { allocation, subresource }, Exit { queue, run: self.run });
        }
    }

    /// Every subresource of a resource that outlives the frame and was used has an edge.
    fn check_covered(&mut self) {
        let run = self.run;
        let mut missing = Vec::new();
        for (allocation, state) in self.allocations.iter_ids() {
            if !self.facts.edged[state.memory] {
                continue;
            }
            for (subresource, here) in state.subresources.iter_ids() {
                let dones = here.writes.iter().map(|w| w.done).chain(here.reads.iter().map(|r| r.done));
                let mut used = dones.filter(|done| self.done[*done].run == run).peekable();
                if used.peek().is_some()
                    && self.exits.get(&AllocationPlace { allocation, subresource }).is_none_or(|exit| exit.run != run)
                {
                    missing.push(Place { memory: state.memory, subresource });
                }
            }
        }
        for Place { memory, subresource } in missing {
            let what = self.facts.memory_name(memory);
            let message =
                format!("\"{what}\"{} outlives the frame and is used, but has no edge", self.part(memory, subresource));
            self.findings.add(Rule::Edge, None, Some(what), message);
        }
    }

    /// Roots, and what outlives the frame, hold what was written when the frame ends.
    fn check_roots(&mut self) {
        let facts = self.facts;
        for at in 0..self.kept.len() {
            let Kept { resource, subresource } = self.kept[at];
            let memory = facts.memory[resource];
            let allocation = self.allocation(resource);
            let Some(gone) = self.allocations[allocation].subresources[subresource].gone else { continue };
            let used = !facts.edged[memory] || self.allocations[allocation].entered_run == Some(self.run);
            let untouched = gone == Gone::Unwritten && facts.writers[memory][subresource].is_empty();
            if !used || untouched || !facts.finds(resource, subresource, None, &self.flags) {
                continue;
            }
            let what = facts.name(resource);
            let part = self.part(memory, subresource);
            let why = self.why_gone(gone);
            let message = format!("\"{what}\"{part} does not hold its contents at the end of the frame: {why}");
            self.findings.add(Rule::Undefined, None, Some(what), message);
        }
    }

    /// Whether the last listed use of a subresource is the host's, also if its pass is switched off in this run.
    fn is_last_on_host(&self, memory: MemoryId, subresource: SubresourceId) -> bool {
        let facts = self.facts;
        let part = |at: &DeclaredUse| facts.grids[memory].subresources(&at.part).binary_search(&subresource).is_ok();
        let uses = |declared: DeclaredPassId| {
            facts.declared_passes[declared].uses.iter().any(|at| {
                let mut inputs = at.fallbacks.iter().copied();
                let ours = |resource: ResourceId| facts.memory[resource] == memory && facts.frames_ago[resource] == 0;
                ours(at.resource) && at.subresources.binary_search(&subresource).is_ok() || inputs.any(ours) && part(at)
            })
        };
        let batches = self.plan.batches.iter().rev();
        let mut passes = batches.flat_map(|batch| {
            let commands = self.plan.commands[batch.commands.range()].iter().rev();
            commands.filter_map(move |command| match command {
                Command::Pass { pass, .. } => Some((batch.queue, self.declared_of[*pass]?)),
                _ => None,
            })
        });
        passes.find(|(_, declared)| uses(*declared)).is_some_and(|(queue, _)| queue.is_none())
    }

    /// Declared `leave` states are reached, and no release waits for ever.
    fn check_left(&mut self) {
        let facts = self.facts;
        for (id, resource) in facts.graph.resources().iter_ids() {
            let Some(leave) = resource.leave.filter(|_| facts.left(facts.memory[id]).is_some()) else { continue };
            let allocation = self.allocation(id);
            if self.allocations[allocation].last == 0 {
                continue;
            }
            let noted = crate::structure::is_noted(self.plan, facts.memory_name(facts.memory[id]));
            let memory = facts.memory[id];
            let queue = leave.queue.and_then(|queue| crate::structure::named_queue(self.plan, queue));
            let family = queue.and_then(|queue| self.family(queue));
            for subresource in facts.grids[memory].ids() {
                let state = &self.allocations[allocation].subresources[subresource];
                let used = state.writes.iter().map(|w| w.done).chain(state.reads.iter().map(|r| r.done));
                let of_run = used.map(|done| &self.done[done]).filter(|done| done.run == self.run);
                let Some(last) = of_run.max_by_key(|done| done.sequence) else { continue };
                // Only what the host uses last may stay as it is, and the plan says so.
                if noted && (last.queue == self.host || self.is_last_on_host(memory, subresource)) {
                    continue;
                }
                let reached = state.release.as_ref().map_or(state.layout, |release| release.layouts[1]);
                let owner = state.release.as_ref().map(|release| release.families[1]).or(state.owner);
                let part = self.part(memory, subresource);
                let what = facts.name(id);
                if let Some(layout) = leave
                    .layout
                    .filter(|layout| facts.shapes[id].is_image() && *layout != reached && *layout != Layout::Undefined)
                {
                    let message = format!("\"{what}\"{part} must be left in {layout} but is left in {reached}");
                    self.findings.add(Rule::Leave, None, Some(what), message);
                }
                if let (Some(family), Some(owner), false) = (family, owner, self.concurrent[memory])
                    && family != owner
                {
                    let message =
                        format!("\"{what}\"{part} must be left to queue family {family} but family {owner} keeps it");
                    self.findings.add(Rule::Leave, None, Some(what), message);
                }
            }
        }
        for (allocation, state) in self.allocations.iter_ids() {
            if facts.left(state.memory).is_some() || facts.edged[state.memory] {
                continue;
            }
            let pending =
                state.subresources.ids().find(|subresource| state.subresources[*subresource].release.is_some());
            if let Some(subresource) = pending {
                let what = facts.memory_name(state.memory);
                let part = self.part(state.memory, subresource);
                let pass = self.allocations[allocation].subresources[subresource]
                    .release
                    .as_ref()
                    .and_then(|release| release.pass);
                let message = format!("\"{what}\"{part} is released to another family that never acquires it");
                self.findings.add(Rule::Ownership, self.pass_name(pass), Some(what), message);
            }
        }
    }
}
