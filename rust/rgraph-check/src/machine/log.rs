//! What the walk did, as the exact checker of the tests reads it.

use std::cell::Cell;

use rgraph_ir::access::Stages;
use rgraph_ir::plan::QueueId;

use crate::ids::{AllocationId, NodeId, Position, SubresourceId};
use crate::subresource::Done;

/// A wait that was met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub from: QueueId,
    /// Position of the signal on its queue.
    pub signal: Position,
    pub queue: QueueId,
    pub at: Position,
    pub stages: Stages,
}

/// A node and, where it has one, what it is about: an allocation and its subresources.
pub(crate) type Cover = (NodeId, Option<(AllocationId, Vec<SubresourceId>)>);

/// What the walk did, besides its operations and nodes.
#[derive(Default)]
pub(crate) struct Log {
    pub waits: Vec<Met>,
    /// Barriers: the node, and allocation and subresources where it names some.
    pub covers: Vec<Cover>,
    /// Pairs of a later side and the state of a subresource that were looked at.
    pub pairs: Cell<u64>,
    /// Releases that change no layout: later sides only, since they write nothing.
    pub releases: Vec<Done>,
}
