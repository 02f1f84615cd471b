//! Corners of what a declaration means: a right plan is accepted, and one with a single thing wrong is refused.

use rgraph_check::certificate::{Within, certificate, verify};
use rgraph_check::interpret::disagreement;
use rgraph_check::{Finding, Rule, check};
use rgraph_files::read_graph;
use rgraph_plan::access::{Accesses, Stages};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::Graph;
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Barriers, BufferBarrier, Command, EventId, Hazard, ImageBarrier, Plan, Scope};
use rgraph_plan::profile::Profile;

use crate::support;

fn graph(text: &str) -> Graph {
    read_graph(text.as_bytes(), "corner.rgraph.json").expect("the graph of a test is right")
}

#[track_caller]
fn assert_accepted(graph: &Graph, plan: &Plan) {
    let findings = check(graph, plan);
    assert!(findings.is_empty(), "{} findings, the first: {}", findings.len(), findings[0]);
}

#[track_caller]
fn assert_refused(graph: &Graph, plan: &Plan, rule: Rule) -> Vec<Finding> {
    let findings = check(graph, plan);
    let words: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.iter().any(|finding| finding.rule == rule), "no finding of {rule}, but {words:?}");
    findings
}

/// The plan without one of its passes, as if it were not needed.
fn without(plan: &Plan, name: &str) -> Plan {
    let mut plan = plan.clone();
    let gone = plan.find_pass(name).expect("the pass is in the plan");
    let nothing = Command::Barriers(Barriers::default());
    let at = plan.commands.iter().position(|one| matches!(one, Command::Pass { pass, .. } if *pass == gone)).unwrap();
    plan.commands[at] = nothing;
    if matches!(plan.commands[at - 1], Command::BeginRendering { .. }) {
        (plan.commands[at - 1], plan.commands[at + 1]) = (nothing, nothing);
    }
    plan
}

#[test]
fn an_input_attachment_means_mip_0() {
    let graph = graph(
        r#"{"rgraph": 1, "images": {
              "target": {"format": "rgba8unorm", "mips": 3}, "other": {"format": "rgba8unorm"}},
            "passes": [
              {"name": "draw", "accesses": [{"resource": "target", "usage": "color_attachment"}]},
              {"name": "light", "accesses": [{"resource": "target", "usage": "input_attachment"},
                                             {"resource": "other", "usage": "color_attachment"}]}],
            "roots": ["other"]}"#,
    );
    let mut plan = support::naive(&graph);
    // Layouts of mip 0 alone are enough.
    let target = graph.find_resource("target").unwrap();
    let named: Vec<_> = plan.layouts.iter().filter(|one| one.resource == target).map(|one| one.mips).collect();
    assert_eq!(named, [[0, 1], [0, 1]]);
    assert_accepted(&graph, &plan);
    for layout in plan.layouts.iter_mut().filter(|one| one.resource == target) {
        layout.mips = [1, 2];
    }
    assert_refused(&graph, &plan, Rule::Layout);
}

#[test]
fn a_read_that_looks_forward_comes_after_the_mips_that_its_writer_generates() {
    let graph = graph(
        r#"{"rgraph": 1, "images": {"target": {"format": "rgba16float", "size": [4, 4], "mips": 2}},
            "passes": [
              {"name": "look", "side_effects": true, "accesses": [{"resource": "target", "usage": "sampled"}]},
              {"name": "fill", "accesses": [
                {"resource": "target", "usage": "storage_write", "generate_mips": true}]}]}"#,
    );
    let plan = support::naive(&graph);
    assert_accepted(&graph, &plan);
    let missing = without(&plan, "fill/mips/target.1");
    let findings = assert_refused(&graph, &missing, Rule::Passes);
    assert!(findings.iter().any(|finding| finding.rule == Rule::Undefined), "{findings:?}");
}

#[test]
fn no_member_of_an_unordered_group_finds_what_another_wrote() {
    let declare = |second: &str| {
        graph(&format!(
            r#"{{"rgraph": 1, "buffers": {{"sum": {{"size": 256}}}},
                "passes": [
                  {{"name": "a", "accesses": [{{"resource": "sum", "usage": "storage_write", "unordered": true}}]}},
                  {{"name": "b", "accesses": [{{"resource": "sum", "usage": "{second}", "unordered": true}}]}}],
                "roots": ["sum"]}}"#
        ))
    };
    let (graph, exchanged) = (declare("storage_write"), {
        let mut plan = support::naive(&declare("storage_write"));
        let passes: Vec<_> =
            (0..plan.commands.len()).filter(|at| matches!(plan.commands[*at], Command::Pass { .. })).collect();
        plan.commands.swap(passes[0], passes[1]);
        plan
    });
    assert_accepted(&graph, &support::naive(&graph));
    assert_accepted(&graph, &exchanged);
}

#[test]
fn an_unordered_access_that_only_reads_is_ordered_as_a_read() {
    let graph = graph(
        r#"{"rgraph": 1, "buffers": {"sum": {"size": 256}, "seen": {"size": 256}},
            "passes": [
              {"name": "a", "accesses": [{"resource": "sum", "usage": "storage_write", "unordered": true}]},
              {"name": "b", "accesses": [{"resource": "sum", "usage": "storage_read", "unordered": true},
                                         {"resource": "seen", "usage": "storage_write"}]}],
            "roots": ["seen"]}"#,
    );
    let plan = support::naive(&graph);
    assert_accepted(&graph, &plan);
    let mut bare = plan;
    for command in &mut bare.commands[1..] {
        if let Command::Barriers(barriers) = command {
            *barriers = Barriers::default();
        }
    }
    assert_refused(&graph, &bare, Rule::ReadAfterWrite);
}

#[test]
fn a_pass_that_uses_two_names_of_one_piece_is_refused() {
    let declare = |mip: u32| {
        graph(&format!(
            r#"{{"rgraph": 1, "images": {{
                  "old": {{"format": "r32float", "mips": 2}}, "new": {{"modifies": "old"}}, "seen": {{"format": "r32float"}}}},
                "passes": [
                  {{"name": "make", "accesses": [{{"resource": "old", "usage": "storage_write"}},
                    {{"resource": "old", "usage": "storage_write", "mips": [1, 2]}}]}},
                  {{"name": "both", "accesses": [{{"resource": "old", "usage": "sampled", "mips": [0, 1]}},
                    {{"resource": "new", "usage": "sampled", "mips": [{mip}, {}]}},
                    {{"resource": "seen", "usage": "storage_write"}}]}}],
                "roots": ["seen", "new"]}}"#,
            mip + 1
        ))
    };
    let apart = declare(1);
    assert_accepted(&apart, &support::naive(&apart));
    // No plan of the other graph is right, not even one that runs nothing.
    let torn = declare(0);
    let findings = check(&torn, &Plan { graph_hash: torn.content_hash(), ..Plan::default() });
    let order = |finding: &&Finding| finding.rule == Rule::Order && finding.pass.as_deref() == Some("both");
    assert_eq!(findings.iter().filter(order).count(), 1, "{findings:?}");
}

#[test]
fn an_unordered_access_that_finds_only_what_its_group_wrote_is_ordered_behind_it() {
    let declare = |before: &str| {
        graph(&format!(
            r#"{{"rgraph": 1, "buffers": {{"sum": {{"size": 256}}}},
                "passes": [{before}
                  {{"name": "a", "accesses": [{{"resource": "sum", "usage": "storage_write", "unordered": true}}]}},
                  {{"name": "b", "accesses": [{{"resource": "sum", "usage": "storage_read_write", "unordered": true}}]}}],
                "roots": ["sum"]}}"#
        ))
    };
    let bare = |graph: &Graph| {
        let mut plan = support::naive(graph);
        let b = plan.find_pass("b").unwrap();
        let at = plan.commands.iter().position(|one| matches!(one, Command::Pass { pass, .. } if *pass == b)).unwrap();
        let before = plan.commands[..at].iter().rposition(|one| matches!(one, Command::Barriers(_))).unwrap();
        plan.commands[before] = Command::Barriers(Barriers::default());
        plan
    };
    let alone = declare("");
    assert_accepted(&alone, &support::naive(&alone));
    assert_refused(&alone, &bare(&alone), Rule::ReadAfterWrite);
    // With contents before the group its members commute.
    let filled = declare(r#"{"name": "zero", "accesses": [{"resource": "sum", "usage": "transfer_dst"}]},"#);
    assert_accepted(&filled, &bare(&filled));
}

#[test]
fn writers_before_a_conditional_pass_with_a_fallback_are_not_needed() {
    let declare = |load: &str| {
        graph(&format!(
            r#"{{"rgraph": 1, "images": {{
                  "out": {{"format": "rgba8unorm"}}, "instead": {{"format": "rgba8unorm"}},
                  "seen": {{"format": "rgba8unorm"}}}},
                "passes": [
                  {{"name": "needless", "accesses": [{{"resource": "out", "usage": "color_attachment"}}]}},
                  {{"name": "stand_in", "accesses": [{{"resource": "instead", "usage": "color_attachment"}}]}},
                  {{"name": "maybe", "conditional": "flag", "fallback": {{"out": "instead"}}, "accesses": [
                    {{"resource": "out", "usage": "color_attachment", "load": "{load}"}}]}},
                  {{"name": "look", "accesses": [{{"resource": "out", "usage": "sampled"}},
                    {{"resource": "seen", "usage": "color_attachment"}}]}}],
                "roots": ["seen"]}}"#
        ))
    };
    let graph = declare("clear");
    let plan = support::naive(&graph);
    assert_accepted(&graph, &plan);
    assert_accepted(&graph, &without(&plan, "needless"));
    assert_refused(&graph, &without(&plan, "stand_in"), Rule::Passes);
    // What the conditional pass keeps, somebody must have written.
    let graph = declare("load");
    let plan = support::naive(&graph);
    assert_accepted(&graph, &plan);
    assert_refused(&graph, &without(&plan, "needless"), Rule::Passes);
}

#[test]
fn what_stands_in_for_a_read_that_looks_forward_is_read_where_that_read_is_made() {
    let graph = graph(
        r#"{"rgraph": 1, "images": {
              "out": {"format": "rgba8unorm"}, "instead": {"format": "rgba8unorm"}, "seen": {"format": "rgba8unorm"}},
            "passes": [
              {"name": "look", "accesses": [{"resource": "out", "usage": "sampled"},
                                            {"resource": "seen", "usage": "color_attachment"}]},
              {"name": "stand_in", "accesses": [{"resource": "instead", "usage": "color_attachment"}]},
              {"name": "maybe", "conditional": "flag", "fallback": {"out": "instead"}, "accesses": [
                {"resource": "out", "usage": "color_attachment", "load": "clear"}]}],
            "roots": ["seen"]}"#,
    );
    let plan = support::naive(&graph);
    assert_accepted(&graph, &plan);
    let position = |name: &str| {
        let id = plan.find_pass(name).unwrap();
        plan.commands.iter().position(|command| matches!(command, Command::Pass { pass, .. } if *pass == id)).unwrap()
    };
    assert!(position("look") > position("maybe"));
    let findings = assert_refused(&graph, &without(&plan, "stand_in"), Rule::Undefined);
    assert!(findings.iter().any(|finding| finding.rule == Rule::Passes), "{findings:?}");
}

#[test]
fn a_conditional_pass_may_replace_what_it_falls_back_on() {
    let graph = graph(
        r#"{"rgraph": 1, "images": {
              "old": {"format": "rgba8unorm"}, "new": {"modifies": "old"}, "seen": {"format": "rgba8unorm"}},
            "passes": [
              {"name": "make", "accesses": [{"resource": "old", "usage": "color_attachment"}]},
              {"name": "maybe", "conditional": "flag", "fallback": {"new": "old"}, "accesses": [
                {"resource": "new", "usage": "color_attachment", "load": "clear"}]},
              {"name": "look", "accesses": [{"resource": "new", "usage": "sampled"},
                                            {"resource": "seen", "usage": "color_attachment"}]}],
            "roots": ["seen"]}"#,
    );
    let plan = support::naive(&graph);
    assert_accepted(&graph, &plan);
    assert_refused(&graph, &without(&plan, "make"), Rule::Passes);
    // The clear must not overtake what was drawn.
    let mut bare = plan;
    let maybe = bare.find_pass("maybe").unwrap();
    let at = bare.commands.iter().position(|one| matches!(one, Command::Pass { pass, .. } if *pass == maybe)).unwrap();
    let before = bare.commands[..at].iter().rposition(|one| matches!(one, Command::Barriers(_))).unwrap();
    bare.commands[before] = Command::Barriers(Barriers::default());
    assert_refused(&graph, &bare, Rule::WriteAfterWrite);
}

#[test]
fn the_exit_of_a_history_covers_its_uses_under_every_name() {
    let graph = graph(
        r#"{"rgraph": 1, "buffers": {
              "now": {"size": 256}, "once": {"history_of": "now"}, "again": {"history_of": "now"}, "seen": {"size": 256}},
            "passes": [
              {"name": "fill", "accesses": [{"resource": "now", "usage": "transfer_dst"}]},
              {"name": "a", "accesses": [{"resource": "once", "usage": "uniform", "stages": ["vertex"]},
                                         {"resource": "seen", "usage": "storage_write"}]},
              {"name": "b", "queue": "compute", "accesses": [{"resource": "again", "usage": "uniform"},
                                                             {"resource": "seen", "usage": "storage_write"}]}],
            "roots": ["seen"]}"#,
    );
    let mut plan = support::naive(&graph);
    // After the last pass no barrier remains that could replace an exit state.
    let last = plan.commands.iter().rposition(|one| matches!(one, Command::Pass { .. })).unwrap();
    plan.commands[last + 1..].fill(Command::Barriers(Barriers::default()));
    assert_accepted(&graph, &plan);
    for name in ["once", "again"] {
        let mut narrow = plan.clone();
        let narrowed = graph.find_resource(name).unwrap();
        for edge in narrow.edges.iter_mut().filter(|edge| edge.resource == narrowed) {
            edge.exit.stages = Stages::VERTEX_SHADER;
            edge.exit.access = Accesses::UNIFORM_READ;
        }
        assert_refused(&graph, &narrow, Rule::Edge);
    }
}

#[test]
fn a_pass_declared_after_another_waits_for_it_though_they_share_nothing() {
    let graph = graph(
        r#"{"rgraph": 1, "buffers": {"one": {"size": 256}, "two": {"size": 256}},
            "passes": [
              {"name": "first", "accesses": [{"resource": "one", "usage": "storage_write", "stages": ["fragment"]}]},
              {"name": "second", "queue": "compute", "after": ["first"], "accesses": [
                {"resource": "two", "usage": "storage_write"}]}],
            "roots": ["one", "two"]}"#,
    );
    let plan = support::naive(&graph);
    assert_accepted(&graph, &plan);
    println!("{}", rgraph_report::listing(&plan));
    let second = plan.find_pass("second").unwrap();
    let at = plan.commands.iter().position(|one| matches!(one, Command::Pass { pass, .. } if *pass == second)).unwrap();
    let mut loose = plan;
    let before = loose.commands[..at].iter().rposition(|one| matches!(one, Command::Barriers(_))).unwrap();
    loose.commands[before] = Command::Barriers(Barriers::default());
    assert_refused(&graph, &loose, Rule::Order);
}

#[test]
fn a_partial_write_of_the_host_needs_a_barrier_to_the_host_whatever_a_flag_switches() {
    let graph = graph(
        r#"{"rgraph": 1, "buffers": {"shared": {"size": 256}, "seen": {"size": 256}},
            "passes": [
              {"name": "make", "accesses": [{"resource": "shared", "usage": "storage_write"}]},
              {"name": "maybe", "conditional": "flag", "side_effects": true, "accesses": [
                {"resource": "shared", "usage": "storage_read"}]},
              {"name": "patch", "queue": "cpu", "accesses": [
                {"resource": "shared", "usage": "host_write", "range": [0, 256]}]},
              {"name": "look", "accesses": [{"resource": "shared", "usage": "storage_read"},
                                            {"resource": "seen", "usage": "storage_write"}]}],
            "roots": ["seen"]}"#,
    );
    let plan = support::naive(&graph);
    assert_accepted(&graph, &plan);
    let mut deaf = plan;
    for barrier in &mut deaf.memory_barriers {
        barrier.scope.dst_stages -= Stages::HOST;
        barrier.scope.dst_access -= Accesses::HOST_READ | Accesses::HOST_WRITE;
    }
    assert_refused(&graph, &deaf, Rule::ReadAfterWrite);
}

#[test]
fn an_event_is_set_once_before_it_is_waited_for() {
    let graph = graph(
        r#"{"rgraph": 1, "buffers": {"one": {"size": 256}},
            "passes": [{"name": "fill", "accesses": [{"resource": "one", "usage": "storage_write"}]}],
            "roots": ["one"]}"#,
    );
    // The naive plan with its first barrier split in two, and set once or twice.
    let split = |sets: usize| {
        let mut plan = support::naive(&graph);
        let Command::Barriers(barriers) = plan.commands[0] else { panic!("{:?}", plan.commands) };
        let event = EventId::new(0);
        plan.commands[0] = Command::WaitEvents(event, barriers);
        plan.commands.splice(0..0, std::iter::repeat_n(Command::SetEvent(event, barriers), sets));
        for batch in plan.batches.iter_mut() {
            batch.commands.end += sets as u32;
        }
        assert_eq!(plan.batches.len(), 1);
        plan
    };
    assert_accepted(&graph, &split(1));
    assert_refused(&graph, &split(2), Rule::Event);
}

#[test]
fn signals_count_one_by_one_and_waits_name_one_of_them() {
    let graph = graph(
        r#"{"rgraph": 1, "buffers": {"a": {"size": 256}, "b": {"size": 256}},
            "passes": [
              {"name": "fill", "queue": "compute", "accesses": [{"resource": "a", "usage": "storage_write"}]},
              {"name": "read", "queue": "cpu", "accesses": [{"resource": "a", "usage": "host_read"},
                                                            {"resource": "b", "usage": "host_write"}]}],
            "roots": ["b"]}"#,
    );
    let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).unwrap();
    assert_accepted(&graph, &plan);
    let at = plan.batches.iter_ids().find(|(_, batch)| batch.signal == Some(1)).expect("the host waits").0;
    // A later run would take the value for its own.
    let mut skips = plan.clone();
    skips.batches[at].signal = Some(8);
    assert_refused(&graph, &skips, Rule::Semaphore);
    // What every run has reached before it begins is no wait.
    let mut begins = plan;
    let wait = begins.waits.iter().position(|wait| !wait.previous_run).expect("the host waits for this run");
    begins.waits[wait].value = 0;
    assert_refused(&graph, &begins, Rule::Semaphore);
}

#[test]
fn a_note_excuses_only_what_the_host_uses_last_from_being_left() {
    let left = |queue: &str, usage: &str| {
        graph(&format!(
            r#"{{"rgraph": 1, "buffers": {{"out": {{"size": 256, "imported": {{}}, "leave": {{"queue": "async_compute"}}}}}},
                "passes": [
                  {{"name": "make", "accesses": [{{"resource": "out", "usage": "storage_write"}}]}},
                  {{"name": "last", "queue": "{queue}", "side_effects": true, "accesses": [
                    {{"resource": "out", "usage": "{usage}"}}]}}]}}"#
        ))
    };
    let kept = |graph: &Graph| {
        let mut plan = bake(graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).unwrap();
        let leaves = |barrier: &BufferBarrier| barrier.families.is_some();
        assert!(plan.buffer_barriers.iter().any(leaves), "the plan leaves it");
        plan.buffer_barriers.iter_mut().for_each(|barrier| barrier.families = None);
        plan.report.notes.clear();
        plan
    };
    for (queue, usage, excused) in [("graphics", "transfer_src", false), ("cpu", "host_read", true)] {
        let graph = left(queue, usage);
        let mut plan = kept(&graph);
        assert_refused(&graph, &plan, Rule::Leave);
        plan.report.notes.push("\"out\" is left as it is".to_owned());
        assert_eq!(check(&graph, &plan).is_empty(), excused, "last used on {queue}");
    }
}

#[test]
fn a_barrier_takes_in_what_other_names_of_its_bytes_wrote_for_what_it_names_alone() {
    let graph = graph(
        r#"{"rgraph": 1,
            "images": {"old": {"format": "rgba8unorm", "size": [64, 64]}, "new": {"format": "rgba8unorm", "size": [64, 64], "mips": 2}},
            "buffers": {"one": {"size": 256}, "two": {"size": 256}, "out": {"size": 256}},
            "passes": [
              {"name": "draw", "queue": "graphics", "accesses": [{"resource": "old", "usage": "color_attachment"},
                                                                 {"resource": "one", "usage": "storage_write"}]},
              {"name": "first", "queue": "compute", "accesses": [{"resource": "one", "usage": "storage_read"},
                {"resource": "new", "usage": "storage_write", "mips": [0, 1]}, {"resource": "two", "usage": "storage_write"}]},
              {"name": "second", "queue": "compute", "accesses": [{"resource": "two", "usage": "storage_read"},
                {"resource": "new", "usage": "storage_write", "mips": [1, 2]}]},
              {"name": "look", "queue": "compute", "accesses": [{"resource": "new", "usage": "sampled"},
                                                                {"resource": "out", "usage": "storage_write"}]}],
            "roots": ["out"]}"#,
    );
    let mut plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    assert_accepted(&graph, &plan);
    let new = graph.find_resource("new").unwrap();
    // The barriers of both mips take in what "draw" wrote, that of the second mip behind the user of the first.
    let takes = |barrier: &ImageBarrier| barrier.resource == new && barrier.why.hazard == Hazard::Alias;
    let mips: Vec<_> = plan.image_barriers.iter().filter(|one| takes(one)).map(|one| one.mips).collect();
    assert_eq!(mips, [[0, 1], [1, 2]]);
    let second = plan.image_barriers.iter().position(|one| takes(one) && one.mips == [1, 2]).unwrap();
    plan.image_barriers[second].scope.src_stages |= Stages::COMPUTE_SHADER;
    assert_accepted(&graph, &plan);
    let taken = std::mem::take(&mut plan.image_barriers[second].scope.src_access);
    // Vulkan 1.3, "Memory Aliasing": the scope of a barrier must contain all subresources that overlap.
    assert_refused(&graph, &plan, Rule::Alias);
    assert!(certificate(&graph, &plan).is_err());
    plan.image_barriers[second].scope.src_access = taken;
    assert_accepted(&graph, &plan);
    assert!(certificate(&graph, &plan).is_ok());
}

#[test]
fn a_release_shows_nothing_to_the_host() {
    let left = r#"{"rgraph": 1, "buffers": {"out": {"size": 256, "imported": {}, "leave": {"queue": "async_compute"}}},
        "passes": [
          {"name": "make", "accesses": [{"resource": "out", "usage": "storage_write"}]},
          {"name": "look", "queue": "cpu", "side_effects": true, "accesses": [
            {"resource": "out", "usage": "host_read"}]}]}"#;
    let taken = r#"{"rgraph": 1, "buffers": {"out": {"size": 256, "sharing": "exclusive"}},
        "passes": [
          {"name": "make", "accesses": [{"resource": "out", "usage": "storage_write"}]},
          {"name": "look", "queue": "cpu", "side_effects": true, "accesses": [
            {"resource": "out", "usage": "host_read"}]},
          {"name": "take", "queue": "async_compute", "side_effects": true, "accesses": [
            {"resource": "out", "usage": "storage_read"}]}]}"#;
    for text in [left, taken] {
        let graph = graph(text);
        let mut plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).unwrap();
        assert_accepted(&graph, &plan);
        assert!(certificate(&graph, &plan).is_ok());
        // A barrier to the host is next to the release, which names the host too.
        let host = Accesses::HOST_READ | Accesses::HOST_WRITE;
        let shows = |scope: &Scope| scope.dst_access.intersects(host);
        assert!(plan.buffer_barriers.iter().any(|barrier| barrier.families.is_some() && shows(&barrier.scope)));
        let barrier = plan.memory_barriers.iter_mut().find(|barrier| shows(&barrier.scope)).unwrap();
        barrier.scope.dst_access -= host;
        assert_refused(&graph, &plan, Rule::ReadAfterWrite);
        assert!(certificate(&graph, &plan).is_err());
    }
}

/// Plans with one fault that the walk, the certificate and the interpreter each find.
#[track_caller]
fn assert_found_by_all(graph: &Graph, plan: &Plan, rule: Rule) {
    assert_refused(graph, plan, rule);
    assert!(certificate(graph, plan).is_err(), "the faulty plan has a certificate");
    assert!(disagreement(graph, plan, 8).is_some(), "the faulty plan computes what the declaration says");
}

#[track_caller]
fn assert_right(graph: &Graph, plan: &Plan) {
    assert_accepted(graph, plan);
    let proof = certificate(graph, plan).unwrap_or_else(|refused| panic!("{refused}"));
    verify(graph, plan, &proof).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(disagreement(graph, plan, 8), None);
}

/// All scopes of a plan's barriers to the host.
fn scopes_to_host(plan: &mut Plan) -> Vec<&mut Scope> {
    let memory = plan.memory_barriers.iter_mut().map(|b| &mut b.scope);
    let buffers = plan.buffer_barriers.iter_mut().map(|b| &mut b.scope);
    let images = plan.image_barriers.iter_mut().map(|b| &mut b.scope);
    let scopes: Vec<_> =
        memory.chain(buffers).chain(images).filter(|scope| scope.dst_stages.contains(Stages::HOST)).collect();
    assert!(!scopes.is_empty(), "no barrier is to the host");
    scopes
}

fn a_device_write_and_a_host_write(load: &str, between: &str) -> (Graph, Plan) {
    let graph = graph(&format!(
        r#"{{"rgraph": 1, "buffers": {{"b": {{"size": 256}}, "seen": {{"size": 256}}, "out": {{"size": 256}}}},
            "passes": [
              {{"name": "make", "queue": "compute", "accesses": [{{"resource": "b", "usage": "storage_write"}}]}},
              {between}
              {{"name": "host", "queue": "cpu", "accesses": [{{"resource": "b", "usage": "host_write"{load}}}]}},
              {{"name": "look", "queue": "compute", "accesses": [{{"resource": "b", "usage": "storage_read"}},
                {{"resource": "out", "usage": "storage_write"}}]}}],
            "roots": ["seen", "out"]}}"#
    ));
    let plan = bake(&graph, &Profile::minimal(), &Options::default(), &mut Scratch::default()).expect("it bakes");
    (graph, plan)
}

const A_DEVICE_LOOKS: &str = r#"{"name": "between", "queue": "compute", "accesses": [
    {"resource": "b", "usage": "storage_read"}, {"resource": "seen", "usage": "storage_write"}]},"#;
const THE_HOST_LOOKS: &str = r#"{"name": "between", "queue": "cpu", "side_effects": true, "accesses": [
    {"resource": "b", "usage": "host_read"}]},
    {"name": "other", "queue": "compute", "accesses": [{"resource": "seen", "usage": "storage_write"}]},"#;

#[test]
fn a_host_write_that_keeps_contents_is_shown_them_as_a_read() {
    let (graph, mut plan) = a_device_write_and_a_host_write("", A_DEVICE_LOOKS);
    assert_right(&graph, &plan);
    for scope in scopes_to_host(&mut plan) {
        scope.dst_access = Accesses::HOST_WRITE;
    }
    assert_found_by_all(&graph, &plan, Rule::ReadAfterWrite);
}

#[test]
fn a_host_read_is_shown_what_it_reads_as_a_read() {
    let (graph, mut plan) = a_device_write_and_a_host_write(r#", "load": "discard""#, THE_HOST_LOOKS);
    assert_right(&graph, &plan);
    for scope in scopes_to_host(&mut plan) {
        scope.dst_access = Accesses::HOST_WRITE;
    }
    assert_found_by_all(&graph, &plan, Rule::ReadAfterWrite);
}

#[test]
fn what_the_host_replaces_may_be_shown_to_it_as_a_read() {
    let (graph, mut plan) = a_device_write_and_a_host_write(r#", "load": "discard""#, A_DEVICE_LOOKS);
    for scope in scopes_to_host(&mut plan) {
        scope.dst_access = Accesses::HOST_READ;
    }
    assert_right(&graph, &plan);
}

#[test]
fn a_host_write_is_shown_what_only_a_device_saw() {
    let (graph, mut plan) = a_device_write_and_a_host_write(r#", "load": "discard""#, A_DEVICE_LOOKS);
    assert_right(&graph, &plan);
    // The wait of the host stays, so that the order is there.
    for scope in scopes_to_host(&mut plan) {
        *scope = Scope { src_stages: scope.src_stages, dst_stages: scope.src_stages, ..Scope::default() };
    }
    assert_found_by_all(&graph, &plan, Rule::WriteAfterWrite);
}

#[test]
fn a_store_behind_a_change_of_layout_is_a_write_that_others_follow() {
    let graph = graph(
        r#"{"rgraph": 1, "images": {"a": {"format": "r32float", "size": [8, 8]}},
            "passes": [
              {"name": "draw", "queue": "graphics", "accesses": [{"resource": "a", "usage": "color_attachment"}]},
              {"name": "look", "queue": "graphics", "side_effects": true, "accesses": [
                {"resource": "a", "usage": "input_attachment"}]},
              {"name": "host", "queue": "cpu", "side_effects": true, "accesses": [
                {"resource": "a", "usage": "host_read"}]}],
            "roots": ["a"]}"#,
    );
    let plan = bake(&graph, &Profile::minimal(), &Options::default(), &mut Scratch::default()).expect("it bakes");
    let inside = plan.commands.iter().find_map(|command| match command {
        Command::Barriers(barriers) if barriers.by_region => Some(barriers.images.range()),
        _ => None,
    });
    let changes = inside.expect("the passes are subpasses of one render pass");
    assert!(plan.image_barriers[changes.clone()].iter().any(|b| b.old_layout != b.new_layout), "{plan:?}");
    assert_right(&graph, &plan);
    let proof = certificate(&graph, &plan).unwrap();
    assert!(proof.accesses.iter().any(|access| access.within == Within::Store), "the certificate lists the store");
    // The change of layout alone is followed.
    let mut bare = plan.clone();
    for scope in scopes_to_host(&mut bare) {
        scope.src_access = Accesses::empty();
    }
    assert_found_by_all(&graph, &bare, Rule::ReadAfterWrite);
    // The store does not follow the change.
    let mut early = plan;
    for b in &mut early.image_barriers[changes] {
        b.scope.dst_stages -= Stages::COLOR_ATTACHMENT_OUTPUT;
        b.scope.dst_access -= Accesses::COLOR_ATTACHMENT_WRITE;
    }
    assert_found_by_all(&graph, &early, Rule::WriteAfterWrite);
}
