//! Any bytes are a plan file or a message; what can be read can be listed and written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rgraph_plan::file::plan::{read_plan, write_plan};

fuzz_target!(|bytes: &[u8]| {
    let Ok(plan) = read_plan(bytes, "fuzz") else { return };
    assert!(!rgraph_plan::report::listing(&plan).is_empty());
    assert!(read_plan(write_plan(&plan).as_bytes(), "again").is_ok());
});
