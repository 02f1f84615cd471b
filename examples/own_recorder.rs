//! A plan drives an engine's own recorder: images, command buffers and submits are the engine's, and so is the device.
//!
//! rgraph plans the frame (what lives how long in which bytes, barriers, render passes, mips, queues) and then says
//! step by step what to record. The engine draws a picture with mips, and remembers four runs in a buffer with a
//! history.

use std::collections::HashMap;

use ash::vk;
use rgraph_plan::access::{Load, Stages, Transfer, Usage};
use rgraph_plan::graph::{Graph, Use};
use rgraph_plan::id::IdVec;
use rgraph_plan::plan::{PlanLife, QueueId};
use rgraph_plan::prelude::*;
use rgraph_plan::profile::{Capabilities, Queue};
use rgraph_plan::resource::{Imported, Mips, ResourceId};
use rgraph_vk::walk::{Recorder, Slot, Walk, WalkBatch, WalkBlit, WalkMemory, WalkPass, WalkRendering, WalkView};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Runs that the trail remembers.
const WORDS: u64 = 4;
/// Where the trail begins in the result, behind mip 1.
const TRAIL: u64 = 8 * 8 * 4;

fn main() -> Outcome<()> {
    run()
}

/// The whole program.
pub fn run() -> Outcome<()> {
    // SAFETY: this program's only use of Vulkan; handles are used in the order in which they are made, each belongs to
    // the one before, and all are destroyed at the end.
    unsafe {
        let entry = ash::Entry::load()?;
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&app), None)?;
        let physical = *instance.enumerate_physical_devices()?.first().ok_or("no Vulkan device")?;
        let families = instance.get_physical_device_queue_family_properties(physical);
        let family = families.iter().position(|one| one.queue_flags.contains(vk::QueueFlags::GRAPHICS));
        let family = family.ok_or("no graphics queue")? as u32;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let mut f12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let mut f13 = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true)
            .maintenance4(true);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut f12).push_next(&mut f13);
        let device = instance.create_device(physical, &info, None)?;
        let memory = instance.get_physical_device_memory_properties(physical);
        let gpu = Gpu { queue: device.get_device_queue(family, 0), device, family, memory };
        for queues in [1, 3] {
            draw(&gpu, queues)?;
        }
        gpu.device.destroy_device(None);
        instance.destroy_instance(None);
    }
    Ok(())
}

/// The engine's device.
pub struct Gpu {
    /// Its functions.
    pub device: ash::Device,
    /// Family of the queue.
    pub family: u32,
    /// The queue.
    pub queue: vk::Queue,
    /// Its types of memory.
    pub memory: vk::PhysicalDeviceMemoryProperties,
}

/// Resources of the frame.
#[derive(Clone, Copy)]
struct Scene {
    picture: ResourceId,
    trail: ResourceId,
    before: ResourceId,
    result: ResourceId,
}

/// A picture of two passes with its mips, and a trail that moves on by a word each run.
fn declare() -> (Graph, Scene) {
    let mut g = Graph::new("own", [16, 16]);
    let picture = g.image("picture", Format::Rgba8unorm);
    g.change(picture).mips(Mips::Count(3));
    let trail = g.buffer("trail", WORDS * 4);
    let before = g.history("before", trail, 1);
    g.change(before).undefined_first();
    let result = g.import_buffer("result", TRAIL + WORDS * 4);
    g.change(result).imported(Imported::default().undefined());
    g.pass("sky", PassQueue::Graphics).color_cleared(picture, [0.0, 0.0, 1.0, 1.0]);
    let sun = Use::new(Usage::ColorAttachment).generate_mips();
    g.pass("sun", PassQueue::Graphics).uses(picture, &sun);
    let moved = Use::new(Usage::TransferDst).stages(Stages::COPY | Stages::CLEAR).load(Load::Discard);
    g.pass("move", PassQueue::Transfer).copy_from(before).uses(trail, &moved);
    let mut mip = Use { transfer: Some(Transfer::Copy), ..Use::new(Usage::TransferSrc) };
    mip.ranges.mips = Some([1, 2]);
    g.pass("read", PassQueue::Graphics).uses(picture, &mip).copy_from(trail).copy_to(result);
    g.root(result);
    (g, Scene { picture, trail, before, result })
}

/// Draws some frames on a device with so many queues (here all are one), and compares their texels and words.
///
/// # Safety
/// The handles are valid, and nothing else uses the queue meanwhile.
pub unsafe fn draw(gpu: &Gpu, queues: usize) -> Outcome<()> {
    let (graph, scene) = declare();
    let kinds = [Capabilities::all(), Capabilities::COMPUTE | Capabilities::TRANSFER, Capabilities::TRANSFER];
    let names = ["graphics", "compute", "transfer"];
    let queue = |at: usize| Queue { name: names[at].into(), family: gpu.family, count: 1, capabilities: kinds[at] };
    let profile = Profile::new("engine", (0..queues).map(queue).collect());
    // SAFETY: the create infos are those of the images and buffers that are made below.
    let requirements = |memory: &WalkMemory| unsafe { gpu.requirements(memory) };
    let mut walk = Walk::bake(&graph, &profile, &Options::default(), 2, &requirements)?;
    // SAFETY: all that is made is destroyed below, when the device is idle.
    unsafe {
        let mut own = Own::new(gpu, &walk, scene, queues)?;
        for run in 0..6 {
            own.run = run;
            walk.record(&[], &mut own)?;
            gpu.device.queue_wait_idle(gpu.queue)?;
            own.compare(run)?;
        }
        println!(
            "{queues} queues: {} submits, {} barrier calls per run",
            walk.plan().batches.len(),
            own.barrier_calls / 6
        );
        own.destroy();
    }
    Ok(())
}

impl Gpu {
    /// What the driver requires of an image or buffer.
    unsafe fn requirements(&self, memory: &WalkMemory) -> vk::MemoryRequirements {
        let families = [self.family];
        let (image, buffer) = (memory.image_info(&families), memory.buffer_info(&families));
        let mut out = vk::MemoryRequirements2::default();
        // SAFETY: the create infos are valid.
        unsafe {
            if memory.is_image() {
                let info = vk::DeviceImageMemoryRequirements::default().create_info(&image);
                self.device.get_device_image_memory_requirements(&info, &mut out);
            } else {
                let info = vk::DeviceBufferMemoryRequirements::default().create_info(&buffer);
                self.device.get_device_buffer_memory_requirements(&info, &mut out);
            }
        }
        out.memory_requirements
    }

    unsafe fn allocate(&self, size: u64, bits: u32, wanted: vk::MemoryPropertyFlags) -> Outcome<vk::DeviceMemory> {
        let types = &self.memory.memory_types[..self.memory.memory_type_count as usize];
        let fits = |(at, one): &(usize, &vk::MemoryType)| bits & 1 << at != 0 && one.property_flags.contains(wanted);
        let (index, _) = types.iter().enumerate().find(fits).ok_or("no such memory")?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(index as u32);
        // SAFETY: the type is one of the device's.
        Ok(unsafe { self.device.allocate_memory(&info, None)? })
    }
}

/// The engine's recorder.
struct Own<'a> {
    gpu: &'a Gpu,
    scene: Scene,
    images: HashMap<Slot, vk::Image>,
    buffers: HashMap<Slot, vk::Buffer>,
    views: HashMap<WalkView, vk::ImageView>,
    memories: Vec<vk::DeviceMemory>,
    result: vk::DeviceMemory,
    /// One timeline for each queue of the plan.
    timelines: IdVec<QueueId, vk::Semaphore>,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    run: u32,
    barrier_calls: u32,
}

impl<'a> Own<'a> {
    /// Makes what the walk asks for.
    unsafe fn new(gpu: &'a Gpu, walk: &Walk, scene: Scene, queues: usize) -> Outcome<Self> {
        let (device, families) = (&gpu.device, [gpu.family]);
        let (mut images, mut buffers, mut memories) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut result = vk::DeviceMemory::null();
        // SAFETY: handles are of this device; memory is as large as the driver says.
        unsafe {
            // One allocation for each arena, of a type that suits all that lies there.
            for (at, heap) in walk.heaps().iter().enumerate() {
                let here = walk.memories().iter().filter(|memory| memory.place.is_some_and(|(heap, _)| heap == at));
                let bits = here.fold(u32::MAX, |bits, memory| bits & gpu.requirements(memory).memory_type_bits);
                memories.push(gpu.allocate(heap.size.max(1), bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)?);
            }
            for memory in walk.memories() {
                for index in 0..memory.count {
                    let slot = Slot { memory: memory.memory, index };
                    let needs = gpu.requirements(memory);
                    let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
                    let (bound, offset) = match memory.place {
                        Some((heap, offset)) => (memories[heap], offset),
                        None if memory.life == PlanLife::Imported => {
                            result = gpu.allocate(needs.size, needs.memory_type_bits, visible)?;
                            (result, 0)
                        }
                        None => {
                            let wanted = vk::MemoryPropertyFlags::DEVICE_LOCAL;
                            memories.push(gpu.allocate(needs.size, needs.memory_type_bits, wanted)?);
                            (memories[memories.len() - 1], 0)
                        }
                    };
                    if memory.is_image() {
                        let image = device.create_image(&memory.image_info(&families), None)?;
                        device.bind_image_memory(image, bound, offset)?;
                        images.insert(slot, image);
                    } else {
                        let buffer = device.create_buffer(&memory.buffer_info(&families), None)?;
                        device.bind_buffer_memory(buffer, bound, offset)?;
                        buffers.insert(slot, buffer);
                    }
                }
            }
            let mut timelines = IdVec::new();
            for _ in 0..queues {
                let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
                timelines
                    .push(device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None)?);
            }
            let pool = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.family);
            let pool = device.create_command_pool(&pool, None)?;
            let (views, commands) = (HashMap::new(), vk::CommandBuffer::null());
            let (run, barrier_calls) = (0, 0);
            Ok(Self {
                gpu,
                scene,
                images,
                buffers,
                views,
                memories,
                result,
                timelines,
                pool,
                commands,
                run,
                barrier_calls,
            })
        }
    }

    /// Half of mip 1 is sun, half is sky; the trail has the numbers of this run and of those before.
    unsafe fn compare(&self, run: u32) -> Outcome<()> {
        let size = TRAIL + WORDS * 4;
        // SAFETY: the device is idle, and the memory is that large and coherent.
        let found = unsafe {
            let mapped = self.gpu.device.map_memory(self.result, 0, size, vk::MemoryMapFlags::empty())?.cast::<u8>();
            let found = std::slice::from_raw_parts(mapped, size as usize).to_vec();
            self.gpu.device.unmap_memory(self.result);
            found
        };
        let (texels, trail) = found.split_at(TRAIL as usize);
        for (at, texel) in texels.chunks_exact(4).enumerate() {
            let wanted = if at % 8 < 4 { [255, 0, 0, 255] } else { [0, 0, 255, 255] };
            assert_eq!(texel, wanted, "texel {at} of run {run}");
        }
        let words: Vec<_> =
            trail.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        let known = (run as usize + 1).min(WORDS as usize);
        assert_eq!(words[..known], (0..known as u32).map(|back| run - back).collect::<Vec<_>>(), "run {run}");
        Ok(())
    }

    unsafe fn destroy(self) {
        let device = &self.gpu.device;
        // SAFETY: the device is idle.
        unsafe {
            self.views.values().for_each(|view| device.destroy_image_view(*view, None));
            self.images.values().for_each(|image| device.destroy_image(*image, None));
            self.buffers.values().for_each(|buffer| device.destroy_buffer(*buffer, None));
            self.memories.iter().chain([&self.result]).for_each(|memory| device.free_memory(*memory, None));
            self.timelines.iter().for_each(|semaphore| device.destroy_semaphore(*semaphore, None));
            device.destroy_command_pool(self.pool, None);
        }
    }
}

impl Recorder for Own<'_> {
    type Error = Box<dyn std::error::Error>;

    fn image(&mut self, slot: Slot) -> vk::Image {
        self.images[&slot]
    }

    fn buffer(&mut self, slot: Slot) -> (vk::Buffer, u64) {
        (self.buffers[&slot], 0)
    }

    fn begin_batch(&mut self, _: &WalkBatch) -> Outcome<()> {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool is this thread's.
        unsafe {
            self.commands = self.gpu.device.allocate_command_buffers(&info)?[0];
            self.gpu.device.begin_command_buffer(self.commands, &vk::CommandBufferBeginInfo::default())?;
        }
        Ok(())
    }

    fn barriers(&mut self, dependency: &vk::DependencyInfo<'_>) -> Outcome<()> {
        self.barrier_calls += 1;
        // SAFETY: outside of a render pass; the dependency is the plan's.
        unsafe { self.gpu.device.cmd_pipeline_barrier2(self.commands, dependency) };
        Ok(())
    }

    fn begin_rendering(&mut self, rendering: &WalkRendering) -> Outcome<()> {
        for target in &rendering.colors {
            if !self.views.contains_key(&target.view) {
                let info = target.view.info(self.images[&target.view.slot]);
                // SAFETY: the image has that level.
                let view = unsafe { self.gpu.device.create_image_view(&info, None)? };
                self.views.insert(target.view, view);
            }
        }
        // SAFETY: the views were just made.
        unsafe { rendering.begin(&self.gpu.device, self.commands, |view| self.views[view]) };
        Ok(())
    }

    fn pass(&mut self, pass: &WalkPass<'_>) -> Outcome<()> {
        let (device, commands, scene) = (&self.gpu.device, self.commands, self.scene);
        let buffer = |resource| self.buffers[&pass.slot(resource)];
        // SAFETY: each pass keeps to what it declares.
        unsafe {
            match pass.name() {
                "sun" => {
                    let color = vk::ClearColorValue { float32: [1.0, 0.0, 0.0, 1.0] };
                    let clear = vk::ClearAttachment {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        color_attachment: 0,
                        clear_value: vk::ClearValue { color },
                    };
                    let extent = vk::Extent2D { width: 8, height: 16 };
                    let left = vk::Rect2D { offset: vk::Offset2D::default(), extent };
                    let left = vk::ClearRect { rect: left, base_array_layer: 0, layer_count: 1 };
                    device.cmd_clear_attachments(commands, &[clear], &[left]);
                }
                "move" => {
                    let (from, to) = (buffer(scene.before), buffer(scene.trail));
                    let rest = vk::BufferCopy { src_offset: 0, dst_offset: 4, size: (WORDS - 1) * 4 };
                    device.cmd_copy_buffer(commands, from, to, &[rest]);
                    device.cmd_fill_buffer(commands, to, 0, 4, self.run);
                }
                "read" => {
                    let layers = vk::ImageSubresourceLayers {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        mip_level: 1,
                        base_array_layer: 0,
                        layer_count: 1,
                    };
                    let region = vk::BufferImageCopy {
                        image_subresource: layers,
                        image_extent: vk::Extent3D { width: 8, height: 8, depth: 1 },
                        ..Default::default()
                    };
                    let image = self.images[&pass.slot(scene.picture)];
                    let layout = pass.layout(scene.picture, 1, 0).ok_or("the pass declares it")?;
                    let to = buffer(scene.result);
                    device.cmd_copy_image_to_buffer(commands, image, layout, to, &[region]);
                    let trail = vk::BufferCopy { src_offset: 0, dst_offset: TRAIL, size: WORDS * 4 };
                    device.cmd_copy_buffer(commands, buffer(scene.trail), to, &[trail]);
                }
                // The load operation of the render pass is all of the sky.
                _ => {}
            }
        }
        Ok(())
    }

    fn blit(&mut self, blit: &WalkBlit) -> Outcome<()> {
        let ((from, from_layout), (to, to_layout)) = (blit.from, blit.to);
        let (from, to, regions) = (self.images[&from], self.images[&to], [blit.region]);
        let (device, commands) = (&self.gpu.device, self.commands);
        // SAFETY: outside of a render pass; levels and layouts are the plan's.
        unsafe { device.cmd_blit_image(commands, from, from_layout, to, to_layout, &regions, blit.filter) };
        Ok(())
    }

    fn end_rendering(&mut self) -> Outcome<()> {
        // SAFETY: one was begun.
        unsafe { self.gpu.device.cmd_end_rendering(self.commands) };
        Ok(())
    }

    fn end_batch(&mut self, batch: &WalkBatch) -> Outcome<()> {
        let info = |queue: QueueId, value: u64, stages: vk::PipelineStageFlags2| {
            vk::SemaphoreSubmitInfo::default().semaphore(self.timelines[queue]).value(value).stage_mask(stages)
        };
        let waits: Vec<_> =
            batch.waits.iter().filter_map(|wait| Some(info(wait.queue?, wait.value, wait.stages))).collect();
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let signals: Vec<_> = batch.signal.iter().filter_map(|value| Some(info(batch.queue?, *value, all))).collect();
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(self.commands)];
        let submit = vk::SubmitInfo2::default()
            .wait_semaphore_infos(&waits)
            .command_buffer_infos(&commands)
            .signal_semaphore_infos(&signals);
        // The CPU reads the result, which is no part of the frame.
        let host = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let visible = vk::DependencyInfo::default().memory_barriers(&host);
        // SAFETY: the queue is nobody else's, and all handles live until it is idle.
        unsafe {
            self.gpu.device.cmd_pipeline_barrier2(self.commands, &visible);
            self.gpu.device.end_command_buffer(self.commands)?;
            self.gpu.device.queue_submit2(self.gpu.queue, &[submit], vk::Fence::null())?;
        }
        Ok(())
    }
}
