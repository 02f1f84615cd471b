//! A pass that uses one memory twice (depth read and sampled, attachment and input attachment) accesses each
//! subresource once, with the stages and accesses of both.

use super::ResolvedAccess;
use super::meaning::Effect;
use crate::access::Layout;
use crate::id::{Id, IdSpan, IdVec};
use crate::resource::ResourceId;
use crate::stages::ids::{AccessId, ResolvedAccessId, ViewId};

crate::id! {
    /// A view among those of the pass at hand.
    struct OwnViewId;
}

/// Memory that [`combine`] reuses.
#[derive(Default, Debug)]
pub(super) struct Scratch {
    singles: Vec<ResolvedAccess>,
    views: Views,
}

/// Views of a pass that see a subresource together, as a forest of disjoint sets: all subresources of a set are in one
/// layout.
#[derive(Default, Debug)]
struct Views {
    /// The views from the first one of the pass on, which have ids of their own.
    first: usize,
    parent: IdVec<OwnViewId, OwnViewId>,
    general: IdVec<OwnViewId, bool>,
}

impl Views {
    /// Forgets everything; each of `accesses` has a view of its own.
    fn clear(&mut self, accesses: &[ResolvedAccess]) {
        let views = || accesses.iter().map(|access| access.view);
        self.first = views().min().map_or(0, Id::index);
        let end = views().max().map_or(0, |last| last.index() + 1);
        self.parent.clear();
        self.parent.extend((0..end - self.first).map(OwnViewId::new));
        self.general.refill(false, self.parent.len());
    }

    /// The first view of the set that a view is in.
    fn find(&self, view: ViewId) -> OwnViewId {
        let mut at = OwnViewId::new(view.index() - self.first);
        while self.parent[at] != at {
            at = self.parent[at];
        }
        at
    }

    /// One subresource that all of `same` see is in `layout`.
    fn join(&mut self, same: &[ResolvedAccess], layout: Layout) {
        let Some(root) = same.iter().map(|access| self.find(access.view)).min() else { return };
        for access in same {
            let other = self.find(access.view);
            self.general[root] |= self.general[other];
            self.parent[other] = root;
        }
        self.general[root] |= layout == Layout::General;
    }
}

/// Makes the accesses from `start` on meet no subresource twice. O(p log p) in the subresources they cover. Returns two
/// accesses that use one subresource under different names, of which one modifies the other, if there are any.
pub(super) fn combine(
    accesses: &mut IdVec<ResolvedAccessId, ResolvedAccess>,
    start: ResolvedAccessId,
    depth: &IdVec<ResourceId, u32>,
    scratch: &mut Scratch,
) -> Option<(AccessId, AccessId)> {
    let mut names = None;
    let (accesses, start) = (accesses.as_vec_mut(), start.index());
    scratch.singles.clear();
    for access in &accesses[start..] {
        scratch.singles.extend(
            access
                .subresources
                .ids()
                .map(|subresource| ResolvedAccess { subresources: IdSpan::from(subresource, 1), ..*access }),
        );
    }
    scratch.singles.sort_by_key(|access| access.subresources.first());
    scratch.views.clear(&accesses[start..]);
    for same in scratch.singles.chunk_by(|a, b| a.subresources == b.subresources) {
        scratch.views.join(same, same[1..].iter().fold(same[0], both).layout);
    }
    accesses.truncate(start);
    for same in scratch.singles.chunk_by(|a, b| a.subresources == b.subresources) {
        let mut merged = same[1..].iter().fold(same[0], both);
        let view = scratch.views.find(merged.view);
        merged.view = ViewId::new(scratch.views.first + view.index());
        if scratch.views.general[view] {
            merged.layout = Layout::General;
        }
        let other = same[1..].iter().find(|access| depth[access.resource] != depth[same[0].resource]);
        names = names.or(other.and_then(|other| same[0].declared.zip(other.declared)));
        match accesses[start..].last_mut() {
            Some(last)
                if (ResolvedAccess { subresources: last.subresources, ..merged }) == *last
                    && last.subresources.range().end == merged.subresources.first().index() =>
            {
                last.subresources.grow();
            }
            _ => accesses.push(merged),
        }
    }
    names
}

fn both(a: ResolvedAccess, b: &ResolvedAccess) -> ResolvedAccess {
    let first = if b.effect.writes() && !a.effect.writes() { b } else { &a };
    ResolvedAccess {
        stages: a.stages | b.stages,
        kinds: a.kinds | b.kinds,
        layout: if a.layout == b.layout { a.layout } else { Layout::General },
        effect: stronger(a.effect, b.effect),
        unordered: a.unordered && b.unordered,
        ..*first
    }
}

/// The effect of two uses in one pass: a write stays a write whatever the other use reads.
fn stronger(a: Effect, b: Effect) -> Effect {
    let rank = |effect| match effect {
        Effect::Read => 0,
        Effect::Present => 1,
        Effect::Replace => 2,
        Effect::KeepIfWritten => 3,
        Effect::Keep => 4,
    };
    if rank(a) >= rank(b) { a } else { b }
}
