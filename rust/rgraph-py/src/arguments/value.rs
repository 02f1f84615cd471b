//! Plain data of Python into the values that blocks of shaders are packed from.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt};
use rgraph_shader::Value;

use crate::arguments::convert::{Text, items};

/// How deep values may be nested.
const DEEPEST: usize = 16;

/// A value from a dict, a list, a number, bytes (as they lie in memory), or an array (its numbers, row by row).
pub fn value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    read(value, DEEPEST)
}

fn read(value: &Bound<'_, PyAny>, deeper: usize) -> PyResult<Value> {
    let Some(deeper) = deeper.checked_sub(1) else {
        return Err(PyTypeError::new_err("data of a shader is nested too deep"));
    };
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract::<i128>().map(Value::Int);
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let member = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((name.extract::<Text>()?.0.to_owned(), read(&value, deeper)?))
        };
        return dict.iter().map(member).collect::<PyResult<_>>().map(Value::Map);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Value::Bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    // Arrays and their scalars say their numbers themselves.
    if let Ok(list) = value.call_method0("tolist") {
        return read(&list, deeper);
    }
    match items(value) {
        Some(items) => items?.iter().map(|item| read(item, deeper)).collect::<PyResult<_>>().map(Value::List),
        None => {
            let kind = value.get_type().name()?.to_string();
            Err(PyTypeError::new_err(format!(
                "data of a shader is a number, a list, a dict by member, an array or bytes, not {kind}"
            )))
        }
    }
}
