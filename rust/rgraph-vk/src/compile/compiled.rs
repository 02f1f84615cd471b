//! A graph compiled for a device: runs it, as often as wanted, several frames at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rgraph_plan::bake::Options;
use rgraph_plan::graph::{PassId, Place, Ranges};
use rgraph_plan::plan::Plan;
use rgraph_plan::resource::ResourceId;

use crate::compile::foreign;
use crate::compile::inherit::Heritage;
use crate::compile::known_plans::PlanKey;
use crate::compile::prepared::Prepared;
use crate::device::Device;
use crate::error::{Code, DeviceError, Error};
use crate::frame::external::{RunFence, SemaphoreSignal, SemaphoreWait};
use crate::frame::host::HostLane;
use crate::frame::measure::Measure;
use crate::frame::run::{RunState, wait_polling};
use crate::frame::targets::TargetChange;
use crate::frame::{Frame, FrameShared};
use crate::memory::left::ResourceLeft;
use crate::memory::resource::Resource;
use crate::work::{CallbackError, Workload};

/// What an imported resource is in a run.
#[derive(Clone, Copy, Debug)]
pub enum Upload<'a> {
    /// Tightly packed texels of mip 0, layer by layer, or a buffer's bytes; copied before `run` returns.
    Bytes(&'a [u8]),
    /// A resource of the device.
    Resource(&'a Resource),
}

/// Called while a run waits; an error ends the wait and the run.
pub type Poll<'a> = &'a (dyn Fn() -> Result<(), CallbackError> + Sync);

/// What a run gets.
#[derive(Default)]
pub struct Inputs<'a> {
    /// Imported resources of the graph. What is not given again keeps what it has.
    pub uploads: Vec<(ResourceId, Upload<'a>)>,
    /// Whether each of them must be given: what an earlier run was given then does not count.
    pub anew: bool,
    /// How foreign code left imported resources that are bound: in place of [`Resource::set_state`](crate::Resource), and
    /// without a submit where the run uses them first on the queue that they were left on. After a run that failed, give
    /// them again.
    pub left: Vec<(ResourceId, ResourceLeft)>,
    /// What persistent resources and histories hold before the first run, and before one with `reset`: packed bytes of
    /// mip 0, layer by layer, or a buffer's. What is not named begins as it is declared.
    pub first: Vec<(ResourceId, &'a [u8])>,
    /// What they hold before this run; all remembered frames of a history.
    pub states: Vec<(ResourceId, &'a [u8])>,
    /// Whether what lives from run to run begins anew, as before the first run.
    pub reset: bool,
    /// New contents of plain-data uniform blocks: pass, position in the program's bindings, bytes.
    pub data: Vec<(PassId, u32, Vec<u8>)>,
    /// New push data of all steps of a pass.
    pub push: Vec<(PassId, Vec<u8>)>,
    /// Clear values, loads and viewports of passes, for this run only.
    pub targets: Vec<(PassId, TargetChange)>,
    /// Flags of conditional passes; what is not given again stays, at first on.
    pub flags: Vec<(String, bool)>,
    /// Roots to be read back; `None`: all of them.
    pub read: Option<Vec<ResourceId>>,
    /// Roots that are not read back by default.
    pub unread: Vec<ResourceId>,
    /// Parts of roots to be read back beside: one mip, some layers, some bytes.
    pub parts: Vec<(ResourceId, Ranges)>,
    /// Which GPU times are measured.
    pub measure: Measure,
    /// Measures one run in so many, counted from the graph's first; 0 and 1: each.
    pub sample: u32,
    /// Whether vertices, fragments and invocations are counted.
    pub statistics: bool,
    /// Semaphores that the run waits for.
    pub waits: Vec<SemaphoreWait>,
    /// Semaphores that the run signals.
    pub signals: Vec<SemaphoreSignal>,
    /// A fence that the run signals.
    pub fence: Option<RunFence>,
    /// Where the program asks for the run, for the message of a wait that never ends.
    pub place: Option<Place>,
    /// Called every 50 ms while waiting.
    pub poll: Option<Poll<'a>>,
}

impl std::fmt::Debug for Inputs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs").field("uploads", &self.uploads.len()).finish_non_exhaustive()
    }
}

/// A graph ready to run on a device. Clones are the same one; runs of it take turns.
#[derive(Clone, Debug)]
pub struct Compiled(Arc<CompiledShared>);

struct CompiledShared {
    prepared: Arc<Prepared>,
    state: Mutex<RunState>,
    /// What the device may find it by once nobody has it.
    key: Option<PlanKey>,
}

impl std::fmt::Debug for CompiledShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Compiled").field(&self.prepared.plan.graph).finish()
    }
}

impl Device {
    /// Bakes a graph for this device, with the sizes that its driver asks for, and makes it ready to run. A graph that is
    /// declared as one of the last few is not baked again: both have the same plan.
    ///
    /// A program may declare its graph anew for each frame. With [`DeviceOptions::spare_graphs`](crate::DeviceOptions), of a
    /// graph nothing of which lasts from run to run and whose passes have steps only, the device keeps memory, views,
    /// descriptor sets and recorded commands when the last handle and the last frame are dropped, and the next equal
    /// declaration takes them over; where its steps have other push data, they are recorded again, and where they are other
    /// steps, memory and views are kept. Such a graph is kept for 64 further compilations and runs, until memory is short,
    /// or until the device is closed.
    ///
    /// # Errors
    /// What is wrong with the declaration, the work of its passes or its shaders; or that the device cannot do it.
    pub fn compile(&self, mut workload: Workload, options: &Options) -> Result<Compiled, Error> {
        self.0.check()?;
        self.1.tick();
        let begin = Instant::now();
        let key = PlanKey::new(&workload.graph, options);
        if let Some(compiled) = self.1.find(key, &mut workload, begin) {
            return Ok(compiled);
        }
        let prepared = Prepared::bake(&self.0, workload, options, key)?;
        let key = (self.1.keeps() && prepared.is_renewable()).then_some(key);
        Compiled::with_key(prepared, None, key)
    }

    /// As [`Device::compile`], for a graph that comes after another one: persistent resources and histories of the same
    /// name and shape keep memory, contents and states, and frames of `previous` that are under way stay valid. What is
    /// declared in another size, format or depth of history begins anew, and a note of the report says so.
    ///
    /// `previous` may run on until the new graph does: its first run goes on behind the last one of `previous`, which is
    /// refused from then on (RG-E403). The same happens if a further graph is compiled after this one before it ran. Of a
    /// graph that a [`Tuner`](crate::Tuner) runs, `previous` is [`Tuner::last`](crate::Tuner::last).
    ///
    /// # Errors
    /// As [`Device::compile`]; RG-E131 if `previous` is of another device.
    pub fn compile_next(&self, previous: &Compiled, workload: Workload, options: &Options) -> Result<Compiled, Error> {
        self.check_next(previous)?;
        Compiled::new(Prepared::bake_after(&self.0, workload, options, previous.prepared())?, Some(previous))
    }

    /// [`Device::compile_plan`] for a graph that comes after another one, as in [`Device::compile_next`].
    ///
    /// # Errors
    /// As these.
    pub fn compile_plan_next(
        &self,
        previous: &Compiled,
        plan: Arc<Plan>,
        workload: Workload,
    ) -> Result<Compiled, Error> {
        self.check_next(previous)?;
        foreign::check_graph(&workload.graph, &self.0.profile)?;
        foreign::judge(&workload.graph, &plan)?;
        let heritage = Some(Heritage::of_earlier(previous.prepared()));
        Compiled::new(Prepared::with_contents(&self.0, workload, plan, (0.0, None), heritage)?, Some(previous))
    }

    fn check_next(&self, previous: &Compiled) -> Result<(), Error> {
        self.0.check()?;
        if !previous.is_of(self) {
            let message = format!("\"{}\" was compiled for another device", previous.plan().graph);
            return Err(DeviceError::new(Code::Foreign, message, "compile both for one device").into());
        }
        previous.lock().check_heir(previous.prepared())
    }

    /// Judges a plan against the workload's graph and makes it ready. The plan may come from a file or another device:
    /// queues that this device lacks are folded onto those that it has. [`Device::compile`] bakes and needs no judge.
    ///
    /// # Errors
    /// `RG-E504` with the findings of [`rgraph_check::check`]; else as [`Device::compile`].
    pub fn compile_plan(&self, plan: Arc<Plan>, workload: Workload) -> Result<Compiled, Error> {
        self.0.check()?;
        foreign::check_graph(&workload.graph, &self.0.profile)?;
        foreign::judge(&workload.graph, &plan)?;
        Compiled::new(Prepared::new(&self.0, workload, plan, 0.0)?, None)
    }

    /// As [`Device::compile_plan`], without the judge.
    ///
    /// # Errors
    /// As [`Device::compile`]; and if a name of the graph or the plan is not in the other.
    ///
    /// # Safety
    /// [`bake`](rgraph_plan::bake::bake) made the plan of exactly `workload.graph`, for any profile, and nothing
    /// changed it; or [`rgraph_check::check`] has no finding for the two. Barriers, layouts, places and waits reach the
    /// driver as the plan has them: a wrong one is undefined behaviour of the device.
    pub unsafe fn compile_plan_unchecked(&self, plan: Arc<Plan>, workload: Workload) -> Result<Compiled, Error> {
        self.0.check()?;
        foreign::check_graph(&workload.graph, &self.0.profile)?;
        Compiled::new(Prepared::new(&self.0, workload, plan, 0.0)?, None)
    }
}

impl Compiled {
    fn new(prepared: Prepared, previous: Option<&Self>) -> Result<Self, Error> {
        Self::with_key(prepared, previous, None)
    }

    fn with_key(mut prepared: Prepared, previous: Option<&Self>, key: Option<PlanKey>) -> Result<Self, Error> {
        let shared = prepared.shared.clone();
        let host = prepared.plan.batches.iter().any(|batch| batch.queue.is_none());
        let host = if host { Some(HostLane::new(&shared, &prepared.plan.graph)?) } else { None };
        let begins = std::mem::take(&mut prepared.begins);
        let mut state = RunState::new(&prepared, host);
        if let Some(previous) = previous {
            // So no chain of graphs that never ran grows.
            previous.inherit();
            state.follow(previous.clone(), begins);
        }
        let state = Mutex::new(state);
        Ok(Self(Arc::new(CompiledShared { prepared: Arc::new(prepared), state, key })))
    }

    /// A spare graph with a new owner.
    pub(crate) fn renewed(prepared: Arc<Prepared>, state: RunState, key: PlanKey) -> Self {
        Self(Arc::new(CompiledShared { prepared, state: Mutex::new(state), key: Some(key) }))
    }

    /// A trial of a chaos run, or of a tuner.
    pub(crate) fn of_trial(prepared: Prepared) -> Result<Self, Error> {
        Self::new(prepared, None)
    }

    /// Its plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.0.prepared.plan
    }

    /// The declaration and work that it was made of.
    pub fn workload(&self) -> &Workload {
        &self.0.prepared.workload
    }

    /// Whether it is of that device.
    pub fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.0.prepared.shared, &device.0)
    }

    /// Runs it once: uploads, records what changed, submits. Returns when everything is submitted and host passes are
    /// done; the GPU may still be at work.
    ///
    /// # Errors
    /// If an input does not fit, the driver fails, or a function of the caller's does. The next run works, unless the
    /// device is lost. `RG-E402` inside of a function of a pass that the device runs: it would wait for itself.
    pub fn run(&self, inputs: &Inputs<'_>) -> Result<Frame, Error> {
        self.holding(inputs, || self.run_once(inputs))
    }

    /// A run with semaphores and fences of rgraph's: they live until it is submitted, and are as before if it fails.
    pub(crate) fn holding<T>(&self, inputs: &Inputs<'_>, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let held = self.0.prepared.shared.hold(inputs)?;
        match run() {
            Ok(done) => Ok(done),
            Err(error) => {
                // What was submitted is kept already.
                held.withdraw();
                Err(error)
            }
        }
    }

    fn run_once(&self, inputs: &Inputs<'_>) -> Result<Frame, Error> {
        let prepared = &self.0.prepared;
        prepared.shared.check()?;
        prepared.shared.outside()?;
        if let Some(spares) = prepared.shared.spares.upgrade() {
            spares.tick();
        }
        self.inherit();
        match prepared.shared.captures.of(prepared.id) {
            Some(capture) => {
                self.lock().check_begun(prepared)?;
                self.run_captured(&capture, inputs)
            }
            None => self.run_plainly(inputs),
        }
    }

    /// Runs it once, captured by nobody.
    pub(crate) fn run_plainly(&self, inputs: &Inputs<'_>) -> Result<Frame, Error> {
        self.run_lending(inputs, None)
    }

    /// The same with an import that is lent for this run alone: the next one has to be given it anew.
    pub(crate) fn run_lending(&self, inputs: &Inputs<'_>, lent: Option<ResourceId>) -> Result<Frame, Error> {
        let prepared = &self.0.prepared;
        let submitted = {
            let mut state = self.lock();
            state.check_heir(prepared)?;
            let _inside = prepared.shared.enter();
            let submitted = state.run_once(prepared, inputs).map_err(|error| state.blamed(prepared, error));
            if let Some(lent) = lent {
                state.release(lent);
            }
            submitted
        };
        let submitted = submitted?;
        let frame = Frame(Arc::new(FrameShared { compiled: self.clone(), submitted, waits: Mutex::default() }));
        if let Some(host) = &frame.0.submitted.host {
            let begin = Instant::now();
            wait_polling(inputs.poll, |slice| Ok(host.wait(slice)))?;
            frame.0.note_wait(begin, false);
            if let Some(error) = host.take_error() {
                return Err(error);
            }
        }
        Ok(frame)
    }

    /// Goes on behind the last run of the graph before, if there is one: from now on that one does not run.
    pub(crate) fn inherit(&self) {
        let mut state = self.lock();
        if let Some(before) = state.before.take() {
            state.inherit(self.prepared(), &mut before.lock(), before.prepared());
        }
    }

    /// Whether both are the same one.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn prepared(&self) -> &Arc<Prepared> {
        &self.0.prepared
    }

    /// Reads the times of a run that is done, if its context still has them.
    pub(crate) fn harvest(&self, run: u64) -> Result<(), Error> {
        self.0.prepared.shared.outside()?;
        self.lock().harvest(&self.0.prepared, run)
    }

    /// The error of a lost device with the passes that were under way.
    pub(crate) fn blamed(&self, error: Error) -> Error {
        let knows = error.is_lost() && !self.0.prepared.shared.is_inside();
        if knows { self.lock().blamed(&self.0.prepared, error) } else { error }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RunState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CompiledShared {
    fn drop(&mut self) {
        let Self { prepared, state, key } = self;
        let (poisoned, shared) = (state.is_poisoned(), &prepared.shared);
        let state = state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let spares = if poisoned || shared.check().is_err() { None } else { shared.spares.upgrade() };
        match (spares, *key) {
            (Some(spares), Some(key)) if state.retire() => spares.keep(key, prepared.clone(), std::mem::take(state)),
            _ => state.end(shared),
        }
    }
}
