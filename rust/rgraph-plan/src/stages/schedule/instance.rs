//! Input and output of the scheduler: flat arrays over passes.

use super::deps::{Csr, Deps};
use crate::budget::MemoryBudget;
use crate::id::IdVec;
use crate::plan::QueueWhy;
use crate::stages::ids::{CountedId, LiveId};

/// The host's bit in [`Instance::queues`]; passes on the host use no queue of the device.
pub const HOST: u8 = 31;

/// Modelled costs in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Costs {
    /// From the end of a pass to the start of one that depends on it on another queue.
    pub cross_queue_us: f32,
    /// A barrier call between two intervals of passes on one queue.
    pub barrier_us: f32,
    pub submit_us: f32,
    /// Least time between the starts of two passes of one queue.
    pub pass_us: f32,
}

/// The bytes that passes keep alive: a resource lives from its first to its last user in the order.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    /// Bytes of each resource; 0 for those that are not placed.
    pub bytes: &'a IdVec<CountedId, u64>,
    /// Whether each resource lives on to the end of the frame.
    pub kept: &'a IdVec<CountedId, bool>,
    /// The passes that use each resource, each once.
    pub users: &'a Csr<CountedId, LiveId>,
    /// The resources that each pass uses, each once.
    pub uses: &'a Csr<LiveId, CountedId>,
}

/// The input of the scheduler. Lists by pass have one entry per pass; `draws` may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// Dependencies between the passes.
    pub deps: &'a Deps,
    /// Durations in microseconds: finite, not negative.
    pub weight_us: &'a IdVec<LiveId, f32>,
    /// Whether some duration is measured or declared; else all are guessed.
    pub measured: bool,
    /// Whether the duration of every declared pass that the device runs is measured or declared.
    pub certain: bool,
    /// The part of the device that each pass fills, above 0 and up to 1.
    pub size: &'a IdVec<LiveId, f32>,
    /// Whether each pass draws; empty if draws and dispatches of one queue overlap on the device.
    pub draws: &'a IdVec<LiveId, bool>,
    /// The queue for passes that may run on several, unless other queues gain more than a margin.
    pub graphics: u8,
    /// Queues that may run each pass, as bits; bit [`HOST`] is the host. At least one bit each.
    pub queues: &'a IdVec<LiveId, u32>,
    /// Number of queues; no mask has a higher bit but the host's.
    pub queue_count: u32,
    /// Occupancy class of each pass, 0 for none: two passes of one class slow each other down when they overlap.
    pub class: &'a IdVec<LiveId, u16>,
    /// `(earlier, later)`, ascending: passes that can become one render pass as neighbours on one queue.
    pub merges: &'a [(LiveId, LiveId)],
    /// Bytes that passes keep alive.
    pub bytes: Bytes<'a>,
    /// Bytes that transients may spend to save barrier calls, on one queue.
    pub memory: MemoryBudget,
    /// Size of their heap in bytes; `None`: no limit.
    pub heap: Option<u64>,
    /// Costs of barrier calls, submits and hops between queues.
    pub costs: Costs,
}

impl Instance<'_> {
    /// Number of passes.
    #[inline]
    pub fn len(&self) -> usize {
        self.deps.len()
    }

    /// All passes, ascending.
    #[inline]
    pub fn passes(&self) -> impl DoubleEndedIterator<Item = LiveId> + ExactSizeIterator + Clone + use<> {
        self.deps.passes()
    }

    /// Whether two passes can become one render pass as neighbours, `before` first. O(log merges).
    #[inline]
    pub(super) fn may_merge(&self, before: LiveId, pass: LiveId) -> bool {
        self.merges.binary_search(&(before, pass)).is_ok()
    }

    /// Whether there is no pass.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The algorithm that orders passes and chooses queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// `Overlap` if all passes run on one queue, else `Weighted`. Passes that may run on several queues leave the
    /// graphics queue only if that shortens the frame by 25 %, or by 2 % if every duration is measured or declared.
    #[default]
    Auto,
    /// The declared order; a pass declared before one that it depends on comes after it.
    Declared,
    /// Few barrier calls on one queue, with live bytes within [`Instance::memory`].
    Overlap,
    /// A short frame over several queues, by heuristics.
    Weighted,
    /// The shortest frame, by branch and bound, if the search ends within its limit.
    Exact {
        /// Most partial schedules that the search may open.
        nodes: u32,
    },
    /// The tree of all permitted orders, flattened: passes of a box are neighbours, the heaviest box comes first, and
    /// each pass takes the queue on which it ends first. At worst O(passes³ / 64).
    BoxTree,
    /// The order that the caller proposes; `Auto` if there is none.
    Proposed,
    /// A random permitted order on random permitted queues. A correct graph computes the same results in all of them.
    Random {
        /// Equal seeds give equal orders. Flipping the highest bit reverses the order of passes that are ready
        /// together.
        seed: u64,
        /// Adjacent swaps made on the way from the declared order to the random one; `u32::MAX`: all.
        swaps: u32,
    },
}

impl Policy {
    /// Partial schedules that `exact` may open by default.
    pub const DEFAULT_EXACT_NODES: u32 = 200_000;

    /// The policy of that name; `None` for unknown ones and for `Random` and `Proposed`, which need more than a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Self::Auto,
            "declared" => Self::Declared,
            "overlap" => Self::Overlap,
            "weighted" => Self::Weighted,
            "exact" => Self::Exact { nodes: Self::DEFAULT_EXACT_NODES },
            "box_tree" => Self::BoxTree,
            _ => return None,
        })
    }

    /// The name in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Declared => "declared",
            Self::Overlap => "overlap",
            Self::Weighted => "weighted",
            Self::Exact { .. } => "exact",
            Self::BoxTree => "box_tree",
            Self::Proposed => "proposed",
            Self::Random { .. } => "random",
        }
    }

    /// The names that [`from_name`](Self::from_name) accepts.
    pub const NAMES: [&str; 6] = ["auto", "declared", "overlap", "weighted", "exact", "box_tree"];
}

/// A schedule: the order of all passes, their queues and modelled times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Order {
    /// All passes, each after its dependencies; each queue runs its passes in this order.
    pub passes: Vec<LiveId>,
    /// The queue of each pass, by pass; [`HOST`] is the host.
    pub queue: IdVec<LiveId, u8>,
    /// By pass: the reason for its queue, [`QueueWhy::OnlyCapable`], [`QueueWhy::EarliestFinish`] or
    /// [`QueueWhy::NoGain`].
    pub why_queue: IdVec<LiveId, QueueWhy>,
    /// Modelled start of each pass in microseconds, by pass.
    pub start_us: IdVec<LiveId, f32>,
    /// Modelled end of each pass in microseconds, by pass.
    pub finish_us: IdVec<LiveId, f32>,
    /// Modelled length of the frame in microseconds.
    pub frame_us: f64,
    /// Modelled length in microseconds of the same order with all device passes on the graphics queue; `None` if they
    /// are.
    pub one_queue_us: Option<f64>,
    /// The policy that made it, [`Policy::Auto`] resolved.
    pub policy: Policy,
    /// True if the exact search proved that no schedule has a shorter frame, and none with an equal frame a lower peak
    /// of live bytes in the order of starts.
    pub optimal: bool,
    /// Partial schedules that the exact search opened.
    pub nodes_explored: u32,
}
