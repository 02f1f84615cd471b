//! Descriptor sets of a recording: those of the graph's packets, made once, and those of what functions recorded for a
//! run.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::{Aspects, Layout};
use rgraph_plan::id::Span;
use rgraph_plan::plan::{PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::CompiledGraph;
use crate::compile::packet::{Descriptor, Packets};
use crate::compile::transfer::{Handles, Transfers};
use crate::convert;
use crate::error::{Called, Error};
use crate::frame::fallback::resource_read;
use crate::frame::recording::{Ingredients, Recording};
use crate::memory::Domain;
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::physical_resource::{PhysicalResource, ViewKey};
use crate::memory::usages::Usages;

/// Descriptor sets, the pool that they are of, and the buffer of their plain data.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    raw: Vec<vk::DescriptorSet>,
    pool: vk::DescriptorPool,
    /// Sets and descriptors of each kind that the pool has room for.
    room: (usize, Vec<vk::DescriptorPoolSize>),
    pub uniforms: Option<Arc<PhysicalResource>>,
}

/// Which list the contents of a descriptor are in.
#[derive(Clone, Copy)]
enum Info {
    Image,
    Buffer,
    Texels,
    Structure,
}

impl Sets {
    /// The pool, to be destroyed.
    pub(crate) fn take_pool(&mut self) -> Option<DeferredDeletion> {
        let pool = std::mem::take(&mut self.pool);
        (pool != vk::DescriptorPool::null()).then_some(DeferredDeletion::DescriptorPool(pool))
    }
}

impl Recording {
    /// Uses the packets that callbacks recorded for this run, and returns those of the run before. The context must be
    /// idle.
    pub(crate) fn use_packets(&mut self, from: Ingredients<'_>, recorded: Packets) -> Result<Packets, Error> {
        let mut sets = std::mem::take(&mut self.recorded_sets);
        let made = self.make_sets(from, &recorded, &mut sets);
        self.recorded_sets = sets;
        made?;
        if let Some(mapped) = self.recorded_sets.uniforms.as_ref().and_then(|physical| physical.mapped()) {
            // SAFETY: the buffer was made as large; the GPU is done with this context.
            unsafe { std::ptr::copy_nonoverlapping(recorded.data.as_ptr(), mapped.as_ptr(), recorded.data.len()) };
        }
        Ok(std::mem::replace(&mut self.recorded, recorded))
    }

    /// Sets of packets in place of others, out of the pool of those where it has room.
    pub(crate) fn make_sets(&self, from: Ingredients<'_>, packets: &Packets, sets: &mut Sets) -> Result<(), Error> {
        let data = packets.data.len() as u64;
        let holds =
            |physical: &Arc<PhysicalResource>| matches!(physical.kind, PlanKind::Buffer { size } if size >= data);
        if data > 0 && !sets.uniforms.as_ref().is_some_and(holds) {
            let usages = Usages { buffer: vk::BufferUsageFlags::UNIFORM_BUFFER, ..Usages::default() };
            let kind = PlanKind::Buffer { size: data };
            let name = format!("{} uniforms", from.compiled.plan.graph);
            sets.uniforms = Some(PhysicalResource::new(&self.shared, &name, kind, usages, Domain::Linked, true)?);
        }
        sets.raw.clear();
        if packets.sets.is_empty() {
            return Ok(());
        }
        let mut sizes: Vec<vk::DescriptorPoolSize> = Vec::new();
        for write in &packets.writes {
            match sizes.iter_mut().find(|size| size.ty == write.kind) {
                Some(size) => size.descriptor_count += 1,
                None => sizes.push(vk::DescriptorPoolSize { ty: write.kind, descriptor_count: 1 }),
            }
        }
        let (most, room) = &sets.room;
        let fits = |size: &vk::DescriptorPoolSize| {
            room.iter().any(|room| room.ty == size.ty && room.descriptor_count >= size.descriptor_count)
        };
        if *most >= packets.sets.len() && sizes.iter().all(fits) {
            // SAFETY: the context is idle, so no set of the pool is in use.
            let reset =
                unsafe { self.shared.raw.reset_descriptor_pool(sets.pool, vk::DescriptorPoolResetFlags::empty()) };
            self.shared.noted(reset.called("vkResetDescriptorPool"))?;
        } else {
            self.shared.defer_deletion(sets.take_pool());
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(packets.sets.len() as u32).pool_sizes(&sizes);
            // SAFETY: the sizes live until the call returns.
            let pool = unsafe { self.shared.raw.create_descriptor_pool(&info, self.shared.raw.host()) };
            sets.pool = self.shared.noted(pool.called("vkCreateDescriptorPool"))?;
            sets.room = (packets.sets.len(), sizes);
        }
        let layouts: Vec<_> = packets.sets.iter().map(|set| set.layout).collect();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(sets.pool).set_layouts(&layouts);
        // SAFETY: the pool has room for these, and no others are made of it.
        let made = unsafe { self.shared.raw.allocate_descriptor_sets(&info) };
        sets.raw = self.shared.noted(made.called("vkAllocateDescriptorSets"))?;
        self.write_sets(from, packets, sets)
    }

    /// Sets of a packet of the graph, or of one that a function recorded.
    pub(crate) fn sets(&self, recorded: bool, span: Span) -> &[vk::DescriptorSet] {
        &(if recorded { &self.recorded_sets } else { &self.own }).raw[span.range()]
    }

    fn write_sets(&self, from: Ingredients<'_>, packets: &Packets, sets: &Sets) -> Result<(), Error> {
        let Ingredients { compiled, run, imports, .. } = from;
        // Infos first, so that they do not move while writes point to them.
        let mut images = Vec::with_capacity(packets.writes.len());
        let mut buffers = Vec::with_capacity(packets.writes.len());
        let mut texels = Vec::new();
        let mut structures = Vec::new();
        let mut targets = Vec::with_capacity(packets.writes.len());
        for (set, &raw) in packets.sets.iter().zip(&sets.raw) {
            for write in &packets.writes[set.writes.range()] {
                let image =
                    |sampler, view, layout| vk::DescriptorImageInfo { sampler, image_view: view, image_layout: layout };
                // The view, and the layout that its image is in: a fallback may be in another.
                let view = |declared: ResourceId, key: ViewKey, layout: Layout| {
                    let resource = self.resource_read(compiled, write.pass, declared);
                    let layout = match resource == declared {
                        true => layout,
                        false => compiled.binder().layout(write.pass, resource, key.mips, key.layers, key.aspects),
                    };
                    let physical = compiled.physical(resource, run, imports);
                    let view = physical.map_or(Ok(vk::ImageView::null()), |physical| physical.view(key));
                    view.map(|view| (view, convert::layout(layout)))
                };
                let kind = match &write.what {
                    Descriptor::Buffer(resource, [first, end]) => {
                        let buffer = self.buffer(self.resource_read(compiled, write.pass, *resource));
                        buffers.push(vk::DescriptorBufferInfo { buffer, offset: *first, range: end - first });
                        Info::Buffer
                    }
                    Descriptor::Texels(resource, range, format) => {
                        let resource = self.resource_read(compiled, write.pass, *resource);
                        let physical = compiled.physical(resource, run, imports);
                        let null = Ok(vk::BufferView::null());
                        texels.push(physical.map_or(null, |physical| physical.texel_view(*format, *range))?);
                        Info::Texels
                    }
                    Descriptor::Structure(resource) => {
                        let resource = self.resource_read(compiled, write.pass, *resource);
                        structures.push(self.structure(resource).map_or_else(Default::default, |one| one.raw));
                        Info::Structure
                    }
                    Descriptor::Data([first, end]) => {
                        let buffer = sets.uniforms.as_ref().map_or(vk::Buffer::null(), |physical| physical.buffer());
                        buffers.push(vk::DescriptorBufferInfo { buffer, offset: *first, range: end - first });
                        Info::Buffer
                    }
                    Descriptor::Image(resource, key, layout) => {
                        let (view, layout) = view(*resource, *key, *layout)?;
                        images.push(image(vk::Sampler::null(), view, layout));
                        Info::Image
                    }
                    Descriptor::Combined(resource, key, layout, sampler) => {
                        let (view, layout) = view(*resource, *key, *layout)?;
                        images.push(image(*sampler, view, layout));
                        Info::Image
                    }
                    Descriptor::Sampler(sampler) => {
                        images.push(image(*sampler, vk::ImageView::null(), vk::ImageLayout::UNDEFINED));
                        Info::Image
                    }
                };
                let made = match kind {
                    Info::Image => images.len(),
                    Info::Buffer => buffers.len(),
                    Info::Texels => texels.len(),
                    Info::Structure => structures.len(),
                };
                targets.push((raw, write, kind, made - 1));
            }
        }
        let infos = structures.iter().map(|one| {
            vk::WriteDescriptorSetAccelerationStructureKHR::default().acceleration_structures(std::slice::from_ref(one))
        });
        let infos: Vec<_> = infos.collect();
        let writes: Vec<_> = targets
            .iter()
            .map(|&(raw, write, kind, at)| {
                let out = vk::WriteDescriptorSet::default()
                    .dst_set(raw)
                    .dst_binding(write.binding)
                    .dst_array_element(write.element)
                    .descriptor_type(write.kind);
                match kind {
                    Info::Image => out.image_info(std::slice::from_ref(&images[at])),
                    Info::Buffer => out.buffer_info(std::slice::from_ref(&buffers[at])),
                    Info::Texels => out.texel_buffer_view(std::slice::from_ref(&texels[at])),
                    // The write only reads its extension.
                    Info::Structure => vk::WriteDescriptorSet {
                        descriptor_count: 1,
                        p_next: std::ptr::from_ref(&infos[at]).cast(),
                        ..out
                    },
                }
            })
            .collect();
        // SAFETY: the sets are new, so nothing uses them; views and buffers live as long as the recording.
        unsafe { self.shared.raw.update_descriptor_sets(&writes, &[]) };
        Ok(())
    }

    /// What a pass reads instead of the outputs of passes that are switched off.
    pub(crate) fn resource_read(&self, compiled: &CompiledGraph, pass: PlanPassId, resource: ResourceId) -> ResourceId {
        resource_read(compiled, &self.on, pass, resource)
    }
}

/// What the commands of a pass read, but for descriptors: outputs of passes that are off have fallbacks.
pub(crate) struct Reads<'a> {
    pub compiled: &'a CompiledGraph,
    pub recording: &'a Recording,
    pub pass: PlanPassId,
}

impl Reads<'_> {
    /// The buffer that vertices, indices, counts or words are read of.
    pub(crate) fn of_buffer(&self, resource: ResourceId) -> vk::Buffer {
        self.recording.buffer(self.source(resource))
    }
}

impl Handles for Reads<'_> {
    fn image(&self, resource: ResourceId) -> vk::Image {
        self.recording.image(resource)
    }

    fn buffer(&self, resource: ResourceId) -> vk::Buffer {
        self.recording.buffer(resource)
    }
}

impl Transfers for Reads<'_> {
    fn source(&self, resource: ResourceId) -> ResourceId {
        self.recording.resource_read(self.compiled, self.pass, resource)
    }

    fn layout(&self, resource: ResourceId, part: vk::ImageSubresourceLayers) -> Layout {
        let named = |aspect: &Aspects| part.aspect_mask.intersects(convert::aspects(*aspect));
        let aspects = Aspects::all().iter().filter(named).fold(Aspects::empty(), |all, aspect| all | aspect);
        let [mips, layers] = [part.mip_level, part.base_array_layer].map(|first| [first, first + 1]);
        self.compiled.binder().layout(self.pass, resource, mips, layers, aspects)
    }
}
