//! Poison: patterns that lie in memory wherever the declaration says that nothing is there. Results that depend on the
//! pattern depend on something that no pass wrote.
//!
//! Images are cleared within the plan's own barriers: one that changes the layout from `UNDEFINED` throws the contents
//! away, so it becomes two with a clear between them. Buffers are filled before passes that replace a range, and all
//! transient ones before each run, when the run before is done. Attachments whose contents are discarded are cleared.

use ash::vk;
use rgraph_plan::access::{Load, Usage};
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::graph::Graph;
use rgraph_plan::id::IdVec;
use rgraph_plan::plan::{Barriers, ImageBarrier, Plan, PlanKind, PlanPassId};
use rgraph_plan::profile::Capabilities;
use rgraph_plan::resource::ResourceId;

use crate::chaos::mix;
use crate::compile::prepared::{Place, Prepared};
use crate::compile::scene::Scene;
use crate::device::Shared;
use crate::device::queue::Queue;
use crate::frame::variant::Variant;
use crate::memory::physical_resource::{PhysicalResource, Raw, Usages};
use crate::memory::state::Region;

/// The pattern of each memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Poison {
    /// Of all memories.
    pub seed: u64,
    /// Memories, by the graph's ids of all their names, that have the pattern of another seed.
    pub other: Option<(u64, Vec<ResourceId>)>,
}

/// Ranges of buffers that are filled before a pass.
pub(crate) type Fills = IdVec<PlanPassId, Vec<(ResourceId, [u64; 2])>>;

impl Poison {
    fn bits(&self, scene: &Scene, memory: ResourceId, lane: u64) -> u64 {
        let declared = scene.declared[memory];
        let other = self.other.as_ref().filter(|(_, of)| declared.is_some_and(|id| of.contains(&id)));
        mix(mix(other.map_or(self.seed, |(seed, _)| *seed)) ^ lane)
    }

    /// A colour that is rare in pictures; of seeds other than 0 often NaN, large or negative.
    fn color(&self, scene: &Scene, memory: ResourceId, format: Format) -> vk::ClearColorValue {
        let numbers = format.numbers();
        // Integers beyond the format's range are undefined.
        let fits = match format.name() {
            name if name.contains("32") => u32::MAX >> 1,
            name if name.contains("16") => 0x7fff,
            _ => 0x7f,
        };
        let bits = [0, 1, 2, 3].map(|lane| self.bits(scene, memory, lane));
        match numbers {
            Numbers::Uint => vk::ClearColorValue { uint32: bits.map(|bits| bits as u32 & fits) },
            Numbers::Sint => vk::ClearColorValue { int32: bits.map(|bits| (bits as u32 & fits) as i32) },
            _ => {
                let part = bits.map(|bits| (bits >> 40) as f32 / (1u64 << 24) as f32);
                let kind = if self.seed == 0 && self.other.is_none() { 3 } else { bits[0] % 4 };
                let float32 = match kind {
                    0 if numbers == Numbers::Float => [f32::NAN; 4],
                    1 => part.map(|part| 1000.0 * part),
                    2 => part.map(|part| -part),
                    _ => part,
                };
                vk::ClearColorValue { float32 }
            }
        }
    }

    fn depth(&self, scene: &Scene, memory: ResourceId) -> vk::ClearDepthStencilValue {
        let bits = self.bits(scene, memory, 4);
        vk::ClearDepthStencilValue { depth: (bits >> 40) as f32 / (1u64 << 24) as f32, stencil: (bits & 0xff) as u32 }
    }

    /// Counts of indirect work stay small, so that deferred deletions ends soon; other words are floats near 1.
    fn word(&self, scene: &Scene, memory: ResourceId, counts: bool) -> u32 {
        let bits = self.bits(scene, memory, 5);
        if counts { (bits % 4) as u32 } else { 0x3f00_0000 | (bits as u32 & 0x00ff_ffff) }
    }
}

impl Poison {
    /// What an attachment is cleared with whose old contents are discarded.
    pub fn attachment(&self, prepared: &Prepared, resource: ResourceId) -> Option<vk::ClearValue> {
        let (plan, scene) = (&prepared.plan, &prepared.scene);
        let PlanKind::Image { format, .. } = plan.resources[resource].kind else { return None };
        let memory = scene.memory[resource];
        scene.begins_empty(plan, resource).then(|| match format.is_depth_stencil() {
            true => vk::ClearValue { depth_stencil: self.depth(scene, memory) },
            false => vk::ClearValue { color: self.color(scene, memory, format) },
        })
    }
}

/// Lets images be cleared, if the device can make them so.
pub(crate) fn allow_clears(shared: &Shared, kind: PlanKind, usages: &mut Usages) {
    let more = Usages { image: usages.image | vk::ImageUsageFlags::TRANSFER_DST, ..*usages };
    if matches!(kind, PlanKind::Image { .. }) && shared.measure("", kind, more, true).is_ok() {
        *usages = more;
    }
}

/// The ranges of transient buffers that each pass replaces: by declaration, or because it is the first to touch them.
pub(crate) fn fills(graph: &Graph, plan: &Plan, scene: &Scene) -> Fills {
    let mut out: Fills = IdVec::filled(Vec::new(), plan.passes.len());
    let mut touched: Vec<(ResourceId, [u64; 2])> = Vec::new();
    for pass in plan.live() {
        let on_gpu = plan.passes[pass].queue.is_some();
        for access in scene.of(pass) {
            let (memory, range) = (scene.memory[access.resource], access.region.range);
            let buffer = matches!(plan.resources[memory].kind, PlanKind::Buffer { .. });
            let Some(declared) = access.declared.map(|at| &graph.accesses()[at as usize]).filter(|_| buffer) else {
                continue;
            };
            let writes = matches!(access.usage, Usage::StorageWrite | Usage::TransferDst) && !declared.unordered;
            let meets = |other: [u64; 2]| other[0] < range[1] && range[0] < other[1];
            let first = !touched.iter().any(|&(of, other)| of == memory && meets(other));
            let replaced = matches!(declared.load, Some(Load::Discard | Load::Clear));
            let always = scene.flag_of[pass].is_none();
            if on_gpu && writes && (first || replaced && always) && scene.begins_empty(plan, memory) {
                let words = [range[0].next_multiple_of(4), range[1] & !3];
                out[pass].extend((words[0] < words[1]).then_some((memory, words)));
            }
        }
        touched.extend(scene.of(pass).iter().map(|access| (scene.memory[access.resource], access.region.range)));
    }
    out
}

/// Records poison.
#[derive(Clone, Copy)]
pub(crate) struct Poisoner<'a> {
    pub prepared: &'a Prepared,
    pub poison: &'a Poison,
    pub queue: &'a Queue,
    pub commands: vk::CommandBuffer,
}

impl Poisoner<'_> {
    /// A barrier call of the plan, with clears of the images that it empties.
    pub fn barriers(&self, variant: &Variant, barriers: &Barriers) {
        let planned = &self.prepared.plan.image_barriers[barriers.images.range()];
        let mut before = variant.images[barriers.images.range()].to_vec();
        let mut after = Vec::new();
        let (transfer, write) = (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE);
        for (barrier, planned) in before.iter_mut().zip(planned) {
            if !self.can_clear(barrier, planned) {
                continue;
            }
            after.push((barrier.src_stage_mask(transfer).src_access_mask(write), planned));
            if let Some((last, _)) = after.last_mut() {
                last.old_layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            }
            *barrier = barrier
                .dst_stage_mask(transfer)
                .dst_access_mask(write)
                .new_layout(vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        }
        let info = vk::DependencyInfo::default()
            .memory_barriers(&variant.memory[barriers.memory.range()])
            .buffer_memory_barriers(&variant.buffers[barriers.buffers.range()])
            .image_memory_barriers(&before);
        self.call(&info);
        if after.is_empty() {
            return;
        }
        after.iter().for_each(|(barrier, planned)| self.clear(barrier, planned));
        let after: Vec<_> = after.into_iter().map(|(barrier, _)| barrier).collect();
        self.call(&vk::DependencyInfo::default().image_memory_barriers(&after));
    }

    fn call(&self, info: &vk::DependencyInfo<'_>) {
        // SAFETY: outside of a render pass; handles live as long as the variant.
        unsafe { self.prepared.shared.raw.cmd_pipeline_barrier2(self.commands, info) };
    }

    fn can_clear(&self, barrier: &vk::ImageMemoryBarrier2<'_>, planned: &ImageBarrier) -> bool {
        let plan = &self.prepared.plan;
        let PlanKind::Image { format, .. } = plan.resources[planned.resource].kind else { return false };
        let needs = if format.is_depth_stencil() { Capabilities::GRAPHICS } else { Capabilities::COMPUTE };
        let capable = self.queue.capabilities.intersects(needs | Capabilities::GRAPHICS);
        let clearable = match &self.prepared.places[self.prepared.scene.memory[planned.resource]] {
            Place::Fixed(physical) => physical.clearable,
            Place::PerContext(physicals) => physicals.iter().all(|physical| physical.clearable),
            _ => false,
        };
        capable
            && clearable
            && format.block() == [1, 1]
            && barrier.old_layout == vk::ImageLayout::UNDEFINED
            && barrier.src_queue_family_index == barrier.dst_queue_family_index
            && self.prepared.scene.begins_empty(plan, planned.resource)
    }

    fn clear(&self, barrier: &vk::ImageMemoryBarrier2<'_>, planned: &ImageBarrier) {
        let (device, scene) = (&self.prepared.shared.raw, &self.prepared.scene);
        let memory = scene.memory[planned.resource];
        let PlanKind::Image { format, .. } = self.prepared.plan.resources[memory].kind else { return };
        let (layout, range) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, [barrier.subresource_range]);
        if format.is_depth_stencil() {
            let value = self.poison.depth(scene, memory);
            // SAFETY: a graphics queue; the barrier before made the layout, and the image was made for transfers.
            unsafe { device.cmd_clear_depth_stencil_image(self.commands, barrier.image, layout, &value, &range) };
        } else {
            let value = self.poison.color(scene, memory, format);
            // SAFETY: a graphics or compute queue; as above.
            unsafe { device.cmd_clear_color_image(self.commands, barrier.image, layout, &value, &range) };
        }
    }

    /// Fills the buffers that passes are about to replace.
    pub fn fill<'p>(&self, variant: &Variant, fills: &Fills, passes: impl Iterator<Item = &'p PlanPassId>) {
        let on = passes.filter(|pass| variant.on[**pass]);
        let all: Vec<_> = on.flat_map(|pass| &fills[*pass]).copied().collect();
        if all.is_empty() {
            return;
        }
        self.around(true);
        for (memory, [first, end]) in all {
            self.fill_one(memory, [first, end]);
        }
        self.around(false);
    }

    /// Gives contents to a memory that begins without any and outlives the frame. Images are in the layout of
    /// transfers.
    pub fn physical(&self, memory: ResourceId, physical: &PhysicalResource) {
        let (device, scene) = (&self.prepared.shared.raw, &self.prepared.scene);
        let (layout, range) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, [Region::whole(physical.kind).subresources()]);
        match (physical.raw, physical.kind) {
            (Raw::Buffer(raw), PlanKind::Buffer { size }) => self.fill_raw(memory, raw, [0, size & !3]),
            (Raw::Image(raw), PlanKind::Image { format, .. }) if format.is_depth_stencil() => {
                let value = self.poison.depth(scene, memory);
                // SAFETY: the queue is the graphics queue; the layout is the barrier's.
                unsafe { device.cmd_clear_depth_stencil_image(self.commands, raw, layout, &value, &range) };
            }
            (Raw::Image(raw), PlanKind::Image { format, .. }) if format.block() == [1, 1] => {
                let value = self.poison.color(scene, memory, format);
                // SAFETY: as above.
                unsafe { device.cmd_clear_color_image(self.commands, raw, layout, &value, &range) };
            }
            _ => {}
        }
    }

    /// Fills all transient buffers of a graph that nothing is using.
    pub fn fill_all(&self) {
        for (memory, place) in self.prepared.places.iter_ids() {
            if !matches!(place, Place::Fixed(_) | Place::PerContext(_)) {
                continue;
            }
            if let PlanKind::Buffer { size } = self.prepared.plan.resources[memory].kind
                && self.prepared.scene.begins_empty(&self.prepared.plan, memory)
            {
                self.fill_one(memory, [0, size & !3]);
                self.around(false);
            }
        }
    }

    fn fill_one(&self, memory: ResourceId, range: [u64; 2]) {
        // Of all frame contexts: a chaos run waits for those before it.
        let physicals = match &self.prepared.places[memory] {
            Place::Fixed(physical) => std::slice::from_ref(physical),
            Place::PerContext(physicals) => physicals,
            _ => &[],
        };
        for physical in physicals {
            if let Raw::Buffer(raw) = physical.raw {
                self.fill_raw(memory, raw, range);
            }
        }
    }

    fn fill_raw(&self, memory: ResourceId, raw: vk::Buffer, [first, end]: [u64; 2]) {
        let scene = &self.prepared.scene;
        let graph = &self.prepared.workload.graph;
        let counts = graph.accesses().iter().any(|access| {
            access.usage == Usage::Indirect && scene.memory[scene.resource_of[access.resource]] == memory
        });
        if first < end {
            let word = self.poison.word(scene, memory, counts);
            // SAFETY: multiples of 4 within the buffer, which was made for transfers.
            unsafe { self.prepared.shared.raw.cmd_fill_buffer(self.commands, raw, first, end - first, word) };
        }
    }

    /// Orders fills behind everything before them, or everything else behind them.
    fn around(&self, before: bool) {
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let (clear, write) = (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE);
        let any = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
        let barrier = vk::MemoryBarrier2::default();
        let barrier = match before {
            true => barrier
                .src_stage_mask(all)
                .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
                .dst_stage_mask(clear)
                .dst_access_mask(write),
            false => barrier.src_stage_mask(clear).src_access_mask(write).dst_stage_mask(all).dst_access_mask(any),
        };
        self.call(&vk::DependencyInfo::default().memory_barriers(&[barrier]));
    }
}
