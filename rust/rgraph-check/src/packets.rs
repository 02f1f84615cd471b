//! Checks which passes' packets a plan lets a run sort together.
//!
//! Worked out from the plan's commands and the declared uses alone: neighbours in a batch, no barrier, event or wait
//! between them; no two of them use a subresource that one of them writes, but for uses that commute. Attachments are
//! written in rasterisation order, so passes of a render pass must promise that their draws commute.

use std::collections::HashMap;

use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{BatchId, Command, Plan, PlanPassId};

use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::{CommandId, DeclaredOf, Place, Subpass, UnorderedGroupId};
use crate::tables::is_attachment;

/// The place of a pass in the commands.
#[derive(Clone, Copy)]
struct Stand {
    command: CommandId,
    batch: BatchId,
    rendered: bool,
    host: bool,
}

/// Checks the groups of packets. O(commands + accesses of subresources).
pub(crate) fn packets(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    if plan.packets.is_empty() {
        return;
    }
    let stands = stands(plan);
    let mut grouped = IdVec::filled(false, plan.passes.len());
    for group in &plan.packets {
        let passes = &plan.packet_passes[group.range()];
        if let Some(message) = wrong(facts, plan, declared_of, &stands, passes) {
            let name = passes.first().map(|pass| plan.pass_name(*pass));
            findings.add(Rule::Packets, name, None, message);
        }
        for pass in passes {
            if std::mem::replace(&mut grouped[*pass], true) {
                let name = plan.pass_name(*pass);
                let message = format!("packets of pass \"{name}\" are sorted twice");
                findings.add(Rule::Packets, Some(name), None, message);
            }
        }
    }
}

fn stands(plan: &Plan) -> HashMap<PlanPassId, Stand> {
    let mut stands = HashMap::new();
    for (at, batch) in plan.batches.iter_ids() {
        let mut rendered = false;
        for command in batch.commands.range() {
            match &plan.commands[command] {
                Command::Pass { pass, .. } => {
                    let command = CommandId::new(command);
                    stands.insert(*pass, Stand { command, batch: at, rendered, host: batch.queue.is_none() });
                }
                Command::BeginRendering { .. } => rendered = true,
                Command::EndRendering => rendered = false,
                Command::Barriers(_) | Command::SetEvent(..) | Command::WaitEvents(..) => {}
            }
        }
    }
    stands
}

/// Why the packets of these passes cannot be sorted together.
fn wrong(
    facts: &Facts,
    plan: &Plan,
    declared_of: &DeclaredOf,
    stands: &HashMap<PlanPassId, Stand>,
    passes: &[PlanPassId],
) -> Option<String> {
    // By memory and subresource: the unordered group, and whether some use writes.
    let mut used: HashMap<Place, (Option<UnorderedGroupId>, bool)> = HashMap::new();
    let mut before: Option<(Stand, Subpass)> = None;
    if passes.len() < 2 {
        return Some("a group of packets has fewer than two passes".to_owned());
    }
    for pass in passes {
        let name = plan.pass_name(*pass);
        let Some(stand) = stands.get(pass).copied().filter(|stand| !stand.host) else {
            return Some(format!("packets of pass \"{name}\" are sorted, but it does not run on the GPU"));
        };
        let subpass = Subpass::of(plan, *pass);
        if before.is_some_and(|(last, sub)| {
            (last.command.index() + 1, last.batch, sub) != (stand.command.index(), stand.batch, subpass)
        }) {
            return Some(format!("packets of pass \"{name}\" are sorted across a barrier, event, wait or other pass"));
        }
        before = Some((stand, subpass));
        let Some(declared) = declared_of[*pass].filter(|at| facts.declared_passes[*at].inserted.is_none()) else {
            return Some(format!("packets of pass \"{name}\" are sorted, but the planner inserted it"));
        };
        let declared_pass = &facts.declared_passes[declared];
        if stand.rendered && !declared_pass.unordered {
            return Some(format!("draws of pass \"{name}\" are sorted, but it does not declare that they commute"));
        }
        let mut own = Vec::new();
        for (number, at) in declared_pass.uses.iter_ids() {
            if stand.rendered && is_attachment(at.usage) || facts.frames_ago[at.resource] > 0 {
                continue;
            }
            let memory = facts.memory[at.resource];
            for &subresource in &at.subresources {
                let group = facts.key(at.resource, subresource, declared, number).and_then(|(_, group)| group);
                let meets = used
                    .get(&Place { memory, subresource })
                    .is_some_and(|(other, wrote)| (*wrote || at.writes) && (group.is_none() || group != *other));
                if meets {
                    let resource = facts.name(at.resource);
                    return Some(format!("packets of pass \"{name}\" are sorted, but \"{resource}\" orders them"));
                }
                own.push((Place { memory, subresource }, (group, at.writes)));
            }
        }
        for (key, (group, writes)) in own {
            let entry = used.entry(key).or_insert((group, writes));
            *entry = (group.filter(|_| entry.0 == group), entry.1 | writes);
        }
    }
    None
}
