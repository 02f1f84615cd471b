//! Orders and queues that a Python function proposes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rgraph_plan::bake::propose::{Problem, Proposal, Propose, Tried};

use crate::arguments::convert::{Text, items};
use crate::classes::pass::PyPass;
use crate::run::record::record;

/// Maximum number of proposals of a bake.
pub(crate) const MOST: usize = 256;

/// A function that proposes; what it raises is kept, and ends the proposals.
pub(crate) struct Hook {
    function: Py<PyAny>,
    pub raised: Option<PyErr>,
    /// Proposals that name what does not exist: their number, and why they are refused.
    wrong: Vec<(usize, String)>,
}

impl Hook {
    /// A hook that calls a function.
    pub(crate) fn new(function: Py<PyAny>) -> Self {
        Self { function, raised: None, wrong: Vec::new() }
    }

    /// Adds unknown names to the verdicts, since the planner sees positions only.
    pub(crate) fn explain(&self, tried: &mut [Tried]) {
        for (at, why) in &self.wrong {
            if let Some(one) = tried.get_mut(*at) {
                one.refused.clone_from(why);
            }
        }
    }
}

impl Propose for Hook {
    fn propose(&mut self, problem: &Problem, tried: &[Tried]) -> Option<Proposal> {
        let asked = Python::attach(|py| {
            let mut known = tried.to_vec();
            self.explain(&mut known);
            let made = self.function.bind(py).call1((describe(py, problem)?, self::tried(py, &known)?))?;
            if made.is_none() {
                return Ok(None);
            }
            Ok(Some(read(&made, problem)?.unwrap_or_else(|why| {
                self.wrong.push((tried.len(), why));
                // Without any pass, which the planner refuses.
                Proposal::default()
            })))
        });
        asked.unwrap_or_else(|error: PyErr| {
            self.raised = Some(error);
            None
        })
    }
}

/// Verdicts as records.
pub(crate) fn tried<'py>(py: Python<'py>, tried: &[Tried]) -> PyResult<Bound<'py, PyList>> {
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

/// The name of a pass that an argument means.
fn pass_name(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyPass>() {
        Ok(pass) => Ok(pass.get().full_name()),
        Err(_) => Ok(value.extract::<Text<'_>>()?.0.to_owned()),
    }
}

/// A proposal out of `{"order": [passes], "queue": {pass: queue}}`; what it leaves out is the planner's own. Inside:
/// why it is refused, where it names what does not exist.
fn read(made: &Bound<'_, PyAny>, problem: &Problem) -> PyResult<Result<Proposal, String>> {
    let expected = || PyTypeError::new_err("a proposal is {\"order\": [passes], \"queue\": {pass: queue}} or None");
    let made = made.cast::<PyDict>().map_err(|_| expected())?;
    let (order, queues) = (made.get_item("order")?, made.get_item("queue")?);
    if made.len() != usize::from(order.is_some()) + usize::from(queues.is_some()) {
        return Err(expected());
    }
    let mut proposal = problem.own.clone();
    let position = |name: &str| problem.passes.iter().position(|pass| pass.name == name);
    let nobody = |name: &str| format!("\"{name}\" is no pass that runs");
    if let Some(order) = order {
        proposal.order.clear();
        for name in items(&order).transpose()?.ok_or_else(expected)? {
            let name = pass_name(&name)?;
            match position(&name) {
                Some(at) => proposal.order.push(at),
                None => return Ok(Err(nobody(&name))),
            }
        }
        let left = (0..problem.passes.len()).find(|at| !proposal.order.contains(at));
        if let Some(left) = left.filter(|_| proposal.order.len() != problem.passes.len()) {
            return Ok(Err(format!("the order leaves out pass \"{}\"", problem.passes[left].name)));
        }
    }
    if let Some(queues) = queues {
        let labels = labels(problem);
        for (name, queue) in queues.cast::<PyDict>().map_err(|_| expected())?.iter() {
            let name = pass_name(&name)?;
            let Some(at) = position(&name) else { return Ok(Err(nobody(&name))) };
            proposal.queues[at] = match queue.is_none() {
                true => None,
                false => {
                    let queue = queue.extract::<Text<'_>>()?.0;
                    let Some(found) = labels.iter().position(|label| label == queue) else {
                        let message = format!("there is no queue called \"{queue}\": there are {}", labels.join(", "));
                        return Ok(Err(message));
                    };
                    Some(found)
                }
            };
        }
    }
    Ok(Ok(proposal))
}
