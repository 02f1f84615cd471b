//! Semaphores and fences of the caller's, which a run waits for or signals: presentation engines, other devices, other
//! queues of an application.
//!
//! A frame that draws to an image of a swapchain waits for it before its first use, and signals what presentation waits
//! for:
//!
//! ```no_run
//! # use ash::vk;
//! # use rgraph_plan::resource::ResourceId;
//! # use rgraph_vk::{Compiled, Inputs, DeviceResource, SemaphoreSignal, SemaphoreWait, Upload};
//! # fn draw(compiled: &Compiled, images: &[DeviceResource], backbuffer: ResourceId, index: usize,
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
use rgraph_plan::access::{Stages, Usage};
use rgraph_plan::resource::ResourceId;

use crate::device::promise::Made;

/// A wait for a semaphore of the caller's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SemaphoreWait {
    pub(crate) semaphore: vk::Semaphore,
    pub(crate) value: Option<u64>,
    pub(crate) resource: Option<ResourceId>,
    pub(crate) stages: Stages,
    /// What of rgraph's it is of.
    pub(crate) made: Option<Made>,
}

impl SemaphoreWait {
    /// The run waits for a timeline semaphore to reach `value`, or, with `None`, for a binary one.
    ///
    /// # Safety
    /// The semaphore is of the run's device, and of the kind that `value` says. A binary one has been signalled, or
    /// what signals it was submitted. It lives until the frame is done.
    pub unsafe fn new(semaphore: vk::Semaphore, value: Option<u64>) -> Self {
        Self { semaphore, value, resource: None, stages: Stages::empty(), made: None }
    }

    /// The same of a semaphore of rgraph's.
    pub(crate) fn of(semaphore: vk::Semaphore, value: Option<u64>, made: Made) -> Self {
        Self { semaphore, value, resource: None, stages: Stages::empty(), made: Some(made) }
    }

    /// Only these stages of the run wait, on every queue that has them: what runs before them need not. A binary
    /// semaphore can be waited for once, so a run on several queues waits for one with all stages.
    #[must_use]
    pub fn at(self, stages: Stages) -> Self {
        Self { stages, ..self }
    }

    /// The stages at which a usage happens, for [`at`](Self::at).
    #[must_use]
    pub fn stages_of(usage: Usage) -> Stages {
        let tests = Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS;
        match usage {
            Usage::ColorAttachment | Usage::ResolveAttachment => Stages::COLOR_ATTACHMENT_OUTPUT,
            Usage::DepthStencilAttachment | Usage::DepthStencilRead => tests,
            Usage::InputAttachment => Stages::FRAGMENT_SHADER | Stages::COLOR_ATTACHMENT_OUTPUT | tests,
            Usage::Sampled | Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite | Usage::Uniform => {
                Stages::VERTEX_SHADER | Stages::FRAGMENT_SHADER | Stages::COMPUTE_SHADER
            }
            Usage::Vertex => Stages::VERTEX_ATTRIBUTE_INPUT,
            Usage::Index => Stages::INDEX_INPUT,
            Usage::Indirect => Stages::DRAW_INDIRECT,
            Usage::TransferSrc | Usage::TransferDst | Usage::Present => Stages::ALL_TRANSFER,
            Usage::HostRead | Usage::HostWrite => Stages::HOST,
            Usage::AccelerationInput
            | Usage::AccelerationBuild
            | Usage::AccelerationUpdate
            | Usage::AccelerationScratch => Stages::ACCELERATION_STRUCTURE_BUILD,
            Usage::AccelerationRead => Stages::RAY_TRACING_SHADER,
        }
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
    pub(crate) resource: Option<ResourceId>,
    /// What of rgraph's it is of.
    pub(crate) made: Option<Made>,
}

impl SemaphoreSignal {
    /// The run sets a timeline semaphore to `value`, or, with `None`, signals a binary one.
    ///
    /// # Safety
    /// The semaphore is of the run's device, and of the kind that `value` says. The timeline's value is less until
    /// then; a binary one is unsignalled, and nothing else is about to signal it. It lives until the frame is done.
    pub unsafe fn new(semaphore: vk::Semaphore, value: Option<u64>) -> Self {
        Self { semaphore, value: value.unwrap_or(0), resource: None, made: None }
    }

    /// The same of a semaphore of rgraph's.
    pub(crate) fn of(semaphore: vk::Semaphore, value: Option<u64>, made: Made) -> Self {
        Self { semaphore, value: value.unwrap_or(0), resource: None, made: Some(made) }
    }

    /// Behind the last use of this import, where the plan has its other user signalled
    /// ([`Imported::signal`](rgraph_plan::resource::Imported::signal)); behind the whole run if the host uses it, or
    /// the run reads it back.
    #[must_use]
    pub fn behind(self, resource: ResourceId) -> Self {
        Self { resource: Some(resource), ..self }
    }
}

/// A fence of the caller's, signalled when all of the run is done, read-backs included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunFence {
    pub(crate) fence: vk::Fence,
    /// What of rgraph's it is of.
    pub(crate) made: Option<Made>,
}

impl RunFence {
    /// The run signals the fence.
    ///
    /// # Safety
    /// The fence is of the run's device, unsignalled, and not given to another submission. It lives until it is
    /// signalled.
    pub unsafe fn new(fence: vk::Fence) -> Self {
        Self { fence, made: None }
    }

    /// The same of a fence of rgraph's.
    pub(crate) fn of(fence: vk::Fence, made: Made) -> Self {
        Self { fence, made: Some(made) }
    }
}
