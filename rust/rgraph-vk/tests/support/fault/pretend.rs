//! A driver with other memory types than it has, and with wishes of its own: all its memory is the real driver's type 0.

#![allow(non_snake_case, reason = "functions have their Vulkan names")]

use std::ffi::CStr;
use std::mem::transmute;
use std::sync::atomic::Ordering;

use ash::vk;

use super::calls::{Call, Function, calls, slot};
use super::state;

/// What to pretend; the default pretends nothing.
#[derive(Clone, Default, Debug)]
pub struct Pretended {
    /// Memory types, on one heap; none: those that the driver has. Images that are transient attachments may have any of
    /// them, everything else those that are not lazily allocated.
    pub types: Vec<vk::MemoryPropertyFlags>,
    /// Images are faster in memory of their own.
    pub prefers_dedicated: bool,
    /// Images can have no other memory.
    pub requires_dedicated: bool,
}

/// Memory that was allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocated {
    /// Its pretended type.
    pub index: u32,
    /// Whether it is for one image.
    pub dedicated: bool,
}

/// What the pretended driver was asked.
#[derive(Default, Debug)]
pub struct Asked {
    /// Allocations, in order.
    pub allocated: Vec<Allocated>,
    /// Usages of images, in order.
    pub images: Vec<vk::ImageUsageFlags>,
    /// Offsets and sizes that were flushed or invalidated.
    pub ranges: Vec<[u64; 2]>,
}

impl Pretended {
    /// The properties that are pretended.
    pub fn memory(&self, answer: &mut vk::PhysicalDeviceMemoryProperties) {
        if self.types.is_empty() {
            return;
        }
        answer.memory_type_count = self.types.len() as u32;
        for (at, flags) in self.types.iter().enumerate() {
            answer.memory_types[at] = vk::MemoryType { property_flags: *flags, heap_index: 0 };
        }
    }

    /// Types of what is made with those usages of an image; none for buffers.
    fn bits(&self, transient: bool) -> u32 {
        let lazy = vk::MemoryPropertyFlags::LAZILY_ALLOCATED;
        self.types.iter().enumerate().fold(
            0,
            |bits, (at, flags)| {
                if flags.contains(lazy) && !transient { bits } else { bits | 1 << at }
            },
        )
    }
}

fn answer(out: &mut vk::MemoryRequirements2<'_>, usage: Option<vk::ImageUsageFlags>) {
    let state = state();
    let pretended = &state.pretended;
    if !pretended.types.is_empty() {
        let transient = usage.is_some_and(|usage| usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT));
        out.memory_requirements.memory_type_bits = pretended.bits(transient);
    }
    if usage.is_some() {
        let mut next = out.p_next.cast::<vk::BaseOutStructure<'_>>();
        while !next.is_null() {
            // SAFETY: the caller's chain is made of structures that begin so.
            let one = unsafe { &mut *next };
            if one.s_type == vk::StructureType::MEMORY_DEDICATED_REQUIREMENTS {
                // SAFETY: the type says what it is.
                let dedicated = unsafe { &mut *next.cast::<vk::MemoryDedicatedRequirements<'_>>() };
                dedicated.prefers_dedicated_allocation |= u32::from(pretended.prefers_dedicated);
                dedicated.requires_dedicated_allocation |= u32::from(pretended.requires_dedicated);
            }
            next = one.p_next;
        }
    }
}

unsafe extern "system" fn vkGetDeviceImageMemoryRequirements(
    device: vk::Device,
    info: *const vk::DeviceImageMemoryRequirements<'_>,
    out: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetDeviceImageMemoryRequirements =
        unsafe { transmute(pretended::vkGetDeviceImageMemoryRequirements.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, info, out) };
    // SAFETY: the info and what it points to are valid, as for the real call.
    let usage = unsafe { (*(*info).p_create_info).usage };
    // SAFETY: the real call filled it.
    answer(unsafe { &mut *out }, Some(usage));
}

unsafe extern "system" fn vkGetDeviceBufferMemoryRequirements(
    device: vk::Device,
    info: *const vk::DeviceBufferMemoryRequirements<'_>,
    out: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetDeviceBufferMemoryRequirements =
        unsafe { transmute(pretended::vkGetDeviceBufferMemoryRequirements.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, info, out) };
    // SAFETY: the real call filled it.
    answer(unsafe { &mut *out }, None);
}

unsafe extern "system" fn vkGetImageMemoryRequirements2(
    device: vk::Device,
    info: *const vk::ImageMemoryRequirementsInfo2<'_>,
    out: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetImageMemoryRequirements2 =
        unsafe { transmute(pretended::vkGetImageMemoryRequirements2.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, info, out) };
    let usage = state().asked.images.last().copied().unwrap_or_default();
    // SAFETY: the real call filled it.
    answer(unsafe { &mut *out }, Some(usage));
}

unsafe extern "system" fn vkGetBufferMemoryRequirements2(
    device: vk::Device,
    info: *const vk::BufferMemoryRequirementsInfo2<'_>,
    out: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetBufferMemoryRequirements2 =
        unsafe { transmute(pretended::vkGetBufferMemoryRequirements2.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, info, out) };
    // SAFETY: the real call filled it.
    answer(unsafe { &mut *out }, None);
}

unsafe extern "system" fn vkGetBufferMemoryRequirements(
    device: vk::Device,
    buffer: vk::Buffer,
    out: *mut vk::MemoryRequirements,
) {
    // SAFETY: the loader gave this pointer for this name, whose type is this.
    let real: vk::PFN_vkGetBufferMemoryRequirements =
        unsafe { transmute(pretended::vkGetBufferMemoryRequirements.real()) };
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { real(device, buffer, out) };
    let state = state();
    if !state.pretended.types.is_empty() {
        // SAFETY: the real call filled it.
        unsafe { (*out).memory_type_bits = state.pretended.bits(false) };
    }
}

/// The table's own function of that name, which makes the call fail or keeps the ledger.
macro_rules! inner {
    ($name:ident as $pfn:ident) => {{
        slot::$name.real.store(pretended::$name.real(), Ordering::Release);
        // SAFETY: the table's function has the type of the loader's.
        unsafe { transmute::<Function, vk::$pfn>(slot::$name.wrapper) }
    }};
}

unsafe extern "system" fn vkAllocateMemory(
    device: vk::Device,
    info: *const vk::MemoryAllocateInfo<'_>,
    alloc: *const vk::AllocationCallbacks<'_>,
    memory: *mut vk::DeviceMemory,
) -> vk::Result {
    let inner = inner!(vkAllocateMemory as PFN_vkAllocateMemory);
    // SAFETY: the caller's info is valid, as for the real call.
    let mut asked = unsafe { *info };
    let mut dedicated = false;
    let mut next = asked.p_next.cast::<vk::BaseInStructure<'_>>();
    while !next.is_null() {
        // SAFETY: the caller's chain is made of structures that begin so.
        let one = unsafe { &*next };
        dedicated |= one.s_type == vk::StructureType::MEMORY_DEDICATED_ALLOCATE_INFO;
        next = one.p_next;
    }
    {
        let mut state = state();
        let index = asked.memory_type_index;
        state.asked.allocated.push(Allocated { index, dedicated });
        if !state.pretended.types.is_empty() {
            asked.memory_type_index = 0;
        }
    }
    // SAFETY: the caller's arguments, with a memory type that the driver has.
    unsafe { inner(device, &asked, alloc, memory) }
}

unsafe extern "system" fn vkCreateImage(
    device: vk::Device,
    info: *const vk::ImageCreateInfo<'_>,
    alloc: *const vk::AllocationCallbacks<'_>,
    image: *mut vk::Image,
) -> vk::Result {
    let inner = inner!(vkCreateImage as PFN_vkCreateImage);
    // SAFETY: the caller's info is valid, as for the real call.
    state().asked.images.push(unsafe { (*info).usage });
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { inner(device, info, alloc, image) }
}

fn note_ranges(count: u32, ranges: *const vk::MappedMemoryRange<'_>) {
    // SAFETY: the caller's array has `count` places.
    let ranges = unsafe { std::slice::from_raw_parts(ranges, count as usize) };
    state().asked.ranges.extend(ranges.iter().map(|range| [range.offset, range.size]));
}

unsafe extern "system" fn vkFlushMappedMemoryRanges(
    device: vk::Device,
    count: u32,
    ranges: *const vk::MappedMemoryRange<'_>,
) -> vk::Result {
    let inner = inner!(vkFlushMappedMemoryRanges as PFN_vkFlushMappedMemoryRanges);
    note_ranges(count, ranges);
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { inner(device, count, ranges) }
}

unsafe extern "system" fn vkInvalidateMappedMemoryRanges(
    device: vk::Device,
    count: u32,
    ranges: *const vk::MappedMemoryRange<'_>,
) -> vk::Result {
    let inner = inner!(vkInvalidateMappedMemoryRanges as PFN_vkInvalidateMappedMemoryRanges);
    note_ranges(count, ranges);
    // SAFETY: the caller's arguments are passed on as they are.
    unsafe { inner(device, count, ranges) }
}

calls! { pretended;
    vkGetDeviceImageMemoryRequirements [] vkGetDeviceBufferMemoryRequirements [] vkGetImageMemoryRequirements2 []
    vkGetBufferMemoryRequirements2 [] vkGetBufferMemoryRequirements [] vkAllocateMemory [] vkCreateImage []
    vkFlushMappedMemoryRanges [] vkInvalidateMappedMemoryRanges []
}
