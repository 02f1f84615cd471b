//! A plan flattened: its synchronization and its uses of memory, in plan order, at steps of one time line.

use std::collections::{BTreeMap, BTreeSet};

use rgraph_ir::access::{Accesses, Aspects, Layout, Sharing, Stages};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Barriers, BatchId, Command, Edge, EventId, Plan, QueueId, Scope};
use rgraph_ir::resource::ResourceId;

use super::bytes::{Memory, Span, shared};
use super::pairs::Need;
use super::{
    Access, AccessId, LayoutAndOwner, Link, LinkId, LinkKind, Moment, Refused, Region, RenderPassId, Subpass, Within,
};
use crate::bytes::{Placed, placed};
use crate::facts::Facts;
use crate::ids::{CommandId, DeclaredOf, MemoryId, SubresourceId};
use crate::shape::SubresourceRange;
use crate::structure;
use crate::subresource::meant;

/// The flat lists that chains are verified against.
pub(super) struct Listing {
    pub links: IdVec<LinkId, Link>,
    pub accesses: IdVec<AccessId, Access>,
    /// Steps of one run.
    pub steps: i64,
    /// The host, which follows the plan's queues.
    pub host: QueueId,
    pub memories: IdVec<MemoryId, Memory>,
}

impl Listing {
    /// Whether contents of a memory pass from run to run.
    pub(super) fn outlives(&self, memory: MemoryId) -> bool {
        self.memories.get(memory).is_none_or(|memory| memory.outlives)
    }

    /// Whether the run before may have used the bytes of a memory that has no entry.
    pub(super) fn is_used_again(&self, memory: MemoryId) -> bool {
        !self.outlives(memory) && !self.memories.get(memory).is_some_and(|memory| memory.fresh)
    }

    /// The bytes that two memories share.
    pub(super) fn shared(&self, [a, b]: [MemoryId; 2]) -> Vec<Span> {
        self.memories.get(a).zip(self.memories.get(b)).into_iter().flat_map(|(a, b)| shared(a, b)).collect()
    }

    /// Bytes that writes to some subresources of a memory replace.
    pub(super) fn replaced(&self, memory: MemoryId, subresources: &BTreeSet<SubresourceId>) -> Vec<Span> {
        self.memories.get(memory).map_or_else(Vec::new, |memory| memory.replaced(subresources))
    }

    /// Uses of a memory and of those that share bytes with it, in plan order.
    pub(super) fn related(&self, memory: MemoryId) -> Vec<AccessId> {
        let with = |other: MemoryId| other == memory || !self.shared([memory, other]).is_empty();
        let mut known: BTreeMap<MemoryId, bool> = BTreeMap::new();
        let here = |at: &AccessId| {
            let other = self.accesses[*at].region.memory;
            *known.entry(other).or_insert_with(|| with(other))
        };
        self.accesses.ids().filter(here).collect()
    }

    /// The copy of a ring in whose last run a subresource was used last before it comes round as another copy.
    pub(super) fn copy_before(&self, region: &Region, subresource: SubresourceId) -> u32 {
        let ring = self.memories.get(region.memory).map_or(1, |memory| memory.ring.max(1));
        let of = |a: &Access, copy: u32| (a.region.memory, a.region.copy) == (region.memory, copy);
        let used =
            |copy: &u32| self.accesses.iter().any(|a| of(a, *copy) && a.region.subresources.contains(&subresource));
        (1..=ring).map(|ago| (region.copy + ring - ago) % ring).find(used).unwrap_or(region.copy)
    }

    /// A hazard without a chain, in words.
    pub(super) fn uncovered(&self, need: &Need) -> String {
        let [x, y] = [&self.accesses[need.x], &self.accesses[need.y]];
        let run = if need.run_before { " of the run before" } else { "" };
        let lacks = if need.data { "and makes its write visible" } else { "" };
        format!("no chain orders {} after {}{run} {lacks}", y.words(), x.words()).trim_end().to_owned()
    }
}

impl LayoutAndOwner {
    /// The state in words.
    pub(super) fn words(&self) -> String {
        let layouts: Vec<_> = self.layouts.iter().map(|layout| layout.name()).collect();
        let layout =
            if layouts.is_empty() { "any layout".to_owned() } else { format!("layout {}", layouts.join(" or ")) };
        let owner = match self.families {
            None => String::new(),
            Some([from, to]) if from == to => format!(" owned by family {from}"),
            Some([from, to]) => format!(" on the way from family {from} to {to}"),
        };
        layout + &owner
    }
}

impl Access {
    /// The use in words.
    pub(super) fn words(&self) -> String {
        let what = match (self.link, self.write) {
            (Some(_), _) => "the transition",
            (None, _) if self.resource.is_empty() => return format!("pass \"{}\"", self.pass),
            (None, true) => "the write",
            (None, false) => "the read",
        };
        let pass = if self.pass.is_empty() { String::new() } else { format!(" of pass \"{}\"", self.pass) };
        let stages: Vec<_> = self.stages.names().collect();
        let at = if stages.is_empty() { String::new() } else { format!(" at {}", stages.join("|")) };
        format!("{what} of \"{}\"{pass}{at}", self.resource)
    }
}

/// A split barrier under way: its links and its queue.
type Event = (Vec<Option<LinkId>>, Barriers, QueueId);

/// What is known on the way through a plan.
pub(super) struct Lister<'a> {
    pub facts: &'a Facts<'a>,
    pub plan: &'a Plan,
    pub declared_of: &'a DeclaredOf,
    pub listing: Listing,
    pub step: Moment,
    pub host: QueueId,
    /// By memory: whether families share it.
    concurrent: IdVec<MemoryId, bool>,
    /// The step before the first command of the batch.
    begin: Moment,
    /// The render pass that is open, its flag, and operations that its load and store operations add.
    pub render_pass: Option<super::attachments::RenderPass>,
    pub next_render_pass: RenderPassId,
    /// By memory, copy and queue: whether the runtime's entries stand.
    entered: BTreeMap<(MemoryId, u32, QueueId), ()>,
    /// By memory, copy and subresource: whether it was used in this run.
    pub used: BTreeMap<(MemoryId, u32, SubresourceId), ()>,
    events: BTreeMap<EventId, Event>,
}

/// Flattens a plan.
pub(super) fn listed(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf) -> Result<Listing, Refused> {
    let host = QueueId::new(plan.queues.len());
    let mut memories: IdVec<MemoryId, Memory> = facts
        .memory
        .iter_ids()
        .map(|(name, memory)| Memory {
            places: Vec::new(),
            subresources: facts.grids[*memory].len(),
            intervals: intervals(facts, *memory),
            outlives: facts.edged[*memory],
            fresh: facts.fresh[MemoryId::of_first(name)],
            ring: facts.ring[MemoryId::of_first(name)],
        })
        .collect();
    for Placed { memory, heap, bytes: [first, end] } in placed(facts, plan) {
        memories[memory].places.push((heap, first, end));
    }
    let shared = |id: ResourceId| plan.resources.get(id).is_some_and(|r| r.sharing == Sharing::Concurrent);
    let mut lister = Lister {
        facts,
        plan,
        declared_of,
        listing: Listing { links: IdVec::new(), accesses: IdVec::new(), steps: 0, host, memories },
        step: Moment::FIRST,
        host,
        concurrent: facts.memory.ids().map(shared).collect(),
        begin: Moment::FIRST,
        render_pass: None,
        next_render_pass: RenderPassId::new(0),
        entered: BTreeMap::new(),
        used: BTreeMap::new(),
        events: BTreeMap::new(),
    };
    let signals = lister.signals()?;
    for batch in plan.batches.ids() {
        lister.batch(batch, &signals)?;
    }
    lister.exits();
    lister.declared_orders();
    lister.listing.steps = lister.step.later_by(2).in_line();
    Ok(lister.listing)
}

fn intervals(facts: &Facts, memory: MemoryId) -> IdVec<SubresourceId, [u64; 2]> {
    if facts.shapes[memory.first_name()].is_image() {
        return IdVec::new();
    }
    let grid = &facts.grids[memory];
    grid.ids().map(|subresource| grid.part(subresource).bytes).collect()
}

/// By queue: values and steps of its signals, and by batch its first step.
struct Signals {
    of: IdVec<QueueId, Vec<(u32, Moment)>>,
    first: IdVec<BatchId, Moment>,
}

impl<'a> Lister<'a> {
    /// Steps of all batches, and of their signals: a step per batch for its waits, one before its commands, one per
    /// command, one for its signal.
    fn signals(&self) -> Result<Signals, Refused> {
        let mut signals = Signals { of: IdVec::filled(Vec::new(), self.host.index() + 1), first: IdVec::new() };
        let mut step = Moment::FIRST;
        for (id, batch) in self.plan.batches.iter_ids() {
            signals.first.push(step);
            step = step.later_by(3 + batch.commands.len());
            let queue = batch.queue.unwrap_or(self.host);
            if let Some(value) = batch.signal {
                if signals.of[queue].last().is_some_and(|(last, _)| *last >= value) {
                    let message =
                        format!("batch {} signals value {value}, which is not above the one before", id.index());
                    return Err(Refused::one(message));
                }
                signals.of[queue].push((value, step.before()));
            }
        }
        Ok(signals)
    }

    fn batch(&mut self, id: BatchId, signals: &Signals) -> Result<(), Refused> {
        let batch = self.plan.batches[id];
        let queue = batch.queue.unwrap_or(self.host);
        self.step = signals.first[id];
        for at in batch.waits.range() {
            let wait = self.plan.waits[at];
            let from = wait.queue.unwrap_or(self.host);
            let found = signals.of.get(from).and_then(|list| list.iter().find(|(value, _)| *value >= wait.value));
            let found = found.filter(|(_, signal)| wait.previous_run || *signal < self.step);
            let Some(&(_, signal)) = found else {
                let message = format!("batch {} waits for a value that no batch before it signals", id.index());
                return Err(Refused::one(message));
            };
            let dst_stages = if queue == self.host { Stages::HOST } else { wait.stages };
            let scope = Scope { dst_stages, ..Scope::default() };
            let link = Link::new(LinkKind::Wait, at as u32, queue, [signal, self.step], scope);
            let link = Link { signal_queue: Some(from), run_before: wait.previous_run, ..link };
            self.listing.links.push(link);
        }
        self.step = self.step.later_by(1);
        self.begin = self.step;
        for at in batch.commands.range() {
            rgraph_ir::cancel::poll();
            self.step = self.step.later_by(1);
            self.command(queue, CommandId::new(at))?;
        }
        if self.render_pass.take().is_some() {
            return Err(Refused::one("a render pass does not end in its batch".to_owned()));
        }
        self.step = self.step.later_by(1);
        Ok(())
    }

    fn command(&mut self, queue: QueueId, at: CommandId) -> Result<(), Refused> {
        match self.plan.commands[at.index()] {
            Command::Barriers(_) if queue == self.host => {}
            Command::Barriers(barriers) => {
                let inside = self.render_pass.is_some();
                if barriers.by_region != inside {
                    return Err(Refused::one(
                        "a barrier by region stands outside a render pass, or one that is not within".to_owned(),
                    ));
                }
                let made = self.set(queue, at, &barriers);
                self.happen(queue, &barriers, &made);
            }
            Command::SetEvent(event, barriers) => {
                let made = self.set(queue, at, &barriers);
                if self.events.insert(event, (made, barriers, queue)).is_some() {
                    return Err(Refused::one(format!("event {} is set twice", event.index())));
                }
            }
            Command::WaitEvents(event, barriers) => match self.events.remove(&event) {
                Some((made, set, from)) if from == queue && structure::same(self.plan, &set, &barriers) => {
                    self.happen(queue, &set, &made);
                }
                _ => {
                    return Err(Refused::one(format!("event {} is not set so before it is waited for", event.index())));
                }
            },
            Command::BeginRendering { attachments, .. } => self.begin_render_pass(queue, at, attachments),
            Command::EndRendering => self.end_render_pass()?,
            Command::Pass { pass, layouts } => self.pass(queue, pass, layouts.range()),
        }
        Ok(())
    }

    pub(super) fn subresources(&self, resource: ResourceId, part: &SubresourceRange) -> Vec<SubresourceId> {
        self.facts.grids[self.facts.memory[resource]].subresources(part)
    }

    pub(super) fn region(&self, resource: ResourceId, subresources: &[SubresourceId]) -> Region {
        let (memory, copy) = (self.facts.memory[resource], self.facts.frames_ago[resource]);
        Region { memory, copy, subresources: subresources.to_vec() }
    }

    /// The owner that a use on a queue needs and leaves.
    pub(super) fn family(&self, queue: QueueId, resource: ResourceId) -> Option<[u32; 2]> {
        let family = self.plan.queues.get(queue)?.family;
        (!self.concurrent[self.facts.memory[resource]]).then_some([family; 2])
    }

    /// Whether a transfer of ownership is the half of the family that gives.
    fn releases(&self, queue: QueueId, families: Option<[u32; 2]>) -> bool {
        let family = self.plan.queues.get(queue).map(|queue| queue.family);
        families.is_some_and(|[from, to]| from != to && Some(from) == family)
    }

    /// The scope of a barrier as it counts: a release shows nothing to anybody, whatever it names (Vulkan 1.3, "Queue
    /// Family Ownership Transfer").
    fn scope(&self, queue: QueueId, scope: Scope, families: Option<[u32; 2]>) -> Scope {
        match self.releases(queue, families) {
            true => Scope { dst_access: Accesses::empty(), ..scope },
            false => scope,
        }
    }

    /// Links of a barrier call or the first half of an event: memory, buffer, image entries.
    fn set(&mut self, queue: QueueId, at: CommandId, barriers: &Barriers) -> Vec<Option<LinkId>> {
        let mut made = Vec::new();
        let render_pass = self.render_pass.as_ref().map(|open| open.id);
        let kind = if barriers.by_region { LinkKind::Subpass } else { LinkKind::Barrier };
        let span = [self.step; 2];
        let plan = self.plan;
        let mut add = |lister: &mut Self, link: Link| {
            let link = lister.listing.links.push(Link { entry: made.len() as u32, render_pass, ..link });
            made.push(Some(link));
        };
        for barrier in &plan.memory_barriers[barriers.memory.range()] {
            add(self, Link::new(kind, at.index() as u32, queue, span, barrier.scope));
        }
        for barrier in &plan.buffer_barriers[barriers.buffers.range()] {
            let resource = barrier.resource;
            if self.facts.memory.get(resource).is_some() {
                self.enter(queue, resource);
                let region =
                    Some(self.region(resource, &self.subresources(resource, &SubresourceRange::buffer(barrier.range))));
                let families = barrier.families.filter(|[from, to]| from != to);
                let scope = self.scope(queue, barrier.scope, families);
                add(self, Link { region, families, ..Link::new(kind, at.index() as u32, queue, span, scope) });
            }
        }
        for barrier in &plan.image_barriers[barriers.images.range()] {
            let resource = barrier.resource;
            if self.facts.memory.get(resource).is_some() {
                self.enter(queue, resource);
                let aspects = if barrier.aspects.is_empty() { Aspects::all() } else { barrier.aspects };
                let part = SubresourceRange::image(barrier.mips, barrier.layers, aspects);
                let region = Some(self.region(resource, &self.subresources(resource, &part)));
                let families = barrier.families.filter(|[from, to]| from != to);
                let layouts = vec![barrier.old_layout, barrier.new_layout];
                let scope = self.scope(queue, barrier.scope, families);
                let link = Link::new(kind, at.index() as u32, queue, span, scope);
                add(self, Link { region, families, layouts, ..link });
            }
        }
        made
    }

    /// Layout transitions and transfers happen; what follows is in the second scopes.
    fn happen(&mut self, queue: QueueId, barriers: &Barriers, made: &[Option<LinkId>]) {
        for &link in made.iter().flatten() {
            self.listing.links[link].leave = self.step;
        }
        let plan = self.plan;
        let buffers = plan.buffer_barriers[barriers.buffers.range()].iter().map(|b| (b.resource, b.why));
        let images = plan.image_barriers[barriers.images.range()].iter().map(|b| (b.resource, b.why));
        let named = buffers.chain(images).filter(|(resource, _)| self.facts.memory.get(*resource).is_some());
        for ((resource, why), id) in named.zip(&made[barriers.memory.len()..]) {
            let Some(id) = *id else { continue };
            let link = &self.listing.links[id];
            let [old, new] = link.layouts.as_slice().try_into().unwrap_or([Layout::General; 2]);
            let moves = old != new || old == Layout::Undefined;
            let Some(region) = link.region.clone().filter(|_| moves || link.families.is_some()) else { continue };
            let image = !link.layouts.is_empty();
            let discards = image && old == Layout::Undefined;
            let state = |layout: Layout, families: Option<[u32; 2]>| LayoutAndOwner {
                layouts: if image && layout != Layout::Undefined { vec![layout] } else { Vec::new() },
                families,
            };
            let own = self.family(queue, resource);
            let (mut before, mut after) = (state(old, own), state(new, own));
            if let Some([from, to]) = link.families {
                let transfer = own.map(|_| [from, to]);
                if own.is_some_and(|[family, _]| family == from) {
                    after = state(old, transfer);
                } else {
                    before = state(old, transfer);
                }
            }
            // A release in one layout writes nothing.
            let releases = self.releases(queue, link.families);
            let pass = meant(&why).filter(|pass| plan.passes.get(*pass).is_some());
            self.note_used(&region);
            self.listing.accesses.push(Access {
                pass: pass.map_or(String::new(), |pass| plan.pass_name(pass).to_owned()),
                link: Some(id),
                flags: self
                    .render_pass
                    .as_ref()
                    .and_then(|open| open.flag)
                    .into_iter()
                    .map(|flag| (flag, true))
                    .collect(),
                render_pass: self.render_pass.as_ref().map(|open| open.id),
                write: moves || !releases,
                needs: !discards,
                before,
                after,
                ..self.edge_access(resource, queue, region)
            });
        }
    }

    /// An access that a link makes: fields that all of them have.
    fn edge_access(&self, resource: ResourceId, queue: QueueId, region: Region) -> Access {
        Access {
            pass: String::new(),
            resource: self.facts.name(resource).to_owned(),
            link: None,
            step: self.step,
            queue,
            stages: Stages::empty(),
            access: Accesses::empty(),
            write: true,
            region,
            group: None,
            render_pass: None,
            subpass: Subpass::FIRST,
            within: Within::Nowhere,
            inner: false,
            needs: false,
            flags: Vec::new(),
            before: LayoutAndOwner::default(),
            after: LayoutAndOwner::default(),
        }
    }

    pub(super) fn note_used(&mut self, region: &Region) {
        let key = |&subresource: &SubresourceId| ((region.memory, region.copy, subresource), ());
        self.used.extend(region.subresources.iter().map(key));
    }

    /// Edges of the copy of a memory that a resource is in this run.
    fn edges(&self, resource: ResourceId) -> impl Iterator<Item = (usize, &'a Edge)> + use<'a> {
        let (facts, plan) = (self.facts, self.plan);
        let copy = (facts.memory[resource], facts.frames_ago[resource]);
        plan.edges.iter().enumerate().filter(move |(_, edge)| {
            let other = edge.resource;
            facts.memory.get(other).is_some() && (facts.memory[other], facts.frames_ago[other]) == copy
        })
    }

    /// The runtime's entries, at the first use of what outlives a run on a queue: before the first command of the
    /// batch, behind its waits.
    pub(super) fn enter(&mut self, queue: QueueId, resource: ResourceId) {
        let (memory, copy) = (self.facts.memory[resource], self.facts.frames_ago[resource]);
        if !self.facts.edged[memory] || self.entered.insert((memory, copy, queue), ()).is_some() {
            return;
        }
        for (at, edge) in self.edges(resource) {
            if edge.entry.queue.unwrap_or(self.host) != queue {
                continue;
            }
            let entry = edge.entry;
            let scope = Scope {
                src_stages: entry.stages,
                dst_stages: entry.stages,
                dst_access: entry.access,
                ..Scope::default()
            };
            let subresources = self.subresources(edge.resource, &part_of(edge));
            let region = self.region(edge.resource, &subresources);
            let link = Link::new(LinkKind::Entry, at as u32, queue, [self.begin; 2], scope);
            let link = self.listing.links.push(Link { region: Some(region), layouts: vec![entry.layout], ..link });
            let new: Vec<_> = subresources
                .into_iter()
                .filter(|subresource| !self.used.contains_key(&(memory, copy, *subresource)))
                .collect();
            let region = self.region(edge.resource, &new);
            // No use but a change of layout that gives up what was there finds an image without layout.
            let image = self.facts.shapes[resource].is_image();
            let after = LayoutAndOwner {
                layouts: if image { vec![entry.layout] } else { Vec::new() },
                families: self.family(queue, resource),
            };
            self.note_used(&region);
            let base = self.edge_access(edge.resource, queue, region);
            self.listing.accesses.push(Access { link: Some(link), step: self.begin, after, ..base });
        }
    }

    /// The states in which the run leaves what outlives it.
    fn exits(&mut self) {
        self.step = self.step.later_by(1);
        for (at, edge) in self.plan.edges.iter().enumerate() {
            let resource = edge.resource;
            let Some(&memory) = self.facts.memory.get(resource) else { continue };
            let copy = self.facts.frames_ago[resource];
            if !self.entered.keys().any(|(m, c, _)| (*m, *c) == (memory, copy)) {
                continue;
            }
            let exit = edge.exit;
            let queue = exit.queue.unwrap_or(self.host);
            let scope = Scope { src_stages: exit.stages, src_access: exit.access, ..Scope::default() };
            let region = self.region(resource, &self.subresources(resource, &part_of(edge)));
            let link = Link::new(LinkKind::Exit, at as u32, queue, [self.step; 2], scope);
            let region_of_link = Some(region.clone());
            let link = self.listing.links.push(Link { region: region_of_link, layouts: vec![exit.layout], ..link });
            let image = self.facts.shapes[resource].is_image();
            let layouts = if image { vec![exit.layout] } else { Vec::new() };
            // To whom the declaration leaves it. Only what the host uses last may stay as it is, and the plan says so.
            let stays = exit.queue.is_none() && structure::is_noted(self.plan, self.plan.resource_name(edge.resource));
            let leave = self.facts.left(memory).filter(|_| !stays);
            let to = leave.and_then(|leave| leave.queue).and_then(|queue| structure::named_queue(self.plan, queue));
            let families = to.and_then(|to| self.family(to, resource));
            let (before, needs) = (LayoutAndOwner { layouts, families }, families.is_some());
            let link = Some(link);
            self.listing.accesses.push(Access { link, before, needs, ..self.edge_access(resource, queue, region) });
        }
    }
}

fn part_of(edge: &Edge) -> SubresourceRange {
    let aspects = if edge.aspects.is_empty() { Aspects::all() } else { edge.aspects };
    SubresourceRange { mips: edge.mips, layers: edge.layers, aspects, bytes: edge.range }
}
