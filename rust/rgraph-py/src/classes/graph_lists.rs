//! `rgraph.Graph`: handles of all that it declares.

use pyo3::prelude::*;

use crate::classes::graph::PyGraph;
use crate::classes::pass::PyPass;
use crate::classes::resource::PyResource;

#[pymethods]
impl PyGraph {
    /// The passes, in the order of their declaration.
    #[getter]
    fn passes<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyPass>>> {
        let ids = slf.get().read(|state| {
            let ids = state.graph.iter().flat_map(|graph| graph.passes().ids());
            ids.filter(|id| !state.anew.passes.contains(id)).collect::<Vec<_>>()
        });
        ids.into_iter().map(|id| PyPass::handle(slf, id, "".into())).collect()
    }

    /// The images and buffers, in the order of their declaration.
    #[getter]
    fn resources<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let kinds = slf.get().read(|state| {
            let all = state.graph.iter().flat_map(|graph| graph.resources().iter_ids());
            let left = all.filter(|(id, _)| !state.anew.resources.contains(id));
            left.map(|(id, resource)| (id, resource.as_image().is_some())).collect::<Vec<_>>()
        });
        let handle = |(id, image)| match image {
            true => PyResource::image(slf, id).map(Bound::into_any),
            false => PyResource::buffer(slf, id).map(Bound::into_any),
        };
        kinds.into_iter().map(handle).collect()
    }
}
