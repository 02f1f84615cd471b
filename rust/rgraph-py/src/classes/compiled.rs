//! `rgraph.Compiled`: a graph made ready for a device.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::prelude::Options;
use rgraph_plan::words::plain;
use rgraph_vk::work::Workload;
use rgraph_vk::{Compiled, Device, Error};

use crate::arguments::options::{Asked, Measuring};
use crate::arguments::weights::Weights;
use crate::classes::device::PyDevice;
use crate::classes::graph::PyGraph;
use crate::classes::plan::PyPlan;
use crate::run::counts::GRAPHS_COMPILED;
use crate::run::detached::Detached;
use crate::run::error::{bad, graph_error};
use crate::run::functions::Load;
use crate::run::last_bakes;
use crate::run::remembered::refuse;
use crate::run::runnable::Runnable;
use crate::run::runtime_errors::raised;
use crate::run::states::{self, Kinds};
use crate::run::tuned::Tuned;

/// A graph compiled for a device: its plan, pipelines and memory.
///
/// Later declarations in the graph do not change it. Made by `Device.compile`.
#[pyclass(name = "Compiled", module = "rgraph", frozen, weakref)]
pub struct PyCompiled {
    pub device: Py<PyDevice>,
    /// Made ready.
    pub compiled: Detached<Compiled>,
    /// Its declaration.
    runnable: Runnable,
    /// What its plan was baked for.
    asked: Asked,
    /// What tries other plans, once a run asked for it.
    tuned: Mutex<Option<Arc<Tuned>>>,
}

/// Compiles on a device, maybe behind a graph that ran before.
type CompileWork = Box<dyn FnOnce(&Device, Option<&Compiled>) -> Result<Compiled, Error> + Send>;

/// A graph or a plan that is to be compiled, read from Python.
pub(crate) struct Order {
    /// What compiles it, without the interpreter.
    pub work: CompileWork,
    /// What its Python object needs besides.
    pub rest: Rest,
}

/// See [`Order::rest`].
pub struct Rest {
    load: Load,
    origin: Option<Py<PyGraph>>,
    asked: Asked,
    measuring: Measuring,
    /// Whether it is planned, too.
    is_new: bool,
}

impl Rest {
    /// The declaration.
    pub fn graph(&self) -> &Graph {
        &self.load.0.graph
    }

    /// For the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.origin)?;
        self.load.1.iter().try_for_each(|held| held.visit(visit))
    }
}

impl Order {
    /// Reads a graph or a plan, with the graph and weights of a plan; and what it comes after.
    pub(crate) fn new<'py>(
        device: &Bound<'py, PyDevice>,
        value: &Bound<'py, PyAny>,
        (of, weights): (Option<&Bound<'py, PyGraph>>, Option<&Bound<'py, PyAny>>),
        previous: Option<&Bound<'py, PyCompiled>>,
        (options, measuring): (&Options, Measuring),
    ) -> PyResult<(Self, Option<Detached<Compiled>>)> {
        GRAPHS_COMPILED.add(1);
        let py = device.py();
        // Nothing is planned for a device that refuses it. A forked child that starts threads may take the memory of
        // the driver's, which its exit handlers then join.
        device.get().device.known().check().map_err(|error| raised(py, error))?;
        let previous = previous.map(|previous| previous.get().last(py)).transpose()?;
        let asked = Asked { profile: device.get().device.profile().clone(), options: *options };
        if let Ok(plan) = value.cast::<PyPlan>() {
            let (load, origin, made_of_it) = PyCompiled::of_plan(plan, (of, weights), &device.get().numbers)?;
            let asked = plan.get().asked().cloned().unwrap_or(asked);
            let plan = Arc::clone(plan.get().plan());
            let whole = load.0.clone();
            let work: CompileWork = Box::new(move |device, previous| match (previous, made_of_it) {
                (Some(previous), _) => device.compile_plan_next(previous, plan, whole),
                // SAFETY: a `PyPlan` with a graph holds what this process baked of that graph, or a checked plan
                // with the graph that it was checked against; both are immutable.
                (None, true) => unsafe { device.compile_plan_unchecked(plan, whole) },
                (None, false) => device.compile_plan(plan, whole),
            });
            return Ok((Self { work, rest: Rest { load, origin, asked, measuring, is_new: false } }, previous));
        }
        let graph = value.cast::<PyGraph>().map_err(|_| refuse(value))?;
        let mut whole = PyGraph::resolved(graph)?;
        if let Some(weights) = weights {
            Weights::of(weights)?.apply(py, &mut whole)?;
        }
        let load = PyGraph::workload(graph, Arc::new(whole), &device.get().numbers);
        let (whole, options) = (load.0.clone(), *options);
        let work: CompileWork = Box::new(move |device, previous| match previous {
            Some(previous) => device.compile_next(previous, whole, &options),
            None => device.compile(whole, &options),
        });
        let origin = Some(graph.clone().unbind());
        Ok((Self { work, rest: Rest { load, origin, asked, measuring, is_new: true } }, previous))
    }
}

impl Deref for PyCompiled {
    type Target = Runnable;

    fn deref(&self) -> &Runnable {
        &self.runnable
    }
}

impl PyCompiled {
    /// Compiles a graph for runs of equal graphs: the arrays of each run are those of the graph given to that run.
    pub fn of_any<'py>(
        device: &Bound<'py, PyDevice>,
        value: &Bound<'py, PyAny>,
        options: (&Options, Measuring),
    ) -> PyResult<Bound<'py, Self>> {
        let mut made = Self::make(device, value, (None, None), None, options)?;
        if value.is_instance_of::<PyGraph>() {
            made.runnable.origin = None;
        }
        Bound::new(device.py(), made)
    }

    /// Compiles a graph or a plan, with the graph and weights of a plan; maybe one that comes after another.
    pub fn compile<'py>(
        device: &Bound<'py, PyDevice>,
        value: &Bound<'py, PyAny>,
        of: (Option<&Bound<'py, PyGraph>>, Option<&Bound<'py, PyAny>>),
        previous: Option<&Bound<'py, Self>>,
        options: (&Options, Measuring),
    ) -> PyResult<Bound<'py, Self>> {
        Bound::new(device.py(), Self::make(device, value, of, previous, options)?)
    }

    /// What ran last of it: itself, or another plan of its tuner.
    fn last(&self, py: Python<'_>) -> PyResult<Detached<Compiled>> {
        match self.tuned() {
            Some(tuned) => tuned.tuner().make(py, |tuner, _| Ok(tuner.last())),
            None => Ok(self.compiled.clone()),
        }
    }

    fn make<'py>(
        device: &Bound<'py, PyDevice>,
        value: &Bound<'py, PyAny>,
        of: (Option<&Bound<'py, PyGraph>>, Option<&Bound<'py, PyAny>>),
        previous: Option<&Bound<'py, Self>>,
        options: (&Options, Measuring),
    ) -> PyResult<Self> {
        let py = device.py();
        let (order, previous) = Order::new(device, value, of, previous, options)?;
        let Order { work, rest } = order;
        let compiled = device.get().device.make_after(py, previous.as_ref(), work)?;
        Self::finish(device, compiled, rest)
    }

    /// The Python object of what was compiled.
    pub fn finish(device: &Bound<'_, PyDevice>, compiled: Detached<Compiled>, rest: Rest) -> PyResult<Self> {
        let Rest { load: (load, held), origin, asked, measuring, is_new } = rest;
        let py = device.py();
        if is_new {
            last_bakes::keep(compiled.plan(), &Arc::new(load.graph.clone()), &asked);
        }
        let plan = Arc::clone(compiled.plan());
        let unsaid = origin.as_ref().and_then(|graph| states::without_size(&load, &plan, graph.bind(py)));
        let notes = states::idle(&load, &plan).into_iter().chain(unsaid).collect();
        let numbers = Arc::clone(&device.get().numbers);
        let runnable = Runnable::new(py, (load, held), origin, Kinds::Plan(plan), (numbers, measuring), notes)?;
        let device = device.clone().unbind();
        Ok(Self { device, compiled, runnable, asked, tuned: Mutex::default() })
    }

    /// What tries other plans.
    pub fn tuned(&self) -> Option<Arc<Tuned>> {
        self.tuned.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on that tries other plans.
    pub fn tune(&self, tuned: Tuned) -> Arc<Tuned> {
        let tuned = Arc::new(tuned);
        let before = self.tuned.lock().unwrap_or_else(PoisonError::into_inner).replace(tuned.clone());
        drop(before);
        tuned
    }

    /// What its plan was baked for.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// How it was baked.
    pub fn options(&self) -> &Options {
        &self.asked.options
    }

    /// What a plan is compiled with: the workload, the Python graph, and whether the plan was made of (or checked
    /// against) exactly the workload's graph.
    fn of_plan(
        plan: &Bound<'_, PyPlan>,
        (of, weights): (Option<&Bound<'_, PyGraph>>, Option<&Bound<'_, PyAny>>),
        devices: &Arc<[u64]>,
    ) -> PyResult<(Load, Option<Py<PyGraph>>, bool)> {
        let py = plan.py();
        let made_of_it = of.is_none();
        let (graph, origin): (Arc<Graph>, _) = match (of, plan.get().source(py)) {
            (Some(of), _) => {
                let mut whole = PyGraph::resolved(of)?;
                // A plan of the graph as it is declared needs none.
                if let Some(weights) = weights
                    && whole.content_hash() != plan.get().plan().graph_hash
                {
                    Weights::of(weights)?.apply(py, &mut whole)?;
                }
                (Arc::new(whole), Some(of.clone()))
            }
            (None, Some(source)) => source,
            (None, None) => {
                let message = "a plan that was read from a file knows no shaders";
                let help = "name its graph: device.compile(plan, of=graph)";
                return Err(bad(py, Code::UnknownName, message, help));
            }
        };
        rgraph_plan::error::GraphError::check(graph.mistakes().to_vec()).map_err(|error| graph_error(py, &error))?;
        if graph.content_hash() != plan.get().plan().graph_hash {
            let message = format!("the plan is not one of graph \"{}\" as it is declared now", graph.name());
            let help = "bake the graph again, or give the weights that the plan was baked with: weights=";
            return Err(bad(py, Code::BadFile, message, help));
        }
        if let Some(origin) = &origin {
            origin.get().refuse_earlier(py, &graph)?;
        }
        let load = match &origin {
            Some(origin) => PyGraph::workload(origin, graph, devices),
            None => (Workload::new((*graph).clone()), Vec::new()),
        };
        Ok((load, origin.map(Bound::unbind), made_of_it))
    }
}

#[pymethods]
impl PyCompiled {
    /// The plan that is run.
    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyPlan>> {
        let graph = Some(Arc::new(self.load.graph.clone()));
        PyPlan::shared(py, Arc::clone(self.compiled.plan()), graph, self.origin.as_ref(), Some(self.asked.clone()))
    }

    /// Passes in the order in which they run, inputs and results, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().html(slf.as_any())
    }

    fn __repr__(&self) -> String {
        format!("<Compiled \"{}\" for \"{}\">", plain(self.load.graph.name()), self.device.get().device.info().name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.device)?;
        if let Ok(tuned) = self.tuned.try_lock()
            && let Some(tuned) = &*tuned
        {
            tuned.visit(&visit)?;
        }
        self.runnable.traverse(&visit)
    }

    fn __clear__(&self) {
        self.runnable.clear();
        if let Some(tuned) = self.tuned() {
            tuned.clear();
        }
    }
}
