//! Bytes of a shared block that are in use.

/// Bytes of a block that are in use: half-open, ascending.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<[u64; 2]>);

impl Spans {
    /// The first free bytes of that size, or those at `at` if they are free. O(spans).
    pub(crate) fn take(&mut self, size: u64, alignment: u64, at: Option<u64>, end: u64) -> Option<u64> {
        let fits = |start: u64, limit: u64| start.checked_add(size).is_some_and(|last| last <= limit);
        let mut start = at.unwrap_or(0);
        let mut index = 0;
        for (next, span) in self.0.iter().enumerate() {
            index = next;
            if fits(start, span[0].min(end)) {
                break;
            }
            index = next + 1;
            if span[1] <= start {
                continue;
            }
            if at.is_some() {
                return None;
            }
            start = span[1].checked_next_multiple_of(alignment)?;
        }
        if !fits(start, end) {
            return None;
        }
        self.0.insert(index, [start, start + size]);
        Some(start)
    }

    /// Frees the bytes that begin there.
    pub(crate) fn free(&mut self, start: u64) {
        self.0.retain(|span| span[0] != start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_disjoint_and_reused() {
        let mut spans = Spans::default();
        assert_eq!(spans.take(100, 16, None, 1000), Some(0));
        assert_eq!(spans.take(100, 16, None, 1000), Some(112));
        assert_eq!(spans.take(100, 16, Some(300), 1000), Some(300));
        assert_eq!(spans.take(20, 16, Some(390), 1000), None, "the last bytes of another");
        assert_eq!(spans.take(20, 16, Some(290), 1000), None, "the first bytes of another");
        assert_eq!(spans.take(76, 16, None, 1000), Some(224), "a hole that fits");
        assert_eq!(spans.take(88, 16, None, 1000), Some(400), "behind all others");
        assert_eq!(spans.take(601, 16, None, 1000), None, "too large");
        assert_eq!(spans.take(u64::MAX, 16, Some(16), 1000), None, "no overflow");
        spans.free(0);
        assert_eq!(spans.take(112, 16, None, 1000), Some(0));
        assert_eq!(spans.take(504, 16, Some(496), 1000), Some(496));
        assert!(spans.0.windows(2).all(|pair| pair[0][1] <= pair[1][0]));
    }
}
