//! What everything of a device shares: handles, queues, memory, pipelines, and whether it is lost or closed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use ash::{ext, vk};
use rgraph_plan::access::Layout;
use rgraph_plan::id::IdVec;
use rgraph_plan::profile::Profile;

use super::{context, driver};
use crate::compile::known_plans::KnownPlans;
use crate::compile::pipelines::Pipelines;
use crate::compile::progress::Preparing;
use crate::convert;
use crate::device::context::Context;
use crate::device::enabled::Enabled;
use crate::device::functions::Functions;
use crate::device::handles::Handles;
use crate::device::lend::Threads;
use crate::device::open::Undestroyed;
use crate::device::open_wait::{CLOSE_PATIENCE, ForeignWaits};
use crate::device::physical::DeviceInfo;
use crate::device::process;
use crate::device::promise::Promises;
use crate::device::queue::{DeviceQueueId, Queue};
use crate::error::{Code, DeviceError, Error};
use crate::frame::clock::DeviceClock;
use crate::memory::blocks::Staging;
use crate::memory::command_pools::Transfers;
use crate::memory::deferred_deletion::{DeferredDeletion, DeletionQueue};
use crate::memory::needs::KnownNeeds;
use crate::memory::reclaim::Reclaim;
use crate::memory::{Memory, MemoryReport};

/// What a [`Device`](super::Device) and everything made of it share.
pub(crate) struct Shared {
    pub raw: Functions,
    pub physical: vk::PhysicalDevice,
    pub info: DeviceInfo,
    pub profile: Profile,
    pub limits: vk::PhysicalDeviceLimits,
    pub enabled: Enabled,
    pub queues: IdVec<DeviceQueueId, Queue>,
    pub frames_in_flight: usize,
    /// Threads that help; `None`: rgraph's own.
    pub threads: Threads,
    /// Whether the device's own memory is the host's too.
    pub unified: bool,
    pub labels: Option<ext::debug_utils::Device>,
    /// Draws of mesh stages, where the device has them.
    pub meshes: Option<ext::mesh_shader::Device>,
    /// Acceleration structures and traces, where the device has them.
    pub rays: Option<Box<crate::device::rays::RayFunctions>>,
    pub pipelines: Pipelines,
    /// Where the driver reads it.
    pub clock: Option<DeviceClock>,
    pub(super) memory: Mutex<Option<Memory>>,
    pub(super) deletion_queue: Mutex<DeletionQueue>,
    pub(super) staging: Mutex<Staging>,
    pub(super) transfers: Mutex<Transfers>,
    pub(super) turn: Mutex<()>,
    pub captures: crate::capture::under_way::Captures,
    pub promises: Promises,
    pub handles: Handles,
    pub foreign_waits: ForeignWaits,
    pub plans: KnownPlans,
    /// Compilations in the background, which outlive the device where they end last.
    pub preparing: Arc<Preparing>,
    pub needs: KnownNeeds,
    /// Keeps memory of graphs that nobody has any more.
    pub spares: Weak<dyn Reclaim>,
    /// The first call that returned `VK_ERROR_DEVICE_LOST`.
    pub(super) lost: OnceLock<DeviceError>,
    pub(super) closed: AtomicBool,
    pub(super) budget: bool,
    pub(super) drops_edge_barriers: bool,
    /// See [`Shared::widen_events`].
    pub(super) narrows_events: bool,
    pub(super) owned: bool,
    pub context: Arc<Context>,
    /// The last field, so that the instance is destroyed before it.
    pub(super) _undestroyed: Undestroyed,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.info.name).finish_non_exhaustive()
    }
}

impl Shared {
    /// Refuses a device that is closed, lost, or of another process.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.context.process.check()?;
        if self.is_closed() {
            return Err(DeviceError::new(Code::Closed, "the device is closed", "open another one").into());
        }
        match self.lost.get() {
            Some(first) => {
                let message = "the device was lost in an earlier call".to_owned();
                Err(DeviceError { message, ..first.clone() }.into())
            }
            None => Ok(()),
        }
    }

    /// Runs keep their device alive, so no two devices have one address while either is inside.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Whether it is the caller's device.
    pub(crate) fn is_borrowed(&self) -> bool {
        !self.owned
    }

    /// Whether this is the process that opened it, and not a fork.
    pub(crate) fn is_ours(&self) -> bool {
        self.context.process.is_current()
    }

    /// Whether it was closed: nothing new is made of it.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Remembers the call that lost the device, for the errors of later calls; any error passes through.
    pub(crate) fn noted<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(Error::Device(error)) = &result
            && error.is_lost()
        {
            self.lost.get_or_init(|| (**error).clone());
        }
        result
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Option<Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deletion_queue(&self) -> MutexGuard<'_, DeletionQueue> {
        self.deletion_queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn staging(&self) -> MutexGuard<'_, Staging> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn transfers(&self) -> MutexGuard<'_, Transfers> {
        self.transfers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose turn it is to submit a run: resources go from one run to the next whole. Nobody who has it waits for a
    /// function of the caller's.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Destroys things when all that was submitted so far is done.
    pub(crate) fn defer_deletion(&self, things: impl IntoIterator<Item = DeferredDeletion>) {
        if !self.is_ours() {
            std::mem::forget(things.into_iter().collect::<Vec<_>>());
            return;
        }
        let values = self.queues.iter().map(Queue::submitted).collect();
        self.deletion_queue().add(values, things);
    }

    /// Destroys what nothing on the device uses any more.
    pub(crate) fn sweep(&self) -> Result<(), Error> {
        if self.deletion_queue().is_empty() {
            return Ok(());
        }
        let reached = self.queues.iter().map(|queue| self.reached(queue)).collect::<Result<Vec<_>, _>>()?;
        let dead = self.deletion_queue().take(&reached);
        self.destroy(dead);
        Ok(())
    }

    fn destroy(&self, dead: Vec<DeferredDeletion>) {
        let _shared = driver::shared();
        let mut memory = self.memory();
        for deferred in dead {
            deferred.destroy(&self.raw, memory.as_mut());
        }
    }

    /// Waits for all that was submitted, then frees all that waited for it.
    pub(crate) fn wait_idle(&self) -> Result<(), Error> {
        self.wait(&self.submitted(), None)?;
        self.sweep()?;
        // Always before the lock of the memory: a thread with that one waits for no thread that opens or closes a
        // device.
        let _shared = driver::shared();
        if let Some(memory) = self.memory().as_mut() {
            memory.trim();
        }
        Ok(())
    }

    /// Keeps barriers at the ends of a command buffer: recorded first and last in it.
    ///
    /// Lavapipe leaves out a barrier that is the first or the last command of a command buffer, since each ends with
    /// a flush anyway (Mesa, `lvp_execute_cmd_buffer`); but that flush does not wait, and what is still being drawn
    /// writes over what takes its memory. A state that nothing here uses is a command too.
    pub(crate) fn edge(&self, commands: vk::CommandBuffer) {
        if self.drops_edge_barriers {
            // SAFETY: the command buffer is being recorded, for lavapipe's one family; a width of 1 is always allowed.
            unsafe { self.raw.cmd_set_line_width(commands, 1.0) };
        }
    }

    /// An image layout as this device knows it. Without swapchains nobody presents, and layout `PRESENT_SRC` does not
    /// exist (VUID-VkImageMemoryBarrier2-newLayout-parameter); `GENERAL` replaces it.
    pub(crate) fn layout(&self, layout: Layout) -> vk::ImageLayout {
        match layout {
            Layout::PresentSrc if !self.enabled.swapchains => vk::ImageLayout::GENERAL,
            _ => convert::layout(layout),
        }
    }

    /// Lets the barriers of an event wait for nothing less than all later commands, where the driver needs that.
    ///
    /// Behind NVIDIA's `vkCmdWaitEvents2` (driver 580.159) commands read other words, the same in each run, unless its
    /// second scope is all commands and all accesses; a full barrier before the event is set does not help, while the
    /// same barriers as a pipeline barrier in the wait's place are right. Frames of hashes found it on an H200.
    pub(crate) fn widen_events(
        &self,
        memory: &mut [vk::MemoryBarrier2<'_>],
        buffers: &mut [vk::BufferMemoryBarrier2<'_>],
        images: &mut [vk::ImageMemoryBarrier2<'_>],
    ) {
        if !self.narrows_events {
            return;
        }
        let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
        let accesses = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
        for one in memory {
            (one.dst_stage_mask, one.dst_access_mask) = (stages, accesses);
        }
        for one in buffers {
            (one.dst_stage_mask, one.dst_access_mask) = (stages, accesses);
        }
        for one in images {
            (one.dst_stage_mask, one.dst_access_mask) = (stages, accesses);
        }
    }

    /// Gives an object a name that debuggers and the validation layer show.
    pub(crate) fn name<T: vk::Handle>(&self, object: T, name: &str) {
        if let Some(labels) = &self.labels {
            let name = context::c_string(name);
            let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(&name);
            // SAFETY: the object is one of this device's, just made. A name that is refused is no harm.
            let _ = unsafe { labels.set_debug_utils_object_name(&info) };
        }
    }

    pub(crate) fn memory_report(&self) -> MemoryReport {
        let mut report = self.memory().as_ref().map(Memory::report).unwrap_or_default();
        // The number of blocks depends on concurrent transfers; those that nobody borrows are held, and not in use.
        for (domain, bytes) in self.staging().idle() {
            let counted = report.domains.iter_mut().find(|report| report.domain == domain.name());
            counted.into_iter().for_each(|report| report.live = report.live.saturating_sub(bytes));
        }
        if self.budget {
            let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
            let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
            // SAFETY: the device has the extension.
            unsafe { self.context.raw().get_physical_device_memory_properties2(self.physical, &mut properties) };
            for (at, heap) in report.heaps.iter_mut().enumerate() {
                (heap.used, heap.budget) = (Some(budget.heap_usage[at]), Some(budget.heap_budget[at]));
            }
        }
        report
    }
}

impl Shared {
    /// Destroys nothing: what is not this process's, or what the GPU may go on with.
    fn leave_everything(&mut self) {
        let memory = self.memory.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let deletion_queue = std::mem::take(self.deletion_queue.get_mut().unwrap_or_else(PoisonError::into_inner));
        let staging = std::mem::take(self.staging.get_mut().unwrap_or_else(PoisonError::into_inner));
        let transfers = std::mem::take(self.transfers.get_mut().unwrap_or_else(PoisonError::into_inner));
        // The instance is destroyed with the last one that has it.
        std::mem::forget((memory, deletion_queue, staging, transfers, self.context.clone()));
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.is_ours() {
            // A fork's copy: the handles are the parent's, and a thread that is not here may hold the locks.
            self.leave_everything();
            return;
        }
        if !self.is_lost() {
            if let Err(Error::Busy(error)) = self.wait_with_patience(Some(CLOSE_PATIENCE)) {
                // Nothing that the GPU still uses is destroyed, and the program goes on.
                log::error!("a device stays until the process ends: {}", error.message);
                process::leave_at_work();
                self.leave_everything();
                return;
            }
            let _ = self.wait_idle();
        }
        let transfers = self.transfers().take_all();
        self.trim_staging();
        self.defer_deletion(transfers);
        let dead = self.deletion_queue().take_all();
        self.destroy(dead);
        let _alone = driver::alone();
        self.pipelines.destroy(&self.raw);
        // Frees all memory objects.
        drop(self.memory().take());
        for queue in &self.queues {
            // SAFETY: nothing is under way any more.
            unsafe { self.raw.destroy_semaphore(queue.semaphore, self.raw.host()) };
        }
        if self.owned {
            // SAFETY: everything made of it is gone.
            unsafe { self.raw.destroy_device(self.raw.host()) };
        }
    }
}
