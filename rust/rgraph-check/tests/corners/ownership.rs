//! Exclusive resources that one family takes from another.

corners! {
    an_exclusive_image_that_another_family_replaces_is_as_if_it_were_new = "
        image a sharing=exclusive root
        pass first async_compute effects: storage_write a
        pass second compute: storage_write a load=discard
        exclusive a";

    an_exclusive_image_that_copies_of_two_families_replace = "
        image a sharing=exclusive
        image b
        image end root
        pass draw graphics: color b
        pass first transfer effects: src b; dst a
        pass second async_compute: src b; dst a load=discard
        pass third graphics: src a; dst end
        exclusive a";

    an_exclusive_image_that_lives_on_and_another_family_replaces = "
        image a sharing=exclusive persistent root
        pass first async_compute effects: storage_write a
        pass second compute: storage_write a load=discard
        exclusive a";

    an_exclusive_buffer_that_another_family_replaces_needs_no_barrier_of_its_own = "
        buffer a 256 sharing=exclusive root
        pass first async_compute effects: storage_write a
        pass second compute: storage_write a load=discard
        exclusive a";
}
