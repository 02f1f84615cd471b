//! Semaphores and fences of the caller's in the submits of a run.

use ash::vk;
use rgraph_plan::access::Stages;
use rgraph_plan::declared::common_stages;
use rgraph_plan::id::Id;
use rgraph_plan::plan::{BatchId, Edge, PlanLife};
use rgraph_plan::profile::Capabilities;
use rgraph_plan::resource::ResourceId;

use super::{OWN_QUEUE, Run};
use crate::compile::chunk::BatchInfo;
use crate::convert;
use crate::device::external::SemaphoreWait;
use crate::device::queue::{DeviceQueueId, Point, Submit, WaitFor};
use crate::error::Error;
use crate::frame::external::{External, points};
use crate::frame::initial_barriers::InitialBarriers;
use crate::frame::state::{At, RunState};
use crate::frame::wanted::Wanted;
use crate::memory::state::EdgeId;

/// Where a run waits for a semaphore of the caller's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    /// The memory of the resource whose first uses wait.
    memory: ResourceId,
    semaphore: vk::Semaphore,
    value: u64,
}

/// Whether every device has a queue for these stages; what others exist for is waited for with all of them.
fn is_common(stages: Stages) -> bool {
    !stages.is_empty() && (common_stages(Capabilities::all()) | Stages::HOST).contains(stages)
}

/// Where a run signals a semaphore of the caller's behind an import.
#[derive(Debug)]
pub(super) struct Released {
    semaphore: vk::Semaphore,
    value: u64,
    /// The batches that the plan names.
    batches: Vec<BatchId>,
    /// How many of them are not in a submit yet.
    left: usize,
    /// It is signalled behind the run.
    late: bool,
}

impl Run<'_, '_> {
    /// Sorts waits: those before a resource are left to the batches that enter it, those before everything are waited
    /// for here, and every queue's first batch waits for that point. A binary semaphore can be waited for once, so one
    /// before a resource that several queues enter, or none, is waited for here, too.
    pub(super) fn await_all(&mut self, external: &External<'_>) -> Result<Option<Point>, Error> {
        let mut waits: Vec<WaitFor> = Vec::new();
        for wait in external.waits {
            let SemaphoreWait { semaphore, value, resource, stages: at, .. } = *wait;
            let memory = resource.map(|of| self.compiled.plan.memory_of(of));
            let initial = memory.map_or(0, |memory| self.waiting(memory));
            let (timeline, stages) = (value.is_some(), vk::PipelineStageFlags2::ALL_COMMANDS);
            let value = value.unwrap_or(0);
            let one_queue = self.compiled.batches.iter().all(|batch| batch.queue == Some(OWN_QUEUE));
            match memory {
                None if is_common(at) && (timeline || one_queue) => self.at_stages.push((semaphore, value, at)),
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

    /// How many batches wait before a memory, the host's counted as two: it waits in no submit. Those that the plan
    /// names, else those that enter it.
    fn waiting(&self, memory: ResourceId) -> usize {
        let plan = &self.compiled.plan;
        let count = |batch: &BatchInfo| if batch.queue.is_some() { 1 } else { 2 };
        let planned = points(self.compiled, memory, false).map(|point| count(&self.compiled.batches[point.batch]));
        match planned.sum() {
            0 => {
                let enters = |at: &EdgeId| plan.memory_of(plan.edges[at.index()].resource) == memory;
                self.compiled.batches.iter().filter(|batch| batch.entries.iter().any(enters)).map(count).sum()
            }
            planned => planned,
        }
    }

    /// Waits of a queue's first batch, or of the host's batches, at the stages that it has.
    pub(super) fn await_stages(&self, queue: Option<DeviceQueueId>, initial: &mut InitialBarriers) {
        for &(semaphore, value, stages) in &self.at_stages {
            let stages = queue
                .map_or(stages & Stages::HOST, |queue| common_stages(self.shared.queues[queue].capabilities) & stages);
            if !stages.is_empty() {
                initial.wait(semaphore, value, convert::stages(stages));
            }
        }
    }

    /// Waits of a batch that the plan names.
    pub(super) fn await_planned(&self, batch: BatchId, initial: &mut InitialBarriers) {
        for point in self.compiled.plan.foreign.iter().filter(|point| point.batch == batch) {
            let Some(stages) = point.wait else { continue };
            let memory = self.compiled.plan.memory_of(point.resource);
            for awaited in self.awaited.iter().filter(|awaited| awaited.memory == memory) {
                initial.wait(awaited.semaphore, awaited.value, convert::stages(stages));
            }
        }
    }

    /// Waits of a batch for the semaphores before a memory that it enters, at the stages of the entry, unless the plan
    /// names the batches that wait. Returns those stages if the batch waits here, as its queue's first, or where the
    /// plan says: a change of layout follows the wait only if its barrier begins there.
    ///
    /// Source: Vulkan 1.3 specification, "Semaphore Waiting" (second synchronization scope), "Execution and Memory
    /// Dependencies".
    pub(super) fn await_entry(&self, edge: &Edge, initial: &mut InitialBarriers) -> vk::PipelineStageFlags2 {
        let memory = self.compiled.plan.memory_of(edge.resource);
        let stages = match convert::stages(edge.entry.stages) {
            none if none.is_empty() => vk::PipelineStageFlags2::ALL_COMMANDS,
            stages => stages,
        };
        let mut waits = self.awaits && self.compiled.plan.resources[memory].life == PlanLife::Imported;
        let planned = points(self.compiled, memory, false).next().is_some();
        for awaited in self.awaited.iter().filter(|awaited| awaited.memory == memory) {
            if !planned {
                initial.wait(awaited.semaphore, awaited.value, stages);
            }
            waits = true;
        }
        // What waits at stages chosen by the caller is followed there.
        let imported = self.compiled.plan.resources[memory].life == PlanLife::Imported;
        let chosen = self.at_stages.iter().fold(Stages::empty(), |all, (.., at)| all | *at);
        let chosen = if imported { convert::stages(chosen - Stages::HOST) } else { vk::PipelineStageFlags2::empty() };
        if waits { stages | chosen } else { chosen }
    }

    /// What the host waits for before a batch, where the plan names it.
    pub(super) fn await_planned_on_host(&self, batch: BatchId, waits: &mut Vec<(vk::Semaphore, u64)>) {
        let planned = self.compiled.plan.foreign.iter().filter(|point| point.batch == batch && point.wait.is_some());
        planned.for_each(|point| self.await_on_host(self.compiled.plan.memory_of(point.resource), waits));
    }

    /// What the host waits for before it uses a memory.
    pub(super) fn await_on_host(&self, memory: ResourceId, waits: &mut Vec<(vk::Semaphore, u64)>) {
        let of = self.awaited.iter().filter(|awaited| awaited.memory == memory);
        waits.extend(of.map(|awaited| (awaited.semaphore, awaited.value)));
    }

    /// Sorts signals: those behind an import belong to the batches that the plan names, unless the host uses it or the
    /// run reads it back.
    pub(super) fn release_all(&mut self, external: &External<'_>, wanted: &[Wanted]) {
        for signal in external.signals {
            let Some(resource) = signal.resource else { continue };
            let memory = self.compiled.plan.memory_of(resource);
            let (semaphore, value) = (signal.semaphore, signal.value);
            let batches: Vec<_> = points(self.compiled, memory, true).map(|point| point.batch).collect();
            let on_host = batches.iter().any(|batch| self.compiled.batches[*batch].queue.is_none());
            let read = wanted
                .iter()
                .any(|wanted| self.compiled.plan.memory_of(self.compiled.roots[wanted.root].resource) == memory);
            let late = batches.is_empty() || on_host || read;
            let left = batches.len();
            self.released.push(Released { semaphore, value, batches, left, late });
        }
    }

    /// Signals behind the batch that the open submits end with, if it is the last one that the plan names: with its
    /// submit if it is the only one, else in a submit behind all of them.
    pub(super) fn signal_behind(&mut self, batch: BatchId, queue: DeviceQueueId) -> Result<(), Error> {
        for at in 0..self.released.len() {
            let released = &mut self.released[at];
            if released.late || !released.batches.contains(&batch) {
                continue;
            }
            released.left -= 1;
            if released.left > 0 {
                continue;
            }
            let signal = (released.semaphore, released.value);
            let others: Vec<_> = released.batches.iter().copied().filter(|other| *other != batch).collect();
            if let (true, Some((_, submits, _))) = (others.is_empty(), self.open.as_mut())
                && let Some(last) = submits.last_mut()
            {
                last.signals.push(signal);
                continue;
            }
            self.flush()?;
            let mut submit = Submit { signals: vec![signal], ..Submit::default() };
            for other in others {
                if let Some(At::Queue(point)) =
                    self.now[other].filter(|at| !matches!(at, At::Queue(point) if point.queue == queue))
                {
                    let (semaphore, stages) =
                        (self.shared.queues[point.queue].semaphore, vk::PipelineStageFlags2::ALL_COMMANDS);
                    submit.waits.push(WaitFor { semaphore, value: point.value, stages });
                }
            }
            self.submit_own(queue, submit)?;
        }
        Ok(())
    }

    /// Signals behind all batches: with the last submit if the run has one queue, else in one behind all of them.
    pub(super) fn signal_all(&mut self, state: &mut RunState, external: &External<'_>) -> Result<(), Error> {
        let whole = external.signals.iter().filter(|signal| signal.resource.is_none());
        let signals: Vec<_> = whole.map(|signal| (signal.semaphore, signal.value)).collect();
        if signals.is_empty() {
            return Ok(());
        }
        let alone = state.host.is_none() && self.last.iter_ids().all(|(at, last)| at == OWN_QUEUE || *last == 0);
        if let Some((OWN_QUEUE, submits, _)) = self.open.as_mut().filter(|_| alone)
            && let Some(last) = submits.last_mut()
        {
            last.signals.extend(signals);
            return Ok(());
        }
        self.submit_behind(state, Submit { signals, ..Submit::default() })
    }

    /// Signals behind the read-backs what could not be signalled earlier.
    pub(super) fn signal_late(&mut self, state: &mut RunState) -> Result<(), Error> {
        let late = self.released.iter().filter(|released| released.late);
        let signals: Vec<_> = late.map(|released| (released.semaphore, released.value)).collect();
        if signals.is_empty() {
            return Ok(());
        }
        self.submit_behind(state, Submit { signals, ..Submit::default() })
    }

    /// Signals a fence behind everything.
    pub(super) fn signal_fence(&mut self, state: &mut RunState, external: &External<'_>) -> Result<(), Error> {
        let Some(fence) = external.fence else { return Ok(()) };
        self.submit_behind(state, Submit { fence: fence.fence, ..Submit::default() })
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
