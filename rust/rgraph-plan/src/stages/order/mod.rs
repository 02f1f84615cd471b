//! The order that memory and barriers follow from: the schedule, read groups, and what each queue knows of the others.
//!
//! `schedule` has the live passes in physical passes; `read_group` finds for every subresource which uses are not
//! ordered among themselves and what layout they share; `clock` walks the queues with vector clocks and keeps the waits
//! that are not implied; `batch` cuts the queues into submits; `foreign` adds the points of others.
//!
//! Source of the clocks: Mattern, "Virtual Time and Global States of Distributed Systems" (1989).

pub(crate) mod batch;
pub(crate) mod clock;
pub(crate) mod foreign;
pub(crate) mod read_group;
pub(crate) mod schedule;
