//! The arena by hand, and against a map from byte to owner.

use std::collections::BTreeMap;

use super::*;
use crate::stages::alias::tests::{Random, item};
use rgraph_ir::id::Id;

const ANY: Option<fn(ItemId) -> bool> = None;

/// An arena with items of these sizes side by side.
fn filled(sizes: &[u64]) -> Arena {
    let mut arena = Arena::default();
    arena.reset(sizes.len() + 100);
    for (at, &size) in sizes.iter().enumerate() {
        take(&mut arena, at, item(size, 0, 0));
    }
    arena
}

fn take(arena: &mut Arena, id: usize, item: Item) -> u64 {
    arena.take(ItemId::new(id), &item, ANY).expect("few bytes")
}

fn release(arena: &mut Arena, ids: &[usize]) {
    ids.iter().for_each(|&id| arena.release(ItemId::new(id), false));
}

/// Panics unless segments cover the arena, and each run of free ones is listed once: in its class, with its bytes.
fn assert_whole(arena: &Arena, ordered: bool) {
    let mut segments: Vec<_> = std::iter::successors(arena.last, |id| arena.segments[*id].prev).collect();
    segments.reverse();
    let mut address = 0;
    for (at, &id) in segments.iter().enumerate() {
        let segment = arena.segments[id];
        assert_eq!((segment.offset, segment.next), (address, segments.get(at + 1).copied()));
        assert!(segment.size > 0);
        address += segment.size;
    }
    assert_eq!((address, segments.len() + arena.spare.len()), (arena.end(), arena.segments.len()));
    let mut runs = BTreeMap::new();
    for run in segments.chunk_by(|a, b| arena.segments[*a].free == arena.segments[*b].free) {
        let (first, last) = (run[0], run[run.len() - 1]);
        if arena.segments[first].free {
            assert!(ordered || run.len() == 1, "free neighbours become one segment");
            assert_eq!([arena.segments[first].other_end, arena.segments[last].other_end], [last, first]);
            runs.insert(first, run.iter().map(|id| arena.segments[*id].size).sum::<u64>());
        }
    }
    let mut listed = BTreeMap::new();
    for at in (0..CLASSES).filter(|at| arena.filled[at / 64] >> (at % 64) & 1 == 1) {
        let (mut prev, mut next) = (None, arena.heads[at]);
        assert!(next.is_some(), "a class with a bit has a run");
        while let Some(id) = next {
            let run = arena.segments[id];
            assert_eq!((run.class_prev, class(run.run_size)), (prev, at));
            assert_eq!(listed.insert(id, run.run_size), None);
            (prev, next) = (next, run.class_next);
        }
    }
    assert_eq!(listed, runs);
}

#[test]
fn a_class_is_a_power_of_two_and_three_bits() {
    assert_eq!([0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 18].map(class), [0, 0, 8, 12, 16, 22, 24, 25, 31, 32, 32, 33]);
    assert_eq!([u64::MAX, 1 << 63, (1 << 63) - 1].map(class), [511, 504, 503]);
}

#[test]
fn an_offset_is_rounded_up_to_a_power_of_two() {
    assert_eq!([0, 1, 15, 16, 17].map(|at| align_up(at, 16)), [0, 16, 16, 16, 32].map(Some));
    assert_eq!([align_up(5, 0), align_up(5, 1)], [Some(5); 2]);
    assert_eq!((align_up(u64::MAX - 15, 16), align_up(u64::MAX - 14, 16)), (Some(u64::MAX - 15), None));
}

#[test]
fn the_tightest_run_wins_within_a_class_and_among_classes() {
    // Free: 100 bytes at 0, 40 at 101, 60 at 142; between them one byte each is used.
    let mut arena = filled(&[100, 1, 40, 1, 60, 1]);
    release(&mut arena, &[0, 2, 4]);
    assert_eq!(take(&mut arena, 10, item(50, 0, 0)), 142);
    assert_eq!(take(&mut arena, 11, item(40, 0, 0)), 101);
    // 10 bytes are left of the 60.
    assert_eq!(take(&mut arena, 12, item(10, 0, 0)), 192);
    assert_eq!(take(&mut arena, 13, item(60, 0, 0)), 0);
    // The 40 that are left are too few; the arena grows from its end at 203.
    assert_eq!((take(&mut arena, 14, item(41, 0, 0)), arena.end()), (203, 244));
    // 960 to 1023 are one class.
    let mut arena = filled(&[1020, 1, 970, 1, 1000, 1, 980, 1]);
    release(&mut arena, &[0, 2, 4, 6]);
    assert_eq!(take(&mut arena, 10, item(975, 0, 0)), 1020 + 1 + 970 + 1 + 1000 + 1);
    assert_eq!(take(&mut arena, 11, item(1001, 0, 0)), 0);
    assert_eq!(take(&mut arena, 12, item(960, 0, 0)), 1021);
    assert_whole(&arena, false);
}

#[test]
fn an_item_looks_at_so_many_segments_and_no_more() {
    // The first released is the last of its class: behind so many that are too small.
    for (small, found) in [(LOOKS as usize - 1, true), (LOOKS as usize, false)] {
        let sizes: Vec<u64> = [1000, 1].into_iter().chain((0..small).flat_map(|_| [970, 1])).collect();
        let mut arena = filled(&sizes);
        let end = arena.end();
        release(&mut arena, &(0..=small).map(|at| 2 * at).collect::<Vec<_>>());
        assert_eq!(take(&mut arena, sizes.len(), item(990, 0, 0)), if found { 0 } else { end });
        assert_whole(&arena, false);
    }
}

#[test]
fn an_item_begins_in_the_free_bytes_at_the_end() {
    let mut arena = filled(&[10, 6]);
    release(&mut arena, &[1]);
    assert_eq!((take(&mut arena, 2, item(9, 0, 0).aligned(4)), arena.end()), (12, 21));
    assert_whole(&arena, false);
    // The two bytes before it are free.
    assert_eq!(take(&mut arena, 3, item(2, 0, 0)), 10);
    let mut arena = filled(&[1]);
    let refused = arena.take(ItemId::new(1), &item(u64::MAX, 0, 0), ANY);
    assert_eq!(refused, Err(Overflow));
    assert_eq!(take(&mut arena, 1, item(u64::MAX - 1, 0, 0)), 1);
}

#[test]
fn bytes_of_owners_that_an_item_may_not_follow_stay_apart() {
    // Owners side by side: 0 to 3, of 8 bytes each, all done.
    let owners = || {
        let mut arena = filled(&[8, 8, 8, 8]);
        (0..4).for_each(|id| arena.release(ItemId::new(id), true));
        arena
    };
    let cases: [(&[usize], u64, u64, u64); 7] = [
        (&[0, 1, 2, 3], 20, 0, 32),
        (&[1, 2, 3], 20, 8, 32),
        (&[0, 2], 8, 0, 32),
        (&[0, 2, 3], 9, 16, 32),
        // At the end: from the last owners that it may follow on.
        (&[0, 3], 9, 24, 33),
        (&[0, 1, 2], 25, 32, 57),
        (&[1, 2, 3], 25, 8, 33),
    ];
    for (may, size, offset, end) in cases {
        let mut arena = owners();
        let after = |owner: ItemId| may.contains(&owner.index());
        let at = arena.take(ItemId::new(9), &item(size, 0, 0), Some(after)).expect("few bytes");
        assert_eq!((at, arena.end()), (offset, end), "{size} bytes after {may:?}");
        assert_whole(&arena, true);
    }
}

/// A map from byte to whether it is used, and its last owner.
#[derive(Default)]
struct Bytes(Vec<(bool, Option<ItemId>)>);

impl Bytes {
    /// The place that an item should get: the lowest in the smallest run of free bytes that has one, else at the end.
    /// With owners apart only the second half of the promise is exact: which of equal runs, nobody says.
    fn places(&self, item: &Item, after: &dyn Fn(ItemId) -> bool) -> Vec<u64> {
        let open = |at: usize| !self.0[at].0 && self.0[at].1.is_none_or(after);
        let mut found = Vec::new();
        let mut start = 0;
        for run in self.0.chunk_by(|a, b| a.0 == b.0) {
            let end = start + run.len();
            let fits = |at: &usize| {
                at.is_multiple_of(item.align as usize)
                    && at + item.size as usize <= end
                    && (*at..at + item.size as usize).all(open)
            };
            if !run[0].0
                && let Some(at) = (start..end).find(fits)
            {
                found.push((run.len(), at as u64));
            }
            start = end;
        }
        let least = found.iter().map(|(size, _)| *size).min();
        if least.is_none() {
            let free = (0..self.0.len()).rev().take_while(|&at| open(at)).count();
            return vec![((self.0.len() - free) as u64).next_multiple_of(item.align)];
        }
        found.into_iter().filter(|(size, _)| Some(*size) == least).map(|(_, at)| at).collect()
    }

    fn take(&mut self, id: ItemId, at: usize, size: usize) {
        // Bytes skipped for an alignment belong to the free segment before them, if there is one.
        let last = self.0.last().filter(|last| !last.0).and_then(|last| last.1);
        self.0.resize(self.0.len().max(at), (false, last));
        self.0.resize(self.0.len().max(at + size), (false, None));
        self.0[at..at + size].fill((true, Some(id)));
    }
}

#[test]
fn any_takes_and_releases_find_the_lowest_place_of_the_tightest_run() {
    for (seed, ordered) in (0..160).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut random = Random(seed);
        let (mut arena, mut bytes) = (Arena::default(), Bytes::default());
        arena.reset(80);
        let mut live: Vec<(ItemId, usize, usize)> = Vec::new();
        for id in (0..80).map(ItemId::new) {
            let item = item(1 + random.below(24), 0, 0).aligned(1 << random.below(5));
            let kin = |owner: ItemId| !ordered || (owner.index() * 7 + id.index()) % 5 > 1;
            let places = bytes.places(&item, &kin);
            let at = arena.take(id, &item, ordered.then_some(kin)).expect("few bytes");
            assert!(places.contains(&at), "seed {seed}: {item:?} is at {at}, and not at one of {places:?}");
            bytes.take(id, at as usize, item.size as usize);
            live.push((id, at as usize, item.size as usize));
            assert_eq!(arena.end(), bytes.0.len() as u64);
            assert_whole(&arena, ordered);
            while live.len() > 8 || (!live.is_empty() && random.below(3) == 0) {
                let (id, at, size) = live.swap_remove(random.below(live.len() as u64) as usize);
                arena.release(id, ordered);
                bytes.0[at..at + size].iter_mut().for_each(|byte| byte.0 = false);
                assert_whole(&arena, ordered);
            }
        }
    }
}
