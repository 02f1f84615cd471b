//! Happens-before, exactly, with vector clocks.
//!
//! A clock says, for each queue and leaf stage, up to which position everything is ordered before a point, and for
//! each queue and kind of write, up to which position everything is available there. Both sets are closed towards
//! earlier positions (what a scope takes in, it takes in from the start of the queue), so one number each is exact,
//! and one synchronization node after the other in submission order is one join each: linear in the plan.
//!
//! Source: Vulkan 1.3 specification, "Synchronization Commands" (execution and memory dependencies, chains, scopes
//! of semaphores); clocks as in Mattern, "Virtual Time and Global States of Distributed Systems", 1989.

use rgraph_ir::access::{Accesses, Stages};
use rgraph_ir::id::Id;
use rgraph_ir::plan::{PlanPassId, QueueId, Scope};

use crate::ids::{Position, RenderingId};
use crate::subresource::Done;
use crate::tables::{STAGES, WRITES, leaf, leaves, with_earlier, with_later, write_access, write_slot};

/// The pseudo stage at which layout transitions happen: only signals take it in without naming stages.
const TRANSITION: usize = STAGES;
const ORDERS: usize = STAGES + 1;
const WIDTH: usize = ORDERS + WRITES;
/// Leaf access kinds.
const ACCESSES: usize = 18;

/// Before everything on a queue.
const BEFORE: Position = Position(0);

/// What is ordered before, and available at, one point.
pub(crate) type Clock = Box<[Position]>;

/// A synchronization node: one entry of a barrier call, one half of an event, a wait, or the runtime's entry barrier.
#[derive(Clone, Debug)]
pub(crate) struct SyncNode {
    pub queue: QueueId,
    /// Operations before this position enter it.
    pub enter: Position,
    /// Operations after this position are reached by it.
    pub leave: Position,
    pub scope: Scope,
    /// Second synchronization scope with logically later stages.
    pub later: Stages,
    pub clock: Clock,
    /// `why.to` of the barrier, for messages.
    pub pass: Option<PlanPassId>,
    /// The render pass within which alone it holds.
    pub rendering: Option<RenderingId>,
}

/// Running clocks of every queue; the host is the last queue.
pub(crate) struct Lanes {
    pub queues: usize,
    /// By queue and stage: what is ordered before an operation there.
    order: Vec<Clock>,
    /// By queue and stage: what waits made visible to all accesses there.
    waits: Vec<Option<Clock>>,
    /// By queue, stage and access: what global barriers made visible there.
    visible: Vec<Option<Clock>>,
}

fn join(into: &mut [Position], from: &[Position]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

fn join_option(into: &mut Option<Clock>, from: &Clock) {
    match into {
        Some(clock) => join(clock, from),
        None => *into = Some(from.clone()),
    }
}

impl Lanes {
    /// Clocks at the start of time; `queues` counts the host.
    pub(crate) fn new(queues: usize) -> Self {
        Self {
            queues,
            order: vec![vec![BEFORE; queues * WIDTH].into(); queues * STAGES],
            waits: vec![None; queues * STAGES],
            visible: vec![None; queues * STAGES * ACCESSES],
        }
    }

    /// What is ordered before a node at `position` with these source stages, itself included.
    pub(crate) fn enter(&self, queue: QueueId, position: Position, stages: Stages) -> Clock {
        let mut clock = self.chain(queue, stages);
        for stage in leaves(with_earlier(stages)) {
            clock[queue.index() * WIDTH + stage] = position;
        }
        clock
    }

    /// Adds that the writes of a scope are available at a node at `position`.
    pub(crate) fn make_available(clock: &mut Clock, queue: QueueId, position: Position, scope: &Scope) {
        for stage in leaves(scope.src_stages) {
            if scope.src_access.intersects(write_access(stage)) {
                clock[queue.index() * WIDTH + ORDERS + write_slot(stage)] = position;
            }
        }
    }

    /// What is ordered before a node with these source stages through the nodes before it, and no more.
    pub(crate) fn chain(&self, queue: QueueId, stages: Stages) -> Clock {
        let mut clock: Clock = vec![BEFORE; self.queues * WIDTH].into();
        for stage in leaves(with_earlier(stages)) {
            join(&mut clock, &self.order[queue.index() * STAGES + stage]);
        }
        clock
    }

    /// The clock of a signal: everything before it, and every write available.
    pub(crate) fn signal(&self, queue: QueueId, position: Position) -> Clock {
        let mut clock = self.enter(queue, position, Stages::all());
        clock[queue.index() * WIDTH..(queue.index() + 1) * WIDTH].fill(position);
        clock
    }

    /// Lets a wait's second scope see a signal.
    pub(crate) fn wait(&mut self, queue: QueueId, stages: Stages, signal: &Clock) {
        for stage in leaves(with_later(stages)) {
            join(&mut self.order[queue.index() * STAGES + stage], signal);
        }
        for stage in leaves(stages) {
            join_option(&mut self.waits[queue.index() * STAGES + stage], signal);
        }
    }

    /// Lets what follows a barrier on its queue be ordered after it.
    pub(crate) fn publish(&mut self, queue: QueueId, later: Stages, clock: &Clock) {
        for stage in leaves(later) {
            join(&mut self.order[queue.index() * STAGES + stage], clock);
        }
    }

    /// Lets what follows a global barrier see what is available at it.
    pub(crate) fn publish_visible(&mut self, queue: QueueId, scope: &Scope, clock: &Clock) {
        for stage in leaves(scope.dst_stages) {
            for access in bits(scope.dst_access) {
                join_option(&mut self.visible[(queue.index() * STAGES + stage) * ACCESSES + access], clock);
            }
        }
    }

    /// What is ordered before an operation that stands here.
    pub(crate) fn at(&self, queue: QueueId, stage: usize) -> &Clock {
        &self.order[queue.index() * STAGES + stage]
    }

    /// Whether something that stands here on `queue` is ordered after something at a position of another queue.
    pub(crate) fn follows(&self, queue: QueueId, other: QueueId, position: Position) -> bool {
        let lanes = &self.order[queue.index() * STAGES..(queue.index() + 1) * STAGES];
        lanes.iter().any(|clock| {
            clock[other.index() * WIDTH..other.index() * WIDTH + ORDERS].iter().any(|covered| position < *covered)
        })
    }

    /// The clocks of waits and global barriers through which an operation that stands here sees.
    pub(crate) fn seen(&self, queue: QueueId, stage: usize, access: Accesses) -> impl Iterator<Item = &Clock> {
        let lane = queue.index() * STAGES + stage;
        let barriers = bits(access).filter_map(move |access| self.visible[lane * ACCESSES + access].as_ref());
        self.waits[lane].iter().chain(barriers)
    }
}

fn bits(access: Accesses) -> impl Iterator<Item = usize> {
    let mut bits = access.bits() & ((1 << ACCESSES) - 1);
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            bit
        })
    })
}

/// Whether an operation is ordered before the point of a clock.
pub(crate) fn ordered(clock: &Clock, queue: QueueId, position: Position, stage: usize) -> bool {
    position < clock[queue.index() * WIDTH + stage]
}

/// Whether a write is available at the point of a clock through waits and global barriers.
pub(crate) fn available(clock: &Clock, queue: QueueId, position: Position, stage: usize) -> bool {
    position < clock[queue.index() * WIDTH + ORDERS + write_slot(stage)]
}

impl SyncNode {
    /// A node and its clock.
    pub(crate) fn new(queue: QueueId, at: Position, scope: Scope, clock: Clock) -> Self {
        Self {
            queue,
            enter: at,
            leave: at,
            scope,
            later: with_later(scope.dst_stages),
            clock,
            pass: None,
            rendering: None,
        }
    }

    /// Whether this node chains to the point of a clock.
    pub(crate) fn reaches(&self, clock: &Clock) -> bool {
        let own = &clock[self.queue.index() * WIDTH..];
        self.leave < own[TRANSITION] || leaves(self.later).any(|stage| self.leave < own[stage])
    }

    /// Whether it holds where an operation is.
    fn reaches_into(&self, rendering: Option<RenderingId>) -> bool {
        self.rendering.is_none() || self.rendering == rendering
    }

    /// Whether an operation that stands at `queue` and `stage` after it is in its second synchronization scope.
    pub(crate) fn orders(&self, queue: QueueId, stage: usize, rendering: Option<RenderingId>) -> bool {
        self.queue == queue && self.reaches_into(rendering) && self.later.contains(leaf(stage))
    }

    /// Whether what is available at it is visible to an operation.
    pub(crate) fn shows(&self, queue: QueueId, stage: usize, access: Accesses, rendering: Option<RenderingId>) -> bool {
        self.queue == queue
            && self.reaches_into(rendering)
            && self.scope.dst_stages.contains(leaf(stage))
            && self.scope.dst_access.intersects(access)
    }

    /// Whether it stands within the render pass of an operation and that is in its first synchronization scope.
    pub(crate) fn takes_in(&self, x: &Done) -> bool {
        self.rendering.is_some()
            && self.rendering == x.rendering
            && x.position < self.enter
            && with_earlier(self.scope.src_stages).contains(leaf(usize::from(x.op.stage)))
    }

    /// Whether it chains to a node within a render pass, through what that render pass does between the two.
    pub(crate) fn leads_within_to(&self, other: &Self) -> bool {
        other.rendering.is_some()
            && self.reaches_into(other.rendering)
            && self.queue == other.queue
            && self.leave < other.enter
            && self.later.intersects(with_earlier(other.scope.src_stages))
    }

    /// Whether it makes an operation's write available itself.
    pub(crate) fn takes(&self, queue: QueueId, position: Position, stage: usize, access: Accesses) -> bool {
        self.queue == queue
            && position < self.enter
            && self.scope.src_stages.contains(leaf(stage))
            && self.scope.src_access.intersects(access)
    }
}

#[cfg(test)]
mod tests {
    use rgraph_ir::id::IdVec;

    use super::*;

    fn scope(src: Stages, dst: Stages) -> Scope {
        Scope {
            src_stages: src,
            src_access: Accesses::SHADER_STORAGE_WRITE,
            dst_stages: dst,
            dst_access: Accesses::SHADER_STORAGE_READ,
        }
    }

    /// Random barriers on one queue and a signal to another: clocks say what a search over all chains says.
    #[test]
    fn clocks_agree_with_a_search_over_all_chains() {
        let stages =
            [Stages::VERTEX_SHADER, Stages::FRAGMENT_SHADER, Stages::COMPUTE_SHADER, Stages::COPY, Stages::HOST];
        let mut random = crate::random::Random::new(7);
        for _ in 0..400 {
            let mut lanes = Lanes::new(3);
            let mut list: Vec<(SyncNode, bool)> = Vec::new();
            let mut now = IdVec::<QueueId, Position>::filled(Position(1), 3);
            let mut signals: Vec<(QueueId, Position, Clock)> = Vec::new();
            let mut waits: Vec<(QueueId, Position, Stages, QueueId, Position)> = Vec::new();
            for _ in 0..14 {
                let queue = QueueId::new(random.below(3) as usize);
                now[queue] = now[queue].later_by(2);
                let at = now[queue];
                if random.chance(1, 4) {
                    signals.push((queue, at, lanes.signal(queue, at)));
                } else if random.chance(1, 3) && !signals.is_empty() {
                    let (from, when, clock) = random.pick(&signals).clone();
                    let dst = *random.pick(&stages);
                    lanes.wait(queue, dst, &clock);
                    waits.push((queue, at, dst, from, when));
                } else {
                    let wanted = scope(*random.pick(&stages), *random.pick(&stages));
                    let clock = lanes.enter(queue, at, wanted.src_stages);
                    let node = SyncNode::new(queue, at, wanted, clock.clone());
                    lanes.publish(queue, node.later, &clock);
                    list.push((node, true));
                }
            }
            // Search: (queue, position, set of stages) states reached from one operation.
            for (from_queue, &end) in now.iter_ids() {
                for from_stage in 0..STAGES {
                    for from_at in (2..end.0 + 2).step_by(2).map(Position) {
                        let mut reached: Vec<(QueueId, Position, Stages)> = Vec::new();
                        let mut seen = std::collections::HashSet::new();
                        let mut work = vec![(from_queue, from_at, leaf(from_stage))];
                        while let Some((queue, at, have)) = work.pop() {
                            if !seen.insert((queue, at, have.bits())) {
                                continue;
                            }
                            reached.push((queue, at, have));
                            for (node, _) in &list {
                                let src = with_earlier(node.scope.src_stages);
                                if node.queue == queue && node.enter > at && src.intersects(have) {
                                    work.push((queue, node.leave, node.later));
                                }
                            }
                            for (to, when, dst, signal_queue, signal_at) in &waits {
                                if *signal_queue == queue && *signal_at > at {
                                    work.push((*to, *when, with_later(*dst)));
                                }
                            }
                        }
                        for queue in now.ids() {
                            for stage in 0..STAGES {
                                let says = ordered(lanes.at(queue, stage), from_queue, from_at, from_stage);
                                let found = reached
                                    .iter()
                                    .skip(1)
                                    .any(|(q, _, have)| *q == queue && have.contains(leaf(stage)));
                                assert_eq!(says, found, "{from_queue:?} {from_at:?} {from_stage} to {queue:?} {stage}");
                            }
                        }
                    }
                }
            }
        }
    }
}
