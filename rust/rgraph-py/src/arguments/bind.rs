//! What is bound to a shader's variables: keyword arguments as what graph files say too.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rgraph_plan::format::Format;
use rgraph_plan::nearest::nearest;
use rgraph_shader::{Binding, BindingKind, Kind, Program};
use rgraph_vk::work::{Bound as BoundTo, PushData, Sampler};
use rgraph_work::WorkError;
use rgraph_work::infer::{self, Elements, Given, Who};

use crate::arguments::convert::{ByteRange, Range, Text, aspects, during};
use crate::arguments::declare::{given, only};
use crate::arguments::keywords;
use crate::arguments::shader;
use crate::arguments::value::value;
use crate::classes::format::FormatName;
use crate::classes::passes::{Argument, Arguments, Work, text};
use crate::classes::resource::PyResource;
use crate::classes::sampler::PySampler;
use crate::classes::view::{AccessRange, PyView};
use crate::run::error::{graph_error, shader_error};

/// The Python exception of work that does not fit its shader.
pub(crate) fn misfit(py: Python<'_>, error: WorkError, who: Who<'_>) -> PyErr {
    match error {
        WorkError::Graph(error) => graph_error(py, &error),
        WorkError::Shader(error) => shader_error(py, &error, Some(who)),
    }
}

/// The values of bindings: those left over of the keyword arguments, and those of `bindings=`.
pub(crate) fn values<'py>(arguments: Arguments<'py>) -> PyResult<Vec<Argument<'py>>> {
    let more = arguments.take("bindings")?;
    let mut values = arguments.rest();
    if let Some(more) = more {
        for (name, value) in more.cast::<PyDict>()?.iter() {
            values.push((text(&name)?, value));
        }
    }
    Ok(values)
}

/// The exception of bindings that are given by position, with the call to type instead: the names of the shader's
/// variables, if it compiles, with resources that fit their number.
pub(crate) fn by_position(
    (function, lead): (&str, &str),
    shader: &Bound<'_, PyAny>,
    (kind, arguments): (Kind, Arguments<'_>),
    who: Who<'_>,
    given: &Bound<'_, PyTuple>,
) -> PyErr {
    let program = shader::program(shader, kind, &arguments, who).ok();
    let keywords: Vec<_> = arguments.rest().into_iter().map(|(name, _)| name.to_string()).collect();
    let bindings = program.iter().flat_map(|program| &program.interface.bindings);
    let open = bindings
        .filter(|binding| !matches!(binding.kind, BindingKind::Sampler { .. }) && !keywords.contains(&binding.name));
    let mut names: Vec<&str> = open.map(|binding| binding.name.as_str()).collect();
    let exact = names.len() == given.len();
    let targets = ["color", "depth"].iter().any(|name| keywords.iter().any(|keywords| keywords == name));
    if kind == Kind::Raster && !targets && function == "raster" {
        names.insert(0, "color");
    }
    let shown = |at: usize| {
        let value = given.get_item(at).ok().filter(|_| exact && kind == Kind::Compute)?;
        match value.cast::<PyResource>() {
            Ok(handle) => Some(format!("{:?}", handle.get().full_name())),
            Err(_) => value.extract::<Text>().ok().map(|Text(name)| format!("{name:?}")),
        }
    };
    let words =
        names.iter().enumerate().map(|(at, name)| format!("{name}={}", shown(at).unwrap_or_else(|| "…".to_owned())));
    let mut words: Vec<_> = words.collect();
    if program.is_none() || words.is_empty() {
        words.push("variable=resource".to_owned());
    }
    // What is given by name already is part of the call.
    words.extend(keywords.iter().map(|name| format!("{name}=…")));
    PyTypeError::new_err(format!(
        "{function}() binds by the names of the shader's variables, not by position\n  help: {function}({lead}, {})",
        words.join(", ")
    ))
}

/// Matches values with the variables of a program, and notes in `work` how they are used.
///
/// # Errors
/// See [`infer::bind`].
pub(crate) fn bind(
    py: Python<'_>,
    who: Who<'_>,
    program: &mut Arc<Program>,
    values: Vec<Argument<'_>>,
    work: &mut Work,
) -> PyResult<Arc<[BoundTo]>> {
    let mut all = std::mem::take(&mut work.values);
    for (name, value) in &values {
        let binding = program.interface.find(name).map(|(_, binding)| binding);
        let given = match binding {
            Some(binding) if !value.is_none() && binding.count == 1 => {
                Some(Elements::One(one(value, who, binding, work)?))
            }
            Some(binding) if !value.is_none() => {
                let items = crate::arguments::convert::one_or_many(value)?;
                Some(Elements::Many(items.iter().map(|item| one(item, who, binding, work)).collect::<PyResult<_>>()?))
            }
            _ => None,
        };
        all.push(given);
    }
    if let Some(mistyped) = mistyped(program, &values) {
        return Err(mistyped);
    }
    let names = values.iter().map(|(name, _)| &**name);
    let bound = infer::bind(who, program, names, &all, &mut work.needs);
    all.clear();
    work.values = all;
    bound.map_err(|error| misfit(py, error, who))
}

/// The exception of a keyword argument that is no binding and resembles another keyword argument more than a binding.
fn mistyped(program: &Program, values: &[Argument<'_>]) -> Option<PyErr> {
    let bindings = || program.interface.bindings.iter().map(|binding| binding.name.as_str());
    let unused = |name: &str| program.interface.unused.iter().any(|unused| unused == name);
    let stranger = |name: &&str| !bindings().any(|known| known == *name) && !unused(name);
    let name =
        values.iter().map(|(name, _)| &**name).filter(stranger).find(|name| nearest(name, bindings()).is_none())?;
    let (function, known) = match program.kind {
        Kind::Compute => ("compute", &COMPUTE[..]),
        Kind::Raster => ("raster", &RASTER[..]),
        Kind::RayTracing => ("trace", &TRACE[..]),
    };
    let known: Vec<String> = known.iter().chain(&keywords::OF_PASSES).map(|name| (*name).to_owned()).collect();
    let near = nearest(name, known.iter().map(String::as_str))?.to_owned();
    Some(keywords::unexpected(function, name, &[near]))
}

/// Keyword arguments of dispatches, of traces and of draws.
const COMPUTE: [&str; 6] = ["groups", "push", "entry", "constants", "key", "bindings"];
const TRACE: [&str; 11] =
    ["raygen", "miss", "hit", "callable", "size", "depth", "push", "entry", "constants", "records", "bindings"];
const RASTER: [&str; 32] = [
    "color",
    "depth",
    "vertices",
    "instances",
    "push",
    "entry",
    "constants",
    "vertex_buffers",
    "index",
    "index_format",
    "indirect",
    "draws",
    "stride",
    "groups",
    "clear",
    "load",
    "clear_depth",
    "load_depth",
    "resolve",
    "resolve_mode",
    "blend",
    "write_mask",
    "cull",
    "front",
    "topology",
    "patch_vertices",
    "wireframe",
    "depth_test",
    "depth_write",
    "viewport",
    "stencil",
    "bindings",
];

/// A sampler: an `rgraph.Sampler`, or its arguments as a graph file has them.
fn sampler(value: &Bound<'_, PyAny>) -> PyResult<Option<Sampler>> {
    if let Ok(sampler) = value.cast::<PySampler>() {
        return Ok(Some(sampler.get().0));
    }
    let Ok(arguments) = value.cast::<PyDict>() else { return Ok(None) };
    let made = value.py().get_type::<PySampler>().call((), Some(arguments))?;
    Ok(Some(made.cast::<PySampler>()?.get().0))
}

/// A format or its name.
fn format(value: &Bound<'_, PyAny>) -> PyResult<Format> {
    value.extract::<FormatName>().map(|FormatName(format)| format)
}

/// Part of a resource, and its sampler, as a graph file has them: `{"resource": …, "mip": 1, "sampler": …}`.
fn described(dict: &Bound<'_, PyDict>, work: &mut Work) -> PyResult<Given> {
    only(dict, &["resource", "mip", "mips", "layer", "layers", "aspects", "range", "sampler", "format"])?;
    let of = |name| dict.get_item(name);
    let Some(resource) = of("resource")? else {
        return Err(PyTypeError::new_err("a binding given as a dict has a \"resource\""));
    };
    let (resource, mut part) = match PyView::of(&resource) {
        Some((of, part)) => (of.into_any(), part),
        None => (resource, AccessRange::default()),
    };
    for (one, many) in [("mip", "mips"), ("layer", "layers")] {
        let range = match (of(one)?, of(many)?) {
            (Some(_), Some(_)) => return Err(PyTypeError::new_err(format!("a binding has {one} or {many}, not both"))),
            (Some(value), None) | (None, Some(value)) => {
                value.extract::<Range>().map_err(|error| during(value.py(), error, many))?.0
            }
            (None, None) => continue,
        };
        match one {
            "mip" => part.ranges.mips = Some(range),
            _ => part.ranges.layers = Some(range),
        }
    }
    if let Some(range) = of("range")? {
        part.ranges.bytes = Some(range.extract::<ByteRange>().map_err(|error| during(range.py(), error, "range"))?.0);
    }
    if let Some(names) = of("aspects")? {
        part.aspects = aspects(&names)?;
    }
    let sampler = of("sampler")?.map(|value| sampler(&value)).transpose()?.flatten();
    let at = work.table.add(given(&resource)?.owned());
    Ok(match of("format")? {
        Some(name) => Given::Texels(at, part, format(&name)?),
        None => Given::Resource(at, part, sampler),
    })
}

fn one(value: &Bound<'_, PyAny>, who: Who<'_>, binding: &Binding, work: &mut Work) -> PyResult<Given> {
    let samples = matches!(binding.kind, BindingKind::Sampler { .. });
    if let Ok(sampler) = value.cast::<PySampler>() {
        return Ok(Given::Sampler(sampler.get().0));
    }
    if samples && let Some(sampler) = sampler(value)? {
        return Ok(Given::Sampler(sampler));
    }
    if let Ok(dict) = value.cast::<PyDict>()
        && binding.kind != BindingKind::Uniform
        && dict.contains("resource")?
    {
        return described(dict, work);
    }
    // An image together with its sampler, or a buffer with the format of its texels.
    let (value, sampler, format) = match value.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 && pair.get_item(1)?.is_instance_of::<PySampler>() => {
            (pair.get_item(0)?, Some(pair.get_item(1)?.cast::<PySampler>()?.get().0), None)
        }
        Ok(pair) if pair.len() == 2 && matches!(binding.kind, BindingKind::Texels { .. }) => {
            (pair.get_item(0)?, None, Some(format(&pair.get_item(1)?)?))
        }
        _ => (value.clone(), None, None),
    };
    let part = PyView::of(&value).map(|(resource, part)| (resource.into_any(), part));
    let part = part.or_else(|| value.is_instance_of::<PyString>().then(|| (value.clone(), AccessRange::default())));
    match part {
        Some((resource, part)) => {
            let at = work.table.add(given(&resource)?.owned());
            Ok(match format {
                Some(format) => Given::Texels(at, part, format),
                None => Given::Resource(at, part, sampler),
            })
        }
        None if binding.kind == BindingKind::Uniform => {
            crate::arguments::value::value(&value, who, &binding.name).map(Given::Data)
        }
        None => {
            let (got, help) = data_words(&value, binding)?;
            Ok(Given::Other(got, help))
        }
    }
}

fn data_words(value: &Bound<'_, PyAny>, binding: &Binding) -> PyResult<(String, String)> {
    let kind = value.get_type().name()?.to_string();
    let help = match binding.kind {
        BindingKind::Storage => "import it: g.import_array(name, array, as_buffer=True)",
        BindingKind::Sampler { .. } => "bind an rgraph.Sampler",
        BindingKind::AccelerationStructure => "bind what build_instances returned",
        _ if value.is_instance_of::<PyList>() => "bind one image, or make it an array in the shader",
        _ => "import it: g.import_array(name, array)",
    };
    Ok((format!("plain data ({kind})"), help.to_owned()))
}

/// The push data of a program.
///
/// # Errors
/// See [`infer::push`].
pub(crate) fn push(
    py: Python<'_>,
    who: Who<'_>,
    program: &Program,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<PushData> {
    let given = match (given, &program.interface.push) {
        (Some(given), Some(push)) => Some(value(given, who, &push.name)?),
        // Whatever it is: the shader reads none.
        (Some(_), None) => Some(rgraph_shader::Value::Bool(false)),
        (None, _) => None,
    };
    infer::push(who, program, given.as_ref()).map_err(|error| misfit(py, error, who))
}
