//! What a placement must keep, written without the stage's own code.

use rgraph_ir::id::Id;
use rgraph_plan::inside::alias::place::{Item, ItemId, Peak};

/// A small deterministic generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn range(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }
}

/// Whether two items must not share a byte.
pub fn conflict(items: &[Item], before: &dyn Fn(ItemId, ItemId) -> bool, a: usize, b: usize) -> bool {
    let wholly = |x: usize, y: usize| items[x].last < items[y].first && before(ItemId::new(x), ItemId::new(y));
    !(wholly(a, b) || wholly(b, a))
}

/// Most bytes alive at one position.
pub fn most_alive(items: &[Item]) -> u128 {
    let mut events: Vec<_> = items.iter().map(|i| (u64::from(i.first), 1, i128::from(i.size))).collect();
    events.extend(items.iter().map(|i| (u64::from(i.last) + 1, 0, -i128::from(i.size))));
    events.sort();
    let (mut live, mut most) = (0, 0);
    for (_, _, change) in events {
        live += change;
        most = most.max(live);
    }
    most as u128
}

/// Panics unless the placement keeps its promises. Pairs are found by a sweep over addresses, so large cases are cheap.
pub fn check(items: &[Item], before: &dyn Fn(ItemId, ItemId) -> bool, offsets: &[u64], peak: Peak) {
    assert_eq!(offsets.len(), items.len());
    let end = |i: usize| offsets[i].checked_add(items[i].size).expect("an item ends within 64 bits");
    for (i, item) in items.iter().enumerate() {
        assert_eq!(offsets[i] % item.align, 0, "item {i} is not aligned");
    }
    assert_eq!(peak.total, (0..items.len()).filter(|&i| items[i].size > 0).map(end).max().unwrap_or(0), "total");
    assert_eq!(u128::from(peak.lower_bound), most_alive(items), "bound");
    assert!(peak.total >= peak.lower_bound);

    // Overlapping in bytes: sweep by address and compare with the items that are open there, but only as long as the
    // lifetimes (or the order) can make it a mistake, so keep the open ones and look at all of them.
    let mut by_offset: Vec<usize> = (0..items.len()).filter(|&i| items[i].size > 0).collect();
    by_offset.sort_by_key(|&i| offsets[i]);
    if items.len() <= 5000 {
        let mut open: Vec<usize> = Vec::new();
        for &i in &by_offset {
            open.retain(|&j| end(j) > offsets[i]);
            for &j in &open {
                assert!(!conflict(items, before, i, j), "items {j} and {i} share bytes");
            }
            open.push(i);
        }
    } else {
        // In time order instead: an ordered map of the live items' bytes must stay disjoint (one queue only).
        let mut events: Vec<(u32, bool, usize)> = by_offset.iter().map(|&i| (items[i].first, true, i)).collect();
        events.extend(by_offset.iter().map(|&i| (items[i].last + 1, false, i)));
        events.sort();
        let mut live = std::collections::BTreeMap::new();
        for (_, birth, i) in events {
            if birth {
                let below = live.range(..end(i)).next_back();
                assert!(below.is_none_or(|(_, &stop)| stop <= offsets[i]), "item {i} shares bytes");
                live.insert(offsets[i], end(i));
            } else {
                live.remove(&offsets[i]);
            }
        }
    }
}
