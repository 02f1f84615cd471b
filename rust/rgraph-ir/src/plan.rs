//! What a bake decides: flat arrays and ranges into them, everything that runs and why. Immutable once made,
//! comparable; `rgraph-plan` prints, reads and writes it.

mod barrier;
mod equal;
mod query;
mod report;

pub use barrier::{Barriers, BufferBarrier, Hazard, ImageBarrier, MemoryBarrier, Scope, Why};
pub use report::{BakeTimes, FrameBound, Report, Unmerged, UnmergedWhy};

use crate::access::{Accesses, Aspects, Layout, Load, MemoryDomain, Sharing, Stages, Store, UsageSet};
use crate::feature::Features;
use crate::format::Format;
use crate::graph::{Clear, FlagId};
use crate::id::{IdVec, Names, Span};
use crate::profile::Capabilities;
use crate::resource::ResourceId;

crate::id! {
    /// A pass of one plan: live ones first, in an order in which they may run alone, then the culled ones.
    pub struct PlanPassId;
    /// A queue of one plan: the profile's queues in order, then the further ones of queues whose count is above 1.
    pub struct QueueId;
    /// A batch of one plan: one submit (or, without a queue, one piece of host work).
    pub struct BatchId;
    /// A physical pass: passes merged into one render pass.
    pub struct PhysicalPassId;
    /// A heap: one arena of memory.
    pub struct HeapId;
    /// An event: one split barrier.
    pub struct EventId;
}

/// A baked plan. Passes, resources and the rest refer to each other by the ids of this plan; resources have the
/// graph's ids, followed by those that the planner inserted. Plans are equal if they say the same, however their
/// arrays are laid out and however long their bakes took.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The graph's name.
    pub graph: String,
    /// The graph's [`content_hash`](crate::graph::Graph::content_hash).
    pub graph_hash: u128,
    /// The profile's name.
    pub profile: String,
    /// The optional features of the profile; `None`: it does not say.
    pub features: Option<Features>,
    /// The queues planned for.
    pub queues: IdVec<QueueId, PlanQueue>,
    /// Names of passes, by [`PlanPass::name`].
    pub pass_names: Names,
    /// Names of resources, by id.
    pub resource_names: Names,
    /// Names of the graph's flags, by id.
    pub flag_names: Names,
    pub passes: IdVec<PlanPassId, PlanPass>,
    /// Accesses of inserted passes, by [`PlanPass::accesses`].
    pub pass_accesses: Vec<PlanAccess>,
    pub resources: IdVec<ResourceId, PlanResource>,
    /// Resources that share bytes with another, by [`PlanResource::aliases`].
    pub aliases: Vec<ResourceId>,
    /// The batches, in an order in which they may be submitted.
    pub batches: IdVec<BatchId, Batch>,
    /// Waits of batches.
    pub waits: Vec<Wait>,
    /// Commands of batches.
    pub commands: Vec<Command>,
    /// Global memory barriers of commands.
    pub memory_barriers: Vec<MemoryBarrier>,
    /// Buffer barriers of commands.
    pub buffer_barriers: Vec<BufferBarrier>,
    /// Image barriers of commands.
    pub image_barriers: Vec<ImageBarrier>,
    /// Attachments of render passes.
    pub attachments: Vec<Attachment>,
    /// Layouts that passes' descriptors and attachments use.
    pub layouts: Vec<PassLayout>,
    /// Where things are in memory.
    pub memory: Memory,
    /// First use and last state of imported, persistent and history resources.
    pub edges: Vec<Edge>,
    /// Where batches wait for and signal the other users of imports, by batch.
    pub foreign: Vec<ForeignPoint>,
    /// Independent parts of the graph.
    pub subgraphs: Vec<Subgraph>,
    /// Live passes by subgraph, by [`Subgraph::passes`].
    pub subgraph_passes: Vec<PlanPassId>,
    /// Roots by subgraph, by [`Subgraph::roots`].
    pub subgraph_roots: Vec<ResourceId>,
    /// Neighbouring raster passes that were not merged, and why.
    pub unmerged: Vec<Unmerged>,
    /// Passes that may run at once: sets of the CPU, then sets of the GPU, each in the order in which they run. A live
    /// pass is in exactly one; a plan without any promises nothing.
    pub sets: Vec<PassSet>,
    /// Live passes by set, by [`PassSet::passes`].
    pub set_passes: Vec<PlanPassId>,
    /// Passes whose packets a run may sort together, by [`Plan::packet_passes`]: neighbours in the commands of one
    /// batch, in plan order.
    pub packets: Vec<Span>,
    /// Passes by row of [`Plan::packets`].
    pub packet_passes: Vec<PlanPassId>,
    /// Passes that only move bytes, a row for each pair of source and target.
    pub copies: Vec<PlanCopy>,
    /// What readers of the outputs of passes get while those are off.
    pub fallbacks: Vec<PlanFallback>,
    /// What could not be done as asked, and figures.
    pub report: Report,
}

/// A queue planned for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanQueue {
    pub name: String,
    pub family: u32,
    /// What it can do.
    pub capabilities: Capabilities,
}

/// A live pass, or a culled one: declared, or inserted by the planner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlanPass {
    /// Position of its name in [`Plan::pass_names`].
    pub name: u32,
    /// Position in the (flattened) declaration; `None`: inserted by the planner.
    pub declared: Option<u32>,
    /// Of an inserted mip level: position in the (flattened) declaration of the pass whose `generate_mips` demands it.
    /// `None` for declared passes and for blits between resources of different sizes.
    pub owner: Option<u32>,
    /// Its queue; `None`: the host, or culled.
    pub queue: Option<QueueId>,
    /// Why it is culled, if it is.
    pub culled: Option<Culled>,
    /// The render pass it is part of.
    pub physical_pass: Option<PhysicalPassId>,
    /// Its subpass within the render pass, from 0. Attachment accesses of one subpass are in rasterisation order; those
    /// of different subpasses are ordered only by the by-region barriers between them.
    pub subpass: u32,
    /// The flag that switches it, in [`Plan::flag_names`]; of an inserted level, that of its owner.
    pub flag: Option<FlagId>,
    /// Accesses, for inserted passes, in [`Plan::pass_accesses`].
    pub accesses: Span,
    /// Why it stands where it does.
    pub why: PassWhy,
}

/// Why a pass does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Culled {
    /// It writes nothing and has no side effects.
    WritesNothing,
    /// Its setup function declared no access.
    OptedOut,
    /// Nobody reads what it writes.
    Unread(ResourceId),
    /// Its output is overwritten before any pass reads it.
    Overwritten(ResourceId),
    /// Only culled passes read what it writes; the declared position of one of them.
    OnlyCulledReaders(ResourceId, u32),
}

/// Why a pass runs where and when it does.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PassWhy {
    /// How its queue was chosen.
    pub queue: QueueWhy,
    /// The latest pass that it had to wait for, if any.
    pub after: Option<PlanPassId>,
    /// Modelled start in microseconds.
    pub start_us: f32,
    /// Modelled duration in microseconds.
    pub duration_us: f32,
}

/// How a pass's queue was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QueueWhy {
    /// The declaration names it.
    #[default]
    Named,
    /// The profile has no queue of that kind but the graphics queue.
    NoOther,
    /// The planner picked the one where it finishes first.
    EarliestFinish,
    /// Only this queue can do what the pass asks.
    OnlyCapable,
    /// The declaration leaves it open, and no other queue promises a sure gain.
    NoGain,
    /// The declaration leaves it open, and on another queue the frame would have more batches than it may.
    FewBatches,
}

/// An access of an inserted pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanAccess {
    pub resource: ResourceId,
    pub stages: Stages,
    /// Access kinds.
    pub access: Accesses,
    /// Layout; `Undefined` for buffers.
    pub layout: Layout,
    /// Mip levels, half-open.
    pub mips: [u32; 2],
    /// Array layers, half-open.
    pub layers: [u32; 2],
}

/// A declared resource: its shape, and the memory that it is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanResource {
    /// What it is.
    pub kind: PlanKind,
    /// Bytes that it needs, rounded as the profile says.
    pub bytes: u64,
    /// First and last live pass that uses it; `None`: unused.
    pub lifetime: Option<[PlanPassId; 2]>,
    /// Resources that share bytes with it, in [`Plan::aliases`].
    pub aliases: Span,
    /// Who may use it without a transfer of ownership.
    pub sharing: Sharing,
    /// The memory that its memory was declared to lie in; `None`: the runtime's choice.
    pub memory_domain: Option<MemoryDomain>,
    /// How long its contents live.
    pub life: PlanLife,
    /// Inserted by the planner.
    pub inserted: bool,
    /// An attachment of one render pass, neither loaded nor stored: tiles may hold all that it ever has.
    pub transient_attachment: bool,
    /// The resource whose memory it is in: itself, or the first name of a memory with several.
    pub memory: ResourceId,
    /// How many memories take turns from run to run: above 1 where a history remembers the contents.
    pub ring: u32,
    /// Of a history: which memory of which ring it is.
    pub remembers: Option<Remembers>,
    /// What its memory is made for under all of its names, and in all of its ring: the usages of accesses and of what
    /// the plan and the caller do with it. `None`: the plan was read from a file that does not say.
    pub usages: Option<UsageSet>,
}

/// Which memory of a ring a history is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remembers {
    /// The memory whose ring it is.
    pub of: ResourceId,
    /// How many runs ago that memory had its turn.
    pub frames: u32,
}

/// How long a planned resource's contents live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanLife {
    /// Within a frame.
    Transient,
    /// Kept for the caller at the end of the frame.
    Root,
    /// Within a frame, in memory of its own for each frame under way.
    Fresh,
    /// From frame to frame.
    Persistent,
    /// An image of a ring that remembers earlier frames, or the resource that is remembered.
    History,
    /// The caller's.
    Imported,
}

/// Image or buffer, sizes resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanKind {
    Image {
        /// Texel format.
        format: Format,
        /// Width, height and depth in texels.
        size: [u32; 3],
        /// Mip levels.
        mips: u32,
        /// Array layers.
        layers: u32,
        /// Samples per texel.
        samples: u32,
        /// Whether it has three dimensions.
        volume: bool,
        /// Whether it is viewed as a cube.
        cube: bool,
    },
    Buffer {
        /// Size in bytes.
        size: u64,
    },
}

impl PlanKind {
    /// The aspects of an image; none of a buffer.
    pub fn aspects(self) -> Aspects {
        match self {
            Self::Image { format, .. } => format.aspects(),
            Self::Buffer { .. } => Aspects::empty(),
        }
    }
}

/// One submit to one queue, or one piece of host work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Its queue; `None`: the host.
    pub queue: Option<QueueId>,
    /// In [`Plan::waits`].
    pub waits: Span,
    /// In [`Plan::commands`].
    pub commands: Span,
    /// The value that its queue's timeline semaphore has when it is done, if anybody waits for that.
    pub signal: Option<u32>,
}

/// A wait for another queue's timeline semaphore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The queue waited for; `None`: the host.
    pub queue: Option<QueueId>,
    /// The value waited for.
    pub value: u32,
    /// The stages that wait.
    pub stages: Stages,
    /// Whether the value is that of the run before this one.
    pub previous_run: bool,
}

/// One command of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// One pipeline-barrier call.
    Barriers(Barriers),
    /// Begins a render pass.
    BeginRendering {
        /// The render pass.
        physical_pass: PhysicalPassId,
        /// In [`Plan::attachments`].
        attachments: Span,
    },
    /// The commands of a pass.
    Pass {
        pass: PlanPassId,
        /// In [`Plan::layouts`].
        layouts: Span,
    },
    /// Ends a render pass.
    EndRendering,
    /// First half of a split barrier.
    SetEvent(EventId, Barriers),
    /// Second half of a split barrier, with the same dependency.
    WaitEvents(EventId, Barriers),
}

/// An attachment of a render pass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attachment {
    /// The image.
    pub resource: ResourceId,
    /// Mip level rendered to.
    pub mip: u32,
    /// Array layers, half-open.
    pub layers: [u32; 2],
    /// The aspects that are attached: of depth and stencil, those that a pass of the render pass accesses. The render
    /// pass leaves the other alone, in whatever layout and hands it is.
    pub aspects: Aspects,
    /// What becomes of the old contents (of depth, where there is depth).
    pub load: Load,
    /// What becomes of the new contents.
    pub store: Store,
    /// The same for stencil, where there is stencil.
    pub stencil: Option<(Load, Store)>,
    /// The clear value.
    pub clear: Option<Clear>,
    /// Where its samples are resolved to.
    pub resolve_to: Option<ResourceId>,
    /// Whether it is an input attachment only: neither loaded nor stored by this render pass.
    pub input: bool,
}

/// The layout in which a pass finds part of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassLayout {
    /// The image.
    pub resource: ResourceId,
    /// Mip levels, half-open.
    pub mips: [u32; 2],
    /// Array layers, half-open.
    pub layers: [u32; 2],
    /// The aspects that are in it; depth and stencil may be in different ones.
    pub aspects: Aspects,
    pub layout: Layout,
}

/// Where things are in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// Arenas.
    pub heaps: IdVec<HeapId, Heap>,
    /// Placements of transients and roots, by resource.
    pub placements: Vec<Placement>,
    /// Bytes that the placements need: the highest end in each heap, summed.
    pub total: u64,
    /// Bytes without aliasing.
    pub without_aliasing: u64,
    /// Most bytes alive at once in the plan's own order: no placement can need less.
    pub lower_bound: u64,
}

/// One arena of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heap {
    /// The class of memory.
    pub memory_type: String,
    /// Its size in bytes.
    pub size: u64,
}

/// Where a resource is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    pub resource: ResourceId,
    pub heap: HeapId,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// First use and last state of part of a resource that outlives the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub resource: ResourceId,
    /// Mip levels, half-open.
    pub mips: [u32; 2],
    /// Array layers, half-open.
    pub layers: [u32; 2],
    /// Aspects; empty for buffers.
    pub aspects: Aspects,
    /// Bytes of a buffer, half-open.
    pub range: [u64; 2],
    /// Every use up to the first write or change of layout.
    pub entry: EdgeState,
    /// The state that the plan leaves it in.
    pub exit: EdgeState,
}

/// A batch that waits for the other user of an import before its first use, or lets it go on after the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForeignPoint {
    /// The import.
    pub resource: ResourceId,
    /// The batch. It waits before its commands, and signals behind them.
    pub batch: BatchId,
    /// Of a wait, the stages that wait; `None`: a signal.
    pub wait: Option<Stages>,
}

/// Who uses a resource, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeState {
    /// The queue; `None`: the host.
    pub queue: Option<QueueId>,
    pub stages: Stages,
    /// Access kinds.
    pub access: Accesses,
    /// Layout; `Undefined` for buffers, and for images whose contents are not needed.
    pub layout: Layout,
}

/// A part of the graph that shares nothing with the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subgraph {
    /// Its key: equal for equal parts of equal graphs.
    pub key: u64,
    /// In [`Plan::subgraph_passes`].
    pub passes: Span,
    /// In [`Plan::subgraph_roots`].
    pub roots: Span,
}

/// Passes that may run at once.
///
/// Of the CPU: no dependency orders two of them, not even through the GPU, and none writes bytes that another one uses.
/// A pass starts once the earlier passes of earlier sets are done. Of the GPU: no barrier call, event or wait orders
/// two of them; passes of one render pass are in one set, within which they overlap in rasterisation order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassSet {
    /// Whether they run on the CPU.
    pub cpu: bool,
    /// In [`Plan::set_passes`].
    pub passes: Span,
}

/// While the flag of a pass is off, readers of its output get the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanFallback {
    /// The pass, which may be culled.
    pub pass: PlanPassId,
    /// What it would write.
    pub output: ResourceId,
    /// What readers get.
    pub input: ResourceId,
}

/// A pass that only moves bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlanCopy {
    /// The pass, declared or inserted.
    pub pass: PlanPassId,
    /// What it reads.
    pub from: ResourceId,
    /// What it writes.
    pub to: ResourceId,
}
