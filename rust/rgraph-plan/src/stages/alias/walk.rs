//! Previous owners of each item's bytes, for which the barrier at its first use must wait.
//!
//! Items of a heap are walked twice in order of first use, over a map from address to owner: once so that the map is as
//! a frame leaves it, and once to record the owners that each item finds.

use rgraph_ir::id::{Id, IdVec, Span};

use super::item::ItemId;

/// Where an item is and when it first uses its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// First byte.
    pub offset: u64,
    /// Bytes; an item without bytes has no previous owners.
    pub size: u64,
    /// Position of the first use in the plan's linear order. Ties go by index.
    pub order: u32,
}

/// An item whose bytes another item reuses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PreviousOwner {
    /// The item that owned them.
    pub item: ItemId,
    /// Whether that was in the frame before.
    pub from_previous_frame: bool,
}

/// For each item, those whose bytes it reuses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PreviousOwners {
    starts: IdVec<ItemId, u32>,
    edges: Vec<PreviousOwner>,
}

impl PreviousOwners {
    /// The owners that `item` follows, each once, ascending.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn of(&self, item: ItemId) -> &[PreviousOwner] {
        let after = ItemId::new(item.index() + 1);
        &self.edges[self.starts[item] as usize..self.starts[after] as usize]
    }

    /// All of them, by the item that reuses bytes.
    pub fn all(&self) -> &[PreviousOwner] {
        &self.edges
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Memory that [`previous_owners`] works in. A second call of the same size allocates nothing.
#[derive(Default)]
pub struct WalkScratch {
    order: Vec<ItemId>,
    bounds: Vec<u64>,
    spans: IdVec<ItemId, [u32; 2]>,
    owners: Vec<Option<PreviousOwner>>,
    cuts: Cuts,
    found: Vec<PreviousOwner>,
    found_at: IdVec<ItemId, Span>,
}

/// Finds, for every item of a heap, the direct previous owners of its bytes: in the same frame or, where no earlier
/// item of this frame owned a byte, its last owner in the frame before, which may be the item itself.
///
/// O(n log n): each step of the walk adds at most two cuts to the address map and takes away those that it covers,
/// so that there are fewer than 4n of them. Nothing is allocated once the scratch has grown.
pub fn previous_owners(placed: &[Placed], scratch: &mut WalkScratch, out: &mut PreviousOwners) {
    let WalkScratch { order, bounds, spans, owners, cuts, found, found_at } = scratch;
    order.clear();
    order.extend((0..placed.len()).map(ItemId::new));
    order.sort_unstable_by_key(|&id| (placed[id.index()].order, id));
    bounds.clear();
    bounds.push(0);
    bounds.extend(placed.iter().flat_map(|item| [item.offset, item.offset.saturating_add(item.size)]));
    bounds.sort_unstable();
    bounds.dedup();
    let rank = |address: u64| bounds.partition_point(|&bound| bound < address) as u32;
    spans.clear();
    spans
        .as_vec_mut()
        .extend(placed.iter().map(|item| [rank(item.offset), rank(item.offset.saturating_add(item.size))]));

    cuts.reset(bounds.len());
    cuts.insert(0);
    owners.clear();
    owners.resize(bounds.len(), None);
    found.clear();
    found_at.refill(Span::default(), placed.len());
    for from_previous_frame in [true, false] {
        for &id in order.iter() {
            crate::cancel::poll();
            let [start, end] = spans[id];
            if start == end {
                continue;
            }
            // Both ends become cuts, so that the bytes next to the item keep their owner.
            for cut in [start, end] {
                let owner = owners[cuts.last_until(cut) as usize];
                owners[cut as usize] = owner;
                cuts.insert(cut);
            }
            let seen = found.len();
            let mut at = Some(start);
            while let Some(cut) = at.filter(|&cut| cut < end) {
                if !from_previous_frame {
                    found.extend(owners[cut as usize]);
                }
                at = cuts.first_from(cut + 1);
                // All bytes up to `end` have one owner from now on.
                if cut != start {
                    cuts.remove(cut);
                }
            }
            owners[start as usize] = Some(PreviousOwner { item: id, from_previous_frame });
            found[seen..].sort_unstable();
            let kept = dedup_tail(found, seen);
            found_at[id] = Span::new(seen, kept);
        }
    }
    out.starts.clear();
    out.edges.clear();
    for span in found_at.iter() {
        out.starts.push(out.edges.len() as u32);
        out.edges.extend_from_slice(&found[span.range()]);
    }
    out.starts.push(out.edges.len() as u32);
}

/// Drops repetitions from the sorted part behind `start`; returns the new length.
fn dedup_tail(found: &mut Vec<PreviousOwner>, start: usize) -> usize {
    let mut kept = start;
    for at in start..found.len() {
        crate::cancel::poll();
        if at == start || found[at] != found[kept - 1] {
            found[kept] = found[at];
            kept += 1;
        }
    }
    found.truncate(kept);
    kept
}

/// An ordered set of small numbers: bit words, over words that say which words are not empty, and so on.
#[derive(Default)]
struct Cuts {
    words: Vec<u64>,
    /// Where each level begins; the numbers themselves are level 0.
    levels: Vec<usize>,
}

impl Cuts {
    fn reset(&mut self, numbers: usize) {
        self.levels.clear();
        let (mut at, mut count) = (0, numbers.max(1));
        loop {
            count = count.div_ceil(64);
            self.levels.push(at);
            at += count;
            if count == 1 {
                break;
            }
        }
        self.words.clear();
        self.words.resize(at, 0);
    }

    fn insert(&mut self, number: u32) {
        let mut at = number as usize;
        for &level in &self.levels {
            self.words[level + at / 64] |= 1 << (at % 64);
            at /= 64;
        }
    }

    fn remove(&mut self, number: u32) {
        let mut at = number as usize;
        for &level in &self.levels {
            let word = &mut self.words[level + at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The least number of the set that is `from` or more.
    fn first_from(&self, from: u32) -> Option<u32> {
        let mut at = from as usize;
        for (depth, &level) in self.levels.iter().enumerate() {
            let end = self.levels.get(depth + 1).copied().unwrap_or(self.words.len());
            let bits = *self.words[level..end].get(at / 64)? & (!0 << (at % 64));
            if bits != 0 {
                let mut found = at / 64 * 64 + bits.trailing_zeros() as usize;
                for &below in self.levels[..depth].iter().rev() {
                    found = found * 64 + self.words[below + found].trailing_zeros() as usize;
                }
                return Some(found as u32);
            }
            at = at / 64 + 1;
        }
        None
    }

    /// The greatest number of the set that is `until` or less; 0 is always in it.
    fn last_until(&self, until: u32) -> u32 {
        let mut at = until as usize;
        for (depth, &level) in self.levels.iter().enumerate() {
            let bits = self.words[level + at / 64] & (!0 >> (63 - at % 64));
            if bits != 0 {
                let mut found = at / 64 * 64 + bits.ilog2() as usize;
                for &below in self.levels[..depth].iter().rev() {
                    found = found * 64 + self.words[below + found].ilog2() as usize;
                }
                return found as u32;
            }
            if at < 64 {
                break;
            }
            at = at / 64 - 1;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_find_their_neighbours_across_words_and_levels() {
        let numbers = [0, 1, 63, 64, 4095, 4096, 9000, 262_143, 262_144, 300_000];
        let mut cuts = Cuts::default();
        cuts.reset(300_001);
        numbers.iter().for_each(|&n| cuts.insert(n));
        for probe in
            [0, 1, 2, 62, 63, 64, 65, 4000, 4095, 4096, 4097, 9001, 262_142, 262_143, 262_144, 299_999, 300_000]
        {
            assert_eq!(cuts.first_from(probe), numbers.iter().copied().find(|&n| n >= probe), "from {probe}");
            assert_eq!(Some(cuts.last_until(probe)), numbers.iter().copied().rfind(|&n| n <= probe), "until {probe}");
        }
        for n in &numbers[1..] {
            cuts.remove(*n);
        }
        assert_eq!((cuts.first_from(1), cuts.last_until(300_000)), (None, 0));
    }
}
