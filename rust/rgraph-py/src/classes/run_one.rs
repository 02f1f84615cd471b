//! Runs of a graph on one device: `Compiled.run`, `Device.run`, `Device.trials`, `Device.chaos`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_vk::ChaosOptions;

use crate::arguments::adapt;
use crate::arguments::convert::{Bytes, Count, Text};
use crate::arguments::keywords;
use crate::arguments::mapped::Mapped;
use crate::arguments::options::Budget;
use crate::arguments::reads;
use crate::classes::compiled::PyCompiled;
use crate::classes::device::PyDevice;
use crate::classes::frame::PyFrame;
use crate::classes::report;
use crate::run::call::Arguments;
use crate::run::inputs;

#[pymethods]
impl PyCompiled {
    /// Run a frame.
    ///
    /// Parameters
    /// ----------
    /// inputs, into, flags, params, read, statistics, measure, chaos, adapt
    ///     See `Device.run`.
    /// wait
    ///     Semaphores that the run waits for: `(semaphore, value)` or `(semaphore, value, third)`. A semaphore is a
    ///     `Semaphore`, a `BinarySemaphore` or a Vulkan handle; the value of a binary one is `None`. With an imported
    ///     resource only passes that use it, and what follows them, wait. With usages or stages (`"sampled"`,
    ///     `["vertex", "fragment"]`) only these stages of the run wait.
    /// signal
    ///     Semaphores that the run signals when all its passes are done: `(semaphore, value)`. With an imported
    ///     resource that is declared so (`signal=True`), behind its last use.
    /// fence
    ///     A `Fence`, or a `VkFence` as an integer, unsignalled: the run signals it when all of it is done, read-backs
    ///     included.
    ///
    /// Returns
    /// -------
    /// Frame
    ///     With the roots' contents by name, and a report.
    #[pyo3(signature = (*, inputs = None, into = None, flags = None, params = None, read = None, statistics = false,
                        measure = None, chaos = None, wait = None,
                        signal = None, fence = None, adapt = None, **unknown),
           text_signature = "($self, *, inputs=None, into=None, flags=None, params=None, read=None, statistics=False, \
                             measure=None, chaos=None, wait=None, signal=None, fence=None, adapt=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        inputs: Option<Mapped<'py>>,
        into: Option<Mapped<'py>>,
        flags: Option<Mapped<'py>>,
        params: Option<Mapped<'py>>,
        read: Option<&Bound<'py, PyAny>>,
        statistics: bool,
        measure: Option<Text<'_>>,
        chaos: Option<Bytes>,
        wait: Option<&Bound<'py, PyAny>>,
        signal: Option<&Bound<'py, PyAny>>,
        fence: Option<&Bound<'py, PyAny>>,
        adapt: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyFrame>> {
        keywords::refuse_in(slf.as_any(), "run", unknown)?;
        let (inputs, into, flags, params) = (inputs.as_deref(), into.as_deref(), flags.as_deref(), params.as_deref());
        let chaos = chaos.map(|Bytes(seed)| seed);
        let origin = slf.get().origin.as_ref().map(|origin| origin.bind(slf.py()));
        inputs::run(
            slf,
            origin,
            &Arguments { inputs, into, flags, params, read, statistics, measure, chaos, wait, signal, fence, adapt },
        )
    }
}

#[pymethods]
impl PyDevice {
    /// Run a frame.
    ///
    /// A graph that did not change since its last run is not compiled again. An equal graph that is declared again is
    /// recognised by its declaration and work, if it calls no functions and keeps nothing from frame to frame. The call
    /// returns when the frame is submitted, after the functions of its CPU passes; reading results waits for it.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     A `Graph`, a `Plan` of one, or what `compile` gave.
    /// inputs
    ///     Arrays for imported resources by name, in place of those of `import_array`; or a `DeviceResource`. For this
    ///     run only, as flags and parameters are; arrays of `import_array` are read again at each run.
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
    ///     batch; each pass gets its share of its batch's time. `"batches"`: timestamps are written at barrier calls,
    ///     so that passes between two of them still overlap; each gets its share of their time. `"passes"`: timestamps
    ///     are written around each pass, which keeps passes from overlapping: the frame may take several times as long.
    ///     Default: as of the `Compiled`, else of the device, whose default is `"off"`.
    /// chaos
    ///     A seed: before the frame, the graph runs in other permitted ways, and an error names the pass and the
    ///     resource that make a difference; see `chaos`.
    /// memory
    ///     See `Graph.bake`; for graphs only; plans and compiled graphs have their own. Default: `"balanced"`.
    /// adapt
    ///     Look for faster plans while frames run. One frame in a few is measured; with these times other orders, and
    ///     queues of passes with `queue="any"`, are searched by a thread. Each plan found is tried for some frames, and
    ///     stays only if they are shorter beyond the noise; all compute the same. `"queues"`: passes may leave queues
    ///     that they name, too. An `rgraph.Adapt` has further options. `trials` lists the results. Later runs without
    ///     `adapt` use the plan that was kept and try nothing.
    /// wait
    ///     Semaphores that the run waits for: `(semaphore, value)` or `(semaphore, value, third)`. A semaphore is a
    ///     `Semaphore`, a `BinarySemaphore` or a Vulkan handle; the value of a binary one is `None`. With an imported
    ///     resource only passes that use it, and what follows them, wait. With usages or stages (`"sampled"`,
    ///     `["vertex", "fragment"]`) only these stages of the run wait.
    /// signal
    ///     Semaphores that the run signals when all its passes are done: `(semaphore, value)`. With an imported
    ///     resource that is declared so (`signal=True`), behind its last use.
    /// fence
    ///     A `Fence`, or a `VkFence` as an integer, unsignalled: the run signals it when all of it is done, read-backs
    ///     included.
    /// wait_pipelines
    ///     If false, the call never compiles: a graph that is not ready is prepared in the background (see `prepare`).
    ///     Until it is, frames run the graph as it was declared before, if that has the same inputs, results and flags,
    ///     otherwise the call raises. The first frame that needs a pipeline of a callback makes it.
    ///
    /// Returns
    /// -------
    /// Frame
    ///     With the roots' contents by name, and a report.
    ///
    /// Raises
    /// ------
    /// NotReadyError
    ///     With `wait_pipelines=False`, until the graph is compiled.
    /// GraphError
    ///     If the declaration is wrong, or an array does not fit: the message has the expected shape.
    /// DeviceError
    ///     If the device fails.
    #[pyo3(signature = (graph, *, inputs = None, into = None, flags = None, params = None, read = None,
                        statistics = false, measure = None, chaos = None, memory = None, wait = None,
                        signal = None, fence = None, adapt = None, wait_pipelines = true, **unknown),
           text_signature = "($self, graph, *, inputs=None, into=None, flags=None, params=None, read=None, \
                             statistics=False, measure=None, chaos=None, memory=None, wait=None, signal=None, \
                             fence=None, adapt=None, wait_pipelines=True)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        inputs: Option<Mapped<'py>>,
        into: Option<Mapped<'py>>,
        flags: Option<Mapped<'py>>,
        params: Option<Mapped<'py>>,
        read: Option<&Bound<'py, PyAny>>,
        statistics: bool,
        measure: Option<Text<'_>>,
        chaos: Option<Bytes>,
        memory: Option<Budget>,
        wait: Option<&Bound<'py, PyAny>>,
        signal: Option<&Bound<'py, PyAny>>,
        fence: Option<&Bound<'py, PyAny>>,
        adapt: Option<&Bound<'py, PyAny>>,
        wait_pipelines: bool,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyFrame>> {
        keywords::refuse_in(slf.as_any(), "run", unknown)?;
        let (inputs, into, flags, params) = (inputs.as_deref(), into.as_deref(), flags.as_deref(), params.as_deref());
        let seen = read.map(|read| reads::with_roots(graph, read)).transpose()?.flatten();
        let graph = seen.as_ref().map_or(graph, |seen| seen.as_any());
        let (compiled, origin) = Self::remembered(slf, graph, memory, wait_pipelines)?;
        let chaos = chaos.map(|Bytes(seed)| seed);
        let arguments =
            Arguments { inputs, into, flags, params, read, statistics, measure, chaos, wait, signal, fence, adapt };
        inputs::run(&compiled, origin.as_ref(), &arguments)
    }

    /// The results of `adapt=` for a graph: the plans that were tried, each with what was changed, what was predicted
    /// and measured, and why it was kept or not; measured times of the passes; and the plan that is kept.
    ///
    /// Parameters
    /// ----------
    /// graph, memory
    ///     See `run`.
    ///
    /// Returns
    /// -------
    /// Trials
    ///     `print` shows it as a table.
    #[pyo3(signature = (graph, *, memory = None, **unknown), text_signature = "($self, graph, *, memory=None)")]
    fn trials<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        memory: Option<Budget>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("trials", unknown)?;
        adapt::trials(&Self::remembered(slf, graph, memory, true)?.0)
    }

    /// Run a graph in many ways that its declaration permits, and compare the results, bit for bit.
    ///
    /// The reference is the declared order on one queue, with nothing culled, merged or aliased. Other orders, queues,
    /// stages of the planner, and other values of unwritten memory must make no difference. If they do, some access is
    /// not declared, and further runs find the pass and the resource. Each run starts from the same state: persistent
    /// resources and histories as in a first frame, resources of the device as copies. Functions of passes are called
    /// in each. Roots and imported resources that are written are compared, mip 0 of each. Sums of floats by
    /// `unordered` accesses are equal only if the order of additions makes no difference.
    ///
    /// Parameters
    /// ----------
    /// graph, inputs, flags, params
    ///     See `run`.
    /// seed
    ///     The first seed; equal seeds make the same trials.
    /// seeds
    ///     Number of seeds, at least 1; the search ends with the first finding.
    /// frames
    ///     Frames of each run, at least 1; default: one, or enough to cover contents that pass from frame to frame.
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
        inputs: Option<Mapped<'py>>,
        flags: Option<Mapped<'py>>,
        params: Option<Mapped<'py>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("chaos", unknown)?;
        let (inputs, flags, params) = (inputs.as_deref(), flags.as_deref(), params.as_deref());
        let (compiled, origin) = Self::remembered(slf, graph, None, true)?;
        let options = ChaosOptions {
            seed: seed.0,
            seeds: seeds.0.into(),
            frames: frames.map(|Count(frames)| frames as usize),
            ..ChaosOptions::default()
        };
        let arguments = Arguments { inputs, flags, params, ..Arguments::default() };
        let report = inputs::chaos(&compiled, origin.as_ref(), &arguments, options)?;
        report::chaos(slf.py(), &report)
    }
}
