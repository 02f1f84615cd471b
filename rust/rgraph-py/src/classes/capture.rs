//! `Capture`: some runs in one file, and running such a file again.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::types::PyTuple;
use rgraph_plan::plan::Plan;
use rgraph_plan::words::plain;
use rgraph_vk::{Capture, CaptureFile, Difference, Replay, ReplayOptions};

use crate::arguments::convert::Count;
use crate::arguments::file_path::FilePath;
use crate::arguments::files;
use crate::arguments::keywords;
use crate::classes::array::PyArray;
use crate::classes::compiled::PyCompiled;
use crate::classes::counted;
use crate::classes::device::PyDevice;
use crate::classes::plan::PyPlan;
use crate::run::detached::{Detached, call};
use crate::run::error::guarded;
use crate::run::record::record;
use crate::run::runtime_errors::raised;

/// Runs that are captured into one file: made by `Compiled.capture` and `Device.capture`.
///
/// The file is written with the last of the runs; at the end of a `with` block, or by `finish`, with those so far.
#[pyclass(name = "Capture", module = "rgraph", frozen)]
pub(crate) struct PyCapture {
    capture: Capture,
    device: Py<PyDevice>,
}

#[pymethods]
impl PyCompiled {
    /// Capture the next runs of this graph into one file, which `rgraph replay` and `Device.replay` run anywhere.
    ///
    /// The file has the graph with its shaders, the plan, the inputs, flags, parameters and results of each run, and
    /// the contents of persistent resources and histories before the first one. It has the steps that callbacks
    /// recorded and the bytes that functions of `Graph.cpu` wrote instead of these functions. A captured run waits
    /// until the device is done. It goes into every capture that is under way.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     The file; it is written with the last of the runs.
    /// frames
    ///     Number of runs, 1 to 4096.
    ///
    /// Returns
    /// -------
    /// Capture
    ///     The capture under way.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E222 if the path's folder does not exist, or the path is a folder; RG-E225 if a multisampled image lives
    ///     from run to run.
    #[pyo3(signature = (path, *, frames = Count(1), **unknown), text_signature = "($self, path, *, frames=1)")]
    fn capture(
        slf: &Bound<'_, Self>,
        path: FilePath,
        frames: Count,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyCapture> {
        keywords::refuse_of::<Self>("capture", unknown)?;
        let (py, this) = (slf.py(), slf.get());
        let mut made = None;
        call(py, |free| {
            made = Some(this.compiled.get(free)?.capture(&path, frames.0 as usize)?);
            Ok(())
        })?;
        let capture = made.expect("the call succeeded");
        Ok(PyCapture { capture, device: this.device.clone_ref(py) })
    }
}

#[pymethods]
impl PyDevice {
    /// Capture the next runs of this device, of all graphs, into one file; see `Compiled.capture`.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     The file; it is written with the last of the runs.
    /// frames
    ///     Number of runs, 1 to 4096.
    ///
    /// Returns
    /// -------
    /// Capture
    ///     The capture under way.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E222 if the path's folder does not exist, or the path is a folder.
    #[pyo3(signature = (path, *, frames = Count(1), **unknown), text_signature = "($self, path, *, frames=1)")]
    fn capture(
        slf: &Bound<'_, Self>,
        path: FilePath,
        frames: Count,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyCapture> {
        keywords::refuse_of::<Self>("capture", unknown)?;
        let (mut made, device) = (None, &slf.get().device);
        call(slf.py(), |free| {
            made = Some(device.get(free)?.capture(&path, frames.0 as usize)?);
            Ok(())
        })?;
        Ok(PyCapture { capture: made.expect("the call succeeded"), device: slf.clone().unbind() })
    }

    /// Run a capture on this device and compare its results with the captured ones, byte by byte.
    ///
    /// The captured plans are checked first. If one does not fit this device, the graph is baked for it, and the report
    /// has a note about it. The file may come from an untrusted source, as graph files may.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     A capture file.
    /// anew
    ///     If true, each graph is baked for this device instead of taking the captured plan.
    ///
    /// Returns
    /// -------
    /// ReplayReport
    ///     Whether all bytes are equal, and where they are not.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E222 if the file is broken.
    /// PlanError
    ///     RG-E504 if a captured plan is unsound.
    /// DeviceError
    ///     If the device lacks a feature.
    #[pyo3(signature = (path, *, anew = false, **unknown), text_signature = "($self, path, *, anew=False)")]
    fn replay<'py>(
        slf: &Bound<'py, Self>,
        path: FilePath,
        anew: bool,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("replay", unknown)?;
        let py = slf.py();
        let file = read(py, &path)?;
        let replayed: Detached<Replay> = slf.get().device.make_patiently(py, move |device| {
            device.replay(&file, &ReplayOptions { anew, ..ReplayOptions::default() })
        })?;
        report(py, replayed.replayed())
    }
}

fn read(py: Python<'_>, path: &std::path::Path) -> PyResult<CaptureFile> {
    let bytes = files::read(py, path)?;
    let name = path.to_string_lossy().into_owned();
    guarded(py, move || CaptureFile::read(&bytes, &name))?.map_err(|error| raised(py, error))
}

fn report<'py>(py: Python<'py>, replay: &Replay) -> PyResult<Bound<'py, PyAny>> {
    let differences = replay.differences.iter().map(|difference| {
        let Difference { frame, resource, bytes: [bytes, of], first } = difference;
        record!(py, "ReplayDifference", (*frame, resource, *bytes, *of, *first))
    });
    let differences = PyTuple::new(py, differences.collect::<PyResult<Vec<_>>>()?)?;
    let graphs = PyTuple::new(py, replay.frames.iter().map(|frame| &frame.graph))?;
    let [device, driver] = &replay.captured_on;
    let notes = PyTuple::new(py, &replay.notes)?;
    let text = replay.to_string();
    record!(
        py,
        "ReplayReport",
        (replay.is_equal(), differences, graphs, replay.same_driver, device, driver, notes, text.trim_end())
    )
}

/// Graph file and plan file of each graph of a capture file.
#[pyfunction]
pub(crate) fn _capture_graphs(py: Python<'_>, path: FilePath) -> PyResult<Vec<(String, String, Option<String>)>> {
    let file = read(py, &path)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(file.graphs().map(|(name, graph, plan)| (name.to_owned(), text(graph), plan.map(text))).collect())
}

/// What the last captured run of a graph left in its roots, of those that its plan has with as many bytes.
#[pyfunction]
pub(crate) fn _capture_results(py: Python<'_>, path: FilePath, nth: usize, plan: &PyPlan) -> PyResult<Vec<PyArray>> {
    let (file, plan) = (read(py, &path)?, plan.plan());
    Ok(file.results(nth).filter_map(|one| stored(plan, one)).collect())
}

/// What `Device.replay` returns, and the images of a graph at the end of its last frame: all that a picture can be of.
#[pyfunction]
#[pyo3(signature = (device, path, nth, plan, *, anew = false))]
pub(crate) fn _replay_images<'py>(
    device: &Bound<'py, PyDevice>,
    path: FilePath,
    nth: usize,
    plan: &PyPlan,
    anew: bool,
) -> PyResult<(Bound<'py, PyAny>, Vec<PyArray>)> {
    let py = device.py();
    let (file, plan) = (read(py, &path)?, plan.plan());
    let options = move || ReplayOptions { anew, images: Some(nth), ..ReplayOptions::default() };
    let replayed: Detached<Replay> =
        device.get().device.make_patiently(py, move |device| device.replay(&file, &options()))?;
    let replayed = replayed.replayed();
    let images = replayed.images.iter().map(|(name, bytes)| (&**name, Arc::clone(bytes)));
    Ok((report(py, replayed)?, images.filter_map(|one| stored(plan, one)).collect()))
}

/// The array of a resource's bytes; `None` if they are not as many as it has.
fn stored(plan: &Plan, (name, bytes): (&str, Arc<[u8]>)) -> Option<PyArray> {
    let found = plan.resources.iter_ids().find(|(id, _)| plan.resource_name(*id) == name)?;
    PyArray::stored(name, &found.1.kind, bytes)
}

#[pymethods]
impl PyCapture {
    /// Its file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.capture.path().to_owned()
    }

    /// Number of runs captured so far.
    #[getter]
    fn frames(&self, py: Python<'_>) -> usize {
        py.detach(|| self.capture.frames())
    }

    /// Whether the file is written.
    #[getter]
    fn done(&self, py: Python<'_>) -> bool {
        py.detach(|| self.capture.is_done())
    }

    /// End the capture: write the file with the runs so far, if there are any. A second call does nothing.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E222 if the file cannot be written.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        call(py, |free| self.capture.finish(self.device.get().device.get(free)?))
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_error), text_signature = "($self, *error)")]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.finish(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (frames, done) = py.detach(|| (self.capture.frames(), self.capture.is_done()));
        let path = self.capture.path().to_string_lossy();
        format!("<Capture \"{}\" ({}{})>", plain(&path), counted(frames, "frame"), if done { ", done" } else { "" })
    }
}
