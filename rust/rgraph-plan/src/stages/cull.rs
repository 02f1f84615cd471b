//! Which nodes a root needs: backwards from the last writers of roots along "needs the contents of", exact and
//! transitive; why the others are not needed; and which parts of the graph have nothing to do with each other.
//!
//! Island's rule for independent parts: roots whose reads and writes overlap share a key. Found by union-find
//! (Tarjan 1975) over the memories that live nodes touch, in near-linear time.

use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::plan::Culled;
use crate::resource::{Life, ResourceId};
use crate::stages::resolve::{Facts, NodeId, Origin};

/// What is needed and what is not.
#[derive(Default, Debug)]
pub struct Live {
    /// By node: whether it runs.
    pub needed: IdVec<NodeId, bool>,
    /// Nodes that run, in serial order.
    pub nodes: Vec<NodeId>,
    /// By node that runs: a representative of its part of the graph.
    pub part: IdVec<NodeId, u32>,
    stack: Vec<NodeId>,
    owner: IdVec<ResourceId, Option<NodeId>>,
    written: IdVec<ResourceId, bool>,
    reader: IdVec<NodeId, Option<NodeId>>,
}

/// Finds the live nodes; all are, unless it culls. O(nodes + touches + contributions).
pub fn cull(graph: &Graph, facts: &Facts, culls: bool, live: &mut Live) {
    live.needed.refill(false, facts.nodes.len());
    live.stack.clear();
    let Live { needed, stack, .. } = live;
    let mut need = |node: NodeId, stack: &mut Vec<NodeId>| {
        if !std::mem::replace(&mut needed[node], true) {
            stack.push(node);
        }
    };
    for (id, node) in facts.nodes.iter_ids() {
        if node.keep || !culls {
            need(id, stack);
        }
    }
    let mut need_writers = |memory: ResourceId, stack: &mut Vec<NodeId>| {
        for writer in facts.final_writer[facts.pieces.of(memory).range()].iter().flatten() {
            need(*writer, stack);
        }
    };
    for &root in graph.roots() {
        // A history that the caller looks at is what earlier frames made.
        need_writers(facts.family[facts.memory[root]], stack);
    }
    for (id, resource) in graph.resources().iter_ids() {
        if facts.memory[id] == id && matches!(resource.life, Life::Imported(_)) {
            need_writers(id, stack);
        }
    }
    while let Some(id) = stack.pop() {
        crate::cancel::poll();
        let node = &facts.nodes[id];
        for &source in &facts.sources[node.sources.range()] {
            need(source, stack);
        }
        let mutual = &facts.mutual[facts.mutual.partition_point(|(earlier, _)| *earlier < id)..];
        for &(_, later) in mutual.iter().take_while(|(earlier, _)| *earlier == id) {
            need(later, stack);
        }
        for &piece in &facts.entry_reads[node.entry_reads.range()] {
            // The same part of what is remembered: families are cut alike.
            let memory = facts.pieces.get(piece).memory;
            let within = piece - facts.pieces.of(memory).start;
            let made_by = facts.pieces.of(facts.family[memory]).start + within;
            if let Some(writer) = facts.final_writer[made_by as usize] {
                need(writer, stack);
            }
        }
    }
    live.nodes.clear();
    live.nodes.extend(facts.nodes.ids().filter(|&id| live.needed[id]));
    live.find_parts(facts);
}

impl Live {
    /// Union-find: nodes that touch one memory, unless nobody writes it, are of one part.
    fn find_parts(&mut self, facts: &Facts) {
        let memories = facts.memory.len();
        self.written.refill(false, memories);
        self.owner.refill(None, memories);
        self.part.clear();
        self.part.as_vec_mut().extend(0..facts.nodes.len() as u32);
        for &id in &self.nodes {
            for touch in &facts.touches[facts.nodes[id].touches.range()] {
                let family = facts.family[facts.memory[touch.resource]];
                self.written[family] |= touch.effect.writes();
            }
        }
        for &id in &self.nodes {
            for touch in &facts.touches[facts.nodes[id].touches.range()] {
                let family = facts.family[facts.memory[touch.resource]];
                if !self.written[family] {
                    continue;
                }
                match self.owner[family] {
                    Some(other) => join(&mut self.part, other, id),
                    None => self.owner[family] = Some(id),
                }
            }
        }
        for &(later, earlier) in &facts.after {
            if self.needed[later] && self.needed[earlier] {
                join(&mut self.part, later, earlier);
            }
        }
        for &id in &self.nodes {
            let root = find(&mut self.part, id.index() as u32);
            self.part[id] = root;
        }
    }

    /// Why a declared pass does not run. Readers are looked up once for all: call with ascending nodes.
    pub fn reasons(&mut self, graph: &Graph, facts: &Facts, mut tell: impl FnMut(NodeId, Culled)) {
        self.reader.refill(None, facts.nodes.len());
        for (id, node) in facts.nodes.iter_ids() {
            if !self.needed[id] {
                for &source in &facts.sources[node.sources.range()] {
                    self.reader[source].get_or_insert(id);
                }
            }
        }
        for (id, node) in facts.nodes.iter_ids() {
            let Origin::Declared(pass) = node.origin else { continue };
            if self.needed[id] {
                continue;
            }
            let mut writes = facts.touches[node.touches.range()].iter().filter(|touch| touch.effect.writes());
            let reason = match writes.next() {
                None if node.touches.is_empty() && graph.passes()[pass].setup => Culled::OptedOut,
                None => Culled::WritesNothing,
                Some(touch) => match (self.reader[id], facts.replaced[id]) {
                    (Some(reader), _) => match facts.nodes[reader].origin {
                        Origin::Declared(by) => Culled::OnlyCulledReaders(touch.resource, by.index() as u32),
                        _ => Culled::Unread(touch.resource),
                    },
                    (None, Some(resource)) => Culled::Overwritten(resource),
                    (None, None) => Culled::Unread(touch.resource),
                },
            };
            tell(id, reason);
        }
    }
}

fn find(part: &mut IdVec<NodeId, u32>, mut at: u32) -> u32 {
    while part[NodeId::new(at as usize)] != at {
        let up = part[NodeId::new(at as usize)];
        let higher = part[NodeId::new(up as usize)];
        part[NodeId::new(at as usize)] = higher;
        at = higher;
    }
    at
}

/// The lower node becomes the representative, so that parts are named by their first node.
fn join(part: &mut IdVec<NodeId, u32>, a: NodeId, b: NodeId) {
    let (a, b) = (find(part, a.index() as u32), find(part, b.index() as u32));
    let (low, high) = (a.min(b), a.max(b));
    part[NodeId::new(high as usize)] = low;
}
