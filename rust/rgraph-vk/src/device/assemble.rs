//! Puts a device together from its parts: queues with their timelines, memory, pipelines. What was made is destroyed
//! if a later part fails.

use std::ffi::CStr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use ash::{ext, vk};
use rgraph_plan::profile::{Capabilities, Profile};

use super::{Device, DeviceOptions, Enabled, Shared, driver, open};
use crate::compile::pipeline::Pipelines;
use crate::compile::spare::Spares;
use crate::device::context::Context;
use crate::device::functions::Functions;
use crate::device::physical::Physical;
use crate::device::queue::{Queue, QueueLock};
use crate::error::{Called, Error};
use crate::frame::clock::DeviceClock;
use crate::memory::Memory;

/// What a device is made of, whoever made them.
pub(super) struct Parts {
    pub(super) context: Arc<Context>,
    pub(super) chosen: Physical,
    pub(super) profile: Profile,
    pub(super) raw: Functions,
    pub(super) enabled: Enabled,
    pub(super) budget: bool,
    pub(super) clock: Option<&'static CStr>,
    pub(super) handles: Vec<Handle>,
    /// Of the caller's.
    pub(super) pipeline_cache: Option<vk::PipelineCache>,
    pub(super) owned: bool,
}

/// A queue before it has a timeline.
pub(super) struct Handle {
    pub(super) name: String,
    pub(super) family: u32,
    pub(super) capabilities: Capabilities,
    pub(super) raw: vk::Queue,
    pub(super) lock: Option<Arc<dyn QueueLock>>,
}

/// Destroys a half-made device.
struct Guard<'a> {
    raw: &'a Functions,
    owned: bool,
    semaphores: Vec<vk::Semaphore>,
    armed: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        for &semaphore in &self.semaphores {
            // SAFETY: made of this device, never used.
            unsafe { self.raw.destroy_semaphore(semaphore, self.raw.host()) };
        }
        if self.owned {
            let _alone = driver::alone();
            // SAFETY: nothing else was made of it.
            unsafe { self.raw.destroy_device(self.raw.host()) };
        }
    }
}

impl Device {
    pub(super) fn assemble(parts: Parts, options: &DeviceOptions) -> Result<Self, Error> {
        let Parts { context, chosen, profile, raw, enabled, budget, clock, handles, pipeline_cache, owned } = parts;
        let profile = match &options.costs {
            Some(costs) => profile.with_costs_of(costs),
            None => profile,
        };
        // From here on the device is destroyed if anything fails.
        let mut guard = Guard { raw: &raw, owned, semaphores: Vec::new(), armed: true };
        let mut queues = Vec::new();
        for handle in handles {
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
            // SAFETY: timeline semaphores are enabled.
            let semaphore = unsafe { raw.create_semaphore(&info, raw.host()) }.called("vkCreateSemaphore")?;
            guard.semaphores.push(semaphore);
            let timestamp_bits = chosen.info.families[handle.family as usize].timestamp_bits;
            queues.push(Queue::new(handle, timestamp_bits, semaphore));
        }
        let memory = Memory::new(context.raw(), chosen.raw, &raw, enabled.rays.structures, options.memory.clone())?;
        // SAFETY: the physical device is of this instance.
        let properties = unsafe { context.raw().get_physical_device_properties(chosen.raw) };
        let pipelines = Pipelines::new(&raw, &properties, options.cache.clone(), pipeline_cache)?;
        guard.armed = false;
        drop(guard);
        let labels = context.labels && options.labels.unwrap_or(true);
        let spares = Arc::new(Spares::new(options.spare_graphs));
        let shared = Shared {
            clock: clock.map(|name| DeviceClock::new(&context, &raw, name, properties.limits.timestamp_period)),
            meshes: enabled.mesh.then(|| ext::mesh_shader::Device::new(context.raw(), &raw)),
            rays: crate::compile::ray::RayFunctions::of(&context, chosen.raw, &raw, enabled.rays).map(Box::new),
            labels: labels.then(|| ext::debug_utils::Device::new(context.raw(), &raw)),
            raw,
            physical: chosen.raw,
            drops_edge_barriers: chosen.info.driver.starts_with("llvmpipe"),
            narrows_events: chosen.info.driver.starts_with("NVIDIA"),
            info: chosen.info,
            profile,
            limits: properties.limits,
            enabled,
            queues,
            frames_in_flight: match options.frames_in_flight {
                0 => 2,
                frames => frames.min(8) as usize,
            },
            threads: options.threads.clone(),
            unified: memory.is_unified(),
            pipelines,
            memory: Mutex::new(Some(memory)),
            deletion_queue: Mutex::default(),
            staging: Mutex::default(),
            transfers: Mutex::default(),
            turn: Mutex::default(),
            captures: Default::default(),
            promises: Default::default(),
            handles: Default::default(),
            foreign_waits: Default::default(),
            plans: Default::default(),
            needs: Default::default(),
            spares: Arc::downgrade(&spares),
            lost: OnceLock::new(),
            closed: AtomicBool::new(false),
            budget,
            owned,
            context,
        };
        for queue in &shared.queues {
            shared.name(queue.semaphore, &format!("{} timeline", queue.name));
        }
        let shared = Arc::new(shared);
        open::remember(&shared);
        Ok(Self(shared, spares))
    }
}
