//! Random permitted orders, for comparing results: whatever order the declaration permits must compute the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::deps::{Deps, Topology};
use super::job::Job;
use super::subsets::mix;

/// Fills `nodes` with the declared order after the first `swaps` adjacent swaps on the way to the random order of
/// `seed`, and `queue` with a random queue per node, which does not depend on `swaps`.
///
/// Every order on the way is permitted, since only nodes that no dependency orders ever change places; so a search over
/// `swaps` finds two nodes whose order matters. O(nodes² + edges).
pub(super) fn random(job: &Job<'_>, topology: &Topology, seed: u64, swaps: u32, out: (&mut Vec<u32>, &mut Vec<u8>)) {
    let (nodes, queue) = out;
    nodes.clear();
    nodes.extend_from_slice(&topology.order);
    let target = list(job.deps, seed);
    let mut left = swaps as usize;
    for (to, &node) in target.iter().enumerate() {
        let from = to + nodes[to..].iter().position(|&at| at == node).unwrap_or(0);
        let moved = left.min(from - to);
        nodes[from - moved..=from].rotate_right(1);
        left -= moved;
        if left == 0 {
            break;
        }
    }
    queue.clear();
    queue.extend(job.queues.iter().zip(0u64..).map(|(&mask, node)| {
        let nth = mix(seed ^ mix(node + 1)) % u64::from(mask.count_ones().max(1));
        (0..nth).fold(mask, |mask, _| mask & (mask - 1)).trailing_zeros() as u8
    }));
}

/// A list schedule by random priorities; of two seeds that differ in the highest bit one has the other's priorities
/// reversed, so that nodes that are ready together come in both orders.
fn list(deps: &Deps, seed: u64) -> Vec<u32> {
    let count = deps.len();
    let mut pending: Vec<u32> = (0..count).map(|node| deps.preds.row(node).len() as u32).collect();
    let (reversed, plain) = (seed >> 63 == 1, seed << 1 >> 1);
    let key = |node: u32| {
        let priority = mix(plain.wrapping_add(1) ^ mix(u64::from(node)));
        Reverse((if reversed { !priority } else { priority }, node))
    };
    let mut ready: BinaryHeap<_> = (0..count as u32).filter(|&node| pending[node as usize] == 0).map(key).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        for &after in deps.succs.row(node as usize) {
            pending[after as usize] -= 1;
            if pending[after as usize] == 0 {
                ready.push(key(after));
            }
        }
    }
    order
}
