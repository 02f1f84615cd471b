//! Functions of several passes run at once: on the host, while steps are asked for, and while commands are recorded.
//! They meet at barriers, which none of them gets past alone.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rgraph_plan::access::{PassQueue, Transfer, Usage};
use rgraph_plan::graph::Use;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{CallbackError, Commands, Groups, HostViews, HostWork, RecordWork, Work};
use rgraph_vk::{Error, Inputs, RawContext, RawWork};

use crate::support::bench::{Bench, device, using, whole, words};

/// A barrier that is given up after ten seconds.
struct Meeting {
    missing: Mutex<u32>,
    met: Condvar,
}

impl Meeting {
    fn of(count: u32) -> Arc<Self> {
        Arc::new(Self { missing: Mutex::new(count), met: Condvar::new() })
    }

    fn wait(&self) -> Result<(), CallbackError> {
        let mut missing = self.missing.lock().unwrap();
        *missing -= 1;
        self.met.notify_all();
        let (missing, _) =
            self.met.wait_timeout_while(missing, Duration::from_secs(10), |missing| *missing > 0).unwrap();
        if *missing > 0 { Err("the others did not come".into()) } else { Ok(()) }
    }
}

/// Calls a function, then writes a byte everywhere.
struct Function<F>(F, u8);

impl<F: Fn() -> Result<(), CallbackError> + Send + Sync> HostWork for Function<F> {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        (self.0)()?;
        views.views[0].bytes.writable().ok_or("a writable view")?.fill(self.1);
        Ok(())
    }
}

impl<F: Fn() -> Result<(), CallbackError> + Send + Sync> RecordWork for Function<F> {
    fn record(&self, _: &mut Commands) -> Result<(), CallbackError> {
        (self.0)()
    }
}

// SAFETY: it records nothing.
unsafe impl<F: Fn() -> Result<(), CallbackError> + Send + Sync> RawWork for Function<F> {
    fn record(&self, _: &RawContext<'_>) -> Result<(), CallbackError> {
        (self.0)()
    }
}

fn host(
    b: &mut Bench,
    name: &str,
    byte: u8,
    function: impl Fn() -> Result<(), CallbackError> + Send + Sync + 'static,
) -> ResourceId {
    let out = b.graph().buffer(name, 256);
    b.graph().root(out);
    let pass = b.pass(&format!("{name}_host"), PassQueue::Cpu, &[(out, using(Usage::HostWrite))]);
    b.workload.works.insert(pass, Work::Host(Arc::new(Function(function, byte))));
    out
}

#[test]
fn functions_on_the_host_meet() {
    let Some(device) = device(2) else { return };
    let (mut b, meeting) = (Bench::new([8, 8]), Meeting::of(4));
    let outs: Vec<_> = (0..4u8)
        .map(|at| {
            let meeting = meeting.clone();
            host(&mut b, &format!("out{at}"), at, move || meeting.wait())
        })
        .collect();
    let compiled = b.compile(&device.0);
    assert_eq!(compiled.plan().sets.iter().filter(|set| set.cpu).count(), 1);
    let frame = compiled.run(&Inputs::default()).unwrap();
    for (out, byte) in outs.into_iter().zip(0..4u8) {
        assert_eq!(words(frame.read(out).unwrap().bytes()), vec![u32::from_ne_bytes([byte; 4]); 64]);
    }
}

const ADD: &str = "
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { if id.x < 64u { dst[id.x] = src[id.x] + 1u; } }";

/// The second one is not ordered behind the pass of the GPU that waits for the first one: it begins before that is
/// submitted.
#[test]
fn functions_meet_although_the_gpu_waits_for_one_of_them() {
    let Some(device) = device(2) else { return };
    let (mut b, meeting) = (Bench::new([8, 8]), Meeting::of(2));
    let (first, second) = (meeting.clone(), meeting);
    let a = host(&mut b, "a", 1, move || first.wait());
    let sum = b.graph().buffer("sum", 256);
    let binds = [("src", whole(a)), ("dst", whole(sum))];
    b.compute("add", PassQueue::Compute, ADD, Groups::Fixed([1, 1, 1]), &binds);
    b.graph().root(sum);
    let c = host(&mut b, "c", 2, move || second.wait());
    let compiled = b.compile(&device.0);
    let frame = compiled.run(&Inputs::default()).unwrap();
    assert_eq!(words(frame.read(sum).unwrap().bytes()), vec![0x0101_0102; 64]);
    assert_eq!(words(frame.read(c).unwrap().bytes()), vec![0x0202_0202; 64]);
}

#[test]
fn functions_that_record_steps_meet() {
    let Some(device) = device(2) else { return };
    let (mut b, meeting) = (Bench::new([8, 8]), Meeting::of(3));
    for at in 0..3 {
        let meeting = meeting.clone();
        let out = b.graph().buffer(&format!("out{at}"), 256);
        b.graph().root(out);
        let pass = b.pass(&format!("record{at}"), PassQueue::Compute, &[(out, using(Usage::StorageWrite))]);
        let work = Function(move || meeting.wait(), 0);
        b.workload.works.insert(pass, Work::Record(Arc::new(work)));
    }
    b.compile(&device.0).run(&Inputs { read: Some(Vec::new()), ..Inputs::default() }).unwrap();
}

/// As many as two cores record at once.
#[test]
fn functions_that_record_commands_meet() {
    let Some(device) = device(2) else { return };
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        return;
    }
    let (mut b, meeting) = (Bench::new([8, 8]), Meeting::of(2));
    for at in 0..2 {
        let meeting = meeting.clone();
        let out = b.graph().buffer(&format!("out{at}"), 256);
        b.graph().root(out);
        let filled = Use { transfer: Some(Transfer::Fill), ..using(Usage::TransferDst) };
        let pass = b.pass(&format!("raw{at}"), PassQueue::Compute, &[(out, filled)]);
        b.workload.works.insert(pass, Work::Raw(Arc::new(Function(move || meeting.wait(), 0))));
    }
    b.compile(&device.0).run(&Inputs { read: Some(Vec::new()), ..Inputs::default() }).unwrap();
}

/// The first error arrives, functions of later sets do not begin, and the next run works.
#[test]
fn a_function_that_fails_ends_the_run() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let failing = Arc::new(Mutex::new(true));
    let fails = failing.clone();
    let a = host(&mut b, "a", 1, move || if *fails.lock().unwrap() { Err("no".into()) } else { Ok(()) });
    let slow = host(&mut b, "slow", 2, || {
        std::thread::sleep(Duration::from_millis(20));
        Ok(())
    });
    let out = b.graph().buffer("out", 256);
    b.graph().root(out);
    let uses = [(out, using(Usage::HostWrite)), (a, using(Usage::HostRead)), (slow, using(Usage::HostRead))];
    let last = b.pass("last", PassQueue::Cpu, &uses);
    let calls = Arc::new(Mutex::new(0));
    let count = calls.clone();
    let work = move || {
        *count.lock().unwrap() += 1;
        Ok(())
    };
    b.workload.works.insert(last, Work::Host(Arc::new(Function(work, 3))));
    let compiled = b.compile(&device.0);
    let error = compiled.run(&Inputs::default()).unwrap_err();
    assert!(matches!(&error, Error::Callback(error) if error.to_string() == "no"), "{error}");
    assert_eq!(*calls.lock().unwrap(), 0);
    *failing.lock().unwrap() = false;
    let frame = compiled.run(&Inputs::default()).unwrap();
    assert_eq!(words(frame.read(out).unwrap().bytes()), vec![0x0303_0303; 64]);
    assert_eq!(*calls.lock().unwrap(), 1);
}

/// A function that runs a graph of another device, which has as many functions itself, ends; one that would wait for
/// its own device is refused on any thread.
#[test]
fn runs_within_functions_end_or_are_refused() {
    let (Some(device), Some(other)) = (device(2), device(2)) else { return };
    let mut inner = Bench::new([8, 8]);
    for at in 0..12 {
        host(&mut inner, &format!("inner{at}"), 1, || Ok(()));
    }
    let inner = inner.compile(&other.0);
    let mut own = Bench::new([8, 8]);
    host(&mut own, "own", 1, || Ok(()));
    let own = own.compile(&device.0);
    let mut b = Bench::new([8, 8]);
    for at in 0..24 {
        let (inner, own) = (inner.clone(), own.clone());
        host(&mut b, &format!("outer{at}"), 1, move || {
            inner.run(&Inputs::default())?;
            match own.run(&Inputs::default()) {
                Err(error) if error.to_string().starts_with("RG-E402") => Ok(()),
                other => Err(format!("it is not refused: {other:?}").into()),
            }
        });
    }
    b.compile(&device.0).run(&Inputs::default()).unwrap();
}
