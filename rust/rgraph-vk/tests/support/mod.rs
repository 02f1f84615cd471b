//! What tests share.

pub mod bench;
pub mod engine;
pub mod example;
pub mod fault;
pub mod hash;
pub mod host_memory;
pub mod xserver;

pub use bench::demand;
