//! Arithmetic on the 64 slots of a node, one bit each, set while the slot is free.

/// A node without a live slot.
pub(super) const EMPTY: u64 = u64::MAX;

/// `count` bits from `start` upwards; `count` is 1 to 64 and the bits fit.
#[inline]
pub(super) fn run(start: u32, count: u32) -> u64 {
    (EMPTY >> (64 - count)) << start
}

/// The bits from which `count` or more free slots follow, itself included; `count` is 1 to 64.
/// Doubles what is known at each step: at most six of them.
#[inline]
pub(super) fn starts(free: u64, count: u32) -> u64 {
    let (mut runs, mut known) = (free, 1);
    while known < count {
        let step = known.min(count - known);
        runs &= runs >> step;
        known += step;
    }
    runs
}

/// How many free slots follow each other at most. Runs of 2, 4, 8 … first, then the length bit by bit from above.
#[inline]
pub(super) fn longest(free: u64) -> u32 {
    if free == EMPTY {
        return 64;
    }
    let mut runs = [free, 0, 0, 0, 0, 0];
    let mut level = 0;
    while level < 5 {
        let longer = runs[level] & (runs[level] >> (1 << level));
        if longer == 0 {
            break;
        }
        level += 1;
        runs[level] = longer;
    }
    let mut found = runs[level];
    let mut length = u32::from(found != 0) << level;
    while level > 0 {
        level -= 1;
        let longer = found & (runs[level] >> length);
        if longer != 0 {
            found = longer;
            length += 1 << level;
        }
    }
    length
}

/// The length of the free run that covers `start..start + count`, which are free.
#[inline]
pub(super) fn around(free: u64, start: u32, count: u32) -> u32 {
    let below = (free << (63 - start)).leading_ones() - 1;
    let from = (free >> start).trailing_ones();
    debug_assert!(from >= count);
    below + from
}

/// Where `count` slots go among `free` ones, at a multiple of `stride` (a power of two): into a hole of exactly that
/// length if there is one, else at the lowest hole that is long enough.
#[inline]
pub(super) fn place(free: u64, count: u32, stride: u32) -> Option<u32> {
    let mut fits = starts(free, count);
    if stride > 1 {
        fits &= multiples(stride);
    }
    if fits == 0 {
        return None;
    }
    let after = if count < 64 { free >> count } else { 0 };
    let exact = fits & !(free << 1) & !after;
    Some(if exact == 0 { fits } else { exact }.trailing_zeros())
}

/// Every `stride`th bit, the lowest first; `stride` is a power of two up to 64.
#[inline]
fn multiples(stride: u32) -> u64 {
    if stride == 64 { 1 } else { EMPTY / ((1 << stride) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masks with few, many and clustered bits.
    fn masks() -> impl Iterator<Item = u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        (0..4000).flat_map(move |_| {
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state
            };
            let (a, b, c) = (next(), next(), next());
            [a, a & b, a | b, a | b | c, a & b & c, !run(a as u32 % 64, 1), EMPTY << (a % 64), EMPTY >> (a % 64)]
        })
    }

    fn holds(free: u64, start: u32, count: u32) -> bool {
        start + count <= 64 && free & run(start, count) == run(start, count)
    }

    #[test]
    fn the_longest_run_is_what_counting_says() {
        for free in masks().chain([0, EMPTY]) {
            let counted = (1..=64).rev().find(|&n| (0..64).any(|start| holds(free, start, n))).unwrap_or(0);
            assert_eq!(longest(free), counted, "{free:064b}");
        }
    }

    #[test]
    fn starts_are_where_a_run_fits() {
        for (free, count) in masks().zip((1..=64).cycle()) {
            for start in 0..64 {
                assert_eq!(starts(free, count) >> start & 1 == 1, holds(free, start, count), "{free:064b} {count}");
            }
        }
    }

    #[test]
    fn around_is_the_whole_hole() {
        for free in masks() {
            for start in (0..64).filter(|&start| holds(free, start, 1)) {
                let low = (0..=start).find(|&low| holds(free, low, start - low + 1)).expect("itself");
                let high = (start..64).rev().find(|&high| holds(free, start, high - start + 1)).expect("itself");
                assert_eq!(around(free, start, 1), high - low + 1, "{free:064b} {start}");
            }
        }
    }

    #[test]
    fn a_place_is_free_aligned_and_exact_where_it_can_be() {
        for (free, count) in masks().zip((1..=64).cycle()) {
            for stride in [1, 2, 4, 8, 16, 32, 64] {
                let fits = (0..64).step_by(stride as usize).filter(|&start| holds(free, start, count));
                let exact = |&start: &u32| (start == 0 || !holds(free, start - 1, 1)) && !holds(free, start + count, 1);
                let best = fits.clone().find(exact).or_else(|| fits.clone().next());
                assert_eq!(place(free, count, stride), best, "{free:064b} {count} {stride}");
            }
        }
    }
}
