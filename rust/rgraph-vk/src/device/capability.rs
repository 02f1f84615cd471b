//! Capabilities of SPIR-V beyond the core features: those that devices have or lack, and those that rgraph never
//! switches on.
//!
//! Source: Vulkan specification, "Capabilities" (appendix "Vulkan Environment for SPIR-V").

use ash::vk;

/// Capabilities with the feature that they need.
pub(crate) const OPTIONAL: [(u32, &str); 24] = [
    (12, "shaderBufferInt64Atomics"),
    (39, "shaderInt8"),
    (4433, "storageBuffer16BitAccess"),
    (4434, "uniformAndStorageBuffer16BitAccess"),
    (4435, "storagePushConstant16"),
    (4436, "storageInputOutput16"),
    (4448, "storageBuffer8BitAccess"),
    (4449, "uniformAndStorageBuffer8BitAccess"),
    (4450, "storagePushConstant8"),
    (4439, "multiview"),
    (5301, "shaderNonUniform (descriptorIndexing)"),
    (5303, "shaderInputAttachmentArrayDynamicIndexing"),
    (5304, "shaderUniformTexelBufferArrayDynamicIndexing"),
    (5305, "shaderStorageTexelBufferArrayDynamicIndexing"),
    (5306, "shaderUniformBufferArrayNonUniformIndexing"),
    (5307, "shaderSampledImageArrayNonUniformIndexing"),
    (5308, "shaderStorageBufferArrayNonUniformIndexing"),
    (5309, "shaderStorageImageArrayNonUniformIndexing"),
    (5310, "shaderInputAttachmentArrayNonUniformIndexing"),
    (5311, "shaderUniformTexelBufferArrayNonUniformIndexing"),
    (5312, "shaderStorageTexelBufferArrayNonUniformIndexing"),
    (5302, "runtimeDescriptorArray"),
    (5345, "vulkanMemoryModel"),
    (4427, "shaderDrawParameters"),
];

/// Capabilities of extensions and features that no device of rgraph's has: drivers crash on what is not switched on.
pub(crate) const NEVER: [(u32, &str); 5] = [
    (5347, "bufferDeviceAddress (GLSL: buffer_reference)"),
    (5266, "VK_NV_mesh_shader"),
    (6022, "VK_KHR_cooperative_matrix"),
    (5357, "VK_NV_cooperative_matrix"),
    (5008, "VK_AMD_shader_image_load_store_lod"),
];

/// Which of [`OPTIONAL`] are missing; none where nothing is known.
pub(crate) type Lacks = [bool; OPTIONAL.len()];

/// Features of a device, as far as [`OPTIONAL`] asks for them, in its order.
pub(crate) fn lacks(
    has11: &vk::PhysicalDeviceVulkan11Features<'_>,
    has12: &vk::PhysicalDeviceVulkan12Features<'_>,
) -> Lacks {
    // By the specification every device of Vulkan 1.2 has ShaderNonUniform; drivers without any such indexing complain of it.
    let non_uniform = has12.shader_uniform_buffer_array_non_uniform_indexing
        | has12.shader_sampled_image_array_non_uniform_indexing
        | has12.shader_storage_buffer_array_non_uniform_indexing
        | has12.shader_storage_image_array_non_uniform_indexing
        | has12.shader_input_attachment_array_non_uniform_indexing
        | has12.shader_uniform_texel_buffer_array_non_uniform_indexing
        | has12.shader_storage_texel_buffer_array_non_uniform_indexing;
    [
        has12.shader_buffer_int64_atomics,
        has12.shader_int8,
        has11.storage_buffer16_bit_access,
        has11.uniform_and_storage_buffer16_bit_access,
        has11.storage_push_constant16,
        has11.storage_input_output16,
        has12.storage_buffer8_bit_access,
        has12.uniform_and_storage_buffer8_bit_access,
        has12.storage_push_constant8,
        has11.multiview,
        has12.descriptor_indexing | non_uniform,
        has12.shader_input_attachment_array_dynamic_indexing,
        has12.shader_uniform_texel_buffer_array_dynamic_indexing,
        has12.shader_storage_texel_buffer_array_dynamic_indexing,
        has12.shader_uniform_buffer_array_non_uniform_indexing,
        has12.shader_sampled_image_array_non_uniform_indexing,
        has12.shader_storage_buffer_array_non_uniform_indexing,
        has12.shader_storage_image_array_non_uniform_indexing,
        has12.shader_input_attachment_array_non_uniform_indexing,
        has12.shader_uniform_texel_buffer_array_non_uniform_indexing,
        has12.shader_storage_texel_buffer_array_non_uniform_indexing,
        has12.runtime_descriptor_array,
        has12.vulkan_memory_model,
        has11.shader_draw_parameters,
    ]
    .map(|has| has != vk::TRUE)
}
