//! Placement of transients and previous owners of their bytes, against independent checks and exhaustive searches.

pub mod checker;
pub mod families;
pub mod place;
mod walk;
