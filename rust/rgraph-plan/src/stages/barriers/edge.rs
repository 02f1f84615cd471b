//! What outlives the frame: the state in which the declaration wants it left, and, subresource by subresource, how the
//! frame first uses it and how it leaves it.

use super::call::{About, Source};
use super::hazard::{HazardInputs, Hazards, Used};
use crate::access::{Accesses, Aspects, Layout, Sharing, Stages};
use crate::id::Id;
use crate::plan::{Edge, EdgeState, Hazard, PlanKind, QueueId, Scope, Why};
use crate::profile::Profile;
use crate::resource::ResourceId;
use crate::stages::context::Context;
use crate::stages::ids::{BarrierId, SubresourceId};
use crate::stages::order::schedule::LaneId;
use crate::stages::resolve::silent::{join, words};
use crate::stages::validate::queues::resolve_queue;

/// Makes the barriers that leave imported resources as declared, and lists the edges. Notes what could not be done.
pub(crate) fn edges(
    inputs: HazardInputs<'_>,
    profile: &Profile,
    hazards: &mut Hazards,
    out: &mut Vec<Edge>,
    notes: &mut Vec<String>,
) {
    out.clear();
    let context = inputs.context;
    for (memory, &of) in context.facts.memory.iter_ids() {
        let leave = context.facts.leave[memory];
        if of != memory || !context.has_edges(memory) && leave.is_none() {
            continue;
        }
        let mut unused = 0;
        for subresource in context.facts.subresources.of(memory).ids() {
            let Some(last) = hazards.uses_of(subresource).max_by_key(|used| used.last) else {
                unused += u32::from(leave.is_some());
                continue;
            };
            if last.queue == context.schedule.host() {
                hazards.show_group_to_host(inputs, subresource, last);
            }
            let state = hazards.states[subresource];
            let part = *context.facts.subresources.get(subresource);
            let queue = |lane: LaneId| (lane != context.schedule.host()).then(|| QueueId::new(lane.index()));
            let mut exit =
                EdgeState { queue: queue(last.queue), stages: last.stages, access: last.access, layout: state.layout };
            if let Some(leave) = leave {
                let layout = leave.layout.filter(|_| context.is_image(memory)).unwrap_or(state.layout);
                let to = leave.queue.and_then(|kind| resolve_queue(profile, kind));
                let exclusive = inputs.read_groups.sharing[memory] == Sharing::Exclusive;
                let families = to
                    .and_then(|to| Some([state.family?, context.families[LaneId::new(to)]]))
                    .filter(|[from, to]| exclusive && from != to);
                let on_host = last.queue == context.schedule.host();
                let by = hazards
                    .left_by(subresource, context.schedule.host())
                    .filter(|_| !on_host || layout == state.layout);
                if layout != state.layout || families.is_some() {
                    if let Some(by) = by {
                        let stages = leave_as(inputs, hazards, subresource, by, layout, families);
                        // A release is half of a transition: the acquire names the same layouts and completes it
                        // (Vulkan 1.3, "Queue Family Ownership Transfer").
                        let layout = if families.is_some() { state.layout } else { layout };
                        if !on_host {
                            exit = EdgeState { queue: exit.queue, stages, access: Accesses::empty(), layout };
                        }
                    } else {
                        let name = context.graph.resource_name(memory);
                        let note = format!("\"{name}\" is last used by the host and left as it is");
                        if notes.last() != Some(&note) {
                            notes.push(note);
                        }
                    }
                }
            }
            let Some(entry) = state.entry else { continue };
            let entry = EdgeState {
                queue: queue(entry.queue),
                stages: entry.stages,
                access: entry.access,
                layout: entry.layout,
            };
            let edge = Edge {
                resource: memory,
                mips: part.mips,
                layers: part.layers,
                aspects: part.aspects,
                range: part.bytes,
                entry,
                exit,
            };
            match out.last_mut() {
                Some(before) if joins(before, &edge) => {
                    before.layers[1] = edge.layers[1];
                    before.range[1] = edge.range[1];
                }
                _ => out.push(edge),
            }
        }
        if unused > 0 {
            note_unused(context, hazards, memory, notes);
        }
    }
}

/// Notes that what no pass of a resource uses stays as it comes, whatever `leave` says.
fn note_unused(context: Context<'_>, hazards: &Hazards, memory: ResourceId, notes: &mut Vec<String>) {
    let name = context.graph.resource_name(memory);
    let subresources = || context.facts.subresources.of(memory).ids();
    let is_unused = |one: &SubresourceId| hazards.uses_of(*one).next().is_none();
    if subresources().all(|one| is_unused(&one)) {
        notes.push(format!("no pass uses \"{name}\", so leave does not change it"));
        return;
    }
    let unused = subresources().filter(is_unused).map(|one| context.facts.subresources.get(one).part());
    let parts = match context.shapes[memory].kind {
        PlanKind::Image { mips, layers, .. } => {
            let texels = unused.filter(|part| part.aspects != Aspects::STENCIL);
            let mut areas: Vec<_> = texels.map(|part| [part.mips, part.layers]).collect();
            join(&mut areas);
            if areas.is_empty() { "stencil".to_owned() } else { words(&areas, [[0, mips], [0, layers]]) }
        }
        PlanKind::Buffer { .. } => {
            let bytes: u64 = unused.map(|part| part.bytes[1] - part.bytes[0]).sum();
            format!("{bytes} bytes")
        }
    };
    notes.push(format!("no pass uses {parts} of \"{name}\", so leave does not change them"));
}

fn joins(before: &Edge, edge: &Edge) -> bool {
    before.resource == edge.resource
        && (before.entry, before.exit, before.aspects) == (edge.entry, edge.exit, edge.aspects)
        && before.mips == edge.mips
        && (before.layers[1] == edge.layers[0] && edge.range == [0, 0]
            || before.range[1] == edge.range[0] && edge.range[1] > 0)
}

/// A barrier at the end of the batch of the use `last` of a subresource; returns the stages that it holds up.
fn leave_as(
    inputs: HazardInputs<'_>,
    hazards: &mut Hazards,
    subresource: SubresourceId,
    last: Used,
    layout: Layout,
    families: Option<[u32; 2]>,
) -> Stages {
    let state = hazards.states[subresource];
    // The host owns nothing: what it uses last is left by the queue before it, and the host looks at it meanwhile.
    let host = inputs.context.schedule.host();
    let mut scope = Scope { src_stages: last.stages, src_access: last.access & Accesses::WRITES, ..Scope::default() };
    for used in hazards.uses_of(subresource).filter(|used| used.queue == last.queue) {
        scope.src_stages |= used.stages;
        scope.src_access |= used.access & Accesses::WRITES;
    }
    scope.dst_stages = scope.src_stages;
    let left = scope.dst_stages;
    for used in hazards.uses_of(subresource).filter(|used| used.queue == host) {
        scope.dst_stages |= used.stages;
        scope.dst_access |= used.access;
    }
    let part = *inputs.context.facts.subresources.get(subresource);
    let batch = inputs.batches.batch_of(inputs.context.schedule.passes[last.last].physical);
    let from = Some(last.last);
    let at_end = |barrier: &BarrierId| Some(hazards.calls.barriers[*barrier].call) == hazards.at_end[batch];
    let call = if let Some(transition) = state.producer_barrier.filter(at_end) {
        // Its layout changes at that end, for the host: the release follows in a call of its own, since nothing orders
        // the barriers of one. A release makes nothing visible, so the host needs a barrier of its own.
        hazards.calls.add_target(transition, scope.src_stages, Accesses::empty());
        let call = hazards.call_behind_end(batch);
        let why = Why { hazard: Hazard::Host, from, to: None, resource: part.memory };
        hazards.calls.memory(call, Source::WHOLE, scope, why);
        call
    } else {
        hazards.call_at_end(batch)
    };
    let about = if inputs.context.is_image(part.memory) {
        About::Image(part.memory, part, state.layout, layout)
    } else {
        About::Buffer(part.memory, part)
    };
    let why = Why { hazard: Hazard::Leave, from, to: None, resource: part.memory };
    hazards.calls.about(call, Source::WHOLE, about, scope, families, why);
    left
}
