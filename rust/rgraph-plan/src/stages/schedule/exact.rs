//! Branch and bound for an optimal schedule, with a limit on opened partial schedules. Tests compare the heuristics
//! with its results.

use super::Candidate;
use super::deps::Topology;
use super::instance::Instance;
use super::model::{QUEUES, Queues, available};
use super::subsets::mix;
use super::weighted::Ranked;
use crate::id::{Id, IdVec};
use crate::stages::ids::{CountedId, LiveId, PlaceId};

/// Entries of the table of sets that were reached before.
const MEMO: usize = 1 << 15;

/// The objective of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goal {
    /// The shortest frame.
    Frame,
    /// The lowest peak of live bytes in the order of starts, among frames no longer than the best known.
    Bytes,
}

/// Working memory, and the state of the search: a schedule of some passes, in the order of their starts.
#[derive(Default, Debug)]
pub(super) struct ExactScratch {
    places: IdVec<LiveId, PlaceId>,
    /// Whether some pass takes no time.
    weightless: bool,
    /// By queue: the queue ranked before it if the same passes may run on both, and the number of passes placed on it.
    twin: [Option<u8>; QUEUES],
    given: [u32; QUEUES],
    tail: IdVec<LiveId, f64>,
    head: IdVec<LiveId, f64>,
    pending: IdVec<LiveId, u32>,
    finish: IdVec<LiveId, f64>,
    queue: IdVec<LiveId, u8>,
    placed: IdVec<LiveId, bool>,
    order: Vec<LiveId>,
    left: IdVec<CountedId, u32>,
    live: u64,
    peak: u64,
    frame: f64,
    last_start: f64,
    last_place: Option<PlaceId>,
    moves: Vec<Move>,
    stack: Vec<PendingMoves>,
    undo: Vec<Undo>,
    memo: Vec<Reached>,
    set: (u64, u64),
}

/// A pass that may be placed next, on one of its queues.
#[derive(Clone, Copy, Debug)]
struct Move {
    start: f64,
    live: u64,
    tail: f64,
    pass: LiveId,
    on: u8,
}

/// The moves of one partial schedule, a part of [`ExactScratch::moves`].
#[derive(Clone, Copy, Debug)]
struct PendingMoves {
    begin: usize,
    next: usize,
}

/// The state before a move that cannot be computed from the state after it.
#[derive(Debug)]
struct Undo {
    queues: Queues,
    live: u64,
    peak: u64,
    frame: f64,
    last_start: f64,
    last_place: Option<PlaceId>,
}

/// A set of passes that was reached, and the peak of live bytes on the way.
#[derive(Clone, Copy, Default, Debug)]
struct Reached {
    set: (u64, u64),
    peak: u64,
}

/// An instance on one choice of queues.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub instance: &'a Instance<'a>,
    pub masks: &'a IdVec<LiveId, u32>,
    pub ranked: &'a Ranked,
    pub topology: &'a Topology,
    /// Whether some pass has an occupancy class.
    pub classes: bool,
}

impl Problem<'_> {
    fn alone(&self) -> bool {
        self.ranked.as_slice().len() == 1
    }
}

impl ExactScratch {
    /// Searches the semi-active schedules (each pass starts as early as its predecessor on the queue and its
    /// dependencies permit), built in the order of starts, for one better than `best`, whose peak of live bytes is
    /// `best_peak`. `budget` counts opened partial schedules down; at 0 the search gives up. Returns true if no
    /// schedule is better than the `best` that it leaves.
    ///
    /// O(passes + edges) per partial schedule, of which there are exponentially many. A partial schedule is discarded
    /// if a lower bound of its frame is no less than the best: the longest path through unplaced passes; the unplaced
    /// passes of one queue, with the shortest head before them and the shortest tail after them; or the mean over all
    /// queues. On one queue it is also discarded if its set of passes was reached before with a peak no higher. There,
    /// a pass that frees at least what it allocates, without a new peak, is placed without alternatives.
    ///
    /// # Source
    /// Branch and bound over semi-active schedules: Giffler & Thompson (1960); heads and tails: Carlier, "The
    /// one-machine sequencing problem", EJOR 11 (1982). One queue: dynamic programming over ideals, as for optimal
    /// register schedules by Sethi (1975).
    pub(super) fn search(
        &mut self,
        problem: Problem<'_>,
        goal: Goal,
        best: &mut Candidate,
        best_peak: &mut u64,
        budget: &mut u32,
    ) -> bool {
        self.begin(problem);
        let least_bytes = least_bytes(problem.instance);
        let done = |best: &Candidate, best_peak: u64, bound: f64| match goal {
            Goal::Frame => bound >= best.frame_us,
            Goal::Bytes => best_peak <= least_bytes,
        };
        let mut queues = Queues::new();
        let bound = self.bound(problem, &queues);
        if problem.instance.is_empty() || done(best, *best_peak, bound) {
            return true;
        }
        self.expand(problem, goal, &queues, best, *best_peak);
        while let Some(moves) = self.stack.last_mut() {
            crate::cancel::poll();
            let Some(&chosen) = self.moves.get(moves.next) else {
                self.moves.truncate(moves.begin);
                self.stack.pop();
                if !self.undo.is_empty() {
                    self.take_back(problem, &mut queues);
                }
                continue;
            };
            moves.next += 1;
            self.apply(problem, &mut queues, chosen);
            if self.order.len() == problem.instance.len() {
                if self.better(goal, self.frame, best, *best_peak) {
                    best.passes.clone_from(&self.order);
                    best.queue.clone_from(&self.queue);
                    best.frame_us = self.frame;
                    *best_peak = self.peak;
                    if done(best, *best_peak, bound) {
                        return true;
                    }
                }
                self.take_back(problem, &mut queues);
                continue;
            }
            let ends = self.bound(problem, &queues);
            if !self.better(goal, ends, best, *best_peak) || self.seen(problem, goal) {
                self.take_back(problem, &mut queues);
                continue;
            }
            if *budget == 0 {
                return false;
            }
            *budget -= 1;
            self.expand(problem, goal, &queues, best, *best_peak);
        }
        true
    }

    fn begin(&mut self, problem: Problem<'_>) {
        let Problem { instance, masks, topology, .. } = problem;
        let n = instance.len();
        self.weightless = instance.weight_us.as_slice().contains(&0.0);
        self.twin = [None; QUEUES];
        for pair in problem.ranked.as_slice().windows(2) {
            let same = |mask: &u32| (mask >> pair[0]) & 1 == (mask >> pair[1]) & 1;
            self.twin[pair[1] as usize] = masks.iter().all(same).then_some(pair[0]);
        }
        self.given = [0; QUEUES];
        self.places.refill(PlaceId::new(0), n);
        for (place, &pass) in topology.order.iter().enumerate() {
            self.places[pass] = PlaceId::new(place);
        }
        self.tail.refill(0.0, n);
        for &pass in topology.order.iter().rev() {
            let mut after = 0.0f64;
            for &succ in instance.deps.succs.row(pass) {
                let apart = masks[pass] & masks[succ] == 0;
                let hop = if apart { f64::from(instance.costs.cross_queue_us) } else { 0.0 };
                after = after.max(self.tail[succ] + hop);
            }
            self.tail[pass] = after + f64::from(instance.weight_us[pass]);
        }
        self.head.refill(0.0, n);
        self.pending.clear();
        self.pending.extend(instance.passes().map(|pass| instance.deps.preds.row(pass).len() as u32));
        self.finish.refill(0.0, n);
        self.queue.refill(0, n);
        self.placed.refill(false, n);
        self.order.clear();
        self.left.clear();
        let users = instance.bytes.users;
        self.left.extend(users.ids().map(|resource| users.row(resource).len() as u32));
        (self.live, self.peak, self.frame, self.last_start, self.last_place) = (0, 0, 0.0, 0.0, None);
        self.moves.clear();
        self.stack.clear();
        self.undo.clear();
        self.memo.clear();
        self.memo.resize(if problem.alone() { MEMO } else { 0 }, Reached::default());
        self.set = (0, 0);
    }

    /// True if a schedule with this frame, or with this lower bound of it, may be better than the best.
    fn better(&self, goal: Goal, frame: f64, best: &Candidate, best_peak: u64) -> bool {
        match goal {
            Goal::Frame => frame < best.frame_us,
            Goal::Bytes => frame <= best.frame_us && self.peak < best_peak,
        }
    }

    /// True if the set of placed passes was reached before with a peak no higher. Always false on several queues, where
    /// the rest of a schedule depends on more than that set.
    fn seen(&mut self, problem: Problem<'_>, goal: Goal) -> bool {
        if !problem.alone() || goal == Goal::Frame {
            return false;
        }
        let entry = &mut self.memo[self.set.0 as usize % MEMO];
        if entry.set == self.set && entry.peak <= self.peak {
            return true;
        }
        *entry = Reached { set: self.set, peak: self.peak };
        false
    }

    /// A lower bound of the frame over all completions of the current partial schedule. O(passes + edges).
    fn bound(&mut self, problem: Problem<'_>, queues: &Queues) -> f64 {
        let Problem { instance, masks, ranked, topology, .. } = problem;
        let cross = f64::from(instance.costs.cross_queue_us);
        let used = ranked.as_slice();
        let mut bound = self.frame;
        let mut earliest = [f64::INFINITY; 32];
        let mut shortest_after = [f64::INFINITY; 32];
        let mut load = [0.0f64; 32];
        let mut total = 0.0f64;
        for &pass in &topology.order {
            crate::cancel::poll();
            if self.placed[pass] {
                continue;
            }
            let free = |on: &&u8| masks[pass] & (1 << **on) != 0;
            let room = used.iter().filter(free).fold(f64::INFINITY, |at, &on| at.min(queues.free[on as usize]));
            let mut head = room.max(self.last_start);
            for &pred in instance.deps.preds.row(pass) {
                let (end, on) = if self.placed[pred] {
                    (self.finish[pred], 1 << self.queue[pred])
                } else {
                    (self.head[pred] + f64::from(instance.weight_us[pred]), masks[pred])
                };
                head = head.max(end + if on & masks[pass] == 0 { cross } else { 0.0 });
            }
            self.head[pass] = head;
            bound = bound.max(head + self.tail[pass]);
            let weight = f64::from(instance.weight_us[pass]);
            total += weight;
            if masks[pass].is_power_of_two() {
                let on = masks[pass].trailing_zeros() as usize;
                load[on] += weight;
                earliest[on] = earliest[on].min(head);
                shortest_after[on] = shortest_after[on].min(self.tail[pass] - weight);
            }
        }
        for &on in used {
            let on = on as usize;
            if load[on] > 0.0 {
                bound = bound.max(earliest[on] + load[on] + shortest_after[on]);
            }
            total += queues.free[on].max(self.last_start);
        }
        bound.max(total / used.len() as f64)
    }

    /// Pushes the moves from the current partial schedule, most promising first. A move never starts before the last
    /// one, so each schedule is reached in one order only.
    fn expand(&mut self, problem: Problem<'_>, goal: Goal, queues: &Queues, best: &Candidate, best_peak: u64) {
        let Problem { instance, masks, ranked, topology, classes } = problem;
        let begin = self.moves.len();
        let alone = problem.alone();
        // Passes of equal start come in the order of positions, which leaves one of their permutations. With occupancy
        // classes, with passes that take no time, and for bytes, the permutations differ.
        let any_tie = classes || self.weightless || goal == Goal::Bytes;
        for &pass in &topology.order {
            crate::cancel::poll();
            if self.placed[pass] || self.pending[pass] > 0 {
                continue;
            }
            let (needed, live) = self.live_with(instance, pass);
            if goal == Goal::Bytes && needed >= best_peak {
                continue;
            }
            for &on in ranked.as_slice() {
                // Symmetry: of queues that may run the same passes and are still empty, only the first is tried.
                let idle_twin = self.twin[on as usize].is_some_and(|twin| self.given[twin as usize] == 0);
                if masks[pass] & (1 << on) == 0 || (idle_twin && self.given[on as usize] == 0) {
                    continue;
                }
                let start = available(instance, pass, on, &self.queue, &self.finish).max(queues.free[on as usize]);
                let place = Some(self.places[pass]);
                let late = start > self.last_start || (start == self.last_start && place >= self.last_place);
                let too_long = match goal {
                    Goal::Frame => start + self.tail[pass] >= best.frame_us,
                    Goal::Bytes => start + self.tail[pass] > best.frame_us,
                };
                if start < self.last_start || !(late || any_tie) || too_long {
                    continue;
                }
                self.moves.push(Move { start, live, tail: self.tail[pass], pass, on });
            }
            if alone && goal == Goal::Bytes && live <= self.live && needed <= self.peak {
                // In any completion, moving this pass here raises live bytes at no later moment, so no other move can
                // be better.
                self.moves.drain(begin..self.moves.len() - 1);
                break;
            }
        }
        self.moves[begin..].sort_unstable_by(|a, b| {
            let cost = match goal {
                Goal::Frame => a.start.total_cmp(&b.start),
                Goal::Bytes => a.live.cmp(&b.live).then(a.start.total_cmp(&b.start)),
            };
            cost.then(b.tail.total_cmp(&a.tail)).then(a.pass.cmp(&b.pass)).then(a.on.cmp(&b.on))
        });
        self.stack.push(PendingMoves { begin, next: begin });
    }

    /// Bytes alive while the pass runs, and after it, if it is placed next.
    fn live_with(&self, instance: &Instance<'_>, pass: LiveId) -> (u64, u64) {
        let bytes = &instance.bytes;
        let (mut during, mut dying) = (self.live, 0);
        for &resource in bytes.uses.row(pass) {
            if self.left[resource] as usize == bytes.users.row(resource).len() {
                during += bytes.bytes[resource];
            }
            if self.left[resource] == 1 && !bytes.kept[resource] {
                dying += bytes.bytes[resource];
            }
        }
        (during, during - dying)
    }

    fn apply(&mut self, problem: Problem<'_>, queues: &mut Queues, chosen: Move) {
        let instance = problem.instance;
        let Move { start, pass, on, .. } = chosen;
        self.undo.push(Undo {
            queues: *queues,
            live: self.live,
            peak: self.peak,
            frame: self.frame,
            last_start: self.last_start,
            last_place: self.last_place,
        });
        let (weight, class) = (f64::from(instance.weight_us[pass]), instance.class[pass]);
        let end = start + weight + queues.slow_down(on as usize, start, weight, class);
        queues.place(on as usize, start, end, class);
        let (during, live) = self.live_with(instance, pass);
        self.peak = self.peak.max(during);
        self.live = live;
        for &resource in instance.bytes.uses.row(pass) {
            self.left[resource] -= 1;
        }
        for &succ in instance.deps.succs.row(pass) {
            self.pending[succ] -= 1;
        }
        self.finish[pass] = end;
        self.queue[pass] = on;
        self.placed[pass] = true;
        self.given[on as usize] += 1;
        self.order.push(pass);
        self.frame = self.frame.max(end);
        self.last_start = start;
        self.last_place = Some(self.places[pass]);
        self.toggle(pass);
    }

    fn take_back(&mut self, problem: Problem<'_>, queues: &mut Queues) {
        let instance = problem.instance;
        let (Some(before), Some(pass)) = (self.undo.pop(), self.order.pop()) else { return };
        *queues = before.queues;
        (self.live, self.peak, self.frame) = (before.live, before.peak, before.frame);
        (self.last_start, self.last_place) = (before.last_start, before.last_place);
        for &resource in instance.bytes.uses.row(pass) {
            self.left[resource] += 1;
        }
        for &succ in instance.deps.succs.row(pass) {
            self.pending[succ] += 1;
        }
        self.placed[pass] = false;
        self.given[self.queue[pass] as usize] -= 1;
        self.toggle(pass);
    }

    fn toggle(&mut self, pass: LiveId) {
        let number = pass.index() as u64;
        self.set.0 ^= mix(number << 1 | 1);
        self.set.1 ^= mix(number << 1 | 1 << 40);
    }
}

/// A lower bound of the peak in bytes: what one pass uses, or what is kept at the end of the frame.
fn least_bytes(instance: &Instance<'_>) -> u64 {
    let bytes = &instance.bytes;
    let at = |pass: LiveId| bytes.uses.row(pass).iter().map(|&resource| bytes.bytes[resource]).sum::<u64>();
    let used = |resource: &CountedId| bytes.kept[*resource] && !bytes.users.row(*resource).is_empty();
    let kept = bytes.users.ids().filter(used).map(|resource| bytes.bytes[resource]).sum();
    instance.passes().map(at).fold(kept, u64::max)
}
