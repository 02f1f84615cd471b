//! A logical device: its queues, features and profile, its memory, and what waits to be destroyed.

mod assemble;
mod borrow;
pub(crate) mod capability;
pub(crate) mod context;
pub(crate) mod create;
pub(crate) mod diagnose;
pub(crate) mod driver;
pub(crate) mod enabled;
pub(crate) mod exit;
pub(crate) mod external;
mod features;
pub(crate) mod fence;
pub(crate) mod foreign_wait;
pub(crate) mod functions;
pub(crate) mod handles;
pub(crate) mod inside;
pub(crate) mod lend;
mod library;
mod objects;
pub(crate) mod open;
pub(crate) mod open_wait;
pub(crate) mod physical;
pub(crate) mod poll;
pub(crate) mod process;
pub(crate) mod promise;
pub(crate) mod queue;
pub(crate) mod rays;
pub(crate) mod semaphore;
mod shared;
mod submitted;
pub(crate) mod wait;

pub use borrow::{BorrowedDevice, BorrowedQueue};
pub use features::EnabledFeatures;
pub(crate) use shared::Shared;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ash::vk;
use rgraph_plan::profile::Profile;

use crate::device::context::{Context, ContextOptions, EntryTable};
use crate::device::foreign_wait::Patience;
use crate::device::lend::{HostAllocator, JobThreads, MemorySource};
use crate::device::open_wait::CLOSE_PATIENCE;
use crate::device::physical::DeviceInfo;
use crate::device::queue::DeviceQueueId;
use crate::error::Error;
use crate::memory::MemoryReport;
use crate::memory::reclaim::Reclaim;
use crate::run::spare::Spares;

/// How a device is opened.
#[derive(Clone, Debug, Default)]
pub struct DeviceOptions {
    /// `uuid:…`, `pci:…`, `name:…` or an index; `None`: the environment's `RGRAPH_DEVICE`, else the first usable one.
    pub device: Option<String>,
    /// The Vulkan loader, or a driver itself; `None`: the system's.
    pub loader: Option<PathBuf>,
    /// Whether the validation layer watches; `None`: the environment's `RGRAPH_VALIDATE`.
    pub validation: Option<bool>,
    /// Whether what shaders print (`debugPrintfEXT`) is logged under `rgraph.printf`, by the validation layer; `None`:
    /// the environment's `RGRAPH_PRINTF`.
    pub printf: Option<bool>,
    /// Frames that may be under way at once, 1 to 8; 0: two.
    pub frames_in_flight: u32,
    /// A file that keeps compiled pipelines; `None`: they are kept in memory only.
    pub cache: Option<PathBuf>,
    /// Most queues of each kind; 0: one.
    pub queues: u32,
    /// A profile that says what synchronization, passes and copies cost on the device, as `rgraph doctor --measure`
    /// writes it; its queues, limits and memory do not count. `None`: the costs of a usual discrete GPU.
    pub costs: Option<Profile>,
    /// Whether passes carry labels for debuggers and captures; `None`: where the driver has them.
    pub labels: Option<bool>,
    /// A function table of the caller's instead of a loader.
    pub entry: Option<EntryTable>,
    /// Whether [windows](crate::Window) are made of the device: it then needs a driver that can show them.
    pub windows: bool,
    /// Whether acceleration structures, ray queries and ray-tracing pipelines are switched on; `None`: where the driver
    /// has them. The first device with them costs 200 ms in a process, with NVIDIA's driver.
    pub rays: Option<bool>,
    /// Where device memory comes from; `None`: rgraph allocates it.
    pub memory: Option<Arc<dyn MemorySource>>,
    /// Callbacks (`VkAllocationCallbacks`) that every Vulkan object of the device is made and destroyed with, and its
    /// instance, if it is not borrowed; `None`: the driver allocates memory of the host as it likes.
    pub host: Option<HostAllocator>,
    /// Threads that help to record and to call functions of passes; `None`: rgraph's own.
    pub threads: Option<Arc<dyn JobThreads>>,
    /// Compiled graphs that are kept, once nobody has them, for the next equal declaration: see [`Device::compile`]. A
    /// program that declares its graph again for each frame needs one for each frame whose [`Frame`](crate::Frame) it
    /// keeps, and one more; 0: none, memory is freed at once.
    pub spare_graphs: u32,
}

impl DeviceOptions {
    pub(super) fn context(&self) -> ContextOptions {
        let from_environment = |name| std::env::var(name).is_ok_and(|value| !matches!(&*value, "" | "0"));
        ContextOptions {
            loader: self.loader.clone(),
            entry: self.entry.as_ref().map(|table| table.0.clone()),
            validation: self.validation.unwrap_or_else(|| from_environment("RGRAPH_VALIDATE")),
            printf: self.printf.unwrap_or_else(|| from_environment("RGRAPH_PRINTF")),
            windows: self.windows,
            host: self.host,
        }
    }
}

/// The devices that exist, usable or not.
///
/// # Errors
/// If there is no loader or driver, or it fails.
pub fn devices(options: &DeviceOptions) -> Result<Vec<DeviceInfo>, Error> {
    let context = Context::new(&options.context())?;
    Ok(physical::list(&context)?.into_iter().map(|device| device.info).collect())
}

/// A device and everything that belongs to it. Clones are the same device.
#[derive(Clone, Debug)]
pub struct Device(pub(crate) Arc<Shared>, pub(crate) Arc<Spares>);

impl Device {
    /// What it is.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// The device as the planner sees it.
    pub fn profile(&self) -> &Profile {
        &self.0.profile
    }

    /// Warnings and errors of layers and drivers so far.
    pub fn messages(&self) -> Vec<String> {
        self.0.context.messages()
    }

    /// Frames that may be under way at once.
    pub fn frames_in_flight(&self) -> usize {
        self.0.frames_in_flight
    }

    /// Whether debug names and labels reach the driver.
    pub fn has_labels(&self) -> bool {
        self.0.labels.is_some()
    }

    /// What is held, live, by whom.
    pub fn memory(&self) -> MemoryReport {
        self.0.memory_report()
    }

    /// Waits until the device has nothing to do, and frees all that waited for that. Presentations, and submits of the
    /// caller's own, are the caller's to wait for: `vkQueueWaitIdle` in [`Device::with_queue`].
    ///
    /// # Errors
    /// If the device is lost, closed, or was opened by another process.
    pub fn wait_idle(&self) -> Result<(), Error> {
        self.0.check()?;
        self.0.wait_idle()
    }

    /// Whether the device has nothing to do, after waiting for that for a while.
    ///
    /// # Errors
    /// As [`Device::wait_idle`].
    pub fn is_idle_within(&self, timeout: Duration) -> Result<bool, Error> {
        self.0.check()?;
        self.0.wait(&self.0.submitted(), Some(timeout))
    }

    /// Whether the device has nothing to do, after waiting for that for a while.
    ///
    /// # Errors
    /// `RG-E404` once `patience` is over; else as [`Device::wait_idle`].
    pub fn is_idle_with(&self, slice: Duration, patience: &mut Patience) -> Result<bool, Error> {
        let idle = self.is_idle_within(slice)?;
        if !idle {
            patience.check(&self.0)?;
        }
        Ok(idle)
    }

    /// Ends the device's use: waits, frees what waited, and refuses everything from now on. The device itself goes
    /// with the last object made of it. A second call does nothing.
    ///
    /// # Errors
    /// `RG-E404` if for [`CLOSE_PATIENCE`](crate::CLOSE_PATIENCE) nothing but semaphores that nobody signals keeps it
    /// from that; the device is then still open. Never for a lost device: closing it does not wait.
    pub fn close(&self) -> Result<(), Error> {
        self.close_within(Some(CLOSE_PATIENCE))
    }

    /// [`Device::close`] with another patience; `None`: for ever.
    ///
    /// # Errors
    /// As [`Device::close`].
    pub fn close_within(&self, patience: Option<Duration>) -> Result<(), Error> {
        let waits = |shared: &Shared| shared.is_ours() && !shared.is_lost();
        // Still open meanwhile: another thread may signal what a run waits for.
        let first = if waits(&self.0) && !self.0.is_closed() { self.0.wait_with_patience(patience) } else { Ok(()) };
        if matches!(first, Err(Error::Busy(_))) {
            return first;
        }
        if self.0.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.give_up_preparations(None);
        if !waits(&self.0) {
            return Ok(());
        }
        self.1.clear();
        self.0.trim_staging();
        let again = || self.0.wait_with_patience(patience).and_then(|()| self.0.wait_idle());
        match first.and_then(|()| again()) {
            // Another thread submitted it between.
            Err(error @ Error::Busy(_)) => {
                self.0.closed.store(false, Ordering::Release);
                Err(error)
            }
            Err(error) if error.is_lost() => Ok(()),
            waited => waited,
        }
    }

    /// Ends the device's use at once: refuses everything from now on, and waits for nothing. The device itself goes
    /// with the last object made of it.
    pub fn abandon(&self) {
        self.0.closed.store(true, Ordering::Release);
        if self.0.is_ours() {
            self.0.preparing.give_up();
        }
        self.1.clear();
    }

    /// The device's functions, for commands and objects of the caller's. Objects that are made of them are the caller's
    /// to destroy, before the device goes; queues are used through [`Device::with_queue`].
    pub fn raw(&self) -> &ash::Device {
        &self.0.raw
    }

    /// The instance's functions.
    pub fn raw_instance(&self) -> &ash::Instance {
        self.0.context.raw()
    }

    pub fn raw_physical_device(&self) -> vk::PhysicalDevice {
        self.0.physical
    }

    /// Calls a function with a queue of the device and its family, while no thread of rgraph submits to it.
    /// `None`: there is no such queue. The function must not run graphs of the device: it would wait for itself.
    pub fn with_queue<T>(&self, queue: DeviceQueueId, function: impl FnOnce(vk::Queue, u32) -> T) -> Option<T> {
        let queue = self.0.queues.get(queue)?;
        Some(queue.alone(|| function(queue.raw, queue.family)))
    }

    /// The timeline semaphore of a queue, whose values a [`Point`](crate::Point) names. The caller
    /// waits for it, and never signals it. `None`: there is no such queue.
    pub fn timeline(&self, queue: DeviceQueueId) -> Option<vk::Semaphore> {
        self.0.queues.get(queue).map(|queue| queue.semaphore)
    }

    /// Whether it is the caller's device.
    pub fn is_borrowed(&self) -> bool {
        !self.0.owned
    }

    /// Whether dropping it would wait: nothing else was made of it, and it is at work.
    pub fn drop_waits(&self) -> bool {
        if Arc::strong_count(&self.1) == 1 {
            self.1.clear();
        }
        let over = || self.0.is_lost() || self.0.wait(&self.0.submitted(), Some(Duration::ZERO)).unwrap_or(true);
        Arc::strong_count(&self.0) == 1 && self.0.is_ours() && !over()
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Refuses a device that is closed, lost, or of another process.
    ///
    /// # Errors
    /// `RG-E130`, `RG-E120`, `RG-E105`.
    pub fn check(&self) -> Result<(), Error> {
        self.0.check()
    }

    /// Whether both are the same device.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
