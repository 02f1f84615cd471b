//! Positions that only the checker has. One kind of position does not compile in the place of another; those of the
//! nouns (passes, resources, queues, flags) come from `rgraph-ir`.

use rgraph_ir::graph::FlagId;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Plan, PlanPassId};
use rgraph_ir::resource::ResourceId;
use serde::{Deserialize, Serialize};

rgraph_ir::id! {
    /// A memory, which has the number of its first name.
    pub struct MemoryId;
    /// A subresource of a memory.
    pub struct SubresourceId;
    /// A declared pass: the passes in flattened order, then what the declaration demands without naming it.
    pub struct DeclaredPassId;
    /// A use of a declared pass.
    pub struct UseId;
    /// A group of neighbouring unordered uses of one subresource, which commute.
    pub struct UnorderedGroupId;
    /// A memory on the machine, or one copy of a ring of them.
    pub struct AllocationId;
    /// A synchronization node of the machine.
    pub struct NodeId;
    /// A run of the plan, from 0.
    pub struct RunId;
    /// A render pass that the machine opened, in any run.
    pub struct RenderingId;
    /// What operations of the machine have in common that are no hazard to each other: a pass in a run, or one
    /// transition.
    pub struct InstanceId;
    /// An operation that ran on the machine.
    pub struct DoneId;
    /// Position of a command in [`rgraph_ir::plan::Plan::commands`].
    pub struct CommandId;
    /// Position of a wait in [`rgraph_ir::plan::Plan::waits`].
    pub struct WaitId;
    /// Position of an entry in [`rgraph_ir::plan::Plan::memory_barriers`].
    pub struct MemoryBarrierId;
    /// Position of an entry in [`rgraph_ir::plan::Plan::buffer_barriers`].
    pub struct BufferBarrierId;
    /// Position of an entry in [`rgraph_ir::plan::Plan::image_barriers`].
    pub struct ImageBarrierId;
}

impl MemoryId {
    /// The memory whose first name is `resource`.
    #[inline]
    pub(crate) fn of_first(resource: ResourceId) -> Self {
        Self::new(resource.index())
    }

    #[inline]
    pub(crate) fn first_name(self) -> ResourceId {
        ResourceId::new(self.index())
    }
}

/// A subpass of a render pass, from 0; 0 too outside of render passes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Subpass(u32);

impl Subpass {
    pub(crate) const FIRST: Self = Self(0);

    /// That of a pass.
    #[inline]
    pub(crate) fn of(plan: &Plan, pass: PlanPassId) -> Self {
        Self(plan.passes[pass].subpass)
    }
}

/// A position in the submission order of a queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Position(pub u32);

impl Position {
    /// That of so many steps later on the queue.
    #[inline]
    pub(crate) fn later_by(self, steps: u32) -> Self {
        Self(self.0 + steps)
    }
}

/// By pass of a plan: its declared pass.
pub(crate) type DeclaredOf = IdVec<PlanPassId, Option<DeclaredPassId>>;

/// By flag: whether it is on.
pub(crate) type FlagStates = IdVec<FlagId, bool>;

/// One subresource of one memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Place {
    pub memory: MemoryId,
    pub subresource: SubresourceId,
}
