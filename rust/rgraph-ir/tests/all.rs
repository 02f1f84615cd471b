//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file.
#![forbid(unsafe_code)]

mod changed;
mod equal;
mod hash;
