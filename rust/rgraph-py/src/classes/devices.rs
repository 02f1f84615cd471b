//! `rgraph.Devices`: several devices that run one graph.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::error::Code;
use rgraph_vk::{CLOSE_PATIENCE, DeviceError, Devices};

use crate::arguments::convert::{Count, Text, items};
use crate::arguments::options::{Budget, MaxBatches, Measuring};
use crate::arguments::{keywords, options};
use crate::classes::compiled::PyCompiled;
use crate::classes::device::PyDevice;
use crate::classes::devices_compiled::PyCompiledDevices;
use crate::classes::devices_plan::PyDevicesPlan;
use crate::classes::graph::PyGraph;
use crate::classes::profile::PyProfile;
use crate::run::detached::{Detached, call};
use crate::run::inside::outside;
use crate::run::record::record;
use crate::run::remembered::{Remembered, Snapshot, What};
use crate::run::runtime_errors::raised;

/// Several devices that run one graph together, numbered from 0.
///
/// Passes without `device=` go where the modelled frame gains most; contents are copied between devices. Use it in a
/// `with` block, or `close` it: that closes the devices that it opened.
///
/// Parameters
/// ----------
/// devices
///     A list; each item is an open `Device`, or what `Device` takes: an index, `"uuid:…"`, `"pci:…"`, `"name:…"`. The
///     first one gets the passes that gain nothing elsewhere. A GPU may be named twice.
/// validate
///     Whether the Khronos validation layer is enabled for devices that are opened here; default: the environment's
///     `RGRAPH_VALIDATE`.
/// measure, sample
///     See `Device`.
///
/// Raises
/// ------
/// DeviceError
///     RG-E103 if the list is empty or a device is not there, RG-E130 if one is closed, RG-E131 if one comes twice.
#[pyclass(name = "Devices", module = "rgraph", frozen, weakref)]
pub struct PyDevices {
    pub devices: Detached<Devices>,
    list: Vec<Py<PyDevice>>,
    /// Of the list: opened here.
    opened: Vec<bool>,
    /// Numbers of the devices.
    pub numbers: Arc<[u64]>,
    measuring: Measuring,
    compiled: Mutex<Remembered<PyCompiledDevices>>,
    closed: AtomicBool,
}

impl PyDevices {
    fn compiled(&self) -> MutexGuard<'_, Remembered<PyCompiledDevices>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        if !self.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let error = DeviceError::new(Code::Closed, "the devices are closed", "open them again: rgraph.Devices(…)");
        Err(raised(py, error.into()))
    }

    /// The compiled form of what `run` is given, that of before if it did not change; and the graph whose arrays it
    /// reads.
    pub fn remembered<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        memory: Option<Budget>,
    ) -> PyResult<ToRun<'py>> {
        let py = slf.py();
        if let Ok(compiled) = graph.cast::<PyCompiledDevices>() {
            if !compiled.get().devices.is(slf) {
                let message = format!("\"{}\" was compiled for other devices", compiled.get().load.graph.name());
                let error = DeviceError::new(Code::Foreign, message, "compile it on the devices that run it");
                return Err(raised(py, error.into()));
            }
            let origin = compiled.get().origin.as_ref().map(|origin| origin.bind(py).clone());
            return Ok((compiled.clone(), origin));
        }
        if graph.is_instance_of::<PyCompiled>() {
            let help = "compile it with Devices.compile, or run it on its device";
            return Err(raised(
                py,
                DeviceError::new(Code::Foreign, "the graph was compiled for one device", help).into(),
            ));
        }
        if memory.is_some() && graph.cast::<PyGraph>().is_err() {
            return Err(PyTypeError::new_err("memory= is for graphs: give it to bake_devices or compile instead"));
        }
        let memory = memory.unwrap_or_default();
        let origin = graph.cast::<PyGraph>().ok().cloned();
        let options = options::options(py, Text("auto"), Text("never"), false, None, (memory, MaxBatches::default()))?;
        let making = (&options, slf.get().measuring);
        if origin.is_none() {
            let compiled = PyCompiledDevices::compile(slf, graph, None, making, false)?;
            let origin = compiled.get().origin.as_ref().map(|origin| origin.bind(py).clone());
            return Ok((compiled, origin));
        }
        let what = What::of(graph, memory.0)?;
        if let Some(known) = what.as_ref().and_then(|what| slf.get().compiled().find(what, graph)) {
            return Ok((known, origin));
        }
        let snapshot = graph.cast::<PyGraph>().ok().and_then(|graph| Snapshot::of(graph.get()));
        let compiled = PyCompiledDevices::compile(slf, graph, None, making, true)?;
        // Another thread may have declared meanwhile.
        if let Some(what) = what.filter(|what| What::of(graph, memory.0).is_ok_and(|now| now.as_ref() == Some(what))) {
            let forgotten = slf.get().compiled().remember(what, compiled.clone().unbind(), snapshot);
            drop(forgotten);
        }
        Ok((compiled, origin))
    }
}

/// A compiled graph, and the graph whose arrays it reads.
type ToRun<'py> = (Bound<'py, PyCompiledDevices>, Option<Bound<'py, PyGraph>>);

#[pymethods]
impl PyDevices {
    #[new]
    #[pyo3(signature = (devices, *, validate = None, measure = None, sample = None, **unknown),
           text_signature = "(devices, *, validate=None, measure='off', sample=1)")]
    fn new(
        py: Python<'_>,
        devices: &Bound<'_, PyAny>,
        validate: Option<bool>,
        measure: Option<Text<'_>>,
        sample: Option<Count>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        keywords::refuse(py.get_type::<Self>().as_any(), "Devices", unknown)?;
        let measuring = Measuring::default().or_else(py, measure, sample)?;
        let given = items(devices).ok_or_else(|| PyTypeError::new_err("devices is a list of devices"))??;
        let (mut list, mut opened) = (Vec::with_capacity(given.len()), Vec::with_capacity(given.len()));
        for one in &given {
            let known = one.cast::<PyDevice>().ok();
            opened.push(known.is_none());
            list.push(match known {
                Some(device) => device.clone().unbind(),
                None => {
                    let options = PyDict::new(py);
                    options.set_item("validate", validate)?;
                    let opened = py.get_type::<PyDevice>().call((one,), Some(&options))?;
                    opened.cast_into::<PyDevice>()?.unbind()
                }
            });
        }
        let devices = Detached::<Devices>::of(py, &list.iter().map(|one| &one.get().device).collect::<Vec<_>>())?;
        let numbers = list.iter().map(|one| one.get().number).collect();
        let (compiled, closed) = (Mutex::default(), AtomicBool::new(false));
        Ok(Self { devices, list, opened, numbers, measuring, compiled, closed })
    }

    /// The devices in order.
    #[getter]
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.list)
    }

    /// Warnings and errors of the drivers and of the validation layer so far, of all devices.
    #[getter]
    fn messages(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        call(py, |free| {
            let list = self.devices.get(free)?.list();
            Ok(list.iter().flat_map(rgraph_vk::Device::messages).collect())
        })
    }

    /// Profiles of the devices, with the cost of copies after `measure_copies`, for `Graph.bake_devices`.
    #[getter]
    fn profiles(&self) -> Vec<PyProfile> {
        self.devices.profiles().iter().cloned().map(PyProfile).collect()
    }

    /// Measure copies between the devices, and plan with that cost from now on: `copy_us` and `copy_gb_s` of
    /// `profiles`. The slowest pair of devices counts.
    ///
    /// Returns
    /// -------
    /// CopyPrice
    ///     Cost of a copy, and its route.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     If a device fails, or has no memory for copies of 64 MiB.
    fn measure_copies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        outside(py, &self.numbers)?;
        self.check(py)?;
        let price = call(py, |free| self.devices.get(free)?.measure_copies())?;
        record!(py, "CopyPrice", (price.us, price.gb_s, price.direct, price.way.name()))
    }

    /// Whether they were closed.
    #[getter]
    fn closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Plan a graph for these devices, by their profiles.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     The graph. Passes with `device=` run on that one; others go where they gain most.
    /// policy, split_barriers, effort, memory, max_batches, weights
    ///     See `Graph.bake`; for each part.
    ///
    /// Returns
    /// -------
    /// DevicesPlan
    ///     `frame_us` is its modelled frame, `one_device_us` that of the first device alone.
    #[pyo3(signature = (graph, *, policy = Text("auto"), split_barriers = Text("never"), effort = None,
                        memory = Budget::default(), max_batches = MaxBatches::default(), weights = None, **unknown),
           text_signature = "($self, graph, *, policy='auto', split_barriers='never', effort=None, \
                             memory='balanced', max_batches=256, weights=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn plan<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyGraph>,
        policy: Text<'_>,
        split_barriers: Text<'_>,
        effort: Option<Count>,
        memory: Budget,
        max_batches: MaxBatches,
        weights: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDevicesPlan>> {
        keywords::refuse_in(slf.as_any(), "plan", unknown)?;
        let options = options::options(slf.py(), policy, split_barriers, false, effort, (memory, max_batches))?;
        PyDevicesPlan::bake(graph, slf.get().devices.profiles().to_vec(), options, weights)
    }

    /// Compile a graph: plan it for these devices, and make pipelines and memory for each part.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     A `Graph`, or a `DevicesPlan`; a plan is checked first.
    /// policy, split_barriers, effort, memory, max_batches, weights
    ///     See `Graph.bake`; only for a `Graph`.
    /// measure, sample
    ///     Default of `measure` and `sample` for its runs: which GPU times they measure, and one run in how many.
    ///
    /// Returns
    /// -------
    /// CompiledDevices
    ///     Can be run any number of times.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If anything is wrong with the declaration, or a pass names a device that is not there.
    /// PlanError
    ///     RG-E504 if the checker has a finding for the plan.
    /// DeviceError
    ///     If a device lacks a feature that its passes need.
    #[pyo3(signature = (graph, *, policy = Text("auto"), split_barriers = Text("never"), effort = None,
                        memory = Budget::default(), max_batches = MaxBatches::default(), weights = None, measure = None,
                        sample = None, **unknown),
           text_signature = "($self, graph, *, policy='auto', split_barriers='never', effort=None, \
                             memory='balanced', max_batches=256, weights=None, measure=None, sample=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn compile<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        policy: Text<'_>,
        split_barriers: Text<'_>,
        effort: Option<Count>,
        memory: Budget,
        max_batches: MaxBatches,
        weights: Option<&Bound<'py, PyAny>>,
        measure: Option<Text<'_>>,
        sample: Option<Count>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyCompiledDevices>> {
        keywords::refuse_in(slf.as_any(), "compile", unknown)?;
        slf.get().check(slf.py())?;
        let options = options::options(slf.py(), policy, split_barriers, false, effort, (memory, max_batches))?;
        let measuring = slf.get().measuring.or_else(slf.py(), measure, sample)?;
        PyCompiledDevices::compile(slf, graph, weights, (&options, measuring), false)
    }

    /// Refuse everything from now on, and close the devices that were opened here; devices that were given stay open.
    /// A second call does nothing. Frames stay readable.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        outside(py, &self.numbers)?;
        self.closed.store(true, Ordering::Relaxed);
        let forgotten = std::mem::take(&mut *self.compiled());
        drop(forgotten);
        for (device, _) in self.list.iter().zip(&self.opened).filter(|(_, opened)| **opened) {
            device.get().close_within(py, Some(CLOSE_PATIENCE))?;
        }
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().check(slf.py())?;
        Ok(slf)
    }

    #[pyo3(signature = (*_error), text_signature = "($self, *error)")]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __len__(&self) -> usize {
        self.list.len()
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.list.iter().map(|one| format!("\"{}\"", one.get().device.info().name)).collect();
        let closed = if self.closed() { ", closed" } else { "" };
        format!("<Devices {}{closed}>", names.join(", "))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.list.iter().try_for_each(|device| visit.call(device))?;
        // A held lock means that the devices are in use, so they are no garbage.
        let Ok(compiled) = self.compiled.try_lock() else { return Ok(()) };
        compiled.compiled().try_for_each(|compiled| visit.call(compiled))
    }

    fn __clear__(&self) {
        let forgotten = std::mem::take(&mut *self.compiled());
        drop(forgotten);
    }
}
