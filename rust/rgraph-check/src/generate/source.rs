//! Decisions out of bytes. A case is a header and then one chunk of fixed size per step, so that a mutation of some
//! bytes changes one step, and removing a chunk removes one. What is missing counts as zeros, and zero is the
//! simplest choice of every decision, so fewer and smaller bytes mean smaller graphs.

use crate::random::Random;

/// Bytes of a chunk: the header and every step have as many.
pub const CHUNK: usize = 64;

/// The decisions of one chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    bytes: [u8; CHUNK],
    at: usize,
}

impl Source {
    pub(super) fn new(bytes: [u8; CHUNK]) -> Self {
        Self { bytes, at: 0 }
    }

    fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    /// The same bytes from the end: decisions that came into the generator later are taken from there, so that those
    /// before them stay what they were.
    pub(super) fn reversed(&self) -> Self {
        let mut bytes = self.bytes;
        bytes.reverse();
        Self::new(bytes)
    }

    /// A number below `end`, at most 256 of them; 0 if `end` is 0. Smaller bytes give smaller numbers.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (usize::from(self.byte()) * end.min(256)) >> 8
    }

    /// A number below 65,536.
    pub(super) fn short(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// True `part` times in `whole`; a zero is false.
    pub(super) fn chance(&mut self, part: usize, whole: usize) -> bool {
        self.below(whole) >= whole - part
    }

    /// One of some things; a zero is the first.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Chunks, one after the other.
pub(super) enum Feed<'a> {
    /// Those of a case; the last one may be cut short.
    Bytes(&'a [u8]),
    /// Random ones without end, and all that were handed out.
    Seed(Random, Vec<u8>),
}

impl Feed<'_> {
    /// The next chunk; `None` at the end of the bytes.
    pub(super) fn next(&mut self) -> Option<Source> {
        let mut chunk = [0; CHUNK];
        match self {
            Self::Bytes([]) => return None,
            Self::Bytes(bytes) => {
                let (head, rest) = bytes.split_at(bytes.len().min(CHUNK));
                chunk[..head.len()].copy_from_slice(head);
                *bytes = rest;
            }
            Self::Seed(random, taken) => {
                for word in chunk.chunks_mut(8) {
                    word.copy_from_slice(&random.bits().to_le_bytes()[..word.len()]);
                }
                taken.extend_from_slice(&chunk);
            }
        }
        Some(Source::new(chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_grow_with_their_bytes_and_zeros_are_the_simplest() {
        let with = |byte: u8| Source::new([byte; CHUNK]);
        assert_eq!((with(0).below(7), with(255).below(7), with(0).pick(&[3, 4])), (0, 6, 3));
        assert!(!with(0).chance(1, 2) && with(255).chance(1, 100));
        assert!((1..=255).all(|byte| with(byte).below(9) >= with(byte - 1).below(9)));
        let mut at_its_end = Source { bytes: [255; CHUNK], at: CHUNK };
        assert_eq!((at_its_end.below(200), at_its_end.short()), (0, 0));
    }

    #[test]
    fn a_chunk_that_is_cut_short_ends_in_zeros() {
        let bytes = [255; CHUNK + 1];
        let mut feed = Feed::Bytes(&bytes);
        assert_eq!(feed.next().map(|mut chunk| chunk.short()), Some(0xffff));
        assert_eq!(feed.next().map(|mut chunk| chunk.short()), Some(0xff00));
        assert!(feed.next().is_none());
    }
}
