//! Laws that every schedule keeps, on random instances.

use super::support::{Owned, Random, ids};
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::inside::schedule::{HOST, LiveId, Order, Policy, Scratch, Times, evaluate, schedule};

/// An instance of any shape: forward reads, several queues, classes, merges, shared and kept resources.
pub fn any_instance(random: &mut Random, most: usize) -> Owned {
    let passes = 1 + random.below(most);
    let mut rank: Vec<usize> = (0..passes).collect();
    for i in 0..passes {
        if random.percent(20) {
            rank.swap(i, random.below(passes));
        }
    }
    let mut edges = Vec::new();
    for later in 1..passes {
        for _ in 0..random.below(4) {
            let earlier = later.saturating_sub(1 + random.below(8));
            if earlier < later {
                edges.push((rank[earlier], rank[later]));
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let mut owned = Owned::new(passes, &edges);
    let mut resources = Vec::new();
    for _ in 0..random.below(2 * passes) {
        let mut users: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(passes)).collect();
        users.sort_unstable();
        users.dedup();
        resources.push((random.below(100) as u64, random.percent(10), users));
    }
    owned.set_uses(&resources);
    let merges = edges.iter().filter(|_| random.percent(20));
    owned.merges = merges.map(|&(earlier, later)| (LiveId::new(earlier), LiveId::new(later))).collect();
    let classes = random.percent(30);
    for pass in owned.deps.passes() {
        owned.weight_us[pass] = random.below(60) as f32;
        owned.queues[pass] = match random.below(12) {
            0..4 => 1,
            4..6 => 2,
            6 => 4,
            7 => 1 << HOST,
            8 => 3,
            9 => 6,
            _ => 7,
        };
        if classes {
            owned.class[pass] = random.below(3) as u16;
        }
    }
    owned
}

pub const POLICIES: [Policy; 5] =
    [Policy::Auto, Policy::Declared, Policy::Overlap, Policy::Weighted, Policy::Exact { nodes: 500 }];

/// Fails unless the order is one of the instance's and its figures are the model's.
pub fn assert_valid(owned: &Owned, order: &Order) {
    let instance = owned.instance();
    let mut position: IdVec<LiveId, Option<usize>> = IdVec::filled(None, instance.len());
    for (i, &pass) in order.passes.iter().enumerate() {
        assert_eq!(position[pass].replace(i), None, "{pass:?} twice");
    }
    assert_eq!(order.passes.len(), instance.len());
    for pass in instance.passes() {
        assert!(owned.queues[pass] & (1 << order.queue[pass]) != 0, "{pass:?} on a queue that may not run it");
        for &pred in owned.deps.preds.row(pass) {
            assert!(position[pred] < position[pass], "{pred:?} comes before {pass:?}");
        }
    }
    let mut times = Times::default();
    assert_eq!(order.frame_us, evaluate(&instance, &order.passes, &order.queue, &mut times));
    assert_eq!(order.start_us.as_slice(), times.start.iter().map(|&at| at as f32).collect::<Vec<_>>());
}

#[test]
fn every_policy_gives_a_valid_order_and_the_same_one_again() {
    let mut random = Random(1);
    let mut used = Scratch::default();
    for _ in 0..400 {
        let owned = any_instance(&mut random, 40);
        for policy in POLICIES {
            for effort in [0, 1] {
                let order = owned.schedule(policy, effort);
                assert_valid(&owned, &order);
                let mut again = Order::default();
                schedule(&owned.instance(), policy, effort, &mut used, &mut again).unwrap();
                assert_eq!(order, again, "{policy:?} with memory of other instances");
            }
        }
    }
}

#[test]
fn overlap_never_keeps_more_bytes_alive_than_the_declared_order() {
    let mut random = Random(2);
    for _ in 0..2000 {
        let mut owned = any_instance(&mut random, 60);
        owned.run_all_on(1);
        let declared = owned.schedule(Policy::Declared, 0);
        let overlap = owned.schedule(Policy::Overlap, 0);
        assert!(owned.peak_bytes(&overlap) <= owned.peak_bytes(&declared));
        assert!(owned.intervals(&overlap) <= owned.intervals(&declared));
    }
}

#[test]
fn more_queues_to_choose_from_never_lengthen_the_frame() {
    let mut random = Random(3);
    for round in 0..400 {
        let mut owned = any_instance(&mut random, 30);
        let few: IdVec<LiveId, u32> =
            owned.queues.iter().map(|&mask| if mask == 1 << HOST { mask } else { mask | 1 }).collect();
        let named: IdVec<LiveId, bool> = few.iter().map(|_| random.percent(30)).collect();
        // Queues 0 and 3 to begin with; then another between them and one behind.
        let choose = |extra: u32| -> IdVec<LiveId, u32> {
            let any = |i: LiveId| if few[i] == 1 << HOST { few[i] } else { 0b1001 | extra };
            few.ids().map(|i| if named[i] { few[i] & !6 } else { any(i) }).collect()
        };
        for policy in POLICIES {
            let mut longest = f64::INFINITY;
            for extra in [0, 0b10, 0b110, 0b1_0110] {
                owned.queues = choose(extra);
                let frame = owned.schedule(policy, (round % 2) as u32).frame_us;
                assert!(frame <= longest, "{policy:?}: {frame} after {longest} on {extra:b}");
                longest = frame;
            }
        }
    }
}

#[test]
fn the_frame_of_one_queue_is_the_sum_of_its_passes() {
    let mut random = Random(4);
    for _ in 0..100 {
        let mut owned = any_instance(&mut random, 30);
        owned.run_all_on(1);
        for policy in POLICIES {
            let sum: f64 = owned.weight_us.iter().map(|&weight| f64::from(weight)).sum();
            assert_eq!(owned.schedule(policy, 0).frame_us, sum);
        }
    }
}

#[test]
fn a_hop_that_is_not_earned_is_not_made() {
    // Two short passes side by side: a hop costs more than running them one after the other.
    let mut owned = Owned::new(3, &[(0, 2), (1, 2)]);
    owned.run_all_on(0b11);
    owned.weight_us = [4.0, 4.0, 4.0].into_iter().collect();
    let order = owned.schedule(Policy::Weighted, 0);
    assert_eq!((order.queue.as_slice(), order.frame_us), (&[0, 0, 0][..], 12.0));
    // Two long ones: it pays.
    owned.weight_us = [400.0, 400.0, 4.0].into_iter().collect();
    let order = owned.schedule(Policy::Weighted, 0);
    assert_eq!(order.frame_us, 414.0);
    assert_ne!(order.queue.as_slice()[0], order.queue.as_slice()[1]);
}

#[test]
fn passes_of_one_queue_that_overlap_equally_run_longest_remaining_path_first() {
    let mut owned = Owned::new(4, &[]);
    owned.weight_us = [50.0, 900.0, 10.0, 400.0].into_iter().collect();
    owned.measured = true;
    assert_eq!(owned.schedule(Policy::Auto, 0).passes, ids([1, 3, 0, 2]));
    // 4 is short and holds up 5, which is long; 6 depends on 1 and comes in the second interval.
    let mut owned = Owned::new(7, &[(4, 5), (1, 6)]);
    owned.weight_us = [50.0, 100.0, 10.0, 400.0, 1.0, 500.0, 20.0].into_iter().collect();
    owned.measured = true;
    assert_eq!(owned.schedule(Policy::Overlap, 1).passes, ids([4, 3, 1, 0, 2, 5, 6]));
}

#[test]
fn weights_cost_no_intervals_and_no_bytes_beyond_the_budget() {
    let mut random = Random(7);
    for _ in 0..1000 {
        let mut owned = any_instance(&mut random, 60);
        owned.run_all_on(1);
        let plain = owned.schedule(Policy::Overlap, 0);
        owned.measured = true;
        let weighted = owned.schedule(Policy::Overlap, 0);
        assert_valid(&owned, &weighted);
        assert!(owned.intervals(&weighted) <= owned.intervals(&plain));
        let declared = owned.schedule(Policy::Declared, 0);
        assert!(owned.peak_bytes(&weighted) <= owned.peak_bytes(&declared));
    }
}
