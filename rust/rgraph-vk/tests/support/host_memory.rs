//! An engine's callbacks for memory of the host, which count what they give and what comes back.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use ash::vk;
use rgraph_vk::HostAllocator;

/// What stands before each allocation: its layout with these bytes.
const HEADER: usize = size_of::<[usize; 3]>();

/// What was given so far.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    /// Allocations, and again when they grow.
    pub calls: usize,
    /// Allocations that did not come back.
    pub held: usize,
    /// Their bytes.
    pub bytes: usize,
    /// How many of the coming allocations are still made; the others fail. `None`: all.
    left: Option<usize>,
}

/// What the callbacks know.
#[derive(Default)]
struct Counted {
    counts: Mutex<Counts>,
    /// How often memory was given back, or is about to be.
    frees: AtomicUsize,
}

/// Callbacks with a count behind them, which lives as long as the process.
#[derive(Clone, Copy)]
pub struct HostMemory(&'static Counted);

impl HostMemory {
    pub fn new() -> Self {
        Self(Box::leak(Box::default()))
    }

    /// What a device gets.
    pub fn lent(self) -> HostAllocator {
        let callbacks = vk::AllocationCallbacks::default()
            .user_data(std::ptr::from_ref(self.0).cast_mut().cast())
            .pfn_allocation(Some(allocate))
            .pfn_reallocation(Some(reallocate))
            .pfn_free(Some(free));
        // SAFETY: the functions keep to the specification, and the counts live as long as the process.
        unsafe { HostAllocator::new(callbacks) }
    }

    pub fn counts(self) -> Counts {
        *self.0.counts.lock().unwrap()
    }

    /// Lets so many allocations through, and no more; `None`: all.
    pub fn limit(self, left: Option<usize>) {
        self.0.counts.lock().unwrap().left = left;
    }

    /// Holds up all calls of the callbacks as long as the guard lives.
    pub fn hold(self) -> MutexGuard<'static, Counts> {
        self.0.counts.lock().unwrap()
    }

    /// How often memory was given back, calls that are held up included.
    pub fn frees(self) -> usize {
        self.0.frees.load(Ordering::Acquire)
    }
}

/// What the user data is.
fn counted(user: *mut c_void) -> &'static Counted {
    // SAFETY: the user data of `lent`.
    unsafe { &*user.cast_const().cast() }
}

unsafe extern "system" fn allocate(
    user: *mut c_void,
    size: usize,
    alignment: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    let mut counts = counted(user).counts.lock().unwrap();
    if let Some(left) = &mut counts.left {
        if *left == 0 {
            return std::ptr::null_mut();
        }
        *left -= 1;
    }
    let before = HEADER.next_multiple_of(alignment.max(align_of::<usize>()));
    let layout = Layout::from_size_align(before + size, alignment.max(align_of::<usize>())).expect("a layout");
    // SAFETY: the layout has bytes: those of the header.
    let start = unsafe { alloc(layout) };
    assert!(!start.is_null(), "the process has memory");
    counts.calls += 1;
    counts.held += 1;
    counts.bytes += size;
    // SAFETY: the header ends where the caller's bytes begin, behind as many bytes as it has.
    unsafe {
        let given = start.add(before);
        given.sub(HEADER).cast::<[usize; 3]>().write_unaligned([layout.size(), layout.align(), size]);
        given.cast()
    }
}

unsafe extern "system" fn free(user: *mut c_void, memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    counted(user).frees.fetch_add(1, Ordering::AcqRel);
    let given = memory.cast::<u8>();
    // SAFETY: given by `allocate`, with its header before it.
    let [bytes, alignment, size] = unsafe { given.sub(HEADER).cast::<[usize; 3]>().read_unaligned() };
    let layout = Layout::from_size_align(bytes, alignment).expect("the layout of before");
    let before = HEADER.next_multiple_of(alignment);
    // SAFETY: the same layout, from its first byte on.
    unsafe { dealloc(given.sub(before), layout) };
    let mut counts = counted(user).counts.lock().unwrap();
    counts.held -= 1;
    counts.bytes -= size;
}

unsafe extern "system" fn reallocate(
    user: *mut c_void,
    memory: *mut c_void,
    size: usize,
    alignment: usize,
    scope: vk::SystemAllocationScope,
) -> *mut c_void {
    if size == 0 {
        // SAFETY: null, or given by `allocate`.
        unsafe { free(user, memory) };
        return std::ptr::null_mut();
    }
    // SAFETY: as the caller asks.
    let grown = unsafe { allocate(user, size, alignment, scope) };
    if !memory.is_null() && !grown.is_null() {
        // SAFETY: given by `allocate`, with its header before it; both have so many bytes.
        unsafe {
            let [.., had] = memory.cast::<u8>().sub(HEADER).cast::<[usize; 3]>().read_unaligned();
            std::ptr::copy_nonoverlapping(memory.cast::<u8>(), grown.cast(), had.min(size));
            free(user, memory);
        }
    }
    grown
}
