//! Which passes a root needs: backwards from the last writers of roots along "needs the contents of", exact and
//! transitive; why the others are not needed; and which parts of the graph have nothing to do with each other.
//!
//! Island's rule for independent parts: roots whose reads and writes overlap share a key. Found by union-find
//! (Tarjan 1975) over the memories that live passes access, in near-linear time.

use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::plan::Culled;
use crate::resource::{Life, ResourceId};
use crate::stages::ids::{LiveId, ResolvedPassId};
use crate::stages::resolve::{Facts, Origin};

/// What is needed and what is not.
#[derive(Default, Debug)]
pub struct Live {
    /// By pass: whether it runs.
    pub needed: IdVec<ResolvedPassId, bool>,
    /// Passes that run, in serial order.
    pub passes: IdVec<LiveId, ResolvedPassId>,
    /// By pass that runs: a representative of its part of the graph.
    pub part: IdVec<ResolvedPassId, ResolvedPassId>,
    stack: Vec<ResolvedPassId>,
    owner: IdVec<ResourceId, Option<ResolvedPassId>>,
    /// By representative of a part: the first live pass of it.
    first: IdVec<ResolvedPassId, Option<ResolvedPassId>>,
    written: IdVec<ResourceId, bool>,
    reader: IdVec<ResolvedPassId, Option<ResolvedPassId>>,
}

/// Finds the live passes; all are, unless it culls. O(passes + accesses + contributions).
pub(crate) fn cull(graph: &Graph, facts: &Facts, culls: bool, live: &mut Live) {
    live.needed.refill(false, facts.passes.len());
    live.stack.clear();
    let Live { needed, stack, .. } = live;
    let mut need = |pass: ResolvedPassId, stack: &mut Vec<ResolvedPassId>| {
        if !std::mem::replace(&mut needed[pass], true) {
            stack.push(pass);
        }
    };
    for (id, pass) in facts.passes.iter_ids() {
        if pass.keep || !culls {
            need(id, stack);
        }
    }
    let mut need_writers = |memory: ResourceId, stack: &mut Vec<ResolvedPassId>| {
        for writer in facts.final_writer.slice(facts.subresources.of(memory)).iter().flatten() {
            need(*writer, stack);
        }
    };
    for &root in graph.roots() {
        // A history that the caller looks at is what earlier frames made.
        need_writers(facts.ring_base[facts.memory[root]], stack);
    }
    for (id, resource) in graph.resources().iter_ids() {
        if facts.memory[id] == id && matches!(resource.life, Life::Imported(_)) {
            need_writers(id, stack);
        }
    }
    while let Some(id) = stack.pop() {
        crate::cancel::poll();
        let pass = &facts.passes[id];
        for &source in &facts.sources[pass.sources.range()] {
            need(source, stack);
        }
        let mutual = &facts.mutual[facts.mutual.partition_point(|(earlier, _)| *earlier < id)..];
        for &(_, later) in mutual.iter().take_while(|(earlier, _)| *earlier == id) {
            need(later, stack);
        }
        for &subresource in &facts.entry_reads[pass.entry_reads.range()] {
            // The same part of what is remembered: all memories of a ring are cut alike.
            let memory = facts.subresources.get(subresource).memory;
            let within = subresource.index() - facts.subresources.of(memory).first().index();
            let remembered = facts.final_writer.slice(facts.subresources.of(facts.ring_base[memory]));
            if let Some(writer) = remembered[within] {
                need(writer, stack);
            }
        }
    }
    live.passes.clear();
    live.passes.as_vec_mut().extend(facts.passes.ids().filter(|&id| live.needed[id]));
    live.find_parts(facts);
}

impl Live {
    /// Union-find: passes that access one memory, unless nobody writes it, are of one part.
    fn find_parts(&mut self, facts: &Facts) {
        let memories = facts.memory.len();
        self.written.refill(false, memories);
        self.owner.refill(None, memories);
        self.part.clear();
        self.part.as_vec_mut().extend(facts.passes.ids());
        for &id in &self.passes {
            for access in facts.accesses.slice(facts.passes[id].accesses) {
                let ring_base = facts.ring_base[facts.memory[access.resource]];
                self.written[ring_base] |= access.effect.writes();
            }
        }
        for &id in &self.passes {
            for access in facts.accesses.slice(facts.passes[id].accesses) {
                let ring_base = facts.ring_base[facts.memory[access.resource]];
                if !self.written[ring_base] {
                    continue;
                }
                match self.owner[ring_base] {
                    Some(other) => join(&mut self.part, other, id),
                    None => self.owner[ring_base] = Some(id),
                }
            }
        }
        // A culled pass hands on what it comes after.
        for &(later, earlier) in &facts.after {
            join(&mut self.part, later, earlier);
        }
        self.first.refill(None, facts.passes.len());
        for &id in &self.passes {
            let root = find(&mut self.part, id);
            let first = *self.first[root].get_or_insert(id);
            self.first[first] = Some(first);
            self.part[id] = first;
        }
    }

    /// Why a declared pass does not run. Readers are looked up once for all: call with ascending passes.
    pub fn reasons(&mut self, graph: &Graph, facts: &Facts, mut tell: impl FnMut(ResolvedPassId, Culled)) {
        self.reader.refill(None, facts.passes.len());
        for (id, pass) in facts.passes.iter_ids() {
            if !self.needed[id] {
                for &source in &facts.sources[pass.sources.range()] {
                    self.reader[source].get_or_insert(id);
                }
            }
        }
        for (id, pass) in facts.passes.iter_ids() {
            let Origin::Declared(declared_pass) = pass.origin else { continue };
            if self.needed[id] {
                continue;
            }
            let mut writes = facts.accesses.slice(pass.accesses).iter().filter(|access| access.effect.writes());
            let reason = match writes.next() {
                None if pass.accesses.is_empty() && graph.passes()[declared_pass].setup => Culled::OptedOut,
                None => Culled::WritesNothing,
                Some(access) => match (self.reader[id], facts.replaced[id]) {
                    (Some(reader), _) => match facts.passes[reader].origin {
                        Origin::Declared(by) => Culled::OnlyCulledReaders(access.resource, by.index() as u32),
                        _ => Culled::Unread(access.resource),
                    },
                    (None, Some(resource)) => Culled::Overwritten(resource),
                    (None, None) => Culled::Unread(access.resource),
                },
            };
            tell(id, reason);
        }
    }
}

fn find(part: &mut IdVec<ResolvedPassId, ResolvedPassId>, mut at: ResolvedPassId) -> ResolvedPassId {
    while part[at] != at {
        let higher = part[part[at]];
        part[at] = higher;
        at = higher;
    }
    at
}

/// The lower pass becomes the representative, so that parts are named by their first pass.
fn join(part: &mut IdVec<ResolvedPassId, ResolvedPassId>, a: ResolvedPassId, b: ResolvedPassId) {
    let (a, b) = (find(part, a), find(part, b));
    part[a.max(b)] = a.min(b);
}
