//! The schedule of a frame: live passes in one linear order, with their queues, grouped into physical passes (one
//! render pass, or one other pass) between which barriers can stand.

use crate::id::{Id, IdSpan, IdVec};
use crate::plan::PlanPassId;
use crate::stages::ids::{IntervalId, PhysicalId, ResolvedPassId};
use crate::stages::validate::queues::MAX_QUEUES;

/// A queue of the schedule: one of the profile's, or the host, which comes last. One byte, since hazards keep many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct LaneId(u8);

impl Id for LaneId {
    #[inline]
    fn new(index: usize) -> Self {
        debug_assert!(index <= MAX_QUEUES, "the host comes behind as many queues as there may be");
        Self(index as u8)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl LaneId {
    /// The first queue, which is the only one of many schedules.
    pub(crate) const FIRST: Self = Self(0);

    /// Its bit in a set of queues.
    #[inline]
    pub(crate) fn bit(self) -> u32 {
        1u32 << self.0
    }

    /// The lowest queue of a set.
    #[inline]
    pub(crate) fn lowest_of(set: u32) -> Self {
        Self(set.trailing_zeros() as u8)
    }
}

/// A position on a queue, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct QueuePosition(u32);

impl QueuePosition {
    /// Before all passes of a queue.
    pub(crate) const BEFORE: Self = Self(0);

    /// As a number to compare: how many passes of the queue there are up to here.
    #[inline]
    pub(crate) fn passes(self) -> u32 {
        self.0
    }

    /// The position of the last of so many passes.
    #[inline]
    pub(crate) fn of_last(passes: usize) -> Self {
        Self(passes as u32)
    }

    /// The next one.
    #[inline]
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The one before, of a pass.
    #[inline]
    pub(crate) fn previous(self) -> Self {
        Self(self.0 - 1)
    }
}

/// One pass on its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScheduledPass {
    pub pass: ResolvedPassId,
    /// Its queue; the host's is [`Schedule::host`].
    pub queue: LaneId,
    /// Its position on the queue.
    pub position: QueuePosition,
    /// The physical pass that it is part of.
    pub physical: PhysicalId,
}

/// Passes between which no barrier can stand but those within a render pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhysicalPass {
    /// In [`Schedule::passes`].
    pub passes: IdSpan<PlanPassId>,
    pub queue: LaneId,
    /// Whether it is a render pass.
    pub raster: bool,
    /// Whether each of its scheduled passes is a subpass of its own: where one reads an input attachment, or uses an
    /// image of the render pass in another layout than the others.
    pub subpasses: bool,
    /// Physical passes of one interval and queue need no barrier between them: no physical pass follows another of its
    /// interval.
    pub interval: IntervalId,
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
    pub(crate) fn find_intervals(&mut self, mut earlier: impl FnMut(ResolvedPassId, &mut dyn FnMut(PlanPassId))) {
        let mut current = [IntervalId::new(0); MAX_QUEUES + 1];
        for at in self.physical_passes.ids() {
            let physical = self.physical_passes[at];
            let current = &mut current[physical.queue.index()];
            let mut follows = false;
            for scheduled in physical.passes.ids() {
                earlier(self.passes[scheduled].pass, &mut |from| {
                    let of = self.passes[from].physical;
                    let source = &self.physical_passes[of];
                    follows |= of != at && source.queue == physical.queue && source.interval == *current;
                });
            }
            *current = later_by(*current, usize::from(follows));
            self.physical_passes[at].interval = *current;
        }
    }

    /// Begins a new interval before each of these physical passes, which are ascending and on one queue.
    pub(crate) fn cut_intervals(&mut self, cuts: &[PhysicalId]) {
        let mut next = cuts.iter().peekable();
        let mut more = 0;
        for at in self.physical_passes.ids() {
            more += usize::from(next.next_if_eq(&&at).is_some());
            let interval = &mut self.physical_passes[at].interval;
            *interval = later_by(*interval, more);
        }
    }

    /// Begins a new interval of its queue before each physical pass that is marked.
    pub(crate) fn cut_intervals_before(&mut self, marked: &IdVec<PhysicalId, bool>) {
        let mut more = [0; MAX_QUEUES + 1];
        for (physical, marked) in self.physical_passes.iter_mut().zip(marked) {
            let more = &mut more[physical.queue.index()];
            *more += usize::from(*marked);
            physical.interval = later_by(physical.interval, *more);
        }
    }

    /// The host among queues.
    pub(crate) fn host(&self) -> LaneId {
        LaneId::new(self.queues)
    }
}

/// The interval of the same queue that comes so many later.
fn later_by(interval: IntervalId, more: usize) -> IntervalId {
    IntervalId::new(interval.index() + more)
}
