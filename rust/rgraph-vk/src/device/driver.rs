//! One lock of the process, for calls that drivers cannot do at the same time although Vulkan permits it.
//!
//! NVIDIA's driver (580.159 on Linux) locks up inside when one thread destroys a device while another frees objects of
//! another device. Devices and instances therefore come and go alone; frees and allocations of memory share the lock.
//! Neither happens in a steady frame.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::device::library::Loaded;
use crate::device::process::PerProcess;

static LOCK: PerProcess<RwLock<()>> = PerProcess::new(RwLock::default);

/// The lock, together with others that free or allocate memory.
pub(crate) fn shared() -> RwLockReadGuard<'static, ()> {
    LOCK.get().read().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps others out as long as it lives. Libraries that were loaded meanwhile stay in the process.
#[derive(Debug)]
pub(crate) struct Alone {
    before: Loaded,
    _lock: RwLockWriteGuard<'static, ()>,
}

/// The lock without others: for devices and instances that come or go.
pub(crate) fn alone() -> Alone {
    let lock = LOCK.get().write().unwrap_or_else(PoisonError::into_inner);
    Alone { before: Loaded::now(), _lock: lock }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.before.keep_later_ones();
    }
}
