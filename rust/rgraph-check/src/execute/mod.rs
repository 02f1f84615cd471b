//! Runs the batches of a plan on symbolic memory: several runs that overlap, in an order that the plan allows.
//!
//! [`order`] says which orders those are, [`pick`] chooses one, [`memory`] what a reader finds, [`barrier`] what
//! barriers and [`attachment`] what render passes do, [`value`] what it all means.

mod attachment;
mod barrier;
mod memory;
mod order;
mod pick;
mod scene;
mod value;

use std::collections::BTreeMap;

use rgraph_ir::access::Load;
use rgraph_ir::id::Id;
use rgraph_ir::plan::Plan;
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::Facts;
use crate::interpret::{Fault, Outcome, Watched, cleared, is_loaded, symbol};
use memory::{Agent, BEFORE, Cell, Content, Events, NEVER, POISON, Sight, UNDEFINED, Writer};
use order::{Kind, Node, Order};
use scene::{NONE, Scene, Touch};
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
    flags: &'e [Vec<bool>],
    cells: Vec<Cell>,
    events: Events,
    values: Values,
    /// By node: when it ran.
    times: Vec<u32>,
    time: u32,
    /// By run and watched piece: nodes that are still to touch it, and what it held then.
    left: Vec<u32>,
    captured: Vec<u32>,
    /// By cell: watched roots.
    roots: Vec<Vec<u32>>,
    /// By instance and touch: whether it was written.
    wrote: Vec<bool>,
    first_touch: Vec<u32>,
    /// By instance: a read of an unordered access found nothing to rely on.
    spoiled: Vec<bool>,
    /// What first went wrong: the node, the cell, and how.
    blame: Option<(Node, u32, &'static str)>,
}

impl<'a> Executor<'a> {
    pub(crate) fn new(facts: &'a Facts<'a>, plan: &'a Plan, job_of: &[Option<usize>], runs: u32) -> Self {
        let scene = Scene::new(facts, plan, job_of);
        let watch = crate::interpret::watched(facts);
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
        flags: &[Vec<bool>],
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
    fn new(executor: &'e Executor<'a>, flags: &'e [Vec<bool>]) -> Self {
        let scene = &executor.scene;
        let execs = scene.execs.len();
        let slots: Vec<u32> = scene.execs.iter().map(|exec| exec.slot_count).collect();
        let mut values = Values::new(&slots, executor.runs);
        let mut first_touch = Vec::with_capacity(execs + 1);
        let mut touches = 0;
        for exec in &scene.execs {
            first_touch.push(touches);
            touches += exec.touches.len() as u32;
        }
        first_touch.push(touches);
        let mut cells = vec![Cell::new(); scene.cells];
        for (store, &memory) in scene.memory_of.iter().enumerate() {
            let copy = store - scene.first[memory];
            let stays = stays(scene.facts, memory);
            for (fine, &coarse) in scene.coarse[memory].iter().enumerate() {
                let value = match stays {
                    true => {
                        let words = [copy as u128, u128::from(coarse)];
                        values.add(Value::Known(symbol(scene.facts.name(memory), &words)))
                    }
                    false => UNDEFINED,
                };
                cells[scene.base[store] as usize + fine].reset(value);
            }
        }
        let mut roots = vec![Vec::new(); scene.cells];
        for (at, piece) in executor.watch.iter().enumerate() {
            let memory = scene.facts.memory[piece.resource];
            if !scene.facts.edged[memory] {
                for fine in &scene.parts[memory][piece.cell] {
                    roots[(scene.start(piece.resource, 0) + fine) as usize].push(at as u32);
                }
            }
        }
        Self {
            scene,
            order: &executor.order,
            watch: &executor.watch,
            flags,
            cells,
            events: Events::new(scene.host),
            values,
            times: vec![NEVER; executor.order.nodes.len()],
            time: 0,
            left: executor.order.touching.clone(),
            captured: vec![NEVER; executor.order.touching.len()],
            roots,
            wrote: vec![false; touches as usize * executor.runs as usize],
            first_touch,
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
        let touched = order.first_watched[at as usize] as usize..order.first_watched[at as usize + 1] as usize;
        for &piece in &order.watched[touched] {
            let slot = node.run as usize * self.watch.len() + piece as usize;
            self.left[slot] -= 1;
            if self.left[slot] == 0 {
                self.captured[slot] = self.piece(piece as usize, node.run);
            }
        }
    }

    /// What a watched piece holds in a run.
    fn piece(&self, piece: usize, run: u32) -> u32 {
        let watched = &self.watch[piece];
        let memory = self.scene.facts.memory[watched.resource];
        let start = self.scene.start(watched.resource, run);
        let mut held = None;
        for fine in &self.scene.parts[memory][watched.cell] {
            let value = self.value(&self.cells[(start + fine) as usize].now, watched.resource, run);
            let first = *held.get_or_insert(value);
            if first != value && !self.values.is_same(first, value) {
                return POISON;
            }
        }
        held.unwrap_or(UNDEFINED)
    }

    /// The value of some contents as a resource of a run has it.
    fn value(&self, content: &Content, resource: usize, run: u32) -> u32 {
        let facts = self.scene.facts;
        if stays(facts, facts.memory[resource]) {
            return content.value;
        }
        let ago = facts.frames_ago[resource];
        if ago > 0 && run < ago {
            if content.run != BEFORE {
                return POISON;
            }
            let zero = match facts.graph.resources()[ResourceId::new(resource)].life {
                Life::History(history) => history.zero_first,
                _ => false,
            };
            return if zero { Values::ZEROS } else { Values::WHATEVER };
        }
        if content.run == run as i32 - ago as i32 { content.value } else { UNDEFINED }
    }

    fn runs(&self, job: usize, run: u32) -> bool {
        self.scene.facts.runs(job, &self.flags[run as usize])
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
        if !self.runs(exec.job, node.run) {
            return;
        }
        let item = &exec.items[node.b as usize];
        let instance = node.run * scene.execs.len() as u32 + node.a;
        self.values.ran(instance);
        for &(touch, access) in &item.touches {
            let agent = Agent {
                queue: node.queue,
                position: node.position,
                stage: item.stage,
                access,
                rendering: self.rendering(exec.rendering, node.run),
                subpass: exec.subpass,
                attachment: exec.touches[touch as usize].attachment,
                instance,
            };
            if !self.is_active(exec.job, &exec.touches[touch as usize], node.run) {
                continue;
            }
            if item.write {
                self.write(node, touch, &agent);
            } else {
                self.read(node, touch, &agent);
            }
        }
    }

    fn is_active(&self, job: usize, touch: &Touch, run: u32) -> bool {
        let at = &self.scene.facts.jobs[job].uses[touch.number];
        at.fallbacks.is_empty() || self.scene.facts.effective(at, &self.flags[run as usize]) == touch.resource
    }

    /// Whether a cell's layout is not one that a use may find, and whether its contents belong to another queue family;
    /// the user owns it afterwards.
    fn is_amiss(&mut self, cell: u32, memory: usize, layouts: u16, queue: u32) -> [bool; 2] {
        let family = self.scene.plan.queues.as_slice().get(queue as usize).map(|queue| queue.family);
        let cell = &mut self.cells[cell as usize];
        let mut foreign = false;
        if let Some(family) = family.filter(|_| !self.scene.concurrent[memory]) {
            foreign = cell.release.take().is_some() || cell.owner.is_some_and(|owner| owner != family);
            cell.owner = Some(family);
        }
        [layouts >> cell.layout & 1 == 0, foreign]
    }

    fn read(&mut self, node: &Node, touch: u32, agent: &Agent) {
        let scene = self.scene;
        let touch = &scene.execs[node.a as usize].touches[touch as usize];
        let start = scene.start(touch.resource, node.run);
        for spot in &touch.spots {
            let at = start + spot.fine;
            let amiss = self.is_amiss(at, touch.memory, spot.layouts, agent.queue).contains(&true);
            let cell = &mut self.cells[at as usize];
            // What a later stage finds after the pass's own write was found by its earlier stages.
            if cell.instance == agent.instance {
                continue;
            }
            let grouped = spot.group != 0 && cell.group == spot.group && cell.group_run == node.run + 1;
            let content = if grouped { &mut cell.before } else { &mut cell.now };
            let presents = agent.stage == scene::PRESENTS;
            let sight = if presents { Sight::Yes } else { self.events.sees(content, agent) };
            if sight == Sight::Yes {
                content.see(agent.instance);
            }
            let blind = amiss || sight == Sight::No;
            if blind {
                self.blame(node, at, if amiss { AMISS } else { "does not see what was written" });
            }
            if spot.slot == NONE {
                self.spoiled[agent.instance as usize] |= blind;
                continue;
            }
            let content = if grouped { &self.cells[at as usize].before } else { &self.cells[at as usize].now };
            let value = if blind { POISON } else { self.value(content, touch.resource, node.run) };
            self.values.note(agent.instance, spot.slot, value);
        }
    }

    fn write(&mut self, node: &Node, number: u32, agent: &Agent) {
        let scene = self.scene;
        let exec = &scene.execs[node.a as usize];
        let touch = &exec.touches[number as usize];
        let at = &scene.facts.jobs[exec.job].uses[touch.number];
        let start = scene.start(touch.resource, node.run);
        let total = self.first_touch[scene.execs.len()];
        let slot = (node.run * total + self.first_touch[node.a as usize] + number) as usize;
        let again = std::mem::replace(&mut self.wrote[slot], true);
        for spot in &touch.spots {
            let place = start + spot.fine;
            if again {
                let writer = self.writer(agent);
                let cell = &mut self.cells[place as usize];
                cell.now.writers.push(writer);
                if cell.instance != agent.instance && spot.group == 0 {
                    cell.now.value = POISON;
                    self.blame(node, place, "writes again what another wrote between");
                }
                continue;
            }
            // Contents of another family are lost, but may be replaced.
            let [amiss, foreign] = self.is_amiss(place, touch.memory, spot.layouts, agent.queue);
            let value = self.values.add(Value::Written {
                instance: agent.instance,
                number: touch.number as u32,
                cell: spot.coarse,
            });
            if spot.group != 0 {
                self.add(node, place, spot.group, touch.resource, agent, value, amiss, foreign);
                continue;
            }
            let cell = &mut self.cells[place as usize];
            let sight = self.events.sees(&mut cell.now, agent);
            // An attachment's texel is read and written in rasterisation order: what the read saw, the write follows.
            let blends = touch.attachment && cell.now.seen != NONE;
            let seen = sight != Sight::No || blends || cell.now.was_seen(agent.instance);
            let good = seen && !amiss;
            if !seen {
                cell.torn = cell.torn.max(node.run + 1);
            }
            if !good {
                self.blame(node, place, if amiss { AMISS } else { "writes over what it does not see" });
            }
            if touch.reads_late && spot.slot != NONE {
                let aspect = scene.fine[touch.memory].aspect(spot.fine as usize);
                let itself = exec.rendering == NONE && is_loaded(at) && at.load_of(aspect) == Load::Clear;
                let held = match (itself, good) {
                    (true, _) => self.values.add(Value::Known(cleared(at.clear))),
                    (false, true) if !foreign => self.value(&self.cells[place as usize].now, touch.resource, node.run),
                    (false, _) => {
                        self.blame(node, place, FOREIGN);
                        POISON
                    }
                };
                self.values.note(agent.instance, spot.slot, held);
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
    fn blame(&mut self, node: &Node, cell: u32, why: &'static str) {
        self.blame.get_or_insert((*node, cell, why));
    }

    /// What went wrong first, in words.
    fn complaint(&self) -> Option<String> {
        let (node, cell, why) = self.blame?;
        let scene = self.scene;
        let store = scene.base.partition_point(|first| *first <= cell) - 1;
        let memory = scene.memory_of[store];
        let fine = (cell - scene.base[store]) as usize;
        let what = format!("\"{}\" {}", scene.facts.name(memory), scene.fine[memory].describe(fine));
        let who = match node.kind {
            Kind::Item | Kind::Resolve => {
                format!("pass \"{}\"", scene.facts.jobs[scene.execs[node.a as usize].job].name)
            }
            Kind::Load => "a load operation".to_owned(),
            Kind::Store => "a store operation".to_owned(),
            Kind::Enter => "an entry".to_owned(),
            _ => "a transition".to_owned(),
        };
        Some(format!("{who} in batch {} of frame {} {why}, in {}", node.batch, node.run, what.trim_end()))
    }

    /// Puts a value into a cell, and takes it from the others in the same bytes.
    fn put(&mut self, place: u32, run: u32, agent: &Agent, value: u32) {
        let good = self.take_bytes(place, run, agent);
        let writer = self.writer(agent);
        let cell = &mut self.cells[place as usize];
        let spoilt = !good || cell.torn == run + 1 || cell.torn == NEVER;
        cell.now.value = if spoilt && value != UNDEFINED { POISON } else { value };
        cell.now.run = run as i32;
        cell.now.replace(writer);
        (cell.group, cell.instance) = (0, agent.instance);
    }

    /// A write of an unordered group: a sum, since that commutes as the writes do.
    #[allow(clippy::too_many_arguments, reason = "a write has a place, a maker and a value")]
    fn add(
        &mut self,
        node: &Node,
        place: u32,
        group: u32,
        resource: usize,
        agent: &Agent,
        value: u32,
        amiss: bool,
        foreign: bool,
    ) {
        let good = self.take_bytes(place, node.run, agent) && !amiss && !self.spoiled[agent.instance as usize];
        let cell = &mut self.cells[place as usize];
        if cell.group != group || cell.group_run != node.run + 1 {
            std::mem::swap(&mut cell.before, &mut cell.now);
            cell.now.writers.clear();
            cell.now.grants.clear();
            cell.now.seen = NONE;
            (cell.group, cell.group_run) = (group, node.run + 1);
            let held = self.value(&self.cells[place as usize].before, resource, node.run);
            self.cells[place as usize].now.value = if foreign && held != UNDEFINED { POISON } else { held };
        }
        let cell = &mut self.cells[place as usize];
        let sight = self.events.sees(&mut cell.before, agent);
        let seen = sight != Sight::No || cell.before.was_seen(agent.instance);
        let old = cell.now.value;
        if !good || !seen {
            self.blame(node, place, "adds to what it does not see");
        }
        let good = good && seen;
        let new = if good && old != POISON { self.values.add(Value::Added { to: old, new: value }) } else { POISON };
        let writer = self.writer(agent);
        let cell = &mut self.cells[place as usize];
        cell.now.value = new;
        cell.now.run = node.run as i32;
        cell.now.writers.push(writer);
        cell.instance = agent.instance;
    }

    /// Whether what the same bytes held under other names cannot land on a write any more; it is gone.
    fn take_bytes(&mut self, place: u32, run: u32, agent: &Agent) -> bool {
        let scene = self.scene;
        let mut good = true;
        for &other in &scene.aliases[place as usize] {
            let cell = &mut self.cells[other as usize];
            if !cell.now.writers.is_empty() {
                good &= self.events.sees(&mut cell.now, agent) != Sight::No || cell.now.was_seen(agent.instance);
            }
            self.lose(other, run);
        }
        good
    }

    /// Other bytes took a cell's place: it is gone, and so is a root that had its contents.
    fn lose(&mut self, cell: u32, run: u32) {
        self.cells[cell as usize].destroy();
        for piece in &self.roots[cell as usize] {
            let slot = run as usize * self.watch.len() + *piece as usize;
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
            for (at, piece) in self.watch.iter().enumerate() {
                let slot = run as usize * self.watch.len() + at;
                let held = if self.order.touching[slot] == 0 { self.piece(at, run) } else { self.captured[slot] };
                let counts = piece.counts(scene.facts, &self.flags[run as usize]);
                let symbol = self.values.symbol(scene, held, self.flags);
                seen.insert(piece.name.clone(), symbol.filter(|_| counts));
            }
            for (at, exec) in scene.execs.iter().enumerate() {
                let job = &scene.facts.jobs[exec.job];
                if (job.pinned || all && scene.facts.needed[exec.job]) && self.runs(exec.job, run) {
                    let instance = run * scene.execs.len() as u32 + at as u32;
                    let base = self.values.base(scene, instance, self.flags);
                    seen.insert(format!("what pass \"{}\" reads", job.name), Some(base));
                }
            }
            frames.push(seen);
        }
        Outcome { frames }
    }
}

/// Whether what a memory holds stays from run to run.
fn stays(facts: &Facts, memory: usize) -> bool {
    let life = facts.graph.resources()[ResourceId::new(memory)].life;
    facts.persistent[memory] || matches!(life, Life::Imported(imported) if imported.defined)
}
