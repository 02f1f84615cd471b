//! One memory under two names, and modifications of another size.

corners! {
    a_pass_that_reads_both_names_of_a_pair_is_refused_or_right = "
        image base
        image over modifies=base
        image out root
        pass draw graphics: color base
        pass change graphics: color over
        pass read graphics: sampled base; sampled over; color out
        either RG-E217";

    a_pass_that_reads_one_name_and_writes_the_other_is_refused_or_right = "
        image base format=r32float
        image over modifies=base
        image end format=r32float
        image last modifies=end root
        pass change compute: storage_write over
        pass first compute: sampled base; storage_write over
        pass draw graphics: sampled over; color end
        either RG-E217";

    a_pass_that_draws_to_both_names_is_refused_or_right = "
        image base
        image over modifies=base root
        pass draw graphics: color base; color over
        either RG-E217";

    both_names_of_a_buffer_pair_in_one_pass_are_refused_or_right = "
        buffer base 256
        buffer over modifies=base root
        pass fill compute: storage_write base
        pass both compute: storage_read base; storage_read_write over
        either RG-E217";

    readers_of_what_is_modified_come_before_the_modification_wherever_declared = "
        image base
        image over modifies=base root
        image out root
        pass draw graphics: color base
        pass change graphics: color over
        pass read async_compute: sampled base; storage_write out
        before read change";

    writers_of_what_is_modified_come_before_the_modification = "
        image base
        image over modifies=base root
        pass change compute: storage_write over
        pass draw graphics: color base
        before draw change";

    a_chain_of_three_names_runs_name_by_name = "
        image a
        image b modifies=a
        image c modifies=b root
        pass third graphics: color c
        pass second async_compute: storage_read_write b
        pass first graphics: color a
        before first second
        before second third";

    a_modification_of_another_size_is_filled_by_a_blit = "
        image base
        image half modifies=base size=32x32 root
        pass draw graphics: color base
        pass change graphics: color half
        before draw change";

    a_modification_of_another_size_with_mips_fills_mip_0 = "
        image base
        image half modifies=base size=32x32 mips=3 root
        image out root
        pass draw async_compute: storage_write base
        pass change graphics: color half generate_mips
        pass read async_compute: sampled half; storage_write out";

    a_scaled_modification_reads_the_last_write_though_declared_before_it = "
        image base
        image half modifies=base size=32x32
        image out root
        pass read graphics: sampled half; color out
        pass draw graphics: color base
        before draw read";

    a_scaled_modification_of_a_conditional_write_sees_what_is_there = "
        image base
        image half modifies=base size=32x32 root
        pass draw graphics: color base
        pass again graphics if=on: color base
        pass change async_compute: storage_write half";

    a_scaled_modification_of_an_imported_image = "
        image base imported layout=shader_read_only_optimal
        image half modifies=base size=16x16 root
        pass change graphics: color half";

    a_scaled_modification_of_layers = "
        image base layers=2
        image half modifies=base size=32x32 layers=2 root
        pass draw graphics: color base
        pass change graphics: color half layers=1..2";

    a_conditional_pass_that_clears_a_modifying_image_falls_back_to_what_it_modifies = "
        image base
        image over modifies=base
        image out root
        pass draw graphics: color base
        pass shade graphics if=on fallback=over:base: color over load=clear
        pass show graphics: sampled over; color out
        before draw shade
        before shade show";

    a_conditional_compute_pass_that_replaces_a_modifying_image_falls_back_to_what_it_modifies = "
        image base
        image over modifies=base
        image out root
        pass draw graphics: color base
        pass shade async_compute if=on fallback=over:base: storage_write over load=discard
        pass show graphics: sampled over; color out
        runs draw
        before shade show";

    a_conditional_modification_without_fallback_keeps_what_it_modifies = "
        image base
        image over modifies=base root
        pass draw graphics: color base
        pass shade graphics if=on: color over load=clear
        runs draw";

    a_conditional_writer_of_what_is_modified = "
        image base
        image over modifies=base root
        pass draw graphics: color base
        pass again async_compute if=on: storage_write base
        pass change graphics: color over
        before again change";

    a_modification_of_a_persistent_image_is_kept = "
        image base persistent
        image over modifies=base root
        pass read graphics effects: sampled base
        pass change graphics: color over
        before read change";

    a_modification_of_a_persistent_buffer_on_another_queue = "
        buffer base 256 persistent
        buffer over modifies=base root
        pass read compute effects: storage_read base
        pass change async_compute: storage_read_write over
        before read change";

    a_modification_of_an_imported_image_is_left_as_asked = "
        image base imported layout=present_src
        image over modifies=base root
        pass read graphics effects: sampled base
        pass change graphics: color over
        before read change";

    a_modified_image_that_is_a_root_is_refused = "
        image base root
        image over modifies=base root
        pass draw graphics: color base
        pass change graphics: color over
        refused RG-E210";

    a_history_of_a_modifying_image_remembers_the_last_name = "
        image base
        image over modifies=base
        image past history_of=over
        image out root
        pass draw graphics: color base
        pass change graphics: color over
        pass read graphics: sampled past; color out
        runs draw change";

    a_modification_replaces_one_layer_and_keeps_the_other = "
        image base layers=2
        image over modifies=base root
        pass draw graphics: color base
        pass change graphics: color over layers=0..1 load=clear
        runs draw";

    a_modification_of_one_aspect_keeps_the_other = "
        image base format=depth24plus-stencil8
        image over modifies=base root
        pass draw graphics: depth base load=clear stencil_load=clear clear=1/0
        pass mark graphics: depth over aspects=stencil
        before draw mark";

    a_modification_that_discards_everything_needs_no_writer_of_the_base = "
        image base
        image over modifies=base root
        pass draw graphics: color base
        pass replace graphics: color over load=clear
        culled draw";

    two_modifications_of_one_image_are_refused = "
        image base
        image one modifies=base root
        image two modifies=base root
        pass draw graphics: color base
        pass a graphics: color one
        pass b graphics: color two
        refused RG-E210";

    a_mip_that_a_scaled_copy_does_not_fill_holds_nothing = "
        image base size=64x64 mips=3
        image small size=16x16 mips=3 modifies=base root
        pass fill graphics: color base
        pass draw graphics: color small mips=1..2";
}
