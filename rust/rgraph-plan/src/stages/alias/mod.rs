//! Byte offsets of transient resources, and who takes over whose bytes.

pub mod place;
pub mod walk;

mod arena;
mod online;
mod timeline;
