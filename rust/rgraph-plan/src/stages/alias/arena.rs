//! A growing arena of bytes that remembers who used each byte last.
//!
//! Segments stand in address order; neighbouring free ones make up a *run*, and runs are found by size:
//! ```text
//! │ used by c │ free, last a │ free, last b │ used by d │ free, last e │
//!             └────────── one run ──────────┘           └─── a run ───┘
//! ```
//! Where the order of uses is total, a run is one segment, since whoever comes now may have all of it.

use super::item::{Item, Overflow};

const NONE: u32 = u32::MAX;
/// Classes per power of two: runs of one class differ by less than an eighth.
const FINE: u32 = 8;
const CLASSES: usize = 64 * FINE as usize;
/// Segments looked at for one item before the arena grows instead. Bounds the time of a placement.
const LOOKS: u32 = 64;

#[derive(Clone, Copy)]
struct Segment {
    offset: u64,
    size: u64,
    /// Bytes of the run; kept in its first segment.
    run_size: u64,
    prev: u32,
    next: u32,
    /// Neighbours in the list of the run's class; kept in its first segment.
    class_prev: u32,
    class_next: u32,
    /// The run's last segment, in its first one, and the first one in the last.
    other_end: u32,
    /// Who uses it, or used it last; `NONE`: nobody yet.
    owner: u32,
    free: bool,
}

/// See the module.
pub(super) struct Arena {
    segments: Vec<Segment>,
    /// Unused entries of `segments`.
    spare: Vec<u32>,
    /// Segment of each item that is in the arena.
    segment_of: Vec<u32>,
    /// One bit a class that has runs.
    filled: [u64; CLASSES / 64],
    /// First run of each class; valid where the bit is set.
    heads: [u32; CLASSES],
    last: u32,
    end: u64,
}

impl Default for Arena {
    fn default() -> Self {
        Self {
            segments: Vec::new(),
            spare: Vec::new(),
            segment_of: Vec::new(),
            filled: [0; CLASSES / 64],
            heads: [NONE; CLASSES],
            last: NONE,
            end: 0,
        }
    }
}

/// Where an item fits: the segment that holds its first byte, and the byte.
#[derive(Clone, Copy)]
struct Fit {
    run: u32,
    segment: u32,
    offset: u64,
}

impl Arena {
    /// Empties the arena for `items` items.
    pub fn reset(&mut self, items: usize) {
        self.segments.clear();
        self.spare.clear();
        self.segment_of.clear();
        self.segment_of.resize(items, NONE);
        self.filled = [0; CLASSES / 64];
        self.last = NONE;
        self.end = 0;
    }

    /// Bytes from the first to the last ever used.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Gives `id` the tightest run found, or the end of the arena; returns its offset. `after` says whether it may follow an owner.
    ///
    /// At most [`LOOKS`] segments are looked at, plus those it takes over.
    pub fn take(&mut self, id: u32, item: &Item, after: Option<impl Fn(u32) -> bool>) -> Result<u64, Overflow> {
        let after = after.as_ref();
        let mut looks = LOOKS;
        let fit = match self.find(item, after, &mut looks) {
            Some(fit) => {
                self.unlist(fit.run);
                fit
            }
            None => self.grow(item, after, &mut looks)?,
        };
        self.occupy(fit, id, item.size);
        Ok(fit.offset)
    }

    /// Frees the bytes of `id`, who stays known as their last owner. `ordered`: keep owners apart.
    pub fn release(&mut self, id: u32, ordered: bool) {
        let mut first = self.segment_of[id as usize];
        let segment = &mut self.segments[first as usize];
        segment.free = true;
        let (mut size, prev, next) = (segment.size, segment.prev, segment.next);
        let mut last = first;
        if prev != NONE && self.segments[prev as usize].free {
            first = if ordered { self.segments[prev as usize].other_end } else { prev };
            self.unlist(first);
            size += self.segments[first as usize].run_size;
        }
        if next != NONE && self.segments[next as usize].free {
            self.unlist(next);
            size += self.segments[next as usize].run_size;
            last = self.segments[next as usize].other_end;
        }
        if !ordered {
            self.segments[first as usize].size = size;
            while last != first {
                let before = self.segments[last as usize].prev;
                self.unlink(last);
                last = before;
            }
        }
        self.list(first, last, size);
    }

    /// The smallest fitting run of the first class that has one.
    fn find(&self, item: &Item, after: Option<&impl Fn(u32) -> bool>, looks: &mut u32) -> Option<Fit> {
        let mut class = class(item.size);
        while let Some(filled) = self.next_class(class) {
            let (mut best, mut best_size) = (None, u64::MAX);
            let mut run = self.heads[filled];
            while run != NONE && *looks > 0 {
                let segment = &self.segments[run as usize];
                *looks -= 1;
                if segment.run_size >= item.size
                    && segment.run_size < best_size
                    && let Some(fit) = self.fit(run, item, after, looks)
                {
                    (best, best_size) = (Some(fit), segment.run_size);
                    if best_size == item.size {
                        return best;
                    }
                }
                run = segment.class_next;
            }
            if best.is_some() || *looks == 0 {
                return best;
            }
            class = filled + 1;
        }
        None
    }

    /// The lowest place in a run whose owners all come before the item.
    fn fit(&self, run: u32, item: &Item, after: Option<&impl Fn(u32) -> bool>, looks: &mut u32) -> Option<Fit> {
        let mut segment = run;
        let mut place = Fit { run, segment, offset: align_up(self.segments[run as usize].offset, item.align)? };
        loop {
            let here = &self.segments[segment as usize];
            let end = here.offset + here.size;
            if place.offset >= end || !may_follow(here.owner, after) {
                place.offset = place.offset.max(align_up(end, item.align)?);
                place.segment = NONE;
            } else {
                if place.segment == NONE {
                    place.segment = segment;
                }
                if place.offset.checked_add(item.size)? <= end {
                    return Some(place);
                }
            }
            segment = here.next;
            *looks = looks.saturating_sub(1);
            if segment == NONE || !self.segments[segment as usize].free || *looks == 0 {
                return None;
            }
        }
    }

    /// Makes the arena longer until the item fits at its end.
    fn grow(&mut self, item: &Item, after: Option<&impl Fn(u32) -> bool>, looks: &mut u32) -> Result<Fit, Overflow> {
        let mut start = self.end;
        let mut segment = self.last;
        while segment != NONE && (*looks > 0 || after.is_none()) {
            let here = &self.segments[segment as usize];
            if !here.free || !may_follow(here.owner, after) {
                break;
            }
            start = here.offset;
            segment = here.prev;
            *looks = looks.saturating_sub(1);
        }
        let offset = align_up(start, item.align).ok_or(Overflow)?;
        let end = offset.checked_add(item.size).ok_or(Overflow)?;
        let added = end.saturating_sub(self.end);
        let run = if self.last != NONE && self.segments[self.last as usize].free {
            let run = self.segments[self.last as usize].other_end;
            self.unlist(run);
            self.segments[self.last as usize].size += added;
            self.segments[run as usize].run_size += added;
            run
        } else {
            let run = self.insert_after(self.last, self.end, added);
            self.segments[run as usize].other_end = run;
            run
        };
        self.end += added;
        let mut first = self.last;
        while self.segments[first as usize].offset > offset {
            first = self.segments[first as usize].prev;
        }
        Ok(Fit { run, segment: first, offset })
    }

    /// Turns part of an unlisted run into the segment of `id` and lists what is left on both sides.
    fn occupy(&mut self, fit: Fit, id: u32, size: u64) {
        let Fit { run, segment, offset } = fit;
        let Segment { run_size, other_end: mut tail, offset: run_start, .. } = self.segments[run as usize];
        let end = offset + size;
        let mut mine = segment;
        let ahead = offset - self.segments[segment as usize].offset;
        if ahead > 0 {
            let rest = self.segments[segment as usize].size - ahead;
            self.segments[segment as usize].size = ahead;
            mine = self.insert_after(segment, offset, rest);
            self.segments[mine as usize].owner = self.segments[segment as usize].owner;
            if tail == segment {
                tail = mine;
            }
        }
        while self.segments[mine as usize].offset + self.segments[mine as usize].size < end {
            let next = self.segments[mine as usize].next;
            self.segments[mine as usize].size += self.segments[next as usize].size;
            if self.segments[mine as usize].offset + self.segments[mine as usize].size > end {
                self.segments[mine as usize].owner = self.segments[next as usize].owner;
            }
            if tail == next {
                tail = mine;
            }
            self.unlink(next);
        }
        let behind = self.segments[mine as usize].offset + self.segments[mine as usize].size - end;
        if behind > 0 {
            let rest = self.insert_after(mine, end, behind);
            self.segments[rest as usize].owner = self.segments[mine as usize].owner;
            if tail == mine {
                tail = rest;
            }
        }
        let before = self.segments[mine as usize].prev;
        let mine_now = &mut self.segments[mine as usize];
        mine_now.size = size;
        mine_now.owner = id;
        mine_now.free = false;
        let after = mine_now.next;
        self.segment_of[id as usize] = mine;
        if offset > run_start {
            self.list(run, before, offset - run_start);
        }
        if tail != mine {
            self.list(after, tail, run_start + run_size - end);
        }
    }

    /// A new free segment that nobody used, behind `prev` in address order.
    fn insert_after(&mut self, prev: u32, offset: u64, size: u64) -> u32 {
        let next = if prev == NONE { NONE } else { self.segments[prev as usize].next };
        let segment = Segment {
            offset,
            size,
            run_size: size,
            prev,
            next,
            class_prev: NONE,
            class_next: NONE,
            other_end: NONE,
            owner: NONE,
            free: true,
        };
        let id = match self.spare.pop() {
            Some(id) => {
                self.segments[id as usize] = segment;
                id
            }
            None => {
                self.segments.push(segment);
                (self.segments.len() - 1) as u32
            }
        };
        if prev != NONE {
            self.segments[prev as usize].next = id;
        }
        if next == NONE {
            self.last = id;
        } else {
            self.segments[next as usize].prev = id;
        }
        id
    }

    /// Takes a segment out of the address order; it is never the first one.
    fn unlink(&mut self, id: u32) {
        let Segment { prev, next, .. } = self.segments[id as usize];
        self.segments[prev as usize].next = next;
        if next == NONE {
            self.last = prev;
        } else {
            self.segments[next as usize].prev = prev;
        }
        self.spare.push(id);
    }

    fn list(&mut self, first: u32, last: u32, size: u64) {
        let class = class(size);
        let (word, bit) = (class / 64, 1u64 << (class % 64));
        let next = if self.filled[word] & bit == 0 { NONE } else { self.heads[class] };
        self.filled[word] |= bit;
        self.heads[class] = first;
        if next != NONE {
            self.segments[next as usize].class_prev = first;
        }
        self.segments[last as usize].other_end = first;
        let head = &mut self.segments[first as usize];
        (head.run_size, head.other_end, head.class_prev, head.class_next) = (size, last, NONE, next);
    }

    fn unlist(&mut self, run: u32) {
        let Segment { class_prev: prev, class_next: next, run_size, .. } = self.segments[run as usize];
        if next != NONE {
            self.segments[next as usize].class_prev = prev;
        }
        if prev != NONE {
            self.segments[prev as usize].class_next = next;
            return;
        }
        let class = class(run_size);
        self.heads[class] = next;
        if next == NONE {
            self.filled[class / 64] &= !(1 << (class % 64));
        }
    }

    /// The first class from `class` on that has runs.
    fn next_class(&self, class: usize) -> Option<usize> {
        let mut word = class / 64;
        let mut bits = self.filled.get(word)? & (!0 << (class % 64));
        while bits == 0 {
            word += 1;
            bits = *self.filled.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}

fn may_follow(owner: u32, after: Option<&impl Fn(u32) -> bool>) -> bool {
    after.is_none_or(|after| owner == NONE || after(owner))
}

/// Grows with `size`: the power of two and the next three bits.
fn class(size: u64) -> usize {
    let log = size.max(1).ilog2();
    let fine = if log >= 3 { size >> (log - 3) } else { size << (3 - log) } as u32 % FINE;
    (log * FINE + fine) as usize
}

/// The lowest multiple of `align` (a power of two; 0 is taken as 1) from `offset` on.
pub(super) fn align_up(offset: u64, align: u64) -> Option<u64> {
    let mask = align.max(1) - 1;
    Some(offset.checked_add(mask)? & !mask)
}
