//! Stages for the planner's own tests: what they call by itself, and nothing else. No part of the public interface.

/// Placement and its walk.
pub mod alias {
    /// Byte offsets.
    pub mod place {
        pub use crate::stages::alias::item::{Item, ItemId, Overflow, Peak};
        pub use crate::stages::alias::place::{PlaceScratch, place, place_below};
    }
    /// Whose bytes are reused.
    pub mod walk {
        pub use crate::stages::alias::walk::{Placed, PreviousOwner, PreviousOwners, WalkScratch, previous_owners};
    }
}

/// Lower bounds of frames.
pub mod bound {
    pub use crate::stages::bound::{Bound, Orders, Scratch, bound};
}

/// Orders.
pub mod schedule {
    pub use crate::stages::ids::{CountedId, LiveId, PlaceId};
    pub use crate::stages::schedule::{
        BoxId, BoxKind, BoxTree, Bytes, Costs, Csr, Cycle, Deps, HOST, Instance, Order, Policy, Scratch, Times,
        Topology, evaluate, model, schedule, topological,
    };
}

/// Resolved accesses and their problems.
pub mod resolve {
    pub use crate::stages::ids::AccessId;
    pub use crate::stages::resolve::{Facts, Problem, Reads, Source, Via, resolve, subresource};
}

/// Shapes.
pub mod size {
    pub use crate::stages::size::{MAX_BYTES, ShapeScratch, shapes};
}

/// Mistakes.
pub mod validate {
    pub use crate::stages::validate::{Found, ValidateScratch, mistakes, validate};
}
