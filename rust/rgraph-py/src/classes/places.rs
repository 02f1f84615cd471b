//! Places in the order of passes that stand by numbers: layers by their order, passes in them by their keys.

use std::collections::HashMap;

use rgraph_plan::graph::{Graph, SlotId};

/// The places of a graph's layers.
#[derive(Clone, Default)]
pub struct Places {
    /// The place of all layers of a module.
    groups: HashMap<Option<SlotId>, SlotId>,
    /// Layers by full name.
    layers: HashMap<Box<str>, SlotId>,
    keyed: HashMap<(SlotId, u32), SlotId>,
}

impl Places {
    /// The place that stands at a number within another one.
    pub fn at(&mut self, graph: &mut Graph, parent: SlotId, at: u32) -> SlotId {
        *self.keyed.entry((parent, at)).or_insert_with(|| graph.add_slot_at("", parent, at))
    }

    /// The place of a layer that was opened under this full name.
    pub fn opened(&self, name: &str) -> Option<SlotId> {
        self.layers.get(name).copied()
    }

    /// The place of a layer among those of a module; the same again for the same name, moved if its order is another.
    pub fn layer(&mut self, graph: &mut Graph, module: Option<SlotId>, name: &str, order: u32) -> SlotId {
        let group = *self.groups.entry(module).or_insert_with(|| graph.add_group(module));
        let parent = self.at(graph, group, order);
        if let Some(known) = self.opened(name) {
            if graph.slot_place(known).0 != Some(parent) {
                graph.place_slot(known, Some(parent));
            }
            return known;
        }
        let slot = graph.add_slot(name, Some(parent));
        self.layers.insert(name.into(), slot);
        slot
    }
}
