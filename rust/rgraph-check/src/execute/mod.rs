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
mod memory;
mod order;
mod pick;
mod scene;
mod value;

use std::collections::BTreeMap;

use rgraph_ir::access::{Load, Usage};
use rgraph_ir::id::Id;
use rgraph_ir::plan::{Plan, QueueId};
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::Facts;
use crate::ids::{DeclaredOf, DeclaredPassId, FlagStates, MemoryId, SubresourceId};
use crate::outcome::{Fault, Outcome, Watched, cleared, is_loaded, symbol};
use memory::{Agent, BEFORE, Content, Events, NEVER, POISON, Sight, SubresourceState, UNDEFINED, Writer};
use order::{Kind, Node, Order};
use scene::{NONE, ResolvedAccess, Scene};
use value::{Value, Values};

/// Instances of load and store operations are told from those of passes by this bit.
const RENDERING: u32 = 1 << 31;
const FOREIGN: &str = "finds contents of another queue family";
const AMISS: &str = "finds another layout or owner";

/// A plan that can be run again and again.
pub(crate) struct Executor<'a> {
    scene: Scene<'a>,
    order: Order,
    watch: Vec<Watched>,
    runs: u32,
}

/// One run of everything.
struct Machine<'a, 'e> {
    scene: &'e Scene<'a>,
    order: &'e Order,
    watch: &'e [Watched],
    flags: &'e [FlagStates],
    subresources: Vec<SubresourceState>,
    events: Events,
    values: Values,
    /// By node: when it ran.
    times: Vec<u32>,
    time: u32,
    /// By run and watched subresource: nodes that are still to access it, and what it held then.
    left: Vec<u32>,
    captured: Vec<u32>,
    /// By subresource: watched roots.
    roots: Vec<Vec<u32>>,
    /// By instance and access: whether it was written.
    wrote: Vec<bool>,
    first_access: Vec<u32>,
    /// By instance: a read of an unordered access found nothing to rely on.
    spoiled: Vec<bool>,
    /// What first went wrong: the node, the subresource, and how.
    blame: Option<(Node, u32, &'static str)>,
}

impl<'a> Executor<'a> {
    pub(crate) fn new(facts: &'a Facts<'a>, plan: &'a Plan, declared_of: &DeclaredOf, runs: u32) -> Self {
        let scene = Scene::new(facts, plan, declared_of, runs);
        let watch = crate::outcome::watched(facts);
        let order = order::order(&scene, runs, &watch);
        Self { scene, order, watch, runs }
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
        window: usize,
        all: bool,
    ) -> Result<(Outcome, Option<String>), Fault> {
        let order = &self.order;
        let writes = |node: u32| {
            let node = &order.nodes[node as usize];
            node.kind == Kind::Item && self.scene.execs[node.a as usize].items[node.b as usize].write
        };
        let priority = pick::priorities(order, seed, writes);
        let mut machine = Machine::new(self, flags);
        let mut waits = order.waits.clone();
        let mut ready = pick::Ready::new(order, window.max(1), &priority);
        let mut count = 0;
        while let Some(node) = ready.pop() {
            machine.node(node);
            count += 1;
            let after = order.first_after[node as usize] as usize..order.first_after[node as usize + 1] as usize;
            for &next in &order.after[after] {
                waits[next as usize] -= 1;
                if waits[next as usize] == 0 {
                    ready.push(order.nodes[next as usize].run as usize, next, priority[next as usize]);
                }
            }
            ready.done(order.nodes[node as usize].run as usize, &priority);
        }
        if count < order.nodes.len() {
            let mut batches: Vec<usize> = (0..order.nodes.len())
                .filter(|node| machine.times[*node] == NEVER && order.nodes[*node].kind == Kind::Wait)
                .map(|node| order.nodes[node].batch as usize)
                .collect();
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
        let scene = &executor.scene;
        let execs = scene.execs.len();
        let slots: Vec<u32> = scene.execs.iter().map(|exec| exec.slot_count).collect();
        let mut values = Values::new(&slots, executor.runs);
        let mut first_access = Vec::with_capacity(execs + 1);
        let mut accesses = 0;
        for exec in &scene.execs {
            first_access.push(accesses);
            accesses += exec.accesses.len() as u32;
        }
        first_access.push(accesses);
        let mut subresources = vec![SubresourceState::new(); scene.subresources];
        for (store, &memory) in scene.memory_of.iter_ids() {
            let copy = scene.first[memory].map_or(0, |first| store.index() - first.index());
            let stays = stays(scene.facts, memory);
            for (fine, &coarse) in scene.coarse[memory].iter_ids() {
                let value = match stays {
                    true => {
                        let words = [copy as u128, coarse.index() as u128];
                        values.add(Value::Known(symbol(scene.facts.memory_name(memory), &words)))
                    }
                    false => UNDEFINED,
                };
                subresources[scene.base[store] as usize + fine.index()].reset(value);
            }
        }
        let mut roots = vec![Vec::new(); scene.subresources];
        for (at, part) in executor.watch.iter().enumerate() {
            let memory = scene.facts.memory[part.resource];
            if !scene.facts.edged[memory] {
                for fine in &scene.parts[memory][part.subresource] {
                    roots[(scene.start(part.resource, 0) + fine) as usize].push(at as u32);
                }
            }
        }
        Self {
            scene,
            order: &executor.order,
            watch: &executor.watch,
            flags,
            subresources,
            events: Events::new(scene.host.index()),
            values,
            times: vec![NEVER; executor.order.nodes.len()],
            time: 0,
            left: executor.order.accessing.clone(),
            captured: vec![NEVER; executor.order.accessing.len()],
            roots,
            wrote: vec![false; accesses as usize * executor.runs as usize],
            first_access,
            spoiled: vec![false; execs * executor.runs as usize],
            blame: None,
        }
    }

    fn node(&mut self, at: u32) {
        let node = self.order.nodes[at as usize];
        self.time += 1;
        self.times[at as usize] = self.time;
        match node.kind {
            Kind::Join => {}
            Kind::Item => self.item(&node),
            Kind::Load => self.load(&node),
            Kind::Store => self.store(&node),
            Kind::Resolve => self.resolve(&node),
            Kind::Signal => self.events.signal(node.queue, node.position, self.time),
            Kind::Wait => {
                let until = self.times.get(node.other as usize).copied().unwrap_or(0);
                let stages = self.scene.plan.waits[node.a as usize].stages;
                self.events.wait(node.queue, node.position, until, stages);
            }
            Kind::Enter => self.enter(&node),
            Kind::Memory(_) | Kind::Buffer(_) | Kind::Image(_) => self.barrier(&node),
        }
        let order = self.order;
        let accessed = order.first_watched[at as usize] as usize..order.first_watched[at as usize + 1] as usize;
        for &part in &order.watched[accessed] {
            let slot = node.run as usize * self.watch.len() + part as usize;
            self.left[slot] -= 1;
            if self.left[slot] == 0 {
                self.captured[slot] = self.part(part as usize, node.run);
            }
        }
    }

    /// What a watched subresource holds in a run.
    fn part(&self, part: usize, run: u32) -> u32 {
        let watched = &self.watch[part];
        let memory = self.scene.facts.memory[watched.resource];
        let start = self.scene.start(watched.resource, run);
        let mut held = None;
        for fine in &self.scene.parts[memory][watched.subresource] {
            let value = self.value(&self.subresources[(start + fine) as usize].now, watched.resource, run);
            let first = *held.get_or_insert(value);
            if first != value && !self.values.is_same(first, value) {
                return POISON;
            }
        }
        held.unwrap_or(UNDEFINED)
    }

    /// The value of some contents as a resource of a run has it.
    fn value(&self, content: &Content, resource: ResourceId, run: u32) -> u32 {
        let facts = self.scene.facts;
        if stays(facts, facts.memory[resource]) {
            return content.value;
        }
        let ago = facts.frames_ago[resource];
        if ago > 0 && run < ago {
            if content.run != BEFORE {
                return POISON;
            }
            let zero = match facts.graph.resources()[resource].life {
                Life::History(history) => history.zero_first,
                _ => false,
            };
            return if zero { Values::ZEROS } else { Values::WHATEVER };
        }
        if content.run == run as i32 - ago as i32 { content.value } else { UNDEFINED }
    }

    fn runs(&self, declared: DeclaredPassId, run: u32) -> bool {
        self.scene.facts.runs(declared, &self.flags[run as usize])
    }

    fn rendering(&self, rendering: u32, run: u32) -> u32 {
        if rendering == NONE { NONE } else { run * self.scene.renderings.len() as u32 + rendering }
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
            instance: agent.instance,
            available: NEVER,
            looked: self.events.looked(agent.queue),
            transition: false,
        }
    }

    fn item(&mut self, node: &Node) {
        let scene = self.scene;
        let exec = &scene.execs[node.a as usize];
        if !self.runs(exec.declared, node.run) {
            return;
        }
        let item = &exec.items[node.b as usize];
        let instance = node.run * scene.execs.len() as u32 + node.a;
        self.values.ran(instance);
        for &(access, kinds) in &item.accesses {
            let agent = Agent {
                queue: node.queue,
                position: node.position,
                stage: item.stage,
                access: kinds,
                rendering: self.rendering(exec.rendering, node.run),
                subpass: exec.subpass,
                attachment: exec.accesses[access as usize].attachment,
                instance,
            };
            if !self.is_active(exec.declared, &exec.accesses[access as usize], node.run) {
                continue;
            }
            if item.write {
                self.write(node, access, &agent);
            } else {
                self.read(node, access, &agent);
            }
        }
    }

    fn is_active(&self, declared: DeclaredPassId, access: &ResolvedAccess, run: u32) -> bool {
        let at = &self.scene.facts.declared_passes[declared].uses[access.number];
        at.fallbacks.is_empty() || self.scene.facts.effective(at, &self.flags[run as usize]) == access.resource
    }

    /// Whether a subresource's layout is not one that a use may find, and whether its contents belong to another queue
    /// family; the user owns it afterwards. What holds nothing may be used by any family as if it were new (Vulkan 1.3,
    /// "Queue Family Ownership Transfer": needed only to keep contents).
    fn is_amiss(&mut self, node: &Node, place: u32, resource: ResourceId, layouts: u16) -> [bool; 2] {
        let scene = self.scene;
        let family = scene.plan.queues.get(QueueId::new(node.queue as usize)).map(|queue| queue.family);
        let mut foreign = false;
        if let Some(family) = family.filter(|_| !scene.concurrent[scene.facts.memory[resource]]) {
            let subresource = &mut self.subresources[place as usize];
            foreign = subresource.release.take().is_some() || subresource.owner.is_some_and(|owner| owner != family);
            subresource.owner = Some(family);
        }
        let subresource = &self.subresources[place as usize];
        let foreign = foreign && self.value(&subresource.now, resource, node.run) != UNDEFINED;
        [layouts >> subresource.layout & 1 == 0, foreign]
    }

    fn read(&mut self, node: &Node, access: u32, agent: &Agent) {
        let scene = self.scene;
        let exec = &scene.execs[node.a as usize];
        let access = &exec.accesses[access as usize];
        let start = scene.start(access.resource, node.run);
        let kept = scene.facts.declared_passes[exec.declared].uses[access.number].usage == Usage::HostWrite;
        for target in &access.targets {
            let at = start + target.fine;
            let amiss = self.is_amiss(node, at, access.resource, target.layouts).contains(&true);
            let subresource = &self.subresources[at as usize];
            // What a later stage finds after the pass's own write was found by its earlier stages.
            if subresource.instance == agent.instance {
                continue;
            }
            let grouped =
                target.group != 0 && subresource.group == target.group && subresource.group_run == node.run + 1;
            // The host keeps what is there, if anything is.
            let held = if grouped { &subresource.before } else { &subresource.now };
            if kept && self.value(held, access.resource, node.run) == UNDEFINED {
                if target.slot != NONE {
                    self.values.note(agent.instance, target.slot, UNDEFINED);
                }
                continue;
            }
            let subresource = &mut self.subresources[at as usize];
            let content = if grouped { &mut subresource.before } else { &mut subresource.now };
            let presents = agent.stage == scene::PRESENTS;
            let sight = if presents { Sight::Yes } else { self.events.sees(content, agent) };
            if sight == Sight::Yes {
                self.events.see(content, agent);
            }
            let blind = amiss || sight == Sight::No;
            if content.writers.is_empty() {
                self.see_garbage(at, agent);
            }
            if blind {
                self.blame(node, at, if amiss { AMISS } else { "does not see what was written" });
            }
            if target.slot == NONE {
                self.spoiled[agent.instance as usize] |= blind;
                continue;
            }
            let content =
                if grouped { &self.subresources[at as usize].before } else { &self.subresources[at as usize].now };
            let value = if blind { POISON } else { self.value(content, access.resource, node.run) };
            self.values.note(agent.instance, target.slot, value);
        }
    }

    fn write(&mut self, node: &Node, number: u32, agent: &Agent) {
        let scene = self.scene;
        let exec = &scene.execs[node.a as usize];
        let access = &exec.accesses[number as usize];
        let at = &scene.facts.declared_passes[exec.declared].uses[access.number];
        let start = scene.start(access.resource, node.run);
        let total = self.first_access[scene.execs.len()];
        let slot = (node.run * total + self.first_access[node.a as usize] + number) as usize;
        let again = std::mem::replace(&mut self.wrote[slot], true);
        for target in &access.targets {
            let place = start + target.fine;
            if again {
                let writer = self.writer(agent);
                let subresource = &mut self.subresources[place as usize];
                subresource.now.writers.push(writer);
                if subresource.instance != agent.instance && target.group == 0 {
                    subresource.now.value = POISON;
                    self.blame(node, place, "writes again what another wrote between");
                }
                continue;
            }
            // Contents of another family are lost, but may be replaced.
            let [amiss, foreign] = self.is_amiss(node, place, access.resource, target.layouts);
            let value = self.values.add(Value::Written {
                instance: agent.instance,
                number: access.number.index() as u32,
                subresource: target.coarse,
            });
            if target.group != 0 {
                self.add(node, place, target.group, access.resource, agent, value, amiss, foreign);
                continue;
            }
            let subresource = &mut self.subresources[place as usize];
            let sight = self.events.sees(&mut subresource.now, agent);
            // An attachment's texel is read and written in rasterisation order: what the read saw, the write follows.
            let blends = access.attachment && subresource.now.seen != NONE;
            let seen = sight != Sight::No || blends || self.events.was_seen(&subresource.now, agent);
            let good = seen && !amiss;
            if !seen {
                subresource.torn = subresource.torn.max(node.run + 1);
            }
            if !good {
                self.blame(node, place, if amiss { AMISS } else { "writes over what it does not see" });
            }
            if access.reads_late && target.slot != NONE {
                let aspect = scene.fine[access.memory].aspect(SubresourceId::new(target.fine as usize));
                let itself = exec.rendering == NONE && is_loaded(at) && at.load_of(aspect) == Load::Clear;
                let held = match (itself, good) {
                    (true, _) => self.values.add(Value::Known(cleared(at.clear))),
                    (false, true) if !foreign => {
                        self.value(&self.subresources[place as usize].now, access.resource, node.run)
                    }
                    (false, _) => {
                        self.blame(node, place, FOREIGN);
                        POISON
                    }
                };
                self.values.note(agent.instance, target.slot, held);
            }
            let value = match good {
                _ if at.garbage => UNDEFINED,
                true => value,
                false => POISON,
            };
            self.put(place, node.run, agent, value);
        }
    }

    /// Notes what went wrong first.
    fn blame(&mut self, node: &Node, subresource: u32, why: &'static str) {
        self.blame.get_or_insert((*node, subresource, why));
    }

    /// What went wrong first, in words.
    fn complaint(&self) -> Option<String> {
        let (node, subresource, why) = self.blame?;
        let scene = self.scene;
        let store = scene.store_at(subresource);
        let memory = scene.memory_of[store];
        let fine = SubresourceId::new((subresource - scene.base[store]) as usize);
        let what = format!("\"{}\" {}", scene.facts.memory_name(memory), scene.fine[memory].describe(fine));
        let who = match node.kind {
            Kind::Item | Kind::Resolve => {
                format!("pass \"{}\"", scene.facts.declared_passes[scene.execs[node.a as usize].declared].name)
            }
            Kind::Load => "a load operation".to_owned(),
            Kind::Store => "a store operation".to_owned(),
            Kind::Enter => "an entry".to_owned(),
            _ => "a transition".to_owned(),
        };
        Some(format!("{who} in batch {} of frame {} {why}, in {}", node.batch, node.run, what.trim_end()))
    }

    /// Puts a value into a subresource, and takes it from the others in the same bytes.
    fn put(&mut self, place: u32, run: u32, agent: &Agent, value: u32) {
        let good = self.take_bytes(place, run, agent);
        let writer = self.writer(agent);
        let subresource = &mut self.subresources[place as usize];
        let spoilt = !good || subresource.torn == run + 1 || subresource.torn == NEVER;
        subresource.now.value = if spoilt && value != UNDEFINED { POISON } else { value };
        subresource.now.run = run as i32;
        subresource.now.replace(writer);
        (subresource.group, subresource.instance) = (0, agent.instance);
    }

    /// A write of an unordered group: a sum, since that commutes as the writes do.
    #[allow(clippy::too_many_arguments, reason = "a write has a place, a maker and a value")]
    fn add(
        &mut self,
        node: &Node,
        place: u32,
        group: u32,
        resource: ResourceId,
        agent: &Agent,
        value: u32,
        amiss: bool,
        foreign: bool,
    ) {
        let good = self.take_bytes(place, node.run, agent) && !amiss && !self.spoiled[agent.instance as usize];
        let subresource = &mut self.subresources[place as usize];
        if subresource.group != group || subresource.group_run != node.run + 1 {
            std::mem::swap(&mut subresource.before, &mut subresource.now);
            subresource.now.forget_writers();
            (subresource.group, subresource.group_run) = (group, node.run + 1);
            let held = self.value(&self.subresources[place as usize].before, resource, node.run);
            self.subresources[place as usize].now.value = held;
        }
        if foreign {
            self.blame(node, place, FOREIGN);
            self.subresources[place as usize].now.value = POISON;
        }
        let subresource = &mut self.subresources[place as usize];
        let sight = self.events.sees(&mut subresource.before, agent);
        let seen = sight != Sight::No || self.events.was_seen(&subresource.before, agent);
        let old = subresource.now.value;
        if !good || !seen {
            self.blame(node, place, "adds to what it does not see");
        }
        let good = good && seen;
        let new = if good && old != POISON { self.values.add(Value::Added { to: old, new: value }) } else { POISON };
        let writer = self.writer(agent);
        let subresource = &mut self.subresources[place as usize];
        subresource.now.value = new;
        subresource.now.run = node.run as i32;
        subresource.now.writers.push(writer);
        subresource.instance = agent.instance;
    }

    /// Notes that a use looks at what others left in its bytes: garbage to it, but those who follow the look follow the
    /// writes that it saw.
    fn see_garbage(&mut self, place: u32, agent: &Agent) {
        for &other in &self.scene.aliases[place as usize] {
            let content = &mut self.subresources[other as usize].now;
            if !content.writers.is_empty() && self.events.sees(content, agent) == Sight::Yes {
                self.events.see(content, agent);
            }
        }
    }

    /// Whether what the same bytes held under other names cannot land on a write any more; it is gone.
    fn take_bytes(&mut self, place: u32, run: u32, agent: &Agent) -> bool {
        let scene = self.scene;
        let mut good = true;
        for &other in &scene.aliases[place as usize] {
            let subresource = &mut self.subresources[other as usize];
            if !subresource.now.writers.is_empty() {
                good &= self.events.sees(&mut subresource.now, agent) != Sight::No
                    || self.events.was_seen(&subresource.now, agent);
            }
            self.lose(other, run);
        }
        good
    }

    /// Other bytes took a subresource's place: it is gone, and so is a root that had its contents.
    fn lose(&mut self, subresource: u32, run: u32) {
        self.subresources[subresource as usize].destroy();
        for part in &self.roots[subresource as usize] {
            let slot = run as usize * self.watch.len() + *part as usize;
            if self.captured[slot] != NEVER {
                self.captured[slot] = POISON;
            }
        }
    }

    fn outcome(mut self, runs: u32, all: bool) -> Outcome {
        let scene = self.scene;
        let mut frames = Vec::new();
        for run in 0..runs {
            let mut seen = BTreeMap::new();
            for (at, part) in self.watch.iter().enumerate() {
                let slot = run as usize * self.watch.len() + at;
                let held = if self.order.accessing[slot] == 0 { self.part(at, run) } else { self.captured[slot] };
                let counts = part.counts(scene.facts, &self.flags[run as usize]);
                let symbol = self.values.symbol(scene, held, self.flags);
                seen.insert(part.name.clone(), symbol.filter(|_| counts));
            }
            for (at, exec) in scene.execs.iter().enumerate() {
                let declared = &scene.facts.declared_passes[exec.declared];
                if (declared.pinned || all && scene.facts.needed[exec.declared]) && self.runs(exec.declared, run) {
                    let instance = run * scene.execs.len() as u32 + at as u32;
                    let base = self.values.base(scene, instance, self.flags);
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
