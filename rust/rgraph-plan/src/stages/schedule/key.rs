//! Sort keys for heaps of passes.

use crate::id::Id;
use crate::stages::ids::LiveId;

/// A pass and its rank in one number: the highest rank is the greatest key, and of equal ranks the smaller pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key(u64);

impl Key {
    #[inline]
    pub(super) fn new(rank: u32, pass: LiveId) -> Self {
        Self(u64::from(rank) << 32 | u64::from(!(pass.index() as u32)))
    }

    #[inline]
    pub(super) fn pass(self) -> LiveId {
        LiveId::new(!(self.0 as u32) as usize)
    }
}
