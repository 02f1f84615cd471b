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
    culled: Culled,
    seen: IdVec<LiveId, Option<LiveId>>,
}

/// Finds the dependencies. O(accesses + subresources accessed + dependencies).
pub(crate) fn depend(facts: &Facts, live: &Live, out: &mut Dependencies) {
    let Dependencies { deps, index, hazards, earlier, after, culled, seen } = out;
    index.refill(None, facts.passes.len());
    for (at, &id) in live.passes.iter_ids() {
        index[id] = Some(at);
    }
    after.clear();
    after.extend(facts.after.iter().filter_map(|(later, earlier)| index[*later].zip(index[*earlier])));
    culled.hand_on(&facts.after, index, after);
    after.sort_unstable();
    after.dedup();
    hazards.clear(facts.subresources.count());
    seen.refill(None, live.passes.len());
    deps.preds.clear();
    let mut ordered = after.iter().peekable();
    for (at, &id) in live.passes.iter_ids() {
        crate::cancel::poll();
        earlier.clear();
        for access in facts.accesses.slice(facts.passes[id].accesses) {
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

/// What `after` says of culled passes, which hand the order on to those behind them.
#[derive(Default, Debug)]
struct Culled {
    /// `(later, earlier)`, sorted; the earlier one or both are culled.
    links: Vec<(ResolvedPassId, ResolvedPassId)>,
    /// By culled pass: the last live pass that it is after.
    last: IdVec<ResolvedPassId, Option<LiveId>>,
    /// By culled pass: whether a live pass is after it.
    needed: IdVec<ResolvedPassId, bool>,
}

impl Culled {
    /// Adds the orders of live passes that go through culled ones. Where one of these is after several passes, the last
    /// of them is after the others, so that the orders are no more than the links. O(l log l) for l links.
    fn hand_on(
        &mut self,
        orders: &[(ResolvedPassId, ResolvedPassId)],
        index: &IdVec<ResolvedPassId, Option<LiveId>>,
        after: &mut Vec<(LiveId, LiveId)>,
    ) {
        let Self { links, last, needed } = self;
        links.clear();
        links.extend(orders.iter().filter(|(_, earlier)| index[*earlier].is_none()));
        if links.is_empty() {
            return;
        }
        links.extend(orders.iter().filter(|(later, earlier)| index[*later].is_none() && index[*earlier].is_some()));
        links.sort_unstable();
        needed.refill(false, index.len());
        for &(later, earlier) in links.iter().rev() {
            needed[earlier] |= index[later].is_some() || needed[later];
        }
        last.refill(None, index.len());
        for of_one in links.chunk_by(|a, b| a.0 == b.0) {
            let later = of_one[0].0;
            let before = || of_one.iter().filter_map(|&(_, earlier)| index[earlier].or(last[earlier]));
            match index[later] {
                Some(live) => after.extend(before().map(|earlier| (live, earlier))),
                None if needed[later] => {
                    let latest = before().max();
                    after.extend(before().filter_map(|earlier| Some((latest?, earlier)).filter(|(a, b)| a != b)));
                    last[later] = latest;
                }
                None => {}
            }
        }
    }
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
