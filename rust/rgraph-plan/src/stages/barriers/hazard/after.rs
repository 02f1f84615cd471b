//! Orderings that `after` declares, by a semaphore wait or by a barrier, which others of its queue may make needless.

use super::{HazardInputs, Hazards};
use crate::access::{Accesses, Stages};
use crate::id::{Id, IdVec};
use crate::plan::{Hazard, PlanPassId, Scope, Why};
use crate::stages::barriers::call::{Required, Source};
use crate::stages::ids::WaitId;

impl Hazards {
    /// Orders all stages of a pass after all of an earlier one. A pass without accesses works at no stage, so it hands
    /// on those of its queue that it comes after; what it awaits of other queues, it awaits for all stages behind it.
    pub(super) fn order_after(&mut self, inputs: HazardInputs<'_>, at: PlanPassId, waits: &mut IdVec<WaitId, Stages>) {
        let scheduled = inputs.context.schedule.passes[at];
        let all = |at: PlanPassId| inputs.context.accesses(at).iter().fold(Stages::empty(), |all, t| all | t.stages);
        let stages = all(at);
        // What a pass without accesses does itself may be at any stage.
        let anywhere = || inputs.context.stages.get(scheduled.queue).copied().unwrap_or(Stages::HOST);
        while let Some(&(_, earlier)) = inputs.after.get(self.after).filter(|(later, _)| *later <= at) {
            self.after += 1;
            let source = inputs.context.schedule.passes[earlier];
            if source.queue != scheduled.queue {
                let stages = if stages.is_empty() { anywhere() } else { stages };
                self.rely(inputs, scheduled.queue, source.queue, stages, waits);
                continue;
            }
            let src_stages = all(earlier) | self.awaited[earlier];
            if stages.is_empty() {
                self.awaited[at] |= src_stages;
            }
            if scheduled.queue == inputs.context.schedule.host() || stages.is_empty() || src_stages.is_empty() {
                continue;
            }
            let open = self.open[scheduled.queue.index()];
            let physical = open.filter(|open| *open > source.physical).unwrap_or(scheduled.physical);
            self.open[scheduled.queue.index()] = Some(physical);
            let call = self.call_before(physical);
            let scope =
                Scope { src_stages, src_access: Accesses::empty(), dst_stages: stages, dst_access: Accesses::empty() };
            let [from, to] = [earlier, at].map(Some);
            let resource = inputs.context.accesses(at)[0].resource;
            let from_there = Source { physical: Some(source.physical), splits: true, fixed: false };
            let why = Why { hazard: Hazard::Ordered, from, to, resource };
            let barrier = self.calls.memory_apart(call, from_there, scope, why);
            let (stages, writing, writes) = (src_stages, Stages::empty(), Accesses::empty());
            self.calls.require(Required {
                barrier,
                last: source.physical,
                previous_run: false,
                stages,
                writing,
                writes,
            });
        }
    }
}
