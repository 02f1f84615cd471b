//! Declarations that were taken back, and those that take the place of earlier ones.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::prelude::*;
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::resource::ResourceId;

use crate::run::pending_work::{PendingWork, Setup};

/// Removed declarations, and values to be dropped where Python code may run.
#[derive(Default)]
pub struct Anew {
    /// Whether a declaration of a taken name replaces the earlier one.
    pub replaces: bool,
    /// Removed passes.
    pub passes: BTreeSet<PassId>,
    /// Removed resources.
    pub resources: BTreeSet<ResourceId>,
    /// Number of declarations replaced or removed.
    pub count: usize,
    /// Values that nothing needs any more.
    pub dropped: Vec<Dropped>,
}

/// Something that may run Python code when it is dropped.
pub enum Dropped {
    /// The work of a pass.
    Work(PendingWork),
    /// The setup function of a pass.
    Setup(Setup),
    /// A function or an array.
    Object(Py<PyAny>),
}

impl Anew {
    /// The same, for a copy of the graph.
    pub fn copy(&self) -> Self {
        let Self { replaces, passes, resources, count, dropped: _ } = self;
        let (passes, resources) = (passes.clone(), resources.clone());
        Self { replaces: *replaces, passes, resources, count: *count, dropped: Vec::new() }
    }

    /// The values to be dropped once the graph is unlocked.
    #[must_use]
    pub fn take_dropped(&mut self) -> Vec<Dropped> {
        std::mem::take(&mut self.dropped)
    }

    /// The declaration without what was removed.
    pub fn left(&self, graph: Graph) -> Graph {
        if self.passes.is_empty() && self.resources.is_empty() {
            graph
        } else {
            graph.without(&self.passes, &self.resources)
        }
    }

    /// A hash of a declaration that tells what was removed of it.
    pub fn mix(&self, hash: u128) -> u128 {
        if self.passes.is_empty() && self.resources.is_empty() {
            return hash;
        }
        let mut hasher = DefaultHasher::new();
        (&self.passes, &self.resources).hash(&mut hasher);
        hash ^ (u128::from(hasher.finish()) << 32 | 1)
    }
}
