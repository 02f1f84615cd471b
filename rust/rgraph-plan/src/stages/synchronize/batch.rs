//! Batches: runs of steps on one queue. One is cut only where a semaphore needs it: before a step that waits, after
//! a step that is waited for. O(steps + waits).

use super::clock::Clocks;
use super::course::Course;
use crate::id::Span;

/// A run of steps on one queue.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// The queue.
    pub queue: u8,
    /// In [`Batches::steps`].
    pub steps: Span,
    /// Whether anybody waits for its end.
    pub signals: bool,
}

/// Batches of a course.
#[derive(Default, Debug)]
pub struct Batches {
    /// In the order of their first steps, which is one in which they may be submitted: what a batch waits for is a
    /// step before its own first one.
    pub cuts: Vec<Cut>,
    /// Steps by batch.
    pub steps: Vec<u32>,
    /// Batch of each step.
    pub of_step: Vec<u32>,
    /// Whether a step waits for another queue.
    pub before: Vec<bool>,
    after: Vec<bool>,
    open: Vec<Option<u32>>,
    counts: Vec<u32>,
}

impl Batches {
    /// Cuts a course.
    pub fn cut(&mut self, course: &Course, clocks: &Clocks) {
        let count = course.steps.len();
        self.before.clear();
        self.before.resize(count, false);
        self.after.clear();
        self.after.resize(count, false);
        for (at, stop) in course.stops.iter().enumerate() {
            for wait in &clocks.waits[clocks.of_stop[at].range()] {
                self.before[stop.step as usize] = true;
                let source = clocks.stop_at(wait.queue, wait.position);
                self.after[course.stops[source as usize].step as usize] = true;
            }
        }
        self.cuts.clear();
        self.of_step.clear();
        self.counts.clear();
        self.open.clear();
        self.open.resize(course.queues + 1, None);
        for (at, step) in course.steps.iter().enumerate() {
            let open = &mut self.open[usize::from(step.queue)];
            let batch = match *open {
                Some(batch) if !self.before[at] => batch,
                _ => {
                    self.cuts.push(Cut { queue: step.queue, steps: Span::default(), signals: false });
                    self.counts.push(0);
                    self.cuts.len() as u32 - 1
                }
            };
            self.cuts[batch as usize].signals = self.after[at];
            *open = (!self.after[at]).then_some(batch);
            self.counts[batch as usize] += 1;
            self.of_step.push(batch);
        }
        let mut start = 0;
        for (cut, count) in self.cuts.iter_mut().zip(&self.counts) {
            cut.steps = Span { start, end: start };
            start += count;
        }
        self.steps.clear();
        self.steps.resize(count, 0);
        for (at, &batch) in self.of_step.iter().enumerate() {
            let steps = &mut self.cuts[batch as usize].steps;
            self.steps[steps.end as usize] = at as u32;
            steps.end += 1;
        }
    }

    /// The batch that a step is in.
    pub fn batch_of(&self, step: u32) -> u32 {
        self.of_step[step as usize]
    }

    /// First step of a batch.
    pub fn first_step(&self, batch: u32) -> u32 {
        self.steps[self.cuts[batch as usize].steps.start as usize]
    }
}
