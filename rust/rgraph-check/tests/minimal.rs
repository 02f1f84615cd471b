//! Redundant synchronization: reported part by part with its place, and rare in the planner's plans.

use std::collections::{BTreeMap, BTreeSet};

use rgraph_check::generate::{Limits, generate};
use rgraph_check::{Entry, EntryPart, Examined, check, minimal};
use rgraph_plan::access::{Accesses, Stages};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::{Access, Graph};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Command, Plan, PlanPassId};

/// Plans of a run; `RGRAPH_MINIMAL` asks for another number, and for every redundant part in words.
fn asked() -> Option<u64> {
    std::env::var("RGRAPH_MINIMAL").ok().and_then(|count| count.parse().ok())
}

/// What an entry is there for, and whether it changes a layout.
fn cause(plan: &Plan, part: &Examined) -> String {
    let region = part.command.is_some_and(
        |command| matches!(plan.commands[command.index()], Command::Barriers(barriers) if barriers.by_region),
    );
    let within = if region { "by region " } else { "" };
    match part.entry {
        Entry::Wait(id) if plan.waits[id.index()].previous_run => "run before".to_owned(),
        Entry::Wait(_) => "this run".to_owned(),
        Entry::Memory(id) => format!("{within}{:?}", plan.memory_barriers[id.index()].why.hazard),
        Entry::Buffer(id) => format!("{within}{:?}", plan.buffer_barriers[id.index()].why.hazard),
        Entry::Image(id) => {
            let barrier = &plan.image_barriers[id.index()];
            let change = if barrier.old_layout == barrier.new_layout { "" } else { ", layout change" };
            format!("{within}{:?}{change}", barrier.why.hazard)
        }
    }
}

/// How the passes on both sides of an entry use what it is for.
fn usages(graph: &Graph, plan: &Plan, part: &Examined) -> String {
    let why = match part.entry {
        Entry::Wait(_) => return String::new(),
        Entry::Memory(id) => plan.memory_barriers[id.index()].why,
        Entry::Buffer(id) => plan.buffer_barriers[id.index()].why,
        Entry::Image(id) => plan.image_barriers[id.index()].why,
    };
    let used = |pass: Option<PlanPassId>| {
        let Some(pass) = pass else { return "?".to_owned() };
        let Some(declared) = graph.find_pass(plan.pass_name(pass)) else { return "inserted".to_owned() };
        let of = |access: &&Access| access.pass == declared && Some(access.resource) == part.resource;
        let all: BTreeSet<_> = graph.accesses().iter().filter(of).map(|access| access.usage.name()).collect();
        if all.is_empty() { "another name".to_owned() } else { all.into_iter().collect::<Vec<_>>().join("+") }
    };
    format!(", {} to {}", used(why.from), used(why.to))
}

#[test]
fn little_of_the_synchronization_of_generated_plans_is_redundant() {
    let mut scratch = Scratch::default();
    let mut kinds: BTreeMap<String, [u32; 2]> = BTreeMap::new();
    let (mut entries, mut parts) = ([0; 2], [0; 2]);
    for seed in 0..asked().unwrap_or(1000) {
        let (graph, profile) = generate(seed, Limits { most_passes: 12, ..Limits::default() });
        let plan = bake(&graph, &profile, &Options::default(), &mut scratch).expect("generated graphs are right");
        for part in minimal(&graph, &plan) {
            let counted = if part.part == EntryPart::Whole { &mut entries } else { &mut parts };
            let kind = format!("{} {}: {}", part.entry.kind(), part.part.kind(), cause(&plan, &part));
            for count in [counted, kinds.entry(kind).or_default()] {
                count[0] += 1;
                count[1] += u32::from(part.redundant);
            }
            if part.redundant && asked().is_some() {
                let cause = cause(&plan, &part);
                println!("{seed}: {} ({cause}{})", part.describe(&plan), usages(&graph, &plan, &part));
            }
        }
    }
    for (kind, [all, redundant]) in kinds.iter().filter(|(_, [_, redundant])| *redundant > 0) {
        println!("{redundant} of {all}: {kind}");
    }
    println!("entries: {} of {}; stages and accesses: {} of {}", entries[1], entries[0], parts[1], parts[0]);
    assert!(entries[0] > 100 && parts[0] > 1000, "{entries:?} {parts:?}");
    assert!(entries[1] * 100 <= entries[0] * 12, "{entries:?}");
    assert!(parts[1] * 100 <= parts[0] * 7, "{parts:?}");
}

#[test]
fn what_is_added_to_a_plan_is_found_redundant_and_what_it_needs_is_not() {
    let (graph, profile) = generate(9, Limits { most_passes: 12, ..Limits::default() });
    let plan = bake(&graph, &profile, &Options::default(), &mut Scratch::default()).unwrap();
    let needed = |at: &Examined| !at.redundant && at.part == EntryPart::Whole;
    let before = minimal(&graph, &plan);
    let entry = before.iter().find(|at| needed(at) && matches!(at.entry, Entry::Memory(_))).expect("one is needed");
    let Entry::Memory(id) = entry.entry else { unreachable!() };
    let mut wide = plan.clone();
    let scope = &mut wide.memory_barriers[id.index()].scope;
    assert!(!scope.dst_stages.contains(Stages::INDEX_INPUT));
    scope.dst_stages |= Stages::INDEX_INPUT;
    scope.dst_access |= Accesses::INDEX_READ;
    let after = minimal(&graph, &wide);
    let of_entry =
        |part: EntryPart| after.iter().find(|at| at.entry == entry.entry && at.part == part).unwrap().redundant;
    assert!(!of_entry(EntryPart::Whole));
    assert!(of_entry(EntryPart::DestinationAccess(Accesses::INDEX_READ)));
    // What is needed is missed: the plan without it is refused.
    let mut without = plan;
    without.memory_barriers[id.index()].scope = rgraph_plan::plan::Scope::default();
    assert!(!check(&graph, &without).is_empty());
}

#[test]
fn nothing_is_examined_in_a_plan_that_is_wrong() {
    let (graph, profile) = generate(9, Limits { most_passes: 12, ..Limits::default() });
    let mut plan = bake(&graph, &profile, &Options::default(), &mut Scratch::default()).unwrap();
    plan.memory_barriers.iter_mut().for_each(|barrier| barrier.scope = rgraph_plan::plan::Scope::default());
    plan.image_barriers.iter_mut().for_each(|barrier| barrier.scope = rgraph_plan::plan::Scope::default());
    assert!(!check(&graph, &plan).is_empty());
    assert_eq!(minimal(&graph, &plan), []);
}
