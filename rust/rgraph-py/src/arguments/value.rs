//! Plain data of Python into the values that blocks of shaders are packed from.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple};
use rgraph_shader::Value;
use rgraph_work::infer::Who;

use crate::arguments::convert::{Text, items};
use crate::arguments::mapped::Mapped;
use crate::classes::resource::PyResource;
use crate::classes::view::PyView;

/// How deep values may be nested.
const DEEPEST: usize = 16;
/// Forms of shader data, for messages.
const FORMS: &str = "data of a shader is a number, a list, a dict by member, an array or bytes";

/// Why a value is no data.
enum Fault {
    /// What it is, or what is wrong with it.
    Wrong(String),
    /// What Python raised.
    Raised(PyErr),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// A fault, and where it is: members and indices, the innermost first.
type At = (Vec<String>, Fault);

/// A value from a dict, a list, a number, bytes or a memoryview (as they lie in memory), or an array (its numbers,
/// row by row; records by the names of their fields).
///
/// # Errors
/// `TypeError` that names pass, variable and member.
pub(crate) fn value(value: &Bound<'_, PyAny>, who: Who<'_>, variable: &str) -> PyResult<Value> {
    read(value, DEEPEST).map_err(|(path, fault)| {
        let message = match fault {
            Fault::Raised(error) => return error,
            Fault::Wrong(message) => message,
        };
        let path: String = path.iter().rev().map(String::as_str).collect();
        let place = who.place.map(|place| format!("\n  pass \"{}\"  {place}", who.pass)).unwrap_or_default();
        PyTypeError::new_err(format!("data of pass \"{}\": '{variable}{path}' {message}{place}", who.pass))
    })
}

/// A number of a shader's constant; `None` if it is something else.
pub(crate) fn number(value: &Bound<'_, PyAny>) -> Option<Value> {
    read(value, DEEPEST).ok()
}

/// The fault of a value that cannot be data.
fn stranger(value: &Bound<'_, PyAny>) -> PyResult<Fault> {
    let kind = value.get_type().name()?.to_string();
    let help = if value.is_instance_of::<PyResource>() || PyView::of(value).is_some() {
        "bind it to a variable of the shader, by name"
    } else if value.is_instance_of::<PyString>() {
        "give a number, or float(…) of the text"
    } else {
        FORMS
    };
    Ok(Fault::Wrong(format!("is of type {kind}\n  help: {help}")))
}

fn read(value: &Bound<'_, PyAny>, deeper: usize) -> Result<Value, At> {
    let here = |fault: Fault| (Vec::new(), fault);
    let raised = |error: PyErr| (Vec::new(), Fault::Raised(error));
    let Some(deeper) = deeper.checked_sub(1) else {
        return Err(here(Fault::Wrong("is nested too deep".to_owned())));
    };
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract::<i128>().map(Value::Int).map_err(|error| {
            match error.is_instance_of::<PyOverflowError>(value.py()) {
                true => here(Fault::Wrong("is an integer of more than 128 bits".to_owned())),
                false => raised(error),
            }
        });
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return value.extract().map(Value::Float).map_err(raised);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return dict
            .iter()
            .map(|(name, value)| member(&name, &value, deeper))
            .collect::<Result<_, _>>()
            .map(Value::Map);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Value::Bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    if value.is_instance_of::<PyMemoryView>() {
        let bytes = value.call_method0("tobytes").map_err(raised)?;
        return bytes.extract().map(Value::Bytes).map_err(raised);
    }
    if let Some(names) = fields(value).map_err(raised)? {
        return records(value, &names, deeper);
    }
    // Arrays and their scalars say their numbers themselves.
    if let Ok(list) = value.call_method0("tolist") {
        return read(&list, deeper);
    }
    // Before sequences: some mappings look like one.
    let list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if !list && let Some(mapped) = Mapped::of(value).map_err(raised)? {
        return read(mapped.as_any(), deeper);
    }
    let Some(items) = items(value) else { return Err(here(stranger(value).unwrap_or_else(Fault::Raised))) };
    let items = items.map_err(raised)?;
    items.iter().enumerate().map(|(at, item)| element(at, item, deeper)).collect::<Result<_, _>>().map(Value::List)
}

/// The names of the fields of numpy's records; `None` of all else.
fn fields<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = value.py();
    let Some(dtype) = value.getattr_opt(intern!(py, "dtype"))? else { return Ok(None) };
    let names = dtype.getattr_opt(intern!(py, "names"))?;
    Ok(names.and_then(|names| names.cast_into::<PyTuple>().ok()))
}

/// A record as a mapping, and an array of records as a list: their lists would have no names.
fn records(value: &Bound<'_, PyAny>, names: &Bound<'_, PyTuple>, deeper: usize) -> Result<Value, At> {
    let raised = |error: PyErr| (Vec::new(), Fault::Raised(error));
    let axes = value.getattr(intern!(value.py(), "ndim")).and_then(|axes| axes.extract::<usize>()).map_err(raised)?;
    if axes == 0 {
        let one = |name: Bound<'_, PyAny>| member(&name, &value.get_item(&name).map_err(raised)?, deeper);
        return names.iter().map(one).collect::<Result<_, _>>().map(Value::Map);
    }
    let items = value.try_iter().map_err(raised)?;
    let one = |(at, item): (usize, PyResult<Bound<'_, PyAny>>)| element(at, &item.map_err(raised)?, deeper);
    items.enumerate().map(one).collect::<Result<_, _>>().map(Value::List)
}

/// An element of a list.
fn element(at: usize, value: &Bound<'_, PyAny>, deeper: usize) -> Result<Value, At> {
    read(value, deeper).map_err(|(mut path, fault)| {
        path.push(format!("[{at}]"));
        (path, fault)
    })
}

/// A member of a dict.
fn member(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, deeper: usize) -> Result<(String, Value), At> {
    if !name.is_instance_of::<PyString>() {
        let shown = || -> PyResult<Fault> {
            let shown: String = name.repr()?.to_string_lossy().chars().take(40).collect();
            Ok(Fault::Wrong(format!("has the key {shown}\n  help: keys are names of members")))
        };
        return Err((Vec::new(), shown().unwrap_or_else(Fault::Raised)));
    }
    let Text(name) = name.extract().map_err(|error| (Vec::new(), Fault::Raised(error)))?;
    let value = read(value, deeper).map_err(|(mut path, fault)| {
        path.push(format!(".{name}"));
        (path, fault)
    })?;
    Ok((name.to_owned(), value))
}
