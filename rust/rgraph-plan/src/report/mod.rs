//! Views of a plan: text listing, differences, explanations, a drawing in DOT, a page to explore.

pub mod diff;
pub mod dot;
pub mod explain;
pub mod page;
pub mod series;
pub mod svg;
pub mod text;
pub mod trace;
pub mod words;

pub use diff::{Diff, diff};
pub use dot::dot;
pub use explain::explain;
pub use page::Page;
pub use series::Series;
pub use svg::svg;
pub use text::listing;
pub use trace::trace;
