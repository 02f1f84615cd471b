//! Passes that copy, blit, clear and fill.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::access::{Load, PassQueue, Transfer as Which, Usage};
use rgraph_plan::error::Code;
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::graph::{Clear, Ranges};
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{ClearValue, Level, Step, Transfer, View};

use crate::bind::Who;
use crate::check::format_of;
use crate::convert::{Bytes, Text, clear, word};
use crate::declare::given;
use crate::draft::Todo;
use crate::error::{one, refusal};
use crate::module::PyGraphModule;
use crate::pass::PyPass;
use crate::passes::{Arguments, PassArguments, Work};
use crate::source;
use crate::state::{Given, Target};
use crate::view::{Part, PyView};

/// One side of a transfer: what is declared by now, because images and buffers are copied differently.
#[derive(Clone, Copy)]
pub struct Side {
    /// Position in the table.
    at: ResourceId,
    part: Part,
    /// `None`: a buffer; else whether its format is known, and which.
    image: Option<Option<Format>>,
}

impl Side {
    /// Reads an argument.
    ///
    /// # Errors
    /// If it names what is not declared yet.
    pub fn read(module: &Bound<'_, PyGraphModule>, value: &Bound<'_, PyAny>, work: &mut Work) -> PyResult<Self> {
        let py = module.py();
        let (resource, part) = match PyView::of(value) {
            Some((resource, part)) => (resource.into_any(), part),
            None => (value.clone(), Part::default()),
        };
        let given = given(&resource)?.owned();
        let graph = PyGraphModule::graph(module)?;
        let identity = graph.get().identity;
        let image = graph.get().change(|state| {
            let target = state.target(identity, module.get().prefix(), &given)?;
            match (target, &state.graph) {
                (Target::Known(id), Some(graph)) => Ok(graph.resources()[id].as_image().map(|_| format_of(graph, id))),
                _ => {
                    let name = if let Given::Name(name) = &given { name } else { "" };
                    let help = "declare images and buffers before the passes that copy them";
                    Err(refusal(
                        Code::UnknownName,
                        format!("a transfer names \"{name}\", which nothing declares yet"),
                        help,
                    ))
                }
            }
        });
        let image = image.map_err(|mistake| one(py, mistake))?;
        Ok(Self { at: work.table.add(given), part, image })
    }

    fn level(&self, py: Python<'_>, who: Who<'_>) -> PyResult<Level> {
        let mip = match self.part.ranges.mips {
            None => 0,
            Some([first, end]) if end - first == 1 => first,
            Some([first, end]) => {
                let says = format!("transfers mips {first} to {end} at once");
                return Err(refuse(py, who, &says, "copy one level after the other, as image.mip(1)"));
            }
        };
        Ok(Level { layers: self.part.ranges.layers, aspects: self.part.aspects, ..Level::of(self.at, mip) })
    }

    fn bytes(&self) -> (u64, Option<u64>) {
        self.part.ranges.bytes.map_or((0, None), |[first, end]| (first, Some(end - first)))
    }

    /// The part of one mip.
    fn used(&self, level: Option<&Level>) -> Part {
        let mips = level.map(|level| [level.mip, level.mip + 1]);
        Part { ranges: Ranges { mips: mips.or(self.part.ranges.mips), ..self.part.ranges }, ..self.part }
    }
}

fn uses(work: &mut Work, from: &Side, to: &Side, levels: [Option<&Level>; 2], which: Which) {
    work.uses(from.at, Usage::TransferSrc, from.used(levels[0]), |how| how.transfer = Some(which));
    work.uses(to.at, Usage::TransferDst, to.used(levels[1]), |how| how.transfer = Some(which));
}

/// A transfer that cannot be.
fn refuse(py: Python<'_>, who: Who<'_>, says: &str, help: &str) -> PyErr {
    let message = format!("pass \"{}\" {says}", who.pass);
    one(py, Box::new(who.mistake(Code::BadTransfer, message, says.to_owned(), help.to_owned())))
}

/// A copy, whatever the two sides are.
pub fn copy(py: Python<'_>, who: Who<'_>, from: &Side, to: &Side, work: &mut Work) -> PyResult<Step> {
    let step = match (from.image, to.image) {
        (None, None) => {
            let ((from_offset, size), (to_offset, most)) = (from.bytes(), to.bytes());
            let size = match (size, most) {
                (Some(size), Some(most)) if size != most => {
                    let says = format!("copies {size} bytes to {most} bytes");
                    return Err(refuse(py, who, &says, "give slices of equal length"));
                }
                (size, most) => size.or(most),
            };
            uses(work, from, to, [None; 2], Which::Copy);
            Transfer::CopyBuffer { from: from.at, from_offset, to: to.at, to_offset, size }
        }
        (None, Some(_)) => {
            let level = to.level(py, who)?;
            uses(work, from, to, [None, Some(&level)], Which::Copy);
            Transfer::BufferToImage { from: from.at, offset: from.bytes().0, to: level }
        }
        (Some(_), None) => {
            let level = from.level(py, who)?;
            uses(work, from, to, [Some(&level), None], Which::Copy);
            Transfer::ImageToBuffer { from: level, to: to.at, offset: to.bytes().0 }
        }
        (Some(_), Some(_)) => {
            let (from_level, to_level) = (from.level(py, who)?, to.level(py, who)?);
            uses(work, from, to, [Some(&from_level), Some(&to_level)], Which::Copy);
            Transfer::CopyImage { from: from_level, to: to_level }
        }
    };
    Ok(Step::Transfer(step))
}

/// A scaled and converted copy of an image, or the mean of its samples.
pub fn blit(
    py: Python<'_>,
    who: Who<'_>,
    from: &Side,
    to: &Side,
    filter: Option<&str>,
    work: &mut Work,
) -> PyResult<Step> {
    let (Some(_), Some(_)) = (from.image, to.image) else {
        return Err(refuse(py, who, "blits a buffer", "blits are of images; copy() takes buffers too"));
    };
    let known = |name: &str| match name {
        "linear" => Some(true),
        "nearest" => Some(false),
        _ => None,
    };
    let linear = word(py, "filter", filter.unwrap_or("linear"), known, ["linear", "nearest"].into_iter())?;
    let (from_level, to_level) = (from.level(py, who)?, to.level(py, who)?);
    uses(work, from, to, [Some(&from_level), Some(&to_level)], Which::Blit);
    Ok(Step::Transfer(Transfer::Blit { from: from_level, to: to_level, linear }))
}

/// One value everywhere in an image.
pub fn clear_image(
    py: Python<'_>,
    who: Who<'_>,
    image: &Side,
    value: &Bound<'_, PyAny>,
    work: &mut Work,
) -> PyResult<Step> {
    let Some(format) = image.image else {
        return Err(refuse(py, who, "clears a buffer", "clears are of images; fill() is for buffers"));
    };
    let said = clear(value)?;
    let numbers = format.map_or(Numbers::Float, Format::numbers);
    let value = match said {
        Clear::Depth(depth, stencil) => ClearValue::Depth(depth as f32, stencil.unwrap_or(0)),
        Clear::Color(color) => match numbers {
            Numbers::Uint => ClearValue::Uint(color.map(|channel| channel as u32)),
            Numbers::Sint => ClearValue::Int(color.map(|channel| channel as i32)),
            _ => ClearValue::Float(color.map(|channel| channel as f32)),
        },
    };
    let (depth, wants) = (matches!(said, Clear::Depth(..)), numbers == Numbers::Depth);
    if depth != wants {
        let help = if wants { "give depth, or (depth, stencil)" } else { "give (red, green, blue, alpha)" };
        return Err(refuse(py, who, "clears to a value that is not one of the image's format", help));
    }
    work.uses(image.at, Usage::TransferDst, image.part, |how| {
        how.transfer = Some(Which::Clear);
        how.details.clear = Some(said);
        how.load = Some(Load::Clear);
    });
    let Part { ranges, aspects } = image.part;
    let image = View { mips: ranges.mips, layers: ranges.layers, aspects, ..View::whole(image.at) };
    Ok(Step::Transfer(Transfer::Clear { image, value }))
}

/// One word again and again in a buffer.
pub fn fill_buffer(py: Python<'_>, who: Who<'_>, buffer: &Side, word: u32, work: &mut Work) -> PyResult<Step> {
    if buffer.image.is_some() {
        return Err(refuse(py, who, "fills an image", "fills are of buffers; clear() is for images"));
    }
    let (offset, size) = buffer.bytes();
    work.uses(buffer.at, Usage::TransferDst, buffer.part, |how| {
        how.transfer = Some(Which::Fill);
        how.load = Some(Load::Discard);
    });
    Ok(Step::Transfer(Transfer::Fill { buffer: buffer.at, offset, size, word }))
}

/// A word of a fill: unsigned, or signed with the same bits.
pub fn filler(value: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
    match value {
        None => Ok(0),
        Some(value) => match value.extract::<i32>() {
            Ok(word) => Ok(word as u32),
            Err(_) => match value.extract::<Bytes>()?.0.try_into() {
                Ok(word) => Ok(word),
                Err(_) => Err(PyTypeError::new_err("a fill is one 32-bit word")),
            },
        },
    }
}

#[pymethods]
impl PyGraphModule {
    /// Declare a pass that copies from an image or buffer to another.
    ///
    /// Further keyword arguments are those of `add_pass`.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// source, target
    ///     Images and buffers, parts of them (`image.mip(1)`, `buffer[0:256]`) or names. An image in a buffer is
    ///     tightly packed, row by row.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, source, target, **options), text_signature = "($self, name, source, target, **options)")]
    fn copy<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        source: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let mut work = Work::default();
        let (from, to) = (Side::read(slf, source, &mut work)?, Side::read(slf, target, &mut work)?);
        let (place, full) = (source::place(slf.py()), slf.get().full(name));
        let who = Who { pass: &full, place: place.as_ref() };
        let step = copy(slf.py(), who, &from, &to, &mut work)?;
        transferring(slf, name, Arguments::new(options), "copy", work, step)
    }

    /// Declare a pass that copies an image to another, scaled and converted.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// source, target
    ///     Images, parts of them or names.
    /// filter
    ///     Between texels: `"linear"` or `"nearest"`.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, source, target, *, filter = None, **options),
           text_signature = "($self, name, source, target, *, filter='linear', **options)")]
    fn blit<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        source: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        filter: Option<Text<'py>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let mut work = Work::default();
        let (from, to) = (Side::read(slf, source, &mut work)?, Side::read(slf, target, &mut work)?);
        let (place, full) = (source::place(slf.py()), slf.get().full(name));
        let who = Who { pass: &full, place: place.as_ref() };
        let step = blit(slf.py(), who, &from, &to, filter.map(|Text(filter)| filter), &mut work)?;
        transferring(slf, name, Arguments::new(options), "blit", work, step)
    }

    /// Declare a pass that writes one value everywhere in an image.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// image
    ///     Image, part of one (default: mip 0) or name.
    /// value
    ///     (red, green, blue, alpha), depth, or (depth, stencil).
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, image, value, **options), text_signature = "($self, name, image, value, **options)")]
    fn clear<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        image: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let mut work = Work::default();
        let image = Side::read(slf, image, &mut work)?;
        let (place, full) = (source::place(slf.py()), slf.get().full(name));
        let who = Who { pass: &full, place: place.as_ref() };
        let step = clear_image(slf.py(), who, &image, value, &mut work)?;
        transferring(slf, name, Arguments::new(options), "clear", work, step)
    }

    /// Declare a pass that writes one 32-bit word again and again into a buffer.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// buffer
    ///     Buffer, part of one (in multiples of four bytes) or name.
    /// word
    ///     A 32-bit number, unsigned or signed; default: 0.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, buffer, word = None, **options),
           text_signature = "($self, name, buffer, word=0, **options)")]
    fn fill<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        buffer: &Bound<'py, PyAny>,
        word: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let mut work = Work::default();
        let buffer = Side::read(slf, buffer, &mut work)?;
        let (place, full) = (source::place(slf.py()), slf.get().full(name));
        let who = Who { pass: &full, place: place.as_ref() };
        let step = fill_buffer(slf.py(), who, &buffer, filler(word)?, &mut work)?;
        transferring(slf, name, Arguments::new(options), "fill", work, step)
    }
}

fn transferring<'py>(
    module: &Bound<'py, PyGraphModule>,
    name: Text<'_>,
    arguments: Arguments<'py>,
    function: &str,
    work: Work,
    step: Step,
) -> PyResult<Bound<'py, PyPass>> {
    let pass = PassArguments::take(&arguments, PassQueue::Graphics)?;
    arguments.end(function)?;
    work.declare(module, name, pass, Todo::Steps(vec![step]))
}
