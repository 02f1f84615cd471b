//! The allocators under one interface. Each is driven as its documentation says; differences are noted there.

use std::convert::Infallible;

use ash::vk;
use ash::vk::Handle as _;
use rgraph_plan::heap::{Heap, Range};

use crate::driver;
use crate::traces::CHUNK;

/// Bytes that every range is aligned to.
const ALIGN: u64 = 256;
/// Bytes of the one block of allocators that do not manage blocks.
const ARENA: u64 = 64 << 30;

/// An allocator of offsets.
pub trait Peer {
    /// What freeing needs.
    type Range;
    /// What the tables call it.
    const NAME: &'static str;
    /// So slow that it gets only the first twentieth of the operations, once.
    const IS_SLOW: bool = false;
    /// An allocator that holds nothing.
    fn new() -> Self;
    /// A range of `size` bytes.
    fn allocate(&mut self, size: u64) -> Self::Range;
    /// Ends a range.
    fn free(&mut self, range: Self::Range);
    /// Where a range begins: chunks one after the other.
    fn start(range: &Self::Range) -> u64;
    /// Bytes of the blocks held; `None` where the chunks touched are to be counted.
    fn held(&self) -> Option<u64>;
}

/// This repository's.
pub struct Ours(Heap);

impl Peer for Ours {
    type Range = Range;
    const NAME: &'static str = "rgraph heap";

    fn new() -> Self {
        Self(Heap::new(CHUNK, 0))
    }

    #[inline]
    fn allocate(&mut self, size: u64) -> Range {
        let Ok(range) = self.0.allocate(size, ALIGN, |_| Ok::<_, Infallible>(()));
        range.expect("a size below a chunk's")
    }

    #[inline]
    fn free(&mut self, range: Range) {
        self.0.free(range).expect("a live range");
    }

    fn start(range: &Range) -> u64 {
        u64::from(range.chunk()) * CHUNK + range.offset()
    }

    fn held(&self) -> Option<u64> {
        Some(self.0.held())
    }
}

/// The crate offset-allocator, one arena in units of 256 bytes: its offsets have 32 bits.
pub struct OffsetAllocator(offset_allocator::Allocator<u32>);

impl Peer for OffsetAllocator {
    type Range = offset_allocator::Allocation<u32>;
    const NAME: &'static str = "offset-allocator 0.2, one arena";

    fn new() -> Self {
        Self(offset_allocator::Allocator::with_max_allocs((ARENA / ALIGN) as u32, 1 << 18))
    }

    #[inline]
    fn allocate(&mut self, size: u64) -> Self::Range {
        self.0.allocate(size.div_ceil(ALIGN) as u32).expect("the arena is large enough")
    }

    #[inline]
    fn free(&mut self, range: Self::Range) {
        self.0.free(range);
    }

    fn start(range: &Self::Range) -> u64 {
        u64::from(range.offset) * ALIGN
    }

    fn held(&self) -> Option<u64> {
        None
    }
}

/// VMA's virtual block (TLSF), one arena; its default strategy.
pub struct Vma(vk_mem::VirtualBlock);

impl Vma {
    fn of(size: u64) -> Self {
        let info = vk_mem::VirtualBlockCreateInfo {
            size,
            flags: vk_mem::VirtualBlockCreateFlags::empty(),
            allocation_callbacks: None,
        };
        Self(vk_mem::VirtualBlock::new(info).expect("no device is needed"))
    }

    #[inline]
    fn find(&mut self, size: u64) -> Option<(vk_mem::VirtualAllocation, u64)> {
        let info = vk_mem::VirtualAllocationCreateInfo {
            size,
            alignment: ALIGN,
            user_data: 0,
            flags: vk_mem::VirtualAllocationCreateFlags::empty(),
        };
        // SAFETY: the block lives as long as `self`; nothing else uses it.
        unsafe { self.0.allocate(info) }.ok()
    }
}

impl Peer for Vma {
    type Range = (vk_mem::VirtualAllocation, u64);
    const NAME: &'static str = "vk-mem 0.5 (VMA virtual block), one arena";

    fn new() -> Self {
        Self::of(ARENA)
    }

    #[inline]
    fn allocate(&mut self, size: u64) -> Self::Range {
        self.find(size).expect("the arena is large enough")
    }

    #[inline]
    fn free(&mut self, mut range: Self::Range) {
        // SAFETY: the range is of this block and is freed once.
        unsafe { self.0.free(&mut range.0) };
    }

    fn start(range: &Self::Range) -> u64 {
        range.1
    }

    fn held(&self) -> Option<u64> {
        None
    }
}

impl Drop for Vma {
    fn drop(&mut self) {
        // SAFETY: no range of the block is used after this.
        unsafe { self.0.clear() };
    }
}

/// VMA's virtual blocks of a chunk each, the first that has room, as VMA itself goes through its blocks.
pub struct VmaBlocks(Vec<(Vma, u32)>);

impl Peer for VmaBlocks {
    type Range = (vk_mem::VirtualAllocation, u64);
    const NAME: &'static str = "vk-mem 0.5, a virtual block for each chunk";

    fn new() -> Self {
        Self(Vec::new())
    }

    fn allocate(&mut self, size: u64) -> Self::Range {
        let found = self.0.iter_mut().enumerate().find_map(|(i, (block, _))| Some((i, block.find(size)?)));
        let (index, (allocation, offset)) = found.unwrap_or_else(|| {
            let mut block = Vma::of(CHUNK);
            let range = block.find(size).expect("a size below a chunk's");
            self.0.push((block, 0));
            (self.0.len() - 1, range)
        });
        self.0[index].1 += 1;
        (allocation, index as u64 * CHUNK + offset)
    }

    fn free(&mut self, range: Self::Range) {
        let (block, live) = &mut self.0[(range.1 / CHUNK) as usize];
        block.free(range);
        *live -= 1;
    }

    fn start(range: &Self::Range) -> u64 {
        range.1
    }

    fn held(&self) -> Option<u64> {
        Some(self.0.iter().filter(|(_, live)| *live > 0).count() as u64 * CHUNK)
    }
}

/// The crate gpu-allocator with blocks of a chunk, on a driver that only counts.
pub struct GpuAllocator(gpu_allocator::vulkan::Allocator);

impl Peer for GpuAllocator {
    type Range = gpu_allocator::vulkan::Allocation;
    const NAME: &'static str = "gpu-allocator 0.28";
    const IS_SLOW: bool = true;

    fn new() -> Self {
        Self(driver::allocator())
    }

    #[inline]
    fn allocate(&mut self, size: u64) -> Self::Range {
        let desc = gpu_allocator::vulkan::AllocationCreateDesc {
            name: "",
            requirements: vk::MemoryRequirements { size, alignment: ALIGN, memory_type_bits: 1 },
            location: gpu_allocator::MemoryLocation::GpuOnly,
            linear: true,
            allocation_scheme: gpu_allocator::vulkan::AllocationScheme::GpuAllocatorManaged,
        };
        self.0.allocate(&desc).expect("memory without end")
    }

    #[inline]
    fn free(&mut self, range: Self::Range) {
        self.0.free(range).expect("a live range");
    }

    fn start(range: &Self::Range) -> u64 {
        // SAFETY: the handle is read only; the driver made it of an index.
        let memory = unsafe { range.memory() }.as_raw();
        (memory - 1) * CHUNK + range.offset()
    }

    fn held(&self) -> Option<u64> {
        Some(driver::held())
    }
}

/// The crate range-alloc (linear best fit), one arena.
pub struct RangeAlloc(range_alloc::RangeAllocator<u64>);

impl Peer for RangeAlloc {
    type Range = std::ops::Range<u64>;
    const NAME: &'static str = "range-alloc 0.1, one arena";
    const IS_SLOW: bool = true;

    fn new() -> Self {
        Self(range_alloc::RangeAllocator::new(0..ARENA))
    }

    #[inline]
    fn allocate(&mut self, size: u64) -> Self::Range {
        self.0.allocate_range(size.next_multiple_of(ALIGN)).expect("the arena is large enough")
    }

    #[inline]
    fn free(&mut self, range: Self::Range) {
        self.0.free_range(range);
    }

    fn start(range: &Self::Range) -> u64 {
        range.start
    }

    fn held(&self) -> Option<u64> {
        None
    }
}
