//! Chains of passes that may merge run as one: whatever a later pass of a chain depends on comes before the first.
//!
//! ```text
//! gbuffer ─────────▶ lighting        shadow ─▶ [gbuffer, lighting]
//! shadow  ─────────▶
//! ```
//!
//! A chain is lifted if it still fits: no cycle comes of it, and no path becomes longer than the longest was.
//!
//! Source: Granite's render graph (Arntzen, "Render graphs and Vulkan — a deep dive", 2017), which lifts without
//! asking for the length.

use super::deps::Topology;
use super::instance::Instance;

const NONE: u32 = u32::MAX;

/// Which chains are lifted, and the longest paths with each of them as one pass.
#[derive(Default, Debug)]
pub(super) struct Lifts {
    /// The first pass of the lifted chain that each pass is part of; itself if it is part of none.
    pub head: Vec<u32>,
    /// Longest chain of passes that begins in each pass, counting it; a lifted chain counts as one.
    pub tail: Vec<u32>,
    /// The longest of all.
    pub depth: u32,
    /// Whether some chain is lifted.
    pub any: bool,
    level: Vec<u32>,
    /// By head: dependencies of the chain on other passes that are still to come.
    pending: Vec<u32>,
    /// The same of each pass alone.
    alone: Vec<u32>,
    ready: Vec<u32>,
    free: Vec<u32>,
    /// Heads in an order that keeps the dependencies.
    order: Vec<u32>,
}

impl Lifts {
    /// Lifts no chain.
    pub(super) fn clear(&mut self, topology: &Topology) {
        self.head.clear();
        self.head.extend(0..topology.order.len() as u32);
        self.tail.clone_from(&topology.tail);
        self.depth = topology.depth;
        self.any = false;
    }

    /// Lifts the chains of `mate` (the pass that follows each, or none) as far as they fit. O(passes + edges).
    pub(super) fn find(&mut self, instance: &Instance<'_>, topology: &Topology, mate: &[u32], mate_before: &[u32]) {
        self.clear(topology);
        for first in 0..mate.len() as u32 {
            if mate_before[first as usize] == NONE {
                let mut pass = mate[first as usize];
                while pass != NONE {
                    self.head[pass as usize] = first;
                    pass = mate[pass as usize];
                    self.any = true;
                }
            }
        }
        if self.any {
            self.settle(instance, topology, mate);
            self.any = (0..mate.len()).any(|pass| self.head[pass] as usize != pass);
            self.measure(instance, mate);
        }
    }

    /// Walks the passes with chains as one; a chain that waits for itself, or that would make a path longer than the
    /// longest, is taken apart.
    fn settle(&mut self, instance: &Instance<'_>, topology: &Topology, mate: &[u32]) {
        let n = instance.len();
        self.level.clear();
        self.level.resize(n, 0);
        self.alone.clear();
        self.alone.extend((0..n).map(|pass| instance.deps.preds.row(pass).len() as u32));
        self.pending.clear();
        self.pending.resize(n, 0);
        for pass in 0..n {
            let head = self.head[pass];
            let outside = instance.deps.preds.row(pass).iter().filter(|&&pred| self.head[pred as usize] != head);
            self.pending[head as usize] += outside.count() as u32;
        }
        self.order.clear();
        self.ready.clear();
        self.free.clear();
        for pass in (0..n as u32).rev() {
            if self.head[pass as usize] == pass && self.pending[pass as usize] == 0 {
                self.ready.push(pass);
            }
            if self.alone[pass as usize] == 0 {
                self.free.push(pass);
            }
        }
        loop {
            if let Some(head) = self.ready.pop() {
                self.place(instance, topology, mate, head);
            } else if let Some(pass) = self.free.pop() {
                // Only chains that wait for each other are left: this one begins with a pass that could run.
                if self.level[pass as usize] == 0 {
                    let head = self.head[pass as usize];
                    self.take_apart(mate, head);
                }
            } else {
                return;
            }
        }
    }

    /// All that the chain depends on has a level.
    fn place(&mut self, instance: &Instance<'_>, topology: &Topology, mate: &[u32], head: u32) {
        if self.level[head as usize] != 0 {
            return;
        }
        let (mut level, mut tail) = (1, 0);
        for pass in chain(head, mate, &self.head) {
            let preds = instance.deps.preds.row(pass as usize).iter().filter(|&&pred| self.head[pred as usize] != head);
            level = preds.map(|&pred| self.level[pred as usize] + 1).fold(level, u32::max);
            let succs = instance.deps.succs.row(pass as usize).iter().filter(|&&succ| self.head[succ as usize] != head);
            tail = succs.map(|&succ| topology.tail[succ as usize]).fold(tail, u32::max);
        }
        let single = mate[head as usize] == NONE || self.head[mate[head as usize] as usize] != head;
        if !single && level + tail > topology.depth {
            self.take_apart(mate, head);
            return;
        }
        self.order.push(head);
        let mut pass = head;
        loop {
            self.level[pass as usize] = level;
            for &succ in instance.deps.succs.row(pass as usize) {
                self.alone[succ as usize] -= 1;
                if self.alone[succ as usize] == 0 {
                    self.free.push(succ);
                }
                let other = self.head[succ as usize];
                if other != head {
                    self.pending[other as usize] -= 1;
                    if self.pending[other as usize] == 0 {
                        self.ready.push(other);
                    }
                }
            }
            pass = mate[pass as usize];
            if pass == NONE || self.head[pass as usize] != head {
                return;
            }
        }
    }

    /// Makes each pass of a chain, none of which has a level yet, one of its own.
    fn take_apart(&mut self, mate: &[u32], head: u32) {
        let mut pass = head;
        loop {
            let next = mate[pass as usize];
            let last = next == NONE || self.head[next as usize] != head;
            self.head[pass as usize] = pass;
            // What has a level is no longer waited for, so what is left is what the pass alone waits for.
            self.pending[pass as usize] = self.alone[pass as usize];
            if self.pending[pass as usize] == 0 {
                self.ready.push(pass);
            }
            if last {
                return;
            }
            pass = next;
        }
    }

    /// The longest paths with lifted chains as one pass.
    fn measure(&mut self, instance: &Instance<'_>, mate: &[u32]) {
        self.depth = self.level.iter().copied().max().unwrap_or(0);
        for at in (0..self.order.len()).rev() {
            let head = self.order[at];
            let mut tail = 0;
            for pass in chain(head, mate, &self.head) {
                let succs =
                    instance.deps.succs.row(pass as usize).iter().filter(|&&succ| self.head[succ as usize] != head);
                tail = succs.map(|&succ| self.tail[succ as usize]).fold(tail, u32::max);
            }
            for pass in chain(head, mate, &self.head) {
                self.tail[pass as usize] = tail + 1;
            }
        }
    }
}

/// The passes of a chain from its head on.
fn chain<'a>(head: u32, mate: &'a [u32], heads: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let next = move |&pass: &u32| {
        let next = mate[pass as usize];
        (next != NONE && heads[next as usize] == head).then_some(next)
    };
    std::iter::successors(Some(head), next)
}
