//! The state that a resource carries from run to run: who used each part of it last, and how. Initial barriers of the
//! next run, of whatever graph, are made from it.

use std::collections::BTreeSet;

use ash::vk;
use rgraph_plan::access::{Accesses, Aspects, Layout, Stages};
use rgraph_plan::declared::SubresourceRange;
use rgraph_plan::id::IdVec;
use rgraph_plan::plan::{Edge, Hazard, Plan, PlanKind};
use rgraph_plan::resource::ResourceId;
use rgraph_work::View;

use crate::convert;
use crate::device::queue::{DeviceQueueId, Point};

rgraph_plan::id! {
    /// An edge of a plan, by its position in [`Plan::edges`].
    pub(crate) struct EdgeId;
}

/// How a part of a resource was used last.
#[derive(Clone, PartialEq, Debug)]
pub struct ResourceState {
    /// The device's queue that used it; `None`: the host, or nobody.
    pub queue: Option<DeviceQueueId>,
    /// Its queue family, where the resource belongs to one at a time.
    pub family: Option<u32>,
    /// Whether that family released it to the one that uses it next (Vulkan 1.3, "Queue Family Ownership Transfer").
    pub released: bool,
    /// The stages that used it.
    pub stages: Stages,
    pub access: Accesses,
    /// The layout that an image is in; `Undefined`: it holds nothing.
    pub layout: Layout,
    /// Points after which nobody uses it any more, one per queue.
    pub points: Vec<Point>,
    /// The compiled graph and its run that used it; zeros: none.
    pub user: (u64, u64),
}

impl Region {
    /// What the planner calls a part.
    pub(crate) fn of(part: SubresourceRange) -> Self {
        Self { mips: part.mips, layers: part.layers, aspects: part.aspects, range: part.bytes }
    }

    /// All of an image or buffer.
    pub(crate) fn whole(kind: PlanKind) -> Self {
        match kind {
            PlanKind::Image { format, mips, layers, .. } => {
                Self { mips: [0, mips], layers: [0, layers], aspects: format.aspects(), range: [0, 0] }
            }
            PlanKind::Buffer { size } => {
                Self { mips: [0, 1], layers: [0, 1], aspects: Aspects::empty(), range: [0, size] }
            }
        }
    }

    /// Mip 0 of all of it.
    pub(crate) fn first_mip(kind: PlanKind) -> Self {
        Self { mips: [0, 1], ..Self::whole(kind) }
    }

    /// The part that an edge of a plan is about.
    pub(crate) fn of_edge(edge: &Edge) -> Self {
        Self { mips: edge.mips, layers: edge.layers, aspects: edge.aspects, range: edge.range }
    }

    /// The part of an image, as Vulkan names it.
    pub(crate) fn subresources(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: convert::aspects(self.aspects),
            base_mip_level: self.mips[0],
            level_count: self.mips[1] - self.mips[0],
            base_array_layer: self.layers[0],
            layer_count: self.layers[1] - self.layers[0],
        }
    }
}

impl ResourceState {
    /// Writes that a barrier on the same queue makes available. A release makes what it follows available, but a
    /// barrier of a plan releases nothing where the two families are one on this device, or share the memory.
    pub(crate) fn unavailable_writes(&self) -> vk::AccessFlags2 {
        let own = convert::accesses(self.stages, self.access & Accesses::WRITES);
        if self.released { own | vk::AccessFlags2::MEMORY_WRITE } else { own }
    }
}

/// By edge: whether a barrier of the plan releases it to the queue family that the declaration leaves it to.
pub(crate) fn released_edges(plan: &Plan) -> IdVec<EdgeId, bool> {
    let left = |families: Option<[u32; 2]>, hazard: Hazard| families.is_some() && hazard == Hazard::Leave;
    let images = plan.image_barriers.iter().filter(|one| left(one.families, one.why.hazard)).map(|one| one.resource);
    let buffers = plan.buffer_barriers.iter().filter(|one| left(one.families, one.why.hazard)).map(|one| one.resource);
    let released: BTreeSet<ResourceId> = images.chain(buffers).collect();
    plan.edges.iter().map(|edge| released.contains(&edge.resource)).collect()
}

impl Default for ResourceState {
    fn default() -> Self {
        Self {
            queue: None,
            family: None,
            released: false,
            stages: Stages::empty(),
            access: Accesses::empty(),
            layout: Layout::Undefined,
            points: Vec::new(),
            user: (0, 0),
        }
    }
}

/// Part of a resource: mips, layers and aspects of an image, bytes of a buffer; half-open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Region {
    pub mips: [u32; 2],
    pub layers: [u32; 2],
    pub aspects: Aspects,
    pub range: [u64; 2],
}

impl Region {
    /// Whether all that a view names lies in it.
    pub(crate) fn holds(&self, view: &View) -> bool {
        view.mips.is_none_or(|mips| within(mips, self.mips))
            && view.layers.is_none_or(|layers| within(layers, self.layers))
            && view.range.is_none_or(|range| within(range, self.range))
            && self.aspects.contains(view.aspects)
    }

    /// Mips and layers, for a message.
    pub(crate) fn text(&self) -> String {
        let Self { mips: [mip, mips], layers: [layer, layers], .. } = self;
        format!("mips {mip}..{mips} and layers {layer}..{layers}")
    }
}

/// Whether a half-open range is part of another, and not empty.
pub(crate) fn within<T: PartialOrd>(part: [T; 2], whole: [T; 2]) -> bool {
    part[0] >= whole[0] && part[1] <= whole[1] && part[0] < part[1]
}

/// The states of all parts of a resource.
#[derive(Debug)]
pub(crate) enum Tracked {
    /// By aspect, then mip, then layer.
    Image { mips: u32, layers: u32, aspects: Aspects, states: Vec<ResourceState> },
    /// Ranges in order, without gaps.
    Buffer(Vec<([u64; 2], ResourceState)>),
}

const ASPECTS: [Aspects; 3] = [Aspects::COLOR, Aspects::DEPTH, Aspects::STENCIL];

impl Tracked {
    /// Nobody used it yet.
    pub(crate) fn new(kind: PlanKind) -> Self {
        match kind {
            PlanKind::Image { format, mips, layers, .. } => {
                let aspects = format.aspects();
                let states = aspects.bits().count_ones() * mips * layers;
                Self::Image { mips, layers, aspects, states: vec![ResourceState::default(); states as usize] }
            }
            PlanKind::Buffer { size } => Self::Buffer(vec![([0, size], ResourceState::default())]),
        }
    }

    /// Everything.
    pub(crate) fn whole(&self) -> Region {
        match self {
            Self::Image { mips, layers, aspects, .. } => {
                Region { mips: [0, *mips], layers: [0, *layers], aspects: *aspects, range: [0, 0] }
            }
            Self::Buffer(parts) => Region {
                mips: [0, 1],
                layers: [0, 1],
                aspects: Aspects::empty(),
                range: [0, parts.last().map_or(0, |(range, _)| range[1])],
            },
        }
    }

    /// Visits the parts of a region that are in one state each, layers joined where their states are equal.
    pub(crate) fn visit(&self, region: Region, mut see: impl FnMut(Region, &ResourceState)) {
        match self {
            Self::Image { mips, layers, aspects, states } => {
                let wanted = if region.aspects.is_empty() { *aspects } else { region.aspects & *aspects };
                // Depth and stencil that are in one state are one part, so that their layouts change together.
                let planes: Vec<_> =
                    ASPECTS.into_iter().filter(|aspect| aspects.contains(*aspect)).zip(0u32..).collect();
                let state_at =
                    |plane: u32, mip: u32, layer: u32| &states[((plane * mips + mip) * layers + layer) as usize];
                let layers_end = region.layers[1].min(*layers);
                for mip in region.mips[0]..region.mips[1].min(*mips) {
                    let joined = planes.len() == 2
                        && wanted == *aspects
                        && (region.layers[0]..layers_end)
                            .all(|layer| state_at(0, mip, layer) == state_at(1, mip, layer));
                    for &(aspect, plane) in planes.iter().filter(|(aspect, _)| wanted.contains(*aspect)) {
                        if joined && plane == 1 {
                            continue;
                        }
                        let aspect = if joined { *aspects } else { aspect };
                        let mut first = region.layers[0];
                        while first < layers_end {
                            let state = state_at(plane, mip, first);
                            let mut end = first + 1;
                            while end < layers_end && state_at(plane, mip, end) == state {
                                end += 1;
                            }
                            let part =
                                Region { mips: [mip, mip + 1], layers: [first, end], aspects: aspect, range: [0, 0] };
                            see(part, state);
                            first = end;
                        }
                    }
                }
            }
            Self::Buffer(parts) => {
                for (range, state) in parts {
                    let (start, end) = (range[0].max(region.range[0]), range[1].min(region.range[1]));
                    if start < end {
                        see(Region { range: [start, end], ..region }, state);
                    }
                }
            }
        }
    }

    /// Puts a region into a state.
    pub(crate) fn set(&mut self, region: Region, state: &ResourceState) {
        match self {
            Self::Image { mips, layers, aspects, states } => {
                let wanted = if region.aspects.is_empty() { *aspects } else { region.aspects };
                let planes = ASPECTS.into_iter().filter(|aspect| aspects.contains(*aspect)).zip(0u32..);
                for (_, plane) in planes.filter(|(aspect, _)| wanted.contains(*aspect)) {
                    for mip in region.mips[0]..region.mips[1].min(*mips) {
                        for layer in region.layers[0]..region.layers[1].min(*layers) {
                            states[((plane * *mips + mip) * *layers + layer) as usize].clone_from(state);
                        }
                    }
                }
            }
            Self::Buffer(parts) => {
                let [start, end] = region.range;
                let mut out: Vec<([u64; 2], ResourceState)> = Vec::with_capacity(parts.len() + 2);
                let mut push = |range: [u64; 2], state: &ResourceState| {
                    if range[0] >= range[1] {
                        return;
                    }
                    match out.last_mut() {
                        Some((last, known)) if known == state && last[1] == range[0] => last[1] = range[1],
                        _ => out.push((range, state.clone())),
                    }
                };
                let mut placed = false;
                for (range, known) in parts.iter() {
                    push([range[0], range[1].min(start)], known);
                    if !placed && range[1] > start {
                        push([start, end], state);
                        placed = true;
                    }
                    push([range[0].max(end), range[1]], known);
                }
                *parts = out;
            }
        }
    }

    /// The state of all of it, where it is in one; else that of its first part.
    pub(crate) fn first(&self) -> ResourceState {
        match self {
            Self::Image { states, .. } => states.first().cloned().unwrap_or_default(),
            Self::Buffer(parts) => parts.first().map(|(_, state)| state.clone()).unwrap_or_default(),
        }
    }

    /// Changes every part.
    pub(crate) fn each(&mut self, mut change: impl FnMut(&mut ResourceState)) {
        match self {
            Self::Image { states, .. } => states.iter_mut().for_each(change),
            Self::Buffer(parts) => parts.iter_mut().for_each(|(_, state)| change(state)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rgraph_plan::format::Format;

    fn in_layout(layout: Layout) -> ResourceState {
        ResourceState { layout, ..ResourceState::default() }
    }

    #[test]
    fn a_buffer_keeps_the_parts_that_were_set() {
        let mut tracked = Tracked::new(PlanKind::Buffer { size: 100 });
        let region = |range| Region { mips: [0, 1], layers: [0, 1], aspects: Aspects::empty(), range };
        tracked.set(region([20, 40]), &in_layout(Layout::General));
        tracked.set(region([30, 60]), &in_layout(Layout::TransferSrc));
        let mut seen = Vec::new();
        tracked.visit(region([10, 100]), |part, state| seen.push((part.range, state.layout)));
        let undefined = Layout::Undefined;
        assert_eq!(
            seen,
            [
                ([10, 20], undefined),
                ([20, 30], Layout::General),
                ([30, 60], Layout::TransferSrc),
                ([60, 100], undefined)
            ]
        );
        tracked.set(region([0, 100]), &in_layout(Layout::General));
        assert!(matches!(&tracked, Tracked::Buffer(parts) if parts.len() == 1));
    }

    #[test]
    fn an_image_joins_layers_and_aspects_in_one_state() {
        let kind = PlanKind::Image {
            format: Format::Depth32floatStencil8,
            size: [4, 4, 1],
            mips: 2,
            layers: 4,
            samples: 1,
            volume: false,
            cube: false,
        };
        let mut tracked = Tracked::new(kind);
        let region = |mips, layers, aspects| Region { mips, layers, aspects, range: [0, 0] };
        let both = Aspects::DEPTH | Aspects::STENCIL;
        tracked.set(region([0, 1], [1, 3], both), &in_layout(Layout::General));
        tracked.set(region([1, 2], [0, 4], Aspects::DEPTH), &in_layout(Layout::TransferDst));
        let mut seen = Vec::new();
        tracked
            .visit(tracked.whole(), |part, state| seen.push((part.mips[0], part.layers, part.aspects, state.layout)));
        assert_eq!(
            seen,
            [
                (0, [0, 1], both, Layout::Undefined),
                (0, [1, 3], both, Layout::General),
                (0, [3, 4], both, Layout::Undefined),
                (1, [0, 4], Aspects::DEPTH, Layout::TransferDst),
                (1, [0, 4], Aspects::STENCIL, Layout::Undefined),
            ]
        );
    }

    #[test]
    fn a_release_that_may_not_have_happened_leaves_writes_to_make_available() {
        let (stages, writes) = (Stages::COMPUTE_SHADER, Accesses::SHADER_STORAGE_WRITE);
        let state = |access, released| ResourceState {
            queue: Some(DeviceQueueId::FIRST),
            family: Some(0),
            released,
            stages,
            access,
            ..ResourceState::default()
        };
        assert_eq!(state(Accesses::empty(), false).unavailable_writes(), vk::AccessFlags2::empty());
        assert_eq!(state(writes, false).unavailable_writes(), vk::AccessFlags2::SHADER_STORAGE_WRITE);
        assert_eq!(state(Accesses::empty(), true).unavailable_writes(), vk::AccessFlags2::MEMORY_WRITE);
    }
}
