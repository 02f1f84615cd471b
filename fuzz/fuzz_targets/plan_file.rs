//! Any bytes are a plan file or a message; what can be read can be listed, written, checked and followed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| rgraph_fuzz::plans::plan_file(bytes));
