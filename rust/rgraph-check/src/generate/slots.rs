//! A flat graph declared again with modules and extension points, so that flattening it gives the order back.
//!
//! Runs of passes become modules, some of them nested; a run may be declared late, after what follows it in the order,
//! as passes are that extend a point declared before. Runs may also be layers, whose places stand by numbers.

use std::ops::Range;

use rgraph_ir::graph::{Access, Graph, PassId, SlotId, Use};
use rgraph_ir::id::Id;

use super::source::Source;
use super::{Construct, Limits};

/// The graph with slots, or as it is where the bytes ask for none.
pub(super) fn into_slots(flat: Graph, mut source: Source, mut late: Source, limits: Limits) -> Graph {
    let count = flat.passes().len();
    if limits.without.contains(Construct::Slots) || !source.chance(1, 4) || count < 2 {
        return flat;
    }
    let mut graph = Graph::new(flat.name(), flat.reference_size());
    for (id, resource) in flat.resources().iter_ids() {
        graph.add_resource(flat.resource_name(id), resource.clone(), None);
    }
    for unit in flat.units() {
        graph.unit(unit);
    }
    for flag in flat.flags() {
        graph.flag(flag);
    }
    let mut new_id = vec![None; count];
    let mut waiting = Vec::new();
    let mut at = 0;
    let mut outer: Option<SlotId> = None;
    let layers = late.chance(1, 2) && !limits.without.contains(Construct::Layers);
    while at < count {
        if layers && late.chance(1, 3) {
            let end = (at + 2 + late.below(6)).min(count);
            let slot = graph.add_slot(&format!("layer{at}"), outer);
            fill_layer(&mut graph, &flat, slot, at..end, &mut late, &mut new_id);
            at = end;
            continue;
        }
        match source.below(4) {
            0 => {
                new_id[at] = Some(declare(&mut graph, &flat, PassId::new(at), outer));
                at += 1;
            }
            1 => outer = None,
            choice => {
                let slot = graph.add_slot(&format!("part{at}.{choice}"), outer);
                let end = (at + 1 + source.below(4)).min(count);
                if choice == 2 {
                    waiting.push((at..end, slot));
                } else {
                    for (pass, id) in new_id.iter_mut().enumerate().take(end).skip(at) {
                        *id = Some(declare(&mut graph, &flat, PassId::new(pass), Some(slot)));
                    }
                    outer = source.chance(1, 3).then_some(slot).or(outer);
                }
                at = end;
            }
        }
    }
    for (range, slot) in waiting.into_iter().rev() {
        for pass in range {
            new_id[pass] = Some(declare(&mut graph, &flat, PassId::new(pass), Some(slot)));
        }
    }
    let new_id: Vec<PassId> = new_id.into_iter().flatten().collect();
    debug_assert_eq!(new_id.len(), count, "every pass stands in one run");
    for &(later, earlier) in flat.orderings() {
        graph.order_after(new_id[later.index()], new_id[earlier.index()]);
    }
    for one in flat.fallbacks() {
        graph.fallback(new_id[one.pass.index()], one.output, one.input);
    }
    flat.roots().iter().for_each(|root| graph.root(*root));
    graph
}

/// Passes at places of a layer, which are sorted by number: declared in another order, and some of them in
/// a module inside of their place.
fn fill_layer(
    graph: &mut Graph,
    flat: &Graph,
    layer: SlotId,
    range: Range<usize>,
    late: &mut Source,
    new_id: &mut [Option<PassId>],
) {
    let (mut places, mut at, mut number) = (Vec::new(), range.start, 0);
    while at < range.end {
        let end = (at + 1 + late.below(2)).min(range.end);
        number += late.below(3) as u32;
        places.push((number, at..end));
        (at, number) = (end, number + 1);
    }
    let first = late.below(places.len());
    places.rotate_left(first);
    for (number, passes) in places {
        let place = graph.add_slot_at(&format!("place{}", passes.start), layer, number);
        let nested = late.chance(1, 3).then(|| graph.add_slot(&format!("behind{}", passes.start), Some(place)));
        for pass in passes {
            new_id[pass] = Some(declare(graph, flat, PassId::new(pass), nested.or(Some(place))));
        }
    }
}

fn declare(graph: &mut Graph, flat: &Graph, pass: PassId, slot: Option<SlotId>) -> PassId {
    let mut own = flat.passes()[pass].clone();
    own.slot = slot;
    let id = graph.add_pass(flat.pass_name(pass), own, None);
    for access in flat.accesses().iter().filter(|access| access.pass == pass) {
        graph.access(id, access.resource, &use_of(flat, access), None);
    }
    id
}

/// All that an access says.
fn use_of(graph: &Graph, access: &Access) -> Use {
    Use {
        usage: access.usage,
        stages: access.stages,
        ranges: graph.ranges_of(access),
        aspects: access.aspects,
        load: access.load,
        stencil_load: access.stencil_load,
        details: graph.details_of(access),
        transfer: access.transfer,
        generate_mips: access.generate_mips,
        unordered: access.unordered,
    }
}
