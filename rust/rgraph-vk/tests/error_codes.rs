//! Error codes that only a failing driver causes: the messages are those of the page of error codes.

use std::time::Duration;

use ash::vk;
use rgraph_plan::bake::Options;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::{Code, Compiled, Device, DeviceError, DeviceOptions, EntryTable, Error, Inputs, Upload};

use crate::support::demand::demand;
use crate::support::example::{example, photo};
use crate::support::fault::{Faults, SmallWorld};

/// The page.
const PAGE: &str = include_str!("../../../python/rgraph/errors.md");

/// What the page shows of a code.
fn shown(code: &str) -> &'static str {
    let entry = PAGE.find(&format!("\n## {code}: ")).map(|start| &PAGE[start..]).expect("the page has the code");
    let text = entry.split_once("```text\n").expect("it shows a message").1;
    text.split_once("\n```").expect("which ends").0
}

/// Whether a message is what the page shows, where `…` is anything.
fn matches(shown: &str, message: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = message.strip_prefix(first) else { return false };
    let mut last = first;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        (rest, last) = (&rest[at + part.len()..], part);
    }
    rest.is_empty() || message.ends_with(last) && shown.contains('…')
}

fn open(faults: &Faults) -> Result<Device, Error> {
    Device::new(&DeviceOptions { entry: Some(EntryTable(faults.entry())), ..DeviceOptions::default() })
}

/// The table, where there is a device.
fn table() -> Option<Faults> {
    let found =
        Faults::new().and_then(|table| open(&table).map(drop).map(|()| table).map_err(|error| error.to_string()));
    demand(found)
}

/// Compiles and runs the example, once.
fn frame(device: &Device) -> Result<Compiled, Error> {
    let example = example();
    let compiled = device.compile(example.workload, &Options::default())?;
    run(&compiled, example.photo).map(|()| compiled)
}

fn run(compiled: &Compiled, input: ResourceId) -> Result<(), Error> {
    let texels = photo([1, 2, 3, 255]);
    let frame = compiled.run(&Inputs { uploads: vec![(input, Upload::Bytes(&texels))], ..Inputs::default() })?;
    assert!(frame.wait(Some(Duration::from_secs(20)))?, "the frame never ends");
    Ok(())
}

fn device_error(error: Error) -> DeviceError {
    match error {
        Error::Device(error) => *error,
        other => panic!("not an error of the device: {other}"),
    }
}

/// The device's error is of that code, and says what the page shows.
fn demand_shown(error: &DeviceError, code: Code) {
    assert_eq!(error.code, code);
    let (shown, message) = (shown(code.text()), error.to_string());
    assert!(matches(shown, &message), "the page shows\n{shown}\nand the message is\n{message}");
    assert_eq!(error.help.is_empty(), !shown.contains("\n  help: "));
    assert!(shown.ends_with(&error.help));
}

#[test]
fn too_little_memory_says_who_holds_what_rg_e110() {
    let Some(faults) = table() else { return };
    faults.shrink(SmallWorld { heap: Some(4096), ..SmallWorld::default() });
    let device = open(&faults).expect("a device needs little memory");
    let error = device_error(device.buffer("scratch", 1 << 20).map(drop).expect_err("4 KiB are not enough"));
    demand_shown(&error, Code::NoMemory);
    assert_eq!(error.resource.as_deref(), Some("scratch"));
    assert!(!error.notes.is_empty());
}

#[test]
fn a_lost_device_says_so_and_refuses_from_then_on_rg_e120() {
    let Some(faults) = table() else { return };
    let device = open(&faults).expect("opens");
    let compiled = frame(&device).expect("runs");
    faults.fail_call("vkQueueSubmit2", 1, vk::Result::ERROR_DEVICE_LOST);
    demand_shown(&device_error(run(&compiled, example().photo).expect_err("it is lost")), Code::Lost);
    let later = device_error(run(&compiled, example().photo).expect_err("it stays lost"));
    assert_eq!(
        later.to_string(),
        "RG-E120 vkQueueSubmit2 returned ERROR_DEVICE_LOST: the device was lost in an earlier call\n  help: close the device and open it again"
    );
    assert_eq!(device_error(device.check().expect_err("it stays lost")).code, Code::Lost);
}

#[test]
fn a_call_that_fails_is_named_rg_e121() {
    let Some(faults) = table() else { return };
    let device = open(&faults).expect("opens");
    let compiled = frame(&device).expect("runs");
    faults.fail_call("vkQueueSubmit2", 1, vk::Result::ERROR_UNKNOWN);
    let error = device_error(run(&compiled, example().photo).expect_err("the call fails"));
    demand_shown(&error, Code::Failed);
    assert_eq!((error.call, error.result), (Some("vkQueueSubmit2"), Some(vk::Result::ERROR_UNKNOWN)));
    run(&compiled, example().photo).expect("the device is as it was");
}

#[test]
fn the_page_is_compared_word_by_word() {
    assert!(matches("a … c … e", "a b c d e"));
    assert!(matches("a …", "a b c"));
    assert!(matches("same", "same"));
    for message in ["a b c d", "b c d e", "a b d e", ""] {
        assert!(!matches("a … c … e", message), "{message}");
    }
    assert!(!matches("same", "same as"));
}
