//! What foreign code says of a resource's state: whatever can be checked is.

use rgraph_plan::access::{Layout, PassQueue, Stages, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::id::Id;
use rgraph_vk::{DeviceQueueId, Error, Inputs, Point, ResourceState, Upload};

use crate::support::bench::{Bench, device, using};

/// Says a state of a resource that no foreign code uses.
fn say(resource: &rgraph_vk::DeviceResource, state: &ResourceState) -> Result<(), Error> {
    // SAFETY: the layouts that get through are "undefined" and those that the images are in.
    unsafe { resource.set_state(state) }
}

fn points(points: &[Point]) -> ResourceState {
    ResourceState { points: points.to_vec(), ..ResourceState::default() }
}

#[test]
fn points_that_were_never_submitted_are_refused() {
    let Some(device) = device(2) else { return };
    let buffer = device.0.buffer("x", 256).unwrap();
    buffer.write(&[3; 256]).unwrap();
    let missing = say(&buffer, &points(&[Point { queue: DeviceQueueId::new(9), value: 1 }])).unwrap_err().to_string();
    assert!(missing.starts_with("RG-E225 \"x\" was left on queue 9, and the device has "), "{missing}");
    let early =
        say(&buffer, &points(&[Point { queue: DeviceQueueId::FIRST, value: 1 << 40 }])).unwrap_err().to_string();
    assert!(
        early.starts_with("RG-E225 \"x\" waits for value 1099511627776 of queue 0, which has submitted "),
        "{early}"
    );
    say(&buffer, &points(&buffer.state().points)).unwrap();
    // A pass on the host waits for all points before it begins.
    let mut b = Bench::new([8, 8]);
    let x = b.import_buffer("x", 256);
    b.pass("host", PassQueue::Cpu, &[(x, using(Usage::HostWrite))]);
    let compiled = b.compile(&device.0);
    compiled.run(&Inputs { uploads: vec![(x, Upload::Resource(&buffer))], ..Inputs::default() }).unwrap();
    assert_eq!(buffer.read().unwrap().bytes(), [3; 256]);
}

#[test]
fn an_own_image_takes_no_layout_but_its_own() {
    let Some(device) = device(2) else { return };
    let image = device.0.image("i", Format::Rgba8unorm, [4, 4], 1, 1).unwrap();
    let attachment = ResourceState { layout: Layout::ColorAttachment, ..ResourceState::default() };
    let refused = say(&image, &attachment).unwrap_err().to_string();
    assert!(
        refused.starts_with("RG-E225 \"i\" is in layout undefined, but no other program can have used it"),
        "{refused}"
    );
    image.write(&[7; 64]).unwrap();
    say(&image, &image.state()).unwrap();
    assert_eq!(image.read().unwrap().bytes(), [7; 64]);
    say(&image, &ResourceState::default()).unwrap();
    assert_eq!(image.state().layout, Layout::Undefined);
    image.write(&[8; 64]).unwrap();
    assert_eq!(image.read().unwrap().bytes(), [8; 64]);
}

/// An empty state forgets nothing that rgraph itself submitted.
#[test]
fn a_state_that_is_said_keeps_the_points_of_runs() {
    let Some(device) = device(2) else { return };
    let buffer = device.0.buffer("x", 256).unwrap();
    buffer.write(&[3; 256]).unwrap();
    // A write to memory that the host shares is none of a queue's; a copy out of it is.
    buffer.read().unwrap();
    let before = buffer.state().points;
    assert!(!before.is_empty());
    say(&buffer, &ResourceState::default()).unwrap();
    assert_eq!(buffer.state().points, before);
    say(
        &buffer,
        &ResourceState { queue: Some(DeviceQueueId::FIRST), stages: Stages::COPY, ..ResourceState::default() },
    )
    .unwrap();
    let after = buffer.state().points;
    assert!(after.len() == before.len() && after[0].value > before[0].value, "{before:?}, then {after:?}");
}
