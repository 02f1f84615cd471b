//! Schedules: laws that every policy keeps, bounds on generated frames, ratios to known optima.

mod bound;
mod boxes;
mod counted;
mod exact;
pub mod laws;
mod layered;
mod played;
mod stg;
pub mod support;
