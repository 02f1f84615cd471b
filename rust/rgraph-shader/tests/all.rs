//! The crate's tests in one program: `cargo test --test all NAME::` runs those of one file. What asks for a process of
//! its own is a program of its own in `Cargo.toml`.

mod common;

mod calls;
mod corpus;
mod glsl;
mod hostile;
mod pack;
mod pointers;
mod raster;
mod refused;
mod spirv;
mod text;
