//! rgraph-plan: declare passes, resources and how each pass uses each resource; bake a plan that is free of
//! hazards. Planning is a pure function: no Vulkan, clock, file or thread in here.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![forbid(unsafe_code)]

pub mod bake;
pub mod declared;
pub mod devices;
pub mod heap;
#[doc(hidden)]
pub mod inside;
mod stages;
pub mod tune;
pub mod what_if;

pub use rgraph_ir::{
    access, budget, cancel, declare, error, feature, format, graph, id, module, nearest, plan, profile, resource, words,
};

/// What most users of the crate need.
pub mod prelude {
    pub use crate::access::PassQueue;
    pub use crate::bake::{LastPlan, Options, Policy, Scratch, Split, Without, bake, bake_into};
    pub use crate::budget::MemoryBudget;
    pub use crate::error::GraphError;
    pub use crate::format::Format;
    pub use crate::graph::{Graph, Pass, Use};
    pub use crate::plan::Plan;
    pub use crate::profile::Profile;
    pub use crate::resource::{Resource, Size};
}
