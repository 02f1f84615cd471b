//! What images and buffers are, read back from the declaration: formats, sizes in texels, counts, ranges of views.
//!
//! The planner resolves all shapes of a graph at once, for a device; here one resource is looked at, as it is declared
//! by now, through those that it is relative to. O(length of that chain).

use pyo3::prelude::*;
use rgraph_plan::declared::full_mips;
use rgraph_plan::error::Code;
use rgraph_plan::graph::{Graph, Place};
use rgraph_plan::id::Id;
use rgraph_plan::nearest::nearest;
use rgraph_plan::resource::{Axis, Image, Life, Mips, Resource, ResourceId, Round};

use crate::classes::array_layout::Seen;
use crate::classes::graph::PyGraph;
use crate::classes::module::PyGraphModule;
use crate::classes::resource::{PyBuffer, PyImage, PyResource};
use crate::classes::view::PyView;
use crate::run::error::{Refusal, one, refusal};
use crate::run::state::GraphState;
use crate::run::unresolved::Reference;
use rgraph_work::infer::MOST_LINKS;

/// Walks from a resource to those that determine its shape.
struct Walk<'a> {
    graph: &'a Graph,
    state: &'a GraphState,
    what: &'static str,
    first: ResourceId,
    left: usize,
}

impl<'a> Walk<'a> {
    /// The resource itself, if its links are all known.
    fn step(&mut self, id: ResourceId) -> Result<&'a Resource, Refusal> {
        let name = self.graph.resource_name(self.first);
        if self.left == 0 {
            let message = format!("the {} of \"{name}\" depends on more than {MOST_LINKS} others", self.what);
            return Err(refusal(Code::BadSize, message, "give it instead"));
        }
        self.left -= 1;
        let open = self.state.unresolved.iter().any(|unresolved| match &unresolved.reference {
            Reference::Size(of, _)
            | Reference::Modifies(of, _)
            | Reference::History(of, ..)
            | Reference::Like(of, ..) => *of == id,
            _ => false,
        });
        if open {
            let message = format!("the {} of \"{name}\" depends on what nothing declares yet", self.what);
            return Err(refusal(Code::UnknownName, message, "declare images before those that are like them"));
        }
        Ok(&self.graph.resources()[id])
    }

    /// The first value that an image declares, else the resources that it modifies or remembers.
    fn find<T>(&mut self, mut id: ResourceId, value: impl Fn(&Image) -> Option<T>) -> Result<Option<T>, Refusal> {
        loop {
            let resource = self.step(id)?;
            let remembered = matches!(resource.life, Life::History(_));
            let own = resource.as_image().filter(|_| !remembered).and_then(&value);
            match (own, base(resource)) {
                (None, Some(base)) => id = base,
                (own, _) => return Ok(own),
            }
        }
    }

    /// Texels along one axis; at least 1.
    fn axis(&mut self, mut id: ResourceId, at: usize) -> Result<u32, Refusal> {
        let mut scales: Vec<(f64, Round)> = Vec::new();
        let mut texels = loop {
            let resource = self.step(id)?;
            let size = resource.as_image().and_then(|image| image.size);
            let base = base(resource);
            let size = size.filter(|_| !matches!(resource.life, Life::History(_)));
            match (size.map(|size| ([Some(size.x), Some(size.y), size.z][at], size.round)), base) {
                (Some((None, _)), _) => break 1,
                (Some((Some(Axis::Texels(texels)), _)), _) => break texels.max(1),
                (Some((Some(Axis::Scaled(of, scale)), round)), _) => {
                    scales.push((scale, round));
                    match of {
                        Some(of) => id = of,
                        None => break self.reference(at),
                    }
                }
                (None, Some(base)) => id = base,
                (None, None) => break self.reference(at),
            }
        };
        for (scale, round) in scales.into_iter().rev() {
            let product = f64::from(texels) * scale;
            let rounded = if round == Round::Down { product.floor() } else { product.ceil() };
            // The cast keeps within 32 bits, and makes 0 of what is no number; the planner refuses both.
            texels = (rounded as u32).max(1);
        }
        Ok(texels)
    }

    fn reference(&self, at: usize) -> u32 {
        self.graph.reference_size().get(at).map_or(1, |texels| *texels).max(1)
    }

    fn sizes(&mut self, id: ResourceId) -> Result<[u32; 3], Refusal> {
        let mut axis = |at| {
            self.left = MOST_LINKS;
            self.axis(id, at)
        };
        Ok([axis(0)?, axis(1)?, axis(2)?])
    }
}

/// The resource that determines the shape of one that declares none.
fn base(resource: &Resource) -> Option<ResourceId> {
    match resource.life {
        Life::History(history) => Some(history.of),
        _ => resource.modifies,
    }
}

/// Asks the declaration about one resource.
fn ask<T>(
    py: Python<'_>,
    of: &PyResource,
    what: &'static str,
    ask: impl FnOnce(&mut Walk<'_>) -> Result<T, Refusal>,
) -> PyResult<T> {
    let asked = of.graph.get().change(|state| {
        state.open()?;
        state.resolve_names();
        let state = &*state;
        match &state.graph {
            Some(graph) if of.id.index() < graph.resources().len() => {
                ask(&mut Walk { graph, state, what, first: of.id, left: MOST_LINKS })
            }
            _ => {
                Err(refusal(Code::UnknownName, "a resource is not part of this copy of its graph", "ask before bake()"))
            }
        }
    });
    asked.map_err(|mistake| one(py, mistake))
}

/// A place as Python has it.
fn pair(place: &Place) -> (String, u32) {
    (place.file.to_string(), place.line)
}

#[pymethods]
impl PyResource {
    /// The graph that it is part of.
    #[getter]
    fn graph(&self, py: Python<'_>) -> Py<PyGraph> {
        self.graph.clone_ref(py)
    }

    /// (file, line) of its declaration; None if lines are not recorded.
    #[getter]
    fn source(&self) -> Option<(String, u32)> {
        self.graph.get().look(|graph| graph.resource_place(self.id).map(pair))
    }
}

#[pymethods]
impl PyImage {
    /// Texel format, WebGPU's name; None if none is declared.
    #[getter]
    fn format(slf: &Bound<'_, Self>) -> PyResult<Option<&'static str>> {
        let of = slf.as_super().get();
        ask(slf.py(), of, "format", |walk| Ok(walk.find(of.id, |image| image.format)?.map(|format| format.name())))
    }

    /// (width, height), or (width, height, depth) of a 3D image, in texels.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the size is relative to an image that is not declared yet.
    #[getter]
    fn size<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let of = slf.as_super().get();
        let (size, volume) = ask(slf.py(), of, "size", |walk| {
            let volume = walk.find(of.id, |image| image.size)?.is_some_and(|size| size.z.is_some());
            Ok((walk.sizes(of.id)?, volume))
        })?;
        let [width, height, depth] = size;
        match volume {
            true => (width, height, depth).into_pyobject(slf.py()).map(Bound::into_any),
            false => (width, height).into_pyobject(slf.py()).map(Bound::into_any),
        }
    }

    /// Number of mip levels.
    #[getter]
    fn mip_count(slf: &Bound<'_, Self>) -> PyResult<u32> {
        let of = slf.as_super().get();
        ask(slf.py(), of, "number of mips", |walk| {
            let declared = walk.find(of.id, |image| image.mips)?.unwrap_or(Mips::Count(1));
            let full = full_mips(walk.sizes(of.id)?);
            Ok(if let Mips::Count(count) = declared { count.clamp(1, full) } else { full })
        })
    }

    /// Number of array layers; six for a cube.
    #[getter]
    fn layer_count(slf: &Bound<'_, Self>) -> PyResult<u32> {
        let of = slf.as_super().get();
        ask(slf.py(), of, "number of layers", |walk| {
            let declared = walk.find(of.id, |image| image.layers)?;
            walk.left = MOST_LINKS;
            let cube = walk.find(of.id, |image| image.cube.then_some(()))?.is_some();
            Ok(declared.unwrap_or(if cube { 6 } else { 1 }).max(1))
        })
    }

    /// Samples per texel.
    #[getter]
    fn samples(slf: &Bound<'_, Self>) -> PyResult<u32> {
        let of = slf.as_super().get();
        ask(slf.py(), of, "number of samples", |walk| Ok(walk.find(of.id, |image| image.samples)?.unwrap_or(1)))
    }
}

#[pymethods]
impl PyBuffer {
    /// Bytes.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the size is that of a buffer that is not declared yet.
    #[getter]
    pub(crate) fn size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let of = slf.as_super().get();
        ask(slf.py(), of, "size", |walk| {
            let mut id = of.id;
            loop {
                let resource = walk.step(id)?;
                let own = resource.as_buffer().filter(|_| !matches!(resource.life, Life::History(_)));
                match (own.and_then(|buffer| buffer.size), base(resource)) {
                    (None, Some(base)) => id = base,
                    (own, _) => return Ok(own.unwrap_or(0)),
                }
            }
        })
    }

    /// What its arrays hold: a name (`"float32"`), or for records a dict that `numpy.dtype` takes. None where it
    /// declares no dtype: its shaders determine it then.
    #[getter]
    fn dtype<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let of = slf.as_super().get();
        match of.graph.get().read(|state| state.seen_of(of.id).cloned()) {
            Some(Seen::Items(_, dtype)) => dtype.python(slf.py()).map(Some),
            _ => Ok(None),
        }
    }
}

#[pymethods]
impl PyView {
    /// (first, end) of its mip levels, half-open; None: all.
    #[getter]
    fn mip_range(&self) -> Option<(u32, u32)> {
        self.part.ranges.mips.map(Into::into)
    }

    /// (first, end) of its array layers, half-open; None: all.
    #[getter]
    fn layer_range(&self) -> Option<(u32, u32)> {
        self.part.ranges.layers.map(Into::into)
    }

    /// (first, end) of its bytes, half-open; None: all.
    #[getter]
    fn byte_range(&self) -> Option<(u64, u64)> {
        self.part.ranges.bytes.map(Into::into)
    }
}

#[pymethods]
impl PyGraphModule {
    /// Find an image or a buffer by name: in this module, else in the one around it, and so on.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     The name, without those of the modules around it.
    ///
    /// Returns
    /// -------
    /// Image or Buffer
    ///     Its handle.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If none of these modules declares it; the message offers the nearest name.
    fn find<'py>(slf: &Bound<'py, Self>, name: crate::arguments::convert::Text<'_>) -> PyResult<Bound<'py, PyAny>> {
        let graph = Self::graph(slf)?;
        let found = graph.get().change(|state| {
            let removed = state.anew.resources.clone();
            let graph = state.open()?;
            let find = |full: &str| graph.find_resource(full).filter(|id| !removed.contains(id));
            match crate::run::unresolved::find_outwards(slf.get().prefix(), name.0, find) {
                Some(id) => Ok((id, graph.resources()[id].kind.clone())),
                None => {
                    let near = nearest(name.0, graph.resource_names().iter());
                    let help = match near {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => "declare it with image() or buffer()".to_owned(),
                    };
                    let message = format!("nothing declares \"{}\"", name.0);
                    Err(refusal(Code::UnknownName, message, &help))
                }
            }
        });
        let (id, kind) = found.map_err(|mistake| one(slf.py(), mistake))?;
        PyResource::of_kind(&graph, id, &kind)
    }
}
