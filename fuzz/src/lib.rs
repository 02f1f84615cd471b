//! The laws that the fuzz targets try. Each is a function of bytes and panics where it is broken; the ordinary tests
//! replay the corpora through the same files (`rgraph-check/tests/corpus.rs`, `rgraph-shader/tests/corpus.rs`).

pub mod chunks;
pub mod heap;
pub mod plans;
pub mod shaders;
