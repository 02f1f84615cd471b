//! `rgraph.Profile`: a device as numbers.

use pyo3::prelude::*;
use rgraph_plan::profile::Profile;
use rgraph_plan::words::plain;

use crate::arguments::convert::FileText;
use crate::arguments::file_path::FilePath;
use crate::arguments::files;

/// A device as the planner sees it: queues, limits, memory, costs.
///
/// Immutable. Made by `discrete`, `single_queue` or `minimal`, read from a file, or from plain values.
#[pyclass(name = "Profile", module = "rgraph", frozen, weakref)]
pub struct PyProfile(pub Profile);

#[pymethods]
impl PyProfile {
    /// A discrete GPU: graphics, async compute and transfer queues of three families.
    #[staticmethod]
    fn discrete() -> Self {
        Self(Profile::discrete())
    }

    /// One queue that does everything.
    #[staticmethod]
    fn single_queue() -> Self {
        Self(Profile::single_queue())
    }

    /// One queue and the least limits that Vulkan 1.3 guarantees.
    #[staticmethod]
    fn minimal() -> Self {
        Self(Profile::minimal())
    }

    /// Read a profile file.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     The file.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the file breaks the file format; the message names path and line.
    /// OSError
    ///     If it cannot be read.
    #[staticmethod]
    fn load(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        files::load_profile(py, &path).map(Self)
    }

    /// Read the text of a profile file.
    ///
    /// Parameters
    /// ----------
    /// text
    ///     JSON, as `to_json` writes it.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: FileText<'_>) -> PyResult<Self> {
        files::profile(py, text.0).map(Self)
    }

    /// Read a profile file's plain values.
    ///
    /// Parameters
    /// ----------
    /// values
    ///     As `to_dict` gives them; everything but `rprofile` and `queues` has a default.
    #[staticmethod]
    fn from_dict(py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        files::profile(py, files::dumps(values)?.as_bytes()).map(Self)
    }

    /// The profile file as text.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        files::profile_text(py, &self.0)
    }

    /// The profile file as plain values.
    pub fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        files::loads(py, &self.to_json(py)?)
    }

    /// Write the profile file: to a temporary file that is then renamed.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     Where to write; by convention `NAME.rprofile.json`.
    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        files::write(py, &path, self.to_json(py)?.into_bytes())
    }

    /// Its name in plans.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Names of its queues, in order.
    #[getter]
    fn queues(&self) -> Vec<&str> {
        self.0.queues.iter().map(|queue| queue.name.as_str()).collect()
    }

    /// Optional features that the device has, by Vulkan's names; `None`: the profile does not list them, and a bake
    /// refuses no pass because of one.
    #[getter]
    fn features(&self) -> Option<Vec<&'static str>> {
        self.0.features.map(|features| features.names().collect())
    }

    fn __repr__(&self) -> String {
        format!("<Profile \"{}\": {}>", plain(&self.0.name), plain(&self.queues().join(", ")))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(xxhash_rust::xxh3::xxh3_64(self.to_json(py)?.as_bytes()))
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        let read = slf.get_type().getattr("from_json")?.unbind();
        Ok((read, (slf.get().to_json(slf.py())?,)))
    }
}
