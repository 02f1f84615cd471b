//! One run to the queues: what is uploaded, initial barriers, the plan's batches in their order, what is read back.

mod external;
mod host;
mod read;

use std::sync::{Arc, MutexGuard};

use ash::vk;
use rgraph_plan::access::{Accesses, Layout, Stages};
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::{BatchId, Wait};

use crate::chaos::poisoner::Poisoner;
use crate::chaos::spec::Chaos;
use crate::compile::compiled_graph::CompiledGraph;
use crate::convert;
use crate::device::Shared;
use crate::device::foreign_wait::Waiter;
use crate::device::poll::Poll;
use crate::device::queue::{DeviceQueueId, Point, Submit};
use crate::error::Error;
use crate::frame::copy::{Piece, clear, copy_whole, seen_by_all, upload};
use crate::frame::external::External;
use crate::frame::figures::Figures;
use crate::frame::host::HostLane;
use crate::frame::initial_barriers::{InitialBarriers, Target};
use crate::frame::outcome::Outcome;
use crate::frame::run::Prologue;
use crate::frame::state::{At, FrameContext, RecordingId, RunState};
use crate::frame::submitted::Reads;
use crate::frame::wanted::Wanted;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::state::{Region, ResourceState};

use external::{Awaited, Released};

/// What is submitted.
#[derive(Clone, Copy)]
pub(crate) struct Submission<'a> {
    /// The recorded recording.
    pub recording: RecordingId,
    pub prologue: &'a Prologue,
    /// The roots that are read back.
    pub wanted: &'a [Wanted],
    pub external: External<'a>,
    pub poll: Option<Poll<'a>>,
}

/// A run that was submitted.
pub(crate) struct Done {
    pub points: Vec<Point>,
    pub reads: Reads,
    pub host: Option<Arc<Outcome>>,
}

/// The device's queue for what the runtime adds: the graphics queue, which can do everything.
const OWN_QUEUE: DeviceQueueId = DeviceQueueId::FIRST;

impl RunState {
    /// Submits a run in its turn, which it lets go of while it waits for the host and then takes again. What was
    /// submitted before an error is not taken back.
    pub(crate) fn submit<'a, 't>(
        &mut self,
        compiled: &'t Arc<CompiledGraph>,
        context: &'a mut FrameContext,
        Submission { recording, prologue, wanted, external, poll }: Submission<'a>,
        turn: &'a mut Option<MutexGuard<'t, ()>>,
        figures: &'a mut Figures,
    ) -> Result<Done, Error> {
        let outcome = self.last.clone().filter(|_| self.host.is_some());
        let shared = &compiled.shared;
        let chaos = compiled.chaos.as_deref();
        let mut run = Run {
            shared,
            compiled,
            context,
            recording,
            turn,
            now: IdVec::filled(None, compiled.plan.batches.len()),
            open: None,
            last: IdVec::filled(0, shared.queues.len()),
            entered: IdVec::filled(false, shared.queues.len()),
            awaited: Vec::new(),
            awaits: false,
            at_stages: Vec::new(),
            released: Vec::new(),
            external,
            promised: !external.waits.is_empty() || !external.signals.is_empty() || external.fence.is_some(),
            host_base: self.host.as_ref().map_or(0, HostLane::last),
            handed: IdVec::filled(false, if self.host.is_some() { compiled.plan.batches.len() } else { 0 }),
            host_waits: Vec::new(),
            ahead: chaos.is_none(),
            host_calls: 0,
            outcome,
            poll,
            figures,
        };
        if let Some(chaos) = chaos {
            self.after = Some(run.poison(chaos)?);
        }
        if let Some(awaited) = run.await_all(&external)? {
            self.after = Some(awaited);
        }
        run.release_all(&external, wanted);
        run.prologue(prologue)?;
        if !prologue.is_empty() {
            self.set_initialised();
        }
        let order = chaos.and_then(|chaos| chaos.order(&compiled.plan, &compiled.signals, self.run));
        for batch in compiled.plan.batches.ids() {
            let batch = order.as_ref().map_or(batch, |order| order[batch.index()]);
            match compiled.batches[batch].queue {
                Some(queue) => run.batch(self, batch, queue)?,
                None if run.handed[batch] => {}
                None => run.host_batch(self, batch)?,
            }
        }
        run.signal_all(self, &external)?;
        run.flush()?;
        run.leave(self);
        self.set_initialised();
        let reads = run.read_back(self, wanted)?;
        run.signal_late(self)?;
        run.signal_fence(self, &external)?;
        let points = run.points();
        let Run { now, outcome, .. } = run;
        self.batches = now;
        Ok(Done { points, reads, host: outcome })
    }
}

struct Run<'a, 't> {
    shared: &'t Arc<Shared>,
    compiled: &'t Arc<CompiledGraph>,
    context: &'a mut FrameContext,
    recording: RecordingId,
    /// Where each batch of this run ends.
    now: IdVec<BatchId, Option<At>>,
    /// Batches that go to one queue in one call.
    open: Option<(DeviceQueueId, Vec<Submit>, Vec<BatchId>)>,
    /// The last value of each queue in this run; 0: it was not used.
    last: IdVec<DeviceQueueId, u64>,
    /// Queues that have waited for the read-back of the run before.
    entered: IdVec<DeviceQueueId, bool>,
    /// Semaphores of the caller's that are waited for where resources are entered.
    awaited: Vec<Awaited>,
    /// Whether all queues wait for some at their first batch.
    awaits: bool,
    /// Semaphores of the caller's, with values, that each queue waits for at some stages.
    at_stages: Vec<(vk::Semaphore, u64, Stages)>,
    /// Semaphores of the caller's that are signalled behind imports.
    released: Vec<Released>,
    external: External<'a>,
    /// Whether the caller gave semaphores or a fence.
    promised: bool,
    host_base: u64,
    /// Host batches whose passes their thread has.
    handed: IdVec<BatchId, bool>,
    /// What these wait for, all together.
    host_waits: Vec<(vk::Semaphore, u64)>,
    /// Whether host batches may be submitted before batches that are earlier in the plan.
    ahead: bool,
    /// Calls of functions on the host so far. A chaos run makes them one after the other in the order of its trial:
    /// which of two functions comes first must not depend on threads.
    host_calls: u32,
    outcome: Option<Arc<Outcome>>,
    turn: &'a mut Option<MutexGuard<'t, ()>>,
    poll: Option<Poll<'a>>,
    figures: &'a mut Figures,
}

impl Run<'_, '_> {
    fn points(&self) -> Vec<Point> {
        let used = self.last.iter_ids().filter(|(_, value)| **value > 0);
        used.map(|(queue, &value)| Point { queue, value }).collect()
    }

    /// Submits to a queue in one call. What the run was given for these submits is used up from here on.
    fn submit_to(&mut self, queue: DeviceQueueId, submits: &[Submit]) -> Result<u64, Error> {
        if self.promised {
            self.shared.renew_fences(submits)?;
        }
        let last = self.shared.noted(self.shared.queues[queue].submit(&self.shared.raw, submits))?;
        self.figures.submits += submits.len() as u32;
        // What is waited for before what is signalled: a binary signal is behind the waits of its own submit.
        self.shared.note_waits((queue, last), submits, self.external.waits, self.waiter());
        if self.promised {
            self.shared.keep_promises(submits);
        }
        Ok(last)
    }

    /// Who waits for semaphores of others.
    fn waiter(&self) -> Waiter<'_> {
        Waiter { of: "graph", name: &self.compiled.plan.graph, place: self.external.place }
    }

    /// Submits what is open.
    fn flush(&mut self) -> Result<(), Error> {
        let Some((queue, submits, batches)) = self.open.take() else { return Ok(()) };
        let last = self.submit_to(queue, &submits)?;
        for (batch, value) in batches.into_iter().zip(last + 1 - submits.len() as u64..) {
            self.now[batch] = Some(At::Queue(Point { queue, value }));
        }
        self.last[queue] = last;
        Ok(())
    }

    /// Submits one thing of our own.
    fn submit_own(&mut self, queue: DeviceQueueId, submit: Submit) -> Result<Point, Error> {
        self.flush()?;
        let value = self.submit_to(queue, &[submit])?;
        self.last[queue] = value;
        Ok(Point { queue, value })
    }

    /// Fills transient buffers with poison, behind the runs before; all queues wait for it.
    fn poison(&mut self, chaos: &Chaos) -> Result<Point, Error> {
        let (compiled, queue) = (self.compiled, &self.shared.queues[OWN_QUEUE]);
        let commands = self.context.once.record(self.shared, queue.family, |commands| {
            Poisoner { compiled, poison: &chaos.spec.poison, queue, commands }.fill_all();
        })?;
        self.submit_own(OWN_QUEUE, Submit { commands: vec![commands], ..Submit::default() })
    }

    /// Clears and uploads, on a queue that can do both.
    fn prologue(&mut self, prologue: &Prologue) -> Result<(), Error> {
        if prologue.is_empty() {
            return Ok(());
        }
        let mut initial = InitialBarriers::default();
        let target = |discard| Target {
            queue: OWN_QUEUE,
            stages: Stages::ALL_TRANSFER,
            access: Accesses::TRANSFER_WRITE,
            layout: Layout::TransferDst,
            discard,
            previous: (0, 0),
        };
        for (physical, _) in &prologue.clears {
            initial.acquire(self.shared, physical, Region::whole(physical.kind), target(true));
        }
        let read = Target { access: Accesses::TRANSFER_READ, layout: Layout::TransferSrc, ..target(false) };
        for (from, to) in &prologue.copies {
            initial.acquire(self.shared, from, Region::whole(from.kind), read);
            initial.acquire(self.shared, to, Region::whole(to.kind), target(true));
        }
        let begun = |physical: &Arc<PhysicalResource>| {
            let mut begun = prologue.clears.iter().map(|(to, _)| to).chain(prologue.copies.iter().map(|(_, to)| to));
            begun.any(|known| Arc::ptr_eq(known, physical))
        };
        for (physical, ..) in prologue.uploads.iter().filter(|(physical, ..)| !begun(physical)) {
            initial.acquire(self.shared, physical, Region::first_mip(physical.kind), target(true));
        }
        let device = &self.shared.raw;
        let (compiled, queue) = (self.compiled, &self.shared.queues[OWN_QUEUE]);
        let family = queue.family;
        let poison = compiled.chaos.as_deref().map(|chaos| &chaos.spec.poison);
        let commands = self.context.once.record(self.shared, family, |commands| {
            initial.record(device, commands);
            for (physical, poisoned) in &prologue.clears {
                match (poisoned, poison) {
                    (Some(memory), Some(poison)) => {
                        Poisoner { compiled, poison, queue, commands }.physical(*memory, physical);
                    }
                    _ => clear(device, commands, physical),
                }
            }
            for (from, to) in &prologue.copies {
                copy_whole(device, commands, from, to);
            }
            if !(prologue.clears.is_empty() && prologue.copies.is_empty()) {
                seen_by_all(device, commands);
            }
            for (physical, block, offset) in &prologue.uploads {
                upload(device, commands, physical, &Piece::whole(physical.kind), block.buffer(), *offset);
            }
        })?;
        let submit = Submit { waits: initial.waits, commands: vec![commands], ..Submit::default() };
        self.figures.notes.append(&mut initial.notes);
        let point = self.submit_own(OWN_QUEUE, submit)?;
        let state = ResourceState {
            queue: Some(OWN_QUEUE),
            family: Some(family),
            stages: Stages::ALL_TRANSFER,
            access: Accesses::TRANSFER_WRITE,
            layout: Layout::TransferDst,
            points: vec![point],
            released: false,
            user: (0, 0),
        };
        for (physical, _) in &prologue.clears {
            physical.tracked().set(Region::whole(physical.kind), &state);
        }
        for (from, to) in &prologue.copies {
            to.tracked().set(Region::whole(to.kind), &state);
            let access = Accesses::TRANSFER_READ;
            let read = ResourceState { access, layout: Layout::TransferSrc, ..state.clone() };
            from.tracked().set(Region::whole(from.kind), &read);
        }
        for (physical, block, _) in &prologue.uploads {
            physical.tracked().set(Region::first_mip(physical.kind), &state);
            block.used_until(point);
        }
        Ok(())
    }

    /// Waits of a batch: of the plan, for the read-back of the run before, and none twice.
    fn waits(
        &mut self,
        state: &RunState,
        waits: &[Wait],
        queue: Option<DeviceQueueId>,
    ) -> Result<InitialBarriers, Error> {
        let mut initial = InitialBarriers::default();
        for wait in waits {
            let signalled = self.compiled.signals.get(&(wait.queue, wait.value));
            let Some(&batch) = signalled else { continue };
            let at = if wait.previous_run {
                state.batches[batch]
            } else {
                if self.now[batch].is_none() {
                    self.flush()?;
                }
                self.now[batch]
            };
            let stages = convert::stages(wait.stages);
            match at {
                Some(At::Queue(point)) => {
                    initial.wait(self.shared.queues[point.queue].semaphore, point.value, stages);
                }
                Some(At::Host(value)) => {
                    if let Some(host) = &state.host {
                        initial.wait(host.semaphore, value, stages);
                        if queue.is_some() {
                            initial.after_host(stages);
                            self.wait_for_host(state, value)?;
                        }
                    }
                }
                None => {}
            }
        }
        let first = queue.is_none_or(|queue| !std::mem::replace(&mut self.entered[queue], true));
        if first {
            self.await_stages(queue, &mut initial);
        }
        if let Some(after) = state.after.filter(|after| first && queue != Some(after.queue)) {
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            initial.wait(self.shared.queues[after.queue].semaphore, after.value, all);
        }
        Ok(initial)
    }

    fn batch(&mut self, state: &RunState, batch: BatchId, queue: DeviceQueueId) -> Result<(), Error> {
        let planned = &self.compiled.plan.batches[batch];
        if self.open.as_ref().is_some_and(|(open, ..)| *open != queue) {
            self.flush()?;
        }
        let mut initial = self.waits(state, &self.compiled.plan.waits[planned.waits.range()], Some(queue))?;
        self.await_planned(batch, &mut initial);
        self.acquire_edges(state, batch, queue, &mut initial);
        let info = &self.compiled.batches[batch];
        let mut commands = Vec::with_capacity(info.chunks.len() + 1);
        if !initial.is_empty() {
            self.figures.entry_barriers += initial.len();
            let family = self.shared.queues[queue].family;
            commands.push(self.context.entries(self.recording).commands(self.shared, family, batch, &mut initial)?);
        }
        self.figures.notes.append(&mut initial.notes);
        let recorded = &state.recording_of(self.context, self.recording).chunks.slice(info.chunks);
        commands.extend(recorded.iter().map(|(_, commands)| *commands));
        let (_, submits, batches) = self.open.get_or_insert_with(|| (queue, Vec::new(), Vec::new()));
        submits.push(Submit { waits: initial.waits, commands, ..Submit::default() });
        batches.push(batch);
        self.signal_behind(batch, queue)
    }

    /// Acquires the resources that a batch is the first to use.
    fn acquire_edges(&self, state: &RunState, batch: BatchId, queue: DeviceQueueId, initial: &mut InitialBarriers) {
        for &at in &self.compiled.batches[batch].entries {
            let edge = &self.compiled.plan.edges[at.index()];
            let Some(physical) = self.compiled.physical(edge.resource, state.run, &state.imports) else { continue };
            let region = Region::of_edge(edge);
            initial.awaited = self.await_entry(edge, initial);
            let target = Target {
                queue,
                stages: edge.entry.stages,
                access: edge.entry.access,
                layout: edge.entry.layout,
                discard: false,
                previous: (self.compiled.id, state.run),
            };
            initial.acquire(self.shared, physical, region, target);
        }
    }

    /// What outlives the run carries the state that the plan leaves it in.
    fn leave(&self, state: &RunState) {
        let points = self.points();
        for (edge, &released) in self.compiled.plan.edges.iter().zip(&self.compiled.released) {
            let Some(physical) = self.compiled.physical(edge.resource, state.run, &state.imports) else { continue };
            let queue = edge.exit.queue.map(|queue| self.compiled.queues[queue]);
            let region = Region::of_edge(edge);
            let left = ResourceState {
                queue,
                family: queue.map(|queue| self.shared.queues[queue].family),
                stages: edge.exit.stages,
                access: edge.exit.access,
                layout: edge.exit.layout,
                points: points.clone(),
                released,
                user: (self.compiled.id, state.run + 1),
            };
            physical.tracked().set(region, &left);
        }
    }
}
