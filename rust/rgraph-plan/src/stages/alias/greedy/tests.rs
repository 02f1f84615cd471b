//! The rules by hand, and against what their documentation says, byte by byte.

use super::*;
use crate::stages::alias::tests::{Random, ids, item, timeline};

const ORDERS: [Order; 7] = [
    Order::Size,
    Order::ContentionLength,
    Order::ContentionSize,
    Order::ContentionArea,
    Order::Length,
    Order::Area,
    Order::Birth,
];

fn sorted(items: &[Item], order: Order) -> Vec<ItemId> {
    let (timeline, mut most, mut out) = (timeline(items), IdVec::new(), Vec::new());
    contention(&timeline, &mut most);
    sort(items, &timeline, &most, order, &mut Greedy::default(), &mut out);
    out
}

fn conflicts(items: &[Item], before: Option<&dyn Fn(ItemId, ItemId) -> bool>) -> Conflicts {
    let mut conflicts = Conflicts::default();
    let before = before.map(|before| move |a, b| before(a, b));
    assert!(conflicts.build(items, &timeline(items), before.as_ref(), u64::MAX));
    conflicts
}

#[test]
fn each_order_sorts_by_its_key() {
    // Item 0 lives in both sections, 2 in the first (6 bytes alive), the others in the second (28 bytes alive).
    let items = [(4, 0, 2), (7, 1, 3), (2, 0, 0), (7, 2, 4), (1, 1, 4), (9, 2, 2), (0, 0, 4)];
    let items = items.map(|(size, first, last)| item(size, first, last));
    let cases = [
        (Order::Size, [5, 1, 3, 0, 2, 4]),
        (Order::ContentionLength, [0, 1, 3, 4, 5, 2]),
        (Order::ContentionSize, [5, 1, 3, 0, 4, 2]),
        (Order::ContentionArea, [5, 0, 1, 3, 4, 2]),
        (Order::Length, [0, 5, 1, 3, 2, 4]),
        (Order::Area, [5, 0, 1, 3, 2, 4]),
        (Order::Birth, [0, 2, 5, 1, 3, 4]),
    ];
    for (order, expected) in cases {
        assert_eq!(sorted(&items, order), ids(expected), "{order:?}");
    }
    let mut most = IdVec::new();
    contention(&timeline(&items), &mut most);
    assert_eq!(most.as_slice(), [28, 28, 6, 28, 28, 28, 28]);
}

#[test]
fn a_shuffle_moves_items_back_by_so_many_places_at_most() {
    let declared: Vec<ItemId> = (0..200).map(ItemId::new).collect();
    let shuffled = |seed, most| {
        let mut order = declared.clone();
        Greedy::default().shuffle(seed, most, &mut order);
        order
    };
    assert_eq!(shuffled(1, 0), declared);
    for most in [3, 20] {
        let order = shuffled(7, most);
        let mut again = order.clone();
        again.sort_unstable();
        assert_eq!(again, declared);
        let back = |(rank, id): (usize, &ItemId)| rank as i64 - id.index() as i64;
        let moved = order.iter().enumerate().map(back);
        let most_back = moved.clone().max().expect("there are items");
        assert!(most_back <= most as i64 && most_back > most as i64 / 2, "{most_back} of {most}");
        // Only those move back that another passes, and no more than so many pass one.
        assert!(moved.min() >= Some(-(most as i64)) && order != shuffled(8, most));
        assert_eq!(order, shuffled(7, most));
    }
}

#[test]
fn random_numbers_are_those_of_the_source() {
    // The first three of splitmix64 from seed 0.
    let step = 0x9e37_79b9_7f4a_7c15u64;
    let found = [0, step, step.wrapping_mul(2)].map(mixed);
    assert_eq!(found, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
}

/// The offset that *fit* gives an item among its placed neighbours, byte by byte.
fn hole(taken: &[bool], item: Item, hole: Hole) -> u64 {
    let (mut found, mut start) = (Vec::new(), 0);
    for span in taken.chunk_by(|a, b| a == b) {
        let end = start + span.len();
        let at = start.next_multiple_of(item.align as usize);
        if !span[0] && at + item.size as usize <= end {
            found.push((span.len(), at as u64));
        }
        start = end;
    }
    let best = match hole {
        Hole::First => found.first(),
        Hole::Best => found.iter().min(),
    };
    best.map_or((start as u64).next_multiple_of(item.align), |(_, at)| *at)
}

#[test]
fn a_fit_takes_the_lowest_or_the_smallest_hole() {
    let mut random = Random(3);
    for round in 0..300 {
        let items = random.items(14, 9, 12);
        let order = sorted(&items, ORDERS[round % ORDERS.len()]);
        for rule in [Hole::First, Hole::Best] {
            let conflicts = conflicts(&items, None);
            // The first two are there already.
            let mut expected = vec![UNPLACED; items.len()];
            let mut offsets = expected.clone();
            let high = 100 * items[order[0].index()].align;
            (offsets[order[0].index()], expected[order[0].index()]) = (high, high);
            let mut top = 0;
            for &id in &order {
                let mut taken = Vec::new();
                for &other in conflicts.of(id) {
                    if expected[other.index()] != UNPLACED {
                        let (at, size) = (expected[other.index()] as usize, items[other.index()].size as usize);
                        taken.resize(taken.len().max(at + size), false);
                        taken[at..at + size].fill(true);
                    }
                }
                let own = &mut expected[id.index()];
                *own = if *own == UNPLACED { hole(&taken, items[id.index()], rule) } else { *own };
                top = top.max(*own + items[id.index()].size);
            }
            let total = fit(&items, &conflicts, &order, rule, &mut Greedy::default(), &mut offsets);
            assert_eq!((total, &offsets), (Ok(top), &expected), "round {round}: {items:?}, {rule:?}");
        }
    }
}

/// The skyline rule: always the item that can go lowest on top of its placed neighbours; the order breaks ties.
fn lowest_first(items: &[Item], order: &[ItemId], meet: &dyn Fn(ItemId, ItemId) -> bool) -> (u64, Vec<u64>) {
    let mut offsets = vec![UNPLACED; items.len()];
    let mut left = order.to_vec();
    let mut top = 0;
    while !left.is_empty() {
        let floor = |id: &ItemId| {
            let placed = order.iter().filter(|other| offsets[other.index()] != UNPLACED && meet(**other, *id));
            let highest = placed.map(|other| offsets[other.index()] + items[other.index()].size).max().unwrap_or(0);
            highest.next_multiple_of(items[id.index()].align)
        };
        let (at, offset) = left.iter().map(floor).enumerate().min_by_key(|(_, floor)| *floor).expect("some are left");
        let id = left.remove(at);
        offsets[id.index()] = offset;
        top = top.max(offset + items[id.index()].size);
    }
    (top, offsets)
}

#[test]
fn both_skylines_place_the_item_that_can_go_lowest() {
    let mut random = Random(5);
    for round in 0..200 {
        let unit = [1, 4, (1 << 33) + 2][round % 3];
        let mut items = random.items(20, 9, 14);
        items.iter_mut().for_each(|item| item.size *= unit);
        let order = sorted(&items, ORDERS[round % ORDERS.len()]);
        let meet = |a: ItemId, b: ItemId| {
            let (a, b) = (items[a.index()], items[b.index()]);
            a.first <= b.last && b.first <= a.last
        };
        let (top, expected) = lowest_first(&items, &order, &meet);
        let (mut scratch, mut offsets, mut work) = (Greedy::default(), vec![0; items.len()], 0);
        let total = skyline(&items, &conflicts(&items, None), &order, &mut scratch, &mut offsets);
        assert_eq!((total, &offsets), (Ok(top), &expected));
        let timeline = timeline(&items);
        for (limit, found) in [(top, None), (top + 1, Some(top)), (u64::MAX, Some(top))] {
            offsets.fill(0);
            let total = skyline_of_sections(&items, &timeline, &order, limit, &mut scratch, &mut offsets, &mut work);
            assert_eq!(total, found, "round {round}, below {limit}");
        }
        assert_eq!(offsets, expected);
        // On two queues the items of one are ordered among each other only.
        let before = |a: ItemId, b: ItemId| a.index() % 2 == b.index() % 2;
        let meet = |a: ItemId, b: ItemId| meet(a, b) || !before(a, b);
        let (top, expected) = lowest_first(&items, &order, &meet);
        let total = skyline(&items, &conflicts(&items, Some(&before)), &order, &mut scratch, &mut offsets);
        assert_eq!((total, offsets), (Ok(top), expected));
    }
}

#[test]
fn a_skyline_counts_the_sections_that_it_looks_at_and_the_items_that_sink() {
    let items = [item(2, 0, 0), item(3, 0, 2), item(5, 2, 2)];
    let (mut offsets, mut work) = (vec![0; 3], 100);
    let found = skyline_of_sections(
        &items,
        &timeline(&items),
        &ids([0, 1, 2]),
        9,
        &mut Greedy::default(),
        &mut offsets,
        &mut work,
    );
    // Item 0: one section. Item 1 sinks: two sections, 8. Item 2: one section, placed at 0. Item 1 again: it sinks once
    // more, to 5, and is looked at a third time.
    assert_eq!((found, offsets, work), (Some(8), vec![0, 5, 0], 100 + 1 + (2 + 8) + 1 + (2 + 8) + 2));
}

#[test]
fn equal_items_are_stacked() {
    let items = [item(3, 0, 0), item(3, 0, 0)];
    let (mut offsets, mut work) = (vec![0; 2], 0);
    let order = ids([0, 1]);
    let scratch = &mut Greedy::default();
    let found = skyline_of_sections(&items, &timeline(&items), &order, 7, scratch, &mut offsets, &mut work);
    assert_eq!((found, offsets), (Some(6), vec![0, 3]));
}

#[test]
fn a_heap_gives_its_keys_in_order() {
    let mut random = Random(9);
    for count in 1..60u64 {
        let mut heap: Vec<u64> = (0..count).map(|at| at << 32).collect();
        let mut known: std::collections::BTreeSet<u64> = heap.iter().copied().collect();
        for next in 1..200 {
            assert_eq!(heap.first(), known.first());
            let lowest = known.pop_first().expect("no key is lost");
            let key = (((lowest >> 32) + random.below(count * 2)) << 32) | next;
            known.insert(key);
            sink(&mut heap, key);
        }
        let mut left = heap.clone();
        left.sort_unstable();
        assert_eq!(left, known.into_iter().collect::<Vec<_>>());
    }
}
