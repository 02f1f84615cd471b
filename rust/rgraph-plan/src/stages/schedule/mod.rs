//! The order of live passes and their queues.
//!
//! An [`Instance`] lists dependencies, durations, permitted queues and the bytes that passes keep alive, as flat
//! arrays; [`schedule`] fills an [`Order`]. One [`model`] prices the orders of all policies.

mod bits;
pub(crate) mod boxtree;
mod caps;
pub(crate) mod deps;
mod exact;
mod instance;
mod key;
mod known;
mod least;
mod lift;
pub mod model;
mod need;
mod overlap;
mod random;
mod search;
mod serial;
mod share;
mod subsets;
mod weighted;

use crate::stages::ids::{CountedId, LiveId, PlaceId};
pub use boxtree::{BoxId, BoxKind, BoxTree};
pub use deps::{Csr, Cycle, Deps, Topology, topological};
pub use instance::{Bytes, Costs, HOST, Instance, Order, Policy};
pub(crate) use least::least_bytes;
pub use model::{Times, evaluate};
pub(crate) use need::{Why, need};

use crate::id::IdVec;
use crate::plan::QueueWhy;
use caps::Run;
use exact::{ExactScratch, Goal, Problem};
use known::Known;
use overlap::OverlapScratch;
use search::SearchScratch;
use share::Shared;
use subsets::Subsets;
use weighted::{Ranked, WeightedScratch, earliest_finish};

/// Working memory of [`schedule`]; a second call with the same one allocates nothing if the instance is no larger.
#[derive(Default, Debug)]
pub struct Scratch {
    /// The declared order, after a call.
    pub topology: Topology,
    subsets: Subsets,
    overlap: OverlapScratch,
    weighted: WeightedScratch,
    search: SearchScratch,
    exact: ExactScratch,
    /// The order with few intervals and few live bytes; empty until it is found.
    overlap_order: Vec<LiveId>,
    runs: Vec<Run>,
    finish: IdVec<LiveId, f64>,
    /// Whether some pass has an occupancy class.
    classes: bool,
    best: Candidate,
    trial: Candidate,
    /// The best order on the graphics queue, while others are tried.
    kept: Candidate,
    /// The queues of passes that stay there.
    home_queues: IdVec<LiveId, u32>,
    shared: Shared,
    pool: Pool,
    /// The result of the last call with an effort above 0.
    known: Known,
}

/// Buffers for the price of a candidate.
#[derive(Default, Debug)]
struct Pool {
    times: Times,
    places: IdVec<LiveId, PlaceId>,
    begins: Vec<PlaceId>,
    left: IdVec<CountedId, u32>,
}

/// An order with its queues and price.
#[derive(Default, Debug)]
struct Candidate {
    passes: Vec<LiveId>,
    queue: IdVec<LiveId, u8>,
    frame_us: f64,
}

impl Candidate {
    fn reserve(&mut self, passes: usize) {
        self.passes.reserve(passes.saturating_sub(self.passes.len()));
        self.queue.reserve(passes);
    }

    fn copy(&mut self, other: &Self) {
        self.passes.clone_from(&other.passes);
        self.queue.clone_from(&other.queue);
        self.frame_us = other.frame_us;
    }

    /// Whether this one has the shorter frame; on equal frames the cheaper synchronisation, then the lower peak.
    fn beats(&self, other: &Self, instance: &Instance<'_>, pool: &mut Pool) -> bool {
        if other.passes.is_empty() || self.frame_us != other.frame_us {
            return other.passes.is_empty() || self.frame_us < other.frame_us;
        }
        let mut overhead = |of: &Self| model::overhead_us(instance, &of.passes, &of.queue, &mut pool.places);
        let (own, others) = (overhead(self), overhead(other));
        if own != others {
            return own < others;
        }
        let mut peak = |of: &Self| model::peak_bytes(instance, &of.passes, &mut pool.left);
        peak(self) < peak(other)
    }
}

/// Most passes for which the exact policy searches. With more it returns its heuristics' result: within any budget the
/// search opens too few of the partial schedules.
const EXACT_NODES: usize = 1024;

/// Most passes for which efforts 0 and 1 try the portfolio, and only if some pass may run on several queues.
const OPEN_PORTFOLIO: usize = 256;

impl Scratch {
    /// Number of orders that the last search below a memory budget made: its cost, independent of clocks.
    pub fn orders_made(&self) -> u32 {
        self.overlap.made
    }

    /// Keeps the trial if it beats the best. `frame_us`: its frame by its decoder.
    fn keep_better(&mut self, instance: &Instance<'_>, frame_us: f64) {
        let Self { best, trial, pool, classes, .. } = self;
        // Decoders place passes in the order of decisions. Passes of one occupancy class slow each other down by their
        // order of starts, so with classes the model prices the result again.
        trial.frame_us =
            if *classes { evaluate(instance, &trial.passes, &trial.queue, &mut pool.times) } else { frame_us };
        if trial.beats(best, instance, pool) {
            std::mem::swap(best, trial);
        }
    }

    /// Tries the declared or the overlap order on the current choice of queues; each pass takes the queue on which it
    /// ends first.
    fn try_list(&mut self, instance: &Instance<'_>, ranked: &Ranked, declared: bool) {
        let Self { subsets, topology, overlap_order, finish, trial, .. } = self;
        let list = if declared { &topology.order } else { overlap_order };
        trial.passes.clear();
        trial.passes.extend_from_slice(list);
        let frame_us = earliest_finish(instance, list, &subsets.masks, ranked, finish, &mut trial.queue);
        self.keep_better(instance, frame_us);
    }

    fn try_weighted(&mut self, instance: &Instance<'_>, ranked: &Ranked) {
        let Self { subsets, weighted, overlap, topology, trial, .. } = self;
        weighted.tails(instance, topology, &subsets.masks);
        let frame_us =
            weighted.decode(instance, &subsets.masks, ranked, &overlap.mate, &mut trial.passes, &mut trial.queue);
        self.keep_better(instance, frame_us);
    }
}

impl Scratch {
    /// Searches with [`Policy::Overlap`] on one queue, [`Policy::Weighted`] on several; returns the policy.
    fn search_auto(&mut self, instance: &Instance<'_>, effort: u32) -> Policy {
        let policy = if self.subsets.queues() <= 1 { Policy::Overlap } else { Policy::Weighted };
        self.search_all(instance, policy, effort);
        policy
    }

    /// Searches with every pass that may run on several queues on the graphics queue; then on all queues, unless the
    /// lower bound of [`share`] rules a sufficient gain out. Returns the policy, and true if the passes stay on the
    /// graphics queue.
    fn search_sure(&mut self, instance: &Instance<'_>, effort: u32) -> (Policy, bool) {
        let mut queues = std::mem::take(&mut self.home_queues);
        share::at_home(instance, &mut queues);
        let together = Instance { queues: &queues, ..*instance };
        self.subsets.begin(&together);
        let mut policy = self.search_auto(&together, effort);
        let graphics_us = self.shared.frame_us(&together, &self.best.passes, &self.best.queue);
        let mut stays = true;
        if share::may_be_worth_leaving(instance, &self.best.queue, graphics_us) {
            std::mem::swap(&mut self.best, &mut self.kept);
            self.best.passes.clear();
            self.subsets.begin(instance);
            let other = self.search_auto(instance, effort);
            let other_us = self.shared.frame_us(instance, &self.best.passes, &self.best.queue);
            stays = other_us > share::worth_leaving(instance, graphics_us);
            if stays {
                std::mem::swap(&mut self.best, &mut self.kept);
            } else {
                policy = other;
            }
        }
        self.home_queues = queues;
        (policy, stays)
    }

    /// Tries every choice of queues with a policy.
    fn search_all(&mut self, instance: &Instance<'_>, policy: Policy, effort: u32) {
        while let Some(ranked) = self.subsets.next(instance) {
            crate::cancel::poll();
            let several = ranked.as_slice().len() > 1;
            let exact = matches!(policy, Policy::Exact { .. });
            let weighted = exact || policy == Policy::Weighted;
            if policy == Policy::Declared || (weighted && several) {
                self.try_list(instance, &ranked, true);
            }
            if policy == Policy::BoxTree {
                if self.overlap_order.is_empty() {
                    let tree = BoxTree::new(instance.deps)
                        .expect("the dependencies were ordered before, so they have no cycle");
                    self.overlap_order.extend(tree.flatten(instance.weight_us));
                }
                self.try_list(instance, &ranked, false);
            }
            if policy == Policy::Overlap || (weighted && !several) {
                self.find_overlap_order(instance, effort);
                self.try_list(instance, &ranked, false);
            }
            if weighted && several {
                let small = instance.len() <= if exact { EXACT_NODES } else { OPEN_PORTFOLIO };
                if effort > 1 || (small && (exact || self.subsets.open())) {
                    self.find_overlap_order(instance, effort);
                    self.try_portfolio(instance, &ranked, effort);
                } else if effort == 1 {
                    self.try_weighted(instance, &ranked);
                    self.try_justified(instance, &ranked);
                } else {
                    self.try_weighted(instance, &ranked);
                }
            }
        }
    }
}

impl Scratch {
    /// Improves the best by exact search on all queues. If that search runs out of budget, the other choices of queues
    /// are searched too, each with the same budget, so that an additional queue never lengthens the frame.
    fn find_exact(&mut self, instance: &Instance<'_>, nodes: u32, out: &mut Order) {
        if instance.len() > EXACT_NODES {
            return;
        }
        let Self { subsets, topology, exact, best, pool, classes, .. } = self;
        let mut peak = model::peak_bytes(instance, &best.passes, &mut pool.left);
        subsets.begin(instance);
        while let (false, Some(ranked)) = (out.optimal, subsets.next(instance)) {
            crate::cancel::poll();
            let all = ranked.as_slice().len() == subsets.len();
            let problem = Problem { instance, masks: &subsets.masks, ranked: &ranked, topology, classes: *classes };
            let mut left = nodes;
            let shortest = exact.search(problem, Goal::Frame, best, &mut peak, &mut left);
            if all && shortest {
                out.optimal = exact.search(problem, Goal::Bytes, best, &mut peak, &mut left);
            }
            out.nodes_explored = out.nodes_explored.saturating_add(nodes - left);
            if shortest && all {
                return;
            }
        }
    }
}

/// Orders the passes of an instance and gives each a queue.
///
/// `effort` bounds the number of decodes, never the time: 0 decodes once or a few times, 1 a few times more, 2 tries a
/// portfolio of decoders, 3 adds 100 decodes of a search, and each further effort four times as many. Efforts 0 and 1
/// try the portfolio too if there are at most 256 passes, some of which may run on several queues. The same instance,
/// policy and effort give the same order on every machine. An additional queue never lengthens the frame.
///
/// O(passes log passes + edges + uses) at effort 0, times the choices of queues if passes may run on several.
///
/// # Errors
/// A [`Cycle`] if the dependencies have one; `out` is then unchanged.
pub fn schedule(
    instance: &Instance<'_>,
    policy: Policy,
    effort: u32,
    scratch: &mut Scratch,
    out: &mut Order,
) -> Result<(), Cycle> {
    scratch.overlap.made = 0;
    if effort > 0 && scratch.known.find(instance, policy, effort, out) {
        return Ok(());
    }
    make(instance, policy, effort, scratch, out)?;
    if effort > 0 {
        scratch.known.keep(instance, policy, effort, out);
    }
    Ok(())
}

fn make(
    instance: &Instance<'_>,
    policy: Policy,
    effort: u32,
    scratch: &mut Scratch,
    out: &mut Order,
) -> Result<(), Cycle> {
    topological(instance.deps, &mut scratch.topology)?;
    if !instance.merges.is_empty() {
        scratch.topology.chains(instance.deps);
    }
    scratch.overlap.pair(instance, &scratch.topology);
    scratch.classes = instance.class.iter().any(|&class| class != 0);
    scratch.subsets.begin(instance);
    scratch.overlap_order.clear();
    scratch.best.passes.clear();
    // Candidates are swapped, so each needs room for all passes; else a later call might allocate.
    for candidate in [&mut scratch.best, &mut scratch.trial, &mut scratch.kept] {
        candidate.reserve(instance.len());
    }
    scratch.overlap_order.reserve(instance.len());
    scratch.search.reserve(instance.len());
    if let Policy::Random { seed, swaps } = policy {
        let Scratch { topology, best, .. } = scratch;
        random::random(instance, topology, seed, swaps, (&mut best.passes, &mut best.queue));
        (out.optimal, out.nodes_explored) = (false, 0);
        finish(instance, policy, scratch, out);
        return Ok(());
    }
    let (policy, stays) = match policy {
        Policy::Auto | Policy::Proposed if scratch.subsets.open() => scratch.search_sure(instance, effort),
        Policy::Auto | Policy::Proposed => (scratch.search_auto(instance, effort), false),
        named => {
            scratch.search_all(instance, named, effort);
            (named, false)
        }
    };
    out.optimal = false;
    out.nodes_explored = 0;
    if let Policy::Exact { nodes } = policy {
        scratch.find_exact(instance, nodes, out);
    }
    finish(instance, policy, scratch, out);
    if stays {
        let open = out.why_queue.iter_mut().filter(|why| **why == QueueWhy::EarliestFinish);
        open.for_each(|why| *why = QueueWhy::NoGain);
    }
    Ok(())
}

/// Fills an [`Order`] from given passes and queues: each pass once, after its dependencies, on a queue that may run it.
/// O(passes + edges).
pub(crate) fn given(
    instance: &Instance<'_>,
    passes: &[LiveId],
    queue: &IdVec<LiveId, u8>,
    scratch: &mut Scratch,
    out: &mut Order,
) {
    scratch.best.passes.clear();
    scratch.best.passes.extend_from_slice(passes);
    scratch.best.queue.clone_from(queue);
    (out.optimal, out.nodes_explored) = (false, 0);
    finish(instance, Policy::Proposed, scratch, out);
}

fn finish(instance: &Instance<'_>, policy: Policy, scratch: &mut Scratch, out: &mut Order) {
    let Scratch { best, trial, shared, pool, .. } = scratch;
    trial.queue.clear();
    trial.queue.extend(best.queue.iter().map(|&on| if on == HOST { HOST } else { instance.graphics }));
    out.one_queue_us = (trial.queue != best.queue).then(|| shared.frame_us(instance, &best.passes, &trial.queue));
    out.frame_us = evaluate(instance, &best.passes, &best.queue, &mut pool.times);
    out.passes.clear();
    out.passes.extend_from_slice(&best.passes);
    out.queue.clone_from(&best.queue);
    out.why_queue.clear();
    out.why_queue.extend(instance.queues.iter().map(|mask| match mask.count_ones() {
        0 | 1 => QueueWhy::OnlyCapable,
        _ => QueueWhy::EarliestFinish,
    }));
    out.start_us.clear();
    out.start_us.extend(pool.times.start.iter().map(|&at| at as f32));
    out.finish_us.clear();
    out.finish_us.extend(pool.times.finish.iter().map(|&at| at as f32));
    out.policy = policy;
}
