//! Setup functions under way: what they declare on their graph goes to the copy that is being baked.

use std::cell::RefCell;

use pyo3::prelude::*;
use rgraph_plan::error::Code;

use crate::classes::graph::PyGraph;
use crate::run::error::{Refusal, refusal};

thread_local! {
    /// Working copies whose setup functions this thread calls, the innermost last.
    static COPIES: RefCell<Vec<Py<PyGraph>>> = const { RefCell::new(Vec::new()) };
}

/// A working copy is the one that this thread declares on, as long as this lives.
pub(crate) struct UnderWay(());

impl UnderWay {
    /// Its setup functions are about to be called.
    pub(crate) fn of(working: &Bound<'_, PyGraph>) -> Self {
        let working = working.clone().unbind();
        COPIES.with(|copies| copies.borrow_mut().push(working));
        Self(())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // Out of the borrow before it is dropped.
        let _working = COPIES.with(|copies| copies.borrow_mut().pop());
    }
}

/// Whether this thread is in a setup function of the graph.
pub(crate) fn is_under_way(identity: u64) -> bool {
    COPIES.with(|copies| copies.borrow().iter().any(|copy| copy.get().identity == identity))
}

/// The working copy of a graph whose setup function this thread is in; else the graph itself.
pub(crate) fn working<'py>(graph: Bound<'py, PyGraph>) -> Bound<'py, PyGraph> {
    let py = graph.py();
    let identity = graph.get().identity;
    COPIES.with(|copies| {
        let copies = copies.borrow();
        let found = copies.iter().rev().find(|copy| copy.get().identity == identity);
        found.map(|copy| copy.bind(py).clone()).unwrap_or(graph)
    })
}

/// Refuses a change that would outlive the bake whose setup function makes it: one of the graph itself, and not of the
/// copy that is being baked.
///
/// # Errors
/// RG-E217 with what is changed.
pub(crate) fn refuse_lasting(graph: &PyGraph, what: &str, help: &str) -> Result<(), Refusal> {
    let lasting = COPIES.with(|copies| {
        let copies = copies.borrow();
        copies.iter().any(|copy| copy.get().identity == graph.identity)
            && !copies.iter().any(|copy| std::ptr::eq(copy.get(), graph))
    });
    if lasting { Err(refusal(Code::BadAccess, format!("{what} in a setup function"), help)) } else { Ok(()) }
}
