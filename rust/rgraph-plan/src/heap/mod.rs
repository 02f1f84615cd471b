//! Offsets in chunks of device memory, as plain arithmetic: where a range goes, never the memory itself.
//!
//! A chunk is a node of 64 slots; a node of finer slots, a sixteenth each, takes four of them, and so on: with chunks
//! of 64 MiB slots of 1 MiB, 64 KiB, 4 KiB and 256 bytes. A range is a run of slots in one node.
//!
//! ```text
//! chunk   [1 MiB|1 MiB|1 MiB|1 MiB|…]           64 bits
//!           └── taken ──┘└──────── four slots: a node of 64 KiB slots ────────┘
//!                         [64 KiB|64 KiB|…]     64 bits
//! ```
//!
//! For each class nodes are listed by their longest run of free slots, with one bit for each list that is not empty, so
//! the tightest node is one count of trailing zeros away; in it a hole of exactly the right length is preferred. A
//! range remembers its node and slot, so freeing searches nothing. Either is O(1), and neither allocates once as many
//! nodes exist as are ever needed at a time.
//!
//! # Source
//! Granite's allocator (slots in a mask, lists by longest run); arity and steps by measurement, see `benches/heap`.

mod mask;
mod nodes;
mod shape;
mod ticket;

use std::num::NonZeroU8;
use std::sync::atomic::{AtomicU32, Ordering};

use nodes::{NodeId, Nodes};
use shape::{NODE_SLOTS, Shape};
use ticket::{Ticket, Tickets};

/// Bytes of a chunk where nothing speaks for smaller ones.
pub const DEFAULT_CHUNK: u64 = 64 << 20;
/// The least and the greatest chunk, in bytes.
const CHUNK_BITS: std::ops::RangeInclusive<u32> = 20..=30;

/// A set of chunks of equal size, and which of their bytes are taken.
///
/// It says when memory for a chunk is needed and when it is not any more; holding that memory is the caller's part.
#[derive(Debug)]
pub struct Heap {
    /// Which heap a range is of.
    id: u32,
    spare: u32,
    /// Chunks held that no range is in.
    empty: u32,
    held: u32,
    live: u64,
    shape: Shape,
    nodes: Nodes,
    chunks: Vec<Chunk>,
    /// Indices of chunks that are not held.
    unheld: Vec<u32>,
    tickets: Tickets,
}

#[derive(Debug)]
struct Chunk {
    /// Its node of the coarsest class, none while it is not held.
    node: Option<NodeId>,
    live: u64,
}

/// Bytes of one chunk, from [`Heap::allocate`] to [`Heap::free`]. Copies are the same range and can be freed once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    offset: u32,
    size: u32,
    chunk: u32,
    node: NodeId,
    heap: u32,
    ticket: Ticket,
    slot: u8,
    count: NonZeroU8,
}

impl Range {
    /// Index of the chunk, as given to `grow`.
    #[inline]
    pub fn chunk(&self) -> u32 {
        self.chunk
    }

    /// Bytes from the start of the chunk.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset.into()
    }

    /// Bytes, as asked for; what is taken may be more by less than a slot.
    #[inline]
    pub fn size(&self) -> u64 {
        self.size.into()
    }
}

/// Why a range cannot be freed. The heap is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FreeError {
    /// The range was freed before.
    #[error(
        "bytes {offset} to {end} of chunk {chunk} were freed before; free a range once, whichever of its copies",
        offset = .0.offset, end = .0.offset() + .0.size(), chunk = .0.chunk
    )]
    Twice(Range),
    /// The range is of another heap.
    #[error(
        "bytes {offset} to {end} of chunk {chunk} are of another heap; free a range with the heap that allocated it",
        offset = .0.offset, end = .0.offset() + .0.size(), chunk = .0.chunk
    )]
    Foreign(Range),
}

impl Heap {
    /// A heap that holds nothing yet.
    ///
    /// `chunk_size` in bytes is rounded up to a power of two from 1 MiB to 1 GiB; [`DEFAULT_CHUNK`] is what was
    /// measured, an eighth of the device's heap or less suits small ones. `spare` empty chunks are kept for later.
    pub fn new(chunk_size: u64, spare: u32) -> Self {
        static NEWEST: AtomicU32 = AtomicU32::new(0);
        let size = chunk_size.clamp(1 << CHUNK_BITS.start(), 1 << CHUNK_BITS.end()).next_power_of_two();
        Self {
            id: NEWEST.fetch_add(1, Ordering::Relaxed),
            spare,
            empty: 0,
            held: 0,
            live: 0,
            shape: Shape::new(size),
            nodes: Nodes::new(),
            chunks: Vec::new(),
            unheld: Vec::new(),
            tickets: Tickets::default(),
        }
    }

    /// Bytes of each chunk: the most that a range can have.
    pub fn chunk_size(&self) -> u64 {
        self.shape.chunk_size
    }

    /// A range of `size` bytes at a multiple of `align` (a power of two, else rounded up to one; 0 means 1).
    ///
    /// `None` if `size` is 0, or `size` or `align` are above [`Heap::chunk_size`]: such memory is a dedicated
    /// allocation. `grow` gets memory for the chunk of the given index, if no chunk has room.
    ///
    /// # Errors
    /// Those of `grow`; the heap is then as it was.
    #[inline]
    pub fn allocate<E>(
        &mut self,
        size: u64,
        align: u64,
        grow: impl FnOnce(u32) -> Result<(), E>,
    ) -> Result<Option<Range>, E> {
        let Some(fit) = self.shape.fit(size, align) else { return Ok(None) };
        let (node, slot) = match self.nodes.find(fit.class, fit.count, fit.stride) {
            Some(found) => found,
            // An empty node starts at a multiple of every alignment that its class may be asked for.
            None => (self.make(fit.class, grow)?, 0),
        };
        self.nodes.take(node, slot, fit.count);
        let it = self.nodes.node(node);
        let chunk = &mut self.chunks[it.chunk as usize];
        self.empty -= u32::from(chunk.live == 0);
        chunk.live += size;
        self.live += size;
        Ok(Some(Range {
            offset: it.offset + (slot << self.shape.slot_bits[fit.class]),
            size: size as u32,
            chunk: it.chunk,
            node,
            heap: self.id,
            ticket: self.tickets.issue(),
            slot: slot as u8,
            count: fit.slots(),
        }))
    }

    /// Makes an empty node of `class` and what it must be in, a chunk if need be. Nothing is changed before `grow`.
    #[cold]
    fn make<E>(&mut self, class: usize, grow: impl FnOnce(u32) -> Result<(), E>) -> Result<NodeId, E> {
        let found = (0..class).rev().find_map(|above| Some((above, self.nodes.find(above, NODE_SLOTS, 1)?)));
        let (mut above, mut place) = match found {
            Some(found) => found,
            None => (0, (self.hold(grow)?, 0)),
        };
        while above < class {
            let (parent, slot) = place;
            self.nodes.take(parent, slot, NODE_SLOTS);
            let chunk = self.nodes.node(parent).chunk;
            place = (self.nodes.make(chunk, Some(place), &self.shape.slot_bits), 0);
            above += 1;
        }
        Ok(place.0)
    }

    /// One more chunk; returns its node.
    fn hold<E>(&mut self, grow: impl FnOnce(u32) -> Result<(), E>) -> Result<NodeId, E> {
        let chunk = self.unheld.last().copied().unwrap_or(self.chunks.len() as u32);
        grow(chunk)?;
        let node = self.nodes.make(chunk, None, &self.shape.slot_bits);
        if self.unheld.pop().is_some() {
            self.chunks[chunk as usize].node = Some(node);
        } else {
            self.chunks.push(Chunk { node: Some(node), live: 0 });
            // Room for every chunk's index, so that giving back never allocates.
            self.unheld.reserve(self.chunks.len());
        }
        self.empty += 1;
        self.held += 1;
        Ok(node)
    }

    /// Frees a range. Returns the index of a chunk whose memory is to be given back: no range is in it any more, and
    /// there are spare ones enough.
    ///
    /// # Errors
    /// If the range was freed before or is of another heap.
    #[inline]
    pub fn free(&mut self, range: Range) -> Result<Option<u32>, FreeError> {
        if range.heap != self.id {
            return Err(FreeError::Foreign(range));
        }
        if !self.tickets.end(range.ticket) {
            return Err(FreeError::Twice(range));
        }
        self.nodes.give(range.node, range.slot.into(), range.count.get().into());
        self.live -= range.size();
        let chunk = &mut self.chunks[range.chunk as usize];
        chunk.live -= range.size();
        if chunk.live > 0 {
            return Ok(None);
        }
        self.nodes.give_kept(range.chunk);
        self.empty += 1;
        Ok((self.empty > self.spare).then(|| self.drop_chunk(range.chunk)))
    }

    /// Forgets an empty chunk.
    fn drop_chunk(&mut self, chunk: u32) -> u32 {
        let it = &mut self.chunks[chunk as usize];
        if let Some(node) = it.node.take() {
            self.nodes.release(node);
        }
        self.unheld.push(chunk);
        self.empty -= 1;
        self.held -= 1;
        chunk
    }

    /// Gives up the spare chunks too: the indices of those whose memory is to be given back.
    #[must_use = "the memory of these chunks is to be given back"]
    pub fn trim(&mut self) -> Vec<u32> {
        let is_spare = |chunk: &u32| {
            let it = &self.chunks[*chunk as usize];
            it.node.is_some() && it.live == 0
        };
        let spare: Vec<u32> = (0..self.chunks.len() as u32).filter(is_spare).collect();
        spare.into_iter().map(|chunk| self.drop_chunk(chunk)).collect()
    }

    /// Bytes of all ranges, as asked for.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Bytes of all chunks held.
    pub fn held(&self) -> u64 {
        u64::from(self.held) * self.shape.chunk_size
    }

    /// The chunks held: index, and bytes of the ranges in it.
    pub fn chunks(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.chunks
            .iter()
            .enumerate()
            .filter(|(_, chunk)| chunk.node.is_some())
            .map(|(i, chunk)| (i as u32, chunk.live))
    }
}
