//! Page-locked memory of the host for the caller: what lies in it is copied by the device alone, at the rate of the
//! link.

use std::sync::Arc;

use crate::device::Device;
use crate::error::Error;
use crate::memory::staging::Block;

/// Page-locked memory that the host reads and writes through its caches, aligned to 64 bytes. It stays mapped as long
/// as this lives, after the device was closed too.
#[derive(Debug)]
pub struct Locked {
    block: Arc<Block>,
    bytes: usize,
}

impl Device {
    /// Makes page-locked memory of `bytes` bytes, which hold anything. Transfers from and to slices of it need no copy
    /// by the CPU. It costs the system what it costs to keep that much memory from being paged.
    ///
    /// # Errors
    /// If the device is closed, or the host has no such memory left.
    pub fn locked(&self, bytes: usize) -> Result<Locked, Error> {
        self.0.check()?;
        let block = self.0.lend_locked(bytes.max(1) as u64)?;
        Ok(Locked { block, bytes })
    }
}

impl Locked {
    /// Its first byte; `len` bytes from there on are the caller's.
    pub fn as_ptr(&self) -> *mut u8 {
        self.block.start().as_ptr()
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// What it holds.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the block is borrowed, stays mapped and is that large; transfers into it hold it exclusively.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.bytes) }
    }

    /// What it holds, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; nothing else has a slice of it.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.bytes) }
    }
}
