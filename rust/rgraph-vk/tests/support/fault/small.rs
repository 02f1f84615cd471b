//! A driver that says less of itself than it could: little memory, few allocations, coarse granularity, no clock.

use ash::vk;

use super::pretend::Pretended;

/// What to narrow; the default narrows nothing.
#[derive(Clone, Copy, Default, Debug)]
pub struct SmallWorld {
    /// Most allocations of memory alive at once.
    pub allocations: Option<u32>,
    /// Bytes of each heap, of which no more can be allocated over all of them.
    pub heap: Option<u64>,
    /// `bufferImageGranularity` in bytes.
    pub granularity: Option<u64>,
    /// Queues have no timestamps.
    pub timeless: bool,
}

impl SmallWorld {
    /// The error of an allocation of `bytes` after `count` others of `held` bytes in all, if it is too much.
    pub fn refuses(&self, count: usize, held: u64, bytes: u64) -> Option<vk::Result> {
        if self.allocations.is_some_and(|most| count >= most as usize) {
            return Some(vk::Result::ERROR_TOO_MANY_OBJECTS);
        }
        self.heap.filter(|&size| held + bytes > size).map(|_| vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
    }

    /// Narrows an answer of the driver.
    pub fn narrow<T: Narrow + ?Sized>(&self, answer: &mut T) {
        answer.narrow(self);
    }
}

/// An answer of the driver that can be narrowed.
pub trait Narrow {
    /// Narrows it.
    fn narrow(&mut self, to: &SmallWorld);

    /// Puts what is pretended in its place.
    fn pretend(&mut self, _to: &mut Pretended) {}
}

impl Narrow for vk::PhysicalDeviceProperties {
    fn narrow(&mut self, to: &SmallWorld) {
        let limits = &mut self.limits;
        limits.max_memory_allocation_count = to.allocations.unwrap_or(limits.max_memory_allocation_count);
        limits.buffer_image_granularity = to.granularity.unwrap_or(limits.buffer_image_granularity);
        if to.timeless {
            limits.timestamp_compute_and_graphics = vk::FALSE;
        }
    }
}

impl Narrow for vk::PhysicalDeviceProperties2<'_> {
    fn narrow(&mut self, to: &SmallWorld) {
        self.properties.narrow(to);
    }
}

impl Narrow for vk::PhysicalDeviceMemoryProperties {
    fn narrow(&mut self, to: &SmallWorld) {
        for heap in &mut self.memory_heaps[..self.memory_heap_count as usize] {
            heap.size = to.heap.unwrap_or(heap.size);
        }
    }

    fn pretend(&mut self, to: &mut Pretended) {
        to.memory(self);
    }
}

impl Narrow for vk::PhysicalDeviceMemoryProperties2<'_> {
    fn narrow(&mut self, to: &SmallWorld) {
        self.memory_properties.narrow(to);
    }

    fn pretend(&mut self, to: &mut Pretended) {
        self.memory_properties.pretend(to);
    }
}

impl Narrow for [vk::QueueFamilyProperties] {
    fn narrow(&mut self, to: &SmallWorld) {
        if to.timeless {
            self.iter_mut().for_each(|family| family.timestamp_valid_bits = 0);
        }
    }
}

impl Narrow for [vk::QueueFamilyProperties2<'_>] {
    fn narrow(&mut self, to: &SmallWorld) {
        if to.timeless {
            self.iter_mut().for_each(|family| family.queue_family_properties.timestamp_valid_bits = 0);
        }
    }
}
