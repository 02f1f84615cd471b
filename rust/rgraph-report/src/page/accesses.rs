//! Who does what with what, and which pass's results flow into which: from the declaration where it is at hand, else
//! from what the plan alone tells (layouts, attachments, the passes on both sides of barriers).

use std::collections::HashMap;

use super::data::PlanData;
use super::gather::number;
use crate::text::part_of_image;
use rgraph_ir::access::{Accesses, Layout, Stages, Usage};
use rgraph_ir::graph::{Graph, PassId};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Command, Plan, PlanKind, PlanLife, PlanPassId};
use rgraph_ir::resource::ResourceId;
use rgraph_ir::words::{layout_phrase, stages_phrase};
use rgraph_plan::declared::{SubresourceRange, meaning, part, whole};

const READS: u8 = 1;
const WRITES: u8 = 2;

/// Writes of one resource that are looked back at for a read: more of them, all of other parts, are no picture.
const WRITES_REMEMBERED: usize = 256;

/// One access.
struct One {
    pass: PlanPassId,
    resource: ResourceId,
    mode: u8,
    usage: String,
    stages: Stages,
    layout: Layout,
    part: SubresourceRange,
}

/// Fills accesses and flows.
pub(super) fn gather(data: &mut PlanData, plan: &Plan, graph: Option<&Graph>) {
    let mut all = match graph {
        Some(graph) => declared(plan, graph),
        None => of_plan(plan),
    };
    all.extend(inserted(plan));
    let turn = turns(data, plan);
    all.sort_by_key(|one| (turn[one.pass], one.resource));
    for one in &all {
        let columns = &mut data.accesses;
        columns.pass.push(number(one.pass));
        columns.resource.push(number(one.resource));
        columns.mode.push(one.mode);
        columns.usage.push(data.texts.add(&one.usage));
        columns.stages.push(data.texts.add(&stages_phrase(one.stages)));
        let layout = if one.layout == Layout::Undefined { "" } else { layout_phrase(one.layout) };
        columns.layout.push(data.texts.add(layout));
        columns.part.push(data.texts.add(&part_text(plan, one)));
    }
    roots(data, plan, &all);
    flows(data, plan, graph, &all);
}

/// An imported resource that a live pass writes is a root, too.
fn roots(data: &mut PlanData, plan: &Plan, all: &[One]) {
    for one in all.iter().filter(|one| one.mode & WRITES > 0 && plan.passes[one.pass].culled.is_none()) {
        if plan.resources[one.resource].life == PlanLife::Imported {
            data.resources.root[one.resource.index()] = 1;
        }
    }
}

/// Position of each pass among those shown.
fn turns(data: &PlanData, plan: &Plan) -> IdVec<PlanPassId, u32> {
    let mut turn = IdVec::filled(0, plan.passes.len());
    for (at, pass) in data.shown.iter().enumerate() {
        turn[PlanPassId::new(*pass as usize)] = at as u32;
    }
    turn
}

/// `[mip 1, layers 0..2]` or `[0..64]`, where it is not the whole resource.
fn part_text(plan: &Plan, one: &One) -> String {
    match plan.resources[one.resource].kind {
        PlanKind::Image { .. } => part_of_image(plan, one.resource, one.part.mips, one.part.layers),
        PlanKind::Buffer { size } if one.part.bytes == [0, size] => String::new(),
        PlanKind::Buffer { .. } => format!("[{}..{}]", one.part.bytes[0], one.part.bytes[1]),
    }
}

/// The accesses of the declaration, with the layouts that the plan gives them.
fn declared(plan: &Plan, graph: &Graph) -> Vec<One> {
    let passes: HashMap<&str, PlanPassId> = plan.passes.ids().rev().map(|id| (plan.pass_name(id), id)).collect();
    let names = plan.resource_names.iter().enumerate();
    let resources: HashMap<&str, ResourceId> = names.map(|(at, name)| (name, ResourceId::new(at))).collect();
    let layouts = layouts(plan);
    let mut draws: IdVec<PassId, bool> = IdVec::filled(false, graph.passes().len());
    for access in graph.accesses() {
        draws[access.pass] |= access.usage.is_attachment() || matches!(access.usage, Usage::Vertex | Usage::Index);
    }
    let one = |access: &rgraph_ir::graph::Access| {
        let pass = *passes.get(graph.pass_name(access.pass))?;
        let resource = *resources.get(graph.resource_name(access.resource))?;
        let kind = plan.resources[resource].kind;
        let queue = graph.passes()[access.pass].queue;
        let means = meaning(access, queue, draws[access.pass], kind.aspects());
        let part = part(graph, access, kind);
        let mut usage = access.usage.name().to_owned();
        for word in [access.transfer.map(|word| word.name()), access.load.map(|word| word.name())].into_iter().flatten()
        {
            usage += &format!(", {word}");
        }
        if access.generate_mips {
            usage += ", generates mips";
        }
        let mode = match (access.usage.writes(), means.kinds.intersects(reading(means.kinds))) {
            (false, _) => READS,
            (true, true) if access.load != Some(rgraph_ir::access::Load::Clear) && keeps(access.usage) => {
                READS | WRITES
            }
            (true, _) if access.load == Some(rgraph_ir::access::Load::Load) => READS | WRITES,
            _ => WRITES,
        };
        let planned = layouts.get(&(pass, resource)).and_then(|parts| {
            let inside = |at: &&([u32; 2], [u32; 2], Layout)| overlap(at.0, part.mips) && overlap(at.1, part.layers);
            parts.iter().find(inside).map(|(.., layout)| *layout)
        });
        let layout = planned.unwrap_or(means.layout);
        let image = matches!(kind, PlanKind::Image { .. });
        let layout = if image { layout } else { Layout::Undefined };
        Some(One { pass, resource, mode, usage, stages: means.stages, layout, part })
    };
    graph.accesses().iter().filter_map(one).collect()
}

/// Usages that read what they change.
fn keeps(usage: Usage) -> bool {
    matches!(usage, Usage::StorageReadWrite | Usage::AccelerationUpdate)
}

/// The kinds of access in it that read.
fn reading(access: Accesses) -> Accesses {
    access - Accesses::WRITES
}

type PartLayouts = Vec<([u32; 2], [u32; 2], Layout)>;

fn layouts(plan: &Plan) -> HashMap<(PlanPassId, ResourceId), PartLayouts> {
    let mut map: HashMap<_, PartLayouts> = HashMap::new();
    for command in &plan.commands {
        let Command::Pass { pass, layouts } = command else { continue };
        for at in &plan.layouts[layouts.range()] {
            map.entry((*pass, at.resource)).or_default().push((at.mips, at.layers, at.layout));
        }
    }
    map
}

/// Accesses of a plan without its declaration: layouts in which passes find images, and barriers of buffers.
fn of_plan(plan: &Plan) -> Vec<One> {
    let mut all = Vec::new();
    let mut add = |pass, resource, mode, usage: &str, stages, layout, part| {
        all.push(One { pass, resource, mode, usage: usage.to_owned(), stages, layout, part });
    };
    for command in &plan.commands {
        let Command::Pass { pass, layouts } = command else { continue };
        for at in &plan.layouts[layouts.range()] {
            let mode = match at.layout {
                Layout::General => READS | WRITES,
                Layout::ColorAttachment | Layout::DepthStencilAttachment | Layout::TransferDst => WRITES,
                _ => READS,
            };
            let part = SubresourceRange { mips: at.mips, layers: at.layers, ..whole(plan.resources[at.resource].kind) };
            add(*pass, at.resource, mode, "as its layout says", Stages::empty(), at.layout, part);
        }
    }
    let mut seen: HashMap<(PlanPassId, ResourceId), ()> = HashMap::new();
    for barrier in &plan.buffer_barriers {
        let sides = [
            (barrier.why.from, barrier.scope.src_stages, barrier.scope.src_access),
            (barrier.why.to, barrier.scope.dst_stages, barrier.scope.dst_access),
        ];
        for (pass, stages, access) in sides {
            let Some(pass) = pass.filter(|pass| seen.insert((*pass, barrier.resource), ()).is_none()) else { continue };
            let writes = if access.intersects(Accesses::WRITES) { WRITES } else { 0 };
            let reads = if access.intersects(reading(access)) || writes == 0 { READS } else { 0 };
            let part = SubresourceRange { bytes: barrier.range, ..whole(plan.resources[barrier.resource].kind) };
            add(pass, barrier.resource, writes | reads, "as its barrier says", stages, Layout::Undefined, part);
        }
    }
    all
}

/// The accesses of passes that the planner inserted.
fn inserted(plan: &Plan) -> Vec<One> {
    let mut all = Vec::new();
    for (pass, planned) in plan.passes.iter_ids().filter(|(_, pass)| pass.declared.is_none()) {
        for access in &plan.pass_accesses[planned.accesses.range()] {
            let writes = if access.access.intersects(Accesses::WRITES) { WRITES } else { 0 };
            let reads = if access.access.intersects(reading(access.access)) { READS } else { 0 };
            let part = SubresourceRange {
                mips: access.mips,
                layers: access.layers,
                ..whole(plan.resources[access.resource].kind)
            };
            let usage = access.access.names().collect::<Vec<_>>().join(" + ");
            let (resource, stages, layout) = (access.resource, access.stages, access.layout);
            all.push(One { pass, resource, mode: writes | reads, usage, stages, layout, part });
        }
    }
    all
}

fn overlap<T: PartialOrd + Copy>(a: [T; 2], b: [T; 2]) -> bool {
    a[0] < b[1] && b[0] < a[1]
}

fn share(a: &SubresourceRange, b: &SubresourceRange) -> bool {
    let image = a.mips[1] > 0;
    let aspects = a.aspects.intersects(b.aspects) || a.aspects.is_empty() || b.aspects.is_empty();
    if image { aspects && overlap(a.mips, b.mips) && overlap(a.layers, b.layers) } else { overlap(a.bytes, b.bytes) }
}

fn covers(a: &SubresourceRange, b: &SubresourceRange) -> bool {
    let holds = |a: [u32; 2], b: [u32; 2]| a[0] <= b[0] && b[1] <= a[1];
    holds(a.mips, b.mips)
        && holds(a.layers, b.layers)
        && a.aspects.contains(b.aspects)
        && a.bytes[0] <= b.bytes[0]
        && b.bytes[1] <= a.bytes[1]
}

/// From every write to the accesses that see its result, through names that modify others; then pure orderings.
/// Writes that keep what was there count as readers of it.
fn flows(data: &mut PlanData, plan: &Plan, graph: Option<&Graph>, all: &[One]) {
    let mut written: HashMap<ResourceId, Vec<(PlanPassId, SubresourceRange)>> = HashMap::new();
    let mut found: Vec<(PlanPassId, PlanPassId, i32)> = Vec::new();
    let modified = |resource| {
        let graph = graph?;
        let of = graph.resources()[graph.find_resource(plan.resource_name(resource))?].modifies?;
        plan.resource_names.iter().position(|name| name == graph.resource_name(of)).map(ResourceId::new)
    };
    for group in all.chunk_by(|a, b| a.pass == b.pass) {
        for one in group {
            if !written.contains_key(&one.resource) {
                let before = modified(one.resource).and_then(|of| written.get(&of)).cloned().unwrap_or_default();
                written.insert(one.resource, before);
            }
            let keeps = one.mode & READS > 0 || !one.usage.contains("clear") && !one.usage.contains("discard");
            for (writer, part) in written[&one.resource].iter().rev().filter(|_| keeps) {
                if share(part, &one.part) && *writer != one.pass {
                    found.push((*writer, one.pass, number(one.resource) as i32));
                    if covers(part, &one.part) {
                        break;
                    }
                }
            }
        }
        for one in group.iter().filter(|one| one.mode & WRITES > 0 && plan.passes[one.pass].culled.is_none()) {
            let writers = written.get_mut(&one.resource).expect("every resource of the group was looked at");
            writers.retain(|(_, part)| !covers(&one.part, part));
            if writers.len() == WRITES_REMEMBERED {
                writers.remove(0);
            }
            writers.push((one.pass, one.part));
        }
    }
    if let Some(graph) = graph {
        for &(later, earlier) in graph.orderings() {
            let find = |pass| plan.find_pass(graph.pass_name(pass));
            found.extend(find(earlier).zip(find(later)).map(|(from, to)| (from, to, -1)));
        }
    }
    found.sort_unstable();
    found.dedup();
    for (from, to, resource) in found {
        data.flows.from.push(number(from));
        data.flows.to.push(number(to));
        data.flows.resource.push(resource);
    }
}
