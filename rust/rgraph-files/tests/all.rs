//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file.

#[path = "../../rgraph-report/tests/common/mod.rs"]
mod common;

#[path = "../../rgraph-ir/tests/changed/mod.rs"]
mod changed;

mod bad_files;
mod every_field;
mod file_order;
mod graph_files;
mod plan_files;
mod schemas;
