//! Views of a plan: text listing, differences, explanations, a drawing in DOT.

mod equal;
pub mod explain;
pub mod text;
pub mod words;

pub use explain::explain;
pub use text::listing;
