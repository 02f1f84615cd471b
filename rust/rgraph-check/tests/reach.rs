//! The generator reaches everything: usages, stages, queues, kinds of resource and order, and which usage follows
//! which on one resource. What occurs is counted in the declarations, not in the generator.

mod features;
mod wanted;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use features::Features;
use rgraph_check::generate::{Construct, Constructs, Limits, UNSETTLED, generate};
use wanted::{WANTED, pairs_wanted};

/// What occurs in how many of the graphs of some seeds.
fn counted(seeds: u64, without: Constructs) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for seed in 0..seeds {
        let (graph, profile) = generate(seed, Limits { without, ..Limits::default() });
        for feature in Features::of(&graph, &profile) {
            *counts.entry(feature).or_default() += 1;
        }
    }
    counts
}

/// What occurs in how many of five thousand graphs of all constructs.
fn all() -> &'static BTreeMap<String, u32> {
    static COUNTS: OnceLock<BTreeMap<String, u32>> = OnceLock::new();
    COUNTS.get_or_init(|| counted(5000, Constructs::default()))
}

fn rare<'a>(counts: &BTreeMap<String, u32>, wanted: impl Iterator<Item = &'a str>, least: u32) -> Vec<String> {
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    wanted.filter(|name| count(name) < least).map(|name| format!("{name}: {}", count(name))).collect()
}

#[test]
fn every_feature_occurs_in_twenty_of_five_thousand_graphs() {
    let counts = all();
    if std::env::var_os("RGRAPH_SHOW").is_some() {
        counts.iter().for_each(|(name, count)| println!("{count:6} {name}"));
    }
    let missing = rare(counts, WANTED.iter().copied(), 20);
    assert!(missing.is_empty(), "rare of 5000 graphs:\n{}", missing.join("\n"));
}

#[test]
fn every_usage_follows_every_other_on_one_resource() {
    let counts = all();
    let pairs = pairs_wanted();
    let missing = rare(counts, pairs.iter().map(String::as_str), 2);
    assert!(missing.is_empty(), "{} of {} pairs are rare:\n{}", missing.len(), pairs.len(), missing.join("\n"));
}

#[test]
fn what_is_settled_already_reaches_most() {
    let counts = counted(2000, UNSETTLED);
    let missing = rare(&counts, WANTED.iter().copied(), 5);
    assert!(missing.len() * 10 < WANTED.len(), "{} of {}:\n{}", missing.len(), WANTED.len(), missing.join("\n"));
}

/// A construct is reached by graphs that are others without it.
#[test]
fn every_construct_is_in_some_of_a_thousand_graphs() {
    let made = |seed: u64, without: &[Construct]| {
        let (graph, profile) = generate(seed, Limits { without: Constructs::of(without), ..Limits::default() });
        (graph.content_hash(), profile)
    };
    let whole: Vec<_> = (0..1000).map(|seed| made(seed, &[])).collect();
    let reached = |construct: Construct| {
        let graphs = (0..1000).zip(&whole).filter(|(seed, with)| made(*seed, &[construct]) != **with);
        graphs.take(3).count()
    };
    let rare: Vec<Construct> = Construct::ALL.into_iter().filter(|construct| reached(*construct) < 3).collect();
    assert!(rare.is_empty(), "less than three of a thousand graphs have {rare:?}");
}

#[test]
fn layers_keep_the_order_of_the_passes() {
    let names = |seed: u64, without: &[Construct]| {
        let (graph, _) = generate(seed, Limits { without: Constructs::of(without), ..Limits::default() });
        let flat = graph.flattened().unwrap_or(graph);
        flat.pass_names().iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for seed in 0..500 {
        assert_eq!(names(seed, &[]), names(seed, &[Construct::Slots]), "seed {seed}");
    }
}

#[test]
fn passes_name_each_of_several_devices() {
    let mut named = [0; 4];
    for seed in 0..50 {
        let (graph, _) = generate(seed, Limits { devices: 3, ..Limits::default() });
        graph.passes().iter().for_each(|pass| named[pass.device.map_or(3, |device| device as usize)] += 1);
    }
    assert!(named.iter().all(|passes| *passes > 100), "{named:?}");
}
