//! The modelled frame, played from the finished plan: batches in the order of submission, each once its queue is free and
//! what it waits for has been signalled, its passes one after the other. The schedule's own model knows neither that a
//! signal takes in its whole batch, nor the waits that ownership, layouts and the host add; the plan does.

use crate::id::{Id, IdVec};
use crate::plan::{Command, Plan, QueueId};

/// Memory that [`play`] reuses.
#[derive(Default, Debug)]
pub struct Scratch {
    /// By queue, the host last: when it is done with all that it was given.
    free: Vec<f64>,
    /// The same: when each value of its timeline is signalled, from value 1.
    signalled: Vec<Vec<f64>>,
}

/// Sets the start of each pass of `plan` and returns the length of the frame, in microseconds. A wait for another queue
/// ends `cross_queue_us` after its signal; barrier calls and submits cost no time; waits for the run before are met.
/// O(commands + waits).
pub fn play(plan: &mut Plan, cross_queue_us: f64, scratch: &mut Scratch) -> f64 {
    let Scratch { free, signalled } = scratch;
    let lanes = plan.queues.len() + 1;
    let lane = |queue: Option<QueueId>| queue.map_or(lanes - 1, Id::index);
    free.clear();
    free.resize(lanes, 0.0);
    signalled.resize_with(lanes.max(signalled.len()), Vec::new);
    signalled.iter_mut().for_each(Vec::clear);
    let passes: &mut IdVec<_, _> = &mut plan.passes;
    for batch in &plan.batches {
        let on = lane(batch.queue);
        let mut now = free[on];
        for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
            let signal = signalled[lane(wait.queue)][wait.value as usize - 1];
            now = now.max(signal + cross_queue_us);
        }
        for command in &plan.commands[batch.commands.range()] {
            if let Command::Pass { pass, .. } = command {
                let why = &mut passes[*pass].why;
                why.start_us = now as f32;
                now += f64::from(why.duration_us);
            }
        }
        free[on] = now;
        if batch.signal.is_some() {
            signalled[on].push(now);
        }
    }
    free.iter().copied().fold(0.0, f64::max)
}
