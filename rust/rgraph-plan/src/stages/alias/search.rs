//! Depth-first search for a placement below a given capacity.
//!
//! In any placement, items can be moved down until none can go lower; then every item is at 0 or on top of the highest
//! neighbour below it, and items can be placed by ascending offset. The search tries exactly those placements:
//! ```text
//! 4 │      ┌────┐            floor of x: the highest end of a placed item that x may not share bytes with
//! 3 ├───┐  │    │  x         next item: floor not below the last offset, and below the lowest end that another
//! 2 │   ├──┴─┐  ├─────       item could have (else that one would fit wholly underneath)
//! 1 │   │    │  │
//! 0 └───┴────┴──┴─────▶ sections
//! ```
//! If no unplaced item crosses a moment, the parts on its two sides are solved separately.
//!
//! Two rules keep a search from repeating the same failure:
//! - If the search places another item although an item could go there (that item was *passed over*), the item passed
//!   over must end up on top of an unplaced neighbour. So its offset is at least the lowest end that such a neighbour
//!   can have; without such a neighbour the choice was wrong.
//! - A failure is *blamed* on placed items: those of the full section, and those below its unplaced items, all the way
//!   down. If all candidates after a choice fail and that choice is not blamed, it is undone without trying its other
//!   candidates. Since the order of choices is not blamed, placements may be missed: such a search proves nothing.
//!
//! Source: after the canonical solutions and the section bound of Moffitt, "MiniMalloc", ASPLOS 2023; the jumps after
//! Prosser, "Hybrid algorithms for the constraint satisfaction problem", 1993; own formulation.

use rgraph_ir::id::{Id, IdSpan, IdVec, Span};

use super::arena::align_up;
use super::conflict::Conflicts;
use super::item::{Item, ItemId, SectionId};
use super::timeline::Timeline;

rgraph_ir::id! {
    /// An item of the search: by first section, then by id.
    struct ThingId;
}

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Everything is placed below the capacity.
    Placed,
    /// No placement below the capacity exists.
    Impossible,
    /// The work is spent, or candidates were left out, so the failure proves nothing.
    Spent,
}

/// The input of a search.
pub(super) struct Problem<'a> {
    pub items: &'a [Item],
    pub timeline: &'a Timeline,
    pub conflicts: &'a Conflicts,
    pub capacity: u64,
    /// True if parts of the timeline that no item crosses are independent.
    pub one_queue: bool,
    /// True if every placement is tried; else failures are blamed.
    pub exact: bool,
}

/// Most items for which failures are blamed: the sets take n² bits.
const MOST_BLAMED: usize = 2048;

/// Scratch of [`search`].
#[derive(Default)]
pub(super) struct Search {
    things: IdVec<ThingId, Thing>,
    /// By item; `None` outside the subset.
    thing_of: IdVec<ItemId, Option<ThingId>>,
    /// Lowest offset above the placed neighbours, and the end at that offset; `PLACED` once placed.
    floor: IdVec<ThingId, u64>,
    end: IdVec<ThingId, u64>,
    /// By section: number of items whose life begins in it or before.
    begun: IdVec<SectionId, u32>,
    /// Unplaced bytes, by section.
    rest: IdVec<SectionId, u64>,
    /// Unplaced items that are alive in each section and the next.
    crossing: IdVec<SectionId, u32>,
    /// Lowest offset of an unplaced item, by section; valid within [`Search::propose`].
    lowest: IdVec<SectionId, u64>,
    /// Lowest offset that each unplaced item may get; valid from [`Search::propose`] to the next choice.
    least: IdVec<ThingId, u64>,
    /// The placed item whose end determines each floor.
    support: IdVec<ThingId, Option<ThingId>>,
    /// Floors and their supports to restore.
    trail: Vec<(ThingId, u64, Option<ThingId>)>,
    blame: Blame,
    nodes: Vec<SearchNode>,
    /// Offset, rank and item.
    candidates: Vec<(u64, u32, ThingId)>,
    parts: Vec<IdSpan<ThingId>>,
    /// Items placed, in order.
    done: Vec<ThingId>,
}

const PLACED: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Thing {
    id: ItemId,
    /// Position in the order of the search, from 1.
    rank: u32,
    life: IdSpan<SectionId>,
    size: u64,
    align: u64,
}

impl Thing {
    /// The sections that it crosses into the next one.
    fn crossed(&self) -> IdSpan<SectionId> {
        IdSpan::new(self.life.range().start, self.life.range().end - 1)
    }
}

/// Sets of placed items, as bits.
#[derive(Default)]
struct Blame {
    /// Words of a set; 0: nothing is blamed.
    words: usize,
    /// By item: itself and its supports, all the way down, when it was placed.
    chains: Vec<u64>,
    /// By node: the items blamed for the failures of its candidates so far.
    nodes: Vec<u64>,
    /// True once candidates were left out.
    jumped: bool,
}

/// The cause of a failure.
#[derive(Clone, Copy)]
enum Failure {
    /// A full section.
    Section(SectionId),
    /// An item that is too high; true if it was passed over.
    Item(ThingId, bool),
}

/// One part of the timeline and the choice of the next item in it.
#[derive(Clone, Copy, Default)]
struct SearchNode {
    part: IdSpan<ThingId>,
    /// Candidates not tried yet.
    candidates: Span,
    /// True while a candidate is placed.
    chosen: bool,
    /// Offset and rank of that candidate.
    choice: (u64, u32),
    /// The range of `Search::parts` that remain to be solved after that choice.
    parts: Span,
    /// Lengths of `trail`, `parts` and `done` before that choice.
    marks: [usize; 3],
}

/// Places the items of `subset` below the capacity; at equal offsets, earlier items of `subset` are tried first.
///
/// A node costs O(its part's items, and its neighbours' sections); `work` decreases by one per item or section looked
/// at. Offsets of other items do not change.
pub(super) fn search(
    problem: &Problem,
    subset: &[ItemId],
    work: &mut u64,
    scratch: &mut Search,
    offsets: &mut [u64],
    nodes: &mut u64,
) -> Outcome {
    scratch.start(problem, subset);
    scratch.parts.push(IdSpan::new(0, subset.len()));
    scratch.nodes.push(SearchNode { chosen: true, parts: Span::new(0, 1), ..SearchNode::default() });
    loop {
        crate::cancel::poll();
        let at = scratch.nodes.len() - 1;
        let node = &mut scratch.nodes[at];
        if node.chosen && !node.parts.is_empty() {
            let (part, since) = (scratch.parts[node.parts.start as usize], node.choice);
            node.parts.start += 1;
            let items = part.len() as u64;
            *work = work.saturating_sub(items / 4);
            match scratch.propose(problem, part, since, work) {
                Ok(None) => {}
                Ok(Some(candidates)) => {
                    *work = work.saturating_sub(items - items / 4);
                    // Without a candidate no bound failed that would name a cause, so every choice is blamed.
                    scratch.blame.open(at + 1, candidates.is_empty());
                    scratch.nodes.push(SearchNode { part, candidates, ..SearchNode::default() });
                }
                // Nothing is placed yet, so the bounds alone prove it.
                Err(_) if at == 0 => return Outcome::Impossible,
                Err(failure) => {
                    scratch.blame.open(at + 1, false);
                    scratch.accuse(problem, at + 1, failure);
                    scratch.fail(at);
                }
            }
        } else if node.chosen {
            // All parts after this choice are solved, so this node's part is.
            scratch.nodes.pop();
            if at == 0 {
                return Outcome::Placed;
            }
        } else if node.candidates.is_empty() {
            scratch.nodes.pop();
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
    fn start(&mut self, problem: &Problem, subset: &[ItemId]) {
        let Problem { items, timeline, .. } = *problem;
        let sections = timeline.sections().len();
        self.trail.clear();
        self.nodes.clear();
        self.candidates.clear();
        self.parts.clear();
        self.done.clear();
        self.things.clear();
        self.things.as_vec_mut().extend(subset.iter().zip(1..).map(|(&id, rank)| {
            let Item { size, align, .. } = items[id.index()];
            Thing { id, rank, life: timeline.life(id), size, align }
        }));
        self.things.as_vec_mut().sort_unstable_by_key(|thing| (thing.life.first(), thing.id));
        self.thing_of.refill(None, items.len());
        self.rest.refill(0, sections);
        self.lowest.refill(0, sections);
        self.crossing.refill(0, sections);
        self.begun.refill(0, sections);
        for (id, thing) in self.things.iter_ids() {
            self.thing_of[thing.id] = Some(id);
            self.rest.slice_mut(thing.life).iter_mut().for_each(|rest| *rest += thing.size);
            self.crossing.slice_mut(thing.crossed()).iter_mut().for_each(|count| *count += 1);
            self.begun[thing.life.first()] += 1;
        }
        let mut sum = 0;
        for begun in self.begun.iter_mut() {
            sum += *begun;
            *begun = sum;
        }
        self.floor.refill(0, subset.len());
        self.least.refill(0, subset.len());
        self.support.refill(None, subset.len());
        let blames = !problem.exact && subset.len() <= MOST_BLAMED;
        self.blame.start(if blames { subset.len() } else { 0 });
        self.end.clear();
        self.end.as_vec_mut().extend(self.things.iter().map(|thing| thing.size));
    }

    /// Finds the items of a part that may be placed next, by offset, then rank; `None` if all are placed. Fails if the
    /// unplaced ones cannot fit below the capacity.
    fn propose(
        &mut self,
        problem: &Problem,
        part: IdSpan<ThingId>,
        since: (u64, u32),
        work: &mut u64,
    ) -> Result<Option<Span>, Failure> {
        let (mut lowest_end, mut from, mut to) = (PLACED, usize::MAX, 0);
        for id in part.ids() {
            let floor = self.floor[id];
            if floor == PLACED {
                continue;
            }
            let Thing { rank, life, size, .. } = self.things[id];
            // Candidates are tried by offset and rank, so the last choice passed over every item that is not after it.
            let passed = (floor, rank) <= since;
            let least = if passed { self.lifted(problem, id, since.0, work) } else { floor.max(since.0) };
            if least.saturating_add(size) > problem.capacity {
                return Err(Failure::Item(id, passed));
            }
            self.least[id] = least;
            lowest_end = lowest_end.min(self.end[id]);
            (from, to) = (from.min(life.range().start), to.max(life.range().end));
        }
        if lowest_end == PLACED {
            return Ok(None);
        }
        let alive = IdSpan::<SectionId>::new(from, to);
        self.lowest.slice_mut(alive).fill(u64::MAX);
        let mut looked_at = 0;
        for id in part.ids().filter(|&id| self.floor[id] != PLACED) {
            let thing = self.things[id];
            let least = self.least[id];
            self.lowest.slice_mut(thing.life).iter_mut().for_each(|lowest| *lowest = least.min(*lowest));
            looked_at += thing.crossed().len() as u64;
        }
        *work = work.saturating_sub(looked_at / 4);
        // Section bound: in any order, the unplaced items of a section take at least their bytes from their lowest
        // offset on.
        for section in alive.ids() {
            let lowest = self.lowest[section];
            if lowest != u64::MAX && lowest.saturating_add(self.rest[section]) > problem.capacity {
                return Err(Failure::Section(section));
            }
        }
        let begin = self.candidates.len();
        for id in part.ids() {
            let (floor, rank) = (self.floor[id], self.things[id].rank);
            // From `lowest_end` on another item fits wholly underneath; placing that one first covers the case.
            if floor < lowest_end && (floor, rank) > since {
                self.candidates.push((floor, rank, id));
            }
        }
        self.candidates[begin..].sort_unstable();
        Ok(Some(Span::new(begin, self.candidates.len())))
    }

    /// The lowest offset of an item that was passed over: on top of an unplaced neighbour.
    fn lifted(&self, problem: &Problem, id: ThingId, since: u64, work: &mut u64) -> u64 {
        let Thing { id, align, .. } = self.things[id];
        let neighbours = problem.conflicts.of(id);
        *work = work.saturating_sub(neighbours.len() as u64 / 4);
        let ends = neighbours.iter().filter_map(|&other| {
            let other = self.thing_of[other]?;
            let floor = self.floor[other];
            (floor != PLACED).then(|| floor.max(since).saturating_add(self.things[other].size))
        });
        ends.min().and_then(|end| align_up(end, align)).unwrap_or(u64::MAX)
    }

    /// Adds the placed items that a failure is blamed on to the set of a node.
    fn accuse(&mut self, problem: &Problem, node: usize, failure: Failure) {
        let Self { things, thing_of, floor, least, support, begun, blame, .. } = self;
        if blame.words == 0 {
            return;
        }
        let lifted = |blame: &mut Blame, of: ThingId| {
            for other in problem.conflicts.of(things[of].id).iter().filter_map(|&other| thing_of[other]) {
                if floor[other] == PLACED {
                    blame.add(node, other);
                } else {
                    blame.add_chain(node, support[other]);
                }
            }
        };
        match failure {
            Failure::Item(of, passed) => {
                blame.add_chain(node, support[of]);
                if passed {
                    lifted(blame, of);
                }
            }
            Failure::Section(section) => {
                let begun = IdSpan::<ThingId>::new(0, begun[section] as usize);
                for of in begun.ids().filter(|of| things[*of].life.contains(section)) {
                    if floor[of] == PLACED {
                        blame.add(node, of);
                        continue;
                    }
                    blame.add_chain(node, support[of]);
                    if least[of] > floor[of] {
                        lifted(blame, of);
                    }
                }
            }
        }
    }

    /// Undoes the choice of a node after all candidates of the next node failed; that node's set has the blame. If
    /// the choice is not blamed, the node's other candidates would fail alike and are left out.
    fn fail(&mut self, at: usize) {
        let chosen = self.candidates[self.nodes[at].candidates.start as usize - 1].2;
        let jumps = self.blame.hand_on(at, chosen);
        self.undo(at);
        if jumps {
            let node = &mut self.nodes[at];
            node.candidates.start = node.candidates.end;
        }
    }

    /// Places the next candidate of a node, unless the others then cannot fit; returns the work done.
    fn choose(&mut self, problem: &Problem, at: usize, offsets: &mut [u64]) -> u64 {
        let marks = [self.trail.len(), self.parts.len(), self.done.len()];
        let node = &mut self.nodes[at];
        let (offset, rank, id) = self.candidates[node.candidates.start as usize];
        node.candidates.start += 1;
        node.marks = marks;
        node.chosen = true;
        node.choice = (offset, rank);
        let part = node.part;
        let thing = self.things[id];
        offsets[thing.id.index()] = offset;
        let price = 4 + problem.conflicts.of(thing.id).len() as u64;
        self.blame.chain(id, self.support[id]);
        match self.put(problem, id, offset) {
            Ok(()) => self.nodes[at].parts = self.split(problem, part, &thing),
            Err(failure) => {
                self.accuse(problem, at, failure);
                // The candidate fails where it is because of the items below it. It is not in its own node's set: that
                // set is about earlier choices, and this node has other candidates.
                self.blame.add_chain(at, Some(id));
                self.blame.remove(at, id);
                self.undo(at);
            }
        }
        price
    }

    /// Cuts a part at moments that no unplaced item crosses any more; returns the range in `parts`.
    fn split(&mut self, problem: &Problem, part: IdSpan<ThingId>, thing: &Thing) -> Span {
        let begin = self.parts.len();
        let std::ops::Range { mut start, end } = part.range();
        // On several queues items of different sections may conflict, so a cut would not separate them.
        if problem.one_queue {
            for section in thing.crossed().ids() {
                if self.crossing[section] == 0 {
                    let cut = self.begun[section] as usize;
                    if cut > start && cut < end {
                        self.parts.push(IdSpan::new(start, cut));
                        start = cut;
                    }
                }
            }
        }
        self.parts.push(IdSpan::new(start, end));
        Span::new(begin, self.parts.len())
    }

    /// Places an item at its floor; fails if a section or neighbour then has too few bytes left.
    fn put(&mut self, problem: &Problem, id: ThingId, offset: u64) -> Result<(), Failure> {
        let Problem { conflicts, capacity, .. } = *problem;
        let thing = self.things[id];
        let end = offset + thing.size;
        self.done.push(id);
        self.trail.push((id, self.floor[id], self.support[id]));
        self.floor[id] = PLACED;
        self.end[id] = PLACED;
        // All counters change before the first return, since `undo` restores all of them.
        let mut full = None;
        for (rest, section) in self.rest.slice_mut(thing.life).iter_mut().zip(thing.life.ids()) {
            // Later items have no lower offset, so all that is unplaced in the section comes on top of this one.
            *rest -= thing.size;
            if end.saturating_add(*rest) > capacity {
                full = Some(section);
            }
        }
        self.crossing.slice_mut(thing.crossed()).iter_mut().for_each(|count| *count -= 1);
        if let Some(section) = full {
            return Err(Failure::Section(section));
        }
        for &other in conflicts.of(thing.id) {
            if let Some(other) = self.thing_of[other]
                && self.floor[other] < end
            {
                let Thing { size, align, .. } = self.things[other];
                let Some(raised) = align_up(end, align).filter(|&raised| raised.saturating_add(size) <= capacity)
                else {
                    return Err(Failure::Item(id, false));
                };
                self.trail.push((other, self.floor[other], self.support[other]));
                self.support[other] = Some(id);
                self.floor[other] = raised;
                self.end[other] = raised + size;
            }
        }
        Ok(())
    }

    /// Undoes the current choice of a node and every later one.
    fn undo(&mut self, at: usize) {
        let [trail, parts, done] = self.nodes[at].marks;
        for id in self.done.drain(done..) {
            let thing = self.things[id];
            self.rest.slice_mut(thing.life).iter_mut().for_each(|rest| *rest += thing.size);
            self.crossing.slice_mut(thing.crossed()).iter_mut().for_each(|count| *count += 1);
        }
        for (id, floor, support) in self.trail.drain(trail..).rev() {
            self.support[id] = support;
            self.floor[id] = floor;
            self.end[id] = floor + self.things[id].size;
        }
        self.parts.truncate(parts);
        let node = &mut self.nodes[at];
        self.candidates.truncate(node.candidates.end as usize);
        node.chosen = false;
    }
}

impl Blame {
    /// Clears all sets; `items`: number of items, 0 to blame nothing.
    fn start(&mut self, items: usize) {
        self.words = items.div_ceil(64);
        self.chains.clear();
        self.chains.resize(items * self.words, 0);
        self.nodes.clear();
        self.jumped = false;
    }

    /// Begins the set of a node; `all`: with every item.
    fn open(&mut self, node: usize, all: bool) {
        self.nodes.truncate(node * self.words);
        self.nodes.resize((node + 1) * self.words, if all { u64::MAX } else { 0 });
    }

    /// Position of the word of a set that has an item's bit, and the bit.
    fn bit(id: ThingId) -> (usize, u64) {
        (id.index() / 64, 1 << (id.index() % 64))
    }

    /// Records the chain of supports of an item when it is placed.
    fn chain(&mut self, id: ThingId, support: Option<ThingId>) {
        let (words, own) = (self.words, id.index() * self.words);
        match support {
            None => self.chains[own..own + words].fill(0),
            Some(support) => self.chains.copy_within(support.index() * words..(support.index() + 1) * words, own),
        }
        if words > 0 {
            let (word, bit) = Self::bit(id);
            self.chains[own + word] |= bit;
        }
    }

    fn add(&mut self, node: usize, id: ThingId) {
        let (word, bit) = Self::bit(id);
        self.nodes[node * self.words + word] |= bit;
    }

    fn add_chain(&mut self, node: usize, id: Option<ThingId>) {
        if let Some(id) = id {
            let chain = &self.chains[id.index() * self.words..][..self.words];
            self.nodes[node * self.words..].iter_mut().zip(chain).for_each(|(all, chain)| *all |= chain);
        }
    }

    fn remove(&mut self, node: usize, id: ThingId) {
        if self.words > 0 {
            let (word, bit) = Self::bit(id);
            self.nodes[node * self.words + word] &= !bit;
        }
    }

    /// Merges the set of the next node, in which all candidates failed, into a node's own. `true`: the node's choice
    /// is not in that set, so its other candidates fail alike, and the set replaces its own.
    fn hand_on(&mut self, node: usize, chosen: ThingId) -> bool {
        let words = self.words;
        if words == 0 {
            return false;
        }
        let (own, next) = self.nodes[node * words..].split_at_mut(words);
        let (word, bit) = Self::bit(chosen);
        let blamed = next[word] & bit != 0;
        if blamed {
            own.iter_mut().zip(next).for_each(|(own, next)| *own |= *next);
            self.remove(node, chosen);
        } else {
            own.copy_from_slice(&next[..words]);
            self.jumped = true;
        }
        !blamed
    }
}

#[cfg(test)]
mod tests;
