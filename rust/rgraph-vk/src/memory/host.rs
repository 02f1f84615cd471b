//! Memory of the host that two devices import (`VK_EXT_external_memory_host`): one copies into it, the other out of it,
//! and no CPU copies a byte.
//!
//! Between two H200 it moves 44 GB/s in pieces of 8 to 16 MiB; each device's own staging memory with a copy by the CPU
//! between them moves 8.

use std::sync::Arc;

use ash::{ext, vk};
use rgraph_plan::plan::PlanKind;

use crate::device::Shared;
use crate::error::{Called, Error};
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::host_pages::HostPages;
use crate::memory::requirements::buffer_info;
use crate::memory::usages::Usages;

/// Where the pages begin, and a multiple of their bytes; drivers may want more.
const PAGE: u64 = 4096;
const KIND: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// One device's buffer over all of the pages.
#[derive(Debug)]
struct Side {
    shared: Arc<Shared>,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    pages: Arc<HostPages>,
}

impl Drop for Side {
    fn drop(&mut self) {
        let memory = DeferredDeletion::Host(self.memory, Arc::clone(&self.pages));
        self.shared.defer_deletion([DeferredDeletion::Buffer(self.buffer), memory]);
    }
}

/// Memory of the host that one device fills and another one reads.
#[derive(Debug)]
pub(crate) struct HostMemory {
    from: Side,
    to: Side,
}

impl HostMemory {
    /// Imports as many bytes into both devices; `None` where a driver does not do that.
    ///
    /// # Errors
    /// If a device is lost.
    pub(crate) fn between(from: &Arc<Shared>, to: &Arc<Shared>, bytes: u64) -> Result<Option<Self>, Error> {
        if !(from.enabled.host_memory && to.enabled.host_memory) {
            return Ok(None);
        }
        let alignment = alignment(from).max(alignment(to)).max(PAGE);
        let Some(pages) = HostPages::new(bytes, alignment) else { return Ok(None) };
        let Some(from) = import(from, &pages)? else { return Ok(None) };
        let Some(to) = import(to, &pages)? else { return Ok(None) };
        Ok(Some(Self { from, to }))
    }

    /// The buffer of the device that fills it.
    pub(crate) fn source(&self) -> vk::Buffer {
        self.from.buffer
    }

    /// The buffer of the device that reads it.
    pub(crate) fn target(&self) -> vk::Buffer {
        self.to.buffer
    }
}

/// Multiple of addresses and bytes that a device imports.
fn alignment(shared: &Shared) -> u64 {
    let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut host);
    // SAFETY: the device has the extension, so it knows the struct.
    unsafe { shared.context.raw().get_physical_device_properties2(shared.physical, &mut properties) };
    host.min_imported_host_pointer_alignment
}

/// A buffer over the pages; `None` if the driver refuses them.
fn import(shared: &Arc<Shared>, pages: &Arc<HostPages>) -> Result<Option<Side>, Error> {
    let usages = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let usages = Usages { buffer: usages, ..Usages::default() };
    let families = shared.families();
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(KIND);
    let info = buffer_info(PlanKind::Buffer { size: pages.size() }, usages, families.len() > 1, &families);
    let info = info.push_next(&mut external);
    // SAFETY: the size is not zero; transfers are for every buffer.
    let buffer =
        shared.noted(unsafe { shared.raw.create_buffer(&info, shared.raw.host()) }.called("vkCreateBuffer"))?;
    let refused = || {
        shared.defer_deletion([DeferredDeletion::Buffer(buffer)]);
        Ok(None)
    };
    // SAFETY: the buffer was just made.
    let needs = unsafe { shared.raw.get_buffer_memory_requirements(buffer) };
    let device = ext::external_memory_host::Device::new(shared.context.raw(), &shared.raw);
    let (start, mut about) = (pages.start.as_ptr().cast(), vk::MemoryHostPointerPropertiesEXT::default());
    // SAFETY: the pages are memory of this process, aligned as the device says.
    let asked =
        unsafe { (device.fp().get_memory_host_pointer_properties_ext)(shared.raw.handle(), KIND, start, &mut about) };
    // SAFETY: the physical device is of this instance.
    let types = unsafe { shared.context.raw().get_physical_device_memory_properties(shared.physical) };
    let coherent = |index: &u32| {
        let fits = (about.memory_type_bits & needs.memory_type_bits) & (1 << index) != 0;
        let flags = types.memory_types[*index as usize].property_flags;
        fits && flags.contains(vk::MemoryPropertyFlags::HOST_COHERENT)
    };
    let index = (0..types.memory_type_count).find(coherent);
    let (Ok(()), Some(index), true) = (asked.result(), index, needs.size <= pages.size()) else { return refused() };
    let mut from = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(KIND);
    from.p_host_pointer = start;
    let info = vk::MemoryAllocateInfo::default().allocation_size(pages.size()).memory_type_index(index);
    let info = info.push_next(&mut from);
    let made = {
        let _shared = crate::device::driver::shared();
        // SAFETY: the pages are that large, aligned, and outlive the memory: its deletion holds them.
        unsafe { shared.raw.allocate_memory(&info, shared.raw.host()) }
    };
    let Ok(memory) = made else { return refused() };
    let side = Side { shared: Arc::clone(shared), buffer, memory, pages: Arc::clone(pages) };
    // SAFETY: the type was asked from the driver, and the memory is large enough; bound once.
    let bound = unsafe { shared.raw.bind_buffer_memory(buffer, memory, 0) };
    shared.noted(bound.called("vkBindBufferMemory"))?;
    Ok(Some(side))
}
