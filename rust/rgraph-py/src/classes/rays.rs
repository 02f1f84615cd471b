//! Passes that build acceleration structures: `Module.build_triangles` and its like.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rgraph_plan::access::PassQueue;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{Build, Geometry, INSTANCE_BYTES, IndexBuffer, Instance, Instances, TRANSFORM_BYTES};
use rgraph_work::infer;
use rgraph_work::words::INDICES;

use crate::arguments::convert::{Bytes, Count, Text};
use crate::arguments::declare::given;
use crate::arguments::words::named;
use crate::classes::module::PyGraphModule;
use crate::classes::passes::{Arguments, Named, PassArguments, Work};
use crate::classes::resource::{PyBuffer, PyResource};
use crate::classes::transfer::side;
use crate::classes::view::PyView;
use crate::run::pending_work::Todo;

/// Several values, or one.
pub(crate) fn several<'py>(value: Option<Bound<'py, PyAny>>) -> Vec<Bound<'py, PyAny>> {
    let Some(value) = value else { return Vec::new() };
    if let Ok(list) = value.cast::<PyList>() {
        return list.iter().collect();
    }
    match value.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![value],
    }
}

/// A buffer that must be declared by now: its position in the table, first byte, and bytes.
fn bytes_of(
    module: &Bound<'_, PyGraphModule>,
    what: &str,
    value: &Bound<'_, PyAny>,
    work: &mut Work,
) -> PyResult<(ResourceId, u64, u64)> {
    let side = side(module, value, work)?;
    let wrong = |says: &str| PyTypeError::new_err(format!("{what} {says}"));
    if side.image.is_some() {
        return Err(wrong("is an image; give a buffer"));
    }
    if let Some([first, end]) = side.part.ranges.bytes {
        return Ok((side.at, first, end.saturating_sub(first)));
    }
    let whole = match PyView::of(value) {
        Some((resource, _)) => resource.into_any(),
        None => value.clone(),
    };
    let graph = PyGraphModule::graph(module)?;
    let (identity, prefix, given) = (graph.get().identity, module.get().prefix().clone(), given(&whole)?.owned());
    let size = graph.get().change(|state| {
        let id = state.target(identity, &prefix, &given)?.known();
        let known = id.and_then(|id| state.graph.as_ref()?.resources()[id].as_buffer()?.size);
        Ok(known)
    });
    match size.map_err(|mistake| crate::run::error::one(module.py(), mistake))? {
        Some(size) => Ok((side.at, 0, size)),
        None => Err(wrong("has no size of its own; give a part of it: buffer[0:1200]")),
    }
}

/// How many things of so many bytes there are.
fn count_of(what: &str, bytes: u64, each: u64) -> PyResult<u32> {
    let fits = bytes > 0 && bytes.is_multiple_of(each);
    u32::try_from(bytes / each).ok().filter(|_| fits).ok_or_else(|| {
        PyValueError::new_err(format!("{what} has {bytes} bytes, which is no whole number of {each} bytes each"))
    })
}

/// The numbers of an array of any shape.
fn numbers(value: &Bound<'_, PyAny>, out: &mut Vec<f32>) -> PyResult<()> {
    let value = if value.hasattr("tolist")? { value.call_method0("tolist")? } else { value.clone() };
    if let Ok(number) = value.extract::<f64>() {
        out.push(number as f32);
        return Ok(());
    }
    value.try_iter()?.try_for_each(|item| numbers(&item?, out))
}

/// Arguments of all builds.
struct Building<'py> {
    name: &'py str,
    options: Option<&'py Bound<'py, PyDict>>,
    rebuild: Option<Text<'py>>,
    refit: bool,
    sizes: [Option<Bytes>; 2],
}

impl Building<'_> {
    /// Declares the structure and its scratch memory.
    fn buffers<'py>(
        &self,
        module: &Bound<'py, PyGraphModule>,
        primitives: u32,
    ) -> PyResult<(Bound<'py, PyBuffer>, Bound<'py, PyAny>)> {
        if self.refit && self.rebuild.is_none() {
            return Err(PyTypeError::new_err("refit=True needs rebuild=, the flag of the runs that rebuild it"));
        }
        let py = module.py();
        let [size, scratch] = &self.sizes;
        let bytes = |size: &Option<Bytes>| size.as_ref().map_or(infer::structure_bytes(primitives), |size| size.0);
        let options = PyDict::new(py);
        options.set_item("acceleration_structure", true)?;
        options.set_item("persistent", self.rebuild.is_some())?;
        let structure = module.call_method("buffer", (self.name, bytes(size)), Some(&options))?;
        let scratch = module.call_method1("buffer", (format!("{}/scratch", self.name), bytes(scratch)))?;
        Ok((structure.cast_into()?, scratch))
    }

    /// Declares the passes that build; `work` has the inputs, `reads` the structures of instances.
    fn declare<'py>(
        &self,
        module: &Bound<'py, PyGraphModule>,
        primitives: u32,
        inputs: impl Fn(&mut Work) -> PyResult<Geometry>,
    ) -> PyResult<Bound<'py, PyBuffer>> {
        let (structure, scratch) = self.buffers(module, primitives)?;
        for refit in [false, true].into_iter().take(1 + usize::from(self.refit)) {
            let mut work = Work::new();
            let geometry = inputs(&mut work)?;
            let at = |work: &mut Work, value: &Bound<'py, PyAny>| PyResult::Ok(work.table.add(given(value)?.owned()));
            let (built, scratch) = (at(&mut work, structure.as_any())?, at(&mut work, &scratch)?);
            let build = Build { structure: built, scratch, geometry, refit, updatable: self.refit };
            let step = infer::build(build, &mut work.needs);
            let name = format!("{}/{}", self.name, if refit { "refit" } else { "build" });
            let (named, mut pass) = (Named::here(module, Text(&name)), self.pass(module.py(), "build_triangles")?);
            if let (Some(Text(flag)), false) = (&self.rebuild, refit) {
                pass.conditional = Some((*flag).to_owned());
            }
            work.declare(module, named, pass, Todo::Steps(Arc::new([step])))?;
        }
        Ok(structure)
    }

    fn pass(&self, py: Python<'_>, function: &str) -> PyResult<PassArguments> {
        let arguments = Arguments::new(self.options)?;
        let pass = PassArguments::take(&arguments, PassQueue::Compute)?;
        arguments.end(py, function)?;
        Ok(pass)
    }
}

#[pymethods]
impl PyGraphModule {
    /// Declare an acceleration structure of triangles, and the pass that builds it.
    ///
    /// The structure is a buffer `name`, built by pass `name/build` with scratch memory `name/scratch`. Without
    /// `rebuild` each run builds it.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among resources.
    /// vertices
    ///     Buffer (or part of one) of positions, three 32-bit floats at the begin of each element.
    /// indices
    ///     Buffer (or part of one) with three indices per triangle, each less than the number of positions; default:
    ///     each three positions are a triangle.
    /// stride
    ///     Bytes from position to position, a multiple of 4.
    /// index_format
    ///     `"uint32"` or `"uint16"`.
    /// opaque
    ///     If true, any-hit shaders are not called.
    /// rebuild
    ///     Name of a flag: the structure is persistent, and built in the runs that switch the flag on. The first run
    ///     must.
    /// refit
    ///     If true, the other runs refit it to the positions that moved (pass `name/refit`), which is faster than a
    ///     build; the more they moved, the slower traces become.
    /// size, scratch
    ///     Bytes of structure and scratch memory; default: 16 KiB and 256 per primitive. If the driver needs more, the
    ///     error has the number.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///     The structure, for `build_instances`.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If a buffer is not declared yet.
    #[pyo3(signature = (name, vertices, *, indices = None, stride = Count(12), index_format = None, opaque = true,
                        rebuild = None, refit = false, size = None, scratch = None, **options),
           text_signature = "($self, name, vertices, *, indices=None, stride=12, index_format='uint32', opaque=True, \
                             rebuild=None, refit=False, size=None, scratch=None, **options)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn build_triangles<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        vertices: &Bound<'py, PyAny>,
        indices: Option<&Bound<'py, PyAny>>,
        stride: Count,
        index_format: Option<Text<'_>>,
        opaque: bool,
        rebuild: Option<Text<'_>>,
        refit: bool,
        size: Option<Bytes>,
        scratch: Option<Bytes>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBuffer>> {
        let stride = stride.0;
        let wide = index_format.map_or(Ok(true), |Text(word)| named(slf.py(), "index_format", word, INDICES))?;
        let inputs = |work: &mut Work| {
            let (buffer, offset, bytes) = bytes_of(slf, "vertices", vertices, work)?;
            let vertices = count_of("vertices", bytes, u64::from(stride.max(1)))?;
            let index = match indices {
                Some(indices) => {
                    let (buffer, offset, bytes) = bytes_of(slf, "indices", indices, work)?;
                    let triangles = count_of("indices", bytes, if wide { 12 } else { 6 })?;
                    Some((IndexBuffer { buffer, offset, wide }, triangles))
                }
                None => None,
            };
            let (index, triangles) = index.map_or((None, vertices / 3), |(index, count)| (Some(index), count));
            Ok(Geometry::Triangles { buffer, offset, stride, vertices, index, triangles, opaque })
        };
        let primitives = inputs(&mut Work::default())?.primitives();
        let building = Building { name: name.0, options, rebuild, refit, sizes: [size, scratch] };
        building.declare(slf, primitives, inputs)
    }

    /// Declare an acceleration structure of boxes, whose contents an intersection shader finds, and the pass that
    /// builds it.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among resources.
    /// boxes
    ///     Buffer (or part of one) of boxes, six 32-bit floats each: the least x, y, z, then the greatest.
    /// opaque, rebuild, refit, size, scratch
    ///     See `build_triangles`.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///     The structure, for `build_instances`.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the buffer is not declared yet.
    #[pyo3(signature = (name, boxes, *, opaque = true, rebuild = None, refit = false, size = None, scratch = None,
                        **options),
           text_signature = "($self, name, boxes, *, opaque=True, rebuild=None, refit=False, size=None, scratch=None, \
                             **options)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn build_boxes<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        boxes: &Bound<'py, PyAny>,
        opaque: bool,
        rebuild: Option<Text<'_>>,
        refit: bool,
        size: Option<Bytes>,
        scratch: Option<Bytes>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBuffer>> {
        let inputs = |work: &mut Work| {
            let (buffer, offset, bytes) = bytes_of(slf, "boxes", boxes, work)?;
            Ok(Geometry::Boxes { buffer, offset, stride: 24, boxes: count_of("boxes", bytes, 24)?, opaque })
        };
        let primitives = inputs(&mut Work::default())?.primitives();
        let building = Building { name: name.0, options, rebuild, refit, sizes: [size, scratch] };
        building.declare(slf, primitives, inputs)
    }

    /// Declare the acceleration structure that shaders trace, made of instances of others, and the passes that build
    /// it.
    ///
    /// Pass `name/records` writes a record of 64 bytes per instance into buffer `name/records`, pass `name/build`
    /// builds.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among resources.
    /// structures
    ///     The structure of each instance: what `build_triangles` and `build_boxes` returned, or names.
    /// transforms
    ///     Transforms of the instances, three rows of four numbers each: an array, or a buffer (or part of one) of
    ///     32-bit floats that passes or runs may change; default: where their structures are.
    /// ids
    ///     What shaders read as `gl_InstanceCustomIndexEXT`, less than 2^24; default: 0, 1, …
    /// masks
    ///     Rays whose mask shares no bit with an instance's miss it; default: 255.
    /// hits
    ///     Index of the first hit group of each instance; default: 0.
    /// rebuild, refit, size, scratch
    ///     See `build_triangles`; a refit follows transforms that changed.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///     The structure, to be bound to `accelerationStructureEXT` of `trace`, `compute` and `raster`.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If a buffer is not declared yet.
    #[pyo3(signature = (name, structures, *, transforms = None, ids = None, masks = None, hits = None, rebuild = None,
                        refit = false, size = None, scratch = None, **options),
           text_signature = "($self, name, structures, *, transforms=None, ids=None, masks=None, hits=None, \
                             rebuild=None, refit=False, size=None, scratch=None, **options)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn build_instances<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        structures: Bound<'py, PyAny>,
        transforms: Option<&Bound<'py, PyAny>>,
        ids: Option<Bound<'py, PyAny>>,
        masks: Option<Bound<'py, PyAny>>,
        hits: Option<Bound<'py, PyAny>>,
        rebuild: Option<Text<'_>>,
        refit: bool,
        size: Option<Bytes>,
        scratch: Option<Bytes>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBuffer>> {
        let py = slf.py();
        let structures = several(Some(structures));
        let count = structures.len();
        let listed = |what: &str, given: Option<Bound<'py, PyAny>>, most: u32| -> PyResult<Option<Vec<u32>>> {
            let Some(given) = given else { return Ok(None) };
            let all = given.try_iter()?.map(|one| Ok(one?.extract::<Count>()?.0)).collect::<PyResult<Vec<u32>>>()?;
            match all.iter().find(|one| **one > most) {
                Some(one) => Err(PyValueError::new_err(format!("{what} has {one}, and the most is {most}"))),
                None if all.len() != count => {
                    Err(PyValueError::new_err(format!("{what} has {} for {count} instances", all.len())))
                }
                None => Ok(Some(all)),
            }
        };
        let (ids, masks) = (listed("ids", ids, 0xff_ffff)?, listed("masks", masks, 0xff)?);
        let hits = listed("hits", hits, 0xff_ffff)?;
        let mut work = Work::new();
        let mut all = Vec::new();
        for (one, at) in structures.iter().zip(0..) {
            let structure = work.table.add(given(one)?.owned());
            let pick = |all: &Option<Vec<u32>>| all.as_ref().map(|all| all[at]);
            let mut instance = Instance::of(structure, at as u32);
            instance.index = pick(&ids).unwrap_or(instance.index);
            instance.mask = pick(&masks).map_or(instance.mask, |mask| mask as u8);
            instance.hit = pick(&hits).unwrap_or(instance.hit);
            all.push(instance);
        }
        let mut moved = None;
        if let Some(transforms) = transforms {
            let is_buffer = transforms.is_instance_of::<PyResource>()
                || transforms.is_instance_of::<PyString>()
                || PyView::of(transforms).is_some();
            if is_buffer {
                let (buffer, offset, bytes) = bytes_of(slf, "transforms", transforms, &mut work)?;
                if bytes < count as u64 * TRANSFORM_BYTES {
                    let message = format!("transforms has {bytes} bytes, and {count} instances have 48 each");
                    return Err(PyValueError::new_err(message));
                }
                moved = Some((buffer, offset));
            } else {
                let mut flat = Vec::new();
                numbers(transforms, &mut flat)?;
                if flat.len() != count * 12 {
                    let message = format!("transforms has {} numbers, and {count} instances have 12 each", flat.len());
                    return Err(PyValueError::new_err(message));
                }
                for (instance, rows) in all.iter_mut().zip(flat.chunks_exact(12)) {
                    instance.transform.copy_from_slice(rows);
                }
            }
        }
        let building = Building { name: name.0, options, rebuild, refit, sizes: [size, scratch] };
        let records_name = format!("{}/records", name.0);
        let bytes = (count as u64 * INSTANCE_BYTES).max(INSTANCE_BYTES);
        let records = slf.call_method1("buffer", (&records_name, bytes))?;
        let to = work.table.add(given(&records)?.owned());
        let step = infer::instances(Instances { to, offset: 0, all, transforms: moved }, &mut work.needs);
        let pass = building.pass(py, "build_instances")?;
        work.declare(slf, Named::here(slf, Text(&records_name)), pass, Todo::Steps(Arc::new([step])))?;
        building.declare(slf, count as u32, |work| {
            let buffer = work.table.add(given(&records)?.owned());
            let mut named = Vec::new();
            for one in &structures {
                let at = work.table.add(given(one)?.owned());
                if !named.contains(&at) {
                    named.push(at);
                }
            }
            Ok(Geometry::Instances { buffer, offset: 0, instances: count as u32, structures: named })
        })
    }
}
