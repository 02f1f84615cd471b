//! `rgraph.Preparation`: a graph that is compiled in the background, while frames go on.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::sync::OnceLockExt;
use pyo3::types::PyDict;
use rgraph_plan::error::Code;
use rgraph_plan::words::plain;
use rgraph_vk::Preparation;

use crate::arguments::convert::{Count, Number, Text, seconds};
use crate::arguments::keywords;
use crate::arguments::options;
use crate::arguments::options::{Budget, MaxBatches, Measuring};
use crate::classes::compiled::{Order, PyCompiled, Rest};
use crate::classes::device::PyDevice;
use crate::classes::graph::PyGraph;
use crate::run::detached::{Detached, call, wait};
use crate::run::error::bad;
use crate::run::inside::outside;
use crate::run::interface;
use crate::run::plan_cache::Key;
use crate::run::remembered::{Snapshot, What};
use crate::run::runtime_errors::not_ready;

/// A graph that is compiled in the background. Made by `Device.prepare`.
///
/// It continues without a reference to this object, and the device keeps the pipelines.
#[pyclass(name = "Preparation", module = "rgraph", frozen, weakref)]
pub struct PyPreparation {
    device: Py<PyDevice>,
    preparation: Detached<Preparation>,
    graph: String,
    /// What the Python object of the compiled graph needs, until that is made.
    rest: Mutex<Option<Rest>>,
    /// The compiled graph or the error, once somebody asked.
    ended: OnceLock<PyResult<Py<PyCompiled>>>,
}

impl PyPreparation {
    fn begin<'py>(
        device: &Bound<'py, PyDevice>,
        value: &Bound<'py, PyAny>,
        of: (Option<&Bound<'py, PyGraph>>, Option<&Bound<'py, PyAny>>),
        previous: Option<&Bound<'py, PyCompiled>>,
        options: (&rgraph_plan::prelude::Options, Measuring),
    ) -> PyResult<Bound<'py, Self>> {
        let py = device.py();
        let (Order { work, rest }, previous) = Order::new(device, value, of, previous, options)?;
        let preparation = device.get().device.prepare(py, previous.as_ref(), work)?;
        let graph = rest.graph().name().to_owned();
        let (device, rest) = (device.clone().unbind(), Mutex::new(Some(rest)));
        Bound::new(py, Self { device, preparation, graph, rest, ended: OnceLock::new() })
    }

    /// What a run of a graph takes of its preparation: the graph, once that is compiled; or, in a frame that does not
    /// wait for it, the graph as it was declared before. A frame that does not wait begins one if there is none.
    /// `None`: nothing is prepared, and the run compiles.
    pub fn find<'py>(
        device: &Bound<'py, PyDevice>,
        value: &Bound<'py, PyAny>,
        what: Option<&What>,
        (memory, waits): (Budget, bool),
    ) -> PyResult<Option<Bound<'py, PyCompiled>>> {
        let py = device.py();
        let known = what.and_then(|what| device.get().preparing().find(what, value));
        let begins = known.is_none();
        let preparation = match (known, what) {
            (Some(known), _) => known,
            (None, _) if waits => return Ok(None),
            (None, None) => {
                let message = "wait_pipelines=False is given with a graph whose declaration calls functions";
                let help = "prepare it: device.prepare(graph), then run what result() gives";
                return Err(bad(py, Code::BadInput, message, help));
            }
            (None, Some(_)) => {
                let measuring = device.get().measuring;
                let made = Self::begin(device, value, (None, None), None, (&options::of_run(py, memory)?, measuring))?;
                Self::offer(&made, value, (what, memory))?;
                made
            }
        };
        // The frame that begins it never waits, however short it is: what it does depends on no race.
        if waits || !begins && preparation.get().is_done(py)? {
            let ended = Self::ended(&preparation, None);
            if ended.is_ok() || waits && preparation.get().is_done(py)? {
                let taken = device.get().preparing().take(&preparation);
                if let (Some((what, snapshot, taken)), Ok(compiled)) = (taken, &ended) {
                    drop(taken);
                    let forgotten = device.get().compiled().remember(what, compiled.clone().unbind(), snapshot);
                    drop(forgotten);
                }
            }
            return ended.map(Some);
        }
        let earlier = what.map(|what| device.get().compiled().earlier(py, what)).unwrap_or_default();
        let profile = device.get().device.profile();
        let found = {
            let rest = preparation.get().rest();
            let alike = |before: &Bound<'py, PyCompiled>| {
                rest.as_ref().is_some_and(|rest| interface::is_alike(rest.graph(), profile, before.get()))
            };
            earlier.into_iter().find(alike)
        };
        found.map(Some).ok_or_else(|| preparation.get().not_ready(py))
    }

    /// Lets runs of a graph find it, which was `before` when it was read.
    fn offer(
        slf: &Bound<'_, Self>,
        value: &Bound<'_, PyAny>,
        (before, memory): (Option<&What>, Budget),
    ) -> PyResult<()> {
        // Another thread may have declared meanwhile.
        let Some(what) = What::of(value, memory.0)?.filter(|now| Some(now) == before) else { return Ok(()) };
        let snapshot = value.cast::<PyGraph>().ok().and_then(|graph| Snapshot::of(graph.get()));
        let device = slf.get().device.bind(slf.py()).get();
        let forgotten = device.preparing().remember(what, slf.clone().unbind(), snapshot);
        drop(forgotten);
        Ok(())
    }

    fn rest(&self) -> MutexGuard<'_, Option<Rest>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_done(&self, py: Python<'_>) -> PyResult<bool> {
        call(py, |free| Ok(self.preparation.get(free)?.is_done()))
    }

    fn until_done(&self, py: Python<'_>, timeout: Option<Duration>) -> PyResult<bool> {
        outside(py, &self.device.get().numbers)?;
        wait(py, timeout, |free, slice| Ok(self.preparation.get(free)?.wait(Some(slice))))
    }

    /// The compiled graph; waits for it.
    fn ended<'py>(slf: &Bound<'py, Self>, timeout: Option<Duration>) -> PyResult<Bound<'py, PyCompiled>> {
        let (py, this) = (slf.py(), slf.get());
        if !this.until_done(py, timeout)? {
            return Err(this.not_ready(py));
        }
        let finish = || {
            let compiled = this.preparation.make(py, |preparation, _| preparation.take().expect("it is taken once"))?;
            let rest = this.rest().take().expect("it is taken once");
            let device = this.device.bind(py);
            Ok(Bound::new(py, PyCompiled::finish(device, compiled, rest)?)?.unbind())
        };
        match this.ended.get_or_init_py_attached(py, finish) {
            Ok(compiled) => Ok(compiled.bind(py).clone()),
            Err(error) => Err(error.clone_ref(py)),
        }
    }

    fn not_ready(&self, py: Python<'_>) -> PyErr {
        let known = self.preparation.known();
        not_ready(py, &self.graph, (known.pipelines_made(), known.pipelines()))
    }
}

#[pymethods]
impl PyPreparation {
    /// Whether it is over, with a compiled graph or with an error.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        self.is_done(py)
    }

    /// Number of pipelines that the graph needs and the device did not have; 0 until the graph is planned. Pipelines
    /// that callbacks use are unknown until these record.
    #[getter]
    fn pipelines(&self) -> usize {
        self.preparation.known().pipelines()
    }

    /// Number of them made so far.
    #[getter]
    fn pipelines_made(&self) -> usize {
        self.preparation.known().pipelines_made()
    }

    /// The exception of the first pass that failed, with the file and line of its declaration; None while it is under
    /// way, and if nothing failed.
    #[getter]
    fn error<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        if !slf.get().is_done(py)? {
            return Ok(None);
        }
        Ok(Self::ended(slf, None).err().map(|error| error.into_value(py).into_bound(py).into_any()))
    }

    /// Wait until it is over. Ctrl-C ends the wait, not the preparation.
    ///
    /// Parameters
    /// ----------
    /// timeout
    ///     Seconds; default: as long as it takes.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True once it is over, also with an error; False after the timeout.
    #[pyo3(signature = (timeout = None), text_signature = "($self, timeout=None)")]
    fn wait(&self, py: Python<'_>, timeout: Option<Number>) -> PyResult<bool> {
        self.until_done(py, seconds(py, timeout)?)
    }

    /// The compiled graph; waits for it.
    ///
    /// Parameters
    /// ----------
    /// timeout
    ///     Seconds; default: as long as it takes.
    ///
    /// Returns
    /// -------
    /// Compiled
    ///     The same one each time.
    ///
    /// Raises
    /// ------
    /// NotReadyError
    ///     After the timeout.
    /// GraphError
    ///     If anything is wrong with the declaration.
    /// DeviceError
    ///     If the device lacks a feature, fails, or was closed meanwhile.
    #[pyo3(signature = (timeout = None), text_signature = "($self, timeout=None)")]
    fn result<'py>(slf: &Bound<'py, Self>, timeout: Option<Number>) -> PyResult<Bound<'py, PyCompiled>> {
        Self::ended(slf, seconds(slf.py(), timeout)?)
    }

    fn __repr__(&self) -> String {
        let known = self.preparation.known();
        let (made, all) = (known.pipelines_made(), known.pipelines());
        format!("<Preparation \"{}\": {made} of {all} pipelines>", plain(&self.graph))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.device)?;
        if let Some(Ok(compiled)) = self.ended.get() {
            visit.call(compiled)?;
        }
        match self.rest.try_lock() {
            Ok(rest) => rest.iter().try_for_each(|rest| rest.traverse(&visit)),
            // A held lock means that it is in use, so it is no garbage.
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        let rest = self.rest().take();
        drop(rest);
    }
}

#[pymethods]
impl PyDevice {
    /// Compile a graph in the background, its pipelines on all cores: frames go on meanwhile.
    ///
    /// `run` of the graph then finds it compiled, or waits for the rest; with `wait_pipelines=False` it does not wait.
    /// Other graphs find the pipelines that they share. Closing the device gives up what is under way.
    ///
    /// Parameters
    /// ----------
    /// graph, of, policy, split_barriers, effort, memory, max_batches, weights, measure, sample, previous
    ///     See `compile`. A graph compiled with other options than those of `run` is only available from
    ///     `Preparation.result`.
    ///
    /// Returns
    /// -------
    /// Preparation
    ///     Reports its progress, and can be waited for.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the declaration cannot be read. Other errors are in `Preparation.error`.
    /// DeviceError
    ///     If the device is closed or lost, or `previous` is of another device.
    #[pyo3(signature = (graph, *, of = None, policy = Text("auto"), split_barriers = Text("never"), effort = None,
                        memory = Budget::default(), max_batches = MaxBatches::default(), weights = None, measure = None,
                        sample = None, previous = None, **unknown),
           text_signature = "($self, graph, *, of=None, policy='auto', split_barriers='never', effort=None, \
                             memory='balanced', max_batches=256, weights=None, measure=None, sample=None, previous=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn prepare<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        of: Option<&Bound<'py, PyGraph>>,
        policy: Text<'_>,
        split_barriers: Text<'_>,
        effort: Option<Count>,
        memory: Budget,
        max_batches: MaxBatches,
        weights: Option<&Bound<'py, PyAny>>,
        measure: Option<Text<'_>>,
        sample: Option<Count>,
        previous: Option<&Bound<'py, PyCompiled>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPreparation>> {
        keywords::refuse_in(slf.as_any(), "prepare", unknown)?;
        let py = slf.py();
        let asked = options::options(py, policy, split_barriers, false, effort, (memory, max_batches))?;
        let measuring = slf.get().measuring.or_else(py, measure, sample)?;
        let key = |options| Key::new(0, slf.get().device.profile(), options);
        let usual = key(&asked) == key(&options::of_run(py, memory)?)
            && measuring == slf.get().measuring
            && of.is_none()
            && weights.is_none()
            && previous.is_none();
        let what = What::of(graph, memory.0)?;
        let made = PyPreparation::begin(slf, graph, (of, weights), previous, (&asked, measuring))?;
        if usual {
            PyPreparation::offer(&made, graph, (what.as_ref(), memory))?;
        }
        Ok(made)
    }
}
