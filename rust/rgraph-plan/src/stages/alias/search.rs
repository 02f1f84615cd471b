//! Depth-first search for a placement below a given capacity.
//!
//! Any placement can be pushed down until nothing can be moved lower; then every item lies at 0 or on top of the highest
//! neighbour below it, and items can be placed by ascending offset. The search tries exactly those placements:
//! ```text
//! 4 │      ┌────┐            floor of x: the highest end of a placed item that x may not share bytes with
//! 3 ├───┐  │    │  x         next item: floor not below the last offset, and below the lowest end that another
//! 2 │   ├──┴─┐  ├─────       item could have (else that one would fit wholly underneath)
//! 1 │   │    │  │
//! 0 └───┴────┴──┴─────▶ sections
//! ```
//! Where no unplaced item crosses a moment, both sides are solved on their own.
//!
//! Source: after the canonical solutions and the section bound of Moffitt, "MiniMalloc", ASPLOS 2023; own formulation.

use super::arena::align_up;
use super::conflict::Conflicts;
use super::place::Item;
use super::timeline::Timeline;

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Everything is placed below the capacity.
    Placed,
    /// No placement below the capacity exists.
    Impossible,
    /// The nodes are spent.
    Spent,
}

/// What is searched.
pub(super) struct Problem<'a> {
    pub items: &'a [Item],
    pub timeline: &'a Timeline,
    pub conflicts: &'a Conflicts,
    pub capacity: u64,
    /// Whether parts of the timeline that no item crosses are independent.
    pub one_queue: bool,
}

/// Scratch of [`search`]. Items have positions in here: by first section, then by id.
#[derive(Default)]
pub(super) struct Search {
    things: Vec<Thing>,
    /// Position of each item; `NONE` for those left out.
    position: Vec<u32>,
    /// Lowest offset that the placed neighbours leave, and the end there; `PLACED` where placed.
    floor: Vec<u64>,
    end: Vec<u64>,
    /// First position whose item begins in each section or later.
    begins: Vec<u32>,
    /// Unplaced bytes, by section.
    rest: Vec<u64>,
    /// Unplaced items that are alive in each section and the next.
    crossing: Vec<u32>,
    /// Lowest floor of an unplaced item, by section; only for the check at hand.
    lowest: Vec<u64>,
    /// Floors to restore.
    trail: Vec<(u32, u64)>,
    frames: Vec<Frame>,
    /// Offset, rank and position.
    candidates: Vec<(u64, u32, u32)>,
    /// Ranges of positions.
    parts: Vec<[u32; 2]>,
    /// Positions placed, in order.
    done: Vec<u32>,
}

const NONE: u32 = u32::MAX;
const PLACED: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Thing {
    id: u32,
    rank: u32,
    first: u32,
    last: u32,
    size: u64,
    align: u64,
}

/// One part of the timeline and the choice of what to place next in it.
#[derive(Clone, Copy, Default)]
struct Frame {
    part: [u32; 2],
    /// Those not tried yet.
    candidates: [u32; 2],
    /// Whether one of them is placed now.
    chosen: bool,
    /// Offset and rank of that one.
    choice: (u64, u32),
    /// Which of `parts` are to be solved under that choice.
    parts: [u32; 2],
    /// Lengths of `trail`, `parts` and `done` before it.
    marks: [usize; 3],
}

/// Places the items of `subset` below the capacity, trying those first that stand first there.
///
/// A node costs O(its part's items, and its neighbours' sections); `work` pays for that, one for an item or section
/// looked at. Offsets of other items are left alone.
pub(super) fn search(
    problem: &Problem,
    subset: &[u32],
    work: &mut u64,
    scratch: &mut Search,
    offsets: &mut [u64],
    nodes: &mut u64,
) -> Outcome {
    scratch.start(problem, subset);
    let whole = [0, subset.len() as u32];
    scratch.parts.push(whole);
    scratch.frames.push(Frame { chosen: true, parts: [0, 1], ..Frame::default() });
    loop {
        crate::cancel::poll();
        let at = scratch.frames.len() - 1;
        let frame = &mut scratch.frames[at];
        if frame.chosen && frame.parts[0] < frame.parts[1] {
            let (part, since) = (scratch.parts[frame.parts[0] as usize], frame.choice);
            frame.parts[0] += 1;
            *work = work.saturating_sub(u64::from(part[1] - part[0]));
            if let Some(candidates) = scratch.propose(part, since) {
                scratch.frames.push(Frame { part, candidates, ..Frame::default() });
            }
        } else if frame.chosen {
            // All parts are solved, so the part that this frame stands for is.
            scratch.frames.pop();
            if at == 0 {
                return Outcome::Placed;
            }
        } else if frame.candidates[0] == frame.candidates[1] {
            scratch.frames.pop();
            if at == 1 {
                return Outcome::Impossible;
            }
            scratch.undo(at - 1);
        } else {
            *nodes += 1;
            let price = scratch.choose(problem, at, offsets);
            if price > *work {
                *work = 0;
                return Outcome::Spent;
            }
            *work -= price;
        }
    }
}

impl Search {
    fn start(&mut self, problem: &Problem, subset: &[u32]) {
        let Problem { items, timeline, .. } = *problem;
        let sections = timeline.sections();
        self.trail.clear();
        self.frames.clear();
        self.candidates.clear();
        self.parts.clear();
        self.done.clear();
        self.things.clear();
        self.things.extend(subset.iter().enumerate().map(|(rank, &id)| {
            let Item { size, align, .. } = items[id as usize];
            let (first, last) = (timeline.first[id as usize], timeline.last[id as usize]);
            Thing { id, rank: rank as u32 + 1, first, last, size, align }
        }));
        self.things.sort_unstable_by_key(|thing| (thing.first, thing.id));
        self.position.clear();
        self.position.resize(items.len(), NONE);
        for cleared in [&mut self.rest, &mut self.lowest] {
            cleared.clear();
            cleared.resize(sections, 0);
        }
        for cleared in [&mut self.crossing, &mut self.begins] {
            cleared.clear();
            cleared.resize(sections + 1, 0);
        }
        for (position, thing) in self.things.iter().enumerate() {
            self.position[thing.id as usize] = position as u32;
            self.rest[thing.first as usize..=thing.last as usize].iter_mut().for_each(|rest| *rest += thing.size);
            self.crossing[thing.first as usize..thing.last as usize].iter_mut().for_each(|count| *count += 1);
            self.begins[thing.first as usize + 1] += 1;
        }
        for section in 0..sections {
            self.begins[section + 1] += self.begins[section];
        }
        self.floor.clear();
        self.floor.resize(subset.len(), 0);
        self.end.clear();
        self.end.extend(self.things.iter().map(|thing| thing.size));
    }

    /// Finds the items of a part that may come next, lowest and first in the order first; `None` if none is left.
    fn propose(&mut self, part: [u32; 2], since: (u64, u32)) -> Option<[u32; 2]> {
        let range = part[0] as usize..part[1] as usize;
        let lowest_end = self.end[range.clone()].iter().copied().min().filter(|&end| end != PLACED)?;
        let begin = self.candidates.len();
        for position in range {
            let floor = self.floor[position];
            if floor < lowest_end && floor >= since.0 {
                let rank = self.things[position].rank;
                if floor > since.0 || rank > since.1 {
                    self.candidates.push((floor, rank, position as u32));
                }
            }
        }
        self.candidates[begin..].sort_unstable();
        Some([begin as u32, self.candidates.len() as u32])
    }

    /// Places the next candidate of a frame, unless that leaves too little for the others; returns the work done.
    fn choose(&mut self, problem: &Problem, at: usize, offsets: &mut [u64]) -> u64 {
        let marks = [self.trail.len(), self.parts.len(), self.done.len()];
        let frame = &mut self.frames[at];
        let (offset, rank, position) = self.candidates[frame.candidates[0] as usize];
        frame.candidates[0] += 1;
        frame.marks = marks;
        frame.chosen = true;
        frame.choice = (offset, rank);
        let part = frame.part;
        let thing = self.things[position as usize];
        offsets[thing.id as usize] = offset;
        let mut price = 4 + problem.conflicts.of(thing.id).len() as u64;
        if self.put(problem, position, offset) {
            let (hopeful, looked_at) = self.hopeful(problem, part, marks[0] + 1, offset);
            price += looked_at;
            if hopeful {
                self.frames[at].parts = self.split(problem, part, &thing);
                return price;
            }
        }
        self.undo(at);
        price
    }

    /// Cuts a part where no unplaced item crosses any more; returns the range in `parts`.
    fn split(&mut self, problem: &Problem, part: [u32; 2], thing: &Thing) -> [u32; 2] {
        let begin = self.parts.len() as u32;
        let mut start = part[0];
        if problem.one_queue {
            for section in thing.first..thing.last {
                if self.crossing[section as usize] == 0 {
                    let cut = self.begins[section as usize + 1];
                    if cut > start && cut < part[1] {
                        self.parts.push([start, cut]);
                        start = cut;
                    }
                }
            }
        }
        self.parts.push([start, part[1]]);
        [begin, self.parts.len() as u32]
    }

    /// Puts an item on its floor; `false` if some section or neighbour then has too little left.
    fn put(&mut self, problem: &Problem, position: u32, offset: u64) -> bool {
        let Problem { conflicts, capacity, .. } = *problem;
        let Thing { id, size, first, last, .. } = self.things[position as usize];
        let end = offset + size;
        self.done.push(position);
        self.trail.push((position, self.floor[position as usize]));
        self.floor[position as usize] = PLACED;
        self.end[position as usize] = PLACED;
        let mut fits = end <= capacity;
        for rest in &mut self.rest[first as usize..=last as usize] {
            *rest -= size;
            fits &= end.saturating_add(*rest) <= capacity;
        }
        self.crossing[first as usize..last as usize].iter_mut().for_each(|count| *count -= 1);
        if fits {
            for &other in conflicts.of(id) {
                let other = self.position[other as usize];
                if other != NONE && self.floor[other as usize] < end {
                    let Thing { size, align, .. } = self.things[other as usize];
                    let Some(raised) = align_up(end, align).filter(|&raised| raised.saturating_add(size) <= capacity)
                    else {
                        return false;
                    };
                    self.trail.push((other, self.floor[other as usize]));
                    self.floor[other as usize] = raised;
                    self.end[other as usize] = raised + size;
                }
            }
        }
        fits
    }

    /// Whether sections near a newly placed item can still take their unplaced items above the lowest of their floors;
    /// and the work of finding out. Near: where an item that it raised is alive.
    fn hopeful(&mut self, problem: &Problem, part: [u32; 2], raised: usize, since: u64) -> (bool, u64) {
        let Self { things, floor, lowest, rest, trail, .. } = self;
        let range = part[0] as usize..part[1] as usize;
        let (mut from, mut to) = (u32::MAX, 0);
        let mut widen = |thing: &Thing| (from, to) = (from.min(thing.first), to.max(thing.last + 1));
        trail[raised..].iter().for_each(|&(position, _)| widen(&things[position as usize]));
        if from >= to {
            return (true, range.len() as u64);
        }
        lowest[from as usize..to as usize].fill(u64::MAX);
        let mut work = range.len() as u64 / 4;
        for (thing, &floor) in things[range.clone()].iter().zip(&floor[range]) {
            if floor != PLACED && thing.last >= from && thing.first < to {
                let (first, last) = (thing.first.max(from) as usize, thing.last.min(to - 1) as usize);
                let floor = floor.max(since);
                lowest[first..=last].iter_mut().for_each(|lowest| *lowest = floor.min(*lowest));
                work += 4 + (last - first) as u64;
            }
        }
        let sections = from as usize..to as usize;
        let fits = (lowest[sections.clone()].iter().zip(&rest[sections]))
            .all(|(&lowest, &rest)| lowest == u64::MAX || lowest.saturating_add(rest) <= problem.capacity);
        (fits, work)
    }

    /// Takes back the current choice of a frame and everything placed since.
    fn undo(&mut self, at: usize) {
        let [trail, parts, done] = self.frames[at].marks;
        for position in self.done.drain(done..) {
            let Thing { size, first, last, .. } = self.things[position as usize];
            self.rest[first as usize..=last as usize].iter_mut().for_each(|rest| *rest += size);
            self.crossing[first as usize..last as usize].iter_mut().for_each(|count| *count += 1);
        }
        for (position, floor) in self.trail.drain(trail..).rev() {
            self.floor[position as usize] = floor;
            self.end[position as usize] = floor + self.things[position as usize].size;
        }
        self.parts.truncate(parts);
        let frame = &mut self.frames[at];
        self.candidates.truncate(frame.candidates[1] as usize);
        frame.chosen = false;
    }
}
