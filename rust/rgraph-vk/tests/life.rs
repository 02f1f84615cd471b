//! Ends: graphs dropped while their functions run, runs that are interrupted, times without end.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::graph::{Place, Use};
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{CallbackError, HostViews, HostWork, Step, Transfer, Work};
use rgraph_vk::{Device, DeviceOptions, Error, Inputs};

use crate::support::bench::{Bench, device, using, words};

/// Writes its number of calls, behind a gate.
#[derive(Default)]
struct Gated {
    shut: Mutex<bool>,
    opened: Condvar,
    entered: AtomicBool,
    calls: AtomicU32,
}

impl Gated {
    fn set(&self, shut: bool) {
        *self.shut.lock().unwrap() = shut;
        self.opened.notify_all();
    }

    fn until_entered(&self) {
        while !self.entered.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }
}

impl HostWork for Gated {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        self.entered.store(true, Ordering::SeqCst);
        let mut shut = self.shut.lock().unwrap();
        while *shut {
            shut = self.opened.wait(shut).unwrap();
        }
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        views.views[0].bytes.writable().ok_or("a writable view")?.fill(call as u8);
        Ok(())
    }
}

/// A graph of one host pass that writes a buffer, which is read back.
fn gated(shut: bool) -> (Bench, Arc<Gated>, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let out = b.graph().buffer("out", 256);
    b.graph().root(out);
    let pass = b.pass("gated", PassQueue::Cpu, &[(out, using(Usage::HostWrite))]);
    let work = Arc::new(Gated::default());
    work.set(shut);
    b.workload.works.insert(pass, Work::Host(work.clone()));
    (b, work, out)
}

/// A graph that fills a buffer, which is read back.
fn filled() -> (Bench, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let out = b.graph().buffer("out", 256);
    b.graph().root(out);
    let how = Use { transfer: Some(rgraph_plan::access::Transfer::Fill), ..using(Usage::TransferDst) };
    let pass = b.pass("fill", PassQueue::Graphics, &[(out, how)]);
    let fill = Transfer::Fill { buffer: out, offset: 0, size: None, word: 7 };
    b.steps(pass, vec![Step::Transfer(fill)]);
    (b, out)
}

/// What a signal handler says.
fn interrupt() -> Result<(), CallbackError> {
    Err("interrupted".into())
}

#[test]
fn an_interrupted_run_ends_at_once_and_the_next_one_waits_for_what_it_left() {
    let Some(device) = device(2) else { return };
    let (b, work, out) = gated(true);
    let compiled = b.compile(&device.0);
    // It ends while the function is held, so it does not wait for it.
    let error = compiled.run(&Inputs { poll: Some(&interrupt), ..Inputs::default() }).unwrap_err();
    assert!(matches!(&error, Error::Callback(error) if error.to_string() == "interrupted"), "{error}");
    let again = compiled.run(&Inputs { poll: Some(&interrupt), ..Inputs::default() }).unwrap_err();
    assert!(matches!(again, Error::Callback(_)), "the function is still running: {again}");
    work.set(false);
    let frame = compiled.run(&Inputs::default()).unwrap();
    assert_eq!(words(frame.read(out).unwrap().bytes()), vec![0x0202_0202; 64]);
}

#[test]
fn dropping_a_graph_waits_for_none_of_its_functions() {
    let Some(device) = device(2) else { return };
    let (b, work, _) = gated(true);
    let compiled = b.compile(&device.0);
    let _interrupted = compiled.run(&Inputs { poll: Some(&interrupt), ..Inputs::default() }).unwrap_err();
    work.until_entered();
    drop(compiled);
    drop(b);
    // The function still has its memory, which nobody else gets meanwhile.
    let (b, _, out) = gated(false);
    let frame = b.compile(&device.0).run(&Inputs::default()).unwrap();
    work.set(false);
    while Arc::strong_count(&work) > 1 {
        std::thread::yield_now();
    }
    assert_eq!(work.calls.load(Ordering::SeqCst), 1);
    assert_eq!(words(frame.read(out).unwrap().bytes()), vec![0x0101_0101; 64]);
}

#[test]
fn a_run_whose_device_is_closed_meanwhile_is_refused() {
    let Some(device) = device(2) else { return };
    let (b, work, _) = gated(true);
    let compiled = b.compile(&device.0);
    let own = device.0.clone();
    let closes = || {
        work.until_entered();
        own.close().unwrap();
        work.set(false);
    };
    let ran = std::thread::scope(|scope| {
        scope.spawn(closes);
        compiled.run(&Inputs::default())
    });
    let error = ran.unwrap_err().to_string();
    assert!(error.starts_with("RG-E130"), "{error}");
}

#[test]
fn a_frame_can_be_waited_for_without_end() {
    let Some(device) = device(2) else { return };
    let (b, ..) = gated(false);
    let frame = b.compile(&device.0).run(&Inputs::default()).unwrap();
    assert!(frame.wait(Some(Duration::MAX)).unwrap());
    assert!(device.0.is_idle_within(Duration::MAX).unwrap());
}

#[test]
fn a_device_whose_run_waits_for_nobody_closes_with_an_error_and_its_drop_destroys_nothing() {
    let Some(device) = device(2) else { return };
    let (b, _) = filled();
    let compiled = b.compile(&device.0);
    let gate = device.0.semaphore(0).unwrap();
    let place = Some(Place { file: "film.rs".into(), line: 7 });
    let frame = compiled.run(&Inputs { waits: vec![gate.reaches(2)], place, ..Inputs::default() }).unwrap();
    let error = device.0.close_within(Some(Duration::from_millis(100))).unwrap_err().to_string();
    let semaphore = format!("semaphore {:#x} has 2, and it has 0", gate.shown());
    let message = format!("RG-E404 the device cannot be closed: graph \"test\" waits until {semaphore}");
    assert!(error.starts_with(&message), "{error}");
    assert!(error.contains("\n  film.rs:7  it was run here\n"), "{error}");
    // It is as it was: the wait ends, and the device does.
    gate.signal(2).unwrap();
    assert!(frame.wait(Some(Duration::from_secs(20))).unwrap());
    device.0.close_within(Some(Duration::ZERO)).unwrap();
    assert!(device.0.is_closed());

    // Nobody signals the next one. The drop ends, and leaves to the GPU what it may still use.
    let Some(left) = self::device(2) else { return };
    let gate = left.0.semaphore(0).unwrap();
    drop(b.compile(&left.0).run(&Inputs { waits: vec![gate.reaches(1)], ..Inputs::default() }).unwrap());
    drop((gate, left));
}

#[test]
fn a_loader_with_an_endless_name_is_refused() {
    let options = DeviceOptions { loader: Some("a".repeat(1 << 24).into()), ..DeviceOptions::default() };
    let error = Device::new(&options).unwrap_err().to_string();
    assert!(error.starts_with("RG-E101 the loader's path has 16777216 bytes"), "{}", &error[..100]);
}
