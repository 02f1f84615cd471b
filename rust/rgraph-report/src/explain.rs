//! Why a pass runs where and when it does, or why it does not run.

use std::fmt::Write;

use super::text::{all_barriers, lifetime_text, wait_text};
use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::graph::{Graph, PassId};
use rgraph_ir::id::Id;
use rgraph_ir::nearest::nearest;
use rgraph_ir::plan::{BatchId, Command, Plan, PlanPassId};
use rgraph_ir::resource::ResourceId;
use rgraph_ir::words::{
    Positions, bytes_phrase, culled_sentence, plain, queue_label, queue_sentence, quoted, unmerged_sentence,
};

/// Why a pass of `plan` runs where and when it does: what it waits for, how its queue was chosen, each barrier before
/// it with its hazard, its render pass, and the memory of what it writes with who had it before and has it after; or
/// why it does not run. `graph` is what the plan was baked from. O(plan).
///
/// # Errors
/// [`Code::UnknownName`] if the plan has no such pass; the nearest name is offered.
pub fn explain(graph: &Graph, plan: &Plan, pass: &str) -> Result<String, GraphError> {
    let Some(id) = plan.find_pass(pass) else {
        let near = nearest(pass, plan.passes.ids().map(|id| plan.pass_name(id)));
        let help = near.map_or_else(
            || "name a pass of the plan, as its listing has them".to_owned(),
            |near| format!("did you mean {}?", quoted(near)),
        );
        let message = format!("the plan has no pass {}", quoted(pass));
        return Err(GraphError::one(Mistake::new(Code::UnknownName, message, help)));
    };
    let declared = graph.find_pass(pass);
    let mut out = String::new();
    let place = declared.and_then(|declared| graph.pass_place(declared));
    let place = place.map_or_else(String::new, |place| format!(", declared at {place}"));
    write!(out, "pass {}{place}", quoted(pass)).expect("memory");
    if plan.graph_hash != graph.content_hash() {
        out.push_str("\n  (the graph is not the one that this plan was baked from)");
    }
    out.push('\n');
    if let Some(culled) = plan.passes[id].culled {
        say(&mut out, "culled", &culled_sentence(plan, &Positions::new(plan), culled));
        return Ok(out);
    }
    time_and_place(&mut out, plan, id);
    barriers(&mut out, plan, id);
    render_pass(&mut out, plan, id);
    written(&mut out, graph, plan, id, declared);
    Ok(out)
}

fn say(out: &mut String, what: &str, text: &str) {
    writeln!(out, "  {what:<12} {text}").expect("memory");
}

/// The batch that a pass is in.
fn batch_of(plan: &Plan, pass: PlanPassId) -> Option<BatchId> {
    let holds = |command: &Command| matches!(command, Command::Pass { pass: other, .. } if *other == pass);
    plan.batches.ids().find(|id| plan.commands[plan.batches[*id].commands.range()].iter().any(holds))
}

fn time_and_place(out: &mut String, plan: &Plan, id: PlanPassId) {
    let pass = &plan.passes[id];
    let why = &pass.why;
    let batch = batch_of(plan, id);
    let label = queue_label(plan, pass.queue);
    let place = batch.map_or_else(String::new, |batch| format!(", batch {}", batch.index()));
    say(out, "runs", &format!("on {}{place}", plain(&label)));
    if pass.declared.is_none() {
        let owner = pass.owner.and_then(|owner| Positions::new(plan).get(owner));
        let text = match owner {
            Some(owner) => format!("the planner added it for the mip levels of {}", quoted(plan.pass_name(owner))),
            None => "the planner added it: nothing declares it".to_owned(),
        };
        say(out, "inserted", &text);
    }
    match pass.queue {
        Some(_) => say(out, "queue", queue_sentence(why.queue)),
        None => say(out, "queue", "it is work of the host"),
    }
    if why.duration_us != 0.0 || why.start_us != 0.0 {
        let end = why.start_us + why.duration_us;
        say(out, "time", &format!("from {:.1} to {end:.1} µs (modelled)", why.start_us));
    }
    match why.after {
        Some(after) => {
            let queue = queue_label(plan, plan.passes[after].queue);
            let text = format!(
                "{} on {}, which is the last thing that it needs",
                quoted(plan.pass_name(after)),
                plain(&queue)
            );
            say(out, "after", &text);
        }
        None => say(out, "after", "nothing: it needs no other pass of the frame"),
    }
    let Some(batch) = batch else { return };
    for wait in &plan.waits[plan.batches[batch].waits.range()] {
        let last = signaller(plan, wait.queue, wait.value).filter(|_| !wait.previous_run);
        let last = last.map_or_else(String::new, |pass| format!(", which ends with {}", quoted(plan.pass_name(pass))));
        say(out, "waits", &format!("its batch waits for {}{last}", wait_text(plan, wait)));
    }
}

/// The last pass of the batch that signals a value.
fn signaller(plan: &Plan, queue: Option<rgraph_ir::plan::QueueId>, value: u32) -> Option<PlanPassId> {
    let batch = plan.batches.iter().find(|batch| batch.queue == queue && batch.signal == Some(value))?;
    plan.commands[batch.commands.range()].iter().rev().find_map(|command| match command {
        Command::Pass { pass, .. } => Some(*pass),
        _ => None,
    })
}

fn barriers(out: &mut String, plan: &Plan, id: PlanPassId) {
    let mut any = false;
    for barrier in all_barriers(plan).iter().filter(|barrier| barrier.to == Some(id)) {
        say(out, "barrier", &barrier.text);
        say(out, "", &barrier.why);
        any = true;
    }
    if !any {
        say(out, "barrier", "none is for it");
    }
}

fn render_pass(out: &mut String, plan: &Plan, id: PlanPassId) {
    if let Some(physical) = plan.passes[id].physical_pass {
        let others =
            plan.passes.iter_ids().filter(|(other, pass)| pass.physical_pass == Some(physical) && *other != id);
        let others: Vec<String> = others.map(|(other, _)| quoted(plan.pass_name(other))).collect();
        let company = if others.is_empty() { "alone".to_owned() } else { format!("with {}", others.join(", ")) };
        say(out, "render pass", &format!("{}, {company}", physical.index()));
    }
    for pair in plan.unmerged.iter().filter(|pair| pair.first == id || pair.second == id) {
        let other = if pair.first == id { pair.second } else { pair.first };
        let reason = unmerged_sentence(plan, pair.reason);
        say(out, "not merged", &format!("with {}: {reason}", quoted(plan.pass_name(other))));
    }
}

fn written(out: &mut String, graph: &Graph, plan: &Plan, id: PlanPassId, declared: Option<PassId>) {
    let mut resources: Vec<ResourceId> = match declared {
        Some(declared) => graph
            .accesses()
            .iter()
            .filter(|access| access.pass == declared && access.usage.writes())
            .filter_map(|access| find_resource(plan, graph.resource_name(access.resource)))
            .collect(),
        None => plan.pass_accesses[plan.passes[id].accesses.range()]
            .iter()
            .filter(|access| access.access.intersects(rgraph_ir::access::Accesses::WRITES))
            .map(|access| access.resource)
            .collect(),
    };
    resources.sort_unstable();
    resources.dedup();
    for resource in resources {
        say(out, "writes", &memory_of(plan, resource));
    }
}

fn find_resource(plan: &Plan, name: &str) -> Option<ResourceId> {
    plan.resource_names.iter().position(|known| known == name).map(ResourceId::new)
}

/// Where a resource is in memory, and who had its bytes before and has them after.
fn memory_of(plan: &Plan, id: ResourceId) -> String {
    let resource = &plan.resources[id];
    let name = quoted(plan.resource_name(id));
    let Some(place) = plan.memory.placements.iter().find(|place| place.resource == id) else {
        return format!(
            "{name}, {} of its own ({})",
            bytes_phrase(resource.bytes),
            rgraph_ir::words::life_word(resource.life)
        );
    };
    let mut text =
        format!("{name}, {} at {:#x} of heap {}", bytes_phrase(place.size), place.offset, place.heap.index());
    let Some([first, last]) = resource.lifetime else { return text };
    let others = || {
        plan.aliases[resource.aliases.range()]
            .iter()
            .filter_map(|other| Some((*other, plan.resources[*other].lifetime?)))
    };
    let before = others().filter(|(_, life)| life[1] < first).max_by_key(|(other, life)| (life[1], *other));
    let after = others().filter(|(_, life)| life[0] > last).min_by_key(|(other, life)| (life[0], *other));
    for (when, other) in [("before", before), ("after", after)] {
        if let Some((other, _)) = other {
            let life = lifetime_text(plan, other);
            write!(text, "; {when} it {} has these bytes ({life})", quoted(plan.resource_name(other))).expect("memory");
        }
    }
    text
}
