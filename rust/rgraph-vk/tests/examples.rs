//! The examples of applications run.

use crate::support::bench;

#[path = "../../../examples/borrowed_device.rs"]
#[allow(dead_code, unused_attributes, reason = "its main is called here")]
mod borrowed_device;
#[path = "../../../examples/06_callback.rs"]
mod callback;
#[path = "../../../examples/04_check.rs"]
mod check;
#[path = "../../../examples/05_compute.rs"]
mod compute;
#[path = "../../../examples/03_history.rs"]
mod history;
#[path = "../../../examples/01_one_pass.rs"]
mod one_pass;
#[path = "../../../examples/own_device.rs"]
#[allow(dead_code, unused_attributes, reason = "its main is called here")]
mod own_device;
#[path = "../../../examples/raw_pass.rs"]
#[allow(dead_code, unused_attributes, reason = "its main is called here")]
mod raw_pass;
#[path = "../../../examples/several_gpus.rs"]
#[allow(dead_code, unused_attributes, reason = "its main is called here")]
mod several_gpus;
#[path = "../../../examples/02_two_queues.rs"]
mod two_queues;

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

#[test]
fn a_frame_on_several_devices() {
    if bench::device(1).is_some() {
        several_gpus::run().unwrap();
    }
}

#[test]
fn the_numbered_ones_that_plan() {
    one_pass::main().unwrap();
    two_queues::main().unwrap();
    history::main().unwrap();
    check::main().unwrap();
}

#[test]
fn the_numbered_ones_that_run() {
    if bench::device(1).is_some() {
        compute::main().unwrap();
        callback::main().unwrap();
        raw_pass::main().unwrap();
    }
}
