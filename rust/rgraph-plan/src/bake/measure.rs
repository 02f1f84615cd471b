//! What a driver is asked about the images and buffers of a graph.

use crate::access::UsageSet;
use crate::plan::PlanKind;
use crate::resource::ResourceId;

/// Bytes and alignment of a resource as a driver wants them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// Bytes in memory.
    pub bytes: u64,
    /// Alignment in bytes, a power of two.
    pub align: u64,
}

/// An image or buffer that a driver is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// What it is.
    pub kind: PlanKind,
    /// What it is made for: [`PlanResource::usages`](crate::plan::PlanResource::usages).
    pub usages: UsageSet,
}

/// Asks a driver for what a resource needs; `None`: as the profile says.
pub type Measure<'a> = &'a dyn Fn(ResourceId, &Asked) -> Option<Measured>;
