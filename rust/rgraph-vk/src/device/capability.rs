//! Features that shaders ask for, of a device; capabilities of SPIR-V that need none, and those that rgraph never
//! switches on.
//!
//! Source: Vulkan specification, "Capabilities" (appendix "Vulkan Environment for SPIR-V").

use ash::vk;
use rgraph_plan::feature::Features;

use crate::device::enabled::Rays;

/// Capabilities of extensions and features that no device of rgraph's has: drivers crash on what is not switched on. A
/// caller's own device may have the extensions.
pub(crate) const NEVER: [(u32, &str); 48] = [
    (36, "rectangle images (image2DRect), which Vulkan has not"),
    (37, "rectangle images (sampler2DRect), which Vulkan has not"),
    (53, "VK_EXT_transform_feedback"),
    (54, "VK_EXT_transform_feedback"),
    (4165, "VK_ARM_shader_core_builtins"),
    (4166, "VK_EXT_shader_tile_image"),
    (4167, "VK_EXT_shader_tile_image"),
    (4168, "VK_EXT_shader_tile_image"),
    (4174, "VK_ARM_tensors"),
    (4212, "VK_EXT_shader_float8"),
    (4422, "VK_KHR_fragment_shading_rate"),
    (4428, "VK_KHR_workgroup_memory_explicit_layout"),
    (4429, "VK_KHR_workgroup_memory_explicit_layout"),
    (4430, "VK_KHR_workgroup_memory_explicit_layout"),
    (4447, "VK_EXT_post_depth_coverage"),
    (4473, "VK_KHR_shader_untyped_pointers"),
    (4484, "VK_QCOM_image_processing"),
    (4485, "VK_QCOM_image_processing"),
    (4486, "VK_QCOM_image_processing"),
    (4495, "VK_QCOM_tile_shading"),
    (5008, "VK_AMD_gpu_shader_half_float_fetch"),
    (5009, "VK_AMD_texture_gather_bias_lod"),
    (5010, "VK_AMD_shader_fragment_mask"),
    (5013, "VK_EXT_shader_stencil_export"),
    (5015, "VK_AMD_shader_image_load_store_lod"),
    (5016, "VK_EXT_shader_image_atomic_int64"),
    (5055, "VK_KHR_shader_clock"),
    (5116, "VK_KHR_shader_bfloat16"),
    (5128, "VK_EXT_descriptor_heap"),
    (5265, "VK_EXT_conservative_rasterization"),
    (5266, "VK_NV_mesh_shader"),
    (5282, "VK_NV_shader_image_footprint"),
    (5284, "VK_KHR_fragment_shader_barycentric"),
    (5347, "bufferDeviceAddress (GLSL: buffer_reference)"),
    (5357, "VK_NV_cooperative_matrix"),
    (5363, "VK_EXT_fragment_shader_interlock"),
    (5372, "VK_EXT_fragment_shader_interlock"),
    (5373, "VK_NV_shader_sm_builtins"),
    (5378, "VK_EXT_fragment_shader_interlock"),
    (5404, "VK_NV_shader_atomic_float16_vector"),
    (5425, "VK_EXT_shader_long_vector"),
    (5612, "VK_EXT_shader_atomic_float2"),
    (5613, "VK_EXT_shader_atomic_float2"),
    (5616, "VK_EXT_shader_atomic_float2"),
    (6022, "VK_KHR_cooperative_matrix"),
    (6033, "VK_EXT_shader_atomic_float"),
    (6034, "VK_EXT_shader_atomic_float"),
    (6095, "VK_EXT_shader_atomic_float2"),
];

/// Capabilities that need no feature, or one that rgraph switches on wherever a device has it and that devices of
/// Vulkan 1.3 have: shaders, their images and texel buffers, subgroups, dot products, and the like.
pub(crate) const ALWAYS: [u32; 36] = [
    0, 1, 40, 43, 44, 46, 47, 50, 51, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 4423, 4431, 4437, 4441, 4442, 4445, 4464,
    4465, 4466, 4467, 4468, 5346, 5379, 6016, 6017, 6018, 6019,
];

/// Which of [`NEVER`] a caller's device was made for, by its extensions: a bit for each.
pub(crate) fn others(has: impl Fn(&str) -> bool) -> u64 {
    let bits = NEVER.iter().enumerate().filter(|(_, (_, name))| has(name)).map(|(at, _)| 1 << at);
    bits.fold(0, |all, bit: u64| all | bit)
}

/// Features of a device that code of shaders asks for.
pub(crate) fn features(
    core: &vk::PhysicalDeviceFeatures,
    has11: &vk::PhysicalDeviceVulkan11Features<'_>,
    has12: &vk::PhysicalDeviceVulkan12Features<'_>,
    (mesh, rays): (bool, Rays),
) -> Features {
    // By the specification every device of Vulkan 1.2 has ShaderNonUniform; drivers without any such indexing complain
    // of it.
    let non_uniform = has12.shader_uniform_buffer_array_non_uniform_indexing
        | has12.shader_sampled_image_array_non_uniform_indexing
        | has12.shader_storage_buffer_array_non_uniform_indexing
        | has12.shader_storage_image_array_non_uniform_indexing
        | has12.shader_input_attachment_array_non_uniform_indexing
        | has12.shader_uniform_texel_buffer_array_non_uniform_indexing
        | has12.shader_storage_texel_buffer_array_non_uniform_indexing;
    let extensions = [
        ("accelerationStructure", rays.structures),
        ("rayTracingPipeline", rays.pipelines),
        ("rayQuery", rays.queries),
        ("meshShader", mesh),
    ];
    let others = of_core(core).into_iter().chain(of_versions(has11, has12));
    let others = others.chain([("descriptorIndexing", has12.descriptor_indexing | non_uniform)]);
    let others = others.map(|(name, has)| (name, has == vk::TRUE));
    let on = extensions.into_iter().chain(others).filter(|(_, has)| *has);
    on.filter_map(|(name, _)| Features::from_name(name)).collect()
}

fn of_core(core: &vk::PhysicalDeviceFeatures) -> [(&'static str, vk::Bool32); 24] {
    [
        ("geometryShader", core.geometry_shader),
        ("tessellationShader", core.tessellation_shader),
        ("shaderTessellationAndGeometryPointSize", core.shader_tessellation_and_geometry_point_size),
        ("shaderFloat64", core.shader_float64),
        ("shaderInt64", core.shader_int64),
        ("shaderInt16", core.shader_int16),
        ("shaderImageGatherExtended", core.shader_image_gather_extended),
        ("shaderStorageImageMultisample", core.shader_storage_image_multisample),
        ("shaderUniformBufferArrayDynamicIndexing", core.shader_uniform_buffer_array_dynamic_indexing),
        ("shaderSampledImageArrayDynamicIndexing", core.shader_sampled_image_array_dynamic_indexing),
        ("shaderStorageBufferArrayDynamicIndexing", core.shader_storage_buffer_array_dynamic_indexing),
        ("shaderStorageImageArrayDynamicIndexing", core.shader_storage_image_array_dynamic_indexing),
        ("shaderClipDistance", core.shader_clip_distance),
        ("shaderCullDistance", core.shader_cull_distance),
        ("imageCubeArray", core.image_cube_array),
        ("sampleRateShading", core.sample_rate_shading),
        ("shaderResourceResidency", core.shader_resource_residency),
        ("shaderResourceMinLod", core.shader_resource_min_lod),
        ("shaderStorageImageExtendedFormats", core.shader_storage_image_extended_formats),
        ("shaderStorageImageReadWithoutFormat", core.shader_storage_image_read_without_format),
        ("shaderStorageImageWriteWithoutFormat", core.shader_storage_image_write_without_format),
        ("multiViewport", core.multi_viewport),
        ("fragmentStoresAndAtomics", core.fragment_stores_and_atomics),
        ("vertexPipelineStoresAndAtomics", core.vertex_pipeline_stores_and_atomics),
    ]
}

fn of_versions(
    has11: &vk::PhysicalDeviceVulkan11Features<'_>,
    has12: &vk::PhysicalDeviceVulkan12Features<'_>,
) -> [(&'static str, vk::Bool32); 24] {
    [
        ("shaderFloat16", has12.shader_float16),
        ("shaderBufferInt64Atomics", has12.shader_buffer_int64_atomics),
        ("shaderInt8", has12.shader_int8),
        ("storageBuffer16BitAccess", has11.storage_buffer16_bit_access),
        ("uniformAndStorageBuffer16BitAccess", has11.uniform_and_storage_buffer16_bit_access),
        ("storagePushConstant16", has11.storage_push_constant16),
        ("storageInputOutput16", has11.storage_input_output16),
        ("storageBuffer8BitAccess", has12.storage_buffer8_bit_access),
        ("uniformAndStorageBuffer8BitAccess", has12.uniform_and_storage_buffer8_bit_access),
        ("storagePushConstant8", has12.storage_push_constant8),
        ("multiview", has11.multiview),
        ("shaderInputAttachmentArrayDynamicIndexing", has12.shader_input_attachment_array_dynamic_indexing),
        ("shaderUniformTexelBufferArrayDynamicIndexing", has12.shader_uniform_texel_buffer_array_dynamic_indexing),
        ("shaderStorageTexelBufferArrayDynamicIndexing", has12.shader_storage_texel_buffer_array_dynamic_indexing),
        ("shaderUniformBufferArrayNonUniformIndexing", has12.shader_uniform_buffer_array_non_uniform_indexing),
        ("shaderSampledImageArrayNonUniformIndexing", has12.shader_sampled_image_array_non_uniform_indexing),
        ("shaderStorageBufferArrayNonUniformIndexing", has12.shader_storage_buffer_array_non_uniform_indexing),
        ("shaderStorageImageArrayNonUniformIndexing", has12.shader_storage_image_array_non_uniform_indexing),
        ("shaderInputAttachmentArrayNonUniformIndexing", has12.shader_input_attachment_array_non_uniform_indexing),
        (
            "shaderUniformTexelBufferArrayNonUniformIndexing",
            has12.shader_uniform_texel_buffer_array_non_uniform_indexing,
        ),
        (
            "shaderStorageTexelBufferArrayNonUniformIndexing",
            has12.shader_storage_texel_buffer_array_non_uniform_indexing,
        ),
        ("runtimeDescriptorArray", has12.runtime_descriptor_array),
        ("vulkanMemoryModel", has12.vulkan_memory_model),
        ("shaderDrawParameters", has11.shader_draw_parameters),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_the_table_is_asked_for() {
        let names =
            of_core(&Default::default()).into_iter().chain(of_versions(&Default::default(), &Default::default()));
        let others = ["accelerationStructure", "rayTracingPipeline", "rayQuery", "meshShader", "descriptorIndexing"];
        let asked: Features = names.map(|(name, _)| name).chain(others).filter_map(Features::from_name).collect();
        assert_eq!(asked, Features::all());
    }
}
