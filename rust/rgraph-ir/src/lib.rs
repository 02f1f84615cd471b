//! rgraph-ir: the nouns that planner, checker and runtime share: a graph as declared, a device as numbers, a plan as
//! flat arrays. Plain data; what a declaration means is worked out by the planner and, apart from it, by the checker.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![forbid(unsafe_code)]

pub mod access;
pub mod budget;
pub mod cancel;
mod code;
pub mod declare;
pub mod devices;
pub mod error;
pub mod feature;
pub mod format;
pub mod graph;
pub mod id;
pub mod module;
mod names;
pub mod nearest;
mod plain;
pub mod plan;
pub mod profile;
pub mod resource;
pub mod words;
