//! Orderings that `after` declares: by a wait, by a barrier that is there already, or by one of their own.

use super::{Hazards, Scene};
use crate::access::{Accesses, Stages};
use crate::id::Id;
use crate::plan::{Hazard, PlanPassId, Scope, Why};
use crate::stages::synchronize::call::{CallSite, Calls, Source};
use crate::stages::synchronize::narrow::{with_earlier, with_later};
use crate::stages::synchronize::read_group::NONE;

impl Hazards {
    /// `after` orders all of a pass after all of another, unless a barrier of those from `asked` on does so already: each
    /// orders all that its stages do, whatever memory it is about (Vulkan 1.3, "Execution and Memory Dependencies").
    pub(super) fn order_after(&mut self, scene: Scene<'_>, at: u32, asked: usize, waits: &mut [Stages]) {
        let scheduled = scene.frame.schedule.passes[at as usize];
        let all = |at: u32| scene.frame.accesses(at as usize).iter().fold(Stages::empty(), |all, t| all | t.stages);
        let stages = all(at);
        // What names no access may do its work at any stage.
        let anywhere = || scene.frame.stages.get(usize::from(scheduled.queue)).copied().unwrap_or(Stages::HOST);
        while let Some(&(_, earlier)) = scene.after.get(self.after).filter(|(later, _)| *later <= at) {
            self.after += 1;
            let source = scene.frame.schedule.passes[earlier as usize];
            if source.queue != scheduled.queue {
                let stages = if stages.is_empty() { anywhere() } else { stages };
                self.rely(scene, scheduled.queue, source.queue, stages, waits);
                continue;
            }
            let src_stages = all(earlier);
            if scheduled.queue == scene.frame.schedule.host() || stages.is_empty() || src_stages.is_empty() {
                continue;
            }
            if self.orders_already(scene, asked, [source.physical, scheduled.physical], [src_stages, stages]) {
                continue;
            }
            let open = self.open[usize::from(scheduled.queue)];
            let physical = if open != NONE && open > source.physical { open } else { scheduled.physical };
            self.open[usize::from(scheduled.queue)] = physical;
            let call = self.call_before(physical);
            let scope =
                Scope { src_stages, src_access: Accesses::empty(), dst_stages: stages, dst_access: Accesses::empty() };
            let [from, to] = [earlier, at].map(|at| Some(PlanPassId::new(at as usize)));
            let resource = scene.frame.accesses(at as usize)[0].resource;
            let source = Source { physical: source.physical, splits: true };
            self.calls.memory(call, source, scope, Why { hazard: Hazard::Ordered, from, to, resource });
        }
    }

    /// Whether a barrier from `asked` on stands between two physical passes of a queue and has these stages. One that may
    /// become an event is set at a place of its own.
    fn orders_already(&self, scene: Scene<'_>, asked: usize, between: [u32; 2], stages: [Stages; 2]) -> bool {
        let Calls { calls, barriers, apart } = &self.calls;
        let queue = scene.frame.schedule.physical_passes[between[1] as usize].queue;
        !apart
            && barriers[asked..].iter().any(|barrier| {
                let CallSite::Before(physical) = calls[barrier.call as usize].site else { return false };
                let here = scene.frame.schedule.physical_passes[physical as usize].queue == queue;
                let Scope { src_stages, dst_stages, .. } = barrier.scope;
                here && between[0] < physical
                    && physical <= between[1]
                    && with_earlier(src_stages).contains(stages[0])
                    && with_later(dst_stages).contains(stages[1])
            })
    }
}
