//! Waits between queues. Every pass has a vector clock: per queue, the latest position known to be done. A pass waits
//! for a queue only if its clock is behind the position that it depends on, and only for the latest such position.
//!
//! A wait blocks its own stages only; a later dependency that relies on it, directly or not, adds its stages to it. A
//! signal covers everything earlier on its queue and everything that the queue waited for (Vulkan 1.3, "Semaphore
//! Signaling"). O(passes · queues + dependencies).
//!
//! If submits are expensive, a pass waits for more than it needs: later passes then know more and wait less, and fewer
//! positions need a signal.

use super::schedule::{LaneId, QueuePosition, Schedule};
use crate::id::{Id, IdSpan, IdVec};
use crate::plan::PlanPassId;
use crate::stages::ids::WaitId;

/// The level of each scheduled pass.
pub(crate) type Levels<'a> = &'a dyn Fn(PlanPassId) -> u32;

/// One wait of a pass for a position on another queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueWait {
    /// The queue waited for.
    pub queue: LaneId,
    /// The position there.
    pub position: QueuePosition,
}

/// A wait after which the queue of the pass at `at` knows a later position of queue `of`.
#[derive(Clone, Copy, Debug)]
struct Gain {
    at: PlanPassId,
    of: LaneId,
    wait: WaitId,
}

/// Waits and clocks of a schedule.
#[derive(Default, Debug)]
pub(crate) struct Clocks {
    /// All waits.
    pub waits: IdVec<WaitId, QueueWait>,
    /// Waits of each scheduled pass.
    pub of_scheduled: IdVec<PlanPassId, IdSpan<WaitId>>,
    lanes: usize,
    clocks: Vec<QueuePosition>,
    gains: Vec<Gain>,
    /// By queue: its clock after its last pass so far.
    front: Vec<QueuePosition>,
    /// By queue: the latest position that the current pass depends on.
    wanted: IdVec<LaneId, QueuePosition>,
    at_position: IdVec<LaneId, Vec<PlanPassId>>,
    /// By queue: its position where the current level begins.
    floor: IdVec<LaneId, QueuePosition>,
}

impl Clocks {
    /// Finds the waits of a schedule. `earlier(at, follow)` calls `follow` with each scheduled pass that the one at
    /// `at` must follow; `extra` are further orderings `(later, earlier)`, sorted. If passes have levels, ascending, a
    /// pass that waits for a queue waits for all passes of earlier levels on that queue.
    pub(crate) fn find(
        &mut self,
        schedule: &Schedule,
        extra: &[(PlanPassId, PlanPassId)],
        levels: Option<Levels<'_>>,
        mut earlier: impl FnMut(PlanPassId, &mut dyn FnMut(PlanPassId)),
    ) {
        let mut extra = extra.iter().peekable();
        let lanes = schedule.queues + 1;
        let host = schedule.host();
        self.lanes = lanes;
        self.floor.refill(QueuePosition::BEFORE, lanes);
        let mut level = 0;
        self.waits.clear();
        self.gains.clear();
        self.of_scheduled.clear();
        self.clocks.clear();
        self.front.clear();
        self.front.resize(lanes * lanes, QueuePosition::BEFORE);
        self.wanted.refill(QueuePosition::BEFORE, lanes);
        let known = lanes.max(self.at_position.len());
        self.at_position.as_vec_mut().resize_with(known, Vec::new);
        for positions in self.at_position.iter_mut() {
            positions.clear();
        }
        for (at, scheduled) in schedule.passes.iter_ids() {
            crate::cancel::poll();
            let queue = scheduled.queue;
            let mut foreign = false;
            let wanted = &mut self.wanted;
            let mut follow = |from: PlanPassId| {
                let source = schedule.passes[from];
                if source.queue != scheduled.queue {
                    let wanted = &mut wanted[source.queue];
                    *wanted = source.position.max(*wanted);
                    foreign = true;
                }
            };
            earlier(at, &mut follow);
            while let Some((_, from)) = extra.next_if(|(later, _)| *later == at) {
                follow(*from);
            }
            let start = self.waits.len();
            // The floor moves before this pass joins its queue, so that it covers lower levels only.
            if let Some(own) = levels.map(|levels| levels(at)).filter(|&own| own > level) {
                level = own;
                for (floor, passes) in self.floor.iter_mut().zip(&self.at_position) {
                    *floor = QueuePosition::of_last(passes.len());
                }
            }
            if foreign {
                if levels.is_some() {
                    self.reach_floor(queue, host);
                }
                self.wait(at, queue);
            }
            self.of_scheduled.push(IdSpan::new(start, self.waits.len()));
            let own = self.cell(queue, queue);
            self.front[own] = scheduled.position;
            self.clocks.extend_from_slice(&self.front[queue.index() * lanes..][..lanes]);
            self.at_position[queue].push(at);
        }
    }

    /// Where the front of a queue has what it knows of another one.
    #[inline]
    fn cell(&self, queue: LaneId, of: LaneId) -> usize {
        queue.index() * self.lanes + of.index()
    }

    /// Raises each position that needs a new wait to the floor of its queue. Not for the host: its functions may take
    /// long, so no pass waits for one that it does not depend on.
    fn reach_floor(&mut self, queue: LaneId, host: LaneId) {
        for lane in self.wanted.ids().filter(|&lane| lane != queue && lane != host) {
            if self.wanted[lane] > self.front[self.cell(queue, lane)] {
                self.wanted[lane] = self.wanted[lane].max(self.floor[lane]);
            }
        }
    }

    /// Adds waits for the wanted positions beyond the clock, except those that another of these waits implies.
    fn wait(&mut self, at: PlanPassId, queue: LaneId) {
        for lane in self.wanted.ids() {
            let position = self.wanted[lane];
            if position <= self.front[self.cell(queue, lane)] {
                continue;
            }
            // If two waits imply each other, the one for the lower lane stays; otherwise both would be left out.
            let implied = self.wanted.ids().any(|other| {
                let by = self.wanted[other];
                other != lane && by > self.front[self.cell(queue, other)] && {
                    let [here, there] = [(other, by), (lane, position)].map(|(lane, at)| self.scheduled_at(lane, at));
                    self.known(here, lane) >= position && !(self.known(there, other) >= by && lane < other)
                }
            });
            if !implied {
                self.waits.push(QueueWait { queue: lane, position });
            }
        }
        // A wait also brings what its source knew of other queues: a signal covers everything that its queue waited for
        // (Vulkan 1.3, "Semaphore Signaling"). The gain names the wait, since stages that rely on such knowledge are
        // held up by it.
        let first = self.of_scheduled.iter().last().map_or(0, |span| span.range().end);
        for wait in IdSpan::<WaitId>::new(first, self.waits.len()).ids() {
            let QueueWait { queue: lane, position, .. } = self.waits[wait];
            let source = self.scheduled_at(lane, position);
            for of in self.wanted.ids() {
                let (known, cell) = (self.known(source, of), self.cell(queue, of));
                let front = &mut self.front[cell];
                // What the queue itself submitted before is known by submission order, whatever others know of it.
                if of != queue && known > *front {
                    *front = known;
                    self.gains.push(Gain { at, of, wait });
                }
            }
        }
        self.wanted.iter_mut().for_each(|wanted| *wanted = QueuePosition::BEFORE);
    }

    /// By queue: the latest position known to be done when the scheduled pass at `at` begins (on its own queue:
    /// itself).
    #[inline]
    pub(crate) fn clock(&self, at: PlanPassId) -> &[QueuePosition] {
        &self.clocks[at.index() * self.lanes..][..self.lanes]
    }

    /// The latest position of a queue known to be done when the scheduled pass at `at` begins.
    #[inline]
    pub(crate) fn known(&self, at: PlanPassId, of: LaneId) -> QueuePosition {
        self.clock(at)[of.index()]
    }

    /// The scheduled pass at a position of a queue.
    pub(crate) fn scheduled_at(&self, lane: LaneId, position: QueuePosition) -> PlanPassId {
        self.at_position[lane][position.passes() as usize - 1]
    }

    /// The last scheduled pass of a queue.
    pub(crate) fn last_of(&self, lane: LaneId) -> Option<PlanPassId> {
        self.at_position[lane].last().copied()
    }

    /// Number of queues, the host included.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }
}

/// A second walk over the schedule, with the wait that last advanced each queue's clock for each other queue.
#[derive(Default, Debug)]
pub(crate) struct Knowledge {
    next: usize,
    through: Vec<Option<WaitId>>,
    scheduled_of_wait: IdVec<WaitId, PlanPassId>,
}

impl Knowledge {
    /// Moves to the start of the schedule.
    pub(crate) fn start(&mut self, clocks: &Clocks) {
        self.next = 0;
        self.through.clear();
        self.through.resize(clocks.lanes * clocks.lanes, None);
        self.scheduled_of_wait.clear();
        for (at, waits) in clocks.of_scheduled.iter_ids() {
            self.scheduled_of_wait.as_vec_mut().extend(waits.ids().map(|_| at));
        }
    }

    /// Moves to the scheduled pass at `at`, which is on `queue`.
    pub(crate) fn reach(&mut self, clocks: &Clocks, at: PlanPassId, queue: LaneId) {
        while let Some(gain) = clocks.gains.get(self.next).filter(|gain| gain.at <= at) {
            debug_assert_eq!(gain.at, at, "scheduled passes are reached one by one");
            self.through[clocks.cell(queue, gain.of)] = Some(gain.wait);
            self.next += 1;
        }
    }

    /// The wait that last advanced the clock of `queue` for the queue `of`, and the scheduled pass that waits.
    ///
    /// # Panics
    /// If there is none: a dependency between queues without a wait would be our fault.
    pub(crate) fn through(&self, clocks: &Clocks, queue: LaneId, of: LaneId) -> (WaitId, PlanPassId) {
        let wait = self.through[clocks.cell(queue, of)];
        let wait = wait.expect("every dependency between queues is covered by a wait");
        (wait, self.scheduled_of_wait[wait])
    }
}
