//! Which live nodes must come before which: per piece the hazards of the serial order, and what `after` says.

use crate::id::IdVec;
use crate::stages::cull::Live;
use crate::stages::resolve::hazards::Hazards;
use crate::stages::resolve::meaning::Effect;
use crate::stages::resolve::{Facts, NodeId};
use crate::stages::schedule::deps::Deps;

/// Dependencies between live nodes, numbered by their position in [`Live::nodes`].
#[derive(Default, Debug)]
pub struct Dependencies {
    /// Both directions.
    pub deps: Deps,
    /// Position of each live node.
    pub index: IdVec<NodeId, u32>,
    hazards: Hazards,
    earlier: Vec<u32>,
    /// What `after` says of live nodes, `(later, earlier)`, sorted.
    pub after: Vec<(u32, u32)>,
    seen: Vec<u32>,
}

/// Finds the dependencies. O(touches + pieces touched + dependencies).
pub fn depend(facts: &Facts, live: &Live, out: &mut Dependencies) {
    let Dependencies { deps, index, hazards, earlier, after, seen } = out;
    index.refill(u32::MAX, facts.nodes.len());
    for (at, &id) in live.nodes.iter().enumerate() {
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
    hazards.clear(facts.pieces.count());
    seen.clear();
    seen.resize(live.nodes.len(), u32::MAX);
    deps.preds.clear();
    let mut ordered = after.iter().peekable();
    for (at, &id) in live.nodes.iter().enumerate() {
        crate::cancel::poll();
        let at = at as u32;
        earlier.clear();
        for touch in &facts.touches[facts.nodes[id].touches.range()] {
            let exclusive = touch.effect != Effect::Read;
            for piece in touch.pieces() {
                hazards.touch(piece, id, exclusive, touch.group, |from| {
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
