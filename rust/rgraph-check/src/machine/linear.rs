//! Tests: the walk looks at a number of pairs that is linear in the plan.

use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::budget::MemoryBudget;
use rgraph_plan::profile::Profile;

use super::Machine;
use crate::facts::Facts;
use crate::finding::Findings;

/// Pairs that the walk looks at per pass, of a chain of buffers of several sizes in a few bytes of one heap.
fn pairs_per_pass(passes: usize) -> u64 {
    let mut buffers = String::new();
    let mut list = Vec::new();
    for at in 0..passes {
        buffers += &format!(r#""b{at}": {{"size": {}}},"#, 1024 << (at * 7 % 5));
        let read = match at {
            0 => String::new(),
            _ => format!(r#"{{"resource": "b{}", "usage": "storage_read"}},"#, at - 1),
        };
        let write = format!(r#"{{"resource": "b{at}", "usage": "storage_write"}}"#);
        list.push(format!(r#"{{"name": "p{at}", "accesses": [{read} {write}]}}"#));
    }
    let text = format!(
        r#"{{"rgraph": 1, "buffers": {{{}}}, "passes": [{}], "roots": ["b{}"]}}"#,
        buffers.trim_end_matches(','),
        list.join(","),
        passes - 1
    );
    let graph = rgraph_files::read_graph(text.as_bytes(), "chain.rgraph.json").expect("the graph is right");
    let options = Options { effort: 0, memory: MemoryBudget::Least, ..Options::default() };
    let plan = bake(&graph, &Profile::single_queue(), &options, &mut Scratch::default()).expect("it can be planned");
    let facts = Facts::new(&graph, Some(&plan));
    let mut findings = Findings::default();
    let declared_of = crate::structure::passes(&facts, &plan, &mut findings);
    let mut machine = Machine::new(&facts, &plan, &declared_of, &mut findings);
    machine.walk();
    let pairs = machine.log.pairs.get() / passes as u64;
    assert!(findings.into_vec().is_empty());
    pairs
}

/// A chain of passes in few bytes has a quadratic number of neighbours, and is judged in linear time.
#[test]
fn the_pairs_per_pass_do_not_grow_with_the_length_of_a_chain() {
    let [short, long] = [pairs_per_pass(128), pairs_per_pass(2048)];
    assert!(long <= short + short / 4, "{short} pairs per pass of a short chain, {long} of a long one");
}
