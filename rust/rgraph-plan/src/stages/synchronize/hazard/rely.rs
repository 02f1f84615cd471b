//! What follows other queues: the waits that are there already, and who relies on them.

use super::{Hazards, Here, Need, Scene, State};
use crate::access::{Accesses, Stages};
use crate::id::Id;
use crate::plan::{Hazard, PlanPassId, Scope, Why};
use crate::stages::synchronize::call::{Source, Via};
use crate::stages::synchronize::epoch::NONE;

/// A use that follows another queue by a wait, without a barrier of the plan that chains to it.
#[derive(Clone, Copy, Debug)]
pub struct Reliance {
    /// Its queue.
    pub queue: u8,
    /// Its step.
    pub step: u32,
    /// What it follows.
    pub source: Source,
    /// Its stages.
    pub stages: Stages,
    /// Whether it sees what it follows.
    pub sees: bool,
    /// Whether a barrier of the runtime, with these stages as its first scope, follows for it.
    pub chains: bool,
}

impl Hazards {
    /// A stop that was made to follow another one lets its stages rely on the wait.
    pub(super) fn rely_on_extra(&mut self, scene: Scene<'_>, at: u32, waits: &mut [Stages]) {
        while let Some(&(later, earlier)) = scene.epochs.extra.get(self.extra).filter(|(later, _)| *later <= at) {
            self.extra += 1;
            let (stop, source) = (scene.frame.course.stops[later as usize], scene.frame.course.stops[earlier as usize]);
            if stop.queue != source.queue {
                let stages = scene.frame.touches(later as usize).iter().fold(Stages::empty(), |all, t| all | t.stages);
                self.rely_on_stop(scene, later, earlier, stages, waits);
            }
        }
    }

    /// `after` orders all of a pass after all of another.
    pub(super) fn order_after(&mut self, scene: Scene<'_>, at: u32, waits: &mut [Stages]) {
        let stop = scene.frame.course.stops[at as usize];
        let all = |at: u32| scene.frame.touches(at as usize).iter().fold(Stages::empty(), |all, t| all | t.stages);
        let stages = all(at);
        while let Some(&(_, earlier)) = scene.after.get(self.after).filter(|(later, _)| *later <= at) {
            self.after += 1;
            let source = scene.frame.course.stops[earlier as usize];
            if source.queue != stop.queue {
                self.rely_on_stop(scene, at, earlier, stages, waits);
                continue;
            }
            let src_stages = all(earlier);
            if stop.queue == scene.frame.course.host() || stages.is_empty() || src_stages.is_empty() {
                continue;
            }
            let open = self.open[usize::from(stop.queue)];
            let step = if open != NONE && open > source.step { open } else { stop.step };
            self.open[usize::from(stop.queue)] = step;
            let call = self.call_before(step);
            self.calls.begins_after(call, source.step);
            let scope =
                Scope { src_stages, src_access: Accesses::empty(), dst_stages: stages, dst_access: Accesses::empty() };
            let [from, to] = [earlier, at].map(|at| Some(PlanPassId::new(at as usize)));
            let resource = scene.frame.touches(at as usize)[0].resource;
            let barrier = self.calls.alone(call, scope, Why { hazard: Hazard::Ordered, from, to, resource });
            let writes = Accesses::empty();
            let list = self.calls.list(Source {
                stop: earlier,
                previous: false,
                stages: src_stages,
                writes,
                via: None,
                next: NONE,
            });
            self.calls.follows(barrier, list);
            self.ordered.push((stop.step, barrier));
        }
    }

    /// `stages` of `queue` rely on what it knows of `of`; returns the step that waits, and the wait.
    pub(super) fn rely(&self, scene: Scene<'_>, queue: u8, of: u8, stages: Stages, waits: &mut [Stages]) -> (u32, Via) {
        let (wait, stop) = self.knowledge.through(scene.clocks, queue, of);
        waits[wait as usize] |= stages;
        (scene.frame.course.stops[stop as usize].step, Via::Run(wait))
    }

    /// All of a stop relies on a wait for all of another one.
    pub(super) fn rely_on_stop(
        &mut self,
        scene: Scene<'_>,
        later: u32,
        earlier: u32,
        stages: Stages,
        waits: &mut [Stages],
    ) {
        let [here, source] = [later, earlier].map(|at| scene.frame.course.stops[at as usize]);
        let (_, via) = self.rely(scene, here.queue, source.queue, stages, waits);
        let of = scene.frame.touches(earlier as usize).iter().fold(Stages::empty(), |all, t| all | t.stages);
        self.relies.push(Reliance {
            queue: here.queue,
            step: here.step,
            source: Source {
                stop: earlier,
                previous: false,
                stages: of,
                writes: Accesses::empty(),
                via: Some(via),
                next: NONE,
            },
            stages,
            sees: false,
            chains: false,
        });
    }

    /// Where the first use of an epoch prepares the piece, the others rely on it.
    pub(super) fn rely_on_lead(&mut self, scene: Scene<'_>, here: Here<'_>, state: State, waits: &mut [Stages]) {
        let epoch = &scene.epochs.epochs[here.epoch as usize];
        let frame = scene.frame;
        let prepared = here.touch.group != 0 || frame.is_image(here.memory) || frame.has_edges(here.memory);
        if epoch.is_led(prepared) && state.lead != here.queue {
            let (_, via) = self.rely(scene, here.queue, state.lead, here.touch.stages, waits);
            let Some(lead) = self.list(state.uses).find(|used| used.queue == state.lead) else { return };
            self.relies.push(Reliance {
                queue: here.queue,
                step: here.step,
                source: Source {
                    stop: lead.first,
                    previous: false,
                    stages: lead.stages,
                    writes: Accesses::WRITES,
                    via: Some(via),
                    next: NONE,
                },
                stages: here.touch.stages,
                sees: true,
                chains: false,
            });
        }
    }

    /// Notes what a use of memory or of the host follows on other queues by waits alone.
    pub(super) fn rely_on_waits(&mut self, here: Here<'_>, need: Need) {
        let mut at = need.list();
        while let Some(&source) = self.calls.sources.get(at as usize) {
            at = source.next;
            if source.via.is_some() {
                self.relies.push(Reliance {
                    queue: here.queue,
                    step: here.step,
                    source,
                    stages: here.touch.stages,
                    sees: true,
                    chains: false,
                });
            }
        }
    }
}
