//! One run up to its submission: inputs, staging, recording.

mod heritage;
mod inputs;
mod renew;
mod structures;

pub(crate) use inputs::Prologue;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanPassId;
use rgraph_work::{Commands, RecordWork, Step};

use crate::compile::compiled_graph::CompiledGraph;
use crate::compile::packet::Packets;
use crate::device::poll::{Poll, wait_polling};
use crate::device::wait::AWAKE;
use crate::error::Error;
use crate::frame::external::External;
use crate::frame::figures::Figures;
use crate::frame::host::Reservation;
use crate::frame::inputs::Inputs;
use crate::frame::jobs;
use crate::frame::measure::Measure;
use crate::frame::record::{RecordInputs, passes_on, record};
use crate::frame::recording::{Ingredients, Recording};
use crate::frame::state::{ContextId, RecordingId, RunState};
use crate::frame::submit::Submission;
use crate::frame::submitted::Submitted;
use crate::frame::targets::RunTargets;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::state::ResourceState;
use crate::work::Work;

/// Recordings that a context keeps.
const MOST_RECORDINGS: usize = 12;

impl RunState {
    /// Runs once, up to and with the submission. Flags of a run that fails do not stay.
    pub(crate) fn run_once(&mut self, compiled: &Arc<CompiledGraph>, inputs: &Inputs<'_>) -> Result<Submitted, Error> {
        let mut changed = Vec::new();
        let submitted = self.run_with(compiled, inputs, &mut changed);
        if submitted.is_err() && !changed.is_empty() {
            // A name that is given twice is undone in its first state.
            changed.drain(..).rev().for_each(|(flag, off)| self.key.off[flag] = off);
            self.on = passes_on(compiled, &self.key.off);
        }
        submitted
    }

    /// Runs once; `changed` gets the flags that it changes, as they were.
    fn run_with(
        &mut self,
        compiled: &Arc<CompiledGraph>,
        inputs: &Inputs<'_>,
        changed: &mut Vec<(usize, bool)>,
    ) -> Result<Submitted, Error> {
        let at = self.context_of(self.run);
        let mut figures = Figures { run: self.run, first: self.first, ..Figures::default() };
        let begin = Instant::now();
        // Over already, unless the caller gave up waiting for it.
        if let Some(last) = &self.last {
            wait_polling(inputs.poll, |slice| Ok(last.wait_until_over(slice)))?;
        }
        if let Some(failed) = self.failed {
            self.contexts[failed].wait(&compiled.shared, inputs.poll)?;
            self.failed = None;
        }
        self.begin_context(compiled, at, inputs)?;
        if compiled.chaos.is_some() {
            // Transient buffers are filled before the run: none of their earlier uses is under way.
            self.contexts.iter().try_for_each(|context| context.wait(&compiled.shared, inputs.poll))?;
        }
        figures.took("wait", begin);
        self.apply(compiled, inputs, changed)?;
        self.check_built(compiled)?;
        let begin = Instant::now();
        let wanted = self.wanted(compiled, inputs)?;
        let (waits, signals, place) = (&inputs.waits, &inputs.signals, inputs.place.as_ref());
        let external = External { waits, signals, fence: inputs.fence, place };
        external.check(compiled)?;
        let prologue = self.prologue(compiled, inputs)?;
        let held = self.check_awaited(compiled, inputs);
        if let Err(error) = held.and_then(|()| external.check_held(self.imports.iter().flatten())) {
            self.unbind(&prologue);
            return Err(error);
        }
        figures.upload_us = figures.took("upload", begin);
        let begin = Instant::now();
        let index = match self.recording(compiled, at, inputs.poll, &mut figures) {
            Ok(index) => index,
            Err(error) => {
                self.unbind(&prologue);
                return Err(error);
            }
        };
        figures.record_us = figures.took("record", begin);
        let begin = Instant::now();
        let physicals = self.lasting(compiled);
        let turn = compiled.shared.turn_with(&physicals, inputs.poll);
        let mut turn = match turn {
            Ok(turn) => Some(turn),
            Err(error) => {
                self.unbind(&prologue);
                return Err(error);
            }
        };
        if let Err(error) = self.take_left(compiled, inputs) {
            self.unbind(&prologue);
            return Err(error);
        }
        let hosted = self.host.is_some().then(|| Reservation::of(&physicals));
        self.last = hosted.as_ref().map(Reservation::outcome);
        let mut context = std::mem::take(&mut self.contexts[at]);
        let call = Submission { recording: index, prologue: &prologue, wanted: &wanted, external, poll: inputs.poll };
        let submitted = self.submit(compiled, &mut context, call, &mut turn, &mut figures);
        let outcome = match submitted {
            Ok(done) => {
                context.points.clone_from(&done.points);
                if context.kept.1 != self.rebound {
                    let bound = compiled.imports.iter().filter_map(|import| self.imports[import.memory].clone());
                    context.kept = (bound.collect(), self.rebound);
                }
                let times = Arc::new(Mutex::new(None));
                context.timed = Some((times.clone(), index, self.run));
                Ok((done, times))
            }
            Err(error) => Err(error),
        };
        self.contexts[at] = context;
        let (done, times) = match outcome {
            Ok(done) => done,
            Err(error) => {
                self.unbind(&prologue);
                self.abandon(compiled, at);
                return Err(error);
            }
        };
        self.note_built(compiled);
        drop((turn, hosted));
        figures.submit_us = figures.took("submit", begin);
        self.run += 1;
        Ok(Submitted { points: done.points, reads: done.reads, host: done.host, figures, times })
    }

    /// Waits until the context's last frame is done, and takes back what it used.
    ///
    /// A caller that is ahead of the device by all its contexts has nothing to gain from being awake at once: the
    /// frames after the one that it waits for are under way. So after a long wait the next one sleeps without looking
    /// before.
    fn begin_context(&mut self, compiled: &CompiledGraph, at: ContextId, inputs: &Inputs<'_>) -> Result<(), Error> {
        let shared = &compiled.shared;
        let context = &mut self.contexts[at];
        if !shared.is_over(&context.points)? {
            let begin = Instant::now();
            let awake = if self.waited > AWAKE * 2 { Duration::ZERO } else { AWAKE };
            wait_polling(inputs.poll, |slice| shared.wait_awake(&context.points, slice, awake))?;
            self.waited = begin.elapsed();
        }
        context.harvest(compiled)?;
        context.points.clear();
        context.once.reset(shared)?;
        shared.sweep()
    }

    /// New flags, push data, uniform data and targets.
    fn apply(
        &mut self,
        compiled: &CompiledGraph,
        inputs: &Inputs<'_>,
        changed: &mut Vec<(usize, bool)>,
    ) -> Result<(), Error> {
        let graph = &compiled.workload.graph;
        let targets = RunTargets::new(compiled, inputs)?;
        if targets != self.targets {
            self.targets = targets;
            self.push_stamp += 1;
        }
        for (name, on) in &inputs.flags {
            let Some(flag) = graph.flags().iter_ids().find(|(_, known)| *known == name) else {
                let known: Vec<_> = graph.flags().iter().map(|flag| format!("\"{flag}\"")).collect();
                let message = format!("no pass is switched by the flag \"{name}\"");
                return Err(Error::input(name, message, format!("flags of the graph: {}", known.join(", "))));
            };
            let off = &mut self.key.off[flag.0.index()];
            if *off == *on {
                changed.push((flag.0.index(), *off));
                *off = !on;
            }
        }
        if !changed.is_empty() {
            self.on = passes_on(compiled, &self.key.off);
        }
        let mut given = inputs.push.iter().map(|(pass, _)| pass).chain(inputs.data.iter().map(|(pass, ..)| pass));
        if given.any(|pass| graph.passes().get(*pass).is_none()) {
            return Err(Error::input("?", "data are given for a pass of another graph", "use this graph's handles"));
        }
        // A culled pass reads nothing, whatever it is given.
        let planned = |pass: &PassId| {
            compiled.planned.get(pass).copied().filter(|planned| compiled.plan.passes[*planned].culled.is_none())
        };
        for (pass, bytes) in &inputs.push {
            let Some(planned) = planned(pass) else { continue };
            let packets = &compiled.packets.packets[compiled.packets.of_pass[planned].range()];
            let mut packets = packets.iter().filter(|packet| !packet.push.is_empty()).peekable();
            if packets.peek().is_none() && !bytes.is_empty() {
                let name = compiled.plan.pass_name(planned);
                let message = format!("pass \"{name}\" gets {} bytes of push data, and reads none", bytes.len());
                return Err(Error::input(name, message, "give them to a pass whose steps have push data"));
            }
            for packet in packets {
                let known = &mut self.push[packet.push.range()];
                if known.len() != bytes.len() {
                    let name = compiled.plan.pass_name(planned);
                    let message =
                        format!("pass \"{name}\" gets {} bytes of push data, and reads {}", bytes.len(), known.len());
                    return Err(Error::input(name, message, "push data of the block's layout"));
                }
                if known != bytes.as_slice() {
                    known.copy_from_slice(bytes);
                    self.push_stamp += 1;
                }
            }
        }
        for (pass, binding, bytes) in &inputs.data {
            let Some(planned) = planned(pass) else { continue };
            let mut blocks =
                compiled.packets.blocks.iter().filter(|(of, at, _)| *of == planned && at == binding).peekable();
            if blocks.peek().is_none() {
                let name = compiled.plan.pass_name(planned);
                let message = format!("pass \"{name}\" has no data at binding {binding}");
                let help = "give the position of a block that is bound to data, in the program's bindings";
                return Err(Error::input(name, message, help));
            }
            for (_, _, [first, end]) in blocks {
                let known = &mut self.data[*first as usize..*end as usize];
                if known.len() != bytes.len() {
                    let name = compiled.plan.pass_name(planned);
                    let message = format!("pass \"{name}\" gets {} bytes of a block of {}", bytes.len(), known.len());
                    return Err(Error::input(name, message, "data of the block's layout"));
                }
                if known != bytes.as_slice() {
                    known.copy_from_slice(bytes);
                    self.data_stamp += 1;
                }
            }
        }
        let sampled = inputs.sample <= 1 || (self.run - self.first).is_multiple_of(u64::from(inputs.sample));
        self.key.measured = (if sampled { inputs.measure } else { Measure::Off }, inputs.statistics);
        Ok(())
    }

    /// The recording of a context for this run: an earlier one if nothing that it depends on is different. It may have
    /// to record only push data and the steps of callbacks again.
    fn recording(
        &mut self,
        compiled: &CompiledGraph,
        at: ContextId,
        poll: Option<Poll<'_>>,
        figures: &mut Figures,
    ) -> Result<RecordingId, Error> {
        let recorded = self.call_recorders(compiled, poll)?;
        self.key.phase = self.run % compiled.phases;
        if self.keyed != self.rebound {
            let bound = compiled.imports.iter().filter(|import| import.bound);
            self.key.bound = bound.map(|import| self.imports[import.memory].as_ref().map(Arc::downgrade)).collect();
            self.keyed = self.rebound;
        }
        let Self { key, imports, on, run, contexts, push_stamp, targets, spare, .. } = self;
        let from = Ingredients { compiled, run: *run, key, imports, on };
        let recordings = contexts[at].recordings.as_vec_mut();
        let mut recording = match recordings.iter().position(|recording| recording.key == *key) {
            Some(known) => recordings.remove(known),
            None => {
                let dead = recordings.iter().position(|recording| !recording.key.is_alive());
                let old = dead.or((recordings.len() >= MOST_RECORDINGS).then_some(0));
                Recording::new(from, old.map(|old| recordings.remove(old)))?
            }
        };
        if !compiled.recorded.is_empty() {
            spare.packets = recording.use_packets(from, recorded)?;
        }
        let all = recording.push_stamp != *push_stamp;
        if all || compiled.records_again {
            recording.push_stamp = u64::MAX;
            record(compiled, &mut recording, &self.push, RecordInputs { run: *run, imports, targets, all })?;
            recording.push_stamp = *push_stamp;
            figures.recorded = true;
        }
        recording.set_data(&self.data, self.data_stamp);
        recording.rearm(compiled)?;
        // The one used last stands last.
        recordings.push(recording);
        Ok(RecordingId::new(recordings.len() - 1))
    }

    /// Calls the callbacks that record steps, several at once.
    fn call_recorders(&mut self, compiled: &CompiledGraph, poll: Option<Poll<'_>>) -> Result<Packets, Error> {
        if compiled.recorded.is_empty() {
            return Ok(Packets::default());
        }
        let mut spare = std::mem::take(&mut self.spare.steps).into_iter();
        let work = |pass: PlanPassId| match compiled.workload.works.get(&compiled.table.pass_of[pass]?) {
            Some(Work::Record(work)) => Some((pass, work.clone(), spare.next().unwrap_or_default())),
            _ => None,
        };
        let works = compiled.recorded.iter().filter(|pass| self.on[**pass]).copied().filter_map(work);
        let works: Vec<(PlanPassId, Arc<dyn RecordWork>, Vec<Step>)> = works.collect();
        let one = |(pass, work, steps): (PlanPassId, Arc<dyn RecordWork>, Vec<Step>)| {
            let mut commands = Commands { steps };
            work.record(&mut commands).map_err(Error::Callback)?;
            Ok((pass, commands.steps))
        };
        // A chaos run tells orders apart, which must not depend on threads.
        let steps = match compiled.chaos {
            Some(_) => works.into_iter().map(one).collect::<Result<Vec<_>, Error>>()?,
            None => jobs::each(&compiled.shared.threads, works, poll, one)?,
        };
        let mut recorded = std::mem::take(&mut self.spare.packets);
        recorded.clear(compiled.plan.passes.len());
        for (pass, mut steps) in steps {
            if let (Some(sink), Some(declared)) = (&self.sink, compiled.table.pass_of[pass]) {
                sink.record(declared, &steps);
            }
            compiled.binder().add(pass, &steps, &mut recorded)?;
            steps.clear();
            self.spare.steps.push(steps);
        }
        Ok(recorded)
    }

    /// Uploads that did not get through: their resources have to be given again.
    fn unbind(&mut self, prologue: &Prologue) {
        for bound in self.imports.iter_mut() {
            let lost = |physical: &Arc<PhysicalResource>| {
                prologue.uploads.iter().any(|(upload, ..)| Arc::ptr_eq(upload, physical))
            };
            if bound.as_ref().is_some_and(lost) {
                *bound = None;
                self.rebound += 1;
            }
        }
    }

    /// What outlives the run: it may be used by other runs, too.
    fn lasting(&self, compiled: &CompiledGraph) -> Vec<Arc<PhysicalResource>> {
        let mut physicals: Vec<Arc<PhysicalResource>> = Vec::new();
        for edge in &compiled.plan.edges {
            if let Some(physical) = compiled.physical(edge.resource, self.run, &self.imports)
                && !physicals.iter().any(|known| Arc::ptr_eq(known, physical))
            {
                physicals.push(physical.clone());
            }
        }
        physicals
    }

    /// Resets the state of a run that failed half-way, in its turn. The next run here waits for everything submitted,
    /// other graphs wait by the timeline values. This function does not wait, since an interrupt may have ended the
    /// run.
    fn abandon(&mut self, compiled: &CompiledGraph, at: ContextId) {
        let points = compiled.shared.submitted();
        for edge in &compiled.plan.edges {
            if let Some(physical) = compiled.physical(edge.resource, self.run, &self.imports) {
                physical.set_built(false);
                physical
                    .tracked()
                    .each(|state| *state = ResourceState { points: points.clone(), ..ResourceState::default() });
            }
        }
        self.contexts[at].points = points;
        self.failed = Some(at);
        self.batches.iter_mut().for_each(|ended| *ended = None);
        self.after = None;
        self.run += 1;
        // Rings and persistent contents are undefined now; the next run begins with zeros again.
        self.initialised = false;
    }
}
