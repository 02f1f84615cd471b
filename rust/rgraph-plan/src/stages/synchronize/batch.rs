//! Batches: runs of physical passes on one queue. One is cut only where a semaphore needs it: before a physical pass
//! that waits, after a physical pass that is waited for, by a queue of the plan or by the other user of an import.
//! O(physical passes + waits).

use super::clock::Clocks;
use super::foreign::ForeignUses;
use super::schedule::Schedule;
use crate::id::Span;

/// A run of physical passes on one queue.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// The queue.
    pub queue: u8,
    /// In [`Batches::physical_passes`].
    pub physical_passes: Span,
    /// Whether a queue of the plan waits for its end.
    pub signals: bool,
}

/// Batches of a schedule.
#[derive(Default, Debug)]
pub struct Batches {
    /// In the order of their first physical passes, which is one in which they may be submitted: what a batch waits for
    /// is a physical pass before its own first one.
    pub cuts: Vec<Cut>,
    /// Physical passes by batch.
    pub physical_passes: Vec<u32>,
    /// Batch of each physical pass.
    pub of_physical: Vec<u32>,
    /// Whether a physical pass waits for another queue, or the other user of an import.
    pub before: Vec<bool>,
    after: Vec<bool>,
    /// Whether a batch ends behind a physical pass.
    ends: Vec<bool>,
    open: Vec<Option<u32>>,
    counts: Vec<u32>,
}

impl Batches {
    /// Cuts a schedule.
    pub fn cut(&mut self, schedule: &Schedule, clocks: &Clocks, foreign: &ForeignUses) {
        let count = schedule.physical_passes.len();
        self.before.clear();
        self.before.resize(count, false);
        self.after.clear();
        self.after.resize(count, false);
        for (at, scheduled) in schedule.passes.iter().enumerate() {
            for wait in &clocks.waits[clocks.of_scheduled[at].range()] {
                self.before[scheduled.physical as usize] = true;
                let source = clocks.scheduled_at(wait.queue, wait.position);
                self.after[schedule.passes[source as usize].physical as usize] = true;
            }
        }
        self.ends.clone_from(&self.after);
        foreign.waits().for_each(|physical| self.before[physical as usize] = true);
        foreign.signals().for_each(|physical| self.ends[physical as usize] = true);
        self.cuts.clear();
        self.of_physical.clear();
        self.counts.clear();
        self.open.clear();
        self.open.resize(schedule.queues + 1, None);
        for (at, physical) in schedule.physical_passes.iter().enumerate() {
            let open = &mut self.open[usize::from(physical.queue)];
            let batch = match *open {
                Some(batch) if !self.before[at] => batch,
                _ => {
                    self.cuts.push(Cut { queue: physical.queue, physical_passes: Span::default(), signals: false });
                    self.counts.push(0);
                    self.cuts.len() as u32 - 1
                }
            };
            self.cuts[batch as usize].signals = self.after[at];
            *open = (!self.ends[at]).then_some(batch);
            self.counts[batch as usize] += 1;
            self.of_physical.push(batch);
        }
        let mut start = 0;
        for (cut, count) in self.cuts.iter_mut().zip(&self.counts) {
            cut.physical_passes = Span { start, end: start };
            start += count;
        }
        self.physical_passes.clear();
        self.physical_passes.resize(count, 0);
        for (at, &batch) in self.of_physical.iter().enumerate() {
            let physical_passes = &mut self.cuts[batch as usize].physical_passes;
            self.physical_passes[physical_passes.end as usize] = at as u32;
            physical_passes.end += 1;
        }
    }

    /// The batch that a physical pass is in.
    pub fn batch_of(&self, physical: u32) -> u32 {
        self.of_physical[physical as usize]
    }

    /// First physical pass of a batch.
    pub fn first_physical(&self, batch: u32) -> u32 {
        self.physical_passes[self.cuts[batch as usize].physical_passes.start as usize]
    }
}
