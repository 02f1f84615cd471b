//! Positions that only the executor has, and tables with a row per run.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use rgraph_ir::id::Id;

pub(crate) use crate::ids::{Position, RunId};

rgraph_ir::id! {
    /// Something that happens: position in the order's nodes.
    pub(crate) struct OrderNodeId;
    /// A pass command of the plan.
    pub(crate) struct ExecId;
    /// What a pass does at one stage in one direction.
    pub(crate) struct ItemId;
    /// A resolved access of a pass command.
    pub(crate) struct AccessId;
    /// A resolved access among those of all pass commands.
    pub(crate) struct AnyAccessId;
    /// Where the value of a read is noted, among those of all pass commands.
    pub(crate) struct ReadId;
    /// A render pass of the plan.
    pub(crate) struct RenderingId;
    /// An attachment with load and store operations of a render pass.
    pub(crate) struct TargetId;
    /// Position of an attachment in [`rgraph_ir::plan::Plan::attachments`].
    pub(crate) struct AttachmentId;
    /// Position of an edge in [`rgraph_ir::plan::Plan::edges`].
    pub(crate) struct EdgeId;
    /// The runtime's barrier before the first use of part of a resource in a run.
    pub(crate) struct EnterId;
    /// A subresource of the grid that uses and barriers cut; those of the declaration's grid are coarser.
    pub(crate) struct FineId;
    /// A subresource of one allocation: position in all of memory.
    pub(crate) struct PlaceId;
    /// A subresource that somebody outside sees.
    pub(crate) struct WatchedId;
    /// A writer of some contents.
    pub(crate) struct WriterId;
    /// What made writes of a queue available, in its order.
    pub(crate) struct AvailabilityId;
}

/// A value, known by who made it. The first four have names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ValueId(u32);

/// No value, or one that cannot be relied on.
pub(crate) const UNDEFINED: ValueId = ValueId(0);
/// What a fault left: it spoils all that is computed from it.
pub(crate) const POISON: ValueId = ValueId(1);
/// Zeros, as first contents of a history.
pub(crate) const ZEROS: ValueId = ValueId(2);
/// First contents that nobody chose.
pub(crate) const WHATEVER: ValueId = ValueId(3);

impl Id for ValueId {
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a run makes fewer than 2^32 values"))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl PlaceId {
    /// The place of a subresource in the allocation that begins here.
    #[inline]
    pub(crate) fn plus(self, fine: FineId) -> Self {
        Self::new(self.index() + fine.index())
    }
}

/// Number of nodes that ran before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Time(pub u32);

impl Time {
    /// Before everything.
    pub(crate) const START: Self = Self(0);
    /// After everything that happens.
    pub(crate) const END: Self = Self(u32::MAX - 1);
    /// Not yet.
    pub(crate) const NEVER: Self = Self(u32::MAX);
}

/// A pass command in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Instance {
    pub run: RunId,
    pub exec: ExecId,
}

/// A render pass in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RenderingInstance {
    pub run: RunId,
    pub rendering: RenderingId,
}

/// Who reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Actor {
    Pass(Instance),
    /// Load and store operations of a render pass.
    Rendering(RenderingInstance),
}

/// A table with a row per run, in one allocation.
#[derive(Clone, Debug)]
pub(crate) struct ByRun<I, T> {
    items: Vec<T>,
    width: usize,
    id: PhantomData<fn(I)>,
}

impl<I, T: Clone> ByRun<I, T> {
    /// `runs` rows of `width` copies of a value.
    pub(crate) fn filled(value: T, runs: usize, width: usize) -> Self {
        Self { items: vec![value; runs * width], width, id: PhantomData }
    }
}

impl<I: Id, T> Index<(RunId, I)> for ByRun<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, (run, id): (RunId, I)) -> &T {
        debug_assert!(id.index() < self.width, "a position lies in its row");
        &self.items[run.index() * self.width + id.index()]
    }
}

impl<I: Id, T> IndexMut<(RunId, I)> for ByRun<I, T> {
    #[inline]
    fn index_mut(&mut self, (run, id): (RunId, I)) -> &mut T {
        debug_assert!(id.index() < self.width, "a position lies in its row");
        &mut self.items[run.index() * self.width + id.index()]
    }
}

impl<T> Index<Instance> for ByRun<ExecId, T> {
    type Output = T;
    #[inline]
    fn index(&self, instance: Instance) -> &T {
        &self[(instance.run, instance.exec)]
    }
}

impl<T> IndexMut<Instance> for ByRun<ExecId, T> {
    #[inline]
    fn index_mut(&mut self, instance: Instance) -> &mut T {
        &mut self[(instance.run, instance.exec)]
    }
}
