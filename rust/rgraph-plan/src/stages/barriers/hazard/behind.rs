//! The dependency that makes contents visible to a use of a subresource.

use crate::stages::ids::BarrierId;

/// The dependency that makes contents visible to a use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Behind {
    /// None on its own queue: a wait for another queue, or no dependency at all.
    Nothing,
    /// The initial barrier of a memory with edges, which the runtime records.
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
