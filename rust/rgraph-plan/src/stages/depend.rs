//! Which live passes must come before which: per subresource the hazards of the serial order, and what `after` says.

use crate::id::IdVec;
use crate::stages::cull::Live;
use crate::stages::resolve::hazards::Hazards;
use crate::stages::resolve::meaning::Effect;
use crate::stages::resolve::{Facts, ResolvedPassId};
use crate::stages::schedule::deps::Deps;

/// Dependencies between live passes, numbered by their position in [`Live::passes`].
#[derive(Default, Debug)]
pub struct Dependencies {
    /// Both directions.
    pub deps: Deps,
    /// Position of each live pass.
    pub index: IdVec<ResolvedPassId, u32>,
    hazards: Hazards,
    earlier: Vec<u32>,
    /// What `after` says of live passes, `(later, earlier)`, sorted.
    pub after: Vec<(u32, u32)>,
    seen: Vec<u32>,
}

/// Finds the dependencies. O(accesses + subresources accessed + dependencies).
pub fn depend(facts: &Facts, live: &Live, out: &mut Dependencies) {
    let Dependencies { deps, index, hazards, earlier, after, seen } = out;
    index.refill(u32::MAX, facts.passes.len());
    for (at, &id) in live.passes.iter().enumerate() {
        index[id] = at as u32;
    }
    after.clear();
    after.extend(
        facts
            .after
            .iter()
            .filter(|(later, earlier)| live.needed[*later] && live.needed[*earlier])
            .map(|(later, earlier)| (index[*later], index[*earlier])),
    );
    after.sort_unstable();
    hazards.clear(facts.subresources.count());
    seen.clear();
    seen.resize(live.passes.len(), u32::MAX);
    deps.preds.clear();
    let mut ordered = after.iter().peekable();
    for (at, &id) in live.passes.iter().enumerate() {
        crate::cancel::poll();
        let at = at as u32;
        earlier.clear();
        for access in &facts.accesses[facts.passes[id].accesses.range()] {
            let exclusive = access.effect != Effect::Read;
            for subresource in access.subresources() {
                hazards.access(subresource, id, exclusive, access.group, |from| {
                    let from = index[from];
                    if std::mem::replace(&mut seen[from as usize], at) != at {
                        earlier.push(from);
                    }
                });
            }
        }
        while let Some(&(_, from)) = ordered.next_if(|(later, _)| *later == at) {
            if std::mem::replace(&mut seen[from as usize], at) != at {
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
