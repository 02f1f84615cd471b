//! The lower bound of the frame that a plan holds, and the one of a graph whose passes may leave their queues.

use super::Scratch;
use crate::access::PassQueue;
use crate::graph::Graph;
use crate::id::IdVec;
use crate::plan::{FrameBound, Plan};
use crate::profile::Profile;
use crate::stages::bound::{Bound, Orders, bound};
use crate::stages::ids::{LiveId, ResolvedPassId};
use crate::stages::schedule::Instance;
use crate::stages::weigh;

impl Scratch {
    /// What the scheduler knows of the graph of the last bake.
    pub(super) fn instance_of<'a>(
        &'a self,
        graph: &'a Graph,
        profile: &'a Profile,
        memory: crate::budget::MemoryBudget,
    ) -> (weigh::Input<'a>, Instance<'a>) {
        let input = weigh::Input {
            graph,
            profile,
            plan_queues: &self.queues,
            shapes: &self.shapes,
            facts: &self.facts,
            live: &self.live,
            deps: &self.deps,
            memory,
        };
        (input, self.weights.view(input))
    }

    fn is_bare(&self, live: LiveId) -> bool {
        self.facts.passes[self.live.passes[live]].accesses.range().is_empty()
    }

    /// Writes down which frame no plan of the graph beats, and the longest path. The plan has its modelled frame
    /// already.
    pub(super) fn describe_bound(&mut self, graph: &Graph, profile: &Profile, plan: &mut Plan) {
        let mut scratch = std::mem::take(&mut self.bound);
        let (_, instance) = self.instance_of(graph, profile, crate::budget::MemoryBudget::default());
        let orders = Orders { attached: &self.weights.attached, bare: &|live| self.is_bare(live) };
        let parts = bound(&instance, &self.order.passes, orders, &mut scratch);
        let Bound { critical_path_us, load_us } = parts;
        let report = &mut plan.report;
        let us = parts.us();
        // Times of passes are in single precision, so the frame that they add up to may round to less than the bound.
        debug_assert!(us <= report.frame_us * (1.0 + 1e-6), "the frame of {} µs beats {us} µs", report.frame_us);
        report.frame_us = report.frame_us.max(us);
        report.bound = Some(FrameBound { us, critical_path_us, load_us });
        report.critical_path.clear();
        let at = |&live: &LiveId| self.merge.final_position(live);
        report.critical_path.extend(scratch.path.iter().map(at));
        self.bound = scratch;
    }

    /// What the bound would be if every pass could run on each queue that can do its work, whatever queue it names.
    pub(crate) fn free_bound_us(&mut self, graph: &Graph, profile: &Profile) -> f64 {
        let mut scratch = std::mem::take(&mut self.bound);
        let (input, instance) = self.instance_of(graph, profile, crate::budget::MemoryBudget::default());
        let free = |(&id, &named): (&ResolvedPassId, &u32)| match self.facts.passes[id].queue {
            PassQueue::Cpu => named,
            _ => named | self.weights.able(input, &self.facts.passes[id]),
        };
        let queues: IdVec<LiveId, u32> = self.live.passes.iter().zip(instance.queues).map(free).collect();
        let instance = Instance { queues: &queues, ..instance };
        let orders = Orders { attached: &self.weights.attached, bare: &|live| self.is_bare(live) };
        let us = bound(&instance, &self.order.passes, orders, &mut scratch).us();
        self.bound = scratch;
        us
    }
}
