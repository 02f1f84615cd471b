//! Which items must not share bytes, as neighbour lists.

use super::item::Item;
use super::timeline::Timeline;

/// Symmetric neighbour lists of the items that have bytes.
#[derive(Default)]
pub(super) struct Conflicts {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    alive: Vec<u32>,
    ended: Vec<u32>,
}

impl Conflicts {
    /// Finds all pairs of items that overlap in time or are not ordered by `before`; `false`, with nothing built, if more
    /// than `limit` pairs would have to be looked at.
    ///
    /// O(n + pairs that overlap), and O(n²) where `before` is given.
    pub fn build<B: Fn(u32, u32) -> bool>(
        &mut self,
        items: &[Item],
        timeline: &Timeline,
        before: Option<&B>,
        limit: u64,
    ) -> bool {
        if pairs_to_look_at(timeline, before.is_some()) > limit {
            return false;
        }
        let Self { starts, neighbours, pairs, alive, ended } = self;
        pairs.clear();
        alive.clear();
        ended.clear();
        starts.clear();
        starts.resize(items.len() + 2, 0);
        for section in 0..timeline.sections() {
            crate::cancel::poll();
            for &item in timeline.born_in(section).iter().filter(|&&id| items[id as usize].size > 0) {
                let unordered = before.map(|before| ended.iter().filter(move |&&other| !before(other, item)));
                for &other in alive.iter().chain(unordered.into_iter().flatten()) {
                    pairs.push([item, other]);
                    starts[other as usize + 2] += 1;
                    starts[item as usize + 2] += 1;
                }
                alive.push(item);
            }
            if !timeline.dying_in(section).is_empty() {
                if before.is_some() {
                    ended.extend(alive.iter().filter(|&&id| timeline.last[id as usize] as usize == section));
                }
                alive.retain(|&id| timeline.last[id as usize] as usize > section);
            }
        }
        for item in 2..starts.len() {
            starts[item] += starts[item - 1];
        }
        neighbours.clear();
        neighbours.resize(2 * pairs.len(), 0);
        for &[a, b] in pairs.iter() {
            for [from, to] in [[a, b], [b, a]] {
                let at = &mut starts[from as usize + 1];
                neighbours[*at as usize] = to;
                *at += 1;
            }
        }
        true
    }

    /// Items that must not share bytes with `item`.
    pub fn of(&self, item: u32) -> &[u32] {
        &self.neighbours[self.starts[item as usize] as usize..self.starts[item as usize + 1] as usize]
    }

    /// Sum of the lengths of all lists.
    pub fn total(&self) -> u64 {
        self.neighbours.len() as u64
    }
}

fn pairs_to_look_at(timeline: &Timeline, ordered: bool) -> u64 {
    let n = timeline.first.len() as u64;
    if ordered {
        return n * n.saturating_sub(1) / 2;
    }
    let (mut live, mut pairs) = (0, 0);
    for section in 0..timeline.sections() {
        for _ in timeline.born_in(section) {
            pairs += live;
            live += 1;
        }
        live -= timeline.dying_in(section).len() as u64;
    }
    pairs
}
