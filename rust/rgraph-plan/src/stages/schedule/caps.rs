//! Caps for [`overlap`](super::overlap): tries several and keeps the order with the fewest intervals.

use crate::stages::ids::{IntervalId, LiveId, PlaceId};
use std::cmp::Reverse;

use super::instance::Instance;
use super::overlap::{Caps, Most};
use super::{Pool, Scratch, model};
use crate::id::{Id, IdSpan};

/// Caps of [`Scratch::find_late_order`], in the order tried. First: percent of the declared order's peak up to which
/// passes run that could wait without another interval. Second: percent of the cap up to which the others run.
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
/// Percent by which the intervals of a late order may exceed the longest chain.
const LATE_INTERVALS: u32 = 8;
/// Percent of the cap that a late order may keep alive: placement wastes up to the rest.
const LATE_ROOM: u64 = 96;

/// Caps of [`Scratch::find_early_order`], in the order tried; percentages as in [`LATE_CAPS`]. Lower ones leave memory
/// for passes that must run later.
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

/// Number of [`LATE_CAPS`] that an effort tries; each costs about a tenth of a bake at effort 0.
fn late_caps(effort: u32) -> usize {
    match effort {
        0 => 1,
        1 => 2,
        _ => LATE_CAPS.len(),
    }
}

/// Limits for an order of few intervals.
#[derive(Clone, Copy)]
struct Limits {
    /// Peak of the declared order in bytes, at most the cap.
    declared: u64,
    /// Most bytes that the order may keep alive.
    cap: u64,
    /// Whether the declared order's peak is within the cap.
    declared_fits: bool,
    /// Intervals of a late order at most: the longest chain plus [`LATE_INTERVALS`].
    enough: u32,
    /// Intervals of the declared order.
    most: u32,
}

/// A pass, or neighbours in an order that may merge and so stay together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    interval: IntervalId,
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
    /// Sets `overlap_order` to an order of at most [`Limits::enough`] intervals that stays below the cap even if the
    /// bytes that die in an interval are reused only after it: such reuse needs no further barrier call. Returns false
    /// if it finds none.
    fn find_late_order(&mut self, instance: &Instance<'_>, limits: Limits, effort: u32) -> bool {
        let Self { overlap, overlap_order: list, trial, .. } = self;
        let mut best = (u32::MAX, 0);
        let most = Most { intervals: limits.enough, peak: percent(limits.cap, LATE_ROOM) };
        overlap.forget();
        for &(soft, hard) in LATE_CAPS.iter().take(late_caps(effort)) {
            let made = overlap.order(instance, limits.caps(soft, hard, true), most, &mut trial.passes);
            if made.wanted && (made.intervals, made.peak) < best {
                best = (made.intervals, made.peak);
                std::mem::swap(list, &mut trial.passes);
            }
            // No order has fewer intervals than the longest chain.
            if best.0 == overlap.lifts.depth {
                break;
            }
        }
        best.0 != u32::MAX
    }

    /// Sets `overlap_order` to the best order in which passes reuse dying bytes within the interval, which cuts it in
    /// two. Returns false if no order fits the cap.
    fn find_early_order(&mut self, instance: &Instance<'_>, limits: Limits, effort: u32) -> bool {
        let Self { overlap, topology, overlap_order: list, trial, pool, .. } = self;
        let Limits { declared, declared_fits, cap, enough, most } = limits;
        let depth = overlap.lifts.depth;
        // Merged passes, most first; intervals with the cuts that the cap forces; peak. An order with many intervals
        // before any cut pays a third more: it has to save a quarter of the calls, since layered frames otherwise need
        // more than 1.08 times their levels (tests/schedule/layered.rs).
        let mut best = (Reverse(0), u32::MAX, u32::MAX, u64::MAX);
        let price = |passes: &[LiveId], intervals: u32, peak: u64, pool: &mut Pool| {
            let room = model::placeable(cap).max(peak);
            let within = model::intervals_within(instance, passes, room, (&mut pool.places, &mut pool.left));
            let within = within.max(intervals);
            let dear = if intervals > enough { within + within / 3 } else { within };
            (Reverse(model::merged(instance, passes)), dear, within, peak)
        };
        overlap.forget();
        // An order made for the declared peak may need fewer cuts below the cap than one made for the cap.
        for limits in [limits, Limits { cap: declared, ..limits }] {
            for (attempt, &(soft, hard)) in CAPS.iter().enumerate().take(CAPS.len().min(8 + effort as usize)) {
                let most = Most { intervals: most, peak: limits.cap };
                let made = overlap.order(instance, limits.caps(soft, hard, false), most, &mut trial.passes);
                if !made.wanted {
                    continue;
                }
                if !made.again {
                    let priced = price(&trial.passes, made.intervals, made.peak, pool);
                    if priced < best {
                        best = priced;
                        std::mem::swap(list, &mut trial.passes);
                    }
                }
                // The longest chain is the optimum. The first attempt fills memory most; if that leaves less than 3 %
                // of the cap to placement, a second one is made.
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

    /// Sets `overlap_order`, unless it is set, to the order of fewest intervals that is found within the instance's
    /// memory budget.
    pub(super) fn find_overlap_order(&mut self, instance: &Instance<'_>, effort: u32) {
        if !self.overlap_order.is_empty() {
            return;
        }
        let Self { topology, trial, pool, .. } = self;
        topology.chains(instance.deps);
        let declared = model::peak_bytes(instance, &topology.order, &mut pool.left);
        let cap = instance.memory.cap(declared, instance.heap);
        // All passes form one chain: there is no other order.
        if topology.depth as usize == instance.len() {
            self.overlap_order.extend_from_slice(&topology.order);
            return;
        }
        trial.queue.refill(0, instance.len());
        let most = model::intervals(instance, &topology.order, &trial.queue, &mut pool.places);
        let enough = most.min(topology.depth + topology.depth * LATE_INTERVALS / 100);
        let limits = Limits { declared: declared.min(cap), declared_fits: declared <= cap, cap, enough, most };
        let mut found = false;
        // Lifted chains allocate earlier. If no order with them fits the cap, search without them.
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
            self.weigh_intervals(instance, cap);
        }
    }

    /// Sorts the passes of each interval by their longest remaining path in microseconds, longest first; equal ones and
    /// merged ones keep their order. Keeps the result only if it needs no more barrier calls below the cap, and no more
    /// bytes than the cap or the order before. O(passes log passes + edges + uses).
    fn weigh_intervals(&mut self, instance: &Instance<'_>, cap: u64) {
        let Self { topology, overlap_order: list, trial, pool, weighted, runs, .. } = self;
        weighted.tails(instance, topology, instance.queues);
        trial.queue.refill(0, instance.len());
        pool.begins.clear();
        model::walk_intervals(instance, list, &trial.queue, &mut pool.places, |at| pool.begins.push(at));
        let (mut begun, mut begins) = (0, pool.begins.iter().copied().peekable());
        runs.clear();
        for (at, &pass) in list.iter().enumerate() {
            let tail = weighted.tail[pass];
            begun += usize::from(begins.next_if_eq(&PlaceId::new(at)).is_some());
            // The first pass begins an interval.
            let interval = IntervalId::new(begun - 1);
            let merges = at > 0 && instance.may_merge(list[at - 1], pass);
            match runs.last_mut() {
                Some(run) if merges && run.interval == interval => {
                    run.tail = run.tail.max(tail);
                    run.places.grow();
                }
                _ => runs.push(Run { interval, tail, places: IdSpan::new(at, at + 1) }),
            }
        }
        let key = |run: &Run| (run.interval, Reverse(run.tail.to_bits()), run.places.first());
        runs.sort_unstable_by_key(key);
        trial.passes.clear();
        for run in runs.iter() {
            trial.passes.extend_from_slice(&list[run.places.range()]);
        }
        let [new, old] = [&trial.passes, &*list].map(|passes| {
            let calls = model::intervals_within(instance, passes, cap, (&mut pool.places, &mut pool.left));
            (calls, model::peak_bytes(instance, passes, &mut pool.left))
        });
        if new.0 <= old.0 && new.1 <= old.1.max(cap) {
            std::mem::swap(list, &mut trial.passes);
        }
    }
}
