//! Row T9: which passes' packets are sorted together, of generated graphs and of chosen ones; wrong groups are found.

use rgraph_check::generate::{Limits, generate};
use rgraph_check::{Rule, check};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::id::Span;
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::*;

fn baked(graph: &Graph) -> Plan {
    bake(graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).expect("the graph is right")
}

fn groups(plan: &Plan) -> Vec<Vec<&str>> {
    let names = |group: &Span| plan.packet_passes[group.range()].iter().map(|pass| plan.pass_name(*pass)).collect();
    plan.packets.iter().map(names).collect()
}

fn rules(graph: &Graph, plan: &Plan) -> Vec<Rule> {
    check(graph, plan).into_iter().map(|finding| finding.rule).collect()
}

/// Four dispatches with nothing between them, one behind them, and three draws to one target, two of which commute.
fn frame() -> Graph {
    let mut g = Graph::new("frame", [16, 16]);
    let sums: Vec<_> = (0..4).map(|at| g.buffer(&format!("sum{at}"), 256)).collect();
    let (all, out) = (g.buffer("all", 256), g.image("out", Format::Rgba8unorm));
    for (at, &sum) in sums.iter().enumerate() {
        g.pass(&format!("sum{at}"), PassQueue::Compute).storage_write(sum);
    }
    let last = g.pass("last", PassQueue::Compute).storage_write(all);
    sums.iter().fold(last, |last, &sum| last.storage_read(sum));
    g.pass("rocks", PassQueue::Graphics).color(out).unordered();
    g.pass("trees", PassQueue::Graphics).color(out).unordered();
    g.pass("glass", PassQueue::Graphics).color(out);
    g.root(all);
    g.root(out);
    g
}

#[test]
fn t09_packets_are_sorted_between_barriers_and_where_draws_commute() {
    let g = frame();
    let plan = baked(&g);
    let expected = [vec!["sum0", "sum1", "sum2", "sum3"], vec!["rocks", "trees"]];
    let mut found = groups(&plan);
    found.sort_by_key(|group| group.len() < 3);
    assert_eq!(found, expected);
    let drawn = |name| plan.passes[plan.find_pass(name).unwrap()].physical_pass;
    assert_eq!(drawn("rocks"), drawn("glass"), "one render pass");
    assert_eq!(check(&g, &plan), []);
}

#[test]
fn t09_groups_that_the_declaration_or_the_plan_orders_are_found() {
    let g = frame();
    let plan = baked(&g);
    let with = |passes: &[&str]| {
        let mut changed = plan.clone();
        changed.packet_passes = passes.iter().map(|name| plan.find_pass(name).expect("it is declared")).collect();
        changed.packets = vec![Span::new(0, passes.len())];
        rules(&g, &changed)
    };
    assert_eq!(with(&["rocks", "trees"]), []);
    assert_eq!(with(&["trees", "glass"]), [Rule::Packets], "glass does not commute");
    assert_eq!(with(&["sum3", "last"]), [Rule::Packets], "a barrier is between them");
    assert_eq!(with(&["sum0", "sum2"]), [Rule::Packets], "they are no neighbours");
    assert_eq!(with(&["sum1", "sum0"]), [Rule::Packets], "not in the order of the plan");
    assert_eq!(with(&["sum0"]), [Rule::Packets]);
    let mut twice = plan.clone();
    let again = twice.packets[0];
    twice.packets.push(again);
    assert!(rules(&g, &twice).contains(&Rule::Packets), "sorted twice");
    let mut outside = plan;
    outside.packets[0].end = 100;
    assert!(rules(&g, &outside).contains(&Rule::Malformed));
}

/// A draw that reads what its neighbour wrote to is behind a barrier, whatever they promise.
#[test]
fn t09_groups_of_generated_graphs_are_permitted() {
    let (mut scratch, mut sorted) = (Scratch::default(), [0; 2]);
    for seed in 0..600 {
        let (mut graph, profile) = generate(seed, Limits::default());
        for pass in graph.passes().ids().collect::<Vec<_>>() {
            graph.pass_mut(pass).unordered = true;
        }
        let plan = bake(&graph, &profile, &Options::default(), &mut scratch).expect("generated graphs are right");
        let found = check(&graph, &plan);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
        for group in &plan.packets {
            let first = plan.packet_passes[group.start as usize];
            sorted[usize::from(plan.passes[first].physical_pass.is_some())] += 1;
        }
    }
    assert!(sorted.iter().all(|groups| *groups > 10), "groups of dispatches and of draws: {sorted:?}");
}
