//! What a caller can ask of a bake.

use super::{Policy, Split};
use crate::budget::MemoryBudget;

/// What a caller can ask of a bake.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How the order is made.
    pub policy: Policy,
    /// When barriers are split into events.
    pub split: Split,
    /// How hard to search for orders and placements: 0 is one look, 1 (default) about twice as much, each further one
    /// up to four times the one before. From 1 on, barriers also leave out the stages that barriers about all memory
    /// order, and orderings that others make. Counted in steps, never in time: equal efforts give equal plans on every
    /// machine.
    pub effort: u32,
    /// A clock in microseconds, for `report.bake_us`; the planner has none of its own.
    pub clock: Option<fn() -> f64>,
    /// How many bytes of transients are worth a barrier call.
    pub memory: MemoryBudget,
    /// Most batches of a frame, which are submits; passes wait for more than they need, and leave queues that they do
    /// not name, to keep it. Passes that name their queues stay there, whatever that takes. `None`: no bound.
    pub max_batches: Option<u32>,
    /// Stages that are left out.
    pub without: Without,
}

/// Stages that a bake leaves out, so that plans with and without them can be compared. By default none is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Without {
    /// Passes that no root needs run too.
    pub culling: bool,
    /// Every raster pass is a render pass of its own.
    pub merging: bool,
    /// No transient reuses bytes of another one.
    pub aliasing: bool,
}

impl Without {
    /// All of them.
    pub const ALL: Self = Self { culling: true, merging: true, aliasing: true };
}

impl Options {
    /// Most batches of a frame by default: a submit costs the host some ten microseconds.
    pub const MAX_BATCHES: u32 = 256;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::Auto,
            split: Split::Never,
            effort: 1,
            clock: None,
            memory: MemoryBudget::default(),
            max_batches: Some(Self::MAX_BATCHES),
            without: Without::default(),
        }
    }
}
