//! Copies through slots between two devices: through the host, and by a fake of CUDA.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

use ash::vk;
use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;

use super::fake_cuda::FakeCuda;
use super::{Bridge, CopyWay, Ended, direct};
use crate::demand;
use crate::device::{Device, DeviceOptions};
use crate::error::Error;
use crate::frame::copy::packed_bytes;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::resource::image_kind;
use crate::memory::usages::Usages;
use crate::memory::{Domain, staged};

/// Two devices on the CPU, as [`FakeCuda`] needs them: lavapipe, and SwiftShader if a script or Chromium installed it,
/// else lavapipe again.
pub(crate) fn two() -> Option<[Device; 2]> {
    let open = |driver: Option<PathBuf>| {
        let validation = driver.as_ref().map(|_| false);
        let made = Device::new(&DeviceOptions { loader: driver, validation, ..DeviceOptions::default() });
        let made = made.map_err(|error| error.to_string())?;
        let on_cpu = ["llvmpipe", "SwiftShader"].iter().any(|name| made.info().name.contains(name));
        if on_cpu { Ok(made) } else { Err("the fake maps memory of lavapipe and SwiftShader only".to_owned()) }
    };
    let first = demand::demand(open(None))?;
    let brought = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.vulkan/libvk_swiftshader.so");
    let driver = [brought, PathBuf::from("/usr/lib/chromium/libvk_swiftshader.so")].into_iter().find(|it| it.exists());
    let second = open(driver).expect("a second device opens");
    eprintln!("{} and {}", first.info().name, second.info().name);
    Some([first, second])
}

fn kinds() -> Vec<PlanKind> {
    vec![
        PlanKind::Buffer { size: 4 },
        PlanKind::Buffer { size: (1 << 20) + 4 },
        PlanKind::Buffer { size: 9_000_004 },
        image_kind(Format::Rgba32float, [700, 300], 1, 3),
        image_kind(Format::R8unorm, [33, 17], 1, 1),
    ]
}

fn resource(device: &Device, kind: PlanKind) -> Arc<PhysicalResource> {
    let buffer = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let image = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let usages = Usages { buffer, image, ..Usages::default() };
    PhysicalResource::new(&device.0, "copied", kind, usages, Domain::Device, true).expect("it can be made")
}

fn bytes(kind: PlanKind, seed: u8) -> Vec<u8> {
    (0..packed_bytes(kind)).map(|at| (at as u8).wrapping_mul(31).wrapping_add((at >> 11) as u8) ^ seed).collect()
}

fn held(physical: &Arc<PhysicalResource>) -> Vec<u8> {
    let mut all = vec![0; packed_bytes(physical.kind) as usize];
    staged::read_into(physical, &mut all, None).expect("it can be read");
    all
}

/// Copies each kind some times; every byte must come.
fn cross_all(bridge: &Bridge, from: &Device, to: &Device) {
    for kind in kinds() {
        let [source, target] = [resource(from, kind), resource(to, kind)];
        for seed in 1..4 {
            staged::write(&source, &bytes(kind, seed), None).expect("it can be written");
            bridge.cross(&source, &target).expect("it crosses");
            assert!(held(&target) == bytes(kind, seed), "{kind:?}, copy {seed}");
        }
    }
}

#[test]
fn contents_cross_through_slots_of_the_host() {
    let Some([from, to]) = two() else { return };
    for whole in [false, true] {
        let bridge = Bridge::by_host(&from, &to, &kinds(), whole).expect("no device is lost").expect("both import it");
        assert_eq!(bridge.way(), CopyWay::Host);
        cross_all(&bridge, &from, &to);
    }
}

#[test]
fn contents_cross_by_cuda_and_all_that_was_made_is_given_back() {
    let Some([from, to]) = two() else { return };
    let fake = FakeCuda::new(&[from.clone(), to.clone()]);
    let bridge = Bridge::by_cuda(fake.cuda(), &from, &to, &kinds()).expect("CUDA is there");
    assert_eq!(bridge.way(), CopyWay::Cuda);
    let _ = fake.calls();
    cross_all(&bridge, &from, &to);
    let calls = fake.calls();
    let one = [
        "cuCtxPushCurrent_v2",
        "cuWaitExternalSemaphoresAsync",
        "cuMemcpyDtoDAsync_v2",
        "cuSignalExternalSemaphoresAsync",
        "cuCtxPopCurrent_v2",
    ];
    assert!(calls.len() > 3 * 5 * one.len() && calls.chunks(one.len()).all(|calls| calls == one), "{calls:?}");
    drop(bridge);
    assert_eq!(fake.held(), []);
    assert_eq!([from.messages(), to.messages()], [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn buffers_in_memory_of_cuda_cross_by_one_copy_without_slots_and_all_of_it_is_given_back() {
    let Some([from, to]) = two() else { return };
    let fake = FakeCuda::new(&[from.clone(), to.clone()]);
    let bridge = Bridge::direct(fake.cuda(), &from, &to).expect("CUDA is there");
    assert_eq!(bridge.way(), CopyWay::Cuda);
    let all = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let usages = Usages { buffer: all | vk::BufferUsageFlags::STORAGE_BUFFER, ..Usages::default() };
    let make = |device: &Device, other: &Device, size| {
        direct::buffer(fake.cuda(), device, &[other], "copied", (size, usages)).expect("it can be made")
    };
    for size in [4, (1 << 20) + 4, 9_000_004] {
        let (kind, ends) = (PlanKind::Buffer { size }, [make(&from, &to, size), make(&to, &from, size)]);
        for seed in 1..4 {
            staged::write(&ends[0], &bytes(kind, seed), None).expect("it can be written");
            let _ = fake.calls();
            bridge.cross(&ends[0], &ends[1]).expect("it crosses");
            let calls = fake.calls();
            assert!(held(&ends[1]) == bytes(kind, seed), "{kind:?}, copy {seed}");
            assert!(held(&ends[0]) == bytes(kind, seed), "the source keeps its bytes");
            let called = |name: &str| calls.iter().filter(|call| **call == name).count();
            assert_eq!((called("cuMemcpyDtoDAsync_v2"), called("cuWaitExternalSemaphoresAsync")), (1, 0), "{calls:?}");
        }
    }
    let ends = [make(&from, &to, 64), make(&to, &from, 64)];
    fake.with(|state| state.fails = Some(1));
    bridge.cross(&ends[0], &ends[1]).expect_err("the copy fails");
    assert!(!bridge.settle(), "it can be used no more");
    drop((bridge, ends));
    assert_eq!(fake.held(), []);
    assert_eq!([from.messages(), to.messages()], [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn a_call_of_cuda_that_fails_while_slots_are_made_is_named_and_leaves_nothing() {
    let Some([from, to]) = two() else { return };
    let fake = FakeCuda::new(&[from.clone(), to.clone()]);
    let kinds = [PlanKind::Buffer { size: 4096 }];
    let make = || Bridge::by_cuda(fake.cuda(), &from, &to, &kinds);
    drop(make().expect("nothing fails"));
    let given_back = fake.calls().iter().position(|call| *call == "cuStreamQuery").expect("the end asks");
    assert!(given_back > 30, "{given_back}");
    for k in 0..given_back - 1 {
        fake.with(|state| (state.fails, state.failed) = (Some(k), None));
        let made = make();
        let failed = fake.with(|state| state.failed).expect("a call failed");
        match made.map(drop) {
            // What was made before is there all the same.
            Ok(()) => assert_eq!(failed, "cuCtxPopCurrent_v2"),
            Err(error) => assert!(error.to_string().contains(&format!("{failed} returned 999")), "{failed}: {error}"),
        }
        assert_eq!(fake.held(), [], "{failed}");
    }
    fake.with(|state| state.strangers = true);
    if from.info().uuid != to.info().uuid {
        let error = make().expect_err("they do not reach each other").to_string();
        assert!(error.contains("CUDA's device 0 cannot access memory of device 1"), "{error}");
    }
    drop(fake);
    let fake = FakeCuda::new(&[]);
    let error = Bridge::by_cuda(fake.cuda(), &from, &to, &kinds).expect_err("CUDA has no GPU").to_string();
    assert!(error.contains("no GPU of its 0 has that UUID"), "{error}");
    assert_eq!(fake.held(), []);
}

#[test]
fn a_call_of_cuda_that_fails_in_a_copy_ends_it_on_both_sides() {
    let Some([from, to]) = two() else { return };
    let fake = FakeCuda::new(&[from.clone(), to.clone()]);
    let kind = PlanKind::Buffer { size: 9 << 20 };
    let [source, target] = [resource(&from, kind), resource(&to, kind)];
    staged::write(&source, &bytes(kind, 1), None).expect("it can be written");
    let calls = {
        let bridge = Bridge::by_cuda(fake.cuda(), &from, &to, &[kind]).expect("CUDA is there");
        let _ = fake.calls();
        bridge.cross(&source, &target).expect("nothing fails");
        fake.calls().len()
    };
    for k in 0..calls {
        let bridge = Bridge::by_cuda(fake.cuda(), &from, &to, &[kind]).expect("CUDA is there");
        bridge.cross(&source, &target).expect("nothing fails yet");
        fake.with(|state| (state.fails, state.failed) = (Some(k), None));
        let crossed = bridge.cross(&source, &target);
        let failed = fake.with(|state| state.failed).expect("a call failed");
        match crossed {
            Ok(()) => assert_eq!(failed, "cuCtxPopCurrent_v2"),
            Err(error) => {
                assert!(error.to_string().contains(&format!("{failed} returned 999")), "{failed}: {error}");
                assert!(!bridge.settle(), "{failed}");
            }
        }
        drop(bridge);
        assert_eq!(fake.held(), [], "{failed}");
        from.wait_idle().expect("nothing waits for ever");
        to.wait_idle().expect("nothing waits for ever");
    }
}

#[test]
fn slots_are_empty_again_behind_a_copy_that_one_side_left() {
    let Some([from, to]) = two() else { return };
    let fake = FakeCuda::new(&[from.clone(), to.clone()]);
    let kind = PlanKind::Buffer { size: 9 << 20 };
    let [source, target] = [resource(&from, kind), resource(&to, kind)];
    let cuda = Bridge::by_cuda(fake.cuda(), &from, &to, &[kind]).expect("CUDA is there");
    let host = Bridge::by_host(&from, &to, &[kind], false).expect("no device is lost").expect("both import it");
    for bridge in [cuda, host] {
        for pieces in 0..3 {
            let left = Cell::new(pieces);
            let sent = bridge.send(&source, &|| Ok(()), &mut |_| {
                left.set(left.get() - 1);
                if left.get() < 0 { Err(Ended::Stopped) } else { Ok(()) }
            });
            assert!(matches!(sent, Err(Ended::Stopped)));
            assert!(bridge.settle());
            let received = bridge
                .receive(&target, &|| Ok(()), &mut || Err(Ended::Failed(Error::input("?", "the sender is gone", ""))));
            assert!(matches!(received, Err(Ended::Failed(_))));
            assert!(bridge.settle());
            staged::write(&source, &bytes(kind, pieces as u8), None).expect("it can be written");
            for _ in 0..3 {
                bridge.cross(&source, &target).expect("it crosses");
                assert!(held(&target) == bytes(kind, pieces as u8), "{:?} behind {pieces} pieces", bridge.way());
            }
        }
    }
}
