//! Schedules: laws that every policy keeps, bounds on generated frames, ratios to known optima.

mod bound;
mod boxes;
mod counted;
mod exact;
mod laws;
mod layered;
mod played;
mod stg;
mod support;
