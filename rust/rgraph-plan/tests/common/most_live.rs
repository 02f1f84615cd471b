//! Most bytes alive at one pass of the declared order: a yardstick that shares nothing with the planner's stages.

use rgraph_plan::id::Id;
use rgraph_plan::plan::{Plan, PlanLife};
use rgraph_plan::prelude::*;

/// Live passes only, in declared order; transients live from their first to their last use, roots to the end.
pub fn most_live(graph: &Graph, plan: &Plan) -> u64 {
    let mut live = vec![false; graph.passes().len()];
    for declared in plan.live().filter_map(|pass| plan.passes[pass].declared) {
        live[declared as usize] = true;
    }
    let mut spans = vec![None::<[usize; 2]>; plan.resources.len()];
    for access in graph.accesses().iter().filter(|access| live[access.pass.index()]) {
        let (at, span) = (access.pass.index(), &mut spans[access.resource.index()]);
        *span = Some(span.map_or([at, at], |[first, last]| [first.min(at), last.max(at)]));
    }
    for root in graph.roots() {
        if let Some(span) = &mut spans[root.index()] {
            span[1] = live.len();
        }
    }
    let mut change = vec![0i64; live.len() + 2];
    for (resource, span) in plan.resources.iter().zip(&spans) {
        if let (Some([first, last]), PlanLife::Transient | PlanLife::Root) = (span, resource.life) {
            change[*first] += resource.bytes as i64;
            change[last + 1] -= resource.bytes as i64;
        }
    }
    let (mut now, mut most) = (0, 0);
    for change in change {
        now += change;
        most = now.max(most);
    }
    most as u64
}
