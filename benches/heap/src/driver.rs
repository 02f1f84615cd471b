//! A Vulkan driver of four functions, so that gpu-allocator runs without a device: memory is a number.

use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::ptr::null;

use ash::vk;
use ash::vk::Handle as _;

thread_local! {
    /// Bytes of each memory object, 0 for one that was freed.
    static MEMORY: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Bytes of all memory objects that live.
pub fn held() -> u64 {
    MEMORY.with_borrow(|memory| memory.iter().sum())
}

/// gpu-allocator on this driver, with blocks of a chunk.
pub fn allocator() -> gpu_allocator::vulkan::Allocator {
    MEMORY.with_borrow_mut(Vec::clear);
    let instance = vk::Instance::from_raw(1);
    // SAFETY: the functions that gpu-allocator calls are those below, with the signatures of the specification; ash
    // panics in all others.
    let (instance, device) = unsafe {
        (ash::Instance::load_with(function, instance), ash::Device::load_with(function, vk::Device::from_raw(1)))
    };
    let mut debug_settings = gpu_allocator::AllocatorDebugSettings::default();
    debug_settings.log_leaks_on_shutdown = false;
    let desc = gpu_allocator::vulkan::AllocatorCreateDesc {
        instance,
        device,
        physical_device: vk::PhysicalDevice::from_raw(1),
        debug_settings,
        buffer_device_address: false,
        allocation_sizes: gpu_allocator::AllocationSizes::new(crate::traces::CHUNK, crate::traces::CHUNK),
    };
    gpu_allocator::vulkan::Allocator::new(&desc).expect("the driver has memory")
}

fn function(name: &CStr) -> *const c_void {
    match name.to_bytes() {
        b"vkGetPhysicalDeviceMemoryProperties" => memory_properties as *const c_void,
        b"vkGetPhysicalDeviceProperties" => properties as *const c_void,
        b"vkAllocateMemory" => allocate as *const c_void,
        b"vkFreeMemory" => free as *const c_void,
        _ => null(),
    }
}

unsafe extern "system" fn memory_properties(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceMemoryProperties) {
    let mut found = vk::PhysicalDeviceMemoryProperties::default();
    (found.memory_type_count, found.memory_heap_count) = (1, 1);
    found.memory_types[0].property_flags = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    found.memory_heaps[0] = vk::MemoryHeap { size: 1 << 40, flags: vk::MemoryHeapFlags::DEVICE_LOCAL };
    // SAFETY: the caller passes room for one, as the specification asks.
    unsafe { out.write(found) };
}

unsafe extern "system" fn properties(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties) {
    let mut found = vk::PhysicalDeviceProperties::default();
    found.limits.buffer_image_granularity = 1;
    // SAFETY: the caller passes room for one, as the specification asks.
    unsafe { out.write(found) };
}

unsafe extern "system" fn allocate(
    _: vk::Device,
    info: *const vk::MemoryAllocateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DeviceMemory,
) -> vk::Result {
    // SAFETY: the caller passes one, as the specification asks.
    let size = unsafe { (*info).allocation_size };
    let index = MEMORY.with_borrow_mut(|memory| {
        let index = memory.iter().position(|&bytes| bytes == 0).unwrap_or(memory.len());
        memory.resize(memory.len().max(index + 1), 0);
        memory[index] = size;
        index as u64
    });
    // SAFETY: the caller passes room for one, as the specification asks.
    unsafe { out.write(vk::DeviceMemory::from_raw(index + 1)) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn free(_: vk::Device, memory: vk::DeviceMemory, _: *const vk::AllocationCallbacks<'_>) {
    MEMORY.with_borrow_mut(|all| all[memory.as_raw() as usize - 1] = 0);
}
