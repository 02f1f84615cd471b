//! Changes of owner that resources shared by all queue families do not need.

use rgraph_plan::plan::Plan;
use rgraph_plan::resource::ResourceId;

/// By barrier of the plan: whether its resource has no owner to change, since all queue families share it.
#[derive(Debug)]
pub(super) struct Changes {
    pub(super) images: Vec<bool>,
    pub(super) buffers: Vec<bool>,
}

impl Changes {
    pub(super) fn new(plan: &Plan, concurrent: impl Fn(ResourceId) -> bool) -> Self {
        let images = plan.image_barriers.iter().map(|one| one.families.is_some() && concurrent(one.resource));
        let buffers = plan.buffer_barriers.iter().map(|one| one.families.is_some() && concurrent(one.resource));
        Self { images: images.collect(), buffers: buffers.collect() }
    }
}
