//! Tables: what each usage is, where it can happen, and which images it fits.

use crate::access::{Stages, Transfer, Usage};
use crate::error::Code;
use crate::format::{Format, Numbers};

pub(super) const fn is_storage(usage: Usage) -> bool {
    matches!(usage, Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite)
}

/// Whether images, and whether buffers, can be used that way.
pub(super) const fn kinds(usage: Usage) -> (bool, bool) {
    match usage {
        Usage::ColorAttachment
        | Usage::DepthStencilAttachment
        | Usage::DepthStencilRead
        | Usage::InputAttachment
        | Usage::ResolveAttachment
        | Usage::Present => (true, false),
        Usage::Uniform
        | Usage::Vertex
        | Usage::Index
        | Usage::Indirect
        | Usage::HostWrite
        | Usage::AccelerationInput
        | Usage::AccelerationBuild
        | Usage::AccelerationUpdate
        | Usage::AccelerationScratch
        | Usage::AccelerationRead => (false, true),
        Usage::Sampled
        | Usage::StorageRead
        | Usage::StorageWrite
        | Usage::StorageReadWrite
        | Usage::TransferSrc
        | Usage::TransferDst
        | Usage::HostRead => (true, true),
    }
}

/// The stages that can perform a usage.
///
/// # Source
/// Vulkan 1.3 specification, "Supported access types"; an acceleration structure build reads its inputs, and
/// recorded frames declare its scratch memory, as storage buffers.
pub(super) const fn stages_of(usage: Usage) -> Stages {
    const SHADERS: Stages = Stages::VERTEX_SHADER
        .union(Stages::TESSELLATION_CONTROL_SHADER)
        .union(Stages::TESSELLATION_EVALUATION_SHADER)
        .union(Stages::GEOMETRY_SHADER)
        .union(Stages::TASK_SHADER)
        .union(Stages::MESH_SHADER)
        .union(Stages::FRAGMENT_SHADER)
        .union(Stages::COMPUTE_SHADER)
        .union(Stages::RAY_TRACING_SHADER);
    const BUILD: Stages = Stages::ACCELERATION_STRUCTURE_BUILD;
    match usage {
        Usage::ColorAttachment | Usage::ResolveAttachment => Stages::COLOR_ATTACHMENT_OUTPUT,
        Usage::DepthStencilAttachment | Usage::DepthStencilRead => {
            Stages::EARLY_FRAGMENT_TESTS.union(Stages::LATE_FRAGMENT_TESTS)
        }
        Usage::InputAttachment => Stages::FRAGMENT_SHADER,
        Usage::Sampled | Usage::Uniform => SHADERS,
        Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite | Usage::AccelerationRead => {
            SHADERS.union(BUILD)
        }
        Usage::Vertex => Stages::VERTEX_ATTRIBUTE_INPUT,
        Usage::Index => Stages::INDEX_INPUT,
        Usage::Indirect => Stages::DRAW_INDIRECT.union(BUILD),
        Usage::TransferSrc | Usage::TransferDst => Stages::ALL_TRANSFER,
        Usage::HostRead | Usage::HostWrite => Stages::HOST,
        Usage::Present => Stages::empty(),
        Usage::AccelerationInput
        | Usage::AccelerationBuild
        | Usage::AccelerationUpdate
        | Usage::AccelerationScratch => BUILD,
    }
}

/// Why an image's format or samples cannot be used that way, with a repair.
pub(super) fn unfit(
    usage: Usage,
    format: Format,
    samples: u32,
    volume: bool,
) -> Option<(Code, &'static str, &'static str)> {
    let numbers = format.numbers();
    let depth = numbers == Numbers::Depth;
    let block = numbers == Numbers::Block;
    let color = "use depth_stencil_attachment, or declare it with a colour format";
    match usage {
        Usage::ColorAttachment if depth => Some((Code::BadFormat, "is depth or stencil", color)),
        _ if usage.is_attachment() && block => {
            Some((Code::BadFormat, "is block-compressed", "declare it with a format that is not compressed"))
        }
        Usage::DepthStencilAttachment | Usage::DepthStencilRead if !depth => {
            Some((Code::BadFormat, "is a colour", "use color_attachment, or declare it with a depth format"))
        }
        Usage::StorageWrite | Usage::StorageReadWrite if depth => {
            Some((Code::BadFormat, "is depth or stencil", "write it as depth_stencil_attachment, or copy it"))
        }
        _ if is_storage(usage) && block => {
            Some((Code::BadFormat, "is block-compressed", "declare it with a format that is not compressed"))
        }
        _ if is_storage(usage) && format.name().ends_with("-srgb") => {
            Some((Code::BadFormat, "is sRGB", "declare it without -srgb and encode in the shader"))
        }
        _ if is_storage(usage) && samples > 1 => {
            Some((Code::BadSamples, "is multisampled", "resolve it first, or read it as sampled"))
        }
        Usage::Present if depth || block => {
            Some((Code::BadFormat, "is no colour that a surface can show", "present a colour image"))
        }
        Usage::Present if samples > 1 => {
            Some((Code::BadSamples, "is multisampled", "resolve it first and present the result"))
        }
        Usage::Present if volume => Some((Code::BadUsage, "has three dimensions", "present a 2D image")),
        _ => None,
    }
}

/// Integers blit to integers of the same sign, all else to all else.
pub(super) fn alike(format: Format) -> u8 {
    match format.numbers() {
        Numbers::Uint => 1,
        Numbers::Sint => 2,
        _ => 0,
    }
}

/// Whether a linear filter can be put on a format and the result written.
pub(super) fn blends(format: Format) -> bool {
    matches!(format.numbers(), Numbers::Float | Numbers::Unorm | Numbers::Snorm)
}

/// Why an image cannot be one end of a transfer.
///
/// # Source
/// Vulkan 1.3 specification, valid usage of `vkCmdBlitImage2`, `vkCmdResolveImage2`, `vkCmdClearColorImage`.
pub(super) fn unfit_transfer(
    transfer: Transfer,
    source: bool,
    format: Format,
    samples: u32,
) -> Option<(Code, &'static str, &'static str)> {
    let block = format.numbers() == Numbers::Block;
    match transfer {
        Transfer::Blit if samples > 1 => {
            Some((Code::BadSamples, "it is multisampled", "resolve it first, or use transfer: resolve"))
        }
        Transfer::Blit if block && !source => {
            Some((Code::BadFormat, "its format is block-compressed", "blit to a format that is not compressed"))
        }
        Transfer::Resolve if format.is_depth_stencil() => {
            Some((Code::BadFormat, "its format is depth or stencil", "use resolve_attachment"))
        }
        Transfer::Resolve if source && samples == 1 => {
            Some((Code::BadSamples, "it has one sample per texel", "use a copy or a blit"))
        }
        Transfer::Resolve if !source && samples > 1 => {
            Some((Code::BadSamples, "it is multisampled", "resolve to an image of one sample"))
        }
        Transfer::Clear if block => {
            Some((Code::BadFormat, "its format is block-compressed", "copy to it from a cleared buffer"))
        }
        _ => None,
    }
}
