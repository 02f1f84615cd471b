//! rgraph-plan: declare passes, resources and how each pass uses each resource; bake a plan that is free of
//! hazards. Planning is a pure function: no Vulkan, clock, file or thread in here.
#![forbid(unsafe_code)]

pub mod access;
pub mod bake;
mod code;
pub mod declare;
pub mod error;
pub mod file;
pub mod format;
pub mod graph;
pub mod heap;
pub mod id;
pub mod plan;
pub mod profile;
pub mod report;
pub mod resource;
pub mod stages;

/// What most users of the crate need.
pub mod prelude {
    pub use crate::access::PassQueue;
    pub use crate::bake::{Options, Scratch, bake, bake_into};
    pub use crate::error::GraphError;
    pub use crate::format::Format;
    pub use crate::graph::{Graph, Pass, Use};
    pub use crate::plan::Plan;
    pub use crate::profile::Profile;
    pub use crate::resource::{Resource, Size};
    pub use crate::stages::schedule::Policy;
    pub use crate::stages::synchronize::emit::Split;
}
