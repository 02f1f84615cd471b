//! Better schedules for more effort: two dozen decoders, justification, and a random-key search around the best result.
//! Effort bounds the number of decodes, never the time, so the result is the same on every machine.

use super::instance::Instance;
use super::model::evaluate;
use super::serial::{Decode, Rule, Serial};
use super::weighted::Ranked;
use super::{Candidate, Scratch};
use crate::id::{Id, IdVec};
use crate::stages::ids::{LiveId, PlaceId};

/// Decodes that effort 3 adds per choice of queues; each further effort has four times as many.
const DECODES: u32 = 100;

/// Most rounds of a justification; it ends after the first one without a gain.
const ROUNDS: u32 = 4;

/// Decodes without an improvement after which the search returns to the best schedule.
const PATIENCE: u32 = 60;

/// Working memory.
#[derive(Default, Debug)]
pub(super) struct SearchScratch {
    pub serial: Serial,
    /// Passes by longest remaining path.
    critical: Vec<LiveId>,
    list: Vec<LiveId>,
    tail: IdVec<LiveId, f32>,
    keys: IdVec<LiveId, f32>,
    masks: IdVec<LiveId, u32>,
    places: IdVec<LiveId, PlaceId>,
    /// The best on the current choice of queues.
    local: Candidate,
    /// The schedule that the search disturbs next.
    current: Candidate,
    start: IdVec<LiveId, f64>,
}

/// A deterministic random source.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        super::subsets::mix(self.0)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

impl SearchScratch {
    /// Allocates the candidates for that many passes.
    pub(super) fn reserve(&mut self, passes: usize) {
        self.local.reserve(passes);
        self.current.reserve(passes);
    }
}

impl Scratch {
    /// Tries the portfolio, and above effort 2 the search, on the current choice of queues. `self.overlap_order` must
    /// be known. O(decoders · passes log passes), plus the search's decodes.
    ///
    /// # Source
    /// Justification: Valls, Ballestín & Quintanilla, "Justification and RCPSP", EJOR 165 (2005). Random keys: Bean,
    /// "Genetic algorithms and random keys for sequencing and optimization", ORSA J. Computing 6 (1994).
    pub(super) fn try_portfolio(&mut self, instance: &Instance<'_>, ranked: &Ranked, effort: u32) {
        self.search.local.passes.clear();
        self.weighted.tails(instance, &self.topology, &self.subsets.masks);
        let bound = self.bound(instance);
        let search = &mut self.search;
        search.tail.clone_from(&self.weighted.tail);
        search.places.refill(PlaceId::new(0), instance.len());
        for (place, &pass) in self.topology.order.iter().enumerate() {
            search.places[pass] = PlaceId::new(place);
        }
        search.critical.clear();
        search.critical.extend_from_slice(&self.topology.order);
        // Longest remaining path first. A pass of weight 0 has the same path as its successor, so ties are broken by
        // the declared order, which puts it first.
        search.critical.sort_unstable_by(|&a, &b| {
            let (tail, places) = (&search.tail, &search.places);
            tail[b].total_cmp(&tail[a]).then(places[a].cmp(&places[b]))
        });
        self.decode_in_time(instance, ranked, false);
        self.justify(instance, ranked, ROUNDS);
        'all: for order in 0..3 {
            // Rules choose among queues. If no pass has a choice, all rules give the same result.
            for &rule in if self.subsets.open() { &Rule::ALL[..] } else { &Rule::ALL[..1] } {
                for gaps in [false, true] {
                    if self.search.local.frame_us <= bound {
                        break 'all;
                    }
                    let list = match order {
                        0 => &self.search.critical,
                        1 => &self.topology.order,
                        _ => &self.overlap_order,
                    };
                    self.search.list.clear();
                    self.search.list.extend_from_slice(list);
                    self.decode_list(instance, ranked, Decode { rule, gaps, backward: false }, false);
                }
            }
        }
        self.take_local_as_trial();
        self.justify(instance, ranked, ROUNDS);
        let decodes = if effort < 3 { 0 } else { DECODES.saturating_mul(4u32.saturating_pow(effort - 3)) };
        self.random_keys(instance, ranked, bound, decodes);
        let Self { trial, search, .. } = self;
        std::mem::swap(trial, &mut search.local);
        let frame_us = trial.frame_us;
        self.keep_better(instance, frame_us);
    }

    /// Justifies the best schedule on the current choice of queues: moves its passes as late, then as early as
    /// possible.
    pub(super) fn try_justified(&mut self, instance: &Instance<'_>, ranked: &Ranked) {
        self.weighted.tails(instance, &self.topology, &self.subsets.masks);
        let bound = self.bound(instance);
        if self.best.frame_us <= bound {
            return;
        }
        self.search.local.passes.clear();
        self.search.tail.clone_from(&self.weighted.tail);
        self.search.places.refill(PlaceId::new(0), instance.len());
        let Self { trial, best, .. } = self;
        trial.copy(best);
        self.keep_local(instance);
        self.justify(instance, ranked, 1);
        let Self { trial, search, .. } = self;
        std::mem::swap(trial, &mut search.local);
        let frame_us = trial.frame_us;
        self.keep_better(instance, frame_us);
    }

    /// A lower bound of the frame on the current choice of queues: the longest path, the work of each queue's own
    /// passes, and all work divided by the number of queues. O(passes).
    fn bound(&mut self, instance: &Instance<'_>) -> f64 {
        let masks = &self.subsets.masks;
        let tail = &self.weighted.tail;
        let longest = tail.iter().fold(0.0f32, |longest, &tail| longest.max(tail));
        let mut load = [0.0f64; 32];
        let mut used = 0u32;
        for (pass, &mask) in masks.iter_ids() {
            used |= mask;
            if mask.is_power_of_two() {
                load[mask.trailing_zeros() as usize] += f64::from(instance.weight_us[pass]);
            }
        }
        let total: f64 = instance.weight_us.iter().map(|&weight| f64::from(weight)).sum();
        let busiest = load.iter().fold(total / f64::from(used.count_ones().max(1)), |most, &load| most.max(load));
        // Paths are sums in single precision, and loads are added in another order than a frame. Allow for the
        // rounding.
        f64::from(longest).max(busiest) * (1.0 - 1e-6)
    }

    /// Keeps the trial if it is the best on this choice of queues. Returns its frame in microseconds by the model.
    fn keep_local(&mut self, instance: &Instance<'_>) -> f64 {
        let Self { trial, pool, search, .. } = self;
        trial.frame_us = evaluate(instance, &trial.passes, &trial.queue, &mut pool.times);
        search.start.clone_from(&pool.times.start);
        if search.local.passes.is_empty() || trial.frame_us < search.local.frame_us {
            search.local.copy(trial);
        }
        trial.frame_us
    }

    fn take_local_as_trial(&mut self) {
        self.trial.copy(&self.search.local);
    }

    /// Decodes in the order of time: with the search's keys and masks if `keyed`, else with the longest paths.
    fn decode_in_time(&mut self, instance: &Instance<'_>, ranked: &Ranked, keyed: bool) -> f64 {
        let Self { subsets, weighted, overlap, trial, search, .. } = self;
        let keys = if keyed { &search.keys } else { &search.tail };
        weighted.tail.clone_from(keys);
        let masks = if keyed { &search.masks } else { &subsets.masks };
        weighted.decode(instance, masks, ranked, &overlap.mate, &mut trial.passes, &mut trial.queue);
        self.keep_local(instance)
    }

    /// Decodes `search.list`.
    fn decode_list(&mut self, instance: &Instance<'_>, ranked: &Ranked, how: Decode, keyed: bool) -> f64 {
        let Self { subsets, trial, search, .. } = self;
        let masks = if keyed { &search.masks } else { &subsets.masks };
        let queue = &mut trial.queue;
        search.serial.decode(instance, (masks, ranked), &search.tail, &search.list, how, queue);
        for (place, &pass) in search.list.iter().enumerate() {
            crate::cancel::poll();
            search.places[pass] = PlaceId::new(place);
        }
        trial.passes.clear();
        trial.passes.extend_from_slice(&search.list);
        let (start, places) = (&search.serial.start, &search.places);
        trial.passes.sort_unstable_by(|&a, &b| start[a].total_cmp(&start[b]).then(places[a].cmp(&places[b])));
        if how.backward {
            trial.passes.reverse();
        }
        self.keep_local(instance)
    }

    /// Moves the trial's passes as late as possible, then as early as possible, until a round gains nothing.
    fn justify(&mut self, instance: &Instance<'_>, ranked: &Ranked, rounds: u32) {
        let mut frame = self.trial.frame_us;
        for _ in 0..rounds {
            let before = frame;
            for backward in [true, false] {
                self.list_by_time(backward);
                let how = Decode { rule: Rule::EarliestFinish, gaps: true, backward };
                frame = self.decode_list(instance, ranked, how, false);
            }
            if frame >= before {
                return;
            }
        }
    }

    /// Fills `search.list` with the trial's passes by modelled start, or, backward, by modelled end, the last first.
    fn list_by_time(&mut self, backward: bool) {
        let Self { trial, pool, search, .. } = self;
        for (place, &pass) in trial.passes.iter().enumerate() {
            search.places[pass] = PlaceId::new(place);
        }
        search.list.clear();
        search.list.extend_from_slice(&trial.passes);
        let places = &search.places;
        if backward {
            let end = &pool.times.finish;
            search.list.sort_unstable_by(|&a, &b| end[b].total_cmp(&end[a]).then(places[b].cmp(&places[a])));
        } else {
            let start = &pool.times.start;
            search.list.sort_unstable_by(|&a, &b| start[a].total_cmp(&start[b]).then(places[a].cmp(&places[b])));
        }
    }

    /// Repeatedly disturbs keys and queues of the current schedule, decodes them, and continues from the result unless
    /// it is longer.
    fn random_keys(&mut self, instance: &Instance<'_>, ranked: &Ranked, bound: f64, decodes: u32) {
        let n = instance.len();
        let mut random = Random(n as u64);
        self.take_local_as_trial();
        self.keep_local(instance);
        self.search.current.copy(&self.trial);
        let mut stale = 0;
        for round in 0..decodes {
            crate::cancel::poll();
            if self.search.local.frame_us <= bound {
                return;
            }
            if stale == PATIENCE {
                stale = 0;
                let Self { search, .. } = self;
                search.current.copy(&search.local);
            }
            // The keys are the starts of the current schedule: without a disturbance the decoder returns a schedule
            // that is no longer.
            let Self { search, subsets, pool, .. } = self;
            let SearchScratch { keys, masks, current, tail, .. } = search;
            let frame = evaluate(instance, &current.passes, &current.queue, &mut pool.times);
            let noise = frame * [0.02, 0.05, 0.15, 0.4][random.below(4) as usize];
            let share = [0.05, 0.15, 0.5][random.below(3) as usize];
            let loose = [0.0, 0.1, 0.3, 1.0][random.below(4) as usize];
            let by_tail = random.below(8) == 0;
            keys.clear();
            masks.clear();
            for (pass, &tail) in tail.iter_ids() {
                let base = if by_tail { f64::from(tail) } else { frame - pool.times.start[pass] };
                let moved = if random.unit() < share { (random.unit() - 0.5) * 2.0 * noise } else { 0.0 };
                keys.push((base + moved).max(0.0) as f32);
                let free = subsets.masks[pass];
                let open = !free.is_power_of_two() && random.unit() < loose;
                masks.push(if open { free } else { 1 << current.queue[pass] });
            }
            let mut length = if round % 3 == 2 {
                self.list_by_key(instance);
                self.decode_list(
                    instance,
                    ranked,
                    Decode { rule: Rule::EarliestFinish, gaps: true, backward: false },
                    true,
                )
            } else {
                self.decode_in_time(instance, ranked, true)
            };
            if round % 4 == 3 {
                self.justify(instance, ranked, ROUNDS);
                length = self.trial.frame_us;
            }
            let search = &mut self.search;
            stale += 1;
            if length < search.current.frame_us {
                stale = 0;
            }
            if length <= search.current.frame_us {
                search.current.copy(&self.trial);
            }
        }
    }

    /// Fills `search.list` with the passes by descending key, each after its dependencies.
    fn list_by_key(&mut self, instance: &Instance<'_>) {
        let Self { search, weighted, .. } = self;
        weighted.tail.clone_from(&search.keys);
        weighted.list(instance, &mut search.list);
    }
}
