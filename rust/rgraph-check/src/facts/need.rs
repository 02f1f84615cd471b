//! Which declared passes must run, and uses that no order can keep.

use std::collections::BTreeSet;

use rgraph_ir::id::IdVec;
use rgraph_ir::resource::{Life, ResourceId};

use super::{DeclaredUse, Facts, Key, NamePosition};
use crate::ids::{DeclaredPassId, MemoryId, SubresourceId, UnorderedGroupId};

/// Two names of one memory that one declared pass uses at a common subresource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Torn {
    pub declared: DeclaredPassId,
    pub earlier: ResourceId,
    pub later: ResourceId,
}

impl Facts<'_> {
    pub(super) fn find_needed(&mut self) {
        let mut groups = BTreeSet::new();
        self.needed = IdVec::filled(false, self.declared_passes.len());
        let mut work: Vec<DeclaredPassId> =
            self.declared_passes.ids().filter(|&declared| self.declared_passes[declared].pinned).collect();
        for (id, resource) in self.graph.resources().iter_ids() {
            let imported = matches!(resource.life, Life::Imported(_));
            if self.graph.roots().contains(&id) || imported {
                let memory = self.memory[id];
                // What leaves with imported memory is what the last of its names left there.
                let last = if imported { NamePosition::BEHIND } else { self.chain[id] };
                for subresource in self.grids[memory].ids() {
                    self.writers_before(memory, subresource, Key::behind(last), None, &mut work, &mut groups);
                }
            }
        }
        while let Some(declared) = work.pop() {
            if std::mem::replace(&mut self.needed[declared], true) {
                continue;
            }
            for (number, at) in self.declared_passes[declared].uses.iter_ids() {
                let mut read = |resource: ResourceId, subresources: &[SubresourceId]| {
                    let memory = self.memory[resource];
                    for &subresource in subresources {
                        if !at.must_read && !at.keeps_aspect(self.grids[memory].aspect(subresource)) {
                            continue;
                        }
                        if self.frames_ago[resource] > 0 {
                            // An earlier frame made it, maybe the pass that reads it.
                            self.writers_before(memory, subresource, Key::END, None, &mut work, &mut groups);
                        } else if let Some((key, _)) = self.key(resource, subresource, declared, number) {
                            self.writers_before(memory, subresource, key, Some(declared), &mut work, &mut groups);
                        }
                    }
                };
                read(at.resource, &at.subresources);
                for &input in &at.fallbacks {
                    read(input, &self.grids[self.memory[input]].subresources(&at.part));
                }
            }
        }
    }

    /// Adds the declared passes whose writes a read of a subresource at `key` may see, back to the last one that itself
    /// needs the contents before it: that pass adds the writers before it. Members of an unordered group need the same
    /// passes, which the first member alone adds; `groups` has the groups of which a member was here.
    pub(super) fn writers_before(
        &self,
        memory: MemoryId,
        subresource: SubresourceId,
        key: Key,
        reader: Option<DeclaredPassId>,
        work: &mut Vec<DeclaredPassId>,
        groups: &mut BTreeSet<UnorderedGroupId>,
    ) {
        let writers = &self.writers[memory][subresource];
        let mut from = key;
        for lap in 0..2 {
            let mut before = writers.partition_point(|u| u.key < from);
            // Who is in an unordered group, or needs one of it, needs all of it.
            let own = writers[before..]
                .iter()
                .take_while(|u| u.key == from)
                .filter(|u| Some(u.declared) == reader)
                .find_map(|u| u.group);
            // What one member needs, all others need.
            if own.is_some_and(|own| !groups.insert(own)) {
                return;
            }
            before += writers[before..].iter().take_while(|u| own.is_some() && u.group == own).count();
            let mut last_group = None;
            for u in writers[..before].iter().rev().filter(|u| lap > 0 || Some(u.declared) != reader) {
                if last_group.is_some_and(|group: Option<_>| group.is_none() || group != u.group) {
                    return;
                }
                let at = &self.declared_passes[u.declared].uses[u.at];
                work.push(u.declared);
                if at.must_read || at.keeps_aspect(self.grids[memory].aspect(subresource)) {
                    // Each member needs the others: two members would leave the writers before the group to each other.
                    if own.is_some() && u.group == own {
                        continue;
                    }
                    return;
                }
                // While it is off, what outlives the frame keeps what it held, whatever readers get meanwhile.
                let falls_back = !self.edged[memory] && self.falls_back(u.declared, at.resource);
                let replaces = self.declared_passes[u.declared].flag.is_none() || falls_back;
                if replaces {
                    last_group = Some(u.group);
                }
            }
            if last_group.is_some() {
                return;
            }
            // What persists is what the end of the frame before left.
            if !self.persistent[memory] || lap > 0 {
                return;
            }
            from = Key::END;
        }
    }

    /// Pairs of names of one memory that one declared pass uses at a common subresource, so that no order keeps both.
    pub(crate) fn torn(&self) -> Vec<Torn> {
        let mut torn = Vec::new();
        for (index, declared) in self.declared_passes.iter_ids() {
            for b in declared
                .uses
                .iter()
                .filter(|b| self.chain[b.resource] > NamePosition::FIRST && self.frames_ago[b.resource] == 0)
            {
                let earlier = declared.uses.iter().filter(|a| {
                    self.frames_ago[a.resource] == 0
                        && self.memory[a.resource] == self.memory[b.resource]
                        && self.chain[a.resource] < self.chain[b.resource]
                });
                let meet = |a: &&DeclaredUse| {
                    a.subresources.iter().any(|subresource| b.subresources.binary_search(subresource).is_ok())
                };
                torn.extend(earlier.filter(meet).map(|a| Torn {
                    declared: index,
                    earlier: a.resource,
                    later: b.resource,
                }));
            }
        }
        torn.dedup();
        torn
    }
}

#[cfg(test)]
mod tests {
    use rgraph_ir::id::Id;

    use super::*;
    use crate::ids::UseId;

    fn pushed(unordered: bool, passes: usize) -> usize {
        let access = format!(r#"{{"resource": "sum", "usage": "storage_read_write", "unordered": {unordered}}}"#);
        let list: Vec<_> = (0..passes).map(|at| format!(r#"{{"name": "p{at}", "accesses": [{access}]}}"#)).collect();
        let text = format!(
            r#"{{"rgraph": 1, "buffers": {{"sum": {{"size": 256, "persistent": true}}}}, "passes": [{}], "roots": ["sum"]}}"#,
            list.join(",")
        );
        let graph = rgraph_files::read_graph(text.as_bytes(), "sums.rgraph.json").expect("the graph is right");
        let facts = Facts::new(&graph, None);
        assert!(facts.needed.iter().all(|needed| *needed), "all passes are needed");
        let (declared, number) = (DeclaredPassId::new(passes - 1), UseId::new(0));
        let (memory, subresource) = (facts.memory[ResourceId::new(0)], SubresourceId::new(0));
        let (key, _) = facts.key(ResourceId::new(0), subresource, declared, number).expect("it is no history");
        let mut work = Vec::new();
        facts.writers_before(memory, subresource, key, Some(declared), &mut work, &mut BTreeSet::new());
        work.len()
    }

    /// A pass that adds to what was there needs the pass before it, and that one the passes before.
    #[test]
    fn a_long_chain_of_partial_writers_is_walked_once() {
        assert_eq!(pushed(false, 500), 1);
    }

    /// Members of a group of unordered accesses need each other, and the last one of the frame before.
    #[test]
    fn all_members_of_an_unordered_group_are_needed() {
        assert_eq!(pushed(true, 50), 49 + 1);
    }
}
