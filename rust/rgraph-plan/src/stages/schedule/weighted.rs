//! List scheduling over several queues in the order of time, the longest remaining path first.

use crate::stages::ids::LiveId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::deps::Topology;
use super::instance::Instance;
use super::key::Key;
use super::lift::Mates;
use super::model::{QUEUES, Queues, available};
use crate::id::IdVec;

/// Working memory.
#[derive(Default, Debug)]
pub(super) struct WeightedScratch {
    /// Longest path from the start of each pass to the end of the frame, in microseconds.
    pub tail: IdVec<LiveId, f32>,
    pending: IdVec<LiveId, u32>,
    finish: IdVec<LiveId, f64>,
    done: IdVec<LiveId, bool>,
    /// By queue: passes that become available at a known later time, and passes available now. A pass that several
    /// queues may run is in the heaps of all; `done` drops the others' entries.
    future: Vec<BinaryHeap<Reverse<(u64, LiveId)>>>,
    ready: Vec<BinaryHeap<Key>>,
}

/// Queues in the order in which ties between them break.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked {
    queue: [u8; QUEUES],
    len: u8,
}

impl Ranked {
    pub(super) fn new() -> Self {
        Self { queue: [0; QUEUES], len: 0 }
    }

    pub(super) fn push(&mut self, queue: u8) {
        self.queue[self.len as usize] = queue;
        self.len += 1;
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.queue[..self.len as usize]
    }
}

impl WeightedScratch {
    /// Fills [`tail`](Self::tail). A hop counts only between passes without a common queue. O(passes + edges).
    pub(super) fn tails(&mut self, instance: &Instance<'_>, topology: &Topology, masks: &IdVec<LiveId, u32>) {
        self.tail.refill(0.0, instance.len());
        for &pass in topology.order.iter().rev() {
            let mut after = 0.0f32;
            for &succ in instance.deps.succs.row(pass) {
                let apart = masks[pass] & masks[succ] == 0;
                after = after.max(self.tail[succ] + if apart { instance.costs.cross_queue_us } else { 0.0 });
            }
            self.tail[pass] = after + instance.weight_us[pass];
        }
    }

    /// Gives each queue that becomes free its next pass, in the order of time: of the passes that it may run and whose
    /// dependencies have ended, the one with the largest `key`, the smaller id on ties. A pass that several queues may
    /// run goes to the first of them that becomes free. The pass that may merge with the last one follows it if it can
    /// start at once.
    ///
    /// Fills `out` with the passes as decided and `queue` by pass, and returns the length of the frame, which is the
    /// model's if no pass has an occupancy class; `ranked` are the queues in use. O(passes · (log passes + queues) +
    /// edges), passes counted once for each queue that may run them.
    ///
    /// # Source
    /// Critical-path list scheduling: Graham, "Bounds on multiprocessing timing anomalies" (1969); Kohler (1975).
    pub(super) fn decode(
        &mut self,
        instance: &Instance<'_>,
        masks: &IdVec<LiveId, u32>,
        ranked: &Ranked,
        mate: &Mates,
        out: &mut Vec<LiveId>,
        queue: &mut IdVec<LiveId, u8>,
    ) -> f64 {
        let n = instance.len();
        self.begin(instance);
        out.clear();
        queue.refill(0, n);
        let mut queues = Queues::new();
        let mut frame = 0.0f64;
        for pass in instance.passes() {
            if self.pending[pass] == 0 {
                self.release(instance, masks, pass, queue, &queues.free);
            }
        }
        while out.len() < n {
            crate::cancel::poll();
            let (mut at, mut on) = (f64::INFINITY, ranked.as_slice()[0]);
            for &candidate in ranked.as_slice() {
                let next = self.next_decision(candidate as usize, queues.free[candidate as usize]);
                if next < at {
                    (at, on) = (next, candidate);
                }
            }
            let pass = self.pick(on as usize, at);
            let mut next = pass;
            let mut start = at;
            loop {
                let weight = f64::from(instance.weight_us[next]);
                let class = instance.class[next];
                let finish = start + weight + queues.slow_down(on as usize, start, weight, class);
                queues.place(on as usize, start, finish, class);
                frame = frame.max(finish);
                self.finish[next] = finish;
                self.done[next] = true;
                queue[next] = on;
                out.push(next);
                for &succ in instance.deps.succs.row(next) {
                    self.pending[succ] -= 1;
                    if self.pending[succ] == 0 {
                        self.release(instance, masks, succ, queue, &queues.free);
                    }
                }
                let can_follow = |&follower: &LiveId| {
                    !self.done[follower]
                        && self.pending[follower] == 0
                        && masks[follower] & (1 << on) != 0
                        && available(instance, follower, on, queue, &self.finish) <= finish
                };
                let Some(follower) = mate[next].filter(can_follow) else { break };
                (next, start) = (follower, finish);
            }
        }
        frame
    }

    /// Fills `out` with the passes by descending key, each after its dependencies. O(passes log passes + edges).
    pub(super) fn list(&mut self, instance: &Instance<'_>, out: &mut Vec<LiveId>) {
        self.begin(instance);
        out.clear();
        for pass in instance.passes() {
            if self.pending[pass] == 0 {
                let key = self.key(pass);
                self.ready[0].push(key);
            }
        }
        while let Some(key) = self.ready[0].pop() {
            crate::cancel::poll();
            let pass = key.pass();
            out.push(pass);
            for &succ in instance.deps.succs.row(pass) {
                self.pending[succ] -= 1;
                if self.pending[succ] == 0 {
                    let key = self.key(succ);
                    self.ready[0].push(key);
                }
            }
        }
    }

    fn begin(&mut self, instance: &Instance<'_>) {
        let n = instance.len();
        self.pending.clear();
        self.pending.extend(instance.passes().map(|pass| instance.deps.preds.row(pass).len() as u32));
        self.finish.refill(0.0, n);
        self.done.refill(false, n);
        self.future.resize_with(QUEUES, BinaryHeap::new);
        self.ready.resize_with(QUEUES, BinaryHeap::new);
        self.future.iter_mut().for_each(BinaryHeap::clear);
        self.ready.iter_mut().for_each(BinaryHeap::clear);
    }

    /// Queues a pass once all its dependencies are placed, at every queue that may run it.
    #[inline]
    fn release(
        &mut self,
        instance: &Instance<'_>,
        masks: &IdVec<LiveId, u32>,
        pass: LiveId,
        queue: &IdVec<LiveId, u8>,
        free: &[f64; QUEUES],
    ) {
        let mut left = masks[pass];
        while left != 0 {
            let on = left.trailing_zeros() as u8;
            left &= left - 1;
            let at = available(instance, pass, on, queue, &self.finish);
            if at <= free[on as usize] {
                let key = self.key(pass);
                self.ready[on as usize].push(key);
            } else {
                // Times are not negative, so their bits sort as they do.
                self.future[on as usize].push(Reverse((at.to_bits(), pass)));
            }
        }
    }

    #[inline]
    fn key(&self, pass: LiveId) -> Key {
        Key::new(self.tail[pass].to_bits(), pass)
    }

    /// The earliest time in microseconds at which the queue can start a pass; infinity if none is queued there.
    #[inline]
    fn next_decision(&mut self, on: usize, free: f64) -> f64 {
        while let Some(&key) = self.ready[on].peek() {
            if !self.done[key.pass()] {
                return free;
            }
            self.ready[on].pop();
        }
        while let Some(&Reverse((at, pass))) = self.future[on].peek() {
            if !self.done[pass] {
                return f64::from_bits(at).max(free);
            }
            self.future[on].pop();
        }
        f64::INFINITY
    }

    #[inline]
    fn pick(&mut self, on: usize, now: f64) -> LiveId {
        while let Some(&Reverse((at, pass))) = self.future[on].peek() {
            if f64::from_bits(at) > now {
                break;
            }
            self.future[on].pop();
            if !self.done[pass] {
                let key = self.key(pass);
                self.ready[on].push(key);
            }
        }
        loop {
            let key = self.ready[on].pop().expect("a queue that can decide has a pass to run");
            let pass = key.pass();
            if !self.done[pass] {
                return pass;
            }
        }
    }
}

/// Gives each pass of an order the permitted queue on which it ends first; ties go to the queue ranked first. Fills
/// `queue` by pass and returns the length of the frame, which is the model's if no pass has an occupancy class.
/// O(passes · queues + edges · queues).
pub(super) fn earliest_finish(
    instance: &Instance<'_>,
    order: &[LiveId],
    masks: &IdVec<LiveId, u32>,
    ranked: &Ranked,
    finish: &mut IdVec<LiveId, f64>,
    queue: &mut IdVec<LiveId, u8>,
) -> f64 {
    finish.refill(0.0, instance.len());
    queue.refill(0, instance.len());
    let mut queues = Queues::new();
    let mut frame = 0.0f64;
    for &pass in order {
        crate::cancel::poll();
        let (weight, class) = (f64::from(instance.weight_us[pass]), instance.class[pass]);
        let mut best = (f64::INFINITY, 0.0, 0u8);
        for &on in ranked.as_slice() {
            if masks[pass] & (1 << on) == 0 {
                continue;
            }
            let start = available(instance, pass, on, queue, finish).max(queues.free[on as usize]);
            let end = start + weight + queues.slow_down(on as usize, start, weight, class);
            if end < best.0 {
                best = (end, start, on);
            }
        }
        let (end, start, on) = best;
        queues.place(on as usize, start, end, class);
        finish[pass] = end;
        queue[pass] = on;
        frame = frame.max(end);
    }
    frame
}
