//! What the tests of placement share.

use super::item::{Item, ItemId};
use super::timeline::Timeline;
use rgraph_ir::id::Id;

/// A small deterministic generator (splitmix64).
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }

    /// Items of up to `most` units, alive between positions below `positions`, some of them aligned.
    pub(super) fn items(&mut self, count: usize, most: u64, positions: u64) -> Vec<Item> {
        let one = |random: &mut Self| {
            let (a, b) = (random.below(positions) as u32, random.below(positions) as u32);
            item(1 + random.below(most), a.min(b), a.max(b)).aligned(1 << random.below(4))
        };
        (0..count).map(|_| one(self)).collect()
    }
}

/// An item that may lie anywhere.
pub(super) fn item(size: u64, first: u32, last: u32) -> Item {
    Item { size, align: 1, first, last }
}

impl Item {
    pub(super) fn aligned(self, align: u64) -> Self {
        Self { align, ..self }
    }
}

pub(super) fn ids<const N: usize>(numbers: [usize; N]) -> [ItemId; N] {
    numbers.map(ItemId::new)
}

pub(super) fn timeline(items: &[Item]) -> Timeline {
    let mut timeline = Timeline::default();
    timeline.build(items).expect("few bytes");
    timeline
}
