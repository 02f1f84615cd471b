//! Deferred deletion: Vulkan objects that are not needed any more, until no queue uses them.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use crate::device::functions::Functions;
use crate::memory::host_pages::HostPages;
use crate::memory::share::spans::Spans;
use crate::memory::{Allocation, Domain, Memory};

/// How long the signal of a fence may come behind that of the semaphores of its submit.
const FENCE_NANOSECONDS: u64 = 1_000_000_000;

/// An object to be destroyed.
#[derive(Debug)]
pub(crate) enum DeferredDeletion {
    Image(vk::Image),
    ImageView(vk::ImageView),
    BufferView(vk::BufferView),
    Buffer(vk::Buffer),
    /// An acceleration structure, and the function that destroys it.
    Structure(vk::AccelerationStructureKHR, vk::PFN_vkDestroyAccelerationStructureKHR),
    Memory(Allocation, String, Domain),
    /// A shared block: its name, and its bytes where they count as this device's.
    Shared(vk::DeviceMemory, String, u64),
    /// Memory of the host that was imported; its pages go when no device has them.
    Host(vk::DeviceMemory, Arc<HostPages>),
    /// Bytes of a shared block, by the first one.
    Span(Arc<Mutex<Spans>>, u64),
    CommandPool(vk::CommandPool),
    DescriptorPool(vk::DescriptorPool),
    QueryPool(vk::QueryPool),
    Event(vk::Event),
    Semaphore(vk::Semaphore),
    /// A fence, and whether a submitted run signals it.
    Fence {
        raw: vk::Fence,
        submitted: bool,
    },
    RenderPass(vk::RenderPass),
    Framebuffer(vk::Framebuffer),
    Pipeline(vk::Pipeline),
}

impl DeferredDeletion {
    /// Destroys it; nothing on the device may use it any more.
    pub(crate) fn destroy(self, device: &Functions, memory: Option<&mut Memory>) {
        // SAFETY, for all of them: made of this device, and the deletion queue has waited until no queue uses them.
        match self {
            // SAFETY: see above.
            Self::Image(raw) => unsafe { device.destroy_image(raw, device.host()) },
            // SAFETY: see above.
            Self::ImageView(raw) => unsafe { device.destroy_image_view(raw, device.host()) },
            // SAFETY: see above.
            Self::BufferView(raw) => unsafe { device.destroy_buffer_view(raw, device.host()) },
            // SAFETY: see above.
            Self::Buffer(raw) => unsafe { device.destroy_buffer(raw, device.host()) },
            // SAFETY: see above; the function is the device's.
            Self::Structure(raw, destroy) => unsafe {
                destroy(device.handle(), raw, device.host().map_or(std::ptr::null(), std::ptr::from_ref));
            },
            Self::Memory(allocation, name, domain) => {
                if let Some(memory) = memory {
                    memory.free(allocation, &name, domain);
                }
            }
            Self::Shared(raw, name, bytes) => {
                // SAFETY: see above; what lay in it was given up before.
                unsafe { device.free_memory(raw, device.host()) };
                if let Some(memory) = memory {
                    memory.uncount_shared(&name, bytes);
                }
            }
            Self::Host(raw, pages) => {
                // SAFETY: see above; what lay in it was given up before, and the pages are still there.
                unsafe { device.free_memory(raw, device.host()) };
                drop(pages);
            }
            Self::Span(spans, first) => spans.lock().unwrap_or_else(PoisonError::into_inner).free(first),
            // SAFETY: see above.
            Self::CommandPool(raw) => unsafe { device.destroy_command_pool(raw, device.host()) },
            // SAFETY: see above.
            Self::DescriptorPool(raw) => unsafe { device.destroy_descriptor_pool(raw, device.host()) },
            // SAFETY: see above.
            Self::QueryPool(raw) => unsafe { device.destroy_query_pool(raw, device.host()) },
            // SAFETY: see above.
            Self::Event(raw) => unsafe { device.destroy_event(raw, device.host()) },
            // SAFETY: see above.
            Self::Semaphore(raw) => unsafe { device.destroy_semaphore(raw, device.host()) },
            // SAFETY: see above. The device signals a fence behind the semaphores of its submit, which the queue waited
            // for, so the wait ends at once; if it fails, the device is lost.
            Self::Fence { raw, submitted } => unsafe {
                if submitted {
                    let _ = device.wait_for_fences(&[raw], true, FENCE_NANOSECONDS);
                }
                device.destroy_fence(raw, device.host());
            },
            // SAFETY: see above.
            Self::RenderPass(raw) => unsafe { device.destroy_render_pass(raw, device.host()) },
            // SAFETY: see above.
            Self::Framebuffer(raw) => unsafe { device.destroy_framebuffer(raw, device.host()) },
            // SAFETY: see above.
            Self::Pipeline(raw) => unsafe { device.destroy_pipeline(raw, device.host()) },
        }
    }
}

/// Objects that wait for queues, oldest first.
#[derive(Debug, Default)]
pub(crate) struct DeletionQueue {
    waiting: Vec<(Box<[u64]>, DeferredDeletion)>,
}

impl DeletionQueue {
    /// Keeps things until every queue has reached its value.
    pub(crate) fn add(&mut self, values: Box<[u64]>, things: impl IntoIterator<Item = DeferredDeletion>) {
        self.waiting.extend(things.into_iter().map(|deferred| (values.clone(), deferred)));
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What no queue uses any more, in the order it was given up.
    pub(crate) fn take(&mut self, reached: &[u64]) -> Vec<DeferredDeletion> {
        let over = |values: &[u64]| values.iter().zip(reached).all(|(value, reached)| value <= reached);
        let mut dead = Vec::new();
        for (values, deferred) in std::mem::take(&mut self.waiting) {
            if over(&values) {
                dead.push(deferred);
            } else {
                self.waiting.push((values, deferred));
            }
        }
        dead
    }

    /// Everything.
    pub(crate) fn take_all(&mut self) -> Vec<DeferredDeletion> {
        std::mem::take(&mut self.waiting).into_iter().map(|(_, deferred)| deferred).collect()
    }
}
