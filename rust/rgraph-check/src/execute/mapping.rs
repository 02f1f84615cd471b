//! What a plan does to memory, worked out once: memory cut into subresources by every use and every barrier,
//! subresources in the same bytes, and each pass as items, one per stage and direction.

use rgraph_ir::access::{Accesses, Aspects, Layout, Load, Sharing, Usage};
use rgraph_ir::id::{Id, IdSpan, IdVec, Span};
use rgraph_ir::plan::{BatchId, Command, Plan, QueueId};
use rgraph_ir::resource::ResourceId;

use super::ids::{AccessId, AttachmentId, ExecId, FineId, ItemId, PlaceId, ReadId, RenderingId, RunId, TargetId};
use crate::bytes::{Placed, placed};
use crate::facts::{BySubresource, DeclaredUse, Facts};
use crate::ids::{
    AllocationId, BufferBarrierId, CommandId, DeclaredOf, DeclaredPassId, ImageBarrierId, MemoryId, Subpass,
    SubresourceId, UnorderedGroupId, UseId,
};
use crate::shape::{Grid, SubresourceRange};
use crate::tables::{Op, is_attachment, layout_fits, ops};

/// Stage of items that stand behind everything earlier on their queue.
pub(crate) const PRESENTS: u8 = u8::MAX;

/// A subresource that an access meets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessTarget {
    /// Where its value is noted.
    pub read: Option<ReadId>,
    /// Subresource of the declaration's grid.
    pub coarse: SubresourceId,
    /// Subresource of the plan's grid.
    pub fine: FineId,
    /// Layouts in which the pass may find it, one bit each.
    pub layouts: u16,
    pub group: Option<UnorderedGroupId>,
}

/// One use of one declared pass on one of the resources that it may be of, aspects with other operations apart.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedAccess {
    pub number: UseId,
    /// The resource itself, or its fallback.
    pub resource: ResourceId,
    pub memory: MemoryId,
    pub targets: Vec<AccessTarget>,
    pub ops: Vec<Op>,
    /// Values are read with the write, not before it.
    pub reads_late: bool,
    pub attachment: bool,
    /// Read in place, as an input attachment.
    pub input: bool,
}

/// The part of a pass that happens at one stage.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub stage: u8,
    pub write: bool,
    /// Accesses of its pass, and their kinds at this stage.
    pub accesses: Vec<(AccessId, Accesses)>,
    pub attachment: bool,
}

/// A pass command.
#[derive(Clone, Debug)]
pub(crate) struct Exec {
    pub declared: DeclaredPassId,
    pub accesses: IdVec<AccessId, ResolvedAccess>,
    pub items: IdVec<ItemId, Item>,
    /// Resolves that happen at the end of its subpass.
    pub resolves: Vec<AccessId>,
    /// By use: resource, and what it reads there.
    pub reads: IdVec<UseId, Vec<(ResourceId, IdSpan<ReadId>)>>,
    pub rendering: Option<RenderingId>,
    pub subpass: Subpass,
}

/// An attachment of a render pass.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub entry: AttachmentId,
    /// Subresources of the plan's grid.
    pub subresources: Vec<FineId>,
    pub depth: bool,
    pub first_subpass: Subpass,
    pub last_subpass: Subpass,
}

/// A render pass.
#[derive(Clone, Debug)]
pub(crate) struct Rendering {
    pub targets: IdVec<TargetId, Target>,
    pub declared_passes: Vec<DeclaredPassId>,
}

/// A plan and its declaration.
pub(crate) struct Mapping<'a> {
    pub facts: &'a Facts<'a>,
    pub plan: &'a Plan,
    pub host: QueueId,
    /// How many runs there are, at least 1.
    runs: usize,
    /// By memory: its first allocation; allocations of a ring follow each other.
    pub first: IdVec<MemoryId, Option<AllocationId>>,
    /// By allocation: its first subresource.
    pub base: IdVec<AllocationId, PlaceId>,
    pub memory_of: IdVec<AllocationId, MemoryId>,
    /// By memory: the grid cut by uses and barriers.
    pub fine: IdVec<MemoryId, Grid>,
    /// By memory and subresource of the declaration's grid: subresources of the plan's.
    pub parts: BySubresource<Vec<FineId>>,
    /// By memory and subresource of the plan's grid: the subresource of the declaration's.
    pub coarse: IdVec<MemoryId, IdVec<FineId, SubresourceId>>,
    /// By subresource of an allocation: those in some of the same bytes.
    pub aliases: IdVec<PlaceId, Vec<PlaceId>>,
    pub concurrent: IdVec<MemoryId, bool>,
    pub execs: IdVec<ExecId, Exec>,
    /// Number of reads whose values are noted.
    pub reads: usize,
    /// By command: its pass, if it is one that the declaration has.
    pub exec_of: IdVec<CommandId, Option<ExecId>>,
    /// By command: the render pass that it begins.
    pub rendering_of: IdVec<CommandId, Option<RenderingId>>,
    pub renderings: IdVec<RenderingId, Rendering>,
    pub image_subresources: IdVec<ImageBarrierId, Vec<FineId>>,
    pub buffer_subresources: IdVec<BufferBarrierId, Vec<FineId>>,
    /// By batch: resources of memory that outlives the frame which the batch uses.
    pub outliving: IdVec<BatchId, Vec<ResourceId>>,
}

impl<'a> Mapping<'a> {
    pub(crate) fn new(facts: &'a Facts<'a>, plan: &'a Plan, declared_of: &DeclaredOf, runs: usize) -> Self {
        let mut mapping = Self {
            facts,
            plan,
            host: QueueId::new(plan.queues.len()),
            runs: runs.max(1),
            first: IdVec::filled(None, facts.memory.len()),
            base: IdVec::new(),
            memory_of: IdVec::new(),
            fine: fine_grids(facts, plan),
            parts: IdVec::new(),
            coarse: IdVec::new(),
            aliases: IdVec::new(),
            concurrent: IdVec::filled(false, facts.memory.len()),
            execs: IdVec::new(),
            reads: 0,
            exec_of: IdVec::filled(None, plan.commands.len()),
            rendering_of: IdVec::filled(None, plan.commands.len()),
            renderings: IdVec::new(),
            image_subresources: IdVec::new(),
            buffer_subresources: IdVec::new(),
            outliving: IdVec::new(),
        };
        mapping.lay_out();
        mapping.find_aliases();
        for (id, resource) in plan.resources.iter_ids() {
            mapping.concurrent[facts.memory[id]] |= resource.sharing == Sharing::Concurrent;
        }
        for b in &plan.image_barriers {
            let aspects = if b.aspects.is_empty() { Aspects::all() } else { b.aspects };
            let part = SubresourceRange::image(b.mips, b.layers, aspects);
            let subresources = mapping.fine_subresources(b.resource, &part);
            mapping.image_subresources.push(subresources);
        }
        for b in &plan.buffer_barriers {
            let subresources = mapping.fine_subresources(b.resource, &SubresourceRange::buffer(b.range));
            mapping.buffer_subresources.push(subresources);
        }
        mapping.read_commands(declared_of);
        mapping.find_outliving();
        mapping
    }

    pub(crate) fn fine_subresources(&self, resource: ResourceId, part: &SubresourceRange) -> Vec<FineId> {
        fine_ids(&self.fine[self.facts.memory[resource]], part)
    }

    /// The aspect of a subresource of a memory.
    pub(crate) fn aspect(&self, memory: MemoryId, fine: FineId) -> Aspects {
        self.fine[memory].aspect(SubresourceId::new(fine.index()))
    }

    /// The copy of a resource in a run.
    pub(crate) fn allocation(&self, resource: ResourceId, run: RunId) -> AllocationId {
        let memory = self.facts.memory[resource];
        let ring = self.copies(memory);
        let first = self.first[memory].expect("a memory has an allocation");
        AllocationId::new(first.index() + (run.index() + ring * 64 - self.facts.frames_ago[resource] as usize) % ring)
    }

    /// The allocation that holds a place.
    pub(crate) fn allocation_at(&self, place: PlaceId) -> AllocationId {
        AllocationId::new(self.base.as_slice().partition_point(|base| *base <= place) - 1)
    }

    /// The memory that holds a place.
    pub(crate) fn memory_at(&self, place: PlaceId) -> MemoryId {
        self.memory_of[self.allocation_at(place)]
    }

    /// The subresource of its memory at a place, in words.
    pub(crate) fn describe(&self, place: PlaceId) -> String {
        let allocation = self.allocation_at(place);
        let fine = SubresourceId::new(place.index() - self.base[allocation].index());
        self.fine[self.memory_of[allocation]].describe(fine)
    }

    /// The first subresource of a resource in a run.
    pub(crate) fn start(&self, resource: ResourceId, run: RunId) -> PlaceId {
        self.base[self.allocation(resource, run)]
    }

    /// How many copies of a memory take turns: fresh ones never come round again.
    fn copies(&self, memory: MemoryId) -> usize {
        if self.facts.fresh[memory] { self.runs } else { self.facts.ring[memory] as usize }
    }

    fn lay_out(&mut self) {
        for memory in self.facts.grids.ids() {
            let (grid, fine) = (&self.facts.grids[memory], &self.fine[memory]);
            let mut coarse = IdVec::<FineId, _>::filled(SubresourceId::new(0), fine.len());
            let parts: IdVec<SubresourceId, Vec<FineId>> = grid
                .ids()
                .map(|subresource| {
                    let subresources = fine_ids(fine, &grid.part(subresource));
                    subresources.iter().for_each(|at| coarse[*at] = subresource);
                    subresources
                })
                .collect();
            self.parts.push(parts);
            self.coarse.push(coarse);
            if self.facts.memory[memory.first_name()] != memory {
                continue;
            }
            self.first[memory] = Some(AllocationId::new(self.base.len()));
            for _ in 0..self.copies(memory) {
                self.base.push(self.aliases.next_id());
                self.memory_of.push(memory);
                for _ in self.fine[memory].ids() {
                    self.aliases.push(Vec::new());
                }
            }
        }
    }

    /// Subresources that share bytes: of buffers to the byte; of images nobody knows where a texel lies.
    fn find_aliases(&mut self) {
        let mut places = IdVec::<MemoryId, _>::filled(None, self.facts.memory.len());
        for Placed { memory, bytes, .. } in placed(self.facts, self.plan) {
            places[memory].get_or_insert(bytes);
        }
        for (a, b) in crate::structure::overlaps(self.facts, self.plan) {
            let (Some(at), Some(bt)) = (places[a], places[b]) else { continue };
            let span = |memory: MemoryId, [begin, end]: [u64; 2], subresource: SubresourceId| {
                if self.facts.shapes[memory.first_name()].is_image() {
                    return [begin, end];
                }
                let [first, last] = self.fine[memory].part(subresource).bytes;
                [begin.saturating_add(first), begin.saturating_add(last).min(end)]
            };
            let [Some(first_a), Some(first_b)] =
                [a, b].map(|memory| self.first[memory].map(|allocation| self.base[allocation]))
            else {
                continue;
            };
            for x in self.fine[a].ids() {
                let [from, to] = span(a, at, x);
                for y in self.fine[b].ids() {
                    let [first, end] = span(b, bt, y);
                    if from < end && first < to {
                        let x = first_a.plus(FineId::new(x.index()));
                        let y = first_b.plus(FineId::new(y.index()));
                        self.aliases[x].push(y);
                        self.aliases[y].push(x);
                    }
                }
            }
        }
    }

    fn read_commands(&mut self, declared_of: &DeclaredOf) {
        let plan = self.plan;
        let mut open = None;
        for at in self.exec_of.ids() {
            match plan.commands[at.index()] {
                Command::BeginRendering { attachments, .. } => {
                    let rendering = self.rendering(at, attachments, declared_of);
                    open = Some(self.renderings.push(rendering));
                    self.rendering_of[at] = open;
                }
                Command::EndRendering => open = None,
                Command::Pass { pass, layouts } => {
                    let Some(declared) = declared_of[pass] else { continue };
                    let inserted = &plan.pass_accesses[plan.passes[pass].accesses.range()];
                    let mut exec = Exec {
                        declared,
                        accesses: IdVec::new(),
                        items: IdVec::new(),
                        resolves: Vec::new(),
                        reads: IdVec::new(),
                        rendering: open,
                        subpass: Subpass::of(plan, pass),
                    };
                    self.find_accesses(&mut exec, &plan.layouts[layouts.range()], inserted);
                    find_items(self.facts, &mut exec);
                    self.exec_of[at] = Some(self.execs.push(exec));
                }
                _ => {}
            }
        }
    }

    fn rendering(&self, begin: CommandId, attachments: Span, declared_of: &DeclaredOf) -> Rendering {
        let rest = &self.plan.commands[begin.index() + 1..];
        let passes: Vec<(DeclaredPassId, Subpass)> = rest
            .iter()
            .take_while(|command| !matches!(command, Command::EndRendering))
            .filter_map(|command| match command {
                Command::Pass { pass, .. } => Some((declared_of[*pass]?, Subpass::of(self.plan, *pass))),
                _ => None,
            })
            .collect();
        let entries = attachments.range().map(AttachmentId::new);
        let targets = entries.filter(|entry| !self.plan.attachments[entry.index()].input).map(|entry| {
            let attachment = &self.plan.attachments[entry.index()];
            let resource = attachment.resource;
            let memory = self.facts.memory[resource];
            let part =
                SubresourceRange::image([attachment.mip, attachment.mip + 1], attachment.layers, attachment.aspects);
            let subresources = self.fine_subresources(resource, &part);
            let uses = |declared: DeclaredPassId| {
                let inside =
                    |coarse: &SubresourceId| self.parts[memory][*coarse].iter().any(|at| subresources.contains(at));
                let one = |other: ResourceId| {
                    self.facts.memory[other] == memory
                        && self.facts.frames_ago[other] == self.facts.frames_ago[resource]
                };
                let same = |at: &DeclaredUse| one(at.resource) && is_local(at.usage);
                self.facts.declared_passes[declared]
                    .uses
                    .iter()
                    .any(|at| same(at) && at.subresources.iter().any(inside))
            };
            let users: Vec<Subpass> =
                passes.iter().filter(|(declared, _)| uses(*declared)).map(|(_, subpass)| *subpass).collect();
            Target {
                entry,
                depth: !self.facts.shapes[resource].aspects.contains(Aspects::COLOR),
                first_subpass: users.iter().copied().min().unwrap_or_default(),
                last_subpass: users.iter().copied().max().unwrap_or_default(),
                subresources,
            }
        });
        Rendering {
            targets: targets.collect(),
            declared_passes: passes.iter().map(|(declared, _)| *declared).collect(),
        }
    }

    fn find_accesses(
        &mut self,
        exec: &mut Exec,
        layouts: &[rgraph_ir::plan::PassLayout],
        inserted: &[rgraph_ir::plan::PlanAccess],
    ) {
        let facts = self.facts;
        let named: Vec<(ResourceId, Vec<FineId>, Layout)> = layouts
            .iter()
            .map(|entry| {
                let part = SubresourceRange::image(entry.mips, entry.layers, entry.aspects);
                (entry.resource, self.fine_subresources(entry.resource, &part), entry.layout)
            })
            .collect();
        for (number, at) in facts.declared_passes[exec.declared].uses.iter_ids() {
            let read = std::iter::once(at.resource).chain(at.fallbacks.iter().copied());
            let mut reads = Vec::new();
            for resource in read {
                let first = self.reads;
                self.find_access(exec, number, resource, &named, inserted);
                reads.push((resource, IdSpan::new(first, self.reads)));
            }
            exec.reads.push(reads);
        }
    }

    fn find_access(
        &mut self,
        exec: &mut Exec,
        number: UseId,
        resource: ResourceId,
        named: &[(ResourceId, Vec<FineId>, Layout)],
        inserted: &[rgraph_ir::plan::PlanAccess],
    ) {
        let facts = self.facts;
        let at = &facts.declared_passes[exec.declared].uses[number];
        let memory = facts.memory[resource];
        let grid = &facts.grids[memory];
        let subresources = if resource == at.resource { at.subresources.clone() } else { grid.subresources(&at.part) };
        let first = exec.accesses.next_id();
        for coarse in subresources {
            let aspect = grid.aspect(coarse);
            let keeps = at.keeps_aspect(aspect);
            let value = reads_value(at, aspect);
            let read = value.then(|| ReadId::new(self.reads));
            self.reads += usize::from(value);
            let mut list = Vec::new();
            ops(at.usage, at.stages, keeps, &mut list);
            let known = exec.accesses.ids().find(|id| *id >= first && exec.accesses[*id].ops == list);
            let which = known.unwrap_or_else(|| {
                exec.accesses.push(ResolvedAccess {
                    number,
                    resource,
                    memory,
                    targets: Vec::new(),
                    reads_late: list.iter().all(|op| op.write) && !list.is_empty(),
                    ops: list,
                    attachment: is_attachment(at.usage),
                    input: at.usage == Usage::InputAttachment,
                })
            });
            let group = facts.key(resource, coarse, exec.declared, number).and_then(|(_, group)| group);
            for &fine in &self.parts[memory][coarse] {
                let layouts = self.layouts(at, resource, fine, named, inserted);
                exec.accesses[which].targets.push(AccessTarget { read, coarse, fine, layouts, group });
            }
        }
    }

    /// The layouts that the plan names for a subresource, as far as the use can have them.
    fn layouts(
        &self,
        at: &DeclaredUse,
        resource: ResourceId,
        fine: FineId,
        named: &[(ResourceId, Vec<FineId>, Layout)],
        inserted: &[rgraph_ir::plan::PlanAccess],
    ) -> u16 {
        let facts = self.facts;
        if !facts.shapes[resource].is_image() {
            return u16::MAX;
        }
        let same = |other: ResourceId| {
            facts.memory[other] == facts.memory[resource] && facts.frames_ago[other] == facts.frames_ago[resource]
        };
        let mut mask = 0;
        for (_, _, layout) in
            named.iter().filter(|(of, subresources, _)| same(*of) && subresources.binary_search(&fine).is_ok())
        {
            mask |= bit(*layout);
        }
        if mask == 0 {
            let own = inserted
                .iter()
                .filter(|access| access.resource == resource && crate::tables::writes(access.access) == at.writes);
            own.for_each(|access| mask |= bit(access.layout));
        }
        // To the host, undefined contents are the same in any layout, and it cannot change a layout.
        if at.usage == Usage::HostRead && mask & bit(Layout::Undefined) > 0 {
            return u16::MAX;
        }
        let fits = Layout::ALL.iter().filter(|layout| layout_fits(at.usage, **layout));
        mask & fits.fold(0, |all, layout| all | bit(*layout))
    }

    fn find_outliving(&mut self) {
        let facts = self.facts;
        for batch in &self.plan.batches {
            let mut used = Vec::new();
            let mut note = |resource: ResourceId| {
                if facts.edged[facts.memory[resource]] && !used.contains(&resource) {
                    used.push(resource);
                }
            };
            for at in batch.commands.range() {
                match self.plan.commands[at] {
                    Command::Pass { .. } => {
                        if let Some(exec) = self.exec_of[CommandId::new(at)] {
                            self.execs[exec].accesses.iter().for_each(|access| note(access.resource));
                        }
                    }
                    Command::Barriers(b) | Command::SetEvent(_, b) => {
                        self.plan.image_barriers[b.images.range()].iter().for_each(|b| note(b.resource));
                        self.plan.buffer_barriers[b.buffers.range()].iter().for_each(|b| note(b.resource));
                    }
                    Command::BeginRendering { attachments, .. } => {
                        self.plan.attachments[attachments.range()].iter().for_each(|a| note(a.resource));
                    }
                    _ => {}
                }
            }
            self.outliving.push(used);
        }
    }
}

/// One bit per layout.
pub(crate) fn bit(layout: Layout) -> u16 {
    1 << (layout as u16)
}

/// Subresources of a grid that uses and barriers cut, of which a part consists.
fn fine_ids(grid: &Grid, part: &SubresourceRange) -> Vec<FineId> {
    grid.subresources(part).into_iter().map(|subresource| FineId::new(subresource.index())).collect()
}

fn is_local(usage: Usage) -> bool {
    is_attachment(usage) || usage == Usage::InputAttachment
}

/// Whether what a use finds in a subresource of this aspect is part of what its pass computes.
pub(crate) fn reads_value(at: &DeclaredUse, aspect: Aspects) -> bool {
    if at.unordered && at.writes {
        return false;
    }
    let attachment = matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
    at.must_read || at.keeps_aspect(aspect) || attachment && at.load_of(aspect) == Load::Clear
}

/// Grids cut by uses, by their fallbacks, and by the plan's barriers and edges.
fn fine_grids(facts: &Facts, plan: &Plan) -> IdVec<MemoryId, Grid> {
    let mut grids: IdVec<MemoryId, _> = facts.shapes.iter().map(Grid::new).collect();
    for (memory, grid) in facts.grids.ids().zip(grids.iter_mut()) {
        facts.grids[memory].ids().for_each(|subresource| grid.cut(&facts.grids[memory].part(subresource)));
    }
    let mut cut = |resource: ResourceId, part: SubresourceRange| grids[facts.memory[resource]].cut(&part);
    for b in &plan.image_barriers {
        cut(b.resource, SubresourceRange::image(b.mips, b.layers, Aspects::all()));
    }
    for b in &plan.buffer_barriers {
        cut(b.resource, SubresourceRange::buffer(b.range));
    }
    for edge in &plan.edges {
        let part =
            SubresourceRange { mips: edge.mips, layers: edge.layers, aspects: Aspects::all(), bytes: edge.range };
        cut(edge.resource, part);
    }
    for a in &plan.attachments {
        cut(a.resource, SubresourceRange::image([a.mip, a.mip + 1], a.layers, Aspects::all()));
    }
    grids.iter_mut().for_each(Grid::finish);
    grids
}

fn find_items(facts: &Facts, exec: &mut Exec) {
    for (at, access) in exec.accesses.iter_ids() {
        let usage = facts.declared_passes[exec.declared].uses[access.number].usage;
        if usage == Usage::ResolveAttachment && exec.rendering.is_some() {
            exec.resolves.push(at);
            continue;
        }
        let mut add = |stage: u8, write: bool, kinds: Accesses| {
            let same = |item: &&mut Item| item.stage == stage && item.write == write;
            match exec.items.iter_mut().find(same) {
                Some(item) => {
                    item.accesses.push((at, kinds));
                    item.attachment |= access.attachment;
                }
                None => {
                    let accesses = vec![(at, kinds)];
                    exec.items.push(Item { stage, write, accesses, attachment: access.attachment });
                }
            }
        };
        access.ops.iter().for_each(|op| add(op.stage, op.write, op.access));
        if access.ops.is_empty() {
            add(PRESENTS, false, Accesses::empty());
        }
    }
    exec.items.as_vec_mut().sort_by_key(|item| (item.stage, item.write));
}
