//! Bytes that a group frees can be taken over only by a later group, unless a barrier is put between. Where that
//! would need more bytes than the memory budget allows, a group is cut in two: one barrier call for the bytes.
//!
//! Cuts are found greedily from the left, which makes them fewest for a given cap. One queue only. O(touches).

use crate::budget::MemoryBudget;
use crate::id::IdVec;
use crate::resource::{Life, ResourceId};
use crate::stages::resolve::NodeId;
use crate::stages::schedule::model::placeable;
use crate::stages::synchronize::epoch::Frame;

/// Memory that regrouping reuses.
#[derive(Default, Debug)]
pub struct Regroup {
    /// First and last step (or position) of each placed memory.
    used: IdVec<ResourceId, Option<[u32; 2]>>,
    /// Bytes that begin and end at each step.
    begin: Vec<u64>,
    end: Vec<u64>,
    cuts: Vec<u32>,
    /// Most bytes that a step needs: no cut goes below.
    steps: u64,
    /// Most bytes that the budget allows, on one queue.
    pub budget: u64,
    /// What the last cuts keep every group below.
    pub reached: u64,
}

impl Regroup {
    /// Finds the steps before which groups are to be cut, ascending.
    pub fn cuts(&mut self, frame: Frame<'_>, live: &[NodeId], memory: MemoryBudget, heap: Option<u64>) -> &[u32] {
        self.cuts.clear();
        self.budget = u64::MAX;
        if frame.course.stops.iter().any(|stop| stop.queue != 0) || frame.course.steps.is_empty() {
            return &self.cuts;
        }
        let touched = |at: usize| frame.facts.touches[frame.facts.nodes[live[at]].touches.range()].iter();
        self.collect(frame, live.len(), |at| touched(at).map(|touch| touch.resource));
        let cap = memory.cap(self.peak_of_steps(), heap);
        self.budget = cap;
        let stops = &frame.course.stops;
        self.collect(frame, frame.course.steps.len(), |step| {
            let all = frame.course.steps[step].stops.range();
            all.flat_map(move |stop| {
                let node = &frame.facts.nodes[stops[stop].node];
                frame.facts.touches[node.touches.range()].iter().map(|touch| touch.resource)
            })
        });
        self.steps = self.peak_of_steps();
        self.cuts_for(frame, placeable(cap))
    }

    /// The fewest cuts that keep every group below `cap`, or below what the steps themselves need if that is more.
    /// After [`cuts`](Self::cuts) for the same frame.
    pub fn cuts_for(&mut self, frame: Frame<'_>, cap: u64) -> &[u32] {
        self.reached = self.cut(frame, cap.max(self.steps));
        &self.cuts
    }

    fn collect<I: Iterator<Item = ResourceId>>(
        &mut self,
        frame: Frame<'_>,
        positions: usize,
        touched: impl Fn(usize) -> I,
    ) {
        self.used.refill(None, frame.shapes.len());
        for at in 0..positions {
            crate::cancel::poll();
            for resource in touched(at) {
                let used = &mut self.used[frame.facts.memory[resource]];
                *used = Some([used.map_or(at as u32, |[first, _]| first), at as u32]);
            }
        }
        for &root in frame.graph.roots() {
            if let Some(used) = &mut self.used[frame.facts.memory[root]] {
                used[1] = positions as u32;
            }
        }
        self.begin.clear();
        self.begin.resize(positions + 1, 0);
        self.end.clear();
        self.end.resize(positions + 1, 0);
        for (memory, used) in self.used.iter_ids() {
            if let Some([first, last]) = *used
                && frame.graph.resources()[memory].life == Life::Transient
                && !frame.facts.remembered[memory]
            {
                self.begin[first as usize] += frame.shapes[memory].bytes;
                self.end[last as usize] += frame.shapes[memory].bytes;
            }
        }
    }

    /// Most bytes alive at one position.
    fn peak_of_steps(&self) -> u64 {
        let (mut live, mut peak) = (0u64, 0);
        for (begin, end) in self.begin.iter().zip(&self.end) {
            live += begin;
            peak = live.max(peak);
            live -= end;
        }
        peak
    }

    /// Cuts groups so that no group needs more than `cap`, as far as cuts help; returns the most that one needs.
    fn cut(&mut self, frame: Frame<'_>, cap: u64) -> u64 {
        self.cuts.clear();
        let (mut live, mut freed, mut peak, mut group) = (0u64, 0u64, 0, 0);
        for (at, step) in frame.course.steps.iter().enumerate() {
            let over = freed > 0 && live + self.begin[at] > cap;
            if step.group != group || over {
                if step.group == group {
                    self.cuts.push(at as u32);
                }
                live -= freed;
                freed = 0;
                group = step.group;
            }
            live += self.begin[at];
            freed += self.end[at];
            peak = live.max(peak);
        }
        peak
    }
}
