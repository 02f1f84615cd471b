//! A Rust application that has its own Vulkan device: rgraph runs a graph on it, between the application's own
//! commands.
//!
//! The application clears an image, a graph doubles its texels, and the application copies it: one image, one queue,
//! each side saying in which state it leaves the image.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use rgraph_plan::access::{Accesses, Layout, Stages};
use rgraph_plan::graph::Graph;
use rgraph_plan::prelude::*;
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{Bound, Dispatch, Groups, Step, View, What, Work, Workload};
use rgraph_vk::{
    BorrowedDevice, BorrowedHandle, BorrowedQueue, Device, DeviceOptions, DeviceQueueId, EnabledFeatures, EntryTable,
    Inputs, ResourceState, Upload,
};

const DOUBLE: &str = "
@group(0) @binding(0) var image: texture_storage_2d<r32uint, read_write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(image, id.xy, textureLoad(image, id.xy) * 2u);
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run()
}

/// The whole program.
pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    // SAFETY: this program's only use of Vulkan; handles are used in the order in which they are made, each belongs to
    // the one before, and all are destroyed at the end, after rgraph let go of them.
    unsafe {
        let entry = ash::Entry::load()?;
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&app), None)?;
        let physical = *instance.enumerate_physical_devices()?.first().ok_or("no Vulkan device")?;
        let families = instance.get_physical_device_queue_family_properties(physical);
        let can = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let family = families.iter().position(|one| one.queue_flags.contains(can)).ok_or("no graphics queue")? as u32;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let mut f12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let mut f13 = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true)
            .maintenance4(true)
            .shader_zero_initialize_workgroup_memory(true);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut f12).push_next(&mut f13);
        let raw = instance.create_device(physical, &info, None)?;
        let queue = raw.get_device_queue(family, 0);

        let image = Texture::new(&instance, physical, &raw)?;
        let pool = raw.create_command_pool(&vk::CommandPoolCreateInfo::default().queue_family_index(family), None)?;
        let lock = Arc::new(Mutex::new(()));
        let own = Own { raw: &raw, queue, pool, lock: &lock };
        own.run(|commands| {
            image.transition(&raw, commands, vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            let color = vk::ClearColorValue { uint32: [21, 0, 0, 0] };
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            raw.cmd_clear_color_image(commands, image.raw, layout, &color, &[Texture::RANGE]);
        })?;

        let mut queues = vec![BorrowedQueue::new(family, queue)];
        // Both sides hold it while they submit.
        queues[0].lock = Some(lock.clone());
        let mut borrowed =
            BorrowedDevice::new(EntryTable(entry.clone()), instance.handle(), physical, raw.handle(), queues);
        // rgraph uses what the device was made with, and nothing else.
        borrowed.enabled = EnabledFeatures::of(&info);
        let device = Device::borrow(&borrowed, &DeviceOptions::default())?;
        let handle = BorrowedHandle::Image(image.raw);
        let (workload, id) = doubling()?;
        let compiled = device.compile(workload, &Options::default())?;
        let shared = device.borrow_resource("shared", compiled.plan().resources[id].kind, handle, false);
        // The application left it so: the copy was submitted to that queue, and nothing else uses the image.
        shared.set_state(&ResourceState {
            queue: Some(DeviceQueueId::FIRST),
            stages: Stages::CLEAR,
            access: Accesses::TRANSFER_WRITE,
            layout: Layout::TransferDst,
            ..ResourceState::default()
        })?;
        for _ in 0..2 {
            compiled.run(&Inputs { uploads: vec![(id, Upload::Resource(&shared))], ..Inputs::default() })?;
        }
        // rgraph says how it left the image; from here on it is the application's again.
        println!("rgraph left it in layout {}", shared.state().layout);
        assert_eq!(shared.state().layout, Layout::General);
        device.wait_idle()?;
        let texels = image.read(&own, vk::ImageLayout::GENERAL)?;
        println!("{:?}", &texels[..4]);
        assert!(texels.iter().all(|texel| *texel == 84), "21, doubled twice");

        drop((shared, compiled));
        device.close()?;
        drop(device);
        raw.destroy_command_pool(pool, None);
        image.destroy(&raw);
        raw.destroy_device(None);
        instance.destroy_instance(None);
    }
    Ok(())
}

/// A graph that doubles the texels of an imported image.
fn doubling() -> Result<(Workload, rgraph_plan::resource::ResourceId), Box<dyn std::error::Error>> {
    let mut g = Graph::new("double", [16, 16]);
    let image = g.import_image("shared", Format::R32uint, Size::absolute(16, 16));
    let pass = g.pass("double", PassQueue::Compute).storage_read_write(image).id();
    let program = Arc::new(Program::new("double", Kind::Compute, &[Source::Text(Language::Wgsl, DOUBLE)], None)?);
    let bound = Arc::new([Bound { binding: 0, element: 0, what: What::Resource(View::whole(image)) }]);
    let groups = Groups::Cover(image, 0);
    let mut workload = Workload::new(g);
    let step = Step::Dispatch(Dispatch { program, bound, push: Default::default(), groups, key: 0 });
    workload.works.insert(pass, Work::Steps(vec![step]));
    Ok((workload, image))
}

/// The application's own submissions.
struct Own<'a> {
    raw: &'a ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    lock: &'a Mutex<()>,
}

impl Own<'_> {
    unsafe fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), vk::Result> {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        let _alone = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the pool is of this device; with the lock the queue is nobody else's.
        unsafe {
            let commands = self.raw.allocate_command_buffers(&info)?[0];
            self.raw.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            record(commands);
            self.raw.end_command_buffer(commands)?;
            let submits = [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&commands))];
            self.raw.queue_submit(self.queue, &submits, vk::Fence::null())
        }
    }
}

/// The application's own image.
struct Texture {
    raw: vk::Image,
    memory: vk::DeviceMemory,
    properties: vk::PhysicalDeviceMemoryProperties,
}

impl Texture {
    const RANGE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    };

    unsafe fn new(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        raw: &ash::Device,
    ) -> Result<Self, vk::Result> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(
                vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
            );
        // SAFETY: the caller's handles are valid and belong together.
        unsafe {
            let properties = instance.get_physical_device_memory_properties(physical);
            let image = raw.create_image(&info, None)?;
            let needs = raw.get_image_memory_requirements(image);
            let memory = allocate(raw, &properties, needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            raw.bind_image_memory(image, memory, 0)?;
            Ok(Self { raw: image, memory, properties })
        }
    }

    unsafe fn transition(
        &self,
        raw: &ash::Device,
        commands: vk::CommandBuffer,
        old: vk::ImageLayout,
        new: vk::ImageLayout,
    ) {
        let barrier = vk::ImageMemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
            .dst_access_mask(vk::AccessFlags2::TRANSFER_READ | vk::AccessFlags2::TRANSFER_WRITE)
            .old_layout(old)
            .new_layout(new)
            .image(self.raw)
            .subresource_range(Self::RANGE);
        let info = vk::DependencyInfo::default().image_memory_barriers(std::slice::from_ref(&barrier));
        // SAFETY: the command buffer is being recorded.
        unsafe { raw.cmd_pipeline_barrier2(commands, &info) };
    }

    unsafe fn read(&self, own: &Own<'_>, layout: vk::ImageLayout) -> Result<Vec<u32>, vk::Result> {
        let raw = own.raw;
        let info = vk::BufferCreateInfo::default().size(1024).usage(vk::BufferUsageFlags::TRANSFER_DST);
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        // SAFETY: handles are valid; the device is idle before the memory is read and before anything is destroyed.
        unsafe {
            let buffer = raw.create_buffer(&info, None)?;
            let memory = allocate(raw, &self.properties, raw.get_buffer_memory_requirements(buffer), visible)?;
            raw.bind_buffer_memory(buffer, memory, 0)?;
            own.run(|commands| {
                self.transition(raw, commands, layout, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
                let region = vk::BufferImageCopy {
                    image_subresource: vk::ImageSubresourceLayers {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        layer_count: 1,
                        ..Default::default()
                    },
                    image_extent: vk::Extent3D { width: 16, height: 16, depth: 1 },
                    ..Default::default()
                };
                let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
                raw.cmd_copy_image_to_buffer(commands, self.raw, layout, buffer, &[region]);
            })?;
            raw.queue_wait_idle(own.queue)?;
            let mapped = raw.map_memory(memory, 0, 1024, vk::MemoryMapFlags::empty())?.cast::<u32>();
            let texels = std::slice::from_raw_parts(mapped, 256).to_vec();
            raw.destroy_buffer(buffer, None);
            raw.free_memory(memory, None);
            Ok(texels)
        }
    }

    unsafe fn destroy(&self, raw: &ash::Device) {
        // SAFETY: the device is idle.
        unsafe {
            raw.destroy_image(self.raw, None);
            raw.free_memory(self.memory, None);
        }
    }
}

unsafe fn allocate(
    raw: &ash::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    needs: vk::MemoryRequirements,
    wanted: vk::MemoryPropertyFlags,
) -> Result<vk::DeviceMemory, vk::Result> {
    let types = &properties.memory_types[..properties.memory_type_count as usize];
    let fits = |(at, one): &(usize, &vk::MemoryType)| {
        needs.memory_type_bits & 1 << at != 0 && one.property_flags.contains(wanted)
    };
    let (index, _) = types.iter().enumerate().find(fits).ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)?;
    let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index as u32);
    // SAFETY: the type is one of the device's.
    unsafe { raw.allocate_memory(&info, None) }
}
