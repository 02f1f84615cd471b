//! The tables of a plan: its passes and resources, where they are in memory, its independent parts.

use crate::stages::context::Context;
use crate::stages::ids::{LiveId, MemoryClassId, ResolvedPassId};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::graph::{Fallback, Graph, PassId};
use crate::id::{Id, IdVec, Span};
use crate::plan::{
    Heap, HeapId, PassWhy, Placement, Plan, PlanAccess, PlanFallback, PlanLife, PlanPass, PlanPassId, PlanResource,
    QueueId, Subgraph,
};
use crate::profile::Profile;
use crate::resource::{Life, ResourceId};
use crate::stages::cull::Live;
use crate::stages::depend::Dependencies;
use crate::stages::merge;
use crate::stages::order::read_group::ReadGroups;
use crate::stages::resolve::{Origin, declared};
use crate::stages::schedule::Order;
use crate::stages::transient::Transients;
use crate::stages::usages::Memories;
use crate::stages::weigh::queue_why;

crate::id! {
    /// A part of the graph that shares nothing with others: its position in [`Plan::subgraphs`].
    struct SubgraphId;
}

/// Memory that describing reuses.
#[derive(Default, Debug)]
pub(crate) struct Scratch {
    /// By the representative of a part.
    part_at: IdVec<ResolvedPassId, Option<SubgraphId>>,
    /// Passes of each part.
    counts: IdVec<SubgraphId, u32>,
    /// Part, turn and resource of each root.
    rooted: Vec<(SubgraphId, u32, ResourceId)>,
    aliases: Vec<(ResourceId, ResourceId)>,
    heap_of: IdVec<MemoryClassId, HeapId>,
    /// By declared pass.
    pub(crate) planned: IdVec<PassId, Option<PlanPassId>>,
}

/// What the tables are made from.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    /// Declaration, facts, schedule.
    pub context: Context<'a>,
    /// The device.
    pub profile: &'a Profile,
    /// Dependencies of live passes.
    pub deps: &'a Dependencies,
    /// Their schedule.
    pub order: &'a Order,
    /// Their durations alone, in microseconds.
    pub weight_us: &'a IdVec<LiveId, f32>,
    /// Where merging put them.
    pub merged: &'a merge::Scratch,
    pub read_groups: &'a ReadGroups,
    /// Placements.
    pub transients: &'a Transients,
    /// Memories and what they are made for.
    pub memories: &'a Memories,
}

/// Passes: live ones in the order of the schedule, then culled ones as declared. O(passes + dependencies).
pub(crate) fn passes(input: Input<'_>, live: &mut Live, plan: &mut Plan) {
    let Context { graph, facts, schedule, .. } = input.context;
    plan.passes.clear();
    plan.pass_accesses.clear();
    plan.pass_names.copy_from(graph.pass_names());
    for (at, scheduled) in schedule.passes.iter_ids() {
        crate::cancel::poll();
        let live = input.deps.live(scheduled.pass);
        let latest = input.deps.before(live).map(|earlier| input.merged.final_position(earlier)).max();
        let start = plan.pass_accesses.len();
        let (name, declared, owner) = match facts.passes[scheduled.pass].origin {
            Origin::Declared(planned) => (planned.index(), Some(planned.index() as u32), None),
            origin => {
                insert_accesses(input, at, plan);
                (plan.pass_names.push(&name_of(graph, origin)), None, origin.owner())
            }
        };
        let chosen = input.order.why_queue[live];
        let (begin, end, alone) = (input.order.start_us[live], input.order.finish_us[live], input.weight_us[live]);
        // The difference of two times of a long frame is off by their rounding.
        let rounded = (end - begin - alone).abs() <= 2.0 * f32::EPSILON * end;
        plan.passes.push(PlanPass {
            name: name as u32,
            declared,
            owner: owner.map(|planned| planned.index() as u32),
            queue: (scheduled.queue != schedule.host()).then(|| QueueId::new(scheduled.queue.index())),
            culled: None,
            physical_pass: None,
            subpass: 0,
            flag: facts.passes[scheduled.pass].conditional,
            accesses: Span::new(start, plan.pass_accesses.len()),
            why: PassWhy {
                queue: queue_why(input.profile, facts, scheduled.pass, chosen),
                after: latest,
                start_us: begin,
                duration_us: if rounded { alone } else { end - begin },
            },
        });
    }
    live.reasons(graph, facts, |pass, reason| {
        let Origin::Declared(planned) = facts.passes[pass].origin else { return };
        plan.passes.push(PlanPass {
            name: planned.index() as u32,
            declared: Some(planned.index() as u32),
            owner: None,
            queue: None,
            culled: Some(reason),
            physical_pass: None,
            subpass: 0,
            flag: graph.passes()[planned].conditional,
            accesses: Span::default(),
            why: PassWhy::default(),
        });
    });
    // Serial order may differ from declared order; the list of culled passes does not.
    plan.passes.as_vec_mut()[schedule.passes.len()..].sort_unstable_by_key(|planned| planned.declared);
}

/// The name of a pass in plans.
pub(crate) fn name_of(graph: &Graph, origin: Origin) -> String {
    match origin {
        Origin::Declared(pass) => graph.pass_name(pass).to_owned(),
        Origin::Mip { pass, resource, level } => {
            format!("{}/mips/{}.{level}", graph.pass_name(pass), graph.resource_name(resource))
        }
        Origin::Blit { resource } => format!("{}/blit", graph.resource_name(resource)),
    }
}

fn insert_accesses(input: Input<'_>, at: PlanPassId, plan: &mut Plan) {
    for access in input.context.accesses(at) {
        for subresource in access.subresources.ids() {
            let part = input.context.facts.subresources.get(subresource);
            let declared_access = PlanAccess {
                resource: access.resource,
                stages: access.stages,
                access: access.kinds,
                layout: access.layout,
                mips: part.mips,
                layers: part.layers,
            };
            match plan.pass_accesses.last_mut() {
                Some(last)
                    if last.layers[1] == declared_access.layers[0]
                        && (PlanAccess { layers: declared_access.layers, ..*last }) == declared_access =>
                {
                    last.layers[1] = declared_access.layers[1];
                }
                _ => plan.pass_accesses.push(declared_access),
            }
        }
    }
}

/// Resources with their lifetimes and neighbours in memory. O(resources + accesses + reuses).
pub(crate) fn resources(input: Input<'_>, scratch: &mut Scratch, plan: &mut Plan) {
    let Context { graph, facts, schedule, shapes, .. } = input.context;
    plan.resource_names.copy_from(graph.resource_names());
    plan.resources.clear();
    for id in graph.resources().ids() {
        let memory = facts.memory[id];
        let shape = &shapes[id];
        let life = match graph.resources()[memory].life {
            Life::Imported(_) => PlanLife::Imported,
            Life::Fresh => PlanLife::Fresh,
            Life::Persistent => PlanLife::Persistent,
            Life::History(_) => PlanLife::History,
            Life::Transient if facts.remembered[memory] => PlanLife::History,
            Life::Transient if graph.is_root(id) => PlanLife::Root,
            Life::Transient => PlanLife::Transient,
        };
        let mut planned = PlanResource {
            kind: shape.kind,
            bytes: shape.bytes,
            lifetime: None,
            aliases: Span::default(),
            sharing: input.read_groups.sharing[memory],
            memory_domain: graph.resources()[memory].memory_domain,
            life,
            inserted: false,
            transient_attachment: input.transients.is_transient_attachment(memory),
            memory,
            ring: 1,
            remembers: None,
            usages: None,
        };
        input.memories.describe((graph, facts), id, &mut planned);
        plan.resources.push(planned);
    }
    for here in schedule.passes.ids() {
        for access in input.context.accesses(here) {
            let lifetime = &mut plan.resources[access.resource].lifetime;
            *lifetime = Some([lifetime.map_or(here, |[first, _]| first), here]);
        }
    }
    extend_names(input, plan);
    scratch.aliases.clear();
    for (at, placement) in input.transients.placements.iter_ids() {
        for &(before, previous_run) in input.transients.followed(at) {
            let other = input.transients.placements[before].memory;
            if !previous_run && other != placement.memory {
                scratch.aliases.extend([(placement.memory, other), (other, placement.memory)]);
            }
        }
    }
    scratch.aliases.sort_unstable();
    scratch.aliases.dedup();
    plan.aliases.clear();
    for same in scratch.aliases.chunk_by(|a, b| a.0 == b.0) {
        let start = plan.aliases.len();
        plan.aliases.extend(same.iter().map(|(_, other)| *other));
        plan.resources[same[0].0].aliases = Span::new(start, plan.aliases.len());
    }
}

/// Lifetimes of the names of one memory, which accesses of a pass that uses several of them do not distinguish: each
/// name that an access gives, and the fallback of a conditional output. O(accesses) if there are such.
fn extend_names(input: Input<'_>, plan: &mut Plan) {
    let Context { graph, facts, .. } = input.context;
    if facts.memory.iter_ids().all(|(id, memory)| id == *memory) {
        return;
    }
    let mut extend = |resource: ResourceId, here: PlanPassId| {
        let lifetime = &mut plan.resources[resource].lifetime;
        *lifetime = Some(lifetime.map_or([here; 2], |[first, last]| [first.min(here), last.max(here)]));
    };
    let position = |pass: PassId| input.deps.index[facts.pass_of[pass]].map(|live| input.merged.final_position(live));
    for access in graph.accesses() {
        if let Some(here) = position(access.pass) {
            extend(access.resource, here);
        }
    }
    for &(access, input) in facts.fallbacks_read() {
        if let Some(here) = position(declared(graph, access).pass) {
            extend(input, here);
        }
    }
}

/// Flags, and what readers get while passes are off. O(flags), and O(passes) with fallbacks.
pub(crate) fn flags(graph: &Graph, planned: &mut IdVec<PassId, Option<PlanPassId>>, plan: &mut Plan) {
    plan.flag_names.clear();
    for flag in graph.flags().iter() {
        plan.flag_names.push(flag);
    }
    plan.fallbacks.clear();
    if graph.fallbacks().is_empty() {
        return;
    }
    planned.refill(None, graph.passes().len());
    for (id, pass) in plan.passes.iter_ids() {
        if let Some(place) = pass.declared.and_then(|at| planned.as_vec_mut().get_mut(at as usize)) {
            *place = Some(id);
        }
    }
    // A plan has every declared pass.
    let fallback =
        |one: &Fallback| Some(PlanFallback { pass: planned[one.pass]?, output: one.output, input: one.input });
    plan.fallbacks.extend(graph.fallbacks().iter().filter_map(fallback));
}

/// Heaps and placements; every name of a placed memory is in the list.
pub(crate) fn memory(input: Input<'_>, scratch: &mut Scratch, plan: &mut Plan) {
    let Context { facts, .. } = input.context;
    let transients = input.transients;
    scratch.heap_of.clear();
    let mut heaps = 0;
    (plan.memory.total, plan.memory.lower_bound) = (0, 0);
    for (peak, class) in transients.peaks.iter().zip(&input.profile.memory) {
        scratch.heap_of.push(HeapId::new(heaps));
        if peak.total == 0 {
            continue;
        }
        let known = plan.memory.heaps.as_vec_mut();
        if known.len() == heaps {
            known.push(Heap { memory_type: String::new(), size: 0 });
        }
        known[heaps].memory_type.clone_from(&class.name);
        known[heaps].size = peak.total;
        plan.memory.total += peak.total;
        plan.memory.lower_bound += peak.lower_bound;
        heaps += 1;
    }
    plan.memory.heaps.as_vec_mut().truncate(heaps);
    plan.memory.without_aliasing = transients.placements.iter().map(|placement| placement.size).sum();
    plan.memory.placements.clear();
    for (id, &memory) in facts.memory.iter_ids() {
        let Some(index) = transients.index[memory] else { continue };
        if id != memory && plan.resources[id].lifetime.is_none() {
            continue;
        }
        let placement = &transients.placements[index];
        let heap = scratch.heap_of[placement.class];
        plan.memory.placements.push(Placement { resource: id, heap, offset: placement.offset, size: placement.held });
    }
}

/// Parts of the graph that share nothing. O(passes + roots).
pub(crate) fn subgraphs(input: Input<'_>, live: &Live, scratch: &mut Scratch, plan: &mut Plan) {
    let Context { graph, facts, schedule, .. } = input.context;
    plan.subgraphs.clear();
    scratch.part_at.refill(None, facts.passes.len());
    scratch.counts.clear();
    for (at, scheduled) in schedule.passes.iter_ids() {
        let part = *scratch.part_at[live.part[scheduled.pass]].get_or_insert_with(|| {
            plan.subgraphs.push(Subgraph { key: 0, passes: Span::default(), roots: Span::default() });
            scratch.counts.push(0)
        });
        scratch.counts[part] += 1;
        let name = plan.pass_name(at);
        let key = xxh3_64_with_seed(name.as_bytes(), plan.subgraphs[part.index()].key);
        plan.subgraphs[part.index()].key = key;
    }
    let mut start = 0;
    for (subgraph, count) in plan.subgraphs.iter_mut().zip(&scratch.counts) {
        subgraph.passes = Span { start, end: start };
        start += count;
    }
    plan.subgraph_passes.clear();
    plan.subgraph_passes.resize(start as usize, PlanPassId::new(0));
    for (at, scheduled) in schedule.passes.iter_ids() {
        let part = scratch.part_at[live.part[scheduled.pass]].expect("every live pass is in a part");
        let passes = &mut plan.subgraphs[part.index()].passes;
        plan.subgraph_passes[passes.end as usize] = at;
        passes.end += 1;
    }
    plan.subgraph_roots.clear();
    scratch.rooted.clear();
    let imported = graph.resources().iter_ids().filter(|(_, r)| matches!(r.life, Life::Imported(_))).map(|(id, _)| id);
    for root in graph.roots().iter().copied().chain(imported.filter(|&id| !graph.is_root(id))) {
        let span = facts.subresources.of(facts.memory[root]);
        let writer = facts.final_writer.slice(span).iter().flatten().find(|&&writer| live.needed[writer]);
        if let Some(&writer) = writer {
            let part = scratch.part_at[live.part[writer]].expect("a needed writer is live");
            scratch.rooted.push((part, scratch.rooted.len() as u32, root));
        }
    }
    scratch.rooted.sort_unstable();
    for same in scratch.rooted.chunk_by(|a, b| a.0 == b.0) {
        let start = plan.subgraph_roots.len();
        plan.subgraph_roots.extend(same.iter().map(|(_, _, root)| *root));
        plan.subgraphs[same[0].0.index()].roots = Span::new(start, plan.subgraph_roots.len());
    }
}
