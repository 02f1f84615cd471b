//! The offset allocator.

use std::collections::BTreeMap;

use rgraph_plan::heap::{FreeError, Heap, Range};

/// Any sequence of allocating, freeing, freeing again and trimming: no two ranges meet, none lies outside its chunk or
/// off its alignment, and what is held and live is what was handed out.
pub fn heap(bytes: &[u8]) {
    let mut at = bytes.iter().copied();
    let mut next = || at.next().unwrap_or(0);
    let (chunk_bits, spare) = (next() % 8, next() % 4);
    let mut heap = Heap::new(1 << (20 + chunk_bits), u32::from(spare));
    // Ends by chunk and start.
    let mut taken: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let mut held: Vec<bool> = Vec::new();
    let mut ranges: Vec<Range> = Vec::new();
    let mut freed = None;
    for _ in 0..bytes.len() / 3 {
        match next() % 8 {
            // A mantissa shifted left, so that all magnitudes are met.
            0..=3 => {
                let (mantissa, bits, align_bits, fail) = (next(), next() % 24, next(), next() & 7 == 7);
                let (size, align) = (u64::from(mantissa) << bits, 1 << (align_bits % 28));
                let grown = heap.allocate(size, align, |chunk| {
                    if fail {
                        return Err(());
                    }
                    held.resize(held.len().max(chunk as usize + 1), false);
                    assert!(!std::mem::replace(&mut held[chunk as usize], true), "chunk {chunk} is held already");
                    Ok(())
                });
                let Ok(range) = grown else { continue };
                let Some(range) = range else {
                    assert!(size == 0 || size > heap.chunk_size() || align > heap.chunk_size());
                    continue;
                };
                let (chunk, start, end) = (range.chunk(), range.offset(), range.offset() + size);
                assert!(held[chunk as usize] && end <= heap.chunk_size() && start % align == 0);
                if let Some((&(other, _), &until)) = taken.range(..(chunk, end)).next_back() {
                    assert!(other != chunk || until <= start, "{range:?} meets another");
                }
                taken.insert((chunk, start), end);
                ranges.push(range);
            }
            4..=5 if !ranges.is_empty() => {
                let range = ranges.swap_remove(usize::from(next()) % ranges.len());
                taken.remove(&(range.chunk(), range.offset()));
                if let Some(chunk) = heap.free(range).expect("a live range") {
                    held[chunk as usize] = false;
                }
                freed = Some(range);
            }
            4..=5 => {}
            6 => {
                if let Some(range) = freed {
                    assert_eq!(heap.free(range), Err(FreeError::Twice(range)));
                }
            }
            _ => heap.trim().into_iter().for_each(|chunk| held[chunk as usize] = false),
        }
        assert_eq!(heap.live(), ranges.iter().map(Range::size).sum::<u64>());
        let held: Vec<u32> = (0_u32..).zip(&held).filter(|(_, held)| **held).map(|(chunk, _)| chunk).collect();
        assert!(heap.chunks().map(|(chunk, _)| chunk).eq(held.iter().copied()));
        assert_eq!(heap.held(), held.len() as u64 * heap.chunk_size());
    }
    for range in ranges {
        heap.free(range).expect("a live range");
    }
    assert!(heap.held() <= u64::from(spare) * heap.chunk_size());
    assert!(heap.trim().len() <= usize::from(spare));
    assert_eq!((heap.live(), heap.held()), (0, 0));
}
