//! Copies that the runtime makes of its own: zeros, uploads, read-backs.

use std::ops::Range;

use ash::vk;
use rgraph_plan::access::Aspects;
use rgraph_plan::plan::PlanKind;

use crate::compile::transfer::copied_bytes;
use crate::convert;
use crate::memory::physical_resource::{PhysicalResource, Raw};
use crate::memory::state::Region;

/// Part of what is copied between a buffer and a resource: mip 0 of all layers, tightly packed (of depth-stencil
/// images: their depth), or a buffer's bytes.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Which of the packed bytes.
    pub bytes: Range<u64>,
    /// Where they lie in an image; the offset is that of the first of them in the buffer.
    image: Option<vk::BufferImageCopy>,
}

impl Piece {
    /// Some bytes of a buffer.
    pub(crate) fn bytes(bytes: Range<u64>) -> Self {
        Self { bytes, image: None }
    }

    /// The same texels in another mip, from another layer on.
    pub(crate) fn at(mut self, mip: u32, layer: u32) -> Self {
        if let Some(image) = &mut self.image {
            (image.image_subresource.mip_level, image.image_subresource.base_array_layer) = (mip, layer);
        }
        self
    }

    /// Everything.
    pub(crate) fn whole(kind: PlanKind) -> Self {
        Self { bytes: 0..packed_bytes(kind), image: packed(kind) }
    }
}

/// One mip of one aspect of all layers of an image, or all bytes of a buffer: what one copy of contents moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plane {
    pub mip: u32,
    /// Empty for buffers.
    pub aspect: Aspects,
}

impl Plane {
    /// All planes of a resource: mip by mip, in each the colour, or depth and then stencil.
    pub(crate) fn all(kind: PlanKind) -> Vec<Self> {
        match kind {
            PlanKind::Buffer { .. } => vec![Self { mip: 0, aspect: Aspects::empty() }],
            PlanKind::Image { format, mips, .. } => {
                let aspects = [Aspects::COLOR, Aspects::DEPTH, Aspects::STENCIL];
                let here = aspects.into_iter().filter(|aspect| format.aspects().contains(*aspect));
                (0..mips).flat_map(|mip| here.clone().map(move |aspect| Self { mip, aspect })).collect()
            }
        }
    }

    /// Its copy, and the number of its packed bytes.
    pub(crate) fn piece(self, kind: PlanKind) -> Piece {
        let PlanKind::Image { format, size: [width, height, depth], layers, volume, .. } = kind else {
            return Piece::whole(kind);
        };
        let smaller = |texels: u32| (texels >> self.mip).max(1);
        let (width, height, depth) = (smaller(width), smaller(height), if volume { smaller(depth) } else { depth });
        let [across, down] = format.block();
        let blocks = u64::from(width.div_ceil(across)) * u64::from(height.div_ceil(down)) * u64::from(depth);
        let aspect_mask = convert::aspects(self.aspect);
        let bytes = blocks * u64::from(layers) * copied_bytes(format, aspect_mask);
        let image_subresource =
            vk::ImageSubresourceLayers { aspect_mask, mip_level: self.mip, base_array_layer: 0, layer_count: layers };
        let image_extent = vk::Extent3D { width, height, depth };
        let image = vk::BufferImageCopy { image_subresource, image_extent, ..vk::BufferImageCopy::default() };
        Piece { bytes: 0..bytes, image: Some(image) }
    }
}

/// Splits what is copied into pieces of at most `most` bytes, or of one row of texel blocks where that has more.
pub(crate) fn pieces(kind: PlanKind, most: u64) -> Vec<Piece> {
    let total = packed_bytes(kind);
    let steps = |step: u64| (0..total).step_by(step.max(1) as usize).map(move |at| at..(at + step).min(total));
    let whole = Piece::whole(kind);
    let (PlanKind::Image { format, size: [_, height, depth], layers, .. }, Some(all)) = (kind, whole.image) else {
        return steps(most).map(|bytes| Piece { bytes, image: None }).collect();
    };
    if total <= most {
        return vec![whole];
    }
    let down = format.block()[1];
    let planes = layers.max(1) * depth.max(1);
    let rows = height.div_ceil(down);
    let plane = total / u64::from(planes);
    let row = plane / u64::from(rows);
    if plane <= most {
        let step = most / plane;
        let piece = |bytes: Range<u64>| {
            let (first, count) = ((bytes.start / plane) as u32, ((bytes.end - bytes.start) / plane) as u32);
            let mut image = all;
            if depth > 1 {
                (image.image_offset.z, image.image_extent.depth) = (first as i32, count);
            } else {
                (image.image_subresource.base_array_layer, image.image_subresource.layer_count) = (first, count);
            }
            Piece { bytes, image: Some(image) }
        };
        return steps(step * plane).map(piece).collect();
    }
    let step = (most / row).max(1) as u32;
    let bands = |at: u32| {
        (0..rows).step_by(step as usize).map(move |first| {
            let count = step.min(rows - first);
            let start = u64::from(at) * plane + u64::from(first) * row;
            let mut image = all;
            if depth > 1 {
                (image.image_offset.z, image.image_extent.depth) = (at as i32, 1);
            } else {
                (image.image_subresource.base_array_layer, image.image_subresource.layer_count) = (at, 1);
            }
            image.image_offset.y = (first * down) as i32;
            image.image_extent.height = (count * down).min(height - first * down);
            Piece { bytes: start..start + u64::from(count) * row, image: Some(image) }
        })
    };
    (0..planes).flat_map(bands).collect()
}

/// The copy of mip 0 of all layers of an image: one aspect, colour or depth.
fn packed(kind: PlanKind) -> Option<vk::BufferImageCopy> {
    let PlanKind::Image { format, size: [width, height, depth], layers, .. } = kind else { return None };
    let aspects = convert::aspects(format.aspects());
    let aspect_mask = if aspects.contains(vk::ImageAspectFlags::DEPTH) { vk::ImageAspectFlags::DEPTH } else { aspects };
    debug_assert!(copied_bytes(format, aspect_mask) > 0);
    Some(vk::BufferImageCopy {
        buffer_offset: 0,
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
pub(crate) fn clear(device: &ash::Device, commands: vk::CommandBuffer, physical: &PhysicalResource) {
    let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    let range = Region::whole(physical.kind).subresources();
    match (physical.raw, physical.kind) {
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

/// Copies all of an image or buffer into another one of the same kind.
pub(crate) fn copy_whole(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    from: &PhysicalResource,
    to: &PhysicalResource,
) {
    match (from.raw, to.raw, to.kind) {
        (Raw::Buffer(from), Raw::Buffer(to), PlanKind::Buffer { size }) => {
            let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size };
            // SAFETY: both are that large, and behind the barriers nobody else uses them.
            unsafe { device.cmd_copy_buffer(commands, from, to, &[region]) };
        }
        (Raw::Image(from), Raw::Image(to), PlanKind::Image { format, size, mips, layers, .. }) => {
            let regions: Vec<_> = (0..mips)
                .map(|mip_level| {
                    let aspect_mask = convert::aspects(format.aspects());
                    let part =
                        vk::ImageSubresourceLayers { aspect_mask, mip_level, base_array_layer: 0, layer_count: layers };
                    let [width, height, depth] = size.map(|texels| (texels >> mip_level).max(1));
                    vk::ImageCopy {
                        src_subresource: part,
                        dst_subresource: part,
                        extent: vk::Extent3D { width, height, depth },
                        ..vk::ImageCopy::default()
                    }
                })
                .collect();
            let (source, target) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            // SAFETY: both have these mips and layers; the layouts are the barriers'.
            unsafe { device.cmd_copy_image(commands, from, source, to, target, &regions) };
        }
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

/// Copies a piece from a buffer, where its bytes begin at `offset`, into a resource.
pub(crate) fn upload(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    physical: &PhysicalResource,
    piece: &Piece,
    buffer: vk::Buffer,
    offset: u64,
) {
    match (physical.raw, piece.image) {
        (Raw::Image(image), Some(region)) => {
            let region = vk::BufferImageCopy { buffer_offset: offset, ..region };
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            // SAFETY: the buffer holds the piece's texels from there on; the layout is the barrier's.
            unsafe { device.cmd_copy_buffer_to_image(commands, buffer, image, layout, &[region]) };
        }
        (Raw::Buffer(to), _) => {
            let size = piece.bytes.end - piece.bytes.start;
            let region = vk::BufferCopy { src_offset: offset, dst_offset: piece.bytes.start, size };
            // SAFETY: both buffers are that large.
            unsafe { device.cmd_copy_buffer(commands, buffer, to, &[region]) };
        }
        _ => {}
    }
}

/// Copies a piece of a resource into a buffer, where its bytes begin at `offset`.
pub(crate) fn download(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    physical: &PhysicalResource,
    piece: &Piece,
    buffer: vk::Buffer,
    offset: u64,
) {
    match (physical.raw, piece.image) {
        (Raw::Image(image), Some(region)) => {
            let region = vk::BufferImageCopy { buffer_offset: offset, ..region };
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            // SAFETY: the buffer has room for the piece's texels from there on; the layout is the barrier's.
            unsafe { device.cmd_copy_image_to_buffer(commands, image, layout, buffer, &[region]) };
        }
        (Raw::Buffer(from), _) => {
            let size = piece.bytes.end - piece.bytes.start;
            let region = vk::BufferCopy { src_offset: piece.bytes.start, dst_offset: offset, size };
            // SAFETY: both buffers are that large.
            unsafe { device.cmd_copy_buffer(commands, from, buffer, &[region]) };
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

/// What is to be given for [`packed_bytes`].
pub(crate) fn packed_help(kind: PlanKind) -> &'static str {
    match kind {
        PlanKind::Buffer { .. } => "give as many bytes as the buffer has",
        PlanKind::Image { .. } => "give mip 0 of all layers, tightly packed",
    }
}

/// A resource's kind, size and format, for a message.
pub(crate) fn described(kind: PlanKind) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use rgraph_plan::format::Format;

    fn image(format: Format, size: [u32; 3], layers: u32) -> PlanKind {
        let volume = size[2] > 1;
        PlanKind::Image { format, size, mips: 1, layers, samples: 1, volume, cube: false }
    }

    #[test]
    fn pieces_are_small_and_hold_every_byte_and_texel_once() {
        let kinds = [
            PlanKind::Buffer { size: 10_001 },
            image(Format::Rgba8unorm, [40, 30, 1], 1),
            image(Format::Rgba8unorm, [40, 30, 1], 7),
            image(Format::R32float, [16, 16, 9], 1),
            image(Format::Bc1RgbaUnorm, [42, 30, 1], 3),
        ];
        for kind in kinds {
            for most in [700, 2_000, 6_000, 1 << 20] {
                let pieces = pieces(kind, most);
                let ends = pieces.iter().map(|piece| piece.bytes.end);
                let starts: Vec<_> = pieces.iter().map(|piece| piece.bytes.start).collect();
                assert_eq!(starts, [0].into_iter().chain(ends).take(pieces.len()).collect::<Vec<_>>(), "no gap");
                assert_eq!(pieces.last().map(|piece| piece.bytes.end), Some(packed_bytes(kind)));
                assert!(pieces.iter().all(|piece| piece.bytes.end - piece.bytes.start <= most), "{kind:?} {most}");
                let texels = |piece: &Piece| {
                    let copy = piece.image.unwrap();
                    let vk::Extent3D { width, height, depth } = copy.image_extent;
                    u64::from(width) * u64::from(height) * u64::from(depth * copy.image_subresource.layer_count)
                };
                if let PlanKind::Image { size: [width, height, depth], layers, .. } = kind {
                    let all = u64::from(width) * u64::from(height) * u64::from(depth) * u64::from(layers);
                    assert_eq!(pieces.iter().map(texels).sum::<u64>(), all, "{kind:?} {most}");
                }
            }
        }
    }
}
