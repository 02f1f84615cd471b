//! Placement of transients and previous owners of their bytes, against independent checks and exhaustive searches.

mod families;
mod judge;
mod place;
mod walk;
