//! A serial order for graphs whose declared order is not one: reads that look forward, names of one memory that
//! interleave, `after` that points forward. Each piece's touches are put in their meant order, which gives
//! dependencies, which are sorted topologically, ties by declared order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fallback::stands_in;
use super::hazards::Hazards;
use super::meaning::Effect;
use super::walk::level;
use super::{Facts, NodeId, Origin, Problem, Source, Touch, Via};
use crate::graph::PassId;
use crate::id::{Id, IdVec};
use crate::resource::ResourceId;

/// Memory that reordering reuses.
#[derive(Default, Debug)]
pub(super) struct Scratch {
    uses: Vec<PieceUse>,
    /// By piece: twice the declared position of the first pass that writes it.
    first_writer: Vec<u32>,
    edges: Vec<(NodeId, NodeId, Via)>,
    hazards: Hazards,
    placed: Vec<PlacedUse>,
}

/// A use in its meant order: level, position, node, and the touches that it consists of.
type PlacedUse = (u32, u32, NodeId, [usize; 2]);

/// One node's use of one piece; the derived order is the meant one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct PieceUse {
    piece: u32,
    level: u32,
    /// Twice the declared position; odd for reads placed just after a writer.
    position: u32,
    node: NodeId,
    resource: ResourceId,
    exclusive: bool,
    unordered: bool,
}

impl Facts {
    /// Puts the nodes in a serial order; false, with a problem, if there is none. O(t log t).
    pub(super) fn reorder(&mut self, source: Source<'_>, problems: &mut Vec<Problem>) -> bool {
        let mut scratch = std::mem::take(&mut self.order);
        scratch.edges.clear();
        self.find_first_writers(&mut scratch.first_writer);
        if self.touches.iter().any(|touch| touch.unordered) {
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
        first_writer.resize(self.pieces.count(), u32::MAX);
        for (node, touches) in self.nodes.iter_ids().map(|(id, node)| (id, node.touches)) {
            for touch in self.touches[touches.range()].iter().filter(|touch| touch.effect.writes()) {
                if self.depth[touch.resource] == 0 {
                    for first in &mut first_writer[touch.pieces()] {
                        *first = (*first).min(node.index() as u32 * 2);
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
        for (node, touches) in self.nodes.iter_ids().map(|(id, node)| (id, node.touches)) {
            let mut at = touches.start as usize;
            for access in self.touches[touches.range()].chunk_by(Touch::of_one_use) {
                let position = self.place_of(source, node, access, first_writer);
                placed.push((level(self, node, &access[0]), position, node, [at, at + access.len()]));
                at += access.len();
            }
        }
        placed.sort_unstable();
        self.entry_states(source);
        for &(.., [first, end]) in placed.iter() {
            self.place_in_group(source, first..end);
        }
    }

    fn collect_uses(&self, source: Source<'_>, scratch: &mut Scratch) {
        let Scratch { uses, first_writer, .. } = scratch;
        uses.clear();
        for (node, touches) in self.nodes.iter_ids().map(|(id, node)| (id, node.touches)) {
            let touches = &self.touches[touches.range()];
            for access in touches.chunk_by(Touch::of_one_use) {
                let mut position = self.place_of(source, node, access, first_writer);
                if stands_in(source, &access[0]) {
                    // It is read where what it stands in for is.
                    let named = touches.chunk_by(Touch::of_one_use);
                    let named = named.filter(|other| other[0].declared == access[0].declared);
                    let places = named.map(|other| self.place_of(source, node, other, first_writer));
                    position = places.fold(position, u32::max);
                }
                for touch in access {
                    let level = level(self, node, touch);
                    uses.extend(touch.pieces().map(|piece| PieceUse {
                        piece: piece as u32,
                        level,
                        position,
                        node,
                        resource: touch.resource,
                        exclusive: touch.effect != Effect::Read,
                        unordered: touch.unordered,
                    }));
                }
            }
        }
        uses.sort_unstable();
    }

    /// Twice the declared position of an access; odd where it looks forward: a read of a transient before any of its
    /// writers comes just after the first pass that writes any of it, and the mips that this pass generates.
    fn place_of(&self, source: Source<'_>, node: NodeId, access: &[Touch], first_writer: &[u32]) -> u32 {
        let position = node.index() as u32 * 2;
        if !self.may_look_forward(source, &access[0]) {
            return position;
        }
        let pieces = access.iter().flat_map(Touch::pieces);
        let first = pieces.map(|piece| first_writer[piece]).min().unwrap_or(u32::MAX);
        if first <= position
            || first == u32::MAX
            || self.any_in_range(source, &access[0], |p| first_writer[p] <= position)
        {
            return position;
        }
        let pass = |at: usize| match self.nodes.as_slice()[at].origin {
            Origin::Declared(pass) | Origin::Mip { pass, .. } => Some(pass),
            Origin::Blit { .. } => None,
        };
        let mut last = first as usize / 2;
        let writer = pass(last);
        while writer.is_some() && last + 1 < self.nodes.len() && pass(last + 1) == writer {
            last += 1;
        }
        last as u32 * 2 + 1
    }

    fn edges_of_uses(&self, scratch: &mut Scratch) {
        let Scratch { uses, edges, hazards, .. } = scratch;
        hazards.clear(self.pieces.count());
        let mut below: Option<PieceUse> = None;
        for this in uses.iter() {
            let changed = below.filter(|b| b.piece == this.piece && b.level / 2 != this.level / 2);
            let via = match changed {
                Some(b) => Via::Modifies(b.resource, this.resource),
                None if this.position % 2 == 1 => Via::Forward(this.resource),
                None => Via::Resource(this.resource),
            };
            hazards.touch(this.piece as usize, this.node, this.exclusive, u32::from(this.unordered), |from| {
                edges.push((from, this.node, via));
            });
            below = Some(*this);
        }
    }

    /// Kahn's algorithm with the least ready node first; the nodes left over where there is a cycle.
    fn sort(&self, edges: &mut [(NodeId, NodeId, Via)]) -> Result<Vec<NodeId>, Vec<bool>> {
        edges.sort_by_key(|&(from, to, _)| (from, to));
        let count = self.nodes.len();
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
        while let Some(Reverse(node)) = ready.pop() {
            crate::cancel::poll();
            order.push(NodeId::new(node));
            for &(_, to, _) in &edges[start[node]..start[node + 1]] {
                waiting[to.index()] -= 1;
                if waiting[to.index()] == 0 {
                    ready.push(Reverse(to.index()));
                }
            }
        }
        if order.len() == count { Ok(order) } else { Err(waiting.iter().map(|&w| w > 0).collect()) }
    }

    /// One cycle among the nodes that could not be sorted: backwards along unsorted predecessors until one repeats.
    fn cycle(&self, edges: &[(NodeId, NodeId, Via)], stuck: &[bool]) -> Vec<(PassId, Via)> {
        let mut before: Vec<Option<(NodeId, Via)>> = vec![None; stuck.len()];
        for &(from, to, via) in edges {
            if stuck[from.index()] && stuck[to.index()] {
                before[to.index()] = Some((from, via));
            }
        }
        let mut seen = vec![false; stuck.len()];
        let mut at = stuck.iter().position(|&s| s).map(NodeId::new).expect("a failed sort leaves nodes over");
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
        let pass = |node: NodeId| match self.nodes[node].origin {
            Origin::Declared(pass) | Origin::Mip { pass, .. } => Some(pass),
            Origin::Blit { .. } => None,
        };
        path.into_iter().filter_map(|(node, via)| Some((pass(node)?, via))).collect()
    }

    fn renumber(&mut self, order: &[NodeId]) {
        let mut new = IdVec::<NodeId, NodeId>::filled(NodeId::new(0), order.len());
        let mut nodes = IdVec::new();
        for &old in order {
            new[old] = nodes.push(self.nodes[old]);
        }
        self.nodes = nodes;
        for node in self.node_of.iter_mut() {
            *node = new[*node];
        }
        for (later, earlier) in &mut self.after {
            (*later, *earlier) = (new[*later], new[*earlier]);
        }
    }
}
