//! Which memories a later access must still be checked against, by the bytes of each heap.
//!
//! A chain of transients that take turns in the same bytes has a quadratic number of pairs of neighbours, all but a few
//! of which need no check of their own: an access that is ordered after a write is ordered after all that the write is
//! ordered after, and what was available to the write stays available (Vulkan 1.3 specification, "Execution and Memory
//! Dependencies": dependencies chain where the scopes meet, here at the stage of the write). So once a memory has been
//! written whole, and each write was checked against everything in the same bytes without a finding, it represents all
//! earlier residents of its bytes, also where one of these is used again. Near-linear: an entry adds at most two
//! intervals, and superseding removes the intervals that it covers.

use std::collections::BTreeMap;

use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{HeapId, Plan};

use crate::bytes::{Placed, placed};
use crate::facts::Facts;
use crate::ids::MemoryId;

/// Bytes of a heap, half-open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    heap: HeapId,
    bytes: [u64; 2],
}

/// An interval of a heap: its end, and its residents without repetition.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Interval<I> {
    end: u64,
    residents: Vec<I>,
}

/// What has been in the bytes of each heap and was not superseded.
pub(crate) struct Residents<I> {
    /// Where each is placed; empty for memory of its own.
    spans: IdVec<I, Vec<Span>>,
    /// By heap and first byte; disjoint.
    intervals: BTreeMap<(HeapId, u64), Interval<I>>,
}

impl<I: Id + Ord> Residents<I> {
    /// Reads where `count` candidates are placed; none is a resident yet. `of` maps a memory to its candidate.
    pub(crate) fn new(facts: &Facts, plan: &Plan, count: usize, of: impl Fn(MemoryId) -> Option<I>) -> Self {
        let mut spans = IdVec::filled(Vec::new(), count);
        for Placed { memory, heap, bytes } in placed(facts, plan).filter(|place| place.bytes[0] < place.bytes[1]) {
            if let Some(one) = of(memory) {
                spans[one].push(Span { heap, bytes });
            }
        }
        Self { spans, intervals: BTreeMap::new() }
    }

    /// Whether two candidates have bytes in common.
    #[cfg(test)]
    pub(crate) fn share(&self, a: I, b: I) -> bool {
        let meet = |a: &Span, b: &Span| a.heap == b.heap && a.bytes[0] < b.bytes[1] && b.bytes[0] < a.bytes[1];
        a != b && self.spans[a].iter().any(|x| self.spans[b].iter().any(|y| meet(x, y)))
    }

    /// The intervals in which a span lies, in order, each with its first byte.
    fn intervals_of(&self, Span { heap, bytes: [first, end] }: Span) -> impl Iterator<Item = (u64, &Interval<I>)> {
        let from = self.intervals.range(..=(heap, first)).next_back();
        let from =
            from.filter(|((of, _), interval)| *of == heap && interval.end > first).map_or(first, |((_, at), _)| *at);
        self.intervals.range((heap, from)..(heap, end)).map(|((_, at), interval)| (*at, interval))
    }

    /// The other residents of the bytes of one, sorted. O(intervals + residents · log residents).
    pub(crate) fn around(&self, one: I) -> Vec<I> {
        let mut found = Vec::new();
        for span in &self.spans[one] {
            for (_, interval) in self.intervals_of(*span) {
                found.extend(interval.residents.iter().filter(|other| **other != one));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether one is a resident of some of its bytes.
    pub(crate) fn is_resident(&self, one: I) -> bool {
        self.spans[one].iter().any(|span| self.intervals_of(*span).any(|(_, held)| held.residents.contains(&one)))
    }

    /// Makes one a resident of all its bytes.
    pub(crate) fn enter(&mut self, one: I) {
        for at in 0..self.spans[one].len() {
            let span = self.spans[one][at];
            let mut reached = span.bytes[0];
            let inside = self.intervals_of(span).all(|(first, interval)| {
                let follows = first <= reached && interval.residents.contains(&one);
                reached = interval.end;
                follows
            });
            if !inside || reached < span.bytes[1] {
                self.rewrite(span, one, |_| true);
            }
        }
    }

    /// Makes one the only resident of its bytes, besides those to keep.
    pub(crate) fn supersede(&mut self, one: I, keep: impl Fn(I) -> bool) {
        for at in 0..self.spans[one].len() {
            self.rewrite(self.spans[one][at], one, &keep);
        }
    }

    /// Makes one and those to keep the residents of a span, and joins neighbouring intervals with equal residents.
    fn rewrite(&mut self, span: Span, one: I, keep: impl Fn(I) -> bool) {
        let Span { heap, bytes: [first, end] } = span;
        self.cut(heap, first);
        self.cut(heap, end);
        let old: Vec<(u64, Interval<I>)> =
            self.intervals_of(span).map(|(at, interval)| (at, interval.clone())).collect();
        let mut new: Vec<(u64, Interval<I>)> = Vec::with_capacity(old.len() + 1);
        let mut add = |from: u64, end: u64, mut residents: Vec<I>| {
            if !residents.contains(&one) {
                residents.push(one);
            }
            match new.last_mut() {
                Some((_, last)) if last.residents == residents => last.end = end,
                _ => new.push((from, Interval { end, residents })),
            }
        };
        let mut reached = first;
        for (at, interval) in &old {
            if reached < *at {
                add(reached, *at, Vec::new());
            }
            add(*at, interval.end, interval.residents.iter().copied().filter(|other| keep(*other)).collect());
            reached = interval.end;
        }
        if reached < end {
            add(reached, end, Vec::new());
        }
        for (at, _) in old {
            self.intervals.remove(&(heap, at));
        }
        self.intervals.extend(new.into_iter().map(|(at, interval)| ((heap, at), interval)));
    }

    /// Cuts the interval in which a byte lies, if it does not begin there.
    fn cut(&mut self, heap: HeapId, byte: u64) {
        let Some(((of, _), interval)) = self.intervals.range_mut(..(heap, byte)).next_back() else { return };
        if *of == heap && interval.end > byte {
            let rest = Interval { end: interval.end, residents: interval.residents.clone() };
            interval.end = byte;
            self.intervals.insert((heap, byte), rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::AllocationId;
    use crate::random::Random;

    /// A list of allocations per byte has the same residents as the intervals.
    #[test]
    fn intervals_agree_with_a_list_of_stores_per_byte() {
        let mut random = Random::new(5);
        for _ in 0..300 {
            let span = |random: &mut Random| {
                let first = random.below(12);
                let heap = HeapId::new(random.below(2) as usize);
                Span { heap, bytes: [first, first + 1 + random.below(6)] }
            };
            let spans: IdVec<AllocationId, Vec<Span>> =
                (0..6).map(|_| (0..random.below(3)).map(|_| span(&mut random)).collect()).collect();
            let mut residents = Residents { spans: spans.clone(), intervals: BTreeMap::new() };
            let mut bytes: Vec<Vec<AllocationId>> = vec![Vec::new(); 40];
            let of = |allocation: AllocationId| {
                let spans = spans[allocation].clone();
                let one =
                    |span: Span| (span.bytes[0]..span.bytes[1]).map(move |at| (at as usize) + 20 * span.heap.index());
                spans.into_iter().flat_map(one).collect::<Vec<_>>()
            };
            for _ in 0..20 {
                let allocation = AllocationId::new(random.below(6) as usize);
                if random.chance(1, 3) {
                    let kept = AllocationId::new(random.below(6) as usize);
                    residents.supersede(allocation, |other| other == kept);
                    of(allocation).into_iter().for_each(|at| bytes[at].retain(|other| *other == kept));
                } else {
                    residents.enter(allocation);
                }
                of(allocation).into_iter().for_each(|at| bytes[at].push(allocation));
                for allocation in spans.ids() {
                    let mut expected: Vec<AllocationId> =
                        of(allocation).into_iter().flat_map(|at| bytes[at].clone()).collect();
                    expected.retain(|other| *other != allocation);
                    expected.sort_unstable();
                    expected.dedup();
                    assert_eq!(residents.around(allocation), expected);
                }
            }
        }
    }
}
