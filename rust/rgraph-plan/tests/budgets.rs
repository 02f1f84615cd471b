//! Memory budgets: what barrier calls cost in bytes, under each of them.

use rgraph_files::{read_plan, write_plan};
use rgraph_plan::plan::PlanLife;
use rgraph_plan::prelude::*;

use crate::common::most_live::most_live;
use crate::families;

/// Chains of passes that have nothing to do with each other, declared one after the other. Each pass reads the image
/// before and writes one of its own; all end in one buffer, in any order.
fn chains(chains: usize, length: usize, texels: u32) -> Graph {
    let mut g = Graph::new("chains", [texels, texels]);
    for chain in 0..chains {
        let mut last = None;
        for at in 0..length {
            let image = g.image(&format!("{chain}.{at}"), Format::Rgba8unorm);
            let pass = g.pass(&format!("p{chain}.{at}"), PassQueue::Compute).storage_write(image);
            if let Some(before) = last.replace(image) {
                pass.sampled(before);
            }
        }
        g.root(last.expect("a chain has a pass"));
    }
    g
}

fn baked(graph: &Graph, memory: MemoryBudget, effort: u32) -> Plan {
    let options = Options { memory, effort, ..Options::default() };
    bake(graph, &Profile::single_queue(), &options, &mut Scratch::default()).expect("a good graph")
}

#[test]
fn eight_chains_declared_one_after_the_other_overlap_for_a_few_megabytes() {
    for texels in [8, 64, 256, 512] {
        let graph = chains(8, 8, texels);
        for effort in 0..3 {
            let plan = baked(&graph, MemoryBudget::Balanced, effort);
            assert_eq!(plan.report.barriers, 8, "{texels} texels, effort {effort}");
            let least = baked(&graph, MemoryBudget::Least, effort);
            assert!(least.memory.total <= most_live(&graph, &least));
            assert_eq!(baked(&graph, MemoryBudget::Fast, effort).report.barriers, 8);
        }
    }
}

#[test]
fn balanced_pays_at_most_its_slack() {
    for (name, family) in families::FAMILIES {
        for n in [16, 64, 256, 1024] {
            let graph = family(n);
            let plan = baked(&graph, MemoryBudget::Balanced, 1);
            let cap = MemoryBudget::Balanced.cap(most_live(&graph, &plan), None);
            assert!(plan.memory.total <= cap, "{name}-{n}: {} bytes, cap {cap}", plan.memory.total);
        }
    }
}

#[test]
fn each_word_costs_no_more_calls_and_saves_no_more_bytes_than_the_one_before() {
    for texels in [64, 512, 2048] {
        let graph = chains(8, 8, texels);
        let plans = MemoryBudget::NAMED.map(|memory| baked(&graph, memory, 1));
        for [less, more] in [[&plans[0], &plans[1]], [&plans[1], &plans[2]]] {
            assert!(less.report.barriers >= more.report.barriers, "{texels}");
            assert!(less.memory.total <= more.memory.total, "{texels}");
        }
    }
    // 16 MiB an image: more than a few megabytes are not paid.
    let graph = chains(8, 8, 2048);
    let plan = baked(&graph, MemoryBudget::Balanced, 1);
    assert!(plan.memory.total <= MemoryBudget::Balanced.cap(most_live(&graph, &plan), None));
    assert!(plan.report.barriers > 8);
}

#[test]
fn layered_frames_of_least_memory_need_hardly_more_calls_than_levels() {
    for n in [256, 1024] {
        let graph = families::layered(n);
        let least = baked(&graph, MemoryBudget::Least, 1);
        assert!(least.memory.total <= most_live(&graph, &least));
        let levels = baked(&graph, MemoryBudget::Fast, 1).report.barriers;
        assert!(f64::from(least.report.barriers) <= 1.08 * f64::from(levels), "{} of {levels}", least.report.barriers);
    }
}

#[test]
fn fast_takes_no_more_than_the_heap_has() {
    let graph = chains(8, 8, 2048);
    let mut profile = Profile::single_queue();
    profile.memory[0].heap_size = Some(200 << 20);
    let options = Options { memory: MemoryBudget::Fast, ..Options::default() };
    let plan = bake(&graph, &profile, &options, &mut Scratch::default()).expect("it fits in another order");
    assert!(plan.memory.total <= 200 << 20);
    assert!(baked(&graph, MemoryBudget::Fast, 1).memory.total > 200 << 20);
}

#[test]
fn a_number_of_bytes_is_kept_where_an_order_fits_and_noted_where_none_does() {
    let graph = chains(4, 6, 512);
    let roots: u64 = baked(&graph, MemoryBudget::Least, 1)
        .resources
        .iter()
        .filter(|resource| resource.life == PlanLife::Root)
        .map(|resource| resource.bytes)
        .sum();
    let image = 512 * 512 * 4;
    for (bytes, fits) in
        [(64 * image, true), (roots + 2 * image, true), (roots + image, true), (roots, false), (0, false)]
    {
        let plan = baked(&graph, MemoryBudget::Bytes(bytes), 1);
        let noted = plan.report.notes.iter().any(|note| note.contains("no order tried takes less"));
        assert_eq!((plan.memory.total <= bytes, noted), (fits, !fits), "{bytes}: {}", plan.memory.total);
        assert!(plan.memory.total <= bytes.max(roots + image));
    }
}

#[test]
fn a_number_of_bytes_that_a_plan_needs_exactly_is_enough_for_it() {
    // Eight calls keep two images of each chain alive: 4 MiB.
    let graph = chains(8, 8, 256);
    let plan = baked(&graph, MemoryBudget::Bytes(4 << 20), 1);
    assert_eq!((plan.report.barriers, plan.memory.total), (8, 4 << 20));
    let chained = [(2, 9, 64), (3, 5, 256), (8, 8, 64), (8, 8, 256), (5, 12, 128)];
    let chained = chained.map(|(count, length, texels)| (format!("{count} × {length}"), chains(count, length, texels)));
    let families =
        families::FAMILIES.iter().flat_map(|(name, family)| [16, 64, 256].map(|n| (format!("{name}-{n}"), family(n))));
    for (name, graph) in chained.into_iter().chain(families) {
        for effort in [0, 1] {
            for memory in [MemoryBudget::Balanced, MemoryBudget::Fast] {
                let named = baked(&graph, memory, effort);
                let bytes = named.memory.total;
                let exact = baked(&graph, MemoryBudget::Bytes(bytes), effort);
                let calls = [exact.report.barriers, named.report.barriers];
                assert!(exact.memory.total <= bytes, "{name}, effort {effort}, {memory}: {} bytes", exact.memory.total);
                assert!(calls[0] <= calls[1], "{name}, effort {effort}, {memory}, {bytes} bytes: {calls:?} calls");
                assert!(
                    !exact.report.notes.iter().any(|note| note.contains("memory budget")),
                    "{:?}",
                    exact.report.notes
                );
            }
        }
    }
}

#[test]
fn plan_files_keep_the_budget() {
    let graph = chains(2, 2, 64);
    for memory in MemoryBudget::NAMED.into_iter().chain([MemoryBudget::Bytes(0), MemoryBudget::Bytes(u64::MAX)]) {
        let plan = baked(&graph, memory, 0);
        let again = read_plan(write_plan(&plan).as_bytes(), "plan").expect("what was written can be read");
        assert_eq!(again.report.memory, Some(memory));
        assert!(again == plan);
    }
}
