//! Semaphores and fences of the caller's, which a run waits for or signals: presentation engines, other devices, other
//! queues of an application.
//!
//! A frame that draws to an image of a swapchain waits for it before its first use, and signals what presentation waits
//! for:
//!
//! ```no_run
//! # use ash::vk;
//! # use rgraph_plan::resource::ResourceId;
//! # use rgraph_vk::{Compiled, Inputs, Resource, SemaphoreSignal, SemaphoreWait, Upload};
//! # fn draw(compiled: &Compiled, images: &[Resource], backbuffer: ResourceId, index: usize,
//! #     acquired: vk::Semaphore, rendered: vk::Semaphore) -> Result<(), rgraph_vk::Error> {
//! let inputs = Inputs {
//!     uploads: vec![(backbuffer, Upload::Resource(&images[index]))],
//!     // SAFETY: vkAcquireNextImageKHR signals it, and nothing else waits for it.
//!     waits: vec![unsafe { SemaphoreWait::new(acquired, None) }.before(backbuffer)],
//!     // SAFETY: vkQueuePresentKHR waited for it the last time.
//!     signals: vec![unsafe { SemaphoreSignal::new(rendered, None) }],
//!     read: Some(Vec::new()),
//!     ..Inputs::default()
//! };
//! compiled.run(&inputs)?;
//! # Ok(())
//! # }
//! ```

use ash::vk;
use rgraph_plan::resource::{Life, ResourceId};

use crate::compile::prepared::Prepared;
use crate::error::Error;

/// A wait for a semaphore of the caller's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SemaphoreWait {
    pub(crate) semaphore: vk::Semaphore,
    pub(crate) value: Option<u64>,
    pub(crate) resource: Option<ResourceId>,
}

impl SemaphoreWait {
    /// The run waits for a timeline semaphore to reach `value`, or, with `None`, for a binary one.
    ///
    /// # Safety
    /// The semaphore is of the run's device, and of the kind that `value` says. A binary one has been signalled, or
    /// what signals it was submitted. It lives until the frame is done.
    pub unsafe fn new(semaphore: vk::Semaphore, value: Option<u64>) -> Self {
        Self { semaphore, value, resource: None }
    }

    /// Only passes that use this imported resource, and what follows them, wait; at the stages of their first access.
    #[must_use]
    pub fn before(self, resource: ResourceId) -> Self {
        Self { resource: Some(resource), ..self }
    }
}

/// A signal to a semaphore of the caller's, when all passes of the run are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SemaphoreSignal {
    pub(crate) semaphore: vk::Semaphore,
    pub(crate) value: u64,
}

impl SemaphoreSignal {
    /// The run sets a timeline semaphore to `value`, or, with `None`, signals a binary one.
    ///
    /// # Safety
    /// The semaphore is of the run's device, and of the kind that `value` says. The timeline's value is less until
    /// then; a binary one is unsignalled, and nothing else is about to signal it. It lives until the frame is done.
    pub unsafe fn new(semaphore: vk::Semaphore, value: Option<u64>) -> Self {
        Self { semaphore, value: value.unwrap_or(0) }
    }
}

/// A fence of the caller's, signalled when all of the run is done, read-backs included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunFence(pub(crate) vk::Fence);

impl RunFence {
    /// The run signals the fence.
    ///
    /// # Safety
    /// The fence is of the run's device, unsignalled, and not given to another submission. It lives until it is
    /// signalled.
    pub unsafe fn new(fence: vk::Fence) -> Self {
        Self(fence)
    }
}

/// What a run waits for and signals outside of its graph.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct External<'a> {
    pub waits: &'a [SemaphoreWait],
    pub signals: &'a [SemaphoreSignal],
    pub fence: Option<RunFence>,
}

impl External<'_> {
    /// Refuses resources that a run is not given.
    pub fn check(&self, prepared: &Prepared) -> Result<(), Error> {
        let resources = prepared.workload.graph.resources();
        for resource in self.waits.iter().filter_map(|wait| wait.resource) {
            let Some(declared) = resources.get(resource) else {
                let help = "use this graph's handles";
                return Err(Error::input("?", "a semaphore is given for a resource of another graph", help));
            };
            if !matches!(declared.life, Life::Imported(_)) {
                let name = prepared.workload.graph.resource_name(resource);
                let message = format!("a semaphore is given for \"{name}\", which is not imported");
                return Err(Error::input(name, message, "wait without a resource, or before an imported one"));
            }
        }
        Ok(())
    }
}
