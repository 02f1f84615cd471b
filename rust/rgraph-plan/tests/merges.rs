//! Two passes that draw become one render pass, or the plan says why not.

use rgraph_plan::access::{Load, Stages, Usage};
use rgraph_plan::plan::UnmergedWhy;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Image, ResourceId};

/// What stands between passes; empty if all are one render pass.
fn reasons(graph: &Graph) -> Vec<UnmergedWhy> {
    let options = Options { policy: Policy::Declared, ..Options::default() };
    let plan = bake(graph, &Profile::discrete(), &options, &mut Scratch::default()).expect("a good graph");
    plan.unmerged.iter().map(|pair| pair.reason).collect()
}

fn loaded(usage: Usage) -> Use {
    Use { load: Some(Load::Load), ..Use::new(usage) }
}

fn cleared(usage: Usage) -> Use {
    Use { load: Some(Load::Clear), ..Use::new(usage) }
}

const COLOR: Usage = Usage::ColorAttachment;
const DEPTH: Usage = Usage::DepthStencilAttachment;

/// By pass, what it does to which image.
type Both<'a> = [&'a [(usize, Use)]; 2];

/// A graph with colours and depths of 64×64, and two passes that draw.
fn two(uses: Both<'_>) -> (Graph, Vec<ResourceId>) {
    let mut g = Graph::new("g", [64, 64]);
    let mut images: Vec<ResourceId> = (0..12).map(|at| g.image(&format!("color{at}"), Format::Rgba8unorm)).collect();
    images.extend((0..2).map(|at| g.image(&format!("depth{at}"), Format::Depth32float)));
    for (name, uses) in ["first", "second"].into_iter().zip(uses) {
        let mut pass = g.pass(name, PassQueue::Graphics);
        for (image, how) in uses {
            pass = pass.uses(images[*image], how);
        }
    }
    let used: std::collections::BTreeSet<usize> = uses.into_iter().flatten().map(|(image, _)| *image).collect();
    used.into_iter().for_each(|image| g.root(images[image]));
    (g, images)
}

#[test]
fn a_render_pass_has_as_many_colours_as_the_profile_allows() {
    assert_eq!(Profile::discrete().limits.max_color_attachments, 8);
    // The first pass clears so many; the second one loads some of them, and clears more.
    for (first, shared, more, fits) in
        [(8, 8, 0, true), (4, 4, 4, true), (1, 1, 7, true), (2, 1, 7, false), (5, 4, 4, false)]
    {
        let clears: Vec<_> = (0..first).map(|image| (image, cleared(COLOR))).collect();
        let loads = (0..shared).map(|image| (image, loaded(COLOR)));
        let draws: Vec<_> = loads.chain((first..first + more).map(|image| (image, cleared(COLOR)))).collect();
        let expected = if fits { vec![] } else { vec![UnmergedWhy::TooMany] };
        assert_eq!(reasons(&two([&clears, &draws]).0), expected, "{first} colours, {shared} of them and {more} more");
    }
}

#[test]
fn attachments_in_common_merge_and_what_cannot_is_named() {
    let [clear, load] = [cleared(COLOR), loaded(COLOR)];
    let [deep, on] = [cleared(DEPTH), loaded(DEPTH)];
    let (_, images) = two([&[], &[]]);
    let cases: [(&str, Both<'_>, Vec<UnmergedWhy>); 8] = [
        ("one colour", [&[(0, clear)], &[(0, load)]], vec![]),
        ("one depth", [&[(0, clear), (12, deep)], &[(1, clear), (12, on)]], vec![]),
        (
            "a depth that is only read",
            [&[(0, clear), (12, deep)], &[(0, load), (12, Use::new(Usage::DepthStencilRead))]],
            vec![],
        ),
        ("a depth that the first has not", [&[(0, clear)], &[(0, load), (12, deep)]], vec![]),
        ("another depth", [&[(0, clear), (12, deep)], &[(0, load), (13, deep)]], vec![UnmergedWhy::Depth]),
        ("nothing in common", [&[(0, clear)], &[(1, clear)]], vec![UnmergedWhy::NothingShared]),
        (
            "cleared again",
            [&[(0, clear), (1, clear)], &[(0, load), (1, clear)]],
            vec![UnmergedWhy::Reloaded(images[1])],
        ),
        (
            "sampled",
            [&[(0, clear), (1, clear)], &[(0, load), (1, Use::new(Usage::Sampled))]],
            vec![UnmergedWhy::NotLocal(images[1])],
        ),
    ];
    for (what, uses, expected) in cases {
        assert_eq!(reasons(&two(uses).0), expected, "{what}");
    }
}

#[test]
fn an_attachment_of_a_render_pass_before_the_last_is_nothing_in_common() {
    let mut g = Graph::new("g", [64, 64]);
    let [one, two] = ["one", "two"].map(|name| g.image(name, Format::Rgba8unorm));
    g.pass("first", PassQueue::Graphics).uses(one, &cleared(COLOR));
    g.pass("other", PassQueue::Graphics).uses(two, &cleared(COLOR));
    g.pass("again", PassQueue::Graphics).uses(one, &loaded(COLOR));
    g.root(one);
    g.root(two);
    assert_eq!(reasons(&g), [UnmergedWhy::NothingShared; 2]);
}

#[test]
fn a_pass_with_commands_that_no_render_pass_allows_stays_apart() {
    let [clear, load] = [cleared(COLOR), loaded(COLOR)];
    let stages = [
        (Stages::FRAGMENT_SHADER, true),
        (Stages::VERTEX_SHADER, true),
        (Stages::COMPUTE_SHADER, false),
        (Stages::RAY_TRACING_SHADER, false),
        (Stages::FRAGMENT_SHADER | Stages::COMPUTE_SHADER, false),
    ];
    let stored = stages.map(|(stages, fits)| (Use { stages, ..Use::new(Usage::StorageWrite) }, fits));
    for (how, fits) in stored.into_iter().chain([(Use::new(Usage::TransferDst), false)]) {
        let (mut g, _) = two([&[(0, clear)], &[(0, load)]]);
        let out = g.buffer("out", 256);
        g.access(g.find_pass("second").expect("it is declared"), out, &how, None);
        g.root(out);
        let expected = if fits { vec![] } else { vec![UnmergedWhy::NotLocal(out)] };
        assert_eq!(reasons(&g), expected, "{:?} at {:?}", how.usage, how.stages);
    }
}

#[test]
fn passes_of_other_areas_flags_and_orders_stay_apart() {
    let [clear, load] = [cleared(COLOR), loaded(COLOR)];
    let pair = || two([&[(0, clear)], &[(0, load)]]).0;
    let [first, second] = ["first", "second"].map(|name| pair().find_pass(name).expect("it is declared"));
    let mut ordered = pair();
    ordered.order_after(second, first);
    assert_eq!(reasons(&ordered), [UnmergedWhy::Ordered]);
    for passes in [&[second][..], &[first, second]] {
        let (mut switched, images) = two([&[(0, clear)], &[(0, load)]]);
        let flag = switched.flag("flag");
        switched.unroot(images[0]);
        switched.pass_mut(second).side_effects = true;
        passes.iter().for_each(|pass| switched.pass_mut(*pass).conditional = Some(flag));
        assert_eq!(reasons(&switched), [UnmergedWhy::Conditional]);
    }
    let (mut small, images) = two([&[(0, clear)], &[(1, clear)]]);
    let size = Size::absolute(32, 32);
    *small.resource_mut(images[1]) =
        Resource::image(Image { format: Some(Format::Rgba8unorm), size: Some(size), ..Default::default() });
    assert_eq!(reasons(&small), [UnmergedWhy::Area]);
}
