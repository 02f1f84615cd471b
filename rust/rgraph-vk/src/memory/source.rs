//! Where blocks of memory come from: gpu-allocator, the driver itself, or an engine that lends them.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings, MemoryLocation};

use super::objects::Objects;
use super::{LEAST, Want};
use crate::device::functions::Functions;
use crate::device::lend::{LentMemory, MemoryRequest, MemorySource};
use crate::error::{Code, DeviceError, Error};

/// A memory object, or a part of one of an engine's.
#[derive(Debug)]
pub(super) enum Block {
    Own(Allocation),
    Lent(LentMemory, u64),
}

impl Block {
    pub(super) fn memory(&self) -> vk::DeviceMemory {
        match self {
            // SAFETY: the memory object is freed with the block, which nobody has then.
            Self::Own(block) => unsafe { block.memory() },
            Self::Lent(lent, _) => lent.memory,
        }
    }

    pub(super) fn offset(&self) -> u64 {
        match self {
            Self::Own(block) => block.offset(),
            Self::Lent(lent, _) => lent.offset,
        }
    }

    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Own(block) => block.size(),
            Self::Lent(_, size) => *size,
        }
    }

    pub(super) fn mapped_ptr(&self) -> Option<NonNull<c_void>> {
        match self {
            Self::Own(block) => block.mapped_ptr(),
            Self::Lent(lent, _) => lent.mapped,
        }
    }
}

pub(super) enum Source {
    Own(Box<Allocator>),
    Engine {
        source: Arc<dyn MemorySource>,
        /// What reports call it.
        name: &'static str,
        /// What is lent now, by memory object and offset.
        lent: HashMap<(vk::DeviceMemory, u64), LentMemory>,
    },
}

impl Source {
    pub(super) fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &Functions,
        buffer_device_address: bool,
        lent: Option<Arc<dyn MemorySource>>,
    ) -> Result<Self, Error> {
        if let Some(source) = lent {
            return Ok(Self::Engine { source, name: "the engine's memory source", lent: HashMap::new() });
        }
        if device.host().is_some() {
            let source = Arc::new(Objects::new(device.clone(), buffer_device_address));
            return Ok(Self::Engine { source, name: "vkAllocateMemory", lent: HashMap::new() });
        }
        let mut debug_settings = AllocatorDebugSettings::default();
        debug_settings.log_leaks_on_shutdown = false;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: ash::Device::clone(device),
            physical_device,
            debug_settings,
            buffer_device_address,
            // The least: whatever we ask for is above it, so that every chunk is a memory object, returned when freed.
            allocation_sizes: AllocationSizes::new(LEAST, LEAST),
        });
        let failed = |error| DeviceError::new(Code::Failed, format!("gpu-allocator: {error}"), "");
        Ok(Self::Own(Box::new(allocator.map_err(failed)?)))
    }

    /// A block. The requirements name one memory type.
    pub(super) fn allocate(
        &mut self,
        want: Want<'_>,
        requirements: vk::MemoryRequirements,
        allocation_scheme: AllocationScheme,
        host_visible: bool,
    ) -> Result<Block, AllocationError> {
        let (source, name, lent) = match self {
            Self::Own(allocator) => {
                let block = allocator.allocate(&AllocationCreateDesc {
                    name: want.name,
                    requirements,
                    location: MemoryLocation::Unknown,
                    linear: want.linear,
                    allocation_scheme,
                })?;
                return Ok(Block::Own(block));
            }
            Self::Engine { source, name, lent } => (source, *name, lent),
        };
        let (image, buffer) = match allocation_scheme {
            AllocationScheme::DedicatedImage(image) => (Some(image), None),
            AllocationScheme::DedicatedBuffer(buffer) => (None, Some(buffer)),
            AllocationScheme::GpuAllocatorManaged => (None, None),
        };
        let vk::MemoryRequirements { size, alignment, memory_type_bits } = requirements;
        let memory_type = memory_type_bits.trailing_zeros();
        let request = MemoryRequest { name: want.name, size, alignment, memory_type, host_visible, image, buffer };
        let got = source.allocate(&request).map_err(|result| match result {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                AllocationError::OutOfMemory
            }
            other => AllocationError::Internal(format!("{name} returned {other:?}")),
        })?;
        let wrong = match () {
            () if got.memory == vk::DeviceMemory::null() => Some("no memory object".to_owned()),
            () if !got.offset.is_multiple_of(alignment.max(1)) => {
                Some(format!("offset {}, which is no multiple of {alignment}", got.offset))
            }
            () if host_visible && got.mapped.is_none() => Some("host-visible memory that is not mapped".to_owned()),
            () if lent.contains_key(&(got.memory, got.offset)) => Some("memory that it lends already".to_owned()),
            () => None,
        };
        if let Some(wrong) = wrong {
            if !lent.contains_key(&(got.memory, got.offset)) {
                source.free(got);
            }
            return Err(AllocationError::Internal(format!("{name} returned {wrong}")));
        }
        lent.insert((got.memory, got.offset), got);
        Ok(Block::Lent(got, size))
    }

    pub(super) fn free(&mut self, block: Block) {
        match (self, block) {
            (Self::Own(allocator), Block::Own(block)) => {
                if let Err(error) = allocator.free(block) {
                    log::error!(target: "rgraph", "gpu-allocator: {error}");
                }
            }
            (Self::Engine { source, lent, .. }, Block::Lent(got, _)) => {
                lent.remove(&(got.memory, got.offset));
                source.free(got);
            }
            (Self::Own(_), Block::Lent(..)) | (Self::Engine { .. }, Block::Own(_)) => {
                unreachable!("a block goes back to where it came from")
            }
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // gpu-allocator frees the rest by itself.
        if let Self::Engine { source, lent, .. } = self {
            lent.drain().for_each(|(_, got)| source.free(got));
        }
    }
}
