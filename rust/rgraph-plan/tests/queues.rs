//! The modelled frame knows that passes of one queue overlap; work leaves the graphics queue only for a sure gain.

use rgraph_plan::id::Id;
use rgraph_plan::plan::{PlanPassId, QueueWhy};
use rgraph_plan::prelude::*;

fn baked(graph: &Graph, profile: &Profile) -> Plan {
    bake(graph, profile, &Options::default(), &mut Scratch::default()).expect("a good graph")
}

/// Chains of dispatches over buffers of so many bytes; the first is named graphics, the others have a queue of choice.
fn chains(chains: usize, length: usize, bytes: u64, queue: PassQueue, weight_us: Option<f64>) -> Graph {
    let mut g = Graph::new("chains", [64, 64]);
    for chain in 0..chains {
        let buffer = g.buffer(&format!("{chain}"), bytes);
        for at in 0..length {
            let queue = if chain == 0 { PassQueue::Compute } else { queue };
            let mut pass = g.pass(&format!("{chain}.{at}"), queue);
            if let Some(us) = weight_us {
                pass = pass.weight_us(us);
            }
            if at == 0 {
                pass.storage_write(buffer)
            } else {
                pass.storage_read_write(buffer)
            };
        }
        g.root(buffer);
    }
    g
}

fn queues(plan: &Plan) -> Vec<usize> {
    let mut queues: Vec<usize> = plan.live().filter_map(|pass| Some(plan.passes[pass].queue?.index())).collect();
    queues.sort_unstable();
    queues.dedup();
    queues
}

#[test]
fn small_passes_of_one_queue_overlap_in_the_modelled_frame() {
    let profile = Profile::single_queue();
    let frame =
        |count, bytes| baked(&chains(count, 40, bytes, PassQueue::Compute, Some(10.0)), &profile).report.frame_us;
    // A quarter of the device: two chains cost little more than one, eight about twice as much.
    let narrow = 4 * profile.width / 4;
    let [one, two, eight] = [1, 2, 8].map(|count| frame(count, narrow));
    assert!(two < 1.3 * one && eight > 1.8 * one && eight < 2.6 * one, "{one} {two} {eight}");
    // The whole device: eight chains take the time of eight, less the barrier calls.
    let wide = 4 * profile.width;
    assert!(frame(8, wide) > 6.5 * frame(1, wide));
}

#[test]
fn barrier_calls_submits_and_hops_cost_time() {
    let graph = chains(2, 3, 1 << 10, PassQueue::AsyncCompute, Some(10.0));
    let dear = |change: fn(&mut Profile)| {
        let mut profile = Profile::discrete();
        change(&mut profile);
        baked(&graph, &profile).report.frame_us
    };
    let plain = dear(|_| {});
    assert!(dear(|profile| profile.barrier_us += 5.0) >= plain + 10.0);
    assert!(dear(|profile| profile.submit_us += 5.0) >= plain + 5.0);
    assert!(dear(|profile| profile.pass_us = 0.0) <= plain);
}

/// Draws and dispatches in turn that do not depend on each other; the dispatches have a queue of choice.
fn alternating(queue: PassQueue) -> Graph {
    let mut g = Graph::new("alternating", [8, 8]);
    for at in 0..8 {
        let image = g.image(&format!("image {at}"), Format::Rgba8unorm);
        let buffer = g.buffer(&format!("buffer {at}"), 1 << 10);
        g.pass(&format!("draw {at}"), PassQueue::Graphics).weight_us(1_000.0).color(image);
        g.pass(&format!("dispatch {at}"), queue).weight_us(1_000.0).storage_write(buffer);
        g.root(image);
        g.root(buffer);
    }
    g
}

#[test]
fn draws_and_dispatches_overlap_where_the_profile_says_so() {
    let options = Options { policy: Policy::Declared, ..Options::default() };
    let frame = |draws_overlap_dispatches| {
        let profile = Profile { draws_overlap_dispatches, ..Profile::single_queue() };
        let plan = bake(&alternating(PassQueue::Compute), &profile, &options, &mut Scratch::default());
        plan.expect("a good graph").report.frame_us
    };
    assert!(frame(true) < 1_100.0, "{}", frame(true));
    // 16 times, one after the other.
    assert!((16_000.0..16_100.0).contains(&frame(false)), "{}", frame(false));
}

#[test]
fn dispatches_leave_a_queue_that_drains_for_each_draw() {
    let used = |draws_overlap_dispatches| {
        let profile = Profile { draws_overlap_dispatches, ..Profile::discrete() };
        queues(&baked(&alternating(PassQueue::Any), &profile))
    };
    assert_eq!(used(true), [0]);
    assert_eq!(used(false), [0, 1]);
}

#[test]
fn guessed_durations_leave_open_passes_on_the_graphics_queue() {
    for bytes in [1 << 12, 1 << 20, 1 << 26] {
        let plan = baked(&chains(4, 8, bytes, PassQueue::Any, None), &Profile::discrete());
        assert_eq!(queues(&plan), [0], "{bytes} bytes");
        let open = plan.live().filter(|pass: &PlanPassId| plan.passes[*pass].why.queue == QueueWhy::NoGain);
        assert_eq!(open.count(), 24);
    }
}

#[test]
fn known_durations_move_passes_where_the_device_has_room_for_them() {
    // Two chains with a dependency at every step cannot fill the device on one queue, as each step waits for both.
    let mut g = Graph::new("uneven", [64, 64]);
    let [long, short] = ["long", "short"].map(|name| g.buffer(name, 1 << 12));
    g.pass("long", PassQueue::Compute).weight_us(900.0).storage_write(long);
    for at in 0..9 {
        let pass = g.pass(&format!("short {at}"), PassQueue::Any).weight_us(100.0);
        if at == 0 {
            pass.storage_write(short)
        } else {
            pass.storage_read_write(short)
        };
    }
    g.root(long);
    g.root(short);
    let plan = baked(&g, &Profile::discrete());
    assert_eq!(queues(&plan).len(), 2);
    assert!(plan.report.frame_us < 1_000.0, "{}", plan.report.frame_us);
    // The same passes fill the device: no queue makes it faster.
    let mut profile = Profile::discrete();
    profile.width = 1;
    assert_eq!(queues(&baked(&g, &profile)), [0]);
}

#[test]
fn named_queues_are_obeyed_whatever_the_model_says() {
    let plan = baked(&chains(2, 8, 1 << 26, PassQueue::AsyncCompute, None), &Profile::discrete());
    assert_eq!(queues(&plan), [0, 1]);
}
