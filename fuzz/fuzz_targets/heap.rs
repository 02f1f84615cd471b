//! Any bytes are calls of the offset allocator.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| rgraph_fuzz::heap::heap(bytes));
