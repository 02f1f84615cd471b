//! Puts a device together from its parts: queues with their timelines, memory, pipelines. What was made is destroyed
//! if a later part fails.

use std::ffi::CStr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use ash::{ext, vk};
use rgraph_plan::declared::expanded_queues;
use rgraph_plan::id::IdVec;
use rgraph_plan::profile::Profile;

use super::{Device, DeviceOptions, Shared, driver, open};
use crate::compile::pipelines::Pipelines;
use crate::device::context::Context;
use crate::device::create::{Created, create, profile};
use crate::device::enabled::Enabled;
use crate::device::functions::Functions;
use crate::device::open::Undestroyed;
use crate::device::physical::{self, Physical};
use crate::device::queue::{Handle, Queue};
use crate::error::{Called, Error};
use crate::frame::clock::DeviceClock;
use crate::memory::Memory;
use crate::memory::reclaim::Reclaim;
use crate::run::spare::Spares;

/// Parts of a device, created by rgraph or borrowed.
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
    /// Opens a device.
    ///
    /// # Errors
    /// RG-E101 to RG-E107 if there is none that fits; else what the driver says.
    pub fn new(options: &DeviceOptions) -> Result<Self, Error> {
        let context = Context::new(&options.context())?;
        let selector = options.device.clone().or_else(|| std::env::var("RGRAPH_DEVICE").ok());
        let chosen = physical::choose(physical::list(&context)?, selector.as_deref())?;
        let profile = profile(&context, &chosen, options.queues.max(1));
        let Created { raw, enabled, budget, clock } = create(&context, &chosen, &profile, options)?;
        let mut taken = vec![0; chosen.info.families.len()];
        let mut handles = Vec::new();
        for queue in expanded_queues(&profile) {
            let index = &mut taken[queue.family as usize];
            // SAFETY: the device was made with that many queues of the family.
            let handle = unsafe { raw.get_device_queue(queue.family, *index) };
            *index += 1;
            handles.push(Handle {
                name: queue.name,
                family: queue.family,
                capabilities: queue.capabilities,
                raw: handle,
                lock: None,
            });
        }
        let parts =
            Parts { context, chosen, profile, raw, enabled, budget, clock, handles, pipeline_cache: None, owned: true };
        Self::assemble(parts, options)
    }

    pub(super) fn assemble(parts: Parts, options: &DeviceOptions) -> Result<Self, Error> {
        let Parts { context, chosen, profile, raw, enabled, budget, clock, handles, pipeline_cache, owned } = parts;
        let profile = match &options.costs {
            Some(costs) => profile.with_costs_of(costs),
            None => profile,
        };
        let profile = Profile { features: Some(enabled.features), ..profile };
        // From here on the device is destroyed if anything fails.
        let mut guard = Guard { raw: &raw, owned, semaphores: Vec::new(), armed: true };
        let mut queues = IdVec::new();
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
            rays: crate::device::rays::RayFunctions::of(&context, chosen.raw, &raw, enabled.rays).map(Box::new),
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
            preparing: Default::default(),
            needs: Default::default(),
            spares: Arc::downgrade(&spares) as Weak<dyn Reclaim>,
            lost: OnceLock::new(),
            closed: AtomicBool::new(false),
            budget,
            owned,
            context,
            _undestroyed: Undestroyed::count(),
        };
        for queue in &shared.queues {
            shared.name(queue.semaphore, &format!("{} timeline", queue.name));
        }
        let shared = Arc::new(shared);
        open::remember(&shared);
        Ok(Self(shared, spares))
    }
}
