//! Places in the order of passes that stand by a number, not by the order of their declaration.

use super::{Graph, Slot, SlotId};

impl Graph {
    /// Declares a place within another one, at position `at` among the places and passes there, independent of the
    /// order of declarations. Number either all places of a parent or none: [`Graph::add_slot`] numbers them by
    /// declaration.
    pub fn add_slot_at(&mut self, name: &str, parent: SlotId, at: u32) -> SlotId {
        if self.slots.get(parent).is_none() {
            self.foreign("a place is in a module", "declare both in this graph");
        }
        self.slot_names.push(name);
        self.slots.push(Slot { parent: Some(parent), sequence: at })
    }
}

#[cfg(test)]
mod tests {
    use crate::access::PassQueue;
    use crate::graph::{Graph, Pass};

    #[test]
    fn places_stand_by_their_numbers() {
        let mut graph = Graph::new("keyed", [1, 1]);
        let group = graph.add_slot("group", None);
        for at in [7, 0, u32::MAX, 3] {
            let slot = graph.add_slot_at("place", group, at);
            let mut pass = Pass::new(PassQueue::Graphics);
            pass.slot = Some(slot);
            graph.add_pass(&format!("at {at}"), pass, None);
        }
        let flat = graph.flattened().expect("it has places");
        let names: Vec<&str> = flat.pass_names().iter().collect();
        assert_eq!(names, ["at 0", "at 3", "at 7", "at 4294967295"]);
    }
}
