//! Plan files (`*.rplan.json`): what a bake decides.

mod command;
mod keys;
mod outcome;
mod read;
mod write;

pub(super) use keys::{ID, MOST_ID, PLAN};
pub(super) use read::hexadecimal;
pub use read::read_plan;
pub use write::{plan_hash, write_plan};
