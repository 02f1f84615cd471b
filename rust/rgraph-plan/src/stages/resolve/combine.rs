//! A node that uses one memory twice (depth read and sampled, attachment and input attachment) touches each piece
//! once, with the stages and accesses of both.

use super::Touch;
use super::meaning::Effect;
use crate::access::Layout;
use crate::id::IdVec;
use crate::resource::ResourceId;

/// Memory that [`combine`] reuses.
#[derive(Default, Debug)]
pub struct Scratch {
    singles: Vec<Touch>,
    views: Views,
}

/// Views of a node that see a piece together, as a forest of disjoint sets: all pieces of a set are in one layout.
#[derive(Default, Debug)]
struct Views {
    first: u32,
    parent: Vec<u32>,
    general: Vec<bool>,
}

impl Views {
    /// Forgets everything; each of `touches` has a view of its own.
    fn clear(&mut self, touches: &[Touch]) {
        let views = || touches.iter().map(|touch| touch.view);
        self.first = views().min().unwrap_or(0);
        let end = views().max().map_or(0, |last| last + 1);
        self.parent.clear();
        self.parent.extend(0..end - self.first);
        self.general.clear();
        self.general.resize(self.parent.len(), false);
    }

    fn find(&self, view: u32) -> usize {
        let mut at = (view - self.first) as usize;
        while self.parent[at] as usize != at {
            at = self.parent[at] as usize;
        }
        at
    }

    /// One piece that all of `same` see is in `layout`.
    fn join(&mut self, same: &[Touch], layout: Layout) {
        let root = same.iter().map(|touch| self.find(touch.view)).min().unwrap_or(0);
        for touch in same {
            let other = self.find(touch.view);
            self.general[root] |= self.general[other];
            self.parent[other] = root as u32;
        }
        self.general[root] |= layout == Layout::General;
    }
}

/// Makes the touches from `start` on meet no piece twice. O(p log p) in the pieces they cover. Returns two accesses that
/// use one piece under different names, of which one modifies the other, if there are any.
pub fn combine(
    touches: &mut Vec<Touch>,
    start: usize,
    depth: &IdVec<ResourceId, u32>,
    scratch: &mut Scratch,
) -> Option<(u32, u32)> {
    let mut names = None;
    scratch.singles.clear();
    for touch in &touches[start..] {
        scratch.singles.extend(touch.pieces().map(|piece| Touch { first: piece as u32, count: 1, ..*touch }));
    }
    scratch.singles.sort_by_key(|touch| touch.first);
    scratch.views.clear(&touches[start..]);
    for same in scratch.singles.chunk_by(|a, b| a.first == b.first) {
        scratch.views.join(same, same[1..].iter().fold(same[0], both).layout);
    }
    touches.truncate(start);
    for same in scratch.singles.chunk_by(|a, b| a.first == b.first) {
        let mut merged = same[1..].iter().fold(same[0], both);
        let view = scratch.views.find(merged.view);
        merged.view = scratch.views.first + view as u32;
        if scratch.views.general[view] {
            merged.layout = Layout::General;
        }
        let other = same[1..].iter().find(|touch| depth[touch.resource] != depth[same[0].resource]);
        names = names.or(other.map(|other| (same[0].declared, other.declared)));
        match touches[start..].last_mut() {
            Some(last)
                if (Touch { first: last.first, count: last.count, ..merged }) == *last
                    && last.first + last.count == merged.first =>
            {
                last.count += 1;
            }
            _ => touches.push(merged),
        }
    }
    names
}

fn both(a: Touch, b: &Touch) -> Touch {
    let first = if b.effect.writes() && !a.effect.writes() { b } else { &a };
    Touch {
        stages: a.stages | b.stages,
        access: a.access | b.access,
        layout: if a.layout == b.layout { a.layout } else { Layout::General },
        effect: stronger(a.effect, b.effect),
        unordered: a.unordered && b.unordered,
        ..*first
    }
}

/// The effect of two uses in one pass: a write is one whatever reads beside it.
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
