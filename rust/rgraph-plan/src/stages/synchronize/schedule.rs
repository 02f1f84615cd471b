//! The schedule of a frame: live passes in one linear order, with their queues, grouped into physical passes (one
//! render pass, or one other pass) between which barriers can stand.

use crate::id::{IdSpan, IdVec};
use crate::plan::PlanPassId;
use crate::stages::resolve::ResolvedPassId;

crate::id! {
    /// A physical pass: its position in the schedule.
    pub struct PhysicalId;
}

/// One pass on its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScheduledPass {
    /// The pass.
    pub pass: ResolvedPassId,
    /// Its queue; the host's is [`Schedule::host`].
    pub queue: u8,
    /// Its position on the queue, from 1.
    pub position: u32,
    /// The physical pass that it is part of.
    pub physical: PhysicalId,
}

/// Passes between which no barrier can stand but those within a render pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhysicalPass {
    /// In [`Schedule::passes`].
    pub passes: IdSpan<PlanPassId>,
    /// Its queue.
    pub queue: u8,
    /// Whether it is a render pass.
    pub raster: bool,
    /// Whether each of its scheduled passes is a subpass of its own: where one reads an input attachment, or uses an
    /// image of the render pass in another layout than the others.
    pub subpasses: bool,
    /// Physical passes of one interval and queue need no barrier between them: no physical pass follows another of its
    /// interval.
    pub interval: u32,
}

/// Live passes in linear order.
#[derive(Default, Debug)]
pub(crate) struct Schedule {
    /// GPU queues; the host is the next number.
    pub queues: usize,
    /// Passes; each has the same id in the plan.
    pub passes: IdVec<PlanPassId, ScheduledPass>,
    /// Physical passes, in the order of their first passes.
    pub physical_passes: IdVec<PhysicalId, PhysicalPass>,
}

impl Schedule {
    /// Finds the intervals of the physical passes of each queue: a new interval begins where a physical pass follows
    /// one of the present interval. `earlier(pass, follow)` calls `follow` with each scheduled pass that `pass` must
    /// follow. O(dependencies).
    pub(crate) fn find_intervals(
        &mut self,
        intervals: &mut Vec<u32>,
        mut earlier: impl FnMut(ResolvedPassId, &mut dyn FnMut(PlanPassId)),
    ) {
        intervals.clear();
        intervals.resize(self.queues + 1, 0);
        for at in self.physical_passes.ids() {
            let physical = self.physical_passes[at];
            let now = intervals[usize::from(physical.queue)];
            let mut follows = false;
            for scheduled in physical.passes.ids() {
                earlier(self.passes[scheduled].pass, &mut |from| {
                    let of = self.passes[from].physical;
                    let source = &self.physical_passes[of];
                    follows |= of != at && source.queue == physical.queue && source.interval == now;
                });
            }
            intervals[usize::from(physical.queue)] += u32::from(follows);
            self.physical_passes[at].interval = intervals[usize::from(physical.queue)];
        }
    }

    /// Begins a new interval before each of these physical passes, which are ascending and on one queue.
    pub(crate) fn cut_intervals(&mut self, cuts: &[PhysicalId]) {
        let mut next = cuts.iter().peekable();
        let mut more = 0;
        for at in self.physical_passes.ids() {
            more += u32::from(next.next_if_eq(&&at).is_some());
            self.physical_passes[at].interval += more;
        }
    }

    /// Begins a new interval of its queue before each physical pass that is marked.
    pub(crate) fn cut_intervals_before(&mut self, marked: &IdVec<PhysicalId, bool>, more: &mut Vec<u32>) {
        more.clear();
        more.resize(self.queues + 1, 0);
        for (physical, marked) in self.physical_passes.iter_mut().zip(marked) {
            let more = &mut more[usize::from(physical.queue)];
            *more += u32::from(*marked);
            physical.interval += *more;
        }
    }

    /// The number that stands for the host among queues.
    pub(crate) fn host(&self) -> u8 {
        self.queues as u8
    }
}
