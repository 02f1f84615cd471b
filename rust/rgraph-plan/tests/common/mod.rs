//! What tests share.

pub mod counting;
pub mod most_live;
