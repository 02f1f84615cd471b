//! Placement in time order: each item takes the tightest hole there is when it is born.
//!
//! O(n) after the timeline, whatever the overlaps: an item looks at no more than a constant number of holes.

use rgraph_ir::id::Id;

use super::arena::Arena;
use super::item::{Item, ItemId, Overflow};
use super::timeline::Timeline;

/// Which way time runs: a placement for the reversed timeline serves as well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// Scratch of [`sweep`].
#[derive(Default)]
pub(super) struct Online {
    arena: Arena,
    batch: Vec<ItemId>,
}

/// Places all items, in order of birth, larger ones first where a section has several; returns the highest end.
pub(super) fn sweep<B: Fn(ItemId, ItemId) -> bool>(
    items: &[Item],
    timeline: &Timeline,
    before: Option<&B>,
    direction: Direction,
    scratch: &mut Online,
    offsets: &mut Vec<u64>,
) -> Result<u64, Overflow> {
    let Online { arena, batch } = scratch;
    arena.reset(items.len());
    offsets.clear();
    offsets.resize(items.len(), 0);
    for (section, mirrored) in timeline.sections().zip(timeline.sections().rev()) {
        crate::cancel::poll();
        let (born, dying) = match direction {
            Direction::Forward => (timeline.born_in(section), timeline.dying_in(section)),
            Direction::Backward => (timeline.dying_in(mirrored), timeline.born_in(mirrored)),
        };
        batch.clear();
        batch.extend(born.iter().filter(|&&id| items[id.index()].size > 0));
        if batch.len() > 1 {
            batch.sort_unstable_by_key(|&id| (std::cmp::Reverse(items[id.index()].size), id));
        }
        for &id in batch.iter() {
            let after = before.map(|before| {
                move |owner| match direction {
                    Direction::Forward => before(owner, id),
                    Direction::Backward => before(id, owner),
                }
            });
            offsets[id.index()] = arena.take(id, &items[id.index()], after)?;
        }
        for &id in dying.iter().filter(|&&id| items[id.index()].size > 0) {
            arena.release(id, before.is_some());
        }
    }
    Ok(arena.end())
}
