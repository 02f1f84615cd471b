//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file.

mod common;

mod golden;
mod pages;
mod reports;
