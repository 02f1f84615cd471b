//! Runs the batches of a plan on symbolic memory: several runs that overlap, in an order that the plan allows.
//!
//! A plan becomes a graph of nodes ([`order`]): each pass once per stage and direction, load and store operations,
//! resolves, barriers, signals, waits, entries, over several frames in flight. Edges exist only between nodes that the
//! plan orders. A schedule ([`pick`]) is one topological order: as listed, at random, or adversarial (last listed
//! first, writes first, reads first, queue by queue).
//!
//! [`memory`] keeps value and writers per subresource. A read gets the value only if each writer was made available and
//! visible to its queue, stage and access by a barrier ([`barrier`]), wait, region dependency ([`attachment`]) or entry
//! that names them, in the layout and family of the plan. A write destroys the contents of the same bytes under other
//! names. The result of a pass ([`value`]) is a hash of its name, frame and reads; it is computed at the end, because
//! early stages of a pass may write before late stages read. The interpreter shares only the tables of stages and
//! accesses with the checker's clocks.

mod attachment;
mod barrier;
mod ids;
mod mapping;
mod memory;
mod order;
mod pick;
mod value;

use std::collections::BTreeMap;

use rgraph_ir::access::{Load, Usage};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::Plan;
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::Facts;
use crate::ids::{DeclaredOf, DeclaredPassId, FlagStates, MemoryId, UnorderedGroupId};
use crate::outcome::{Fault, Outcome, Watched, cleared, is_loaded, symbol};
use ids::{
    AccessId, Actor, AnyAccessId, ByRun, ExecId, Instance, ItemId, OrderNodeId, POISON, PlaceId, RenderingId,
    RenderingInstance, RunId, Time, UNDEFINED, ValueId, WHATEVER, WatchedId, ZEROS,
};
use mapping::{Mapping, ResolvedAccess};
use memory::{Agent, Content, Events, Seen, Sight, SubresourceContents, Torn, Writer};
use order::{Kind, Order, OrderNode};
use value::{Value, Values};

const FOREIGN: &str = "finds contents of another queue family";
const AMISS: &str = "finds another layout or owner";

/// A plan that can be run again and again.
pub(crate) struct Executor<'a> {
    mapping: Mapping<'a>,
    order: Order,
    watch: IdVec<WatchedId, Watched>,
    runs: usize,
}

/// One run of everything.
struct Machine<'a, 'e> {
    mapping: &'e Mapping<'a>,
    order: &'e Order,
    watch: &'e IdVec<WatchedId, Watched>,
    flags: &'e [FlagStates],
    subresources: IdVec<PlaceId, SubresourceContents>,
    events: Events,
    values: Values,
    /// By node: when it ran.
    times: IdVec<OrderNodeId, Time>,
    time: Time,
    /// Nodes that are still to access a watched subresource.
    left: ByRun<WatchedId, usize>,
    /// What a watched subresource held once the last of them ran.
    captured: ByRun<WatchedId, Option<ValueId>>,
    roots: IdVec<PlaceId, Vec<WatchedId>>,
    /// Whether an access was written.
    wrote: ByRun<AnyAccessId, bool>,
    /// By pass: its first access among those of all.
    first_access: IdVec<ExecId, AnyAccessId>,
    /// A read of an unordered access found nothing to rely on.
    spoiled: ByRun<ExecId, bool>,
    /// What first went wrong: the node, the subresource, and how.
    blame: Option<(OrderNode, PlaceId, &'static str)>,
}

impl<'a> Executor<'a> {
    pub(crate) fn new(facts: &'a Facts<'a>, plan: &'a Plan, declared_of: &DeclaredOf, runs: usize) -> Self {
        let mapping = Mapping::new(facts, plan, declared_of, runs);
        let watch = crate::outcome::watched(facts).into_iter().collect();
        let order = order::order(&mapping, runs, &watch);
        Self { mapping, order, watch, runs }
    }

    /// Runs everything once; `flags` by run, without a seed in listed order. Says what went wrong first, too: where the
    /// outcome is right, nothing came of it. `all`: the outcome has what every needed pass reads.
    ///
    /// # Errors
    /// If some nodes wait for each other.
    pub(crate) fn run(
        &self,
        flags: &[FlagStates],
        seed: Option<u64>,
        overlapping: usize,
        all: bool,
    ) -> Result<(Outcome, Option<String>), Fault> {
        let order = &self.order;
        let writes = |node: OrderNodeId| match order.nodes[node].kind {
            Kind::Item(exec, item) => self.mapping.execs[exec].items[item].write,
            _ => false,
        };
        let priorities = pick::priorities(order, seed, writes);
        let mut machine = Machine::new(self, flags);
        let mut waits = order.waits.clone();
        let mut ready = pick::Ready::new(order, overlapping.max(1), &priorities);
        let mut count = 0;
        while let Some(node) = ready.pop() {
            machine.node(node);
            count += 1;
            for &next in &order.after[node] {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(order.nodes[next].run, next, &priorities);
                }
            }
            ready.done(order.nodes[node].run, &priorities);
        }
        if count < order.nodes.len() {
            let stuck = order
                .nodes
                .iter_ids()
                .filter(|(id, node)| machine.times[*id] == Time::NEVER && matches!(node.kind, Kind::Wait(_)));
            let mut batches: Vec<_> = stuck.map(|(_, node)| node.batch).collect();
            batches.sort_unstable();
            batches.dedup();
            return Err(Fault::Deadlock { batches });
        }
        let complaint = machine.complaint();
        Ok((machine.outcome(self.runs, all), complaint))
    }
}

impl<'a, 'e> Machine<'a, 'e> {
    fn new(executor: &'e Executor<'a>, flags: &'e [FlagStates]) -> Self {
        let mapping = &executor.mapping;
        let (runs, execs) = (executor.runs, mapping.execs.len());
        let mut values = Values::new(mapping, runs);
        let mut first_access = IdVec::new();
        let mut accesses = 0;
        for exec in &mapping.execs {
            first_access.push(AnyAccessId::new(accesses));
            accesses += exec.accesses.len();
        }
        let mut subresources = IdVec::filled(SubresourceContents::new(), mapping.aliases.len());
        for (allocation, &memory) in mapping.memory_of.iter_ids() {
            let copy = mapping.first[memory].map_or(0, |first| allocation.index() - first.index());
            let stays = stays(mapping.facts, memory);
            for (fine, &coarse) in mapping.coarse[memory].iter_ids() {
                let value = match stays {
                    true => {
                        let words = [copy as u128, coarse.index() as u128];
                        values.add(Value::Known(symbol(mapping.facts.memory_name(memory), &words)))
                    }
                    false => UNDEFINED,
                };
                subresources[mapping.base[allocation].plus(fine)].reset(value);
            }
        }
        let mut roots = IdVec::<PlaceId, _>::filled(Vec::new(), mapping.aliases.len());
        for (id, part) in executor.watch.iter_ids() {
            let memory = mapping.facts.memory[part.resource];
            if !mapping.facts.edged[memory] {
                for fine in &mapping.parts[memory][part.subresource] {
                    roots[mapping.start(part.resource, RunId::new(0)).plus(*fine)].push(id);
                }
            }
        }
        Self {
            mapping,
            order: &executor.order,
            watch: &executor.watch,
            flags,
            subresources,
            events: Events::new(mapping.host),
            values,
            times: IdVec::filled(Time::NEVER, executor.order.nodes.len()),
            time: Time::START,
            left: executor.order.accessing.clone(),
            captured: ByRun::filled(None, runs, executor.watch.len()),
            roots,
            wrote: ByRun::filled(false, runs, accesses),
            first_access,
            spoiled: ByRun::filled(false, runs, execs),
            blame: None,
        }
    }

    fn node(&mut self, id: OrderNodeId) {
        let order = self.order;
        let node = &order.nodes[id];
        self.time.0 += 1;
        self.times[id] = self.time;
        match node.kind {
            Kind::Join => {}
            Kind::Item(exec, item) => self.item(node, exec, item),
            Kind::Load(rendering, target) => self.load(node, rendering, target),
            Kind::Store(rendering, target) => self.store(node, rendering, target),
            Kind::Resolve(exec) => self.resolve(node, exec),
            Kind::Signal => self.events.signal(node.queue, node.position, self.time),
            Kind::Wait(wait) => {
                let until = node.other.map_or(Time::START, |signal| self.times[signal]);
                let stages = self.mapping.plan.waits[wait.index()].stages;
                self.events.wait(node.queue, node.position, until, stages);
            }
            Kind::Enter(enter) => self.enter(node, enter),
            Kind::Memory(half, barrier) => self.memory_barrier(node, half, barrier),
            Kind::Buffer(half, barrier) => self.buffer_barrier(node, half, barrier),
            Kind::Image(half, barrier) => self.image_barrier(node, half, barrier),
        }
        for &part in &order.watched[id] {
            let at = (node.run, part);
            self.left[at] -= 1;
            if self.left[at] == 0 {
                self.captured[at] = Some(self.part(part, node.run));
            }
        }
    }

    /// What a watched subresource holds in a run.
    fn part(&self, part: WatchedId, run: RunId) -> ValueId {
        let watched = &self.watch[part];
        let memory = self.mapping.facts.memory[watched.resource];
        let start = self.mapping.start(watched.resource, run);
        let mut held = None;
        for fine in &self.mapping.parts[memory][watched.subresource] {
            let value = self.value(&self.subresources[start.plus(*fine)].now, watched.resource, run);
            let first = *held.get_or_insert(value);
            if first != value && !self.values.is_same(first, value) {
                return POISON;
            }
        }
        held.unwrap_or(UNDEFINED)
    }

    /// The value of some contents as a resource of a run has it.
    fn value(&self, content: &Content, resource: ResourceId, run: RunId) -> ValueId {
        let facts = self.mapping.facts;
        if stays(facts, facts.memory[resource]) {
            return content.value;
        }
        let Some(written) = run.index().checked_sub(facts.frames_ago[resource] as usize) else {
            if content.run.is_some() {
                return POISON;
            }
            let zero = match facts.graph.resources()[resource].life {
                Life::History(history) => history.zero_first,
                _ => false,
            };
            return if zero { ZEROS } else { WHATEVER };
        };
        if content.run == Some(RunId::new(written)) { content.value } else { UNDEFINED }
    }

    fn runs(&self, declared: DeclaredPassId, run: RunId) -> bool {
        self.mapping.facts.runs(declared, &self.flags[run.index()])
    }

    fn rendering(&self, rendering: Option<RenderingId>, run: RunId) -> Option<RenderingInstance> {
        rendering.map(|rendering| RenderingInstance { run, rendering })
    }

    fn writer(&self, agent: &Agent) -> Writer {
        Writer {
            queue: agent.queue,
            position: agent.position,
            stage: agent.stage,
            access: agent.access,
            rendering: agent.rendering,
            subpass: agent.subpass,
            attachment: agent.attachment,
            actor: Some(agent.actor),
            available: Time::NEVER,
            looked: self.events.looked(agent.queue),
            transition: false,
        }
    }

    fn item(&mut self, node: &OrderNode, id: ExecId, item: ItemId) {
        let mapping = self.mapping;
        let exec = &mapping.execs[id];
        if !self.runs(exec.declared, node.run) {
            return;
        }
        let item = &exec.items[item];
        let instance = Instance { run: node.run, exec: id };
        self.values.ran(instance);
        for &(access, kinds) in &item.accesses {
            let agent = Agent {
                queue: node.queue,
                position: node.position,
                stage: item.stage,
                access: kinds,
                rendering: self.rendering(exec.rendering, node.run),
                subpass: exec.subpass,
                attachment: exec.accesses[access].attachment,
                actor: Actor::Pass(instance),
            };
            if !self.is_active(exec.declared, &exec.accesses[access], node.run) {
                continue;
            }
            if item.write {
                self.write(node, instance, access, &agent);
            } else {
                self.read(node, instance, access, &agent);
            }
        }
    }

    fn is_active(&self, declared: DeclaredPassId, access: &ResolvedAccess, run: RunId) -> bool {
        let at = &self.mapping.facts.declared_passes[declared].uses[access.number];
        at.choices.is_empty() || self.mapping.facts.effective(at, &self.flags[run.index()]) == access.resource
    }

    /// Whether a subresource's layout is not one that a use may find, and whether its contents belong to another queue
    /// family; the user owns it afterwards. What holds nothing may be used by any family as if it were new (Vulkan 1.3,
    /// "Queue Family Ownership Transfer": needed only to keep contents).
    fn is_amiss(&mut self, node: &OrderNode, place: PlaceId, resource: ResourceId, layouts: u16) -> [bool; 2] {
        let mapping = self.mapping;
        let family = mapping.plan.queues.get(node.queue).map(|queue| queue.family);
        let mut foreign = false;
        if let Some(family) = family.filter(|_| !mapping.concurrent[mapping.facts.memory[resource]]) {
            let subresource = &mut self.subresources[place];
            foreign = subresource.release.take().is_some() || subresource.owner.is_some_and(|owner| owner != family);
            subresource.owner = Some(family);
        }
        let subresource = &self.subresources[place];
        let foreign = foreign && self.value(&subresource.now, resource, node.run) != UNDEFINED;
        [layouts & mapping::bit(subresource.layout) == 0, foreign]
    }

    fn read(&mut self, node: &OrderNode, instance: Instance, access: AccessId, agent: &Agent) {
        let mapping = self.mapping;
        let exec = &mapping.execs[instance.exec];
        let access = &exec.accesses[access];
        let start = mapping.start(access.resource, node.run);
        let kept = mapping.facts.declared_passes[exec.declared].uses[access.number].usage == Usage::HostWrite;
        for target in &access.targets {
            let place = start.plus(target.fine);
            let amiss = self.is_amiss(node, place, access.resource, target.layouts).contains(&true);
            let subresource = &self.subresources[place];
            // What a later stage finds after the pass's own write was found by its earlier stages.
            if subresource.actor == Some(agent.actor) {
                continue;
            }
            let grouped = target.group.is_some_and(|group| subresource.group == Some((group, node.run)));
            // The host keeps the contents, if there are any.
            let held = if grouped { &subresource.before } else { &subresource.now };
            if kept && self.value(held, access.resource, node.run) == UNDEFINED {
                if let Some(read) = target.read {
                    self.values.note(instance, read, UNDEFINED);
                }
                continue;
            }
            let subresource = &mut self.subresources[place];
            let content = if grouped { &mut subresource.before } else { &mut subresource.now };
            let presents = agent.stage == mapping::PRESENTS;
            let sight = if presents { Sight::Yes } else { self.events.sees(content, agent) };
            if sight == Sight::Yes {
                self.events.see(content, agent);
            }
            let blind = amiss || sight == Sight::No;
            if content.writers.is_empty() {
                self.see_garbage(place, agent);
            }
            if blind {
                self.blame(node, place, if amiss { AMISS } else { "does not see what was written" });
            }
            let Some(read) = target.read else {
                self.spoiled[instance] |= blind;
                continue;
            };
            let content = if grouped { &self.subresources[place].before } else { &self.subresources[place].now };
            let value = if blind { POISON } else { self.value(content, access.resource, node.run) };
            self.values.note(instance, read, value);
        }
    }

    fn write(&mut self, node: &OrderNode, instance: Instance, number: AccessId, agent: &Agent) {
        let mapping = self.mapping;
        let exec = &mapping.execs[instance.exec];
        let access = &exec.accesses[number];
        let at = &mapping.facts.declared_passes[exec.declared].uses[access.number];
        let start = mapping.start(access.resource, node.run);
        let any = AnyAccessId::new(self.first_access[instance.exec].index() + number.index());
        let again = std::mem::replace(&mut self.wrote[(node.run, any)], true);
        for target in &access.targets {
            let place = start.plus(target.fine);
            if again {
                let writer = self.writer(agent);
                let subresource = &mut self.subresources[place];
                subresource.now.writers.push(writer);
                if subresource.actor != Some(agent.actor) && target.group.is_none() {
                    subresource.now.value = POISON;
                    self.blame(node, place, "writes again what another wrote between");
                }
                continue;
            }
            // Contents of another family are lost, but may be replaced.
            let [amiss, foreign] = self.is_amiss(node, place, access.resource, target.layouts);
            let (number, subresource) = (access.number, target.coarse);
            let value = self.values.add(Value::Written { instance, number, subresource });
            if let Some(group) = target.group {
                let good = !amiss && !self.spoiled[instance];
                self.add(node, access.resource, (place, group), agent, value, [good, foreign]);
                continue;
            }
            let subresource = &mut self.subresources[place];
            let sight = self.events.sees(&mut subresource.now, agent);
            // An attachment's texel is read and written in rasterisation order: what the read saw, the write follows.
            let blends = access.attachment && subresource.now.seen != Seen::Nobody;
            let seen = sight != Sight::No || blends || self.events.was_seen(&subresource.now, agent);
            let good = seen && !amiss;
            if !seen {
                subresource.torn = subresource.torn.max(Torn::In(node.run));
            }
            if !good {
                self.blame(node, place, if amiss { AMISS } else { "writes over what it does not see" });
            }
            if let Some(read) = target.read.filter(|_| access.reads_late) {
                let aspect = mapping.aspect(access.memory, target.fine);
                let itself = exec.rendering.is_none() && is_loaded(at) && at.load_of(aspect) == Load::Clear;
                let held = match (itself, good) {
                    (true, _) => self.values.add(Value::Known(cleared(at.clear))),
                    (false, true) if !foreign => self.value(&self.subresources[place].now, access.resource, node.run),
                    (false, _) => {
                        self.blame(node, place, FOREIGN);
                        POISON
                    }
                };
                self.values.note(instance, read, held);
            }
            let value = match good {
                _ if at.undefined => UNDEFINED,
                true => value,
                false => POISON,
            };
            self.put(place, node.run, agent, value);
        }
    }

    /// Notes what went wrong first.
    fn blame(&mut self, node: &OrderNode, place: PlaceId, why: &'static str) {
        self.blame.get_or_insert((*node, place, why));
    }

    /// What went wrong first, in words.
    fn complaint(&self) -> Option<String> {
        let (node, place, why) = self.blame?;
        let mapping = self.mapping;
        let what = format!("\"{}\" {}", mapping.facts.memory_name(mapping.memory_at(place)), mapping.describe(place));
        let who = match node.kind {
            Kind::Item(exec, _) | Kind::Resolve(exec) => {
                format!("pass \"{}\"", mapping.facts.declared_passes[mapping.execs[exec].declared].name)
            }
            Kind::Load(..) => "a load operation".to_owned(),
            Kind::Store(..) => "a store operation".to_owned(),
            Kind::Enter(_) => "an entry".to_owned(),
            _ => "a transition".to_owned(),
        };
        let (batch, frame) = (node.batch.index(), node.run.index());
        Some(format!("{who} in batch {batch} of frame {frame} {why}, in {}", what.trim_end()))
    }

    /// Puts a value into a subresource, and takes it from the others in the same bytes.
    fn put(&mut self, place: PlaceId, run: RunId, agent: &Agent, value: ValueId) {
        let good = self.take_bytes(place, run, agent);
        let writer = self.writer(agent);
        let subresource = &mut self.subresources[place];
        let spoilt = !good || subresource.torn == Torn::In(run) || subresource.torn == Torn::Always;
        subresource.now.value = if spoilt && value != UNDEFINED { POISON } else { value };
        subresource.now.run = Some(run);
        subresource.now.replace(writer);
        (subresource.group, subresource.actor) = (None, Some(agent.actor));
    }

    /// A write of an unordered group: a sum, since that commutes as the writes do.
    fn add(
        &mut self,
        node: &OrderNode,
        resource: ResourceId,
        (place, group): (PlaceId, UnorderedGroupId),
        agent: &Agent,
        value: ValueId,
        [good, foreign]: [bool; 2],
    ) {
        let good = self.take_bytes(place, node.run, agent) && good;
        let subresource = &mut self.subresources[place];
        if subresource.group != Some((group, node.run)) {
            std::mem::swap(&mut subresource.before, &mut subresource.now);
            subresource.now.forget_writers();
            subresource.group = Some((group, node.run));
            let held = self.value(&self.subresources[place].before, resource, node.run);
            self.subresources[place].now.value = held;
        }
        if foreign {
            self.blame(node, place, FOREIGN);
            self.subresources[place].now.value = POISON;
        }
        let subresource = &mut self.subresources[place];
        let sight = self.events.sees(&mut subresource.before, agent);
        let seen = sight != Sight::No || self.events.was_seen(&subresource.before, agent);
        let old = subresource.now.value;
        if !good || !seen {
            self.blame(node, place, "adds to what it does not see");
        }
        let good = good && seen;
        let new = if good && old != POISON { self.values.add(Value::Added { to: old, new: value }) } else { POISON };
        let writer = self.writer(agent);
        let subresource = &mut self.subresources[place];
        subresource.now.value = new;
        subresource.now.run = Some(node.run);
        subresource.now.writers.push(writer);
        subresource.actor = Some(agent.actor);
    }

    /// Notes that a use reads the contents that others left in its bytes: undefined to it, but accesses after the read
    /// come after the writes that it saw.
    fn see_garbage(&mut self, place: PlaceId, agent: &Agent) {
        for &other in &self.mapping.aliases[place] {
            let content = &mut self.subresources[other].now;
            if !content.writers.is_empty() && self.events.sees(content, agent) == Sight::Yes {
                self.events.see(content, agent);
            }
        }
    }

    /// Whether what the same bytes held under other names cannot land on a write any more; it is gone.
    fn take_bytes(&mut self, place: PlaceId, run: RunId, agent: &Agent) -> bool {
        let mapping = self.mapping;
        let mut good = true;
        for &other in &mapping.aliases[place] {
            let subresource = &mut self.subresources[other];
            if !subresource.now.writers.is_empty() {
                good &= self.events.sees(&mut subresource.now, agent) != Sight::No
                    || self.events.was_seen(&subresource.now, agent);
            }
            self.lose(other, run);
        }
        good
    }

    /// Other bytes took a subresource's place: it is gone, and so is a root that had its contents.
    fn lose(&mut self, place: PlaceId, run: RunId) {
        self.subresources[place].destroy();
        for part in &self.roots[place] {
            if let Some(captured) = &mut self.captured[(run, *part)] {
                *captured = POISON;
            }
        }
    }

    fn outcome(mut self, runs: usize, all: bool) -> Outcome {
        let mapping = self.mapping;
        let mut frames = Vec::new();
        for run in (0..runs).map(RunId::new) {
            let mut seen = BTreeMap::new();
            for (id, part) in self.watch.iter_ids() {
                let never = self.order.accessing[(run, id)] == 0;
                let held = if never { Some(self.part(id, run)) } else { self.captured[(run, id)] };
                let counts = part.counts(mapping.facts, &self.flags[run.index()]);
                let symbol = held.and_then(|held| self.values.symbol(mapping, held, self.flags));
                seen.insert(part.name.clone(), symbol.filter(|_| counts));
            }
            for (id, exec) in mapping.execs.iter_ids() {
                let declared = &mapping.facts.declared_passes[exec.declared];
                if (declared.pinned || all && mapping.facts.needed[exec.declared]) && self.runs(exec.declared, run) {
                    let instance = Instance { run, exec: id };
                    let base = self.values.base(mapping, instance, self.flags);
                    seen.insert(format!("what pass \"{}\" reads", declared.name), Some(base));
                }
            }
            frames.push(seen);
        }
        Outcome { frames }
    }
}

/// Whether what a memory holds stays from run to run.
fn stays(facts: &Facts, memory: MemoryId) -> bool {
    let life = facts.graph.resources()[memory.first_name()].life;
    facts.persistent[memory] || matches!(life, Life::Imported(imported) if imported.defined)
}
