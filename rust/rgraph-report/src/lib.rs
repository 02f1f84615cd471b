//! Views of a plan: text listing, differences, explanations, a drawing in DOT, a page to explore.

mod devices;
pub mod diff;
pub mod dot;
pub mod explain;
pub mod page;
pub mod series;
pub mod svg;
pub mod text;
pub mod trace;
mod what_if;

pub use devices::devices_listing;
pub use diff::{Diff, diff};
pub use dot::dot;
pub use explain::explain;
pub use page::Page;
pub use series::Series;
pub use svg::svg;
pub use text::listing;
pub use trace::trace;
pub use what_if::{timeline, what_if_text};
