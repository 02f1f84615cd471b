//! Setup functions under way: what they declare on their graph goes to the copy that is being baked.

use std::cell::RefCell;

use pyo3::prelude::*;

use crate::classes::graph::PyGraph;

thread_local! {
    /// Working copies whose setup functions this thread calls, the innermost last.
    static COPIES: RefCell<Vec<Py<PyGraph>>> = const { RefCell::new(Vec::new()) };
}

/// A working copy is the one that this thread declares on, as long as this lives.
pub struct UnderWay(());

impl UnderWay {
    /// Its setup functions are about to be called.
    pub fn of(working: &Bound<'_, PyGraph>) -> Self {
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
pub fn is_under_way(identity: u64) -> bool {
    COPIES.with(|copies| copies.borrow().iter().any(|copy| copy.get().identity == identity))
}

/// The working copy of a graph whose setup function this thread is in; else the graph itself.
pub fn working<'py>(graph: Bound<'py, PyGraph>) -> Bound<'py, PyGraph> {
    let py = graph.py();
    let identity = graph.get().identity;
    COPIES.with(|copies| {
        let copies = copies.borrow();
        let found = copies.iter().rev().find(|copy| copy.get().identity == identity);
        found.map(|copy| copy.bind(py).clone()).unwrap_or(graph)
    })
}
