//! Ids of another graph: reported when the graph is baked, and no panic before.
#![forbid(unsafe_code)]

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::error::Code;
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Access, FlagId, Graph, Pass, PassId, SlotId, UnitId, Use};
use rgraph_plan::id::Id;
use rgraph_plan::prelude::{Options, Scratch, bake};
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{Axis, History, Image, Life, Resource, ResourceId, Round, Size};

/// Ids that are larger than any of a small graph.
struct Foreign {
    pass: PassId,
    resource: ResourceId,
    flag: FlagId,
    unit: UnitId,
    slot: SlotId,
    access: Access,
}

fn foreign() -> Foreign {
    let mut graph = Graph::new("other", [8, 8]);
    let flag = (0..9).map(|at| graph.flag(&format!("flag {at}"))).last().unwrap();
    let unit = (0..9).map(|at| graph.unit(&format!("unit {at}"))).last().unwrap();
    let slot = (0..9).map(|at| graph.add_slot(&format!("slot {at}"), None)).last().unwrap();
    let resource = (0..9).map(|at| graph.image(&format!("image {at}"), Format::Rgba8unorm)).last().unwrap();
    for at in 0..9 {
        let how = Use { generate_mips: true, ..Use::new(Usage::ColorAttachment) };
        let mut how = Use { ranges: rgraph_plan::graph::Ranges { mips: Some([0, 1]), ..Default::default() }, ..how };
        how.details.resolves = Some(resource);
        graph.pass(&format!("pass {at}"), PassQueue::Graphics).uses(resource, &how);
    }
    let access = *graph.accesses().last().unwrap();
    Foreign { pass: access.pass, resource, flag, unit, slot, access }
}

/// A graph that is right.
fn small() -> (Graph, PassId, ResourceId) {
    let mut graph = Graph::new("small", [8, 8]);
    let image = graph.image("image", Format::Rgba8unorm);
    let pass = graph.pass("draw", PassQueue::Graphics).color_cleared(image, [0.0; 4]).id();
    graph.root(image);
    (graph, pass, image)
}

type Change = fn(&mut Graph, &Foreign, PassId, ResourceId);

const CHANGES: [(&str, Change); 15] = [
    ("an access of a foreign pass", |graph, other, _, image| {
        graph.access(other.pass, image, &Use::new(Usage::Sampled), None);
    }),
    ("an access to a foreign resource", |graph, other, pass, _| {
        graph.access(pass, other.resource, &Use::new(Usage::Sampled), None);
    }),
    ("a foreign root", |graph, other, _, _| graph.root(other.resource)),
    ("an order after a foreign pass", |graph, other, pass, _| graph.order_after(pass, other.pass)),
    ("a foreign fallback", |graph, other, _, _| graph.fallback(other.pass, other.resource, other.resource)),
    ("a change of a foreign pass", |graph, other, _, _| graph.pass_mut(other.pass).side_effects = true),
    ("a change of a foreign resource", |graph, other, _, _| {
        graph.resource_mut(other.resource).life = Life::Persistent;
    }),
    ("a foreign flag", |graph, other, pass, _| graph.pass_mut(pass).conditional = Some(other.flag)),
    ("a foreign occupancy class", |graph, other, pass, _| graph.pass_mut(pass).unit = Some(other.unit)),
    ("a foreign module", |graph, other, _, _| {
        graph.add_pass("in a module", Pass { slot: Some(other.slot), ..Pass::new(PassQueue::Graphics) }, None);
    }),
    ("a place for a foreign module", |graph, other, _, _| assert!(!graph.place_slot(other.slot, Some(other.slot)))),
    ("a module in a foreign module", |graph, other, _, _| {
        graph.add_slot("module", Some(other.slot));
    }),
    ("a foreign history", |graph, other, _, _| {
        let history = History { of: other.resource, frames: 1, zero_first: true };
        graph.add_resource("history", Resource { life: Life::History(history), ..Resource::buffer(64) }, None);
    }),
    ("a foreign modified resource", |graph, other, _, image| {
        graph.resource_mut(image).modifies = Some(other.resource);
    }),
    ("a size relative to a foreign image", |graph, other, _, _| {
        let axis = Axis::Scaled(Some(other.resource), 1.0);
        let size = Size { x: axis, y: axis, z: None, round: Round::Up };
        graph.add_resource("sized", Resource::image(Image { size: Some(size), ..Image::default() }), None);
    }),
];

#[test]
fn ids_of_another_graph_are_reported_by_bake() {
    let other = foreign();
    for (what, change) in CHANGES {
        for in_modules in [false, true] {
            let (mut graph, pass, image) = small();
            if in_modules {
                let slot = graph.add_slot("own", None);
                graph.add_pass("inner", Pass { slot: Some(slot), ..Pass::new(PassQueue::Graphics) }, None);
            }
            change(&mut graph, &other, pass, image);
            let (mut ordered, mut flat) = (graph.clone(), graph.flattened());
            ordered.to_file_order();
            for graph in [Some(&mut graph), Some(&mut ordered), flat.as_mut()].into_iter().flatten() {
                let baked = bake(graph, &Profile::minimal(), &Options::default(), &mut Scratch::default());
                let mistakes = baked.map(drop).expect_err(what);
                let mistakes = mistakes.mistakes();
                assert!(mistakes.iter().any(|one| one.code == Code::UnknownName), "{what}: {mistakes:?}");
            }
        }
    }
}

#[test]
fn questions_about_ids_of_another_graph_have_answers() {
    let other = foreign();
    let (graph, ..) = small();
    assert_eq!((graph.pass_name(other.pass), graph.resource_name(other.resource)), ("?", "?"));
    assert_eq!((graph.pass_place(other.pass), graph.resource_place(other.resource)), (None, None));
    assert!(!graph.is_root(other.resource) && other.pass.index() >= graph.passes().len());
    assert_eq!(graph.ranges_of(&other.access).mips, None);
    assert_eq!(graph.details_of(&other.access).resolves, None);
}
