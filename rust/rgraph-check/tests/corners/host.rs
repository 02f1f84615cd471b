//! Work of the CPU, and who shares what.

corners! {
    a_device_write_a_conditional_reader_and_a_partial_host_write = "
        buffer b 256 root
        buffer o 256 root
        pass gpu compute: storage_write b
        pass zero compute: storage_write o load=discard
        pass read compute if=on: storage_read b; storage_write o
        pass host cpu: host_write b range=0..64
        before gpu host
        before read host";

    a_partial_host_write_after_a_device_write_keeps_the_rest = "
        buffer b 256
        buffer out 256 root
        pass gpu async_compute: storage_write b
        pass host cpu: host_write b
        pass read compute: storage_read b; storage_write out";

    a_partial_host_write_of_a_range_that_a_copy_filled = "
        buffer a 256 imported
        buffer b 256 root
        pass copy transfer: src a; dst b
        pass host cpu: host_write b range=128..256
        pass more transfer: src a range=0..64; dst b range=0..64";

    a_host_write_is_read_on_two_queues = "
        buffer b 256
        buffer one 256 root
        buffer two 256 root
        pass host cpu: host_write b load=discard
        pass first compute: uniform b; storage_write one
        pass second async_compute: storage_read b; storage_write two";

    a_host_read_of_what_two_queues_wrote = "
        buffer b 256
        pass low compute: storage_write b range=0..128
        pass high async_compute: storage_write b range=128..256
        pass look cpu effects: host_read b";

    a_host_read_before_the_next_frames_write = "
        buffer b 256
        pass write compute: storage_write b
        pass look cpu effects: host_read b";

    a_host_write_of_a_persistent_buffer_and_a_device_reader = "
        buffer state 256 persistent
        buffer out 256 root
        pass read async_compute: storage_read state; storage_write out
        pass update cpu: host_write state";

    a_host_read_of_a_persistent_buffer_that_the_device_changes = "
        buffer state 256 persistent
        pass look cpu effects: host_read state
        pass change async_compute: storage_read_write state";

    a_host_read_of_a_history = "
        buffer now 256
        buffer past history_of=now
        pass write async_compute: storage_write now
        pass look cpu effects: host_read past";

    a_history_of_what_the_host_writes = "
        buffer now 256
        buffer past history_of=now frames=2
        buffer out 256 root
        pass upload cpu: host_write now load=discard
        pass read async_compute: storage_read past; storage_read now; storage_write out";

    two_host_passes_around_a_device_pass = "
        buffer a 256
        buffer b 256
        pass up cpu: host_write a load=discard
        pass work async_compute: storage_read a; storage_write b
        pass down cpu effects: host_read b
        pass again cpu: host_write a
        pass more compute effects: storage_read a
        before work again";

    two_host_passes_without_the_device = "
        buffer a 256
        pass up cpu: host_write a
        pass down cpu effects: host_read a
        before up down";

    indirect_arguments_written_by_the_host = "
        buffer args 256
        buffer out 256 root
        pass up cpu: host_write args load=discard
        pass work async_compute: indirect args; storage_write out";

    exclusive_sharing_of_a_buffer_of_the_host_and_two_families_is_concurrent = "
        buffer b 256 sharing=exclusive
        buffer out 256 root
        pass host cpu: host_write b load=discard
        pass first compute: storage_read_write b
        pass second async_compute: storage_read b; storage_write out
        pass look cpu effects: host_read b";

    exclusive_sharing_of_a_buffer_that_three_families_write = "
        buffer b 256 sharing=exclusive root
        pass first compute: storage_write b
        pass second async_compute: storage_read_write b
        pass third transfer: dst b range=0..64
        exclusive b";

    exclusive_sharing_of_an_image_read_by_two_families = "
        image a sharing=exclusive
        image one root
        image two root
        pass draw graphics: color a
        pass first graphics: sampled a; color one
        pass second async_compute: sampled a; storage_write two
        exclusive a";

    exclusive_sharing_of_an_image_that_comes_back = "
        image a sharing=exclusive root
        pass draw graphics: color a
        pass change async_compute: storage_read_write a
        pass last graphics: color a
        exclusive a";

    exclusive_sharing_between_runs = "
        buffer b 256 sharing=exclusive persistent
        buffer out 256 root
        pass first compute: storage_read_write b
        pass second async_compute: storage_read_write b
        pass read compute: storage_read b; storage_write out";

    concurrent_sharing_of_an_image_on_one_queue = "
        image a sharing=concurrent
        image out root
        pass draw graphics: color a
        pass read graphics: sampled a; color out";

    concurrent_sharing_of_a_depth_image_on_two_queues = "
        image z format=depth32float sharing=concurrent
        image one root
        image two root
        pass draw graphics: depth z load=clear clear=1
        pass test graphics: depth_read z; color one
        pass read async_compute: sampled z; storage_write two";

    an_attachment_is_read_on_two_queues_at_once = "
        image a
        image one root
        image two root
        pass draw graphics: color a
        pass first async_compute: sampled a; storage_write one
        pass second graphics: sampled a; color two";

    an_image_is_read_by_the_host_and_then_by_another_family = "
        image a
        buffer out 65536 root
        pass draw graphics: color a
        pass look cpu effects: host_read a
        pass copy async_compute: src a; dst out";

    exclusive_sharing_of_an_image_that_the_host_reads_between_two_families = "
        image a sharing=exclusive
        buffer out 65536 root
        pass draw graphics: color a
        pass look cpu effects: host_read a
        pass copy async_compute: src a; dst out";

    an_image_is_sampled_and_read_by_the_host_after_a_copy = "
        buffer b 16384 imported
        image a
        image out root
        pass fill graphics: src b; dst a
        pass shade graphics: sampled a; color out
        pass look cpu effects: host_read a";

    an_image_is_read_by_the_host_while_another_queue_samples_it = "
        image a
        image out root
        pass draw graphics: color a
        pass look cpu effects: host_read a
        pass shade async_compute: sampled a; storage_write out
        pass again graphics: color a";

    an_imported_image_is_left_by_the_host_which_changes_no_layout = "
        image a imported leave=shader_read_only_optimal
        pass draw graphics: color a
        pass look cpu effects: host_read a";

    an_imported_image_is_left_by_a_host_that_is_switched_off = "
        image a imported leave=shader_read_only_optimal
        pass draw graphics: color a
        pass look cpu effects if=on: host_read a";

    the_host_reads_all_mips_of_which_one_is_written = "
        image a mips=3
        pass draw graphics: color a
        pass look cpu effects: host_read a";

    the_host_reads_an_image_of_the_frame_before = "
        image a
        image past history_of=a
        pass draw graphics: color a
        pass look cpu effects: host_read past
        pass both async_compute effects: sampled past; sampled a";

    the_host_and_two_queues_read_an_image_that_nothing_wrote_before = "
        image a mips=2
        image one root
        image two root
        pass fill graphics: color a mips=0..1
        pass look cpu effects: host_read a
        pass again cpu effects: host_read a
        pass first graphics: sampled a; color one
        pass second async_compute: sampled a; storage_write two";

    an_imported_image_that_the_host_may_read_last_is_left_as_it_is = "
        image a imported leave=shader_read_only_optimal
        image b
        buffer out 65536 root
        pass better graphics if=on fallback=b:a: storage_write b
        pass copy graphics: src b; dst out
        pass look cpu effects: host_read b";

    the_host_takes_over_bytes_of_an_image_that_it_read = "
        image a format=r32float
        buffer b 256
        buffer c 1024
        image out root
        pass draw graphics: color a
        pass look cpu: host_read a; host_write c
        pass fill cpu: host_write b; host_write c
        pass last graphics: indirect c; color out";

    an_attachment_that_a_subpass_reads_in_place_is_read_by_the_host = "
        image a format=r32float root
        pass draw graphics: color a load=discard
        pass look graphics effects: input a
        pass host cpu effects: host_read a";

    a_device_write_is_read_through_a_partial_host_write = "
        buffer b 256 root
        pass gpu graphics: storage_write b
        pass host cpu: host_write b
        pass look cpu effects: host_read b";

    a_device_write_of_the_run_before_is_read_through_a_partial_host_write = "
        buffer b 256 persistent
        pass host cpu: host_write b range=64..192
        pass look cpu effects: host_read b
        pass gpu graphics effects: storage_write b";

    the_host_is_first_to_use_bytes_of_which_it_saw_an_image_in_the_run_before = "
        buffer b 4096
        buffer kept 4096 root
        image a format=rgba8unorm size=128x128
        image shown format=r8unorm size=128x128
        pass host cpu: host_write b load=discard
        pass fill graphics: dst b
        pass prepare graphics: dst a
        pass now cpu: host_write kept
        pass read graphics: sampled b range=2048..3584; storage_read_write a
        pass draw graphics: color shown; color a
        pass look cpu: host_read shown; host_write kept";

    a_host_write_that_finds_nothing_while_a_flag_is_off_follows_what_the_device_wrote_in_the_run_before = "
        buffer b 256 root
        pass first cpu if=on: host_write b load=discard
        pass second cpu: host_write b
        pass more graphics: dst b range=128..256
        pass look graphics effects: index b";

    a_conditional_host_write_leaves_what_a_device_wrote_to_a_host_read = "
        buffer b 4096
        pass make graphics: dst b
        pass host cpu if=on: host_write b load=discard
        pass look cpu effects: host_read b";

    a_conditional_host_read_leaves_what_a_device_wrote_to_a_host_write = "
        buffer b 4096 root
        buffer seen 4096 root
        pass make graphics: dst b
        pass also compute: uniform b; storage_write seen
        pass look cpu effects if=on: host_read b
        pass host cpu: host_write b load=discard";

    a_conditional_host_read_leaves_what_the_run_before_wrote_to_a_host_write = "
        buffer b 65536 persistent
        pass first graphics effects: uniform b
        pass look cpu if=on effects: host_read b range=16384..49152
        pass host cpu: host_write b range=16384..49152 load=discard
        pass more transfer: dst b range=16384..49152
        pass last cpu effects: host_read b";

    a_conditional_host_read_at_the_end_leaves_what_a_device_wrote_to_the_next_run = "
        buffer b 4096
        pass host cpu: host_write b load=discard
        pass use graphics: storage_read_write b
        pass look cpu if=on effects: host_read b";

    conditional_accesses_of_the_host_in_a_row = "
        buffer b 4096 root
        pass make graphics: dst b
        pass look cpu effects if=one: host_read b
        pass host cpu if=two: host_write b load=discard
        pass again cpu if=one: host_write b load=discard
        pass more cpu if=two effects: host_read b
        pass part cpu: host_write b range=0..64
        pass last cpu if=two: host_write b load=discard";

    the_host_writes_bytes_that_it_read_under_another_name = "
        image read format=r32float
        image side mips=2 root
        buffer b 4096 root
        buffer c 65536
        pass make graphics: storage_write read
        pass look cpu: host_read read; host_write c
        pass host cpu: host_write b; host_write c
        pass use graphics: storage_read_write b
        pass fill graphics: storage_write side generate_mips";

    the_host_writes_bytes_of_an_image_that_it_may_have_read = "
        image first format=r8unorm size=64x256
        image better format=r8unorm size=64x256
        buffer c 256
        buffer b 4096 root
        pass draw graphics: color first
        pass fill graphics if=on fallback=better:first: storage_write better
        pass look cpu: host_read better; host_write c
        pass host cpu: host_read c; host_write b";

    the_host_looks_at_garbage_in_bytes_that_it_wrote = "
        buffer a 65536
        buffer b 65536
        buffer out 256 root
        image empty format=r8unorm size=64x64
        pass make graphics: dst a
        pass use graphics: uniform a; storage_write out
        pass host cpu after=use: host_write b load=discard
        pass take cpu: host_read b; host_write out
        pass look cpu effects after=take: host_read empty
        either RG-E203";

    the_host_reads_what_devices_left_where_its_own_write_is_off = "
        buffer kept 1024 persistent
        pass replace cpu if=on: host_write kept load=discard
        pass look cpu effects: host_read kept range=640..1024
        pass move graphics effects: dst kept range=384..1024 load=discard";
}
