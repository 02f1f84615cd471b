//! Barriers of a walk: the plan's own, and those from the run before into the first use of what outlives a run.

use ash::vk;
use rgraph_plan::access::Layout;
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Barriers, BatchId, PlanLife, Scope};

use super::{Recorder, Walk, device_queue};
use crate::convert;
use crate::memory::state::{Region, ResourceState, Tracked};
use crate::walk::memory::Slot;

/// The owners that a barrier names: with the change that it makes, or none. Of a change that the resource does not need
/// the acquiring half is an ordinary barrier, and the releasing half is nothing.
enum Owners {
    Ignored,
    Released,
    Change([u32; 2]),
}

fn owners(families: Option<[u32; 2]>, needless: bool, family: Option<u32>) -> Owners {
    match families {
        None => Owners::Ignored,
        Some([from, _]) if needless && family == Some(from) => Owners::Released,
        Some(_) if needless => Owners::Ignored,
        Some(change) => Owners::Change(change),
    }
}

impl Walk {
    /// Translates barriers of the plan, and hands them to a step of the recorder.
    pub(super) fn dependency<R: Recorder>(
        &self,
        barriers: &Barriers,
        family: Option<u32>,
        recorder: &mut R,
        step: impl FnOnce(&mut R, &vk::DependencyInfo<'_>) -> Result<(), R::Error>,
    ) -> Result<(), R::Error> {
        let plan = &self.plan;
        let scope = |scope: Scope| {
            (
                convert::stages(scope.src_stages),
                convert::accesses(scope.src_stages, scope.src_access),
                convert::stages(scope.dst_stages),
                convert::visible_to(scope.dst_stages, scope.dst_access),
            )
        };
        let ignored = [vk::QUEUE_FAMILY_IGNORED; 2];
        let memory: Vec<_> = plan.memory_barriers[barriers.memory.range()]
            .iter()
            .map(|barrier| {
                let (src, src_access, dst, dst_access) = scope(barrier.scope);
                let out = vk::MemoryBarrier2::default().src_stage_mask(src).src_access_mask(src_access);
                out.dst_stage_mask(dst).dst_access_mask(dst_access)
            })
            .collect();
        let mut buffers = Vec::new();
        for at in barriers.buffers.range() {
            let barrier = &plan.buffer_barriers[at];
            let [from, to] = match owners(barrier.families, self.changes.buffers[at], family) {
                Owners::Released => continue,
                Owners::Ignored => ignored,
                Owners::Change(change) => change,
            };
            let (src, src_access, dst, dst_access) = scope(barrier.scope);
            let (buffer, first) = recorder.buffer(self.slot_of(barrier.resource));
            let [offset, end] = barrier.range;
            let out = vk::BufferMemoryBarrier2::default().src_stage_mask(src).src_access_mask(src_access);
            let out = out.dst_stage_mask(dst).dst_access_mask(dst_access).buffer(buffer);
            let out = out.src_queue_family_index(from).dst_queue_family_index(to);
            buffers.push(out.offset(first + offset).size(end - offset));
        }
        let mut images = Vec::new();
        for at in barriers.images.range() {
            let barrier = &plan.image_barriers[at];
            let [from, to] = match owners(barrier.families, self.changes.images[at], family) {
                // An undefined layout cannot stay, so its change is made at once.
                Owners::Released if barrier.old_layout != Layout::Undefined => continue,
                Owners::Released | Owners::Ignored => ignored,
                Owners::Change(change) => change,
            };
            let (src, src_access, dst, dst_access) = scope(barrier.scope);
            let region = Region { mips: barrier.mips, layers: barrier.layers, aspects: barrier.aspects, range: [0, 0] };
            let out = vk::ImageMemoryBarrier2::default().src_stage_mask(src).src_access_mask(src_access);
            let out = out.dst_stage_mask(dst).dst_access_mask(dst_access);
            let out = out.old_layout(convert::layout(barrier.old_layout));
            let out = out.new_layout(convert::layout(barrier.new_layout));
            let out = out.src_queue_family_index(from).dst_queue_family_index(to);
            let image = recorder.image(self.slot_of(barrier.resource));
            images.push(out.image(image).subresource_range(region.subresources()));
        }
        let info = vk::DependencyInfo::default().memory_barriers(&memory);
        step(recorder, &info.buffer_memory_barriers(&buffers).image_memory_barriers(&images))
    }

    /// Barriers from how the run before left things, or the engine, to their first use in a batch.
    pub(super) fn enter<R: Recorder>(&self, batch: BatchId, recorder: &mut R) -> Result<(), R::Error> {
        let (mut memory, mut buffers, mut images) = (Vec::new(), Vec::new(), Vec::new());
        for &at in &self.entries[batch] {
            let edge = &self.plan.edges[at.index()];
            let resource = edge.resource;
            let slot = self.slot_of(resource);
            let imported = self.plan.resources[slot.memory].life == PlanLife::Imported;
            let given = if imported { recorder.state(slot) } else { None };
            let queue = edge.entry.queue.map(device_queue);
            let (dst, dst_access) =
                (convert::stages(edge.entry.stages), convert::visible_to(edge.entry.stages, edge.entry.access));
            let region = Region::of_edge(edge);
            let mut see = |part: Region, state: &ResourceState| {
                let here = state.queue == queue;
                let src = match here {
                    true => convert::stages(state.stages),
                    // The barrier follows the batch's wait for the run before.
                    false if state.queue.is_some() => dst,
                    false => vk::PipelineStageFlags2::empty(),
                };
                let src_access = if here { state.unavailable_writes() } else { vk::AccessFlags2::empty() };
                if edge.aspects.is_empty() {
                    let (buffer, first) = recorder.buffer(slot);
                    if !src.is_empty() {
                        let [offset, end] = part.range;
                        let out = vk::BufferMemoryBarrier2::default().src_stage_mask(src).src_access_mask(src_access);
                        let out = out.dst_stage_mask(dst).dst_access_mask(dst_access).buffer(buffer);
                        let out = out.src_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                        let out = out.dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                        buffers.push(out.offset(first + offset).size(end - offset));
                    }
                } else if edge.entry.layout == Layout::Undefined {
                    // The first barrier of the plan changes the layout.
                    if !src.is_empty() {
                        let out = vk::MemoryBarrier2::default().src_stage_mask(src).src_access_mask(src_access);
                        memory.push(out.dst_stage_mask(dst).dst_access_mask(dst_access));
                    }
                } else if !src.is_empty() || state.layout != edge.entry.layout {
                    let out = vk::ImageMemoryBarrier2::default().src_stage_mask(src).src_access_mask(src_access);
                    let out = out.dst_stage_mask(dst).dst_access_mask(dst_access);
                    let out = out.old_layout(convert::layout(state.layout));
                    let out = out.new_layout(convert::layout(edge.entry.layout));
                    let out = out.src_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    let out = out.dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    images.push(out.image(recorder.image(slot)).subresource_range(part.subresources()));
                }
            };
            match (given, self.states.get(&slot)) {
                (Some(given), _) => {
                    let (stages, access, layout) = (given.stages, given.access, given.layout);
                    see(region, &ResourceState { queue, stages, access, layout, ..ResourceState::default() });
                }
                (None, Some(known)) => known.visit(region, see),
                (None, None) => see(region, &ResourceState::default()),
            }
        }
        if memory.is_empty() && buffers.is_empty() && images.is_empty() {
            return Ok(());
        }
        let info = vk::DependencyInfo::default().memory_barriers(&memory);
        recorder.barriers(&info.buffer_memory_barriers(&buffers).image_memory_barriers(&images))
    }

    /// What outlives the run is left as the plan says.
    pub(super) fn leave(&mut self) {
        for at in self.released.ids() {
            let edge = self.plan.edges[at.index()];
            let slot: Slot = self.slot_of(edge.resource);
            let kind = self.plan.resources[edge.resource].kind;
            let left = ResourceState {
                queue: edge.exit.queue.map(device_queue),
                stages: edge.exit.stages,
                access: edge.exit.access,
                layout: edge.exit.layout,
                released: self.released[at],
                ..ResourceState::default()
            };
            let tracked = self.states.entry(slot).or_insert_with(|| Tracked::new(kind));
            tracked.set(Region::of_edge(&edge), &left);
        }
    }
}
