//! Any bytes are a graph file or a message; what can be baked is planned without a finding.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| rgraph_fuzz::plans::graph_file(bytes));
