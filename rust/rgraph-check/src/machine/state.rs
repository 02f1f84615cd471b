//! What the machine keeps between commands: allocations, the open render pass, signals, and where passes stand.

use rgraph_ir::id::IdVec;
use rgraph_ir::plan::{PlanPassId, QueueId};
use rgraph_ir::resource::ResourceId;

use crate::clock::Clock;
use crate::ids::{DeclaredPassId, MemoryId, Position, RenderingId, RunId, SubresourceId, UseId};
use crate::region::Region;
use crate::subresource::{AllocationPlace, SubresourceState};
use crate::tables::Op;

use super::Replaced;

/// One memory, or one copy of a ring of them.
pub(crate) struct Allocation {
    pub memory: MemoryId,
    pub subresources: IdVec<SubresourceId, SubresourceState>,
    /// The last operation on it.
    pub last: u64,
    pub replaced: Replaced,
    /// Whether anything in it is defined.
    pub filled: bool,
    /// The last run whose entry edges were made, by queue and on any.
    pub entered: IdVec<QueueId, Option<RunId>>,
    pub entered_run: Option<RunId>,
}

/// A render pass that is open.
pub(crate) struct Rendering {
    pub id: RenderingId,
    pub attachments: std::ops::Range<usize>,
    /// Operations that its load and store operations add.
    pub extra: Vec<Extra>,
    /// Dependencies between its subpasses, in order.
    pub regions: Vec<Region>,
    pub runs: bool,
}

/// What a render pass adds to the operations of its passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    pub place: AllocationPlace,
    /// The pass of the plan with which it happens; `None`: with each that uses the subresource.
    pub pass: Option<PlanPassId>,
    pub op: Op,
}

/// A subresource of a resource whose contents somebody sees after the frame.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    pub resource: ResourceId,
    pub subresource: SubresourceId,
}

/// A place in a run.
#[derive(Clone, Copy)]
pub(crate) struct Stand {
    pub queue: QueueId,
    pub position: Position,
}

/// A declared pass that comes after another one without any resource between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ordering {
    pub later: DeclaredPassId,
    pub earlier: DeclaredPassId,
}

/// A use of a declared pass.
#[derive(Clone, Copy)]
pub(crate) struct UseOf {
    pub declared: DeclaredPassId,
    pub number: UseId,
}

/// A subresource that a use of a pass meets, in the resource that the use is of in this run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Accessed {
    pub place: AllocationPlace,
    pub number: UseId,
    pub resource: ResourceId,
}

/// What a signal left.
#[derive(Clone)]
pub(crate) struct Signal {
    pub value: u32,
    #[cfg_attr(not(test), allow(dead_code, reason = "the exact machine of the tests asks for it"))]
    pub position: Position,
    pub clock: Clock,
}

/// The queue on which a run left a subresource; it stays known while later runs do not use that image of a ring.
#[derive(Clone, Copy)]
pub(crate) struct Exit {
    pub queue: QueueId,
    pub run: RunId,
}
