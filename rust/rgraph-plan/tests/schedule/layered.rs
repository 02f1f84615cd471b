//! Generated frames: barrier calls and live bytes at once.

use super::support::{Owned, layered};
use rgraph_plan::inside::schedule::{Policy, Topology, topological};

/// The same frame on one queue.
fn on_one_queue(passes: usize, seed: u64) -> Owned {
    let mut owned = layered(passes, seed);
    owned.run_all_on(1);
    owned
}

#[test]
fn layered_frames_need_hardly_more_intervals_than_levels_and_no_more_bytes_than_declared() {
    for (passes, seeds) in [(256, 40), (1024, 12), (4096, 3)] {
        for seed in 0..seeds {
            let owned = on_one_queue(passes, seed);
            let mut topology = Topology::default();
            topological(&owned.deps, &mut topology).unwrap();
            topology.chains(&owned.deps);
            let declared = owned.peak_bytes(&owned.schedule(Policy::Declared, 0));
            let order = owned.schedule(Policy::Auto, 0);
            assert_eq!(order.policy, Policy::Overlap);
            let (intervals, levels) = (owned.intervals(&order), topology.depth);
            assert!(
                f64::from(intervals) <= 1.08 * f64::from(levels),
                "{passes}, {seed}: {intervals} intervals, {levels} levels"
            );
            let peak = owned.peak_bytes(&order);
            assert!(peak <= declared, "{passes}, seed {seed}: {peak} bytes, declared {declared}");
        }
    }
}
