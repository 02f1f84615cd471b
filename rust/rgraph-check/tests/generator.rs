//! The generator: bytes and seeds make the same graphs, and what it makes can be baked.

use rgraph_check::generate::{CHUNK, Construct, Constructs, Limits, bytes_of, from_bytes, generate};
use rgraph_files::write_graph;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::Graph;

#[test]
fn the_bytes_of_a_seed_make_the_graph_of_the_seed() {
    for seed in 0..200 {
        let (graph, profile) = generate(seed, Limits::default());
        let (again, other) = from_bytes(&bytes_of(seed, Limits::default()), Limits::default());
        // The third line is the name.
        let lines = |graph: &Graph| write_graph(graph).lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&graph), lines(&again));
        assert_eq!(profile, other);
    }
}

#[test]
fn no_bytes_and_zeros_are_the_smallest_graphs() {
    let (graph, profile) = from_bytes(&[], Limits::default());
    assert_eq!((graph.passes().len(), graph.resources().len(), profile.queues.len()), (1, 1, 1));
    let (graph, _) = from_bytes(&[0; 4 * CHUNK], Limits::default());
    assert_eq!((graph.passes().len(), graph.accesses().len()), (3, 3));
}

#[test]
fn one_changed_byte_changes_one_step() {
    let bytes = bytes_of(5, Limits::default());
    let (before, _) = from_bytes(&bytes, Limits::default());
    let last = bytes.len() - CHUNK;
    let (after, _) = from_bytes(&bytes[..last], Limits::default());
    let shared = after.passes().len().min(before.passes().len()) - 1;
    let names = |graph: &Graph| {
        let flat = graph.flattened();
        let graph = flat.as_ref().unwrap_or(graph);
        graph.pass_names().iter().take(shared).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(&before), names(&after));
}

#[test]
fn few_graphs_of_all_constructs_are_refused() {
    // Fallbacks in parts run into an assertion of the planner.
    let limits = Limits { without: Constructs::of(&[Construct::PartialFallback]), ..Limits::default() };
    let mut refused = Vec::new();
    for seed in 0..2000 {
        let (graph, profile) = generate(seed, limits);
        if let Err(error) = bake(&graph, &profile, &Options::default(), &mut Scratch::default()) {
            refused.push(format!("{seed}: {error}"));
        }
    }
    println!("{} of 2000 graphs are refused", refused.len());
    assert!(refused.len() < 200, "{} of 2000 are refused, such as\n{}", refused.len(), refused[0]);
}
