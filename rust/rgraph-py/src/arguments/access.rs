//! Accesses of a pass: one for each resource of a call, or none of them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::access::Usage;
use rgraph_plan::graph::Use;
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;

use crate::arguments::declare::given;
use crate::arguments::details::{Allowed, read};
use crate::arguments::setup;
use crate::arguments::source;
use crate::classes::pass::{Chained, PyPass};
use crate::classes::resource::PyResource;
use crate::run::error::one;
use crate::run::unresolved::{Given, Reference, Target, Unresolved};

impl PyPass {
    /// Declares a usage of resources, with keyword arguments.
    pub fn declare<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        usage: Usage,
        details: Option<&Bound<'py, PyDict>>,
        allowed: Allowed,
    ) -> Chained<'py> {
        let mut how = Use::new(usage);
        let resolves = match details {
            Some(details) => read(&mut how, details, allowed)?,
            None => None,
        };
        Self::add(slf, resources, &how, resolves)
    }

    /// Declares one access for each resource, or none if any of them cannot be.
    pub fn add<'py>(
        slf: Bound<'py, Self>,
        resources: &Bound<'py, PyTuple>,
        how: &Use,
        resolves: Option<Given<'static>>,
    ) -> Chained<'py> {
        let py = slf.py();
        if resources.is_empty() {
            return Err(PyTypeError::new_err("expected at least one resource"));
        }
        let place = source::place(py);
        let pass = slf.get();
        let graph = pass.graph.get();
        let help = "declare accesses of the pass that the function is called with, and those of others before bake()";
        setup::refuse_lasting(graph, "an access of another pass is declared", help)
            .map_err(|mistake| one(py, mistake))?;
        let handle = |value: &Bound<'py, PyAny>| match value.cast::<PyResource>() {
            Ok(handle) if handle.get().identity == graph.identity => Some(handle.get().id),
            _ => None,
        };
        // The common case, without a list: a few handles of this graph.
        if let (None, 1..=4) = (&resolves, resources.len()) {
            let mut ids = [None; 4];
            for (id, value) in ids.iter_mut().zip(resources.iter_borrowed()) {
                *id = handle(&value);
            }
            if ids.iter().take(resources.len()).all(Option::is_some) {
                let done = graph.change(|state| {
                    state.refuse_removed(pass.id)?;
                    if ids.iter().flatten().any(|id| state.anew.resources.contains(id)) {
                        return Ok(false);
                    }
                    let declaration = state.open()?;
                    let count = declaration.resources().len();
                    if ids.iter().flatten().any(|id: &ResourceId| id.index() >= count) {
                        return Ok(false);
                    }
                    for id in ids.iter().flatten() {
                        declaration.access(pass.id, *id, how, place.clone());
                    }
                    Ok(true)
                });
                if done.map_err(|mistake| one(py, mistake))? {
                    return Ok(slf);
                }
            }
        }
        let items: Vec<_> = resources.iter().collect();
        let wanted = items.iter().map(given).collect::<PyResult<Vec<_>>>()?;
        let done = graph.change(|state| {
            state.refuse_removed(pass.id)?;
            let target = |given: &Given<'_>| state.target(graph.identity, &pass.prefix, given);
            let targets = wanted.iter().map(target).collect::<Result<Vec<_>, _>>()?;
            let resolves = resolves.as_ref().map(target).transpose()?;
            state.open()?;
            for resource in targets {
                let mut how = *how;
                how.details.resolves = resolves.as_ref().and_then(Target::known);
                if let (Target::Known(id), None | Some(Target::Known(_))) = (&resource, &resolves) {
                    state.open()?.access(pass.id, *id, &how, place.clone());
                    continue;
                }
                let reference = Reference::Access(pass.id, resource, Box::new(how), resolves.clone(), None);
                state.unresolved.push(Unresolved { prefix: pass.prefix.clone(), place: place.clone(), reference });
            }
            Ok(())
        });
        done.map_err(|mistake| one(py, mistake))?;
        Ok(slf)
    }
}
