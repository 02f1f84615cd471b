//! Which size goes to which class: a table on the size's logarithm and the bit below its highest.

use std::num::NonZeroU8;

/// Slots of a node.
pub(super) const SLOTS: u32 = 64;
/// A slot of a class is this many slots of the next finer one.
const STEP_BITS: u32 = 4;
/// Slots of the coarser class that one node takes.
pub(super) const NODE_SLOTS: u32 = SLOTS >> STEP_BITS;
/// More than the classes of the largest chunk.
pub(super) const MAX_CLASSES: usize = 6;
/// No slot is smaller than this power of two, in bytes.
const LEAST_SLOT_BITS: u32 = 6;
/// A size goes to the finest class of which it takes at most this many slots; half way between two powers of two at the
/// finest, for the table. Measured: 16, 32, 48 and 64 hold more.
const MOST_SLOTS: u64 = 24;

/// The classes of a chunk: slots of a 64th of it, then sixteenths of those, down to 64–512 bytes.
#[derive(Debug)]
pub(super) struct Shape {
    /// Logarithm of a slot's bytes, by class; 0 beyond the finest.
    pub slot_bits: [u32; MAX_CLASSES],
    pub chunk_size: u64,
    /// The class of a size, by [`row`].
    class_of: [u8; 128],
}

/// What a request becomes: `count` slots of `class`, at a multiple of `stride` slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub class: usize,
    pub count: u32,
    pub stride: u32,
}

impl Fit {
    /// `count`, as ranges keep it.
    #[inline]
    pub(super) fn slots(&self) -> NonZeroU8 {
        NonZeroU8::new(self.count as u8).unwrap_or(NonZeroU8::MIN)
    }
}

impl Shape {
    /// `chunk_size` is a power of two in bytes, at least 64 slots of the least size.
    pub(super) fn new(chunk_size: u64) -> Self {
        let mut slot_bits = [0; MAX_CLASSES];
        let mut classes = 0;
        let mut bits = chunk_size.trailing_zeros() - SLOTS.trailing_zeros();
        while classes < MAX_CLASSES {
            slot_bits[classes] = bits;
            classes += 1;
            if bits < STEP_BITS + LEAST_SLOT_BITS {
                break;
            }
            bits -= STEP_BITS;
        }
        let mut class_of = [0; 128];
        for (row, class) in class_of.iter_mut().enumerate() {
            // The greatest size of the row.
            let (log, half) = (row as u32 / 2, row as u128 % 2);
            let greatest = (2 + half + 1) << log >> 1;
            let fits = |&class: &usize| greatest <= u128::from(MOST_SLOTS) << slot_bits[class];
            *class = (0..classes).rev().find(fits).unwrap_or(0) as u8;
        }
        Self { slot_bits, chunk_size, class_of }
    }

    /// `None` for what no chunk can hold.
    ///
    /// A node starts at a multiple of a slot of the coarser class, so finer slots keep that alignment by their place in
    /// the node; what must be aligned to more than that goes up a class.
    #[inline]
    pub(super) fn fit(&self, size: u64, align: u64) -> Option<Fit> {
        if size == 0 || size > self.chunk_size || align > self.chunk_size {
            return None;
        }
        let mut class = usize::from(self.class_of[row(size)]);
        let align_bits = align.max(1).next_power_of_two().trailing_zeros();
        while class > 0 && align_bits > self.slot_bits[class - 1] {
            class -= 1;
        }
        let bits = self.slot_bits[class];
        let count = ((size - 1) >> bits) as u32 + 1;
        Some(Fit { class, count, stride: 1 << align_bits.saturating_sub(bits) })
    }
}

/// Where the table has a size: twice the logarithm of its last byte's position, and one more from half way upwards.
#[inline]
fn row(size: u64) -> usize {
    let last = (size - 1).max(1) << 1;
    let log = 62 - last.leading_zeros();
    (log << 1 | (last >> log & 1) as u32) as usize % 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_puts_a_size_where_it_takes_few_slots() {
        let shape = Shape::new(64 << 20);
        for size in (1..200_000).chain((1..1000).map(|i| i * 67_003)).filter(|&size| size <= 64 << 20) {
            let fit = shape.fit(size, 1).expect("it fits a chunk");
            let few = |class: usize| size <= MOST_SLOTS << shape.slot_bits[class];
            assert!(fit.class == 0 || few(fit.class), "{size}");
            assert!(fit.class == 3 || !few(fit.class + 1), "{size}");
        }
    }

    fn finest(shape: &Shape) -> u32 {
        shape.slot_bits.into_iter().filter(|&bits| bits > 0).min().expect("a chunk has slots")
    }

    #[test]
    fn slots_are_sixteenths_down_to_a_few_hundred_bytes() {
        let shape = Shape::new(64 << 20);
        assert_eq!(shape.slot_bits, [20, 16, 12, 8, 0, 0]);
        for bits in 20..=30 {
            let shape = Shape::new(1 << bits);
            let least = finest(&shape);
            assert!((6..10).contains(&least), "{bits}: {least}");
            assert_eq!(shape.slot_bits[0], bits - 6);
        }
    }

    #[test]
    fn every_size_fits_a_node_and_takes_less_than_a_slot_more() {
        for chunk_bits in 20..=30 {
            let shape = Shape::new(1 << chunk_bits);
            let least = 1 << finest(&shape);
            for log in 0..=chunk_bits {
                for size in [(1_u64 << log) - 1, 1 << log, (1 << log) + 1, 3 << log >> 1] {
                    for align in [0, 1, 3, 256, 4096, 65_536, 1 << 20] {
                        let Some(fit) = shape.fit(size, align) else {
                            assert!(size == 0 || size > shape.chunk_size || align > shape.chunk_size);
                            continue;
                        };
                        let slot = 1_u64 << shape.slot_bits[fit.class];
                        let held = u64::from(fit.count) * slot;
                        assert!((1..=SLOTS).contains(&fit.count) && fit.stride <= SLOTS);
                        assert!(held >= size && held - size < slot);
                        assert!(fit.class == 0 || align <= 1 << shape.slot_bits[fit.class - 1]);
                        assert!(align > 256 || held <= least.max(2 * size), "{size} takes {held}");
                    }
                }
            }
        }
    }
}
