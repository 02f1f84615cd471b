//! Writing a plan file: one pass, resource, barrier, attachment a line, so that differences read well.

use xxhash_rust::xxh3::xxh3_128;

use crate::graph::write_clear as clear;
use crate::write::{Row, Sheet, words};
use rgraph_ir::access::{Accesses, Aspects, Layout, Stages};
use rgraph_ir::budget::MemoryBudget;
use rgraph_ir::id::Id;
use rgraph_ir::plan::{
    Attachment, Barriers, Batch, BatchId, Command, Culled, Edge, EdgeState, Plan, PlanAccess, PlanKind, PlanPassId,
    QueueId, Report, Scope, Why,
};
use rgraph_ir::resource::ResourceId;
use rgraph_ir::words::{
    FOREIGN_WORDS, Positions, SET_WORDS, culled_sentence, culled_word, hazard_word, life_word, queue_word,
    unmerged_sentence, unmerged_word,
};

/// Writes a plan file. Equal plans are the same bytes on every machine; timings are written where the plan has some.
/// Reading it gives an equal plan. O(plan).
pub fn write_plan(plan: &Plan) -> String {
    write(plan, plan.report.bake_us.is_some())
}

/// A hash of all that a plan decides: equal plans have equal hashes on every machine; how long the bake took does not
/// count. XXH3 (128 bits) of the plan file without timings. O(plan).
pub fn plan_hash(plan: &Plan) -> u128 {
    xxh3_128(write(plan, false).as_bytes())
}

fn write(plan: &Plan, timings: bool) -> String {
    let mut sheet = Sheet::default();
    sheet.text("{\n  \"rplan\": 1");
    sheet.line("  ", "graph", &plan.graph);
    sheet.line("  ", "graph_hash", &format!("{:032x}", plan.graph_hash));
    sheet.key("  ", "device_profile");
    let mut profile = sheet.row();
    profile.put("name", &plan.profile);
    profile.some("features", plan.features.map(|features| features.names().collect::<Vec<_>>()));
    profile.key("queues").list("  ", &plan.queues, |sheet, queue| {
        let mut row = sheet.row();
        row.put("name", &queue.name).put("family", queue.family);
        row.put("capabilities", queue.capabilities.names()).end();
    });
    profile.end();
    let positions = Positions::new(plan);
    sheet.key("  ", "passes");
    sheet.list("  ", plan.passes.ids(), |sheet, id| pass(sheet, plan, &positions, id));
    sheet.key("  ", "resources");
    sheet.list("  ", plan.resources.ids(), |sheet, id| resource(sheet, plan, id));
    sheet.key("  ", "batches");
    sheet.list("  ", plan.batches.iter_ids(), |sheet, (id, batch)| self::batch(sheet, plan, id, batch));
    memory(&mut sheet, plan);
    sheet.key("  ", "edges");
    sheet.list("  ", &plan.edges, edge);
    if !plan.foreign.is_empty() {
        sheet.key("  ", "foreign");
        sheet.list("  ", &plan.foreign, |sheet, point| {
            let mut row = sheet.row();
            row.put("resource", point.resource.index()).put("op", FOREIGN_WORDS[usize::from(point.wait.is_none())]);
            row.put("batch", point.batch.index());
            row.some("stages", point.wait.map(|stages| words(stages.names()))).end();
        });
    }
    sheet.key("  ", "subgraphs");
    sheet.list("  ", &plan.subgraphs, |sheet, part| {
        let mut row = sheet.row();
        row.put("key", format!("{:016x}", part.key));
        row.put("passes", indices(&plan.subgraph_passes[part.passes.range()]));
        row.put("roots", indices(&plan.subgraph_roots[part.roots.range()])).end();
    });
    sheet.key("  ", "unmerged");
    sheet.list("  ", &plan.unmerged, |sheet, pair| {
        let mut row = sheet.row();
        row.put("first", pair.first.index()).put("second", pair.second.index());
        row.put("why", unmerged_word(pair.reason));
        if let Some(resource) = pair.reason.resource() {
            row.put("resource", resource.index());
        }
        row.put("reason", unmerged_sentence(plan, pair.reason)).end();
    });
    sheet.key("  ", "sets");
    sheet.list("  ", &plan.sets, |sheet, set| {
        let mut row = sheet.row();
        row.put("on", SET_WORDS[usize::from(!set.cpu)]);
        row.put("passes", indices(&plan.set_passes[set.passes.range()])).end();
    });
    if !plan.packets.is_empty() {
        sheet.key("  ", "packets");
        sheet.list("  ", &plan.packets, |sheet, group| sheet.value(&indices(&plan.packet_passes[group.range()])));
    }
    sheet.key("  ", "copies");
    sheet.list("  ", &plan.copies, |sheet, copy| {
        let mut row = sheet.row();
        row.put("pass", copy.pass.index()).put("from", copy.from.index()).put("to", copy.to.index()).end();
    });
    if !plan.flag_names.is_empty() {
        sheet.key("  ", "flags");
        sheet.value(&words(plan.flag_names.iter()));
    }
    if !plan.fallbacks.is_empty() {
        sheet.key("  ", "fallbacks");
        sheet.list("  ", &plan.fallbacks, |sheet, one| {
            let mut row = sheet.row();
            row.put("pass", one.pass.index()).put("output", one.output.index());
            row.put("input", one.input.index()).end();
        });
    }
    report(&mut sheet, &plan.report, timings);
    sheet.text("\n}\n");
    sheet.finish()
}

fn indices<I: Id>(ids: &[I]) -> Vec<usize> {
    ids.iter().map(|id| id.index()).collect()
}

fn index<I: Id>(id: Option<I>) -> Option<usize> {
    id.map(Id::index)
}

fn pass(sheet: &mut Sheet, plan: &Plan, positions: &Positions, id: PlanPassId) {
    let pass = &plan.passes[id];
    let mut row = sheet.row();
    row.put("id", id.index()).put("name", plan.pass_name(id)).put("declared", pass.declared);
    if pass.declared.is_none() || pass.owner.is_some() {
        row.put("owner", pass.owner);
    }
    row.put("queue", index(pass.queue)).put("culled", pass.culled.is_some());
    row.put("reason", pass.culled.map(|culled| culled_sentence(plan, positions, culled)));
    row.put("physical_pass", index(pass.physical_pass));
    if pass.subpass > 0 {
        row.put("subpass", pass.subpass);
    }
    row.some("flag", index(pass.flag));
    if let Some(culled) = pass.culled {
        let mut why = row.key("culled_why").row();
        why.put("rule", culled_word(culled));
        match culled {
            Culled::WritesNothing | Culled::OptedOut => {}
            Culled::Unread(resource) | Culled::Overwritten(resource) => {
                why.put("resource", resource.index());
            }
            Culled::OnlyCulledReaders(resource, reader) => {
                why.put("resource", resource.index()).put("reader", reader);
            }
        }
        why.end();
    }
    if pass.why != Default::default() {
        let mut why = row.key("why").row();
        why.put("queue", queue_word(pass.why.queue)).put("after", index(pass.why.after));
        why.put("start_us", pass.why.start_us).put("duration_us", pass.why.duration_us).end();
    }
    if pass.declared.is_none() || !pass.accesses.is_empty() {
        row.key("accesses").list("    ", &plan.pass_accesses[pass.accesses.range()], access);
    }
    row.end();
}

fn stages(row: &mut Row<'_>, key: &str, stages: Stages) {
    row.put(key, words(stages.names()));
}

fn accesses(row: &mut Row<'_>, key: &str, access: Accesses) {
    row.put(key, words(access.names()));
}

fn access(sheet: &mut Sheet, access: &PlanAccess) {
    let mut row = sheet.row();
    row.put("resource", access.resource.index());
    stages(&mut row, "stages", access.stages);
    accesses(&mut row, "access", access.access);
    row.put("layout", access.layout.name()).put("mips", access.mips).put("layers", access.layers).end();
}

fn resource(sheet: &mut Sheet, plan: &Plan, id: ResourceId) {
    let resource = &plan.resources[id];
    let mut row = sheet.row();
    row.put("id", id.index()).put("name", plan.resource_name(id));
    row.put("kind", if matches!(resource.kind, PlanKind::Image { .. }) { "image" } else { "buffer" });
    row.put("bytes", resource.bytes);
    match resource.lifetime {
        Some([first, last]) => row.key("lifetime").row().put("first", first.index()).put("last", last.index()).end(),
        None => row.key("lifetime").text("null"),
    }
    let aliases = plan.aliases[resource.aliases.range()].iter();
    row.put("aliases", words(aliases.map(|alias| plan.resource_name(*alias))));
    row.put("sharing", resource.sharing.name()).put("life", life_word(resource.life));
    match resource.kind {
        PlanKind::Image { format, size, mips, layers, samples, volume, cube } => {
            row.put("format", format.name());
            row.put("size", if volume { &size[..] } else { &size[..2] });
            row.put("mips", mips).put("layers", layers).put("samples", samples).flag("cube", cube);
        }
        PlanKind::Buffer { size } => {
            row.put("size", size);
        }
    }
    row.flag("inserted", resource.inserted).flag("transient_attachment", resource.transient_attachment);
    row.some("memory_domain", resource.memory_domain.map(|domain| domain.name()));
    row.some("memory", (resource.memory != id).then(|| resource.memory.index()));
    row.some("ring", (resource.ring > 1).then_some(resource.ring));
    if let Some(remembers) = resource.remembers {
        row.key("remembers").row().put("of", remembers.of.index()).put("frames", remembers.frames).end();
    }
    row.some("usages", resource.usages.map(|usages| words(usages.names()))).end();
}

fn batch(sheet: &mut Sheet, plan: &Plan, id: BatchId, batch: &Batch) {
    sheet.row().put("id", id.index()).put("queue", index(batch.queue));
    sheet.key("      ", "waits");
    sheet.list("      ", &plan.waits[batch.waits.range()], |sheet, wait| {
        let mut row = sheet.row();
        row.put("queue", index(wait.queue)).put("value", wait.value);
        stages(&mut row, "stages", wait.stages);
        row.some("frame", wait.previous_run.then_some(-1)).end();
    });
    sheet.key("      ", "commands");
    sheet.list("      ", &plan.commands[batch.commands.range()], |sheet, command| self::command(sheet, plan, command));
    sheet.key("      ", "signals");
    sheet.list("      ", batch.signal, |sheet, value| {
        sheet.row().put("queue", index(batch.queue)).put("value", value).end();
    });
    sheet.text("}");
}

const INNER: &str = "          ";

fn command(sheet: &mut Sheet, plan: &Plan, command: &Command) {
    let mut row = sheet.row();
    match command {
        Command::Barriers(barriers) => {
            row.put("op", "barriers");
            dependency(&mut row, plan, barriers);
        }
        Command::SetEvent(event, barriers) => {
            row.put("op", "set_event").put("event", event.index());
            dependency(&mut row, plan, barriers);
        }
        Command::WaitEvents(event, barriers) => {
            row.put("op", "wait_events").put("event", event.index());
            dependency(&mut row, plan, barriers);
        }
        Command::BeginRendering { physical_pass, attachments } => {
            row.put("op", "begin_rendering").put("physical_pass", physical_pass.index());
            row.key("attachments")
                .list(INNER, &plan.attachments[attachments.range()], |sheet, one| attachment(sheet, plan, one));
        }
        Command::Pass { pass, layouts } => {
            row.put("op", "pass").put("pass", pass.index());
            row.key("layouts").list(INNER, &plan.layouts[layouts.range()], |sheet, found| {
                let mut row = sheet.row();
                row.put("resource", found.resource.index()).put("mips", found.mips).put("layers", found.layers);
                if plan.resources[found.resource].kind.aspects() != found.aspects {
                    aspects(&mut row, found.aspects);
                }
                row.put("layout", found.layout.name()).end();
            });
        }
        Command::EndRendering => {
            row.put("op", "end_rendering");
        }
    }
    row.end();
}

fn dependency(row: &mut Row<'_>, plan: &Plan, barriers: &Barriers) {
    row.flag("by_region", barriers.by_region);
    row.key("memory").list(INNER, &plan.memory_barriers[barriers.memory.range()], |sheet, barrier| {
        let mut row = sheet.row();
        scope(&mut row, &barrier.scope);
        why(&mut row, &barrier.why, None);
        row.end();
    });
    row.key("buffers").list(INNER, &plan.buffer_barriers[barriers.buffers.range()], |sheet, barrier| {
        let mut row = sheet.row();
        row.put("resource", barrier.resource.index()).put("range", barrier.range);
        scope(&mut row, &barrier.scope);
        families(&mut row, barrier.families);
        why(&mut row, &barrier.why, Some(barrier.resource));
        row.end();
    });
    row.key("images").list(INNER, &plan.image_barriers[barriers.images.range()], |sheet, barrier| {
        let mut row = sheet.row();
        row.put("resource", barrier.resource.index()).put("mips", barrier.mips).put("layers", barrier.layers);
        aspects(&mut row, barrier.aspects);
        scope(&mut row, &barrier.scope);
        row.put("old_layout", barrier.old_layout.name()).put("new_layout", barrier.new_layout.name());
        families(&mut row, barrier.families);
        why(&mut row, &barrier.why, Some(barrier.resource));
        row.end();
    });
}

fn aspects(row: &mut Row<'_>, aspects: Aspects) {
    row.put("aspects", words(aspects.names()));
}

fn scope(row: &mut Row<'_>, scope: &Scope) {
    stages(row, "src_stages", scope.src_stages);
    accesses(row, "src_access", scope.src_access);
    stages(row, "dst_stages", scope.dst_stages);
    accesses(row, "dst_access", scope.dst_access);
}

fn families(row: &mut Row<'_>, families: Option<[u32; 2]>) {
    row.put("src_queue", families.map(|[source, _]| source)).put("dst_queue", families.map(|[_, target]| target));
}

fn why(row: &mut Row<'_>, why: &Why, own: Option<ResourceId>) {
    let mut inner = row.key("why").row();
    inner.put("hazard", hazard_word(why.hazard)).some("from", index(why.from)).some("to", index(why.to));
    inner.some("resource", (own != Some(why.resource)).then(|| why.resource.index())).end();
}

fn attachment(sheet: &mut Sheet, plan: &Plan, attachment: &Attachment) {
    let mut row = sheet.row();
    row.put("resource", attachment.resource.index()).put("mip", attachment.mip).put("layers", attachment.layers);
    if plan.resources[attachment.resource].kind.aspects() != attachment.aspects {
        aspects(&mut row, attachment.aspects);
    }
    row.put("load", attachment.load.name()).put("store", attachment.store.name());
    row.some("stencil_load", attachment.stencil.map(|(load, _)| load.name()));
    row.some("stencil_store", attachment.stencil.map(|(_, store)| store.name()));
    if let Some(value) = attachment.clear {
        clear(row.key("clear"), value);
    }
    row.some("resolve_to", index(attachment.resolve_to)).flag("input", attachment.input).end();
}

fn memory(sheet: &mut Sheet, plan: &Plan) {
    let memory = &plan.memory;
    sheet.key("  ", "memory");
    sheet.text("{\n    \"heaps\": ");
    sheet.list("    ", memory.heaps.iter_ids(), |sheet, (id, heap)| {
        sheet.row().put("id", id.index()).put("type", &heap.memory_type).put("size", heap.size).end();
    });
    sheet.key("    ", "placements");
    sheet.list("    ", &memory.placements, |sheet, place| {
        let mut row = sheet.row();
        row.put("resource", place.resource.index()).put("heap", place.heap.index());
        row.put("offset", place.offset).put("size", place.size).end();
    });
    sheet.line("    ", "total", &memory.total);
    sheet.line("    ", "without_aliasing", &memory.without_aliasing);
    sheet.line("    ", "lower_bound", &memory.lower_bound);
    sheet.text("}");
}

fn edge(sheet: &mut Sheet, edge: &Edge) {
    let mut row = sheet.row();
    row.put("resource", edge.resource.index()).put("mips", edge.mips).put("layers", edge.layers);
    aspects(&mut row, edge.aspects);
    row.put("range", edge.range);
    state(row.key("entry"), &edge.entry);
    state(row.key("exit"), &edge.exit);
    row.end();
}

fn state(sheet: &mut Sheet, state: &EdgeState) {
    let EdgeState { queue, stages: at, access, layout } = *state;
    let mut row = sheet.row();
    row.put("queue", index::<QueueId>(queue));
    stages(&mut row, "stages", at);
    accesses(&mut row, "access", access);
    row.put("layout", Layout::name(layout)).end();
}

fn report(sheet: &mut Sheet, report: &Report, timings: bool) {
    sheet.key("  ", "report");
    let mut row = sheet.row();
    if let Some(times) = report.bake_us.filter(|_| timings) {
        let mut inner = row.key("bake_us").row();
        inner.put("validate", times.validate).put("cull", times.cull).put("schedule", times.schedule);
        inner.put("merge", times.merge).put("alias", times.alias).put("synchronize", times.synchronize).end();
    }
    row.put("barriers", report.barriers).put("submits", report.submits).put("frame_us", report.frame_us);
    row.some("one_queue_us", report.one_queue_us);
    if let Some(bound) = report.bound {
        row.put("bound_us", bound.us).put("critical_path_us", bound.critical_path_us).put("load_us", bound.load_us);
        row.put("critical_path", report.critical_path.iter().map(|pass| pass.index()).collect::<Vec<_>>());
    }
    row.some("policy", Some(report.policy).filter(|policy| !policy.is_empty())).flag("optimal", report.optimal);
    match report.memory {
        Some(MemoryBudget::Bytes(bytes)) => row.put("memory", bytes),
        named => row.some("memory", named.and_then(MemoryBudget::name)),
    };
    row.put("notes", &report.notes).end();
}
