//! What makes contents visible to a use of a subresource.

use crate::stages::synchronize::call::BarrierId;

/// What makes contents visible to a use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Behind {
    /// Nothing on its own queue: waits, or nothing at all.
    Nothing,
    /// The entry of what outlives the frame, whose barrier is the runtime's.
    Entry,
    /// A barrier of this queue.
    Barrier(BarrierId),
}

impl Behind {
    /// The barrier, if it is one.
    pub(super) fn barrier(self) -> Option<BarrierId> {
        match self {
            Self::Barrier(barrier) => Some(barrier),
            Self::Nothing | Self::Entry => None,
        }
    }
}

impl From<Option<BarrierId>> for Behind {
    fn from(barrier: Option<BarrierId>) -> Self {
        barrier.map_or(Self::Nothing, Self::Barrier)
    }
}
