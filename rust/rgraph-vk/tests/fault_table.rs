//! The fault table tested with a small program of its own: every call fails once, and nothing stays alive.

use std::time::Duration;

use ash::vk;

use crate::support::demand::demand;
use crate::support::fault::{Faults, SmallWorld};

const MIB: u64 = 1 << 20;

/// What the program has made so far, given back from last to first.
#[derive(Default)]
struct Made {
    instance: Option<ash::Instance>,
    device: Option<ash::Device>,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    pool: vk::CommandPool,
    timeline: vk::Semaphore,
    sets: vk::DescriptorPool,
    layout: vk::DescriptorSetLayout,
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            // SAFETY: all are of this device, not in use, and null handles are allowed.
            unsafe {
                let _ = device.device_wait_idle();
                device.destroy_descriptor_pool(self.sets, None);
                device.destroy_descriptor_set_layout(self.layout, None);
                device.destroy_semaphore(self.timeline, None);
                device.destroy_command_pool(self.pool, None);
                device.destroy_buffer(self.buffer, None);
                device.free_memory(self.memory, None);
                device.destroy_device(None);
            }
        }
        if let Some(instance) = &self.instance {
            // SAFETY: nothing of it is alive any more.
            unsafe { instance.destroy_instance(None) };
        }
    }
}

/// Fills a buffer on the device and reads it on the host.
fn program(entry: &ash::Entry, bytes: u64) -> Result<u32, vk::Result> {
    let mut made = Made::default();
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    // SAFETY: here and below the structures live as long as the call, and handles are those made above.
    unsafe {
        let instance =
            entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&application), None)?;
        let instance = made.instance.insert(instance);
        let physical =
            *instance.enumerate_physical_devices()?.first().ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)?;
        let mut new = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
        let mut timeline = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut new).push_next(&mut timeline);
        let device = made.device.insert(instance.create_device(physical, &info, None)?);
        let queue = device.get_device_queue(0, 0);

        let info = vk::BufferCreateInfo::default().size(bytes).usage(vk::BufferUsageFlags::TRANSFER_DST);
        made.buffer = device.create_buffer(&info, None)?;
        let needs = device.get_buffer_memory_requirements(made.buffer);
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE;
        let types = instance.get_physical_device_memory_properties(physical);
        let kind = types
            .memory_types_as_slice()
            .iter()
            .enumerate()
            .find(|(i, kind)| needs.memory_type_bits & (1 << i) != 0 && kind.property_flags.contains(visible));
        let kind = kind.ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)?.0 as u32;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        made.memory = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(made.buffer, made.memory, 0)?;

        let uniform = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&uniform);
        made.layout = device.create_descriptor_set_layout(&info, None)?;
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 2 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes);
        made.sets = device.create_descriptor_pool(&info, None)?;
        let layouts = [made.layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(made.sets).set_layouts(&layouts);
        device.allocate_descriptor_sets(&info)?;
        device.reset_descriptor_pool(made.sets, vk::DescriptorPoolResetFlags::empty())?;
        device.allocate_descriptor_sets(&info)?;

        made.pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(made.pool).command_buffer_count(2);
        let buffers = device.allocate_command_buffers(&info)?;
        device.free_command_buffers(made.pool, &buffers[1..]);
        device.begin_command_buffer(buffers[0], &vk::CommandBufferBeginInfo::default())?;
        device.cmd_fill_buffer(buffers[0], made.buffer, 0, vk::WHOLE_SIZE, 7);
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        device.cmd_pipeline_barrier2(buffers[0], &vk::DependencyInfo::default().memory_barriers(&barriers));
        device.end_command_buffer(buffers[0])?;

        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        made.timeline = device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None)?;
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(buffers[0])];
        let signals = [vk::SemaphoreSubmitInfo::default()
            .semaphore(made.timeline)
            .value(1)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let submit = vk::SubmitInfo2::default().command_buffer_infos(&commands).signal_semaphore_infos(&signals);
        device.queue_submit2(queue, &[submit], vk::Fence::null())?;
        let (semaphores, values) = ([made.timeline], [1]);
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        device.wait_semaphores(&wait, Duration::from_secs(10).as_nanos() as u64)?;
        assert_eq!(device.get_semaphore_counter_value(made.timeline)?, 1);
        let mapped = device.map_memory(made.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
        let range = [vk::MappedMemoryRange::default().memory(made.memory).size(vk::WHOLE_SIZE)];
        device.invalidate_mapped_memory_ranges(&range)?;
        Ok(mapped.cast::<u32>().read())
    }
}

/// The table, where there is a device.
fn table() -> Option<Faults> {
    let found = Faults::new().and_then(|table| match program(&table.entry(), 256) {
        Ok(_) => Ok(table),
        Err(error) => Err(error.to_string()),
    });
    demand(found)
}

#[test]
fn a_program_runs_through_the_table_as_it_does_without() {
    let Some(faults) = table() else { return };
    faults.take_names();
    assert_eq!(program(&faults.entry(), 4096), Ok(7));
    assert_eq!(faults.imbalance(), None);
    let names = faults.take_names();
    for name in ["vkCreateInstance", "vkAllocateMemory", "vkQueueSubmit2", "vkWaitSemaphores", "vkMapMemory"] {
        assert_eq!(names.iter().filter(|&&seen| seen == name).count(), 1, "{name}");
    }
}

#[test]
fn every_call_fails_once_with_what_it_may_give_and_nothing_stays_alive() {
    let Some(faults) = table() else { return };
    let errors =
        [vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, vk::Result::ERROR_DEVICE_LOST];
    for (error, least) in errors.into_iter().zip([20, 20, 4]) {
        let mut failed = 0;
        for k in 1.. {
            faults.fail(k, error);
            let outcome = program(&faults.entry(), 4096);
            assert_eq!(faults.imbalance(), None, "{error:?} at call {k}, {:?}", faults.fired());
            let Some(call) = faults.fired() else {
                assert_eq!(outcome, Ok(7));
                break;
            };
            // A failure during teardown cannot be reported.
            assert!(outcome == Err(error) || call == "vkDeviceWaitIdle", "{error:?} at {call}: {outcome:?}");
            failed += 1;
        }
        println!("{error:?}: {failed} calls");
        assert!(failed >= least, "{error:?}: {failed} calls failed");
    }
}

#[test]
fn a_lost_device_stays_lost_and_the_next_one_works() {
    let Some(faults) = table() else { return };
    faults.take_names();
    faults.fail_call("vkQueueSubmit2", 1, vk::Result::ERROR_DEVICE_LOST);
    assert_eq!(program(&faults.entry(), 4096), Err(vk::Result::ERROR_DEVICE_LOST));
    assert_eq!(faults.take_names().last(), Some(&"vkDeviceWaitIdle"));
    assert_eq!(faults.imbalance(), None);
    assert_eq!(program(&faults.entry(), 4096), Ok(7));
}

#[test]
fn what_is_left_alive_or_given_back_twice_is_told() {
    let Some(faults) = table() else { return };
    let entry = faults.entry();
    // SAFETY: the instance is destroyed twice, which the table keeps from the loader.
    unsafe {
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None).expect("an instance");
        assert_eq!(faults.living(), [("INSTANCE".to_owned(), 1)].into());
        assert!(faults.imbalance().is_some());
        instance.destroy_instance(None);
        assert_eq!(faults.imbalance(), None);
        instance.destroy_instance(None);
    }
    assert!(faults.misuse()[0].starts_with("vkDestroyInstance of INSTANCE"), "{:?}", faults.misuse());
}

#[test]
fn a_small_world_refuses_memory() {
    let Some(faults) = table() else { return };
    faults.shrink(SmallWorld { heap: Some(MIB), granularity: Some(65536), ..SmallWorld::default() });
    assert_eq!(program(&faults.entry(), MIB / 2), Ok(7));
    assert_eq!(program(&faults.entry(), 2 * MIB), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    faults.shrink(SmallWorld { allocations: Some(0), ..SmallWorld::default() });
    assert_eq!(program(&faults.entry(), 4096), Err(vk::Result::ERROR_TOO_MANY_OBJECTS));
    faults.shrink(SmallWorld { timeless: true, ..SmallWorld::default() });
    assert_eq!(program(&faults.entry(), 4096), Ok(7));
    assert_eq!(faults.imbalance(), None);
}
