//! The graphs of parts: each has the passes of its part in their order, with the accesses of the declaration, and
//! imports every memory that is used before, after or at the same time.

use rgraph_ir::devices::{DevicePartId, DevicesPlan};
use rgraph_ir::graph::{Access, Graph, PassId};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::resource::Life;

use super::walk::{SlotId, Starts, slot};
use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::MemoryId;
use crate::shape::shapes;

pub(super) fn graphs(facts: &Facts<'_>, plan: &DevicesPlan, parts: &[Graph], starts: &Starts, findings: &mut Findings) {
    if parts.len() != plan.parts.len() {
        let message = format!("{} parts have {} graphs", plan.parts.len(), parts.len());
        findings.add(Rule::Malformed, None, None, message);
        return;
    }
    // One part is the graph itself, with all that keeps its contents; it has other passes too, which are culled.
    if parts.len() < 2 {
        return;
    }
    let shared = shared(facts, plan);
    let divided = divided(facts, plan);
    for ((part, graph), start) in plan.parts.iter().zip(parts).zip(starts) {
        let names: Vec<&str> = part.passes.iter().map(|pass| facts.graph.pass_name(*pass)).collect();
        let own: Vec<&str> = graph.passes().ids().map(|pass| graph.pass_name(pass)).collect();
        if names != own || graph.resources().len() != facts.graph.resources().len() {
            let message = format!("graph \"{}\" has other passes or resources than its part", graph.name());
            findings.add(Rule::Passes, None, None, message);
            continue;
        }
        passes(facts, &part.passes, graph, findings);
        unordered(facts, &divided, graph, findings);
        resources(facts, graph, &shared, start, findings);
    }
}

/// By pass: its part; `None`: it is culled.
fn parts_of(facts: &Facts<'_>, plan: &DevicesPlan) -> IdVec<PassId, Option<DevicePartId>> {
    let mut part_of = IdVec::filled(None, facts.graph.passes().len());
    for (id, part) in plan.parts.iter_ids() {
        part.passes.iter().for_each(|pass| part_of[*pass] = Some(id));
    }
    part_of
}

/// By memory, or history: whether more than one part has it.
fn shared(facts: &Facts<'_>, plan: &DevicesPlan) -> IdVec<SlotId, bool> {
    let mut shared: IdVec<SlotId, bool> = facts.memory.iter().map(|memory| facts.edged[*memory]).collect();
    let part_of = parts_of(facts, plan);
    let mut used = IdVec::<SlotId, Option<DevicePartId>>::filled(None, facts.memory.len());
    for access in facts.graph.accesses() {
        let slot = SlotId::of(facts.memory[access.resource].first_name());
        if let Some(part) = part_of[access.pass] {
            shared[slot] |= used[slot].replace(part).is_some_and(|before| before != part);
        }
    }
    for copy in plan.copies.iter() {
        copy.resource.into_iter().for_each(|resource| shared[SlotId::of(resource)] = true);
    }
    shared
}

/// By memory: whether passes of several parts use it, or passes of no part, which are culled.
fn divided(facts: &Facts<'_>, plan: &DevicesPlan) -> IdVec<MemoryId, bool> {
    let part_of = parts_of(facts, plan);
    let mut used: IdVec<MemoryId, Option<DevicePartId>> = IdVec::filled(None, facts.memory.len());
    let mut divided = IdVec::filled(false, facts.memory.len());
    // What a history remembers is in a memory of an earlier frame.
    for access in facts.graph.accesses().iter().filter(|access| facts.frames_ago[access.resource] == 0) {
        let memory = facts.memory[access.resource];
        divided[memory] |= match part_of[access.pass] {
            Some(part) => used[memory].replace(part).is_some_and(|before| before != part),
            None => true,
        };
    }
    divided
}

/// Accesses commute as they are declared to, where no pass outside of their part could stand between them; a part may
/// order them.
fn unordered(facts: &Facts<'_>, divided: &IdVec<MemoryId, bool>, graph: &Graph, findings: &mut Findings) {
    for access in graph.accesses().iter().filter(|access| access.unordered) {
        if divided[facts.memory[access.resource]] {
            let [pass, what] = [graph.pass_name(access.pass), facts.name(access.resource)];
            let message = format!(
                "pass \"{pass}\" of graph \"{}\" commutes on \"{what}\" with others, though passes of other parts use it",
                graph.name()
            );
            findings.add(Rule::Order, Some(pass), Some(what), message);
        }
    }
}

/// Passes do what they are declared to do.
fn passes(facts: &Facts<'_>, passes: &[PassId], graph: &Graph, findings: &mut Findings) {
    for (own, &pass) in graph.passes().ids().zip(passes) {
        let (new, old) = (&graph.passes()[own], &facts.graph.passes()[pass]);
        let flag = |graph: &Graph, flag: Option<_>| flag.map(|flag| graph.flags()[flag].clone());
        let same = (new.queue, new.side_effects, new.unordered) == (old.queue, old.side_effects, old.unordered)
            && flag(graph, new.conditional) == flag(facts.graph, old.conditional)
            && new.needed_features() == old.needed_features()
            && uses(graph, own) == uses(facts.graph, pass)
            && !commutes(graph, own).zip(commutes(facts.graph, pass)).any(|(new, old)| new && !old);
        let mut before = facts.graph.orderings().iter().filter(|(later, _)| *later == pass);
        let ordered = before.all(|(_, earlier)| {
            let there = passes.iter().position(|pass| pass == earlier);
            there.is_none_or(|earlier| graph.orderings().contains(&(own, PassId::new(earlier))))
        });
        if !same || !ordered {
            let name = graph.pass_name(own);
            let message = format!("pass \"{name}\" of graph \"{}\" is not what is declared", graph.name());
            findings.add(Rule::Passes, Some(name), None, message);
        }
    }
}

/// Whether accesses of a pass commute with others, one by one.
fn commutes(graph: &Graph, pass: PassId) -> impl Iterator<Item = bool> {
    graph.accesses().iter().filter(move |access| access.pass == pass).map(|access| access.unordered)
}

/// The accesses of a pass, without numbers that change from graph to graph.
fn uses(graph: &Graph, pass: PassId) -> Vec<(Access, rgraph_ir::graph::Ranges, rgraph_ir::graph::Details)> {
    let own = graph.accesses().iter().filter(|access| access.pass == pass);
    own.map(|access| {
        let plain = Access { pass: PassId::new(0), ranges: None, details: None, unordered: false, ..*access };
        (plain, graph.ranges_of(access), graph.details_of(access))
    })
    .collect()
}

/// Resources are what they are declared to be, and what others have is imported.
fn resources(
    facts: &Facts<'_>,
    graph: &Graph,
    shared: &IdVec<SlotId, bool>,
    start: &IdVec<SlotId, bool>,
    findings: &mut Findings,
) {
    let own = shapes(graph);
    let mut used = IdVec::filled(false, own.len());
    graph.accesses().iter().for_each(|access| used[access.resource] = true);
    for resource in own.ids().filter(|resource| used[*resource]) {
        let slot = slot(facts, resource);
        let memory = MemoryId::of_first(slot.resource());
        let name = facts.name(resource);
        let declared = &graph.resources()[resource];
        let mut wrong = |what: &str| {
            let message = format!("\"{name}\" of graph \"{}\" {what}", graph.name());
            findings.add(Rule::Resource, None, Some(name), message);
        };
        if own[resource] != facts.shapes[resource] {
            wrong("has another shape");
        }
        // The first of the names that the part uses stands for the memory; the others modify it.
        let names = facts.names_of[memory].iter().copied().filter(|name| used[*name]);
        let first = names.min_by_key(|name| facts.chain[*name]).unwrap_or(resource);
        if facts.frames_ago[resource] == 0 && first != resource {
            if declared.modifies.is_none_or(|base| facts.memory[base] != memory || !used[base]) {
                wrong("is a memory by itself");
            }
            continue;
        }
        match declared.life {
            Life::Imported(imported) => {
                if start[slot] && !imported.defined {
                    wrong("is imported without its contents");
                }
            }
            Life::Transient | Life::Fresh if !shared[slot] => {}
            _ => wrong("is not imported, but other parts or frames have it"),
        }
        if declared.modifies.is_some() {
            wrong("modifies what its part does not use");
        }
    }
}
