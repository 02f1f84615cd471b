//! The modelled frame, played from the finished plan: batches in the order of submission, each once its queue is free
//! and what it waits for has been signalled. Passes between two barrier calls share the device by their size against
//! its width. The schedule's own model knows neither that a signal takes in its whole batch, nor the waits that
//! ownership, layouts and the host add, nor barrier calls and submits; the plan does.

use crate::id::{Id, IdVec};
use crate::plan::{Command, Plan, PlanPass, PlanPassId, QueueId};
use crate::profile::Profile;

/// Memory that [`play`] reuses.
#[derive(Default, Debug)]
pub(crate) struct Scratch {
    /// By queue, the host last: when it is done with all that it was given.
    free: Vec<f64>,
    /// The same: when each value of its timeline is signalled, from value 1.
    signalled: Vec<Vec<f64>>,
    interval: Interval,
}

/// The passes of a queue between two barrier calls. Each starts once the ones before leave it room: after the part of
/// their time that they would fill the whole device, and no sooner than the queue starts passes.
///
/// ```text
/// size 1.0, 100 µs  ████████████████████
/// size 0.1, 100 µs                      ████████████████████
/// size 0.1, 100 µs                        ████████████████████
/// ```
#[derive(Default, Debug)]
struct Interval {
    passes: Vec<PlanPassId>,
    /// Whether its last pass draws.
    draws: bool,
    /// Durations of its passes alone, in microseconds.
    alone: f64,
    /// When the next pass starts and the last one ends, after the start.
    next: f64,
    end: f64,
}

impl Interval {
    /// Adds a pass that alone takes `us` microseconds and fills so much of the device.
    fn add(&mut self, pass: PlanPassId, us: f64, size: f64, pass_us: f64) {
        self.passes.push(pass);
        self.alone += us;
        self.end = self.end.max(self.next + us);
        self.next += (us * size).max(pass_us.min(us));
    }

    /// Ends it: its time is shared out by the durations of its passes. Returns the end.
    fn close(&mut self, begin: f64, passes: &mut IdVec<PlanPassId, PlanPass>) -> f64 {
        let part = if self.alone > 0.0 { self.end / self.alone } else { 1.0 };
        let mut now = begin;
        for &pass in &self.passes {
            let why = &mut passes[pass].why;
            why.start_us = now as f32;
            why.duration_us = (f64::from(why.duration_us) * part) as f32;
            now += f64::from(why.duration_us);
        }
        self.passes.clear();
        (self.alone, self.next, self.end) = (0.0, 0.0, 0.0);
        now
    }
}

/// Sets start and duration of each pass of `plan`, whose durations are those of passes that run alone, and returns the
/// length of the frame and of one without overlap, barrier calls and submits, in microseconds. `size` is the part of
/// the device that a pass fills. A wait for another queue ends `cross_queue_us` after its signal; waits for the run
/// before are met. No frame is shorter than the work that fills the device. O(commands + waits).
pub(crate) fn play(
    plan: &mut Plan,
    profile: &Profile,
    size: impl Fn(PlanPassId) -> f32,
    scratch: &mut Scratch,
) -> [f64; 2] {
    let serial = serial(plan, profile, scratch);
    begin(plan, scratch);
    let Scratch { free, signalled, interval } = scratch;
    let lanes = plan.queues.len() + 1;
    let passes: &mut IdVec<_, _> = &mut plan.passes;
    let mut work = 0.0;
    for batch in &plan.batches {
        let on = lane(batch.queue, lanes);
        let mut now = free[on];
        for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
            let signal = signalled[lane(wait.queue, lanes)][wait.value as usize - 1];
            now = now.max(signal + profile.cross_queue_us);
        }
        let host = batch.queue.is_none();
        now += if host { 0.0 } else { profile.submit_us };
        let mut inside = false;
        for command in &plan.commands[batch.commands.range()] {
            match command {
                Command::BeginRendering { .. } => inside = true,
                Command::EndRendering => inside = false,
                // Barriers within a render pass order texels, not passes.
                Command::Barriers(_) | Command::WaitEvents(..) if !inside => {
                    now = interval.close(now, passes);
                    now += if host { 0.0 } else { profile.barrier_us };
                }
                Command::Pass { pass, .. } => {
                    if !profile.draws_overlap_dispatches && interval.draws != inside {
                        now = interval.close(now, passes);
                    }
                    interval.draws = inside;
                    let us = f64::from(passes[*pass].why.duration_us);
                    let size = if host { 1.0 } else { f64::from(size(*pass)) };
                    work += if host { 0.0 } else { us * size };
                    interval.add(*pass, us, size, profile.pass_us);
                }
                Command::Barriers(_) | Command::WaitEvents(..) | Command::SetEvent(..) => {}
            }
        }
        now = interval.close(now, passes);
        free[on] = now;
        if batch.signal.is_some() {
            signalled[on].push(now);
        }
    }
    [free.iter().copied().fold(work, f64::max), serial]
}

/// The length of a frame whose queues run one pass after the other and in which nothing but hops costs time, which is
/// what schedules minimize.
fn serial(plan: &Plan, profile: &Profile, scratch: &mut Scratch) -> f64 {
    begin(plan, scratch);
    let Scratch { free, signalled, .. } = scratch;
    let lanes = plan.queues.len() + 1;
    for batch in &plan.batches {
        let on = lane(batch.queue, lanes);
        for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
            let signal = signalled[lane(wait.queue, lanes)][wait.value as usize - 1];
            free[on] = free[on].max(signal + profile.cross_queue_us);
        }
        for command in &plan.commands[batch.commands.range()] {
            if let Command::Pass { pass, .. } = command {
                free[on] += f64::from(plan.passes[*pass].why.duration_us);
            }
        }
        if batch.signal.is_some() {
            signalled[on].push(free[on]);
        }
    }
    free.iter().copied().fold(0.0, f64::max)
}

fn begin(plan: &Plan, scratch: &mut Scratch) {
    let lanes = plan.queues.len() + 1;
    let Scratch { free, signalled, .. } = scratch;
    free.clear();
    free.resize(lanes, 0.0);
    signalled.resize_with(lanes.max(signalled.len()), Vec::new);
    signalled.iter_mut().for_each(Vec::clear);
}

fn lane(queue: Option<QueueId>, lanes: usize) -> usize {
    queue.map_or(lanes - 1, Id::index)
}
