//! The frame on a device that its passes share: passes of one interval overlap as far as their sizes leave room, and
//! barrier calls, submits and hops cost time. This model decides whether passes leave the graphics queue; the search
//! for orders uses the simpler [`model`](super::model).

use super::instance::{HOST, Instance};
use super::model::QUEUES;
use crate::id::{Id, IdVec};
use crate::stages::ids::{IntervalId, LiveId};

/// Fraction of the frame that other queues must save if every duration is measured or declared.
const MARGIN: f64 = 0.02;
/// The same if a duration is guessed. On an H200 a guessed plan on three queues took 1.24 times one queue (`demo
/// deferred`, 1280×720), though the guesses promised a gain.
const MARGIN_GUESSED: f64 = 0.25;

/// Working memory.
#[derive(Default, Debug)]
pub(super) struct Shared {
    finish: IdVec<LiveId, f64>,
    /// By pass: number of its interval on its queue.
    interval: IdVec<LiveId, IntervalId>,
}

/// A queue while its passes are placed.
#[derive(Clone, Copy)]
struct Lane {
    interval: IntervalId,
    /// Whether a batch has begun that no pass on another queue waits for.
    open: bool,
    /// Start of the interval in microseconds.
    begin: f64,
    /// Earliest start of the next pass, and end of all passes, in microseconds after `begin`.
    next: f64,
    end: f64,
    before: Option<LiveId>,
    /// Whether the pass before draws.
    draws: bool,
}

impl Lane {
    /// Ends the interval and begins the next, not before `at`, after `cost` microseconds.
    fn close(&mut self, at: f64, cost: f64) {
        self.drain();
        self.begin = self.begin.max(at) + cost;
        self.interval = IntervalId::new(self.interval.index() + 1);
    }

    /// Waits until all passes of the lane have ended.
    fn drain(&mut self) {
        self.begin += self.end;
        (self.next, self.end) = (0.0, 0.0);
    }
}

impl Shared {
    /// The length of the frame in microseconds, at least that of its work on a full device. O(passes + edges).
    pub(super) fn frame_us(&mut self, instance: &Instance<'_>, order: &[LiveId], queue: &IdVec<LiveId, u8>) -> f64 {
        self.finish.refill(0.0, instance.len());
        let first = IntervalId::new(0);
        self.interval.refill(first, instance.len());
        let lane = Lane { interval: first, open: false, begin: 0.0, next: 0.0, end: 0.0, before: None, draws: false };
        let mut lanes = [lane; QUEUES];
        let cross = f64::from(instance.costs.cross_queue_us);
        for &pass in order {
            crate::cancel::poll();
            let on = queue[pass];
            let lane = &mut lanes[usize::from(on)];
            let merged = lane.before.filter(|&before| instance.may_merge(before, pass));
            let (mut at, mut waits, mut follows) = (0.0f64, false, false);
            for &pred in instance.deps.preds.row(pass) {
                if queue[pred] == on {
                    follows |= self.interval[pred] == lane.interval && merged != Some(pred);
                } else {
                    at = at.max(self.finish[pred] + cross);
                    waits = true;
                }
            }
            let host = on == HOST;
            if waits || !lane.open {
                lane.close(at, if host { 0.0 } else { f64::from(instance.costs.submit_us) });
                lane.open = true;
            } else if follows {
                lane.close(0.0, if host { 0.0 } else { f64::from(instance.costs.barrier_us) });
            }
            // On devices where draws and dispatches of one queue do not overlap, a change of kind drains the queue.
            if let Some(&draws) = instance.draws.get(pass) {
                if draws != lane.draws {
                    lane.drain();
                }
                lane.draws = draws;
            }
            let us = f64::from(instance.weight_us[pass]);
            let size = if host { 1.0 } else { f64::from(instance.size[pass]) };
            lane.end = lane.end.max(lane.next + us);
            self.finish[pass] = lane.begin + lane.next + us;
            self.interval[pass] = lane.interval;
            lane.next += (us * size).max(us.min(f64::from(instance.costs.pass_us)));
            lane.before = Some(pass);
            // A semaphore is signalled at the end of a batch, so a pass that another queue waits for ends its batch.
            lane.open &= instance.deps.succs.row(pass).iter().all(|&succ| queue[succ] == on);
        }
        let ends = lanes.iter().map(|lane| lane.begin + lane.end);
        ends.fold(work_us(instance, queue), f64::max)
    }
}

/// The work of all device passes in microseconds of the whole device: duration times size.
fn work_us(instance: &Instance<'_>, queue: &IdVec<LiveId, u8>) -> f64 {
    let passes = instance.passes().filter(|&pass| queue[pass] != HOST);
    passes.map(|pass| f64::from(instance.weight_us[pass]) * f64::from(instance.size[pass])).sum()
}

/// Passes leave the graphics queue if the frame on several queues is at most this long, in microseconds. With all of
/// them on the graphics queue the frame takes `graphics_us`.
pub(super) fn worth_leaving(instance: &Instance<'_>, graphics_us: f64) -> f64 {
    graphics_us * (1.0 - if instance.certain { MARGIN } else { MARGIN_GUESSED })
}

/// False if no choice of queues can save enough: the work on a full device is a lower bound of every frame.
pub(super) fn may_be_worth_leaving(instance: &Instance<'_>, queue: &IdVec<LiveId, u8>, graphics_us: f64) -> bool {
    work_us(instance, queue) < worth_leaving(instance, graphics_us)
}

/// Fills the only queue left to each pass: the graphics queue if it is permitted, else the first permitted one.
pub(super) fn at_home(instance: &Instance<'_>, queues: &mut IdVec<LiveId, u32>) {
    queues.clear();
    queues.extend(instance.queues.iter().map(|&mask| {
        let graphics = mask & (1 << instance.graphics);
        if graphics != 0 { graphics } else { mask & mask.wrapping_neg() }
    }));
}
