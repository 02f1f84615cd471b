//! The best schedule there is, as far as a bounded search can tell: the yardstick of the heuristics.

use super::Candidate;
use super::deps::Topology;
use super::instance::{CountedId, Instance, PlaceId};
use super::model::{QUEUES, Queues, available};
use super::subsets::mix;
use super::weighted::Ranked;
use crate::id::{Id, IdVec};
use crate::stages::cull::LiveId;

/// Entries of the table of sets already reached.
const MEMO: usize = 1 << 15;

/// What a search minimises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goal {
    /// The frame.
    Frame,
    /// Live bytes in the order of starts, among frames no longer than the best known.
    Bytes,
}

/// Working memory, and the state of the search: a schedule of some passes, in the order of their starts.
#[derive(Default, Debug)]
pub(super) struct ExactScratch {
    places: IdVec<LiveId, PlaceId>,
    /// Whether some pass takes no time.
    weightless: bool,
    /// For each queue, the one before it that may run the same passes, and how many passes each was given.
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
    frames: Vec<Frame>,
    undo: Vec<Undo>,
    memo: Vec<Reached>,
    set: (u64, u64),
}

/// A pass that could come next.
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
struct Frame {
    begin: usize,
    next: usize,
}

/// What a move changed that cannot be computed back.
#[derive(Debug)]
struct Undo {
    queues: Queues,
    live: u64,
    peak: u64,
    frame: f64,
    last_start: f64,
    last_place: Option<PlaceId>,
}

/// A set of passes that was run with so many bytes alive at most.
#[derive(Clone, Copy, Default, Debug)]
struct Reached {
    set: (u64, u64),
    peak: u64,
}

/// The job on one choice of queues.
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
    /// Searches all schedules in which each pass starts as early as its place on its queue lets it, in the order of
    /// starts, for one better than `best` (whose live bytes are `best_peak`), opening at most `budget` partial
    /// schedules, which it counts down. Returns whether none better than the `best` it leaves can exist.
    ///
    /// O(passes + edges) for each partial schedule; exponentially many of them. A partial schedule is given up when the
    /// longest path through what is left, or what is left for a queue with the shortest way to it and from it, or for
    /// all queues together, ends no earlier than the best. On one queue, a set of passes reached before with no more
    /// bytes is given up, and a pass that frees what it allocates within the peak so far runs at once.
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
        while let Some(frame) = self.frames.last_mut() {
            crate::cancel::poll();
            let Some(&chosen) = self.moves.get(frame.next) else {
                self.moves.truncate(frame.begin);
                self.frames.pop();
                if !self.undo.is_empty() {
                    self.take_back(problem, &mut queues);
                }
                continue;
            };
            frame.next += 1;
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
        self.frames.clear();
        self.undo.clear();
        self.memo.clear();
        self.memo.resize(if problem.alone() { MEMO } else { 0 }, Reached::default());
        self.set = (0, 0);
    }

    /// Whether a schedule with that frame, or that bound on it, can be better than the best.
    fn better(&self, goal: Goal, frame: f64, best: &Candidate, best_peak: u64) -> bool {
        match goal {
            Goal::Frame => frame < best.frame_us,
            Goal::Bytes => frame <= best.frame_us && self.peak < best_peak,
        }
    }

    /// Whether the set of passes placed was reached before with no more bytes; only asked on one queue, where nothing
    /// else matters for what is left.
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

    /// No completion of the current partial schedule has a shorter frame. O(passes + edges).
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

    /// Lists what may come next in the order of starts, most promising first.
    fn expand(&mut self, problem: Problem<'_>, goal: Goal, queues: &Queues, best: &Candidate, best_peak: u64) {
        let Problem { instance, masks, ranked, topology, classes } = problem;
        let begin = self.moves.len();
        let alone = problem.alone();
        // Equal starts come in the order of positions, unless something else depends on which comes first.
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
                // Of equal queues that were given nothing yet, only the first is tried.
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
                // Running it now leaves every later moment with no more bytes alive than running it later.
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
        self.frames.push(Frame { begin, next: begin });
    }

    /// Bytes alive while a pass runs now, and after it.
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
        let (weight, unit) = (f64::from(instance.weight_us[pass]), instance.unit[pass]);
        let end = start + weight + queues.slow_down(on as usize, start, weight, unit);
        queues.place(on as usize, start, end, unit);
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

/// No order keeps fewer bytes alive at most: some pass needs that many at once, or the end does.
fn least_bytes(instance: &Instance<'_>) -> u64 {
    let bytes = &instance.bytes;
    let at = |pass: LiveId| bytes.uses.row(pass).iter().map(|&resource| bytes.bytes[resource]).sum::<u64>();
    let used = |resource: &CountedId| bytes.kept[*resource] && !bytes.users.row(*resource).is_empty();
    let kept = bytes.users.ids().filter(used).map(|resource| bytes.bytes[resource]).sum();
    instance.passes().map(at).fold(kept, u64::max)
}
