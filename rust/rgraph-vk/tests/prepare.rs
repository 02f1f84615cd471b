//! Graphs compiled in the background: all pipelines before the first frame, none of them in it, and devices that are
//! closed meanwhile.

#[path = "support/bench.rs"]
mod bench;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bench::{Bench, device, using, whole, words};
use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_vk::work::{Groups, Workload};
use rgraph_vk::{Code, Error, Inputs, pipelines_made_so_far};

/// Pipelines are counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// So that no shader is like another one.
static NUMBER: AtomicU32 = AtomicU32::new(1);

const DRAW: &str = "
@vertex fn vs(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
  return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(NUMBER.0); }";

/// Passes with a shader each, which takes longer to compile the deeper its calls are; and a draw. The words of the
/// first are `first`.
fn shaders(passes: u32, depth: u32) -> (Workload, u32) {
    let first = NUMBER.fetch_add(passes, Ordering::Relaxed);
    let mut b = Bench::new([16, 16]);
    for number in first..first + passes {
        let calls: String =
            (0..depth).map(|at| format!("fn f{at}() -> u32 {{ return f{0}() + f{0}(); }}\n", at + 1)).collect();
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
            {calls} fn f{depth}() -> u32 {{ return {number}u; }}
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {{ words[at] = f0(); }}"
        );
        let buffer = b.graph().buffer(&format!("words{number}"), 256);
        let groups = Groups::Fixed([1, 1, 1]);
        b.compute(&format!("c{number}"), PassQueue::Compute, &text, groups, &[("words", whole(buffer))]);
        b.graph().root(buffer);
    }
    let target = b.graph().image("target", Format::Rgba8unorm);
    let text = DRAW.replace("NUMBER", &first.to_string());
    b.raster("draw", &text, &[(target, using(Usage::ColorAttachment))], &[]);
    b.graph().root(target);
    (b.workload, first)
}

#[test]
fn a_frame_makes_no_pipeline_once_its_graph_is_prepared() {
    let Some(device) = device(2) else { return };
    let _alone = ALONE.lock();
    let (workload, first) = shaders(12, 0);
    let root = workload.graph.roots()[0];
    let before = pipelines_made_so_far();
    let preparation = device.0.prepare(workload, &Default::default()).expect("the device is open");
    assert!(preparation.wait(None) && preparation.is_done());
    assert_eq!((preparation.pipelines(), preparation.pipelines_made()), (13, 13));
    assert_eq!(pipelines_made_so_far() - before, 13);
    let compiled = preparation.take().expect("it is done").expect("it compiles");
    assert!(preparation.take().is_none(), "it is taken once");
    let frame = compiled.run(&Inputs::default()).expect("runs");
    assert_eq!(words(frame.read(root).expect("is read").bytes())[0], first);
    assert_eq!(pipelines_made_so_far() - before, 13, "the frame found all of them");
}

#[test]
fn one_pipeline_is_counted_as_many_are_and_a_known_one_is_not() {
    let Some(device) = device(2) else { return };
    let _alone = ALONE.lock();
    let (workload, _) = shaders(0, 0);
    for counted in [1, 0] {
        let preparation = device.0.prepare(workload.clone(), &Default::default()).expect("the device is open");
        assert!(preparation.wait(Some(Duration::from_secs(60))));
        assert_eq!((preparation.pipelines(), preparation.pipelines_made()), (counted, counted));
        preparation.take().expect("it is done").expect("it compiles");
    }
}

#[test]
fn an_error_of_a_preparation_names_the_pass() {
    let Some(device) = device(2) else { return };
    let _alone = ALONE.lock();
    let (mut workload, _) = shaders(3, 0);
    let mut b = Bench { workload: std::mem::replace(&mut workload, Bench::new([1, 1]).workload) };
    let text = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(4096, 4096) fn main() { words[0] = 1u; }";
    let wide = b.graph().buffer("wide", 256);
    b.compute("wide", PassQueue::Compute, text, Groups::Fixed([1, 1, 1]), &[("words", whole(wide))]);
    b.graph().root(wide);
    let preparation = device.0.prepare(b.workload, &Default::default()).expect("the device is open");
    assert!(preparation.wait(None));
    match preparation.take() {
        Some(Err(Error::Device(error))) => {
            assert_eq!((error.code, error.pass.as_deref()), (Code::Missing, Some("wide")));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn closing_the_device_gives_up_what_is_prepared() {
    let Some(device) = device(2) else { return };
    let _alone = ALONE.lock();
    let before = pipelines_made_so_far();
    let (workload, _) = shaders(64, 11);
    let preparation = device.0.prepare(workload, &Default::default()).expect("the device is open");
    while preparation.pipelines() == 0 && !preparation.is_done() {
        std::thread::yield_now();
    }
    device.0.close().expect("closes");
    assert!(preparation.is_done(), "a closed device has no threads inside");
    assert!(pipelines_made_so_far() - before < 65, "those that were not begun are not made");
    assert!(matches!(preparation.take(), Some(Err(Error::Device(error))) if error.code == Code::Closed));
    let refused = device.0.prepare(shaders(1, 0).0, &Default::default());
    assert!(matches!(refused, Err(Error::Device(error)) if error.code == Code::Closed));
}

#[test]
fn a_task_runs_on_a_thread_of_the_callers_or_ends_with_an_error() {
    let Some(device) = device(2) else { return };
    let _alone = ALONE.lock();
    let (workload, _) = shaders(2, 0);
    let again = workload.clone();
    let compile = |workload| move |device: &rgraph_vk::Device| device.compile(workload, &Default::default());
    let (preparation, task) = device.0.preparation(compile(workload)).expect("the device is open");
    assert!(!preparation.is_done() && preparation.take().is_none());
    assert!(!preparation.wait(Some(Duration::from_millis(1))));
    std::thread::scope(|scope| scope.spawn(|| task.run()).join().expect("does not panic"));
    preparation.take().expect("it is done").expect("it compiles");

    let (preparation, task) = device.0.preparation(compile(again)).expect("the device is open");
    drop(task);
    assert!(matches!(preparation.take(), Some(Err(Error::Device(error))) if error.code == Code::Failed));
}

#[test]
fn a_graph_is_prepared_behind_the_one_that_runs() {
    let Some(device) = device(2) else { return };
    let _alone = ALONE.lock();
    let (workload, _) = shaders(1, 0);
    let first = device.0.compile(workload, &Default::default()).expect("compiles");
    first.run(&Inputs::default()).expect("runs");
    let (workload, _) = shaders(2, 0);
    let (before, options) = (first.clone(), Default::default());
    let next = device.0.preparation(move |device| device.compile_next(&before, workload, &options));
    let (preparation, task) = next.expect("the device is open");
    let thread = std::thread::spawn(move || task.run());
    while !preparation.is_done() {
        first.run(&Inputs::default()).expect("runs on until the next one does");
    }
    thread.join().expect("does not panic");
    let next = preparation.take().expect("it is done").expect("it compiles");
    next.run(&Inputs::default()).expect("runs");
}
