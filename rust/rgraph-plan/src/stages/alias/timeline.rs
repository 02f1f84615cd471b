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

use super::item::{Item, Overflow};

const BORN: u8 = 1;
const DIES: u8 = 2;

/// Sections, the items that begin and end in each, and the bytes alive there.
#[derive(Default)]
pub(super) struct Timeline {
    /// First section of each item.
    pub first: Vec<u32>,
    /// Last section of each item, inclusive.
    pub last: Vec<u32>,
    /// Bytes alive in each section.
    pub load: Vec<u64>,
    /// Most bytes alive in a section.
    pub bound: u64,
    /// Items by first section; section s's stand at `born_at[s]..born_at[s + 1]`, ascending by id.
    pub born: Vec<u32>,
    /// See `born`.
    pub born_at: Vec<u32>,
    /// Items by last section, in the same form.
    pub dying: Vec<u32>,
    /// See `dying`.
    pub dying_at: Vec<u32>,
    marks: Vec<u8>,
    section_at: Vec<u32>,
    positions: Vec<u32>,
}

impl Timeline {
    /// Rebuilds everything for `items`.
    ///
    /// O(n + positions), and O(n log n) where positions are much sparser than items.
    ///
    /// # Errors
    /// If more than `u64::MAX` bytes are alive at once.
    pub fn build(&mut self, items: &[Item]) -> Result<(), Overflow> {
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
        self.first.clear();
        self.last.clear();
        for item in items {
            debug_assert!(item.first <= item.last, "a lifetime ends where it begins, or later");
            let (first, last) =
                if dense { (item.first, item.last) } else { (self.rank(item.first), self.rank(item.last)) };
            self.marks[first as usize] |= BORN;
            self.marks[last as usize] |= DIES;
            self.first.push(first);
            self.last.push(last);
        }
        let sections = self.number_sections();
        for position in self.first.iter_mut().chain(&mut self.last) {
            *position = self.section_at[*position as usize];
        }
        gather(&self.first, sections, &mut self.born_at, &mut self.born);
        gather(&self.last, sections, &mut self.dying_at, &mut self.dying);
        self.weigh(items, sections)
    }

    /// Number of sections.
    pub fn sections(&self) -> usize {
        self.load.len()
    }

    /// Items that begin in a section.
    pub fn born_in(&self, section: usize) -> &[u32] {
        &self.born[self.born_at[section] as usize..self.born_at[section + 1] as usize]
    }

    /// Items that end in a section.
    pub fn dying_in(&self, section: usize) -> &[u32] {
        &self.dying[self.dying_at[section] as usize..self.dying_at[section + 1] as usize]
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
            section
        }));
        if self.marks.is_empty() { 0 } else { section as usize + 1 }
    }

    fn weigh(&mut self, items: &[Item], sections: usize) -> Result<(), Overflow> {
        self.load.clear();
        self.bound = 0;
        let mut live = 0u64;
        for section in 0..sections {
            for &item in self.born_in(section) {
                live = live.checked_add(items[item as usize].size).ok_or(Overflow)?;
            }
            self.load.push(live);
            self.bound = self.bound.max(live);
            for &item in self.dying_in(section) {
                live -= items[item as usize].size;
            }
        }
        Ok(())
    }
}

/// Counting sort of items by section: stable, linear.
fn gather(section_of: &[u32], sections: usize, starts: &mut Vec<u32>, items: &mut Vec<u32>) {
    starts.clear();
    starts.resize(sections + 2, 0);
    for &section in section_of {
        starts[section as usize + 2] += 1;
    }
    for section in 2..starts.len() {
        starts[section] += starts[section - 1];
    }
    items.clear();
    items.resize(section_of.len(), 0);
    for (item, &section) in section_of.iter().enumerate() {
        let at = &mut starts[section as usize + 1];
        items[*at as usize] = item as u32;
        *at += 1;
    }
    starts.truncate(sections + 1);
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
        assert_eq!((timeline.sections(), timeline.bound), (2, 11));
        assert_eq!(timeline.first, [0, 0, 0, 1]);
        assert_eq!(timeline.last, [1, 1, 0, 1]);
        assert_eq!(timeline.load, [7, 11]);
        assert_eq!(timeline.born_in(0), [0, 1, 2]);
        assert_eq!(timeline.dying_in(1), [0, 1, 3]);
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
