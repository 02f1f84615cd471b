//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file.

mod bound;
mod files;
