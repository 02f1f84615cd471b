//! Initial barriers and waits: from the state that a resource carries from run to run to the first use that a plan
//! makes of it.

use ash::vk;
use rgraph_plan::access::{Accesses, Layout, Stages};

use crate::convert;
use crate::device::Shared;
use crate::device::queue::{DeviceQueueId, WaitFor};
use crate::memory::physical_resource::{PhysicalResource, Raw};
use crate::memory::share::Lent;
use crate::memory::state::{Region, ResourceState};

/// A use to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The device's queue.
    pub queue: DeviceQueueId,
    pub stages: Stages,
    pub access: Accesses,
    /// The layout that an image must be in; `Undefined`: the first barrier of the batch does the transition.
    pub layout: Layout,
    /// Whether old contents do not matter.
    pub discard: bool,
    /// The compiled graph and the run before this one, whose uses on other queues the plan itself waits for.
    pub previous: (u64, u64),
}

/// Barriers and waits that acquire resources at the start of a batch.
#[derive(Debug, Default)]
pub(crate) struct InitialBarriers {
    pub waits: Vec<WaitFor>,
    pub memory: Vec<vk::MemoryBarrier2<'static>>,
    pub buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    pub images: Vec<vk::ImageMemoryBarrier2<'static>>,
    pub notes: Vec<String>,
    /// Stages that wait for a semaphore of the caller's: barriers follow it.
    pub awaited: vk::PipelineStageFlags2,
}

/// A part of a resource that is in one state, and its use to come.
#[derive(Clone, Copy)]
struct Taken<'a> {
    shared: &'a Shared,
    physical: &'a PhysicalResource,
    part: Region,
    state: &'a ResourceState,
    target: Target,
}

impl Taken<'_> {
    /// The queue family of the use to come.
    fn family(&self) -> u32 {
        self.shared.queues[self.target.queue].family
    }
}

/// What a barrier comes after.
#[derive(Clone, Copy)]
struct Before {
    stages: vk::PipelineStageFlags2,
    access: vk::AccessFlags2,
    /// Whether the use to come needs no barrier but for a layout or an owner.
    needless: bool,
}

impl InitialBarriers {
    /// Whether nothing has to be recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.buffers.is_empty() && self.images.is_empty()
    }

    /// Number of barriers.
    pub(crate) fn len(&self) -> u32 {
        (self.memory.len() + self.buffers.len() + self.images.len()) as u32
    }

    /// Adds a wait, one a semaphore.
    pub(crate) fn wait(&mut self, semaphore: vk::Semaphore, value: u64, stages: vk::PipelineStageFlags2) {
        match self.waits.iter_mut().find(|known| known.semaphore == semaphore) {
            Some(known) => {
                known.value = known.value.max(value);
                known.stages |= stages;
            }
            None => self.waits.push(WaitFor { semaphore, value, stages }),
        }
    }

    /// Makes visible what the host wrote before its signal.
    ///
    /// Source: Vulkan 1.3 specification, "Host Write Ordering Guarantees".
    pub(crate) fn after_host(&mut self, stages: vk::PipelineStageFlags2) {
        self.memory.push(
            vk::MemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::HOST | stages)
                .src_access_mask(vk::AccessFlags2::HOST_WRITE)
                .dst_stage_mask(stages)
                .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE),
        );
    }

    /// Acquires part of a resource. O(parts in different states).
    pub(crate) fn acquire(&mut self, shared: &Shared, physical: &PhysicalResource, region: Region, target: Target) {
        let tracked = physical.tracked();
        let held = physical.block().is_some().then(|| physical.lent().clone()).flatten();
        tracked.visit(region, |part, state| {
            let of = Taken { shared, physical, part, state, target };
            let before = self.uses_before(&of, held.as_ref());
            match physical.raw {
                Raw::Buffer(buffer) => self.acquire_buffer(&of, before, buffer),
                Raw::Image(image) => self.acquire_image(&of, before, image),
            }
        });
    }

    /// What a part was used for before, as far as a barrier comes after it; what only a semaphore orders is waited for.
    fn uses_before(&mut self, of: &Taken<'_>, held: Option<&Lent>) -> Before {
        let Taken { shared, state, target, .. } = *of;
        let own = state.user == target.previous && target.previous.0 != 0;
        let mut src = vk::PipelineStageFlags2::empty();
        let mut src_access = vk::AccessFlags2::empty();
        let stages = convert::stages(target.stages);
        for point in &state.points {
            if point.queue != target.queue {
                if !own {
                    self.wait(shared.queues[point.queue].semaphore, point.value, stages);
                }
                // The barrier follows the wait (of an own run: the plan's wait for the run before).
                src |= stages;
            } else if state.queue == Some(target.queue) {
                src |= convert::stages(state.stages);
                src_access |= state.unavailable_writes();
            } else if !own {
                src |= vk::PipelineStageFlags2::ALL_COMMANDS;
                // Of a run that failed half-way nobody knows the last use.
                if state.queue.is_none() {
                    src_access |= vk::AccessFlags2::MEMORY_WRITE;
                }
            }
        }
        // What another device, process or API has, it has until a semaphore says so.
        let elsewhere = state.family == Some(vk::QUEUE_FAMILY_EXTERNAL);
        if let Some((until, value)) = held.filter(|_| elsewhere).and_then(|lent| lent.holder.until.as_ref()) {
            self.wait(until.handle(), *value, stages);
            src |= stages;
        }
        // A further read at the same stages sees all that the earlier ones saw, and a later write waits for these
        // stages.
        let reads_on = state.queue == Some(target.queue)
            && state.points.iter().all(|point| point.queue == target.queue)
            && !(state.access | target.access).intersects(Accesses::WRITES)
            && !state.released
            && state.stages == target.stages
            && state.access.contains(target.access)
            && !elsewhere
            && self.awaited.is_empty();
        Before { needless: src.is_empty() || reads_on, stages: src, access: src_access }
    }

    fn acquire_buffer(&mut self, of: &Taken<'_>, before: Before, buffer: vk::Buffer) {
        let Taken { shared, physical, part, state, target } = *of;
        let moved = moved(shared, physical, state.family, of.family(), &mut self.notes);
        let lost = |[from, to]: [u32; 2]| is_lost(from, to, state.released, &shared.families());
        if moved.is_some_and(lost) {
            self.notes.push(lost_note(&physical.name));
        }
        let moved = moved.filter(|families| !lost(*families));
        if before.needless && moved.is_none() {
            return;
        }
        let [from, to] = moved.unwrap_or([vk::QUEUE_FAMILY_IGNORED; 2]);
        self.buffers.push(
            vk::BufferMemoryBarrier2::default()
                .src_stage_mask(before.stages | self.awaited)
                .src_access_mask(before.access)
                .dst_stage_mask(convert::stages(target.stages))
                .dst_access_mask(convert::visible_to(target.stages, target.access))
                .src_queue_family_index(from)
                .dst_queue_family_index(to)
                .buffer(buffer)
                .offset(part.range[0])
                .size(part.range[1] - part.range[0]),
        );
    }

    fn acquire_image(&mut self, of: &Taken<'_>, before: Before, image: vk::Image) {
        let Taken { shared, physical, part, state, target } = *of;
        let stages = convert::stages(target.stages);
        if target.layout == Layout::Undefined {
            if !before.stages.is_empty() {
                self.memory.push(
                    vk::MemoryBarrier2::default()
                        .src_stage_mask(before.stages | self.awaited)
                        .src_access_mask(before.access)
                        .dst_stage_mask(stages)
                        .dst_access_mask(convert::visible_to(target.stages, target.access)),
                );
            }
            return;
        }
        let mut old = if target.discard { Layout::Undefined } else { state.layout };
        let taken = if old == Layout::Undefined {
            None
        } else {
            match moved(shared, physical, state.family, of.family(), &mut self.notes) {
                Some([from, _]) if physical.block().is_none() && !shared.families().contains(&from) => {
                    self.notes.push(format!(
                        "\"{}\" was left to queue family {from}, which is not this device's: initialised again",
                        physical.name
                    ));
                    old = Layout::Undefined;
                    None
                }
                Some([from, to]) if is_lost(from, to, state.released, &shared.families()) => {
                    self.notes.push(lost_note(&physical.name));
                    old = Layout::Undefined;
                    None
                }
                moved => moved,
            }
        };
        if before.needless && old == target.layout && taken.is_none() {
            return;
        }
        let [from, to] = taken.unwrap_or([vk::QUEUE_FAMILY_IGNORED; 2]);
        self.images.push(
            vk::ImageMemoryBarrier2::default()
                .src_stage_mask(before.stages | self.awaited)
                .src_access_mask(before.access)
                .dst_stage_mask(stages)
                .dst_access_mask(convert::visible_to(target.stages, target.access))
                .old_layout(shared.layout(old))
                .new_layout(shared.layout(target.layout))
                .src_queue_family_index(from)
                .dst_queue_family_index(to)
                .image(image)
                .subresource_range(part.subresources()),
        );
    }

    /// Whether commands with the barriers of `other` are commands with these.
    pub(crate) fn records_as(&self, other: &Self) -> bool {
        let memory = |barrier: &vk::MemoryBarrier2<'_>| {
            let &vk::MemoryBarrier2 { src_stage_mask, src_access_mask, dst_stage_mask, dst_access_mask, .. } = barrier;
            (src_stage_mask, src_access_mask, dst_stage_mask, dst_access_mask)
        };
        let buffer = |barrier: &vk::BufferMemoryBarrier2<'_>| {
            let &vk::BufferMemoryBarrier2 { src_stage_mask, src_access_mask, dst_stage_mask, dst_access_mask, .. } =
                barrier;
            let families = (barrier.src_queue_family_index, barrier.dst_queue_family_index);
            let scopes = (src_stage_mask, src_access_mask, dst_stage_mask, dst_access_mask);
            (scopes, families, barrier.buffer, barrier.offset, barrier.size)
        };
        let image = |barrier: &vk::ImageMemoryBarrier2<'_>| {
            let &vk::ImageMemoryBarrier2 { src_stage_mask, src_access_mask, dst_stage_mask, dst_access_mask, .. } =
                barrier;
            let families = (barrier.src_queue_family_index, barrier.dst_queue_family_index);
            let scopes = (src_stage_mask, src_access_mask, dst_stage_mask, dst_access_mask);
            let range = barrier.subresource_range;
            let part = (range.aspect_mask, range.base_mip_level, range.level_count, range.base_array_layer);
            (scopes, families, barrier.image, barrier.old_layout, barrier.new_layout, part, range.layer_count)
        };
        self.memory.iter().map(memory).eq(other.memory.iter().map(memory))
            && self.buffers.iter().map(buffer).eq(other.buffers.iter().map(buffer))
            && self.images.iter().map(image).eq(other.images.iter().map(image))
    }

    /// The barriers alone.
    pub(crate) fn take_barriers(&mut self) -> Self {
        let Self { memory, buffers, images, .. } = self;
        let (memory, buffers, images) = (std::mem::take(memory), std::mem::take(buffers), std::mem::take(images));
        Self { memory, buffers, images, ..Self::default() }
    }

    /// Records the barriers.
    pub(crate) fn record(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let info = vk::DependencyInfo::default()
            .memory_barriers(&self.memory)
            .buffer_memory_barriers(&self.buffers)
            .image_memory_barriers(&self.images);
        // SAFETY: handles live until the run is done; layouts are those that the resources carry.
        unsafe { device.cmd_pipeline_barrier2(commands, &info) };
    }
}

/// Records the release of a shared resource, which is in layout `general`, to a user outside of the device.
pub(crate) fn release(shared: &Shared, physical: &PhysicalResource, family: u32, commands: vk::CommandBuffer) {
    let from = if physical.concurrent { vk::QUEUE_FAMILY_IGNORED } else { family };
    let to = vk::QUEUE_FAMILY_EXTERNAL;
    // All that the device did; the semaphore or the host's wait behind the submit is the second scope.
    let (stages, access) = (vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::MEMORY_WRITE);
    let mut info = vk::DependencyInfo::default();
    let (mut images, mut buffers) = ([vk::ImageMemoryBarrier2::default()], [vk::BufferMemoryBarrier2::default()]);
    match physical.raw {
        Raw::Image(image) => {
            images[0] = images[0]
                .src_stage_mask(stages)
                .src_access_mask(access)
                .old_layout(vk::ImageLayout::GENERAL)
                .new_layout(vk::ImageLayout::GENERAL)
                .src_queue_family_index(from)
                .dst_queue_family_index(to)
                .image(image)
                .subresource_range(Region::whole(physical.kind).subresources());
            info = info.image_memory_barriers(&images);
        }
        Raw::Buffer(buffer) => {
            buffers[0] = buffers[0]
                .src_stage_mask(stages)
                .src_access_mask(access)
                .src_queue_family_index(from)
                .dst_queue_family_index(to)
                .buffer(buffer)
                .offset(0)
                .size(vk::WHOLE_SIZE);
            info = info.buffer_memory_barriers(&buffers);
        }
    }
    // SAFETY: the command buffer is being recorded, outside of a render pass; the handle lives until the submit is
    // done.
    unsafe { shared.raw.cmd_pipeline_barrier2(commands, &info) };
}

/// The families between which a resource that belongs to one at a time changes hands.
fn moved(
    shared: &Shared,
    physical: &PhysicalResource,
    from: Option<u32>,
    to: u32,
    notes: &mut Vec<String>,
) -> Option<[u32; 2]> {
    if physical.block().is_some() && from == Some(vk::QUEUE_FAMILY_EXTERNAL) {
        let to = if physical.concurrent { vk::QUEUE_FAMILY_IGNORED } else { to };
        return Some([vk::QUEUE_FAMILY_EXTERNAL, to]);
    }
    let from = from.filter(|from| *from != to && !physical.concurrent)?;
    if shared.families().contains(&from) {
        notes.push(format!(
            "\"{}\" is taken from queue family {from}: its contents stay if that family released it",
            physical.name
        ));
    }
    Some([from, to])
}

/// Whether contents are lost on the way from one family of the device to another: if the first did not release them.
fn is_lost(from: u32, to: u32, released: bool, known: &[u32]) -> bool {
    from != to && !released && known.contains(&from)
}

fn lost_note(name: &str) -> String {
    format!(
        "\"{name}\" was left to another queue family and not released: initialised again, its contents are undefined"
    )
}

#[cfg(test)]
mod tests {
    use super::is_lost;

    #[test]
    fn m02_what_nobody_released_is_not_acquired() {
        let known = [0, 1, 2];
        assert!(is_lost(1, 0, false, &known));
        assert!(!is_lost(1, 0, true, &known));
        assert!(!is_lost(0, 0, false, &known));
        assert!(!is_lost(99, 0, false, &known), "users outside of the device have their own rules");
    }
}
