//! Plan files (`*.rplan.json`): what a bake decides.

mod command;
pub(super) mod keys;
mod outcome;
mod read;
mod write;

pub use read::read_plan;
pub use write::write_plan;
