//! What an engine lends a device besides queues: memory objects, and threads for jobs.
//!
//! ```
//! # use ash::vk;
//! # use rgraph_vk::{LentMemory, MemoryRequest, MemorySource};
//! # #[derive(Debug)] struct Heap;
//! # struct Part { memory: vk::DeviceMemory, offset: u64, mapped: Option<std::ptr::NonNull<std::ffi::c_void>> }
//! # impl Heap {
//! #     fn take(&self, _: u64, _: u64, _: u32, _: bool) -> Result<Part, vk::Result> {
//! #         Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
//! #     }
//! #     fn give_back(&self, _: vk::DeviceMemory, _: u64) {}
//! # }
//! # #[derive(Debug)] struct Allocator { heap: Heap }
//! // SAFETY: the heap's parts are aligned, mapped if host-visible, and nobody else's until they are given back.
//! unsafe impl MemorySource for Allocator {
//!     fn allocate(&self, request: &MemoryRequest<'_>) -> Result<LentMemory, vk::Result> {
//!         let MemoryRequest { size, alignment, memory_type, host_visible, .. } = *request;
//!         let part = self.heap.take(size, alignment, memory_type, host_visible)?;
//!         Ok(LentMemory { memory: part.memory, offset: part.offset, mapped: part.mapped })
//!     }
//!
//!     fn free(&self, lent: LentMemory) {
//!         self.heap.give_back(lent.memory, lent.offset);
//!     }
//! }
//! ```

use std::ffi::c_void;
use std::fmt::Debug;
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

/// Device memory that rgraph wants. It splits what it gets itself: a request is one chunk of up to 64 MiB, or all of a
/// larger resource.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MemoryRequest<'a> {
    /// Who wants it first, for reports.
    pub name: &'a str,
    /// Bytes.
    pub size: u64,
    /// Alignment of the first byte; a power of two.
    pub alignment: u64,
    /// Index of the memory type.
    pub memory_type: u32,
    /// Whether the memory type is host-visible: it then comes mapped.
    pub host_visible: bool,
    /// The image that the driver wants dedicated memory for (`VkMemoryDedicatedAllocateInfo`).
    pub image: Option<vk::Image>,
    /// The buffer that the driver wants dedicated memory for.
    pub buffer: Option<vk::Buffer>,
}

/// Memory that an engine lends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LentMemory {
    /// The memory object.
    pub memory: vk::DeviceMemory,
    /// First byte in it.
    pub offset: u64,
    /// Where that byte is mapped; `None` if the memory type is not host-visible.
    pub mapped: Option<NonNull<c_void>>,
}

// SAFETY: a pointer into memory that stays mapped until it is given back; no thread owns it.
unsafe impl Send for LentMemory {}
// SAFETY: as above; rgraph orders access to the bytes.
unsafe impl Sync for LentMemory {}

/// An engine's allocator of device memory: [`DeviceOptions::memory`](crate::DeviceOptions). Calls come from any thread, one
/// at a time. Shared memory (`Device::shared_memory`) is exported and does not come from here.
///
/// # Safety
/// What [`allocate`](Self::allocate) returns is of the request's memory type, holds `size` bytes from an aligned offset
/// that nothing else uses, is mapped if it is host-visible, and stays so until it is given back.
pub unsafe trait MemorySource: Debug + Send + Sync {
    /// Lends memory.
    ///
    /// # Errors
    /// What Vulkan says: `ERROR_OUT_OF_DEVICE_MEMORY` becomes RG-E110, with what is held.
    fn allocate(&self, request: &MemoryRequest<'_>) -> Result<LentMemory, vk::Result>;

    /// Takes it back. The device does not use it any more.
    fn free(&self, lent: LentMemory);
}

/// An engine's threads: [`DeviceOptions::threads`](crate::DeviceOptions). They record command buffers and call functions of
/// passes, besides the thread that waits for the work.
pub trait JobThreads: Debug + Send + Sync {
    /// Runs a job on some thread, soon or late. Work goes on without it: a job that comes late finds nothing to do. It
    /// must not run inside of this call.
    fn spawn(&self, job: Box<dyn FnOnce() + Send>);

    /// How many threads run jobs at once.
    fn count(&self) -> usize;
}

/// The threads of a device; `None`: rgraph's own.
pub(crate) type Threads = Option<Arc<dyn JobThreads>>;
