//! The frame over several queues: list scheduling in the order of time, longest remaining path first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::deps::Topology;
use super::instance::Instance;
use super::model::{QUEUES, Queues, available};

/// Working memory.
#[derive(Default, Debug)]
pub(super) struct WeightedScratch {
    /// Longest path from the start of each pass to the end of the frame, in microseconds.
    pub tail: Vec<f32>,
    pending: Vec<u32>,
    finish: Vec<f64>,
    done: Vec<bool>,
    /// By queue: passes whose dependencies end at a known time, and those that could start now.
    future: Vec<BinaryHeap<Reverse<(u64, u32)>>>,
    ready: Vec<BinaryHeap<u64>>,
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
    /// Fills [`tail`](Self::tail): a hop counts where two passes have no queue in common. O(passes + edges).
    pub(super) fn tails(&mut self, instance: &Instance<'_>, topology: &Topology, masks: &[u32]) {
        self.tail.clear();
        self.tail.resize(instance.len(), 0.0);
        for &pass in topology.order.iter().rev() {
            let mut after = 0.0f32;
            for &succ in instance.deps.succs.row(pass as usize) {
                let apart = masks[pass as usize] & masks[succ as usize] == 0;
                after = after.max(self.tail[succ as usize] + if apart { instance.costs.cross_queue_us } else { 0.0 });
            }
            self.tail[pass as usize] = after + instance.weight_us[pass as usize];
        }
    }

    /// Decides, in the order of time, what each queue runs next: of the passes that it may run and whose dependencies
    /// have ended, the one with the largest `key`, the smaller id on ties. A pass that several queues may run goes to
    /// the one that gets to it first. What may merge with the pass just run follows it if it can at once.
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
        masks: &[u32],
        ranked: &Ranked,
        mate: &[u32],
        out: &mut Vec<u32>,
        queue: &mut Vec<u8>,
    ) -> f64 {
        let n = instance.len();
        self.begin(instance, n);
        out.clear();
        queue.clear();
        queue.resize(n, 0);
        let mut queues = Queues::new();
        let mut frame = 0.0f64;
        for pass in 0..n as u32 {
            if self.pending[pass as usize] == 0 {
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
                let weight = f64::from(instance.weight_us[next as usize]);
                let unit = instance.unit[next as usize];
                let finish = start + weight + queues.slow_down(on as usize, start, weight, unit);
                queues.place(on as usize, start, finish, unit);
                frame = frame.max(finish);
                self.finish[next as usize] = finish;
                self.done[next as usize] = true;
                queue[next as usize] = on;
                out.push(next);
                for &succ in instance.deps.succs.row(next as usize) {
                    self.pending[succ as usize] -= 1;
                    if self.pending[succ as usize] == 0 {
                        self.release(instance, masks, succ, queue, &queues.free);
                    }
                }
                let follower = mate[next as usize];
                if follower == u32::MAX
                    || self.done[follower as usize]
                    || self.pending[follower as usize] > 0
                    || masks[follower as usize] & (1 << on) == 0
                    || available(instance, follower, on, queue, &self.finish) > finish
                {
                    break;
                }
                (next, start) = (follower, finish);
            }
        }
        frame
    }

    /// Makes `out` the passes by descending key, each after what it depends on. O(passes log passes + edges).
    pub(super) fn list(&mut self, instance: &Instance<'_>, out: &mut Vec<u32>) {
        self.begin(instance, instance.len());
        out.clear();
        for pass in 0..instance.len() as u32 {
            if self.pending[pass as usize] == 0 {
                let key = self.key(pass);
                self.ready[0].push(key);
            }
        }
        while let Some(key) = self.ready[0].pop() {
            crate::cancel::poll();
            let pass = !(key as u32);
            out.push(pass);
            for &succ in instance.deps.succs.row(pass as usize) {
                self.pending[succ as usize] -= 1;
                if self.pending[succ as usize] == 0 {
                    let key = self.key(succ);
                    self.ready[0].push(key);
                }
            }
        }
    }

    fn begin(&mut self, instance: &Instance<'_>, n: usize) {
        self.pending.clear();
        self.pending.extend((0..n).map(|pass| instance.deps.preds.row(pass).len() as u32));
        self.finish.clear();
        self.finish.resize(n, 0.0);
        self.done.clear();
        self.done.resize(n, false);
        self.future.resize_with(QUEUES, BinaryHeap::new);
        self.ready.resize_with(QUEUES, BinaryHeap::new);
        self.future.iter_mut().for_each(BinaryHeap::clear);
        self.ready.iter_mut().for_each(BinaryHeap::clear);
    }

    /// All that the pass depends on has been placed.
    #[inline]
    fn release(&mut self, instance: &Instance<'_>, masks: &[u32], pass: u32, queue: &[u8], free: &[f64; QUEUES]) {
        let mut left = masks[pass as usize];
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
    fn key(&self, pass: u32) -> u64 {
        u64::from(self.tail[pass as usize].to_bits()) << 32 | u64::from(!pass)
    }

    /// When the queue could start its next pass; infinity if it knows of none.
    #[inline]
    fn next_decision(&mut self, on: usize, free: f64) -> f64 {
        while let Some(&key) = self.ready[on].peek() {
            if !self.done[!(key as u32) as usize] {
                return free;
            }
            self.ready[on].pop();
        }
        while let Some(&Reverse((at, pass))) = self.future[on].peek() {
            if !self.done[pass as usize] {
                return f64::from_bits(at).max(free);
            }
            self.future[on].pop();
        }
        f64::INFINITY
    }

    #[inline]
    fn pick(&mut self, on: usize, now: f64) -> u32 {
        while let Some(&Reverse((at, pass))) = self.future[on].peek() {
            if f64::from_bits(at) > now {
                break;
            }
            self.future[on].pop();
            if !self.done[pass as usize] {
                let key = self.key(pass);
                self.ready[on].push(key);
            }
        }
        loop {
            let key = self.ready[on].pop().expect("a queue that can decide has a node to run");
            let pass = !(key as u32);
            if !self.done[pass as usize] {
                return pass;
            }
        }
    }
}

/// Gives each pass of an order the queue on which it ends first, among those that it may run on; ties go to the queue
/// ranked first. Fills `queue` by pass and returns the length of the frame, which is the model's if no pass has an
/// occupancy class. O(passes · queues + edges · queues).
pub(super) fn earliest_finish(
    instance: &Instance<'_>,
    order: &[u32],
    masks: &[u32],
    ranked: &Ranked,
    finish: &mut Vec<f64>,
    queue: &mut Vec<u8>,
) -> f64 {
    finish.clear();
    finish.resize(instance.len(), 0.0);
    queue.clear();
    queue.resize(instance.len(), 0);
    let mut queues = Queues::new();
    let mut frame = 0.0f64;
    for &pass in order {
        crate::cancel::poll();
        let (weight, unit) = (f64::from(instance.weight_us[pass as usize]), instance.unit[pass as usize]);
        let mut best = (f64::INFINITY, 0.0, 0u8);
        for &on in ranked.as_slice() {
            if masks[pass as usize] & (1 << on) == 0 {
                continue;
            }
            let start = available(instance, pass, on, queue, finish).max(queues.free[on as usize]);
            let end = start + weight + queues.slow_down(on as usize, start, weight, unit);
            if end < best.0 {
                best = (end, start, on);
            }
        }
        let (end, start, on) = best;
        queues.place(on as usize, start, end, unit);
        finish[pass as usize] = end;
        queue[pass as usize] = on;
        frame = frame.max(end);
    }
    frame
}
