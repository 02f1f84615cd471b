//! `rgraph.Series`: times of many frames.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rgraph_plan::error::Code;
use rgraph_report::page::Measured;
use rgraph_report::series::{PassSeries, Series, SeriesFrame, Spread};

use crate::classes::counted;
use crate::classes::frame::PyFrame;
use crate::classes::report::PyReport;
use crate::classes::show::measured;
use crate::run::error::{bad, guarded};
use crate::run::record::record;

/// Times of many frames of one graph: per pass its least, median, 99th percentile and largest, and the frames that took
/// far longer than the others. `str(series)` is a table; `plan.to_html(report=series)` shows it.
///
/// Parameters
/// ----------
/// frames
///     Frames, or their reports, of runs with `measure=`; a generator of them keeps no frame. Waits for each.
///
/// Raises
/// ------
/// GraphError
///     RG-E225 if a frame was not measured, or there is none.
///
/// Examples
/// --------
/// `rg.Series(device.run(graph, measure="passes") for _ in range(300))`
#[pyclass(name = "Series", module = "rgraph", frozen)]
pub(crate) struct PySeries(pub Arc<Series>);

impl PySeries {
    /// The columns of frames or reports.
    ///
    /// # Errors
    /// RG-E225 for a frame without times.
    pub(crate) fn of(frames: &Bound<'_, PyAny>) -> PyResult<Arc<Series>> {
        let py = frames.py();
        let mut all = Vec::new();
        for one in frames.try_iter()? {
            let one = one?;
            let report = if one.cast::<PyFrame>().is_ok() { one.getattr("report")? } else { one };
            let number = all.len() as u64;
            let (run, gpu_us) = match report.cast::<PyReport>() {
                Ok(report) => (report.get().0.run, report.get().0.gpu_us),
                // What was read from a file knows them by attribute.
                Err(_) => (
                    report.getattr_opt("run")?.map_or(Ok(number), |run| run.extract())?,
                    report.getattr_opt("gpu_us")?.map_or(Ok(None), |us| us.extract())?,
                ),
            };
            let Some(times) = measured(&report)? else {
                let message = format!("frame {run} of the series has no GPU times");
                return Err(bad(py, Code::BadInput, message, "run each frame with measure=\"passes\""));
            };
            all.push(SeriesFrame { run, gpu_us, measured: Measured { host: Vec::new(), ..times } });
        }
        if all.is_empty() {
            let help = "give frames: rg.Series(device.run(graph, measure=\"passes\") for _ in range(300))";
            return Err(bad(py, Code::BadInput, "a series has no frames", help));
        }
        Ok(Arc::new(Series::new(&all)))
    }
}

/// Whether a value is frames or reports of several frames: a list whose first item is one of them.
pub(crate) fn is_series(value: &Bound<'_, PyAny>) -> bool {
    let frame = |one: Bound<'_, PyAny>| one.cast::<PyReport>().is_ok() || one.cast::<PyFrame>().is_ok();
    value.cast::<PyList>().is_ok_and(|list| list.get_item(0).is_ok_and(frame))
}

#[pymethods]
impl PySeries {
    #[new]
    fn new(frames: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::of(frames).map(Self)
    }

    /// The passes in the order of their first begin: `PassTimes` records, in microseconds.
    #[getter]
    fn passes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let one = |pass: &PassSeries| {
            let Spread { min, median, p99, max } = pass.spread;
            record!(py, "PassTimes", (&pass.name, &pass.queue, min, median, p99, max, pass.group))
        };
        PyList::new(py, self.0.passes.iter().map(one).collect::<PyResult<Vec<_>>>()?)
    }

    /// GPU time of each frame in microseconds.
    #[getter]
    fn gpu_us(&self) -> Vec<f64> {
        self.0.gpu_us.clone()
    }

    /// Positions of frames that are longer than the median by a tenth and by six median absolute deviations.
    #[getter]
    fn spikes(&self) -> Vec<usize> {
        self.0.spikes.clone()
    }

    /// All of it as plain values, times in microseconds; `weights=` takes it, written as JSON, as it takes a report.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let series = &*self.0;
        let spread = |of: &Spread| -> PyResult<Bound<'py, PyDict>> {
            let values = PyDict::new(py);
            for (key, value) in [("min_us", of.min), ("us", of.median), ("p99_us", of.p99), ("max_us", of.max)] {
                values.set_item(key, value)?;
            }
            Ok(values)
        };
        let passes = PyList::empty(py);
        for pass in &series.passes {
            let one = spread(&pass.spread)?;
            one.set_item("pass", &pass.name)?;
            one.set_item("queue", &pass.queue)?;
            one.set_item("group", pass.group)?;
            one.set_item("begin_by_frame", &pass.begin)?;
            one.set_item("us_by_frame", &pass.us)?;
            passes.append(one)?;
        }
        let all = PyDict::new(py);
        all.set_item("runs", &series.run)?;
        all.set_item("gpu_us", &series.gpu_us)?;
        all.set_item("frame", spread(&series.spread)?)?;
        all.set_item("spikes", &series.spikes)?;
        all.set_item("passes", passes)?;
        Ok(all)
    }

    /// The columns that a page has, as JSON.
    fn _json(&self, py: Python<'_>) -> PyResult<String> {
        let series = Arc::clone(&self.0);
        guarded(py, move || series.to_json())
    }

    fn __len__(&self) -> usize {
        self.0.run.len()
    }

    fn __str__(&self) -> String {
        self.0.table()
    }

    /// A table of times, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rgraph._reprs")?.call_method1("series", (slf,))
    }

    fn __repr__(&self) -> String {
        let Series { run, spread, spikes, .. } = &*self.0;
        let (frames, spikes) = (counted(run.len(), "frame"), counted(spikes.len(), "spike"));
        format!("<Series of {frames}: median {:.1} µs, {spikes}>", spread.median)
    }
}
