//! Byte offsets of transient resources, and which of them reuse the bytes of which others.
//!
//! [`place`](place::place) shortens lifetimes to a timeline, sweeps it with an arena of holes, and with more effort
//! tries greedy rules and a depth-first search over all conflicts. [`previous_owners`](walk::previous_owners) then
//! walks the bytes.

pub(crate) mod item;
pub(crate) mod place;
pub(crate) mod remembered;
pub(crate) mod walk;

mod anytime;
mod arena;
mod conflict;
mod greedy;
mod online;
mod search;
mod timeline;

#[cfg(test)]
mod tests;
