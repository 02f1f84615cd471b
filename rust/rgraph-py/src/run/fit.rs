//! Whether arrays have the numbers and rows that shaders read: numpy's default is 64 bits, and its records are packed.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use rgraph_plan::error::{Code, Mistake};
use rgraph_plan::graph::PassId;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::VertexInput;
use rgraph_vk::work::{Step, VertexBuffer, Workload};
use rgraph_work::texel::Element;

use crate::arguments::dtype::{Dtype, Field, Item, Record};
use crate::classes::array_layout::Seen;
use crate::run::error::one;
use crate::run::states::{bound, steps};

/// Most numbers of an element that are compared.
const MOST_NUMBERS: usize = 4096;

/// A number in an element, and the field that has it.
#[derive(Clone, Copy)]
struct Number<'a> {
    at: usize,
    element: Element,
    field: &'a str,
}

/// How an array does not fit a shader.
enum Clash {
    /// Numbers of the array, and those of the shader.
    Numbers(Element, Element),
    /// Bytes from element to element.
    Sizes(usize, usize),
    /// Bytes from row to row, and those of the shader, whose rows end in padding.
    Rows(usize, usize),
    /// What the array has at a byte, and what the shader has there.
    Fields(String, String),
}

impl Number<'_> {
    fn end(self) -> usize {
        self.at + self.element.size()
    }

    /// Whether a shader that reads `wanted` in these bytes may mean it. Unsigned integers may be parts of anything, and
    /// anything may be read as words. The fields of `records` mean what they say.
    fn fits(self, wanted: Self, records: bool) -> bool {
        use Element::{Float, Int, Uint};
        let (own, other) = (self.element, wanted.element);
        match own.size().cmp(&other.size()) {
            std::cmp::Ordering::Equal if !records => true,
            std::cmp::Ordering::Equal => {
                self.at == wanted.at && !matches!((own, other), (Float(_), Int(_)) | (Int(_) | Uint(_), Float(_)))
            }
            std::cmp::Ordering::Less => {
                (matches!(own, Uint(_)) || matches!(other, Uint(_)))
                    && (!records || wanted.at <= self.at && self.end() <= wanted.end())
            }
            std::cmp::Ordering::Greater => match own {
                Uint(_) if !records => true,
                _ => matches!(other, Uint(_)) && (!records || self.at <= wanted.at && wanted.end() <= self.end()),
            },
        }
    }

    fn shown(self) -> String {
        let name = self.element.name();
        if self.field.is_empty() { name.to_owned() } else { format!("{name} \"{}\"", self.field) }
    }
}

/// Numbers of one element; `None`: too many.
fn numbers(dtype: &Dtype) -> Option<Vec<Number<'_>>> {
    fn add<'a>(dtype: &'a Dtype, at: usize, field: &'a str, all: &mut Vec<Number<'a>>) -> Option<()> {
        match dtype {
            Dtype::Number(element) => all.push(Number { at, element: *element, field }),
            Dtype::Record(record) => {
                for one in &record.fields {
                    let field = if field.is_empty() { &one.name } else { field };
                    for index in 0..one.shape.iter().product() {
                        add(&one.dtype, at + one.offset + index * one.dtype.size(), field, all)?;
                    }
                }
            }
        }
        (all.len() <= MOST_NUMBERS).then_some(())
    }
    let mut all = Vec::new();
    add(dtype, 0, "", &mut all)?;
    Some(all)
}

/// Without records that have one record each, or an array of them.
fn bare(mut dtype: &Dtype, mut count: usize) -> (&Dtype, usize) {
    while let Dtype::Record(record) = dtype
        && let [only] = &*record.fields
        && matches!(only.dtype, Dtype::Record(_))
        && only.size() == record.size
    {
        count *= only.shape.iter().product::<usize>();
        dtype = &only.dtype;
    }
    (dtype, count)
}

/// How the rows of an array are those of a shader without their padding: a `vec3` takes 16 bytes.
fn rows_clash(shape: &[usize], given: Element, item: &Item) -> Option<Clash> {
    let axes = shape.get(1..)?;
    let last = axes.last()? * given.size();
    match &item.dtype {
        Dtype::Number(_) => {
            let [run, step] = item.rows;
            (run != step && !item.shape.is_empty() && last == run).then_some(Clash::Rows(run, step))
        }
        Dtype::Record(record) => {
            let bytes: usize = numbers(&item.dtype)?.iter().map(|number| number.element.size()).sum();
            let mut inner = axes.iter().rev().scan(given.size(), |row, axis| {
                *row *= axis;
                Some(*row)
            });
            (bytes != record.size && inner.any(|row| row == bytes)).then_some(Clash::Rows(bytes, record.size))
        }
    }
}

/// How an array does not fit the elements of a shader.
fn clash(shape: &[usize], given: &Dtype, item: &Item) -> Option<Clash> {
    let ((given, count), (wanted, _)) = (bare(given, shape.iter().product()), bare(&item.dtype, 1));
    if let Dtype::Number(number) = given
        && let Some(clash) = rows_clash(shape, *number, item)
    {
        return Some(clash);
    }
    match (given, wanted) {
        (Dtype::Number(given), Dtype::Number(wanted)) => {
            let row = item.shape.iter().product::<usize>() * wanted.size();
            (!numbers_fit(*given, *wanted, row)).then_some(Clash::Numbers(*given, *wanted))
        }
        (Dtype::Record(own), Dtype::Record(other)) if count > 1 && own.size != other.size => {
            Some(Clash::Sizes(own.size, other.size))
        }
        (Dtype::Record(own), Dtype::Record(other)) => {
            let length = own.size.max(other.size);
            named_clash(own, other).or_else(|| numbers_clash((given, length), (wanted, length), true))
        }
        (Dtype::Number(given_number), Dtype::Record(_)) => {
            numbers_clash((given, given_number.size()), (wanted, item.stride), false)
        }
        // Numbers in rows with padding, or the words of records.
        (Dtype::Record(own), Dtype::Number(number)) if item.rows[0] == item.rows[1] => {
            numbers_clash((given, own.size), (wanted, number.size()), false)
        }
        _ => None,
    }
}

/// Whether numbers are those that a shader reads in rows of so many bytes. Two words may be a number of 64 bits.
fn numbers_fit(given: Element, wanted: Element, row: usize) -> bool {
    use Element::{Float, Int, Uint};
    match (given, wanted) {
        _ if given == wanted => true,
        (Float(_), Float(_)) | (Int(_), Int(_)) => false,
        (Float(8) | Int(8), Uint(4)) => row.is_multiple_of(8),
        (Float(8) | Int(8), other) => other.size() == 8,
        _ => true,
    }
}

/// A field at another byte than the shader's member of that name.
fn named_clash(given: &Record, wanted: &Record) -> Option<Clash> {
    given.fields.iter().find_map(|own: &Field| {
        let other = wanted.fields.iter().find(|other| other.name == own.name)?;
        if own.offset != other.offset {
            let place = |field: &Field| format!("\"{}\" at byte {}", field.name, field.offset);
            return Some(Clash::Fields(place(own), place(other)));
        }
        match (&own.dtype, &other.dtype) {
            (Dtype::Record(own), Dtype::Record(other)) => named_clash(own, other),
            _ => None,
        }
    })
}

/// The first number that does not fit, along elements of `given` bytes and those of `wanted` bytes.
fn numbers_clash((given, size): (&Dtype, usize), (wanted, period): (&Dtype, usize), records: bool) -> Option<Clash> {
    let (own, other) = (numbers(given)?, numbers(wanted)?);
    let length = size.max(period);
    let repeats = |size: usize| length.is_multiple_of(size).then(|| length / size);
    let (own_repeats, other_repeats) = (repeats(size)?, repeats(period)?);
    if own.len().checked_mul(own_repeats)?.max(other.len().checked_mul(other_repeats)?) > MOST_NUMBERS {
        return None;
    }
    let along = |all: &[Number<'_>], at: usize, size: usize| -> Vec<(usize, usize)> {
        (0..at).flat_map(|n| all.iter().enumerate().map(move |(index, one)| (one.at + n * size, index))).collect()
    };
    let there = along(&other, other_repeats, period);
    along(&own, own_repeats, size).into_iter().find_map(|(at, index)| {
        let one = Number { at, ..own[index] };
        let first = there.partition_point(|(start, index)| start + other[*index].element.size() <= at);
        let over = there[first..].iter().map(|(at, index)| Number { at: *at, ..other[*index] });
        let wrong = over.take_while(|other| other.at < one.end()).find(|other| !one.fits(*other, records))?;
        Some(match one.field.is_empty() && wrong.field.is_empty() {
            true => Clash::Numbers(one.element, wrong.element),
            false => {
                let place = |number: Number<'_>| format!("{} at byte {}", number.shown(), number.at);
                Clash::Fields(place(one), place(wrong))
            }
        })
    })
}

/// Whether records are vertices, of which a shader that reads fewer inputs would take several out of each: a field has
/// the name of an input, or goes on beyond a vertex.
fn are_vertices(own: &Record, stride: usize, inputs: &[VertexInput]) -> bool {
    own.fields.iter().any(|field| {
        let row = field.shape.last().unwrap_or(&1) * field.dtype.size();
        names_input(&field.name, inputs).is_some() || field.offset % stride + row > stride
    })
}

/// The input that a field is called by. Slang names members with their variable: `corner.at`.
fn names_input<'a>(field: &str, inputs: &'a [VertexInput]) -> Option<&'a VertexInput> {
    inputs.iter().find(|input| input.name.rsplit('.').next() == Some(field))
}

/// How the array of a vertex buffer does not fit the attributes that a draw reads from it.
fn vertices_clash(given: &Dtype, one: &VertexBuffer, inputs: &[VertexInput]) -> Option<Clash> {
    use Element::{Float, Int};
    let ((given, _), stride) = (bare(given, 1), one.stride as usize);
    let attributes = one.attributes.iter().filter_map(|(location, format, at)| {
        let element = format.element()?;
        let shape = vec![format.bytes() as usize / element.size()];
        let (name, offset) = (format!("location {location}"), *at as usize);
        Some(Field { name, offset, shape, dtype: Dtype::Number(element) })
    });
    match given {
        Dtype::Number(given) => {
            let kin = |wanted: &Element| matches!((given, wanted), (Float(_), Float(_)) | (Int(_), Int(_)));
            let mut wanted = attributes.filter_map(|field| field.dtype.number());
            wanted.find(|wanted| kin(wanted) && given != wanted).map(|wanted| Clash::Numbers(*given, wanted))
        }
        Dtype::Record(own) if stride > 0 && one.offset.is_multiple_of(own.size as u64) => {
            let mut fields: Vec<_> = attributes.collect();
            fields.sort_by_key(|field| field.offset);
            let wanted = Dtype::Record(Arc::new(Record { fields, size: stride }));
            let several = own.size > stride && are_vertices(own, stride, inputs);
            numbers_clash((given, own.size), (&wanted, stride), true)
                .or_else(|| several.then_some(Clash::Sizes(own.size, stride)))
        }
        Dtype::Record(_) => None,
    }
}

/// The hint for records as vertices: where their fields are, as `vertex_buffers=` has it.
fn places(given: &Dtype, buffer: &str, inputs: &[VertexInput]) -> String {
    let (Dtype::Record(record), _) = bare(given, 1) else { return convert(Element::Float(4)) };
    let attribute = |field: &Field| {
        let number = match field.dtype.number()? {
            Element::Float(size @ ..8) => format!("float{}", 8 * size),
            Element::Int(size @ ..8) => format!("sint{}", 8 * size),
            Element::Uint(size @ ..8) => format!("uint{}", 8 * size),
            _ => return None,
        };
        let count = field.shape.iter().product::<usize>();
        let many = if count > 1 { format!("x{count}") } else { String::new() };
        let name = names_input(&field.name, inputs).map_or(&field.name, |input| &input.name);
        Some(format!("(\"{name}\", \"{number}{many}\", {})", field.offset))
    };
    // Fields that no input reads are no attributes, where any has the name of one.
    let read = |field: &&Field| names_input(&field.name, inputs).is_some();
    let named = record.fields.iter().any(|field| read(&field));
    match record.fields.iter().filter(|field| !named || read(field)).map(attribute).collect::<Option<Vec<_>>>() {
        Some(all) => {
            let all = all.join(", ");
            let stride = record.size;
            format!("give their places: {{\"buffer\": {buffer}, \"attributes\": [{all}], \"stride\": {stride}}}")
        }
        None => "give the fields numbers of at most 32 bits, in the order of the shader's inputs".to_owned(),
    }
}

/// Refuses arrays whose numbers are no such as the shader reads at their place.
///
/// # Errors
/// Names the first such pass.
pub(crate) fn refuse_other_numbers(py: Python<'_>, load: &Workload, seen: &HashMap<ResourceId, Seen>) -> PyResult<()> {
    let given = |id: ResourceId| match seen.get(&id) {
        Some(Seen::Items(shape, dtype)) => Some((shape.as_slice(), dtype)),
        _ => None,
    };
    // Types of shaders are read only where an array has numbers: most buffers have none.
    let bindings = bound(load).filter_map(|(pass, view, ty)| {
        let (shape, dtype) = given(view.resource)?;
        // A part may begin within a record.
        let whole = view.range.is_none_or(|[first, _]| first.is_multiple_of(dtype.size().max(1) as u64));
        let item = Item::of(ty).filter(|_| whole)?;
        Some((pass, view.resource, clash(shape, dtype, &item)?, Some(item)))
    });
    let bindings = bindings.map(|(pass, id, clash, item)| (pass, id, clash, item, [].as_slice()));
    let inputs = vertices(load).filter_map(|(pass, one, inputs)| {
        let dtype = given(one.buffer)?.1;
        Some((pass, one.buffer, vertices_clash(dtype, one, inputs)?, None, inputs))
    });
    let found = bindings.chain(inputs).min_by_key(|(pass, id, ..)| (*pass, *id));
    let Some((pass, id, clash, item, inputs)) = found else { return Ok(()) };
    let graph = &load.graph;
    let (shader, buffer) = (graph.pass_name(pass), graph.resource_name(id));
    let (here, wanted) = match &clash {
        Clash::Numbers(given, wanted) => (given.name().to_owned(), wanted.name().to_owned()),
        Clash::Sizes(given, wanted) => {
            let what = if item.is_some() { "structs" } else { "vertices" };
            (format!("records of {given} bytes"), format!("{what} of {wanted} bytes"))
        }
        Clash::Rows(given, wanted) => (format!("rows of {given} bytes"), format!("rows of {wanted} bytes")),
        Clash::Fields(given, wanted) => (given.clone(), wanted.clone()),
    };
    let message = format!("the shader of pass \"{shader}\" has {wanted} where buffer \"{buffer}\" has {here}");
    let help = match (&clash, item) {
        (Clash::Numbers(_, other), Some(item)) if item.dtype.number().is_some() => convert(*other),
        (Clash::Numbers(_, other), None) => convert(*other),
        (Clash::Rows(run, step), Some(Item { dtype: Dtype::Number(wanted), .. })) => {
            let axes = given(id).map_or(0, |(shape, _)| shape.len().saturating_sub(1));
            let pads = ["(0, 0), ".repeat(axes), format!("(0, {})", (step - run) / wanted.size())].concat();
            format!("pad its rows: numpy.pad(array, ({pads})); a buffer without dtype= takes them as they are")
        }
        (_, Some(item)) => {
            format!("declare its records as the shader does: numpy.dtype({})", item.dtype.python(py)?.repr()?)
        }
        (_, None) => given(id).map_or_else(String::new, |(_, dtype)| places(dtype, buffer, inputs)),
    };
    let mistake = Mistake::new(Code::BadBinding, message, help).pass(shader).resource(buffer);
    let mistake = mistake.side(shader, format!("{wanted} in the shader"), graph.pass_place(pass).cloned());
    Err(one(py, Box::new(mistake.side(buffer, format!("{here} here"), graph.resource_place(id).cloned()))))
}

fn convert(wanted: Element) -> String {
    let wanted = wanted.name();
    format!("convert it: array.astype(\"{wanted}\"), or declare it with dtype=\"{wanted}\"")
}

/// Vertex buffers that draws read, and the inputs of their shaders.
fn vertices(load: &Workload) -> impl Iterator<Item = (PassId, &VertexBuffer, &[VertexInput])> {
    let draws = steps(load).filter_map(|(pass, step)| match step {
        Step::Draw(draw) => Some((pass, draw)),
        _ => None,
    });
    draws.flat_map(|(pass, draw)| {
        let inputs = draw.program.interface.vertex_inputs.as_slice();
        draw.vertex_buffers.iter().map(move |buffer| (pass, buffer, inputs))
    })
}

/// Refuses arrays whose rows are no whole number of vertices: a shader that reads two numbers of each row of three
/// would go on within the row. What has one axis is taken as it lies.
///
/// # Errors
/// Names the first such pass.
pub(crate) fn refuse_other_rows(py: Python<'_>, load: &Workload, seen: &HashMap<ResourceId, Seen>) -> PyResult<()> {
    let others = vertices(load).filter_map(|(pass, one, _)| {
        let Some(Seen::Items(shape, dtype)) = seen.get(&one.buffer) else { return None };
        let (item, axes) = match dtype {
            Dtype::Number(element) => (element.size(), shape.get(1..)?),
            Dtype::Record(record) => (record.size, shape.get(1..).unwrap_or(&[])),
        };
        let stride = one.stride as usize;
        // Bytes behind an index of each axis but the first, and of a record.
        let mut parts = axes.iter().rev().scan(item, |bytes, axis| {
            *bytes *= axis;
            Some(*bytes)
        });
        let row = axes.last().map_or(item, |axis| item * axis);
        let is_record = matches!(dtype, Dtype::Record(_));
        let fits = stride == 0 || is_record && item % stride == 0 || parts.any(|bytes| bytes % stride == 0);
        (!fits && (is_record || !axes.is_empty())).then_some((pass, one.buffer, stride, row))
    });
    let Some((pass, id, stride, row)) = others.min_by_key(|(pass, id, ..)| (*pass, *id)) else { return Ok(()) };
    let graph = &load.graph;
    let (shader, buffer) = (graph.pass_name(pass), graph.resource_name(id));
    let message =
        format!("pass \"{shader}\" reads vertices of {stride} bytes from buffer \"{buffer}\", whose rows have {row}");
    let help = format!(
        "give rows of {stride} bytes, or declare what they hold: {{\"buffer\": \"{buffer}\", \"attributes\": [...], \
         \"stride\": {row}}}"
    );
    let mistake = Mistake::new(Code::BadVertices, message, help).pass(shader).resource(buffer);
    let mistake = mistake.side(shader, format!("{stride} bytes per vertex"), graph.pass_place(pass).cloned());
    Err(one(py, Box::new(mistake.side(buffer, format!("{row} bytes per row"), graph.resource_place(id).cloned()))))
}
