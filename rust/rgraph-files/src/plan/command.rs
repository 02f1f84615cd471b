//! Reading batches: waits, commands, signals.

use super::keys;
use super::read::{Counts, own_id, subresource};
use crate::graph::read_clear;
use crate::json::{Fields, Node, Word};
use rgraph_ir::access::{Accesses, Aspects, Layout, Load, Stages, Store};
use rgraph_ir::error::Code;
use rgraph_ir::id::Span;
use rgraph_ir::plan::{
    Attachment, Barriers, Batch, BufferBarrier, Command, Hazard, ImageBarrier, MemoryBarrier, PassLayout, Plan,
    PlanKind, QueueId, Scope, Wait, Why,
};
use rgraph_ir::resource::ResourceId;

/// What a command does.
#[derive(Clone, Copy)]
enum Op {
    Barriers,
    BeginRendering,
    Pass,
    EndRendering,
    SetEvent,
    WaitEvents,
}

const OPS: [(&str, Op); 6] = [
    ("barriers", Op::Barriers),
    ("begin_rendering", Op::BeginRendering),
    ("pass", Op::Pass),
    ("end_rendering", Op::EndRendering),
    ("set_event", Op::SetEvent),
    ("wait_events", Op::WaitEvents),
];

impl Word for Op {
    const WHAT: &'static str = "a command";
    fn from_text(text: &str) -> Option<Self> {
        OPS.iter().find(|(word, _)| *word == text).map(|(_, op)| *op)
    }
    fn words() -> Vec<&'static str> {
        OPS.iter().map(|(word, _)| *word).collect()
    }
}

/// A batch; what it points to is appended to the plan.
pub(super) fn batch(node: Node<'_, '_>, index: usize, counts: &Counts, plan: &mut Plan) -> Option<Batch> {
    let fields = node.fields(&keys::BATCH)?;
    own_id(&fields, index);
    let queue = fields.get("queue").map_or(Some(None), |queue| queue.id(counts.queues, "queues").map(Some));
    let first_wait = plan.waits.len();
    if let Some(waits) = fields.get("waits") {
        waits.elements(" of waits", |_, node| plan.waits.extend(wait(node, counts)));
    }
    let first_command = plan.commands.len();
    if let Some(commands) = fields.get("commands") {
        commands.elements(" of commands", |_, node| {
            let command = command(node, counts, plan);
            plan.commands.extend(command);
        });
    }
    let mut signal = None;
    if let Some(signals) = fields.get("signals") {
        signals.elements(" of signals", |index, node| {
            if index > 0 {
                node.mistake(Code::BadFile, "is a second signal", "a batch signals its own queue, at most once");
            }
            signal = signal.or(read_signal(node, counts, queue.unwrap_or_default()));
        });
    }
    let waits = Span::new(first_wait, plan.waits.len());
    Some(Batch { queue: queue?, waits, commands: Span::new(first_command, plan.commands.len()), signal })
}

fn wait(node: Node<'_, '_>, counts: &Counts) -> Option<Wait> {
    let fields = node.fields(&keys::WAIT)?;
    let queue = fields.get("queue").map_or(Some(None), |queue| queue.id(counts.queues, "queues").map(Some));
    let value = fields.get("value").and_then(|value| value.u32());
    let stages = fields.get("stages").and_then(|stages| stages.joined());
    let previous_run = fields.get("frame").map_or(Some(false), |frame| match frame.found().as_str() {
        "-1" => Some(true),
        "0" => Some(false),
        _ => {
            frame.wrong("-1 or 0");
            None
        }
    });
    Some(Wait { queue: queue?, value: value?, stages: stages?, previous_run: previous_run? })
}

fn read_signal(node: Node<'_, '_>, counts: &Counts, own: Option<QueueId>) -> Option<u32> {
    let fields = node.fields(&keys::SIGNAL)?;
    let queue = fields.get("queue").map_or(Some(None), |queue| queue.id(counts.queues, "queues").map(Some))?;
    if queue != own {
        node.mistake(Code::BadFile, "signals another queue than its batch's", "a batch signals its own queue");
    }
    fields.get("value").and_then(|value| value.u32())
}

fn command(node: Node<'_, '_>, counts: &Counts, plan: &mut Plan) -> Option<Command> {
    let mut op = None;
    node.entries(": a command", |key, value| {
        if key == "op" && op.is_none() {
            op = Some(value.word::<Op>());
        }
    })?;
    let Some(op) = op else {
        node.mistake(Code::BadFile, "has no \"op\"", "");
        return None;
    };
    match op? {
        Op::Barriers => {
            let fields = node.fields(&keys::BARRIERS)?;
            let mut barriers = dependency(&fields, counts, plan);
            barriers.by_region = fields.flag("by_region");
            Some(Command::Barriers(barriers))
        }
        Op::SetEvent => {
            let fields = node.fields(&keys::SET_EVENT)?;
            let event = fields.get("event")?.id(counts.commands, "commands")?;
            Some(Command::SetEvent(event, dependency(&fields, counts, plan)))
        }
        Op::WaitEvents => {
            let fields = node.fields(&keys::WAIT_EVENTS)?;
            let event = fields.get("event")?.id(counts.commands, "commands")?;
            Some(Command::WaitEvents(event, dependency(&fields, counts, plan)))
        }
        Op::BeginRendering => {
            let fields = node.fields(&keys::BEGIN)?;
            let physical_pass = fields.get("physical_pass")?.id(counts.passes, "passes")?;
            let start = plan.attachments.len();
            if let Some(list) = fields.get("attachments") {
                list.elements(" of attachments", |_, node| {
                    let attachment = attachment(node, counts, plan);
                    plan.attachments.extend(attachment);
                });
            }
            let attachments = Span::new(start, plan.attachments.len());
            Some(Command::BeginRendering { physical_pass, attachments })
        }
        Op::Pass => {
            let fields = node.fields(&keys::PASS_COMMAND)?;
            let pass = fields.get("pass")?.id(counts.passes, "passes")?;
            let start = plan.layouts.len();
            if let Some(list) = fields.get("layouts") {
                list.elements(" of layouts", |_, node| {
                    let layout = layout(node, counts, plan);
                    plan.layouts.extend(layout);
                });
            }
            Some(Command::Pass { pass, layouts: Span::new(start, plan.layouts.len()) })
        }
        Op::EndRendering => node.fields(&keys::END).map(|_| Command::EndRendering),
    }
}

fn dependency<const N: usize>(fields: &Fields<'_, '_, N>, counts: &Counts, plan: &mut Plan) -> Barriers {
    let starts = [plan.memory_barriers.len(), plan.buffer_barriers.len(), plan.image_barriers.len()];
    if let Some(list) = fields.get("memory") {
        list.elements(" of barriers", |_, node| plan.memory_barriers.extend(memory_barrier(node, counts)));
    }
    if let Some(list) = fields.get("buffers") {
        list.elements(" of barriers", |_, node| {
            let barrier = buffer_barrier(node, counts, plan);
            plan.buffer_barriers.extend(barrier);
        });
    }
    if let Some(list) = fields.get("images") {
        list.elements(" of barriers", |_, node| {
            let barrier = image_barrier(node, counts, plan);
            plan.image_barriers.extend(barrier);
        });
    }
    Barriers {
        memory: Span::new(starts[0], plan.memory_barriers.len()),
        buffers: Span::new(starts[1], plan.buffer_barriers.len()),
        images: Span::new(starts[2], plan.image_barriers.len()),
        by_region: false,
    }
}

fn scope<const N: usize>(fields: &Fields<'_, '_, N>) -> Option<Scope> {
    let stages = |key| fields.get(key).and_then(|stages| stages.joined::<Stages>());
    let access = |key| fields.get(key).and_then(|access| access.joined::<Accesses>());
    let scope = (stages("src_stages"), access("src_access"), stages("dst_stages"), access("dst_access"));
    Some(Scope { src_stages: scope.0?, src_access: scope.1?, dst_stages: scope.2?, dst_access: scope.3? })
}

/// Queue families between which ownership passes: both or none.
fn families<const N: usize>(fields: &Fields<'_, '_, N>) -> Option<Option<[u32; 2]>> {
    let family = |key| fields.get(key).map_or(Some(None), |family| family.u32().map(Some));
    match (family("src_queue")?, family("dst_queue")?) {
        (Some(source), Some(target)) => Some(Some([source, target])),
        (None, None) => Some(None),
        _ => {
            let help = "give both families, or null for both";
            fields.node().mistake(Code::BadFile, "has one of src_queue and dst_queue", help);
            None
        }
    }
}

/// Why a barrier is there; where the file does not say, what its scopes and layouts show.
fn why<const N: usize>(
    fields: &Fields<'_, '_, N>,
    counts: &Counts,
    own: Option<ResourceId>,
    shown: Hazard,
) -> Option<Why> {
    let node = fields.get("why");
    let inner = match node.as_ref() {
        Some(node) => Some(node.fields(&keys::WHY)?),
        None => None,
    };
    let (mut hazard, mut from, mut to, mut resource) = (shown, None, None, own);
    if let Some(inner) = &inner {
        let pass = |key| inner.get(key).map_or(Some(None), |pass| pass.id(counts.passes, "passes").map(Some));
        hazard = inner.get("hazard").map_or(Some(shown), |hazard| hazard.word())?;
        (from, to) = (pass("from")?, pass("to")?);
        if let Some(id) = inner.get("resource") {
            resource = Some(id.id(counts.resources, "resources")?);
        }
    }
    if resource.is_none() && counts.resources == 0 {
        fields.node().mistake(Code::BadFile, "is a barrier in a plan without resources", "");
        return None;
    }
    let resource = resource.unwrap_or_else(|| rgraph_ir::id::Id::new(0));
    Some(Why { hazard, from, to, resource })
}

/// The hazard that scopes show by themselves.
fn hazard(scope: &Scope) -> Hazard {
    let (wrote, writes) =
        (scope.src_access.intersects(Accesses::WRITES), scope.dst_access.intersects(Accesses::WRITES));
    match (wrote, writes) {
        (true, true) => Hazard::WriteAfterWrite,
        (false, true) => Hazard::WriteAfterRead,
        _ => Hazard::ReadAfterWrite,
    }
}

fn memory_barrier(node: Node<'_, '_>, counts: &Counts) -> Option<MemoryBarrier> {
    let fields = node.fields(&keys::MEMORY_BARRIER)?;
    let scope = scope(&fields)?;
    Some(MemoryBarrier { scope, why: why(&fields, counts, None, hazard(&scope))? })
}

fn buffer_barrier(node: Node<'_, '_>, counts: &Counts, plan: &Plan) -> Option<BufferBarrier> {
    let fields = node.fields(&keys::BUFFER_BARRIER)?;
    let resource: ResourceId = fields.get("resource").and_then(|id| id.id(counts.resources, "resources"))?;
    let PlanKind::Buffer { size } = plan.resources[resource].kind else {
        fields.node().mistake(Code::BadFile, "is a buffer barrier for an image", "");
        return None;
    };
    let most = size.max(plan.resources[resource].bytes);
    let range = fields.get("range").map_or(Some([0, size]), |node| {
        let range = node.range(u64::MAX)?;
        if range[0] >= range[1] || range[1] > most {
            let problem = format!("is [{}, {}], but must be a range in [0, {most}] of bytes", range[0], range[1]);
            node.mistake(Code::BadRange, problem, "");
            return None;
        }
        Some(range)
    });
    let (scope, families) = (scope(&fields), families(&fields));
    let (scope, range, families) = (scope?, range?, families?);
    let why = why(&fields, counts, Some(resource), hazard(&scope))?;
    Some(BufferBarrier { resource, range, scope, families, why })
}

/// Aspects of an image; all by default.
fn aspects<const N: usize>(fields: &Fields<'_, '_, N>, image: ResourceId, plan: &Plan) -> Option<Aspects> {
    let PlanKind::Image { format, .. } = plan.resources[image].kind else { return None };
    fields.get("aspects").map_or(Some(format.aspects()), |node| {
        let aspects: Aspects = node.joined()?;
        if aspects.is_empty() || !format.aspects().contains(aspects) {
            let has = format.aspects().names().collect::<Vec<_>>().join(" and ");
            node.mistake(Code::BadRange, format_args!("are not aspects of {format}, which has {has}"), "");
            return None;
        }
        Some(aspects)
    })
}

fn image_barrier(node: Node<'_, '_>, counts: &Counts, plan: &Plan) -> Option<ImageBarrier> {
    let fields = node.fields(&keys::IMAGE_BARRIER)?;
    let resource: ResourceId = fields.get("resource").and_then(|id| id.id(counts.resources, "resources"))?;
    let ranges = subresource(&fields, resource, plan);
    let aspects = aspects(&fields, resource, plan);
    let layout = |key| fields.get(key).and_then(|layout| layout.word::<Layout>());
    let (old_layout, new_layout) = (layout("old_layout"), layout("new_layout"));
    let (scope, families) = (scope(&fields), families(&fields));
    let ([mips, layers], scope) = (ranges?, scope?);
    let (old_layout, new_layout, families) = (old_layout?, new_layout?, families?);
    let shown = match (families, old_layout == new_layout) {
        (Some(_), _) if scope.dst_stages.is_empty() => Hazard::Release,
        (Some(_), _) => Hazard::Acquire,
        (None, false) if old_layout == Layout::Undefined => Hazard::FirstUse,
        (None, false) if !(scope.src_access | scope.dst_access).intersects(Accesses::WRITES) => Hazard::Layout,
        _ => hazard(&scope),
    };
    let why = why(&fields, counts, Some(resource), shown)?;
    Some(ImageBarrier { resource, mips, layers, aspects: aspects?, scope, old_layout, new_layout, families, why })
}

fn attachment(node: Node<'_, '_>, counts: &Counts, plan: &Plan) -> Option<Attachment> {
    let fields = node.fields(&keys::ATTACHMENT)?;
    let image = |key| {
        let id: ResourceId = fields.get(key)?.id(counts.resources, "resources")?;
        match plan.resources[id].kind {
            PlanKind::Image { mips, layers, .. } => Some((id, mips, layers)),
            PlanKind::Buffer { .. } => {
                fields.get(key)?.mistake(Code::BadFile, "is a buffer, and no attachment", "");
                None
            }
        }
    };
    fields.get("resource")?;
    let (resource, mips, all_layers) = image("resource")?;
    let mip = fields.get("mip").map_or(Some(0), |node| {
        let mip = node.u32()?;
        if mip >= mips {
            node.mistake(Code::BadRange, format_args!("is {mip}, but must be below {mips}, the number of mips"), "");
            return None;
        }
        Some(mip)
    });
    let layers = fields.get("layers").map_or(Some([0, all_layers]), |range| range.within(all_layers, "layers"));
    let aspects = aspects(&fields, resource, plan);
    let load = fields.get("load").and_then(|load| load.word());
    let store = fields.get("store").and_then(|store| store.word());
    let stencil_load = fields.get("stencil_load").map_or(Some(None), |load| load.word::<Load>().map(Some))?;
    let stencil_store = fields.get("stencil_store").map_or(Some(None), |store| store.word::<Store>().map(Some))?;
    let stencil = match (stencil_load, stencil_store) {
        (Some(load), Some(store)) => Some((load, store)),
        (None, None) => None,
        _ => {
            node.mistake(Code::BadFile, "has one of stencil_load and stencil_store", "give both, or neither");
            return None;
        }
    };
    let clear = fields.get("clear").map_or(Some(None), |clear| read_clear(&clear).map(Some));
    let resolve_to = match fields.get("resolve_to") {
        Some(_) => Some(image("resolve_to")?.0),
        None => None,
    };
    let input = fields.flag("input");
    let (mip, layers, aspects) = (mip?, layers?, aspects?);
    let (load, store, clear) = (load?, store?, clear?);
    Some(Attachment { resource, mip, layers, aspects, load, store, stencil, clear, resolve_to, input })
}

fn layout(node: Node<'_, '_>, counts: &Counts, plan: &Plan) -> Option<PassLayout> {
    let fields = node.fields(&keys::LAYOUT)?;
    let resource = fields.get("resource").and_then(|id| id.id(counts.resources, "resources"))?;
    let ranges = subresource(&fields, resource, plan);
    let layout = fields.get("layout").and_then(|layout| layout.word());
    let aspects = aspects(&fields, resource, plan);
    let [mips, layers] = ranges?;
    Some(PassLayout { resource, mips, layers, aspects: aspects?, layout: layout? })
}
