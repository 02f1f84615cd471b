//! Images and buffers on the device: raw object, memory, views, and the state that they carry from run to run.

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ash::vk;
use gpu_allocator::vulkan::AllocationScheme;
use rgraph_plan::access::{Aspects, Layout, MemoryDomain};
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::plan::PlanKind;
use rgraph_shader::Dimension;

use crate::convert;
use crate::device::Shared;
use crate::error::{Called, Error};
use crate::frame::outcome::Outcome;
use crate::memory::arena::Arena;
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::requirements::{buffer_info, image_info};
use crate::memory::share::SharedPlace;
use crate::memory::share::block::SharedBlock;
use crate::memory::share::{HANDLE, Lent, elsewhere};
use crate::memory::state::Tracked;
use crate::memory::usages::Usages;
use crate::memory::{Allocation, Domain, Want};

/// The handle of an image or a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Raw {
    Image(vk::Image),
    Buffer(vk::Buffer),
}

/// A view of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ViewKey {
    pub kind: vk::ImageViewType,
    pub format: Format,
    pub aspects: Aspects,
    pub mips: [u32; 2],
    pub layers: [u32; 2],
}

/// An acceleration structure and its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Structure {
    pub raw: vk::AccelerationStructureKHR,
    pub address: u64,
}

/// Memory of another API that a resource lies in.
pub(crate) struct Peer {
    /// Where the other API finds the resource's first byte.
    pub address: u64,
    /// Keeps the memory.
    pub _memory: Box<dyn std::any::Any + Send + Sync>,
}

/// An image or buffer of the device.
pub(crate) struct PhysicalResource {
    pub shared: Arc<Shared>,
    pub name: String,
    pub kind: PlanKind,
    pub raw: Raw,
    /// Whether all queue families share it.
    pub concurrent: bool,
    /// Whether it was made for transfers into it.
    pub clearable: bool,
    /// What it was made for; nothing is known of the caller's own.
    usages: Usages,
    memory: Option<(Allocation, Domain)>,
    /// The memory that the caller chose for it.
    chosen: Option<MemoryDomain>,
    /// The shared block that it lies in, and its first byte there.
    block: Option<(Arc<SharedBlock>, u64)>,
    /// Whether the bytes there are its own.
    spans: bool,
    /// The memory of another API that it lies in, where runs need not ask who has it.
    peer: Option<Peer>,
    /// Who had it last besides this device.
    lent: Mutex<Option<Lent>>,
    mapped: Option<Mapped>,
    owned: bool,
    views: Mutex<HashMap<ViewKey, vk::ImageView>>,
    /// Views of its bytes as texels of a format.
    texel_views: Mutex<HashMap<(Format, [u64; 2]), vk::BufferView>>,
    tracked: Mutex<Tracked>,
    /// The last run whose host passes may use it.
    reserved: Mutex<Option<Arc<Outcome>>>,
    /// Whether code other than rgraph's may have its handle.
    exposed: AtomicBool,
    /// The acceleration structure in the buffer, once it was asked for.
    pub(super) structure: Mutex<Option<Structure>>,
    /// Whether a structure was built in it that outlives its run.
    pub(super) built: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Mapped(NonNull<u8>);

// SAFETY: the pointer is into memory that the physical resource keeps mapped; no thread owns it.
unsafe impl Send for Mapped {}
// SAFETY: as above; access to the bytes is ordered by the runs that use the physical resource.
unsafe impl Sync for Mapped {}

impl std::fmt::Debug for PhysicalResource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PhysicalResource").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PhysicalResource {
    /// Makes an image or buffer with memory of its own.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        name: &str,
        kind: PlanKind,
        usages: Usages,
        domain: Domain,
        concurrent: bool,
    ) -> Result<Arc<Self>, Error> {
        let mut physical = Self::unbound(shared, name, kind, usages, concurrent)?;
        let (requirements, dedicated) = physical.requirements();
        let scheme = dedicated.then_some(match physical.raw {
            Raw::Image(raw) => AllocationScheme::DedicatedImage(raw),
            Raw::Buffer(raw) => AllocationScheme::DedicatedBuffer(raw),
        });
        let linear = matches!(physical.raw, Raw::Buffer(_));
        let want = Want { name, requirements, domain, linear, dedicated: scheme };
        let allocation = shared.allocate(want)?;
        let (memory, offset) = (allocation.memory, allocation.offset);
        physical.mapped = allocation.mapped().map(Mapped);
        if let Domain::Chosen(chosen) = domain {
            physical.chosen = Some(chosen);
        }
        let domain = allocation.domain();
        physical.memory = Some((allocation, domain));
        physical.bind(memory, offset)?;
        Ok(Arc::new(physical))
    }

    /// Makes an image or buffer in memory that others have too; the memory outlives it.
    pub(crate) fn placed(
        shared: &Arc<Shared>,
        name: &str,
        kind: PlanKind,
        usages: Usages,
        concurrent: bool,
        arena: &Arena,
        offset: u64,
    ) -> Result<Arc<Self>, Error> {
        let mut physical = Self::unbound(shared, name, kind, usages, concurrent)?;
        let allocation = arena.allocation();
        physical.mapped = allocation.mapped().map(|start| {
            // SAFETY: the planner placed it within the arena, which is mapped as a whole.
            Mapped(unsafe { start.add(offset as usize) })
        });
        physical.bind(allocation.memory, allocation.offset + offset)?;
        Ok(Arc::new(physical))
    }

    /// Makes an image or buffer in a shared block. A holder has it until it is acquired.
    pub(crate) fn shared(
        block: &Arc<SharedBlock>,
        name: &str,
        kind: PlanKind,
        usages: Usages,
        place: SharedPlace<'_>,
    ) -> Result<Arc<Self>, Error> {
        let mut physical = Self::in_block(block, name, kind, usages, place)?;
        physical.expose();
        if let Some(holder) = place.holder.or(block.imported.then_some("its exporter")) {
            let tracked = physical.tracked.get_mut().unwrap_or_else(PoisonError::into_inner);
            tracked.set(tracked.whole(), &elsewhere(Layout::General));
            *physical.lent.get_mut().unwrap_or_else(PoisonError::into_inner) = Some(Lent::to(holder));
        }
        Ok(Arc::new(physical))
    }

    /// Makes an image or buffer at the first byte of an imported block, which another API uses only while the runtime
    /// waits for it.
    pub(crate) fn of_peer(
        block: &Arc<SharedBlock>,
        name: &str,
        kind: PlanKind,
        usages: Usages,
        peer: Peer,
    ) -> Result<Arc<Self>, Error> {
        let place = SharedPlace { offset: Some(0), ..SharedPlace::default() };
        let mut physical = Self::in_block(block, name, kind, usages, place)?;
        physical.peer = Some(peer);
        Ok(Arc::new(physical))
    }

    fn in_block(
        block: &Arc<SharedBlock>,
        name: &str,
        kind: PlanKind,
        usages: Usages,
        place: SharedPlace<'_>,
    ) -> Result<Self, Error> {
        let mut physical = Self::unbound(&block.shared, name, kind, usages, true)?;
        let (requirements, _) = physical.requirements();
        let offset = block.place(name, requirements, place)?;
        physical.spans = !(place.overlap && place.offset.is_some());
        physical.block = Some((block.clone(), offset));
        physical.bind(block.raw, offset)?;
        Ok(physical)
    }

    /// Where another API finds its first byte.
    pub(crate) fn peer_address(&self) -> Option<u64> {
        self.peer.as_ref().map(|peer| peer.address)
    }

    /// Borrows a caller's image or buffer.
    pub(crate) fn borrowed(shared: &Arc<Shared>, name: &str, kind: PlanKind, raw: Raw, concurrent: bool) -> Arc<Self> {
        Arc::new(Self {
            shared: shared.clone(),
            name: name.to_owned(),
            kind,
            raw,
            concurrent,
            clearable: false,
            usages: Usages::default(),
            memory: None,
            chosen: None,
            block: None,
            spans: false,
            peer: None,
            lent: Mutex::default(),
            mapped: None,
            owned: false,
            views: Mutex::default(),
            texel_views: Mutex::default(),
            tracked: Mutex::new(Tracked::new(kind)),
            reserved: Mutex::default(),
            exposed: AtomicBool::new(true),
            structure: Mutex::default(),
            built: AtomicBool::new(false),
        })
    }

    fn unbound(
        shared: &Arc<Shared>,
        name: &str,
        kind: PlanKind,
        usages: Usages,
        concurrent: bool,
    ) -> Result<Self, Error> {
        let usages = shared.usable(usages);
        let families = shared.families();
        let concurrent = concurrent && families.len() > 1;
        let raw = match kind {
            PlanKind::Image { .. } => {
                let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(HANDLE);
                let info = image_info(kind, usages, concurrent, &families);
                let info = if usages.external { info.push_next(&mut external) } else { info };
                // SAFETY: the format and usage were found to be supported.
                Raw::Image(
                    shared
                        .noted(unsafe { shared.raw.create_image(&info, shared.raw.host()) }.called("vkCreateImage"))?,
                )
            }
            PlanKind::Buffer { .. } => {
                let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(HANDLE);
                let info = buffer_info(kind, usages, concurrent, &families);
                let info = if usages.external { info.push_next(&mut external) } else { info };
                // SAFETY: the size is not zero and below the limit, which validation of graphs has made sure of.
                Raw::Buffer(
                    shared.noted(
                        unsafe { shared.raw.create_buffer(&info, shared.raw.host()) }.called("vkCreateBuffer"),
                    )?,
                )
            }
        };
        match raw {
            Raw::Image(raw) => shared.name(raw, name),
            Raw::Buffer(raw) => shared.name(raw, name),
        }
        Ok(Self {
            shared: shared.clone(),
            name: name.to_owned(),
            kind,
            raw,
            concurrent,
            clearable: usages.image.contains(vk::ImageUsageFlags::TRANSFER_DST),
            usages,
            memory: None,
            chosen: None,
            block: None,
            spans: false,
            peer: None,
            lent: Mutex::default(),
            mapped: None,
            owned: true,
            views: Mutex::default(),
            texel_views: Mutex::default(),
            tracked: Mutex::new(Tracked::new(kind)),
            reserved: Mutex::default(),
            exposed: AtomicBool::new(false),
            structure: Mutex::default(),
            built: AtomicBool::new(false),
        })
    }

    fn requirements(&self) -> (vk::MemoryRequirements, bool) {
        let mut dedicated = vk::MemoryDedicatedRequirements::default();
        let mut out = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        match self.raw {
            Raw::Image(image) => {
                let info = vk::ImageMemoryRequirementsInfo2::default().image(image);
                // SAFETY: the image was just made.
                unsafe { self.shared.raw.get_image_memory_requirements2(&info, &mut out) };
            }
            Raw::Buffer(buffer) => {
                let info = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
                // SAFETY: the buffer was just made.
                unsafe { self.shared.raw.get_buffer_memory_requirements2(&info, &mut out) };
            }
        }
        let requirements = out.memory_requirements;
        let wants =
            dedicated.prefers_dedicated_allocation == vk::TRUE || dedicated.requires_dedicated_allocation == vk::TRUE;
        (requirements, wants)
    }

    fn bind(&self, memory: vk::DeviceMemory, offset: u64) -> Result<(), Error> {
        let device = &self.shared.raw;
        self.shared.noted(match self.raw {
            // SAFETY: size, alignment and type were asked from the driver; bound once.
            Raw::Image(raw) => unsafe { device.bind_image_memory(raw, memory, offset) }.called("vkBindImageMemory"),
            // SAFETY: as above.
            Raw::Buffer(raw) => unsafe { device.bind_buffer_memory(raw, memory, offset) }.called("vkBindBufferMemory"),
        })
    }

    /// Whether it is the caller's own, so that others may use it unseen. Of shared memory `holder` says who has it.
    pub(crate) fn is_borrowed(&self) -> bool {
        !self.owned
    }

    /// The image. Callers know from the kind that it is one.
    pub(crate) fn image(&self) -> vk::Image {
        match self.raw {
            Raw::Image(raw) => raw,
            Raw::Buffer(_) => vk::Image::null(),
        }
    }

    /// The buffer. Callers know from the kind that it is one.
    pub(crate) fn buffer(&self) -> vk::Buffer {
        match self.raw {
            Raw::Buffer(raw) => raw,
            Raw::Image(_) => vk::Buffer::null(),
        }
    }

    /// First byte of its memory, if the host can see it.
    pub(crate) fn mapped(&self) -> Option<NonNull<u8>> {
        self.mapped.map(|mapped| mapped.0)
    }

    /// Whether it was made for such uses; `host`: the host has to see it; `chosen`: it has to lie in that memory.
    pub(crate) fn suits(&self, usages: Usages, host: bool, chosen: Option<MemoryDomain>) -> bool {
        let (own, usages) = (self.usages, self.shared.usable(usages));
        let used = match self.raw {
            Raw::Image(_) => own.image.contains(usages.image),
            Raw::Buffer(_) => own.buffer.contains(usages.buffer),
        };
        used && own.external >= usages.external && (!host || self.mapped.is_some()) && self.chosen == chosen
    }

    /// A view, made once.
    pub(crate) fn view(&self, key: ViewKey) -> Result<vk::ImageView, Error> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = views.get(&key) {
            return Ok(known);
        }
        let range = vk::ImageSubresourceRange {
            aspect_mask: convert::aspects(key.aspects),
            base_mip_level: key.mips[0],
            level_count: key.mips[1] - key.mips[0],
            base_array_layer: key.layers[0],
            layer_count: key.layers[1] - key.layers[0],
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(self.image())
            .view_type(key.kind)
            .format(convert::format(key.format))
            .subresource_range(range);
        // SAFETY: the range lies in the image, as validation of graphs and work has made sure of.
        let view = unsafe { self.shared.raw.create_image_view(&info, self.shared.raw.host()) };
        let view = self.shared.noted(view.called("vkCreateImageView"))?;
        self.shared.name(view, &self.name);
        views.insert(key, view);
        Ok(view)
    }

    /// A view of bytes of a buffer as texels, made once. The device must have such texel buffers
    /// ([`Shared::check_texels`]).
    pub(crate) fn texel_view(&self, format: Format, [first, end]: [u64; 2]) -> Result<vk::BufferView, Error> {
        let mut views = self.texel_views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = views.get(&(format, [first, end])) {
            return Ok(known);
        }
        let info = vk::BufferViewCreateInfo::default()
            .buffer(self.buffer())
            .format(convert::format(format))
            .offset(first)
            .range(end - first);
        // SAFETY: range, alignment and format were compared with the buffer and the device when the work was bound.
        let view = unsafe { self.shared.raw.create_buffer_view(&info, self.shared.raw.host()) };
        let view = self.shared.noted(view.called("vkCreateBufferView"))?;
        self.shared.name(view, &self.name);
        views.insert((format, [first, end]), view);
        Ok(view)
    }

    /// The state that it carries from run to run.
    pub(crate) fn tracked(&self) -> MutexGuard<'_, Tracked> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps all other runs away until a run with host passes is over.
    pub(crate) fn reserve(&self, run: &Arc<Outcome>) {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = Some(run.clone());
    }

    /// The run that it is reserved for, unless that is over.
    pub(crate) fn reserved(&self) -> Option<Arc<Outcome>> {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        if reserved.as_ref().is_some_and(|run| run.wait_until_over(Some(Duration::ZERO))) {
            *reserved = None;
        }
        reserved.clone()
    }

    /// The shared block that it lies in, and its first byte there.
    pub(crate) fn block(&self) -> Option<&(Arc<SharedBlock>, u64)> {
        self.block.as_ref()
    }

    /// Who had it last besides this device.
    pub(crate) fn lent(&self) -> MutexGuard<'_, Option<Lent>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Code other than rgraph's gets its handle.
    pub(crate) fn expose(&self) {
        self.exposed.store(true, Ordering::Relaxed);
    }

    /// Whether code other than rgraph's may have used it.
    pub(crate) fn is_exposed(&self) -> bool {
        self.exposed.load(Ordering::Relaxed)
    }
}

impl Drop for PhysicalResource {
    fn drop(&mut self) {
        let views = std::mem::take(self.views.get_mut().unwrap_or_else(PoisonError::into_inner));
        let texels = std::mem::take(self.texel_views.get_mut().unwrap_or_else(PoisonError::into_inner));
        let mut gone: Vec<_> = views.into_values().map(DeferredDeletion::ImageView).collect();
        gone.extend(texels.into_values().map(DeferredDeletion::BufferView));
        gone.extend(self.take_structure());
        if self.owned {
            gone.push(match self.raw {
                Raw::Image(raw) => DeferredDeletion::Image(raw),
                Raw::Buffer(raw) => DeferredDeletion::Buffer(raw),
            });
        }
        if let Some((allocation, domain)) = self.memory.take() {
            gone.push(DeferredDeletion::Memory(allocation, std::mem::take(&mut self.name), domain));
        }
        // The block itself is deleted later behind it, when its last part is gone.
        let own = self.block.as_ref().filter(|_| self.spans);
        gone.extend(own.map(|(block, offset)| DeferredDeletion::Span(block.spans.clone(), *offset)));
        self.shared.defer_deletion(gone);
    }
}

/// The view type of a binding.
pub(crate) fn view_type(dimension: Dimension, arrayed: bool) -> vk::ImageViewType {
    match (dimension, arrayed) {
        (Dimension::D1, false) => vk::ImageViewType::TYPE_1D,
        (Dimension::D1, true) => vk::ImageViewType::TYPE_1D_ARRAY,
        (Dimension::D2, false) => vk::ImageViewType::TYPE_2D,
        (Dimension::D2, true) => vk::ImageViewType::TYPE_2D_ARRAY,
        (Dimension::D3, _) => vk::ImageViewType::TYPE_3D,
        (Dimension::Cube, false) => vk::ImageViewType::CUBE,
        (Dimension::Cube, true) => vk::ImageViewType::CUBE_ARRAY,
    }
}

pub(crate) fn attachment_view_type(layers: [u32; 2]) -> vk::ImageViewType {
    if layers[1] - layers[0] > 1 { vk::ImageViewType::TYPE_2D_ARRAY } else { vk::ImageViewType::TYPE_2D }
}

/// A clear colour in the numbers of a format.
pub(crate) fn clear_color(format: Format, value: [f64; 4]) -> vk::ClearColorValue {
    match format.numbers() {
        Numbers::Uint => vk::ClearColorValue { uint32: value.map(|v| v as u32) },
        Numbers::Sint => vk::ClearColorValue { int32: value.map(|v| v as i32) },
        _ => vk::ClearColorValue { float32: value.map(|v| v as f32) },
    }
}
