//! What a compiled graph carries from run to run, and one run up to its submission: inputs, staging, recording.

mod heritage;
mod inputs;
mod renew;
mod structures;

pub(crate) use inputs::Prologue;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rgraph_plan::graph::Ranges;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::PlanPassId;
use rgraph_plan::resource::ResourceId;

use crate::capture::Sink;
use crate::compile::bind::Packets;
use crate::compile::compiled::{Compiled, Inputs, Poll};
use crate::compile::inherit::Begin;
use crate::compile::prepared::{Imports, Prepared};
use crate::device::Shared;
use crate::device::queue::{AWAKE, Point};
use crate::error::Error;
use crate::frame::entries::Entries;
use crate::frame::external::External;
use crate::frame::host::{HostLane, Outcome, Reservation};
use crate::frame::jobs;
use crate::frame::measure::Measure;
use crate::frame::record::{Recording, passes_on, record};
use crate::frame::submit::{At, Submission, Wanted};
use crate::frame::targets::RunTargets;
use crate::frame::timing::Timed;
use crate::frame::variant::{Ingredients, Key, Variant};
use crate::frame::{Figures, Submitted};
use crate::memory::onetime::OneTime;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::state::ResourceState;
use crate::work::{Commands, RecordWork, Work};

/// What changes from run to run.
#[derive(Default)]
pub(crate) struct RunState {
    pub run: u64,
    /// The first run of the present owner.
    first: u64,
    contexts: Vec<FrameContext>,
    push: Vec<u8>,
    data: Vec<u8>,
    data_stamp: u64,
    push_stamp: u64,
    /// Clear values, loads and viewports of the run; commands with others have another stamp than these.
    targets: RunTargets,
    key: Key,
    on: IdVec<PlanPassId, bool>,
    pub imports: Imports,
    /// Images and buffers for arrays of the caller's, by the plan's memories.
    own: IdVec<ResourceId, Vec<Arc<PhysicalResource>>>,
    /// Where each batch of the run before ended.
    pub batches: Vec<Option<At>>,
    pub host: Option<HostLane>,
    /// How the host passes of the last run that had some go.
    pub last: Option<Arc<Outcome>>,
    /// Where the run before was read back.
    pub after: Option<Point>,
    initialised: bool,
    /// The graph whose lasting memories these are, until the first run.
    pub before: Option<Compiled>,
    /// How some of them begin with that run.
    begins: Vec<(ResourceId, Begin)>,
    /// Whether a later graph has them.
    has_heir: bool,
    /// The context of a run that failed half-way, until what it left under way is waited for.
    failed: Option<usize>,
    /// How long the last run waited whose context was in use.
    waited: Duration,
    /// How often what is bound to imports has changed, when they were found to be distinct, and when the key was made.
    rebound: u64,
    distinct: u64,
    keyed: u64,
    /// Where the results of functions go while the run is captured.
    pub sink: Option<Sink>,
}

/// One of the frames that may be under way at once.
#[derive(Default)]
pub(crate) struct FrameContext {
    variants: Vec<Variant>,
    /// When its last frame is done.
    points: Vec<Point>,
    pub once: OneTime,
    /// Where the times of its last frame go, and the variant that has them.
    timed: Option<(Times, usize, u64)>,
    /// Imports that its last frame uses, and the stamp that they have.
    kept: (Vec<Arc<PhysicalResource>>, u64),
}

/// GPU times of a frame, once they were read.
type Times = Arc<Mutex<Option<Timed>>>;

/// Variants that a context keeps.
const MOST_VARIANTS: usize = 12;

/// Waits in slices of 50 ms, calling `poll` between.
pub(crate) fn wait_polling(
    poll: Option<Poll<'_>>,
    wait: impl Fn(Option<Duration>) -> Result<bool, Error>,
) -> Result<(), Error> {
    let Some(poll) = poll else { return wait(None).map(|_| ()) };
    while !wait(Some(Duration::from_millis(50)))? {
        poll().map_err(Error::Callback)?;
    }
    Ok(())
}

impl RunState {
    /// Nothing ran yet.
    pub fn new(prepared: &Prepared, host: Option<HostLane>) -> Self {
        let resources = prepared.plan.resources.len();
        let off = vec![false; prepared.workload.graph.flags().len()];
        Self {
            run: 0,
            first: 0,
            contexts: (0..prepared.shared.frames_in_flight).map(|_| FrameContext::default()).collect(),
            push: prepared.packets.push.clone(),
            data: prepared.packets.data.clone(),
            data_stamp: 0,
            push_stamp: 0,
            targets: RunTargets::default(),
            on: passes_on(prepared, &off),
            key: Key { off, ..Key::default() },
            imports: IdVec::filled(None, resources),
            own: IdVec::filled(Vec::new(), resources),
            batches: vec![None; prepared.plan.batches.len()],
            host,
            last: None,
            after: None,
            initialised: false,
            before: None,
            begins: Vec::new(),
            has_heir: false,
            failed: None,
            waited: Duration::ZERO,
            rebound: 1,
            distinct: 0,
            keyed: 0,
            sink: None,
        }
    }

    /// Lets go of everything. Jobs that the host's thread still has keep what they use.
    pub fn end(&mut self, shared: &Shared) {
        self.host = None;
        for context in &mut self.contexts {
            shared.defer_deletion(context.once.take());
        }
    }

    /// Reads the times of a run that is done, if its context still has them.
    pub fn harvest(&mut self, prepared: &Prepared, run: u64) -> Result<(), Error> {
        let at = (run % self.contexts.len() as u64) as usize;
        match &self.contexts[at].timed {
            Some((.., of)) if *of == run => self.contexts[at].harvest(prepared),
            _ => Ok(()),
        }
    }

    /// The error of a lost device with the passes that were under way: those that began and did not end, as far as
    /// the timestamps of the frames under way tell.
    pub fn blamed(&self, prepared: &Prepared, error: Error) -> Error {
        let Error::Device(mut device) = error else { return error };
        if !device.is_lost() {
            return Error::Device(device);
        }
        let mut begun: Vec<String> = Vec::new();
        for context in &self.contexts {
            if let Some((_, index, _)) = context.timed
                && let Some(variant) = context.variants.get(index)
            {
                begun.extend(crate::frame::timing::under_way(prepared, variant));
            }
        }
        device.pass = device.pass.take().or_else(|| begun.first().cloned());
        device.notes.extend(match &*begun {
            // An earlier call lost the device: this run need not have been under way.
            [] if !device.message.is_empty() => None,
            [] => Some(format!(
                "graph \"{}\", run {}: no timestamp tells the pass; measure \"passes\" writes some",
                prepared.plan.graph,
                self.run - self.first
            )),
            begun => Some(format!("graph \"{}\": under way were {}", prepared.plan.graph, begun.join(", "))),
        });
        Error::Device(device)
    }

    /// Runs once, up to and with the submission.
    pub fn run_once(&mut self, prepared: &Arc<Prepared>, inputs: &Inputs<'_>) -> Result<Submitted, Error> {
        let at = (self.run % self.contexts.len() as u64) as usize;
        let mut figures = Figures { run: self.run, first: self.first, ..Figures::default() };
        let begin = Instant::now();
        // Over already, unless the caller gave up waiting for it.
        if let Some(last) = &self.last {
            wait_polling(inputs.poll, |slice| Ok(last.wait_until_over(slice)))?;
        }
        if let Some(failed) = self.failed {
            self.contexts[failed].wait(&prepared.shared, inputs.poll)?;
            self.failed = None;
        }
        self.begin_context(prepared, at, inputs)?;
        if prepared.chaos.is_some() {
            // Transient buffers are filled before the run: none of their earlier uses is under way.
            self.contexts.iter().try_for_each(|context| context.wait(&prepared.shared, inputs.poll))?;
        }
        figures.took("wait", begin);
        self.apply(prepared, inputs)?;
        self.check_built(prepared)?;
        let begin = Instant::now();
        let wanted = self.wanted(prepared, inputs)?;
        let (waits, signals, place) = (&inputs.waits, &inputs.signals, inputs.place.as_ref());
        let external = External { waits, signals, fence: inputs.fence, place };
        external.check(prepared)?;
        let prologue = self.prologue(prepared, inputs)?;
        let held = self.check_awaited(prepared, inputs);
        if let Err(error) = held.and_then(|()| external.check_held(self.imports.iter().flatten())) {
            self.unbind(&prologue);
            return Err(error);
        }
        figures.upload_us = figures.took("upload", begin);
        let begin = Instant::now();
        let index = match self.variant(prepared, at, inputs.poll, &mut figures) {
            Ok(index) => index,
            Err(error) => {
                self.unbind(&prologue);
                return Err(error);
            }
        };
        figures.record_us = figures.took("record", begin);
        let begin = Instant::now();
        let physicals = self.lasting(prepared);
        let turn = prepared.shared.turn_with(&physicals, inputs.poll);
        let mut turn = match turn {
            Ok(turn) => Some(turn),
            Err(error) => {
                self.unbind(&prologue);
                return Err(error);
            }
        };
        if let Err(error) = self.take_left(prepared, inputs) {
            self.unbind(&prologue);
            return Err(error);
        }
        let hosted = self.host.is_some().then(|| Reservation::of(&physicals));
        self.last = hosted.as_ref().map(Reservation::outcome);
        let mut context = std::mem::take(&mut self.contexts[at]);
        let call = Submission { variant: index, prologue: &prologue, wanted: &wanted, external, poll: inputs.poll };
        let submitted = self.submit(prepared, &mut context, call, &mut turn, &mut figures);
        let outcome = match submitted {
            Ok(done) => {
                context.points.clone_from(&done.points);
                if context.kept.1 != self.rebound {
                    let bound = prepared.imports.iter().filter_map(|import| self.imports[import.home].clone());
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
                self.abandon(prepared, at);
                return Err(error);
            }
        };
        self.note_built(prepared);
        drop((turn, hosted));
        figures.submit_us = figures.took("submit", begin);
        self.run += 1;
        Ok(Submitted { points: done.points, reads: done.reads, host: done.host, figures, times })
    }

    /// Waits until the context's last frame is done, and takes back what it used.
    ///
    /// A caller that is ahead of the device by all its contexts has nothing to gain from being awake at once: the frames
    /// after the one that it waits for are under way. So after a long wait the next one sleeps without looking before.
    fn begin_context(&mut self, prepared: &Prepared, at: usize, inputs: &Inputs<'_>) -> Result<(), Error> {
        let shared = &prepared.shared;
        let context = &mut self.contexts[at];
        if !shared.is_over(&context.points)? {
            let begin = Instant::now();
            let awake = if self.waited > AWAKE * 2 { Duration::ZERO } else { AWAKE };
            wait_polling(inputs.poll, |slice| shared.wait_awake(&context.points, slice, awake))?;
            self.waited = begin.elapsed();
        }
        context.harvest(prepared)?;
        context.points.clear();
        context.once.reset(shared)?;
        shared.sweep()
    }

    /// New flags, push data, uniform data and targets.
    fn apply(&mut self, prepared: &Prepared, inputs: &Inputs<'_>) -> Result<(), Error> {
        let graph = &prepared.workload.graph;
        let targets = RunTargets::new(prepared, inputs)?;
        if targets != self.targets {
            self.targets = targets;
            self.push_stamp += 1;
        }
        let mut changed = false;
        for (name, on) in &inputs.flags {
            let Some(flag) = graph.flags().iter_ids().find(|(_, known)| *known == name) else {
                let known: Vec<_> = graph.flags().iter().map(|flag| format!("\"{flag}\"")).collect();
                let message = format!("no pass is switched by the flag \"{name}\"");
                return Err(Error::input(name, message, format!("flags of the graph: {}", known.join(", "))));
            };
            let off = &mut self.key.off[flag.0.index()];
            changed |= *off == *on;
            *off = !on;
        }
        if changed {
            self.on = passes_on(prepared, &self.key.off);
        }
        let mut given = inputs.push.iter().map(|(pass, _)| pass).chain(inputs.data.iter().map(|(pass, ..)| pass));
        if given.any(|pass| graph.passes().get(*pass).is_none()) {
            return Err(Error::input("?", "data are given for a pass of another graph", "use this graph's handles"));
        }
        for (pass, bytes) in &inputs.push {
            let Some(&planned) = prepared.planned.get(pass) else { continue };
            for packet in &prepared.packets.packets[prepared.packets.of_pass[planned].range()] {
                if packet.push.is_empty() {
                    continue;
                }
                let known = &mut self.push[packet.push.range()];
                if known.len() != bytes.len() {
                    let name = prepared.plan.pass_name(planned);
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
            let Some(&planned) = prepared.planned.get(pass) else { continue };
            let blocks = prepared.packets.blocks.iter().filter(|(of, at, _)| *of == planned && at == binding);
            for (_, _, [first, end]) in blocks {
                let known = &mut self.data[*first as usize..*end as usize];
                if known.len() != bytes.len() {
                    let name = prepared.plan.pass_name(planned);
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

    /// The recorded variant of a context for this run: an earlier one if nothing that it depends on is different. Of
    /// that one only push data and what functions say may have to be recorded again.
    fn variant(
        &mut self,
        prepared: &Prepared,
        at: usize,
        poll: Option<Poll<'_>>,
        figures: &mut Figures,
    ) -> Result<usize, Error> {
        let recorded = self.say(prepared, poll)?;
        self.key.phase = self.run % prepared.phases;
        if self.keyed != self.rebound {
            let bound = prepared.imports.iter().filter(|import| import.bound);
            self.key.bound = bound.map(|import| self.imports[import.home].as_ref().map(Arc::downgrade)).collect();
            self.keyed = self.rebound;
        }
        let Self { key, imports, on, run, contexts, push_stamp, targets, .. } = self;
        let from = Ingredients { prepared, run: *run, key, imports, on };
        let variants = &mut contexts[at].variants;
        let mut variant = match variants.iter().position(|variant| variant.key == *key) {
            Some(known) => variants.remove(known),
            None => {
                let dead = variants.iter().position(|variant| !variant.key.is_alive());
                let old = dead.or((variants.len() >= MOST_VARIANTS).then_some(0));
                Variant::new(from, old.map(|old| variants.remove(old)))?
            }
        };
        let says = !prepared.recorded.is_empty();
        if says {
            variant.say(from, recorded)?;
        }
        let all = variant.push_stamp != *push_stamp;
        if all || prepared.records_again {
            variant.push_stamp = u64::MAX;
            record(prepared, &mut variant, &self.push, Recording { run: *run, imports, targets, all })?;
            variant.push_stamp = *push_stamp;
            figures.recorded = true;
        }
        variant.set_data(&self.data, self.data_stamp);
        variant.rearm(prepared)?;
        // The one used last stands last.
        variants.push(variant);
        Ok(variants.len() - 1)
    }

    /// Asks the functions that say steps, several at once.
    fn say(&self, prepared: &Prepared, poll: Option<Poll<'_>>) -> Result<Packets, Error> {
        let mut recorded = Packets::default();
        if prepared.recorded.is_empty() {
            return Ok(recorded);
        }
        recorded.of_pass = IdVec::filled(Default::default(), prepared.plan.passes.len());
        let work = |pass: PlanPassId| match prepared.workload.works.get(&prepared.scene.pass_of[pass]?) {
            Some(Work::Record(work)) => Some((pass, work.clone())),
            _ => None,
        };
        let works = prepared.recorded.iter().filter(|pass| self.on[**pass]).filter_map(|&pass| work(pass));
        let works: Vec<(PlanPassId, Arc<dyn RecordWork>)> = works.collect();
        let one = |(pass, work): (PlanPassId, Arc<dyn RecordWork>)| {
            let mut commands = Commands::default();
            work.record(&mut commands).map_err(Error::Callback)?;
            Ok((pass, commands.steps))
        };
        // A chaos run tells orders apart, which must not depend on threads.
        let steps = match prepared.chaos {
            Some(_) => works.into_iter().map(one).collect::<Result<Vec<_>, Error>>()?,
            None => jobs::each(&prepared.shared.threads, works, poll, one)?,
        };
        for (pass, steps) in steps {
            if let (Some(sink), Some(declared)) = (&self.sink, prepared.scene.pass_of[pass]) {
                sink.record(declared, &steps);
            }
            prepared.binder().add(pass, &steps, &mut recorded)?;
        }
        Ok(recorded)
    }

    /// Positions of the roots that are read back.
    fn wanted(&self, prepared: &Prepared, inputs: &Inputs<'_>) -> Result<Vec<Wanted>, Error> {
        let whole = |root| Wanted { root, ranges: Ranges::default() };
        let (mut all, given): (Vec<Wanted>, &[ResourceId]) = match &inputs.read {
            // A capture has all roots; of those that are read in parts, these parts.
            _ if self.sink.is_some() => {
                let parted = |root: &usize| inputs.parts.iter().any(|(id, _)| prepared.roots[*root].declared == *id);
                ((0..prepared.roots.len()).filter(|root| !parted(root)).map(whole).collect(), &[])
            }
            None => {
                let roots = prepared.roots.iter().zip(0..).filter(|(root, _)| !inputs.unread.contains(&root.declared));
                (roots.map(|(_, at)| whole(at)).collect(), &[])
            }
            Some(read) => (Vec::new(), read),
        };
        let parts = inputs.parts.iter().map(|(declared, ranges)| (declared, *ranges));
        let found = given
            .iter()
            .map(|declared| (declared, Ranges::default()))
            .chain(parts)
            .map(|(declared, ranges)| {
                let root = prepared.roots.iter().position(|root| root.declared == *declared);
                root.map(|root| Wanted { root, ranges }).ok_or_else(|| {
                    let graph = &prepared.workload.graph;
                    let exists = graph.resources().get(*declared).is_some();
                    let name = if exists { graph.resource_name(*declared) } else { "?" };
                    Error::input(name, format!("\"{name}\" is not a root, so it cannot be read back"), "make it a root")
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        all.extend(found);
        Ok(all)
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

    /// The next run is given this import anew.
    pub(crate) fn release(&mut self, home: ResourceId) {
        self.imports[home] = None;
        self.rebound += 1;
    }

    /// What outlives the run: it may be used by other runs, too.
    fn lasting(&self, prepared: &Prepared) -> Vec<Arc<PhysicalResource>> {
        let mut physicals: Vec<Arc<PhysicalResource>> = Vec::new();
        for edge in &prepared.plan.edges {
            if let Some(physical) = prepared.physical(edge.resource, self.run, &self.imports)
                && !physicals.iter().any(|known| Arc::ptr_eq(known, physical))
            {
                physicals.push(physical.clone());
            }
        }
        physicals
    }

    /// After a run that failed half-way, in its turn: forgets what it left behind. Whoever comes next waits for what
    /// was submitted, the next run here, other graphs by the points; this does not wait, since an interrupt may be what
    /// ended the run.
    fn abandon(&mut self, prepared: &Prepared, at: usize) {
        let points = prepared.shared.submitted();
        for edge in &prepared.plan.edges {
            if let Some(physical) = prepared.physical(edge.resource, self.run, &self.imports) {
                physical.set_built(false);
                physical
                    .tracked()
                    .each(|state| *state = ResourceState { points: points.clone(), ..ResourceState::default() });
            }
        }
        self.contexts[at].points = points;
        self.failed = Some(at);
        self.batches.fill(None);
        self.after = None;
        self.run += 1;
        // Rings and persistent contents are undefined now; the next run begins with zeros again.
        self.initialised = false;
    }

    /// Whether what outlives runs holds what a run left there.
    pub fn is_initialised(&self) -> bool {
        self.initialised
    }

    /// By flag: whether it is off.
    pub fn off(&self) -> &[bool] {
        &self.key.off
    }

    /// Push data and uniform data, laid out as the packets'.
    pub fn parameters(&self) -> (&[u8], &[u8]) {
        (&self.push, &self.data)
    }

    /// Goes on where the last run of another compiled graph with the same contents ended.
    pub fn go_on(&mut self, before: &Self) {
        (self.run, self.initialised) = (before.run, before.initialised);
    }

    /// The clears of the first run were submitted.
    pub fn set_initialised(&mut self) {
        self.initialised = true;
        self.begins.clear();
    }

    /// A variant of a context that was taken out.
    pub fn variant_of<'a>(&self, context: &'a FrameContext, index: usize) -> &'a Variant {
        &context.variants[index]
    }
}

impl FrameContext {
    /// Waits until its last frame is done on the device.
    fn wait(&self, shared: &Shared, poll: Option<Poll<'_>>) -> Result<(), Error> {
        wait_polling(poll, |slice| shared.wait(&self.points, slice))
    }

    /// The initial barriers of a variant.
    pub fn entries(&mut self, variant: usize) -> &mut Entries {
        &mut self.variants[variant].entries
    }

    /// Reads the times of its last frame, which is done.
    fn harvest(&mut self, prepared: &Prepared) -> Result<(), Error> {
        let Some((times, index, _)) = self.timed.take() else { return Ok(()) };
        if let Some(variant) = self.variants.get(index) {
            let read = crate::frame::timing::read(prepared, variant)?;
            *times.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        }
        Ok(())
    }
}
