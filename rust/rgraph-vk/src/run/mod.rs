//! Compiled graphs, their runs' frames, and graphs that wait for their next owner.

mod compile;
pub(crate) mod compiled;
pub(crate) mod frame;
pub(crate) mod prepare;
pub(crate) mod spare;
mod submission;
