//! What the stages after merge read: the declaration with its shapes and facts, the schedule, and the queues.

use crate::access::Stages;
use crate::graph::Graph;
use crate::id::IdVec;
use crate::plan::{PlanKind, PlanPassId};
use crate::resource::{Life, ResourceId};
use crate::stages::order::schedule::{LaneId, Schedule};
use crate::stages::resolve::{Facts, ResolvedAccess};
use crate::stages::size::Shape;

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The declaration.
    pub graph: &'a Graph,
    pub shapes: &'a IdVec<ResourceId, Shape>,
    pub facts: &'a Facts,
    /// The linear order.
    pub schedule: &'a Schedule,
    /// Family of each queue but the host.
    pub families: &'a IdVec<LaneId, u32>,
    /// Stages of each queue but the host at which passes without accesses may do their work.
    pub stages: &'a IdVec<LaneId, Stages>,
}

impl Context<'_> {
    /// Accesses of the scheduled pass at a position.
    pub(crate) fn accesses(&self, at: PlanPassId) -> &[ResolvedAccess] {
        let pass = self.schedule.passes[at].pass;
        self.facts.accesses.slice(self.facts.passes[pass].accesses)
    }

    /// Whether the contents of a memory outlive the frame, or are there before it.
    pub(crate) fn has_edges(&self, memory: ResourceId) -> bool {
        !self.graph.resources()[memory].life.is_of_frame() || self.facts.remembered[memory]
    }

    /// Whether a memory is one that no other frame under way has.
    pub(crate) fn is_fresh(&self, memory: ResourceId) -> bool {
        self.graph.resources()[memory].life == Life::Fresh
    }

    /// Whether it is an image.
    pub(crate) fn is_image(&self, memory: ResourceId) -> bool {
        matches!(self.shapes[memory].kind, PlanKind::Image { .. })
    }
}
