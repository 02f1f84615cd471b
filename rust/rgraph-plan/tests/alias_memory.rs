//! Placing again in the same scratch allocates nothing.

use rgraph_ir::id::Id;
use rgraph_plan::inside::alias::place::{Item, ItemId, PlaceScratch, place};
use rgraph_plan::inside::alias::walk::{Placed, PreviousOwners, WalkScratch, previous_owners};

use crate::alias::families;
use crate::common::counting;

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
                let before = counting::allocations();
                once(items, effort, queues);
                assert_eq!(counting::allocations(), before, "effort {effort}, {} items", items.len());
            }
        }
    }
}
