//! From words to facts: every declared use becomes accesses of subresources with stages, access kinds, a layout and an
//! effect; the work that a declaration implies (mip chains, scaled blits) becomes passes of its own; and all passes
//! are in one serial order, the meaning that everything later must keep.
//!
//! One walk over the declaration, one over the accesses; O(accesses + subresources accessed), O(t log t) where byte or
//! mip ranges cut a resource, and a topological sort only where reads look forward or names of one memory interleave.

mod combine;
mod fallback;
pub(crate) mod hazards;
mod insert;
pub(crate) mod meaning;
mod memories;
mod order;
mod passes;
mod problem;
pub(crate) mod silent;
pub mod subresource;
mod walk;

use crate::access::{Accesses, Layout, Load, PassQueue, Stages, Usage};
use crate::graph::{Access, FlagId, Graph, PassId};
use crate::id::{Id, IdSpan, IdVec, Span};
use crate::resource::{Leave, ResourceId};
use crate::stages::ids::{AccessId, ResolvedAccessId, ResolvedPassId, SubresourceId, UnorderedGroupId, ViewId};
use crate::stages::size::Shape;
use crate::stages::sort::accesses_by_pass;
use meaning::Effect;
pub use problem::{Problem, Reads, Via};
use subresource::{SubresourceRange, Subresources};

/// Where a pass comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Declared(PassId),
    /// Fills one mip level of `resource` from the level above it, at the end of `pass`.
    Mip {
        /// The pass whose access says `generate_mips`.
        pass: PassId,
        /// The image.
        resource: ResourceId,
        /// The level filled.
        level: u32,
    },
    /// Fills a modifying image of another size from what it modifies.
    Blit {
        /// The modifying image.
        resource: ResourceId,
    },
}

impl Origin {
    /// The pass whose declaration demands this inserted one; a flag that switches that pass switches both.
    pub fn owner(self) -> Option<PassId> {
        match self {
            Self::Mip { pass, .. } => Some(pass),
            Self::Declared(_) | Self::Blit { .. } => None,
        }
    }
}

/// A pass to be planned.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedPass {
    /// Where it comes from.
    pub origin: Origin,
    /// Where it runs, as declared.
    pub queue: PassQueue,
    /// Whether it has attachments.
    pub raster: bool,
    /// Whether it is needed although nobody reads what it writes.
    pub keep: bool,
    /// The flag that switches it.
    pub conditional: Option<FlagId>,
    /// What it accesses, in [`Facts::accesses`].
    pub accesses: IdSpan<ResolvedAccessId>,
    /// Its attachments, in [`Facts::attachments`].
    pub attachments: Span,
    /// The passes whose contents it needs, in [`Facts::sources`].
    pub sources: Span,
    /// The subresources that it finds as the frame before left them, in [`Facts::entry_reads`].
    pub entry_reads: Span,
}

/// A use of consecutive subresources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResolvedAccess {
    /// What it uses; not empty.
    pub subresources: IdSpan<SubresourceId>,
    /// The name by which they are used.
    pub resource: ResourceId,
    pub stages: Stages,
    /// Access kinds.
    pub kinds: Accesses,
    /// The declared access; `None` for inserted passes.
    pub declared: Option<AccessId>,
    /// Layout, for images.
    pub layout: Layout,
    /// What becomes of the old contents.
    pub effect: Effect,
    /// Whether it commutes with others that say so.
    pub unordered: bool,
    /// The group of uses that it commutes with; found by the walk.
    pub group: Option<UnorderedGroupId>,
    /// The view of the pass that sees it: all that one view sees is in one layout (Vulkan 1.3,
    /// `VkDescriptorImageInfo`). Depth and stencil are seen by views of their own.
    pub view: ViewId,
}

impl ResolvedAccess {
    /// Whether another access is part of the same use: of one access, and of one resource, the declared one or its
    /// fallback.
    pub fn of_one_use(&self, other: &Self) -> bool {
        (self.declared, self.resource) == (other.declared, other.resource)
    }
}

/// An attachment of a pass.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedAttachment {
    pub declared: AccessId,
    /// The image.
    pub resource: ResourceId,
    /// Mip rendered to, and layers.
    pub mip: u32,
    /// Array layers, half-open.
    pub layers: [u32; 2],
    pub usage: Usage,
    /// What becomes of the old contents; decided by the walk where the declaration left it open.
    pub load: Load,
    /// The same for stencil.
    pub stencil_load: Load,
}

/// Everything that later stages need to know of a declaration.
#[derive(Default, Debug)]
pub struct Facts {
    /// Whose memory a resource is in: its own, that of what it modifies, or of another history of the same frame.
    pub memory: IdVec<ResourceId, ResourceId>,
    /// How many resources of equal size it modifies, one through the other.
    pub depth: IdVec<ResourceId, u32>,
    /// The resource whose history ring this memory belongs to; without a history, itself.
    pub ring_base: IdVec<ResourceId, ResourceId>,
    /// Whether a history remembers what is in this memory.
    pub remembered: IdVec<ResourceId, bool>,
    /// By memory: the state in which the frame must leave it. None where nobody has it after the frame.
    pub leave: IdVec<ResourceId, Option<Leave>>,
    /// By memory: the name that says so, kept or not.
    left_by: IdVec<ResourceId, Option<ResourceId>>,
    /// Passes in serial order.
    pub passes: IdVec<ResolvedPassId, ResolvedPass>,
    /// Accesses by pass.
    pub accesses: IdVec<ResolvedAccessId, ResolvedAccess>,
    /// Reads of which another access of the same pass has some subresources, with all of theirs; by pass.
    hidden: Vec<(PassId, ResolvedAccess)>,
    /// Attachments by pass.
    pub attachments: Vec<ResolvedAttachment>,
    /// Contributors by pass.
    pub sources: Vec<ResolvedPassId>,
    /// All subresources.
    pub subresources: Subresources,
    /// Uses that commute may see each other whatever their order: `(earlier, later)`, sorted; who needs the earlier
    /// one needs the later one too.
    pub mutual: Vec<(ResolvedPassId, ResolvedPassId)>,
    /// By subresource: the last pass that writes it.
    pub final_writer: IdVec<SubresourceId, Option<ResolvedPassId>>,
    /// By pass: a resource of it that a later pass replaces before anybody reads it.
    pub replaced: IdVec<ResolvedPassId, Option<ResourceId>>,
    /// Pass of each declared pass.
    pub pass_of: IdVec<PassId, ResolvedPassId>,
    /// Pure orderings between passes, `(later, earlier)`.
    pub after: Vec<(ResolvedPassId, ResolvedPassId)>,
    /// Subresources of persistent and history resources found as the frame before left them, by pass.
    pub entry_reads: Vec<SubresourceId>,
    /// Declared accesses by pass.
    by_pass: Vec<AccessId>,
    /// Of each declared pass, in `by_pass`.
    declared: IdVec<PassId, Span>,
    /// By memory: the last pass that accessed it, to find passes that access one memory twice.
    stamp: IdVec<ResourceId, Option<ResolvedPassId>>,
    blit_done: IdVec<ResourceId, bool>,
    blits: Vec<ResourceId>,
    fallbacks: fallback::Fallbacks,
    histories: Vec<(ResourceId, u32, ResourceId)>,
    combine: combine::Scratch,
    order: order::Scratch,
    states: IdVec<SubresourceId, walk::WalkedSubresource>,
    /// What is right and still suspicious.
    pub silent: silent::Silent,
}

/// What [`resolve`] reads.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The declaration, flattened and validated.
    pub graph: &'a Graph,
    pub shapes: &'a IdVec<ResourceId, Shape>,
}

/// Resolves a validated declaration into `facts`; what only the order of accesses shows goes to `problems`.
pub fn resolve(source: Source<'_>, facts: &mut Facts, problems: &mut Vec<Problem>) {
    facts.find_memories(source);
    accesses_by_pass(source.graph, &mut facts.declared, &mut facts.by_pass);
    facts.fallbacks.find(source.graph);
    facts.cut_subresources(source);
    facts.make_passes(source, problems);
    if problems.is_empty() && (facts.in_order(source) || facts.reorder(source, problems)) {
        facts.walk(source, problems);
    }
}

impl Facts {
    /// The declared pass that a pass is, or is inserted for.
    pub fn declared_pass(&self, pass: ResolvedPassId) -> Option<PassId> {
        match self.passes[pass].origin {
            Origin::Declared(pass) | Origin::Mip { pass, .. } => Some(pass),
            Origin::Blit { .. } => None,
        }
    }

    fn cut_subresources(&mut self, source: Source<'_>) {
        let Source { graph, shapes } = source;
        self.subresources.clear(shapes.len());
        for access in graph.accesses() {
            let shape = &shapes[access.resource];
            let simple = access.ranges.is_none() && access.aspects.is_empty() && !access.generate_mips;
            if simple && (shape.levels()[0] == 1 || !first_mip_only(access.usage)) {
                continue;
            }
            let ring_base = self.ring_base[self.memory[access.resource]];
            let (whole, part) = (SubresourceRange::whole(shape), part_of(graph, access, shape));
            self.subresources.cut(ring_base, &whole, &part);
            if access.generate_mips {
                for level in part.mips[1].saturating_sub(1)..whole.mips[1] {
                    self.subresources.cut(ring_base, &whole, &SubresourceRange { mips: [level, level + 1], ..part });
                }
            }
        }
        self.cut_fallbacks(source);
        for &blit in &self.blits {
            let below = graph.resources()[blit].modifies.expect("only modifying images are blitted");
            for image in [blit, below] {
                let whole = SubresourceRange::whole(&shapes[image]);
                self.subresources.cut(
                    self.ring_base[self.memory[image]],
                    &whole,
                    &SubresourceRange { mips: [0, 1], ..whole },
                );
            }
        }
        self.subresources.make_grids(shapes);
        for (id, &memory) in self.memory.iter_ids() {
            if id == memory {
                self.subresources.make_subresources(id, self.ring_base[id], &shapes[id]);
            }
        }
    }
}

/// Whether an access that names no mips means the first one only.
fn first_mip_only(usage: Usage) -> bool {
    usage.is_attachment()
        || matches!(usage, Usage::StorageWrite | Usage::StorageReadWrite | Usage::TransferDst | Usage::HostWrite)
}

/// A declared access.
pub(crate) fn declared(graph: &Graph, access: AccessId) -> &Access {
    &graph.accesses()[access.index()]
}

/// The declared access that an access follows from; `None` for those of inserted passes.
pub(crate) fn declared_of<'a>(graph: &'a Graph, access: &ResolvedAccess) -> Option<&'a Access> {
    Some(declared(graph, access.declared?))
}

/// The part of a resource that an access means.
pub(crate) fn part_of(graph: &Graph, access: &Access, shape: &Shape) -> SubresourceRange {
    SubresourceRange::of(shape, &graph.ranges_of(access), access.aspects, first_mip_only(access.usage))
}
