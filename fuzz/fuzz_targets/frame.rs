//! Any bytes are a declaration and a device: the plan checks clean and computes what the declaration says.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| rgraph_fuzz::plans::frame(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let room = max_size.min(data.len());
    rgraph_fuzz::chunks::mutate(&mut data[..room], size, seed).unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});
