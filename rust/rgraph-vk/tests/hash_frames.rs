//! Generated graphs run on a driver and compute what their declarations say. `RGRAPH_HASH_GRAPHS`, `RGRAPH_HASH_SEED`
//! and `RGRAPH_HASH_RUNS` make it longer.

use rgraph_plan::access::{MemoryDomain, Usage};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::profile::Profile;
use rgraph_vk::{DeviceOptions, devices};

use crate::support::demand;
use crate::support::hash::adapt::adapt;
use crate::support::hash::coverage::REQUIRED;
use crate::support::hash::{self, Settings};

#[test]
fn generated_graphs_compute_what_they_declare() {
    let found = devices(&DeviceOptions::default()).map_err(|error| error.to_string());
    let found = found.and_then(|list| if list.is_empty() { Err("none is there".to_owned()) } else { Ok(list) });
    if demand::demand(found).is_none() {
        return;
    }
    let settings = Settings::read(200, &[]);
    // The newer layer loses sight of events when a command buffer is submitted: with them only values count there.
    let newer = std::env::var_os("VK_LAYER_VALIDATE_SYNC").is_some();
    let rounds = if newer { vec![(0, true), (1, false)] } else { vec![(settings.events, true)] };
    for (events, messages) in rounds {
        let report = hash::run(Settings { events, messages: settings.messages && messages, ..settings }).unwrap();
        println!("{report}");
        assert!(report.failures.is_empty(), "{report}");
        // Fewer graphs need not reach everything. Without events there are none.
        let mut missing = report.coverage.missing(&REQUIRED);
        missing.retain(|kind| events > 0 || !kind.starts_with("event"));
        assert!(settings.graphs < 1000 || missing.is_empty(), "no frame has {missing:?}: {report}");
    }
}

#[test]
fn mips_that_fall_together_in_smaller_images_and_clears_of_parts_beside_copies_can_run() {
    let found = devices(&DeviceOptions::default()).map_err(|error| error.to_string());
    if demand::demand(found).is_none_or(|list| list.is_empty()) {
        return;
    }
    for seed in [8_400_146, 7_300_263, 7_700_197, 9_900_093, 20_600_175] {
        let settings = Settings { seed, graphs: 1, runs: 2, messages: false, newer: false, ..Settings::read(1, &[]) };
        let report = hash::run(settings).unwrap();
        assert!(report.failures.is_empty() && report.words > 0, "{report}");
    }
}

/// Layer 1.4.364 has a message for each: writes after writes between which a read was declared and not done, or whose
/// pass was off; images that a plan for three families leaves to another one, on a device with one; and two subpasses
/// that use an attachment in the layout to which the first of them changes it (1616, 930, 50332).
#[test]
fn layers_follow_what_orders_one_write_after_another() {
    let found = devices(&DeviceOptions::default()).map_err(|error| error.to_string());
    if demand::demand(found).is_none_or(|list| list.is_empty()) {
        return;
    }
    for seed in [2002, 2022, 2029, 2055, 2457, 2631, 2664, 2868, 2929, 1616, 930, 50332] {
        let settings = Settings { seed, graphs: 1, messages: true, newer: false, events: 0, ..Settings::read(1, &[]) };
        let report = hash::run(settings).unwrap();
        assert!(report.failures.is_empty() && report.words > 0, "{report}");
    }
}

/// Layer 1.4.364 has a message for each: images left to be presented by a device without swapchains, images left to be
/// read that nobody samples, and clears in the place of loads.
#[test]
fn images_are_in_layouts_that_they_and_their_device_are_made_for() {
    let found = devices(&DeviceOptions::default()).map_err(|error| error.to_string());
    if demand::demand(found).is_none_or(|list| list.is_empty()) {
        return;
    }
    for seed in [910_035, 910_048] {
        let settings =
            Settings { seed, graphs: 1, runs: 2, messages: true, newer: true, events: 0, ..Settings::read(1, &[]) };
        let report = hash::run(settings).unwrap();
        assert!(report.failures.is_empty() && report.words > 0, "{report}");
    }
}

/// Mips that fall together in smaller images where one is read and the other written, and memory of the device that
/// passes of the host use.
#[test]
fn frames_declare_nothing_that_a_device_refuses() {
    let mut scratch = Scratch::default();
    let newer = [7_003_053, 7_006_137, 7_130_092, 7_130_240, 7_130_344, 7_160_030, 7_160_303, 7_220_336, 7_220_397];
    for (seed, newer) in newer.map(|seed| (seed, true)).into_iter().chain([(7_170_434, false)]) {
        let graph = adapt(seed, hash::limits(newer), false).graph;
        let refused = bake(&graph, &Profile::discrete(), &Options::default(), &mut scratch).err();
        assert!(refused.is_none(), "{seed}: {}", refused.unwrap());
        for access in graph.accesses().iter().filter(|one| matches!(one.usage, Usage::HostRead | Usage::HostWrite)) {
            let domain = graph.resources()[access.resource].memory_domain;
            assert_ne!(domain, Some(MemoryDomain::Device), "{seed}: {}", graph.resource_name(access.resource));
        }
    }
}
