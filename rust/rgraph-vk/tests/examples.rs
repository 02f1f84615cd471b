//! The examples of applications run.

#[path = "support/bench.rs"]
mod bench;

#[path = "../../../examples/borrowed_device.rs"]
#[allow(dead_code, unused_attributes, reason = "its main is called here")]
mod borrowed_device;
#[path = "../../../examples/own_device.rs"]
#[allow(dead_code, unused_attributes, reason = "its main is called here")]
mod own_device;

#[test]
fn a_device_of_rgraphs() {
    if bench::device(1).is_some() {
        own_device::run().unwrap();
    }
}

#[test]
fn a_device_of_the_applications() {
    if bench::device(1).is_some() {
        borrowed_device::run().unwrap();
    }
}
