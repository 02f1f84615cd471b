//! Waits between queues. Every pass has a vector clock: per queue, the latest position known to be done. A pass waits
//! for a queue only if its clock is behind the position that it depends on, and only for the latest such position.
//!
//! A wait blocks its own stages only; a later dependency that relies on it, directly or not, adds its stages to it. A
//! signal covers everything earlier on its queue and everything that the queue waited for (Vulkan 1.3, "Semaphore
//! Signaling"). O(passes · queues + dependencies).
//!
//! If submits are expensive, a pass waits for more than it needs: later passes then know more and wait less, and fewer
//! positions need a signal.

use super::schedule::Schedule;
use crate::id::{Id, IdSpan, IdVec};
use crate::plan::PlanPassId;

crate::id! {
    /// A wait of a pass for another queue.
    pub struct WaitId;
}

/// The level of each scheduled pass.
pub(crate) type Levels<'a> = &'a dyn Fn(PlanPassId) -> u32;

/// One wait of a pass for a position on another queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueWait {
    /// The queue waited for.
    pub queue: u8,
    /// The position there, from 1.
    pub position: u32,
}

/// A wait after which the queue of the pass at `at` knows a later position of queue `of`.
#[derive(Clone, Copy, Debug)]
struct Gain {
    at: PlanPassId,
    of: u8,
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
    clocks: Vec<u32>,
    gains: Vec<Gain>,
    /// By queue: its clock after its last pass so far.
    front: Vec<u32>,
    /// By queue: the latest position that the current pass depends on.
    wanted: Vec<u32>,
    at_position: Vec<Vec<PlanPassId>>,
    /// By queue: its position where the current level begins.
    floor: Vec<u32>,
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
        let host = usize::from(schedule.host());
        self.lanes = lanes;
        self.floor.clear();
        self.floor.resize(lanes, 0);
        let mut level = 0;
        self.waits.clear();
        self.gains.clear();
        self.of_scheduled.clear();
        self.clocks.clear();
        self.front.clear();
        self.front.resize(lanes * lanes, 0);
        self.wanted.clear();
        self.wanted.resize(lanes, 0);
        self.at_position.resize_with(lanes.max(self.at_position.len()), Vec::new);
        for positions in &mut self.at_position {
            positions.clear();
        }
        for (at, scheduled) in schedule.passes.iter_ids() {
            crate::cancel::poll();
            let queue = usize::from(scheduled.queue);
            let mut foreign = false;
            let wanted = &mut self.wanted;
            let mut follow = |from: PlanPassId| {
                let source = schedule.passes[from];
                if source.queue != scheduled.queue {
                    let lane = usize::from(source.queue);
                    wanted[lane] = wanted[lane].max(source.position);
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
                self.floor.iter_mut().zip(&self.at_position).for_each(|(floor, passes)| *floor = passes.len() as u32);
            }
            if foreign {
                if levels.is_some() {
                    self.reach_floor(queue, host);
                }
                self.wait(at, queue);
            }
            self.of_scheduled.push(IdSpan::new(start, self.waits.len()));
            self.front[queue * lanes + queue] = scheduled.position;
            self.clocks.extend_from_slice(&self.front[queue * lanes..(queue + 1) * lanes]);
            self.at_position[queue].push(at);
        }
    }

    /// Raises each position that needs a new wait to the floor of its queue. Not for the host: its functions may take
    /// long, so no pass waits for one that it does not depend on.
    fn reach_floor(&mut self, queue: usize, host: usize) {
        for lane in (0..self.lanes).filter(|&lane| lane != queue && lane != host) {
            if self.wanted[lane] > self.front[queue * self.lanes + lane] {
                self.wanted[lane] = self.wanted[lane].max(self.floor[lane]);
            }
        }
    }

    /// Adds waits for the wanted positions beyond the clock, except those that another of these waits implies.
    fn wait(&mut self, at: PlanPassId, queue: usize) {
        let lanes = self.lanes;
        for lane in 0..lanes {
            let position = self.wanted[lane];
            if position <= self.front[queue * lanes + lane] {
                continue;
            }
            // If two waits imply each other, the one for the lower lane stays; otherwise both would be left out.
            let implied = (0..lanes).any(|other| {
                let by = self.wanted[other];
                other != lane && by > self.front[queue * lanes + other] && {
                    let clock = self.clock_at(other, by);
                    clock[lane] >= position && !(self.clock_at(lane, position)[other] >= by && lane < other)
                }
            });
            if !implied {
                self.waits.push(QueueWait { queue: lane as u8, position });
            }
        }
        let first = self.of_scheduled.iter().last().map_or(0, |span| span.range().end);
        for wait in IdSpan::<WaitId>::new(first, self.waits.len()).ids() {
            let QueueWait { queue: lane, position, .. } = self.waits[wait];
            let source = self.at_position[usize::from(lane)][position as usize - 1];
            for of in 0..lanes {
                let known = self.clock(source)[of];
                let front = &mut self.front[queue * lanes + of];
                if of != queue && known > *front {
                    *front = known;
                    self.gains.push(Gain { at, of: of as u8, wait });
                }
            }
        }
        self.wanted.fill(0);
    }

    fn clock_at(&self, lane: usize, position: u32) -> &[u32] {
        self.clock(self.at_position[lane][position as usize - 1])
    }

    /// By queue: the latest position known to be done when the scheduled pass at `at` begins (on its own queue:
    /// itself).
    #[inline]
    pub(crate) fn clock(&self, at: PlanPassId) -> &[u32] {
        &self.clocks[at.index() * self.lanes..][..self.lanes]
    }

    /// The scheduled pass at a position of a queue.
    pub(crate) fn scheduled_at(&self, lane: u8, position: u32) -> PlanPassId {
        self.at_position[usize::from(lane)][position as usize - 1]
    }

    /// The last scheduled pass of a queue.
    pub(crate) fn last_of(&self, lane: u8) -> Option<PlanPassId> {
        self.at_position[usize::from(lane)].last().copied()
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
    pub(crate) fn reach(&mut self, clocks: &Clocks, at: PlanPassId, queue: u8) {
        while let Some(gain) = clocks.gains.get(self.next).filter(|gain| gain.at <= at) {
            debug_assert_eq!(gain.at, at, "stops are reached one by one");
            self.through[usize::from(queue) * clocks.lanes + usize::from(gain.of)] = Some(gain.wait);
            self.next += 1;
        }
    }

    /// The wait that last advanced the clock of `queue` for the queue `of`, and the scheduled pass that waits.
    ///
    /// # Panics
    /// If there is none: a dependency between queues without a wait would be our fault.
    pub(crate) fn through(&self, clocks: &Clocks, queue: u8, of: u8) -> (WaitId, PlanPassId) {
        let wait = self.through[usize::from(queue) * clocks.lanes + usize::from(of)];
        let wait = wait.expect("every dependency between queues is covered by a wait");
        (wait, self.scheduled_of_wait[wait])
    }
}
