//! Host passes of a run: jobs for their thread, what they wait for, what waits for them.

use std::time::Instant;

use ash::vk;
use rgraph_plan::access::{Accesses, Stages, Usage};
use rgraph_plan::error::{GraphError, Mistake};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{BatchId, Command, PlanPassId, Wait};

use super::Run;
use crate::device::inside::Chain;
use crate::device::poll::wait_polling;
use crate::device::queue::{DeviceQueueId, Point, Submit};
use crate::error::{Code, Error};
use crate::frame::host::{Call, HostBatch, Seen, overlapping};
use crate::frame::initial_barriers::{InitialBarriers, Target};
use crate::frame::state::{At, RunState};
use crate::memory::state::Region;
use crate::work::Work;

impl Run<'_, '_> {
    /// Submits what the host waits for, and waits until its semaphore has a value: only what the host wrote before a
    /// submit is sure to be seen by it. A GPU that keeps the host's memory in its caches (an H200 does) shows the
    /// difference, whatever barrier follows a wait for a signal that came later. Other runs take their turns meanwhile:
    /// a function may wait for a thread that submits one. What this run uses is reserved for it. Host batches whose
    /// turn comes later run meanwhile too, if all that they wait for was submitted.
    pub(super) fn wait_for_host(&mut self, state: &RunState, value: u64) -> Result<(), Error> {
        self.flush()?;
        self.hand_ahead(state)?;
        let Some(outcome) = &self.outcome else { return Ok(()) };
        let begin = Instant::now();
        *self.turn = None;
        let waited = wait_polling(self.poll, |slice| Ok(outcome.wait_for(value, slice)));
        *self.turn = Some(self.shared.turn());
        waited?;
        self.figures.took("wait", begin);
        // It may have been closed while functions ran.
        self.shared.check()
    }

    /// Hands over the next host batches that wait for nothing but what was submitted. They keep their order, since the
    /// host signals in it.
    fn hand_ahead(&mut self, state: &RunState) -> Result<(), Error> {
        let compiled = self.compiled;
        let plan = &compiled.plan;
        let host = plan.batches.iter_ids().filter(|(_, batch)| batch.queue.is_none()).map(|(id, _)| id);
        for batch in host.filter(|_| self.ahead).collect::<Vec<_>>() {
            if self.handed[batch] {
                continue;
            }
            let submitted = |wait: &Wait| {
                let signalled = compiled.signals.get(&(wait.queue, wait.value));
                wait.previous_run || signalled.is_none_or(|batch| self.now[*batch].is_some())
            };
            if !plan.waits[plan.batches[batch].waits.range()].iter().all(submitted) {
                break;
            }
            self.host_batch(state, batch)?;
        }
        Ok(())
    }

    /// Hands host passes to their thread.
    pub(super) fn host_batch(&mut self, state: &RunState, batch: BatchId) -> Result<(), Error> {
        self.flush()?;
        let planned = self.compiled.plan.batches[batch];
        let initial = self.waits(state, &self.compiled.plan.waits[planned.waits.range()], None)?;
        let mut waits: Vec<_> = initial.waits.iter().map(|wait| (wait.semaphore, wait.value)).collect();
        for point in self.acquire_host(state, batch)? {
            waits.push((self.shared.queues[point.queue].semaphore, point.value));
        }
        for &at in &self.compiled.batches[batch].entries {
            let edge = &self.compiled.plan.edges[at.index()];
            self.await_on_host(self.compiled.plan.memory_of(edge.resource), &mut waits);
        }
        self.await_planned_on_host(batch, &mut waits);
        // What an earlier host batch waited for is known on the host, and its passes need not be done.
        for (semaphore, value) in waits {
            match self.host_waits.iter_mut().find(|(known, _)| *known == semaphore) {
                Some((_, known)) => *known = value.max(*known),
                None => self.host_waits.push((semaphore, value)),
            }
        }
        let waits = self.host_waits.clone();
        let mut calls = Vec::new();
        let on = &state.recording_of(self.context, self.recording).on;
        for command in &self.compiled.plan.commands[planned.commands.range()] {
            let Command::Pass { pass, .. } = command else { continue };
            let declared = self.compiled.table.pass_of[*pass];
            let work = declared.and_then(|pass| self.compiled.workload.works.get(&pass));
            if let Some(Work::Host(work)) = work.filter(|_| on[*pass]) {
                let pass_name = self.compiled.plan.pass_name(*pass).to_owned();
                let seen = self.seen(state, *pass)?;
                let work = match &state.sink {
                    Some(sink) => sink.around(&pass_name, work.clone()),
                    None => work.clone(),
                };
                self.host_calls += 1;
                let set = if self.ahead { self.compiled.host_sets[*pass] } else { self.host_calls };
                calls.push(Call { pass: pass_name, work, seen, set });
            }
        }
        let signal = planned.signal.map(|value| self.host_base + u64::from(value));
        if let (Some(host), Some(outcome)) = (&state.host, &self.outcome) {
            let (of, outcome) = (self.compiled.clone(), outcome.clone());
            let foreign = self.shared.note_host_waits(&waits, self.external.waits, self.waiter(), &outcome);
            host.push(HostBatch { _of: of, waits, foreign, calls, signal, outcome, chain: Chain::here() });
        }
        self.handed[batch] = true;
        self.now[batch] = signal.map(At::Host);
        Ok(())
    }

    /// The buffers of a host pass, access by access.
    fn seen(&self, state: &RunState, pass: PlanPassId) -> Result<Vec<Seen>, Error> {
        let mut seen: Vec<Seen> = Vec::new();
        let recording = state.recording_of(self.context, self.recording);
        for access in self.compiled.table.of(pass) {
            // What the output of a pass that is off is read of goes by the output's name.
            let found = match access.usage {
                Usage::HostWrite => access.resource,
                _ => recording.resource_read(self.compiled, pass, access.resource),
            };
            let physical = self.compiled.physical(found, state.run, &state.imports);
            let Some(physical) = physical else { continue };
            let name = self.compiled.plan.resource_name(access.resource);
            let writable = access.usage == Usage::HostWrite;
            let Some(one) = Seen::new(physical, access.resource, name, writable, access.region.range) else {
                let message = format!("\"{name}\" is used by a pass on the host, which cannot see its memory");
                return Err(Error::input(name, message, "give an array instead of a resource of the device"));
            };
            seen.push(one);
        }
        if let Some((one, two)) = overlapping(&seen) {
            let pass = self.compiled.plan.pass_name(pass);
            let message =
                format!("pass \"{pass}\" gets \"{}\" and \"{}\", which share bytes in memory", one.name, two.name);
            let mistake = Mistake::new(Code::Malformed, message, "bake the graph again").pass(pass);
            return Err(Error::Graph(GraphError::one(mistake)));
        }
        Ok(seen)
    }

    /// Makes what earlier runs wrote on the GPU visible to the host; returns what a host batch then waits for.
    fn acquire_host(&mut self, state: &RunState, batch: BatchId) -> Result<Vec<Point>, Error> {
        let mut points = Vec::new();
        for &at in &self.compiled.batches[batch].entries {
            let edge = &self.compiled.plan.edges[at.index()];
            let Some(physical) = self.compiled.physical(edge.resource, state.run, &state.imports).cloned() else {
                continue;
            };
            let region = Region::of_edge(edge);
            let mut queues: Vec<DeviceQueueId> = Vec::new();
            physical.tracked().visit(region, |_, state| {
                points.extend(&state.points);
                queues.extend(state.queue);
            });
            queues.sort_unstable();
            queues.dedup();
            for queue in queues {
                let mut initial = InitialBarriers::default();
                let target = Target {
                    queue,
                    stages: Stages::HOST,
                    access: Accesses::HOST_READ | Accesses::HOST_WRITE,
                    layout: edge.entry.layout,
                    discard: false,
                    previous: (0, 0),
                };
                initial.acquire(self.shared, &physical, region, target);
                if initial.is_empty() {
                    continue;
                }
                // Semaphores cannot be waited for at the host stage by a queue.
                for wait in &mut initial.waits {
                    wait.stages = vk::PipelineStageFlags2::ALL_COMMANDS;
                }
                let device = &self.shared.raw;
                let family = self.shared.queues[queue].family;
                let commands =
                    self.context.once.record(self.shared, family, |commands| initial.record(device, commands))?;
                points.push(self.submit_own(
                    queue,
                    Submit { waits: initial.waits, commands: vec![commands], ..Submit::default() },
                )?);
            }
        }
        Ok(points)
    }

    /// Has the host signal behind its last batch, where no batch of the plan waits for that one.
    pub(super) fn signal_host(&self, state: &RunState) {
        let plan = &self.compiled.plan;
        let last = plan.batches.iter().rev().find(|batch| batch.queue.is_none());
        let silent = last.is_some_and(|batch| batch.signal.is_none());
        if let (true, Some(host), Some(outcome)) = (silent, &state.host, &self.outcome) {
            let signal = Some(host.last() + 1);
            let (of, outcome, chain) = (self.compiled.clone(), outcome.clone(), Chain::default());
            host.push(HostBatch {
                _of: of,
                waits: Vec::new(),
                foreign: false,
                calls: Vec::new(),
                signal,
                outcome,
                chain,
            });
        }
    }
}
