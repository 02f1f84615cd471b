//! What a bake reports about itself: notes, times of its stages, bounds, and passes that did not merge.

use super::PlanPassId;
use crate::budget::MemoryBudget;
use crate::resource::ResourceId;

/// Two neighbouring raster passes that are not one render pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unmerged {
    /// The earlier one.
    pub first: PlanPassId,
    /// The later one.
    pub second: PlanPassId,
    pub reason: UnmergedWhy,
}

/// Why two neighbouring raster passes are not one render pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnmergedWhy {
    /// Their areas, samples or layers differ.
    Area,
    /// Their depth attachments differ.
    Depth,
    /// The later one reads this in another way than texel by texel.
    NotLocal(ResourceId),
    /// The later one waits for another queue.
    OtherQueue,
    /// They share no attachment, so there is nothing to gain.
    NothingShared,
    /// One of them may be switched off.
    Conditional,
    /// Together they have more colour attachments than the profile allows.
    TooMany,
    /// An attachment is cleared or discarded between them.
    Reloaded(ResourceId),
    /// `after` orders them, and nothing within a render pass would.
    Ordered,
    /// With subpasses, a render pass takes depth and stencil of this, of which its passes use one.
    OneAspect(ResourceId),
    /// Of this they attach layers that overlap and are not the same.
    OtherPart(ResourceId),
}

impl UnmergedWhy {
    /// The resource that stands between them, where one does.
    pub const fn resource(self) -> Option<ResourceId> {
        match self {
            Self::NotLocal(resource)
            | Self::Reloaded(resource)
            | Self::OneAspect(resource)
            | Self::OtherPart(resource) => Some(resource),
            Self::Area
            | Self::Depth
            | Self::OtherQueue
            | Self::NothingShared
            | Self::Conditional
            | Self::TooMany
            | Self::Ordered => None,
        }
    }
}
/// What a bake says of itself.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Microseconds of each stage, if asked for.
    pub bake_us: Option<BakeTimes>,
    /// Pipeline-barrier calls (events count too).
    pub barriers: u32,
    /// Submits to queues.
    pub submits: u32,
    /// Modelled time of the frame in microseconds.
    pub frame_us: f64,
    /// Modelled time of the same order on the graphics queue alone, in microseconds; `None` if no other queue is used.
    pub one_queue_us: Option<f64>,
    /// What no plan of the graph for the profile beats in the model; `None` in files of writers that do not know it.
    pub bound: Option<FrameBound>,
    /// The passes of the longest path through the dependencies, in order; empty where `bound` is `None`.
    pub critical_path: Vec<PlanPassId>,
    /// What the schedule is: the policy that made it, and whether it is proven best.
    pub policy: &'static str,
    /// Whether the order is proven optimal (policy `exact`).
    pub optimal: bool,
    /// Bytes that the bake was allowed; `None` in files of readers that do not know it.
    pub memory: Option<MemoryBudget>,
    /// What could not be done as asked.
    pub notes: Vec<String>,
}

/// A lower bound of the modelled frame of every plan, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FrameBound {
    /// The greater one of the other two.
    pub us: f64,
    /// The longest path through the dependencies, with the barrier calls, submits and hops that it cannot avoid.
    pub critical_path_us: f64,
    /// The work of the passes that may run on no other queues than some, shared out evenly among these.
    pub load_us: f64,
}

/// Microseconds of each stage.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BakeTimes {
    /// Validation and resolution.
    pub validate: f64,
    /// Culling.
    pub cull: f64,
    /// Dependencies, order and queues.
    pub schedule: f64,
    /// Render passes.
    pub merge: f64,
    /// Placement.
    pub alias: f64,
    /// Barriers, semaphores, batches.
    pub synchronize: f64,
}
