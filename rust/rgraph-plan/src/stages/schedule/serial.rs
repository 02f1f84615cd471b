//! Serial list scheduling: places the passes of a list one after the other, each on a queue chosen by a [`Rule`],
//! forwards or backwards in time, with or without filling the gaps that earlier passes left.

use super::instance::Instance;
use super::model::QUEUES;
use super::weighted::Ranked;
use crate::id::IdVec;
use crate::stages::ids::LiveId;

/// How a pass that several queues may run gets its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// The queue on which it ends first.
    EarliestFinish,
    /// The queue with the earliest end of the longest path through it: hops to successors that cannot run there count.
    Onward,
    /// The queue of the predecessor that ends last, unless another queue ends the pass more than a hop earlier.
    Producer,
    /// The first queue, unless another one ends the pass more than a hop earlier.
    First,
}

impl Rule {
    pub(super) const ALL: [Self; 4] = [Self::EarliestFinish, Self::Onward, Self::Producer, Self::First];
}

/// How a list is decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decode {
    /// The choice of queues.
    pub rule: Rule,
    /// Whether a pass may start in a gap between passes that were placed before it.
    pub gaps: bool,
    /// Whether time runs backwards: the list begins with the pass that ends last.
    pub backward: bool,
}

/// Working memory, and the schedule that the last decode made.
#[derive(Default, Debug)]
pub(super) struct Serial {
    /// Starts by pass in microseconds: from the start of the frame, or, backward, from its end.
    pub start: IdVec<LiveId, f64>,
    finish: IdVec<LiveId, f64>,
    /// By queue: start and end of the passes placed there, ascending.
    busy: Vec<Vec<(f64, f64)>>,
}

impl Serial {
    /// Decodes a list in which each pass comes after its dependencies (before them, if backward). Fills
    /// [`start`](Self::start) and `queue` by pass, and returns the length of the frame without the slow-down of
    /// occupancy classes, which only the model counts. O(passes · queues · gaps looked at + edges · queues).
    ///
    /// # Source
    /// Insertion: Topcuoglu, Hariri & Wu, "HEFT", IEEE TPDS 13 (2002).
    pub(super) fn decode(
        &mut self,
        instance: &Instance<'_>,
        (masks, ranked): (&IdVec<LiveId, u32>, &Ranked),
        tail: &IdVec<LiveId, f32>,
        list: &[LiveId],
        how: Decode,
        queue: &mut IdVec<LiveId, u8>,
    ) -> f64 {
        let n = instance.len();
        let cross = f64::from(instance.costs.cross_queue_us);
        self.start.refill(0.0, n);
        self.finish.refill(0.0, n);
        self.busy.resize_with(QUEUES, Vec::new);
        self.busy.iter_mut().for_each(Vec::clear);
        queue.refill(0, n);
        let (before, after) = if how.backward {
            (&instance.deps.succs, &instance.deps.preds)
        } else {
            (&instance.deps.preds, &instance.deps.succs)
        };
        let mut frame = 0.0f64;
        for &pass in list {
            crate::cancel::poll();
            let weight = f64::from(instance.weight_us[pass]);
            let preds = before.row(pass);
            let open = !masks[pass].is_power_of_two();
            let producer = match how.rule {
                Rule::Producer if open => {
                    let last = preds
                        .iter()
                        .copied()
                        .max_by(|&a, &b| self.finish[a].total_cmp(&self.finish[b]).then(b.cmp(&a)));
                    last.map(|pred| queue[pred])
                }
                _ => None,
            };
            let mut best = (f64::INFINITY, 0.0, 0u8, 0usize);
            let mut first = true;
            for &on in ranked.as_slice() {
                if masks[pass] & (1 << on) == 0 {
                    continue;
                }
                let at = preds.iter().fold(0.0f64, |at, &pred| {
                    let hop = if queue[pred] == on { 0.0 } else { cross };
                    at.max(self.finish[pred] + hop)
                });
                let (start, position) = self.place(on, at, weight, how.gaps);
                let mut price = start + weight;
                if open {
                    price += match how.rule {
                        Rule::EarliestFinish => 0.0,
                        Rule::Onward => {
                            let onward = |hop: f64, &succ: &LiveId| {
                                let needed = if masks[succ] & (1 << on) == 0 { cross } else { 0.0 };
                                hop.max(needed + f64::from(tail[succ]))
                            };
                            if how.backward { 0.0 } else { after.row(pass).iter().fold(0.0, onward) }
                        }
                        // A discount of a hop, so that only a queue that gains more than a hop beats this one.
                        Rule::Producer => {
                            if producer == Some(on) {
                                -cross
                            } else {
                                0.0
                            }
                        }
                        Rule::First => {
                            if first {
                                -cross
                            } else {
                                0.0
                            }
                        }
                    };
                }
                first = false;
                if price < best.0 {
                    best = (price, start, on, position);
                }
            }
            let (_, start, on, position) = best;
            self.busy[on as usize].insert(position, (start, start + weight));
            self.start[pass] = start;
            self.finish[pass] = start + weight;
            queue[pass] = on;
            frame = frame.max(start + weight);
        }
        frame
    }

    /// The earliest start, not before `at`, at which the queue is idle for `weight` microseconds, and the position
    /// among its passes.
    fn place(&self, on: u8, at: f64, weight: f64, gaps: bool) -> (f64, usize) {
        let busy = &self.busy[on as usize];
        let free = busy.last().map_or(0.0, |&(_, end)| end);
        if !gaps || at >= free {
            return (at.max(free), busy.len());
        }
        let mut position = busy.partition_point(|&(_, end)| end <= at);
        let mut from = at;
        while let Some(&(start, end)) = busy.get(position) {
            if from + weight <= start {
                break;
            }
            from = end.max(from);
            position += 1;
        }
        (from, position)
    }
}
