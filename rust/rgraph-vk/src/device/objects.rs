//! Semaphores and fences that a device makes, finds by their handles, and takes back from runs that will not happen.

use std::sync::{Arc, Mutex};

use ash::vk;

use crate::device::Device;
use crate::device::fence::Fence;
use crate::device::handles::{OwnedFence, Sharing};
use crate::device::promise::Made;
use crate::device::semaphore::Semaphore;
use crate::error::{Called, Error};
use crate::frame::inputs::Inputs;
use crate::memory::share::BinarySemaphore;

impl Device {
    /// Makes a timeline semaphore.
    ///
    /// # Errors
    /// If the device is closed or lost, or the driver fails.
    pub fn semaphore(&self, value: u64) -> Result<Semaphore, Error> {
        let shared = &self.0;
        shared.check()?;
        let raw = shared.create_timeline(value)?;
        Ok(Semaphore::own(shared, raw, value, Sharing::Private))
    }

    /// Makes a fence for runs to signal: [`Inputs::fence`](crate::Inputs).
    ///
    /// # Errors
    /// If the device is closed or lost, or the driver fails.
    pub fn fence(&self) -> Result<Fence, Error> {
        let shared = &self.0;
        shared.check()?;
        // SAFETY: the device lives.
        let raw = unsafe { shared.raw.create_fence(&vk::FenceCreateInfo::default(), shared.raw.host()) };
        let raw = shared.noted(raw.called("vkCreateFence"))?;
        let owned = Arc::new(OwnedFence {
            shared: shared.clone(),
            raw,
            made: Made::by(shared.address()),
            state: Mutex::default(),
        });
        shared.handles.fences.add(raw, &owned);
        Ok(Fence(owned))
    }

    /// The timeline semaphore of a handle, if it is one of rgraph's on this device that something still has.
    pub fn find_semaphore(&self, handle: vk::Semaphore) -> Option<Semaphore> {
        self.0.handles.timelines.find(handle).map(Semaphore)
    }

    /// The binary semaphore of a handle, as [`Device::find_semaphore`].
    pub fn find_binary_semaphore(&self, handle: vk::Semaphore) -> Option<BinarySemaphore> {
        self.0.handles.binary.find(handle).map(BinarySemaphore)
    }

    /// The fence of a handle, as [`Device::find_semaphore`].
    pub fn find_fence(&self, handle: vk::Fence) -> Option<Fence> {
        self.0.handles.fences.find(handle).map(Fence)
    }

    /// Says that a run with these inputs will not happen: its fence can be given to another run, values of timelines
    /// can be signalled again, and binary semaphores are as before. [`Compiled::run`](crate::Compiled::run) does so
    /// itself, with those that it did not submit, if it fails. Semaphores and fences of others, and those of a run that
    /// was called, stay as they are.
    pub fn withdraw(&self, inputs: &Inputs<'_>) {
        self.0.withdraw_promises(inputs);
    }
}

impl Semaphore {
    /// Whether it is of that device.
    pub fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.0.shared, &device.0)
    }
}
