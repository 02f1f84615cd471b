//! The planner's plans, checked: under every policy and split they check clean and compute what the declaration says.

use std::num::NonZero;
use std::ops::Range;

use rgraph_check::check;
use rgraph_check::generate::{Limits, generate};
use rgraph_check::interpret::disagreement;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::prelude::{MemoryBudget, Policy, Split, Without};

/// Graphs of a run; `RGRAPH_GRAPHS` asks for more in long runs.
fn graphs() -> u64 {
    std::env::var("RGRAPH_GRAPHS").ok().and_then(|count| count.parse().ok()).unwrap_or(10_000)
}

/// The seeds that `RGRAPH_SEEDS` names, with commas between, if a run is to look at those alone. Each test has its own
/// million.
fn asked() -> Option<Vec<u64>> {
    let seeds = std::env::var("RGRAPH_SEEDS").ok()?;
    Some(seeds.split(',').map(|seed| seed.parse().expect("a seed is a number")).collect())
}

/// Each budget in turn; a number of bytes that is rarely enough is one of them.
fn budget(turn: u64) -> MemoryBudget {
    let bytes = MemoryBudget::Bytes(1 << (turn / 4 % 26));
    [MemoryBudget::Least, MemoryBudget::Balanced, MemoryBudget::Fast, bytes][(turn % 4) as usize]
}

/// Bakes, checks and runs graphs of some seeds on all cores; returns what is wrong, a line each.
fn wrong(seeds: Range<u64>, options: impl Fn(u64) -> Options + Sync) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let seeds: Vec<u64> = match asked() {
        Some(asked) => asked.into_iter().filter(|seed| seed / 1_000_000 == seeds.start / 1_000_000).collect(),
        None => seeds.collect(),
    };
    let (seeds, options) = (&seeds, &options);
    std::thread::scope(|scope| {
        let part = |first: usize| {
            let mut scratch = Scratch::default();
            let seeds = seeds.iter().copied().skip(first).step_by(threads);
            seeds.flat_map(|seed| wrong_of(seed, &options(seed), &mut scratch)).collect::<Vec<_>>()
        };
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("no graph makes a stage panic")).collect()
    })
}

fn wrong_of(seed: u64, options: &Options, scratch: &mut Scratch) -> Vec<String> {
    let (graph, profile) = generate(seed, Limits::default());
    let plan = match bake(&graph, &profile, options, scratch) {
        Ok(plan) => plan,
        Err(error) => return vec![format!("{seed} is refused: {error}")],
    };
    let findings = check(&graph, &plan);
    let first = findings.first().map(|first| format!("{seed}: {first} (the first of {})", findings.len()));
    let other = disagreement(&graph, &plan, 8).map(|what| format!("{seed} computes something else: {what}"));
    first.into_iter().chain(other).collect()
}

fn assert_right(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} plans are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// Bakes a graph with and without a limit of exactly the bytes that its plan takes; what is wrong, a line.
fn refused_at_its_own_size(seed: u64, options: &Options, scratch: &mut Scratch) -> Option<String> {
    let (graph, mut profile) = generate(seed, Limits::default());
    let plan = bake(&graph, &profile, options, scratch).ok()?;
    for heap in plan.memory.heaps.iter() {
        for memory in profile.memory.iter_mut().filter(|memory| memory.name == heap.memory_type) {
            memory.heap_size = Some(heap.size);
        }
    }
    let again = bake(&graph, &profile, options, scratch);
    again.err().map(|error| format!("{seed} is refused in {} bytes: {error}", plan.memory.total))
}

#[test]
fn a_heap_exactly_large_enough_suffices() {
    let mut scratch = Scratch::default();
    let policies = [Policy::Auto, Policy::Declared, Policy::Overlap, Policy::Weighted, Policy::Exact { nodes: 200 }];
    let choose = |seed: u64| Options {
        policy: policies[(seed % 5) as usize],
        effort: (seed / 5 % 3) as u32,
        memory: budget(seed / 15),
        ..Options::default()
    };
    // The size of the heap steers the search; these were refused for it.
    let known = [3_002_722, 3_014_498, 3_016_523];
    let seeds = known.into_iter().chain(3_000_000..3_000_000 + graphs() / 10);
    let wrong: Vec<_> = seeds.filter_map(|seed| refused_at_its_own_size(seed, &choose(seed), &mut scratch)).collect();
    assert_right(&wrong);
}

/// Bakes a graph with a part of the bytes that its plan takes; what is wrong, a line. A refusal is right.
fn wrong_in_less(seed: u64, options: &Options, scratch: &mut Scratch) -> Result<bool, String> {
    let (graph, mut profile) = generate(seed, Limits::default());
    let Ok(plan) = bake(&graph, &profile, options, scratch) else { return Ok(false) };
    for heap in plan.memory.heaps.iter() {
        for memory in profile.memory.iter_mut().filter(|memory| memory.name == heap.memory_type) {
            memory.heap_size = Some(heap.size / 16 * (12 + seed % 4));
        }
    }
    let Ok(plan) = bake(&graph, &profile, options, scratch) else { return Ok(false) };
    match check(&graph, &plan).first() {
        Some(first) => Err(format!("{seed}: {first}")),
        None => disagreement(&graph, &plan, 4)
            .map_or(Ok(true), |what| Err(format!("{seed} computes something else: {what}"))),
    }
}

#[test]
fn a_smaller_heap_has_a_right_plan_or_a_refusal() {
    let mut scratch = Scratch::default();
    let seeds = 4_000_000..4_000_000 + graphs() / 20;
    let found: Vec<_> = seeds.map(|seed| wrong_in_less(seed, &Options::default(), &mut scratch)).collect();
    let wrong: Vec<String> = found.iter().filter_map(|one| one.clone().err()).collect();
    assert_right(&wrong);
    let fits = found.iter().filter(|one| **one == Ok(true)).count();
    assert!(fits * 50 > found.len(), "{fits} of {} graphs fit a smaller heap", found.len());
}

#[test]
fn plans_of_generated_graphs_check_clean_and_compute_what_the_declaration_says() {
    assert_right(&wrong(0..graphs(), |_| Options::default()));
}

#[test]
fn plans_of_every_policy_split_and_effort_check_clean_and_compute_what_the_declaration_says() {
    let policies = [Policy::Declared, Policy::Overlap, Policy::Weighted, Policy::Exact { nodes: 200 }];
    let splits = [Split::Never, Split::Distance, Split::Always];
    let choose = |seed: u64| Options {
        policy: policies[(seed % 4) as usize],
        split: splits[(seed / 4 % 3) as usize],
        effort: (seed / 12 % 3) as u32,
        memory: budget(seed / 36),
        max_batches: [None, Some(1), Some(2), Some(3)][(seed / 180 % 4) as usize],
        ..Options::default()
    };
    assert_right(&wrong(1_000_000..1_000_000 + graphs() / 5, choose));
}

#[test]
fn plans_without_stages_and_of_random_orders_check_clean_and_compute_what_the_declaration_says() {
    let choose = |seed: u64| Options {
        policy: match seed % 3 {
            0 => Policy::Declared,
            1 => Policy::Random { seed, swaps: u32::MAX },
            _ => Policy::Random { seed, swaps: (seed % 40) as u32 },
        },
        without: Without { culling: seed & 8 > 0, merging: seed & 16 > 0, aliasing: seed & 32 > 0 },
        ..Options::default()
    };
    assert_right(&wrong(2_000_000..2_000_000 + graphs() / 5, choose));
}
