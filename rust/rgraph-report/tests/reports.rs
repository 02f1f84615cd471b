//! Views of a plan, against golden files.

use rgraph_files::read_graph;
use rgraph_plan::access::{Layout, Load, Sharing, Stages};
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::{BakeTimes, BatchId, Hazard, Plan, PlanPassId};
use rgraph_plan::profile::Capabilities;
use rgraph_plan::resource::ResourceId;
use rgraph_report::{diff, dot, explain, listing};

use crate::common::{golden, id, plan};

#[test]
fn the_listing_shows_everything_a_plan_says() {
    golden("listing.txt", &listing(&plan()));
}

/// The declaration of which [`plan`] could be the plan, as far as explanations look at it.
fn graph() -> Graph {
    let text = r#"{"rgraph": 1, "name": "frame",
        "images": {"albedo": {}, "depth": {}, "hdr": {}, "out": {}, "volume": {"persistent": true}},
        "buffers": {"lights": {"size": 65000, "imported": true}},
        "passes": [
          {"name": "gbuffer", "accesses": [
            {"resource": "albedo", "usage": "color_attachment"}, {"resource": "depth", "usage": "depth_stencil_attachment"}]},
          {"name": "lighting", "queue": "any", "accesses": [{"resource": "albedo", "usage": "sampled"},
            {"resource": "lights", "usage": "storage_read"}, {"resource": "hdr", "usage": "storage_write"}]},
          {"name": "fog", "queue": "async_compute", "accesses": [{"resource": "depth", "usage": "sampled"}]},
          {"name": "debug", "accesses": [{"resource": "volume", "usage": "storage_write"}]},
          {"name": "tonemap", "accesses": [
            {"resource": "hdr", "usage": "sampled"}, {"resource": "out", "usage": "color_attachment"}]}],
        "roots": ["out"]}"#;
    read_graph(text.as_bytes(), "frame.rgraph.json").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_explanation_says_why_a_pass_runs_here_and_behind_what() {
    let (graph, mut plan) = (graph(), plan());
    plan.graph_hash = graph.content_hash();
    let mut text = String::new();
    for id in plan.passes.ids() {
        text += &explain(&graph, &plan, plan.pass_name(id)).unwrap();
        text.push('\n');
    }
    golden("explain.txt", &text);
}

#[test]
fn an_explanation_of_an_unknown_pass_offers_the_nearest() {
    let error = explain(&graph(), &plan(), "tonemapp").unwrap_err();
    assert_eq!(error.to_string(), "RG-E202 the plan has no pass 'tonemapp'\n  help: did you mean 'tonemap'?");
}

#[test]
fn an_explanation_with_another_graph_says_so() {
    let text = explain(&graph(), &plan(), "fog").unwrap();
    assert!(text.contains("the graph is not the one that this plan was baked from"), "{text}");
}

#[test]
fn a_drawing_shows_passes_resources_and_what_connects_them() {
    golden("frame.dot", &dot(&graph(), &plan()));
}

/// Another plan of the same frame: a pass fewer, one more, one elsewhere, other barriers, other memory.
fn other() -> Plan {
    let mut other = plan();
    let names = ["gbuffer", "fog", "lighting", "lighting/mips/hdr.1", "tonemap", "print"];
    let (fog, lighting) = (other.passes[id::<PlanPassId>(2)], other.passes[id::<PlanPassId>(1)]);
    (other.passes[id::<PlanPassId>(1)], other.passes[id::<PlanPassId>(2)]) = (fog, lighting);
    let rest: Vec<String> = other.pass_names.iter().skip(6).map(str::to_owned).collect();
    other.pass_names.clear();
    for name in names {
        other.pass_names.push(name);
    }
    rest.iter().for_each(|name| _ = other.pass_names.push(name));
    for (at, pass) in other.passes.iter_mut().enumerate() {
        pass.name = at as u32;
    }
    other.passes[id::<PlanPassId>(6)].culled = None;
    other.passes[id::<PlanPassId>(6)].queue = Some(id(0));
    other.image_barriers[1].scope.src_stages |= Stages::FRAGMENT_SHADER;
    other.memory.placements[3].offset = 0;
    other.memory.total -= 4096;
    other.attachments[0].load = Load::Load;
    other.edges.pop();
    other.resources[id::<ResourceId>(2)].sharing = Sharing::Exclusive;
    other.waits.swap(3, 4);
    other
}

#[test]
fn a_difference_names_every_pass_and_resource_that_changed() {
    golden("diff.txt", &diff(&plan(), &other()).to_string());
}

#[test]
fn plans_whose_times_differ_by_rounding_are_equal() {
    let mut other = plan();
    for pass in other.passes.iter_mut() {
        pass.why.start_us *= 1.00001;
        pass.why.duration_us *= 1.00001;
    }
    other.report.frame_us *= 1.00001;
    assert_ne!(plan(), other);
    assert_eq!(diff(&plan(), &other).to_string(), "equal\n");
    other.passes[id::<PlanPassId>(0)].why.duration_us += 100.0;
    let found = diff(&plan(), &other);
    assert_eq!(found.changes.len(), 1, "{found}");
    assert_eq!(found.changes[0].to_string(), "~ pass 'gbuffer' duration: 120.5 µs → 220.5 µs");
    assert!((found.changes[0].weight - 100.0).abs() < 0.1);
}

#[test]
fn a_difference_turned_round_has_as_many_changes() {
    let (there, back) = (diff(&plan(), &other()), diff(&other(), &plan()));
    assert_eq!(there.changes.len(), back.changes.len());
    assert!(there.figures.iter().zip(&back.figures).all(|(a, b)| (a.before, a.after) == (b.after, b.before)));
}

#[test]
fn equal_plans_have_no_difference_and_any_change_is_one() {
    let mut timed = plan();
    timed.report.bake_us = Some(BakeTimes::default());
    assert!(diff(&plan(), &timed).is_empty());
    assert_eq!(diff(&plan(), &timed).to_string(), "equal\n");
    let edits: [fn(&mut Plan); 14] = [
        |p| p.graph.push('x'),
        |p| p.profile.push('x'),
        |p| p.queues.iter_mut().for_each(|q| q.capabilities = Capabilities::empty()),
        |p| p.passes.iter_mut().for_each(|pass| pass.declared = None),
        |p| p.image_barriers[0].why.hazard = Hazard::FirstUse,
        |p| p.waits[0].value += 1,
        |p| p.batches[id::<BatchId>(0)].signal = None,
        |p| p.commands[6] = p.commands[3],
        |p| p.attachments[0].clear = None,
        |p| p.layouts[0].layout = Layout::General,
        |p| p.pass_accesses[0].stages = Stages::COPY,
        |p| p.memory.placements[0].offset += 256,
        |p| p.subgraphs[0].roots = Default::default(),
        |p| p.report.frame_us += 1.0,
    ];
    for (at, edit) in edits.into_iter().enumerate() {
        let mut edited = plan();
        edit(&mut edited);
        let difference = diff(&plan(), &edited);
        assert!(!difference.is_empty(), "edit {at}");
        assert!(difference.to_string().lines().count() > 0);
    }
}

#[test]
fn a_difference_is_json_too() {
    let json: serde_json::Value = serde_json::from_str(&diff(&plan(), &other()).to_json()).unwrap();
    assert_eq!(json["equal"], false);
    assert_eq!(json["figures"][0], serde_json::json!({"what": "passes", "before": 6.0, "after": 7.0}));
    let first = &json["changes"][0];
    assert_eq!(first["kind"], "removed");
    assert_eq!((&first["what"], &first["name"], &first["before"]), (&"pass".into(), &"log".into(), &"host".into()));
    let equal: serde_json::Value = serde_json::from_str(&diff(&plan(), &plan()).to_json()).unwrap();
    assert_eq!((&equal["equal"], &equal["changes"]), (&true.into(), &serde_json::json!([])));
}
