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

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::{Stages, Usage};
use rgraph_plan::graph::Place;
use rgraph_plan::plan::ForeignPoint;
use rgraph_plan::resource::{Life, ResourceId};

use crate::compile::prepared::Prepared;
use crate::device::promise::Made;
use crate::error::Error;
use crate::memory::physical_resource::PhysicalResource;

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
    /// ([`Imported::signal`](rgraph_plan::resource::Imported::signal)); behind the whole run if the host uses it, or the
    /// run reads it back.
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

/// Where the plan waits for the other user of a memory, or signals it.
pub(crate) fn points<'a>(
    prepared: &'a Prepared,
    memory: ResourceId,
    signals: bool,
) -> impl Iterator<Item = &'a ForeignPoint> + 'a {
    let of =
        move |point: &&ForeignPoint| prepared.scene.memory[point.resource] == memory && point.wait.is_none() == signals;
    prepared.plan.foreign.iter().filter(of)
}

fn waits_for_itself(value: u64, signal: u64) -> Error {
    let message =
        format!("a run waits until a timeline has {value} and signals it with {signal}, so it would never end");
    Error::input("?", message, format!("wait for a value below {signal}, or signal one above {value}"))
}

/// What a run waits for and signals outside of its graph.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct External<'a> {
    pub waits: &'a [SemaphoreWait],
    pub signals: &'a [SemaphoreSignal],
    pub fence: Option<RunFence>,
    /// Where the program asks for the run.
    pub place: Option<&'a Place>,
}

impl External<'_> {
    /// Refuses a timeline whose signal of the run comes behind a wait of the run for that value or a later one: the run
    /// would wait for itself, or the value would go back. A signal behind one import may come before a wait for another one.
    fn check_order(&self) -> Result<(), Error> {
        for wait in self.waits {
            let Some(value) = wait.value else { continue };
            let behind = |signal: &&SemaphoreSignal| {
                let apart = wait.resource.is_some() && signal.resource.is_some();
                signal.semaphore == wait.semaphore
                    && (signal.value == value || signal.value != 0 && signal.value < value && !apart)
            };
            if let Some(signal) = self.signals.iter().find(behind) {
                return Err(waits_for_itself(value, signal.value));
            }
        }
        Ok(())
    }

    /// The same where the run waits for the user outside of the device who has an import.
    pub fn check_held<'p>(&self, imports: impl Iterator<Item = &'p Arc<PhysicalResource>>) -> Result<(), Error> {
        if self.signals.is_empty() {
            return Ok(());
        }
        for (until, value) in imports.filter_map(|physical| physical.holder()?.holder.until) {
            let behind = |signal: &&SemaphoreSignal| {
                signal.semaphore == until.handle() && signal.value != 0 && signal.value <= value
            };
            if let Some(signal) = self.signals.iter().find(behind) {
                return Err(waits_for_itself(value, signal.value));
            }
        }
        Ok(())
    }

    /// Refuses resources that a run is not given, and waits for the run itself.
    pub fn check(&self, prepared: &Prepared) -> Result<(), Error> {
        self.check_order()?;
        let resources = prepared.workload.graph.resources();
        let signalled = self.signals.iter().filter_map(|signal| signal.resource);
        for (resource, signals) in
            signalled.map(|of| (of, true)).chain(self.waits.iter().filter_map(|wait| Some((wait.resource?, false))))
        {
            let Some(declared) = resources.get(resource) else {
                let help = "use this graph's handles";
                return Err(Error::input("?", "a semaphore is given for a resource of another graph", help));
            };
            let name = prepared.workload.graph.resource_name(resource);
            let Life::Imported(imported) = declared.life else {
                let message = format!("a semaphore is given for \"{name}\", which is not imported");
                return Err(Error::input(name, message, "wait without a resource, or before an imported one"));
            };
            if signals && !imported.signal {
                let message = format!("a signal is given for \"{name}\", which is not declared to be signalled");
                return Err(Error::input(name, message, "import it with signal=True, or signal without a resource"));
            }
        }
        Ok(())
    }
}
