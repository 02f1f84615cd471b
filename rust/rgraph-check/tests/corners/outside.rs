//! What the caller owns: imported, left, rooted.

corners! {
    an_imported_image_with_undefined_contents_is_drawn_and_presented = "
        image screen format=bgra8unorm imported contents=undefined leave=present_src
        pass draw graphics: color screen load=clear
        pass show graphics: present screen";

    an_imported_image_with_undefined_contents_may_not_be_read = "
        image there imported contents=undefined
        image out root
        pass read graphics: sampled there; color out
        refused RG-E203";

    an_imported_image_with_undefined_contents_written_in_part = "
        image there layers=2 imported contents=undefined
        image out root
        pass draw graphics: color there layers=0..1
        pass read graphics: sampled there layers=0..1; color out";

    an_imported_image_is_left_in_a_layout_that_nobody_uses = "
        image there imported layout=general leave=transfer_src_optimal
        image out root
        pass read graphics: sampled there; color out";

    an_imported_image_is_left_to_another_queue = "
        image there imported layout=general queue=graphics leave=shader_read_only_optimal@async_compute
        pass draw graphics: color there";

    an_imported_image_comes_from_another_queue_and_goes_back = "
        image there imported layout=shader_read_only_optimal queue=async_compute leave=general@async_compute
        pass draw graphics: color there
        pass look async_compute effects: sampled there";

    an_imported_buffer_is_changed_on_two_queues = "
        buffer there 256 imported
        pass one compute: storage_read_write there
        pass two async_compute: storage_read_write there
        runs one two";

    an_imported_image_is_read_on_two_queues_and_written_by_neither = "
        image there imported layout=shader_read_only_optimal
        image one root
        image two root
        pass first graphics: sampled there; color one
        pass second async_compute: sampled there; storage_write two";

    an_imported_image_that_is_only_loaded_over = "
        image there imported layout=color_attachment_optimal
        pass over graphics: color there
        runs over";

    an_imported_image_that_is_replaced_needs_no_contents = "
        image there imported
        pass over graphics: color there load=clear
        runs over";

    an_import_with_another_user_is_waited_for_and_signalled = "
        image there imported layout=general wait signal
        image mid
        image out root
        pass first graphics: color mid load=clear
        pass read graphics: sampled there; sampled mid; color out
        pass last graphics effects: sampled out";

    an_import_with_another_user_is_used_on_two_queues_and_the_host = "
        buffer there 256 imported wait signal
        buffer out 256 root
        pass one compute: storage_read there; storage_write out
        pass two async_compute effects: storage_read there
        pass three cpu effects: host_read there";

    two_imports_with_other_users_far_apart = "
        buffer near 256 imported wait signal
        buffer far 256 imported wait signal
        buffer mid 256
        buffer out 256 root
        pass one compute: storage_read_write near; storage_write mid
        pass two compute: storage_read_write mid
        pass three compute: storage_read mid; storage_read_write far; storage_write out";

    an_imported_root_that_nobody_writes_is_fine = "
        image there imported root
        image out root
        pass read graphics: sampled there; color out";

    an_imported_image_is_written_mip_by_mip = "
        image there mips=3 imported layout=general
        pass draw graphics: color there generate_mips
        pass read graphics effects: sampled there";

    an_imported_depth_image_is_tested = "
        image z format=depth32float imported layout=depth_stencil_attachment_optimal
        image out root
        pass test graphics: depth_read z; color out load=clear";

    a_root_is_read_after_its_last_write = "
        image out root
        image more root
        pass draw graphics: color out load=clear
        pass look async_compute: sampled out; storage_write more";

    a_root_is_written_in_part_by_two_queues = "
        image out layers=2 root
        pass one graphics: color out layers=0..1
        pass two async_compute: storage_write out layers=1..2";

    a_root_buffer_is_written_by_the_host_alone = "
        buffer out 256 root
        pass up cpu: host_write out
        runs up";

    a_root_whose_writer_is_conditional_is_refused_without_a_fallback = "
        image out root
        pass draw graphics if=on: color out
        refused RG-E215";

    passes_that_nobody_needs_are_culled_through_a_chain = "
        image a
        image b
        image out root
        pass one graphics: color a
        pass two graphics: sampled a; color b
        pass three graphics: color out load=clear
        culled one
        culled two";

    a_pass_with_side_effects_keeps_its_sources = "
        image a
        image b
        pass one graphics: color a
        pass two async_compute: sampled a; storage_write b
        pass three graphics effects: sampled b
        runs one two three";

    a_writer_that_is_replaced_in_full_is_culled = "
        buffer a 256 root
        pass one compute: storage_write a
        pass two compute: storage_write a load=discard
        culled one";

    a_writer_that_is_replaced_piece_by_piece_is_culled = "
        buffer a 256 root
        pass one compute: storage_write a
        pass two compute: storage_write a range=0..128 load=discard
        pass three async_compute: storage_write a range=128..256 load=discard
        culled one";

    a_persistent_image_that_nobody_reads_has_no_writers = "
        image state persistent
        image out root
        pass write graphics: color state load=clear
        pass draw graphics: color out load=clear
        culled write";

    the_first_writer_of_an_imported_image_is_replaced_under_another_name = "
        image seed
        image screen imported contents=undefined
        image top modifies=screen root
        pass draw graphics: color seed
        pass first graphics: color screen; sampled seed
        pass second compute: storage_write top load=discard
        culled draw first
        runs second";

    scratch_memory_of_a_build_is_storage_that_is_discarded = "
        buffer scratch 4096 root
        image end root
        pass write compute: storage_write scratch
        pass read graphics: storage_read scratch; color end
        pass build compute: storage_write scratch stages=acceleration_structure_build load=discard
        before read build";

    what_the_host_uses_last_is_left_to_another_family = "
        buffer out 1024 imported leave=@async_compute
        buffer seen modifies=out
        pass write graphics: storage_read_write out range=128..512
        pass look cpu: host_write seen";

    what_the_host_looks_at_last_is_left_to_another_family = "
        buffer out 1024 imported leave=@transfer
        pass write compute: storage_write out
        pass look cpu effects: host_read out";

    sharing_is_asked_for_under_any_name = "
        buffer one 4096
        buffer two modifies=one
        buffer three modifies=two sharing=exclusive root
        pass first graphics: storage_write two
        pass second async_compute: storage_read_write three
        exclusive three";

    names_of_one_memory_do_not_ask_for_two_sharings = "
        buffer one 4096 sharing=concurrent
        buffer two modifies=one
        buffer three modifies=two sharing=exclusive root
        pass first graphics: storage_write two
        pass second async_compute: storage_read_write three
        refused RG-E210";

    an_exclusive_output_that_falls_back_is_handed_over_while_it_is_on = "
        buffer out 65536 sharing=exclusive
        buffer other 65536
        image end root
        pass fill graphics: dst other
        pass better graphics if=on fallback=out:other: storage_write out range=57344..65536
        pass read transfer: src out; dst end
        runs better";

    a_pass_without_accesses_waits_for_the_pass_that_it_comes_after = "
        image first root
        image second root
        pass draw graphics: color first
        pass more graphics: color second
        pass empty transfer after=draw effects:
        before draw empty";

    what_the_host_uses_last_after_readers_on_two_queues_is_left_or_said_to_be = "
        buffer out 4096 imported leave=@async_compute
        pass first graphics effects: src out
        pass second any effects: src out
        pass look cpu: host_write out range=0..512";

    what_the_host_reads_beside_a_queue_is_left_or_said_to_be = "
        buffer out 4096 imported leave=@async_compute
        image end root
        pass first graphics effects: indirect out
        pass look cpu effects: host_read out
        pass second graphics: indirect out; color end
        pass again cpu effects: host_read out range=0..1024";

    a_transient_is_shown_and_its_bytes_are_taken_over = "
        buffer old 256
        buffer new modifies=old
        image screen format=bgra8unorm
        image other format=rgb10a2unorm
        pass fill graphics: storage_write new; storage_write other
        pass draw graphics: color screen; sampled new
        pass show graphics: present screen
        runs draw show";

    a_transient_that_is_shown_lives_on_for_a_later_reader = "
        image screen format=bgra8unorm
        image other
        image end root
        pass draw graphics: color screen
        pass show graphics: present screen
        pass more graphics: color other; sampled screen
        pass last graphics: color end; sampled other";

    a_cleared_transient_is_shown_by_another_queue = "
        image screen format=bgra8unorm
        image other
        pass draw graphics: color screen load=clear
        pass show async_compute: present screen
        pass reuse graphics effects: color other load=clear";

    an_image_that_the_host_looks_at_last_is_left_to_another_family = "
        image out leave=@async_compute
        pass draw graphics: color out
        pass look cpu effects: host_read out";

    an_image_with_mips_that_the_host_looks_at_last_is_left_to_another_family = "
        image out mips=3 imported leave=@transfer
        pass fill graphics: dst out mips=1..2
        pass draw graphics: color out
        pass look cpu effects: host_read out";

    an_image_that_the_host_looks_at_under_a_second_name_is_left_to_another_family = "
        image out imported leave=@async_compute
        image seen modifies=out
        pass draw graphics: color out
        pass look cpu effects if=on: host_read seen";

    what_the_host_replaces_after_a_reader_is_left_to_another_family = "
        buffer out 4096 imported leave=@async_compute
        pass up cpu: host_write out
        pass look graphics effects: storage_read out
        pass again cpu: host_write out load=discard";

    what_the_host_writes_in_part_after_a_reader_is_left_to_another_family = "
        buffer out 4096 imported leave=@async_compute
        pass look graphics effects: storage_read out
        pass more cpu: host_write out range=0..512";

    a_name_that_modifies_says_how_its_memory_is_left = "
        image base imported layout=general
        image over modifies=base leave=transfer_src_optimal
        pass draw graphics: color over";

    a_name_that_modifies_says_to_whom_its_memory_is_left = "
        buffer base 256 persistent
        buffer over modifies=base leave=@async_compute root
        pass add graphics: storage_read_write over";

    two_names_of_a_memory_do_not_leave_it_in_two_states = "
        image base imported leave=general
        image over modifies=base leave=transfer_src_optimal
        pass draw graphics: color over
        refused RG-E210";

    what_nobody_has_after_the_frame_is_left_in_no_state = "
        image gone leave=shader_read_only_optimal
        image mid
        image next
        buffer out 65536 root
        pass one graphics: storage_write gone; dst mid transfer=clear
        pass two graphics: src mid; dst next transfer=clear
        pass three graphics: src next; dst out";

    a_history_of_an_import_with_another_user_waits_for_nobody = "
        image there imported contents=undefined wait signal
        image past history_of=there
        buffer out 65536 root
        pass look async_compute: src past; dst out
        pass draw graphics: color there load=clear";

    an_image_that_the_host_uses_last_under_another_name_is_left_as_it_is = "
        image base imported layout=transfer_dst_optimal queue=graphics
        image over modifies=base leave=transfer_src_optimal
        pass look cpu effects: host_read over";

    a_culled_pass_hands_on_what_it_comes_after = "
        image o root
        pass first graphics effects: color o
        pass between compute after=first:
        pass again compute after=between:
        pass last async_compute after=again effects:
        culled between again
        before first last";

    a_culled_pass_that_several_passes_meet_in_hands_on_all_of_them = "
        buffer a 256 root
        buffer b 256 root
        buffer c 256 root
        buffer d 256 root
        pass one compute: storage_write a
        pass two async_compute: storage_write b
        pass meet compute after=one,two:
        pass three compute after=meet: storage_write c
        pass four async_compute after=meet: storage_write d
        culled meet
        before one three
        before two three
        before one four
        before two four";

    a_pass_without_accesses_hands_on_what_it_comes_after = "
        buffer a 256 root
        buffer b 256 root
        buffer c 256 root
        pass one compute: storage_write a
        pass other graphics: storage_write c
        pass meet compute after=one effects:
        pass again compute after=meet,other effects:
        pass two compute after=again: storage_write b
        before one two
        before other two";

    a_pass_without_accesses_of_another_queue_hands_on_what_it_comes_after = "
        buffer a 256 root
        buffer b 256 root
        buffer c 256 root
        pass one compute: storage_write a
        pass meet async_compute after=one effects:
        pass two async_compute after=meet: storage_write b
        pass back compute after=meet: storage_write c
        before one two
        before one back";

    a_pass_of_the_host_without_accesses_hands_on_what_it_comes_after = "
        buffer a 256 root
        buffer b 256 root
        pass one compute: storage_write a
        pass meet cpu after=one effects:
        pass two compute after=meet: storage_write b
        before one two";
}
