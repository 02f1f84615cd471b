//! One list of passes with few barrier calls and few live bytes: group by group.
//!
//! Passes between two barrier calls form a group: none depends on another. The fewest groups there can be is the
//! longest chain of dependencies, and that many suffice as long as each group takes every pass whose own chain to the
//! end is as long as the groups that are left. What else is ready may run now or later: it runs now if it frees at
//! least as much as it allocates, or if what it allocates fits under the cap.

use std::collections::BinaryHeap;

use super::deps::Topology;
use super::instance::{CountedId, Instance};
use super::key::Key;
use super::lift::{Lifts, Mates};
use crate::id::{Id, IdVec};
use crate::stages::cull::LiveId;

/// Ready passes that a group looks at in vain before it is closed. It bounds the time of a group, so that thousands of
/// passes that do not fit cost nothing while they wait.
const MISFITS: usize = 24;

/// Steps of the search for a path between two passes that may merge; beyond, they are taken for not mergeable.
const PATH_STEPS: usize = 64;

/// How far a pass goes in filling memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Caps {
    /// Live bytes up to which passes that could wait still run.
    pub soft: u64,
    /// Live bytes up to which passes run that would cost a group if they waited.
    pub hard: u64,
    /// Whether what dies in a group is dead only when the group ends: taking its bytes over sooner would need a
    /// barrier within the group.
    pub late: bool,
}

/// Beyond these an order is not wanted, and not made to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Most {
    /// Groups.
    pub groups: u32,
    /// Bytes alive at once.
    pub peak: u64,
}

/// What an order needs; of one that is not wanted, what it needed when it was given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    /// Groups.
    pub groups: u32,
    /// Bytes alive at once.
    pub peak: u64,
    /// Whether an earlier call since [`OverlapScratch::forget`] made the same order: it was not made again.
    pub again: bool,
    /// Whether it keeps to what was wanted.
    pub wanted: bool,
}

/// The bytes that were compared with a cap: most of those below or at it, and least of those above.
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

    /// Whether every comparison would have come out alike with another cap.
    fn alike(self, cap: u64) -> bool {
        (self.most_within..self.least_beyond).contains(&cap)
    }
}

/// An order that was made: caps that decide alike give the same one.
#[derive(Clone, Copy, Debug)]
struct Known {
    late: bool,
    soft: Compared,
    hard: Compared,
    groups: u32,
    peak: u64,
}

/// Working memory.
#[derive(Default, Debug)]
pub(super) struct OverlapScratch {
    known: Vec<Known>,
    /// Orders made since the search began.
    pub made: u32,
    pending: IdVec<LiveId, u32>,
    /// Bytes that a pass would make live now, and those that would die with it.
    allocates: IdVec<LiveId, u64>,
    frees: IdVec<LiveId, u64>,
    left: IdVec<CountedId, Left>,
    ready: BinaryHeap<Key>,
    /// Ready passes that free at least what they allocate (some may be done since).
    freeing: Vec<LiveId>,
    state: IdVec<LiveId, State>,
    group: IdVec<LiveId, u32>,
    groups: u32,
    held: Vec<Key>,
    next: Vec<LiveId>,
    /// The later half of each pass's merge, and the earlier.
    pub mate: Mates,
    mate_before: Mates,
    /// Chains of mates that run as one.
    pub lifts: Lifts,
    stack: Vec<LiveId>,
}

/// Users of a resource that are still to come: their number, and the exclusive or of their positions.
#[derive(Clone, Copy, Debug)]
struct Left {
    count: u32,
    users: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waiting,
    Ready,
    Done,
}

impl OverlapScratch {
    /// Pairs passes that may merge: each with at most one after it and one before it, first come first served, and none
    /// between which another pass would have to run. O(merges · 64 steps).
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

    /// Lifts chains of pairs, or none. [`pair`](Self::pair) and [`Topology::chains`] come first.
    pub(super) fn lift(&mut self, instance: &Instance<'_>, topology: &Topology, lifts: bool) {
        if lifts {
            self.lifts.find(instance, topology, &self.mate, &self.mate_before);
        } else {
            self.lifts.clear(topology);
        }
    }

    /// Whether some pass must run between the two, or the later before the earlier, or the search gave up.
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

    /// Forgets which orders were made: those that come have another instance or other lifts.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// Appends all passes to `out` (which is cleared) group by group. [`lift`](Self::lift) and [`forget`](Self::forget)
    /// come first, and no call since wanted more than an earlier one. `out` is of use only if the order is wanted and
    /// not made again.
    ///
    /// O(edges + uses + passes log passes); O(1) for an order that is known.
    ///
    /// # Source
    /// List scheduling by levels (Hu, 1961) with the register-pressure limit of Goodman & Hsu, "Code scheduling and
    /// register allocation in large basic blocks", ICS 1988, on bytes instead of registers.
    pub(super) fn order(&mut self, instance: &Instance<'_>, caps: Caps, most: Most, out: &mut Vec<LiveId>) -> Made {
        let wanted = |groups: u32, peak: u64| groups <= most.groups && peak <= most.peak;
        let alike =
            |known: &&Known| known.late == caps.late && known.soft.alike(caps.soft) && known.hard.alike(caps.hard);
        if let Some(&Known { groups, peak, .. }) = self.known.iter().find(alike) {
            return Made { groups, peak, again: true, wanted: wanted(groups, peak) };
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
        while out.len() < n && wanted(self.groups, live.peak) {
            crate::cancel::poll();
            self.groups += 1;
            live.now -= std::mem::take(&mut live.dying);
            let mut arrivals = std::mem::take(&mut self.next);
            for &pass in &arrivals {
                if self.state[pass] == State::Waiting {
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
        let groups = self.groups;
        self.known.push(Known { late: caps.late, soft, hard, groups, peak });
        Made { groups, peak, again: false, wanted: wanted(groups, peak) }
    }

    fn begin(&mut self, instance: &Instance<'_>) {
        let n = instance.len();
        let bytes = &instance.bytes;
        self.pending.clear();
        self.pending.extend(instance.passes().map(|pass| instance.deps.preds.row(pass).len() as u32));
        if self.lifts.any {
            self.wait_for_chains(instance);
        }
        self.state.refill(State::Waiting, n);
        self.group.refill(0, n);
        self.groups = 0;
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

    /// The first pass of a lifted chain waits for what any of the chain waits for, each further one for the one before.
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

    /// A pass may run from the group that begins now on.
    fn arrive(&mut self, pass: LiveId) {
        self.state[pass] = State::Ready;
        self.ready.push(Key::new(self.lifts.tail[pass], pass));
        if self.frees[pass] >= self.allocates[pass] {
            self.freeing.push(pass);
        }
    }

    fn drain_freeing(&mut self, instance: &Instance<'_>, live: &mut Live, out: &mut Vec<LiveId>) {
        while let Some(pass) = self.freeing.pop() {
            if self.state[pass] == State::Ready
                && live.fits(self.allocates[pass], true)
                && !self.waits_for_mate(instance, pass)
            {
                self.take_chain(instance, pass, live, out);
            }
        }
    }

    /// Takes ready passes, longest chain first, while they fit.
    fn fill(&mut self, instance: &Instance<'_>, live: &mut Live, out: &mut Vec<LiveId>) {
        let mut longest = 0;
        while self.held.len() < MISFITS {
            let Some(key) = self.ready.pop() else { break };
            let pass = key.pass();
            if self.state[pass] != State::Ready {
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

    /// Whether the pass had better wait because what it may merge with could not follow it yet.
    fn waits_for_mate(&self, instance: &Instance<'_>, pass: LiveId) -> bool {
        let Some(mate) = self.mate[pass].filter(|&mate| self.state[mate] == State::Waiting) else { return false };
        let lifted = self.lifts.head[mate] == self.lifts.head[pass];
        let own = u32::from(instance.deps.preds.row(mate).contains(&pass)) + u32::from(lifted);
        self.pending[mate] > own
    }

    /// Of the ready passes that a group looked at, the one that leaves fewest bytes alive, then that needs fewest.
    fn least_harm(&self) -> LiveId {
        let cost = |key: &&Key| {
            let pass = key.pass();
            (i128::from(self.allocates[pass]) - i128::from(self.frees[pass]), self.allocates[pass])
        };
        let key = self.held.iter().min_by_key(cost).expect("a graph without cycles has a ready node");
        key.pass()
    }

    /// Runs a pass, and after it what may merge with it as long as that can follow at once and fits.
    fn take_chain(&mut self, instance: &Instance<'_>, pass: LiveId, live: &mut Live, out: &mut Vec<LiveId>) {
        let mut mate = pass;
        loop {
            self.take(instance, mate, live, out);
            let can_follow = |&next: &LiveId| self.state[next] != State::Done && self.pending[next] == 0;
            let Some(next) = self.mate[mate].filter(can_follow) else { return };
            if !live.fits(self.allocates[next], true) {
                return;
            }
            mate = next;
            // What the mate waits for besides the pass before it must lie in earlier groups, or it needs a barrier
            // call.
            let current = self.group[pass];
            let heads = &self.lifts.head;
            let outside = |&pred: &LiveId| {
                let apart = heads[pred] != heads[mate] && out.last() != Some(&pred);
                apart && self.group[pred] == current
            };
            if instance.deps.preds.row(mate).iter().any(outside) {
                return;
            }
        }
    }

    /// Runs a pass: what it uses first becomes alive, what it uses last dies, what waited for it alone comes next.
    fn take(&mut self, instance: &Instance<'_>, pass: LiveId, live: &mut Live, out: &mut Vec<LiveId>) {
        self.state[pass] = State::Done;
        self.group[pass] = self.groups;
        out.push(pass);
        let bytes = &instance.bytes;
        let mut dying = 0;
        for &resource in bytes.uses.row(pass) {
            let size = bytes.bytes[resource];
            if size == 0 {
                continue;
            }
            let users = bytes.users.row(resource);
            // Its first use: it is alive now, so no other user allocates it any more.
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
                // With one user left, the exclusive or of the positions is that user, whose pass would free it.
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

    /// One thing less that a pass waits for.
    fn arrived(&mut self, pass: LiveId) {
        self.pending[pass] -= 1;
        if self.pending[pass] == 0 {
            self.next.push(pass);
        }
    }

    fn consider_freeing(&mut self, pass: LiveId) {
        if self.state[pass] == State::Ready && self.frees[pass] >= self.allocates[pass] {
            self.freeing.push(pass);
        }
    }
}

struct Live {
    now: u64,
    peak: u64,
    /// Bytes that die when the group ends.
    dying: u64,
    caps: Caps,
    soft: Compared,
    hard: Compared,
}

impl Live {
    fn new(caps: Caps) -> Self {
        Self { now: 0, peak: 0, dying: 0, caps, soft: Compared::NOTHING, hard: Compared::NOTHING }
    }

    /// Whether so many more bytes may be alive, for a pass that would cost a group if it waited or for another one.
    fn fits(&mut self, more: u64, urgent: bool) -> bool {
        let (compared, cap) = if urgent { (&mut self.hard, self.caps.hard) } else { (&mut self.soft, self.caps.soft) };
        compared.fits(self.now + more, cap)
    }
}
