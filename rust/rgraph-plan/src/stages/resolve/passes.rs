//! The passes to be planned: every declared pass with its accesses and attachments, and what its declaration implies.

use super::meaning::{Effect, Meaning, effect_on, meaning, said_of_stencil};
use super::problem::Problem;
use super::subresource::SubresourceRange;
use super::{
    Facts, Origin, ResolvedAccess, ResolvedAttachment, ResolvedPass, Source, combine, declared, declared_of, part_of,
};
use crate::access::{Accesses, Aspects, Load, Stages, Usage};
use crate::graph::PassId;
use crate::id::{Id, IdSpan, Span};
use crate::resource::ResourceId;
use crate::stages::ids::{AccessId, ResolvedAccessId, ResolvedPassId, ViewId};

/// A declared pass as all its accesses together make it.
#[derive(Clone, Copy)]
struct Kind {
    usages: Usages,
    /// Its accesses, in [`Facts::by_pass`].
    accesses: Span,
    generates_mips: bool,
    resolves_depth: bool,
}

impl Kind {
    fn of(facts: &Facts, Source { graph, shapes }: Source<'_>, accesses: Span) -> Self {
        let mut kind = Self { usages: Usages::default(), accesses, generates_mips: false, resolves_depth: false };
        for &id in &facts.by_pass[accesses.range()] {
            let access = declared(graph, id);
            kind.usages.insert(access.usage);
            kind.generates_mips |= access.generate_mips;
            kind.resolves_depth |=
                access.usage == Usage::ResolveAttachment && !shapes[access.resource].aspects.contains(Aspects::COLOR);
        }
        kind
    }

    fn draws(&self) -> bool {
        self.usages.attach() || self.usages.has(Usage::Vertex) || self.usages.has(Usage::Index)
    }

    fn tests(&self) -> bool {
        self.usages.has(Usage::DepthStencilAttachment) || self.usages.has(Usage::DepthStencilRead)
    }
}

impl Facts {
    pub(super) fn make_passes(&mut self, source: Source<'_>, problems: &mut Vec<Problem>) {
        let Source { graph, shapes } = source;
        self.passes.clear();
        self.accesses.clear();
        self.attachments.clear();
        self.hidden.clear();
        self.pass_of.clear();
        self.stamp.refill(None, shapes.len());
        self.blit_done.refill(false, shapes.len());
        for (id, declared_pass) in graph.passes().iter_ids() {
            crate::cancel::poll();
            let own = self.declared[id];
            if !self.blits.is_empty() {
                for at in own.range() {
                    self.insert_blit(source, declared(graph, self.by_pass[at]).resource);
                }
            }
            let kind = Kind::of(self, source, own);
            let (accesses, attachments) = (self.accesses.next_id(), self.attachments.len());
            let mut twice = false;
            for at in own.range() {
                twice |= self.add_access(source, id, self.by_pass[at], &kind);
            }
            if twice {
                let all = IdSpan::new(accesses.index(), self.accesses.len());
                if let Some((read, write)) = self.overwritten_fallback(source, id, self.accesses.slice(all)) {
                    problems.push(Problem::OverwrittenFallback { pass: id, read, write });
                }
                let before = self.hidden.len();
                let reads = self.accesses.slice(all).iter().filter(|access| access.effect == Effect::Read);
                let named = |access: &&ResolvedAccess| {
                    declared_of(graph, access).is_some_and(|declared| declared.resource == access.resource)
                };
                self.hidden.extend(reads.filter(named).map(|access| (id, *access)));
                let names = combine::combine(&mut self.accesses, accesses, &self.depth, &mut self.combine);
                if let Some((first, second)) = names {
                    problems.push(Problem::TwoNames { pass: id, first, second });
                }
                self.keep_hidden(before, accesses);
            }
            let pass = self.passes.push(ResolvedPass {
                origin: Origin::Declared(id),
                queue: declared_pass.queue,
                raster: kind.usages.attach(),
                keep: declared_pass.side_effects || kind.usages.has(Usage::Present),
                conditional: declared_pass.conditional,
                accesses: IdSpan::new(accesses.index(), self.accesses.len()),
                attachments: Span::new(attachments, self.attachments.len()),
                sources: Span::default(),
                entry_reads: Span::default(),
            });
            self.pass_of.push(pass);
            for at in own.range().filter(|_| kind.generates_mips) {
                let access = self.by_pass[at];
                if declared(graph, access).generate_mips {
                    self.insert_mips(source, id, access);
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

    /// Keeps those reads from `before` on that other accesses from `accesses` on have taken subresources of.
    fn keep_hidden(&mut self, before: usize, accesses: ResolvedAccessId) {
        let mut kept = before;
        for at in before..self.hidden.len() {
            let (pass, read) = self.hidden[at];
            let all = read.subresources.range();
            let left = |access: &ResolvedAccess| {
                let part = access.subresources.range();
                part.end.min(all.end).saturating_sub(part.start.max(all.start))
            };
            let own = self.accesses.as_slice()[accesses.index()..].iter().filter(|access| access.of_one_use(&read));
            if own.map(left).sum::<usize>() < all.len() {
                self.hidden[kept] = (pass, read);
                kept += 1;
            }
        }
        self.hidden.truncate(kept);
    }

    /// Adds a declared access of the pass that comes next; tells whether that pass accessed the memory before.
    fn add_access(&mut self, source: Source<'_>, id: PassId, access_id: AccessId, kind: &Kind) -> bool {
        let Source { graph, shapes } = source;
        let pass = self.passes.next_id();
        let access = declared(graph, access_id);
        let shape = &shapes[access.resource];
        let mut means = meaning(access, graph.passes()[id].queue, kind.draws(), shape.aspects);
        // Depth is resolved like colour, at that stage (Vulkan 1.3, "Render Pass Multisample Resolve Operations").
        if kind.resolves_depth && is_tested(access.usage) {
            means.stages |= Stages::COLOR_ATTACHMENT_OUTPUT;
            means.kinds |= Accesses::COLOR_ATTACHMENT_READ;
        }
        // A render pass loads both aspects of what it tests one of (Vulkan 1.3, "Render Pass Load Operations").
        let tested = |other: &AccessId| {
            let other = declared(graph, *other);
            other.resource == access.resource && is_tested(other.usage)
        };
        let sampled = kind.tests() && access.usage == Usage::Sampled && !shape.aspects.contains(Aspects::COLOR);
        if sampled && !shape.aspects.is_empty() && self.by_pass[kind.accesses.range()].iter().any(tested) {
            means.stages |= Stages::EARLY_FRAGMENT_TESTS;
            means.kinds |= Accesses::DEPTH_STENCIL_ATTACHMENT_READ;
        }
        let part = part_of(graph, access, shape);
        // Reads commute with reads anyway, and with no write.
        let unordered = access.unordered && means.effect.writes();
        let first = self.accesses.len();
        let mut twice = self.access(pass, access.resource, Some(access_id), &part, means, unordered);
        if access.usage == Usage::DepthStencilAttachment {
            for one in &mut self.accesses.as_vec_mut()[first..] {
                let aspects = self.subresources.get(one.subresources.first()).aspects & part.aspects;
                one.effect = effect_on(access, shape.aspects, aspects);
            }
        }
        if means.effect == Effect::Read && !self.fallbacks.of(access.resource).is_empty() {
            twice |= self.access_fallbacks(source, pass, id, access_id, &part, means);
        }
        if access.usage.is_attachment() {
            self.attachments.push(ResolvedAttachment {
                declared: access_id,
                resource: access.resource,
                mip: part.mips[0],
                layers: part.layers,
                usage: access.usage,
                load: declared_load(means.effect, access.load),
                stencil_load: declared_load(means.effect, said_of_stencil(access, shape.aspects)),
            });
        }
        twice
    }

    /// Adds an access; tells whether the pass accessed that memory before.
    pub(super) fn access(
        &mut self,
        pass: ResolvedPassId,
        resource: ResourceId,
        declared: Option<AccessId>,
        part: &SubresourceRange,
        means: Meaning,
        unordered: bool,
    ) -> bool {
        let memory = self.memory[resource];
        let twice = self.stamp[memory] == Some(pass);
        self.stamp[memory] = Some(pass);
        let Meaning { stages, kinds, layout, effect } = means;
        let (accesses, subresources) = (self.accesses.as_vec_mut(), &self.subresources);
        // An access has two numbers: one for the view of its stencil.
        let view = accesses.last().map_or(0, |access| (access.view.index() | 1) + 1);
        subresources.runs(memory, part, |part| {
            if !part.is_empty() {
                accesses.push(ResolvedAccess {
                    subresources: part,
                    resource,
                    stages,
                    kinds,
                    declared,
                    layout,
                    effect,
                    unordered,
                    group: None,
                    view: ViewId::new(view + usize::from(subresources.get(part.first()).aspects == Aspects::STENCIL)),
                });
            }
        });
        twice
    }
}

/// Whether a usage tests depth or stencil.
fn is_tested(usage: Usage) -> bool {
    matches!(usage, Usage::DepthStencilAttachment | Usage::DepthStencilRead)
}

/// Which usages a pass has.
#[derive(Clone, Copy, Default)]
struct Usages(u32);

impl Usages {
    const ATTACHMENTS: u32 = {
        let (mut bits, mut at) = (0, 0);
        while at < Usage::ALL.len() {
            bits |= (Usage::ALL[at].is_attachment() as u32) << at;
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

/// The load operation that an effect stands for; one left open becomes `Load` until the walk decides.
fn declared_load(effect: Effect, explicit: Option<Load>) -> Load {
    explicit.unwrap_or(match effect {
        Effect::Replace => Load::Discard,
        _ => Load::Load,
    })
}
