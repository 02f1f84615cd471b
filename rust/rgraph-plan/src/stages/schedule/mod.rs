//! The order of live passes and their queues.
//!
//! Arrays in, arrays out: an [`Instance`] says what depends on what, how long each pass takes, which
//! queues may run it and which bytes it keeps alive; [`schedule`] fills an [`Order`]. One [`model`] prices every
//! order, whatever policy made it.

mod bits;
pub(crate) mod boxtree;
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

pub use boxtree::{BoxKind, BoxTree};
pub use deps::{Csr, Cycle, Deps, Topology, topological};
pub use instance::{Bytes, Costs, CountedId, HOST, Instance, Order, PlaceId, Policy};
pub(crate) use least::least_bytes;
pub use model::{Times, evaluate};
pub(crate) use need::{Why, need};

use std::cmp::Reverse;

use crate::id::{Id, IdSpan, IdVec};
use crate::plan::QueueWhy;
use crate::stages::cull::LiveId;
use exact::{ExactScratch, Goal, Problem};
use known::Known;
use overlap::{Caps, Most, OverlapScratch};
use search::SearchScratch;
use share::Shared;
use subsets::Subsets;
use weighted::{Ranked, WeightedScratch, earliest_finish};

/// Working memory of [`schedule`]; a second call with the same one allocates nothing if the job is no larger.
#[derive(Default, Debug)]
pub struct Scratch {
    /// The declared order, after a call.
    pub topology: Topology,
    subsets: Subsets,
    overlap: OverlapScratch,
    weighted: WeightedScratch,
    search: SearchScratch,
    exact: ExactScratch,
    /// The order of few groups and bytes, once it is known.
    overlap_order: Vec<LiveId>,
    units: Vec<Unit>,
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
    /// What the last call made, with an effort above 0.
    known: Known,
}

/// What pricing a candidate needs.
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

    /// Whether this one is to be preferred: a shorter frame, then less synchronisation, then fewer live bytes.
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

/// Soft and hard caps that are tried for orders in which groups free bytes late: percent of the declared order's peak
/// up to which passes run that could wait, and of the cap up to which passes run that would cost a group.
const LATE_CAPS: [(u64, u64); 12] = [
    (90, 95),
    (80, 95),
    (70, 95),
    (60, 95),
    (95, 95),
    (50, 95),
    (85, 95),
    (75, 95),
    (65, 95),
    (40, 95),
    (93, 95),
    (30, 95),
];
/// Groups beyond the longest chain that such an order may need, in percent.
const LATE_GROUPS: u32 = 8;
/// Percent of the cap that such an order may keep alive: the rest is room for placement.
const LATE_ROOM: u64 = 96;

/// Percentages of the declared order's peak and of the cap up to which waiting and urgent passes fill memory, in the
/// order tried. Lower ones leave room for what has to run later, and are tried where the first run out of it.
const CAPS: [(u64, u64); 12] = [
    (70, 100),
    (90, 100),
    (80, 100),
    (60, 100),
    (50, 100),
    (80, 90),
    (70, 80),
    (60, 70),
    (95, 100),
    (100, 100),
    (90, 95),
    (50, 60),
];

/// Passes beyond which the exact policy is its heuristics alone: it could not open enough partial schedules to matter.
const EXACT_NODES: usize = 1024;

/// Passes up to which effort 0 tries the portfolio where queues are left open: that is where it gains most.
const OPEN_PORTFOLIO: usize = 256;

/// Late orders that an effort tries: each costs about a tenth of a bake at effort 0.
fn late_caps(effort: u32) -> usize {
    match effort {
        0 => 1,
        1 => 2,
        _ => LATE_CAPS.len(),
    }
}

/// What an order of few groups has to keep to.
#[derive(Clone, Copy)]
struct Limits {
    /// Most bytes that the declared order keeps alive, or the cap if that is less.
    declared: u64,
    /// Most bytes that the order may keep alive.
    cap: u64,
    /// Whether the declared order keeps to the cap.
    declared_fits: bool,
    /// Most groups that are still few.
    enough: u32,
    /// Groups of the declared order.
    most: u32,
}

/// Passes of an order that stay side by side.
#[derive(Clone, Copy, Debug)]
struct Unit {
    group: u32,
    /// Longest remaining path of its passes in microseconds: not negative, so its bits sort as it does.
    tail: f32,
    places: IdSpan<PlaceId>,
}

impl Limits {
    fn caps(self, soft: u64, hard: u64, late: bool) -> Caps {
        Caps { soft: percent(self.declared, soft), hard: percent(self.cap, hard), late }
    }
}

fn percent(of: u64, percent: u64) -> u64 {
    (u128::from(of) * u128::from(percent) / 100) as u64
}

impl Scratch {
    /// How many orders below a memory budget the last search made: what it cost, whatever a clock says.
    pub fn orders_made(&self) -> u32 {
        self.overlap.made
    }

    /// Keeps the trial, whose frame a decoder found to be that long, if it is the best so far.
    fn judge(&mut self, instance: &Instance<'_>, frame_us: f64) {
        let Self { best, trial, pool, classes, .. } = self;
        trial.frame_us =
            if *classes { evaluate(instance, &trial.passes, &trial.queue, &mut pool.times) } else { frame_us };
        if trial.beats(best, instance, pool) {
            std::mem::swap(best, trial);
        }
    }

    /// Tries an order on the current choice of queues, each pass where it ends first.
    fn try_list(&mut self, instance: &Instance<'_>, ranked: &Ranked, declared: bool) {
        let Self { subsets, topology, overlap_order, finish, trial, .. } = self;
        let list = if declared { &topology.order } else { overlap_order };
        trial.passes.clear();
        trial.passes.extend_from_slice(list);
        let frame_us = earliest_finish(instance, list, &subsets.masks, ranked, finish, &mut trial.queue);
        self.judge(instance, frame_us);
    }

    fn try_weighted(&mut self, instance: &Instance<'_>, ranked: &Ranked) {
        let Self { subsets, weighted, overlap, topology, trial, .. } = self;
        weighted.tails(instance, topology, &subsets.masks);
        let frame_us =
            weighted.decode(instance, &subsets.masks, ranked, &overlap.mate, &mut trial.passes, &mut trial.queue);
        self.judge(instance, frame_us);
    }

    /// Makes `overlap_order` an order of hardly more groups than there must be, in which no group needs more bytes than
    /// the cap even if bytes that die in it are reused only after it ends; false if none was found.
    fn find_late_order(&mut self, instance: &Instance<'_>, limits: Limits, effort: u32) -> bool {
        let Self { overlap, overlap_order: list, trial, .. } = self;
        let mut best = (u32::MAX, 0);
        let most = Most { groups: limits.enough, peak: percent(limits.cap, LATE_ROOM) };
        overlap.forget();
        for &(soft, hard) in LATE_CAPS.iter().take(late_caps(effort)) {
            let made = overlap.order(instance, limits.caps(soft, hard, true), most, &mut trial.passes);
            if made.wanted && (made.groups, made.peak) < best {
                best = (made.groups, made.peak);
                std::mem::swap(list, &mut trial.passes);
            }
            if best.0 == overlap.lifts.depth {
                break;
            }
        }
        best.0 != u32::MAX
    }

    /// Makes `overlap_order` the best order in which dying bytes are reused at once, for a cut of its group;
    /// false if none fits.
    fn find_early_order(&mut self, instance: &Instance<'_>, limits: Limits, effort: u32) -> bool {
        let Self { overlap, topology, overlap_order: list, trial, pool, .. } = self;
        let Limits { declared, declared_fits, cap, enough, most } = limits;
        let depth = overlap.lifts.depth;
        // Passes that merge, groups once they are cut for the cap (a third more where there are many before), and
        // bytes.
        let mut best = (Reverse(0), u32::MAX, u32::MAX, u64::MAX);
        let price = |passes: &[LiveId], groups: u32, peak: u64, pool: &mut Pool| {
            let room = model::placeable(cap).max(peak);
            let within = model::groups_within(instance, passes, room, (&mut pool.places, &mut pool.left));
            let within = within.max(groups);
            let dear = if groups > enough { within + within / 3 } else { within };
            (Reverse(model::merged(instance, passes)), dear, within, peak)
        };
        overlap.forget();
        // Orders for fewer bytes than the cap may need fewer cuts below it.
        for limits in [limits, Limits { cap: declared, ..limits }] {
            for (attempt, &(soft, hard)) in CAPS.iter().enumerate().take(CAPS.len().min(8 + effort as usize)) {
                let most = Most { groups: most, peak: limits.cap };
                let made = overlap.order(instance, limits.caps(soft, hard, false), most, &mut trial.passes);
                if !made.wanted {
                    continue;
                }
                if !made.again {
                    let priced = price(&trial.passes, made.groups, made.peak, pool);
                    if priced < best {
                        best = priced;
                        std::mem::swap(list, &mut trial.passes);
                    }
                }
                if best.2 == depth && (attempt > 0 || best.3 <= percent(limits.cap, 97)) {
                    break;
                }
            }
            if best.2 <= enough || cap <= declared {
                break;
            }
        }
        if (best.2 > depth || !instance.merges.is_empty()) && declared_fits {
            let declared = price(&topology.order, most, declared, pool);
            if declared < best {
                best = declared;
                list.clear();
                list.extend_from_slice(&topology.order);
            }
        }
        best.2 != u32::MAX
    }

    /// Makes `overlap_order` the order of fewest groups found that keeps no more bytes alive than the job's budget
    /// allows, unless it is known.
    fn find_overlap_order(&mut self, instance: &Instance<'_>, effort: u32) {
        if !self.overlap_order.is_empty() {
            return;
        }
        let Self { topology, trial, pool, .. } = self;
        topology.chains(instance.deps);
        let declared = model::peak_bytes(instance, &topology.order, &mut pool.left);
        let cap = instance.memory.cap(declared, instance.heap);
        if topology.depth as usize == instance.len() {
            self.overlap_order.extend_from_slice(&topology.order);
            return;
        }
        trial.queue.refill(0, instance.len());
        let most = model::groups(instance, &topology.order, &trial.queue, &mut pool.places);
        let enough = most.min(topology.depth + topology.depth * LATE_GROUPS / 100);
        let limits = Limits { declared: declared.min(cap), declared_fits: declared <= cap, cap, enough, most };
        let mut found = false;
        for lifts in [true, false] {
            self.overlap.lift(instance, &self.topology, lifts && !instance.merges.is_empty());
            found = self.find_late_order(instance, limits, effort) || self.find_early_order(instance, limits, effort);
            if found || !self.overlap.lifts.any {
                break;
            }
        }
        if !found {
            self.overlap_order.clear();
            self.overlap_order.extend_from_slice(&self.topology.order);
        }
        if instance.measured {
            self.weigh_groups(instance, cap);
        }
    }

    /// Orders the passes of each group by what they hold up: the longest remaining path first, in microseconds. Merged
    /// passes stay together, and passes that wait for equally much as they were. Bytes keep the order as it was if the
    /// new one would need more barrier calls below the cap. O(passes log passes + edges + uses).
    fn weigh_groups(&mut self, instance: &Instance<'_>, cap: u64) {
        let Self { topology, overlap_order: list, trial, pool, weighted, units, .. } = self;
        weighted.tails(instance, topology, instance.queues);
        trial.queue.refill(0, instance.len());
        pool.begins.clear();
        model::walk_groups(instance, list, &trial.queue, &mut pool.places, |at| pool.begins.push(at));
        let (mut group, mut begins) = (0, pool.begins.iter().copied().peekable());
        units.clear();
        for (at, &pass) in list.iter().enumerate() {
            let tail = weighted.tail[pass];
            group += u32::from(begins.next_if_eq(&PlaceId::new(at)).is_some());
            let merges = at > 0 && instance.may_merge(list[at - 1], pass);
            match units.last_mut() {
                Some(unit) if merges && unit.group == group => {
                    unit.tail = unit.tail.max(tail);
                    unit.places.grow();
                }
                _ => units.push(Unit { group, tail, places: IdSpan::new(at, at + 1) }),
            }
        }
        let key = |unit: &Unit| (unit.group, Reverse(unit.tail.to_bits()), unit.places.first());
        units.sort_unstable_by_key(key);
        trial.passes.clear();
        for unit in units.iter() {
            trial.passes.extend_from_slice(&list[unit.places.range()]);
        }
        let [new, old] = [&trial.passes, &*list].map(|passes| {
            let calls = model::groups_within(instance, passes, cap, (&mut pool.places, &mut pool.left));
            (calls, model::peak_bytes(instance, passes, &mut pool.left))
        });
        if new.0 <= old.0 && new.1 <= old.1.max(cap) {
            std::mem::swap(list, &mut trial.passes);
        }
    }
}

impl Scratch {
    /// Searches with the policy that suits the queues in use, and returns it.
    fn search_auto(&mut self, instance: &Instance<'_>, effort: u32) -> Policy {
        let policy = if self.subsets.queues() <= 1 { Policy::Overlap } else { Policy::Weighted };
        self.search_all(instance, policy, effort);
        policy
    }

    /// Searches with every pass that may run on several queues on the graphics queue, and on all queues if those could
    /// be worth it. Returns the policy, and whether passes stay.
    fn search_sure(&mut self, instance: &Instance<'_>, effort: u32) -> (Policy, bool) {
        let mut queues = std::mem::take(&mut self.home_queues);
        share::at_home(instance, &mut queues);
        let home = Instance { queues: &queues, ..*instance };
        self.subsets.begin(&home);
        let mut policy = self.search_auto(&home, effort);
        let home_us = self.shared.frame_us(&home, &self.best.passes, &self.best.queue);
        let mut stays = true;
        if share::may_be_worth_leaving(instance, &self.best.queue, home_us) {
            std::mem::swap(&mut self.best, &mut self.kept);
            self.best.passes.clear();
            self.subsets.begin(instance);
            let other = self.search_auto(instance, effort);
            let other_us = self.shared.frame_us(instance, &self.best.passes, &self.best.queue);
            stays = other_us > share::worth_leaving(instance, home_us);
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
                    let passes = tree.flatten(instance.weight_us.as_slice());
                    self.overlap_order.extend(passes.into_iter().map(|pass| LiveId::new(pass as usize)));
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
    /// Improves the best by exact search: on all queues, and if that ends undecided on every other choice too, each
    /// with the same budget, so that more queues still never lengthen the frame.
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

/// Orders the passes of a job and gives each a queue.
///
/// `effort` 0 decodes once or a few times, 1 a few times more (but both try the portfolio where up to 256 passes leave
/// their queues open), 2 tries a portfolio of decoders, 3 adds 100 decodes of a search, and each further one four times
/// as many: counted, never timed. The same job,
/// policy and effort give the same order everywhere. Passes that may run on several queues never make the frame longer
/// by having more to choose from.
///
/// O(passes log passes + edges + uses) at effort 0, times the choices of queues where passes leave them open.
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
    scratch.classes = instance.unit.iter().any(|&unit| unit != 0);
    scratch.subsets.begin(instance);
    scratch.overlap_order.clear();
    scratch.best.passes.clear();
    // Candidates change places, so each must have room for all passes from the first call on.
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

/// Fills an [`Order`] with passes and queues that are given: each pass once, after what it depends on, on a queue that
/// may run it. O(passes + edges).
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
    trial.queue.extend(best.queue.iter().map(|&on| if on == HOST { HOST } else { instance.home }));
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
