//! `rgraph.Module`: where images, buffers and passes are declared. A graph is the outermost one.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use rgraph_plan::graph::SlotId;
use rgraph_plan::words::plain;

use crate::arguments::convert::Text;
use crate::classes::graph::PyGraph;

/// A part of a graph with names of its own.
///
/// What is declared in a module is called `module/name`; its passes run at the place where the module was declared,
/// however late they are declared. Names given as text are looked for in the module first, then in those around it.
#[pyclass(name = "Module", module = "rgraph", frozen, subclass)]
pub struct PyGraphModule {
    /// `None`: this is the graph itself.
    graph: Option<Py<PyGraph>>,
    prefix: Arc<str>,
    slot: Option<SlotId>,
    /// The flag of its passes that name none.
    flag: Option<Arc<str>>,
}

impl PyGraphModule {
    /// The module that a graph itself is.
    pub fn outermost() -> Self {
        Self { graph: None, prefix: "".into(), slot: None, flag: None }
    }

    /// The graph that it is part of.
    pub fn graph<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyGraph>> {
        match &slf.get().graph {
            Some(graph) => Ok(graph.bind(slf.py()).clone()),
            None => Ok(slf.cast::<PyGraph>()?.clone()),
        }
    }

    /// What stands before the names in it: empty, or ending in `/`.
    pub fn prefix(&self) -> &Arc<str> {
        &self.prefix
    }

    /// Its place in the order of passes; `None`: this is the graph itself.
    pub fn slot(&self) -> Option<SlotId> {
        self.slot
    }

    /// A name in it with its own and those of the modules around it.
    pub fn full(&self, Text(name): Text<'_>) -> String {
        format!("{}{name}", self.prefix)
    }

    /// A module of that prefix whose passes stand at a slot.
    pub fn inside<'py>(slf: &Bound<'py, Self>, prefix: String, slot: SlotId) -> PyResult<Bound<'py, Self>> {
        Self::at(slf, prefix.into(), Some(slot))
    }

    /// The same, at a slot or at the graph's own place.
    pub fn at<'py>(slf: &Bound<'py, Self>, prefix: Arc<str>, slot: Option<SlotId>) -> PyResult<Bound<'py, Self>> {
        Self::under(slf, prefix, slot, slf.get().flag.clone())
    }

    /// The same, with the flag of its passes that name none.
    pub fn under<'py>(
        slf: &Bound<'py, Self>,
        prefix: Arc<str>,
        slot: Option<SlotId>,
        flag: Option<Arc<str>>,
    ) -> PyResult<Bound<'py, Self>> {
        let graph = Some(Self::graph(slf)?.unbind());
        Bound::new(slf.py(), Self { graph, prefix, slot, flag })
    }

    /// The flag of its passes that name none.
    pub fn flag(&self) -> Option<&Arc<str>> {
        self.flag.as_ref()
    }
}

#[pymethods]
impl PyGraphModule {
    /// Its full name, with those of the modules around it.
    #[getter]
    fn name(&self) -> &str {
        self.prefix.strip_suffix('/').unwrap_or("")
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("<Module \"{}\">", plain(slf.get().name()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }
}
