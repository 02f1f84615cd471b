//! Buffers and images of one arena have no page of the granularity in common.

use rgraph_plan::plan::PlanKind;
use rgraph_plan::prelude::*;

/// Images and buffers by turns, each made from the one before.
fn mixed(count: usize) -> Graph {
    let mut g = Graph::new("mixed", [20, 20]);
    let mut before = None;
    for at in 0..count {
        let name = format!("r{at}");
        let own = if at % 2 == 0 { g.image(&name, Format::R8unorm) } else { g.buffer(&name, 1000) };
        let pass = g.pass(&format!("make {at}"), PassQueue::Compute).storage_write(own);
        match before {
            Some(image) if at % 2 == 1 => pass.sampled(image),
            Some(buffer) => pass.storage_read(buffer),
            None => pass,
        };
        before = Some(own);
    }
    g.root(before.expect("there is one"));
    g
}

#[test]
fn images_and_buffers_of_one_arena_share_no_page() {
    for granularity in [1, 1024, 4096, 65536] {
        let mut profile = Profile::single_queue();
        profile.buffer_image_granularity = granularity;
        for effort in 0..3 {
            let options = Options { effort, ..Options::default() };
            let plan = bake(&mixed(9), &profile, &options, &mut Scratch::default()).expect("a good graph");
            let image = |one: &rgraph_plan::plan::Placement| {
                matches!(plan.resources[one.resource].kind, PlanKind::Image { .. })
            };
            let pages = |one: &rgraph_plan::plan::Placement| {
                (one.offset / granularity, (one.offset + one.size - 1) / granularity)
            };
            let lives = |one: &rgraph_plan::plan::Placement| plan.resources[one.resource].lifetime.expect("it is used");
            let placements = &plan.memory.placements;
            for a in placements.iter().filter(|one| image(one)) {
                for b in placements.iter().filter(|one| !image(one) && one.heap == a.heap) {
                    let [(first, last), (from, to)] = [pages(a), pages(b)];
                    let [[begin, end], [start, stop]] = [lives(a), lives(b)];
                    let together = begin <= stop && start <= end;
                    assert!(!together || last < from || to < first, "granularity {granularity}: {a:?}, {b:?}");
                }
            }
            // A buffer of 1000 bytes and an image of 400 are alive at once.
            assert!(plan.memory.lower_bound >= 1400 && plan.memory.lower_bound <= plan.memory.total);
        }
    }
}
