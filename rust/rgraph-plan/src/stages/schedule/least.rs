//! Orders that keep few bytes alive at once, for frames that a heap limit refuses otherwise: exact for small jobs, greedy
//! for larger ones.
//!
//! The exact search is Dijkstra's algorithm over the sets of nodes already run, with the most bytes alive so far as the
//! length of a path (a bottleneck shortest path; Pollack, "The maximum capacity through a network", Operations Research
//! 1960). What is alive after a set of nodes does not depend on their order, so each set is opened once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::job::{HOST, Job, Order, Policy};
use super::{Scratch, finish};

/// Most nodes of a job whose orders are searched exactly.
const EXACT_NODES: usize = 26;
/// Most sets of nodes that the exact search opens.
const MOST_SETS: usize = 200_000;
/// Most nodes of a job that is ordered greedily; larger ones keep their order. The greedy choice looks at every ready node.
const GREEDY_NODES: usize = 8192;

/// Replaces the order in `out` by one that keeps few bytes alive at once; queues stay, or, if `one_queue`, each node takes
/// the first queue that may run it. Returns false, with `out` as it was, if no other order is tried.
pub fn least_bytes(job: &Job<'_>, one_queue: bool, scratch: &mut Scratch, out: &mut Order) -> bool {
    if job.is_empty() || job.len() > GREEDY_NODES {
        return false;
    }
    let nodes = exact(job).unwrap_or_else(|| greedy(job));
    scratch.best.nodes.clear();
    scratch.best.nodes.extend_from_slice(&nodes);
    scratch.best.queue.clear();
    if one_queue {
        scratch.best.queue.extend(job.queues.iter().map(|mask| match mask.trailing_zeros() {
            32 => HOST,
            first => first as u8,
        }));
    } else {
        scratch.best.queue.extend_from_slice(&out.queue);
    }
    out.optimal = false;
    finish(job, Policy::Declared, scratch, out);
    true
}

/// The order with the fewest bytes alive at its worst moment, if the job is small enough to find it.
fn exact(job: &Job<'_>) -> Option<Vec<u32>> {
    let count = job.len();
    if count > EXACT_NODES {
        return None;
    }
    let mask_of = |row: &[u32]| row.iter().fold(0u32, |mask, node| mask | 1 << node);
    let before: Vec<u32> = (0..count).map(|node| mask_of(job.deps.preds.row(node))).collect();
    let resources: Vec<(u32, u64, bool)> = (0..job.bytes.users.rows())
        .map(|at| (mask_of(job.bytes.users.row(at)), job.bytes.bytes[at], job.bytes.kept[at]))
        .filter(|(users, bytes, _)| *users != 0 && *bytes > 0)
        .collect();
    // While `node` runs after `done`: all that has begun and is not over, and what it begins.
    let alive = |done: u32, node: u32| -> u64 {
        let with = done | 1 << node;
        let lives = |&&(users, _, kept): &&(u32, u64, bool)| users & with != 0 && (kept || users & !done != 0);
        resources.iter().filter(lives).map(|(_, bytes, _)| *bytes).fold(0, u64::saturating_add)
    };
    let all = if count == 32 { u32::MAX } else { (1 << count) - 1 };
    // By set: the least peak known, and the node run last.
    let mut known: BTreeMap<u32, (u64, u32)> = BTreeMap::from([(0, (0, 0))]);
    let mut open = BinaryHeap::from([Reverse((0u64, 0u32, 0u32))]);
    let mut opened = 0;
    while let Some(Reverse((peak, _, done))) = open.pop() {
        if known[&done].0 < peak {
            continue;
        }
        if done == all {
            let mut nodes = Vec::with_capacity(count);
            let mut at = all;
            while at != 0 {
                let (_, last) = known[&at];
                nodes.push(last);
                at &= !(1 << last);
            }
            nodes.reverse();
            return Some(nodes);
        }
        opened += 1;
        if opened > MOST_SETS {
            return None;
        }
        let ready = (0..count as u32).filter(|&node| done & (1 << node) == 0 && before[node as usize] & !done == 0);
        for node in ready {
            let (next, worst) = (done | 1 << node, peak.max(alive(done, node)));
            if known.get(&next).is_none_or(|(least, _)| worst < *least) {
                known.insert(next, (worst, node));
                // Among equal peaks the longer prefix first, so that a path is followed to its end.
                open.push(Reverse((worst, count as u32 - next.count_ones(), next)));
            }
        }
    }
    None
}

/// Runs, of the ready nodes, the one after which fewest bytes more are alive, then the one that needs fewest meanwhile.
fn greedy(job: &Job<'_>) -> Vec<u32> {
    let count = job.len();
    let bytes = &job.bytes;
    let mut left: Vec<u32> = (0..bytes.users.rows()).map(|at| bytes.users.row(at).len() as u32).collect();
    let mut waiting: Vec<u32> = (0..count).map(|node| job.deps.preds.row(node).len() as u32).collect();
    let mut ready: Vec<u32> = (0..count as u32).filter(|&node| waiting[node as usize] == 0).collect();
    let mut nodes = Vec::with_capacity(count);
    while !ready.is_empty() {
        let price = |node: u32| {
            let (mut begins, mut ends) = (0i128, 0i128);
            for &resource in bytes.uses.row(node as usize) {
                let at = resource as usize;
                let size = i128::from(bytes.bytes[at]);
                begins += if left[at] as usize == bytes.users.row(at).len() { size } else { 0 };
                ends += if left[at] == 1 && !bytes.kept[at] { size } else { 0 };
            }
            (begins - ends, begins, node)
        };
        let (at, _) = ready.iter().enumerate().min_by_key(|(_, node)| price(**node)).expect("some node is ready");
        let node = ready.swap_remove(at);
        nodes.push(node);
        for &resource in bytes.uses.row(node as usize) {
            left[resource as usize] -= 1;
        }
        for &next in job.deps.succs.row(node as usize) {
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                ready.push(next);
            }
        }
    }
    nodes
}
