//! Views of a plan: text listing, differences, explanations, a drawing in DOT.

mod equal;
pub mod words;
