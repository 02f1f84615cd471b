//! What a declaration means, run: one declared pass after the other, every resource in memory of its own.

use std::collections::BTreeMap;

use rgraph_ir::access::{Load, Usage};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::{DeclaredUse, Facts};
use crate::ids::{AllocationId, DeclaredPassId, FlagStates, MemoryId, RunId, SubresourceId, UnorderedGroupId, UseId};
use crate::outcome::{Outcome, Watched, cleared, resolved, symbol, watched, written};

/// Runs declared passes in a serial order, frame by frame. `all`: says what every declared pass reads, not only those
/// with side effects.
pub(crate) fn run(facts: &Facts, order: &[DeclaredPassId], flags: &[FlagStates], all: bool) -> Outcome {
    let mut memory = Memory::new(facts);
    let watch = watched(facts);
    let mut outcome = Outcome::default();
    for (run, flags) in (0..).map(RunId::new).zip(flags) {
        let mut seen = BTreeMap::new();
        for &declared in order {
            if facts.needed[declared] && facts.runs(declared, flags) {
                let base = memory.declared(facts, declared, run, flags);
                if all || facts.declared_passes[declared].pinned {
                    seen.insert(format!("what pass \"{}\" reads", facts.declared_passes[declared].name), Some(base));
                }
            }
        }
        for at in &watch {
            memory.capture(facts, at, run, flags, &mut seen);
        }
        outcome.frames.push(seen);
    }
    outcome
}

/// What a subresource holds.
#[derive(Clone, Copy, Default)]
struct Held {
    /// The run that wrote it; `None` for what was there before the first.
    run: Option<RunId>,
    symbol: Option<u128>,
    /// The unordered group that adds to it, and what that found.
    group: Option<UnorderedGroupId>,
    before: Option<u128>,
}

/// Contents of every copy of every memory.
struct Memory {
    /// By memory: its first allocation.
    first: IdVec<MemoryId, Option<AllocationId>>,
    subresources: IdVec<AllocationId, IdVec<SubresourceId, Held>>,
}

impl Memory {
    /// What is there before the first frame.
    fn new(facts: &Facts) -> Self {
        let mut first = IdVec::<MemoryId, _>::filled(None, facts.memory.len());
        let mut subresources = IdVec::<AllocationId, IdVec<_, Held>>::new();
        for memory in first.ids() {
            if facts.memory[memory.first_name()] != memory {
                continue;
            }
            first[memory] = Some(AllocationId::new(subresources.len()));
            let there = stays(facts, memory);
            for copy in 0..facts.ring[memory] {
                let start = |subresource: SubresourceId| Held {
                    symbol: there
                        .then(|| symbol(facts.memory_name(memory), &[u128::from(copy), subresource.index() as u128])),
                    ..Held::default()
                };
                subresources.push(facts.grids[memory].ids().map(start).collect());
            }
        }
        Self { first, subresources }
    }

    /// The copy of a resource in a run.
    fn allocation(&self, facts: &Facts, resource: ResourceId, run: RunId) -> AllocationId {
        let memory = facts.memory[resource];
        let ring = facts.ring[memory] as usize;
        let first = self.first[memory].expect("a memory has an allocation");
        AllocationId::new(first.index() + (run.index() + ring * 64 - facts.frames_ago[resource] as usize) % ring)
    }

    /// What a use of a resource finds in a subresource.
    fn read(&self, facts: &Facts, resource: ResourceId, subresource: SubresourceId, run: RunId) -> Option<u128> {
        let memory = facts.memory[resource];
        let written = run.index().checked_sub(facts.frames_ago[resource] as usize).map(RunId::new);
        let held = self.subresources[self.allocation(facts, resource, run)][subresource];
        let stays = stays(facts, memory);
        if written.is_none() && !stays {
            let zero = match facts.graph.resources()[resource].life {
                Life::History(history) => history.zero_first,
                _ => false,
            };
            return Some(if zero { symbol("zeros", &[]) } else { symbol("whatever was there", &[]) });
        }
        if stays || held.run == written { held.symbol } else { None }
    }

    /// What an unordered read finds: what its group found.
    fn read_in(
        &self,
        facts: &Facts,
        resource: ResourceId,
        subresource: SubresourceId,
        run: RunId,
        group: Option<UnorderedGroupId>,
    ) -> Option<u128> {
        let held = self.subresources[self.allocation(facts, resource, run)][subresource];
        if group.is_some() && held.group == group && held.run == Some(run) {
            return held.before;
        }
        self.read(facts, resource, subresource, run)
    }

    /// Runs a declared pass: reads, then writes, then resolves. Returns the hash of the declared pass, its run and all
    /// that it read.
    fn declared(&mut self, facts: &Facts, declared: DeclaredPassId, run: RunId, flags: &FlagStates) -> u128 {
        let undefined = symbol("undefined", &[]);
        let mut reads = vec![run.index() as u128];
        let group = |at: UseId, resource: ResourceId, subresource: SubresourceId| {
            facts.key(resource, subresource, declared, at).and_then(|(_, group)| group)
        };
        for (number, at) in facts.declared_passes[declared].uses.iter_ids() {
            if at.unordered && at.writes {
                continue;
            }
            let (resource, subresources) = facts.effective_subresources(at, flags);
            for subresource in subresources {
                let group = if at.unordered { group(number, resource, subresource) } else { None };
                let held = || self.read_in(facts, resource, subresource, run, group).unwrap_or(undefined);
                let aspect = facts.grids[facts.memory[resource]].aspect(subresource);
                let attachment = matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
                if attachment && at.load_of(aspect) == Load::Clear {
                    reads.push(cleared(at.clear));
                } else if at.must_read || at.keeps_aspect(aspect) {
                    reads.push(held());
                }
            }
        }
        let base = symbol(&facts.declared_passes[declared].name, &reads);
        let resolves = |at: &DeclaredUse| at.usage == Usage::ResolveAttachment;
        for last in [false, true] {
            for (number, at) in facts.declared_passes[declared].uses.iter_ids() {
                if !at.writes || resolves(at) != last {
                    continue;
                }
                let allocation = self.allocation(facts, at.resource, run);
                let samples = self.samples(facts, declared, at, run);
                for &subresource in &at.subresources {
                    let group = if at.unordered { group(number, at.resource, subresource) } else { None };
                    let new = match last {
                        true => resolved(base, number, subresource, &samples),
                        false => written(base, number, subresource),
                    };
                    let held = self.read(facts, at.resource, subresource, run);
                    let before = self.read_in(facts, at.resource, subresource, run, group);
                    // A sum commutes as the writes do.
                    let symbol = match (at.undefined, at.unordered) {
                        (true, _) => None,
                        (_, true) => Some(held.unwrap_or(undefined).wrapping_add(new)),
                        _ => Some(new),
                    };
                    self.subresources[allocation][subresource] = Held { run: Some(run), symbol, group, before };
                }
            }
        }
        base
    }

    /// What a resolve resolves, subresource by subresource.
    fn samples(&self, facts: &Facts, declared: DeclaredPassId, resolve: &DeclaredUse, run: RunId) -> Vec<Option<u128>> {
        let uses = facts.declared_passes[declared].uses.iter();
        let of = uses.filter(|at| Some(at.resource) == resolve.resolves && crate::tables::is_attachment(at.usage));
        of.flat_map(|at| at.subresources.iter().map(|subresource| self.read(facts, at.resource, *subresource, run)))
            .collect()
    }

    /// Notes what a subresource holds in a run.
    fn capture(
        &self,
        facts: &Facts,
        at: &Watched,
        run: RunId,
        flags: &FlagStates,
        seen: &mut BTreeMap<String, Option<u128>>,
    ) {
        let counts = at.counts(facts, flags);
        seen.insert(at.name.clone(), self.read(facts, at.resource, at.subresource, run).filter(|_| counts));
    }
}

/// Whether what a memory holds stays from run to run.
fn stays(facts: &Facts, memory: MemoryId) -> bool {
    let life = facts.graph.resources()[memory.first_name()].life;
    facts.persistent[memory] || matches!(life, Life::Imported(imported) if imported.defined)
}
