//! A re-bake with the same scratch and plan allocates nothing, counted by an allocator of this test.

#[path = "../../../benches/families.rs"]
mod families;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rgraph_plan::prelude::*;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system allocator unchanged; counting touches a thread-local without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn the_allocator_of_this_test_counts() {
    let before = ALLOCATIONS.with(Cell::get);
    let boxed = std::hint::black_box(Box::new(7));
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 1, "{boxed}");
}

#[test]
fn a_second_bake_of_the_same_frame_allocates_nothing() {
    let policies = [Policy::Auto, Policy::Declared, Policy::Overlap, Policy::Weighted];
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    for (name, family) in families::FAMILIES {
        for n in [16, 256, 1024] {
            let graph = family(n);
            for profile in [Profile::single_queue(), Profile::discrete()] {
                for policy in policies {
                    for effort in [0, 1] {
                        let options = Options { policy, effort, ..Options::default() };
                        bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                        let first = plan.clone();
                        let before = ALLOCATIONS.with(Cell::get);
                        bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                        let allocations = ALLOCATIONS.with(Cell::get) - before;
                        let case = format!("{name}-{n} on {}, {}, effort {effort}", profile.name, policy.name());
                        assert_eq!(allocations, 0, "{case}");
                        assert!(plan == first, "{case}: another plan");
                    }
                }
            }
        }
    }
}
