//! The declaration that is baked: names found, setup functions called.

use pyo3::prelude::*;
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;

use crate::arguments::setup::{UnderWay, is_under_way};
use crate::classes::graph::PyGraph;
use crate::classes::pass::PyPass;
use crate::run::counts::PASSES_HASHED;
use crate::run::error::{bad, one};
use crate::run::pending_work::Setup;
use crate::run::state::GraphState;

impl PyGraph {
    /// The graph to bake: names resolved, setup functions called on a copy, in the order of its graph file.
    pub fn resolved(slf: &Bound<'_, Self>) -> PyResult<Graph> {
        let py = slf.py();
        let copied = slf.get().state().resolved(py);
        let (copy, setups) = copied.map_err(|mistake| one(py, mistake))?;
        let whole = if setups.is_empty() { copy } else { Self::set_up(slf, copy, setups)? };
        let mut whole = slf.get().state().anew.left(whole);
        whole.to_file_order();
        Ok(whole)
    }

    /// Calls the setup functions on a working copy, which shares the graph's identity so that its handles fit.
    fn set_up(slf: &Bound<'_, Self>, copy: Graph, setups: Vec<Setup>) -> PyResult<Graph> {
        let py = slf.py();
        if is_under_way(slf.get().identity) {
            let message = "a setup function bakes, runs or writes the graph that it is part of";
            return Err(bad(py, Code::BadAccess, message, "do so when it has returned"));
        }
        let copied_from = slf.get().state().copied_from.clone();
        let working = Self::with(py, slf.get().identity, GraphState { copied_from, ..GraphState::new(copy) })?;
        let under_way = UnderWay::of(&working);
        for setup in setups {
            setup.function.call1(py, (PyPass::handle(&working, setup.pass, setup.prefix)?,))?;
        }
        drop(under_way);
        let whole = working.get().change(|state| {
            state.resolve_names();
            let missing = state.missing();
            let mut whole = state.open()?.clone();
            state.graph = None;
            for mistake in missing {
                whole.add_mistake(mistake);
            }
            Ok(whole)
        });
        whole.map_err(|mistake| one(py, mistake))
    }

    /// The hash of the declaration if nothing in it is open: no function to call, no name to be found.
    pub fn resolved_hash(&self) -> Option<u128> {
        let mut state = self.state();
        state.resolve_names();
        if !state.unresolved.is_empty() || !state.setups.is_empty() || state.open {
            return None;
        }
        if state.hash.is_none() {
            PASSES_HASHED.add(state.graph.as_ref().map_or(0, |graph| graph.passes().len()));
            state.hash = state.graph.as_ref().map(|graph| state.anew.mix(graph.content_hash()));
        }
        state.hash
    }
}
