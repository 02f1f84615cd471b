//! The generator reaches what plans can have: a kind of command, memory or set that no plan of a thousand graphs has is
//! one that the tests of generated graphs cannot find a fault in.

use std::collections::BTreeMap;

use rgraph_check::generate::{Limits, generate};
use rgraph_plan::access::{Aspects, MemoryDomain, Sharing, Stages};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::plan::{Attachment, Command, Plan, PlanLife, Scope};
use rgraph_plan::prelude::{MemoryBudget, Policy, Split};
use rgraph_plan::profile::LAZY_MEMORY;

/// Kinds of which some plan of a thousand must have one.
const WANTED: [&str; 34] = [
    "attachment: in place",
    "attachment: resolved",
    "attachment: stencil beside depth",
    "attachment: stencil cleared, depth loaded",
    "barrier: beside a build of an acceleration structure",
    "barrier: by region",
    "batches: one at most",
    "batches: two at most",
    "event",
    "foreign: signal",
    "foreign: wait",
    "layouts: aspects apart",
    "life: fresh",
    "life: history",
    "life: imported",
    "life: persistent",
    "memory: aliased",
    "memory: chosen domain cached_host",
    "memory: chosen domain device",
    "memory: chosen domain device_local_host",
    "memory: chosen domain host",
    "memory: lazy",
    "memory: of a resource of several names",
    "packets: of dispatches",
    "packets: of draws",
    "pass: copies",
    "pass: culled",
    "pass: inserted",
    "pass: in a later subpass",
    "set: several passes of the CPU",
    "set: several passes of the GPU",
    "sharing: concurrent",
    "wait: by the host",
    "wait: for the run before",
];

/// Each policy, split, budget and number of batches.
fn options(seed: u64) -> Options {
    let policies = [Policy::Auto, Policy::Declared, Policy::Overlap, Policy::Weighted];
    let budgets = [MemoryBudget::Least, MemoryBudget::Balanced, MemoryBudget::Fast];
    Options {
        policy: policies[(seed % 4) as usize],
        split: [Split::Never, Split::Distance, Split::Always][(seed / 4 % 3) as usize],
        memory: budgets[(seed / 12 % 3) as usize],
        max_batches: [None, None, Some(1), Some(2)][(seed / 36 % 4) as usize],
        ..Options::default()
    }
}

fn kinds(plan: &Plan, options: &Options) -> Vec<String> {
    let mut found = Vec::new();
    let mut when = |is: bool, kind: &str| {
        if is {
            found.push(kind.to_owned());
        }
    };
    let has = |is: &dyn Fn(&Attachment) -> bool| plan.attachments.iter().any(is);
    when(has(&|one| one.input), "attachment: in place");
    when(has(&|one| one.resolve_to.is_some()), "attachment: resolved");
    when(has(&|one| one.stencil.is_some()), "attachment: stencil beside depth");
    let apart =
        |one: &Attachment| one.stencil.is_some_and(|(load, _)| load.name() == "clear" && one.load.name() == "load");
    when(has(&apart), "attachment: stencil cleared, depth loaded");
    let command = |is: &dyn Fn(&Command) -> bool| plan.commands.iter().any(is);
    when(command(&|one| matches!(one, Command::Barriers(barriers) if barriers.by_region)), "barrier: by region");
    when(command(&|one| matches!(one, Command::SetEvent(..))), "event");
    for (most, text) in [(1, "batches: one at most"), (2, "batches: two at most")] {
        when(options.max_batches == Some(most) && plan.queues.len() > 1, text);
    }
    when(plan.foreign.iter().any(|point| point.wait.is_some()), "foreign: wait");
    when(plan.foreign.iter().any(|point| point.wait.is_none()), "foreign: signal");
    let alone = |aspects: Aspects| aspects == Aspects::DEPTH || aspects == Aspects::STENCIL;
    let both = |at: usize| {
        let one = &plan.layouts[at];
        let next = plan.layouts.get(at + 1);
        next.is_some_and(|next| alone(one.aspects) && next.resource == one.resource && next.layout != one.layout)
    };
    when((0..plan.layouts.len()).any(both), "layouts: aspects apart");
    for (life, text) in [
        (PlanLife::Fresh, "life: fresh"),
        (PlanLife::History, "life: history"),
        (PlanLife::Imported, "life: imported"),
        (PlanLife::Persistent, "life: persistent"),
    ] {
        when(plan.resources.iter().any(|resource| resource.life == life), text);
    }
    when(!plan.aliases.is_empty(), "memory: aliased");
    for &domain in MemoryDomain::ALL {
        let chosen = plan.resources.iter().any(|resource| resource.memory_domain == Some(domain));
        when(chosen, &format!("memory: chosen domain {domain}"));
    }
    let lazy = |place: &rgraph_plan::plan::Placement| plan.memory.heaps[place.heap].memory_type == LAZY_MEMORY;
    when(plan.memory.placements.iter().any(lazy), "memory: lazy");
    let twice = |at: usize| {
        let one = &plan.memory.placements[at];
        plan.memory.placements[..at]
            .iter()
            .any(|other| (other.heap, other.offset, other.size) == (one.heap, one.offset, one.size))
    };
    when((0..plan.memory.placements.len()).any(twice), "memory: of a resource of several names");
    for group in &plan.packets {
        let first = plan.packet_passes[group.start as usize];
        let draws = plan.passes[first].physical_pass.is_some();
        when(true, if draws { "packets: of draws" } else { "packets: of dispatches" });
    }
    let builds = |scope: &Scope| {
        [scope.src_stages, scope.dst_stages].iter().any(|stages| stages.contains(Stages::ACCELERATION_STRUCTURE_BUILD))
    };
    let built = plan.memory_barriers.iter().any(|one| builds(&one.scope))
        || plan.buffer_barriers.iter().any(|one| builds(&one.scope));
    when(built, "barrier: beside a build of an acceleration structure");
    when(!plan.copies.is_empty(), "pass: copies");
    when(plan.culled().next().is_some(), "pass: culled");
    when(plan.passes.iter().any(|pass| pass.declared.is_none()), "pass: inserted");
    when(plan.passes.iter().any(|pass| pass.subpass > 0), "pass: in a later subpass");
    for set in plan.sets.iter().filter(|set| set.passes.range().len() > 1) {
        when(true, if set.cpu { "set: several passes of the CPU" } else { "set: several passes of the GPU" });
    }
    when(plan.resources.iter().any(|resource| resource.sharing == Sharing::Concurrent), "sharing: concurrent");
    for batch in plan.batches.iter() {
        let waits = &plan.waits[batch.waits.range()];
        when(batch.queue.is_none() && !waits.is_empty(), "wait: by the host");
        when(waits.iter().any(|wait| wait.previous_run), "wait: for the run before");
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn plans_of_a_thousand_graphs_have_every_kind() {
    let (mut scratch, mut counts) = (Scratch::default(), BTreeMap::<String, u32>::new());
    for seed in 0..1000 {
        let (graph, profile) = generate(seed, Limits::default());
        let options = options(seed);
        let plan = bake(&graph, &profile, &options, &mut scratch).expect("generated graphs can be baked");
        for kind in kinds(&plan, &options) {
            *counts.entry(kind).or_default() += 1;
        }
    }
    if std::env::var_os("RGRAPH_SHOW").is_some() {
        counts.iter().for_each(|(kind, count)| println!("{count:6} {kind}"));
    }
    let missing: Vec<_> = WANTED.iter().filter(|kind| !counts.contains_key(**kind)).collect();
    assert!(missing.is_empty(), "no plan of a thousand has {missing:?}");
    let unknown: Vec<_> = counts.keys().filter(|kind| !WANTED.contains(&kind.as_str())).collect();
    assert!(unknown.is_empty(), "kinds that the list leaves out: {unknown:?}");
}
