//! Depth and stencil apart.

corners! {
    stencil_that_nobody_wrote_is_loaded_before_both_aspects_are_read_in_place = "
        image z format=depth32float-stencil8
        image a root
        image b root
        pass both graphics: depth z aspects=depth load=clear
        pass apart graphics: depth_read z aspects=depth; color a load=clear
        pass outer graphics: depth z load=clear
        pass screen graphics: input z; color b load=discard
        before apart outer";

    depth_tested_read_only_and_read_in_place_within_one_render_pass = "
        image z format=depth32float
        image c root
        pass prepass graphics: depth z load=clear clear=1
        pass shade graphics: depth_read z; color c load=clear
        pass fog graphics: input z; color c
        before prepass shade";

    depth_tested_and_read_in_place_by_one_pass = "
        image z format=depth32float
        image c root
        pass prepass graphics: depth z load=clear clear=1
        pass fog graphics: depth_read z; input z; color c load=clear";

    depth_read_in_place_and_then_written_again = "
        image z format=depth32float root
        image c root
        pass prepass graphics: depth z load=clear clear=1
        pass fog graphics: input z; color c load=clear
        pass more graphics: depth z; color c
        before fog more";

    depth_sampled_and_tested_by_one_pass = "
        image z format=depth24plus
        image c root
        pass prepass graphics: depth z load=clear clear=1
        pass shade graphics: depth_read z; sampled z; color c load=clear";

    stencil_written_while_depth_is_sampled = "
        image z format=depth24plus-stencil8
        image c root
        pass prepass graphics: depth z load=clear stencil_load=clear clear=1/0
        pass mark graphics: depth z aspects=stencil; sampled z aspects=depth; color c load=clear
        pass read graphics: sampled z aspects=stencil; color c";

    depth_written_while_stencil_is_tested_read_only = "
        image z format=depth24plus-stencil8
        image c root
        pass prepass graphics: depth z load=clear stencil_load=clear clear=1/0
        pass draw graphics: depth z aspects=depth; depth_read z aspects=stencil; color c load=clear
        pass read graphics: sampled z aspects=depth; color c";

    stencil_is_tested_alone_before_depth_is_drawn_alone_and_then_both = "
        image z format=depth32float-stencil8 root
        image c format=r8unorm
        pass mask graphics: depth z
        pass outline graphics after=mask: depth_read z aspects=stencil; color c
        pass far graphics: depth z aspects=depth
        pass both graphics: depth z; color c";

    stencil_is_tested_alone_and_then_beside_depth_and_a_colour_in_place = "
        image z format=depth24plus-stencil8
        image c
        image d root
        pass mask graphics: depth z
        pass outline graphics after=mask: depth_read z aspects=stencil; color c
        pass far graphics: depth_read z aspects=stencil; depth z aspects=depth; input c
        pass look graphics: sampled z; color d";

    one_aspect_is_cleared_and_the_other_kept = "
        image z format=depth24plus-stencil8
        image c root
        pass first graphics: depth z load=clear stencil_load=clear clear=1/7
        pass second graphics: depth z load=clear stencil_load=load clear=0
        pass third graphics: depth_read z; color c load=clear
        before first second
        runs first";

    both_aspects_are_cleared_again_and_the_first_writer_is_needless = "
        image z format=depth24plus-stencil8
        image c root
        pass first graphics: depth z load=clear stencil_load=clear clear=1/7
        pass second graphics: depth z load=clear stencil_load=clear clear=0/0
        pass third graphics: depth_read z; color c load=clear
        culled first";

    the_stencil_of_a_discarded_depth_is_kept = "
        image z format=depth24plus-stencil8
        image c root
        pass first graphics: depth z load=clear stencil_load=clear clear=1/7
        pass second graphics: depth z load=discard stencil_load=load
        pass third graphics: depth_read z aspects=stencil; color c load=clear
        runs first";

    stencil_is_tested_while_depth_was_never_written = "
        image z format=depth24plus-stencil8
        image c root
        pass first graphics: depth z aspects=stencil stencil_load=clear clear=1/3
        pass second graphics: depth_read z aspects=stencil; color c load=clear";

    depth_is_copied_and_stencil_stays = "
        image z format=depth24plus-stencil8
        image c root
        buffer b 16384 root
        pass first graphics: depth z load=clear stencil_load=clear clear=1/7
        pass copy graphics: src z aspects=depth; dst b
        pass test graphics: depth_read z aspects=stencil; color c load=clear";

    depth_is_sampled_on_another_queue_while_stencil_is_written = "
        image z format=depth24plus-stencil8
        image c root
        image d root
        pass first graphics: depth z load=clear stencil_load=clear clear=1/7
        pass look async_compute: sampled z aspects=depth; storage_write d
        pass mark graphics: depth z aspects=stencil; color c load=clear";

    depth_is_resolved_and_read = "
        image many format=depth32float samples=4
        image z format=depth32float
        image c root
        pass draw graphics: depth many load=clear clear=1; resolve z resolves=many resolve_mode=sample_zero
        pass read graphics: sampled z; color c";

    depth_is_resolved_by_min_and_tested_against = "
        image many format=depth32float samples=4
        image z format=depth32float
        image c root
        pass draw graphics: depth many load=clear clear=1; resolve z resolves=many resolve_mode=min
        pass test graphics: depth_read z; color c load=clear";

    a_shadow_map_of_layers_is_drawn_layer_by_layer_and_read_whole = "
        image z format=depth16unorm layers=3
        image c root
        pass one graphics: depth z layers=0..1 load=clear clear=1
        pass two graphics: depth z layers=1..2 load=clear clear=1
        pass three graphics: depth z layers=2..3 load=clear clear=1
        pass read graphics: sampled z; color c load=clear";

    a_depth_pyramid_is_made_level_by_level = "
        image z format=depth32float
        image p format=r32float mips=3
        image c root
        pass draw graphics: depth z load=clear clear=1
        pass top compute: sampled z; storage_write p mips=0..1
        pass next compute: sampled p mips=0..1; storage_write p mips=1..2
        pass last compute: sampled p mips=1..2; storage_write p mips=2..3
        pass cull graphics: sampled p; depth_read z; color c load=clear";

    stencil_alone_is_loaded_by_an_attachment_of_both = "
        image z format=depth32float-stencil8
        image c root
        pass first graphics: depth z load=clear stencil_load=clear clear=1/0
        pass second graphics: depth z; color c load=clear
        pass third graphics: sampled z aspects=stencil; color c";

    stencil_alone_is_cleared_by_the_load_of_its_access = "
        image s format=stencil8 root
        pass first graphics: depth s
        pass again graphics: depth s load=clear clear=1
        culled first";

    stencil_alone_is_cleared_by_a_pass_that_may_be_off = "
        image s format=stencil8 root
        pass first graphics: depth s load=clear
        pass again graphics if=on: depth s load=clear clear=1
        before first again";

    stencil_alone_is_cleared_under_another_name = "
        image s format=stencil8
        image top modifies=s root
        pass first graphics: depth s
        pass again graphics: depth top load=clear clear=1
        culled first";

    stencil_is_drawn_while_another_queue_has_depth = "
        image z format=depth32float-stencil8
        image c root format=r32uint
        image e root
        pass fill graphics: depth z
        pass mark graphics: depth z aspects=stencil
        pass look async_compute: sampled z aspects=depth; storage_write c
        pass read graphics: sampled z aspects=stencil; color e load=clear";

    one_aspect_is_drawn_and_both_are_sampled_elsewhere = "
        image z format=depth32float-stencil8
        image a format=r32uint
        image c root format=r32uint
        pass fill graphics: depth z
        pass other async_compute: storage_write a
        pass mark graphics: depth z aspects=stencil
        pass look async_compute: sampled z; storage_write c; sampled a";

    one_aspect_is_copied_to_and_the_other_drawn_by_one_pass = "
        image z format=depth24plus-stencil8 root
        pass work graphics: dst z aspects=stencil; depth z aspects=depth";

    one_aspect_is_copied_to_and_the_other_tested_by_one_pass = "
        image z format=depth32float-stencil8
        image w modifies=z root
        pass fill graphics: dst z
        pass work graphics: dst w aspects=stencil; depth_read w aspects=depth";

    one_aspect_is_drawn_beside_an_input_attachment_while_another_queue_fills_the_other = "
        image g
        image z format=depth24plus-stencil8 root
        image c root
        pass gbuffer graphics: color g; depth z aspects=depth
        pass light graphics: input g; color c
        pass outer transfer: dst z aspects=stencil";

    depth_that_tests_write_is_not_read_in_place = "
        image z format=depth32float root
        image c root
        pass first graphics: depth z load=clear clear=1
        pass second graphics: depth z; input z; color c
        refused RG-E217";

    stencil_alone_beside_a_read_in_place_is_refused = "
        image z format=depth24plus-stencil8
        image first
        image c root
        pass draw graphics: color first load=clear
        pass mask graphics: input first; depth z aspects=stencil; color c
        refused RG-E217";

    stencil_and_depth_that_is_sampled_beside_a_read_in_place = "
        image z format=depth24plus-stencil8
        image first
        image c root
        pass prepass graphics: depth z load=clear stencil_load=clear clear=1/0
        pass look async_compute effects: sampled z aspects=stencil
        pass draw graphics: color first load=clear
        pass mask graphics: input first; depth z aspects=stencil; sampled z aspects=depth; color c";

    depth_of_one_layer_beside_stencil_of_another_is_refused_beside_a_read_in_place = "
        image z format=depth24plus-stencil8 layers=2
        image first
        image c root
        pass prepass graphics: dst z
        pass draw graphics: color first load=clear
        pass mask graphics: input first; depth z aspects=stencil layers=0..1; sampled z aspects=depth layers=1..2; color c
        refused RG-E217";

    stencil_alone_is_not_merged_with_a_read_in_place = "
        image z format=depth24plus-stencil8
        image first
        image c root
        pass prepass graphics: depth z load=clear stencil_load=clear clear=1/0
        pass draw graphics: color first load=clear; depth z aspects=stencil
        pass look async_compute effects: sampled z aspects=depth
        pass mask graphics: input first; color c";

    an_aspect_in_a_layout_of_its_own_is_not_merged_with_tests_of_both = "
        image z format=depth24plus-stencil8
        image c root
        pass prepass graphics: depth z load=clear stencil_load=clear clear=1/0
        pass look graphics: depth_read z; storage_read z aspects=stencil stages=vertex; color c load=clear
        pass test graphics: depth_read z; color c";

    depth_that_is_discarded_while_stencil_is_loaded = "
        image z format=depth24plus-stencil8 root
        pass draw graphics: depth z stencil_load=load";

    depth_that_is_replaced_beside_stencil_that_is_kept_needs_no_earlier_writer = "
        image z format=depth24plus-stencil8 root
        pass all graphics: depth z load=clear stencil_load=clear clear=1/0
        pass depths graphics: depth z aspects=depth load=clear clear=0.5
        pass last graphics effects: depth z load=discard
        runs all
        culled depths";

    depth_alone_is_replaced_whatever_its_access_says_of_stencil = "
        image z format=depth24plus-stencil8
        pass all graphics: depth z load=clear stencil_load=clear clear=1/0
        pass last graphics effects: depth z aspects=depth load=discard stencil_load=load
        culled all";

    stencil_that_is_cleared_between_two_passes = "
        image d format=depth24plus-stencil8 root
        pass one graphics: depth d load=clear stencil_load=clear
        pass two graphics: depth d load=load stencil_load=clear";

    depth_that_is_cleared_between_two_passes = "
        image d format=depth24plus-stencil8 root
        pass one graphics: depth d load=clear stencil_load=clear
        pass two graphics: depth d load=clear stencil_load=load";
}
