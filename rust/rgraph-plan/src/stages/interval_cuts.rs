//! Bytes that an interval frees can be reused only in a later interval, unless a barrier is put between. Where that
//! would need more bytes than the memory budget allows, an interval is cut in two: one barrier call for the bytes.
//!
//! Cuts are found greedily from the left, which makes them fewest for a given cap. One queue only. O(accesses).

use crate::budget::MemoryBudget;
use crate::id::{Id, IdVec};
use crate::resource::{Life, ResourceId};
use crate::stages::context::Context;
use crate::stages::ids::{IntervalId, LiveId, PhysicalId, ResolvedPassId};
use crate::stages::order::schedule::LaneId;
use crate::stages::schedule::model::placeable;

/// Memory that cutting intervals reuses.
#[derive(Default, Debug)]
pub(crate) struct IntervalCuts {
    /// First and last physical pass (or position) of each placed memory.
    used: IdVec<ResourceId, Option<[u32; 2]>>,
    /// Bytes that begin and end at each physical pass.
    begin: Vec<u64>,
    end: Vec<u64>,
    cuts: Vec<PhysicalId>,
    /// Most bytes that a physical pass needs: no cut goes below.
    physical_passes: u64,
    /// Most bytes that the budget allows, on one queue.
    pub budget: u64,
    /// What the last cuts keep every interval below.
    pub reached: u64,
}

impl IntervalCuts {
    /// Finds the physical passes before which intervals are to be cut, ascending.
    pub(crate) fn cuts(
        &mut self,
        context: Context<'_>,
        live: &IdVec<LiveId, ResolvedPassId>,
        memory: MemoryBudget,
        heap: Option<u64>,
    ) -> &[PhysicalId] {
        self.cuts.clear();
        self.budget = u64::MAX;
        // On several queues waits hand on bytes too (`transient` asks the clocks), so the end of an interval does not
        // decide what is free.
        if context.schedule.passes.iter().any(|scheduled| scheduled.queue != LaneId::FIRST)
            || context.schedule.physical_passes.is_empty()
        {
            return &self.cuts;
        }
        // The budget is derived from the declared order of passes, as for the schedule and the placement: one value for
        // all three (`rgraph_ir::budget`). Lifetimes for the cuts are those of the chosen order.
        let accessed =
            |at: usize| context.facts.accesses.slice(context.facts.passes[live.as_slice()[at]].accesses).iter();
        self.collect(context, live.len(), |at| accessed(at).map(|access| access.resource));
        let cap = memory.cap(self.peak_of_physical_passes(), heap);
        self.budget = cap;
        let passes = &context.schedule.passes;
        self.collect(context, context.schedule.physical_passes.len(), |physical| {
            let all = context.schedule.physical_passes.as_slice()[physical].passes.ids();
            all.flat_map(move |scheduled| {
                let pass = &context.facts.passes[passes[scheduled].pass];
                context.facts.accesses.slice(pass.accesses).iter().map(|access| access.resource)
            })
        });
        self.physical_passes = self.peak_of_physical_passes();
        self.cuts_for(context, placeable(cap))
    }

    /// The fewest cuts that keep every interval below `cap`, or below what the physical passes themselves need if that
    /// is more. After [`cuts`](Self::cuts) for the same frame.
    pub(crate) fn cuts_for(&mut self, context: Context<'_>, cap: u64) -> &[PhysicalId] {
        self.reached = self.cut(context, cap.max(self.physical_passes));
        &self.cuts
    }

    fn collect<I: Iterator<Item = ResourceId>>(
        &mut self,
        context: Context<'_>,
        positions: usize,
        accessed: impl Fn(usize) -> I,
    ) {
        self.used.refill(None, context.shapes.len());
        for at in 0..positions {
            crate::cancel::poll();
            for resource in accessed(at) {
                let used = &mut self.used[context.facts.memory[resource]];
                *used = Some([used.map_or(at as u32, |[first, _]| first), at as u32]);
            }
        }
        for &root in context.graph.roots() {
            if let Some(used) = &mut self.used[context.facts.memory[root]] {
                // A root is kept for the caller: no later interval gets its bytes.
                used[1] = positions as u32;
            }
        }
        self.begin.clear();
        self.begin.resize(positions + 1, 0);
        self.end.clear();
        self.end.resize(positions + 1, 0);
        for (memory, used) in self.used.iter_ids() {
            if let Some([first, last]) = *used
                && context.graph.resources()[memory].life == Life::Transient
                && !context.facts.remembered[memory]
            {
                self.begin[first as usize] += context.shapes[memory].bytes;
                self.end[last as usize] += context.shapes[memory].bytes;
            }
        }
    }

    /// Most bytes alive at one position.
    fn peak_of_physical_passes(&self) -> u64 {
        let (mut live, mut peak) = (0u64, 0);
        for (begin, end) in self.begin.iter().zip(&self.end) {
            live += begin;
            peak = live.max(peak);
            live -= end;
        }
        peak
    }

    /// Cuts intervals so that no interval needs more than `cap`, as far as cuts help; returns the most that one needs.
    fn cut(&mut self, context: Context<'_>, cap: u64) -> u64 {
        self.cuts.clear();
        let (mut live, mut freed, mut peak, mut interval) = (0u64, 0u64, 0, IntervalId::new(0));
        for (id, physical) in context.schedule.physical_passes.iter_ids() {
            let at = id.index();
            // Where nothing was freed, a barrier call frees nothing, however many bytes are alive.
            let over = freed > 0 && live + self.begin[at] > cap;
            if physical.interval != interval || over {
                if physical.interval == interval {
                    self.cuts.push(id);
                }
                live -= freed;
                freed = 0;
                interval = physical.interval;
            }
            live += self.begin[at];
            freed += self.end[at];
            peak = live.max(peak);
        }
        peak
    }
}
