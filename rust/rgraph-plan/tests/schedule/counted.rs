//! What can be counted by hand: partial schedules that a search opens, intervals below a cap, swaps of a random order.

use super::laws::assert_valid;
use super::support::{Owned, ids};
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::inside::schedule::{LiveId, Policy, model};

const EXACT: Policy = Policy::Exact { nodes: 1_000_000 };

/// Passes with their durations and queues; a hop takes 10 µs.
fn instance(passes: &[(f32, u32)], edges: &[(usize, usize)]) -> Owned {
    let mut owned = Owned::new(passes.len(), edges);
    owned.weight_us = passes.iter().map(|pass| pass.0).collect();
    owned.queues = passes.iter().map(|pass| pass.1).collect();
    owned
}

#[test]
fn a_frame_as_short_as_a_bound_is_proved_without_a_search() {
    let cases = [
        ("the longest path", instance(&[(10.0, 3), (20.0, 3), (5.0, 3)], &[(0, 1)]), 30.0),
        ("a path with a hop", instance(&[(10.0, 1), (20.0, 2)], &[(0, 1)]), 40.0),
        ("the load of a queue", instance(&[(10.0, 1), (10.0, 1), (1.0, 2)], &[]), 20.0),
        (
            "a load, with what comes before and after it on another queue",
            instance(&[(5.0, 2), (10.0, 1), (12.0, 1), (5.0, 2)], &[(0, 1), (0, 2), (1, 3), (2, 3)]),
            5.0 + 10.0 + 22.0 + 10.0 + 5.0,
        ),
        ("the mean of the queues", instance(&[(10.0, 3), (10.0, 3), (10.0, 3), (10.0, 3)], &[]), 20.0),
    ];
    for (what, owned, frame) in cases {
        let order = owned.schedule(EXACT, 0);
        assert_valid(&owned, &order);
        assert_eq!((order.frame_us, order.optimal, order.nodes_explored), (frame, true, 0), "{what}");
    }
}

#[test]
fn an_interval_ends_early_only_where_dead_bytes_make_room() {
    let within = |owned: &Owned, cap| {
        let order: Vec<LiveId> = owned.instance().passes().collect();
        let mut scratch = (IdVec::new(), IdVec::new());
        model::intervals_within(&owned.instance(), &order, cap, (&mut scratch.0, &mut scratch.1))
    };
    // Each of five passes needs 100 bytes for itself.
    let mut apart = Owned::new(5, &[]);
    apart.set_uses(&(0..5).map(|pass| (100, false, vec![pass])).collect::<Vec<_>>());
    for (cap, intervals) in [(500, 1), (499, 2), (300, 2), (299, 3), (200, 3), (199, 5), (0, 5)] {
        assert_eq!(within(&apart, cap), intervals, "{cap} bytes");
    }
    // Passes that merge stay together, whatever they need.
    apart.merges = vec![(LiveId::new(1), LiveId::new(2))];
    assert_eq!([within(&apart, 199), within(&apart, 299)], [4, 2]);
    // Nothing dies that lives on: no cut makes room.
    let mut kept = Owned::new(3, &[]);
    kept.set_uses(&(0..3).map(|pass| (100, true, vec![pass])).collect::<Vec<_>>());
    assert_eq!(within(&kept, 0), 1);
    // Bytes live from their first to their last user: 100 from pass 0 to 2, and 50 of each pass.
    let mut long = Owned::new(4, &[]);
    let own = (0..4).map(|pass| (50, false, vec![pass]));
    long.set_uses(&std::iter::once((100, false, vec![0, 2])).chain(own).collect::<Vec<_>>());
    for (cap, intervals) in [(300, 1), (299, 2), (249, 2), (200, 2), (199, 4), (0, 4)] {
        assert_eq!(within(&long, cap), intervals, "{cap} bytes");
    }
    // A dependency ends an interval anyway.
    let chain = Owned::new(3, &[(0, 1), (1, 2)]);
    assert_eq!(within(&chain, u64::MAX), 3);
}

#[test]
fn calls_and_submits_have_their_price() {
    let price = |edges: &[(usize, usize)], queues: [u8; 3]| {
        let owned = Owned::new(3, edges);
        let queues = queues.into_iter().collect();
        model::overhead_us(&owned.instance(), &ids([0, 1, 2]), &queues, &mut IdVec::new())
    };
    // A call takes 2 µs, a submit 7. Each interval of a queue begins with a call.
    assert_eq!(price(&[], [0, 0, 0]), 2.0 + 7.0);
    assert_eq!(price(&[(0, 1), (1, 2)], [0, 0, 0]), 3.0 * 2.0 + 7.0);
    assert_eq!(price(&[(0, 2)], [0, 0, 0]), 2.0 * 2.0 + 7.0);
    assert_eq!(price(&[], [0, 1, 0]), 2.0 * (2.0 + 7.0));
    // A submit ends behind what another queue waits for, and another begins with what waits.
    assert_eq!(price(&[(0, 1), (1, 2)], [0, 1, 0]), 2.0 * 2.0 + 3.0 * 7.0);
    assert_eq!(price(&[(0, 2)], [0, 0, 1]), 2.0 * 2.0 + 3.0 * 7.0);
    assert_eq!(price(&[(0, 2)], [1, 0, 0]), 2.0 * 2.0 + 3.0 * 7.0);
}

#[test]
fn two_percent_of_a_cap_are_left_to_placement() {
    assert_eq!([0, 255, 256, 1000, 1 << 30].map(model::placeable), [0, 255, 251, 985, (1 << 30) - 5 * (1 << 22)]);
}

#[test]
fn a_random_order_takes_any_queue_and_is_reached_swap_by_swap() {
    let mut owned = Owned::new(40, &[(0, 10), (10, 20), (5, 6)]);
    owned.run_all_on(0b1011);
    owned.queues[LiveId::new(7)] = 0b100;
    for seed in [0, 1, 77, 1 << 63, u64::MAX] {
        let at = |swaps| owned.schedule(Policy::Random { seed, swaps }, 0);
        let (start, end) = (at(0), at(u32::MAX));
        assert_eq!(start.passes, owned.schedule(Policy::Declared, 0).passes);
        for queue in [0, 1, 3] {
            let on = end.queue.iter().filter(|&&on| on == queue).count();
            assert!((5..=22).contains(&on), "seed {seed}: {on} of 39 passes on queue {queue}");
        }
        assert_eq!((end.queue[LiveId::new(7)], &start.queue), (2, &end.queue));
        let mut before = start.passes;
        for swaps in 1.. {
            let order = at(swaps);
            assert_valid(&owned, &order);
            let moved: Vec<usize> = (0..40).filter(|&place| before[place] != order.passes[place]).collect();
            if moved.is_empty() {
                // Half of the 780 pairs, more or less.
                assert!(order.passes == end.passes && (200..600).contains(&swaps), "{swaps} swaps");
                break;
            }
            assert!(moved.len() == 2 && moved[1] == moved[0] + 1, "swap {swaps} moves {moved:?}");
            before = order.passes;
        }
    }
}

#[test]
fn the_highest_bit_of_a_seed_turns_the_order_of_free_passes_around() {
    let owned = Owned::new(12, &[]);
    let random = |seed| owned.schedule(Policy::Random { seed, swaps: u32::MAX }, 0).passes;
    let mut turned = random(5 | 1 << 63);
    turned.reverse();
    assert_eq!((random(5), random(5) == random(6)), (turned, false));
    let ready = Owned::new(3, &[(0, 1)]);
    let first = |seed| ready.schedule(Policy::Random { seed, swaps: u32::MAX }, 0).passes[0];
    assert!((0..8).any(|seed| first(seed) == ids([2])[0]) && (0..8).any(|seed| first(seed) == ids([0])[0]));
}
