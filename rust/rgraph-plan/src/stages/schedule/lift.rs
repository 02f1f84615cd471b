//! Chains of nodes that may merge run as one: whatever a later node of a chain depends on comes before the first.
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
use super::job::Job;

const NONE: u32 = u32::MAX;

/// Which chains are lifted, and the longest paths with each of them as one node.
#[derive(Default, Debug)]
pub(super) struct Lifts {
    /// The first node of the lifted chain that each node is part of; itself if it is part of none.
    pub head: Vec<u32>,
    /// Longest chain of nodes that begins in each node, counting it; a lifted chain counts as one.
    pub tail: Vec<u32>,
    /// The longest of all.
    pub depth: u32,
    /// Whether some chain is lifted.
    pub any: bool,
    level: Vec<u32>,
    /// By head: dependencies of the chain on other nodes that are still to come.
    pending: Vec<u32>,
    /// The same of each node alone.
    alone: Vec<u32>,
    ready: Vec<u32>,
    free: Vec<u32>,
    /// Heads in an order that keeps the dependencies.
    order: Vec<u32>,
}

impl Lifts {
    /// Lifts no chain.
    pub fn clear(&mut self, topology: &Topology) {
        self.head.clear();
        self.head.extend(0..topology.order.len() as u32);
        self.tail.clone_from(&topology.tail);
        self.depth = topology.depth;
        self.any = false;
    }

    /// Lifts the chains of `mate` (the node that follows each, or none) as far as they fit. O(nodes + edges).
    pub fn find(&mut self, job: &Job<'_>, topology: &Topology, mate: &[u32], mate_before: &[u32]) {
        self.clear(topology);
        for first in 0..mate.len() as u32 {
            if mate_before[first as usize] == NONE {
                let mut node = mate[first as usize];
                while node != NONE {
                    self.head[node as usize] = first;
                    node = mate[node as usize];
                    self.any = true;
                }
            }
        }
        if self.any {
            self.settle(job, topology, mate);
            self.any = (0..mate.len()).any(|node| self.head[node] as usize != node);
            self.measure(job, mate);
        }
    }

    /// Walks the nodes with chains as one; a chain that waits for itself, or that would make a path longer than the
    /// longest, is taken apart.
    fn settle(&mut self, job: &Job<'_>, topology: &Topology, mate: &[u32]) {
        let n = job.len();
        self.level.clear();
        self.level.resize(n, 0);
        self.alone.clear();
        self.alone.extend((0..n).map(|node| job.deps.preds.row(node).len() as u32));
        self.pending.clear();
        self.pending.resize(n, 0);
        for node in 0..n {
            let head = self.head[node];
            let outside = job.deps.preds.row(node).iter().filter(|&&pred| self.head[pred as usize] != head);
            self.pending[head as usize] += outside.count() as u32;
        }
        self.order.clear();
        self.ready.clear();
        self.free.clear();
        for node in (0..n as u32).rev() {
            if self.head[node as usize] == node && self.pending[node as usize] == 0 {
                self.ready.push(node);
            }
            if self.alone[node as usize] == 0 {
                self.free.push(node);
            }
        }
        loop {
            if let Some(head) = self.ready.pop() {
                self.place(job, topology, mate, head);
            } else if let Some(node) = self.free.pop() {
                // Only chains that wait for each other are left: this one begins with a node that could run.
                if self.level[node as usize] == 0 {
                    let head = self.head[node as usize];
                    self.take_apart(mate, head);
                }
            } else {
                return;
            }
        }
    }

    /// All that the chain depends on has a level.
    fn place(&mut self, job: &Job<'_>, topology: &Topology, mate: &[u32], head: u32) {
        if self.level[head as usize] != 0 {
            return;
        }
        let (mut level, mut tail) = (1, 0);
        for node in chain(head, mate, &self.head) {
            let preds = job.deps.preds.row(node as usize).iter().filter(|&&pred| self.head[pred as usize] != head);
            level = preds.map(|&pred| self.level[pred as usize] + 1).fold(level, u32::max);
            let succs = job.deps.succs.row(node as usize).iter().filter(|&&succ| self.head[succ as usize] != head);
            tail = succs.map(|&succ| topology.tail[succ as usize]).fold(tail, u32::max);
        }
        let single = mate[head as usize] == NONE || self.head[mate[head as usize] as usize] != head;
        if !single && level + tail > topology.depth {
            self.take_apart(mate, head);
            return;
        }
        self.order.push(head);
        let mut node = head;
        loop {
            self.level[node as usize] = level;
            for &succ in job.deps.succs.row(node as usize) {
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
            node = mate[node as usize];
            if node == NONE || self.head[node as usize] != head {
                return;
            }
        }
    }

    /// Makes each node of a chain, none of which has a level yet, one of its own.
    fn take_apart(&mut self, mate: &[u32], head: u32) {
        let mut node = head;
        loop {
            let next = mate[node as usize];
            let last = next == NONE || self.head[next as usize] != head;
            self.head[node as usize] = node;
            // What has a level is no longer waited for, so what is left is what the node alone waits for.
            self.pending[node as usize] = self.alone[node as usize];
            if self.pending[node as usize] == 0 {
                self.ready.push(node);
            }
            if last {
                return;
            }
            node = next;
        }
    }

    /// The longest paths with lifted chains as one node.
    fn measure(&mut self, job: &Job<'_>, mate: &[u32]) {
        self.depth = self.level.iter().copied().max().unwrap_or(0);
        for at in (0..self.order.len()).rev() {
            let head = self.order[at];
            let mut tail = 0;
            for node in chain(head, mate, &self.head) {
                let succs = job.deps.succs.row(node as usize).iter().filter(|&&succ| self.head[succ as usize] != head);
                tail = succs.map(|&succ| self.tail[succ as usize]).fold(tail, u32::max);
            }
            for node in chain(head, mate, &self.head) {
                self.tail[node as usize] = tail + 1;
            }
        }
    }
}

/// The nodes of a chain from its head on.
fn chain<'a>(head: u32, mate: &'a [u32], heads: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let next = move |&node: &u32| {
        let next = mate[node as usize];
        (next != NONE && heads[next as usize] == head).then_some(next)
    };
    std::iter::successors(Some(head), next)
}
