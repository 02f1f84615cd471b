//! Frames that differ from the one before: an import that rotates, a flag that toggles, one pass whose steps a function
//! says. What was recorded for the same values before is submitted again; the driver's calls are counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rgraph_plan::access::{Load, PassQueue, Usage};
use rgraph_plan::bake::Options;
use rgraph_plan::format::Format;
use rgraph_plan::graph::Use;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Kind, Program};
use rgraph_vk::work::{
    CallbackError, Commands, Dispatch, Draw, Groups, RasterState, RecordWork, Step, View, What, Work,
};
use rgraph_vk::{Compiled, Device, DeviceOptions, EntryTable, Inputs, Upload};

use crate::counting;
use crate::support::bench::{Bench, bound, bytes, draw, program, whole, words};
use crate::support::demand::demand;
use crate::support::fault::Faults;

const ADD: &str = "
    var<push_constant> more: u32;
    @group(0) @binding(0) var<storage, read> src: array<u32>;
    @group(0) @binding(1) var<storage, read_write> dst: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] + more; }";

/// Frames that fill every cache.
const WARM: u32 = 16;

/// Calls that make an object or record a whole frame again.
const MAKING: [&str; 6] = [
    "vkCreateCommandPool",
    "vkAllocateCommandBuffers",
    "vkCreateDescriptorPool",
    "vkAllocateDescriptorSets",
    "vkCreateBuffer",
    "vkCreateQueryPool",
];

/// Calls that only wait.
const WAITING: [&str; 2] = ["vkGetSemaphoreCounterValue", "vkWaitSemaphores"];

/// A device whose calls are counted.
fn counted() -> Option<(Faults, Device)> {
    demand(Faults::new().and_then(|table| {
        let options = DeviceOptions { entry: Some(EntryTable(table.entry())), ..DeviceOptions::default() };
        let device = Device::new(&options).map_err(|error| error.to_string())?;
        Ok((table, device))
    }))
}

/// Copies `first` on through a chain of passes, each of which adds one, the last into `last`.
struct Chain {
    bench: Bench,
    first: ResourceId,
    last: ResourceId,
    passes: u32,
}

fn chain(passes: u32) -> Chain {
    let mut bench = Bench::new([1, 1]);
    let first = bench.import_buffer("first", 256);
    let add = program(Kind::Compute, ADD);
    let mut last = first;
    for at in 0..passes {
        let next = bench.graph().buffer(&format!("b{at}"), 256);
        step(&mut bench, &add, &format!("p{at}"), last, next);
        last = next;
    }
    bench.graph().root(last);
    Chain { bench, first, last, passes }
}

fn step(bench: &mut Bench, add: &Arc<Program>, name: &str, src: ResourceId, dst: ResourceId) {
    let uses = [(src, Use::new(Usage::StorageRead)), (dst, Use::new(Usage::StorageWrite))];
    let pass = bench.pass(name, PassQueue::Compute, &uses);
    let binds = [("src", whole(src)), ("dst", whole(dst))];
    bench.dispatch(pass, add, Groups::Fixed([1; 3]), &binds, 1_u32.to_le_bytes().to_vec());
}

/// How often each of some calls was made since the last time.
fn calls(table: &Faults, names: &[&str]) -> Vec<usize> {
    let made = table.take_names();
    names.iter().map(|name| made.iter().filter(|made| *made == name).count()).collect()
}

fn made(table: &Faults) -> Vec<(&'static str, usize)> {
    MAKING.into_iter().zip(calls(table, &MAKING)).filter(|(_, count)| *count > 0).collect()
}

fn compile(device: &Device, bench: &Bench) -> Compiled {
    device.compile(bench.workload.clone(), &Options::default()).unwrap()
}

/// The calls and commands of ten frames once all is warm, and the initial barriers of each.
struct Unchanged {
    names: Vec<&'static str>,
    counts: BTreeMap<&'static str, usize>,
    barriers: Vec<u32>,
}

/// Ten unchanged frames; `kept`: the frame writes an import, which rotates.
fn of_unchanged_frames(kept: bool) -> Option<Unchanged> {
    let (table, device) = counted()?;
    let mut chain = chain(40);
    let out = chain.bench.import_buffer("kept", 256);
    if kept {
        let add = program(Kind::Compute, ADD);
        step(&mut chain.bench, &add, "keep", chain.last, out);
    }
    let compiled = compile(&device, &chain.bench);
    let buffers: Vec<_> = (0..3).map(|at| device.buffer(&format!("image {at}"), 256).unwrap()).collect();
    buffers.iter().for_each(|buffer| buffer.write(&bytes(&[7; 64])).unwrap());
    let mut barriers = Vec::new();
    for run in 0..WARM + 10 {
        if run == WARM {
            table.take_names();
            table.take_counts();
        }
        let mut uploads = vec![(chain.first, Upload::Resource(&buffers[0]))];
        uploads.extend(kept.then(|| (out, Upload::Resource(&buffers[1 + usize::from(run % 3 == 0)]))));
        let read = Some(Vec::new());
        let frame = compiled.run(&Inputs { uploads, read, ..Inputs::default() }).unwrap();
        assert!(frame.wait(None).unwrap());
        barriers.extend((run >= WARM).then(|| frame.report().unwrap().entry_barriers));
    }
    let names = table.take_names().into_iter().filter(|name| !WAITING.contains(name)).collect();
    let counts = table.take_counts();
    let expected = 7 + chain.passes + 1;
    let read = |at: usize| words(buffers[at].read().unwrap().bytes());
    assert!(!kept || [1, 2].map(read) == [[expected; 64], [expected; 64]]);
    Some(Unchanged { names, counts, barriers })
}

#[test]
fn an_unchanged_frame_is_one_submit() {
    let Some(Unchanged { names, counts, barriers }) = of_unchanged_frames(true) else { return };
    assert_eq!(names, vec!["vkQueueSubmit2"; 10]);
    assert_eq!(counts, BTreeMap::new(), "an initial barrier that stays as it is is recorded once");
    assert_eq!(barriers, [1; 10]);
}

#[test]
fn what_is_only_read_has_no_initial_barrier_after_the_first_run() {
    let Some(Unchanged { names, barriers, .. }) = of_unchanged_frames(false) else { return };
    assert_eq!(names, vec!["vkQueueSubmit2"; 10]);
    assert_eq!(barriers, [0; 10]);
}

#[test]
fn a_caller_far_ahead_of_the_device_sleeps_at_once() {
    let Some((table, device)) = counted() else { return };
    let chain = chain(4);
    let compiled = compile(&device, &chain.bench);
    let given = bytes(&[7; 64]);
    let run = || {
        let inputs = Inputs { uploads: vec![(chain.first, Upload::Bytes(&given))], ..Inputs::default() };
        compiled.run(&inputs).unwrap()
    };
    // The device stands still until somebody sleeps.
    let looks = || {
        table.stop_timelines(true);
        (0..2).for_each(|_| drop(run()));
        table.take_names();
        std::thread::scope(|scope| {
            let slept = scope.spawn(|| {
                let mut names = Vec::new();
                while !names.contains(&"vkWaitSemaphores") {
                    names.extend(table.take_names());
                    std::thread::sleep(Duration::from_millis(1));
                }
                table.stop_timelines(false);
                names
            });
            let frame = run();
            let names = slept.join().unwrap();
            assert!(frame.wait(None).unwrap());
            device.wait_idle().unwrap();
            let before = names.iter().take_while(|name| **name != "vkWaitSemaphores");
            before.filter(|name| **name == "vkGetSemaphoreCounterValue").count()
        })
    };
    assert!(looks() > 1, "a first wait may be a short one");
    assert_eq!(looks(), 1);
    assert_eq!(looks(), 1);
}

#[test]
fn an_import_that_rotates_is_recorded_once_for_each_of_its_resources() {
    let Some((table, device)) = counted() else { return };
    let chain = chain(40);
    let compiled = compile(&device, &chain.bench);
    let buffers: Vec<_> = (0..3).map(|at| device.buffer(&format!("image {at}"), 256).unwrap()).collect();
    for (buffer, value) in buffers.iter().zip([100, 200, 300]) {
        buffer.write(&bytes(&[value; 64])).unwrap();
    }
    for run in 0..WARM + 24 {
        let buffer = &buffers[run as usize % 3];
        let uploads = vec![(chain.first, Upload::Resource(buffer))];
        let frame = compiled.run(&Inputs { uploads, ..Inputs::default() }).unwrap();
        let expected = (run % 3 + 1) * 100 + chain.passes;
        assert_eq!(words(frame.read(chain.last).unwrap().bytes()), [expected; 64], "in run {run}");
        let recorded = frame.report().unwrap().recorded;
        if run == WARM {
            table.take_names();
        }
        assert!(run < WARM || !recorded, "in run {run}");
    }
    assert_eq!(made(&table), []);
}

#[test]
fn a_flag_that_toggles_is_recorded_once_for_each_of_its_values() {
    let Some((table, device)) = counted() else { return };
    let mut chain = chain(40);
    let add = program(Kind::Compute, ADD);
    // While the flag is off the readers get what the chain ends with.
    let (twice, out) = (chain.bench.graph().buffer("twice", 256), chain.bench.graph().buffer("out", 256));
    step(&mut chain.bench, &add, "more", chain.last, twice);
    step(&mut chain.bench, &add, "out", twice, out);
    let more = chain.bench.graph().find_pass("more").unwrap();
    let flag = chain.bench.graph().flag("on");
    chain.bench.graph().pass_mut(more).conditional = Some(flag);
    chain.bench.graph().fallback(more, twice, chain.last);
    chain.bench.graph().root(out);
    let compiled = compile(&device, &chain.bench);
    let given = bytes(&[7; 64]);
    for run in 0..WARM + 24 {
        // Neither in step with the contexts nor with itself.
        let on = run % 3 == 0 || run % 5 == 1;
        let uploads = if run == 0 { vec![(chain.first, Upload::Bytes(&given))] } else { Vec::new() };
        let flags = vec![("on".to_owned(), on)];
        let frame = compiled.run(&Inputs { uploads, flags, ..Inputs::default() }).unwrap();
        let expected = 7 + chain.passes + 1 + u32::from(on);
        assert_eq!(words(frame.read(out).unwrap().bytes()), [expected; 64], "in run {run}");
        if run == WARM {
            table.take_names();
        }
        assert!(run < WARM || !frame.report().unwrap().recorded, "in run {run}");
    }
    assert_eq!(made(&table), []);
}

/// A step that adds the value recorded last.
struct Says {
    add: Arc<Program>,
    src: ResourceId,
    dst: ResourceId,
    more: Arc<AtomicU32>,
}

impl RecordWork for Says {
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError> {
        let binds = [("src", whole(self.src)), ("dst", whole(self.dst))];
        let push = self.more.load(Ordering::Relaxed).to_le_bytes().into();
        let (program, bound) = (self.add.clone(), bound(&self.add, &binds));
        commands.steps.push(Step::Dispatch(Dispatch { program, bound, push, groups: Groups::Fixed([1; 3]), key: 0 }));
        Ok(())
    }
}

/// The calls of ten frames once all is warm, and the device's objects before and after.
fn of_ten_frames(changed: &[u32]) -> Option<Vec<usize>> {
    let (table, device) = counted()?;
    let mut chain = chain(40);
    let (add, more) = (program(Kind::Compute, ADD), Arc::new(AtomicU32::new(1)));
    let resource = |chain: &mut Chain, name: &str| chain.bench.graph().find_resource(name).unwrap();
    for at in changed {
        let src = resource(&mut chain, &format!("b{}", at - 1));
        let dst = resource(&mut chain, &format!("b{at}"));
        let pass = chain.bench.graph().find_pass(&format!("p{at}")).unwrap();
        let says = Says { add: add.clone(), src, dst, more: more.clone() };
        chain.bench.workload.works.insert(pass, Work::Record(Arc::new(says)));
    }
    let compiled = compile(&device, &chain.bench);
    let given = bytes(&[7; 64]);
    let mut counted = Vec::new();
    for run in 0..WARM + 10 {
        more.store(run, Ordering::Relaxed);
        let uploads = if run == 0 { vec![(chain.first, Upload::Bytes(&given))] } else { Vec::new() };
        let frame = compiled.run(&Inputs { uploads, ..Inputs::default() }).unwrap();
        let expected = 7 + chain.passes - changed.len() as u32 + run * changed.len() as u32;
        assert_eq!(words(frame.read(chain.last).unwrap().bytes()), [expected; 64], "in run {run}");
        if run == WARM - 1 {
            table.take_names();
        }
    }
    counted.extend(calls(&table, &["vkBeginCommandBuffer", "vkCreateCommandPool", "vkCreateDescriptorPool"]));
    Some(counted)
}

#[test]
fn passes_around_one_that_a_function_says_stay_recorded() {
    let Some(none) = of_ten_frames(&[]) else { return };
    let [plain, ..] = none[..] else { unreachable!() };
    // One more command buffer per frame: that of the pass, or of neighbours that callbacks record.
    assert_eq!(of_ten_frames(&[20]), Some(vec![plain + 10, 0, 0]));
    assert_eq!(of_ten_frames(&[20, 21, 22]), Some(vec![plain + 10, 0, 0]));
    assert_eq!(of_ten_frames(&[5, 20, 39]), Some(vec![plain + 30, 0, 0]));
}

#[test]
fn a_new_resource_in_each_frame_takes_over_the_pools_of_one_that_is_gone() {
    let Some((table, device)) = counted() else { return };
    let chain = chain(40);
    let compiled = compile(&device, &chain.bench);
    let mut live = None;
    for run in 0..WARM + 24 {
        let buffer = device.buffer("new", 256).unwrap();
        buffer.write(&bytes(&[run; 64])).unwrap();
        let uploads = vec![(chain.first, Upload::Resource(&buffer))];
        let frame = compiled.run(&Inputs { uploads, ..Inputs::default() }).unwrap();
        assert_eq!(words(frame.read(chain.last).unwrap().bytes()), [run + chain.passes; 64], "in run {run}");
        drop((frame, buffer));
        if run == WARM {
            table.take_names();
            device.wait_idle().unwrap();
            live = Some(device.memory().live());
        }
    }
    let made = calls(&table, &["vkCreateCommandPool", "vkCreateDescriptorPool"]);
    assert_eq!(made, [0, 0]);
    device.wait_idle().unwrap();
    assert_eq!(Some(device.memory().live()), live, "no variant keeps what is gone");
}

#[test]
fn a_graph_that_is_declared_as_it_was_is_not_planned_again() {
    let Some((_table, device)) = counted() else { return };
    let of = |passes: u32, options: &Options| device.compile(chain(passes).bench.workload, options).unwrap();
    let (usual, hard) = (Options::default(), Options { effort: 2, ..Options::default() });
    let first = of(4, &usual);
    let second = of(4, &usual);
    assert!(Arc::ptr_eq(first.plan(), second.plan()));
    let next = device.compile_next(&second, chain(4).bench.workload, &usual).unwrap();
    assert!(Arc::ptr_eq(first.plan(), next.plan()));
    let clocked = Options { clock: Some(|| 0.0), ..usual };
    assert!(Arc::ptr_eq(first.plan(), of(4, &clocked).plan()), "a clock changes no plan");
    assert!(!Arc::ptr_eq(first.plan(), of(4, &hard).plan()));
    assert!(!Arc::ptr_eq(first.plan(), of(5, &usual).plan()));
    // A device remembers a few: those used last.
    assert!(Arc::ptr_eq(first.plan(), of(4, &usual).plan()));
    (6..10).for_each(|passes| drop(of(passes, &usual)));
    assert!(!Arc::ptr_eq(first.plan(), of(4, &usual).plan()));
    // All of them run, each with memory of its own.
    let last = of(4, &usual);
    for (compiled, value) in [(&first, 10), (&last, 20), (&next, 30), (&first, 40)] {
        let chain = chain(4);
        let given = bytes(&[value; 64]);
        let uploads = vec![(chain.first, Upload::Bytes(&given))];
        let frame = compiled.run(&Inputs { uploads, ..Inputs::default() }).unwrap();
        assert_eq!(words(frame.read(chain.last).unwrap().bytes()), [value + 4; 64]);
    }
}

#[test]
fn draws_that_bind_the_same_share_their_descriptor_sets() {
    const DRAW: &str = "
        struct Place { at: vec4<f32> }
        var<push_constant> place: Place;
        @group(0) @binding(0) var<storage, read> colors: array<vec4<f32>>;
        @vertex fn vs(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
            return place.at + vec4(f32(at & 1u), f32(at >> 1u), 0.0, 0.0);
        }
        @fragment fn fs() -> @location(0) vec4<f32> { return colors[0]; }";
    let Some((table, device)) = counted() else { return };
    let sets = |draws: usize, apart: bool| {
        let mut bench = Bench::new([16, 16]);
        let colors = bench.import_buffer("colors", 256);
        let target = bench.graph().image("target", Format::Rgba8unorm);
        let clear = Use { load: Some(Load::Clear), ..Use::new(Usage::ColorAttachment) };
        let pass = bench.raster("draw", DRAW, &[(target, clear)], &[("colors", whole(colors))]);
        bench.graph().root(target);
        let program = program(Kind::Raster, DRAW);
        let one = draw(&program, RasterState::default(), &[("colors", whole(colors))]);
        let half = View { range: Some([0, 128]), ..View::whole(colors) };
        let other = bound(&program, &[("colors", What::Resource(half))]);
        let step = |at: usize| {
            let mut next = Draw { push: [at as u8; 16].into(), ..one.clone() };
            if apart && at % 2 == 1 {
                next.bound = other.clone();
            }
            Step::Draw(next)
        };
        bench.steps(pass, (0..draws).map(step).collect());
        let compiled = compile(&device, &bench);
        let given = bytes(&[0; 64]);
        let frame = compiled.run(&Inputs { uploads: vec![(colors, Upload::Bytes(&given))], ..Inputs::default() });
        frame.unwrap().wait(None).unwrap();
        let living = table.living().get("DESCRIPTOR_SET").copied().unwrap_or(0);
        drop(compiled);
        device.wait_idle().unwrap();
        living
    };
    assert_eq!(sets(1_000, false), 1);
    assert_eq!(sets(1_000, true), 1_000);
}

/// Draws with push data of their own, as many as asked for.
struct Draws {
    one: Draw,
    count: Arc<AtomicU32>,
}

impl RecordWork for Draws {
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError> {
        let draw = |at: u32| Draw { push: at.to_le_bytes().into(), ..self.one.clone() };
        commands.steps.extend((0..self.count.load(Ordering::Relaxed)).map(|at| Step::Draw(draw(at))));
        Ok(())
    }
}

#[test]
fn draws_that_a_function_records_allocate_nothing_once_as_many_were_recorded() {
    const DRAW: &str = "
        var<push_constant> number: u32;
        @group(0) @binding(0) var<storage, read> colors: array<vec4<f32>>;
        @fragment fn fs() -> @location(0) vec4<f32> { return colors[number % 16u]; }";
    let Some((_table, device)) = counted() else { return };
    let mut bench = Bench::new([16, 16]);
    let colors = bench.import_buffer("colors", 256);
    let target = bench.graph().image("target", Format::Rgba8unorm);
    let clear = Use { load: Some(Load::Clear), ..Use::new(Usage::ColorAttachment) };
    let pass = bench.raster("draw", DRAW, &[(target, clear)], &[("colors", whole(colors))]);
    bench.graph().root(target);
    let one = draw(&program(Kind::Raster, DRAW), RasterState::default(), &[("colors", whole(colors))]);
    let count = Arc::new(AtomicU32::new(0));
    bench.workload.works.insert(pass, Work::Record(Arc::new(Draws { one, count: count.clone() })));
    let compiled = compile(&device, &bench);
    let given = bytes(&[0; 64]);
    let frame = |draws: u32| {
        count.store(draws, Ordering::Relaxed);
        let inputs = Inputs { uploads: vec![(colors, Upload::Bytes(&given))], ..Inputs::default() };
        let before = counting::allocations();
        let frame = compiled.run(&inputs).unwrap();
        let allocations = counting::allocations() - before;
        frame.wait(None).unwrap();
        allocations
    };
    for _ in 0..WARM {
        frame(1_000);
    }
    // The least of several frames: what another thread gives back late costs a frame one allocation now and then.
    let [few, many] = [10, 1_000].map(|draws| (0..6).map(|_| frame(draws)).min());
    assert_eq!(few, many);
}
