//! `rgraph.WhatIf`: the plan under other choices, compared with the one before.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyList};
use rgraph_plan::access::PassQueue;
use rgraph_plan::error::Code;
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Command, Plan};
use rgraph_plan::prelude::Policy;
use rgraph_plan::what_if::{Changes, WhatIf, what_if};
use rgraph_plan::words::{plain, queue_label};
use rgraph_report::what_if_text;

use crate::arguments::convert::{Bytes, Text, items, word};
use crate::arguments::files;
use crate::arguments::keywords;
use crate::arguments::options::{self, Asked, Budget};
use crate::arguments::weights::{Weights, pass_name};
use crate::classes::graph::PyGraph;
use crate::classes::plan::PyPlan;
use crate::run::error::{bad, graph_error, guarded};
use crate::run::plan_cache::{keep_scratch, take_scratch};

/// The plan of a graph under other choices, and the plan before. `str(answer)` is a table.
///
/// Immutable. Made by `Plan.what_if`.
#[pyclass(name = "WhatIf", module = "rgraph", frozen)]
pub struct PyWhatIf {
    before: Py<PyPlan>,
    after: Py<PyPlan>,
    answer: Arc<WhatIf>,
}

impl PyWhatIf {
    fn figures<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyDict>> {
        let figures = PyDict::new(py);
        let report = &plan.report;
        figures.set_item("frame_us", report.frame_us)?;
        figures.set_item("bound_us", report.bound.map(|bound| bound.us))?;
        figures.set_item("memory", plan.memory.total)?;
        figures.set_item("memory_bound", plan.memory.lower_bound)?;
        figures.set_item("barriers", report.barriers)?;
        figures.set_item("submits", report.submits)?;
        figures.set_item("policy", report.policy)?;
        Ok(figures)
    }
}

#[pymethods]
impl PyWhatIf {
    /// The plan before.
    #[getter]
    fn before(&self, py: Python<'_>) -> Py<PyPlan> {
        self.before.clone_ref(py)
    }

    /// The plan under the other choices. It can be compiled and run as any other one.
    #[getter]
    fn plan(&self, py: Python<'_>) -> Py<PyPlan> {
        self.after.clone_ref(py)
    }

    /// The changes and their consequences, as sentences.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.answer.notes.clone()
    }

    /// How much shorter the modelled frame is, in microseconds; negative: longer.
    #[getter]
    fn gain_us(&self) -> f64 {
        self.before.get().plan().report.frame_us - self.answer.plan.report.frame_us
    }

    /// Modelled time in microseconds with all work of the device on the graphics queue; `None` if that queue cannot do
    /// it.
    #[getter]
    fn one_queue_us(&self) -> Option<f64> {
        self.answer.queues.one_queue_us
    }

    /// Lower bound in microseconds of the modelled frame with every pass on any queue that can do its work.
    #[getter]
    fn queue_bound_us(&self) -> f64 {
        self.answer.queues.bound_us
    }

    /// Upper bound in microseconds of what other queues than the graphics queue could gain; `None` if that queue cannot
    /// do all work.
    #[getter]
    fn queue_gain_us(&self) -> Option<f64> {
        self.answer.queues.at_most_us()
    }

    /// Differences of the plans, as text.
    #[getter]
    fn diff(&self, py: Python<'_>) -> PyResult<String> {
        let (before, answer) = (Arc::clone(self.before.get().plan()), Arc::clone(&self.answer));
        guarded(py, move || rgraph_report::diff(&before, &answer.plan).to_string())
    }

    /// All of it as plain values; times in microseconds, memory in bytes.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (before, answer) = (Arc::clone(self.before.get().plan()), Arc::clone(&self.answer));
        let diff = guarded(py, move || rgraph_report::diff(&before, &answer.plan).to_json())?;
        let plan = &self.answer.plan;
        let timeline = PyList::empty(py);
        for command in plan.batches.iter().flat_map(|batch| &plan.commands[batch.commands.range()]) {
            let Command::Pass { pass, .. } = command else { continue };
            let one = PyDict::new(py);
            let why = plan.passes[*pass].why;
            one.set_item("pass", plan.pass_name(*pass))?;
            one.set_item("queue", queue_label(plan, plan.passes[*pass].queue))?;
            one.set_item("start_us", why.start_us)?;
            one.set_item("us", why.duration_us)?;
            one.set_item("critical", plan.report.critical_path.iter().any(|known| known.index() == pass.index()))?;
            timeline.append(one)?;
        }
        let queues = PyDict::new(py);
        queues.set_item("one_queue_us", self.answer.queues.one_queue_us)?;
        queues.set_item("bound_us", self.answer.queues.bound_us)?;
        queues.set_item("gain_at_most_us", self.answer.queues.at_most_us())?;
        let all = PyDict::new(py);
        all.set_item("notes", &self.answer.notes)?;
        all.set_item("before", Self::figures(py, self.before.get().plan())?)?;
        all.set_item("after", Self::figures(py, plan)?)?;
        all.set_item("queues", queues)?;
        all.set_item("timeline", timeline)?;
        all.set_item("diff", files::loads(py, &diff)?)?;
        Ok(all)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let (before, answer) = (Arc::clone(self.before.get().plan()), Arc::clone(&self.answer));
        guarded(py, move || what_if_text(&answer, &before))
    }

    fn __repr__(&self) -> String {
        let [old, new] = [self.before.get().plan(), &self.answer.plan].map(|plan| plan.report.frame_us);
        format!("<WhatIf of \"{}\": {old:.1} µs → {new:.1} µs>", plain(&self.answer.plan.graph))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.before)?;
        visit.call(&self.after)
    }
}

/// The changes that arguments name.
fn changes(
    queue: Option<&Bound<'_, PyDict>>,
    weights: Option<&Bound<'_, PyAny>>,
    drop: Option<&Bound<'_, PyAny>>,
    heap_limit: Option<Bytes>,
    memory: Option<Budget>,
) -> PyResult<Changes> {
    let mut changes = Changes::default();
    for (name, queue) in queue.into_iter().flat_map(|queues| queues.iter()) {
        let known = PassQueue::ALL.iter().map(|queue| queue.name());
        let queue = word(queue.py(), "queue", queue.extract::<Text<'_>>()?.0, PassQueue::from_name, known)?;
        changes.queues.push((pass_name(&name)?, queue));
    }
    if let Some(weights) = weights {
        (changes.weights, changes.lenient) = Weights::of(weights)?.into_parts();
    }
    if let Some(drop) = drop {
        let several = items(drop).transpose()?.unwrap_or_else(|| vec![drop.clone()]);
        changes.drop = several.iter().map(pass_name).collect::<PyResult<_>>()?;
    }
    changes.heap_limit = heap_limit.map(|Bytes(bytes)| bytes);
    changes.memory = memory.map(|Budget(memory)| memory);
    Ok(changes)
}

#[pymethods]
impl PyPlan {
    /// Plan the frame again under other choices: in milliseconds, without a device.
    ///
    /// Parameters
    /// ----------
    /// queue
    ///     Queues of passes: `{"ssao": "async_compute"}`.
    /// weights
    ///     Durations of passes: a `Report` with GPU times, `{pass: microseconds}`, or the path of a saved report.
    /// drop
    ///     Passes that are left out. What only they write counts as imported, so its readers stay, and is no root.
    /// heap_limit
    ///     Size of the heap of transients in bytes.
    /// policy, memory
    ///     See `Graph.bake`.
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    /// profile
    ///     Its profile; default: the one it was baked for.
    ///
    /// Returns
    /// -------
    /// WhatIf
    ///     The new plan with its times, bytes and bounds, the differences, and an upper bound of what other queues
    ///     could gain.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the graph has no such pass (the message offers the nearest name), or the changed graph cannot be baked.
    #[pyo3(signature = (*, queue = None, weights = None, drop = None, heap_limit = None, policy = None, memory = None,
                        graph = None, profile = None, **unknown), text_signature = "($self, *, queue=None, weights=None, drop=None, heap_limit=None, policy=None, memory=None, graph=None, profile=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn what_if<'py>(
        slf: &Bound<'py, Self>,
        queue: Option<&Bound<'py, PyDict>>,
        weights: Option<&Bound<'py, PyAny>>,
        drop: Option<&Bound<'py, PyAny>>,
        heap_limit: Option<Bytes>,
        policy: Option<Text<'_>>,
        memory: Option<Budget>,
        graph: Option<&Bound<'py, PyGraph>>,
        profile: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyWhatIf> {
        keywords::refuse_of::<Self>("what_if", unknown)?;
        let py = slf.py();
        let mut changes = changes(queue, weights, drop, heap_limit, memory)?;
        let known = || Policy::NAMES.into_iter();
        let policy = policy.map(|Text(name)| word(py, "policy", name, Policy::from_name, known()));
        changes.policy = policy.transpose()?;
        let graph = slf.get().graph_or_own(py, graph)?;
        let mut asked = match (slf.get().asked(), profile) {
            (Some(asked), _) => Asked::clone(asked),
            (None, Some(_)) => Asked::default(),
            (None, None) => {
                let message = "a plan that was read knows no profile";
                return Err(bad(py, Code::UnknownName, message, "give it as profile="));
            }
        };
        if profile.is_some() {
            asked.profile = options::profile(py, profile)?;
        }
        let mut scratch = take_scratch();
        let (answer, scratch) = guarded(py, move || {
            let answer = what_if(&graph, &asked.profile, &asked.options, &changes, &mut scratch);
            (answer, scratch)
        })?;
        keep_scratch(scratch);
        let answer = Arc::new(answer.map_err(|error| graph_error(py, &error))?);
        let asked = Asked { profile: answer.profile.clone(), options: answer.options };
        let graph = Arc::new(answer.graph.clone());
        let after = PyPlan::of_changed(slf, Arc::new(answer.plan.clone()), graph, asked)?;
        Ok(PyWhatIf { before: slf.clone().unbind(), after: after.unbind(), answer })
    }
}
