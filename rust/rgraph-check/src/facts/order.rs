//! The order of the accesses to each subresource, and load operations that it implies.

use rgraph_ir::access::{Aspects, Load, Usage};
use rgraph_ir::graph::PassId;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::resource::{Life, ResourceId};

use super::{BySubresource, Facts, Inserted, Key, NamePosition, PassPosition, Step, SubresourceUse};
use crate::ids::{DeclaredPassId, SubresourceId, UnorderedGroupId, UseId};

impl Facts<'_> {
    /// What `after` says, `(later, earlier)`, sorted. A pass that is culled or accesses nothing hands on what it is
    /// after: the meaning of a frame is an order of all passes.
    pub(crate) fn orderings(&self) -> Vec<(DeclaredPassId, DeclaredPassId)> {
        let place = |(later, earlier): &(PassId, PassId)| Some((self.place(*later)?, self.place(*earlier)?));
        let mut direct: Vec<_> = self.graph.orderings().iter().filter_map(place).collect();
        direct.sort_unstable();
        let of = |later: DeclaredPassId| {
            let first = direct.partition_point(|one| one.0 < later);
            direct[first..].iter().take_while(move |one| one.0 == later).map(|one| one.1)
        };
        let mut all = direct.clone();
        let mut seen = IdVec::filled(None, self.declared_passes.len());
        for chunk in direct.chunk_by(|a, b| a.0 == b.0) {
            let later = chunk[0].0;
            let mut open: Vec<_> = chunk.iter().map(|one| one.1).collect();
            while let Some(earlier) = open.pop() {
                if seen[earlier].replace(later) == Some(later) {
                    continue;
                }
                all.push((later, earlier));
                if !self.needed[earlier] || self.declared_passes[earlier].uses.is_empty() {
                    open.extend(of(earlier));
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(super) fn sort_accesses(&mut self) {
        // First writers of each name's subresources, for reads that are declared too early.
        let mut first_writer: IdVec<ResourceId, IdVec<SubresourceId, Option<PassPosition>>> =
            self.memory.iter().map(|&memory| IdVec::filled(None, self.grids[memory].len())).collect();
        for declared in &self.declared_passes {
            for at in declared.uses.iter().filter(|at| at.writes) {
                for &subresource in &at.subresources {
                    let first = &mut first_writer[at.resource][subresource];
                    *first = Some(first.map_or(declared.position, |first| first.min(declared.position)));
                }
            }
        }
        let mut order: BySubresource<Vec<SubresourceUse>> =
            self.grids.iter().map(|grid| IdVec::filled(Vec::new(), grid.len())).collect();
        for (index, declared) in self.declared_passes.iter_ids() {
            for (number, at) in declared.uses.iter_ids() {
                if self.frames_ago[at.resource] > 0 {
                    continue;
                }
                let resource = &self.graph.resources()[at.resource];
                let fresh = resource.life.is_of_frame() && self.chain[at.resource] == NamePosition::FIRST;
                // Nothing of the range was written before, and something of it is later: the read comes just after.
                let first = at
                    .subresources
                    .iter()
                    .filter_map(|&subresource| first_writer[at.resource][subresource])
                    .min()
                    .filter(|first| fresh && !at.writes && *first > declared.position);
                for &subresource in &at.subresources {
                    let name = self.chain[at.resource];
                    let key = match (declared.inserted, first) {
                        (Some(Inserted::Scaled { from, .. }), _) if from == at.resource => {
                            Key { name, pass: PassPosition::BEHIND, step: Step::PASS }
                        }
                        (_, Some(pass)) => Key { name, pass, step: Step::FORWARD },
                        (_, None) => Key { name, pass: declared.position, step: declared.step },
                    };
                    order[self.memory[at.resource]][subresource].push(SubresourceUse {
                        key,
                        declared: index,
                        at: number,
                        group: None,
                    });
                }
            }
        }
        self.find_ordinary(&order);
        // Counted over all subresources: the numbers of groups differ between memories too.
        let mut groups = 0;
        let uses = order.iter_mut().flat_map(|subresources| subresources.ids().zip(subresources.iter_mut()));
        for (subresource, uses) in uses {
            uses.sort_by_key(|u| (u.key, u.declared, u.at));
            // Uses under two names of a memory are two groups.
            let mut open = None;
            for u in uses {
                let at = &mut self.declared_passes[u.declared].uses[u.at];
                let name = u.key.name;
                if at.unordered && open != Some(name) {
                    groups += 1;
                }
                open = at.unordered.then_some(name);
                u.group = at.unordered.then(|| UnorderedGroupId::new(groups - 1));
                if at.keys.is_empty() {
                    at.keys.resize(at.subresources.len(), (Key::default(), None));
                }
                if let Ok(number) = at.subresources.binary_search(&subresource) {
                    at.keys[number] = (u.key, u.group);
                }
            }
        }
        self.writers = order
            .iter()
            .map(|subresources| {
                let only = |uses: &Vec<SubresourceUse>| {
                    uses.iter().copied().filter(|u| self.declared_passes[u.declared].uses[u.at].writes).collect()
                };
                subresources.iter().map(only).collect()
            })
            .collect();
        self.order = order;
    }

    /// An unordered access that must find contents which only its own group makes is an ordinary one.
    fn find_ordinary(&mut self, order: &BySubresource<Vec<SubresourceUse>>) {
        for (memory, subresources) in order.iter_ids() {
            let unordered = |u: &SubresourceUse| self.declared_passes[u.declared].uses[u.at].unordered;
            if !subresources.iter().flatten().any(unordered) {
                continue;
            }
            let mut list: Vec<(SubresourceUse, SubresourceId)> = Vec::new();
            for (subresource, uses) in subresources.iter_ids() {
                list.extend(uses.iter().map(|u| (*u, subresource)));
            }
            list.sort_by_key(|(u, subresource)| (u.key, u.declared, u.at, *subresource));
            // By subresource: whether something was there before the open group, and whether the group wrote it.
            let mut before = IdVec::filled(self.filled[memory], subresources.len());
            let mut within = IdVec::filled(false, subresources.len());
            let mut names = IdVec::filled(NamePosition::FIRST, subresources.len());
            let mut first = 0;
            while first < list.len() {
                let (u, _) = list[first];
                let end = first
                    + list[first..].partition_point(|(other, _)| {
                        (other.key, other.declared, other.at) == (u.key, u.declared, u.at)
                    });
                let own = || list[first..end].iter().map(|(_, subresource)| *subresource);
                let name = u.key.name;
                for subresource in own() {
                    if std::mem::replace(&mut names[subresource], name) != name {
                        before[subresource] |= std::mem::take(&mut within[subresource]);
                    }
                }
                let at = &mut self.declared_passes[u.declared].uses[u.at];
                // What modifies another resource holds what that one held.
                if at.unordered
                    && at.must_read
                    && name == NamePosition::FIRST
                    && !own().any(|subresource| before[subresource])
                    && own().any(|subresource| within[subresource])
                {
                    at.unordered = false;
                }
                let (unordered, writes) = (at.unordered, at.writes);
                for subresource in own() {
                    if !unordered {
                        before[subresource] |= std::mem::take(&mut within[subresource]) | writes;
                    } else {
                        within[subresource] |= writes;
                    }
                }
                first = end;
            }
        }
    }

    /// Load operations that are not explicit: `discard` where nothing was there, else `load`.
    pub(super) fn find_loads(&mut self) {
        let mut written: Vec<(DeclaredPassId, UseId, Aspects)> = Vec::new();
        for (memory, subresources) in self.order.iter_ids() {
            for (subresource, uses) in subresources.iter_ids() {
                let first = uses.iter().find(|u| self.declared_passes[u.declared].uses[u.at].writes).map(|u| u.key);
                for u in uses {
                    let at = &self.declared_passes[u.declared].uses[u.at];
                    // A name of another size has memory of its own, of which the scaled copy fills mip 0.
                    let modifies = self.chain[at.resource] > NamePosition::FIRST;
                    let kept = match self.graph.resources()[at.resource].life {
                        Life::Transient | Life::Fresh => modifies,
                        Life::Imported(imported) => imported.defined || modifies,
                        Life::Persistent | Life::History(_) => true,
                    };
                    if kept || first.is_some_and(|first| first < u.key) {
                        written.push((u.declared, u.at, self.grids[memory].aspect(subresource)));
                    }
                }
            }
        }
        let graph = self.graph;
        let mut loads: IdVec<DeclaredPassId, IdVec<UseId, _>> = IdVec::filled(IdVec::new(), graph.passes().len());
        for access in graph.accesses() {
            if let Some(declared) = self.place(access.pass).filter(|_| self.shapes.get(access.resource).is_some()) {
                loads[declared].push((self.declared_load(access), self.declared_stencil_load(access)));
            }
        }
        for (declared, at, aspect) in written {
            let declared = &mut self.declared_passes[declared];
            let Some(explicit) = declared.declared else { continue };
            let (load, stencil_load) = loads[explicit][at];
            let at = &mut declared.uses[at];
            if !matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment) {
                continue;
            }
            if aspect == Aspects::STENCIL {
                at.stencil_load = stencil_load.unwrap_or(Load::Load);
            } else {
                at.load = load.unwrap_or(Load::Load);
            }
        }
        for at in self.declared_passes.iter_mut().flat_map(|declared| declared.uses.iter_mut()) {
            if matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment) {
                at.keeps = Aspects::empty();
                if at.load == Load::Load {
                    at.keeps |= Aspects::COLOR | Aspects::DEPTH;
                }
                if at.stencil_load == Load::Load {
                    at.keeps |= Aspects::STENCIL;
                }
            }
        }
    }
}
