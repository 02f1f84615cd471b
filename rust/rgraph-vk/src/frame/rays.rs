//! Builds of acceleration structures and traces of rays into a command buffer.

use ash::vk;
use rgraph_plan::resource::ResourceId;
use rgraph_work::{Build, INSTANCE_BYTES, Instances, TRANSFORM_BYTES};

use crate::compile::ray::{ReadyTrace, build_info, described, record_of};
use crate::compile::transfer::{Handles, Transfers};
use crate::frame::record::Recorder;
use crate::frame::sets::Reads;

/// Most bytes of one `vkCmdUpdateBuffer`: whole records.
const MOST_UPDATED: usize = 65536;

impl Recorder<'_> {
    fn address(&self, buffer: ResourceId) -> u64 {
        self.compiled.shared.buffer_address(self.recording.buffer(buffer))
    }

    /// Records a build or a refit. The device has structures, else there were no packet.
    pub(super) fn build(&self, commands: vk::CommandBuffer, build: &Build, reads: &Reads<'_>) {
        let (Some(rays), Some(structure)) = (&self.compiled.shared.rays, self.recording.structure(build.structure))
        else {
            return;
        };
        let geometries = [described(&build.geometry, |buffer| self.address(reads.source(buffer)))];
        let scratch = rays.scratch(self.address(build.scratch));
        let mut info = build_info(build, &geometries)
            .dst_acceleration_structure(structure.raw)
            .scratch_data(vk::DeviceOrHostAddressKHR { device_address: scratch });
        if build.refit {
            info = info.src_acceleration_structure(structure.raw);
        }
        let range = vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(build.geometry.primitives());
        // SAFETY: sizes and ranges were compared with the buffers, the pass declares them, and structures that
        // instances name were built before, as the plan orders them.
        unsafe { rays.structures.cmd_build_acceleration_structures(commands, &[info], &[&[range]]) };
    }

    /// Records the writes of records of instances; transforms of a buffer are copied into their first bytes.
    pub(super) fn instances(&self, commands: vk::CommandBuffer, instances: &Instances, reads: &Reads<'_>) {
        let device = &self.compiled.shared.raw;
        let Instances { to, offset, all, transforms } = instances;
        let to = self.recording.buffer(*to);
        let address = |read| self.recording.structure(reads.source(read)).map_or(0, |structure| structure.address);
        let records: Vec<u8> = all.iter().flat_map(|one| record_of(one, address(one.structure))).collect();
        let Some((from, first)) = transforms else {
            for (bytes, at) in records.chunks(MOST_UPDATED).zip(0..) {
                let offset = offset + at * MOST_UPDATED as u64;
                // SAFETY: outside of a render pass; the range was compared with the buffer.
                unsafe { device.cmd_update_buffer(commands, to, offset, bytes) };
            }
            return;
        };
        // No byte is written twice, so no barrier stands between these commands.
        for (record, at) in records.chunks(INSTANCE_BYTES as usize).zip(0..) {
            let at = offset + at * INSTANCE_BYTES + TRANSFORM_BYTES;
            // SAFETY: as above.
            unsafe { device.cmd_update_buffer(commands, to, at, &record[TRANSFORM_BYTES as usize..]) };
        }
        let region = |at: u64| vk::BufferCopy {
            src_offset: first + at * TRANSFORM_BYTES,
            dst_offset: offset + at * INSTANCE_BYTES,
            size: TRANSFORM_BYTES,
        };
        let regions: Vec<_> = (0..all.len() as u64).map(region).collect();
        if !regions.is_empty() {
            // SAFETY: as above.
            unsafe { device.cmd_copy_buffer(commands, reads.of_buffer(*from), to, &regions) };
        }
    }

    /// Records a trace, whose pipeline and sets are bound.
    pub(super) fn trace(&self, commands: vk::CommandBuffer, trace: &ReadyTrace) {
        let functions = self.compiled.shared.rays.as_ref().and_then(|rays| rays.pipelines.as_ref());
        let Some(functions) = functions else { return };
        let [raygen, miss, hit, callable] = &trace.regions;
        let [x, y, z] = trace.size;
        // SAFETY: the table lives as long as the packets and has the regions; the size is within the limits.
        unsafe { functions.cmd_trace_rays(commands, raygen, miss, hit, callable, x, y, z) };
    }
}
