//! A graph in one of its frame contexts: handles, descriptor sets, barriers in Vulkan's terms and, once recorded,
//! command buffers. It stays as it is while nothing that was recorded changes, and is then submitted again and again.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use ash::vk;
use rgraph_plan::id::{Id, IdVec, Span};
use rgraph_plan::plan::{Batch, BatchId, BufferBarrier, Command, ImageBarrier, PlanKind, PlanPassId, Scope};
use rgraph_plan::resource::ResourceId;

use crate::compile::chunk::ChunkId;
use crate::compile::compiled_graph::{CompiledGraph, Imports};
use crate::compile::packet::Packets;
use crate::compile::rendering::{Rendering, RenderingId};
use crate::compile::subpass;
use crate::compile::subpass::AttachmentViews;
use crate::compile::transfer::Handles;
use crate::convert;
use crate::device::Shared;
use crate::error::{Called, Error};
use crate::frame::entries::Entries;
use crate::frame::measure::{Measure, Stamps};
use crate::frame::sets::Sets;
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::physical_resource::{PhysicalResource, Raw, Structure, ViewKey, attachment_view_type};

/// The state that handles, sets and barriers depend on: if all of it is equal, nothing is made again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Key {
    /// Where the rings of histories are.
    pub phase: u64,
    /// The flags that are off.
    pub off: Vec<bool>,
    /// Times and statistics.
    pub measured: (Measure, bool),
    /// What is bound to each import of the graph.
    pub bound: Vec<Option<Weak<PhysicalResource>>>,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        let Self { phase, off, measured, bound } = self;
        let same = |(one, two): (&Option<Weak<PhysicalResource>>, &Option<Weak<PhysicalResource>>)| match (one, two) {
            (Some(one), Some(two)) => one.ptr_eq(two),
            (one, two) => one.is_none() && two.is_none(),
        };
        (phase, off, measured, bound.len()) == (&other.phase, &other.off, &other.measured, other.bound.len())
            && bound.iter().zip(&other.bound).all(same)
    }
}

impl Key {
    /// Whether it can come again: all that was bound exists.
    pub(crate) fn is_alive(&self) -> bool {
        self.bound.iter().flatten().all(|physical| physical.strong_count() > 0)
    }
}

/// Queries for timestamps.
pub(crate) struct Times {
    pub pool: vk::QueryPool,
    pub stamps: Stamps,
}

/// See the module.
pub(crate) struct Recording {
    pub shared: Arc<Shared>,
    pub key: Key,
    /// The push data that was recorded.
    pub push_stamp: u64,
    handles: IdVec<ResourceId, Raw>,
    /// Acceleration structures of this recording's buffers.
    structures: HashMap<ResourceId, Structure>,
    /// Whether all queue families share a resource.
    concurrent: IdVec<ResourceId, bool>,
    /// Descriptor sets of compiled packets.
    pub(crate) own: Sets,
    /// Packets recorded by callbacks for this run, and their sets.
    pub recorded: Packets,
    pub(crate) recorded_sets: Sets,
    pub data_stamp: u64,
    pub attachments: Vec<AttachmentViews>,
    pub framebuffers: IdVec<RenderingId, vk::Framebuffer>,
    pub memory: Vec<vk::MemoryBarrier2<'static>>,
    pub buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    pub images: Vec<vk::ImageMemoryBarrier2<'static>>,
    pub events: Vec<vk::Event>,
    pub times: Option<Times>,
    pub statistics: Option<vk::QueryPool>,
    pub chunks: IdVec<ChunkId, (vk::CommandPool, vk::CommandBuffer)>,
    /// Initial barriers of the batches.
    pub entries: Entries,
    /// Passes that run with these flags.
    pub on: IdVec<PlanPassId, bool>,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What a recording is made of.
#[derive(Clone, Copy)]
pub(crate) struct Ingredients<'a> {
    pub compiled: &'a CompiledGraph,
    pub run: u64,
    pub key: &'a Key,
    pub imports: &'a Imports,
    pub on: &'a IdVec<PlanPassId, bool>,
}

impl Recording {
    /// Everything but the recording. What the graph alone decides is taken from a recording that is not needed any
    /// more, and whose frames are done.
    pub(crate) fn new(from: Ingredients<'_>, old: Option<Self>) -> Result<Self, Error> {
        let compiled = from.compiled;
        let mut recording = Self {
            shared: compiled.shared.clone(),
            key: from.key.clone(),
            push_stamp: u64::MAX,
            handles: IdVec::new(),
            structures: HashMap::new(),
            concurrent: IdVec::new(),
            own: Sets::default(),
            recorded: Packets::default(),
            recorded_sets: Sets::default(),
            data_stamp: u64::MAX,
            attachments: Vec::new(),
            framebuffers: IdVec::new(),
            memory: Vec::new(),
            buffers: Vec::new(),
            images: Vec::new(),
            events: Vec::new(),
            times: None,
            statistics: None,
            chunks: IdVec::new(),
            entries: Entries::default(),
            on: from.on.clone(),
        };
        if let Some(mut old) = old {
            std::mem::swap(&mut recording.own, &mut old.own);
            std::mem::swap(&mut recording.recorded_sets, &mut old.recorded_sets);
            std::mem::swap(&mut recording.events, &mut old.events);
            std::mem::swap(&mut recording.chunks, &mut old.chunks);
            recording.entries = std::mem::take(&mut old.entries).forgotten();
        }
        recording.find_handles(from);
        recording.find_structures(from)?;
        recording.write_barriers(compiled);
        recording.make_views(from)?;
        let mut own = std::mem::take(&mut recording.own);
        let made = recording.make_sets(from, &compiled.packets, &mut own);
        recording.own = own;
        made?;
        recording.make_events(compiled)?;
        recording.make_queries(compiled)?;
        Ok(recording)
    }

    fn find_handles(&mut self, from: Ingredients<'_>) {
        for resource in from.compiled.plan.resources.ids() {
            let physical = from.compiled.physical(resource, from.run, from.imports);
            self.handles.push(physical.map_or(Raw::Buffer(vk::Buffer::null()), |physical| physical.raw));
            self.concurrent.push(physical.is_some_and(|physical| physical.concurrent));
        }
    }

    fn find_structures(&mut self, from: Ingredients<'_>) -> Result<(), Error> {
        for &resource in &from.compiled.structures {
            let physical = from.compiled.physical(resource, from.run, from.imports);
            if let Some(structure) = physical.map_or(Ok(None), |physical| physical.structure())? {
                self.structures.insert(resource, structure);
            }
        }
        Ok(())
    }

    /// The acceleration structure in a buffer.
    pub(crate) fn structure(&self, resource: ResourceId) -> Option<Structure> {
        self.structures.get(&resource).copied()
    }

    /// The plan's barriers, one by one. A change of owner that the resource does not need (all families share it, or
    /// both queues became one) is left to the acquiring half, which then is an ordinary barrier.
    fn write_barriers(&mut self, compiled: &CompiledGraph) {
        let plan = &compiled.plan;
        self.memory.extend(plan.memory_barriers.iter().map(|barrier| {
            let (src, src_access, dst, dst_access) = scopes(barrier.scope);
            vk::MemoryBarrier2::default()
                .src_stage_mask(src)
                .src_access_mask(src_access)
                .dst_stage_mask(dst)
                .dst_access_mask(dst_access)
        }));
        let (batch_of_buffer, batch_of_image) = batches_of_barriers(compiled);
        let buffers = plan.buffer_barriers.iter().zip(batch_of_buffer);
        let buffers = buffers.map(|(barrier, batch)| self.buffer_barrier(compiled, barrier, batch)).collect();
        let images = plan.image_barriers.iter().zip(batch_of_image);
        let images = images.map(|(barrier, batch)| self.image_barrier(compiled, barrier, batch)).collect();
        (self.buffers, self.images) = (buffers, images);
        for command in plan.commands.iter() {
            if let Command::SetEvent(_, barriers) | Command::WaitEvents(_, barriers) = command {
                compiled.shared.widen_events(
                    &mut self.memory[barriers.memory.range()],
                    &mut self.buffers[barriers.buffers.range()],
                    &mut self.images[barriers.images.range()],
                );
            }
        }
    }

    /// What a barrier of a batch does to the owner of a resource.
    fn change(
        &self,
        compiled: &CompiledGraph,
        resource: ResourceId,
        families: Option<[u32; 2]>,
        batch: BatchId,
    ) -> Change {
        let plan = &compiled.plan;
        let Some([from, to]) = families else { return Change::None };
        let queue = plan.batches[batch].queue;
        let family = queue.map(|queue| plan.queues[queue].family);
        let real = |planned: u32| {
            let at = plan.queues.iter_ids().find(|(_, queue)| queue.family == planned);
            at.map_or(planned, |(at, _)| compiled.shared.queues[compiled.queues[at]].family)
        };
        let shared = self.concurrent[compiled.plan.memory_of(resource)];
        match (shared || real(from) == real(to), family == Some(from)) {
            (true, true) => Change::Released,
            (true, false) => Change::None,
            (false, _) => Change::Moves(real(from), real(to)),
        }
    }

    fn buffer_barrier(
        &self,
        compiled: &CompiledGraph,
        barrier: &BufferBarrier,
        batch: BatchId,
    ) -> vk::BufferMemoryBarrier2<'static> {
        let (src, src_access, dst, dst_access) = scopes(barrier.scope);
        let [offset, end] = barrier.range;
        let out = vk::BufferMemoryBarrier2::default()
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .buffer(self.buffer(barrier.resource))
            .offset(offset)
            .size(end - offset);
        let scoped =
            out.src_stage_mask(src).src_access_mask(src_access).dst_stage_mask(dst).dst_access_mask(dst_access);
        match self.change(compiled, barrier.resource, barrier.families, batch) {
            Change::None => scoped,
            Change::Released => out,
            Change::Moves(from, to) => scoped.src_queue_family_index(from).dst_queue_family_index(to),
        }
    }

    fn image_barrier(
        &self,
        compiled: &CompiledGraph,
        barrier: &ImageBarrier,
        batch: BatchId,
    ) -> vk::ImageMemoryBarrier2<'static> {
        let (src, src_access, dst, dst_access) = scopes(barrier.scope);
        let layout = |layout| compiled.shared.layout(layout);
        let (old, new) = (layout(barrier.old_layout), layout(barrier.new_layout));
        let out = vk::ImageMemoryBarrier2::default()
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.image(barrier.resource))
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: convert::aspects(barrier.aspects),
                base_mip_level: barrier.mips[0],
                level_count: barrier.mips[1] - barrier.mips[0],
                base_array_layer: barrier.layers[0],
                layer_count: barrier.layers[1] - barrier.layers[0],
            });
        let scoped = out
            .src_stage_mask(src)
            .src_access_mask(src_access)
            .dst_stage_mask(dst)
            .dst_access_mask(dst_access)
            .old_layout(old)
            .new_layout(new);
        match self.change(compiled, barrier.resource, barrier.families, batch) {
            Change::None => scoped,
            // Nothing changes here; an undefined layout cannot stay, so its change is made at once.
            Change::Released if old == vk::ImageLayout::UNDEFINED => scoped,
            Change::Released => out.old_layout(old).new_layout(old),
            Change::Moves(from, to) => scoped.src_queue_family_index(from).dst_queue_family_index(to),
        }
    }

    fn make_views(&mut self, from: Ingredients<'_>) -> Result<(), Error> {
        let Ingredients { compiled, run, imports, .. } = from;
        let plan = &compiled.plan;
        self.attachments = vec![AttachmentViews::default(); plan.attachments.len()];
        for rendering in &compiled.renderings.passes {
            for (at, resolve) in rendering.attachments.range().zip(&rendering.resolves) {
                let attachment = &plan.attachments[at];
                let view = |resource: ResourceId, mip: u32, layers: [u32; 2]| {
                    let PlanKind::Image { format, .. } = plan.resources[resource].kind else {
                        return Ok(vk::ImageView::null());
                    };
                    let aspects = format.aspects();
                    let kind = attachment_view_type(layers);
                    let key = ViewKey { kind, format, aspects, mips: [mip, mip + 1], layers };
                    compiled
                        .physical(resource, run, imports)
                        .map_or(Ok(vk::ImageView::null()), |physical| physical.view(key))
                };
                self.attachments[at].view = view(attachment.resource, attachment.mip, attachment.layers)?;
                if let Some(resolve) = resolve {
                    let region = resolve.access.region;
                    self.attachments[at].resolve = view(resolve.access.resource, region.mips[0], region.layers)?;
                }
            }
            let framebuffer = match rendering.subpasses {
                Some(pass) => subpass::framebuffer(&self.shared, pass, rendering, &self.attachments)?,
                None => vk::Framebuffer::null(),
            };
            self.framebuffers.push(framebuffer);
        }
        Ok(())
    }

    fn make_events(&mut self, compiled: &CompiledGraph) -> Result<(), Error> {
        for _ in self.events.len()..compiled.events as usize {
            let info = vk::EventCreateInfo::default();
            // SAFETY: nothing is pointed to.
            let event = unsafe { self.shared.raw.create_event(&info, self.shared.raw.host()) }.called("vkCreateEvent");
            self.events.push(self.shared.noted(event)?);
        }
        Ok(())
    }

    fn make_queries(&mut self, compiled: &CompiledGraph) -> Result<(), Error> {
        let passes = compiled.plan.passes.len() as u32;
        let pool = |kind, count, statistics| {
            let info =
                vk::QueryPoolCreateInfo::default().query_type(kind).query_count(count).pipeline_statistics(statistics);
            // SAFETY: statistics are asked for only where the device has them.
            self.shared.noted(
                unsafe { self.shared.raw.create_query_pool(&info, self.shared.raw.host()) }.called("vkCreateQueryPool"),
            )
        };
        let can = self.shared.enabled.host_query_reset && passes > 0;
        let (measure, statistics) = self.key.measured;
        if can && measure != Measure::Off {
            let stamps = Stamps::new(compiled, measure);
            if stamps.queries > 0 {
                let none = vk::QueryPipelineStatisticFlags::empty();
                self.times = Some(Times { pool: pool(vk::QueryType::TIMESTAMP, stamps.queries, none)?, stamps });
            }
        }
        if can && statistics && self.shared.enabled.core.pipeline_statistics_query == vk::TRUE {
            let statistics = pool(vk::QueryType::PIPELINE_STATISTICS, passes, STATISTICS)?;
            self.statistics = Some(statistics);
        }
        Ok(())
    }

    /// Copies uniform data into the buffer that the recorded commands read. The context must be idle.
    pub(crate) fn set_data(&mut self, data: &[u8], stamp: u64) {
        if std::mem::replace(&mut self.data_stamp, stamp) == stamp {
            return;
        }
        if let Some(mapped) = self.own.uniforms.as_ref().and_then(|physical| physical.mapped()) {
            // SAFETY: the buffer was made as large; the GPU is done with this context.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), mapped.as_ptr(), data.len()) };
        }
    }

    /// Makes the recording ready to be submitted again. The context must be idle.
    pub(crate) fn rearm(&self, compiled: &CompiledGraph) -> Result<(), Error> {
        let passes = compiled.plan.passes.len() as u32;
        if let Some(Times { pool, stamps }) = &self.times {
            // SAFETY: host reset is enabled; the GPU is done with the queries.
            unsafe { self.shared.raw.reset_query_pool(*pool, 0, stamps.queries) };
        }
        if let Some(statistics) = self.statistics {
            // SAFETY: as above.
            unsafe { self.shared.raw.reset_query_pool(statistics, 0, passes) };
        }
        for &event in &self.events {
            // SAFETY: the GPU is done with the event.
            self.shared.noted(unsafe { self.shared.raw.reset_event(event) }.called("vkResetEvent"))?;
        }
        Ok(())
    }

    /// The clear value, views and so on of a rendering's attachments lie here.
    pub(crate) fn views(&self, rendering: &Rendering) -> &[AttachmentViews] {
        &self.attachments[rendering.attachments.range()]
    }
}

/// The statistics that are counted, in the order of their bits.
pub(crate) const STATISTICS: vk::QueryPipelineStatisticFlags = vk::QueryPipelineStatisticFlags::from_raw(
    vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_VERTICES.as_raw()
        | vk::QueryPipelineStatisticFlags::CLIPPING_PRIMITIVES.as_raw()
        | vk::QueryPipelineStatisticFlags::FRAGMENT_SHADER_INVOCATIONS.as_raw()
        | vk::QueryPipelineStatisticFlags::COMPUTE_SHADER_INVOCATIONS.as_raw(),
);

/// The scopes of a barrier in Vulkan's terms: stages and accesses before it, stages and accesses after it.
fn scopes(scope: Scope) -> (vk::PipelineStageFlags2, vk::AccessFlags2, vk::PipelineStageFlags2, vk::AccessFlags2) {
    (
        convert::stages(scope.src_stages),
        convert::accesses(scope.src_stages, scope.src_access),
        convert::stages(scope.dst_stages),
        convert::visible_to(scope.dst_stages, scope.dst_access),
    )
}

enum Change {
    None,
    Released,
    Moves(u32, u32),
}

/// The batch of each buffer barrier and each image barrier of a plan.
fn batches_of_barriers(compiled: &CompiledGraph) -> (Vec<BatchId>, Vec<BatchId>) {
    let plan = &compiled.plan;
    let mut buffers = vec![BatchId::new(0); plan.buffer_barriers.len()];
    let mut images = vec![BatchId::new(0); plan.image_barriers.len()];
    let set = |out: &mut Vec<BatchId>, span: Span, batch: BatchId| out[span.range()].fill(batch);
    for (id, Batch { commands, .. }) in plan.batches.iter_ids() {
        for command in &plan.commands[commands.range()] {
            if let Command::Barriers(barriers) | Command::SetEvent(_, barriers) | Command::WaitEvents(_, barriers) =
                command
            {
                set(&mut buffers, barriers.buffers, id);
                set(&mut images, barriers.images, id);
            }
        }
    }
    (buffers, images)
}

impl Handles for Recording {
    fn image(&self, resource: ResourceId) -> vk::Image {
        match self.handles[resource] {
            Raw::Image(raw) => raw,
            Raw::Buffer(_) => vk::Image::null(),
        }
    }

    fn buffer(&self, resource: ResourceId) -> vk::Buffer {
        match self.handles[resource] {
            Raw::Buffer(raw) => raw,
            Raw::Image(_) => vk::Buffer::null(),
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let pools = self.chunks.iter().map(|(pool, _)| *pool).chain(self.entries.pools());
        let mut gone: Vec<_> = pools.map(DeferredDeletion::CommandPool).collect();
        gone.extend(self.own.take_pool());
        gone.extend(self.recorded_sets.take_pool());
        gone.extend(self.events.iter().copied().map(DeferredDeletion::Event));
        let times = self.times.as_ref().map(|times| times.pool);
        gone.extend([times, self.statistics].into_iter().flatten().map(DeferredDeletion::QueryPool));
        let framebuffers = self.framebuffers.iter().filter(|one| **one != vk::Framebuffer::null());
        gone.extend(framebuffers.copied().map(DeferredDeletion::Framebuffer));
        self.shared.defer_deletion(gone);
    }
}
