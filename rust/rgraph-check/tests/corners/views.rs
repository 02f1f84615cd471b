//! Views of several mips and layers: a descriptor has one layout for all that it sees.

corners! {
    one_layer_of_all_mips_is_read_while_another_queue_makes_them = "
        image a mips=4 layers=2 format=r32float size=16x16
        image b
        pass fill async_compute: storage_write a generate_mips
        pass look async_compute effects: sampled a layers=1..2; storage_write b";

    one_layer_of_mips_that_another_queue_reads_in_part = "
        image a mips=3 layers=2 format=r32float size=16x16
        image b root
        image c root format=r32float
        pass fill graphics: color a layers=1..2 mips=0..1 load=clear
        pass next graphics: color a layers=1..2 mips=1..2 load=clear
        pass last graphics: color a layers=1..2 mips=2..3 load=clear
        pass some graphics: src a layers=1..2 mips=0..1; dst c load=discard
        pass look async_compute: sampled a layers=1..2; storage_write b";

    bytes_behind_mips_that_nobody_uses_still_have_what_was_written_there_before = "
        image old
        buffer one 256
        image new mips=2
        buffer out 256 root
        pass draw graphics: color old; storage_write one
        pass first compute: storage_read one; storage_write new mips=0..1
        pass look compute: sampled new mips=0..1; storage_write out";
}
