//! `rgraph.history()`: the plans of the last bakes of this process.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::classes::plan::PyPlan;
use crate::run::error::guarded;
use crate::run::last_bakes::{self, Kept};

/// The plans of the last bakes of this process, the latest first; a plan that was baked several times is listed once.
///
/// At most 32 bakes are kept, and fewer of large graphs. `rgraph bake --keep` keeps plans on disk.
///
/// Returns
/// -------
/// list of Plan
///     `history()[0].diff(history()[1])` compares the last two.
#[pyfunction]
pub(crate) fn history(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let kept = last_bakes::all();
    let kept = guarded(py, move || {
        let mut seen = HashSet::new();
        let hash = |one: &Kept| rgraph_files::plan_hash(&one.plan);
        kept.into_iter().filter(|one| seen.insert(hash(one))).collect::<Vec<_>>()
    })?;
    let plans =
        kept.into_iter().map(|Kept { plan, graph, asked }| PyPlan::shared(py, plan, Some(graph), None, Some(asked)));
    PyList::new(py, plans.collect::<PyResult<Vec<_>>>()?)
}
