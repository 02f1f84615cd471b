//! Barriers of a plan: the dependency of one call, its scopes, and the hazard behind each.

use super::PlanPassId;
use crate::access::{Accesses, Aspects, Layout, Stages};
use crate::id::Span;
use crate::resource::ResourceId;

/// The dependency of a barrier call or event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Barriers {
    /// In [`Plan::memory_barriers`](super::Plan::memory_barriers).
    pub memory: Span,
    /// In [`Plan::buffer_barriers`](super::Plan::buffer_barriers).
    pub buffers: Span,
    /// In [`Plan::image_barriers`](super::Plan::image_barriers).
    pub images: Span,
    /// Whether it stands within a render pass and holds texel by texel.
    pub by_region: bool,
}

/// What must come before what, and which writes become available and visible between.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// Stages waited for.
    pub src_stages: Stages,
    /// Writes made available.
    pub src_access: Accesses,
    /// Stages that wait.
    pub dst_stages: Stages,
    /// Accesses that they are made visible to.
    pub dst_access: Accesses,
}

/// Why a barrier is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Why {
    pub hazard: Hazard,
    /// The pass on the earlier side; `None`: the run before, or nothing.
    pub from: Option<PlanPassId>,
    /// The pass on the later side.
    pub to: Option<PlanPassId>,
    /// The resource whose earlier use is waited for, where it is not the barrier's own.
    pub resource: ResourceId,
}

/// Kinds of hazard that a barrier prevents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hazard {
    /// Reads what was written.
    ReadAfterWrite,
    /// Writes what was read.
    WriteAfterRead,
    /// Writes what was written.
    WriteAfterWrite,
    /// First use in its layout.
    FirstUse,
    /// First use of another resource's bytes.
    Alias,
    /// The same contents in another layout.
    Layout,
    /// Gives a resource to another queue family.
    Release,
    /// Takes a resource from another queue family.
    Acquire,
    /// Makes a write visible to the host.
    Host,
    /// The state in which the declaration wants it left.
    Leave,
    /// `after` orders two passes that share nothing.
    Ordered,
}

/// A global memory barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryBarrier {
    pub scope: Scope,
    /// Why it is there.
    pub why: Why,
}

/// A dependency on bytes of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferBarrier {
    /// The buffer.
    pub resource: ResourceId,
    /// Bytes, half-open.
    pub range: [u64; 2],
    pub scope: Scope,
    /// Families between which ownership passes.
    pub families: Option<[u32; 2]>,
    /// Why it is there.
    pub why: Why,
}

/// A dependency on subresources of an image, which changes their layout if its two layouts differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageBarrier {
    /// The image.
    pub resource: ResourceId,
    /// Mip levels, half-open.
    pub mips: [u32; 2],
    /// Array layers, half-open.
    pub layers: [u32; 2],
    pub aspects: Aspects,
    pub scope: Scope,
    /// Layout before; `Undefined` discards the contents.
    pub old_layout: Layout,
    /// Layout after.
    pub new_layout: Layout,
    /// Families between which ownership passes.
    pub families: Option<[u32; 2]>,
    /// Why it is there.
    pub why: Why,
}
