//! One graph over two devices of a process: two of lavapipe, or lavapipe and SwiftShader where a script or Chromium
//! brought it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rgraph_plan::access::Usage;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Imported, Life, ResourceId};
use rgraph_vk::work::{CallbackError, HostViews, HostWork, Step, Transfer, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Devices, Inputs, Upload};

use crate::support::{demand, hash};

/// The first device, and SwiftShader, or the first device again; none without a driver.
fn two() -> Option<Devices> {
    let first = Device::new(&DeviceOptions::default()).map_err(|error| error.to_string());
    let first = demand::demand(first)?;
    let brought = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.vulkan/libvk_swiftshader.so");
    let driver = [brought, PathBuf::from("/usr/lib/chromium/libvk_swiftshader.so")].into_iter().find(|it| it.exists());
    // A driver taken as the loader has no layers.
    let options = |driver| DeviceOptions { loader: Some(driver), validation: Some(false), ..DeviceOptions::default() };
    let swift = driver.map(|driver| Device::new(&options(driver)).expect("SwiftShader opens"));
    let second = swift.unwrap_or_else(|| Device::new(&DeviceOptions::default()).expect("it opens twice"));
    eprintln!("{} and {}", first.info().name, second.info().name);
    Some(Devices::new(vec![first, second]).expect("two open devices"))
}

#[test]
fn generated_graphs_scattered_over_two_devices_compute_what_they_declare() {
    let Some(devices) = two() else { return };
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(default)
    };
    let first = number("RGRAPH_HASH_SEED", 1);
    let report = hash::devices::scatter(&devices, first..first + number("RGRAPH_HASH_GRAPHS", 30), 3);
    println!("{report:?}");
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    assert!(report.split * 4 > report.graphs && report.copies > report.graphs && report.words > 0, "{report:?}");
    let messages: Vec<String> = devices.list().iter().flat_map(Device::messages).collect();
    assert!(!messages.iter().any(|message| message.contains("VUID")), "{messages:#?}");
}

/// In seed 252 one device remembers a buffer that nobody writes, and the other one alone reads its history: zeros. The
/// graphs before leave memory that is not zero.
#[test]
fn a_history_of_nothing_holds_zeros_on_a_device_that_does_not_remember_it() {
    let Some(devices) = two() else { return };
    let report = hash::devices::scatter(&devices, 248..253, 3);
    assert!(report.failures.is_empty(), "{:?}", report.failures);
}

/// Device 0 fills a buffer by a function, device 1 copies it to the root.
fn relay(fill: impl Fn(&mut [u8]) -> Result<(), CallbackError> + Send + Sync + 'static) -> (Workload, [ResourceId; 3]) {
    struct Fill<F>(F);
    impl<F: Fn(&mut [u8]) -> Result<(), CallbackError> + Send + Sync> HostWork for Fill<F> {
        fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
            let bytes = views.views[0].bytes.writable().ok_or("the pass declares that it writes")?;
            (self.0)(bytes)
        }
    }
    let mut g = Graph::new("relay", [8, 8]);
    let [made, out] = ["made", "out"].map(|name| g.buffer(name, 256));
    let given = g.buffer("given", 256);
    g.resource_mut(given).life = Life::Imported(Imported::default());
    let fill_pass = g.pass("fill", PassQueue::Cpu).id();
    g.access(fill_pass, made, &Use::new(Usage::HostWrite), None);
    let copy = g.pass("copy", PassQueue::Graphics).copy_from(made).copy_to(out).id();
    let add = g.pass("add", PassQueue::Graphics).copy_from(given).copy_to(out).id();
    for (pass, device) in [(fill_pass, 0), (copy, 1), (add, 1)] {
        g.pass_mut(pass).device = Some(device);
    }
    g.root(out);
    let step =
        |from, size| Transfer::CopyBuffer { from, from_offset: 0, to: out, to_offset: 256 - size, size: Some(size) };
    let mut workload = Workload::new(g);
    workload.works.insert(fill_pass, Work::Host(Arc::new(Fill(fill))));
    workload.works.insert(copy, Work::Steps(vec![Step::Transfer(step(made, 256))]));
    workload.works.insert(add, Work::Steps(vec![Step::Transfer(step(given, 64))]));
    (workload, [made, out, given])
}

#[test]
fn what_one_device_makes_another_one_reads_and_an_error_of_one_ends_both() {
    let Some(devices) = two() else { return };
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let (workload, [_, out, given]) = relay(move |bytes| {
        bytes.fill(7);
        match counted.fetch_add(1, Ordering::Relaxed) {
            1 => Err("the second call fails".into()),
            _ => Ok(()),
        }
    });
    let compiled = devices.compile(workload, &Options::default()).expect("it compiles");
    assert_eq!((compiled.plan().parts.len(), compiled.plan().copies.len()), (2, 1));
    let inputs = || Inputs { uploads: vec![(given, Upload::Bytes(&[9; 256]))], ..Inputs::default() };
    let error = compiled.run(&Inputs::default()).expect_err("nothing is given").to_string();
    assert!(error.contains("imported \"given\" has nothing bound to it"), "{error}");
    let wanted: Vec<u8> = [7; 192].into_iter().chain([9; 64]).collect();
    let run = || compiled.run(&inputs()).and_then(|frame| frame.read(out)).map(|read| read.bytes().to_vec());
    assert_eq!(run().expect("the first run works"), wanted);
    assert_eq!(run().expect_err("the function fails").to_string(), "the second call fails");
    assert_eq!(run().expect("the third run works"), wanted);
    // Memory of the other device: words, and nothing ran.
    let foreign = devices.list()[0].buffer("mine", 256).expect("a buffer");
    let bound = Inputs { uploads: vec![(given, Upload::Resource(&foreign))], ..Inputs::default() };
    let error = compiled.run(&bound).expect_err("it belongs to device 0").to_string();
    assert!(error.contains("\"given\" is given memory of device 0, but passes on device 1 use it"), "{error}");
    assert!(error.contains("run the passes that use \"given\" with device=0"), "{error}");
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    let own = devices.list()[1].buffer("mine", 256).expect("a buffer");
    own.write(&[3; 256]).expect("it takes bytes");
    let bound = Inputs { uploads: vec![(given, Upload::Resource(&own))], ..Inputs::default() };
    let frame = compiled.run(&bound).expect("it belongs to device 1");
    assert_eq!(frame.read(out).expect("it is a root").bytes()[192..], [3; 64]);
}

#[test]
fn a_poll_that_fails_ends_a_run_and_a_closed_device_refuses_it() {
    let Some(devices) = two() else { return };
    // The function goes on once somebody polled, so the run is still under way then.
    let polled = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&polled);
    let (workload, [_, _, given]) = relay(move |_| {
        while !seen.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    });
    let compiled = devices.compile(workload, &Options::default()).expect("it compiles");
    let stop = || {
        polled.store(true, Ordering::Release);
        Err("stopped by the caller".into())
    };
    let uploads = || vec![(given, Upload::Bytes(&[9; 256][..]))];
    let inputs = Inputs { uploads: uploads(), poll: Some(&stop), ..Inputs::default() };
    assert_eq!(compiled.run(&inputs).expect_err("the poll fails").to_string(), "stopped by the caller");
    compiled.run(&Inputs { uploads: uploads(), ..Inputs::default() }).expect("the next run works");
    devices.list()[1].close().expect("it closes");
    let error = compiled.run(&Inputs { uploads: uploads(), ..Inputs::default() }).expect_err("device 1 is closed");
    assert!(error.to_string().contains("RG-E130"), "{error}");
}

#[test]
fn devices_and_plans_that_do_not_fit_are_refused_in_words() {
    let Some(devices) = two() else { return };
    let first = devices.list()[0].clone();
    assert!(Devices::new(Vec::new()).expect_err("there is none").to_string().contains("no device is given"));
    let twice = Devices::new(vec![first.clone(), first.clone()]).expect_err("one comes twice").to_string();
    assert!(twice.contains("devices 0 and 1 are one device"), "{twice}");
    let (workload, _) = relay(|_| Ok(()));
    let mut plan = devices.plan(&workload.graph, &Options::default()).expect("it can be planned");
    let one = Devices::new(vec![first]).expect("one is enough");
    let error = one.compile_plan(plan.clone(), workload.clone(), &Options::default()).expect_err("one is too few");
    assert!(error.to_string().contains("the plan is for 2 devices, and there are 1"), "{error}");
    let copy = plan.copies.ids().next().expect("there is one");
    plan.copies[copy].resource = None;
    let error = devices.compile_plan(plan, workload, &Options::default()).expect_err("nothing is copied").to_string();
    assert!(error.contains("RG-E504"), "{error}");
}
