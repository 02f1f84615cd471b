//! Bytes and barrier calls under each memory budget, on one queue at the default effort, as a table in Markdown:
//! `cargo bench -p rgraph-plan --bench budgets -- FILE…` for graph files, and always the generated families. Counts,
//! not times: any machine prints the same.

mod families;
#[path = "../rust/rgraph-plan/tests/common/most_live.rs"]
mod most_live;

use std::path::Path;

use rgraph_files::graph::read_graph;
use rgraph_plan::prelude::*;

fn main() {
    println!(
        "| graph | passes | declared: KiB, calls | least | balanced | fast |\n| --- | --- | --- | --- | --- | --- |"
    );
    row("8 chains of 8", &chains());
    for (name, family) in families::FAMILIES {
        for n in [64, 256, 1024] {
            row(&format!("{name}-{n}"), &family(n));
        }
    }
    for argument in std::env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
        let name =
            Path::new(&argument).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let text = std::fs::read(&argument).unwrap_or_else(|error| panic!("{argument}: {error}"));
        let graph = read_graph(&text, &name).unwrap_or_else(|error| panic!("{error}"));
        row(name.trim_end_matches(".rgraph.json"), &graph);
    }
}

/// Eight chains of eight passes, declared one after the other, each pass with an image of 256 KiB.
fn chains() -> Graph {
    let mut g = Graph::new("8 chains", [256, 256]);
    let sum = g.buffer("sum", 256);
    g.pass("zero", PassQueue::Compute).storage_write(sum);
    for chain in 0..8 {
        let mut last = None;
        for at in 0..8 {
            let image = g.image(&format!("{chain}.{at}"), Format::Rgba8unorm);
            let pass = g.pass(&format!("p{chain}.{at}"), PassQueue::Compute).storage_write(image);
            if let Some(before) = last.replace(image) {
                pass.sampled(before);
            }
        }
        g.root(last.expect("a chain has a pass"));
    }
    g.root(sum);
    g
}

fn row(name: &str, graph: &Graph) {
    let baked = |policy, memory| {
        let options = Options { policy, memory, ..Options::default() };
        bake(graph, &Profile::single_queue(), &options, &mut Scratch::default()).expect("a good graph")
    };
    let cell = |bytes: u64, plan: &Plan| format!("{}, {}", bytes >> 10, plan.report.barriers);
    let declared = baked(Policy::Declared, MemoryBudget::Least);
    let most_live = cell(most_live::most_live(graph, &declared), &declared);
    let words = MemoryBudget::NAMED.map(|memory| {
        let plan = baked(Policy::Auto, memory);
        cell(plan.memory.total, &plan)
    });
    println!("| {name} | {} | {most_live} | {} |", declared.live().count(), words.join(" | "));
}
