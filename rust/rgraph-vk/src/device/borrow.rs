//! Devices of the caller's: their queues with the caller's locks, and exactly what they were made with.

use std::ffi::CString;
use std::sync::Arc;

use ash::{ext, vk};
use rgraph_plan::profile::{Capabilities, Profile, Queue as ProfileQueue};

use super::assemble::Parts;
use super::create::profile;
use super::functions::Functions;
use super::queue::QueueLock;
use super::{Device, DeviceOptions, EnabledFeatures, physical};
use crate::device::context::{Context, EntryTable};
use crate::device::queue::Handle;
use crate::error::{Code, DeviceError, Error};
use crate::frame::clock;

/// A queue of a caller's device that rgraph may submit to.
#[derive(Clone)]
pub struct BorrowedQueue {
    pub family: u32,
    /// Its handle.
    pub queue: vk::Queue,
    /// The caller's lock of it; `None`: the caller uses the queue in [`Device::with_queue`] only.
    pub lock: Option<Arc<dyn QueueLock>>,
}

impl BorrowedQueue {
    /// A queue without a lock of the caller's.
    pub fn new(family: u32, queue: vk::Queue) -> Self {
        Self { family, queue, lock: None }
    }
}

impl std::fmt::Debug for BorrowedQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BorrowedQueue").field("family", &self.family).field("lock", &self.lock.is_some()).finish()
    }
}

/// Handles of a caller's own Vulkan objects, and what they were made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BorrowedDevice {
    /// The function table that the instance came from.
    pub entry: EntryTable,
    pub instance: vk::Instance,
    /// `apiVersion` of the instance's `VkApplicationInfo`: 1.3 or later.
    pub api_version: u32,
    /// Extensions of the instance: `VK_EXT_debug_utils` gives names and labels, those of surfaces give windows.
    pub instance_extensions: Vec<CString>,
    pub physical: vk::PhysicalDevice,
    pub device: vk::Device,
    /// Features and extensions that the device was made with.
    pub enabled: EnabledFeatures,
    /// The queues that rgraph may submit to; the first is the graphics queue.
    pub queues: Vec<BorrowedQueue>,
    /// A pipeline cache of the caller's that rgraph makes its pipelines with; null: one of its own. It is not made with
    /// `VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT`.
    pub pipeline_cache: vk::PipelineCache,
}

impl BorrowedDevice {
    /// Handles of objects of Vulkan 1.3, made with [`EnabledFeatures::required`] and no extension; the other fields say
    /// what there is beyond that.
    pub fn new(
        entry: EntryTable,
        instance: vk::Instance,
        physical: vk::PhysicalDevice,
        device: vk::Device,
        queues: Vec<BorrowedQueue>,
    ) -> Self {
        Self {
            entry,
            instance,
            api_version: vk::API_VERSION_1_3,
            instance_extensions: Vec::new(),
            physical,
            device,
            enabled: EnabledFeatures::required(),
            queues,
            pipeline_cache: vk::PipelineCache::null(),
        }
    }

    /// Refuses what rgraph cannot work with.
    fn check(&self) -> Result<(), Error> {
        let (major, minor) = (vk::api_version_major(self.api_version), vk::api_version_minor(self.api_version));
        let refused = |message: String, help: &str| Err(DeviceError::new(Code::Missing, message, help).into());
        if self.api_version < vk::API_VERSION_1_3 {
            let message = format!("the instance was made for Vulkan {major}.{minor}, and rgraph uses 1.3");
            return refused(message, "set apiVersion of VkApplicationInfo to VK_API_VERSION_1_3");
        }
        let missing = self.enabled.missing();
        if !missing.is_empty() {
            let message = format!("the device was made without {}", missing.join(", "));
            return refused(message, "enable them in VkDeviceCreateInfo: every device of Vulkan 1.3 has them");
        }
        if self.queues.is_empty() {
            return refused("the device has no queue for rgraph".to_owned(), "lend at least one queue");
        }
        Ok(())
    }
}

impl Device {
    /// Uses the caller's device. Its queues are rgraph's to submit to: the caller uses them inside
    /// [`Device::with_queue`], or gives their locks.
    ///
    /// # Errors
    /// RG-E102 if the device was made without something that rgraph needs, RG-E103 if a queue family does not exist;
    /// or what the driver says.
    ///
    /// # Safety
    /// All handles are valid and belong together, were made with what the fields list, and outlive the device and
    /// everything made of it.
    pub unsafe fn borrow(borrowed: &BorrowedDevice, options: &DeviceOptions) -> Result<Self, Error> {
        borrowed.check()?;
        let BorrowedDevice { entry, instance, physical, device, enabled: features, queues, .. } = borrowed;
        // SAFETY: the caller says so.
        let context =
            unsafe { Context::borrow(entry.0.clone(), *instance, &borrowed.instance_extensions, options.host) };
        let Some(chosen) = physical::list(&context)?.into_iter().find(|one| one.raw == *physical) else {
            let error = DeviceError::new(Code::NoSuchDevice, "the physical device is not one of the instance", "");
            return Err(error.into());
        };
        let mut handles = Vec::new();
        for (at, queue) in queues.iter().enumerate() {
            let Some(known) = chosen.info.families.get(queue.family as usize) else {
                let message = format!("queue family {} does not exist", queue.family);
                return Err(DeviceError::new(Code::NoSuchDevice, message, "").into());
            };
            let name = match (at, known.capabilities) {
                (0, _) => "graphics".to_owned(),
                (at, has) if has.contains(Capabilities::COMPUTE) => format!("compute{at}"),
                (at, _) => format!("transfer{at}"),
            };
            let (capabilities, lock) = (known.capabilities, queue.lock.clone());
            handles.push(Handle { name, family: queue.family, capabilities, raw: queue.queue, lock });
        }
        let queues = handles.iter().map(|handle| ProfileQueue {
            name: handle.name.clone(),
            family: handle.family,
            count: 1,
            capabilities: handle.capabilities,
        });
        let profile = Profile { queues: queues.collect(), ..profile(&context, &chosen, 1) };
        // SAFETY: the caller says that the device is of this instance.
        let raw = unsafe { ash::Device::load(context.raw().fp_v1_0(), *device) };
        let raw = Functions::new(raw, options.host);
        let budget = features.has_extension(ext::memory_budget::NAME);
        let clock = clock::extension(&context, chosen.raw, |name| features.has_extension(name));
        let cache = borrowed.pipeline_cache;
        let pipeline_cache = (cache != vk::PipelineCache::null()).then_some(cache);
        let enabled = features.enabled();
        let parts =
            Parts { context, chosen, profile, raw, enabled, budget, clock, handles, pipeline_cache, owned: false };
        Self::assemble(parts, options)
    }

    /// The pipeline cache that rgraph makes its pipelines with: the caller's of a borrowed device, else its own.
    /// Pipelines of the caller's may be made with it, too; it lives as long as the device.
    pub fn pipeline_cache(&self) -> vk::PipelineCache {
        self.0.pipelines.cache()
    }
}
