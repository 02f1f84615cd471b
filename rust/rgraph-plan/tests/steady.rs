//! What a bake costs, counted: a re-bake with the same scratch and plan allocates nothing, and placing takes so many
//! steps per pass.

use rgraph_plan::access::{Aspects, Usage};
use rgraph_plan::graph::Ranges;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Image, Kind, Leave, Resource};

use crate::common::{counting, most_live};
use crate::families;

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

#[test]
fn a_second_bake_of_a_frame_that_leaves_its_roots_in_states_allocates_nothing() {
    let (profile, options) = (Profile::discrete(), Options::default());
    for (name, family) in families::FAMILIES {
        let mut graph = family(64);
        for root in graph.roots().to_vec() {
            graph.resource_mut(root).leave = Some(Leave::default());
        }
        let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
        bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
        let before = counting::allocations();
        bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
        assert_eq!(counting::allocations() - before, 0, "{name}");
    }
}

#[test]
fn an_equal_declaration_is_recognised_and_allocates_nothing() {
    let profile = Profile::discrete();
    let mut last = LastPlan::default();
    for (name, family) in families::FAMILIES {
        let (graph, again) = (family(256), family(256));
        let options = Options::default();
        let bakes = last.bakes();
        let first = last.bake(&graph, &profile, &options).expect("a good graph").clone();
        let before = counting::allocations();
        let second = last.bake(&again, &profile, &options).expect("a good graph");
        assert_eq!(counting::allocations() - before, 0, "{name}");
        assert!(*second == first, "{name}: another plan");
        assert_eq!(last.bakes() - bakes, 1, "{name}");

        // A duration, an option, a profile: each is another question.
        let mut other = graph.clone();
        other.pass_mut(graph.passes().ids().next().expect("it has passes")).weight_us = Some(77.0);
        let more = Options { effort: 2, ..options };
        let one_queue = Profile::single_queue();
        for (graph, profile, options) in
            [(&other, &profile, &options), (&other, &profile, &more), (&other, &one_queue, &more)]
        {
            let bakes = last.bakes();
            let plan = last.bake(graph, profile, options).expect("a good graph");
            assert!(*plan == bake(graph, profile, options, &mut Scratch::default()).expect("a good graph"), "{name}");
            assert_eq!(last.bakes() - bakes, 1, "{name}");
        }
    }
}

#[test]
fn a_declaration_after_a_wrong_one_is_baked() {
    let (profile, options) = (Profile::discrete(), Options::default());
    let mut last = LastPlan::default();
    let good = families::FAMILIES[0].1(16);
    let mut wrong = good.clone();
    let lost = wrong.image("lost", Format::Rgba8unorm);
    wrong.pass("reads", PassQueue::Graphics).sampled(lost).side_effects();
    last.bake(&good, &profile, &options).expect("a good graph");
    assert!(last.bake(&wrong, &profile, &options).is_err());
    let plan = last.bake(&good, &profile, &options).expect("a good graph");
    assert!(*plan == bake(&good, &profile, &options, &mut Scratch::default()).expect("a good graph"));
    assert_eq!(last.bakes(), 2);
}

/// Numbers of a seed (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }
}

/// Changes one thing of a frame: a duration, a format, whether a pass has a queue of its own, an ordering.
fn edit(graph: &mut Graph, random: &mut Random) {
    let passes: Vec<_> = graph.passes().ids().collect();
    let pass = passes[random.below(passes.len())];
    match random.below(4) {
        0 => graph.pass_mut(pass).weight_us = Some((1 + random.below(40)) as f64),
        1 => {
            let images: Vec<_> = graph.resources().ids().collect();
            if let Kind::Image(image) = &mut graph.resource_mut(images[random.below(images.len())]).kind {
                image.format = match image.format {
                    Some(Format::Rgba8unorm) => Some(Format::Rgba16float),
                    Some(Format::Rgba16float) => Some(Format::Rgba8unorm),
                    other => other,
                };
            }
        }
        2 => {
            let queue = &mut graph.pass_mut(pass).queue;
            *queue = if *queue == PassQueue::Any { PassQueue::Graphics } else { PassQueue::Any };
        }
        _ => {
            let [one, other] = [random.below(passes.len()), random.below(passes.len())];
            if one != other {
                graph.order_after(passes[one.max(other)], passes[one.min(other)]);
            }
        }
    }
}

#[test]
fn a_frame_that_was_edited_gets_the_plan_that_a_first_bake_makes() {
    let mut random = Random(1);
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    for (name, family) in families::FAMILIES {
        for profile in [Profile::single_queue(), Profile::discrete()] {
            let mut graph = family(48);
            for step in 0..60 {
                // Some edits are taken back, so that the frame of an earlier bake comes again.
                let before = graph.clone();
                edit(&mut graph, &mut random);
                for graph in [&graph, &before, &graph] {
                    let options = Options { effort: 1 + step % 3, ..Options::default() };
                    bake_into(graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                    let first = bake(graph, &profile, &options, &mut Scratch::default()).expect("a good graph");
                    assert!(plan == first, "{name}, {}, step {step}", profile.name);
                }
            }
        }
    }
}

#[test]
fn what_decides_neither_order_nor_lifetimes_costs_no_search_again() {
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    for (name, family) in families::FAMILIES {
        let mut graph = family(256);
        for profile in [Profile::single_queue(), Profile::discrete()] {
            for effort in [1, 2] {
                let options = Options { effort, ..Options::default() };
                bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                // It runs already, so that is nothing that the order depends on.
                let first = plan.live().next().expect("a pass runs");
                let declared = plan.passes[first].declared.expect("families have no inserted passes");
                let runs = graph.passes().ids().nth(declared as usize).expect("a pass of the graph");
                graph.pass_mut(runs).side_effects ^= true;
                let split = Options { split: Split::Always, ..options };
                for (what, options) in [("kept", options), ("split", split)] {
                    bake_into(&graph, &profile, &options, &mut scratch, &mut plan).expect("a good graph");
                    let case = format!("{name} on {}, effort {effort}, {what}", profile.name);
                    // The two sweeps that compare intervals on several queues cost less than to keep them.
                    let most = if profile.queues.len() > 1 { 2 * 256 } else { 0 };
                    assert!(scratch.placing_steps() <= most, "{case}: {} steps", scratch.placing_steps());
                    assert_eq!(scratch.orders_made(), 0, "{case}");
                }
            }
        }
    }
}

#[test]
fn frames_that_change_all_the_time_allocate_nothing_in_the_end() {
    for (name, family) in families::FAMILIES {
        for profile in [Profile::single_queue(), Profile::discrete()] {
            let color = if name == "chain" { Format::Rgba16float } else { Format::Rgba8unorm };
            // More frames than are remembered, so that each is searched again whenever it comes.
            let frames: Vec<Graph> = (0..10)
                .map(|frame| {
                    let mut graph = family(128);
                    let ids: Vec<_> = graph.passes().ids().collect();
                    graph.pass_mut(ids[frame]).weight_us = Some(100.0);
                    let colour = |of: &Resource| match &of.kind {
                        Kind::Image(image) => image.format == Some(color),
                        Kind::Buffer(_) => false,
                    };
                    let found = graph.resources().iter_ids().filter(|(_, of)| colour(of)).nth(frame);
                    let (id, _) = found.expect("a family has many images of a format");
                    if let Kind::Image(image) = &mut graph.resource_mut(id).kind {
                        image.format = Some(Format::Rgba32float);
                    }
                    graph
                })
                .collect();
            let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
            let mut cycle = || {
                let before = counting::allocations();
                for graph in &frames {
                    bake_into(graph, &profile, &Options::default(), &mut scratch, &mut plan).expect("a good graph");
                    assert!(scratch.placing_steps() > 0, "{name} on {} is placed anew", profile.name);
                }
                counting::allocations() - before
            };
            for _ in 0..8 {
                cycle();
            }
            assert_eq!(cycle(), 0, "{name} on {}", profile.name);
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

/// Each part of a buffer has a first use, which follows the uses of all parts in the run before.
#[test]
fn the_uses_of_a_buffer_in_the_run_before_are_gathered_once_for_all_its_parts() {
    for profile in [Profile::single_queue(), Profile::discrete()] {
        for parts in [64, 1024] {
            let mut graph = Graph::new("parts", [1, 1]);
            let whole = graph.buffer("whole", 64 * parts);
            let out = graph.buffer("out", 64);
            for at in 0..parts {
                let ranges = Ranges { bytes: Some([64 * at, 64 * at + 64]), ..Ranges::default() };
                let part = Use { ranges, ..Use::new(Usage::StorageWrite) };
                graph.pass(&format!("part{at}"), PassQueue::Compute).uses(whole, &part);
            }
            graph.pass("sum", PassQueue::Compute).storage_read(whole).storage_write(out);
            graph.root(out);
            let mut scratch = Scratch::default();
            bake(&graph, &profile, &Options::default(), &mut scratch).expect("a good graph");
            assert_eq!(scratch.subresources_gathered(), parts + 1, "on {}", profile.name);
        }
    }
}

/// Each layer of an image has a first use, which follows the uses of its own texels in the run before.
#[test]
fn the_uses_of_an_images_layer_in_the_run_before_are_gathered_without_a_walk_over_the_others() {
    // Depth is read without stencil, so each layer has two subresources, with a first use of both each.
    let color = (Format::Rgba8unorm, Usage::TransferDst, Aspects::empty(), 1);
    let depth = (Format::Depth24plusStencil8, Usage::DepthStencilAttachment, Aspects::DEPTH, 4);
    for (format, usage, sampled, gathered) in [color, depth] {
        for layers in [32, 256] {
            let mut graph = Graph::new("layers", [8, 8]);
            let image = Image { format: Some(format), layers: Some(layers), ..Image::default() };
            let whole = graph.add_resource("whole", Resource::image(image), None);
            let out = graph.buffer("out", 64);
            for at in 0..layers {
                let ranges = Ranges { layers: Some([at, at + 1]), ..Ranges::default() };
                let part = Use { ranges, ..Use::new(usage) };
                graph.pass(&format!("layer{at}"), PassQueue::Graphics).uses(whole, &part);
            }
            let look = Use { aspects: sampled, ..Use::new(Usage::Sampled) };
            graph.pass("sum", PassQueue::Graphics).uses(whole, &look).storage_write(out);
            graph.root(out);
            let mut scratch = Scratch::default();
            bake(&graph, &Profile::discrete(), &Options::default(), &mut scratch).expect("a good graph");
            assert_eq!(scratch.subresources_gathered(), u64::from(layers) * gathered + 1, "{format}");
        }
    }
}
