//! What is bound to a shader's variables: keyword arguments as what graph files say too.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rgraph_shader::{Binding, BindingKind, Program};
use rgraph_vk::Error;
use rgraph_vk::front::{self, Elements, Given, Who};
use rgraph_vk::work::Bound as BoundTo;

use crate::declare::given;
use crate::error::{graph_error, shader_error};
use crate::passes::{Argument, Arguments, Work, text};
use crate::running::raised;
use crate::sampler::PySampler;
use crate::value::value;
use crate::view::{Part, PyView};

/// The Python exception of work that does not fit its shader.
pub fn misfit(py: Python<'_>, error: Error, who: Who<'_>) -> PyErr {
    match error {
        Error::Graph(error) => graph_error(py, &error),
        Error::Shader(error) => shader_error(py, &error, Some(who)),
        other => raised(py, other),
    }
}

/// The values of bindings: those left over of the keyword arguments, and those of `bindings=`.
pub fn values<'py>(arguments: Arguments<'py>) -> PyResult<Vec<Argument<'py>>> {
    let more = arguments.take("bindings")?;
    let mut values = arguments.rest();
    if let Some(more) = more {
        for (name, value) in more.cast::<PyDict>()?.iter() {
            values.push((text(&name)?, value));
        }
    }
    Ok(values)
}

/// Matches values with the variables of a program, and notes in `work` how they are used.
///
/// # Errors
/// See [`front::bind`].
pub fn bind(
    py: Python<'_>,
    who: Who<'_>,
    program: &Arc<Program>,
    values: Vec<Argument<'_>>,
    work: &mut Work,
) -> PyResult<Arc<[BoundTo]>> {
    let mut all = std::mem::take(&mut work.values);
    for (name, value) in &values {
        let binding = program.interface.find(name).map(|(_, binding)| binding);
        let given = match binding {
            Some(binding) if !value.is_none() && binding.count == 1 => Some(Elements::One(one(value, binding, work)?)),
            Some(binding) if !value.is_none() => {
                let items = crate::convert::one_or_many(value)?;
                Some(Elements::Many(items.iter().map(|item| one(item, binding, work)).collect::<PyResult<_>>()?))
            }
            _ => None,
        };
        all.push(given);
    }
    let names = values.iter().map(|(name, _)| &**name);
    let bound = front::bind(who, program, names, &all, &mut work.needs);
    all.clear();
    work.values = all;
    bound.map_err(|error| misfit(py, error, who))
}

fn one(value: &Bound<'_, PyAny>, binding: &Binding, work: &mut Work) -> PyResult<Given> {
    if let Ok(sampler) = value.cast::<PySampler>() {
        return Ok(Given::Sampler(sampler.get().0));
    }
    // An image together with its sampler.
    let (value, sampler) = match value.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 && pair.get_item(1)?.is_instance_of::<PySampler>() => {
            (pair.get_item(0)?, Some(pair.get_item(1)?.cast::<PySampler>()?.get().0))
        }
        _ => (value.clone(), None),
    };
    let part = PyView::of(&value).map(|(resource, part)| (resource.into_any(), part));
    let part = part.or_else(|| value.is_instance_of::<PyString>().then(|| (value.clone(), Part::default())));
    match part {
        Some((resource, part)) => Ok(Given::Part(work.table.add(given(&resource)?.owned()), part, sampler)),
        None if binding.kind == BindingKind::Uniform => crate::value::value(&value).map(Given::Data),
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
        _ if value.is_instance_of::<PyList>() => "bind one image, or make it an array in the shader",
        _ => "import it: g.import_array(name, array)",
    };
    Ok((format!("plain data ({kind})"), help.to_owned()))
}

/// The push data of a program.
///
/// # Errors
/// See [`front::push`].
pub fn push(py: Python<'_>, who: Who<'_>, program: &Program, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    let given = match (given, &program.interface.push) {
        (Some(given), Some(_)) => Some(value(given)?),
        // Whatever it is: the shader reads none.
        (Some(_), None) => Some(rgraph_shader::Value::Bool(false)),
        (None, _) => None,
    };
    front::push(who, program, given.as_ref()).map_err(|error| misfit(py, error, who))
}
