//! What an engine does of a walk, step by step.

use ash::vk;
use rgraph_plan::access::{Accesses, Aspects, Layout, Stages, Usage};
use rgraph_plan::declared::mip_size;
use rgraph_plan::graph::PassId;
use rgraph_plan::plan::{BatchId, EventId, PlanKind, PlanPassId, QueueId};
use rgraph_plan::resource::ResourceId;

use super::Walk;
use crate::compile::pass_table::PassAccess;
use crate::convert;
use crate::walk::memory::Slot;

/// How the engine left an imported image or buffer, on the queue that uses it first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WalkState {
    /// Stages that used it; none: semaphores of the engine's order its use.
    pub stages: Stages,
    pub access: Accesses,
    /// The layout of an image; `Undefined`: it holds nothing.
    pub layout: Layout,
}

/// A wait for a timeline semaphore: there is one per queue of the plan, and one of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WalkWait {
    /// The plan's queue; `None`: the host.
    pub queue: Option<QueueId>,
    /// The value waited for.
    pub value: u64,
    /// Stages that wait.
    pub stages: vk::PipelineStageFlags2,
}

/// One submit, or one piece of host work.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WalkBatch {
    /// Its queue in the plan; `None`: the host.
    pub queue: Option<QueueId>,
    /// The queue's family.
    pub family: Option<u32>,
    /// What it waits for.
    pub waits: Vec<WalkWait>,
    /// Imports whose other users it waits for, too, and at which stages: by semaphores of the engine's.
    pub foreign_waits: Vec<(Slot, vk::PipelineStageFlags2)>,
    /// Imports whose other users go on behind it: a semaphore of the engine's is signalled. An import used on several
    /// queues is named by a batch of each, and its user goes on behind all of them.
    pub foreign_signals: Vec<Slot>,
    /// The value of its queue's timeline semaphore once all its stages are done, if somebody waits for that.
    pub signal: Option<u64>,
}

/// A blit that the planner inserted: a mip level from the one above it, or a copy of another size.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WalkBlit {
    /// What it reads, and its layout.
    pub from: (Slot, vk::ImageLayout),
    /// What it writes, and its layout.
    pub to: (Slot, vk::ImageLayout),
    pub region: vk::ImageBlit,
    pub filter: vk::Filter,
}

/// A pass to be recorded.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WalkPass<'a> {
    pub(super) walk: &'a Walk,
    pub(super) planned: PlanPassId,
    /// The pass of the graph.
    pub pass: PassId,
}

impl WalkPass<'_> {
    pub fn name(&self) -> &str {
        self.walk.plan.pass_name(self.planned)
    }

    /// The image or buffer that a resource of the graph is in this run.
    pub fn slot(&self, resource: ResourceId) -> Slot {
        self.walk.slot(resource)
    }

    /// The levels and layers of images of the graph that the pass declares.
    pub fn images(&self) -> Vec<(ResourceId, u32, u32)> {
        let (table, plan) = (&self.walk.table, &self.walk.plan);
        let images = table
            .of(self.planned)
            .iter()
            .filter(|access| matches!(plan.resources[access.resource].kind, PlanKind::Image { .. }));
        let parts = images.map(|access| (access.resource, access.region));
        let levels = parts.flat_map(|(image, region)| {
            let [first, end] = region.layers;
            (region.mips[0]..region.mips[1]).flat_map(move |mip| (first..end).map(move |layer| (image, mip, layer)))
        });
        levels.collect()
    }

    /// The layout in which the pass finds a level and layer of an image of the graph; `None`: it does not declare it.
    pub fn layout(&self, resource: ResourceId, mip: u32, layer: u32) -> Option<vk::ImageLayout> {
        let (table, plan) = (&self.walk.table, &self.walk.plan);
        table.layout(plan, self.planned, resource, [mip, layer], Aspects::all()).map(convert::layout)
    }
}

/// An engine's recorder. It records into command buffers of its own, with images and buffers of its own.
///
/// Batches come one after the other, and may be submitted so. A recorder of one queue needs one command buffer for all
/// of them and no semaphore: then no batch waits for another queue.
pub trait Recorder {
    /// What may go wrong.
    type Error;

    /// The image of a slot; for imported ones the one of this run.
    fn image(&mut self, slot: Slot) -> vk::Image;

    /// The buffer of a slot, and its first byte there.
    fn buffer(&mut self, slot: Slot) -> (vk::Buffer, u64);

    /// How the engine left an imported image or buffer; `None`: as the run before left it. Called once per run and
    /// part.
    fn state(&mut self, slot: Slot) -> Option<WalkState> {
        let _ = slot;
        None
    }

    /// A submit begins: a command buffer for a queue of that family.
    ///
    /// # Errors
    /// What ends the walk.
    fn begin_batch(&mut self, batch: &WalkBatch) -> Result<(), Self::Error>;

    /// `vkCmdPipelineBarrier2`.
    ///
    /// # Errors
    /// What ends the walk.
    fn barriers(&mut self, dependency: &vk::DependencyInfo<'_>) -> Result<(), Self::Error>;

    /// `vkCmdSetEvent2`, where the plan splits barriers. The default sets nothing, and the wait is a barrier.
    ///
    /// # Errors
    /// What ends the walk.
    fn set_event(&mut self, event: EventId, dependency: &vk::DependencyInfo<'_>) -> Result<(), Self::Error> {
        let _ = (event, dependency);
        Ok(())
    }

    /// `vkCmdWaitEvents2` with the dependency that the event was set with.
    ///
    /// # Errors
    /// What ends the walk.
    fn wait_event(&mut self, event: EventId, dependency: &vk::DependencyInfo<'_>) -> Result<(), Self::Error> {
        let _ = event;
        self.barriers(dependency)
    }

    /// A render pass begins; [`WalkRendering::begin`](super::WalkRendering::begin) records that.
    ///
    /// # Errors
    /// What ends the walk.
    fn begin_rendering(&mut self, rendering: &super::WalkRendering) -> Result<(), Self::Error>;

    /// The commands of a pass; inside of a render pass if one is open. Of a batch of the host: the pass is to be done
    /// on the CPU, behind the batch's waits.
    ///
    /// # Errors
    /// What ends the walk.
    fn pass(&mut self, pass: &WalkPass<'_>) -> Result<(), Self::Error>;

    /// `vkCmdBlitImage`.
    ///
    /// # Errors
    /// What ends the walk.
    fn blit(&mut self, blit: &WalkBlit) -> Result<(), Self::Error>;

    /// `vkCmdEndRendering`.
    ///
    /// # Errors
    /// What ends the walk.
    fn end_rendering(&mut self) -> Result<(), Self::Error>;

    /// The command buffer is complete: it may be submitted.
    ///
    /// # Errors
    /// What ends the walk.
    fn end_batch(&mut self, batch: &WalkBatch) -> Result<(), Self::Error>;
}

impl Walk {
    /// A batch of the run that comes.
    pub(super) fn batch(&self, id: BatchId) -> WalkBatch {
        let batch = &self.plan.batches[id];
        let value = |run: u64, value: u32| run * self.stride + u64::from(value);
        let waits = self.plan.waits[batch.waits.range()].iter().filter_map(|wait| {
            let run = if wait.previous_run { self.run.checked_sub(1)? } else { self.run };
            Some(WalkWait { queue: wait.queue, value: value(run, wait.value), stages: convert::stages(wait.stages) })
        });
        let points = || self.plan.foreign.iter().filter(move |point| point.batch == id);
        let slot = |resource| self.slot_of(resource);
        let foreign_waits = points().filter_map(|at| Some((slot(at.resource), convert::stages(at.wait?)))).collect();
        let foreign_signals = points().filter(|at| at.wait.is_none()).map(|at| slot(at.resource)).collect();
        WalkBatch {
            foreign_waits,
            foreign_signals,
            queue: batch.queue,
            family: batch.queue.map(|queue| self.plan.queues[queue].family),
            waits: waits.collect(),
            signal: batch.signal.map(|signal| value(self.run, signal)),
        }
    }

    /// The blit of an inserted pass.
    pub(super) fn blit(&self, pass: PlanPassId) -> Option<WalkBlit> {
        let accesses = self.table.of(pass);
        let from = accesses.iter().find(|access| access.usage == Usage::TransferSrc)?;
        let to = accesses.iter().find(|access| access.usage == Usage::TransferDst)?;
        let PlanKind::Image { format, .. } = self.plan.resources[from.resource].kind else { return None };
        let side = |access: &PassAccess| {
            let PlanKind::Image { size, .. } = self.plan.resources[access.resource].kind else { return None };
            let alike = |one: &&PassAccess| {
                (one.resource, one.usage, one.region.mips) == (access.resource, access.usage, access.region.mips)
            };
            // Pieces cut the layers, the blit does not.
            let layers = accesses.iter().filter(alike).fold(access.region.layers, |[first, end], one| {
                [first.min(one.region.layers[0]), end.max(one.region.layers[1])]
            });
            let [mip, _] = access.region.mips;
            let at = [mip, layers[0]];
            let layout = self.table.layout(&self.plan, pass, access.resource, at, access.region.aspects);
            let [width, height, depth] = mip_size(size, mip).map(|texels| texels as i32);
            let part = vk::ImageSubresourceLayers {
                aspect_mask: convert::aspects(access.region.aspects),
                mip_level: mip,
                base_array_layer: layers[0],
                layer_count: layers[1] - layers[0],
            };
            let corners = [vk::Offset3D::default(), vk::Offset3D { x: width, y: height, z: depth }];
            let layout = layout.map_or(vk::ImageLayout::GENERAL, convert::layout);
            Some(((self.slot_of(access.resource), layout), part, corners))
        };
        let ((from, src_subresource, src_offsets), (to, dst_subresource, dst_offsets)) = (side(from)?, side(to)?);
        let region = vk::ImageBlit { src_subresource, src_offsets, dst_subresource, dst_offsets };
        use rgraph_plan::format::Numbers;
        let smooth = !matches!(format.numbers(), Numbers::Uint | Numbers::Sint | Numbers::Depth);
        let filter = if smooth { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
        Some(WalkBlit { from, to, region, filter })
    }
}
