//! One draw: its program, vertex and index buffers, and how much is drawn.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rgraph_plan::access::Usage;
use rgraph_plan::error::Code;
use rgraph_plan::format::Format;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Program, Scalar, VertexInput};
use rgraph_vk::work::{Draw, DrawCount, IndexBuffer, VertexBuffer};

use crate::bind::{Who, bind, push, values};
use crate::convert::{Bytes, Count, Number, Text, items, one_or_many, word};
use crate::declare::{given, only};
use crate::passes::{Arguments, Work, all};
use crate::raster_state;
use crate::view::PyView;

/// Words of a `VkDrawIndirectCommand` and of a `VkDrawIndexedIndirectCommand`.
const INDIRECT: [u32; 2] = [16, 20];

/// Reads one draw, of arguments that are all its own; `targets` is the number of colour targets.
pub fn draw(
    py: Python<'_>,
    who: Who<'_>,
    program: Arc<Program>,
    targets: usize,
    arguments: Arguments<'_>,
    work: &mut Work,
) -> PyResult<Draw> {
    let state = raster_state::state(&arguments, targets)?;
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
    let vertex_offset = arguments.read::<i32>("vertex_offset")?.unwrap_or(0);
    let draws = count("draws", 1)?;
    let stride = count("stride", INDIRECT[usize::from(index.is_some())])?;
    let count = match arguments.take("indirect")? {
        Some(indirect) => {
            let (buffer, offset) = buffer(&indirect, Usage::Indirect, work)?;
            DrawCount::Indirect { buffer, offset, draws, stride }
        }
        None => DrawCount::Direct { vertices, instances, first_vertex, first_instance, vertex_offset },
    };
    let viewport = arguments.take("viewport")?.map(|value| viewport(&value)).transpose()?;
    let key = arguments.read::<Bytes>("key")?.map_or(0, |Bytes(key)| key);
    let bound = bind(py, who, &program, &values(arguments)?, work)?.bound;
    let state = Arc::new(state);
    Ok(Draw { bound: Arc::from(bound), state, push, vertex_buffers, index, count, viewport, key, program })
}

fn viewport(value: &Bound<'_, PyAny>) -> PyResult<[f32; 4]> {
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

/// The format of an input that is stored as the shader reads it.
fn format_of(input: &VertexInput) -> Option<Format> {
    let kind = match input.scalar {
        Scalar::F32 => "32float",
        Scalar::I32 => "32sint",
        Scalar::U32 => "32uint",
        Scalar::F16 => "16float",
        _ => return None,
    };
    let channels = match input.components {
        1 => "r",
        2 => "rg",
        4 => "rgba",
        _ => return None,
    };
    Format::from_name(&format!("{channels}{kind}"))
}

fn vertex_buffers(
    py: Python<'_>,
    who: Who<'_>,
    program: &Program,
    value: Option<Bound<'_, PyAny>>,
    work: &mut Work,
) -> PyResult<Vec<VertexBuffer>> {
    let inputs = &program.interface.vertex_inputs;
    let mut missing: Vec<&VertexInput> = inputs.iter().collect();
    let mut buffers = Vec::new();
    let listed = match value {
        None => Vec::new(),
        Some(value) if PyView::of(&value).is_some() || value.is_instance_of::<PyDict>() => vec![value],
        Some(value) => one_or_many(&value)?,
    };
    for value in &listed {
        let dict = value.cast::<PyDict>().ok();
        if let Some(dict) = dict {
            only(dict, &["buffer", "attributes", "stride", "offset", "per_instance"])?;
        }
        let of = |name| dict.map_or(Ok(None), |dict| dict.get_item(name));
        let source = match dict {
            None => value.clone(),
            Some(_) => of("buffer")?.ok_or_else(|| PyTypeError::new_err("a vertex buffer is given as \"buffer\""))?,
        };
        let (id, mut offset) = buffer(&source, Usage::Vertex, work)?;
        offset += of("offset")?.map_or(Ok(0), |value| value.extract::<Bytes>().map(|Bytes(offset)| offset))?;
        let (mut attributes, mut end) = (Vec::new(), 0);
        let named = match of("attributes")? {
            None => inputs.iter().map(|input| (input.name.clone(), None)).collect(),
            Some(value) => one_or_many(&value)?.iter().map(attribute).collect::<PyResult<Vec<_>>>()?,
        };
        for (name, said) in named {
            let known = |name: &str| inputs.iter().find(|input| input.name == name);
            let input = word(py, "vertex input", &name, known, std::iter::empty())
                .map_err(|_| all(py, vec![unknown(who, program, &name)]))?;
            missing.retain(|other| other.location != input.location);
            let (format, at) = match said {
                Some(said) => said,
                None => (own_format(py, who, program, input)?, end),
            };
            attributes.push((input.location, format, at));
            end = end.max(at.saturating_add(format.block_bytes() as u32));
        }
        let stride = of("stride")?.map_or(Ok(end), |value| value.extract::<Count>().map(|Count(stride)| stride))?;
        let per_instance = of("per_instance")?.map_or(Ok(false), |value| value.extract())?;
        buffers.push(VertexBuffer { buffer: id, offset, stride, per_instance, attributes });
    }
    if let Some(input) = missing.first() {
        let message = format!(
            "pass \"{}\" has no vertex buffer with \"{}\", which shader \"{}\" reads at location {}",
            who.pass, input.name, program.name, input.location
        );
        let help = "name it among the attributes of a buffer in vertex_buffers=".to_owned();
        return Err(all(py, vec![who.mistake(Code::BadVertices, message, format!("no \"{}\"", input.name), help)]));
    }
    Ok(buffers)
}

fn unknown(who: Who<'_>, program: &Program, name: &str) -> rgraph_plan::error::Mistake {
    let known: Vec<_> = program.interface.vertex_inputs.iter().map(|input| input.name.as_str()).collect();
    let message =
        format!("pass \"{}\" has vertices with \"{name}\", which shader \"{}\" does not read", who.pass, program.name);
    let help = match rgraph_plan::file::nearest::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("it reads {}", known.join(", ")),
    };
    who.mistake(Code::BadVertices, message, format!("has \"{name}\""), help)
}

fn own_format(py: Python<'_>, who: Who<'_>, program: &Program, input: &VertexInput) -> PyResult<Format> {
    format_of(input).ok_or_else(|| {
        let message = format!(
            "pass \"{}\" does not say how vertex input \"{}\" of shader \"{}\" is stored",
            who.pass, input.name, program.name
        );
        let help = match input.components {
            3 => "no format has three channels: say attributes=[(name, \"rgba32float\", offset)] and a stride",
            _ => "say attributes=[(name, format, offset)]",
        };
        all(py, vec![who.mistake(Code::BadVertices, message, format!("reads \"{}\"", input.name), help.to_owned())])
    })
}

/// A name, or (name, format, offset).
fn attribute(value: &Bound<'_, PyAny>) -> PyResult<(String, Option<(Format, u32)>)> {
    if value.is_instance_of::<PyString>() {
        return Ok((value.extract::<Text>()?.0.to_owned(), None));
    }
    match items(value).transpose()?.as_deref() {
        Some([name, format, offset]) => {
            let known = Format::all().map(Format::name);
            let format = word(value.py(), "format", format.extract::<Text>()?.0, Format::from_name, known)?;
            Ok((name.extract::<Text>()?.0.to_owned(), Some((format, offset.extract::<Count>()?.0))))
        }
        _ => Err(PyTypeError::new_err("a vertex attribute is its name, or (name, format, offset)")),
    }
}
