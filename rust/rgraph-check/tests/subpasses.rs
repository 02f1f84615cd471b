//! Subpasses of one render pass: what rasterisation order covers, and what needs a by-region barrier between.

use rgraph_check::{Finding, Rule, check};
use rgraph_files::read_graph;
use rgraph_plan::access::{Accesses, Layout, Stages};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::{Barriers, Command, Plan, Scope};
use rgraph_plan::profile::Profile;

/// A graph and the planner's plan of it, which has one render pass of so many subpasses.
fn merged(text: &str, subpasses: u32) -> (Graph, Plan) {
    let graph = read_graph(text.as_bytes(), "subpass.rgraph.json").expect("the graph of a test is right");
    let plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    let rendered = plan.commands.iter().filter(|one| matches!(one, Command::BeginRendering { .. })).count();
    assert_eq!(rendered, 1, "the passes are one render pass");
    let last = plan.passes.iter().filter(|pass| pass.culled.is_none()).map(|pass| pass.subpass).max();
    assert_eq!(last, Some(subpasses - 1));
    (graph, plan)
}

#[track_caller]
fn assert_accepted(graph: &Graph, plan: &Plan) {
    let findings = check(graph, plan);
    assert!(findings.is_empty(), "{} findings, the first: {}", findings.len(), findings[0]);
}

#[track_caller]
fn assert_refused(graph: &Graph, plan: &Plan, rule: Rule) -> Finding {
    let findings = check(graph, plan);
    let found = findings.iter().find(|finding| finding.rule == rule);
    let words: Vec<_> = findings.iter().map(ToString::to_string).collect();
    found.unwrap_or_else(|| panic!("no finding of {rule}, but {words:?}")).clone()
}

/// Where the by-region barriers of a plan stand among its commands.
fn regions(plan: &Plan) -> Vec<usize> {
    let region = |at: &usize| matches!(&plan.commands[*at], Command::Barriers(b) if b.by_region);
    (0..plan.commands.len()).filter(region).collect()
}

/// Changes the scopes of all entries of one barrier call.
fn rescope(plan: &mut Plan, at: usize, change: impl Fn(&mut Scope)) {
    let Command::Barriers(b) = plan.commands[at] else { panic!("no barriers at {at}") };
    plan.memory_barriers[b.memory.range()].iter_mut().for_each(|one| change(&mut one.scope));
    plan.image_barriers[b.images.range()].iter_mut().for_each(|one| change(&mut one.scope));
}

/// The plan with one barrier call emptied.
fn emptied(plan: &Plan, at: usize) -> Plan {
    let mut plan = plan.clone();
    plan.commands[at] = Command::Barriers(Barriers { by_region: true, ..Barriers::default() });
    plan
}

/// All passes in one subpass, nothing between them.
fn flattened(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for at in regions(&plan) {
        plan = emptied(&plan, at);
    }
    plan.passes.iter_mut().for_each(|pass| pass.subpass = 0);
    plan
}

/// Deferred shading with a later pass that draws over the result.
const DEFERRED: &str = r#"{"rgraph": 1, "reference_size": [64, 64],
    "images": {"albedo": {"format": "rgba8unorm"}, "lit": {"format": "rgba16float"}},
    "passes": [
      {"name": "gbuffer", "accesses": [{"resource": "albedo", "usage": "color_attachment"}]},
      {"name": "lighting", "accesses": [{"resource": "albedo", "usage": "input_attachment"},
                                        {"resource": "lit", "usage": "color_attachment"}]},
      {"name": "sky", "accesses": [{"resource": "lit", "usage": "color_attachment"}]}],
    "roots": ["lit"]}"#;

#[test]
fn what_one_subpass_draws_and_a_later_one_draws_over_needs_a_dependency() {
    let graph = read_graph(DEFERRED.as_bytes(), "subpass.rgraph.json").unwrap();
    let plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    assert_accepted(&graph, &plan);
    let id = |name: &str| plan.find_pass(name).unwrap();
    // In a subpass of its own without a dependency, the sky races the lighting.
    let mut alone = plan.clone();
    let region = regions(&plan);
    for at in &region[1..] {
        alone = emptied(&alone, *at);
    }
    alone.passes[id("sky")].subpass = alone.passes[id("lighting")].subpass + 1;
    let finding = assert_refused(&graph, &alone, Rule::WriteAfterWrite);
    assert_eq!((finding.pass.as_deref(), finding.resource.as_deref()), (Some("sky"), Some("lit")), "{finding}");
}

const IN_PLACE: &str = r#"{"rgraph": 1, "reference_size": [64, 64],
    "images": {"albedo": {"format": "rgba8unorm"}, "lit": {"format": "rgba16float"}},
    "passes": [
      {"name": "gbuffer", "accesses": [{"resource": "albedo", "usage": "color_attachment"}]},
      {"name": "lighting", "accesses": [{"resource": "albedo", "usage": "input_attachment"},
                                        {"resource": "lit", "usage": "color_attachment"}]}],
    "roots": ["lit"]}"#;

#[test]
fn a_read_in_place_stands_in_a_later_subpass_behind_a_dependency_that_covers_it() {
    let (graph, plan) = merged(IN_PLACE, 2);
    assert_accepted(&graph, &plan);
    let finding = assert_refused(&graph, &flattened(&plan), Rule::ReadAfterWrite);
    assert!(finding.message.contains("within one subpass"), "{finding}");
    let at = regions(&plan)[0];
    assert_refused(&graph, &emptied(&plan, at), Rule::ReadAfterWrite);
    let faults: [fn(&mut Scope); 4] = [
        |scope| scope.src_stages = Stages::EARLY_FRAGMENT_TESTS,
        |scope| scope.dst_stages = Stages::COLOR_ATTACHMENT_OUTPUT,
        |scope| scope.src_access = Accesses::empty(),
        |scope| scope.dst_access = Accesses::empty(),
    ];
    for fault in faults {
        let mut plan = plan.clone();
        rescope(&mut plan, at, fault);
        assert!(!check(&graph, &plan).is_empty());
    }
}

#[test]
fn a_by_region_dependency_names_only_stages_that_work_texel_by_texel() {
    let (graph, mut plan) = merged(IN_PLACE, 2);
    let at = regions(&plan)[0];
    rescope(&mut plan, at, |scope| scope.src_stages |= Stages::COMPUTE_SHADER);
    assert_refused(&graph, &plan, Rule::UnsupportedStage);
}

/// As [`IN_PLACE`], and the G-buffer is stored.
const STORED: &str = r#"{"rgraph": 1, "reference_size": [64, 64],
    "images": {"albedo": {"format": "rgba8unorm"}, "lit": {"format": "rgba16float"}},
    "passes": [
      {"name": "gbuffer", "accesses": [{"resource": "albedo", "usage": "color_attachment"}]},
      {"name": "lighting", "accesses": [{"resource": "albedo", "usage": "input_attachment"},
                                        {"resource": "lit", "usage": "color_attachment"}]}],
    "roots": ["albedo", "lit"]}"#;

#[test]
fn a_store_operation_follows_the_change_of_layout_within_its_render_pass() {
    let (graph, plan) = merged(STORED, 2);
    assert_accepted(&graph, &plan);
    let at = regions(&plan)[0];
    for fault in [
        |scope: &mut Scope| scope.dst_stages -= Stages::COLOR_ATTACHMENT_OUTPUT,
        |scope: &mut Scope| scope.dst_access -= Accesses::COLOR_ATTACHMENT_WRITE,
    ] {
        let mut plan = plan.clone();
        rescope(&mut plan, at, fault);
        let finding = assert_refused(&graph, &plan, Rule::WriteAfterWrite);
        assert_eq!(finding.resource.as_deref(), Some("albedo"), "{finding}");
    }
}

#[test]
fn subpasses_count_up_and_dependencies_stand_between_two_of_them() {
    let (graph, plan) = merged(IN_PLACE, 2);
    let second = plan.find_pass("lighting").unwrap();
    let mut skipped = plan.clone();
    skipped.passes[second].subpass = 2;
    assert_refused(&graph, &skipped, Rule::Malformed);
    let mut same = plan.clone();
    same.passes[second].subpass = 0;
    assert_refused(&graph, &same, Rule::Malformed);
    let mut late = plan;
    late.passes.iter_mut().for_each(|pass| pass.subpass += 1);
    assert_refused(&graph, &late, Rule::Malformed);
}

/// Depth is drawn, then tested read-only and read in place by one pass, then drawn again.
const DEPTH: &str = r#"{"rgraph": 1, "reference_size": [64, 64],
    "images": {"depth": {"format": "depth32float"}, "albedo": {"format": "rgba8unorm"}},
    "passes": [
      {"name": "solid", "accesses": [{"resource": "depth", "usage": "depth_stencil_attachment"},
                                     {"resource": "albedo", "usage": "color_attachment"}]},
      {"name": "soft", "accesses": [{"resource": "depth", "usage": "depth_stencil_read"},
                                    {"resource": "depth", "usage": "input_attachment"},
                                    {"resource": "albedo", "usage": "color_attachment"}]},
      {"name": "over", "accesses": [{"resource": "depth", "usage": "depth_stencil_attachment"},
                                    {"resource": "albedo", "usage": "color_attachment"}]}],
    "roots": ["albedo", "depth"]}"#;

#[test]
fn depth_tested_and_read_in_place_needs_dependencies_for_both() {
    let graph = read_graph(DEPTH.as_bytes(), "subpass.rgraph.json").unwrap();
    let mut plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    let [first, second] = regions(&plan)[..] else { panic!("{:?}", plan.commands) };
    rescope(&mut plan, first, |scope| {
        scope.dst_stages |= Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS | Stages::FRAGMENT_SHADER;
        scope.dst_access |= Accesses::INPUT_ATTACHMENT_READ | Accesses::DEPTH_STENCIL_ATTACHMENT_READ;
    });
    assert_accepted(&graph, &plan);
    for access in [Accesses::INPUT_ATTACHMENT_READ, Accesses::DEPTH_STENCIL_ATTACHMENT_READ] {
        let mut deaf = plan.clone();
        rescope(&mut deaf, first, |scope| scope.dst_access -= access);
        assert!(!check(&graph, &deaf).is_empty(), "nobody misses {access:?}");
    }
    // The second drawing must wait for the read in the fragment shader, not for the tests alone.
    let mut early = plan;
    rescope(&mut early, second, |scope| scope.src_stages -= Stages::FRAGMENT_SHADER | Stages::LATE_FRAGMENT_TESTS);
    assert!(!check(&graph, &early).is_empty());
}

#[test]
fn a_layout_changes_between_subpasses_by_a_dependency_that_says_so() {
    let (graph, plan) = merged(IN_PLACE, 2);
    let albedo = graph.find_resource("albedo").unwrap();
    let at = regions(&plan)[0];
    let Command::Barriers(b) = plan.commands[at] else { unreachable!() };
    let moved = plan.image_barriers[b.images.range()].iter().position(|one| one.resource == albedo);
    let moved = b.images.range().start + moved.expect("the image changes its layout there");
    let mut other = plan.clone();
    other.image_barriers[moved].new_layout = Layout::TransferDst;
    assert_refused(&graph, &other, Rule::Layout);
    let mut stale = plan;
    stale.image_barriers[moved].old_layout = Layout::TransferDst;
    assert_refused(&graph, &stale, Rule::Layout);
}

#[test]
fn dependencies_between_subpasses_chain() {
    // gbuffer | between | lighting: what the first draws, the third reads; the pass between takes no part.
    let text = r#"{"rgraph": 1, "reference_size": [64, 64],
        "images": {"albedo": {"format": "rgba8unorm"}, "normal": {"format": "rgba8unorm"},
                   "first": {"format": "rgba8unorm"}, "lit": {"format": "rgba16float"}},
        "passes": [
          {"name": "gbuffer", "accesses": [{"resource": "albedo", "usage": "color_attachment"},
                                           {"resource": "normal", "usage": "color_attachment"}]},
          {"name": "between", "accesses": [{"resource": "normal", "usage": "input_attachment"},
                                           {"resource": "first", "usage": "color_attachment"}]},
          {"name": "lighting", "accesses": [{"resource": "albedo", "usage": "input_attachment"},
                                            {"resource": "first", "usage": "input_attachment"},
                                            {"resource": "lit", "usage": "color_attachment"}]}],
        "roots": ["lit"]}"#;
    let (graph, plan) = merged(text, 3);
    assert_accepted(&graph, &plan);
    let places = regions(&plan);
    // One global dependency between each two; the first takes in what was drawn, the second shows it.
    let mut chained = plan.clone();
    rescope(&mut chained, places[0], |scope| scope.src_access = Accesses::COLOR_ATTACHMENT_WRITE);
    assert_accepted(&graph, &chained);
    for at in places {
        assert!(!check(&graph, &emptied(&plan, at)).is_empty(), "nobody misses the dependency at {at}");
    }
}

#[test]
fn a_storage_write_is_not_ordered_by_region() {
    let text = r#"{"rgraph": 1, "reference_size": [64, 64],
        "images": {"albedo": {"format": "rgba8unorm"}, "lit": {"format": "rgba16float"}},
        "buffers": {"list": {"size": 256}},
        "passes": [
          {"name": "gbuffer", "accesses": [{"resource": "albedo", "usage": "color_attachment"}]},
          {"name": "lighting", "accesses": [{"resource": "albedo", "usage": "input_attachment"},
                                            {"resource": "lit", "usage": "color_attachment"},
                                            {"resource": "list", "usage": "storage_write", "load": "discard"}]}],
        "roots": ["lit", "list"]}"#;
    let (graph, plan) = merged(text, 2);
    assert_accepted(&graph, &plan);
    // The same plan for a graph in which the first pass writes the list too.
    let both = text.replace(
        r#"[{"resource": "albedo", "usage": "color_attachment"}]"#,
        r#"[{"resource": "albedo", "usage": "color_attachment"}, {"resource": "list", "usage": "storage_write"}]"#,
    );
    let both = read_graph(both.as_bytes(), "subpass.rgraph.json").unwrap();
    let mut plan = Plan { graph_hash: both.content_hash(), ..plan };
    for barrier in &mut plan.image_barriers {
        barrier.scope.src_stages |= Stages::FRAGMENT_SHADER;
        barrier.scope.dst_stages |= Stages::FRAGMENT_SHADER;
        barrier.scope.src_access |= Accesses::SHADER_STORAGE_WRITE;
        barrier.scope.dst_access |= Accesses::SHADER_STORAGE_WRITE;
    }
    let first = plan.find_pass("gbuffer");
    plan.resources[both.find_resource("list").unwrap()].lifetime =
        first.zip(plan.find_pass("lighting")).map(|(first, last)| [first, last]);
    let finding = assert_refused(&both, &plan, Rule::WriteAfterWrite);
    assert_eq!(finding.resource.as_deref(), Some("list"), "{finding}");
}

#[test]
fn a_resolve_stands_at_the_end_of_its_subpass() {
    let text = r#"{"rgraph": 1, "reference_size": [64, 64],
        "images": {"many": {"format": "rgba8unorm", "samples": 4}, "one": {"format": "rgba8unorm"}},
        "passes": [
          {"name": "draw", "accesses": [{"resource": "many", "usage": "color_attachment"},
                                        {"resource": "one", "usage": "resolve_attachment", "resolves": "many"}]},
          {"name": "more", "accesses": [{"resource": "many", "usage": "color_attachment"}]}],
        "roots": ["one", "many"]}"#;
    let graph = read_graph(text.as_bytes(), "subpass.rgraph.json").unwrap();
    let plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    assert_accepted(&graph, &plan);
    // Joined into one subpass, the resolve would see what the second pass draws.
    let rendered: Vec<_> = (0..plan.commands.len())
        .filter(|at| matches!(plan.commands[*at], Command::BeginRendering { .. } | Command::EndRendering))
        .collect();
    assert_eq!(rendered.len(), 4, "the planner keeps them apart");
    let mut joined = plan.clone();
    let nothing = Command::Barriers(Barriers { by_region: true, ..Barriers::default() });
    joined.commands[rendered[1]..=rendered[2]].fill(nothing);
    let more = plan.find_pass("more").unwrap();
    joined.passes[more].physical_pass = plan.passes[plan.find_pass("draw").unwrap()].physical_pass;
    let finding = assert_refused(&graph, &joined, Rule::WriteAfterRead);
    assert_eq!((finding.pass.as_deref(), finding.resource.as_deref()), (Some("more"), Some("many")), "{finding}");
}

/// A render pass that reads in place attaches stencil too: a pass that names depth alone leaves its layout open.
#[test]
fn an_aspect_that_no_pass_finds_is_no_attachment() {
    let text = |aspects: &str| {
        format!(
            r#"{{"rgraph": 1, "reference_size": [64, 64],
            "images": {{"z": {{"format": "depth24plus-stencil8"}}, "first": {{"format": "rgba8unorm"}},
                       "lit": {{"format": "rgba8unorm"}}}},
            "passes": [
              {{"name": "draw", "accesses": [{{"resource": "first", "usage": "color_attachment"}}]}},
              {{"name": "light", "accesses": [{{"resource": "first", "usage": "input_attachment"}},
                {{"resource": "z", "usage": "depth_stencil_attachment"{aspects}}},
                {{"resource": "lit", "usage": "color_attachment"}}]}}],
            "roots": ["lit"]}}"#
        )
    };
    let (graph, plan) = merged(&text(""), 2);
    assert_accepted(&graph, &plan);
    let alone = read_graph(text(r#", "aspects": ["depth"]"#).as_bytes(), "alone.rgraph.json").expect("a graph file");
    let findings = check(&alone, &plan);
    for words in ["in a layout that no pass of its render pass names", "takes stencil too"] {
        assert!(findings.iter().any(|found| found.message.contains(words)), "{words}: {findings:?}");
    }
}

/// In a subpass an attachment is a whole image: what another pass of the render pass says of depth does not tell in
/// which layout a pass that names stencil alone has it.
#[test]
fn a_pass_finds_both_aspects_of_what_it_attaches_in_a_subpass() {
    let text = |aspects: &str, more: &str| {
        format!(
            r#"{{"rgraph": 1, "reference_size": [64, 64],
            "images": {{"z": {{"format": "depth24plus-stencil8"}}, "first": {{"format": "rgba8unorm"}},
                       "lit": {{"format": "rgba8unorm"}}}},
            "passes": [
              {{"name": "draw", "accesses": [{{"resource": "z", "usage": "depth_stencil_attachment"}},
                                             {{"resource": "first", "usage": "color_attachment"}}]}},
              {{"name": "light", "accesses": [{{"resource": "first", "usage": "input_attachment"}},
                {{"resource": "z", "usage": "depth_stencil_read"{aspects}}}{more},
                {{"resource": "lit", "usage": "color_attachment"}}]}}],
            "roots": ["lit"]}}"#
        )
    };
    let (graph, plan) = merged(&text("", ""), 2);
    assert_accepted(&graph, &plan);
    let alone = read_graph(text(r#", "aspects": ["stencil"]"#, "").as_bytes(), "alone.rgraph.json").unwrap();
    let found = assert_refused(&alone, &plan, Rule::Attachment);
    assert_eq!((found.pass.as_deref(), found.resource.as_deref()), (Some("light"), Some("z")), "{found}");
    assert!(found.message.contains("takes depth too"), "{found}");
    // A sampled aspect has a layout as well.
    let sampled = r#", {"resource": "z", "usage": "sampled", "aspects": ["depth"]}"#;
    let both = read_graph(text(r#", "aspects": ["stencil"]"#, sampled).as_bytes(), "both.rgraph.json").unwrap();
    assert!(check(&both, &plan).iter().all(|finding| !finding.message.contains("takes depth too")));
}

/// A subpass has what each of its passes reads in place; two passes of one subpass would be drawn in an order that no
/// executor keeps, since it begins a subpass with each.
#[test]
fn passes_that_read_in_place_stand_in_subpasses_of_their_own() {
    let text = r#"{"rgraph": 1, "reference_size": [64, 64],
        "images": {"albedo": {"format": "rgba8unorm", "imported": {}}, "lit": {"format": "rgba8unorm"}},
        "passes": [
          {"name": "one", "accesses": [{"resource": "albedo", "usage": "input_attachment"},
                                       {"resource": "lit", "usage": "color_attachment"}]},
          {"name": "two", "accesses": [{"resource": "albedo", "usage": "input_attachment"},
                                       {"resource": "lit", "usage": "color_attachment"}]}],
        "roots": ["lit"]}"#;
    let (graph, plan) = merged(text, 2);
    assert_accepted(&graph, &plan);
    let mut flat = plan.clone();
    flat.passes.iter_mut().for_each(|pass| pass.subpass = 0);
    let between = |command: &Command| !matches!(command, Command::Barriers(b) if b.by_region);
    let mut commands = Vec::new();
    for batch in flat.batches.iter_mut() {
        let start = commands.len();
        commands.extend(plan.commands[batch.commands.range()].iter().copied().filter(between));
        batch.commands = rgraph_plan::id::Span::new(start, commands.len());
    }
    flat.commands = commands;
    let findings = check(&graph, &flat);
    assert!(findings.iter().any(|finding| finding.rule == Rule::Malformed), "{findings:?}");
}

#[test]
fn an_attachment_is_resolved_only_where_a_pass_says_so() {
    let text = r#"{"rgraph": 1, "reference_size": [64, 64],
        "images": {"many": {"format": "rgba8unorm", "samples": 4}, "one": {"format": "rgba8unorm"}},
        "passes": [
          {"name": "draw", "accesses": [{"resource": "many", "usage": "color_attachment"},
                                        {"resource": "one", "usage": "resolve_attachment", "resolves": "many"}]},
          {"name": "more", "accesses": [{"resource": "many", "usage": "color_attachment"}]}],
        "roots": ["one", "many"]}"#;
    let graph = read_graph(text.as_bytes(), "subpass.rgraph.json").unwrap();
    let plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    let mut twice = plan.clone();
    let one = graph.find_resource("one");
    let of_more = twice.attachments.iter().position(|at| at.resolve_to.is_none()).expect("\"more\" resolves nothing");
    twice.attachments[of_more].resolve_to = one;
    let found = assert_refused(&graph, &twice, Rule::Attachment);
    assert!(found.message.contains("which no pass of its render pass declares"), "{found}");
}

#[test]
fn a_barrier_within_a_render_pass_takes_in_nothing_from_before_it() {
    let text = r#"{"rgraph": 1,
        "images": {"before": {"format": "rgba8unorm", "size": [32, 32]}, "base": {"format": "rgba8unorm", "size": [64, 64]},
          "lit": {"format": "rgba8unorm", "size": [64, 64]}},
        "buffers": {"out": {"size": 256}},
        "passes": [
          {"name": "first", "accesses": [{"resource": "before", "usage": "color_attachment"}]},
          {"name": "draw", "accesses": [{"resource": "base", "usage": "color_attachment"}]},
          {"name": "light", "accesses": [{"resource": "base", "usage": "input_attachment"},
            {"resource": "lit", "usage": "color_attachment"}]},
          {"name": "more", "accesses": [{"resource": "base", "usage": "input_attachment"},
            {"resource": "lit", "usage": "color_attachment", "load": "load"}]},
          {"name": "look", "accesses": [{"resource": "lit", "usage": "storage_read", "stages": ["compute_shader"]},
            {"resource": "before", "usage": "storage_read", "stages": ["compute_shader"]},
            {"resource": "out", "usage": "storage_write", "stages": ["compute_shader"]}]}],
        "roots": ["out"]}"#;
    let graph = read_graph(text.as_bytes(), "before.rgraph.json").expect("the graph of a test is right");
    let plan = bake(&graph, &Profile::single_queue(), &Options::default(), &mut Scratch::default()).unwrap();
    assert_accepted(&graph, &plan);
    let inner = regions(&plan);
    let colour = |one: &rgraph_plan::plan::MemoryBarrier| one.scope.src_access == Accesses::COLOR_ATTACHMENT_WRITE;
    let global = |at: &&usize| match plan.commands[**at] {
        Command::Barriers(b) => plan.memory_barriers[b.memory.range()].iter().any(colour),
        _ => false,
    };
    let last = *inner.iter().find(global).expect("a barrier about all memory between two subpasses takes colours in");
    let before = graph.find_resource("before").expect("it is declared");
    let read = |b: &rgraph_plan::plan::ImageBarrier| b.resource == before && b.new_layout == Layout::General;
    let outer = plan.commands.iter().skip(last).any(
        |command| matches!(command, Command::Barriers(b) if plan.image_barriers[b.images.range()].iter().any(read)),
    );
    assert!(outer, "the image is read behind the render pass");
    let mut unavailable = plan.clone();
    let barrier = unavailable.image_barriers.iter_mut().find(|b| read(b)).expect("it changes its layout");
    barrier.scope.src_access = Accesses::empty();
    let found = assert_refused(&graph, &unavailable, Rule::WriteAfterWrite);
    assert_eq!(found.resource.as_deref(), Some("before"), "{found}");
    let mut unordered = plan;
    let barrier = unordered.image_barriers.iter_mut().find(|b| read(b)).expect("it changes its layout");
    barrier.scope.src_stages = Stages::FRAGMENT_SHADER;
    assert_refused(&graph, &unordered, Rule::WriteAfterWrite);
}
