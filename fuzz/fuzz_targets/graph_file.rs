//! Any bytes are a graph file or a message; what can be baked is planned without a finding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rgraph_plan::file::graph::read_graph;
use rgraph_plan::prelude::*;

fuzz_target!(|bytes: &[u8]| {
    let Ok(graph) = read_graph(bytes, "fuzz") else { return };
    let Ok(plan) = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()) else { return };
    assert_eq!(rgraph_check::check(&graph, &plan), []);
});
