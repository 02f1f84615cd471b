//! Several devices of one process, each with an instance of its own, opened, used and closed on several threads at
//! once. `RGRAPH_SEVERAL_ROUNDS` makes it longer, `RGRAPH_SEVERAL_THREADS` wider; `RGRAPH_SEVERAL_PARTS` (some of
//! `stay`, `ask`, `come`) leaves threads out, to find which of them a driver cannot run at the same time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rgraph_plan::access::Usage;
use rgraph_plan::format::Format;
use rgraph_plan::prelude::PassQueue;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::{Groups, What};
use rgraph_vk::{Compiled, Device, DeviceOptions, Inputs, Upload, devices};

use crate::support::bench::{Bench, bytes, device, using, whole, words};

const WORDS: usize = 256;

/// Adds a number to what a draw left.
const ADD: &str = "
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
struct Params { add: u32 }
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + params.add; }
}";

/// Another program for every value, so that each device compiles pipelines of its own while others come and go.
fn fill(value: u32) -> String {
    format!("@fragment fn main() -> @location(0) u32 {{ return {value}u; }}")
}

/// A graph of a dispatch on a queue of its own and a draw, both read back.
struct Work {
    compiled: Compiled,
    src: ResourceId,
    out: ResourceId,
    picture: ResourceId,
    add: u32,
}

impl Work {
    fn new(device: &Device, add: u32) -> Self {
        let mut b = Bench::new([8, 8]);
        let src = b.import_buffer("src", 4 * WORDS as u64);
        let out = b.graph().buffer("out", 4 * WORDS as u64);
        let picture = b.graph().image("picture", Format::R32uint);
        b.graph().root(out);
        b.graph().root(picture);
        let number = What::Data(bytes(&[add]));
        let binds = [("src", whole(src)), ("dst", whole(out)), ("params", number)];
        b.compute("add", PassQueue::AsyncCompute, ADD, Groups::Cover(out, 0), &binds);
        b.raster("fill", &fill(add), &[(picture, using(Usage::ColorAttachment))], &[]);
        Self { compiled: b.compile(device), src, out, picture, add }
    }

    fn frames(&self, count: u32) {
        let frames: Vec<_> = (0..count)
            .map(|run| {
                let array = bytes(&[run; WORDS]);
                let inputs = Inputs { uploads: vec![(self.src, Upload::Bytes(&array))], ..Inputs::default() };
                self.compiled.run(&inputs).expect("the frame runs")
            })
            .collect();
        for (run, frame) in (0..).zip(frames) {
            let read = frame.read(self.out).expect("it is read");
            assert_eq!(words(read.bytes()), vec![run + self.add; WORDS], "frame {run}");
            let read = frame.read(self.picture).expect("it is read");
            assert_eq!(words(read.bytes()), vec![self.add; 64], "frame {run}");
        }
    }
}

fn asked(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn devices_come_and_go_on_some_threads_while_others_stay_at_work() {
    if device(2).is_none() {
        return;
    }
    let (rounds, threads) = (asked("RGRAPH_SEVERAL_ROUNDS", 6), asked("RGRAPH_SEVERAL_THREADS", 3));
    let parts = std::env::var("RGRAPH_SEVERAL_PARTS").unwrap_or_else(|_| "stay ask come".to_owned());
    let [stay, ask, come] = ["stay", "ask", "come"].map(|part| parts.contains(part));
    let over = AtomicBool::new(false);
    let stayed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        if stay {
            // One device stays: one thread compiles and runs on it all the time, another waits for it to be idle.
            running.push(scope.spawn(|| {
                let device = device(3).expect("it was there before");
                let ended = AtomicBool::new(false);
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        while !ended.load(Ordering::Relaxed) {
                            device.0.wait_idle().expect("the device is not lost");
                        }
                    });
                    for add in 1.. {
                        Work::new(&device.0, add).frames(4);
                        stayed.fetch_add(1, Ordering::Relaxed);
                        if over.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                    ended.store(true, Ordering::Relaxed);
                });
            }));
        }
        if ask {
            // One thread asks again and again which devices there are, with instances that live for that alone.
            running.push(scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    assert!(!devices(&DeviceOptions::default()).expect("there are devices").is_empty());
                }
            }));
        }
        let threads: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || comes_and_goes(thread, rounds, come))).collect();
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        over.store(true, Ordering::Relaxed);
        for ended in ended.into_iter().chain(running.into_iter().map(|thread| thread.join())) {
            ended.expect("no thread fails");
        }
    });
    println!("{} rounds of {threads} threads, {} graphs on the device that stayed", rounds, stayed.into_inner());
}

/// Rounds of a thread: two devices each round, closed in either order, or the first two all the time.
fn comes_and_goes(thread: u32, rounds: u32, come: bool) {
    let open = || [2, 3].map(|frames| device(frames).expect("it was there before"));
    let mut kept = open();
    for round in 0..rounds {
        let [first, second] = if come { open() } else { kept };
        let work = Work::new(&first.0, 1000 * thread + round);
        work.frames(3);
        Work::new(&second.0, 1000 * thread + round).frames(2);
        drop(work);
        if come && round % 2 == 0 {
            first.0.close().expect("the device is not lost");
        }
        kept = if round % 2 == 0 { [first, second] } else { [second, first] };
    }
}
