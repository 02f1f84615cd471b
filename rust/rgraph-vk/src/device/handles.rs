//! Semaphores and fences of a device by their Vulkan handles: a handle that comes back from foreign code is the object that
//! it is of, with all that is known of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ash::vk::{self, Handle};

use crate::device::fence::{self, Fence};
use crate::device::semaphore::{self, Semaphore};
use crate::device::{Device, Shared};
use crate::memory::share::binary::{self, BinarySemaphore};

/// Objects of one kind by handle, while something has them.
#[derive(Debug)]
pub(crate) struct Known<T>(Mutex<HashMap<u64, Weak<T>>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Known<T> {
    /// An object that was made. Its handle may be one that a destroyed object had.
    pub fn add(&self, handle: impl Handle, of: &Arc<T>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Before the table grows only, so that many objects cost no sweep each.
        if all.len() == all.capacity() {
            all.retain(|_, of| of.strong_count() > 0);
        }
        all.insert(handle.as_raw(), Arc::downgrade(of));
    }

    /// Those that something has.
    fn all(&self) -> Vec<Arc<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().filter_map(Weak::upgrade).collect()
    }

    /// Whether none was made, or all made so far were found to be gone.
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub fn find(&self, handle: impl Handle) -> Option<Arc<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&handle.as_raw())?.upgrade()
    }
}

/// All of a device.
#[derive(Default)]
pub(crate) struct Handles {
    pub timelines: Known<semaphore::Owned>,
    pub binary: Known<binary::Owned>,
    pub fences: Known<fence::Owned>,
}

impl Shared {
    /// Values that submitted runs wait for and that nobody signalled or submitted a signal for, with their timelines.
    pub(crate) fn open_waits(&self) -> Vec<(Arc<semaphore::Owned>, u64)> {
        let waits = |timeline: Arc<semaphore::Owned>| timeline.open_wait().map(|value| (timeline, value));
        self.handles.timelines.all().into_iter().filter_map(waits).collect()
    }
}

impl Device {
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
}
