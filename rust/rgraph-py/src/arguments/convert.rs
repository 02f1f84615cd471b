//! Python values into the planner's: text, whole numbers, ranges, names of enumerations. A wrong type is a
//! `TypeError`; a number or a name that cannot be is a `GraphError`.

use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyString};
use rgraph_plan::access::{Accesses, Aspects, Stages};
use rgraph_plan::error::Code;
use rgraph_plan::graph::Clear;
use rgraph_plan::nearest::nearest;
use rgraph_vk::vertex::VertexFormat;

use crate::run::error::bad;

/// Text that is valid UTF-8.
#[derive(Clone, Copy)]
pub struct Text<'a>(pub &'a str);

impl<'a, 'py> FromPyObject<'a, 'py> for Text<'a> {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Self::of(value, "text")
    }
}

impl<'a> Text<'a> {
    /// The text of a value, which an error calls by what was expected, such as "the name of a flag".
    ///
    /// # Errors
    /// A `TypeError` for anything but text, `RG-E219` for surrogates.
    pub fn of(value: Borrowed<'a, '_, PyAny>, expected: &str) -> PyResult<Self> {
        value.extract::<&'a str>().map(Self).map_err(|error| {
            if error.is_instance_of::<PyUnicodeError>(value.py()) {
                let help = "names are Unicode text without surrogates";
                return bad(value.py(), Code::BadName, "a name cannot be written as UTF-8", help);
            }
            match value.get_type().name() {
                Ok(kind) => PyTypeError::new_err(format!("expected {expected}, not {kind}")),
                Err(_) => error,
            }
        })
    }
}

/// The bytes of a file, given as text or as bytes.
#[derive(Clone, Copy)]
pub(crate) struct FileText<'a>(pub &'a [u8]);

impl<'a, 'py> FromPyObject<'a, 'py> for FileText<'a> {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() {
            return value.extract::<Text<'a>>().map(|Text(text)| Self(text.as_bytes()));
        }
        Ok(Self(value.extract::<&'a [u8]>()?))
    }
}

/// A whole number of 32 bits: a size, a count, an index.
#[derive(Clone, Copy)]
pub struct Count(pub u32);

/// A whole number of 64 bits: bytes.
#[derive(Clone, Copy)]
pub(crate) struct Bytes(pub u64);

/// A floating-point number; validation decides whether it may be NaN or negative.
#[derive(Clone, Copy)]
pub(crate) struct Number(pub f64);

/// The exception of a value that is no number of a kind, by the one of the extraction: `RG-E213` if it is a number that
/// is out of range or not whole, else a `TypeError`, to which pyo3 adds the argument's name.
fn no_number(value: &Bound<'_, PyAny>, error: PyErr, limit: &str) -> PyErr {
    let py = value.py();
    // Only numbers are shown: the text of anything else may be long. Python writes no integer of more than 4,300
    // digits.
    let shown = || match value.str() {
        Ok(text) => text.to_string_lossy().chars().take(40).collect::<String>(),
        Err(_) => "the number".to_owned(),
    };
    if error.is_instance_of::<PyOverflowError>(py) {
        return bad(py, Code::BadNumber, format!("{} is out of range", shown()), &format!("numbers here go {limit}"));
    }
    let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    if is_number(value) {
        let message = format!("{} is a {kind}, where a whole number is meant", shown());
        let help = match value.extract::<f64>() {
            Ok(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("write {number:.0}"),
            _ => "round it with int(), or divide with //".to_owned(),
        };
        return bad(py, Code::BadNumber, message, &help);
    }
    PyTypeError::new_err(format!("expected a number, not '{kind}'"))
}

/// A mistake in an argument, with the argument's name, as PyO3 adds it to those that it reads itself: exceptions of
/// `rgraph/_errors.py` take it into the message.
pub(crate) fn during(py: Python<'_>, error: PyErr, name: &str) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py) {
        // An error without the note is still an error.
        let _ = error.add_note(py, format!("while processing '{name}'"));
    }
    error
}

/// Whether a value is meant as a number: an integer or a float, of Python or of numpy.
pub(crate) fn is_number(value: &Bound<'_, PyAny>) -> bool {
    let has = |name| value.hasattr(name).unwrap_or(false);
    (has("__index__") || has("__float__")) && !has("__len__")
}

/// Seconds of a `timeout=`; `None`: no limit, as for more seconds than a duration has.
pub(crate) fn seconds(py: Python<'_>, timeout: Option<Number>) -> PyResult<Option<Duration>> {
    match timeout {
        Some(Number(seconds)) if seconds.is_nan() || seconds < 0.0 => {
            let help = "give 0 or more seconds, or None for no limit";
            Err(bad(py, Code::BadNumber, format!("timeout is {seconds}"), help))
        }
        Some(Number(seconds)) => Ok(Duration::try_from_secs_f64(seconds).ok()),
        None => Ok(None),
    }
}

fn refuse_bool(value: &Bound<'_, PyAny>) -> PyResult<()> {
    if value.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("expected a number, not a bool"));
    }
    Ok(())
}

impl<'a, 'py> FromPyObject<'a, 'py> for Count {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        refuse_bool(&value)?;
        // The largest value stays free: in places it stands for "not given".
        match value.extract::<u32>() {
            Ok(u32::MAX) => {
                Err(bad(value.py(), Code::BadNumber, "4294967295 is out of range", "numbers here go up to 4294967294"))
            }
            Ok(number) => Ok(Self(number)),
            Err(error) => Err(no_number(&value, error, "from 0 to 4294967294")),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Bytes {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        refuse_bool(&value)?;
        let number = value.extract::<u64>().map_err(|error| no_number(&value, error, "from 0 to 2^64 - 1"))?;
        Ok(Self(number))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Number {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        refuse_bool(&value)?;
        let number = value.extract::<f64>().map_err(|error| no_number(&value, error, "up to 1.8e308"))?;
        Ok(Self(number))
    }
}

/// A half-open range of levels or layers: `(first, end)`, or one number for one of them.
#[derive(Clone, Copy)]
pub(crate) struct Range(pub [u32; 2]);

impl<'a, 'py> FromPyObject<'a, 'py> for Range {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match items(&value) {
            Some(items) => match items?.as_slice() {
                [first, end] => Ok(Self([first.extract::<Count>()?.0, end.extract::<Count>()?.0])),
                other => Err(PyTypeError::new_err(format!("expected (first, end), got {} numbers", other.len()))),
            },
            None => value.extract::<Count>().map(|Count(first)| Self([first, first + 1])),
        }
    }
}

/// A half-open range of bytes: `(offset, end)`.
#[derive(Clone, Copy)]
pub(crate) struct ByteRange(pub [u64; 2]);

impl<'a, 'py> FromPyObject<'a, 'py> for ByteRange {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match items(&value).transpose()?.as_deref() {
            Some([first, end]) => Ok(Self([first.extract::<Bytes>()?.0, end.extract::<Bytes>()?.0])),
            _ => Err(PyTypeError::new_err("expected (offset, end) in bytes")),
        }
    }
}

/// The items of a sequence that is neither text, bytes nor a dict, or `None` if the value is not one.
pub(crate) fn items<'py>(value: &Bound<'py, PyAny>) -> Option<PyResult<Vec<Bound<'py, PyAny>>>> {
    if value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyDict>()
        || !value.hasattr("__getitem__").unwrap_or(false)
    {
        return None;
    }
    let length = value.len().ok()?;
    Some((0..length).map(|at| value.get_item(at)).collect())
}

/// A value, or each item of a sequence of values.
pub(crate) fn one_or_many<'py>(value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    items(value).unwrap_or_else(|| Ok(vec![value.clone()]))
}

/// The value that a name stands for; a name that stands for none is a `GraphError` that offers the nearest.
pub(crate) fn word<T>(
    py: Python<'_>,
    what: &str,
    name: &str,
    from_name: impl Fn(&str) -> Option<T>,
    known: impl Iterator<Item = &'static str>,
) -> PyResult<T> {
    from_name(name).ok_or_else(|| unknown(py, what, name, known))
}

/// The same of an argument; anything but text is a `TypeError` that says what is asked for.
pub(crate) fn word_of<T>(
    value: &Bound<'_, PyAny>,
    what: &str,
    from_name: impl Fn(&str) -> Option<T>,
    known: impl Iterator<Item = &'static str>,
) -> PyResult<T> {
    let Text(name) = Text::of(value.as_borrowed(), &format!("the word for the {what}"))?;
    word(value.py(), what, name, from_name, known)
}

fn unknown(py: Python<'_>, what: &str, name: &str, known: impl Iterator<Item = &'static str>) -> PyErr {
    let known: Vec<_> = known.collect();
    let shown: String = name.chars().take(60).collect();
    let help = match nearest(name, known.iter().copied()) {
        _ if what == "format" && VertexFormat::from_name(name).is_some() => {
            "it is a format of vertices; images have one, two or four channels, as rgba32float".to_owned()
        }
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.len() <= 48 => format!("there are {}", known.join(", ")),
        None => {
            format!("use one of {} names, such as {}; rgraph.formats() lists those of formats", known.len(), known[0])
        }
    };
    bad(py, Code::UnknownName, format!("there is no {what} called \"{shown}\""), &help)
}

/// Stages from a name or names.
pub(crate) fn stages(value: &Bound<'_, PyAny>) -> PyResult<Stages> {
    let mut all = Stages::empty();
    for item in one_or_many(value)? {
        let known = rgraph_plan::access::DECLARED_STAGE_NAMES.into_iter();
        all |= word_of(&item, "stage", Stages::from_word, known)?;
    }
    Ok(all)
}

/// Access kinds from a name or names.
pub(crate) fn accesses(value: &Bound<'_, PyAny>) -> PyResult<Accesses> {
    let mut all = Accesses::empty();
    for item in one_or_many(value)? {
        let known = rgraph_plan::access::ACCESS_NAMES.into_iter();
        all |= word_of(&item, "access", Accesses::from_word, known)?;
    }
    Ok(all)
}

/// Aspects from a name or names.
pub(crate) fn aspects(value: &Bound<'_, PyAny>) -> PyResult<Aspects> {
    let mut all = Aspects::empty();
    for item in one_or_many(value)? {
        let known = Aspects::all().names().collect::<Vec<_>>().into_iter();
        all |= word_of(&item, "aspect", Aspects::from_word, known)?;
    }
    Ok(all)
}

/// A clear value: four numbers of a colour, or depth, or depth and stencil.
pub(crate) fn clear(value: &Bound<'_, PyAny>) -> PyResult<Clear> {
    const FORMS: &str = "a clear value is (red, green, blue, alpha), depth or (depth, stencil)";
    let number = |item: &Bound<'_, PyAny>| item.extract::<Number>().map(|Number(number)| number);
    match items(value).transpose()?.as_deref() {
        None if is_number(value) => Ok(Clear::Depth(number(value)?, None)),
        None => {
            let shown: String = value.repr()?.to_string_lossy().chars().take(40).collect();
            Err(PyTypeError::new_err(format!("{FORMS}, not {shown}")))
        }
        Some([depth]) => Ok(Clear::Depth(number(depth)?, None)),
        Some([depth, stencil]) => Ok(Clear::Depth(number(depth)?, Some(stencil.extract::<Count>()?.0))),
        Some([r, g, b, a]) => Ok(Clear::Color([number(r)?, number(g)?, number(b)?, number(a)?])),
        Some(other) => Err(PyTypeError::new_err(format!("{FORMS}, got {} numbers", other.len()))),
    }
}

/// A size in an argument.
pub(crate) fn size(value: &Bound<'_, PyAny>) -> PyResult<[u32; 2]> {
    let texels = |value: &Bound<'_, PyAny>| match value.extract::<Count>() {
        Ok(Count(texels)) => Ok(texels),
        Err(error) => Err(during(value.py(), error, "size")),
    };
    match items(value).transpose()?.as_deref() {
        Some([width, height]) => Ok([texels(width)?, texels(height)?]),
        _ => Err(PyTypeError::new_err("size is (width, height) in texels")),
    }
}
