//! rgraph-plan: declare passes, resources and how each pass uses each resource; bake a plan that is free of
//! hazards. Planning is a pure function: no Vulkan, clock, file or thread in here.
#![forbid(unsafe_code)]

pub mod access;
pub mod error;
pub mod file;
pub mod format;
pub mod graph;
pub mod id;
pub mod plan;
pub mod profile;
pub mod report;
pub mod resource;
pub mod stages;
