//! Lifetimes on a shortened clock: only the moments at which the live set is maximal.
//!
//! ```text
//! position  0  1  2  3  4  5          section    0     1
//! a         ■──■──■                   a          ■─────■
//! b            ■──■──■──■             b          ■─────■      a dies before d is born: two sections;
//! c         ■──■                      c          ■            births without a death between share one
//! d               ■──■                d                ■
//! ```
//! Two items overlap in sections exactly if they overlap in positions, and there are at most as many sections as items.

use rgraph_ir::id::{Id, IdSpan, IdVec, Span};

use super::item::{Item, ItemId, Overflow, SectionId};
use crate::stages::sort::sort_by_id;

const BORN: u8 = 1;
const DIES: u8 = 2;

/// Sections, the items that begin and end in each, and the bytes alive there.
#[derive(Default)]
pub(super) struct Timeline {
    /// First section of each item.
    pub first: IdVec<ItemId, SectionId>,
    /// Last section of each item, inclusive.
    pub last: IdVec<ItemId, SectionId>,
    /// Bytes alive in each section.
    pub load: IdVec<SectionId, u64>,
    /// Most bytes alive in a section.
    pub bound: u64,
    /// Items by first section.
    born: BySection,
    /// Items by last section.
    dying: BySection,
    marks: Vec<u8>,
    section_at: Vec<SectionId>,
    positions: Vec<u32>,
    /// By item: ranks of its first and last position.
    ranks: Vec<[u32; 2]>,
}

/// Items by section, ascending by id, in one list.
#[derive(Default)]
struct BySection {
    /// By section: its list in `items`.
    lists: IdVec<SectionId, Span>,
    items: Vec<ItemId>,
}

impl BySection {
    fn gather(&mut self, section_of: &IdVec<ItemId, SectionId>, sections: usize) {
        let items = section_of.iter_ids().map(|(item, &section)| (section, item));
        sort_by_id(sections, items, &mut self.lists, &mut self.items);
    }

    fn of(&self, section: SectionId) -> &[ItemId] {
        &self.items[self.lists[section].range()]
    }
}

impl Timeline {
    /// Rebuilds everything for `items`.
    ///
    /// O(n + positions), and O(n log n) where positions are much sparser than items.
    ///
    /// # Errors
    /// If more than `u64::MAX` bytes are alive at once.
    pub(super) fn build(&mut self, items: &[Item]) -> Result<(), Overflow> {
        let end = items.iter().map(|item| item.last as usize + 1).max().unwrap_or(0);
        self.positions.clear();
        let dense = end <= 4 * items.len() + 64;
        if !dense {
            self.positions.extend(items.iter().flat_map(|item| [item.first, item.last]));
            self.positions.sort_unstable();
            self.positions.dedup();
        }
        let count = if dense { end } else { self.positions.len() };
        self.marks.clear();
        self.marks.resize(count, 0);
        self.ranks.clear();
        for item in items {
            debug_assert!(item.first <= item.last, "a lifetime ends where it begins, or later");
            let (first, last) =
                if dense { (item.first, item.last) } else { (self.rank(item.first), self.rank(item.last)) };
            self.marks[first as usize] |= BORN;
            self.marks[last as usize] |= DIES;
            self.ranks.push([first, last]);
        }
        let sections = self.number_sections();
        self.first.clear();
        self.last.clear();
        for &[first, last] in &self.ranks {
            self.first.push(self.section_at[first as usize]);
            self.last.push(self.section_at[last as usize]);
        }
        self.born.gather(&self.first, sections);
        self.dying.gather(&self.last, sections);
        self.weigh(items, sections)
    }

    /// All sections, in order of time.
    pub(super) fn sections(&self) -> impl DoubleEndedIterator<Item = SectionId> + ExactSizeIterator + use<> {
        self.load.ids()
    }

    /// The sections of an item's life.
    pub(super) fn life(&self, item: ItemId) -> IdSpan<SectionId> {
        IdSpan::new(self.first[item].index(), self.last[item].index() + 1)
    }

    /// Items that begin in a section.
    pub(super) fn born_in(&self, section: SectionId) -> &[ItemId] {
        self.born.of(section)
    }

    /// Items that end in a section.
    pub(super) fn dying_in(&self, section: SectionId) -> &[ItemId] {
        self.dying.of(section)
    }

    fn rank(&self, position: u32) -> u32 {
        self.positions.partition_point(|&p| p < position) as u32
    }

    /// A section closes at a death; the next birth opens another.
    fn number_sections(&mut self) -> usize {
        let (mut section, mut closed) = (0, false);
        self.section_at.clear();
        self.section_at.extend(self.marks.iter().map(|&mark| {
            if mark & BORN != 0 && closed {
                section += 1;
                closed = false;
            }
            closed |= mark & DIES != 0;
            SectionId::new(section)
        }));
        if self.marks.is_empty() { 0 } else { section + 1 }
    }

    fn weigh(&mut self, items: &[Item], sections: usize) -> Result<(), Overflow> {
        self.load.clear();
        self.bound = 0;
        let mut live = 0u64;
        for section in (0..sections).map(SectionId::new) {
            for &item in self.born.of(section) {
                live = live.checked_add(items[item.index()].size).ok_or(Overflow)?;
            }
            self.load.push(live);
            self.bound = self.bound.max(live);
            for &item in self.dying.of(section) {
                live -= items[item.index()].size;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(size: u64, first: u32, last: u32) -> Item {
        Item { size, align: 1, first, last }
    }

    #[test]
    fn births_without_a_death_between_share_a_section() {
        let mut timeline = Timeline::default();
        timeline.build(&[item(1, 0, 2), item(2, 1, 4), item(4, 0, 1), item(8, 2, 3)]).unwrap();
        let ids = |items: &[ItemId]| items.iter().map(|item| item.index()).collect::<Vec<_>>();
        let sections = |of: &IdVec<ItemId, SectionId>| of.iter().map(|section| section.index()).collect::<Vec<_>>();
        assert_eq!((timeline.sections().len(), timeline.bound), (2, 11));
        assert_eq!(sections(&timeline.first), [0, 0, 0, 1]);
        assert_eq!(sections(&timeline.last), [1, 1, 0, 1]);
        assert_eq!(timeline.load.as_slice(), [7, 11]);
        assert_eq!(ids(timeline.born_in(SectionId::new(0))), [0, 1, 2]);
        assert_eq!(ids(timeline.dying_in(SectionId::new(1))), [0, 1, 3]);
    }

    #[test]
    fn sparse_positions_give_the_same_sections_as_dense_ones() {
        let dense = [item(1, 0, 2), item(2, 1, 4), item(4, 0, 1), item(8, 2, 3), item(3, 5, 5)];
        let sparse = dense.map(|i| Item { first: i.first * 800_000_000, last: i.last * 800_000_000 + 7, ..i });
        let (mut a, mut b) = (Timeline::default(), Timeline::default());
        a.build(&dense).unwrap();
        b.build(&sparse).unwrap();
        assert_eq!((a.first, a.last, a.load), (b.first, b.last, b.load));
    }

    #[test]
    fn more_live_bytes_than_a_number_holds_are_an_overflow() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.build(&[item(u64::MAX, 0, 1), item(1, 1, 1)]), Err(Overflow));
        assert_eq!(timeline.build(&[item(u64::MAX, 0, 0), item(1, 1, 1)]), Ok(()));
    }
}
