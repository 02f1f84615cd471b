//! One draw: its program, vertex and index buffers, and how much is drawn.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rgraph_plan::access::Usage;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Program;
use rgraph_vk::work::{Draw, DrawCount, IndexBuffer, RasterState, VertexBuffer};
use rgraph_work::infer::{self, Attribute, Vertices, Who};
use rgraph_work::vertex::VertexFormat;

use crate::arguments::bind::{bind, misfit, push, values};
use crate::arguments::convert::{Bytes, Count, Number, Text, items, one_or_many, word, word_of};
use crate::arguments::declare::{given, only};
use crate::classes::compute::fixed_groups;
use crate::classes::passes::{Arguments, Work};
use crate::classes::view::PyView;

/// Reads one draw with the given state, of arguments that are all its own.
pub(crate) fn draw(
    py: Python<'_>,
    who: Who<'_>,
    mut program: Arc<Program>,
    state: RasterState,
    arguments: Arguments<'_>,
    work: &mut Work,
) -> PyResult<Draw> {
    let push = push(py, who, &program, arguments.take("push")?.as_ref())?;
    let vertex_buffers = vertex_buffers(py, who, &program, arguments.take("vertex_buffers")?, work)?;
    let wide = match arguments.word("index_format")? {
        None => true,
        Some(name) => {
            let known = |name: &str| match name {
                "uint32" => Some(true),
                "uint16" => Some(false),
                _ => None,
            };
            word(py, "index format", &name, known, ["uint32", "uint16"].into_iter())?
        }
    };
    let index = match arguments.take("index")? {
        None => None,
        Some(index) => {
            let (buffer, offset) = buffer(&index, Usage::Index, work)?;
            Some(IndexBuffer { buffer, offset, wide })
        }
    };
    let count = |name, default| Ok::<_, PyErr>(arguments.read::<Count>(name)?.map_or(default, |Count(count)| count));
    let (vertices, instances) = (count("vertices", 3)?, count("instances", 1)?);
    let (first_vertex, first_instance) = (count("first_vertex", 0)?, count("first_instance", 0)?);
    let groups = arguments.take("groups")?.map(|value| fixed_groups(&value)).transpose()?;
    let vertex_offset = arguments.read::<i32>("vertex_offset")?.unwrap_or(0);
    let draws = count("draws", 1)?;
    let stride = count("stride", infer::indirect_bytes(&program, index.is_some()))?;
    let count = match (arguments.take("indirect")?, groups) {
        (Some(_), Some(_)) => return Err(PyTypeError::new_err("indirect= counts vertices; give it or groups=")),
        (Some(indirect), None) => {
            let (buffer, offset) = buffer(&indirect, Usage::Indirect, work)?;
            DrawCount::Indirect { buffer, offset, draws, stride }
        }
        (None, Some(groups)) => DrawCount::Mesh { groups },
        (None, None) => DrawCount::Direct { vertices, instances, first_vertex, first_instance, vertex_offset },
    };
    let viewport = arguments.take("viewport")?.map(|value| viewport(&value)).transpose()?;
    let key = arguments.read::<Bytes>("key")?.map_or(0, |Bytes(key)| key);
    let bound = bind(py, who, &mut program, values(arguments)?, work)?;
    let state = Arc::new(state);
    Ok(Draw { bound, state, push, vertex_buffers, index, count, viewport, key, program })
}

/// Viewport and scissor (x, y, width, height) in texels.
pub(crate) fn viewport(value: &Bound<'_, PyAny>) -> PyResult<[f32; 4]> {
    let number = |item: &Bound<'_, PyAny>| item.extract::<Number>().map(|Number(number)| number as f32);
    match items(value).transpose()?.as_deref() {
        Some([x, y, width, height]) => Ok([number(x)?, number(y)?, number(width)?, number(height)?]),
        _ => Err(PyTypeError::new_err("viewport is (x, y, width, height) in texels")),
    }
}

/// A buffer or part of one, and its first byte.
fn buffer(value: &Bound<'_, PyAny>, usage: Usage, work: &mut Work) -> PyResult<(ResourceId, u64)> {
    let (resource, part) = match PyView::of(value) {
        Some((resource, part)) => (resource.into_any(), part),
        None => (value.clone(), Default::default()),
    };
    let id = work.table.add(given(&resource)?.owned());
    work.uses(id, usage, part, |_| {});
    Ok((id, part.ranges.bytes.map_or(0, |[first, _]| first)))
}

fn vertex_buffers(
    py: Python<'_>,
    who: Who<'_>,
    program: &Program,
    value: Option<Bound<'_, PyAny>>,
    work: &mut Work,
) -> PyResult<Vec<VertexBuffer>> {
    let listed = match value {
        None => Vec::new(),
        Some(value) if PyView::of(&value).is_some() || value.is_instance_of::<PyDict>() => vec![value],
        Some(value) => one_or_many(&value)?,
    };
    let given = listed.iter().map(|value| vertices(value, work)).collect::<PyResult<Vec<_>>>()?;
    infer::vertex_buffers(who, program, &given).map_err(|error| misfit(py, error, who))
}

fn vertices(value: &Bound<'_, PyAny>, work: &mut Work) -> PyResult<Vertices> {
    let dict = value.cast::<PyDict>().ok();
    if let Some(dict) = dict {
        only(dict, &["buffer", "attributes", "stride", "offset", "per_instance"])?;
    }
    let of = |name| dict.map_or(Ok(None), |dict| dict.get_item(name));
    let source = match dict {
        None => value.clone(),
        Some(_) => of("buffer")?.ok_or_else(|| PyTypeError::new_err("a vertex buffer is given as \"buffer\""))?,
    };
    let (buffer, first) = buffer(&source, Usage::Vertex, work)?;
    let further = of("offset")?.map_or(Ok(0), |value| value.extract::<Bytes>().map(|Bytes(offset)| offset))?;
    let names = of("attributes")?.map(|value| one_or_many(&value)?.iter().map(attribute).collect()).transpose()?;
    Ok(Vertices {
        buffer,
        offset: first.saturating_add(further),
        attributes: names,
        stride: of("stride")?.map(|value| value.extract::<Count>().map(|Count(stride)| stride)).transpose()?,
        per_instance: of("per_instance")?.map_or(Ok(false), |value| value.extract())?,
    })
}

/// A name, or (name, format, offset).
fn attribute(value: &Bound<'_, PyAny>) -> PyResult<Attribute> {
    if value.is_instance_of::<PyString>() {
        return Ok((value.extract::<Text>()?.0.to_owned(), None));
    }
    match items(value).transpose()?.as_deref() {
        Some([name, format, offset]) => {
            let known = VertexFormat::all().map(VertexFormat::name);
            let format = word_of(format, "vertex format", VertexFormat::from_name, known)?;
            Ok((name.extract::<Text>()?.0.to_owned(), Some((format, offset.extract::<Count>()?.0))))
        }
        _ => Err(PyTypeError::new_err("a vertex attribute is its name, or (name, format, offset)")),
    }
}
