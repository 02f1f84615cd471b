//! `rgraph.Graph`: a declaration, and what is done with all of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyList};
use rgraph_plan::bake::propose::bake_proposals;
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;

use crate::arguments::convert;
use crate::arguments::convert::{Count, Text};
use crate::arguments::keywords;
use crate::arguments::options;
use crate::arguments::options::{Budget, MaxBatches};
use crate::arguments::propose::{self, Hook};
use crate::arguments::setup::{UnderWay, is_under_way};
use crate::arguments::weights::Weights;
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::classes::plan::{Asked, PyPlan};
use crate::classes::resource::PyResource;
use crate::run::counts::PASSES_HASHED;
use crate::run::error::{Refusal, bad, graph_error, guarded, one};
use crate::run::plan_cache::{Key, keep_scratch, take_scratch};
use crate::run::state::{Setup, State};

static IDENTITIES: AtomicU64 = AtomicU64::new(1);

/// A render graph: passes, resources, how each pass uses each resource, and what is wanted.
///
/// A graph is the outermost `Module`; passes and resources are declared with the methods it inherits. What is wrong
/// with a declaration is said by `bake`, all at once.
///
/// Parameters
/// ----------
/// name
///     What plans and messages call it.
/// size
///     The reference size, (width, height) in texels: the size of images that say none.
/// replace
///     Whether a name that is declared again is declared anew, in the place of what it was: for notebooks, whose cells run
///     more than once. Else it is refused (RG-E201).
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
    /// What handles carry to be told from another graph's.
    pub identity: u64,
    state: Mutex<State>,
}

impl PyGraph {
    /// The Python object of a declaration.
    pub fn object(py: Python<'_>, graph: Graph) -> PyResult<Bound<'_, Self>> {
        Self::of_state(py, State::new(graph))
    }

    /// The Python object of a state, with an identity of its own.
    pub fn of_state(py: Python<'_>, state: State) -> PyResult<Bound<'_, Self>> {
        Self::with(py, IDENTITIES.fetch_add(1, Ordering::Relaxed), state)
    }

    fn with(py: Python<'_>, identity: u64, state: State) -> PyResult<Bound<'_, Self>> {
        let graph = Self { identity, state: Mutex::new(state) };
        Bound::new(py, PyClassInitializer::from(PyGraphModule::outermost()).add_subclass(graph))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the graph. No Python code may run in `change`.
    pub fn change<T>(&self, change: impl FnOnce(&mut State) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let mut state = self.state();
        state.hash = None;
        let changed = change(&mut state);
        let dropped = state.anew.take_dropped();
        drop(state);
        drop(dropped);
        changed
    }

    /// Reads the graph and what Python adds to it. No Python code may run in `read`.
    pub fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state())
    }

    /// Reads the declaration. No Python code may run in `look`.
    pub fn look<T: Default>(&self, look: impl FnOnce(&Graph) -> T) -> T {
        self.state().graph.as_ref().map(look).unwrap_or_default()
    }

    /// What is baked: names found, setup functions called on a copy, in the order of its graph file.
    pub fn resolved(slf: &Bound<'_, Self>) -> PyResult<Graph> {
        let py = slf.py();
        let copied = slf.get().state().resolved(py);
        let (copy, setups) = copied.map_err(|mistake| one(py, mistake))?;
        let whole = if setups.is_empty() { copy } else { Self::set_up(slf, copy, setups)? };
        let mut whole = slf.get().state().anew.left(whole);
        whole.to_file_order();
        Ok(whole)
    }

    /// Calls the setup functions on a working copy, which shares the graph's identity so that its handles fit.
    fn set_up(slf: &Bound<'_, Self>, copy: Graph, setups: Vec<Setup>) -> PyResult<Graph> {
        let py = slf.py();
        if is_under_way(slf.get().identity) {
            let message = "a setup function bakes, runs or writes the graph that it is part of";
            return Err(bad(py, Code::BadAccess, message, "do so when it has returned"));
        }
        let forebears = slf.get().state().forebears.clone();
        let working = Self::with(py, slf.get().identity, State { forebears, ..State::new(copy) })?;
        let under_way = UnderWay::of(&working);
        for setup in setups {
            setup.function.call1(py, (PyPass::handle(&working, setup.pass, setup.prefix)?,))?;
        }
        drop(under_way);
        let whole = working.get().change(|state| {
            state.settle();
            let missing = state.missing();
            let mut whole = state.open()?.clone();
            state.graph = None;
            for mistake in missing {
                whole.add_mistake(mistake);
            }
            Ok(whole)
        });
        whole.map_err(|mistake| one(py, mistake))
    }

    /// The hash of the declaration if nothing in it is open: no function to call, no name to be found.
    pub fn settled_hash(&self) -> Option<u128> {
        let mut state = self.state();
        state.settle();
        if !state.late.is_empty() || !state.setups.is_empty() || state.open {
            return None;
        }
        if state.hash.is_none() {
            PASSES_HASHED.add(state.graph.as_ref().map_or(0, |graph| graph.passes().len()));
            state.hash = state.graph.as_ref().map(|graph| state.anew.mix(graph.content_hash()));
        }
        state.hash
    }

    fn baked<'py>(
        slf: &Bound<'py, Self>,
        whole: Graph,
        asked: Asked,
        hook: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyPlan>> {
        let py = slf.py();
        let mut scratch = take_scratch();
        let mut hook = hook.map(Hook::new);
        let (baked, whole, asked, scratch, hook) = guarded(py, move || {
            let Asked { profile, options } = &asked;
            let baked = match &mut hook {
                Some(hook) => bake_proposals(&whole, profile, options, hook, propose::MOST, &mut scratch),
                None => {
                    rgraph_plan::prelude::bake(&whole, profile, options, &mut scratch).map(|plan| (plan, Vec::new()))
                }
            };
            (baked, whole, asked, scratch, hook)
        })?;
        keep_scratch(scratch);
        let mut baked = baked;
        if let Some(hook) = hook {
            if let Ok((_, tried)) = &mut baked {
                hook.explain(tried);
            }
            if let Some(raised) = hook.raised {
                return Err(raised);
            }
        }
        let (plan, tried) = baked.map_err(|error| graph_error(py, &error))?;
        PyPlan::baked(slf, plan, Arc::new(whole), asked, tried)
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
        let mut state = State::new(Graph::new(name.0, size));
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

    /// The passes, in the order of their declaration.
    #[getter]
    fn passes<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyPass>>> {
        let ids = slf.get().read(|state| {
            let ids = state.graph.iter().flat_map(|graph| graph.passes().ids());
            ids.filter(|id| !state.anew.passes.contains(id)).collect::<Vec<_>>()
        });
        ids.into_iter().map(|id| PyPass::handle(slf, id, "".into())).collect()
    }

    /// The images and buffers, in the order of their declaration.
    #[getter]
    fn resources<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let kinds = slf.get().read(|state| {
            let all = state.graph.iter().flat_map(|graph| graph.resources().iter_ids());
            let left = all.filter(|(id, _)| !state.anew.resources.contains(id));
            left.map(|(id, resource)| (id, resource.as_image().is_some())).collect::<Vec<_>>()
        });
        let handle = |(id, image)| match image {
            true => PyResource::image(slf, id).map(Bound::into_any),
            false => PyResource::buffer(slf, id).map(Bound::into_any),
        };
        kinds.into_iter().map(handle).collect()
    }

    /// A graph of its own with the same declaration and work.
    ///
    /// What is declared in either later is not in the other. Handles of this graph also mean the same in the copy;
    /// handles that the copy makes mean nothing here. Functions and imported arrays are shared. `copy.copy(graph)` does
    /// the same; `Graph.copy` declares a pass.
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

    /// Hash of all that the declaration means, in hexadecimal; source lines do not count, functions are not called.
    #[getter]
    fn hash(&self) -> String {
        let mut state = self.state();
        state.settle();
        let mut copy = state.graph.clone().unwrap_or_else(|| Graph::new("", [0, 0]));
        for mistake in state.missing() {
            copy.add_mistake(mistake);
        }
        let mut copy = state.anew.left(copy);
        drop(state);
        copy.to_file_order();
        format!("{:032x}", copy.content_hash())
    }

    /// Plan the frame for a device.
    ///
    /// A declaration that did not change since its last bake with the same profile and options gives the same `Plan`
    /// object again. The interpreter lock is released while planning; other threads may declare meanwhile, which
    /// changes the graph and not this plan.
    ///
    /// Parameters
    /// ----------
    /// profile
    ///     The device: a `Profile`, the name of a built-in one, or the path of a profile file; default: `discrete`.
    /// policy
    ///     How the order of passes is chosen: `"auto"`, `"declared"`, `"overlap"`, `"weighted"`, `"exact"` or
    ///     `"box_tree"`.
    /// split_barriers
    ///     Where barriers are split into events: `"never"`, `"distance"` (where there is work between) or `"always"`.
    /// timings
    ///     If true, the plan has the time of each stage, so it differs from bake to bake.
    /// effort
    ///     How hard to search for orders and placements: 0 is one look, 1 (default) about twice as much, each further
    ///     one up to four times the one before. For policy `"exact"`: how many partial schedules it may open; default
    ///     200,000.
    /// memory
    ///     How many bytes of transients are worth a barrier call. `"least"`: as many as the declared order keeps alive.
    ///     `"balanced"` (default): a sixteenth more, or 16 MiB where that is more. `"fast"`: all bytes of the heap. A
    ///     number: so many bytes, if an order that is tried fits; otherwise as few as any takes, with a note.
    /// max_batches
    ///     Most batches of a frame, each of which is a submit; None: no bound. To keep it, passes wait for more than they
    ///     need, and leave queues that they do not name; named queues are obeyed, whatever that takes. A note of the plan
    ///     says what it did.
    /// weights
    ///     Durations of passes: the `Report` of a measured frame, `{pass: microseconds}`, or the path of a saved report.
    /// propose
    ///     A function that proposes orders and queues: `propose(problem, tried)` returns `{"order": [passes], "queue":
    ///     {pass: queue}}` (what is left out is the planner's own), or None if it has no other proposal. `problem` has the
    ///     passes with durations, permitted queues and dependencies, `tried` the verdicts so far. Each proposal is checked
    ///     and planned; the plan with the shortest modelled frame is returned, with all verdicts in `Plan.tried`. At most
    ///     256 proposals.
    ///
    /// Returns
    /// -------
    /// Plan
    ///     Immutable; it remembers this declaration, so that `Plan.check` needs no argument.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If anything is wrong with the declaration: `GraphError.mistakes` has all of it. The graph is unchanged.
    #[pyo3(signature = (profile = None, *, policy = Text("auto"), split_barriers = Text("never"), timings = false, effort = None,
                        memory = Budget::default(), max_batches = MaxBatches::default(), weights = None, propose = None,
                        **unknown),
           text_signature = "($self, profile=None, *, policy='auto', split_barriers='never', timings=False, effort=None, \
                             memory='balanced', max_batches=256, weights=None, propose=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn bake<'py>(
        slf: &Bound<'py, Self>,
        profile: Option<&Bound<'py, PyAny>>,
        policy: Text<'_>,
        split_barriers: Text<'_>,
        timings: bool,
        effort: Option<Count>,
        memory: Budget,
        max_batches: MaxBatches,
        weights: Option<&Bound<'py, PyAny>>,
        propose: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPlan>> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "bake", unknown)?;
        let profile = options::profile(py, profile)?;
        let options = options::options(py, policy, split_barriers, timings, effort, (memory, max_batches))?;
        let weights = weights.map(Weights::of).transpose()?;
        if propose.is_some_and(|hook| !hook.is_callable()) {
            return Err(PyTypeError::new_err("propose is a function of a problem and of the verdicts so far"));
        }
        if weights.is_some() || propose.is_some() {
            let mut whole = Self::resolved(slf)?;
            if let Some(weights) = weights {
                weights.apply(py, &mut whole)?;
            }
            return Self::baked(slf, whole, Asked { profile, options }, propose.map(|hook| hook.clone().unbind()));
        }
        let settled = slf.get().settled_hash();
        if let Some(hash) = settled {
            let key = Key::new(hash, &profile, &options);
            if let Some(plan) = slf.get().state().made.find(&key, py) {
                return Ok(plan.into_bound(py));
            }
        }
        let whole = Self::resolved(slf)?;
        let key = Key::new(settled.unwrap_or_else(|| whole.content_hash()), &profile, &options);
        let plan = Self::baked(slf, whole, Asked { profile, options }, None)?;
        let forgotten = slf.get().state().made.remember(key, plan.clone().unbind());
        drop(forgotten);
        Ok(plan)
    }

    /// Result of the frame by symbolic execution in declared order, without a plan.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     For each of some frames in a row, under several conditions: {name and piece: symbol} of all that somebody
    ///     outside can see. Equal symbols are equal contents; None is undefined.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If a name in the declaration is unknown.
    fn interpret<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let whole = Self::resolved(slf)?;
        crate::classes::judge::interpret_graph(slf.py(), whole)
    }

    fn __repr__(&self) -> String {
        self.read(|state| {
            let Some(graph) = &state.graph else { return "<Graph>".to_owned() };
            let [width, height] = graph.reference_size();
            let passes = graph.passes().len() - state.anew.passes.len();
            let resources = graph.resources().len() - state.anew.resources.len();
            let many = |count: usize, one: &str, all: &str| format!("{count} {}", if count == 1 { one } else { all });
            let passes = many(passes, "pass", "passes");
            let resources = many(resources, "resource", "resources");
            format!("<Graph \"{}\" {width}x{height}, {passes}, {resources}>", graph.name())
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A held lock means that the graph is in use, so it is no garbage.
        let Ok(state) = self.state.try_lock() else { return Ok(()) };
        visit.call(&state.layers)?;
        for setup in &state.setups {
            visit.call(&setup.function)?;
        }
        let functions = state.drafts.iter().filter_map(|draft| draft.todo.function());
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
                std::mem::take(&mut state.drafts),
                std::mem::take(&mut state.arrays),
                std::mem::take(&mut state.made),
                std::mem::take(&mut state.layers),
            )
        };
        drop(dropped);
    }
}
