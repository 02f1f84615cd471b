//! A serial order for graphs whose declared order is not one: reads that look forward, names of one memory that
//! interleave, `after` that points forward. Each subresource's accesses are put in their meant order, which gives
//! dependencies, which are sorted topologically, ties by declared order.

use crate::stages::ids::{ResolvedAccessId, ResolvedPassId, SubresourceId, UnorderedGroupId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fallback::reads_fallback;
use super::hazards::Hazards;
use super::meaning::Effect;
use super::walk::level;
use super::{Facts, Problem, ResolvedAccess, Source, Via};
use crate::graph::PassId;
use crate::id::{Id, IdSpan, IdVec, Span};
use crate::resource::ResourceId;

/// The first pass that writes each subresource.
type FirstWriters = IdVec<SubresourceId, Option<ResolvedPassId>>;

/// Memory that reordering reuses.
#[derive(Default, Debug)]
pub(super) struct Scratch {
    uses: Vec<SubresourceUse>,
    first_writer: FirstWriters,
    edges: Vec<(ResolvedPassId, ResolvedPassId, Via)>,
    hazards: Hazards,
    placed: Vec<PlacedUse>,
}

/// Where a use is meant to be: at a declared pass or, a read that looks forward, behind one that writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct MeantPlace {
    pass: ResolvedPassId,
    behind: bool,
}

/// A use in its meant order: level, place, pass, and the accesses that it consists of: the first, and their number.
type PlacedUse = (u32, MeantPlace, ResolvedPassId, ResolvedAccessId, usize);

/// One pass's use of one subresource; the derived order is the meant one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct SubresourceUse {
    subresource: SubresourceId,
    level: u32,
    place: MeantPlace,
    pass: ResolvedPassId,
    resource: ResourceId,
    exclusive: bool,
    unordered: bool,
}

impl Facts {
    /// Puts the passes in a serial order; false, with a problem, if there is none. O(t log t).
    pub(super) fn reorder(&mut self, source: Source<'_>, problems: &mut Vec<Problem>) -> bool {
        let mut scratch = std::mem::take(&mut self.order);
        scratch.edges.clear();
        self.find_first_writers(&mut scratch.first_writer);
        if self.accesses.iter().any(|access| access.unordered) {
            self.order_lone_groups(source, &mut scratch);
        }
        self.collect_uses(source, &mut scratch);
        self.edges_of_uses(&mut scratch);
        for &(later, earlier) in &self.after {
            scratch.edges.push((earlier, later, Via::After));
        }
        let sorted = self.sort(&mut scratch.edges);
        match sorted {
            Ok(order) => self.renumber(&order),
            Err(stuck) => problems.push(Problem::Cycle(self.cycle(&scratch.edges, &stuck))),
        }
        let fine = problems.is_empty();
        self.order = scratch;
        fine
    }

    fn find_first_writers(&self, first_writer: &mut FirstWriters) {
        first_writer.refill(None, self.subresources.count());
        for (pass, accesses) in self.passes.iter_ids().map(|(id, pass)| (id, pass.accesses)) {
            for access in self.accesses.slice(accesses).iter().filter(|access| access.effect.writes()) {
                if self.depth[access.resource] == 0 {
                    for first in first_writer.slice_mut(access.subresources) {
                        first.get_or_insert(pass);
                    }
                }
            }
        }
    }

    /// A use that must find contents which only its own unordered group makes is an ordinary one: it follows those
    /// before it. The walk decides the same where the declared order is a serial one. O(t log t).
    fn order_lone_groups(&mut self, source: Source<'_>, scratch: &mut Scratch) {
        let Scratch { placed, first_writer, .. } = scratch;
        placed.clear();
        for (pass, accesses) in self.passes.iter_ids().map(|(id, pass)| (id, pass.accesses)) {
            let mut at = accesses.first();
            for access in self.accesses.slice(accesses).chunk_by(ResolvedAccess::of_one_use) {
                let place = self.place_of(source, pass, access, first_writer);
                placed.push((level(self, pass, &access[0]), place, pass, at, access.len()));
                at = ResolvedAccessId::new(at.index() + access.len());
            }
        }
        placed.sort_unstable();
        self.entry_states(source);
        for &(level, _, _, first, count) in placed.iter() {
            self.place_in_group(source, level, IdSpan::from(first, count));
        }
    }

    fn collect_uses(&self, source: Source<'_>, scratch: &mut Scratch) {
        let Scratch { uses, first_writer, .. } = scratch;
        uses.clear();
        for (pass, accesses) in self.passes.iter_ids().map(|(id, pass)| (id, pass.accesses)) {
            let accesses = self.accesses.slice(accesses);
            for one_use in accesses.chunk_by(ResolvedAccess::of_one_use) {
                let mut place = self.place_of(source, pass, one_use, first_writer);
                if reads_fallback(source, &one_use[0]) {
                    // A fallback is read where its output is.
                    let named = accesses.chunk_by(ResolvedAccess::of_one_use);
                    let named = named.filter(|other| other[0].declared == one_use[0].declared);
                    let places = named.map(|other| self.place_of(source, pass, other, first_writer));
                    place = places.fold(place, MeantPlace::max);
                }
                for access in one_use {
                    let level = level(self, pass, access);
                    uses.extend(access.subresources.ids().map(|subresource| SubresourceUse {
                        subresource,
                        level,
                        place,
                        pass,
                        resource: access.resource,
                        exclusive: access.effect != Effect::Read,
                        unordered: access.unordered,
                    }));
                }
            }
        }
        // Where an access of the pass took subresources of a read, the read has its own place there too.
        for (pass, read) in &self.hidden {
            let pass = self.pass_of[*pass];
            let place = self.place_of(source, pass, std::slice::from_ref(read), first_writer);
            let level = level(self, pass, read);
            uses.extend(read.subresources.ids().map(|subresource| SubresourceUse {
                subresource,
                level,
                place,
                pass,
                resource: read.resource,
                exclusive: false,
                unordered: false,
            }));
        }
        uses.sort_unstable();
    }

    /// The place of an access of a pass. It looks forward if it reads a transient before any of its writers: it comes
    /// just after the first pass that writes any of it, and the mips that this pass generates.
    fn place_of(
        &self,
        source: Source<'_>,
        pass: ResolvedPassId,
        access: &[ResolvedAccess],
        first_writer: &FirstWriters,
    ) -> MeantPlace {
        let own = MeantPlace { pass, behind: false };
        if !self.may_look_forward(source, &access[0]) {
            return own;
        }
        // Of the declared range: other accesses of the pass may have taken subresources of this one.
        let mut first: Option<ResolvedPassId> = None;
        let mut note = |subresource: SubresourceId| {
            first = first.into_iter().chain(first_writer[subresource]).min();
        };
        access.iter().flat_map(|access| access.subresources.ids()).for_each(&mut note);
        self.any_in_range(source, &access[0], |subresource| {
            note(subresource);
            false
        });
        let Some(first) = first.filter(|first| *first > pass) else { return own };
        let mut last = first;
        let writer = self.declared_pass(first);
        for id in IdSpan::<ResolvedPassId>::new(first.index() + 1, self.passes.len()).ids() {
            if writer.is_none() || self.declared_pass(id) != writer {
                break;
            }
            last = id;
        }
        MeantPlace { pass: last, behind: true }
    }

    fn edges_of_uses(&self, scratch: &mut Scratch) {
        let Scratch { uses, edges, hazards, .. } = scratch;
        hazards.clear(self.subresources.count());
        let mut below: Option<SubresourceUse> = None;
        for this in uses.iter() {
            let changed = below.filter(|b| b.subresource == this.subresource && b.level / 2 != this.level / 2);
            let via = match changed {
                Some(b) => Via::Modifies(b.resource, this.resource),
                None if this.place.behind => Via::Forward(this.resource),
                None => Via::Resource(this.resource),
            };
            // Uses under two names do not commute.
            let group = this.unordered.then(|| UnorderedGroupId::new(this.level as usize));
            hazards.access(this.subresource, this.pass, this.exclusive, group, |from| {
                edges.push((from, this.pass, via));
            });
            below = Some(*this);
        }
    }

    /// Kahn's algorithm with the least ready pass first; the passes left over where there is a cycle.
    fn sort(
        &self,
        edges: &mut [(ResolvedPassId, ResolvedPassId, Via)],
    ) -> Result<Vec<ResolvedPassId>, IdVec<ResolvedPassId, bool>> {
        edges.sort_by_key(|&(from, to, _)| (from, to));
        let count = self.passes.len();
        let mut waiting = IdVec::<ResolvedPassId, u32>::filled(0, count);
        let mut behind = IdVec::<ResolvedPassId, Span>::filled(Span::default(), count);
        for &(from, to, _) in edges.iter() {
            waiting[to] += 1;
            behind[from].end += 1;
        }
        let mut start = 0;
        for span in behind.iter_mut() {
            *span = Span { start, end: start + span.end };
            start = span.end;
        }
        let mut ready: BinaryHeap<_> = waiting.ids().filter(|&pass| waiting[pass] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse(pass)) = ready.pop() {
            crate::cancel::poll();
            order.push(pass);
            for &(_, to, _) in &edges[behind[pass].range()] {
                waiting[to] -= 1;
                if waiting[to] == 0 {
                    ready.push(Reverse(to));
                }
            }
        }
        if order.len() == count { Ok(order) } else { Err(waiting.iter().map(|&w| w > 0).collect()) }
    }

    /// One cycle among the passes that could not be sorted: backwards along unsorted predecessors until one repeats.
    fn cycle(
        &self,
        edges: &[(ResolvedPassId, ResolvedPassId, Via)],
        stuck: &IdVec<ResolvedPassId, bool>,
    ) -> Vec<(PassId, Via)> {
        let mut before = IdVec::<ResolvedPassId, Option<(ResolvedPassId, Via)>>::filled(None, stuck.len());
        for &(from, to, via) in edges {
            if stuck[from] && stuck[to] {
                before[to] = Some((from, via));
            }
        }
        let mut seen = IdVec::<ResolvedPassId, bool>::filled(false, stuck.len());
        let mut at = stuck.ids().find(|&pass| stuck[pass]).expect("a failed sort leaves nodes over");
        while !std::mem::replace(&mut seen[at], true) {
            at = before[at].expect("a node left over waits for another one left over").0;
        }
        let first = at;
        let mut path = Vec::new();
        loop {
            let (from, via) = before[at].expect("as above");
            path.push((from, via));
            at = from;
            if at == first {
                break;
            }
        }
        path.reverse();
        path.into_iter().filter_map(|(pass, via)| Some((self.declared_pass(pass)?, via))).collect()
    }

    fn renumber(&mut self, order: &[ResolvedPassId]) {
        let mut new = IdVec::<ResolvedPassId, ResolvedPassId>::filled(ResolvedPassId::new(0), order.len());
        let mut passes = IdVec::new();
        for &old in order {
            new[old] = passes.push(self.passes[old]);
        }
        self.passes = passes;
        for pass in self.pass_of.iter_mut() {
            *pass = new[*pass];
        }
        for (later, earlier) in &mut self.after {
            (*later, *earlier) = (new[*later], new[*earlier]);
        }
    }
}
