//! Reads declared before the writers of what they read.

corners! {
    a_forward_read_of_an_image_whose_first_writer_generates_mips_sees_all_mips = "
        image late mips=full
        image out root
        pass read graphics: sampled late; color out
        pass write graphics: color late generate_mips
        before write read";

    a_forward_read_of_mips_that_a_storage_write_generates_runs_after_them = "
        image late format=rgba16float mips=4
        pass read graphics effects: sampled late
        pass write compute: storage_write late generate_mips
        before write read";

    a_forward_read_of_mip_0_alone_needs_no_generated_mip = "
        image late mips=3
        image out root
        pass read graphics: sampled late mips=0..1; color out
        pass write graphics: color late generate_mips
        before write read";

    a_forward_read_of_the_last_mip_waits_for_the_chain_of_blits = "
        image late mips=4
        image out root
        pass read compute: sampled late mips=3..4; storage_write out
        pass write async_compute: storage_write late generate_mips
        before write read";

    two_forward_readers_of_generated_mips_run_on_two_queues = "
        image late mips=3
        image a root
        image b root
        pass first graphics: sampled late; color a
        pass second async_compute: sampled late mips=1..3; storage_write b
        pass write graphics: color late generate_mips
        before write first
        before write second";

    a_forward_read_sees_the_first_writer_and_not_the_second = "
        image late mips=2
        image out root
        pass read graphics: sampled late; color out
        pass first graphics: color late generate_mips
        pass second graphics: color late load=clear generate_mips
        pass after graphics effects: sampled late
        before first read
        before read second";

    a_forward_read_of_a_layer_comes_after_the_first_writer_of_that_layer = "
        image late layers=2
        image out root
        pass read graphics: sampled late layers=1..2; color out
        pass zero graphics: color late layers=0..1
        pass one graphics: color late layers=1..2
        before one read
        culled zero";

    a_forward_read_of_all_layers_sees_only_the_first_writer = "
        image late layers=2
        image out root
        pass read graphics: sampled late; color out
        pass zero graphics: color late layers=0..1
        pass one graphics effects: color late layers=1..2
        before zero read
        before read one";

    a_forward_read_of_depth_comes_after_its_writer_and_leaves_stencil_alone = "
        image late format=depth24plus-stencil8
        image out root
        pass read graphics: sampled late aspects=depth; color out
        pass write graphics: depth late load=clear clear=1
        pass stencil graphics effects: depth late aspects=stencil
        before write read";

    a_forward_read_of_a_buffer_range_sees_its_first_writer = "
        buffer late 256
        buffer out 64 root
        pass read compute: storage_read late range=64..128; storage_write out
        pass low compute: storage_write late range=0..64
        pass high async_compute: storage_write late range=64..256
        before high read
        culled low";

    a_forward_read_of_an_unordered_group_waits_for_the_first_of_it = "
        buffer late 256
        buffer out 64 root
        pass read compute: storage_read late; storage_write out
        pass one compute: storage_write late unordered
        pass two async_compute: storage_write late unordered
        before one read";

    a_forward_read_of_a_conditional_output_reads_the_fallback_filled_before_it = "
        image other
        image late
        image out root
        pass fill graphics: color other
        pass read graphics: sampled late; color out
        pass write graphics if=on fallback=late:other: color late
        before write read
        before fill read";

    a_forward_read_of_a_conditional_output_reads_the_fallback_filled_between = "
        image other
        image late
        image out root
        pass read graphics: sampled late; color out
        pass fill graphics: color other
        pass write graphics if=on fallback=late:other: color late
        before write read
        before fill read";

    a_forward_read_of_a_conditional_output_on_another_queue_reads_the_fallback = "
        image other
        image late
        image out root
        pass fill async_compute: storage_write other
        pass read graphics: sampled late; color out
        pass write async_compute if=on fallback=late:other: storage_write late
        before write read
        before fill read";

    a_forward_read_of_a_conditional_output_reads_an_imported_fallback = "
        image other imported layout=shader_read_only_optimal
        image late
        image out root
        pass read graphics: sampled late; color out
        pass write graphics if=on fallback=late:other: color late
        before write read";

    a_forward_read_of_generated_mips_of_a_conditional_pass_reads_the_fallback = "
        image other mips=3 imported layout=general
        image late mips=3
        image out root
        pass read graphics: sampled late; color out
        pass write graphics if=on fallback=late:other: color late generate_mips
        before write read";

    a_read_of_a_modifying_image_never_looks_forward = "
        image base
        image over modifies=base
        image out root
        pass draw graphics: color base
        pass read graphics: sampled over; color out
        pass change graphics effects: color over
        before draw read
        before read change";

    a_forward_read_of_what_is_modified_comes_before_the_modification = "
        image base
        image over modifies=base root
        image out root
        pass read graphics: sampled base; color out
        pass change graphics: color over
        pass draw graphics: color base
        before draw read
        before read change";

    a_forward_read_of_what_is_remembered_sees_this_frame = "
        image late
        image past history_of=late
        image out root
        pass read graphics: sampled late; sampled past; color out
        pass write graphics: color late
        before write read";

    a_forward_read_by_a_storage_reader_of_a_resolved_image = "
        image many samples=4
        image late
        image out root
        pass read compute: sampled late; storage_write out
        pass draw graphics: color many load=clear; resolve late resolves=many
        before draw read";

    a_pass_that_reads_forward_and_is_read_forward_makes_a_chain = "
        image a
        image b
        image out root
        pass last graphics: sampled b; color out
        pass middle async_compute: sampled a; storage_write b
        pass first graphics: color a
        before first middle
        before middle last";

    a_forward_read_and_an_earlier_reader_of_its_output_make_a_cycle = "
        image a
        image b
        image out root
        pass one graphics: sampled a; color b
        pass two graphics: sampled b; color a; color out
        refused RG-E204";

    a_fallback_is_read_where_its_output_is_although_it_was_written_before = "
        image base
        image over
        image out root
        pass first graphics: color base load=clear clear=0/0/0/1
        pass read graphics: sampled over; color out
        pass second graphics: color base load=clear clear=1/0/0/1
        pass shade graphics if=on fallback=over:base: color over load=clear
        before second read
        before shade read";

    a_fallback_of_a_forward_read_is_written_again_afterwards = "
        buffer base 256
        buffer over 256
        buffer out 256 root
        buffer other 256 root
        pass first compute: storage_write base load=discard
        pass read compute: storage_read over; storage_write out
        pass shade async_compute if=on fallback=over:base: storage_write over load=discard
        pass second transfer: src base; dst other
        pass third compute: storage_write base load=discard
        pass last compute: storage_read base; storage_write other
        before shade read
        before read third";

    a_read_that_looks_forward_within_another_read_of_its_pass_is_part_of_a_cycle = "
        buffer b 4096 root
        buffer out 256 root
        pass begin graphics: dst b range=0..1024
        pass read graphics: src b range=0..3072; src b range=1024..2048; dst out
        pass rest graphics: dst b
        refused RG-E204";

    a_read_that_looks_forward_beside_another_read_of_its_pass = "
        image b mips=3 root
        image out root
        pass begin graphics: storage_write b
        pass read graphics: sampled b mips=0..2; sampled b mips=1..3; color out
        pass rest graphics: storage_write b mips=2..3
        before rest read";

    a_read_that_looks_forward_around_another_read_of_its_pass_is_part_of_a_cycle = "
        image b mips=3
        image out root
        pass begin graphics: storage_write b mips=2..3
        pass read graphics: sampled b mips=1..2; sampled b mips=1..3; color out
        pass rest graphics: storage_write b mips=1..2
        pass end graphics: sampled b mips=1..3; color out
        refused RG-E204";

    a_read_that_looks_forward_keeps_its_range_where_another_read_of_its_pass_has_a_part_of_it = "
        image b mips=3 root
        image out root
        pass read graphics: src b mips=0..1; sampled b; color out
        pass first compute: dst b mips=0..1
        pass rest compute: dst b mips=2..3
        before first read
        before read rest";

    a_read_of_a_mip_that_a_scaled_copy_does_not_fill_looks_forward = "
        image a
        image b modifies=a size=32x32 mips=2
        image end root
        pass early compute: sampled b mips=1..2; storage_write end
        pass late compute: storage_write b mips=1..2
        pass draw compute: storage_write a
        before late early";

    a_read_of_a_mip_that_a_scaled_copy_does_not_fill_is_refused_without_a_writer = "
        image a
        image b modifies=a size=32x32 mips=2
        image end root
        pass early compute: sampled b mips=1..2; storage_write end
        pass draw compute: storage_write a
        refused RG-E203";
}
