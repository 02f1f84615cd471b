//! A graph that is declared and compiled again for each frame: what a device keeps of the one before, counted by the
//! driver's calls.

use std::sync::Arc;
use std::time::Duration;

use rgraph_plan::access::{PassQueue, Transfer as TransferKind, Usage};
use rgraph_plan::bake::Options;
use rgraph_plan::format::Format;
use rgraph_plan::graph::Use;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Kind, Program};
use rgraph_vk::work::{Dispatch, Groups, Step, Transfer, Work};
use rgraph_vk::{Compiled, Device, DeviceOptions, EntryTable, Frame, Inputs, Upload};

use crate::counting;
use crate::support::bench::{Bench, bound, bytes, program, whole, words};
use crate::support::demand::demand;
use crate::support::fault::Faults;

const ADD: &str = "
    var<push_constant> more: u32;
    @group(0) @binding(0) var<storage, read> src: array<u32>;
    @group(0) @binding(1) var<storage, read_write> dst: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] + more; }";

/// Frames that fill every cache.
const WARM: u32 = 8;

/// Calls that make something.
const MAKING: [&str; 9] = [
    "vkCreateCommandPool",
    "vkAllocateCommandBuffers",
    "vkCreateDescriptorPool",
    "vkAllocateDescriptorSets",
    "vkCreateBuffer",
    "vkAllocateMemory",
    "vkCreateImageView",
    "vkCreateQueryPool",
    "vkCreateSemaphore",
];

/// Spare graphs end after so many compilations and runs.
const LIFETIME: u32 = 64;

/// A device whose calls are counted.
fn counted() -> Option<(Faults, Device)> {
    demand(Faults::new().and_then(|table| {
        let entry = Some(EntryTable(table.entry()));
        let options = DeviceOptions { entry, spare_graphs: 4, ..DeviceOptions::default() };
        let device = Device::new(&options).map_err(|error| error.to_string())?;
        Ok((table, device))
    }))
}

fn step(add: &Arc<Program>, src: ResourceId, dst: ResourceId, more: u32) -> Step {
    let bound = bound(add, &[("src", whole(src)), ("dst", whole(dst))]);
    let push = more.to_le_bytes().into();
    Step::Dispatch(Dispatch { program: add.clone(), bound, push, groups: Groups::Fixed([1; 3]), key: 0 })
}

/// Copies an import, then adds a number in each pass of a chain.
struct Chain {
    bench: Bench,
    first: ResourceId,
    last: ResourceId,
}

/// A chain of 20 passes. A pass adds `more`; the last one `steps` times, of which only one counts.
fn chain(add: &Arc<Program>, more: u32, steps: usize) -> Chain {
    let mut bench = Bench::new([1, 1]);
    let first = bench.import_buffer("first", 256);
    let mut last = bench.graph().buffer("copied", 256);
    let uses = [(first, Use::new(Usage::TransferSrc)), (last, Use::new(Usage::TransferDst))];
    let copy = bench.pass("copy", PassQueue::Compute, &uses);
    let whole = Transfer::CopyBuffer { from: first, from_offset: 0, to: last, to_offset: 0, size: Some(256) };
    bench.workload.works.insert(copy, Work::Steps(vec![Step::Transfer(whole)]));
    for at in 0..20 {
        let next = bench.graph().buffer(&format!("b{at}"), 256);
        let uses = [(last, Use::new(Usage::StorageRead)), (next, Use::new(Usage::StorageWrite))];
        let pass = bench.pass(&format!("p{at}"), PassQueue::Compute, &uses);
        let times = if at == 19 { steps } else { 1 };
        bench.steps(pass, vec![step(add, last, next, more); times]);
        last = next;
    }
    bench.graph().root(last);
    Chain { bench, first, last }
}

fn compile(device: &Device, bench: &Bench) -> Compiled {
    device.compile(bench.workload.clone(), &Options::default()).unwrap()
}

fn run(compiled: &Compiled, first: ResourceId, value: u32) -> Frame {
    let given = bytes(&[value; 64]);
    compiled.run(&Inputs { uploads: vec![(first, Upload::Bytes(&given))], ..Inputs::default() }).unwrap()
}

/// The making calls of frames that are each declared again with `declare`, once all is warm, and how often commands
/// were recorded.
fn calls(declare: impl Fn(&Arc<Program>, u32) -> (Chain, u32)) -> Option<(Vec<&'static str>, usize)> {
    let (table, device) = counted()?;
    let add = program(Kind::Compute, ADD);
    // The frame before is under way, or read, while the next one is declared.
    let mut before: Option<(Frame, ResourceId, u32)> = None;
    for at in 0..WARM + 10 {
        if at == WARM {
            table.take_names();
        }
        let (chain, added) = declare(&add, at);
        let compiled = compile(&device, &chain.bench);
        let frame = run(&compiled, chain.first, at);
        drop(compiled);
        if let Some((frame, last, expected)) = before.replace((frame, chain.last, at + added)) {
            assert_eq!(words(frame.read(last).unwrap().bytes()), [expected; 64], "before frame {at}");
            assert_eq!(frame.report().unwrap().run, 0);
        }
    }
    // Steps of one pass are not ordered: several of this one write the same words.
    let messages = device.messages().into_iter().filter(|message| !message.contains("vkCmdDispatch[p19]"));
    assert_eq!(messages.collect::<Vec<_>>(), Vec::<String>::new());
    let names = table.take_names();
    let begun = names.iter().filter(|name| **name == "vkBeginCommandBuffer").count();
    Some((names.into_iter().filter(|name| MAKING.contains(name)).collect(), begun))
}

#[test]
fn an_equal_declaration_makes_and_records_nothing() {
    // The copy of the bytes that are given is recorded for each frame.
    let Some((made, begun)) = calls(|add, _| (chain(add, 1, 1), 20)) else { return };
    assert_eq!((made, begun), (Vec::new(), 10));
}

#[test]
fn steps_with_other_push_data_are_recorded_and_make_nothing() {
    let Some((made, begun)) = calls(|add, at| (chain(add, at % 5, 1), 20 * (at % 5))) else { return };
    assert_eq!((made, begun), (Vec::new(), 20));
}

/// The same, with as many passes as wanted.
fn longer(add: &Arc<Program>, passes: u32, more: u32) -> Chain {
    let mut chain = chain(add, more, 1);
    for at in 0..passes {
        let next = chain.bench.graph().buffer(&format!("c{at}"), 256);
        let uses = [(chain.last, Use::new(Usage::StorageRead)), (next, Use::new(Usage::StorageWrite))];
        let pass = chain.bench.pass(&format!("q{at}"), PassQueue::Compute, &uses);
        chain.bench.steps(pass, vec![step(add, chain.last, next, more)]);
        chain.last = next;
    }
    chain.bench.graph().root(chain.last);
    chain
}

#[test]
fn compiling_an_equal_declaration_allocates_the_same_whatever_its_size() {
    let Some((_table, device)) = counted() else { return };
    let add = program(Kind::Compute, ADD);
    // Equal steps, and steps with other push data.
    for changing in [0, 1] {
        let allocations = [0, 200].map(|passes| {
            let mut allocations = 0;
            for at in 0..WARM {
                let chain = longer(&add, passes, 1 + changing * at);
                let workload = chain.bench.workload.clone();
                let before = counting::allocations();
                let compiled = device.compile(workload, &Options::default()).unwrap();
                allocations = counting::allocations() - before;
                let frame = run(&compiled, chain.first, at);
                drop(compiled);
                let expected = at + (20 + passes) * (1 + changing * at);
                assert_eq!(words(frame.read(chain.last).unwrap().bytes()), [expected; 64]);
            }
            allocations
        });
        assert_eq!(allocations[0], allocations[1], "changing: {changing}");
    }
}

#[test]
fn push_data_of_steps_that_are_sorted_arrives_with_its_step() {
    let Some((_table, device)) = counted() else { return };
    let add = program(Kind::Compute, ADD);
    for at in 0..6 {
        // Three dispatches into buffers of their own: recorded by their keys, not as they are declared.
        let mut bench = Bench::new([1, 1]);
        let first = bench.import_buffer("first", 256);
        let to = [0, 1, 2].map(|to| bench.graph().buffer(&format!("b{to}"), 256));
        let mut uses = vec![(first, Use::new(Usage::StorageRead))];
        uses.extend(to.map(|to| (to, Use::new(Usage::StorageWrite))));
        let pass = bench.pass("all", PassQueue::Compute, &uses);
        let steps = [(to[0], 10 + at, 2), (to[1], 20 + at, 1), (to[2], 30 + at, 3)];
        let keyed = |(to, more, key)| match step(&add, first, to, more) {
            Step::Dispatch(dispatch) => Step::Dispatch(Dispatch { key, ..dispatch }),
            other => other,
        };
        bench.steps(pass, steps.map(keyed).into());
        to.iter().for_each(|to| bench.graph().root(*to));
        let frame = run(&compile(&device, &bench), first, 100);
        for (to, more, _) in steps {
            assert_eq!(words(frame.read(to).unwrap().bytes()), [100 + more; 64], "frame {at}");
        }
    }
}

#[test]
fn other_steps_of_the_same_passes_keep_memory_and_views() {
    let Some((made, _)) = calls(|add, at| (chain(add, 1, 1 + at as usize % 3), 20)) else { return };
    let pools =
        ["vkCreateCommandPool", "vkAllocateCommandBuffers", "vkCreateDescriptorPool", "vkAllocateDescriptorSets"];
    let rest: Vec<_> = made.into_iter().filter(|name| !pools.contains(name)).collect();
    assert_eq!(rest, Vec::<&str>::new());
}

#[test]
fn equal_graphs_that_live_at_once_have_memory_of_their_own() {
    let Some((_table, device)) = counted() else { return };
    let add = program(Kind::Compute, ADD);
    for round in 0..6 {
        let chains = [(); 3].map(|()| chain(&add, 1, 1));
        let compiled = [0, 1, 2].map(|at| compile(&device, &chains[at].bench));
        let frames = [0, 1, 2].map(|at| run(&compiled[at], chains[at].first, round * 10 + at as u32));
        for (at, frame) in frames.iter().enumerate() {
            let read = frame.read(chains[at].last).unwrap();
            assert_eq!(words(read.bytes()), [round * 10 + at as u32 + 20; 64], "graph {at} of round {round}");
        }
    }
    assert_eq!(device.messages(), Vec::<String>::new());
}

#[test]
fn an_owner_finds_nothing_that_the_one_before_set() {
    let Some((_table, device)) = counted() else { return };
    let add = program(Kind::Compute, ADD);
    for at in 0..6 {
        let mut chain = chain(&add, 1, 1);
        // While its flag is off, the pass adds nothing: its reader gets what it reads.
        let pass = chain.bench.graph().find_pass("p10").unwrap();
        let [src, dst] = ["b9", "b10"].map(|name| chain.bench.graph().find_resource(name).unwrap());
        let flag = chain.bench.graph().flag("more");
        chain.bench.graph().pass_mut(pass).conditional = Some(flag);
        chain.bench.graph().fallback(pass, dst, src);
        let compiled = compile(&device, &chain.bench);
        let refused = compiled.run(&Inputs::default()).unwrap_err().to_string();
        assert!(refused.contains("imported \"first\" has nothing bound"), "{refused}");
        let frame = run(&compiled, chain.first, at);
        assert_eq!(words(frame.read(chain.last).unwrap().bytes()), [at + 20; 64], "all flags are on at first");
        let given = bytes(&[at; 64]);
        let uploads = vec![(chain.first, Upload::Bytes(&given))];
        let push = vec![(chain.bench.graph().find_pass("p3").unwrap(), 5_u32.to_le_bytes().to_vec())];
        let flags = vec![("more".to_owned(), false)];
        let frame = compiled.run(&Inputs { uploads, flags, push, ..Inputs::default() }).unwrap();
        assert_eq!(words(frame.read(chain.last).unwrap().bytes()), [at + 19 + 4; 64]);
    }
}

#[test]
fn the_driver_is_asked_once_what_a_kind_of_image_requires() {
    const COPY: &str = "
        @group(0) @binding(0) var src: texture_2d<f32>;
        @group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
        @compute @workgroup_size(1) fn main() { textureStore(dst, vec2(0, 0), textureLoad(src, vec2(0, 0), 0)); }";
    let Some((table, device)) = counted() else { return };
    let copy = program(Kind::Compute, COPY);
    let asked = |name: &str, images: u32| {
        let mut bench = Bench::new([16, 16]);
        let mut last = bench.graph().image(&format!("{name}0"), Format::Rgba8unorm);
        let store = Use::new(Usage::StorageWrite);
        let pass = bench.pass("begin", PassQueue::Compute, &[(last, store)]);
        bench.steps(pass, Vec::new());
        for at in 1..images {
            let next = bench.graph().image(&format!("{name}{at}"), Format::Rgba8unorm);
            let pass =
                bench.pass(&format!("p{at}"), PassQueue::Compute, &[(last, Use::new(Usage::Sampled)), (next, store)]);
            let bound = bound(&copy, &[("src", whole(last)), ("dst", whole(next))]);
            let dispatch = Dispatch::new(copy.clone(), bound, Groups::Fixed([16, 16, 1]));
            bench.steps(pass, vec![Step::Dispatch(dispatch)]);
            last = next;
        }
        bench.graph().root(last);
        table.take_names();
        let compiled = compile(&device, &bench);
        let names = table.take_names();
        (compiled, names.iter().filter(|name| **name == "vkGetPhysicalDeviceImageFormatProperties").count())
    };
    // The root may be copied from, so it is another kind.
    let (first, kinds) = asked("a", 8);
    assert!((1..=3).contains(&kinds), "{kinds} questions");
    let (second, again) = asked("b", 20);
    assert_eq!(again, 0);
    drop((first, second));
    assert_eq!(device.messages(), Vec::<String>::new());
}

#[test]
fn what_lasts_from_run_to_run_begins_anew_with_each_declaration() {
    let Some((_table, device)) = counted() else { return };
    let add = program(Kind::Compute, ADD);
    for _ in 0..5 {
        let mut bench = Bench::new([1, 1]);
        let sum = bench.persistent_buffer("sum", 256);
        let out = bench.graph().buffer("out", 256);
        for (name, src, dst) in [("add", sum, out), ("keep", out, sum)] {
            let uses = [(src, Use::new(Usage::StorageRead)), (dst, Use::new(Usage::StorageWrite))];
            let pass = bench.pass(name, PassQueue::Compute, &uses);
            bench.steps(pass, vec![step(&add, src, dst, 1)]);
        }
        bench.graph().root(out);
        let compiled = compile(&device, &bench);
        for at in 0..3 {
            let frame = compiled.run(&Inputs::default()).unwrap();
            assert_eq!(words(frame.read(out).unwrap().bytes()), [2 * at + 1; 64]);
        }
    }
}

#[test]
fn spare_graphs_end_after_a_while_and_with_the_device() {
    let Some((table, device)) = counted() else { return };
    let add = program(Kind::Compute, ADD);
    let once = || {
        let chain = chain(&add, 1, 1);
        assert!(run(&compile(&device, &chain.bench), chain.first, 0).wait(None).unwrap());
    };
    let live = || {
        device.wait_idle().unwrap();
        device.memory().live()
    };
    let mut other = Bench::new([1, 1]);
    let out = other.graph().buffer("out", 256);
    let fill = Use { transfer: Some(TransferKind::Fill), ..Use::new(Usage::TransferDst) };
    let pass = other.pass("clear", PassQueue::Graphics, &[(out, fill)]);
    let clear = Transfer::Fill { buffer: out, offset: 0, size: None, word: 7 };
    other.steps(pass, vec![Step::Transfer(clear)]);
    other.graph().root(out);
    let other = compile(&device, &other);
    other.run(&Inputs::default()).unwrap().wait(None).unwrap();
    // Staging blocks are the device's.
    once();
    (0..LIFETIME + 1).for_each(|_| drop(other.run(&Inputs::default()).unwrap()));
    let before = live();
    (0..3).for_each(|_| once());
    assert!(live() > before, "a spare graph keeps its memory");
    for _ in 0..LIFETIME + 1 {
        other.run(&Inputs::default()).unwrap().wait(Some(Duration::from_secs(60))).unwrap();
    }
    assert_eq!(live(), before);
    (0..3).for_each(|_| once());
    drop(other);
    device.close().unwrap();
    drop(device);
    assert_eq!(table.living().get("DEVICE").copied().unwrap_or(0), 0, "nobody holds the device");
}
