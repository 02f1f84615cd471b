//! Reading back: roots, or parts of them, copied into host memory behind all else.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::{Accesses, Layout, Stages};
use rgraph_plan::graph::Ranges;
use rgraph_plan::plan::PlanKind;

use super::{OWN_QUEUE, Run};
use crate::compile::compiled_graph::Root;
use crate::device::queue::Submit;
use crate::error::Error;
use crate::frame::copy::{Piece, download, finish, packed_bytes};
use crate::frame::initial_barriers::{InitialBarriers, Target};
use crate::frame::state::RunState;
use crate::frame::submitted::Reads;
use crate::frame::wanted::Wanted;
use crate::memory::physical_resource::{PhysicalResource, Raw};
use crate::memory::readback::Readback;
use crate::memory::staging::Block;
use crate::memory::state::{Region, ResourceState, within};

/// What of a resource is copied.
struct Selection {
    piece: Piece,
    region: Region,
    /// What was read, as if it were a resource of its own.
    kind: PlanKind,
}

impl Selection {
    fn of(kind: PlanKind, ranges: Ranges, name: &str) -> Result<Self, Error> {
        let refuse = |message: String, help: &str| Err(Error::input(name, message, help));
        match kind {
            PlanKind::Buffer { size } => {
                let [first, end] = ranges.bytes.unwrap_or([0, size]);
                if ranges.mips.is_some() || ranges.layers.is_some() {
                    return refuse(
                        format!("\"{name}\" is a buffer, without mips and layers"),
                        "read some of its bytes",
                    );
                }
                if !within([first, end], [0, size]) {
                    let message = format!("bytes {first} to {end} of \"{name}\" are read, which has {size}");
                    return refuse(message, "read a part of it");
                }
                let region = Region { range: [first, end], ..Region::whole(kind) };
                Ok(Self { piece: Piece::bytes(first..end), region, kind: PlanKind::Buffer { size: end - first } })
            }
            PlanKind::Image { format, size, mips, layers, samples, volume, cube } => {
                let ([mip, last], [layer, end]) = (ranges.mips.unwrap_or([0, 1]), ranges.layers.unwrap_or([0, layers]));
                if ranges.bytes.is_some() {
                    return refuse(format!("\"{name}\" is an image, and bytes of it are read"), "read a mip or layers");
                }
                if last != mip + 1 {
                    let message = format!("mips {mip} to {last} of \"{name}\" are read at once");
                    return refuse(message, "read them one by one: their sizes differ");
                }
                if mip >= mips || !within([layer, end], [0, layers]) {
                    let message = format!(
                        "mip {mip} and layers {layer} to {end} of \"{name}\" are read, which has {mips} mips and {layers} layers"
                    );
                    return refuse(message, "read a part of it");
                }
                let depth = if volume { (size[2] >> mip).max(1) } else { size[2] };
                let size = [(size[0] >> mip).max(1), (size[1] >> mip).max(1), depth];
                let region = Region { mips: [mip, last], layers: [layer, end], ..Region::first_mip(kind) };
                let kind = PlanKind::Image { format, size, mips: 1, layers: end - layer, samples, volume, cube };
                Ok(Self { piece: Piece::whole(kind).at(mip, layer), region, kind })
            }
        }
    }

    /// Whether both copy a texel of one image, which has one layout for both.
    fn meets(&self, other: &Self) -> bool {
        let meet = |one: [u32; 2], two: [u32; 2]| one[0] < two[1] && two[0] < one[1];
        let image = matches!(self.kind, PlanKind::Image { .. });
        image && meet(self.region.mips, other.region.mips) && meet(self.region.layers, other.region.layers)
    }
}

impl Run<'_, '_> {
    /// Copies roots into host memory behind everything else.
    pub(super) fn read_back(&mut self, state: &mut RunState, wanted: &[Wanted]) -> Result<Reads, Error> {
        state.after = None;
        let mut initial = InitialBarriers::default();
        let mut copies: Vec<(&Root, Arc<PhysicalResource>, Selection, Arc<Block>)> = Vec::new();
        let mut reads = Vec::new();
        for Wanted { root, ranges } in wanted {
            let root = &self.compiled.roots[*root];
            let Some(physical) = self.compiled.physical(root.resource, state.run, &state.imports).cloned() else {
                continue;
            };
            if matches!(physical.kind, PlanKind::Image { samples, .. } if samples > 1) {
                let name = self.compiled.plan.resource_name(root.resource);
                let note = format!("\"{name}\" is multisampled, so it is not read back; resolve it");
                self.figures.notes.push(note);
                continue;
            }
            let name = self.compiled.plan.resource_name(root.resource);
            let part = Selection::of(physical.kind, *ranges, name)?;
            if copies.iter().any(|(_, known, other, _)| Arc::ptr_eq(known, &physical) && part.meets(other)) {
                let message = format!("parts of \"{name}\" that are read overlap");
                return Err(Error::input(name, message, "read each mip and layer once"));
            }
            let block = self.shared.lend(packed_bytes(part.kind), self.poll)?;
            self.acquire_root(root, &physical, part.region, &mut initial);
            reads.push((root.declared, *ranges, Readback::under_way(block.clone(), part.kind, name.to_owned())));
            copies.push((root, physical, part, block));
        }
        if copies.is_empty() {
            return Ok(reads);
        }
        // Buffers that are used again are written again.
        initial.memory.push(
            vk::MemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::COPY)
                .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags2::COPY)
                .dst_access_mask(vk::AccessFlags2::TRANSFER_WRITE),
        );
        // Behind all that this run does on other queues and on the host.
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        for point in self.points().into_iter().filter(|point| point.queue != OWN_QUEUE) {
            initial.wait(self.shared.queues[point.queue].semaphore, point.value, all);
        }
        self.signal_host(state);
        if let Some(host) = state.host.as_ref().filter(|host| host.last() > self.host_base) {
            initial.wait(host.semaphore, host.last(), all);
            initial.after_host(all);
            self.wait_for_host(state, u64::MAX)?;
        }
        let device = &self.shared.raw;
        let family = self.shared.queues[OWN_QUEUE].family;
        let commands = self.context.once.record(self.shared, family, |commands| {
            initial.record(device, commands);
            for (_, physical, part, block) in &copies {
                download(device, commands, physical, &part.piece, block.buffer(), 0);
            }
            finish(device, commands);
        })?;
        let point =
            self.submit_own(OWN_QUEUE, Submit { waits: initial.waits, commands: vec![commands], ..Submit::default() })?;
        let left = ResourceState {
            queue: Some(OWN_QUEUE),
            family: Some(family),
            stages: Stages::COPY,
            access: Accesses::TRANSFER_READ,
            layout: Layout::TransferSrc,
            points: vec![point],
            released: false,
            user: (0, 0),
        };
        copies.iter().for_each(|(.., block)| block.used_until(point));
        for (_, physical, part, _) in copies.iter().filter(|(root, ..)| root.states.is_none()) {
            physical.tracked().set(part.region, &left);
        }
        state.after = Some(point);
        Ok(reads)
    }

    /// Brings a root into the layout that it is copied from.
    fn acquire_root(
        &self,
        root: &Root,
        physical: &Arc<PhysicalResource>,
        region: Region,
        initial: &mut InitialBarriers,
    ) {
        let Some(states) = &root.states else {
            let target = Target {
                queue: OWN_QUEUE,
                stages: Stages::COPY,
                access: Accesses::TRANSFER_READ,
                layout: Layout::TransferSrc,
                discard: false,
                previous: (0, 0),
            };
            initial.acquire(self.shared, physical, region, target);
            return;
        };
        let (src, src_access) = (vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::MEMORY_WRITE);
        let Raw::Image(image) = physical.raw else {
            initial.memory.push(
                vk::MemoryBarrier2::default()
                    .src_stage_mask(src)
                    .src_access_mask(src_access)
                    .dst_stage_mask(vk::PipelineStageFlags2::COPY)
                    .dst_access_mask(vk::AccessFlags2::TRANSFER_READ),
            );
            return;
        };
        states.visit(region, |part, state| {
            initial.images.push(
                vk::ImageMemoryBarrier2::default()
                    .src_stage_mask(src)
                    .src_access_mask(src_access)
                    .dst_stage_mask(vk::PipelineStageFlags2::COPY)
                    .dst_access_mask(vk::AccessFlags2::TRANSFER_READ)
                    .old_layout(self.shared.layout(state.layout))
                    .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .image(image)
                    .subresource_range(part.subresources()),
            );
        });
    }
}
