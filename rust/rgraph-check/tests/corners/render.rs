//! Render passes: input attachments, resolves, load and store operations, aliases.

corners! {
    an_input_attachment_of_an_image_with_mips_means_mip_0 = "
        image a mips=3
        image b format=r32float
        image c format=r32float root
        pass draw graphics: color a
        pass light graphics: input a; color b
        pass copy graphics: sampled b; dst c";

    an_input_attachment_of_a_lower_mip = "
        image a mips=2
        image b size=32x32 root
        pass draw graphics: color a mips=1..2
        pass light graphics: input a mips=1..2; color b";

    an_attachment_is_drawn_again_behind_a_subpass_that_reads_another = "
        image a
        image b format=rgba16float root
        pass gbuffer graphics: color a
        pass light graphics: input a; color b
        pass sky graphics: color b
        before light sky";

    an_input_attachment_is_drawn_over_in_the_same_render_pass = "
        image a root
        image b root
        pass gbuffer graphics: color a
        pass light graphics: input a; color b
        pass over graphics: color a
        before light over";

    an_image_is_input_and_attachment_of_one_pass = "
        image a root
        pass first graphics: color a load=clear
        pass blend graphics: color a; input a";

    an_input_attachment_of_one_layer = "
        image a layers=2
        image b root
        pass zero graphics: color a layers=0..1
        pass one graphics: color a layers=1..2
        pass light graphics: input a layers=1..2; color b
        pass read graphics effects: sampled a layers=0..1";

    an_input_attachment_of_many_samples = "
        image a samples=4
        image b samples=4
        image c root
        pass gbuffer graphics: color a load=clear
        pass light graphics: input a; color b load=clear; resolve c resolves=b";

    three_subpasses_in_a_chain = "
        image a
        image b
        image c root
        pass one graphics: color a load=clear
        pass two graphics: input a; color b load=clear
        pass three graphics: input b; input a; color c load=clear";

    an_input_attachment_that_another_queue_wrote = "
        image a
        image b root
        pass fill async_compute: storage_write a
        pass light graphics: input a; color b load=clear";

    an_input_attachment_in_the_next_frame = "
        image a
        image past history_of=a
        image b root
        pass draw graphics: color a load=clear
        pass light graphics: input past; color b load=clear";

    a_conditional_subpass = "
        image a
        image b root
        pass gbuffer graphics: color a load=clear
        pass base graphics: color b load=clear
        pass light graphics if=on: input a; color b";

    a_resolve_target_is_drawn_to_again = "
        image many samples=4
        image one root
        pass draw graphics: color many load=clear; resolve one resolves=many
        pass over graphics: color one
        before draw over";

    many_samples_are_drawn_again_after_their_resolve = "
        image many samples=4
        image one
        image two root
        image c root
        pass draw graphics: color many load=clear; resolve one resolves=many
        pass read graphics: sampled one; color c
        pass more graphics: color many; resolve two resolves=many";

    two_attachments_are_resolved_at_once = "
        image many samples=4
        image more samples=4 format=rgba16float
        image one root
        image two format=rgba16float root
        pass draw graphics: color many load=clear; color more load=clear; resolve one resolves=many; resolve two resolves=more";

    a_resolve_of_layers = "
        image many samples=4 layers=2
        image one layers=2 root
        pass draw graphics: color many load=clear; resolve one resolves=many";

    a_resolve_into_one_layer = "
        image many samples=4
        image one layers=2 root
        pass first graphics: color one load=clear
        pass draw graphics: color many load=clear; resolve one layers=1..2 resolves=many";

    a_resolve_that_names_nothing_is_refused = "
        image many samples=4 root
        image one
        pass draw graphics: resolve one; color many
        either RG-E217";

    a_resolve_by_a_transfer = "
        image many samples=4
        image one root
        pass draw graphics: color many load=clear
        pass resolve graphics: src many transfer=resolve; dst one transfer=resolve";

    a_resolved_image_generates_mips_by_hand = "
        image many samples=4
        image one mips=2
        image c root
        pass draw graphics: color many load=clear; resolve one resolves=many
        pass down graphics: src one mips=0..1 transfer=blit; dst one mips=1..2 transfer=blit
        pass read graphics: sampled one; color c";

    a_clear_of_one_layer_keeps_the_other = "
        image a layers=2 root
        pass first graphics: color a load=clear
        pass second graphics: color a layers=1..2 load=clear
        runs first";

    a_discard_of_all_layers_makes_the_first_writer_needless = "
        image a layers=2 root
        pass first graphics: color a load=clear
        pass second graphics: color a load=discard
        culled first";

    a_discard_of_one_range_keeps_the_rest = "
        buffer a 256 root
        pass first compute: storage_write a
        pass second async_compute: storage_write a range=64..128 load=discard
        runs first";

    a_load_over_mips_that_nobody_wrote = "
        image a mips=2
        image c root
        pass draw graphics: color a
        pass read graphics: sampled a; color c";

    an_explicit_load_of_a_first_use_is_refused = "
        image a root
        pass draw graphics: color a load=load
        refused RG-E203";

    an_explicit_load_of_two_layers_of_which_one_is_written = "
        image a layers=2 root
        pass one graphics: color a layers=0..1
        pass two graphics: color a load=load
        before one two";

    a_first_use_takes_over_the_bytes_of_a_dead_image = "
        image a size=256x256
        image b size=256x256
        image c root
        pass one graphics: color a load=clear
        pass two compute: sampled a; storage_write c
        pass three graphics: color b load=clear
        pass four compute: sampled b; storage_read_write c";

    bytes_pass_from_queue_to_queue = "
        image a size=256x256
        image b size=256x256
        buffer d 262144
        image c root
        pass one graphics: color a load=clear
        pass two async_compute: sampled a; storage_write c
        pass three transfer: dst d transfer=fill
        pass four compute: storage_read d; storage_read_write c
        pass five graphics: color b load=clear
        pass six async_compute: sampled b; storage_read_write c";

    a_partial_write_of_fresh_bytes_keeps_nothing_of_the_last_owner = "
        buffer a 65536
        buffer b 65536
        buffer out 256 root
        pass one compute: storage_write a
        pass two compute: storage_read a; storage_write out
        pass three async_compute: storage_write b range=0..4096
        pass four compute: storage_read b range=0..4096; storage_read_write out";

    mips_are_generated_twice = "
        image a mips=3
        image b root
        image c root
        pass one graphics: color a load=clear generate_mips
        pass look async_compute: sampled a; storage_write b
        pass two graphics: color a generate_mips
        pass read graphics: sampled a; color c
        before look two";

    mips_are_generated_from_a_lower_level = "
        image a mips=4
        image c root
        pass zero graphics: color a mips=0..1 load=clear
        pass one compute: storage_write a mips=1..2 generate_mips
        pass read graphics: sampled a; color c";

    mips_of_one_layer_are_generated = "
        image a mips=3 layers=2
        image c root
        pass all graphics: color a load=clear generate_mips
        pass one graphics: color a layers=1..2 load=clear generate_mips
        pass read graphics: sampled a; color c
        runs all";

    a_copy_between_two_layers_of_one_image = "
        image a layers=2 root
        pass draw graphics: color a layers=0..1 load=clear
        pass copy transfer: src a layers=0..1; dst a layers=1..2";

    a_storage_image_is_written_and_sampled_in_two_mips_of_one_pass = "
        image a mips=2
        image c root
        pass draw graphics: color a load=clear
        pass down async_compute: sampled a mips=0..1; storage_write a mips=1..2
        pass read graphics: sampled a; color c";

    after_keeps_two_unrelated_passes_apart = "
        image a root
        image b root
        pass one graphics: color a load=clear
        pass two async_compute after=one: storage_write b
        before one two";

    after_a_culled_pass_orders_nothing = "
        image a
        image b root
        pass one graphics: color a load=clear
        pass two graphics after=one: color b load=clear
        culled one";

    after_a_culled_pass_in_the_middle = "
        image a root
        image b
        image c root
        pass one graphics: color a load=clear
        pass two graphics after=one: color b load=clear
        pass three async_compute after=two: storage_write c
        culled two";

    after_against_a_forward_read_is_a_cycle = "
        image a
        image b root
        pass read graphics: sampled a; color b
        pass write graphics after=read: color a
        refused RG-E204";

    a_volume_is_written_slice_by_slice = "
        image v size=16x16x8
        image c root
        pass one compute: storage_write v
        pass two async_compute: storage_read_write v
        pass read graphics: sampled v; color c";

    a_structure_is_built_updated_and_traced = "
        buffer verts 1024 imported
        buffer scratch 1024
        buffer again 1024
        buffer s 4096 acceleration_structure
        image c root
        pass build async_compute: acceleration_input verts; acceleration_scratch scratch; acceleration_build s
        pass update compute: acceleration_input verts; acceleration_scratch again; acceleration_update s
        pass trace compute: acceleration_read s; storage_write c";

    an_attachment_that_its_pass_clears_is_not_read_in_place = "
        image a root
        pass first graphics: color a
        pass second graphics: input a; color a load=clear
        refused RG-E217";

    an_attachment_that_its_pass_discards_is_not_read_in_place = "
        image a root
        pass first graphics: color a
        pass second graphics: color a load=discard; input a
        refused RG-E217";

    a_slice_of_a_volume_is_one_layer_beside_two = "
        image flat size=16x16 layers=2 root
        image deep size=16x16x16 root
        pass draw graphics: color deep; color flat
        refused RG-E206";

    attachments_of_one_pass_that_overlap_in_part_are_refused = "
        image cube cube root
        pass both graphics: color cube layers=0..3; input cube layers=2..5
        refused RG-E217";

    attachments_of_two_passes_that_overlap_in_part_are_not_merged = "
        image cube cube
        image again modifies=cube root
        pass first graphics: color cube layers=1..3
        pass second graphics: color again layers=2..4
        before first second";

    declared_durations_of_a_draw_that_reads_in_place_and_what_reads_it_afterwards = "
        image one
        image two modifies=one
        image three
        image four root
        pass first graphics weight=466: color one
        pass second graphics: color two; input two
        pass third graphics: color three; src two
        pass fourth graphics weight=196: src three; dst four";
}
