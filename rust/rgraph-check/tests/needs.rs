//! Optional features that passes need: refused by planner and checker where a profile lacks them, and placed where one
//! has them.

use rgraph_check::{Rule, check};
use rgraph_files::{read_graph, read_plan, read_profile, write_graph, write_plan, write_profile};
use rgraph_plan::devices::plan_devices;
use rgraph_plan::feature::Features;
use rgraph_plan::id::Id;
use rgraph_plan::prelude::*;

fn with(features: Features) -> Profile {
    Profile { features: Some(features), ..Profile::discrete() }
}

/// A pass that draws, and one that queries rays behind it.
fn graph() -> Graph {
    let mut g = Graph::new("needs", [64, 64]);
    let (drawn, out) = (g.image("drawn", Format::Rgba8unorm), g.image("out", Format::Rgba8unorm));
    g.pass("draw", PassQueue::Graphics).color(drawn);
    g.pass("query", PassQueue::Compute).sampled(drawn).storage_write(out);
    g.root(out);
    let query = g.find_pass("query").expect("it was declared");
    g.pass_mut(query).need(&"query.comp".into(), Features::RAY_QUERY);
    g
}

fn planned(profile: &Profile) -> Result<Plan, GraphError> {
    bake(&graph(), profile, &Options::default(), &mut Scratch::default())
}

#[test]
fn a_profile_that_lists_no_features_refuses_no_pass() {
    let plan = planned(&Profile::discrete()).expect("a profile without a list of features lacks none");
    assert_eq!((plan.features, check(&graph(), &plan)), (None, vec![]));
}

#[test]
fn the_checker_refuses_a_plan_for_a_device_that_lacks_what_a_pass_needs() {
    let mut plan = planned(&with(Features::all())).expect("it has them");
    assert_eq!(check(&graph(), &plan), []);
    plan.features = Some(Features::all() - Features::RAY_QUERY);
    let found = check(&graph(), &plan);
    let words: Vec<_> = found.iter().map(|one| (one.rule, one.pass.as_deref())).collect();
    assert_eq!(words, [(Rule::Feature, Some("query"))]);
    assert!(found[0].message.contains("needs rayQuery (VK_KHR_ray_query), which profile"), "{}", found[0].message);
}

#[test]
fn an_open_pass_goes_to_the_device_that_has_what_it_needs_and_a_named_one_is_refused_where_it_lacks() {
    let without = Features::all() - Features::RAY_QUERY;
    for (features, device) in [([Features::all(), without], 0), ([without, Features::all()], 1)] {
        let profiles = features.map(with);
        let plan = |graph: &Graph| plan_devices(graph, &profiles, &Options::default(), &mut Scratch::default());
        let split = plan(&graph()).expect("one device has it");
        let query = graph().find_pass("query").expect("it is there");
        let on = split.parts.iter().find(|part| part.passes.contains(&query)).map(|part| part.device.index() as u32);
        assert_eq!(on, Some(device));
        let mut pinned = graph();
        pinned.pass_mut(query).device = Some(1 - device);
        let error = plan(&pinned).expect_err("that device lacks it").to_string();
        assert!(error.starts_with("RG-E227 pass \"query\" needs rayQuery"), "{error}");
        assert!(error.contains("shader \"query.comp\" needs rayQuery (VK_KHR_ray_query)"), "{error}");
    }
    let neither = [with(without), with(Features::empty())];
    let error = plan_devices(&graph(), &neither, &Options::default(), &mut Scratch::default()).expect_err("none has");
    assert!(error.to_string().contains("which profile \"discrete\" lacks"), "{error}");
}

#[test]
fn files_keep_features_and_those_that_name_none_are_as_before() {
    let (graph, profile) = (graph(), with(Features::all() - Features::MESH_SHADER));
    let text = write_graph(&graph);
    assert!(text.contains("\"needs\": [\"rayQuery\"]"), "{text}");
    let same = read_graph(text.as_bytes(), "g").expect("it reads back");
    assert!(same == graph && same.content_hash() == graph.content_hash());
    let own = write_profile(&profile);
    assert_eq!(read_profile(own.as_bytes(), "p").expect("it reads back"), profile);
    assert!(!write_profile(&Profile::discrete()).contains("features"));
    let plan = bake(&graph, &profile, &Options::default(), &mut Scratch::default()).expect("it has them");
    assert_eq!(read_plan(write_plan(&plan).as_bytes(), "p").expect("it reads back"), plan);
    let mut without = graph.clone();
    without.pass_mut(rgraph_plan::graph::PassId::new(1)).needs.clear();
    assert_ne!(without.content_hash(), graph.content_hash(), "what a pass needs is part of the declaration");
    assert!(!write_graph(&without).contains("\"needs\":"));
}
