//! Buffers and images of one arena have no page of the granularity in common, unless one follows the other there.

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

/// An image of one and a half pages, then two buffers of a page and a half and of the other half, alive at once.
fn buffers_after_an_image() -> Graph {
    let mut g = Graph::new("buffers after an image", [48, 32]);
    let image = g.image("image", Format::R8unorm);
    let [small, first, rest] = [("small", 16), ("first", 1536), ("rest", 512)].map(|(name, size)| g.buffer(name, size));
    let out = g.buffer("out", 16);
    g.pass("draw", PassQueue::Compute).storage_write(image);
    g.pass("sum", PassQueue::Compute).sampled(image).storage_write(small);
    g.pass("spread", PassQueue::Compute).storage_read(small).storage_write(first).storage_write(rest);
    g.pass("end", PassQueue::Compute).storage_read(first).storage_read(rest).storage_write(out);
    g.root(out);
    g
}

#[test]
fn a_buffer_in_what_an_image_leaves_of_its_last_page_follows_it() {
    let mut profile = Profile::single_queue();
    let graph = buffers_after_an_image();
    let mut in_its_page = 0;
    for granularity in [1024, 4096] {
        profile.buffer_image_granularity = granularity;
        for effort in 0..3 {
            let options = Options { effort, ..Options::default() };
            let plan = bake(&graph, &profile, &options, &mut Scratch::default()).expect("a good graph");
            let placed = |name: &str| {
                let id = graph.find_resource(name).expect("it is declared");
                *plan.memory.placements.iter().find(|one| one.resource == id).expect("it is placed")
            };
            let image = placed("image");
            assert_eq!(image.size % granularity, 0, "an image beside buffers holds whole pages");
            for name in ["first", "rest", "small", "out"] {
                let buffer = placed(name);
                let pages = |from: u64, size: u64| (from / granularity)..=((from + size - 1) / granularity);
                let (own, other) = (pages(buffer.offset, buffer.size), pages(image.offset, image.size));
                let is_page_shared = own.start() <= other.end() && other.start() <= own.end();
                let is_byte_shared =
                    buffer.offset < image.offset + image.size && image.offset < buffer.offset + buffer.size;
                assert_eq!(is_page_shared, is_byte_shared, "granularity {granularity}: {buffer:?}, {image:?}");
                let after = image.offset + 48 * 32;
                in_its_page += u32::from(is_page_shared && buffer.offset >= after);
            }
        }
    }
    assert!(in_its_page > 0, "no buffer lies behind the texels of the image");
}
