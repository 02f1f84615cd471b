//! Any seed makes a graph and a device; the plan of the one for the other is without a finding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rgraph_check::generate::{Limits, generate};
use rgraph_plan::prelude::*;

fuzz_target!(|seed: u64| {
    let (graph, profile) = generate(seed, Limits::default());
    let plan = bake(&graph, &profile, &Options::default(), &mut Scratch::default()).expect("generated graphs are good");
    assert_eq!(rgraph_check::check(&graph, &plan), []);
});
