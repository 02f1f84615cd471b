//! A serial order for graphs whose declared order is not one: reads that look forward, names of one memory that
//! interleave, `after` that points forward. Each subresource's accesses are put in their meant order, which gives
//! dependencies, which are sorted topologically, ties by declared order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fallback::stands_in;
use super::hazards::Hazards;
use super::meaning::Effect;
use super::walk::level;
use super::{Facts, Origin, Problem, ResolvedAccess, ResolvedPassId, Source, Via};
use crate::graph::PassId;
use crate::id::{Id, IdVec};
use crate::resource::ResourceId;

/// Memory that reordering reuses.
#[derive(Default, Debug)]
pub(super) struct Scratch {
    uses: Vec<SubresourceUse>,
    /// By subresource: twice the declared position of the first pass that writes it.
    first_writer: Vec<u32>,
    edges: Vec<(ResolvedPassId, ResolvedPassId, Via)>,
    hazards: Hazards,
    placed: Vec<PlacedUse>,
}

/// A use in its meant order: level, position, pass, and the accesses that it consists of.
type PlacedUse = (u32, u32, ResolvedPassId, [usize; 2]);

/// One pass's use of one subresource; the derived order is the meant one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct SubresourceUse {
    subresource: u32,
    level: u32,
    /// Twice the declared position; odd for reads placed just after a writer.
    position: u32,
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

    fn find_first_writers(&self, first_writer: &mut Vec<u32>) {
        first_writer.clear();
        first_writer.resize(self.subresources.count(), u32::MAX);
        for (pass, accesses) in self.passes.iter_ids().map(|(id, pass)| (id, pass.accesses)) {
            for access in self.accesses[accesses.range()].iter().filter(|access| access.effect.writes()) {
                if self.depth[access.resource] == 0 {
                    for first in &mut first_writer[access.subresources()] {
                        *first = (*first).min(pass.index() as u32 * 2);
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
            let mut at = accesses.start as usize;
            for access in self.accesses[accesses.range()].chunk_by(ResolvedAccess::of_one_use) {
                let position = self.place_of(source, pass, access, first_writer);
                placed.push((level(self, pass, &access[0]), position, pass, [at, at + access.len()]));
                at += access.len();
            }
        }
        placed.sort_unstable();
        self.entry_states(source);
        for &(level, _, _, [first, end]) in placed.iter() {
            self.place_in_group(source, level, first..end);
        }
    }

    fn collect_uses(&self, source: Source<'_>, scratch: &mut Scratch) {
        let Scratch { uses, first_writer, .. } = scratch;
        uses.clear();
        for (pass, accesses) in self.passes.iter_ids().map(|(id, pass)| (id, pass.accesses)) {
            let accesses = &self.accesses[accesses.range()];
            for one_use in accesses.chunk_by(ResolvedAccess::of_one_use) {
                let mut position = self.place_of(source, pass, one_use, first_writer);
                if stands_in(source, &one_use[0]) {
                    // It is read where what it stands in for is.
                    let named = accesses.chunk_by(ResolvedAccess::of_one_use);
                    let named = named.filter(|other| other[0].declared == one_use[0].declared);
                    let places = named.map(|other| self.place_of(source, pass, other, first_writer));
                    position = places.fold(position, u32::max);
                }
                for access in one_use {
                    let level = level(self, pass, access);
                    uses.extend(access.subresources().map(|subresource| SubresourceUse {
                        subresource: subresource as u32,
                        level,
                        position,
                        pass,
                        resource: access.resource,
                        exclusive: access.effect != Effect::Read,
                        unordered: access.unordered,
                    }));
                }
            }
        }
        uses.sort_unstable();
    }

    /// Twice the declared position of an access; odd where it looks forward: a read of a transient before any of its
    /// writers comes just after the first pass that writes any of it, and the mips that this pass generates.
    fn place_of(
        &self,
        source: Source<'_>,
        pass: ResolvedPassId,
        access: &[ResolvedAccess],
        first_writer: &[u32],
    ) -> u32 {
        let position = pass.index() as u32 * 2;
        if !self.may_look_forward(source, &access[0]) {
            return position;
        }
        let subresources = access.iter().flat_map(ResolvedAccess::subresources);
        let first = subresources.map(|subresource| first_writer[subresource]).min().unwrap_or(u32::MAX);
        if first <= position
            || first == u32::MAX
            || self.any_in_range(source, &access[0], |p| first_writer[p] <= position)
        {
            return position;
        }
        let declared_pass = |at: usize| match self.passes.as_slice()[at].origin {
            Origin::Declared(pass) | Origin::Mip { pass, .. } => Some(pass),
            Origin::Blit { .. } => None,
        };
        let mut last = first as usize / 2;
        let writer = declared_pass(last);
        while writer.is_some() && last + 1 < self.passes.len() && declared_pass(last + 1) == writer {
            last += 1;
        }
        last as u32 * 2 + 1
    }

    fn edges_of_uses(&self, scratch: &mut Scratch) {
        let Scratch { uses, edges, hazards, .. } = scratch;
        hazards.clear(self.subresources.count());
        let mut below: Option<SubresourceUse> = None;
        for this in uses.iter() {
            let changed = below.filter(|b| b.subresource == this.subresource && b.level / 2 != this.level / 2);
            let via = match changed {
                Some(b) => Via::Modifies(b.resource, this.resource),
                None if this.position % 2 == 1 => Via::Forward(this.resource),
                None => Via::Resource(this.resource),
            };
            // Uses under two names do not commute.
            let group = if this.unordered { this.level + 1 } else { 0 };
            hazards.access(this.subresource as usize, this.pass, this.exclusive, group, |from| {
                edges.push((from, this.pass, via));
            });
            below = Some(*this);
        }
    }

    /// Kahn's algorithm with the least ready pass first; the passes left over where there is a cycle.
    fn sort(&self, edges: &mut [(ResolvedPassId, ResolvedPassId, Via)]) -> Result<Vec<ResolvedPassId>, Vec<bool>> {
        edges.sort_by_key(|&(from, to, _)| (from, to));
        let count = self.passes.len();
        let mut waiting = vec![0u32; count];
        let mut start = vec![0usize; count + 1];
        for &(from, to, _) in edges.iter() {
            waiting[to.index()] += 1;
            start[from.index() + 1] += 1;
        }
        for at in 0..count {
            start[at + 1] += start[at];
        }
        let mut ready: BinaryHeap<Reverse<usize>> = (0..count).filter(|&n| waiting[n] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse(pass)) = ready.pop() {
            crate::cancel::poll();
            order.push(ResolvedPassId::new(pass));
            for &(_, to, _) in &edges[start[pass]..start[pass + 1]] {
                waiting[to.index()] -= 1;
                if waiting[to.index()] == 0 {
                    ready.push(Reverse(to.index()));
                }
            }
        }
        if order.len() == count { Ok(order) } else { Err(waiting.iter().map(|&w| w > 0).collect()) }
    }

    /// One cycle among the passes that could not be sorted: backwards along unsorted predecessors until one repeats.
    fn cycle(&self, edges: &[(ResolvedPassId, ResolvedPassId, Via)], stuck: &[bool]) -> Vec<(PassId, Via)> {
        let mut before: Vec<Option<(ResolvedPassId, Via)>> = vec![None; stuck.len()];
        for &(from, to, via) in edges {
            if stuck[from.index()] && stuck[to.index()] {
                before[to.index()] = Some((from, via));
            }
        }
        let mut seen = vec![false; stuck.len()];
        let mut at = stuck.iter().position(|&s| s).map(ResolvedPassId::new).expect("a failed sort leaves nodes over");
        while !std::mem::replace(&mut seen[at.index()], true) {
            at = before[at.index()].expect("a node left over waits for another one left over").0;
        }
        let first = at;
        let mut path = Vec::new();
        loop {
            let (from, via) = before[at.index()].expect("as above");
            path.push((from, via));
            at = from;
            if at == first {
                break;
            }
        }
        path.reverse();
        let declared_pass = |pass: ResolvedPassId| match self.passes[pass].origin {
            Origin::Declared(pass) | Origin::Mip { pass, .. } => Some(pass),
            Origin::Blit { .. } => None,
        };
        path.into_iter().filter_map(|(pass, via)| Some((declared_pass(pass)?, via))).collect()
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
