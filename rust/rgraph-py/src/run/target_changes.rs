//! Clear values, loads and viewports of one run: of `params=`, and of functions that are called for it.

use std::collections::HashSet;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::access::Usage;
use rgraph_plan::graph::{Graph, PassId};
use rgraph_vk::{Target, TargetChange};

use crate::arguments::convert::clear;
use crate::classes::draw::viewport;
use crate::classes::graph::PyGraph;
use crate::classes::raster::{load, spread};
use crate::run::per_run::Word;
use crate::run::runnable::Runnable;

/// Adds one argument of a pass to a run's changes.
///
/// # Errors
/// `TypeError` if the value is none of this argument.
fn change(
    graph: &Graph,
    (pass, word): (PassId, Word),
    value: Bound<'_, PyAny>,
    out: &mut Vec<(PassId, TargetChange)>,
) -> PyResult<()> {
    let mut add = |change| out.push((pass, change));
    match word {
        Word::Viewport => add(TargetChange::Viewport(viewport(&value)?)),
        Word::ClearDepth => add(TargetChange::Clear(Target::Depth, clear(&value)?)),
        Word::LoadDepth => add(TargetChange::Load(Target::Depth, load(&value)?)),
        Word::Clear | Word::Load => {
            let of_pass = graph.accesses().iter().filter(|access| access.pass == pass);
            let colors = of_pass.filter(|access| access.usage == Usage::ColorAttachment).count();
            // A pass without colour attachments is refused by the run.
            let name = if word == Word::Clear { "clear" } else { "load" };
            for (value, at) in spread(Some(value), colors.max(1), name)?.into_iter().zip(0..) {
                let Some(value) = value else { continue };
                add(match word {
                    Word::Clear => TargetChange::Clear(Target::Color(at), clear(&value)?),
                    _ => TargetChange::Load(Target::Color(at), load(&value)?),
                });
            }
        }
    }
    Ok(())
}

impl Runnable {
    /// The changes of a run: of `params=`, and of the functions of the graph that is run for what is not given there.
    /// Other entries of `params=` are left alone.
    ///
    /// # Errors
    /// The exception of a function, or of reading its value.
    pub fn target_changes(
        &self,
        origin: Option<&Bound<'_, PyGraph>>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<(PassId, TargetChange)>> {
        let mut out = Vec::new();
        let graph = &self.load.graph;
        let mut given = HashSet::new();
        for (key, value) in params.iter().flat_map(|params| params.iter()) {
            if let Some(of) = self.target_param(&key)? {
                given.insert(of);
                change(graph, of, value, &mut out)?;
            }
        }
        let Some(origin) = origin else { return Ok(out) };
        let py = origin.py();
        let kept: Vec<_> = origin.get().read(|state| {
            let Some(declared) = &state.graph else { return Vec::new() };
            let here = |pass| graph.find_pass(declared.pass_name(pass));
            let all = state.per_run.iter().filter_map(|one| Some((here(one.pass)?, one.word, one.value.clone_ref(py))));
            all.collect()
        });
        let mut clears = Vec::new();
        for (pass, word, value) in kept {
            let value = value.into_bound(py);
            if !value.is_callable() {
                clears.push((pass, word, value));
            } else if !given.contains(&(pass, word)) {
                let value = value.call0()?;
                if value.is_none() {
                    let name = graph.pass_name(pass);
                    let message = format!("a function for a run of pass \"{name}\" returned None");
                    return Err(PyTypeError::new_err(message));
                }
                given.insert((pass, word));
                change(graph, (pass, word), value, &mut out)?;
            }
        }
        for (pass, word, value) in clears {
            let chosen = word.load().is_some_and(|load| given.contains(&(pass, load)));
            if chosen && !given.contains(&(pass, word)) {
                change(graph, (pass, word), value, &mut out)?;
            }
        }
        Ok(out)
    }
}
