//! Where a plan places memories, and which bytes of its heap a subresource may lie in: those of a buffer are known; of
//! an image with optimal tiling nobody knows where a texel lies, and all its subresources overlap whatever its memory
//! does.
//!
//! Source: Vulkan 1.3 specification, "Memory Aliasing".

use rgraph_ir::id::IdVec;
use rgraph_ir::plan::{HeapId, Plan};

use crate::facts::Facts;
use crate::ids::{MemoryId, Place};

/// A placement of a memory.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) memory: MemoryId,
    pub(crate) heap: HeapId,
    /// First byte and end.
    pub(crate) bytes: [u64; 2],
}

/// The placements of a plan, in its order, without those of resources that the graph does not have.
pub(crate) fn placed(facts: &Facts, plan: &Plan) -> impl Iterator<Item = Placed> {
    plan.memory.placements.iter().filter_map(|place| {
        let memory = *facts.memory.get(place.resource)?;
        let bytes = [place.offset, place.offset.saturating_add(place.size)];
        Some(Placed { memory, heap: place.heap, bytes })
    })
}

/// By memory: where its bytes are, if it is placed.
pub(crate) struct Bytes(IdVec<MemoryId, Option<[u64; 2]>>);

impl Bytes {
    pub(crate) fn new(facts: &Facts, plan: &Plan) -> Self {
        let mut places = IdVec::filled(None, facts.memory.len());
        for Placed { memory, bytes, .. } in placed(facts, plan) {
            places[memory].get_or_insert(bytes);
        }
        Self(places)
    }

    /// First byte and end of a subresource, and whether other subresources of its memory may lie there too.
    pub(crate) fn of(&self, facts: &Facts, Place { memory, subresource }: Place) -> ([u64; 2], bool) {
        let [first, end] = self.0[memory].unwrap_or_default();
        if facts.shapes[memory.first_name()].is_image() {
            return ([first, end], true);
        }
        let [from, to] = facts.grids[memory].part(subresource).bytes;
        ([first.saturating_add(from), first.saturating_add(to).min(end)], false)
    }

    /// Whether some subresources contain all bytes that two others share.
    /// An image counts once all of its subresources are there.
    pub(crate) fn contain(&self, facts: &Facts, [x, y]: [Place; 2], mut named: Vec<Place>) -> bool {
        let [[a, b], [c, d]] = [x, y].map(|place| self.of(facts, place).0);
        if named.is_empty() {
            return false;
        }
        named.sort_unstable();
        named.dedup();
        let mut spans: Vec<[u64; 2]> = Vec::new();
        for of_memory in named.chunk_by(|one, other| one.memory == other.memory) {
            let memory = of_memory[0].memory;
            let whole = of_memory.len() == facts.grids[memory].len();
            let spanned = of_memory.iter().map(|place| self.of(facts, *place));
            spans.extend(spanned.filter(|(_, shared)| !shared || whole).map(|(span, _)| span));
        }
        spans.sort_unstable();
        let end = spans.iter().fold(a.max(c), |end, span| if span[0] <= end { end.max(span[1]) } else { end });
        end >= b.min(d)
    }
}
