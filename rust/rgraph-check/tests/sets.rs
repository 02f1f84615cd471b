//! Sets of passes that may run at once: of generated graphs and of chosen ones, and wrong ones are found.

use rgraph_check::generate::{Limits, generate};
use rgraph_check::{Rule, check};
use rgraph_plan::access::Usage;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::id::Span;
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::*;

fn baked(graph: &Graph) -> Plan {
    bake(graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).expect("the graph is right")
}

/// Names of the passes of each set.
fn sets(plan: &Plan, cpu: bool) -> Vec<Vec<&str>> {
    let sets = plan.sets.iter().filter(|set| set.cpu == cpu);
    let names = |set: &rgraph_plan::plan::PassSet| {
        let mut names: Vec<_> = plan.set_passes[set.passes.range()].iter().map(|pass| plan.pass_name(*pass)).collect();
        names.sort_unstable();
        names
    };
    sets.map(names).collect()
}

fn rules(graph: &Graph, plan: &Plan) -> Vec<Rule> {
    check(graph, plan).into_iter().map(|finding| finding.rule).collect()
}

/// Four functions in two chains, and a pass of the GPU that reads the first one's result.
fn chains() -> Graph {
    let mut g = Graph::new("chains", [16, 16]);
    for chain in ["left", "right"] {
        let middle = g.buffer(&format!("{chain}_middle"), 256);
        let end = g.buffer(&format!("{chain}_end"), 256);
        g.pass(&format!("{chain}_make"), PassQueue::Cpu).host_write(middle);
        g.pass(&format!("{chain}_use"), PassQueue::Cpu).host_read(middle).host_write(end);
        g.root(end);
    }
    g
}

#[test]
fn chains_of_functions_run_beside_each_other() {
    let g = chains();
    let plan = baked(&g);
    assert_eq!(sets(&plan, true), [["left_make", "right_make"], ["left_use", "right_use"]]);
    assert!(sets(&plan, false).is_empty());
    assert!(check(&g, &plan).is_empty(), "{:?}", check(&g, &plan));
}

/// Orders through the GPU count, and so do functions that write one buffer in any order.
#[test]
fn functions_are_ordered_through_the_gpu_and_by_what_they_write() {
    let mut g = Graph::new("through", [16, 16]);
    let [a, b, c, all] = ["a", "b", "c", "all"].map(|name| g.buffer(name, 256));
    g.pass("first", PassQueue::Cpu).host_write(a);
    g.pass("between", PassQueue::Compute).storage_read(a).storage_write(b);
    g.pass("second", PassQueue::Cpu).host_read(b).host_write(c);
    for name in ["one", "two"] {
        let pass = g.pass(name, PassQueue::Cpu).id();
        g.access(pass, all, &Use { unordered: true, ..Use::new(Usage::HostWrite) }, None);
    }
    g.root(c);
    g.root(all);
    let plan = baked(&g);
    assert!(check(&g, &plan).is_empty(), "{:?}", check(&g, &plan));
    assert_eq!(sets(&plan, true), [["first", "one"], ["second", "two"]]);
}

/// Passes between two barrier calls are in one set, on all queues.
#[test]
fn passes_of_the_gpu_without_a_barrier_between_are_one_set() {
    let mut g = Graph::new("wide", [16, 16]);
    let sums: Vec<_> = (0..4).map(|at| g.buffer(&format!("sum{at}"), 256)).collect();
    let out = g.buffer("out", 256);
    for (at, &sum) in sums.iter().enumerate() {
        g.pass(&format!("sum{at}"), PassQueue::Compute).storage_write(sum);
    }
    let mut last = g.pass("last", PassQueue::Compute).storage_write(out);
    for &sum in &sums {
        last = last.storage_read(sum);
    }
    g.root(out);
    let plan = baked(&g);
    assert_eq!(sets(&plan, false), [vec!["sum0", "sum1", "sum2", "sum3"], vec!["last"]]);
}

/// Two sets made one, a set cut in two, a pass left out: each is found.
#[test]
fn wrong_sets_are_found() {
    let g = chains();
    let plan = baked(&g);
    let mut joined = plan.clone();
    joined.sets = vec![rgraph_plan::plan::PassSet { cpu: true, passes: Span::new(0, 4) }];
    assert!(rules(&g, &joined).contains(&Rule::Sets), "functions that depend on each other are in one set");
    let mut serial = plan.clone();
    serial.sets = (0..4).map(|at| rgraph_plan::plan::PassSet { cpu: true, passes: Span::new(at, at + 1) }).collect();
    assert!(rules(&g, &serial).contains(&Rule::Sets), "functions wait for others without a reason");
    let mut short = plan.clone();
    short.sets[1].passes.end -= 1;
    assert!(rules(&g, &short).contains(&Rule::Sets), "a function is in no set");
    let mut other_side = plan.clone();
    other_side.sets[0].cpu = false;
    assert!(rules(&g, &other_side).contains(&Rule::Sets));
    let mut outside = plan;
    outside.sets[0].passes.end = 100;
    assert!(rules(&g, &outside).contains(&Rule::Malformed));
}

/// Sets of the GPU that a barrier call orders, and copies that nobody makes or that are not listed.
#[test]
fn wrong_sets_of_the_gpu_and_wrong_copies_are_found() {
    let mut g = Graph::new("copies", [16, 16]);
    let [a, b] = ["a", "b"].map(|name| g.buffer(name, 256));
    g.pass("make", PassQueue::Compute).storage_write(a);
    let copy = g.pass("copy", PassQueue::Compute).id();
    g.access(copy, a, &Use::new(Usage::TransferSrc), None);
    g.access(copy, b, &Use::new(Usage::TransferDst), None);
    g.root(b);
    let plan = baked(&g);
    assert!(check(&g, &plan).is_empty(), "{:?}", check(&g, &plan));
    assert_eq!(plan.copies.len(), 1);
    let mut joined = plan.clone();
    joined.sets = vec![rgraph_plan::plan::PassSet { cpu: false, passes: Span::new(0, 2) }];
    assert!(rules(&g, &joined).contains(&Rule::Sets));
    let mut hidden = plan.clone();
    hidden.copies.clear();
    assert!(rules(&g, &hidden).contains(&Rule::Copies));
    let mut reversed = plan;
    let (from, to) = (reversed.copies[0].from, reversed.copies[0].to);
    (reversed.copies[0].from, reversed.copies[0].to) = (to, from);
    assert!(rules(&g, &reversed).contains(&Rule::Copies));
}

/// Over generated graphs, the checker agrees with every set, and many have functions that may run at once.
#[test]
fn sets_of_generated_graphs_are_right() {
    let (mut scratch, mut beside) = (Scratch::default(), 0);
    let mut wrong = Vec::new();
    for seed in 0..3000 {
        let (graph, profile) = generate(seed, Limits::default());
        let plan = bake(&graph, &profile, &Options::default(), &mut scratch).expect("generated graphs are right");
        let findings = check(&graph, &plan);
        wrong.extend(findings.first().map(|first| format!("{seed}: {first}")));
        beside += u32::from(plan.sets.iter().any(|set| set.cpu && set.passes.len() > 1));
    }
    assert!(wrong.is_empty(), "{} plans are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert!(beside >= 50, "only {beside} of 3000 graphs have functions that may run at once");
}
