//! Ids of what stages make for each other, in the order of the stages. An id that one file keeps to itself is declared
//! there.

crate::id! {
    /// A declared access: its position in [`Graph::accesses`](crate::graph::Graph::accesses).
    pub struct AccessId;
    /// A pass to be planned: declared or inserted, in serial order.
    pub struct ResolvedPassId;
    /// A subresource of memory that is synchronized as one.
    pub struct SubresourceId;
    /// An access of a pass to be planned: its position in [`Facts::accesses`](crate::stages::resolve::Facts::accesses).
    pub struct ResolvedAccessId;
    /// A group of unordered uses of one subresource, which commute: counted by subresource.
    pub struct UnorderedGroupId;
    /// What one view of a pass sees: counted by pass. Depth and stencil are seen by views of their own.
    pub struct ViewId;
    /// A live pass: its position among them in serial order.
    pub struct LiveId;
    /// A resource whose bytes an order keeps alive: its position in [`Bytes`](crate::stages::schedule::Bytes).
    pub struct CountedId;
    /// A place in an order of passes.
    pub struct PlaceId;
    /// A physical pass: its position in the schedule.
    pub struct PhysicalId;
    /// An interval between barrier calls: its position on its queue.
    pub struct IntervalId;
    /// Accesses of one subresource that are not ordered among themselves, and have one layout.
    pub struct ReadGroupId;
    /// A use of one subresource by one pass, counted in the order of the schedule.
    pub struct VisitId;
    /// A wait of a pass for another queue.
    pub struct WaitId;
    /// The uses of an import by one queue.
    pub struct ForeignUseId;
    /// A class of memory: its position in [`Profile::memory`](crate::profile::Profile::memory).
    pub struct MemoryClassId;
    /// A memory that is placed.
    pub struct PlacementId;
    /// Uses of one subresource by one queue, within a read group.
    pub struct UseId;
    /// Last uses of a memory on a queue.
    pub struct LeftId;
    /// A barrier call.
    pub struct CallId;
    /// A barrier of a call.
    pub struct BarrierId;
}
