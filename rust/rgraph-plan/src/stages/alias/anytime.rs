//! Better placements for more work: greedy rules, then searches below lower and lower capacities.

use rgraph_ir::id::IdVec;

use super::conflict::Conflicts;
use super::greedy::{self, Greedy, Hole, Order, UNPLACED};
use super::item::{Item, ItemId, Peak};
use super::search::{Outcome, Problem, Search, search};
use super::timeline::Timeline;

/// The searches of a round, in turn: an order, best first, and a threshold in eighths of the lower bound. A search
/// places the items whose contention reaches the threshold; the others are fitted around them. The last one places all
/// items, so it is exact.
const SEARCHES: [(Order, u64); 7] = [
    (Order::ContentionLength, 5),
    (Order::Birth, 6),
    (Order::Area, 7),
    (Order::ContentionSize, 5),
    (Order::ContentionArea, 6),
    (Order::Length, 4),
    (Order::Length, 0),
];

/// The searches below a given capacity, in turn: those of [`SEARCHES`] that find placements of hard instances.
const AIMED: [(Order, u64); 5] = [
    (Order::ContentionLength, 5),
    (Order::Birth, 6),
    (Order::ContentionArea, 6),
    (Order::Length, 4),
    (Order::Length, 0),
];

/// Limit of a shuffle: an item moves back by at most this fraction (1/32) of all items.
const SHUFFLED: u64 = 32;

/// A greedy rule.
#[derive(Clone, Copy)]
enum Greedily {
    Fit(Hole),
    Skyline(Order),
}

/// The rules after the first, which is the skyline by [`Order::ContentionLength`], best first.
const RULES: [Greedily; 5] = [
    Greedily::Fit(Hole::Best),
    Greedily::Skyline(Order::Birth),
    Greedily::Fit(Hole::First),
    Greedily::Skyline(Order::Area),
    Greedily::Skyline(Order::ContentionArea),
];

/// Skylines on one queue, best first.
const SKYLINES: [Order; 6] =
    [Order::ContentionLength, Order::ContentionArea, Order::Birth, Order::Area, Order::ContentionSize, Order::Length];

/// Cost of a conflict in a greedy rule, in items looked at by a search.
const PLACING: u64 = 8;

/// Scratch of [`improve`].
#[derive(Default)]
pub(super) struct Anytime {
    conflicts: Conflicts,
    contention: IdVec<ItemId, u64>,
    order: Vec<ItemId>,
    subset: Vec<ItemId>,
    trial: Vec<u64>,
    greedy: Greedy,
    search: Search,
}

/// The best placement so far and the remaining work.
struct Incumbent<'a> {
    items: &'a [Item],
    timeline: &'a Timeline,
    one_queue: bool,
    offsets: &'a mut Vec<u64>,
    peak: &'a mut Peak,
    /// Lower bound in bytes: no placement is lower.
    low: u64,
    /// Items that may still be looked at.
    work: u64,
}

/// A search below a capacity.
#[derive(Clone, Copy)]
struct Attempt {
    order: Order,
    /// Threshold in eighths of the lower bound: the search is for items whose contention reaches it.
    eighths: u64,
    /// Seed of the shuffle of the order; 0: not shuffled.
    seed: u64,
    capacity: u64,
    /// Most work.
    limit: u64,
}

/// Lowers `peak` and changes `offsets` accordingly as long as that is possible and `work` (items looked at) lasts.
///
/// On one queue skylines come first, which need no conflicts. If finding the conflicts takes more than a quarter of the
/// remaining work, nothing else is tried; if both fits are tried, the result is never above greedy by size. `aim`:
/// bytes that the caller has; if the placement needs more, twice the work is spent on a search below `aim` alone.
pub(super) fn improve<B: Fn(ItemId, ItemId) -> bool>(
    items: &[Item],
    timeline: &Timeline,
    before: Option<&B>,
    (work, aim): (u64, Option<u64>),
    scratch: &mut Anytime,
    offsets: &mut Vec<u64>,
    peak: &mut Peak,
) {
    greedy::contention(timeline, &mut scratch.contention);
    scratch.trial.clear();
    scratch.trial.resize(items.len(), 0);
    let low = peak.lower_bound;
    let one_queue = before.is_none();
    let mut state = Incumbent { items, timeline, one_queue, offsets, peak, low, work };
    // With one queue lives are intervals, so heights per section replace the list of conflicts, which may be quadratic.
    if one_queue {
        for order in SKYLINES {
            if !state.open() || state.work == 0 {
                return;
            }
            state.skyline(order, scratch);
        }
    }
    if !state.open() || !scratch.conflicts.build(items, timeline, before, state.work / 4) {
        return;
    }
    if !one_queue {
        state.skyline_of_conflicts(Order::ContentionLength, scratch);
    }
    for rule in RULES {
        // Near the bound little work is better spent on a search.
        let far = (state.peak.total - low) / 16 > low / 256;
        let price = PLACING * scratch.conflicts.total();
        if !state.open() || state.work < price || (!far && state.work < 8 * price) {
            break;
        }
        match rule {
            Greedily::Fit(hole) => state.fit(hole, scratch),
            Greedily::Skyline(order) if !one_queue => state.skyline_of_conflicts(order, scratch),
            Greedily::Skyline(_) => {}
        }
    }
    state.rounds(scratch);
    if let Some(aim) = aim {
        state.work = work.saturating_mul(2);
        state.aim(aim, scratch);
    }
}

impl Incumbent<'_> {
    fn open(&self) -> bool {
        self.peak.total > self.low
    }

    /// Takes the trial as the best placement if it is lower.
    fn offer(&mut self, total: u64, trial: &mut Vec<u64>) {
        if total < self.peak.total {
            self.peak.total = total;
            std::mem::swap(self.offsets, trial);
        }
    }

    fn sort(&self, order: Order, scratch: &mut Anytime) {
        let Anytime { contention, greedy, order: out, .. } = scratch;
        greedy::sort(self.items, self.timeline, contention, order, greedy, out);
    }

    fn charge(&mut self, scratch: &Anytime) {
        self.peak.nodes += scratch.order.len() as u64;
        self.work = self.work.saturating_sub(PLACING * scratch.conflicts.total());
    }

    fn skyline(&mut self, order: Order, scratch: &mut Anytime) {
        self.sort(order, scratch);
        let Anytime { order, trial, greedy, .. } = scratch;
        let mut spent = PLACING * order.len() as u64;
        let limit = self.peak.total;
        let lower = greedy::skyline_of_sections(self.items, self.timeline, order, limit, greedy, trial, &mut spent);
        self.peak.nodes += order.len() as u64;
        self.work = self.work.saturating_sub(spent);
        if let Some(total) = lower {
            self.offer(total, trial);
        }
    }

    fn skyline_of_conflicts(&mut self, order: Order, scratch: &mut Anytime) {
        self.sort(order, scratch);
        let Anytime { conflicts, order, trial, greedy, .. } = scratch;
        if let Ok(total) = greedy::skyline(self.items, conflicts, order, greedy, trial) {
            self.offer(total, trial);
        }
        self.charge(scratch);
    }

    fn fit(&mut self, hole: Hole, scratch: &mut Anytime) {
        self.sort(Order::Size, scratch);
        let Anytime { conflicts, order, trial, greedy, .. } = scratch;
        trial.fill(UNPLACED);
        if let Ok(total) = greedy::fit(self.items, conflicts, order, hole, greedy, trial) {
            self.offer(total, trial);
        }
        self.charge(scratch);
    }

    /// Searches for a placement of the items that reach the threshold, and fits the others around them.
    fn search(&mut self, attempt: Attempt, scratch: &mut Anytime) -> Outcome {
        let Attempt { order, eighths, seed, capacity, limit } = attempt;
        self.sort(order, scratch);
        let Anytime { conflicts, contention, order, subset, trial, greedy, search: tree, .. } = scratch;
        if seed != 0 {
            greedy.shuffle(seed, order.len() as u64 / SHUFFLED, order);
        }
        let busy = u128::from(self.peak.lower_bound) * u128::from(eighths);
        subset.clear();
        subset.extend(order.iter().filter(|&&id| u128::from(contention[id]) * 8 >= busy));
        trial.fill(UNPLACED);
        let (items, timeline, one_queue) = (self.items, self.timeline, self.one_queue);
        // Only a search for all items can prove that there is no lower placement.
        let problem = Problem { items, timeline, conflicts, capacity, one_queue, exact: eighths == 0 };
        let mut left = limit.min(self.work);
        self.work -= left;
        let outcome = search(&problem, subset, &mut left, tree, trial, &mut self.peak.nodes);
        self.work += left;
        match outcome {
            Outcome::Placed => {
                if let Ok(total) = greedy::fit(self.items, conflicts, order, Hole::Best, greedy, trial) {
                    self.offer(total, trial);
                }
            }
            // An exhausted exact search is a proof: the bound rises, and no later search aims below it.
            Outcome::Impossible => self.low = self.low.max(capacity + 1),
            Outcome::Spent => {}
        }
        outcome
    }

    /// The work of a first search.
    fn first_limit(&self) -> u64 {
        let n = self.items.len() as u64;
        n * (n.min(1000) + 200)
    }

    /// Searches for a placement of at most `aim` bytes, if there is none yet.
    ///
    /// The time of a search varies at random: of searches whose orders differ by a few ranks some take a hundredth of
    /// the others. So two sequences of rounds alternate: one with the orders as they are, whose limits double, and one
    /// with shuffled orders, whose limits grow by a quarter; the second has twice the work of the first.
    fn aim(&mut self, aim: u64, scratch: &mut Anytime) {
        let mut limits = [self.first_limit(); 2];
        let (mut spent, mut seed) = ([0u64; 2], 0);
        // Least price of a round: it sorts and fits even if its searches end early.
        let least = self.items.len() as u64 + scratch.conflicts.total();
        let mut exhausted = false;
        while self.peak.total > aim && self.low <= aim && self.work > 0 {
            let shuffled = usize::from(exhausted || spent[1] <= 2 * spent[0]);
            seed += shuffled as u64;
            let before = self.work;
            let mut cut = false;
            for (order, eighths) in AIMED {
                crate::cancel::poll();
                if self.peak.total > aim && (eighths > 0 || shuffled == 0) {
                    let seed = if shuffled > 0 { seed } else { 0 };
                    let attempt = Attempt { order, eighths, seed, capacity: aim, limit: limits[shuffled] };
                    cut |= matches!(self.search(attempt, scratch), Outcome::Spent);
                }
            }
            // Without a shuffle the same orders give the same result again, unless a limit ended a search.
            exhausted |= shuffled == 0 && !cut;
            self.work = self.work.min(before.saturating_sub(least));
            spent[shuffled] += before - self.work;
            let more = if shuffled > 0 { limits[1] / 4 } else { limits[0] };
            limits[shuffled] = limits[shuffled].saturating_add(more);
        }
    }

    /// Searches with growing limits at two capacities: the lower bound, and half-way between it and the best placement.
    fn rounds(&mut self, scratch: &mut Anytime) {
        let mut limit = self.first_limit();
        let mut target = self.low;
        while self.open() && self.work > 0 {
            for (order, eighths) in SEARCHES {
                crate::cancel::poll();
                let best = self.peak.total;
                target = target.max(self.low);
                // A placement at the bound ends everything, so each order tries that first; half-way down is the
                // likelier success.
                if target > self.low {
                    self.search(Attempt { order, eighths, seed: 0, capacity: self.low, limit }, scratch);
                    if !self.open() || self.work == 0 {
                        return;
                    }
                    target = target.max(self.low);
                }
                self.search(Attempt { order, eighths, seed: 0, capacity: target, limit }, scratch);
                if !self.open() || self.work == 0 {
                    return;
                }
                if self.peak.total < best {
                    target = self.low + (self.peak.total - self.low) / 2;
                }
            }
            target += (self.peak.total - 1).saturating_sub(target) / 2;
            limit += limit / 2;
        }
    }
}
