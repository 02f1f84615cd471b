//! The hand-written side: a minimal Vulkan program that knows its frame. Barriers, pipelines and descriptor sets lie
//! ready in arrays; recording is one loop over them, submitting is one call.

use std::collections::HashMap;

use ash::vk;
use rgraph_plan::access::{Accesses, Stages};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Command, Plan, PlanKind, PlanPassId, Scope};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Program;

/// Nanoseconds after which a frame is given up.
const PATIENCE: u64 = 20_000_000_000;

/// An instance, a device, and its first queue with compute.
pub struct Hand {
    /// Keeps the loader open.
    _entry: ash::Entry,
    instance: ash::Instance,
    device: ash::Device,
    queue: vk::Queue,
    family: u32,
    /// A kind of memory that the host sees, the device's own if there is one.
    visible: u32,
    timeline: vk::Semaphore,
    value: u64,
}

/// What a pass does: workgroups of a program whose bindings are storage buffers, in order, in one set.
pub struct Dispatch<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its buffers.
    pub bound: Vec<ResourceId>,
    /// Workgroups along x.
    pub groups: u32,
}

/// A command, ready.
enum Ready {
    /// Positions in [`Frame::memory_barriers`] and [`Frame::buffer_barriers`].
    Barriers([usize; 2], [usize; 2]),
    /// Bind, bind, push if asked, dispatch so many workgroups.
    Dispatch(vk::Pipeline, vk::DescriptorSet, bool, u32),
}

/// A frame that can be recorded again and again.
pub struct Frame {
    ready: Vec<Ready>,
    memory_barriers: Vec<vk::MemoryBarrier2<'static>>,
    buffer_barriers: Vec<vk::BufferMemoryBarrier2<'static>>,
    buffers: Vec<vk::Buffer>,
    memory: vk::DeviceMemory,
    mapped: *const u32,
    /// First byte of each resource.
    offsets: Vec<u64>,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    layouts: Vec<vk::PipelineLayout>,
    pipelines: Vec<vk::Pipeline>,
    sets: vk::DescriptorPool,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    /// The layout that descriptor sets are bound with: all of them are compatible.
    layout: vk::PipelineLayout,
}

impl Hand {
    /// Opens the first device that has Vulkan 1.3.
    pub fn new() -> Result<Self, String> {
        // SAFETY: the loader's own initialisation has no requirements.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| error.to_string())?;
        Self::open(entry).map_err(|error| format!("the hand-written side: {error}"))
    }

    fn open(entry: ash::Entry) -> Result<Self, vk::Result> {
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: here and below, structures outlive the calls and handles are those just made.
        unsafe {
            let instance = entry.create_instance(&info, None)?;
            let physical =
                *instance.enumerate_physical_devices()?.first().ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let family = family.ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)? as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let mut new = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
            let mut timeline = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let device = instance.create_device(physical, &info.push_next(&mut new).push_next(&mut timeline), None)?;
            let types = instance.get_physical_device_memory_properties(physical);
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let of =
                |wanted| types.memory_types_as_slice().iter().position(|kind| kind.property_flags.contains(wanted));
            let visible = of(wanted | vk::MemoryPropertyFlags::DEVICE_LOCAL).or_else(|| of(wanted));
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            Ok(Self {
                queue: device.get_device_queue(family, 0),
                family,
                visible: visible.ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)? as u32,
                timeline: device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None)?,
                value: 0,
                device,
                instance,
                _entry: entry,
            })
        }
    }

    /// Makes everything that a plan of dispatches over buffers on one queue needs.
    pub fn frame(&self, plan: &Plan, dispatches: &HashMap<PlanPassId, Dispatch<'_>>) -> Result<Frame, vk::Result> {
        let device = &self.device;
        // SAFETY: here and below, structures outlive the calls and handles are those just made.
        unsafe {
            let mut buffers = Vec::new();
            let (mut offsets, mut end) = (Vec::new(), 0_u64);
            for (_, resource) in plan.resources.iter_ids() {
                let PlanKind::Buffer { size } = resource.kind else { panic!("the frame is of buffers only") };
                let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
                let buffer = device.create_buffer(&info, None)?;
                let needs = device.get_buffer_memory_requirements(buffer);
                let offset = end.next_multiple_of(needs.alignment);
                end = offset + needs.size;
                offsets.push(offset);
                buffers.push(buffer);
            }
            let info = vk::MemoryAllocateInfo::default().allocation_size(end).memory_type_index(self.visible);
            let memory = device.allocate_memory(&info, None)?;
            for (&buffer, &offset) in buffers.iter().zip(&offsets) {
                device.bind_buffer_memory(buffer, memory, offset)?;
            }
            let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u32>();

            let bindings: Vec<_> = (0..2)
                .map(|binding| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = device.create_descriptor_set_layout(&info, None)?;
            let set_layouts = vec![set_layout];
            let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(4)];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None)?;
            let many = dispatches.len() as u32;
            let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 2 * many }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(many).pool_sizes(&sizes);
            let sets = device.create_descriptor_pool(&info, None)?;
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
            let pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];

            let mut frame = Frame {
                ready: Vec::new(),
                memory_barriers: Vec::new(),
                buffer_barriers: Vec::new(),
                buffers,
                memory,
                mapped,
                offsets,
                set_layouts,
                layouts: vec![layout],
                pipelines: Vec::new(),
                sets,
                pool,
                commands,
                layout,
            };
            let mut made: HashMap<u64, vk::Pipeline> = HashMap::new();
            for command in plan.batches.iter().flat_map(|batch| &plan.commands[batch.commands.range()]) {
                match *command {
                    Command::Barriers(barriers) => self.ready_barriers(&mut frame, plan, barriers),
                    Command::Pass { pass, .. } => {
                        let dispatch = &dispatches[&pass];
                        let pipeline = match made.get(&dispatch.program.hash) {
                            Some(&pipeline) => pipeline,
                            None => self.pipeline(&mut frame, dispatch.program)?,
                        };
                        made.insert(dispatch.program.hash, pipeline);
                        let set = self.set(&frame, &dispatch.bound)?;
                        let pushes = dispatch.program.interface.push.is_some();
                        frame.ready.push(Ready::Dispatch(pipeline, set, pushes, dispatch.groups));
                    }
                    _ => panic!("the frame is of dispatches only"),
                }
            }
            Ok(frame)
        }
    }

    fn ready_barriers(&self, frame: &mut Frame, plan: &Plan, barriers: rgraph_plan::plan::Barriers) {
        let first = [frame.memory_barriers.len(), frame.buffer_barriers.len()];
        for barrier in &plan.memory_barriers[barriers.memory.range()] {
            let (src, dst) = scopes(barrier.scope);
            frame.memory_barriers.push(
                vk::MemoryBarrier2::default()
                    .src_stage_mask(src.0)
                    .src_access_mask(src.1)
                    .dst_stage_mask(dst.0)
                    .dst_access_mask(dst.1),
            );
        }
        for barrier in &plan.buffer_barriers[barriers.buffers.range()] {
            let (src, dst) = scopes(barrier.scope);
            frame.buffer_barriers.push(
                vk::BufferMemoryBarrier2::default()
                    .src_stage_mask(src.0)
                    .src_access_mask(src.1)
                    .dst_stage_mask(dst.0)
                    .dst_access_mask(dst.1)
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .buffer(frame.buffers[barrier.resource.index()])
                    .offset(barrier.range[0])
                    .size(barrier.range[1] - barrier.range[0]),
            );
        }
        frame
            .ready
            .push(Ready::Barriers([first[0], frame.memory_barriers.len()], [first[1], frame.buffer_barriers.len()]));
    }

    unsafe fn pipeline(&self, frame: &mut Frame, program: &Program) -> Result<vk::Pipeline, vk::Result> {
        let module = &program.modules[0];
        let name = std::ffi::CString::new(&*module.entry).expect("entry points have no zeros");
        let info = vk::ShaderModuleCreateInfo::default().code(&module.spirv);
        // SAFETY: the module is valid SPIR-V; the structures outlive the calls.
        unsafe {
            let module = self.device.create_shader_module(&info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&name);
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(frame.layout)];
            let pipelines = self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            self.device.destroy_shader_module(module, None);
            let pipeline = pipelines.map_err(|(_, error)| error)?[0];
            frame.pipelines.push(pipeline);
            Ok(pipeline)
        }
    }

    unsafe fn set(&self, frame: &Frame, bound: &[ResourceId]) -> Result<vk::DescriptorSet, vk::Result> {
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(frame.sets).set_layouts(&frame.set_layouts);
        // SAFETY: the pool has room for a set of each dispatch, and none is in use.
        unsafe {
            let set = self.device.allocate_descriptor_sets(&info)?[0];
            for (binding, resource) in bound.iter().enumerate() {
                let buffer = frame.buffers[resource.index()];
                let info = [vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding as u32)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&info);
                self.device.update_descriptor_sets(&[write], &[]);
            }
            Ok(set)
        }
    }

    /// Records the frame, whose last submit is done; passes with push data get `push`.
    #[inline(never)]
    pub fn record(&self, frame: &Frame, push: u32, flags: vk::CommandBufferUsageFlags) -> Result<(), vk::Result> {
        let (device, commands) = (&self.device, frame.commands);
        // SAFETY: the pool's buffer is not in use; all handles live as long as the frame.
        unsafe {
            device.reset_command_pool(frame.pool, vk::CommandPoolResetFlags::empty())?;
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default().flags(flags))?;
            for ready in &frame.ready {
                match *ready {
                    Ready::Barriers(memory, buffers) => {
                        let info = vk::DependencyInfo::default()
                            .memory_barriers(&frame.memory_barriers[memory[0]..memory[1]])
                            .buffer_memory_barriers(&frame.buffer_barriers[buffers[0]..buffers[1]]);
                        device.cmd_pipeline_barrier2(commands, &info);
                    }
                    Ready::Dispatch(pipeline, set, pushes, groups) => {
                        let point = vk::PipelineBindPoint::COMPUTE;
                        device.cmd_bind_pipeline(commands, point, pipeline);
                        device.cmd_bind_descriptor_sets(commands, point, frame.layout, 0, &[set], &[]);
                        if pushes {
                            let stage = vk::ShaderStageFlags::COMPUTE;
                            device.cmd_push_constants(commands, frame.layout, stage, 0, &push.to_ne_bytes());
                        }
                        device.cmd_dispatch(commands, groups, 1, 1);
                    }
                }
            }
            device.end_command_buffer(commands)
        }
    }

    /// Submits what was recorded.
    #[inline(never)]
    pub fn submit(&mut self, frame: &Frame) -> Result<(), vk::Result> {
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(frame.commands)];
        let signal = [vk::SemaphoreSubmitInfo::default()
            .semaphore(self.timeline)
            .value(self.value + 1)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let info = vk::SubmitInfo2::default().command_buffer_infos(&commands).signal_semaphore_infos(&signal);
        // SAFETY: the command buffer is recorded and not in use.
        unsafe { self.device.queue_submit2(self.queue, &[info], vk::Fence::null()) }?;
        self.value += 1;
        Ok(())
    }

    /// Waits until all that was submitted is done.
    pub fn wait(&self) -> Result<(), vk::Result> {
        let (semaphores, values) = ([self.timeline], [self.value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        unsafe { self.device.wait_semaphores(&info, PATIENCE) }
    }

    /// The first word of a resource, when the frame is done.
    pub fn word(&self, frame: &Frame, resource: ResourceId) -> u32 {
        // SAFETY: mapped, coherent, and nothing writes it.
        unsafe { frame.mapped.byte_add(frame.offsets[resource.index()] as usize).read() }
    }

    /// Destroys a frame that is done.
    pub fn destroy(&self, frame: Frame) {
        let device = &self.device;
        // SAFETY: nothing of it is in use.
        unsafe {
            device.destroy_command_pool(frame.pool, None);
            device.destroy_descriptor_pool(frame.sets, None);
            frame.pipelines.into_iter().for_each(|pipeline| device.destroy_pipeline(pipeline, None));
            frame.layouts.into_iter().for_each(|layout| device.destroy_pipeline_layout(layout, None));
            frame.set_layouts.into_iter().for_each(|layout| device.destroy_descriptor_set_layout(layout, None));
            frame.buffers.into_iter().for_each(|buffer| device.destroy_buffer(buffer, None));
            device.free_memory(frame.memory, None);
        }
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        // SAFETY: its frames are gone.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_semaphore(self.timeline, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// Stages and accesses of both sides; the frame has compute and host only.
fn scopes(scope: Scope) -> ((vk::PipelineStageFlags2, vk::AccessFlags2), (vk::PipelineStageFlags2, vk::AccessFlags2)) {
    let half = |stages: Stages, access: Accesses| (stages_of(stages), accesses_of(access));
    (half(scope.src_stages, scope.src_access), half(scope.dst_stages, scope.dst_access))
}

fn stages_of(stages: Stages) -> vk::PipelineStageFlags2 {
    stages.iter().fold(vk::PipelineStageFlags2::NONE, |all, stage| {
        all | match stage {
            Stages::COMPUTE_SHADER => vk::PipelineStageFlags2::COMPUTE_SHADER,
            Stages::HOST => vk::PipelineStageFlags2::HOST,
            other => panic!("the frame has no {other:?}"),
        }
    })
}

fn accesses_of(access: Accesses) -> vk::AccessFlags2 {
    access.iter().fold(vk::AccessFlags2::NONE, |all, access| {
        all | match access {
            Accesses::SHADER_STORAGE_READ => vk::AccessFlags2::SHADER_STORAGE_READ,
            Accesses::SHADER_STORAGE_WRITE => vk::AccessFlags2::SHADER_STORAGE_WRITE,
            Accesses::HOST_READ => vk::AccessFlags2::HOST_READ,
            Accesses::HOST_WRITE => vk::AccessFlags2::HOST_WRITE,
            other => panic!("the frame has no {other:?}"),
        }
    })
}
