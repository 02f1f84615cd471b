//! The checker and the interpreter: what `rgraph-check` offers, for Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rgraph_check::Finding;
use rgraph_check::certificate::{self, Certificate};
use rgraph_check::interpret::{self, Outcome};
use rgraph_plan::error::GraphError;
use rgraph_plan::graph::Graph;
use rgraph_plan::id::Id;
use rgraph_plan::plan::Plan;

use crate::arguments::files;
use crate::run::error::{graph_error, plan_error, unproven};
use crate::run::patient::patiently;
use crate::run::record::record;

/// Whether a graph with the durations of another one is that one.
pub(crate) fn weighed_alike(graph: &Graph, other: &Graph) -> bool {
    let mut copy = graph.clone();
    for id in graph.passes().ids() {
        if let Some(known) = other.find_pass(graph.pass_name(id)) {
            copy.pass_mut(id).weight_us = other.passes()[known].weight_us;
        }
    }
    copy.content_hash() == other.content_hash()
}

/// Every rule that the plan breaks.
pub(crate) fn check(py: Python<'_>, graph: Arc<Graph>, plan: Arc<Plan>) -> PyResult<Bound<'_, PyList>> {
    let findings = patiently(py, move || rgraph_check::check(&graph, &plan))?;
    self::findings(py, &findings)
}

/// Findings as records.
pub(crate) fn findings<'py>(py: Python<'py>, findings: &[Finding]) -> PyResult<Bound<'py, PyList>> {
    let findings = findings.iter().map(|Finding { rule, pass, resource, message }| {
        record!(py, "Finding", (rule.name(), pass.as_deref(), resource.as_deref(), message))
    });
    PyList::new(py, findings.collect::<PyResult<Vec<_>>>()?)
}

/// Redundant parts of the plan.
pub(crate) fn minimal(py: Python<'_>, graph: Arc<Graph>, plan: Arc<Plan>) -> PyResult<Bound<'_, PyList>> {
    let (checked, examined) = patiently(py, move || {
        let examined = rgraph_check::minimal(&graph, &plan);
        (plan, examined)
    })?;
    let redundant = examined.iter().filter(|one| one.redundant).map(|one| {
        let (command, position) = one.position(&checked);
        let word = Some(one.part.word()).filter(|word| !word.is_empty());
        let pass = one.pass.map(|pass| checked.pass_name(pass));
        let resource = one.resource.map(|resource| checked.resource_name(resource));
        let (batch, kind, message) = (one.batch.index(), one.entry.kind(), one.describe(&checked));
        record!(py, "Redundant", (batch, command, kind, position, one.part.kind(), word, pass, resource, message))
    });
    PyList::new(py, redundant.collect::<PyResult<Vec<_>>>()?)
}

/// The chain of synchronization that covers each hazard pair, as plain values.
pub(crate) fn certificate(py: Python<'_>, graph: Arc<Graph>, plan: Arc<Plan>) -> PyResult<Bound<'_, PyAny>> {
    let made = patiently(py, move || certificate::certificate(&graph, &plan).map(|made| made.to_json()))?;
    let text = made.map_err(|refused| unproven(py, "no certificate: hazards are not covered", &refused))?;
    files::loads(py, &text)
}

/// Whether a certificate proves the plan.
pub(crate) fn verify(
    py: Python<'_>,
    graph: Arc<Graph>,
    plan: Arc<Plan>,
    certificate: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let text = files::dumps(certificate)?;
    let verified = patiently(py, move || {
        Certificate::from_json(&text).and_then(|certificate| certificate::verify(&graph, &plan, &certificate))
    })?;
    verified.map_err(|refused| unproven(py, "the certificate does not prove the plan", &refused))
}

/// What the declaration computes.
pub(crate) fn interpret_graph(py: Python<'_>, graph: Graph) -> PyResult<Bound<'_, PyList>> {
    GraphError::check(graph.mistakes().to_vec()).map_err(|error| graph_error(py, &error))?;
    frames(py, &patiently(py, move || interpret::interpret_graph(&graph))?)
}

/// What the plan computes, in as many interleavings of its queues.
pub(crate) fn interpret_plan(
    py: Python<'_>,
    graph: Arc<Graph>,
    plan: Arc<Plan>,
    orders: u64,
) -> PyResult<Bound<'_, PyList>> {
    let computed = patiently(py, move || interpret::interpret_plan(&graph, &plan, orders))?;
    frames(py, &computed.map_err(|fault| plan_error(py, &fault))?)
}

fn frames<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyList>> {
    let frame = |frame: &BTreeMap<String, Option<u128>>| {
        let symbols = PyDict::new(py);
        for (name, symbol) in frame {
            symbols.set_item(name, symbol.map(|symbol| format!("{symbol:032x}")))?;
        }
        Ok(symbols)
    };
    PyList::new(py, outcome.frames.iter().map(frame).collect::<PyResult<Vec<_>>>()?)
}
