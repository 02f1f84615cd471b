//! Bytes of heaps: which ones two memories share, and which ones writes replace.
//!
//! Source: Vulkan 1.3 specification, "Memory Aliasing".

use std::collections::BTreeSet;

use rgraph_ir::id::IdVec;
use rgraph_ir::plan::HeapId;

use crate::ids::SubresourceId;

/// Heap, first byte and end.
pub(super) type Span = (HeapId, u64, u64);

/// Bytes in both of two spans.
fn meet(a: &Span, b: &Span) -> Option<Span> {
    let [from, end] = [a.1.max(b.1), a.2.min(b.2)];
    (a.0 == b.0 && from < end).then_some((a.0, from, end))
}

/// Whether some spans together contain all bytes of another one.
pub(super) fn is_covered((heap, from, end): Span, spans: &[Span]) -> bool {
    let mut parts: Vec<_> = spans.iter().filter_map(|span| meet(span, &(heap, from, end))).collect();
    parts.sort_unstable();
    parts.iter().fold(from, |reached, part| if part.1 <= reached { reached.max(part.2) } else { reached }) >= end
}

/// The bytes that two memories share.
pub(super) fn shared<'m>(a: &'m Memory, b: &'m Memory) -> impl Iterator<Item = Span> + use<'m> {
    a.places.iter().flat_map(|a| b.places.iter().filter_map(|b| meet(a, b)))
}

/// One memory.
#[derive(Default)]
pub(super) struct Memory {
    /// Where each of its names is placed.
    pub places: Vec<Span>,
    /// How many subresources it has.
    pub subresources: usize,
    /// First byte and end of each subresource of a buffer; none for an image, whose texels may lie anywhere in it.
    pub intervals: IdVec<SubresourceId, [u64; 2]>,
    /// Whether its contents pass from run to run; else each run starts with undefined contents.
    pub outlives: bool,
    /// Whether each run has other memory for it.
    pub fresh: bool,
    /// How many copies take turns.
    pub ring: u32,
}

impl Memory {
    /// Bytes that writes to some subresources replace. Where the texels of a subresource lie in an image is not known,
    /// so writes to an image replace its bytes only once they have replaced all of its subresources.
    pub(super) fn replaced(&self, subresources: &BTreeSet<SubresourceId>) -> Vec<Span> {
        if subresources.len() == self.subresources {
            return self.places.clone();
        }
        let intervals = subresources.iter().filter_map(|&subresource| self.intervals.get(subresource));
        let of = |&[from, to]: &[u64; 2]| {
            self.places.iter().filter_map(move |&(heap, first, end)| {
                meet(&(heap, first, end), &(heap, first.saturating_add(from), first.saturating_add(to)))
            })
        };
        intervals.flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use rgraph_ir::id::Id;

    use super::*;

    #[test]
    fn spans_cover_bytes_together_or_leave_a_hole() {
        let span = |heap: usize, from, end| (HeapId::new(heap), from, end);
        let parts = [span(0, 64, 128), span(0, 0, 64), span(0, 32, 96)];
        assert!(is_covered(span(0, 0, 128), &parts));
        assert!(is_covered(span(0, 16, 100), &parts));
        assert!(!is_covered(span(0, 0, 129), &parts), "the last byte is in none");
        assert!(!is_covered(span(0, 0, 128), &parts[..1]), "the first bytes are in none");
        assert!(!is_covered(span(0, 0, 128), &[span(0, 0, 60), span(0, 64, 128)]), "four bytes are in none");
        assert!(!is_covered(span(1, 0, 128), &parts), "another heap");
    }
}
