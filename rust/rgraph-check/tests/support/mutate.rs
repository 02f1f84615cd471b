//! Single faults put into plans: every barrier, wait, stage, access, layout, transfer half, place, load, store, edge
//! and owner of an inserted pass taken away or changed, one at a time.

use rgraph_plan::access::{Accesses, Aspects, Layout, Load, Stages, Store};
use rgraph_plan::id::Span;
use rgraph_plan::plan::{Barriers, Command, Plan, Scope};

/// A plan with one fault.
pub struct Mutant {
    /// What kind of fault.
    pub kind: &'static str,
    /// What exactly.
    pub what: String,
    /// The faulty plan.
    pub plan: Plan,
}

fn shrink(span: &mut Span, at: u32) {
    span.start -= u32::from(span.start > at);
    span.end -= u32::from(span.end > at);
}

fn each_barriers(plan: &mut Plan, mut change: impl FnMut(&mut Barriers)) {
    for command in &mut plan.commands {
        if let Command::Barriers(b) | Command::SetEvent(_, b) | Command::WaitEvents(_, b) = command {
            change(b);
        }
    }
}

fn bits(stages: Stages) -> impl Iterator<Item = Stages> {
    stages.iter()
}

/// The narrower scopes of one: each stage and access left out, with its name.
fn narrower(scope: Scope) -> Vec<(&'static str, String, Scope)> {
    let mut list = Vec::new();
    for stage in bits(scope.src_stages) {
        let name = format!("source stage {}", stage.names().next().unwrap_or("?"));
        list.push(("source stage", name, Scope { src_stages: scope.src_stages - stage, ..scope }));
    }
    for stage in bits(scope.dst_stages) {
        let name = format!("destination stage {}", stage.names().next().unwrap_or("?"));
        list.push(("destination stage", name, Scope { dst_stages: scope.dst_stages - stage, ..scope }));
    }
    for access in scope.src_access.iter() {
        let name = format!("source access {}", access.names().next().unwrap_or("?"));
        list.push(("source access", name, Scope { src_access: scope.src_access - access, ..scope }));
    }
    for access in scope.dst_access.iter() {
        let name = format!("destination access {}", access.names().next().unwrap_or("?"));
        list.push(("destination access", name, Scope { dst_access: scope.dst_access - access, ..scope }));
    }
    list
}

/// All mutants of a plan. Plans with events are left out by callers: a fault in one half of an event is another test.
pub fn mutants(plan: &Plan) -> Vec<Mutant> {
    let mut list = Vec::new();
    let mut add = |kind: &'static str, what: String, plan: Plan| list.push(Mutant { kind, what, plan });
    let name = |resource: rgraph_plan::resource::ResourceId| plan.resource_name(resource).to_owned();
    let declared = plan.passes.iter().filter_map(|pass| pass.declared).count() as u32;
    for (id, pass) in plan.passes.iter_ids() {
        let Some(owner) = pass.owner else { continue };
        for other in [None, Some((owner + 1) % declared), Some(declared)].into_iter().filter(|one| *one != Some(owner))
        {
            let mut owned = plan.clone();
            owned.passes[id].owner = other;
            add("owner", format!("\"{}\" is owned by {other:?}", plan.pass_name(id)), owned);
        }
    }
    for at in 0..plan.memory_barriers.len() {
        let mut without = plan.clone();
        without.memory_barriers.remove(at);
        each_barriers(&mut without, |b| shrink(&mut b.memory, at as u32));
        add("barrier", format!("memory barrier {at}"), without);
        for (kind, what, scope) in narrower(plan.memory_barriers[at].scope) {
            let mut narrow = plan.clone();
            narrow.memory_barriers[at].scope = scope;
            add(kind, format!("{what} of memory barrier {at}"), narrow);
        }
    }
    for at in 0..plan.buffer_barriers.len() {
        let b = plan.buffer_barriers[at];
        let mut without = plan.clone();
        without.buffer_barriers.remove(at);
        each_barriers(&mut without, |b| shrink(&mut b.buffers, at as u32));
        add(
            if b.families.is_some() { "transfer half" } else { "barrier" },
            format!("on {}", name(b.resource)),
            without,
        );
        for (kind, what, scope) in narrower(b.scope) {
            let mut narrow = plan.clone();
            narrow.buffer_barriers[at].scope = scope;
            add(kind, format!("{what} of the barrier {at} on {}", name(b.resource)), narrow);
        }
        if b.families.is_some() {
            let mut kept = plan.clone();
            kept.buffer_barriers[at].families = None;
            add("families", format!("on {}", name(b.resource)), kept);
        }
    }
    for at in 0..plan.image_barriers.len() {
        let b = plan.image_barriers[at];
        let mut without = plan.clone();
        without.image_barriers.remove(at);
        each_barriers(&mut without, |b| shrink(&mut b.images, at as u32));
        add(
            if b.families.is_some() { "transfer half" } else { "barrier" },
            format!("on {}", name(b.resource)),
            without,
        );
        for (kind, what, scope) in narrower(b.scope) {
            let mut narrow = plan.clone();
            narrow.image_barriers[at].scope = scope;
            add(kind, format!("{what} of the barrier {at} on {}", name(b.resource)), narrow);
        }
        if b.families.is_some() {
            let mut kept = plan.clone();
            kept.image_barriers[at].families = None;
            add("families", format!("on {}", name(b.resource)), kept);
        }
        let mut other = plan.clone();
        let strange = if b.new_layout == Layout::TransferSrc { Layout::TransferDst } else { Layout::TransferSrc };
        other.image_barriers[at].new_layout = strange;
        add("new layout", format!("{} of {}", b.new_layout, name(b.resource)), other);
        let mut other = plan.clone();
        let strange = if b.old_layout == Layout::PresentSrc { Layout::TransferDst } else { Layout::PresentSrc };
        other.image_barriers[at].old_layout = strange;
        add("old layout", format!("{} of {}", b.old_layout, name(b.resource)), other);
        if b.old_layout != Layout::Undefined && b.families.is_none() {
            let mut other = plan.clone();
            other.image_barriers[at].old_layout = Layout::Undefined;
            add("discarding transition", format!("{} of {}", b.old_layout, name(b.resource)), other);
        }
    }
    for at in 0..plan.waits.len() {
        let mut without = plan.clone();
        without.waits.remove(at);
        without.batches.iter_mut().for_each(|batch| shrink(&mut batch.waits, at as u32));
        let wait = plan.waits[at];
        add(if wait.previous_run { "wait for the run before" } else { "wait" }, format!("wait {at}"), without);
        for stage in bits(wait.stages) {
            let mut narrow = plan.clone();
            narrow.waits[at].stages -= stage;
            add("wait stage", format!("{} of wait {at}", stage.names().next().unwrap_or("?")), narrow);
        }
        if wait.value > 1 {
            let mut early = plan.clone();
            early.waits[at].value -= 1;
            add("wait value", format!("wait {at}"), early);
        }
    }
    for at in 0..plan.layouts.len() {
        let mut other = plan.clone();
        let strange =
            if plan.layouts[at].layout == Layout::PresentSrc { Layout::TransferSrc } else { Layout::PresentSrc };
        other.layouts[at].layout = strange;
        add("named layout", name(plan.layouts[at].resource), other);
    }
    for at in 0..plan.attachments.len() {
        let entry = plan.attachments[at];
        // Where stencil alone is attached, its own load operation counts.
        let alone = entry.aspects == Aspects::STENCIL;
        if entry.input || alone {
            continue;
        }
        let mut other = plan.clone();
        other.attachments[at].load = match entry.load {
            Load::Load => Load::Discard,
            Load::Clear => Load::Load,
            Load::Discard => continue,
        };
        add("load operation", name(entry.resource), other);
    }
    for at in 0..plan.attachments.len() {
        if plan.attachments[at].store == Store::Store {
            let mut other = plan.clone();
            other.attachments[at].store = Store::Discard;
            add("store operation", name(plan.attachments[at].resource), other);
        }
    }
    for at in 0..plan.memory.placements.len() {
        let place = plan.memory.placements[at];
        for other in plan.memory.placements.iter().filter(|other| other.resource != place.resource) {
            let apart = other.heap == place.heap
                && (other.offset >= place.offset + place.size || place.offset >= other.offset + other.size);
            if apart && other.offset + place.size <= plan.memory.heaps[other.heap].size {
                let mut moved = plan.clone();
                moved.memory.placements[at].offset = other.offset;
                add("place", format!("{} onto {}", name(place.resource), name(other.resource)), moved);
                break;
            }
        }
    }
    for at in 0..plan.edges.len() {
        let edge = plan.edges[at];
        for stage in bits(edge.entry.stages) {
            let mut narrow = plan.clone();
            narrow.edges[at].entry.stages -= stage;
            add("entry stage", format!("{} of {}", stage.names().next().unwrap_or("?"), name(edge.resource)), narrow);
        }
        for access in edge.entry.access.iter() {
            let mut narrow = plan.clone();
            narrow.edges[at].entry.access -= access;
            add("entry access", format!("{} of {}", access.names().next().unwrap_or("?"), name(edge.resource)), narrow);
        }
        for stage in bits(edge.exit.stages) {
            let mut narrow = plan.clone();
            narrow.edges[at].exit.stages -= stage;
            add("exit stage", format!("{} of {}", stage.names().next().unwrap_or("?"), name(edge.resource)), narrow);
        }
        for access in edge.exit.access.iter().filter(|access| Accesses::WRITES.contains(*access)) {
            let mut narrow = plan.clone();
            narrow.edges[at].exit.access -= access;
            add("exit access", format!("{} of {}", access.names().next().unwrap_or("?"), name(edge.resource)), narrow);
        }
        let mut without = plan.clone();
        without.edges.remove(at);
        add("edge", name(edge.resource), without);
    }
    for at in 0..plan.commands.len() {
        if let Command::Pass { pass, .. } = plan.commands[at] {
            let mut without = plan.clone();
            without.commands[at] = Command::Barriers(Barriers { by_region: within(plan, at), ..Barriers::default() });
            add("pass", plan.pass_name(pass).to_owned(), without);
        }
    }
    list
}

fn within(plan: &Plan, at: usize) -> bool {
    let before = plan.commands[..at].iter().rev();
    let mut open = before.filter(|c| matches!(c, Command::BeginRendering { .. } | Command::EndRendering));
    matches!(open.next(), Some(Command::BeginRendering { .. }))
}
