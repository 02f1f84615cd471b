//! Handles of images and buffers.

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::PyDict;
use rgraph_plan::graph::Place;
use rgraph_plan::resource::{History, Kind, Life, Resource, ResourceId};
use rgraph_plan::words::plain;

use crate::arguments::convert::{Count, Text};
use crate::arguments::{keywords, source};
use crate::classes::graph::PyGraph;
use crate::run::error::{Refusal, one};
use crate::run::state::GraphState;
use crate::run::unresolved::Given;

/// An image or a buffer of one graph.
///
/// Handles come from `Module.image`, `Module.buffer` and similar methods; another graph refuses them.
#[pyclass(name = "Resource", module = "rgraph", frozen, subclass, weakref)]
pub struct PyResource {
    pub graph: Py<PyGraph>,
    pub identity: u64,
    pub id: ResourceId,
}

/// An image of one graph.
#[pyclass(name = "Image", module = "rgraph", frozen, extends = PyResource)]
pub struct PyImage;

/// A buffer of one graph.
#[pyclass(name = "Buffer", module = "rgraph", frozen, extends = PyResource)]
pub struct PyBuffer;

impl PyResource {
    pub fn given(&self) -> Given<'static> {
        Given::Handle(self.identity, self.id)
    }

    /// A handle of an image.
    pub fn image<'py>(graph: &Bound<'py, PyGraph>, id: ResourceId) -> PyResult<Bound<'py, PyImage>> {
        let handle = Self { graph: graph.clone().unbind(), identity: graph.get().identity, id };
        Bound::new(graph.py(), PyClassInitializer::from(handle).add_subclass(PyImage))
    }

    /// A handle of a buffer.
    pub fn buffer<'py>(graph: &Bound<'py, PyGraph>, id: ResourceId) -> PyResult<Bound<'py, PyBuffer>> {
        let handle = Self { graph: graph.clone().unbind(), identity: graph.get().identity, id };
        Bound::new(graph.py(), PyClassInitializer::from(handle).add_subclass(PyBuffer))
    }

    /// Its name with those of the modules around it.
    pub fn full_name(&self) -> String {
        self.graph.get().look(|graph| graph.resource_name(self.id).to_owned())
    }

    /// What is shown of it: its name, and what is known of size, format and levels.
    ///
    /// # Errors
    /// If a size is no number, which no size is.
    pub fn described(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut shown = format!("\"{}\"", plain(&slf.get().name()));
        // What is not known yet is left out.
        if let Ok(size) = slf.getattr("size") {
            match size.extract::<u64>() {
                Ok(bytes) => shown += &format!(" {bytes} bytes"),
                Err(_) => {
                    let axes: Vec<u32> = size.extract::<Vec<u32>>()?;
                    let axes: Vec<_> = axes.iter().map(u32::to_string).collect();
                    shown += &format!(" {}", axes.join("x"));
                }
            }
        }
        if let Ok(Some(format)) = slf.getattr("format").and_then(|format| format.extract::<Option<String>>()) {
            shown += &format!(" {format}");
        }
        for (name, word) in [("layer_count", "layers"), ("mip_count", "mips"), ("samples", "samples")] {
            let count = slf.getattr(name).and_then(|count| count.extract::<u32>()).unwrap_or(1);
            if count > 1 {
                shown += &format!(" {count} {word}");
            }
        }
        Ok(shown)
    }

    /// A handle of what the resource is.
    pub fn of_kind<'py>(graph: &Bound<'py, PyGraph>, id: ResourceId, kind: &Kind) -> PyResult<Bound<'py, PyAny>> {
        match kind {
            Kind::Image(_) => Self::image(graph, id).map(Bound::into_any),
            Kind::Buffer(_) => Self::buffer(graph, id).map(Bound::into_any),
        }
    }
}

#[pymethods]
impl PyResource {
    /// Full name, with the names of the modules around it.
    #[getter]
    fn name(&self) -> String {
        self.full_name()
    }

    /// This resource's contents some frames ago, as a resource of its own.
    ///
    /// Asking again for the same frame gives the same resource.
    ///
    /// Parameters
    /// ----------
    /// frames
    ///     How many frames ago, at least 1.
    /// name
    ///     Name of the history; default: the resource's, `.previous`, and the number of frames above 1.
    /// first_frame
    ///     Contents of the first frames: `"zero"`, `"undefined"`, or an array, which is copied: of the image's shape
    ///     and dtype, or of as many bytes as the buffer.
    ///
    /// Returns
    /// -------
    /// Image or Buffer
    ///     A history: read it like any other resource; nothing can write it.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If `frames` is out of range. The graph is left unchanged.
    #[pyo3(signature = (frames = Count(1), name = None, *, first_frame = None, **unknown),
           text_signature = "($self, frames=1, name=None, *, first_frame='zero')")]
    fn previous<'py>(
        &self,
        py: Python<'py>,
        frames: Count,
        name: Option<Text<'_>>,
        first_frame: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_in(py.get_type::<Self>().as_any(), "previous", unknown)?;
        let (zero_first, first) = crate::arguments::host_arrays::first_frame(first_frame)?;
        let history = History { of: self.id, frames: frames.0, zero_first };
        let place = source::place(py);
        let graph = self.graph.bind(py);
        let made = graph.get().change(|state| {
            let (id, kind) = add_history(state, history, name, place)?;
            if let Some(first) = first {
                state.first.insert(id, first);
            }
            Ok((id, kind))
        });
        let (id, kind) = made.map_err(|mistake| one(py, mistake))?;
        Self::of_kind(graph, id, &kind)
    }

    /// What it is and which passes use it, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rgraph._reprs")?.call_method1("resource", (slf,))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("<{} {}>", slf.get_type().name()?, Self::described(slf)?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().identity == self.identity && other.get().id == self.id)
    }

    fn __hash__(&self) -> u64 {
        use rgraph_plan::id::Id;
        self.identity.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.id.index() as u64
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }
}

/// The history, if the graph has it already and no other name is asked for; else a new one.
fn add_history(
    state: &mut GraphState,
    history: History,
    name: Option<Text<'_>>,
    place: Option<Place>,
) -> Result<(ResourceId, Kind), Refusal> {
    let removed = state.anew.resources.clone();
    let graph = state.open()?;
    let life = Life::History(history);
    let kind = match graph.resources()[history.of].kind {
        Kind::Image(_) => Kind::Image(Default::default()),
        Kind::Buffer(_) => Kind::Buffer(Default::default()),
    };
    let default = match history.frames {
        1 => format!("{}.previous", graph.resource_name(history.of)),
        frames => format!("{}.previous{frames}", graph.resource_name(history.of)),
    };
    let name = name.map_or(&*default, |Text(name)| name);
    let known = graph.find_resource(name).filter(|id| graph.resources()[*id].life == life && !removed.contains(id));
    match known {
        Some(id) => Ok((id, kind)),
        None => {
            let resource = Resource::new(kind.clone(), life);
            Ok((state.add_resource(name, resource, place)?, kind))
        }
    }
}
