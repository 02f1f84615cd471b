//! The heap against a map of the intervals it handed out: no two meet, all are aligned and inside, what is counted is
//! right; chunks come and go as promised; what must not be freed is refused; the steady state allocates nothing.

use std::collections::BTreeMap;
use std::convert::Infallible;

use rgraph_plan::heap::{DEFAULT_CHUNK, FreeError, Heap, Range};

use crate::common::counting;

/// xorshift*: the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Every power of two up to `most` is as likely, and what lies between.
    fn size(&mut self, most: u64) -> u64 {
        let log = self.below(u64::from(most.ilog2()) + 1);
        ((1 << log) + self.below(1 << log)).min(most)
    }
}

/// A heap and its expected state.
struct Model {
    heap: Heap,
    spare: usize,
    held: Vec<bool>,
    /// End and start by chunk and start: a map ordered as memory is.
    taken: BTreeMap<(u32, u64), u64>,
    ranges: Vec<Range>,
    live: u64,
}

impl Model {
    fn new(chunk_size: u64, spare: u32) -> Self {
        Self {
            heap: Heap::new(chunk_size, spare),
            spare: spare as usize,
            held: Vec::new(),
            taken: BTreeMap::new(),
            ranges: Vec::new(),
            live: 0,
        }
    }

    fn allocate(&mut self, size: u64, align: u64) {
        let held = &mut self.held;
        let mut grew = None;
        let range = self.heap.allocate(size, align, |chunk| {
            held.resize(held.len().max(chunk as usize + 1), false);
            assert!(!held[chunk as usize], "chunk {chunk} is held already");
            held[chunk as usize] = true;
            grew = Some(chunk);
            Ok::<_, Infallible>(())
        });
        let Ok(range) = range;
        let Some(range) = range else {
            assert!(size == 0 || size > self.heap.chunk_size() || align > self.heap.chunk_size());
            return;
        };
        let (chunk, start, end) = (range.chunk(), range.offset(), range.offset() + range.size());
        assert_eq!(range.size(), size);
        assert!(end <= self.heap.chunk_size() && self.held[chunk as usize]);
        assert_eq!(start % align.max(1), 0, "{range:?} is not at a multiple of {align}");
        assert!(grew.is_none_or(|grown| grown == chunk), "a chunk is made for what is put into it");
        if let Some((&(other, before), &until)) = self.taken.range(..(chunk, end)).next_back() {
            assert!(other != chunk || until <= start, "{range:?} meets {before}..{until}");
        }
        self.taken.insert((chunk, start), end);
        self.ranges.push(range);
        self.live += size;
    }

    fn free(&mut self, index: usize) -> Range {
        let range = self.ranges.swap_remove(index);
        let given = self.heap.free(range).expect("a live range");
        self.taken.remove(&(range.chunk(), range.offset())).expect("it was there");
        self.live -= range.size();
        if let Some(chunk) = given {
            assert_eq!(chunk, range.chunk());
            self.give_back(chunk);
        }
        range
    }

    fn give_back(&mut self, chunk: u32) {
        assert!(std::mem::take(&mut self.held[chunk as usize]), "chunk {chunk} is not held");
        assert_eq!(self.taken.range((chunk, 0)..(chunk + 1, 0)).next(), None, "chunk {chunk} is in use");
    }

    /// Counts, chunk by chunk; empty ones are no more than the spare.
    fn check(&self) {
        let mut live = vec![0; self.held.len()];
        for range in &self.ranges {
            live[range.chunk() as usize] += range.size();
        }
        let chunks: Vec<_> = self.heap.chunks().collect();
        let expected: Vec<_> = (0_u32..).zip(live).filter(|&(chunk, _)| self.held[chunk as usize]).collect();
        assert_eq!(chunks, expected);
        assert!(chunks.iter().filter(|(_, live)| *live == 0).count() <= self.spare);
        assert_eq!(self.heap.live(), self.live);
        assert_eq!(self.heap.held(), chunks.len() as u64 * self.heap.chunk_size());
    }

    fn end(mut self) {
        while !self.ranges.is_empty() {
            self.free(self.ranges.len() - 1);
        }
        self.check();
        assert!(self.heap.held() <= self.spare as u64 * self.heap.chunk_size());
        for chunk in self.heap.trim() {
            self.give_back(chunk);
        }
        assert_eq!((self.heap.held(), self.heap.live()), (0, 0));
        assert!(!self.held.contains(&true), "every chunk is given back");
    }
}

/// Random sizes, alignments, bursts and scene changes on heaps of all chunk sizes; `operations` in all.
fn fuzz(operations: u64, seed: u64) {
    let mut random = Random(seed);
    let mut done = 0;
    while done < operations {
        let mut model = Model::new(1 << (20 + random.below(8)), random.below(3) as u32);
        let most_live = 1 + random.below(3000) as usize;
        let most_size = random.size(model.heap.chunk_size() * 5 / 4);
        let most_align = random.size(1 << 20).next_power_of_two();
        let until = (done + 20_000 + random.below(60_000)).min(operations);
        let (mut filling, mut freed) = (true, None);
        while done < until {
            if model.ranges.is_empty() {
                filling = true;
            } else if model.ranges.len() >= most_live || random.below(most_live as u64 * 2) == 0 {
                filling = false;
            } else if random.below(most_live as u64) == 0 {
                filling = true;
            }
            if random.below(4) == 0 || filling {
                let size = random.size(most_size);
                done += 1;
                model.allocate(size, 1 << random.below(u64::from(most_align.ilog2()) + 1));
            }
            if random.below(4) == 0 || !filling {
                let index = random.below(model.ranges.len().max(1) as u64) as usize;
                if index < model.ranges.len() {
                    done += 1;
                    freed = Some(model.free(index));
                }
            }
            if let Some(range) = freed.take_if(|_| random.below(50) == 0) {
                assert_eq!(model.heap.free(range), Err(FreeError::Twice(range)));
            }
            if random.below(5000) == 0 {
                model.check();
            }
        }
        model.end();
    }
}

#[test]
fn random_ranges_never_meet() {
    // Miri takes a thousand times as long.
    let operations = if cfg!(miri) { 500 } else { 50_000 };
    for seed in 1..=4 {
        fuzz(operations, seed);
    }
}

#[test]
#[ignore = "ten million operations: `cargo test --release -p rgraph-plan --test all heap:: -- --ignored`"]
fn ten_million_random_ranges_never_meet() {
    fuzz(10_000_000, 0x5eed);
}

/// A heap whose memory never ends.
fn allocate(heap: &mut Heap, size: u64, align: u64) -> Range {
    let Ok(range) = heap.allocate(size, align, |_| Ok::<_, Infallible>(()));
    range.expect("a size that fits")
}

#[test]
fn what_no_chunk_holds_is_left_to_a_dedicated_allocation() {
    let mut heap = Heap::new(16 << 20, 0);
    let never = |_| -> Result<(), &str> { panic!("no chunk is needed") };
    assert_eq!(heap.allocate(0, 1, never), Ok(None));
    assert_eq!(heap.allocate((16 << 20) + 1, 1, never), Ok(None));
    assert_eq!(heap.allocate(u64::MAX, 1, never), Ok(None));
    assert_eq!(heap.allocate(1, 32 << 20, never), Ok(None));
    assert_eq!(heap.allocate(1, u64::MAX, never), Ok(None));
    let whole = allocate(&mut heap, 16 << 20, 16 << 20);
    assert_eq!((whole.offset(), whole.size(), heap.held()), (0, 16 << 20, 16 << 20));
    assert_eq!(heap.free(whole), Ok(Some(0)));
}

#[test]
fn chunk_sizes_are_rounded_to_powers_of_two_within_limits() {
    let size = |asked| Heap::new(asked, 0).chunk_size();
    assert_eq!([size(0), size(3 << 20), size(DEFAULT_CHUNK), size(u64::MAX)], [1 << 20, 4 << 20, 64 << 20, 1 << 30]);
}

#[test]
fn ranges_are_where_their_alignment_allows_without_taking_more() {
    let mut heap = Heap::new(DEFAULT_CHUNK, 0);
    let mut ranges = Vec::new();
    for log in (0..=26).rev() {
        let range = allocate(&mut heap, 5000, 1 << log);
        assert_eq!(range.offset() % (1 << log), 0);
        ranges.push(range);
    }
    assert_eq!(heap.held(), DEFAULT_CHUNK, "the greatest alignment first, all fit in one chunk");
    for range in ranges {
        heap.free(range).expect("live");
    }
    assert_eq!(heap.held(), 0);
}

#[test]
fn a_chunk_that_cannot_be_had_changes_nothing() {
    let mut heap = Heap::new(1 << 20, 0);
    assert_eq!(heap.allocate(300, 4, Err), Err(0));
    assert_eq!((heap.live(), heap.held(), heap.chunks().count()), (0, 0, 0));
    let first = allocate(&mut heap, 1 << 20, 1);
    assert_eq!(heap.allocate(300, 4, Err), Err(1));
    assert_eq!((heap.live(), heap.held(), heap.chunks().count()), (1 << 20, 1 << 20, 1));
    let second = allocate(&mut heap, 300, 4);
    assert_eq!((first.chunk(), second.chunk()), (0, 1));
    assert_eq!((heap.free(first), heap.free(second)), (Ok(Some(0)), Ok(Some(1))));
}

#[test]
fn spare_chunks_are_kept_until_trimmed() {
    let mut heap = Heap::new(1 << 20, 2);
    let ranges: Vec<Range> = (0..5).map(|_| allocate(&mut heap, 1 << 20, 1)).collect();
    let given: Vec<_> = ranges.into_iter().filter_map(|range| heap.free(range).expect("live")).collect();
    assert_eq!((given.len(), heap.held()), (3, 2 << 20));
    let mut trimmed = heap.trim();
    trimmed.extend(given);
    trimmed.sort_unstable();
    assert_eq!((trimmed, heap.held()), (vec![0, 1, 2, 3, 4], 0));
    assert!(heap.trim().is_empty());
}

#[test]
fn a_lone_small_range_leaves_its_chunk_empty() {
    for size in [1, 256, 5000, 70_000, 1 << 20, 5 << 20] {
        let mut heap = Heap::new(DEFAULT_CHUNK, 0);
        let range = allocate(&mut heap, size, 256);
        assert_eq!(heap.free(range), Ok(Some(0)), "kept nodes of {size} bytes hold the chunk");
    }
}

#[test]
fn freeing_twice_is_refused_even_after_the_bytes_were_reused() {
    let mut heap = Heap::new(DEFAULT_CHUNK, 1);
    let first = allocate(&mut heap, 1000, 16);
    assert_eq!(heap.free(first), Ok(None));
    assert_eq!(heap.free(first), Err(FreeError::Twice(first)));
    let second = allocate(&mut heap, 1000, 16);
    assert_eq!((first.chunk(), first.offset()), (second.chunk(), second.offset()));
    assert_eq!(heap.free(first), Err(FreeError::Twice(first)));
    assert_eq!((heap.free(second), heap.live()), (Ok(None), 0));
    let message = FreeError::Twice(first).to_string();
    assert_eq!(message, "bytes 0 to 1000 of chunk 0 were freed before; free a range once, whichever of its copies");
}

#[test]
fn ranges_of_another_heap_are_refused() {
    let (mut heap, mut other) = (Heap::new(DEFAULT_CHUNK, 0), Heap::new(DEFAULT_CHUNK, 0));
    let (mine, theirs) = (allocate(&mut heap, 1000, 16), allocate(&mut other, 1000, 16));
    assert_ne!(mine, theirs);
    assert_eq!(heap.free(theirs), Err(FreeError::Foreign(theirs)));
    assert_eq!((heap.live(), other.live()), (1000, 1000));
    assert_eq!((heap.free(mine), other.free(theirs)), (Ok(Some(0)), Ok(Some(0))));
}

#[test]
fn equal_ranges_fill_their_chunks() {
    let least = if cfg!(miri) { 1 << 20 } else { 0 };
    for size in [256, 4096, 65_536, 1 << 20, 4 << 20, 64 << 20].into_iter().filter(|size| *size >= least) {
        let mut heap = Heap::new(DEFAULT_CHUNK, 0);
        for _ in 0..(128 << 20) / size {
            allocate(&mut heap, size, size);
        }
        assert_eq!(heap.held(), 128 << 20, "ranges of {size} bytes");
    }
}

#[test]
fn the_steady_state_allocates_nothing() {
    let mut heap = Heap::new(DEFAULT_CHUNK, 1);
    let mut counted = 0;
    // The second round does what the first did: it needs as many nodes, and they exist.
    for round in 0..2 {
        let mut random = Random(7);
        let mut ranges = Vec::with_capacity(2000);
        let before = counting::allocations();
        for _ in 0..if cfg!(miri) { 1000 } else { 100_000 } {
            if ranges.len() < 2000 {
                let size = random.size(32 << 20);
                ranges.push(allocate(&mut heap, size, 256));
            }
            if random.below(2) == 0 {
                let index = random.below(ranges.len() as u64) as usize;
                heap.free(ranges.swap_remove(index)).expect("live");
            }
        }
        for range in ranges.drain(..) {
            heap.free(range).expect("live");
        }
        counted = counting::allocations() - before;
        assert!(round == 1 || counted > 0, "the first round makes nodes");
    }
    assert_eq!(counted, 0);
}
