//! Graphs that are declared again while they run: what lives from frame to frame goes from one to the next.

use std::sync::atomic::{AtomicU32, Ordering};

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::resource::{History, Life, Resource as Declared, ResourceId};
use rgraph_vk::work::{Groups, Workload};
use rgraph_vk::{Code, Compiled, Error, Frame, Inputs};

use crate::support::bench::{Bench, Silent, device, using, whole, words};

const COUNT: &str = "
@group(0) @binding(0) var<storage, read_write> sum: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { sum[id.x] += 1u; dst[id.x] = sum[id.x]; }";

const NEXT: &str = "
@group(0) @binding(0) var<storage, read> before: array<u32>;
@group(0) @binding(1) var<storage, read_write> now: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { now[id.x] = before[id.x] + 1u; }";

const COPY: &str = "
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] + id.x * 0u; }";

/// Names of other passes and resources, so that no graph is like another.
static NUMBER: AtomicU32 = AtomicU32::new(0);

fn one() -> Groups {
    Groups::Fixed([1, 1, 1])
}

/// Counts its runs in a persistent buffer, behind as many other passes as wanted.
fn counter(others: u32, bytes: u64) -> (Workload, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut last = b.graph().buffer(&format!("other {number}"), 256);
    b.pass("fill", PassQueue::Graphics, &[(last, using(Usage::TransferDst))]);
    for at in 0..others {
        let next = b.graph().buffer(&format!("other {number} {at}"), 256);
        b.compute(
            &format!("pass {at}"),
            PassQueue::Compute,
            COPY,
            one(),
            &[("src", whole(last)), ("dst", whole(next))],
        );
        b.graph().root(next);
        last = next;
    }
    let sum = b.persistent_buffer("sum", bytes);
    let dst = b.graph().buffer("dst", bytes);
    b.compute("count", PassQueue::Compute, COUNT, one(), &[("sum", whole(sum)), ("dst", whole(dst))]);
    b.graph().root(dst);
    (b.workload, dst)
}

/// Adds one to what the frame before had.
fn chain(others: u32, frames: u32) -> (Workload, ResourceId) {
    let (workload, _) = counter(others, 256);
    let mut b = Bench { workload };
    let now = b.graph().buffer("now", 256);
    let history = Life::History(History { of: now, frames, zero_first: true });
    let before = b.graph().add_resource("before", Declared { life: history, ..Declared::buffer(256) }, None);
    b.compute("next", PassQueue::Compute, NEXT, one(), &[("before", whole(before)), ("now", whole(now))]);
    b.graph().root(now);
    (b.workload, now)
}

fn first(device: &Silent, workload: Workload) -> Compiled {
    device.0.compile(workload, &Default::default()).expect("compiles")
}

fn next(device: &Silent, previous: &Compiled, workload: Workload) -> Compiled {
    device.0.compile_next(previous, workload, &Default::default()).expect("compiles")
}

fn run(compiled: &Compiled) -> Frame {
    compiled.run(&Inputs::default()).expect("runs")
}

fn word(frame: &Frame, of: ResourceId) -> u32 {
    let all = words(frame.read(of).unwrap().bytes());
    assert!(all[..64].iter().all(|word| *word == all[0]), "{all:?}");
    all[0]
}

#[test]
fn persistent_contents_and_histories_go_through_graphs_that_are_declared_anew_each_frame() {
    for frames in 1..=3 {
        let Some(device) = device(frames) else { return };
        for of in [|others| counter(others, 256), |others| chain(others, 1), |others| chain(others, 2)] {
            let (workload, dst) = of(0);
            let mut compiled = first(&device, workload);
            let mut under_way = vec![(run(&compiled), dst)];
            for at in 1..7 {
                let (workload, dst) = of(at % 4);
                compiled = next(&device, &compiled, workload);
                under_way.push((run(&compiled), dst));
                // A graph may run more than once before the next one comes.
                if at == 4 {
                    under_way.push((run(&compiled), dst));
                }
            }
            let depth = compiled.workload().graph.resources().iter().find_map(|one| match one.life {
                Life::History(history) => Some(history.frames),
                _ => None,
            });
            let found: Vec<_> = under_way.iter().map(|(frame, dst)| word(frame, *dst)).collect();
            let depth = depth.unwrap_or(1);
            let wanted: Vec<_> = (0..8).map(|at| at / depth + 1).collect();
            assert_eq!(found, wanted, "{frames} under way, {depth} remembered");
        }
    }
}

#[test]
fn the_graph_before_runs_until_the_next_one_does() {
    let Some(device) = device(2) else { return };
    let (workload, dst) = counter(0, 256);
    let before = first(&device, workload);
    assert_eq!(word(&run(&before), dst), 1);
    let (workload, after_dst) = counter(2, 256);
    let after = next(&device, &before, workload);
    let last = run(&before);
    assert_eq!(word(&run(&after), after_dst), 3);
    assert_eq!(word(&last, dst), 2, "its frames stay valid");
    let Err(Error::Busy(error)) = before.run(&Inputs::default()) else { panic!("it has nothing any more") };
    assert_eq!((error.code, error.message.contains("was replaced")), (Code::HandedOver, true));
    let (workload, _) = counter(1, 256);
    let refused = device.0.compile_next(&before, workload, &Default::default());
    assert!(matches!(refused, Err(Error::Busy(error)) if error.code == Code::HandedOver));
    drop((before, last));
    assert_eq!(word(&run(&after), after_dst), 4);
}

#[test]
fn graphs_that_never_run_hand_everything_on() {
    let Some(device) = device(2) else { return };
    let (workload, dst) = counter(0, 256);
    let mut compiled = first(&device, workload);
    assert_eq!(word(&run(&compiled), dst), 1);
    for at in 0..20 {
        compiled = next(&device, &compiled, counter(at % 3, 256).0);
    }
    let (workload, dst) = counter(1, 256);
    let last = next(&device, &compiled, workload);
    assert_eq!(word(&run(&last), dst), 2);
    // A reset of a graph that never ran passes to the next graph.
    let larger = next(&device, &last, counter(0, 512).0);
    let (workload, dst) = counter(0, 512);
    assert_eq!(word(&run(&next(&device, &larger, workload)), dst), 1);
}

#[test]
fn what_has_another_shape_begins_anew_and_a_note_says_so() {
    let Some(device) = device(2) else { return };
    let (workload, _) = chain(0, 1);
    let compiled = first(&device, workload);
    (0..3).for_each(|_| drop(run(&compiled)));
    let (workload, now) = chain(1, 2);
    let deeper = next(&device, &compiled, workload);
    let frame = run(&deeper);
    assert_eq!(word(&frame, now), 1, "the ring is another one");
    let notes = frame.report().unwrap().notes;
    let messages = notes.iter().filter(|note| note.contains("is reset")).collect::<Vec<_>>();
    assert_eq!(messages, ["\"now\" is reset: 1 of its frames were remembered, and 2 are"]);
    let dst =
        deeper.workload().graph.roots().iter().copied().find(|of| deeper.workload().graph.resource_name(*of) == "dst");
    assert_eq!(word(&frame, dst.expect("the counter")), 4, "what has its shape goes on");
    let (workload, dst) = counter(0, 512);
    let wider = next(&device, &deeper, workload);
    let frame = run(&wider);
    assert_eq!(word(&frame, dst), 1);
    let notes = frame.report().unwrap().notes;
    assert!(
        notes.iter().any(|note| note == "\"sum\" is reset: it was a buffer of 256 bytes, and is a buffer of 512 bytes")
    );
    assert_eq!(word(&run(&wider), dst), 2, "only once");
}

const STORE: &str = "
@group(0) @binding(0) var kept: texture_storage_2d<r32uint, read_write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { textureStore(kept, id.xy, textureLoad(kept, id.xy) + 7u); }";

const LOAD: &str = "
@group(0) @binding(0) var kept: texture_2d<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.y * 8u + id.x] = textureLoad(kept, id.xy, 0).x; }";

#[test]
fn what_is_used_in_new_ways_is_copied() {
    let Some(device) = device(2) else { return };
    let declare = |stores: bool, loads: bool| {
        let mut b = Bench::new([8, 8]);
        let kept = b.graph().image("kept", Format::R32uint);
        b.graph().resource_mut(kept).life = Life::Persistent;
        let dst = b.graph().buffer("dst", 256);
        if stores {
            b.compute("store", PassQueue::Compute, STORE, one(), &[("kept", whole(kept))]);
            b.graph().root(kept);
        }
        if loads {
            b.compute("load", PassQueue::Compute, LOAD, one(), &[("kept", whole(kept)), ("dst", whole(dst))]);
            b.graph().root(dst);
        }
        (b.workload, dst)
    };
    let stores = first(&device, declare(true, false).0);
    (0..3).for_each(|_| drop(run(&stores)));
    let (workload, dst) = declare(false, true);
    let loads = next(&device, &stores, workload);
    let frame = run(&loads);
    assert_eq!(word(&frame, dst), 21);
    assert!(frame.report().unwrap().notes.iter().any(|note| note.starts_with("\"kept\" is copied")));
    let (workload, dst) = declare(true, true);
    // The first of the two never runs, so the other one makes the copy.
    let both = next(&device, &next(&device, &loads, declare(true, true).0), workload);
    assert_eq!(word(&run(&both), dst), 28);
    assert_eq!(word(&run(&both), dst), 35);
}

#[test]
fn a_graph_of_another_device_hands_nothing_on() {
    let (Some(one), Some(other)) = (device(1), device(1)) else { return };
    let compiled = first(&one, counter(0, 256).0);
    let refused = other.0.compile_next(&compiled, counter(0, 256).0, &Default::default());
    assert!(matches!(refused, Err(Error::Device(error)) if error.code == Code::Foreign));
}
