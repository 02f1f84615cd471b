//! A render-graph engine: declare passes, resources and how each pass uses each resource; rgraph culls, orders, merges,
//! aliases memory, infers every barrier, queue transfer and semaphore, and runs the plan on Vulkan.
//!
//! One crate for applications. It holds no code of its own: each module is a crate that can be used alone.
//!
//! ```
//! use rgraph::plan::prelude::*;
//!
//! let mut g = Graph::new("triangle", [640, 480]);
//! let out = g.image("out", Format::Rgba8unorm);
//! g.pass("draw", PassQueue::Graphics).color_cleared(out, [0.0, 0.0, 0.0, 1.0]);
//! g.root(out);
//!
//! let plan = bake(&g, &Profile::discrete(), &Options::default(), &mut Scratch::default())?;
//! assert!(rgraph::check::check(&g, &plan).is_empty(), "the checker, which shares no code with the planner");
//! # Ok::<(), GraphError>(())
//! ```
#![forbid(unsafe_code)]

pub use rgraph_check as check;
pub use rgraph_files as files;
pub use rgraph_plan as plan;
pub use rgraph_report as report;

#[cfg(feature = "vulkan")]
pub use ash;
#[cfg(feature = "vulkan")]
pub use rgraph_shader as shader;
#[cfg(feature = "vulkan")]
pub use rgraph_vk as vk;
#[cfg(feature = "vulkan")]
pub use rgraph_work as work;
