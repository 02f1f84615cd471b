//! Memory objects of the driver, made with an engine's callbacks for memory of the host.

use std::ptr::NonNull;

use ash::vk;

use crate::device::functions::Functions;
use crate::device::lend::{LentMemory, MemoryRequest, MemorySource};

/// One memory object per request, mapped as long as it lives.
pub(super) struct Objects(Functions, bool);

impl Objects {
    /// `addresses`: buffers in them have some.
    pub(super) fn new(device: Functions, addresses: bool) -> Self {
        Self(device, addresses)
    }
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Objects")
    }
}

// SAFETY: each object is new, of the type and size that are wanted, mapped from its first byte on if it can be, and
// freed by `free` only.
unsafe impl MemorySource for Objects {
    fn allocate(&self, request: &MemoryRequest<'_>) -> Result<LentMemory, vk::Result> {
        let mut only = vk::MemoryDedicatedAllocateInfo::default()
            .image(request.image.unwrap_or_default())
            .buffer(request.buffer.unwrap_or_default());
        let info =
            vk::MemoryAllocateInfo::default().allocation_size(request.size).memory_type_index(request.memory_type);
        let dedicated = request.image.is_some() || request.buffer.is_some();
        let info = if dedicated { info.push_next(&mut only) } else { info };
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = if self.1 { info.push_next(&mut flags) } else { info };
        // SAFETY: the type is one of the device's, and the size is not zero.
        let memory = unsafe { self.0.allocate_memory(&info, self.0.host()) }?;
        let mut lent = LentMemory { memory, offset: 0, mapped: None };
        if request.host_visible {
            // SAFETY: host-visible, and mapped once.
            match unsafe { self.0.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) } {
                Ok(start) => lent.mapped = NonNull::new(start),
                Err(error) => {
                    self.free(lent);
                    return Err(error);
                }
            }
        }
        Ok(lent)
    }

    fn free(&self, lent: LentMemory) {
        // SAFETY: allocated here, and the device is done with it; freeing unmaps.
        unsafe { self.0.free_memory(lent.memory, self.0.host()) };
    }
}
