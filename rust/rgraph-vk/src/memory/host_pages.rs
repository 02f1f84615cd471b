//! Pages of the host that devices import.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

/// Pages of the host, which live as long as a device has them.
#[derive(Debug)]
pub(crate) struct HostPages {
    pub start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: memory of the process, which no thread owns; only devices access it.
unsafe impl Send for HostPages {}
// SAFETY: as above.
unsafe impl Sync for HostPages {}

impl HostPages {
    /// As many bytes of zeros; `None`: the host has none.
    pub(crate) fn new(bytes: u64, alignment: u64) -> Option<Arc<Self>> {
        let size = usize::try_from(bytes.max(1).next_multiple_of(alignment)).ok()?;
        let layout = Layout::from_size_align(size, alignment as usize).ok()?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Arc::new(Self { start, layout }))
    }

    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        self.layout.size() as u64
    }
}

impl Drop for HostPages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and each device that imported it has freed its memory.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
