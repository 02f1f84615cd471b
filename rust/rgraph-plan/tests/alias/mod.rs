//! Placement of transients and previous owners of their bytes, against independent checks and exhaustive searches.

mod checker;
pub mod families;
mod place;
mod walk;
