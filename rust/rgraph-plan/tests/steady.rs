//! A re-bake with the same scratch and plan allocates nothing, counted by an allocator of this test.

#[path = "common/counting.rs"]
mod counting;
#[path = "../../../benches/families.rs"]
mod families;

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
