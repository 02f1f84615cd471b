//! Chaos runs: correct graphs come out equal whatever is changed, and mistakes that no declaration shows are found.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rgraph_plan::access::{Load, PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{PassId, Use};
use rgraph_plan::resource::{History, Image, Life, Mips, Resource as Declared, ResourceId};
use rgraph_shader::Kind;
use rgraph_vk::work::{CallbackError, Groups, HostViews, HostWork, What, Work};
use rgraph_vk::{ChaosFinding, ChaosOptions, ChaosReport, Device, DeviceOptions, Inputs, Switch, Upload};

use crate::support::bench::{Bench, bytes, demand, device, program, uses, using, whole};
use crate::support::hash;

const ONE: Groups = Groups::Fixed([1, 1, 1]);

const FILL: &str = "
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
struct Params { word: u32, count: u32 }
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < params.count { dst[id.x] = params.word + id.x; }
}";

const COPY: &str = "
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] * 3u; }";

fn fill(word: u32, count: u32) -> What {
    What::Data(bytes(&[word, count]))
}

/// Adds a pass that writes words of a buffer from the front, and how it declares that.
fn add_fill(b: &mut Bench, name: &str, dst: ResourceId, [word, count]: [u32; 2], how: impl Fn(&mut Use)) -> PassId {
    let program = program(Kind::Compute, FILL);
    let binds = [("dst", whole(dst)), ("params", fill(word, count))];
    let mut declared = uses(&program, &binds);
    declared.iter_mut().for_each(|(_, use_)| {
        use_.usage = Usage::StorageWrite;
        how(use_);
    });
    let pass = b.pass(name, PassQueue::Compute, &declared);
    b.dispatch(pass, &program, ONE, &binds, Vec::new());
    pass
}

fn add_copy(b: &mut Bench, name: &str, src: ResourceId, dst: ResourceId) -> PassId {
    b.compute(name, PassQueue::Compute, COPY, ONE, &[("src", whole(src)), ("dst", whole(dst))])
}

struct Function<F>(F);

impl<F: Fn(HostViews<'_>) + Send + Sync> HostWork for Function<F> {
    fn run(&self, views: HostViews<'_>) -> Result<(), CallbackError> {
        (self.0)(views);
        Ok(())
    }
}

/// Adds a function on the host that writes a buffer.
fn add_function(
    b: &mut Bench,
    name: &str,
    dst: ResourceId,
    function: impl Fn(&mut [u8]) + Send + Sync + 'static,
) -> PassId {
    let pass = b.pass(name, PassQueue::Cpu, &[(dst, using(Usage::HostWrite))]);
    let work = move |mut views: HostViews<'_>| {
        views.views.iter_mut().filter_map(|view| view.bytes.writable()).for_each(&function)
    };
    b.workload.works.insert(pass, Work::Host(Arc::new(Function(work))));
    pass
}

fn seeds(seeds: u64) -> ChaosOptions {
    ChaosOptions { seeds, ..ChaosOptions::default() }
}

fn the_finding(report: &ChaosReport) -> &ChaosFinding {
    assert_eq!(report.findings.len(), 1, "{report}");
    &report.findings[0]
}

fn names(finding: &ChaosFinding) -> [Option<&str>; 3] {
    [&finding.pass, &finding.other, &finding.resource].map(|name| name.as_deref())
}

#[test]
fn a_graph_that_declares_all_comes_out_equal_for_every_seed() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([16, 16]);
    let src = b.import_buffer("src", 256);
    let [one, two, three, dst] = ["one", "two", "three", "dst"].map(|name| b.graph().buffer(name, 256));
    let now = b.graph().buffer("now", 256);
    let earlier =
        Declared { life: Life::History(History { of: now, frames: 1, zero_first: true }), ..Declared::buffer(256) };
    let earlier = b.graph().add_resource("earlier", earlier, None);
    let pixels = b.graph().image("pixels", Format::Rgba8unorm);
    b.graph().root(dst);
    b.graph().root(now);
    b.graph().root(pixels);
    add_copy(&mut b, "first", src, one);
    add_fill(&mut b, "unneeded", two, [9, 64], |use_| use_.load = Some(Load::Discard));
    add_fill(&mut b, "second", two, [5, 64], |use_| use_.load = Some(Load::Discard));
    add_function(&mut b, "host", three, |bytes| bytes.fill(7));
    b.compute(
        "sum",
        PassQueue::AsyncCompute,
        "
        @group(0) @binding(0) var<storage, read> one: array<u32>;
        @group(0) @binding(1) var<storage, read> two: array<u32>;
        @group(0) @binding(2) var<storage, read> three: array<u32>;
        @group(0) @binding(3) var<storage, read> earlier: array<u32>;
        @group(0) @binding(4) var<storage, read_write> now: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            now[id.x] = one[id.x] + two[id.x] + three[id.x] + 2u * earlier[id.x];
        }",
        ONE,
        &[
            ("one", whole(one)),
            ("two", whole(two)),
            ("three", whole(three)),
            ("earlier", whole(earlier)),
            ("now", whole(now)),
        ],
    );
    add_copy(&mut b, "last", now, dst);
    b.raster(
        "draw",
        "
        @group(0) @binding(0) var<storage, read> now: array<u32>;
        @vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
            return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
        }
        @fragment fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
            return vec4<f32>(f32(now[u32(at.x)] & 255u) / 255.0, at.y / 16.0, 0.0, 1.0);
        }",
        &[(pixels, using(Usage::ColorAttachment))],
        &[("now", whole(now))],
    );
    let given = bytes(&(0..64).collect::<Vec<_>>());
    let inputs = Inputs { uploads: vec![(src, Upload::Bytes(&given))], ..Inputs::default() };
    let report = device.0.chaos(&b.workload, &inputs, &seeds(6)).unwrap();
    assert!(report.findings.is_empty() && report.notes.is_empty(), "{report}");
    assert_eq!(report.rows.len(), 1 + 6 * 9);
    assert!(report.rows.iter().all(|row| row.differs.is_none() && row.skipped.is_none()));
    let trials = 2 + 6 * 9 * 2;
    assert_eq!(
        report.runs,
        2 * trials,
        "two frames each, for the history; the reference before each, for the function"
    );
}

#[test]
fn generated_graphs_whose_results_are_defined_come_out_equal() {
    let found = Device::new(&DeviceOptions::default()).map_err(|error| error.to_string());
    let Some(device) = demand::demand(found) else { return };
    if device.info().name.contains("SwiftShader") {
        eprintln!("skipped: SwiftShader lacks a depth format that the graphs use");
        return;
    }
    let settings = hash::Settings::read(24, &[]);
    let report = hash::chaos::chaos(&device, settings);
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.graphs >= settings.graphs / 8, "{report}");
}

#[test]
fn a_function_that_counts_its_calls_is_found() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [plain, counted, dst] = ["plain", "counted", "dst"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(dst);
    add_function(&mut b, "plain", plain, |bytes| bytes.fill(3));
    let calls = AtomicU32::new(0);
    add_function(&mut b, "count", counted, move |bytes| bytes.fill(calls.fetch_add(1, Ordering::SeqCst) as u8));
    b.compute(
        "add",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var<storage, read> one: array<u32>;
        @group(0) @binding(1) var<storage, read> two: array<u32>;
        @group(0) @binding(2) var<storage, read_write> dst: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = one[id.x] + two[id.x]; }",
        ONE,
        &[("one", whole(plain)), ("two", whole(counted)), ("dst", whole(dst))],
    );
    let report = device.0.chaos(&b.workload, &Inputs::default(), &seeds(1)).unwrap();
    let finding = the_finding(&report);
    assert_eq!((finding.switch, names(finding)), (Switch::Again, [Some("count"), None, Some("counted")]));
}

#[test]
fn functions_whose_order_nobody_declares_are_found() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [one, two, three, dst] = ["one", "two", "three", "dst"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(dst);
    b.graph().root(three);
    // "write" leaves a word outside of the graph for "read": nothing declares that.
    let hidden = Arc::new(AtomicU32::new(0));
    let (writes, reads) = (hidden.clone(), hidden.clone());
    add_function(&mut b, "begin", three, move |bytes| {
        bytes.fill(1);
    });
    add_function(&mut b, "write", one, move |bytes| {
        writes.store(5, Ordering::SeqCst);
        bytes.fill(2);
    });
    add_function(&mut b, "read", two, move |bytes| bytes.fill(reads.swap(0, Ordering::SeqCst) as u8));
    b.compute(
        "add",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var<storage, read> one: array<u32>;
        @group(0) @binding(1) var<storage, read> two: array<u32>;
        @group(0) @binding(2) var<storage, read_write> dst: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = one[id.x] + two[id.x]; }",
        ONE,
        &[("one", whole(one)), ("two", whole(two)), ("dst", whole(dst))],
    );
    let report = device.0.chaos(&b.workload, &Inputs::default(), &seeds(20)).unwrap();
    let finding = the_finding(&report);
    assert_eq!((finding.switch, names(finding)[0], names(finding)[1]), (Switch::Order, Some("read"), Some("write")));
    let text = finding.mistake.to_string();
    assert!(text.contains("after=\"write\"") && text.starts_with("RG-E226"), "{text}");
}

#[test]
fn a_write_that_replaces_less_than_it_declares_is_found() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [words, seen, dst] = ["words", "seen", "dst"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(dst);
    b.graph().root(seen);
    add_fill(&mut b, "all", words, [100, 64], |_| {});
    add_copy(&mut b, "see", words, seen);
    add_fill(&mut b, "half", words, [500, 32], |use_| use_.load = Some(Load::Discard));
    add_copy(&mut b, "copy", words, dst);
    let report = device.0.chaos(&b.workload, &Inputs::default(), &seeds(1)).unwrap();
    let finding = the_finding(&report);
    assert_eq!((finding.switch, names(finding)), (Switch::Poison, [Some("copy"), Some("half"), Some("words")]));
}

#[test]
fn a_read_of_a_mip_that_nobody_wrote_is_found() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let image = Image { format: Some(Format::Rgba8unorm), mips: Some(Mips::Count(2)), ..Image::default() };
    let ramp = b.graph().add_resource("ramp", Declared::image(image), None);
    let dst = b.graph().buffer("dst", 256);
    b.graph().root(dst);
    b.compute(
        "ramp",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            textureStore(dst, id.xy, vec4<f32>(vec2<f32>(id.xy) / 8.0, 0.2, 1.0));
        }",
        ONE,
        &[("dst", whole(ramp))],
    );
    b.compute(
        "look",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var src: texture_2d<f32>;
        @group(0) @binding(1) var<storage, read_write> dst: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = id.xx % vec2<u32>(4u);
            dst[id.x] = pack4x8unorm(textureLoad(src, at, 1)) ^ pack4x8unorm(textureLoad(src, at, 0));
        }",
        ONE,
        &[("src", whole(ramp)), ("dst", whole(dst))],
    );
    let report = device.0.chaos(&b.workload, &Inputs::default(), &seeds(1)).unwrap();
    let finding = the_finding(&report);
    assert_eq!((finding.switch, names(finding)), (Switch::Poison, [Some("look"), Some("ramp"), Some("ramp")]));
}

#[test]
fn a_discarded_attachment_that_is_drawn_upon_in_part_is_found() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([16, 16]);
    let [back, pixels] = ["back", "pixels"].map(|name| b.graph().image(name, Format::Rgba8unorm));
    b.graph().root(back);
    b.graph().root(pixels);
    let draw = |size: &str| {
        format!(
            "
            @vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {{
                return vec4<f32>(f32(at & 1u) * {size} - 1.0, f32(at >> 1u) * {size} - 1.0, 0.0, 1.0);
            }}
            @fragment fn fragment() -> @location(0) vec4<f32> {{ return vec4<f32>(0.0, 0.6, 0.0, 1.0); }}"
        )
    };
    b.raster("sky", &draw("4.0"), &[(back, using(Usage::ColorAttachment))], &[]);
    let kept = Use { load: Some(Load::Discard), ..Use::new(Usage::ColorAttachment) };
    b.raster("triangle", &draw("1.0"), &[(pixels, kept)], &[]);
    let report = device.0.chaos(&b.workload, &Inputs::default(), &seeds(1)).unwrap();
    let finding = the_finding(&report);
    assert_eq!((finding.switch, names(finding)), (Switch::Poison, [Some("triangle"), None, Some("pixels")]));
}

#[test]
fn unordered_accesses_that_do_not_commute_are_found() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let sum = b.graph().buffer("sum", 256);
    b.graph().root(sum);
    add_fill(&mut b, "begin", sum, [1, 64], |_| {});
    let step = |b: &mut Bench, name: &str, text: &str| {
        let program = program(Kind::Compute, text);
        let binds = [("sum", whole(sum))];
        let mut declared = uses(&program, &binds);
        declared.iter_mut().for_each(|(_, use_)| use_.unordered = true);
        let pass = b.pass(name, PassQueue::Compute, &declared);
        b.dispatch(pass, &program, ONE, &binds, Vec::new());
    };
    let text = |change: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> sum: array<u32>;
            @compute @workgroup_size(64)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ sum[id.x] = {change}; }}"
        )
    };
    step(&mut b, "add", &text("sum[id.x] + 3u"));
    step(&mut b, "more", &text("sum[id.x] + 30u"));
    step(&mut b, "double", &text("sum[id.x] * 2u"));
    let report = device.0.chaos(&b.workload, &Inputs::default(), &seeds(20)).unwrap();
    let finding = the_finding(&report);
    assert_eq!((finding.switch, finding.pass.as_deref()), (Switch::Order, Some("double")));
    assert!(finding.other.as_deref().is_some_and(|other| ["add", "more"].contains(&other)), "{report}");
    assert_eq!(finding.resource.as_deref(), Some("sum"));
}

#[test]
fn a_culled_pass_that_acts_outside_of_the_graph_is_found() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [lost, idle, dst] = ["lost", "idle", "dst"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(dst);
    let hidden = Arc::new(AtomicU32::new(0));
    let (writes, reads) = (hidden.clone(), hidden);
    add_function(&mut b, "harmless", idle, |bytes| bytes.fill(1));
    let table = add_function(&mut b, "table", lost, move |bytes| {
        writes.store(9, Ordering::SeqCst);
        bytes.fill(0);
    });
    let read = add_function(&mut b, "read", dst, move |bytes| bytes.fill(reads.swap(0, Ordering::SeqCst) as u8));
    b.graph().order_after(read, table);
    let report = device.0.chaos(&b.workload, &Inputs::default(), &seeds(1)).unwrap();
    let finding = the_finding(&report);
    assert_eq!((finding.switch, names(finding)), (Switch::Culling, [Some("table"), None, Some("dst")]));
}

#[test]
fn inputs_that_only_culled_passes_read_may_be_missing() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let absent = b.import_buffer("absent", 256);
    let [lost, dst] = ["lost", "dst"].map(|name| b.graph().buffer(name, 256));
    b.graph().root(dst);
    add_copy(&mut b, "unneeded", absent, lost);
    add_fill(&mut b, "fill", dst, [3, 64], |_| {});
    let inputs = Inputs { anew: true, ..Inputs::default() };
    b.compile(&device.0).run(&inputs).unwrap();
    let report = device.0.chaos(&b.workload, &inputs, &seeds(1)).unwrap();
    assert!(report.findings.is_empty(), "{report}");
    assert_eq!(report.notes.len(), 1, "{report}");
    assert!(report.notes[0].contains("\"absent\" has nothing bound"), "{report}");
}

#[test]
fn resources_of_the_device_are_left_as_they_were() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let total = b.import_buffer("total", 256);
    b.compute(
        "add",
        PassQueue::Compute,
        "
        @group(0) @binding(0) var<storage, read_write> total: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { total[id.x] += id.x; }",
        ONE,
        &[("total", whole(total))],
    );
    let owned = device.0.buffer("total", 256).unwrap();
    let before = bytes(&[40; 64]);
    owned.write(&before).unwrap();
    let inputs = Inputs { uploads: vec![(total, Upload::Resource(&owned))], ..Inputs::default() };
    let report = device.0.chaos(&b.workload, &inputs, &seeds(2)).unwrap();
    assert!(report.findings.is_empty(), "{report}");
    assert_eq!(owned.read().unwrap().bytes(), before);
}
