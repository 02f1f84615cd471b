//! Nothing that safe code can write ends in a data race, a hang or a panic.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{PassId, Ranges, Use};
use rgraph_plan::id::Id;
use rgraph_plan::prelude::Options;
use rgraph_plan::resource::{History, Image, Kind, Life, ResourceId, Size};
use rgraph_vk::work::{CallbackError, Commands, HostViews, HostWork, RecordWork, Work};
use rgraph_vk::{Compiled, Device, DeviceResource, Inputs, Upload};

use crate::support::bench::{Bench, device, using, words};

/// What `run` returns; a panic if it takes longer than any run of these tests may.
fn within<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(run()));
    match receiver.recv_timeout(Duration::from_secs(30)) {
        Ok(value) => value,
        Err(_) => panic!("{what} hangs, or panicked"),
    }
}

/// A function on the host.
struct Host<F>(F);

impl<F: Fn(HostViews<'_>) -> Result<(), CallbackError> + Send + Sync> HostWork for Host<F> {
    fn run(&self, views: HostViews<'_>) -> Result<(), CallbackError> {
        (self.0)(views)
    }
}

/// A function that records.
struct Records<F>(F);

impl<F: Fn(&mut Commands) -> Result<(), CallbackError> + Send + Sync> RecordWork for Records<F> {
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError> {
        (self.0)(commands)
    }
}

fn host(run: impl Fn(HostViews<'_>) -> Result<(), CallbackError> + Send + Sync + 'static) -> Work {
    Work::Host(Arc::new(Host(run)))
}

fn records(run: impl Fn(&mut Commands) -> Result<(), CallbackError> + Send + Sync + 'static) -> Work {
    Work::Record(Arc::new(Records(run)))
}

/// A graph of one host pass that writes the imported buffer "x".
fn writes(device: &Device, work: Work) -> (Compiled, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let x = b.import_buffer("x", 256);
    let pass = b.pass("write", PassQueue::Cpu, &[(x, using(Usage::HostWrite))]);
    b.workload.works.insert(pass, work);
    (b.compile(device), x)
}

fn give(x: ResourceId, resource: &DeviceResource) -> Inputs<'_> {
    Inputs { uploads: vec![(x, Upload::Resource(resource))], ..Inputs::default() }
}

#[test]
fn host_passes_of_two_graphs_on_one_resource_take_turns() {
    let Some(device) = device(2) else { return };
    let shared = device.0.buffer("shared", 256).unwrap();
    shared.write(&[0; 256]).unwrap();
    let inside = Arc::new(AtomicBool::new(false));
    let met = Arc::new(AtomicBool::new(false));
    let graphs: Vec<_> = (0..2)
        .map(|_| {
            let (inside, met) = (inside.clone(), met.clone());
            writes(
                &device.0,
                host(move |mut views| {
                    met.fetch_or(inside.swap(true, Ordering::SeqCst), Ordering::SeqCst);
                    let bytes = views.views[0].bytes.writable().ok_or("a writable view")?;
                    let before = bytes[0];
                    std::thread::sleep(Duration::from_millis(5));
                    bytes[0] = before + 1;
                    inside.store(false, Ordering::SeqCst);
                    Ok(())
                }),
            )
        })
        .collect();
    let threads: Vec<_> = graphs
        .into_iter()
        .map(|(compiled, x)| {
            let shared = shared.clone();
            std::thread::spawn(move || (0..20).for_each(|_| drop(compiled.run(&give(x, &shared)).unwrap())))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(!met.load(Ordering::SeqCst), "two functions had a slice of the same bytes at once");
    assert_eq!(shared.read().unwrap().bytes()[0], 40);
}

#[test]
fn reads_and_writes_of_a_resource_wait_for_a_host_pass_that_writes_it() {
    let Some(device) = device(2) else { return };
    let shared = device.0.buffer("shared", 256).unwrap();
    shared.write(&[0; 256]).unwrap();
    let (sender, began) = mpsc::channel();
    let sender = Mutex::new(sender);
    let (compiled, x) = writes(
        &device.0,
        host(move |mut views| {
            sender.lock().unwrap().send(()).unwrap();
            std::thread::sleep(Duration::from_millis(200));
            views.views[0].bytes.writable().ok_or("a writable view")?.fill(7);
            Ok(())
        }),
    );
    let mut b = Bench::new([8, 8]);
    let y = b.import_buffer("y", 256);
    let copy = b.graph().buffer("copy", 256);
    b.graph().root(copy);
    let pass =
        b.pass("copy", PassQueue::Graphics, &[(y, using(Usage::TransferSrc)), (copy, using(Usage::TransferDst))]);
    b.steps(
        pass,
        vec![rgraph_vk::work::Step::Transfer(rgraph_vk::work::Transfer::CopyBuffer {
            from: y,
            from_offset: 0,
            to: copy,
            to_offset: 0,
            size: None,
        })],
    );
    let reader = b.compile(&device.0);
    for by_graph in [false, true] {
        shared.write(&[0; 256]).unwrap();
        let (writer, theirs) = (compiled.clone(), shared.clone());
        let thread = std::thread::spawn(move || writer.run(&give(x, &theirs)).map(drop));
        began.recv().unwrap();
        let got = match by_graph {
            true => words(reader.run(&give(y, &shared)).unwrap().read(copy).unwrap().bytes()),
            false => words(shared.read().unwrap().bytes()),
        };
        assert_eq!(got, vec![0x0707_0707; 64], "by a graph: {by_graph}");
        thread.join().unwrap().unwrap();
    }
}

/// What a function does while its run waits for it.
type Attempt = Arc<dyn Fn(&Compiled) -> String + Send + Sync>;

fn attempts(device: &Device) -> Vec<(&'static str, Attempt)> {
    let outcome_of =
        |result: Result<(), rgraph_vk::Error>| result.err().map_or("works".to_owned(), |error| error.to_string());
    let buffer = device.buffer("own", 64).unwrap();
    let other = device.compile(Bench::new([8, 8]).with_a_root(), &Options::default()).unwrap();
    let earlier = other.run(&Inputs::default()).unwrap();
    let read = buffer.clone();
    let [theirs, compiling, closing] = [0; 3].map(|_| device.clone());
    let compiles = move |_: &Compiled| {
        outcome_of(compiling.compile(Bench::new([8, 8]).with_a_root(), &Options::default()).map(drop))
    };
    vec![
        ("runs its own graph", Arc::new(move |own: &Compiled| outcome_of(own.run(&Inputs::default()).map(drop)))),
        ("runs another graph", Arc::new(move |_: &Compiled| outcome_of(other.run(&Inputs::default()).map(drop)))),
        ("writes a resource", Arc::new(move |_: &Compiled| outcome_of(buffer.write(&[0; 64])))),
        ("reads a resource", Arc::new(move |_: &Compiled| outcome_of(read.read().map(drop)))),
        ("asks for the report of a frame", Arc::new(move |_: &Compiled| outcome_of(earlier.report().map(drop)))),
        ("waits for the device", Arc::new(move |_: &Compiled| outcome_of(theirs.wait_idle()))),
        ("compiles a graph", Arc::new(compiles)),
        ("closes the device", Arc::new(move |_: &Compiled| outcome_of(closing.close()))),
    ]
}

const REFUSED: [&str; 5] = [
    "runs its own graph",
    "runs another graph",
    "writes a resource",
    "reads a resource",
    "asks for the report of a frame",
];

#[test]
fn a_function_that_waits_for_its_own_run_is_refused_and_never_hangs() {
    let count = device(2).map_or(0, |device| attempts(&device.0).len());
    for at in 0..count {
        for kind in ["host", "host before the GPU", "record"] {
            let Some(device) = device(2) else { return };
            let (what, attempt) = attempts(&device.0).swap_remove(at);
            let own: Arc<Mutex<Option<Compiled>>> = Arc::default();
            let outcome = Arc::new(Mutex::new(String::new()));
            let calls = Arc::new(AtomicU32::new(0));
            let act = {
                let (own, outcome, calls, attempt) = (own.clone(), outcome.clone(), calls.clone(), attempt.clone());
                move || {
                    let compiled = own.lock().unwrap().clone().unwrap();
                    calls.fetch_add(1, Ordering::SeqCst);
                    *outcome.lock().unwrap() = attempt(&compiled);
                    Ok(())
                }
            };
            let mut b = Bench::new([8, 8]);
            let x = b.graph().buffer("x", 256);
            b.graph().root(x);
            if kind == "record" {
                let pass = b.pass("record", PassQueue::Compute, &[(x, using(Usage::TransferDst))]);
                b.workload.works.insert(pass, records(move |_| act()));
            } else {
                let pass = b.pass("host", PassQueue::Cpu, &[(x, using(Usage::HostWrite))]);
                b.workload.works.insert(pass, host(move |_| act()));
                if kind == "host before the GPU" {
                    let y = b.graph().buffer("y", 256);
                    b.graph().root(y);
                    b.pass(
                        "last",
                        PassQueue::Graphics,
                        &[(x, using(Usage::TransferSrc)), (y, using(Usage::TransferDst))],
                    );
                }
            }
            let compiled = b.compile(&device.0);
            *own.lock().unwrap() = Some(compiled.clone());
            let ran = within(&format!("a {kind} function that {what}"), move || {
                compiled.run(&Inputs::default()).map(drop).map_err(|error| error.to_string())
            });
            match (what, &ran) {
                ("closes the device", Err(error)) => assert!(error.starts_with("RG-E130 "), "{error}"),
                _ => assert_eq!(ran, Ok(()), "a {kind} function that {what}"),
            }
            *own.lock().unwrap() = None;
            assert_eq!(calls.load(Ordering::SeqCst), 1);
            let outcome = outcome.lock().unwrap();
            match REFUSED.contains(&what) {
                true => assert!(outcome.starts_with("RG-E402 "), "a {kind} function that {what}: {outcome}"),
                false => assert_eq!(*outcome, "works", "a {kind} function that {what}"),
            }
        }
    }
}

#[test]
fn a_poll_that_runs_the_graph_that_polls_is_refused() {
    let Some(device) = device(1) else { return };
    let (compiled, x) = writes(
        &device.0,
        host(|_| {
            std::thread::sleep(Duration::from_millis(300));
            Ok(())
        }),
    );
    let shared = device.0.buffer("shared", 256).unwrap();
    let other = shared.clone();
    let (own, again) = (compiled.clone(), compiled.clone());
    let first = std::thread::spawn(move || own.run(&give(x, &other)).map(drop));
    std::thread::sleep(Duration::from_millis(100));
    // The second run waits for the functions of the first one, and polls.
    let outcome = within("a poll that runs its graph", move || {
        let outcome = Mutex::new(Vec::new());
        let poll = || {
            let result = again.run(&Inputs::default()).map(drop);
            outcome.lock().unwrap().push(result.err().map_or("ran".to_owned(), |error| error.to_string()));
            Ok(())
        };
        again.run(&Inputs { poll: Some(&poll), ..give(x, &shared) }).unwrap();
        outcome.into_inner().unwrap()
    });
    first.join().unwrap().unwrap();
    assert!(outcome.iter().all(|outcome| outcome == "ran" || outcome.starts_with("RG-E402 ")), "{outcome:?}");
}

#[test]
fn a_function_may_wait_for_a_thread_that_runs_a_graph_of_other_resources() {
    let Some(device) = device(2) else { return };
    let (other, x) = writes(&device.0, host(|_| Ok(())));
    let apart = device.0.buffer("apart", 256).unwrap();
    let mut b = Bench::new([8, 8]);
    let [first, last] = ["first", "last"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(last);
    let pass = b.pass("host", PassQueue::Cpu, &[(first, using(Usage::HostWrite))]);
    b.pass("gpu", PassQueue::Graphics, &[(first, using(Usage::TransferSrc)), (last, using(Usage::TransferDst))]);
    let work = host(move |_| {
        let (other, apart) = (other.clone(), apart.clone());
        let thread = std::thread::spawn(move || other.run(&give(x, &apart)).map(drop));
        thread.join().map_err(|_| "the thread panicked")??;
        Ok(())
    });
    b.workload.works.insert(pass, work);
    let compiled = b.compile(&device.0);
    within("a function that waits for another graph", move || drop(compiled.run(&Inputs::default()).unwrap()));
}

#[test]
fn graphs_of_two_devices_that_wait_for_each_other_are_refused() {
    let (Some(one), Some(two)) = (device(2), device(2)) else { return };
    let (last, x) = writes(&one.0, host(|_| Ok(())));
    let apart = one.0.buffer("apart", 256).unwrap();
    let outcome = Arc::new(Mutex::new(String::new()));
    let tell = outcome.clone();
    let (middle, y) = writes(
        &two.0,
        host(move |_| {
            let result = last.run(&give(x, &apart)).map(drop);
            *tell.lock().unwrap() = result.err().map_or("works".to_owned(), |error| error.to_string());
            Ok(())
        }),
    );
    let beside = two.0.buffer("beside", 256).unwrap();
    let work = host(move |_| Ok(middle.run(&give(y, &beside)).map(drop)?));
    let (first, z) = writes(&one.0, work);
    let own = one.0.buffer("own", 256).unwrap();
    within("a chain of two devices", move || drop(first.run(&give(z, &own)).unwrap()));
    assert!(outcome.lock().unwrap().starts_with("RG-E402 "), "{}", outcome.lock().unwrap());
}

#[test]
fn a_host_pass_sees_what_it_declares_and_no_byte_between() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let x = b.import_buffer("x", 256);
    let part = |usage, bytes| Use { ranges: Ranges { bytes: Some(bytes), ..Ranges::default() }, ..using(usage) };
    let uses = [
        (x, part(Usage::HostWrite, [0, 64])),
        (x, part(Usage::HostRead, [64, 128])),
        (x, part(Usage::HostWrite, [192, 256])),
    ];
    let pass = b.pass("host", PassQueue::Cpu, &uses);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = seen.clone();
    let work = host(move |mut views| {
        for view in &mut views.views {
            let writable = view.bytes.writable().map(|bytes| bytes.fill(9)).is_some();
            note.lock().unwrap().push((view.range, view.bytes.len(), writable));
        }
        Ok(())
    });
    b.workload.works.insert(pass, work);
    let compiled = b.compile(&device.0);
    let shared = device.0.buffer("shared", 256).unwrap();
    shared.write(&[1; 256]).unwrap();
    compiled.run(&give(x, &shared)).unwrap();
    assert_eq!(*seen.lock().unwrap(), [([0, 64], 64, true), ([64, 128], 64, false), ([192, 256], 64, true)]);
    let expected = [[9; 64], [1; 64], [1; 64], [9; 64]].concat();
    assert_eq!(shared.read().unwrap().bytes(), expected);
}

type Change = fn(&mut Bench, PassId, ResourceId);

/// Ids of another graph that is larger, in everything that is compiled.
const FOREIGN: [(&str, Change); 8] = [
    ("an access", |b, pass, _| {
        b.graph().access(pass, ResourceId::new(99), &using(Usage::TransferSrc), None);
    }),
    ("a root", |b, _, _| b.graph().root(ResourceId::new(99))),
    ("an order", |b, pass, _| b.graph().order_after(pass, PassId::new(99))),
    ("a fallback", |b, pass, image| b.graph().fallback(pass, image, ResourceId::new(99))),
    ("a modified resource", |b, _, image| b.graph().resource_mut(image).modifies = Some(ResourceId::new(99))),
    ("a history", |b, _, image| {
        let history = History { of: ResourceId::new(99), frames: 1, zero_first: true };
        b.graph().resource_mut(image).life = Life::History(history);
    }),
    ("a size", |b, _, image| {
        let size = Some(Size::scaled(Some(ResourceId::new(99)), 1.0, 1.0));
        b.graph().resource_mut(image).kind = Kind::Image(Image { size, ..Image::default() });
    }),
    ("work", |b, _, _| drop(b.workload.works.insert(PassId::new(99), Work::Steps(Vec::new())))),
];

#[test]
fn ids_of_another_graph_are_errors_of_compile_and_run() {
    let Some(device) = device(2) else { return };
    for (what, change) in FOREIGN {
        let mut b = Bench::new([8, 8]);
        let image = b.graph().image("image", Format::Rgba8unorm);
        let pass = b.pass("draw", PassQueue::Graphics, &[(image, using(Usage::ColorAttachment))]);
        b.graph().root(image);
        change(&mut b, pass, image);
        let error = device.0.compile(b.workload, &Options::default()).expect_err(what).to_string();
        assert!(error.contains("another graph"), "{what}: {error}");
    }
    let compiled = device.0.compile(Bench::new([8, 8]).with_a_root(), &Options::default()).unwrap();
    let push = Inputs { push: vec![(PassId::new(99), Vec::new())], ..Inputs::default() };
    let data = Inputs { data: vec![(PassId::new(99), 0, Vec::new())], ..Inputs::default() };
    let upload = Inputs { uploads: vec![(ResourceId::new(99), Upload::Bytes(&[]))], ..Inputs::default() };
    let read = Inputs { read: Some(vec![ResourceId::new(99)]), ..Inputs::default() };
    for inputs in [push, data, upload, read] {
        let error = compiled.run(&inputs).unwrap_err().to_string();
        assert!(error.starts_with("RG-E225 "), "{error}");
    }
    let frame = compiled.run(&Inputs::default()).unwrap();
    assert!(frame.read(ResourceId::new(99)).unwrap_err().to_string().starts_with("RG-E225 "));
}
