//! The exact policy against all orders and queues of tiny instances, and the other policies against it.

use super::laws::{any_instance, assert_valid};
use super::support::{Owned, Random};
use rgraph_plan::id::IdVec;
use rgraph_plan::inside::schedule::{LiveId, Policy, Times, evaluate, model};

/// The shortest frame of all orders and queues, and the fewest bytes alive at once in an order of starts as short.
fn brute_force(owned: &Owned) -> (f64, u64) {
    let n = owned.weight_us.len();
    let mut best = (f64::INFINITY, u64::MAX);
    let mut order = Vec::new();
    let mut queue = IdVec::filled(0, n);
    extend(owned, &mut order, &mut queue, &mut best);
    best
}

fn extend(owned: &Owned, order: &mut Vec<LiveId>, queue: &mut IdVec<LiveId, u8>, best: &mut (f64, u64)) {
    let instance = owned.instance();
    if order.len() == queue.len() {
        let mut times = Times::default();
        let frame = evaluate(&instance, order, queue, &mut times);
        let in_time = order.windows(2).all(|two| times.start[two[0]] <= times.start[two[1]]);
        let peak = if in_time { model::peak_bytes(&instance, order, &mut IdVec::new()) } else { u64::MAX };
        if (frame, peak) < *best {
            *best = (frame, peak);
        }
        return;
    }
    for pass in owned.deps.passes() {
        let preds = owned.deps.preds.row(pass);
        if order.contains(&pass) || !preds.iter().all(|pred| order.contains(pred)) {
            continue;
        }
        order.push(pass);
        for on in (0..32).filter(|on| owned.queues[pass] & (1 << on) != 0) {
            queue[pass] = on;
            extend(owned, order, queue, best);
        }
        order.pop();
    }
}

#[test]
fn exact_finds_what_trying_everything_finds() {
    let mut random = Random(11);
    for _ in 0..300 {
        let owned = any_instance(&mut random, 6);
        let (frame, peak) = brute_force(&owned);
        let order = owned.schedule(Policy::Exact { nodes: 1_000_000 }, 0);
        assert_valid(&owned, &order);
        assert!(order.optimal);
        assert_eq!(order.frame_us, frame, "{:?} {:?} {:?}", owned.queues, owned.weight_us, owned.deps);
        assert!(owned.peak_bytes(&order) <= peak, "{} bytes, {peak} would do", owned.peak_bytes(&order));
    }
}

#[test]
fn exact_on_one_queue_keeps_the_fewest_bytes_alive() {
    let mut random = Random(12);
    for _ in 0..100 {
        let mut owned = any_instance(&mut random, 7);
        owned.run_all_on(1);
        let (_, peak) = brute_force(&owned);
        let order = owned.schedule(Policy::Exact { nodes: 1_000_000 }, 0);
        assert!(order.optimal);
        assert_eq!(owned.peak_bytes(&order), peak);
    }
}

#[test]
fn no_policy_beats_the_exact_one() {
    let mut random = Random(13);
    for _ in 0..200 {
        let owned = any_instance(&mut random, 9);
        let exact = owned.schedule(Policy::Exact { nodes: 1_000_000 }, 0);
        for policy in [Policy::Declared, Policy::Overlap, Policy::Weighted] {
            let order = owned.schedule(policy, 2);
            assert!(exact.optimal && order.frame_us >= exact.frame_us, "{policy:?}");
        }
    }
}

#[test]
fn a_search_without_a_budget_says_that_it_proved_nothing() {
    let mut random = Random(14);
    let mut unproven = 0;
    for _ in 0..50 {
        let owned = any_instance(&mut random, 30);
        let order = owned.schedule(Policy::Exact { nodes: 0 }, 0);
        assert_valid(&owned, &order);
        assert_eq!(order.nodes_explored, 0);
        unproven += usize::from(!order.optimal);
        let more = owned.schedule(Policy::Exact { nodes: 2000 }, 0);
        assert!(more.frame_us <= order.frame_us);
    }
    assert!(unproven > 0);
}
