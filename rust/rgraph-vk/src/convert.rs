//! The planner's words as Vulkan's numbers. The masks of stages and accesses are leaf by leaf: what a plan says is
//! what the driver hears.

use ash::vk;
use rgraph_plan::access::{Accesses, Aspects, Layout, Load, ResolveMode, Stages, Store};
use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;
use rgraph_work::vertex::VertexFormat;

/// Pipeline stages.
pub fn stages(stages: Stages) -> vk::PipelineStageFlags2 {
    const TABLE: [vk::PipelineStageFlags2; 21] = [
        vk::PipelineStageFlags2::DRAW_INDIRECT,
        vk::PipelineStageFlags2::INDEX_INPUT,
        vk::PipelineStageFlags2::VERTEX_ATTRIBUTE_INPUT,
        vk::PipelineStageFlags2::VERTEX_SHADER,
        vk::PipelineStageFlags2::TESSELLATION_CONTROL_SHADER,
        vk::PipelineStageFlags2::TESSELLATION_EVALUATION_SHADER,
        vk::PipelineStageFlags2::GEOMETRY_SHADER,
        vk::PipelineStageFlags2::TASK_SHADER_EXT,
        vk::PipelineStageFlags2::MESH_SHADER_EXT,
        vk::PipelineStageFlags2::FRAGMENT_SHADER,
        vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS,
        vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS,
        vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
        vk::PipelineStageFlags2::COMPUTE_SHADER,
        vk::PipelineStageFlags2::RAY_TRACING_SHADER_KHR,
        vk::PipelineStageFlags2::ACCELERATION_STRUCTURE_BUILD_KHR,
        vk::PipelineStageFlags2::COPY,
        vk::PipelineStageFlags2::BLIT,
        vk::PipelineStageFlags2::RESOLVE,
        vk::PipelineStageFlags2::CLEAR,
        vk::PipelineStageFlags2::HOST,
    ];
    if stages.contains(Stages::ALL_TRANSFER) {
        let rest = bits(stages.difference(Stages::ALL_TRANSFER).bits(), &TABLE);
        return rest | vk::PipelineStageFlags2::ALL_TRANSFER;
    }
    bits(stages.bits(), &TABLE)
}

/// Access kinds at stages. Builds of acceleration structures read their inputs as shader reads, not as reads of storage (Vulkan
/// 1.3, "Supported Access Types").
pub fn accesses(stages: Stages, accesses: Accesses) -> vk::AccessFlags2 {
    const TABLE: [vk::AccessFlags2; 18] = [
        vk::AccessFlags2::INDIRECT_COMMAND_READ,
        vk::AccessFlags2::INDEX_READ,
        vk::AccessFlags2::VERTEX_ATTRIBUTE_READ,
        vk::AccessFlags2::UNIFORM_READ,
        vk::AccessFlags2::INPUT_ATTACHMENT_READ,
        vk::AccessFlags2::SHADER_SAMPLED_READ,
        vk::AccessFlags2::SHADER_STORAGE_READ,
        vk::AccessFlags2::SHADER_STORAGE_WRITE,
        vk::AccessFlags2::COLOR_ATTACHMENT_READ,
        vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ,
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE,
        vk::AccessFlags2::TRANSFER_READ,
        vk::AccessFlags2::TRANSFER_WRITE,
        vk::AccessFlags2::HOST_READ,
        vk::AccessFlags2::HOST_WRITE,
        vk::AccessFlags2::ACCELERATION_STRUCTURE_READ_KHR,
        vk::AccessFlags2::ACCELERATION_STRUCTURE_WRITE_KHR,
    ];
    let all = bits(accesses.bits(), &TABLE);
    let storage = vk::AccessFlags2::SHADER_STORAGE_READ;
    match stages.contains(Stages::ACCELERATION_STRUCTURE_BUILD) && all.contains(storage) {
        true => all & !storage | vk::AccessFlags2::SHADER_READ,
        false => all,
    }
}

/// Accesses that something is made visible to: what is visible to storage writes is to storage reads too, and what is
/// visible to reads of attachments is to their writes. Caches do not tell them apart. The validation layer cannot always
/// see that a shader only writes; and a run may clear an attachment that the plan loads.
pub fn visible_to(stages: Stages, mask: Accesses) -> vk::AccessFlags2 {
    let pairs = [
        (Accesses::SHADER_STORAGE_WRITE, Accesses::SHADER_STORAGE_READ),
        (Accesses::COLOR_ATTACHMENT_READ, Accesses::COLOR_ATTACHMENT_WRITE),
        (Accesses::DEPTH_STENCIL_ATTACHMENT_READ, Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE),
    ];
    let others = pairs.into_iter().filter(|(named, _)| mask.contains(*named));
    accesses(stages, others.fold(mask, |all, (_, other)| all | other))
}

fn bits<F: Copy + Default + std::ops::BitOr<Output = F>>(mut mask: u32, table: &[F]) -> F {
    let mut out = F::default();
    while mask != 0 {
        out = out | table[mask.trailing_zeros() as usize];
        mask &= mask - 1;
    }
    out
}

/// Image layouts.
pub fn layout(layout: Layout) -> vk::ImageLayout {
    match layout {
        Layout::Undefined => vk::ImageLayout::UNDEFINED,
        Layout::General => vk::ImageLayout::GENERAL,
        Layout::ColorAttachment => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
        Layout::DepthStencilAttachment => vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        Layout::DepthStencilReadOnly => vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        Layout::ShaderReadOnly => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        Layout::TransferSrc => vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
        Layout::TransferDst => vk::ImageLayout::TRANSFER_DST_OPTIMAL,
        Layout::PresentSrc => vk::ImageLayout::PRESENT_SRC_KHR,
        Layout::Attachment => vk::ImageLayout::ATTACHMENT_OPTIMAL,
        Layout::ReadOnly => vk::ImageLayout::READ_ONLY_OPTIMAL,
    }
}

/// Image aspects.
pub fn aspects(aspects: Aspects) -> vk::ImageAspectFlags {
    let mut out = vk::ImageAspectFlags::empty();
    for (ours, theirs) in [
        (Aspects::COLOR, vk::ImageAspectFlags::COLOR),
        (Aspects::DEPTH, vk::ImageAspectFlags::DEPTH),
        (Aspects::STENCIL, vk::ImageAspectFlags::STENCIL),
    ] {
        if aspects.contains(ours) {
            out |= theirs;
        }
    }
    out
}

/// What a render pass does with old contents.
pub fn load(load: Load) -> vk::AttachmentLoadOp {
    match load {
        Load::Clear => vk::AttachmentLoadOp::CLEAR,
        Load::Load => vk::AttachmentLoadOp::LOAD,
        Load::Discard => vk::AttachmentLoadOp::DONT_CARE,
    }
}

/// What a render pass does with new contents.
pub fn store(store: Store) -> vk::AttachmentStoreOp {
    match store {
        Store::Store => vk::AttachmentStoreOp::STORE,
        Store::Discard => vk::AttachmentStoreOp::DONT_CARE,
        Store::Nothing => vk::AttachmentStoreOp::NONE,
    }
}

/// How samples become one.
pub fn resolve_mode(mode: ResolveMode) -> vk::ResolveModeFlags {
    match mode {
        ResolveMode::Average => vk::ResolveModeFlags::AVERAGE,
        ResolveMode::SampleZero => vk::ResolveModeFlags::SAMPLE_ZERO,
        ResolveMode::Min => vk::ResolveModeFlags::MIN,
        ResolveMode::Max => vk::ResolveModeFlags::MAX,
    }
}

/// The format of a vertex attribute.
pub fn vertex_format(format: VertexFormat) -> vk::Format {
    match format {
        VertexFormat::Uint8 => vk::Format::R8_UINT,
        VertexFormat::Uint8x2 => vk::Format::R8G8_UINT,
        VertexFormat::Uint8x4 => vk::Format::R8G8B8A8_UINT,
        VertexFormat::Sint8 => vk::Format::R8_SINT,
        VertexFormat::Sint8x2 => vk::Format::R8G8_SINT,
        VertexFormat::Sint8x4 => vk::Format::R8G8B8A8_SINT,
        VertexFormat::Unorm8 => vk::Format::R8_UNORM,
        VertexFormat::Unorm8x2 => vk::Format::R8G8_UNORM,
        VertexFormat::Unorm8x4 => vk::Format::R8G8B8A8_UNORM,
        VertexFormat::Snorm8 => vk::Format::R8_SNORM,
        VertexFormat::Snorm8x2 => vk::Format::R8G8_SNORM,
        VertexFormat::Snorm8x4 => vk::Format::R8G8B8A8_SNORM,
        VertexFormat::Uint16 => vk::Format::R16_UINT,
        VertexFormat::Uint16x2 => vk::Format::R16G16_UINT,
        VertexFormat::Uint16x4 => vk::Format::R16G16B16A16_UINT,
        VertexFormat::Sint16 => vk::Format::R16_SINT,
        VertexFormat::Sint16x2 => vk::Format::R16G16_SINT,
        VertexFormat::Sint16x4 => vk::Format::R16G16B16A16_SINT,
        VertexFormat::Unorm16 => vk::Format::R16_UNORM,
        VertexFormat::Unorm16x2 => vk::Format::R16G16_UNORM,
        VertexFormat::Unorm16x4 => vk::Format::R16G16B16A16_UNORM,
        VertexFormat::Snorm16 => vk::Format::R16_SNORM,
        VertexFormat::Snorm16x2 => vk::Format::R16G16_SNORM,
        VertexFormat::Snorm16x4 => vk::Format::R16G16B16A16_SNORM,
        VertexFormat::Float16 => vk::Format::R16_SFLOAT,
        VertexFormat::Float16x2 => vk::Format::R16G16_SFLOAT,
        VertexFormat::Float16x4 => vk::Format::R16G16B16A16_SFLOAT,
        VertexFormat::Float32 => vk::Format::R32_SFLOAT,
        VertexFormat::Float32x2 => vk::Format::R32G32_SFLOAT,
        VertexFormat::Float32x3 => vk::Format::R32G32B32_SFLOAT,
        VertexFormat::Float32x4 => vk::Format::R32G32B32A32_SFLOAT,
        VertexFormat::Uint32 => vk::Format::R32_UINT,
        VertexFormat::Uint32x2 => vk::Format::R32G32_UINT,
        VertexFormat::Uint32x3 => vk::Format::R32G32B32_UINT,
        VertexFormat::Uint32x4 => vk::Format::R32G32B32A32_UINT,
        VertexFormat::Sint32 => vk::Format::R32_SINT,
        VertexFormat::Sint32x2 => vk::Format::R32G32_SINT,
        VertexFormat::Sint32x3 => vk::Format::R32G32B32_SINT,
        VertexFormat::Sint32x4 => vk::Format::R32G32B32A32_SINT,
        VertexFormat::Unorm10x3Unorm2 => vk::Format::A2B10G10R10_UNORM_PACK32,
        VertexFormat::Unorm8x4Bgra => vk::Format::B8G8R8A8_UNORM,
    }
}

/// Texel formats.
pub fn format(format: Format) -> vk::Format {
    match format {
        Format::R8unorm => vk::Format::R8_UNORM,
        Format::R8snorm => vk::Format::R8_SNORM,
        Format::R8uint => vk::Format::R8_UINT,
        Format::R8sint => vk::Format::R8_SINT,
        Format::R16unorm => vk::Format::R16_UNORM,
        Format::R16snorm => vk::Format::R16_SNORM,
        Format::R16uint => vk::Format::R16_UINT,
        Format::R16sint => vk::Format::R16_SINT,
        Format::R16float => vk::Format::R16_SFLOAT,
        Format::Rg8unorm => vk::Format::R8G8_UNORM,
        Format::Rg8snorm => vk::Format::R8G8_SNORM,
        Format::Rg8uint => vk::Format::R8G8_UINT,
        Format::Rg8sint => vk::Format::R8G8_SINT,
        Format::R32uint => vk::Format::R32_UINT,
        Format::R32sint => vk::Format::R32_SINT,
        Format::R32float => vk::Format::R32_SFLOAT,
        Format::Rg16unorm => vk::Format::R16G16_UNORM,
        Format::Rg16snorm => vk::Format::R16G16_SNORM,
        Format::Rg16uint => vk::Format::R16G16_UINT,
        Format::Rg16sint => vk::Format::R16G16_SINT,
        Format::Rg16float => vk::Format::R16G16_SFLOAT,
        Format::Rgba8unorm => vk::Format::R8G8B8A8_UNORM,
        Format::Rgba8unormSrgb => vk::Format::R8G8B8A8_SRGB,
        Format::Rgba8snorm => vk::Format::R8G8B8A8_SNORM,
        Format::Rgba8uint => vk::Format::R8G8B8A8_UINT,
        Format::Rgba8sint => vk::Format::R8G8B8A8_SINT,
        Format::Bgra8unorm => vk::Format::B8G8R8A8_UNORM,
        Format::Bgra8unormSrgb => vk::Format::B8G8R8A8_SRGB,
        Format::Rgb9e5ufloat => vk::Format::E5B9G9R9_UFLOAT_PACK32,
        Format::Rgb10a2uint => vk::Format::A2B10G10R10_UINT_PACK32,
        Format::Rgb10a2unorm => vk::Format::A2B10G10R10_UNORM_PACK32,
        Format::Rg11b10ufloat => vk::Format::B10G11R11_UFLOAT_PACK32,
        Format::Rg32uint => vk::Format::R32G32_UINT,
        Format::Rg32sint => vk::Format::R32G32_SINT,
        Format::Rg32float => vk::Format::R32G32_SFLOAT,
        Format::Rgba16unorm => vk::Format::R16G16B16A16_UNORM,
        Format::Rgba16snorm => vk::Format::R16G16B16A16_SNORM,
        Format::Rgba16uint => vk::Format::R16G16B16A16_UINT,
        Format::Rgba16sint => vk::Format::R16G16B16A16_SINT,
        Format::Rgba16float => vk::Format::R16G16B16A16_SFLOAT,
        Format::Rgba32uint => vk::Format::R32G32B32A32_UINT,
        Format::Rgba32sint => vk::Format::R32G32B32A32_SINT,
        Format::Rgba32float => vk::Format::R32G32B32A32_SFLOAT,
        Format::Stencil8 => vk::Format::S8_UINT,
        Format::Depth16unorm => vk::Format::D16_UNORM,
        Format::Depth24plus => vk::Format::X8_D24_UNORM_PACK32,
        Format::Depth24plusStencil8 => vk::Format::D24_UNORM_S8_UINT,
        Format::Depth32float => vk::Format::D32_SFLOAT,
        Format::Depth32floatStencil8 => vk::Format::D32_SFLOAT_S8_UINT,
        Format::Bc1RgbaUnorm => vk::Format::BC1_RGBA_UNORM_BLOCK,
        Format::Bc1RgbaUnormSrgb => vk::Format::BC1_RGBA_SRGB_BLOCK,
        Format::Bc2RgbaUnorm => vk::Format::BC2_UNORM_BLOCK,
        Format::Bc2RgbaUnormSrgb => vk::Format::BC2_SRGB_BLOCK,
        Format::Bc3RgbaUnorm => vk::Format::BC3_UNORM_BLOCK,
        Format::Bc3RgbaUnormSrgb => vk::Format::BC3_SRGB_BLOCK,
        Format::Bc4RUnorm => vk::Format::BC4_UNORM_BLOCK,
        Format::Bc4RSnorm => vk::Format::BC4_SNORM_BLOCK,
        Format::Bc5RgUnorm => vk::Format::BC5_UNORM_BLOCK,
        Format::Bc5RgSnorm => vk::Format::BC5_SNORM_BLOCK,
        Format::Bc6hRgbUfloat => vk::Format::BC6H_UFLOAT_BLOCK,
        Format::Bc6hRgbFloat => vk::Format::BC6H_SFLOAT_BLOCK,
        Format::Bc7RgbaUnorm => vk::Format::BC7_UNORM_BLOCK,
        Format::Bc7RgbaUnormSrgb => vk::Format::BC7_SRGB_BLOCK,
        Format::Etc2Rgb8Unorm => vk::Format::ETC2_R8G8B8_UNORM_BLOCK,
        Format::Etc2Rgb8UnormSrgb => vk::Format::ETC2_R8G8B8_SRGB_BLOCK,
        Format::Etc2Rgb8a1Unorm => vk::Format::ETC2_R8G8B8A1_UNORM_BLOCK,
        Format::Etc2Rgb8a1UnormSrgb => vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK,
        Format::Etc2Rgba8Unorm => vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK,
        Format::Etc2Rgba8UnormSrgb => vk::Format::ETC2_R8G8B8A8_SRGB_BLOCK,
        Format::EacR11unorm => vk::Format::EAC_R11_UNORM_BLOCK,
        Format::EacR11snorm => vk::Format::EAC_R11_SNORM_BLOCK,
        Format::EacRg11unorm => vk::Format::EAC_R11G11_UNORM_BLOCK,
        Format::EacRg11snorm => vk::Format::EAC_R11G11_SNORM_BLOCK,
        Format::Astc4x4Unorm => vk::Format::ASTC_4X4_UNORM_BLOCK,
        Format::Astc4x4UnormSrgb => vk::Format::ASTC_4X4_SRGB_BLOCK,
        Format::Astc5x4Unorm => vk::Format::ASTC_5X4_UNORM_BLOCK,
        Format::Astc5x4UnormSrgb => vk::Format::ASTC_5X4_SRGB_BLOCK,
        Format::Astc5x5Unorm => vk::Format::ASTC_5X5_UNORM_BLOCK,
        Format::Astc5x5UnormSrgb => vk::Format::ASTC_5X5_SRGB_BLOCK,
        Format::Astc6x5Unorm => vk::Format::ASTC_6X5_UNORM_BLOCK,
        Format::Astc6x5UnormSrgb => vk::Format::ASTC_6X5_SRGB_BLOCK,
        Format::Astc6x6Unorm => vk::Format::ASTC_6X6_UNORM_BLOCK,
        Format::Astc6x6UnormSrgb => vk::Format::ASTC_6X6_SRGB_BLOCK,
        Format::Astc8x5Unorm => vk::Format::ASTC_8X5_UNORM_BLOCK,
        Format::Astc8x5UnormSrgb => vk::Format::ASTC_8X5_SRGB_BLOCK,
        Format::Astc8x6Unorm => vk::Format::ASTC_8X6_UNORM_BLOCK,
        Format::Astc8x6UnormSrgb => vk::Format::ASTC_8X6_SRGB_BLOCK,
        Format::Astc8x8Unorm => vk::Format::ASTC_8X8_UNORM_BLOCK,
        Format::Astc8x8UnormSrgb => vk::Format::ASTC_8X8_SRGB_BLOCK,
        Format::Astc10x5Unorm => vk::Format::ASTC_10X5_UNORM_BLOCK,
        Format::Astc10x5UnormSrgb => vk::Format::ASTC_10X5_SRGB_BLOCK,
        Format::Astc10x6Unorm => vk::Format::ASTC_10X6_UNORM_BLOCK,
        Format::Astc10x6UnormSrgb => vk::Format::ASTC_10X6_SRGB_BLOCK,
        Format::Astc10x8Unorm => vk::Format::ASTC_10X8_UNORM_BLOCK,
        Format::Astc10x8UnormSrgb => vk::Format::ASTC_10X8_SRGB_BLOCK,
        Format::Astc10x10Unorm => vk::Format::ASTC_10X10_UNORM_BLOCK,
        Format::Astc10x10UnormSrgb => vk::Format::ASTC_10X10_SRGB_BLOCK,
        Format::Astc12x10Unorm => vk::Format::ASTC_12X10_UNORM_BLOCK,
        Format::Astc12x10UnormSrgb => vk::Format::ASTC_12X10_SRGB_BLOCK,
        Format::Astc12x12Unorm => vk::Format::ASTC_12X12_UNORM_BLOCK,
        Format::Astc12x12UnormSrgb => vk::Format::ASTC_12X12_SRGB_BLOCK,
    }
}

/// Samples a texel; a power of two from 1 to 64, which validation of graphs has made sure of.
pub fn samples(samples: u32) -> vk::SampleCountFlags {
    vk::SampleCountFlags::from_raw(samples)
}

/// The layout that an attachment is named with. Depth without stencil (and the reverse) has the common layouts too.
pub(crate) fn attachment_layout(of: Layout, kind: PlanKind) -> vk::ImageLayout {
    let depth = matches!(kind, PlanKind::Image { format, .. } if !format.aspects().contains(Aspects::COLOR));
    match of {
        // What is tested against and sampled at once.
        Layout::ShaderReadOnly if depth => vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        other => layout(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_and_access_has_a_word_of_its_own() {
        let mut seen = vk::PipelineStageFlags2::empty();
        for stage in Stages::all().iter_names().filter(|(name, _)| *name != "ALL_TRANSFER") {
            let flag = stages(stage.1);
            assert!(!seen.intersects(flag) && flag.as_raw().count_ones() == 1, "{stage:?}");
            seen |= flag;
        }
        assert_eq!(stages(Stages::ALL_TRANSFER), vk::PipelineStageFlags2::ALL_TRANSFER);
        let mut seen = vk::AccessFlags2::empty();
        for bit in 0..18 {
            let flag = accesses(Stages::empty(), Accesses::from_bits_truncate(1 << bit));
            assert!(!seen.intersects(flag) && flag.as_raw().count_ones() == 1);
            seen |= flag;
        }
    }

    #[test]
    fn a_clear_in_the_place_of_a_load_is_in_the_scope_of_the_load() {
        let of = |mask| visible_to(Stages::empty(), mask);
        let write = vk::AccessFlags2::COLOR_ATTACHMENT_WRITE;
        assert_eq!(of(Accesses::COLOR_ATTACHMENT_READ), vk::AccessFlags2::COLOR_ATTACHMENT_READ | write);
        assert_eq!(of(Accesses::COLOR_ATTACHMENT_WRITE), write);
        assert!(of(Accesses::DEPTH_STENCIL_ATTACHMENT_READ).contains(vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE));
        assert!(of(Accesses::SHADER_STORAGE_WRITE).contains(vk::AccessFlags2::SHADER_STORAGE_READ));
        assert_eq!(of(Accesses::SHADER_STORAGE_READ), vk::AccessFlags2::SHADER_STORAGE_READ);
    }

    #[test]
    fn every_format_is_the_one_of_its_name() {
        for format in Format::all() {
            assert_eq!(format!("{:?}", super::format(format)), format.vulkan_name().to_uppercase());
        }
    }

    #[test]
    fn builds_read_their_inputs_as_shader_reads() {
        let (build, read) = (Stages::ACCELERATION_STRUCTURE_BUILD, Accesses::SHADER_STORAGE_READ);
        assert_eq!(accesses(build, read), vk::AccessFlags2::SHADER_READ);
        assert_eq!(accesses(Stages::COMPUTE_SHADER, read), vk::AccessFlags2::SHADER_STORAGE_READ);
        let other = Accesses::ACCELERATION_STRUCTURE_READ;
        let both = vk::AccessFlags2::SHADER_READ | vk::AccessFlags2::ACCELERATION_STRUCTURE_READ_KHR;
        assert_eq!(accesses(build, read | other), both);
    }
}
