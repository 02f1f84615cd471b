//! Modules and extension points flattened: the items of a slot have the slot's place in the order.

use rgraph_ir::graph::{Graph, PassId, SlotId};
use rgraph_ir::id::{Id, IdVec};

use crate::ids::DeclaredPassId;

/// A pass or a slot, in one slot or outside of all.
#[derive(Clone, Copy)]
enum Item {
    Pass(PassId),
    Slot(SlotId),
}

/// The position of each pass in the flattened declaration: slots are walked depth first, each slot's passes and inner
/// slots in the order of their declaration. O(n log n).
pub(super) fn positions(graph: &Graph) -> IdVec<PassId, DeclaredPassId> {
    // Items by slot; the last list is of those in no slot. Slots have sequence numbers of their own.
    let outside = graph.slots();
    let mut inside: Vec<Vec<(u32, Item)>> = vec![Vec::new(); outside + 1];
    let list = |slot: Option<SlotId>| slot.map_or(outside, |slot| slot.index().min(outside));
    for slot in (0..outside).map(SlotId::new) {
        let (parent, sequence) = graph.slot_place(slot);
        inside[list(parent)].push((sequence, Item::Slot(slot)));
    }
    for (id, pass) in graph.passes().iter_ids() {
        inside[list(pass.slot)].push((graph.pass_sequence(id), Item::Pass(id)));
    }
    for items in &mut inside {
        items.sort_by_key(|(sequence, _)| std::cmp::Reverse(*sequence));
    }
    let mut positions = IdVec::filled(DeclaredPassId::new(0), graph.passes().len());
    let mut next = 0;
    let mut work: Vec<Item> = inside[outside].iter().map(|(_, item)| *item).collect();
    while let Some(item) = work.pop() {
        match item {
            Item::Pass(pass) => {
                positions[pass] = DeclaredPassId::new(next);
                next += 1;
            }
            Item::Slot(slot) => work.extend(std::mem::take(&mut inside[slot.index()]).iter().map(|(_, item)| *item)),
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use rgraph_ir::access::PassQueue;
    use rgraph_ir::graph::Pass;

    use super::*;

    /// Slots within slots, filled in any order, some moved afterwards: the walk agrees with the sorted paths.
    #[test]
    fn a_walk_of_the_slots_agrees_with_the_nouns_own_order() {
        let mut random = crate::random::Random::new(3);
        for _ in 0..300 {
            let mut graph = Graph::new("slots", [64, 64]);
            let mut slots: Vec<SlotId> = Vec::new();
            for at in 0..24 {
                let parent = (!slots.is_empty() && random.chance(2, 3)).then(|| *random.pick(&slots));
                match random.below(4) {
                    0 => slots.push(graph.add_slot(&format!("slot{at}"), parent)),
                    1 if !slots.is_empty() => {
                        let moved = *random.pick(&slots);
                        graph.place_slot(moved, parent);
                    }
                    _ => {
                        let pass = Pass { slot: parent, ..Pass::new(PassQueue::Graphics) };
                        graph.add_pass(&format!("pass{at}"), pass, None);
                    }
                }
            }
            let positions = positions(&graph);
            let order = graph.flattened_order().unwrap_or_else(|| graph.passes().ids().collect());
            for (position, pass) in order.into_iter().enumerate() {
                assert_eq!(positions[pass].index(), position, "{pass:?}");
            }
        }
    }
}
