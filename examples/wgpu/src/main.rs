//! rgraph with wgpu: one device and one queue, which wgpu made and lends.
//!
//! wgpu clears a texture of its own to red, rgraph draws green over the right half of it, and wgpu reads it. The
//! texture never leaves the device, and no semaphore is needed: barriers order what is submitted to one queue. It
//! changes sides as a colour attachment, the last state that wgpu knows of: wgpu's next barrier then covers what rgraph
//! drew.

use std::error::Error;
use std::sync::Arc;

use rgraph::ash::vk;
use rgraph::plan::access::{Accesses, Layout, Stages};
use rgraph::plan::prelude::*;
use rgraph::plan::resource::{Leave, ResourceId};
use rgraph::shader::{Kind, Language, Program, Source};
use rgraph::vk::work::{Draw, DrawCount, RasterState, Step, Work, Workload};
use rgraph::vk::{
    BorrowedDevice, BorrowedHandle, BorrowedQueue, Device, DeviceOptions, DeviceQueueId, EnabledFeatures, EntryTable,
    Inputs, ResourceLeft, ResourceState, Upload,
};
use wgpu::hal::api::Vulkan;

const SIDE: u32 = 64;

const GREEN: &str = "
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    if at.x < 32.0 { discard; }
    return vec4<f32>(0.0, 1.0, 0.0, 1.0);
}";

/// A struct of a chain of features.
///
/// # Safety
/// The chain is valid, and nobody else has a reference into it.
unsafe fn find<'a, T: vk::TaggedStructure>(info: &'a vk::DeviceCreateInfo<'_>) -> Option<&'a mut T> {
    let mut next = info.p_next.cast_mut().cast::<vk::BaseOutStructure<'_>>();
    // SAFETY: null or a struct that begins with its type, as the caller says.
    while let Some(base) = unsafe { next.as_mut() } {
        if base.s_type == T::STRUCTURE_TYPE {
            // SAFETY: the type is what the struct says.
            return Some(unsafe { &mut *next.cast::<T>() });
        }
        next = base.p_next;
    }
    None
}

/// Switches a feature on: in wgpu's struct if its chain has one, else in a struct of its own.
macro_rules! enable {
    ($info:ident, $kind:ident, $feature:ident) => {
        let mut own = vk::$kind::default().$feature(true);
        match find::<vk::$kind<'_>>(&$info) {
            Some(known) => known.$feature = vk::TRUE,
            None => $info = $info.push_next(&mut own),
        }
    };
}

/// wgpu's device, made with what rgraph needs besides, and what it was made with.
fn open(adapter: &wgpu::Adapter) -> Result<(wgpu::Device, wgpu::Queue, EnabledFeatures), Box<dyn Error>> {
    let described = wgpu::DeviceDescriptor::default();
    let (features, limits, hints) = (described.required_features, &described.required_limits, &described.memory_hints);
    // SAFETY: what wgpu wants stays on, what rgraph needs is in every device of Vulkan 1.3, and all that the info
    // points to lives until the device is made.
    unsafe {
        let hal = adapter.as_hal::<Vulkan>().ok_or("wgpu runs on Vulkan here")?;
        let extensions = hal.required_device_extensions(features);
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let mut wanted = hal.physical_device_features(&extensions, features);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let mut info = wanted.add_to_device_create(info);
        enable!(info, PhysicalDeviceTimelineSemaphoreFeatures, timeline_semaphore);
        enable!(info, PhysicalDeviceSynchronization2Features, synchronization2);
        enable!(info, PhysicalDeviceDynamicRenderingFeatures, dynamic_rendering);
        enable!(info, PhysicalDeviceMaintenance4Features, maintenance4);
        enable!(info, PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures, shader_zero_initialize_workgroup_memory);
        let enabled = EnabledFeatures::of(&info);
        assert_eq!(enabled.missing(), Vec::<&str>::new());
        let raw = hal.shared_instance().raw_instance().create_device(hal.raw_physical_device(), &info, None)?;
        let opened = hal.device_from_raw(raw, None, &extensions, features, limits, hints, 0, 0)?;
        drop(hal);
        let (device, queue) = adapter.create_device_from_hal(opened, &described)?;
        Ok((device, queue, enabled))
    }
}

/// The same device, for rgraph.
fn lend(device: &wgpu::Device, enabled: EnabledFeatures) -> Result<Device, Box<dyn Error>> {
    // SAFETY: the handles belong together, the device was made by `open`, and `main` drops rgraph's side first. Both
    // sides submit from one thread: wgpu has no lock of the queue to lend.
    unsafe {
        let hal = device.as_hal::<Vulkan>().ok_or("a device of Vulkan")?;
        let instance = hal.shared_instance();
        let queues = vec![BorrowedQueue::new(hal.queue_family_index(), hal.raw_queue())];
        let entry = EntryTable(instance.entry().clone());
        let (raw, physical) = (hal.raw_device().handle(), hal.raw_physical_device());
        let mut lent = BorrowedDevice::new(entry, instance.raw_instance().handle(), physical, raw, queues);
        lent.enabled = enabled;
        lent.api_version = instance.instance_api_version();
        lent.instance_extensions = instance.extensions().iter().map(|name| (*name).to_owned()).collect();
        Ok(Device::borrow(&lent, &DeviceOptions::default())?)
    }
}

/// rgraph's part of the frame: it draws over what is in the texture, and leaves it as wgpu left it.
fn declare() -> Result<(Workload, ResourceId), Box<dyn Error>> {
    let mut g = Graph::new("beside wgpu", [SIDE, SIDE]);
    let texture = g.import_image("texture", Format::Rgba8unorm, Size::absolute(SIDE, SIDE));
    g.change(texture).leave(Leave::default().layout(Layout::ColorAttachment));
    let half = g.pass("half", PassQueue::Graphics).color(texture).id();
    g.root(texture);
    let draw = Draw {
        program: Arc::new(Program::new("green", Kind::Raster, &[Source::Text(Language::Wgsl, GREEN)], None)?),
        state: Arc::new(RasterState::default()),
        bound: Arc::new([]),
        push: Default::default(),
        vertex_buffers: Vec::new(),
        index: None,
        count: DrawCount::Direct { vertices: 3, instances: 1, first_vertex: 0, first_instance: 0, vertex_offset: 0 },
        viewport: None,
        key: 0,
    };
    let mut workload = Workload::new(g);
    workload.works.insert(half, Work::Steps(vec![Step::Draw(draw)]));
    Ok((workload, texture))
}

/// wgpu's part before: the texture is red.
fn clear(device: &wgpu::Device, texture: &wgpu::Texture) -> wgpu::CommandBuffer {
    let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let load = wgpu::LoadOp::Clear(wgpu::Color::RED);
    let attachment = wgpu::RenderPassColorAttachment {
        view: &view,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
    };
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(attachment)],
        ..wgpu::RenderPassDescriptor::default()
    });
    encoder.finish()
}

/// wgpu's part behind: the texels.
fn read(device: &wgpu::Device, queue: &wgpu::Queue, texture: &wgpu::Texture) -> Result<Vec<[u8; 4]>, Box<dyn Error>> {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(SIDE * SIDE * 4),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(SIDE * 4), rows_per_image: None };
    let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), to, texture.size());
    queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("the buffer can be mapped"));
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let texels = buffer.get_mapped_range(..)?.as_chunks().0.to_vec();
    buffer.unmap();
    Ok(texels)
}

fn main() -> Result<(), Box<dyn Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (theirs, queue, enabled) = open(&adapter)?;
    let ours = lend(&theirs, enabled)?;

    let texture = theirs.create_texture(&wgpu::TextureDescriptor {
        label: Some("texture"),
        size: wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    // SAFETY: rgraph lets go of it before wgpu destroys it.
    let handle = unsafe { texture.as_hal::<Vulkan>().ok_or("a texture of Vulkan")?.raw_handle() };
    let (workload, id) = declare()?;
    let compiled = ours.compile(workload, &Options::default())?;
    // SAFETY: an image of this device, made as the plan's resource is, with the usages that the passes need.
    let lent = unsafe {
        let kind = compiled.plan().resources[id].kind;
        ours.borrow_resource("texture", kind, BorrowedHandle::Image(handle), false)
    };
    for _ in 0..3 {
        queue.submit([clear(&theirs, &texture)]);
        // SAFETY: wgpu left it so, in the submit before, on the same queue.
        let left = unsafe {
            ResourceLeft::new(ResourceState {
                queue: Some(DeviceQueueId::FIRST),
                stages: Stages::COLOR_ATTACHMENT_OUTPUT,
                access: Accesses::COLOR_ATTACHMENT_WRITE,
                layout: Layout::ColorAttachment,
                ..ResourceState::default()
            })
        };
        let uploads = vec![(id, Upload::Resource(&lent))];
        compiled.run(&Inputs { uploads, left: vec![(id, left)], read: Some(Vec::new()), ..Inputs::default() })?;
        let texels = read(&theirs, &queue, &texture)?;
        for (at, texel) in texels.iter().enumerate() {
            let wanted = if at as u32 % SIDE < SIDE / 2 { [255, 0, 0, 255] } else { [0, 255, 0, 255] };
            assert_eq!(*texel, wanted, "texel {at}");
        }
    }
    println!("wgpu cleared, rgraph drew, wgpu read {} texels, three times", SIDE * SIDE);
    ours.close()?;
    Ok(())
}
