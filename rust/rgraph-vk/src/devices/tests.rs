//! Runs over two devices whose copies a fake of CUDA makes.

use rgraph_plan::access::PassQueue;
use rgraph_plan::bake::Options;
use rgraph_plan::graph::Graph;
use rgraph_plan::resource::{Imported, Life, ResourceId};
use rgraph_work::{Step, Transfer};

use super::{CompiledDevices, Devices};
use crate::bridge::CopyWay;
use crate::bridge::fake_cuda::FakeCuda;
use crate::bridge::tests::two;
use crate::error::{Code, DeviceError, Error};
use crate::frame::inputs::{Inputs, Upload};
use crate::work::{Work, Workload};

const SIZE: usize = 5_000_000;

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

fn run(compiled: &CompiledDevices, (given, out): (ResourceId, ResourceId), seed: u8) -> Result<Vec<String>, Error> {
    let bytes: Vec<u8> = (0..SIZE).map(|at| (at as u8).wrapping_mul(7) ^ (at >> 10) as u8 ^ seed).collect();
    let frame = compiled.run(&Inputs { uploads: vec![(given, Upload::Bytes(&bytes))], ..Inputs::default() })?;
    assert!(frame.read(out)?.bytes() == bytes, "run {seed}");
    frame.report().map(|report| report.notes)
}

#[test]
fn cuda_copies_where_it_can_and_the_host_where_it_failed() {
    let Some(list) = two() else { return };
    let fake = FakeCuda::new(&list);
    let devices = Devices::new(list.to_vec()).expect("two open devices");
    devices.0.cuda.set(Some(Ok(fake.cuda()))).expect("nobody looked for it");
    let (workload, given, out) = relay();
    let compiled = devices.compile(workload.clone(), &Options::default()).expect("it compiles");
    assert_eq!((compiled.copy_ways(), compiled.direct_copies()), (vec![CopyWay::Cuda; 2], 2));
    for seed in 0..4 {
        let notes = run(&compiled, (given, out), seed).expect("it runs");
        assert!(notes.contains(&"copies between devices: 2 by CUDA".to_owned()), "{notes:?}");
    }
    let price = devices.measure_copies().expect("it can be measured");
    assert_eq!((price.way, price.direct), (CopyWay::Cuda, true));

    // A call of the first copy.
    fake.with(|state| state.fails = Some(3));
    let error = run(&compiled, (given, out), 4).expect_err("CUDA fails").to_string();
    assert!(error.contains("returned 999 (CUDA_ERROR_UNKNOWN)"), "{error}");
    let host = compiled.copy_ways().iter().filter(|way| **way == CopyWay::Host).count();
    assert_eq!(host, 1, "one pair goes through the host from now on");
    for seed in 5..8 {
        let notes = run(&compiled, (given, out), seed).expect("it runs");
        let expected = "copies between devices: 1 by CUDA, 1 through memory of the host".to_owned();
        assert!(notes.contains(&expected), "{notes:?}");
        assert!(notes.iter().any(|note| note.ends_with("it failed in a run")), "{notes:?}");
    }
    drop(compiled);
    assert_eq!(fake.held(), []);

    // A call while a buffer is made in memory of CUDA's: its copies take slots.
    fake.with(|state| state.fails = Some(13));
    let compiled = devices.compile(workload.clone(), &Options::default()).expect("it compiles all the same");
    assert_eq!(fake.with(|state| state.failed.take()), Some("cuMemMap"));
    assert_eq!(compiled.copy_ways(), vec![CopyWay::Cuda; 2]);
    let _ = fake.calls();
    run(&compiled, (given, out), 8).expect("it runs");
    let calls = fake.calls();
    let called = |name: &str| calls.iter().filter(|call| **call == name).count();
    let (with_slots, all) = (called("cuWaitExternalSemaphoresAsync"), called("cuMemcpyDtoDAsync_v2"));
    assert!(with_slots > 0 && with_slots + 1 == all, "one buffer takes slots, the other one none: {calls:?}");
    drop(compiled);
    assert_eq!(fake.held(), []);

    fake.with(|state| state.strangers = true);
    let compiled = devices.compile(workload, &Options::default()).expect("it compiles all the same");
    assert_eq!(compiled.copy_ways(), vec![CopyWay::Host; 2]);
    let notes = run(&compiled, (given, out), 9).expect("it runs");
    let why = |note: &String| note.starts_with("CUDA does not copy from device") && note.contains("cannot access");
    assert!(notes.iter().any(why), "{notes:?}");
}

#[test]
fn without_a_driver_of_cuda_the_host_copies_and_the_report_says_why() {
    let Some(list) = two() else { return };
    let devices = Devices::new(list.to_vec()).expect("two open devices");
    let missing = DeviceError::new(Code::Missing, "no CUDA driver found: none", "");
    devices.0.cuda.set(Some(Err(Box::new(missing)))).expect("nobody looked for it");
    let (workload, given, out) = relay();
    let compiled = devices.compile(workload, &Options::default()).expect("it compiles");
    assert_eq!(compiled.copy_ways(), [CopyWay::Host; 2]);
    let notes = run(&compiled, (given, out), 1).expect("it runs");
    let expected = [
        "CUDA does not copy from device 0 to 1: no CUDA driver found: none",
        "CUDA does not copy from device 1 to 0: no CUDA driver found: none",
        "copies between devices: 2 through memory of the host",
    ];
    assert!(expected.iter().all(|one| notes.iter().any(|note| note == one)), "{notes:?}");
}
