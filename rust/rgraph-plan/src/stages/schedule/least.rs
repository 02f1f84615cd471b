//! Orders that keep few bytes alive at once, for frames that a heap limit refuses otherwise: exact for small instances,
//! greedy for larger ones.
//!
//! The exact search is Dijkstra's algorithm over the sets of passes already run, with the most bytes alive so far as
//! the length of a path (a bottleneck shortest path; Pollack, "The maximum capacity through a network", Operations
//! Research 1960). What is alive after a set of passes does not depend on their order, so each set is opened once.

use crate::stages::ids::{CountedId, LiveId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::instance::{HOST, Instance, Order, Policy};
use super::{Scratch, finish};
use crate::id::{Id, IdVec};

/// Most passes for the exact search.
const EXACT_NODES: usize = 26;
/// Most sets of passes that the exact search opens.
const MOST_SETS: usize = 200_000;
/// Most passes for the greedy order, which looks at every ready pass at each step. With more passes the order stays.
const GREEDY_PASSES: usize = 8192;

/// Replaces the order in `out` by one that keeps few bytes alive at once; queues stay, or, if `one_queue`, each pass
/// takes the first queue that may run it. Returns false, with `out` as it was, if no other order is tried.
pub(crate) fn least_bytes(instance: &Instance<'_>, one_queue: bool, scratch: &mut Scratch, out: &mut Order) -> bool {
    if instance.is_empty() || instance.len() > GREEDY_PASSES {
        return false;
    }
    let passes = exact(instance, |_| true).unwrap_or_else(|| greedy(instance));
    scratch.best.passes.clear();
    scratch.best.passes.extend_from_slice(&passes);
    scratch.best.queue.clear();
    if one_queue {
        scratch.best.queue.extend(instance.queues.iter().map(|mask| match mask.trailing_zeros() {
            32 => HOST,
            first => first as u8,
        }));
    } else {
        scratch.best.queue.extend(out.queue.iter().copied());
    }
    out.optimal = false;
    finish(instance, Policy::Declared, scratch, out);
    true
}

/// The order with the lowest peak of live bytes, over the resources for which `counts` holds; `None` with more than
/// [`EXACT_NODES`] passes, or if [`MOST_SETS`] do not suffice.
pub(super) fn exact(instance: &Instance<'_>, counts: impl Fn(CountedId) -> bool) -> Option<Vec<LiveId>> {
    let count = instance.len();
    if count > EXACT_NODES {
        return None;
    }
    let bit = |pass: LiveId| 1u32 << pass.index();
    let mask_of = |row: &[LiveId]| row.iter().fold(0, |mask, &pass| mask | bit(pass));
    let before: IdVec<LiveId, u32> = instance.passes().map(|pass| mask_of(instance.deps.preds.row(pass))).collect();
    let users = instance.bytes.users;
    let resources: Vec<(u32, u64, bool)> = users
        .ids()
        .filter(|at| counts(*at))
        .map(|at| (mask_of(users.row(at)), instance.bytes.bytes[at], instance.bytes.kept[at]))
        .filter(|(users, bytes, _)| *users != 0 && *bytes > 0)
        .collect();
    // Bytes alive while `pass` runs after `done`: used by then, and kept or used by a pass that is not done.
    let alive = |done: u32, pass: LiveId| -> u64 {
        let with = done | bit(pass);
        let lives = |&&(users, _, kept): &&(u32, u64, bool)| users & with != 0 && (kept || users & !done != 0);
        resources.iter().filter(lives).map(|(_, bytes, _)| *bytes).fold(0, u64::saturating_add)
    };
    let all = if count == 32 { u32::MAX } else { (1 << count) - 1 };
    // By set: the least peak found so far, and the pass that ran last.
    let mut known: BTreeMap<u32, (u64, Option<LiveId>)> = BTreeMap::from([(0, (0, None))]);
    let mut open = BinaryHeap::from([Reverse((0u64, 0u32, 0u32))]);
    let mut opened = 0;
    while let Some(Reverse((peak, _, done))) = open.pop() {
        if known[&done].0 < peak {
            continue;
        }
        if done == all {
            let mut passes = Vec::with_capacity(count);
            let mut at = all;
            while let (_, Some(last)) = known[&at] {
                passes.push(last);
                at &= !bit(last);
            }
            passes.reverse();
            return Some(passes);
        }
        opened += 1;
        if opened > MOST_SETS {
            return None;
        }
        let ready = instance.passes().filter(|&pass| done & bit(pass) == 0 && before[pass] & !done == 0);
        for pass in ready {
            let (next, worst) = (done | bit(pass), peak.max(alive(done, pass)));
            if known.get(&next).is_none_or(|(least, _)| worst < *least) {
                known.insert(next, (worst, Some(pass)));
                // Among equal peaks the longer prefix comes first, so that the search reaches complete orders early.
                open.push(Reverse((worst, count as u32 - next.count_ones(), next)));
            }
        }
    }
    None
}

/// Repeatedly runs the ready pass that adds the fewest live bytes; on ties the one that allocates the fewest.
fn greedy(instance: &Instance<'_>) -> Vec<LiveId> {
    let bytes = &instance.bytes;
    let mut left: IdVec<CountedId, usize> = bytes.users.ids().map(|at| bytes.users.row(at).len()).collect();
    let mut waiting: IdVec<LiveId, usize> = instance.passes().map(|pass| instance.deps.preds.row(pass).len()).collect();
    let mut ready: Vec<LiveId> = instance.passes().filter(|&pass| waiting[pass] == 0).collect();
    let mut passes = Vec::with_capacity(instance.len());
    while !ready.is_empty() {
        let price = |pass: LiveId| {
            let (mut begins, mut ends) = (0i128, 0i128);
            for &at in bytes.uses.row(pass) {
                let size = i128::from(bytes.bytes[at]);
                begins += if left[at] == bytes.users.row(at).len() { size } else { 0 };
                ends += if left[at] == 1 && !bytes.kept[at] { size } else { 0 };
            }
            (begins - ends, begins, pass)
        };
        let (at, _) = ready.iter().enumerate().min_by_key(|(_, pass)| price(**pass)).expect("some pass is ready");
        let pass = ready.swap_remove(at);
        passes.push(pass);
        for &resource in bytes.uses.row(pass) {
            left[resource] -= 1;
        }
        for &next in instance.deps.succs.row(pass) {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(next);
            }
        }
    }
    passes
}
