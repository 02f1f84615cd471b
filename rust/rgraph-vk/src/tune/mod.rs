//! Runs a graph while faster plans of it are looked for: [`rgraph_plan::tune`] decides, this measures, searches in the
//! background, and runs. Whatever is tried computes the same: all plans are of one declaration.

mod work;

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rgraph_plan::bake::Options;
use rgraph_plan::bake::propose::Propose;
use rgraph_plan::bake::search::same_work;
use rgraph_plan::graph::PassId;
use rgraph_plan::plan::Plan;
use rgraph_plan::tune::{Errand, Found, FrameTime, Phase, Settings, Trial, Tuning, Turn, Wanted};

use crate::error::Error;
use crate::frame::inputs::Inputs;
use crate::frame::measure::Measure;
use crate::frame::report::FrameReport;
use crate::frame::timing::Ran;
use crate::run::compiled::Compiled;
use crate::run::frame::Frame;
use crate::work::Workload;

use rgraph_work::CallbackError;
use work::{Answer, SearchJob};

/// Work in the background.
pub type Job = Box<dyn FnOnce() + Send>;

/// Runs work in the background: a thread, or what a test has in place of one. Work that it drops is never answered.
pub type Background = Arc<dyn Fn(Job) + Send + Sync>;

/// What a frame took in microseconds, by its plan and its report; `None`: it says nothing.
pub type Measured = Box<dyn Fn(&Arc<Plan>, &FrameReport) -> Result<Option<f64>, CallbackError> + Send + Sync>;

/// How a [`Tuner`] goes about it.
pub struct TunerOptions {
    /// Sampling, trials, margins.
    pub settings: Settings,
    /// How the graph was compiled: what is no question of order and queues stays so.
    pub options: Options,
    /// Whether passes may leave queues that they name: `async_compute`, `transfer`, `compute`.
    pub queues: bool,
    /// Proposes further orders and queues; called in the background.
    pub hook: Option<Box<dyn Propose + Send>>,
    /// Where the time of a frame comes from; default: from the call of [`Tuner::run`], or from the last timestamp of
    /// the frame before if that is later, to its last timestamp. Before that counts from the end of one frame to that
    /// of the next: see [`FrameTime::period_us`](rgraph_plan::tune::FrameTime::period_us).
    pub times: Option<Measured>,
    /// Where plans are searched and made ready; default: a thread for each errand.
    pub background: Option<Background>,
    /// Most bakes of a search.
    pub bakes: usize,
}

impl Default for TunerOptions {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            options: Options::default(),
            queues: false,
            hook: None,
            times: None,
            background: None,
            bakes: 48,
        }
    }
}

impl std::fmt::Debug for TunerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TunerOptions").field("settings", &self.settings).field("queues", &self.queues).finish()
    }
}

/// A graph that is run, and meanwhile tuned.
///
/// Each run is a frame as [`Compiled::run`] makes it, and computes the same. Some frames are measured; plans that may
/// be faster are searched and compiled in the background, tried for some frames, and stay only if their frames are
/// shorter beyond the noise. While a plan is tried, its transients take memory in addition to those of the current
/// plan.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = rgraph_vk::Device::new(&rgraph_vk::DeviceOptions::default())?;
/// # let workload = rgraph_vk::work::Workload::new(rgraph_plan::graph::Graph::new("g", [1, 1]));
/// use rgraph_vk::{Inputs, Tuner, TunerOptions};
///
/// let options = TunerOptions::default();
/// let tuner = Tuner::new(&device.compile(workload, &options.options)?, options);
/// for _ in 0..1000 {
///     tuner.run(Inputs::default())?;
/// }
/// for trial in tuner.trials() {
///     println!("{}: {}", trial.what, trial.why);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Tuner {
    base: Compiled,
    rules: Rules,
    /// What is found out and decided.
    state: Mutex<TunerState>,
    /// Whose turn it is to run: what the run before left behind.
    lane: Mutex<Lane>,
}

/// What never changes.
struct Rules {
    options: Options,
    queues: bool,
    hook: Arc<Mutex<Option<Box<dyn Propose + Send>>>>,
    times: Option<Measured>,
    background: Background,
    bakes: usize,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("options", &self.options).field("queues", &self.queues).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct TunerState {
    tuning: Tuning,
    kept: Compiled,
    tried: Option<Compiled>,
    /// What a search found: the declaration with its durations, and the plans.
    workload: Option<Workload>,
    weights: Vec<(String, f64)>,
    /// The durations for which the kept plan was made; `None`: it is the first one.
    kept_weights: Option<Vec<(String, f64)>>,
    plans: Vec<Arc<Plan>>,
    answer: Option<Receiver<Answer>>,
    /// Measured frames under way, and when they were asked for.
    out: VecDeque<(Turn, Instant, Frame)>,
    /// When the frame ran that was measured last, and which one it was.
    ran: Option<(u64, Ran)>,
}

/// What runs leave to runs of other plans.
#[derive(Debug)]
struct Lane {
    last: Compiled,
    flags: BTreeMap<String, bool>,
    push: BTreeMap<PassId, Vec<u8>>,
    data: BTreeMap<(PassId, u32), Vec<u8>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread for each errand. Where there is none for it, the errand has no answer, and nothing is tried.
fn threads() -> Background {
    Arc::new(|job| drop(std::thread::Builder::new().name("rgraph tune".to_owned()).spawn(job)))
}

impl Tuner {
    /// Begins with the plan of a compiled graph, which shares with all other plans what lives from run to run.
    pub fn new(compiled: &Compiled, options: TunerOptions) -> Self {
        let TunerOptions { settings, options, queues, hook, times, background, bakes } = options;
        let hook = Arc::new(Mutex::new(hook));
        let state = TunerState {
            tuning: Tuning::new(settings),
            kept: compiled.clone(),
            tried: None,
            workload: None,
            weights: Vec::new(),
            kept_weights: None,
            plans: Vec::new(),
            answer: None,
            out: VecDeque::new(),
            ran: None,
        };
        let lane =
            Lane { last: compiled.clone(), flags: BTreeMap::new(), push: BTreeMap::new(), data: BTreeMap::new() };
        Self {
            base: compiled.clone(),
            rules: Rules { options, queues, hook, times, background: background.unwrap_or_else(threads), bakes },
            state: Mutex::new(state),
            lane: Mutex::new(lane),
        }
    }

    /// What became of the plans that were tried so far.
    pub fn trials(&self) -> Vec<Trial> {
        lock(&self.state).tuning.trials().to_vec()
    }

    /// What is going on.
    pub fn phase(&self) -> Phase {
        lock(&self.state).tuning.phase()
    }

    /// Durations of passes in microseconds, by name: those for which the kept plan was made; as long as that is the
    /// first one, as they were measured last.
    pub fn weights(&self) -> Vec<(String, f64)> {
        let state = lock(&self.state);
        state.kept_weights.clone().unwrap_or_else(|| state.tuning.weights())
    }

    /// The compiled graph of the plan that is kept.
    pub fn kept(&self) -> Compiled {
        lock(&self.state).kept.clone()
    }

    /// The compiled graph that ran last: what comes after this graph takes its contents from there
    /// ([`Device::compile_next`](crate::Device::compile_next)). Once it has, the tuner runs no more.
    pub fn last(&self) -> Compiled {
        lock(&self.lane).last.clone()
    }

    /// Runs a frame, of the plan that is kept or of the one that is tried. Imported resources are given in each run.
    /// Flags, push and uniform data that are not given again stay, as in [`Compiled::run`].
    ///
    /// # Errors
    /// As [`Compiled::run`]; and what the function of [`TunerOptions::times`] says.
    pub fn run(&self, mut inputs: Inputs<'_>) -> Result<Frame, Error> {
        let called = Instant::now();
        let shared = &self.base.graph().shared;
        shared.check()?;
        shared.outside()?;
        self.collect()?;
        let captured = !shared.captures.of(self.base.graph().id).is_empty();
        let (turn, compiled) = match captured {
            // A capture has the runs of one compiled graph.
            true => (Turn::default(), self.base.clone()),
            false => self.next(),
        };
        inputs.anew = true;
        if turn.wanted != Wanted::Nothing {
            inputs.sample = 1;
            if inputs.measure == Measure::Off {
                inputs.measure = if turn.wanted == Wanted::Passes { Measure::Passes } else { Measure::Frame };
            }
        }
        let frame = lock(&self.lane).run(&compiled, inputs)?;
        if turn.wanted != Wanted::Nothing {
            lock(&self.state).out.push_back((turn, called, frame.clone()));
        }
        Ok(frame)
    }

    /// Runs a frame of the plan that is kept, and measures nothing that `inputs` do not ask for. A graph whose contents
    /// live from run to run is run by its tuner alone, once it has one.
    ///
    /// # Errors
    /// As [`Compiled::run`].
    pub fn run_kept(&self, mut inputs: Inputs<'_>) -> Result<Frame, Error> {
        let shared = &self.base.graph().shared;
        shared.check()?;
        shared.outside()?;
        inputs.anew = true;
        let kept = self.kept();
        lock(&self.lane).run(&kept, inputs)
    }

    /// Takes the times of measured frames that are done.
    fn collect(&self) -> Result<(), Error> {
        loop {
            let done = {
                let mut state = lock(&self.state);
                match state.out.front() {
                    Some((.., frame)) if frame.wait(Some(Duration::ZERO))? => state.out.pop_front(),
                    _ => None,
                }
            };
            let Some((turn, called, frame)) = done else { return Ok(()) };
            let report = frame.report()?;
            let time = match &self.rules.times {
                Some(times) => {
                    let us = times(&frame.graph().plan, &report).map_err(Error::Callback)?;
                    us.map(FrameTime::from)
                }
                None => self.time(turn, called, report.ran),
            };
            let passes = report.passes.iter().filter(|pass| !pass.is_on_host());
            let passes: Vec<_> = passes.filter_map(|pass| Some((pass.pass.clone(), pass.us?))).collect();
            lock(&self.state).tuning.measured(turn, time, &passes);
        }
    }

    /// What a frame took after the one before it, if that was measured too.
    fn time(&self, turn: Turn, called: Instant, ran: Option<Ran>) -> Option<FrameTime> {
        let ran = ran?;
        let before = lock(&self.state).ran.replace((turn.frame, ran));
        let before = before.filter(|(frame, _)| frame + 1 == turn.frame).map(|(_, ran)| ran);
        let us = ran.us_after(before.as_ref(), called);
        Some(FrameTime { us, period_us: before.map(|before| ran.us_from(&before)) })
    }

    /// Whose turn it is; answers and errands of the background first.
    fn next(&self) -> (Turn, Compiled) {
        let jobs: Vec<Job> = {
            let mut state = lock(&self.state);
            state.take_answer();
            let errands = state.tuning.errands();
            errands.into_iter().filter_map(|errand| self.run_errand(&mut state, errand)).collect()
        };
        // A hook may look at the tuner.
        jobs.into_iter().for_each(|job| (self.rules.background)(job));
        let mut state = lock(&self.state);
        let turn = state.tuning.turn();
        let compiled = state.tried.as_ref().filter(|_| turn.tried).unwrap_or(&state.kept).clone();
        (turn, compiled)
    }

    /// Does an errand, or makes work in the background of it.
    fn run_errand(&self, state: &mut TunerState, errand: Errand) -> Option<Job> {
        let (send, receive) = channel();
        match errand {
            Errand::Keep => {
                if let Some(tried) = state.tried.take() {
                    state.kept = tried;
                    state.kept_weights = Some(state.weights.clone());
                }
                None
            }
            Errand::Drop => {
                state.tried = None;
                None
            }
            Errand::Search(weights) => {
                state.answer = Some(receive);
                state.weights.clone_from(&weights);
                let Rules { options, queues, hook, bakes, .. } = &self.rules;
                let job = SearchJob {
                    base: self.base.clone(),
                    weights,
                    options: *options,
                    queues: *queues,
                    hook: hook.clone(),
                    bakes: *bakes,
                };
                Some(Box::new(move || drop(send.send(job.run()))))
            }
            Errand::Prepare(at) => {
                state.answer = Some(receive);
                let workload = state.workload.clone()?;
                let (base, plan) = (self.base.clone(), state.plans[at].clone());
                Some(Box::new(move || drop(send.send(work::prepare(&base, workload, plan)))))
            }
        }
    }
}

impl TunerState {
    /// Takes what the background has done, if it is done.
    fn take_answer(&mut self) {
        let Some(receive) = &self.answer else { return };
        let answer = match receive.try_recv() {
            Ok(answer) => answer,
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => Answer::Refused("it was given up in the background".to_owned()),
        };
        self.answer = None;
        match answer {
            Answer::Found(workload, candidates) => {
                let kept = self.kept.plan().clone();
                let others = candidates.into_iter().filter(|one| !same_work(&one.plan, &kept));
                let (found, plans) = others
                    .map(|one| (Found { what: one.what, predicted_us: one.plan.report.frame_us }, Arc::new(one.plan)))
                    .unzip();
                (self.workload, self.plans) = (Some(*workload), plans);
                self.tuning.found(found);
            }
            Answer::Ready(compiled) => {
                self.tried = Some(compiled);
                self.tuning.ready();
            }
            Answer::Refused(why) => self.tuning.refused(why),
        }
    }
}

impl Lane {
    /// Runs a frame with what earlier runs of other plans were given.
    fn run(&mut self, compiled: &Compiled, mut inputs: Inputs<'_>) -> Result<Frame, Error> {
        self.flags.extend(inputs.flags.iter().cloned());
        self.push.extend(inputs.push.iter().cloned());
        self.data.extend(inputs.data.iter().map(|(pass, binding, bytes)| ((*pass, *binding), bytes.clone())));
        if !compiled.is(&self.last) {
            self.last.inherit();
            let last = self.last.lock();
            last.check_heir(self.last.graph())?;
            compiled.lock().go_on(&last);
            drop(last);
            inputs.flags = self.flags.iter().map(|(name, on)| (name.clone(), *on)).collect();
            inputs.push = self.push.iter().map(|(pass, bytes)| (*pass, bytes.clone())).collect();
            let one = |(&(pass, binding), bytes): (&(PassId, u32), &Vec<u8>)| (pass, binding, bytes.clone());
            inputs.data = self.data.iter().map(one).collect();
            self.last = compiled.clone();
        }
        compiled.run(&inputs)
    }
}
