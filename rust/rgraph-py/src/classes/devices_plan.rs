//! `rgraph.DevicesPlan`: which of several devices runs which passes, and what is copied between them.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyList, PyTuple};
use rgraph_check::{check_devices, is_well_formed_for_devices};
use rgraph_files::{read_devices_plan, write_devices_plan};
use rgraph_plan::bake::Scratch;
use rgraph_plan::devices::{DevicesPlan, part_graphs, plan_devices};
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::id::Id;
use rgraph_plan::prelude::{Options, Profile};
use rgraph_plan::words::plain;
use rgraph_report::devices_listing;

use crate::arguments::convert::{Count, FileText, Text, items, word};
use crate::arguments::file_path::FilePath;
use crate::arguments::options::{Budget, MaxBatches};
use crate::arguments::weights::Weights;
use crate::arguments::{files, keywords, options};
use crate::classes::checks;
use crate::classes::counted;
use crate::classes::graph::PyGraph;
use crate::run::error::{bad, graph_error, guarded};
use crate::run::patient::patiently;
use crate::run::record::record;

/// The plan of a graph for several devices: passes by device, in parts, and the copies between them.
///
/// Immutable. `str(plan)` is a listing. Made by `Graph.bake_devices` and `Devices.plan`, or read from a file.
#[pyclass(name = "DevicesPlan", module = "rgraph", frozen, weakref)]
pub struct PyDevicesPlan {
    pub plan: Arc<DevicesPlan>,
    /// The declaration.
    pub graph: Arc<Graph>,
    /// The Python graph, which knows what passes do.
    pub origin: Py<PyGraph>,
    /// How its parts are baked.
    pub options: Options,
}

impl PyDevicesPlan {
    /// Plans a graph for devices.
    ///
    /// # Errors
    /// If anything is wrong with the declaration, or a pass names a device that is not there.
    pub fn bake<'py>(
        graph: &Bound<'py, PyGraph>,
        profiles: Vec<Profile>,
        options: Options,
        weights: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = graph.py();
        let mut whole = PyGraph::resolved(graph)?;
        if let Some(weights) = weights {
            Weights::of(weights)?.apply(py, &mut whole)?;
        }
        let (whole, planned) = guarded(py, move || {
            let planned = plan_devices(&whole, &profiles, &options, &mut Scratch::default());
            (whole, planned)
        })?;
        let plan = Arc::new(planned.map_err(|error| graph_error(py, &error))?);
        Bound::new(py, Self { plan, graph: Arc::new(whole), origin: graph.clone().unbind(), options })
    }

    /// The same plan with the graph and options that a compiled graph was made of.
    pub fn shared<'py>(
        py: Python<'py>,
        plan: Arc<DevicesPlan>,
        (graph, origin): (Arc<Graph>, &Py<PyGraph>),
        options: Options,
    ) -> PyResult<Bound<'py, Self>> {
        Bound::new(py, Self { plan, graph, origin: origin.clone_ref(py), options })
    }

    fn read<'py>(graph: &Bound<'py, PyGraph>, bytes: &[u8], name: &str) -> PyResult<Bound<'py, Self>> {
        let py = graph.py();
        let plan = guarded(py, || read_devices_plan(bytes, name))?.map_err(|error| graph_error(py, &error))?;
        let whole = PyGraph::resolved(graph)?;
        if whole.content_hash() != plan.graph_hash {
            let message = format!("{name}: the plan is not one of graph \"{}\" as it is declared now", whole.name());
            return Err(bad(py, Code::BadFile, message, "plan the graph again"));
        }
        let (plan, graph, origin) = (Arc::new(plan), Arc::new(whole), graph.clone().unbind());
        Bound::new(py, Self { plan, graph, origin, options: Options::default() })
    }
}

#[pymethods]
impl PyGraph {
    /// Plan the graph for several devices: passes without `device=` go where the modelled frame gains most, and
    /// contents are copied between devices. No device is opened.
    ///
    /// Parameters
    /// ----------
    /// profiles
    ///     The devices in order: each a `Profile`, the name of a built-in one, or the path of a profile file. The first
    ///     one gets the passes that gain nothing elsewhere.
    /// policy, split_barriers, effort, memory, max_batches, weights
    ///     See `bake`; for each part.
    ///
    /// Returns
    /// -------
    /// DevicesPlan
    ///     `frame_us` is its modelled frame, `one_device_us` that of the first device alone.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If anything is wrong with the declaration; RG-E212 if a pass names a device that is not there.
    #[pyo3(signature = (profiles, *, policy = Text("auto"), split_barriers = Text("never"), effort = None,
                        memory = Budget::default(), max_batches = MaxBatches::default(), weights = None, **unknown),
           text_signature = "($self, profiles, *, policy='auto', split_barriers='never', effort=None, \
                             memory='balanced', max_batches=256, weights=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn bake_devices<'py>(
        slf: &Bound<'py, Self>,
        profiles: &Bound<'py, PyAny>,
        policy: Text<'_>,
        split_barriers: Text<'_>,
        effort: Option<Count>,
        memory: Budget,
        max_batches: MaxBatches,
        weights: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDevicesPlan>> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "bake_devices", unknown)?;
        let list = items(profiles).ok_or_else(|| PyTypeError::new_err("profiles is a list, one for each device"))??;
        let profiles = list.iter().map(|one| options::profile(py, Some(one))).collect::<PyResult<_>>()?;
        let options = options::options(py, policy, split_barriers, false, effort, (memory, max_batches))?;
        PyDevicesPlan::bake(slf, profiles, options, weights)
    }
}

#[pymethods]
impl PyDevicesPlan {
    /// Read a plan file of several devices.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     The file, `NAME.rdevices.json`.
    /// of
    ///     Its graph.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the file breaks the file format, or is of another graph.
    /// OSError
    ///     If it cannot be read.
    #[staticmethod]
    fn load<'py>(path: FilePath, of: &Bound<'py, PyGraph>) -> PyResult<Bound<'py, Self>> {
        let bytes = files::read(of.py(), &path)?;
        Self::read(of, &bytes, &path.to_string_lossy())
    }

    /// Read the text of a plan file of several devices.
    ///
    /// Parameters
    /// ----------
    /// text
    ///     JSON, as `to_json` writes it.
    /// of
    ///     Its graph.
    #[staticmethod]
    fn from_json<'py>(text: FileText<'_>, of: &Bound<'py, PyGraph>) -> PyResult<Bound<'py, Self>> {
        Self::read(of, text.0, "text")
    }

    /// The plan file as text.
    fn to_json(&self) -> String {
        write_devices_plan(&self.plan)
    }

    /// The plan file as plain values.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        files::loads(py, &self.to_json())
    }

    /// Write the plan: to a temporary file that is then renamed.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     Where to write: `.json` the plan file, `.txt` the listing.
    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        let known = ["json", "txt"];
        let suffix = files::suffix(py, &path, &known)?;
        let find = |name: &str| known.into_iter().find(|known| *known == name);
        let text = match word(py, "suffix of plans for several devices", suffix, find, known.into_iter())? {
            "json" => self.to_json(),
            _ => self.__str__(),
        };
        files::write(py, &path, text.into_bytes())
    }

    /// Check the plan: follow each device's contents, and compare every access, every result, and all that the next
    /// frame begins with.
    ///
    /// Returns
    /// -------
    /// list of Finding
    ///     Every rule that the plan breaks; empty if it is correct.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (graph, plan) = (Arc::clone(&self.graph), Arc::clone(&self.plan));
        let findings = patiently(py, move || {
            // Graphs of parts are made of well-formed plans only.
            let parts: Vec<Graph> = match is_well_formed_for_devices(&graph, &plan) {
                true => part_graphs(&graph, &plan).iter().map(|part| part.graph.clone()).collect(),
                false => Vec::new(),
            };
            check_devices(&graph, &plan, &parts)
        })?;
        checks::findings(py, &findings)
    }

    /// Name of the graph that it is a plan of.
    #[getter]
    fn graph_name(&self) -> &str {
        &self.plan.graph
    }

    /// Hash of the graph that it is a plan of, in hexadecimal: equal to that graph's `hash`.
    #[getter]
    fn graph_hash(&self) -> String {
        format!("{:032x}", self.plan.graph_hash)
    }

    /// Names of the devices' profiles, by device.
    #[getter]
    fn profiles(&self) -> Vec<&str> {
        self.plan.profiles.iter().map(String::as_str).collect()
    }

    /// The parts: `DevicesPart` records.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let flat = self.graph.flattened();
        let graph = flat.as_ref().unwrap_or(&self.graph);
        let parts = self.plan.parts.iter().map(|part| {
            let names = part.passes.iter().map(|pass| graph.pass_name(*pass));
            record!(py, "DevicesPart", (part.device.index(), PyTuple::new(py, names.collect::<Vec<_>>())?))
        });
        PyList::new(py, parts.collect::<PyResult<Vec<_>>>()?)
    }

    /// The copies between devices: `DevicesCopy` records.
    #[getter]
    fn copies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let copies = self.plan.copies.iter().map(|copy| {
            let name = copy.resource.map(|id| self.graph.resource_name(id));
            record!(py, "DevicesCopy", (name, copy.from.index(), copy.to.index(), copy.bytes))
        });
        PyList::new(py, copies.collect::<PyResult<Vec<_>>>()?)
    }

    /// The index of the device that each root is read from, by name.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for place in &self.plan.results {
            all.set_item(self.graph.resource_name(place.resource), place.device.index())?;
        }
        Ok(all)
    }

    /// Modelled frame, in microseconds.
    #[getter]
    fn frame_us(&self) -> f64 {
        self.plan.report.frame_us
    }

    /// Modelled frame of the first device alone, in microseconds.
    #[getter]
    fn one_device_us(&self) -> f64 {
        self.plan.report.one_device_us
    }

    /// Requests that could not be met, and why.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.plan.report.notes.clone()
    }

    fn __str__(&self) -> String {
        devices_listing(&self.graph, &self.plan)
    }

    fn __repr__(&self) -> String {
        let DevicesPlan { graph, profiles, parts, copies, .. } = &*self.plan;
        let (devices, parts) = (counted(profiles.len(), "device"), counted(parts.len(), "part"));
        let copies = counted(copies.len(), "copy");
        let graph = plain(graph);
        format!("<DevicesPlan of \"{graph}\": {devices}, {parts}, {copies}>")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().plan == self.plan)
    }

    fn __hash__(&self) -> u64 {
        self.plan.graph_hash as u64
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.origin)
    }
}
