//! Placing again in the same scratch allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use rgraph_ir::id::Id;
use rgraph_plan::inside::alias::place::{Item, ItemId, PlaceScratch, place};
use rgraph_plan::inside::alias::walk::{Placed, PreviousOwners, WalkScratch, previous_owners};

#[path = "alias/families.rs"]
#[expect(dead_code, reason = "shared with the other alias tests")]
mod families;
#[path = "alias/judge.rs"]
#[expect(dead_code, reason = "shared with the other alias tests")]
mod judge;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn placing_and_walking_again_allocate_nothing() {
    let (mut scratch, mut offsets) = (PlaceScratch::default(), Vec::new());
    let (mut walk, mut hand, mut placed) = (WalkScratch::default(), PreviousOwners::default(), Vec::new());
    let cases = [families::layered(1024, 1, true), families::fan(256), families::chain(64)];
    let mut once = |items: &[Item], effort: u32, queues: bool| {
        let before =
            queues.then_some(|a: ItemId, b: ItemId| a.index() % 3 == b.index() % 3 || b.index() > a.index() + 40);
        place(items, before, effort, &mut scratch, &mut offsets).unwrap();
        placed.clear();
        placed.extend(items.iter().zip(&offsets).map(|(item, &offset)| Placed {
            offset,
            size: item.size,
            order: item.first,
        }));
        previous_owners(&placed, &mut walk, &mut hand);
    };
    for effort in 0..3 {
        for queues in [false, true] {
            for items in &cases {
                once(items, effort, queues);
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                once(items, effort, queues);
                assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "effort {effort}, {} items", items.len());
            }
        }
    }
}
