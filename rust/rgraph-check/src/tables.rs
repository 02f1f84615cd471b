//! The checker's own tables: what a usage does to memory, which layouts it may find, which stages a queue has, how
//! stages are ordered, and how many bytes a texel takes.
//!
//! Source: Vulkan 1.3 specification, "Synchronization and Cache Control" (tables of supported stages and of accesses
//! by stage, logical order of pipeline stages), "Formats"; ARCHITECTURE.md.

use rgraph_ir::access::{Accesses, Layout, PassQueue, Stages, Transfer, Usage};
use rgraph_ir::format::Format;
use rgraph_ir::profile::Capabilities;

/// Leaf stages.
pub(crate) const STAGES: usize = 21;

/// One leaf operation of a use: a stage, the access kinds any of which covers it, and whether it writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Op {
    pub stage: u8,
    pub access: Accesses,
    pub write: bool,
}

/// What a resolve at the end of a subpass does to its source, be it colour or depth.
pub(crate) const RESOLVE_READ: Op = Op {
    stage: Stages::COLOR_ATTACHMENT_OUTPUT.bits().trailing_zeros() as u8,
    access: Accesses::COLOR_ATTACHMENT_READ,
    write: false,
};

/// Shader stages.
const SHADERS: Stages = Stages::VERTEX_SHADER
    .union(Stages::TESSELLATION_CONTROL_SHADER)
    .union(Stages::TESSELLATION_EVALUATION_SHADER)
    .union(Stages::GEOMETRY_SHADER)
    .union(Stages::TASK_SHADER)
    .union(Stages::MESH_SHADER)
    .union(Stages::FRAGMENT_SHADER)
    .union(Stages::COMPUTE_SHADER)
    .union(Stages::RAY_TRACING_SHADER);

/// The graphics pipeline in logical order; stages in one entry are not ordered among themselves.
const PIPELINE: [Stages; 11] = [
    Stages::DRAW_INDIRECT,
    Stages::INDEX_INPUT,
    Stages::VERTEX_ATTRIBUTE_INPUT,
    Stages::VERTEX_SHADER,
    Stages::TESSELLATION_CONTROL_SHADER,
    Stages::TESSELLATION_EVALUATION_SHADER,
    Stages::GEOMETRY_SHADER,
    Stages::EARLY_FRAGMENT_TESTS,
    Stages::FRAGMENT_SHADER,
    Stages::LATE_FRAGMENT_TESTS,
    Stages::COLOR_ATTACHMENT_OUTPUT,
];

/// Task and mesh shaders are between the indirect draw and rasterisation, in place of the vertex pipeline.
const MESH_PIPELINE: [Stages; 7] = [
    Stages::DRAW_INDIRECT,
    Stages::TASK_SHADER,
    Stages::MESH_SHADER,
    Stages::EARLY_FRAGMENT_TESTS,
    Stages::FRAGMENT_SHADER,
    Stages::LATE_FRAGMENT_TESTS,
    Stages::COLOR_ATTACHMENT_OUTPUT,
];

const PIPELINES: [&[Stages]; 4] = [
    &PIPELINE,
    &MESH_PIPELINE,
    &[Stages::DRAW_INDIRECT, Stages::COMPUTE_SHADER],
    &[Stages::DRAW_INDIRECT, Stages::RAY_TRACING_SHADER],
];

/// The stages of a first synchronization scope: those named and all logically earlier ones.
pub(crate) fn with_earlier(stages: Stages) -> Stages {
    let mut all = stages;
    for pipeline in PIPELINES {
        if let Some(last) = pipeline.iter().rposition(|stage| stages.intersects(*stage)) {
            for stage in &pipeline[..last] {
                all |= *stage;
            }
        }
    }
    all
}

/// The stages of a second synchronization scope: those named and all logically later ones.
pub(crate) fn with_later(stages: Stages) -> Stages {
    let mut all = stages;
    for pipeline in PIPELINES {
        if let Some(first) = pipeline.iter().position(|stage| stages.intersects(*stage)) {
            for stage in &pipeline[first..] {
                all |= *stage;
            }
        }
    }
    all
}

/// Positions of the stages in a set.
pub(crate) fn leaves(stages: Stages) -> impl Iterator<Item = usize> {
    let mut bits = stages.bits() & ((1 << STAGES) - 1);
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            bit
        })
    })
}

/// The stage at a position.
pub(crate) fn leaf(stage: usize) -> Stages {
    Stages::from_bits_retain(1 << stage)
}

/// Whether an access kind writes.
pub(crate) fn writes(access: Accesses) -> bool {
    access.intersects(
        Accesses::SHADER_STORAGE_WRITE
            | Accesses::COLOR_ATTACHMENT_WRITE
            | Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE
            | Accesses::TRANSFER_WRITE
            | Accesses::HOST_WRITE
            | Accesses::ACCELERATION_STRUCTURE_WRITE,
    )
}

/// Pairs of stage and writing access that exist: the write operations that there can be.
pub(crate) const WRITES: usize = 18;

/// The position of a write operation among the [`WRITES`].
pub(crate) fn write_slot(stage: usize) -> usize {
    match leaf(stage) {
        Stages::VERTEX_SHADER => 0,
        Stages::TESSELLATION_CONTROL_SHADER => 1,
        Stages::TESSELLATION_EVALUATION_SHADER => 2,
        Stages::GEOMETRY_SHADER => 3,
        Stages::TASK_SHADER => 4,
        Stages::MESH_SHADER => 5,
        Stages::FRAGMENT_SHADER => 6,
        Stages::COMPUTE_SHADER => 7,
        Stages::RAY_TRACING_SHADER => 8,
        Stages::COLOR_ATTACHMENT_OUTPUT => 9,
        Stages::EARLY_FRAGMENT_TESTS => 10,
        Stages::LATE_FRAGMENT_TESTS => 11,
        Stages::COPY => 12,
        Stages::BLIT => 13,
        Stages::RESOLVE => 14,
        Stages::CLEAR => 15,
        Stages::ACCELERATION_STRUCTURE_BUILD => 16,
        _ => 17,
    }
}

/// The only access with which a stage writes; empty for stages that never write.
pub(crate) fn write_access(stage: usize) -> Accesses {
    match leaf(stage) {
        s if SHADERS.contains(s) => Accesses::SHADER_STORAGE_WRITE,
        s if Stages::ALL_TRANSFER.contains(s) => Accesses::TRANSFER_WRITE,
        Stages::COLOR_ATTACHMENT_OUTPUT => Accesses::COLOR_ATTACHMENT_WRITE,
        Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS => Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE,
        Stages::ACCELERATION_STRUCTURE_BUILD => Accesses::ACCELERATION_STRUCTURE_WRITE,
        Stages::HOST => Accesses::HOST_WRITE,
        _ => Accesses::empty(),
    }
}

/// Whether a pass draws, computes, transfers or runs on the host, as far as default stages care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    Raster,
    Compute,
    Transfer,
    Host,
}

/// What a pass does, from its queue and usages. A pass on `any` queue draws if it has something to draw with.
pub(crate) fn work(queue: PassQueue, usages: impl Iterator<Item = Usage>) -> Work {
    match queue {
        PassQueue::Graphics => Work::Raster,
        PassQueue::Compute | PassQueue::AsyncCompute => Work::Compute,
        PassQueue::Transfer => Work::Transfer,
        PassQueue::Cpu => Work::Host,
        PassQueue::Any => {
            let mut work = Work::Compute;
            for usage in usages {
                if is_attachment(usage) || matches!(usage, Usage::InputAttachment | Usage::Vertex | Usage::Index) {
                    work = Work::Raster;
                }
            }
            work
        }
    }
}

/// Whether a usage is an attachment that a render pass loads and stores.
pub(crate) fn is_attachment(usage: Usage) -> bool {
    matches!(
        usage,
        Usage::ColorAttachment | Usage::DepthStencilAttachment | Usage::DepthStencilRead | Usage::ResolveAttachment
    )
}

/// The stages of a use that names none.
pub(crate) fn default_stages(usage: Usage, work: Work, transfer: Option<Transfer>) -> Stages {
    let shader = match work {
        Work::Raster => Stages::FRAGMENT_SHADER,
        Work::Compute | Work::Transfer => Stages::COMPUTE_SHADER,
        Work::Host => Stages::HOST,
    };
    match usage {
        Usage::ColorAttachment | Usage::ResolveAttachment => Stages::COLOR_ATTACHMENT_OUTPUT,
        Usage::DepthStencilAttachment | Usage::DepthStencilRead => {
            Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS
        }
        Usage::InputAttachment => Stages::FRAGMENT_SHADER,
        Usage::Sampled | Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite | Usage::Uniform => shader,
        Usage::Vertex => Stages::VERTEX_ATTRIBUTE_INPUT,
        Usage::Index => Stages::INDEX_INPUT,
        Usage::Indirect => Stages::DRAW_INDIRECT,
        Usage::TransferSrc | Usage::TransferDst => match transfer.unwrap_or(Transfer::Copy) {
            Transfer::Copy => Stages::COPY,
            Transfer::Blit => Stages::BLIT,
            Transfer::Resolve => Stages::RESOLVE,
            Transfer::Clear | Transfer::Fill => Stages::ALL_TRANSFER,
        },
        Usage::HostRead | Usage::HostWrite => Stages::HOST,
        Usage::Present => Stages::empty(),
        Usage::AccelerationInput
        | Usage::AccelerationBuild
        | Usage::AccelerationUpdate
        | Usage::AccelerationScratch => Stages::ACCELERATION_STRUCTURE_BUILD,
        Usage::AccelerationRead => match work {
            Work::Raster => Stages::FRAGMENT_SHADER,
            _ => Stages::RAY_TRACING_SHADER,
        },
    }
}

/// The operations of a use at its stages. `keeps`: old contents stay where it writes nothing (attachments are
/// loaded).
///
/// What an attachment's tests and blending read after a clear or discard is its own render pass's, so only the
/// write is an operation then. Inputs of acceleration structure builds count as read in either of the two ways
/// that the specification and this project's words allow.
pub(crate) fn ops(usage: Usage, stages: Stages, keeps: bool, out: &mut Vec<Op>) {
    let mut all = |access: Accesses, write: bool| {
        out.extend(leaves(stages).map(|stage| Op { stage: stage as u8, access, write }));
    };
    match usage {
        Usage::ColorAttachment => {
            if keeps {
                all(Accesses::COLOR_ATTACHMENT_READ, false);
            }
            all(Accesses::COLOR_ATTACHMENT_WRITE, true);
        }
        Usage::ResolveAttachment => all(Accesses::COLOR_ATTACHMENT_WRITE, true),
        Usage::DepthStencilAttachment => {
            if keeps {
                all(Accesses::DEPTH_STENCIL_ATTACHMENT_READ, false);
            }
            all(Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE, true);
        }
        Usage::DepthStencilRead => all(Accesses::DEPTH_STENCIL_ATTACHMENT_READ, false),
        Usage::InputAttachment => all(Accesses::INPUT_ATTACHMENT_READ, false),
        Usage::Sampled => all(Accesses::SHADER_SAMPLED_READ, false),
        Usage::StorageRead => all(Accesses::SHADER_STORAGE_READ, false),
        // No shader runs in a build: what is stored there is scratch memory, which builds read and write. What they
        // read after they replaced it is their own.
        Usage::StorageWrite | Usage::StorageReadWrite if stages == Stages::ACCELERATION_STRUCTURE_BUILD => {
            if keeps || usage == Usage::StorageReadWrite {
                all(Accesses::ACCELERATION_STRUCTURE_READ, false);
            }
            all(Accesses::ACCELERATION_STRUCTURE_WRITE, true);
        }
        Usage::StorageWrite => all(Accesses::SHADER_STORAGE_WRITE, true),
        Usage::StorageReadWrite => {
            all(Accesses::SHADER_STORAGE_READ, false);
            all(Accesses::SHADER_STORAGE_WRITE, true);
        }
        Usage::Uniform => all(Accesses::UNIFORM_READ, false),
        Usage::Vertex => all(Accesses::VERTEX_ATTRIBUTE_READ, false),
        Usage::Index => all(Accesses::INDEX_READ, false),
        Usage::Indirect => all(Accesses::INDIRECT_COMMAND_READ, false),
        Usage::TransferSrc => all(Accesses::TRANSFER_READ, false),
        Usage::TransferDst => all(Accesses::TRANSFER_WRITE, true),
        Usage::HostRead => all(Accesses::HOST_READ, false),
        // What the host keeps of old contents, its caches must have seen.
        Usage::HostWrite => {
            if keeps {
                all(Accesses::HOST_READ, false);
            }
            all(Accesses::HOST_WRITE, true);
        }
        Usage::Present => {}
        Usage::AccelerationInput => {
            all(Accesses::ACCELERATION_STRUCTURE_READ | Accesses::SHADER_STORAGE_READ, false);
        }
        Usage::AccelerationBuild => all(Accesses::ACCELERATION_STRUCTURE_WRITE, true),
        // Builds read the scratch memory that they write (Vulkan 1.3, "Building Acceleration Structures": both
        // accesses).
        Usage::AccelerationUpdate | Usage::AccelerationScratch => {
            all(Accesses::ACCELERATION_STRUCTURE_READ, false);
            all(Accesses::ACCELERATION_STRUCTURE_WRITE, true);
        }
        Usage::AccelerationRead => all(Accesses::ACCELERATION_STRUCTURE_READ, false),
    }
}

/// Whether an image may be in a layout while it is used so.
pub(crate) fn layout_fits(usage: Usage, layout: Layout) -> bool {
    use Layout as L;
    match usage {
        Usage::ColorAttachment => matches!(layout, L::ColorAttachment | L::Attachment | L::General),
        Usage::DepthStencilAttachment => matches!(layout, L::DepthStencilAttachment | L::Attachment | L::General),
        Usage::DepthStencilRead => matches!(
            layout,
            L::DepthStencilReadOnly | L::ReadOnly | L::DepthStencilAttachment | L::Attachment | L::General
        ),
        Usage::InputAttachment | Usage::Sampled => {
            matches!(layout, L::ShaderReadOnly | L::ReadOnly | L::DepthStencilReadOnly | L::General)
        }
        Usage::ResolveAttachment => {
            matches!(layout, L::ColorAttachment | L::DepthStencilAttachment | L::Attachment | L::General)
        }
        Usage::TransferSrc => matches!(layout, L::TransferSrc | L::General),
        Usage::TransferDst => matches!(layout, L::TransferDst | L::General),
        Usage::Present => layout == L::PresentSrc,
        _ => layout == L::General,
    }
}

/// The stages that a queue with these capabilities has.
pub(crate) fn stages_of(capabilities: Capabilities) -> Stages {
    let graphics = with_later(Stages::INDEX_INPUT) | Stages::TASK_SHADER | Stages::MESH_SHADER;
    let compute = Stages::COMPUTE_SHADER | Stages::RAY_TRACING_SHADER | Stages::ACCELERATION_STRUCTURE_BUILD;
    let mut stages = Stages::ALL_TRANSFER | Stages::HOST;
    if capabilities.contains(Capabilities::GRAPHICS) {
        stages |= graphics | Stages::DRAW_INDIRECT;
    }
    if capabilities.contains(Capabilities::COMPUTE) {
        stages |= compute | Stages::DRAW_INDIRECT;
    }
    stages
}

/// The stages at which an access kind can happen.
pub(crate) fn stages_with(access: Accesses) -> Stages {
    match access {
        Accesses::INDIRECT_COMMAND_READ => Stages::DRAW_INDIRECT | Stages::ACCELERATION_STRUCTURE_BUILD,
        Accesses::INDEX_READ => Stages::INDEX_INPUT,
        Accesses::VERTEX_ATTRIBUTE_READ => Stages::VERTEX_ATTRIBUTE_INPUT,
        Accesses::INPUT_ATTACHMENT_READ => Stages::FRAGMENT_SHADER,
        Accesses::UNIFORM_READ | Accesses::SHADER_SAMPLED_READ | Accesses::SHADER_STORAGE_WRITE => SHADERS,
        Accesses::SHADER_STORAGE_READ => SHADERS | Stages::ACCELERATION_STRUCTURE_BUILD,
        Accesses::COLOR_ATTACHMENT_READ | Accesses::COLOR_ATTACHMENT_WRITE => Stages::COLOR_ATTACHMENT_OUTPUT,
        Accesses::DEPTH_STENCIL_ATTACHMENT_READ | Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE => {
            Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS
        }
        Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE => {
            Stages::ALL_TRANSFER | Stages::ACCELERATION_STRUCTURE_BUILD
        }
        Accesses::HOST_READ | Accesses::HOST_WRITE => Stages::HOST,
        Accesses::ACCELERATION_STRUCTURE_READ => SHADERS | Stages::ACCELERATION_STRUCTURE_BUILD,
        Accesses::ACCELERATION_STRUCTURE_WRITE => Stages::ACCELERATION_STRUCTURE_BUILD,
        _ => Stages::empty(),
    }
}

/// What a queue must be able to do for a use.
pub(crate) fn needs(usage: Usage, stages: Stages, transfer: Option<Transfer>) -> Capabilities {
    let mut needed = match usage {
        Usage::TransferSrc | Usage::TransferDst => match transfer.unwrap_or(Transfer::Copy) {
            Transfer::Blit | Transfer::Resolve => Capabilities::GRAPHICS,
            _ => Capabilities::empty(),
        },
        _ => Capabilities::empty(),
    };
    let draws = stages_of(Capabilities::GRAPHICS) - stages_of(Capabilities::COMPUTE);
    if stages.intersects(draws) || is_attachment(usage) {
        needed |= Capabilities::GRAPHICS;
    }
    if stages.intersects(stages_of(Capabilities::COMPUTE) - stages_of(Capabilities::GRAPHICS)) {
        needed |= Capabilities::COMPUTE;
    }
    needed
}

/// Whether a queue can do what is needed: transfers work on every queue.
pub(crate) fn can(capabilities: Capabilities, needed: Capabilities) -> bool {
    capabilities.contains(needed - Capabilities::TRANSFER)
}

/// Bytes of one block of a format, and the block's width and height in texels, read off its name.
pub(crate) fn block(format: Format) -> (u64, u32, u32) {
    let name = format.name().trim_end_matches("-srgb");
    if let Some(rest) = name.strip_prefix("astc-") {
        let size = rest.split('-').next().unwrap_or_default();
        let (width, height) = size.split_once('x').unwrap_or(("4", "4"));
        return (16, width.parse().unwrap_or(4), height.parse().unwrap_or(4));
    }
    let compressed = |prefix: &str| name.starts_with(prefix);
    if compressed("bc1-") || compressed("bc4-") || compressed("etc2-rgb8") || compressed("eac-r11") {
        return (8, 4, 4);
    }
    if compressed("bc") || compressed("etc2-") || compressed("eac-") {
        return (16, 4, 4);
    }
    let bytes = match name {
        "stencil8" => 1,
        "depth16unorm" => 2,
        "depth32float-stencil8" => 8,
        "depth24plus" | "depth24plus-stencil8" | "depth32float" | "rgb9e5ufloat" | "rg11b10ufloat" => 4,
        _ if compressed("rgb10a2") => 4,
        _ => {
            let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
            let bits: u64 = name[letters..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .fold(0, |bits, digit| bits * 10 + u64::from(digit - b'0'));
            letters as u64 * bits / 8
        }
    };
    (bytes, 1, 1)
}

/// Bytes of an image's texels over all mips, layers and samples; `None` where it overflows.
pub(crate) fn texel_bytes(format: Format, size: [u32; 3], mips: u32, layers: u32, samples: u32) -> Option<u64> {
    let (bytes, width, height) = block(format);
    let mut total = 0u64;
    for mip in 0..mips.min(32) {
        let axis = |n: u32| u64::from((n >> mip).max(1));
        let blocks = axis(size[0]).div_ceil(u64::from(width)).checked_mul(axis(size[1]).div_ceil(u64::from(height)))?;
        total = total.checked_add(blocks.checked_mul(axis(size[2]))?.checked_mul(bytes)?)?;
    }
    total.checked_mul(u64::from(layers))?.checked_mul(u64::from(samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texel_sizes_read_off_names_are_those_of_the_specification() {
        assert_eq!(block(Format::Rgba16float), (8, 1, 1));
        assert_eq!(block(Format::Depth32floatStencil8), (8, 1, 1));
        assert_eq!(block(Format::Rgb10a2unorm), (4, 1, 1));
        assert_eq!(block(Format::Astc12x10Unorm), (16, 12, 10));
        assert_eq!(block(Format::EacRg11unorm), (16, 4, 4));
        for format in Format::all() {
            assert_eq!(block(format), (format.block_bytes(), format.block()[0], format.block()[1]), "{format}");
        }
    }

    #[test]
    fn a_first_scope_takes_in_earlier_stages_and_a_second_later_ones() {
        assert!(with_earlier(Stages::FRAGMENT_SHADER).contains(Stages::VERTEX_SHADER | Stages::MESH_SHADER));
        assert!(!with_earlier(Stages::FRAGMENT_SHADER).intersects(Stages::COMPUTE_SHADER));
        assert!(with_later(Stages::DRAW_INDIRECT).contains(Stages::COMPUTE_SHADER));
        assert_eq!(with_later(Stages::COPY), Stages::COPY);
        assert!(!with_later(Stages::VERTEX_SHADER).intersects(Stages::MESH_SHADER));
    }
}
