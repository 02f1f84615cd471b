//! Generated frames: barrier calls and live bytes at once.

use crate::support::{Owned, layered};
use rgraph_plan::stages::schedule::{Policy, Topology, model, topological};

/// The same frame on one queue.
fn on_one_queue(passes: usize, seed: u64) -> Owned {
    let mut owned = layered(passes, seed);
    owned.queues.fill(1);
    owned
}

#[test]
fn layered_frames_need_hardly_more_groups_than_levels_and_no_more_bytes_than_declared() {
    for (passes, seeds) in [(256, 40), (1024, 12), (4096, 3)] {
        for seed in 0..seeds {
            let owned = on_one_queue(passes, seed);
            let job = owned.job();
            let mut topology = Topology::default();
            topological(&owned.deps, &mut topology).unwrap();
            let declared = model::peak_bytes(&job, &topology.order, &mut Vec::new());
            let order = owned.schedule(Policy::Auto, 0);
            assert_eq!(order.policy, Policy::Overlap);
            let groups = f64::from(order.groups) / f64::from(topology.depth);
            assert!(groups <= 1.02, "{passes}, seed {seed}: {} groups, {} levels", order.groups, topology.depth);
            let peak = order.peak_bytes;
            assert!(peak <= declared, "{passes}, seed {seed}: {peak} bytes, declared {declared}");
        }
    }
}
