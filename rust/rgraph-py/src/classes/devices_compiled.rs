//! `rgraph.CompiledDevices`: a graph made ready for several devices.

use std::ops::Deref;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::devices::resource_kinds;
use rgraph_plan::prelude::Options;
use rgraph_plan::words::plain;
use rgraph_vk::CompiledDevices;

use crate::arguments::keywords;
use crate::arguments::options::Measuring;
use crate::arguments::weights::Weights;
use crate::classes::counted;
use crate::classes::devices::PyDevices;
use crate::classes::devices_plan::PyDevicesPlan;
use crate::classes::graph::PyGraph;
use crate::run::counts::GRAPHS_COMPILED;
use crate::run::detached::Detached;
use crate::run::remembered::refuse;
use crate::run::runnable::Runnable;
use crate::run::states::{self, Kinds};

/// A graph compiled for several devices: its plan, and pipelines and memory of each part.
///
/// Later declarations in the graph do not change it. Made by `Devices.compile`.
#[pyclass(name = "CompiledDevices", module = "rgraph", frozen, weakref)]
pub struct PyCompiledDevices {
    pub devices: Py<PyDevices>,
    /// Made ready.
    pub compiled: Detached<CompiledDevices>,
    runnable: Runnable,
    options: Options,
    /// The graph whose arrays it reads, if runs of others may share it.
    source: Py<PyGraph>,
}

impl Deref for PyCompiledDevices {
    type Target = Runnable;

    fn deref(&self) -> &Runnable {
        &self.runnable
    }
}

impl PyCompiledDevices {
    /// Compiles a graph or a plan. If it is `shared`, the arrays of each run are those of the graph that is then given.
    pub fn compile<'py>(
        devices: &Bound<'py, PyDevices>,
        value: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        (options, measuring): (&Options, Measuring),
        shared: bool,
    ) -> PyResult<Bound<'py, Self>> {
        GRAPHS_COMPILED.add(1);
        let py = devices.py();
        let (this, numbers) = (&devices.get().devices, Arc::clone(&devices.get().numbers));
        let (compiled, load, source, options) = match value.cast::<PyDevicesPlan>() {
            Ok(plan) => {
                let plan = plan.get();
                let source = plan.origin.bind(py).clone();
                source.get().refuse_earlier(py, &plan.graph)?;
                let load = PyGraph::workload(&source, Arc::clone(&plan.graph), &numbers);
                let (planned, whole, options) = ((*plan.plan).clone(), load.0.clone(), plan.options);
                let compiled =
                    this.make_patiently(py, move |devices| devices.compile_plan(planned, whole, &options))?;
                (compiled, load, source, options)
            }
            Err(_) => {
                let graph = value.cast::<PyGraph>().map_err(|_| refuse(value))?;
                let mut whole = PyGraph::resolved(graph)?;
                if let Some(weights) = weights {
                    Weights::of(weights)?.apply(py, &mut whole)?;
                }
                let load = PyGraph::workload(graph, Arc::new(whole), &numbers);
                let (whole, options) = (load.0.clone(), *options);
                let compiled = this.make_patiently(py, move |devices| devices.compile(whole, &options))?;
                (compiled, load, graph.clone(), options)
            }
        };
        let known = compiled.known();
        let mut notes = known.plan().report.notes.clone();
        for (_, part) in known.parts() {
            notes.extend(states::idle(&load.0, part.plan()));
        }
        let kinds = Kinds::All(resource_kinds(&load.0.graph));
        let origin = (!shared).then(|| source.clone().unbind());
        let runnable = Runnable::new(py, load, origin, kinds, (numbers, measuring), notes)?;
        let (devices, source) = (devices.clone().unbind(), source.unbind());
        Bound::new(py, Self { devices, compiled, runnable, options, source })
    }
}

#[pymethods]
impl PyCompiledDevices {
    /// The plan that is run.
    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDevicesPlan>> {
        let plan = Arc::new(self.compiled.known().plan().clone());
        PyDevicesPlan::shared(py, plan, (Arc::new(self.load.graph.clone()), &self.source), self.options)
    }

    /// Number of copies per frame without the CPU. The others go through staging memory of each device, with a CPU copy
    /// in between.
    #[getter]
    fn direct_copies(&self) -> usize {
        self.compiled.known().direct_copies()
    }

    /// The way of each copy of the plan: `"cuda"` (CUDA copies from GPU to GPU), `"host"` (through memory of the host
    /// that both devices have imported) or `"staged"` (a CPU copies between staging memories of the two).
    #[getter]
    fn copy_ways(&self) -> Vec<&'static str> {
        self.compiled.known().copy_ways().into_iter().map(rgraph_vk::CopyWay::name).collect()
    }

    /// Set the contents of a persistent resource or a history before the next frame: see `Compiled.set`.
    ///
    /// Parameters
    /// ----------
    /// state
    ///     An image or a buffer that lives from frame to frame, or its name.
    /// array
    ///     Of its shape and dtype, or of as many bytes as the buffer.
    fn set(&self, state: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        self.devices.get().check(state.py())?;
        (**self).set(state, array)
    }

    /// Reset states to their initial contents, for the next frame; see `Compiled.reset`.
    ///
    /// Parameters
    /// ----------
    /// *states
    ///     Images and buffers that live from frame to frame, or their names; default: all of them.
    #[pyo3(signature = (*states, **unknown), text_signature = "($self, *states)")]
    fn reset(&self, states: &Bound<'_, PyTuple>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        keywords::refuse_of::<Self>("reset", unknown)?;
        self.devices.get().check(states.py())?;
        (**self).reset(states)
    }

    /// Passes in the order in which they run, and what runs are given and leave, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().html(slf.as_any())
    }

    fn __repr__(&self) -> String {
        let plan = self.compiled.known().plan();
        let (devices, parts) = (counted(plan.profiles.len(), "device"), counted(plan.parts.len(), "part"));
        format!("<CompiledDevices \"{}\": {devices}, {parts}>", plain(&plan.graph))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.devices)?;
        visit.call(&self.source)?;
        self.runnable.traverse(&visit)
    }

    fn __clear__(&self) {
        self.runnable.clear();
    }
}
