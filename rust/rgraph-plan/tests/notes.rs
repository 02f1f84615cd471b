//! What a plan says of its graph: notes, why passes are culled, where a cycle runs, what its parts are for, and which
//! resources share bytes.

use rgraph_plan::access::{Aspects, Layout, Load, Usage};
use rgraph_plan::id::Id;
use rgraph_plan::plan::Culled;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Image, Imported, Leave, Life, Mips, Resource, ResourceId, Size};

const BLACK: [f64; 4] = [0.0; 4];

fn baked(graph: &Graph) -> Plan {
    bake(graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).expect("a good graph")
}

fn notes(graph: &Graph) -> Vec<String> {
    baked(graph).report.notes.clone()
}

fn with_mips(graph: &mut Graph, name: &str, format: Format, mips: u32) -> ResourceId {
    let image = Image { format: Some(format), mips: Some(Mips::Count(mips)), ..Image::default() };
    graph.add_resource(name, Resource::image(image), None)
}

/// An attachment of one mip, cleared.
fn cleared(usage: Usage, mip: u32) -> Use {
    let mut how = Use { load: Some(Load::Clear), ..Use::new(usage) };
    how.ranges.mips = Some([mip, mip + 1]);
    how
}

#[test]
fn mips_that_nothing_writes_are_noted_once_for_all_who_read_them() {
    let mut g = Graph::new("g", [64, 64]);
    let (pyramid, out) = (with_mips(&mut g, "pyramid", Format::Rgba8unorm, 7), g.image("out", Format::Rgba8unorm));
    g.pass("base", PassQueue::Graphics).uses(pyramid, &cleared(Usage::ColorAttachment, 0));
    g.pass("third", PassQueue::Graphics).uses(pyramid, &cleared(Usage::ColorAttachment, 2));
    g.pass("blur", PassQueue::Graphics).sampled(pyramid).color(out);
    g.pass("again", PassQueue::Graphics).sampled(pyramid).color(out);
    g.root(out);
    assert_eq!(
        notes(&g),
        ["pass \"blur\" reads mip 1, mips 3 to 6 of \"pyramid\", which nothing writes: write them, or read only what \
          is written, such as .mip(0)"]
    );
}

#[test]
fn stencil_that_nothing_writes_is_not_noted_for_a_read_of_depth_and_stencil() {
    let mut g = Graph::new("g", [64, 64]);
    let (depth, out) = (g.image("depth", Format::Depth24plusStencil8), g.image("out", Format::Rgba8unorm));
    let depth_alone = Use { aspects: Aspects::DEPTH, ..cleared(Usage::DepthStencilAttachment, 0) };
    g.pass("draw", PassQueue::Graphics).uses(depth, &depth_alone);
    g.pass("look", PassQueue::Graphics).depth_read(depth).color(out);
    g.root(out);
    assert_eq!(notes(&g), [""; 0]);
}

#[test]
fn a_load_that_finds_nothing_while_a_flag_is_off_is_noted_once() {
    let mut g = Graph::new("g", [64, 64]);
    let out = g.image("out", Format::Rgba8unorm);
    g.pass("sky", PassQueue::Graphics).conditional("day").uses(out, &cleared(Usage::ColorAttachment, 0));
    g.pass("ground", PassQueue::Graphics).color(out);
    g.pass("trees", PassQueue::Graphics).color(out);
    g.root(out);
    assert_eq!(
        notes(&g),
        [
            "while flag \"day\" is off, pass \"ground\" loads \"out\" without contents: clear \"out\" in a pass that always \
          runs, or say load: discard"
        ]
    );
}

/// A pass that a flag switches draws `a`; readers get `b` while it is off.
fn switched(g: &mut Graph, life: Life) -> ResourceId {
    let (a, b) = (g.image("a", Format::Rgba8unorm), g.image("b", Format::Rgba8unorm));
    g.resource_mut(a).life = life;
    g.pass("fill", PassQueue::Graphics).color_cleared(b, BLACK);
    let flag = g.flag("pretty");
    let glow = g.pass("glow", PassQueue::Graphics).color_cleared(a, BLACK).id();
    g.pass_mut(glow).conditional = Some(flag);
    g.fallback(glow, a, b);
    g.root(a);
    a
}

#[test]
fn a_root_is_noted_as_empty_where_only_a_switched_pass_makes_its_contents() {
    let mut g = Graph::new("g", [64, 64]);
    switched(&mut g, Life::Transient);
    let empty = "while flag \"pretty\" is off, root \"a\" has no contents: its fallback is for passes; make a copy of \
                 \"a\" the root";
    assert_eq!(notes(&g), [empty]);

    let mut kept = Graph::new("g", [64, 64]);
    switched(&mut kept, Life::Persistent);
    assert_eq!(notes(&kept), [""; 0], "it has those of earlier frames");

    let mut anew = Graph::new("g", [64, 64]);
    let (a, out) = (switched(&mut anew, Life::Transient), anew.image("out", Format::Rgba8unorm));
    anew.pass("look", PassQueue::Graphics).sampled(a).color(out);
    anew.pass("anew", PassQueue::Graphics).color_cleared(a, BLACK);
    anew.root(out);
    assert_eq!(notes(&anew), [""; 0], "another pass makes them");
}

#[test]
fn a_history_is_noted_as_empty_where_only_a_switched_pass_makes_its_contents() {
    // Every other frame makes `a`; the others are meant to keep the last one.
    let every_other = |is_read: bool, is_remade: bool| {
        let mut g = Graph::new("g", [64, 64]);
        let (a, out) = (g.image("a", Format::Rgba8unorm), g.image("out", Format::Rgba8unorm));
        let last = g.history("last", a, 1);
        let flag = g.flag("pretty");
        let glow = g.pass("glow", PassQueue::Graphics).color_cleared(a, BLACK).id();
        g.pass_mut(glow).conditional = Some(flag);
        g.fallback(glow, a, last);
        let look = g.pass("look", PassQueue::Graphics).color(out);
        if is_read {
            look.sampled(a)
        } else {
            look
        };
        if is_remade {
            g.pass("anew", PassQueue::Graphics).color_cleared(a, BLACK);
        }
        g.root(out);
        notes(&g)
    };
    let empty = "after a frame in which flag \"pretty\" is off, \"last\" has no contents: the fallback of \"a\" is for \
                 passes; remember a copy of \"a\"";
    assert_eq!(every_other(true, false), [empty]);
    assert_eq!(every_other(true, true), [""; 0], "another pass makes them");
    assert_eq!(every_other(false, false), [""; 0], "nobody reads it");
}

#[test]
fn a_culled_pass_has_the_reason_that_holds_for_it() {
    let mut g = Graph::new("g", [64, 64]);
    let [out, x, y] = ["out", "x", "y"].map(|name| g.image(name, Format::Rgba8unorm));
    let pyramid = with_mips(&mut g, "pyramid", Format::Rgba8unorm, 3);
    let given = g.import_image("given", Format::Rgba8unorm, Size::absolute(64, 64));
    g.pass("idle", PassQueue::Compute);
    g.pass_with("opted out", PassQueue::Compute, |_| {});
    g.pass_with("looks only", PassQueue::Compute, |pass| {
        pass.sampled(given);
    });
    g.pass("first", PassQueue::Graphics).color_cleared(out, BLACK);
    g.pass("second", PassQueue::Graphics).color_cleared(out, BLACK);
    g.pass("makes x", PassQueue::Graphics).color_cleared(x, BLACK);
    let reader = g.pass("reads x", PassQueue::Graphics).sampled(x).color(y).id();
    let mut mipped = cleared(Usage::ColorAttachment, 0);
    mipped.generate_mips = true;
    g.pass("mipped", PassQueue::Graphics).uses(pyramid, &mipped);
    g.root(out);
    let plan = baked(&g);
    let culled: Vec<_> = plan.culled().map(|(pass, why)| (plan.pass_name(pass).to_owned(), why)).collect();
    let expected = [
        ("idle", Culled::WritesNothing),
        ("opted out", Culled::OptedOut),
        ("looks only", Culled::WritesNothing),
        ("first", Culled::Overwritten(out)),
        ("makes x", Culled::OnlyCulledReaders(x, reader.index() as u32)),
        ("reads x", Culled::Unread(y)),
        ("mipped", Culled::Unread(pyramid)),
    ];
    assert_eq!(culled, expected.map(|(name, why)| (name.to_owned(), why)));
}

fn refusal(graph: &Graph) -> String {
    bake(graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default())
        .expect_err("a cycle")
        .to_string()
}

#[test]
fn a_cycle_says_of_each_pair_what_orders_it() {
    let mut g = Graph::new("g", [64, 64]);
    let [x, y, out] = ["x", "y", "out"].map(|name| g.buffer(name, 64));
    g.pass("first", PassQueue::Compute).storage_read(x).storage_write(y);
    g.pass("second", PassQueue::Compute).storage_read(y).storage_write(x).storage_write(out);
    g.root(out);
    let text = refusal(&g);
    assert!(text.contains("first writes, then second reads\n"), "{text}");
    assert!(text.contains("second writes, first reads and waits for the first writer\n"), "{text}");

    let mut g = Graph::new("g", [64, 64]);
    let (a, c) = (g.buffer("a", 64), g.buffer("c", 64));
    let on = g.add_resource("on", Resource { modifies: Some(a), ..Resource::buffer(64) }, None);
    g.pass("blur", PassQueue::Compute).storage_write(a).storage_read(c);
    g.pass("tone", PassQueue::Compute).storage_read_write(on).storage_write(c);
    g.root(on);
    let text = refusal(&g);
    assert!(text.contains("modifies \"a\": blur writes \"a\", then tone reads and writes \"on\"\n"), "{text}");
    assert!(text.contains("tone writes, blur reads and waits for the first writer\n"), "{text}");

    let mut g = Graph::new("g", [64, 64]);
    let (a, c) = (g.buffer("a", 64), g.buffer("c", 64));
    let on = g.add_resource("on", Resource { modifies: Some(a), ..Resource::buffer(64) }, None);
    g.pass("make", PassQueue::Compute).storage_write(a);
    g.pass("blur", PassQueue::Compute).storage_read_write(on).storage_read(c);
    g.pass("tone", PassQueue::Compute).storage_read_write(on).storage_write(c);
    g.root(on);
    let text = refusal(&g);
    assert!(text.contains("blur reads and writes, then tone reads and writes\n"), "{text}");
    assert!(!text.contains("modifies"), "both use the later name: {text}");
}

#[test]
fn a_part_of_a_graph_is_for_its_roots_and_for_the_imports_that_it_writes() {
    let mut g = Graph::new("g", [64, 64]);
    let buffers = ["root", "import", "import that is a root", "import that is read", "lonely"].map(|n| g.buffer(n, 64));
    let [root, import, both, read, lonely] = buffers;
    for imported in [import, both, read] {
        g.resource_mut(imported).life = Life::Imported(Imported::default());
    }
    g.pass("makes", PassQueue::Compute)
        .storage_read(read)
        .storage_write(root)
        .storage_write(import)
        .storage_write(both);
    g.pass("alone", PassQueue::Compute).storage_write(lonely);
    for kept in [root, both, lonely] {
        g.root(kept);
    }
    let plan = baked(&g);
    let roots: Vec<_> = plan.subgraphs.iter().map(|part| plan.subgraph_roots[part.roots.range()].to_vec()).collect();
    assert_eq!(roots, [vec![root, both, import], vec![lonely]]);
}

#[test]
fn passes_ordered_through_a_culled_pass_are_one_part() {
    let mut g = Graph::new("g", [64, 64]);
    let outs: Vec<_> = (0..3).map(|at| g.buffer(&format!("b{at}"), 256)).collect();
    let sync = g.pass("sync", PassQueue::Compute).id();
    for (at, out) in outs.iter().enumerate() {
        let pass = g.pass(&format!("p{at}"), PassQueue::Compute).storage_write(*out).id();
        g.root(*out);
        match at {
            0 => g.order_after(sync, pass),
            1 => g.order_after(pass, sync),
            _ => {}
        }
    }
    let plan = baked(&g);
    let roots: Vec<_> = plan.subgraphs.iter().map(|part| plan.subgraph_roots[part.roots.range()].to_vec()).collect();
    assert_eq!(roots, [vec![outs[0], outs[1]], vec![outs[2]]]);
}

#[test]
fn aliases_share_bytes_and_name_each_other() {
    let mut g = Graph::new("g", [64, 64]);
    let images: Vec<_> = (0..8).map(|at| g.image(&format!("i{at}"), Format::Rgba8unorm)).collect();
    g.pass("first", PassQueue::Compute).storage_write(images[0]);
    for pair in images.windows(2) {
        g.pass(&format!("to {}", pair[1].index()), PassQueue::Compute).sampled(pair[0]).storage_write(pair[1]);
    }
    g.root(images[7]);
    let plan = baked(&g);
    let place = |id: ResourceId| plan.memory.placements.iter().find(|one| one.resource == id).expect("it is placed");
    let aliases = |id: ResourceId| &plan.aliases[plan.resources[id].aliases.range()];
    let mut pairs = 0;
    for id in plan.resources.ids() {
        for &other in aliases(id) {
            let [a, b] = [id, other].map(place);
            assert!(id != other && aliases(other).contains(&id));
            assert!(a.heap == b.heap && a.offset < b.offset + b.size && b.offset < a.offset + a.size);
            pairs += 1;
        }
    }
    assert_eq!(pairs, 2 * 6, "each image but two follows one before it");
}

#[test]
fn what_no_pass_uses_of_a_resource_with_leave_is_noted() {
    let left = |g: &mut Graph, id: ResourceId| {
        g.change(id).leave(Leave::default().layout(Layout::General));
    };
    let mut g = Graph::new("g", [64, 64]);
    let (seen, unseen) = (
        with_mips(&mut g, "seen", Format::Rgba8unorm, 3),
        g.import_image("unseen", Format::R8unorm, Size::absolute(64, 64)),
    );
    left(&mut g, seen);
    left(&mut g, unseen);
    g.pass("draw", PassQueue::Graphics).uses(seen, &cleared(Usage::ColorAttachment, 0));
    g.root(seen);
    assert_eq!(
        notes(&g),
        [
            "no pass uses mips 1 to 2 of \"seen\", so leave does not change them",
            "no pass uses \"unseen\", so leave does not change it"
        ]
    );
}
