//! Functions and limits of a device that builds acceleration structures and traces rays.

use ash::{khr, vk};

use crate::device::context::Context;
use crate::device::enabled::Rays;

/// The functions of a device with acceleration structures, and its limits.
pub(crate) struct RayFunctions {
    pub structures: khr::acceleration_structure::Device,
    pub pipelines: Option<khr::ray_tracing_pipeline::Device>,
    /// Alignment of scratch memory.
    scratch_alignment: u64,
    pub most_instances: u64,
    pub most_primitives: u64,
    pub handle_size: u32,
    pub handle_alignment: u32,
    pub base_alignment: u32,
    pub most_stride: u32,
    pub most_depth: u32,
    pub most_rays: u32,
}

impl RayFunctions {
    /// Those of a device; `None`: it has no acceleration structures.
    pub(crate) fn of(
        context: &Context,
        physical: vk::PhysicalDevice,
        device: &ash::Device,
        rays: Rays,
    ) -> Option<Self> {
        if !rays.structures {
            return None;
        }
        let mut structures = vk::PhysicalDeviceAccelerationStructurePropertiesKHR::default();
        let mut traces = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut structures);
        if rays.pipelines {
            all = all.push_next(&mut traces);
        }
        // SAFETY: the device has the extensions, so it knows the structs.
        unsafe { context.raw().get_physical_device_properties2(physical, &mut all) };
        Some(Self {
            structures: khr::acceleration_structure::Device::new(context.raw(), device),
            pipelines: rays.pipelines.then(|| khr::ray_tracing_pipeline::Device::new(context.raw(), device)),
            scratch_alignment: u64::from(structures.min_acceleration_structure_scratch_offset_alignment).max(1),
            most_instances: structures.max_instance_count,
            most_primitives: structures.max_primitive_count,
            handle_size: traces.shader_group_handle_size,
            handle_alignment: traces.shader_group_handle_alignment.max(1),
            base_alignment: traces.shader_group_base_alignment.max(1),
            most_stride: traces.max_shader_group_stride,
            most_depth: traces.max_ray_recursion_depth,
            most_rays: traces.max_ray_dispatch_invocation_count,
        })
    }

    /// The first aligned address of scratch memory.
    pub(crate) fn scratch(&self, address: u64) -> u64 {
        address.next_multiple_of(self.scratch_alignment)
    }
}
