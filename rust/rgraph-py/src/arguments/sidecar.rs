//! Sidecar files of a graph file: the contents of its images and buffers.

use std::borrow::Cow;
use std::path::Path;

use pyo3::prelude::*;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::resource::{Axis, Resource, ResourceId};
use rgraph_work::file::{Picture, name_below, npy};
use rgraph_work::texel::Element;

use crate::arguments::files;
use crate::arguments::host_arrays::Host;
use crate::classes::array_layout::{ArrayLayout, Form, Kept};
use crate::run::error::one;
use crate::run::states::declared;

/// A file that fills a resource.
pub(crate) struct Sidecar {
    pub id: ResourceId,
    /// The file's name, as the graph file names it.
    pub name: String,
    /// Its new contents; `None`: the file exists.
    pub bytes: Option<Vec<u8>>,
    /// Shape and element type that the file itself has.
    pub says: Option<(Vec<usize>, Element)>,
}

/// The name of a sidecar file of a graph file.
fn name(path: &Path, graph: &Graph, id: ResourceId, suffix: &str) -> String {
    let file = path.file_name().and_then(|name| name.to_str()).unwrap_or("graph");
    let stem = file.strip_suffix(".rgraph.json").or_else(|| file.strip_suffix(".json")).unwrap_or(file);
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let resource: String = graph.resource_name(id).chars().take(80).map(plain).collect();
    format!("{stem}.{resource}.{suffix}")
}

/// The kind of an image of which all sizes are declared in texels.
fn kind(resource: &Resource) -> Option<PlanKind> {
    let image = resource.as_image()?;
    let size = image.size?;
    let axis = |axis: Axis| match axis {
        Axis::Texels(texels) => Some(texels),
        Axis::Scaled(..) => None,
    };
    let (size, volume) = ([axis(size.x)?, axis(size.y)?, size.z.map_or(Some(1), axis)?], size.z.is_some());
    let (format, layers) = (image.format?, image.layers.unwrap_or(1));
    Some(PlanKind::Image { format, size, mips: 1, layers, samples: 1, volume, cube: false })
}

impl Sidecar {
    /// The new file of an array.
    pub(crate) fn of_array(path: &Path, graph: &Graph, id: ResourceId, array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let what = format!("the array of \"{}\"", graph.resource_name(id));
        let host = Host::new(array, &what)?;
        Self::new(array.py(), (path, graph, id), &host.form, host.bytes())
    }

    /// The file of an array that a resource begins with: the one that it was read from, if it lies below the graph
    /// file's folder; else a new one.
    pub(crate) fn of_first(py: Python<'_>, path: &Path, graph: &Graph, id: ResourceId, first: &Kept) -> PyResult<Self> {
        if let Some(name) = first.file.as_ref().and_then(|file| name_below(files::folder(path), file)) {
            let says = first.form.dtype.number().map(|element| (first.form.shape.clone(), element));
            return Ok(Self { id, name, bytes: None, says });
        }
        Self::new(py, (path, graph, id), &first.form, &first.bytes)
    }

    fn new(
        py: Python<'_>,
        (path, graph, id): (&Path, &Graph, ResourceId),
        form: &Form,
        bytes: &[u8],
    ) -> PyResult<Self> {
        let what = format!("the array of \"{}\"", graph.resource_name(id));
        let Some(element) = form.dtype.number() else {
            // The declaration's shape has the records.
            return Ok(Self { id, name: name(path, graph, id, "bin"), bytes: Some(bytes.to_vec()), says: None });
        };
        let bytes = match kind(&graph.resources()[id]) {
            None => npy::write(&form.shape, element, bytes),
            Some(kind) => {
                let layout = ArrayLayout::for_array((&kind, None), form, &what)
                    .map_err(|mistake| one(py, declared(graph, id, &kind, *mistake)))?;
                match layout.pack(form, bytes) {
                    Cow::Borrowed(bytes) => npy::write(&form.shape, element, bytes),
                    // Filled up to the channels of the format, or made of bools.
                    Cow::Owned(bytes) => npy::write(&ArrayLayout::natural(&kind).shape, element, &bytes),
                }
            }
        };
        let says = Some((form.shape.clone(), element));
        Ok(Self { id, name: name(path, graph, id, "npy"), bytes: Some(bytes), says })
    }

    /// The file that a picture was read from, if it lies below the graph file's folder; else a new one.
    pub(crate) fn of_picture(path: &Path, graph: &Graph, id: ResourceId, picture: &Picture) -> Self {
        let says = picture.shape.clone().map(|shape| (shape, picture.element));
        if let Some(name) = name_below(files::folder(path), &picture.path) {
            return Self { id, name, bytes: None, says };
        }
        let (suffix, bytes) = match &picture.shape {
            Some(shape) => ("npy", npy::write(shape, picture.element, &picture.bytes)),
            None => ("bin", picture.bytes.clone()),
        };
        Self { id, name: name(path, graph, id, suffix), bytes: Some(bytes), says }
    }
}
