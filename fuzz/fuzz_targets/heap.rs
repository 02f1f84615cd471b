//! Any sequence of allocating, freeing, freeing again and trimming: no two ranges meet, none lies outside its chunk or
//! off its alignment, and what is held and live is what was handed out.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use rgraph_plan::heap::{FreeError, Heap, Range};

#[derive(Arbitrary, Debug)]
struct Case {
    chunk_bits: u8,
    spare: u8,
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    /// `mantissa` shifted left by `bits`, so that all magnitudes are met.
    Allocate {
        mantissa: u8,
        bits: u8,
        align_bits: u8,
        fail: bool,
    },
    Free {
        index: u16,
    },
    FreeAgain,
    Trim,
}

fuzz_target!(|case: Case| {
    let mut heap = Heap::new(1 << (20 + case.chunk_bits % 8), u32::from(case.spare % 4));
    // Ends by chunk and start.
    let mut taken: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let mut held: Vec<bool> = Vec::new();
    let mut ranges: Vec<Range> = Vec::new();
    let mut freed = None;
    for operation in case.operations {
        match operation {
            Operation::Allocate { mantissa, bits, align_bits, fail } => {
                let (size, align) = (u64::from(mantissa) << (bits % 24), 1 << (align_bits % 28));
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
            Operation::Free { index } if !ranges.is_empty() => {
                let range = ranges.swap_remove(usize::from(index) % ranges.len());
                taken.remove(&(range.chunk(), range.offset()));
                if let Some(chunk) = heap.free(range).expect("a live range") {
                    held[chunk as usize] = false;
                }
                freed = Some(range);
            }
            Operation::Free { .. } => {}
            Operation::FreeAgain => {
                if let Some(range) = freed {
                    assert_eq!(heap.free(range), Err(FreeError::Twice(range)));
                }
            }
            Operation::Trim => heap.trim().into_iter().for_each(|chunk| held[chunk as usize] = false),
        }
        assert_eq!(heap.live(), ranges.iter().map(Range::size).sum::<u64>());
        let held: Vec<u32> = (0_u32..).zip(&held).filter(|(_, held)| **held).map(|(chunk, _)| chunk).collect();
        assert!(heap.chunks().map(|(chunk, _)| chunk).eq(held.iter().copied()));
        assert_eq!(heap.held(), held.len() as u64 * heap.chunk_size());
    }
    for range in ranges {
        heap.free(range).expect("a live range");
    }
    assert!(heap.held() <= u64::from(case.spare % 4) * heap.chunk_size());
    assert!(heap.trim().len() <= usize::from(case.spare % 4));
    assert_eq!((heap.live(), heap.held()), (0, 0));
});
