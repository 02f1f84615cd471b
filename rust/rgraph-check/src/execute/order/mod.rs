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

use std::ops::Index;

use rgraph_ir::access::Stages;
use rgraph_ir::id::{Id, IdVec, Span};
use rgraph_ir::plan::{Barriers, BatchId, Command, EventId, QueueId, Scope};
use rgraph_ir::resource::ResourceId;

use super::ids::{
    ByRun, EdgeId, EnterId, ExecId, ItemId, OrderNodeId, PlaceId, Position, RenderingId, RunId, TargetId, WatchedId,
};
use super::mapping::Mapping;
use crate::ids::{AllocationId, BufferBarrierId, CommandId, ImageBarrierId, MemoryBarrierId, Subpass, WaitId};
use crate::outcome::Watched;
use crate::tables::{STAGES, leaves, with_earlier, with_later};

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Nothing: it stands for several.
    Join,
    /// What a pass does at a stage.
    Item(ExecId, ItemId),
    /// A load operation.
    Load(RenderingId, TargetId),
    /// A store operation.
    Store(RenderingId, TargetId),
    /// The resolves of a pass.
    Resolve(ExecId),
    Memory(Half, MemoryBarrierId),
    Buffer(Half, BufferBarrierId),
    Image(Half, ImageBarrierId),
    Signal,
    Wait(WaitId),
    /// An entry.
    Enter(EnterId),
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
pub(crate) struct OrderNode {
    pub kind: Kind,
    /// The set of a wait for an event; the signal of a wait.
    pub other: Option<OrderNodeId>,
    pub run: RunId,
    pub queue: QueueId,
    /// Submission order on its queue.
    pub position: Position,
    pub batch: BatchId,
    /// The render pass within which alone it holds.
    pub rendering: Option<RenderingId>,
}

impl OrderNode {
    /// Where it stands: its queue, and the order there.
    pub(crate) fn point(&self) -> (QueueId, Position) {
        (self.queue, self.position)
    }
}

/// The runtime's barrier before the first use of part of a resource in a run.
#[derive(Clone, Debug)]
pub(crate) struct Enter {
    pub edge: EdgeId,
    /// Subresources, and whether nothing entered them before in this run.
    pub places: Vec<(PlaceId, bool)>,
    /// First scope, if the run before left it on the same queue.
    pub source: Option<Scope>,
}

/// Nodes in listed order, and edges between them.
#[derive(Debug)]
pub(crate) struct Order {
    pub nodes: IdVec<OrderNodeId, OrderNode>,
    pub enters: IdVec<EnterId, Enter>,
    /// Nodes after each, in one list.
    pub after: Lists<OrderNodeId>,
    /// By node: how many nodes it waits for.
    pub waits: IdVec<OrderNodeId, usize>,
    /// Watched subresources that each node accesses, in one list.
    pub watched: Lists<WatchedId>,
    /// Nodes that access a watched subresource.
    pub accessing: ByRun<WatchedId, usize>,
    /// By run: nodes.
    pub in_run: IdVec<RunId, usize>,
}

/// A list per node, all in one allocation.
#[derive(Debug)]
pub(crate) struct Lists<T> {
    items: Vec<T>,
    spans: IdVec<OrderNodeId, Span>,
}

impl<T: Copy> Lists<T> {
    /// Of pairs sorted by node.
    fn new(pairs: &[(OrderNodeId, T)], nodes: usize) -> Self {
        let mut spans = IdVec::<OrderNodeId, Span>::new();
        let mut start = 0;
        for node in (0..nodes).map(OrderNodeId::new) {
            let end = start + pairs[start..].iter().take_while(|(of, _)| *of == node).count();
            spans.push(Span::new(start, end));
            start = end;
        }
        Self { items: pairs.iter().map(|(_, item)| *item).collect(), spans }
    }
}

impl<T> Index<OrderNodeId> for Lists<T> {
    type Output = [T];
    fn index(&self, node: OrderNodeId) -> &[T] {
        &self.items[self.spans[node].range()]
    }
}

#[derive(Clone)]
struct Lane {
    gates: [Option<OrderNodeId>; STAGES],
    joins: [Option<OrderNodeId>; STAGES],
    pending: Vec<Vec<OrderNodeId>>,
    all: Vec<OrderNodeId>,
}

impl Lane {
    fn new() -> Self {
        Self { gates: [None; STAGES], joins: [None; STAGES], pending: vec![Vec::new(); STAGES], all: Vec::new() }
    }
}

struct Open {
    at: RenderingId,
    lane: Lane,
    subpass: Subpass,
    /// Attachment items of the subpass so far.
    attachments: Vec<OrderNodeId>,
    resolving: Vec<ExecId>,
    /// By target: its first subpass, and its load operation.
    loads: IdVec<TargetId, (Subpass, OrderNodeId)>,
    /// Items that use attachments, also in place: store operations follow them.
    users: Vec<OrderNodeId>,
}

/// A value of a semaphore, and the node that signals it.
type Signal = (u32, OrderNodeId);

/// A set event: its nodes, its dependency, its queue.
type Event = (Vec<OrderNodeId>, Barriers, QueueId);

pub(crate) struct Builder<'a, 's> {
    mapping: &'s Mapping<'a>,
    nodes: IdVec<OrderNodeId, OrderNode>,
    enters: IdVec<EnterId, Enter>,
    in_run: IdVec<RunId, usize>,
    edges: Vec<(OrderNodeId, OrderNodeId)>,
    marks: Vec<(OrderNodeId, WatchedId)>,
    lanes: IdVec<QueueId, Lane>,
    position: IdVec<QueueId, Position>,
    /// By queue: signals of this run and the one before.
    signals: [IdVec<QueueId, Vec<Signal>>; 2],
    events: IdVec<EventId, Option<Event>>,
    /// By allocation: last run in which it was entered on a queue.
    entered: IdVec<AllocationId, IdVec<QueueId, Option<RunId>>>,
    /// Last run in which a subresource was entered; the edge that left it.
    entered_place: IdVec<PlaceId, Option<RunId>>,
    left: IdVec<PlaceId, Option<EdgeId>>,
    watching: IdVec<PlaceId, Vec<WatchedId>>,
    /// Who presents a subresource last.
    presented: IdVec<PlaceId, Option<OrderNodeId>>,
    open: Option<Open>,
    run: RunId,
    batch: BatchId,
    never: Vec<OrderNodeId>,
}

/// Orders `runs` runs of a plan.
pub(crate) fn order(mapping: &Mapping, runs: usize, watch: &IdVec<WatchedId, Watched>) -> Order {
    let queues = mapping.host.index() + 1;
    let places = mapping.aliases.len();
    let mut builder = Builder {
        mapping,
        nodes: IdVec::new(),
        enters: IdVec::new(),
        in_run: IdVec::new(),
        edges: Vec::new(),
        marks: Vec::new(),
        lanes: IdVec::filled(Lane::new(), queues),
        position: IdVec::filled(Position(0), queues),
        signals: [IdVec::filled(Vec::new(), queues), IdVec::filled(Vec::new(), queues)],
        events: IdVec::filled(None, mapping.plan.commands.len() + 1),
        entered: IdVec::filled(IdVec::filled(None, queues), mapping.base.len()),
        entered_place: IdVec::filled(None, places),
        left: IdVec::filled(None, places),
        watching: IdVec::filled(Vec::new(), places),
        presented: IdVec::filled(None, places),
        open: None,
        run: RunId::new(0),
        batch: BatchId::new(0),
        never: Vec::new(),
    };
    for run in (0..runs).map(RunId::new) {
        builder.one_run(run, watch);
    }
    builder.finish(runs, watch.len())
}

impl Builder<'_, '_> {
    fn one_run(&mut self, run: RunId, watch: &IdVec<WatchedId, Watched>) {
        let plan = self.mapping.plan;
        self.run = run;
        let first = self.nodes.len();
        self.watching.iter_mut().for_each(Vec::clear);
        for (id, part) in watch.iter_ids() {
            let memory = self.mapping.facts.memory[part.resource];
            let start = self.mapping.start(part.resource, run);
            for fine in &self.mapping.parts[memory][part.subresource] {
                self.watching[start.plus(*fine)].push(id);
            }
        }
        self.signals.swap(0, 1);
        self.signals[0].iter_mut().for_each(Vec::clear);
        self.events.iter_mut().for_each(|event| *event = None);
        // Signals first: a wait may be listed before the batch that signals.
        for (id, batch) in plan.batches.iter_ids() {
            let queue = batch.queue.unwrap_or(self.mapping.host);
            if let Some(value) = batch.signal {
                self.batch = id;
                let node = self.node(Kind::Signal, queue);
                self.signals[0][queue].push((value, node));
            }
        }
        for id in plan.batches.ids() {
            self.one_batch(id);
        }
        for (at, edge) in plan.edges.iter().enumerate() {
            let allocation = self.mapping.allocation(edge.resource, run);
            if self.entered[allocation].iter().any(|entered| *entered == Some(run)) {
                let id = EdgeId::new(at);
                for place in self.edge_places(id) {
                    self.left[place] = Some(id);
                }
            }
        }
        self.in_run.push(self.nodes.len() - first);
    }

    fn node(&mut self, kind: Kind, queue: QueueId) -> OrderNodeId {
        self.nodes.push(OrderNode {
            kind,
            other: None,
            run: self.run,
            queue,
            position: self.position[queue],
            batch: self.batch,
            rendering: None,
        })
    }

    fn edge(&mut self, from: Option<OrderNodeId>, to: OrderNodeId) {
        self.edges.extend(from.filter(|from| *from != to).map(|from| (from, to)));
    }

    fn join(&mut self, a: Option<OrderNodeId>, b: OrderNodeId, queue: QueueId) -> OrderNodeId {
        if a.is_none() {
            return b;
        }
        let node = self.node(Kind::Join, queue);
        self.edge(a, node);
        self.edge(Some(b), node);
        node
    }

    /// Goes on in the order of a queue.
    fn advance(&mut self, queue: QueueId) {
        self.position[queue].0 += 1;
    }

    /// The lane that holds a queue's items, or those of its open render pass.
    fn lane(&mut self, queue: QueueId, local: bool) -> &mut Lane {
        match &mut self.open {
            Some(open) if local => &mut open.lane,
            _ => &mut self.lanes[queue],
        }
    }

    /// One node that stands for all items at a stage so far.
    fn items(&mut self, queue: QueueId, local: bool, stage: usize) -> Option<OrderNodeId> {
        let lane = self.lane(queue, local);
        let (pending, join) = (std::mem::take(&mut lane.pending[stage]), lane.joins[stage]);
        if pending.is_empty() {
            return join;
        }
        let node = match (join, pending.as_slice()) {
            (None, [one]) => *one,
            _ => {
                let node = self.node(Kind::Join, queue);
                self.edge(join, node);
                pending.iter().for_each(|item| self.edge(Some(*item), node));
                node
            }
        };
        self.lane(queue, local).joins[stage] = Some(node);
        Some(node)
    }

    /// Lets a node wait for the first scope of some stages.
    fn after_scope(&mut self, queue: QueueId, stages: Stages, local: bool, node: OrderNodeId) {
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
    fn publish(&mut self, queue: QueueId, stages: Stages, local: bool, node: OrderNodeId) {
        let mut known: Vec<(Option<OrderNodeId>, OrderNodeId)> = Vec::new();
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
            self.lane(queue, local).gates[stage] = Some(new);
        }
        self.lanes[queue].all.push(node);
    }

    /// Lets a node wait for everything before it on its queue.
    fn after_all(&mut self, queue: QueueId, node: OrderNodeId) {
        for before in std::mem::take(&mut self.lanes[queue].all) {
            self.edge(Some(before), node);
        }
        self.lanes[queue].all.push(node);
    }

    fn access(&mut self, node: OrderNodeId, place: PlaceId) {
        let mapping = self.mapping;
        // What is shown of a transient is shown in its place in the frame, before others take its bytes.
        for &other in &mapping.aliases[place] {
            self.edge(self.presented[other], node);
        }
        for &at in &self.watching[place] {
            if self.marks.last() != Some(&(node, at)) {
                self.marks.push((node, at));
            }
        }
    }

    fn one_batch(&mut self, id: BatchId) {
        let mapping = self.mapping;
        let batch = &mapping.plan.batches[id];
        let queue = batch.queue.unwrap_or(mapping.host);
        self.batch = id;
        self.advance(queue);
        for at in batch.waits.range() {
            let wait = &mapping.plan.waits[at];
            let from = wait.queue.unwrap_or(mapping.host);
            if wait.previous_run && self.run.index() == 0 {
                continue;
            }
            let list = &self.signals[usize::from(wait.previous_run)][from];
            let signal = list.iter().find(|(value, _)| *value >= wait.value).map(|(_, node)| *node);
            let node = self.node(Kind::Wait(WaitId::new(at)), queue);
            if signal.is_none() {
                self.never.push(node);
            }
            self.nodes[node].other = signal;
            self.edge(signal, node);
            let stages = if queue == mapping.host { Stages::HOST } else { wait.stages };
            self.publish(queue, stages, false, node);
        }
        for &resource in &mapping.outliving[id] {
            self.enter(queue, resource);
        }
        for at in batch.commands.range() {
            self.advance(queue);
            self.command(queue, CommandId::new(at));
        }
        self.advance(queue);
        self.open = None;
        if batch.signal.is_some() {
            let own = |(_, node): &&Signal| self.nodes[*node].batch == id;
            if let Some(&(_, node)) = self.signals[0][queue].iter().find(own) {
                self.nodes[node].position = self.position[queue];
                self.after_all(queue, node);
            }
        }
    }

    fn edge_places(&self, id: EdgeId) -> Vec<PlaceId> {
        let edge = &self.mapping.plan.edges[id.index()];
        let resource = edge.resource;
        let aspects = if edge.aspects.is_empty() { rgraph_ir::access::Aspects::all() } else { edge.aspects };
        let part = crate::shape::SubresourceRange { mips: edge.mips, layers: edge.layers, aspects, bytes: edge.range };
        let start = self.mapping.start(resource, self.run);
        self.mapping.fine_subresources(resource, &part).into_iter().map(|fine| start.plus(fine)).collect()
    }

    /// Entry barriers at the first use of a resource on a queue in this run.
    fn enter(&mut self, queue: QueueId, resource: ResourceId) {
        let mapping = self.mapping;
        let allocation = mapping.allocation(resource, self.run);
        if self.entered[allocation][queue].replace(self.run) == Some(self.run) {
            return;
        }
        for (at, edge) in mapping.plan.edges.iter().enumerate() {
            let on = edge.entry.queue.unwrap_or(mapping.host);
            if on != queue || mapping.allocation(edge.resource, self.run) != allocation {
                continue;
            }
            let id = EdgeId::new(at);
            let node = self.node(Kind::Enter(self.enters.next_id()), queue);
            let mut enter = Enter { edge: id, places: Vec::new(), source: None };
            for place in self.edge_places(id) {
                let first = self.entered_place[place].replace(self.run) != Some(self.run);
                enter.places.push((place, first));
                self.access(node, place);
                self.edge(self.presented[place], node);
                let Some(left) = self.left[place].map(|left| &mapping.plan.edges[left.index()]) else { continue };
                if first && left.exit.queue.unwrap_or(mapping.host) == queue && queue != mapping.host {
                    let source = enter.source.get_or_insert_default();
                    source.src_stages |= left.exit.stages;
                    source.src_access |= left.exit.access;
                }
            }
            if let Some(source) = enter.source {
                self.after_scope(queue, source.src_stages, false, node);
            }
            let mut gates: Vec<Option<OrderNodeId>> =
                leaves(with_earlier(edge.entry.stages)).map(|stage| self.lanes[queue].gates[stage]).collect();
            if queue == mapping.host {
                gates.push(self.items(queue, false, leaves(Stages::HOST).next().unwrap_or(0)));
            }
            gates.sort_unstable();
            gates.dedup();
            gates.into_iter().for_each(|gate| self.edge(gate, node));
            let stages = if queue == mapping.host { Stages::HOST } else { edge.entry.stages };
            self.publish(queue, stages, false, node);
            self.enters.push(enter);
        }
    }

    fn command(&mut self, queue: QueueId, at: CommandId) {
        let mapping = self.mapping;
        match mapping.plan.commands[at.index()] {
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
                    && crate::structure::same(mapping.plan, &set, &b)
                {
                    self.barriers(queue, &b, Half::Wait, &sets);
                }
            }
            Command::BeginRendering { .. } => {
                if let Some(rendering) = mapping.rendering_of[at] {
                    self.begin(queue, rendering);
                }
            }
            Command::EndRendering => self.end(queue),
            Command::Pass { .. } => {
                if let Some(exec) = mapping.exec_of[at] {
                    self.pass(queue, exec);
                }
            }
        }
    }

    /// One node per entry of a barrier call.
    fn barriers(&mut self, queue: QueueId, b: &Barriers, half: Half, sets: &[OrderNodeId]) -> Vec<OrderNodeId> {
        let mapping = self.mapping;
        if queue == mapping.host {
            return Vec::new();
        }
        let plan = mapping.plan;
        let local = b.by_region;
        let memory = b.memory.range().map(MemoryBarrierId::new);
        let memory = memory.map(|id| (Kind::Memory(half, id), plan.memory_barriers[id.index()].scope));
        let buffers = b.buffers.range().map(BufferBarrierId::new);
        let buffers = buffers.map(|id| (Kind::Buffer(half, id), plan.buffer_barriers[id.index()].scope));
        let images = b.images.range().map(ImageBarrierId::new);
        let images = images.map(|id| (Kind::Image(half, id), plan.image_barriers[id.index()].scope));
        let list: Vec<_> = memory.chain(buffers).chain(images).collect();
        let mut made = Vec::new();
        for (number, (kind, scope)) in list.iter().enumerate() {
            let node = self.node(*kind, queue);
            if let (true, Some(open)) = (local, &self.open) {
                self.nodes[node].rendering = Some(open.at);
            }
            if half == Half::Wait {
                let set = sets.get(number).copied();
                self.nodes[node].other = set;
                self.edge(set, node);
            } else {
                self.after_scope(queue, scope.src_stages, local, node);
            }
            let (resource, subresources) = match *kind {
                Kind::Buffer(_, id) => (plan.buffer_barriers[id.index()].resource, &mapping.buffer_subresources[id]),
                Kind::Image(_, id) => (plan.image_barriers[id.index()].resource, &mapping.image_subresources[id]),
                _ => {
                    made.push(node);
                    continue;
                }
            };
            let start = mapping.start(resource, self.run);
            for place in subresources.iter().map(|fine| start.plus(*fine)) {
                self.access(node, place);
                // Who takes an image back from presentation waits for that by other means than the plan's.
                self.edge(self.presented[place], node);
            }
            made.push(node);
        }
        // The entries of one call do not wait for each other.
        for (node, (_, scope)) in made.iter().zip(&list) {
            if half == Half::Set {
                self.lanes[queue].all.push(*node);
            } else {
                self.publish(queue, scope.dst_stages, local, *node);
            }
        }
        made
    }

    fn finish(mut self, runs: usize, watched: usize) -> Order {
        let count = self.nodes.len();
        self.edges.sort_unstable();
        self.edges.dedup();
        let mut waits = IdVec::filled(0, count);
        self.edges.iter().for_each(|(_, to)| waits[*to] += 1);
        self.never.iter().for_each(|node| waits[*node] += 1);
        self.marks.sort_unstable();
        self.marks.dedup();
        let mut accessing = ByRun::filled(0, runs, watched);
        for (node, part) in &self.marks {
            accessing[(self.nodes[*node].run, *part)] += 1;
        }
        Order {
            after: Lists::new(&self.edges, count),
            watched: Lists::new(&self.marks, count),
            nodes: self.nodes,
            enters: self.enters,
            waits,
            accessing,
            in_run: self.in_run,
        }
    }
}
