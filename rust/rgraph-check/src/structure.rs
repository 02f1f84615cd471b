//! What can be checked without running anything: ids and spans, queues, passes, stages, places.

use std::collections::HashMap;

use rgraph_ir::access::{Accesses, Aspects, MemoryDomain, PassQueue, Stages, Usage};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Barriers, Command, HeapId, Plan, PlanAccess, PlanPassId, QueueId, QueueWhy};
use rgraph_ir::profile::Capabilities;
use rgraph_ir::resource::ResourceId;

use crate::bytes::{Placed, placed};
use crate::facts::{Facts, Inserted};
use crate::finding::{Findings, Rule};
use crate::ids::{DeclaredOf, DeclaredPassId, MemoryId};
use crate::tables::{can, needs, stages_of, stages_with};

/// The declared pass of each pass of the plan, and whether every needed one runs once, where it may.
pub(crate) fn passes(facts: &Facts, plan: &Plan, findings: &mut Findings) -> DeclaredOf {
    let from_graph = facts.graph.passes().len();
    let levels = Levels::new(facts);
    let mut declared_of = DeclaredOf::filled(None, plan.passes.len());
    let mut ran = IdVec::<PlanPassId, u32>::filled(0, plan.passes.len());
    for (_, batch) in plan.batches.iter_ids() {
        for command in &plan.commands[batch.commands.range()] {
            let Command::Pass { pass, .. } = command else { continue };
            ran[*pass] += 1;
            if plan.passes[*pass].queue != batch.queue {
                let name = plan.pass_name(*pass);
                let message = format!("pass \"{name}\" stands in a batch of another queue than its own");
                findings.add(Rule::Queue, Some(name), None, message);
            }
        }
    }
    for (id, pass) in plan.passes.iter_ids() {
        let name = plan.pass_name(id);
        declared_of[id] = match pass.declared {
            Some(position) if (position as usize) < from_graph => Some(DeclaredPassId::new(position as usize)),
            Some(position) => {
                let message = format!("pass \"{name}\" claims to be declaration {position} of {from_graph}");
                findings.add(Rule::Malformed, Some(name), None, message);
                None
            }
            None => match pass.owner {
                Some(owner) => levels.declared(facts, plan, id, owner),
                None => scaled(facts, plan, id),
            },
        };
        if pass.declared.is_some() && pass.owner.is_some() {
            let message = format!("pass \"{name}\" is declared, and inserted for another pass");
            findings.add(Rule::Malformed, Some(name), None, message);
        }
        match declared_of[id] {
            Some(declared) => {
                if pass.declared.is_some() && facts.declared_passes[declared].name != name {
                    let message =
                        format!("pass \"{name}\" is declared as \"{}\"", facts.declared_passes[declared].name);
                    findings.add(Rule::Passes, Some(name), None, message);
                }
                if ran[id] > 0 {
                    queue_of(facts, plan, id, declared, findings);
                }
                if pass.declared.is_none() {
                    accesses(facts, plan, id, declared, findings);
                }
            }
            None if pass.declared.is_none() => {
                let message = format!("inserted pass \"{name}\" is nothing that the declaration demands");
                findings.add(Rule::Inserted, Some(name), None, message);
            }
            None => {}
        }
        if pass.culled.is_some() && ran[id] > 0 {
            findings.add(Rule::Passes, Some(name), None, format!("culled pass \"{name}\" runs"));
        }
        if ran[id] > 1 {
            findings.add(Rule::Passes, Some(name), None, format!("pass \"{name}\" runs {} times", ran[id]));
        }
    }
    let mut of_declared = IdVec::<DeclaredPassId, u32>::filled(0, facts.declared_passes.len());
    for (id, declared) in declared_of.iter_ids() {
        if let Some(declared) = declared {
            of_declared[*declared] += u32::from(ran[id] > 0);
        }
    }
    for (declared, count) in of_declared.iter_ids() {
        let name = &facts.declared_passes[declared].name;
        if *count == 0 && facts.needed[declared] {
            let kind = if facts.declared_passes[declared].inserted.is_some() { "inserted pass" } else { "pass" };
            let message = format!("{kind} \"{name}\" is needed but does not run");
            findings.add(Rule::Passes, Some(name), None, message);
        } else if *count > 1 {
            findings.add(Rule::Passes, Some(name), None, format!("\"{name}\" stands in the plan {count} times"));
        }
    }
    declared_of
}

/// Jobs that fill mip levels, by the pass that demands them, the image and the level; several where accesses differ
/// in layers.
struct Levels(HashMap<(u32, ResourceId, u32), Vec<DeclaredPassId>>);

impl Levels {
    fn new(facts: &Facts) -> Self {
        let mut levels: HashMap<_, Vec<DeclaredPassId>> = HashMap::new();
        for (at, declared) in facts.declared_passes.iter_ids() {
            if let Some(Inserted::Mips { owner, resource, level }) = declared.inserted {
                levels.entry((owner.index() as u32, resource, level)).or_default().push(at);
            }
        }
        Self(levels)
    }

    /// The declared pass of an inserted pass, by its owner and its write; names of passes are not unique enough to tell
    /// it.
    fn declared(&self, facts: &Facts, plan: &Plan, pass: PlanPassId, owner: u32) -> Option<DeclaredPassId> {
        let access = written(plan, pass)?;
        let declared_passes = self.0.get(&(owner, access.resource, access.mips[0]))?;
        let layers = |declared: &&DeclaredPassId| {
            facts.declared_passes[**declared].uses.iter().any(|at| at.writes && at.part.layers == access.layers)
        };
        declared_passes.iter().find(layers).or(declared_passes.first()).copied()
    }
}

/// The first write among the accesses of an inserted pass.
fn written(plan: &Plan, pass: PlanPassId) -> Option<&PlanAccess> {
    let accesses = &plan.pass_accesses[plan.passes[pass].accesses.range()];
    accesses.iter().find(|access| crate::tables::writes(access.access))
}

/// A scaled blit has no fixed name: it is known by what it writes.
fn scaled(facts: &Facts, plan: &Plan, pass: PlanPassId) -> Option<DeclaredPassId> {
    let written = written(plan, pass)?.resource;
    let mut passes = facts.declared_passes.iter_ids();
    passes
        .find(|(_, declared)| matches!(declared.inserted, Some(Inserted::Scaled { to, .. }) if to == written))
        .map(|(id, _)| id)
}

/// The accesses that the plan gives an inserted pass are those that the declaration demands.
fn accesses(facts: &Facts, plan: &Plan, pass: PlanPassId, declared: DeclaredPassId, findings: &mut Findings) {
    let list = &plan.pass_accesses[plan.passes[pass].accesses.range()];
    let name = plan.pass_name(pass);
    for at in &facts.declared_passes[declared].uses {
        let wanted = if at.writes { Accesses::TRANSFER_WRITE } else { Accesses::TRANSFER_READ };
        let found = list.iter().any(|access| {
            access.resource == at.resource
                && access.access.contains(wanted)
                && access.stages.contains(Stages::BLIT)
                && access.mips == at.part.mips
                && access.layers == at.part.layers
        });
        if !found {
            let what = facts.name(at.resource);
            let message = format!(
                "inserted pass \"{name}\" must {} \"{what}\" mips {}..{} layers {}..{} by a blit, but declares no such access",
                if at.writes { "write" } else { "read" },
                at.part.mips[0],
                at.part.mips[1],
                at.part.layers[0],
                at.part.layers[1]
            );
            findings.add(Rule::Inserted, Some(name), Some(what), message);
        }
    }
    if list.len() != facts.declared_passes[declared].uses.len() {
        let message = format!(
            "inserted pass \"{name}\" makes {} accesses, not {}",
            list.len(),
            facts.declared_passes[declared].uses.len()
        );
        findings.add(Rule::Inserted, Some(name), None, message);
    }
}

/// The queue of a plan that a declaration names, or `None` for the host and where any will do.
pub(crate) fn named_queue(plan: &Plan, queue: PassQueue) -> Option<QueueId> {
    let has = |wanted: Capabilities| {
        let mut queues = plan.queues.iter_ids();
        queues.find(|(_, queue)| queue.capabilities.contains(wanted)).map(|(id, _)| id)
    };
    let graphics = has(Capabilities::GRAPHICS);
    let other = |wanted: Capabilities| {
        let fits = |id: &QueueId| {
            let capabilities = plan.queues[*id].capabilities;
            let implied = wanted == Capabilities::TRANSFER && !capabilities.is_empty();
            Some(*id) != graphics && (implied || capabilities.contains(wanted))
        };
        let others = plan.queues.ids().filter(fits);
        others.min_by_key(|id| (plan.queues[*id].capabilities.bits().count_ones(), *id)).or(graphics)
    };
    match queue {
        PassQueue::Graphics => graphics,
        PassQueue::Compute => graphics.or_else(|| has(Capabilities::COMPUTE)),
        PassQueue::AsyncCompute => other(Capabilities::COMPUTE).or_else(|| has(Capabilities::COMPUTE)),
        PassQueue::Transfer => other(Capabilities::TRANSFER).or(Some(QueueId::new(0))),
        PassQueue::Cpu | PassQueue::Any => None,
    }
}

fn queue_of(facts: &Facts, plan: &Plan, id: PlanPassId, declared: DeclaredPassId, findings: &mut Findings) {
    let pass = &plan.passes[id];
    let name = plan.pass_name(id);
    let allowed = facts.declared_passes[declared].queue;
    let at = pass.queue;
    let searched = matches!(pass.why.queue, QueueWhy::EarliestFinish | QueueWhy::OnlyCapable);
    let right = match allowed {
        PassQueue::Cpu => at.is_none(),
        PassQueue::Any => at.is_some(),
        _ => at.is_some() && (searched || at == named_queue(plan, allowed)),
    };
    if !right {
        let on = at.map_or("the host".to_owned(), |at| format!("queue \"{}\"", plan.queues[at].name));
        let message = format!("pass \"{name}\" is declared on {allowed} but runs on {on}");
        findings.add(Rule::Queue, Some(name), None, message);
    }
    for at_use in &facts.declared_passes[declared].uses {
        let on_host = at_use.stages == Stages::HOST;
        let able = match at {
            None => on_host || at_use.usage == Usage::Present,
            Some(at) => {
                let needed = needs(at_use.usage, at_use.stages, at_use.transfer);
                let capabilities = plan.queues[at].capabilities;
                !on_host && can(capabilities, needed) && stages_of(capabilities).contains(at_use.stages)
            }
        };
        if !able {
            let what = facts.name(at_use.resource);
            let message = format!("pass \"{name}\" uses \"{what}\" as {}, which its queue cannot do", at_use.usage);
            findings.add(Rule::Queue, Some(name), Some(what), message);
        }
    }
}

/// Stages that the queue has, accesses that the stages have.
pub(crate) fn scopes(plan: &Plan, findings: &mut Findings) {
    for (id, batch) in plan.batches.iter_ids() {
        let Some(queue) = batch.queue else {
            let only = |command: &Command| matches!(command, Command::Pass { .. });
            if !plan.commands[batch.commands.range()].iter().all(only) {
                let message = format!("batch {} of the host has commands other than passes", id.index());
                findings.add(Rule::Malformed, None, None, message);
            }
            continue;
        };
        let plan_queue = &plan.queues[queue];
        if !plan_queue.capabilities.intersects(Capabilities::GRAPHICS | Capabilities::COMPUTE) {
            let event = |command: &Command| match command {
                Command::SetEvent(event, _) | Command::WaitEvents(event, _) => Some(event.index()),
                _ => None,
            };
            if let Some(event) = plan.commands[batch.commands.range()].iter().find_map(event) {
                let name = &plan_queue.name;
                let message =
                    format!("event {event} stands on queue \"{name}\", which has neither graphics nor compute");
                findings.add(Rule::Queue, None, None, message);
            }
        }
        let has = stages_of(plan_queue.capabilities);
        let mut check = |stages: Stages, what: String| {
            if !has.contains(stages) {
                let names: Vec<_> = (stages - has).names().collect();
                let message =
                    format!("{what} names {}, which queue \"{}\" does not have", names.join("|"), plan_queue.name);
                findings.add(Rule::UnsupportedStage, None, None, message);
            }
        };
        for wait in &plan.waits[batch.waits.range()] {
            check(wait.stages, format!("a wait of batch {}", id.index()));
        }
        let mut odd = Vec::new();
        for command in &plan.commands[batch.commands.range()] {
            let (Command::Barriers(b) | Command::SetEvent(_, b) | Command::WaitEvents(_, b)) = command else {
                continue;
            };
            let memory = plan.memory_barriers[b.memory.range()].iter().map(|b| (b.scope, None, None));
            let named = |resource: ResourceId| Some(plan.resource_names.get(resource.index()));
            let buffers =
                plan.buffer_barriers[b.buffers.range()].iter().map(|b| (b.scope, b.families, named(b.resource)));
            let images = plan.image_barriers[b.images.range()].iter().map(|b| (b.scope, b.families, named(b.resource)));
            for (scope, families, resource) in memory.chain(buffers).chain(images) {
                let what = resource.map_or("a memory barrier".to_owned(), |name| format!("the barrier on \"{name}\""));
                // The half of a transfer that belongs to the other queue is ignored there.
                let half = families.filter(|[from, to]| from != to);
                if half.is_none_or(|[from, _]| from == plan_queue.family) {
                    check(scope.src_stages, format!("{what} (source)"));
                }
                if half.is_none_or(|[_, to]| to == plan_queue.family) {
                    check(scope.dst_stages, format!("{what} (destination)"));
                }
                for (stages, access, side) in [
                    (scope.src_stages, scope.src_access, "source"),
                    (scope.dst_stages, scope.dst_access, "destination"),
                ] {
                    for access in access.iter() {
                        if !stages.intersects(stages_with(access)) {
                            odd.push(format!(
                                "{what} names {} as {side} but no stage that has it",
                                access.names().next().unwrap_or_default()
                            ));
                        }
                    }
                }
            }
        }
        for message in odd {
            findings.add(Rule::UnsupportedStage, None, None, message);
        }
    }
}

/// Places: inside heaps, large enough, and there for everything that a pass uses.
pub(crate) fn places(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    let alone = |memory: MemoryId| facts.edged[memory] || facts.fresh[memory];
    let mut place = IdVec::<ResourceId, _>::filled(None, facts.memory.len());
    for p in &plan.memory.placements {
        let Some(slot) = place.get_mut(p.resource) else { continue };
        let what = facts.name(p.resource);
        let end = p.offset.checked_add(p.size);
        if end.is_none_or(|end| end > plan.memory.heaps[p.heap].size) {
            let message = format!("\"{what}\" at {} with {} bytes ends outside its heap", p.offset, p.size);
            findings.add(Rule::Placement, None, Some(what), message);
        }
        let bytes = facts.shapes[p.resource].bytes;
        if p.size < bytes {
            let message = format!("\"{what}\" has a place of {} bytes but needs {bytes}", p.size);
            findings.add(Rule::Placement, None, Some(what), message);
        }
        if slot.replace((p.heap, p.offset)).is_some() {
            findings.add(Rule::Placement, None, Some(what), format!("\"{what}\" has two places"));
        }
        if facts.edged[facts.memory[p.resource]] {
            let message = format!("\"{what}\" outlives the frame but has a place among the transients");
            findings.add(Rule::Placement, None, Some(what), message);
        }
        if facts.fresh[facts.memory[p.resource]] {
            let message = format!("\"{what}\" is fresh but has a place that the run before has too");
            findings.add(Rule::Placement, None, Some(what), message);
        }
    }
    for (resource, own) in place.iter_ids() {
        let memory = facts.memory[resource];
        if let (Some(own), Some(other), true) = (own, place[memory.first_name()], facts.frames_ago[resource] == 0)
            && *own != other
        {
            let (what, base) = (facts.name(resource), facts.memory_name(memory));
            let message = format!("\"{what}\" modifies \"{base}\" but lies in other bytes");
            findings.add(Rule::Placement, None, Some(what), message);
        }
    }
    let mut ran = IdVec::<PlanPassId, bool>::filled(false, plan.passes.len());
    for (_, batch) in plan.batches.iter_ids() {
        for command in &plan.commands[batch.commands.range()] {
            if let Command::Pass { pass, .. } = command {
                ran[*pass] = true;
            }
        }
    }
    for (id, declared) in declared_of.iter_ids() {
        let Some(declared) = declared.filter(|_| ran[id]) else { continue };
        for at_use in &facts.declared_passes[declared].uses {
            let memory = facts.memory[at_use.resource];
            let placed = || facts.names(memory).any(|name| place[name].is_some());
            if !alone(memory) && place[memory.first_name()].is_none() && !placed() {
                let what = facts.name(at_use.resource);
                findings.add(Rule::Placement, None, Some(what), format!("\"{what}\" is used but has no place"));
            }
        }
    }
    let images = plan.image_barriers.iter().map(|barrier| barrier.resource);
    for resource in images.chain(plan.buffer_barriers.iter().map(|barrier| barrier.resource)) {
        let memory = facts.memory[resource];
        if !alone(memory) && facts.names(memory).all(|name| place[name].is_none()) {
            let what = facts.name(resource);
            findings.add(Rule::Placement, None, Some(what), format!("a barrier names \"{what}\", which has no place"));
        }
    }
    for (id, resource) in facts.graph.resources().iter_ids() {
        let (wanted, plan_says) = (resource.sharing, plan.resources[id].sharing);
        if wanted.is_some_and(|wanted| wanted != plan_says) && plan.resources[id].lifetime.is_some() {
            let what = facts.name(id);
            if is_noted(plan, what) {
                continue;
            }
            let message = format!("\"{what}\" is declared otherwise than {plan_says}");
            findings.add(Rule::Ownership, None, Some(what), message);
        }
        let chosen = facts.graph.resources()[facts.memory[id].first_name()].memory_domain;
        if chosen != plan.resources[id].memory_domain {
            let what = facts.name(id);
            let word = |domain: Option<MemoryDomain>| domain.map_or("any", MemoryDomain::name);
            let (declared, planned) = (word(chosen), word(plan.resources[id].memory_domain));
            let message =
                format!("\"{what}\" is declared in {declared} memory, and the plan has {planned} memory for it");
            findings.add(Rule::Placement, None, Some(what), message);
        }
    }
}

/// Whether a note of the plan is about a resource, and so begins with its name: what could not be as declared is fine
/// then. Notes about passes may name resources too; they excuse nothing.
pub(crate) fn is_noted(plan: &Plan, resource: &str) -> bool {
    let quoted = format!("\"{resource}\"");
    plan.report.notes.iter().any(|note| note.starts_with(&quoted))
}

/// Pairs of memories that share bytes. O(n log n + pairs).
pub(crate) fn overlaps(facts: &Facts, plan: &Plan) -> Vec<(MemoryId, MemoryId)> {
    let span = |Placed { memory, heap, bytes: [first, end] }| (heap, first, end, memory);
    let mut spans: Vec<(HeapId, u64, u64, MemoryId)> = placed(facts, plan).map(span).collect();
    spans.sort_unstable();
    let mut pairs = Vec::new();
    let mut open: Vec<(HeapId, u64, MemoryId)> = Vec::new();
    for (heap, first, end, memory) in spans {
        open.retain(|(other, until, _)| *other == heap && *until > first);
        pairs.extend(open.iter().filter(|(.., other)| *other != memory).map(|(.., other)| (*other, memory)));
        open.push((heap, end, memory));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Whether two dependencies are the same.
pub(crate) fn same(plan: &Plan, a: &Barriers, b: &Barriers) -> bool {
    let memory = |b: &Barriers| plan.memory_barriers[b.memory.range()].iter().map(|b| b.scope).collect::<Vec<_>>();
    let buffers = |b: &Barriers| {
        let list = plan.buffer_barriers[b.buffers.range()].iter();
        list.map(|b| (b.resource, b.range, b.scope, b.families)).collect::<Vec<_>>()
    };
    let images = |b: &Barriers| {
        let list = plan.image_barriers[b.images.range()].iter();
        list.map(|b| (b.resource, b.mips, b.layers, b.aspects, b.scope, b.old_layout, b.new_layout, b.families))
            .collect::<Vec<(ResourceId, [u32; 2], [u32; 2], Aspects, _, _, _, _)>>()
    };
    memory(a) == memory(b) && buffers(a) == buffers(b) && images(a) == images(b)
}
