//! `rgraph.Device`: a GPU (or a CPU that plays one), and the graphs that it runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyInt, PyList, PyTuple};
use rgraph_plan::error::Code;
use rgraph_vk::{ChaosOptions, Device, DeviceError, DeviceInfo, DeviceOptions};

use crate::arguments::adapt;
use crate::arguments::convert::{Bytes, Count, Text};
use crate::arguments::keywords;
use crate::arguments::options;
use crate::arguments::options::{Budget, MaxBatches, Measuring};
use crate::arguments::reads;
use crate::classes::compiled::PyCompiled;
use crate::classes::frame::PyFrame;
use crate::classes::graph::PyGraph;
use crate::classes::profile::PyProfile;
use crate::run::call::Arguments;
use crate::run::detached::{Detached, call};
use crate::run::error::bad;
use crate::run::follow::Follow;
use crate::run::inputs;
use crate::run::record::record;
use crate::run::remembered::{Remembered, Snapshot, What};
use crate::run::runtime_errors::raised;

/// A device that runs graphs.
///
/// Opening one loads Vulkan; nothing else here does. Use it in a `with` block, or `close` it. It may be used from
/// several threads, and there may be several; it belongs to the process that opened it.
///
/// Parameters
/// ----------
/// device
///     `"uuid:…"`, `"pci:…"`, `"name:…"` or an index; default: the environment's `RGRAPH_DEVICE`, else the first one,
///     real GPUs before CPU ones.
/// loader
///     Path of the Vulkan loader, or of a driver itself; default: the system's.
/// validate
///     Whether the Khronos validation layer watches; default: the environment's `RGRAPH_VALIDATE`.
/// printf
///     Whether `debugPrintfEXT` of shaders prints to logger `rgraph.printf`, level `INFO`; it needs that layer. Default: the
///     environment's `RGRAPH_PRINTF`.
/// frames_in_flight
///     Frames that may be under way at once, 1 to 8.
/// cache
///     A file that keeps compiled pipelines from run to run; default: none. One that is damaged or another driver's is
///     ignored, with a message.
/// queues
///     Most queues of each kind that are used.
/// measure
///     Which GPU times runs measure that do not say it themselves, and do not belong to a `Compiled` that says it: see
///     `run`.
/// sample
///     Measure one run of a graph in so many, counted from its first; default: each.
/// windows
///     Whether `window` is used: the driver is then asked for surfaces and swapchains.
/// costs
///     A `Profile`, or the path of a file, that says what barriers, submits, waits and copies cost on this device, as
///     `rgraph doctor --measure` writes it; nothing else of it counts. Default: the costs of a usual discrete GPU.
///
/// Raises
/// ------
/// DeviceError
///     If there is no driver, or no device that fits: the message lists what there is.
#[pyclass(name = "Device", module = "rgraph", frozen, weakref)]
pub struct PyDevice {
    /// The device.
    pub device: Detached<Device>,
    /// What tells it from other devices of this process.
    pub number: u64,
    /// The number, for functions of its graphs.
    pub numbers: Arc<[u64]>,
    /// What runs measure that do not say it themselves.
    pub measuring: Measuring,
    /// The view that follows its runs.
    pub follow: Follow,
    compiled: Mutex<Remembered<PyCompiled>>,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl PyDevice {
    /// The Python object of a device.
    pub fn around(device: Detached<Device>, measuring: Measuring) -> Self {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let numbers = Arc::from([number]);
        Self { device, number, numbers, measuring, follow: Follow::default(), compiled: Mutex::default() }
    }

    fn compiled(&self) -> MutexGuard<'_, Remembered<PyCompiled>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of what `run` compiled.
    pub fn forget(&self) {
        let forgotten = std::mem::take(&mut *self.compiled());
        drop(forgotten);
    }

    /// The compiled form of what `run` is given, that of before if it did not change; and the graph whose arrays it reads.
    fn remembered<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        memory: Option<Budget>,
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
        let snapshot = graph.cast::<PyGraph>().ok().and_then(|graph| Snapshot::of(graph.get()));
        let options = options::options(py, Text("auto"), Text("never"), false, None, (memory, MaxBatches::default()))?;
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
pub fn info<'py>(py: Python<'py>, info: &DeviceInfo) -> PyResult<Bound<'py, PyAny>> {
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
///     Real GPUs before CPU ones; `missing` says what keeps one from being used.
///
/// Raises
/// ------
/// DeviceError
///     If there is no loader or no driver.
#[pyfunction]
#[pyo3(signature = (*, loader = None, **unknown), text_signature = "(*, loader=None)")]
pub fn devices<'py>(
    py: Python<'py>,
    loader: Option<PathBuf>,
    unknown: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    keywords::refuse_function("devices", unknown)?;
    let options = DeviceOptions { loader, ..DeviceOptions::default() };
    let found = call(py, |_| rgraph_vk::devices(&options))?;
    PyList::new(py, found.iter().map(|device| info(py, device)).collect::<PyResult<Vec<_>>>()?)
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (device = None, *, loader = None, validate = None, printf = None, frames_in_flight = Count(2), cache = None,
                        queues = Count(1), measure = None, sample = None, windows = false, costs = None, **unknown),
           text_signature = "(device=None, *, loader=None, validate=None, printf=None, frames_in_flight=2, cache=None, queues=1, \
                             measure='off', sample=1, windows=False, costs=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn new(
        py: Python<'_>,
        device: Option<&Bound<'_, PyAny>>,
        loader: Option<PathBuf>,
        validate: Option<bool>,
        printf: Option<bool>,
        frames_in_flight: Count,
        cache: Option<PathBuf>,
        queues: Count,
        measure: Option<Text<'_>>,
        sample: Option<Count>,
        windows: bool,
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
        let frames_in_flight = frames_in_flight.0;
        if !(1..=8).contains(&frames_in_flight) {
            let message = format!("{frames_in_flight} frames in flight");
            return Err(bad(py, Code::BadNumber, message, "two or three are usual, and 1 to 8 possible"));
        }
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
            loader,
            validation: validate,
            printf,
            frames_in_flight,
            cache,
            queues: queues.0,
            windows,
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

    /// The device as the planner sees it: give it to `Graph.bake`.
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

    /// Memory held, its live part, and its owners.
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
    ///     See `Graph.bake`; for graphs.
    /// weights
    ///     See `Graph.bake`; for graphs, and for a plan `of=` a graph that was baked with them.
    /// measure, sample
    ///     Which GPU times its runs measure that do not say it, and one run in how many; default: as of the device.
    /// previous
    ///     The `Compiled` that this one comes after. Persistent resources and histories of the same name and shape keep
    ///     their memory and contents; what changed its size, format or depth of history begins anew, and a note of the
    ///     report says so. The first run goes on behind the last one of `previous`, which is refused from then on; its
    ///     frames stay valid.
    ///
    /// Returns
    /// -------
    /// Compiled
    ///     To be run as often as wanted.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If anything is wrong with the declaration.
    /// DeviceError
    ///     If the device lacks a feature, or `previous` is of another device.
    /// BusyError
    ///     If another graph came after `previous` before.
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

    /// Run a frame.
    ///
    /// What did not change since the last run is not compiled again, also if it was declared anew: a graph that calls no
    /// functions and keeps nothing from frame to frame is recognised by its declaration and work. The call returns when the frame is submitted;
    /// reading results waits for it.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     A `Graph`, a `Plan` of one, or what `compile` gave.
    /// inputs
    ///     Arrays for imported resources by name, in place of those of `import_array`; or a `DeviceResource`. For this run
    ///     only, as flags and parameters are; arrays of `import_array` are read again at each run.
    /// into
    ///     Arrays that roots are read back into, by name; the call then waits for the frame.
    /// flags
    ///     Conditional passes to run or skip, by flag; default: run.
    /// params
    ///     New push data by pass: {"compose": {"strength": 0.5}}; and of uniform blocks that were given as data by
    ///     (pass, variable): {("blur", "params"): {…}}. `"clear"`, `"load"`, `"clear_depth"`, `"load_depth"` and
    ///     `"viewport"` in the place of a variable are those arguments of `Module.raster`, for this run:
    ///     {("sky", "clear"): (0, 0, 1, 1)}. A pass that loads may clear, but not the other way round.
    /// read
    ///     The roots that are read back; default: all.
    /// statistics
    ///     If true, the report counts vertices, primitives and invocations.
    /// measure
    ///     Which GPU times the report has. `"off"`: none, and the frame pays for none. `"frame"`: two timestamps per
    ///     batch; each pass gets its share of its batch's time. `"batches"`: timestamps stand at barrier calls, so that
    ///     passes between two of them go on overlapping; each gets its share of their time. `"passes"`: timestamps stand
    ///     around each pass, which keeps passes from overlapping: the frame may take several times as long. Default: as of
    ///     the `Compiled`, else of the device, which measures nothing unless told to.
    /// chaos
    ///     A seed: before the frame, the graph is run in other permitted ways, and an error says what makes a difference;
    ///     see `chaos`.
    /// memory
    ///     See `Graph.bake`; for graphs, since plans and what was compiled have theirs. Default: `"balanced"`.
    /// adapt
    ///     Look for faster plans while frames run. One frame in a few is measured; with these times other orders, and queues
    ///     of passes with `queue="any"`, are searched by a thread. Each plan found is tried for some frames, and stays
    ///     only if they are shorter beyond the noise; all compute the same. `"queues"`: passes may leave queues that they
    ///     name, too. An `rgraph.Adapt` says more. `trials` tells what came of it. Once asked for, later runs without it
    ///     run the plan that is kept, and try nothing.
    /// wait
    ///     Semaphores that the run waits for: `(semaphore, value)` or `(semaphore, value, third)`. A semaphore is a
    ///     `Semaphore`, a `BinarySemaphore` or a Vulkan handle; the value of a binary one is `None`. With an imported
    ///     resource only passes that use it, and what follows them, wait. With usages or stages (`"sampled"`,
    ///     `["vertex", "fragment"]`) only these stages of the run wait.
    /// signal
    ///     Semaphores that the run signals when all its passes are done: `(semaphore, value)`. With an imported resource
    ///     that is declared so (`signal=True`), behind its last use.
    /// fence
    ///     A `Fence`, or a `VkFence` as an integer, unsignalled: the run signals it when all of it is done, read-backs
    ///     included.
    ///
    /// Returns
    /// -------
    /// Frame
    ///     With the roots' contents by name, and a report.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the declaration is wrong, or an array does not fit: the message has the expected shape.
    /// DeviceError
    ///     If the device fails.
    #[pyo3(signature = (graph, *, inputs = None, into = None, flags = None, params = None, read = None,
                        statistics = false, measure = None, chaos = None, memory = None, wait = None,
                        signal = None, fence = None, adapt = None, **unknown),
           text_signature = "($self, graph, *, inputs=None, into=None, flags=None, params=None, read=None, \
                             statistics=False, measure=None, chaos=None, memory=None, wait=None, signal=None, \
                             fence=None, adapt=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        inputs: Option<&Bound<'py, PyDict>>,
        into: Option<&Bound<'py, PyDict>>,
        flags: Option<&Bound<'py, PyDict>>,
        params: Option<&Bound<'py, PyDict>>,
        read: Option<&Bound<'py, PyAny>>,
        statistics: bool,
        measure: Option<Text<'_>>,
        chaos: Option<Bytes>,
        memory: Option<Budget>,
        wait: Option<&Bound<'py, PyAny>>,
        signal: Option<&Bound<'py, PyAny>>,
        fence: Option<&Bound<'py, PyAny>>,
        adapt: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyFrame>> {
        keywords::refuse_in(slf.as_any(), "run", unknown)?;
        let seen = read.map(|read| reads::with_roots(graph, read)).transpose()?.flatten();
        let (compiled, origin) = Self::remembered(slf, seen.as_ref().map_or(graph, |seen| seen.as_any()), memory)?;
        let chaos = chaos.map(|Bytes(seed)| seed);
        let arguments =
            Arguments { inputs, into, flags, params, read, statistics, measure, chaos, wait, signal, fence, adapt };
        inputs::run(&compiled, origin.as_ref(), &arguments)
    }

    /// What came of `adapt=` for a graph: the plans that were tried, each with what was changed, what was predicted and
    /// measured, and why it was kept or not; measured times of the passes; and the plan that is kept.
    ///
    /// Parameters
    /// ----------
    /// graph, memory
    ///     See `run`.
    ///
    /// Returns
    /// -------
    /// Trials
    ///     A table when it is printed.
    #[pyo3(signature = (graph, *, memory = None, **unknown), text_signature = "($self, graph, *, memory=None)")]
    fn trials<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        memory: Option<Budget>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("trials", unknown)?;
        adapt::trials(&Self::remembered(slf, graph, memory)?.0)
    }

    /// Run a graph in many ways that its declaration permits, and compare what they leave, bit for bit.
    ///
    /// The reference is the declared order on one queue, with nothing culled, merged or aliased. Other orders, queues,
    /// stages of the planner, and other garbage where nothing was written must make no difference; where they do,
    /// something was not declared, and further runs find the pass and the resource. Each run begins anew: persistent
    /// resources and histories as in a first frame, resources of the device as copies. Functions of passes are called
    /// in each. Roots and imported resources that are written are compared, mip 0 of each. Sums of floats by
    /// `unordered` accesses are equal only if the order of additions makes no difference.
    ///
    /// Parameters
    /// ----------
    /// graph, inputs, flags, params
    ///     See `run`.
    /// seed
    ///     The first seed: equal seeds try the same.
    /// seeds
    ///     How many, from 1; they end with the first that finds something.
    /// frames
    ///     Frames of each run, from 1; default: one, or enough to see what frames hand on to each other.
    ///
    /// Returns
    /// -------
    /// ChaosReport
    ///     Trials and findings.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the declaration is wrong, or an array does not fit; RG-E213 for 0 seeds or frames.
    /// DeviceError
    ///     If the device fails.
    #[pyo3(signature = (graph, *, seed = Bytes(1), seeds = Count(1), frames = None, inputs = None, flags = None,
                        params = None, **unknown),
           text_signature = "($self, graph, *, seed=1, seeds=1, frames=None, inputs=None, flags=None, params=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn chaos<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        seed: Bytes,
        seeds: Count,
        frames: Option<Count>,
        inputs: Option<&Bound<'py, PyDict>>,
        flags: Option<&Bound<'py, PyDict>>,
        params: Option<&Bound<'py, PyDict>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("chaos", unknown)?;
        let (compiled, origin) = Self::remembered(slf, graph, None)?;
        let options = ChaosOptions {
            seed: seed.0,
            seeds: seeds.0.into(),
            frames: frames.map(|Count(frames)| frames as usize),
            ..ChaosOptions::default()
        };
        let arguments = Arguments { inputs, flags, params, ..Arguments::default() };
        let report = inputs::chaos(&compiled, origin.as_ref(), &arguments, options)?;
        crate::classes::report::chaos(slf.py(), &report)
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
        self.follow.traverse(&visit)
    }

    fn __clear__(&self) {
        self.forget();
        self.follow.set(None);
    }
}
