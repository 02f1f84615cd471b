//! Which of the nodes that may happen happens next: listed order, orders drawn from seeds, and orders made to go
//! wrong where the plan leaves them open.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

/// Priorities of nodes: the lowest goes first.
pub(crate) fn priorities(order: &Order, seed: Option<u64>, writes: impl Fn(u32) -> bool) -> Vec<u64> {
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
    let drawn = |a: u32, b: u32| {
        let mut mixed = Random::new(salt ^ u64::from(a) << 32 ^ u64::from(b));
        mixed.bits() >> 40
    };
    (0..order.nodes.len())
        .map(|at| {
            let node = &order.nodes[at];
            let listed = at as u64;
            match taste {
                Taste::Listed => listed,
                Taste::Latest => count - listed,
                Taste::Random => random.bits() >> 8,
                Taste::Bursts => drawn(node.queue, node.run) << 24 | listed.min((1 << 24) - 1),
                // What is not a pass happens as soon as it may, or as late.
                Taste::WritesFirst => {
                    u64::from(node.kind != Kind::Item || !writes(at as u32)) << 56 | (random.bits() >> 8)
                }
                Taste::ReadsFirst => {
                    u64::from(node.kind != Kind::Item || writes(at as u32)) << 56 | (random.bits() >> 8)
                }
                Taste::Laggards => {
                    let late = node.kind == Kind::Item && drawn(node.a, node.run).is_multiple_of(3);
                    u64::from(late) << 56 | (count - listed)
                }
            }
        })
        .collect()
}

/// Nodes that may happen.
pub(crate) struct Ready {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// By run: nodes that wait for the window.
    held: Vec<Vec<u32>>,
    window: usize,
    /// The first run that is not done.
    first: usize,
    left: Vec<u32>,
}

impl Ready {
    pub(crate) fn new(order: &Order, window: usize, priority: &[u64]) -> Self {
        let held = vec![Vec::new(); order.in_run.len()];
        let mut ready = Self { heap: BinaryHeap::new(), held, window, first: 0, left: order.in_run.clone() };
        for (at, node) in order.nodes.iter().enumerate() {
            if order.waits[at] == 0 {
                ready.push(node.run as usize, at as u32, priority[at]);
            }
        }
        ready.advance(priority);
        ready
    }

    pub(crate) fn push(&mut self, run: usize, node: u32, priority: u64) {
        if run < self.first + self.window {
            self.heap.push(Reverse((priority, node)));
        } else {
            self.held[run].push(node);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<u32> {
        self.heap.pop().map(|Reverse((_, node))| node)
    }

    /// Notes that a node of a run is done.
    pub(crate) fn done(&mut self, run: usize, priority: &[u64]) {
        self.left[run] -= 1;
        if self.left[run] == 0 {
            self.advance(priority);
        }
    }

    fn advance(&mut self, priority: &[u64]) {
        while self.first < self.left.len() && self.left[self.first] == 0 {
            self.first += 1;
            if let Some(held) = self.held.get_mut(self.first + self.window - 1) {
                for node in std::mem::take(held) {
                    self.heap.push(Reverse((priority[node as usize], node)));
                }
            }
        }
    }
}
