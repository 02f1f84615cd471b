//! Barriers, semaphores, batches: the fewest, the latest, the narrowest that make the plan mean what the
//! declaration means.
//!
//! `read_group` finds for every subresource which uses are not ordered among themselves and what layout they share;
//! `clock` walks the queues with vector clocks and keeps the waits that are not implied; `hazard` walks the uses again
//! and asks for barriers; `call` gathers them in as few calls as will do; `edge` and `repeat` see to what comes before
//! and after the frame, `sources` and `stage_clock` to what other barriers order already; `emit` writes the plan.
//!
//! Source of the clocks: Mattern, "Virtual Time and Global States of Distributed Systems" (1989). Of the happens-
//! before relation: Vulkan 1.3 specification, "Execution and Memory Dependencies".

pub(crate) mod batch;
pub(crate) mod call;
pub(crate) mod clock;
pub(crate) mod edge;
pub(crate) mod emit;
pub(crate) mod foreign;
pub(crate) mod hazard;
mod layouts;
pub(crate) mod narrow;
pub(crate) mod read_group;
pub(crate) mod repeat;
pub(crate) mod schedule;
pub(crate) mod sources;
mod stage_clock;
