//! Everything made once for a graph: plans checked, steps bound to packets, pipelines, render passes, command ranges.

mod ahead;
pub(crate) mod bind;
pub(crate) mod cache;
mod capabilities;
pub(crate) mod chunk;
pub(crate) mod compiled_graph;
pub(crate) mod descriptor;
pub(crate) mod draw_checks;
pub(crate) mod foreign;
mod granularity;
pub(crate) mod inherit;
pub(crate) mod keys;
pub(crate) mod known_plans;
pub(crate) mod packet;
pub(crate) mod pass_table;
pub(crate) mod pipeline;
pub(crate) mod pipelines;
pub(crate) mod place;
mod primitives;
pub(crate) mod progress;
pub(crate) mod raster;
pub(crate) mod ray;
mod ray_checks;
pub(crate) mod rendering;
pub(crate) mod spirv;
pub(crate) mod subpass;
pub(crate) mod transfer;
