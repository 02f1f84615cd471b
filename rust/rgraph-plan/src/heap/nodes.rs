//! The nodes of all chunks, and for each class lists of them by their longest run of free slots.

use rgraph_ir::id::IdVec;

use super::mask;
use super::shape::{MAX_CLASSES, NODE_SLOTS, SLOTS};

rgraph_ir::id! {
    /// A node of some chunk; once it is released, another may get its number.
    pub struct NodeId;
}

/// 64 slots of one class.
#[derive(Debug)]
pub(super) struct Node {
    /// A bit for each free slot.
    pub free: u64,
    /// Bytes from the start of the chunk.
    pub offset: u32,
    pub chunk: u32,
    /// The node of the coarser class in which this one takes [`NODE_SLOTS`] slots from `slot` on; none for a chunk's.
    pub parent: Option<NodeId>,
    pub slot: u8,
    pub class: u8,
    /// Which list it is in: the length of its longest run of free slots, 0 for none.
    longest: u8,
    next: Option<NodeId>,
    previous: Option<NodeId>,
}

/// All nodes. An index stays a node's until it is released; then another may get it.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: IdVec<NodeId, Node>,
    released: Vec<NodeId>,
    /// First node by class and longest run.
    heads: [[Option<NodeId>; SLOTS as usize + 1]; MAX_CLASSES],
    /// Which of these lists hold a node: bit `n - 1` for runs of `n`.
    listed: [u64; MAX_CLASSES],
    /// An empty node for each class but the coarsest, kept so that a lone range that comes and goes makes no node.
    kept: [Option<NodeId>; MAX_CLASSES],
}

impl Nodes {
    pub(super) fn new() -> Self {
        Self {
            nodes: IdVec::new(),
            released: Vec::new(),
            heads: [[None; SLOTS as usize + 1]; MAX_CLASSES],
            listed: [0; MAX_CLASSES],
            kept: [None; MAX_CLASSES],
        }
    }

    #[inline]
    pub(super) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node]
    }

    /// A node of `class` and the slot in it where `count` free ones begin at a multiple of `stride`.
    /// The tightest node by its longest run; with a stride the first of the tightest, else one where it must fit.
    #[inline]
    pub(super) fn find(&self, class: usize, count: u32, stride: u32) -> Option<(NodeId, u32)> {
        let node = self.tightest(class, count)?;
        if let Some(slot) = mask::place(self.node(node).free, count, stride) {
            return Some((node, slot));
        }
        let node = self.tightest(class, (count + stride - 1).min(SLOTS))?;
        mask::place(self.node(node).free, count, stride).map(|slot| (node, slot))
    }

    #[inline]
    fn tightest(&self, class: usize, count: u32) -> Option<NodeId> {
        let enough = self.listed[class] & (mask::EMPTY << (count - 1));
        if enough == 0 { None } else { self.heads[class][enough.trailing_zeros() as usize + 1] }
    }

    /// Marks free slots as taken.
    #[inline]
    pub(super) fn take(&mut self, node: NodeId, slot: u32, count: u32) {
        let it = &mut self.nodes[node];
        if it.free == mask::EMPTY {
            self.kept[usize::from(it.class)] = None;
        }
        // Only a hole of the greatest length can change what the greatest length is.
        let hole = mask::around(it.free, slot, count);
        it.free &= !mask::run(slot, count);
        if hole == u32::from(it.longest) {
            let longest = mask::longest(it.free);
            self.list(node, longest);
        }
    }

    /// Makes the chunk's own node, or one of the next finer class in `parent` at `slot`. It is empty.
    pub(super) fn make(&mut self, chunk: u32, parent: Option<(NodeId, u32)>, slot_bits: &[u32; MAX_CLASSES]) -> NodeId {
        let (parent, slot, class, offset) = parent.map_or((None, 0, 0, 0), |(parent, slot)| {
            let above = self.node(parent);
            let offset = above.offset + (slot << slot_bits[usize::from(above.class)]);
            (Some(parent), slot as u8, above.class + 1, offset)
        });
        let made =
            Node { free: mask::EMPTY, offset, chunk, parent, slot, class, longest: 0, next: None, previous: None };
        let node = self.released.pop().unwrap_or_else(|| self.nodes.next_id());
        if let Some(it) = self.nodes.get_mut(node) {
            *it = made;
        } else {
            self.nodes.push(made);
            // Room for every node's index, so that releasing never allocates.
            self.released.reserve(self.nodes.len());
        }
        self.list(node, SLOTS);
        node
    }

    /// Marks taken slots as free; a node that becomes empty goes back to the coarser class, unless it is kept.
    #[inline]
    pub(super) fn give(&mut self, mut node: NodeId, mut slot: u32, mut count: u32) {
        loop {
            let it = &mut self.nodes[node];
            it.free |= mask::run(slot, count);
            let (longest, class) = (u32::from(it.longest), usize::from(it.class));
            let hole = mask::around(it.free, slot, count);
            if hole == SLOTS
                && class > 0
                && self.kept[class].is_some()
                && let Some(above) = self.release(node)
            {
                ((node, slot), count) = (above, NODE_SLOTS);
                continue;
            }
            if hole == SLOTS && class > 0 {
                self.kept[class] = Some(node);
            }
            if hole > longest {
                self.list(node, hole);
            }
            return;
        }
    }

    /// Gives back kept nodes of a chunk without ranges, finest first: a node may become empty, and kept, only by that.
    /// Its own node is empty afterwards.
    pub(super) fn give_kept(&mut self, chunk: u32) {
        for class in (1..MAX_CLASSES).rev() {
            if let Some(node) = self.kept[class].take_if(|node| self.nodes[*node].chunk == chunk)
                && let Some((parent, slot)) = self.release(node)
            {
                self.give(parent, slot, NODE_SLOTS);
            }
        }
    }

    /// Ends an empty node; returns the node and the slot where it was, if it was in another.
    pub(super) fn release(&mut self, node: NodeId) -> Option<(NodeId, u32)> {
        self.list(node, 0);
        self.released.push(node);
        let it = self.node(node);
        it.parent.map(|parent| (parent, u32::from(it.slot)))
    }

    /// Moves a node to the list of its new longest run.
    #[inline]
    fn list(&mut self, node: NodeId, longest: u32) {
        let it = &mut self.nodes[node];
        let (class, before, next, previous) = (usize::from(it.class), usize::from(it.longest), it.next, it.previous);
        if longest as usize == before {
            return;
        }
        let lists = &mut self.heads[class];
        let head = if longest > 0 { lists[longest as usize] } else { None };
        (it.longest, it.next, it.previous) = (longest as u8, head, None);
        if before > 0 {
            if let Some(previous) = previous {
                self.nodes[previous].next = next;
            } else {
                lists[before] = next;
                if next.is_none() {
                    self.listed[class] &= !(1 << (before - 1));
                }
            }
            if let Some(next) = next {
                self.nodes[next].previous = previous;
            }
        }
        if longest > 0 {
            if let Some(head) = head {
                self.nodes[head].previous = Some(node);
            }
            lists[longest as usize] = Some(node);
            self.listed[class] |= 1 << (longest - 1);
        }
    }
}
