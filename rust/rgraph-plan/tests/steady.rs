//! What a bake costs, counted: a re-bake with the same scratch and plan allocates nothing, and placing takes so many
//! steps per pass.

#[path = "common/counting.rs"]
mod counting;
#[path = "../../../benches/families.rs"]
mod families;
#[path = "common/most_live.rs"]
mod most_live;

use rgraph_plan::prelude::*;

#[test]
fn the_allocator_of_this_test_counts() {
    let before = counting::allocations();
    let boxed = std::hint::black_box(Box::new(7));
    assert_eq!(counting::allocations() - before, 1, "{boxed}");
}

#[test]
fn a_second_bake_of_the_same_frame_allocates_nothing() {
    let policies = [Policy::Auto, Policy::Declared, Policy::Overlap, Policy::Weighted];
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    for (name, family) in families::FAMILIES {
        for n in [16, 256, 1024] {
            let graph = family(n);
            for profile in [Profile::single_queue(), Profile::discrete()] {
                for policy in policies {
                    for effort in [0, 1] {
                        let options = Options { policy, effort, ..Options::default() };
                        bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                        let first = plan.clone();
                        let before = counting::allocations();
                        bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                        let allocations = counting::allocations() - before;
                        let case = format!("{name}-{n} on {}, {}, effort {effort}", profile.name, policy.name());
                        assert_eq!(allocations, 0, "{case}");
                        assert!(plan == first, "{case}: another plan");
                    }
                }
            }
        }
    }
}

/// Most times that a bake at an effort may put a memory somewhere, per pass.
fn most_steps(effort: u32) -> u64 {
    [3, 10, 40][effort as usize]
}

#[test]
fn placing_takes_so_many_steps_per_pass_at_every_size() {
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    for (name, family) in families::FAMILIES {
        for n in [64, 128, 256, 300, 512, 1024, 4096] {
            let graph = family(n);
            for profile in [Profile::single_queue(), Profile::discrete()] {
                for effort in 0..3 {
                    let options = Options { effort, ..Options::default() };
                    bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                    let steps = scratch.placing_steps() / n as u64;
                    let case = format!("{name}-{n} on {}, effort {effort}: {steps} steps per pass", profile.name);

                    assert!(steps <= most_steps(effort), "{case}");
                }
            }
        }
    }
}

/// Most orders that a bake at an effort may make below its memory budget.
fn most_orders(effort: u32) -> u32 {
    [8, 10, 19][effort as usize]
}

#[test]
fn an_order_that_other_caps_gave_is_not_made_again() {
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    for (name, family) in families::FAMILIES {
        for n in [64, 128, 256, 300, 512, 1024, 4096] {
            let graph = family(n);
            for profile in [Profile::single_queue(), Profile::discrete()] {
                for effort in 0..3 {
                    let options = Options { effort, ..Options::default() };
                    bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                    let made = scratch.orders_made();
                    let case = format!("{name}-{n} on {}, effort {effort}: {made} orders", profile.name);
                    assert!(made <= most_orders(effort), "{case}");
                }
            }
        }
    }
}

#[test]
fn the_least_memory_is_no_more_than_the_declared_order_keeps_alive() {
    for (family, sizes) in
        [(families::fan as fn(usize) -> Graph, [64, 256, 1024, 4096]), (families::chain, [64, 256, 1024, 4096])]
    {
        for n in sizes {
            let graph = family(n);
            let options = Options { memory: MemoryBudget::Least, ..Options::default() };
            let plan = bake(&graph, &Profile::single_queue(), &options, &mut Scratch::default()).expect("a good graph");
            let most_live = most_live::most_live(&graph, &plan);
            assert!(
                plan.memory.total <= most_live,
                "{} of {n}: {} bytes, {most_live} live",
                graph.name(),
                plan.memory.total
            );
        }
    }
}
