//! Laws of declarations, plans and their files.

use rgraph_check::check;
use rgraph_check::generate::{CHUNK, Limits, from_bytes};
use rgraph_check::interpret::{interpret_graph, interpret_plan};
use rgraph_files::graph::{read_graph, write_graph};
use rgraph_files::plan::{read_plan, write_plan};
use rgraph_plan::prelude::*;

/// How a graph is baked, by one byte.
fn options(byte: u8) -> Options {
    let policies = [Policy::Auto, Policy::Declared, Policy::Overlap, Policy::Weighted, Policy::Exact { nodes: 200 }];
    let splits = [Split::Never, Split::Distance, Split::Always];
    let budgets = [MemoryBudget::Balanced, MemoryBudget::Least, MemoryBudget::Fast, MemoryBudget::Bytes(0)];
    Options {
        policy: policies[usize::from(byte) % 5],
        split: splits[usize::from(byte) / 5 % 3],
        effort: u32::from(byte) / 15 % 3,
        memory: budgets[usize::from(byte) / 45 % 4],
        ..Options::default()
    }
}

/// Bytes are a declaration and a device: its plan checks clean, computes what the declaration says, and is the same
/// after it was written and read. The last byte chooses the policy.
pub fn frame(bytes: &[u8]) {
    let (last, bytes) = bytes.split_last().map_or((0, bytes), |(last, rest)| (*last, rest));
    let (graph, profile) = from_bytes(bytes, Limits { most_passes: 24, ..Limits::default() });
    let (options, mut scratch) = (options(last), Scratch::default());
    let plan = bake(&graph, &profile, &options, &mut scratch).expect("generated graphs are well-formed");
    assert_eq!(check(&graph, &plan), []);
    let computed = interpret_plan(&graph, &plan, 2).expect("the plan can be followed");
    assert_eq!(interpret_graph(&graph).difference(&computed), None);
    assert_eq!(read_plan(write_plan(&plan).as_bytes(), "plan").as_ref(), Ok(&plan));
}

/// Bytes are a graph file or a message; what can be baked is planned without a finding.
pub fn graph_file(bytes: &[u8]) {
    let Ok(graph) = read_graph(bytes, "fuzz") else { return };
    let again = read_graph(write_graph(&graph).as_bytes(), "again").expect("what was read can be written and read");
    assert_eq!(again.content_hash(), graph.content_hash());
    let Ok(plan) = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()) else { return };
    assert_eq!(check(&graph, &plan), []);
}

/// Bytes are a plan file or a message; what can be read can be listed, written, checked and followed.
pub fn plan_file(bytes: &[u8]) {
    let Ok(plan) = read_plan(bytes, "fuzz") else { return };
    assert!(!rgraph_report::listing(&plan).is_empty());
    assert!(read_plan(write_plan(&plan).as_bytes(), "again").is_ok());
    let (graph, _) = from_bytes(SMALL, Limits::default());
    if check(&graph, &plan).is_empty() {
        let _ = interpret_plan(&graph, &plan, 1);
    }
}

/// A frame of some steps, which plan files are checked against.
const SMALL: &[u8] = &[0x55; 6 * CHUNK];

/// The plan file of the graph that plan files are checked against: a seed of their corpus.
pub fn plan_of_small() -> String {
    let (graph, profile) = from_bytes(SMALL, Limits::default());
    let plan = bake(&graph, &profile, &Options::default(), &mut Scratch::default()).expect("it is well-formed");
    write_plan(&plan)
}

/// Bytes are calls of the public interface, with one scratch for all: declarations grow, are copied, flattened,
/// brought into file order and baked for devices that come and go. Equal declarations have equal plans, whatever was
/// baked before.
pub fn calls(bytes: &[u8]) {
    let mut scratch = Scratch::default();
    let mut plan = Plan::default();
    let (mut graph, mut profile) = from_bytes(&[], Limits::default());
    for call in bytes.chunks(CHUNK).take(24) {
        let argument = call.get(1).copied().unwrap_or(0);
        match call[0] % 8 {
            0 => (graph, profile) = from_bytes(call.get(2..).unwrap_or(&[]), Limits::default()),
            1 => {
                (graph, profile) =
                    from_bytes(&bytes[..bytes.len() / 2], Limits { most_passes: 12, ..Limits::default() })
            }
            2 => graph = graph.flattened().unwrap_or(graph),
            3 => {
                let hash = graph.clone().content_hash();
                assert_eq!(hash, graph.content_hash());
                graph.to_file_order();
                let file = read_graph(write_graph(&graph).as_bytes(), "file").expect("a declaration can be written");
                assert_eq!(file.content_hash(), graph.content_hash());
            }
            4 => declare(&mut graph, argument),
            5 => profile = Profile::built_in(Profile::BUILT_IN[usize::from(argument) % 3]).unwrap_or(profile),
            6 => {
                // A declaration with mistakes leaves the scratch as good as new.
                let mut broken = graph.clone();
                let stray = broken.buffer("nothing writes it", 64);
                broken.root(stray);
                assert!(bake(&broken, &profile, &options(argument), &mut scratch).is_err());
            }
            _ => {
                let options = options(argument);
                let fresh = bake(&graph, &profile, &options, &mut Scratch::default());
                let reused = bake_into(&graph, &profile, &options, &mut scratch, &mut plan).map(|()| plan.clone());
                assert_eq!(fresh, reused);
                if let Ok(plan) = fresh {
                    assert_eq!(check(&graph, &plan), []);
                }
            }
        }
    }
}

/// Adds a pass to a declaration: with something that it reads, if it can.
fn declare(graph: &mut Graph, argument: u8) {
    let number = graph.passes().len();
    let image = graph.image(&format!("added image {number}"), Format::Rgba8unorm);
    let mut pass =
        graph.pass(&format!("added {number}"), PassQueue::ALL[usize::from(argument) % 3]).storage_write(image);
    if argument & 64 != 0 {
        pass = pass.side_effects();
    }
    let _ = pass.weight_us(f64::from(argument));
    if argument & 128 != 0 {
        graph.root(image);
    }
}
