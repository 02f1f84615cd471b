//! Passes and what they demand without naming it, as declared passes with parts of resources.

use rgraph_ir::access::{Aspects, Load, PassQueue, Stages, Transfer, Usage};
use rgraph_ir::graph::{Access, PassId};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::Plan;
use rgraph_ir::resource::ResourceId;

use super::{DeclaredPass, DeclaredUse, Facts, Inserted, PassPosition, ScaledCopy, Step, writes};
use crate::ids::{DeclaredPassId, MemoryId, UseId};
use crate::shape::{Grid, SubresourceRange};
use crate::tables::{Work, default_stages, is_attachment, work};

impl Facts<'_> {
    pub(super) fn declare_passes(&mut self) {
        let graph = self.graph;
        let mut by_pass: IdVec<DeclaredPassId, Vec<&Access>> = IdVec::filled(Vec::new(), graph.passes().len());
        for access in graph.accesses() {
            if let Some(declared) = self.place(access.pass).filter(|_| self.shapes.get(access.resource).is_some()) {
                by_pass[declared].push(access);
            }
        }
        let mut order: Vec<PassId> = graph.passes().ids().collect();
        order.sort_by_key(|id| self.place(*id));
        for (index, id) in order.into_iter().enumerate() {
            let at = DeclaredPassId::new(index);
            let (pass, accesses) = (&graph.passes()[id], &by_pass[at]);
            let work = work(pass.queue, accesses.iter().map(|access| access.usage));
            let mut uses: IdVec<_, _> = accesses.iter().map(|access| self.resolve(access, work)).collect();
            self.infer_sources(&mut uses);
            let presents = uses.iter().any(|at| at.usage == Usage::Present);
            self.declared_passes.push(DeclaredPass {
                name: graph.pass_name(id).to_owned(),
                declared: Some(at),
                inserted: None,
                position: PassPosition::of(at),
                step: Step::PASS,
                uses,
                flag: pass.conditional,
                queue: pass.queue,
                unordered: pass.unordered,
                pinned: pass.side_effects || presents,
                outputs: Vec::new(),
            });
        }
        for fallback in graph.fallbacks() {
            // Another name of the same memory is no other fallback: the contents are the same.
            let memory = |resource: ResourceId| self.memory.get(resource).zip(self.frames_ago.get(resource));
            let apart =
                memory(fallback.output).zip(memory(fallback.input)).is_some_and(|(output, input)| output != input);
            if let Some(declared) =
                self.place(fallback.pass).filter(|_| apart).and_then(|declared| self.declared_passes.get_mut(declared))
            {
                declared.outputs.push(fallback.output);
            }
        }
    }

    /// A resolve attachment that names no source has the only multisampled attachment of its format.
    fn infer_sources(&self, uses: &mut IdVec<UseId, DeclaredUse>) {
        for at in uses.ids() {
            if uses[at].usage != Usage::ResolveAttachment || uses[at].resolves.is_some() {
                continue;
            }
            let format = self.shapes[uses[at].resource].format;
            let fits = |other: &&DeclaredUse| {
                let shape = &self.shapes[other.resource];
                matches!(other.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment)
                    && shape.samples > 1
                    && shape.format == format
            };
            let mut sources = uses.iter().filter(fits).map(|other| other.resource);
            uses[at].resolves = sources.next().filter(|_| sources.next().is_none());
        }
    }

    /// The load operation of an access; a clear value alone means `clear`.
    pub(super) fn declared_load(&self, access: &Access) -> Option<Load> {
        let attachment = matches!(access.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
        let cleared = attachment && self.graph.details_of(access).clear.is_some();
        access.load.or(cleared.then_some(Load::Clear))
    }

    /// The load operation of stencil. Where there is nothing but stencil, the load of an access is about it.
    pub(super) fn declared_stencil_load(&self, access: &Access) -> Option<Load> {
        let alone = self.shapes[access.resource].aspects == Aspects::STENCIL;
        access.stencil_load.or_else(|| self.declared_load(access).filter(|_| alone))
    }

    fn resolve(&self, access: &Access, work: Work) -> DeclaredUse {
        let usage = access.usage;
        let resource = access.resource;
        let shape = &self.shapes[resource];
        let ranges = self.graph.ranges_of(access);
        let details = self.graph.details_of(access);
        let one_mip = is_attachment(usage)
            || matches!(
                usage,
                Usage::InputAttachment | Usage::StorageWrite | Usage::StorageReadWrite | Usage::TransferDst
            );
        let all_mips = if one_mip { [0, 1] } else { [0, shape.mips] };
        let clamp = |[first, end]: [u32; 2], most: u32| [first.min(most), end.min(most)];
        let part = if shape.is_image() {
            let aspects = if access.aspects.is_empty() { shape.aspects } else { access.aspects & shape.aspects };
            SubresourceRange::image(
                clamp(ranges.mips.unwrap_or(all_mips), shape.mips),
                clamp(ranges.layers.unwrap_or([0, shape.layers]), shape.layers),
                aspects,
            )
        } else {
            let [first, end] = ranges.bytes.unwrap_or([0, shape.bytes]);
            SubresourceRange::buffer([first.min(shape.bytes), end.min(shape.bytes)])
        };
        let load = self.declared_load(access);
        let discards = matches!(load, Some(Load::Discard | Load::Clear));
        let partial = matches!(usage, Usage::StorageWrite | Usage::TransferDst | Usage::HostWrite);
        let stages =
            if access.stages.is_empty() { default_stages(usage, work, access.transfer) } else { access.stages };
        DeclaredUse {
            resource,
            usage,
            part,
            subresources: Vec::new(),
            keys: Vec::new(),
            stages,
            transfer: access.transfer,
            must_read: matches!(
                usage,
                Usage::DepthStencilRead
                    | Usage::InputAttachment
                    | Usage::Sampled
                    | Usage::StorageRead
                    | Usage::StorageReadWrite
                    | Usage::Uniform
                    | Usage::Vertex
                    | Usage::Index
                    | Usage::Indirect
                    | Usage::TransferSrc
                    | Usage::HostRead
                    | Usage::Present
                    | Usage::AccelerationInput
                    | Usage::AccelerationUpdate
                    | Usage::AccelerationRead
            ),
            keeps: if partial && !discards { Aspects::all() } else { Aspects::empty() },
            writes: writes(usage),
            undefined: usage == Usage::AccelerationScratch,
            // What only reads is ordered as reads are.
            unordered: access.unordered && writes(usage),
            load: load.unwrap_or(Load::Discard),
            stencil_load: self.declared_stencil_load(access).unwrap_or(Load::Discard),
            clear: details.clear,
            resolves: details.resolves,
            choices: Vec::new(),
            fallbacks: Vec::new(),
            names: Vec::new(),
        }
    }

    pub(super) fn insert_declared_passes(&mut self, scaled: &[ScaledCopy]) {
        let blit = |resource: ResourceId, part: SubresourceRange, writes: bool| DeclaredUse {
            resource,
            usage: if writes { Usage::TransferDst } else { Usage::TransferSrc },
            part,
            subresources: Vec::new(),
            keys: Vec::new(),
            stages: Stages::BLIT,
            transfer: Some(Transfer::Blit),
            must_read: !writes,
            keeps: Aspects::empty(),
            writes,
            undefined: false,
            unordered: false,
            load: Load::Discard,
            stencil_load: Load::Discard,
            clear: None,
            resolves: None,
            choices: Vec::new(),
            fallbacks: Vec::new(),
            names: Vec::new(),
        };
        for access in self.graph.accesses() {
            let resource = access.resource;
            let Some(pass) =
                self.place(access.pass).filter(|_| access.generate_mips && self.shapes.get(resource).is_some())
            else {
                continue;
            };
            let declared = &self.graph.passes()[access.pass];
            let shape = self.shapes[resource];
            let ranges = self.graph.ranges_of(access);
            let first = ranges.mips.map_or(1, |[_, end]| end).max(1);
            let layers = ranges.layers.unwrap_or([0, shape.layers]);
            let aspects = if access.aspects.is_empty() { shape.aspects } else { access.aspects & shape.aspects };
            for level in first..shape.mips {
                let part = |mip: u32| {
                    SubresourceRange::image([mip, mip + 1], layers.map(|layer| layer.min(shape.layers)), aspects)
                };
                let name = format!("{}/mips/{}.{level}", self.graph.pass_name(access.pass), self.name(resource));
                self.declared_passes.push(DeclaredPass {
                    name,
                    declared: None,
                    inserted: Some(Inserted::Mips { owner: pass, resource, level }),
                    position: PassPosition::of(pass),
                    step: Step::of_mip(level),
                    uses: [blit(resource, part(level - 1), false), blit(resource, part(level), true)]
                        .into_iter()
                        .collect(),
                    flag: declared.conditional,
                    queue: PassQueue::Graphics,
                    unordered: false,
                    pinned: false,
                    outputs: Vec::new(),
                });
            }
        }
        for &ScaledCopy { from, to } in scaled {
            let part = |of: ResourceId| {
                let shape = &self.shapes[of];
                SubresourceRange::image([0, 1], [0, shape.layers], shape.aspects)
            };
            self.declared_passes.push(DeclaredPass {
                name: format!("{} from {}", self.name(to), self.name(from)),
                declared: None,
                inserted: Some(Inserted::Scaled { from, to }),
                position: PassPosition::BEFORE,
                step: Step::PASS,
                uses: [blit(from, part(from), false), blit(to, part(to), true)].into_iter().collect(),
                flag: None,
                queue: PassQueue::Graphics,
                unordered: false,
                pinned: false,
                outputs: Vec::new(),
            });
        }
    }

    /// All fallbacks of a resource; a fallback may itself be an output with a fallback.
    fn all_fallbacks(&self, output: ResourceId) -> Vec<ResourceId> {
        let mut found = vec![output];
        let mut next = 0;
        while let Some(&of) = found.get(next) {
            next += 1;
            for fallback in self.graph.fallbacks().iter().filter(|fallback| fallback.output == of) {
                let input = fallback.input;
                if self.memory.get(input).is_some() && !found.contains(&input) {
                    found.push(input);
                }
            }
        }
        found.split_off(1)
    }

    pub(super) fn cut(&mut self, plan: Option<&Plan>) {
        let mut grids: IdVec<MemoryId, _> = self.shapes.iter().map(Grid::new).collect();
        for at in self.declared_passes.iter().flat_map(|declared| &declared.uses) {
            grids[self.memory[at.resource]].cut(&at.part);
            for input in self.all_fallbacks(at.resource) {
                grids[self.memory[input]].cut(&at.part);
            }
        }
        if let Some(plan) = plan {
            let mut cut = |resource: ResourceId, part: SubresourceRange| {
                if let Some(&memory) = self.memory.get(resource) {
                    grids[memory].cut(&part);
                }
            };
            for barrier in &plan.image_barriers {
                cut(barrier.resource, SubresourceRange::image(barrier.mips, barrier.layers, Aspects::all()));
            }
            for barrier in &plan.buffer_barriers {
                cut(barrier.resource, SubresourceRange::buffer(barrier.range));
            }
            for edge in &plan.edges {
                let part = SubresourceRange {
                    mips: edge.mips,
                    layers: edge.layers,
                    aspects: Aspects::all(),
                    bytes: edge.range,
                };
                cut(edge.resource, part);
            }
        }
        grids.iter_mut().for_each(Grid::finish);
        for declared in self.declared_passes.iter_mut() {
            for at in declared.uses.iter_mut() {
                at.subresources = grids[self.memory[at.resource]].subresources(&at.part);
            }
        }
        self.grids = grids;
    }
}
