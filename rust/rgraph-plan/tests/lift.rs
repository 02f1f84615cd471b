//! What passes of one render pass wait for, waits for the first of them: they merge in whatever order they are
//! declared.

use rgraph_plan::plan::Command;
use rgraph_plan::prelude::*;

/// Declares passes in the order of `order`; each number is one of `declare`'s.
fn in_order(order: &[usize], declare: impl Fn(&mut Graph, usize)) -> Graph {
    let mut g = Graph::new("deferred", [640, 360]);
    for &at in order {
        declare(&mut g, at);
    }
    g
}

/// All orders of `n` numbers (Heap's algorithm).
fn permutations(n: usize) -> Vec<Vec<usize>> {
    fn heap(k: usize, items: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        if k <= 1 {
            out.push(items.clone());
            return;
        }
        for at in 0..k {
            heap(k - 1, items, out);
            items.swap(if k.is_multiple_of(2) { at } else { 0 }, k - 1);
        }
    }
    let (mut items, mut out) = ((0..n).collect(), Vec::new());
    heap(n, &mut items, &mut out);
    out
}

/// Names of the passes of each render pass.
fn render_passes(plan: &Plan) -> Vec<Vec<String>> {
    let mut out: Vec<Vec<String>> = Vec::new();
    for command in plan.commands.iter() {
        match command {
            Command::BeginRendering { .. } => out.push(Vec::new()),
            Command::Pass { pass, .. } => {
                out.last_mut().expect("all passes of these graphs draw").push(plan.pass_name(*pass).to_owned());
            }
            _ => {}
        }
    }
    out
}

fn baked(graph: &Graph, profile: &Profile, memory: MemoryBudget, effort: u32) -> Plan {
    let options = Options { memory, effort, ..Options::default() };
    bake(graph, profile, &options, &mut Scratch::default()).expect("a good graph")
}

/// A deferred frame: geometry, shadow maps, lighting in place on the tile, and what reads the picture.
fn deferred(order: &[usize], shadows: usize) -> Graph {
    let names = ["albedo", "normal", "hdr", "out"];
    in_order(order, |g, at| {
        if g.resources().is_empty() {
            for name in names {
                g.image(name, if name == "hdr" { Format::Rgba16float } else { Format::Rgba8unorm });
            }
            g.image("depth", Format::Depth32float);
            for shadow in 0..shadows {
                g.sized_image(&format!("shadow {shadow}"), Format::Depth32float, Size::scaled(None, 2.0, 2.0));
            }
            let out = g.find_resource("out").expect("declared above");
            g.root(out);
        }
        let id = |g: &Graph, name: &str| g.find_resource(name).expect("declared above");
        let [albedo, normal, hdr, out] = names.map(|name| id(g, name));
        let depth = id(g, "depth");
        let maps: Vec<_> = (0..shadows).map(|shadow| id(g, &format!("shadow {shadow}"))).collect();
        match at {
            0 => {
                g.pass("gbuffer", PassQueue::Graphics).color(albedo).color(normal).depth_cleared(depth, 1.0);
            }
            1 => {
                let mut pass = g.pass("lighting", PassQueue::Graphics);
                for map in maps {
                    pass = pass.sampled(map);
                }
                pass.input_attachment(albedo).input_attachment(normal).color(hdr);
            }
            2 => {
                g.pass("tonemap", PassQueue::Graphics).sampled(hdr).color(out);
            }
            shadow => {
                g.pass(&format!("shadows {}", shadow - 3), PassQueue::Graphics).depth_cleared(maps[shadow - 3], 1.0);
            }
        }
    })
}

#[test]
fn gbuffer_and_lighting_merge_around_shadows_in_every_declared_order() {
    for shadows in 1..3 {
        for order in permutations(3 + shadows) {
            let graph = deferred(&order, shadows);
            for profile in [Profile::single_queue(), Profile::discrete()] {
                for memory in [MemoryBudget::Balanced, MemoryBudget::Fast] {
                    for effort in 0..3 {
                        let plan = baked(&graph, &profile, memory, effort);
                        let passes = render_passes(&plan);
                        let wanted = vec!["gbuffer".to_owned(), "lighting".to_owned()];
                        assert!(passes.contains(&wanted), "{order:?}, {memory}, effort {effort}: {passes:?}");
                        assert_eq!(plan.live().count(), 3 + shadows);
                    }
                }
            }
        }
    }
}

#[test]
fn least_memory_lifts_where_the_bytes_allow_it() {
    for order in permutations(4) {
        let graph = deferred(&order, 1);
        let plan = baked(&graph, &Profile::single_queue(), MemoryBudget::Least, 1);
        let merged = render_passes(&plan).iter().any(|passes| passes.len() > 1);
        assert!(merged, "{order:?}: all orders of this frame keep the same images alive");
    }
}

#[test]
fn a_chain_is_not_lifted_where_that_would_lengthen_the_longest_path() {
    // a and c could merge, but c waits for four passes, and three wait for a: lifted, eight calls instead of five.
    let mut g = Graph::new("long", [64, 64]);
    let [a, c] = ["a", "c"].map(|name| g.image(name, Format::Rgba8unorm));
    g.pass("a", PassQueue::Graphics).color(a);
    let chain = |g: &mut Graph, name: &str, first, length| {
        let mut last = first;
        for at in 0..length {
            let next = g.buffer(&format!("{name} {at}"), 256);
            let pass = g.pass(&format!("{name} {at}"), PassQueue::Compute).storage_write(next);
            match last {
                Some((image, true)) => drop(pass.sampled(image)),
                Some((buffer, false)) => drop(pass.storage_read(buffer)),
                None => {}
            }
            last = Some((next, false));
        }
        last.expect("a chain has a pass").0
    };
    let before = chain(&mut g, "before", None, 4);
    let after = chain(&mut g, "after", Some((a, true)), 3);
    g.pass("c", PassQueue::Graphics).storage_read(before).input_attachment(a).color(c);
    g.root(c);
    g.root(after);
    for memory in MemoryBudget::NAMED {
        let plan = baked(&g, &Profile::single_queue(), memory, 1);
        assert_eq!(plan.report.barriers, 5, "{memory}");
    }
}
