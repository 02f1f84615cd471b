//! The search against all placements of tiny cases, and what it spends on cases that can be followed by hand.

use super::*;
use crate::stages::alias::tests::{Random, item, timeline};

type Before<'a> = &'a dyn Fn(ItemId, ItemId) -> bool;

/// A search for items in the order in which they are given.
struct Found {
    outcome: Outcome,
    offsets: Vec<u64>,
    nodes: u64,
    spent: u64,
}

fn searched(items: &[Item], before: Option<Before<'_>>, capacity: u64, exact: bool, most: u64) -> Found {
    let timeline = timeline(items);
    let mut conflicts = Conflicts::default();
    let one_queue = before.is_none();
    let before = before.map(|before| move |a, b| before(a, b));
    assert!(conflicts.build(items, &timeline, before.as_ref(), u64::MAX));
    let problem = Problem { items, timeline: &timeline, conflicts: &conflicts, capacity, one_queue, exact };
    let subset: Vec<_> = (0..items.len()).map(ItemId::new).collect();
    let (mut left, mut nodes, mut offsets) = (most, 0, vec![u64::MAX; items.len()]);
    let outcome = search(&problem, &subset, &mut left, &mut Search::default(), &mut offsets, &mut nodes);
    Found { outcome, offsets, nodes, spent: most - left }
}

/// Whether two items may share bytes.
fn apart(items: &[Item], before: Before<'_>, a: usize, b: usize) -> bool {
    let wholly = |a: usize, b: usize| items[a].last < items[b].first && before(ItemId::new(a), ItemId::new(b));
    wholly(a, b) || wholly(b, a)
}

/// Whether the items behind those placed fit below a capacity, by all offsets.
fn possible(items: &[Item], before: Before<'_>, capacity: u64, placed: &mut Vec<u64>) -> bool {
    let at = placed.len();
    let Some(item) = items.get(at) else { return true };
    for offset in (0..(capacity + 1).saturating_sub(item.size)).step_by(item.align as usize) {
        let free = |other: usize| {
            let end = placed[other] + items[other].size;
            apart(items, before, other, at) || end <= offset || offset + item.size <= placed[other]
        };
        if (0..at).all(free) {
            placed.push(offset);
            if possible(items, before, capacity, placed) {
                return true;
            }
            placed.pop();
        }
    }
    false
}

#[test]
fn an_exact_search_finds_a_placement_or_proves_that_there_is_none() {
    let (mut random, mut sides) = (Random(1), [0; 2]);
    for round in 0..500 {
        let items = random.items(6, 4, 5 + round % 5);
        let both = |a: ItemId, b: ItemId| !(a.index() + b.index() + round as usize).is_multiple_of(3);
        let ordered: Before<'_> = if round % 2 == 0 { &|_, _| true } else { &both };
        let bound = timeline(&items).bound;
        for capacity in bound.saturating_sub(1)..bound + 4 {
            let fits = possible(&items, ordered, capacity, &mut Vec::new());
            sides[usize::from(fits)] += 1;
            for exact in [true, false] {
                let found = searched(&items, (round % 2 > 0).then_some(ordered), capacity, exact, 1 << 30);
                match found.outcome {
                    Outcome::Placed => {
                        assert!(fits);
                        for (at, item) in items.iter().enumerate() {
                            let (offset, end) = (found.offsets[at], found.offsets[at] + item.size);
                            assert!(offset % item.align == 0 && end <= capacity);
                            for other in 0..at {
                                let below = found.offsets[other] + items[other].size <= offset;
                                assert!(apart(&items, ordered, other, at) || below || end <= found.offsets[other]);
                            }
                        }
                    }
                    Outcome::Impossible => assert!(!fits, "round {round}, {capacity} bytes: {items:?}"),
                    Outcome::Spent => assert!(!exact, "there is work left"),
                }
            }
        }
    }
    assert!(sides.into_iter().min() > Some(500), "{sides:?}");
}

#[test]
fn more_live_bytes_than_the_capacity_are_seen_at_once() {
    let items = [item(2, 0, 1), item(3, 1, 2)];
    let below = searched(&items, None, 4, true, 100);
    assert_eq!((below.outcome, below.nodes), (Outcome::Impossible, 0));
    let enough = searched(&items, None, 5, true, 100);
    assert_eq!((enough.outcome, enough.nodes, enough.offsets), (Outcome::Placed, 2, vec![0, 2]));
}

#[test]
fn a_choice_costs_four_and_its_conflicts() {
    // One item to look at, and a choice without conflicts.
    let one = [item(2, 0, 0)];
    for (most, outcome) in [(5, Outcome::Placed), (4, Outcome::Spent)] {
        let found = searched(&one, None, 2, true, most);
        assert_eq!((found.outcome, found.nodes, found.spent), (outcome, 1, most));
    }
    // A part of two items to look at, and a choice with one conflict, twice.
    let two = [item(2, 0, 0), item(3, 0, 0)];
    let found = searched(&two, None, 5, true, 100);
    assert_eq!((found.outcome, found.nodes, found.spent), (Outcome::Placed, 2, 2 * (2 + 5)));
}

#[test]
fn items_that_nothing_crosses_any_more_are_placed_apart() {
    // Item 0 crosses from the first pair to the second. Once it is placed, each pair is a part of its own.
    let items = [item(1, 0, 4), item(2, 0, 1), item(3, 0, 1), item(2, 3, 4), item(3, 3, 4)];
    let found = searched(&items, None, 6, true, 1000);
    assert_eq!((found.outcome, found.nodes), (Outcome::Placed, 5));
    // Per choice the items of its part, 4, and its conflicts: item 0 in a part of all; two in a part of 3, which has
    // item 0 too; two in a part of 2. That item 0 crosses a section costs a quarter, rounded down.
    assert_eq!(found.spent, (5 + 4 + 4) + 2 * (3 + 4 + 2) + 2 * (2 + 4 + 2));
}

#[test]
fn what_lies_elsewhere_does_not_slow_a_search_that_blames() {
    // Items that nothing overlaps are placed first, and no failure of the others is theirs: the search undoes all of
    // them at once, and tries no other order of them.
    let (mut random, mut placed) = (Random(2), 0);
    for count in [3u64, 61, 64, 130] {
        let far: Vec<Item> = (0..count as u32).map(|at| item(1, at, at)).collect();
        for _ in 0..60 {
            let near = random.items(8, 4, 5);
            let bound = timeline(&near).bound;
            let behind = near.iter().map(|item| Item { first: item.first + 500, last: item.last + 500, ..*item });
            let all: Vec<Item> = far.iter().copied().chain(behind).collect();
            for capacity in bound..bound + 2 {
                let proof = searched(&near, None, capacity, true, 1 << 30);
                let alone = searched(&near, None, capacity, false, 1 << 30);
                let found = searched(&all, None, capacity, false, 1 << 30);
                // What fits, it finds in cases as small as these.
                let fits = proof.outcome == Outcome::Placed;
                assert_eq!([&alone, &found].map(|of| of.outcome == Outcome::Placed), [fits; 2], "{near:?}");
                let more = found.nodes - alone.nodes - count;
                assert!(more == 0 || more == 1 && !fits, "{more} more choices: {near:?}");
                placed += usize::from(fits);
            }
        }
    }
    assert!((100..400).contains(&placed), "{placed} of 480 fit");
}
