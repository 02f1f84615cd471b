//! Small graphs, one idea each: what their plans are, as the listing shows it. `tests/plans/NAME.rgraph.json` bakes to
//! `tests/plans/NAME.plan`; set `UPDATE_GOLDEN=1` to rewrite the plans, and look at what changed.

use std::path::{Path, PathBuf};

use rgraph_files::{read_graph, read_plan, write_graph, write_plan};
use rgraph_plan::bake::Policy;
use rgraph_plan::bake::Split;
use rgraph_plan::bake::dump::DumpStage;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;
use rgraph_plan::profile::Profile;
use rgraph_report::{diff, dot, explain, listing};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/plans")
}

/// Every graph of the folder by its name, in the order of names.
fn graphs() -> Vec<(String, Graph)> {
    let entries = std::fs::read_dir(folder()).expect("the folder tests/plans is part of the repository");
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".rgraph.json"));
    names.sort();
    let read = |name: &String| {
        let text = std::fs::read(folder().join(name)).unwrap();
        read_graph(&text, name).unwrap_or_else(|error| panic!("{error}"))
    };
    names.iter().map(|name| (name.replace(".rgraph.json", ""), read(name))).collect()
}

fn baked(name: &str, graph: &Graph) -> Plan {
    let options = match name {
        // In the order that it declares, with work between what is written and what reads it.
        "split_barrier" => Options { split: Split::Distance, policy: Policy::Declared, ..Options::default() },
        _ => Options::default(),
    };
    bake(graph, &Profile::discrete(), &options, &mut Scratch::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_small_graph_has_the_plan_that_is_kept_beside_it() {
    let mut changed = Vec::new();
    for (name, graph) in graphs() {
        let (text, path) = (listing(&baked(&name, &graph)), folder().join(format!("{name}.plan")));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != text {
            changed.push(name);
        }
    }
    assert!(changed.is_empty(), "look at these plans, and set UPDATE_GOLDEN=1 if they are right: {changed:?}");
}

#[test]
fn every_plan_has_its_graph() {
    let names: Vec<String> = graphs().into_iter().map(|(name, _)| name).collect();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file.strip_suffix(".plan").or_else(|| file.strip_suffix(".rgraph.json")).unwrap_or(&file);
        assert!(names.iter().any(|known| known == name), "{file}");
    }
}

#[test]
fn graph_and_plan_of_every_small_graph_read_back_equal() {
    for (name, graph) in graphs() {
        let again = read_graph(write_graph(&graph).as_bytes(), &name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.content_hash(), graph.content_hash(), "{name}");
        let plan = baked(&name, &graph);
        let text = write_plan(&plan);
        let again = read_plan(text.as_bytes(), &name).unwrap_or_else(|error| panic!("{error}"));
        assert!(again == plan, "{name}: {}", diff(&plan, &again));
        assert_eq!(write_plan(&again), text, "{name}");
        assert!(diff(&plan, &again).is_empty(), "{name}");
    }
}

#[test]
fn every_pass_of_every_small_graph_can_be_explained() {
    for (name, graph) in graphs() {
        let plan = baked(&name, &graph);
        for id in plan.passes.ids() {
            let text = explain(&graph, &plan, plan.pass_name(id)).unwrap();
            assert!(text.lines().count() >= 2, "{name}: {text}");
            let culled = plan.passes[id].culled.is_some();
            assert_eq!(text.contains("  culled "), culled, "{name}: {text}");
        }
        let drawing = dot(&graph, &plan);
        let boxes =
            drawing.lines().filter(|line| line.trim_start().starts_with('p') && line.contains("[label")).count();
        let dashed = drawing.lines().filter(|line| line.contains("[shape=box, style=dashed")).count();
        assert_eq!(boxes + dashed, plan.passes.len(), "{name}: {drawing}");
    }
}

#[test]
fn listings_of_small_graphs_stay_within_a_hundred_columns() {
    for (name, graph) in graphs() {
        for line in listing(&baked(&name, &graph)).lines() {
            assert!(line.chars().count() <= 100, "{name}: {line}");
        }
    }
}

/// Graphs small enough to read, which among them use every stage.
const STAGED: [&str; 7] = ["alias", "culled", "merge", "mips", "ownership", "split_barrier", "transfer_queue"];

#[test]
fn every_stage_makes_what_is_kept_in_its_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/stages");
    let graphs = graphs();
    let mut changed = Vec::new();
    for stage in DumpStage::ALL {
        let mut text = String::new();
        for name in STAGED {
            let (_, graph) = graphs.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no {name}"));
            let mut scratch = Scratch::default();
            bake(graph, &Profile::discrete(), &Options::default(), &mut scratch).expect("it bakes above");
            text += &format!("== {name}\n{}\n", scratch.dump(graph, stage));
        }
        let path = folder.join(format!("{}.txt", stage.name()));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != text {
            changed.push(stage.name());
        }
    }
    assert!(changed.is_empty(), "look at these stages, and set UPDATE_GOLDEN=1 if they are right: {changed:?}");
}
