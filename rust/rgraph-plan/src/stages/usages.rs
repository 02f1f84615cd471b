//! What each memory is made for: the usages of all accesses under any of its names, and of all that a plan and a caller
//! do with it besides. A driver is asked with them how many bytes it takes, and images and buffers are made with them.
//!
//! Accesses of culled passes count: the bytes are asked for before anything is culled, and images that are made for
//! less than was asked may take others.

use crate::access::{Layout, Usage, UsageSet};
use crate::graph::Graph;
use crate::id::IdVec;
use crate::plan::{PlanKind, PlanResource, Remembers};
use crate::resource::{Life, ResourceId};
use crate::stages::resolve::Facts;
use crate::stages::size::Shape;

/// Memories of a declaration and what they are made for.
#[derive(Default, Debug)]
pub(crate) struct Memories {
    /// By resource: the memory that it is in; of a history, the memory whose ring it is in.
    owner: IdVec<ResourceId, ResourceId>,
    usages: IdVec<ResourceId, UsageSet>,
    ring: IdVec<ResourceId, u32>,
    /// Owners of the outputs and inputs of fallbacks, sorted.
    fallbacks: Vec<(ResourceId, ResourceId)>,
    /// Owners whose readers' usages are still to be handed on to their fallbacks.
    grown: Vec<ResourceId>,
}

impl Memories {
    /// Finds them. O(accesses + resources + fallbacks).
    pub(crate) fn find(&mut self, graph: &Graph, shapes: &IdVec<ResourceId, Shape>, facts: &Facts) {
        let resources = graph.resources();
        self.owner.clear();
        self.owner.as_vec_mut().extend(facts.memory.iter().map(|memory| facts.ring_base[*memory]));
        self.usages.refill(UsageSet::EMPTY, resources.len());
        self.ring.refill(1, resources.len());
        for access in graph.accesses() {
            let usages = &mut self.usages[self.owner[access.resource]];
            *usages |= UsageSet::of(access.usage);
            if access.generate_mips {
                *usages |= COPIED;
            }
        }
        for (id, resource) in resources.iter_ids() {
            let owner = self.owner[id];
            let copied = match resource.life {
                Life::Transient | Life::Fresh if !graph.is_root(id) => UsageSet::EMPTY,
                Life::Transient | Life::Fresh => UsageSet::of(Usage::TransferSrc),
                Life::Persistent | Life::Imported(_) => COPIED,
                Life::History(history) => {
                    let ring = &mut self.ring[owner];
                    *ring = (*ring).max(history.frames.saturating_add(1));
                    COPIED
                }
            };
            self.usages[owner] |= copied;
            let handed = match resource.life {
                Life::Imported(imported) => imported.layout,
                _ => None,
            };
            let left = resource.leave.and_then(|leave| leave.layout);
            let depth = matches!(shapes[id].kind, PlanKind::Image { format, .. } if format.is_depth_stencil());
            for layout in [handed, left].into_iter().flatten() {
                self.usages[owner] |= of_layout(layout, depth);
            }
            // A blit fills what modifies a resource of another size.
            if let Some(below) = resource.modifies
                && facts.memory[id] != facts.memory[below]
            {
                self.usages[self.owner[below]] |= UsageSet::of(Usage::TransferSrc);
                self.usages[owner] |= UsageSet::of(Usage::TransferDst);
            }
        }
        self.hand_on(graph);
    }

    /// What is read in the place of an output is read like the output, and may itself have a fallback. Each hand-over
    /// adds a usage, so there are at most as many as usages for each fallback.
    fn hand_on(&mut self, graph: &Graph) {
        self.fallbacks.clear();
        let owner = |id: ResourceId| self.owner[id];
        self.fallbacks.extend(graph.fallbacks().iter().map(|one| (owner(one.output), owner(one.input))));
        self.fallbacks.sort_unstable();
        self.grown.clear();
        self.grown.extend(self.fallbacks.iter().map(|(output, _)| *output));
        while let Some(output) = self.grown.pop() {
            let reading = self.usages[output].reading();
            let first = self.fallbacks.partition_point(|(other, _)| *other < output);
            for &(_, input) in self.fallbacks[first..].iter().take_while(|(other, _)| *other == output) {
                if !self.usages[input].contains_all(reading) {
                    self.usages[input] |= reading;
                    self.grown.push(input);
                }
            }
        }
    }

    /// What the memory of a resource is made for.
    pub(crate) fn usages(&self, resource: ResourceId) -> UsageSet {
        self.usages[self.owner[resource]]
    }

    /// Writes into a resource of a plan which memory it is in and what that is made for.
    pub(crate) fn describe(&self, (graph, facts): (&Graph, &Facts), id: ResourceId, planned: &mut PlanResource) {
        let memory = facts.memory[id];
        let owner = self.owner[id];
        planned.memory = memory;
        planned.remembers = match graph.resources()[memory].life {
            Life::History(history) => Some(Remembers { of: owner, frames: history.frames }),
            _ => None,
        };
        planned.ring = if planned.remembers.is_some() { 1 } else { self.ring[owner] };
        planned.usages = Some(self.usages[owner]);
    }
}

/// What is copied in and out.
const COPIED: UsageSet = UsageSet::of(Usage::TransferSrc).union(UsageSet::of(Usage::TransferDst));

/// What an image must be made for so that it can be in a layout.
///
/// Source: Vulkan 1.3 specification, `VkImageMemoryBarrier2`, valid usage 01208 to 01213, 03938, 03939.
fn of_layout(layout: Layout, depth: bool) -> UsageSet {
    match layout {
        Layout::Attachment if depth => UsageSet::of(Usage::DepthStencilAttachment),
        Layout::ReadOnly if depth => UsageSet::of(Usage::DepthStencilRead),
        Layout::Attachment | Layout::ColorAttachment => UsageSet::of(Usage::ColorAttachment),
        Layout::DepthStencilAttachment => UsageSet::of(Usage::DepthStencilAttachment),
        Layout::DepthStencilReadOnly => UsageSet::of(Usage::DepthStencilRead),
        Layout::ShaderReadOnly | Layout::ReadOnly => UsageSet::of(Usage::Sampled),
        Layout::TransferSrc => UsageSet::of(Usage::TransferSrc),
        Layout::TransferDst => UsageSet::of(Usage::TransferDst),
        Layout::PresentSrc => UsageSet::of(Usage::Present),
        Layout::Undefined | Layout::General => UsageSet::EMPTY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_may_be_in_each_layout_that_it_is_left_in() {
        let [sampled, color] = [Usage::Sampled, Usage::ColorAttachment].map(UsageSet::of);
        assert_eq!(of_layout(Layout::ReadOnly, false), sampled);
        assert_eq!(of_layout(Layout::ReadOnly, true), UsageSet::of(Usage::DepthStencilRead));
        assert_eq!(of_layout(Layout::Attachment, false), color);
        assert_eq!(of_layout(Layout::Attachment, true), UsageSet::of(Usage::DepthStencilAttachment));
        assert_eq!(of_layout(Layout::ShaderReadOnly, false), sampled);
    }
}
