//! Commands that write poison.
//!
//! Images are cleared within the plan's own barriers: one that changes the layout from `UNDEFINED` throws the contents
//! away, so it becomes two with a clear between them. Buffers are filled before passes that replace a range, and all
//! transient ones before each run, when the run before is done. Attachments whose contents are discarded are cleared.

use ash::vk;
use rgraph_plan::access::Usage;
use rgraph_plan::plan::{Barriers, ImageBarrier, PlanKind, PlanPassId};
use rgraph_plan::profile::Capabilities;
use rgraph_plan::resource::ResourceId;

use crate::chaos::poison::Poison;
use crate::chaos::spec::Chaos;
use crate::compile::compiled_graph::{CompiledGraph, Place};
use crate::device::queue::Queue;
use crate::frame::recording::Recording;
use crate::memory::physical_resource::{PhysicalResource, Raw};
use crate::memory::state::Region;

/// Where passes do something.
const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

/// Where fills and clears do.
const FILLS: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_TRANSFER;

/// Records poison.
#[derive(Clone, Copy)]
pub(crate) struct Poisoner<'a> {
    pub compiled: &'a CompiledGraph,
    pub poison: &'a Poison,
    pub queue: &'a Queue,
    pub commands: vk::CommandBuffer,
}

impl Poisoner<'_> {
    /// A barrier call of the plan, with clears of the images that it empties.
    pub(crate) fn barriers(&self, recording: &Recording, barriers: &Barriers) {
        let planned = &self.compiled.plan.image_barriers[barriers.images.range()];
        let mut before = recording.images[barriers.images.range()].to_vec();
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
            .memory_barriers(&recording.memory[barriers.memory.range()])
            .buffer_memory_barriers(&recording.buffers[barriers.buffers.range()])
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
        // SAFETY: outside of a render pass; handles live as long as the recording.
        unsafe { self.compiled.shared.raw.cmd_pipeline_barrier2(self.commands, info) };
    }

    fn can_clear(&self, barrier: &vk::ImageMemoryBarrier2<'_>, planned: &ImageBarrier) -> bool {
        let plan = &self.compiled.plan;
        let PlanKind::Image { format, .. } = plan.resources[planned.resource].kind else { return false };
        let needs = if format.is_depth_stencil() { Capabilities::GRAPHICS } else { Capabilities::COMPUTE };
        let capable = self.queue.capabilities.intersects(needs | Capabilities::GRAPHICS);
        let clearable = match &self.compiled.places[self.compiled.plan.memory_of(planned.resource)] {
            Place::Fixed(physical) => physical.clearable,
            Place::PerContext(physicals) => physicals.iter().all(|physical| physical.clearable),
            _ => false,
        };
        capable
            && clearable
            && format.block() == [1, 1]
            && barrier.old_layout == vk::ImageLayout::UNDEFINED
            && barrier.src_queue_family_index == barrier.dst_queue_family_index
            && plan.begins_empty(planned.resource)
    }

    fn clear(&self, barrier: &vk::ImageMemoryBarrier2<'_>, planned: &ImageBarrier) {
        let (device, plan) = (&self.compiled.shared.raw, &self.compiled.plan);
        let memory = plan.memory_of(planned.resource);
        let PlanKind::Image { format, .. } = plan.resources[memory].kind else { return };
        let (layout, range) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, [barrier.subresource_range]);
        if format.is_depth_stencil() {
            let value = self.poison.depth(memory);
            // SAFETY: a graphics queue; the barrier before made the layout, and the image was made for transfers.
            unsafe { device.cmd_clear_depth_stencil_image(self.commands, barrier.image, layout, &value, &range) };
        } else {
            let value = self.poison.color(memory, format);
            // SAFETY: a graphics or compute queue; as above.
            unsafe { device.cmd_clear_color_image(self.commands, barrier.image, layout, &value, &range) };
        }
    }

    /// Fills the buffers that passes are about to replace, behind all that came before.
    pub(crate) fn fill<'p>(&self, recording: &Recording, chaos: &Chaos, passes: impl Iterator<Item = &'p PlanPassId>) {
        let on = passes.filter(|pass| recording.on[**pass]);
        let all: Vec<_> = on.flat_map(|pass| &chaos.fills[*pass]).copied().collect();
        if all.is_empty() {
            if chaos.spec.serial {
                self.order(ALL, ALL);
            }
            return;
        }
        self.order(ALL, FILLS);
        for (memory, [first, end]) in all {
            self.fill_one(memory, [first, end]);
        }
        self.order(FILLS, ALL);
    }

    /// Gives contents to a memory that begins without any and outlives the frame. Images are in the layout of
    /// transfers.
    pub(crate) fn physical(&self, memory: ResourceId, physical: &PhysicalResource) {
        let device = &self.compiled.shared.raw;
        let (layout, range) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, [Region::whole(physical.kind).subresources()]);
        match (physical.raw, physical.kind) {
            (Raw::Buffer(raw), PlanKind::Buffer { size }) => self.fill_raw(memory, raw, [0, size & !3]),
            (Raw::Image(raw), PlanKind::Image { format, .. }) if format.is_depth_stencil() => {
                let value = self.poison.depth(memory);
                // SAFETY: the queue is the graphics queue; the layout is the barrier's.
                unsafe { device.cmd_clear_depth_stencil_image(self.commands, raw, layout, &value, &range) };
            }
            (Raw::Image(raw), PlanKind::Image { format, .. }) if format.block() == [1, 1] => {
                let value = self.poison.color(memory, format);
                // SAFETY: as above.
                unsafe { device.cmd_clear_color_image(self.commands, raw, layout, &value, &range) };
            }
            _ => {}
        }
    }

    /// Fills all transient buffers of a graph that nothing is using.
    pub(crate) fn fill_all(&self) {
        for (memory, place) in self.compiled.places.iter_ids() {
            if !matches!(place, Place::Fixed(_) | Place::PerContext(_)) {
                continue;
            }
            if let PlanKind::Buffer { size } = self.compiled.plan.resources[memory].kind
                && self.compiled.plan.begins_empty(memory)
            {
                self.fill_one(memory, [0, size & !3]);
                self.order(FILLS, ALL);
            }
        }
    }

    fn fill_one(&self, memory: ResourceId, range: [u64; 2]) {
        // Of all frame contexts: a chaos run waits for those before it.
        let physicals = match &self.compiled.places[memory] {
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
        let plan = &self.compiled.plan;
        let accesses = self.compiled.workload.graph.accesses();
        let counts =
            accesses.iter().any(|access| access.usage == Usage::Indirect && plan.memory_of(access.resource) == memory);
        if first < end {
            let word = self.poison.word(memory, counts);
            // SAFETY: multiples of 4 within the buffer, which was made for transfers.
            unsafe { self.compiled.shared.raw.cmd_fill_buffer(self.commands, raw, first, end - first, word) };
        }
    }

    /// Orders all that the stages of `to` do behind the writes of those of `from`.
    fn order(&self, from: vk::PipelineStageFlags2, to: vk::PipelineStageFlags2) {
        let (read, write) = (vk::AccessFlags2::MEMORY_READ, vk::AccessFlags2::MEMORY_WRITE);
        let barrier = vk::MemoryBarrier2::default()
            .src_stage_mask(from)
            .src_access_mask(write)
            .dst_stage_mask(to)
            .dst_access_mask(read | write);
        self.call(&vk::DependencyInfo::default().memory_barriers(&[barrier]));
    }
}
