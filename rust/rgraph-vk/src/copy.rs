//! Copies that the runtime adds to a run: zeros, uploads, read-backs.

use ash::vk;
use rgraph_plan::plan::PlanKind;

use crate::convert;
use crate::state::Region;
use crate::store::{Raw, Store};
use crate::transfer::copied_bytes;

/// Copies between mip 0 of all layers of an image and a buffer: one aspect, colour or depth.
pub(crate) fn packed(kind: PlanKind, offset: u64) -> Option<vk::BufferImageCopy> {
    let PlanKind::Image { format, size: [width, height, depth], layers, .. } = kind else { return None };
    let aspects = convert::aspects(format.aspects());
    let aspect_mask = if aspects.contains(vk::ImageAspectFlags::DEPTH) { vk::ImageAspectFlags::DEPTH } else { aspects };
    debug_assert!(copied_bytes(format, aspect_mask) > 0);
    Some(vk::BufferImageCopy {
        buffer_offset: offset,
        buffer_row_length: 0,
        buffer_image_height: 0,
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: layers,
        },
        image_offset: vk::Offset3D::default(),
        image_extent: vk::Extent3D { width, height, depth },
    })
}

/// Fills with zeros.
pub(crate) fn clear(device: &ash::Device, commands: vk::CommandBuffer, store: &Store) {
    let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    let range = Region::whole(store.kind).subresources();
    match (store.raw, store.kind) {
        (Raw::Buffer(raw), PlanKind::Buffer { size }) => {
            let words = size & !3;
            if words > 0 {
                // SAFETY: the buffer is that large, and in nobody's use behind the barriers.
                unsafe { device.cmd_fill_buffer(commands, raw, 0, words, 0) };
            }
        }
        (Raw::Image(raw), PlanKind::Image { format, .. }) if format.is_depth_stencil() => {
            let zero = vk::ClearDepthStencilValue::default();
            // SAFETY: the queue is the graphics queue; the layout is the barrier's.
            unsafe { device.cmd_clear_depth_stencil_image(commands, raw, layout, &zero, &[range]) };
        }
        (Raw::Image(raw), PlanKind::Image { format, .. }) if format.block() == [1, 1] => {
            let zero = vk::ClearColorValue::default();
            // SAFETY: as above.
            unsafe { device.cmd_clear_color_image(commands, raw, layout, &zero, &[range]) };
        }
        // Block-compressed images cannot be cleared; what they begin with is undefined.
        _ => {}
    }
}

/// Shows what was cleared to everything that follows. Contents begin with zeros once, so it costs nothing that matters;
/// and where a first use reads a part of them only, later writes of the rest have a barrier to refer to.
pub(crate) fn seen_by_all(device: &ash::Device, commands: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: outside of a render pass; every queue that clears knows these stages.
    unsafe { device.cmd_pipeline_barrier2(commands, &info) };
}

pub(crate) fn upload(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    store: &Store,
    buffer: vk::Buffer,
    offset: u64,
) {
    match (store.raw, packed(store.kind, offset)) {
        (Raw::Image(image), Some(region)) => {
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            // SAFETY: the staging buffer holds all texels from there on; the layout is the barrier's.
            unsafe { device.cmd_copy_buffer_to_image(commands, buffer, image, layout, &[region]) };
        }
        (Raw::Buffer(to), _) => {
            let region = vk::BufferCopy { src_offset: offset, dst_offset: 0, size: packed_bytes(store.kind) };
            // SAFETY: both buffers are that large.
            unsafe { device.cmd_copy_buffer(commands, buffer, to, &[region]) };
        }
        _ => {}
    }
}

pub(crate) fn download(device: &ash::Device, commands: vk::CommandBuffer, store: &Store, staging: &Store) {
    match (store.raw, packed(store.kind, 0)) {
        (Raw::Image(image), Some(region)) => {
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            // SAFETY: the staging buffer holds all texels; the layout is the barrier's.
            unsafe { device.cmd_copy_image_to_buffer(commands, image, layout, staging.buffer(), &[region]) };
        }
        (Raw::Buffer(from), _) => {
            let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: packed_bytes(store.kind) };
            // SAFETY: both buffers are that large.
            unsafe { device.cmd_copy_buffer(commands, from, staging.buffer(), &[region]) };
        }
        _ => {}
    }
}

/// The host sees what was copied, and the next run on this queue begins behind it.
pub(crate) fn finish(device: &ash::Device, commands: vk::CommandBuffer) {
    let barriers = [
        vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COPY)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ),
        vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COPY)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS),
    ];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: outside of a render pass.
    unsafe { device.cmd_pipeline_barrier2(commands, &info) };
}

/// Bytes of mip 0 of all layers, tightly packed (of depth-stencil images: of depth), or of a buffer.
pub(crate) fn packed_bytes(kind: PlanKind) -> u64 {
    match kind {
        PlanKind::Buffer { size } => size,
        PlanKind::Image { format, size: [width, height, depth], layers, .. } => {
            let [across, down] = format.block();
            let blocks = u64::from(width.div_ceil(across)) * u64::from(height.div_ceil(down)) * u64::from(depth);
            blocks * u64::from(layers) * copied_bytes(format, vk::ImageAspectFlags::DEPTH)
        }
    }
}

/// What a resource is, in words.
pub(crate) fn told(kind: PlanKind) -> String {
    match kind {
        PlanKind::Buffer { size } => format!("a buffer of {size} bytes"),
        PlanKind::Image { format, size: [width, height, depth], mips, layers, samples, volume, .. } => {
            let size = if volume { format!("{width}x{height}x{depth}") } else { format!("{width}x{height}") };
            let mut text = format!("an image of {size} {format}");
            for (count, what) in [(layers, "layers"), (mips, "mips"), (samples, "samples")] {
                if count > 1 {
                    text += &format!(", {count} {what}");
                }
            }
            text
        }
    }
}
