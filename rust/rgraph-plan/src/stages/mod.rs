//! The verbs, one module each, in the order in which `bake` runs them.

pub mod alias;
pub mod bound;
pub mod cull;
pub mod depend;
pub mod describe;
pub mod interval_cuts;
pub mod merge;
pub mod packets;
pub mod parallel;
pub mod play;
pub mod resolve;
pub mod schedule;
pub mod size;
pub mod synchronize;
pub mod transient;
pub mod validate;
pub mod weigh;
