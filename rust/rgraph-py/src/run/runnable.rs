//! The side of a compiled graph that arguments and results of its runs see, on one device and on several: names,
//! shapes, arrays, and what runs change.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use rgraph_plan::graph::PassId;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::resource::{Life, Resource, ResourceId};
use rgraph_vk::work::Workload;

use crate::arguments::host_arrays::Host;
use crate::arguments::options::Measuring;
use crate::classes::array_layout::{ArrayLayout, Seen};
use crate::classes::graph::PyGraph;
use crate::run::error::one;
use crate::run::fit;
use crate::run::functions::{Function, Load};
use crate::run::states::{self, Kinds, Packed, Pending};

/// Push data of a pass, or the data of one of its bindings.
pub(crate) type Param = (PassId, Option<u32>);

/// A declaration that was compiled.
pub struct Runnable {
    /// Numbers of the devices that run it.
    pub numbers: Arc<[u64]>,
    /// The declaration as it is run, and the work of its passes.
    pub load: Arc<Workload>,
    /// The Python graph, which has the arrays of runs that are given no other.
    pub origin: Option<Py<PyGraph>>,
    /// The functions of its passes.
    held: Vec<Arc<Function>>,
    /// Default of `measure` and `sample` for runs.
    pub measuring: Measuring,
    /// Parameters that runs so far changed from the declaration.
    pub changed: Mutex<BTreeSet<Param>>,
    /// Kinds of its resources.
    pub kinds: Kinds,
    /// How arrays of its resources are seen.
    seen: HashMap<ResourceId, Seen>,
    /// Contents of persistent resources and histories before the first run.
    pub first: Vec<Packed>,
    /// Changes of them in the next run.
    pending: Mutex<Pending>,
    /// Notes of the plan, and about passes that do nothing.
    pub notes: Vec<String>,
}

impl Runnable {
    /// Of a declaration and the Python graph that it is of.
    ///
    /// # Errors
    /// If the first array of a resource does not fit.
    pub fn new(
        py: Python<'_>,
        (load, held): Load,
        origin: Option<Py<PyGraph>>,
        kinds: Kinds,
        (numbers, measuring): (Arc<[u64]>, Measuring),
        notes: Vec<String>,
    ) -> PyResult<Self> {
        let bound = origin.as_ref().map(|origin| origin.bind(py));
        let seen = states::seen(&load, bound);
        fit::refuse_other_numbers(py, &load, &seen)?;
        fit::refuse_other_rows(py, &load, &seen)?;
        let first = states::first((&load, &kinds), bound, &seen)?;
        let (load, changed, pending) = (Arc::new(load), Mutex::default(), Mutex::default());
        Ok(Self { numbers, load, origin, held, measuring, changed, kinds, seen, first, pending, notes })
    }

    /// What the next run changes of what lives from run to run. No Python code may run while it is locked.
    pub fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a resource's array is seen.
    pub fn layout(&self, id: ResourceId) -> ArrayLayout {
        ArrayLayout::of(self.kinds.of(id), self.seen.get(&id))
    }

    /// How what was read of a resource is seen, of which `kind` is the part.
    pub fn layout_of(&self, id: ResourceId, kind: &PlanKind) -> ArrayLayout {
        ArrayLayout::of_part(self.kinds.of(id), self.seen.get(&id), kind)
    }

    /// How an array of the caller's lies in a resource; `what` names it in messages.
    pub fn layout_for(&self, py: Python<'_>, id: ResourceId, host: &Host, what: &str) -> PyResult<ArrayLayout> {
        let kind = self.kinds.of(id);
        let layout = ArrayLayout::for_array((kind, self.seen.get(&id)), &host.form, what);
        layout.map_err(|mistake| one(py, states::declared(&self.load.graph, id, kind, *mistake)))
    }

    /// What notebooks show: passes of `shown`, and resources that runs see with their roles and arrays.
    pub fn html<'py>(&self, shown: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let graph = &self.load.graph;
        let row = |(id, resource): (ResourceId, &Resource)| {
            let own = match resource.life {
                Life::Imported(_) => Some("input"),
                Life::Persistent | Life::History(_) => Some("state"),
                _ => None,
            };
            let result = graph.is_root(id).then_some("result");
            let role = own.into_iter().chain(result).collect::<Vec<_>>().join(", ");
            let what = match self.kinds.of(id) {
                PlanKind::Image { size: [width, height, _], format, .. } => format!("{width} × {height} of {format}"),
                PlanKind::Buffer { size } => format!("{size} bytes"),
            };
            (!role.is_empty()).then(|| (graph.resource_name(id).to_owned(), role, what, self.layout(id).shown()))
        };
        let rows: Vec<_> = graph.resources().iter_ids().filter_map(row).collect();
        let arguments = (shown, rows, graph.flags().iter().cloned().collect::<Vec<_>>(), &self.notes);
        shown.py().import("rgraph._reprs")?.call_method1("compiled", arguments)
    }

    /// For the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.origin)?;
        self.held.iter().try_for_each(|held| held.visit(visit))
    }

    /// Lets go of its functions.
    pub fn clear(&self) {
        self.held.iter().for_each(|held| held.clear());
    }
}
