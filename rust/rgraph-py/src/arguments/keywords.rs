//! Keyword arguments that a call does not have: refused with the one that was probably meant.

use pyo3::PyTypeInfo;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rgraph_plan::nearest::nearest;

/// Keyword arguments of every pass that has work.
pub(crate) const OF_PASSES: [&str; 9] =
    ["queue", "weight_us", "unit", "device", "side_effects", "unordered", "conditional", "fallback", "after"];

/// Refuses keyword arguments of a function or a class, which has its parameters in its text signature.
pub(crate) fn refuse(of: &Bound<'_, PyAny>, name: &str, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(first) = unknown.and_then(|unknown| unknown.keys().iter().next()) else { return Ok(()) };
    Err(unexpected(name, &first.cast::<PyString>()?.to_string(), &parameters(of)))
}

/// The same of a method of `owner`.
pub(crate) fn refuse_in(owner: &Bound<'_, PyAny>, name: &str, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    if unknown.is_none_or(|unknown| unknown.is_empty()) {
        return Ok(());
    }
    refuse(&owner.getattr(name)?, name, unknown)
}

/// The same of a method or static method of a class.
pub(crate) fn refuse_of<T: PyTypeInfo>(name: &str, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    match unknown {
        None => Ok(()),
        Some(given) => refuse_in(given.py().get_type::<T>().as_any(), name, unknown),
    }
}

/// The same of a function of the module.
pub(crate) fn refuse_function(name: &str, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    match unknown {
        None => Ok(()),
        Some(given) => refuse_in(given.py().import("rgraph._core")?.as_any(), name, unknown),
    }
}

/// Names of a function's parameters.
pub(crate) fn parameters(of: &Bound<'_, PyAny>) -> Vec<String> {
    let text = of.getattr("__text_signature__").and_then(|text| text.extract::<String>()).unwrap_or_default();
    let name = |part: &str| {
        let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
        part[..end].to_owned()
    };
    let all = text.trim_start_matches('(').split(", ").map(name);
    all.filter(|name| !name.is_empty() && name.starts_with(|c: char| c.is_alphabetic())).collect()
}

/// The exception of one keyword argument.
pub(crate) fn unexpected(function: &str, name: &str, known: &[String]) -> PyErr {
    let shown: String = name.chars().take(60).collect();
    let meant = match near(name, known) {
        Some(near) => format!("; did you mean '{near}'?"),
        None if known.is_empty() => "; it takes no keywords".to_owned(),
        None => format!("; it has {}", known.join(", ")),
    };
    PyTypeError::new_err(format!("{function}() got an unexpected keyword argument '{shown}'{meant}"))
}

/// The nearest name, or the first that the letters are an abbreviation of: `fmt` of `format`.
pub(crate) fn near<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let abbreviates = |long: &&str| {
        let mut letters = long.chars();
        name.len() > 1
            && long.chars().next() == name.chars().next()
            && name.chars().all(|letter| letters.any(|one| one == letter))
    };
    let all = || known.iter().map(String::as_str);
    nearest(name, all()).or_else(|| all().find(abbreviates))
}
