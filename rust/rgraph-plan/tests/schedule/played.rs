//! The model of a frame, played anew from what it says of queues, hops, occupancy classes and submits.

use super::laws::{POLICIES, any_instance};
use super::support::{Owned, Random};
use rgraph_plan::id::IdVec;
use rgraph_plan::inside::schedule::{LiveId, Order, model};

/// Starts and ends of passes: of those that may begin next on their queues, the one that begins first, then the one
/// earlier in the order. One that begins in the middle of a pass of its class on another queue goes at half speed until
/// that one ends.
fn play(owned: &Owned, order: &Order) -> IdVec<LiveId, [f64; 2]> {
    let mut placed: IdVec<LiveId, Option<[f64; 2]>> = IdVec::filled(None, order.passes.len());
    for _ in 0..order.passes.len() {
        let mut next = None;
        for &pass in &order.passes {
            let on = |other: &&LiveId| order.queue[**other] == order.queue[pass];
            let before = order.passes.iter().take_while(|&&other| other != pass).filter(on);
            let mut waits = before.chain(owned.deps.preds.row(pass));
            let at = waits.try_fold(0.0f64, |at, other| {
                let hop = if on(&other) { 0.0 } else { f64::from(owned.costs.cross_queue_us) };
                placed[*other].map(|[_, end]| at.max(end + hop))
            });
            if placed[pass].is_none()
                && let Some(at) = at
                && next.is_none_or(|(first, _)| at < first)
            {
                next = Some((at, pass));
            }
        }
        let (at, pass) = next.expect("an order puts each pass after what it depends on");
        let weight = f64::from(owned.weight_us[pass]);
        let meets = |&other: &LiveId| owned.class[other] != 0 && owned.class[other] == owned.class[pass];
        let shared = placed.ids().filter(meets).filter_map(|other| placed[other]);
        let shared = shared.filter(|[start, end]| *start <= at && at < *end);
        let slower = shared.map(|[_, end]| ((end - at) / 2.0).min(weight)).fold(0.0, f64::max);
        placed[pass] = Some([at, at + weight + slower]);
    }
    placed.iter().map(|times| times.expect("all are placed")).collect()
}

#[test]
fn an_order_takes_as_long_as_it_takes_to_play_it() {
    let (mut random, mut slower) = (Random(8), 0);
    for _ in 0..600 {
        let owned = any_instance(&mut random, 30);
        for policy in POLICIES {
            let order = owned.schedule(policy, 0);
            let times = play(&owned, &order);
            let starts: Vec<f32> = times.iter().map(|[start, _]| *start as f32).collect();
            assert_eq!(order.start_us.as_slice(), starts);
            assert_eq!(order.frame_us, times.iter().fold(0.0, |end: f64, one| end.max(one[1])));
            let slow = |(pass, [start, end]): (LiveId, &[f64; 2])| end - start > f64::from(owned.weight_us[pass]);
            slower += usize::from(times.iter_ids().any(slow));
        }
    }
    assert!(slower > 100, "classes slow passes down in {slower} orders");
}

#[test]
fn synchronisation_costs_a_call_for_each_interval_and_a_submit_for_each_row_of_passes_that_no_other_queue_cuts() {
    let (mut random, mut queues) = (Random(9), 0);
    for _ in 0..600 {
        let owned = any_instance(&mut random, 30);
        let order = owned.schedule(POLICIES[random.below(POLICIES.len())], 0);
        let foreign =
            |pass: LiveId, others: &[LiveId]| others.iter().any(|&other| order.queue[other] != order.queue[pass]);
        let mut submits = 0;
        for on in 0..32 {
            let row: Vec<LiveId> = order.passes.iter().copied().filter(|&pass| order.queue[pass] == on).collect();
            let cut = |pair: &&[LiveId]| {
                foreign(pair[0], owned.deps.succs.row(pair[0])) || foreign(pair[1], owned.deps.preds.row(pair[1]))
            };
            submits += usize::from(!row.is_empty()) + row.windows(2).filter(cut).count();
            queues += usize::from(on > 0 && !row.is_empty());
        }
        let costs = owned.costs;
        let expected = f64::from(owned.intervals(&order)) * f64::from(costs.barrier_us)
            + submits as f64 * f64::from(costs.submit_us);
        let counted = model::overhead_us(&owned.instance(), &order.passes, &order.queue, &mut IdVec::new());
        assert_eq!(counted, expected);
    }
    assert!(queues > 100, "orders use several queues: {queues}");
}
