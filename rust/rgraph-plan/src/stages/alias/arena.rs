//! A growing arena of bytes that remembers the last owner of each byte.
//!
//! Segments are in address order; neighbouring free ones form a *run*, and runs are found by size:
//! ```text
//! │ used by c │ free, last a │ free, last b │ used by d │ free, last e │
//!             └────────── one run ──────────┘           └─── a run ───┘
//! ```
//! If the order of uses is total, a run is one segment: the next item may use all of it.

use rgraph_ir::id::IdVec;

use super::item::{Item, ItemId, Overflow};

rgraph_ir::id! {
    /// A segment, used or free.
    struct SegmentId;
}

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
    prev: Option<SegmentId>,
    next: Option<SegmentId>,
    /// Neighbours in the list of the run's class; kept in its first segment.
    class_prev: Option<SegmentId>,
    class_next: Option<SegmentId>,
    /// The run's last segment, in its first one, and the first one in the last.
    other_end: SegmentId,
    /// The item that uses it, or used it last.
    owner: Option<ItemId>,
    free: bool,
}

/// See the module.
pub(super) struct Arena {
    segments: IdVec<SegmentId, Segment>,
    /// Unused entries of `segments`.
    spare: Vec<SegmentId>,
    /// Segment of each item that is in the arena.
    segment_of: IdVec<ItemId, Option<SegmentId>>,
    /// One bit per class: set if it has runs.
    filled: [u64; CLASSES / 64],
    /// First run of each class; valid where the bit is set.
    heads: [Option<SegmentId>; CLASSES],
    last: Option<SegmentId>,
    end: u64,
}

impl Default for Arena {
    fn default() -> Self {
        Self {
            segments: IdVec::new(),
            spare: Vec::new(),
            segment_of: IdVec::new(),
            filled: [0; CLASSES / 64],
            heads: [None; CLASSES],
            last: None,
            end: 0,
        }
    }
}

/// A place for an item: the segment of its first byte, and its offset.
#[derive(Clone, Copy)]
struct Fit {
    run: SegmentId,
    segment: SegmentId,
    offset: u64,
}

impl Arena {
    /// Empties the arena for `items` items.
    pub(super) fn reset(&mut self, items: usize) {
        self.segments.clear();
        self.spare.clear();
        self.segment_of.refill(None, items);
        self.filled = [0; CLASSES / 64];
        self.last = None;
        self.end = 0;
    }

    /// Bytes from the first to the last ever used.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Gives `id` the tightest run found, or the end of the arena; returns its offset. `after` is true of the owners
    /// whose bytes it may reuse.
    ///
    /// At most [`LOOKS`] segments are looked at, plus those whose bytes it reuses.
    pub(super) fn take(
        &mut self,
        id: ItemId,
        item: &Item,
        after: Option<impl Fn(ItemId) -> bool>,
    ) -> Result<u64, Overflow> {
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

    /// Frees the bytes of `id`, which stays recorded as their last owner. `ordered`: keep the segments of owners apart.
    pub(super) fn release(&mut self, id: ItemId, ordered: bool) {
        let mut first = self.segment_of[id].expect("an item is released after it was placed");
        let segment = &mut self.segments[first];
        segment.free = true;
        let (mut size, prev, next) = (segment.size, segment.prev, segment.next);
        let mut last = first;
        if let Some(prev) = prev.filter(|prev| self.segments[*prev].free) {
            // With owners apart the neighbour is the last segment of its run, which is listed by its first one.
            first = if ordered { self.segments[prev].other_end } else { prev };
            self.unlist(first);
            size += self.segments[first].run_size;
        }
        if let Some(next) = next.filter(|next| self.segments[*next].free) {
            self.unlist(next);
            size += self.segments[next].run_size;
            last = self.segments[next].other_end;
        }
        if !ordered {
            self.segments[first].size = size;
            while last != first {
                last = self.unlink(last);
            }
        }
        self.list(first, last, size);
    }

    /// The smallest fitting run of the first class that has one.
    fn find(&self, item: &Item, after: Option<&impl Fn(ItemId) -> bool>, looks: &mut u32) -> Option<Fit> {
        let mut class = class(item.size);
        while let Some(filled) = self.next_class(class) {
            let (mut best, mut best_size) = (None, u64::MAX);
            let mut run = self.heads[filled];
            while let Some(id) = run.filter(|_| *looks > 0) {
                let segment = &self.segments[id];
                *looks -= 1;
                if segment.run_size >= item.size
                    && segment.run_size < best_size
                    && let Some(fit) = self.fit(id, item, after, looks)
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
    fn fit(
        &self,
        run: SegmentId,
        item: &Item,
        after: Option<&impl Fn(ItemId) -> bool>,
        looks: &mut u32,
    ) -> Option<Fit> {
        let mut segment = run;
        // The segment with the first byte, if one is found, and that byte.
        let (mut first, mut offset) = (Some(run), align_up(self.segments[run].offset, item.align)?);
        loop {
            let here = &self.segments[segment];
            let end = here.offset + here.size;
            // The item needs neighbouring segments all of whose owners it may follow. At an owner that it may not
            // follow, the place starts again after that segment.
            if offset >= end || !may_follow(here.owner, after) {
                offset = offset.max(align_up(end, item.align)?);
                first = None;
            } else {
                let segment = *first.get_or_insert(segment);
                if offset.checked_add(item.size)? <= end {
                    return Some(Fit { run, segment, offset });
                }
            }
            segment = here.next?;
            *looks = looks.saturating_sub(1);
            if !self.segments[segment].free || *looks == 0 {
                return None;
            }
        }
    }

    /// Extends the arena until the item fits at its end.
    fn grow(&mut self, item: &Item, after: Option<&impl Fn(ItemId) -> bool>, looks: &mut u32) -> Result<Fit, Overflow> {
        let mut start = self.end;
        let mut segment = self.last;
        // The item begins in free segments at the end whose owners it may follow. In a total order that is one segment,
        // so the walk needs no limit.
        while let Some(id) = segment.filter(|_| *looks > 0 || after.is_none()) {
            let here = &self.segments[id];
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
        let (run, mut first) = match self.last.filter(|last| self.segments[*last].free) {
            Some(last) => {
                let run = self.segments[last].other_end;
                self.unlist(run);
                self.segments[last].size += added;
                self.segments[run].run_size += added;
                (run, last)
            }
            None => {
                let run = self.insert_after(self.last, self.end, added);
                (run, run)
            }
        };
        self.end += added;
        while self.segments[first].offset > offset {
            first = self.segments[first].prev.expect("the first segment begins at 0");
        }
        Ok(Fit { run, segment: first, offset })
    }

    /// Turns part of an unlisted run into the segment of `id` and lists the rest on both sides.
    fn occupy(&mut self, fit: Fit, id: ItemId, size: u64) {
        let Fit { run, segment, offset } = fit;
        let Segment { run_size, other_end: mut tail, offset: run_start, .. } = self.segments[run];
        let end = offset + size;
        let mut mine = segment;
        let ahead = offset - self.segments[segment].offset;
        if ahead > 0 {
            let rest = self.segments[segment].size - ahead;
            self.segments[segment].size = ahead;
            mine = self.insert_after(Some(segment), offset, rest);
            self.segments[mine].owner = self.segments[segment].owner;
            if tail == segment {
                tail = mine;
            }
        }
        while self.segments[mine].offset + self.segments[mine].size < end {
            let next = self.segments[mine].next.expect("a fit ends within its run");
            self.segments[mine].size += self.segments[next].size;
            // The rest after the item keeps the owner of the last segment.
            if self.segments[mine].offset + self.segments[mine].size > end {
                self.segments[mine].owner = self.segments[next].owner;
            }
            if tail == next {
                tail = mine;
            }
            self.unlink(next);
        }
        let behind = self.segments[mine].offset + self.segments[mine].size - end;
        if behind > 0 {
            let rest = self.insert_after(Some(mine), end, behind);
            self.segments[rest].owner = self.segments[mine].owner;
            if tail == mine {
                tail = rest;
            }
        }
        let before = self.segments[mine].prev;
        let mine_now = &mut self.segments[mine];
        mine_now.size = size;
        mine_now.owner = Some(id);
        mine_now.free = false;
        let after = mine_now.next;
        self.segment_of[id] = Some(mine);
        if let Some(before) = before.filter(|_| offset > run_start) {
            self.list(run, before, offset - run_start);
        }
        if let Some(after) = after.filter(|_| tail != mine) {
            self.list(after, tail, run_start + run_size - end);
        }
    }

    /// Inserts a free segment without an owner after `prev` in address order.
    fn insert_after(&mut self, prev: Option<SegmentId>, offset: u64, size: u64) -> SegmentId {
        let next = prev.and_then(|prev| self.segments[prev].next);
        let spare = self.spare.pop();
        let id = spare.unwrap_or_else(|| self.segments.next_id());
        let segment = Segment {
            offset,
            size,
            run_size: size,
            prev,
            next,
            class_prev: None,
            class_next: None,
            other_end: id,
            owner: None,
            free: true,
        };
        match spare {
            Some(id) => self.segments[id] = segment,
            None => _ = self.segments.push(segment),
        }
        if let Some(prev) = prev {
            self.segments[prev].next = Some(id);
        }
        match next {
            Some(next) => self.segments[next].prev = Some(id),
            None => self.last = Some(id),
        }
        id
    }

    /// Removes a segment from the address order; returns the one before it.
    fn unlink(&mut self, id: SegmentId) -> SegmentId {
        let Segment { prev, next, .. } = self.segments[id];
        let before = prev.expect("the first segment stays");
        self.segments[before].next = next;
        match next {
            Some(next) => self.segments[next].prev = prev,
            None => self.last = prev,
        }
        self.spare.push(id);
        before
    }

    fn list(&mut self, first: SegmentId, last: SegmentId, size: u64) {
        let class = class(size);
        let (word, bit) = (class / 64, 1u64 << (class % 64));
        let next = self.heads[class].filter(|_| self.filled[word] & bit != 0);
        self.filled[word] |= bit;
        self.heads[class] = Some(first);
        if let Some(next) = next {
            self.segments[next].class_prev = Some(first);
        }
        self.segments[last].other_end = first;
        let head = &mut self.segments[first];
        (head.run_size, head.other_end, head.class_prev, head.class_next) = (size, last, None, next);
    }

    fn unlist(&mut self, run: SegmentId) {
        let Segment { class_prev: prev, class_next: next, run_size, .. } = self.segments[run];
        if let Some(next) = next {
            self.segments[next].class_prev = prev;
        }
        if let Some(prev) = prev {
            self.segments[prev].class_next = next;
            return;
        }
        let class = class(run_size);
        self.heads[class] = next;
        if next.is_none() {
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

fn may_follow(owner: Option<ItemId>, after: Option<&impl Fn(ItemId) -> bool>) -> bool {
    after.is_none_or(|after| owner.is_none_or(after))
}

/// Class of a size: its power of two and the next three bits; monotonic in `size`.
fn class(size: u64) -> usize {
    let log = size.max(1).ilog2();
    let fine = if log >= 3 { size >> (log - 3) } else { size << (3 - log) } as u32 % FINE;
    (log * FINE + fine) as usize
}

/// The lowest multiple of `align` (a power of two; 0 counts as 1) that is at least `offset`; `None` if it overflows.
pub(super) fn align_up(offset: u64, align: u64) -> Option<u64> {
    let mask = align.max(1) - 1;
    Some(offset.checked_add(mask)? & !mask)
}

#[cfg(test)]
mod tests;
