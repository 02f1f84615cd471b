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
//! Two things keep a search from going through the same failure again and again:
//! - An item below which another one was put (it was *passed over*) must end up on top of an unplaced neighbour; so it
//!   cannot be lower than the lowest end that one of these can have, and without such a neighbour the choice was wrong.
//! - A failure is *blamed* on placed items: those of the section that is full, and those that what is unplaced there stands
//!   on, all the way down. A choice that is not blamed for the failure of all that follows is taken back without trying its
//!   other candidates. Since the order of choices is not blamed, placements may be missed: such a search proves nothing.
//!
//! Source: after the canonical solutions and the section bound of Moffitt, "MiniMalloc", ASPLOS 2023; the jumps after
//! Prosser, "Hybrid algorithms for the constraint satisfaction problem", 1993; own formulation.

use super::arena::align_up;
use super::conflict::Conflicts;
use super::item::Item;
use super::timeline::Timeline;

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Everything is placed below the capacity.
    Placed,
    /// No placement below the capacity exists.
    Impossible,
    /// The work is spent, or what was tried proves nothing.
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
    /// Whether every placement is tried; else failures are blamed.
    pub exact: bool,
}

/// Items from which on failures are not blamed: the sets of blamed items would be large.
const MOST_BLAMED: usize = 2048;

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
    /// Lowest offset that each unplaced position may get; only for the check at hand.
    least: Vec<u64>,
    /// The position on which each one's floor stands; [`NONE`]: none.
    support: Vec<u32>,
    /// Floors and their supports to restore.
    trail: Vec<(u32, u64, u32)>,
    blame: Blame,
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

/// Sets of placed positions, as bits.
#[derive(Default)]
struct Blame {
    /// Words of a set; 0: nothing is blamed.
    words: usize,
    /// By position: itself and what it stands on, all the way down, when it was placed.
    chains: Vec<u64>,
    /// By frame: those blamed for the failures of its candidates so far.
    frames: Vec<u64>,
    /// Whether candidates were left out.
    jumped: bool,
}

/// What a failure is blamed on.
#[derive(Clone, Copy)]
enum Failure {
    /// A section that is full.
    Section(u32),
    /// An item that lies too high, and whether it was passed over.
    Item(u32, bool),
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
            let items = u64::from(part[1] - part[0]);
            *work = work.saturating_sub(items / 4);
            match scratch.propose(problem, part, since, work) {
                Ok(None) => {}
                Ok(Some(candidates)) => {
                    *work = work.saturating_sub(items - items / 4);
                    scratch.blame.open(at + 1, candidates[0] == candidates[1]);
                    scratch.frames.push(Frame { part, candidates, ..Frame::default() });
                }
                Err(_) if at == 0 => return Outcome::Impossible,
                Err(failure) => {
                    scratch.blame.open(at + 1, false);
                    scratch.accuse(problem, at + 1, failure);
                    scratch.fail(at);
                }
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
                return if scratch.blame.jumped { Outcome::Spent } else { Outcome::Impossible };
            }
            scratch.fail(at - 1);
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
        self.least.clear();
        self.least.resize(subset.len(), 0);
        self.support.clear();
        self.support.resize(subset.len(), NONE);
        let blames = !problem.exact && subset.len() <= MOST_BLAMED;
        self.blame.start(if blames { subset.len() } else { 0 });
        self.end.clear();
        self.end.extend(self.things.iter().map(|thing| thing.size));
    }

    /// Finds the items of a part that may come next, lowest and first in the order first; `None` if none is left. Fails if
    /// what is left cannot lie below the capacity.
    fn propose(
        &mut self,
        problem: &Problem,
        part: [u32; 2],
        since: (u64, u32),
        work: &mut u64,
    ) -> Result<Option<[u32; 2]>, Failure> {
        let range = part[0] as usize..part[1] as usize;
        let (mut lowest_end, mut from, mut to) = (PLACED, u32::MAX, 0);
        for position in range.clone() {
            let floor = self.floor[position];
            if floor == PLACED {
                continue;
            }
            let Thing { rank, first, last, size, .. } = self.things[position];
            let passed = (floor, rank) <= since;
            let least = if passed { self.lifted(problem, position, since.0, work) } else { floor.max(since.0) };
            if least.saturating_add(size) > problem.capacity {
                return Err(Failure::Item(position as u32, passed));
            }
            self.least[position] = least;
            lowest_end = lowest_end.min(self.end[position]);
            (from, to) = (from.min(first), to.max(last + 1));
        }
        if lowest_end == PLACED {
            return Ok(None);
        }
        self.lowest[from as usize..to as usize].fill(u64::MAX);
        let mut looked_at = 0;
        for position in range.clone().filter(|&position| self.floor[position] != PLACED) {
            let Thing { first, last, .. } = self.things[position];
            let least = self.least[position];
            self.lowest[first as usize..=last as usize].iter_mut().for_each(|lowest| *lowest = least.min(*lowest));
            looked_at += u64::from(last - first);
        }
        *work = work.saturating_sub(looked_at / 4);
        for section in from as usize..to as usize {
            let lowest = self.lowest[section];
            if lowest != u64::MAX && lowest.saturating_add(self.rest[section]) > problem.capacity {
                return Err(Failure::Section(section as u32));
            }
        }
        let begin = self.candidates.len();
        for position in range {
            let (floor, rank) = (self.floor[position], self.things[position].rank);
            if floor < lowest_end && (floor, rank) > since {
                self.candidates.push((floor, rank, position as u32));
            }
        }
        self.candidates[begin..].sort_unstable();
        Ok(Some([begin as u32, self.candidates.len() as u32]))
    }

    /// The lowest offset of an item that was passed over: an unplaced neighbour comes to lie below it.
    fn lifted(&self, problem: &Problem, position: usize, since: u64, work: &mut u64) -> u64 {
        let Thing { id, align, .. } = self.things[position];
        let neighbours = problem.conflicts.of(id);
        *work = work.saturating_sub(neighbours.len() as u64 / 4);
        let ends = neighbours.iter().filter_map(|&other| {
            let other = self.position[other as usize] as usize;
            let floor = *self.floor.get(other)?;
            (floor != PLACED).then(|| floor.max(since).saturating_add(self.things[other].size))
        });
        ends.min().and_then(|end| align_up(end, align)).unwrap_or(u64::MAX)
    }

    /// Blames a failure, in the set of a frame, on placed items.
    fn accuse(&mut self, problem: &Problem, frame: usize, failure: Failure) {
        let Self { things, position, floor, least, support, begins, blame, .. } = self;
        if blame.words == 0 {
            return;
        }
        let lifted = |blame: &mut Blame, of: usize| {
            for &other in problem.conflicts.of(things[of].id) {
                let other = position[other as usize];
                match floor.get(other as usize) {
                    None => {}
                    Some(&PLACED) => blame.add(frame, other),
                    Some(_) => blame.add_chain(frame, support[other as usize]),
                }
            }
        };
        match failure {
            Failure::Item(of, passed) => {
                blame.add_chain(frame, support[of as usize]);
                if passed {
                    lifted(blame, of as usize);
                }
            }
            Failure::Section(section) => {
                for of in 0..begins[section as usize + 1] as usize {
                    if things[of].last < section {
                        continue;
                    }
                    if floor[of] == PLACED {
                        blame.add(frame, of as u32);
                        continue;
                    }
                    blame.add_chain(frame, support[of]);
                    if least[of] > floor[of] {
                        lifted(blame, of);
                    }
                }
            }
        }
    }

    /// Takes back the choice of a frame under which nothing worked, for reasons that stand at the frame after it. Its other
    /// candidates are left out where it is not among them.
    fn fail(&mut self, at: usize) {
        let chosen = self.candidates[self.frames[at].candidates[0] as usize - 1].2;
        let jumps = self.blame.hand_on(at, chosen);
        self.undo(at);
        if jumps {
            let frame = &mut self.frames[at];
            frame.candidates[0] = frame.candidates[1];
        }
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
        let price = 4 + problem.conflicts.of(thing.id).len() as u64;
        self.blame.chain(position, self.support[position as usize]);
        match self.put(problem, position, offset) {
            Ok(()) => self.frames[at].parts = self.split(problem, part, &thing),
            Err(failure) => {
                self.accuse(problem, at, failure);
                self.blame.add_chain(at, position);
                self.blame.remove(at, position);
                self.undo(at);
            }
        }
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

    /// Puts an item on its floor; fails if some section or neighbour then has too little left.
    fn put(&mut self, problem: &Problem, position: u32, offset: u64) -> Result<(), Failure> {
        let Problem { conflicts, capacity, .. } = *problem;
        let Thing { id, size, first, last, .. } = self.things[position as usize];
        let end = offset + size;
        self.done.push(position);
        self.trail.push((position, self.floor[position as usize], self.support[position as usize]));
        self.floor[position as usize] = PLACED;
        self.end[position as usize] = PLACED;
        let mut full = None;
        for (rest, section) in self.rest[first as usize..=last as usize].iter_mut().zip(first..) {
            *rest -= size;
            if end.saturating_add(*rest) > capacity {
                full = Some(section);
            }
        }
        self.crossing[first as usize..last as usize].iter_mut().for_each(|count| *count -= 1);
        if let Some(section) = full {
            return Err(Failure::Section(section));
        }
        for &other in conflicts.of(id) {
            let other = self.position[other as usize];
            if other != NONE && self.floor[other as usize] < end {
                let Thing { size, align, .. } = self.things[other as usize];
                let Some(raised) = align_up(end, align).filter(|&raised| raised.saturating_add(size) <= capacity)
                else {
                    return Err(Failure::Item(position, false));
                };
                self.trail.push((other, self.floor[other as usize], self.support[other as usize]));
                self.support[other as usize] = position;
                self.floor[other as usize] = raised;
                self.end[other as usize] = raised + size;
            }
        }
        Ok(())
    }

    /// Takes back the current choice of a frame and everything placed since.
    fn undo(&mut self, at: usize) {
        let [trail, parts, done] = self.frames[at].marks;
        for position in self.done.drain(done..) {
            let Thing { size, first, last, .. } = self.things[position as usize];
            self.rest[first as usize..=last as usize].iter_mut().for_each(|rest| *rest += size);
            self.crossing[first as usize..last as usize].iter_mut().for_each(|count| *count += 1);
        }
        for (position, floor, support) in self.trail.drain(trail..).rev() {
            self.support[position as usize] = support;
            self.floor[position as usize] = floor;
            self.end[position as usize] = floor + self.things[position as usize].size;
        }
        self.parts.truncate(parts);
        let frame = &mut self.frames[at];
        self.candidates.truncate(frame.candidates[1] as usize);
        frame.chosen = false;
    }
}

impl Blame {
    /// Forgets everything; `items`: how many positions there are, 0 to blame nothing.
    fn start(&mut self, items: usize) {
        self.words = items.div_ceil(64);
        self.chains.clear();
        self.chains.resize(items * self.words, 0);
        self.frames.clear();
        self.jumped = false;
    }

    /// Begins the set of a frame; `all`: everything is to blame.
    fn open(&mut self, frame: usize, all: bool) {
        self.frames.truncate(frame * self.words);
        self.frames.resize((frame + 1) * self.words, if all { u64::MAX } else { 0 });
    }

    /// Notes what a position stands on, as it is placed.
    fn chain(&mut self, position: u32, support: u32) {
        let (words, own) = (self.words, position as usize * self.words);
        match support {
            NONE => self.chains[own..own + words].fill(0),
            support => self.chains.copy_within(support as usize * words..(support as usize + 1) * words, own),
        }
        if words > 0 {
            self.chains[own + position as usize / 64] |= 1 << (position % 64);
        }
    }

    fn add(&mut self, frame: usize, position: u32) {
        self.frames[frame * self.words + position as usize / 64] |= 1 << (position % 64);
    }

    fn add_chain(&mut self, frame: usize, position: u32) {
        if position != NONE {
            let chain = &self.chains[position as usize * self.words..][..self.words];
            self.frames[frame * self.words..].iter_mut().zip(chain).for_each(|(all, chain)| *all |= chain);
        }
    }

    fn remove(&mut self, frame: usize, position: u32) {
        if self.words > 0 {
            self.frames[frame * self.words + position as usize / 64] &= !(1 << (position % 64));
        }
    }

    /// Adds the set of the next frame, where all candidates failed, to a frame's own. `true`: what the frame chose is not
    /// in it, so its other candidates fail alike, and the set is its own.
    fn hand_on(&mut self, frame: usize, chosen: u32) -> bool {
        let words = self.words;
        if words == 0 {
            return false;
        }
        let (own, next) = self.frames[frame * words..].split_at_mut(words);
        let blamed = next[chosen as usize / 64] >> (chosen % 64) & 1 == 1;
        if blamed {
            own.iter_mut().zip(next).for_each(|(own, next)| *own |= *next);
            self.remove(frame, chosen);
        } else {
            own.copy_from_slice(&next[..words]);
            self.jumped = true;
        }
        !blamed
    }
}
