//! Compute passes, what they are given, and what outlives a frame.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::format::Format;
use rgraph_plan::graph::Use;
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{History, Image, Life, Resource as Declared, ResourceId};
use rgraph_shader::Kind;
use rgraph_vk::work::{
    CallbackError, Commands, Dispatch, Groups, HostViews, HostWork, RecordWork, Step, View, What, Work,
};
use rgraph_vk::{Error, Inputs, Measure, Upload};

use crate::support::bench::{self, Bench, bytes, device, program, using, whole, words};

const RAMP: &str = "
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4<f32>(vec2<f32>(id.xy) / 255.0, 0.2, 1.0));
}";

const SWAP: &str = "
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, textureLoad(src, id.xy, 0).yxzw);
}";

#[test]
fn two_dispatches_in_a_row() {
    let Some(device) = device(2) else { return };
    let mut bench = Bench::new([64, 32]);
    let [a, b] = ["a", "b"].map(|name| bench.graph().image(name, Format::Rgba8unorm));
    bench.graph().root(b);
    bench.compute("ramp", PassQueue::Compute, RAMP, Groups::Cover(a, 0), &[("dst", whole(a))]);
    bench.compute("swap", PassQueue::Compute, SWAP, Groups::Cover(b, 0), &[("src", whole(a)), ("dst", whole(b))]);
    let compiled = bench.compile(&device.0);
    for run in 0..5 {
        let frame = compiled.run(&Inputs { measure: Measure::Passes, ..Inputs::default() }).unwrap();
        let pixels = frame.read(b).unwrap();
        assert_eq!(pixels.bytes().len(), 64 * 32 * 4);
        for (at, texel) in pixels.bytes().chunks(4).enumerate() {
            assert_eq!(texel, [(at / 64) as u8, (at % 64) as u8, 51, 255], "texel {at} of run {run}");
        }
        let report = frame.report().unwrap();
        assert_eq!(report.passes.len(), 2);
        assert_eq!(report.recorded, run < 2);
    }
}

const ADD: &str = "
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
struct Params { add: u32, times: u32 }
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] * params.times + params.add; }
}";

fn params(add: u32, times: u32) -> What {
    What::Data(bytes(&[add, times]))
}

#[test]
fn arrays_and_parameters_change_without_recording() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let src = b.import_buffer("src", 1024);
    let mid = b.graph().buffer("mid", 1024);
    let dst = b.graph().buffer("dst", 1024);
    b.graph().root(dst);
    let cover = |of| Groups::Cover(of, 0);
    let binds = [("src", whole(src)), ("dst", whole(mid)), ("params", params(1, 1))];
    b.compute("one", PassQueue::Compute, ADD, cover(mid), &binds);
    let two = b.compute(
        "two",
        PassQueue::AsyncCompute,
        ADD,
        cover(dst),
        &[("src", whole(mid)), ("dst", whole(dst)), ("params", params(0, 1))],
    );
    let compiled = b.compile(&device.0);
    for run in 0..8u32 {
        let array = bytes(&(0..256).map(|at| at * run).collect::<Vec<_>>());
        let inputs = Inputs {
            uploads: vec![(src, Upload::Bytes(&array))],
            data: vec![(two, 2, bytes(&[run, 3]))],
            ..Inputs::default()
        };
        let frame = compiled.run(&inputs).unwrap();
        let expected: Vec<_> = (0..256).map(|at| (at * run + 1) * 3 + run).collect();
        assert_eq!(words(frame.read(dst).unwrap().bytes()), expected, "run {run}");
        assert_eq!(frame.report().unwrap().recorded, run < 2, "run {run}");
    }
    let kept = compiled.run(&Inputs::default()).unwrap();
    assert_eq!(words(kept.read(dst).unwrap().bytes())[1], (7 + 1) * 3 + 7, "what is not given again stays");
    for (inputs, words) in [
        (Inputs { data: vec![(two, 1, bytes(&[0, 3]))], ..Inputs::default() }, "\"two\" has no data at binding 1"),
        (
            Inputs { push: vec![(two, vec![0; 8])], ..Inputs::default() },
            "\"two\" gets 8 bytes of push data, and reads none",
        ),
    ] {
        let message = compiled.run(&inputs).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    let short = compiled.run(&Inputs { uploads: vec![(src, Upload::Bytes(&[0; 4]))], ..Inputs::default() });
    let message = short.unwrap_err().to_string();
    assert!(message.contains("\"src\" takes 1024 bytes, and 4 are given"), "{message}");
}

#[test]
fn persistent_and_history_carry_over_frames_in_flight() {
    for frames in [1, 2, 3] {
        let Some(device) = device(frames) else { return };
        let mut b = Bench::new([8, 8]);
        let count = b.persistent_buffer("count", 256);
        let now = b.graph().buffer("now", 256);
        let history = History { of: now, frames: 2, zero_first: true };
        let earlier = Declared { life: Life::History(history), ..Declared::buffer(256) };
        let earlier = b.graph().add_resource("earlier", earlier, None);
        b.graph().root(now);
        b.compute(
            "count",
            PassQueue::Compute,
            "
            @group(0) @binding(0) var<storage, read_write> count: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { count[id.x] += 1u; }",
            Groups::Fixed([1, 1, 1]),
            &[("count", whole(count))],
        );
        b.compute(
            "now",
            PassQueue::AsyncCompute,
            "
            @group(0) @binding(0) var<storage, read> count: array<u32>;
            @group(0) @binding(1) var<storage, read> earlier: array<u32>;
            @group(0) @binding(2) var<storage, read_write> now: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                now[id.x] = count[id.x] + 10u * earlier[id.x];
            }",
            Groups::Fixed([1, 1, 1]),
            &[("count", whole(count)), ("earlier", whole(earlier)), ("now", whole(now))],
        );
        let compiled = b.compile(&device.0);
        // Submitted without waiting, so that frames overlap.
        let done: Vec<_> = (0..9).map(|_| compiled.run(&Inputs::default()).unwrap()).collect();
        let mut expected = vec![0u32, 0];
        for run in 0..9u32 {
            expected.push((run + 1).wrapping_add(expected[run as usize].wrapping_mul(10)));
        }
        for (run, frame) in done.iter().enumerate() {
            let got = words(frame.read(now).unwrap().bytes());
            assert_eq!(got, vec![expected[run + 2]; 64], "run {run} with {frames} frames in flight");
        }
    }
}

#[test]
fn a_pass_that_is_off_is_read_through_its_fallback() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [plain, better, dst] = ["plain", "better", "dst"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(dst);
    let fill = "
        @group(0) @binding(0) var<storage, read_write> dst: array<u32>;
        struct Params { word: u32 }
        @group(0) @binding(1) var<uniform> params: Params;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = params.word; }";
    let one = Groups::Fixed([1, 1, 1]);
    let word = |word: u32| What::Data(bytes(&[word]));
    b.compute("plain", PassQueue::Compute, fill, one, &[("dst", whole(plain)), ("params", word(1))]);
    let improve = b.compute("improve", PassQueue::Compute, fill, one, &[("dst", whole(better)), ("params", word(2))]);
    let flag = b.graph().flag("quality");
    b.graph().pass_mut(improve).conditional = Some(flag);
    b.graph().fallback(improve, better, plain);
    b.compute(
        "copy",
        PassQueue::Compute,
        ADD,
        one,
        &[("src", whole(better)), ("dst", whole(dst)), ("params", params(0, 1))],
    );
    let compiled = b.compile(&device.0);
    for (run, on) in [true, false, false, true, false, true].into_iter().enumerate() {
        let flags = vec![("quality".to_owned(), on)];
        let frame = compiled.run(&Inputs { flags, ..Inputs::default() }).unwrap();
        assert_eq!(words(frame.read(dst).unwrap().bytes())[0], if on { 2 } else { 1 }, "run {run}");
    }
    let unknown = compiled.run(&Inputs { flags: vec![("qualty".to_owned(), true)], ..Inputs::default() });
    assert!(unknown.unwrap_err().to_string().contains("\"quality\""));
}

struct Double {
    calls: AtomicU32,
    fails: AtomicU32,
}

impl HostWork for Double {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.fails.load(Ordering::SeqCst) > 0 {
            return Err("as asked".into());
        }
        let [from, to] = &mut *views.views else { return Err("two views".into()) };
        assert!(from.bytes.writable().is_none() && from.name == "a" && to.name == "b");
        let written = to.bytes.writable().ok_or("a writable view")?;
        for (to, from) in written.chunks_mut(4).zip(from.bytes.chunks(4)) {
            to.copy_from_slice(&(words(from)[0] * 2).to_le_bytes());
        }
        Ok(())
    }
}

#[test]
fn host_passes_run_in_their_place_and_may_fail() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let count = b.persistent_buffer("count", 256);
    let [a, c, dst] = ["a", "b", "dst"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(dst);
    let one = Groups::Fixed([1, 1, 1]);
    b.compute(
        "count",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var<storage, read_write> count: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { count[id.x] += id.x; }",
        one,
        &[("count", whole(count))],
    );
    b.compute("a", PassQueue::Compute, ADD, one, &[("src", whole(count)), ("dst", whole(a)), ("params", params(0, 1))]);
    let host = b.pass("double", PassQueue::Cpu, &[(a, using(Usage::HostRead)), (c, using(Usage::HostWrite))]);
    let work = Arc::new(Double { calls: AtomicU32::new(0), fails: AtomicU32::new(0) });
    b.workload.works.insert(host, Work::Host(work.clone()));
    b.compute("dst", PassQueue::Compute, ADD, one, &[("src", whole(c)), ("dst", whole(dst)), ("params", params(5, 1))]);
    let compiled = b.compile(&device.0);
    let frames: Vec<_> = (0..6).map(|_| compiled.run(&Inputs::default()).unwrap()).collect();
    for (run, frame) in (1..).zip(&frames) {
        let expected: Vec<_> = (0..64).map(|at| at * run * 2 + 5).collect();
        assert_eq!(words(frame.read(dst).unwrap().bytes()), expected, "run {run}");
    }
    work.fails.store(1, Ordering::SeqCst);
    let failed = compiled.run(&Inputs::default()).unwrap_err();
    assert!(matches!(&failed, Error::Callback(error) if error.to_string() == "as asked"), "{failed}");
    work.fails.store(0, Ordering::SeqCst);
    let frame = compiled.run(&Inputs::default()).unwrap();
    assert_eq!(words(frame.read(dst).unwrap().bytes())[1], 8 * 2 + 5, "the run after a failed one works");
    assert_eq!(work.calls.load(Ordering::SeqCst), 8);
}

struct Says(Arc<rgraph_shader::Program>, ResourceId, ResourceId, AtomicU32);

impl RecordWork for Says {
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError> {
        let times = self.3.fetch_add(1, Ordering::SeqCst);
        let binds = [("src", whole(self.1)), ("dst", whole(self.2)), ("params", params(times, 1))];
        let bound = bench::bound(&self.0, &binds);
        let groups = Groups::Fixed([1, 1, 1]);
        commands.steps.push(Step::Dispatch(Dispatch {
            program: self.0.clone(),
            bound,
            push: Default::default(),
            groups,
            key: 0,
        }));
        Ok(())
    }
}

#[test]
fn functions_say_steps_within_what_their_pass_declares() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let src = b.import_buffer("src", 256);
    let other = b.import_buffer("other", 256);
    let dst = b.graph().buffer("dst", 256);
    b.graph().root(dst);
    let add = program(Kind::Compute, ADD);
    let stages = |usage| Use { stages: rgraph_plan::access::Stages::COMPUTE_SHADER, ..Use::new(usage) };
    let uses = [(src, stages(Usage::StorageRead)), (dst, stages(Usage::StorageWrite))];
    let pass = b.pass("declared", PassQueue::Compute, &uses);
    b.pass("reads", PassQueue::Compute, &[(other, stages(Usage::StorageRead))]);
    let mut wrong = Bench { workload: b.workload.clone() };
    b.workload.works.insert(pass, Work::Record(Arc::new(Says(add.clone(), src, dst, AtomicU32::new(0)))));
    wrong.workload.works.insert(pass, Work::Record(Arc::new(Says(add, other, dst, AtomicU32::new(0)))));
    let data = bytes(&[7; 64]);
    let uploads = || vec![(src, Upload::Bytes(&data))];
    let compiled = b.compile(&device.0);
    for run in 0..4 {
        let frame = compiled.run(&Inputs { uploads: uploads(), ..Inputs::default() }).unwrap();
        assert_eq!(words(frame.read(dst).unwrap().bytes()), vec![7 + run; 64]);
    }
    let refused = wrong.compile(&device.0).run(&Inputs { uploads: uploads(), ..Inputs::default() }).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("\"declared\"") && text.contains("\"other\"") && text.contains("does not declare"), "{text}");
}

#[test]
fn plans_for_three_queues_fold_onto_what_is_there() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([16, 16]);
    let [x, y, z, dst] = ["x", "y", "z", "dst"].map(|name| b.graph().image(name, Format::R32uint));
    b.graph().root(dst);
    let write = "
        @group(0) @binding(0) var dst: texture_storage_2d<r32uint, write>;
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            textureStore(dst, id.xy, vec4<u32>(id.x + 16u * id.y)); }";
    let add = "
        @group(0) @binding(0) var a: texture_2d<u32>;
        @group(0) @binding(1) var b: texture_2d<u32>;
        @group(0) @binding(2) var dst: texture_storage_2d<r32uint, write>;
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            textureStore(dst, id.xy, textureLoad(a, id.xy, 0) + textureLoad(b, id.xy, 0)); }";
    let cover = |of| Groups::Cover(of, 0);
    b.compute("x", PassQueue::Compute, write, cover(x), &[("dst", whole(x))]);
    b.compute("y", PassQueue::AsyncCompute, add, cover(y), &[("a", whole(x)), ("b", whole(x)), ("dst", whole(y))]);
    b.compute("z", PassQueue::Compute, add, cover(z), &[("a", whole(x)), ("b", whole(y)), ("dst", whole(z))]);
    b.compute(
        "dst",
        PassQueue::AsyncCompute,
        add,
        cover(dst),
        &[("a", whole(z)), ("b", whole(y)), ("dst", whole(dst))],
    );
    let plan = bake(&b.workload.graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).unwrap();
    assert!(plan.batches.len() > 2);
    let compiled = device.0.compile_plan(Arc::new(plan), b.workload.clone()).unwrap();
    let frames: Vec<_> = (0..5).map(|_| compiled.run(&Inputs::default()).unwrap()).collect();
    for frame in &frames {
        let expected: Vec<u32> = (0..256).map(|at| at * 5).collect();
        assert_eq!(words(frame.read(dst).unwrap().bytes()), expected);
    }
}

#[test]
fn one_resource_goes_from_graph_to_graph() {
    let Some(device) = device(2) else { return };
    let shared = device.0.image("shared", Format::R32uint, [8, 8], 1, 1).unwrap();
    let import = |b: &mut Bench, defined: bool| {
        let id = b.graph().image("shared", Format::R32uint);
        let imported = rgraph_plan::resource::Imported { defined, ..Default::default() };
        b.graph().resource_mut(id).life = Life::Imported(imported);
        id
    };
    let mut writes = Bench::new([8, 8]);
    let target = import(&mut writes, false);
    writes.compute(
        "write",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var dst: texture_storage_2d<r32uint, write>;
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            textureStore(dst, id.xy, vec4<u32>(id.x * 3u)); }",
        Groups::Fixed([1, 1, 1]),
        &[("dst", whole(target))],
    );
    let mut reads = Bench::new([8, 8]);
    let source = import(&mut reads, true);
    let copy = reads.graph().image("copy", Format::R32uint);
    reads.graph().root(copy);
    reads.compute(
        "read",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var src: texture_2d<u32>;
        @group(0) @binding(1) var dst: texture_storage_2d<r32uint, write>;
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            textureStore(dst, id.xy, textureLoad(src, id.xy, 0) + 1u); }",
        Groups::Fixed([1, 1, 1]),
        &[("src", whole(source)), ("dst", whole(copy))],
    );
    let (writes, reads) = (writes.compile(&device.0), reads.compile(&device.0));
    for _ in 0..3 {
        writes.run(&Inputs { uploads: vec![(target, Upload::Resource(&shared))], ..Inputs::default() }).unwrap();
        let frame =
            reads.run(&Inputs { uploads: vec![(source, Upload::Resource(&shared))], ..Inputs::default() }).unwrap();
        assert_eq!(words(frame.read(copy).unwrap().bytes())[..3], [1, 4, 7]);
        assert_eq!(words(shared.read().unwrap().bytes())[..3], [0, 3, 6]);
        shared.write(&bytes(&[9; 64])).unwrap();
        let frame = reads.run(&Inputs::default()).unwrap();
        assert_eq!(words(frame.read(copy).unwrap().bytes())[..3], [10, 10, 10]);
    }
    let unbound = b_unbound(&device.0);
    assert!(unbound.to_string().contains("has nothing bound to it"), "{unbound}");
}

fn b_unbound(device: &rgraph_vk::Device) -> Error {
    let mut b = Bench::new([8, 8]);
    let src = b.import_buffer("src", 256);
    let dst = b.graph().buffer("dst", 256);
    b.graph().root(dst);
    let binds = [("src", whole(src)), ("dst", whole(dst)), ("params", params(0, 1))];
    b.compute("copy", PassQueue::Compute, ADD, Groups::Fixed([1, 1, 1]), &binds);
    b.compile(device).run(&Inputs::default()).unwrap_err()
}

#[test]
fn threads_run_graphs_on_one_device_and_on_their_own() {
    let Some(common) = device(2) else { return };
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let common = &common.0;
            scope.spawn(move || {
                let own = (thread % 2 == 1).then(|| device(2)).flatten();
                let device = own.as_ref().map_or(common, |own| &own.0);
                let mut b = Bench::new([8, 8]);
                let sum = b.persistent_buffer("sum", 256);
                let dst = b.graph().buffer("dst", 256);
                b.graph().root(dst);
                let one = Groups::Fixed([1, 1, 1]);
                b.compute(
                    "sum",
                    PassQueue::Compute,
                    "
                    @group(0) @binding(0) var<storage, read_write> sum: array<u32>;
                    struct Params { add: u32 }
                    @group(0) @binding(1) var<uniform> params: Params;
                    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                        sum[id.x] += params.add; }",
                    one,
                    &[("sum", whole(sum)), ("params", What::Data(bytes(&[thread + 1])))],
                );
                let binds = [("src", whole(sum)), ("dst", whole(dst)), ("params", params(0, 1))];
                b.compute("dst", PassQueue::AsyncCompute, ADD, one, &binds);
                let compiled = b.compile(device);
                for run in 1..=20 {
                    let frame = compiled.run(&Inputs::default()).unwrap();
                    assert_eq!(words(frame.read(dst).unwrap().bytes()), vec![run * (thread + 1); 64]);
                }
            });
        }
    });
}

#[test]
fn indirect_counts_are_read_from_a_buffer() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [counts, dst] = ["counts", "dst"].map(|name| b.graph().buffer(name, 1024));
    b.graph().root(dst);
    b.compute(
        "say",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var<storage, read_write> counts: array<u32>;
        @compute @workgroup_size(1) fn main() { counts[0] = 2u; counts[1] = 1u; counts[2] = 1u; }",
        Groups::Fixed([1, 1, 1]),
        &[("counts", whole(counts))],
    );
    let text = "
        @group(0) @binding(0) var<storage, read_write> dst: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = 1u; }";
    let program = program(Kind::Compute, text);
    let fill = Step::Transfer(rgraph_vk::work::Transfer::Fill { buffer: dst, offset: 0, size: None, word: 0 });
    let how = Use { transfer: Some(rgraph_plan::access::Transfer::Fill), ..using(Usage::TransferDst) };
    let clear = b.pass("clear", PassQueue::Compute, &[(dst, how)]);
    b.steps(clear, vec![fill.clone()]);
    let mut uses = bench::uses(&program, &[("dst", whole(dst))]);
    uses.push((counts, using(Usage::Indirect)));
    let pass = b.pass("count", PassQueue::Compute, &uses);
    b.dispatch(pass, &program, Groups::Indirect { buffer: counts, offset: 0 }, &[("dst", whole(dst))], Vec::new());
    let frame = b.compile(&device.0).run(&Inputs::default()).unwrap();
    assert_eq!(words(frame.read(dst).unwrap().bytes()).iter().sum::<u32>(), 128);
    let late = b.pass("late", PassQueue::Compute, &[(dst, using(Usage::TransferDst))]);
    b.steps(late, vec![fill]);
    let text = device.0.compile(b.workload, &Options::default()).unwrap_err().to_string();
    assert!(text.contains("has a fill of \"dst\", which it declares as a copy"), "{text}");
}

#[test]
fn what_a_pass_does_not_declare_is_refused() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [a, c] = ["a", "b"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(c);
    let program = program(Kind::Compute, ADD);
    let stages = |usage| Use { stages: rgraph_plan::access::Stages::COMPUTE_SHADER, ..Use::new(usage) };
    let first = b.pass("first", PassQueue::Compute, &[(a, stages(Usage::StorageWrite))]);
    let second = b.pass("second", PassQueue::Compute, &[(a, stages(Usage::Uniform)), (c, stages(Usage::StorageWrite))]);
    let binds = [("src", whole(a)), ("dst", whole(c)), ("params", params(0, 1))];
    b.dispatch(second, &program, Groups::Fixed([1, 1, 1]), &binds, Vec::new());
    let text = device.0.compile(b.workload.clone(), &Options::default()).unwrap_err().to_string();
    assert!(text.contains("pass \"second\"") && text.contains("\"a\"") && text.contains("as uniform only"), "{text}");
    b.workload.works.clear();
    let binds = [("src", whole(a)), ("dst", whole(a)), ("params", params(0, 1))];
    b.dispatch(first, &program, Groups::Fixed([1, 1, 1]), &binds, Vec::new());
    let text = device.0.compile(b.workload.clone(), &Options::default()).unwrap_err().to_string();
    assert!(text.contains("declares as storage_write only"), "{text}");
    let mut far = Bench::new([8, 8]);
    let image = far.graph().image("image", Format::R32uint);
    far.graph().root(image);
    let pass = far.pass("far", PassQueue::Compute, &[(image, stages(Usage::StorageWrite))]);
    let write = "
        @group(0) @binding(0) var dst: texture_storage_2d<r32float, write>;
        @compute @workgroup_size(8, 8) fn main() { textureStore(dst, vec2<u32>(0u), vec4<f32>(0.0)); }";
    let program = bench::program(Kind::Compute, write);
    far.dispatch(pass, &program, Groups::Fixed([1, 1, 1]), &[("dst", whole(image))], Vec::new());
    let text = device.0.compile(far.workload.clone(), &Options::default()).unwrap_err().to_string();
    assert!(text.contains("r32uint") && text.contains("r32float"), "{text}");
    let view = View { mips: Some([3, 4]), ..View::whole(image) };
    far.dispatch(pass, &program, Groups::Fixed([1, 1, 1]), &[("dst", What::Resource(view))], Vec::new());
    assert!(device.0.compile(far.workload, &Options::default()).is_err());
}

#[test]
fn images_the_device_cannot_make_are_refused_by_name() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let image = Image { format: Some(Format::Rgb9e5ufloat), ..Image::default() };
    let image = b.graph().add_resource("shared exponent", Declared::image(image), None);
    b.graph().root(image);
    let pass = b.pass("draw", PassQueue::Graphics, &[(image, using(Usage::ColorAttachment))]);
    b.steps(pass, Vec::new());
    match device.0.compile(b.workload, &Options::default()) {
        Ok(_) => {}
        Err(error) => assert!(error.to_string().contains("\"shared exponent\""), "{error}"),
    }
}

#[test]
fn nothing_grows_over_many_frames() {
    let Some(device) = device(3) else { return };
    let frames: u32 = std::env::var("RGRAPH_SOAK_FRAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let mut b = Bench::new([8, 8]);
    let src = b.import_buffer("src", 1024);
    let sum = b.persistent_buffer("sum", 1024);
    let mid = b.graph().buffer("mid", 1024);
    let dst = b.graph().buffer("dst", 1024);
    b.graph().root(dst);
    let cover = |of| Groups::Cover(of, 0);
    b.compute(
        "mid",
        PassQueue::Compute,
        ADD,
        cover(mid),
        &[("src", whole(src)), ("dst", whole(mid)), ("params", params(1, 1))],
    );
    let twice = b.compute(
        "twice",
        PassQueue::Compute,
        ADD,
        cover(mid),
        &[("src", whole(src)), ("dst", whole(mid)), ("params", params(2, 1))],
    );
    let flag = b.graph().flag("twice");
    b.graph().pass_mut(twice).conditional = Some(flag);
    b.compute(
        "sum",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var<storage, read> mid: array<u32>;
        @group(0) @binding(1) var<storage, read_write> sum: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { sum[id.x] += mid[id.x]; }",
        cover(sum),
        &[("mid", whole(mid)), ("sum", whole(sum))],
    );
    b.compute(
        "dst",
        PassQueue::Compute,
        ADD,
        cover(dst),
        &[("src", whole(sum)), ("dst", whole(dst)), ("params", params(0, 1))],
    );
    let compiled = b.compile(&device.0);
    let (mut expected, mut settled) = (0u32, None);
    for run in 0..frames {
        let array = bytes(&[run % 7; 256]);
        let on = run % 5 != 0;
        let inputs = Inputs {
            uploads: vec![(src, Upload::Bytes(&array))],
            flags: vec![("twice".to_owned(), on)],
            ..Inputs::default()
        };
        expected = expected.wrapping_add(run % 7 + if on { 2 } else { 1 });
        let frame = compiled.run(&inputs).unwrap();
        if run % 100 == 99 {
            assert_eq!(words(frame.read(dst).unwrap().bytes()), vec![expected; 256], "frame {run}");
            drop(frame);
            device.0.wait_idle().unwrap();
            let memory = device.0.memory();
            let now = (memory.held(), memory.live());
            // What the first hundred needed is all that is ever needed.
            assert_eq!(*settled.get_or_insert(now), now, "memory grew by frame {run}: {memory}");
        }
    }
}
