//! Memory of graphs that are gone, for the next ones. A program that declares a graph anew for each frame would return
//! its memory to the system each time, which then has to clear the same pages again.

use std::sync::{Mutex, PoisonError};

use rgraph_plan::graph::Graph;
use rgraph_vk::PerProcess;

use crate::run::pending_work::PendingWork;

/// Most graphs whose memory is kept.
const GRAPHS: usize = 2;
/// Most accesses of each of them, and most passes with pending work.
const ACCESSES: usize = 1 << 16;

/// Nothing, in memory that held a graph and the pending work of its passes.
pub(crate) struct Spare {
    graph: Graph,
    pending: Vec<PendingWork>,
}

static SPARES: PerProcess<Mutex<Vec<Spare>>> = PerProcess::new(Mutex::default);

/// An empty graph and an empty list, in memory of an earlier graph if some is kept.
pub(crate) fn take(name: &str, reference_size: [u32; 2]) -> (Graph, Vec<PendingWork>) {
    let spare = SPARES.get().lock().unwrap_or_else(PoisonError::into_inner).pop();
    match spare {
        Some(Spare { mut graph, pending }) => {
            graph.reset(name, reference_size);
            (graph, pending)
        }
        None => (Graph::new(name, reference_size), Vec::new()),
    }
}

/// Keeps the memory of a graph that is gone. What it holds is dropped here; with that, Python code may run.
pub(crate) fn keep(mut graph: Graph, mut pending: Vec<PendingWork>) {
    if graph.passes().is_empty() || graph.accesses().len().max(pending.len()) > ACCESSES {
        return;
    }
    graph.reset("", [0, 0]);
    pending.clear();
    let mut spares = SPARES.get().lock().unwrap_or_else(PoisonError::into_inner);
    if spares.len() < GRAPHS {
        spares.push(Spare { graph, pending });
    }
}
