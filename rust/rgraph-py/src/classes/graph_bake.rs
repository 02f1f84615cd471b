//! `rgraph.Graph`: plans of it, and its results without one.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rgraph_plan::bake::propose::bake_proposals;
use rgraph_plan::graph::Graph;

use crate::arguments::convert::{Count, Text};
use crate::arguments::keywords;
use crate::arguments::options;
use crate::arguments::options::{Asked, Budget, MaxBatches};
use crate::arguments::propose::{self, Hook};
use crate::arguments::weights::Weights;
use crate::classes::checks;
use crate::classes::graph::PyGraph;
use crate::classes::plan::PyPlan;
use crate::run::error::{graph_error, guarded};
use crate::run::plan_cache::{Key, keep_scratch, take_scratch};

impl PyGraph {
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
    ///     Policy for the order of passes: `"auto"`, `"declared"`, `"overlap"`, `"weighted"`, `"exact"` or
    ///     `"box_tree"`.
    /// split_barriers
    ///     Where barriers are split into events: `"never"`, `"distance"` (where there is work between) or `"always"`.
    /// timings
    ///     If true, the plan has the time of each stage, so it differs from bake to bake.
    /// effort
    ///     Effort of the search for orders and placements: 0 tries once, 1 (default) takes about twice as long, each
    ///     further step up to four times as long as the one before. For policy `"exact"`: maximum number of partial
    ///     schedules, default 200,000.
    /// memory
    ///     Bytes of transients that may be spent to save barrier calls. `"least"`: as many as the declared order keeps
    ///     alive. `"balanced"` (default): a sixteenth more, or 16 MiB where that is more. `"fast"`: all bytes of the
    ///     heap. A number: so many bytes, if an order that is tried fits; otherwise as few as any takes, with a note.
    /// max_batches
    ///     Maximum number of batches of a frame, one submit each; default: 256, None: no limit. To keep it, passes wait
    ///     for more than they need, and leave queues that they do not name; passes stay on queues that they name, even
    ///     if the limit is then missed. A note of the plan names the change.
    /// weights
    ///     Durations of passes: the `Report` of a measured frame, `{pass: microseconds}`, or the path of a saved
    ///     report.
    /// propose
    ///     A function that proposes orders and queues: `propose(problem, tried)` returns `{"order": [passes], "queue":
    ///     {pass: queue}}` (what is left out is the planner's own), or None if it has no other proposal. `problem` has
    ///     the passes with durations, permitted queues and dependencies, `tried` the verdicts so far. Each proposal is
    ///     checked and planned; the plan with the shortest modelled frame is returned, with all verdicts in
    ///     `Plan.tried`. At most 256 proposals.
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
        let known = slf.get().resolved_hash();
        if let Some(hash) = known {
            let key = Key::new(hash, &profile, &options);
            if let Some(plan) = slf.get().state().made.find(&key, py) {
                return Ok(plan.into_bound(py).cast_into::<PyPlan>()?);
            }
        }
        let whole = Self::resolved(slf)?;
        let key = Key::new(known.unwrap_or_else(|| whole.content_hash()), &profile, &options);
        let plan = Self::baked(slf, whole, Asked { profile, options }, None)?;
        let forgotten = slf.get().state().made.remember(key, plan.clone().into_any().unbind());
        drop(forgotten);
        Ok(plan)
    }

    /// Result of the frame by symbolic execution in declared order, without a plan.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     One dict per frame, for some frames in a row and several settings of the flags: {name and subresource:
    ///     symbol} of everything that is visible outside the frame. Equal symbols are equal contents; None is
    ///     undefined.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If a name in the declaration is unknown.
    fn interpret<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let whole = Self::resolved(slf)?;
        checks::interpret_graph(slf.py(), whole)
    }
}
