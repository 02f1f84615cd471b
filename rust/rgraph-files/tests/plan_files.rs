//! Plan files: what is written reads back equal, and a plan that could make its reader stumble is refused.

use rgraph_files::{plan_hash, read_plan, write_plan};
use rgraph_plan::plan::{BakeTimes, BatchId, Command, Culled, Hazard, Plan, PlanPassId};
use rgraph_plan::profile::Capabilities;

use crate::common::{id, plan};

fn read(text: &str) -> Plan {
    read_plan(text.as_bytes(), "test.rplan.json").unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    match read_plan(text.as_bytes(), "bad.rplan.json") {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_plan_that_says_everything_reads_back_equal_and_is_written_the_same_again() {
    let plan = plan();
    let text = write_plan(&plan);
    let again = read(&text);
    assert!(again == plan);
    assert_eq!(write_plan(&again), text);
    assert_eq!(plan_hash(&again), plan_hash(&plan));
}

#[test]
fn an_empty_plan_reads_back_equal() {
    let plan = Plan::default();
    assert!(read(&write_plan(&plan)) == plan);
}

#[test]
fn the_order_of_flat_arrays_does_not_make_plans_differ_and_every_decision_does() {
    let one = plan();
    let mut two = plan();
    // Another layout of the same names: the arena in reverse.
    let names: Vec<String> = two.pass_names.iter().map(str::to_owned).collect();
    two.pass_names.clear();
    for name in names.iter().rev() {
        two.pass_names.push(name);
    }
    let last = names.len() as u32 - 1;
    two.passes.iter_mut().for_each(|pass| pass.name = last - pass.name);
    assert!(one == two);
    assert_eq!(plan_hash(&one), plan_hash(&two));

    let edits: [fn(&mut Plan); 12] = [
        |p| p.graph.push('x'),
        |p| p.graph_hash += 1,
        |p| p.passes[id::<PlanPassId>(0)].why.start_us = 0.5,
        |p| p.passes[id::<PlanPassId>(6)].culled = Some(Culled::WritesNothing),
        |p| p.image_barriers[0].why.hazard = Hazard::FirstUse,
        |p| p.image_barriers[0].scope.src_stages = Default::default(),
        |p| p.waits[0].value += 1,
        |p| p.batches[id::<BatchId>(0)].signal = None,
        |p| p.memory.placements[0].offset += 256,
        |p| p.attachments[0].clear = None,
        |p| p.report.notes.clear(),
        |p| p.resources.iter_mut().for_each(|r| r.aliases = Default::default()),
    ];
    for (at, edit) in edits.into_iter().enumerate() {
        let mut other = plan();
        edit(&mut other);
        assert!(one != other, "edit {at}");
        assert_ne!(plan_hash(&one), plan_hash(&other), "edit {at}");
    }
}

#[test]
fn timings_are_written_where_there_are_some_and_count_for_nothing() {
    let mut timed = plan();
    timed.report.bake_us = Some(BakeTimes { validate: 3.5, alias: 0.1, ..BakeTimes::default() });
    let text = write_plan(&timed);
    assert!(text.contains("\"bake_us\": {\"validate\": 3.5, \"cull\": 0.0,"), "{text}");
    assert_eq!(read(&text).report.bake_us, timed.report.bake_us);
    assert!(timed == plan());
    assert_eq!(plan_hash(&timed), plan_hash(&plan()));
}

#[test]
fn the_written_fields_are_those_of_formats() {
    let text = write_plan(&plan());
    for part in [
        "\"rplan\": 1,\n  \"graph\": \"frame\",\n  \"graph_hash\": \"00000000000000000123456789abcdef\"",
        "{\"id\": 0, \"name\": \"gbuffer\", \"declared\": 0, \"queue\": 0, \"culled\": false, \"reason\": null, \"physical_pass\": 0",
        "\"culled\": true, \"reason\": \"its output 'volume' is read by culled passes only ('debug')\", \"physical_pass\": null",
        "{\"id\": 0, \"name\": \"albedo\", \"kind\": \"image\", \"bytes\": 8323072, \"lifetime\": {\"first\": 0, \"last\": 2}, \"aliases\": [\"out\"]",
        "{\"queue\": 1, \"value\": 1, \"stages\": [\"color_attachment_output\"], \"frame\": -1}",
        "{\"queue\": null, \"value\": 7, \"stages\": [\"host\"], \"frame\": -1}",
        "\"signals\": [\n        {\"queue\": 0, \"value\": 1}\n      ]}",
        "\"old_layout\": \"undefined\", \"new_layout\": \"color_attachment_optimal\", \"src_queue\": null, \"dst_queue\": null",
        "\"src_queue\": 0, \"dst_queue\": 2",
        "{\"op\": \"begin_rendering\", \"physical_pass\": 0, \"attachments\": [",
        "\"clear\": [1.0, 255]",
        "{\"op\": \"end_rendering\"}",
        "{\"op\": \"set_event\", \"event\": 0, \"memory\": [], \"buffers\": [], \"images\": [",
        "{\"op\": \"barriers\", \"by_region\": true,",
        "\"name\": \"lighting/mips/hdr.1\", \"declared\": null, \"owner\": 1, \"queue\"",
        "{\"resource\": 2, \"stages\": [\"blit\"], \"access\": [\"transfer_write\"], \"layout\": \"transfer_dst_optimal\", \"mips\": [1, 2], \"layers\": [0, 1]}",
        "{\"id\": 0, \"type\": \"device\", \"size\": 38797312}",
        "{\"resource\": 2, \"heap\": 0, \"offset\": 0, \"size\": 22151168}",
        "\"entry\": {\"queue\": 1, \"stages\": [\"compute_shader\"], \"access\": [\"shader_storage_read\"], \"layout\": \"undefined\"}",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// A plan as another tool might write it: the documented fields and nothing else.
const DOCUMENTED: &str = r#"{
  "rplan": 1, "graph": "frame", "graph_hash": "ff", "device_profile": {"name": "x", "queues": [{"name": "graphics", "family": 0}]},
  "passes": [{"id": 0, "name": "gbuffer", "declared": 0, "queue": 0, "culled": false, "reason": null, "physical_pass": 0},
             {"id": 1, "name": "stray", "declared": 1, "queue": null, "culled": true, "reason": "because", "physical_pass": null}],
  "resources": [{"id": 0, "name": "albedo", "kind": "image", "bytes": 64, "lifetime": {"first": 0, "last": 0}, "aliases": ["b"],
                 "sharing": "exclusive", "format": "rgba8unorm", "mips": 1, "layers": 1, "size": [4, 4]},
                {"id": 1, "name": "b", "kind": "buffer", "bytes": 256, "lifetime": null, "aliases": [], "sharing": "concurrent"}],
  "batches": [
    {"id": 0, "queue": 0, "waits": [],
     "commands": [
       {"op": "barriers", "memory": [{"src_stages": ["copy"], "src_access": ["transfer_write"], "dst_stages": ["copy"], "dst_access": ["transfer_write"]}],
        "buffers": [{"resource": 1, "range": [0, 256], "src_stages": [], "src_access": [], "dst_stages": ["copy"], "dst_access": ["transfer_write"], "src_queue": null, "dst_queue": null}],
        "images": [
         {"resource": 0, "mips": [0, 1], "layers": [0, 1], "src_stages": [], "src_access": [], "dst_stages": ["color_attachment_output"],
          "dst_access": ["color_attachment_write"], "old_layout": "undefined", "new_layout": "color_attachment_optimal",
          "src_queue": null, "dst_queue": null}]},
       {"op": "begin_rendering", "physical_pass": 0, "attachments": [{"resource": 0, "load": "clear", "store": "store"}]},
       {"op": "pass", "pass": 0, "layouts": [{"resource": 0, "mips": [0, 1], "layers": [0, 1], "layout": "color_attachment_optimal"}]},
       {"op": "end_rendering"},
       {"op": "set_event", "event": 0, "memory": [], "buffers": [], "images": []},
       {"op": "wait_events", "event": 0, "memory": [], "buffers": [], "images": []}],
     "signals": [{"queue": 0, "value": 1}]}],
  "memory": {"heaps": [{"id": 0, "type": "device", "size": 67108864}],
             "placements": [{"resource": 0, "heap": 0, "offset": 0, "size": 64}],
             "total": 64, "without_aliasing": 64, "lower_bound": 64},
  "edges": [{"resource": 1, "mips": null, "layers": null, "range": [0, 256], "entry": {"queue": 0, "stages": [], "access": [], "layout": null},
             "exit": {"queue": null, "stages": ["host"], "access": ["host_read"], "layout": null}}],
  "report": {"bake_us": {"validate": 3, "cull": 1, "schedule": 9, "merge": 2, "alias": 7, "synchronize": 11}, "barriers": 12, "submits": 3, "notes": []}
}"#;

#[test]
fn a_plan_with_the_documented_fields_only_is_read() {
    let plan = read(DOCUMENTED);
    assert_eq!((plan.graph_hash, plan.passes.len(), plan.commands.len()), (255, 2, 6));
    assert_eq!(plan.queues.as_slice()[0].capabilities, Capabilities::all());
    assert_eq!(plan.passes.as_slice()[1].culled, Some(Culled::WritesNothing));
    assert!(matches!(plan.commands[0], Command::Barriers(b) if b.images.len() == 1 && !b.by_region));
    // The purpose of a barrier is derived from its scopes and layouts.
    assert_eq!(plan.memory_barriers[0].why.hazard, Hazard::WriteAfterWrite);
    assert_eq!(plan.buffer_barriers[0].why.hazard, Hazard::WriteAfterRead);
    assert_eq!(plan.image_barriers[0].why.hazard, Hazard::FirstUse);
    assert!(read(&write_plan(&plan)) == plan);
}

/// Replacements in [`DOCUMENTED`], and the one message that each gives.
const EDITS: [(&str, &str, &str); 30] = [
    (
        "\"rplan\": 1",
        "\"rplan\": 9",
        "RG-E222 bad.rplan.json:2: rplan is version 9\n  help: this reader knows version 1: \"rplan\": 1",
    ),
    (
        "\"passes\": [{\"id\": 0",
        "\"passes\": [{\"id\": 3",
        "RG-E222 bad.rplan.json:3: passes[0].id is 3, but it stands at 0\n  help: ids count from 0, in order",
    ),
    (
        "\"queue\": 0, \"culled\": false",
        "\"queue\": 1, \"culled\": false",
        "RG-E222 bad.rplan.json:3: passes[0].queue is 1, but must be below 1, the number of queues",
    ),
    (
        "\"physical_pass\": 0}",
        "\"physical_pass\": 2}",
        "RG-E222 bad.rplan.json:3: passes[0].physical_pass is 2, but must be below 2, the number of passes",
    ),
    (
        "\"reason\": null",
        "\"raison\": null",
        "RG-E222 bad.rplan.json:3: passes[0].raison is not a key of a pass\n  help: did you mean \"reason\"? known: id, name, declared, owner, queue, culled, reason, physical_pass, subpass, flag, culled_why, why, accesses",
    ),
    (
        "\"declared\": 0",
        "\"declared\": -1",
        "RG-E213 bad.rplan.json:3: passes[0].declared is -1, but must be 0 or more",
    ),
    (
        "\"last\": 0}",
        "\"last\": 2}",
        "RG-E222 bad.rplan.json:5: resources[0].lifetime.last is 2, but must be below 2, the number of passes",
    ),
    (
        "\"aliases\": [\"b\"]",
        "\"aliases\": [\"c\"]",
        "RG-E202 bad.rplan.json:5: resources[0].aliases[0] names resource \"c\", which nothing declares\n  help: declare a resource of that name, or correct it",
    ),
    (
        "\"size\": [4, 4]",
        "\"size\": [4]",
        "RG-E222 bad.rplan.json:6: resources[0].size is a list of 1, but must be [width, height] or [width, height, depth]",
    ),
    (
        "\"mips\": 1, \"layers\": 1, \"size\"",
        "\"mips\": 0, \"layers\": 1, \"size\"",
        "RG-E222 bad.rplan.json:6: resources[0].mips is 0, but must be 1 or more",
    ),
    (
        "\"mips\": 1, \"layers\": 1, \"size\"",
        "\"mips\": 1, \"layers\": 4000000000, \"size\"",
        "RG-E213 bad.rplan.json:6: resources[0].layers is 4000000000, but must be at most 65536",
    ),
    (
        "\"kind\": \"buffer\"",
        "\"kind\": \"bufer\"",
        "RG-E222 bad.rplan.json:7: resources[1].kind is \"bufer\", which is not a kind of resource\n  help: did you mean \"buffer\"? known: image, buffer",
    ),
    (
        "{\"id\": 0, \"queue\": 0, \"waits\": []",
        "{\"id\": 0, \"queue\": 4, \"waits\": []",
        "RG-E222 bad.rplan.json:9: batches[0].queue is 4, but must be below 1, the number of queues\nRG-E222 bad.rplan.json:22: batches[0].signals[0] signals another queue than its batch's\n  help: a batch signals its own queue",
    ),
    (
        "\"op\": \"end_rendering\"",
        "\"op\": \"end\"",
        "RG-E222 bad.rplan.json:19: batches[0].commands[3].op is \"end\", which is not a command\n  help: did you mean \"end_rendering\"? known: barriers, begin_rendering, pass, end_rendering, set_event, wait_events",
    ),
    ("{\"op\": \"end_rendering\"}", "{}", "RG-E222 bad.rplan.json:19: batches[0].commands[3] has no \"op\""),
    (
        "{\"resource\": 0, \"mips\": [0, 1], \"layers\": [0, 1], \"src_stages\"",
        "{\"resource\": 2, \"mips\": [0, 1], \"layers\": [0, 1], \"src_stages\"",
        "RG-E222 bad.rplan.json:14: batches[0].commands[0].images[0].resource is 2, but must be below 2, the number of resources",
    ),
    (
        "{\"resource\": 0, \"mips\": [0, 1], \"layers\": [0, 1], \"src_stages\"",
        "{\"resource\": 1, \"mips\": [0, 1], \"layers\": [0, 1], \"src_stages\"",
        "RG-E222 bad.rplan.json:14: batches[0].commands[0].images[0] speaks of mips of 'b', a buffer",
    ),
    (
        "{\"resource\": 0, \"mips\": [0, 1], \"layers\": [0, 1], \"src_stages\"",
        "{\"resource\": 0, \"mips\": [0, 2], \"layers\": [0, 1], \"src_stages\"",
        "RG-E209 bad.rplan.json:14: batches[0].commands[0].images[0].mips is [0, 2], but must be a range in [0, 1] of mips",
    ),
    (
        "{\"resource\": 1, \"range\": [0, 256], \"src",
        "{\"resource\": 0, \"range\": [0, 256], \"src",
        "RG-E222 bad.rplan.json:12: batches[0].commands[0].buffers[0] is a buffer barrier for an image",
    ),
    (
        "{\"resource\": 1, \"range\": [0, 256], \"src",
        "{\"resource\": 1, \"range\": [0, 257], \"src",
        "RG-E209 bad.rplan.json:12: batches[0].commands[0].buffers[0].range is [0, 257], but must be a range in [0, 256] of bytes",
    ),
    (
        "\"dst_stages\": [\"color_attachment_output\"]",
        "\"dst_stages\": [\"color_attachment\"]",
        "RG-E222 bad.rplan.json:14: batches[0].commands[0].images[0].dst_stages[0] is \"color_attachment\", which is not a pipeline stage\n  help: did you mean \"color_attachment_output\"? known: draw_indirect, index_input, vertex_attribute_input, vertex_shader, tessellation_control_shader, tessellation_evaluation_shader, geometry_shader, task_shader, mesh_shader, fragment_shader, early_fragment_tests, late_fragment_tests, color_attachment_output, compute_shader, ray_tracing_shader, acceleration_structure_build, copy, blit, resolve, clear, host, all_transfer",
    ),
    (
        "\"src_queue\": null, \"dst_queue\": null}],\n        \"images\"",
        "\"src_queue\": 0, \"dst_queue\": null}],\n        \"images\"",
        "RG-E222 bad.rplan.json:12: batches[0].commands[0].buffers[0] has one of src_queue and dst_queue\n  help: give both families, or null for both",
    ),
    (
        "\"op\": \"begin_rendering\", \"physical_pass\": 0",
        "\"op\": \"begin_rendering\", \"physical_pass\": 7",
        "RG-E222 bad.rplan.json:17: batches[0].commands[1].physical_pass is 7, but must be below 2, the number of passes",
    ),
    (
        "\"load\": \"clear\", \"store\"",
        "\"load\": \"clear\", \"mip\": 1, \"store\"",
        "RG-E209 bad.rplan.json:17: batches[0].commands[1].attachments[0].mip is 1, but must be below 1, the number of mips",
    ),
    (
        "\"load\": \"clear\", \"store\"",
        "\"load\": \"clear\", \"stencil_load\": \"load\", \"store\"",
        "RG-E222 bad.rplan.json:17: batches[0].commands[1].attachments[0] has one of stencil_load and stencil_store\n  help: give both, or neither",
    ),
    (
        "\"op\": \"pass\", \"pass\": 0",
        "\"op\": \"pass\", \"pass\": 2",
        "RG-E222 bad.rplan.json:18: batches[0].commands[2].pass is 2, but must be below 2, the number of passes",
    ),
    (
        "\"op\": \"set_event\", \"event\": 0",
        "\"op\": \"set_event\", \"event\": 4294967295",
        "RG-E222 bad.rplan.json:20: batches[0].commands[4].event is 4294967295, but must be below 6, the number of commands",
    ),
    (
        "\"heap\": 0, \"offset\": 0",
        "\"heap\": 1, \"offset\": 0",
        "RG-E222 bad.rplan.json:24: memory.placements[0].heap is 1, but must be below 1, the number of heaps",
    ),
    (
        "\"offset\": 0, \"size\": 64",
        "\"offset\": 18446744073709551615, \"size\": 64",
        "RG-E213 bad.rplan.json:24: memory.placements[0] ends beyond 2^64: offset 18446744073709551615, size 64",
    ),
    (
        "\"signals\": [{\"queue\": 0, \"value\": 1}]",
        "\"signals\": [{\"queue\": 0, \"value\": 1}, {\"queue\": 0, \"value\": 2}]",
        "RG-E222 bad.rplan.json:22: batches[0].signals[1] is a second signal\n  help: a batch signals its own queue, at most once",
    ),
];

#[test]
fn a_plan_that_points_outside_itself_is_refused_with_line_and_path() {
    for (old, new, message) in EDITS {
        assert_eq!(DOCUMENTED.matches(old).count(), 1, "{old}");
        assert_eq!(refusal(&DOCUMENTED.replacen(old, new, 1)), message, "{new}");
    }
}

#[test]
fn any_byte_of_a_plan_may_be_changed_without_a_crash() {
    let text = write_plan(&plan());
    let (mut read, mut refused) = (0, 0);
    for at in (0..text.len()).step_by(3) {
        for byte in [b'9', b'"', b'}', b','] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = byte;
            match read_plan(&bytes, "changed") {
                // What is accepted can be walked.
                Ok(plan) => read += write_plan(&plan).len(),
                Err(error) => refused += error.to_string().len(),
            }
        }
    }
    assert!(read > 0 && refused > 0);
}
