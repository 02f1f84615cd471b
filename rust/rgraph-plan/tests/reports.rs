//! Views of a plan, against golden files.

mod common;

use common::{golden, plan};
use rgraph_plan::file::read_graph;
use rgraph_plan::graph::Graph;
use rgraph_plan::report::{explain, listing};

#[test]
fn the_listing_shows_everything_a_plan_says() {
    golden("listing.txt", &listing(&plan()));
}

/// The declaration of which [`plan`] could be the plan, as far as explanations look at it.
fn graph() -> Graph {
    let text = r#"{"rgraph": 1, "name": "frame",
        "images": {"albedo": {}, "depth": {}, "hdr": {}, "out": {}, "volume": {"persistent": true}},
        "buffers": {"lights": {"size": 65000, "imported": true}},
        "passes": [
          {"name": "gbuffer", "accesses": [
            {"resource": "albedo", "usage": "color_attachment"}, {"resource": "depth", "usage": "depth_stencil_attachment"}]},
          {"name": "lighting", "queue": "any", "accesses": [{"resource": "albedo", "usage": "sampled"},
            {"resource": "lights", "usage": "storage_read"}, {"resource": "hdr", "usage": "storage_write"}]},
          {"name": "fog", "queue": "async_compute", "accesses": [{"resource": "depth", "usage": "sampled"}]},
          {"name": "debug", "accesses": [{"resource": "volume", "usage": "storage_write"}]},
          {"name": "tonemap", "accesses": [
            {"resource": "hdr", "usage": "sampled"}, {"resource": "out", "usage": "color_attachment"}]}],
        "roots": ["out"]}"#;
    read_graph(text.as_bytes(), "frame.rgraph.json").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_explanation_says_why_a_pass_runs_here_and_behind_what() {
    let (graph, mut plan) = (graph(), plan());
    plan.graph_hash = graph.content_hash();
    let mut text = String::new();
    for id in plan.passes.ids() {
        text += &explain(&graph, &plan, plan.pass_name(id)).unwrap();
        text.push('\n');
    }
    golden("explain.txt", &text);
}

#[test]
fn an_explanation_of_an_unknown_pass_offers_the_nearest() {
    let error = explain(&graph(), &plan(), "tonemapp").unwrap_err();
    assert_eq!(error.to_string(), "RG-E202 the plan has no pass 'tonemapp'\n  help: did you mean 'tonemap'?");
}

#[test]
fn an_explanation_with_another_graph_says_so() {
    let text = explain(&graph(), &plan(), "fog").unwrap();
    assert!(text.contains("the graph is not the one that this plan was baked from"), "{text}");
}
