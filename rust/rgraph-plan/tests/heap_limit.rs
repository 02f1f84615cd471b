//! Heap limits: a frame is refused only if no order and placement that the planner tries fits, and the refusal names the
//! worst moment.

use rgraph_plan::prelude::*;
use rgraph_plan::resource::ResourceId;

const MIB: u64 = 1 << 20;

/// Profiles of one queue and of three, with so much device memory.
fn limited(profile: Profile, bytes: u64) -> Profile {
    let mut profile = profile;
    profile.memory[0].heap_size = Some(bytes);
    profile
}

fn bake_with(graph: &Graph, profile: &Profile, effort: u32) -> Result<Plan, GraphError> {
    bake(graph, profile, &Options { effort, ..Options::default() }, &mut Scratch::default())
}

/// Chains of images of one MiB each, declared level by level: that order keeps one image of each chain alive.
fn wide(chains: usize, length: usize) -> Graph {
    let mut g = Graph::new("wide", [512, 512]);
    let sum = g.buffer("sum", 256);
    g.pass("zero", PassQueue::Compute).storage_write(sum);
    let mut last: Vec<Option<ResourceId>> = vec![None; chains];
    for level in 0..length {
        for (chain, last) in last.iter_mut().enumerate() {
            let image = g.image(&format!("{chain}.{level}"), Format::Rgba8unorm);
            let pass = g.pass(&format!("make {chain}.{level}"), PassQueue::Compute).storage_write(image);
            if let Some(before) = last.replace(image) {
                pass.sampled(before);
            }
        }
    }
    for (chain, last) in last.into_iter().enumerate() {
        let add = g.pass(&format!("add {chain}"), PassQueue::Compute);
        add.sampled(last.expect("every chain has an image")).storage_read_write(sum);
    }
    g.root(sum);
    g
}

#[test]
fn a_limit_of_what_the_plan_takes_without_one_is_kept() {
    for profile in [Profile::single_queue(), Profile::discrete()] {
        for effort in 0..3 {
            for (chains, length) in [(1, 5), (3, 4), (8, 8)] {
                let graph = wide(chains, length);
                let total = bake_with(&graph, &profile, effort).expect("no limit").memory.total;
                let plan = bake_with(&graph, &limited(profile.clone(), total), effort).expect("it fits");
                assert!(plan.memory.total <= total);
            }
        }
    }
}

#[test]
fn a_frame_that_fits_in_another_order_is_reordered_and_not_refused() {
    for profile in [Profile::single_queue(), Profile::discrete()] {
        for (chains, length) in [(6, 2), (5, 4), (16, 4)] {
            // One chain after the other: two images at once, and the sum.
            let plan = bake_with(&wide(chains, length), &limited(profile.clone(), 2 * MIB + MIB / 2), 1);
            let plan = plan.expect("it fits if each chain is finished before the next begins");
            assert!(plan.memory.total <= 2 * MIB + MIB / 2);
            assert!(plan.report.notes.iter().any(|note| note.contains("heap limit")), "{:?}", plan.report.notes);
        }
    }
}

#[test]
fn a_refusal_says_what_is_alive_at_the_worst_moment() {
    let error = bake_with(&wide(3, 3), &limited(Profile::single_queue(), MIB), 1).expect_err("two images at once");
    let text = error.to_string();
    assert!(text.contains("has 1048576 bytes, the frame needs 2"), "{text}");
    assert!(text.contains("bytes alive while \"make"), "{text}");
    assert!(text.contains("0.0: 1048576 bytes") || text.contains("1048576 bytes"), "{text}");
}
