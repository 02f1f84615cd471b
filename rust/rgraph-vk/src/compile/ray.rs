//! Rays: the functions and limits of a device that has them, ray-tracing pipelines and shader binding tables, builds in
//! Vulkan's terms.
//!
//! Source: Vulkan 1.3 specification, "Acceleration Structures" and "Ray Tracing".

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Program;
use rgraph_work::{Build, Geometry, INSTANCE_BYTES, Instance, RayGroups};

use crate::compile::keys::RayKey;
use crate::compile::pipeline::{MADE, ShaderStages};
use crate::compile::pipelines::{RayPipeline, first_pipeline};
use crate::device::Shared;
use crate::device::rays::RayFunctions;
use crate::error::{Called, Code, DeviceError, Error};
use crate::memory::Domain;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::usages::Usages;

/// Usages of buffers that only devices with acceleration structures know.
pub(crate) const RAY_USAGES: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR.as_raw()
        | vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR.as_raw()
        | vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// A trace, ready to be recorded.
#[derive(Clone)]
pub(crate) struct ReadyTrace {
    /// Parts of the table: ray generation, misses, hit groups, callables.
    pub regions: [vk::StridedDeviceAddressRegionKHR; 4],
    pub size: [u32; 3],
    #[allow(dead_code, reason = "keeps the table's memory")]
    pub table: Arc<PhysicalResource>,
}

impl std::fmt::Debug for ReadyTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadyTrace").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Where shaders of a table stand, relative to its first aligned byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Region {
    first: u64,
    stride: u64,
    size: u64,
}

/// Lays out a shader binding table: a region for ray generation, misses, hit groups and callables. Records of a region
/// have one stride, that of its longest; regions begin at multiples of the base alignment.
fn lay(counts: [usize; 4], records: &[Vec<u8>], handle: [u64; 2], base: u64) -> ([Region; 4], u64) {
    let [size, alignment] = handle;
    let (mut at, mut group) = (0, 0);
    let regions = counts.map(|count| {
        let own = records.get(group.min(records.len())..(group + count).min(records.len())).unwrap_or(&[]);
        group += count;
        if count == 0 {
            return Region::default();
        }
        let longest = own.iter().map(|record| record.len() as u64).max().unwrap_or(0);
        let stride = (size + longest).next_multiple_of(alignment);
        let region = Region { first: at, stride, size: stride * count as u64 };
        at = (at + region.size).next_multiple_of(base);
        region
    });
    (regions, at)
}

impl Shared {
    /// Without usages of rays where the device has none: passes may declare them and do nothing.
    pub(crate) fn usable(&self, mut usages: Usages) -> Usages {
        if self.rays.is_none() {
            usages.buffer &= !RAY_USAGES;
        }
        usages
    }

    /// The address of a buffer that was made to have one.
    pub(crate) fn buffer_address(&self, buffer: vk::Buffer) -> u64 {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: the feature is enabled where buffers are made with the usage, and their memory with the flag.
        unsafe { self.raw.get_buffer_device_address(&info) }
    }

    /// The device's functions for rays, or why it has none.
    pub(super) fn rays(&self, pass: &str) -> Result<&RayFunctions, Error> {
        self.rays.as_deref().ok_or_else(|| self.lacks_rays(pass, "VK_KHR_acceleration_structure"))
    }

    pub(super) fn lacks_rays(&self, pass: &str, name: &str) -> Error {
        let message = format!("{} has no {name}, which pass \"{pass}\" needs", self.info.name);
        let help = match self.is_borrowed() {
            true => "make the device with it (EnabledFeatures tells rgraph), or switch the pass off",
            false => "run on a device that traces rays (`rgraph doctor` says what each has)",
        };
        DeviceError::new(Code::Missing, message, help).in_pass(pass).note(format!("needs {name} ✗")).into()
    }

    /// The ray-tracing pipeline of a program.
    pub(super) fn ray_pipeline(&self, program: &Program, groups: &RayGroups, depth: u32) -> Result<RayPipeline, Error> {
        let RayGroups { miss, hit, callable, .. } = groups;
        let key = RayKey::new(program, groups, depth);
        if let Some(known) = self.pipelines.ray(&key) {
            return Ok(known);
        }
        self.check_capabilities(program)?;
        let missing = || self.lacks_rays(&program.name, "VK_KHR_ray_tracing_pipeline");
        let rays = self.rays.as_deref().ok_or_else(missing)?;
        let functions = rays.pipelines.as_ref().ok_or_else(missing)?;
        let layouts = self.layouts(program)?;
        let stages = ShaderStages::new(self, program, &[])?;
        let infos = stages.infos();
        let unused = vk::RayTracingShaderGroupCreateInfoKHR::default()
            .ty(vk::RayTracingShaderGroupTypeKHR::GENERAL)
            .general_shader(vk::SHADER_UNUSED_KHR)
            .closest_hit_shader(vk::SHADER_UNUSED_KHR)
            .any_hit_shader(vk::SHADER_UNUSED_KHR)
            .intersection_shader(vk::SHADER_UNUSED_KHR);
        let general = |module: &u32| unused.general_shader(*module);
        let hits = hit.iter().map(|group| {
            let or = |module: Option<u32>| module.unwrap_or(vk::SHADER_UNUSED_KHR);
            let kind = match group.intersection {
                Some(_) => vk::RayTracingShaderGroupTypeKHR::PROCEDURAL_HIT_GROUP,
                None => vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP,
            };
            unused
                .ty(kind)
                .closest_hit_shader(or(group.closest))
                .any_hit_shader(or(group.any))
                .intersection_shader(or(group.intersection))
        });
        let all: Vec<_> =
            std::iter::once(&0).chain(miss).map(general).chain(hits).chain(callable.iter().map(general)).collect();
        let info = vk::RayTracingPipelineCreateInfoKHR::default()
            .stages(&infos)
            .groups(&all)
            .max_pipeline_ray_recursion_depth(depth)
            .layout(layouts.pipeline);
        let none = vk::DeferredOperationKHR::null();
        // SAFETY: modules, groups and layout live until the call returns; the cache is internally synchronised.
        let made =
            unsafe { functions.create_ray_tracing_pipelines(none, self.pipelines.cache(), &[info], self.raw.host()) };
        let raw = self.noted(first_pipeline(made).called("vkCreateRayTracingPipelinesKHR"))?;
        self.name(raw, &program.name);
        MADE.fetch_add(1, Ordering::Relaxed);
        let size = all.len() * rays.handle_size as usize;
        // SAFETY: the pipeline has as many groups; the size is that of their handles.
        let handles = unsafe { functions.get_ray_tracing_shader_group_handles(raw, 0, all.len() as u32, size) };
        match handles.called("vkGetRayTracingShaderGroupHandlesKHR") {
            Ok(handles) => Ok(self.pipelines.keep_ray(&self.raw, key, RayPipeline { raw, handles: handles.into() })),
            Err(error) => {
                // SAFETY: never used.
                unsafe { self.raw.destroy_pipeline(raw, self.raw.host()) };
                self.noted(Err(error))
            }
        }
    }

    /// A shader binding table: its buffer, and its regions.
    pub(super) fn table(
        self: &Arc<Self>,
        rays: &RayFunctions,
        name: &str,
        (pipeline, groups): (&RayPipeline, &RayGroups),
    ) -> Result<(Arc<PhysicalResource>, [vk::StridedDeviceAddressRegionKHR; 4]), Error> {
        let (size, base) = (rays.handle_size as usize, u64::from(rays.base_alignment));
        let counts = [1, groups.miss.len(), groups.hit.len(), groups.callable.len()];
        let handle = [u64::from(rays.handle_size), u64::from(rays.handle_alignment)];
        let (regions, bytes) = lay(counts, &groups.records, handle, base);
        if let Some(region) = regions.iter().find(|region| region.stride > u64::from(rays.most_stride)) {
            let data = region.stride - u64::from(rays.handle_size);
            let most = rays.most_stride - rays.handle_size;
            let message = format!("a shader record of pass \"{name}\" has {data} bytes, and the device takes {most}");
            return Err(Error::work(name, message, "put the data into a buffer, and its position into the record"));
        }
        let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let usages = Usages { buffer: usage, ..Usages::default() };
        // Its address may have to be aligned more than its memory is.
        let kind = PlanKind::Buffer { size: bytes + base };
        let buffer = PhysicalResource::new(self, &format!("{name} shader table"), kind, usages, Domain::Linked, true)?;
        let address = self.buffer_address(buffer.buffer());
        let start = address.next_multiple_of(base);
        let mut table = vec![0; bytes as usize];
        let mut group = 0;
        for (region, count) in regions.iter().zip(counts) {
            for at in 0..count {
                let first = (region.first + region.stride * at as u64) as usize;
                table[first..first + size].copy_from_slice(&pipeline.handles[group * size..(group + 1) * size]);
                if let Some(data) = groups.records.get(group) {
                    table[first + size..first + size + data.len()].copy_from_slice(data);
                }
                group += 1;
            }
        }
        if let Some(mapped) = buffer.mapped() {
            let skip = (start - address) as usize;
            // SAFETY: the buffer is that much larger than the table; nothing on the device uses it yet.
            unsafe { std::ptr::copy_nonoverlapping(table.as_ptr(), mapped.as_ptr().add(skip), table.len()) };
        }
        let regions = regions.map(|Region { first, stride, size }| match size {
            0 => vk::StridedDeviceAddressRegionKHR::default(),
            size => vk::StridedDeviceAddressRegionKHR { device_address: start + first, stride, size },
        });
        Ok((buffer, regions))
    }
}

/// A geometry in Vulkan's terms, with the addresses of its buffers.
pub(crate) fn described(
    geometry: &Geometry,
    address: impl Fn(ResourceId) -> u64,
) -> vk::AccelerationStructureGeometryKHR<'static> {
    let at =
        |buffer: ResourceId, offset: u64| vk::DeviceOrHostAddressConstKHR { device_address: address(buffer) + offset };
    let out = vk::AccelerationStructureGeometryKHR::default();
    let flags = |opaque: bool| match opaque {
        true => vk::GeometryFlagsKHR::OPAQUE,
        // An any-hit shader sees each hit once, so that it may count.
        false => vk::GeometryFlagsKHR::NO_DUPLICATE_ANY_HIT_INVOCATION,
    };
    match geometry {
        Geometry::Triangles { buffer, offset, stride, vertices, index, opaque, .. } => {
            let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
                .vertex_format(vk::Format::R32G32B32_SFLOAT)
                .vertex_data(at(*buffer, *offset))
                .vertex_stride(u64::from(*stride))
                .max_vertex(vertices.saturating_sub(1));
            let triangles = match index {
                Some(index) => triangles
                    .index_type(if index.wide { vk::IndexType::UINT32 } else { vk::IndexType::UINT16 })
                    .index_data(at(index.buffer, index.offset)),
                None => triangles.index_type(vk::IndexType::NONE_KHR),
            };
            out.geometry_type(vk::GeometryTypeKHR::TRIANGLES)
                .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })
                .flags(flags(*opaque))
        }
        Geometry::Boxes { buffer, offset, stride, opaque, .. } => {
            let aabbs = vk::AccelerationStructureGeometryAabbsDataKHR::default()
                .data(at(*buffer, *offset))
                .stride(u64::from(*stride));
            out.geometry_type(vk::GeometryTypeKHR::AABBS)
                .geometry(vk::AccelerationStructureGeometryDataKHR { aabbs })
                .flags(flags(*opaque))
        }
        Geometry::Instances { buffer, offset, .. } => {
            let instances = vk::AccelerationStructureGeometryInstancesDataKHR::default().data(at(*buffer, *offset));
            out.geometry_type(vk::GeometryTypeKHR::INSTANCES)
                .geometry(vk::AccelerationStructureGeometryDataKHR { instances })
        }
    }
}

/// A build in Vulkan's terms, without structures and scratch memory.
pub(crate) fn build_info<'a>(
    build: &Build,
    geometries: &'a [vk::AccelerationStructureGeometryKHR<'a>],
) -> vk::AccelerationStructureBuildGeometryInfoKHR<'a> {
    let kind = match build.geometry {
        Geometry::Instances { .. } => vk::AccelerationStructureTypeKHR::TOP_LEVEL,
        _ => vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL,
    };
    let mut flags = vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE;
    if build.updatable {
        flags |= vk::BuildAccelerationStructureFlagsKHR::ALLOW_UPDATE;
    }
    let mode = match build.refit {
        true => vk::BuildAccelerationStructureModeKHR::UPDATE,
        false => vk::BuildAccelerationStructureModeKHR::BUILD,
    };
    vk::AccelerationStructureBuildGeometryInfoKHR::default().ty(kind).flags(flags).mode(mode).geometries(geometries)
}

/// The record of an instance whose structure has an address.
pub(crate) fn record_of(instance: &Instance, address: u64) -> [u8; INSTANCE_BYTES as usize] {
    let mut out = [0; INSTANCE_BYTES as usize];
    for (at, value) in out.chunks_exact_mut(4).zip(instance.transform) {
        at.copy_from_slice(&value.to_le_bytes());
    }
    let index = instance.index & 0xff_ffff | u32::from(instance.mask) << 24;
    out[48..52].copy_from_slice(&index.to_le_bytes());
    out[52..56].copy_from_slice(&(instance.hit & 0xff_ffff).to_le_bytes());
    out[56..].copy_from_slice(&address.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rgraph_plan::id::Id;

    #[test]
    fn records_of_a_region_have_one_stride_and_regions_are_aligned() {
        let records = vec![vec![], vec![1; 5], vec![], vec![2; 40]];
        let (regions, bytes) = lay([1, 2, 1, 0], &records, [32, 32], 64);
        let region = |first, stride, size| Region { first, stride, size };
        assert_eq!(regions, [region(0, 32, 32), region(64, 64, 128), region(192, 96, 96), Region::default()]);
        assert_eq!(bytes, 320);
    }

    #[test]
    fn a_record_of_an_instance_is_as_vulkan_lays_it_out() {
        let instance = Instance { mask: 0x81, hit: 3, ..Instance::of(ResourceId::new(0), 0x12_3456) };
        let record = record_of(&instance, 0x0102_0304_0506_0708);
        assert_eq!(record[..4], 1.0f32.to_le_bytes());
        assert_eq!(record[16..24], [[0; 4], 1.0f32.to_le_bytes()].concat());
        assert_eq!(record[48..56], [0x56, 0x34, 0x12, 0x81, 3, 0, 0, 0]);
        assert_eq!(record[56..], [8, 7, 6, 5, 4, 3, 2, 1]);
    }
}
