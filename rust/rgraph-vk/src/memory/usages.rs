//! Uses that an image or buffer is made for.

use ash::vk;
use rgraph_plan::access::{Usage, UsageSet};
use rgraph_plan::plan::{PlanKind, PlanResource};

/// How an image or buffer will be used: what its creation must say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Usages {
    pub image: vk::ImageUsageFlags,
    pub buffer: vk::BufferUsageFlags,
    /// Whether its memory is shared with other devices, processes or APIs.
    pub external: bool,
}

impl Usages {
    /// Those of a resource of a plan that says what it is made for.
    pub(crate) fn planned(resource: &PlanResource) -> Self {
        Self::of(resource.kind, resource.usages.unwrap_or_default())
    }

    /// Those of a resource that is made for a set of usages. Contents of buffers are copied whatever they are made for,
    /// and images have at least one usage.
    pub(crate) fn of(kind: PlanKind, usages: UsageSet) -> Self {
        let mut out = Self::default();
        match kind {
            PlanKind::Image { format, .. } => {
                let depth = format.is_depth_stencil();
                usages.iter().for_each(|usage| out.image |= image_usage(usage, depth));
                if out.image.is_empty() {
                    out.image = vk::ImageUsageFlags::TRANSFER_SRC;
                }
            }
            PlanKind::Buffer { .. } => {
                out.buffer = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
                usages.iter().for_each(|usage| out.buffer |= buffer_usage(usage));
            }
        }
        out
    }
}

fn image_usage(usage: Usage, depth: bool) -> vk::ImageUsageFlags {
    let attachment =
        if depth { vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT } else { vk::ImageUsageFlags::COLOR_ATTACHMENT };
    match usage {
        Usage::ColorAttachment | Usage::ResolveAttachment | Usage::DepthStencilAttachment | Usage::DepthStencilRead => {
            attachment
        }
        Usage::InputAttachment => vk::ImageUsageFlags::INPUT_ATTACHMENT | attachment,
        // Depth is sampled in the layout in which it may be an attachment that is only read.
        Usage::Sampled if depth => vk::ImageUsageFlags::SAMPLED | attachment,
        Usage::Sampled => vk::ImageUsageFlags::SAMPLED,
        Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite => vk::ImageUsageFlags::STORAGE,
        Usage::TransferSrc => vk::ImageUsageFlags::TRANSFER_SRC,
        Usage::TransferDst => vk::ImageUsageFlags::TRANSFER_DST,
        _ => vk::ImageUsageFlags::empty(),
    }
}

fn buffer_usage(usage: Usage) -> vk::BufferUsageFlags {
    match usage {
        Usage::Uniform => vk::BufferUsageFlags::UNIFORM_BUFFER,
        Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite => {
            vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
        }
        Usage::Vertex => vk::BufferUsageFlags::VERTEX_BUFFER,
        Usage::Index => vk::BufferUsageFlags::INDEX_BUFFER,
        Usage::Indirect => vk::BufferUsageFlags::INDIRECT_BUFFER,
        Usage::Sampled => vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER,
        Usage::AccelerationInput => {
            vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR
                | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
        }
        Usage::AccelerationBuild | Usage::AccelerationUpdate | Usage::AccelerationRead => {
            vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
        }
        Usage::AccelerationScratch => {
            vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
        }
        _ => vk::BufferUsageFlags::empty(),
    }
}
