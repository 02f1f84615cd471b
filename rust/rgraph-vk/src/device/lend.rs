//! What an engine lends a device besides queues: memory objects, callbacks for memory of the host, and threads for
//! jobs.
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
//! #     fn object(&self, _: &vk::MemoryAllocateInfo<'_>, _: bool) -> Result<Part, vk::Result> {
//! #         Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
//! #     }
//! #     fn give_back(&self, _: vk::DeviceMemory, _: u64) {}
//! # }
//! # #[derive(Debug)] struct Allocator { heap: Heap }
//! // SAFETY: the heap's parts are aligned, mapped if host-visible, and nobody else's until they are given back.
//! unsafe impl MemorySource for Allocator {
//!     fn allocate(&self, request: &MemoryRequest<'_>) -> Result<LentMemory, vk::Result> {
//!         let MemoryRequest { size, alignment, memory_type, host_visible, image, buffer, .. } = *request;
//!         // The driver wants a memory object that only this image or buffer has.
//!         let mut only = vk::MemoryDedicatedAllocateInfo::default();
//!         only = only.image(image.unwrap_or_default()).buffer(buffer.unwrap_or_default());
//!         let part = if image.is_some() || buffer.is_some() {
//!             let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type);
//!             self.heap.object(&info.push_next(&mut only), host_visible)?
//!         } else {
//!             self.heap.take(size, alignment, memory_type, host_visible)?
//!         };
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
    /// The image that the driver wants dedicated memory for: the object is allocated with a
    /// `VkMemoryDedicatedAllocateInfo` of it, and its offset is 0. Drivers may demand that.
    pub image: Option<vk::Image>,
    /// The buffer that the driver wants dedicated memory for, likewise.
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

/// An engine's allocator of device memory: [`DeviceOptions::memory`](crate::DeviceOptions). Calls come from any thread,
/// one at a time. Shared memory (`Device::shared_memory`) is exported and does not come from here.
///
/// # Safety
/// What [`allocate`](Self::allocate) returns is of the request's memory type, holds `size` bytes from an aligned offset
/// that nothing else uses, is mapped if it is host-visible, and stays so until it is given back. On a device with
/// acceleration structures it is allocated with `VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT`: buffers in it have addresses.
pub unsafe trait MemorySource: Debug + Send + Sync {
    /// Lends memory.
    ///
    /// # Errors
    /// What Vulkan says: `ERROR_OUT_OF_DEVICE_MEMORY` becomes RG-E110, with what is held.
    fn allocate(&self, request: &MemoryRequest<'_>) -> Result<LentMemory, vk::Result>;

    /// Takes it back. The device does not use it any more.
    fn free(&self, lent: LentMemory);
}

/// An engine's allocator of the host's memory, which drivers keep their objects in:
/// [`DeviceOptions::host`](crate::DeviceOptions). Every call that makes or destroys an object of the device passes it
/// on: `vkCreate…`, `vkDestroy…`, `vkAllocateMemory`, `vkFreeMemory`. With it, memory objects do not come from
/// gpu-allocator, which passes none on.
///
/// ```
/// # use std::ffi::c_void;
/// # use ash::vk;
/// # use rgraph_vk::{DeviceOptions, HostAllocator};
/// # unsafe extern "system" fn allocate(_: *mut c_void, _: usize, _: usize, _: vk::SystemAllocationScope) -> *mut c_void {
/// #     std::ptr::null_mut()
/// # }
/// # unsafe extern "system" fn reallocate(
/// #     _: *mut c_void, _: *mut c_void, _: usize, _: usize, _: vk::SystemAllocationScope
/// # ) -> *mut c_void {
/// #     std::ptr::null_mut()
/// # }
/// # unsafe extern "system" fn free(_: *mut c_void, _: *mut c_void) {}
/// # let counts = std::ptr::null_mut();
/// let callbacks = vk::AllocationCallbacks::default()
///     .user_data(counts)
///     .pfn_allocation(Some(allocate))
///     .pfn_reallocation(Some(reallocate))
///     .pfn_free(Some(free));
/// // SAFETY: the functions keep to the specification, and live as long as the process.
/// let options = DeviceOptions { host: Some(unsafe { HostAllocator::new(callbacks) }), ..DeviceOptions::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Copy)]
pub struct HostAllocator(vk::AllocationCallbacks<'static>);

impl HostAllocator {
    /// Callbacks as Vulkan has them: functions and the user data that they get.
    ///
    /// # Safety
    /// The functions do as the specification says ("Host Memory", `VkAllocationCallbacks`), on any thread, and they and
    /// the user data stay valid until the device, everything made of it, and its instance are gone.
    pub unsafe fn new(callbacks: vk::AllocationCallbacks<'static>) -> Self {
        Self(callbacks)
    }

    /// The callbacks.
    pub(crate) fn raw(&self) -> &vk::AllocationCallbacks<'static> {
        &self.0
    }
}

impl Debug for HostAllocator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostAllocator")
    }
}

// SAFETY: the functions may be called on any thread, as their giver says.
unsafe impl Send for HostAllocator {}
// SAFETY: as above; the struct itself is never changed.
unsafe impl Sync for HostAllocator {}

/// An engine's threads: [`DeviceOptions::threads`](crate::DeviceOptions). They record command buffers and call
/// functions of passes, besides the thread that waits for the work.
pub trait JobThreads: Debug + Send + Sync {
    /// Runs a job on some thread, soon or late. Work goes on without it: a job that comes late finds nothing to do. It
    /// must not run inside of this call.
    fn spawn(&self, job: Box<dyn FnOnce() + Send>);

    /// How many threads run jobs at once.
    fn count(&self) -> usize;
}

/// The threads of a device; `None`: rgraph's own.
pub(crate) type Threads = Option<Arc<dyn JobThreads>>;
