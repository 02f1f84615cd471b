//! What a compiled graph carries from run to run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::{BatchId, PlanPassId};
use rgraph_plan::resource::ResourceId;
use rgraph_work::Step;

use crate::capture::Sink;
use crate::compile::compiled_graph::{CompiledGraph, Imports};
use crate::compile::inherit::Begin;
use crate::compile::packet::Packets;
use crate::device::Shared;
use crate::device::poll::{Poll, wait_polling};
use crate::device::queue::Point;
use crate::error::Error;
use crate::frame::entries::Entries;
use crate::frame::host::HostLane;
use crate::frame::outcome::Outcome;
use crate::frame::record::passes_on;
use crate::frame::recording::{Key, Recording};
use crate::frame::targets::RunTargets;
use crate::frame::timing::Timed;
use crate::memory::command_pools::OneTime;
use crate::memory::physical_resource::PhysicalResource;

rgraph_plan::id! {
    /// A frame context: run `n` has number `n` modulo the frames in flight.
    pub(crate) struct ContextId;
    /// A recording in the list of its context, until the context's next run reorders that.
    pub(crate) struct RecordingId;
}

/// What changes from run to run.
#[derive(Default)]
pub(crate) struct RunState {
    pub run: u64,
    /// The first run of the present owner.
    pub(super) first: u64,
    pub(super) contexts: IdVec<ContextId, FrameContext>,
    pub(super) push: Vec<u8>,
    pub(super) data: Vec<u8>,
    pub(super) data_stamp: u64,
    pub(super) push_stamp: u64,
    /// Clear values, loads and viewports of the run; commands with others have another stamp than these.
    pub(super) targets: RunTargets,
    pub(super) key: Key,
    pub(super) on: IdVec<PlanPassId, bool>,
    pub imports: Imports,
    /// Images and buffers for arrays of the caller's, by the plan's memories.
    pub(super) own: IdVec<ResourceId, Vec<Arc<PhysicalResource>>>,
    /// Where each batch of the run before ended.
    pub batches: IdVec<BatchId, Option<At>>,
    pub host: Option<HostLane>,
    /// How the host passes of the last run that had some go.
    pub last: Option<Arc<Outcome>>,
    /// Where the run before was read back.
    pub after: Option<Point>,
    pub(super) initialised: bool,
    /// How some of them begin with that run.
    pub(super) begins: Vec<(ResourceId, Begin)>,
    /// Whether a later graph has them.
    pub(super) has_heir: bool,
    /// The context of a run that failed half-way, until what it left under way is waited for.
    pub(super) failed: Option<ContextId>,
    /// How long the last run waited whose context was in use.
    pub(super) waited: Duration,
    /// How often what is bound to imports has changed, when they were found to be distinct, and when the key was made.
    pub(super) rebound: u64,
    pub(super) distinct: u64,
    pub(super) keyed: u64,
    /// Where the results of functions go while the run is captured.
    pub sink: Option<Sink>,
    pub(super) spare: Spare,
}

/// Memory of steps and packets that callbacks recorded for earlier runs.
#[derive(Default)]
pub(super) struct Spare {
    /// Empty ones, in the order of the passes that record.
    pub steps: Vec<Vec<Step>>,
    /// Of the last run of a recording; cleared before they are filled again.
    pub packets: Packets,
}

/// One of the frames that may be under way at once.
#[derive(Default)]
pub(crate) struct FrameContext {
    pub(super) recordings: IdVec<RecordingId, Recording>,
    /// When its last frame is done.
    pub(super) points: Vec<Point>,
    pub once: OneTime,
    /// Where the times of its last frame go, and the recording that has them.
    pub(super) timed: Option<(Times, RecordingId, u64)>,
    /// Imports that its last frame uses, and the stamp that they have.
    pub(super) kept: (Vec<Arc<PhysicalResource>>, u64),
}

/// GPU times of a frame, once they were read.
pub(super) type Times = Arc<Mutex<Option<Timed>>>;

/// Where a batch ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    Queue(Point),
    /// A value of the host's semaphore.
    Host(u64),
}

impl RunState {
    /// Nothing ran yet.
    pub(crate) fn new(compiled: &CompiledGraph, host: Option<HostLane>) -> Self {
        let resources = compiled.plan.resources.len();
        let off = vec![false; compiled.workload.graph.flags().len()];
        Self {
            run: 0,
            first: 0,
            contexts: (0..compiled.shared.frames_in_flight).map(|_| FrameContext::default()).collect(),
            push: compiled.packets.push.clone(),
            data: compiled.packets.data.clone(),
            data_stamp: 0,
            push_stamp: 0,
            targets: RunTargets::default(),
            on: passes_on(compiled, &off),
            key: Key { off, ..Key::default() },
            imports: IdVec::filled(None, resources),
            own: IdVec::filled(Vec::new(), resources),
            batches: IdVec::filled(None, compiled.plan.batches.len()),
            host,
            last: None,
            after: None,
            initialised: false,
            begins: Vec::new(),
            has_heir: false,
            failed: None,
            waited: Duration::ZERO,
            rebound: 1,
            distinct: 0,
            keyed: 0,
            sink: None,
            spare: Spare::default(),
        }
    }

    /// Lets go of everything. Jobs that the host's thread still has keep what they use.
    pub(crate) fn end(&mut self, shared: &Shared) {
        self.host = None;
        for context in self.contexts.iter_mut() {
            shared.defer_deletion(context.once.take());
        }
    }

    /// The context of a run.
    pub(super) fn context_of(&self, run: u64) -> ContextId {
        ContextId::new((run % self.contexts.len() as u64) as usize)
    }

    /// Reads the times of a run that is done, if its context still has them.
    pub(crate) fn harvest(&mut self, compiled: &CompiledGraph, run: u64) -> Result<(), Error> {
        let at = self.context_of(run);
        match &self.contexts[at].timed {
            Some((.., of)) if *of == run => self.contexts[at].harvest(compiled),
            _ => Ok(()),
        }
    }

    /// The error of a lost device with the passes that were under way: those that began and did not end, as far as
    /// the timestamps of the frames under way tell.
    pub(crate) fn blamed(&self, compiled: &CompiledGraph, error: Error) -> Error {
        let Error::Device(mut device) = error else { return error };
        if !device.is_lost() {
            return Error::Device(device);
        }
        let mut begun: Vec<String> = Vec::new();
        for context in &self.contexts {
            if let Some((_, id, _)) = context.timed
                && let Some(recording) = context.recordings.get(id)
            {
                begun.extend(crate::frame::timing::under_way(compiled, recording));
            }
        }
        device.pass = device.pass.take().or_else(|| begun.first().cloned());
        device.notes.extend(match &*begun {
            // An earlier call lost the device: this run need not have been under way.
            [] if !device.message.is_empty() => None,
            [] => Some(format!(
                "graph \"{}\", run {}: no timestamp tells the pass; measure \"passes\" writes some",
                compiled.plan.graph,
                self.run - self.first
            )),
            begun => Some(format!("graph \"{}\": under way were {}", compiled.plan.graph, begun.join(", "))),
        });
        Error::Device(device)
    }

    /// The next run needs this import again.
    pub(crate) fn release(&mut self, memory: ResourceId) {
        self.imports[memory] = None;
        self.rebound += 1;
    }

    /// Whether what outlives runs holds what a run left there.
    pub(crate) fn is_initialised(&self) -> bool {
        self.initialised
    }

    /// By flag: whether it is off.
    pub(crate) fn off(&self) -> &[bool] {
        &self.key.off
    }

    /// Push data and uniform data, laid out as the packets'.
    pub(crate) fn parameters(&self) -> (&[u8], &[u8]) {
        (&self.push, &self.data)
    }

    /// Goes on where the last run of another compiled graph with the same contents ended.
    pub(crate) fn go_on(&mut self, before: &Self) {
        (self.run, self.initialised) = (before.run, before.initialised);
    }

    /// The clears of the first run were submitted.
    pub(crate) fn set_initialised(&mut self) {
        self.initialised = true;
        self.begins.clear();
    }

    /// A recording of a context that was taken out.
    pub(crate) fn recording_of<'a>(&self, context: &'a FrameContext, id: RecordingId) -> &'a Recording {
        &context.recordings[id]
    }
}

impl FrameContext {
    /// Waits until its last frame is done on the device.
    pub(super) fn wait(&self, shared: &Shared, poll: Option<Poll<'_>>) -> Result<(), Error> {
        wait_polling(poll, |slice| shared.wait(&self.points, slice))
    }

    /// The initial barriers of a recording.
    pub(crate) fn entries(&mut self, recording: RecordingId) -> &mut Entries {
        &mut self.recordings[recording].entries
    }

    /// Reads the times of its last frame, which is done.
    pub(super) fn harvest(&mut self, compiled: &CompiledGraph) -> Result<(), Error> {
        let Some((times, id, _)) = self.timed.take() else { return Ok(()) };
        if let Some(recording) = self.recordings.get(id) {
            let read = crate::frame::timing::read(compiled, recording)?;
            *times.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        }
        Ok(())
    }
}
