//! Fallible Vulkan calls of a run on two devices fail, one per life, on either of them: the run ends soon with that one
//! error, the other device waits for nobody, and the next run works unless the device is lost.

use std::time::{Duration, Instant};

use ash::vk;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Imported, Life, ResourceId};
use rgraph_vk::work::{Step, Transfer, Work, Workload};
use rgraph_vk::{CompiledDevices, Device, DeviceOptions, Devices, EntryTable, Error, Inputs, Upload};

use crate::support::demand::demand;
use crate::support::fault::Faults;

/// Longest that a run with an error may take.
const PATIENCE: Duration = Duration::from_secs(10);
const SIZE: usize = 4096;

/// Bytes that device 0 copies, device 1 copies, and device 0 copies into the root.
fn relay() -> (Workload, ResourceId, ResourceId) {
    let mut g = Graph::new("relay", [8, 8]);
    let names = ["given", "there", "over", "out"];
    let [given, there, over, out] = names.map(|name| g.buffer(name, SIZE as u64));
    g.resource_mut(given).life = Life::Imported(Imported::default());
    let mut works = Vec::new();
    for (name, device, from, to) in [("go", 0, given, there), ("turn", 1, there, over), ("come", 0, over, out)] {
        let pass = g.pass(name, PassQueue::Graphics).copy_from(from).copy_to(to).id();
        g.pass_mut(pass).device = Some(device);
        works.push((pass, Transfer::CopyBuffer { from, from_offset: 0, to, to_offset: 0, size: None }));
    }
    g.root(out);
    let mut workload = Workload::new(g);
    for (pass, transfer) in works {
        workload.works.insert(pass, Work::Steps(vec![Step::Transfer(transfer)]));
    }
    (workload, given, out)
}

/// Two devices, of which `faulty` is the table's.
fn open(faults: &Faults, faulty: usize) -> Result<Devices, Error> {
    let entry = |at| (at == faulty).then(|| EntryTable(faults.entry()));
    let device = |at| Device::new(&DeviceOptions { entry: entry(at), ..DeviceOptions::default() });
    Devices::new(vec![device(0)?, device(1)?])
}

/// Runs once; the bytes of the root.
fn run(compiled: &CompiledDevices, given: ResourceId, out: ResourceId, byte: u8) -> Result<Vec<u8>, Error> {
    let bytes = [byte; SIZE];
    let inputs = Inputs { uploads: vec![(given, Upload::Bytes(&bytes))], ..Inputs::default() };
    compiled.run(&inputs).and_then(|frame| frame.read(out)).map(|read| read.bytes().to_vec())
}

/// Fails every `step`-th call of a run, one per opened pair. Returns how many calls there were, about.
fn fail_each(faults: &Faults, faulty: usize, error: vk::Result, step: u64) -> u64 {
    for k in (1..).step_by(step as usize) {
        faults.disarm();
        let devices = open(faults, faulty).expect("they open");
        let (workload, given, out) = relay();
        let compiled = devices.compile(workload, &Options::default()).expect("it compiles");
        assert_eq!((compiled.plan().parts.len(), compiled.plan().copies.len()), (3, 2));
        assert_eq!(run(&compiled, given, out, 1).expect("nothing fails yet"), [1; SIZE]);
        faults.fail(k, error);
        let begin = Instant::now();
        let failed = run(&compiled, given, out, 2);
        let (fired, took) = (faults.fired(), begin.elapsed());
        assert!(took < PATIENCE, "{fired:?} on device {faulty}: {took:?}");
        faults.disarm();
        let lost = error == vk::Result::ERROR_DEVICE_LOST;
        match (failed, fired) {
            (Ok(bytes), None) => {
                assert_eq!(bytes, [2; SIZE]);
                return k;
            }
            // Some calls have another way.
            (Ok(bytes), Some(_)) => assert_eq!(bytes, [2; SIZE]),
            (Err(found), Some(call)) => {
                // The first call after a lost device that nobody heard of may say so.
                let named = found.to_string().contains(call) || lost && found.is_lost();
                assert!(named, "{call} on device {faulty}: {found}");
                let again = run(&compiled, given, out, 3);
                match again {
                    Ok(bytes) => assert_eq!(bytes, [3; SIZE], "after {call} on device {faulty}"),
                    Err(again) => assert!(
                        lost && again.to_string().contains("RG-E120"),
                        "after {call} on device {faulty}: {again}"
                    ),
                }
            }
            (Err(found), None) => panic!("nothing failed on device {faulty}: {found}"),
        }
    }
    unreachable!("a run has an end")
}

#[test]
fn a_call_that_fails_on_one_device_ends_the_run_with_its_name() {
    let table = Faults::new().and_then(|table| {
        let opened = open(&table, 1).map(drop);
        opened.map(|()| table).map_err(|error| error.to_string())
    });
    let Some(faults) = demand(table) else { return };
    for faulty in [0, 1] {
        let lost = fail_each(&faults, faulty, vk::Result::ERROR_DEVICE_LOST, 3);
        let memory = fail_each(&faults, faulty, vk::Result::ERROR_OUT_OF_HOST_MEMORY, 3);
        assert!(lost > 5 && memory > 2, "{lost} and {memory} calls on device {faulty}");
    }
}
