//! `rgraph.Device`: a GPU (or a CPU that plays one), and the graphs that it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyInt, PyList, PyTuple};
use rgraph_plan::error::Code;
use rgraph_vk::{Device, DeviceError, DeviceInfo, DeviceOptions};

use crate::arguments::convert::{Count, Text};
use crate::arguments::file_path::FilePath;
use crate::arguments::keywords;
use crate::arguments::options;
use crate::arguments::options::{Budget, MaxBatches, Measuring};
use crate::classes::compiled::PyCompiled;
use crate::classes::graph::PyGraph;
use crate::classes::preparation::PyPreparation;
use crate::classes::profile::PyProfile;
use crate::run::detached::{Detached, call};
use crate::run::error::bad;
use crate::run::follow::Follow;
use crate::run::record::record;
use crate::run::remembered::{Remembered, Snapshot, What};
use crate::run::runtime_errors::raised;

/// A device that runs graphs.
///
/// Opening one loads Vulkan; declaring and baking do not. Use it in a `with` block, or `close` it. It can be used from
/// several threads, and a process can have several; a forked process cannot use it.
///
/// Parameters
/// ----------
/// device
///     `"uuid:…"`, `"pci:…"`, `"name:…"` or an index; default: the environment's `RGRAPH_DEVICE`, else the first one,
///     real GPUs before CPU ones.
/// loader
///     Path of the Vulkan loader, or of a driver itself; default: the system's.
/// validate
///     Whether the Khronos validation layer is enabled; default: the environment's `RGRAPH_VALIDATE`.
/// printf
///     Whether `debugPrintfEXT` of shaders prints to logger `rgraph.printf`, level `INFO`; needs the validation layer.
///     Default: the environment's `RGRAPH_PRINTF`.
/// frames_in_flight
///     Frames in flight at once, 1 to 8.
/// cache
///     A file that keeps compiled pipelines between processes; default: none. A damaged file, or one of another driver,
///     is ignored with a message.
/// queues
///     Maximum number of queues of each kind.
/// measure
///     Default of `measure` for runs: see `run`. A `Compiled` can have a default of its own.
/// sample
///     Measure one run of a graph in `sample`, starting with its first; default: every run.
/// windows
///     Whether `window` can be used: enables surfaces and swapchains.
/// rays
///     Whether acceleration structures, ray queries and ray-tracing pipelines are enabled; default: if the driver
///     has them. `False` opens the first device of a process about 200 ms sooner with NVIDIA's driver; passes that need
///     them are then refused (RG-E227).
/// costs
///     A `Profile`, or the path of a file, with the costs of barriers, submits, waits and copies on this device, as
///     `rgraph doctor --measure` writes it; its other fields are ignored. Default: the costs of a typical discrete GPU.
///
/// Raises
/// ------
/// DeviceError
///     If there is no driver, or no suitable device: the message lists the devices found.
///     RG-E102 if `rays` is true and the device has none.
#[pyclass(name = "Device", module = "rgraph", frozen, weakref)]
pub struct PyDevice {
    pub device: Detached<Device>,
    /// Its number among the devices of this process.
    pub number: u64,
    /// The number, for functions of its graphs.
    pub numbers: Arc<[u64]>,
    /// Default of `measure` and `sample` for runs.
    pub measuring: Measuring,
    /// The view that follows its runs.
    pub follow: Follow,
    compiled: Mutex<Remembered<PyCompiled>>,
    preparing: Mutex<Remembered<PyPreparation>>,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl PyDevice {
    /// The Python object of a device.
    pub fn around(device: Detached<Device>, measuring: Measuring) -> Self {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let numbers = Arc::from([number]);
        let (follow, compiled, preparing) = (Follow::default(), Mutex::default(), Mutex::default());
        Self { device, number, numbers, measuring, follow, compiled, preparing }
    }

    /// What `run` compiled.
    pub fn compiled(&self) -> MutexGuard<'_, Remembered<PyCompiled>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is compiled in the background for `run`.
    pub fn preparing(&self) -> MutexGuard<'_, Remembered<PyPreparation>> {
        self.preparing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of what `run` compiled.
    pub fn forget(&self) {
        let forgotten = (std::mem::take(&mut *self.compiled()), std::mem::take(&mut *self.preparing()));
        drop(forgotten);
    }

    /// The compiled form of what `run` is given, that of before if it did not change; and the graph whose arrays it
    /// reads.
    pub fn remembered<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        memory: Option<Budget>,
        wait_pipelines: bool,
    ) -> PyResult<ToRun<'py>> {
        let py = slf.py();
        let origin_of = |compiled: &Bound<'py, PyCompiled>| match graph.cast::<PyGraph>() {
            Ok(graph) => Some(graph.clone()),
            Err(_) => compiled.get().origin.as_ref().map(|origin| origin.bind(py).clone()),
        };
        if memory.is_some() && graph.cast::<PyGraph>().is_err() {
            return Err(PyTypeError::new_err("memory= is for graphs: give it to bake or compile instead"));
        }
        let memory = memory.unwrap_or_default();
        if let Ok(compiled) = graph.cast::<PyCompiled>() {
            if !compiled.get().device.is(slf) {
                let message = format!("\"{}\" was compiled for another device", compiled.get().load.graph.name());
                let error = DeviceError::new(Code::Foreign, message, "compile it on the device that runs it");
                return Err(raised(py, error.into()));
            }
            return Ok((compiled.clone(), origin_of(compiled)));
        }
        let what = What::of(graph, memory.0)?;
        if let Some(known) = what.as_ref().and_then(|what| slf.get().compiled().find(what, graph)) {
            let origin = origin_of(&known);
            return Ok((known, origin));
        }
        if let Some(prepared) = PyPreparation::find(slf, graph, what.as_ref(), (memory, wait_pipelines))? {
            let origin = origin_of(&prepared);
            return Ok((prepared, origin));
        }
        let snapshot = graph.cast::<PyGraph>().ok().and_then(|graph| Snapshot::of(graph.get()));
        let options = options::of_run(py, memory)?;
        let compiled = PyCompiled::of_any(slf, graph, (&options, slf.get().measuring))?;
        // Another thread may have declared meanwhile.
        if let Some(what) = what.filter(|what| What::of(graph, memory.0).is_ok_and(|now| now.as_ref() == Some(what))) {
            let forgotten = slf.get().compiled().remember(what, compiled.clone().unbind(), snapshot);
            drop(forgotten);
        }
        let origin = origin_of(&compiled);
        Ok((compiled, origin))
    }
}

/// A compiled graph, and the graph whose arrays it reads.
type ToRun<'py> = (Bound<'py, PyCompiled>, Option<Bound<'py, PyGraph>>);

/// A device's description as a record.
pub(crate) fn info<'py>(py: Python<'py>, info: &DeviceInfo) -> PyResult<Bound<'py, PyAny>> {
    let missing: Vec<_> = info.needs.iter().filter(|(_, has)| !has).map(|(name, _)| *name).collect();
    let [major, minor, patch] = info.api;
    let heaps: Vec<_> = info.heaps.iter().map(|heap| (heap.size, heap.device_local)).collect();
    let fields = (
        info.index,
        &info.name,
        info.kind.name(),
        info.uuid_text(),
        info.pci.as_deref(),
        &info.driver,
        (major, minor, patch),
        PyTuple::new(py, missing)?,
        PyTuple::new(py, heaps)?,
        info.driver_uuid_text(),
    );
    record!(py, "DeviceInfo", fields)
}

/// The devices that exist, usable or not.
///
/// Parameters
/// ----------
/// loader
///     Path of the Vulkan loader, or of a driver itself; default: the system's.
///
/// Returns
/// -------
/// list of DeviceInfo
///     GPUs before CPU implementations; `missing` is the reason why a device cannot be used.
///
/// Raises
/// ------
/// DeviceError
///     If there is no loader or no driver.
#[pyfunction]
#[pyo3(signature = (*, loader = None, **unknown), text_signature = "(*, loader=None)")]
pub(crate) fn devices<'py>(
    py: Python<'py>,
    loader: Option<FilePath>,
    unknown: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    keywords::refuse_function("devices", unknown)?;
    let options = DeviceOptions { loader: loader.map(|path| path.0), ..DeviceOptions::default() };
    let found = call(py, |_| rgraph_vk::devices(&options))?;
    PyList::new(py, found.iter().map(|device| info(py, device)).collect::<PyResult<Vec<_>>>()?)
}

/// The value of `frames_in_flight=`.
pub(crate) fn in_flight(py: Python<'_>, Count(frames): Count) -> PyResult<u32> {
    if (1..=8).contains(&frames) {
        return Ok(frames);
    }
    let message = format!("{frames} frames in flight");
    Err(bad(py, Code::BadNumber, message, "two or three are usual, and 1 to 8 possible"))
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (device = None, *, loader = None, validate = None, printf = None, frames_in_flight = Count(2), cache = None,
                        queues = Count(1), measure = None, sample = None, windows = false, rays = None, costs = None, **unknown),
           text_signature = "(device=None, *, loader=None, validate=None, printf=None, frames_in_flight=2, cache=None, queues=1, \
                             measure='off', sample=1, windows=False, rays=None, costs=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn new(
        py: Python<'_>,
        device: Option<&Bound<'_, PyAny>>,
        loader: Option<FilePath>,
        validate: Option<bool>,
        printf: Option<bool>,
        frames_in_flight: Count,
        cache: Option<FilePath>,
        queues: Count,
        measure: Option<Text<'_>>,
        sample: Option<Count>,
        windows: bool,
        rays: Option<bool>,
        costs: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        keywords::refuse(py.get_type::<Self>().as_any(), "Device", unknown)?;
        let measuring = Measuring::default().or_else(py, measure, sample)?;
        let device = match device {
            None => None,
            Some(device) => match device.extract::<Count>() {
                Ok(Count(index)) => Some(index.to_string()),
                Err(error) if device.is_instance_of::<PyInt>() => return Err(error),
                Err(_) => Some(device.extract::<Text>()?.0.to_owned()),
            },
        };
        let frames_in_flight = in_flight(py, frames_in_flight)?;
        if queues.0 == 0 {
            return Err(bad(
                py,
                Code::BadNumber,
                "0 queues of each kind",
                "give queues=1, or more for several of a kind",
            ));
        }
        let options = DeviceOptions {
            device,
            loader: loader.map(|path| path.0),
            validation: validate,
            printf,
            frames_in_flight,
            cache: cache.map(|path| path.0),
            queues: queues.0,
            windows,
            rays,
            costs: costs.map(|costs| options::profile(py, Some(costs))).transpose()?,
            ..DeviceOptions::default()
        };
        Ok(Self::around(Detached::open(py, || Device::new(&options))?, measuring))
    }

    /// Name, kind, UUID, driver.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        info(py, self.device.info())
    }

    /// The device as the planner sees it, for `Graph.bake`.
    #[getter]
    fn profile(&self) -> PyProfile {
        PyProfile(self.device.profile().clone())
    }

    /// Warnings and errors of the driver and of the validation layer so far; they also go to logger `rgraph`.
    #[getter]
    fn messages(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        call(py, |free| Ok(self.device.get(free)?.messages()))
    }

    /// A table of what it is, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rgraph._reprs")?.call_method1("device", (slf,))
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.device.is_closed()
    }

    /// Allocated memory, its part in use, and its owners, in bytes.
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let memory = call(py, |free| Ok(self.device.get(free)?.memory()))?;
        crate::classes::report::memory(py, &memory)
    }

    /// Compile a graph: bake it for this device, and make pipelines and memory.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     A `Graph`, or a `Plan` of one.
    /// of
    ///     The graph of a plan that was read from a file.
    /// policy, split_barriers, effort, memory, max_batches
    ///     See `Graph.bake`; only for a `Graph`.
    /// weights
    ///     See `Graph.bake`; for a `Graph`, and for a plan whose graph `of` was baked with them.
    /// measure, sample
    ///     Default of `measure` and `sample` for its runs: which GPU times they measure, and one run in how many;
    ///     without them, the device's.
    /// previous
    ///     The `Compiled` that this one replaces. Persistent resources and histories of the same name and shape keep
    ///     their memory and contents; one whose size, format or depth of history changed is reset, and the report has a
    ///     note about it. The first run follows the last one of `previous`, which refuses to run from then on; its
    ///     frames stay valid.
    ///
    /// Returns
    /// -------
    /// Compiled
    ///     Can be run any number of times.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If anything is wrong with the declaration.
    /// DeviceError
    ///     If the device lacks a feature, or `previous` is of another device.
    /// BusyError
    ///     If `previous` was replaced before.
    #[pyo3(signature = (graph, *, of = None, policy = Text("auto"), split_barriers = Text("never"), effort = None,
                        memory = Budget::default(), max_batches = MaxBatches::default(), weights = None, measure = None,
                        sample = None, previous = None, **unknown),
           text_signature = "($self, graph, *, of=None, policy='auto', split_barriers='never', effort=None, \
                             memory='balanced', max_batches=256, weights=None, measure=None, sample=None, previous=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn compile<'py>(
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
    ) -> PyResult<Bound<'py, PyCompiled>> {
        keywords::refuse_in(slf.as_any(), "compile", unknown)?;
        let options = options::options(slf.py(), policy, split_barriers, false, effort, (memory, max_batches))?;
        let measuring = slf.get().measuring.or_else(slf.py(), measure, sample)?;
        PyCompiled::compile(slf, graph, (of, weights), previous, (&options, measuring))
    }

    fn __repr__(&self) -> String {
        let info = self.device.info();
        let closed = if self.device.is_closed() { ", closed" } else { "" };
        format!("<Device \"{}\" ({}{closed})>", info.name, info.kind.name())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A held lock means that the device is in use, so it is no garbage.
        let Ok(compiled) = self.compiled.try_lock() else { return Ok(()) };
        compiled.compiled().try_for_each(|compiled| visit.call(compiled))?;
        let Ok(preparing) = self.preparing.try_lock() else { return Ok(()) };
        preparing.compiled().try_for_each(|preparation| visit.call(preparation))?;
        self.follow.traverse(&visit)
    }

    fn __clear__(&self) {
        self.forget();
        self.follow.set(None);
    }
}
