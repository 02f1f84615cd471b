//! Views of a plan: text listing, differences, explanations, a drawing in DOT.

pub mod diff;
pub mod dot;
mod equal;
pub mod explain;
pub mod text;
pub mod words;

pub use diff::{Diff, diff};
pub use dot::dot;
pub use explain::explain;
pub use text::listing;
