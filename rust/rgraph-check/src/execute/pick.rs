//! Which of the nodes that may happen happens next: listed order, orders drawn from seeds, and orders made to go
//! wrong where the plan leaves them open.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rgraph_ir::id::{Id, IdVec};

use super::ids::{OrderNodeId, RunId};
use super::order::{Kind, Order};
use crate::random::Random;

/// How a schedule picks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Taste {
    /// As listed, run after run.
    Listed,
    /// What is listed last comes first.
    Latest,
    /// Writes as early, reads as late as possible.
    WritesFirst,
    /// Reads as early, writes as late as possible.
    ReadsFirst,
    /// One queue as far as it goes, then another.
    Bursts,
    /// Some passes as late as possible.
    Laggards,
    /// Any.
    Random,
}

/// By node: the lowest goes first.
pub(crate) type Priorities = IdVec<OrderNodeId, u64>;

/// Priorities of nodes.
pub(crate) fn priorities(order: &Order, seed: Option<u64>, writes: impl Fn(OrderNodeId) -> bool) -> Priorities {
    let tastes = [
        Taste::Latest,
        Taste::WritesFirst,
        Taste::Random,
        Taste::Bursts,
        Taste::ReadsFirst,
        Taste::Laggards,
        Taste::Random,
    ];
    let taste = seed.map_or(Taste::Listed, |seed| tastes[(seed.wrapping_sub(1) % tastes.len() as u64) as usize]);
    let mut random = Random::new(seed.unwrap_or(0).wrapping_mul(0x9e37_79b9));
    let count = order.nodes.len() as u64;
    let salt = random.bits();
    let drawn = |a: usize, run: RunId| {
        let mut mixed = Random::new(salt ^ (a as u64) << 32 ^ run.index() as u64);
        mixed.bits() >> 40
    };
    (order.nodes.iter_ids())
        .map(|(id, node)| {
            let listed = id.index() as u64;
            match taste {
                Taste::Listed => listed,
                Taste::Latest => count - listed,
                Taste::Random => random.bits() >> 8,
                Taste::Bursts => drawn(node.queue.index(), node.run) << 24 | listed.min((1 << 24) - 1),
                // What is not a pass happens as soon as it may, or as late.
                Taste::WritesFirst => {
                    u64::from(!matches!(node.kind, Kind::Item(..)) || !writes(id)) << 56 | (random.bits() >> 8)
                }
                Taste::ReadsFirst => {
                    u64::from(!matches!(node.kind, Kind::Item(..)) || writes(id)) << 56 | (random.bits() >> 8)
                }
                Taste::Laggards => {
                    let late = matches!(node.kind, Kind::Item(exec, _)
                        if drawn(exec.index(), node.run).is_multiple_of(3));
                    u64::from(late) << 56 | (count - listed)
                }
            }
        })
        .collect()
}

/// Nodes that may happen.
pub(crate) struct Ready {
    heap: BinaryHeap<Reverse<(u64, OrderNodeId)>>,
    /// By run: nodes that wait for the window.
    held: IdVec<RunId, Vec<OrderNodeId>>,
    /// Number of runs that overlap, at least 1.
    overlapping: usize,
    /// The first run that is not done.
    first: RunId,
    /// By run: nodes that did not happen.
    left: IdVec<RunId, usize>,
}

impl Ready {
    pub(crate) fn new(order: &Order, overlapping: usize, priorities: &Priorities) -> Self {
        let held = IdVec::filled(Vec::new(), order.in_run.len());
        let left = order.in_run.clone();
        let mut ready = Self { heap: BinaryHeap::new(), held, overlapping, first: RunId::new(0), left };
        for (id, node) in order.nodes.iter_ids() {
            if order.waits[id] == 0 {
                ready.push(node.run, id, priorities);
            }
        }
        ready.advance(priorities);
        ready
    }

    pub(crate) fn push(&mut self, run: RunId, node: OrderNodeId, priorities: &Priorities) {
        if run.index() < self.first.index() + self.overlapping {
            self.heap.push(Reverse((priorities[node], node)));
        } else {
            self.held[run].push(node);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<OrderNodeId> {
        self.heap.pop().map(|Reverse((_, node))| node)
    }

    /// Notes that a node of a run is done.
    pub(crate) fn done(&mut self, run: RunId, priorities: &Priorities) {
        self.left[run] -= 1;
        if self.left[run] == 0 {
            self.advance(priorities);
        }
    }

    fn advance(&mut self, priorities: &Priorities) {
        while self.left.get(self.first) == Some(&0) {
            self.first = RunId::new(self.first.index() + 1);
            if let Some(held) = self.held.get_mut(RunId::new(self.first.index() + self.overlapping - 1)) {
                for node in std::mem::take(held) {
                    self.heap.push(Reverse((priorities[node], node)));
                }
            }
        }
    }
}
