//! Which resources are one memory: chains of those that modify each other, histories, and their rings.

use super::{Facts, Source};
use crate::resource::Life;
use crate::stages::size::shares_memory;

impl Facts {
    /// Whose memory each resource is in. A chain of modifying resources is followed once.
    pub(crate) fn find_memories(&mut self, source: Source<'_>) {
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
        self.ring_base.clear();
        self.ring_base.as_vec_mut().extend(resources.ids());
        self.remembered.refill(false, resources.len());
        for (id, resource) in resources.iter_ids() {
            if let Life::History(history) = resource.life {
                self.ring_base[id] = self.memory[history.of];
                self.remembered[self.memory[history.of]] = true;
            }
        }
        self.join_histories(source);
        self.find_left(source);
    }

    /// The state in which each memory is left: that of the last of its names that says one.
    fn find_left(&mut self, Source { graph, .. }: Source<'_>) {
        let resources = graph.resources();
        self.leave.refill(None, resources.len());
        self.left_by.refill(None, resources.len());
        if resources.iter().all(|resource| resource.leave.is_none()) {
            return;
        }
        for (id, _) in resources.iter_ids().filter(|(_, resource)| resource.leave.is_some()) {
            let by = &mut self.left_by[self.memory[id]];
            if by.is_none_or(|by| self.depth[by] <= self.depth[id]) {
                *by = Some(id);
            }
        }
        for (id, resource) in resources.iter_ids() {
            let memory = self.memory[id];
            if !resource.life.is_of_frame() || self.remembered[id] || graph.is_root(id) {
                self.leave[memory] = self.left_by[memory].and_then(|by| resources[by].leave);
            }
        }
    }

    /// Histories of one resource that look back as far are one memory: the same image of its ring.
    fn join_histories(&mut self, Source { graph, .. }: Source<'_>) {
        self.histories.clear();
        for (id, resource) in graph.resources().iter_ids() {
            if let Life::History(history) = resource.life {
                self.histories.push((self.ring_base[id], history.frames, id));
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
}
