//! Points at which a frame waits for and signals other users of imports: where the planner puts them, what joins them,
//! and that the checker refuses a plan in which one is missing, late, early or too narrow.

use rgraph_check::generate::{Limits, generate};
use rgraph_check::{Rule, check};
use rgraph_files::{read_plan, write_plan};
use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::{Graph, Pass, Use};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{BatchId, Plan};
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{Imported, Life, Resource, ResourceId};

const POINTS: Imported = Imported {
    layout: None,
    queue: None,
    stages: rgraph_plan::access::Stages::empty(),
    access: rgraph_plan::access::Accesses::empty(),
    defined: true,
    wait: true,
    signal: true,
};

fn shared(g: &mut Graph, name: &str) -> ResourceId {
    g.add_resource(name, Resource { life: Life::Imported(POINTS), ..Resource::buffer(256) }, None)
}

/// Before, in the middle and behind: only the middle pass uses the import.
fn three(weight_us: f64) -> (Graph, [ResourceId; 2]) {
    let mut g = Graph::new("three", [64, 64]);
    let (x, y) = (shared(&mut g, "x"), shared(&mut g, "y"));
    let out = g.add_resource("out", Resource::buffer(256), None);
    g.root(out);
    for (name, first) in [("before", None), ("use x", Some(x)), ("middle", None), ("use y", Some(y)), ("behind", None)]
    {
        let pass = g.add_pass(name, Pass { weight_us: Some(weight_us), ..Pass::new(PassQueue::Compute) }, None);
        let usage = if name == "before" { Usage::StorageWrite } else { Usage::StorageReadWrite };
        g.access(pass, out, &Use::new(usage), None);
        if let Some(import) = first {
            g.access(pass, import, &Use::new(Usage::StorageReadWrite), None);
        }
    }
    (g, [x, y])
}

fn passes_of(plan: &Plan, batch: BatchId) -> Vec<String> {
    let commands = plan.commands[plan.batches[batch].commands.range()].iter();
    let name = |command: &rgraph_plan::plan::Command| match command {
        rgraph_plan::plan::Command::Pass { pass, .. } => Some(plan.pass_name(*pass).to_owned()),
        _ => None,
    };
    commands.filter_map(name).collect()
}

fn points(plan: &Plan) -> Vec<String> {
    let point = |point: &rgraph_plan::plan::ForeignPoint| {
        let how = if point.wait.is_some() { "wait" } else { "signal" };
        format!("{how} {} {}", plan.resource_name(point.resource), passes_of(plan, point.batch).join("+"))
    };
    plan.foreign.iter().map(point).collect()
}

#[test]
fn long_passes_before_the_first_use_and_behind_the_last_one_wait_for_nobody() {
    let (g, _) = three(500.0);
    let plan = bake(&g, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    let expected = ["wait x use x", "signal x use x", "wait y use y", "signal y use y"].map(str::to_owned);
    assert_eq!(points(&plan), expected);
    assert_eq!(plan.batches.len(), 5);
    assert!(check(&g, &plan).is_empty());
    assert_eq!(read_plan(write_plan(&plan).as_bytes(), "plan").unwrap(), plan);
}

#[test]
fn points_are_joined_where_the_passes_between_take_less_than_a_change_of_side() {
    let (g, _) = three(30.0);
    let bake_at = |price: f64| {
        let profile = Profile { foreign_us: price, ..Profile::single_queue() };
        bake(&g, &profile, &Options::default(), &mut Scratch::default()).unwrap()
    };
    let joined = bake_at(160.0);
    let all = "use x+middle+use y";
    let expected =
        [format!("wait x {all}"), format!("wait y {all}"), format!("signal x {all}"), format!("signal y {all}")];
    assert_eq!(points(&joined), expected);
    assert!(check(&g, &joined).is_empty());
    let notes = joined.report.notes.join("\n");
    assert!(notes.contains("\"y\" is waited for with \"x\": a change of side costs 160 µs"), "{notes}");
    assert!(notes.contains("\"x\" is signalled with \"y\""), "{notes}");
    let free = bake_at(0.0);
    assert_eq!(free.batches.len(), 5);
    assert!(free.report.notes.is_empty(), "{:?}", free.report.notes);
}

/// Every point taken away, narrowed or moved to another batch of the queue, in which the import is used elsewhere.
#[test]
fn a_point_that_is_missing_late_early_or_narrow_is_found() {
    let (mut found, mut scratch) = ([0u32; 4], Scratch::default());
    for seed in 0..1200 {
        let (graph, profile) = generate(seed, Limits { most_passes: 24, ..Limits::default() });
        let plan = bake(&graph, &profile, &Options::default(), &mut scratch).expect("generated graphs are right");
        assert!(check(&graph, &plan).is_empty(), "seed {seed}");
        for at in 0..plan.foreign.len() {
            let point = plan.foreign[at];
            let refused = |kind: usize, plan: &Plan| {
                let findings = check(&graph, plan);
                let what = ["without", "narrow", "moved", "of nobody"][kind];
                assert!(
                    findings.iter().any(|one| one.rule == Rule::Foreign),
                    "seed {seed}: {what} {point:?}: {findings:?}"
                );
            };
            let mut without = plan.clone();
            without.foreign.remove(at);
            refused(0, &without);
            found[0] += 1;
            for stage in point.wait.into_iter().flat_map(|stages| stages.iter()) {
                let mut narrow = plan.clone();
                narrow.foreign[at].wait = point.wait.map(|stages| stages - stage);
                // A later stage waits behind an earlier one.
                let findings = check(&graph, &narrow);
                found[1] += u32::from(findings.iter().any(|one| one.rule == Rule::Foreign));
            }
            let queue = plan.batches[point.batch].queue;
            let mut others = plan.batches.ids().filter(|id| plan.batches[*id].queue == queue);
            let moved = match point.wait {
                Some(_) => others.find(|id| *id > point.batch),
                None => others.rfind(|id| *id < point.batch),
            };
            if let Some(to) = moved {
                let mut late = plan.clone();
                late.foreign[at].batch = to;
                let findings = check(&graph, &late);
                found[2] += u32::from(findings.iter().any(|one| one.rule == Rule::Foreign));
            }
            if let Some(other) =
                graph.resources().ids().find(|id| !matches!(graph.resources()[*id].life, Life::Imported(_)))
            {
                let mut stray = plan.clone();
                stray.foreign[at].resource = other;
                refused(3, &stray);
                found[3] += 1;
            }
        }
    }
    assert!(found.iter().all(|count| *count > 25), "{found:?}");
}

#[test]
fn points_outside_the_plan_are_malformed() {
    let (g, [x, _]) = three(30.0);
    let mut plan = bake(&g, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    plan.foreign[0].batch = BatchId::new(plan.batches.len());
    assert!(check(&g, &plan).iter().any(|one| one.rule == Rule::Malformed && one.message.contains("\"x\"")), "{x:?}");
}
