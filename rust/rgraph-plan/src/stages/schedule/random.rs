//! Random permitted orders. A correct graph computes the same results in each, so tests compare them.

use crate::stages::ids::LiveId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::deps::{Deps, Topology};
use super::instance::Instance;
use super::subsets::mix;
use crate::id::{Id, IdVec};

/// Fills `passes` with the declared order after the first `swaps` adjacent swaps towards the random order of `seed`,
/// and `queue` with a random permitted queue per pass, independent of `swaps`.
///
/// Every intermediate order is permitted, since only passes that no dependency orders are swapped. So a bisection over
/// `swaps` finds two passes whose order changes the result. O(passes² + edges).
pub(super) fn random(
    instance: &Instance<'_>,
    topology: &Topology,
    seed: u64,
    swaps: u32,
    out: (&mut Vec<LiveId>, &mut IdVec<LiveId, u8>),
) {
    let (passes, queue) = out;
    passes.clear();
    passes.extend_from_slice(&topology.order);
    let target = list(instance.deps, seed);
    let mut left = swaps as usize;
    for (to, &pass) in target.iter().enumerate() {
        let from = to + passes[to..].iter().position(|&at| at == pass).unwrap_or(0);
        let moved = left.min(from - to);
        passes[from - moved..=from].rotate_right(1);
        left -= moved;
        if left == 0 {
            break;
        }
    }
    queue.clear();
    queue.extend(instance.queues.iter().zip(0u64..).map(|(&mask, pass)| {
        let nth = mix(seed ^ mix(pass + 1)) % u64::from(mask.count_ones().max(1));
        (0..nth).fold(mask, |mask, _| mask & (mask - 1)).trailing_zeros() as u8
    }));
}

/// A list schedule by random priorities. The highest bit of the seed reverses the priorities, so that two seeds run any
/// passes that are ready together in both orders.
fn list(deps: &Deps, seed: u64) -> Vec<LiveId> {
    let mut pending: IdVec<LiveId, usize> = deps.passes().map(|pass| deps.preds.row(pass).len()).collect();
    let (reversed, plain) = (seed >> 63 == 1, seed << 1 >> 1);
    let key = |pass: LiveId| {
        let priority = mix(plain.wrapping_add(1) ^ mix(pass.index() as u64));
        Reverse((if reversed { !priority } else { priority }, pass))
    };
    let mut ready: BinaryHeap<_> = deps.passes().filter(|&pass| pending[pass] == 0).map(key).collect();
    let mut order = Vec::with_capacity(deps.len());
    while let Some(Reverse((_, pass))) = ready.pop() {
        order.push(pass);
        for &after in deps.succs.row(pass) {
            pending[after] -= 1;
            if pending[after] == 0 {
                ready.push(key(after));
            }
        }
    }
    order
}
