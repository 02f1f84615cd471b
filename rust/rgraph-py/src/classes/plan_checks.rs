//! What plans offer of the checker and the interpreter.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arguments::convert::Count;
use crate::arguments::keywords;
use crate::classes::checks;
use crate::classes::graph::PyGraph;
use crate::classes::plan::PyPlan;

#[pymethods]
impl PyPlan {
    /// Check the plan on an abstract machine that shares no code with the planner.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    ///
    /// Returns
    /// -------
    /// list of Finding
    ///     Every rule that the plan breaks; empty if it is correct.
    #[pyo3(signature = (graph = None, **unknown), text_signature = "($self, graph=None)")]
    fn check<'py>(
        &self,
        py: Python<'py>,
        graph: Option<&Bound<'py, PyGraph>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        keywords::refuse_of::<Self>("check", unknown)?;
        checks::check(py, self.graph_or_own(py, graph)?, Arc::clone(self.plan()))
    }

    /// Find redundant barriers, waits, stages and accesses: those without which the plan is correct, too.
    ///
    /// Each is checked with all others in place, so if either of two barriers suffices, both are listed. Quadratic in
    /// the size of the plan.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    ///
    /// Returns
    /// -------
    /// list of Redundant
    ///     In plan order; empty if `check` has findings.
    #[pyo3(signature = (graph = None, **unknown), text_signature = "($self, graph=None)")]
    fn minimal<'py>(
        &self,
        py: Python<'py>,
        graph: Option<&Bound<'py, PyGraph>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        keywords::refuse_of::<Self>("minimal", unknown)?;
        checks::minimal(py, self.graph_or_own(py, graph)?, Arc::clone(self.plan()))
    }

    /// Prove that the plan covers every hazard: for each pair of uses the chain of synchronization between them.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Plain values for JSON, equal for equal plans: `links` (barriers, dependencies of subpasses, waits, entries,
    ///     exits, with their scopes), `accesses` (which parts of memory passes and layout transitions access), `chains`
    ///     (lists of `link` and `run_before`), `pairs` (`earlier`, `later`, `run_before`, `data`, `chain`). Numbers are
    ///     positions in these lists. `data` says whether the chain carries a write, `run_before` whether it begins in
    ///     the run before.
    ///
    /// Raises
    /// ------
    /// PlanError
    ///     If a hazard is not covered, or a layout or owner is not what a use needs.
    #[pyo3(signature = (graph = None, **unknown), text_signature = "($self, graph=None)")]
    fn certificate<'py>(
        &self,
        py: Python<'py>,
        graph: Option<&Bound<'py, PyGraph>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("certificate", unknown)?;
        checks::certificate(py, self.graph_or_own(py, graph)?, Arc::clone(self.plan()))
    }

    /// Verify a certificate of any origin: find all hazard pairs, and follow each chain link by link.
    ///
    /// Parameters
    /// ----------
    /// certificate
    ///     As `certificate` returns it.
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    ///
    /// Raises
    /// ------
    /// PlanError
    ///     If it is of another plan, a pair is missing, or a chain does not hold.
    #[pyo3(signature = (certificate, graph = None, **unknown), text_signature = "($self, certificate, graph=None)")]
    fn verify(
        &self,
        py: Python<'_>,
        certificate: &Bound<'_, PyAny>,
        graph: Option<&Bound<'_, PyGraph>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        keywords::refuse_of::<Self>("verify", unknown)?;
        checks::verify(py, self.graph_or_own(py, graph)?, Arc::clone(self.plan()), certificate)
    }

    /// Result of the plan by symbolic execution of its batches on shared memory.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    /// interleavings
    ///     Number of permitted interleavings of its queues that are run; all of them must compute the same.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     Equal to the result of `Graph.interpret` if the plan is correct.
    ///
    /// Raises
    /// ------
    /// PlanError
    ///     If the plan cannot be run, or computes different things in different orders.
    #[pyo3(signature = (graph = None, *, interleavings = Count(4), **unknown),
           text_signature = "($self, graph=None, *, interleavings=4)")]
    fn interpret<'py>(
        &self,
        py: Python<'py>,
        graph: Option<&Bound<'py, PyGraph>>,
        interleavings: Count,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        keywords::refuse_of::<Self>("interpret", unknown)?;
        checks::interpret_plan(py, self.graph_or_own(py, graph)?, Arc::clone(self.plan()), interleavings.0.into())
    }
}
