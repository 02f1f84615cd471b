//! Views of a plan: text listing, differences, explanations, pictures, a trace, a page to explore.
//!
//! All views read the same data and decide nothing. [`svg()`] draws timeline, resources, memory and matrix without
//! scripts. [`trace()`] writes Chrome's trace format. [`dot()`] writes Graphviz's language, with a node per version of
//! a resource, so that there is no cycle. [`Series`] makes columns of many frames, which the page shows as one more
//! view.

#![cfg_attr(not(test), warn(unreachable_pub))]
mod devices;
pub mod diff;
pub mod dot;
mod escape;
pub mod explain;
pub mod measured;
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
