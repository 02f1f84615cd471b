//! The verbs, one module each, in the order in which `bake` runs them.

pub mod alias;
pub mod cull;
pub mod resolve;
pub mod schedule;
pub mod size;
pub mod validate;
