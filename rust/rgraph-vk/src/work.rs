//! Work of passes ([`rgraph_work`]), of which some record Vulkan commands themselves.

use crate::frame::raw::RawWork;

pub use rgraph_work::{
    Address, Blend, BlendFactor, BlendOp, Border, Bound, Build, CallbackError, ClearValue, Commands, Compare, Cull,
    Dispatch, Draw, DrawCount, Geometry, Groups, HitGroup, HostBytes, HostView, HostViews, HostWork, INSTANCE_BYTES,
    IndexBuffer, Instance, Instances, Level, PushData, RasterState, RayGroups, RecordWork, Sampler, StencilFace,
    StencilOp, Step, TRANSFORM_BYTES, Topology, Trace, Transfer, VertexBuffer, View, What, WorkError,
};

/// What a pass does; [`Work::Raw`](rgraph_work::Work::Raw) records Vulkan commands itself.
pub type Work = rgraph_work::Work<dyn RawWork>;

/// A declaration and what its passes do.
pub type Workload = rgraph_work::Workload<dyn RawWork>;

/// What each pass does, by pass.
pub type Works = rgraph_work::Works<dyn RawWork>;
