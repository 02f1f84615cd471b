//! Passes that trace rays: `Module.trace`.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyString};
use rgraph_plan::access::PassQueue;
use rgraph_shader::{Kind, Program, Stage};
use rgraph_vk::work::{Groups, HitGroup, RayGroups, Step, Trace};
use rgraph_work::infer::{self, RaySources, Who};

use crate::arguments::bind::{bind, push, values};
use crate::arguments::convert::{Count, Text};
use crate::arguments::{keywords, shader};
use crate::classes::compute::{Extent, extent};
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::classes::passes::{Arguments, Named, PassArguments, Work};
use crate::classes::rays::several;
use crate::run::error::graph_error;
use crate::run::pending_work::Todo;

/// The shaders of a trace.
#[derive(Default)]
struct Shaders {
    sources: RaySources,
    file: Option<String>,
}

impl Shaders {
    fn add(&mut self, value: &Bound<'_, PyAny>, stage: Stage) -> PyResult<u32> {
        let (code, file) = shader::source(value)?;
        let source = shader::given(code, file.as_deref());
        self.file = self.file.take().or_else(|| Some(file?.display().to_string()));
        Ok(self.sources.add(source, stage))
    }

    fn all(&mut self, value: Option<Bound<'_, PyAny>>, stage: Stage) -> PyResult<Vec<u32>> {
        several(value).iter().map(|value| self.add(value, stage)).collect()
    }

    /// A hit group: its closest-hit shader, or all of its shaders by name.
    fn hit(&mut self, value: &Bound<'_, PyAny>) -> PyResult<HitGroup> {
        if value.is_none() {
            return Ok(HitGroup::default());
        }
        let Ok(dict) = value.cast::<PyDict>() else {
            return Ok(HitGroup { closest: Some(self.add(value, Stage::ClosestHit)?), ..HitGroup::default() });
        };
        let mut group = HitGroup::default();
        for (name, value) in dict.iter() {
            let Text(name) = name.extract()?;
            let (place, stage) = match name {
                "closest" => (&mut group.closest, Stage::ClosestHit),
                "any" => (&mut group.any, Stage::AnyHit),
                "intersection" => (&mut group.intersection, Stage::Intersection),
                _ => {
                    let known = ["closest", "any", "intersection"].map(str::to_owned);
                    return Err(keywords::unexpected("hit=", name, &known));
                }
            };
            *place = Some(self.add(&value, stage)?);
        }
        Ok(group)
    }
}

/// The data of a shader record.
fn record(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("data of a shader record is bytes, or an array"));
    }
    let bytes = value.py().get_type::<PyBytes>().call1((value,))?;
    Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// The data of all groups in their order: `{"raygen": …, "miss": […], "hit": […], "callable": […]}`.
fn records(given: Option<Bound<'_, PyAny>>, groups: &RayGroups) -> PyResult<Vec<Vec<u8>>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let Ok(dict) = given.cast::<PyDict>() else {
        return Err(PyTypeError::new_err("records is a dict: {\"hit\": [bytes, …]}"));
    };
    let places =
        [("raygen", 1), ("miss", groups.miss.len()), ("hit", groups.hit.len()), ("callable", groups.callable.len())];
    for name in dict.keys() {
        let Text(name) = name.extract()?;
        if !places.iter().any(|(known, _)| *known == name) {
            return Err(keywords::unexpected("records=", name, &places.map(|(known, _)| known.to_owned())));
        }
    }
    let mut out = Vec::new();
    for (name, count) in places {
        let data = several(dict.get_item(name)?);
        if data.len() > count {
            let message = format!("records has {} of \"{name}\", and the trace has {count}", data.len());
            return Err(PyValueError::new_err(message));
        }
        let given = data.len();
        for one in data {
            out.push(if one.is_none() { Vec::new() } else { record(&one)? });
        }
        out.resize(out.len() + count - given, Vec::new());
    }
    Ok(out)
}

/// Reads `size=`: so many rays, or one per texel of an image; default: of the one that is written.
fn size(
    py: Python<'_>,
    who: Who<'_>,
    program: &Program,
    value: Option<&Bound<'_, PyAny>>,
    work: &mut Work,
) -> PyResult<Groups> {
    const WANTED: &str = "size is (x, y, z) rays, or an image with as many texels";
    Ok(match extent(py, who, program, value, WANTED, work)? {
        Extent::Known(size) => size,
        Extent::Of(image, part) => Groups::Cover(image, part.ranges.mips.map_or(0, |[first, _]| first)),
    })
}

#[pymethods]
impl PyGraphModule {
    /// Declare a pass that traces rays.
    ///
    /// The accesses of bound resources follow from the shaders, which are GLSL (`#extension GL_EXT_ray_tracing`) or
    /// SPIR-V: text, paths or bytes as in `compute`. rgraph makes the shader binding table, with a record per shader
    /// group in the order of the arguments here.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// raygen
    ///     The shader that generates the rays.
    /// miss
    ///     Shaders of rays that hit nothing, in the order of miss indices.
    /// hit
    ///     Hit groups, in the order of their positions: each a closest-hit shader, None, or a dict with `closest`,
    ///     `any` and `intersection`; the latter makes it one of boxes.
    /// callable
    ///     Shaders that others call, in the order of their positions.
    /// size
    ///     Rays (x, y, z), or an image with as many texels; default: a ray for each texel of the one image that the
    ///     shaders write.
    /// depth
    ///     How deep traces nest: 1 where only `raygen` traces rays.
    /// queue
    ///     See `add_pass`.
    /// push, entry, constants
    ///     See `compute`; for all shaders.
    /// records
    ///     What shaders read as `shaderRecordEXT`: a dict with lists of bytes or arrays, by `raygen`, `miss`, `hit` and
    ///     `callable`.
    /// bindings
    ///     Bindings as a dict, for variables whose name clashes with an argument (`hit`, `size`, …).
    /// **variables
    ///     Bindings by the names of the shaders' variables, as in `compute`; to an `accelerationStructureEXT` what
    ///     `build_instances` returned.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    ///
    /// Raises
    /// ------
    /// ShaderError
    ///     If a shader does not compile (with its line).
    /// GraphError
    ///     If a shader is of another stage, or a binding is missing, unknown or of the wrong kind. The graph is left
    ///     unchanged.
    #[pyo3(signature = (name, raygen, **arguments),
           text_signature = "($self, name, raygen, *, miss=(), hit=(), callable=(), size=None, depth=1, \
                             queue='compute', push=None, entry=None, constants=None, records=None, bindings=None, \
                             **variables)")]
    fn trace<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        raygen: &Bound<'py, PyAny>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let py = slf.py();
        let arguments = Arguments::new(arguments)?;
        let pass = PassArguments::take(&arguments, PassQueue::Compute)?;
        let (named, mut work) = (Named::here(slf, name), Work::new());
        let who = named.who();
        let mut shaders = Shaders::default();
        shaders.add(raygen, Stage::RayGeneration)?;
        let miss = shaders.all(arguments.take("miss")?, Stage::Miss)?;
        let hit = several(arguments.take("hit")?);
        let hit = hit.iter().map(|group| shaders.hit(group)).collect::<PyResult<Vec<_>>>()?;
        let callable = shaders.all(arguments.take("callable")?, Stage::Callable)?;
        let mut groups = RayGroups { miss, hit, callable, records: Vec::new() };
        groups.records = records(arguments.take("records")?, &groups)?;
        let depth = arguments.read::<Count>("depth")?.map_or(1, |Count(depth)| depth);
        let entry = arguments.word("entry")?;
        let constants = shader::constants(arguments.take("constants")?.as_ref())?;
        let Shaders { sources: RaySources { sources }, file } = shaders;
        let sources = (file.unwrap_or_default(), sources);
        let mut program = shader::compiled(py, sources, Kind::RayTracing, (entry, constants), who)?;
        infer::check_groups(who, &program, &groups).map_err(|error| graph_error(py, &error))?;
        let push = push(py, who, &program, arguments.take("push")?.as_ref())?;
        let rays = arguments.take("size")?;
        let bound = bind(py, who, &mut program, values(arguments)?, &mut work)?;
        let size = size(py, who, &program, rays.as_ref(), &mut work)?;
        let step = Step::Trace(Trace { program, groups: Arc::new(groups), bound, push, size, depth });
        work.declare(slf, named, pass, Todo::Steps(Arc::new([step])))
    }
}
