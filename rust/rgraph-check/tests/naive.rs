//! The naive planner's plans are right: any finding about them is a fault of the checker.

use rgraph_check::check;
use rgraph_check::generate::{Construct, Constructs, Limits, UNSETTLED, generate};
use rgraph_check::interpret::{disagreement, interpret_graph};
use rgraph_ir::graph::Graph;

use crate::support;

/// Constructs that the naive planner knows nothing of.
const UNKNOWN: Constructs = Constructs::of(&[
    Construct::ModifiedImport,
    Construct::StencilAlone,
    Construct::TwinHistories,
    Construct::AspectAlone,
    Construct::HostImages,
]);

/// The first graphs that the naive planner can plan, flattened, with their seeds.
fn graphs(count: usize) -> impl Iterator<Item = (u64, Graph)> {
    let limits = Limits { most_passes: 24, without: UNSETTLED.and(UNKNOWN), ..Limits::default() };
    let all = (0..).map(move |seed| (seed, generate(seed, limits).0));
    let flat = all.map(|(seed, graph)| (seed, graph.flattened().unwrap_or(graph)));
    flat.filter(|(_, graph)| support::can_plan(graph)).take(count)
}

#[test]
fn naive_plans_of_generated_graphs_check_clean() {
    let mut wrong = Vec::new();
    for (seed, graph) in graphs(2000) {
        let findings = check(&graph, &support::naive(&graph));
        if !findings.is_empty() {
            wrong.push((seed, findings));
        }
    }
    let shown: Vec<_> =
        wrong.iter().take(8).map(|(seed, list)| format!("{seed}: {} of {}", list[0], list.len())).collect();
    assert!(wrong.is_empty(), "{} plans are checked wrong:\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn naive_plans_compute_what_the_declaration_says() {
    let mut wrong = Vec::new();
    for (seed, graph) in graphs(1000) {
        let serial = interpret_graph(&graph);
        assert!(serial.frames[0].values().any(Option::is_some), "graph {seed} computes nothing");
        let found = disagreement(&graph, &support::naive(&graph), 2);
        wrong.extend(found.map(|what| format!("{seed}: {what}")));
    }
    assert!(
        wrong.is_empty(),
        "{} plans compute something else:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(8)].join("\n")
    );
}
