//! What earlier frames left.

use rgraph_check::check;
use rgraph_files::read_graph;
use rgraph_plan::access::{Layout, Sharing};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::profile::Profile;

corners! {
    two_histories_of_one_image_are_read_at_two_stages = "
        image now format=r32float
        image one history_of=now
        image two history_of=now
        buffer out 1024 root
        image side root
        pass draw graphics: color now
        pass first graphics: sampled one stages=vertex; storage_write out load=discard
        pass second async_compute: sampled two; storage_write side";

    two_histories_of_one_buffer_are_read_on_two_queues = "
        buffer now 1024
        buffer one history_of=now frames=2
        buffer two history_of=now frames=2
        buffer out 1024 root
        buffer side 1024 root
        pass write compute: storage_write now
        pass first async_compute: storage_read one; storage_write out
        pass second compute: uniform two; storage_write side";

    histories_of_one_and_two_frames_share_a_ring = "
        image now
        image one history_of=now
        image two history_of=now frames=2
        image out root
        pass draw graphics: color now
        pass mix graphics: sampled one; sampled two; color out";

    histories_of_one_and_three_frames_are_read_on_two_queues = "
        image now
        image one history_of=now
        image three history_of=now frames=3
        image out root
        image side root
        pass draw graphics: color now
        pass near async_compute: sampled one; storage_write out
        pass far graphics: sampled three; color side";

    two_histories_in_two_layouts_of_one_pass_each = "
        image now
        image one history_of=now
        image two history_of=now
        image out root
        image side root
        pass draw graphics: color now
        pass copy graphics: src one; dst out
        pass load compute: storage_read two; storage_write side";

    a_history_of_two_names_is_the_memory_of_both = "
        image now
        image later modifies=now
        image one history_of=now
        image two history_of=later
        image out root
        pass draw graphics: color now
        pass change graphics: color later
        pass mix graphics: sampled one; sampled two; color out";

    a_history_of_a_conditional_writer_holds_what_the_frame_left = "
        image now
        image past history_of=now
        image out root
        pass base graphics: color now
        pass draw graphics if=on: color now
        pass read graphics: sampled past; color out";

    a_history_read_by_a_conditional_pass = "
        image now
        image past history_of=now
        image out root
        pass draw graphics: color now
        pass clear graphics: color out load=clear
        pass read graphics if=on: sampled past; color out";

    a_history_of_one_mip_needs_only_that_mip = "
        image now mips=3
        image past history_of=now
        image out root
        pass draw graphics: color now generate_mips
        pass read graphics: sampled past mips=2..3; color out";

    a_history_of_mips_written_one_by_one = "
        image now mips=2
        image past history_of=now
        image out root
        pass low graphics: color now mips=1..2
        pass high async_compute: storage_write now mips=0..1
        pass read graphics: sampled past; color out";

    a_history_of_a_layer = "
        image now layers=3
        image past history_of=now
        image out root
        pass draw graphics: color now layers=0..2
        pass more graphics: color now layers=2..3
        pass read graphics: sampled past layers=1..2; color out";

    a_history_of_a_buffer_range = "
        buffer now 256
        buffer past history_of=now
        buffer out 256 root
        pass low compute: storage_write now range=0..128
        pass high async_compute: storage_write now range=128..256
        pass read compute: storage_read past range=64..192; storage_write out";

    a_history_of_an_imported_image = "
        image now imported layout=general
        image past history_of=now
        image out root
        pass draw graphics: color now
        pass read graphics: sampled past; color out
        either RG-E216";

    a_history_of_an_imported_buffer_that_nobody_writes = "
        buffer now 256 imported
        buffer past history_of=now
        buffer out 256 root
        pass read compute: storage_read past; storage_write out
        either RG-E216";

    a_history_that_is_undefined_in_the_first_frame = "
        image now
        image past history_of=now first_frame=undefined
        image out root
        pass draw graphics: color now
        pass read graphics: sampled past; color out";

    a_history_written_after_its_reader_on_another_queue = "
        image now
        image past history_of=now
        image out root
        pass read async_compute: sampled past; storage_write out
        pass draw graphics: color now; sampled out";

    a_feedback_loop_through_a_history = "
        image now root
        image past history_of=now
        pass step compute: storage_read past; storage_write now";

    a_feedback_loop_on_the_async_queue_with_a_reader_on_graphics = "
        buffer now 256
        buffer past history_of=now frames=2
        image out root
        pass step async_compute: storage_read past; storage_write now
        pass show graphics: storage_read now; color out";

    a_persistent_buffer_is_read_before_it_is_written = "
        buffer state 256 persistent
        buffer out 256 root
        pass read compute: storage_read state; storage_write out
        pass write async_compute: storage_read_write state";

    a_persistent_image_is_written_in_part = "
        image state persistent layers=2
        image out root
        pass read graphics: sampled state; color out
        pass write graphics: color state layers=1..2";

    a_persistent_image_whose_writer_is_conditional = "
        image state persistent
        image out root
        pass write graphics if=on: color state load=clear
        pass read graphics: sampled state; color out";

    a_persistent_depth_buffer_is_tested_and_written_in_the_next_frame = "
        image z format=depth32float persistent
        image out root
        pass test graphics: depth_read z; color out
        pass draw graphics: depth z load=clear clear=1";

    a_history_of_depth_is_sampled = "
        image z format=depth32float
        image past history_of=z
        image out root
        pass draw graphics: depth z load=clear clear=1
        pass read graphics: sampled past; color out";

    a_remembered_root_is_presented_to_the_next_frame = "
        image now root
        image past history_of=now frames=3
        pass draw graphics: sampled past; color now";

    a_pass_replaces_what_it_reads_a_history_of = "
        image now
        image past history_of=now
        buffer out 256 root
        pass first graphics: color now
        pass last compute: storage_read past; storage_write now load=discard; storage_write out
        culled first";

    three_names_of_one_past_frame = "
        image now
        image one history_of=now
        image two history_of=now
        image three history_of=now
        buffer out 256 root
        pass first compute: sampled one; storage_write out
        pass draw graphics: color now
        pass last graphics: sampled three; sampled one; storage_write out";

    a_queue_enters_a_part_where_it_first_uses_another = "
        image i format=r32uint
        image t format=rgba8unorm
        buffer a 4096
        buffer p history_of=a
        buffer s 256 root
        pass before any: src p range=1536..4096; dst i
        pass now graphics: storage_write a
        pass work graphics: storage_read_write i
        pass zero graphics weight=252: dst s
        pass add async_compute: storage_write s; indirect p
        pass small any weight=476: dst t; sampled i
        pass show graphics effects: storage_read t
        pass build async_compute effects: acceleration_input p range=3584..4096";

    a_name_of_a_past_frame_stands_in_for_an_output_beside_another_name_of_it = "
        image now
        image one history_of=now
        image two history_of=now
        image better
        buffer out 256 root
        pass draw graphics: color now
        pass paint graphics if=on fallback=better:two: dst better
        pass read compute: sampled one; sampled better; storage_write out";

    the_past_is_read_in_place_in_a_subpass_before_the_present_is_drawn = "
        image now
        image past history_of=now frames=3
        image twin history_of=now frames=3
        pass look graphics effects: input past
        pass draw graphics effects: input twin; color now";

    the_past_alone_is_used_on_two_queues_and_by_the_host = "
        buffer now 4096
        buffer past history_of=now
        pass first async_compute effects: indirect past
        pass look cpu effects: host_read past
        pass second async_compute effects: acceleration_input past range=0..1024
        pass again cpu effects: host_read past
        pass last graphics effects: src past";

    a_function_that_may_read_a_history_runs_beside_the_one_that_writes_its_resource = "
        buffer now 256
        buffer past history_of=now
        buffer other 256
        pass write cpu: host_write now
        pass better graphics if=on fallback=other:past: dst other
        pass look cpu effects: host_read other";

    a_function_writes_what_a_history_remembers_after_a_draw_that_may_read_the_history = "
        buffer now 4096
        buffer past history_of=now
        buffer other 4096
        buffer small 256
        image end root
        pass first async_compute: dst now
        pass small cpu: host_write small
        pass better graphics if=on fallback=other:past: storage_write other
        pass draw graphics: color end; uniform small; sampled other
        pass again cpu: host_write now";

    a_history_of_a_name_whose_memory_is_persistent = "
        image kept persistent
        image more modifies=kept
        image past history_of=more
        image out root
        pass draw graphics: color more
        pass read graphics: sampled past; color out
        refused RG-E216";

    a_history_of_a_name_whose_memory_is_fresh = "
        buffer kept 256 fresh
        buffer between modifies=kept
        buffer more modifies=between
        buffer past history_of=more
        buffer out 256 root
        pass write compute: storage_write more
        pass read compute: storage_read past; storage_write out
        refused RG-E216";

    a_history_of_a_name_that_is_a_copy_of_what_persists = "
        image kept persistent
        image half modifies=kept size=32x32
        image past history_of=half
        image out root
        pass draw graphics: color kept
        pass read graphics: sampled past; color out";

    an_exclusive_image_of_which_two_families_and_the_host_read_a_history = "
        image now sharing=exclusive
        image past history_of=now
        buffer one 256 root
        buffer two 256 root
        pass draw graphics: sampled past; storage_write one
        pass look cpu effects: host_read past
        pass read async_compute: sampled past; storage_write two";

    an_exclusive_image_and_two_histories_on_two_families_and_the_host = "
        image now sharing=exclusive
        image past history_of=now
        image older history_of=now frames=2
        buffer one 256 root
        buffer two 256 root
        pass draw graphics: color now
        pass mix graphics: sampled past; storage_write one
        pass look cpu effects: host_read past
        pass read async_compute: sampled older; sampled past; storage_write two";

    an_exclusive_buffer_that_the_host_writes_and_its_history_on_another_family = "
        buffer now 256 sharing=exclusive
        buffer past history_of=now
        buffer one 256 root
        buffer two 256 root
        pass host cpu: host_write now load=discard
        pass draw graphics: uniform now; storage_write one
        pass read async_compute: uniform past; storage_write two";
}

/// The host takes no ownership and gives none: which family had a memory of a ring last depends on the run before.
#[test]
fn an_exclusive_ring_of_two_families_and_the_host_is_concurrent() {
    let of_nobody = r#"{"name": "draw", "queue": "graphics", "side_effects": true,
        "accesses": [{"resource": "past", "usage": "uniform"}]},
        {"name": "look", "queue": "cpu", "side_effects": true,
        "accesses": [{"resource": "past", "usage": "host_read"}]},"#;
    let of_the_host = r#"{"name": "host", "queue": "cpu", "accesses": [{"resource": "now", "usage": "host_write"}]},
        {"name": "draw", "queue": "graphics", "side_effects": true,
        "accesses": [{"resource": "now", "usage": "uniform"}]},"#;
    for passes in [of_nobody, of_the_host] {
        let text = format!(
            r#"{{"rgraph": 1, "name": "ring", "passes": [{passes}
            {{"name": "read", "queue": "async_compute", "side_effects": true,
            "accesses": [{{"resource": "past", "usage": "uniform"}}]}}],
            "buffers": {{"now": {{"size": 256, "sharing": "exclusive"}}, "past": {{"history_of": "now"}}}}}}"#
        );
        let graph = read_graph(text.as_bytes(), "ring").unwrap_or_else(|error| panic!("{error}"));
        let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).expect("it bakes");
        assert!(plan.resources.iter().all(|resource| resource.sharing == Sharing::Concurrent), "{passes}");
        let note = "\"now\" is used by the host and by several queue families, so it is concurrent";
        assert_eq!(plan.report.notes, [note], "{passes}");
        assert!(check(&graph, &plan).is_empty());
    }
}

#[test]
fn a_pass_that_reads_two_histories_names_the_layout_of_both() {
    let text = r#"{"rgraph": 1, "name": "two",
      "images": {"now": {"format": "rgba8unorm", "size": [8, 8], "mips": 2}, "one": {"history_of": "now"},
        "two": {"history_of": "now"}},
      "passes": [{"name": "both", "queue": "compute", "accesses": [
        {"resource": "now", "usage": "storage_write", "generate_mips": true},
        {"resource": "one", "usage": "sampled"}, {"resource": "two", "usage": "sampled", "mips": [1, 2]}]}],
      "roots": ["now"]}"#;
    let graph = read_graph(text.as_bytes(), "two").unwrap_or_else(|error| panic!("{error}"));
    let plan = bake(&graph, &Profile::minimal(), &Options::default(), &mut Scratch::default()).expect("it bakes");
    let of = |name: &str| {
        let named = plan.layouts.iter().filter(|one| plan.resource_name(one.resource) == name);
        named.map(|one| (one.mips, one.layout)).collect::<Vec<_>>()
    };
    assert_eq!(of("one"), [([0, 2], Layout::ShaderReadOnly)]);
    assert_eq!(of("two"), [([1, 2], Layout::ShaderReadOnly)]);
    assert!(check(&graph, &plan).is_empty());
}
