//! Semaphores and fences of the caller's in the submits of a run.

use ash::vk;
use rgraph_plan::plan::{Edge, PlanLife};
use rgraph_plan::resource::ResourceId;

use super::{OWN_QUEUE, Run};
use crate::convert;
use crate::device::queue::{Point, Submit, WaitFor};
use crate::error::Error;
use crate::frame::external::{External, SemaphoreWait};
use crate::frame::initial_barriers::InitialBarriers;
use crate::frame::run::RunState;

/// Where a run waits for a semaphore of the caller's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    /// The memory of the resource whose first uses wait.
    memory: ResourceId,
    semaphore: vk::Semaphore,
    value: u64,
}

impl Run<'_, '_> {
    /// Sorts waits: those before a resource are left to the batches that enter it, those before everything are waited
    /// for here, and every queue's first batch waits for that point. A binary semaphore can be waited for once, so one
    /// before a resource that several queues enter, or none, is waited for here, too.
    pub(super) fn await_all(&mut self, external: &External<'_>) -> Result<Option<Point>, Error> {
        let mut waits: Vec<WaitFor> = Vec::new();
        for wait in external.waits {
            let SemaphoreWait { semaphore, value, resource } = *wait;
            let memory = resource.map(|of| self.prepared.scene.memory[self.prepared.scene.resource_of[of]]);
            let initial = memory.map_or(0, |memory| self.queues_initial(memory));
            let (timeline, stages) = (value.is_some(), vk::PipelineStageFlags2::ALL_COMMANDS);
            let value = value.unwrap_or(0);
            match memory {
                Some(memory) if timeline || initial == 1 => self.awaited.push(Awaited { memory, semaphore, value }),
                _ => waits.push(WaitFor { semaphore, value, stages }),
            }
        }
        if waits.is_empty() {
            return Ok(None);
        }
        self.awaits = true;
        self.submit_own(OWN_QUEUE, Submit { waits, ..Submit::default() }).map(Some)
    }

    /// How many batches enter a memory, the host's counted as two: it waits in no submit.
    fn queues_initial(&self, memory: ResourceId) -> usize {
        let (plan, scene) = (&self.prepared.plan, &self.prepared.scene);
        let enters = |at: &u32| scene.memory[plan.edges[*at as usize].resource] == memory;
        let batches = self.prepared.batches.iter().filter(|batch| batch.entries.iter().any(enters));
        batches.map(|batch| if batch.queue.is_some() { 1 } else { 2 }).sum()
    }

    /// Waits of a batch for the semaphores before a memory that it enters, at the stages of the entry. Returns those
    /// stages if the batch waits here or as its queue's first: a change of layout follows the wait only if its barrier
    /// begins there.
    ///
    /// Source: Vulkan 1.3 specification, "Semaphore Waiting" (second synchronization scope), "Execution and Memory
    /// Dependencies".
    pub(super) fn await_entry(&self, edge: &Edge, initial: &mut InitialBarriers) -> vk::PipelineStageFlags2 {
        let memory = self.prepared.scene.memory[edge.resource];
        let stages = match convert::stages(edge.entry.stages) {
            none if none.is_empty() => vk::PipelineStageFlags2::ALL_COMMANDS,
            stages => stages,
        };
        let mut waits = self.awaits && self.prepared.plan.resources[memory].life == PlanLife::Imported;
        for awaited in self.awaited.iter().filter(|awaited| awaited.memory == memory) {
            initial.wait(awaited.semaphore, awaited.value, stages);
            waits = true;
        }
        if waits { stages } else { vk::PipelineStageFlags2::empty() }
    }

    /// What the host waits for before it uses a memory.
    pub(super) fn await_on_host(&self, memory: ResourceId, waits: &mut Vec<(vk::Semaphore, u64)>) {
        let of = self.awaited.iter().filter(|awaited| awaited.memory == memory);
        waits.extend(of.map(|awaited| (awaited.semaphore, awaited.value)));
    }

    /// Signals behind all batches: with the last submit if the run has one queue, else in one behind all of them.
    pub(super) fn signal_all(&mut self, state: &mut RunState, external: &External<'_>) -> Result<(), Error> {
        if external.signals.is_empty() {
            return Ok(());
        }
        let signals: Vec<_> = external.signals.iter().map(|signal| (signal.semaphore, signal.value)).collect();
        let alone =
            state.host.is_none() && self.last.iter().enumerate().all(|(at, last)| at == OWN_QUEUE || *last == 0);
        if let Some((OWN_QUEUE, submits, _)) = self.open.as_mut().filter(|_| alone)
            && let Some(last) = submits.last_mut()
        {
            last.signals = signals;
            return Ok(());
        }
        self.submit_behind(state, Submit { signals, ..Submit::default() })
    }

    /// Signals a fence behind everything.
    pub(super) fn signal_fence(&mut self, state: &mut RunState, external: &External<'_>) -> Result<(), Error> {
        let Some(fence) = external.fence else { return Ok(()) };
        self.submit_behind(state, Submit { fence: fence.0, ..Submit::default() })
    }

    /// Submits something that waits for all batches and host passes of the run.
    fn submit_behind(&mut self, state: &mut RunState, mut submit: Submit) -> Result<(), Error> {
        self.flush()?;
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        for point in self.points().into_iter().filter(|point| point.queue != OWN_QUEUE) {
            let semaphore = self.shared.queues[point.queue].semaphore;
            submit.waits.push(WaitFor { semaphore, value: point.value, stages: all });
        }
        self.signal_host(state);
        if let Some(host) = state.host.as_ref().filter(|host| host.last() > self.host_base) {
            submit.waits.push(WaitFor { semaphore: host.semaphore, value: host.last(), stages: all });
            self.wait_for_host(state, u64::MAX)?;
        }
        self.submit_own(OWN_QUEUE, submit).map(drop)
    }
}
