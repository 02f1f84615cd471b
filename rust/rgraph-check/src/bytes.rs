//! Which bytes of its heap a subresource may lie in: those of a buffer are known; of an image with optimal tiling nobody
//! knows where a texel lies, and all its subresources overlap whatever its memory does.
//!
//! Source: Vulkan 1.3 specification, "Memory Aliasing".

use rgraph_ir::id::IdVec;
use rgraph_ir::plan::Plan;

use crate::facts::Facts;
use crate::ids::{MemoryId, Place};

/// By memory: where its bytes are, if it is placed.
pub(crate) struct Bytes(IdVec<MemoryId, Option<[u64; 2]>>);

impl Bytes {
    pub(crate) fn new(facts: &Facts, plan: &Plan) -> Self {
        let mut places = IdVec::filled(None, facts.memory.len());
        for place in &plan.memory.placements {
            if let Some(&memory) = facts.memory.get(place.resource) {
                places[memory].get_or_insert([place.offset, place.offset.saturating_add(place.size)]);
            }
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
