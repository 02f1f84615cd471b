//! A graph compiled for a device, and the state that its runs share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rgraph_plan::plan::Plan;

use crate::compile::compiled_graph::CompiledGraph;
use crate::compile::known_plans::PlanKey;
use crate::error::Error;
use crate::frame::host::HostLane;
use crate::frame::inputs::Inputs;
use crate::frame::state::RunState;
use crate::run::spare::Spares;
use crate::work::Workload;

/// A graph ready to run on a device. Clones are the same one; runs of it take turns.
#[derive(Clone, Debug)]
pub struct Compiled(Arc<CompiledShared>);

struct CompiledShared {
    made: Arc<CompiledGraph>,
    state: Mutex<RunState>,
    /// The graph whose lasting memories these are, until the first run.
    before: Mutex<Option<Compiled>>,
    /// What the device may find it by once nobody has it, and where.
    key: Option<(PlanKey, Weak<Spares>)>,
}

impl std::fmt::Debug for CompiledShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Compiled").field(&self.made.plan.graph).finish()
    }
}

impl Compiled {
    pub(super) fn new(made: CompiledGraph, previous: Option<&Self>) -> Result<Self, Error> {
        Self::with_key(made, previous, None)
    }

    pub(super) fn with_key(
        mut made: CompiledGraph,
        previous: Option<&Self>,
        key: Option<(PlanKey, &Arc<Spares>)>,
    ) -> Result<Self, Error> {
        let shared = made.shared.clone();
        let host = made.plan.batches.iter().any(|batch| batch.queue.is_none());
        let host = if host { Some(HostLane::new(&shared, &made.plan.graph)?) } else { None };
        let begins = std::mem::take(&mut made.begins);
        let mut state = RunState::new(&made, host);
        if let Some(previous) = previous {
            // So no chain of graphs that never ran grows.
            previous.inherit();
            state.follow(begins);
        }
        let (state, before) = (Mutex::new(state), Mutex::new(previous.cloned()));
        let key = key.map(|(key, spares)| (key, Arc::downgrade(spares)));
        Ok(Self(Arc::new(CompiledShared { made: Arc::new(made), state, before, key })))
    }

    /// A spare graph with a new owner.
    pub(super) fn renewed(made: Arc<CompiledGraph>, state: RunState, (key, spares): (PlanKey, &Arc<Spares>)) -> Self {
        let key = Some((key, Arc::downgrade(spares)));
        Self(Arc::new(CompiledShared { made, state: Mutex::new(state), before: Mutex::default(), key }))
    }

    /// A trial of a chaos run, or of a tuner.
    pub(crate) fn of_trial(made: CompiledGraph) -> Result<Self, Error> {
        Self::new(made, None)
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.0.made.plan
    }

    /// The declaration and work that it was made of.
    pub fn workload(&self) -> &Workload {
        &self.0.made.workload
    }

    /// A run with semaphores and fences of rgraph's: they live until it is submitted, and are as before if it fails.
    pub(crate) fn holding<T>(&self, inputs: &Inputs<'_>, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let held = self.0.made.shared.hold(inputs)?;
        match run() {
            Ok(done) => Ok(done),
            Err(error) => {
                // What was submitted is kept already.
                held.withdraw();
                Err(error)
            }
        }
    }

    /// Goes on behind the last run of the graph before, if there is one: from now on that one does not run.
    pub(crate) fn inherit(&self) {
        let mut state = self.lock();
        let before = self.0.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = before {
            state.inherit(self.graph(), &mut before.lock(), before.graph());
        }
    }

    /// Whether both are the same one.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn graph(&self) -> &Arc<CompiledGraph> {
        &self.0.made
    }

    /// Reads the times of a run that is done, if its context still has them.
    pub(crate) fn harvest(&self, run: u64) -> Result<(), Error> {
        self.0.made.shared.outside()?;
        self.lock().harvest(&self.0.made, run)
    }

    /// The error of a lost device with the passes that were under way.
    pub(crate) fn blamed(&self, error: Error) -> Error {
        let knows = error.is_lost() && !self.0.made.shared.is_inside();
        if knows { self.lock().blamed(&self.0.made, error) } else { error }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RunState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CompiledShared {
    fn drop(&mut self) {
        let Self { made, state, before, key } = self;
        let first = before.get_mut().unwrap_or_else(PoisonError::into_inner).is_none();
        let (poisoned, shared) = (state.is_poisoned(), &made.shared);
        let state = state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let key = key.take().filter(|_| first && !poisoned && shared.check().is_ok());
        match key.and_then(|(key, spares)| Some((key, spares.upgrade()?))) {
            Some((key, spares)) if state.retire() => spares.keep(key, made.clone(), std::mem::take(state)),
            _ => state.end(shared),
        }
    }
}
