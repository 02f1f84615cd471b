//! Graph files that were once planned wrong, as they were found.

use rgraph_files::{read_graph, read_profile};
use rgraph_plan::profile::Profile;

fn assert_file(graph: &str, profile: Option<&str>) {
    let graph = read_graph(graph.as_bytes(), "graph").expect("the file is right");
    let own = profile.map(|text| read_profile(text.as_bytes(), "profile").expect("the file is right"));
    let profiles =
        own.map_or_else(|| vec![Profile::minimal(), Profile::discrete()], |own| vec![own, Profile::discrete()]);
    let wrong = crate::support::corner::wrong(&graph, &profiles, &[]);
    assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
}

macro_rules! files {
    ($($(#[$meta:meta])* $name:ident = $file:literal $(with $profile:literal)?;)+) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            let profile: Option<&str> = [$(include_str!(concat!("../graphs/", $profile, ".rprofile.json")))?].first().copied();
            assert_file(include_str!(concat!("../graphs/", $file, ".rgraph.json")), profile);
        }
    )+};
}

files! {
    an_input_attachment_of_an_image_with_three_mips_names_the_layout_of_mip_0 = "input_attachment_mips";
    a_forward_reader_of_generated_mips_runs_after_the_blits = "forward_generate_mips";
    an_unordered_write_after_a_storage_write_is_read_by_the_host = "unordered_write_read_by_host";
    members_of_a_group_follow_what_had_their_bytes_in_the_run_before = "group_in_bytes_of_others" with "group_in_bytes_of_others";
    members_of_a_group_follow_what_another_queue_did_in_their_bytes = "group_after_a_transfer" with "group_after_a_transfer";
    a_subpass_that_draws_again_depends_on_the_one_before = "subpass_draws_again";
    an_unordered_read_write_and_the_unordered_write_before_it = "unordered_read_write_first";
    two_histories_of_one_image_leave_one_exit_state = "two_histories" with "two_histories";
    two_histories_of_one_buffer_on_two_queues_leave_one_exit_state = "two_histories_across_queues" with "two_histories_across_queues";
}
