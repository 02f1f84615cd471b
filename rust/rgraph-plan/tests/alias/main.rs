//! Placement of transients and hand-offs of their bytes, against independent checks and exhaustive searches.

mod families;
mod judge;
mod place;
mod walk;
