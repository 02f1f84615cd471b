//! What shares a render pass: subpasses over mips, layers, aspects, resolves, and what stands around them.

corners! {
    a_mip_is_read_in_place_while_another_is_sampled = "
        image a mips=2
        image b size=32x32 root
        pass top graphics: color a mips=0..1
        pass low graphics: color a mips=1..2
        pass light graphics: input a mips=1..2; sampled a mips=0..1; color b";

    a_layer_is_read_in_place_while_another_is_drawn = "
        image a layers=2 root
        pass one graphics: color a layers=0..1 load=clear
        pass two graphics: input a layers=0..1; color a layers=1..2";

    layers_are_read_in_place_in_the_other_order = "
        image a layers=2
        image b layers=2 root
        pass one graphics: color a layers=1..2
        pass two graphics: color a layers=0..1
        pass three graphics: input a layers=0..1; color b layers=1..2
        pass four graphics: input a layers=1..2; color b layers=0..1";

    all_layers_are_read_in_place_at_once = "
        image a layers=3
        image b layers=3 root
        pass draw graphics: color a
        pass light graphics: input a; color b
        pass over graphics: color b";

    an_image_rests_for_a_subpass_and_is_read_in_place_behind_it = "
        image a
        image b
        image c root
        pass one graphics: color a; color b
        pass two graphics: input b; color c
        pass three graphics: input a; color c
        before two three";

    two_subpasses_read_in_place_what_a_third_draws_over = "
        image a root
        image b root
        image c root
        pass one graphics: color a load=clear
        pass two graphics: input a; color b
        pass three graphics: input a; color c
        pass four graphics: color a
        before two four
        before three four";

    what_is_read_in_place_is_sampled_afterwards = "
        image a
        image b
        image c root
        pass one graphics: color a
        pass two graphics: input a; color b
        pass three compute: sampled a; sampled b; storage_write c";

    what_is_read_in_place_is_sampled_by_another_queue = "
        image a
        image b root
        image c root
        pass one graphics: color a
        pass two graphics: input a; color b
        pass three async_compute: sampled a; storage_write c";

    what_was_read_in_place_is_taken_over_by_another_queue = "
        image a root
        image b root
        pass one graphics: color a
        pass two graphics: input a; color b
        pass three async_compute: storage_read_write a";

    a_subpass_reads_in_place_behind_a_storage_write_of_its_render_pass = "
        image a
        image b root
        buffer n 256 root
        pass one graphics: color a; storage_write n
        pass two graphics: input a; color b; storage_read_write n";

    a_read_in_place_accumulates_over_frames = "
        image a persistent
        image b persistent root
        pass one graphics: color a
        pass two graphics: input a; color b";

    a_history_and_its_present_in_one_render_pass = "
        image a
        image past history_of=a
        image b root
        pass one graphics: color a load=clear
        pass two graphics: input a; input past; color b";

    a_read_in_place_that_may_be_switched_off_before_a_draw = "
        image a root
        image b root
        pass one graphics: color a load=clear; color b load=clear
        pass two graphics if=on: input a; color b
        pass three graphics: color a
        before two three";

    a_subpass_that_may_be_switched_off_has_a_fallback = "
        image a
        image b
        image c root
        pass one graphics: color a load=clear
        pass two graphics if=on fallback=b:a: input a; color b load=clear
        pass three graphics: sampled b; color c";

    a_name_is_read_in_place_and_the_next_name_drawn = "
        image a
        image top modifies=a root
        image b root
        pass one graphics: color a load=clear
        pass two graphics: input a; color b
        pass three graphics: color top
        before two three";

    a_clear_alone_is_read_in_place = "
        image a
        image b root
        pass one graphics: color a load=clear
        pass two graphics: input a; color b load=discard";

    what_was_filled_by_a_copy_is_read_in_place_and_copied_away = "
        image a
        image b
        buffer out 16384 root
        pass one transfer: dst a
        pass two graphics: input a; color b
        pass three transfer: src a; dst out
        pass four graphics effects: sampled b";

    mips_are_generated_of_what_a_subpass_drew = "
        image a
        image b mips=3
        image c root
        pass one graphics: color a
        pass two graphics: input a; color b mips=0..1 generate_mips
        pass three graphics: sampled b; color c";

    a_resolve_ends_a_subpass_and_its_samples_are_drawn_on = "
        image g samples=4
        image many samples=4 root
        image one root
        pass one graphics: color g
        pass two graphics: input g; color many; resolve one resolves=many
        pass three graphics: color many
        before two three";

    a_resolve_of_a_subpass_is_read_and_resolved_again = "
        image g samples=4
        image many samples=4
        image one
        image two root
        image c root
        pass one graphics: color g; color many
        pass two graphics: input g; color many; resolve one resolves=many
        pass three graphics: sampled one; color c
        pass four graphics: color many; resolve two resolves=many";

    depth_is_resolved_at_the_end_of_a_subpass = "
        image g samples=4
        image many format=depth32float samples=4
        image z format=depth32float
        image c root
        pass one graphics: color g; depth many load=clear clear=1
        pass two graphics: input g; depth many; resolve z resolves=many resolve_mode=min
        pass three graphics: sampled z; color c";

    samples_of_depth_are_read_in_place = "
        image many format=depth32float samples=4
        image g samples=4
        image one root
        pass one graphics: depth many load=clear clear=1
        pass two graphics: input many; color g; resolve one resolves=g";

    both_aspects_are_resolved_behind_a_read_in_place = "
        image g samples=4
        image many format=depth24plus-stencil8 samples=4
        image z format=depth24plus-stencil8
        image c root
        pass one graphics: color g; depth many
        pass two graphics: input g; depth many; resolve z resolves=many
        pass three graphics: depth_read z; color c";

    stencil_alone_is_an_image_that_is_read_in_place = "
        image s format=stencil8
        image c root
        pass one graphics: depth s load=clear clear=1/3
        pass two graphics: input s; color c";

    depth_is_read_in_place_between_two_tests = "
        image z format=depth32float
        image a root
        image b root
        pass one graphics: depth z load=clear clear=1
        pass two graphics: depth_read z; color a
        pass three graphics: input z; color b
        pass four graphics: depth_read z; color a; color b
        before three four";

    stencil_is_tested_and_read_in_place_while_depth_rests = "
        image z format=depth24plus-stencil8
        image c root
        pass one graphics: depth z load=clear stencil_load=clear clear=1/0
        pass two graphics: depth_read z; input z; color c
        pass three graphics: depth z; color c
        before two three";

    depth_is_sampled_and_stencil_tested_behind_a_draw_of_both = "
        image z format=depth24plus-stencil8
        image a
        image c root
        pass one graphics: depth z load=clear stencil_load=clear clear=1/0; color a
        pass two graphics: depth_read z aspects=stencil; sampled z aspects=depth; input a; color c";

    one_layer_of_a_shadow_map_is_read_in_place_and_the_rest_sampled = "
        image z format=depth32float layers=2
        image c root
        pass one graphics: depth z layers=0..1 load=clear clear=1
        pass two graphics: depth z layers=1..2 load=clear clear=1
        pass three graphics: input z layers=1..2; sampled z layers=0..1; color c";

    commuting_draws_follow_a_read_in_place = "
        image a root
        image b root
        pass one graphics: color a load=clear
        pass two graphics: input a; color b
        pass three graphics: color a unordered
        pass four graphics: color a unordered
        before two three
        before two four";

    a_subpass_draws_what_is_presented = "
        image a
        image screen format=bgra8unorm imported leave=present_src
        pass one graphics: color a
        pass two graphics: input a; color screen load=clear
        pass show graphics: present screen";

    bytes_of_a_read_in_place_are_taken_over_behind_its_render_pass = "
        image a size=256x256
        image b size=256x256
        image c size=256x256
        image d size=256x256 root
        pass one graphics: color a
        pass two graphics: input a; color b
        pass three graphics: color c; sampled b
        pass four graphics: input c; color d";

    a_volume_is_drawn_between_reads_in_place = "
        image a
        image v size=64x64x4
        image b root
        pass one graphics: color a
        pass two compute: sampled a; storage_write v
        pass three graphics: input a; sampled v; color b";

    what_is_read_in_place_and_sampled_by_two_passes_of_a_render_pass = "
        image a
        image b root
        pass one graphics: color a
        pass two graphics: sampled a; color b load=clear
        pass three graphics: input a; sampled a; color b
        pass four graphics: input a; sampled a; color b
        before three four";
}
