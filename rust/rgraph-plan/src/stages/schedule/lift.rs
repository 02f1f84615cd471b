//! Chains of passes that may merge run as one pass: the dependencies of all of them come before the first.
//!
//! ```text
//! gbuffer ─────────▶ lighting        shadow ─▶ [gbuffer, lighting]
//! shadow  ─────────▶
//! ```
//!
//! A chain is lifted if that makes no cycle and no path longer than the longest one before.
//!
//! Source: Granite's render graph (Arntzen, "Render graphs and Vulkan — a deep dive", 2017), which lifts without
//! limiting the length of paths.

use super::deps::Topology;
use super::instance::Instance;
use crate::id::IdVec;
use crate::stages::ids::LiveId;

/// By pass: the pass that it is paired with, if any.
pub(super) type Mates = IdVec<LiveId, Option<LiveId>>;

/// Which chains are lifted, and the longest paths with each of them as one pass.
#[derive(Default, Debug)]
pub(super) struct Lifts {
    /// The first pass of the lifted chain that each pass is part of; itself if it is part of none.
    pub head: IdVec<LiveId, LiveId>,
    /// Longest chain of passes that begins in each pass, counting it; a lifted chain counts as one.
    pub tail: IdVec<LiveId, u32>,
    /// The longest of all.
    pub depth: u32,
    /// Whether some chain is lifted.
    pub any: bool,
    level: IdVec<LiveId, u32>,
    /// By head: number of dependencies of the chain on passes of other chains that are not placed yet.
    pending: IdVec<LiveId, u32>,
    /// The same of each pass alone.
    alone: IdVec<LiveId, u32>,
    ready: Vec<LiveId>,
    free: Vec<LiveId>,
    /// Heads in an order that keeps the dependencies.
    order: Vec<LiveId>,
}

impl Lifts {
    /// Lifts no chain.
    pub(super) fn clear(&mut self, topology: &Topology) {
        self.head.clear();
        self.head.extend(topology.tail.ids());
        self.tail.clone_from(&topology.tail);
        self.depth = topology.depth;
        self.any = false;
    }

    /// Lifts the chains of `mate` (the pass that follows each, or none) as far as they fit. O(passes + edges).
    pub(super) fn find(&mut self, instance: &Instance<'_>, topology: &Topology, mate: &Mates, mate_before: &Mates) {
        self.clear(topology);
        for first in mate.ids().filter(|&pass| mate_before[pass].is_none()) {
            for pass in std::iter::successors(mate[first], |&pass| mate[pass]) {
                self.head[pass] = first;
                self.any = true;
            }
        }
        if self.any {
            self.settle(instance, topology, mate);
            self.any = self.head.iter_ids().any(|(pass, &head)| head != pass);
            self.measure(instance, mate);
        }
    }

    /// Walks chains in topological order. Takes a chain apart if it waits for itself or would make a path longer than
    /// the longest.
    fn settle(&mut self, instance: &Instance<'_>, topology: &Topology, mate: &Mates) {
        let n = instance.len();
        self.level.refill(0, n);
        self.alone.clear();
        self.alone.extend(instance.passes().map(|pass| instance.deps.preds.row(pass).len() as u32));
        self.pending.refill(0, n);
        for pass in instance.passes() {
            let head = self.head[pass];
            let outside = instance.deps.preds.row(pass).iter().filter(|&&pred| self.head[pred] != head);
            self.pending[head] += outside.count() as u32;
        }
        self.order.clear();
        self.ready.clear();
        self.free.clear();
        for pass in instance.passes().rev() {
            if self.head[pass] == pass && self.pending[pass] == 0 {
                self.ready.push(pass);
            }
            if self.alone[pass] == 0 {
                self.free.push(pass);
            }
        }
        loop {
            if let Some(head) = self.ready.pop() {
                self.place(instance, topology, mate, head);
            } else if let Some(pass) = self.free.pop() {
                // Only chains that wait for themselves or each other are left. Alone, this pass could run, so taking
                // its chain apart lets the walk continue.
                if self.level[pass] == 0 {
                    let head = self.head[pass];
                    self.take_apart(mate, head);
                }
            } else {
                return;
            }
        }
    }

    /// Gives the passes of a chain their level, once everything that the chain depends on has one.
    fn place(&mut self, instance: &Instance<'_>, topology: &Topology, mate: &Mates, head: LiveId) {
        if self.level[head] != 0 {
            return;
        }
        let (mut level, mut tail) = (1, 0);
        for pass in chain(head, mate, &self.head) {
            let preds = instance.deps.preds.row(pass).iter().filter(|&&pred| self.head[pred] != head);
            level = preds.map(|&pred| self.level[pred] + 1).fold(level, u32::max);
            let succs = instance.deps.succs.row(pass).iter().filter(|&&succ| self.head[succ] != head);
            tail = succs.map(|&succ| topology.tail[succ]).fold(tail, u32::max);
        }
        let several = mate[head].is_some_and(|next| self.head[next] == head);
        if several && level + tail > topology.depth {
            self.take_apart(mate, head);
            return;
        }
        self.order.push(head);
        let mut pass = head;
        loop {
            self.level[pass] = level;
            for &succ in instance.deps.succs.row(pass) {
                self.alone[succ] -= 1;
                if self.alone[succ] == 0 {
                    self.free.push(succ);
                }
                let other = self.head[succ];
                if other != head {
                    self.pending[other] -= 1;
                    if self.pending[other] == 0 {
                        self.ready.push(other);
                    }
                }
            }
            match mate[pass] {
                Some(next) if self.head[next] == head => pass = next,
                _ => return,
            }
        }
    }

    /// Makes each pass of a chain a chain of its own. None of them has a level yet.
    fn take_apart(&mut self, mate: &Mates, head: LiveId) {
        let mut pass = head;
        loop {
            let next = mate[pass].filter(|&next| self.head[next] == head);
            self.head[pass] = pass;
            // `alone` no longer counts predecessors that have a level, so it is what the pass now waits for.
            self.pending[pass] = self.alone[pass];
            if self.pending[pass] == 0 {
                self.ready.push(pass);
            }
            match next {
                Some(next) => pass = next,
                None => return,
            }
        }
    }

    /// Computes `depth` and `tail` with each lifted chain as one pass.
    fn measure(&mut self, instance: &Instance<'_>, mate: &Mates) {
        self.depth = self.level.iter().copied().max().unwrap_or(0);
        for at in (0..self.order.len()).rev() {
            let head = self.order[at];
            let mut tail = 0;
            for pass in chain(head, mate, &self.head) {
                let succs = instance.deps.succs.row(pass).iter().filter(|&&succ| self.head[succ] != head);
                tail = succs.map(|&succ| self.tail[succ]).fold(tail, u32::max);
            }
            for pass in chain(head, mate, &self.head) {
                self.tail[pass] = tail + 1;
            }
        }
    }
}

/// The passes of a chain from its head on.
fn chain<'a>(head: LiveId, mate: &'a Mates, heads: &'a IdVec<LiveId, LiveId>) -> impl Iterator<Item = LiveId> + 'a {
    std::iter::successors(Some(head), move |&pass| mate[pass].filter(|&next| heads[next] == head))
}
