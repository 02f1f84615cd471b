//! An engine's callbacks for memory of the host: every object is made and destroyed with them, and what they gave comes
//! back.

use ash::vk;
use rgraph_plan::bake::Options;
use rgraph_vk::{Device, DeviceOptions, EntryTable, Error, Inputs, Measure, Upload};

use crate::support::demand::demand;
use crate::support::example::{example, photo};
use crate::support::fault::Faults;
use crate::support::host_memory::HostMemory;

/// A device behind the table, with callbacks.
fn device(memory: HostMemory) -> Option<(Faults, Device)> {
    demand(
        Faults::new()
            .and_then(|faults| open(&faults, memory).map(|device| (faults, device)).map_err(|e| e.to_string())),
    )
}

fn open(faults: &Faults, memory: HostMemory) -> Result<Device, Error> {
    let entry = Some(EntryTable(faults.entry()));
    Device::new(&DeviceOptions { entry, host: Some(memory.lent()), ..DeviceOptions::default() })
}

/// Frames of everything, measured in each way, and objects that a caller may ask for.
fn work(device: &Device) -> Result<(), Error> {
    let example = example();
    let compiled = device.compile(example.workload.clone(), &Options::default())?;
    let texels = photo([10, 20, 30, 255]);
    let uploads = || vec![(example.photo, Upload::Bytes(&texels))];
    for (measure, runs) in Measure::ALL.into_iter().zip(1..) {
        let frame = compiled.run(&Inputs { uploads: uploads(), measure, ..Inputs::default() })?;
        assert_eq!(frame.read(example.out)?.bytes()[..4], [10, 20, 30, 255]);
        assert_eq!(frame.read(example.pixels)?.bytes()[..4], [10, 20, 30, 255]);
        assert_eq!(frame.read(example.tally)?.bytes()[..4], u32::to_le_bytes(runs));
    }
    let again = device.compile_next(&compiled, example.workload.clone(), &Options::default())?;
    again.run(&Inputs { uploads: uploads(), ..Inputs::default() })?.wait(None)?;
    let kept = (device.semaphore(3)?, device.binary_semaphore(None)?, device.fence()?, device.locked(1 << 20)?);
    assert_eq!(kept.0.value()?, 3);
    device.wait_idle()
}

#[test]
fn every_object_is_made_and_destroyed_with_the_callbacks_and_all_that_they_gave_comes_back() {
    let memory = HostMemory::new();
    let Some((faults, device)) = device(memory) else { return };
    work(&device).expect("works");
    assert!(memory.counts().held > 0, "{:?}", memory.counts());
    drop(device);
    assert_eq!(faults.imbalance(), None);
    let [without, with] = faults.callbacks();
    assert_eq!(without, Default::default());
    for call in ["vkCreateInstance", "vkCreateDevice", "vkAllocateMemory", "vkCreateImage", "vkCreateGraphicsPipelines"]
    {
        assert!(with.contains_key(call), "{call}: {with:?}");
    }
    let counts = memory.counts();
    assert_eq!((counts.held, counts.bytes), (0, 0), "{counts:?}");
    assert!(counts.calls > 100, "{counts:?}");
}

#[test]
fn memory_is_as_without_callbacks() {
    let report = |host| {
        let device = Device::new(&DeviceOptions { host, ..DeviceOptions::default() });
        let device = demand(device.map_err(|error| error.to_string()))?;
        let example = example();
        let compiled = device.compile(example.workload, &Options::default()).expect("compiles");
        let bytes = device.memory().domains.iter().map(|one| (one.domain, one.held, one.live)).collect::<Vec<_>>();
        drop(compiled);
        Some(bytes)
    };
    let memory = HostMemory::new();
    assert_eq!(report(Some(memory.lent())), report(None));
    assert_eq!(memory.counts().held, 0);
}

#[test]
fn a_call_that_fails_leaves_nothing_behind() {
    let memory = HostMemory::new();
    let Some((faults, device)) = device(memory) else { return };
    drop(device);
    let mut failed = 0;
    for k in (1..400).step_by(7) {
        faults.fail(k, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
        let done = open(&faults, memory).and_then(|device| work(&device));
        failed += usize::from(done.is_err());
        faults.disarm();
        assert_eq!(faults.imbalance(), None, "call {k}");
        let counts = memory.counts();
        assert_eq!((counts.held, counts.bytes), (0, 0), "call {k}");
    }
    assert!(failed > 20, "{failed}");
    let [without, _] = faults.callbacks();
    assert_eq!(without, Default::default());
}

#[test]
fn an_engine_without_memory_is_one_clear_error() {
    if std::env::var_os("VK_LAYER_VALIDATE_SYNC").is_some() {
        return eprintln!("skipped: layer 1.4.364 crashes in the loader where an instance has no memory");
    }
    let memory = HostMemory::new();
    let Some((faults, device)) = device(memory) else { return };
    drop(device);
    let all = memory.counts().calls;
    for left in (0..all).step_by(5) {
        memory.limit(Some(left));
        let refused = open(&faults, memory).err();
        memory.limit(None);
        match refused {
            None => {}
            Some(Error::Device(fault)) => {
                assert_eq!(fault.result, Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY), "{fault}")
            }
            Some(other) => panic!("{other}"),
        }
        assert_eq!(faults.imbalance(), None, "after {left} allocations");
        assert_eq!(memory.counts().held, 0, "after {left} allocations");
    }
}
