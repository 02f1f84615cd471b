//! Fills a page's data from a plan and, where it is at hand, the declaration that it was baked from.

use std::collections::HashMap;

use super::accesses;
use super::data::{Meta, PlanData, QueueData};
use crate::text::{attachment_text, edge_text, part_of_image};
use rgraph_ir::graph::Graph;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{
    BufferBarrier, Command, EventId, ImageBarrier, Plan, PlanKind, PlanLife, PlanPassId, QueueId, Scope, Why,
};
use rgraph_ir::resource::{Life, ResourceId};
use rgraph_ir::words::{
    Positions, access_phrase, culled_sentence, hazard_word, layout_phrase, life_word, plain, queue_label,
    queue_sentence, stages_phrase, unaliased_sentences, unmerged_sentence, unmerged_word,
};

/// Everything that a page shows of a plan. O(plan + accesses log).
pub(crate) fn gather(plan: &Plan, graph: Option<&Graph>) -> PlanData {
    let mut data = PlanData { meta: meta(plan, graph.is_some()), ..PlanData::default() };
    data.queues = queues(plan);
    passes(&mut data, plan, graph);
    resources(&mut data, plan, graph);
    batches(&mut data, plan);
    data.heaps = plan.memory.heaps.iter().map(|heap| (heap.memory_type.clone(), heap.size)).collect();
    data.edges = edges(plan);
    data.parts = plan.subgraphs.iter().map(|part| format!("{:016x}", part.key)).collect();
    data.unmerged = plan
        .unmerged
        .iter()
        .map(|pair| {
            let (why, word) = (unmerged_sentence(plan, pair.reason), unmerged_word(pair.reason));
            (number(pair.first), number(pair.second), why, word, maybe(pair.reason.resource()))
        })
        .collect();
    data.notes.clone_from(&plan.report.notes);
    accesses::gather(&mut data, plan, graph);
    data
}

/// Its position.
pub(super) fn number(id: impl Id) -> u32 {
    id.index() as u32
}

/// Its position, or -1.
pub(super) fn maybe(id: Option<impl Id>) -> i32 {
    id.map_or(-1, |id| id.index() as i32)
}

fn meta(plan: &Plan, declared: bool) -> Meta {
    let bake_us = plan.report.bake_us.map_or_else(Vec::new, |times| {
        vec![
            ("validate", times.validate),
            ("cull", times.cull),
            ("schedule", times.schedule),
            ("merge", times.merge),
            ("alias", times.alias),
            ("synchronize", times.synchronize),
        ]
    });
    Meta {
        graph: plan.graph.clone(),
        graph_hash: format!("{:032x}", plan.graph_hash),
        hash: format!("{:032x}", rgraph_files::plan_hash(plan)),
        profile: plan.profile.clone(),
        policy: plan.report.policy.to_owned(),
        optimal: plan.report.optimal,
        frame_us: plan.report.frame_us,
        bound_us: plan.report.bound.map_or(0.0, |bound| bound.us),
        barrier_calls: plan.report.barriers,
        submits: plan.report.submits,
        memory: plan.memory.total,
        memory_bound: plan.memory.lower_bound,
        memory_plain: plan.memory.without_aliasing,
        declared,
        bake_us,
    }
}

fn queues(plan: &Plan) -> Vec<QueueData> {
    let queue = |(id, queue): (QueueId, &rgraph_ir::plan::PlanQueue)| QueueData {
        name: queue_label(plan, Some(id)),
        family: queue.family,
        capabilities: queue.capabilities.names(),
    };
    plan.queues.iter_ids().map(queue).collect()
}

fn passes(data: &mut PlanData, plan: &Plan, graph: Option<&Graph>) {
    let positions = Positions::new(plan);
    let mut part_of = IdVec::filled(-1, plan.passes.len());
    for (at, part) in plan.subgraphs.iter().enumerate() {
        for &pass in &plan.subgraph_passes[part.passes.range()] {
            part_of[pass] = at as i32;
        }
    }
    let columns = &mut data.passes;
    for (id, pass) in plan.passes.iter_ids() {
        let declared = graph.and_then(|graph| Some((graph, graph.find_pass(plan.pass_name(id))?)));
        let place = declared.and_then(|(graph, pass)| graph.pass_place(pass));
        let owner = pass.owner.and_then(|owner| positions.get(owner)).unwrap_or(id);
        let switch = graph.and_then(|graph| graph.passes()[graph.find_pass(plan.pass_name(owner))?].conditional);
        let flag = graph.zip(switch).map(|(graph, flag)| &graph.flags()[flag]);
        columns.name.push(plan.pass_name(id).to_owned());
        columns.declared.push(pass.declared.map_or(-1, |position| position as i32));
        columns.queue.push(maybe(pass.queue));
        columns.batch.push(-1);
        columns.physical.push(maybe(pass.physical_pass));
        columns.start.push(pass.why.start_us);
        columns.us.push(pass.why.duration_us);
        columns.after.push(maybe(pass.why.after));
        columns.part.push(part_of[id]);
        columns.why_queue.push(data.texts.add(match pass.queue {
            Some(_) => queue_sentence(pass.why.queue),
            None => "it is work of the host",
        }));
        let culled = pass.culled.map(|why| culled_sentence(plan, &positions, why));
        columns.culled.push(culled.map_or(-1, |why| data.texts.add(&why)));
        columns.place.push(place.map_or(-1, |place| data.texts.add(&place.to_string())));
        columns.flag.push(flag.map_or(-1, |flag| data.texts.add(flag)));
    }
    data.shown = shown(plan);
}

/// All passes, live ones in plan order, each culled one behind what was declared before it.
fn shown(plan: &Plan) -> Vec<u32> {
    let mut live: Vec<(u32, PlanPassId)> = plan.live().filter_map(|id| Some((plan.passes[id].declared?, id))).collect();
    live.sort_unstable();
    let mut behind: HashMap<Option<PlanPassId>, Vec<(u32, PlanPassId)>> = HashMap::new();
    for (id, _) in plan.culled() {
        let declared = plan.passes[id].declared.unwrap_or(u32::MAX);
        let before = live.partition_point(|(position, _)| *position < declared).checked_sub(1);
        behind.entry(before.map(|at| live[at].1)).or_default().push((declared, id));
    }
    let mut order = Vec::with_capacity(plan.passes.len());
    let mut put = |key: Option<PlanPassId>| {
        order.extend(key.map(number));
        let mut culled = behind.remove(&key).unwrap_or_default();
        culled.sort_unstable();
        order.extend(culled.into_iter().map(|(_, id)| number(id)));
    };
    put(None);
    plan.live().for_each(|id| put(Some(id)));
    order
}

fn resources(data: &mut PlanData, plan: &Plan, graph: Option<&Graph>) {
    let mut places = IdVec::filled(None, plan.resources.len());
    for place in &plan.memory.placements {
        places[place.resource] = Some(place);
    }
    let why_alone = unaliased_sentences(plan);
    for (id, resource) in plan.resources.iter_ids() {
        let name = plan.resource_name(id);
        let declared = graph.and_then(|graph| Some((graph, graph.find_resource(name)?)));
        let columns = &mut data.resources;
        columns.name.push(name.to_owned());
        columns.image.push(u8::from(matches!(resource.kind, PlanKind::Image { .. })));
        columns.bytes.push(resource.bytes);
        columns.first.push(maybe(resource.lifetime.map(|[first, _]| first)));
        columns.last.push(maybe(resource.lifetime.map(|[_, last]| last)));
        columns.heap.push(maybe(places[id].map(|place| place.heap)));
        columns.offset.push(places[id].map_or(-1, |place| place.offset as i64));
        columns.placed.push(places[id].map_or(-1, |place| place.size as i64));
        let explicit = declared.is_some_and(|(graph, resource)| graph.is_root(resource));
        columns.root.push(u8::from(explicit || resource.life == PlanLife::Root));
        columns.inserted.push(u8::from(resource.inserted));
        columns.life.push(data.texts.add(life_word(resource.life)));
        let (format, shape) = kind_texts(&resource.kind);
        columns.format.push(data.texts.add(format));
        columns.shape.push(data.texts.add(&shape));
        columns.sharing.push(data.texts.add(resource.sharing.name()));
        let place = declared.and_then(|(graph, resource)| graph.resource_place(resource));
        columns.place.push(place.map_or(-1, |place| data.texts.add(&place.to_string())));
        let relation = declared.and_then(|(graph, resource)| relation(graph, resource));
        columns.relation.push(relation.map_or(-1, |relation| data.texts.add(&relation)));
        columns.why_alone.push(why_alone[id].as_ref().map_or(-1, |why| data.texts.add(why)));
        for &other in &plan.aliases[resource.aliases.range()] {
            if id < other || !plan.aliases[plan.resources[other].aliases.range()].contains(&id) {
                data.aliases.push([number(id), number(other)]);
            }
        }
    }
}

/// Format and size in words; a buffer's format is `buffer`.
fn kind_texts(kind: &PlanKind) -> (&'static str, String) {
    match *kind {
        PlanKind::Buffer { size } => ("buffer", format!("{size} B")),
        PlanKind::Image { format, size: [width, height, depth], mips, layers, samples, volume, cube } => {
            let mut shape = format!("{width}×{height}");
            if volume {
                shape += &format!("×{depth}");
            }
            let counted = [(mips, "mips"), (layers, "layers"), (samples, "samples")];
            for (count, what) in counted.into_iter().filter(|(count, _)| *count > 1) {
                shape += &format!(", {count} {what}");
            }
            if cube {
                shape += ", cube";
            }
            (format.name(), shape)
        }
    }
}

/// What a resource modifies or remembers.
fn relation(graph: &Graph, id: ResourceId) -> Option<String> {
    let resource = &graph.resources()[id];
    if let Some(of) = resource.modifies {
        return Some(format!("starts with the contents of '{}', in its memory", plain(graph.resource_name(of))));
    }
    match resource.life {
        Life::History(history) => {
            let frames = if history.frames == 1 { "1 frame".to_owned() } else { format!("{} frames", history.frames) };
            Some(format!("what '{}' was {frames} ago", plain(graph.resource_name(history.of))))
        }
        _ => None,
    }
}

fn edges(plan: &Plan) -> Vec<(u32, String, String)> {
    let edge = |edge: &rgraph_ir::plan::Edge| {
        let [entry, exit] = edge_text(plan, edge);
        (number(edge.resource), entry, exit)
    };
    plan.edges.iter().map(edge).collect()
}

/// Batches with their waits, barrier calls and render passes.
fn batches(data: &mut PlanData, plan: &Plan) {
    let mut sources: HashMap<(Option<QueueId>, u32), usize> = HashMap::new();
    for (id, batch) in plan.batches.iter_ids() {
        if let Some(value) = batch.signal {
            sources.insert((batch.queue, value), id.index());
        }
    }
    let mut split: HashMap<EventId, (u32, u32)> = HashMap::new();
    for (id, batch) in plan.batches.iter_ids() {
        for wait in &plan.waits[batch.waits.range()] {
            let source = sources.get(&(wait.queue, wait.value)).filter(|_| !wait.previous_run);
            data.waits.batch.push(number(id));
            data.waits.queue.push(maybe(wait.queue));
            data.waits.value.push(wait.value);
            data.waits.previous.push(u8::from(wait.previous_run));
            data.waits.source.push(source.map_or(-1, |batch| *batch as i32));
            data.waits.stages.push(data.texts.add(&stages_phrase(wait.stages)));
        }
        let commands = &plan.commands[batch.commands.range()];
        let (mut after, mut first) = (-1, -1);
        let waiting = data.calls.batch.len();
        for command in commands {
            let (kind, event, call) = match command {
                Command::Barriers(call) => (0, None, call),
                Command::SetEvent(event, call) => (1, Some(*event), call),
                Command::WaitEvents(event, call) => (2, Some(*event), call),
                Command::BeginRendering { physical_pass, attachments } => {
                    let texts = plan.attachments[attachments.range()].iter().map(|one| attachment_text(plan, one));
                    data.rendering.push((number(*physical_pass), texts.collect()));
                    continue;
                }
                Command::Pass { pass, .. } => {
                    after = number(*pass) as i32;
                    data.passes.batch[pass.index()] = number(id) as i32;
                    first = if first < 0 { after } else { first };
                    let calls = &mut data.calls;
                    calls.before[waiting..].iter_mut().filter(|before| **before < 0).for_each(|b| *b = after);
                    continue;
                }
                Command::EndRendering => continue,
            };
            let range = match event.and_then(|event| split.get(&event)) {
                Some(&range) if kind == 2 => range,
                _ => dependencies(data, plan, call),
            };
            if let Some(event) = event {
                split.insert(event, range);
            }
            data.calls.batch.push(number(id));
            data.calls.kind.push(kind);
            data.calls.event.push(maybe(event));
            data.calls.region.push(u8::from(call.by_region));
            data.calls.after.push(after);
            data.calls.before.push(-1);
            data.calls.first.push(range.0);
            data.calls.count.push(range.1);
        }
        data.batches.queue.push(maybe(batch.queue));
        data.batches.signal.push(batch.signal.unwrap_or(0));
        data.batches.first.push(first);
        data.batches.last.push(after);
    }
}

/// Adds the dependencies of a call; says where they start and how many they are.
fn dependencies(data: &mut PlanData, plan: &Plan, call: &rgraph_ir::plan::Barriers) -> (u32, u32) {
    let first = data.barriers.resource.len() as u32;
    for barrier in &plan.memory_barriers[call.memory.range()] {
        dependency(data, None, &barrier.scope, &barrier.why);
        layouts(data, "", "", "", None);
    }
    for BufferBarrier { resource, range, scope, families, why } in &plan.buffer_barriers[call.buffers.range()] {
        dependency(data, Some(*resource), scope, why);
        let whole = matches!(plan.resources[*resource].kind, PlanKind::Buffer { size } if *range == [0, size]);
        let part = if whole { String::new() } else { format!("[{}..{}]", range[0], range[1]) };
        layouts(data, &part, "", "", *families);
    }
    for barrier in &plan.image_barriers[call.images.range()] {
        let ImageBarrier { resource, mips, layers, scope, families, why, .. } = barrier;
        dependency(data, Some(*resource), scope, why);
        let mut part = part_of_image(plan, *resource, *mips, *layers);
        if let PlanKind::Image { format, .. } = plan.resources[*resource].kind
            && barrier.aspects != format.aspects()
        {
            part += &format!("[{}]", barrier.aspects.names().collect::<Vec<_>>().join(", "));
        }
        layouts(data, &part, layout_phrase(barrier.old_layout), layout_phrase(barrier.new_layout), *families);
    }
    (first, data.barriers.resource.len() as u32 - first)
}

fn dependency(data: &mut PlanData, resource: Option<ResourceId>, scope: &Scope, why: &Why) {
    let columns = &mut data.barriers;
    columns.resource.push(maybe(resource));
    columns.from.push(maybe(why.from));
    columns.to.push(maybe(why.to));
    columns.of.push(number(why.resource));
    columns.hazard.push(data.texts.add(hazard_word(why.hazard)));
    columns.src_stages.push(data.texts.add(&stages_phrase(scope.src_stages)));
    columns.src_access.push(data.texts.add(&access_phrase(scope.src_access)));
    columns.dst_stages.push(data.texts.add(&stages_phrase(scope.dst_stages)));
    columns.dst_access.push(data.texts.add(&access_phrase(scope.dst_access)));
}

fn layouts(data: &mut PlanData, part: &str, old: &str, new: &str, families: Option<[u32; 2]>) {
    let families = families.map_or_else(String::new, |[from, to]| format!("{from} → {to}"));
    data.barriers.part.push(data.texts.add(part));
    data.barriers.old.push(data.texts.add(old));
    data.barriers.new.push(data.texts.add(new));
    data.barriers.families.push(data.texts.add(&families));
}
