//! A declaration and its plan laid side by side: which pass of the plan is which pass of the graph, what it accesses,
//! whose memory a resource is in, and how each memory is used.

use std::cell::OnceCell;
use std::collections::HashMap;

use ash::vk;
use rgraph_plan::access::{Accesses, Aspects, Layout, Usage};
use rgraph_plan::declared;
use rgraph_plan::error::{Code, GraphError, Mistake};
use rgraph_plan::graph::{Fallback, FlagId, Graph, PassId};
use rgraph_plan::id::{Id, IdVec, Span};
use rgraph_plan::plan::{Command, ImageBarrier, PassLayout, Plan, PlanKind, PlanPassId};
use rgraph_plan::resource::{Life, ResourceId};

use crate::error::Error;
use crate::memory::state::{Region, ResourceState, Tracked};
use crate::memory::usages::Usages;

/// What a pass does with a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassAccess {
    pub resource: ResourceId,
    pub usage: Usage,
    pub region: Region,
    /// Position in the graph's accesses; `None`: of an inserted pass.
    pub declared: Option<u32>,
}

/// While the flag of a pass is off, readers of its output get the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandIn {
    pub pass: PassId,
    pub flag: Option<FlagId>,
    pub output: ResourceId,
    pub input: ResourceId,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    /// Whose memory each resource is in.
    pub memory: IdVec<ResourceId, ResourceId>,
    /// The graph's pass that a pass of the plan is.
    pub pass_of: IdVec<PlanPassId, Option<PassId>>,
    /// The flag that switches it (of an inserted pass: that switches the pass it was inserted for).
    pub flag_of: IdVec<PlanPassId, Option<FlagId>>,
    /// Accesses of all passes.
    pub accesses: Vec<PassAccess>,
    /// Accesses of a pass.
    pub of_pass: IdVec<PlanPassId, Span>,
    /// In the plan's layouts: those that a pass finds its images in.
    pub layouts: IdVec<PlanPassId, Span>,
    /// Resources of the plan by the graph's ids.
    pub resource_of: IdVec<ResourceId, ResourceId>,
    /// Resources of the graph by the plan's ids.
    pub declared: IdVec<ResourceId, Option<ResourceId>>,
    /// As `pass_of`, and of an inserted pass the one that it was inserted for.
    pub owner_of: IdVec<PlanPassId, Option<PassId>>,
    /// What readers get while passes are off.
    pub stand_ins: Vec<StandIn>,
    /// Images in a ring: frames that the deepest history of a memory remembers.
    pub remembered: IdVec<ResourceId, u32>,
}

/// Whose memory each resource is in: its own, or, through `modifies` where the sizes are equal, another's, or that of
/// another history of the same frame.
pub(crate) fn memories(graph: &Graph, kind: impl Fn(ResourceId) -> PlanKind) -> IdVec<ResourceId, ResourceId> {
    let resources = graph.resources();
    let mut memory: IdVec<ResourceId, ResourceId> = resources.ids().collect();
    let shares = |top: ResourceId, below: ResourceId| match (kind(top), kind(below)) {
        (PlanKind::Image { size: a, .. }, PlanKind::Image { size: b, .. }) => a == b,
        _ => true,
    };
    let mut path = Vec::new();
    for start in resources.ids() {
        let mut at = start;
        path.clear();
        while let Some(below) = resources[at].modifies
            && memory[at] == at
            && shares(at, below)
        {
            path.push(at);
            at = below;
        }
        let root = memory[at];
        for id in path.drain(..) {
            memory[id] = root;
        }
    }
    // Histories of one resource that look back as far are the same image of its ring.
    let mut histories = std::collections::BTreeMap::new();
    for (id, resource) in resources.iter_ids() {
        if let Life::History(history) = resource.life {
            memory[id] = *histories.entry((memory[history.of], history.frames)).or_insert(id);
        }
    }
    memory
}

/// How each memory is used, by the id of its first name.
pub(crate) fn usages(
    graph: &Graph,
    memory: &IdVec<ResourceId, ResourceId>,
    kind: impl Fn(ResourceId) -> PlanKind,
) -> IdVec<ResourceId, Usages> {
    let mut out = IdVec::filled(Usages::default(), graph.resources().len());
    let (source, destination) = (vk::ImageUsageFlags::TRANSFER_SRC, vk::ImageUsageFlags::TRANSFER_DST);
    for access in graph.accesses() {
        let usages = &mut out[memory[access.resource]];
        let depth = match kind(access.resource) {
            PlanKind::Image { format, .. } => format.is_depth_stencil(),
            PlanKind::Buffer { .. } => false,
        };
        usages.image |= image_usage(access.usage, depth);
        usages.buffer |= buffer_usage(access.usage);
        if access.generate_mips {
            usages.image |= source | destination;
        }
    }
    // A fallback for the output of a pass that is off is read like that output, and may itself have a fallback.
    for _ in graph.fallbacks() {
        for fallback in graph.fallbacks() {
            let usages = out[memory[fallback.output]];
            let input = &mut out[memory[fallback.input]];
            input.image |= usages.image & READS;
            input.buffer |= usages.buffer;
        }
    }
    for (id, resource) in graph.resources().iter_ids() {
        let of = memory[id];
        let handed = match resource.life {
            Life::Imported(imported) => imported.layout,
            _ => None,
        };
        let left = resource.leave.and_then(|leave| leave.layout);
        for layout in [handed, left].into_iter().flatten() {
            let depth = matches!(kind(id), PlanKind::Image { format, .. } if format.is_depth_stencil());
            out[of].image |= layout_usage(layout, depth);
        }
        out[of].buffer |= vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        if let (PlanKind::Image { format: a, .. }, PlanKind::Image { format: b, .. }) = (kind(id), kind(of)) {
            out[of].mutable |= a != b;
        }
        if let Some(below) = resource.modifies
            && of != memory[below]
        {
            out[memory[below]].image |= source;
            out[of].image |= destination;
        }
        match resource.life {
            Life::Transient | Life::Fresh if graph.is_root(id) => out[of].image |= source,
            Life::Transient | Life::Fresh => {}
            Life::Persistent | Life::Imported(_) => out[of].image |= source | destination,
            Life::History(history) => {
                // What remembers lies in a ring with what is remembered: all of them are used alike.
                let usages = out[of];
                let remembered = &mut out[memory[history.of]];
                remembered.image |= usages.image | source | destination;
                remembered.buffer |= usages.buffer;
            }
        }
    }
    for usages in out.iter_mut().filter(|usages| usages.image.is_empty()) {
        usages.image = source;
    }
    out
}

/// Usages by which an image is read; depth is read in layouts of attachments.
const READS: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw()
        | vk::ImageUsageFlags::STORAGE.as_raw()
        | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::TRANSFER_SRC.as_raw(),
);

/// What an image must be made for so that it can be in a layout.
///
/// Source: Vulkan 1.3 specification, `VkImageMemoryBarrier2`, valid usage 01208 to 01213, 03938, 03939.
fn layout_usage(layout: Layout, depth: bool) -> vk::ImageUsageFlags {
    match layout {
        Layout::Attachment if depth => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        Layout::Attachment => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        Layout::ReadOnly if depth => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        Layout::ColorAttachment => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        Layout::DepthStencilAttachment | Layout::DepthStencilReadOnly => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        Layout::ShaderReadOnly | Layout::ReadOnly => vk::ImageUsageFlags::SAMPLED,
        Layout::TransferSrc => vk::ImageUsageFlags::TRANSFER_SRC,
        Layout::TransferDst => vk::ImageUsageFlags::TRANSFER_DST,
        _ => vk::ImageUsageFlags::empty(),
    }
}

fn image_usage(usage: Usage, depth: bool) -> vk::ImageUsageFlags {
    let attachment =
        if depth { vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT } else { vk::ImageUsageFlags::COLOR_ATTACHMENT };
    match usage {
        Usage::ColorAttachment | Usage::ResolveAttachment | Usage::DepthStencilAttachment | Usage::DepthStencilRead => {
            attachment
        }
        Usage::InputAttachment => vk::ImageUsageFlags::INPUT_ATTACHMENT | attachment,
        // Depth is sampled in the layout in which it may be an attachment that is only read.
        Usage::Sampled if depth => vk::ImageUsageFlags::SAMPLED | attachment,
        Usage::Sampled => vk::ImageUsageFlags::SAMPLED,
        Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite => vk::ImageUsageFlags::STORAGE,
        Usage::TransferSrc => vk::ImageUsageFlags::TRANSFER_SRC,
        Usage::TransferDst => vk::ImageUsageFlags::TRANSFER_DST,
        _ => vk::ImageUsageFlags::empty(),
    }
}

fn buffer_usage(usage: Usage) -> vk::BufferUsageFlags {
    match usage {
        Usage::Uniform => vk::BufferUsageFlags::UNIFORM_BUFFER,
        Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite => {
            vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
        }
        Usage::Vertex => vk::BufferUsageFlags::VERTEX_BUFFER,
        Usage::Index => vk::BufferUsageFlags::INDEX_BUFFER,
        Usage::Indirect => vk::BufferUsageFlags::INDIRECT_BUFFER,
        Usage::Sampled => vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER,
        Usage::AccelerationInput => {
            vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR
                | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
        }
        Usage::AccelerationBuild | Usage::AccelerationUpdate | Usage::AccelerationRead => {
            vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
        }
        Usage::AccelerationScratch => {
            vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
        }
        _ => vk::BufferUsageFlags::empty(),
    }
}

impl Scene {
    /// Whether the frame begins without contents of a resource's memory.
    pub(crate) fn begins_empty(&self, plan: &Plan, resource: ResourceId) -> bool {
        use rgraph_plan::plan::PlanLife;
        matches!(plan.resources[self.memory[resource]].life, PlanLife::Transient | PlanLife::Fresh | PlanLife::Root)
    }

    /// Lays a graph and its plan side by side, by names.
    ///
    /// # Errors
    /// If a name of one is not in the other: the plan is another graph's.
    pub(crate) fn new(graph: &Graph, plan: &Plan) -> Result<Self, Error> {
        let mut scene = Self::default();
        let foreign = |what: &str, name: &str| {
            let message =
                format!("the plan of \"{}\" and the graph \"{}\" differ: {what} \"{name}\"", plan.graph, graph.name());
            let help = "run the graph itself, or the plan that was baked of it";
            Error::Graph(GraphError::one(Mistake::new(Code::BadInput, message, help)))
        };
        // Mostly both have one order.
        let by_name = OnceCell::new();
        let all_by_name =
            || -> HashMap<&str, ResourceId> { plan.resources.ids().map(|id| (plan.resource_name(id), id)).collect() };
        let of_name = |id: ResourceId, name: &str| {
            let here = plan.resources.get(id).is_some() && plan.resource_name(id) == name;
            if here { Some(id) } else { by_name.get_or_init(all_by_name).get(name).copied() }
        };
        scene.declared = IdVec::filled(None, plan.resources.len());
        for id in graph.resources().ids() {
            let name = graph.resource_name(id);
            let planned = of_name(id, name).ok_or_else(|| foreign("resource", name))?;
            scene.resource_of.push(planned);
            scene.declared[planned] = Some(id);
        }
        let planned = |declared: ResourceId| scene.resource_of[declared];
        let flag_of = |pass: PassId| graph.passes()[pass].conditional;
        let stand_in = |one: &Fallback| StandIn {
            pass: one.pass,
            flag: flag_of(one.pass),
            output: planned(one.output),
            input: planned(one.input),
        };
        scene.stand_ins = graph.fallbacks().iter().map(stand_in).collect();
        scene.memory = plan.resources.ids().collect();
        let kind = |id: ResourceId| plan.resources[scene.resource_of[id]].kind;
        for (id, &memory) in memories(graph, kind).iter_ids() {
            scene.memory[scene.resource_of[id]] = scene.resource_of[memory];
        }
        scene.remembered = IdVec::filled(0, plan.resources.len());
        for (_, resource) in graph.resources().iter_ids() {
            if let Life::History(history) = resource.life {
                let frames = &mut scene.remembered[scene.memory[scene.resource_of[history.of]]];
                *frames = (*frames).max(history.frames);
            }
        }
        scene.layouts = IdVec::filled(Span::default(), plan.passes.len());
        for command in &plan.commands {
            if let Command::Pass { pass, layouts } = command {
                scene.layouts[*pass] = *layouts;
            }
        }
        let of_pass = ByPass::new(graph);
        let mut at_position: Vec<Option<PassId>> = vec![None; graph.passes().len()];
        for (id, pass) in plan.passes.iter_ids() {
            if let Some(position) = pass.declared {
                let name = plan.pass_name(id);
                // Each position is that of one of the graph's passes.
                let place = at_position.get_mut(position as usize).ok_or_else(|| foreign("pass", name))?;
                let here = PassId::new(position as usize);
                let found = if graph.pass_name(here) == name { Some(here) } else { graph.find_pass(name) };
                *place = Some(found.ok_or_else(|| foreign("pass", name))?);
            }
        }
        for (id, pass) in plan.passes.iter_ids() {
            let start = scene.accesses.len();
            let pass_at = |position: u32| {
                let found = at_position.get(position as usize).copied().flatten();
                found.ok_or_else(|| foreign("owner of pass", plan.pass_name(id)))
            };
            let declared = pass.declared.map(pass_at).transpose()?;
            let owner = pass.owner.map(pass_at).transpose()?.or(declared);
            scene.flag_of.push(owner.and_then(|pass| graph.passes()[pass].conditional));
            scene.pass_of.push(declared);
            scene.owner_of.push(owner);
            if let Some(declared) = declared {
                for &at in of_pass.of(declared) {
                    let access = &graph.accesses()[at as usize];
                    let planned = scene.resource_of[access.resource];
                    let region = Region::of(declared::part(graph, access, plan.resources[planned].kind));
                    let usage = access.usage;
                    scene.accesses.push(PassAccess { resource: planned, usage, region, declared: Some(at) });
                }
            } else {
                for access in &plan.pass_accesses[pass.accesses.range()] {
                    let reads = access.access.contains(Accesses::TRANSFER_READ);
                    let region = Region {
                        mips: access.mips,
                        layers: access.layers,
                        aspects: plan.resources[access.resource].kind.aspects(),
                        range: [0, 0],
                    };
                    let usage = if reads { Usage::TransferSrc } else { Usage::TransferDst };
                    scene.accesses.push(PassAccess { resource: access.resource, usage, region, declared: None });
                }
            }
            scene.of_pass.push(Span::new(start, scene.accesses.len()));
        }
        Ok(scene)
    }

    /// The layout in which a pass finds one level of an image; `None`: it does not use it.
    pub(crate) fn layout(
        &self,
        plan: &Plan,
        pass: PlanPassId,
        resource: ResourceId,
        [mip, layer]: [u32; 2],
        aspects: Aspects,
    ) -> Option<Layout> {
        let within = |at: u32, range: [u32; 2]| range[0] <= at && at < range[1];
        let of = |one: &&PassLayout| {
            let part = within(mip, one.mips) && within(layer, one.layers) && one.aspects.intersects(aspects);
            part && self.same(one.resource, resource)
        };
        plan.layouts[self.layouts[pass].range()].iter().find(of).map(|one| one.layout)
    }

    /// What a pass accesses.
    pub(crate) fn of(&self, pass: PlanPassId) -> &[PassAccess] {
        &self.accesses[self.of_pass[pass].range()]
    }

    /// Adds the resources that a pass may read in place of some while the passes that write those are off.
    /// O(resources · fallbacks).
    pub(crate) fn add_stand_ins(&self, pass: PlanPassId, read: &mut Vec<ResourceId>) {
        let mut next = 0;
        while let Some(&resource) = read.get(next) {
            next += 1;
            for &StandIn { output, input, flag, .. } in &self.stand_ins {
                // Who is under the same flag never reads while it is off.
                let never = flag.is_some() && flag == self.flag_of[pass];
                if output == resource && !never && !read.contains(&input) {
                    read.push(input);
                }
            }
        }
    }

    /// Whether both names are one memory.
    pub(crate) fn same(&self, a: ResourceId, b: ResourceId) -> bool {
        self.memory[a] == self.memory[b]
    }
}

/// Positions of a graph's accesses, those of each pass together and in their order.
struct ByPass {
    /// Where those of each pass end.
    ends: IdVec<PassId, u32>,
    accesses: Vec<u32>,
}

impl ByPass {
    fn new(graph: &Graph) -> Self {
        let mut ends = IdVec::filled(0, graph.passes().len());
        graph.accesses().iter().for_each(|access| ends[access.pass] += 1);
        let mut start = 0;
        for end in ends.iter_mut() {
            (*end, start) = (start, start + *end);
        }
        let mut accesses = vec![0; graph.accesses().len()];
        for (access, at) in graph.accesses().iter().zip(0..) {
            let next = &mut ends[access.pass];
            accesses[*next as usize] = at;
            *next += 1;
        }
        Self { ends, accesses }
    }

    fn of(&self, pass: PassId) -> &[u32] {
        let start = pass.index().checked_sub(1).map_or(0, |before| self.ends[PassId::new(before)]);
        &self.accesses[start as usize..self.ends[pass] as usize]
    }
}

/// Memories that a batch uses, each once, in the order of their first use.
pub(crate) fn used_by_batches(plan: &Plan, scene: &Scene) -> Vec<Vec<ResourceId>> {
    let mut seen: IdVec<ResourceId, usize> = IdVec::filled(usize::MAX, plan.resources.len());
    plan.batches
        .iter()
        .enumerate()
        .map(|(at, batch)| {
            let mut used = Vec::new();
            let mut note = |resource: ResourceId| {
                let memory = scene.memory[resource];
                if std::mem::replace(&mut seen[memory], at) != at {
                    used.push(memory);
                }
            };
            for command in &plan.commands[batch.commands.range()] {
                match command {
                    Command::Pass { pass, .. } => {
                        let mut read: Vec<ResourceId> = scene.of(*pass).iter().map(|access| access.resource).collect();
                        scene.add_stand_ins(*pass, &mut read);
                        read.into_iter().for_each(&mut note);
                    }
                    Command::Barriers(barriers) | Command::SetEvent(_, barriers) | Command::WaitEvents(_, barriers) => {
                        plan.image_barriers[barriers.images.range()].iter().for_each(|one| note(one.resource));
                        plan.buffer_barriers[barriers.buffers.range()].iter().for_each(|one| note(one.resource));
                    }
                    Command::BeginRendering { .. } | Command::EndRendering => {}
                }
            }
            used
        })
        .collect()
}

/// The layout of each part of an image when all batches are done.
pub(crate) fn final_states(plan: &Plan, scene: &Scene, of: ResourceId) -> Tracked {
    let memory = scene.memory[of];
    let mut states = Tracked::new(plan.resources[memory].kind);
    for command in &plan.commands {
        if let Command::Barriers(barriers) | Command::WaitEvents(_, barriers) = command {
            let images = &plan.image_barriers[barriers.images.range()];
            for barrier in images.iter().filter(|one| scene.memory[one.resource] == memory) {
                let ImageBarrier { mips, layers, aspects, new_layout: layout, .. } = *barrier;
                let region = Region { mips, layers, aspects, range: [0, 0] };
                states.set(region, &ResourceState { layout, ..ResourceState::default() });
            }
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_may_be_in_each_layout_that_it_is_left_in() {
        let sampled = vk::ImageUsageFlags::SAMPLED;
        let depth = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        assert_eq!(layout_usage(Layout::ReadOnly, false), sampled);
        assert_eq!(layout_usage(Layout::ReadOnly, true), depth);
        assert_eq!(layout_usage(Layout::Attachment, false), vk::ImageUsageFlags::COLOR_ATTACHMENT);
        assert_eq!(layout_usage(Layout::Attachment, true), depth);
        assert_eq!(layout_usage(Layout::ShaderReadOnly, false), sampled);
    }
}
