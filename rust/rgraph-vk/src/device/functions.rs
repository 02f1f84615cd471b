//! A device's functions, with the callbacks that its objects are made and destroyed with.

use std::ops::Deref;

use ash::vk;

use super::lend::HostAllocator;

/// Derefs to the functions. A call that makes or destroys something gets [`Functions::host`] as its allocator.
#[derive(Clone)]
pub(crate) struct Functions {
    device: ash::Device,
    host: Option<HostAllocator>,
}

impl Functions {
    pub(crate) fn new(device: ash::Device, host: Option<HostAllocator>) -> Self {
        Self { device, host }
    }

    /// The `pAllocator` of calls; `None`: the driver's own.
    pub(crate) fn host(&self) -> Option<&vk::AllocationCallbacks<'static>> {
        self.host.as_ref().map(HostAllocator::raw)
    }
}

impl Deref for Functions {
    type Target = ash::Device;

    fn deref(&self) -> &ash::Device {
        &self.device
    }
}
