//! The runtime's entry barriers stand behind the waits of the first batch that uses a resource and before its first
//! command: no barrier of that batch leads to them.

use rgraph_check::certificate::{certificate, verify};
use rgraph_check::interpret::disagreement;
use rgraph_check::{Rule, check};
use rgraph_files::read_graph;
use rgraph_plan::access::{Accesses, Stages};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;
use rgraph_plan::profile::Profile;

/// A buffer that the run before read last on another queue, and that this run enters in a batch with a barrier between
/// the wait and the use.
fn handed_over() -> (Graph, Plan) {
    let text = r#"{"rgraph": 1, "buffers": {"x": {"size": 256}, "y": {"size": 256}, "out": {"size": 256},
          "kept": {"size": 256, "persistent": true}},
        "passes": [
          {"name": "a", "queue": "async_compute", "accesses": [{"resource": "x", "usage": "storage_write"}]},
          {"name": "b", "queue": "graphics", "accesses": [{"resource": "x", "usage": "storage_read", "stages": ["compute_shader"]},
            {"resource": "y", "usage": "storage_write", "stages": ["compute_shader"]}]},
          {"name": "c", "queue": "graphics", "accesses": [{"resource": "y", "usage": "transfer_src"},
            {"resource": "kept", "usage": "transfer_dst"}]},
          {"name": "d", "queue": "async_compute", "accesses": [{"resource": "kept", "usage": "storage_read"},
            {"resource": "out", "usage": "storage_write"}]}],
        "roots": ["out"]}"#;
    let graph = read_graph(text.as_bytes(), "entries.rgraph.json").expect("the graph of a test is right");
    let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).expect("it bakes");
    (graph, plan)
}

#[test]
fn a_barrier_in_the_batch_leads_to_no_entry() {
    let (graph, plan) = handed_over();
    assert_eq!(check(&graph, &plan), []);
    let proof = certificate(&graph, &plan).unwrap_or_else(|refused| panic!("{refused}"));
    verify(&graph, &plan, &proof).unwrap_or_else(|refused| panic!("{refused}"));
    let waits = |wait: &&rgraph_plan::plan::Wait| wait.stages.contains(Stages::COMPUTE_SHADER) && !wait.previous_run;
    let at = plan.waits.iter().position(|wait| waits(&wait)).expect("b waits for a");
    let copies = plan.waits[at].stages - Stages::COMPUTE_SHADER;
    assert!(!copies.is_empty(), "the wait holds up what enters");
    let mut faulty = plan.clone();
    faulty.waits[at].stages -= copies;
    assert!(disagreement(&graph, &faulty, 8).is_some(), "the faulty plan computes what the declaration says");
    let findings = check(&graph, &faulty);
    assert!(findings.iter().any(|finding| finding.rule == Rule::Race), "{findings:?}");
    assert!(certificate(&graph, &faulty).is_err(), "the faulty plan has a certificate");
}

#[test]
fn an_entry_of_the_host_shows_it_what_devices_left() {
    let text = r#"{"rgraph": 1, "buffers": {"kept": {"size": 256, "persistent": true}},
        "passes": [
          {"name": "look", "queue": "cpu", "side_effects": true, "accesses": [
            {"resource": "kept", "usage": "host_read"}]},
          {"name": "add", "queue": "compute", "accesses": [{"resource": "kept", "usage": "storage_read_write"}]}]}"#;
    let graph = read_graph(text.as_bytes(), "entries.rgraph.json").expect("the graph of a test is right");
    let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).expect("it bakes");
    assert_eq!(check(&graph, &plan), []);
    for scope in [(Stages::empty(), Accesses::HOST_READ), (Stages::HOST, Accesses::empty())] {
        let mut faulty = plan.clone();
        (faulty.edges[0].entry.stages, faulty.edges[0].entry.access) = scope;
        let findings = check(&graph, &faulty);
        assert!(findings.iter().any(|finding| finding.rule == Rule::ReadAfterWrite), "{findings:?}");
    }
}
