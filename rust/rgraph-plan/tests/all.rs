//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file.

mod common;
#[path = "../../../benches/families.rs"]
mod families;

mod alias;
mod alias_memory;
mod batches;
mod budgets;
mod calls;
mod cancel;
mod decide;
mod edges;
mod figures;
mod foreign;
mod heap;
mod heap_limit;
mod lift;
mod merges;
mod notes;
mod others;
mod pages;
mod queues;
mod schedule;
mod steady;
mod tune;
mod validate;
mod waits;
