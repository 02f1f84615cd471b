//! Orders and queues that a Python function proposes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rgraph_plan::bake::propose::{Problem, Proposal, Propose, Tried};

use crate::arguments::convert::{Text, items};
use crate::run::record::record;

/// Most proposals of a bake.
pub const MOST: usize = 256;

/// A function that proposes; what it raises is kept, and ends the proposals.
pub struct Hook {
    function: Py<PyAny>,
    /// What it raised.
    pub raised: Option<PyErr>,
}

impl Hook {
    /// A hook that calls a function.
    pub fn new(function: Py<PyAny>) -> Self {
        Self { function, raised: None }
    }
}

impl Propose for Hook {
    fn propose(&mut self, problem: &Problem, tried: &[Tried]) -> Option<Proposal> {
        let asked = Python::attach(|py| {
            let made = self.function.bind(py).call1((describe(py, problem)?, self::tried(py, tried)?))?;
            if made.is_none() { Ok(None) } else { read(&made, problem).map(Some) }
        });
        asked.unwrap_or_else(|error: PyErr| {
            self.raised = Some(error);
            None
        })
    }
}

/// Verdicts as records.
pub fn tried<'py>(py: Python<'py>, tried: &[Tried]) -> PyResult<Bound<'py, PyList>> {
    let one = |one: &Tried| record!(py, "Tried", (one.frame_us, one.kept, &one.refused));
    PyList::new(py, tried.iter().map(one).collect::<PyResult<Vec<_>>>()?)
}

/// Names of the queues; those of one kind are numbered.
fn labels(problem: &Problem) -> Vec<String> {
    let several = |name: &String| problem.queues.iter().filter(|other| *other == name).count() > 1;
    let label = |(at, name): (usize, &String)| if several(name) { format!("{name} {at}") } else { name.clone() };
    problem.queues.iter().enumerate().map(label).collect()
}

/// The problem as plain values.
fn describe<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyDict>> {
    let labels = labels(problem);
    let name = |at: &usize| problem.passes[*at].name.as_str();
    let passes = PyList::empty(py);
    let queue = PyDict::new(py);
    for (pass, on) in problem.passes.iter().zip(&problem.own.queues) {
        let one = PyDict::new(py);
        one.set_item("name", &pass.name)?;
        one.set_item("weight_us", pass.weight_us)?;
        one.set_item("size", pass.size)?;
        one.set_item("queues", pass.queues.iter().map(|&at| labels[at].as_str()).collect::<Vec<_>>())?;
        one.set_item("after", pass.after.iter().map(name).collect::<Vec<_>>())?;
        passes.append(one)?;
        queue.set_item(&pass.name, on.map(|at| labels[at].as_str()))?;
    }
    let all = PyDict::new(py);
    all.set_item("passes", passes)?;
    all.set_item("queues", &labels)?;
    all.set_item("order", problem.own.order.iter().map(name).collect::<Vec<_>>())?;
    all.set_item("queue", queue)?;
    all.set_item("frame_us", problem.frame_us)?;
    all.set_item("bound_us", problem.bound_us)?;
    Ok(all)
}

/// A proposal out of `{"order": [names], "queue": {name: queue}}`; what it leaves out is the planner's own. A name that
/// does not exist becomes a position that does not exist, which the planner refuses.
fn read(made: &Bound<'_, PyAny>, problem: &Problem) -> PyResult<Proposal> {
    let expected = || PyTypeError::new_err("a proposal is {\"order\": [names], \"queue\": {name: queue}} or None");
    let made = made.cast::<PyDict>().map_err(|_| expected())?;
    let mut proposal = problem.own.clone();
    let position = |name: &str| problem.passes.iter().position(|pass| pass.name == name).unwrap_or(usize::MAX);
    if let Some(order) = made.get_item("order")? {
        let names = items(&order).transpose()?.ok_or_else(expected)?;
        let at = |name: &Bound<'_, PyAny>| Ok(position(name.extract::<Text<'_>>()?.0));
        proposal.order = names.iter().map(at).collect::<PyResult<_>>()?;
    }
    if let Some(queues) = made.get_item("queue")? {
        let labels = labels(problem);
        for (name, queue) in queues.cast::<PyDict>().map_err(|_| expected())?.iter() {
            let at = position(name.extract::<Text<'_>>()?.0);
            let Some(of) = proposal.queues.get_mut(at) else {
                let message = format!("a proposal names a queue for {name}, which is no pass");
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            };
            *of = match queue.is_none() {
                true => None,
                false => {
                    let queue = queue.extract::<Text<'_>>()?.0;
                    Some(labels.iter().position(|label| label == queue).unwrap_or(usize::MAX))
                }
            };
        }
    }
    Ok(proposal)
}
