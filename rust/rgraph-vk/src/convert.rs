//! The planner's words as Vulkan's numbers. The masks of stages and accesses are leaf by leaf: what a plan says is
//! what the driver hears, and [`visible_to`] adds the accesses that the validation layers ask for beyond that.

use ash::vk;
use rgraph_plan::access::{Accesses, Aspects, Layout, Load, ResolveMode, Stages, Store};
use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;
use rgraph_work::vertex::VertexFormat;

/// Pipeline stages.
pub(crate) fn stages(stages: Stages) -> vk::PipelineStageFlags2 {
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

/// Access kinds at stages. Builds of acceleration structures read their inputs as shader reads, not as reads of storage
/// (Vulkan 1.3, "Supported Access Types").
pub(crate) fn accesses(stages: Stages, accesses: Accesses) -> vk::AccessFlags2 {
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

/// Accesses that something is made visible to: what is visible to storage writes is to storage reads too and the other
/// way round, and what is visible to reads of attachments is to their writes. Caches do not tell them apart. The
/// validation layer cannot always see that a shader only writes; and a run may clear an attachment that the plan loads.
///
/// A barrier needs no access for what is only written behind it: a write has to be available to the next one, not
/// visible (Vulkan 1.3, Appendix B, "Location-Ordered"). But layers follow a chain of barriers to a later write only if
/// the last names it, as soon as they do not see the read between two writes: it was declared and not done, or its pass
/// was off. So such a barrier names the writes of its stages.
pub(crate) fn visible_to(stages: Stages, mask: Accesses) -> vk::AccessFlags2 {
    if mask.is_empty() {
        return accesses(stages, writes_of(stages));
    }
    let pairs = [
        (Accesses::SHADER_STORAGE_WRITE, Accesses::SHADER_STORAGE_READ),
        (Accesses::SHADER_STORAGE_READ, Accesses::SHADER_STORAGE_WRITE),
        (Accesses::COLOR_ATTACHMENT_READ, Accesses::COLOR_ATTACHMENT_WRITE),
        (Accesses::DEPTH_STENCIL_ATTACHMENT_READ, Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE),
    ];
    let others = pairs.into_iter().filter(|(named, _)| mask.contains(*named));
    accesses(stages, others.fold(mask, |all, (_, other)| all | other))
}

/// How stages write to memory (Vulkan 1.3, "Supported Access Types").
fn writes_of(stages: Stages) -> Accesses {
    let tests = Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS;
    let before = Stages::VERTEX_SHADER | Stages::TESSELLATION_CONTROL_SHADER | Stages::TESSELLATION_EVALUATION_SHADER;
    let before = before | Stages::GEOMETRY_SHADER | Stages::TASK_SHADER | Stages::MESH_SHADER;
    let shaders = before | Stages::FRAGMENT_SHADER | Stages::COMPUTE_SHADER | Stages::RAY_TRACING_SHADER;
    let kinds = [
        (tests, Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE),
        (Stages::COLOR_ATTACHMENT_OUTPUT, Accesses::COLOR_ATTACHMENT_WRITE),
        (Stages::ACCELERATION_STRUCTURE_BUILD, Accesses::ACCELERATION_STRUCTURE_WRITE),
        (Stages::ALL_TRANSFER, Accesses::TRANSFER_WRITE),
        (shaders, Accesses::SHADER_STORAGE_WRITE),
    ];
    let named = kinds.into_iter().filter(|(of, _)| stages.intersects(*of));
    named.fold(Accesses::empty(), |all, (_, write)| all | write)
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
pub(crate) fn layout(layout: Layout) -> vk::ImageLayout {
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
pub(crate) fn aspects(aspects: Aspects) -> vk::ImageAspectFlags {
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
pub(crate) fn load(load: Load) -> vk::AttachmentLoadOp {
    match load {
        Load::Clear => vk::AttachmentLoadOp::CLEAR,
        Load::Load => vk::AttachmentLoadOp::LOAD,
        Load::Discard => vk::AttachmentLoadOp::DONT_CARE,
    }
}

/// What a render pass does with new contents.
pub(crate) fn store(store: Store) -> vk::AttachmentStoreOp {
    match store {
        Store::Store => vk::AttachmentStoreOp::STORE,
        Store::Discard => vk::AttachmentStoreOp::DONT_CARE,
        Store::Nothing => vk::AttachmentStoreOp::NONE,
    }
}

/// How samples become one.
pub(crate) fn resolve_mode(mode: ResolveMode) -> vk::ResolveModeFlags {
    match mode {
        ResolveMode::Average => vk::ResolveModeFlags::AVERAGE,
        ResolveMode::SampleZero => vk::ResolveModeFlags::SAMPLE_ZERO,
        ResolveMode::Min => vk::ResolveModeFlags::MIN,
        ResolveMode::Max => vk::ResolveModeFlags::MAX,
    }
}

/// The format of a vertex attribute.
pub(crate) fn vertex_format(format: VertexFormat) -> vk::Format {
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

/// One table of texel formats: ours, and Vulkan's name.
macro_rules! formats {
    ($($ours:ident => $vulkans:ident,)+) => {
        /// Texel formats.
        pub(crate) fn format(format: Format) -> vk::Format {
            match format {
                $(Format::$ours => vk::Format::$vulkans,)+
            }
        }
    };
}

formats! {
    R8unorm => R8_UNORM, R8snorm => R8_SNORM, R8uint => R8_UINT, R8sint => R8_SINT,
    R16unorm => R16_UNORM, R16snorm => R16_SNORM, R16uint => R16_UINT, R16sint => R16_SINT, R16float => R16_SFLOAT,
    Rg8unorm => R8G8_UNORM, Rg8snorm => R8G8_SNORM, Rg8uint => R8G8_UINT, Rg8sint => R8G8_SINT,
    R32uint => R32_UINT, R32sint => R32_SINT, R32float => R32_SFLOAT,
    Rg16unorm => R16G16_UNORM, Rg16snorm => R16G16_SNORM, Rg16uint => R16G16_UINT, Rg16sint => R16G16_SINT,
    Rg16float => R16G16_SFLOAT,
    Rgba8unorm => R8G8B8A8_UNORM, Rgba8unormSrgb => R8G8B8A8_SRGB, Rgba8snorm => R8G8B8A8_SNORM,
    Rgba8uint => R8G8B8A8_UINT, Rgba8sint => R8G8B8A8_SINT,
    Bgra8unorm => B8G8R8A8_UNORM, Bgra8unormSrgb => B8G8R8A8_SRGB,
    Rgb9e5ufloat => E5B9G9R9_UFLOAT_PACK32, Rgb10a2uint => A2B10G10R10_UINT_PACK32,
    Rgb10a2unorm => A2B10G10R10_UNORM_PACK32, Rg11b10ufloat => B10G11R11_UFLOAT_PACK32,
    Rg32uint => R32G32_UINT, Rg32sint => R32G32_SINT, Rg32float => R32G32_SFLOAT,
    Rgba16unorm => R16G16B16A16_UNORM, Rgba16snorm => R16G16B16A16_SNORM, Rgba16uint => R16G16B16A16_UINT,
    Rgba16sint => R16G16B16A16_SINT, Rgba16float => R16G16B16A16_SFLOAT,
    Rgba32uint => R32G32B32A32_UINT, Rgba32sint => R32G32B32A32_SINT, Rgba32float => R32G32B32A32_SFLOAT,
    Stencil8 => S8_UINT, Depth16unorm => D16_UNORM, Depth24plus => X8_D24_UNORM_PACK32,
    Depth24plusStencil8 => D24_UNORM_S8_UINT, Depth32float => D32_SFLOAT, Depth32floatStencil8 => D32_SFLOAT_S8_UINT,
    Bc1RgbaUnorm => BC1_RGBA_UNORM_BLOCK, Bc1RgbaUnormSrgb => BC1_RGBA_SRGB_BLOCK,
    Bc2RgbaUnorm => BC2_UNORM_BLOCK, Bc2RgbaUnormSrgb => BC2_SRGB_BLOCK,
    Bc3RgbaUnorm => BC3_UNORM_BLOCK, Bc3RgbaUnormSrgb => BC3_SRGB_BLOCK,
    Bc4RUnorm => BC4_UNORM_BLOCK, Bc4RSnorm => BC4_SNORM_BLOCK,
    Bc5RgUnorm => BC5_UNORM_BLOCK, Bc5RgSnorm => BC5_SNORM_BLOCK,
    Bc6hRgbUfloat => BC6H_UFLOAT_BLOCK, Bc6hRgbFloat => BC6H_SFLOAT_BLOCK,
    Bc7RgbaUnorm => BC7_UNORM_BLOCK, Bc7RgbaUnormSrgb => BC7_SRGB_BLOCK,
    Etc2Rgb8Unorm => ETC2_R8G8B8_UNORM_BLOCK, Etc2Rgb8UnormSrgb => ETC2_R8G8B8_SRGB_BLOCK,
    Etc2Rgb8a1Unorm => ETC2_R8G8B8A1_UNORM_BLOCK, Etc2Rgb8a1UnormSrgb => ETC2_R8G8B8A1_SRGB_BLOCK,
    Etc2Rgba8Unorm => ETC2_R8G8B8A8_UNORM_BLOCK, Etc2Rgba8UnormSrgb => ETC2_R8G8B8A8_SRGB_BLOCK,
    EacR11unorm => EAC_R11_UNORM_BLOCK, EacR11snorm => EAC_R11_SNORM_BLOCK, EacRg11unorm => EAC_R11G11_UNORM_BLOCK,
    EacRg11snorm => EAC_R11G11_SNORM_BLOCK,
    Astc4x4Unorm => ASTC_4X4_UNORM_BLOCK, Astc4x4UnormSrgb => ASTC_4X4_SRGB_BLOCK,
    Astc5x4Unorm => ASTC_5X4_UNORM_BLOCK, Astc5x4UnormSrgb => ASTC_5X4_SRGB_BLOCK,
    Astc5x5Unorm => ASTC_5X5_UNORM_BLOCK, Astc5x5UnormSrgb => ASTC_5X5_SRGB_BLOCK,
    Astc6x5Unorm => ASTC_6X5_UNORM_BLOCK, Astc6x5UnormSrgb => ASTC_6X5_SRGB_BLOCK,
    Astc6x6Unorm => ASTC_6X6_UNORM_BLOCK, Astc6x6UnormSrgb => ASTC_6X6_SRGB_BLOCK,
    Astc8x5Unorm => ASTC_8X5_UNORM_BLOCK, Astc8x5UnormSrgb => ASTC_8X5_SRGB_BLOCK,
    Astc8x6Unorm => ASTC_8X6_UNORM_BLOCK, Astc8x6UnormSrgb => ASTC_8X6_SRGB_BLOCK,
    Astc8x8Unorm => ASTC_8X8_UNORM_BLOCK, Astc8x8UnormSrgb => ASTC_8X8_SRGB_BLOCK,
    Astc10x5Unorm => ASTC_10X5_UNORM_BLOCK, Astc10x5UnormSrgb => ASTC_10X5_SRGB_BLOCK,
    Astc10x6Unorm => ASTC_10X6_UNORM_BLOCK, Astc10x6UnormSrgb => ASTC_10X6_SRGB_BLOCK,
    Astc10x8Unorm => ASTC_10X8_UNORM_BLOCK, Astc10x8UnormSrgb => ASTC_10X8_SRGB_BLOCK,
    Astc10x10Unorm => ASTC_10X10_UNORM_BLOCK, Astc10x10UnormSrgb => ASTC_10X10_SRGB_BLOCK,
    Astc12x10Unorm => ASTC_12X10_UNORM_BLOCK, Astc12x10UnormSrgb => ASTC_12X10_SRGB_BLOCK,
    Astc12x12Unorm => ASTC_12X12_UNORM_BLOCK, Astc12x12UnormSrgb => ASTC_12X12_SRGB_BLOCK,
}

/// Samples per texel; a power of two from 1 to 64, which validation of graphs has made sure of.
pub(crate) fn samples(samples: u32) -> vk::SampleCountFlags {
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
        assert!(of(Accesses::SHADER_STORAGE_READ).contains(vk::AccessFlags2::SHADER_STORAGE_WRITE));
        assert_eq!(of(Accesses::SHADER_SAMPLED_READ), vk::AccessFlags2::SHADER_SAMPLED_READ);
    }

    #[test]
    fn a_barrier_that_only_orders_names_the_writes_behind_it() {
        let of = |stages| visible_to(stages, Accesses::empty());
        assert_eq!(of(Stages::empty()), vk::AccessFlags2::empty());
        assert_eq!(of(Stages::VERTEX_ATTRIBUTE_INPUT | Stages::HOST), vk::AccessFlags2::empty());
        assert_eq!(of(Stages::COMPUTE_SHADER), vk::AccessFlags2::SHADER_STORAGE_WRITE);
        assert_eq!(of(Stages::COPY), vk::AccessFlags2::TRANSFER_WRITE);
        let target = vk::AccessFlags2::COLOR_ATTACHMENT_WRITE | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE;
        assert_eq!(of(Stages::COLOR_ATTACHMENT_OUTPUT | Stages::LATE_FRAGMENT_TESTS), target);
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
