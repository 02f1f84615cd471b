//! `rgraph.Graph`: a declaration, and what is done with all of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::PyDict;
use rgraph_plan::declared::needed_features;
use rgraph_plan::graph::Graph;
use rgraph_plan::words::plain;

use crate::arguments::convert;
use crate::arguments::convert::Text;
use crate::arguments::keywords;
use crate::classes::counted;
use crate::classes::module::PyGraphModule;
use crate::run::error::{Refusal, one};
use crate::run::spare;
use crate::run::state::GraphState;

static IDENTITIES: AtomicU64 = AtomicU64::new(1);

/// A render graph: passes, resources, how each pass uses each resource, and the roots that it keeps.
///
/// A graph is the outermost `Module`; passes and resources are declared with the methods it inherits. `bake` reports
/// all mistakes of a declaration at once.
///
/// Parameters
/// ----------
/// name
///     Its name in plans and messages.
/// size
///     The reference size, (width, height) in texels: the size of images declared without one.
/// replace
///     Whether a declaration of a taken name replaces the earlier one, in its place: for notebooks, whose cells run
///     more than once. Default: such a declaration is refused (RG-E201).
///
/// Examples
/// --------
/// >>> import rgraph
/// >>> g = rgraph.Graph("frame", size=(640, 480))
/// >>> out = g.image("out", format="rgba8unorm")
/// >>> _ = g.add_pass("draw").color(out, clear=(0, 0, 0, 1))
/// >>> g.root(out)
/// >>> g.bake().pass_names
/// ['draw']
#[pyclass(name = "Graph", module = "rgraph", frozen, extends = PyGraphModule, weakref)]
pub struct PyGraph {
    /// A number that tells this graph's handles from another graph's.
    pub identity: u64,
    state: Mutex<GraphState>,
}

impl Drop for PyGraph {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(graph) = state.graph.take() {
            spare::keep(graph, std::mem::take(&mut state.pending));
        }
    }
}

impl PyGraph {
    /// The Python object of a declaration.
    pub fn object(py: Python<'_>, graph: Graph) -> PyResult<Bound<'_, Self>> {
        Self::of_state(py, GraphState::new(graph))
    }

    /// The Python object of a state, with an identity of its own.
    pub fn of_state(py: Python<'_>, state: GraphState) -> PyResult<Bound<'_, Self>> {
        Self::with(py, IDENTITIES.fetch_add(1, Ordering::Relaxed), state)
    }

    /// The Python object of a state; working copies share the identity of their graph.
    pub fn with(py: Python<'_>, identity: u64, state: GraphState) -> PyResult<Bound<'_, Self>> {
        let graph = Self { identity, state: Mutex::new(state) };
        Bound::new(py, PyClassInitializer::from(PyGraphModule::outermost()).add_subclass(graph))
    }

    /// What it holds. No Python code may run while it is locked.
    pub fn state(&self) -> MutexGuard<'_, GraphState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the graph. No Python code may run in `change`.
    pub fn change<T>(&self, change: impl FnOnce(&mut GraphState) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let mut state = self.state();
        state.hash = None;
        let changed = change(&mut state);
        let dropped = state.anew.take_dropped();
        drop(state);
        drop(dropped);
        changed
    }

    /// Reads the graph and what Python adds to it. No Python code may run in `read`.
    pub fn read<T>(&self, read: impl FnOnce(&GraphState) -> T) -> T {
        read(&self.state())
    }

    /// Reads the declaration. No Python code may run in `look`.
    pub fn look<T: Default>(&self, look: impl FnOnce(&Graph) -> T) -> T {
        self.state().graph.as_ref().map(look).unwrap_or_default()
    }
}

#[pymethods]
impl PyGraph {
    #[new]
    #[pyo3(signature = (name = Text("graph"), *, size = None, replace = false, **unknown),
           text_signature = "(name='graph', *, size=(1920, 1080), replace=False)")]
    fn new(
        py: Python<'_>,
        name: Text<'_>,
        size: Option<&Bound<'_, PyAny>>,
        replace: bool,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        keywords::refuse(py.get_type::<Self>().as_any(), "Graph", unknown)?;
        let unsaid = size.is_none();
        let size = match size {
            None => [1920, 1080],
            Some(size) => convert::size(size)?,
        };
        let identity = IDENTITIES.fetch_add(1, Ordering::Relaxed);
        let mut state = GraphState::empty(name.0, size);
        state.anew.replaces = replace;
        state.unsized_graph = unsaid;
        let graph = Self { identity, state: Mutex::new(state) };
        Ok(PyClassInitializer::from(PyGraphModule::outermost()).add_subclass(graph))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> String {
        self.look(|graph| graph.name().to_owned())
    }

    /// The reference size, (width, height) in texels.
    #[getter]
    fn size(&self) -> (u32, u32) {
        self.look(|graph| graph.reference_size().into())
    }

    /// Optional features that a device needs for all passes, by Vulkan's names: those that passes name, those of their
    /// shaders and those of their accesses.
    #[getter]
    fn needs(&self) -> Vec<&'static str> {
        self.look(|graph| needed_features(graph).names().collect())
    }

    /// An independent copy of the graph, with the same declaration and work.
    ///
    /// Later declarations in one do not affect the other. Handles of this graph are valid in the copy; handles that the
    /// copy makes are not valid here. Functions and imported arrays are shared. `copy.copy(graph)` does the same;
    /// `Graph.copy` declares a pass.
    ///
    /// Returns
    /// -------
    /// Graph
    ///     The copy.
    ///
    /// Examples
    /// --------
    /// >>> import rgraph
    /// >>> g = rgraph.Graph()
    /// >>> out, debug = g.image("out", format="rgba8unorm"), g.image("debug", format="r8unorm")
    /// >>> _ = g.add_pass("draw").color(out, clear=(0, 0, 0, 1))
    /// >>> _ = g.add_pass("look").sampled(out).color(debug)
    /// >>> g.root(out)
    /// >>> shown = g.clone()
    /// >>> shown.root(debug)
    /// >>> (shown.bake().pass_names, g.bake().pass_names)
    /// (['draw', 'look'], ['draw'])
    #[pyo3(signature = (**unknown), text_signature = "($self)")]
    fn clone<'py>(slf: &Bound<'py, Self>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<Bound<'py, Self>> {
        keywords::refuse_of::<Self>("clone", unknown)?;
        let py = slf.py();
        let copied = slf.get().change(|state| state.copy(py, slf.get().identity));
        let copy =
            Self::with(py, IDENTITIES.fetch_add(1, Ordering::Relaxed), copied.map_err(|mistake| one(py, mistake))?)?;
        if let Some(layers) = slf.get().read(|state| state.layers.as_ref().map(|layers| layers.clone_ref(py))) {
            py.import("rgraph._layers")?.call_method1("carry", (layers, &copy))?;
        }
        Ok(copy)
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        Self::clone(slf, None)
    }

    /// Hash of the declaration in hexadecimal, without source lines; functions are not called.
    #[getter]
    fn hash(&self) -> String {
        let mut state = self.state();
        state.resolve_names();
        let mut copy = state.graph.clone().unwrap_or_else(|| Graph::new("", [0, 0]));
        for mistake in state.missing() {
            copy.add_mistake(mistake);
        }
        let mut copy = state.anew.left(copy);
        drop(state);
        copy.to_file_order();
        format!("{:032x}", copy.content_hash())
    }

    fn __repr__(&self) -> String {
        self.read(|state| {
            let Some(graph) = &state.graph else { return "<Graph>".to_owned() };
            let [width, height] = graph.reference_size();
            let passes = graph.passes().len() - state.anew.passes.len();
            let resources = graph.resources().len() - state.anew.resources.len();
            let (passes, resources) = (counted(passes, "pass"), counted(resources, "resource"));
            format!("<Graph \"{}\" {width}x{height}, {passes}, {resources}>", plain(graph.name()))
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A held lock means that the graph is in use, so it is no garbage.
        let Ok(state) = self.state.try_lock() else { return Ok(()) };
        visit.call(&state.layers)?;
        for setup in &state.setups {
            visit.call(&setup.function)?;
        }
        let functions = state.pending.iter().filter_map(|pending| pending.todo.function());
        let functions = functions.chain(state.per_run.iter().map(|one| &one.value));
        functions.chain(state.executes.values()).chain(state.arrays.values()).try_for_each(|held| visit.call(held))?;
        state.made.plans().try_for_each(|plan| visit.call(plan))
    }

    fn __clear__(&self) {
        // Dropped behind the lock: what is dropped may run code of its own.
        let dropped = {
            let mut state = self.state();
            (
                std::mem::take(&mut state.setups),
                std::mem::take(&mut state.executes),
                std::mem::take(&mut state.per_run),
                std::mem::take(&mut state.pending),
                std::mem::take(&mut state.arrays),
                std::mem::take(&mut state.made),
                std::mem::take(&mut state.layers),
            )
        };
        drop(dropped);
    }
}
