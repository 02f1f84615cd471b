//! A driver with other memory types than it has, and with wishes of its own: each of its types is the real driver's
//! that can do what it promises and is most like it.

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
    /// Memory types, on one heap; none: those that the driver has. Images that are transient attachments may have any
    /// of them, everything else those that are not lazily allocated, if it may have the real type behind them.
    pub types: Vec<vk::MemoryPropertyFlags>,
    /// The real types behind them, found when the driver is asked for its own; none: no real type can do as much.
    pub behind: Vec<Option<u32>>,
    /// Whether images are faster in memory of their own; none: as the driver says.
    pub prefers_dedicated: Option<bool>,
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

/// The real type that can do what a pretended one promises, and differs least from it.
fn behind(pretended: vk::MemoryPropertyFlags, real: &[vk::MemoryType]) -> Option<u32> {
    let access = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let able = |has: vk::MemoryPropertyFlags| {
        let alone = pretended == vk::MemoryPropertyFlags::DEVICE_LOCAL;
        has.contains(pretended & access) && (!alone || has.contains(pretended))
    };
    let apart = |has: vk::MemoryPropertyFlags| {
        let differ = has.as_raw() ^ pretended.as_raw();
        // Where memory lies counts more than how the CPU reads it.
        differ.count_ones() + 2 * (differ & vk::MemoryPropertyFlags::DEVICE_LOCAL.as_raw())
    };
    let suits = (0..).zip(real).filter(|(_, one)| able(one.property_flags));
    suits.min_by_key(|(_, one)| apart(one.property_flags)).map(|(at, _)| at)
}

impl Pretended {
    /// The properties that are pretended, in place of the real ones.
    pub fn memory(&mut self, answer: &mut vk::PhysicalDeviceMemoryProperties) {
        if self.types.is_empty() {
            return;
        }
        let real = &answer.memory_types[..answer.memory_type_count as usize];
        self.behind = self.types.iter().map(|flags| behind(*flags, real)).collect();
        answer.memory_type_count = self.types.len() as u32;
        for (at, flags) in self.types.iter().enumerate() {
            answer.memory_types[at] = vk::MemoryType { property_flags: *flags, heap_index: 0 };
        }
    }

    /// Types of what may have those real types; lazily allocated ones are for transient attachments.
    fn bits(&self, transient: bool, real: u32) -> u32 {
        let lazy = vk::MemoryPropertyFlags::LAZILY_ALLOCATED;
        let types = self.types.iter().zip(&self.behind).enumerate();
        types.fold(0, |bits, (at, (flags, behind))| {
            let fits = behind.is_some_and(|behind| real >> behind & 1 == 1);
            if fits && (transient || !flags.contains(lazy)) { bits | 1 << at } else { bits }
        })
    }
}

fn answer(out: &mut vk::MemoryRequirements2<'_>, usage: Option<vk::ImageUsageFlags>) {
    let state = state();
    let pretended = &state.pretended;
    if !pretended.types.is_empty() {
        let transient = usage.is_some_and(|usage| usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT));
        let bits = &mut out.memory_requirements.memory_type_bits;
        *bits = pretended.bits(transient, *bits);
    }
    if usage.is_some() {
        let mut next = out.p_next.cast::<vk::BaseOutStructure<'_>>();
        while !next.is_null() {
            // SAFETY: the caller's chain is made of structures that begin so.
            let one = unsafe { &mut *next };
            if one.s_type == vk::StructureType::MEMORY_DEDICATED_REQUIREMENTS {
                // SAFETY: the type says what it is.
                let dedicated = unsafe { &mut *next.cast::<vk::MemoryDedicatedRequirements<'_>>() };
                if let Some(prefers) = pretended.prefers_dedicated {
                    dedicated.prefers_dedicated_allocation = u32::from(prefers);
                }
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
        let bits = unsafe { &mut (*out).memory_type_bits };
        *bits = state.pretended.bits(false, *bits);
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
            let behind = state.pretended.behind.get(index as usize).copied().flatten();
            asked.memory_type_index = behind.expect("nothing may have a type without a real one");
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
