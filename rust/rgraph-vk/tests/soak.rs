//! Many frames on four threads of one device, with sizes that change, flags that flip and graphs that are baked again:
//! every result is right, and nothing grows. `RGRAPH_SOAK_FRAMES` makes it longer.

#[path = "support/bench.rs"]
mod bench;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};

use bench::{Bench, bytes, device, whole, words};
use rgraph_plan::prelude::PassQueue;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{Groups, What};
use rgraph_vk::{Compiled, Device, Inputs, Upload};

const THREADS: u64 = 4;

/// Sums of an upload and a number, in `dst`; `twice` adds the number once more while its flag is on.
const ADD: &str = "
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
struct Params { add: u32 }
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + params.add; }
}";

const AGAIN: &str = "
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
struct Params { add: u32 }
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&dst) { dst[id.x] += params.add; }
}";

/// A compiled graph of one size, and what goes in and comes out of it.
struct Lane {
    compiled: Compiled,
    src: ResourceId,
    out: ResourceId,
    words: usize,
}

impl Lane {
    fn new(device: &Device, thread: u64, words: usize) -> Self {
        let size = 4 * words as u64;
        let mut b = Bench::new([8, 8]);
        let src = b.import_buffer("src", size);
        let mid = b.graph().buffer("mid", size);
        let far = b.graph().buffer("far", size);
        let out = b.graph().buffer("out", size);
        b.graph().root(out);
        let number = |add: u64| What::Data(bytes(&[add as u32]));
        let cover = Groups::Cover(mid, 0);
        let first = [("src", whole(src)), ("dst", whole(mid)), ("params", number(thread))];
        b.compute("first", PassQueue::Compute, ADD, cover, &first);
        let twice =
            b.compute("twice", PassQueue::Compute, AGAIN, cover, &[("dst", whole(mid)), ("params", number(thread))]);
        let flag = b.graph().flag("twice");
        b.graph().pass_mut(twice).conditional = Some(flag);
        let cover = Groups::Cover(far, 0);
        let second = [("src", whole(mid)), ("dst", whole(far)), ("params", number(1))];
        b.compute("second", PassQueue::AsyncCompute, ADD, cover, &second);
        let last = [("src", whole(far)), ("dst", whole(out)), ("params", number(1))];
        b.compute("last", PassQueue::Compute, ADD, cover, &last);
        Self { compiled: b.compile(device), src, out, words }
    }

    fn frame(&self, thread: u64, run: u64) {
        let value = (run % 1000) as u32;
        let array = bytes(&vec![value; self.words]);
        let on = !run.is_multiple_of(3);
        let inputs = Inputs {
            uploads: vec![(self.src, Upload::Bytes(&array))],
            flags: vec![("twice".to_owned(), on)],
            ..Inputs::default()
        };
        let frame = self.compiled.run(&inputs).expect("the frame runs");
        if run % 8 == 7 {
            let expected = value + thread as u32 * if on { 2 } else { 1 } + 2;
            let read = frame.read(self.out).expect("it is read");
            assert_eq!(words(read.bytes()), vec![expected; self.words], "thread {thread}, frame {run}");
        }
    }
}

/// Resident memory of this process in bytes; 0 where the system does not say.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

#[test]
fn nothing_grows_while_four_threads_resize_flip_and_bake_again() {
    let Some(device) = device(3) else { return };
    let asked = std::env::var("RGRAPH_SOAK_FRAMES").ok().and_then(|text| text.parse().ok());
    let frames = asked.unwrap_or(1600_u64) / THREADS;
    // Every so often all stop, give back what they have, and look at what is held.
    let rounds = 8;
    let meet = Barrier::new(THREADS as usize);
    let held = Mutex::new(Vec::new());
    let bakes = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (device, meet, held, bakes) = (&device.0, &meet, &held, &bakes);
            scope.spawn(move || {
                for round in 0..rounds {
                    let mut lane = None;
                    for run in frames * round / rounds..frames * (round + 1) / rounds {
                        if run % 20 == 0 || lane.is_none() {
                            // The same four sizes again and again, each thread in an order of its own.
                            let words = 64 << ((run / 20 + thread) % 4);
                            lane = Some(Lane::new(device, thread, words));
                            bakes.fetch_add(1, Ordering::Relaxed);
                        }
                        lane.iter().for_each(|lane| lane.frame(thread, run));
                    }
                    drop(lane);
                    meet.wait();
                    if thread == 0 {
                        device.wait_idle().expect("the device is not lost");
                        let memory = device.memory();
                        held.lock().expect("nobody panicked").push((memory.held(), memory.live(), resident()));
                    }
                    meet.wait();
                }
            });
        }
    });
    let held = held.into_inner().expect("nobody panicked");
    println!("{} frames, {} bakes; held, live, resident: {held:?}", frames * THREADS, bakes.into_inner());
    let (first, last) = (held[1], held[held.len() - 1]);
    assert_eq!((first.0, first.1), (last.0, last.1), "device memory grew: {held:?}");
    // Allocators and drivers keep a little; what grows with every frame is more than that over many of them.
    assert!(last.2 < first.2 + first.2 / 20 + (8 << 20), "the process grew: {held:?}");
}
