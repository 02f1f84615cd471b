//! What `Device.run` compiled: found again for a graph that did not change, and for one that was declared again as
//! before.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rgraph_plan::budget::MemoryBudget;
use rgraph_plan::graph::PassId;
use rgraph_plan::plan::Plan;
use rgraph_plan::resource::{Life, ResourceId};
use rgraph_vk::work::Step;

use crate::classes::array_layout::Seen;
use crate::classes::graph::PyGraph;
use crate::classes::plan::PyPlan;
use crate::run::counts::PASSES_COMPARED;
use crate::run::pending_work::Todo;
use crate::run::state::GraphState;
use crate::run::targets::Targets;

/// Compiled graphs that a device remembers.
const MOST: usize = 16;

/// The key of what was compiled.
#[derive(PartialEq)]
pub enum What {
    /// A graph: its identity, its declaration's hash, how many passes have work, how many declarations were replaced,
    /// and the memory that it may take.
    Graph(u64, u128, usize, usize, MemoryBudget),
    /// A plan, by the address of what is held here.
    Plan(Held),
}

/// A plan that is compared by identity.
pub struct Held(Arc<Plan>);

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl What {
    /// What an argument is; `None` if it must be looked at each time.
    pub fn of(value: &Bound<'_, PyAny>, memory: MemoryBudget) -> PyResult<Option<Self>> {
        if let Ok(plan) = value.cast::<PyPlan>() {
            return Ok(Some(Self::Plan(Held(Arc::clone(plan.get().plan())))));
        }
        let graph = value.cast::<PyGraph>().map_err(|_| refuse(value))?;
        let Some(hash) = graph.get().resolved_hash() else { return Ok(None) };
        let (works, anew) = graph.get().read(|state| (state.pending.len() + state.executes.len(), state.anew.count));
        Ok(Some(Self::Graph(graph.get().identity, hash, works, anew, memory)))
    }
}

/// The exception of a value that is no graph.
pub(crate) fn refuse(value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("a device runs a Graph, a Plan or what compile() gave, not {kind}"))
}

/// The work of a graph's passes, and the layouts of its arrays.
pub struct Snapshot(Vec<Kept>, HashMap<ResourceId, Seen>);

/// Pass, module, resources and steps of pending work.
type Kept = (PassId, Arc<str>, Targets, Arc<[Step]>);

impl Snapshot {
    /// The work now. `None` if graphs with this declaration are not interchangeable: they call functions, or resources
    /// live from frame to frame, which each graph has of its own.
    pub fn of(graph: &PyGraph) -> Option<Self> {
        graph.read(|state| {
            let lasts = |life| matches!(life, Life::Persistent | Life::History(_));
            let graph = state.graph.as_ref()?;
            if !state.executes.is_empty() || graph.resources().iter().any(|resource| lasts(resource.life)) {
                return None;
            }
            let pending = state.pending.iter().map(|pending| match &pending.todo {
                Todo::Steps(steps) => {
                    Some((pending.pass, Arc::clone(&pending.prefix), pending.table.clone(), Arc::clone(steps)))
                }
                Todo::Host(_) | Todo::Record(_) => None,
            });
            pending.collect::<Option<_>>().map(|pending| Self(pending, state.seen.clone()))
        })
    }

    /// Whether the passes of a graph with the same declaration have the same work.
    fn is_of(&self, state: &GraphState) -> bool {
        state.executes.is_empty()
            && self.1 == state.seen
            && self.0.len() == state.pending.len()
            && self.0.iter().zip(&state.pending).all(|((pass, prefix, table, steps), pending)| {
                PASSES_COMPARED.add(1);
                let same = *pass == pending.pass && *prefix == pending.prefix && *table == pending.table;
                same && matches!(&pending.todo, Todo::Steps(others) if steps == others)
            })
    }
}

/// One of them.
struct Entry<C> {
    what: What,
    compiled: Py<C>,
    snapshot: Option<Snapshot>,
}

/// What a device compiled, the last used first.
pub struct Remembered<C>(Vec<Entry<C>>);

impl<C> Default for Remembered<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C> Remembered<C> {
    /// What was compiled of `value`, which is `what`; or of a graph that was declared as it is. O(declaration) where it
    /// was another graph, else O(1).
    pub fn find<'py>(&mut self, what: &What, value: &Bound<'py, PyAny>) -> Option<Bound<'py, C>> {
        let same = self.0.iter().position(|entry| entry.what == *what);
        let at = same.or_else(|| {
            let (What::Graph(_, hash, works, anew, memory), Ok(graph)) = (what, value.cast::<PyGraph>()) else { return None };
            let alike =
                |what: &What| matches!(what, What::Graph(_, of, with, _, in_) if (of, with, in_) == (hash, works, memory));
            let at = self.0.iter().position(|entry| {
                let snapshot = entry.snapshot.as_ref().filter(|_| alike(&entry.what));
                snapshot.is_some_and(|snapshot| graph.get().read(|state| snapshot.is_of(state)))
            })?;
            self.0[at].what = What::Graph(graph.get().identity, *hash, *works, *anew, *memory);
            Some(at)
        })?;
        self.0[..=at].rotate_right(1);
        Some(self.0[0].compiled.bind(value.py()).clone())
    }

    /// Remembers one; what is forgotten for it is handed back, since dropping it may run Python code.
    #[must_use]
    pub fn remember(&mut self, what: What, compiled: Py<C>, snapshot: Option<Snapshot>) -> Option<Py<C>> {
        self.0.insert(0, Entry { what, compiled, snapshot });
        if self.0.len() > MOST { self.0.pop().map(|entry| entry.compiled) } else { None }
    }

    /// Takes one out: what it is, and how it is recognised.
    pub fn take(&mut self, compiled: &Bound<'_, C>) -> Option<(What, Option<Snapshot>, Py<C>)> {
        let at = self.0.iter().position(|entry| entry.compiled.is(compiled))?;
        let Entry { what, compiled, snapshot } = self.0.remove(at);
        Some((what, snapshot, compiled))
    }

    /// What was compiled of a graph as it was declared before, the last used first.
    pub fn earlier<'py>(&self, py: Python<'py>, now: &What) -> Vec<Bound<'py, C>> {
        let What::Graph(identity, .., memory) = now else { return Vec::new() };
        let is_of = |what: &What| matches!(what, What::Graph(of, .., in_) if of == identity && in_ == memory);
        self.0.iter().filter(|entry| is_of(&entry.what)).map(|entry| entry.compiled.bind(py).clone()).collect()
    }

    /// All of them.
    pub fn compiled(&self) -> impl Iterator<Item = &Py<C>> {
        self.0.iter().map(|entry| &entry.compiled)
    }
}
