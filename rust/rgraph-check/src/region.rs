//! Accesses within one render pass: rasterisation order within a subpass, by-region dependencies between subpasses.
//!
//! Source: Vulkan 1.3 specification, "Rasterization Order", "Framebuffer Region Dependencies", "Render Pass Creation"
//! (subpass dependencies). Rasterisation order covers attachment accesses of one subpass only. A framebuffer-local
//! dependency orders an access before another only where both are made texel by texel at the same place; between
//! two accesses of one render pass there is no other dependency that a chain could go through.

use rgraph_ir::access::Stages;
use rgraph_ir::plan::Scope;

use crate::ids::{AllocationId, Position, SubresourceId};
use crate::subresource::{Done, Local, Missing};
use crate::tables::{leaf, with_earlier, with_later};

/// Stages whose accesses are made texel by texel: the only ones that a by-region dependency may name.
pub(crate) const FRAMEBUFFER_SPACE: Stages = Stages::FRAGMENT_SHADER
    .union(Stages::EARLY_FRAGMENT_TESTS)
    .union(Stages::LATE_FRAGMENT_TESTS)
    .union(Stages::COLOR_ATTACHMENT_OUTPUT);

/// One entry of a by-region barrier: a dependency from every earlier subpass of its render pass to every later one.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub position: Position,
    pub scope: Scope,
    /// The allocation and subresources that it names; `None`: every attachment.
    pub of: Option<(AllocationId, Vec<SubresourceId>)>,
}

impl Region {
    fn names(&self, x: &Done) -> bool {
        self.of.as_ref().is_none_or(|(allocation, subresources)| {
            *allocation == x.place.allocation && subresources.binary_search(&x.place.subresource).is_ok()
        })
    }
}

/// What is missing between two operations of one render pass on one subresource, if anything.
///
/// `regions` are the dependencies of that render pass in order. O(regions between the two, squared).
pub(crate) fn within(regions: &[Region], x: &Done, y: &Done) -> Option<Missing> {
    if x.local == Local::No || y.local == Local::No {
        return Some(Missing::Order);
    }
    if x.subpass == y.subpass {
        // A resolve reads what the whole subpass drew; anything else that meets a resolve or an input attachment here
        // is ordered by nothing.
        let raster =
            x.local == Local::Attachment && (y.local == Local::Attachment || y.local == Local::Resolve && !y.op.write);
        return (!raster).then_some(Missing::Subpass);
    }
    let first = regions.partition_point(|region| region.position < x.position);
    let regions = &regions[first..];
    let (x_stage, y_stage) = (leaf(usize::from(x.op.stage)), leaf(usize::from(y.op.stage)));
    // By region: whether x is ordered before it, and available at it.
    let mut reached: Vec<(bool, bool)> = Vec::with_capacity(regions.len());
    let (mut ordered, mut available, mut visible) = (false, false, false);
    for region in regions {
        let source = with_earlier(region.scope.src_stages);
        let mut order = source.contains(x_stage);
        let mut memory = region.names(x)
            && region.scope.src_stages.contains(x_stage)
            && region.scope.src_access.intersects(x.op.access);
        for (earlier, (ordered, available)) in regions.iter().zip(&reached) {
            let chains = earlier.position < region.position && with_later(earlier.scope.dst_stages).intersects(source);
            order |= chains && *ordered;
            memory |= chains && *available;
        }
        reached.push((order, memory));
        let follows = with_later(region.scope.dst_stages).contains(y_stage);
        ordered |= order && follows;
        available |= memory && follows;
        visible |= memory
            && region.names(x)
            && region.scope.dst_stages.contains(y_stage)
            && region.scope.dst_access.intersects(y.op.access);
    }
    match (ordered, x.op.write, available, visible) {
        (false, ..) => Some(Missing::Order),
        (true, false, ..) | (true, true, _, true) => None,
        (true, true, true, false) => Some(Missing::Visibility),
        (true, true, false, false) => Some(Missing::Availability),
    }
}
