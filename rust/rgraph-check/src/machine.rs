//! The abstract machine: walks a plan run after run, batch by batch, keeps clocks of every queue and the state of
//! every subresource, and reports what it finds.
//!
//! One long walk covers frames in flight and conditions: the first three runs have every flag on, then every
//! combination (up to 2^6, sampled beyond) runs twice in a row. Since every use is checked against what the runs
//! before left, reuse of bytes between runs of different conditions is checked too.

mod after;
#[cfg(test)]
pub(crate) mod log;
mod pairs;
mod state;
mod supersede;

use std::collections::HashMap;

use rgraph_ir::access::{Sharing, Stages, Usage};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Barriers, BatchId, Command, EventId, Plan, PlanPassId, QueueId};
use rgraph_ir::resource::ResourceId;

use crate::bytes::Bytes;
use crate::clock::{Lanes, SyncNode};
use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::{
    AllocationId, CommandId, DeclaredOf, DeclaredPassId, DoneId, FlagStates, InstanceId, MemoryId, NodeId, Position,
    RenderingId, RunId, Subpass,
};
use crate::residents::Residents;
use crate::subresource::{
    AllocationPlace, Clocks, Done, Gone, Later, Local, Read, SubresourceState, TRANSITION, Write,
};
use crate::tables::{RESOLVE_READ, leaf, ops};
pub(crate) use state::{Accessed, Allocation, Exit, Extra, Kept, Ordering, Rendering, Signal, Stand, UseOf};
pub(crate) use supersede::Replaced;

/// An event that is set: its nodes, its dependency, its queue.
type Event = (Vec<Option<NodeId>>, Barriers, QueueId);

/// By queue: its signals of one run.
type Signals = IdVec<QueueId, Vec<Signal>>;

pub(crate) struct Machine<'a> {
    pub facts: &'a Facts<'a>,
    pub plan: &'a Plan,
    pub findings: &'a mut Findings,
    /// By pass of the plan: its declared pass.
    pub declared_of: &'a DeclaredOf,
    pub host: QueueId,
    pub lanes: Lanes,
    pub now: IdVec<QueueId, Position>,
    pub nodes: IdVec<NodeId, SyncNode>,
    pub done: IdVec<DoneId, Done>,
    pub allocations: IdVec<AllocationId, Allocation>,
    /// By memory: its first allocation; none for what is in the ring of another.
    pub first_allocation: IdVec<MemoryId, Option<AllocationId>>,
    pub bytes: Bytes,
    /// The allocations that accesses of their bytes are still checked against.
    pub residents: Residents<AllocationId>,
    pub concurrent: IdVec<MemoryId, bool>,
    pub run: RunId,
    pub flags: FlagStates,
    pub signals: Signals,
    pub before: Signals,
    pub rendering: Option<Rendering>,
    /// The render pass that begins next.
    pub next_rendering: RenderingId,
    pub events: IdVec<EventId, Option<Event>>,
    /// What runs, or ran last.
    pub instance: InstanceId,
    /// The queue on which the run before left a subresource.
    pub exits: HashMap<AllocationPlace, Exit>,
    /// Resources and subresources whose contents somebody sees after the frame.
    pub kept: Vec<Kept>,
    /// By declared pass: its place in this run.
    pub ran_at: IdVec<DeclaredPassId, Option<Stand>>,
    /// Pure orderings, sorted by the later pass.
    pub after: Vec<Ordering>,
    /// What the exact checker of the tests asks for.
    #[cfg(test)]
    pub log: log::Log,
}

/// The conditions of each run of the walk.
pub(crate) fn conditions(flags: usize) -> Vec<FlagStates> {
    let mut runs = vec![FlagStates::filled(true, flags); 3];
    if flags == 0 {
        return runs;
    }
    let mut random = crate::random::Random::new(flags as u64);
    let combinations = if flags <= 6 { 1 << flags } else { 64 };
    for index in 0..combinations {
        let combination: FlagStates = (0..flags)
            .map(|flag| if flags <= 6 { (index ^ (index >> 1)) >> flag & 1 == 0 } else { random.chance(1, 2) })
            .collect();
        runs.push(combination.clone());
        runs.push(combination);
    }
    runs
}

/// Roots and what outlives the frame, as far as the work behind it is needed.
fn kept(facts: &Facts) -> Vec<Kept> {
    let mut kept = Vec::new();
    for (id, _) in facts.graph.resources().iter_ids().filter(|(id, _)| facts.frames_ago[*id] == 0) {
        let memory = facts.memory[id];
        if facts.edged[memory] || facts.graph.roots().contains(&id) {
            let subresources = facts.grids[memory].ids().filter(|subresource| facts.is_kept(memory, *subresource));
            kept.extend(subresources.map(|subresource| Kept { resource: id, subresource }));
        }
    }
    kept
}

impl<'a> Machine<'a> {
    pub(crate) fn new(
        facts: &'a Facts<'a>,
        plan: &'a Plan,
        declared_of: &'a DeclaredOf,
        findings: &'a mut Findings,
    ) -> Self {
        let host = QueueId::new(plan.queues.len());
        let queues = plan.queues.len() + 1;
        let count = facts.memory.len();
        let mut allocations = IdVec::<AllocationId, Allocation>::new();
        let mut first_allocation = IdVec::<MemoryId, _>::filled(None, count);
        for memory in first_allocation.ids() {
            if facts.memory[memory.first_name()] != memory {
                continue;
            }
            first_allocation[memory] = Some(AllocationId::new(allocations.len()));
            for _ in 0..facts.ring[memory] {
                allocations.push(Allocation {
                    memory,
                    subresources: IdVec::filled(SubresourceState::new(), facts.grids[memory].len()),
                    last: 0,
                    replaced: Replaced::default(),
                    filled: false,
                    entered: IdVec::filled(None, queues),
                    entered_run: None,
                });
            }
        }
        let mut concurrent = IdVec::filled(false, count);
        for (id, resource) in plan.resources.iter_ids().take(count) {
            // An executor makes a memory as its first name is shared.
            concurrent[MemoryId::of_first(id)] = resource.sharing == Sharing::Concurrent;
        }
        let residents = Residents::new(facts, plan, allocations.len(), |memory| first_allocation[memory]);
        let ordering = |(later, earlier)| Ordering { later, earlier };
        let after = facts.orderings().into_iter().map(ordering).collect();
        let events = plan.commands.iter().filter_map(|command| match command {
            Command::SetEvent(event, _) | Command::WaitEvents(event, _) => Some(event.index() + 1),
            _ => None,
        });
        let events = events.max().unwrap_or(0).min(plan.commands.len() + 1);
        Self {
            facts,
            plan,
            findings,
            declared_of,
            host,
            lanes: Lanes::new(queues),
            now: IdVec::filled(Position(1), queues),
            nodes: IdVec::new(),
            done: IdVec::new(),
            allocations,
            first_allocation,
            bytes: Bytes::new(facts, plan),
            residents,
            concurrent,
            run: RunId::new(0),
            flags: FlagStates::new(),
            signals: IdVec::filled(Vec::new(), queues),
            before: IdVec::filled(Vec::new(), queues),
            rendering: None,
            next_rendering: RenderingId::new(0),
            events: IdVec::filled(None, events),
            instance: InstanceId::new(0),
            exits: HashMap::new(),
            kept: kept(facts),
            ran_at: IdVec::filled(None, facts.declared_passes.len()),
            after,
            #[cfg(test)]
            log: log::Log::default(),
        }
    }

    /// Walks all runs.
    pub(crate) fn walk(&mut self) {
        let ring = self.facts.ring.iter().copied().max().unwrap_or(1) as usize;
        let mut runs = conditions(self.facts.graph.flags().len());
        while runs.len() < ring + 2 {
            runs.push(runs[0].clone());
        }
        for (run, flags) in runs.into_iter().enumerate() {
            if self.findings.is_full() {
                return;
            }
            self.run = RunId::new(run);
            self.flags = flags;
            self.begin_run();
            for batch in self.plan.batches.ids() {
                self.batch(batch);
                if self.findings.is_full() {
                    return;
                }
            }
            self.end_run();
        }
    }

    /// The allocation that a resource is in during this run.
    pub(crate) fn allocation(&self, resource: ResourceId) -> AllocationId {
        let memory = self.facts.memory[resource];
        let (ring, ago) = (self.facts.ring[memory] as usize, self.facts.frames_ago[resource] as usize);
        let first = self.first_allocation[memory].expect("a memory has an allocation");
        AllocationId::new(first.index() + (self.run.index() + ring * 64 - ago) % ring)
    }

    pub(crate) fn family(&self, queue: QueueId) -> Option<u32> {
        self.plan.queues.get(queue).map(|queue| queue.family)
    }

    pub(crate) fn clocks(&self) -> Clocks<'_> {
        Clocks { lanes: &self.lanes, nodes: &self.nodes, done: &self.done, host: self.host }
    }

    fn begin_run(&mut self) {
        self.before = std::mem::replace(&mut self.signals, IdVec::filled(Vec::new(), self.host.index() + 1));
        self.events.iter_mut().for_each(|event| *event = None);
        self.ran_at.iter_mut().for_each(|at| *at = None);
        for allocation in self.allocations.iter_mut() {
            let transient = !self.facts.edged[allocation.memory];
            if self.facts.fresh[allocation.memory] {
                // Memory of this run alone: no earlier run under way uses it.
                allocation.subresources.iter_mut().for_each(|state| *state = SubresourceState::new());
                allocation.replaced = Replaced::default();
            }
            for subresource in allocation.subresources.iter_mut() {
                (subresource.last_write, subresource.last_any) = (None, None);
                if transient {
                    // What holds nothing may be used by any family as if it were new (Vulkan 1.3, "Queue Family
                    // Ownership Transfer": needed only to keep contents).
                    subresource.gone = Some(Gone::Unwritten);
                    (subresource.owner, subresource.release) = (None, None);
                }
            }
        }
    }

    fn batch(&mut self, id: BatchId) {
        let batch = self.plan.batches[id];
        let queue = batch.queue.unwrap_or(self.host);
        self.now[queue] = self.now[queue].later_by(1);
        for wait in &self.plan.waits[batch.waits.range()] {
            let from = wait.queue.unwrap_or(self.host);
            let list = if wait.previous_run { &self.before[from] } else { &self.signals[from] };
            let found = list.iter().find(|signal| signal.value == wait.value).cloned();
            match found {
                Some(signal) => {
                    // The host has one stage; a wait that holds up nothing is none.
                    let host = queue == self.host && !wait.stages.is_empty();
                    let stages = if host { Stages::HOST } else { wait.stages };
                    #[cfg(test)]
                    self.log.waits.push(log::Met { from, signal: signal.position, queue, at: self.now[queue], stages });
                    self.lanes.wait(queue, stages, &signal.clock);
                }
                None if wait.previous_run && self.run.index() == 0 => {}
                None => {
                    let message = format!(
                        "batch {} waits for value {} of {}{}, which no batch listed before it signals",
                        id.index(),
                        wait.value,
                        self.queue_name(from),
                        if wait.previous_run { " in the run before" } else { "" }
                    );
                    self.findings.add(Rule::Semaphore, None, None, message);
                }
            }
        }
        self.enter_batch(queue, id);
        for at in batch.commands.range() {
            rgraph_ir::cancel::poll();
            self.now[queue] = self.now[queue].later_by(2);
            self.command(queue, CommandId::new(at));
        }
        self.now[queue] = self.now[queue].later_by(2);
        if let Some(value) = batch.signal {
            let clock = self.lanes.signal(queue, self.now[queue]);
            // Runs count on: a value that skips one would be a later run's.
            let next = self.signals[queue].last().map_or(0, |last| last.value).saturating_add(1);
            if value != next {
                let message = format!(
                    "batch {} signals value {value} on {}, whose next value is {next}",
                    id.index(),
                    self.queue_name(queue)
                );
                self.findings.add(Rule::Semaphore, None, None, message);
            }
            self.signals[queue].push(Signal { value, position: self.now[queue], clock });
        }
    }

    pub(crate) fn queue_name(&self, queue: QueueId) -> String {
        match self.plan.queues.get(queue) {
            Some(plan) => format!("queue {} (\"{}\")", queue.index(), plan.name),
            None => "the host".to_owned(),
        }
    }

    fn command(&mut self, queue: QueueId, at: CommandId) {
        match self.plan.commands[at.index()] {
            Command::Barriers(barriers) => self.barriers(queue, &barriers),
            Command::SetEvent(event, barriers) => {
                let nodes = self.set(queue, &barriers);
                let slot = self.events.get_mut(event);
                if slot.and_then(|slot| slot.replace((nodes, barriers, queue))).is_some() {
                    let message = format!("event {} is set again before anything waits for it", event.index());
                    self.findings.add(Rule::Event, None, None, message);
                }
            }
            Command::WaitEvents(event, barriers) => {
                let set = self.events.get_mut(event).and_then(Option::take);
                match set {
                    Some((nodes, set, from)) if from == queue && crate::structure::same(self.plan, &set, &barriers) => {
                        self.leave(queue, &barriers, &nodes);
                        self.publish(queue, &barriers, &nodes);
                    }
                    Some(_) => {
                        let message = format!(
                            "event {} is waited for on another queue or with another dependency",
                            event.index()
                        );
                        self.findings.add(Rule::Event, None, None, message);
                    }
                    None => {
                        let message = format!("event {} is waited for before it is set", event.index());
                        self.findings.add(Rule::Event, None, None, message);
                    }
                }
            }
            Command::BeginRendering { attachments, .. } => self.begin_rendering(at, attachments),
            Command::EndRendering => self.end_rendering(),
            Command::Pass { pass, layouts } => self.pass(queue, pass, layouts.range()),
        }
    }

    /// The operations of a pass, subresource by subresource.
    fn pass(&mut self, queue: QueueId, pass: PlanPassId, layouts: std::ops::Range<usize>) {
        let Some(declared) = self.declared_of[pass] else { return };
        if !self.facts.runs(declared, &self.flags) {
            return;
        }
        self.begin_instance();
        self.check_after(queue, pass, declared);
        let facts = self.facts;
        let mut accessed: Vec<Accessed> = Vec::new();
        for (number, at) in facts.declared_passes[declared].uses.iter_ids() {
            let (resource, subresources) = facts.effective_subresources(at, &self.flags);
            let allocation = self.allocation(resource);
            accessed.extend(subresources.into_iter().map(|subresource| Accessed {
                place: AllocationPlace { allocation, subresource },
                number,
                resource,
            }));
        }
        self.check_views(pass, declared, &accessed);
        accessed.sort_unstable();
        let mut group = 0;
        while group < accessed.len() {
            let place = accessed[group].place;
            let end = group + accessed[group..].partition_point(|one| one.place == place);
            self.use_subresource(queue, pass, declared, &accessed[group..end], layouts.clone());
            group = end;
        }
    }

    fn use_subresource(
        &mut self,
        queue: QueueId,
        pass: PlanPassId,
        declared: DeclaredPassId,
        accessed: &[Accessed],
        layouts: std::ops::Range<usize>,
    ) {
        let facts = self.facts;
        let place = accessed[0].place;
        let AllocationPlace { allocation, subresource } = place;
        let memory = self.allocations[allocation].memory;
        let aspect = facts.grids[memory].aspect(subresource);
        let (mut made, mut all) = (Vec::new(), Vec::new());
        for &Accessed { number, resource, .. } in accessed {
            let at = &facts.declared_passes[declared].uses[number];
            self.check_layout(pass, at, resource, place, layouts.clone());
            self.check_order(pass, UseOf { declared, number }, resource, place);
            self.check_contents(queue, pass, UseOf { declared, number }, resource, place);
            let local = match at.usage {
                Usage::ResolveAttachment => Local::Resolve,
                usage if crate::tables::is_attachment(usage) => Local::Attachment,
                Usage::InputAttachment => Local::Input,
                _ => Local::No,
            };
            let key = facts.key(resource, subresource, declared, number);
            let group = key.and_then(|(_, group)| group);
            // The host keeps the contents, if there are any.
            let keeps = at.keeps_aspect(aspect)
                && (at.usage != Usage::HostWrite || facts.finds(resource, subresource, key, &self.flags));
            all.clear();
            // A replacing attachment meets the memory first where it clears it; what follows is its own.
            ops(at.usage, at.stages, keeps, &mut all);
            made.extend(all.iter().map(|op| (*op, local, group, resource)));
            // A resolve reads its source at its own stage, also depth.
            if local == Local::Attachment
                && facts.declared_passes[declared].uses.iter().any(|other| other.resolves == Some(resource))
            {
                made.push((RESOLVE_READ, Local::Resolve, group, resource));
            }
        }
        if let Some(rendering) = &self.rendering {
            let here = |extra: &&Extra| extra.place == place && extra.pass.is_none_or(|of| of == pass);
            let extra = rendering.extra.iter().filter(here);
            made.extend(extra.map(|extra| (extra.op, Local::Attachment, None, accessed[0].resource)));
        }
        let rendering = self.rendering.as_ref().map(|rendering| rendering.id);
        let mut list = Vec::with_capacity(made.len());
        let loads = made.iter().any(|(op, local, ..)| *local == Local::Attachment && !op.write);
        for (op, local, group, resource) in made {
            // Within a render pass, what an attachment's load operation saw, its later writes need not see again.
            let late = leaf(usize::from(op.stage)) == Stages::LATE_FRAGMENT_TESTS;
            let inner =
                local == Local::Attachment && op.write && (loads || late) || local == Local::Resolve && !op.write;
            let done = Done {
                queue,
                position: self.now[queue],
                op,
                node: None,
                pass: Some(pass),
                instance: self.instance,
                rendering,
                subpass: Subpass::of(self.plan, pass),
                local,
                inner,
                run: self.run,
                place,
                group,
                sequence: self.done.len() as u64 + 1,
            };
            list.push((done, resource));
        }
        for (done, resource) in &list {
            rgraph_ir::cancel::poll();
            self.check_pairs(place, &Later::Op(done), *resource);
        }
        let replaces = list.iter().any(|(done, _)| done.op.write) && list.iter().all(|(done, _)| done.group.is_none());
        self.record(place, list.into_iter().map(|(done, _)| done).collect());
        for one in accessed {
            self.note_contents(&facts.declared_passes[declared].uses[one.number], place);
        }
        if replaces {
            self.supersede(place);
        }
    }

    /// Tells the operations that follow from those before.
    pub(crate) fn begin_instance(&mut self) {
        self.instance = InstanceId::new(self.instance.index() + 1);
    }

    /// Puts operations into a subresource's state.
    pub(crate) fn record(&mut self, AllocationPlace { allocation, subresource }: AllocationPlace, list: Vec<Done>) {
        let Some(first) = list.first() else { return };
        let (sequence, instance) = (first.sequence, first.instance);
        let grouped = list.iter().all(|done| done.group.is_some());
        let writes = list.iter().any(|done| done.op.write);
        let state = &mut self.allocations[allocation].subresources[subresource];
        if writes && !grouped {
            state.writes.clear();
            state.reads.clear();
            state.nodes.clear();
        }
        for done in list {
            let index = DoneId::new(self.done.len());
            if done.op.write {
                let at = done.node.into_iter().collect();
                state.nodes.extend(done.node);
                let write = Write { done: index, at, lent: Vec::new(), host: Vec::new() };
                let known = &self.done;
                let of_group = |x: &Done| grouped && (x.group, x.run) == (done.group, done.run);
                // What takes in the last member of an unordered group takes in all members before it on its queue that
                // do the same at the same stage.
                let same =
                    |x: &Done| (x.queue, x.op) == (done.queue, done.op) && [x.rendering, done.rendering] == [None; 2];
                let mut members = state.writes.iter_mut().rev().take_while(|other| of_group(&known[other.done]));
                match members.find(|other| same(&known[other.done]) && known[other.done].instance != instance) {
                    Some(member) => *member = write,
                    None => state.writes.push(write),
                }
            } else {
                let known = &self.done;
                let same = |read: &Read| {
                    let x = &known[read.done];
                    let alike = x.queue == done.queue && x.op.stage == done.op.stage && x.rendering == done.rendering;
                    alike && x.group == done.group && (grouped || !writes)
                };
                // An earlier read of the same stage and queue is ordered before all that this one is ordered before.
                match state.reads.iter().position(same) {
                    Some(at) if self.done[state.reads[at].done].instance != instance => {
                        state.reads[at] = Read { done: index };
                    }
                    _ => state.reads.push(Read { done: index }),
                }
            }
            self.done.push(done);
        }
        // Nothing orders the other members of a group after this one, nor a read after another: each is checked alone.
        if writes && !grouped {
            state.alias_seen = sequence.max(self.done.len() as u64);
        }
        self.allocations[allocation].last = self.done.len() as u64;
        self.residents.enter(allocation);
    }

    /// Puts a transition, release, acquire or entry into a subresource's state.
    pub(crate) fn record_node(&mut self, place: AllocationPlace, node: NodeId, pass: Option<PlanPassId>) {
        self.begin_instance();
        self.record(place, vec![self.transition(place, node, pass)]);
    }

    /// A transition, release, acquire or entry as an operation.
    pub(crate) fn transition(&self, place: AllocationPlace, node: NodeId, pass: Option<PlanPassId>) -> Done {
        Done {
            queue: self.nodes[node].queue,
            position: self.nodes[node].leave,
            op: TRANSITION,
            node: Some(node),
            pass,
            instance: self.instance,
            rendering: None,
            subpass: Subpass::FIRST,
            local: Local::No,
            inner: false,
            run: self.run,
            place,
            group: None,
            sequence: self.done.len() as u64 + 1,
        }
    }

    /// Makes a write of other contents destroy what the same bytes held.
    pub(crate) fn destroy_aliases(&mut self, allocation: AllocationId) {
        for other in self.residents.around(allocation) {
            rgraph_ir::cancel::poll();
            if !std::mem::replace(&mut self.allocations[other].filled, false) {
                continue;
            }
            let by = self.allocations[allocation].memory;
            for subresource in self.allocations[other].subresources.iter_mut() {
                if subresource.gone.is_none() {
                    subresource.gone = Some(Gone::Alias(by));
                }
            }
        }
    }

    pub(crate) fn pass_name(&self, pass: Option<PlanPassId>) -> Option<&'a str> {
        let plan = self.plan;
        pass.filter(|pass| plan.passes.get(*pass).is_some()).map(|pass| plan.pass_name(pass))
    }
}
