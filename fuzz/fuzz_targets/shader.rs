//! Any bytes are a shader or a message.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| rgraph_fuzz::shaders::shader(bytes));
