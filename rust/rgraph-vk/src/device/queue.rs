//! Queues with one timeline semaphore each: every submit signals the next value, and a wait names a queue and a value.
//! Nothing ever waits for a value that was not submitted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use rgraph_plan::id::NonMax;
use rgraph_plan::profile::Capabilities;

use crate::error::{Called, Error};

rgraph_plan::id! {
    /// A queue of a device, in the order of its profile's queues. A plan's queue is a
    /// [`QueueId`](rgraph_plan::plan::QueueId): several of a plan can run on one of a device.
    pub struct DeviceQueueId;
}

impl DeviceQueueId {
    /// The first queue of every device: the graphics queue if there is one. It can do everything that rgraph does of
    /// its own accord: clears, uploads, read-backs.
    pub const FIRST: Self = Self(NonMax::ZERO);
}

/// A moment on a queue: all that was submitted up to a value is done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    pub queue: DeviceQueueId,
    /// The value of its timeline semaphore.
    pub value: u64,
}

/// A wait at the start of a submit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitFor {
    /// A timeline semaphore.
    pub semaphore: vk::Semaphore,
    pub value: u64,
    /// Stages that wait.
    pub stages: vk::PipelineStageFlags2,
}

/// One submit: waits, command buffers, and stages after which the queue's next value is signalled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Submit {
    pub waits: Vec<WaitFor>,
    /// What it runs, in this order.
    pub commands: Vec<vk::CommandBuffer>,
    /// Semaphores of the caller's and their values, signalled in addition to the queue's own.
    pub signals: Vec<(vk::Semaphore, u64)>,
    /// A fence of the caller's; of several submits in one call only the last has one.
    pub fence: vk::Fence,
}

/// The lock of a queue that the caller's own threads submit to, too.
///
/// rgraph calls it around each submit and present, and inside [`Device::with_queue`](crate::Device::with_queue). It
/// holds nothing of rgraph's that runs need, but never call rgraph with the lock held: a run would wait for itself.
pub trait QueueLock: Send + Sync {
    /// Calls `function` once, while no other thread uses the queue.
    fn alone(&self, function: &mut dyn FnMut());
}

impl<T: Send> QueueLock for Mutex<T> {
    fn alone(&self, function: &mut dyn FnMut()) {
        let _held = self.lock().unwrap_or_else(PoisonError::into_inner);
        function();
    }
}

/// A queue of a device.
pub(crate) struct Queue {
    /// Its handle.
    pub raw: vk::Queue,
    /// Its name in plans.
    pub name: String,
    pub family: u32,
    /// What it can do.
    pub capabilities: Capabilities,
    pub timestamp_bits: u32,
    /// Its timeline semaphore.
    pub semaphore: vk::Semaphore,
    submitted: Mutex<u64>,
    /// Of the caller's.
    lock: Option<Arc<dyn QueueLock>>,
}

/// A queue before it has a timeline.
pub(super) struct Handle {
    pub(super) name: String,
    pub(super) family: u32,
    pub(super) capabilities: Capabilities,
    pub(super) raw: vk::Queue,
    pub(super) lock: Option<Arc<dyn QueueLock>>,
}

impl Queue {
    /// A queue that nothing was submitted to.
    pub(super) fn new(handle: Handle, timestamp_bits: u32, semaphore: vk::Semaphore) -> Self {
        let Handle { name, family, capabilities, raw, lock } = handle;
        Self { raw, name, family, capabilities, timestamp_bits, semaphore, submitted: Mutex::new(0), lock }
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function while no other thread submits.
    pub(crate) fn alone<T>(&self, function: impl FnOnce() -> T) -> T {
        let _submitted = self.lock();
        self.locked(function)
    }

    /// Calls a function with the caller's lock, if the queue has one.
    fn locked<T>(&self, function: impl FnOnce() -> T) -> T {
        let Some(lock) = &self.lock else { return function() };
        let (mut function, mut result) = (Some(function), None);
        lock.alone(&mut || {
            if let Some(function) = function.take() {
                result = Some(function());
            }
        });
        // A lock that calls nothing keeps nobody out; what has to be done is done all the same.
        match (result, function) {
            (Some(result), _) => result,
            (None, Some(function)) => function(),
            (None, None) => unreachable!("a function that was called has a result"),
        }
    }

    /// The value that is signalled when all submitted so far is done.
    pub(crate) fn submitted(&self) -> u64 {
        *self.lock()
    }

    /// Submits in one call; returns the value of the last one. The first one's is that minus their number, plus one.
    ///
    /// # Errors
    /// If the driver refuses; then nothing was submitted.
    pub(crate) fn submit(&self, device: &ash::Device, submits: &[Submit]) -> Result<u64, Error> {
        let mut waits: Vec<vk::SemaphoreSubmitInfo<'_>> = Vec::new();
        let mut commands: Vec<vk::CommandBufferSubmitInfo<'_>> = Vec::new();
        for submit in submits {
            waits.extend(submit.waits.iter().map(|wait| {
                vk::SemaphoreSubmitInfo::default().semaphore(wait.semaphore).value(wait.value).stage_mask(wait.stages)
            }));
            commands
                .extend(submit.commands.iter().map(|raw| vk::CommandBufferSubmitInfo::default().command_buffer(*raw)));
        }
        // Held over the call: values are signalled in the order of submission.
        let mut last = self.lock();
        let signal = |semaphore, value| {
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(value).stage_mask(all)
        };
        let mut signals: Vec<vk::SemaphoreSubmitInfo<'_>> = Vec::new();
        for (submit, own) in submits.iter().zip(*last + 1..) {
            signals.extend(submit.signals.iter().map(|(semaphore, value)| signal(*semaphore, *value)));
            // Drivers of software signal one by one: who waits for this one finds the others signalled, and may destroy
            // them.
            signals.push(signal(self.semaphore, own));
        }
        let (mut wait, mut command, mut first) = (0, 0, 0);
        let infos: Vec<_> = submits
            .iter()
            .map(|submit| {
                let end = first + 1 + submit.signals.len();
                let info = vk::SubmitInfo2::default()
                    .wait_semaphore_infos(&waits[wait..wait + submit.waits.len()])
                    .command_buffer_infos(&commands[command..command + submit.commands.len()])
                    .signal_semaphore_infos(&signals[first..end]);
                first = end;
                wait += submit.waits.len();
                command += submit.commands.len();
                info
            })
            .collect();
        let fence = submits.last().map_or(vk::Fence::null(), |submit| submit.fence);
        // SAFETY: handles live until the values signalled here are reached; the lock keeps other threads out.
        self.locked(|| unsafe { device.queue_submit2(self.raw, &infos, fence) }).called("vkQueueSubmit2")?;
        *last += submits.len() as u64;
        Ok(*last)
    }
}
