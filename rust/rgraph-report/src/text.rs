//! The text listing of a plan: what runs where, in which order, behind which barriers and waits, where things are in
//! memory, what does not run and why. Lines are at most 100 columns wide where the names in them allow it.

use std::fmt::Write;

use rgraph_ir::access::{Layout, Load, Store};
use rgraph_ir::graph::Clear;
use rgraph_ir::id::Id;
use rgraph_ir::plan::{
    Attachment, Barriers, Batch, BatchId, BufferBarrier, Command, Edge, EdgeState, ImageBarrier, MemoryBarrier, Plan,
    PlanKind, PlanLife, PlanPassId, Scope, Wait,
};
use rgraph_ir::resource::ResourceId;
use rgraph_ir::words::{
    Positions, access_phrase, bytes_phrase, culled_sentence, hazard_sentence, layout_phrase, plain, queue_label,
    quoted, stages_phrase, time_phrase, unmerged_sentence,
};

/// Widest line, where names allow it.
const COLUMNS: usize = 100;

/// The listing of a whole plan, ending in a line break. O(plan + placements²) in the worst case of aliasing.
pub fn listing(plan: &Plan) -> String {
    let mut out = String::new();
    header(&mut out, plan);
    for (id, batch) in plan.batches.iter_ids() {
        self::batch(&mut out, plan, id, batch);
    }
    memory(&mut out, plan);
    outside(&mut out, plan);
    culled(&mut out, plan);
    unmerged(&mut out, plan);
    subgraphs(&mut out, plan);
    at_once(&mut out, plan);
    packets(&mut out, plan);
    copies(&mut out, plan);
    if !plan.report.notes.is_empty() {
        out.push_str("\nnotes\n");
        for note in &plan.report.notes {
            folded(&mut out, &plain(note));
        }
    }
    out
}

/// A sentence on lines of at most 100 columns (unless a word is longer), the first one indented by two.
fn folded(out: &mut String, text: &str) {
    let mut at = String::from("  ");
    for word in text.split(' ') {
        if at.trim_start().is_empty() || at.chars().count() + word.chars().count() < 100 {
            at += word;
        } else {
            line(out, format_args!("{}", at.trim_end()));
            at = format!("    {word}");
        }
        at.push(' ');
    }
    line(out, format_args!("{}", at.trim_end()));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing into memory does not fail");
    let end = out.trim_end_matches(' ').len();
    out.truncate(end);
    out.push('\n');
}

/// Parts of one entry, as many on a line as fit, the further lines indented.
fn entry<S: AsRef<str>>(out: &mut String, indent: usize, parts: &[S]) {
    let (mut text, mut margin) = (String::new(), indent);
    for part in parts.iter().map(AsRef::as_ref).filter(|part| !part.is_empty()) {
        let width = margin + text.chars().count() + 2 + part.chars().count();
        if !text.is_empty() && width > COLUMNS {
            line(out, format_args!("{:margin$}{text}", ""));
            text.clear();
            margin = indent + 4;
        }
        if !text.is_empty() {
            text.push_str("  ");
        }
        text.push_str(part);
    }
    line(out, format_args!("{:margin$}{text}", ""));
}

/// `shares with 'a', 'b', 'c'` in parts that each fit on a line.
fn enumeration<'n>(title: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    const PART: usize = COLUMNS * 3 / 4;
    let mut parts: Vec<String> = Vec::new();
    for name in names.map(quoted) {
        match parts.last_mut() {
            None => parts.push(format!("{title} {name}")),
            Some(part) => {
                part.push(',');
                if part.chars().count() + 1 + name.chars().count() <= PART {
                    part.push(' ');
                    part.push_str(&name);
                } else {
                    parts.push(name);
                }
            }
        }
    }
    parts
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn header(out: &mut String, plan: &Plan) {
    let live = plan.live().count();
    line(out, format_args!("plan {} for {}", quoted(&plan.graph), quoted(&plan.profile)));
    let figures = [
        format!("{live} of {}", counted(plan.passes.len(), "pass", "passes")),
        counted(plan.queues.len(), "queue", "queues"),
        counted(plan.batches.len(), "batch", "batches"),
        counted(plan.report.barriers as usize, "barrier call", "barrier calls"),
        counted(plan.report.submits as usize, "submit", "submits"),
    ];
    line(out, format_args!("  {}", figures.join(" · ")));
    let memory = &plan.memory;
    line(
        out,
        format_args!(
            "  memory {} · bound {} · {} without aliasing",
            bytes_phrase(memory.total),
            bytes_phrase(memory.lower_bound),
            bytes_phrase(memory.without_aliasing)
        ),
    );
    if !plan.report.policy.is_empty() {
        let optimal = if plan.report.optimal { ", proven optimal" } else { "" };
        let time = time_phrase(plan.report.frame_us);
        let alone =
            plan.report.one_queue_us.map_or_else(String::new, |us| format!(", {} on one queue", time_phrase(us)));
        let bound = plan.report.bound.map_or_else(String::new, |bound| format!(" · bound {}", time_phrase(bound.us)));
        let policy = plan.report.policy;
        line(out, format_args!("  schedule {policy}{optimal} · frame {time} (modelled){alone}{bound}"));
    }
    if let Some(times) = plan.report.bake_us {
        let stages = [
            ("validate", times.validate),
            ("cull", times.cull),
            ("schedule", times.schedule),
            ("merge", times.merge),
            ("alias", times.alias),
            ("synchronize", times.synchronize),
        ];
        let total: f64 = stages.iter().map(|(_, time)| time).sum();
        let parts: Vec<String> = stages.iter().map(|(name, time)| format!("{name} {time:.1}")).collect();
        line(out, format_args!("  baked in {total:.1} µs: {}", parts.join(", ")));
    }
}

fn batch(out: &mut String, plan: &Plan, id: BatchId, batch: &Batch) {
    out.push('\n');
    line(out, format_args!("batch {} on {}", id.index(), plain(&queue_label(plan, batch.queue))));
    for wait in &plan.waits[batch.waits.range()] {
        line(out, format_args!("  wait for {}", wait_text(plan, wait)));
    }
    let points = || plan.foreign.iter().filter(|point| point.batch == id);
    for (point, stages) in points().filter_map(|point| Some((point, point.wait?))) {
        let stages = stages.names().collect::<Vec<_>>().join(" | ");
        let name = plain(plan.resource_name(point.resource));
        line(out, format_args!("  wait for the other user of {name} at {stages}"));
    }
    let commands = &plan.commands[batch.commands.range()];
    let names = commands.iter().filter_map(|command| match command {
        Command::Pass { pass, .. } => Some(plain(plan.pass_name(*pass)).chars().count()),
        _ => None,
    });
    let width = names.max().unwrap_or(0).min(COLUMNS / 2);
    let mut depth = 2;
    for command in commands {
        match command {
            Command::Barriers(barriers) => {
                let region = if barriers.by_region { " by region" } else { "" };
                dependency(out, plan, depth, &format!("barriers{region}"), barriers);
            }
            Command::SetEvent(event, barriers) => {
                dependency(out, plan, depth, &format!("set event {}", event.index()), barriers);
            }
            Command::WaitEvents(event, _) => line(out, format_args!("{:depth$}wait for event {}", "", event.index())),
            Command::BeginRendering { physical_pass, attachments } => {
                line(out, format_args!("{:depth$}render pass {}", "", physical_pass.index()));
                for attachment in &plan.attachments[attachments.range()] {
                    line(out, format_args!("    {}", attachment_text(plan, attachment)));
                }
                depth = 4;
            }
            Command::EndRendering => depth = 2,
            Command::Pass { pass, .. } => self::pass(out, plan, *pass, depth, width),
        }
    }
    if let Some(value) = batch.signal {
        line(out, format_args!("  signal {} {value}", plain(&queue_label(plan, batch.queue))));
    }
    for point in points().filter(|point| point.wait.is_none()) {
        line(out, format_args!("  signal the other user of {}", plain(plan.resource_name(point.resource))));
    }
}

fn pass(out: &mut String, plan: &Plan, id: PlanPassId, depth: usize, width: usize) {
    let pass = &plan.passes[id];
    let name = plain(plan.pass_name(id));
    let (start, duration) = (pass.why.start_us, pass.why.duration_us);
    let mut remark = String::new();
    if start != 0.0 || duration != 0.0 {
        remark = format!("{duration:8.1} µs from {start:.1}");
    }
    if pass.declared.is_none() {
        remark.push_str("  inserted");
    }
    line(out, format_args!("{:depth$}▸ {name:width$}  {remark}", ""));
}

fn operation(load: Load, store: Store) -> String {
    let store = match store {
        Store::Store => "store",
        Store::Discard => "discard",
        Store::Nothing => "keep",
    };
    format!("{load} → {store}")
}

/// An attachment with what becomes of its contents.
pub(super) fn attachment_text(plan: &Plan, attachment: &Attachment) -> String {
    let part = part_of_image(plan, attachment.resource, [attachment.mip, attachment.mip + 1], attachment.layers);
    let name = plain(plan.resource_name(attachment.resource));
    let mut text = format!("{name}{part}: {}", operation(attachment.load, attachment.store));
    if let Some((load, store)) = attachment.stencil {
        write!(text, ", stencil {}", operation(load, store)).expect("memory");
    }
    match attachment.clear {
        Some(Clear::Color([r, g, b, a])) => write!(text, ", clear to {r} {g} {b} {a}"),
        Some(Clear::Depth(depth, None)) => write!(text, ", clear to {depth}"),
        Some(Clear::Depth(depth, Some(stencil))) => write!(text, ", clear to {depth} and {stencil}"),
        None => Ok(()),
    }
    .expect("memory");
    if let Some(target) = attachment.resolve_to {
        write!(text, ", resolved to {}", quoted(plan.resource_name(target))).expect("memory");
    }
    if attachment.input {
        text.push_str(", input");
    }
    text
}

/// What a batch waits for.
pub(super) fn wait_text(plan: &Plan, wait: &Wait) -> String {
    let run = if wait.previous_run { " of the run before" } else { "" };
    let queue = queue_label(plan, wait.queue);
    format!("{} {}{run}, at {}", plain(&queue), wait.value, stages_phrase(wait.stages))
}

/// `[mips 1..3, layers 0..2]` where it is not the whole image.
pub(super) fn part_of_image(plan: &Plan, resource: ResourceId, mips: [u32; 2], layers: [u32; 2]) -> String {
    let PlanKind::Image { mips: all_mips, layers: all_layers, .. } = plan.resources[resource].kind else {
        return String::new();
    };
    let range = |what: &str, [first, end]: [u32; 2], all: u32| match (first, end) {
        (0, end) if end == all => None,
        (first, end) if end == first + 1 => Some(format!("{what} {first}")),
        (first, end) => Some(format!("{what}s {first}..{end}")),
    };
    let parts: Vec<String> =
        [range("mip", mips, all_mips), range("layer", layers, all_layers)].into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("[{}]", parts.join(", ")) }
}

fn dependency(out: &mut String, plan: &Plan, depth: usize, title: &str, barriers: &Barriers) {
    line(out, format_args!("{:depth$}{title}", ""));
    for_each_barrier(plan, barriers, |_, parts, why| {
        entry(out, depth + 2, &[&parts[0], &parts[1], &parts[2], &why]);
    });
}

fn scope_text(scope: &Scope) -> String {
    format!("({} → {})", stages_phrase(scope.src_stages), stages_phrase(scope.dst_stages))
}

fn families_text(families: Option<[u32; 2]>) -> String {
    families.map_or_else(String::new, |[source, target]| format!("family {source} → {target}"))
}

/// Calls `each` with every barrier of a call: the pass on its later side, what it does, and what it is for.
fn for_each_barrier(plan: &Plan, call: &Barriers, mut each: impl FnMut(Option<PlanPassId>, [String; 3], String)) {
    for MemoryBarrier { scope, why } in &plan.memory_barriers[call.memory.range()] {
        let parts = ["memory".to_owned(), scope_text(scope), String::new()];
        each(why.to, parts, hazard_sentence(plan, why, None));
    }
    for barrier in &plan.buffer_barriers[call.buffers.range()] {
        let parts = [buffer_text(plan, barrier), scope_text(&barrier.scope), families_text(barrier.families)];
        each(barrier.why.to, parts, hazard_sentence(plan, &barrier.why, Some(barrier.resource)));
    }
    for barrier in &plan.image_barriers[call.images.range()] {
        let parts = [image_text(plan, barrier), scope_text(&barrier.scope), families_text(barrier.families)];
        each(barrier.why.to, parts, hazard_sentence(plan, &barrier.why, Some(barrier.resource)));
    }
}

/// The bytes that a buffer barrier is for.
fn buffer_text(plan: &Plan, barrier: &BufferBarrier) -> String {
    let whole =
        matches!(plan.resources[barrier.resource].kind, PlanKind::Buffer { size } if barrier.range == [0, size]);
    let [first, end] = barrier.range;
    let part = if whole { String::new() } else { format!("[{first}..{end}]") };
    format!("{}{part}", plain(plan.resource_name(barrier.resource)))
}

/// The part of an image that a barrier is for, and its layouts.
fn image_text(plan: &Plan, barrier: &ImageBarrier) -> String {
    let mut part = part_of_image(plan, barrier.resource, barrier.mips, barrier.layers);
    if let PlanKind::Image { format, .. } = plan.resources[barrier.resource].kind
        && barrier.aspects != format.aspects()
    {
        write!(part, "[{}]", barrier.aspects.names().collect::<Vec<_>>().join(", ")).expect("memory");
    }
    let name = plain(plan.resource_name(barrier.resource));
    if barrier.old_layout == barrier.new_layout {
        format!("{name}{part}: stays {}", layout_phrase(barrier.new_layout))
    } else {
        format!("{name}{part}: {} → {}", layout_phrase(barrier.old_layout), layout_phrase(barrier.new_layout))
    }
}

/// A barrier of a plan in words.
pub(super) struct BarrierText {
    /// The pass on its later side.
    pub(super) to: Option<PlanPassId>,
    /// What it does.
    pub(super) text: String,
    /// What it is for.
    pub(super) why: String,
}

/// All barriers of a plan in order; a split one once.
pub(super) fn all_barriers(plan: &Plan) -> Vec<BarrierText> {
    let mut all = Vec::new();
    for command in &plan.commands {
        let (Command::Barriers(call) | Command::SetEvent(_, call)) = command else { continue };
        for_each_barrier(plan, call, |to, parts, why| {
            let parts = parts.iter().filter(|part| !part.is_empty());
            let text = parts.map(String::as_str).collect::<Vec<_>>().join("  ");
            all.push(BarrierText { to, text, why });
        });
    }
    all
}

/// `'gbuffer' to 'fog'`, or the one pass that uses it.
pub(super) fn lifetime_text(plan: &Plan, resource: ResourceId) -> String {
    match plan.resources[resource].lifetime {
        None => "unused".to_owned(),
        Some([first, last]) if first == last => quoted(plan.pass_name(first)),
        Some([first, last]) => format!("{} to {}", quoted(plan.pass_name(first)), quoted(plan.pass_name(last))),
    }
}

fn memory(out: &mut String, plan: &Plan) {
    if plan.memory.placements.is_empty() {
        return;
    }
    out.push_str("\nmemory\n");
    let widest = |texts: &mut dyn Iterator<Item = usize>, most: usize| texts.max().unwrap_or(0).min(most);
    let names = |resource: ResourceId| plain(plan.resource_name(resource)).chars().count();
    let name_width = widest(&mut plan.memory.placements.iter().map(|place| names(place.resource)), 32);
    let life = |resource: ResourceId| {
        let kept = if plan.resources[resource].life == PlanLife::Root { ", kept" } else { "" };
        format!("{}{kept}", lifetime_text(plan, resource))
    };
    let lives: Vec<String> = plan.memory.placements.iter().map(|place| life(place.resource)).collect();
    let life_width = widest(&mut lives.iter().map(|life| life.chars().count()), 40);
    for (id, heap) in plan.memory.heaps.iter_ids() {
        line(out, format_args!("  heap {} {} · {}", id.index(), plain(&heap.memory_type), bytes_phrase(heap.size)));
        let mut inside: Vec<usize> =
            (0..plan.memory.placements.len()).filter(|at| plan.memory.placements[*at].heap == id).collect();
        inside.sort_by_key(|at| (plan.memory.placements[*at].offset, plan.memory.placements[*at].resource));
        for at in inside {
            let place = &plan.memory.placements[at];
            let resource = &plan.resources[place.resource];
            let life = &lives[at];
            let name = plain(plan.resource_name(place.resource));
            let size = bytes_phrase(place.size);
            let mut parts = vec![format!("{:#010x}  {size:>9}  {name:name_width$}", place.offset)];
            let aliases = plan.aliases[resource.aliases.range()].iter().map(|other| plan.resource_name(*other));
            parts.push(if resource.aliases.is_empty() { life.clone() } else { format!("{life:life_width$}") });
            parts.extend(enumeration("shares with", aliases));
            entry(out, 4, &parts);
        }
    }
}

fn outside(out: &mut String, plan: &Plan) {
    if plan.edges.is_empty() {
        return;
    }
    out.push_str("\nfrom and to outside the frame\n");
    for edge in &plan.edges {
        entry(out, 2, &edge_text(plan, edge));
    }
}

/// How part of a resource enters the frame, and how it leaves it.
pub(super) fn edge_text(plan: &Plan, edge: &Edge) -> [String; 2] {
    let name = plain(plan.resource_name(edge.resource));
    let part = match plan.resources[edge.resource].kind {
        PlanKind::Image { .. } => part_of_image(plan, edge.resource, edge.mips, edge.layers),
        PlanKind::Buffer { size } if edge.range == [0, size] => String::new(),
        PlanKind::Buffer { .. } => format!("[{}..{}]", edge.range[0], edge.range[1]),
    };
    let entry = format!("{name}{part}: enters {}", state_text(plan, edge, &edge.entry));
    [entry, format!("leaves {}", state_text(plan, edge, &edge.exit))]
}

fn state_text(plan: &Plan, edge: &Edge, state: &EdgeState) -> String {
    let queue = queue_label(plan, state.queue);
    let image = matches!(plan.resources[edge.resource].kind, PlanKind::Image { .. });
    let layout = if image && state.layout != Layout::Undefined {
        format!(" as {}", layout_phrase(state.layout))
    } else {
        String::new()
    };
    format!("{}{layout} ({}: {})", plain(&queue), stages_phrase(state.stages), access_phrase(state.access))
}

fn culled(out: &mut String, plan: &Plan) {
    let positions = Positions::new(plan);
    let culled: Vec<_> = plan.culled().collect();
    if culled.is_empty() {
        return;
    }
    out.push_str("\nculled\n");
    let names = culled.iter().map(|(pass, _)| plain(plan.pass_name(*pass)).chars().count());
    let width = names.max().unwrap_or(0).min(32);
    for (pass, why) in culled {
        let name = plain(plan.pass_name(pass));
        entry(out, 2, &[format!("{name:width$}"), culled_sentence(plan, &positions, why)]);
    }
}

fn unmerged(out: &mut String, plan: &Plan) {
    if plan.unmerged.is_empty() {
        return;
    }
    out.push_str("\nnot merged\n");
    for pair in &plan.unmerged {
        let names = [pair.first, pair.second].map(|pass| quoted(plan.pass_name(pass)));
        entry(out, 2, &[format!("{} and {}:", names[0], names[1]), unmerged_sentence(plan, pair.reason)]);
    }
}

fn subgraphs(out: &mut String, plan: &Plan) {
    if plan.subgraphs.len() < 2 {
        return;
    }
    out.push_str("\nindependent parts\n");
    for part in &plan.subgraphs {
        let passes = counted(part.passes.len(), "pass", "passes");
        let roots = plan.subgraph_roots[part.roots.range()].iter().map(|root| plan.resource_name(*root));
        let mut parts = vec![format!("{:016x}  {passes}", part.key)];
        parts.extend(enumeration("for", roots));
        entry(out, 2, &parts);
    }
}

/// Sets of more than one pass, numbered as in [`Plan::set_of`].
fn at_once(out: &mut String, plan: &Plan) {
    if plan.sets.iter().all(|set| set.passes.len() < 2) {
        return;
    }
    out.push_str("\nmay run at once\n");
    let first_of_gpu = plan.sets.iter().position(|set| !set.cpu).unwrap_or(0);
    for (at, set) in plan.sets.iter().enumerate().filter(|(_, set)| set.passes.len() > 1) {
        let (on, number) = if set.cpu { ("cpu", at) } else { ("gpu", at - first_of_gpu) };
        let passes = plan.set_passes[set.passes.range()].iter().map(|pass| plan.pass_name(*pass));
        entry(out, 2, &enumeration(&format!("{on} {number}"), passes));
    }
}

fn packets(out: &mut String, plan: &Plan) {
    if plan.packets.is_empty() {
        return;
    }
    out.push_str("\npackets sorted together\n");
    for (at, group) in plan.packets.iter().enumerate() {
        let passes = plan.packet_passes[group.range()].iter().map(|pass| plan.pass_name(*pass));
        entry(out, 2, &enumeration(&format!("group {at}"), passes));
    }
}

fn copies(out: &mut String, plan: &Plan) {
    if plan.copies.is_empty() {
        return;
    }
    out.push_str("\ncopies\n");
    for copy in &plan.copies {
        let [from, to] = [copy.from, copy.to].map(|resource| quoted(plan.resource_name(resource)));
        entry(out, 2, &[format!("{}:", quoted(plan.pass_name(copy.pass))), format!("{from} to {to}")]);
    }
}
