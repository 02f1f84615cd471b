//! What a pass costs on the CPU: a frame of near-empty dispatches, each reading what the one before wrote, recorded
//! and submitted by a hand-written Vulkan program and by rgraph in turn, with the same commands and barriers.
//! Prints medians; the device is idle whenever something is timed.

mod chains;
mod clock;
mod draws;
mod hand;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanPassId;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Imported, Life, ResourceId};
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{self, Bound, Groups, Step, View, What, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Inputs, Upload};

use hand::{Dispatch, Hand};

/// Numbers of passes.
const SIZES: [usize; 3] = [64, 256, 1024];
/// Times that each is measured.
const ROUNDS: usize = 200;

/// The programs: one that only writes, and two that read and write, which take turns so that each pass binds its own.
const SHADERS: [(&str, &str); 3] = [
    (
        "seed",
        "var<immediate> start: u32;
        @group(0) @binding(0) var<storage, read_write> after: array<u32, 64>;
        @compute @workgroup_size(1) fn main() { after[0] = start; }",
    ),
    (
        "one",
        "@group(0) @binding(0) var<storage, read> before: array<u32, 64>;
        @group(0) @binding(1) var<storage, read_write> after: array<u32, 64>;
        @compute @workgroup_size(1) fn main() { after[0] = before[0] + 1u; }",
    ),
    (
        "two",
        "@group(0) @binding(0) var<storage, read> before: array<u32, 64>;
        @group(0) @binding(1) var<storage, read_write> after: array<u32, 64>;
        @compute @workgroup_size(1) fn main() { after[0] = before[0] + 2u; }",
    ),
];

/// A chain of passes, the program and the buffers of each.
struct Chain {
    graph: Graph,
    passes: Vec<(usize, Vec<ResourceId>)>,
}

fn chain(n: usize) -> Chain {
    let mut graph = Graph::new("chain", [1, 1]);
    let buffers: Vec<_> = (0..n).map(|i| graph.buffer(&format!("b{i}"), 256)).collect();
    let mut passes = Vec::new();
    for i in 0..n {
        let pass = graph.pass(&format!("p{i}"), PassQueue::Compute);
        if i == 0 {
            pass.storage_write(buffers[0]);
            passes.push((0, vec![buffers[0]]));
        } else {
            pass.storage_read(buffers[i - 1]).storage_write(buffers[i]);
            passes.push((1 + i % 2, vec![buffers[i - 1], buffers[i]]));
        }
    }
    graph.root(buffers[n - 1]);
    Chain { graph, passes }
}

/// What the last pass writes.
fn expected(n: usize, start: u32) -> u32 {
    start + (1..n).map(|i| 1 + (i % 2) as u32).sum::<u32>()
}

/// Microseconds that something takes.
fn timed<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = what();
    (start.elapsed().as_secs_f64() * 1e6, value)
}

/// Microseconds that something takes of this thread's time: a submit wakes the driver's thread, which may stop this
/// one.
fn thread_time<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let start = clock::thread_us();
    let value = what();
    (clock::thread_us() - start, value)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures and prints.
type Part = fn() -> Result<(), String>;

/// What is measured, by the name that runs it alone: `cargo bench --bench record draws`.
const PARTS: [(&str, Part); 4] =
    [("passes", passes), ("draws", draws::draws), ("chains", chains::chains), ("bytes", bytes)];

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, part) in PARTS {
        if only.as_deref().is_none_or(|only| only == name)
            && let Err(reason) = part()
        {
            return println!("not measured: {reason}");
        }
    }
}

fn as_text(error: impl ToString) -> String {
    error.to_string()
}

/// The same frames, by hand and by rgraph.
fn passes() -> Result<(), String> {
    let programs = SHADERS.map(|(name, text)| {
        let program = Program::new(name, Kind::Compute, &[Source::Text(Language::Wgsl, text)], None);
        Arc::new(program.expect("the shaders compile"))
    });
    let mut hand = Hand::new()?;
    // One frame at a time on both sides: each records into the memory that it used before.
    let options =
        DeviceOptions { labels: Some(false), validation: Some(false), frames_in_flight: 1, ..DeviceOptions::default() };
    let device = Device::new(&options).map_err(as_text)?;
    println!("medians of {ROUNDS}, device idle; record: wall time, submit again: the thread's own time");
    println!("passes  record µs: hand  rgraph  ratio  |  submit again µs: hand  rgraph  more a pass");
    for n in SIZES {
        let chain = chain(n);
        let compiled = device.compile(workload(&chain, &programs), &Options::default()).map_err(as_text)?;
        let plan = compiled.plan();
        let dispatches: HashMap<PlanPassId, Dispatch<'_>> = plan
            .passes
            .iter_ids()
            .filter_map(|(id, pass)| {
                let (program, bound) = &chain.passes[pass.declared? as usize];
                Some((id, Dispatch { program: &programs[*program], bound: bound.clone(), groups: 1 }))
            })
            .collect();
        let frame = hand.frame(plan, &dispatches).map_err(as_text)?;
        let last = ResourceId::new(n - 1);
        let inputs = |push: u32, read| Inputs {
            push: vec![(PassId::new(0), push.to_le_bytes().to_vec())],
            read,
            ..Inputs::default()
        };

        let (mut by_hand, mut by_rgraph) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS as u32 {
            let (us, outcome) = timed(|| hand.record(&frame, round, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT));
            outcome.map_err(as_text)?;
            by_hand.push(us);
            hand.submit(&frame).and_then(|()| hand.wait()).map_err(as_text)?;
            assert_eq!(hand.word(&frame, last), expected(n, round));
            let ran = compiled.run(&inputs(round, Some(Vec::new()))).map_err(as_text)?;
            ran.wait(None).map_err(as_text)?;
            let report = ran.report().map_err(as_text)?;
            assert!(report.recorded, "its push data changed");
            by_rgraph.push(report.record_us);
        }
        let (hand_records, rgraph_records) = (median(by_hand), median(by_rgraph));

        let (mut by_hand, mut by_rgraph) = (Vec::new(), Vec::new());
        hand.record(&frame, 7, vk::CommandBufferUsageFlags::empty()).map_err(as_text)?;
        for round in 0..ROUNDS {
            let (us, outcome) = thread_time(|| hand.submit(&frame));
            outcome.and_then(|()| hand.wait()).map_err(as_text)?;
            let unchanged = inputs(7, Some(Vec::new()));
            let (rgraph_us, ran) = thread_time(|| compiled.run(&unchanged));
            let ran = ran.map_err(as_text)?;
            ran.wait(None).map_err(as_text)?;
            // The first ones after a change are recorded, one for each frame in flight.
            if round > 8 {
                assert!(!ran.report().map_err(as_text)?.recorded, "nothing changed");
                by_hand.push(us);
                by_rgraph.push(rgraph_us);
            }
        }
        let (hand_again, rgraph_again) = (median(by_hand), median(by_rgraph));
        let ran = compiled.run(&inputs(9, None)).map_err(as_text)?;
        ran.wait(None).map_err(as_text)?;
        let read = ran.read(last).map_err(as_text)?;
        assert_eq!(read.bytes()[..4], expected(n, 9).to_le_bytes());

        println!(
            "{n:6}  {hand_records:15.1}  {rgraph_records:6.1}  {:5.2}  |  {hand_again:21.1}  {rgraph_again:6.1}  {:11.4}",
            rgraph_records / hand_records,
            (rgraph_again - hand_again) / n as f64
        );
        hand.destroy(frame);
    }
    device.close().map_err(as_text)
}

/// The chain as rgraph runs it.
fn workload(chain: &Chain, programs: &[Arc<Program>; 3]) -> Workload {
    let mut workload = Workload::new(chain.graph.clone());
    for (i, (program, buffers)) in chain.passes.iter().enumerate() {
        let program = Arc::clone(&programs[*program]);
        let bound = buffers.iter().zip(0..).map(|(&buffer, binding)| Bound {
            binding,
            element: 0,
            what: What::Resource(View::whole(buffer)),
        });
        let push = vec![0_u8; program.interface.push.as_ref().map_or(0, |push| push.size as usize)];
        let (bound, groups) = (bound.collect(), Groups::Fixed([1; 3]));
        let dispatch = work::Dispatch { bound, program, push: push.into(), groups, key: 0 };
        workload.works.insert(PassId::new(i), Work::Steps(vec![Step::Dispatch(dispatch)]));
    }
    workload
}

/// A frame that adds to the first word of a buffer: the cost of the way there and back, compared with copies in memory.
fn bytes() -> Result<(), String> {
    const BYTES: usize = 64 << 20;
    const ROUNDS: usize = 15;
    let device = Device::new(&DeviceOptions::default()).map_err(as_text)?;
    let text = "@group(0) @binding(0) var<storage, read_write> all: array<u32>;
        @compute @workgroup_size(1) fn main() { all[0] = all[0] + 1u; }";
    let program = Program::new("touch", Kind::Compute, &[Source::Text(Language::Wgsl, text)], None).map_err(as_text)?;
    let mut graph = Graph::new("bytes", [1, 1]);
    let all = graph.buffer("all", BYTES as u64);
    graph.resource_mut(all).life = Life::Imported(Imported::default());
    graph.pass("touch", PassQueue::Compute).storage_read_write(all);
    graph.root(all);
    let mut workload = Workload::new(graph);
    let bound = [Bound { binding: 0, element: 0, what: What::Resource(View::whole(all)) }].into();
    let dispatch = work::Dispatch {
        program: Arc::new(program),
        bound,
        push: Default::default(),
        groups: Groups::Fixed([1; 3]),
        key: 0,
    };
    workload.works.insert(PassId::new(0), Work::Steps(vec![Step::Dispatch(dispatch)]));
    let compiled = device.compile(workload, &Options::default()).map_err(as_text)?;

    let (source, mut target) = (vec![1_u8; BYTES], vec![2_u8; BYTES]);
    let (mut copies, mut uploads, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (us, ()) = timed(|| std::hint::black_box(&mut target).copy_from_slice(std::hint::black_box(&source)));
        copies.push(us);
        let up = |read| Inputs { uploads: vec![(all, Upload::Bytes(&source))], read, ..Inputs::default() };
        let (us, ran) = timed(|| {
            let frame = compiled.run(&up(Some(Vec::new())))?;
            frame.wait(None).map(|_| frame)
        });
        uploads.push(us);
        drop(ran.map_err(as_text)?);
        let (both, ran) = timed(|| {
            let frame = compiled.run(&up(None))?;
            frame.wait(None)?;
            frame.read(all)
        });
        let read = ran.map_err(as_text)?;
        reads.push(both - us);
        assert_eq!(read.bytes()[..8], [2, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(read.bytes()[BYTES - 1], 1);
    }
    let (copy, upload, read) = (median(copies), median(uploads), median(reads));
    println!(
        "64 MiB: memcpy {copy:.0} µs, upload {upload:.0} µs ({:.2}), read-back {read:.0} µs ({:.2})",
        upload / copy,
        read / copy
    );
    device.close().map_err(as_text)
}
