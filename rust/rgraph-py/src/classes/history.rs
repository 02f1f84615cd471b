//! `rgraph.history()`: the plans of the last bakes of this process.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyList;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;

use crate::classes::plan::{Asked, PyPlan};
use crate::run::error::guarded;

/// Bakes that are kept.
const MOST: usize = 32;
/// Passes of their plans together; the last bake is always kept.
const MOST_PASSES: usize = 100_000;

/// A bake.
#[derive(Clone)]
struct Kept {
    plan: Arc<Plan>,
    graph: Arc<Graph>,
    asked: Asked,
}

/// The last bakes, the latest first.
static KEPT: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// Keeps the plan of a bake. O(1), apart from what is forgotten for it.
pub fn keep(plan: &Arc<Plan>, graph: &Arc<Graph>, asked: &Asked) {
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

/// The plans of the last bakes of this process, the latest first; a plan that was baked several times is listed once.
///
/// At most 32 bakes are kept, and fewer of large graphs. `rgraph bake --keep` keeps plans on disk.
///
/// Returns
/// -------
/// list of Plan
///     `history()[0].diff(history()[1])` compares the last two.
#[pyfunction]
pub fn history(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let kept: Vec<Kept> = KEPT.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    let kept = guarded(py, move || {
        let mut seen = HashSet::new();
        let hash = |one: &Kept| rgraph_files::plan_hash(&one.plan);
        kept.into_iter().filter(|one| seen.insert(hash(one))).collect::<Vec<_>>()
    })?;
    let plans =
        kept.into_iter().map(|Kept { plan, graph, asked }| PyPlan::shared(py, plan, Some(graph), None, Some(asked)));
    PyList::new(py, plans.collect::<PyResult<Vec<_>>>()?)
}
