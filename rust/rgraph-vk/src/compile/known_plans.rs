//! Plans that a device made before: a graph that is declared again as it was is not planned again.

use std::sync::{Arc, Mutex, PoisonError};

use rgraph_plan::bake::{Options, Policy, Split, Without};
use rgraph_plan::budget::MemoryBudget;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;

/// Plans that a device remembers.
const MOST: usize = 4;

/// What a plan is made of on one device: the declaration's hash, and the options that count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PlanKey {
    graph: u128,
    options: (Policy, Split, u32, MemoryBudget, Option<u32>, Without),
}

impl PlanKey {
    /// Of a graph. O(passes + resources).
    pub(crate) fn new(graph: &Graph, options: &Options) -> Self {
        // The clock tells how long a bake took, and changes no plan.
        let &Options { policy, split, effort, clock: _, memory, max_batches, without } = options;
        Self { graph: graph.content_hash(), options: (policy, split, effort, memory, max_batches, without) }
    }
}

/// See the module; the last used first.
#[derive(Debug, Default)]
pub(crate) struct KnownPlans(Mutex<Vec<(PlanKey, Arc<Plan>)>>);

impl KnownPlans {
    /// The plan of a graph, if it is remembered.
    pub(crate) fn find(&self, key: &PlanKey) -> Option<Arc<Plan>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|(known, _)| known == key)?;
        known[..=at].rotate_right(1);
        Some(known[0].1.clone())
    }

    /// Remembers one, maybe in place of the one that was not used for longest.
    pub(crate) fn remember(&self, key: PlanKey, plan: &Arc<Plan>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.truncate(MOST - 1);
        known.insert(0, (key, plan.clone()));
    }
}
