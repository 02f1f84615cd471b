//! Semaphores and fences that a run is given: they live until it is submitted, each run has its own, and none is lost.
#![forbid(unsafe_code)]

use std::time::Duration;

use rgraph_plan::access::PassQueue;
use rgraph_vk::work::Groups;
use rgraph_vk::{Code, Compiled, Error, Frame, Inputs};

use crate::support::bench::{self, Bench, Silent, device};

const FILL: &str = "
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { if id.x < 64u { dst[id.x] = id.x; } }";

fn filling(device: &Silent) -> Compiled {
    let mut b = Bench::new([8, 8]);
    let dst = b.graph().buffer("dst", 256);
    b.graph().root(dst);
    b.compute("fill", PassQueue::Compute, FILL, Groups::Fixed([1, 1, 1]), &[("dst", bench::whole(dst))]);
    b.compile(&device.0)
}

fn bare<'a>() -> Inputs<'a> {
    Inputs { read: Some(Vec::new()), ..Inputs::default() }
}

#[track_caller]
fn refused(result: Result<Frame, Error>, code: Code, message: &str) {
    let error = result.expect_err(message).to_string();
    assert!(error.starts_with(&format!("{code} ")) && error.contains(message), "{error}");
}

/// What a run can be given of a device, and what keeps it.
fn everything(device: &Silent) -> Vec<(Inputs<'static>, Box<dyn std::any::Any>)> {
    let (timeline, other) = (device.0.semaphore(7).unwrap(), device.0.semaphore(0).unwrap());
    let (binary, fence) = (device.0.binary_semaphore(None).unwrap(), device.0.fence().unwrap());
    vec![
        (Inputs { waits: vec![timeline.reaches(7)], ..bare() }, Box::new(timeline)),
        (Inputs { signals: vec![other.promised(1).unwrap()], ..bare() }, Box::new(other)),
        (Inputs { signals: vec![binary.promised().unwrap()], ..bare() }, Box::new(binary)),
        (Inputs { fence: Some(fence.promised().unwrap()), ..bare() }, Box::new(fence)),
    ]
}

#[test]
fn what_is_gone_before_the_run_is_refused() {
    let Some(device) = device(2) else { return };
    let compiled = filling(&device);
    for (inputs, object) in everything(&device) {
        drop(object);
        // Others may have its handle by now.
        let others = everything(&device);
        refused(compiled.run(&inputs), Code::BadInput, "that is gone");
        drop(others);
    }
    let binary = device.0.binary_semaphore(None).unwrap();
    compiled.run(&Inputs { signals: vec![binary.promised().unwrap()], ..bare() }).unwrap();
    let inputs = Inputs { waits: vec![binary.reached().unwrap()], ..bare() };
    drop(binary);
    refused(compiled.run(&inputs), Code::BadInput, "a semaphore that is gone");
    assert!(compiled.run(&bare()).unwrap().wait(None).unwrap());
}

#[test]
fn what_is_of_another_device_is_refused_and_can_be_given_back() {
    let (Some(device), Some(other)) = (device(2), device(2)) else { return };
    let (compiled, its) = (filling(&device), filling(&other));
    for (inputs, object) in everything(&other) {
        refused(compiled.run(&inputs), Code::Foreign, "of another device");
        // It is still what it was: the run of its own device may have it.
        assert!(its.run(&inputs).unwrap().wait(None).unwrap());
        drop(object);
    }
    assert!(compiled.run(&bare()).unwrap().wait(None).unwrap());
}

#[test]
fn each_run_is_given_its_own() {
    let Some(device) = device(2) else { return };
    let compiled = filling(&device);
    for (at, (inputs, object)) in everything(&device).into_iter().enumerate() {
        let first = compiled.run(&inputs).unwrap();
        match at {
            // A timeline that has a value is waited for as often as one likes.
            0 => assert!(compiled.run(&inputs).unwrap().wait(None).unwrap()),
            _ => refused(compiled.run(&inputs), Code::BadInput, "that another run was given"),
        }
        assert!(first.wait(None).unwrap());
        drop(object);
    }
    let timeline = device.0.semaphore(0).unwrap();
    let inputs = Inputs { signals: vec![timeline.promised(1).unwrap()], ..bare() };
    device.0.withdraw(&inputs);
    refused(compiled.run(&inputs), Code::BadInput, "or that was withdrawn");
    // A refused run gives back what else it was given.
    let fence = device.0.fence().unwrap();
    let twice = Inputs { fence: Some(fence.promised().unwrap()), ..inputs };
    refused(compiled.run(&twice), Code::BadInput, "or that was withdrawn");
    let signals = vec![timeline.promised(1).unwrap()];
    let frame = compiled.run(&Inputs { signals, fence: Some(fence.promised().unwrap()), ..bare() }).unwrap();
    assert!(frame.wait(None).unwrap());
}

#[test]
fn a_frame_that_is_done_has_signalled_and_what_it_signalled_may_go() {
    let Some(device) = device(2) else { return };
    let compiled = filling(&device);
    for round in 0..500 {
        let (timeline, fence) = (device.0.semaphore(0).unwrap(), device.0.fence().unwrap());
        let binary = device.0.binary_semaphore(None).unwrap();
        let signals = vec![timeline.promised(1).unwrap(), binary.promised().unwrap()];
        let fence_of_run = (round % 2 == 0).then(|| fence.promised().unwrap());
        let frame = compiled.run(&Inputs { signals, fence: fence_of_run, ..bare() }).unwrap();
        assert!(frame.wait(Some(Duration::from_secs(30))).unwrap());
        assert_eq!(timeline.value().unwrap(), 1, "round {round}");
    }
}
