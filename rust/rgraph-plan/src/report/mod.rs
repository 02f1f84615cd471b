//! Views of a plan: text listing, differences, explanations, a drawing in DOT, a page to explore.

pub mod diff;
pub mod dot;
mod equal;
pub mod explain;
pub mod page;
pub mod text;
pub mod words;

pub use diff::{Diff, diff};
pub use dot::dot;
pub use explain::explain;
pub use page::Page;
pub use text::listing;
