//! The nodes of all chunks, and for each class lists of them by their longest run of free slots.

use super::mask;
use super::shape::{MAX_CLASSES, NODE_SLOTS, SLOTS};

/// No node.
pub const NONE: u32 = u32::MAX;

/// 64 slots of one class.
#[derive(Debug)]
pub struct Node {
    /// A bit for each free slot.
    pub free: u64,
    /// Bytes from the start of the chunk.
    pub offset: u32,
    pub chunk: u32,
    /// The node of the coarser class in which this one takes [`NODE_SLOTS`] slots from `slot` on; `NONE` for a chunk's.
    pub parent: u32,
    pub slot: u8,
    pub class: u8,
    /// Which list it is in: the length of its longest run of free slots, 0 for none.
    longest: u8,
    next: u32,
    previous: u32,
}

/// All nodes. An index stays a node's until it is released; then another may get it.
#[derive(Debug)]
pub struct Nodes {
    nodes: Vec<Node>,
    released: Vec<u32>,
    /// First node by class and longest run.
    heads: [[u32; SLOTS as usize + 1]; MAX_CLASSES],
    /// Which of these lists hold a node: bit `n - 1` for runs of `n`.
    listed: [u64; MAX_CLASSES],
    /// An empty node for each class but the coarsest, kept so that a lone range that comes and goes makes no node.
    kept: [u32; MAX_CLASSES],
}

impl Nodes {
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            released: Vec::new(),
            heads: [[NONE; SLOTS as usize + 1]; MAX_CLASSES],
            listed: [0; MAX_CLASSES],
            kept: [NONE; MAX_CLASSES],
        }
    }

    #[inline]
    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// A node of `class` and the slot in it where `count` free ones begin at a multiple of `stride`.
    /// The tightest node by its longest run; with a stride the first of the tightest, else one where it must fit.
    #[inline]
    pub fn find(&self, class: usize, count: u32, stride: u32) -> Option<(u32, u32)> {
        let node = self.tightest(class, count)?;
        if let Some(slot) = mask::place(self.node(node).free, count, stride) {
            return Some((node, slot));
        }
        let node = self.tightest(class, (count + stride - 1).min(SLOTS))?;
        mask::place(self.node(node).free, count, stride).map(|slot| (node, slot))
    }

    #[inline]
    fn tightest(&self, class: usize, count: u32) -> Option<u32> {
        let enough = self.listed[class] & (mask::EMPTY << (count - 1));
        (enough != 0).then(|| self.heads[class][enough.trailing_zeros() as usize + 1])
    }

    /// Marks free slots as taken.
    #[inline]
    pub fn take(&mut self, node: u32, slot: u32, count: u32) {
        let it = &mut self.nodes[node as usize];
        if it.free == mask::EMPTY {
            self.kept[usize::from(it.class)] = NONE;
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
    pub fn make(&mut self, chunk: u32, parent: Option<(u32, u32)>, slot_bits: &[u32; MAX_CLASSES]) -> u32 {
        let (parent, slot, class, offset) = parent.map_or((NONE, 0, 0, 0), |(parent, slot)| {
            let above = self.node(parent);
            let offset = above.offset + (slot << slot_bits[usize::from(above.class)]);
            (parent, slot as u8, above.class + 1, offset)
        });
        let made =
            Node { free: mask::EMPTY, offset, chunk, parent, slot, class, longest: 0, next: NONE, previous: NONE };
        let node = self.released.pop().unwrap_or(self.nodes.len() as u32);
        if let Some(it) = self.nodes.get_mut(node as usize) {
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
    pub fn give(&mut self, mut node: u32, mut slot: u32, mut count: u32) {
        loop {
            let it = &mut self.nodes[node as usize];
            it.free |= mask::run(slot, count);
            let (longest, class) = (u32::from(it.longest), usize::from(it.class));
            let hole = mask::around(it.free, slot, count);
            if hole < SLOTS || class == 0 || self.kept[class] == NONE {
                if hole == SLOTS && class > 0 {
                    self.kept[class] = node;
                }
                if hole > longest {
                    self.list(node, hole);
                }
                return;
            }
            (node, slot) = self.release(node);
            count = NODE_SLOTS;
        }
    }

    /// Gives back kept nodes of a chunk without ranges, finest first: a node may become empty, and kept, only by that.
    /// Its own node is empty afterwards.
    pub fn give_kept(&mut self, chunk: u32) {
        for class in (1..MAX_CLASSES).rev() {
            let node = self.kept[class];
            if node != NONE && self.node(node).chunk == chunk {
                self.kept[class] = NONE;
                let (parent, slot) = self.release(node);
                self.give(parent, slot, NODE_SLOTS);
            }
        }
    }

    /// Ends an empty node; returns where it was.
    pub fn release(&mut self, node: u32) -> (u32, u32) {
        self.list(node, 0);
        self.released.push(node);
        let it = self.node(node);
        (it.parent, u32::from(it.slot))
    }

    /// Moves a node to the list of its new longest run.
    #[inline]
    fn list(&mut self, node: u32, longest: u32) {
        let it = &mut self.nodes[node as usize];
        let (class, before, next, previous) = (usize::from(it.class), usize::from(it.longest), it.next, it.previous);
        if longest as usize == before {
            return;
        }
        let lists = &mut self.heads[class];
        let head = if longest > 0 { lists[longest as usize] } else { NONE };
        (it.longest, it.next, it.previous) = (longest as u8, head, NONE);
        if before > 0 {
            if previous == NONE {
                lists[before] = next;
                if next == NONE {
                    self.listed[class] &= !(1 << (before - 1));
                }
            } else {
                self.nodes[previous as usize].next = next;
            }
            if next != NONE {
                self.nodes[next as usize].previous = previous;
            }
        }
        if longest > 0 {
            if head != NONE {
                self.nodes[head as usize].previous = node;
            }
            lists[longest as usize] = node;
            self.listed[class] |= 1 << (longest - 1);
        }
    }
}
