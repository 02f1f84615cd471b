//! Faults put into the planner's plans, one at a time: each is found, or nothing depends on what was taken away.

#[path = "support/mutate.rs"]
mod mutate;

use std::collections::BTreeMap;

use mutate::mutants;
use rgraph_check::check;
use rgraph_check::generate::{Limits, generate};
use rgraph_check::interpret::{interpret_graph, interpret_plan};
use rgraph_plan::bake::{Options, Scratch, bake};

/// Faults that no plan survives, whatever else is in it.
const FATAL: [&str; 8] =
    ["families", "transfer half", "old layout", "new layout", "named layout", "load operation", "edge", "owner"];

/// What is not found changes nothing that anybody could see: the exact judge of the unit tests says the same of every
/// pair of operations, and here the faulty plan still computes what the declaration says. The shares are printed.
#[test]
fn every_single_fault_is_found_or_changes_nothing() {
    let mut kinds: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut scratch = Scratch::default();
    let mut wrong = Vec::new();
    let seeds: u64 = std::env::var("RGRAPH_MUTATED").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    for seed in 0..seeds {
        let (graph, profile) = generate(seed, Limits { most_passes: 16, ..Limits::default() });
        let plan = bake(&graph, &profile, &Options::default(), &mut scratch).expect("generated graphs are right");
        let serial = interpret_graph(&graph);
        for mutant in mutants(&plan) {
            let (all, missed) = kinds.entry(mutant.kind).or_default();
            *all += 1;
            if !check(&graph, &mutant.plan).is_empty() {
                continue;
            }
            *missed += 1;
            let computed = interpret_plan(&graph, &mutant.plan, 6);
            let same = computed.as_ref().is_ok_and(|outcome| serial.difference(outcome).is_none());
            if !same || FATAL.contains(&mutant.kind) {
                wrong.push(format!("{seed}: {} {}", mutant.kind, mutant.what));
            }
        }
    }
    for (kind, (all, missed)) in &kinds {
        println!("{kind}: {missed} of {all} change nothing");
    }
    assert!(FATAL.iter().all(|kind| kinds.get(kind).is_some_and(|(all, _)| *all > 10)), "{kinds:?}");
    assert!(wrong.is_empty(), "{} faults are not found:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
