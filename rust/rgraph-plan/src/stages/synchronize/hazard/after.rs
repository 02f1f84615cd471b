//! Orderings that `after` declares, by a semaphore wait, by existing barriers, or by a barrier of their own.

use super::{Hazards, Scene};
use crate::access::{Accesses, Stages};
use crate::id::IdVec;
use crate::plan::{Hazard, PlanPassId, Scope, Why};
use crate::stages::synchronize::call::{Barrier, CallSite, Calls, Source};
use crate::stages::synchronize::clock::WaitId;
use crate::stages::synchronize::narrow::{bits, with_earlier, with_later};
use crate::stages::synchronize::schedule::PhysicalId;

/// Number of latest barriers searched for an ordering, and the least number of links of a chain that are followed.
const LOOKED_AT: usize = 48;
const ROUNDS: usize = 2;

impl Hazards {
    /// Orders all stages of a pass after all of an earlier one, unless barriers do so already: the execution dependency
    /// of a barrier covers all work at its stages, whatever memory it names, and dependencies chain (Vulkan 1.3,
    /// "Execution and Memory Dependencies").
    pub(super) fn order_after(&mut self, scene: Scene<'_>, at: PlanPassId, waits: &mut IdVec<WaitId, Stages>) {
        let scheduled = scene.frame.schedule.passes[at];
        let all = |at: PlanPassId| scene.frame.accesses(at).iter().fold(Stages::empty(), |all, t| all | t.stages);
        let stages = all(at);
        // A pass without accesses may work at any stage.
        let anywhere = || scene.frame.stages.get(usize::from(scheduled.queue)).copied().unwrap_or(Stages::HOST);
        while let Some(&(_, earlier)) = scene.after.get(self.after).filter(|(later, _)| *later <= at) {
            self.after += 1;
            let source = scene.frame.schedule.passes[earlier];
            if source.queue != scheduled.queue {
                let stages = if stages.is_empty() { anywhere() } else { stages };
                self.rely(scene, scheduled.queue, source.queue, stages, waits);
                continue;
            }
            let src_stages = all(earlier);
            if scheduled.queue == scene.frame.schedule.host() || stages.is_empty() || src_stages.is_empty() {
                continue;
            }
            if self.orders_already(scene, [source.physical, scheduled.physical], [src_stages, stages]) {
                continue;
            }
            let open = self.open[usize::from(scheduled.queue)];
            let physical = open.filter(|open| *open > source.physical).unwrap_or(scheduled.physical);
            self.open[usize::from(scheduled.queue)] = Some(physical);
            let call = self.call_before(physical);
            let scope =
                Scope { src_stages, src_access: Accesses::empty(), dst_stages: stages, dst_access: Accesses::empty() };
            let [from, to] = [earlier, at].map(Some);
            let resource = scene.frame.accesses(at)[0].resource;
            let source = Source { physical: Some(source.physical), splits: true };
            self.calls.memory(call, source, scope, Why { hazard: Hazard::Ordered, from, to, resource });
        }
    }

    /// True if the latest barriers order these stages of two physical passes of a queue, one by one or in a chain.
    /// False if barriers may become events, which are set in other places. O([`LOOKED_AT`] · stages).
    fn orders_already(&self, scene: Scene<'_>, between: [PhysicalId; 2], [first, second]: [Stages; 2]) -> bool {
        let Calls { calls, barriers, apart, .. } = &self.calls;
        if *apart {
            return false;
        }
        let physical_passes = &scene.frame.schedule.physical_passes;
        let queue = physical_passes[between[1]].queue;
        let place = |barrier: &Barrier| match calls[barrier.call].site {
            CallSite::Before(at) => {
                let here = between[0] < at && at <= between[1] && physical_passes[at].queue == queue;
                here.then_some(at)
            }
            _ => None,
        };
        let looked_at = &barriers.as_slice()[barriers.len().saturating_sub(LOOKED_AT)..];
        bits(first).all(|stage| {
            // By stage: the earliest call behind which it is ordered.
            let mut behind = [None; 32];
            for _ in 0..ROUNDS {
                for barrier in looked_at {
                    let Some(at) = place(barrier) else { continue };
                    let source = with_earlier(barrier.scope.src_stages);
                    let enters = source.contains(stage)
                        || bits(source).any(|one| behind[number(one)].is_some_and(|before| before < at));
                    for one in bits(with_later(barrier.scope.dst_stages)).filter(|_| enters) {
                        let earliest = &mut behind[number(one)];
                        *earliest = Some(earliest.map_or(at, |before: PhysicalId| before.min(at)));
                    }
                }
            }
            bits(second).all(|one| behind[number(one)].is_some())
        })
    }
}

fn number(stage: Stages) -> usize {
    stage.bits().trailing_zeros() as usize
}
