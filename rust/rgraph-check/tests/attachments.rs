//! Render passes attach all that their passes draw to and read in place: a plan with less is refused.

use rgraph_check::{Rule, check};
use rgraph_files::read_graph;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::{Command, Plan};
use rgraph_plan::profile::Profile;

fn baked(text: &str) -> (Graph, Plan) {
    let graph = read_graph(text.as_bytes(), "attachments").expect("the graph of a test is right");
    let plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).expect("it bakes");
    assert_eq!(check(&graph, &plan), []);
    (graph, plan)
}

fn assert_refused(graph: &Graph, plan: &Plan) {
    let findings = check(graph, plan);
    assert!(findings.iter().any(|finding| finding.rule == Rule::Attachment), "{findings:?}");
}

#[test]
fn a_render_pass_attaches_all_layers_that_its_passes_draw_to() {
    let (graph, plan) = baked(
        r#"{"rgraph": 1, "images": {"a": {"format": "rgba8unorm", "size": [8, 8], "layers": 2}},
            "passes": [{"name": "draw", "queue": "graphics", "accesses": [
              {"resource": "a", "usage": "color_attachment"}]}],
            "roots": ["a"]}"#,
    );
    for layers in [[0, 1], [1, 2]] {
        let mut less = plan.clone();
        less.attachments[0].layers = layers;
        assert_refused(&graph, &less);
    }
}

#[test]
fn a_render_pass_attaches_what_its_passes_read_in_place() {
    let (graph, plan) = baked(
        r#"{"rgraph": 1, "images": {
              "seen": {"format": "rgba8unorm", "size": [8, 8], "persistent": true},
              "out": {"format": "rgba8unorm", "size": [8, 8]}},
            "passes": [{"name": "draw", "queue": "graphics", "accesses": [
              {"resource": "out", "usage": "color_attachment"},
              {"resource": "seen", "usage": "input_attachment"}]}],
            "roots": ["out"]}"#,
    );
    let seen = graph.find_resource("seen").unwrap();
    let at = plan.attachments.iter().position(|one| one.input && one.resource == seen).expect("it is attached");
    assert_eq!(at, plan.attachments.len() - 1, "the last of the only render pass");
    let mut less = plan;
    for command in &mut less.commands {
        if let Command::BeginRendering { attachments, .. } = command {
            attachments.end -= 1;
        }
    }
    assert_refused(&graph, &less);
}

#[test]
fn a_resolve_that_names_nothing_takes_the_attachment_of_many_samples_and_of_its_format() {
    let (graph, plan) = baked(
        r#"{"rgraph": 1, "reference_size": [8, 8], "images": {
              "bytes": {"format": "rgba8unorm", "samples": 4}, "halves": {"format": "rgba16float", "samples": 4},
              "flat": {"format": "rgba16float"}, "depth": {"format": "depth32float", "samples": 4}},
            "passes": [{"name": "draw", "queue": "graphics", "accesses": [
              {"resource": "depth", "usage": "depth_stencil_attachment"},
              {"resource": "bytes", "usage": "color_attachment"},
              {"resource": "halves", "usage": "color_attachment"},
              {"resource": "flat", "usage": "resolve_attachment"}]}],
            "roots": ["bytes", "flat"]}"#,
    );
    let named = |id| graph.resource_name(id);
    let resolved = plan.attachments.iter().filter_map(|one| Some((named(one.resource), named(one.resolve_to?))));
    assert_eq!(resolved.collect::<Vec<_>>(), [("halves", "flat")]);
}
