//! Making a logical device: which queues and features it gets, and how the planner sees it.

use std::ffi::CStr;

use ash::{ext, khr, vk};
use rgraph_plan::declared::expanded_queues;
use rgraph_plan::error::Code;
use rgraph_plan::feature::Features;
use rgraph_plan::profile::{Capabilities, LAZY_MEMORY, Limits, MemoryType, Profile, Queue as ProfileQueue};

use crate::device::DeviceOptions;
use crate::device::capability;
use crate::device::context::Context;
use crate::device::enabled::{Enabled, Rays};
use crate::device::functions::Functions;
use crate::device::physical::{self, Physical, QueueFamily};
use crate::error::{Called, DeviceError, Error};
use crate::frame::clock;
use crate::memory::is_unified;
use crate::window;

/// A device as the planner sees it: the first family with graphics, then a compute and a transfer family besides.
pub(crate) fn profile(context: &Context, device: &Physical, most: u32) -> Profile {
    use Capabilities as C;
    let families = &device.info.families;
    let graphics = families.iter().position(|one| one.capabilities.contains(C::GRAPHICS | C::COMPUTE));
    let first = graphics.or_else(|| families.iter().position(|one| one.capabilities.contains(C::COMPUTE)));
    let compute = families
        .iter()
        .position(|one| one.capabilities.contains(C::COMPUTE) && !one.capabilities.contains(C::GRAPHICS));
    let transfer = families.iter().position(|one| one.capabilities == C::TRANSFER);
    let mut queues: Vec<ProfileQueue> = Vec::new();
    for (name, family) in [("graphics", first), ("compute", compute), ("transfer", transfer)] {
        if let Some(at) = family
            && !queues.iter().any(|queue| queue.family == at as u32)
        {
            let QueueFamily { count, capabilities, .. } = families[at];
            queues.push(ProfileQueue {
                name: name.to_owned(),
                family: at as u32,
                count: count.min(most),
                capabilities,
            });
        }
    }
    // SAFETY: the physical device is of this instance.
    let limits = unsafe { context.raw().get_physical_device_properties(device.raw) }.limits;
    // SAFETY: as above.
    let memory = unsafe { context.raw().get_physical_device_memory_properties(device.raw) };
    let local = device.info.heaps.iter().filter(|heap| heap.device_local).map(|heap| heap.size).max();
    let mut kinds = vec![MemoryType { name: "device".to_owned(), heap_size: local }];
    // If the device's memory is the host's too, resources that the host uses may be among those that it does not use.
    if !is_unified(&memory) {
        kinds.push(MemoryType { name: "host".to_owned(), heap_size: None });
    }
    let lazy = |one: &vk::MemoryType| one.property_flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED);
    if memory.memory_types_as_slice().iter().any(lazy) {
        kinds.push(MemoryType { name: LAZY_MEMORY.to_owned(), heap_size: None });
    }
    Profile {
        buffer_image_granularity: limits.buffer_image_granularity.max(1),
        buffer_alignment: limits
            .min_storage_buffer_offset_alignment
            .max(limits.min_uniform_buffer_offset_alignment)
            .clamp(256, 1 << 16),
        memory: kinds,
        limits: Limits {
            max_image_2d: limits.max_image_dimension2_d,
            max_image_3d: limits.max_image_dimension3_d,
            max_image_cube: limits.max_image_dimension_cube,
            max_image_layers: limits.max_image_array_layers,
            max_color_attachments: limits.max_color_attachments,
            max_samples: 1 << samples(&limits).as_raw().checked_ilog2().unwrap_or(0),
            max_buffer: most_bytes(context, device),
            max_uniform_range: u64::from(limits.max_uniform_buffer_range),
        },
        ..Profile::new(&device.info.name, queues)
    }
}

/// Most bytes of one buffer: what the driver makes and allocates in one piece, up to 4 GiB.
fn most_bytes(context: &Context, device: &Physical) -> u64 {
    let mut whole = vk::PhysicalDeviceMaintenance4Properties::default();
    let mut piece = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut all =
        vk::PhysicalDeviceProperties2::default().push_next(&mut whole).push_next(&mut piece).push_next(&mut driver);
    // SAFETY: the device is of version 1.3, so it knows the structs.
    unsafe { context.raw().get_physical_device_properties2(device.raw, &mut all) };
    // Mesa's lavapipe (22.3) promises 4 GiB, counts bytes of copies in signed 32 bits, and dies of the first one
    // beyond.
    let counted = if driver.driver_id == vk::DriverId::MESA_LLVMPIPE { i32::MAX as u64 & !3 } else { 4 << 30 };
    let promised = [whole.max_buffer_size, piece.max_memory_allocation_size];
    promised.into_iter().filter(|promised| *promised != 0).fold(counted, u64::min)
}

/// Samples that colour and depth attachments may have.
fn samples(limits: &vk::PhysicalDeviceLimits) -> vk::SampleCountFlags {
    limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts
}

/// Whether a device has mesh and task stages.
fn has_mesh_shaders(context: &Context, device: &Physical, extensions: &[vk::ExtensionProperties]) -> bool {
    if !physical::has_extension(extensions, ext::mesh_shader::NAME) {
        return false;
    }
    let mut meshes = vk::PhysicalDeviceMeshShaderFeaturesEXT::default();
    let mut has = vk::PhysicalDeviceFeatures2::default().push_next(&mut meshes);
    // SAFETY: the device has the extension, so it knows the struct.
    unsafe { context.raw().get_physical_device_features2(device.raw, &mut has) };
    meshes.mesh_shader == vk::TRUE && meshes.task_shader == vk::TRUE
}

/// What a device can do with rays. Structures, which the others need, need addresses of buffers.
fn has_rays(context: &Context, device: &Physical, extensions: &[vk::ExtensionProperties]) -> Rays {
    let has = |name| physical::has_extension(extensions, name);
    if !has(khr::acceleration_structure::NAME) || !has(khr::deferred_host_operations::NAME) {
        return Rays::default();
    }
    let mut structures = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default();
    let mut queries = vk::PhysicalDeviceRayQueryFeaturesKHR::default();
    let mut pipelines = vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default();
    let mut core = vk::PhysicalDeviceVulkan12Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut structures).push_next(&mut core);
    let (has_queries, has_pipelines) = (has(khr::ray_query::NAME), has(khr::ray_tracing_pipeline::NAME));
    if has_queries {
        all = all.push_next(&mut queries);
    }
    if has_pipelines {
        all = all.push_next(&mut pipelines);
    }
    // SAFETY: the device has the extensions, so it knows the structs.
    unsafe { context.raw().get_physical_device_features2(device.raw, &mut all) };
    let usable = structures.acceleration_structure == vk::TRUE && core.buffer_device_address == vk::TRUE;
    Rays {
        structures: usable,
        queries: usable && queries.ray_query == vk::TRUE,
        pipelines: usable && pipelines.ray_tracing_pipeline == vk::TRUE,
    }
}

/// A device that was just made.
pub(crate) struct Created {
    pub raw: Functions,
    pub enabled: Enabled,
    pub budget: bool,
    /// The extension that reads the device's clock.
    pub clock: Option<&'static CStr>,
}

/// Features of the core that a device gets: all that it has, but sparse memory.
fn without_sparse_memory(has: vk::PhysicalDeviceFeatures) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        sparse_binding: vk::FALSE,
        sparse_residency_buffer: vk::FALSE,
        sparse_residency_image2_d: vk::FALSE,
        sparse_residency_image3_d: vk::FALSE,
        sparse_residency2_samples: vk::FALSE,
        sparse_residency4_samples: vk::FALSE,
        sparse_residency8_samples: vk::FALSE,
        sparse_residency16_samples: vk::FALSE,
        sparse_residency_aliased: vk::FALSE,
        ..has
    }
}

fn wanted_of_1_1(has11: &vk::PhysicalDeviceVulkan11Features<'_>) -> vk::PhysicalDeviceVulkan11Features<'static> {
    vk::PhysicalDeviceVulkan11Features::default()
        .storage_buffer16_bit_access(has11.storage_buffer16_bit_access == vk::TRUE)
        .uniform_and_storage_buffer16_bit_access(has11.uniform_and_storage_buffer16_bit_access == vk::TRUE)
        .storage_push_constant16(has11.storage_push_constant16 == vk::TRUE)
        .storage_input_output16(has11.storage_input_output16 == vk::TRUE)
        .variable_pointers_storage_buffer(has11.variable_pointers_storage_buffer == vk::TRUE)
        .variable_pointers(has11.variable_pointers == vk::TRUE)
        .multiview(has11.multiview == vk::TRUE)
        .shader_draw_parameters(has11.shader_draw_parameters == vk::TRUE)
}

fn wanted_of_1_2(
    has12: &vk::PhysicalDeviceVulkan12Features<'_>,
    rays: Rays,
) -> vk::PhysicalDeviceVulkan12Features<'static> {
    vk::PhysicalDeviceVulkan12Features::default()
        .timeline_semaphore(true)
        .host_query_reset(has12.host_query_reset == vk::TRUE)
        .shader_float16(has12.shader_float16 == vk::TRUE)
        .shader_int8(has12.shader_int8 == vk::TRUE)
        .storage_buffer8_bit_access(has12.storage_buffer8_bit_access == vk::TRUE)
        .uniform_and_storage_buffer8_bit_access(has12.uniform_and_storage_buffer8_bit_access == vk::TRUE)
        .storage_push_constant8(has12.storage_push_constant8 == vk::TRUE)
        .shader_buffer_int64_atomics(has12.shader_buffer_int64_atomics == vk::TRUE)
        .shader_shared_int64_atomics(has12.shader_shared_int64_atomics == vk::TRUE)
        .shader_subgroup_extended_types(has12.shader_subgroup_extended_types == vk::TRUE)
        .scalar_block_layout(has12.scalar_block_layout == vk::TRUE)
        .uniform_buffer_standard_layout(has12.uniform_buffer_standard_layout == vk::TRUE)
        .vulkan_memory_model(has12.vulkan_memory_model == vk::TRUE)
        .vulkan_memory_model_device_scope(has12.vulkan_memory_model_device_scope == vk::TRUE)
        .descriptor_indexing(has12.descriptor_indexing == vk::TRUE)
        .runtime_descriptor_array(has12.runtime_descriptor_array == vk::TRUE)
        .shader_input_attachment_array_dynamic_indexing(
            has12.shader_input_attachment_array_dynamic_indexing == vk::TRUE,
        )
        .shader_uniform_texel_buffer_array_dynamic_indexing(
            has12.shader_uniform_texel_buffer_array_dynamic_indexing == vk::TRUE,
        )
        .shader_storage_texel_buffer_array_dynamic_indexing(
            has12.shader_storage_texel_buffer_array_dynamic_indexing == vk::TRUE,
        )
        .shader_uniform_buffer_array_non_uniform_indexing(
            has12.shader_uniform_buffer_array_non_uniform_indexing == vk::TRUE,
        )
        .shader_sampled_image_array_non_uniform_indexing(
            has12.shader_sampled_image_array_non_uniform_indexing == vk::TRUE,
        )
        .shader_storage_buffer_array_non_uniform_indexing(
            has12.shader_storage_buffer_array_non_uniform_indexing == vk::TRUE,
        )
        .shader_storage_image_array_non_uniform_indexing(
            has12.shader_storage_image_array_non_uniform_indexing == vk::TRUE,
        )
        .shader_input_attachment_array_non_uniform_indexing(
            has12.shader_input_attachment_array_non_uniform_indexing == vk::TRUE,
        )
        .shader_uniform_texel_buffer_array_non_uniform_indexing(
            has12.shader_uniform_texel_buffer_array_non_uniform_indexing == vk::TRUE,
        )
        .shader_storage_texel_buffer_array_non_uniform_indexing(
            has12.shader_storage_texel_buffer_array_non_uniform_indexing == vk::TRUE,
        )
        .sampler_mirror_clamp_to_edge(has12.sampler_mirror_clamp_to_edge == vk::TRUE)
        .buffer_device_address(rays.structures)
        .shader_output_layer(has12.shader_output_layer == vk::TRUE)
        .shader_output_viewport_index(has12.shader_output_viewport_index == vk::TRUE)
        .separate_depth_stencil_layouts(has12.separate_depth_stencil_layouts == vk::TRUE)
}

fn wanted_of_1_3(has13: &vk::PhysicalDeviceVulkan13Features<'_>) -> vk::PhysicalDeviceVulkan13Features<'static> {
    vk::PhysicalDeviceVulkan13Features::default()
        .synchronization2(true)
        .dynamic_rendering(true)
        .maintenance4(true)
        .shader_zero_initialize_workgroup_memory(true)
        .robust_image_access(has13.robust_image_access == vk::TRUE)
        .shader_terminate_invocation(has13.shader_terminate_invocation == vk::TRUE)
        .shader_integer_dot_product(has13.shader_integer_dot_product == vk::TRUE)
        .subgroup_size_control(has13.subgroup_size_control == vk::TRUE)
        .shader_demote_to_helper_invocation(has13.shader_demote_to_helper_invocation == vk::TRUE)
}

/// Number of queues by family.
fn queue_counts(profile: &Profile) -> Vec<(u32, usize)> {
    let mut counts: Vec<(u32, usize)> = Vec::new();
    for queue in expanded_queues(profile) {
        match counts.iter_mut().find(|(family, _)| *family == queue.family) {
            Some((_, count)) => *count += 1,
            None => counts.push((queue.family, 1)),
        }
    }
    counts
}

/// What a device that is made here gets of the features that it has.
struct Wanted {
    core: vk::PhysicalDeviceFeatures,
    of_1_1: vk::PhysicalDeviceVulkan11Features<'static>,
    of_1_2: vk::PhysicalDeviceVulkan12Features<'static>,
    of_1_3: vk::PhysicalDeviceVulkan13Features<'static>,
    mesh: bool,
    rays: Rays,
    /// Those that code of shaders asks for.
    features: Features,
}

impl Wanted {
    /// Asks the device what it has, of rays only if they are wanted.
    fn of(context: &Context, device: &Physical, extensions: &[vk::ExtensionProperties], wants_rays: bool) -> Self {
        let mesh = has_mesh_shaders(context, device, extensions);
        let rays = if wants_rays { has_rays(context, device, extensions) } else { Rays::default() };
        let mut has11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut has12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut has13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut has =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut has11).push_next(&mut has12).push_next(&mut has13);
        // SAFETY: the device is of version 1.3, so it knows the structs.
        unsafe { context.raw().get_physical_device_features2(device.raw, &mut has) };
        let core = without_sparse_memory(has.features);
        Self {
            core,
            of_1_1: wanted_of_1_1(&has11),
            of_1_2: wanted_of_1_2(&has12, rays),
            of_1_3: wanted_of_1_3(&has13),
            mesh,
            rays,
            features: capability::features(&core, &has11, &has12, (mesh, rays)),
        }
    }
}

/// The features that a device which is made here will have, of those that code of shaders asks for.
pub(crate) fn features(context: &Context, device: &Physical, extensions: &[vk::ExtensionProperties]) -> Features {
    Wanted::of(context, device, extensions, true).features
}

/// Makes a device with every feature that it has, but sparse memory, and rays that are not wanted. Robust access stays
/// on: no index that a shader computes, no draw that a user asks for reaches outside of its buffer.
pub(crate) fn create(
    context: &Context,
    device: &Physical,
    profile: &Profile,
    options: &DeviceOptions,
) -> Result<Created, Error> {
    let &DeviceOptions { windows, rays: wanted_rays, .. } = options;
    let instance = context.raw();
    // SAFETY: the physical device is of this instance.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device.raw) };
    let extensions = extensions.called("vkEnumerateDeviceExtensionProperties")?;
    let budget = physical::has_extension(&extensions, ext::memory_budget::NAME);
    let clock = clock::extension(context, device.raw, |name| physical::has_extension(&extensions, name));
    let shown = if windows { window::device_extensions(context, device, &extensions)? } else { Vec::new() };
    let present_wait = shown.contains(&khr::present_wait::NAME);
    let memory_fd = physical::has_extension(&extensions, khr::external_memory_fd::NAME);
    let semaphore_fd = physical::has_extension(&extensions, khr::external_semaphore_fd::NAME);
    let host_memory = physical::has_extension(&extensions, ext::external_memory_host::NAME);
    let Wanted { core, mut of_1_1, mut of_1_2, mut of_1_3, mesh, rays, features } =
        Wanted::of(context, device, &extensions, wanted_rays != Some(false));
    if wanted_rays == Some(true) && !rays.structures {
        let message = format!("{} has no VK_KHR_acceleration_structure, and rays are asked for", device.info.name);
        let help = "open it without, or another one (`rgraph doctor` says what each has)";
        return Err(DeviceError::new(Code::Missing, message, help).into());
    }
    let (host_query_reset, separate_layouts) = (of_1_2.host_query_reset, of_1_2.separate_depth_stencil_layouts);
    let mut want = vk::PhysicalDeviceFeatures2::default()
        .features(core)
        .push_next(&mut of_1_1)
        .push_next(&mut of_1_2)
        .push_next(&mut of_1_3);
    let counts = queue_counts(profile);
    let priorities = vec![1.0; counts.iter().map(|(_, count)| *count).max().unwrap_or(0)];
    let queues: Vec<_> = counts
        .iter()
        .map(|(family, count)| {
            let info = vk::DeviceQueueCreateInfo::default().queue_family_index(*family);
            info.queue_priorities(&priorities[..*count])
        })
        .collect();
    let offered = [
        (budget, ext::memory_budget::NAME),
        (mesh, ext::mesh_shader::NAME),
        (rays.structures, khr::acceleration_structure::NAME),
        (rays.structures, khr::deferred_host_operations::NAME),
        (rays.queries, khr::ray_query::NAME),
        (rays.pipelines, khr::ray_tracing_pipeline::NAME),
        (memory_fd, khr::external_memory_fd::NAME),
        (semaphore_fd, khr::external_semaphore_fd::NAME),
        (host_memory, ext::external_memory_host::NAME),
    ];
    let names = offered.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).chain(clock).chain(shown);
    let names: Vec<_> = names.map(CStr::as_ptr).collect();
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    let mut info = info.push_next(&mut want);
    let mut meshes = vk::PhysicalDeviceMeshShaderFeaturesEXT::default().mesh_shader(true).task_shader(true);
    if mesh {
        info = info.push_next(&mut meshes);
    }
    let mut structures = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default().acceleration_structure(true);
    let mut queries = vk::PhysicalDeviceRayQueryFeaturesKHR::default().ray_query(true);
    let mut pipelines = vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default().ray_tracing_pipeline(true);
    if rays.structures {
        info = info.push_next(&mut structures);
    }
    if rays.queries {
        info = info.push_next(&mut queries);
    }
    if rays.pipelines {
        info = info.push_next(&mut pipelines);
    }
    let mut ids = vk::PhysicalDevicePresentIdFeaturesKHR::default().present_id(true);
    let mut waits = vk::PhysicalDevicePresentWaitFeaturesKHR::default().present_wait(true);
    if present_wait {
        info = info.push_next(&mut ids).push_next(&mut waits);
    }
    let _alone = crate::device::driver::alone();
    // SAFETY: all that the info points to lives until the call returns; features are ones that the device has.
    let raw = unsafe { instance.create_device(device.raw, &info, context.host()) }.called("vkCreateDevice")?;
    let enabled = Enabled {
        core,
        host_query_reset: host_query_reset == vk::TRUE,
        swapchains: windows,
        present_wait,
        mesh,
        rays,
        features,
        others: 0,
        separate_layouts: separate_layouts == vk::TRUE,
        memory_fd,
        semaphore_fd,
        host_memory,
    };
    let raw = Functions::new(raw, context.lent());
    Ok(Created { raw, enabled, budget, clock })
}
