//! `rgraph.Pass`: what one pass does with which resource.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::access::{Transfer, Usage};
use rgraph_plan::graph::{PassId, Use};
use rgraph_plan::id::Id;
use rgraph_plan::words::plain;

use crate::arguments::convert::{Text, word};
use crate::arguments::declare::given;
use crate::arguments::details::Allowed;
use crate::classes::graph::PyGraph;

/// A pass of one graph: its methods declare its accesses.
///
/// Each method takes handles or names of resources and returns the pass, so that calls can be chained. Arguments that a
/// method leaves out follow from the usage.
#[pyclass(name = "Pass", module = "rgraph", frozen, weakref)]
pub struct PyPass {
    pub graph: Py<PyGraph>,
    pub id: PassId,
    pub prefix: Arc<str>,
}

/// The pass again, so that calls can be chained.
pub(crate) type Chained<'py> = PyResult<Bound<'py, PyPass>>;

impl PyPass {
    /// A handle of a pass whose names are looked for in module `prefix` first.
    pub fn handle<'py>(graph: &Bound<'py, PyGraph>, id: PassId, prefix: Arc<str>) -> PyResult<Bound<'py, Self>> {
        Bound::new(graph.py(), Self { graph: graph.clone().unbind(), id, prefix })
    }

    /// Its name with those of the modules around it.
    pub fn full_name(&self) -> String {
        self.graph.get().look(|graph| graph.pass_name(self.id).to_owned())
    }
}

#[pymethods]
impl PyPass {
    /// Full name, with the names of the modules around it.
    #[getter]
    fn name(&self) -> String {
        self.full_name()
    }

    /// The graph that it is declared in; in a setup function, the graph that is baked.
    #[getter]
    fn graph(&self, py: Python<'_>) -> Py<PyGraph> {
        self.graph.clone_ref(py)
    }

    /// The queue that it was declared for.
    #[getter]
    fn queue(&self) -> &'static str {
        self.graph.get().look(|graph| graph.passes()[self.id].queue.name())
    }

    /// The function given as `execute=`, or None.
    #[getter]
    fn execute(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let kept = self.graph.get().change(|state| Ok(state.executes.get(&self.id).map(|kept| kept.clone_ref(py))));
        kept.ok().flatten()
    }

    /// Copy from one resource to another.
    ///
    /// Parameters
    /// ----------
    /// source
    ///     Image or buffer, or its name.
    /// target
    ///     Image or buffer, or its name.
    #[pyo3(text_signature = "($self, source, target)")]
    fn copy<'py>(slf: Bound<'py, Self>, source: Bound<'py, PyAny>, target: Bound<'py, PyAny>) -> Chained<'py> {
        // Both are read before either is declared.
        given(&source)?;
        given(&target)?;
        let py = slf.py();
        let half = |usage| Use { transfer: Some(Transfer::Copy), ..Use::new(usage) };
        let slf = Self::add(slf, &PyTuple::new(py, [source])?, &half(Usage::TransferSrc), None)?;
        Self::add(slf, &PyTuple::new(py, [target])?, &half(Usage::TransferDst), None)
    }

    /// Declare an access with any usage.
    ///
    /// Parameters
    /// ----------
    /// resource
    ///     Image or buffer, or its name.
    /// usage
    ///     Name of a usage as in graph files, such as `"sampled"`.
    /// **details
    ///     `stages`, `mips`, `layers`, `aspects`, `range`, `load`, `stencil_load`, `clear`, `generate_mips`,
    ///     `transfer`, `unordered`, `resolves` and `mode`, as in the other methods.
    #[pyo3(signature = (resource, usage, **details), text_signature = "($self, resource, usage, **details)")]
    fn uses<'py>(
        slf: Bound<'py, Self>,
        resource: Bound<'py, PyAny>,
        usage: Text<'_>,
        details: Option<&Bound<'py, PyDict>>,
    ) -> Chained<'py> {
        let py = slf.py();
        let known = Usage::ALL.iter().map(|usage| usage.name());
        let usage = word(py, "usage", usage.0, Usage::from_name, known)?;
        Self::declare(slf, &PyTuple::new(py, [resource])?, usage, details, Allowed::all())
    }

    /// Its queue and what it does with which resource, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let values = (slf.get().graph.bind(slf.py()), slf.get().full_name());
        slf.py().import("rgraph._reprs")?.call_method1("declared_pass", values)
    }

    fn __repr__(&self) -> String {
        format!("<Pass \"{}\">", plain(&self.full_name()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().graph.is(&self.graph) && other.get().id == self.id)
    }

    fn __hash__(&self) -> u64 {
        self.graph.get().identity.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ !(self.id.index() as u64)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }
}
