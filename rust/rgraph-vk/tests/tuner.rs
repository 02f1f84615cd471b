//! W5, the closed loop on a device: plans are tried while frames run, and every frame computes the same. Times come
//! from the test, so no clock decides.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::bake::Options;
use rgraph_plan::bake::propose::{Problem, Tried};
use rgraph_plan::graph::Use;
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::Policy;
use rgraph_plan::resource::{History, Life, Resource, ResourceId};
use rgraph_plan::tune::{Phase, Settings};
use rgraph_shader::{Kind, Program};
use rgraph_vk::work::{Groups, Workload};
use rgraph_vk::{Background, Compiled, Device, Inputs, Tuner, TunerOptions, Upload};

use crate::support::bench::{Bench, bytes, device, program, whole, words};

const ADD: &str = "
    var<push_constant> more: u32;
    @group(0) @binding(0) var<storage, read> src: array<u32>;
    @group(0) @binding(1) var<storage, read_write> dst: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] + more; }";

const COUNT: &str = "
    @group(0) @binding(0) var<storage, read> src: array<u32>;
    @group(0) @binding(1) var<storage, read_write> sum: array<u32>;
    @group(0) @binding(2) var<storage, read> before: array<u32>;
    @group(0) @binding(3) var<storage, read_write> out: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        sum[id.x] = sum[id.x] + src[id.x];
        out[id.x] = sum[id.x] * 1000u + before[id.x];
    }";

struct Frame {
    workload: Workload,
    first: ResourceId,
    out: ResourceId,
}

/// Two chains of three passes, declared one behind the other: other policies make other orders of them. With contents
/// that live from frame to frame: a sum, and what the frame before made.
fn frame(lasting: bool) -> Frame {
    let mut bench = Bench::new([1, 1]);
    let first = bench.import_buffer("first", 256);
    let add = program(Kind::Compute, ADD);
    let mut ends = Vec::new();
    for chain in ["a", "b"] {
        let mut last = first;
        for at in 0..3 {
            let next = bench.graph().buffer(&format!("{chain}{at}"), 256);
            step(&mut bench, &add, &format!("{chain}/p{at}"), last, next);
            last = next;
        }
        ends.push(last);
    }
    let out = bench.graph().buffer("out", 256);
    if lasting {
        let sum = bench.persistent_buffer("sum", 256);
        let before = bench.graph().add_resource(
            "before",
            Resource { life: Life::History(History { of: out, frames: 1, zero_first: true }), ..Resource::buffer(256) },
            None,
        );
        let uses = [
            (ends[0], Use::new(Usage::StorageRead)),
            (sum, Use::new(Usage::StorageReadWrite)),
            (before, Use::new(Usage::StorageRead)),
            (out, Use::new(Usage::StorageWrite)),
        ];
        let pass = bench.pass("count", PassQueue::Compute, &uses);
        let binds = [("src", whole(ends[0])), ("sum", whole(sum)), ("before", whole(before)), ("out", whole(out))];
        bench.dispatch(pass, &program(Kind::Compute, COUNT), Groups::Fixed([1; 3]), &binds, Vec::new());
        bench.graph().root(ends[1]);
    } else {
        step(&mut bench, &add, "join", ends[0], out);
        bench.graph().root(ends[1]);
    }
    bench.graph().root(out);
    Frame { workload: bench.workload, first, out }
}

fn step(bench: &mut Bench, add: &Arc<Program>, name: &str, src: ResourceId, dst: ResourceId) {
    let uses = [(src, Use::new(Usage::StorageRead)), (dst, Use::new(Usage::StorageWrite))];
    let pass = bench.pass(name, PassQueue::Compute, &uses);
    let binds = [("src", whole(src)), ("dst", whole(dst))];
    bench.dispatch(pass, add, Groups::Fixed([1; 3]), &binds, 1_u32.to_le_bytes().to_vec());
}

/// Work in the background is done at once.
fn at_once() -> Background {
    Arc::new(|job| job())
}

/// The names of the passes in the order in which they run.
fn order(plan: &Plan) -> String {
    plan.live().map(|pass| plan.pass_name(pass)).collect::<Vec<_>>().join(" ")
}

fn is_interleaved(plan: &Plan) -> bool {
    order(plan).starts_with("a/p0 b/p0") || order(plan).starts_with("b/p0 a/p0")
}

fn options(declared: f64, interleaved: f64) -> TunerOptions {
    TunerOptions {
        settings: Settings { sample: 1, weigh: 2, frames: 4, ..Settings::default() },
        options: Options { policy: Policy::Declared, ..Options::default() },
        times: Some(Box::new(move |plan, _| Ok(Some(if is_interleaved(plan) { interleaved } else { declared })))),
        background: Some(at_once()),
        ..TunerOptions::default()
    }
}

fn compiled(device: &Device, frame: &Frame) -> Compiled {
    let options = Options { policy: Policy::Declared, ..Options::default() };
    let compiled = device.compile(frame.workload.clone(), &options).unwrap();
    assert!(!is_interleaved(compiled.plan()), "{}", order(compiled.plan()));
    compiled
}

fn read(done: &rgraph_vk::Frame, frame: &Frame) -> Vec<u32> {
    words(done.read(frame.out).unwrap().bytes())
}

/// Runs frames; results are those of `wanted`, which runs separately.
fn run(tuner: &Tuner, wanted: &Compiled, frame: &Frame, frames: std::ops::Range<u32>) {
    for at in frames {
        let given = bytes(&[at; 64]);
        let inputs = || Inputs { uploads: vec![(frame.first, Upload::Bytes(&given))], ..Inputs::default() };
        let got = tuner.run(inputs()).unwrap();
        let right = wanted.run(&inputs()).unwrap();
        assert_eq!(read(&got, frame), read(&right, frame), "frame {at}");
    }
}

#[test]
fn a_better_plan_is_kept_a_slow_one_rejected_and_no_frame_differs() {
    let Some(device) = device(2) else { return };
    for lasting in [false, true] {
        for (interleaved, stays) in [(50.0, true), (150.0, false)] {
            let frame = frame(lasting);
            let (base, wanted) = (compiled(&device.0, &frame), compiled(&device.0, &frame));
            let tuner = Tuner::new(&base, options(100.0, interleaved));
            run(&tuner, &wanted, &frame, 0..200);
            assert_eq!(tuner.phase(), Phase::Settled);
            let trials = tuner.trials();
            assert!(!trials.is_empty());
            assert_eq!(trials.iter().filter(|trial| trial.kept).count(), usize::from(stays), "{trials:?}");
            assert_eq!(is_interleaved(tuner.kept().plan()), stays);
            assert_eq!(tuner.weights().len(), frame.workload.graph.passes().len());
            // Frames that are not tuned go on where the others ended.
            let given = bytes(&[7; 64]);
            let inputs = || Inputs { uploads: vec![(frame.first, Upload::Bytes(&given))], ..Inputs::default() };
            let got = tuner.run_kept(inputs()).unwrap();
            let right = wanted.run(&inputs()).unwrap();
            assert_eq!(read(&got, &frame), read(&right, &frame));
        }
    }
}

#[test]
fn searching_in_the_background_changes_no_frame_either() {
    let Some(device) = device(2) else { return };
    let frame = frame(true);
    let (base, wanted) = (compiled(&device.0, &frame), compiled(&device.0, &frame));
    let tuner = Tuner::new(&base, TunerOptions { background: None, ..options(100.0, 50.0) });
    let mut at = 0;
    while tuner.phase() != Phase::Settled {
        run(&tuner, &wanted, &frame, at..at + 1);
        at += 1;
        assert!(at < 100_000, "{:?}", tuner.trials());
    }
    assert!(is_interleaved(tuner.kept().plan()));
}

#[test]
fn what_is_not_given_again_stays_whichever_plan_runs() {
    let Some(device) = device(2) else { return };
    let frame = frame(false);
    let (base, wanted) = (compiled(&device.0, &frame), compiled(&device.0, &frame));
    let tuner = Tuner::new(&base, options(100.0, 50.0));
    let pass = frame.workload.graph.find_pass("join").unwrap();
    let given = bytes(&[5; 64]);
    for at in 0..100 {
        let push = if at == 0 { vec![(pass, 40_u32.to_le_bytes().to_vec())] } else { Vec::new() };
        let inputs =
            || Inputs { uploads: vec![(frame.first, Upload::Bytes(&given))], push: push.clone(), ..Inputs::default() };
        let got = tuner.run(inputs()).unwrap();
        let right = wanted.run(&inputs()).unwrap();
        let [got, right] = [got, right].map(|done| read(&done, &frame));
        assert_eq!((got[0], &got), (48, &right), "frame {at}");
    }
    assert!(is_interleaved(tuner.kept().plan()));
}

#[test]
fn what_goes_wrong_in_the_background_is_recorded_and_frames_go_on() {
    let Some(device) = device(2) else { return };
    let frame = frame(false);
    let (base, wanted) = (compiled(&device.0, &frame), compiled(&device.0, &frame));
    let jobs = Arc::new(AtomicU32::new(0));
    let counted = jobs.clone();
    let background: Background = Arc::new(move |job| {
        // The search is done; what would compile is given up.
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            job();
        }
    });
    let tuner = Tuner::new(&base, TunerOptions { background: Some(background), ..options(100.0, 50.0) });
    run(&tuner, &wanted, &frame, 0..60);
    assert_eq!(tuner.phase(), Phase::Settled);
    assert!(jobs.load(Ordering::Relaxed) > 1);
    let trials = tuner.trials();
    assert!(trials.iter().all(|trial| !trial.kept && trial.why.contains("given up")), "{trials:?}");
    assert!(!is_interleaved(tuner.kept().plan()));
}

#[test]
fn a_hook_may_look_at_the_tuner_that_calls_it() {
    let Some(device) = device(2) else { return };
    let frame = frame(false);
    let (base, wanted) = (compiled(&device.0, &frame), compiled(&device.0, &frame));
    let seen = Arc::new(OnceLock::<Arc<Tuner>>::new());
    let known = seen.clone();
    let asked = Arc::new(AtomicU32::new(0));
    let counted = asked.clone();
    let hook = move |_: &Problem, _: &[Tried]| {
        counted.fetch_add(1, Ordering::Relaxed);
        assert_eq!(known.get().unwrap().trials(), []);
        None
    };
    let tuner = Arc::new(Tuner::new(&base, TunerOptions { hook: Some(Box::new(hook)), ..options(100.0, 50.0) }));
    assert!(seen.set(tuner.clone()).is_ok());
    run(&tuner, &wanted, &frame, 0..60);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_source_of_times_that_fails_fails_the_run_and_the_next_one_works() {
    let Some(device) = device(2) else { return };
    let frame = frame(false);
    let base = compiled(&device.0, &frame);
    let times: rgraph_vk::Measured = Box::new(|_, _| Err("no clock".into()));
    let tuner = Tuner::new(&base, TunerOptions { times: Some(times), ..options(1.0, 1.0) });
    let given = bytes(&[5; 64]);
    let inputs = || Inputs { uploads: vec![(frame.first, Upload::Bytes(&given))], ..Inputs::default() };
    tuner.run(inputs()).unwrap().wait(None).unwrap();
    assert!(tuner.run(inputs()).unwrap_err().to_string().contains("no clock"));
    let done = tuner.run(inputs()).unwrap();
    assert_eq!(read(&done, &frame)[0], 9);
}
