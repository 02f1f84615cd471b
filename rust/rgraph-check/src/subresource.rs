//! The state of memory while a plan is walked: what used each subresource last, its layout, owner and contents; and the
//! verdict on a pair of uses.

use rgraph_ir::access::{Accesses, Layout, Stages};
use rgraph_ir::id::IdVec;
use rgraph_ir::plan::{Hazard, PlanPassId, QueueId, Scope, Why};

use crate::clock::{Lanes, SyncNode, available, ordered};
use crate::facts::Key;
use crate::ids::{
    AllocationId, DeclaredPassId, DoneId, InstanceId, MemoryId, NodeId, Position, RenderingId, RunId, Subpass,
    SubresourceId, UnorderedGroupId,
};
use crate::tables::Op;

/// One subresource of one allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct AllocationPlace {
    pub allocation: AllocationId,
    pub subresource: SubresourceId,
}

/// An operation that ran: one leaf stage and access of a pass, or a transition at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub queue: QueueId,
    pub position: Position,
    pub op: Op,
    /// The node at which a transition, release, acquire or entry happens.
    pub node: Option<NodeId>,
    /// The pass of the plan, or the one that a transition says it is for.
    pub pass: Option<PlanPassId>,
    pub instance: InstanceId,
    /// Which render pass it is in.
    pub rendering: Option<RenderingId>,
    /// The subpass of that render pass, and how it meets the texels there.
    pub subpass: Subpass,
    pub local: Local,
    /// A write within a render pass after its load operation: what that saw, this one need not see again. Or a
    /// resolve's read of what its own subpass drew.
    pub inner: bool,
    pub run: RunId,
    pub place: AllocationPlace,
    /// The unordered group that it is in.
    pub group: Option<UnorderedGroupId>,
    /// Counts all operations.
    pub sequence: u64,
}

/// How an operation within a render pass meets the texels of that render pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Local {
    /// In rasterisation order.
    Attachment,
    /// Texel by texel, behind a by-region dependency.
    Input,
    /// At the end of its subpass.
    Resolve,
    /// A store operation, behind all that its render pass does to the texel.
    Store,
    /// Not at all.
    No,
}

/// A write that is still the last one of a subresource.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub done: DoneId,
    /// Nodes of the subresource at which it was made available by name.
    pub at: Vec<NodeId>,
    /// Barriers that took it in by another name of its bytes.
    pub lent: Vec<Lent>,
    /// Nodes at which it was made visible to the host.
    pub host: Vec<NodeId>,
}

/// A barrier on another name of its bytes that took a write in.
#[derive(Clone, Debug)]
pub(crate) struct Lent {
    pub node: NodeId,
    /// What it names.
    pub to: AllocationPlace,
    /// Nodes at which the host sees what it took in.
    pub host: Vec<NodeId>,
}

impl Write {
    /// The same write as a place in the same bytes meets it: barriers on that place took it in for it.
    pub(crate) fn met_by(&self, place: AllocationPlace) -> Self {
        let mut met = Self { lent: Vec::new(), ..self.clone() };
        for lent in self.lent.iter().filter(|lent| lent.to == place) {
            met.at.push(lent.node);
            met.host.extend(&lent.host);
        }
        met
    }

    /// The same write as if one barrier alone had taken it in by name.
    pub(crate) fn only_at(&self, lent: &Lent) -> Self {
        Self { done: self.done, at: vec![lent.node], lent: Vec::new(), host: lent.host.clone() }
    }
}

/// A read since then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub done: DoneId,
}

/// Half of a transfer of ownership that waits for the other half.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Release {
    pub families: [u32; 2],
    pub layouts: [Layout; 2],
    pub part: crate::shape::SubresourceRange,
    pub pass: Option<PlanPassId>,
}

/// What became of a subresource's contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gone {
    /// Nothing wrote it in this run.
    Unwritten,
    /// A barrier from `undefined`.
    Transition,
    /// Another resource in the same bytes.
    Alias(MemoryId),
    /// A store operation that does not allocation.
    NotStored,
    /// Another queue family used it without a transfer of ownership.
    Family,
    /// Its writer leaves it undefined.
    Undefined,
}

/// A subresource of a memory.
#[derive(Clone, Debug)]
pub(crate) struct SubresourceState {
    pub writes: Vec<Write>,
    pub reads: Vec<Read>,
    /// Barriers on it since the last write.
    pub nodes: Vec<NodeId>,
    /// Up to which operation the resources in the same bytes were looked at.
    pub alias_seen: u64,
    /// The last checked write that replaced it.
    pub replaced: u64,
    pub layout: Layout,
    pub owner: Option<u32>,
    pub release: Option<Release>,
    /// `None`: its contents are what the last writer left.
    pub gone: Option<Gone>,
    /// The last run in which a pass wrote it.
    pub written: Option<RunId>,
    /// Last write and last access of this run in declared order, with their groups.
    pub last_write: Option<(Key, Option<UnorderedGroupId>, DeclaredPassId)>,
    pub last_any: Option<(Key, Option<UnorderedGroupId>, DeclaredPassId)>,
}

impl SubresourceState {
    pub(crate) fn new() -> Self {
        Self {
            writes: Vec::new(),
            reads: Vec::new(),
            nodes: Vec::new(),
            alias_seen: 0,
            replaced: 0,
            layout: Layout::Undefined,
            owner: None,
            release: None,
            gone: Some(Gone::Unwritten),
            written: None,
            last_write: None,
            last_any: None,
        }
    }
}

/// What stands on the later side of a pair.
pub(crate) enum Later<'a> {
    /// An operation of a pass.
    Op(&'a Done),
    /// A transition, release or acquire, at its own node.
    Node(NodeId),
}

/// Why a pair is a hazard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    Order,
    Availability,
    Visibility,
    Host,
    /// They are in one subpass, where nothing orders them.
    Subpass,
}

/// The clocks and nodes that decide whether one access is ordered after another.
pub(crate) struct Clocks<'a> {
    pub lanes: &'a Lanes,
    pub nodes: &'a IdVec<NodeId, SyncNode>,
    pub done: &'a IdVec<DoneId, Done>,
    pub host: QueueId,
}

impl Clocks<'_> {
    /// Whether `x` is ordered before the later side; `through` are nodes that it entered for certain.
    pub(crate) fn is_ordered(&self, x: &Done, through: &[NodeId], y: &Later) -> bool {
        let (clock, place) = match y {
            Later::Op(y) if x.queue == self.host && y.queue == self.host => return true,
            Later::Op(y) => {
                let stage = usize::from(y.op.stage);
                (self.lanes.at(y.queue, stage), Some((y.queue, stage, y.rendering)))
            }
            Later::Node(n) => (&self.nodes[*n].clock, None),
        };
        let from = |node: NodeId| {
            let n = &self.nodes[node];
            let direct = match (place, y) {
                (Some((queue, stage, rendering)), _) => n.orders(queue, stage, rendering),
                (None, Later::Node(own)) => {
                    node == *own && x.node != Some(node) || n.leads_within_to(&self.nodes[*own])
                }
                (None, Later::Op(_)) => false,
            };
            direct || n.reaches(clock)
        };
        // Within one render pass, what a barrier there takes in by itself.
        let within = |x: &Done| match y {
            Later::Node(own) => self.nodes[*own].takes_in(x),
            Later::Op(_) => false,
        };
        match x.node {
            Some(node) => from(node) || through.iter().any(|&n| n != node && from(n)),
            None => {
                ordered(clock, x.queue, x.position, usize::from(x.op.stage))
                    || within(x)
                    || through.iter().any(|&n| from(n))
            }
        }
    }

    /// Whether a write is available at a node.
    pub(crate) fn is_available(&self, x: &Done, at: &[NodeId], node: NodeId) -> bool {
        let clock = &self.nodes[node].clock;
        x.node.is_none() && available(clock, x.queue, x.position, usize::from(x.op.stage))
            || at
                .iter()
                .any(|&n| n == node || self.nodes[n].reaches(clock) || self.nodes[n].leads_within_to(&self.nodes[node]))
    }

    /// Whether a write is visible to the later side. `nodes` are the barriers on either's subresource.
    pub(crate) fn is_visible(&self, x: &Write, nodes: [&[NodeId]; 2], y: &Later) -> bool {
        let write = &self.done[x.done];
        let y = match y {
            Later::Node(node) => return self.is_available(write, &x.at, *node),
            Later::Op(y) => y,
        };
        let (queue, stage) = (y.queue, usize::from(y.op.stage));
        if queue == self.host {
            let clock = self.lanes.at(queue, stage);
            // What the host reads must be in the second scope as a read (formats.md, "Batches"). A write needs what was
            // there available to the host's domain only, whichever access a barrier names (Vulkan 1.3, Appendix B,
            // "Location-Ordered").
            let shown = |n: &NodeId| {
                let node = &self.nodes[*n];
                (y.op.write || node.scope.dst_access.intersects(y.op.access)) && node.reaches(clock)
            };
            // The runtime's entry barrier shows what devices left in runs before.
            let entry = write.node.filter(|_| write.pass.is_none()).map(|node| self.nodes[node].scope);
            let unseen = |entry: Scope| {
                !entry.dst_stages.contains(Stages::HOST) || !y.op.write && !entry.dst_access.intersects(y.op.access)
            };
            return write.queue == self.host && !entry.is_some_and(unseen) || x.host.iter().any(shown);
        }
        let named = |n: &NodeId| {
            self.nodes[*n].shows(queue, stage, y.op.access, y.rendering) && self.is_available(write, &x.at, *n)
        };
        if nodes.iter().any(|list| list.iter().any(named)) {
            return true;
        }
        self.lanes.seen(queue, stage, y.op.access).any(|clock| {
            write.node.is_none() && available(clock, write.queue, write.position, usize::from(write.op.stage))
                || x.at.iter().any(|&n| self.nodes[n].reaches(clock))
        })
    }

    /// What is missing between a write and the later side, if anything.
    pub(crate) fn after_write(&self, x: &Write, nodes: [&[NodeId]; 2], y: &Later) -> Option<Missing> {
        let write = &self.done[x.done];
        if !self.is_ordered(write, &x.at, y) {
            return Some(Missing::Order);
        }
        if self.is_visible(x, nodes, y) {
            return None;
        }
        match y {
            Later::Op(y) if y.queue == self.host => Some(Missing::Host),
            Later::Op(y) => {
                let clock = self.lanes.at(y.queue, usize::from(y.op.stage));
                let somewhere = x.at.iter().any(|&n| self.nodes[n].reaches(clock) || self.nodes[n].queue == y.queue)
                    || available(clock, write.queue, write.position, usize::from(write.op.stage));
                Some(if somewhere { Missing::Visibility } else { Missing::Availability })
            }
            Later::Node(_) => Some(Missing::Availability),
        }
    }
}

/// The pass that a barrier says it is for.
pub(crate) fn meant(why: &Why) -> Option<PlanPassId> {
    match why.hazard {
        Hazard::Release => why.from.or(why.to),
        _ => why.to.or(why.from),
    }
}

/// An operation of no stage, for nodes that write.
pub(crate) const TRANSITION: Op = Op { stage: 0, access: Accesses::empty(), write: true };
