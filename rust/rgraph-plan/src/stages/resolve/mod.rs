//! From words to facts: every declared use becomes accesses of subresources with stages, access kinds, a layout and an
//! effect; the work that a declaration implies (mip chains, scaled blits) becomes passes of its own; and all passes
//! stand in one serial order, the meaning that everything later must keep.
//!
//! One walk over the declaration, one over the accesses; O(accesses + subresources accessed), O(t log t) where byte or
//! mip ranges cut a resource, and a topological sort only where reads look forward or names of one memory interleave.

mod combine;
mod fallback;
pub mod hazards;
mod insert;
pub mod meaning;
mod order;
pub mod silent;
pub mod subresource;
mod walk;

use crate::access::{Accesses, Aspects, Layout, Load, PassQueue, Stages, Usage};
use crate::graph::{Access, FlagId, Graph, PassId};
use crate::id::{Id, IdVec, Span};
use crate::resource::{Life, ResourceId};
use crate::stages::size::{Shape, shares_memory};
use meaning::{Effect, effect_on, meaning, said_of_stencil};
use subresource::{Part, Subresources};

crate::id! {
    /// A pass to be planned: declared or inserted, in serial order.
    pub struct ResolvedPassId;
}

/// Where a pass comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A declared pass.
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
    pub accesses: Span,
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
    /// First subresource.
    pub first: u32,
    /// Number of subresources.
    pub count: u32,
    /// The name by which they are used.
    pub resource: ResourceId,
    /// Stages.
    pub stages: Stages,
    /// Access kinds.
    pub kinds: Accesses,
    /// Position of the declared access; `u32::MAX` for inserted passes.
    pub declared: u32,
    /// Layout, for images.
    pub layout: Layout,
    /// What becomes of the old contents.
    pub effect: Effect,
    /// Whether it commutes with others that say so.
    pub unordered: bool,
    /// The group of uses that it commutes with, 0 for none; found by the walk.
    pub group: u32,
    /// The view of the pass that sees it: all that one view sees is in one layout (Vulkan 1.3,
    /// `VkDescriptorImageInfo`). Depth and stencil are seen by views of their own.
    pub view: u32,
}

impl ResolvedAccess {
    /// Its subresources.
    #[inline]
    pub fn subresources(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// Whether another access is part of the same use: of one access, and of one resource, the declared one or one that
    /// stands in for it.
    pub fn of_one_use(&self, other: &Self) -> bool {
        (self.declared, self.resource) == (other.declared, other.resource)
    }
}

/// An attachment of a pass.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedAttachment {
    /// Position of the declared access.
    pub declared: u32,
    /// The image.
    pub resource: ResourceId,
    /// Mip rendered to, and layers.
    pub mip: u32,
    /// Array layers, half-open.
    pub layers: [u32; 2],
    /// Usage.
    pub usage: Usage,
    /// What becomes of the old contents; decided by the walk where the declaration left it open.
    pub load: Load,
    /// The same for stencil.
    pub stencil_load: Load,
}

/// A mistake that only the order of accesses shows.
#[derive(Clone, PartialEq, Debug)]
pub enum Problem {
    /// A read of what nobody wrote.
    NeverWritten {
        /// Position of the access; `None`: a root.
        access: Option<u32>,
        /// The resource.
        resource: ResourceId,
        /// The part that nothing wrote.
        part: Part,
    },
    /// A conditional pass whose output holds nothing while the flag is off.
    HoldsNothing {
        /// The flag.
        flag: FlagId,
        /// The pass that it switches.
        pass: PassId,
        /// What holds nothing.
        resource: ResourceId,
        /// The pass that reads it all the same; `None`: the caller, as a root.
        reader: Option<PassId>,
    },
    /// A root whose memory another resource takes over.
    RootModified {
        /// The root.
        root: ResourceId,
        /// The resource that modifies it.
        by: ResourceId,
    },
    /// A pass that uses one memory under two names, one of which modifies the other: accesses of the first name come
    /// before those of the second.
    TwoNames {
        /// The pass.
        pass: PassId,
        /// Position of an access by one name.
        first: u32,
        /// Position of an access by another.
        second: u32,
    },
    /// A pass that reads an output, and writes what stands in for it: the write leaves nothing of that, or the read looks
    /// forward and has another place in the order than the write.
    StandsIn {
        /// The pass.
        pass: PassId,
        /// Position of the access that reads the output.
        read: u32,
        /// Position of the access that writes what stands in.
        write: u32,
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

/// Everything that later stages need to know of a declaration.
#[derive(Default, Debug)]
pub struct Facts {
    /// Whose memory a resource is in: its own, that of what it modifies, or of another history of the same frame.
    pub memory: IdVec<ResourceId, ResourceId>,
    /// How many resources of equal size it modifies, one through the other.
    pub depth: IdVec<ResourceId, u32>,
    /// The resource whose history ring this memory belongs to; without a history, itself.
    pub family: IdVec<ResourceId, ResourceId>,
    /// Whether a history remembers what is in this memory.
    pub remembered: IdVec<ResourceId, bool>,
    /// Passes in serial order.
    pub passes: IdVec<ResolvedPassId, ResolvedPass>,
    /// Accesses by pass.
    pub accesses: Vec<ResolvedAccess>,
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
    pub final_writer: Vec<Option<ResolvedPassId>>,
    /// By pass: a resource of it that a later pass replaces before anybody reads it.
    pub replaced: IdVec<ResolvedPassId, Option<ResourceId>>,
    /// Pass of each declared pass.
    pub pass_of: IdVec<PassId, ResolvedPassId>,
    /// Pure orderings between passes, `(later, earlier)`.
    pub after: Vec<(ResolvedPassId, ResolvedPassId)>,
    /// Subresources of persistent and history resources found as the frame before left them, by pass.
    pub entry_reads: Vec<u32>,
    /// Accesses by pass.
    by_pass: Vec<u32>,
    pass_start: Vec<u32>,
    /// By memory: the last pass that accessed it, to find passes that access one memory twice.
    stamp: IdVec<ResourceId, Option<ResolvedPassId>>,
    blit_done: IdVec<ResourceId, bool>,
    blits: Vec<ResourceId>,
    fallbacks: fallback::Fallbacks,
    histories: Vec<(ResourceId, u32, ResourceId)>,
    combine: combine::Scratch,
    order: order::Scratch,
    states: Vec<walk::State>,
    /// What is right and still suspicious.
    pub silent: silent::Silent,
}

/// What [`resolve`] reads.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The declaration, flattened and validated.
    pub graph: &'a Graph,
    /// Its shapes.
    pub shapes: &'a IdVec<ResourceId, Shape>,
}

/// Resolves a validated declaration into `facts`; what only the order of accesses shows goes to `problems`.
pub fn resolve(source: Source<'_>, facts: &mut Facts, problems: &mut Vec<Problem>) {
    facts.find_memories(source);
    facts.sort_accesses(source.graph);
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

    /// Whose memory each resource is in. A chain of modifying resources is followed once.
    fn find_memories(&mut self, source: Source<'_>) {
        let Source { graph, shapes } = source;
        let resources = graph.resources();
        self.memory.clear();
        self.blits.clear();
        self.depth.refill(0, resources.len());
        self.memory.as_vec_mut().extend(resources.ids());
        for (id, resource) in resources.iter_ids() {
            if resource.modifies.is_none() || self.depth[id] > 0 {
                continue;
            }
            // Up the chain until a resource that is its own memory or is known, then down again.
            let mut top = id;
            let mut steps = 0u32;
            while let Some(below) = resources[top].modifies
                && shares_memory(shapes, top, below)
                && self.depth[top] == 0
            {
                top = below;
                steps += 1;
            }
            let (memory, mut depth) = (self.memory[top], self.depth[top] + steps);
            let mut at = id;
            while at != top {
                (self.memory[at], self.depth[at]) = (memory, depth);
                depth -= 1;
                at = resources[at].modifies.expect("the chain was followed just before");
            }
        }
        for (id, resource) in resources.iter_ids() {
            if resource.modifies.is_some() && self.memory[id] == id {
                self.blits.push(id);
            }
        }
        self.family.clear();
        self.family.as_vec_mut().extend(resources.ids());
        self.remembered.refill(false, resources.len());
        for (id, resource) in resources.iter_ids() {
            if let Life::History(history) = resource.life {
                self.family[id] = self.memory[history.of];
                self.remembered[self.memory[history.of]] = true;
            }
        }
        self.join_histories(source);
    }

    /// Histories of one resource that look back as far are one memory: the same image of its ring.
    fn join_histories(&mut self, Source { graph, .. }: Source<'_>) {
        self.histories.clear();
        for (id, resource) in graph.resources().iter_ids() {
            if let Life::History(history) = resource.life {
                self.histories.push((self.family[id], history.frames, id));
            }
        }
        self.histories.sort_unstable();
        for pair in 1..self.histories.len() {
            let (before, this) = (self.histories[pair - 1], self.histories[pair]);
            if (before.0, before.1) == (this.0, this.1) {
                self.memory[this.2] = self.memory[before.2];
            }
        }
    }

    /// Positions of each pass's accesses: a stable counting sort, free of charge where they stand together.
    fn sort_accesses(&mut self, graph: &Graph) {
        let accesses = graph.accesses();
        self.pass_start.clear();
        self.pass_start.resize(graph.passes().len() + 1, 0);
        for access in accesses {
            self.pass_start[access.pass.index() + 1] += 1;
        }
        for at in 1..self.pass_start.len() {
            self.pass_start[at] += self.pass_start[at - 1];
        }
        self.by_pass.clear();
        self.by_pass.resize(accesses.len(), 0);
        for (at, access) in accesses.iter().enumerate() {
            let slot = &mut self.pass_start[access.pass.index()];
            self.by_pass[*slot as usize] = at as u32;
            *slot += 1;
        }
        // Each start has moved to the next one's place.
        self.pass_start.rotate_right(1);
        self.pass_start[0] = 0;
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
            let family = self.family[self.memory[access.resource]];
            let (whole, part) = (Part::whole(shape), part_of(graph, access, shape));
            self.subresources.cut(family, &whole, &part);
            if access.generate_mips {
                for level in part.mips[1].saturating_sub(1)..whole.mips[1] {
                    self.subresources.cut(family, &whole, &Part { mips: [level, level + 1], ..part });
                }
            }
        }
        self.cut_stand_ins(source);
        for &blit in &self.blits {
            let below = graph.resources()[blit].modifies.expect("only modifying images are blitted");
            for image in [blit, below] {
                let whole = Part::whole(&shapes[image]);
                self.subresources.cut(self.family[self.memory[image]], &whole, &Part { mips: [0, 1], ..whole });
            }
        }
        self.subresources.make_grids(shapes);
        for (id, &memory) in self.memory.iter_ids() {
            if id == memory {
                self.subresources.make_subresources(id, self.family[id], &shapes[id]);
            }
        }
    }

    fn make_passes(&mut self, source: Source<'_>, problems: &mut Vec<Problem>) {
        let Source { graph, shapes } = source;
        self.passes.clear();
        self.accesses.clear();
        self.attachments.clear();
        self.pass_of.clear();
        self.stamp.refill(None, shapes.len());
        self.blit_done.refill(false, shapes.len());
        for (id, declared_pass) in graph.passes().iter_ids() {
            crate::cancel::poll();
            let declared_accesses = self.pass_start[id.index()] as usize..self.pass_start[id.index() + 1] as usize;
            if !self.blits.is_empty() {
                for at in declared_accesses.clone() {
                    self.insert_blit(source, graph.accesses()[self.by_pass[at] as usize].resource);
                }
            }
            let (accesses, attachments) = (self.accesses.len(), self.attachments.len());
            let pass = ResolvedPassId::new(self.passes.len());
            let mut twice = false;
            let mut usages = Usages::default();
            let mut generates_mips = false;
            for at in declared_accesses.clone() {
                let access = &graph.accesses()[self.by_pass[at] as usize];
                usages.insert(access.usage);
                generates_mips |= access.generate_mips;
            }
            let raster = usages.attach();
            let keep = declared_pass.side_effects || usages.has(Usage::Present);
            let draws = raster || usages.has(Usage::Vertex) || usages.has(Usage::Index);
            let tests = usages.has(Usage::DepthStencilAttachment) || usages.has(Usage::DepthStencilRead);
            // Depth is resolved like colour, at that stage (Vulkan 1.3, "Render Pass Multisample Resolve Operations").
            let resolves_depth = usages.has(Usage::ResolveAttachment)
                && declared_accesses.clone().any(|at| {
                    let access = &graph.accesses()[self.by_pass[at] as usize];
                    access.usage == Usage::ResolveAttachment
                        && !shapes[access.resource].aspects.contains(Aspects::COLOR)
                });
            for at in declared_accesses.clone() {
                let declared = self.by_pass[at];
                let access = &graph.accesses()[declared as usize];
                let shape = &shapes[access.resource];
                let mut means = meaning(access, declared_pass.queue, draws, shape.aspects);
                if resolves_depth && matches!(access.usage, Usage::DepthStencilAttachment | Usage::DepthStencilRead) {
                    means.stages |= Stages::COLOR_ATTACHMENT_OUTPUT;
                    means.kinds |= Accesses::COLOR_ATTACHMENT_READ;
                }
                // A render pass loads both aspects of what it tests one of (Vulkan 1.3, "Render Pass Load
                // Operations").
                let is_tested = |at: usize| {
                    let other = &graph.accesses()[self.by_pass[at] as usize];
                    other.resource == access.resource
                        && matches!(other.usage, Usage::DepthStencilAttachment | Usage::DepthStencilRead)
                };
                let sampled = tests && access.usage == Usage::Sampled && !shape.aspects.contains(Aspects::COLOR);
                if sampled && !shape.aspects.is_empty() && declared_accesses.clone().any(is_tested) {
                    means.stages |= Stages::EARLY_FRAGMENT_TESTS;
                    means.kinds |= Accesses::DEPTH_STENCIL_ATTACHMENT_READ;
                }
                let part = part_of(graph, access, shape);
                // Reads commute with reads anyway, and with no write.
                let unordered = access.unordered && means.effect.writes();
                let first = self.accesses.len();
                twice |= self.access(pass, access.resource, declared, &part, means, unordered);
                if access.usage == Usage::DepthStencilAttachment {
                    for one in &mut self.accesses[first..] {
                        let aspects = self.subresources.get(one.first).aspects & part.aspects;
                        one.effect = effect_on(access, shape.aspects, aspects);
                    }
                }
                if means.effect == Effect::Read && !self.fallbacks.of(access.resource).is_empty() {
                    twice |= self.access_fallbacks(source, pass, id, declared, &part, means);
                }
                if is_attachment(access.usage) {
                    self.attachments.push(ResolvedAttachment {
                        declared,
                        resource: access.resource,
                        mip: part.mips[0],
                        layers: part.layers,
                        usage: access.usage,
                        load: declared_load(means.effect, access.load),
                        stencil_load: declared_load(means.effect, said_of_stencil(access, shape.aspects)),
                    });
                }
            }
            if twice {
                if let Some((read, write)) = self.overwritten_stand_in(source, id, &self.accesses[accesses..]) {
                    problems.push(Problem::StandsIn { pass: id, read, write });
                }
                let names = combine::combine(&mut self.accesses, accesses, &self.depth, &mut self.combine);
                if let Some((first, second)) = names {
                    problems.push(Problem::TwoNames { pass: id, first, second });
                }
            }
            self.pass_of.push(pass);
            self.passes.push(ResolvedPass {
                origin: Origin::Declared(id),
                queue: declared_pass.queue,
                raster,
                keep,
                conditional: declared_pass.conditional,
                accesses: Span::new(accesses, self.accesses.len()),
                attachments: Span::new(attachments, self.attachments.len()),
                sources: Span::default(),
                entry_reads: Span::default(),
            });
            for at in declared_accesses.filter(|_| generates_mips) {
                let declared = self.by_pass[at];
                if graph.accesses()[declared as usize].generate_mips {
                    self.insert_mips(source, id, declared);
                }
            }
        }
        for at in 0..self.blits.len() {
            self.insert_blit(source, self.blits[at]);
        }
        self.after.clear();
        for &(later, earlier) in graph.orderings() {
            self.after.push((self.pass_of[later], self.pass_of[earlier]));
        }
    }

    /// Adds an access; tells whether the pass accessed that memory before.
    fn access(
        &mut self,
        pass: ResolvedPassId,
        resource: ResourceId,
        declared: u32,
        part: &Part,
        means: meaning::Meaning,
        unordered: bool,
    ) -> bool {
        let memory = self.memory[resource];
        let twice = self.stamp[memory] == Some(pass);
        self.stamp[memory] = Some(pass);
        let meaning::Meaning { stages, kinds, layout, effect } = means;
        let (accesses, subresources) = (&mut self.accesses, &self.subresources);
        let view = accesses.last().map_or(0, |access| access.view | 1) + 1;
        subresources.runs(memory, part, |first, count| {
            if count > 0 {
                accesses.push(ResolvedAccess {
                    first,
                    count,
                    resource,
                    stages,
                    kinds,
                    declared,
                    layout,
                    effect,
                    unordered,
                    group: 0,
                    view: view + u32::from(subresources.get(first).aspects == Aspects::STENCIL),
                });
            }
        });
        twice
    }
}

/// Whether a usage makes its pass a raster pass.
pub const fn is_attachment(usage: Usage) -> bool {
    matches!(
        usage,
        Usage::ColorAttachment
            | Usage::DepthStencilAttachment
            | Usage::DepthStencilRead
            | Usage::InputAttachment
            | Usage::ResolveAttachment
    )
}

/// Which usages a pass has.
#[derive(Clone, Copy, Default)]
struct Usages(u32);

impl Usages {
    const ATTACHMENTS: u32 = {
        let (mut bits, mut at) = (0, 0);
        while at < Usage::ALL.len() {
            bits |= (is_attachment(Usage::ALL[at]) as u32) << at;
            at += 1;
        }
        bits
    };

    fn insert(&mut self, usage: Usage) {
        self.0 |= 1 << usage as u32;
    }

    fn has(self, usage: Usage) -> bool {
        self.0 >> usage as u32 & 1 != 0
    }

    /// Whether one of them is an attachment.
    fn attach(self) -> bool {
        self.0 & Self::ATTACHMENTS != 0
    }
}

/// Whether an access that names no mips means the first one only.
fn first_mip_only(usage: Usage) -> bool {
    is_attachment(usage)
        || matches!(usage, Usage::StorageWrite | Usage::StorageReadWrite | Usage::TransferDst | Usage::HostWrite)
}

/// The part of a resource that an access means.
pub fn part_of(graph: &Graph, access: &Access, shape: &Shape) -> Part {
    Part::of(shape, &graph.ranges_of(access), access.aspects, first_mip_only(access.usage))
}

/// The load operation that an effect stands for; one left open becomes `Load` until the walk decides.
fn declared_load(effect: Effect, said: Option<Load>) -> Load {
    said.unwrap_or(match effect {
        Effect::Replace => Load::Discard,
        _ => Load::Load,
    })
}
