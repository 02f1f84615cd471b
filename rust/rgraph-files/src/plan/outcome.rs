//! Reads the parts of a plan besides passes and commands: memory, edges, subgraphs, pairs not merged, the report.

use super::keys;
use super::read::{Counts, hexadecimal, own_id, position_word, subresource};
use crate::json::{Fields, Node, Word};
use rgraph_ir::access::{Aspects, Layout};
use rgraph_ir::budget::MemoryBudget;
use rgraph_ir::error::Code;
use rgraph_ir::id::Span;
use rgraph_ir::plan::{
    BakeTimes, Edge, EdgeState, ForeignPoint, FrameBound, Heap, PassSet, Placement, Plan, PlanCopy, PlanFallback,
    PlanKind, PlanPassId, Report, Subgraph, Unmerged, UnmergedWhy,
};
use rgraph_ir::resource::ResourceId;
use rgraph_ir::words::{FOREIGN_WORDS, POLICIES, SET_WORDS, UNMERGED_WORDS};

position_word!(UnmergedRule, UNMERGED_WORDS, "a reason for not merging");
position_word!(SetOn, SET_WORDS, "a side that passes run on");
position_word!(ForeignOp, FOREIGN_WORDS, "what a foreign point does");
position_word!(Policy, POLICIES, "a scheduling policy");

pub(super) fn read_memory(node: Node<'_, '_>, counts: &Counts, plan: &mut Plan) -> Option<()> {
    let fields = node.fields(&keys::MEMORY)?;
    if let Some(heaps) = fields.get("heaps") {
        heaps.elements(" of heaps", |index, node| {
            let Some(fields) = node.fields(&keys::HEAP) else { return };
            own_id(&fields, index);
            let memory_type = fields.get("type").and_then(|name| name.name());
            let size = fields.get("size").and_then(|size| size.u64());
            if let (Some(memory_type), Some(size)) = (memory_type, size) {
                plan.memory.heaps.push(Heap { memory_type: memory_type.into_owned(), size });
            }
        });
    }
    let heaps = plan.memory.heaps.len();
    if let Some(placements) = fields.get("placements") {
        placements.elements(" of placements", |_, node| {
            let placement = placement(node, counts, heaps);
            plan.memory.placements.extend(placement);
        });
    }
    let total = |key| fields.get(key).map_or(Some(0), |bytes| bytes.u64());
    plan.memory.total = total("total")?;
    plan.memory.without_aliasing = total("without_aliasing")?;
    plan.memory.lower_bound = total("lower_bound")?;
    Some(())
}

fn placement(node: Node<'_, '_>, counts: &Counts, heaps: usize) -> Option<Placement> {
    let fields = node.fields(&keys::PLACEMENT)?;
    let resource = fields.get("resource").and_then(|id| id.id(counts.resources, "resources"));
    let heap = fields.get("heap").and_then(|heap| heap.id(heaps, "heaps"));
    let offset = fields.get("offset").and_then(|offset| offset.u64());
    let size = fields.get("size").and_then(|size| size.u64());
    let (offset, size) = (offset?, size?);
    if offset.checked_add(size).is_none() {
        node.mistake(Code::BadNumber, format_args!("ends beyond 2^64: offset {offset}, size {size}"), "");
        return None;
    }
    Some(Placement { resource: resource?, heap: heap?, offset, size })
}

pub(super) fn read_rest<const N: usize>(fields: &Fields<'_, '_, N>, counts: &Counts, plan: &mut Plan) {
    if let Some(edges) = fields.get("edges") {
        edges.elements(" of edges", |_, node| {
            let edge = edge(node, counts, plan);
            plan.edges.extend(edge);
        });
    }
    if let Some(points) = fields.get("foreign") {
        points.elements(" of points", |_, node| plan.foreign.extend(foreign(node, counts, plan.batches.len())));
    }
    if let Some(parts) = fields.get("subgraphs") {
        parts.elements(" of subgraphs", |_, node| {
            subgraph(node, counts, plan);
        });
    }
    if let Some(pairs) = fields.get("unmerged") {
        pairs.elements(" of pairs", |_, node| plan.unmerged.extend(unmerged(node, counts)));
    }
    if let Some(sets) = fields.get("sets") {
        sets.elements(" of sets", |_, node| {
            set(node, counts, plan);
        });
    }
    if let Some(groups) = fields.get("packets") {
        groups.elements(" of groups", |_, node| {
            let Some(passes) = node.list(" of passes", |id| id.id::<PlanPassId>(counts.passes, "passes")) else {
                return;
            };
            let start = plan.packet_passes.len();
            plan.packet_passes.extend(passes);
            plan.packets.push(Span::new(start, plan.packet_passes.len()));
        });
    }
    if let Some(copies) = fields.get("copies") {
        copies.elements(" of copies", |_, node| plan.copies.extend(copy(node, counts)));
    }
    if let Some(fallbacks) = fields.get("fallbacks") {
        fallbacks.elements(" of fallbacks", |_, node| plan.fallbacks.extend(fallback(node, counts)));
    }
}

fn fallback(node: Node<'_, '_>, counts: &Counts) -> Option<PlanFallback> {
    let fields = node.fields(&keys::FALLBACK)?;
    let pass = fields.get("pass").and_then(|id| id.id(counts.passes, "passes"));
    let output = fields.get("output").and_then(|id| id.id(counts.resources, "resources"));
    let input = fields.get("input").and_then(|id| id.id(counts.resources, "resources"));
    Some(PlanFallback { pass: pass?, output: output?, input: input? })
}

fn set(node: Node<'_, '_>, counts: &Counts, plan: &mut Plan) -> Option<()> {
    let fields = node.fields(&keys::SET)?;
    let on = fields.get("on").and_then(|on| on.word::<SetOn>());
    let passes: Vec<PlanPassId> = fields.get("passes")?.list(" of passes", |id| id.id(counts.passes, "passes"))?;
    let start = plan.set_passes.len();
    plan.set_passes.extend(passes);
    plan.sets.push(PassSet { cpu: on?.0 == 0, passes: Span::new(start, plan.set_passes.len()) });
    Some(())
}

fn copy(node: Node<'_, '_>, counts: &Counts) -> Option<PlanCopy> {
    let fields = node.fields(&keys::COPY)?;
    let pass = fields.get("pass").and_then(|pass| pass.id(counts.passes, "passes"));
    let resource = |key| fields.get(key).and_then(|id| id.id(counts.resources, "resources"));
    let (from, to) = (resource("from"), resource("to"));
    Some(PlanCopy { pass: pass?, from: from?, to: to? })
}

fn foreign(node: Node<'_, '_>, counts: &Counts, batches: usize) -> Option<ForeignPoint> {
    let fields = node.fields(&keys::FOREIGN)?;
    let resource = fields.get("resource").and_then(|id| id.id(counts.resources, "resources"));
    let batch = fields.get("batch").and_then(|id| id.id(batches, "batches"));
    let waits = fields.get("op").and_then(|op| op.word::<ForeignOp>())?.0 == 0;
    let wait = match (waits, fields.get("stages")) {
        (true, _) => Some(fields.need("stages").and_then(|stages| stages.joined())?),
        (false, Some(stray)) => {
            stray.mistake(Code::BadFile, "is given for a signal", "leave it out: a signal follows all stages");
            None
        }
        (false, None) => None,
    };
    Some(ForeignPoint { resource: resource?, batch: batch?, wait })
}

fn edge(node: Node<'_, '_>, counts: &Counts, plan: &Plan) -> Option<Edge> {
    let fields = node.fields(&keys::EDGE)?;
    let resource: ResourceId = fields.get("resource").and_then(|id| id.id(counts.resources, "resources"))?;
    let (mips, layers, aspects, range);
    match plan.resources[resource].kind {
        PlanKind::Image { format, .. } => {
            [mips, layers] = subresource(&fields, resource, plan)?;
            aspects = fields.peek("aspects").map_or(Some(format.aspects()), |aspects| aspects.joined());
            range = fields.get("range").map_or(Some([0, 0]), |range| range.range(u64::MAX))?;
        }
        PlanKind::Buffer { size } => {
            let any = |key| fields.get(key).map_or(Some([0, 1]), |range| range.range32());
            (mips, layers) = (any("mips")?, any("layers")?);
            aspects = fields.get("aspects").map_or(Some(Aspects::empty()), |aspects| aspects.joined());
            range = fields.get("range").map_or(Some([0, size]), |range| range.range(u64::MAX))?;
        }
    }
    let entry = fields.get("entry").and_then(|state| read_state(state, counts));
    let exit = fields.get("exit").and_then(|state| read_state(state, counts));
    Some(Edge { resource, mips, layers, aspects: aspects?, range, entry: entry?, exit: exit? })
}

fn read_state(node: Node<'_, '_>, counts: &Counts) -> Option<EdgeState> {
    let fields = node.fields(&keys::STATE)?;
    let queue = fields.get("queue").map_or(Some(None), |queue| queue.id(counts.queues, "queues").map(Some));
    let stages = fields.get("stages").and_then(|stages| stages.joined());
    let access = fields.get("access").and_then(|access| access.joined());
    let layout = fields.get("layout").map_or(Some(Layout::Undefined), |layout| layout.word());
    Some(EdgeState { queue: queue?, stages: stages?, access: access?, layout: layout? })
}

fn subgraph(node: Node<'_, '_>, counts: &Counts, plan: &mut Plan) -> Option<()> {
    let fields = node.fields(&keys::SUBGRAPH)?;
    let key = fields.get("key").and_then(|key| hexadecimal(&key, fields.most("key")))? as u64;
    let passes: Vec<PlanPassId> = fields.get("passes")?.list(" of passes", |id| id.id(counts.passes, "passes"))?;
    let roots: Vec<ResourceId> =
        fields.get("roots")?.list(" of resources", |id| id.id(counts.resources, "resources"))?;
    let (first_pass, first_root) = (plan.subgraph_passes.len(), plan.subgraph_roots.len());
    plan.subgraph_passes.extend(passes);
    plan.subgraph_roots.extend(roots);
    let passes = Span::new(first_pass, plan.subgraph_passes.len());
    plan.subgraphs.push(Subgraph { key, passes, roots: Span::new(first_root, plan.subgraph_roots.len()) });
    Some(())
}

fn unmerged(node: Node<'_, '_>, counts: &Counts) -> Option<Unmerged> {
    let fields = node.fields(&keys::UNMERGED)?;
    let first = fields.get("first").and_then(|pass| pass.id(counts.passes, "passes"));
    let second = fields.get("second").and_then(|pass| pass.id(counts.passes, "passes"));
    let rule = fields.get("why").and_then(|why| why.word::<UnmergedRule>())?;
    let resource = || fields.need("resource").and_then(|id| id.id(counts.resources, "resources"));
    let reason = match rule.0 {
        0 => UnmergedWhy::Area,
        1 => UnmergedWhy::Depth,
        2 => UnmergedWhy::NotLocal(resource()?),
        3 => UnmergedWhy::OtherQueue,
        4 => UnmergedWhy::NothingShared,
        5 => UnmergedWhy::Conditional,
        6 => UnmergedWhy::TooMany,
        7 => UnmergedWhy::Reloaded(resource()?),
        8 => UnmergedWhy::Ordered,
        9 => UnmergedWhy::OneAspect(resource()?),
        _ => UnmergedWhy::OtherPart(resource()?),
    };
    Some(Unmerged { first: first?, second: second?, reason })
}

pub(super) fn read_report(node: Node<'_, '_>, counts: &Counts) -> Option<Report> {
    let fields = node.fields(&keys::REPORT)?;
    let bake_us = fields.get("bake_us").map_or(Some(None), |times| bake_times(times).map(Some));
    let count = |key| fields.get(key).map_or(Some(0), |count| count.u32());
    let time = |key| fields.get(key).map_or(Some(0.0), |time| time.number());
    let notes = fields.get("notes").map_or(Some(Vec::new()), |notes| {
        notes.list(" of sentences", |note| note.text().map(|note| note.into_owned()))
    });
    Some(Report {
        bake_us: bake_us?,
        barriers: count("barriers")?,
        submits: count("submits")?,
        frame_us: fields.get("frame_us").map_or(Some(0.0), |time| time.number())?,
        one_queue_us: fields.get("one_queue_us").map_or(Some(None), |time| time.number().map(Some))?,
        bound: match fields.get("bound_us") {
            None => None,
            Some(us) => Some(FrameBound {
                us: us.number()?,
                critical_path_us: time("critical_path_us")?,
                load_us: time("load_us")?,
            }),
        },
        critical_path: fields
            .get("critical_path")
            .map_or(Some(Vec::new()), |path| path.list(" of passes", |id| id.id(counts.passes, "passes")))?,
        policy: fields.get("policy").map_or(Some(""), |policy| policy.word::<Policy>().map(|at| POLICIES[at.0]))?,
        optimal: fields.flag("optimal"),
        memory: fields.get("memory").map_or(Some(None), |budget| memory_budget(budget).map(Some))?,
        notes: notes?,
    })
}

/// A budget by its name, or as a number of bytes.
fn memory_budget(node: Node<'_, '_>) -> Option<MemoryBudget> {
    if node.is_number() { node.u64().map(MemoryBudget::Bytes) } else { node.word() }
}

fn bake_times(node: Node<'_, '_>) -> Option<BakeTimes> {
    let fields = node.fields(&keys::TIMES)?;
    let time = |key| fields.get(key).map_or(Some(0.0), |time| time.number());
    Some(BakeTimes {
        validate: time("validate")?,
        cull: time("cull")?,
        schedule: time("schedule")?,
        merge: time("merge")?,
        alias: time("alias")?,
        synchronize: time("synchronize")?,
    })
}
