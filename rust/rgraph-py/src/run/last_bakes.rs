//! The plans of the last bakes of this process.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;

use crate::arguments::options::Asked;

/// Bakes that are kept.
const MOST: usize = 32;
/// Passes of their plans together; the last bake is always kept.
const MOST_PASSES: usize = 100_000;

/// A bake.
#[derive(Clone)]
pub(crate) struct Kept {
    pub plan: Arc<Plan>,
    /// The graph that it was baked from.
    pub graph: Arc<Graph>,
    /// Profile and options of the bake.
    pub asked: Asked,
}

/// The last bakes, the latest first.
static KEPT: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// Keeps the plan of a bake. O(1), apart from what is forgotten for it.
pub(crate) fn keep(plan: &Arc<Plan>, graph: &Arc<Graph>, asked: &Asked) {
    let mut forgotten = Vec::new();
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push_front(Kept { plan: Arc::clone(plan), graph: Arc::clone(graph), asked: asked.clone() });
    let passes = |kept: &VecDeque<Kept>| kept.iter().map(|one| one.plan.passes.len()).sum::<usize>();
    while kept.len() > MOST || (kept.len() > 1 && passes(&kept) > MOST_PASSES) {
        forgotten.extend(kept.pop_back());
    }
    drop(kept);
    drop(forgotten);
}

/// The bakes that are kept, the latest first.
pub(crate) fn all() -> Vec<Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}
