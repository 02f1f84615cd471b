//! Pages: what they carry, what they let run, and that no name is markup.

use rgraph_files::read_graph;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::{Options, Profile, Scratch, bake};
use rgraph_report::Page;
use rgraph_report::page::{Finding, Measured, PassSpan};
use serde_json::Value;

use crate::common::plan;

fn example() -> (Graph, Plan) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/deferred.rgraph.json");
    let graph = read_graph(&std::fs::read(path).expect("the example is there"), "deferred.rgraph.json");
    let graph = graph.unwrap_or_else(|error| panic!("{error}"));
    let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default());
    (graph, plan.unwrap_or_else(|error| panic!("{error}")))
}

/// The data of a page.
fn data(html: &str) -> Value {
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"data\">").expect("the page has its data");
    let (json, _) = rest.split_once("</script>").expect("the data ends");
    serde_json::from_str(json).expect("the data is JSON")
}

#[test]
fn a_page_has_one_script_and_one_style_and_names_nothing_outside() {
    let (graph, plan) = example();
    let html = Page { graph: Some(&graph), ..Page::new(&plan) }.html();
    assert_eq!(html.matches("<script").count(), 2, "the data and the program");
    assert_eq!(html.matches("</script").count(), 2);
    assert_eq!(html.matches("<style").count(), 1);
    assert!(!html.contains("https:") && !html.contains(" src=") && !html.contains("@import"));
    assert_eq!(html.matches("url(").count(), html.matches("url(#").count(), "addresses within the page only");
    let addresses: Vec<&str> = html.match_indices("http:").map(|(at, _)| &html[at..at + 26]).collect();
    assert_eq!(addresses, ["http://www.w3.org/2000/svg"], "the name of a name space, which nothing fetches");
    assert_eq!(html, Page { graph: Some(&graph), ..Page::new(&plan) }.html());
}

#[test]
fn every_pass_resource_access_barrier_and_wait_is_in_the_data() {
    let (graph, plan) = example();
    let data = data(&Page { graph: Some(&graph), ..Page::new(&plan) }.html());
    let data = &data["plan"];
    let length = |path: &str| data.pointer(path).and_then(Value::as_array).map_or(0, Vec::len);
    assert_eq!(length("/passes/name"), plan.passes.len());
    assert_eq!(length("/shown"), plan.passes.len());
    assert_eq!(length("/resources/name"), plan.resources.len());
    assert_eq!(length("/accesses/pass"), graph.accesses().len());
    let barriers = plan.memory_barriers.len() + plan.buffer_barriers.len() + plan.image_barriers.len();
    assert_eq!(length("/barriers/of"), barriers);
    assert_eq!(length("/waits/batch"), plan.waits.len());
    assert_eq!(length("/batches/queue"), plan.batches.len());
    for columns in ["passes", "resources", "accesses", "flows", "calls", "barriers", "batches", "waits"] {
        let lengths =
            data[columns].as_object().expect("columns").values().map(|column| column.as_array().map(Vec::len));
        let lengths: Vec<_> = lengths.collect();
        assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "columns of {columns}: {lengths:?}");
    }
    let culled = plan.culled().next().expect("the debug view is culled").0;
    let after = plan.find_pass("tonemap").expect("a pass");
    let shown: Vec<u64> = data["shown"].as_array().expect("a list").iter().filter_map(Value::as_u64).collect();
    let at = |pass| shown.iter().position(|one| *one == rgraph_plan::id::Id::index(pass) as u64);
    assert_eq!(at(culled), at(after).map(|at| at + 1), "culled passes stand where they were declared");
}

#[test]
fn data_flows_from_writers_to_readers_through_parts_and_modified_names() {
    let text = r#"{"rgraph": 1, "name": "flows", "images": {
            "pyramid": {"format": "rgba8unorm", "size": [64, 64], "mips": 2},
            "base": {"format": "rgba8unorm", "size": [64, 64]}, "over": {"modifies": "base"}},
        "passes": [
          {"name": "top", "queue": "compute", "accesses": [{"resource": "pyramid", "usage": "storage_write", "mips": [0, 1]}]},
          {"name": "low", "queue": "compute", "accesses": [{"resource": "pyramid", "usage": "sampled", "mips": [0, 1]},
            {"resource": "pyramid", "usage": "storage_write", "mips": [1, 2]}]},
          {"name": "paint", "accesses": [{"resource": "base", "usage": "color_attachment", "load": "clear"}]},
          {"name": "blend", "accesses": [{"resource": "over", "usage": "color_attachment", "load": "load"},
            {"resource": "pyramid", "usage": "sampled", "mips": [1, 2]}]},
          {"name": "last", "after": ["paint"], "side_effects": true, "accesses": []}],
        "roots": ["over"]}"#;
    let graph = read_graph(text.as_bytes(), "flows").unwrap_or_else(|error| panic!("{error}"));
    let plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default());
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let data = data(&Page { graph: Some(&graph), ..Page::new(&plan) }.html());
    let column = |name: &str| data["plan"]["flows"][name].as_array().expect("a column").clone();
    let pass = |value: &Value| {
        let names = data["plan"]["passes"]["name"].as_array().expect("names");
        names[value.as_u64().expect("a pass") as usize].as_str().expect("a name").to_owned()
    };
    let mut flows: Vec<(String, String)> =
        column("from").iter().zip(&column("to")).map(|(from, to)| (pass(from), pass(to))).collect();
    flows.sort();
    let expected = [("low", "blend"), ("paint", "blend"), ("paint", "last"), ("top", "low")];
    assert_eq!(flows, expected.map(|(from, to)| (from.to_owned(), to.to_owned())));
}

#[test]
fn a_plan_without_its_declaration_shows_what_it_tells_itself() {
    let (_, plan) = example();
    let data = data(&Page::new(&plan).html());
    assert_eq!(data["plan"]["meta"]["declared"], false);
    let count = data["plan"]["accesses"]["pass"].as_array().map_or(0, Vec::len);
    let layouts: usize = plan.commands.iter().fold(0, |sum, command| match command {
        rgraph_plan::plan::Command::Pass { layouts, .. } => sum + layouts.len(),
        _ => sum,
    });
    assert!(count >= layouts && layouts > 20, "{count} accesses of {layouts} layouts");
}

#[test]
fn names_are_data_whatever_they_hold() {
    let hostile = "</script><img src=x onerror=alert(1)>\"'&\u{202e}\u{2028}";
    let mut plan = plan();
    plan.graph = hostile.to_owned();
    let finding = Finding { rule: hostile.into(), pass: None, resource: None, message: hostile.into() };
    let html = Page { findings: &[finding], images: &[(hostile.into(), "data:,".into())], ..Page::new(&plan) }.html();
    assert_eq!(html.matches("</script").count(), 2);
    assert!(!html.contains("<img"));
    let data = data(&html);
    assert_eq!(data["plan"]["meta"]["graph"], hostile);
    assert_eq!(data["findings"][0]["message"], hostile);
}

#[test]
fn a_page_carries_times_and_differences() {
    let (graph, plan) = example();
    let single = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default());
    let single = single.unwrap_or_else(|error| panic!("{error}"));
    let span = PassSpan { name: "ao".into(), queue: Some("compute".into()), begin_us: 1.5, end_us: 9.0, group: 1 };
    let measured = Measured { passes: vec![span], ..Measured::default() };
    let page = Page { measured: Some(&measured), against: Some((&single, None)), ..Page::new(&plan) };
    let data = data(&page.html());
    assert_eq!(data["measured"]["passes"][0]["end_us"], 9.0);
    let expected: Value = serde_json::from_str(&rgraph_report::diff(&plan, &single).to_json()).expect("JSON");
    assert_eq!(data["diff"]["changes"], expected["changes"]);
    assert_eq!(data["against"]["meta"]["profile"], "single_queue");
}
