//! What a pass's declaration says of other passes, of resources, and of functions.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rgraph_plan::error::Code;
use rgraph_plan::graph::PassId;

use crate::arguments::convert::{Count, Text};
use crate::arguments::declare::given;
use crate::classes::pass::PyPass;
use crate::run::error::{Refusal, bad, refusal};
use crate::run::state::GraphState;
use crate::run::unresolved::{Given, Reference, Target};

/// A pass in an argument.
pub(crate) enum Earlier {
    /// A handle: its graph's identity and its id.
    Handle(u64, PassId),
    Name(Box<str>),
}

/// Reads a pass or its name.
pub(crate) fn earlier(value: &Bound<'_, PyAny>) -> PyResult<Earlier> {
    if let Ok(pass) = value.cast::<PyPass>() {
        return Ok(Earlier::Handle(pass.get().graph.get().identity, pass.get().id));
    }
    if !value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("after= takes passes and names of passes"));
    }
    value.extract::<Text>().map(|Text(name)| Earlier::Name(name.into()))
}

/// A reference of a pass's declaration to another pass or to resources.
pub(crate) enum Link {
    /// The pass that it comes after.
    After(Target<PassId>),
    /// Output and input of a fallback.
    Fallback(Target, Target),
}

impl Link {
    /// The same of a pass that is declared.
    pub(crate) fn of(self, pass: PassId) -> Reference {
        match self {
            Self::After(earlier) => Reference::After(pass, earlier),
            Self::Fallback(output, input) => Reference::Fallback(pass, output, input),
        }
    }
}

/// Outputs and inputs of fallbacks.
pub(crate) type Fallbacks = Vec<(Given<'static>, Given<'static>)>;

/// Reads `fallback=`.
pub(crate) fn fallbacks(value: &Bound<'_, PyAny>) -> PyResult<Fallbacks> {
    let Ok(dict) = value.cast::<PyDict>() else {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("fallback= is {{output: input}}, a dict of resources, not {kind}")));
    };
    dict.iter().map(|(output, input)| Ok((given(&output)?.owned(), given(&input)?.owned()))).collect()
}

/// Reads `device=`.
pub(crate) fn device_index(value: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if value.is_instance_of::<PyString>() {
        let Text(name) = Text::of(value.as_borrowed(), "the word for the device")?;
        if name == "any" {
            return Ok(None);
        }
        let message = format!("there is no device called \"{}\"", name.chars().take(60).collect::<String>());
        return Err(bad(value.py(), Code::UnknownName, message, "a device is a number (0, 1, …) or \"any\""));
    }
    value.extract::<Count>().map(|Count(index)| Some(index))
}

/// Reads `setup=` or `execute=`.
pub(crate) fn function(value: Option<Bound<'_, PyAny>>, what: &str) -> PyResult<Option<Py<PyAny>>> {
    match value {
        Some(value) if !value.is_callable() => Err(PyTypeError::new_err(format!("{what}= takes a function"))),
        value => Ok(value.map(Bound::unbind)),
    }
}

/// The values of `after=` and `fallback=`, as seen from the module `prefix`.
///
/// # Errors
/// If they name another graph's passes or resources.
pub(crate) fn pass_links(
    state: &GraphState,
    identity: u64,
    prefix: &str,
    after: &[Earlier],
    fallbacks: &Fallbacks,
) -> Result<Vec<Link>, Refusal> {
    let mut links = Vec::new();
    for earlier in after {
        links.push(Link::After(match earlier {
            Earlier::Handle(of, id) if state.has_pass(identity, *of, *id) => Target::Known(*id),
            Earlier::Handle(..) => {
                let help = "use the passes that this graph's add_pass() returned, or names";
                return Err(refusal(Code::UnknownName, "a pass belongs to another graph", help));
            }
            Earlier::Name(name) => Target::Later(name.clone()),
        }));
    }
    for (output, input) in fallbacks {
        let target = |given| state.target(identity, prefix, given);
        links.push(Link::Fallback(target(output)?, target(input)?));
    }
    Ok(links)
}
