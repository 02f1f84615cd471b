//! `rgraph.Plan`: what a bake decided.

use std::ffi::OsStr;
use std::sync::{Arc, OnceLock};

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyList};
use rgraph_plan::bake::propose::Tried;
use rgraph_plan::budget::MemoryBudget;
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;
use rgraph_plan::words::plain;

use crate::arguments::convert::{FileText, Text, word};
use crate::arguments::file_path::FilePath;
use crate::arguments::files;
use crate::arguments::keywords;
use crate::arguments::options::Asked;
use crate::arguments::propose;
use crate::classes::checks;
use crate::classes::counted;
use crate::classes::graph::PyGraph;
use crate::classes::pass::PyPass;
use crate::classes::plan_records;
use crate::run::error::{bad, graph_error, guarded};
use crate::run::last_bakes;
use crate::run::state::GraphState;

/// The decisions of a bake, with reasons: the order and queues of passes, barriers, memory.
///
/// Immutable; comparable, hashable, picklable. `str(plan)` is a listing. Made by `Graph.bake`, or read from a file.
#[pyclass(name = "Plan", module = "rgraph", frozen, weakref)]
pub struct PyPlan {
    plan: Arc<Plan>,
    /// The graph that it was baked from; `None`: it was read.
    graph: Option<Arc<Graph>>,
    /// The Python graph, if it has the work of the passes.
    origin: Option<Py<PyGraph>>,
    /// Profile and options of the bake; `None`: it was read.
    asked: Option<Asked>,
    /// Verdicts on the proposals of a hook.
    tried: Vec<Tried>,
    hash: OnceLock<u128>,
}

impl PyPlan {
    /// The Python object of a plan.
    pub fn object<'py>(
        py: Python<'py>,
        plan: Plan,
        of: Option<(&Bound<'py, PyGraph>, Arc<Graph>)>,
    ) -> PyResult<Bound<'py, Self>> {
        let (origin, graph) = of.unzip();
        let origin = origin.filter(|graph| graph.get().read(GraphState::works)).map(|graph| graph.clone().unbind());
        let (asked, tried) = (None, Vec::new());
        Bound::new(py, Self { plan: Arc::new(plan), graph, origin, asked, tried, hash: OnceLock::new() })
    }

    /// The Python object of a plan that was baked, which the process remembers.
    pub fn baked<'py>(
        of: &Bound<'py, PyGraph>,
        plan: Plan,
        graph: Arc<Graph>,
        asked: Asked,
        tried: Vec<Tried>,
    ) -> PyResult<Bound<'py, Self>> {
        let plan = Arc::new(plan);
        last_bakes::keep(&plan, &graph, &asked);
        let origin = of.get().read(GraphState::works).then(|| of.clone().unbind());
        let (graph, asked) = (Some(graph), Some(asked));
        Bound::new(of.py(), Self { plan, graph, origin, asked, tried, hash: OnceLock::new() })
    }

    /// The Python object of the plan of a changed graph, whose passes have the work of this plan's graph.
    pub fn of_changed<'py>(
        before: &Bound<'py, Self>,
        plan: Arc<Plan>,
        graph: Arc<Graph>,
        asked: Asked,
    ) -> PyResult<Bound<'py, Self>> {
        Self::shared(before.py(), plan, Some(graph), before.get().origin.as_ref(), Some(asked))
    }

    /// The Python object of a plan that others hold too.
    pub fn shared<'py>(
        py: Python<'py>,
        plan: Arc<Plan>,
        graph: Option<Arc<Graph>>,
        origin: Option<&Py<PyGraph>>,
        asked: Option<Asked>,
    ) -> PyResult<Bound<'py, Self>> {
        let origin = origin.map(|origin| origin.clone_ref(py));
        Bound::new(py, Self { plan, graph, origin, asked, tried: Vec::new(), hash: OnceLock::new() })
    }

    /// Profile and options of the bake; `None`: it was read.
    pub fn asked(&self) -> Option<&Asked> {
        self.asked.as_ref()
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The graph that it was baked from, and the Python graph if that has the work of the passes; `None`: the plan was
    /// read.
    pub fn source<'py>(&self, py: Python<'py>) -> Option<(Arc<Graph>, Option<Bound<'py, PyGraph>>)> {
        let graph = self.graph.as_ref()?;
        Some((Arc::clone(graph), self.origin.as_ref().map(|origin| origin.bind(py).clone())))
    }

    fn content_hash(&self) -> u128 {
        *self.hash.get_or_init(|| rgraph_files::plan_hash(&self.plan))
    }

    fn text(&self, py: Python<'_>, write: fn(&Plan) -> String) -> PyResult<String> {
        let plan = Arc::clone(&self.plan);
        guarded(py, move || write(&plan))
    }

    /// The declaration at hand: the given one, or the one that the plan was baked of.
    pub fn declaration(&self, graph: Option<&Bound<'_, PyGraph>>) -> PyResult<Option<Arc<Graph>>> {
        match graph {
            Some(graph) => PyGraph::resolved(graph).map(Arc::new).map(Some),
            None => Ok(self.graph.clone()),
        }
    }

    /// The graph that the plan is checked against.
    pub fn graph_or_own(&self, py: Python<'_>, graph: Option<&Bound<'_, PyGraph>>) -> PyResult<Arc<Graph>> {
        let known = self.declaration(graph)?;
        let hint = "give it as graph=";
        let found = known.ok_or_else(|| bad(py, Code::UnknownName, "a plan that was read knows no graph", hint))?;
        // `weights=` of a bake are no part of the graph that it was given.
        match &self.graph {
            Some(own) if checks::weighed_alike(&found, own) => Ok(Arc::clone(own)),
            _ => Ok(found),
        }
    }
}

#[pymethods]
impl PyPlan {
    /// Read a plan file.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     The file.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the file breaks the file format; the message names path and line.
    /// OSError
    ///     If it cannot be read.
    #[staticmethod]
    fn load(py: Python<'_>, path: FilePath) -> PyResult<Bound<'_, Self>> {
        Self::object(py, files::load_plan(py, &path)?, None)
    }

    /// Read the text of a plan file.
    ///
    /// Parameters
    /// ----------
    /// text
    ///     JSON, as `to_json` writes it.
    #[staticmethod]
    fn from_json<'py>(py: Python<'py>, text: FileText<'_>) -> PyResult<Bound<'py, Self>> {
        Self::object(py, files::plan(py, text.0)?, None)
    }

    /// The plan file as text.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.text(py, rgraph_files::write_plan)
    }

    /// The plan file as plain values.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        files::loads(py, &self.to_json(py)?)
    }

    /// The plan as a drawing in the DOT language.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    #[pyo3(signature = (graph = None, **unknown), text_signature = "($self, graph=None)")]
    fn to_dot(
        &self,
        py: Python<'_>,
        graph: Option<&Bound<'_, PyGraph>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        keywords::refuse_of::<Self>("to_dot", unknown)?;
        let (graph, plan) = (self.graph_or_own(py, graph)?, Arc::clone(&self.plan));
        guarded(py, move || rgraph_report::dot(&graph, &plan))
    }

    /// Write the plan: to a temporary file that is then renamed, so that readers never see a part of it.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     The file. Its suffix selects the kind: `.json` the plan file, `.txt` the listing, `.dot` a drawing (of a
    ///     plan that was baked; one that was read knows no graph), `.html` a page to explore it in a browser, `.svg` a
    ///     still picture, `.trace.json` a trace for Perfetto and speedscope.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the suffix is none of these.
    /// OSError
    ///     If the file cannot be written.
    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        let known = ["json", "dot", "txt", "html", "svg"];
        let suffix = files::suffix(py, &path, &known)?;
        let suffix =
            word(py, "suffix of plans", suffix, |name| known.into_iter().find(|k| *k == name), known.into_iter())?;
        let trace = path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.ends_with(".trace.json"));
        let text = match suffix {
            "json" if trace => self.text(py, |plan| rgraph_report::trace(plan, None))?,
            "json" => self.to_json(py)?,
            "txt" => self.text(py, rgraph_report::listing)?,
            "html" => self.page(py)?,
            "svg" => self.picture(py)?,
            _ => self.to_dot(py, None, None)?,
        };
        files::write(py, &path, text.into_bytes())
    }

    /// Differences from another plan, as text.
    ///
    /// Parameters
    /// ----------
    /// other
    ///     The plan after the change.
    fn diff(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<String> {
        let (before, after) = (Arc::clone(&self.plan), Arc::clone(&other.get().plan));
        guarded(py, move || rgraph_report::diff(&before, &after).to_string())
    }

    /// Differences from another plan, as plain values.
    ///
    /// Parameters
    /// ----------
    /// other
    ///     The plan after the change.
    fn diff_dict<'py>(&self, py: Python<'py>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (before, after) = (Arc::clone(&self.plan), Arc::clone(&other.get().plan));
        files::loads(py, &guarded(py, move || rgraph_report::diff(&before, &after).to_json())?)
    }

    /// Why a pass is where it is: its queue, its place in the order, each barrier before it; or why it is culled.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     A pass of the plan, or its name.
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the plan has no such pass; the message offers the nearest name.
    #[pyo3(signature = (name, graph = None, **unknown), text_signature = "($self, name, graph=None)")]
    fn explain(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        graph: Option<&Bound<'_, PyGraph>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        keywords::refuse_of::<Self>("explain", unknown)?;
        let name = match name.cast::<PyPass>() {
            Ok(pass) => pass.get().full_name(),
            Err(_) => name.extract::<Text>()?.0.to_owned(),
        };
        let (graph, plan) = (self.graph_or_own(py, graph)?, Arc::clone(&self.plan));
        let explained = guarded(py, move || rgraph_report::explain(&graph, &plan, &name))?;
        explained.map_err(|error| graph_error(py, &error))
    }

    /// Name of the graph that it is a plan of.
    #[getter]
    fn graph_name(&self) -> &str {
        &self.plan.graph
    }

    /// Hash of the graph that it is a plan of, in hexadecimal: equal to that graph's `hash`.
    #[getter]
    fn graph_hash(&self) -> String {
        format!("{:032x}", self.plan.graph_hash)
    }

    /// Name of the profile that it was baked for.
    #[getter]
    fn profile(&self) -> &str {
        &self.plan.profile
    }

    /// Names of the passes that run, in an order in which they may run one by one.
    #[getter]
    fn pass_names(&self) -> Vec<&str> {
        self.plan.live().map(|id| self.plan.pass_name(id)).collect()
    }

    /// The passes that run, in the order of `pass_names`.
    #[getter]
    fn passes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        plan_records::passes(py, &self.plan)
    }

    /// The queues that it is planned for.
    #[getter]
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        plan_records::queues(py, &self.plan)
    }

    /// The batches, in an order in which they may be submitted.
    #[getter]
    fn batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        plan_records::batches(py, &self.plan)
    }

    /// The dependencies of all barrier calls, in the order of submission.
    #[getter]
    fn barriers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        plan_records::barriers(py, &self.plan)
    }

    /// Heaps, and the placements of transients and roots.
    #[getter]
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plan_records::memory(py, &self.plan)
    }

    /// Passes that do not run, and why: {name: reason}.
    #[getter]
    fn culled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        plan_records::culled(py, &self.plan)
    }

    /// The parts of the graph without a common resource or dependency.
    #[getter]
    fn subgraphs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        plan_records::subgraphs(py, &self.plan)
    }

    /// Passes that may run at once: sets of the CPU, then sets of the GPU, each in the order in which they run.
    ///
    /// Of the CPU: nothing orders two of them, and none writes what another one uses. Of the GPU: no barrier call,
    /// event or wait of the plan orders two of them; those of one render pass overlap in rasterisation order.
    #[getter]
    fn sets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        plan_records::sets(py, &self.plan)
    }

    /// Passes whose packets are sorted together in a run: by `key`, then by program, bindings and push data.
    ///
    /// Dispatches between two barrier calls, events or waits of a queue, and draws of one render pass whose passes are
    /// `unordered`.
    #[getter]
    fn packets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        plan_records::packets(py, &self.plan)
    }

    /// Passes that only move bytes, one entry for each pair of source and target.
    #[getter]
    fn copies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        plan_records::copies(py, &self.plan)
    }

    /// Requests that could not be met, and declarations that are valid but suspicious.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.plan.report.notes.clone()
    }

    /// Modelled time of the frame in microseconds.
    #[getter]
    fn frame_us(&self) -> f64 {
        self.plan.report.frame_us
    }

    /// Modelled time in microseconds of the same order on the graphics queue alone; `None` if no other queue is used.
    #[getter]
    fn one_queue_us(&self) -> Option<f64> {
        self.plan.report.one_queue_us
    }

    /// Lower bound in microseconds: no plan of the graph for the profile has a shorter modelled frame; `None` in files
    /// that do not have it.
    #[getter]
    fn bound_us(&self) -> Option<f64> {
        self.plan.report.bound.map(|bound| bound.us)
    }

    /// Names of the passes on the longest path through the dependencies, in order.
    #[getter]
    fn critical_path(&self) -> Vec<&str> {
        self.plan.report.critical_path.iter().map(|&pass| self.plan.pass_name(pass)).collect()
    }

    /// Modelled time of the longest path through the dependencies in microseconds; `None` in files that do not have it.
    #[getter]
    fn critical_path_us(&self) -> Option<f64> {
        self.plan.report.bound.map(|bound| bound.critical_path_us)
    }

    /// Maximum load of a set of queues in microseconds: the work of passes that may run on no other queue, per queue
    /// of the set; `None` in files that do not have it.
    #[getter]
    fn load_us(&self) -> Option<f64> {
        self.plan.report.bound.map(|bound| bound.load_us)
    }

    /// Verdicts on what `propose=` of `Graph.bake` proposed, in order: `Tried` records.
    #[getter]
    fn tried<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        propose::tried(py, &self.tried)
    }

    /// The policy that made the order.
    #[getter]
    fn policy(&self) -> &str {
        self.plan.report.policy
    }

    /// The memory budget of the bake: a word or a number of bytes; `None` in files that do not have it.
    #[getter]
    fn memory_budget<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let budget = self.plan.report.memory.map(|memory| match memory {
            MemoryBudget::Bytes(bytes) => bytes.into_bound_py_any(py),
            named => named.name().into_bound_py_any(py),
        });
        budget.transpose()
    }

    /// True if the order is proven optimal (policy `"exact"`).
    #[getter]
    fn optimal(&self) -> bool {
        self.plan.report.optimal
    }

    /// Hash of its decisions in hexadecimal, without timings; equal on every machine.
    #[getter]
    fn hash(&self) -> String {
        format!("{:032x}", self.content_hash())
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.text(py, rgraph_report::listing)
    }

    fn __repr__(&self) -> String {
        let plan = &self.plan;
        let passes = counted(plan.live().count(), "pass");
        let (batches, barriers) =
            (counted(plan.batches.len(), "batch"), counted(plan.report.barriers as usize, "barrier"));
        let (graph, profile) = (plain(&plan.graph), plain(&plan.profile));
        format!("<Plan of \"{graph}\" for {profile}: {passes}, {batches}, {barriers}>")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            Arc::ptr_eq(&other.get().plan, &self.plan) || other.get().content_hash() == self.content_hash()
        })
    }

    fn __hash__(&self) -> u64 {
        self.content_hash() as u64
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.origin)
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        let read = slf.get_type().getattr("from_json")?.unbind();
        Ok((read, (slf.get().to_json(slf.py())?,)))
    }
}
