//! Functions that fit no pattern, and the two that all others are asked for.

#![allow(non_snake_case, reason = "functions have their Vulkan names")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};

use super::calls::{Call, Function, Outcome, calls, gone, slot};
use super::counted::counted;
use super::notes::{freed, settled};
use super::pretend::pretended;
use super::small::Narrow;
use super::{loader, state};

unsafe extern "system" fn vkFreeCommandBuffers(
    device: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    let finished = settled(device.as_raw());
    let outcome = Outcome { result: vk::Result::SUCCESS, real: true };
    // SAFETY: the caller's array has `count` places.
    unsafe { freed(outcome, buffers, count as usize) };
    if finished {
        // SAFETY: the loader gave this pointer for this name, whose type is this.
        let real: vk::PFN_vkFreeCommandBuffers = unsafe { transmute(by_hand::vkFreeCommandBuffers.real()) };
        // SAFETY: the caller's arguments are passed on as they are.
        unsafe { real(device, pool, count, buffers) };
    }
}

unsafe extern "system" fn vkGetDeviceQueue(device: vk::Device, family: u32, index: u32, queue: *mut vk::Queue) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetDeviceQueue = unsafe { transmute(by_hand::vkGetDeviceQueue.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, family, index, queue) };
    // SAFETY: the real call filled it.
    let queue = unsafe { *queue };
    state().ledger.queues.insert(queue.as_raw(), device.as_raw());
}

unsafe extern "system" fn vkGetDeviceQueue2(
    device: vk::Device,
    info: *const vk::DeviceQueueInfo2<'_>,
    queue: *mut vk::Queue,
) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetDeviceQueue2 = unsafe { transmute(by_hand::vkGetDeviceQueue2.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, info, queue) };
    // SAFETY: the real call filled it.
    let queue = unsafe { *queue };
    state().ledger.queues.insert(queue.as_raw(), device.as_raw());
}

/// `name(arguments, out): type;` asks the driver and lets the small world narrow the answer.
macro_rules! narrowed {
    ($($name:ident($device:ident, $out:ident: $type:ty) as $pfn:ident;)*) => {
        $(
            unsafe extern "system" fn $name($device: vk::PhysicalDevice, $out: *mut $type) {
                // SAFETY: the loader gave this pointer for this name, whose type is this.
                let real: vk::$pfn = unsafe { transmute(by_hand::$name.real()) };
                // SAFETY: the caller's arguments are passed on as they are.
                unsafe { real($device, $out) };
                // SAFETY: the real call filled it.
                let answer = unsafe { &mut *$out };
                let mut state = state();
                state.small.narrow(answer);
                answer.pretend(&mut state.pretended);
            }
        )*
    };
}

narrowed! {
    vkGetPhysicalDeviceProperties(device, out: vk::PhysicalDeviceProperties) as PFN_vkGetPhysicalDeviceProperties;
    vkGetPhysicalDeviceProperties2(device, out: vk::PhysicalDeviceProperties2<'_>) as PFN_vkGetPhysicalDeviceProperties2;
    vkGetPhysicalDeviceMemoryProperties(device, out: vk::PhysicalDeviceMemoryProperties)
        as PFN_vkGetPhysicalDeviceMemoryProperties;
    vkGetPhysicalDeviceMemoryProperties2(device, out: vk::PhysicalDeviceMemoryProperties2<'_>)
        as PFN_vkGetPhysicalDeviceMemoryProperties2;
}

unsafe extern "system" fn vkGetPhysicalDeviceQueueFamilyProperties(
    device: vk::PhysicalDevice,
    count: *mut u32,
    families: *mut vk::QueueFamilyProperties,
) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties =
        unsafe { transmute(by_hand::vkGetPhysicalDeviceQueueFamilyProperties.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, count, families) };
    if !families.is_null() {
        // SAFETY: the real call filled so many.
        state().small.narrow(unsafe { std::slice::from_raw_parts_mut(families, *count as usize) });
    }
}

unsafe extern "system" fn vkGetPhysicalDeviceQueueFamilyProperties2(
    device: vk::PhysicalDevice,
    count: *mut u32,
    families: *mut vk::QueueFamilyProperties2<'_>,
) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2 =
        unsafe { transmute(by_hand::vkGetPhysicalDeviceQueueFamilyProperties2.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, count, families) };
    if !families.is_null() {
        // SAFETY: the real call filled so many.
        state().small.narrow(unsafe { std::slice::from_raw_parts_mut(families, *count as usize) });
    }
}

/// Every function of an instance, the table's where it has one.
unsafe extern "system" fn vkGetInstanceProcAddr(
    instance: vk::Instance,
    symbol: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let loader = loader().ok()?.static_fn().get_instance_proc_addr;
    // SAFETY: the caller's arguments are passed on as they are.
    let real = unsafe { loader(instance, symbol) }?;
    // SAFETY: names end with a zero, as for the real call.
    let Some(call) = find(unsafe { CStr::from_ptr(symbol) }) else { return Some(real) };
    call.real.store(real as *mut c_void, Ordering::Release);
    Some(call.wrapper)
}

/// Every function of a device, the table's where it has one. What the table calls is the instance's function of that
/// name: it serves all devices, where a device's own would serve one.
unsafe extern "system" fn vkGetDeviceProcAddr(device: vk::Device, symbol: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let ask: vk::PFN_vkGetDeviceProcAddr = unsafe { transmute(by_hand::vkGetDeviceProcAddr.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    let real = unsafe { ask(device, symbol) }?;
    // SAFETY: names end with a zero, as for the real call.
    let Some(call) = find(unsafe { CStr::from_ptr(symbol) }) else { return Some(real) };
    let instance = state().ledger.instance();
    // SAFETY: the instance is alive: a device is.
    unsafe { vkGetInstanceProcAddr(instance, symbol) }.or(Some(call.wrapper))
}

calls! { by_hand;
    vkGetInstanceProcAddr [] vkGetDeviceProcAddr [] vkFreeCommandBuffers [] vkGetDeviceQueue [] vkGetDeviceQueue2 []
    vkGetPhysicalDeviceProperties [] vkGetPhysicalDeviceProperties2 [] vkGetPhysicalDeviceMemoryProperties []
    vkGetPhysicalDeviceMemoryProperties2 [] vkGetPhysicalDeviceQueueFamilyProperties []
    vkGetPhysicalDeviceQueueFamilyProperties2 []
}

fn find(symbol: &CStr) -> Option<&'static Call> {
    [pretended::ALL, slot::ALL, gone::ALL, counted::ALL, by_hand::ALL]
        .into_iter()
        .flatten()
        .find(|call| call.symbol == symbol)
        .copied()
}

/// An entry whose functions are the table's.
pub fn entry() -> ash::Entry {
    // SAFETY: the table's functions behave as the loader's, which is never closed.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: vkGetInstanceProcAddr }) }
}
