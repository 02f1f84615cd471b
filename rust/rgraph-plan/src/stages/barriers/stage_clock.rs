//! What the barriers of one queue order, stage by stage: for each pair of stages, up to which time work at the one is
//! done before the other begins. A barrier orders all earlier work at its first stages before all later work at its
//! second ones, whatever memory it names, and barriers chain where the second stages of one meet the first stages of
//! another (Vulkan 1.3, "Execution and Memory Dependencies"). What a scope takes in it takes in from the start of the
//! queue, so one number per pair is exact; clocks as in Mattern, "Virtual Time and Global States of Distributed
//! Systems", 1989.

use super::narrow::{bits, with_earlier, with_later};
use crate::access::Stages;
use crate::plan::Scope;

/// There are 21 stages, a bit of a mask each.
const STAGES: usize = 32;
/// Stages that a clock tells apart, and as many columns of its rows.
const COLUMNS: usize = 24;

/// A moment on the time line of a queue, counted in steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment(u32);

impl Moment {
    /// So many steps after the start.
    #[inline]
    pub(crate) fn new(steps: u32) -> Self {
        Self(steps)
    }

    /// Some steps later.
    #[inline]
    pub(crate) fn later_by(self, steps: u32) -> Self {
        Self(self.0 + steps)
    }

    /// As rows have it. At most `u32::MAX / 8` passes have steps, so that it is positive.
    fn signed(self) -> i32 {
        self.0 as i32
    }
}

/// Columns that are joined at once.
const GROUP: usize = 4;

/// By column: work at its stage before this moment is done, 0 for none. Signed, which the least vector units compare.
type Times = [[i32; GROUP]; COLUMNS / GROUP];

/// What is ordered before a point.
#[derive(Clone, Copy, Debug)]
struct Row(Times);

const NOTHING: Row = Row([[0; GROUP]; COLUMNS / GROUP]);

impl Row {
    /// The later times of both, in some groups of columns.
    #[inline]
    fn join(&mut self, from: &Self, groups: usize) {
        for (a, b) in self.0.iter_mut().zip(&from.0).take(groups) {
            for (a, b) in a.iter_mut().zip(b) {
                *a = (*a).max(*b);
            }
        }
    }
}

/// What a barrier orders before all that begins at some stages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered {
    row: Row,
    later: Stages,
}

/// The clock of one queue.
#[derive(Clone, Debug)]
pub(crate) struct StageClock {
    /// Stages by column.
    columns: [Stages; COLUMNS],
    count: usize,
    /// By stage: its column.
    column_of: [Option<u8>; STAGES],
    /// Stages that some barrier has reached.
    reached: Stages,
    /// By stage of what begins.
    rows: [Row; STAGES],
    /// Barriers of the call that are to be taken in.
    pending: Vec<Ordered>,
}

impl Default for StageClock {
    fn default() -> Self {
        Self {
            columns: [Stages::empty(); COLUMNS],
            count: 0,
            column_of: [None; STAGES],
            reached: Stages::empty(),
            rows: [NOTHING; STAGES],
            pending: Vec::new(),
        }
    }
}

fn number(stage: Stages) -> usize {
    stage.bits().trailing_zeros() as usize
}

fn at(times: &Times, column: u8) -> i32 {
    times[usize::from(column) / GROUP][usize::from(column) % GROUP]
}

impl StageClock {
    /// Groups of columns in use.
    fn groups(&self) -> usize {
        self.count.div_ceil(GROUP)
    }

    /// Starts over, for work at some stages.
    pub(crate) fn start(&mut self, stages: Stages) {
        for stage in bits(self.reached) {
            self.rows[number(stage)] = NOTHING;
        }
        self.reached = Stages::empty();
        self.column_of = [None; STAGES];
        self.count = 0;
        for stage in bits(stages) {
            self.column_of[number(stage)] = Some(self.count as u8);
            self.columns[self.count] = stage;
            self.count += 1;
        }
    }

    /// Prepares to take in a barrier of the present call, which stands at a time. Barriers of a call do not chain among
    /// themselves.
    pub(crate) fn add(&mut self, at: Moment, scope: Scope) {
        let prepared = self.ordered(at, scope);
        self.pending.push(prepared);
    }

    /// What a barrier orders that stands at a time, as the calls before its own leave the clock.
    pub(crate) fn ordered(&self, at: Moment, scope: Scope) -> Ordered {
        let earlier = with_earlier(scope.src_stages);
        let mut row = NOTHING;
        for stage in bits(earlier & self.reached) {
            row.join(&self.rows[number(stage)], self.groups());
        }
        let at = at.signed();
        for (column, &stage) in self.columns[..self.count].iter().enumerate() {
            if earlier.intersects(stage) {
                row.0[column / GROUP][column % GROUP] = at;
            }
        }
        Ordered { row, later: with_later(scope.dst_stages) }
    }

    /// Takes in a barrier.
    pub(crate) fn take(&mut self, Ordered { row, later }: &Ordered) {
        let groups = self.groups();
        self.reached |= *later;
        for stage in bits(*later) {
            self.rows[number(stage)].join(row, groups);
        }
    }

    /// Takes in the barriers that were prepared.
    pub(crate) fn end_call(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.iter().for_each(|prepared| self.take(prepared));
        pending.clear();
        self.pending = pending;
    }

    /// Lets some stages wait until all work before a time is done, as behind a semaphore whose signal came after it
    /// (Vulkan 1.3, "Semaphore Signaling", "Semaphore Waiting").
    pub(crate) fn wait(&mut self, until: Moment, stages: Stages) {
        let (row, groups) = (Row([[until.signed(); GROUP]; COLUMNS / GROUP]), self.groups());
        let later = with_later(stages);
        self.reached |= later;
        for stage in bits(later) {
            self.rows[number(stage)].join(&row, groups);
        }
    }

    /// Whether work at `stage` up to a time is done before a barrier that begins at some stages.
    pub(crate) fn orders(&self, stage: Stages, until: Moment, first: Stages) -> bool {
        let Some(column) = self.column_of[number(stage)] else { return false };
        let done = |one| at(&self.rows[number(one)].0, column) > until.signed();
        bits(with_earlier(first) & self.reached).any(done)
    }

    /// Whether work at `stage` up to a time is done before all that begins at each of some stages.
    pub(crate) fn orders_before_all(&self, stage: Stages, until: Moment, later: Stages) -> bool {
        let Some(column) = self.column_of[number(stage)] else { return false };
        bits(later).all(|one| at(&self.rows[number(one)].0, column) > until.signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn barrier(src: Stages, dst: Stages) -> Scope {
        Scope { src_stages: src, dst_stages: dst, ..Scope::default() }
    }

    const USED: Stages = Stages::COMPUTE_SHADER.union(Stages::COPY).union(Stages::FRAGMENT_SHADER);

    #[test]
    fn barriers_chain_from_call_to_call_and_not_within_one() {
        let mut clock = StageClock::default();
        clock.start(USED);
        clock.add(Moment::new(4), barrier(Stages::COMPUTE_SHADER, Stages::COPY));
        clock.add(Moment::new(4), barrier(Stages::COPY, Stages::FRAGMENT_SHADER));
        clock.end_call();
        assert!(clock.orders(Stages::COMPUTE_SHADER, Moment::new(3), Stages::COPY));
        assert!(!clock.orders(Stages::COMPUTE_SHADER, Moment::new(5), Stages::COPY), "it comes after the call");
        assert!(!clock.orders(Stages::COMPUTE_SHADER, Moment::new(3), Stages::FRAGMENT_SHADER), "they are in one call");
        clock.add(Moment::new(8), barrier(Stages::COPY, Stages::FRAGMENT_SHADER));
        clock.end_call();
        assert!(clock.orders(Stages::COMPUTE_SHADER, Moment::new(3), Stages::FRAGMENT_SHADER));
        // A first scope takes in logically earlier stages, so a barrier that begins at colours follows the chain, too.
        assert!(clock.orders(Stages::COMPUTE_SHADER, Moment::new(3), Stages::COLOR_ATTACHMENT_OUTPUT));
        assert!(!clock.orders(Stages::COMPUTE_SHADER, Moment::new(3), Stages::VERTEX_SHADER));
        assert!(clock.orders_before_all(
            Stages::COMPUTE_SHADER,
            Moment::new(3),
            Stages::FRAGMENT_SHADER | Stages::COPY
        ));
        assert!(!clock.orders_before_all(Stages::COMPUTE_SHADER, Moment::new(3), Stages::VERTEX_SHADER | Stages::COPY));
        clock.start(USED);
        assert!(!clock.orders(Stages::COMPUTE_SHADER, Moment::new(3), Stages::COPY), "a new queue knows nothing");
    }

    #[test]
    fn a_wait_orders_all_before_its_stages_and_later_ones() {
        let mut clock = StageClock::default();
        clock.start(USED);
        clock.wait(Moment::new(9), Stages::FRAGMENT_SHADER);
        for stage in bits(USED) {
            assert!(clock.orders(stage, Moment::new(8), Stages::COLOR_ATTACHMENT_OUTPUT));
            assert!(
                !clock.orders(stage, Moment::new(9), Stages::FRAGMENT_SHADER)
                    && !clock.orders(stage, Moment::new(8), Stages::COPY)
            );
        }
    }

    #[test]
    fn every_stage_has_a_column() {
        let mut clock = StageClock::default();
        clock.start(Stages::all());
        assert!(bits(Stages::all()).count() <= COLUMNS);
        clock.wait(Moment::new(2), Stages::COPY);
        assert!(bits(Stages::all()).all(|stage| clock.orders(stage, Moment::new(1), Stages::COPY)));
    }
}
