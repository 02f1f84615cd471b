//! Work of passes, as data: dispatches, draws, transfers, builds and traces of rays for a declaration.
//!
//! A [`Workload`] is a graph and the [`Work`] of its passes. Functions stand only where data cannot; one that records
//! commands of a graphics interface itself is a parameter, which the runtime fills in, so nothing here names one.
//! [`infer`] makes steps and accesses of what a pass gives, and [`file`](mod@file) reads and writes both.
//!
//! ```
//! use rgraph_work::file::{self, Arrays, Callbacks, Loaded, Settings};
//!
//! let text = br#"{"rgraph": 1, "images": {"out": {"format": "rgba8unorm"}},
//!     "passes": [{"name": "paint", "clear": {"image": "out", "value": [0, 0, 0, 1]}}], "roots": ["out"]}"#;
//! let loaded: Loaded = file::read(text, None, &Settings::new())?;
//! assert_eq!(loaded.load.graph.accesses().len(), 1, "the clear is an access");
//!
//! let again = file::write(&loaded.load, Arrays::default(), None, Callbacks::Refuse)?;
//! assert!(again.contains("\"paint\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! All are on by default, and SPIR-V is always taken.
//!
//! - `wgsl`: WGSL shaders, through naga.
//! - `glsl`: GLSL shaders, through glslang, which takes a C++ compiler and a minute of CPU time to build.
//! - `png`: pictures of graph files may be PNG; without it they are NPY or raw texels.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![forbid(unsafe_code)]

pub mod cores;
mod error;
pub mod file;
pub mod infer;
pub mod texel;
pub mod vertex;
pub mod words;
mod work;

pub use error::WorkError;
pub use work::{
    Address, Blend, BlendFactor, BlendOp, Border, Bound, Build, CallbackError, ClearValue, Commands, Compare, Cull,
    Dispatch, Draw, DrawCount, Geometry, Groups, HitGroup, HostBytes, HostView, HostViews, HostWork, INSTANCE_BYTES,
    IndexBuffer, Instance, Instances, Level, PassHasher, PushData, RasterState, RayGroups, RecordWork, Sampler,
    StencilFace, StencilOp, Step, TRANSFORM_BYTES, Topology, Trace, Transfer, VertexBuffer, View, What, Work, Workload,
    Works,
};
