//! A list schedule for one queue with few barrier calls and few live bytes, filled one interval after the other.
//!
//! No pass of an interval depends on another one of it. The length of the longest chain of dependencies is the least
//! number of intervals. It suffices if each interval takes every *urgent* pass: one with a chain to the end as long as
//! the number of intervals left. Other ready passes may run now or later. One runs now if it frees at least as much as
//! it allocates, or if its allocations fit under the cap.

use crate::stages::ids::{CountedId, IntervalId, LiveId};
use std::collections::BinaryHeap;

use super::deps::Topology;
use super::instance::Instance;
use super::key::Key;
use super::lift::{Lifts, Mates};
use crate::id::{Id, IdVec};

/// Ready passes that do not fit after which an interval is closed. Otherwise thousands of waiting passes would be
/// looked at again in every interval.
const MISFITS: usize = 24;

/// Most steps of the search for a path between two passes that may merge; if it needs more, they are not paired.
const PATH_STEPS: usize = 64;

/// Limits of live bytes for one order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Caps {
    /// Most live bytes after a pass that is not urgent.
    pub soft: u64,
    /// Most live bytes after an urgent pass.
    pub hard: u64,
    /// Whether the bytes that die in an interval are reused only by later ones. Earlier reuse needs a barrier call
    /// within the interval.
    pub late: bool,
}

/// Limits beyond which an order is abandoned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Most {
    pub intervals: u32,
    /// Most bytes alive at once.
    pub peak: u64,
}

/// The figures of an order; those up to the point of abandonment if it exceeds [`Most`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub intervals: u32,
    /// Most bytes alive at once.
    pub peak: u64,
    /// Whether a call since [`OverlapScratch::forget`] has made the same order; this one then made none.
    pub again: bool,
    /// Whether it is within [`Most`].
    pub wanted: bool,
}

/// The closest comparisons of live bytes with a cap: the largest value within it and the smallest beyond it.
#[derive(Clone, Copy, Debug)]
struct Compared {
    most_within: u64,
    least_beyond: u64,
}

impl Compared {
    const NOTHING: Self = Self { most_within: 0, least_beyond: u64::MAX };

    fn fits(&mut self, bytes: u64, cap: u64) -> bool {
        let fits = bytes <= cap;
        if fits {
            self.most_within = self.most_within.max(bytes);
        } else {
            self.least_beyond = self.least_beyond.min(bytes);
        }
        fits
    }

    /// Whether every comparison has the same result with another cap.
    fn alike(self, cap: u64) -> bool {
        (self.most_within..self.least_beyond).contains(&cap)
    }
}

/// The figures of an order that was made. Caps for which all comparisons have the same results give the same order.
#[derive(Clone, Copy, Debug)]
struct Known {
    late: bool,
    soft: Compared,
    hard: Compared,
    intervals: u32,
    peak: u64,
}

/// Working memory.
#[derive(Default, Debug)]
pub(super) struct OverlapScratch {
    known: Vec<Known>,
    /// Orders made since the search began.
    pub made: u32,
    pending: IdVec<LiveId, u32>,
    /// By pass: bytes that would begin to live, and bytes that would die, if it ran next.
    allocates: IdVec<LiveId, u64>,
    frees: IdVec<LiveId, u64>,
    left: IdVec<CountedId, Left>,
    ready: BinaryHeap<Key>,
    /// Ready passes that free at least what they allocate; some may be done already.
    freeing: Vec<LiveId>,
    state: IdVec<LiveId, Readiness>,
    /// The interval of each pass that has run.
    interval: IdVec<LiveId, Option<IntervalId>>,
    /// Intervals that have begun, and the last of them.
    intervals: u32,
    current: Option<IntervalId>,
    held: Vec<Key>,
    next: Vec<LiveId>,
    /// By pass: the pass that may merge after it, and the one before it.
    pub mate: Mates,
    mate_before: Mates,
    /// Chains of mates that run as one pass.
    pub lifts: Lifts,
    stack: Vec<LiveId>,
}

/// Users of a resource that have not run: their number, and the exclusive or of their positions, which is the position
/// of the last one when one is left.
#[derive(Clone, Copy, Debug)]
struct Left {
    count: u32,
    users: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Readiness {
    Waiting,
    Ready,
    Done,
}

impl OverlapScratch {
    /// Pairs passes that may merge, in the order of `merges`: each with at most one before it and one after it. Two
    /// passes are not paired if another one must run between them. O(merges · 64 steps).
    pub(super) fn pair(&mut self, instance: &Instance<'_>, topology: &Topology) {
        self.mate.refill(None, instance.len());
        self.mate_before.refill(None, instance.len());
        for &(earlier, later) in instance.merges {
            let free = self.mate[earlier].is_none() && self.mate_before[later].is_none();
            if free && earlier != later && !self.path(instance, topology, earlier, later) {
                self.mate[earlier] = Some(later);
                self.mate_before[later] = Some(earlier);
            }
        }
    }

    /// Lifts chains of pairs, or, if not `lifts`, none. Requires [`pair`](Self::pair) and [`Topology::chains`].
    pub(super) fn lift(&mut self, instance: &Instance<'_>, topology: &Topology, lifts: bool) {
        if lifts {
            self.lifts.find(instance, topology, &self.mate, &self.mate_before);
        } else {
            self.lifts.clear(topology);
        }
    }

    /// True if some pass must run between the two, if the later one must run before the earlier, or if the search
    /// exceeds [`PATH_STEPS`].
    fn path(&mut self, instance: &Instance<'_>, topology: &Topology, earlier: LiveId, later: LiveId) -> bool {
        let level = &topology.level;
        let mut steps = 0;
        for (from, to, direct) in [(earlier, later, true), (later, earlier, false)] {
            self.stack.clear();
            self.stack.push(to);
            while let Some(pass) = self.stack.pop() {
                for &pred in instance.deps.preds.row(pass) {
                    if pred == from && !(direct && pass == to) {
                        return true;
                    }
                    steps += 1;
                    if steps > PATH_STEPS {
                        return true;
                    }
                    if level[pred] > level[from] {
                        self.stack.push(pred);
                    }
                }
            }
        }
        false
    }

    /// Forgets all orders made: required before a call with another instance or other lifts.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// Fills `out` with all passes, one interval after the other. Requires [`lift`](Self::lift) and
    /// [`forget`](Self::forget); later calls may have a lower `most`, never a higher one. `out` is an order only if the
    /// result is `wanted` and not `again`.
    ///
    /// O(edges + uses + passes log passes); O(1) for an order that is known.
    ///
    /// # Source
    /// List scheduling by levels (Hu, 1961) with the register-pressure limit of Goodman & Hsu, "Code scheduling and
    /// register allocation in large basic blocks", ICS 1988, on bytes instead of registers.
    pub(super) fn order(&mut self, instance: &Instance<'_>, caps: Caps, most: Most, out: &mut Vec<LiveId>) -> Made {
        let wanted = |intervals: u32, peak: u64| intervals <= most.intervals && peak <= most.peak;
        let alike =
            |known: &&Known| known.late == caps.late && known.soft.alike(caps.soft) && known.hard.alike(caps.hard);
        if let Some(&Known { intervals, peak, .. }) = self.known.iter().find(alike) {
            return Made { intervals, peak, again: true, wanted: wanted(intervals, peak) };
        }
        self.made += 1;
        self.begin(instance);
        out.clear();
        let n = instance.len();
        let mut live = Live::new(caps);
        for pass in instance.passes() {
            if self.pending[pass] == 0 {
                self.next.push(pass);
            }
        }
        while out.len() < n && wanted(self.intervals, live.peak) {
            crate::cancel::poll();
            self.current = Some(IntervalId::new(self.intervals as usize));
            self.intervals += 1;
            live.now -= std::mem::take(&mut live.dying);
            let mut arrivals = std::mem::take(&mut self.next);
            for &pass in &arrivals {
                if self.state[pass] == Readiness::Waiting {
                    self.arrive(pass);
                }
            }
            arrivals.clear();
            self.next = arrivals;
            let before = out.len();
            self.drain_freeing(instance, &mut live, out);
            self.fill(instance, &mut live, out);
            if out.len() == before {
                let pass = self.least_harm();
                self.take_chain(instance, pass, &mut live, out);
            }
            self.ready.extend(self.held.drain(..));
        }
        let Live { soft, hard, peak, .. } = live;
        let intervals = self.intervals;
        self.known.push(Known { late: caps.late, soft, hard, intervals, peak });
        Made { intervals, peak, again: false, wanted: wanted(intervals, peak) }
    }

    fn begin(&mut self, instance: &Instance<'_>) {
        let n = instance.len();
        let bytes = &instance.bytes;
        self.pending.clear();
        self.pending.extend(instance.passes().map(|pass| instance.deps.preds.row(pass).len() as u32));
        if self.lifts.any {
            self.wait_for_chains(instance);
        }
        self.state.refill(Readiness::Waiting, n);
        self.interval.refill(None, n);
        self.intervals = 0;
        self.current = None;
        self.allocates.refill(0, n);
        self.frees.refill(0, n);
        self.left.clear();
        for resource in bytes.users.ids() {
            let users = bytes.users.row(resource);
            let all = users.iter().fold(0, |all, &user| all ^ user.index() as u32);
            self.left.push(Left { count: users.len() as u32, users: all });
            if bytes.bytes[resource] > 0 {
                for &user in users {
                    self.allocates[user] += bytes.bytes[resource];
                }
                if let (&[user], false) = (users, bytes.kept[resource]) {
                    self.frees[user] += bytes.bytes[resource];
                }
            }
        }
        self.ready.clear();
        self.freeing.clear();
        self.held.clear();
        self.next.clear();
    }

    /// Counts dependencies of lifted chains: those of all passes count for the first, and each further pass waits for
    /// the one before it.
    fn wait_for_chains(&mut self, instance: &Instance<'_>) {
        for (pass, &head) in self.lifts.head.iter_ids() {
            if head != pass {
                let preds = instance.deps.preds.row(pass).iter();
                let outside = preds.filter(|&&pred| self.lifts.head[pred] != head).count();
                self.pending[head] += outside as u32;
                self.pending[pass] += 1;
            }
        }
    }

    /// Makes a pass ready from the interval that begins now.
    fn arrive(&mut self, pass: LiveId) {
        self.state[pass] = Readiness::Ready;
        self.ready.push(Key::new(self.lifts.tail[pass], pass));
        if self.frees[pass] >= self.allocates[pass] {
            self.freeing.push(pass);
        }
    }

    fn drain_freeing(&mut self, instance: &Instance<'_>, live: &mut Live, out: &mut Vec<LiveId>) {
        while let Some(pass) = self.freeing.pop() {
            if self.state[pass] == Readiness::Ready
                && live.fits(self.allocates[pass], true)
                && !self.waits_for_mate(instance, pass)
            {
                self.take_chain(instance, pass, live, out);
            }
        }
    }

    /// Runs ready passes, longest chain first, while they fit.
    fn fill(&mut self, instance: &Instance<'_>, live: &mut Live, out: &mut Vec<LiveId>) {
        let mut longest = 0;
        while self.held.len() < MISFITS {
            let Some(key) = self.ready.pop() else { break };
            let pass = key.pass();
            if self.state[pass] != Readiness::Ready {
                continue;
            }
            let tail = self.lifts.tail[pass];
            longest = longest.max(tail);
            let urgent = tail == longest;
            if live.fits(self.allocates[pass], urgent) && (urgent || !self.waits_for_mate(instance, pass)) {
                self.take_chain(instance, pass, live, out);
                self.drain_freeing(instance, live, out);
            } else {
                self.held.push(key);
            }
        }
    }

    /// True if the pass that may merge after it waits for others too: run later, the two can be neighbours.
    fn waits_for_mate(&self, instance: &Instance<'_>, pass: LiveId) -> bool {
        let Some(mate) = self.mate[pass].filter(|&mate| self.state[mate] == Readiness::Waiting) else { return false };
        let lifted = self.lifts.head[mate] == self.lifts.head[pass];
        let own = u32::from(instance.deps.preds.row(mate).contains(&pass)) + u32::from(lifted);
        self.pending[mate] > own
    }

    /// Of the ready passes that did not fit, the one that adds the fewest live bytes; on ties, the one that allocates
    /// the fewest.
    fn least_harm(&self) -> LiveId {
        let cost = |key: &&Key| {
            let pass = key.pass();
            (i128::from(self.allocates[pass]) - i128::from(self.frees[pass]), self.allocates[pass])
        };
        let key = self.held.iter().min_by_key(cost).expect("a graph without cycles has a ready pass");
        key.pass()
    }

    /// Runs a pass and the passes that may merge after it, as long as the next one is ready and fits.
    fn take_chain(&mut self, instance: &Instance<'_>, pass: LiveId, live: &mut Live, out: &mut Vec<LiveId>) {
        let mut mate = pass;
        loop {
            self.take(instance, mate, live, out);
            let can_follow = |&next: &LiveId| self.state[next] != Readiness::Done && self.pending[next] == 0;
            let Some(next) = self.mate[mate].filter(can_follow) else { return };
            if !live.fits(self.allocates[next], true) {
                return;
            }
            mate = next;
            // A mate that depends on a pass of this interval, other than those it merges with, needs a barrier call
            // before it, which ends the chain.
            let current = self.interval[pass];
            let heads = &self.lifts.head;
            let outside = |&pred: &LiveId| {
                let apart = heads[pred] != heads[mate] && out.last() != Some(&pred);
                apart && self.interval[pred] == current
            };
            if instance.deps.preds.row(mate).iter().any(outside) {
                return;
            }
        }
    }

    /// Runs a pass: the resources of which it is the first user begin to live, those of which it is the last die, and
    /// passes that waited only for it are ready in the next interval.
    fn take(&mut self, instance: &Instance<'_>, pass: LiveId, live: &mut Live, out: &mut Vec<LiveId>) {
        self.state[pass] = Readiness::Done;
        self.interval[pass] = self.current;
        out.push(pass);
        let bytes = &instance.bytes;
        let mut dying = 0;
        for &resource in bytes.uses.row(pass) {
            let size = bytes.bytes[resource];
            if size == 0 {
                continue;
            }
            let users = bytes.users.row(resource);
            // The first use allocates the resource, so its other users no longer do.
            if self.left[resource].count as usize == users.len() {
                live.now += size;
                for &user in users {
                    self.allocates[user] -= size;
                    self.consider_freeing(user);
                }
            }
            let left = &mut self.left[resource];
            left.count -= 1;
            left.users ^= pass.index() as u32;
            if !bytes.kept[resource] {
                // The last user left would free it.
                if left.count == 1 {
                    let user = LiveId::new(left.users as usize);
                    self.frees[user] += size;
                    self.consider_freeing(user);
                } else if left.count == 0 {
                    dying += size;
                }
            }
        }
        live.peak = live.peak.max(live.now);
        if live.caps.late {
            live.dying += dying;
        } else {
            live.now -= dying;
        }
        for &succ in instance.deps.succs.row(pass) {
            self.arrived(succ);
            let head = self.lifts.head[succ];
            if head != succ && head != self.lifts.head[pass] {
                self.arrived(head);
            }
        }
        if let Some(mate) = self.mate[pass]
            && self.lifts.head[mate] == self.lifts.head[pass]
        {
            self.arrived(mate);
        }
    }

    /// Counts one dependency of a pass as done.
    fn arrived(&mut self, pass: LiveId) {
        self.pending[pass] -= 1;
        if self.pending[pass] == 0 {
            self.next.push(pass);
        }
    }

    fn consider_freeing(&mut self, pass: LiveId) {
        if self.state[pass] == Readiness::Ready && self.frees[pass] >= self.allocates[pass] {
            self.freeing.push(pass);
        }
    }
}

struct Live {
    now: u64,
    peak: u64,
    /// Bytes that die at the end of the interval (`late` caps only).
    dying: u64,
    caps: Caps,
    soft: Compared,
    hard: Compared,
}

impl Live {
    fn new(caps: Caps) -> Self {
        Self { now: 0, peak: 0, dying: 0, caps, soft: Compared::NOTHING, hard: Compared::NOTHING }
    }

    /// Whether `more` live bytes are within the cap for urgent passes, or within that for others.
    fn fits(&mut self, more: u64, urgent: bool) -> bool {
        let (compared, cap) = if urgent { (&mut self.hard, self.caps.hard) } else { (&mut self.soft, self.caps.soft) };
        compared.fits(self.now + more, cap)
    }
}
