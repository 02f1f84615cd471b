//! Barriers: the fewest, the latest, the narrowest that make the plan mean what the declaration means.
//!
//! `hazard` walks the uses in the order of the schedule and asks for barriers; `call` gathers them in as few calls as
//! will do; `edge` and `repeat` see to what comes before and after the frame, `sources` and `stage_clock` to what other
//! barriers order already; `emit` writes the plan.
//!
//! Source of the happens-before relation: Vulkan 1.3 specification, "Execution and Memory Dependencies".

pub(crate) mod call;
pub(crate) mod edge;
pub(crate) mod emit;
pub(crate) mod hazard;
mod layouts;
pub(crate) mod narrow;
pub(crate) mod repeat;
pub(crate) mod sources;
mod stage_clock;
