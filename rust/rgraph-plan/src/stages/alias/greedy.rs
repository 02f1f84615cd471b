//! Placement by a fixed order of items, with all conflicts known.
//!
//! Two rules: *fit* takes the items in order and puts each into a hole between its placed neighbours, or on top of
//! them; *skyline* always places the item that can go lowest; the order breaks ties.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rgraph_ir::id::{Id, IdVec};

use super::arena::align_up;
use super::conflict::Conflicts;
use super::item::{Item, ItemId, Overflow, SectionId};
use super::timeline::Timeline;

/// The offset of an item that has none yet.
pub(super) const UNPLACED: u64 = u64::MAX;

/// The key by which items are sorted. Larger is earlier, except for births; ties go by id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// Bytes, then length in positions: the usual greedy rule.
    Size,
    /// Most bytes alive during its life, then length in sections. The best single rule on frames.
    ContentionLength,
    /// Most bytes alive during its life, then bytes.
    ContentionSize,
    /// Most bytes alive during its life, then bytes times length.
    ContentionArea,
    /// Length in sections, then bytes.
    Length,
    /// Bytes times length in sections.
    Area,
    /// Earliest birth, then bytes. The best single rule on hard instances.
    Birth,
}

/// The hole that *fit* takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hole {
    /// The lowest.
    First,
    /// The smallest.
    Best,
}

/// Cost of sinking an item in the queue, in sections looked at.
const SINK: u64 = 8;

/// Scratch of the two rules.
#[derive(Default)]
pub(super) struct Greedy {
    spans: Vec<[u64; 2]>,
    floor: Vec<u64>,
    /// Highest end in each section.
    heights: IdVec<SectionId, u64>,
    /// Offset, then rank, as one number.
    queue: BinaryHeap<Reverse<u128>>,
    long_queue: Vec<u128>,
    /// The same in half of the bytes, if offsets fit in 32 bits.
    short_queue: Vec<u64>,
    keys: Vec<(Reverse<(u128, u64)>, ItemId)>,
}

/// Most bytes alive during each item's life. O(n + sections of all lives).
pub(super) fn contention(timeline: &Timeline, out: &mut IdVec<ItemId, u64>) {
    out.clear();
    let most = |item| timeline.load.slice(timeline.life(item)).iter().copied().max().unwrap_or(0);
    out.as_vec_mut().extend(timeline.first.ids().map(most));
}

/// Sorts the items that have bytes. O(n log n).
pub(super) fn sort(
    items: &[Item],
    timeline: &Timeline,
    contention: &IdVec<ItemId, u64>,
    order: Order,
    scratch: &mut Greedy,
    out: &mut Vec<ItemId>,
) {
    let keys = &mut scratch.keys;
    keys.clear();
    let with_bytes = items.iter().enumerate().filter(|(_, item)| item.size > 0);
    keys.extend(with_bytes.map(|(at, item)| {
        let (id, size) = (ItemId::new(at), item.size);
        let length = timeline.life(id).len() as u64;
        let area = u128::from(size) * u128::from(length);
        let key = match order {
            Order::Size => (u128::from(size), u64::from(item.last - item.first)),
            Order::ContentionLength => (u128::from(contention[id]) << 64 | u128::from(length), 0),
            Order::ContentionSize => (u128::from(contention[id]) << 64 | u128::from(size), 0),
            Order::ContentionArea => (u128::from(contention[id]), u64::try_from(area).unwrap_or(u64::MAX)),
            Order::Length => (u128::from(length) << 64 | u128::from(size), 0),
            Order::Area => (area, size),
            Order::Birth => (u128::from(u32::MAX - timeline.first[id].index() as u32), size),
        };
        (Reverse(key), id)
    }));
    keys.sort_unstable();
    out.clear();
    out.extend(keys.iter().map(|&(_, id)| id));
}

impl Greedy {
    /// Shuffles an order a little: an item moves back by fewer than `most` places, or by `most` if the ids break a
    /// tie. Equal seeds shuffle alike. O(n log n).
    pub(super) fn shuffle(&mut self, seed: u64, most: u64, order: &mut Vec<ItemId>) {
        self.keys.clear();
        self.keys.extend(order.iter().enumerate().map(|(rank, &id)| {
            let later = mixed(seed << 32 | id.index() as u64) % ((most << 10) + 1);
            (Reverse((u128::from(u64::MAX - ((rank as u64) << 10) - later), 0)), id)
        }));
        self.keys.sort_unstable();
        order.clear();
        order.extend(self.keys.iter().map(|&(_, id)| id));
    }
}

/// A pseudorandom number (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let sum = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let once = (sum ^ sum >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let twice = (once ^ once >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    twice ^ twice >> 31
}

/// Places the items of `order` that are [`UNPLACED`], each into a hole; returns the highest end of all items.
///
/// O(neighbours · log neighbours) per item.
pub(super) fn fit(
    items: &[Item],
    conflicts: &Conflicts,
    order: &[ItemId],
    hole: Hole,
    scratch: &mut Greedy,
    offsets: &mut [u64],
) -> Result<u64, Overflow> {
    let spans = &mut scratch.spans;
    let mut total = 0;
    for &id in order {
        crate::cancel::poll();
        let Item { size, align, .. } = items[id.index()];
        if offsets[id.index()] == UNPLACED {
            let placed = conflicts.of(id).iter().map(|&other| (offsets[other.index()], items[other.index()].size));
            spans.clear();
            spans
                .extend(placed.filter(|&(offset, _)| offset != UNPLACED).map(|(offset, size)| [offset, offset + size]));
            spans.sort_unstable();
            offsets[id.index()] = find_hole(spans, size, align, hole).ok_or(Overflow)?;
        }
        total = total.max(offsets[id.index()].checked_add(size).ok_or(Overflow)?);
    }
    Ok(total)
}

fn find_hole(spans: &[[u64; 2]], size: u64, align: u64, hole: Hole) -> Option<u64> {
    let (mut top, mut found, mut smallest) = (0, None, u64::MAX);
    for &[start, end] in spans {
        if start > top && start - top < smallest {
            let offset = align_up(top, align)?;
            if offset < start && start - offset >= size {
                if hole == Hole::First {
                    return Some(offset);
                }
                (found, smallest) = (Some(offset), start - top);
            }
        }
        top = top.max(end);
    }
    found.or_else(|| align_up(top, align))
}

/// Places all items of `order` by the skyline rule; returns the highest end.
///
/// O((n + conflicts) log n).
pub(super) fn skyline(
    items: &[Item],
    conflicts: &Conflicts,
    order: &[ItemId],
    scratch: &mut Greedy,
    offsets: &mut [u64],
) -> Result<u64, Overflow> {
    let Greedy { queue, floor, .. } = scratch;
    offsets.fill(UNPLACED);
    floor.clear();
    floor.resize(items.len(), 0);
    queue.clear();
    queue.extend((0..order.len()).map(|rank| Reverse(rank as u128)));
    let mut total = 0;
    while let Some(mut top) = queue.peek_mut() {
        let (offset, rank) = ((top.0 >> 32) as u64, top.0 as u32);
        let id = order[rank as usize];
        if floor[id.index()] > offset {
            // A neighbour raised its floor since it was queued. Floors only rise, so the first item of the queue whose
            // floor is current is the lowest of all.
            top.0 = u128::from(floor[id.index()]) << 32 | u128::from(rank);
            continue;
        }
        PeekMut::pop(top);
        offsets[id.index()] = offset;
        let end = offset.checked_add(items[id.index()].size).ok_or(Overflow)?;
        total = total.max(end);
        for &other in conflicts.of(id) {
            if offsets[other.index()] == UNPLACED && floor[other.index()] < end {
                floor[other.index()] = align_up(end, items[other.index()].align).ok_or(Overflow)?;
            }
        }
    }
    Ok(total)
}

/// The skyline rule on one queue: the same placement, from the highest end in each section instead of from conflicts.
/// `None` as soon as it would reach `limit`; the offsets are then meaningless. `work` counts sections looked at, and
/// [`SINK`] for each item that sinks in the queue.
///
/// O(n · (log n + sections of a life) · times that an item is looked at).
pub(super) fn skyline_of_sections(
    items: &[Item],
    timeline: &Timeline,
    order: &[ItemId],
    limit: u64,
    scratch: &mut Greedy,
    offsets: &mut [u64],
    work: &mut u64,
) -> Option<u64> {
    let Greedy { long_queue, short_queue, heights, .. } = scratch;
    heights.refill(0, timeline.sections().len());
    // Offsets are sums of sizes, rounded up to alignments: multiples of the largest power of two that divides all of
    // these, and at most `limit + most`. In that unit they usually fit in 32 bits, which halves the queue.
    let (unit, most) = order
        .iter()
        .map(|&id| items[id.index()])
        .fold((0, 0), |(unit, most), item| (unit | item.size | item.align, item.align.max(most)));
    let unit = unit.trailing_zeros();
    let of = (items, timeline, order, limit);
    if limit.saturating_add(most) >> unit <= u64::from(u32::MAX) {
        raise(of, unit, short_queue, heights, offsets, work)
    } else {
        raise(of, 0, long_queue, heights, offsets, work)
    }
}

/// An offset in some unit and a rank, as one number.
trait Key: Copy + Ord {
    fn new(offset: u64, rank: u32) -> Self;
    fn parts(self) -> (u64, u32);
}

impl Key for u64 {
    fn new(offset: u64, rank: u32) -> Self {
        offset << 32 | u64::from(rank)
    }

    fn parts(self) -> (u64, u32) {
        (self >> 32, self as u32)
    }
}

impl Key for u128 {
    fn new(offset: u64, rank: u32) -> Self {
        u128::from(offset) << 32 | u128::from(rank)
    }

    fn parts(self) -> (u64, u32) {
        ((self >> 32) as u64, self as u32)
    }
}

/// Replaces the lowest key of a heap in which each key has four children.
fn sink<K: Key>(heap: &mut [K], key: K) {
    let mut at = 0;
    loop {
        let first = 4 * at + 1;
        let (lowest, child) = match heap.get(first..first + 4) {
            Some(&[a, b, c, d]) => {
                let (ab, left) = if b < a { (b, first + 1) } else { (a, first) };
                let (cd, right) = if d < c { (d, first + 3) } else { (c, first + 2) };
                if cd < ab { (cd, right) } else { (ab, left) }
            }
            _ => match heap.get(first..).into_iter().flatten().copied().zip(first..).min() {
                Some(found) => found,
                None => break,
            },
        };
        if key < lowest {
            break;
        }
        heap[at] = lowest;
        at = child;
    }
    heap[at] = key;
}

fn raise<K: Key>(
    (items, timeline, order, limit): (&[Item], &Timeline, &[ItemId], u64),
    unit: u32,
    queue: &mut Vec<K>,
    heights: &mut IdVec<SectionId, u64>,
    offsets: &mut [u64],
    work: &mut u64,
) -> Option<u64> {
    queue.clear();
    queue.extend((0..order.len() as u32).map(|rank| K::new(0, rank)));
    let mut total = 0;
    while let Some(&top) = queue.first() {
        crate::cancel::poll();
        let (units, rank) = top.parts();
        let offset = units << unit;
        let id = order[rank as usize];
        let life = timeline.life(id);
        *work += life.len() as u64;
        let highest = heights.slice(life).iter().copied().fold(0, u64::max);
        let floor = align_up(highest, items[id.index()].align)?;
        if floor > offset {
            *work += SINK;
            sink(queue, K::new(floor >> unit, rank));
            continue;
        }
        if let Some(last) = queue.pop().filter(|_| !queue.is_empty()) {
            sink(queue, last);
        }
        offsets[id.index()] = offset;
        let end = offset.checked_add(items[id.index()].size)?;
        if end >= limit {
            return None;
        }
        total = total.max(end);
        heights.slice_mut(life).fill(end);
    }
    Some(total)
}

#[cfg(test)]
mod tests;
