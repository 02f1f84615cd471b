//! Batches: runs of physical passes on one queue. One is cut only where a semaphore needs it: before a physical pass
//! that waits, after a physical pass that is waited for, by a queue of the plan or by the other user of an import.
//! O(physical passes + waits).

use super::clock::Clocks;
use super::foreign::ForeignUses;
use super::schedule::{LaneId, Schedule};
use crate::id::{Id, IdVec, Span};
use crate::plan::BatchId;
use crate::stages::ids::PhysicalId;
use crate::stages::sort::sort_by_id;

/// A run of physical passes on one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub queue: LaneId,
    /// In [`Batches::physical_passes`].
    pub physical_passes: Span,
    /// Whether a queue of the plan waits for its end.
    pub signals: bool,
}

/// Batches of a schedule.
#[derive(Default, Debug)]
pub(crate) struct Batches {
    /// In the order of their first physical passes, which is one in which they may be submitted: what a batch waits for
    /// is a physical pass before its own first one.
    pub cuts: IdVec<BatchId, Cut>,
    /// Physical passes by batch.
    pub physical_passes: Vec<PhysicalId>,
    /// Batch of each physical pass.
    pub of_physical: IdVec<PhysicalId, BatchId>,
    /// Whether a physical pass waits for another queue, or the other user of an import.
    pub before: IdVec<PhysicalId, bool>,
    after: IdVec<PhysicalId, bool>,
    /// Whether a batch ends behind a physical pass.
    ends: IdVec<PhysicalId, bool>,
    open: Vec<Option<BatchId>>,
    spans: IdVec<BatchId, Span>,
}

impl Batches {
    /// Cuts a schedule.
    pub(crate) fn cut(&mut self, schedule: &Schedule, clocks: &Clocks, foreign: &ForeignUses) {
        let count = schedule.physical_passes.len();
        self.before.refill(false, count);
        self.after.refill(false, count);
        for (at, scheduled) in schedule.passes.iter_ids() {
            for wait in clocks.waits.slice(clocks.of_scheduled[at]) {
                self.before[scheduled.physical] = true;
                let source = clocks.scheduled_at(wait.queue, wait.position);
                self.after[schedule.passes[source].physical] = true;
            }
        }
        self.ends.clone_from(&self.after);
        foreign.waits().for_each(|physical| self.before[physical] = true);
        foreign.signals().for_each(|physical| self.ends[physical] = true);
        self.cuts.clear();
        self.of_physical.clear();
        self.open.clear();
        self.open.resize(schedule.queues + 1, None);
        for (at, physical) in schedule.physical_passes.iter_ids() {
            let open = &mut self.open[physical.queue.index()];
            let batch = match *open {
                Some(batch) if !self.before[at] => batch,
                _ => self.cuts.push(Cut { queue: physical.queue, physical_passes: Span::default(), signals: false }),
            };
            self.cuts[batch].signals = self.after[at];
            *open = (!self.ends[at]).then_some(batch);
            self.of_physical.push(batch);
        }
        let by_batch = self.of_physical.iter_ids().map(|(at, &batch)| (batch, at));
        sort_by_id(self.cuts.len(), by_batch, &mut self.spans, &mut self.physical_passes);
        self.cuts.iter_mut().zip(&self.spans).for_each(|(cut, &span)| cut.physical_passes = span);
    }

    /// The batch that a physical pass is in.
    pub(crate) fn batch_of(&self, physical: PhysicalId) -> BatchId {
        self.of_physical[physical]
    }

    /// First physical pass of a batch.
    pub(crate) fn first_physical(&self, batch: BatchId) -> PhysicalId {
        self.physical_passes[self.cuts[batch].physical_passes.start as usize]
    }
}
