//! Every fallible Vulkan call of an example frame fails once, with each of three errors: the error arrives with the
//! call's name, nothing panics or hangs, the device stays usable unless it is lost, and nothing stays alive.

use std::collections::BTreeMap;
use std::time::Duration;

use ash::vk;
use rgraph_plan::bake::Options;
use rgraph_vk::work::CallbackError;
use rgraph_vk::{
    Code, Compiled, Device, DeviceOptions, EntryTable, Error, Frame, Inputs, Measure, SharedPlace, Upload,
};

use crate::support::demand::demand;
use crate::support::example::{Example, SIDE, example, photo};
use crate::support::fault::{Faults, SmallWorld};

/// Longest that a frame may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Calls whose failure takes nothing from anybody: names for debuggers, the pipeline cache; and those after which
/// memory is had in another way (smaller, on its own, of another kind).
const HARMLESS: [&str; 5] = [
    "vkSetDebugUtilsObjectNameEXT",
    "vkGetPipelineCacheData",
    "vkMergePipelineCaches",
    "vkAllocateMemory",
    "vkMapMemory",
];

/// One life of a device, in which a call may fail.
struct Life<'a> {
    faults: &'a Faults,
    /// What failed, first of all.
    error: Option<Error>,
    /// Whether nothing failed until the device was closed: its loss can no longer be reported.
    closing: bool,
    /// Whether nothing failed until all was dropped: nothing can be reported.
    dropping: bool,
}

impl<'a> Life<'a> {
    fn new(faults: &'a Faults) -> Self {
        Self { faults, error: None, closing: false, dropping: false }
    }
}

impl Life<'_> {
    /// Does something, and does it again if it failed: the device is as it was, unless it is lost.
    fn again<T>(&mut self, what: &str, mut job: impl FnMut() -> Result<T, Error>) -> Option<T> {
        match job() {
            Ok(value) => Some(value),
            Err(error) if self.error.is_some() || self.faults.fired().is_none() => {
                panic!("{what} failed after {:?} failed ({:?}): {error}", self.faults.fired(), self.error)
            }
            Err(error) => {
                let lost = error.is_lost();
                self.error = Some(error);
                if lost { None } else { self.again(what, job) }
            }
        }
    }

    fn frame(&mut self, example: &Example, compiled: &Compiled, color: [u8; 4]) -> Option<()> {
        let texels = photo(color);
        let run = || {
            let uploads = vec![(example.photo, Upload::Bytes(&texels))];
            let frame = compiled.run(&Inputs { uploads, measure: Measure::Passes, ..Inputs::default() })?;
            finish(&frame)
        };
        let frame = self.again("a frame", run)?;
        let pixels = self.again("reading", || frame.read(example.pixels))?;
        let (picture, rest) = pixels.bytes().split_at((SIDE * SIDE * 4) as usize);
        assert_eq!(picture, texels, "after {:?}", self.faults.fired());
        assert!(rest.chunks(4).all(|word| word == [5, 6, 7, 8]), "after {:?}", self.faults.fired());
        let out = self.again("reading", || frame.read(example.out))?;
        assert_eq!(out.bytes(), texels, "after {:?}", self.faults.fired());
        let tally = self.again("reading", || frame.read(example.tally))?;
        // Three frames, and one whose wait failed; a frame that failed before it ran starts again.
        assert!((1..=4).contains(&tally.bytes()[0]), "after {:?}", self.faults.fired());
        self.again("reading", || frame.report())?;
        Some(())
    }

    /// Opens, compiles, runs three frames, closes. `None`: it ended early, with the device lost.
    fn live(&mut self, example: &Example) -> Option<()> {
        let options = options(self.faults);
        let device = self.again("opening", || Device::new(&options))?;
        let outcome = self.work(example, &device);
        assert_eq!(device.messages(), Vec::<String>::new(), "after {:?}", self.faults.fired());
        self.closing = self.faults.fired().is_none();
        let closed = device.close();
        if outcome.is_some() && self.error.is_none() && self.faults.fired().is_some() {
            self.error = closed.err();
        } else {
            closed.expect("closing a device that had its failure before");
        }
        self.dropping = self.faults.fired().is_none();
        outcome
    }

    fn work(&mut self, example: &Example, device: &Device) -> Option<()> {
        let compiled = self.again("compiling", || device.compile(example.workload.clone(), &Options::default()))?;
        // Colours never get darker: the history keeps the brightest.
        for color in [[10, 20, 30, 255], [10, 20, 30, 255], [40, 50, 60, 255]] {
            self.frame(example, &compiled, color)?;
        }
        self.again("waiting", || device.wait_idle())
    }
}

fn finish(frame: &Frame) -> Result<Frame, Error> {
    assert!(frame.wait(Some(PATIENCE))?, "the frame never ends");
    Ok(frame.clone())
}

fn options(faults: &Faults) -> DeviceOptions {
    DeviceOptions { entry: Some(EntryTable(faults.entry())), ..DeviceOptions::default() }
}

/// The table, where there is a device.
fn table() -> Option<Faults> {
    let found = Faults::new().and_then(|table| {
        let opened = Device::new(&options(&table)).map(drop);
        opened.map(|()| table).map_err(|error| error.to_string())
    });
    demand(found)
}

/// Fails every call that may give `error`, one a life. Returns how many there were.
fn fail_each(error: vk::Result) -> Option<u64> {
    let faults = table()?;
    let example = example();
    let mut swallowed = BTreeMap::new();
    for k in 1.. {
        faults.fail(k, error);
        let mut life = Life::new(&faults);
        life.live(&example);
        let fired = faults.fired();
        assert_eq!(faults.imbalance(), None, "{error:?} at call {k}, {fired:?}");
        match (fired, life.error) {
            (None, None) => {
                println!("{error:?}: {} calls; without consequence: {swallowed:?}", k - 1);
                return Some(k - 1);
            }
            (None, Some(error)) => panic!("nothing was made to fail, and yet: {error}"),
            (Some(call), Some(Error::Device(fault))) => {
                assert_eq!((fault.call, fault.result), (Some(call), Some(error)), "call {k}: {fault}");
            }
            (Some(call), Some(other)) => panic!("{call} failed with {error:?}, and what arrived is: {other}"),
            (Some(call), None) => {
                let over = life.dropping || life.closing && error == vk::Result::ERROR_DEVICE_LOST;
                assert!(over || HARMLESS.contains(&call), "{call} failed with {error:?} and nothing reports it");
                *swallowed.entry(call).or_insert(0) += 1;
            }
        }
    }
    None
}

#[test]
fn every_call_runs_out_of_device_memory_once() {
    if let Some(calls) = fail_each(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY) {
        assert!(calls > 50, "{calls}");
    }
}

#[test]
fn every_call_runs_out_of_host_memory_once() {
    if let Some(calls) = fail_each(vk::Result::ERROR_OUT_OF_HOST_MEMORY) {
        assert!(calls > 50, "{calls}");
    }
}

#[test]
fn every_call_loses_the_device_once() {
    if let Some(calls) = fail_each(vk::Result::ERROR_DEVICE_LOST) {
        assert!(calls > 5, "{calls}");
    }
}

#[test]
fn while_a_timeline_stands_still_every_wait_ends_in_time_or_by_the_caller_and_frames_end_once_it_goes_on() {
    let Some(faults) = table() else { return };
    let example = example();
    let device = Device::new(&options(&faults)).expect("a device");
    let compiled = device.compile(example.workload.clone(), &Options::default()).expect("compiles");
    let mut life = Life::new(&faults);
    life.frame(&example, &compiled, [1, 2, 3, 255]).expect("a frame");
    faults.stop_timelines(true);
    let texels = photo([9, 9, 9, 255]);
    let give_up = || -> Result<(), CallbackError> { Err("the caller has waited enough".into()) };
    let mut under_way = Vec::new();
    let refused = loop {
        let uploads = vec![(example.photo, Upload::Bytes(&texels))];
        match compiled.run(&Inputs { uploads, poll: Some(&give_up), ..Inputs::default() }) {
            Ok(frame) => under_way.push(frame),
            Err(error) => break error.to_string(),
        }
        // A run waits for an older one as soon as all frame contexts are taken.
        assert!(under_way.len() <= device.frames_in_flight(), "no run waits for another");
    };
    assert!(refused.contains("the caller has waited enough"), "{refused}");
    for frame in &under_way {
        assert!(!frame.is_done().expect("nothing fails"));
        assert!(!frame.wait(Some(Duration::from_millis(20))).expect("nothing fails"));
    }
    assert!(!device.is_idle_within(Duration::from_millis(20)).expect("nothing fails"));
    faults.stop_timelines(false);
    for frame in under_way {
        finish(&frame).expect("it was only late");
    }
    life.frame(&example, &compiled, [10, 20, 30, 255]).expect("the device is as it was");
    drop((compiled, device));
    assert_eq!(faults.imbalance(), None);
}

#[test]
fn a_run_that_fails_half_way_gives_back_what_it_did_not_submit() {
    let Some(faults) = table() else { return };
    let example = example();
    let device = Device::new(&options(&faults)).expect("a device");
    let compiled = device.compile(example.workload.clone(), &Options::default()).expect("compiles");
    let texels = photo([1, 2, 3, 255]);
    let (mut half_way, mut signalled) = (0, 0);
    for k in 1.. {
        let (fence, timeline) = (device.fence().expect("a fence"), device.semaphore(0).expect("a semaphore"));
        let (before, after) = (device.binary_semaphore(None).unwrap(), device.binary_semaphore(None).unwrap());
        let run = |waits, signals| {
            let uploads = vec![(example.photo, Upload::Bytes(&texels))];
            let fence = Some(fence.promised()?);
            let frame = compiled.run(&Inputs { uploads, waits, signals, fence, ..Inputs::default() })?;
            finish(&frame)
        };
        run(vec![], vec![before.promised().unwrap()]).expect("the signal that the next run waits for");
        faults.fail_call("vkQueueSubmit2", k, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
        let failed = run(
            vec![before.reached().expect("signalled")],
            vec![timeline.promised(1).expect("unused"), after.promised().expect("unused")],
        );
        faults.disarm();
        if failed.is_ok() {
            break;
        }
        device.wait_idle().expect("what was submitted ends");
        // The fence is signalled behind everything, so the run that failed never did. It is as the first run left it,
        // or without a signal where its own submit failed.
        assert!(!fence.is_given() || fence.is_signalled().expect("a fence"), "submit {k}");
        assert!(fence.is_given() || k > 1, "no submit of the run was tried behind the first");
        let waited = before.reached().is_err();
        let done = timeline.value().expect("a value") == 1;
        assert_eq!(after.reached().is_ok(), done, "submit {k}: both are signalled by one submit");
        half_way += u32::from(waited);
        signalled += u32::from(done);
        let signals = if done { vec![] } else { vec![timeline.promised(1).expect("given back")] };
        run(vec![], signals).expect("the device is as it was");
        assert_eq!(timeline.value().expect("a value"), 1);
    }
    assert!(half_way >= 2 && signalled >= 1, "the run submits in several calls: {half_way}, {signalled}");
    let fresh = device.fence().expect("a fence");
    faults.fail_call("vkQueueSubmit2", 1, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    let uploads = vec![(example.photo, Upload::Bytes(&texels))];
    let fence = Some(fresh.promised().expect("no run has it"));
    compiled.run(&Inputs { uploads, fence, ..Inputs::default() }).map(drop).expect_err("the submit fails");
    faults.disarm();
    assert!(!fresh.is_given(), "no run ever had it");
    drop((fresh, compiled, device));
    assert_eq!(faults.imbalance(), None);
}

#[test]
fn an_unchanged_frame_is_submitted_again_without_recording() {
    let Some(faults) = table() else { return };
    let example = example();
    let device = Device::new(&options(&faults)).expect("a device");
    let compiled = device.compile(example.workload.clone(), &Options::default()).expect("compiles");
    let mut life = Life::new(&faults);
    life.frame(&example, &compiled, [1, 2, 3, 255]);
    let run = || {
        let frame = compiled.run(&Inputs { read: Some(Vec::new()), ..Inputs::default() })?;
        finish(&frame)
    };
    for _ in 0..8 {
        run().expect("runs");
    }
    faults.take_names();
    let frame = run().expect("runs");
    let names = faults.take_names();
    assert!(!frame.report().expect("a report").recorded);
    let count = |wanted: &str| names.iter().filter(|name| **name == wanted).count();
    // One for what the frame before left: its entry barriers.
    assert!(count("vkBeginCommandBuffer") <= 1, "{names:?}");
    assert_eq!(count("vkQueueSubmit2"), 1, "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("vkCreate") || name.starts_with("vkAllocate")), "{names:?}");
}

#[test]
fn a_small_world_is_enough_or_says_what_it_lacks() {
    let Some(faults) = table() else { return };
    let example = example();
    let worlds = [
        SmallWorld { granularity: Some(65536), ..SmallWorld::default() },
        SmallWorld { timeless: true, ..SmallWorld::default() },
        SmallWorld { heap: Some(64 << 20), ..SmallWorld::default() },
        SmallWorld { allocations: Some(4), ..SmallWorld::default() },
    ];
    for world in worlds {
        faults.shrink(world);
        Life::new(&faults).live(&example);
        assert_eq!(faults.imbalance(), None, "{world:?}");
    }
    faults.shrink(SmallWorld { heap: Some(4096), ..SmallWorld::default() });
    let device = Device::new(&options(&faults)).expect("a device needs little memory");
    let outcome = device.compile(example.workload.clone(), &Options::default()).and_then(|compiled| {
        let texels = photo([0; 4]);
        finish(&compiled.run(&Inputs { uploads: vec![(example.photo, Upload::Bytes(&texels))], ..Inputs::default() })?)
    });
    let error = outcome.expect_err("4 KiB are not enough").to_string();
    assert!(error.contains("pixels  4352 bytes"), "the largest is named: {error}");
    drop(device);
    assert_eq!(faults.imbalance(), None);
}

#[test]
fn a_release_that_fails_gives_the_value_of_its_signal_back() {
    let Some(faults) = table() else { return };
    let device = Device::new(&options(&faults)).expect("a device");
    let memory = match device.shared_memory("block", 1 << 16) {
        Err(Error::Device(error)) if error.code == Code::Missing => return,
        memory => memory.expect("the device shares memory"),
    };
    let place = SharedPlace { offset: None, overlap: false, holder: None };
    let numbers = memory.buffer("numbers", 256, place).expect("it fits");
    numbers.write(&[7; 256]).expect("it is written");
    let timeline = device.semaphore(0).expect("a semaphore");
    faults.fail_call("vkQueueSubmit2", 1, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    let failed = numbers.release("the other", Some((&timeline, 1)), None).expect_err("its submit fails");
    faults.disarm();
    assert!(failed.to_string().contains("vkQueueSubmit2"), "{failed}");
    assert!(numbers.holder().is_none(), "it is still this device's");
    assert_eq!(timeline.value().expect("a value"), 0);
    numbers.release("the other", Some((&timeline, 1)), None).expect("the value is free again");
    assert!(timeline.wait(1, Some(PATIENCE)).expect("nothing fails"));
    let twice = timeline.promised(1).expect_err("it has the value").to_string();
    assert!(twice.contains("it has or will have 1"), "{twice}");
}
