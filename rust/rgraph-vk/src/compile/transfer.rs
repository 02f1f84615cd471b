//! Transfer commands: compared with what their pass declares and with the sizes of what they access, then recorded.

use ash::vk;
use rgraph_plan::access::{Aspects, Layout, Transfer as Kind, Usage};
use rgraph_plan::declared::mip_size;
use rgraph_plan::plan::{PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;
use rgraph_work::{ClearValue, Level, Transfer, View};

use crate::compile::bind::Binder;
use crate::compile::pass_table::PassAccess;
use crate::convert;
use crate::error::Error;
use crate::memory::state::{Region, within};

/// A transfer, ready to be recorded; resources are the plan's.
#[derive(Clone, Copy)]
pub(crate) enum Ready {
    CopyBuffer(ResourceId, ResourceId, vk::BufferCopy),
    CopyImage([(ResourceId, Layout); 2], vk::ImageCopy),
    BufferToImage(ResourceId, (ResourceId, Layout), vk::BufferImageCopy),
    ImageToBuffer((ResourceId, Layout), ResourceId, vk::BufferImageCopy),
    Blit([(ResourceId, Layout); 2], vk::ImageBlit, vk::Filter),
    ClearColor((ResourceId, Layout), vk::ClearColorValue, vk::ImageSubresourceRange),
    ClearDepth((ResourceId, Layout), vk::ClearDepthStencilValue, vk::ImageSubresourceRange),
    Fill(ResourceId, u64, u64, u32),
    Resolve([(ResourceId, Layout); 2], vk::ImageResolve),
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ready")
    }
}

/// One side of an image transfer.
struct Side {
    planned: ResourceId,
    layout: Layout,
    subresource: vk::ImageSubresourceLayers,
    offset: [u32; 3],
    size: [u32; 3],
    format: rgraph_plan::format::Format,
    samples: u32,
}

impl Side {
    fn at(&self) -> (ResourceId, Layout) {
        (self.planned, self.layout)
    }

    fn corner(&self) -> vk::Offset3D {
        let [x, y, z] = self.offset.map(|axis| axis as i32);
        vk::Offset3D { x, y, z }
    }

    fn corners(&self) -> [vk::Offset3D; 2] {
        let [x, y, z] = std::array::from_fn(|axis| (self.offset[axis] + self.size[axis]) as i32);
        [self.corner(), vk::Offset3D { x, y, z }]
    }

    fn extent(&self) -> vk::Extent3D {
        let [width, height, depth] = self.size;
        vk::Extent3D { width, height, depth }
    }

    /// Bytes of its texels, tightly packed.
    fn bytes(&self) -> u64 {
        let [width, height, depth] = self.size.map(u64::from);
        let [across, down] = self.format.block().map(u64::from);
        let blocks = width.div_ceil(across) * height.div_ceil(down) * depth * u64::from(self.subresource.layer_count);
        blocks * copied_bytes(self.format, self.subresource.aspect_mask)
    }
}

/// Bytes of a texel in a buffer: depth and stencil are copied apart.
///
/// Source: Vulkan 1.3 specification, "Buffer and Image Addressing": depth of 24 bits in 32, stencil in one byte.
pub(crate) fn copied_bytes(format: rgraph_plan::format::Format, aspects: vk::ImageAspectFlags) -> u64 {
    use rgraph_plan::format::Format;
    match (format, aspects) {
        (_, vk::ImageAspectFlags::STENCIL) => 1,
        (Format::Depth32floatStencil8 | Format::Depth24plusStencil8, _) => 4,
        _ => format.block_bytes(),
    }
}

fn side(
    binder: &Binder<'_>,
    pass: PlanPassId,
    level: &Level,
    (usage, kind): (Usage, Kind),
    one_aspect: bool,
    size: Option<[u32; 3]>,
) -> Result<Side, Error> {
    let holds = |region: &Region| {
        let layers = level.layers.unwrap_or(region.layers);
        within([level.mip, level.mip.saturating_add(1)], region.mips)
            && within(layers, region.layers)
            && region.aspects.contains(level.aspects)
    };
    let access = binder.transfer_access(pass, level.image, (usage, kind), holds)?;
    let planned = access.resource;
    let name = binder.plan.resource_name(planned);
    let PlanKind::Image { format, size: whole, samples, .. } = binder.plan.resources[planned].kind else {
        return binder.wrong(pass, &format!("copies texels of buffer \"{name}\""), "name an image");
    };
    let region = access.region;
    let layers = level.layers.unwrap_or(region.layers);
    if !within([level.mip, level.mip.saturating_add(1)], region.mips) || !within(layers, region.layers) {
        let accessed = Region { mips: [level.mip, level.mip.saturating_add(1)], layers, ..region };
        let says = format!("accesses {} of \"{name}\", and declares {}", accessed.text(), region.text());
        return binder.wrong(pass, &says, "stay within the declared range");
    }
    let whole = mip_size(whole, level.mip);
    let rest: [u32; 3] = std::array::from_fn(|axis| whole[axis].saturating_sub(level.offset[axis]));
    let size = level.size.or(size).unwrap_or(rest);
    if (0..3).any(|axis| size[axis] == 0 || size[axis] > rest[axis]) {
        let says = format!("accesses {size:?} texels from {:?} on of \"{name}\", which has {whole:?}", level.offset);
        return binder.wrong(pass, &says, "stay within the image");
    }
    let mut aspects = if level.aspects.is_empty() { region.aspects } else { level.aspects & region.aspects };
    if one_aspect && aspects == Aspects::DEPTH | Aspects::STENCIL {
        aspects = Aspects::DEPTH;
    }
    Ok(Side {
        planned,
        layout: binder.layout_of(pass, access, level.mip, layers[0]),
        subresource: vk::ImageSubresourceLayers {
            aspect_mask: convert::aspects(aspects),
            mip_level: level.mip,
            base_array_layer: layers[0],
            layer_count: layers[1] - layers[0],
        },
        offset: level.offset,
        size,
        format,
        samples,
    })
}

/// Compares a transfer with the declaration.
pub(crate) fn checked(binder: &Binder<'_>, pass: PlanPassId, transfer: &Transfer) -> Result<Ready, Error> {
    let kind = match transfer {
        Transfer::Blit { .. } => Kind::Blit,
        Transfer::Clear { .. } => Kind::Clear,
        Transfer::Fill { .. } => Kind::Fill,
        Transfer::Resolve { .. } => Kind::Resolve,
        _ => Kind::Copy,
    };
    let (source, destination) = ((Usage::TransferSrc, kind), (Usage::TransferDst, kind));
    let layers = |a: &Side, b: &Side| match a.subresource.layer_count == b.subresource.layer_count {
        true => Ok(()),
        false => binder.wrong(pass, "copies between different numbers of layers", "name as many layers on both sides"),
    };
    match transfer {
        Transfer::CopyBuffer { from, from_offset, to, to_offset, size } => {
            copy_buffer(binder, pass, [(*from, *from_offset), (*to, *to_offset)], *size)
        }
        Transfer::CopyImage { from, to } => {
            let a = side(binder, pass, from, source, false, None)?;
            let b = side(binder, pass, to, destination, false, Some(a.size))?;
            layers(&a, &b)?;
            if a.format.block_bytes() != b.format.block_bytes() || a.samples != b.samples || a.size != b.size {
                let says = format!("copies {} of {:?} texels to {} of {:?}", a.format, a.size, b.format, b.size);
                return binder.wrong(pass, &says, "copy between texels of one size, or blit");
            }
            let region = vk::ImageCopy {
                src_subresource: a.subresource,
                src_offset: a.corner(),
                dst_subresource: b.subresource,
                dst_offset: b.corner(),
                extent: a.extent(),
            };
            Ok(Ready::CopyImage([a.at(), b.at()], region))
        }
        Transfer::BufferToImage { from, offset, to } => {
            let (from, range) = bytes(binder, pass, (*from, *offset), source)?;
            let to = side(binder, pass, to, destination, true, None)?;
            Ok(Ready::BufferToImage(from, to.at(), texels(binder, pass, from, range, *offset, &to)?))
        }
        Transfer::ImageToBuffer { from, to, offset } => {
            let from = side(binder, pass, from, source, true, None)?;
            let (to, range) = bytes(binder, pass, (*to, *offset), destination)?;
            Ok(Ready::ImageToBuffer(from.at(), to, texels(binder, pass, to, range, *offset, &from)?))
        }
        Transfer::Blit { from, to, linear } => {
            let a = side(binder, pass, from, source, false, None)?;
            let b = side(binder, pass, to, destination, false, None)?;
            layers(&a, &b)?;
            let (source, target) = (vk::FormatFeatureFlags::BLIT_SRC, vk::FormatFeatureFlags::BLIT_DST);
            for (side, feature, word) in [(&a, source, "from"), (&b, target, "to")] {
                if !binder.shared.blits(side.format, feature) {
                    let says = format!("blits {word} {}, which {} cannot", side.format, binder.shared.info.name);
                    return binder.wrong(
                        pass,
                        &says,
                        "copy it at its size, draw it with a shader, or use another format",
                    );
                }
            }
            Ok(blit(a, b, *linear))
        }
        Transfer::Clear { image, value } => clear(binder, pass, image, *value),
        Transfer::Fill { buffer, offset, size, word } => {
            let (buffer, range) = bytes(binder, pass, (*buffer, *offset), destination)?;
            let rest = range[1].saturating_sub(*offset);
            let size = size.unwrap_or(rest & !3);
            if offset % 4 != 0 || size % 4 != 0 || size == 0 || size > rest || *offset < range[0] {
                let name = binder.plan.resource_name(buffer);
                let says = format!("fills {size} bytes of \"{name}\" from {offset} on, and declares {range:?}");
                return binder.wrong(pass, &says, "stay within the declared range, in multiples of 4");
            }
            Ok(Ready::Fill(buffer, *offset, size, *word))
        }
        Transfer::Resolve { from, to } => {
            let a = side(binder, pass, from, source, false, None)?;
            let b = side(binder, pass, to, destination, false, Some(a.size))?;
            layers(&a, &b)?;
            if a.samples < 2 || b.samples != 1 || a.format != b.format || a.size != b.size {
                let says = format!("resolves {} samples of {} to {} of {}", a.samples, a.format, b.samples, b.format);
                return binder.wrong(pass, &says, "resolve several samples to one, of one format");
            }
            let region = vk::ImageResolve {
                src_subresource: a.subresource,
                src_offset: a.corner(),
                dst_subresource: b.subresource,
                dst_offset: b.corner(),
                extent: a.extent(),
            };
            Ok(Ready::Resolve([a.at(), b.at()], region))
        }
    }
}

/// A copy between bytes of buffers: from, to.
fn copy_buffer(
    binder: &Binder<'_>,
    pass: PlanPassId,
    [(from, from_offset), (to, to_offset)]: [(ResourceId, u64); 2],
    size: Option<u64>,
) -> Result<Ready, Error> {
    let (from, a) = bytes(binder, pass, (from, from_offset), (Usage::TransferSrc, Kind::Copy))?;
    let (to, b) = bytes(binder, pass, (to, to_offset), (Usage::TransferDst, Kind::Copy))?;
    let rest = a[1].saturating_sub(from_offset).min(b[1].saturating_sub(to_offset));
    let size = size.unwrap_or(rest);
    if size == 0 || size > rest || from_offset < a[0] || to_offset < b[0] {
        let (f, t) = (binder.plan.resource_name(from), binder.plan.resource_name(to));
        let says = format!("copies {size} bytes of \"{f}\" to \"{t}\", and {rest} are within both");
        return binder.wrong(pass, &says, "stay within the declared ranges");
    }
    if binder.plan.is_same_memory(from, to) && overlap(from_offset, to_offset, size) {
        return binder.wrong(pass, "copies between overlapping ranges of one buffer", "copy through another");
    }
    let region = vk::BufferCopy { src_offset: from_offset, dst_offset: to_offset, size };
    Ok(Ready::CopyBuffer(from, to, region))
}

fn overlap(a: u64, b: u64, size: u64) -> bool {
    a < b.saturating_add(size) && b < a.saturating_add(size)
}

fn blit(a: Side, b: Side, linear: bool) -> Ready {
    let region = vk::ImageBlit {
        src_subresource: a.subresource,
        src_offsets: a.corners(),
        dst_subresource: b.subresource,
        dst_offsets: b.corners(),
    };
    use rgraph_plan::format::Numbers;
    let smooth = !matches!(a.format.numbers(), Numbers::Uint | Numbers::Sint | Numbers::Depth);
    let filter = if linear && smooth { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    Ready::Blit([a.at(), b.at()], region, filter)
}

/// The blit that an inserted pass makes: from what it reads to what it writes.
pub(crate) fn inserted(binder: &Binder<'_>, pass: PlanPassId) -> Option<Ready> {
    let accesses = binder.table.of(pass);
    let from = accesses.iter().find(|access| access.usage == Usage::TransferSrc)?;
    let to = accesses.iter().find(|access| access.usage == Usage::TransferDst)?;
    let side = |access: &PassAccess| {
        let PlanKind::Image { format, size, samples, .. } = binder.plan.resources[access.resource].kind else {
            return None;
        };
        let [mip, _] = access.region.mips;
        let layers = merged_layers(accesses, access);
        Some(Side {
            planned: access.resource,
            layout: binder.layout_of(pass, access, mip, layers[0]),
            subresource: vk::ImageSubresourceLayers {
                aspect_mask: convert::aspects(access.region.aspects),
                mip_level: mip,
                base_array_layer: layers[0],
                layer_count: layers[1] - layers[0],
            },
            offset: [0; 3],
            size: mip_size(size, mip),
            format,
            samples,
        })
    };
    let (from, to) = (side(from)?, side(to)?);
    Some(blit(from, to, true))
}

/// Layers of all accesses alike: pieces cut them, the blit does not.
fn merged_layers(accesses: &[PassAccess], like: &PassAccess) -> [u32; 2] {
    let alike = accesses
        .iter()
        .filter(|one| (one.resource, one.usage, one.region.mips) == (like.resource, like.usage, like.region.mips));
    alike.fold(like.region.layers, |[first, end], one| [first.min(one.region.layers[0]), end.max(one.region.layers[1])])
}

fn bytes(
    binder: &Binder<'_>,
    pass: PlanPassId,
    (buffer, from): (ResourceId, u64),
    what: (Usage, Kind),
) -> Result<(ResourceId, [u64; 2]), Error> {
    let holds = |region: &Region| (region.range[0]..region.range[1]).contains(&from);
    let access = binder.transfer_access(pass, buffer, what, holds)?;
    if let PlanKind::Image { .. } = binder.plan.resources[access.resource].kind {
        let name = binder.plan.resource_name(access.resource);
        return binder.wrong(pass, &format!("copies bytes of image \"{name}\""), "name a buffer");
    }
    Ok((access.resource, access.region.range))
}

/// The region of a copy between a buffer and an image.
fn texels(
    binder: &Binder<'_>,
    pass: PlanPassId,
    buffer: ResourceId,
    range: [u64; 2],
    offset: u64,
    side: &Side,
) -> Result<vk::BufferImageCopy, Error> {
    let name = binder.plan.resource_name(buffer);
    if side.samples > 1 {
        return binder.wrong(pass, &format!("copies multisampled texels to or from \"{name}\""), "resolve first");
    }
    let needed = side.bytes();
    let align = copied_bytes(side.format, side.subresource.aspect_mask).max(4);
    if offset < range[0] || offset.checked_add(needed).is_none_or(|end| end > range[1]) || !offset.is_multiple_of(align)
    {
        let says = format!("copies {needed} bytes of texels at {offset} of \"{name}\", and declares {range:?}");
        return binder.wrong(pass, &says, &format!("stay within the declared range, at a multiple of {align}"));
    }
    Ok(vk::BufferImageCopy {
        buffer_offset: offset,
        buffer_row_length: 0,
        buffer_image_height: 0,
        image_subresource: side.subresource,
        image_offset: side.corner(),
        image_extent: side.extent(),
    })
}

fn clear(binder: &Binder<'_>, pass: PlanPassId, image: &View, value: ClearValue) -> Result<Ready, Error> {
    let what = (Usage::TransferDst, Kind::Clear);
    let access = binder.transfer_access(pass, image.resource, what, |region| region.holds(image))?;
    let PlanKind::Image { format, .. } = binder.plan.resources[access.resource].kind else {
        return binder.wrong(pass, "clears a buffer as an image", "fill it");
    };
    let declared = access.region;
    let region = Region {
        mips: image.mips.unwrap_or(declared.mips),
        layers: image.layers.unwrap_or(declared.layers),
        aspects: if image.aspects.is_empty() { declared.aspects } else { image.aspects },
        ..declared
    };
    if !declared.holds(image) {
        let name = binder.plan.resource_name(access.resource);
        let says = format!("clears {} of \"{name}\", and declares {}", region.text(), declared.text());
        return binder.wrong(pass, &says, "stay within the declared range");
    }
    let at = (access.resource, binder.layout_of(pass, access, region.mips[0], region.layers[0]));
    let range = region.subresources();
    use rgraph_plan::format::Numbers;
    match (value, format.numbers()) {
        (ClearValue::Depth(depth, stencil), Numbers::Depth) => {
            Ok(Ready::ClearDepth(at, vk::ClearDepthStencilValue { depth: depth.clamp(0.0, 1.0), stencil }, range))
        }
        (ClearValue::Uint(uint32), Numbers::Uint) => Ok(Ready::ClearColor(at, vk::ClearColorValue { uint32 }, range)),
        (ClearValue::Int(int32), Numbers::Sint) => Ok(Ready::ClearColor(at, vk::ClearColorValue { int32 }, range)),
        (ClearValue::Float(float32), Numbers::Float | Numbers::Unorm | Numbers::Snorm) => {
            Ok(Ready::ClearColor(at, vk::ClearColorValue { float32 }, range))
        }
        _ => {
            let name = binder.plan.resource_name(access.resource);
            let what = match value {
                ClearValue::Depth(..) => "a depth",
                ClearValue::Uint(_) => "unsigned integers",
                ClearValue::Int(_) => "integers",
                ClearValue::Float(_) => "floats",
            };
            let says = format!("clears \"{name}\" ({format}) to {what}");
            binder.wrong(pass, &says, "use a value of the format's kind of number")
        }
    }
}

/// Handles of the plan's resources in one run.
pub(crate) trait Handles {
    fn image(&self, resource: ResourceId) -> vk::Image;
    fn buffer(&self, resource: ResourceId) -> vk::Buffer;
}

/// Handles for the transfers of one pass.
pub(crate) trait Transfers: Handles {
    /// What the pass reads in a resource's place: another one if that is the output of a pass that is off.
    fn source(&self, resource: ResourceId) -> ResourceId;
    /// The layout in which the pass finds a part of an image.
    fn layout(&self, resource: ResourceId, part: vk::ImageSubresourceLayers) -> Layout;
}

/// Records a transfer.
pub(crate) fn record(device: &ash::Device, commands: vk::CommandBuffer, transfer: &Ready, handles: &impl Transfers) {
    let image = |(resource, layout): (ResourceId, Layout)| (handles.image(resource), convert::layout(layout));
    let read = |(resource, layout): (ResourceId, Layout), part: vk::ImageSubresourceLayers| {
        let found = handles.source(resource);
        image((found, if found == resource { layout } else { handles.layout(found, part) }))
    };
    let read_buffer = |resource: ResourceId| handles.buffer(handles.source(resource));
    // SAFETY, for all of them: the command buffer is being recorded outside of a render pass; handles live until the
    // run is done; ranges were compared with the resources' sizes.
    match *transfer {
        // SAFETY: see above.
        Ready::CopyBuffer(from, to, region) => unsafe {
            device.cmd_copy_buffer(commands, read_buffer(from), handles.buffer(to), &[region]);
        },
        Ready::CopyImage([from, to], region) => {
            let ((from, from_layout), (to, to_layout)) = (read(from, region.src_subresource), image(to));
            // SAFETY: see above.
            unsafe { device.cmd_copy_image(commands, from, from_layout, to, to_layout, &[region]) };
        }
        Ready::BufferToImage(from, to, region) => {
            let (to, layout) = image(to);
            // SAFETY: see above.
            unsafe { device.cmd_copy_buffer_to_image(commands, read_buffer(from), to, layout, &[region]) };
        }
        Ready::ImageToBuffer(from, to, region) => {
            let (from, layout) = read(from, region.image_subresource);
            // SAFETY: see above.
            unsafe { device.cmd_copy_image_to_buffer(commands, from, layout, handles.buffer(to), &[region]) };
        }
        Ready::Blit([from, to], region, filter) => {
            let ((from, from_layout), (to, to_layout)) = (read(from, region.src_subresource), image(to));
            // SAFETY: see above.
            unsafe { device.cmd_blit_image(commands, from, from_layout, to, to_layout, &[region], filter) };
        }
        Ready::ClearColor(to, value, range) => {
            let (to, layout) = image(to);
            // SAFETY: see above.
            unsafe { device.cmd_clear_color_image(commands, to, layout, &value, &[range]) };
        }
        Ready::ClearDepth(to, value, range) => {
            let (to, layout) = image(to);
            // SAFETY: see above.
            unsafe { device.cmd_clear_depth_stencil_image(commands, to, layout, &value, &[range]) };
        }
        // SAFETY: see above.
        Ready::Fill(buffer, offset, size, word) => unsafe {
            device.cmd_fill_buffer(commands, handles.buffer(buffer), offset, size, word);
        },
        Ready::Resolve([from, to], region) => {
            let ((from, from_layout), (to, to_layout)) = (read(from, region.src_subresource), image(to));
            // SAFETY: see above.
            unsafe { device.cmd_resolve_image(commands, from, from_layout, to, to_layout, &[region]) };
        }
    }
}
