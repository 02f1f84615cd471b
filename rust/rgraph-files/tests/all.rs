//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file.

#[path = "../../rgraph-report/tests/common/mod.rs"]
mod common;

mod bad_files;
mod file_order;
mod graph_files;
mod plan_files;
