//! Resources that are new in each frame: nothing orders their first use after the frame before.

use rgraph_check::{Rule, check};
use rgraph_files::read_graph;
use rgraph_plan::access::Stages;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::{HeapId, Placement, Plan};
use rgraph_plan::prelude::{Graph, Profile};

corners! {
    a_fresh_image_is_drawn_and_sampled = "
        image a fresh
        image out root
        pass draw graphics: color a
        pass show graphics: sampled a; color out";

    a_fresh_image_moves_between_queues = "
        image a fresh
        image b fresh
        image out root
        pass draw graphics: color a
        pass light async_compute: sampled a; storage_write b
        pass show graphics: sampled b; color out";

    a_fresh_root_is_written_by_two_queues = "
        buffer a 4096 fresh root
        image out root
        pass fill transfer: dst a
        pass add async_compute: storage_read_write a
        pass show graphics: uniform a; color out";

    members_of_a_group_begin_with_fresh_bytes = "
        buffer a 4096 fresh
        buffer out 4096 root
        pass one compute: storage_write a unordered=true
        pass two async_compute: storage_write a unordered=true
        pass read compute: storage_read a; storage_write out";

    another_name_of_a_fresh_image_is_fresh_too = "
        image a fresh
        image b modifies=a
        image out root
        pass draw graphics: color a
        pass more graphics: color b load=load
        pass show graphics: sampled b; color out";

    the_host_writes_fresh_bytes = "
        buffer a 4096 fresh
        buffer out 4096 root
        pass fill cpu: host_write a
        pass use compute: storage_read a; storage_write out
        pass look cpu: host_read a; host_write out";

    a_fresh_image_is_read_before_its_writer_is_declared = "
        image a fresh
        image out root
        pass show graphics: sampled a; color out
        pass draw graphics: color a";
}

const FRAME: &str = r#"{"rgraph": 1, "images": {
      "a": {"format": "rgba8unorm", "size": [64, 64], LIFE}, "out": {"format": "rgba8unorm", "size": [64, 64]}},
    "buffers": {"b": {"size": 4096, LIFE}, "late": {"size": 4096}},
    "passes": [
      {"name": "draw", "queue": "graphics", "accesses": [{"resource": "a", "usage": "color_attachment"}]},
      {"name": "light", "queue": "async_compute", "accesses": [
        {"resource": "a", "usage": "sampled"}, {"resource": "b", "usage": "storage_write"}]},
      {"name": "show", "queue": "graphics", "accesses": [
        {"resource": "b", "usage": "storage_read"}, {"resource": "out", "usage": "color_attachment"}]},
      {"name": "after", "queue": "async_compute", "accesses": [
        {"resource": "a", "usage": "sampled"}, {"resource": "late", "usage": "storage_write"}]}],
    "roots": ["out", "late"]}"#;

fn frame(life: &str) -> (Graph, Plan) {
    let text = FRAME.replace("LIFE", life);
    let graph = read_graph(text.as_bytes(), "frame").unwrap_or_else(|error| panic!("{error}"));
    let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).expect("it bakes");
    (graph, plan)
}

#[test]
fn nothing_waits_for_the_frame_before() {
    let before = |plan: &Plan| plan.waits.iter().filter(|wait| wait.previous_run).count();
    let first = |plan: &Plan| {
        let a = plan.resource_names.iter().position(|name| name == "a").expect("it has the image");
        let of = plan.image_barriers.iter().find(|barrier| barrier.resource.index() == a).expect("its first barrier");
        of.scope.src_stages
    };
    let (_, transient) = frame("\"persistent\": false");
    let (_, fresh) = frame("\"fresh\": true");
    assert!(before(&transient) > 0 && first(&transient) != Stages::empty(), "transients wait for the frame before");
    assert_eq!(before(&fresh), 0);
    assert_eq!(first(&fresh), Stages::empty());
    assert_eq!(fresh.memory.placements.len(), 2, "only the roots lie among the transients");
}

#[test]
fn a_fresh_resource_among_the_transients_is_refused() {
    let (graph, mut plan) = frame("\"fresh\": true");
    let a = plan.resources.ids().next().expect("it has resources");
    let size = plan.resources[a].bytes;
    plan.memory.heaps = IdVec::filled(plan.memory.heaps[HeapId::new(0)].clone(), 1);
    plan.memory.heaps[HeapId::new(0)].size += size;
    let offset = plan.memory.heaps[HeapId::new(0)].size - size;
    plan.memory.placements.push(Placement { resource: a, heap: HeapId::new(0), offset, size });
    let findings = check(&graph, &plan);
    assert!(
        findings.iter().any(|one| one.rule == Rule::Placement && one.to_string().contains("fresh")),
        "{findings:?}"
    );
}

#[test]
fn memory_of_the_run_before_needs_what_fresh_memory_does_not() {
    // The same plan, if the resources were transients: its lack of waits and sources is found.
    let (_, plan) = frame("\"fresh\": true");
    let (graph, transient) = frame("\"persistent\": false");
    let mut wrong = transient.clone();
    wrong.waits.iter_mut().filter(|wait| wait.previous_run).for_each(|wait| wait.stages = Stages::empty());
    for (barrier, fresh) in wrong.image_barriers.iter_mut().zip(&plan.image_barriers) {
        barrier.scope.src_stages = fresh.scope.src_stages;
        barrier.scope.src_access = fresh.scope.src_access;
    }
    assert!(check(&graph, &transient).is_empty());
    assert!(!check(&graph, &wrong).is_empty(), "a transient without an order to the run before is right");
}
