//! A graph in one of its frame contexts: handles, descriptor sets, barriers in Vulkan's terms and, once recorded, command
//! buffers. It stays as it is while nothing that was recorded changes, and is then submitted again and again.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::Layout;
use rgraph_plan::id::{Id, IdVec, Span};
use rgraph_plan::plan::{Batch, Command, PlanKind, PlanPassId, Scope};
use rgraph_plan::resource::ResourceId;

use crate::bind::{Descriptor, Packets, Write};
use crate::convert;
use crate::device::Shared;
use crate::error::{Called, Error};
use crate::garbage::Garbage;
use crate::memory::Domain;
use crate::prepared::{Imports, Prepared};
use crate::queue::Queue;
use crate::rendering::Rendering;
use crate::store::{Raw, Store, Usages, ViewKey, attachment_view_type};
use crate::subpass;
use crate::transfer::Handles;

/// What a recording depends on; equal stamps need no new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stamp {
    /// Which resources are bound to imports.
    pub imports: u64,
    /// Which flags are on.
    pub flags: u64,
    /// Push data.
    pub push: u64,
    /// Times and statistics.
    pub measured: (bool, bool),
}

/// Views and handles of an attachment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AttachmentViews {
    pub view: vk::ImageView,
    pub resolve: vk::ImageView,
}

/// See the module.
pub(crate) struct Variant {
    shared: Arc<Shared>,
    pub phase: u64,
    pub stamp: Stamp,
    handles: IdVec<ResourceId, Raw>,
    /// Sets of the graph's packets, then of those that functions said.
    pub sets: Vec<vk::DescriptorSet>,
    pub said: Packets,
    pool: vk::DescriptorPool,
    uniforms: Option<Arc<Store>>,
    pub data_stamp: u64,
    pub attachments: Vec<AttachmentViews>,
    pub framebuffers: Vec<vk::Framebuffer>,
    pub memory: Vec<vk::MemoryBarrier2<'static>>,
    pub buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    pub images: Vec<vk::ImageMemoryBarrier2<'static>>,
    pub events: Vec<vk::Event>,
    pub times: Option<vk::QueryPool>,
    pub statistics: Option<vk::QueryPool>,
    pub chunks: Vec<(vk::CommandPool, vk::CommandBuffer)>,
    /// Passes that run with these flags.
    pub on: IdVec<PlanPassId, bool>,
    /// Keeps everything bound alive.
    kept: Vec<Arc<Store>>,
}

impl std::fmt::Debug for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variant").field("phase", &self.phase).finish_non_exhaustive()
    }
}

/// What a variant is made of.
#[derive(Clone, Copy)]
pub(crate) struct Ingredients<'a> {
    pub prepared: &'a Prepared,
    pub run: u64,
    pub stamp: Stamp,
    pub imports: &'a Imports,
    pub on: &'a IdVec<PlanPassId, bool>,
}

impl Variant {
    /// Everything but the recording.
    pub fn new(from: Ingredients<'_>, said: Packets) -> Result<Self, Error> {
        let prepared = from.prepared;
        let mut variant = Self {
            shared: prepared.shared.clone(),
            phase: from.run % prepared.phases,
            stamp: from.stamp,
            handles: IdVec::new(),
            sets: Vec::new(),
            said,
            pool: vk::DescriptorPool::null(),
            uniforms: None,
            data_stamp: u64::MAX,
            attachments: Vec::new(),
            framebuffers: Vec::new(),
            memory: Vec::new(),
            buffers: Vec::new(),
            images: Vec::new(),
            events: Vec::new(),
            times: None,
            statistics: None,
            chunks: Vec::new(),
            on: from.on.clone(),
            kept: Vec::new(),
        };
        variant.find_handles(from);
        variant.write_barriers(prepared);
        variant.make_views(from)?;
        variant.make_sets(from)?;
        variant.make_events(prepared)?;
        variant.make_queries(prepared)?;
        Ok(variant)
    }

    fn find_handles(&mut self, from: Ingredients<'_>) {
        for resource in from.prepared.plan.resources.ids() {
            let store = from.prepared.store(resource, from.run, from.imports);
            self.handles.push(store.map_or(Raw::Buffer(vk::Buffer::null()), |store| store.raw));
            self.kept.extend(store.cloned());
        }
    }

    /// The plan's barriers, one by one. A change of owner that the resource does not need (all families share it, or
    /// both queues became one) is left to the acquiring half, which then is an ordinary barrier.
    fn write_barriers(&mut self, prepared: &Prepared) {
        let plan = &prepared.plan;
        let stages = |scope: Scope| {
            (
                convert::stages(scope.src_stages),
                convert::accesses(scope.src_access),
                convert::stages(scope.dst_stages),
                convert::visible_to(scope.dst_access),
            )
        };
        self.memory.extend(plan.memory_barriers.iter().map(|barrier| {
            let (src, src_access, dst, dst_access) = stages(barrier.scope);
            vk::MemoryBarrier2::default()
                .src_stage_mask(src)
                .src_access_mask(src_access)
                .dst_stage_mask(dst)
                .dst_access_mask(dst_access)
        }));
        let owned = |resource: ResourceId, families: Option<[u32; 2]>, batch: usize| {
            let Some([from, to]) = families else { return Change::None };
            let queue = prepared.plan.batches.as_slice()[batch].queue;
            let family = queue.map(|queue| plan.queues[queue].family);
            let real = |planned: u32| {
                let at = plan.queues.iter().position(|queue| queue.family == planned);
                at.map_or(planned, |at| prepared.shared.queues[prepared.queues[at]].family)
            };
            let shared = self.kept_of(prepared, resource);
            match (shared || real(from) == real(to), family == Some(from)) {
                (true, true) => Change::Released,
                (true, false) => Change::None,
                (false, _) => Change::Moves(real(from), real(to)),
            }
        };
        let (batch_of_buffer, batch_of_image) = batches_of_barriers(prepared);
        let buffers = plan
            .buffer_barriers
            .iter()
            .zip(batch_of_buffer)
            .map(|(barrier, batch)| {
                let (src, src_access, dst, dst_access) = stages(barrier.scope);
                let [offset, end] = barrier.range;
                let out = vk::BufferMemoryBarrier2::default()
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .buffer(self.buffer(barrier.resource))
                    .offset(offset)
                    .size(end - offset);
                let scoped =
                    out.src_stage_mask(src).src_access_mask(src_access).dst_stage_mask(dst).dst_access_mask(dst_access);
                match owned(barrier.resource, barrier.families, batch) {
                    Change::None => scoped,
                    Change::Released => out,
                    Change::Moves(from, to) => scoped.src_queue_family_index(from).dst_queue_family_index(to),
                }
            })
            .collect();
        let images = plan
            .image_barriers
            .iter()
            .zip(batch_of_image)
            .map(|(barrier, batch)| {
                let (src, src_access, dst, dst_access) = stages(barrier.scope);
                let (old, new) = (convert::layout(barrier.old_layout), convert::layout(barrier.new_layout));
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
                match owned(barrier.resource, barrier.families, batch) {
                    Change::None => scoped,
                    // Nothing changes here; an undefined layout cannot stay, so its change is made at once.
                    Change::Released if old == vk::ImageLayout::UNDEFINED => scoped,
                    Change::Released => out.old_layout(old).new_layout(old),
                    Change::Moves(from, to) => scoped.src_queue_family_index(from).dst_queue_family_index(to),
                }
            })
            .collect();
        (self.buffers, self.images) = (buffers, images);
    }

    fn kept_of(&self, prepared: &Prepared, resource: ResourceId) -> bool {
        let raw = self.handles[prepared.scene.memory[resource]];
        self.kept.iter().find(|store| store.raw == raw).is_some_and(|store| store.concurrent)
    }

    fn make_views(&mut self, from: Ingredients<'_>) -> Result<(), Error> {
        let Ingredients { prepared, run, imports, .. } = from;
        let plan = &prepared.plan;
        self.attachments = vec![AttachmentViews::default(); plan.attachments.len()];
        for rendering in &prepared.renderings.passes {
            for (at, resolve) in rendering.attachments.range().zip(&rendering.resolves) {
                let attachment = &plan.attachments[at];
                let view = |resource: ResourceId, mip: u32, layers: [u32; 2]| {
                    let PlanKind::Image { format, .. } = plan.resources[resource].kind else {
                        return Ok(vk::ImageView::null());
                    };
                    let aspects = format.aspects();
                    let kind = attachment_view_type(layers);
                    let key = ViewKey { kind, format, aspects, mips: [mip, mip + 1], layers };
                    prepared.store(resource, run, imports).map_or(Ok(vk::ImageView::null()), |store| store.view(key))
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

    fn make_sets(&mut self, from: Ingredients<'_>) -> Result<(), Error> {
        let prepared = from.prepared;
        let data = self.data_start(prepared) + self.said.data.len() as u64;
        if data > 0 {
            let usages = Usages { buffer: vk::BufferUsageFlags::UNIFORM_BUFFER, ..Usages::default() };
            let kind = PlanKind::Buffer { size: data };
            let name = format!("{} uniforms", prepared.plan.graph);
            self.uniforms = Some(Store::new(&self.shared, &name, kind, usages, Domain::Linked, true)?);
        }
        let all = || prepared.packets.writes.iter().chain(&self.said.writes);
        let sets = prepared.packets.sets.len() + self.said.sets.len();
        if sets == 0 {
            return Ok(());
        }
        let mut sizes: Vec<vk::DescriptorPoolSize> = Vec::new();
        for write in all() {
            match sizes.iter_mut().find(|size| size.ty == write.kind) {
                Some(size) => size.descriptor_count += 1,
                None => sizes.push(vk::DescriptorPoolSize { ty: write.kind, descriptor_count: 1 }),
            }
        }
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(sets as u32).pool_sizes(&sizes);
        // SAFETY: the sizes live until the call returns.
        let pool = unsafe { self.shared.raw.create_descriptor_pool(&info, None) };
        self.pool = self.shared.noted(pool.called("vkCreateDescriptorPool"))?;
        let layouts: Vec<_> = prepared.packets.sets.iter().chain(&self.said.sets).map(|set| set.layout).collect();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&layouts);
        // SAFETY: the pool has room for exactly these.
        let made = unsafe { self.shared.raw.allocate_descriptor_sets(&info) };
        self.sets = self.shared.noted(made.called("vkAllocateDescriptorSets"))?;
        let (ours, theirs) = self.sets.split_at(prepared.packets.sets.len());
        let start = self.data_start(prepared);
        self.write_sets(from, &prepared.packets, ours, 0)?;
        self.write_sets(from, &self.said, theirs, start)
    }

    /// Where data that functions said lies in the uniform buffer.
    fn data_start(&self, prepared: &Prepared) -> u64 {
        let align = self.shared.limits.min_uniform_buffer_offset_alignment.max(16);
        (prepared.packets.data.len() as u64).next_multiple_of(align)
    }

    fn write_sets(
        &self,
        from: Ingredients<'_>,
        packets: &Packets,
        sets: &[vk::DescriptorSet],
        data: u64,
    ) -> Result<(), Error> {
        let Ingredients { prepared, run, imports, .. } = from;
        // Infos first, so that they do not move while writes point to them.
        let mut images = Vec::with_capacity(packets.writes.len());
        let mut buffers = Vec::with_capacity(packets.writes.len());
        let mut targets = Vec::with_capacity(packets.writes.len());
        for (set, &raw) in packets.sets.iter().zip(sets) {
            for write in &packets.writes[set.writes.range()] {
                let image =
                    |sampler, view, layout| vk::DescriptorImageInfo { sampler, image_view: view, image_layout: layout };
                // The view, and the layout that its image is in: what stands in may be in another.
                let view = |declared: ResourceId, key: ViewKey, layout: Layout| {
                    let resource = self.stand_in(prepared, write, declared);
                    let layout = match resource == declared {
                        true => layout,
                        false => prepared.binder().layout(write.pass, resource, key.mips, key.layers, key.aspects),
                    };
                    let store = prepared.store(resource, run, imports);
                    let view = store.map_or(Ok(vk::ImageView::null()), |store| store.view(key));
                    view.map(|view| (view, convert::layout(layout)))
                };
                let is_image = match &write.what {
                    Descriptor::Buffer(resource, [first, end]) => {
                        let buffer = self.buffer(self.stand_in(prepared, write, *resource));
                        buffers.push(vk::DescriptorBufferInfo { buffer, offset: *first, range: end - first });
                        false
                    }
                    Descriptor::Data([first, end]) => {
                        let buffer = self.uniforms.as_ref().map_or(vk::Buffer::null(), |store| store.buffer());
                        buffers.push(vk::DescriptorBufferInfo { buffer, offset: data + first, range: end - first });
                        false
                    }
                    Descriptor::Image(resource, key, layout) => {
                        let (view, layout) = view(*resource, *key, *layout)?;
                        images.push(image(vk::Sampler::null(), view, layout));
                        true
                    }
                    Descriptor::Combined(resource, key, layout, sampler) => {
                        let (view, layout) = view(*resource, *key, *layout)?;
                        images.push(image(*sampler, view, layout));
                        true
                    }
                    Descriptor::Sampler(sampler) => {
                        images.push(image(*sampler, vk::ImageView::null(), vk::ImageLayout::UNDEFINED));
                        true
                    }
                };
                let at = if is_image { images.len() } else { buffers.len() } - 1;
                targets.push((raw, write, is_image, at));
            }
        }
        let writes: Vec<_> = targets
            .iter()
            .map(|&(raw, write, is_image, at)| {
                let out = vk::WriteDescriptorSet::default()
                    .dst_set(raw)
                    .dst_binding(write.binding)
                    .dst_array_element(write.element)
                    .descriptor_type(write.kind);
                if is_image {
                    out.image_info(std::slice::from_ref(&images[at]))
                } else {
                    out.buffer_info(std::slice::from_ref(&buffers[at]))
                }
            })
            .collect();
        // SAFETY: the sets are new, so nothing uses them; views and buffers live as long as the variant.
        unsafe { self.shared.raw.update_descriptor_sets(&writes, &[]) };
        Ok(())
    }

    /// What a pass reads instead of the output of a pass that is switched off.
    fn stand_in(&self, prepared: &Prepared, write: &Write, resource: ResourceId) -> ResourceId {
        let (graph, scene) = (&prepared.workload.graph, &prepared.scene);
        let mut resource = resource;
        let is_output = |of: ResourceId| graph.fallbacks().iter().any(|one| scene.resource_of[one.output] == of);
        if !is_output(resource) {
            return resource;
        }
        for _ in 0..=graph.fallbacks().len() {
            let writes = |pass: &PlanPassId| {
                scene.of(*pass).iter().any(|access| {
                    use rgraph_plan::access::Usage;
                    access.resource == resource
                        && matches!(
                            access.usage,
                            Usage::ColorAttachment
                                | Usage::DepthStencilAttachment
                                | Usage::StorageWrite
                                | Usage::StorageReadWrite
                                | Usage::TransferDst
                                | Usage::ResolveAttachment
                                | Usage::HostWrite
                        )
                })
            };
            let before = |pass: &PlanPassId| *pass < write.pass;
            let Some(last) = prepared.plan.live().filter(before).filter(writes).last() else { return resource };
            if self.on[last] {
                return resource;
            }
            let fallback = graph
                .fallbacks()
                .iter()
                .find(|one| scene.pass_of[last] == Some(one.pass) && scene.resource_of[one.output] == resource);
            match fallback {
                Some(fallback) => resource = scene.resource_of[fallback.input],
                None => return resource,
            }
        }
        resource
    }

    fn make_events(&mut self, prepared: &Prepared) -> Result<(), Error> {
        for _ in 0..prepared.events {
            let info = vk::EventCreateInfo::default();
            // SAFETY: nothing is pointed to.
            let event = unsafe { self.shared.raw.create_event(&info, None) }.called("vkCreateEvent");
            self.events.push(self.shared.noted(event)?);
        }
        Ok(())
    }

    fn make_queries(&mut self, prepared: &Prepared) -> Result<(), Error> {
        let passes = prepared.plan.passes.len() as u32;
        let pool = |kind, count, statistics| {
            let info =
                vk::QueryPoolCreateInfo::default().query_type(kind).query_count(count).pipeline_statistics(statistics);
            // SAFETY: statistics are asked for only where the device has them.
            self.shared.noted(unsafe { self.shared.raw.create_query_pool(&info, None) }.called("vkCreateQueryPool"))
        };
        let can = self.shared.enabled.host_query_reset && passes > 0;
        let (times, statistics) = self.stamp.measured;
        let none = vk::QueryPipelineStatisticFlags::empty();
        if can && times && self.shared.queues.iter().any(|queue| queue.timestamp_bits > 0) {
            let times = pool(vk::QueryType::TIMESTAMP, passes * 2, none)?;
            self.times = Some(times);
        }
        if can && statistics && self.shared.enabled.core.pipeline_statistics_query == vk::TRUE {
            let statistics = pool(vk::QueryType::PIPELINE_STATISTICS, passes, STATISTICS)?;
            self.statistics = Some(statistics);
        }
        Ok(())
    }

    /// Copies uniform data into the buffer that the recorded commands read. The context must be idle.
    pub fn set_data(&mut self, prepared: &Prepared, data: &[u8], stamp: u64) {
        if std::mem::replace(&mut self.data_stamp, stamp) == stamp {
            return;
        }
        let start = self.data_start(prepared) as usize;
        if let Some(mapped) = self.uniforms.as_ref().and_then(|store| store.mapped()) {
            for (offset, bytes) in [(0, data), (start, &*self.said.data)] {
                // SAFETY: the buffer was made as large as both; the GPU is done with this context.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.as_ptr().add(offset), bytes.len()) };
            }
        }
    }

    /// Makes the variant ready to be submitted again. The context must be idle.
    pub fn rearm(&self, prepared: &Prepared) -> Result<(), Error> {
        let passes = prepared.plan.passes.len() as u32;
        if let Some(times) = self.times {
            // SAFETY: host reset is enabled; the GPU is done with the queries.
            unsafe { self.shared.raw.reset_query_pool(times, 0, passes * 2) };
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

    /// Whether timestamps are written on the queue of a batch.
    pub fn times_on(&self, queue: &Queue) -> Option<vk::QueryPool> {
        self.times.filter(|_| queue.timestamp_bits > 0)
    }

    /// The clear value, views and so on of a rendering's attachments lie here.
    pub fn views(&self, rendering: &Rendering) -> &[AttachmentViews] {
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

enum Change {
    None,
    Released,
    Moves(u32, u32),
}

/// The batch that each buffer barrier and each image barrier of a plan stands in.
fn batches_of_barriers(prepared: &Prepared) -> (Vec<usize>, Vec<usize>) {
    let plan = &prepared.plan;
    let mut buffers = vec![0; plan.buffer_barriers.len()];
    let mut images = vec![0; plan.image_barriers.len()];
    let set = |out: &mut Vec<usize>, span: Span, batch: usize| out[span.range()].fill(batch);
    for (id, Batch { commands, .. }) in plan.batches.iter_ids() {
        for command in &plan.commands[commands.range()] {
            if let Command::Barriers(barriers) | Command::SetEvent(_, barriers) | Command::WaitEvents(_, barriers) =
                command
            {
                set(&mut buffers, barriers.buffers, id.index());
                set(&mut images, barriers.images, id.index());
            }
        }
    }
    (buffers, images)
}

impl Handles for Variant {
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

impl Drop for Variant {
    fn drop(&mut self) {
        let mut gone: Vec<_> = self.chunks.iter().map(|(pool, _)| Garbage::CommandPool(*pool)).collect();
        if self.pool != vk::DescriptorPool::null() {
            gone.push(Garbage::DescriptorPool(self.pool));
        }
        gone.extend(self.events.iter().copied().map(Garbage::Event));
        gone.extend([self.times, self.statistics].into_iter().flatten().map(Garbage::QueryPool));
        let framebuffers = self.framebuffers.iter().filter(|one| **one != vk::Framebuffer::null());
        gone.extend(framebuffers.copied().map(Garbage::Framebuffer));
        self.shared.bury(gone);
    }
}
