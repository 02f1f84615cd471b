//! Reads of ranges of which only a part holds anything.

corners! {
    garbage_of_other_bytes_is_read_and_then_written = "
        buffer b 65536
        buffer o 65536
        image c root
        pass part compute: dst b range=32768..40960
        pass look graphics: storage_read b stages=fragment; color c
        pass change compute: storage_read_write b
        pass use compute: storage_read b; storage_write o
        pass last compute effects: storage_read o";

    garbage_that_the_frame_before_left_under_another_name = "
        buffer b 65536
        buffer s 4096
        buffer o 4096
        image c root
        pass part graphics: dst b range=32768..40960
        pass look graphics: storage_read b stages=fragment; color c
        pass change graphics: storage_read_write b stages=fragment
        pass build graphics: storage_read b stages=fragment; storage_write s stages=fragment
        pass trace graphics effects: storage_read s stages=fragment; storage_write o stages=fragment";

    some_mips_are_sampled_before_they_hold_anything = "
        image a mips=3
        image one root
        image two root
        pass top graphics: color a mips=0..1
        pass look graphics: sampled a; color one
        pass next compute: sampled a mips=0..1; storage_write a mips=1..2
        pass other async_compute: sampled a; storage_write two";

    a_layer_that_nothing_wrote_is_copied_along = "
        image a layers=4
        buffer out 65536 root
        pass draw graphics: color a layers=1..3
        pass copy transfer: src a; dst out";

    a_buffer_that_holds_nothing_is_read_on_two_queues_before_it_is_written = "
        buffer a 256
        buffer b modifies=a root
        buffer o 256 root
        pass one graphics effects: vertex b
        pass two async_compute: storage_read b; storage_write o
        pass look cpu effects: host_read b
        pass write compute: storage_read_write b";

    bytes_that_hold_nothing_are_read_on_two_queues_before_they_are_written = "
        buffer a 512 root
        buffer o 256 root
        pass low graphics: storage_write a range=0..256
        pass one graphics effects: vertex a
        pass two async_compute: storage_read a; storage_write o
        pass high graphics: storage_write a range=256..512";

    bytes_that_nobody_wrote_and_another_family_left_are_read = "
        buffer a 256 sharing=exclusive
        buffer out 256 root
        pass write graphics: storage_write a range=0..128
        pass read graphics: storage_read a; storage_write out
        pass look async_compute effects: storage_read a
        exclusive a";

    bytes_that_nobody_wrote_and_another_family_left_are_read_and_written = "
        buffer a 256 sharing=exclusive root
        pass write graphics: storage_write a range=0..128
        pass change graphics: storage_read_write a
        pass more async_compute: storage_read_write a
        exclusive a";

    bytes_that_nobody_wrote_and_another_family_left_are_kept = "
        buffer a 256 sharing=exclusive root
        pass write graphics: storage_write a range=0..128
        pass keep graphics: storage_write a
        pass more async_compute: storage_write a
        exclusive a";

    a_read_within_another_read_of_its_pass_must_find_something = "
        image b mips=2
        image out root
        pass begin graphics: storage_write b
        pass read graphics: sampled b; sampled b mips=1..2; color out
        refused RG-E203";

    an_attachment_that_its_pass_reads_in_place_must_hold_something = "
        image a root
        pass draw graphics: color a; input a
        refused RG-E203";

    an_attachment_without_contents_is_not_read_in_place_before_a_later_pass_draws_to_it = "
        image a root
        pass draw graphics: color a; input a
        pass over graphics: color a
        refused RG-E203";

    an_attachment_that_a_flag_leaves_empty_is_not_read_in_place = "
        image a root
        pass draw graphics if=flag: color a load=clear
        pass grade graphics: color a; input a
        refused RG-E215";

    an_attachment_that_a_flag_leaves_empty_is_read_in_place_under_that_flag = "
        image a
        image out root
        pass draw graphics if=flag: color a load=clear
        pass grade graphics if=flag: color a; input a
        pass show graphics: color out";

    scratch_memory_of_a_build_means_nothing_afterwards = "
        buffer shapes 256 imported
        buffer tree 4096 acceleration_structure root
        buffer scratch 4096
        buffer out 4096 root
        pass build graphics: acceleration_input shapes; acceleration_build tree; acceleration_scratch scratch
        pass read graphics: src scratch; dst out
        refused RG-E203";

    scratch_memory_that_a_conditional_pass_replaces_and_a_later_one_keeps = "
        buffer scratch 4096 root
        pass build graphics: acceleration_scratch scratch
        pass replace graphics if=flag: storage_write scratch load=discard
        pass keep graphics: dst scratch
        runs build";

    mips_that_two_accesses_of_a_pass_generate_are_refused = "
        image a mips=3 root
        pass draw graphics: storage_write a mips=0..1 generate_mips; storage_write a mips=1..2 generate_mips
        refused RG-E217";

    mips_that_a_pass_writes_and_generates_are_refused = "
        image a mips=3 root
        pass draw graphics: storage_write a generate_mips; storage_write a mips=1..2
        refused RG-E217";

    mips_that_a_pass_reads_and_generates_afterwards = "
        image a mips=3 root imported
        pass draw graphics: color a generate_mips; sampled a mips=1..3";
}
