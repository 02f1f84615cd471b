//! Accesses that commute.

corners! {
    an_unordered_read_only_group_waits_for_the_writer_and_holds_up_the_next = "
        buffer a 256
        buffer one 256 root
        buffer two 256 root
        pass write compute: storage_write a
        pass first compute: storage_read a unordered; storage_write one
        pass second async_compute: storage_read a unordered; storage_write two
        pass again compute: storage_write a load=discard
        pass last cpu effects: host_read a
        before write first
        before second again";

    unordered_samplers_of_an_image_on_two_queues = "
        image a
        image one root
        image two root
        pass draw graphics: color a
        pass first graphics: sampled a unordered; color one
        pass second async_compute: sampled a unordered; storage_write two
        before draw first
        before draw second";

    an_unordered_write_is_read_by_the_host = "
        image seed
        buffer sum 4096
        buffer out 4096 root
        pass draw compute: storage_write seed
        pass one compute: storage_write sum unordered
        pass two compute: src seed; storage_write sum unordered
        pass read cpu: host_read sum; host_write out
        either RG-E217
        before two read";

    an_unordered_read_write_beside_the_write_that_defines = "
        image seed format=r32float
        buffer sum 4096 root
        pass draw graphics: color seed
        pass one compute: storage_write sum unordered
        pass two compute: storage_read seed; storage_read_write sum unordered
        either RG-E203";

    an_unordered_group_after_an_ordered_write_adds_to_it = "
        buffer sum 256 root
        pass zero compute: storage_write sum load=discard
        pass one compute: storage_read_write sum unordered
        pass two async_compute: storage_read_write sum unordered
        pass three compute: storage_read_write sum unordered
        before zero one
        before zero two";

    an_ordered_read_splits_two_unordered_groups = "
        buffer sum 256 root
        buffer out 256 root
        pass zero compute: storage_write sum load=discard
        pass one compute: storage_read_write sum unordered
        pass look compute: storage_read sum; storage_write out
        pass two async_compute: storage_read_write sum unordered
        before one look
        before look two";

    a_culled_access_splits_a_group_too = "
        buffer sum 256 root
        buffer unseen 256
        pass zero compute: storage_write sum load=discard
        pass one compute: storage_read_write sum unordered
        pass look compute: storage_read sum; storage_write unseen
        pass two async_compute: storage_read_write sum unordered
        culled look
        before one two";

    an_access_that_only_reads_is_no_member_of_a_group = "
        buffer sum 256
        buffer out 256 root
        pass zero compute: storage_write sum load=discard
        pass one compute: storage_read_write sum unordered
        pass peek async_compute: storage_read sum unordered; storage_write out
        pass two async_compute: storage_read_write sum unordered
        before one peek
        culled two";

    an_unordered_group_of_which_one_is_needed_is_needed_whole = "
        buffer sum 256
        buffer out 256 root
        pass one compute: storage_write sum unordered
        pass two async_compute: storage_write sum unordered
        pass read compute: storage_read sum; storage_write out
        runs one two";

    an_unordered_group_with_a_conditional_member = "
        buffer sum 256 root
        pass zero compute: storage_write sum load=discard
        pass one compute if=on: storage_read_write sum unordered
        pass two async_compute: storage_read_write sum unordered
        before zero one";

    unordered_attachments_of_one_render_pass = "
        image a root
        pass clear graphics: color a load=clear
        pass one graphics: color a unordered
        pass two graphics: color a unordered
        before clear one";

    unordered_writes_of_two_ranges_and_one_ordered = "
        buffer sum 256 root
        pass zero compute: storage_write sum load=discard
        pass low compute: storage_read_write sum range=0..128 unordered
        pass all async_compute: storage_read_write sum unordered
        pass high compute: storage_read_write sum range=128..256
        before all high";

    an_unordered_group_on_a_persistent_buffer = "
        buffer sum 256 persistent
        buffer out 256 root
        pass one compute: storage_read_write sum unordered
        pass two async_compute: storage_read_write sum unordered
        pass read compute: storage_read sum; storage_write out";

    an_unordered_group_read_through_a_history = "
        buffer sum 256
        buffer past history_of=sum
        buffer out 256 root
        pass zero compute: storage_write sum load=discard
        pass one compute: storage_read_write sum unordered
        pass two async_compute: storage_read_write sum unordered
        pass read compute: storage_read past; storage_write out
        runs one two";

    unordered_host_writes_of_one_buffer = "
        buffer a 256
        buffer out 256 root
        pass one cpu: host_write a unordered
        pass two cpu: host_write a unordered
        pass read compute: storage_read a; storage_write out
        before one read
        before two read";

    unordered_copies_into_one_image = "
        image a root
        image b
        image c
        pass one graphics: color b
        pass two graphics: color c
        pass first transfer: src b; dst a unordered
        pass second transfer: src c; dst a unordered
        runs first second";

    a_read_of_a_part_ends_the_group_of_that_part_alone = "
        buffer sum 4096
        image end root
        pass zero graphics: dst sum transfer=fill
        pass one compute effects: storage_read_write sum unordered
        pass look compute: storage_read sum range=0..512 unordered
        pass two compute: storage_read_write sum unordered
        pass draw graphics: color end
        runs two";

    a_read_beside_an_unordered_access_ends_the_group_of_its_part_alone = "
        buffer sum 4096
        image end root
        pass zero graphics: dst sum transfer=fill
        pass one compute effects: storage_read_write sum range=512..1024 unordered; storage_read sum range=0..512
        pass two compute: storage_read_write sum unordered
        pass draw graphics: color end
        runs two";

    a_group_goes_on_in_the_part_that_an_ordinary_access_leaves_alone = "
        image seed
        buffer sum 4096
        buffer end 256 root
        pass draw graphics: color seed
        pass one compute: storage_write sum unordered; sampled seed
        pass two compute: storage_read_write sum range=0..512 unordered; storage_write end
        pass three compute: storage_read_write sum unordered; storage_read end
        before one two
        runs three";

    an_access_that_finds_only_its_own_group_in_another_part_follows_it = "
        buffer sum 4096 root
        buffer end 256 root
        pass one compute: storage_write sum range=0..1024 unordered
        pass two compute: storage_read_write sum range=0..512 unordered
        pass three compute: storage_write sum unordered; storage_write end
        pass four compute: storage_read_write sum range=512..1536 unordered
        before one two
        before three four";

    an_access_that_finds_only_its_own_group_follows_it_where_reads_look_forward = "
        buffer later 256 root
        buffer sum 256 root
        image end root
        pass early graphics: storage_read later; color end
        pass one compute: storage_write sum unordered; sampled end
        pass two compute: storage_read_write sum unordered
        pass late graphics: storage_write later
        before one two
        before late early";

    commuting_accesses_of_two_names_of_one_memory_keep_the_order_of_the_names = "
        buffer a 256
        buffer b modifies=a root
        pass top compute: storage_read_write b unordered
        pass bottom compute: storage_write a unordered
        before bottom top";

    commuting_accesses_of_two_names_of_one_memory_are_two_groups = "
        buffer a 256
        buffer b modifies=a root
        pass one compute: storage_write a unordered
        pass two async_compute: storage_write a unordered
        pass three compute: storage_read_write b unordered
        pass four async_compute: storage_read_write b unordered
        before one three
        before two three
        before one four
        before two four";

    a_group_adds_to_bytes_that_nobody_wrote_and_another_family_left = "
        buffer sum 4096 sharing=exclusive root
        pass fill graphics: storage_write sum range=512..2560
        pass one graphics: storage_read_write sum unordered
        pass two async_compute: storage_read_write sum unordered
        before fill one
        exclusive sum";

    a_member_reads_bytes_that_nobody_wrote_and_another_family_left = "
        buffer sum 256 sharing=exclusive
        pass peek graphics: storage_read sum
        pass part graphics: storage_write sum range=160..256 unordered
        pass whole graphics: storage_read_write sum unordered
        pass look async_compute effects: indirect sum
        culled peek
        exclusive sum";

    the_host_is_the_last_of_a_group_that_outlives_the_frame = "
        buffer sum 65536 persistent
        pass host cpu effects: host_write sum range=32768..65536 load=discard
        pass add cpu: host_write sum unordered
        pass more graphics effects: storage_read_write sum range=0..32768 unordered";

    unordered_uses_of_what_modifies_a_memory_that_nothing_wrote_commute = "
        image base
        image over modifies=base root
        pass one graphics: storage_read_write over unordered
        pass two graphics: storage_read_write over unordered";

    the_first_of_a_group_must_find_contents_also_where_it_runs_later = "
        image late
        buffer sum 1024 root
        pass add compute: storage_read_write sum unordered; src late
        pass begin compute: storage_write sum unordered
        pass draw graphics: storage_write late
        refused RG-E203";
}
