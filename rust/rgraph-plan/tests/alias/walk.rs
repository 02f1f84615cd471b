use std::collections::BTreeSet;

use rgraph_ir::id::Id;
use rgraph_plan::inside::alias::place::ItemId;
use rgraph_plan::inside::alias::walk::{Placed, PreviousOwner, PreviousOwners, WalkScratch, previous_owners};

use super::checker::Random;

/// Byte by byte: the owners over two frames, and those that each item meets in the second.
fn by_byte(placed: &[Placed]) -> Vec<BTreeSet<PreviousOwner>> {
    let end = placed.iter().map(|p| p.offset + p.size).max().unwrap_or(0);
    let mut owner: Vec<Option<PreviousOwner>> = vec![None; end as usize];
    let mut order: Vec<usize> = (0..placed.len()).collect();
    order.sort_by_key(|&i| (placed[i].order, i));
    let mut met = vec![BTreeSet::new(); placed.len()];
    for from_previous_frame in [true, false] {
        for &i in &order {
            for byte in &mut owner[placed[i].offset as usize..(placed[i].offset + placed[i].size) as usize] {
                if !from_previous_frame {
                    met[i].extend(*byte);
                }
                *byte = Some(PreviousOwner { item: ItemId::new(i), from_previous_frame });
            }
        }
    }
    met
}

#[test]
fn the_walk_finds_the_owner_of_every_byte() {
    let mut random = Random(3);
    let (mut scratch, mut out) = (WalkScratch::default(), PreviousOwners::default());
    for _ in 0..500 {
        let n = random.range(0, 40);
        let placed: Vec<_> = (0..n)
            .map(|_| Placed { offset: random.below(200), size: random.below(80), order: random.below(60) as u32 })
            .collect();
        previous_owners(&placed, &mut scratch, &mut out);
        assert_eq!(out.len(), placed.len());
        for (i, met) in by_byte(&placed).into_iter().enumerate() {
            assert_eq!(out.of(ItemId::new(i)), Vec::from_iter(met), "item {i} of {placed:?}");
        }
    }
}

#[test]
fn an_item_alone_follows_itself_from_frame_to_frame() {
    let mut out = PreviousOwners::default();
    previous_owners(&[Placed { offset: 64, size: 64, order: 3 }], &mut WalkScratch::default(), &mut out);
    assert_eq!(out.of(ItemId::new(0)), [PreviousOwner { item: ItemId::new(0), from_previous_frame: true }]);
}

#[test]
fn an_item_over_two_others_follows_both_and_they_follow_it_from_the_frame_before() {
    let placed = [(0, 8, 0), (8, 8, 1), (0, 24, 2)].map(|(offset, size, order)| Placed { offset, size, order });
    let mut out = PreviousOwners::default();
    previous_owners(&placed, &mut WalkScratch::default(), &mut out);
    let now = |item| PreviousOwner { item: ItemId::new(item), from_previous_frame: false };
    let last = |item| PreviousOwner { item: ItemId::new(item), from_previous_frame: true };
    assert_eq!(out.of(ItemId::new(0)), [last(2)]);
    assert_eq!(out.of(ItemId::new(1)), [last(2)]);
    assert_eq!(out.of(ItemId::new(2)), [now(0), now(1), last(2)]);
}

#[test]
fn no_items_have_no_previous_owners() {
    let mut out = PreviousOwners::default();
    previous_owners(&[], &mut WalkScratch::default(), &mut out);
    assert!(out.is_empty() && out.all().is_empty());
}
