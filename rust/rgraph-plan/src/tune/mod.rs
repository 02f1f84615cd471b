//! The closed loop, as plain data: which plan the next frame runs, what is measured of it, and which plan stays.
//!
//! A few frames are measured pass by pass, which gives durations. With these, plans are searched (by the caller, in the
//! background). Each of them is *tried*: blocks of frames of the plan that is kept and of the tried one alternate, so
//! that a clock that drifts hits both, and the tried one stays only if its frames follow each other faster by more than
//! the noise, or as fast and each of them is shorter. Then one frame in many is watched; a frame that has become
//! another begins again. No clock, no thread: the caller brings the times.

mod samples;

pub use samples::{Samples, median};

use std::cmp::Ordering;

use samples::Durations;

/// How the loop goes.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// One frame in so many is measured while nothing is tried; from 1 on.
    pub sample: u32,
    /// Frames whose passes are measured one by one before plans are searched.
    pub weigh: u32,
    /// Measured frames of a plan in a trial, in all.
    pub frames: u32,
    /// Frames after a change of plans that are not measured: two are usually under way.
    pub lead: u32,
    /// The part of a frame that a plan must save to stay, in addition to the noise.
    pub margin: f64,
    /// Most trials of a search.
    pub most: usize,
    /// The change of a watched frame, as a part of it, after which all begins again.
    pub drift: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { sample: 4, weigh: 5, frames: 12, lead: 3, margin: 0.01, most: 12, drift: 0.25 }
    }
}

/// Blocks of a trial, in turn of the kept and of the tried plan.
const BLOCKS: u32 = 4;

/// Watched frames that stand for what a frame takes from then on, and that have to differ before all begins again.
const STEADY: usize = 4;

/// Watched frames: one in so many that would be sampled.
const SELDOM: u64 = 16;

/// Weight of a new value in what is smoothed.
const SMOOTH: f64 = 0.25;

/// A tried frame that takes so many times a kept one ends its trial.
const HOPELESS: f64 = 1.5;

/// What of a frame is to be measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wanted {
    #[default]
    Nothing,
    /// The whole frame.
    Frame,
    /// When the whole frame ends: the measured frame behind it counts from there on.
    End,
    /// Each pass by itself.
    Passes,
}

/// The next frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Turn {
    /// Whether it runs the tried plan, else the kept one.
    pub tried: bool,
    /// What is measured.
    pub wanted: Wanted,
    /// Which frame of the loop it is, from 0 on.
    pub frame: u64,
    /// Tells answers to questions that nobody asks any more.
    pub stamp: u64,
}

/// What a frame took, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrameTime {
    /// The frame itself.
    pub us: f64,
    /// From the end of the frame before to its own, where that is known: what a program gets that asks for frames
    /// ahead. The host's time is in it as far as the device waits for it, which depends on the plan; so is a program's
    /// that waits for a display.
    pub period_us: Option<f64>,
}

impl FrameTime {
    fn checked(self) -> Option<Self> {
        let is_time = |us: &f64| us.is_finite() && *us >= 0.0;
        is_time(&self.us).then(|| Self { period_us: self.period_us.filter(is_time), ..self })
    }
}

impl From<f64> for FrameTime {
    fn from(us: f64) -> Self {
        Self { us, period_us: None }
    }
}

/// The caller's task while frames run.
#[derive(Clone, PartialEq, Debug)]
pub enum Errand {
    /// Search plans for these durations in microseconds, and say what was [`found`](Tuning::found).
    Search(Vec<(String, f64)>),
    /// Make this one of the found plans ready, and say that it [`is ready`](Tuning::ready) or [`is
    /// refused`](Tuning::refused).
    Prepare(usize),
    /// The tried plan is the kept one from now on.
    Keep,
    /// The tried plan is not needed any more.
    Drop,
}

/// What became of a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// Which search found it, from 1 on.
    pub round: u32,
    /// What was changed.
    pub what: String,
    /// Its modelled frame in microseconds; NaN for a search that found nothing.
    pub predicted_us: f64,
    /// The median of its frames in microseconds, where some were measured: from frame to frame if that decided, else of
    /// the frames themselves.
    pub measured_us: Option<f64>,
    /// The same of the plan that was kept until then.
    pub kept_us: Option<f64>,
    /// The amount that the difference must exceed in addition to the margin, in microseconds.
    pub noise_us: f64,
    /// Its measured frames.
    pub frames: u32,
    /// Whether it stayed.
    pub kept: bool,
    /// Why, or why not, in one sentence.
    pub why: String,
}

/// What is going on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Passes are measured.
    Weighing,
    /// Plans are searched, or made ready.
    Searching,
    /// A plan is tried.
    Trying,
    /// Nothing is left to try; frames are watched.
    Settled,
    /// The device measures nothing, so nothing can be compared.
    Blind,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Self::Weighing => "weighing",
            Self::Searching => "searching",
            Self::Trying => "trying",
            Self::Settled => "settled",
            Self::Blind => "blind",
        }
    }
}

/// A found plan that waits for its trial.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// What was changed.
    pub what: String,
    /// Its modelled frame in microseconds.
    pub predicted_us: f64,
}

/// A trial under way.
#[derive(Clone, Debug, Default)]
struct Under {
    /// Frames that were given out.
    frames: u32,
    /// Measured frames that are not back yet.
    out: u32,
    kept: Times,
    tried: Times,
}

/// What frames of one plan took.
#[derive(Clone, Debug, Default)]
struct Times {
    us: Samples,
    period_us: Samples,
}

impl Times {
    fn add(&mut self, time: FrameTime) {
        self.us.add(time.us);
        time.period_us.into_iter().for_each(|us| self.period_us.add(us));
    }
}

/// How frames of the tried plan compare with those of the kept one.
struct Comparison {
    kept_us: f64,
    tried_us: f64,
    noise_us: f64,
    /// What is to be saved.
    least_us: f64,
}

impl Comparison {
    /// `None` where one of them has no frames.
    fn new(kept: &Samples, tried: &Samples, margin: f64) -> Option<Self> {
        let (kept_us, tried_us) = (kept.median()?, tried.median()?);
        let noise_us = 2.0 * (kept.error().powi(2) + tried.error().powi(2)).sqrt();
        Some(Self { kept_us, tried_us, noise_us, least_us: noise_us.max(margin * kept_us) })
    }

    fn gain_us(&self) -> f64 {
        self.kept_us - self.tried_us
    }

    fn is_faster(&self) -> bool {
        self.gain_us() > self.least_us
    }

    fn is_slower(&self) -> bool {
        self.gain_us() < -self.noise_us
    }

    fn percent(&self) -> f64 {
        100.0 * self.gain_us().abs() / self.kept_us.max(f64::MIN_POSITIVE)
    }
}

/// The loop. Frames go on whatever happens: an answer may come late, or never.
#[derive(Clone, Debug)]
pub struct Tuning {
    settings: Settings,
    phase: Phase,
    round: u32,
    frames: u64,
    stamp: u64,
    durations: Durations,
    weighed: u32,
    /// Found plans, and the one whose turn it is.
    found: Vec<Found>,
    at: usize,
    under: Under,
    steady: Samples,
    smooth_us: Option<f64>,
    drifted: usize,
    trials: Vec<Trial>,
    errands: Vec<Errand>,
}

impl Tuning {
    /// Nothing is known yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            phase: Phase::Weighing,
            round: 1,
            frames: 0,
            stamp: 0,
            durations: Durations::default(),
            weighed: 0,
            found: Vec::new(),
            at: 0,
            under: Under::default(),
            steady: Samples::default(),
            smooth_us: None,
            drifted: 0,
            trials: Vec::new(),
            errands: Vec::new(),
        }
    }

    /// What is going on.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// What became of the plans so far.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Durations of passes in microseconds, as they were measured last.
    pub fn weights(&self) -> Vec<(String, f64)> {
        self.durations.medians()
    }

    /// What the caller has to do now, each once.
    pub fn errands(&mut self) -> Vec<Errand> {
        std::mem::take(&mut self.errands)
    }

    /// The next frame.
    pub fn turn(&mut self) -> Turn {
        let frame = self.frames;
        self.frames += 1;
        let every = u64::from(self.settings.sample.max(1));
        let (tried, wanted) = match self.phase {
            Phase::Weighing if frame.is_multiple_of(every) => (false, Wanted::Passes),
            Phase::Trying => self.trial_turn(),
            Phase::Settled if frame.is_multiple_of(every * if self.steady.len() < STEADY { 1 } else { SELDOM }) => {
                (false, Wanted::Frame)
            }
            _ => (false, Wanted::Nothing),
        };
        Turn { tried, wanted, frame, stamp: self.stamp }
    }

    fn trial_turn(&mut self) -> (bool, Wanted) {
        let block = self.block();
        let (frame, length) = (self.under.frames, self.settings.lead + block);
        if frame >= BLOCKS * length {
            return (false, Wanted::Nothing);
        }
        self.under.frames += 1;
        let wanted = match (frame % length + 1).cmp(&self.settings.lead) {
            Ordering::Less => Wanted::Nothing,
            Ordering::Equal => Wanted::End,
            Ordering::Greater => Wanted::Frame,
        };
        self.under.out += u32::from(wanted == Wanted::Frame);
        (frame / length % 2 == 1, wanted)
    }

    /// Measured frames of a block.
    fn block(&self) -> u32 {
        self.settings.frames.div_ceil(BLOCKS / 2).max(1)
    }

    /// Times of a frame: of all of it, and of its passes where these were wanted. `None`: it has none.
    pub fn measured(&mut self, turn: Turn, time: Option<FrameTime>, passes: &[(String, f64)]) {
        if turn.stamp != self.stamp {
            return;
        }
        let time = time.and_then(FrameTime::checked);
        match (self.phase, turn.wanted) {
            (Phase::Weighing, Wanted::Passes) => self.weigh(passes),
            (Phase::Trying, Wanted::Frame) => {
                self.under.out = self.under.out.saturating_sub(1);
                if let Some(time) = time {
                    if turn.tried { &mut self.under.tried } else { &mut self.under.kept }.add(time);
                }
                self.decide();
            }
            (Phase::Settled, Wanted::Frame) => time.into_iter().for_each(|time| self.watch(time.us)),
            _ => {}
        }
    }

    fn weigh(&mut self, passes: &[(String, f64)]) {
        self.weighed += 1;
        self.durations.add(passes);
        if self.weighed < self.settings.weigh.max(1) {
            return;
        }
        self.stamp += 1;
        if self.durations.is_empty() {
            self.phase = Phase::Blind;
            return;
        }
        self.phase = Phase::Searching;
        (self.found, self.at) = (Vec::new(), 0);
        self.errands.push(Errand::Search(self.durations.medians()));
    }

    /// The plans that a search found, other than the kept one, in the order in which they are to be tried.
    pub fn found(&mut self, mut found: Vec<Found>) {
        if self.phase == Phase::Searching {
            found.truncate(self.settings.most);
            (self.found, self.at) = (found, 0);
            self.next();
        }
    }

    fn next(&mut self) {
        self.stamp += 1;
        self.under = Under::default();
        if self.at < self.found.len() {
            self.phase = Phase::Searching;
            self.errands.push(Errand::Prepare(self.at));
        } else {
            self.phase = Phase::Settled;
            (self.steady, self.smooth_us, self.drifted) = (Samples::default(), None, 0);
        }
    }

    /// The plan that was to be made ready can be run.
    pub fn ready(&mut self) {
        if self.phase == Phase::Searching && self.at < self.found.len() {
            self.stamp += 1;
            self.phase = Phase::Trying;
        }
    }

    /// It cannot be run; or nothing can be searched.
    pub fn refused(&mut self, why: String) {
        if self.phase != Phase::Searching {
            return;
        }
        if self.found.is_empty() {
            self.found.push(Found { what: "a search".to_owned(), predicted_us: f64::NAN });
            self.at = 0;
        }
        if self.at < self.found.len() {
            self.over(None, false, why);
        }
    }

    /// Ends the trial if its frames decide it.
    fn decide(&mut self) {
        let Under { frames, out, kept, tried } = &self.under;
        let all = *out == 0 && *frames >= BLOCKS * (self.settings.lead + self.block());
        let hopeless = tried.us.len() >= 3 && kept.us.len() >= 3 && tried.us.least() > HOPELESS * kept.us.most();
        if !all && !hopeless {
            return;
        }
        let margin = self.settings.margin;
        let Some(frames) = Comparison::new(&kept.us, &tried.us, margin) else {
            return self.over(None, false, "no frame was measured".to_owned());
        };
        if hopeless && !all {
            let why = format!("slower by {:.0} %: given up early", frames.percent());
            return self.over(Some(frames), false, why);
        }
        // What a program gets comes first. Where it waits for something else, such as a display, frames follow each
        // other as they did, and shorter ones leave it more time.
        let periods = Comparison::new(&kept.period_us, &tried.period_us, margin);
        let decisive = periods.filter(|periods| periods.is_faster() || periods.is_slower());
        let by = if decisive.is_some() { " from frame to frame" } else { "" };
        let found = decisive.unwrap_or(frames);
        let (percent, gain, least) = (found.percent(), found.gain_us(), found.least_us);
        let (keep, why) = match (found.is_faster(), found.is_slower()) {
            (true, _) => (true, format!("faster by {percent:.1} %{by}")),
            (_, true) => (false, format!("slower by {percent:.1} %{by}")),
            _ => (false, format!("no faster beyond the noise: {gain:.1} µs of at least {least:.1}")),
        };
        self.over(Some(found), keep, why);
    }

    fn over(&mut self, compared: Option<Comparison>, kept: bool, why: String) {
        let Found { what, predicted_us } = self.found[self.at].clone();
        let Under { kept: before, tried, .. } = &self.under;
        self.trials.push(Trial {
            round: self.round,
            what,
            predicted_us,
            measured_us: compared.as_ref().map(|found| found.tried_us).or(tried.us.median()),
            kept_us: compared.as_ref().map(|found| found.kept_us).or(before.us.median()),
            noise_us: compared.map_or(0.0, |found| found.noise_us),
            frames: tried.us.len() as u32,
            kept,
            why,
        });
        self.errands.push(if kept { Errand::Keep } else { Errand::Drop });
        self.at += 1;
        self.next();
    }

    /// A watched frame. Smoothed times decide, so one slow frame does not.
    fn watch(&mut self, us: f64) {
        if self.steady.len() < STEADY {
            self.steady.add(us);
            self.smooth_us = self.steady.median();
            return;
        }
        let (Some(before), Some(smooth)) = (self.steady.median(), self.smooth_us) else { return };
        let smooth = smooth + SMOOTH * (us - smooth);
        self.smooth_us = Some(smooth);
        // Both: smoothed times alone stay high for a while after one slow frame.
        let differs = [smooth, us].iter().all(|us| (us - before).abs() > self.settings.drift * before);
        self.drifted = if differs { self.drifted + 1 } else { 0 };
        if self.drifted >= STEADY {
            self.round += 1;
            self.stamp += 1;
            self.weighed = 0;
            self.durations = Durations::default();
            self.phase = Phase::Weighing;
        }
    }
}
