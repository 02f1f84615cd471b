//! Waits between queues hold up the stages that rely on them and no others, and the run before is waited for once.

use rgraph_plan::access::{Accesses, Stages, Usage};
use rgraph_plan::plan::{BatchId, Command, Hazard, QueueId, Wait};
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Imported, Life, ResourceId};

fn baked(graph: &Graph) -> Plan {
    let options = Options { policy: Policy::Declared, ..Options::default() };
    bake(graph, &Profile::discrete(), &options, &mut Scratch::default()).expect("a good graph")
}

fn at_compute(usage: Usage) -> Use {
    Use { stages: Stages::COMPUTE_SHADER, ..Use::new(usage) }
}

/// The waits of the batch that has a pass, and its queue.
fn waits_before(plan: &Plan, pass: &str) -> (Vec<Wait>, Option<QueueId>) {
    let pass = plan.find_pass(pass).expect("the pass is in the plan");
    let has = |batch: &BatchId| {
        let commands = &plan.commands[plan.batches[*batch].commands.range()];
        commands.iter().any(|command| matches!(command, Command::Pass { pass: one, .. } if *one == pass))
    };
    let batch = &plan.batches[plan.batches.ids().find(has).expect("the pass is in a batch")];
    (plan.waits[batch.waits.range()].to_vec(), batch.queue)
}

/// Stages of the only wait for this run before a pass.
fn held_up(plan: &Plan, pass: &str) -> Stages {
    let (waits, _) = waits_before(plan, pass);
    let mut waits = waits.iter().filter(|wait| !wait.previous_run);
    let stages = waits.next().expect("the pass waits").stages;
    assert!(waits.next().is_none(), "{plan:?}");
    stages
}

#[test]
fn a_change_of_layout_follows_a_wait_at_one_stage() {
    let mut g = Graph::new("g", [64, 64]);
    let (image, out) = (g.image("image", Format::Rgba8unorm), g.buffer("out", 1 << 14));
    g.pass("make", PassQueue::AsyncCompute).storage_write(image);
    g.pass("take", PassQueue::Graphics)
        .uses(image, &Use::new(Usage::TransferSrc))
        .uses(out, &Use::new(Usage::TransferDst));
    g.root(out);
    let plan = baked(&g);
    let held = held_up(&plan, "take");
    assert_eq!(held.iter().count(), 1, "{held:?}");
    let taken = plan.image_barriers.iter().find(|one| one.scope.dst_access.contains(Accesses::TRANSFER_READ));
    let scope = taken.expect("the image changes its layout").scope;
    assert_eq!((scope.src_stages, scope.dst_stages.contains(held)), (held, true));
}

#[test]
fn a_read_behind_the_first_of_its_group_holds_up_no_other_use_of_its_pass() {
    let mut g = Graph::new("g", [64, 64]);
    let image = g.image("image", Format::Rgba8unorm);
    g.resource_mut(image).life = Life::Imported(Imported::default());
    let [first, second, copied] = ["first", "second", "copied"].map(|name| g.buffer(name, 256));
    g.pass("lead", PassQueue::Graphics).sampled(image).storage_write(first);
    g.pass("other", PassQueue::AsyncCompute)
        .sampled(image)
        .storage_write(second)
        .uses(copied, &Use::new(Usage::TransferDst));
    for root in [first, second, copied] {
        g.root(root);
    }
    let held = held_up(&baked(&g), "other");
    assert!(!held.is_empty() && !held.intersects(Stages::COPY | Stages::CLEAR), "{held:?}");
}

#[test]
fn what_a_queue_waited_for_in_the_run_before_it_does_not_wait_for_again() {
    let mut g = Graph::new("g", [64, 64]);
    let (image, target) = (g.image("image", Format::Rgba8unorm), g.image("target", Format::Rgba8unorm));
    let made = g.buffer("made", 256);
    g.pass("draw", PassQueue::Graphics).color(image);
    g.pass("look", PassQueue::AsyncCompute).sampled(image).storage_write(made);
    g.pass("show", PassQueue::Graphics).color(target).storage_read(made);
    g.root(target);
    let plan = baked(&g);
    // "show" waited for "look", with its fragment stage, and colours come later on its queue.
    let (before, queue) = waits_before(&plan, "draw");
    assert!(queue.is_some() && before.is_empty(), "{before:?}");
    assert!(held_up(&plan, "show").contains(Stages::FRAGMENT_SHADER));
}

/// The barriers of an image before a pass.
fn image_barriers_before(plan: &Plan, pass: &str, image: ResourceId) -> Vec<rgraph_plan::plan::ImageBarrier> {
    let pass = plan.find_pass(pass).expect("it is there");
    let at = plan.commands.iter().position(|one| matches!(one, Command::Pass { pass: other, .. } if *other == pass));
    let calls = plan.commands[..at.expect("it runs")].iter().filter_map(|command| match command {
        Command::Barriers(barriers) => Some(&plan.image_barriers[barriers.images.range()]),
        _ => None,
    });
    calls.flatten().filter(|one| one.resource == image).copied().collect()
}

#[test]
fn a_first_use_leaves_to_other_barriers_what_they_order() {
    let mut g = Graph::new("g", [64, 64]);
    let image = g.image("image", Format::Rgba8unorm);
    let [made, out] = ["made", "out"].map(|name| g.buffer(name, 1 << 14));
    g.pass("fill", PassQueue::Graphics).uses(image, &Use::new(Usage::TransferDst));
    g.pass("look", PassQueue::Graphics)
        .uses(image, &at_compute(Usage::Sampled))
        .uses(made, &at_compute(Usage::StorageWrite));
    g.pass("copy", PassQueue::Graphics)
        .uses(image, &Use::new(Usage::TransferSrc))
        .uses(made, &Use::new(Usage::TransferSrc))
        .uses(out, &Use::new(Usage::TransferDst));
    g.root(out);
    // In the run before, "copy" came last, and a barrier before it followed "look".
    let first = |options: &Options| {
        let plan = bake(&g, &Profile::single_queue(), options, &mut Scratch::default()).expect("a good graph");
        image_barriers_before(&plan, "fill", image)[0].scope
    };
    let options = Options { policy: Policy::Declared, ..Options::default() };
    assert_eq!(first(&options).src_stages, Stages::COPY);
    assert_eq!(first(&Options { effort: 0, ..options }).src_stages, Stages::COMPUTE_SHADER | Stages::COPY);
}

#[test]
fn an_ordering_that_barriers_make_anyway_has_none_of_its_own() {
    let mut g = Graph::new("g", [64, 64]);
    let [a, b, c] = ["a", "b", "c"].map(|name| g.buffer(name, 256));
    g.pass("first", PassQueue::Graphics).uses(a, &at_compute(Usage::StorageWrite));
    g.pass("second", PassQueue::Graphics)
        .uses(a, &at_compute(Usage::StorageRead))
        .uses(b, &at_compute(Usage::StorageWrite));
    g.pass("last", PassQueue::Graphics)
        .uses(b, &at_compute(Usage::StorageRead))
        .uses(c, &at_compute(Usage::StorageWrite));
    let [last, first] = ["last", "first"].map(|name| g.find_pass(name).expect("it is declared"));
    g.order_after(last, first);
    g.root(c);
    let ordered = |plan: &Plan| plan.memory_barriers.iter().filter(|one| one.why.hazard == Hazard::Ordered).count();
    assert_eq!(ordered(&baked(&g)), 0);
}
