//! What must happen before what, and nothing more: every item of a pass, barrier, signal, wait and entry of several
//! runs as a node, with an edge wherever the plan orders two of them.
//!
//! An item waits for the barriers and waits before it whose second scope has its stage; a barrier waits for the items
//! before it at the stages of its first scope, and for the barriers that chain into it. Lanes keep, per queue and
//! stage, one node that stands for all of these, so that a run makes O(commands · stages) edges.
//!
//! Source: Vulkan 1.3 specification, "Execution and Memory Dependencies", "Pipeline Stages", "Semaphores",
//! "Rasterization Order"; `docs/reference/formats.md` on edges and on waits with frame -1.

mod passes;

use rgraph_ir::access::Stages;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Barriers, BatchId, Command, EventId, QueueId, Scope};
use rgraph_ir::resource::ResourceId;

use super::scene::{NONE, Scene};
use crate::ids::StoreId;
use crate::outcome::Watched;
use crate::tables::{STAGES, leaves, with_earlier, with_later};

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Nothing: it stands for several.
    Join,
    /// Item `b` of exec `a`.
    Item,
    /// Load operation of target `b` of rendering `a`.
    Load,
    /// Store operation of target `b` of rendering `a`.
    Store,
    /// Resolves of exec `a`.
    Resolve,
    /// Barrier `a` of its list, first half.
    Memory(Half),
    Buffer(Half),
    Image(Half),
    Signal,
    /// A wait; `a` in the plan's waits.
    Wait,
    /// Entry `a`.
    Enter,
}

/// Which half of a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Half {
    Both,
    Set,
    Wait,
}

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    pub a: u32,
    pub b: u32,
    /// The set of a wait for an event; the signal of a wait.
    pub other: u32,
    pub run: u32,
    pub queue: u32,
    /// Submission order on its queue.
    pub position: u32,
    pub batch: u32,
    /// The render pass that it holds within, or [`NONE`].
    pub rendering: u32,
}

/// The runtime's barrier before the first use of part of a resource in a run.
#[derive(Clone, Debug)]
pub(crate) struct Enter {
    pub edge: usize,
    /// Subresources, and whether nothing entered them before in this run.
    pub subresources: Vec<(u32, bool)>,
    /// First scope, if the run before left it on the same queue.
    pub source: Option<Scope>,
}

/// Nodes in listed order, and edges between them.
#[derive(Debug, Default)]
pub(crate) struct Order {
    pub nodes: Vec<Node>,
    pub enters: Vec<Enter>,
    /// Nodes after each, in one list.
    pub after: Vec<u32>,
    pub first_after: Vec<u32>,
    pub waits: Vec<u32>,
    /// Watched subresources that each node accesses, in one list.
    pub watched: Vec<u32>,
    pub first_watched: Vec<u32>,
    /// By run and watched subresource: nodes that access it.
    pub accessing: Vec<u32>,
    /// By run: nodes.
    pub in_run: Vec<u32>,
}

#[derive(Clone)]
struct Lane {
    gates: [u32; STAGES],
    joins: [u32; STAGES],
    pending: Vec<Vec<u32>>,
    all: Vec<u32>,
}

impl Lane {
    fn new() -> Self {
        Self { gates: [NONE; STAGES], joins: [NONE; STAGES], pending: vec![Vec::new(); STAGES], all: Vec::new() }
    }
}

struct Open {
    at: u32,
    lane: Lane,
    subpass: u32,
    /// Attachment items of the subpass so far.
    attachments: Vec<u32>,
    resolving: Vec<u32>,
    loads: Vec<(u32, u32)>,
    /// Items that use attachments, also in place: store operations follow them.
    users: Vec<u32>,
}

pub(crate) struct Builder<'a, 's> {
    scene: &'s Scene<'a>,
    order: Order,
    edges: Vec<(u32, u32)>,
    marks: Vec<(u32, u32)>,
    lanes: IdVec<QueueId, Lane>,
    position: IdVec<QueueId, u32>,
    /// By queue: values and signals of this run and the one before.
    signals: [IdVec<QueueId, Vec<(u32, u32)>>; 2],
    events: IdVec<EventId, Option<(Vec<u32>, Barriers, QueueId)>>,
    /// By store: last run (from 1) in which it was entered on a queue.
    entered: IdVec<StoreId, IdVec<QueueId, u32>>,
    /// By subresource: last run (from 1) in which it was entered; the edge that left it.
    entered_subresource: Vec<u32>,
    left: Vec<Option<usize>>,
    watching: Vec<Vec<u32>>,
    /// By subresource: who presents it last.
    presented: Vec<u32>,
    open: Option<Open>,
    run: u32,
    batch: u32,
    never: Vec<u32>,
}

/// Orders `runs` runs of a plan.
pub(crate) fn order(scene: &Scene, runs: u32, watch: &[Watched]) -> Order {
    let queues = scene.host.index() + 1;
    let mut builder = Builder {
        scene,
        order: Order::default(),
        edges: Vec::new(),
        marks: Vec::new(),
        lanes: IdVec::filled(Lane::new(), queues),
        position: IdVec::filled(0, queues),
        signals: [IdVec::filled(Vec::new(), queues), IdVec::filled(Vec::new(), queues)],
        events: IdVec::filled(None, scene.plan.commands.len() + 1),
        entered: IdVec::filled(IdVec::filled(0, queues), scene.base.len()),
        entered_subresource: vec![0; scene.subresources],
        left: vec![None; scene.subresources],
        watching: vec![Vec::new(); scene.subresources],
        presented: vec![NONE; scene.subresources],
        open: None,
        run: 0,
        batch: 0,
        never: Vec::new(),
    };
    for run in 0..runs {
        builder.one_run(run, watch);
    }
    builder.finish(runs, watch.len())
}

impl Builder<'_, '_> {
    fn one_run(&mut self, run: u32, watch: &[Watched]) {
        let plan = self.scene.plan;
        self.run = run;
        let first = self.order.nodes.len();
        for list in &mut self.watching {
            list.clear();
        }
        for (at, part) in watch.iter().enumerate() {
            let memory = self.scene.facts.memory[part.resource];
            let start = self.scene.start(part.resource, run);
            for fine in &self.scene.parts[memory][part.subresource] {
                self.watching[(start + fine) as usize].push(at as u32);
            }
        }
        self.signals.swap(0, 1);
        self.signals[0].iter_mut().for_each(Vec::clear);
        self.events.iter_mut().for_each(|event| *event = None);
        // Signals first: a wait may be listed before the batch that signals.
        for (id, batch) in plan.batches.iter_ids() {
            let queue = batch.queue.unwrap_or(self.scene.host);
            if let Some(value) = batch.signal {
                self.batch = id.index() as u32;
                let node = self.node(Kind::Signal, 0, 0, queue);
                self.signals[0][queue].push((value, node));
            }
        }
        for id in plan.batches.ids() {
            self.one_batch(id);
        }
        for (at, edge) in plan.edges.iter().enumerate() {
            let store = self.scene.store(edge.resource, run);
            if self.entered[store].iter().any(|entered| *entered == run + 1) {
                for subresource in self.edge_subresources(at) {
                    self.left[subresource as usize] = Some(at);
                }
            }
        }
        self.order.in_run.push((self.order.nodes.len() - first) as u32);
    }

    fn node(&mut self, kind: Kind, a: u32, b: u32, queue: QueueId) -> u32 {
        let node = Node {
            kind,
            a,
            b,
            other: NONE,
            run: self.run,
            queue: queue.index() as u32,
            position: self.position[queue],
            batch: self.batch,
            rendering: NONE,
        };
        self.order.nodes.push(node);
        self.order.nodes.len() as u32 - 1
    }

    fn edge(&mut self, from: u32, to: u32) {
        if from != NONE && from != to {
            self.edges.push((from, to));
        }
    }

    fn join(&mut self, a: u32, b: u32, queue: QueueId) -> u32 {
        if a == NONE {
            return b;
        }
        let node = self.node(Kind::Join, 0, 0, queue);
        self.edge(a, node);
        self.edge(b, node);
        node
    }

    /// The lane that holds a queue's items, or those of its open render pass.
    fn lane(&mut self, queue: QueueId, local: bool) -> &mut Lane {
        match &mut self.open {
            Some(open) if local => &mut open.lane,
            _ => &mut self.lanes[queue],
        }
    }

    /// One node that stands for all items at a stage so far.
    fn items(&mut self, queue: QueueId, local: bool, stage: usize) -> u32 {
        let lane = self.lane(queue, local);
        let (pending, join) = (std::mem::take(&mut lane.pending[stage]), lane.joins[stage]);
        if pending.is_empty() {
            return join;
        }
        let node = match (join, pending.as_slice()) {
            (NONE, [one]) => *one,
            _ => {
                let node = self.node(Kind::Join, 0, 0, queue);
                self.edge(join, node);
                pending.iter().for_each(|item| self.edge(*item, node));
                node
            }
        };
        self.lane(queue, local).joins[stage] = node;
        node
    }

    /// Lets a node wait for the first scope of some stages.
    fn after_scope(&mut self, queue: QueueId, stages: Stages, local: bool, node: u32) {
        let mut seen = Vec::new();
        for stage in leaves(with_earlier(stages)) {
            let items = self.items(queue, local, stage);
            seen.extend([items, self.lanes[queue].gates[stage]]);
            if local {
                seen.push(self.lane(queue, true).gates[stage]);
            }
        }
        seen.sort_unstable();
        seen.dedup();
        seen.into_iter().for_each(|before| self.edge(before, node));
    }

    /// Lets what follows at some stages, and later ones, wait for a node.
    fn publish(&mut self, queue: QueueId, stages: Stages, local: bool, node: u32) {
        let mut known: Vec<(u32, u32)> = Vec::new();
        for stage in leaves(with_later(stages)) {
            let old = self.lane(queue, local).gates[stage];
            let new = match known.iter().find(|(before, _)| *before == old) {
                Some((_, new)) => *new,
                None => {
                    let new = self.join(old, node, queue);
                    known.push((old, new));
                    new
                }
            };
            self.lane(queue, local).gates[stage] = new;
        }
        self.lanes[queue].all.push(node);
    }

    /// Lets a node wait for everything before it on its queue.
    fn after_all(&mut self, queue: QueueId, node: u32) {
        for before in std::mem::take(&mut self.lanes[queue].all) {
            self.edge(before, node);
        }
        self.lanes[queue].all.push(node);
    }

    fn access(&mut self, node: u32, subresource: u32) {
        let scene = self.scene;
        // What is shown of a transient is shown in its place in the frame, before others take its bytes.
        for &other in &scene.aliases[subresource as usize] {
            self.edge(self.presented[other as usize], node);
        }
        for &at in &self.watching[subresource as usize] {
            if self.marks.last() != Some(&(node, at)) {
                self.marks.push((node, at));
            }
        }
    }

    fn one_batch(&mut self, id: BatchId) {
        let scene = self.scene;
        let batch = &scene.plan.batches[id];
        let queue = batch.queue.unwrap_or(scene.host);
        self.batch = id.index() as u32;
        self.position[queue] += 1;
        for at in batch.waits.range() {
            let wait = &scene.plan.waits[at];
            let from = wait.queue.unwrap_or(scene.host);
            if wait.previous_run && self.run == 0 {
                continue;
            }
            let list = &self.signals[usize::from(wait.previous_run)][from];
            let signal = list.iter().find(|(value, _)| *value >= wait.value).map_or(NONE, |(_, node)| *node);
            let node = self.node(Kind::Wait, at as u32, 0, queue);
            if signal == NONE {
                self.never.push(node);
            }
            self.order.nodes[node as usize].other = signal;
            self.edge(signal, node);
            let stages = if queue == scene.host { Stages::HOST } else { wait.stages };
            self.publish(queue, stages, false, node);
        }
        for &resource in &scene.outliving[id] {
            self.enter(queue, resource);
        }
        for at in batch.commands.range() {
            self.position[queue] += 1;
            self.command(queue, at);
        }
        self.position[queue] += 1;
        self.open = None;
        if batch.signal.is_some() {
            let own = |(_, node): &&(u32, u32)| self.order.nodes[*node as usize].batch == id.index() as u32;
            if let Some(&(_, node)) = self.signals[0][queue].iter().find(own) {
                self.order.nodes[node as usize].position = self.position[queue];
                self.after_all(queue, node);
            }
        }
    }

    fn edge_subresources(&self, at: usize) -> Vec<u32> {
        let edge = &self.scene.plan.edges[at];
        let resource = edge.resource;
        let aspects = if edge.aspects.is_empty() { rgraph_ir::access::Aspects::all() } else { edge.aspects };
        let part = crate::shape::Part { mips: edge.mips, layers: edge.layers, aspects, bytes: edge.range };
        let start = self.scene.start(resource, self.run);
        self.scene.fine_subresources(resource, &part).into_iter().map(|subresource| start + subresource).collect()
    }

    /// Entry barriers at the first use of a resource on a queue in this run.
    fn enter(&mut self, queue: QueueId, resource: ResourceId) {
        let scene = self.scene;
        let store = scene.store(resource, self.run);
        if std::mem::replace(&mut self.entered[store][queue], self.run + 1) == self.run + 1 {
            return;
        }
        for (at, edge) in scene.plan.edges.iter().enumerate() {
            let on = edge.entry.queue.unwrap_or(scene.host);
            if on != queue || scene.store(edge.resource, self.run) != store {
                continue;
            }
            let node = self.node(Kind::Enter, self.order.enters.len() as u32, 0, queue);
            let mut enter = Enter { edge: at, subresources: Vec::new(), source: None };
            for subresource in self.edge_subresources(at) {
                let first = std::mem::replace(&mut self.entered_subresource[subresource as usize], self.run + 1)
                    != self.run + 1;
                enter.subresources.push((subresource, first));
                self.access(node, subresource);
                self.edge(self.presented[subresource as usize], node);
                let Some(left) = self.left[subresource as usize].map(|left| &scene.plan.edges[left]) else { continue };
                if first && left.exit.queue.unwrap_or(scene.host) == queue && queue != scene.host {
                    let source = enter.source.get_or_insert_default();
                    source.src_stages |= left.exit.stages;
                    source.src_access |= left.exit.access;
                }
            }
            if let Some(source) = enter.source {
                self.after_scope(queue, source.src_stages, false, node);
            }
            let mut gates: Vec<u32> =
                leaves(with_earlier(edge.entry.stages)).map(|stage| self.lanes[queue].gates[stage]).collect();
            if queue == scene.host {
                gates.push(self.items(queue, false, leaves(Stages::HOST).next().unwrap_or(0)));
            }
            gates.sort_unstable();
            gates.dedup();
            gates.into_iter().for_each(|gate| self.edge(gate, node));
            let stages = if queue == scene.host { Stages::HOST } else { edge.entry.stages };
            self.publish(queue, stages, false, node);
            self.order.enters.push(enter);
        }
    }

    fn command(&mut self, queue: QueueId, at: usize) {
        let scene = self.scene;
        match scene.plan.commands[at] {
            Command::Barriers(b) if b.by_region => {
                if self.open.is_some() {
                    self.end_subpass(queue);
                    self.barriers(queue, &b, Half::Both, &[]);
                }
            }
            Command::Barriers(b) => {
                self.barriers(queue, &b, Half::Both, &[]);
            }
            Command::SetEvent(event, b) => {
                let sets = self.barriers(queue, &b, Half::Set, &[]);
                self.events[event] = Some((sets, b, queue));
            }
            Command::WaitEvents(event, b) => {
                if let Some((sets, set, from)) = self.events[event].take()
                    && from == queue
                    && crate::structure::same(scene.plan, &set, &b)
                {
                    self.barriers(queue, &b, Half::Wait, &sets);
                }
            }
            Command::BeginRendering { .. } => self.begin(queue, scene.of_command[at]),
            Command::EndRendering => self.end(queue),
            Command::Pass { .. } if scene.of_command[at] != NONE => self.pass(queue, scene.of_command[at]),
            Command::Pass { .. } => {}
        }
    }

    /// One node per entry of a barrier call.
    fn barriers(&mut self, queue: QueueId, b: &Barriers, half: Half, sets: &[u32]) -> Vec<u32> {
        let scene = self.scene;
        if queue == scene.host {
            return Vec::new();
        }
        let plan = scene.plan;
        let local = b.by_region;
        let memory = b.memory.range().map(|at| (Kind::Memory(half), at, plan.memory_barriers[at].scope));
        let buffers = b.buffers.range().map(|at| (Kind::Buffer(half), at, plan.buffer_barriers[at].scope));
        let images = b.images.range().map(|at| (Kind::Image(half), at, plan.image_barriers[at].scope));
        let list: Vec<_> = memory.chain(buffers).chain(images).collect();
        let mut made = Vec::new();
        for (number, (kind, at, scope)) in list.iter().enumerate() {
            let node = self.node(*kind, *at as u32, 0, queue);
            if let (true, Some(open)) = (local, &self.open) {
                self.order.nodes[node as usize].rendering = open.at;
            }
            if half == Half::Wait {
                let set = sets.get(number).copied().unwrap_or(NONE);
                self.order.nodes[node as usize].other = set;
                self.edge(set, node);
            } else {
                self.after_scope(queue, scope.src_stages, local, node);
            }
            let (resource, subresources) = match kind {
                Kind::Buffer(_) => (Some(plan.buffer_barriers[*at].resource), Some(&scene.buffer_subresources[*at])),
                Kind::Image(_) => (Some(plan.image_barriers[*at].resource), Some(&scene.image_subresources[*at])),
                _ => (None, None),
            };
            if let (Some(resource), Some(subresources)) = (resource, subresources) {
                let start = scene.start(resource, self.run);
                for subresource in subresources {
                    self.access(node, start + subresource);
                    // Who takes an image back from presentation waits for that by other means than the plan's.
                    self.edge(self.presented[(start + subresource) as usize], node);
                }
            }
            made.push(node);
        }
        // The entries of one call do not wait for each other.
        for (node, (_, _, scope)) in made.iter().zip(&list) {
            if half == Half::Set {
                self.lanes[queue].all.push(*node);
            } else {
                self.publish(queue, scope.dst_stages, local, *node);
            }
        }
        made
    }

    fn finish(mut self, runs: u32, parts: usize) -> Order {
        let count = self.order.nodes.len();
        self.edges.sort_unstable();
        self.edges.dedup();
        self.order.waits = vec![0; count];
        self.order.first_after = vec![0; count + 1];
        for (from, to) in &self.edges {
            self.order.first_after[*from as usize + 1] += 1;
            self.order.waits[*to as usize] += 1;
        }
        self.never.iter().for_each(|node| self.order.waits[*node as usize] += 1);
        self.order.after = self.edges.iter().map(|(_, to)| *to).collect();
        self.marks.sort_unstable();
        self.marks.dedup();
        self.order.first_watched = vec![0; count + 1];
        self.order.accessing = vec![0; runs as usize * parts];
        for (node, at) in &self.marks {
            self.order.first_watched[*node as usize + 1] += 1;
            self.order.accessing[self.order.nodes[*node as usize].run as usize * parts + *at as usize] += 1;
        }
        self.order.watched = self.marks.iter().map(|(_, at)| *at).collect();
        for list in [&mut self.order.first_after, &mut self.order.first_watched] {
            for at in 1..list.len() {
                list[at] += list[at - 1];
            }
        }
        self.order
    }
}
