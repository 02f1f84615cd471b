//! Raster passes that follow each other on a queue become one render pass where everything between them stays in
//! the tile: same area and samples, at most one depth attachment, dependencies through attachments only.
//!
//! Source: Vulkan 1.3 specification, "Render Pass" (framebuffer-local dependencies, `VK_DEPENDENCY_BY_REGION_BIT`).
//! O(accesses + dependencies).

use crate::access::{Accesses, Aspects, Layout, Load, Stages, Usage};
use crate::graph::Graph;
use crate::id::{Id, IdSpan, IdVec};
use crate::plan::{PlanKind, PlanPassId, Unmerged, UnmergedWhy};
use crate::profile::Profile;
use crate::resource::ResourceId;
use crate::stages::depend::Dependencies;
use crate::stages::ids::{IntervalId, LiveId, ResolvedPassId, SubresourceId};
use crate::stages::order::schedule::{LaneId, PhysicalPass, QueuePosition, Schedule, ScheduledPass};
use crate::stages::resolve::{Facts, ResolvedAccess, ResolvedAttachment, declared, declared_of, part_of};
use crate::stages::size::{Shape, mip_size};

crate::id! {
    /// Passes that become one physical pass.
    struct GroupId;
}

/// Memory that merging reuses.
#[derive(Default, Debug)]
pub(crate) struct Scratch {
    group_of: IdVec<LiveId, Option<GroupId>>,
    groups: IdVec<GroupId, MergedPasses>,
    open: IdVec<LaneId, Option<GroupId>>,
    next: IdVec<LiveId, Option<LiveId>>,
    at: IdVec<LiveId, u32>,
    used: IdVec<ResourceId, GroupUse>,
    /// By subresource: how the last group attached it that did.
    attached: IdVec<SubresourceId, Attached>,
    previous: IdVec<LaneId, Option<u32>>,
    pairs: Vec<(LiveId, LiveId, UnmergedWhy)>,
    final_at: IdVec<LiveId, PlanPassId>,
}

#[derive(Clone, Copy, Debug)]
struct MergedPasses {
    first: LiveId,
    last: LiveId,
    queue: LaneId,
    area: Option<Area>,
    depth: Option<ResolvedAttachment>,
    /// The depth attachment of which one of its passes attaches one aspect alone.
    lone: Option<ResourceId>,
    colors: u32,
    closed: Option<UnmergedWhy>,
    resolves: Option<ResourceId>,
    /// Positions on other queues that it waits for, at most.
    foreign: u32,
    /// Whether its passes are subpasses of their own.
    subpasses: bool,
}

/// How a group attaches a subresource.
#[derive(Clone, Copy, Debug)]
struct Attached {
    group: Option<GroupId>,
    layout: Layout,
    /// Layers of the attachment that the subresource is part of.
    layers: [u32; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Area {
    size: [u32; 2],
    samples: u32,
    layers: u32,
}

/// How a group uses a memory.
#[derive(Clone, Copy, Debug)]
struct GroupUse {
    group: Option<GroupId>,
    attachment: bool,
    color: bool,
    writes: bool,
    /// The layout that all of its accesses find; `None`: they find several, such as those of two aspects.
    layout: Option<Layout>,
}

/// What [`merge`] reads.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    /// The declaration.
    pub graph: &'a Graph,
    /// The device.
    pub profile: &'a Profile,
    pub shapes: &'a IdVec<ResourceId, Shape>,
    pub facts: &'a Facts,
    /// Live passes.
    pub live: &'a IdVec<LiveId, ResolvedPassId>,
    /// Their dependencies.
    pub deps: &'a Dependencies,
    /// Their linear order.
    pub order: &'a [LiveId],
    /// Their queues.
    pub queue: &'a IdVec<LiveId, LaneId>,
    /// GPU queues.
    pub queues: usize,
    /// Whether passes are merged at all.
    pub merges: bool,
}

/// Groups the passes of `order` into physical passes; passes of one render pass come to stand together. Tells for
/// neighbouring raster passes that were not merged why.
pub(crate) fn merge(input: Input<'_>, scratch: &mut Scratch, schedule: &mut Schedule, unmerged: &mut Vec<Unmerged>) {
    scratch.group(input);
    scratch.lay_out(input, schedule);
    unmerged.clear();
    unmerged.extend(scratch.pairs.iter().map(|&(first, second, reason)| Unmerged {
        first: scratch.final_at[first],
        second: scratch.final_at[second],
        reason,
    }));
    unmerged.sort_unstable_by_key(|pair| (pair.first, pair.second));
}

impl Scratch {
    fn group(&mut self, input: Input<'_>) {
        let lanes = input.queues + 1;
        let count = input.order.len();
        self.groups.clear();
        self.pairs.clear();
        self.group_of.refill(None, count);
        self.next.refill(None, count);
        self.at.refill(0, count);
        for (at, &pass) in input.order.iter().enumerate() {
            crate::cancel::poll();
            self.at[pass] = at as u32;
        }
        self.open.refill(None, lanes);
        self.previous.refill(None, lanes);
        let blank = GroupUse { group: None, attachment: false, color: false, writes: false, layout: None };
        self.used.refill(blank, input.shapes.len());
        let nowhere = Attached { group: None, layout: Layout::Undefined, layers: [0, 0] };
        self.attached.refill(nowhere, input.facts.subresources.count());
        for &live in input.order {
            let lane = input.queue[live];
            let pass = &input.facts.passes[input.live[live]];
            if !pass.raster {
                self.new_group(input, live, None);
                self.open[lane] = None;
                continue;
            }
            let area = area(input, live);
            let into =
                self.open[lane].filter(|_| input.merges).map(|group| (group, self.refusal(input, group, live, area)));
            match into {
                Some((group, None)) => self.add(input, group, live),
                _ => {
                    if let Some((group, Some(reason))) = into {
                        self.pairs.push((self.groups[group].last, live, reason));
                    }
                    let group = self.new_group(input, live, area);
                    self.add_uses(input, group, live);
                    self.open[lane] = Some(group);
                }
            }
        }
    }

    fn new_group(&mut self, input: Input<'_>, live: LiveId, area: Option<Area>) -> GroupId {
        let queue = input.queue[live];
        let foreign = self.foreign(input, live);
        let group = self.groups.push(MergedPasses {
            first: live,
            last: live,
            queue,
            area,
            depth: None,
            lone: None,
            colors: 0,
            closed: None,
            resolves: None,
            foreign,
            subpasses: false,
        });
        self.group_of[live] = Some(group);
        group
    }

    /// One past the linear position of the latest dependency on another queue.
    fn foreign(&self, input: Input<'_>, live: LiveId) -> u32 {
        let queue = input.queue[live];
        let before = input.deps.before(live).filter(|&earlier| input.queue[earlier] != queue);
        before.map(|earlier| self.at[earlier] + 1).max().unwrap_or(0)
    }

    fn add(&mut self, input: Input<'_>, group: GroupId, live: LiveId) {
        let last = std::mem::replace(&mut self.groups[group].last, live);
        self.next[last] = Some(live);
        self.group_of[live] = Some(group);
        self.add_uses(input, group, live);
    }

    fn add_uses(&mut self, input: Input<'_>, group: GroupId, live: LiveId) {
        let pass = &input.facts.passes[input.live[live]];
        for access in input.facts.accesses.slice(pass.accesses) {
            let used = &mut self.used[input.facts.memory[access.resource]];
            if used.group != Some(group) {
                *used = GroupUse {
                    group: Some(group),
                    attachment: true,
                    color: false,
                    writes: false,
                    layout: Some(access.layout),
                };
            }
            used.layout = used.layout.filter(|layout| *layout == access.layout);
            used.attachment &= is_local(access);
            // What is read in place and sampled as well is read in place all the same.
            self.groups[group].subpasses |= access.kinds.intersects(Accesses::INPUT_ATTACHMENT_READ);
            if is_local(access) {
                // Rasterisation order holds between attachment accesses of one subpass, which has one layout of each
                // image (Vulkan 1.3, "Rasterization Order"); an input attachment is read outside of it.
                let mut apart = false;
                let now = Attached { group: Some(group), layout: access.layout, layers: layers_of(input, access) };
                for attached in self.attached.slice_mut(access.subresources) {
                    apart |= attached.group == Some(group) && attached.layout != access.layout;
                    *attached = now;
                }
                self.groups[group].subpasses |= apart;
            }
            used.writes |= access.effect.writes();
        }
        for attachment in &input.facts.attachments[pass.attachments.range()] {
            let used = &mut self.used[input.facts.memory[attachment.resource]];
            let g = &mut self.groups[group];
            match attachment.usage {
                Usage::ColorAttachment if !std::mem::replace(&mut used.color, true) => g.colors += 1,
                Usage::DepthStencilAttachment | Usage::DepthStencilRead => {
                    g.depth = Some(*attachment);
                }
                Usage::ResolveAttachment => g.resolves = Some(attachment.resource),
                _ => {}
            }
        }
        let lone = lone_aspect_of(input, live);
        let g = &mut self.groups[group];
        g.lone = g.lone.or(lone);
        if pass.conditional.is_some() {
            self.groups[group].closed = Some(UnmergedWhy::Conditional);
        } else if let Some(resource) = used_outside(input, live) {
            self.groups[group].closed = Some(UnmergedWhy::NotLocal(resource));
        }
    }

    /// Why a raster pass cannot join a render pass; `None` if it can.
    fn refusal(&self, input: Input<'_>, group: GroupId, live: LiveId, area: Option<Area>) -> Option<UnmergedWhy> {
        let g = &self.groups[group];
        let pass = &input.facts.passes[input.live[live]];
        if let Some(reason) = g.closed {
            return Some(reason);
        }
        if pass.conditional.is_some() {
            return Some(UnmergedWhy::Conditional);
        }
        if let Some(resource) = used_outside(input, live) {
            return Some(UnmergedWhy::NotLocal(resource));
        }
        if g.area != area {
            return Some(UnmergedWhy::Area);
        }
        let (mut shared, mut colors) = (false, g.colors);
        for attachment in &input.facts.attachments[pass.attachments.range()] {
            let memory = input.facts.memory[attachment.resource];
            let used = &self.used[memory];
            let known = used.group == Some(group);
            shared |= known && used.attachment;
            let is_depth = matches!(attachment.usage, Usage::DepthStencilAttachment | Usage::DepthStencilRead);
            let other = |depth: ResolvedAttachment| {
                (input.facts.memory[depth.resource], depth.mip, depth.layers)
                    != (memory, attachment.mip, attachment.layers)
            };
            // First: what is loaded or cleared does not matter where the depths differ.
            if is_depth && g.depth.is_some_and(other) {
                return Some(UnmergedWhy::Depth);
            }
            if known && (attachment.load != Load::Load || attachment.stencil_load != Load::Load) && writes(attachment) {
                return Some(UnmergedWhy::Reloaded(attachment.resource));
            }
            match attachment.usage {
                // What is loaded for input cannot be loaded for drawing too.
                Usage::ColorAttachment if known && !used.color => {
                    return Some(UnmergedWhy::NotLocal(attachment.resource));
                }
                Usage::ColorAttachment => colors += u32::from(!known || !used.color),
                Usage::ResolveAttachment if known => return Some(UnmergedWhy::NotLocal(attachment.resource)),
                _ => {}
            }
        }
        for access in input.facts.accesses.slice(pass.accesses) {
            let used = &self.used[input.facts.memory[access.resource]];
            // Layouts of what is no attachment cannot change within a render pass.
            if used.group != Some(group)
                || !(used.writes || access.effect.writes() || used.layout != Some(access.layout))
            {
                continue;
            }
            if !used.attachment || !is_local(access) || g.resolves.is_some() {
                return Some(UnmergedWhy::NotLocal(access.resource));
            }
        }
        if let Some(resource) = self.attached_otherwise(input, group, live) {
            return Some(UnmergedWhy::OtherPart(resource));
        }
        if !shared {
            return Some(UnmergedWhy::NothingShared);
        }
        if let Some(resource) = self.lone_aspect(input, group, live) {
            return Some(UnmergedWhy::OneAspect(resource));
        }
        if colors > input.profile.limits.max_color_attachments {
            return Some(UnmergedWhy::TooMany);
        }
        let after = &input.deps.after[input.deps.after.partition_point(|(later, _)| *later < live)..];
        let mut of_this = after.iter().take_while(|(later, _)| *later == live);
        if of_this.any(|&(_, earlier)| self.group_of[earlier] == Some(group)) {
            return Some(UnmergedWhy::Ordered);
        }
        (self.foreign(input, live) > g.foreign).then_some(UnmergedWhy::OtherQueue)
    }

    /// An image of which a pass attaches some layers that a group attaches together with others: an image stands among
    /// the attachments of a render pass once, or in parts that do not meet.
    fn attached_otherwise(&self, input: Input<'_>, group: GroupId, live: LiveId) -> Option<ResourceId> {
        let pass = &input.facts.passes[input.live[live]];
        let otherwise = |access: &&ResolvedAccess| {
            let layers = layers_of(input, access);
            is_local(access)
                && self
                    .attached
                    .slice(access.subresources)
                    .iter()
                    .any(|at| at.group == Some(group) && at.layers != layers)
        };
        input.facts.accesses.slice(pass.accesses).iter().find(otherwise).map(|access| access.resource)
    }

    /// The depth attachment of which a pass of a group or this one attaches one aspect alone, if they have subpasses
    /// together: a subpass takes both aspects (Vulkan 1.3, `VkSubpassDescription2`), and who owns the other, and in
    /// which layout it is, nobody would ask.
    fn lone_aspect(&self, input: Input<'_>, group: GroupId, live: LiveId) -> Option<ResourceId> {
        let g = &self.groups[group];
        let lone = g.lone.or_else(|| lone_aspect_of(input, live))?;
        let pass = &input.facts.passes[input.live[live]];
        let apart = |access: &ResolvedAccess| {
            access.kinds.intersects(Accesses::INPUT_ATTACHMENT_READ)
                || is_local(access)
                    && self
                        .attached
                        .slice(access.subresources)
                        .iter()
                        .any(|at| at.group == Some(group) && at.layout != access.layout)
        };
        let mut accesses = input.facts.accesses.slice(pass.accesses).iter();
        (g.subpasses || accesses.any(apart)).then_some(lone)
    }

    /// Passes in their final order: each group where its first pass stood.
    fn lay_out(&mut self, input: Input<'_>, schedule: &mut Schedule) {
        schedule.queues = input.queues;
        schedule.passes.clear();
        schedule.physical_passes.clear();
        self.final_at.refill(PlanPassId::new(0), input.order.len());
        let mut positions = [QueuePosition::BEFORE; 33];
        for &live in input.order {
            crate::cancel::poll();
            let group = &self.groups[self.group_of[live].expect("every live pass is in a group")];
            if group.first != live {
                continue;
            }
            let start = schedule.passes.len();
            let mut next = Some(live);
            while let Some(at) = next {
                let position = &mut positions[group.queue.index()];
                *position = position.next();
                self.final_at[at] = schedule.passes.push(ScheduledPass {
                    pass: input.live[at],
                    queue: group.queue,
                    position: *position,
                    physical: schedule.physical_passes.next_id(),
                });
                next = self.next[at];
            }
            let raster = group.area.is_some();
            schedule.physical_passes.push(PhysicalPass {
                passes: IdSpan::new(start, schedule.passes.len()),
                queue: group.queue,
                raster,
                subpasses: group.subpasses,
                interval: IntervalId::new(0),
            });
        }
    }

    /// Position in the final order of a live pass.
    pub(crate) fn final_position(&self, live: LiveId) -> PlanPassId {
        self.final_at[live]
    }
}

/// A resource that a raster pass uses at a stage of commands that cannot stand within a render pass: dispatches,
/// transfers, builds (Vulkan 1.3, "Render Pass Scope" of each command).
fn used_outside(input: Input<'_>, live: LiveId) -> Option<ResourceId> {
    let outside = Stages::COMPUTE_SHADER
        | Stages::ALL_TRANSFER
        | Stages::ACCELERATION_STRUCTURE_BUILD
        | Stages::RAY_TRACING_SHADER;
    let pass = &input.facts.passes[input.live[live]];
    let accesses = input.facts.accesses.slice(pass.accesses);
    accesses.iter().find(|access| access.stages.intersects(outside)).map(|access| access.resource)
}

/// Whether a pass accesses nothing but the texel under the fragment.
fn is_local(access: &ResolvedAccess) -> bool {
    let local = Accesses::COLOR_ATTACHMENT_READ
        | Accesses::COLOR_ATTACHMENT_WRITE
        | Accesses::DEPTH_STENCIL_ATTACHMENT_READ
        | Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE
        | Accesses::INPUT_ATTACHMENT_READ;
    local.contains(access.kinds)
}

fn is_depth(usage: Usage) -> bool {
    matches!(usage, Usage::DepthStencilAttachment | Usage::DepthStencilRead)
}

/// The layers of the access that an access is part of.
fn layers_of(input: Input<'_>, access: &ResolvedAccess) -> [u32; 2] {
    declared_of(input.graph, access)
        .map_or([0, 0], |access| part_of(input.graph, access, &input.shapes[access.resource]).layers)
}

/// The depth image of which a pass attaches one aspect alone.
fn lone_aspect_of(input: Input<'_>, live: LiveId) -> Option<ResourceId> {
    let pass = &input.facts.passes[input.live[live]];
    let depths = input.facts.attachments[pass.attachments.range()].iter().filter(|one| is_depth(one.usage));
    let resource = depths.clone().next()?.resource;
    let used = depths.fold(Aspects::empty(), |used, one| used | aspects_of(input, one));
    (used != input.shapes[resource].aspects).then_some(resource)
}

/// The aspects that an access attaches.
fn aspects_of(input: Input<'_>, one: &ResolvedAttachment) -> Aspects {
    part_of(input.graph, declared(input.graph, one.declared), &input.shapes[one.resource]).aspects
}

fn writes(attachment: &ResolvedAttachment) -> bool {
    matches!(attachment.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment | Usage::ResolveAttachment)
}

/// Size, samples and layers that a raster pass renders to.
fn area(input: Input<'_>, live: LiveId) -> Option<Area> {
    let pass = &input.facts.passes[input.live[live]];
    let attachments = &input.facts.attachments[pass.attachments.range()];
    let target = attachments.iter().find(|a| a.usage != Usage::ResolveAttachment).or(attachments.first())?;
    match input.shapes[target.resource].kind {
        PlanKind::Image { size, samples, .. } => {
            let [width, height, _] = mip_size(size, target.mip);
            Some(Area { size: [width, height], samples, layers: target.layers[1] - target.layers[0] })
        }
        PlanKind::Buffer { .. } => None,
    }
}
