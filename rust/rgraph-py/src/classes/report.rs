//! `rgraph.Report`: what a frame took.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use rgraph_plan::error::Code;
use rgraph_plan::words::plain;
use rgraph_vk::{ChaosFinding, ChaosReport, FrameReport, HostSpan, Measure, MemoryReport, PassTime};

use crate::run::error::bad;
use crate::run::record::record;

/// The costs of a frame: GPU time of each pass, CPU time, memory, barriers, submits. `str(report)` is a table.
#[pyclass(name = "Report", module = "rgraph", frozen)]
pub(crate) struct PyReport(pub FrameReport);

impl PyReport {
    /// The measured times in microseconds, by pass.
    ///
    /// # Errors
    /// RG-E225 if it has none.
    pub(crate) fn times(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        if self.0.measure == Measure::Off {
            let message = format!("the report of frame {} of \"{}\" has no GPU times", self.0.run, self.0.graph);
            return Err(bad(py, Code::BadInput, message, "run the frame with measure=\"passes\""));
        }
        Ok(self.0.weights().map(|(name, us)| (name.to_owned(), us)).collect())
    }
}

/// Names of what pipeline statistics count.
const COUNTED: [&str; 4] = ["vertices", "primitives", "fragments", "invocations"];

#[pymethods]
impl PyReport {
    /// Which GPU times it has: `"off"`, `"frame"`, `"batches"` or `"passes"`, see `Device.run`.
    #[getter]
    fn measure(&self) -> &'static str {
        self.0.measure.name()
    }

    /// GPU time of the frame in microseconds, from its first pass to its last; None: it was not measured.
    #[getter]
    fn gpu_us(&self) -> Option<f64> {
        self.0.gpu_us
    }

    /// GPU time by pass in microseconds, empty if it was not measured; for CPU passes, their time on the host. With
    /// `measure="batches"`, passes share the time of those that run together.
    #[getter]
    fn pass_us<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let times = PyDict::new(py);
        for (pass, us) in self.0.weights() {
            times.set_item(pass, us)?;
        }
        Ok(times)
    }

    /// When each pass ran on the GPU, in the order of their begin: `PassSpan` records, in microseconds from the frame's
    /// first timestamp on; empty if it was not measured. Passes on the CPU are in `host_spans`.
    #[getter]
    fn timeline<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let spans = self.0.passes.iter().filter_map(|pass| Some((pass, pass.start_us?, pass.us?)));
        let one = |(pass, start, us): (&PassTime, f64, f64)| {
            record!(py, "PassSpan", (&pass.pass, &pass.queue, start, start + us, pass.group))
        };
        PyList::new(py, spans.map(one).collect::<PyResult<Vec<_>>>()?)
    }

    /// Work of the host for the frame, by begin: `HostSpan` records, named `"wait"`, `"upload"`, `"record"`, `"submit"`
    /// or by a CPU pass. Spans may nest. Microseconds from the start that `calibrated` explains.
    #[getter]
    fn host_spans<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let one = |span: &HostSpan| record!(py, "HostSpan", (&span.name, span.begin_us, span.end_us));
        PyList::new(py, self.0.host.iter().map(one).collect::<PyResult<Vec<_>>>()?)
    }

    /// Whether `host_spans` count from the frame's first timestamp on, as `timeline` does (what came before it is
    /// negative); else from the first host span. True if the driver has calibrated timestamps.
    #[getter]
    fn calibrated(&self) -> bool {
        self.0.calibrated
    }

    /// Whether command buffers were recorded; False: those of an earlier run were submitted again.
    #[getter]
    fn recorded(&self) -> bool {
        self.0.recorded
    }

    /// Requests that could not be met, and declarations that are valid but suspicious.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// All of it as plain values; times in microseconds, memory in bytes. Times that were not measured are None.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = &self.0;
        let passes = PyList::empty(py);
        for pass in &report.passes {
            let one = PyDict::new(py);
            one.set_item("pass", &pass.pass)?;
            one.set_item("queue", &pass.queue)?;
            one.set_item("start_us", pass.start_us)?;
            one.set_item("us", pass.us)?;
            one.set_item("group", pass.group)?;
            if let Some(counted) = pass.statistics {
                for (name, count) in COUNTED.into_iter().zip(counted) {
                    one.set_item(name, count)?;
                }
            }
            passes.append(one)?;
        }
        let host = PyList::empty(py);
        for span in &report.host {
            let one = PyDict::new(py);
            one.set_item("name", &span.name)?;
            one.set_item("begin_us", span.begin_us)?;
            one.set_item("end_us", span.end_us)?;
            host.append(one)?;
        }
        let [total, lower_bound, without_aliasing] = report.placed;
        let transients = PyDict::new(py);
        transients.set_item("total", total)?;
        transients.set_item("lower_bound", lower_bound)?;
        transients.set_item("without_aliasing", without_aliasing)?;
        let all = PyDict::new(py);
        all.set_item("graph", &report.graph)?;
        all.set_item("run", report.run)?;
        all.set_item("measure", report.measure.name())?;
        all.set_item("gpu_us", report.gpu_us)?;
        all.set_item("passes", passes)?;
        all.set_item("host", host)?;
        all.set_item("calibrated", report.calibrated)?;
        all.set_item("bake_us", report.bake_us)?;
        all.set_item("record_us", report.record_us)?;
        all.set_item("submit_us", report.submit_us)?;
        all.set_item("upload_us", report.upload_us)?;
        all.set_item("recorded", report.recorded)?;
        all.set_item("barriers", report.barriers)?;
        all.set_item("entry_barriers", report.entry_barriers)?;
        all.set_item("submits", report.submits)?;
        all.set_item("transients", transients)?;
        all.set_item("held", report.memory.held())?;
        all.set_item("live", report.memory.live())?;
        all.set_item("notes", &report.notes)?;
        Ok(all)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    /// A table of times, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rgraph._reprs")?.call_method1("report", (slf,))
    }

    fn __repr__(&self) -> String {
        let FrameReport { graph, run, gpu_us, .. } = &self.0;
        let time = gpu_us.map_or_else(|| "not measured".to_owned(), |us| format!("{us:.1} µs on the GPU"));
        format!("<Report of frame {run} of \"{}\": {time}>", plain(graph))
    }
}

/// `Device.memory()`.
pub(crate) fn memory<'py>(py: Python<'py>, report: &MemoryReport) -> PyResult<Bound<'py, PyAny>> {
    let domains = report
        .domains
        .iter()
        .map(|domain| record!(py, "DomainMemory", (domain.domain, domain.held, domain.live, domain.blocks)));
    let domains = PyTuple::new(py, domains.collect::<PyResult<Vec<_>>>()?)?;
    let heaps = report
        .heaps
        .iter()
        .map(|heap| record!(py, "HeapMemory", (heap.size, heap.device_local, heap.used, heap.budget)));
    let heaps = PyTuple::new(py, heaps.collect::<PyResult<Vec<_>>>()?)?;
    let owners = PyDict::new(py);
    for (name, bytes) in &report.owners {
        owners.set_item(name, bytes)?;
    }
    record!(py, "DeviceMemory", (report.held(), report.live(), domains, heaps, owners))
}

/// `Device.chaos()`.
pub(crate) fn chaos<'py>(py: Python<'py>, report: &ChaosReport) -> PyResult<Bound<'py, PyAny>> {
    let findings = report.findings.iter().map(|finding| {
        let ChaosFinding { switch, seed, pass, other, resource, mistake } = finding;
        let (pass, other, resource) = (pass.as_deref(), other.as_deref(), resource.as_deref());
        record!(py, "ChaosFinding", (switch.name(), *seed, pass, other, resource, mistake.to_string(), &mistake.help))
    });
    let findings = PyTuple::new(py, findings.collect::<PyResult<Vec<_>>>()?)?;
    let trials = report.rows.iter().map(|row| {
        record!(py, "ChaosTrial", (row.seed, row.switch.name(), row.differs.as_deref(), row.skipped.as_deref()))
    });
    let trials = PyTuple::new(py, trials.collect::<PyResult<Vec<_>>>()?)?;
    record!(py, "ChaosReport", (findings, trials, report.runs, PyTuple::new(py, &report.notes)?, report.to_string()))
}
