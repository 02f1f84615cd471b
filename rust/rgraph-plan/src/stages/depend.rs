//! Which live passes must come before which: per subresource the hazards of the serial order, and what `after` says.

use crate::id::IdVec;
use crate::stages::cull::Live;
use crate::stages::ids::{LiveId, ResolvedPassId};
use crate::stages::resolve::Facts;
use crate::stages::resolve::hazards::Hazards;
use crate::stages::resolve::meaning::Effect;
use crate::stages::schedule::deps::Deps;

/// Dependencies between live passes, numbered by their position in [`Live::passes`].
#[derive(Default, Debug)]
pub(crate) struct Dependencies {
    /// Both directions.
    pub deps: Deps,
    /// Position of each live pass.
    pub index: IdVec<ResolvedPassId, Option<LiveId>>,
    hazards: Hazards,
    earlier: Vec<LiveId>,
    /// What `after` says of live passes, `(later, earlier)`, sorted.
    pub after: Vec<(LiveId, LiveId)>,
    seen: IdVec<LiveId, Option<LiveId>>,
}

/// Finds the dependencies. O(accesses + subresources accessed + dependencies).
pub(crate) fn depend(facts: &Facts, live: &Live, out: &mut Dependencies) {
    let Dependencies { deps, index, hazards, earlier, after, seen } = out;
    index.refill(None, facts.passes.len());
    for (at, &id) in live.passes.iter_ids() {
        index[id] = Some(at);
    }
    after.clear();
    after.extend(facts.after.iter().filter_map(|(later, earlier)| index[*later].zip(index[*earlier])));
    after.sort_unstable();
    hazards.clear(facts.subresources.count());
    seen.refill(None, live.passes.len());
    deps.preds.clear();
    let mut ordered = after.iter().peekable();
    for (at, &id) in live.passes.iter_ids() {
        crate::cancel::poll();
        earlier.clear();
        for access in &facts.accesses[facts.passes[id].accesses.range()] {
            let exclusive = access.effect != Effect::Read;
            for subresource in access.subresources.ids() {
                hazards.access(subresource, id, exclusive, access.group, |from| {
                    let from = index[from].expect("live passes were fed alone");
                    if seen[from].replace(at) != Some(at) {
                        earlier.push(from);
                    }
                });
            }
        }
        while let Some(&(_, from)) = ordered.next_if(|(later, _)| *later == at) {
            if seen[from].replace(at) != Some(at) {
                earlier.push(from);
            }
        }
        for &from in earlier.iter() {
            deps.preds.push(from);
        }
        deps.preds.end_row();
    }
    deps.complete();
}

impl Dependencies {
    /// The live passes that a live pass must follow.
    pub(crate) fn before(&self, live: LiveId) -> impl Iterator<Item = LiveId> + '_ {
        self.deps.preds.row(live).iter().copied()
    }

    /// The live pass that a pass of the schedule is.
    ///
    /// # Panics
    /// If it is culled.
    pub(crate) fn live(&self, pass: ResolvedPassId) -> LiveId {
        self.index[pass].expect("the schedule holds live passes")
    }
}
