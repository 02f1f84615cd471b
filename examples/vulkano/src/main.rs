//! rgraph with vulkano: one device and one queue, which vulkano made and lends, with its lock.
//!
//! vulkano fills an image of its own, rgraph doubles its texels, and vulkano copies it. Two timeline semaphores order
//! the three, one per writer; the host waits once, at the end.

use std::error::Error;
use std::sync::Arc;

use rgraph::plan::access::{Layout, Stages};
use rgraph::plan::prelude::*;
use rgraph::plan::resource::ResourceId;
use rgraph::shader::{Kind, Language, Program, Source};
use rgraph::vk::work::{Bound, Dispatch, Groups, Step, View, What, Work, Workload};
use rgraph::vk::{
    BorrowedDevice, BorrowedHandle, BorrowedQueue, Device, DeviceOptions, DeviceQueueId, EntryTable, Inputs, QueueLock,
    ResourceLeft, ResourceState, SemaphoreSignal, SemaphoreWait, Upload,
};
use vulkano::buffer::{Buffer, BufferCreateInfo, BufferUsage};
use vulkano::command_buffer::allocator::StandardCommandBufferAllocator;
use vulkano::command_buffer::{
    AutoCommandBufferBuilder, ClearColorImageInfo, CommandBufferSubmitInfo, CommandBufferUsage, CopyImageToBufferInfo,
    PrimaryAutoCommandBuffer, SemaphoreSubmitInfo, SubmitInfo,
};
use vulkano::device::{Device as TheirDevice, DeviceCreateInfo, DeviceFeatures, Queue, QueueCreateInfo, QueueFlags};
use vulkano::format::ClearColorValue;
use vulkano::image::{Image, ImageCreateInfo, ImageUsage};
use vulkano::instance::{Instance, InstanceCreateInfo};
use vulkano::memory::allocator::{AllocationCreateInfo, MemoryTypeFilter, StandardMemoryAllocator};
use vulkano::sync::semaphore::{Semaphore, SemaphoreCreateInfo, SemaphoreType, SemaphoreWaitInfo};
use vulkano::{Version, VulkanLibrary, VulkanObject};

type Outcome<T> = Result<T, Box<dyn Error>>;

const SIDE: u32 = 16;

const DOUBLE: &str = "
@group(0) @binding(0) var image: texture_storage_2d<r32uint, read_write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(image, id.xy, textureLoad(image, id.xy) * 2u);
}";

/// vulkano's lock of its queue, which rgraph takes for each submit.
struct Lock(Arc<Queue>);

impl QueueLock for Lock {
    fn alone(&self, function: &mut dyn FnMut()) {
        self.0.with(|_| function());
    }
}

/// vulkano's device, made with what rgraph needs besides.
fn open() -> Outcome<(Arc<TheirDevice>, Arc<Queue>)> {
    let info = InstanceCreateInfo {
        max_api_version: Some(Version::V1_3),
        ..InstanceCreateInfo::application_from_cargo_toml()
    };
    let instance = Instance::new(VulkanLibrary::new()?, info)?;
    let physical = instance.enumerate_physical_devices()?.next().ok_or("no device")?;
    let can = QueueFlags::GRAPHICS | QueueFlags::COMPUTE;
    let families = physical.queue_family_properties();
    let family = families.iter().position(|one| one.queue_flags.contains(can)).ok_or("no such queue")? as u32;
    let info = DeviceCreateInfo {
        queue_create_infos: vec![QueueCreateInfo { queue_family_index: family, ..QueueCreateInfo::default() }],
        enabled_features: DeviceFeatures {
            timeline_semaphore: true,
            synchronization2: true,
            dynamic_rendering: true,
            maintenance4: true,
            shader_zero_initialize_workgroup_memory: true,
            ..DeviceFeatures::empty()
        },
        ..DeviceCreateInfo::default()
    };
    let (device, mut queues) = TheirDevice::new(physical, info)?;
    Ok((device, queues.next().ok_or("a queue")?))
}

/// The same device, for rgraph.
fn lend(device: &TheirDevice, queue: &Arc<Queue>) -> Outcome<Device> {
    let lock: Arc<dyn QueueLock> = Arc::new(Lock(queue.clone()));
    let mut lent = BorrowedQueue::new(queue.queue_family_index(), queue.handle());
    lent.lock = Some(lock);
    let (instance, physical) = (device.instance().handle(), device.physical_device().handle());
    let borrowed = BorrowedDevice::new(EntryTable::load(None)?, instance, physical, device.handle(), vec![lent]);
    // SAFETY: the handles belong together, the device was made by `open`, and `main` drops rgraph's side first.
    Ok(unsafe { Device::borrow(&borrowed, &DeviceOptions::default())? })
}

/// rgraph's part: the texels doubled. vulkano has its images in layout `general` between command buffers.
fn declare() -> Outcome<(Workload, ResourceId)> {
    let mut g = Graph::new("beside vulkano", [SIDE, SIDE]);
    let image = g.import_image("image", Format::R32uint, Size::absolute(SIDE, SIDE));
    let pass = g.pass("double", PassQueue::Compute).storage_read_write(image).id();
    let program = Arc::new(Program::new("double", Kind::Compute, &[Source::Text(Language::Wgsl, DOUBLE)], None)?);
    let bound = Arc::new([Bound { binding: 0, element: 0, what: What::Resource(View::whole(image)) }]);
    let dispatch = Dispatch { program, bound, push: Default::default(), groups: Groups::Cover(image, 0), key: 0 };
    let mut workload = Workload::new(g);
    workload.works.insert(pass, Work::Steps(vec![Step::Dispatch(dispatch)]));
    Ok((workload, image))
}

/// Submits commands of vulkano's between two values of timelines.
fn submit(
    queue: &Arc<Queue>,
    commands: Arc<PrimaryAutoCommandBuffer>,
    wait: Option<(&Arc<Semaphore>, u64)>,
    signal: (&Arc<Semaphore>, u64),
) -> Outcome<()> {
    let at = |(semaphore, value): (&Arc<Semaphore>, u64)| SemaphoreSubmitInfo {
        value,
        ..SemaphoreSubmitInfo::new(semaphore.clone())
    };
    let info = SubmitInfo {
        wait_semaphores: wait.into_iter().map(at).collect(),
        command_buffers: vec![CommandBufferSubmitInfo::new(commands)],
        signal_semaphores: vec![at(signal)],
        ..SubmitInfo::default()
    };
    // SAFETY: `main` keeps the commands and what they use until the last value is reached.
    Ok(queue.with(|mut queue| unsafe { queue.submit(&[info], None) })?)
}

fn main() -> Outcome<()> {
    let (theirs, queue) = open()?;
    let ours = lend(&theirs, &queue)?;

    let memory = Arc::new(StandardMemoryAllocator::new_default(theirs.clone()));
    let usage = ImageUsage::STORAGE | ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    let format = vulkano::format::Format::R32_UINT;
    let info = ImageCreateInfo { format, extent: [SIDE, SIDE, 1], usage, ..ImageCreateInfo::default() };
    let image = Image::new(memory.clone(), info, AllocationCreateInfo::default())?;
    let visible = AllocationCreateInfo {
        memory_type_filter: MemoryTypeFilter::PREFER_HOST | MemoryTypeFilter::HOST_RANDOM_ACCESS,
        ..AllocationCreateInfo::default()
    };
    let info = BufferCreateInfo { usage: BufferUsage::TRANSFER_DST, ..BufferCreateInfo::default() };
    let texels = Buffer::new_slice::<u32>(memory, info, visible, u64::from(SIDE * SIDE))?;

    let allocator = Arc::new(StandardCommandBufferAllocator::new(theirs.clone(), Default::default()));
    let begin = || {
        let usage = CommandBufferUsage::OneTimeSubmit;
        AutoCommandBufferBuilder::primary(allocator.clone(), queue.queue_family_index(), usage)
    };
    let mut fill = begin()?;
    let clear_value = ClearColorValue::Uint([21, 0, 0, 0]);
    fill.clear_color_image(ClearColorImageInfo { clear_value, ..ClearColorImageInfo::image(image.clone()) })?;
    let mut copy = begin()?;
    copy.copy_image_to_buffer(CopyImageToBufferInfo::image_buffer(image.clone(), texels.clone()))?;
    let timeline = || {
        let info = SemaphoreCreateInfo { semaphore_type: SemaphoreType::Timeline, ..SemaphoreCreateInfo::default() };
        Semaphore::new(theirs.clone(), info).map(Arc::new)
    };
    let (by_vulkano, by_rgraph) = (timeline()?, timeline()?);

    let (workload, id) = declare()?;
    let compiled = ours.compile(workload, &Options::default())?;
    let kind = compiled.plan().resources[id].kind;
    // SAFETY: an image of this device, as the plan's resource is, with the usages that the pass needs; vulkano destroys
    // it behind rgraph.
    let lent = unsafe { ours.borrow_resource("image", kind, BorrowedHandle::Image(image.handle()), false) };

    submit(&queue, fill.build()?, None, (&by_vulkano, 1))?;
    // SAFETY: the run waits for vulkano's work, which leaves its images so.
    let left = unsafe {
        ResourceLeft::new(ResourceState {
            queue: Some(DeviceQueueId::FIRST),
            stages: Stages::ALL_TRANSFER,
            layout: Layout::General,
            ..ResourceState::default()
        })
    };
    let inputs = Inputs {
        uploads: vec![(id, Upload::Resource(&lent))],
        left: vec![(id, left)],
        // SAFETY: both are timelines of this device and outlive the run; nothing else signals the second.
        waits: vec![unsafe { SemaphoreWait::new(by_vulkano.handle(), Some(1)) }],
        // SAFETY: as above.
        signals: vec![unsafe { SemaphoreSignal::new(by_rgraph.handle(), Some(1)) }],
        read: Some(Vec::new()),
        ..Inputs::default()
    };
    compiled.run(&inputs)?;
    submit(&queue, copy.build()?, Some((&by_rgraph, 1)), (&by_vulkano, 2))?;
    by_vulkano.wait(SemaphoreWaitInfo { value: 2, ..SemaphoreWaitInfo::default() }, None)?;
    assert_eq!(lent.state().layout, Layout::General);
    assert!(texels.read()?.iter().all(|texel| *texel == 42), "21, doubled: {:?}", &texels.read()?[..4]);
    println!("vulkano filled, rgraph doubled, vulkano read {} texels", SIDE * SIDE);

    drop((lent, compiled));
    ours.close()?;
    Ok(())
}
