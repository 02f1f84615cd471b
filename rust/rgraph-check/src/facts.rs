//! What a declaration means, derived independently from ARCHITECTURE.md: every pass and every inserted pass as a
//! *declared pass* with the subresources that it reads, keeps and writes, the order of the accesses to each
//! subresource, and the declared passes needed.

mod declared;
mod fallback;
mod flat;
mod key;
mod need;
mod order;

use std::collections::BTreeSet;

use rgraph_ir::access::{Aspects, Load, PassQueue, Stages, Transfer, Usage};
use rgraph_ir::graph::{Clear, FlagId, Graph, PassId};
use rgraph_ir::id::IdVec;
use rgraph_ir::plan::Plan;
use rgraph_ir::resource::{Leave, Life, ResourceId};

pub(crate) use fallback::{Choice, effective, known_effective};
pub(crate) use key::{Key, NamePosition, PassPosition, Step};

use crate::ids::{DeclaredPassId, FlagStates, MemoryId, SubresourceId, UnorderedGroupId, UseId};
use crate::shape::{Grid, Shape, SubresourceRange, shapes};

/// One access of a declared pass, resolved.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredUse {
    pub resource: ResourceId,
    pub usage: Usage,
    pub part: SubresourceRange,
    pub subresources: Vec<SubresourceId>,
    /// Order and group at each of the subresources; no entry for histories.
    pub keys: Vec<(Key, Option<UnorderedGroupId>)>,
    pub stages: Stages,
    pub transfer: Option<Transfer>,
    /// What it reads must be defined.
    pub must_read: bool,
    /// Aspects (or the bytes, as colour) whose old contents stay where the declared pass does not cover them.
    pub keeps: Aspects,
    pub writes: bool,
    /// Leaves undefined contents.
    pub undefined: bool,
    pub unordered: bool,
    /// Declared or implied load operations of colour or depth, and of stencil.
    pub load: Load,
    pub stencil_load: Load,
    pub clear: Option<Clear>,
    pub resolves: Option<ResourceId>,
    /// Which resource it reads while the flags are so; empty if always its own.
    pub choices: Vec<Choice>,
    /// What it may read in the place of its resource.
    pub fallbacks: Vec<ResourceId>,
    /// Earlier names of its memory that are fallbacks in this way: they change nothing, but the use is one of theirs
    /// too.
    pub names: Vec<ResourceId>,
}

impl DeclaredUse {
    /// Whether what was in a subresource of this aspect matters to the declared pass.
    pub(crate) fn keeps_aspect(&self, aspect: Aspects) -> bool {
        self.keeps.contains(if aspect.is_empty() { Aspects::COLOR } else { aspect })
    }

    /// The load operation for a subresource of this aspect.
    pub(crate) fn load_of(&self, aspect: Aspects) -> Load {
        if aspect == Aspects::STENCIL { self.stencil_load } else { self.load }
    }
}

/// A pass of the declaration, or one that it demands without naming it.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredPass {
    pub name: String,
    /// Position in the flattened declaration.
    pub declared: Option<DeclaredPassId>,
    /// What inserted declared passes do.
    pub inserted: Option<Inserted>,
    /// For mips, that of the pass that writes their first one.
    pub position: PassPosition,
    pub step: Step,
    pub uses: IdVec<UseId, DeclaredUse>,
    /// The flag that switches it.
    pub flag: Option<FlagId>,
    pub queue: PassQueue,
    /// Its draws commute with those of other passes that say so.
    pub unordered: bool,
    /// It runs whether or not anybody reads what it writes.
    pub pinned: bool,
    /// Resources whose readers get another one while its flag is off.
    pub outputs: Vec<ResourceId>,
}

/// Work that the declaration demands without naming it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inserted {
    /// Fills one mip level from the one before, at the end of the declared pass `owner`.
    Mips { owner: DeclaredPassId, resource: ResourceId, level: u32 },
    /// Fills a resource from the one of another size that it modifies.
    Scaled { from: ResourceId, to: ResourceId },
}

/// A resource of another size that is filled from the one that it modifies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ScaledCopy {
    pub from: ResourceId,
    pub to: ResourceId,
}

/// By memory and subresource.
pub(crate) type BySubresource<T> = IdVec<MemoryId, IdVec<SubresourceId, T>>;

/// An access to a subresource, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubresourceUse {
    pub key: Key,
    pub declared: DeclaredPassId,
    pub at: UseId,
    /// Neighbouring unordered accesses have one group.
    pub group: Option<UnorderedGroupId>,
}

/// The declaration, worked out.
pub(crate) struct Facts<'g> {
    pub graph: &'g Graph,
    /// By pass: its position in the flattened declaration, which is that of its declared pass.
    places: IdVec<PassId, DeclaredPassId>,
    pub shapes: IdVec<ResourceId, Shape>,
    /// The first name of the memory that a resource is in; that of what it remembers, for histories.
    pub memory: IdVec<ResourceId, MemoryId>,
    /// Position of a name among the names of its memory.
    pub chain: IdVec<ResourceId, NamePosition>,
    /// Frames ago, for histories.
    pub frames_ago: IdVec<ResourceId, u32>,
    /// By memory: its names, histories aside.
    pub names_of: IdVec<MemoryId, Vec<ResourceId>>,
    /// By memory: how many copies take turns.
    pub ring: IdVec<MemoryId, u32>,
    /// By memory: its subresources.
    pub grids: IdVec<MemoryId, Grid>,
    pub declared_passes: IdVec<DeclaredPassId, DeclaredPass>,
    /// By memory and subresource: accesses of this frame's copy, in order.
    pub order: BySubresource<Vec<SubresourceUse>>,
    /// By memory and subresource: the writes alone.
    pub writers: BySubresource<Vec<SubresourceUse>>,
    /// By memory: whether it keeps contents from frame to frame by declaration.
    pub persistent: IdVec<MemoryId, bool>,
    /// By memory: whether it outlives the frame, so that its first and last states are edges.
    pub edged: IdVec<MemoryId, bool>,
    /// By memory: whether each run has another copy of it, which no earlier run under way uses.
    pub fresh: IdVec<MemoryId, bool>,
    /// By memory: whether it holds something before anything is written.
    pub filled: IdVec<MemoryId, bool>,
    /// Jobs that must run.
    pub needed: IdVec<DeclaredPassId, bool>,
}

impl<'g> Facts<'g> {
    /// Works out a graph, its modules and extension points flattened. `plan`'s barriers cut subresources too, where one
    /// is given.
    pub(crate) fn new(graph: &'g Graph, plan: Option<&Plan>) -> Self {
        let shapes = shapes(graph);
        let count = shapes.len();
        let Names { memory, chain, scaled } = memories(graph, &shapes);
        let mut frames_ago = IdVec::filled(0, count);
        let mut ring = IdVec::filled(1, count);
        let mut memory_of = memory.clone();
        for (id, resource) in graph.resources().iter_ids() {
            if let Life::History(history) = resource.life {
                let own = MemoryId::of_first(id);
                let base = memory.get(history.of).copied().unwrap_or(own);
                if base != own && history.frames <= 64 {
                    memory_of[id] = base;
                    frames_ago[id] = history.frames.max(1);
                    ring[base] = ring[base].max(history.frames.max(1) + 1);
                }
            }
        }
        let mut names_of = IdVec::filled(Vec::new(), count);
        for name in frames_ago.ids().filter(|name| frames_ago[*name] == 0) {
            names_of[memory_of[name]].push(name);
        }
        let mut persistent = IdVec::filled(false, count);
        let mut filled = IdVec::filled(false, count);
        let mut edged: IdVec<MemoryId, bool> = ring.iter().map(|copies| *copies > 1).collect();
        for (id, resource) in graph.resources().iter_ids() {
            persistent[memory[id]] |= resource.life == Life::Persistent;
            edged[memory_of[id]] |= !resource.life.is_of_frame();
            filled[memory[id]] |= match resource.life {
                Life::Transient | Life::Fresh | Life::History(_) => false,
                Life::Imported(imported) => imported.defined,
                Life::Persistent => true,
            };
        }
        let fresh = memory_of.iter().map(|memory| graph.resources()[memory.first_name()].life == Life::Fresh);
        let fresh = fresh.collect();
        let mut facts = Self {
            graph,
            places: flat::positions(graph),
            shapes,
            memory: memory_of,
            chain,
            frames_ago,
            names_of,
            ring,
            grids: IdVec::new(),
            declared_passes: IdVec::new(),
            order: IdVec::new(),
            writers: IdVec::new(),
            persistent,
            edged,
            fresh,
            filled,
            needed: IdVec::new(),
        };
        facts.declare_passes();
        facts.insert_declared_passes(&scaled);
        facts.cut(plan);
        facts.sort_accesses();
        facts.find_loads();
        facts.find_fallbacks();
        facts.find_needed();
        facts
    }

    /// All names of a memory, histories aside.
    pub(crate) fn names(&self, memory: MemoryId) -> impl Iterator<Item = ResourceId> + '_ {
        self.names_of[memory].iter().copied()
    }

    /// The state in which a memory must be left: what one of its names says, if anybody has it after the frame.
    pub(crate) fn left(&self, memory: MemoryId) -> Option<Leave> {
        let kept = self.edged[memory] || self.names(memory).any(|name| self.graph.is_root(name));
        self.names(memory).find_map(|name| self.graph.resources()[name].leave).filter(|_| kept)
    }

    /// The declared pass of a declared pass.
    pub(crate) fn place(&self, pass: PassId) -> Option<DeclaredPassId> {
        self.places.get(pass).copied()
    }

    /// The first name of a memory.
    pub(crate) fn memory_name(&self, memory: MemoryId) -> &'g str {
        self.name(memory.first_name())
    }

    pub(crate) fn name(&self, resource: ResourceId) -> &'g str {
        self.graph.resource_name(resource)
    }

    /// The resource that a use is of while the flags are so.
    pub(crate) fn effective(&self, at: &DeclaredUse, flags: &FlagStates) -> ResourceId {
        known_effective(at.resource, &at.choices, |flag| flags[flag])
    }

    /// The subresources of a use, in the resource that it is of while the flags are so.
    pub(crate) fn effective_subresources(
        &self,
        at: &DeclaredUse,
        flags: &FlagStates,
    ) -> (ResourceId, Vec<SubresourceId>) {
        let resource = self.effective(at, flags);
        if resource == at.resource {
            return (resource, at.subresources.clone());
        }
        (resource, self.grids[self.memory[resource]].subresources(&at.part))
    }

    /// Whether a declared pass runs while the flags are so.
    pub(crate) fn runs(&self, declared: DeclaredPassId, flags: &FlagStates) -> bool {
        self.declared_passes[declared].flag.is_none_or(|flag| flags[flag])
    }

    /// The order of a declared pass's use at a subresource, and the unordered group that it is in.
    pub(crate) fn key(
        &self,
        resource: ResourceId,
        subresource: SubresourceId,
        declared: DeclaredPassId,
        at: UseId,
    ) -> Option<(Key, Option<UnorderedGroupId>)> {
        let declared_use = &self.declared_passes[declared].uses[at];
        if declared_use.resource == resource {
            let number = declared_use.subresources.binary_search(&subresource).ok()?;
            return declared_use.keys.get(number).copied();
        }
        Some((self.fallback_key(resource, declared, at), None))
    }

    /// The order of a fallback: that of the use, so after the writer of a forward read; it is a forward read
    /// itself if nothing has written it by then.
    fn fallback_key(&self, input: ResourceId, declared: DeclaredPassId, at: UseId) -> Key {
        let declared = &self.declared_passes[declared];
        let (name, resource, memory) = (self.chain[input], &self.graph.resources()[input], self.memory[input]);
        let key = match declared.uses[at].keys.first() {
            Some(&(key, _)) => Key { name, ..key },
            None => Key { name, pass: declared.position, step: declared.step },
        };
        if self.frames_ago[input] > 0 || !resource.life.is_of_frame() || name > NamePosition::FIRST {
            return key;
        }
        let read = self.grids[memory].subresources(&declared.uses[at].part);
        let first = read.into_iter().filter_map(|one| self.writers[memory][one].first()).map(|u| u.key).min();
        match first {
            Some(first) if first.name == name && first > key => Key { step: Step::FORWARD, ..first },
            _ => key,
        }
    }

    /// Whether a declared pass is switched and names what readers of a resource get instead while it is off.
    fn falls_back(&self, declared: DeclaredPassId, output: ResourceId) -> bool {
        self.declared_passes[declared].flag.is_some() && self.declared_passes[declared].outputs.contains(&output)
    }

    /// Whether all work that a subresource's contents at the end of a frame come from is needed.
    pub(crate) fn is_kept(&self, memory: MemoryId, subresource: SubresourceId) -> bool {
        let mut writers = Vec::new();
        self.writers_before(memory, subresource, Key::END, None, &mut writers, &mut BTreeSet::new());
        writers.into_iter().all(|declared| self.needed[declared])
    }

    /// Whether a use finds contents in a subresource while the flags are so: of an earlier writer, or there from the
    /// start.
    pub(crate) fn finds(
        &self,
        resource: ResourceId,
        subresource: SubresourceId,
        key: Option<(Key, Option<UnorderedGroupId>)>,
        flags: &FlagStates,
    ) -> bool {
        if self.frames_ago[resource] > 0 {
            return true;
        }
        let memory = self.memory[resource];
        let writers = &self.writers[memory][subresource];
        let before = key.map_or(writers.len(), |(key, _)| writers.partition_point(|u| u.key < key));
        // No member of an unordered group comes before another.
        let group = key.and_then(|(_, group)| group);
        for u in writers[..before].iter().rev().filter(|u| group.is_none() || u.group != group) {
            let at = &self.declared_passes[u.declared].uses[u.at];
            if self.runs(u.declared, flags) {
                return !at.undefined;
            }
            if self.falls_back(u.declared, at.resource) {
                return false;
            }
        }
        self.filled[memory]
    }

    /// The flags under each of which alone a use may find contents in a subresource; `None`: under none in particular.
    pub(crate) fn found_under(
        &self,
        resource: ResourceId,
        subresource: SubresourceId,
        key: Option<(Key, Option<UnorderedGroupId>)>,
    ) -> Vec<Option<FlagId>> {
        let memory = self.memory[resource];
        if self.frames_ago[resource] > 0 || self.filled[memory] {
            return vec![None];
        }
        let writers = &self.writers[memory][subresource];
        let before = key.map_or(writers.len(), |(key, _)| writers.partition_point(|u| u.key < key));
        let group = key.and_then(|(_, group)| group);
        let makes = |u: &&SubresourceUse| {
            (group.is_none() || u.group != group) && !self.declared_passes[u.declared].uses[u.at].undefined
        };
        let mut flags: Vec<_> =
            writers[..before].iter().filter(makes).map(|u| self.declared_passes[u.declared].flag).collect();
        flags.sort_unstable();
        flags.dedup();
        // A writer that always runs stands for those under flags.
        flags.truncate(if flags.first() == Some(&None) { 1 } else { flags.len() });
        flags
    }
}

/// Whether a usage writes.
pub(crate) fn writes(usage: Usage) -> bool {
    matches!(
        usage,
        Usage::ColorAttachment
            | Usage::DepthStencilAttachment
            | Usage::ResolveAttachment
            | Usage::StorageWrite
            | Usage::StorageReadWrite
            | Usage::TransferDst
            | Usage::HostWrite
            | Usage::AccelerationBuild
            | Usage::AccelerationUpdate
            | Usage::AccelerationScratch
    )
}

/// What names say of memory.
struct Names {
    /// By resource: its memory, histories apart, and its position in the chain of names.
    memory: IdVec<ResourceId, MemoryId>,
    chain: IdVec<ResourceId, NamePosition>,
    /// `modifies` of another size.
    scaled: Vec<ScaledCopy>,
}

fn memories(graph: &Graph, shapes: &IdVec<ResourceId, Shape>) -> Names {
    let mut memory: IdVec<_, _> = shapes.ids().map(MemoryId::of_first).collect();
    let mut chain = IdVec::filled(NamePosition::FIRST, shapes.len());
    let mut scaled = Vec::new();
    let size = |id: ResourceId| shapes.get(id).map(|shape| shape.size);
    for (id, resource) in graph.resources().iter_ids() {
        let (mut at, mut steps) = (id, 0);
        while let Some(base) = graph.resources()[at].modifies {
            if size(base).is_none_or(|size| size != shapes[at].size) || steps > shapes.len() as u32 {
                break;
            }
            at = base;
            steps += 1;
        }
        memory[id] = MemoryId::of_first(at);
        chain[id] = NamePosition::above(steps);
        if let Some(base) = resource.modifies
            && size(base).is_some_and(|size| size != shapes[id].size)
        {
            scaled.push(ScaledCopy { from: base, to: id });
        }
    }
    Names { memory, chain, scaled }
}
