//! Which items must not share bytes, as neighbour lists.

use rgraph_ir::id::{Id, IdVec, Span};

use super::item::{Item, ItemId};
use super::timeline::Timeline;
use crate::stages::sort::sort_by_id;

/// Symmetric neighbour lists of the items that have bytes.
#[derive(Default)]
pub(super) struct Conflicts {
    /// By item: its list in `neighbours`.
    lists: IdVec<ItemId, Span>,
    neighbours: Vec<ItemId>,
    pairs: Vec<[ItemId; 2]>,
    alive: Vec<ItemId>,
    ended: Vec<ItemId>,
}

impl Conflicts {
    /// Finds all pairs of items that overlap in time or are not ordered by `before`; `false`, with nothing built, if
    /// more than `limit` pairs would have to be looked at.
    ///
    /// O(n + pairs that overlap), and O(n²) where `before` is given.
    pub(super) fn build<B: Fn(ItemId, ItemId) -> bool>(
        &mut self,
        items: &[Item],
        timeline: &Timeline,
        before: Option<&B>,
        limit: u64,
    ) -> bool {
        if pairs_to_look_at(timeline, before.is_some()) > limit {
            return false;
        }
        let Self { lists, neighbours, pairs, alive, ended } = self;
        pairs.clear();
        alive.clear();
        ended.clear();
        for section in timeline.sections() {
            crate::cancel::poll();
            for &item in timeline.born_in(section).iter().filter(|&&id| items[id.index()].size > 0) {
                let unordered = before.map(|before| ended.iter().filter(move |&&other| !before(other, item)));
                for &other in alive.iter().chain(unordered.into_iter().flatten()) {
                    pairs.push([item, other]);
                }
                alive.push(item);
            }
            if !timeline.dying_in(section).is_empty() {
                if before.is_some() {
                    ended.extend(alive.iter().filter(|&&id| timeline.last[id] == section));
                }
                alive.retain(|&id| timeline.last[id] > section);
            }
        }
        let both = pairs.iter().flat_map(|&[a, b]| [(a, b), (b, a)]);
        sort_by_id(items.len(), both, lists, neighbours);
        true
    }

    /// Items that must not share bytes with `item`.
    pub(super) fn of(&self, item: ItemId) -> &[ItemId] {
        &self.neighbours[self.lists[item].range()]
    }

    /// Sum of the lengths of all lists.
    pub(super) fn total(&self) -> u64 {
        self.neighbours.len() as u64
    }
}

fn pairs_to_look_at(timeline: &Timeline, ordered: bool) -> u64 {
    let n = timeline.first.len() as u64;
    if ordered {
        return n * n.saturating_sub(1) / 2;
    }
    let (mut live, mut pairs) = (0, 0);
    for section in timeline.sections() {
        for _ in timeline.born_in(section) {
            pairs += live;
            live += 1;
        }
        live -= timeline.dying_in(section).len() as u64;
    }
    pairs
}

#[cfg(test)]
mod tests;
