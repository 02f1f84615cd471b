//! `adapt=` of a run: what it means, and the tuner of a compiled graph.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use rgraph_plan::access::PassQueue;
use rgraph_plan::bake::propose::{Problem, Proposal, Propose, Tried};
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;
use rgraph_plan::tune::{Settings, Trial};
use rgraph_vk::work::CallbackError;
use rgraph_vk::{Background, Compiled, FrameReport, Job, Tuner, TunerOptions};

use crate::arguments::convert::{Count, Number, Text, during, word};
use crate::arguments::propose::Hook;
use crate::classes::compiled::PyCompiled;
use crate::classes::plan::PyPlan;
use crate::classes::report::PyReport;
use crate::run::detached::{Detached, Plain, call};
use crate::run::ending;
use crate::run::ending::attached;
use crate::run::error::bad;
use crate::run::functions::Function;
use crate::run::tuned::Tuned;

/// Proposals of a Python function, by a thread in the background.
struct Proposing {
    function: Arc<Function>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Propose for Proposing {
    fn propose(&mut self, problem: &Problem, tried: &[Tried]) -> Option<Proposal> {
        let function = attached(|py| self.function.function(py).ok())?;
        let mut hook = Hook::new(function);
        let proposal = hook.propose(problem, tried);
        if let Some(raised) = hook.raised {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
        }
        proposal
    }
}

/// A thread of the process, which the end of the process waits for.
fn threads() -> Background {
    Arc::new(|job: Job| {
        let work = move || {
            let _inside = ending::enter();
            job();
        };
        drop(std::thread::Builder::new().name("rgraph tune".to_owned()).spawn(work));
    })
}

/// The value of `adapt=` as an object with the attributes of `rgraph.Adapt`; `None`: nothing is tried.
fn wanted<'py>(adapt: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = adapt.py();
    let class = || py.import("rgraph._adapt")?.getattr("Adapt");
    if let Ok(on) = adapt.extract::<bool>() {
        return if on { class()?.call0().map(Some) } else { Ok(None) };
    }
    if adapt.is_instance_of::<PyString>() {
        let named = PyDict::new(py);
        let Text(name) = adapt.extract()?;
        word(py, "kind of adapting", name, |name| (name == "queues").then_some(()), ["queues"].into_iter())?;
        named.set_item("queues", true)?;
        return class()?.call((), Some(&named)).map(Some);
    }
    if adapt.is_instance(&class()?)? {
        return Ok(Some(adapt.clone()));
    }
    Err(PyTypeError::new_err("adapt is True, False, \"queues\" or an rgraph.Adapt"))
}

/// The tuner that a run uses, and whether it may try plans: the one that is there, unless something else is asked for.
pub(crate) fn tuned(
    of: &Bound<'_, PyCompiled>,
    adapt: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<(Arc<Tuned>, bool)>> {
    let known = of.get().tuned();
    let Some(asked) = adapt.map(wanted).transpose()?.flatten() else {
        return Ok(known.map(|known| (known, false)));
    };
    if let Some(known) = known {
        if known.asked.bind(of.py()).eq(&asked)? {
            known.check()?;
            return Ok(Some((known, true)));
        }
        let kept = known.tuner.make(of.py(), |tuner, _| Ok(tuner.kept()))?;
        let made = make(of, &kept, asked)?;
        return Ok(Some((of.get().tune(made), true)));
    }
    let made = make(of, &of.get().compiled, asked)?;
    Ok(Some((of.get().tune(made), true)))
}

fn make(of: &Bound<'_, PyCompiled>, from: &Detached<Compiled>, asked: Bound<'_, PyAny>) -> PyResult<Tuned> {
    let py = of.py();
    let count = |name: &str, least: u32| {
        let Count(count) = asked.getattr(name)?.extract().map_err(|error| during(py, error, name))?;
        if count < least {
            let message = format!("{name}: {count} is out of range");
            return Err(bad(py, Code::BadNumber, message, &format!("give an Adapt {name}={least} or more")));
        }
        Ok(count)
    };
    let Number(margin) = asked.getattr("margin")?.extract().map_err(|error| during(py, error, "margin"))?;
    if !(0.0..f64::INFINITY).contains(&margin) {
        let message = format!("margin: {margin} is out of range");
        return Err(bad(py, Code::BadNumber, message, "give the part of a frame to gain, such as margin=0.01"));
    }
    let settings = Settings {
        sample: count("sample", 1)?,
        frames: count("frames", 2)?,
        margin,
        most: count("trials", 0)? as usize,
        ..Settings::default()
    };
    let function = |name: &str| -> PyResult<Option<Arc<Function>>> {
        let value = asked.getattr(name)?;
        match value.is_none() {
            true => Ok(None),
            false if value.is_callable() => Ok(Some(Function::new(py, &value.unbind(), None))),
            false => Err(PyTypeError::new_err(format!("{name} of an Adapt is a function"))),
        }
    };
    let (propose, times) = (function("propose")?, function("times")?);
    let functions: Vec<_> = [&propose, &times].into_iter().flatten().cloned().collect();
    let raised = Arc::new(Mutex::new(None));
    let hook =
        propose.map(|function| Box::new(Proposing { function, raised: raised.clone() }) as Box<dyn Propose + Send>);
    let times = times.map(|function| {
        let one = move |plan: &Arc<Plan>, report: &FrameReport| -> Result<Option<f64>, CallbackError> {
            attached(|py| time_of(py, &function, plan, report)).map_err(CallbackError::from)
        };
        Box::new(one) as rgraph_vk::Measured
    });
    let background = if asked.getattr("background")?.is_truthy()? { threads() } else { Arc::new(|job: Job| job()) };
    let options = TunerOptions {
        settings,
        options: *of.get().options(),
        queues: asked.getattr("queues")?.is_truthy()?,
        hook,
        times,
        background: Some(background),
        ..TunerOptions::default()
    };
    let tuner = from.make(py, move |compiled, _| Ok(Tuner::new(compiled, options)))?;
    Ok(Tuned { tuner, asked: asked.unbind(), functions, raised })
}

fn time_of(py: Python<'_>, function: &Function, plan: &Arc<Plan>, report: &FrameReport) -> PyResult<Option<f64>> {
    let plan = PyPlan::shared(py, plan.clone(), None, None, None)?;
    let arguments = PyTuple::new(py, [plan.into_any(), Bound::new(py, PyReport(report.clone()))?.into_any()])?;
    let us = function.function(py)?.bind(py).call1(arguments)?;
    if us.is_none() { Ok(None) } else { us.extract::<Number>().map(|Number(us)| Some(us)) }
}

/// What a tuner found.
struct Found {
    phase: &'static str,
    trials: Vec<Trial>,
    weights: Vec<(String, f64)>,
    plan: Arc<Plan>,
    graph: Arc<Graph>,
}

impl Plain for Found {}

/// A `Trials` record of a compiled graph.
pub(crate) fn trials<'py>(of: &Bound<'py, PyCompiled>) -> PyResult<Bound<'py, PyAny>> {
    let (py, this) = (of.py(), of.get());
    let found = match this.tuned() {
        Some(tuned) => call(py, |free| {
            let tuner = tuned.tuner.get(free)?;
            let kept = tuner.kept();
            let (plan, graph) = (kept.plan().clone(), Arc::new(kept.workload().graph.clone()));
            Ok(Found { phase: tuner.phase().name(), trials: tuner.trials(), weights: tuner.weights(), plan, graph })
        })?,
        None => {
            let (plan, graph) = (this.compiled.plan().clone(), Arc::new(this.load.graph.clone()));
            Found { phase: "off", trials: Vec::new(), weights: Vec::new(), plan, graph }
        }
    };
    let module = py.import("rgraph._adapt")?;
    let trial = module.getattr("Trial")?;
    let one = |one: &Trial| {
        let predicted = Some(one.predicted_us).filter(|us| us.is_finite());
        let Trial { round, what, measured_us, kept_us, noise_us, frames, kept, why, .. } = one;
        trial.call1((round, what, predicted, measured_us, kept_us, noise_us, frames, kept, why))
    };
    let trials = found.trials.iter().map(one).collect::<PyResult<Vec<_>>>()?;
    let (weights, queues) = (PyDict::new(py), PyDict::new(py));
    for (name, us) in &found.weights {
        weights.set_item(name, us)?;
    }
    for (id, pass) in found.graph.passes().iter_ids() {
        if pass.queue == PassQueue::Any && this.load.graph.passes()[id].queue != PassQueue::Any {
            queues.set_item(found.graph.pass_name(id), pass.queue.name())?;
        }
    }
    let plan = PyPlan::shared(py, found.plan, Some(found.graph), this.origin.as_ref(), Some(this.asked().clone()))?;
    module.getattr("Trials")?.call1((found.phase, trials, weights, queues, plan))
}
