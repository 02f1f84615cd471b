//! What tests do on machines without a Vulkan device.

/// What was found, or nothing, with the reason printed: the test skips. With `RGRAPH_REQUIRE_DEVICE=1` it fails.
pub fn demand<T>(found: Result<T, String>) -> Option<T> {
    let required = std::env::var_os("RGRAPH_REQUIRE_DEVICE").is_some_and(|value| value != "0" && !value.is_empty());
    match found {
        Ok(found) => Some(found),
        Err(reason) if required => panic!("RGRAPH_REQUIRE_DEVICE is set, and there is no Vulkan device: {reason}"),
        Err(reason) => {
            eprintln!("skipped: there is no Vulkan device: {reason}");
            None
        }
    }
}
