//! Features and extensions of a device that are switched on.

use ash::vk;

use rgraph_plan::feature::Features;

/// Features that are switched on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Enabled {
    pub core: vk::PhysicalDeviceFeatures,
    pub host_query_reset: bool,
    /// Whether it has swapchains, and whether it can wait until an image of one is shown.
    pub swapchains: bool,
    pub present_wait: bool,
    /// `VK_EXT_mesh_shader` with both of its stages.
    pub mesh: bool,
    /// Acceleration structures, ray queries and ray-tracing pipelines, as far as it has them.
    pub rays: Rays,
    /// Features that shaders ask for.
    pub features: Features,
    /// Capabilities of extensions that rgraph itself does not switch on, as `capability::others` has them.
    pub others: u64,
    /// Whether depth and stencil of one image may be in different layouts.
    pub separate_layouts: bool,
    /// `VK_KHR_external_memory_fd`.
    pub memory_fd: bool,
    /// `VK_KHR_external_semaphore_fd`.
    pub semaphore_fd: bool,
    /// `VK_EXT_external_memory_host`.
    pub host_memory: bool,
}

/// Extensions for rays that are switched on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rays {
    /// `VK_KHR_acceleration_structure`, and the addresses of buffers.
    pub structures: bool,
    /// `VK_KHR_ray_query`.
    pub queries: bool,
    /// `VK_KHR_ray_tracing_pipeline`.
    pub pipelines: bool,
}
