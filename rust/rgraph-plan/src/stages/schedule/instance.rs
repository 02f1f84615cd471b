//! What a schedule is made from and what comes out: flat arrays over passes.

use super::deps::{Csr, Deps};
use crate::budget::MemoryBudget;
use crate::id::IdVec;
use crate::plan::QueueWhy;
use crate::stages::cull::LiveId;

crate::id! {
    /// A resource whose bytes an order keeps alive: its position in [`Bytes`].
    pub struct CountedId;

    /// A place in an order of passes.
    pub struct PlaceId;
}

/// The host's bit in [`Instance::queues`]: work that no queue of the device does.
pub const HOST: u8 = 31;

/// Modelled costs in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Costs {
    /// From the end of a pass to the start of one that depends on it on another queue.
    pub cross_queue_us: f32,
    /// A barrier call between two groups of passes on one queue.
    pub barrier_us: f32,
    /// A submit.
    pub submit_us: f32,
    /// Least time between the starts of two passes of one queue.
    pub pass_us: f32,
}

/// Which passes keep which bytes alive: a resource lives from its first to its last user in the order.
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

/// Everything that decides a schedule. What is by pass has an entry per pass, but `draws`.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// What must come before what.
    pub deps: &'a Deps,
    /// Durations in microseconds: finite, not negative.
    pub weight_us: &'a IdVec<LiveId, f32>,
    /// Whether someone measured or declared durations, rather than that all are guessed.
    pub measured: bool,
    /// Whether that is so for every declared pass that the device runs.
    pub certain: bool,
    /// The part of the device that each pass fills, above 0 and up to 1.
    pub size: &'a IdVec<LiveId, f32>,
    /// Whether each pass draws; empty where draws and dispatches of a queue overlap.
    pub draws: &'a IdVec<LiveId, bool>,
    /// The queue on which passes stay that may run on several, unless those promise a sure gain.
    pub home: u8,
    /// Queues that may run each pass, as bits; bit [`HOST`] is the host. At least one bit each.
    pub queues: &'a IdVec<LiveId, u32>,
    /// Number of queues; no mask has a higher bit but the host's.
    pub queue_count: u32,
    /// Occupancy class of each pass, 0 for none: two passes of one class slow each other down when they overlap.
    pub unit: &'a IdVec<LiveId, u16>,
    /// `(earlier, later)`, ascending: passes that could become one render pass if they stood side by side on one queue.
    pub merges: &'a [(LiveId, LiveId)],
    /// Bytes that passes keep alive.
    pub bytes: Bytes<'a>,
    /// How many of them are worth a barrier call, on one queue.
    pub memory: MemoryBudget,
    /// Bytes of the heap that they are placed in; `None`: no limit.
    pub heap: Option<u64>,
    /// Costs.
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

    /// Whether two passes could become one render pass if they stood side by side, `before` first. O(log merges).
    #[inline]
    pub(super) fn may_merge(&self, before: LiveId, pass: LiveId) -> bool {
        self.merges.binary_search(&(before, pass)).is_ok()
    }

    /// Whether there is no pass.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How an order is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// `Overlap` where all passes run on one queue, `Weighted` on several. Passes that may run on several stay on the
    /// graphics queue unless that costs a quarter of the frame, or a fiftieth where every duration is known.
    #[default]
    Auto,
    /// The declared order, as near as dependencies allow.
    Declared,
    /// Few barrier calls, and no more live bytes than [`Instance::memory`] allows, for one queue.
    Overlap,
    /// The shortest frame over several queues that a heuristic finds.
    Weighted,
    /// The shortest frame there is, as far as a search of that many passes can tell.
    Exact {
        /// Most partial schedules that the search may open.
        nodes: u32,
    },
    /// The tree of all permitted orders, flattened: boxes stay together, the heaviest first, each node where it ends
    /// first. At worst O(nodes³ / 64).
    BoxTree,
    /// An order from outside; without one as `Auto`.
    Proposed,
    /// A random permitted order on random permitted queues, for comparing results: a correct graph computes the same
    /// in each of them.
    Random {
        /// Equal seeds give equal orders; with the highest bit flipped, passes that are ready together come in the
        /// reverse.
        seed: u64,
        /// Adjacent swaps that are made on the way from the declared order to the random one; `u32::MAX`: all.
        swaps: u32,
    },
}

impl Policy {
    /// Partial schedules that `exact` may open by default.
    pub const DEFAULT_EXACT_NODES: u32 = 200_000;

    /// The policy of that name; `Random` and `Proposed` need more than a name.
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

    /// Its name.
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

    /// Names of the policies that have one.
    pub const NAMES: [&str; 6] = ["auto", "declared", "overlap", "weighted", "exact", "box_tree"];
}

/// A schedule.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Order {
    /// All passes, each after what it depends on; each queue runs its own in this order.
    pub passes: Vec<LiveId>,
    /// The queue of each pass, by pass; [`HOST`] is the host.
    pub queue: IdVec<LiveId, u8>,
    /// How each pass's queue was chosen, by pass: [`QueueWhy::OnlyCapable`] or [`QueueWhy::EarliestFinish`].
    pub why_queue: IdVec<LiveId, QueueWhy>,
    /// Modelled start of each pass in microseconds, by pass.
    pub start_us: IdVec<LiveId, f32>,
    /// Modelled end of each pass in microseconds, by pass.
    pub finish_us: IdVec<LiveId, f32>,
    /// Modelled length of the frame in microseconds.
    pub frame_us: f64,
    /// Modelled length in microseconds of the same order with every pass of the device on the graphics queue, where it
    /// uses others.
    pub one_queue_us: Option<f64>,
    /// The policy that made it, [`Policy::Auto`] resolved.
    pub policy: Policy,
    /// Whether no order and queues give a shorter frame, and none as short keeps fewer bytes alive at once in the order
    /// of starts (policy `exact`).
    pub optimal: bool,
    /// Partial schedules that the search opened.
    pub nodes_explored: u32,
}
