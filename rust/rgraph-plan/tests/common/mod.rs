//! What tests share.

pub mod counting;
pub mod kept;
pub mod most_live;
