//! Passes that a flag switches.

corners! {
    mips_that_a_later_pass_generates_do_not_fall_back = "
        image calm mips=2 imported
        image a mips=2
        image out root
        pass first graphics if=on fallback=a:calm: color a load=clear
        pass look graphics: sampled a mips=0..1; color out
        pass last graphics: color a load=discard generate_mips
        pass end graphics: sampled a; color out";

    what_falls_back_while_its_pass_is_off_is_not_presented = "
        image calm imported
        image screen imported contents=undefined
        pass draw graphics if=on fallback=screen:calm: color screen load=clear
        pass show graphics: present screen
        refused RG-E215";

    a_chain_of_fallbacks_is_followed_to_its_end = "
        image a
        image b
        image c
        image out root
        pass base graphics: color c
        pass second graphics if=two fallback=b:c: color b
        pass first graphics if=one fallback=a:b: color a
        pass read graphics: sampled a; color out
        before base read
        before second read";

    a_chain_of_three_flags_on_two_queues = "
        buffer a 256
        buffer b 256
        buffer c 256
        buffer d 256 imported
        buffer out 256 root
        pass third async_compute if=three fallback=c:d: storage_write c
        pass second compute if=two fallback=b:c: storage_write b
        pass first async_compute if=one fallback=a:b: storage_write a
        pass read compute: storage_read a; storage_write out";

    a_fallback_to_a_persistent_image = "
        image kept persistent
        image a
        image out root
        pass write graphics if=on fallback=a:kept: color a
        pass read graphics: sampled a; color out; 
        pass keep graphics: color kept; sampled out";

    a_fallback_to_an_imported_buffer_on_another_queue = "
        buffer there 256 imported
        buffer a 256
        buffer out 256 root
        pass write async_compute if=on fallback=a:there: storage_write a
        pass read compute: uniform a; storage_write out";

    a_fallback_to_a_history = "
        image now
        image past history_of=now
        image a
        image out root
        pass draw graphics: color now
        pass write graphics if=on fallback=a:past: color a
        pass read graphics: sampled a; color out";

    a_fallback_to_something_with_another_number_of_readers_is_read_by_all = "
        image other
        image a
        image one root
        image two root
        pass fill graphics: color other
        pass write graphics if=on fallback=a:other: color a
        pass first graphics: sampled a; color one
        pass second async_compute: sampled a; storage_write two";

    the_fallback_is_overwritten_after_its_reader = "
        image other
        image a
        image out root
        image end root
        pass fill graphics: color other
        pass write graphics if=on fallback=a:other: color a
        pass read graphics: sampled a; color out
        pass again graphics: color other load=clear
        pass last graphics: sampled other; color end
        before read again";

    writers_of_the_output_that_the_fallback_makes_needless_are_culled = "
        image other
        image a
        image out root
        pass fill graphics: color other
        pass before graphics: color a
        pass write graphics if=on fallback=a:other: color a load=clear
        pass read graphics: sampled a; color out
        culled before";

    a_writer_before_a_conditional_pass_that_keeps_contents_is_needed_while_it_is_on = "
        image other
        image a
        image out root
        pass fill graphics: color other
        pass before graphics: color a
        pass write graphics if=on fallback=a:other: color a
        pass read graphics: sampled a; color out
        runs before";

    a_conditional_attachment_load_keeps_what_was_there = "
        image a root
        pass draw graphics: color a load=clear
        pass over graphics if=on: color a
        pass last graphics if=off: color a";

    a_conditional_clear_is_no_replacement = "
        image a root
        pass draw graphics: color a
        pass wipe graphics if=on: color a load=clear
        runs draw";

    a_conditional_resolve_leaves_the_contents_before_while_off = "
        image many samples=4
        image a root
        pass first graphics: color a
        pass draw graphics if=on: color many load=clear; resolve a resolves=many
        runs first";

    a_conditional_resolve_with_a_fallback = "
        image many samples=4
        image a
        image other imported
        image out root
        pass draw graphics if=on fallback=a:other: color many load=clear; resolve a resolves=many
        pass read graphics: sampled a; color out";

    a_conditional_pass_generates_mips_over_older_ones = "
        image a mips=3
        image out root
        pass first graphics: color a generate_mips
        pass again graphics if=on: color a generate_mips
        pass read graphics: sampled a; color out
        runs first";

    a_conditional_pass_generates_mips_with_a_fallback_of_fewer_uses = "
        image a mips=3
        image other mips=3
        image out root
        pass fill graphics: color other generate_mips
        pass draw graphics if=on fallback=a:other: color a generate_mips
        pass read async_compute: sampled a; storage_write out";

    a_conditional_host_write_with_a_fallback = "
        buffer a 256
        buffer other 256 imported
        buffer out 256 root
        pass upload cpu if=on fallback=a:other: host_write a load=discard
        pass read compute: storage_read a; storage_write out";

    a_conditional_host_read_between_two_writes = "
        buffer a 256 root
        pass first compute: storage_write a
        pass look cpu if=on effects: host_read a
        pass second compute: storage_read_write a
        before look second";

    a_conditional_reader_and_writer_under_one_flag_need_no_fallback = "
        image a
        image out root
        pass clear graphics: color out load=clear
        pass write async_compute if=on: storage_write a
        pass read graphics if=on: sampled a; color out";

    a_reader_under_another_flag_needs_a_fallback = "
        image a
        image out root
        pass clear graphics: color out load=clear
        pass write graphics if=on: color a
        pass read graphics if=other: sampled a; color out
        refused RG-E215";

    a_conditional_writer_of_what_persists = "
        buffer state 256 persistent
        buffer out 256 root
        pass write async_compute if=on: storage_write state
        pass read compute: storage_read state; storage_write out";

    a_conditional_pass_that_writes_an_imported_image = "
        image screen imported layout=general
        pass draw graphics if=on: color screen
        runs draw";

    a_conditional_write_of_one_range_and_a_reader_of_both = "
        buffer a 256
        buffer out 256 root
        pass fill compute: storage_write a
        pass patch async_compute if=on: storage_write a range=64..128 load=discard
        pass read compute: storage_read a; storage_write out";

    two_flags_write_two_layers_of_one_image = "
        image a layers=2
        image out root
        pass base graphics: color a load=clear
        pass one graphics if=one: color a layers=0..1
        pass two graphics if=two: color a layers=1..2
        pass read graphics: sampled a; color out";

    two_flags_write_one_image_one_after_the_other = "
        image a root
        pass base graphics: color a load=clear
        pass one async_compute if=one: storage_write a
        pass two graphics if=two: color a
        pass three async_compute if=one: storage_read_write a
        before one two
        before two three";

    a_conditional_release_of_bytes_is_no_hazard_while_off = "
        image a size=256x256
        image b size=256x256
        image c size=256x256
        image out root
        pass one graphics: color a
        pass two graphics: sampled a; color out
        pass three graphics if=on: color b load=clear
        pass four graphics if=on: sampled b; color out
        pass five graphics: color c
        pass six graphics: sampled c; color out";

    a_fallback_output_that_is_changed_in_place_is_refused = "
        image other
        image a
        image out root
        pass fill graphics: color other
        pass write graphics if=on fallback=a:other: color a
        pass change graphics: color a
        pass read graphics: sampled a; color out
        refused RG-E215";

    depth_tested_against_while_its_writer_may_be_off = "
        image z format=depth32float
        image out root
        pass clear graphics: depth z load=clear clear=1
        pass draw graphics if=on: depth z
        pass test graphics: depth_read z; color out load=clear";

    a_fallback_is_read_at_bytes_that_only_the_output_is_cut_at = "
        buffer other 4096
        buffer out 4096
        buffer end 256 root
        pass early async_compute: storage_write other range=0..512
        pass fill graphics: storage_write other
        pass better graphics if=on fallback=out:other: storage_write out
        pass read async_compute: storage_read out range=1024..1536; storage_write end
        before fill read";

    what_stands_in_falls_back_itself_and_is_read_in_part = "
        image base layers=6
        image below modifies=base
        image middle layers=6
        image top layers=6
        buffer end 256 root
        pass fill graphics: color base
        pass change compute: storage_write below
        pass one graphics if=on fallback=middle:below: color middle
        pass two compute if=on fallback=top:middle: storage_write top layers=0..1
        pass read compute: sampled top layers=0..1; storage_write end
        before change read";

    a_fallback_of_depth_and_stencil_of_which_the_output_has_stencil_alone = "
        image other format=depth24plus-stencil8
        image out format=depth24plus-stencil8
        image end root
        pass fill graphics: depth other load=clear stencil_load=clear clear=1/0
        pass better graphics if=on fallback=out:other: depth out aspects=stencil stencil_load=clear
        pass read graphics: sampled out aspects=stencil; color end
        before fill read";

    a_forward_read_of_a_part_of_a_conditional_output_reads_that_part_of_the_fallback = "
        buffer other 4096
        buffer out 4096
        buffer end 256 root
        pass look graphics: storage_read other range=0..512
        pass fill graphics: storage_write other
        pass early async_compute: storage_read out range=1024..1536; storage_write end
        pass late graphics if=on fallback=out:other: storage_write out
        before fill early";

    an_output_with_a_fallback_is_replaced_after_a_read_that_may_have_been_of_the_fallback = "
        buffer other 4096
        buffer out 4096 root
        image end root
        pass fill graphics: storage_write other
        pass better graphics if=on fallback=out:other: storage_write out
        pass read graphics: storage_read out; color end
        pass again compute: storage_write out load=discard
        before read again";

    a_root_with_a_fallback_holds_what_the_caller_must_not_look_at_while_the_flag_is_off = "
        image base format=r32float
        image other format=r32float
        image top modifies=base root
        buffer data 4096
        pass one compute: storage_write base
        pass two compute: sampled base; storage_write other; storage_write data
        pass better compute if=on fallback=top:other: storage_write top load=discard
        pass read cpu effects: host_read data";

    an_output_with_a_fallback_is_no_attachment_of_its_readers = "
        image other format=depth32float
        image out format=depth32float
        image end root
        pass fill graphics: depth other load=clear
        pass better graphics if=on fallback=out:other: depth out load=clear
        pass read graphics: depth_read out; color end
        refused RG-E215";

    an_output_with_a_fallback_is_no_input_attachment_of_an_early_reader = "
        image other
        image out
        image end root
        pass fill graphics: color other
        pass early graphics: input out; color end
        pass late graphics if=on fallback=out:other: color out
        refused RG-E215";

    an_image_is_an_attachment_before_it_is_an_output_with_a_fallback = "
        image other
        image out
        image middle root
        image end root
        pass fill graphics: color other
        pass first graphics: color out
        pass early graphics: input out; color middle
        pass better graphics if=on fallback=out:other: color out load=clear
        pass read graphics: sampled out; color end";

    a_part_that_the_conditional_pass_does_not_write_is_no_readers_of_the_fallback = "
        image now mips=4
        image past history_of=now
        image out mips=4
        buffer end 65536 root
        pass keep graphics: color now
        pass better compute if=on fallback=out:past: storage_write out mips=1..2
        pass again compute: sampled out mips=1..2; storage_write out load=discard
        pass read transfer: src out mips=0..1; dst end";

    generated_mips_of_a_conditional_output_fall_back_too = "
        image other mips=3
        image out mips=3
        image end root
        pass fill graphics: color other generate_mips
        pass better graphics if=on fallback=out:other: color out generate_mips
        pass read graphics: sampled out mips=1..3; color end
        runs fill";

    what_persists_keeps_its_contents_while_the_pass_that_clears_it_is_off = "
        image kept persistent
        image other
        image better modifies=kept
        image end root
        pass fill graphics: color other
        pass look graphics: src kept; dst end
        pass clear graphics if=on fallback=better:other: color better load=clear
        runs clear";

    a_history_keeps_its_contents_while_the_pass_that_replaces_them_is_off = "
        image now
        image past history_of=now
        image other
        image better modifies=now
        image end root
        pass fill graphics: color other
        pass first graphics: color now
        pass clear compute if=on fallback=better:other: storage_write better load=discard
        pass look graphics: sampled past; color end
        runs first clear";

    what_a_conditional_pass_replaces_is_culled_if_nobody_ever_sees_it = "
        image first
        image other
        image end root
        pass fill graphics: color other
        pass write graphics: color first
        pass better graphics if=on fallback=first:other: color first load=clear
        pass look graphics: sampled first; color end
        culled write
        runs better";

    a_reader_under_the_flag_of_the_writer_never_reads_the_fallback = "
        buffer base 256
        buffer over 256
        buffer out 256 root
        pass fill compute: storage_write base load=discard
        pass zero compute: storage_write out load=discard
        pass write compute if=on fallback=over:base: storage_write over load=discard
        pass read compute if=on: storage_read over; storage_write out
        culled fill";

    an_attachment_that_nothing_wrote_and_a_fallback = "
        image a
        image b
        image out root
        pass other graphics: color b load=clear
        pass draw graphics if=on fallback=a:b: color a
        pass read graphics: sampled a; color out
        pass again graphics effects: color a load=discard";

    a_pass_that_looks_forward_to_an_output_and_writes_what_stands_in_for_it = "
        buffer output 1024
        buffer input 1024 persistent
        pass look compute effects: uniform output; storage_read_write input
        pass change transfer: dst input range=0..512
        pass make transfer if=on fallback=output:input: dst output
        refused RG-E217";

    a_pass_that_reads_an_output_and_replaces_what_stands_in_for_it = "
        buffer output 1024 persistent
        buffer input 1024 imported
        pass make graphics if=on fallback=output:input effects: storage_write output load=discard
        pass change async_compute effects: storage_write input load=discard
        pass read graphics effects: storage_write input range=256..768 load=discard; storage_read output range=256..768
        refused RG-E217";

    a_pass_that_reads_an_output_and_writes_into_what_stands_in_for_it = "
        buffer output 1024 persistent
        buffer input 1024 imported
        pass make graphics if=on fallback=output:input effects: storage_write output load=discard
        pass change async_compute effects: storage_write input load=discard
        pass read graphics effects: storage_write input range=256..768; storage_read output range=256..768";

    a_pass_that_replaces_another_part_of_what_stands_in = "
        buffer output 1024 persistent
        buffer input 1024 imported
        pass make graphics if=on fallback=output:input effects: storage_write output load=discard
        pass change async_compute effects: storage_write input load=discard
        pass read graphics effects: storage_write input range=0..256 load=discard; storage_read output range=256..768";

    two_passes_of_two_families_fall_back_to_one_buffer = "
        buffer out 256 sharing=exclusive
        buffer other 256
        buffer seen 256 root
        pass fill graphics: storage_write other load=discard
        pass first graphics if=one fallback=out:other: storage_write out load=discard
        pass second transfer if=two fallback=out:other: dst out range=0..128 load=discard
        pass look async_compute: storage_read out; storage_write seen";

    a_pass_that_is_off_owns_what_it_releases = "
        buffer out 256 sharing=exclusive
        buffer other 256 imported
        pass first graphics effects: storage_write out load=discard
        pass second transfer if=on fallback=out:other: dst out range=0..128 load=discard
        pass third graphics if=on: dst out load=discard
        pass look transfer effects: src out";

    a_pass_that_reads_an_output_and_copies_into_what_stands_in_for_it = "
        buffer output 256
        buffer input 256
        pass fill graphics: dst input load=discard
        pass make transfer if=on fallback=output:input: dst output load=discard
        pass both compute effects: dst input; storage_read output range=0..128
        refused RG-E217";

    a_pass_that_copies_an_output_over_what_stands_in_for_it = "
        buffer output 256
        buffer input 256 root
        pass fill graphics: dst input load=discard
        pass make transfer if=on fallback=output:input: dst output load=discard
        pass both transfer: src output range=0..128; dst input range=64..192
        refused RG-E217";

    a_pass_that_copies_an_output_into_another_part_of_what_stands_in_for_it = "
        buffer output 256
        buffer input 256 root
        pass fill graphics: dst input load=discard
        pass make transfer if=on fallback=output:input: dst output load=discard
        pass both transfer: src output range=0..128; dst input range=128..256";

    a_pass_of_the_host_that_reads_an_output_and_writes_what_stands_in_for_it = "
        buffer output 256
        buffer input 256 root
        pass fill graphics: dst input load=discard
        pass make transfer if=on fallback=output:input: dst output load=discard
        pass both cpu: host_read output; host_write input
        refused RG-E217";

    an_attachment_loads_what_only_a_conditional_pass_drew = "
        image out root
        pass clear graphics if=on: color out load=clear
        pass draw graphics: color out
        runs clear draw";

    an_attachment_that_says_load_finds_nothing_while_a_flag_is_off = "
        image out root
        pass clear graphics if=on: color out load=clear
        pass draw graphics: color out load=load
        refused RG-E215";

    an_attachment_under_the_same_flag_loads_what_its_pass_drew = "
        image z format=depth32float
        image out root
        pass all graphics: color out load=clear
        pass before graphics if=on: depth z load=clear
        pass draw graphics if=on: depth z; color out
        runs before draw";

    a_storage_write_keeps_what_a_conditional_pass_may_have_written = "
        buffer out 256 root
        pass first compute if=on: storage_write out
        pass second compute: storage_write out
        runs first second";
}
