//! Features and extensions that a caller's device was made with, as its create info lists them.

use std::ffi::{CStr, CString};

use ash::{ext, khr, vk};

use super::capability;
use crate::device::enabled::{Enabled, Rays};
use crate::error::Error;

/// What a caller's device was made with: rgraph uses that and nothing else, and refuses work that needs more.
///
/// [`EnabledFeatures::of`] reads the create info that the engine gave to `vkCreateDevice`; without it,
/// [`EnabledFeatures::required`] is the least, to which features and extensions are added by name.
#[derive(Clone, Debug)]
pub struct EnabledFeatures {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    mesh: vk::PhysicalDeviceMeshShaderFeaturesEXT<'static>,
    structures: vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'static>,
    queries: vk::PhysicalDeviceRayQueryFeaturesKHR<'static>,
    pipelines: vk::PhysicalDeviceRayTracingPipelineFeaturesKHR<'static>,
    id: vk::PhysicalDevicePresentIdFeaturesKHR<'static>,
    wait: vk::PhysicalDevicePresentWaitFeaturesKHR<'static>,
    extensions: Vec<CString>,
}

// SAFETY: the pointers of the structs are null: `none` makes them so, and only bits are added.
unsafe impl Send for EnabledFeatures {}
// SAFETY: as above.
unsafe impl Sync for EnabledFeatures {}

/// A struct of a chain as what it is.
macro_rules! read {
    ($base:ident, $kind:ident) => {
        // SAFETY: it is of that type.
        unsafe { &*std::ptr::from_ref($base).cast::<vk::$kind<'_>>() }
    };
}

/// Finds a field by Vulkan's name of it.
macro_rules! by_name {
    ($($part:ident: $($field:ident)+;)+) => {
        fn field(&mut self, name: &str) -> Option<&mut vk::Bool32> {
            $($(if is_named(stringify!($field), name) { return Some(&mut self.$part.$field); })+)+
            None
        }
    };
}

/// Adds features of a struct of their own to those of a version's struct.
macro_rules! add {
    ($to:expr, $from:expr, $($field:ident)+) => {{ let from = $from; $($to.$field |= from.$field;)+ }};
}

impl EnabledFeatures {
    /// The features that rgraph needs, and nothing else: `timelineSemaphore`, `synchronization2`, `dynamicRendering`,
    /// `maintenance4`, `shaderZeroInitializeWorkgroupMemory`. Every device of Vulkan 1.3 has them.
    pub fn required() -> Self {
        let mut out = Self::none();
        out.v12.timeline_semaphore = vk::TRUE;
        out.v13 = out.v13.synchronization2(true).dynamic_rendering(true).maintenance4(true);
        out.v13.shader_zero_initialize_workgroup_memory = vk::TRUE;
        out
    }

    /// No feature, no extension; no pointers.
    fn none() -> Self {
        Self {
            core: vk::PhysicalDeviceFeatures::default(),
            v11: vk::PhysicalDeviceVulkan11Features::default(),
            v12: vk::PhysicalDeviceVulkan12Features::default(),
            v13: vk::PhysicalDeviceVulkan13Features::default(),
            mesh: vk::PhysicalDeviceMeshShaderFeaturesEXT::default(),
            structures: vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default(),
            queries: vk::PhysicalDeviceRayQueryFeaturesKHR::default(),
            pipelines: vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default(),
            id: vk::PhysicalDevicePresentIdFeaturesKHR::default(),
            wait: vk::PhysicalDevicePresentWaitFeaturesKHR::default(),
            extensions: Vec::new(),
        }
    }

    /// What a create info asks for: `pEnabledFeatures`, the structs of its `pNext` chain that rgraph knows (those of
    /// Vulkan 1.1 to 1.3, of the extensions that became a part of these versions, and of the extensions that rgraph
    /// uses), and the extensions. The info is read, not kept.
    ///
    /// # Safety
    /// All that the info points to is valid, each struct of the chain with its type.
    pub unsafe fn of(info: &vk::DeviceCreateInfo<'_>) -> Self {
        let mut out = Self::none();
        // SAFETY: null, or valid by the caller's word.
        if let Some(core) = unsafe { info.p_enabled_features.as_ref() } {
            out.core = *core;
        }
        if !info.pp_enabled_extension_names.is_null() {
            // SAFETY: the info says how many there are.
            let names = unsafe {
                std::slice::from_raw_parts(info.pp_enabled_extension_names, info.enabled_extension_count as usize)
            };
            // SAFETY: each is a text with an end.
            out.extensions = names.iter().map(|name| unsafe { CStr::from_ptr(*name) }.to_owned()).collect();
        }
        let mut next = info.p_next.cast::<vk::BaseInStructure<'_>>();
        // SAFETY: null, or a struct that begins with its type and the next pointer.
        while let Some(base) = unsafe { next.as_ref() } {
            // SAFETY: the caller says that the type is right.
            unsafe { out.add(base) };
            next = base.p_next;
        }
        out
    }

    /// Adds the features of a struct of a chain.
    ///
    /// # Safety
    /// It is of the type that it says.
    unsafe fn add(&mut self, base: &vk::BaseInStructure<'_>) {
        use vk::StructureType as T;
        let (v11, v12, v13) = (&mut self.v11, &mut self.v12, &mut self.v13);
        match base.s_type {
            T::PHYSICAL_DEVICE_FEATURES_2 => self.core = read!(base, PhysicalDeviceFeatures2).features,
            T::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES => {
                add!(v11, read!(base, PhysicalDeviceVulkan11Features),
                    storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access storage_push_constant16
                    storage_input_output16 multiview shader_draw_parameters);
            }
            T::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                add!(v12, read!(base, PhysicalDeviceVulkan12Features),
                    timeline_semaphore host_query_reset shader_float16 shader_int8 storage_buffer8_bit_access
                    uniform_and_storage_buffer8_bit_access storage_push_constant8 shader_buffer_int64_atomics
                    vulkan_memory_model descriptor_indexing runtime_descriptor_array separate_depth_stencil_layouts
                    buffer_device_address shader_input_attachment_array_dynamic_indexing shader_uniform_texel_buffer_array_dynamic_indexing
                    shader_storage_texel_buffer_array_dynamic_indexing shader_uniform_buffer_array_non_uniform_indexing
                    shader_sampled_image_array_non_uniform_indexing shader_storage_buffer_array_non_uniform_indexing
                    shader_storage_image_array_non_uniform_indexing shader_input_attachment_array_non_uniform_indexing
                    shader_uniform_texel_buffer_array_non_uniform_indexing shader_storage_texel_buffer_array_non_uniform_indexing);
            }
            T::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
                add!(v13, read!(base, PhysicalDeviceVulkan13Features),
                    synchronization2 dynamic_rendering maintenance4 shader_zero_initialize_workgroup_memory);
            }
            T::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES => {
                add!(v11, read!(base, PhysicalDevice16BitStorageFeatures),
                    storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access storage_push_constant16
                    storage_input_output16);
            }
            T::PHYSICAL_DEVICE_MULTIVIEW_FEATURES => add!(v11, read!(base, PhysicalDeviceMultiviewFeatures), multiview),
            T::PHYSICAL_DEVICE_SHADER_DRAW_PARAMETERS_FEATURES => {
                add!(v11, read!(base, PhysicalDeviceShaderDrawParametersFeatures), shader_draw_parameters);
            }
            T::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES => {
                add!(v12, read!(base, PhysicalDevice8BitStorageFeatures),
                    storage_buffer8_bit_access uniform_and_storage_buffer8_bit_access storage_push_constant8);
            }
            T::PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES => {
                add!(v12, read!(base, PhysicalDeviceShaderFloat16Int8Features), shader_float16 shader_int8);
            }
            T::PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES => {
                add!(v12, read!(base, PhysicalDeviceShaderAtomicInt64Features), shader_buffer_int64_atomics);
            }
            T::PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES => {
                add!(v12, read!(base, PhysicalDeviceDescriptorIndexingFeatures), runtime_descriptor_array
                    shader_input_attachment_array_dynamic_indexing shader_uniform_texel_buffer_array_dynamic_indexing
                    shader_storage_texel_buffer_array_dynamic_indexing shader_uniform_buffer_array_non_uniform_indexing
                    shader_sampled_image_array_non_uniform_indexing shader_storage_buffer_array_non_uniform_indexing
                    shader_storage_image_array_non_uniform_indexing shader_input_attachment_array_non_uniform_indexing
                    shader_uniform_texel_buffer_array_non_uniform_indexing shader_storage_texel_buffer_array_non_uniform_indexing);
            }
            T::PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES => {
                add!(v12, read!(base, PhysicalDeviceVulkanMemoryModelFeatures), vulkan_memory_model);
            }
            T::PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES => {
                add!(v12, read!(base, PhysicalDeviceHostQueryResetFeatures), host_query_reset);
            }
            T::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES => {
                add!(v12, read!(base, PhysicalDeviceTimelineSemaphoreFeatures), timeline_semaphore);
            }
            T::PHYSICAL_DEVICE_SEPARATE_DEPTH_STENCIL_LAYOUTS_FEATURES => {
                add!(
                    v12,
                    read!(base, PhysicalDeviceSeparateDepthStencilLayoutsFeatures),
                    separate_depth_stencil_layouts
                );
            }
            T::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES => {
                add!(v13, read!(base, PhysicalDeviceSynchronization2Features), synchronization2);
            }
            T::PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES => {
                add!(v13, read!(base, PhysicalDeviceDynamicRenderingFeatures), dynamic_rendering);
            }
            T::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES => {
                add!(v13, read!(base, PhysicalDeviceMaintenance4Features), maintenance4);
            }
            T::PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES => {
                add!(
                    v13,
                    read!(base, PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures),
                    shader_zero_initialize_workgroup_memory
                );
            }
            T::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES => {
                add!(v12, read!(base, PhysicalDeviceBufferDeviceAddressFeatures), buffer_device_address);
            }
            // SAFETY: as above.
            _ => unsafe { self.add_of_extension(base) },
        }
    }

    /// The same for structs of extensions.
    ///
    /// # Safety
    /// As of [`EnabledFeatures::add`].
    unsafe fn add_of_extension(&mut self, base: &vk::BaseInStructure<'_>) {
        use vk::StructureType as T;
        match base.s_type {
            T::PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT => {
                add!(self.mesh, read!(base, PhysicalDeviceMeshShaderFeaturesEXT), mesh_shader task_shader);
            }
            T::PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR => {
                let from = read!(base, PhysicalDeviceAccelerationStructureFeaturesKHR);
                add!(self.structures, from, acceleration_structure);
            }
            T::PHYSICAL_DEVICE_RAY_QUERY_FEATURES_KHR => {
                add!(self.queries, read!(base, PhysicalDeviceRayQueryFeaturesKHR), ray_query);
            }
            T::PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR => {
                add!(self.pipelines, read!(base, PhysicalDeviceRayTracingPipelineFeaturesKHR), ray_tracing_pipeline);
            }
            T::PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR => {
                add!(self.id, read!(base, PhysicalDevicePresentIdFeaturesKHR), present_id);
            }
            T::PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR => {
                add!(self.wait, read!(base, PhysicalDevicePresentWaitFeaturesKHR), present_wait);
            }
            _ => {}
        }
    }

    by_name! {
        core: robust_buffer_access full_draw_index_uint32 image_cube_array independent_blend geometry_shader
            tessellation_shader sample_rate_shading dual_src_blend logic_op multi_draw_indirect
            draw_indirect_first_instance depth_clamp depth_bias_clamp fill_mode_non_solid depth_bounds wide_lines
            large_points alpha_to_one multi_viewport sampler_anisotropy texture_compression_etc2
            texture_compression_astc_ldr texture_compression_bc occlusion_query_precise pipeline_statistics_query
            vertex_pipeline_stores_and_atomics fragment_stores_and_atomics shader_tessellation_and_geometry_point_size
            shader_image_gather_extended shader_storage_image_extended_formats shader_storage_image_multisample
            shader_storage_image_read_without_format shader_storage_image_write_without_format
            shader_uniform_buffer_array_dynamic_indexing shader_sampled_image_array_dynamic_indexing
            shader_storage_buffer_array_dynamic_indexing shader_storage_image_array_dynamic_indexing
            shader_clip_distance shader_cull_distance shader_float64 shader_int64 shader_int16 shader_resource_residency
            shader_resource_min_lod variable_multisample_rate inherited_queries;
        v11: storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access storage_push_constant16
            storage_input_output16 multiview shader_draw_parameters;
        v12: timeline_semaphore host_query_reset shader_float16 shader_int8 storage_buffer8_bit_access
            uniform_and_storage_buffer8_bit_access storage_push_constant8 shader_buffer_int64_atomics
            vulkan_memory_model descriptor_indexing runtime_descriptor_array separate_depth_stencil_layouts
            buffer_device_address shader_input_attachment_array_dynamic_indexing shader_uniform_texel_buffer_array_dynamic_indexing
            shader_storage_texel_buffer_array_dynamic_indexing shader_uniform_buffer_array_non_uniform_indexing
            shader_sampled_image_array_non_uniform_indexing shader_storage_buffer_array_non_uniform_indexing
            shader_storage_image_array_non_uniform_indexing shader_input_attachment_array_non_uniform_indexing
            shader_uniform_texel_buffer_array_non_uniform_indexing shader_storage_texel_buffer_array_non_uniform_indexing;
        v13: synchronization2 dynamic_rendering maintenance4 shader_zero_initialize_workgroup_memory;
        mesh: mesh_shader task_shader;
        structures: acceleration_structure;
        queries: ray_query;
        pipelines: ray_tracing_pipeline;
        id: present_id;
        wait: present_wait;
    }

    /// Adds a feature by Vulkan's name of it (`samplerAnisotropy`).
    ///
    /// # Errors
    /// RG-E225 if rgraph knows no feature of that name: it would make no use of it.
    pub fn feature(mut self, name: &str) -> Result<Self, Error> {
        match self.field(name) {
            Some(field) => *field = vk::TRUE,
            None => {
                let message = format!("rgraph uses no feature \"{name}\"");
                return Err(Error::input(name, message, "leave it out, or spell it as the Vulkan specification does"));
            }
        }
        Ok(self)
    }

    /// Adds an extension of the device.
    #[must_use]
    pub fn extension(mut self, name: &CStr) -> Self {
        if !self.has_extension(name) {
            self.extensions.push(name.to_owned());
        }
        self
    }

    /// Whether the device was made with an extension.
    pub fn has_extension(&self, name: &CStr) -> bool {
        self.extensions.iter().any(|one| **one == *name)
    }

    /// Features of [`EnabledFeatures::required`] that are off, by Vulkan's names: a library that makes the device for
    /// both adds them.
    pub fn missing(&self) -> Vec<&'static str> {
        let needs = [
            ("timelineSemaphore", self.v12.timeline_semaphore),
            ("synchronization2", self.v13.synchronization2),
            ("dynamicRendering", self.v13.dynamic_rendering),
            ("maintenance4", self.v13.maintenance4),
            ("shaderZeroInitializeWorkgroupMemory", self.v13.shader_zero_initialize_workgroup_memory),
        ];
        needs.into_iter().filter(|(_, on)| *on != vk::TRUE).map(|(name, _)| name).collect()
    }

    /// What the runtime switches on.
    pub(super) fn enabled(&self) -> Enabled {
        let has = |name| self.has_extension(name);
        let on = |feature: vk::Bool32| feature == vk::TRUE;
        let structures = has(khr::acceleration_structure::NAME)
            && on(self.structures.acceleration_structure & self.v12.buffer_device_address);
        let (mesh, id, wait) = (&self.mesh, self.id.present_id, self.wait.present_wait);
        let has_mesh = has(ext::mesh_shader::NAME) && mesh.mesh_shader & mesh.task_shader == vk::TRUE;
        let rays = Rays {
            structures,
            queries: structures && has(khr::ray_query::NAME) && on(self.queries.ray_query),
            pipelines: structures && has(khr::ray_tracing_pipeline::NAME) && on(self.pipelines.ray_tracing_pipeline),
        };
        Enabled {
            core: self.core,
            host_query_reset: self.v12.host_query_reset == vk::TRUE,
            swapchains: has(khr::swapchain::NAME),
            present_wait: has(khr::present_id::NAME) && has(khr::present_wait::NAME) && id & wait == vk::TRUE,
            mesh: has_mesh,
            rays,
            features: capability::features(&self.core, &self.v11, &self.v12, (has_mesh, rays)),
            others: capability::others(|name| self.extensions.iter().any(|own| own.to_bytes() == name.as_bytes())),
            separate_layouts: self.v12.separate_depth_stencil_layouts == vk::TRUE,
            memory_fd: has(khr::external_memory_fd::NAME),
            semaphore_fd: has(khr::external_semaphore_fd::NAME),
            host_memory: has(ext::external_memory_host::NAME),
        }
    }
}

/// Whether Vulkan's name of a field is `name`, in either spelling: `shader_int64` is `shaderInt64`.
fn is_named(field: &str, name: &str) -> bool {
    let plain = |text: &str| text.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase()).collect();
    let (field, name): (Vec<u8>, Vec<u8>) = (plain(field), plain(name));
    field == name
}
