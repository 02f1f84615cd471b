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
//!
//! # Features
//!
//! All are on by default and add to each other; `default-features = false` leaves the planner and the checker.
//!
//! - `vulkan`: devices, shaders and work; without it no Vulkan is needed.
//! - `wgsl`: WGSL shaders through naga; without it shaders are GLSL or SPIR-V.
//! - `glsl`: GLSL shaders through glslang, which takes a C++ compiler and a minute of CPU time to build.
//! - `files`: graph, profile and plan files, as `files`; with their work graphs are read and written by `work`.
//! - `png`: pictures of graph files may be PNG; without it they are NPY or raw texels.
//! - `parallel`: large plans and raw passes are recorded on several threads, of rayon's global pool unless the caller
//!   lends its own.
//! - `reports`: listings, differences, explanations, pictures and the page to explore a plan, as `report`.
#![forbid(unsafe_code)]

pub use rgraph_check as check;
pub use rgraph_plan as plan;

#[cfg(feature = "files")]
pub use rgraph_files as files;
#[cfg(feature = "reports")]
pub use rgraph_report as report;

#[cfg(feature = "vulkan")]
pub use ash;
#[cfg(feature = "vulkan")]
pub use rgraph_shader as shader;
#[cfg(feature = "vulkan")]
pub use rgraph_vk as vk;
#[cfg(feature = "vulkan")]
pub use rgraph_work as work;
