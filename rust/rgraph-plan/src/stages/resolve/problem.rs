//! Mistakes that only the order of accesses shows.
use super::subresource::SubresourceRange;
use crate::graph::{FlagId, PassId};
use crate::resource::ResourceId;
use crate::stages::ids::AccessId;

/// What reads contents that nobody wrote.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reads {
    /// A declared access.
    Access(AccessId),
    /// A pass that a declaration implies.
    Inserted,
    /// The caller, of a root.
    Root,
}

/// A mistake that only the order of accesses shows.
#[derive(Clone, PartialEq, Debug)]
pub enum Problem {
    /// A read of what nobody wrote.
    NeverWritten {
        by: Reads,
        resource: ResourceId,
        /// The part that nothing wrote.
        part: SubresourceRange,
    },
    /// A conditional pass whose output holds nothing while the flag is off.
    HoldsNothing {
        flag: FlagId,
        /// The pass that it switches.
        pass: PassId,
        /// What holds nothing.
        resource: ResourceId,
        /// The pass that reads it all the same; `None`: the caller, as a root.
        reader: Option<PassId>,
    },
    /// A root whose memory another resource reuses.
    RootModified {
        root: ResourceId,
        /// The resource that modifies it.
        by: ResourceId,
    },
    /// A pass that uses one memory under two names, one of which modifies the other: accesses of the first name come
    /// before those of the second.
    TwoNames {
        pass: PassId,
        /// An access by one name.
        first: AccessId,
        /// An access by another.
        second: AccessId,
    },
    /// A pass that reads an output, and writes its fallback: the write replaces all of that, or the read is a
    /// forward read and has another place in the order than the write.
    OverwrittenFallback {
        pass: PassId,
        /// The access that reads the output.
        read: AccessId,
        /// The access that writes the fallback.
        write: AccessId,
    },
    /// Passes that must run before each other, first repeated at the end is left out.
    Cycle(Vec<(PassId, Via)>),
}

/// Why one pass of a cycle must run before the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// Both use this resource, in declared order.
    Resource(ResourceId),
    /// The next one reads what this one is the first to write.
    Forward(ResourceId),
    /// The second resource modifies the first.
    Modifies(ResourceId, ResourceId),
    /// Declared with `after`.
    After,
}
